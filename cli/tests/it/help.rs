//! `--help`: lists that follow the code, and headings that hold their own flags only.

use crate::support::ok;
use sluice_place::Optimisation;

/// Returns the long flags below a heading of a help text.
fn flags(help: &str, heading: &str) -> Vec<String> {
    let rest = help.lines().skip_while(|l| *l != heading).skip(1);
    let own = rest.take_while(|l| l.is_empty() || l.starts_with(' '));
    let flag = |l: &str| {
        l.trim_start().strip_prefix("--").map(|f| f.split([' ', '[', '=']).next().unwrap().to_owned())
    };
    own.filter(|l| l.trim_start().starts_with('-')).filter_map(flag).collect()
}

#[test]
fn headings_hold_their_own_flags() {
    for command in ["replay", "report"] {
        let help = ok(&[command, "--help"]);
        assert_eq!(flags(&help, "Placement:"), ["objective", "without"], "{command}");
    }
    assert_eq!(flags(&ok(&["replay", "--help"]), "Timelines:"), ["timeline", "timeline-every"]);
}

#[test]
fn help_names_every_optimisation() {
    let help = ok(&["report", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, list) = help.split_once("what each saves: ").unwrap();
    for optimisation in Optimisation::ALL {
        assert!(list.contains(optimisation.name()), "{optimisation}");
    }
    assert!(ok(&["replay", "--help"]).contains("Seed of every random number"));
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let dir = tempfile::tempdir().unwrap();
    ok(&["man", "-o", dir.path().to_str().unwrap()]);
    let help = ok(&["--help"]);
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(commands.contains(&"replay"), "{commands:?}");
    let completions = ok(&["completions", "bash"]);
    for command in commands.into_iter().filter(|command| *command != "help") {
        let page = std::fs::read_to_string(dir.path().join(format!("sluice-{command}.1"))).unwrap();
        assert!(page.contains(&format!("sluice\\-{command} \\- ")), "{page}");
        assert!(completions.contains(&format!("cmd=\"sluice__subcmd__{command}\"")), "{command}");
    }
    assert!(std::fs::read_to_string(dir.path().join("sluice.1")).unwrap().contains(".TH sluice 1"));
}

#[test]
fn the_doctor_says_what_the_binary_has() {
    let said = ok(&["doctor"]);
    assert!(said.starts_with(&format!("sluice {} for ", env!("CARGO_PKG_VERSION"))), "{said}");
    let value: serde_json::Value = serde_json::from_str(&ok(&["doctor", "--json"])).unwrap();
    assert_eq!((&value["chips"][0]["stages"], &value["chips"][1]["stages"]), (&12.into(), &20.into()));
    let parquet = cfg!(feature = "parquet");
    assert_eq!(value["features"]["parquet"], parquet);
    assert!(said.contains("build with --features parquet") != parquet, "{said}");
}
