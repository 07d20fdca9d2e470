//! Answers of the receiving end of a queue pair: acknowledgements, NACKs and CNPs.

use super::frames::{Address, SEQUENCE_ERROR, with_telemetry};
use crate::host::hpcc::TelemetryFormat;
use crate::host::recovery::Answer;
use sluice_pcaps::int::HpccLayout;
use sluice_pcaps::wire::roce::{ACK_LEN, Acknowledgements};
use sluice_pcaps::wire::{Payload, roce};
use smallvec::SmallVec;

/// AETH syndrome of an acknowledgement without credits (InfiniBand, §9.7.5.2.8).
const ACK: u8 = 0x1f;

/// Bytes of an answer. Those of an acknowledgement without telemetry need no allocation.
pub(super) type AnswerBytes = SmallVec<[u8; 64]>;
const _: () = assert!(ACK_LEN <= 64);

/// Builder of a pair's answers.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    back: Address,
    /// Frames of acknowledgements without telemetry; `None` if answers carry telemetry.
    plain: Option<Acknowledgements>,
}

impl Answers {
    /// Creates the answers from this address.
    pub(super) fn new(back: Address) -> Answers {
        let plain = back
            .telemetry
            .is_none()
            .then(|| back.frame(acknowledgement(back.pair, (0, ACK, 0), false), Payload::Zeros(0)));
        // The headers of a frame without telemetry are those of an acknowledgement over IPv4.
        let plain = plain.and_then(|frame| Acknowledgements::new(&frame).ok());
        Answers { back, plain }
    }

    /// Builds an acknowledgement or a NACK, with BECN if it notifies of congestion, and with a copy of the records that the
    /// answered packet collected.
    pub(super) fn answer(&mut self, answer: Answer, notifies: bool, records: &[u8]) -> AnswerBytes {
        let (psn, syndrome, msn) = match answer {
            Answer::Ack(expected) => (expected.wrapping_sub(1), ACK, expected),
            Answer::Placed { expected, count } => (expected.wrapping_sub(1), ACK, count),
            Answer::Nack { expected, received } => (expected, SEQUENCE_ERROR, received),
        };
        let (psn, msn) = (psn as u32 & roce::MAX_U24, msn as u32 & roce::MAX_U24);
        if let Some(plain) = &mut self.plain {
            return AnswerBytes::from_slice(plain.frame(notifies, psn, syndrome, msn));
        }
        let headers = acknowledgement(self.back.pair, (psn, syndrome, msn), notifies);
        let frame = match &self.back.telemetry {
            Some(TelemetryFormat { layout: HpccLayout::Ns3, .. }) => {
                self.back.frame(headers, Payload::Bytes(records))
            }
            Some(TelemetryFormat { layout: HpccLayout::Paper, port, .. }) => {
                with_telemetry(&self.back.frame(headers, Payload::Zeros(0)), records, *port)
            }
            None => self.back.frame(headers, Payload::Zeros(0)),
        };
        AnswerBytes::from_vec(frame)
    }

    /// Builds a CNP with this DSCP.
    pub(super) fn notification(&self, dscp: u8) -> AnswerBytes {
        let address = Address { dscp, ..self.back };
        AnswerBytes::from_vec(address.frame(roce::Headers::cnp(address.pair), Payload::Zeros(0)))
    }
}

/// Returns the transport headers of an acknowledgement with these numbers: packet sequence number, AETH syndrome, message
/// sequence number.
fn acknowledgement(pair: u32, (psn, syndrome, msn): (u32, u8, u32), becn: bool) -> roce::Headers {
    let bth = roce::Bth { becn, ..roce::Bth::new(roce::opcode::RC_ACKNOWLEDGE, pair, psn) };
    roce::Headers { bth, extension: roce::Extension::Aeth { syndrome, msn } }
}
