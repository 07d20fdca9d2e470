//! `sluice check` of P4 programs.

use super::support::{folder, ok, refused, sluice, text};
use serde_json::Value;
use std::fs;

/// P4 programs beside shipped programs that are whole and can be lowered.
const WHOLE: [&str; 3] = ["balance/balance.p4", "ecn_mark/ecn_mark.p4", "l3_ecmp/l3_ecmp.p4"];
/// P4 programs that are lowered, without a statement on their place.
const LOWERED: [&str; 2] = ["hpcc_int/hpcc_int.p4", "pfc/pfc.p4"];
/// Programs whose P4 is a part that the leaf includes.
const PARTS: [&str; 3] = ["drb", "presto", "spray"];

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

#[test]
fn the_p4_programs_beside_the_shipped_programs_are_lowered_and_fit() {
    let path = |name: &str| format!("{}/../programs/src/{name}", env!("CARGO_MANIFEST_DIR"));
    for program in WHOLE {
        let said = ok(&["check", "--place", &path(program)]);
        assert!(said.contains("fits tofino2: "), "{program}: {said}");
    }
    for program in LOWERED {
        let said = ok(&["check", &path(program)]);
        assert!(said.contains("no mistakes"), "{program}: {said}");
    }
    let (types, leaf) = (path("leaf/types.p4"), path("leaf/pipe.p4"));
    for part in PARTS {
        let part = path(&format!("{part}/choose.p4"));
        let said = ok(&["check", &leaf, "--include", &types, "--include", &part]);
        assert!(said.contains("program `pipe`: 5 headers, 7 tables, "), "{part}: {said}");
    }
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
