//! `sluice test`: packet tests in STF.

use super::support::{folder, ok, sluice, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A program that swaps the bytes of a header by a table, counts packets and bytes, and keeps the last value in a register.
const PROGRAM: &str = r#"#include <core.p4>
#include <tna.p4>
header data_h { bit<16> a; bit<16> b; }
struct headers_t { data_h data; }
struct meta_t {}
parser P(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.data); transition accept; }
}
control C(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counter<bit<32>, bit<4>>(16, CounterType_t.PACKETS_AND_BYTES) seen;
    Register<bit<16>, bit<4>>(16) last;
    RegisterAction<bit<16>, bit<4>, bit<16>>(last) keep = { void apply(inout bit<16> v) { v = hdr.data.a; } };
    action set(bit<16> value, PortId_t port) { hdr.data.b = value; tm.ucast_egress_port = port; }
    action drop() { dprsr.drop_ctl = 1; }
    table choose {
        key = { hdr.data.a : ternary; }
        actions = { set; drop; }
        default_action = drop;
        size = 16;
    }
    apply { seen.count(3); keep.execute(3); choose.apply(); }
}
control D(packet_out pkt, inout headers_t hdr, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
parser EP(packet_in pkt, out headers_t hdr, out meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control EC(inout headers_t hdr, inout meta_t m, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
           inout egress_intrinsic_metadata_for_output_port_t port) { apply {} }
control ED(packet_out pkt, inout headers_t hdr, in meta_t m, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
Pipeline(P(), C(), D(), EP(), EC(), ED()) pipe;
Switch(pipe) main;
"#;

/// Packets with all lines true.
const TEST: &str = "\
# the second entry is the more general one
add choose 1 data.a:0x0102 C.set(value:0xbeef, port:2)
add pipe.C.choose 2 hdr.data.a:0x01** set(value:7, port:6)
packet 0 0102 0000 aa
expect 2 0102 beef aa $
packet 0 0155 0000 bb
expect 6 0155 0007 **
packet 0 0200 0000
check_counter seen(3) packets = 3
check_counter seen(3) bytes = 26
check_register C.last(3) lo = 0x200
";

fn write(dir: &Path, test: &str) -> String {
    fs::write(dir.join("swap.p4"), PROGRAM).unwrap();
    fs::write(dir.join("swap.stf"), test).unwrap();
    dir.join("swap.stf").display().to_string()
}

#[test]
fn a_test_passes_on_both_chips() {
    let dir = folder("stf");
    let file = write(dir.path(), TEST);
    let said = ok(&["test", &file, "--chip", "tofino", "--chip", "tofino2"]);
    assert_eq!(said, format!("pass           {file} (tofino)\npass           {file} (tofino2)\n2 passed\n"));
    // Without --chip it runs on the chip whose architecture the program includes; a folder names all tests in it.
    let said = ok(&["test", text(dir.path())]);
    assert_eq!(said, format!("pass           {file} (tofino)\n1 passed\n"));
}

#[test]
fn each_line_that_does_not_come_true_is_told() {
    let dir = folder("stf");
    let wrong = TEST
        .replace("beef aa $", "beef ab $")
        .replace("expect 6 0155 0007 **\n", "")
        .replace("packets = 3", "packets = 4")
        .replace("add pipe.C.choose 2", "add C.chose 2 data.a:1 drop()\nadd C.choose 2");
    let file = write(dir.path(), &wrong);
    let out = sluice(&["test", &file]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1));
    let expected = [
        "fail           ",
        "stf:3: there is no table `C.chose`; expected one of: C.choose; did you mean `C.choose`?",
        "stf:6: found 0102beef aa (of line 5), expected 0102beef ab $",
        "stf:7: a packet that no line expects left by port 6: 01550007 bb",
        "stf:9: found 0x3, expected 0x4",
        "0 passed, 1 fail",
    ];
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{said}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{line}\nexpected {expected}");
    }
    let out = sluice(&["test", &file, "--json"]);
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let test = &found["tests"][0];
    assert_eq!((&test["verdict"], &test["checks"]), (&Value::from("fail"), &Value::from(4)));
    assert_eq!(test["failed"].as_array().unwrap().len(), 4, "{test}");
}

#[test]
fn mistakes_of_files_are_told_and_nothing_runs() {
    let dir = folder("stf");
    let file = write(dir.path(), "packet 0 0102\nexpct 2 01\n");
    let out = sluice(&["test", &file]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("swap.stf:2: there is no command `expct`; expected one of: add,"), "{said}");
    assert!(said.ends_with("0 passed, 1 refused\n") && out.status.code() == Some(1), "{said}");
    fs::write(dir.path().join("swap.p4"), PROGRAM.replace("hdr.data.b = value", "hdr.data.c = value"))
        .unwrap();
    fs::write(dir.path().join("swap.stf"), TEST).unwrap();
    let said = String::from_utf8(sluice(&["test", &file]).stdout).unwrap();
    assert!(said.contains("there is no field `c` in header `data_h`"), "{said}");
    let empty = folder("stf-empty");
    let out = sluice(&["test", text(empty.path())]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("the folder has no packet test") && out.status.code() == Some(2), "{said}");
}

/// A test in TOML, of a shipped program with its default entries.
const TOML: &str = r#"program = "l3-ecmp"
chip = ["tofino", "tofino2"]
entries = "default"

[[step]]
name = "a route of the default entries"
repeat = 3
send = { port = 0, frame = { kind = "udp", src = "10.200.0.9", dst = "10.1.0.1", size = 60 } }
expect = { hex = "**** **** **** **** **** **** 8100 0064 0800 4500 .." }

[[step]]
name = "a new route leads to the neighbour at port 8"
add = { table = "ipv4_route", key = { vrf = 0, dst = "10.77.0.0/16" }, action = "ipv4_set_nexthop", args = { nexthop = 9 } }
send = { port = 0, frame = { kind = "udp", src = "10.200.0.9", dst = "10.77.1.1", size = 60 } }
expect = { port = 8, hex = "0200 0000 0208 0200 0000 0001 .." }

[[step]]
name = "a frame that ends inside its header"
send = { port = 0, hex = "0200 0000 0001" }
expect = []
"#;

#[test]
fn tests_in_toml_name_program_entries_and_ports() {
    let dir = folder("toml");
    let file = dir.path().join("route.toml");
    fs::write(&file, TOML).unwrap();
    let (name, all) = (text(&file), text(dir.path()));
    let passed = format!("pass           {name} (tofino)\npass           {name} (tofino2)\n2 passed\n");
    assert_eq!(ok(&["test", name]), passed);
    assert_eq!(ok(&["test", all]), passed);
    fs::write(&file, TOML.replace("port = 8,", "port = 9,")).unwrap();
    let out = sluice(&["test", name, "--chip", "tofino2"]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1));
    for part in [
        "route.toml:14: a packet that no line expects left by port 8: 02000000 0208",
        "route.toml:15: no packet left by port 9;",
    ] {
        assert!(said.contains(part), "{part}:\n{said}");
    }
}

