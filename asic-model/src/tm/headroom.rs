//! Headroom of a lossless priority group: the bytes that arrive after its pause was requested.
//!
//! The result lists every term, so that a reader can check the sum by hand (model: buffer §1.10).

use crate::units::{BitRate, Bytes, Length};

/// Longest reaction time to a PFC frame in quanta of 512 bit times, by rate in Mb/s (model: buffer §1.10).
const PEER_QUANTA: [(u64, u32); 10] = [
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

/// Returns a peer's longest reaction time to a PFC frame, in quanta. A rate between two listed rates takes the value of
/// the higher one.
pub fn peer_quanta(rate: BitRate) -> u32 {
    let mbps = rate.as_bps().div_ceil(1_000_000);
    let at = PEER_QUANTA.iter().find(|(listed, _)| *listed >= mbps).or(PEER_QUANTA.last());
    at.map_or(0, |(_, quanta)| *quanta)
}

/// Formula for the headroom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Round trip, reaction time and the longest frame here, all filled with frames of the length that takes most cells, and one
    /// frame that the peer has begun. No traffic needs more.
    #[default]
    Worst,
    /// Round trip, reaction time, and one frame in flight at each end; without waste from partly filled cells, so that shorter
    /// frames than the longest may be lost.
    Ideal,
    /// SONiC's plug-in for NVIDIA: with cell waste, whose worst factor is rounded up to a whole number.
    Nvidia,
    /// SONiC's plug-in for Barefoot: with cell waste. It divides the cable term by 1.024 (a kilobit of 1024 bits) and
    /// counts the reaction time twice from 400 Gb/s on.
    Barefoot,
}

/// Inputs of the headroom formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadroomInput {
    /// Line rate.
    pub speed: BitRate,
    /// Cable length.
    pub cable: Length,
    /// Bytes per buffer cell.
    pub cell: Bytes,
    /// Longest frame of the port.
    pub mtu: Bytes,
    /// Longest frame of lossless traffic.
    pub lossless_mtu: Bytes,
    /// Share of 64-byte packets in lossless traffic, in percent of the packets.
    pub small_percent: u8,
    /// Delay of MAC and PHY, in bytes at line rate.
    pub mac_phy: Bytes,
    /// Latency of a gearbox in the line, in ns; counted in both directions. 0 = no gearbox.
    pub gearbox_ns: u64,
    /// Formula.
    pub method: Method,
}

impl HeadroomInput {
    /// Returns the default inputs of SONiC's plug-ins (model: buffer §1.10); other methods have an MTU of 9216.
    pub fn new(method: Method, speed: BitRate, cable: Length, cell: Bytes) -> Self {
        let ideal = matches!(method, Method::Worst | Method::Ideal);
        Self {
            speed,
            cable,
            cell,
            mtu: Bytes(if ideal { 9_216 } else { 9_100 }),
            lossless_mtu: Bytes(if ideal { 9_216 } else { 1_024 }),
            small_percent: if ideal { 0 } else { 100 },
            // 0.8 KiB, rounded up.
            mac_phy: Bytes(if ideal { 0 } else { 820 }),
            gearbox_ns: 0,
            method,
        }
    }
}

/// One term of the sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Name of the term.
    pub name: &'static str,
    /// Derivation of the term, with its numbers.
    pub how: String,
    /// Size of the term.
    pub bytes: Bytes,
}

/// A headroom and its derivation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// Bytes that arrive until the pause takes effect, term by term.
    pub terms: Vec<Term>,
    /// Sum of the terms.
    pub wire: Bytes,
    /// Bytes of cells per byte of traffic, in millionths.
    pub waste_millionths: u64,
    /// Derivation of that factor.
    pub waste: String,
    /// The headroom: the value for a profile's `xoff`.
    pub xoff: Bytes,
    /// Derivation of the headroom from wire bytes and waste.
    pub total: String,
}

/// Computes the headroom.
pub fn headroom(input: &HeadroomInput) -> Headroom {
    let HeadroomInput { speed, mtu, .. } = *input;
    let mut terms = vec![
        Term {
            name: "frame in flight here",
            how: format!("the longest frame of the port, {mtu}, on the wire when the pause is due"),
            bytes: mtu,
        },
        cable_term(input),
    ];
    if input.gearbox_ns > 0 {
        let bits = u128::from(speed.as_bps()) * u128::from(input.gearbox_ns) / 1_000_000_000;
        let one = bits.div_ceil(8);
        terms.push(Term {
            name: "gearbox",
            how: format!("2 x {} ns x {speed}: both ways", input.gearbox_ns),
            bytes: Bytes(u64::try_from(2 * one).unwrap_or(u64::MAX)),
        });
    }
    if input.mac_phy > Bytes::ZERO {
        terms.push(Term { name: "MAC and PHY", how: "interface delay".to_owned(), bytes: input.mac_phy });
    }
    terms.push(peer_term(input));
    if input.method == Method::Ideal {
        terms.push(Term {
            name: "frame in flight there",
            how: format!("the peer finishes the frame that it has begun, {}", input.lossless_mtu),
            bytes: input.lossless_mtu,
        });
    }
    let wire: Bytes = terms.iter().map(|term| term.bytes).sum();
    finish(input, terms, wire)
}

