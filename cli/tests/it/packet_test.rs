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
