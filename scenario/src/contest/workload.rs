//! Draws the messages of a contest.

use super::file::WorkloadSetting;
use super::flows::FlowList;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_fabric::host::message::Message;
use sluice_pcaps::generate::{Cdf, Draw, EXPONENTIAL_BITS};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// First UDP source port.
const FIRST_PORT: u16 = 49_152;
/// Number of UDP source ports from [`FIRST_PORT`] on.
const ALL_PORTS: u16 = 1 << 14;
/// Most messages: each has its own queue pair, whose number has 24 bits and is not 0.
pub(super) const MOST: usize = (1 << 24) - 1;

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

/// Source of a contest's messages.
#[derive(Clone, Debug)]
pub enum Offered {
    /// Messages are drawn; their sizes have this distribution.
    Drawn(Cdf),
    /// Messages are the flows of a list.
    Listed(FlowList),
}

/// Reads the distribution or the list of flows that a workload names. `read` returns the text of a file.
///
/// # Errors
/// If `read` fails, or a text is not a distribution or not a list.
pub fn offered(
    setting: &WorkloadSetting,
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<Offered, String> {
    match (&setting.flows, &setting.sizes) {
        (Some(name), _) => {
            let text = read(name).map_err(|why| format!("workload.flows: {why}"))?;
            Ok(Offered::Listed(FlowList::parse(name, &text).map_err(|e| e.to_string())?))
        }
        (None, sizes_name) => Ok(Offered::Drawn(sizes(sizes_name.as_deref().unwrap_or_default(), read)?)),
    }
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
    /// Rate of the host's link.
    pub rate: BitRate,
    /// Delay of the host's cable, if the topology says it.
    pub delay: Option<Duration>,
}

/// Returns the messages of each host, in order of time. Equal seeds give equal messages; each host has its own random
/// stream.
///
/// # Errors
/// If there are more messages than queue pair numbers, a host has no possible receiver, or a list names a host that the
/// network does not have.
pub fn messages(
    setting: &WorkloadSetting,
    offered: &Offered,
    stations: &[Station],
    seed: u64,
) -> Result<Vec<Vec<Message>>, String> {
    match offered {
        Offered::Drawn(sizes) => drawn(setting, sizes, stations, seed),
        Offered::Listed(list) => listed(setting, list, stations, seed),
    }
}

/// Returns the flows of a list that start before `setting.time` after the first one. UDP source ports that the list does
/// not say, or that `setting.ports` asks for, are drawn: another seed sends the same flows over other paths.
fn listed(
    setting: &WorkloadSetting,
    list: &FlowList,
    stations: &[Station],
    seed: u64,
) -> Result<Vec<Vec<Message>>, String> {
    let mut hosts: Vec<usize> = (0..stations.len()).collect();
    hosts.sort_by_key(|host| stations[*host].address);
    let mut draws: Vec<Draw> = (0..stations.len()).map(|host| Draw::new(seed, host as u64)).collect();
    let mut all = vec![Vec::new(); stations.len()];
    let first = list.flows.iter().map(|flow| flow.start).min().unwrap_or_default();
    for (pair, flow) in (1..).zip(&list.flows) {
        let host = |number: u32| {
            hosts.get(number as usize).copied().ok_or_else(|| {
                format!(
                    "{}:{}: host {number}; the network has hosts 0 to {}",
                    list.origin,
                    flow.line,
                    hosts.len().saturating_sub(1)
                )
            })
        };
        let (from, to) = (host(flow.from)?, host(flow.to)?);
        let port = match (setting.ports, flow.port) {
            (None, Some(port)) => port,
            (ports, _) => FIRST_PORT + draws[from].below(ports.unwrap_or(ALL_PORTS).into()) as u16,
        };
        let start = flow.start - first;
        if start < setting.time {
            let to = stations[to].address;
            all[from].push(Message {
                pair,
                transport: 0,
                workload: 0,
                start: Time::ORIGIN + start,
                to,
                port,
                bytes: flow.bytes,
            });
        }
    }
    all.iter_mut().for_each(|own| own.sort_by_key(|message| (message.start, message.pair)));
    Ok(all)
}

fn drawn(
    setting: &WorkloadSetting,
    sizes: &Cdf,
    stations: &[Station],
    seed: u64,
) -> Result<Vec<Vec<Message>>, String> {
    let load = setting.load.unwrap_or(1);
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
            at += gap(&mut draw, sizes.mean(), from.rate, load);
            let start = Duration::from_ps(u64::try_from(at).unwrap_or(u64::MAX));
            if start >= setting.time {
                break;
            }
            let to = others[draw.below(others.len() as u64) as usize].address;
            let turn = turns.entry(to).or_default();
            let port = FIRST_PORT + *turn % setting.ports.unwrap_or(4);
            *turn = turn.wrapping_add(1);
            pair += 1;
            let (start, bytes) = (Time::ORIGIN + start, sizes.draw(&mut draw));
            own.push(Message { pair, transport: 0, workload: 0, start, to, port, bytes });
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
            sizes: Some("ali-storage".into()),
            load: Some(load),
            flows: None,
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
            rate: BitRate::from_gbps(if n == 7 { 400 } else { 100 }),
            delay: None,
        };
        let stations: Vec<Station> = (0..8).map(station).collect();
        let cdf = Offered::Drawn(cdf);
        let all = messages(&setting(50), &cdf, &stations, 7).unwrap();
        let count: usize = all.iter().map(Vec::len).sum();
        // 20 ms / 6,539 ns * 7 hosts = 21,410 messages, and 12,234 of the host whose link is four times as fast, each
        // plus or minus three standard deviations.
        let fast = all[7].len();
        assert!(
            (11_902..12_566).contains(&fast) && (20_971..21_849).contains(&(count - fast)),
            "{count} {fast}"
        );
        for (from, messages) in stations.iter().zip(&all) {
            assert!(messages.is_sorted_by_key(|m| m.start));
            assert!(messages.iter().all(|m| m.to.octets()[2] != from.address.octets()[2] && m.bytes > 0));
        }
        let mut pairs: Vec<u32> = all.iter().flatten().map(|m| m.pair).collect();
        pairs.dedup();
        assert_eq!(pairs, (1..=count as u32).collect::<Vec<_>>());
        assert_eq!(messages(&setting(50), &cdf, &stations, 7).unwrap(), all);
        let one = messages(&setting(50), &cdf, &stations[..4], 7);
        assert!(one.unwrap_err().contains("a host has no receiver"));
    }
}
