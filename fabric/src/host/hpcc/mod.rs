//! HPCC's sender: a window and a pacing rate from the telemetry of the path (model: int §1.1-§1.7).
//!
//! The sender keeps the bytes in flight on the busiest link of its path at `eta` of that link's bandwidth-delay product.
//! An acknowledgement brings records of all hops (module `records`). Algorithm 1 of the paper, in its order:
//!
//! ```text
//! MeasureInflight: for each hop i with the record of the last acknowledgement L[i]
//!     txRate = (ack.txBytes - L.txBytes) / (ack.ts - L.ts)
//!     u'     = min(ack.qlen, L.qlen) / (B * T) + txRate / B
//!     keep the largest u' as u, and its time difference as tau
//! tau = min(tau, T);  U = (1 - tau/T) * U + tau/T * u
//! ComputeWind: if U >= eta or incStage >= maxStage:  W = Wc / (U/eta) + W_AI;  at an update incStage = 0, Wc = W
//!              else:                                 W = Wc + W_AI;            at an update incStage += 1, Wc = W
//! NewAck: an update if ack.seq > lastUpdateSeq; then lastUpdateSeq = snd_nxt
//!         R = W / T;  L = ack.L
//! ```
//!
//! The authors' simulator decides where the paper says nothing (model: int §1.7): U starts at 1; the first
//! acknowledgement only stores its records; W stays between `min` * T and the line's bandwidth-delay product. Records of
//! another path, or after a silence in which a clock or counter may have wrapped, are stored and not measured. A hop whose
//! time did not advance, or whose speed is unknown, is left out.

mod records;

pub use records::{HopRecord, MAX_HOPS, Records, TelemetryFormat, has_code};
pub(in crate::host) use records::{echo, room, split};

use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// Acknowledgements at which the window changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cadence {
    /// All, relative to a reference window that changes once in a round trip: HPCC as published.
    #[default]
    Combined,
    /// All, and each changes the reference window too: it reacts to one queue many times.
    EveryAck,
    /// One in a round trip, as the simulator without `FAST_REACT`; the others do not even refresh the records.
    EveryRoundTrip,
}

/// Parameters of an HPCC sender (model: int §1.6).
#[derive(Clone, Debug, PartialEq)]
pub struct HpccConfig {
    /// Base round trip T, above 0: all flows of a network have the same.
    pub base_rtt: Duration,
    /// Target utilisation eta, above 0.
    pub eta: f64,
    /// Additive step W_AI of the window, bytes, at least 0. A step of the rate is this step over T.
    pub additive: f64,
    /// Additive steps before a multiplicative one; 0: every step is multiplicative.
    pub max_stage: u32,
    /// Lower limit of the rate, above 0.
    pub min: BitRate,
    /// Acknowledgements at which the window changes.
    pub cadence: Cadence,
    /// True if every hop has a reference window and U, and the least window counts (the simulator's `MULTI_RATE`).
    pub multi_rate: bool,
}

impl HpccConfig {
    /// Returns the parameters of the authors' simulations with a base round trip: eta 0.95, W_AI 80 bytes, no additive
    /// stages.
    #[must_use]
    pub const fn new(base_rtt: Duration) -> HpccConfig {
        HpccConfig {
            base_rtt,
            eta: 0.95,
            additive: 80.0,
            max_stage: 0,
            min: BitRate::from_bps(100_000_000),
            cadence: Cadence::Combined,
            multi_rate: false,
        }
    }

    /// Sets the additive step as a step of the rate (`RATE_AI`): W_AI = step * T.
    #[must_use]
    pub fn additive_rate(mut self, step: BitRate) -> HpccConfig {
        self.additive = bytes_of(step, self.base_rtt);
        self
    }
}

/// Returns the bytes that a rate sends in a time, with fractions.
fn bytes_of(rate: BitRate, time: Duration) -> f64 {
    const PS_PER_BYTE_BPS: f64 = 8e12;
    rate.as_bps() as f64 * time.as_ps() as f64 / PS_PER_BYTE_BPS
}

/// Utilisation of a hop or of the path, and the window that follows from it once in a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reference {
    /// U: bytes in flight over the bandwidth-delay product, averaged.
    utilisation: f64,
    /// Wc, bytes.
    window: f64,
    /// Consecutive additive steps.
    stage: u32,
}

/// An HPCC sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Hpcc {
    config: HpccConfig,
    /// Upper and lower limit of the window, bytes.
    most: f64,
    least: f64,
    /// W, bytes.
    window: f64,
    /// One for the path, or one for each hop.
    references: [Reference; MAX_HOPS],
    /// L: the last records; `None` before the first acknowledgement.
    last: Option<Records>,
    /// Time until which a difference to `last` is certain to be less than one wrap.
    valid_until: Time,
    /// First packet that was not sent at the last update; an acknowledgement of it begins a round trip.
    last_update: u64,
    cuts: u64,
}

/// Time after which a difference of 24-bit times in ns is not trusted: a wrap takes 16.8 ms.
const TIME_WRAP: Duration = Duration::from_millis(15);
/// Units after which a difference of 20-bit counts is not trusted: nine tenths of 2^20.
const UNITS_WRAP: u64 = (1 << 20) / 10 * 9;

impl Hpcc {
    /// Creates a sender at a line of this rate. It starts with the line's bandwidth-delay product as its window.
    #[must_use]
    pub fn new(config: HpccConfig, line: BitRate) -> Hpcc {
        let most = bytes_of(line, config.base_rtt);
        let start = Reference { utilisation: 1.0, window: most, stage: 0 };
        Hpcc {
            most,
            least: bytes_of(config.min, config.base_rtt).min(most),
            window: most,
            references: [start; MAX_HOPS],
            last: None,
            valid_until: Time::ORIGIN,
            last_update: 0,
            cuts: 0,
            config,
        }
    }

