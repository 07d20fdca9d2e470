//! Tables of SONiC as a profile: what they become, what is said of the rest, and mistakes.

use sluice_asic::port::FrontPort;
use sluice_asic::port_names::PortNames;
use sluice_asic::tm::buffer::{BufferFile, PortInfo, Rules, SonicText};
use sluice_asic::tm::watchdog::WatchdogAction;
use sluice_asic::units::{BitRate, Bytes, Cells, Duration};

const EXAMPLE: &str = include_str!("../../../sonic/config_db.json");
const LOOKUP: &str = include_str!("../../../sonic/pg_profile_lookup.ini");

fn memory() -> BufferFile {
    BufferFile::of_memory("test", Rules::Sai, Bytes(200), Bytes(60_000_000))
}

fn convert(texts: &[(&str, &str)]) -> Result<BufferFile, Vec<String>> {
    let texts: Vec<SonicText<'_>> = texts.iter().map(|(name, text)| SonicText { name, text }).collect();
    BufferFile::from_sonic(&texts, &memory(), None)
        .map_err(|problems| problems.0.iter().map(ToString::to_string).collect())
}

/// Returns front-panel ports of 100G, and one internal port.
fn ports(n: usize) -> Vec<PortInfo> {
    let port = |i: usize| PortInfo {
        name: i.to_string(),
        speed: BitRate::from_gbps(100),
        queues: 16,
        internal: i == n,
    };
    (0..=n).map(port).collect()
}

#[test]
fn the_example_becomes_groups_queues_and_times() {
    let file = convert(&[("c.json", EXAMPLE), ("p.ini", LOOKUP)]).unwrap();
    let config = file.resolve(&ports(10)).unwrap_or_else(|problems| panic!("{problems}"));
    // Sizes of pools in cells of 200 B: 4,000,000 B, and 1,000,000 B of headroom.
    assert_eq!((config.ingress_pools[0].size, config.headroom_pools[0].size), (Cells(20_000), Cells(5_000)));
    // 100G over 5 m has xoff 100352 B, over 40 m 111616 B; xon and offset are 2288 B; the offset rounds up.
    for (port, cells) in [(0, 501), (5, 501), (6, 558), (7, 558)] {
        let group = config.ports[port].groups[3].unwrap();
        let lossless = group.lossless.unwrap();
        assert_eq!(
            (lossless.cap, lossless.xon, lossless.xon_offset),
            (Cells(cells), Cells(11), Cells(12)),
            "{port}"
        );
        assert_eq!((lossless.priorities, group.reserved), (1 << 3, Cells(7)));
        // dynamic_th 0: all that is free.
        assert_eq!(group.threshold.at(1000), 1000);
    }
    // Port 8 and the internal port are in no table: lossy, with the profile of group 0, whose alpha is 8.
    for port in [8, 10] {
        let group = config.ports[port].groups[3].unwrap();
        assert!(group.lossless.is_none() && group.threshold.at(10) == 80);
    }
    let queue = &config.ports[0].queues[3];
    assert!(queue.lossless && queue.ecn.is_some() && queue.priority == Some(3));
    let lossy = &config.ports[0].queues[9];
    assert!(!lossy.lossless && lossy.threshold.at(10) == 20 && lossy.reserved == Cells(0));
    assert_eq!(config.ports[0].queues[0].reserved, Cells(8));
    assert_eq!(config.maps.dscp_to_tc[46], 5);
    assert_eq!(config.ports[0].pfc_receive, 0b11000);
    let watchdog = config.watchdog.unwrap();
    assert_eq!((watchdog.detection, watchdog.poll), (Duration::from_millis(400), Duration::from_millis(200)));
    assert_eq!(
        (watchdog.restoration, watchdog.action),
        (Some(Duration::from_millis(400)), WatchdogAction::Drop)
    );
    // Non-ECT packets above the curve are dropped, as wred_green_enable says.
    assert!(config.ecn[0].drop_not_ect && config.ecn[0].marks == [true; 3]);
}

#[test]
fn a_profile_is_printed_as_a_file_that_reads_back() {
    let file = convert(&[("c.json", EXAMPLE), ("p.ini", LOOKUP)]).unwrap();
    let text = file.to_toml().unwrap();
    assert!(text.starts_with("# ports are those of PORT"), "{text}");
    let again = BufferFile::parse("again", &text).unwrap();
    assert_eq!(again, BufferFile { notes: Vec::new(), ..file });
    for name in BufferFile::names() {
        let file = BufferFile::shipped(name).unwrap().unwrap();
        assert_eq!(BufferFile::parse(name, &file.to_toml().unwrap()).unwrap(), file, "{name}");
    }
}

