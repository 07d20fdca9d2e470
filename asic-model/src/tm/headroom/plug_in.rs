//! SONiC's plug-ins for the headroom: `buffer_headroom_mellanox.lua` and `buffer_headroom_barefoot.lua` (model: buffer §1.10).
//!
//! The scripts compute with fractions and round up to 1024 bytes at the end. So does this module: terms are kept in parts of a byte that
//! all of the scripts' divisors divide, and each term that is shown is rounded so that the terms add up.

use super::{Headroom, HeadroomInput, Method, Term};
use crate::units::{BitRate, Bytes};

/// Parts of a byte. 792,000,000,000 is twice the signal speed of 198,000,000 m/s in the units of the cable term; 5120 is for the
/// kilobits of 1024 bits, and for tenths of a KiB.
const BYTE: u128 = 792_000_000_000 * 5_120;
/// Tenths of a KiB.
const TENTH: u128 = 1_024 * BYTE / 10;
const KIB: u64 = 1_024;
/// Delay of MAC and PHY in all tables of ASICs, in tenths of a KiB.
const MAC_PHY: u128 = 8;

/// Numbers in which the plug-ins differ.
struct PlugIn {
    /// Parts per millimetre of cable and bit per second.
    cable: u128,
    /// Quanta of the reaction time by rate in Mb/s.
    quanta: &'static [(u64, u64)],
    /// Reaction time at other rates, in tenths of a KiB.
    reaction: u128,
    /// Latency of the pipeline in KiB, the level at which a group resumes.
    pipeline: u64,
    /// Bytes added to the headroom.
    more: u64,
    /// Bytes on tiles per Gb/s.
    tile: u64,
}

/// Reaction times of both plug-ins; Barefoot's has none for the last rate.
const QUANTA: [(u64, u64); 10] = [
    (100, 1),
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];

impl PlugIn {
    fn of(input: &HeadroomInput) -> PlugIn {
        match (input.method, input.cell.0) {
            (Method::Barefoot, _) => {
                PlugIn { cable: 5_000, quanta: &QUANTA[..9], reaction: 90, pipeline: 68, more: 0, tile: 0 }
            }
            (_, cell) => PlugIn {
                cable: 5_120,
                quanta: &QUANTA,
                reaction: 38,
                pipeline: if cell == 256 { 42 } else { 19 },
                more: if cell == 256 { 18 * KIB } else { 0 },
                tile: if cell == 192 { 15 } else { 0 },
            },
        }
    }

    /// Returns the reaction time of the peer, and its derivation.
    fn reaction(&self, method: Method, speed: BitRate) -> (u128, String) {
        let bps = speed.as_bps();
        let listed = self.quanta.iter().find(|(mbps, _)| mbps * 1_000_000 == bps);
        let Some((mbps, quanta)) = listed else {
            let tenths = self.reaction;
            let how =
                format!("{}.{} KiB, as the plug-in has no quanta for {speed}", tenths / 10, tenths % 10);
            return (tenths * TENTH, how);
        };
        let twice = method == Method::Barefoot && *mbps == 400_000;
        let (times, note) = if twice { (2, ", twice at 400G as that plug-in counts") } else { (1, "") };
        let bytes = quanta * crate::tm::pfc::QUANTUM.0 * times;
        (u128::from(bytes) * BYTE, format!("{quanta} quanta of 512 bits{note}"))
    }
}

