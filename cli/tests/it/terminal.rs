//! Output on terminals and in pipes: `--quiet`, hints with the user's own arguments, numbers with k, M and G, graphs for Graphviz.

use crate::support::{folder, json, ok, sluice, text};
use std::fs;

#[test]
fn quiet_commands_print_nothing_but_errors() {
    let dir = folder("quiet");
    let file = dir.path().join("u.pcap");
    for args in [
        &["replay", "l3-ecmp", "--limit", "10", "--quiet"][..],
        &["-q", "report", "ecmp"],
        &["run", "--filter", "8.1", "-q"],
        &["gen", "udp", "--packets", "5", "-o", text(&file), "-q"],
        &["fuzz", "ecmp", "--cases", "2", "-q"],
        &["flowlets", "--timeouts", "50us", "-q"],
    ] {
        let out = sluice(args);
        assert_eq!((out.status.code(), out.stdout.len(), out.stderr.len()), (Some(0), 0, 0), "{args:?}");
    }
    let out = sluice(&["report", "l3-ecmp", "--set", "ipv4_routes=400k", "-q"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    let out = sluice(&["report", "l3-ecm", "-q"]);
    assert!(out.status.code() == Some(2) && !out.stderr.is_empty());
    assert_eq!(json(&["replay", "l3-ecmp", "--limit", "10", "-q", "--json"])["packets"]["in"], 10);
}

#[test]
fn without_a_command_one_screen_shows_fit_behaviour_and_network() {
    let said = ok(&[]);
    assert!(said.lines().count() <= 36, "{said}");
    assert!(
        said.starts_with("Does it fit?\n  l3-ecmp on tofino2: fits, 7 of 20 stages (ingress 7, egress 1)\n"),
        "{said}"
    );
    for part in [
        "\nDoes it behave?\n  803 packets from l3-ecmp.pcap (embedded sample) into port 0\n",
        "  packets: 803 in + 0 created = 719 out + 84 dropped + 0 absorbed + 0 held\n",
        "\nDoes it win in a network?\n",
        "\nholds  conweave.p99 < ecmp.p99  (",
        "\nnext:\n  sluice report l3-ecmp ",
    ] {
        assert!(said.contains(part), "{part}:\n{said}");
    }
    // The two programs have a row each, without an unknown number except at 99.9 %.
    let rows: Vec<&str> =
        said.lines().skip_while(|line| !line.starts_with("   SLOWDOWN")).skip(1).take(2).collect();
    let first = |row: &&str| row.split_whitespace().next().unwrap_or_default().to_owned();
    assert_eq!(rows.iter().map(first).collect::<Vec<_>>(), ["ecmp", "conweave"]);
    assert!(rows.iter().all(|row| row.matches(" - ").count() == 0), "{rows:?}");
    assert_eq!(json(&["--json"])["packets"]["in"], 803);
    let quiet = sluice(&["-q"]);
    assert_eq!((quiet.status.code(), quiet.stdout.len(), quiet.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn counts_take_thousands_millions_and_billions() {
    let json = |args: &[&str]| json(&[args, &["--json"]].concat());
    assert_eq!(json(&["replay", "l3-ecmp", "--limit", "0.5k"])["packets"]["in"], 500);
    assert_eq!(json(&["replay", "l3-ecmp", "--limit", "1M", "--queue-limit", "100k"])["packets"]["in"], 803);
    assert_eq!(json(&["report", "l3-ecmp", "--set", "ipv4_routes=20k"])["params"]["ipv4_routes"], "20000");
    assert_eq!(json(&["polarization", "--flows", "1.5k"])["schemes"][0]["flows"], 1500);
    assert_eq!(json(&["fuzz", "ecmp", "--cases", "0.002k"])["cases"], 2);
}

#[test]
fn hints_repeat_the_arguments_of_the_user() {
    let dir = folder("hints");
    let file = dir.path().join("my trace.pcap");
    ok(&["gen", "udp", "--packets", "5", "-o", text(&file)]);
    let input = format!("0@{}", text(&file));
    let said = ok(&["replay", "l3-ecmp", "-i", &input, "--set", "ipv4_routes=1k", "--coverage"]);
    let own = format!("l3-ecmp -i '{input}' --set ipv4_routes=1k");
    for hint in [
        format!("sluice replay {own} --trace --limit 3\n"),
        format!("sluice replay {own} --coverage -o out\n"),
        "sluice report l3-ecmp --set ipv4_routes=1k    stages".to_owned(),
    ] {
        assert!(said.contains(&hint), "{hint}:\n{said}");
    }
}

#[test]
fn results_of_scenarios_come_one_by_one_in_columns_of_known_width() {
    let said = ok(&["run", "--filter", "8.1"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "   ID   PROFILE  RESULT   CHECKS  LAST CHECK");
    assert!(lines[1].starts_with("   8.1  a        pass         "), "{}", lines[1]);
}

#[test]
fn a_graph_for_graphviz_has_every_table_and_state() {
    let dir = folder("dot");
    let file = dir.path().join("g.dot");
    ok(&["report", "l3-ecmp", "--dot", text(&file), "-q"]);
    let graph = fs::read_to_string(&file).unwrap();
    let report = json(&["report", "l3-ecmp", "--json"]);
    for table in report["tables"].as_array().unwrap() {
        assert!(graph.contains(&format!("[label=\"{}\"", table["name"].as_str().unwrap())), "{table}");
    }
    for part in
        ["digraph \"l3-ecmp\" {", "cluster_ingress_parser", "label=\"ingress, stage 0\"", "style=bold"]
    {
        assert!(graph.contains(part), "{part}");
    }
    // Braces are balanced, and every edge joins nodes that are there.
    assert_eq!(graph.matches('{').count(), graph.matches('}').count());
    let nodes: Vec<&str> = graph.lines().filter(|l| l.starts_with("    ") && l.contains("[label=")).collect();
    let is_node = |name: &str| nodes.iter().any(|line| line.trim_start().starts_with(&format!("{name} [")));
    for edge in graph.lines().filter(|line| line.contains(" -> ")) {
        let words: Vec<&str> = edge.split_whitespace().collect();
        assert!(is_node(words[0]) && is_node(words[2].trim_end_matches(';')), "{edge}");
    }
}

#[test]
fn a_corpus_is_kept_merged_and_minimised() {
    let dir = folder("corpus");
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    let fuzz = |more: &[&str]| ok(&[&["fuzz", "ecmp", "--jobs", "1"][..], more].concat());
    let names = |dir: &std::path::Path| {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let said = fuzz(&["--cases", "64", "--corpus", text(&first)]);
    let kept = names(&first);
    assert!(
        !kept.is_empty() && said.contains(&format!("0 inputs sent first; {} added", kept.len())),
        "{said}"
    );
    // A second hunt sends them again, and finds what they find.
    let said = fuzz(&["--cases", "1", "--corpus", text(&first)]);
    assert!(said.contains(&format!("{} inputs sent first; 0 added, 0 removed", kept.len())), "{said}");
    fuzz(&["--corpus", text(&second), "--merge", text(&first)]);
    assert_eq!(names(&second), kept);
    for name in &kept {
        assert_eq!(fs::read(first.join(name)).unwrap(), fs::read(second.join(name)).unwrap());
    }
    // An input without anything new is removed, and coverage stays.
    let coverage = |more: &[&str]| {
        let said = fuzz(&[&["--corpus", text(&second), "--merge", text(&first)], more].concat());
        said.lines().filter(|line| line.contains(" of ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let copy = fs::read_to_string(first.join(&kept[0])).unwrap() + "# the same\n";
    fs::write(second.join("0000000000000000.input"), copy).unwrap();
    let before = coverage(&[]);
    assert_eq!(coverage(&["--minimise"]), before);
    assert!(names(&second).len() <= kept.len(), "{:?}", names(&second));
    let out = sluice(&["fuzz", "wcmp", "--cases", "1", "--corpus", text(&first)]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("is left out: it is an input for the program `ecmp`"), "{said}");
    // Inputs whose packets are out of order, too late or of no piece are left out, with the line.
    let third = dir.path().join("third");
    fs::create_dir(&third).unwrap();
    for (lines, mistake) in [
        ("pieces 0\n9 ns dev:8 0 00\n8 ns dev:8 0 00\n", "line 5: the packet is earlier"),
        ("pieces 0\n18446744073709551615 ns dev:8 0 00\n", "line 4: the packet comes later than an hour"),
        ("pieces 0 0\n8 ns dev:8 1 00\n8 ns dev:8 0 00\n", "line 5: the number of the piece is below"),
        ("pieces 0\n8 ns dev:8 1 00\n", "line 4: the line `pieces` has no gap"),
        ("pieces 3600000000001\n", "line 3: a gap is longer than an hour"),
    ] {
        fs::write(third.join("a.input"), format!("sluice.input/1\nprogram ecmp\n{lines}")).unwrap();
        let out = sluice(&["fuzz", "ecmp", "--cases", "1", "--jobs", "1", "--corpus", text(&third)]);
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(said.contains(&format!("a.input is left out: {mistake}")), "{mistake}: {said}");
    }
}
