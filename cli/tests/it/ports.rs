//! Ports in entries: names, what is refused and warned of, templates, and the list of all ports.

use crate::support::{folder, json, ok, refused, sluice, text};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes entries that send everything to `port`, given as TOML value.
fn all_to(dir: &Path, port: &str) -> PathBuf {
    let mut entries = String::new();
    let route = "[[table.ipv4_route]]\nkey = { \"m.vrf\" = 0, \"ipv4.dst\" = \"0.0.0.0/0\" }\n";
    let neighbor =
        "action = \"ipv4_set_nexthop\"\nargs = { nexthop = 1 }\n[[table.neighbor]]\nkey = { nexthop = 1 }\n";
    let macs = "dst_mac = \"02:00:00:00:02:01\", src_mac = \"02:00:00:00:00:01\"";
    writeln!(entries, "{route}{neighbor}action = \"rewrite\"\nargs = {{ {macs}, port = {port}, vid = 1 }}")
        .unwrap();
    let path = dir.join("all.toml");
    fs::write(&path, entries).unwrap();
    path
}

/// Returns the front-panel ports on which packets were sent. Some packets of the sample go to the CPU.
fn sent(args: &[&str]) -> Vec<String> {
    let s = json(&[&["replay", "l3-ecmp", "--json", "--limit", "50", "--entries"][..], args].concat());
    let ports = s["ports"].as_array().unwrap().iter().filter(|p| p["tx_packets"].as_u64() > Some(0));
    let names = ports.map(|p| p["port"].as_str().unwrap().to_owned());
    names.filter(|name| name != "cpu").collect()
}

#[test]
fn a_port_has_two_names() {
    let dir = folder("names");
    for (written, port) in [("\"port 8\"", "8"), ("136", "8"), ("\"dev_port 136\"", "8"), ("8", "0")] {
        assert_eq!(sent(&[text(&all_to(dir.path(), written))]), [port], "{written}");
    }
    // At 100G the front panel has four times as many ports, each with two of a MAC's eight lanes.
    let path = all_to(dir.path(), "\"port 8\"");
    assert_eq!(sent(&[text(&path), "--port-speed", "100G"]), ["8"]);
    let shown = ok(&["entries", "l3-ecmp", "--port-speed", "100G", "--check", text(&path)]);
    assert!(shown.contains("2 entries, no mistakes"), "{shown}");
    let list = json(&["explain", "ports", "--port-speed", "100G", "--json"]);
    assert_eq!((&list["ports"][8]["port"], &list["ports"][8]["dev_port"]), (&8.into(), &24.into()));
}

#[test]
fn ports_that_do_not_exist_are_refused_and_recirculation_ports_warned_of() {
    let dir = folder("missing");
    let path = all_to(dir.path(), "500");
    for args in [["entries", "l3-ecmp", "--check"], ["replay", "l3-ecmp", "--entries"]] {
        let (code, stderr) = refused(&[&args[..], &[text(&path)]].concat());
        assert_eq!(code, 2);
        for words in ["argument `port`", "dev:500", "all.toml:5", "sluice explain ports"] {
            assert!(stderr.contains(words), "{words}\n{stderr}");
        }
    }
    let path = all_to(dir.path(), "7");
    let warning = "all.toml:5: dev_port 7 is a recirculation port, so packets come back into ingress; front-panel port 7 is \
                   dev_port 64, or \"port 7\"";
    let checked = ok(&["entries", "l3-ecmp", "--check", text(&path)]);
    assert!(
        checked.contains("2 entries, no errors, 1 warning\nwarning: ") && checked.contains(warning),
        "{checked}"
    );
    let s = json(&["replay", "l3-ecmp", "--json", "--functional", "--limit", "1", "--entries", text(&path)]);
    assert!(s["warnings"][0].as_str().unwrap().contains(warning), "{}", s["warnings"]);
}

