//! Reads the topology files of the ns-3 simulators of HPCC and ConWeave (model: int §4.1; conweave §4.1).
//!
//! A file is a stream of words: the numbers of nodes, switches and links; the switches' node numbers; then for each
//! link two nodes, rate, delay, and loss probability. Any text after that is ignored, as in the simulators. All other
//! nodes are hosts with one link or several; host `n` has the address 11.`n`/256.`n`%256.1. The simulators number the
//! interfaces of a node from 1 in the order of its links: interface `n` of a switch is front-panel port `n - 1`.

use super::blueprint::{Attachment, Blueprint, CablePlan, HostPlan, SwitchPlan};
use sluice_asic::units::{BitRate, Duration};
use std::net::Ipv4Addr;
use std::str::FromStr;
use thiserror::Error;

/// Reason why a text is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Ns3Error {
    /// A word is missing or invalid.
    #[error("{origin}:{line}: {what}: found {}, expected {expected}", .found.as_ref().map_or("the end".to_owned(), |f| format!("`{f}`")))]
    Word {
        /// Name of the file.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Meaning of the word.
        what: String,
        /// The word; `None` at the end of the file.
        found: Option<String>,
        /// The allowed words.
        expected: &'static str,
    },
    /// A link connects two hosts.
    #[error("{origin}:{line}: link {a} {b} joins two hosts; one end must be a switch")]
    Hosts {
        /// Name of the file.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// First end.
        a: u32,
        /// Second end.
        b: u32,
    },
}

/// The words of a text with their lines.
struct Words<'t> {
    words: std::vec::IntoIter<(usize, &'t str)>,
    line: usize,
    origin: &'t str,
}

impl<'t> Words<'t> {
    fn next<T: FromStr>(&mut self, what: &str, expected: &'static str) -> Result<T, Ns3Error> {
        let word = self.words.next();
        if let Some((line, _)) = word {
            self.line = line;
        }
        let found = word.map(|(_, word)| word.to_owned());
        let parsed = found.as_ref().and_then(|word| word.parse().ok());
        parsed.ok_or_else(|| Ns3Error::Word {
            origin: self.origin.to_owned(),
            line: self.line,
            what: what.to_owned(),
            found,
            expected,
        })
    }

    /// Returns the line of the next word; at the end, that of the last one.
    fn peek_line(&self) -> usize {
        self.words.as_slice().first().map_or(self.line, |(line, _)| *line)
    }

    fn node(&mut self, what: &str, nodes: u32) -> Result<u32, Ns3Error> {
        let node: u32 = self.next(what, "the number of a node")?;
        if node < nodes {
            return Ok(node);
        }
        Err(Ns3Error::Word {
            origin: self.origin.to_owned(),
            line: self.line,
            what: what.to_owned(),
            found: Some(node.to_string()),
            expected: "a node number below the number of nodes",
        })
    }
}

/// Most nodes of a network: the scheme of addresses has no more.
const MOST: u32 = 65_536;

impl Blueprint {
    /// Returns true if a text looks like an ns-3 topology: its first three words are numbers.
    #[must_use]
    pub fn is_ns3(text: &str) -> bool {
        let mut words = text.split_whitespace();
        (0..3).all(|_| words.next().is_some_and(|word| word.parse::<u32>().is_ok()))
    }

    /// Reads a blueprint from an ns-3 topology text; `origin` is the file's name, for errors. A switch is called `s`
    /// and a host `h`, followed by its node number.
    ///
    /// # Errors
    /// If a word is missing or invalid; the error says in which line.
    pub fn from_ns3(text: &str, origin: &str) -> Result<Blueprint, Ns3Error> {
        let lines = (1..).zip(text.lines());
        let words: Vec<(usize, &str)> =
            lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word))).collect();
        let mut words = Words { words: words.into_iter(), line: 1, origin };
        let nodes: u32 = words.next("nodes", "a number")?;
        let switches: u32 = words.next("switches", "a number")?;
        let links: u32 = words.next("links", "a number")?;
        if nodes > MOST || switches > nodes {
            let (what, found) = ("nodes and switches".to_owned(), Some(format!("{nodes} {switches}")));
            let (origin, line) = (origin.to_owned(), words.line);
            let expected = "at most 65536 nodes, and no more switches than nodes";
            return Err(Ns3Error::Word { origin, line, what, found, expected });
        }
        let mut plan =
            Blueprint { name: origin.to_owned(), origin: origin.to_owned(), ..Blueprint::default() };
        let mut switch_of = vec![None; nodes as usize];
        for number in 0..switches {
            let node = words.node("switch", nodes)?;
            switch_of[node as usize] = Some(number);
            plan.switches.push(SwitchPlan { name: format!("s{node}"), stage: 2, ..SwitchPlan::default() });
        }
        let mut host_of = vec![None; nodes as usize];
        let mut links_of = vec![0; switches as usize];
        for _ in 0..links {
            link(&mut plan, &mut words, &switch_of, &mut host_of, &mut links_of)?;
        }
        stages(&mut plan);
        Ok(plan)
    }
}

/// Sets the stages: 1 for switches with hosts, and one more for each hop from the nearest of them.
fn stages(plan: &mut Blueprint) {
    let mut next: Vec<u32> = plan.hosts.iter().flat_map(|h| h.at.iter().map(|a| a.switch)).collect();
    let mut seen = vec![false; plan.switches.len()];
    let mut stage = 1;
    while !next.is_empty() {
        next.retain(|s| !std::mem::replace(&mut seen[*s as usize], true));
        next.iter().for_each(|s| plan.switches[*s as usize].stage = stage);
        let here = next.clone();
        let joined = |[a, b]: [u32; 2]| [(a, b), (b, a)].into_iter().filter(|(a, _)| here.contains(a));
        next = plan.cables.iter().flat_map(|c| joined(c.ends)).map(|(_, b)| b).collect();
        stage += 1;
    }
}

