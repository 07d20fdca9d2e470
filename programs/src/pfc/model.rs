//! Model of `pfc` in plain Rust: the fate of a frame, and the content of a PFC frame (IEEE 802.1Qbb; model: buffer §2).

use super::Params;
use crate::forwarding::model::{PlainModel, word};
use crate::model::frame::TOO_SHORT;
use crate::model::{Entries, Expect, Model};

const MAC_CONTROL: u16 = 0x8808;
const PROBES: u16 = 0x88b5;
const PFC: u16 = 0x0101;
/// Opcode of IEEE 802.3x PAUSE.
const PAUSE: u16 = 0x0001;
/// Bytes of Ethernet header, opcode, class-enable vector and eight times.
const CONTROL_BYTES: usize = 34;

/// The model of one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct PfcModel {
    obey: bool,
    probe: bool,
}

impl PfcModel {
    /// Returns the model for these parameters.
    pub(super) fn new(p: &Params) -> PfcModel {
        PfcModel { obey: p.obey, probe: p.probe }
    }
}

/// Returns true for a whole PFC frame.
pub(super) fn is_pfc(frame: &[u8]) -> bool {
    frame.len() >= CONTROL_BYTES && word(frame, 12) == Some(MAC_CONTROL) && word(frame, 14) == Some(PFC)
}

impl Model for PfcModel {
    const COPIES: bool = true;

    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        match word(frame, 12) {
            Some(PROBES) if self.probe => Expect::Unknown,
            Some(MAC_CONTROL) if frame.len() < CONTROL_BYTES => Expect::Ends(TOO_SHORT),
            Some(MAC_CONTROL) => match word(frame, 14) {
                // The MAC of a port that does not pass control frames to the program takes them.
                Some(PFC | PAUSE) if !self.obey => Expect::Unknown,
                Some(PFC) => Expect::Ends("pfc_taken"),
                _ => Expect::Ends("pfc_ignored"),
            },
            _ => PlainModel { marks: false, or: &["pfc_storm"] }.frame(entries, frame),
        }
    }
}

/// Returns the class and the quanta of a PFC frame with one class, or says what is wrong with the frame.
pub(super) fn one_class(frame: &[u8]) -> Result<(u8, u16), String> {
    if frame.len() != 60 {
        return Err(format!("a PFC frame has {} bytes, expected 60", frame.len()));
    }
    let head = [0x01, 0x80, 0xc2, 0, 0, 1];
    if frame[..6] != head || frame[12..16] != [0x88, 0x08, 1, 1] || frame[16] != 0 {
        return Err("the head of a PFC frame is not that of IEEE 802.1Qbb".to_owned());
    }
    let enabled = frame[17];
    if !enabled.is_power_of_two() {
        return Err(format!("a PFC frame enables classes {enabled:#04x}, expected one"));
    }
    let class = enabled.trailing_zeros() as u8;
    let own = 18 + 2 * usize::from(class);
    if (18..60).any(|at| frame[at] != 0 && at != own && at != own + 1) {
        return Err(
            "a PFC frame has quanta or padding other than 0 for a class that is not enabled".to_owned()
        );
    }
    Ok((class, word(frame, own).unwrap_or(0)))
}