    /// Returns the window, bytes; at least 1, so that one packet may always be in flight.
    #[must_use]
    pub const fn window(&self) -> u64 {
        let window = self.window as u64;
        if window == 0 { 1 } else { window }
    }

    /// Returns the pacing rate, W / T.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        const PS_PER_BYTE_BPS: f64 = 8e12;
        BitRate::from_bps((self.window * PS_PER_BYTE_BPS / self.config.base_rtt.as_ps() as f64) as u64)
    }

    /// Returns U, the largest of all hops with `multi_rate`.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        let count = if self.config.multi_rate { self.last.map_or(1, |last| last.hops().len()) } else { 1 };
        self.references.iter().take(count.max(1)).fold(0.0, |most, r| r.utilisation.max(most))
    }

    /// Returns the number of updates that lowered the reference window.
    #[must_use]
    pub const fn cuts(&self) -> u64 {
        self.cuts
    }

    /// Handles an acknowledgement or NACK of all packets before `acknowledged`; `next` is the next packet to be sent.
    pub fn acknowledged(&mut self, now: Time, acknowledged: u64, next: u64, records: &Records) {
        let known = self.last.filter(|last| {
            last.path == records.path && last.hops().len() == records.hops().len() && now < self.valid_until
        });
        let Some(last) = known else {
            if self.last.is_none() {
                self.last_update = next;
            }
            return self.store(now, records);
        };
        let update = acknowledged > self.last_update;
        if self.config.cadence == Cadence::EveryRoundTrip && !update {
            return;
        }
        let measured = if self.config.multi_rate {
            self.each_hop(&last, records, update)
        } else {
            self.busiest_hop(&last, records, update)
        };
        if update && measured {
            self.last_update = next;
        }
        self.store(now, records);
    }

    /// Keeps the records, and the time until which a difference to them can be trusted.
    fn store(&mut self, now: Time, records: &Records) {
        let bytes = Bytes(UNITS_WRAP * records.unit().0);
        let wrap = |hop: &HopRecord| hop.speed.time_for(bytes);
        let trusted = records.hops().iter().map(wrap).fold(TIME_WRAP, Duration::min);
        (self.last, self.valid_until) = (Some(*records), now + trusted);
    }

    /// Measures the hop with the most bytes in flight, and computes the window. Returns false if no hop could be
    /// measured.
    fn busiest_hop(&mut self, last: &Records, records: &Records, update: bool) -> bool {
        let pairs = records.hops().iter().zip(last.hops());
        let mut busiest: Option<(f64, f64)> = None;
        for (u, tau) in pairs.filter_map(|(new, old)| self.in_flight(new, old, records.unit())) {
            if busiest.is_none_or(|(most, _)| u > most) {
                busiest = Some((u, tau));
            }
        }
        let Some((u, tau)) = busiest else { return false };
        self.window = self.compute(0, u, tau, update);
        true
    }

    /// Measures every hop, and takes the least of their windows.
    fn each_hop(&mut self, last: &Records, records: &Records, update: bool) -> bool {
        let mut least: Option<f64> = None;
        for (hop, (new, old)) in records.hops().iter().zip(last.hops()).enumerate() {
            let Some((u, tau)) = self.in_flight(new, old, records.unit()) else { continue };
            let window = self.compute(hop, u, tau, update);
            least = Some(least.map_or(window, |least| least.min(window)));
        }
        self.window = least.unwrap_or(self.window);
        least.is_some()
    }

    /// Returns a hop's bytes in flight over its bandwidth-delay product, and the time between the records, ps, at most T.
    fn in_flight(&self, new: &HopRecord, old: &HopRecord, unit: Bytes) -> Option<(f64, f64)> {
        const PS_PER_NS: f64 = 1e3;
        let (nanos, speed) = (new.nanos_since(old), new.speed);
        if nanos == 0 || speed.as_bps() == 0 {
            return None;
        }
        let queue = new.queue.min(old.queue) as f64 / bytes_of(speed, self.config.base_rtt);
        let bytes = u64::from(new.units_since(old)) * unit.0;
        let sent = bytes as f64 / bytes_of(speed, Duration::from_nanos(nanos.into()));
        let tau = (f64::from(nanos) * PS_PER_NS).min(self.config.base_rtt.as_ps() as f64);
        Some((queue + sent, tau))
    }

    /// Averages a measured utilisation into a reference's U, and returns the window that follows.
    fn compute(&mut self, number: usize, u: f64, tau: f64, update: bool) -> f64 {
        let HpccConfig { eta, additive, max_stage, cadence, .. } = self.config;
        let share = tau / self.config.base_rtt.as_ps() as f64;
        let (least, most) = (self.least, self.most);
        let Some(reference) = self.references.get_mut(number) else { return self.window };
        reference.utilisation = (1.0 - share) * reference.utilisation + share * u;
        let multiplies = reference.utilisation >= eta || reference.stage >= max_stage;
        let window = if multiplies {
            // U is 0 only if the port sent nothing for T; then the quotient is infinite, and the limit applies.
            reference.window / (reference.utilisation / eta) + additive
        } else {
            reference.window + additive
        };
        let window = window.clamp(least, most);
        if update || cadence == Cadence::EveryAck {
            reference.stage = if multiplies { 0 } else { reference.stage + 1 };
            self.cuts += u64::from(window < reference.window);
            reference.window = window;
        }
        window
    }
}

#[cfg(test)]
mod tests;
