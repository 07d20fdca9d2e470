//! Warnings about parameters that are published for links of another speed.
//!
//! The simulators' configs and the scripts that write them (`mix/config.txt` and `run.py` of HPCC's, `run.py` of ConWeave's)
//! give increases of rates by the speed of the hosts, and HPCC's also marking thresholds by the speed of the link. A config whose
//! topology was exchanged keeps the numbers of the old speed. So a pair of numbers that is published, but for another speed
//! alone, draws a warning. Numbers of no publication draw none.
//!
//! All other keys are published with the same numbers for every speed: `MIN_RATE`, `EWMA_GAIN`, `RP_TIMER`, `DCTCP_RATE_AI`,
//! `ACK_HIGH_PRIO`. The window is that of the topology. `INT_MULTI` is published as 1 and as 4 for hosts of 100G.

use super::buffer::kilobytes;
use super::config::{Config, Simulator};
use sluice_asic::units::BitRate;
use sluice_fabric::topology::Blueprint;
use std::collections::BTreeSet;

/// Speeds in Gb/s for which the scripts are used; they take any.
const SPEEDS: [u64; 7] = [10, 25, 40, 50, 100, 200, 400];

/// Two numbers that grow with the speed of a link.
struct Pair {
    /// Values of CC_MODE for which they count.
    modes: &'static [&'static str],
    /// The numbers at 25 Gb/s, in tenths; `None`: any.
    at_25: (u64, Option<u64>),
    /// The only speed in Gb/s for which they are published; `None`: they are by a formula.
    only: Option<u64>,
    /// The publication.
    of: &'static str,
}

const fn pair(modes: &'static [&'static str], at_25: (u64, Option<u64>), of: &'static str) -> Pair {
    Pair { modes, at_25, only: None, of }
}

/// RATE_AI and RATE_HAI in Mb/s.
const RATES: [Pair; 6] = [
    pair(&["1"], (50, Some(500)), "HPCC's run.py"),
    pair(&["1"], (100, Some(250)), "ConWeave's run.py"),
    pair(&["3"], (100, None), "HPCC's run.py"),
    pair(&["7"], (250, Some(1_250)), "HPCC's run.py"),
    Pair { modes: &["3"], at_25: (125, None), only: Some(100), of: "HPCC's mix/config.txt" },
    Pair { modes: &["1", "7"], at_25: (125, Some(250)), only: Some(100), of: "HPCC's mix/config.txt" },
];

/// KMIN_MAP and KMAX_MAP in KB.
const THRESHOLDS: [Pair; 2] = [
    pair(&["1", "8"], (1_000, Some(4_000)), "HPCC's run.py"),
    pair(&["1", "8"], (750, Some(750)), "HPCC's run.py"),
];
/// KMIN_MAP and KMAX_MAP in tenths of a KB, as ConWeave's run.py has them for every speed.
const CONWEAVE: (u64, u64) = (1_000, 4_000);

impl Pair {
    /// Returns the numbers at a speed in Gb/s, in tenths.
    fn at(&self, gbps: u64) -> (u64, Option<u64>) {
        let scaled = |number: u64| number * gbps / 25;
        (scaled(self.at_25.0), self.at_25.1.map(scaled))
    }

    fn is(&self, gbps: u64, found: (u64, u64)) -> bool {
        let (first, second) = self.at(gbps);
        self.only.is_none_or(|only| only == gbps) && first == found.0 && second.is_none_or(|s| s == found.1)
    }
}

/// Returns the publication of numbers that is for another speed than all of these, in Gb/s, and its speed.
fn of_another(
    pairs: &'static [Pair],
    mode: &str,
    found: (u64, u64),
    speeds: &[u64],
) -> Option<(&'static Pair, u64)> {
    let pairs = || pairs.iter().filter(|pair| pair.modes.contains(&mode));
    if pairs().any(|pair| speeds.iter().any(|gbps| pair.is(*gbps, found))) {
        return None;
    }
    pairs().find_map(|pair| Some((pair, SPEEDS.into_iter().find(|gbps| pair.is(*gbps, found))?)))
}

/// Returns the warnings of a config in its network.
pub(super) fn warnings(config: &Config, plan: &Blueprint) -> Vec<String> {
    let rates = |rates: BTreeSet<BitRate>| -> Vec<u64> {
        rates.into_iter().map(|rate| rate.as_bps() / 1_000_000_000).collect()
    };
    let hosts: BTreeSet<BitRate> =
        plan.hosts.iter().flat_map(|host| &host.at).filter_map(|at| at.rate).collect();
    let links = hosts.iter().copied().chain(plan.cables.iter().filter_map(|cable| cable.rate)).collect();
    let mut all: Vec<String> = increases(config, &rates(hosts)).into_iter().collect();
    all.extend(rates(links).into_iter().filter_map(|gbps| thresholds(config, gbps)));
    all
}

