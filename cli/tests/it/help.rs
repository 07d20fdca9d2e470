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