#[test]
fn what_has_no_meaning_is_named() {
    let file = convert(&[("c.json", EXAMPLE), ("p.ini", LOOKUP)]).unwrap();
    let has = |words: &str| {
        assert!(file.notes.iter().any(|note| note.contains(words)), "{words}: {:#?}", file.notes)
    };
    has("BUFFER_PORT_INGRESS_PROFILE_LIST: the model has no limits");
    has("tables without a meaning for a buffer: DEVICE_METADATA, VLAN");
    has("SCHEDULER: --scheduler chooses instead; the tables have DWRR 14 for queues 0,1,2,5,6; DWRR 15");
    has("ports are those of PORT in the order of their names: Ethernet0 is port 0 .. Ethernet28 is port 7");
    has(
        "groups without a row, and internal ports, have ingress_lossy_profile; such queues have egress_lossy_profile without reserve",
    );
}

#[test]
fn mistakes_are_all_reported_with_their_rows() {
    let changes = |from: &str, to: &str| {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE, "{from}");
        convert(&[("c.json", &text), ("p.ini", LOOKUP)]).unwrap_err().join("\n")
    };
    for (from, to, expected) in [
        (
            "\"pool\": \"egress_lossy_pool\"",
            "\"pool\": \"egress_losy_pool\"",
            "c.json: BUFFER_PROFILE|egress_lossy_profile|pool: there is no BUFFER_POOL|egress_losy_pool; BUFFER_POOL has \
             egress_lossless_pool, egress_lossy_pool, ingress_lossless_pool. Did you mean `egress_lossy_pool`?",
        ),
        (
            "\"profile\": \"ingress_lossy_profile\"",
            "\"profile\": \"lossy\"",
            "c.json: BUFFER_PG|Ethernet0|0|profile: there is no BUFFER_PROFILE|lossy; ",
        ),
        (
            "\"size\": \"4000000\"",
            "\"size\": \"4 MB\"",
            "c.json: BUFFER_POOL|ingress_lossless_pool|size: found `4 MB`; expected a whole number",
        ),
        (
            "\"dynamic_th\": \"3\"",
            "\"dynamic_th\": \"x\"",
            "c.json: BUFFER_PROFILE|ingress_lossy_profile|dynamic_th: found `x`; expected n of -8 to 7",
        ),
        (
            "\"dynamic_th\": \"3\"",
            "\"static_th\": \"1\", \"dynamic_th\": \"3\"",
            "found both of dynamic_th and static_th; expected exactly one",
        ),
        (
            "\"type\": \"egress\"",
            "\"type\": \"sideways\"",
            "|type: found `sideways`: expected ingress, egress or both",
        ),
        (
            "\"pfc_enable\": \"3,4\"",
            "\"pfc_enable\": \"3,9\"",
            "c.json: PORT_QOS_MAP|Ethernet0|pfc_enable: found `3,9`; expected priorities of 0 to 7",
        ),
        (
            "\"Ethernet0|0\": {",
            "\"Ethernet0|8\": {",
            "c.json: BUFFER_PG|Ethernet0|8: expected ports and numbers of 0 to 7, such as `Ethernet0|3-4`",
        ),
        (
            "\"Ethernet0|0\": {",
            "\"Ethernet1|0\": {",
            "c.json: BUFFER_PG|Ethernet1|0: PORT has no port `Ethernet1`; expected one of its ports",
        ),
        (
            "\"wred_profile\": \"AZURE_LOSSLESS\"",
            "\"wred_profile\": \"AZURE\"",
            "c.json: QUEUE|Ethernet0|3|wred_profile: there is no WRED_PROFILE|AZURE; WRED_PROFILE has AZURE_LOSSLESS.",
        ),
        (
            "\"ecn\": \"ecn_all\"",
            "\"ecn\": \"ecn_blue\"",
            "c.json: WRED_PROFILE|AZURE_LOSSLESS|ecn: found `blue`; expected ecn_all, ecn_none or colours",
        ),
        (
            "\"green_max_threshold\"",
            "\"green_maximum\"",
            "c.json: WRED_PROFILE|AZURE_LOSSLESS|green_max_threshold: is missing",
        ),
        ("\"Ethernet0\": \"5m\"", "\"Ethernet0\": \"5 apples\"", "c.json: CABLE_LENGTH|AZURE|Ethernet0: "),
        (
            "\"detection_time\": \"400\"",
            "\"detection\": \"400\"",
            "c.json: PFC_WD|Ethernet0|detection_time: is missing; expected milliseconds",
        ),
    ] {
        let found = changes(from, to);
        assert!(found.contains(expected), "{from} -> {to}:\n{found}");
    }
}

