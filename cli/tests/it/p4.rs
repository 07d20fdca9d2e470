//! `sluice check` of P4 programs.

use super::support::{folder, ok, refused, sluice, text};
use serde_json::Value;
use std::fs;

/// A program that forwards every frame to a port, with `FIELD` written in the action.
const PROGRAM: &str = r#"#include <core.p4>
#include <tna.p4>
#include "ports.p4"
header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
struct headers_t { ethernet_h ethernet; }
struct meta_t {}
parser P(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.ethernet); transition accept; }
}
control C(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    action send(PortId_t port) { tm.FIELD = port; }
    table all { key = { hdr.ethernet.dst : exact; } actions = { send; } const default_action = send(PORT); }
    apply { all.apply(); }
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

#[test]
fn a_program_is_checked_with_its_includes_and_macros() {
    let dir = folder("p4");
    fs::write(dir.path().join("leaf.p4"), PROGRAM).unwrap();
    let leaf = dir.path().join("leaf.p4");
    let (code, said) = refused(&["check", text(&leaf)]);
    assert_eq!(code, 2);
    assert!(said.contains("`ports.p4` is not found") && said.contains("leaf.p4:3:"), "{said}");
    fs::create_dir(dir.path().join("inc")).unwrap();
    fs::write(dir.path().join("inc/ports.p4"), "#ifndef PORT\n#error no port\n#endif\n").unwrap();
    let inc = dir.path().join("inc");
    let base = ["check", text(&leaf), "-I", text(&inc)];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let (_, said) = refused(&with(&["-D", "FIELD=ucast_egress_port"]));
    assert!(said.contains("no port") && said.contains("ports.p4:2:"), "{said}");
    let defined = ["-D", "FIELD=ucast_egress_port", "-D", "PORT=8"];
    for chip in ["tofino", "tofino2"] {
        let said = ok(&with(&[&defined[..], &["--chip", chip]].concat()));
        assert!(
            said.contains("program `leaf`: 2 headers, 1 table, 1 action, 0 registers; no mistakes"),
            "{said}"
        );
    }
    let (_, said) = refused(&with(&["-D", "FIELD=ucast_egress_prt", "-D", "PORT=8"]));
    assert!(said.contains("ucast_egress_prt") && said.contains("ucast_egress_port"), "{said}");
    let said = ok(&with(&[&defined[..], &["--place"]].concat()));
    assert!(said.ends_with("fits tofino2: 1 of 20 stages\n"), "{said}");
    let (_, said) = refused(&with(&[&defined[..], &["--set", "size=3"]].concat()));
    assert!(said.contains("--set size: a P4 program has no parameters"), "{said}");
    let out = sluice(&with(&["-D", "FIELD=mtu", "-D", "PORT=8", "--json"]));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &found["ok"]), (Some(2), &Value::Bool(false)));
    let first = &found["findings"][0];
    assert_eq!((first["severity"].as_str(), first["line"].as_u64()), (Some("error"), Some(13)), "{first}");
}

/// Shipped programs whose P4 is placed here; a test of `sluice-programs` lowers all of them.
const PLACED: [&str; 3] = ["l3-ecmp", "conga", "pfc"];

#[test]
fn shipped_programs_are_written_as_p4_that_is_checked_and_fits() {
    let dir = folder("p4");
    for name in PLACED {
        let written = ok(&["programs", name, "--p4"]);
        let file = dir.path().join(format!("{name}.p4"));
        fs::write(&file, &written).unwrap();
        let said = ok(&["check", "--place", text(&file)]);
        assert!(said.contains("no mistakes") && said.contains("fits tofino2: "), "{name}: {said}");
    }
    let set = ok(&["programs", "l3-ecmp", "--p4", "--set", "neighbors=77"]);
    assert!(set.contains("neighbors=77") && set.contains("size = 77;"), "{set}");
}

#[test]
fn a_program_without_a_form_in_p4_is_refused_by_name() {
    let dir = folder("p4");
    let file = dir.path().join("masked.sluice");
    let ir = ok(&["programs", "ecn-mark", "--ir"]);
    let masked = ir.replace("m.draw = and(m.draw, mask);", "set_masked(m.draw, 32w7, mask);");
    assert_ne!(ir, masked);
    fs::write(&file, masked).unwrap();
    let (code, said) = refused(&["programs", text(&file), "--p4"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("action `cut`: a write under a mask") && said.contains("--ir"), "{said}");
}

/// The program of [`PROGRAM`] sends every frame to dev_port 8, which is front-panel port 0 of both chips.
#[test]
fn a_program_is_replayed() {
    let dir = folder("p4");
    let leaf = dir.path().join("leaf.p4");
    fs::write(&leaf, PROGRAM.replace("#include \"ports.p4\"\n", "")).unwrap();
    for engine in ["fast", "reference"] {
        let run = [
            "replay",
            text(&leaf),
            "-D",
            "FIELD=ucast_egress_port",
            "-D",
            "PORT=8",
            "--engine",
            engine,
            "--json",
        ];
        let summary: Value = serde_json::from_str(&ok(&run)).unwrap();
        let packets = &summary["packets"];
        assert!(packets["in"].as_u64().unwrap() > 0, "{summary}");
        assert_eq!((&packets["out"], packets["dropped"].as_u64()), (&packets["in"], Some(0)), "{packets}");
    }
}
