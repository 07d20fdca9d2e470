//! Headers that no packet has.
//!
//! Programs use headers as structures of metadata: the parser does not extract them, and no action makes them valid. Their
//! fields are metadata on the chip, and so they are here.

use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Effects, Var};
use sluice_ir::{Field, FieldData, Header, Home, Next, ParserOp, ParserOpKind, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// Makes metadata of the fields of headers that are never valid, and leaves these headers out of the deparsers. Headers whose
/// fields requests send keep their layout; if a control reads them, the parser makes them valid.
pub(super) fn headers_to_metadata(program: &mut Program) {
    let mut there = possibly_valid(program);
    let sent: BTreeSet<Header> = sent(program).difference(&there).copied().collect();
    let read = read_by_controls(program);
    for &header in sent.intersection(&read) {
        make_valid(program, header);
    }
    there.extend(sent);
    let idle: Vec<Header> = program.headers.keys().filter(|h| !there.contains(h)).collect();
    for header in idle {
        for pipe in &mut program.pipes {
            pipe.deparser.emit.retain(|other| *other != header);
            pipe.deparser.checksums.retain(|checksum| checksum.header != header);
        }
        let data = &program.headers[header];
        let (name, gress, loc) = (format!("{}.$unused", data.name), data.gress, data.loc);
        // A header has at least one byte.
        let home = Home::Header(header);
        let unused = program.fields.push(FieldData { name, gress, width: 8, home, doc: String::new(), loc });
        let fields = std::mem::replace(&mut program.headers[header].fields, vec![unused]);
        for field in fields {
            program.fields[field].home = Home::Metadata;
        }
    }
}

/// Makes a header valid where parsing starts. The deparser does not send it.
fn make_valid(program: &mut Program, header: Header) {
    let data = &program.headers[header];
    let (gress, loc) = (data.gress, data.loc);
    program.pipes[gress.index()].deparser.emit.retain(|other| *other != header);
    if let Next::State(start) = program.pipes[gress.index()].start {
        program.states[start].ops.insert(0, ParserOp { kind: ParserOpKind::SetValid(header, true), loc });
    }
}

/// Returns the headers whose fields a control reads.
fn read_by_controls(program: &Program) -> BTreeSet<Header> {
    let mut found = BTreeSet::new();
    for gress in Gress::ALL {
        let cfg = Cfg::of(program, gress);
        for node in cfg.nodes.keys() {
            let Effects { match_reads, action_reads, .. } = cfg.effects(program, node);
            for var in match_reads.into_iter().chain(action_reads) {
                if let Var::Field(field) = var
                    && let Home::Header(header) = program.fields[field].home
                {
                    found.insert(header);
                }
            }
        }
    }
    found
}

/// Returns the headers whose fields requests send.
fn sent(program: &Program) -> BTreeSet<Header> {
    let mut found = BTreeSet::new();
    for request in program.pipes.iter().flat_map(|pipe| &pipe.deparser.requests) {
        request.fields(&mut |field| {
            if let Home::Header(header) = program.fields[field].home {
                found.insert(header);
            }
        });
    }
    found
}

/// Returns the headers that can be valid, and those that a parser's checksum reads.
fn possibly_valid(program: &Program) -> BTreeSet<Header> {
    let mut found = BTreeSet::new();
    let mut reads: Vec<Field> = Vec::new();
    for op in program.states.values().flat_map(|state| &state.ops) {
        match &op.kind {
            ParserOpKind::Extract(header) | ParserOpKind::SetValid(header, true) => _ = found.insert(*header),
            ParserOpKind::ExtractNext(_) | ParserOpKind::Advance(_) | ParserOpKind::PopCounter => {}
            ParserOpKind::VerifyChecksum(_, fields) | ParserOpKind::SubtractChecksum(_, fields) => {
                fields.iter().for_each(|input| input.fields(&mut |field| reads.push(field)));
            }
            ParserOpKind::Set(..)
            | ParserOpKind::SetSlice(..)
            | ParserOpKind::SetValid(_, false)
            | ParserOpKind::Lookahead(..)
            | ParserOpKind::SetCounter(_)
            | ParserOpKind::AddCounter(_)
            | ParserOpKind::PushCounter(..) => {}
        }
    }
    // The layout of a stack is that of all its elements.
    found.extend(program.stacks.values().flat_map(|stack| stack.headers.iter().copied()));
    for primitive in program.actions.values().flat_map(|action| &action.body) {
        match primitive.kind {
            PrimitiveKind::SetValid(header, true) | PrimitiveKind::CopyValid(header, _) => {
                found.insert(header);
            }
            _ => {}
        }
    }
    let home = |field: Field| match program.fields[field].home {
        Home::Header(header) => Some(header),
        _ => None,
    };
    found.extend(reads.into_iter().filter_map(home));
    found
}
