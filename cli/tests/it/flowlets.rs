//! `sluice flowlets` as users run it.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;

fn sluice(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("sluice").unwrap().args(args).assert()
}

fn json(args: &[&str]) -> Value {
    let out = sluice(&[args, &["--json"]].concat()).success().get_output().stdout.clone();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_sample_has_the_flowlets_that_it_was_made_with() {
    let report = json(&["flowlets", "--timeouts", "1us,50us,100us,500us"]);
    assert_eq!(report["schema"], "sluice.flowlets/1");
    let census = &report["census"];
    assert_eq!((census["flows"].as_u64(), census["frames"].as_u64()), (Some(49), Some(1_080)));
    let of = |n: usize| census["timeouts"][n]["flowlets"].as_u64().unwrap();
    // First timeout: each packet is a flowlet. Second: five bursts of 48 flows, and the flow that never pauses. Third: gaps
    // of 90, 94 and 98 us and the 2 us after a burst are at most 100 us. Fourth: no gap is longer than 280 us.
    assert_eq!([of(0), of(1), of(2), of(3)], [1_080, 241, 241 - 3 * 4, 49]);
}

#[test]
fn programs_deliver_in_the_order_that_their_choice_allows() {
    let report =
        json(&["flowlets", "--through", "letflow,spray,drb", "--timeouts", "500ns,50us", "--skew", "3us"]);
    let trials = report["order"]["trials"].as_array().unwrap();
    let reordered: Vec<u64> = trials.iter().map(|t| t["reordered"].as_u64().unwrap()).collect();
    assert_eq!(trials.len(), 4);
    // A timeout below the spread of the paths reorders as random packets do; one above it does not.
    assert!(
        reordered[0] > 100 && reordered[1] == 0 && reordered[2] > 100 && reordered[3] > 100,
        "{reordered:?}"
    );
    assert!(trials.iter().all(|t| t["packets"] == 1_080 && t["lost"] == 0));
}

#[test]
fn output_is_whole_listed_and_the_same_again() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["flowlets", "--through", "letflow,spray", "--timeouts", "2us..20us"];
    let elastic = ["--elastic", "40G,20G", "--flows", "10", "--packets", "2k"];
    for name in ["a", "b"] {
        let path = dir.path().join(name);
        sluice(&[&args[..], &elastic, &["-o", path.to_str().unwrap()]].concat()).success();
    }
    let mut names: Vec<String> = fs::read_dir(dir.path().join("a"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let wanted =
        ["elastic.csv", "elastic.svg", "flowlets.csv", "flowlets.json", "flowlets.svg", "manifest.json"];
    assert_eq!(names, [&wanted[..], &["order.csv", "order.svg"]].concat());
    for name in &names {
        let read = |run: &str| fs::read(dir.path().join(run).join(name)).unwrap();
        assert_eq!(read("a"), read("b"), "{name}");
    }
    let csv = fs::read_to_string(dir.path().join("a/flowlets.csv")).unwrap();
    let columns = csv.lines().next().unwrap().split(',').count();
    assert_eq!(csv.lines().count(), 1 + 4);
    assert!(csv.lines().all(|l| l.split(',').count() == columns), "{csv}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (args, said) in [
        (&["--timeouts", "5us..1us"][..], "FROM must be at most TO"),
        (&["--timeouts", "0ns"], "would end a flowlet at every packet"),
        (&["--elastic", "40G"], "2 to 8"),
        (&["--elastic", "40G,20G", "--coin", "1,0"], "a path has weight 0 or rate 0"),
        (&["--through", "letflux"], "did you mean `letflow`"),
        (&["--through", "letflow,spray", "--timeouts", "9us", "--set", "frob=1"], "unknown parameter `frob`"),
        (&["-i", "/nowhere.pcap"], "nowhere.pcap"),
    ] {
        let assert = sluice(&[&["flowlets"], args].concat()).code(2);
        let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(text.contains(said) && assert.get_output().stdout.is_empty(), "{args:?}: {text}");
    }
}

#[test]
fn a_dead_uplink_is_left_by_changes_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let changes = dir.path().join("changes.txt");
    let dead = "@600us port_down 136\n";
    let live = "@600us act_prof_member_down uplinks 0 1\n@600us act_prof_member_down uplinks 8 2\n\
                @600us table_add generation set_generation 1 => 131072\n\
                @600us table_add generation set_generation 2 => 131072\n\
                @890us port_up 136\n@900us act_prof_member_up uplinks 0 1\n";
    let dropped = |text: &str| {
        fs::write(&changes, text).unwrap();
        let report = json(&["replay", "letflow", "--changes", changes.to_str().unwrap()]);
        report["packets"]["dropped"].as_u64().unwrap()
    };
    assert!(dropped(dead) > 0);
    assert_eq!(dropped(&[dead, live].concat()), 0);
}
