//! Rows 64 to 80: profiles that are refused, with all problems at once and the sums.

use crate::buffer::support::{CONFIG_A, changed, ports};
use sluice_asic::tm::buffer::{BufferFile, Check, Problems};

fn problems(changes: &[(&str, &str)]) -> Problems {
    let file = BufferFile::parse("bad", &changed(CONFIG_A, changes)).unwrap();
    file.resolve(&ports(4, 100)).unwrap_err()
}

/// Returns the checks that fail, and true if the text has all of these words.
fn refused(changes: &[(&str, &str)], checks: &[Check], words: &[&str]) {
    let found = problems(changes);
    let kinds: Vec<Check> = found.list.iter().map(|p| p.check).collect();
    assert_eq!(kinds, checks, "{found}");
    let text = found.to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{word} is not in:\n{text}"));
}

const ECN: &str = "\n[[ecn]]\nname = \"e\"\ncurve = [{ kmin = \"9B\", kmax = \"8B\", pmax = 101 }]\n";

#[test]
fn each_by_itself() {
    // 64: 9500 + 600 + 80 of 10,000.
    refused(
        &[("size = \"2304000B\"", "size = \"2432000B\"")],
        &[Check::OverCommit],
        &["10180", "180", "too many"],
    );
    // 65.
    refused(
        &[("class = \"lossless\", size = \"2560000B\"", "class = \"lossless\", size = \"2560001B\"")],
        &[Check::PoolSize],
        &["2560001B", "2560KB"],
    );
    // 66.
    refused(
        &[("xoff = \"51200B\"", "xoff = \"204800B\"")],
        &[Check::HeadroomCap],
        &["800 cells", "600 cells"],
    );
    // 67.
    refused(&[("xon = \"2560B\"", "xon = \"288256B\"")], &[Check::Xon], &["1126", "1125"]);
    refused(
        &[("xon_offset = \"5120B\"", "xon_offset = \"1280000B\"")],
        &[Check::Xon],
        &["5000 cells", "1125"],
    );
    // 68: private headroom whose size holds xoff, but not xon too.
    let private = [(", xoff = \"153600B\"", ""), ("size = \"2560B\"", "size = \"52000B\"")];
    refused(&private, &[Check::PrivateSize, Check::OverCommit], &["53760B", "52KB"]);
    refused(
        &[(", xoff = \"153600B\"", "")],
        &[Check::Value, Check::OverCommit],
        &["size 2560B is less than xoff 51200B"],
    );
    // 69.
    refused(&[("dynamic_th = -3", "dynamic_th = 8")], &[Check::Threshold], &["-8 to 7"]);
    refused(&[("dynamic_th = -3", "dynamic_th = -9")], &[Check::Threshold], &["-9"]);
    // 70.
    let larger = [("size = \"2048000B\"", "size = \"2304001B\"")];
    refused(&larger, &[Check::LossyPool], &["2304001B", "2304KB"]);
    // 71.
    let lossy = [(
        "name = \"egress_lossless\", pool = \"egress_lossless_pool\"",
        "name = \"egress_lossless\", pool = \"egress_lossy_pool\"",
    )];
    refused(&lossy, &[Check::Class, Check::Class], &["lossless at ingress", "lossy at egress"]);
    refused(&[("pfc_enable = \"3-4\"", "pfc_enable = \"3\"")], &[Check::Class], &["0b00010000"]);
    // 72.
    let both = "dynamic_th = -2, static_th = \"1B\"";
    refused(&[("dynamic_th = -2", both)], &[Check::Threshold], &["dynamic_th and static_th", "exactly one"]);
    let neither = [("size = \"2048B\", dynamic_th = -2", "size = \"2048B\"")];
    refused(&neither, &[Check::Threshold], &["none of"]);
    // 77.
    let zero = problems(&[("cell = \"256B\"", "cell = \"0B\"")]);
    assert!(zero.list.iter().any(|p| p.place == "cell"), "{zero}");
}

/// The end of Config A with further tables after it.
fn with(tail: &str) -> Problems {
    let file = BufferFile::parse("bad", &format!("{CONFIG_A}{tail}")).unwrap();
    file.resolve(&ports(4, 100)).unwrap_err()
}

#[test]
fn row_74_marking() {
    let found = with(ECN);
    assert_eq!(found.list.iter().map(|p| p.check).collect::<Vec<_>>(), [Check::Ecn, Check::Ecn], "{found}");
    let fine = format!(
        "{CONFIG_A}\n[[ecn]]\nname = \"e\"\ncurve = [{{ kmin = \"8B\", kmax = \"9B\", pmax = 0 }}]\n"
    );
    assert!(BufferFile::parse("fine", &fine).unwrap().resolve(&ports(4, 100)).is_ok());
}

