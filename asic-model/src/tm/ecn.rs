//! ECN marking and WRED of queues.
//!
//! The marking law (model: buffer §3.1) for a queue of q bytes: no packet is marked up to Kmin, the probability rises
//! linearly to Pmax at Kmax, and every packet is marked beyond Kmax. An ECT packet is marked CE. A not-ECT packet is
//! never marked; the profile says whether it is dropped by the same curve or passes (decision D8). Each colour has its
//! own curve.

use crate::meter::Colour;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Point at which the queue length is read and the packet is marked (decision D7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkPoint {
    /// When the packet leaves the queue, by the queue length without it.
    #[default]
    Dequeue,
    /// When the packet joins the queue, by the queue length before it.
    Enqueue,
}

/// ECN field of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 0: the sender does not support ECN. Packets that are not IP count as not-ECT.
    #[default]
    NotEct,
    /// 1 or 2: the sender supports ECN.
    Ect,
    /// 3: congestion experienced; the packet is already marked.
    Ce,
}

impl Ecn {
    /// Decodes the two-bit field; higher bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            3 => Self::Ce,
            _ => Self::Ect,
        }
    }
}

/// Decision of a marking profile on one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The packet is unchanged.
    Pass,
    /// The packet's ECN field becomes CE.
    Ce,
    /// The packet is dropped.
    Drop,
}

/// Marking probability of one colour as a function of queue length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Curve {
    kmin: u64,
    kmax: u64,
    /// Probability per byte beyond Kmin, in parts of 2^64.
    slope: u128,
}

impl Curve {
    /// Creates the curve. `pmax_millionths` is the probability at `kmax`, at most 1,000,000. If `kmax` is not above
    /// `kmin`, the curve is a step: no packet up to `kmin`, every packet beyond.
    pub fn new(kmin: Bytes, kmax: Bytes, pmax_millionths: u32) -> Self {
        let (kmin, kmax) = (kmin.0, kmax.0.max(kmin.0));
        let slope = match u128::from(kmax - kmin) {
            0 => 0,
            height => (u128::from(pmax_millionths.min(1_000_000)) << 64) / (1_000_000 * height),
        };
        Self { kmin, kmax, slope }
    }

    /// Returns the length up to which no packet is marked.
    pub const fn kmin(&self) -> Bytes {
        Bytes(self.kmin)
    }

    /// Returns the length beyond which every packet is marked.
    pub const fn kmax(&self) -> Bytes {
        Bytes(self.kmax)
    }

    /// Returns the probability at a length of `q` bytes, in parts of 2^32.
    #[inline]
    pub const fn probability(&self, q: u64) -> u64 {
        if q <= self.kmin {
            0
        } else if q > self.kmax {
            1 << 32
        } else {
            let scaled = ((q - self.kmin) as u128 * self.slope) >> 32;
            if scaled > 1 << 32 { 1 << 32 } else { scaled as u64 }
        }
    }
}

/// Marking profile of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcnProfile {
    /// Name of the profile.
    pub name: String,
    /// Curves by colour; packets of a colour without a curve pass unchanged.
    pub curves: [Option<Curve>; 3],
    /// Per colour: true if ECT packets are marked CE. If false, ECT and CE packets of that colour are treated as
    /// not-ECT.
    pub marks: [bool; 3],
    /// True if not-ECT packets are dropped by the same curve (WRED); if false, they pass.
    pub drop_not_ect: bool,
    /// Weight of the moving average: at each packet the average moves by `1 / 2^n` of the difference. 0 uses the
    /// current length without averaging.
    pub average_shift: u8,
}

impl EcnProfile {
    /// Decides on a packet at an (averaged) length of `q` bytes. `random` is 32 uniformly distributed bits.
    #[inline]
    pub fn decide(&self, q: u64, colour: Colour, ecn: Ecn, random: u32) -> Mark {
        let Some(curve) = &self.curves[colour as usize] else { return Mark::Pass };
        if u64::from(random) >= curve.probability(q) {
            return Mark::Pass;
        }
        match ecn {
            Ecn::Ect if self.marks[colour as usize] => Mark::Ce,
            Ecn::Ce if self.marks[colour as usize] => Mark::Pass,
            _ if self.drop_not_ect => Mark::Drop,
            _ => Mark::Pass,
        }
    }

    /// Returns true if any colour has a probability above zero at length `q`, so that a random number is needed.
    #[inline]
    pub fn may_act(&self, q: u64) -> bool {
        self.curves.iter().flatten().any(|curve| q > curve.kmin)
    }
}

/// Moving average of a queue's length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Average {
    /// Bytes, with 16 fractional bits.
    value: u64,
}

