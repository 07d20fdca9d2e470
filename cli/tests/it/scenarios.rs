//! `sluice run`: every row of the model page (model: buffer §8) has a scenario, all scenarios pass, `docs/scenarios.md`
//! lists their results, and wrong files are refused with their line.

use crate::support::*;
use expect_test::expect_file;
use serde_json::Value;
use std::collections::BTreeSet;

/// Names of the test classes of the catalogue (model: buffer §6.2).
const CATALOGUE: [&str; 32] = [
    "PFCtest",
    "PFCXonTest",
    "HdrmPoolSizeTest",
    "HdrmPoolSizeTest_withDynamicBufferCacl",
    "SharedResSizeTest",
    "LossyQueueTest",
    "LossyQueueVoqTest",
    "LosslessVoq",
    "PGSharedWatermarkTest",
    "PGHeadroomWatermarkTest",
    "PGDropTest",
    "QSharedWatermarkTest",
    "QWatermarkAllPortTest",
    "BufferPoolWatermarkTest",
    "PgMinThresholdTest",
    "XonHysteresisTest",
    "PfcStormTestWithSharedHeadroom",
    "DscpMappingPB",
    "Dot1pToQueueMapping",
    "Dot1pToPgMapping",
    "DscpToPgMapping",
    "TunnelDscpToPgMapping",
    "WRRtest",
    "DscpEcnSend",
    "PCBBPFCTest",
    "VoqWatchdogTest",
    "OqWatchdogTest",
    "TrafficSanityTest",
    "FullMeshTrafficSanity",
    "PacketTransmit",
    "ARPpopulate",
    "ReleaseAllPorts",
];

/// Golden vectors (model: buffer §1.5, §1.6).
const GOLDEN: [&str; 12] = [
    "1.5.th",
    "1.5.td2",
    "1.5.th2-t0",
    "1.5.th2-t1",
    "1.5.th2-alpha1",
    "1.5.lossy-th",
    "1.5.lossy-td2",
    "1.5.lossy-th2",
    "1.5.xon",
    "1.6.th",
    "1.6.th2",
    "1.6.th2-19",
];

/// Rows without a scenario with their number: rows 11 and 12 are the golden vectors (model: buffer §8.1).
const STOOD_FOR: [u32; 2] = [11, 12];

/// Returns all ids that must exist.
fn wanted() -> Vec<String> {
    let rows = (1..=80).filter(|row| !STOOD_FOR.contains(row)).map(|row| format!("8.{row}"));
    let lessons = (1..=14).map(|n| format!("L{n}"));
    let plans = ["ecn", "pfc-lossless", "pfc-lossy", "global-pause", "headroom-response", "congestion-105"];
    let plans = plans.iter().chain(&["congestion-lossy", "congestion-mix", "throttle"]);
    let named = CATALOGUE.iter().chain(&GOLDEN).map(|id| (*id).to_owned());
    rows.chain(lessons).chain(plans.map(|id| format!("plan.{id}"))).chain(named).collect()
}

#[test]
fn every_row_of_the_model_page_passes_on_its_profiles() {
    let dir = folder("scenarios");
    let out = dir.path().join("out");
    let run = json(&["--json", "run", "-o", text(&out)]);
    assert_eq!((&run["schema"], &run["failed"]), (&"sluice.run/1".into(), &0.into()));
    let scenarios = run["scenarios"].as_array().unwrap();
    let ids: BTreeSet<&str> = scenarios.iter().map(|s| s["id"].as_str().unwrap()).collect();
    let missing: Vec<String> = wanted().into_iter().filter(|id| !ids.contains(id.as_str())).collect();
    assert_eq!(missing, Vec::<String>::new(), "rows without a scenario");
    for scenario in scenarios {
        let checks = scenario["checks"].as_array().unwrap();
        match scenario["not_applicable"].as_str() {
            // A scenario that is not run gives a reason; only rows about hosts are not run.
            Some(reason) => assert!(reason.contains(" host") && scenario["passed"].is_null(), "{scenario}"),
            None => {
                assert!(!checks.is_empty() && scenario["passed"] == true, "{scenario}");
                for key in ["expected", "actual", "unit", "source", "profile"] {
                    assert!(scenario[key].is_string(), "{key}: {scenario}");
                }
            }
        }
    }
    for profile in ["a", "td2", "th", "th2", "tofino", "tofino2", "voq"] {
        let n = scenarios.iter().filter(|s| s["profile"] == profile).count();
        assert!(n >= 15, "{profile}: {n}");
    }
    let page = std::fs::read_to_string(out.join("run.md")).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scenarios.md");
    expect_file![path].assert_eq(&page);
}

/// Writes a scenario file with these lines after its head, and returns its path.
fn file(dir: &std::path::Path, rest: &str) -> String {
    let head = "[[scenario]]\nid = \"mine\"\nsource = \"here\"\ntitle = \"mine\"\ndevice = { profiles = [\"a\"], ports = 4 }\n";
    let path = dir.join("mine.toml");
    std::fs::write(&path, format!("{head}{rest}")).unwrap();
    text(&path).to_owned()
}