/// Warns of RATE_AI and RATE_HAI of hosts of another speed.
fn increases(config: &Config, hosts: &[u64]) -> Option<String> {
    let tenths = |key: &str| Some(config.rate(key).ok()?.as_bps() / 100_000);
    let (ai, hai) = (tenths("RATE_AI")?, tenths("RATE_HAI").unwrap_or(0));
    let (pair, published) = of_another(&RATES, config.text("CC_MODE"), (ai, hai), hosts)?;
    let gbps = hosts.last()?;
    let (own_ai, own_hai) = pair.at(*gbps);
    let both =
        |ai: String, hai: Option<String>| hai.map_or(ai.clone(), |hai| format!("{ai} and RATE_HAI {hai}"));
    let mbps = |tenths: u64| format!("{}Mb/s", number(tenths));
    let found = both(mbps(ai), own_hai.map(|_| mbps(hai)));
    let own = both(mbps(own_ai), own_hai.map(mbps));
    let what = format!(
        "{found} are published for hosts of {published}Gbps ({}), and hosts here have {gbps}Gbps; in proportion that is RATE_AI {own}: write \
         this if the numbers come from a config of that speed",
        pair.of
    );
    Some(config.error("RATE_AI", what).to_string())
}

/// Warns of KMIN_MAP and KMAX_MAP that are those of another speed than the links' in Gb/s.
fn thresholds(config: &Config, gbps: u64) -> Option<String> {
    let marks = config.flag("ENABLE_QCN").ok()?;
    let rate = BitRate::from_gbps(gbps);
    let value = |key: &str| Some(kilobytes(config, key, config.map(key).ok()?.get(&rate)?).ok()? / 100);
    let found = (value("KMIN_MAP")?, value("KMAX_MAP")?);
    if !marks || (config.simulator() == Simulator::ConWeave && found == CONWEAVE) {
        return None;
    }
    let (pair, published) = of_another(&THRESHOLDS, config.text("CC_MODE"), found, &[gbps])?;
    let (kmin, kmax) = pair.at(gbps);
    let what = format!(
        "{} KB, and {} KB in KMAX_MAP, for links of {gbps}Gbps are published for links of {published}Gbps ({}); for {gbps}Gbps they \
         are {} and {}: write `{} {}` in KMIN_MAP and `{} {}` in KMAX_MAP if the numbers come from a config of that speed",
        number(found.0),
        number(found.1),
        pair.of,
        number(kmin),
        number(kmax.unwrap_or(kmin)),
        rate.as_bps(),
        number(kmin),
        rate.as_bps(),
        number(kmax.unwrap_or(kmin)),
    );
    Some(config.error("KMIN_MAP", what).to_string())
}

