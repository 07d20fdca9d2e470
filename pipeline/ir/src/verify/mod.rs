//! The verifier: whether a program is legal on any chip, and what its author probably did not mean.
//!
//! Every rule is listed here. Findings accumulate; each names the entity, the place, found and expected, and a remedy.
//!
//! **References** (`references`). Every entity that anything names exists; if one does not, nothing else is
//! checked. An entity is used only in its own gress: only bytes cross.
//!
//! **Entities** (`entities`). Names are letters, digits, `_`, `.`, `-`, `$`, and unique: fields, headers and
//! states per gress, the rest per program, parameters per action. Labels are snake_case. Fields and
//! parameters are 1 to 128 bits wide. Every header field stands exactly once in the field list of its own
//! header, and nowhere else; a header has at least one byte and a whole number of them. An intrinsic field
//! exists in its gress, is declared once and as wide as on Tofino 2. A stack has elements, all of one layout, and
//! no header is in two of them. Port metadata is ingress'.
//!
//! **Values** (`values`). Constants and casts are 1 to 128 bits wide and constants fit. Slices lie within
//! their value. A parameter exists and has the width it is used with. Both operands of an ALU operation are
//! equally wide, except a shift's amount.
//!
//! **Parser** (`parser`). Loops end: every lap extracts an element of a stack, or counts with the parser counter
//! and selects on it. Each arm of a select has one value and
//! mask per select key; values fit their key and lie within their mask; a state with arms selects on
//! something. Selected and checksummed header fields were extracted on every path to there, and so was the last
//! element of a stack that is selected on; metadata cannot
//! be selected on, and intrinsic fields only if the hardware fills them before the parser runs. No header is
//! extracted twice on a path. A parser sets metadata only, from a constant, from a field that the same
//! state extracted before, of the same width, or from whole bytes ahead. A checksum is verified into a 1-bit
//! metadata field, over header fields that make whole bytes. The counter is loaded from a header field of at most
//! 8 bits that was extracted, and is not taken from an empty stack. A state moves on by at least a byte where it says that it moves.
//!
//! **Header validity** (`headers`). The possible sets of valid headers are followed from the parser through
//! the control block, filtered by `is_valid()`; a miss runs the declared default action. Reading a field of
//! a header that is never valid there is an error, of one that may be invalid a warning. A key of a header that
//! is never valid is a papercut, of one that may be invalid usual. An action reads the PHV as it was before it.
//! A statement that no packet reaches is a warning. Beyond 4096 different sets
//! only "surely valid" and "possibly valid" are kept; headers of a gress beyond the 128th are not followed.
//! A program that declares `parser_err` sees packets whose parsing stopped anywhere. Moves within a stack may read
//! elements that are not valid.
//!
//! **Actions** (`actions`). Every primitive is one VLIW instruction: its value is a leaf (a field, constant
//! or parameter, or slices and casts of one) or one ALU operation on two leaves, at least one of them from
//! the PHV. Value and destination are equally wide; the destination is no intrinsic field that only the
//! hardware writes. Shifts are by constants. What is set under a
//! mask, and the mask, are action data, the mask as wide as the field or a parameter of one bit. No primitive reads or writes what an earlier one of the same
//! action wrote. Hash results have the hash's width,
//! slices of them lie within it. A direct counter is counted with its entry, by actions
//! that only its own table runs; an indirect one by an index, a leaf that can be below its size; an action
//! counts a counter once. Validity is copied between elements of one stack only.
//!
//! **Hashes** (`hashes`). 1 to 64 bits wide; the seed fits; the rotation is below the width; at least one
//! input; inputs are leaves without parameters.
//!
//! **Registers** (`registers`). A register has elements, and a first value that fits them. A register action
//! names only halves that the element has and output words 0 to 3; constants fit a half; packet values are fields
//! or slices and casts of one, at most as wide as a half; halves of more than 32 bits are copied, not computed
//! on or compared. An access has an index, a leaf that can be below the size; it takes output words that the
//! action writes, into fields of at most 32 bits.
//!
//! **Counters** (`counters`). A counter has cells, of a format that holds what it counts; its adjustment of lengths
//! has 14 bits.
//!
//! **Meters** (`meters`). A meter, filter or WRED has cells, and a first configuration of its kind. A colour goes
//! into 2 to 32 bits and a packet's own colour has 2; filters and WRED take samples of at most 32 bits. Random
//! numbers have 1 to 32 bits and go into fields of that width.
//!
//! **Arrays** (`arrays`). A counter, register or meter is accessed at most once on any path of a pass, and a pass
//! draws from a generator of random numbers once. A direct array is accessed at its entry, by actions that only its
//! own table runs; a table has at most one direct register or meter.
//!
//! **Tables** (`tables`). Room for at least one entry if there are keys, at most one LPM key, no ternary or range key beside it, no field twice.
//! A range key has at most 20 bits, and its bounds hold a value.
//! Actions are listed once. Defaults and constant entries give one fitting value per parameter; entries have
//! one value per key, of the key's kind, within its width, mask and prefix length; their action is listed;
//! they are not more than the size and differ from each other. A table with a profile has keys and no
//! constant entries; tables that share a profile list the same actions; sizes, groups and group sizes are
//! positive and a group fits the selector. A table has at most one direct counter. One
//! that ages takes entries at run time, with 1, 2, 3 or 6 bits each, which count its time to live. An ALPM has an lpm key and an ATCAM an exact
//! key that is its partition beside a ternary or lpm one; both have 1024 to 8192 partitions and no ranges.
//!
//! **Control** (`control`). A table is applied in one place, in its own gress. `hit`/`miss` and `run` do not
//! both follow it; `run` names each action once, and only such as the table can run. A called action has no
//! parameters. A condition compares a field or slice with a constant, or two fields or slices, equally wide.
//!
//! **Deparser** (`deparser`). A header is emitted once; one that may be valid in the end but is not emitted
//! is a warning, unless egress merely extracts it: a bridged header ends there. A checksum update writes a 16-bit field of its header, once, from other fields of headers
//! that are emitted and from metadata, whole bytes of them, and whole words of each if there are several; a header that
//! has one is emitted.
//!
//! **Requests** (`requests`). Resubmits and digests are ingress'. A request's value of the type field is at
//! least 1, fits the field and is asked for once per kind; the gress declares the type field. A session is 10 bits wide. A digest
//! has a header. A header that ends in front of a resubmitted packet is one that the parser extracts, which it can
//! only decide by `resubmit_flag` (a warning).
//!
//! **Ghost** (`ghost`). The ghost control has no packet: it uses no header, no intrinsic field but those of its
//! update, which in turn no other part of the program uses; it writes metadata and registers only, and neither
//! drops nor counts. It writes a register, and ingress reads one that it writes (a warning).
//!
//! **Together** (`together`). What must be of one pipe names at least one register and two ports, none twice, and says
//! why.
//!
//! **Papercuts** (`papercut`), warnings: unused actions, hashes, labels, profiles, counters, registers, register actions, meters and
//! generators; a table never applied; a parser state never reached; a header emitted but never valid; metadata read but never written;
//! an ingress that never writes `ucast_egress_port`; a selector hash narrower than its mode reads; a shift
//! that leaves nothing; an index that cannot reach all of its counter; a select arm that an equal one hides;
//! intrinsic metadata that the model does not fill or obey.
//!
//! **Chip** (`chip`, by [`for_chip`]): what a chip lacks, without placing anything. ALU operations exist. A
//! selector's mode is the chip's (a warning). A table's key fits the crossbars of one stage. Constants
//! written to `qid` fit the chip's queue numbers, and parameters may not (a warning). Ordered comparisons are
//! of a field with a constant. The deepest parser path, the longest emission, the number of headers, action
//! data per entry and stage pins are within limits. The actions of a register map onto one stateful ALU
//! ([`crate::salu`]). The chip has every intrinsic field that is declared, constants
//! written to a type field fit it there, and the headers of requests are not longer than they may be. An egress
//! that mirrors on Tofino 2 says of what (a warning). Port metadata fits the chip's slot. Where a parser
//! cannot clear containers, no path writes a metadata field twice. The parser counter's stack is
//! deep enough.

