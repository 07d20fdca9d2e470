//! Draws the messages of a contest.

use super::file::WorkloadSetting;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_fabric::host::rnic::Message;
use sluice_pcaps::generate::{Cdf, Draw, EXPONENTIAL_BITS};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// First UDP source port.
const FIRST_PORT: u16 = 49_152;
/// Most messages: each has its own queue pair, whose number has 24 bits and is not 0.
const MOST: usize = (1 << 24) - 1;

/// Distributions known by name (model: conweave §4.2): lines of a size and its cumulative percentage.
const SIZES: [(&str, &str); 2] = [
    (
        "ali-storage",
        "0 0\n4000 22.93\n8000 69.21\n16000 80.61\n32000 90.47\n64000 93.53\n128000 96.77\n256000 97.53\n2000000 100\n",
    ),
    ("solar", "0 0\n4095 0.001\n4096 30\n16383 35\n16384 50\n65535 60\n65536 95\n262144 100\n"),
];

/// Returns the distribution of this name, or parses the file that `read` returns.
///
/// # Errors
/// If `read` fails, or the text is not a distribution.
pub fn sizes(name: &str, read: impl Fn(&str) -> Result<String, String>) -> Result<Cdf, String> {
    let known = SIZES.iter().find(|(known, _)| *known == name);
    let text = match known {
        Some((_, text)) => (*text).to_owned(),
        None => read(name).map_err(|why| {
            let names: Vec<&str> = SIZES.iter().map(|(name, _)| *name).collect();
            format!("workload.sizes: {why}; expected {}, or a file", names.join(", "))
        })?,
    };
    Cdf::parse(name, &text).map_err(|e| e.to_string())
}

/// A host's place in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Index of the host's switch.
    pub switch: u32,
    /// Front-panel port of the switch.
    pub port: u16,
    /// The host's address.
    pub address: Ipv4Addr,
}

/// Draws the messages of each host, in order of time. Equal seeds give equal messages; each host has its own random
/// stream.
///
/// # Errors
/// If there are more messages than queue pair numbers, or a host has no possible receiver.
pub fn messages(
    setting: &WorkloadSetting,
    sizes: &Cdf,
    stations: &[Station],
    rate: BitRate,
    seed: u64,
) -> Result<Vec<Vec<Message>>, String> {
    let mut all = Vec::with_capacity(stations.len());
    let mut pair = 0;
    for (number, from) in stations.iter().enumerate() {
        let others: Vec<&Station> = stations
            .iter()
            .filter(|to| {
                to.address != from.address && !(setting.between_switches && to.switch == from.switch)
            })
            .collect();
        if others.is_empty() {
            return Err(
                "a host has no receiver: the network needs at least two hosts, and hosts at two switches if \
                 workload.between_switches is true"
                    .into(),
            );
        }
        let mut draw = Draw::new(seed, number as u64);
        let mut turns: BTreeMap<Ipv4Addr, u16> = BTreeMap::new();
        let (mut own, mut at) = (Vec::new(), 0u128);
        loop {
            at += gap(&mut draw, sizes.mean(), rate, setting.load);
            let start = Duration::from_ps(u64::try_from(at).unwrap_or(u64::MAX));
            if start >= setting.time {
                break;
            }
            let to = others[draw.below(others.len() as u64) as usize].address;
            let turn = turns.entry(to).or_default();
            let port = FIRST_PORT + *turn % setting.ports.unwrap_or(4);
            *turn = turn.wrapping_add(1);
            pair += 1;
            own.push(Message { pair, start: Time::ORIGIN + start, to, port, bytes: sizes.draw(&mut draw) });
            if pair as usize > MOST {
                return Err(format!("more than {MOST} messages; shorten workload.time"));
            }
        }
        all.push(own);
    }
    Ok(all)
}

/// Draws the time to the next message, ps: exponential, with mean size / (link rate * load) as its mean.
fn gap(draw: &mut Draw, mean: u64, rate: BitRate, load: u32) -> u128 {
    const PS: u128 = 1_000_000_000_000;
    // The mean gap is rounded to picoseconds first, because the product of all factors can exceed 128 bits.
    let mean = u128::from(mean) * 8 * 100 * PS / (u128::from(rate.as_bps().max(1)) * u128::from(load.max(1)));
    (u128::from(draw.exponential()) * mean) >> EXPONENTIAL_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(load: u32) -> WorkloadSetting {
        WorkloadSetting {
            sizes: "ali-storage".into(),
            load,
            time: Duration::from_millis(20),
            warm_up: Duration::ZERO,
            ports: None,
            between_switches: true,
        }
    }

    #[test]
    fn hosts_send_what_the_load_asks_for_and_to_others() {
        let cdf = sizes("ali-storage", |_| Err(String::new())).unwrap();
        // Model: conweave §4.2; int §5.3.
        assert!(cdf.mean().abs_diff(40_870) <= 1, "{}", cdf.mean());
        let station = |n: u8| Station {
            switch: u32::from(n / 4),
            port: n.into(),
            address: Ipv4Addr::new(10, 0, n / 4, n % 4 + 1),
        };
        let stations: Vec<Station> = (0..8).map(station).collect();
        let all = messages(&setting(50), &cdf, &stations, BitRate::from_gbps(100), 7).unwrap();
        let count: usize = all.iter().map(Vec::len).sum();
        // 20 ms / 6,539 ns * 8 hosts = 24,468 messages, plus or minus three standard deviations.
        assert!((23_998..24_938).contains(&count), "{count}");
        for (from, messages) in stations.iter().zip(&all) {
            assert!(messages.is_sorted_by_key(|m| m.start));
            assert!(messages.iter().all(|m| m.to.octets()[2] != from.address.octets()[2] && m.bytes > 0));
        }
        let mut pairs: Vec<u32> = all.iter().flatten().map(|m| m.pair).collect();
        pairs.dedup();
        assert_eq!(pairs, (1..=count as u32).collect::<Vec<_>>());
        assert_eq!(messages(&setting(50), &cdf, &stations, BitRate::from_gbps(100), 7).unwrap(), all);
        let one = messages(&setting(50), &cdf, &stations[..4], BitRate::from_gbps(100), 7);
        assert!(one.unwrap_err().contains("a host has no receiver"));
    }
}
