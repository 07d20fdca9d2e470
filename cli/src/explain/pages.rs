//! Meanings of words from the tables of the handbook's pages.

const EXPERIMENTS: [&str; 4] = [
    include_str!("../../../docs/contest.md"),
    include_str!("../../../docs/contest-hosts.md"),
    include_str!("../../../docs/experiments.md"),
    include_str!("../../../docs/workloads.md"),
];
const SONIC: &str = include_str!("../../../docs/sonic.md");

/// Slowdowns of a contest: the beginning of a number's name, and the messages and the time alone that it is about.
const SLOWDOWNS: [(&str, &str); 5] = [
    ("", "of the messages that count"),
    ("small_", "of messages shorter than a bandwidth-delay product"),
    ("large_", "of messages from a bandwidth-delay product on"),
    ("own_", "over the time that a message takes alone with the same program"),
    ("fastest_", "over the time that a message takes alone with the fastest program"),
];
/// Statistics, by the end of a number's name.
const STATISTICS: [(&str, &str); 5] = [
    ("avg", "mean slowdown"),
    ("p50", "median slowdown"),
    ("p95", "95th percentile of the slowdown"),
    ("p99", "99th percentile of the slowdown"),
    ("p999", "99.9th percentile of the slowdown; only from 10,000 messages a seed on"),
];

/// Quantities that `sample` measures in bytes.
const SAMPLED: [(&str, &str); 3] = [
    ("buffer", "in the buffer of a switch"),
    ("deepest_queue", "in the deepest queue of a switch"),
    ("reorder_memory", "in the queues of a switch that put packets in order"),
];
/// Statistics of the samples.
const SAMPLES: [(&str, &str); 3] =
    [("avg", "mean"), ("p99", "99th percentile"), ("sampled_max", "largest sample")];

/// Returns the rows of a page's tables with this header: the words of the first cell, and the second one.
fn rows<'p>(page: &'p str, header: &str) -> impl Iterator<Item = (&'p str, &'p str)> {
    let mut inside = false;
    let rows = page.lines().filter_map(move |line| {
        inside = line == header || inside && line.starts_with('|');
        let cells = line.strip_prefix("| `").filter(|_| inside)?.strip_suffix(" |")?;
        let (names, text) = cells.split_once(" | ")?;
        // `..` stands for more names of the same family.
        Some((names.strip_suffix(", ..").unwrap_or(names).trim_end_matches('`'), text))
    });
    let names = rows.flat_map(|(names, text)| names.split("`, `").map(move |name| (name, text)));
    names.filter(|(name, _)| !name.starts_with("..") && !name.contains('`'))
}

/// Returns the numbers of contests, which expectations, `summary.json` and tables of Python name.
pub(super) fn numbers() -> Vec<(String, String)> {
    let of_pages = EXPERIMENTS.iter().flat_map(|page| rows(page, "| number | meaning |"));
    let mut list: Vec<(String, String)> =
        of_pages.map(|(name, text)| (name.to_owned(), without_links(text))).collect();
    for (prefix, of) in SLOWDOWNS {
        for (statistic, meaning) in STATISTICS {
            let name = format!("{prefix}{statistic}");
            list.retain(|(known, _)| *known != name);
            list.push((name, format!("{meaning}, {of}, in thousandths: 1000 is as fast as alone")));
        }
    }
    for (prefix, of) in SAMPLED {
        for (statistic, meaning) in SAMPLES {
            let name = format!("{prefix}_{statistic}_bytes");
            list.retain(|(known, _)| *known != name);
            list.push((
                name,
                format!("{meaning} of the bytes {of}, over switches and intervals; with `sample`"),
            ));
        }
    }
    list
}

/// Returns the tables of a SONiC configuration, each with what it becomes.
pub(super) fn sonic_tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    rows(SONIC, "| table | becomes |")
}

/// Returns a text whose links are their words.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, word, after)) = rest.split_once('[').and_then(|(before, link)| {
        let (word, target) = link.split_once("](")?;
        Some((before, word, target.split_once(')')?.1))
    }) {
        plain.push_str(before);
        plain.push_str(word);
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_right_tables() {
        let page = "| number | meaning |\n|---|---|\n| `a`, `b.C` | one, see [two](x.md#y) |\n\n| key | meaning |\n|---|---|\n| `c` | no |\n";
        let found: Vec<_> = rows(page, "| number | meaning |").collect();
        assert_eq!(found, [("a", "one, see [two](x.md#y)"), ("b.C", "one, see [two](x.md#y)")]);
        assert_eq!(without_links("one, see [two](x.md#y), [three] (x)"), "one, see two, [three] (x)");
    }

    #[test]
    fn the_pages_have_the_tables() {
        let numbers = numbers();
        let meaning =
            |name: &str| numbers.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str());
        for name in ["messages", "goodput_mbps", "imbalance_p99", "host_pfc_frames", "operations", "spurious"]
        {
            assert!(meaning(name).is_some(), "{name}");
        }
        assert_eq!(
            meaning("own_p99"),
            Some(
                "99th percentile of the slowdown, over the time that a message takes alone with the same program, in thousandths: \
                 1000 is as fast as alone"
            )
        );
        assert!(sonic_tables().any(|(table, _)| table == "WRED_PROFILE"));
    }
}
