//! Verifier: checks that a program is legal on every chip, and warns of probable mistakes.
//!
//! All rules are listed here. Every diagnostic names the entity, the place, what was found and expected, and
//! a fix.
//!
//! **References** (`references`). Every entity that is named exists; otherwise nothing else is checked. An
//! entity is used only in its gress, because only bytes pass between the gresses.
//!
//! **Entities** (`entities`). Names consist of letters, digits, `_`, `.`, `-` and `$`. They are unique:
//! fields, headers and states per gress, parameters per action, all others per program. Labels are in
//! snake_case. Fields and parameters are 1 to 128 bits wide. Every header field is listed exactly once, in
//! its header. A header has a whole number of bytes, at least one. An intrinsic field exists in its gress, is
//! declared once, and is as wide as on Tofino 2. A stack has elements, all of one layout, and no header is in
//! two stacks. A value set has fields and room for a member. Port metadata belongs to ingress.
//!
//! **Values** (`values`). Constants and casts are 1 to 128 bits wide, and constants fit. A slice is within
//! its value. A parameter exists and is used with its width. Both operands of an ALU operation are equally
//! wide, except a shift's amount.
//!
//! **Parser** (`parser`). Loops end: every repetition extracts an element of a stack, or counts with the
//! parser counter and selects on it. Each arm of a select has one value and mask per key; values fit their
//! key and are within their mask; a state with arms has a key. A value set in an arm has the widths of the keys from
//! its position on, which have no other value in the arm and are not the counter. Header fields that are selected on or
//! checksummed were extracted on every path, and so was the last element of a stack that is selected on.
//! Metadata cannot be a key; intrinsic fields can, if the hardware fills them before parsing. No header is
//! extracted twice on a path. A parser sets only metadata, from a constant, from a field of the same width
//! that the same state extracted before, or from a look-ahead of whole bytes. A checksum is verified into a
//! 1-bit metadata field, over header fields that form whole bytes. The counter is loaded from an extracted
//! header field of at most 8 bits, and is not popped from an empty stack. A state that advances does so by at
//! least a byte.
//!
//! **Header validity** (`headers`). The possible sets of valid headers are followed from the parser through
//! the control block, and filtered by `is_valid()`; a miss runs the declared default action. Reading a field
//! of a header that is never valid there is an error; if the header may be invalid, it is a warning. A key of
//! a header that is never valid is a warning; if the header may be invalid, it is legal. An action reads the
//! PHV as it was before the action. A statement that no packet reaches is a warning. Above 4096 different
//! sets, only "surely valid" and "possibly valid" are kept. Headers of a gress after the 128th are not
//! followed. A program that declares `parser_err` processes packets whose parsing stopped anywhere. Moves
//! within a stack may read elements that are not valid.
//!
//! **Actions** (`actions`). Every primitive is one VLIW instruction. Its value is a leaf (a field, constant
//! or parameter, or slices and casts of one) or one ALU operation on two leaves, at least one of them from
//! the PHV. Value and destination are equally wide. The destination is not an intrinsic field that only the
//! hardware writes. Shifts are by constants. A masked write takes value and mask from action data; the mask
//! is as wide as the field, or a parameter of one bit. No primitive writes what an earlier primitive
//! of the same action wrote, and none reads it, except for moves that exchange values of fields. Hash results have the hash's width; slices lie within it. A direct counter is
//! counted at its entry, by actions that only its table runs. An indirect counter is counted at an index, a
//! leaf that can be below its size. An action counts a counter once. Validity is copied only between elements
//! of one stack.
//!
//! **Hashes** (`hashes`). A hash is 1 to 64 bits wide; its seed fits; its rotation is below its width; it has
//! at least one input; inputs are leaves without parameters.
//!
//! **Registers** (`registers`). A register has elements, and an initial value that fits them. A register
//! action names only halves that the element has, and output words 0 to 3. Constants fit a half. Packet
//! values are fields, or slices and casts of one, at most as wide as a half. Halves of more than 32 bits are
//! copied, not computed on or compared. An access has an index, a leaf that can be below the size. It takes
//! output words that the action writes, into fields of at most 32 bits.
//!
//! **Counters** (`counters`). A counter has cells, in a format that holds its kind; its adjustment of lengths
//! has 14 bits.
//!
//! **Meters** (`meters`). A meter, filter or WRED array has cells, and an initial configuration of its kind. Only a meter of
//! bytes adjusts lengths, by 14 bits.
//! A colour goes into 2 to 32 bits, and a packet's colour has 2 bits. Filters and WRED take samples of at
//! most 32 bits. Random numbers have 1 to 32 bits and go into fields of that width.
//!
//! **Arrays** (`arrays`). A pass accesses a counter, register or meter at most once on any path, and draws
//! from a generator of random numbers once. A direct array is accessed at its entry, by actions that only its
//! table runs. A table has at most one direct register or meter.
//!
//! **Tables** (`tables`).
//! - A table with keys has room for at least one entry. It has at most one lpm key, no ternary or range key
//!   with an lpm key, and no field twice. A range key has at most 20 bits, and its bounds include a value.
//! - Actions are listed once. Defaults and constant entries have one fitting value per parameter. Entries
//!   have one value per key, of the key's kind, within its width, mask and prefix length. Their action is
//!   listed. They are at most as many as the size, and all different.
//! - A table with a profile has keys and no constant entries. Tables that share a profile list the same
//!   actions. Sizes, groups and group sizes are positive, and a group fits the selector. A table has at most
//!   one direct counter.
//! - A table that ages takes entries at run time, with 1, 2, 3 or 6 bits each, which can count its time to
//!   live.
//! - An ALPM has an lpm key. An ATCAM has an exact key that is its partition, and a ternary or lpm key. Both
//!   have 1024 to 8192 partitions and no range keys.
//!
//! **Control** (`control`). A table is applied in one place, in its gress. It is followed by `hit`/`miss` or
//! by `run`, not both; `run` names each action once, and only actions of the table. A called action has no
//! parameters. A condition compares a field or slice with a constant, or two fields or slices of equal width.
//!
//! **Deparser** (`deparser`). A header that is emitted twice is a warning. A header that may be valid at the end but is not
//! emitted is a warning, unless egress only extracts it, because a bridged header ends there. A checksum
//! update writes a 16-bit field of its header, once or under different flags. Its inputs are metadata, other fields of emitted
//! headers, and zeros: whole bytes in all. A header with a checksum update is emitted.
//!
//! **Requests** (`requests`). Resubmits and digests belong to ingress. A request's value of the type field is
//! at least 1 unless a 1-bit field decides, too; it fits the field, and is used once per kind; the gress declares the
//! type field. A session is 10 bits wide. A request carries fields, slices of fields and zeros, whole bytes in
//! all; a digest that carries nothing is a warning. The parser extracts as many bytes as are in front of resubmitted packets; it can
//! decide that only by `resubmit_flag` (a warning).
//!
//! **Ghost** (`ghost`). The ghost control has no packet. It uses no header, and no intrinsic field except
//! those of its update, which no other part of the program uses. It writes only metadata and registers, and
//! neither drops nor counts. It writes a register, and ingress reads a register that it writes (a warning).
//!
//! **Together** (`together`). A group of ports that must be in one pipe names at least one register and two
//! ports, none twice, and a reason.
//!
//! **Rules** (`rules`). A rule about containers names sizes of 8, 16 or 32 bits, several of which have room for the field. A
//! field has one rule of a kind, and a field in one container has at most 32 bits. `ways` and `pack` are rules about exact match
//! tables in SRAM and at least 1.
//!
//! **Papercuts** (`papercut`) are warnings:
//! - unused actions, hashes, labels, profiles, counters, registers, register actions, meters,
//!   generators and value sets;
//! - a table that is never applied, a parser state that is never reached, a header that is emitted but never
//!   valid;
//! - metadata that is read but never written, and an ingress that never writes `ucast_egress_port`;
//! - a selector hash narrower than its mode reads, a shift that leaves no bits, an index that cannot reach
//!   all cells;
//! - a select arm that is hidden by an equal one;
//! - intrinsic metadata that the model does not fill or obey.
//!
//! **Chip** (`chip`, by [`for_chip`]): limits of a chip that are known without placement.
//! - ALU operations and declared intrinsic fields exist. A selector's mode is the chip's (a warning).
//! - A table's key fits the crossbars of one stage. Ordered comparisons are of a field with a constant.
//! - Constants written to `qid` fit the chip's queue numbers; parameters might not (a warning).
//! - The deepest parser path, the longest emission, the number of headers, action data per entry and stage
//!   pins are within limits. The parser counter's stack is deep enough. Port metadata fits the chip's slot.
//! - The actions of a register map onto one stateful ALU ([`crate::salu`]).
//! - Constants written to a type field fit it, and headers of requests are within their limits. An egress
//!   that mirrors on Tofino 2 sets the version of the packet to copy (a warning).
//! - If a parser cannot clear containers, no path writes a metadata field twice.

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
mod header_set;
mod headers;
mod meters;
mod papercut;
mod parser;
mod possible;
mod reach;
mod references;
mod registers;
mod requests;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod together;
mod values;

