//! Model of `conga` in plain Rust: the fate of a frame from its bytes and the entries. The model does not follow
//! congestion: the uplink is any one of the group.

use super::headers::{OVERLAY_NET, VXLAN};
use super::params::{Params, Side};
use crate::forwarding::model::word;
use crate::leaf::model::{LeafModel, Way, flow_hash, way};
use crate::model::frame::{IPV4, parts, write_checksum};
use crate::model::{Bytes, Entries, Expect, Model};

/// Positions of the overlay's fields that depend on congestion: the uplinks, and the feedback about one of them.
const FEEDBACK: [usize; 2] = [43, 45];
/// UDP source ports of the overlay begin here.
const DYNAMIC_PORTS: u16 = 49_152;
/// Bits of the flow hash that are not in the UDP source port.
const UNUSED_HASH: u32 = 18;

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct CongaModel {
    spine: bool,
}

impl CongaModel {
    /// Returns the model of a program with these parameters.
    pub(super) fn new(p: &Params) -> CongaModel {
        CongaModel { spine: p.role == Side::Spine }
    }
}

/// Returns true if another leaf may have encapsulated the frame.
fn from_leaf(frame: &[u8]) -> bool {
    word(frame, 12) == Some(IPV4)
        && (frame.len() < 28
            || frame[14] == 0x45 && frame[23] == 17 && word(frame, 26).map(u64::from) == Some(OVERLAY_NET))
}

/// Returns the packet in the overlay with these outer addresses.
fn encapsulated(inner: &[u8], tos: u8, hash: u32, [dst, src]: [u128; 2]) -> Vec<u8> {
    let (length, mut frame) = (inner.len() as u16, Vec::with_capacity(inner.len() + 50));
    frame.extend([0x02, 0xff, 0, 0, 0, 2, 0x02, 0xff, 0, 0, 0, 1, 8, 0]);
    frame.extend([0x45, tos]);
    frame.extend((length + 36).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend((src as u32).to_be_bytes());
    frame.extend((dst as u32).to_be_bytes());
    frame.extend((DYNAMIC_PORTS + (hash >> UNUSED_HASH) as u16).to_be_bytes());
    frame.extend((VXLAN as u16).to_be_bytes());
    frame.extend((length + 16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend([8, 0, 8, 0, 0, 0, 1, 0]);
    write_checksum(&mut frame, 14);
    frame.extend(inner);
    frame
}

impl Model for CongaModel {
    fn expect(&self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Expect {
        if !self.spine && from_leaf(frame) {
            return Expect::Unknown;
        }
        let expect = LeafModel.expect(entries, port, frame);
        let Expect::Sent { ports, queue, bytes: Some(bytes), or } = expect else { return expect };
        if self.spine {
            // A spine raises the congestion that the overlay carries.
            return Expect::Sent { ports, queue, bytes: None, or };
        }
        let Some(ip) = parts(frame, false).and_then(|parts| parts.ip) else { return Expect::Unknown };
        let Way::Group(group) = way(entries, &ip) else {
            return Expect::Sent { ports, queue, bytes: Some(bytes), or };
        };
        let Some(address) = entries.exact("leaf_address", &[group]) else { return Expect::Ends("no_leaf") };
        let tos = if ip.v6 { frame[14] << 4 | frame[15] >> 4 } else { frame[15] };
        let wrapped = encapsulated(&bytes.bytes, tos, flow_hash(&ip), [address.arg(0), address.arg(1)]);
        let mut free = FEEDBACK.to_vec();
        // A packet of which only the first bytes were captured is longer than the model knows.
        let length = word(frame, if ip.v6 { 18 } else { 16 }).map_or(0, usize::from);
        if length + if ip.v6 { 54 } else { 14 } > frame.len() {
            free.extend([16, 17, 24, 25, 38, 39]);
        }
        Expect::Sent { ports, queue, bytes: Some(Bytes { bytes: wrapped, free, mark: None }), or }
    }
}
