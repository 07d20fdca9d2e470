//! `sluice explain`: every word that outputs print has an explanation.

use crate::support::{folder, json, ok, refused, text};
use std::collections::BTreeSet;

/// Returns the headings of the tables in an output: lines whose cells, two or more blanks apart, are followed by a line with as
/// many cells, and that have no number.
fn headings(output: &str) -> BTreeSet<String> {
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect()
    };
    let lines: Vec<&str> = output.lines().collect();
    let mut found = BTreeSet::new();
    for pair in lines.windows(2) {
        let (head, row) = (cells(pair[0]), cells(pair[1]));
        let capital = |c: &String| c.starts_with(|c: char| c.is_ascii_uppercase()) || c.ends_with('%');
        let indented = pair[0].starts_with("   ") && pair[1].starts_with("   ");
        if indented && head.len() > 1 && row.len() <= head.len() + 1 && head.iter().all(capital) {
            found.extend(head);
        }
    }
    found
}

/// Returns the words of the balance of packets, and names in front of a colon at the start of a line.
fn terms(output: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in output.lines() {
        if let Some(balance) = line.strip_prefix("packets: ") {
            let words = balance.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty());
            found.extend(words.take_while(|w| *w != "hops").map(str::to_owned));
        }
        // `12 dropped (1.5 %)  acl_deny: A filter rule denies the packet`
        if let Some((_, rest)) = line.split_once(" %)  ") {
            found.insert(rest.split(':').next().unwrap().to_owned());
        }
        let term = line.split_once(": ").map(|(term, _)| term);
        let term = term.filter(|t| !t.is_empty() && t.chars().all(|c| c.is_ascii_lowercase()));
        found.extend(term.map(str::to_owned));
    }
    found
}

#[test]
fn words_of_default_outputs_are_explained() {
    let dir = folder("words");
    let storm = dir.path().join("storm.pcap");
    let rate = ["--rate", "300Gbps", "--size", "1000", "--packets", "3000"];
    let to = ["--dst", "10.9.9.9/32", "--dscp", "3", "--ecn", "2"];
    ok(&[&["gen", "udp", "-o", text(&storm)][..], &rate, &to].concat());
    let inputs: Vec<String> = (0..3).map(|port| format!("{port}@{}", text(&storm))).collect();
    let inputs: Vec<&str> = inputs.iter().flat_map(|input| ["-i", input]).collect();
    let buffered = [&["replay", "l3-ecmp", "--buffer", "chip"][..], &inputs].concat();
    let outputs = [
        ok(&[]),
        ok(&["replay", "pfc"]),
        ok(&["replay", "letflow"]),
        ok(&buffered),
        ok(&["replay", "conweave", "--topology", "leaf-spine:leaves=2,spines=2"]),
        ok(&["flowlets"]),
        ok(&["polarization", "--flows", "2000"]),
        ok(&["explain", "headroom", "--speed", "100G", "--cable", "300m"]),
        ok(&["explain", "ports"]),
        ok(&["programs"]),
    ];
    let mut words: BTreeSet<String> = outputs.iter().flat_map(|o| headings(o)).collect();
    assert!(words.len() > 40 && words.contains("RX PKTS") && words.contains("MAX CELLS"), "{words:?}");
    words.extend(outputs.iter().flat_map(|o| terms(o)));
    for term in ["in", "created", "held", "latency", "acl_deny", "queue_tail_drop"] {
        assert!(words.contains(term), "{term}: {words:?}");
    }
    let report = ok(&["report", "l3-ecmp", "--full"]);
    let matrix = report.lines().find(|l| l.starts_with("Stage Dep")).unwrap();
    words.extend(matrix.split_whitespace().map(str::to_owned));
    let tables = report.lines().find(|l| l.starts_with("  Table ")).unwrap();
    words.extend(tables.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned));
    for more in ["PHV", "DCQCN", "dev_port", "xoff", "queue_taildrop", "mac_control", "cpu", "recirc", "DEV"]
    {
        words.insert(more.to_owned());
    }
    let explained = json(&["explain", "--json"]);
    let known: BTreeSet<String> = explained["words"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|w| {
            let word = w["word"].as_str().unwrap().to_lowercase();
            let last = word.rsplit('.').next().unwrap().to_owned();
            [word, last]
        })
        .collect();
    // PG3 and UC17 are explained under their first number.
    let first = |w: &str| {
        let stem = w.trim_end_matches(|c: char| c.is_ascii_digit());
        ["pg", "uc", "pfc"].contains(&stem).then(|| format!("{stem}0"))
    };
    let unknown: Vec<&String> = words
        .iter()
        .filter(|w| {
            let w = w.to_lowercase();
            !known.contains(&w) && !first(&w).is_some_and(|w| known.contains(&w))
        })
        .collect();
    assert_eq!(unknown, Vec::<&String>::new());
    // What the list has can be asked for, in any case.
    for word in ["rx pkts", "Phv", "hbit", "mac_control"] {
        assert!(ok(&["explain", word]).len() > word.len() + 10, "{word}");
    }
    assert!(ok(&["explain", "MAX", "CELLS"]).contains("buffer cells"));
}

#[test]
fn a_word_of_many_programs_is_listed_and_explained_once() {
    let list = ok(&["explain"]);
    assert_eq!(list.lines().filter(|l| l.trim() == "no_route").count(), 1);
    let text = ok(&["explain", "no_route"]);
    let meanings: Vec<&str> = text.lines().skip(1).step_by(3).collect();
    let distinct: BTreeSet<&str> = meanings.iter().copied().collect();
    assert_eq!(meanings.len(), distinct.len(), "{text}");
    assert!(text.contains("named in program ecmp, wcmp, "), "{text}");
}

#[test]
fn a_mistyped_word_gets_the_nearest_one() {
    let (code, stderr) = refused(&["explain", "qeue_tail_drop"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("did you mean queue_tail_drop"), "{stderr}");
}