#[test]
fn row_75_watchdogs() {
    let dog = |detection: &str, restoration: &str, poll: &str, action: &str| {
        let tail = format!(
            "\n[watchdog]\ndetection_time = {detection}\nrestoration_time = {restoration}\npoll_interval = {poll}\naction = \"{action}\"\n"
        );
        let file = BufferFile::parse("dog", &format!("{CONFIG_A}{tail}")).unwrap();
        match file.resolve(&ports(4, 100)) {
            Ok(_) => Vec::new(),
            Err(found) => found.list.iter().map(|p| p.place.clone()).collect(),
        }
    };
    let none: [&str; 0] = [];
    assert_eq!(dog("200", "\"200ms\"", "200", "drop"), none);
    for bad in ["99", "5001", "40", "\"400a\"", "50000000"] {
        assert_eq!(dog(bad, "200", "100", "drop"), ["watchdog.detection_time"], "{bad}");
    }
    for bad in ["60001", "4000000", "50"] {
        assert_eq!(dog("200", bad, "100", "drop"), ["watchdog.restoration_time"], "{bad}");
    }
    assert_eq!(dog("1000", "1000", "1001", "drop"), ["watchdog.poll_interval"]);
    assert_eq!(dog("200", "200", "400", "drop"), ["watchdog.detection_time", "watchdog.restoration_time"]);
    assert_eq!(dog("200", "200", "200", "explode"), ["watchdog.action"]);
}

#[test]
fn row_79_maps() {
    let map = |text: &str| {
        let file = BufferFile::parse("map", &format!("{CONFIG_A}\n[maps]\n{text}\n")).unwrap();
        match file.resolve(&ports(4, 100)) {
            Ok(_) => String::new(),
            Err(found) => found.to_string(),
        }
    };
    assert_eq!(map("dscp_to_tc = { \"3\" = 3, \"4\" = 4, others = 1 }"), "");
    assert!(map("dscp_to_tc = { \"3-5\" = 3, \"5\" = 4, others = 1 }").contains("5 is there twice"));
    assert!(map("dscp_to_tc = { \"3\" = 8, others = 1 }").contains("traffic class 8"));
    assert!(map("dscp_to_tc = { \"3\" = 3 }").contains("0 leads nowhere"));
    assert!(map("dscp_to_tc = { \"64\" = 3, others = 1 }").contains("64; numbers are 0 to 63"));
    assert!(map("tc_to_pg = { \"3\" = 3, \"4\" = 8, others = 0 }").contains("priority group 8"));
    assert!(map("tc_to_queue = { \"0\" = 9, others = 1 }").contains("leads to queue 9"));
}

/// Everything wrong at once is one diagnostic, with the sums.
#[test]
fn all_together() {
    let changes = [
        ("size = \"2304000B\"", "size = \"2432000B\""),
        ("class = \"lossless\", size = \"2560000B\"", "class = \"lossless\", size = \"2560001B\""),
        (
            "xoff = \"51200B\", xon = \"2560B\", xon_offset = \"5120B\"",
            "xoff = \"204800B\", xon = \"1280000B\", xon_offset = \"1280000B\"",
        ),
        ("size = \"2048000B\"", "size = \"2459000B\""),
        ("pfc_enable = \"3-4\"", "pfc_enable = \"3\""),
        (
            "{ name = \"egress_lossy\", pool = \"egress_lossy_pool\", size = \"2048B\", dynamic_th = -2 }",
            "{ name = \"egress_lossy\", pool = \"egress_lossy_pool\", size = \"2048B\", dynamic_th = 9 }, \
             { name = \"both\", pool = \"egress_lossy_pool\", dynamic_th = 0, static_th = \"1B\" }",
        ),
        ("queue = [", "queue = [{ queues = \"7\", profile = \"both\" }, "),
        ("cell = \"256B\"", "partitions = 0\ncell = \"256B\""),
    ];
    let tail = format!(
        "{ECN}\n[watchdog]\ndetection_time = 99\nrestoration_time = 60001\npoll_interval = 1001\naction = \"x\"\n\
         [maps]\ndscp_to_tc = {{ \"3-4\" = 3, \"4\" = 8, others = 1 }}\n"
    );
    let text = changed(CONFIG_A, &changes) + &tail;
    let found = BufferFile::parse("bad", &text).unwrap().resolve(&ports(4, 100)).unwrap_err();
    let text = found.to_string();
    let checks = [
        Check::OverCommit,
        Check::PoolSize,
        Check::HeadroomCap,
        Check::Xon,
        Check::LossyPool,
        Check::Class,
        Check::Threshold,
        Check::Map,
        Check::Ecn,
        Check::Watchdog,
        Check::Value,
    ];
    for check in checks {
        assert!(found.list.iter().any(|p| p.check == check), "{check:?} is not in:\n{text}");
    }
    assert!(text.contains("the sums:") && text.contains("9500 cells") && text.contains("too many"), "{text}");
}

#[test]
fn what_cannot_be_read_names_its_line() {
    let e = BufferFile::parse("a.toml", &changed(CONFIG_A, &[("doc = ", "dock = ")])).unwrap_err();
    assert_eq!((e.origin.as_str(), e.line), ("a.toml", 3));
    assert!(e.to_string().contains("dock"), "{e}");
    let e = BufferFile::parse("a.toml", &changed(CONFIG_A, &[("\"256B\"", "\"256 apples\"")])).unwrap_err();
    assert_eq!(e.line, 5);
    let unknown = problems(&[("cell = ", "accept = [\"everything\"]\ncell = ")]);
    assert!(unknown.to_string().contains("over-commit, headroom-cap"), "{unknown}");
    let lost = problems(&[("profile = \"egress_lossy\"", "profile = \"nowhere\"")]);
    assert!(lost.to_string().contains("no profile is called `nowhere`"), "{lost}");
}
