//! Model of `hula` in plain Rust: probes come from switches alone, everything else is forwarded as by any leaf.

use super::probes::PROBE;
use crate::forwarding::model::word;
use crate::leaf::model::LeafModel;
use crate::model::frame::TOO_SHORT;
use crate::model::{Entries, Expect, Model};

/// Bytes of Ethernet and probe header.
const PROBE_BYTES: usize = 14 + 8;

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct HulaModel;

impl Model for HulaModel {
    const COPIES: bool = true;

    fn expect(&self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Expect {
        if word(frame, 12).map(u64::from) != Some(PROBE) {
            return LeafModel.expect(entries, port, frame);
        }
        if frame.len() < PROBE_BYTES {
            return Expect::Ends(TOO_SHORT);
        }
        match entries.exact("probe_from", &[port.into()]) {
            None => Expect::Ends("stranger"),
            Some(_) => Expect::Unknown,
        }
    }
}