pub use diag::{Diag, Limit, Severity};
pub use papercut::never_written;
pub use reach::{ControlReach, control_reach};

use crate::{Home, Loc, Program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

/// Returns all diagnostics of a program that hold for every chip.
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
    rules::check(program, &mut d);
    papercut::check(program, &mut d);
    unique(d)
}

/// Returns all diagnostics of a program on this chip that need no placement. Rules for every chip are in
/// [`verify`] and are not repeated. A program that breaks them may have fewer diagnostics here.
#[must_use]
pub fn for_chip(program: &Program, chip: &ChipSpec) -> Vec<Diag> {
    let mut d = Vec::new();
    if references::check(program, &mut Vec::new()) {
        chip::check(program, chip, &mut d);
    }
    unique(d)
}

/// Returns true if any diagnostic is an error.
#[must_use]
pub fn has_errors(diags: &[Diag]) -> bool {
    diags.iter().any(|d| d.severity == Severity::Error)
}

/// Removes repeated diagnostics: an action that runs in several places is checked in each of them.
fn unique(diags: Vec<Diag>) -> Vec<Diag> {
    let mut seen = std::collections::BTreeSet::new();
    let key = |d: &Diag| (d.text.clone(), d.at.file, d.at.line, d.at.col);
    diags.into_iter().filter(|d| seen.insert(key(d))).collect()
}

/// Subject of a diagnostic, and its gress.
#[derive(Clone, Copy)]
struct Site<'s> {
    /// The subject, as in "action `forward`".
    who: &'s str,
    gress: Option<Gress>,
    loc: Loc,
}

/// Returns true for an intrinsic field that only the hardware writes.
fn is_read_only(program: &Program, field: crate::Field) -> bool {
    matches!(program.fields[field].home, Home::Intrinsic(which) if !which.info().writable)
}

/// Returns a count with its noun: `1 bit`, `3 bits`.
fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Returns true if a value has no bits above `width`.
fn fits(value: u128, width: u16) -> bool {
    value & !sluice_asic::alu::width_mask(width.into()) == 0
}
