//! Properties of every packet that passes a node: without INT, the sent packet equals the received one byte by byte.
//!
//! A source adds what a sink removes, and a transit adds to it. So whichever part a node plays, removing INT before and
//! after the node gives the same bytes, except for fields that forwarding changes. Removal is written here from the
//! standard, on bytes (model: int §2.2, §2.6).

use super::params::{Carrier, Foreign, Mode, Params};
use crate::forwarding::model::RoutedModel;
use crate::model::Judge;
use crate::model::frame::parts;
use sluice_catalogue::properties::{self, HopLimit};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, tcp, udp};
use sluice_switch::property::{self, Departed, Finding, Property, well_formed};

/// Returns the properties of `int` with these parameters.
pub(super) fn all(p: &Params) -> Vec<Box<dyn Property>> {
    let marks =
        Marks { carrier: (p.mode != Mode::Xd).then_some(p.carrier), kind: p.mode.into(), of: p.clone() };
    let (dscp, port) = (p.int_dscp, p.int_port);
    let marked = move |frame: &[u8]| {
        let ip = parts(frame, false).and_then(|parts| parts.ip);
        ip.is_some_and(|ip| {
            u32::from(ip.dscp) == u32::from(dscp) || u32::from(ip.dst_port) == u32::from(port)
        })
    };
    vec![
        Box::new(HopLimit),
        Box::new(Judge::new(RoutedModel { except: Box::new(marked) })),
        Box::new(ByteIdentity(marks.clone())),
        Box::new(WellFormed(marks.clone())),
        Box::new(L4Checksum { marks, changed: false }),
    ]
}

/// Marks of INT in this network.
#[derive(Clone, Debug)]
struct Marks {
    /// Carrier of INT; `None`: packets carry no INT.
    carrier: Option<Carrier>,
    kind: Kind,
    of: Params,
}

/// The type of the shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Md,
    Mx,
}

impl From<Mode> for Kind {
    fn from(mode: Mode) -> Kind {
        if mode == Mode::Mx { Kind::Mx } else { Kind::Md }
    }
}

/// INT in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Carried {
    /// No INT.
    Nothing,
    /// The frame without its INT.
    Int(Vec<u8>),
    /// Marked as INT, but longer than the packet that contains it, so that INT cannot be removed.
    Broken,
}

/// E and M of the INT header's second byte.
const E: u8 = 4;
const M: u8 = 2;

/// Offsets in a frame of TCP or UDP, in bytes.
#[derive(Clone, Copy, Debug)]
struct At {
    v6: bool,
    l4: usize,
    tcp: bool,
    /// End of the IP packet.
    end: usize,
}

/// Returns the 16-bit word at this byte.
fn word(frame: &[u8], at: usize) -> Option<u16> {
    frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(to) = frame.get_mut(at..at + 2) {
        to.copy_from_slice(&value.to_be_bytes());
    }
}

impl At {
    /// Returns the offsets in an unfragmented frame without tags and IPv4 options; `None` for any other.
    fn of(frame: &[u8]) -> Option<At> {
        let ip = ethernet::HEADER_LEN;
        let (v6, l4, protocol, end) = match word(frame, 12)? {
            ethernet::TYPE_IPV4 => {
                let whole = word(frame, ip + 6)? & 0x3fff == 0;
                let plain = *frame.get(ip)? == 0x45 && whole;
                let end = ip + usize::from(word(frame, ip + 2)?);
                (false, plain.then_some(ip + ipv4::HEADER_LEN)?, *frame.get(ip + 9)?, end)
            }
            ethernet::TYPE_IPV6 => {
                let l4 = ip + ipv6::HEADER_LEN;
                (true, l4, *frame.get(ip + 6)?, l4 + usize::from(word(frame, ip + 4)?))
            }
            _ => return None,
        };
        let tcp = protocol == ipv4::PROTOCOL_TCP;
        (tcp || protocol == ipv4::PROTOCOL_UDP).then_some(At { v6, l4, tcp, end: end.min(frame.len()) })
    }