#[test]
fn in_a_network_the_warning_names_the_switch() {
    let dir = folder("network");
    let path = all_to(dir.path(), "7");
    let file = text(&path);
    let net = dir.path().join("pair.toml");
    let switches = "name = \"pair\"\n[[switch]]\nname = \"left\"\n[[switch]]\nname = \"right\"\n";
    fs::write(&net, format!("{switches}[[cable]]\nbetween = [\"left\", \"right\"]\n")).unwrap();
    let capture = dir.path().join("in.pcap");
    ok(&["gen", "udp", "--packets", "1", "-o", text(&capture)]);
    let warnings = |entries: &[&str]| {
        let input = format!("left:5@{}", text(&capture));
        let fixed = ["replay", "l3-ecmp", "--json", "--functional", "--topology", text(&net), "-i", &input];
        let s = json(&[&fixed[..], entries].concat());
        let list = s["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned());
        list.filter(|w| w.contains("recirculation port")).collect::<Vec<_>>()
    };
    let of = |switch: &str| {
        format!(
            "switch `{switch}`: {file}:5: dev_port 7 is a recirculation port, so packets come back into ingress; \
             front-panel port 7 is dev_port 64, or \"port 7\""
        )
    };
    assert_eq!(warnings(&["--entries", &format!("right={file}")]), [of("right")]);
    let of_both = of("left").replacen("`left`", "`left` and 1 more", 1);
    assert_eq!(warnings(&["--entries", file]), [of_both]);
    assert!(warnings(&[]).is_empty());
    // A port that does not exist is refused, with the name of the switch as well.
    let path = all_to(dir.path(), "500");
    let input = format!("left:5@{}", text(&capture));
    let right = format!("right={}", text(&path));
    let fixed = ["replay", "l3-ecmp", "--topology", text(&net), "-i", &input, "--entries", &right];
    let (code, stderr) = refused(&fixed);
    assert!(code == 2 && stderr.contains("switch `right`") && stderr.contains("dev:500"), "{stderr}");
}

#[test]
fn default_entries_of_all_programs_name_their_ports_and_are_accepted_back() {
    let dir = folder("defaults");
    let programs = json(&["programs", "--json"]);
    for program in programs["programs"].as_array().unwrap() {
        let name = program["name"].as_str().unwrap();
        let printed = ok(&["entries", name]);
        assert!(printed.contains("  # dev_port "), "{name}");
        assert!(!printed.contains("does not exist"), "{name}");
        let path = dir.path().join(format!("{name}.toml"));
        fs::write(&path, printed).unwrap();
        let checked = ok(&["entries", name, "--check", text(&path)]);
        assert!(checked.contains("no mistakes") && !checked.contains("warning"), "{name}: {checked}");
    }
}

#[test]
fn the_examples_of_a_template_forward_packets() {
    let dir = folder("template");
    let template = ok(&["entries", "l3-ecmp", "--template"]);
    assert!(template.contains("port = \"port 16\"") && template.contains("# dev_port 264 is port 16"));
    // Entries only: the device's settings are examples of their own.
    let tables = template.split("\n## The packet generator").next().unwrap();
    let lines = tables.lines().filter(|l| !l.starts_with("##"));
    let entries: Vec<&str> =
        lines.map(|l| l.strip_prefix("# ").or(l.strip_prefix('#')).unwrap_or(l)).collect();
    let path = dir.path().join("t.toml");
    fs::write(&path, entries.join("\n")).unwrap();
    let s = json(&["replay", "l3-ecmp", "--json", "--entries", text(&path)]);
    let out = s["packets"]["out"].as_u64().unwrap();
    assert!(out > 600 && s["drops"].get("no_route").is_none_or(|n| n.as_u64() < Some(100)), "{}", s["drops"]);
}

#[test]
fn explain_lists_the_ports() {
    let list = ok(&["explain", "ports"]);
    // Front-panel port 8 of Tofino 2 is the first port of pipe 1: 1 << 7 | 8.
    for row in [["8", "136", "1"], ["31", "448", "3"], ["cpu", "2", "0"], ["recirc", "6", "0"]] {
        let found = list.lines().any(|l| l.split_whitespace().take(3).eq(row));
        assert!(found, "{row:?}\n{list}");
    }
    let tofino = json(&["explain", "ports", "--chip", "tofino", "--json"]);
    assert_eq!((tofino["chip"].as_str(), &tofino["ports"][0]["dev_port"]), (Some("tofino"), &0.into()));
    let out = sluice(&["explain", "PHV", "--port-speed", "100G"]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn a_port_map_of_sonic_sets_the_speeds() {
    let dir = folder("speeds");
    let map = dir.path().join("port_config.ini");
    let rows = "# name lanes alias index speed\nEthernet0 1,2 a 1 100000\nEthernet4 3,4 b 2 25000\nEthernet8 5,6 c 3 100000\n";
    fs::write(&map, rows).unwrap();
    let speeds = |more: &[&str]| -> Vec<(String, u64)> {
        let args = ["replay", "l3-ecmp", "--json", "--port-map", text(&map), "-i"];
        let inputs = ["Ethernet4@l3-ecmp.pcap", "-i", "Ethernet0@l3-ecmp.pcap"];
        let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../pcaps/samples/");
        let inputs = inputs.map(|word| word.replace('@', &format!("@{capture}")));
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let s = json(&[&args[..], &inputs, more].concat());
        let received = s["ports"].as_array().unwrap().iter().filter(|p| p["rx_packets"].as_u64() > Some(0));
        let speed =
            received.map(|p| (p["port"].as_str().unwrap().to_owned(), p["speed_bps"].as_u64().unwrap()));
        speed.collect()
    };
    let named = |first: u64, second: u64| {
        vec![
            ("Ethernet0".to_owned(), first * 1_000_000_000),
            ("Ethernet4".to_owned(), second * 1_000_000_000),
        ]
    };
    assert_eq!(speeds(&[]), named(100, 25));
    assert_eq!(speeds(&["--port", "Ethernet4=10G"]), named(100, 10), "the command line counts more");
    assert_eq!(speeds(&["--port-speed", "200G"]), named(200, 200));
    // The chip has no such ports.
    fs::write(&map, rows.replace("100000", "40000")).unwrap();
    let (code, message) = refused(&["replay", "l3-ecmp", "--port-map", text(&map)]);
    assert!(
        code == 2 && message.contains("port speed 40Gbps") && message.contains("--port-speed RATE"),
        "{message}"
    );
}
