//! Max-min fair shares by water filling: what flows would get if every link were shared fairly and without loss of time.
//!
//! The rates of all flows rise together. When a link is full, the flows over it keep their rate, and the others rise on.
//! So a flow has a lower rate than another one only if a full link on its own path has no flow with a higher rate
//! (Bertsekas and Gallager, Data Networks, §6.5.2).

use sluice_asic::units::{BitRate, Duration, Time};

/// A message as a fluid: it flows at its max-min fair rate until all of it has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluidFlow {
    /// Indices of the links that it takes, each once.
    pub path: Vec<u32>,
    /// Start.
    pub start: Time,
    /// Bytes on each link, headers and gaps included.
    pub bytes: u64,
}

/// Returns the max-min fair rate of each path, bit/s; infinite for a path without links. `capacities` are those of the links
/// that the paths name.
#[must_use]
pub fn rates(capacities: &[BitRate], paths: &[&[u32]]) -> Vec<f64> {
    let mut left: Vec<f64> = capacities.iter().map(|rate| rate.as_bps() as f64).collect();
    let mut rising = vec![0_u32; capacities.len()];
    for link in paths.iter().copied().flatten() {
        rising[*link as usize] += 1;
    }
    let mut rates = vec![f64::INFINITY; paths.len()];
    loop {
        // The link that is full first, and the level of the water then.
        let share = |link: &usize| left[*link] / f64::from(rising[*link]);
        let open = (0..left.len()).filter(|link| rising[*link] > 0);
        let Some(full) = open.min_by(|a, b| share(a).total_cmp(&share(b))) else { return rates };
        let level = share(&full);
        for (rate, path) in rates.iter_mut().zip(paths) {
            if rate.is_infinite() && path.contains(&(full as u32)) {
                *rate = level;
                for link in *path {
                    left[*link as usize] -= level;
                    rising[*link as usize] -= 1;
                }
            }
        }
    }
}

/// Returns the time from each flow's start to its end, if all flows have their max-min fair rates at all times.
#[must_use]
pub fn completion_times(capacities: &[BitRate], flows: &[FluidFlow]) -> Vec<Duration> {
    let mut starts: Vec<usize> = (0..flows.len()).collect();
    starts.sort_by_key(|flow| flows[*flow].start);
    let mut starts = starts.into_iter().peekable();
    let mut times = vec![Duration::ZERO; flows.len()];
    // Flows under way with their bits that are missing; and the time, ps.
    let (mut under_way, mut now): (Vec<(usize, f64)>, f64) = (Vec::new(), 0.0);
    let start_of = |flow: usize| flows[flow].start.as_ps() as f64;
    loop {
        if under_way.is_empty() {
            let Some(next) = starts.peek() else { return times };
            now = start_of(*next);
        }
        while let Some(flow) = starts.next_if(|flow| start_of(*flow) <= now) {
            under_way.push((flow, flows[flow].bytes as f64 * 8.0));
        }
        let paths: Vec<&[u32]> = under_way.iter().map(|(flow, _)| &*flows[*flow].path).collect();
        let rates = rates(capacities, &paths);
        let ends = under_way.iter().zip(&rates).map(|((_, bits), rate)| bits / rate * 1e12);
        let first_end = now + ends.fold(f64::INFINITY, f64::min);
        let until = starts.peek().map_or(first_end, |next| first_end.min(start_of(*next)));
        let passed = (until - now) / 1e12;
        now = until;
        let mut rates = rates.into_iter();
        under_way.retain_mut(|(flow, bits)| {
            let rate = rates.next().unwrap_or(f64::INFINITY);
            *bits -= rate * passed;
            // A thousandth of a bit is less than what rounding loses.
            let ended = rate.is_infinite() || *bits < 1e-3;
            if ended {
                times[*flow] = Duration::from_ps((now - start_of(*flow)).round() as u64);
            }
            !ended
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gbps(rate: u64) -> BitRate {
        BitRate::from_gbps(rate)
    }

    fn shares(capacities: &[u64], paths: &[&[u32]]) -> Vec<u64> {
        let capacities: Vec<BitRate> = capacities.iter().map(|rate| gbps(*rate)).collect();
        rates(&capacities, paths).into_iter().map(|rate| (rate / 1e6).round() as u64).collect()
    }

    #[test]
    fn the_fullest_link_is_shared_first() {
        // One sender of 100G: links to receivers of 1, 5 and 100G. The last flow gets what the others leave of the sender.
        assert_eq!(shares(&[100, 1, 5, 100], &[&[0, 1], &[0, 2], &[0, 3]]), [1_000, 5_000, 94_000]);
        // A parking lot: one flow over three links, and one over each. The link of 30 has two flows more than the others.
        let lot: [&[u32]; 5] = [&[0, 1, 2], &[0], &[1], &[1], &[2]];
        assert_eq!(shares(&[30, 30, 30], &lot), [10_000, 20_000, 10_000, 10_000, 20_000]);
        assert_eq!(shares(&[10], &[&[0], &[0], &[0], &[0]]), [2_500; 4]);
        assert!(rates(&[gbps(1)], &[&[]])[0].is_infinite());
    }

    #[test]
    fn a_flow_gets_what_an_ended_one_leaves() {
        let flow = |start, bytes| FluidFlow { path: vec![0], start: Time::from_nanos(start), bytes };
        // 1250 bytes are 1 us at 10 Gb/s. The first flow is alone for 1 us, then two share until the second one has its
        // 1250 bytes at 3 us; 1250 of the first one's 3750 bytes are left, for one more microsecond.
        let flows = [flow(0, 3_750), flow(1_000, 1_250), flow(10_000, 1_250)];
        let times = completion_times(&[gbps(10)], &flows);
        assert_eq!(times.iter().map(|time| time.as_nanos()).collect::<Vec<_>>(), [4_000, 2_000, 1_000]);
        assert!(completion_times(&[], &[]).is_empty());
    }
}