/// Computes the headroom of a plug-in.
pub(super) fn headroom(input: &HeadroomInput) -> Headroom {
    let plug_in = PlugIn::of(input);
    let (terms, parts) = terms(input, &plug_in);
    let wire: Bytes = terms.iter().map(|term| term.bytes).sum();
    let waste = Waste::of(input);
    let mut xoff = waste.xoff(input, parts, waste.factor).saturating_add(plug_in.more);
    let mut total = format!(
        "{} of a lossless frame + {wire} x {}, rounded up to 1024",
        input.lossless_mtu,
        waste.decimal()
    );
    if plug_in.more > 0 {
        total += &format!(", + {} that Spectrum-6 needs", Bytes(plug_in.more));
    }
    // The plug-in adds 2 KiB if fewer small packets than all are assumed and no group can borrow headroom.
    let full = waste.xoff(input, parts, waste.worst);
    if input.method == Method::Nvidia && !input.shared && input.small_percent < 100 && xoff + 2 * KIB < full {
        xoff += 2 * KIB;
        total += ", + 2048B because the headroom is not shared";
    }
    let pipeline = plug_in.pipeline * KIB;
    let (xon, overhead) = match input.eight_lanes && input.method == Method::Nvidia {
        true => (2 * pipeline, input.mtu.0),
        false => (pipeline, 0),
    };
    let size = match input.shared || input.method == Method::Barefoot {
        true => xon,
        false => xoff.saturating_add(xon + overhead).div_ceil(KIB).saturating_mul(KIB),
    };
    Headroom {
        terms,
        wire,
        waste_millionths: waste.millionths(waste.factor),
        waste: waste.how(input),
        xoff: Bytes(xoff),
        total,
        profile: Some((Bytes(xon), Bytes(size))),
    }
}

/// Returns the terms, and their sum in parts of a byte.
fn terms(input: &HeadroomInput, plug_in: &PlugIn) -> (Vec<Term>, u128) {
    let HeadroomInput { speed, mtu, cable, gearbox_ns, method, .. } = *input;
    let bps = u128::from(speed.as_bps());
    let mut list = vec![(
        "frame in flight here",
        format!("the longest frame of the port, {mtu}, on the wire when the pause is due"),
        u128::from(mtu.0).saturating_mul(BYTE),
    )];
    let note = if method == Method::Barefoot { ", / 1.024 as that plug-in counts" } else { "" };
    let on_cable = bps.saturating_mul(u128::from(cable.as_millimetres())).saturating_mul(plug_in.cable);
    let how = format!("2 x {cable} / 198000000 m/s x {speed} / 8: {} one way{note}", cable.delay());
    list.push(("cable, both ways", how, on_cable));
    if gearbox_ns > 0 {
        let both = 2 * BYTE / 8_192_000_000;
        let how = format!("2 x {gearbox_ns} ns x {speed} / 8 / 1.024: both ways");
        list.push(("gearbox", how, bps.saturating_mul(u128::from(gearbox_ns)).saturating_mul(both)));
    }
    list.push(("MAC and PHY", "interface delay, 0.8 KiB".to_owned(), MAC_PHY * TENTH));
    let (reaction, how) = plug_in.reaction(method, speed);
    list.push(("peer's reaction", how, reaction));
    if plug_in.tile > 0 {
        let per_bit = u128::from(plug_in.tile) * BYTE / 1_000_000_000;
        let how = format!("{} B per Gb/s on tiles of Spectrum-4 and -5", plug_in.tile);
        list.push(("on the tile", how, bps.saturating_mul(per_bit)));
    }
    let (mut sum, mut shown) = (0u128, 0u64);
    let mut term = |(name, how, parts): (&'static str, String, u128)| {
        sum = sum.saturating_add(parts);
        let until = u64::try_from(sum.div_ceil(BYTE)).unwrap_or(u64::MAX);
        let bytes = Bytes(until - shown);
        shown = until;
        Term { name, how, bytes }
    };
    let terms = list.into_iter().map(&mut term).collect();
    (terms, sum)
}

/// Bytes of cells per byte of traffic, as fractions.
struct Waste {
    /// For the traffic of the input.
    factor: (u128, u128),
    /// For small packets alone.
    worst: (u128, u128),
}

