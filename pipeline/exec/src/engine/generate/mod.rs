//! Writes a placed program as Rust, which [`generated`] runs once it is compiled.
//!
//! The text follows from the lowered program alone and determines what the code does, so a program that lowers to the
//! same text may run the code. The text contains no entries, members, port metadata, sizes of tables and registers, or
//! functions of stateful ALUs and hashes. Most constants are in a pool apart from the text. This module writes the
//! frame of the text, and how a gress begins and ends.
//!
//! [`generated`]: super::generated

mod control;
mod gate;

use super::code::GressCode;
use super::deparser::Store;
use super::error::LowerError;
use super::field::FieldAt;
use super::rust_text::{Out, read};
use crate::cover::Points;
use sha2::{Digest, Sha256};
use sluice_asic::gress::Gress;
use sluice_ir::{Intrinsic, Program};
use sluice_place::Placement;
use std::fmt::Write;

/// Program as Rust: the body of a module with a constant `PROGRAM`, a [`Generated`](super::generated::Generated).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    gresses: String,
    program: String,
    chip: String,
    words: [usize; 2],
    /// Constants of each gress that are not in the text.
    pub(super) pools: [Vec<u32>; 2],
}

/// Writes a placed program as Rust. With `points`, the code counts the packets that reach each of them.
///
/// # Errors
/// If the engine cannot run the program.
pub fn generate(
    program: &Program,
    placement: &Placement,
    points: Option<&Points>,
) -> Result<Text, LowerError> {
    let code = |gress| super::lower::lower(program, placement, gress, points);
    Ok(text(program, placement, [&code(Gress::Ingress)?, &code(Gress::Egress)?]))
}

/// Writes a lowered program.
pub(super) fn text(program: &Program, placement: &Placement, gresses: [&GressCode; 2]) -> Text {
    let (mut out, mut pools) = (Out::default(), [Vec::new(), Vec::new()]);
    for ((code, name), pool) in gresses.iter().zip(["ingress", "egress"]).zip(&mut pools) {
        gress(&mut out, code, name);
        *pool = std::mem::take(&mut out.pool);
    }
    let (words, chip) = (gresses.map(|code| code.slots), placement.chip.name.to_string());
    Text { gresses: out.text, program: program.name.clone(), chip, words, pools }
}

impl Text {
    /// Returns the SHA-256 of the text, which is the same on every machine.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.gresses).into()
    }

    /// Returns the body of the module.
    #[must_use]
    pub fn source(&self) -> String {
        let Text { gresses, program, chip, words: [ingress, egress], .. } = self;
        let mut text = gresses.clone();
        let digest = self.digest();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "/// `{program}` on {chip}.\n\
             pub const PROGRAM: ::sluice_exec::engine::generated::Generated =\n\
             \x20   ::sluice_exec::engine::generated::Generated {{\n\
             \x20       program: {program:?},\n\
             \x20       chip: {chip:?},\n\
             \x20       digest: {digest:?},\n\
             \x20       gresses: [\n\
             \x20           ::sluice_exec::engine::generated::GressFn::of::<ingress::Gress, {ingress}>(),\n\
             \x20           ::sluice_exec::engine::generated::GressFn::of::<egress::Gress, {egress}>(),\n\
             \x20       ],\n\
             \x20   }};\n"
        );
        text
    }
}

/// Returns the texts as modules of these names, and the list `PROGRAMS` of all of them. Build scripts write this to a
/// file.
#[must_use]
pub fn module(texts: &[(String, Text)]) -> String {
    let mut all = String::new();
    // The code is as long as the programs, and not meant for readers.
    let lints = "clippy::all, clippy::pedantic, unreachable_pub, unused, unused_comparisons, missing_docs";
    for (name, text) in texts {
        let _ = writeln!(all, "#[allow({lints})]\nmod {name} {{\n{}}}\n", text.source());
    }
    let list: Vec<String> = texts.iter().map(|(name, _)| format!("{name}::PROGRAM")).collect();
    let of = "::sluice_exec::engine::generated::Generated";
    let _ = writeln!(
        all,
        "/// All of them.\n#[allow({lints})]\npub const PROGRAMS: &[{of}] = &[{}];",
        list.join(", ")
    );
    all
}

fn gress(out: &mut Out, code: &GressCode, name: &str) {
    out.open(&format!("mod {name}"));
    out.line("use ::sluice_exec::engine::generated::*;");
    out.line("use ::sluice_exec::pass::{PassIn, PassOut};");
    out.line(&format!("type W = Words<{}>;", code.slots));
    out.line("pub struct Gress;");
    out.open(&format!("impl Code<{}> for Gress", code.slots));
    enter(out, code);
    out.open("fn parse(x: &mut Lane<'_>, w: &W) -> u16");
    out.line(&code.parser.entrance());
    out.close();
    out.open("fn parser_error(w: &W, error: u64)");
    for (_, at) in code.inputs.iter().filter(|(which, _)| *which == Intrinsic::ParserErr) {
        out.write(at, "error", "u64");
    }
    out.close();
    out.open("fn control(x: &mut Lane<'_>, w: &W)");
    control::steps(out, code, Some(0));
    out.close();
    out.open("fn ghost(x: &mut Lane<'_>, w: &W)");
    control::steps(out, code, code.ghost);
    out.close();
    leave(out, code);
    out.close();
    code.parser.states(out, &code.hashes);
    out.close();
}

