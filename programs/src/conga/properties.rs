//! Properties of every packet: a host receives what a host sent, whether leaves encapsulated it on the way or not.

use super::headers::{OVERLAY_NET, VXLAN};
use sluice_catalogue::properties::{congested, equal, lasting, unmarked};
use sluice_pcaps::wire::{ethernet, ipv4};
use sluice_switch::property::{self, Departed, Finding, Property, well_formed};

/// Bytes of the overlay in front of a host's packet: Ethernet, IPv4, UDP, VXLAN.
const OVERLAY: usize = 14 + 20 + 8 + 8;

/// Returns the properties of `conga`.
pub(super) fn all() -> Vec<Box<dyn Property>> {
    vec![Box::new(Kept), Box::new(WellFormed), Box::new(L4Checksum)]
}

/// Returns the inner packet if the frame is VXLAN over IPv4, from any sender.
fn wrapped(frame: &[u8]) -> Option<&[u8]> {
    let wrapped = word(frame, 12)? == u64::from(ethernet::TYPE_IPV4)
        && *frame.get(14)? == 0x45
        && *frame.get(23)? == ipv4::PROTOCOL_UDP
        && word(frame, 36)? == VXLAN;
    frame.get(OVERLAY..).filter(|_| wrapped)
}

/// Returns the inner packet if a leaf encapsulated it: the outer source is a leaf's address. Hosts may send VXLAN, too.
fn inside(frame: &[u8]) -> Option<&[u8]> {
    wrapped(frame).filter(|_| word(frame, 26) == Some(OVERLAY_NET))
}

fn word(frame: &[u8], at: usize) -> Option<u64> {
    frame.get(at..at + 2).map(|b| u64::from(u16::from_be_bytes([b[0], b[1]])))
}

/// Without the overlay, a sent packet equals the received one in everything that forwarding does not change.
#[derive(Clone, Copy, Debug)]
struct Kept;

impl Property for Kept {
    fn name(&self) -> &'static str {
        "overlay_identity"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        // A leaf encapsulates or decapsulates, a spine does neither, and a host's own packet may be VXLAN.
        let came = [Some(from.bytes), inside(from.bytes)].map(|b| b.map(lasting));
        // The outer addresses of a sent packet come from table entries, so they are not checked.
        let left = [Some(packet.bytes), wrapped(packet.bytes)].map(|b| b.map(lasting));
        if left.iter().flatten().any(|left| came.iter().flatten().any(|came| came == left)) {
            return Ok(());
        }
        // A CE mark of the overlay is copied to the inner packet.
        let [outer, inner] = &came;
        if let (Some(outer), Some(inner), Some(left)) = (outer, inner, &left[0])
            && congested(outer)
            && unmarked(inner, left.clone()) == *inner
        {
            return Ok(());
        }
        let host = |[outer, inner]: [Option<Vec<u8>>; 2]| inner.or(outer).unwrap_or_default();
        equal(&host(came), &host(left)).map_err(|text| format!("without the overlay, {text}"))
    }
}

/// The general property of this name, except that a sent packet may be malformed if the received inner packet was.
#[derive(Clone, Copy, Debug)]
struct WellFormed;

impl Property for WellFormed {
    fn name(&self) -> &'static str {
        "well_formed"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let good = [Some(from.bytes), inside(from.bytes)];
        match well_formed(packet.bytes) {
            Err(text) if good.into_iter().flatten().all(|b| well_formed(b).is_ok()) => Err(text),
            _ => Ok(()),
        }
    }
}

/// The general property of this name, for packets that arrive without overlay. The outer UDP checksum
/// would cover fields that switches change, so leaves send none (RFC 7348 §5).
#[derive(Clone, Copy, Debug)]
struct L4Checksum;

impl Property for L4Checksum {
    fn name(&self) -> &'static str {
        "l4_checksum"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        match packet.from {
            Some(from) if inside(from.bytes).is_none() => property::L4Checksum.left(packet),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_switch::property::Origin;

    fn judged(came: &[u8], left: &[u8]) -> [Finding; 2] {
        let origin = Origin { port: 1, time: Default::default(), bytes: came };
        let departed = Departed::of(left, 2, Some(origin));
        [Kept.left(&departed), WellFormed.left(&departed)]
    }

    /// Returns a packet of a host, and the same packet with the overlay.
    fn packets(version: u8) -> (Vec<u8>, Vec<u8>) {
        let ip = |frame: &mut Vec<u8>| {
            let length = (frame.len() - 14) as u16;
            frame[16..18].copy_from_slice(&length.to_be_bytes());
            let sum = sluice_pcaps::wire::Checksum::new().with(&frame[14..34]).finish();
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
        };
        let mut host = vec![0; 60];
        host[12..15].copy_from_slice(&[8, 0, version << 4 | 5]);
        ip(&mut host);
        let mut outer = vec![0; OVERLAY];
        outer[12..15].copy_from_slice(&[8, 0, 0x45]);
        (outer[23], outer[26], outer[27]) = (17, 10, 255);
        outer[36..38].copy_from_slice(&4789u16.to_be_bytes());
        outer.extend(&host);
        let length = (outer.len() - 34) as u16;
        outer[38..40].copy_from_slice(&length.to_be_bytes());
        ip(&mut outer);
        (host, outer)
    }

    #[test]
    fn wrapping_and_unwrapping_keep_the_packet() {
        let (host, wrapped) = packets(4);
        for (came, left) in [(&host, &wrapped), (&wrapped, &host), (&wrapped, &wrapped), (&host, &host)] {
            assert_eq!(judged(came, left), [Ok(()), Ok(())]);
            let mut other = left.clone();
            *other.last_mut().unwrap() ^= 1;
            assert!(judged(came, &other)[0].is_err());
        }
    }

    #[test]
    fn a_mark_of_the_overlay_is_the_packet_s_and_no_other() {
        let (mut host, _) = packets(4);
        let (_, mut wrapped) = packets(4);
        (host[15], wrapped[OVERLAY + 15]) = (2, 2);
        let mut marked = host.clone();
        marked[15] = 3;
        assert!(judged(&wrapped, &marked)[0].is_err(), "the overlay met no congestion");
        wrapped[15] = 3;
        assert_eq!(judged(&wrapped, &marked)[0], Ok(()));
        assert_eq!(judged(&wrapped, &host)[0], Ok(()));
        marked[15] = 1;
        assert!(judged(&wrapped, &marked)[0].is_err());
    }

    #[test]
    fn the_addresses_of_an_overlay_are_the_entries() {
        let (host, mut elsewhere) = packets(4);
        elsewhere[26..28].copy_from_slice(&[99, 16]);
        assert_eq!(judged(&host, &elsewhere)[0], Ok(()));
        // No leaf encapsulated a packet from that address, and no leaf may decapsulate it.
        assert!(judged(&elsewhere, &host)[0].is_err());
    }

    #[test]
    fn what_was_broken_inside_may_be_broken_outside() {
        let (host, wrapped) = packets(9);
        assert_eq!(well_formed(&wrapped), Ok(()));
        assert!(well_formed(&host).is_err());
        assert_eq!(judged(&wrapped, &host), [Ok(()), Ok(())]);
        let (good, _) = packets(4);
        assert!(judged(&good, &host)[1].is_err());
    }
}