fn cable_term(input: &HeadroomInput) -> Term {
    let HeadroomInput { speed, cable, method, .. } = *input;
    let bytes = cable.round_trip_bytes(speed);
    let (bytes, note) = match method {
        Method::Worst | Method::Ideal | Method::Nvidia => (bytes, ""),
        Method::Barefoot => (Bytes((bytes.0 * 1000).div_ceil(1024)), ", / 1.024 as that plug-in counts"),
    };
    Term {
        name: "cable, both ways",
        how: format!("2 x {cable} / 198000000 m/s x {speed} / 8: {} one way{note}", cable.delay()),
        bytes,
    }
}

fn peer_term(input: &HeadroomInput) -> Term {
    let quanta = peer_quanta(input.speed);
    let twice = input.method == Method::Barefoot && input.speed >= BitRate::from_gbps(400);
    let times = if twice { 2 } else { 1 };
    let bytes = Bytes(u64::from(quanta) * super::pfc::QUANTUM.0 * times);
    let note = if twice { ", twice from 400G on as that plug-in counts" } else { "" };
    Term { name: "peer's reaction", how: format!("{quanta} quanta of 512 bits{note}"), bytes }
}

/// Computes the bytes of cells per byte of traffic, and then the headroom.
fn finish(input: &HeadroomInput, terms: Vec<Term>, wire: Bytes) -> Headroom {
    const ONE: u64 = 1_000_000;
    if input.method == Method::Worst {
        return worst(input, terms, wire);
    }
    if input.method == Method::Ideal {
        return Headroom {
            terms,
            wire,
            waste_millionths: ONE,
            waste: "packets are assumed to fill their cells".to_owned(),
            xoff: wire,
            total: format!("{wire} on the wire"),
        };
    }
    let cell = input.cell.0.max(1);
    // The worst packet is one byte too long for one cell and takes two. For cells above 128 bytes, a 64-byte packet is
    // worse.
    let worst = if cell > 128 { cell * ONE / 64 } else { 2 * cell * ONE / (1 + cell) };
    let worst = if input.method == Method::Nvidia { worst.div_ceil(ONE) * ONE } else { worst };
    let share = small_byte_share(input);
    let waste = ONE - share + (u128::from(share) * u128::from(worst) / u128::from(ONE)) as u64;
    let occupied = (u128::from(wire.0) * u128::from(waste)).div_ceil(u128::from(ONE));
    let sum = input.lossless_mtu.0.saturating_add(u64::try_from(occupied).unwrap_or(u64::MAX / 2));
    let xoff = Bytes(sum.div_ceil(1024).saturating_mul(1024));
    Headroom {
        terms,
        wire,
        waste_millionths: waste,
        waste: format!(
            "64 B packets are {} % of packets and {} % of bytes; the worst packet size takes {} times its length in {} cells",
            input.small_percent,
            decimal(share * 100),
            decimal(worst),
            input.cell
        ),
        xoff,
        total: format!(
            "{} of a lossless frame + {wire} x {}, rounded up to 1024",
            input.lossless_mtu,
            decimal(waste)
        ),
    }
}

/// Computes the headroom for the length of frames that needs most.
fn worst(input: &HeadroomInput, terms: Vec<Term>, wire: Bytes) -> Headroom {
    /// Preamble and gap.
    const LINE: u64 = 20;
    /// Shortest frame, with FCS.
    const SHORTEST: u64 = 64;
    let cell = input.cell.0.max(1);
    let need =
        |length: u64| (wire.0.div_ceil(length + LINE) + 1).saturating_mul(length.div_ceil(cell) * cell);
    // Only the shortest frame and those that begin a cell can be worst.
    let begin = (1..=input.lossless_mtu.0 / cell).map(|cells| cells * cell + 1);
    let lengths = begin.filter(|length| (SHORTEST..=input.lossless_mtu.0).contains(length)).chain([SHORTEST]);
    let (xoff, length) =
        lengths.map(|length| (need(length), length)).max().unwrap_or((need(SHORTEST), SHORTEST));
    let (line, held) = (length + LINE, length.div_ceil(cell) * cell);
    Headroom {
        terms,
        wire,
        waste_millionths: held * 1_000_000 / line,
        waste: format!(
            "frames of {length} B are worst: each takes {line} B of the line and {held} B of {cell} B cells"
        ),
        xoff: Bytes(xoff),
        total: format!(
            "{} frames of {length} B in {wire} of the line, and one that the peer has begun, x {held} B",
            wire.0.div_ceil(line)
        ),
    }
}