    /// Returns the bytes of the L4 header, and the offset of its checksum.
    const fn header(self) -> (usize, usize) {
        if self.tcp { (tcp::HEADER_LEN, self.l4 + 16) } else { (udp::HEADER_LEN, self.l4 + 6) }
    }

    /// Returns the DSCP if the frame is long enough.
    fn dscp(self, frame: &[u8]) -> Option<u8> {
        let first = word(frame, ethernet::HEADER_LEN)?;
        Some(if self.v6 { first >> 6 & 0x3f } else { first >> 2 & 0x3f } as u8)
    }

    fn set_dscp(self, frame: &mut [u8], dscp: u8) {
        let (ip, dscp) = (ethernet::HEADER_LEN, u16::from(dscp));
        if let Some(first) = word(frame, ip) {
            let new =
                if self.v6 { first & !(0x3f << 6) | dscp << 6 } else { first & !(0x3f << 2) | dscp << 2 };
            put(frame, ip, new);
        }
    }

    /// Subtracts `count` bytes from the length of IP, and with `and_udp` from the length of UDP.
    fn shorten(self, frame: &mut [u8], count: u16, and_udp: bool) {
        let length = ethernet::HEADER_LEN + if self.v6 { 4 } else { 2 };
        let udp = (and_udp && !self.tcp).then_some(self.l4 + 4);
        for at in [Some(length), udp].into_iter().flatten() {
            if let Some(old) = word(frame, at) {
                put(frame, at, old.wrapping_sub(count));
            }
        }
    }
}

impl Marks {
    /// Returns the offsets if the frame is marked as INT, even if its INT is invalid.
    fn marked(&self, frame: &[u8]) -> Option<At> {
        let (at, carrier) = (At::of(frame)?, self.carrier?);
        let marked = match carrier {
            Carrier::Dscp => at.dscp(frame)? == self.of.int_dscp,
            Carrier::UdpPort | Carrier::NewUdp => !at.tcp && word(frame, at.l4 + 2)? == self.of.int_port,
        };
        marked.then_some(at)
    }

    /// Returns true if an IP packet, even a fragment or one with options, has the mark: ingress looks at the mark only.
    fn looks_marked(&self, frame: &[u8]) -> bool {
        let dscp = match (word(frame, 12), word(frame, ethernet::HEADER_LEN)) {
            (Some(ethernet::TYPE_IPV4), Some(first)) => first >> 2 & 0x3f,
            (Some(ethernet::TYPE_IPV6), Some(first)) => first >> 6 & 0x3f,
            _ => return false,
        };
        self.marked(frame).is_some()
            || self.carrier == Some(Carrier::Dscp) && dscp == u16::from(self.of.int_dscp)
    }

    /// Returns the frame without its INT, if it carries any.
    fn carried(&self, frame: &[u8]) -> Carried {
        let Some((at, carrier)) = self.marked(frame).zip(self.carrier) else { return Carried::Nothing };
        let (header, sum) = at.header();
        let shim = at.l4 + header;
        let (Some([types, words, original @ ..]), Some([version, ..])) =
            (frame.get(shim..shim + 4), frame.get(shim + 4..shim + 16))
        else {
            return Carried::Broken;
        };
        let kind = if self.kind == Kind::Mx { 3 } else { 1 };
        if types >> 4 != kind || version >> 4 != 2 {
            return Carried::Nothing;
        }
        let (off, inside) = (4 + 4 * usize::from(*words), at.end.saturating_sub(shim));
        let of_udp = word(frame, at.l4 + 4).map_or(0, usize::from).saturating_sub(header);
        if *words < 3 || off > inside || !at.tcp && off > of_udp {
            return Carried::Broken;
        }
        let (flags, original) = (*version & (E | M), [original[0], original[1]]);
        let mut bare = frame.to_vec();
        match carrier {
            Carrier::Dscp | Carrier::UdpPort => {
                let summed = at.tcp || word(frame, sum) != Some(0);
                if summed && self.kind == Kind::Md {
                    raise(&mut bare, sum, u16::from(flags) << 8, at.tcp);
                }
                match carrier {
                    Carrier::UdpPort => put(&mut bare, at.l4 + 2, u16::from_be_bytes(original)),
                    _ => at.set_dscp(&mut bare, original[1] >> 2),
                }
                at.shorten(&mut bare, off as u16, true);
                bare.drain(shim..shim + off);
            }
            Carrier::NewUdp => {
                let protocol = ethernet::HEADER_LEN + if at.v6 { 6 } else { 9 };
                if original[1] == ipv4::PROTOCOL_TCP
                    && let Some(byte) = bare.get_mut(protocol)
                {
                    *byte = ipv4::PROTOCOL_TCP;
                }
                let off = off + header;
                at.shorten(&mut bare, off as u16, false);
                bare.drain(at.l4..at.l4 + off);
            }
        }
        Carried::Int(bare)
    }
}

