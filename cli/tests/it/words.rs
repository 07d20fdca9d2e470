//! `sluice explain`: every word that outputs print has an explanation.

use crate::support::{folder, json, ok, refused, text};
use std::collections::BTreeSet;
use std::path::Path;

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

/// Returns all words that `sluice explain` lists, in small letters, with the part after a dot as a word of its own.
fn explained() -> BTreeSet<String> {
    let all = json(&["explain", "--json"]);
    let word = |w: &serde_json::Value| w["word"].as_str().unwrap().to_lowercase();
    let of = |word: String| [word.rsplit('.').next().unwrap().to_owned(), word];
    all["words"].as_array().unwrap().iter().map(word).flat_map(of).collect()
}

/// Returns the texts in capitals of the sources of the command line: headings and verdicts of all outputs.
fn capitals(folder: &Path, into: &mut BTreeSet<String>) {
    /// Sources whose texts in capitals are no output, or which explain words.
    const OTHERS: [&str; 4] = ["vocabulary", "vocabulary.rs", "gen", "new"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if OTHERS.contains(&name) {
            continue;
        }
        if path.is_dir() {
            capitals(&path, into);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap();
        let lines =
            code.lines().filter(|line| !line.contains("value_name") && !line.trim_start().starts_with("//"));
        // Texts are every second part between quotes, if a line has no quote inside a text.
        let texts =
            lines.filter(|line| !line.contains("\\\"")).flat_map(|line| line.split('"').skip(1).step_by(2));
        let of_words = |text: &&str| {
            text.contains(|c: char| c.is_ascii_uppercase())
                && !text.starts_with('-')
                && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || " /%.+-".contains(c))
        };
        into.extend(texts.filter(of_words).map(str::to_owned));
    }
}

#[test]
fn every_heading_of_the_command_line_is_explained() {
    let mut words = BTreeSet::new();
    capitals(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut words);
    assert!(
        words.len() > 120 && words.contains("FULLEST QUEUES") && words.contains("FASTEST 99 %"),
        "{words:?}"
    );
    let known = explained();
    // `NO` is an answer on pages, and numbers follow `UC`: UC0 is explained.
    let others = ["NO", "UC"];
    let unknown: Vec<&String> = words
        .iter()
        .filter(|w| !known.contains(&w.to_lowercase()) && !others.contains(&w.as_str()))
        .collect();
    assert_eq!(unknown, Vec::<&String>::new());
}

#[test]
fn every_number_of_a_contest_is_explained() {
    let dir = folder("words");
    let toml = r#"topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = 1
[workload]
sizes = "ali-storage"
load = 30
time = "60us"
[hosts]
cable = "300ns"
recovery = "selective"
[metrics]
sample = "10us"
size_bins = ["10kB", "100kB"]
[[program]]
name = "ecmp"
[[program]]
name = "conweave"
params = { flows = 4096 }
"#;
    let file = dir.path().join("contest.toml");
    std::fs::write(&file, toml).unwrap();
    let value = json(&["--json", "run", text(&file)]);
    let known = explained();
    let mut unknown = BTreeSet::new();
    let mut count = 0;
    for program in value["contests"][0]["programs"].as_array().unwrap() {
        for name in program["numbers"].as_object().unwrap().keys() {
            count += 1;
            // Numbers of a size class or a workload have its name in front, counters their cell behind.
            let word = match name.split('.').collect::<Vec<_>>()[..] {
                ["counter" | "drop", word, ..] => word,
                [.., word] => word,
                [] => "",
            };
            if !known.contains(&word.to_lowercase()) {
                unknown.insert(name.clone());
            }
        }
    }
    assert!(count > 150, "{count}");
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn words_of_sonic_and_of_figures_are_explained() {
    let words = [
        "pfcwd",
        "alpha",
        "dynamic_th",
        "static_th",
        "xoff",
        "xon",
        "xon_offset",
        "wred_profile",
        "pg_lossless",
        "headroom pool",
        "headroom_pool",
        "buffer_pool",
        "BUFFER_PROFILE",
        "dscp_to_tc_map",
        "tc_to_pg_map",
        "TC_TO_QUEUE_MAP",
        "PFC_WD",
        "imbalance",
        "goodput",
        "OWN",
        "FASTEST",
        "tail drop",
        "tail-drop",
        "Queue Tail Drop",
        "p99",
        "own_p99",
        "undecided",
    ];
    for word in words {
        let shown = ok(&["explain", word]);
        assert!(shown.lines().count() >= 2, "{word}: {shown}");
    }
    assert_eq!(
        ok(&["explain", "dynamic_th"]),
        "dynamic_th (word of SONiC)\n  of BUFFER_PROFILE: exponent of alpha: n from -8 to 8 lets a group or queue hold 2^n x the free bytes \
         of its pool\n"
    );
    let shown = ok(&["explain", "tail drop"]);
    assert_eq!(
        shown,
        "tail drop (word)\n  a packet is dropped because its queue is at its limit: reason queue_tail_drop\n"
    );
    let (code, message) = refused(&["explain", "tail drops"]);
    assert!(code == 2 && message.contains("did you mean tail drop"), "{message}");
}
