//! The hosts of a network as workloads see them, and selections of hosts.

use sluice_asic::units::{BitRate, Duration};
use sluice_fabric::topology::Blueprint;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

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

/// The hosts of a network. A host's *number* is its rank by address, from 0.
#[derive(Clone, Debug)]
pub struct HostTable {
    /// The hosts, in the order in which the network has them.
    pub stations: Vec<Station>,
    /// Least delay of a host's cable.
    pub cable: Duration,
    /// Name of each host.
    names: Vec<String>,
    /// Name of each switch of the network.
    switches: Vec<String>,
    /// Index of each host, by its number.
    numbered: Vec<u32>,
    /// Number of each host.
    numbers: Vec<u32>,
}

impl HostTable {
    /// Creates the table. `cable` is the delay of cables whose delay the topology does not say, `name` returns the name of the host with an address, and `switches` has the names of all
    /// switches.
    #[must_use]
    pub fn new(
        stations: Vec<Station>,
        cable: Duration,
        name: impl Fn(Ipv4Addr) -> String,
        switches: Vec<String>,
    ) -> HostTable {
        let cable = stations.iter().map(|station| station.delay.unwrap_or(cable)).min().unwrap_or(cable);
        let names = stations.iter().map(|station| name(station.address)).collect();
        let mut numbered: Vec<u32> = (0..stations.len() as u32).collect();
        numbered.sort_by_key(|host| stations[*host as usize].address);
        let mut numbers = vec![0; stations.len()];
        (0..).zip(&numbered).for_each(|(number, host)| numbers[*host as usize] = number);
        HostTable { stations, cable, names, switches, numbered, numbers }
    }

    /// Creates the table of a network's hosts.
    #[must_use]
    pub fn of(plan: &Blueprint, stations: Vec<Station>, cable: Duration) -> HostTable {
        let names: BTreeMap<Ipv4Addr, &str> =
            plan.hosts.iter().map(|host| (host.address, host.name.as_str())).collect();
        let name = |address| names.get(&address).copied().unwrap_or_default().to_owned();
        let switches = plan.switches.iter().map(|switch| switch.name.clone()).collect();
        HostTable::new(stations, cable, name, switches)
    }