/// Writes the function that sets intrinsic fields.
fn enter(out: &mut Out, code: &GressCode) {
    out.open("fn enter(w: &W, input: &PassIn, bytes: u32)");
    for (which, at) in &code.inputs {
        let value = match which {
            Intrinsic::IngressPort | Intrinsic::EgressPort => "input.port",
            Intrinsic::UcastEgressPort => {
                out.write(at, &Intrinsic::NO_PORT.to_string(), "u64");
                continue;
            }
            Intrinsic::IngressMacTstamp => "input.mac_tstamp",
            Intrinsic::GlobalTstamp => "input.global_tstamp",
            Intrinsic::EnqQdepth => "input.enq_qdepth",
            Intrinsic::EnqTstamp => "input.enq_tstamp",
            Intrinsic::DeqQdepth => "input.deq_qdepth",
            Intrinsic::DeqTimedelta => "input.deq_timedelta",
            Intrinsic::EgressQid => "input.qid",
            Intrinsic::PktLength => "bytes",
            Intrinsic::ResubmitFlag => "input.resubmitted",
            Intrinsic::EgressRid => "input.rid",
            Intrinsic::EgressRidFirst => "input.rid_first",
            Intrinsic::EgressCos => "input.cos",
            Intrinsic::DeflectionFlag => "input.deflected",
            Intrinsic::EnqCongestStat => "input.enq_congest_stat",
            // Set after parsing, or zero at the start.
            _ => continue,
        };
        out.write(at, &format!("u64::from({value})"), "u64");
    }
    out.close();
}

/// Writes the function that stores headers.
fn store(out: &mut Out, code: &GressCode) {
    out.open("fn store(w: &W, header: u8, whole: bool, to: &mut [u8])");
    out.open("match (header, whole)");
    for (number, bytes, both) in code.deparser.stored() {
        for (whole, stores) in [true, false].into_iter().zip(both).filter(|(_, stores)| !stores.is_empty()) {
            out.open(&format!("({number}, {whole}) =>"));
            out.line(&format!("let Some(to) = to.first_chunk_mut::<{bytes}>() else {{ return }};"));
            for Store { at, bytes, slot } in stores {
                let end = at + u32::from(bytes);
                out.line(&match (slot, bytes) {
                    (Some(slot), 1) => format!("to[{at}] = w[{slot}].get() as u8;"),
                    (Some(slot), 2) => {
                        format!("to[{at}..{end}].copy_from_slice(&(w[{slot}].get() as u16).to_be_bytes());")
                    }
                    (Some(slot), bytes) => format!(
                        "to[{at}..{end}].copy_from_slice(&w[{slot}].get().to_be_bytes()[{}..]);",
                        4_u8.saturating_sub(bytes)
                    ),
                    (None, _) => format!("to[{at}..{end}].fill(0);"),
                });
            }
            out.close();
        }
    }
    out.line("_ => {}");
    out.close();
    out.close();
}

/// Writes the functions for the end of a pass: outputs to the device, whether there are requests, headers, valid
/// headers.
fn leave(out: &mut Out, code: &GressCode) {
    out.open("fn outputs(w: &W, out: &mut PassOut)");
    let mut told = |at: &Option<FieldAt>, to: &str, form: &dyn Fn(String) -> String| {
        if let Some(at) = at {
            out.line(&format!("out.{to} = {};", form(read(at, "u32"))));
        }
    };
    let flag = |value| format!("{value} == 1");
    told(&code.port, "port", &|value| format!("{value} as u16"));
    told(&code.qid, "qid", &|value| format!("{value} as u8"));
    told(&code.cos, "cos", &|value| format!("{value} as u8"));
    told(&code.bypass, "bypass", &flag);
    told(&code.deflect, "deflect", &flag);
    told(&code.colour, "colour", &|value| format!("{value} as u8"));
    out.close();
    out.open("fn asks(w: &W) -> bool");
    let asked = code.requests.conditions().into_iter().map(|(at, mask, wanted)| match wanted {
        Some(value) => format!("({} & {mask:#x} == {value})", read(&at, "u32")),
        None => format!("({} & {mask:#x} != 0)", read(&at, "u32")),
    });
    let asked: Vec<String> = asked.collect();
    out.line(if asked.is_empty() { "false" } else { "" });
    out.line(&asked.join(" || "));
    out.close();
    store(out, code);
    out.open("fn valid(w: &W) -> u64");
    let valid = code.deparser.valid_bits();
    let valid = valid.map(|(slot, mask, right, left)| {
        format!("u64::from((w[{slot}].get() & {mask:#x}) >> {right}) << {left}")
    });
    let valid: Vec<String> = valid.collect();
    out.line(if valid.is_empty() { "0" } else { "" });
    out.line(&valid.join(" | "));
    out.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256_of_the_text_alone() {
        let text = |gresses: &str, program: &str| Text {
            gresses: gresses.to_owned(),
            program: program.to_owned(),
            chip: "tofino2".to_owned(),
            words: [1, 2],
            pools: [vec![3], Vec::new()],
        };
        // The example of FIPS 180.
        let abc: String = text("abc", "a").digest().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(text("abc", "a").digest(), text("abc", "b").digest());
        assert_ne!(text("abc", "a").digest(), text("abd", "a").digest());
    }
}
