//! ECN marking and WRED of queues.
//!
//! *The law* (model: buffer §3.1): with a queue of q bytes, nothing up to Kmin, a probability that rises to Pmax at
//! Kmax, and certainty beyond. A packet whose sender understands ECN is marked, another is dropped or passes as the
//! profile says; it is never marked (decision D8). Each colour has a curve of its own.
//!
//! Profiles, averages, the decision.

use crate::meter::Colour;
use crate::units::Bytes;
use serde::Deserialize;

/// Where the length is taken and the packet marked (decision D7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkPoint {
    /// When the packet leaves the queue: the length that it leaves behind.
    #[default]
    Dequeue,
    /// When it joins the queue: the length that it finds.
    Enqueue,
}

/// A packet's ECN field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 0: the sender does not understand ECN; also packets that are not IP.
    #[default]
    NotEct,
    /// 1 or 2: it does.
    Ect,
    /// 3: marked.
    Ce,
}

impl Ecn {
    /// The field of two bits; higher ones are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            3 => Self::Ce,
            _ => Self::Ect,
        }
    }
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Nothing.
    Pass,
    /// Its ECN field becomes CE.
    Ce,
    /// It is dropped.
    Drop,
}

/// One colour's curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Curve {
    kmin: u64,
    kmax: u64,
    /// Probability per byte beyond Kmin, in parts of 2^64.
    slope: u128,
}

impl Curve {
    /// The curve; `pmax_millionths` is the probability that is reached at `kmax`, at most 1,000,000. A `kmax` that is
    /// not above `kmin` makes a step: none up to `kmin`, all beyond.
    pub fn new(kmin: Bytes, kmax: Bytes, pmax_millionths: u32) -> Self {
        let (kmin, kmax) = (kmin.0, kmax.0.max(kmin.0));
        let slope = match u128::from(kmax - kmin) {
            0 => 0,
            height => (u128::from(pmax_millionths.min(1_000_000)) << 64) / (1_000_000 * height),
        };
        Self { kmin, kmax, slope }
    }

    /// Up to here nothing is marked.
    pub const fn kmin(&self) -> Bytes {
        Bytes(self.kmin)
    }

    /// Beyond this all is marked.
    pub const fn kmax(&self) -> Bytes {
        Bytes(self.kmax)
    }

    /// The probability at a length of `q` bytes, in parts of 2^32.
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

/// A queue's marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcnProfile {
    /// Its name.
    pub name: String,
    /// Curves by colour; `None` leaves packets of that colour alone.
    pub curves: [Option<Curve>; 3],
    /// Whether packets of each colour are marked; of a colour that is not, packets with ECN are as those without.
    pub marks: [bool; 3],
    /// Packets that cannot be marked are dropped by the same curve (WRED); else they pass.
    pub drop_not_ect: bool,
    /// The average moves by `1 / 2^n` of the difference at each packet; 0 takes the length itself.
    pub average_shift: u8,
}

impl EcnProfile {
    /// What becomes of a packet at an (averaged) length of `q` bytes. `random` is 32 evenly distributed bits.
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

    /// Whether a draw can matter at this length.
    #[inline]
    pub fn may_act(&self, q: u64) -> bool {
        self.curves.iter().flatten().any(|curve| q > curve.kmin)
    }
}

/// A queue's averaged length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Average {
    /// Bytes, with 16 more bits.
    value: u64,
}

impl Average {
    /// Takes a length and returns the average in bytes.
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

    /// Model: buffer §8.5 row 49: a step, 200 packets of 1 KB; packet i leaves 200 - i behind.
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