#[test]
fn packets_of_captures_are_sent_and_expected() {
    let dir = folder("toml-pcap");
    let path = |name: &str| dir.path().join(name);
    ok(&["gen", "udp", "--dst", "10.77.1.1", "--size", "60", "--packets", "2", "-o", text(&path("in.pcap"))]);
    let step = "[[step]]\nsend = { port = 0, pcap = \"in.pcap\" }\n";
    let test = format!(
        "program = \"ecmp\"\nset = {{ ports = 2 }}\n{step}expect = {{ port = 0, pcap = \"in.pcap\" }}\n"
    );
    fs::write(path("t.toml"), test).unwrap();
    let said = String::from_utf8(sluice(&["test", text(&path("t.toml"))]).stdout).unwrap();
    // Without entries the program drops both packets; the two lines of `expect` say so.
    assert_eq!(said.matches("no packet left by port 0; expected").count(), 2, "{said}");
}

#[test]
fn mistakes_of_toml_tests_have_line_and_column() {
    let dir = folder("toml-wrong");
    let file = dir.path().join("t.toml");
    for (found, mistake, expected) in [
        ("[[step]]", "[[stpe]]", "t.toml:5:3: unknown key `stpe` of a file; did you mean `step`?"),
        (
            "expect = { port",
            "expct = { port",
            "t.toml:15:1: unknown key `expct` of a step; did you mean `expect`?",
        ),
        ("repeat = 3", "repeat = 3000", "t.toml:7:10: `repeat` is 3000; expected a number from 1 to 1000"),
        (
            "port = 8,",
            "port = 99,",
            "t.toml:15:10: front-panel port 99: tofino2 at 400Gbps per port has ports 0 to 31",
        ),
        ("port = 8,", "port = \"x\",", "t.toml:15:19: `x` is not a port"),
        ("\"udp\"", "\"udq\"", "t.toml:8:28: kind: found `udq`, expected \"udp\", \"tcp\""),
        ("size = 60", "szie = 60", "t.toml:8:28: found key `szie`"),
        ("0200 0000 0001\"", "0200 0000 000\"", "t.toml:19:26: the bytes end with half a byte"),
        (
            "0200 0000 0208",
            "0200 00zz 0208",
            "t.toml:15:28: `z` in `00zz` is no hexadecimal digit, `*` or `$`",
        ),
        ("port = 0, hex", "hex", "t.toml:19:8: `port` is missing"),
        ("hex = \"0200 0000 0001\"", "pcap = \"no.pcap\"", "t.toml:19:27: no.pcap: there is no such file"),
        ("nexthop = 9", "nextop = 9", "named `nextop`; expected one of: nexthop; did you mean `nexthop`?"),
        ("\"default\"", "\"defalt\"", "defalt: there is no such file"),
        ("\"l3-ecmp\"", "\"l3-ecm\"", "there is no program `l3-ecm`; did you mean `l3-ecmp`?"),
        ("entries = ", "entries ", "t.toml:3:"),
    ] {
        assert!(TOML.contains(found), "{found}");
        fs::write(&file, TOML.replacen(found, mistake, 1)).unwrap();
        let out = sluice(&["test", text(&file), "--chip", "tofino2"]);
        let said = String::from_utf8(out.stdout).unwrap();
        assert!(said.contains(expected) && out.status.code() == Some(1), "{expected}:\n{said}");
    }
}
