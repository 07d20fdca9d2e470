//! Lowering: snippets to the text form of the program, and messages on what has no home there.

mod actions;
mod author;
mod corpus;
mod flow;
mod refused;
mod registers;
mod stages;

use sluice_asic::intrinsic::Architecture;
use sluice_p4::diagnostic::render;
use sluice_p4::elaborate::elaborate;
use sluice_p4::lower::{Lowered, Source, lower};

/// Lowers a program whose ingress control has these declarations and this `apply` block.
fn lowered(declarations: &str, apply: &str) -> Result<Lowered, String> {
    lowered_in(PROGRAM, declarations, apply)
}

fn lowered_in(program: &str, declarations: &str, apply: &str) -> Result<Lowered, String> {
    let text = program.replace("DECLARATIONS", declarations).replace("APPLY", apply);
    let snippet = crate::check::snippet(Architecture::Tna, &text);
    let (mut ast, mut checked, mut diagnostics) = (snippet.ast, snippet.checked, snippet.diagnostics);
    let messages = |diagnostics: &sluice_p4::diagnostic::Diagnostics| -> String {
        diagnostics.list().iter().map(|one| render(&snippet.sources, one) + "\n").collect()
    };
    if diagnostics.errors() > 0 {
        return Err(messages(&diagnostics));
    }
    sluice_p4::core::simplify(&mut ast, &mut checked, &mut |_, _| {});
    let pipe = elaborate(&ast, &mut checked, &mut diagnostics).ok_or_else(|| messages(&diagnostics))?;
    let source = Source { ast: &ast, pipe: &pipe, texts: &snippet.sources, chip: Architecture::Tna };
    lower(source, &mut checked, &mut diagnostics).ok_or_else(|| messages(&diagnostics))
}

/// Returns the actions, tables, register actions and control blocks of the program in its text form.
fn text(declarations: &str, apply: &str) -> String {
    text_of(PROGRAM, declarations, apply)
}

fn text_of(program: &str, declarations: &str, apply: &str) -> String {
    let lowered = lowered_in(program, declarations, apply).unwrap_or_else(|messages| panic!("{messages}"));
    let text = sluice_ir::text::print(&lowered.program);
    let blocks = text.split("\n\n");
    let kept = ["action ", "table ", "register ", "register_action ", "control ", "hash ", "counter "];
    let code = blocks.filter(|block| kept.iter().any(|word| block.trim_start().starts_with(word)));
    code.map(|block| block.trim_end().to_owned() + "\n").collect()
}

/// Returns the messages on a program that does not lower.
fn refused(declarations: &str, apply: &str) -> String {
    match lowered(declarations, apply) {
        Ok(lowered) => panic!("it lowers:\n{}", sluice_ir::text::print(&lowered.program)),
        Err(messages) => messages,
    }
}

const PROGRAM: &str = "header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_h { bit<8> ttl; bit<8> proto; bit<16> len; bit<32> src; bit<32> dst; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; }
struct meta_t { bit<8> a; bit<8> b; bit<16> word; bit<32> wide; bit<1> flag; }
parser IP(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { transition accept; }
}
control Twice(inout bit<8> x, inout bit<16> word, in bit<8> by) {
    action add() { x = x + by; }
    table t { key = { word : exact; } actions = { add; } default_action = add(); }
    apply { t.apply(); }
}
control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
DECLARATIONS
    apply {
APPLY
    }
}
control ID(packet_out pkt, inout headers_t hdr, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
parser EP(packet_in pkt, out headers_t hdr, out meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { transition accept; }
}
control Egress(inout headers_t hdr, inout meta_t m, in egress_intrinsic_metadata_t eg,
        in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
        inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {}
}
control ED(packet_out pkt, inout headers_t hdr, in meta_t m, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
Pipeline(IP(), Ingress(), ID(), EP(), Egress(), ED()) pipe;
Switch(pipe) main;
";
