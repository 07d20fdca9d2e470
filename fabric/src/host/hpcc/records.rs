//! The telemetry of HPCC's packets at hosts: room for records in data packets, copies in answers, and records as the
//! sender reads them (model: int §1.8-§1.10).

use sluice_asic::units::{BitRate, Bytes};
use sluice_pcaps::int::HpccLayout;

/// Largest number of hops whose records a packet keeps.
pub const MAX_HOPS: usize = 5;
/// Bytes of a record.
const RECORD: usize = 8;
/// Bytes of nHop, with pathID or alone.
const COUNT: usize = 2;
/// Bytes of the simulator's sequence number and priority group, before the slots.
const SEQUENCE: usize = 6;
/// Bytes per unit of a port's count of sent bytes.
const BYTES_UNIT: u64 = 128;
/// Rates of the speed codes, Gb/s; other codes are unknown speeds.
const SPEEDS: [u64; 6] = [25, 50, 100, 200, 400, 40];

/// Returns true if records can express a port speed.
#[must_use]
pub fn has_code(speed: BitRate) -> bool {
    SPEEDS.iter().any(|gbps| BitRate::from_gbps(*gbps) == speed)
}

/// Position and units of the records in a network's packets. All switches and hosts agree on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelemetryFormat {
    /// UDP destination port of packets with records. With layout `Paper` answers have this port too, because switches
    /// know answers by their opcode; with `Ns3` it is another port than RoCEv2's, which answers have.
    pub port: u16,
    /// Layout of the records.
    pub layout: HpccLayout,
    /// Bytes per unit of queue length: the switches' buffer cell.
    pub cell: Bytes,
    /// Factor of the units of bytes sent and queue length, above 0 (`INT_MULTI` of the simulator).
    pub multi: u32,
}

/// Returns the telemetry bytes with which a data packet leaves its host, before any switch has added a record.
pub(in crate::host) const fn room(layout: HpccLayout) -> usize {
    match layout {
        HpccLayout::Paper => COUNT,
        HpccLayout::Ns3 => SEQUENCE + MAX_HOPS * RECORD + COUNT,
    }
}

/// Splits the bytes after UDP into telemetry and the bytes after it. `None` if they end within the telemetry, or if it
/// has more than five records.
pub(in crate::host) fn split(layout: HpccLayout, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = match layout {
        HpccLayout::Ns3 => room(layout),
        HpccLayout::Paper => {
            let hops = usize::from(bytes.first()? >> 4);
            (hops <= MAX_HOPS).then_some(COUNT + hops * RECORD)?
        }
    };
    bytes.split_at_checked(len)
}

/// Returns what an answer copies from the telemetry of a data packet: everything but the simulator's sequence number.
pub(in crate::host) fn echo(layout: HpccLayout, telemetry: &[u8]) -> &[u8] {
    match layout {
        HpccLayout::Paper => telemetry,
        HpccLayout::Ns3 => telemetry.get(SEQUENCE..).unwrap_or_default(),
    }
}

/// Record of one hop, in units of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// Speed of the port; zero if the code is unknown.
    pub speed: BitRate,
    /// Time at which the packet left, ns, modulo 2^24.
    pub time: u32,
    /// Bytes that the port had sent, in units of 128 bytes times the format's factor, modulo 2^20.
    pub sent: u32,
    /// Length of the queue, bytes.
    pub queue: u64,
}

impl HopRecord {
    /// Returns the nanoseconds from an earlier record of the same hop to this one, modulo 2^24.
    #[must_use]
    pub const fn nanos_since(&self, earlier: &HopRecord) -> u32 {
        self.time.wrapping_sub(earlier.time) & 0xff_ffff
    }

    /// Returns the units that the port sent from an earlier record of the same hop to this one, modulo 2^20.
    #[must_use]
    pub const fn units_since(&self, earlier: &HopRecord) -> u32 {
        self.sent.wrapping_sub(earlier.sent) & 0xf_ffff
    }
}

/// The records of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// nHop and pathID, or the simulator's nHop: two packets with different numbers took different paths.
    pub path: u16,
    hops: [HopRecord; MAX_HOPS],
    count: u8,
    /// Bytes per unit of bytes sent.
    unit: u64,
}

impl Records {
    /// Creates records of at most five hops, whose counts have units of `unit` bytes; further hops are left out.
    #[must_use]
    pub fn new(path: u16, unit: Bytes, hops: &[HopRecord]) -> Records {
        let count = hops.len().min(MAX_HOPS) as u8;
        let mut records = Records { path, count, unit: unit.0, ..Records::default() };
        records.hops.iter_mut().zip(hops).for_each(|(to, from)| *to = *from);
        records
    }