/// Returns tenths as a decimal number.
fn number(tenths: u64) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        tenth => format!("{}.{tenth}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warnings of keys in a network with a link of each of these rates between a host and a switch.
    fn found(keys: &str, gbps: &[u64]) -> Vec<String> {
        let config = Config::parse("config.txt", keys).unwrap();
        let mut text = format!("{} 1 {}\n0\n", gbps.len() + 1, gbps.len());
        for (host, gbps) in (1..).zip(gbps) {
            text += &format!("0 {host} {gbps}Gbps 1us 0\n");
        }
        warnings(&config, &Blueprint::from_ns3(&text, "t.txt").unwrap())
    }

    /// The lines of HPCC's mix/config.txt (9f4be2a) that depend on the speed; its topology has 100 Gb/s.
    const MIX: &str = "RATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\n\
        KMAX_MAP 3 25000000000 400 50000000000 800 100000000000 1600\n\
        KMIN_MAP 3 25000000000 100 50000000000 200 100000000000 400\n";

    #[test]
    fn published_configs_draw_no_warning_at_their_speed() {
        for mode in ["1", "3", "7", "8", "0"] {
            assert_eq!(found(&format!("CC_MODE {mode}\n{MIX}"), &[100]), [""; 0], "{mode}");
        }
        // What HPCC's run.py writes for `--bw`: hosts of that speed, and links of four times it.
        for (bw, [dcqcn_ai, dcqcn_hai, hpcc, timely_ai, timely_hai], [kmin, kmax, dctcp]) in [
            (25_u64, [5_u64, 50, 10, 25, 125], [100_u64, 400, 75]),
            (50, [10, 100, 20, 50, 250], [200, 800, 150]),
            (100, [20, 200, 40, 100, 500], [400, 1_600, 300]),
        ] {
            let rows = [
                ("1", dcqcn_ai, dcqcn_hai, kmin, kmax),
                ("3", hpcc, hpcc, kmin, kmax),
                ("7", timely_ai, timely_hai, kmin, kmax),
                ("8", 10, 10, dctcp, dctcp),
            ];
            for (mode, ai, hai, kmin, kmax) in rows {
                let (edge, core) = (bw * 1_000_000_000, bw * 4_000_000_000);
                let keys = format!(
                    "CC_MODE {mode} RATE_AI {ai}Mb/s RATE_HAI {hai}Mb/s KMAX_MAP 2 {edge} {kmax} {core} {} KMIN_MAP 2 {edge} {kmin} {core} {}",
                    4 * kmax,
                    4 * kmin
                );
                let plan =
                    format!("4 2 3\n0 1\n0 2 {bw}Gbps 1us 0\n1 3 {bw}Gbps 1us 0\n0 1 {}Gbps 1us 0\n", 4 * bw);
                let config = Config::parse("config.txt", &keys).unwrap();
                let plan = Blueprint::from_ns3(&plan, "t.txt").unwrap();
                assert_eq!(warnings(&config, &plan), [""; 0], "{keys}");
            }
        }
        // What ConWeave's run.py writes for 100 Gb/s, and for 25.
        let conweave = "LB_MODE 9 CC_MODE 1 KMAX_MAP 2 25000000000 400 100000000000 400 KMIN_MAP 2 25000000000 100 100000000000 100";
        assert_eq!(found(&format!("{conweave} RATE_AI 40.0Mb/s RATE_HAI 100.0Mb/s"), &[100]), [""; 0]);
        assert_eq!(found(&format!("{conweave} RATE_AI 10.0Mb/s RATE_HAI 25.0Mb/s"), &[25]), [""; 0]);
    }

    #[test]
    fn increases_of_another_speed_are_named_with_their_own() {
        assert_eq!(
            found(&format!("CC_MODE 1\n{MIX}"), &[25]),
            [
                "config.txt:2: RATE_AI: 50Mb/s and RATE_HAI 100Mb/s are published for hosts of 100Gbps (HPCC's mix/config.txt), and \
              hosts here have 25Gbps; in proportion that is RATE_AI 12.5Mb/s and RATE_HAI 25Mb/s: write this if the numbers come \
              from a config of that speed"
            ]
        );
        // Of two speeds, one is the right one.
        assert_eq!(found(&format!("CC_MODE 1\n{MIX}"), &[25, 100]), [""; 0]);
        // HPCC's RATE_HAI is not used.
        let hpcc = found("CC_MODE 3 RATE_AI 10Mb/s RATE_HAI 10Mb/s", &[100]);
        assert!(
            hpcc[0].starts_with(
                "config.txt:1: RATE_AI: 10Mb/s are published for hosts of 25Gbps (HPCC's run.py)"
            ),
            "{hpcc:?}"
        );
        assert!(hpcc[0].contains("that is RATE_AI 40Mb/s: "), "{hpcc:?}");
        let conweave = found("LB_MODE 9 CC_MODE 1 RATE_AI 40Mb/s RATE_HAI 100Mb/s", &[400]);
        assert!(conweave[0].contains("hosts of 100Gbps (ConWeave's run.py)"), "{conweave:?}");
        // Numbers of one's own.
        assert_eq!(found("CC_MODE 1 RATE_AI 7Mb/s RATE_HAI 70Mb/s", &[100]), [""; 0]);
    }

    #[test]
    fn thresholds_of_another_speed_are_named_with_their_own() {
        let keys = |mode: u32, kmin: u32, kmax: u32| {
            format!("CC_MODE {mode}\nKMIN_MAP 1 100000000000 {kmin}\nKMAX_MAP 1 100000000000 {kmax}\n")
        };
        assert_eq!(
            found(&keys(1, 100, 400), &[100]),
            [
                "config.txt:2: KMIN_MAP: 100 KB, and 400 KB in KMAX_MAP, for links of 100Gbps are published for links of 25Gbps (HPCC's \
              run.py); for 100Gbps they are 400 and 1600: write `100000000000 400` in KMIN_MAP and `100000000000 1600` in KMAX_MAP \
              if the numbers come from a config of that speed"
            ]
        );
        let dctcp = found(&keys(8, 75, 75), &[100]);
        assert!(
            dctcp[0].contains("75 KB in KMAX_MAP") && dctcp[0].contains("they are 300 and 300"),
            "{dctcp:?}"
        );
        // Senders of HPCC and TIMELY do not read marks, ConWeave has these thresholds at every speed, and nothing marks.
        for quiet in [
            keys(3, 100, 400),
            keys(1, 100, 400) + "LB_MODE 9",
            keys(1, 100, 400) + "ENABLE_QCN 0",
            keys(1, 5, 200),
        ] {
            assert_eq!(found(&quiet, &[100]), [""; 0], "{quiet}");
        }
        assert_eq!(found(&(keys(1, 1_600, 6_400) + "LB_MODE 9"), &[100]).len(), 1);
    }
}
