//! Inputs that people have: SONiC's tables, names of ports, routes, and captures and flow lists of a whole network.

use crate::support::{folder, json, ok, refused, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a file of the example of SONiC.
fn sonic(name: &str) -> String {
    format!("{}/../asic-model/sonic/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn write(dir: &Path, name: &str, content: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Names front-panel ports 0 to 31 as SONiC does a switch of 32 ports.
fn port_map(dir: &Path) -> PathBuf {
    let lines: String = (0..32).map(|port| format!("Ethernet{},{port}\n", 4 * port)).collect();
    write(dir, "ports.csv", &lines)
}

/// Returns the ports on which packets were sent.
fn sent(args: &[&str]) -> Vec<String> {
    let s = json(&[&["replay", "l3-ecmp", "--json", "--limit", "200"][..], args].concat());
    let ports = s["ports"].as_array().unwrap().iter().filter(|p| p["tx_packets"].as_u64() > Some(0));
    ports.map(|p| p["port"].as_str().unwrap().to_owned()).filter(|name| name != "cpu").collect()
}

#[test]
fn tables_of_sonic_pause_lossless_senders_and_name_the_rest() {
    let dir = folder("sonic");
    let capture = dir.path().join("in.pcapng");
    let to = ["--dst", "10.1.0.1/32", "--dscp", "3", "--ecn", "2", "--size", "1024", "--rate", "100G"];
    ok(&[&["gen", "udp", "--packets", "4k", "-o", text(&capture)][..], &to].concat());
    let (config, lookup) = (sonic("config_db.json"), sonic("pg_profile_lookup.ini"));
    let buffer = format!("{config}+{lookup}");
    let (a, b) = (format!("Ethernet0@{}", text(&capture)), format!("Ethernet28@{}", text(&capture)));
    // Port 5, to which all packets go, is one of the tables', so its queue 3 is lossless.
    let routes = write(dir.path(), "routes.csv", "10.1.0.0/16,Ethernet20\n");
    let speed = ["--port-speed", "100G", "--routes", text(&routes)];
    let fixed = [&["replay", "l3-ecmp", "--obey-pfc", "--port-map", &config][..], &speed].concat();
    let args = [&fixed[..], &["--buffer", &buffer, "-i", &a, "-i", &b]].concat();
    let s = json(&[&args[..], &["--json"]].concat());
    assert_eq!(s["packets"]["dropped"], 0, "{}", s["drops"]);
    let pfc = s["buffer"]["pfc"].as_array().unwrap();
    let tx = |name: &str| pfc.iter().find(|p| p["port"] == name).map(|p| p["tx"][3].as_u64().unwrap());
    assert!(tx("Ethernet0") > Some(0) && tx("Ethernet28") > Some(0), "{pfc:?}");
    let notes: Vec<&str> =
        s["buffer"]["notes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert!(notes.contains(&"tables without a meaning for a buffer: DEVICE_METADATA, VLAN"), "{notes:?}");
    let shown = ok(&args);
    let first = "buffer: the memory is that of tofino2, the chip of this run: the ASIC of hwsku example is not known; ";
    assert!(shown.starts_with(first), "{shown}");
    for words in [
        "  note: SCHEDULER: --scheduler chooses",
        "pfc counters, Port Tx:",
        "Ethernet28",
        "Ethernet20 queue 3",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    // The memory of another profile: four partitions, in Tomahawk's cells.
    let buffer = format!("{buffer}+th");
    let s = json(&["replay", "l3-ecmp", "--json", "--port-speed", "100G", "--buffer", &buffer]);
    assert_eq!((&s["buffer"]["partitions"], &s["buffer"]["cell_bytes"]), (&4.into(), &208.into()));
}

#[test]
fn the_memory_is_that_of_the_hardware_that_the_tables_name() {
    let dir = folder("hwsku");
    let config = fs::read_to_string(sonic("config_db.json")).unwrap();
    let first = |hardware: &str| {
        let changed = config.replacen("\"hwsku\": \"example\"", hardware, 1);
        assert_ne!(changed, config);
        let file = write(dir.path(), "c.json", &changed);
        let shown =
            ok(&["explain", "buffer", &format!("{}+{}", text(&file), sonic("pg_profile_lookup.ini"))]);
        shown.lines().next().unwrap().to_owned()
    };
    for (hardware, line) in [
        (
            "\"hwsku\": \"DellEMC-Z9332f-O32\"",
            "# the memory is that of th3: hwsku DellEMC-Z9332f-O32 has a Tomahawk 3",
        ),
        (
            "\"platform\": \"x86_64-arista_7050cx3_32s\"",
            "# the memory is that of td3: platform x86_64-arista_7050cx3_32s has a Trident 3",
        ),
        (
            "\"hwsku\": \"Mellanox-SN5640-C512S2\"",
            "# the memory is that of tofino2, the chip of this run: hwsku Mellanox-SN5640-C512S2 has a Spectrum-5, of whose memory \
             there is no profile; join another, as in FILE.json+th",
        ),
    ] {
        assert_eq!(first(hardware), line);
    }
}

#[test]
fn mistakes_in_tables_of_sonic_are_placed() {
    let dir = folder("bad-sonic");
    let config = fs::read_to_string(sonic("config_db.json")).unwrap();
    let bad = write(
        dir.path(),
        "bad.json",
        &config.replace("\"pool\": \"egress_lossy_pool\"", "\"pool\": \"egress\""),
    );
    let lookup = sonic("pg_profile_lookup.ini");
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--buffer", &format!("{}+{lookup}", text(&bad))]);
    let expected =
        "bad.json: BUFFER_PROFILE|egress_lossy_profile|pool: there is no BUFFER_POOL|egress; BUFFER_POOL has";
    assert!(code == 2 && stderr.contains(expected), "{stderr}");
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--buffer", "th+td2"]);
    assert!(code == 2 && stderr.contains("th and td2 are several profiles"), "{stderr}");
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--buffer", "none.json"]);
    assert!(code == 2 && stderr.contains("cannot read none.json"), "{stderr}");
}

#[test]
fn a_network_takes_tables_of_sonic_too() {
    let dir = folder("sonic-net");
    for name in ["config_db.json", "pg_profile_lookup.ini"] {
        fs::copy(sonic(name), dir.path().join(name)).unwrap();
    }
    // Paths in a topology are relative to its folder.
    let top = "name = \"one\"\nbuffer = \"config_db.json+pg_profile_lookup.ini\"\nport_speed = \"100G\"\n";
    let switch = "[[switch]]\nname = \"left\"\nhosts = 2\n";
    let net = write(dir.path(), "net.toml", &format!("{top}{switch}"));
    let flows = write(dir.path(), "f.csv", "src,dst,bytes\n10.0.0.1,10.0.0.2,20000\n");
    let shown = ok(&["replay", "l3-ecmp", "--topology", text(&net), "--flows", text(&flows)]);
    assert!(shown.contains("buffer profile config_db.json+pg_profile_lookup.ini:"), "{shown}");
    assert!(shown.contains("SWITCH  PFC TX  PFC RX  PAUSED US"), "{shown}");
}

#[test]
fn ports_have_the_users_names_everywhere() {
    let dir = folder("port-map");
    let map = port_map(dir.path());
    let capture = dir.path().join("in.pcap");
    ok(&["gen", "udp", "--packets", "20", "--dst", "10.9.9.9/32", "-o", text(&capture)]);
    let inputs = |port: &str| format!("{port}@{}", text(&capture));
    // The default entries send 10.9.9.9 to port 20.
    let map = text(&map);
    assert_eq!(sent(&["--port-map", map, "-i", &inputs("Ethernet4")]), ["Ethernet80"]);
    assert_eq!(sent(&["-i", &inputs("2/0")]), ["20"]);
    let s = json(&[
        "replay",
        "l3-ecmp",
        "--json",
        "--port-map",
        map,
        "-i",
        &inputs("1/0"),
        "--port",
        "Ethernet80=100G",
    ]);
    let ports: Vec<(&str, u64)> = s["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["port"].as_str().unwrap(), p["rx_packets"].as_u64().unwrap()))
        .collect();
    assert!(ports.contains(&("Ethernet0", 20)), "{ports:?}");
    // Entries take the names, and show them.
    let printed = ok(&["entries", "l3-ecmp", "--port-map", map]);
    assert!(
        printed.contains("# dev_port 136 is Ethernet32") || printed.contains("is port Ethernet32"),
        "{printed}"
    );
    let entries = "[[table.ipv4_route]]\nkey = { \"m.vrf\" = 0, \"ipv4.dst\" = \"0.0.0.0/0\" }\naction = \"ipv4_set_nexthop\"\n\
                   args = { nexthop = 1 }\n[[table.neighbor]]\nkey = { nexthop = 1 }\naction = \"rewrite\"\nargs = { dst_mac = \
                   \"02:00:00:00:02:01\", src_mac = \"02:00:00:00:00:01\", port = PORT, vid = 1 }\n";
    for port in ["\"Ethernet36\"", "\"port Ethernet36\"", "\"port 10/0\"", "\"port 9\""] {
        let file = write(dir.path(), "e.toml", &entries.replace("PORT", port));
        let args = ["--port-map", map, "-i", &inputs("Ethernet4"), "--entries", text(&file)];
        assert_eq!(sent(&args), ["Ethernet36"], "{port}");
    }
    let listed = ok(&["explain", "ports", "--port-map", map]);
    assert!(listed.contains("Ethernet124"), "{listed}");
}

#[test]
fn wrong_names_of_ports_get_the_nearest_one() {
    let dir = folder("bad-port-map");
    let map = port_map(dir.path());
    let replay = |more: &[&str]| refused(&[&["replay", "l3-ecmp"][..], more].concat()).1;
    let stderr = replay(&["--port-map", text(&map), "-i", "Ethenet4@x.pcap"]);
    assert!(
        stderr.contains("`Ethenet4` is neither a name of the port map nor a port")
            && stderr.contains("did you mean `Ethernet4`?"),
        "{stderr}"
    );
    let stderr = replay(&["-i", "33/0@x.pcap"]);
    assert!(
        stderr.contains("`33/0` is not a cage and lane such as `1/0`: tofino2 has cages 1 to 32"),
        "{stderr}"
    );
    let stderr = replay(&["--port-speed", "100G", "-i", "1/1@x.pcap"]);
    assert!(stderr.contains("at 100Gbps per port its ports begin at lanes 0, 2, 4, 6"), "{stderr}");
    let bad = write(dir.path(), "bad.csv", "a,0\nb,zero\n");
    let stderr = replay(&["--port-map", text(&bad)]);
    assert!(stderr.contains("bad.csv: 2: found `b,zero`; expected SONiC's port_config.ini"), "{stderr}");
}

const ROUTES: &str = "\
10.0.0.0/31 dev Ethernet32 proto kernel scope link
10.9.0.0/16 proto bgp metric 20
\tnexthop via 10.0.0.1 dev Ethernet32 weight 1
\tnexthop via 10.0.0.3 dev Ethernet36 weight 1
10.9.9.9 via 10.0.0.5 dev Ethernet40
";

#[test]
fn routes_of_a_file_become_entries() {
    let dir = folder("routes");
    let map = port_map(dir.path());
    let routes = write(dir.path(), "routes.txt", ROUTES);
    let capture = dir.path().join("in.pcap");
    ok(&[
        "gen",
        "udp",
        "--packets",
        "100",
        "--flows",
        "50",
        "--dst",
        "10.9.8.0/24,10.9.9.9/32",
        "-o",
        text(&capture),
    ]);
    let input = format!("0@{}", text(&capture));
    let args = ["--port-map", text(&map), "--routes", text(&routes), "-i", &input];
    assert_eq!(sent(&args), ["Ethernet32", "Ethernet36", "Ethernet40"]);
    let printed = ok(&["entries", "l3-ecmp", "--port-map", text(&map), "--routes", text(&routes)]);
    assert!(printed.contains("10.9.9.9/32") && printed.contains("10.9.0.0/16"), "{printed}");
    // Ports by number, and a P4 or .sluice program without a table for routes.
    let csv = write(dir.path(), "routes.csv", "0.0.0.0/0,9\n");
    assert_eq!(sent(&["--routes", text(&csv), "-i", &input]), ["9"]);
    let bad = write(dir.path(), "bad.txt", &ROUTES.replace("Ethernet36", "Ethernet999"));
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--port-map", text(&map), "--routes", text(&bad)]);
    assert!(
        code == 2 && stderr.contains("bad.txt:4: `Ethernet999` is neither a name of the port map"),
        "{stderr}"
    );
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--routes", text(&bad), "--entries", "x.toml"]);
    assert!(code == 2 && stderr.contains("cannot be used with"), "{stderr}");
}

#[test]
fn a_capture_of_a_network_is_split_by_its_senders() {
    let dir = folder("hosts");
    let capture = dir.path().join("all.pcapng");
    let from = "10.0.0.1/32,10.0.0.2/32,10.0.1.1/32,192.0.2.1/32";
    let args = ["--flows", "8", "--src", from, "--dst", "10.0.1.2/32", "--size", "64..900", "--rate", "10G"];
    ok(&[&["gen", "udp", "--packets", "400", "-o", text(&capture)][..], &args].concat());
    let input = format!("hosts@{}", text(&capture));
    let s = json(&["replay", "l3-ecmp", "--json", "--topology", "two-tor", "-i", &input]);
    let inputs: Vec<(&str, u64)> = s["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| (i["port"].as_str().unwrap(), i["packets"].as_u64().unwrap()))
        .collect();
    assert_eq!(inputs.iter().map(|(port, _)| *port).collect::<Vec<_>>(), ["leaf0:0", "leaf0:1", "leaf1:0"]);
    let warning = s["warnings"].to_string();
    let left_out = 400 - inputs.iter().map(|(_, packets)| packets).sum::<u64>();
    assert!(
        left_out > 0 && warning.contains(&format!("all.pcapng: {left_out} frames are not sent")),
        "{warning}"
    );
    assert!(warning.contains("192.0.2.1"), "{warning}");
    // The same frames from single captures arrive alike.
    assert_eq!(s["packets"]["out"].as_u64(), Some(400 - left_out));
    let stranger = dir.path().join("stranger.pcap");
    ok(&["gen", "udp", "--packets", "3", "--src", "192.0.2.1/32", "-o", text(&stranger)]);
    let input = format!("hosts@{}", text(&stranger));
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--topology", "two-tor", "-i", &input]);
    assert!(
        code == 2 && stderr.contains("no frame comes from a host of the network; found 192.0.2.1"),
        "{stderr}"
    );
    assert!(stderr.contains("hosts are 10.0.0.1, "), "{stderr}");
}

#[test]
fn a_list_of_flows_is_sent_by_its_hosts() {
    let dir = folder("flows");
    let list = "src,dst,packets,start,rate\n10.0.0.1,10.0.1.1,30,0us,10G\n10.0.1.2,10.0.0.2,20,1us,10G\n";
    let flows = write(dir.path(), "f.csv", list);
    let fixed = ["replay", "l3-ecmp", "--topology", "two-tor", "--flows"];
    let s = json(&[&fixed[..], &[text(&flows), "--json", "--buffer", "chip"]].concat());
    let inputs: Vec<(&str, u64)> = s["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| (i["port"].as_str().unwrap(), i["packets"].as_u64().unwrap()))
        .collect();
    assert_eq!(inputs, [("leaf0:0", 30), ("leaf1:1", 20)]);
    assert_eq!(s["packets"]["out"], 50);
    // Ports have the same names at all switches.
    let map = port_map(dir.path());
    let s = json(&[&fixed[..], &[text(&flows), "--json", "--port-map", text(&map)]].concat());
    let ports = ["inputs", "ports"].map(|key| s[key][0]["port"].as_str().unwrap().to_owned());
    assert!(ports[0] == "leaf0:Ethernet0" && ports[1].contains("Ethernet"), "{ports:?}");
    let shown = ok(&[&fixed[..], &[text(&flows), "--buffer", "chip"]].concat());
    for words in
        ["SWITCH  PFC TX  PFC RX  PAUSED US", "buffer profile tofino2:", "leaf0:", "leaf1 ingress_lossy_pool"]
    {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    let bad = write(dir.path(), "bad.csv", "src,dst,packets\n10.0.0.1,10.0.1.1,many\n");
    let (code, stderr) = refused(&[&fixed[..], &[text(&bad)]].concat());
    assert!(code == 2 && stderr.contains("bad.csv:2:"), "{stderr}");
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--flows", text(&flows)]);
    assert!(code == 2 && stderr.contains("--topology"), "{stderr}");
}
