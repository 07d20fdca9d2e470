//! Headroom of a lossless priority group: the bytes that arrive after its pause was requested.
//!
//! The result lists every term, so that a reader can check the sum by hand (model: buffer §1.10). Module `plug_in` has the formulas of
//! SONiC's plug-ins.

mod plug_in;

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
    /// SONiC's plug-in for NVIDIA: with cell waste, whose worst factor is rounded up to a whole number. Cells of 192 and 256 bytes are
    /// those of Spectrum-4, -5 and -6, which have terms of their own.
    Nvidia,
    /// SONiC's plug-in for Barefoot: with cell waste. It divides the cable term by 1.024 (a kilobit of 1024 bits) and
    /// counts the reaction time twice at 400 Gb/s.
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
    /// Latency of a gearbox in the line, in ns; counted in both directions. 0 = no gearbox.
    pub gearbox_ns: u64,
    /// True if the port has eight lanes, for which NVIDIA's plug-in doubles the latency of the pipeline.
    pub eight_lanes: bool,
    /// True if lossless groups share their headroom, so that a profile's size is that of its reserve alone.
    pub shared: bool,
    /// Formula.
    pub method: Method,
}

impl HeadroomInput {
    /// Returns the default inputs of SONiC's plug-ins (model: buffer §1.10); other methods have an MTU of 9216.
    pub fn new(method: Method, speed: BitRate, cable: Length, cell: Bytes) -> Self {
        let bound = matches!(method, Method::Worst | Method::Ideal);
        Self {
            speed,
            cable,
            cell,
            mtu: Bytes(if bound { 9_216 } else { 9_100 }),
            lossless_mtu: Bytes(if bound { 9_216 } else { 1_024 }),
            small_percent: if bound { 0 } else { 50 },
            gearbox_ns: 0,
            eight_lanes: false,
            shared: false,
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
    /// A profile's `xon` and `size`, which SONiC's plug-ins compute too.
    pub profile: Option<(Bytes, Bytes)>,
}

/// Computes the headroom.
pub fn headroom(input: &HeadroomInput) -> Headroom {
    match input.method {
        Method::Worst => worst(input),
        Method::Ideal => ideal(input),
        Method::Nvidia | Method::Barefoot => plug_in::headroom(input),
    }
}

/// Returns the terms of the bounds, in which a peer reacts as late as it may.
fn terms(input: &HeadroomInput) -> Vec<Term> {
    let HeadroomInput { speed, mtu, cable, .. } = *input;
    let quanta = peer_quanta(speed);
    let mut terms = vec![
        Term {
            name: "frame in flight here",
            how: format!("the longest frame of the port, {mtu}, on the wire when the pause is due"),
            bytes: mtu,
        },
        Term {
            name: "cable, both ways",
            how: format!("2 x {cable} / 198000000 m/s x {speed} / 8: {} one way", cable.delay()),
            bytes: cable.round_trip_bytes(speed),
        },
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
    let reaction = Bytes(u64::from(quanta) * super::pfc::QUANTUM.0);
    terms.push(Term {
        name: "peer's reaction",
        how: format!("{quanta} quanta of 512 bits"),
        bytes: reaction,
    });
    terms
}

fn ideal(input: &HeadroomInput) -> Headroom {
    let mut terms = terms(input);
    terms.push(Term {
        name: "frame in flight there",
        how: format!("the peer finishes the frame that it has begun, {}", input.lossless_mtu),
        bytes: input.lossless_mtu,
    });
    let wire: Bytes = terms.iter().map(|term| term.bytes).sum();
    Headroom {
        terms,
        wire,
        waste_millionths: 1_000_000,
        waste: "packets are assumed to fill their cells".to_owned(),
        xoff: wire,
        total: format!("{wire} on the wire"),
        profile: None,
    }
}

/// Computes the headroom for the length of frames that needs most.
fn worst(input: &HeadroomInput) -> Headroom {
    /// Preamble and gap.
    const LINE: u64 = 20;
    /// Shortest frame, with FCS.
    const SHORTEST: u64 = 64;
    let terms = terms(input);
    let wire: Bytes = terms.iter().map(|term| term.bytes).sum();
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
        profile: None,
    }
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
}
