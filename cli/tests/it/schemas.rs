//! JSON outputs, held against the schemas that `sluice schema` prints.

use crate::support::{folder, json, ok, sluice, text};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;

/// Returns where a value breaks a schema of the words that the schemas use: type, properties, required, items, const, and
/// additionalProperties as the schema of further properties.
fn faults(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{at}: a type {other}"),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        found.push(format!("{at}: {value} is not of type {kinds:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        found.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    for item in value.as_array().into_iter().flatten() {
        faults(&schema["items"], item, &format!("{at}[]"), found);
    }
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let Some(object) = value.as_object() else { return };
    for key in schema["required"].as_array().into_iter().flatten() {
        if !object.contains_key(key.as_str().unwrap()) {
            found.push(format!("{at}: {key} is missing"));
        }
    }
    for (key, inner) in object {
        let of_others = &schema["additionalProperties"];
        let schema = properties.get(key).unwrap_or(of_others);
        if !properties.is_empty() && !properties.contains_key(key) {
            found.push(format!("{at}: the schema has no `{key}`"));
        }
        faults(schema, inner, &format!("{at}.{key}"), found);
    }
}

/// Runs a command with `--json` and holds the output against its schema, whose name is in the output.
fn hold(args: &[&str], checked: &mut BTreeSet<String>) {
    let out = sluice(&[args, &["--json"]].concat());
    let value: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&out.stderr)));
    let name = value["schema"].as_str().unwrap_or_else(|| panic!("{args:?} has no key `schema`"));
    let schema = json(&["schema", name]);
    let mut found = Vec::new();
    faults(&schema, &value, name, &mut found);
    assert!(found.is_empty(), "{args:?}:\n{}", found.join("\n"));
    checked.insert(name.strip_prefix("sluice.").unwrap().split('/').next().unwrap().to_owned());
}

const CONTEST: &str = "\
name = \"two leaves\"
topology = \"leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns\"
port_speed = \"100G\"
expect = [\"ecmp.dropped == 0\"]
workload = { sizes = \"ali-storage\", load = 50, time = \"10us\" }
hosts = { cable = \"500ns\", recovery = \"go-back-n\" }
program = [{ name = \"ecmp\" }]
";

#[test]
fn outputs_keep_their_schemas() {
    let dir = folder("schemas");
    let path = |name: &str| dir.path().join(name);
    let name = |name: &str| path(name).display().to_string();
    fs::write(path("contest.toml"), CONTEST).unwrap();
    fs::write(path("wrong.sluice"), "sluice 1;\nprogram").unwrap();
    fs::write(path("one.stf"), "packet 0 00\nexpect 2 01\n").unwrap();
    ok(&["replay", "int", "-o", text(&path("int")), "--limit", "300"]);
    for out in ["a", "b"] {
        ok(&["run", &name("contest.toml"), "--seeds", "1", "-o", &name(out)]);
    }
    let capture = name("int/out.pcapng");
    let contest = name("contest.toml");
    let input = format!("leaf0:0@{capture}");
    let (_mix, config) = crate::ns3::small();
    let leaf_spine = "leaf-spine:leaves=2,spines=2";
    let mut checked = BTreeSet::new();
    for args in [
        &["programs"][..],
        &["programs", "ecmp"],
        &["report", "ecmp"],
        &["report", "l3-ecmp", "--set", "ipv4_routes=400k"],
        &["report", "ecmp", "--compare", "wcmp"],
        &["report", "l3-ecmp", "--sweep", "ipv4_routes=1k..2k"],
        &["replay", "l3-ecmp", "--limit", "100", "--coverage"],
        &["replay", "l3-ecmp", "--limit", "100", "--buffer", "chip", "--check"],
        &["replay", "ecmp", "--topology", leaf_spine, "-i", &input, "--limit", "10"],
        &["gen", "udp", "--packets", "10", "-o", &name("udp.pcap")],
        &["explain"],
        &["explain", "ports"],
        &["explain", "headroom", "--speed", "100G", "--cable", "300m"],
        &["explain", "headroom", "--speed", "800G", "--cable", "40m", "--method", "nvidia", "--cell", "192B"],
        &["entries", "ecmp"],
        &["entries", "ecmp", "--template"],
        &["polarization", "--flows", "1k"],
        &["run", "--filter", "8.1"],
        &["run", "--list"],
        &["run", &contest, "--seeds", "2"],
        &["run", &contest, "--list"],
        &["run", &contest, "--dry-run"],
        &["compare", &name("a"), &name("b")],
        &["reproduce"],
        &["reproduce", "azure/transfer-modes"],
        &["run", &config, "-o", &name("ns3")],
        &["flowlets", "--timeouts", "50us"],
        &["doctor"],
        &["check", &name("wrong.sluice")],
        &["fuzz", "ecmp", "--cases", "2", "--jobs", "1"],
        &["test", &name("one.stf"), "--program", "ecmp"],
        &["int", "decode", &capture],
    ] {
        hold(args, &mut checked);
    }
    let list = json(&["schema", "--json"]);
    let all = list["schemas"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
    assert_eq!(all.collect::<BTreeSet<_>>(), checked);
}

#[test]
fn a_wrong_output_is_found() {
    let schema = json(&["schema", "test"]);
    let value =
        serde_json::json!({ "schema": "sluice.test/1", "passed": "1", "tests": [{ "chip": 3 }], "new": 1 });
    let mut found = Vec::new();
    faults(&schema, &value, "test", &mut found);
    for fault in [
        "test.passed: \"1\" is not of type",
        "test.tests[].chip: 3 is not",
        "`new`",
        "\"verdict\" is missing",
    ] {
        assert!(found.iter().any(|text| text.contains(fault)), "{fault}: {found:?}");
    }
}