impl Waste {
    /// The worst packet is one byte too long for one cell and takes two. For cells above 128 bytes, a packet of 64 bytes is worse.
    fn of(input: &HeadroomInput) -> Waste {
        let cell = u128::from(input.cell.0.max(1));
        let percent = u128::from(input.small_percent.min(100));
        let (of, per) = if cell > 128 { (cell, 64) } else { (2 * cell, 1 + cell) };
        if input.method == Method::Barefoot {
            return Waste { factor: ((100 - percent) * per + percent * of, 100 * per), worst: (of, per) };
        }
        // NVIDIA's plug-in takes 64 bytes over the mean length of packets for the share of small packets in the bytes.
        let worst = of.div_ceil(per);
        let bytes = (percent * 64 + (100 - percent) * u128::from(input.lossless_mtu.0)).max(1);
        Waste { factor: (bytes + 6_400 * (worst - 1), bytes), worst: (worst, 1) }
    }

    /// Returns a lossless frame and the cells for the bytes on the wire, rounded up to 1024 bytes.
    fn xoff(&self, input: &HeadroomInput, parts: u128, (of, per): (u128, u128)) -> u64 {
        let frame = u128::from(input.lossless_mtu.0).saturating_mul(BYTE).saturating_mul(per);
        let sum = frame.saturating_add(parts.saturating_mul(of));
        let kib = sum.div_ceil(BYTE.saturating_mul(u128::from(KIB)).saturating_mul(per));
        u64::try_from(kib).unwrap_or(u64::MAX).saturating_mul(KIB).min(u64::MAX / 4)
    }

    fn millionths(&self, (of, per): (u128, u128)) -> u64 {
        u64::try_from(of.saturating_mul(1_000_000) / per).unwrap_or(u64::MAX)
    }

    fn decimal(&self) -> String {
        decimal(self.millionths(self.factor))
    }

    fn how(&self, input: &HeadroomInput) -> String {
        let share = match input.method {
            Method::Barefoot => u64::from(input.small_percent.min(100)) * 1_000_000,
            _ => u64::try_from(640_000_000_000 / self.factor.1).unwrap_or(u64::MAX),
        };
        format!(
            "64 B packets are {} % of packets and {} % of bytes; the worst packet size takes {} times its length in {} cells",
            input.small_percent,
            decimal(share),
            decimal(self.millionths(self.worst)),
            input.cell
        )
    }
}