    /// Returns the number of hosts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Returns true if there are no hosts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stations.is_empty()
    }

    /// Returns the host at an index, which this table has given out.
    #[must_use]
    pub fn station(&self, host: u32) -> &Station {
        &self.stations[host as usize]
    }

    /// Returns a host as errors call it: its name and address.
    #[must_use]
    pub fn describe(&self, host: u32) -> String {
        format!("`{}` ({})", self.names[host as usize], self.station(host).address)
    }

    /// Returns the index of the host with this number.
    #[must_use]
    pub fn numbered(&self, number: u64) -> Option<u32> {
        self.numbered.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the number of the host at an index.
    #[must_use]
    pub fn number(&self, host: u32) -> usize {
        self.numbers[host as usize] as usize
    }

    /// Returns the index of the host with this address.
    #[must_use]
    pub fn at(&self, address: Ipv4Addr) -> Option<u32> {
        let rank = self.numbered.binary_search_by_key(&address, |host| self.station(*host).address).ok()?;
        self.numbered.get(rank).copied()
    }

    /// Returns the index of one host, by number, address or name.
    ///
    /// # Errors
    /// If there is no such host; the error says which there are.
    pub fn one(&self, word: &str) -> Result<u32, String> {
        let found = match (word.parse::<u64>(), word.parse::<Ipv4Addr>()) {
            (Ok(number), _) => self.numbered(number),
            (_, Ok(address)) => self.at(address),
            _ => self.names.iter().position(|name| name == word).map(|host| host as u32),
        };
        found.ok_or_else(|| format!("there is no host `{word}`; {}", self.known()))
    }

    /// Returns what can name a host of this network.
    fn known(&self) -> String {
        let (first, last) = (self.numbered.first(), self.numbered.last());
        let (Some(first), Some(last)) = (first, last) else { return "the network has no hosts".to_owned() };
        let place = |host: &u32| self.describe(*host);
        let most = self.len() - 1;
        format!("the network has hosts 0 to {most}, from {} to {}", place(first), place(last))
    }

    /// Returns the hosts of a selection: in the order of its parts, and each once.
    ///
    /// # Errors
    /// If a part selects no host.
    pub fn select(&self, selection: &Selection) -> Result<Vec<u32>, String> {
        let mut taken = vec![false; self.len()];
        let mut hosts = Vec::new();
        for part in &selection.0 {
            for host in self.part(part)? {
                if !std::mem::replace(&mut taken[host as usize], true) {
                    hosts.push(host);
                }
            }
        }
        Ok(hosts)
    }

    fn part(&self, part: &str) -> Result<Vec<u32>, String> {
        if part == "all" {
            return Ok(self.numbered.clone());
        }
        if let Some((first, last)) = part.split_once("..") {
            let last = last.trim_start_matches('=');
            let range = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
            let hosts = range.and_then(|(first, last)| self.numbered.get(first..last.checked_add(1)?));
            return hosts.filter(|hosts| !hosts.is_empty()).map(<[u32]>::to_vec).ok_or_else(|| {
                format!("found `{part}`, expected a range such as 0..7 with both ends; {}", self.known())
            });
        }
        if let Some((net, len)) = part.split_once('/') {
            return self.prefix(part, net, len);
        }
        if let Some(switch) = self.switches.iter().position(|name| name == part) {
            let at = |host: &&u32| self.station(**host).switch == switch as u32;
            let hosts: Vec<u32> = self.numbered.iter().filter(at).copied().collect();
            return if hosts.is_empty() { Err(format!("switch `{part}` has no hosts")) } else { Ok(hosts) };
        }
        self.one(part).map(|host| vec![host])
    }

    fn prefix(&self, part: &str, net: &str, len: &str) -> Result<Vec<u32>, String> {
        let parsed = net.parse::<Ipv4Addr>().ok().zip(len.parse::<u32>().ok().filter(|len| *len <= 32));
        let (net, len) = parsed.ok_or_else(|| format!("found `{part}`, expected a prefix as 10.0.1.0/24"))?;
        let cut = |address: Ipv4Addr| u64::from(address.to_bits()) >> (32 - len);
        let inside = |host: &&u32| cut(self.station(**host).address) == cut(net);
        let hosts: Vec<u32> = self.numbered.iter().filter(inside).copied().collect();
        if hosts.is_empty() {
            return Err(format!("no host has an address in {part}; {}", self.known()));
        }
        Ok(hosts)
    }
}

/// A selection of hosts, in parts: `all`, a number (`3`), a range of numbers with both ends (`0..7`), an address, a prefix
/// (`10.0.1.0/24`), the name of a host, or the name of a switch, which stands for its hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Vec<String>);

impl Default for Selection {
    fn default() -> Selection {
        Selection(vec!["all".to_owned()])
    }
}

impl Selection {
    /// Returns the selection of these parts, each of which may have several, separated by commas; `None` if there are
    /// none.
    #[must_use]
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<Selection> {
        let words = parts.into_iter().flat_map(|part| part.split(',')).map(|word| word.trim().to_owned());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then_some(Selection(words))
    }

    /// Returns the selection as its file writes it.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::workload::tests::hosts;

    #[test]
    fn parts_are_numbers_ranges_addresses_prefixes_and_names() {
        let hosts = hosts(3, 4);
        let select = |text: &str| hosts.select(&Selection::of([text]).unwrap());
        assert_eq!(select("all").unwrap(), (0..12).collect::<Vec<_>>());
        assert_eq!(select("7, 2..4, 3, 10.0.0.1").unwrap(), [7, 2, 3, 4, 0]);
        assert_eq!(select("10.0.1.0/24").unwrap(), [4, 5, 6, 7]);
        assert_eq!(select("leaf2, leaf0-h1").unwrap(), [8, 9, 10, 11, 1]);
        assert_eq!(Selection::of([" ", ","]), None);
        for (text, expected) in [
            ("12", "there is no host `12`; the network has hosts 0 to 11, from `leaf0-h0` (10.0.0.1) to"),
            ("3..12", "found `3..12`, expected a range such as 0..7"),
            ("4..3", "found `4..3`, expected a range"),
            ("10.0.9.0/24", "no host has an address in 10.0.9.0/24"),
            ("10.0.9.0/33", "found `10.0.9.0/33`, expected a prefix"),
            ("spine0", "switch `spine0` has no hosts"),
            ("10.0.0.9", "there is no host `10.0.0.9`"),
            ("leaf9", "there is no host `leaf9`"),
        ] {
            let error = select(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