impl Average {
    /// Adds a sample of `q` bytes and returns the average in bytes.
    #[inline]
    pub const fn step(&mut self, q: u64, shift: u8) -> u64 {
        if shift == 0 {
            return q;
        }
        let (target, shift) = (q << 16, if shift > 16 { 16 } else { shift });
        if target >= self.value {
            self.value += (target - self.value) >> shift;
        } else {
            self.value -= (self.value - target) >> shift;
        }
        self.value >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gress::Gress;
    use crate::random::{RandomStream, StreamId};

    fn profile(kmin: u64, kmax: u64, percent: u32) -> EcnProfile {
        let curve = Some(Curve::new(Bytes(kmin), Bytes(kmax), percent * 10_000));
        EcnProfile {
            name: "p".into(),
            curves: [curve; 3],
            marks: [true; 3],
            drop_not_ect: true,
            average_shift: 0,
        }
    }

    /// Model: buffer §3.2, sample probabilities.
    #[test]
    fn sample_probabilities() {
        type Row = (u64, u64, u32, [(u64, u64); 5]);
        let rows: [Row; 3] = [
            (
                100_000,
                400_000,
                20,
                [(100_000, 0), (175_000, 500), (250_000, 1_000), (400_000, 2_000), (400_001, 10_000)],
            ),
            (
                400_000,
                1_600_000,
                20,
                [(400_000, 0), (700_000, 500), (1_000_000, 1_000), (1_600_000, 2_000), (1_600_001, 10_000)],
            ),
            (
                1 << 20,
                2 << 20,
                5,
                [(1 << 20, 0), (5 << 18, 125), (3 << 19, 250), (2 << 20, 500), ((2 << 20) + 1, 10_000)],
            ),
        ];
        for (kmin, kmax, percent, points) in rows {
            let curve = profile(kmin, kmax, percent).curves[0].unwrap();
            for (q, ten_thousandths) in points {
                let found = curve.probability(q) * 10_000;
                assert!(found.abs_diff(ten_thousandths << 32) <= 20_000, "{kmin} {q}: {found}");
            }
        }
    }

    /// Model: buffer §8.5 row 49: a step, 200 packets of 1 KB; 200 - i packets remain after packet i.
    #[test]
    fn a_step_marks_the_first_99() {
        let step = profile(100_000, 100_000, 100);
        let marked: Vec<u64> = (1..=200)
            .filter(|i| step.decide((200 - i) * 1000, Colour::Green, Ecn::Ect, u32::MAX) == Mark::Ce)
            .collect();
        assert_eq!(marked, (1..=99).collect::<Vec<_>>());
    }

    /// Model: buffer §8.5 row 50: 9 certain marks and 37.5 expected ones, mean of 200 runs within 1.5.
    #[test]
    fn marks_per_run() {
        let p = profile(500_000, 2_000_000, 5);
        let id = StreamId { switch: 0, pipe: 0, gress: Gress::Egress, instance: 0 };
        let mut stream = RandomStream::new(1, id);
        let mut total = 0;
        for _ in 0..200 {
            for i in 1..=2010 {
                let q = (2010 - i) * 1000;
                let ce = p.decide(q, Colour::Green, Ecn::Ect, stream.draw(32) as u32) == Mark::Ce;
                assert!(!ce || q > 500_000);
                assert!(ce || i > 9);
                total += u32::from(ce);
            }
        }
        assert!((9000..9600).contains(&total), "{total}");
    }

    /// Model: buffer §8.5 row 51, §8.6 row 74: packets without ECN are never marked; Pmax 0 marks beyond Kmax alone.
    #[test]
    fn not_ect_and_pmax_0() {
        let mut p = profile(10, 20, 100);
        assert_eq!(p.decide(21, Colour::Green, Ecn::NotEct, 0), Mark::Drop);
        assert_eq!(p.decide(21, Colour::Green, Ecn::Ce, 0), Mark::Pass);
        p.drop_not_ect = false;
        assert_eq!(p.decide(21, Colour::Green, Ecn::NotEct, 0), Mark::Pass);
        p.marks[Colour::Yellow as usize] = false;
        p.drop_not_ect = true;
        assert_eq!(p.decide(21, Colour::Yellow, Ecn::Ect, 0), Mark::Drop);
        p.curves[Colour::Red as usize] = None;
        assert_eq!(p.decide(21, Colour::Red, Ecn::Ect, 0), Mark::Pass);
        let p = profile(10, 20, 0);
        let marks = |q| p.decide(q, Colour::Green, Ecn::Ect, 0) == Mark::Ce;
        assert_eq!([marks(10), marks(20), marks(21)], [false, false, true]);
    }

    #[test]
    fn averages_follow() {
        let mut average = Average::default();
        assert_eq!(average.step(4096, 2), 1024);
        assert_eq!(average.step(4096, 2), 1792);
        assert_eq!(average.step(0, 1), 896);
        assert_eq!(average.step(77, 0), 77);
    }
}
