//! CUBIC (RFC 9438), in integers: windows in bytes, times in nanoseconds.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C)            (§4.2, segments and seconds)
//! target     = W_cubic(t + RTT), at least cwnd, at most 1.5 cwnd                   (§4.2)
//! each ACK:    W_est += alpha acked / cwnd;                                        (§4.3)
//!              alpha = 3 (1 - beta) / (1 + beta) = 9/17, 1 once W_est >= cwnd_prior
//!              if W_cubic(t) < W_est: cwnd = W_est, else cwnd += (target - cwnd) / cwnd per acknowledged segment (§4.4, §4.5)
//! reduction:   ssthresh = beta * flight; cwnd_prior = cwnd                         (§4.6)
//!              W_max = cwnd, or (1 + beta) / 2 cwnd if cwnd < W_max                (§4.7, fast convergence)
//! ```
//!
//! C = 0.4 and beta = 0.7. A window of bytes is SMSS times the RFC's window of segments.

use super::{Acked, Window};
use sluice_asic::units::{Duration, Time};

/// SMSS * C * t^3 for nanoseconds: `4 * SMSS * t^3 / C_SCALE`.
const C_SCALE: u128 = 10_u128.pow(28);
/// Longest distance from K that is computed, ns: beyond it the target's upper limit decides.
const FAR: u64 = 100_000_000_000;

/// Settings of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicConfig {
    /// True if a flow whose window did not reach its last maximum releases bandwidth (§4.7).
    pub fast_convergence: bool,
    /// True if the window is at least the one that Reno would have (§4.3).
    pub reno_friendly: bool,
}

impl Default for CubicConfig {
    fn default() -> Self {
        CubicConfig { fast_convergence: true, reno_friendly: true }
    }
}

/// The current stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K, ns.
    k: u64,
    /// Window of a Reno flow, bytes, with the remainder of its last increase.
    reno: u64,
    reno_rest: u128,
    /// Remainder of the last increase towards the target.
    rest: u128,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Cubic {
    config: CubicConfig,
    /// W_max, bytes; 0 before the first reduction.
    most: u64,
    /// cwnd_prior: the window just before the last reduction.
    prior: u64,
    epoch: Option<Epoch>,
}

impl Cubic {
    pub(super) const fn new(config: CubicConfig) -> Cubic {
        Cubic { config, most: 0, prior: 0, epoch: None }
    }

    /// Handles acknowledged bytes in congestion avoidance.
    pub(super) fn avoid(&mut self, window: &mut Window, acked: Acked) {
        let cwnd = window.cwnd;
        let (most, mss) = match self.most {
            // The first stage, and the first after a timeout, have K = 0 and W_max = cwnd_epoch (§4.8).
            0 => (cwnd, window.mss),
            most => (most.max(cwnd), window.mss),
        };
        let epoch = self.epoch.get_or_insert_with(|| {
            self.most = most;
            let k = time_to(most - cwnd, mss);
            Epoch { start: acked.now, k, reno: cwnd, reno_rest: 0, rest: 0 }
        });
        let elapsed = acked.now.saturating_since(epoch.start).as_nanos();
        let ahead = elapsed.saturating_add(acked.srtt.as_nanos());
        epoch.grow_reno(cwnd, mss, acked.bytes, self.prior);
        let curve = |t| at(self.most, epoch.k, t, mss);
        if self.config.reno_friendly && curve(elapsed) < epoch.reno {
            window.cwnd = epoch.reno.max(cwnd);
            return;
        }
        let target = curve(ahead).clamp(cwnd, cwnd + cwnd / 2);
        epoch.rest += u128::from(target - cwnd) * u128::from(acked.bytes);
        window.cwnd += (epoch.rest / u128::from(cwnd)) as u64;
        epoch.rest %= u128::from(cwnd);
    }

    /// Handles a congestion event with `flight` bytes in flight.
    pub(super) fn reduce(&mut self, window: &mut Window, flight: u64) {
        let cwnd = window.cwnd;
        let converges = self.config.fast_convergence && cwnd < self.most;
        self.most = if converges { share(cwnd, 85, 100) } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
        window.reduce_to(share(flight, 7, 10));
    }

    /// Forgets W_max after a timeout.
    pub(super) const fn timed_out(&mut self) {
        self.most = 0;
        self.epoch = None;
    }

    /// Moves the stage's start by a time without data (§5.8).
    pub(super) fn idled(&mut self, time: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += time;
        }
    }
}

impl Epoch {
    /// Grows the Reno flow's window: by 9/17 segments per window until it has reached `prior`, then by one (§4.3).
    fn grow_reno(&mut self, cwnd: u64, mss: u64, bytes: u64, prior: u64) {
        // In seventeenths, so that the remainder has one unit.
        let alpha = if self.reno < prior { 9 } else { 17 };
        self.reno_rest += u128::from(bytes) * u128::from(mss) * alpha;
        let unit = u128::from(cwnd) * 17;
        self.reno += (self.reno_rest / unit) as u64;
        self.reno_rest %= unit;
    }
}

/// Returns `value * n / of`, rounded down.
const fn share(value: u64, n: u64, of: u64) -> u64 {
    (value as u128 * n as u128 / of as u128) as u64
}

/// Returns K in ns: the time in which the curve rises by `bytes`.
fn time_to(bytes: u64, mss: u64) -> u64 {
    let cube = u128::from(bytes).saturating_mul(C_SCALE) / (4 * u128::from(mss.max(1)));
    cube_root(cube)
}

/// Returns W_cubic at `t` ns after the start of the stage, bytes, at least 0.
fn at(most: u64, k: u64, t: u64, mss: u64) -> u64 {
    let distance = u128::from(t.abs_diff(k).min(FAR));
    let rise = (distance * distance * distance).saturating_mul(4 * u128::from(mss)) / C_SCALE;
    let rise = u64::try_from(rise).unwrap_or(u64::MAX);
    if t >= k { most.saturating_add(rise) } else { most.saturating_sub(rise) }
}

