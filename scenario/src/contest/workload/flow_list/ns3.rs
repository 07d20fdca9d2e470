//! Lists of flows, in the format of the ns-3 simulators of HPCC and ConWeave.
//!
//! The first line has the number of flows. Each flow has five words: the sender, the receiver, the priority group, the
//! bytes, and the start in seconds. A sixth word, which the simulators do not have, is the UDP source port. Hosts have
//! the numbers 0, 1, .. in order of their addresses; in an ns-3 topology these are its node numbers if hosts come before
//! switches.

use super::{FlowList, FlowListError, FlowRow, number};
use crate::contest::workload::MOST;
/// Columns of a flow.
const COLUMNS: &str =
    "sender, receiver, priority group, bytes, start in seconds, and perhaps the UDP source port";

/// Parses a list. `origin` is the file's name, for errors.
///
/// # Errors
/// If a word is missing or not a number, a flow has no bytes or goes to its sender, flows have different priority
/// groups, or the number of flows is not the one in the first line.
pub(super) fn parse(origin: &str, text: &str) -> Result<FlowList, FlowListError> {
    let error = |line: usize, what: String| FlowListError { origin: origin.to_owned(), line, what };
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let count = lines.next().and_then(|(_, text)| text.trim().parse::<usize>().ok());
    let Some(count) = count.filter(|count| *count <= MOST) else {
        let what = format!("the first line must have the number of flows alone, at most {MOST}");
        return Err(error(1, what));
    };
    let (mut flows, mut group) = (Vec::new(), None);
    for (line, text) in lines.by_ref().take(count) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ([from, to, pg, bytes, start], port) = match words[..] {
            [from, to, pg, bytes, start] => ([from, to, pg, bytes, start], None),
            [from, to, pg, bytes, start, port] => ([from, to, pg, bytes, start], Some(port)),
            _ => return Err(error(line, format!("{} words; expected {COLUMNS}", words.len()))),
        };
        let host = |what: &str, word| {
            number::<u32>(word)
                .map(|number| number.to_string())
                .map_err(|e| error(line, format!("{what}: {e}")))
        };
        let flow = FlowRow {
            from: host("sender", from)?,
            to: host("receiver", to)?,
            bytes: number(bytes).map_err(|what| error(line, format!("bytes: {what}")))?,
            start: format!("{start}s").parse().map_err(|e| error(line, format!("start: {e}")))?,
            port: port.map(number).transpose().map_err(|what| error(line, format!("port: {what}")))?,
            after: Vec::new(),
            until: None,
            transport: None,
            line,
        };
        let pg: u32 = number(pg).map_err(|what| error(line, format!("priority group: {what}")))?;
        if flow.bytes == 0 || flow.from == flow.to {
            let what = "a flow has 1 byte or more, and does not go to its own sender";
            return Err(error(line, what.to_owned()));
        }
        if *group.get_or_insert(pg) != pg {
            let what =
                format!("priority group {pg}; flows before have another, but hosts have one class for data");
            return Err(error(line, what));
        }
        flows.push(flow);
    }
    if flows.len() < count {
        let what = format!("the first line says {count} flows; there are {}", flows.len());
        return Err(error(1, what));
    }
    if let Some((line, _)) = lines.next() {
        return Err(error(line, format!("the first line says {count} flows; there are more")));
    }
    Ok(FlowList { origin: origin.to_owned(), flows, from_first: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Duration;

    #[test]
    fn flows_have_five_columns_or_six() {
        let text = "2\n0 5 3 1000 2.000000125\n\n7 1 3 1 2 49153\n";
        let list = FlowList::parse("flows.txt", text).unwrap();
        let flow = |from: u32, to: u32, bytes, ns, port, line| FlowRow {
            from: from.to_string(),
            to: to.to_string(),
            bytes,
            start: Duration::from_nanos(ns),
            port,
            after: Vec::new(),
            until: None,
            transport: None,
            line,
        };
        let first = flow(0, 5, 1000, 2_000_000_125, None, 2);
        assert_eq!(list.flows, [first, flow(7, 1, 1, 2_000_000_000, Some(49_153), 4)]);
    }

    #[test]
    fn errors_name_line_and_value() {
        for (text, expected) in [
            ("", "f:1: the first line must have the number of flows alone"),
            ("1 2\n", "f:1: the first line must have"),
            ("1\n0 1 3 100\n", "f:2: 4 words; expected sender, receiver"),
            ("1\n0 1 3 9 1 65536\n", "f:2: port: found `65536`"),
            ("1\n0 x 3 100 1\n", "f:2: receiver: found `x`, expected a number"),
            ("1\n0 1 3 100 soon\n", "f:2: start: "),
            ("1\n0 1 3 0 1\n", "f:2: a flow has 1 byte or more"),
            ("1\n4 4 3 9 1\n", "f:2: a flow has 1 byte or more"),
            ("2\n0 1 3 9 1\n0 1 4 9 1\n", "f:3: priority group 4"),
            ("2\n0 1 3 9 1\n", "f:1: the first line says 2 flows; there are 1"),
            ("1\n0 1 3 9 1\n1 0 3 9 1\n", "f:3: the first line says 1 flows; there are more"),
            ("99999999999\n", "f:1: the first line must have"),
        ] {
            let error = FlowList::parse("f", text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
