//! End of a pass: each lane's verdict, its requests, and the deparser.

use super::action::label_of;
use super::batch::{Phv, for_lanes};
use super::deparser::{DeparserCode, DeparserLanes};
use super::gress::{GressRun, Lanes};
use super::request::{Asked, Lanes as RequestLanes};
use crate::packet::PacketStore;
use crate::pass::{Made, Pass, PassOut, Verdict};
use sluice_ir::Intrinsic;

/// Lanes of a batch at the end of a pass.
pub(super) struct Leaving {
    /// All lanes.
    pub(super) mask: u64,
    /// Lanes whose parsing failed.
    pub(super) failed: u64,
    /// Lanes without a port.
    pub(super) nowhere: u64,
    /// Requests of the lanes.
    pub(super) asked: Asked,
}

impl GressRun {
    /// Decides each lane's verdict and rewrites the packets that continue.
    pub(super) fn leave<const N: usize>(
        &mut self,
        (mask, failed): (u64, u64),
        batch: &mut [Pass],
        packets: &mut PacketStore,
        phv: &Phv<N>,
        lanes: &Lanes,
        made: &mut Vec<Made>,
    ) {
        let code = &self.code;
        let asked = code.requests.asked::<N>((mask & !failed, lanes.dropped), batch, phv);
        // Field by field, so that a field's columns are found once and not for each lane.
        let (mut ports, mut nowhere) = ([Intrinsic::NO_PORT; N], mask);
        if let Some(at) = &code.port {
            nowhere = 0;
            at.read_lanes::<N>(mask, phv, |l, port| {
                nowhere |= u64::from(port as u16 == Intrinsic::NO_PORT) << l;
                ports[l % N] = port as u16;
            });
        }
        let took = code.parser.took.map(|slot| phv.column(slot));
        for (l, ((pass, leaf), port)) in batch.iter_mut().zip(&lanes.leaf).zip(ports).enumerate() {
            let took = took.map_or(0, |column| column[l % N].get().min(u16::MAX.into()) as u16);
            let parser_cycles = code.parser.cycles(*leaf).saturating_add(took);
            pass.output = PassOut { port, parser_cycles, ..PassOut::default() };
        }
        if let Some(at) = &code.qid {
            at.read_lanes::<N>(mask, phv, |l, qid| batch[l].output.qid = qid as u8);
        }
        if let Some(at) = &code.cos {
            at.read_lanes::<N>(mask, phv, |l, cos| batch[l].output.cos = cos as u8);
        }
        if let Some(at) = &code.bypass {
            at.read_lanes::<N>(mask, phv, |l, bit| batch[l].output.bypass = bit == 1);
        }
        if let Some(at) = &code.deflect {
            at.read_lanes::<N>(mask, phv, |l, bit| batch[l].output.deflect = bit == 1);
        }
        if let Some(at) = &code.colour {
            at.read_lanes::<N>(mask, phv, |l, colour| batch[l].output.colour = colour as u8);
        }
        let gather = |code: &DeparserCode, deparsed| code.valid::<N>(deparsed, phv);
        self.go::<N>(Leaving { mask, failed, nowhere, asked }, gather, batch, packets, phv, lanes, made);
    }

    /// Sets the verdicts, makes copies and digests, and rewrites the packets; `valid` returns the valid headers of the
    /// packets that continue.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the parts of a batch, borrowed one by one")]
    pub(super) fn go<const N: usize>(
        &mut self,
        Leaving { mask, failed, nowhere, asked }: Leaving,
        valid: impl FnOnce(&DeparserCode, u64) -> [u64; N],
        batch: &mut [Pass],
        packets: &mut PacketStore,
        phv: &Phv<N>,
        lanes: &Lanes,
        made: &mut Vec<Made>,
    ) {
        let GressRun { code, first, .. } = self;
        // Of a dropped packet, a copy to the CPU can be left.
        let to_cpu = lanes.dropped & asked.multicast & !failed;
        let dropped = lanes.dropped & !to_cpu;
        let on = mask & !failed & !dropped;
        let again = asked.resubmit & on & !to_cpu;
        for_lanes::<N>(to_cpu, |l| batch[l].output.port = Intrinsic::NO_PORT);
        let on = on & !again;
        let nowhere = if code.chooses_port { nowhere & on & !asked.multicast } else { 0 };
        for_lanes::<N>(failed, |l| {
            batch[l].output.verdict = Verdict::ParserError(code.parser.error(lanes.leaf[l]));
        });
        for_lanes::<N>(dropped & !failed, |l| {
            batch[l].output.verdict = label_of(lanes.labels[l]).map_or(Verdict::Forward, Verdict::Label);
        });
        for_lanes::<N>(nowhere, |l| batch[l].output.verdict = Verdict::NoPort);
        for_lanes::<N>(again, |l| batch[l].output.verdict = Verdict::Resubmit);
        let on = on & !nowhere;
        let from = made.len();
        if asked.any() {
            let run = RequestLanes { first: *first, batch, phv, resubmit: again };
            code.requests.make::<N>(&asked, &run, packets, made);
        }
        // A mirror copy of the packet as it leaves is made even if the packet is dropped.
        let deparsed = on | asked.leaving & !again;
        let of_lanes = DeparserLanes { leaf: &lanes.leaf, batch, start: &lanes.start };
        let valid = valid(&code.deparser, deparsed);
        let no_room = code.deparser.run::<N>(deparsed, valid, &code.parser.leaves, &of_lanes, phv, packets);
        for_lanes::<N>(no_room & on, |l| batch[l].output.verdict = Verdict::NoRoom);
        if asked.any() {
            let run = RequestLanes { first: *first, batch, phv, resubmit: again };
            let left = (deparsed & !no_room, on & !no_room);
            code.requests.finish::<N>(&asked, left, &run, packets, made);
            made[from..].sort_by_key(|m| m.pass);
        }
    }
}
