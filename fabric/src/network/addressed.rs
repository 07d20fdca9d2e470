//! Frames at the port of a host that they are not for.
//!
//! A host takes no frame with the address of another host, so such a frame is lost
//! ([`LinkDrop::WrongHost`](super::LinkDrop::WrongHost)). Only frames of IPv4 to one receiver are judged, and only if their destination is
//! the address of a host of the network.

use super::Misaddressed;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Addresses of the hosts of a network, seen from one switch.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// Addresses of all hosts of the network.
    all: Arc<BTreeSet<Ipv4Addr>>,
    /// Address of the host at each dev_port that has one.
    here: BTreeMap<u16, Ipv4Addr>,
    /// dev_ports to which mirror sessions send: copies of the frames of others are meant for the host there.
    mirrors: BTreeSet<u16>,
    /// Frames for other hosts, by dev_port.
    pub(super) misaddressed: BTreeMap<u16, Misaddressed>,
}

impl Addresses {
    pub(super) fn new(all: Arc<BTreeSet<Ipv4Addr>>) -> Addresses {
        Addresses { all, ..Addresses::default() }
    }

    /// The host at this port has this address.
    pub(super) fn host(&mut self, dev_port: u16, address: Ipv4Addr) {
        self.here.insert(dev_port, address);
    }

    /// A mirror session sends to this port.
    pub(super) fn mirror(&mut self, dev_port: u16) {
        self.mirrors.insert(dev_port);
    }

    /// Counts a frame that is sent on a port, and returns true, if the frame is for another host than that at the port. `made`: the
    /// switch made the frame.
    pub(super) fn refuse(&mut self, dev_port: u16, made: bool, frame: [&[u8]; 2]) -> bool {
        let Some(own) = self.here.get(&dev_port).copied() else { return false };
        if made && self.mirrors.contains(&dev_port) {
            return false;
        }
        let other = destination(frame).filter(|address| *address != own && self.all.contains(address));
        let Some(first) = other else { return false };
        let counted = self.misaddressed.entry(dev_port);
        counted.or_insert(Misaddressed { host: own, first, frames: 0 }).frames += 1;
        true
    }
}

/// Returns the IPv4 destination of a frame to one receiver, whose bytes are in two pieces.
fn destination([head, tail]: [&[u8]; 2]) -> Option<Ipv4Addr> {
    /// Offset of the EtherType, and of the destination in the header of IPv4.
    const TYPE: usize = 12;
    const TO: usize = 16;
    let byte = |at: usize| head.get(at).or_else(|| tail.get(at.checked_sub(head.len())?)).copied();
    if byte(0)? & 1 != 0 {
        return None;
    }
    let mut at = TYPE;
    // At most two VLAN tags.
    for _ in 0..3 {
        match [byte(at)?, byte(at + 1)?] {
            [0x08, 0x00] => {
                let to = at + 2 + TO;
                return Some(Ipv4Addr::new(byte(to)?, byte(to + 1)?, byte(to + 2)?, byte(to + 3)?));
            }
            [0x81, 0x00] | [0x88, 0xa8] => at += 4,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with these bytes from the EtherType on; `to` is at the place of the destination of IPv4.
    fn frame(receiver: u8, types: &[u8], to: [u8; 4]) -> Vec<u8> {
        let mut frame = vec![receiver; 12];
        frame.extend(types);
        frame.extend([0; 16]);
        frame.extend(to);
        frame
    }

    #[test]
    fn the_destination_is_that_of_ipv4_behind_tags() {
        let to = Some(Ipv4Addr::new(10, 0, 1, 2));
        let plain = frame(2, &[8, 0], [10, 0, 1, 2]);
        for cut in 0..plain.len() {
            let (head, tail) = plain.split_at(cut);
            assert_eq!(destination([head, tail]), to, "{cut}");
        }
        let tagged = frame(2, &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0], [10, 0, 1, 2]);
        assert_eq!(destination([&tagged, &[]]), to);
        for other in
            [frame(1, &[8, 0], [10, 0, 1, 2]), frame(2, &[0x86, 0xdd], [10, 0, 1, 2]), plain[..33].to_vec()]
        {
            assert_eq!(destination([&other, &[]]), None, "{other:?}");
        }
    }

    #[test]
    fn copies_on_the_port_of_a_mirror_session_are_meant_for_the_host_there() {
        let [own, other] = [1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host));
        let mut addresses = Addresses::new(Arc::new(BTreeSet::from([own, other])));
        addresses.host(5, own);
        let frame = frame(2, &[8, 0], other.octets());
        let mut refused = |port, made| addresses.refuse(port, made, [&frame, &[]]);
        assert_eq!([refused(5, false), refused(5, true), refused(6, false)], [true, true, false]);
        addresses.mirror(5);
        let mut refused = |port, made| addresses.refuse(port, made, [&frame, &[]]);
        assert_eq!([refused(5, false), refused(5, true)], [true, false]);
        let counted = Misaddressed { host: own, first: other, frames: 3 };
        assert_eq!(addresses.misaddressed, BTreeMap::from([(5, counted)]));
    }
}