fn link(
    plan: &mut Blueprint,
    words: &mut Words<'_>,
    switch_of: &[Option<u32>],
    host_of: &mut [Option<usize>],
    links_of: &mut [u16],
) -> Result<(), Ns3Error> {
    let nodes = switch_of.len() as u32;
    let first = words.peek_line();
    let (a, b) = (words.node("link's first end", nodes)?, words.node("link's second end", nodes)?);
    let rate: BitRate = words.next("link's rate", "a rate such as 100Gbps")?;
    let delay: Duration = words.next("link's delay", "a time such as 1000ns")?;
    let loss = words.next("link's loss", "a probability from 0 to 1")?;
    let mut port = |switch: u32| {
        let next = &mut links_of[switch as usize];
        let port = *next;
        *next = next.saturating_add(1);
        Some(port)
    };
    let (host, switch) = match (switch_of[a as usize], switch_of[b as usize]) {
        (Some(a), Some(b)) => {
            plan.cables.push(CablePlan {
                rate: Some(rate),
                loss,
                line: first,
                ports: [port(a), port(b)],
                ..CablePlan::new(a, b, delay)
            });
            return Ok(());
        }
        (None, Some(switch)) => (a, switch),
        (Some(switch), None) => (b, switch),
        (None, None) => {
            let (origin, line) = (words.origin.to_owned(), words.line);
            return Err(Ns3Error::Hosts { origin, line, a, b });
        }
    };
    let index = *host_of[host as usize].get_or_insert_with(|| {
        let address = Ipv4Addr::from_bits(0x0b00_0001 | host << 8);
        plan.hosts.push(HostPlan { name: format!("h{host}"), address, at: Vec::new() });
        plan.hosts.len() - 1
    });
    let (port, rate, delay) = (port(switch), Some(rate), Some(delay));
    plan.hosts[index].at.push(Attachment { switch, port, rate, delay, line: first });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Probability;

    const SMALL: &str = "5 2 4\n3 4\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0.000000\n\
                         2 4 25Gbps 0.001ms 0\n3 4 400Gbps 2us 0.001\n\nThe rest is not read: 9 9 9\n";

    #[test]
    fn nodes_links_and_addresses() {
        assert!(Blueprint::is_ns3(SMALL) && !Blueprint::is_ns3("name = \"x\""));
        let plan = Blueprint::from_ns3(SMALL, "small.txt").unwrap();
        let names: Vec<_> = plan.switches.iter().map(|s| (s.name.as_str(), s.stage)).collect();
        assert_eq!(names, [("s3", 1), ("s4", 1)]);
        let hosts: Vec<_> = plan.hosts.iter().map(|h| (h.name.as_str(), h.address, h.at[0].switch)).collect();
        let address = |n| Ipv4Addr::new(11, 0, n, 1);
        assert_eq!(hosts, [("h0", address(0), 0), ("h1", address(1), 0), ("h2", address(2), 1)]);
        let [cable] = &plan.cables[..] else { panic!("{:?}", plan.cables) };
        assert_eq!((cable.ends, cable.rate), ([0, 1], Some(BitRate::from_gbps(400))));
        assert_eq!((cable.delay, cable.loss), (Duration::from_micros(2), Probability::from_ppb(1_000_000)));
        assert_eq!(plan.hosts[2].at[0].rate, Some(BitRate::from_gbps(25)));
        let far = "301 1 1\n0\n300 0 1Gbps 1us 0";
        assert_eq!(Blueprint::from_ns3(far, "x").unwrap().hosts[0].address, Ipv4Addr::new(11, 1, 44, 1));
    }

    #[test]
    fn stages_are_counted_from_the_hosts() {
        // Two edges, two switches above them, one on top.
        let tree =
            "7 5 6 2 3 4 5 6 0 2 1G 1us 0 1 3 1G 1us 0 2 4 1G 1us 0 3 5 1G 1us 0 4 6 1G 1us 0 5 6 1G 1us 0";
        let plan = Blueprint::from_ns3(tree, "tree.txt").unwrap();
        let stages: Vec<u32> = plan.switches.iter().map(|s| s.stage).collect();
        assert_eq!(stages, [1, 1, 2, 2, 3]);
    }

    #[test]
    fn a_host_may_have_two_homes() {
        let plan = Blueprint::from_ns3("3 2 2 1 2 0 1 25Gbps 1us 0 0 2 25Gbps 1us 0", "x").unwrap();
        assert_eq!(plan.hosts[0].at.iter().map(|a| a.switch).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| Blueprint::from_ns3(text, "t.txt").unwrap_err().to_string();
        assert_eq!(error("2 1"), "t.txt:1: links: found the end, expected a number");
        assert_eq!(
            error("2 1 1\n5"),
            "t.txt:2: switch: found `5`, expected a node number below the number of nodes"
        );
        assert_eq!(
            error("2 1 1\n1\n0 1 fast 1us 0"),
            "t.txt:3: link's rate: found `fast`, expected a rate such as 100Gbps"
        );
        assert_eq!(
            error("3 1 1\n1\n0 2 1Gbps 1us 0"),
            "t.txt:3: link 0 2 joins two hosts; one end must be a switch"
        );
        assert_eq!(
            error("2 1 1\n1\n0 1 1Gbps 1us 2"),
            "t.txt:3: link's loss: found `2`, expected a probability from 0 to 1"
        );
        assert!(error("9999999 1 1").contains("at most 65536 nodes"));
        assert!(error("2 1 9\n1\n0 1 1Gbps 1us 0").contains("found the end"));
    }
}
