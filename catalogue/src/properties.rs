//! Properties of forwarding that programs can select, and building blocks of such properties.
//!
//! Properties of every program are in [`sluice_switch::property`]. Each run has new properties, which see all of its
//! packets.

use sluice_asic::units::{Duration, Time};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6};
use sluice_switch::property::{self, Departed, Entered, Finding, Property, Settled, well_formed};
use std::collections::BTreeMap;

/// `same_way`: equal frames that arrive on the same port are sent on the same port, until the control plane changes an
/// entry.
#[derive(Clone, Debug, Default)]
pub struct SameWay {
    /// Ingress port and bytes of each frame, to its egress port.
    ways: BTreeMap<(u16, Vec<u8>), u16>,
    /// Number of the first packet that entered after the last change.
    since: u64,
    entered: u64,
}

impl Property for SameWay {
    fn name(&self) -> &'static str {
        "same_way"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        self.entered = packet.tag + 1;
        Ok(())
    }

    fn changed(&mut self) {
        self.since = self.entered;
        self.ways.clear();
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (left, Some(from)) = (&packet.left, packet.from) else { return Ok(()) };
        if left.made || left.tag < self.since {
            return Ok(());
        }
        let port = left.egress_port;
        let way = *self.ways.entry((from.port, from.bytes.to_vec())).or_insert(port);
        if way == port { Ok(()) } else { Err(format!("left by port {port}, and an equal one by port {way}")) }
    }
}

/// `settles`: every packet that entered is sent, dropped or consumed by the end of a run in which no entry changes.
///
/// It replaces the general property of this name, which also covers runs in which entries change. Programs that pause queues
/// need entries that agree with each other: while they change, a queue may stay paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettlesUnchanged {
    changed: bool,
}

impl Property for SettlesUnchanged {
    fn name(&self) -> &'static str {
        "settles"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        if std::mem::take(&mut self.changed) { Ok(()) } else { property::Settles::default().settled(device) }
    }
}

/// `hop_limit`: an IP packet is sent with the TTL or hop limit that it arrived with, or with one less. A decremented value is
/// not zero. Copies are not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct HopLimit;

/// Returns the TTL of an IPv4 packet or the hop limit of an IPv6 packet, after any VLAN tags.
fn hops(frame: &[u8]) -> Option<u8> {
    let mut at = 12;
    let word = |at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    while matches!(word(at)?, ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN) {
        at += 4;
    }
    let packet = frame.get(at + 2..)?;
    match word(at)? {
        ethernet::TYPE_IPV4 => ipv4::View::new(packet).ok().map(|ip| ip.ttl()),
        ethernet::TYPE_IPV6 => ipv6::View::new(packet).ok().map(|ip| ip.hop_limit()),
        _ => None,
    }
}

