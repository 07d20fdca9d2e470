//! Parsers and deparsers as the chip's states. `parde.txt` has sections of a title (`## ...`), states of an ingress parser, a deparser
//! in which `md` and `dprsr` are the metadata and the types, and, after `=>`, the parser and deparser of the program, what its
//! control decides for the deparser, or what is wrong. The declarations are in `shell.p4`. `UPDATE_EXPECT=1` writes the results anew.

use expect_test::expect_file;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{text, verify};
use sluice_p4::diagnostic::{Severity, render};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::{Options, parse};

const GOLDEN: &str = include_str!("parde.txt");
const SHELL: &str = include_str!("shell.p4");

#[test]
fn parsers_and_deparsers_become_those_of_the_chip() {
    let mut text = String::new();
    for section in GOLDEN.split("## ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a section has a title and a program");
        let program = rest.split("=>\n").next().unwrap_or_default();
        let found = lowered(title, program);
        text.push_str(&format!("## {title}\n{program}=>\n{}\n\n", found.trim_end()));
    }
    expect_file!["parde.txt"].assert_eq(&text);
}

/// Returns the parser and deparser of ingress, notes, and errors.
fn lowered(title: &str, part: &str) -> String {
    let chip = match title.contains("Tofino 2") {
        true => Architecture::T2na,
        false => Architecture::Tna,
    };
    let (parser, deparser) = part.split_once("---\n").unwrap_or((part, "pkt.emit(hdr);\n"));
    let (before, states) = parser.split_once("===\n").unwrap_or(("", parser));
    let program = format!(
        "{before}parser P(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig) {{\n{states}}}\n\
         control D(packet_out pkt, inout headers_t hdr, in metadata_t md, \
         in ingress_intrinsic_metadata_for_deparser_t dprsr) {{\n\
         Mirror() mirror; Resubmit() resubmit; Digest<note_h>() digest; Checksum() sum;\napply {{\n{deparser}}}\n}}\n"
    );
    let texts = Texts::new().with("main.p4", &SHELL.replace("// PROGRAM\n", &program));
    let options = Options { chip, ..Options::default() };
    let mut parsed = parse(&WithPrelude::new(texts, chip), "main.p4", &options);
    let Ok(made) = parsed.lower(chip) else {
        let errors = parsed.diagnostics.list().iter().filter(|found| found.severity == Severity::Error);
        return errors.map(|found| render(&parsed.sources, found) + "\n").collect();
    };
    let mut found = String::new();
    for note in &made.notes {
        found.push_str(&format!("note: {}: {}\n", note.what, note.effect));
    }
    for diag in verify::verify(&made.program).iter().filter(|diag| diag.severity == verify::Severity::Error) {
        found.push_str(&format!("{diag}\n"));
    }
    let text = text::print(&made.program);
    for part in ["parser ingress {\n", "control ingress {\n", "deparser ingress {\n"] {
        let start = text.find(&format!("\n{part}")).map(|at| at + 1);
        let Some(part) = start.map(|start| &text[start..]) else { continue };
        found.push_str(part.split_inclusive("\n}\n").next().unwrap_or_default());
    }
    found
}