/// Returns the largest integer whose cube is at most `x`.
fn cube_root(x: u128) -> u64 {
    let cube = |root: u128| root.checked_mul(root).and_then(|square| square.checked_mul(root));
    let bit = |root: u128, bit: u32| {
        let more = root | 1 << bit;
        if cube(more).is_some_and(|cube| cube <= x) { more } else { root }
    };
    (0..43).rev().fold(0, bit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    #[test]
    fn cube_roots_are_exact() {
        for (x, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (10_u128.pow(27), 1_000_000_000)]
        {
            assert_eq!(cube_root(x), root, "{x}");
        }
        assert_eq!(cube_root(u128::MAX), 6_981_463_658_331, "2^(128/3) = 6.98146e12");
        assert_eq!((cube_root(10_u128.pow(27) - 1), cube_root(2_u128.pow(120))), (999_999_999, 1 << 40));
    }

    /// By hand: W_max = 100 segments and beta = 0.7 give K = cbrt(30 / 0.4) = cbrt(75) = 4.217163327 s (§4.2), and after
    /// half of K the window lacks 30 / 8 segments.
    #[test]
    fn the_curve_is_the_rfc_s() {
        let k = time_to(30_000, MSS);
        assert_eq!(k, 4_217_163_326);
        assert!((69_999..=70_001).contains(&at(100_000, k, 0, MSS)), "{}", at(100_000, k, 0, MSS));
        assert_eq!((at(100_000, k, k, MSS), at(100_000, k, k / 2, MSS)), (100_000, 96_251));
        // One second after K: 0.4 segments more.
        assert_eq!(at(100_000, k, k + 1_000_000_000, MSS), 100_400);
        assert_eq!(
            at(100_000, 0, u64::MAX, 9_000),
            100_000 + 4 * 9_000 * 100_000,
            "0.4 (100 s)^3 = 400,000 segments"
        );
    }

    fn acked(ns: u64, bytes: u64) -> Acked {
        Acked { now: Time::from_nanos(ns), bytes, srtt: Duration::from_millis(100), limit: 2 }
    }

    /// A flow with a long round trip follows the curve: acknowledgements of one window per round trip.
    #[test]
    fn a_long_flow_follows_the_curve() {
        let mut window = Window { cwnd: 1_000_000, ssthresh: 1_000_000, mss: MSS };
        let mut cubic = Cubic::new(CubicConfig::default());
        cubic.reduce(&mut window, 1_000_000);
        assert_eq!((window.cwnd, window.ssthresh), (700_000, 700_000));
        // K = cbrt(300 / 0.4) = 9.0856 s.
        let mut now = 0;
        while now < 9_085_600_000 {
            let segments = window.cwnd / MSS;
            for n in 0..segments {
                cubic.avoid(&mut window, acked(now + n * 100_000_000 / segments, MSS));
            }
            now += 100_000_000;
            let expected = at(1_000_000, 9_085_602_964, now, MSS);
            let off = window.cwnd.abs_diff(expected);
            assert!(off * 100 < expected, "{now}: {} and {expected}", window.cwnd);
        }
    }

    /// With a round trip of 100 us the curve is flat, and the window grows like Reno's: 9/17 segments per round trip (§4.3).
    #[test]
    fn a_short_flow_is_reno_friendly() {
        let mut window = Window { cwnd: 100_000, ssthresh: 100_000, mss: MSS };
        let mut cubic = Cubic::new(CubicConfig::default());
        cubic.reduce(&mut window, 100_000);
        let mut trips = |window: &mut Window, from: u64, count: u64| {
            for trip in from..from + count {
                let cwnd = window.cwnd;
                cubic
                    .avoid(window, Acked { srtt: Duration::from_micros(100), ..acked(trip * 100_000, cwnd) });
            }
        };
        trips(&mut window, 0, 17);
        assert!((79_000 - 9..=79_000).contains(&window.cwnd), "nine segments more: {}", window.cwnd);
        // From cwnd_prior = 100 segments on it is one segment per round trip.
        trips(&mut window, 17, 40);
        let reached = window.cwnd;
        assert!((100_000..101_100).contains(&reached), "(100 - 79) * 17 / 9 = 39.7 round trips: {reached}");
        trips(&mut window, 57, 10);
        assert_eq!(window.cwnd, reached + 10_000);
    }

    #[test]
    fn a_flow_below_its_last_maximum_converges_faster() {
        let most = |fast_convergence| {
            let mut window = Window { cwnd: 100_000, ssthresh: 0, mss: MSS };
            let mut cubic = Cubic::new(CubicConfig { fast_convergence, ..CubicConfig::default() });
            cubic.reduce(&mut window, 100_000);
            cubic.reduce(&mut window, 70_000);
            assert_eq!(window.cwnd, 49_000);
            cubic.most
        };
        assert_eq!((most(true), most(false)), (59_500, 70_000));
    }

    #[test]
    fn a_pause_does_not_count() {
        let mut window = Window { cwnd: 1_000_000, ssthresh: 0, mss: MSS };
        let mut cubic = Cubic::new(CubicConfig::default());
        cubic.reduce(&mut window, 1_000_000);
        cubic.avoid(&mut window, acked(0, MSS));
        let mut paused = (cubic.clone(), window);
        cubic.avoid(&mut window, acked(1_000_000_000, MSS));
        paused.0.idled(Duration::from_secs(7));
        paused.0.avoid(&mut paused.1, acked(8_000_000_000, MSS));
        assert_eq!(paused.1, window);
    }
}