/// Adds to the checksum at byte `at` the value `by` that removed flags had subtracted from it.
fn raise(frame: &mut [u8], at: usize, by: u16, tcp: bool) {
    if let Some(old) = word(frame, at).filter(|_| by != 0) {
        let (sum, carry) = old.overflowing_add(by);
        let sum = sum.wrapping_add(carry.into());
        put(frame, at, if tcp && sum == 0xffff { 0 } else { sum });
    }
}

/// Returns the frame without fields that forwarding changes; a TCP checksum of 0xffff becomes 0.
fn lasting(frame: &[u8]) -> Vec<u8> {
    let mut frame = properties::lasting(frame);
    let sum = At::of(&frame).filter(|at| at.tcp).map(|at| at.l4 + 16);
    if let Some(at) = sum.filter(|at| word(&frame, *at) == Some(0xffff)) {
        put(&mut frame, at, 0);
    }
    frame
}

/// Without INT, a sent packet equals the received one. Not checked: packets whose INT does not fit into
/// them, and marked packets whose mark is cleared.
#[derive(Clone, Debug)]
struct ByteIdentity(Marks);

impl Property for ByteIdentity {
    fn name(&self) -> &'static str {
        "int_identity"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let cleared = self.0.of.foreign == Foreign::Clear && self.0.looks_marked(from.bytes);
        if cleared || well_formed(from.bytes).is_err() {
            return Ok(());
        }
        let came = match self.0.carried(from.bytes) {
            Carried::Broken => return Ok(()),
            Carried::Nothing => from.bytes.to_vec(),
            Carried::Int(bare) => bare,
        };
        let left = match self.0.carried(packet.bytes) {
            // The shim may say that the host's own DSCP was the mark: the sink then restores the mark.
            Carried::Broken if lasting(&came) == lasting(packet.bytes) => return Ok(()),
            Carried::Broken => return Err("leaves with INT that does not fit into it".to_owned()),
            Carried::Nothing => packet.bytes.to_vec(),
            Carried::Int(bare) => bare,
        };
        properties::equal(&lasting(&came), &lasting(&left)).map_err(|text| format!("without INT, {text}"))
    }
}

/// The general property of this name, except for packets whose INT does not fit into them, or whose
/// rest is malformed: a sink cannot make them well formed.
#[derive(Clone, Debug)]
struct WellFormed(Marks);

impl Property for WellFormed {
    fn name(&self) -> &'static str {
        "well_formed"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let Err(text) = well_formed(packet.bytes) else { return Ok(()) };
        let good = match self.0.carried(from.bytes) {
            Carried::Nothing => true,
            Carried::Int(bare) => well_formed(&bare).is_ok(),
            Carried::Broken => false,
        };
        if good && well_formed(from.bytes).is_ok() { Err(text) } else { Ok(()) }
    }
}

/// The general property of this name, where INT begins or continues. After a sink the checksum is valid only if the
/// complements of all nodes were. Not checked once entries change, because entries may cause wrong complements.
#[derive(Clone, Debug)]
struct L4Checksum {
    marks: Marks,
    changed: bool,
}