impl Property for HopLimit {
    fn name(&self) -> &'static str {
        "hop_limit"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let origin = packet.from.filter(|_| !packet.left.made);
        let Some(from) = origin.filter(|from| well_formed(from.bytes).is_ok()) else { return Ok(()) };
        match (hops(from.bytes), hops(packet.bytes)) {
            (Some(old), Some(new)) if new != old && (new == 0 || Some(new) != old.checked_sub(1)) => {
                Err(format!("came with {old} hops left and leaves with {new}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the frame with the fields that forwarding changes set to zero: TTL or hop limit, and IPv4 header checksum.
#[must_use]
pub fn lasting(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let mut at = 12;
    let word = |at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    while matches!(word(at), Some(ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN)) {
        at += 4;
    }
    let hidden: &[usize] = match word(at) {
        Some(ethernet::TYPE_IPV4) => &[8, 10, 11],
        Some(ethernet::TYPE_IPV6) => &[7],
        _ => &[],
    };
    for hidden in hidden {
        if let Some(byte) = frame.get_mut(at + 2 + hidden) {
            *byte = 0;
        }
    }
    frame
}

/// Compares the frame that arrived with the frame that was sent.
///
/// # Errors
/// If the frames differ: the first byte that differs, or their lengths.
pub fn equal(came: &[u8], left: &[u8]) -> Finding {
    if came == left {
        return Ok(());
    }
    Err(match came.iter().zip(left).position(|(a, b)| a != b) {
        Some(at) => format!("byte {at} is {:#04x}, expected {:#04x} as it came", left[at], came[at]),
        None => format!("it has {} bytes, expected {} as it came", left.len(), came.len()),
    })
}

/// `frame_kept`: a frame is sent as it arrived, except for TTL or hop limit, and IPv4 header checksum.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameKept;

impl Property for FrameKept {
    fn name(&self) -> &'static str {
        "frame_kept"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        equal(&lasting(from.bytes), &lasting(packet.bytes))
    }
}

/// Returns the properties of programs that route packets and change nothing else: [`HopLimit`] and [`FrameKept`].
#[must_use]
pub fn forwarding() -> Vec<Box<dyn Property>> {
    vec![Box::new(HopLimit), Box::new(FrameKept)]
}

/// `ecn_marks`: a frame is sent as it arrived, except for TTL or hop limit, IPv4 header checksum, and an ECN field that was
/// ECT and is CE.
#[derive(Clone, Copy, Debug, Default)]
pub struct EcnMarks;

/// Returns the position of the byte with the ECN field and the field's mask in it, after any VLAN tags.
fn ecn(frame: &[u8]) -> Option<(usize, u8)> {
    let mut at = 12;
    let word = |at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    while matches!(word(at)?, ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN) {
        at += 4;
    }
    match word(at)? {
        ethernet::TYPE_IPV4 => Some((at + 3, 0x03)),
        ethernet::TYPE_IPV6 => Some((at + 3, 0x30)),
        _ => None,
    }
}

impl Property for EcnMarks {
    fn name(&self) -> &'static str {
        "ecn_marks"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let (came, left) = (lasting(from.bytes), lasting(packet.bytes));
        equal(&came, &unmarked(&came, left))
    }
}

/// Returns the frame that was sent, with the ECN field that it arrived with if that was ECT and is CE.
#[must_use]
pub fn unmarked(came: &[u8], mut left: Vec<u8>) -> Vec<u8> {
    if let Some((at, bits)) = ecn(came)
        && let (Some(was), Some(is)) = (came.get(at), left.get_mut(at))
        && *was & bits != 0
        && *is & bits == bits
    {
        *is = *is & !bits | was & bits;
    }
    left
}

/// Returns true if the frame is an IP packet that is marked CE (congestion experienced).
#[must_use]
pub fn congested(frame: &[u8]) -> bool {
    ecn(frame).and_then(|(at, bits)| Some(frame.get(at)? & bits == bits)).unwrap_or(false)
}

/// Tag of a packet, to the time at which the packet arrived and its egress port.
type Ways = BTreeMap<u64, (Time, u16)>;

/// `flowlet_way`: equal frames that arrive on the same port, with a gap shorter than the flowlet timeout, are sent on the same
/// port. Runs in which entries change are not checked, because a member may be gone.
#[derive(Clone, Debug)]
pub struct FlowletWay {
    within: Duration,
    /// By ingress port and bytes of the frame.
    ways: BTreeMap<(u16, Vec<u8>), Ways>,
    changed: bool,
}

/// Greatest amount by which the gap between two packets of a port shrinks on the way from the wire to the timestamp.
const JITTER: Duration = Duration::from_nanos(500);

impl FlowletWay {
    /// Returns the property for flowlets that end after a gap of `timeout`, which the program measures in units of `tick`.
    /// `None` means that the timeout is too short for any gap to be judged.
    #[must_use]
    pub fn new(timeout: Duration, tick: Duration) -> Option<FlowletWay> {
        let within = timeout.checked_sub(tick + tick + JITTER)?;
        Some(FlowletWay { within, ways: BTreeMap::new(), changed: false })
    }
}

impl Property for FlowletWay {
    fn name(&self) -> &'static str {
        "flowlet_way"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (left, Some(from)) = (&packet.left, packet.from) else { return Ok(()) };
        if !left.made {
            let ways = self.ways.entry((from.port, from.bytes.to_vec())).or_default();
            ways.insert(left.tag, (left.received, left.egress_port));
        }
        Ok(())
    }

    fn settled(&mut self, _: &Settled<'_>) -> Finding {
        if std::mem::take(&mut self.changed) {
            self.ways.clear();
            return Ok(());
        }
        for ways in std::mem::take(&mut self.ways).into_values() {
            let list: Vec<(u64, (Time, u16))> = ways.into_iter().collect();
            for pair in list.windows(2) {
                let [(first, (was, way)), (second, (now, other))] = pair else { continue };
                let gap = now.saturating_since(*was);
                if gap < self.within && way != other {
                    return Err(format!(
                        "packet {second} left by port {other}, and an equal one, {first}, {gap} before it by port {way}"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_control::ControlState;
    use sluice_ir::Program;
    use sluice_switch::Totals;
    use sluice_switch::property::Origin;

    fn frame(ttl: u8) -> Vec<u8> {
        let mut bytes = vec![0; 60];
        bytes[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        bytes[17] = 46;
        bytes[22] = ttl;
        let sum = sluice_pcaps::wire::Checksum::new().with(&bytes[14..34]).finish();
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn left(new: &[u8], port: u16, old: &[u8], property: &mut dyn Property) -> Finding {
        let from = Origin { port: 1, time: Default::default(), bytes: old };
        property.left(&Departed::of(new, port, Some(from)))
    }

    #[test]
    fn hops_fall_by_one_at_most_and_not_to_zero() {
        for (old, new, holds) in
            [(64, 64, true), (64, 63, true), (64, 62, false), (1, 0, false), (0, 255, false)]
        {
            assert_eq!(left(&frame(new), 2, &frame(old), &mut HopLimit).is_ok(), holds, "{old} to {new}");
        }
    }

    #[test]
    fn nothing_but_hops_changes() {
        let came = frame(64);
        assert_eq!(left(&frame(63), 2, &came, &mut FrameKept), Ok(()));
        let mut other = frame(63);
        other[40] = 1;
        assert_eq!(
            left(&other, 2, &came, &mut FrameKept),
            Err("byte 40 is 0x01, expected 0x00 as it came".to_owned())
        );
        assert!(left(&other[..50], 2, &other, &mut FrameKept).is_err());
    }

    #[test]
    fn only_what_is_capable_is_marked() {
        let with = |ecn: u8| {
            let mut frame = frame(64);
            frame[15] = ecn;
            frame
        };
        for (old, new, holds) in [
            (0, 0, true),
            (0, 3, false),
            (1, 3, true),
            (2, 3, true),
            (2, 1, false),
            (3, 3, true),
            (3, 2, false),
        ] {
            assert_eq!(left(&with(new), 2, &with(old), &mut EcnMarks).is_ok(), holds, "{old} to {new}");
        }
        assert!(left(&with(7), 2, &with(2), &mut EcnMarks).is_err(), "DSCP");
    }

    #[test]
    fn equal_frames_go_the_same_way_until_something_changes() {
        let mut property = SameWay::default();
        let frame = frame(64);
        assert_eq!(left(&frame, 2, &frame, &mut property), Ok(()));
        assert_eq!(left(&frame, 2, &frame, &mut property), Ok(()));
        assert!(left(&frame, 3, &frame, &mut property).is_err());
        property.changed();
        assert_eq!(left(&frame, 3, &frame, &mut property), Ok(()));
    }

    #[test]
    fn what_stays_inside_is_judged_unless_entries_change() {
        let (program, totals) = (Program::default(), Totals::default());
        let control = ControlState::new(&program);
        let at = |busy| Settled {
            program: &program,
            control: &control,
            totals: &totals,
            held: 1,
            busy,
            conserved: true,
            states: &[],
        };
        let mut settles = SettlesUnchanged::default();
        assert_eq!(settles.name(), "settles");
        assert_eq!(settles.settled(&at(false)), Ok(()));
        assert!(settles.settled(&at(true)).is_err());
        settles.changed();
        assert_eq!(settles.settled(&at(true)), Ok(()));
        assert!(settles.settled(&at(true)).is_err(), "the next run is another one");
    }
}