#[test]
fn headroom_by_speed_and_cable_needs_its_file() {
    let found = convert(&[("c.json", EXAMPLE)]).unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    let words = "c.json: PORT_QOS_MAP|Ethernet0|pfc_enable: makes priority group 3 lossless (and 15 more groups), but no file";
    assert!(found[0].starts_with(words), "{found:?}");
    assert!(found[0].contains("join the switch's pg_profile_lookup.ini with `+`"));
    let bad = convert(&[("c.json", EXAMPLE), ("p.ini", "# speed\n100000 5m 1248\n")]).unwrap_err();
    assert!(bad[0].starts_with("p.ini: 2: found `100000 5m 1248`; expected speed in Mb/s, cable"), "{bad:?}");
}

#[test]
fn texts_that_are_no_tables_are_refused() {
    for (text, expected) in [
        ("{", "f: 1: EOF"),
        ("[]", "f: 1: found a list; expected tables with rows"),
        ("{\"BUFFER_POOL\": 3}", "f: BUFFER_POOL: found no rows"),
        ("{\"BUFFER_POOL\": {\"x\": 3}}", "f: BUFFER_POOL|x: found no fields"),
        (
            "{\"VLAN\": {}}",
            "f: BUFFER_POOL: the files have no such table; found VLAN. Join the file that has it with `+`",
        ),
    ] {
        let found = convert(&[("f", text)]).unwrap_err();
        assert!(found[0].starts_with(expected), "{found:?}");
    }
}

/// Pools of type `both`, names in brackets, rows of a chassis, and a profile with headroom for a single group.
const OLD: &str = r#"{
  "BUFFER_POOL": {"pool": {"type": "both", "mode": "dynamic", "size": "30000000", "xoff": "1000000"}},
  "BUFFER_PROFILE": {
    "headroom": {"pool": "[BUFFER_POOL|pool]", "size": "1000", "xon": "1000", "xoff": "50000", "dynamic_th": "-1"},
    "lossy": {"pool": "pool", "size": "0", "dynamic_th": "0", "packet_discard_action": "trim"},
    "queues": {"pool": "pool", "size": "0", "dynamic_th": "-2"}},
  "BUFFER_PG": {"Ethernet0,Ethernet4|3": {"profile": "[BUFFER_PROFILE|headroom]"}, "Ethernet-Rec0|0": {"profile": "lossy"},
    "Ethernet0|0": {"profile": "lossy"}},
  "BUFFER_QUEUE": {"card1|Asic0|Ethernet0|0-7": {"profile": "queues"}},
  "DSCP_TO_TC_MAP": {"A": {"26": "3"}}
}"#;

#[test]
fn one_pool_for_all_becomes_a_counter_for_each_kind() {
    let file = convert(&[("old.json", OLD)]).unwrap();
    let config = file.resolve(&ports(2)).unwrap_or_else(|problems| panic!("{problems}"));
    let names: Vec<&str> = config.egress_pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["pool (egress) (lossy)", "pool (egress)"]);
    // Without PORT_QOS_MAP, PFC is on for the lossless group, and SONiC's maps hold where the file has none.
    let [zero, four] = [&config.ports[0], &config.ports[1]];
    assert!(zero.groups[3].unwrap().lossless.is_some() && four.groups[3].unwrap().lossless.is_some());
    assert!(zero.queues[3].lossless && !zero.queues[0].lossless);
    assert_eq!((zero.pfc_receive, config.maps.dscp_to_tc[26], config.maps.dscp_to_tc[46]), (0b1000, 3, 5));
    let has = |words: &str| {
        assert!(file.notes.iter().any(|note| note.contains(words)), "{words}: {:#?}", file.notes)
    };
    has("BUFFER_PROFILE|lossy: the model has no `packet_discard_action`");
    has("BUFFER_PG: rows of Ethernet-Rec0 are left out");
    has("DSCP_TO_TC_MAP|A leaves out 0-25,27-63");
}