impl Property for L4Checksum {
    fn name(&self) -> &'static str {
        "l4_checksum"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !self.changed) else { return Ok(()) };
        let (came, left) = (self.marks.carried(from.bytes), self.marks.carried(packet.bytes));
        if came != Carried::Nothing && !matches!(left, Carried::Int(_)) {
            return Ok(());
        }
        property::L4Checksum.left(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload};
    use sluice_switch::property::Origin;
    use std::net::Ipv4Addr;

    fn datagram() -> Vec<u8> {
        let mac = MacAddr::from_u64;
        let ip = ipv4::Header::new(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let mut bytes = Vec::new();
        let frame = FrameBuilder::new(mac(1), mac(2)).ipv4(ip).udp(udp::Header::new(7, 53));
        assert_eq!(frame.build(Payload::Bytes(&[7; 32]), &mut bytes), Ok(()));
        bytes
    }

    /// The datagram with a shim, a header and these words of stack, as a source and transits would send it.
    fn with_int(stack: usize, flags: u8) -> Vec<u8> {
        let mut frame = datagram();
        let mut int = vec![0x10, 3 + stack as u8, 0, 0, 0x20 | flags, 0, 2, 5, 0x90, 1, 0, 0, 0, 0, 0, 0];
        int.extend((0..4 * stack).map(|i| i as u8));
        frame.splice(42..42, int.iter().copied());
        let at = At::of(&frame).unwrap();
        at.set_dscp(&mut frame, 0x17);
        at.shorten(&mut frame, (int.len() as u16).wrapping_neg(), true);
        frame[24..26].fill(0);
        let sum = sluice_pcaps::wire::Checksum::new().with(&frame[14..34]).finish();
        put(&mut frame, 24, sum);
        frame
    }

    fn judged(came: &[u8], left: &[u8]) -> Finding {
        let marks = Marks { carrier: Some(Carrier::Dscp), kind: Kind::Md, of: Params::default() };
        let origin = Origin { port: 1, time: Default::default(), bytes: came };
        ByteIdentity(marks).left(&Departed::of(left, 2, Some(origin)))
    }

    #[test]
    fn a_host_gets_the_mark_of_int_back_if_int_says_that_it_gave_it() {
        // The last byte of the shim is the DSCP field that the datagram had.
        let mut came = with_int(2, 0);
        came[45] = 0x17 << 2;
        let mut left = datagram();
        let at = At::of(&left).unwrap();
        at.set_dscp(&mut left, 0x17);
        left[24..26].fill(0);
        let sum = sluice_pcaps::wire::Checksum::new().with(&left[14..34]).finish();
        put(&mut left, 24, sum);
        assert_eq!(judged(&came, &left), Ok(()));
        left[50] ^= 1;
        assert!(judged(&came, &left).is_err());
    }

    #[test]
    fn source_transit_and_sink_keep_what_is_not_int() {
        let plain = datagram();
        for (came, left) in [
            (plain.clone(), with_int(2, 0)),
            (with_int(2, 0), with_int(4, 0)),
            (with_int(4, 0), plain.clone()),
            (plain.clone(), plain.clone()),
        ] {
            assert_eq!(judged(&came, &left), Ok(()));
            let mut other = left.clone();
            *other.last_mut().unwrap() ^= 1;
            let text = judged(&came, &other).unwrap_err();
            assert!(text.starts_with("without INT, "), "{text}");
            let mut longer = left;
            longer.push(0);
            assert!(judged(&came, &longer).is_err());
        }
    }

    #[test]
    fn flags_that_came_off_are_put_back_into_the_check_sum() {
        let (mut came, mut left) = (with_int(2, E | M), datagram());
        put(&mut came, 40, 0xfd00);
        put(&mut left, 40, 0x0301);
        assert_eq!(judged(&came, &left), Ok(()), "0xfd00 + 0x0600, with the carry");
        put(&mut left, 40, 0x0300);
        assert!(judged(&came, &left).is_err());
    }

    #[test]
    fn int_that_does_not_fit_is_not_judged_when_it_comes_and_is_wrong_when_it_leaves() {
        let mut broken = with_int(2, 0);
        broken[43] = 60;
        assert_eq!(judged(&broken, &datagram()), Ok(()));
        assert!(judged(&datagram(), &broken).unwrap_err().contains("does not fit"));
    }
}
