//! A contest says which parts of a program do not work in its network, and how to change that.

use std::fs;
use std::process::Command;

const CONTEST: &str = r#"
name = "ten kilobytes to one host"
topology = "TOPOLOGY"
port_speed = "100G"
seeds = 1

[workload]
WORKLOAD
time = "10us"

[hosts]
cable = "500ns"
recovery = "go-back-n"
congestion = "none"

[[program]]
PROGRAM
"#;
const INCAST: &str = "kind = \"incast\"\nbytes = \"10KB\"\nfan_in = 2\nto = \"0\"";
const POISSON: &str = "bytes = \"10KB\"\nload = 20";
const CONWEAVE: &str = "name = \"conweave\"";

/// Returns the warnings of the only program.
fn warnings(topology: &str, workload: &str, program: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let text =
        CONTEST.replace("TOPOLOGY", topology).replace("WORKLOAD", workload).replace("PROGRAM", program);
    fs::write(dir.path().join("contest.toml"), text).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        let output =
            command.current_dir(dir.path()).args(["run", "contest.toml"]).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let value: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let list = value["contests"][0]["programs"][0]["warnings"].as_array().unwrap().clone();
    let list: Vec<String> = list.iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    if let Some(warning) = list.first() {
        // In lines that fit a terminal.
        let text = run(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("conweave: warning: {warning}")), "{text}");
    }
    list
}

#[test]
fn conweave_on_a_fat_tree_names_the_stage_that_needs_another_program() {
    let tree = "fat-tree:k=4,hosts=1,rate=100G,delay=500ns";
    let found = warnings(tree, POISSON, CONWEAVE);
    assert_eq!(found.len(), 1, "{found:?}");
    // Eight aggregation switches have two core switches each.
    assert!(found[0].starts_with("switch `agg-0-0` and 7 more: ConWeave's PathID"), "{found:?}");
    assert!(found[0].contains("one of the 2 next hops"), "{found:?}");
    // The roles that the warning suggests do not have it.
    assert!(found[0].ends_with("`roles = { leaf = \"conweave\", spine = \"ecmp\" }`"), "{found:?}");
    let roles = "label = \"conweave\"\nroles = { leaf = \"conweave\", spine = \"ecmp\" }";
    assert_eq!(warnings(tree, POISSON, roles), [""; 0]);
}

#[test]
fn conweave_with_flows_that_it_does_not_know_says_what_it_does_without_a_control_plane() {
    let leaf_spine = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns";
    assert_eq!(warnings(leaf_spine, POISSON, CONWEAVE), [""; 0]);
    let found = warnings(leaf_spine, INCAST, CONWEAVE);
    assert_eq!(found.len(), 1, "{found:?}");
    let (first, rest) = found[0].split_once(": ").unwrap();
    assert_eq!(
        first,
        "`conweave` sent digests (number `digests`) to a control plane, which a contest does not have"
    );
    assert!(rest.contains("take ECMP; raise `known`"), "{rest}");
}

#[test]
fn set_ups_that_cannot_work_are_told_with_their_numbers() {
    let narrow = "leaf-spine:leaves=2,spines=1,hosts=8,rate=100G,delay=500ns";
    let ecmp = "name = \"ecmp\"\nlabel = \"conweave\"";
    let found = warnings(narrow, "bytes = \"10KB\"\nload = 90\nwarm_up = \"1us\"", ecmp);
    assert_eq!(found.len(), 1, "{found:?}");
    // Two switches of eight hosts that send 90 % of 100 Gb/s, eight fifteenths of it to the other switch.
    assert!(
        found[0].contains("cables to other switches carry 100Gbps")
            && found[0].contains("the hosts of switch `leaf"),
        "{found:?}"
    );
    let reacts = |keys: &str| {
        let dir = tempfile::tempdir().unwrap();
        let text = CONTEST.replace("congestion = \"none\"", keys).replace("TOPOLOGY", narrow);
        let text = text.replace("WORKLOAD", POISSON).replace("PROGRAM", ecmp);
        fs::write(dir.path().join("c.toml"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        let output = command.current_dir(dir.path()).args(["run", "c.toml", "--json"]).output().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        value["contests"][0]["programs"][0]["warnings"].to_string()
    };
    let no_marks = "no switch has a buffer profile that marks";
    assert!(reacts("reaction = { preset = \"conweave\" }").contains(no_marks));
    assert!(reacts("congestion = \"dcqcn\"").contains(no_marks));
    assert!(!reacts("congestion = \"timely\"").contains(no_marks));
}