#[test]
fn groups_without_a_row_reserve_nothing() {
    let lossy = r#""lossy": {"pool": "pool", "size": "0""#;
    assert!(OLD.contains(lossy));
    let text = OLD.replace(lossy, r#""lossy": {"pool": "pool", "size": "400""#);
    let config = convert(&[("old.json", &text)]).unwrap().resolve(&ports(2)).unwrap();
    let reserved = |port: usize, group: usize| config.ports[port].groups[group].unwrap().reserved;
    assert_eq!([reserved(0, 0), reserved(0, 5), reserved(1, 0)], [Cells(2), Cells(0), Cells(0)]);
    // Limits are those of the lossy profile.
    assert_eq!(config.ports[0].groups[5].unwrap().threshold.at(10), 10);
}

#[test]
fn a_class_beyond_the_models_becomes_one_like_it() {
    let classes = r#""TC_TO_PRIORITY_GROUP_MAP": {"A": {"1": "0", "2": "3", "8": "0", "9": "5"}},
        "TC_TO_QUEUE_MAP": {"A": {"1": "1", "2": "1", "8": "1", "9": "1"}}, "DSCP_TO_TC_MAP": {"A": {"26": "8", "27": "9"}}"#;
    let text = OLD.replace(r#""DSCP_TO_TC_MAP": {"A": {"26": "3"}}"#, classes);
    let file = convert(&[("old.json", &text)]).unwrap();
    assert_eq!((file.maps.dscp_to_tc["26"], file.maps.dscp_to_tc["27"]), (1, 0));
    let has = |words: &str| {
        assert!(file.notes.iter().any(|note| note.contains(words)), "{words}: {:#?}", file.notes)
    };
    has("no traffic class 8; class 1, which has the same priority group and queue, stands for it");
    has("no traffic class 9; no class of 0 to 7 has the same");
}

#[test]
fn a_port_map_decides_the_numbers() {
    let names = PortNames::parse("m", "Ethernet0,5\nEthernet4,1\n").unwrap();
    assert_eq!(names.front("Ethernet0"), Some(FrontPort(5)));
    let text = [SonicText { name: "old.json", text: OLD }];
    let config = BufferFile::from_sonic(&text, &memory(), Some(&names)).unwrap().resolve(&ports(8)).unwrap();
    let lossless = |port: usize| config.ports[port].groups[3].unwrap().lossless.is_some();
    assert_eq!((0..8).filter(|port| lossless(*port)).collect::<Vec<_>>(), [1, 5]);
    let names = PortNames::parse("m", "Ethernet0,5\n").unwrap();
    let problems = BufferFile::from_sonic(&text, &memory(), Some(&names)).unwrap_err();
    assert!(problems.to_string().contains("the port map has no port `Ethernet4`"), "{problems}");
}

/// Calls `with` for the whole value with each of its texts in turn replaced by others.
fn with_odd_texts(value: &serde_json::Value, with: &mut impl FnMut(&serde_json::Value)) {
    fn paths(value: &serde_json::Value, here: &str, all: &mut Vec<String>) {
        match value.as_object() {
            Some(map) => map.iter().for_each(|(key, inner)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                paths(inner, &format!("{here}/{key}"), all);
            }),
            None => all.push(here.to_owned()),
        }
    }
    let mut all = Vec::new();
    paths(value, "", &mut all);
    for path in all {
        for odd in ["", "-1", "18446744073709551615", "99999999999999999999", "3-1", "Ethernet0", "[X|NULL]"]
        {
            let mut changed = value.clone();
            *changed.pointer_mut(&path).unwrap() = odd.into();
            with(&changed);
        }
    }
}

#[test]
fn odd_values_are_refused_or_read_but_never_panic() {
    let mut value: serde_json::Value = serde_json::from_str(EXAMPLE).unwrap();
    // Two ports are enough, and one DSCP.
    for table in value.as_object_mut().unwrap().values_mut() {
        let rows = table.as_object_mut().unwrap();
        rows.retain(|key, _| {
            !key.starts_with("Ethernet")
                || ["Ethernet0", "Ethernet28"].contains(&key.split('|').next().unwrap())
        });
        for row in rows.values_mut() {
            row.as_object_mut().unwrap().retain(|key, _| {
                !key.starts_with("Ethernet") || ["Ethernet0", "Ethernet28"].contains(&key.as_str())
            });
        }
    }
    let (mut read, mut refused) = (0, 0);
    with_odd_texts(&value, &mut |changed| {
        let text = changed.to_string();
        match convert(&[("c.json", &text), ("p.ini", LOOKUP)]) {
            Ok(file) => {
                read += 1;
                let _ = file.resolve(&ports(3));
            }
            Err(_) => refused += 1,
        }
    });
    assert!(read > 100 && refused > 100, "{read} {refused}");
}

/// The example with other fields of its WRED profile.
fn with_wred(fields: &str) -> String {
    let begin = EXAMPLE.find("\"AZURE_LOSSLESS\": {").unwrap();
    let end = begin + EXAMPLE[begin..].find('}').unwrap();
    format!("{}\"AZURE_LOSSLESS\": {{ {fields} {}", &EXAMPLE[..begin], &EXAMPLE[end..])
}

#[test]
fn a_colour_without_an_enable_has_no_curve_as_in_sai() {
    let thresholds =
        "\"green_min_threshold\": \"1000\", \"green_max_threshold\": \"2000\", \"ecn\": \"ecn_all\"";
    let curves = |fields: &str| {
        let file = convert(&[("c.json", &with_wred(fields)), ("p.ini", LOOKUP)]).unwrap();
        file.ecn.iter().find(|entry| entry.name == "AZURE_LOSSLESS").unwrap().curve.len()
    };
    assert_eq!(curves(&format!("\"wred_green_enable\": \"true\", {thresholds}")), 1);
    assert_eq!(curves(&format!("\"wred_green_enable\": \"false\", {thresholds}")), 0);
    assert_eq!(curves(thresholds), 0);
}

#[test]
fn a_minimum_above_the_maximum_is_refused_where_it_is_read() {
    let fields = "\"wred_green_enable\": \"true\", \"green_min_threshold\": \"3000\", \"green_max_threshold\": \"2000\"";
    let found = convert(&[("c.json", &with_wred(fields)), ("p.ini", LOOKUP)]).unwrap_err();
    assert_eq!(
        found,
        [
            "c.json: WRED_PROFILE|AZURE_LOSSLESS|green_min_threshold: is 3000, above green_max_threshold, 2000: swap them"
        ]
    );
}

#[test]
fn what_has_no_meaning_is_named_and_is_no_mistake() {
    let fields = "\"wred_green_enable\": \"false\", \"green_slope\": \"7\"";
    let text = with_wred(fields).replacen(
        '{',
        "{ \"VERSION\": \"7\", \"FEATURE|bgp\": { \"state\": \"enabled\" },",
        1,
    );
    let file = convert(&[("c.json", &text), ("p.ini", LOOKUP)]).unwrap();
    let has = |note: &str| file.notes.iter().any(|known| known == note);
    assert!(has("WRED_PROFILE: fields without a meaning for a buffer: green_slope"), "{:#?}", file.notes);
    assert!(
        has("c.json: entries that are no tables are left out: FEATURE|bgp, VERSION"),
        "{:#?}",
        file.notes
    );
    // A row of a table that is read would be lost: that is a mistake.
    let text = EXAMPLE.replacen('{', "{ \"BUFFER_PG|Ethernet0|3\": { \"profile\": \"x\" },", 1);
    let found = convert(&[("c.json", &text), ("p.ini", LOOKUP)]).unwrap_err();
    assert!(found[0].starts_with("c.json: BUFFER_PG|Ethernet0|3: a row by its key"), "{found:?}");
}

#[test]
fn ports_beyond_any_switch_are_refused() {
    let names: Vec<String> = (0..5_000).map(|n| format!("Ethernet{n}")).collect();
    let text = format!(
        "{{ \"BUFFER_POOL\": {{}}, \"BUFFER_QUEUE\": {{ \"{}|3\": {{ \"profile\": \"x\" }} }} }}",
        names.join(",")
    );
    let found = convert(&[("c.json", &text)]).unwrap_err();
    assert_eq!(
        found,
        [
            "c.json: PORT: the files name 5000 ports; expected at most 4096, more than any switch has; --max sonic-ports=N raises the limit"
        ]
    );
}