/// Formats millionths as a decimal number.
fn decimal(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::headroom;
    use super::*;
    use crate::units::Length;

    fn input(method: Method, cell: u64, mbps: u64, metres: u64) -> HeadroomInput {
        let (speed, cable) = (BitRate::from_bps(mbps * 1_000_000), Length::from_metres(metres));
        HeadroomInput::new(method, speed, cable, Bytes(cell))
    }

    /// Returns the headroom of small packets alone.
    fn small(method: Method, cell: u64, gbps: u64, metres: u64) -> u64 {
        let input = HeadroomInput { small_percent: 100, ..input(method, cell, gbps * 1_000, metres) };
        headroom(&input).xoff.get()
    }

    /// Model: buffer §1.10, formula xoff with nothing but small packets.
    #[test]
    fn formula_headroom() {
        type Row = (u64, [u64; 4], [u64; 3], [u64; 2]);
        let rows: [Row; 5] = [
            (5, [47_104, 54_272, 108_544, 212_992], [31_744, 36_864, 72_704], [100_352, 354_304]),
            (40, [50_176, 60_416, 121_856, 265_216], [33_792, 40_960, 81_920], [111_616, 401_408]),
            (300, [74_752, 99_328, 220_160, 659_456], [50_176, 66_560, 147_456], [199_680, 754_688]),
            (
                2_000,
                [236_544, 357_376, 864_256, 3_235_840],
                [157_696, 238_592, 576_512],
                [776_192, 3_059_712],
            ),
            (
                40_000,
                [3_834_880, 6_114_304, 15_258_624, 60_811_264],
                [2_556_928, 4_076_544, 10_172_416],
                [13_661_184, 54_600_704],
            ),
        ];
        for (metres, three, one, tofino) in rows {
            let check = |method, cell, gbps, bytes| {
                assert_eq!(small(method, cell, gbps, metres), bytes, "cell {cell}, {gbps}G, {metres} m");
            };
            [25, 40, 100, 400].into_iter().zip(three).for_each(|(g, b)| check(Method::Nvidia, 144, g, b));
            [25, 40, 100].into_iter().zip(one).for_each(|(g, b)| check(Method::Nvidia, 96, g, b));
            [100, 400].into_iter().zip(tofino).for_each(|(g, b)| check(Method::Barefoot, 176, g, b));
        }
    }

    /// `device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini` in sonic-buildimage: Spectrum-4, small packets alone,
    /// frames of up to 9216 bytes, private headroom; `xoff` for 5, 40 and 300 m.
    const SN5600: [(u64, [u64; 3]); 8] = [
        (10_000, [45_056, 46_080, 56_320]),
        (25_000, [48_128, 52_224, 76_800]),
        (40_000, [57_344, 62_464, 101_376]),
        (50_000, [63_488, 69_632, 118_784]),
        (100_000, [113_664, 126_976, 225_280]),
        (200_000, [131_072, 157_696, 355_328]),
        (400_000, [231_424, 283_648, 677_888]),
        (800_000, [257_024, 362_496, 1_150_976]),
    ];

    #[test]
    fn the_published_table_of_spectrum_4_up_to_800g() {
        for (mbps, row) in SN5600 {
            for (metres, xoff) in [5, 40, 300].into_iter().zip(row) {
                let eight_lanes = mbps == 800_000;
                let mut input = input(Method::Nvidia, 192, mbps, metres);
                input = HeadroomInput { small_percent: 100, mtu: Bytes(9_216), eight_lanes, ..input };
                let found = headroom(&input);
                assert_eq!(found.xoff, Bytes(xoff), "{mbps} {metres}");
                let (xon, size) = found.profile.unwrap();
                assert_eq!(xon, Bytes(if eight_lanes { 38_912 } else { 19_456 }));
                // The table's sizes at 800G are of an older rule.
                assert!(eight_lanes || size.get() == xoff + 19_456, "{mbps} {metres}: {size}");
            }
        }
    }

    /// `device/mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C508O1X2/pg_profile_lookup.ini`: Spectrum-5, half of the packets small,
    /// lossless frames of up to 4096 bytes, shared headroom; `xoff` by cable.
    const SN5640: [(u64, [u64; 6]); 7] = [
        (5, [20_480, 21_504, 26_624, 44_032, 50_176, 86_016]),
        (30, [20_480, 22_528, 27_648, 48_128, 57_344, 99_328]),
        (40, [20_480, 22_528, 28_672, 49_152, 60_416, 104_448]),
        (200, [22_528, 27_648, 39_936, 70_656, 102_400, 190_464]),
        (250, [23_552, 29_696, 43_008, 76_800, 116_736, 217_088]),
        (300, [23_552, 30_720, 46_080, 83_968, 130_048, 243_712]),
        (1_000, [33_792, 54_272, 93_184, 177_152, 317_440, 619_520]),
    ];

    #[test]
    fn the_published_table_of_spectrum_5_with_shared_headroom() {
        for (metres, row) in SN5640 {
            for (gbps, xoff) in [10, 25, 50, 100, 200, 400].into_iter().zip(row) {
                let mut input = input(Method::Nvidia, 192, gbps * 1_000, metres);
                input =
                    HeadroomInput { lossless_mtu: Bytes(4_096), mtu: Bytes(9_216), shared: true, ..input };
                let found = headroom(&input);
                assert_eq!(found.xoff, Bytes(xoff), "{gbps} {metres}");
                // With shared headroom, a profile's size is its xon.
                assert_eq!(found.profile, Some((Bytes(19_456), Bytes(19_456))));
            }
        }
    }

    /// By hand, 100G over 40 m in cells of 144 B, half of the packets small: 9100 + 5050.5 + 819.2 + 25216 = 40185.7 B. Small packets
    /// count 11.76 % and take 3 times their length: 1024 + 40185.7 x 1.2353 = 50665 B, 50 KiB. Small packets alone would need 119 KiB.
    #[test]
    fn fewer_small_packets_get_2_kib_more_unless_headroom_is_shared() {
        let input = input(Method::Nvidia, 144, 100_000, 40);
        assert_eq!(headroom(&input).xoff, Bytes((50 + 2) * 1_024));
        assert_eq!(headroom(&HeadroomInput { shared: true, ..input }).xoff, Bytes(50 * 1_024));
        assert_eq!(headroom(&HeadroomInput { small_percent: 100, ..input }).xoff, Bytes(119 * 1_024));
    }

    /// By hand, 10G over 5 m in cells of 256 B, small packets alone: 9100 + 63.1 + 819.2 + 4288 = 14270.3 B, 4 times, and 1024: 58105 B, 57
    /// KiB; Spectrum-6 gets 18 KiB more.
    #[test]
    fn spectrum_6_gets_18_kib_more_and_a_longer_pipeline() {
        let input = HeadroomInput { small_percent: 100, ..input(Method::Nvidia, 256, 10_000, 5) };
        let found = headroom(&input);
        assert_eq!(found.xoff, Bytes((57 + 18) * 1_024));
        assert_eq!(found.profile, Some((Bytes(42 * 1_024), Bytes((57 + 18 + 42) * 1_024))));
        assert!(found.total.ends_with("+ 18432B that Spectrum-6 needs"), "{}", found.total);
    }

    /// Barefoot's script has no quanta for 800G: 9 KiB. By hand, over 5 m in cells of 176 B, half of the packets small: 9100 + 4932.1 + 819.2
    /// + 9216 = 24067.3 B, times 0.5 + 0.5 x 2.75, and 1024: 46150 B, 46 KiB.
    #[test]
    fn rates_without_quanta_have_the_default_reaction() {
        let found = headroom(&input(Method::Barefoot, 176, 800_000, 5));
        assert_eq!((found.xoff, found.profile), (Bytes(46 * 1_024), Some((Bytes(69_632), Bytes(69_632)))));
        let how = &found.terms.last().unwrap().how;
        assert_eq!(how, "9.0 KiB, as the plug-in has no quanta for 800Gbps");
    }

    #[test]
    fn numbers_beyond_all_lines_saturate() {
        let input = HeadroomInput {
            speed: BitRate::from_bps(u64::MAX),
            cable: Length::from_metres(u64::MAX),
            cell: Bytes(u64::MAX / 2),
            mtu: Bytes(u64::MAX / 2),
            ..input(Method::Nvidia, 144, 1, 1)
        };
        assert!(headroom(&input).xoff >= Bytes(1 << 60));
    }

    #[test]
    fn the_terms_add_up_and_name_their_numbers() {
        let cable = Length::from_metres(300);
        let mut input = HeadroomInput::new(Method::Nvidia, BitRate::from_gbps(100), cable, Bytes(144));
        input.gearbox_ns = 400;
        input.small_percent = 50;
        let found = headroom(&input);
        assert_eq!(found.terms.iter().map(|t| t.bytes).sum::<Bytes>(), found.wire);
        // 100G for 400 ns, both ways, in kilobits of 1024 bits: 9765.6 bytes, rounded with the terms before.
        assert!(found.terms.iter().any(|t| t.name == "gearbox" && t.bytes.get().abs_diff(9_766) <= 1));
        // 64 of 544 bytes, three times: 1.235294.
        assert_eq!(found.waste_millionths, 1_235_294);
        assert_eq!(found.xoff.get() % 1024, 0);
    }
}
