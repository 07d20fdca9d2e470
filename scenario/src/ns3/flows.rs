//! Lists of flows as the simulators read them (model: int §4.2).
//!
//! A list is a stream of words: the number of flows, then for each flow the sender's node, the receiver's node, the
//! priority group, in HPCC's simulator the destination port, the bytes, and the start in seconds. Text after the counted
//! flows is not read.

use super::{Ns3FileError, Simulator, words};
use sluice_asic::units::Duration;
use std::collections::BTreeMap;
use std::str::FromStr;

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// Sender's node number.
    pub from: u32,
    /// Receiver's node number; not the sender's.
    pub to: u32,
    /// Priority group.
    pub group: u8,
    /// Source port, as the simulator numbers flows.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// Absolute start.
    pub start: Duration,
    /// Line of the file, from 1.
    pub line: usize,
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFile {
    /// Name of the file, for errors.
    pub origin: String,
    /// The flows, in order.
    pub flows: Vec<ListedFlow>,
}

/// First source port, and first destination port of ConWeave's simulator.
const PORTS: (u16, u16) = (10_000, 100);

/// Most flows: queue pairs have 24-bit numbers, 0 is none.
const MOST: usize = (1 << 24) - 1;

impl FlowFile {
    /// Parses a list. The simulator says whether flows have a destination port; a list whose first flow has six words in
    /// its line has one, with five words it has none.
    ///
    /// # Errors
    /// If a word is missing or wrong, a flow goes to its sender, starts are not in order, or priority groups differ.
    pub fn parse(origin: &str, text: &str, simulator: Simulator) -> Result<FlowFile, Ns3FileError> {
        let mut list = Reader { origin, words: words(text).peekable(), line: 1 };
        let count: usize = list.next("number of flows", "a number")?;
        if count > MOST {
            return Err(list.error(format!("{count} flows; expected at most {MOST}")));
        }
        let columns = list
            .words
            .peek()
            .map(|(first, _)| text.lines().nth(first - 1).unwrap_or("").split_whitespace().count());
        let has_port = match columns {
            Some(6) => true,
            Some(5) => false,
            _ => simulator == Simulator::Hpcc,
        };
        let mut flows: Vec<ListedFlow> = Vec::new();
        let mut ports: BTreeMap<(u32, u32), u16> = BTreeMap::new();
        for number in 0..count {
            let from = list.next("sender", "a node number")?;
            let line = list.line;
            let to = list.next("receiver", "a node number")?;
            let group = list.next("priority group", "0 to 7")?;
            let port: Option<u16> =
                has_port.then(|| list.next("destination port", "0 to 65535")).transpose()?;
            let bytes: u64 = list.next("bytes", "a number")?;
            let start: String = list.next("start", "seconds such as 2.0")?;
            let start: Duration = format!("{start}s")
                .parse()
                .map_err(|_| list.error(format!("start: found `{start}`, expected seconds such as 2.0")))?;
            if from == to {
                return Err(list.error(format!(
                    "flow {number} goes from node {from} to itself; remove it, and count the flows anew"
                )));
            }
            if let Some(before) = flows.last() {
                if before.start > start {
                    return Err(list.error(
                        "starts before the flow in front of it; sort the flows by their start".to_owned(),
                    ));
                }
                if before.group != group {
                    let what = format!(
                        "priority group {group} after {}; hosts have one class for data: give all flows one group",
                        before.group
                    );
                    return Err(list.error(what));
                }
            }
            if group > 7 {
                return Err(list.error(format!("priority group {group}; expected 0 to 7")));
            }
            // HPCC's simulator counts the flows of each pair, ConWeave's those of each sender and of each receiver.
            let mut count = |key, first: u16| {
                let next = ports.entry(key).or_insert(first);
                std::mem::replace(next, next.wrapping_add(1))
            };
            let (source_port, destination_port) = match port {
                Some(port) => (count((from, to), PORTS.0), port),
                None => (count((from, u32::MAX), PORTS.0), count((u32::MAX, to), PORTS.1)),
            };
            // The simulators send one byte for a flow without bytes.
            let bytes = bytes.max(1);
            flows.push(ListedFlow { from, to, group, source_port, destination_port, bytes, start, line });
        }
        Ok(FlowFile { origin: origin.to_owned(), flows })
    }
}

/// The words of a list.
struct Reader<'t, I: Iterator<Item = (usize, &'t str)>> {
    origin: &'t str,
    words: std::iter::Peekable<I>,
    line: usize,
}

impl<'t, I: Iterator<Item = (usize, &'t str)>> Reader<'t, I> {
    fn error(&self, what: String) -> Ns3FileError {
        Ns3FileError { origin: self.origin.to_owned(), line: self.line, what }
    }

    fn next<T: FromStr>(&mut self, what: &str, expected: &str) -> Result<T, Ns3FileError> {
        let word = self.words.next();
        self.line = word.map_or(self.line, |(line, _)| line);
        let found = word.map_or("the end of the file".to_owned(), |(_, word)| format!("`{word}`"));
        let parsed = word.and_then(|(_, word)| word.parse().ok());
        parsed.ok_or_else(|| self.error(format!("{what}: found {found}, expected {expected}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> FlowFile {
        FlowFile::parse("flow.txt", text, Simulator::Hpcc).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn flows_have_a_destination_port_in_one_simulator_and_none_in_the_other() {
        let list =
            parse("3 \n2 1 3 100 200000000 2\n3 1 3 200 7 2.5\n2 1 3 100 0 2.5\nFirst line: # of flows\n");
        let ports: Vec<_> = list.flows.iter().map(|f| (f.source_port, f.destination_port, f.bytes)).collect();
        assert_eq!(ports, [(10_000, 100, 200_000_000), (10_000, 200, 7), (10_001, 100, 1)]);
        assert_eq!((list.flows[1].start, list.flows[1].line), (Duration::from_millis(2_500), 3));
        let list = parse("3\n2 1 3 5 2\n2 4 3 6 2.000000125\n3 1 3 7 2.1\n");
        let ports: Vec<_> = list.flows.iter().map(|f| (f.source_port, f.destination_port)).collect();
        assert_eq!(ports, [(10_000, 100), (10_001, 100), (10_000, 101)]);
        assert_eq!(list.flows[1].start, Duration::from_nanos(2_000_000_125));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| FlowFile::parse("f", text, Simulator::Hpcc).unwrap_err().to_string();
        assert_eq!(
            error("2\n1 2 3 100 9 2\n"),
            "f:2: sender: found the end of the file, expected a node number"
        );
        assert_eq!(error("x"), "f:1: number of flows: found `x`, expected a number");
        assert!(error("1\n1 1 3 100 9 2\n").starts_with("f:2: flow 0 goes from node 1 to itself"));
        assert!(
            error("2\n1 2 3 100 9 2\n1 2 3 100 9 1\n")
                .starts_with("f:3: starts before the flow in front of it")
        );
        assert!(error("2\n1 2 3 100 9 2\n1 2 4 100 9 2\n").starts_with("f:3: priority group 4 after 3"));
        assert!(error("1\n1 2 9 100 9 2\n").starts_with("f:2: priority group 9; expected 0 to 7"));
        assert!(error("1\n1 2 3 100 9 soon\n").starts_with("f:2: start: found `soon`"));
    }
}