mod actions;
mod arrays;
mod chip;
mod control;
mod counters;
mod deparser;
mod diag;
mod entities;
mod ghost;
mod hashes;
mod headers;
mod meters;
mod papercut;
mod parser;
mod possible;
mod reach;
mod references;
mod registers;
mod requests;
mod tables;
#[cfg(test)]
mod tests;
mod together;
mod values;

pub use diag::{Diag, Severity};
pub use reach::{ControlReach, control_reach};

use crate::{Home, Loc, Program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

/// All findings about a program that hold for every chip.
#[must_use]
pub fn verify(program: &Program) -> Vec<Diag> {
    let mut d = Vec::new();
    if !references::check(program, &mut d) {
        return d;
    }
    entities::check(program, &mut d);
    hashes::check(program, &mut d);
    for gress in Gress::ALL {
        parser::check(program, gress, &mut d);
    }
    registers::check(program, &mut d);
    meters::check(program, &mut d);
    counters::check(program, &mut d);
    arrays::check(program, &mut d);
    actions::check(program, &mut d);
    tables::check(program, &mut d);
    control::check(program, &mut d);
    for gress in Gress::ALL {
        let after = headers::check(program, gress, &mut d);
        deparser::check(program, gress, after.as_ref(), &mut d);
        requests::check(program, gress, &mut d);
    }
    ghost::check(program, &mut d);
    together::check(program, &mut d);
    papercut::check(program, &mut d);
    unique(d)
}

/// All findings about a program on this chip that need no placement. Rules that hold for every chip are
/// [`verify`]'s and are not repeated; a program that breaks them may have fewer findings here.
#[must_use]
pub fn for_chip(program: &Program, chip: &ChipSpec) -> Vec<Diag> {
    let mut d = Vec::new();
    if references::check(program, &mut Vec::new()) {
        chip::check(program, chip, &mut d);
    }
    unique(d)
}

/// Whether any finding forbids using the program.
#[must_use]
pub fn has_errors(diags: &[Diag]) -> bool {
    diags.iter().any(|d| d.severity == Severity::Error)
}

/// An action run from several places is checked in each: the same finding is reported once.
fn unique(diags: Vec<Diag>) -> Vec<Diag> {
    let mut seen = std::collections::BTreeSet::new();
    let key = |d: &Diag| (d.text.clone(), d.at.file, d.at.line, d.at.col);
    diags.into_iter().filter(|d| seen.insert(key(d))).collect()
}

/// Where something stands: who does it and in which gress.
#[derive(Clone, Copy)]
struct Site<'s> {
    /// As in "action `forward`".
    who: &'s str,
    gress: Option<Gress>,
    loc: Loc,
}

/// An intrinsic field that only the hardware writes.
fn is_read_only(program: &Program, field: crate::Field) -> bool {
    matches!(program.fields[field].home, Home::Intrinsic(which) if !which.info().writable)
}

/// A number of things: `1 bit`, `3 bits`.
fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Whether a value has no bits above `width`.
fn fits(value: u128, width: u16) -> bool {
    value & !sluice_asic::alu::width_mask(width.into()) == 0
}