#[test]
fn what_fails_says_what_differs() {
    let dir = folder("scenarios-fail");
    let steps = "steps = [\n  { block = 1 },\n  { send = { from = 0, to = 1, count = 1211 } },\n  \
                 { expect = { what = \"pg.drops(0)\", is = 2 } },\n]\n";
    let path = file(dir.path(), steps);
    let found = sluice(&["run", &path]);
    assert_eq!(found.status.code(), Some(1));
    let printed = String::from_utf8(found.stdout).unwrap();
    assert!(
        printed.contains("mine.toml:9: pg.drops(0)") && printed.contains("expected 2 packets"),
        "{printed}"
    );
    let found = sluice(&["--json", "run", &path]);
    assert_eq!(found.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&found.stdout).unwrap();
    let one = &value["scenarios"][0];
    assert_eq!((&one["passed"], &one["expected"], &one["actual"]), (&false.into(), &"2".into(), &"1".into()));
    // A step that cannot be carried out fails its scenario: exit code 1, with the step's line.
    let path =
        file(dir.path(), "steps = [{ send = { from = 9, to = 1 } }, { expect = { what = \"total\" } }]\n");
    let found = sluice(&["run", &path]);
    let printed = String::from_utf8(found.stdout).unwrap();
    assert!(printed.contains("line 6: there is no port 9; ports are 0 to 3"), "{printed}");
    let path = file(dir.path(), "steps = [{ expect = { what = \"pg.shard(0)\", is = 0 } }]\n");
    let printed = String::from_utf8(sluice(&["run", &path]).stdout).unwrap();
    assert!(printed.contains("unknown name `pg.shard`; did you mean `pg.shared`?"), "{printed}");
}

#[test]
fn packets_that_never_depart_are_not_waited_for() {
    let dir = folder("scenarios-depart");
    // The storm never ends, because no time of restoration is set: the watchdog polls for ever.
    let never = r#"
        [[scenario]]
        id = "mine"
        source = "here"
        title = "mine"
        device = { profiles = ["a"], ports = 4, override = { watchdog = { action = "forward", detection_time = 200, poll_interval = 200 } } }
        steps = [
          { block = 1 },
          { send = { from = 0, to = 1, count = 10 } },
          { start = { from = 1, pfc = { priorities = [3], quanta = 65535 }, gap = "300us", lasts = "600ms" } },
          { wait = "700ms" },
          { expect = { what = "queue.stormed(1)", is = 1 } },
          { depart = { port = 1, packets = 11 } },
          { expect = { what = "total", is = 0 } },
        ]
    "#;
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, never).unwrap();
    let found = sluice(&["run", text(&path)]);
    let printed = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.status.code(), Some(1), "{printed}");
    assert!(printed.contains("port 1 has sent 10 of 11 packets within 10s"), "{printed}");
}

#[test]
fn a_host_without_a_device_says_what_is_wrong() {
    let dir = folder("scenarios-host");
    let run = |host: &str, steps: &str| {
        let path = dir.path().join("host.toml");
        let head = "[[scenario]]\nid = \"h\"\nsource = \"s\"\ntitle = \"t\"\n";
        std::fs::write(&path, format!("{head}host = {{ {host} }}\nsteps = [{steps}]\n")).unwrap();
        let found = sluice(&["run", text(&path)]);
        (found.status.code(), String::from_utf8(found.stdout).unwrap())
    };
    let point = "reaction-point = { form = \"mellanox\", line = \"10Gbps\"";
    let one = "{ notify = 1 }, { wait = \"5us\" }, { expect = { what = \"rp.rate\", is = 5000000 } }";
    assert_eq!(run(&format!("{point} }}"), one).0, Some(0));
    let wrong = [
        (format!("{point}, rate_timer = \"0us\" }}"), one, "`rate_timer` of the host is 0"),
        (format!("{point}, one_by_g = 0.5 }}"), one, "one_by_g at least 1"),
        (
            format!("{point} }}"),
            "{ block = 1 }, { expect = { what = \"rp.rate\" } }",
            "this step is for a device",
        ),
        ("notification-point = {}".to_owned(), one, "`notify` is for a reaction point"),
        (format!("{point} }}"), "{ expect = { what = \"rp.rat\" } }", "did you mean `rp.rate`?"),
    ];
    for (host, steps, wanted) in wrong {
        let (code, printed) = run(&host, steps);
        assert!(code == Some(1) && printed.contains(wanted), "{wanted}: {printed}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let dir = folder("scenarios-refused");
    let refused = |rest: &str| {
        let path = file(dir.path(), rest);
        let found = sluice(&["run", &path]);
        assert_eq!((found.status.code(), found.stdout.len()), (Some(2), 0));
        String::from_utf8(found.stderr).unwrap()
    };
    let found = refused("steps = [{ blok = 1 }]\n");
    assert!(found.contains("mine.toml:6: unknown word `blok`; did you mean `block`?"), "{found}");
    assert!(refused("steps = [{ block = 1 }]\n").contains("asserts nothing"));
    assert!(refused("steps = [{ wait = \"5 apples\" }]\n").contains("mine.toml:6: "));
    let found = sluice(&["run", "--filter", "8.999"]);
    assert_eq!(found.status.code(), Some(2));
    let list = sluice(&["run", "--list", "--filter", "8.34"]);
    let printed = String::from_utf8(list.stdout).unwrap();
    assert!(printed.starts_with("8.34 ") && printed.contains("8.34-small"), "{printed}");
}