    /// Returns the hops: with layout `Paper` in order of the path, with `Ns3` in order of the slots.
    #[must_use]
    pub fn hops(&self) -> &[HopRecord] {
        self.hops.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// Returns the bytes per unit of bytes sent.
    #[must_use]
    pub const fn unit(&self) -> Bytes {
        Bytes(self.unit)
    }

    /// Reads the copy of records in an answer. `None` if the copy is cut off, or has more than five hops in layout
    /// `Paper`.
    #[must_use]
    pub fn read(format: &TelemetryFormat, copy: &[u8]) -> Option<Records> {
        let multi = u64::from(format.multi);
        let records = match format.layout {
            HpccLayout::Paper => Records::paper(copy, format.cell.0 * multi),
            HpccLayout::Ns3 => Records::slots(copy, format.cell.0 * multi),
        };
        records.map(|records| Records { unit: BYTES_UNIT * multi, ..records })
    }

    fn paper(copy: &[u8], cell: u64) -> Option<Records> {
        let (&common, rest) = copy.split_first_chunk::<COUNT>()?;
        let path = u16::from_be_bytes(common);
        let count = (path >> 12) as u8;
        let mut records = Records { path, count, ..Records::default() };
        let hops = records.hops.get_mut(..usize::from(count))?;
        let mut words = rest.chunks_exact(RECORD).filter_map(<[u8]>::first_chunk::<RECORD>);
        for hop in hops {
            let word = u64::from_be_bytes(*words.next()?);
            *hop = HopRecord {
                speed: speed(word >> 60),
                time: (word >> 36) as u32 & 0xff_ffff,
                sent: (word >> 16) as u32 & 0xf_ffff,
                queue: (word & 0xffff) * cell,
            };
        }
        Some(records)
    }

    fn slots(copy: &[u8], cell: u64) -> Option<Records> {
        let (slots, rest) = copy.split_at_checked(MAX_HOPS * RECORD)?;
        let path = u16::from_le_bytes(*rest.first_chunk()?);
        let count = path.min(MAX_HOPS as u16) as u8;
        let mut records = Records { path, count, ..Records::default() };
        let words = slots.chunks_exact(RECORD).filter_map(<[u8]>::first_chunk::<RECORD>);
        for (hop, word) in records.hops.iter_mut().zip(words).take(usize::from(count)) {
            let word = u64::from_le_bytes(*word);
            *hop = HopRecord {
                speed: speed(word & 7),
                time: (word >> 3) as u32 & 0xff_ffff,
                sent: (word >> 27) as u32 & 0xf_ffff,
                queue: (word >> 47) * cell,
            };
        }
        Some(records)
    }
}

/// Returns the rate of a speed code, zero if the code is unknown.
fn speed(code: u64) -> BitRate {
    SPEEDS.get(code as usize).map_or(BitRate::from_bps(0), |gbps| BitRate::from_gbps(*gbps))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hop of model: int §1.8: code 2, 123,456,789 ns, 10^9 bytes, a queue of 100,000 bytes in units of 80.
    const GOLDEN: HopRecord =
        HopRecord { speed: BitRate::from_gbps(100), time: 0x5b_cd15, sent: 0x7_3594, queue: 100_000 };

    /// Bytes of five slots and nHop.
    const LONGEST: usize = 42;

    fn format(layout: HpccLayout) -> TelemetryFormat {
        TelemetryFormat { port: 4792, layout, cell: Bytes(80), multi: 1 }
    }

    #[test]
    fn the_golden_words_are_read_in_both_layouts() {
        let paper = [&[0x10, 0x07][..], &0x25bc_d157_3594_04e2_u64.to_be_bytes()].concat();
        let records = Records::read(&format(HpccLayout::Paper), &paper).unwrap();
        assert_eq!((records.path, records.hops()), (0x1007, &[GOLDEN][..]));
        let mut slots = [0; LONGEST];
        slots[..8].copy_from_slice(&[0xaa, 0x68, 0xde, 0xa2, 0xac, 0x39, 0x71, 0x02]);
        slots[40] = 1;
        let records = Records::read(&format(HpccLayout::Ns3), &slots).unwrap();
        assert_eq!((records.path, records.hops()), (1, &[GOLDEN][..]));
        // With INT_MULTI 4 units are four times as large.
        let multi = TelemetryFormat { multi: 4, ..format(HpccLayout::Ns3) };
        let records = Records::read(&multi, &slots).unwrap();
        assert_eq!((records.unit(), records.hops()[0].queue), (Bytes(512), 400_000));
    }

    #[test]
    fn what_is_cut_off_or_impossible_is_refused() {
        let paper = format(HpccLayout::Paper);
        assert_eq!(Records::read(&paper, &[0x20; 9]), None, "two records need 18 bytes");
        assert_eq!(Records::read(&paper, &[0x60; 60]), None, "six hops");
        assert_eq!(Records::read(&format(HpccLayout::Ns3), &[0; LONGEST - 1]), None);
        assert_eq!(Records::read(&paper, &[0, 0]).map(|r| r.hops().len()), Some(0));
        assert_eq!(split(HpccLayout::Paper, &[0x60; 60]), None);
        assert_eq!(split(HpccLayout::Paper, &[0x20; 20]).map(|(a, b)| (a.len(), b.len())), Some((18, 2)));
        assert_eq!(split(HpccLayout::Ns3, &[0; 50]).map(|(a, b)| (a.len(), b.len())), Some((48, 2)));
    }

    #[test]
    fn a_seventh_hop_overwrote_the_second_slot() {
        let mut slots = [0; LONGEST];
        slots[40] = 7;
        let records = Records::read(&format(HpccLayout::Ns3), &slots).unwrap();
        assert_eq!((records.path, records.hops().len()), (7, MAX_HOPS));
    }

    #[test]
    fn clocks_and_counters_wrap() {
        let old = HopRecord { time: 0xff_ffff, sent: 0xf_fffe, ..HopRecord::default() };
        let new = HopRecord { time: 5, sent: 1, ..HopRecord::default() };
        assert_eq!((new.nanos_since(&old), new.units_since(&old)), (6, 3));
    }

    #[test]
    fn only_speeds_with_a_code_are_known() {
        assert!([25, 40, 50, 100, 200, 400].into_iter().all(|gbps| has_code(BitRate::from_gbps(gbps))));
        assert!(!has_code(BitRate::from_gbps(10)) && speed(15) == BitRate::from_bps(0));
    }
}