/// Returns the share of 64-byte packets in the bytes, in millionths. NVIDIA's formula divides 64 bytes by the mean
/// packet length: that is the share only if all packets are small, and too much otherwise.
fn small_byte_share(input: &HeadroomInput) -> u64 {
    let percent = u64::from(input.small_percent.min(100));
    match input.method {
        Method::Nvidia => {
            let bytes = percent * 64 + (100 - percent) * input.lossless_mtu.0;
            (100_u64 * 64 * 1_000_000).checked_div(bytes).unwrap_or(0)
        }
        Method::Worst | Method::Ideal | Method::Barefoot => percent * 10_000,
    }
}

/// Formats millionths as a decimal number.
fn decimal(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xoff(method: Method, cell: u64, gbps: u64, metres: u64) -> u64 {
        let (speed, cable) = (BitRate::from_gbps(gbps), Length::from_metres(metres));
        headroom(&HeadroomInput::new(method, speed, cable, Bytes(cell))).xoff.get()
    }

    /// Model: buffer §1.10, peer quanta.
    #[test]
    fn reactions() {
        let rows = [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 905)];
        for (gbps, quanta) in rows {
            assert_eq!(peer_quanta(BitRate::from_gbps(gbps)), quanta);
        }
        assert_eq!(peer_quanta(BitRate::from_gbps(1600)), 905);
    }

    /// Model: buffer §1.10, ideal headroom; `docs/model/buffer.md` rounds the wire term to the nearest byte.
    #[test]
    fn the_worst_frames_need_most() {
        // 300 m at 100G: 37,879 B of cable, 25,216 B of reaction and a frame of 9,216 B are 72,311 B: 861 frames of 64 B, which take
        // 84 B of the line, and one more, in cells of 208 B.
        assert_eq!(xoff(Method::Worst, 208, 100, 300), 862 * 208);
        // In cells of 80 B frames of 81 B are worst: 72,311 / 101 = 716 and one more, of two cells.
        assert_eq!(xoff(Method::Worst, 80, 100, 300), 717 * 160);
    }

    #[test]
    fn ideal_headroom() {
        let rows: [(u64, [u64; 4]); 5] = [
            (5, [23_710, 26_237, 44_279, 78_877]),
            (40, [24_815, 28_004, 48_699, 96_554]),
            (300, [33_022, 41_136, 81_527, 227_867]),
            (2_000, [86_683, 126_994, 296_173, 1_086_453]),
            (40_000, [1_286_178, 2_046_186, 5_094_153, 20_278_372]),
        ];
        for (metres, row) in rows {
            for (gbps, bytes) in [25, 40, 100, 400].into_iter().zip(row) {
                let found = xoff(Method::Ideal, 208, gbps, metres);
                assert!(found.abs_diff(bytes) <= 1, "{gbps}G {metres} m: {found}, {bytes}");
            }
        }
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
                assert_eq!(xoff(method, cell, gbps, metres), bytes, "cell {cell}, {gbps}G, {metres} m");
            };
            [25, 40, 100, 400].into_iter().zip(three).for_each(|(g, b)| check(Method::Nvidia, 144, g, b));
            [25, 40, 100].into_iter().zip(one).for_each(|(g, b)| check(Method::Nvidia, 96, g, b));
            [100, 400].into_iter().zip(tofino).for_each(|(g, b)| check(Method::Barefoot, 176, g, b));
        }
    }

    #[test]
    fn the_terms_add_up_and_name_their_numbers() {
        let cable = Length::from_metres(300);
        let mut input = HeadroomInput::new(Method::Nvidia, BitRate::from_gbps(100), cable, Bytes(144));
        input.gearbox_ns = 400;
        input.small_percent = 50;
        let found = headroom(&input);
        assert_eq!(found.terms.iter().map(|t| t.bytes).sum::<Bytes>(), found.wire);
        assert!(found.terms.iter().any(|t| t.name == "gearbox" && t.bytes == Bytes(10_000)));
        // 64 of 544 bytes, three times: 1.235294.
        assert_eq!(found.waste_millionths, 1_235_294);
        assert_eq!(found.xoff.get() % 1024, 0);
    }
}
