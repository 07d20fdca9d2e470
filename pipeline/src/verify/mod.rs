//! The verifier: what every program must obey, whatever the chip.
//!
//! Rules. Findings accumulate; each names the entity, the author's line, what was found and what to do.
//! Errors:
//!
//! - *Entities* (`entities.rs`): every handle points to something declared, of the gress that uses it;
//!   names are unique in their scope; fields have 1 to 128 bits, headers whole bytes; labels are
//!   snake_case; hashes have fields and constants as inputs, an output of 1 to 64 bits and a seed that fits.
//! - *Parser* (`parser.rs`): no cycle; select arms have a value per field that fits it; a header is
//!   extracted at most once on a path; `set` takes a constant or a field of equal width; the result of a
//!   checksum verification is one bit.
//! - *Actions* (`actions.rs`): one VLIW instruction per primitive: a leaf, or one operation on two leaves
//!   of equal width; constants fit; shift amounts are constants; nothing read-only is written; no primitive
//!   reads or rewrites what an earlier one of the same action writes; a direct counter belongs to the table
//!   that runs the action.
//! - *Tables* (`tables.rs`): actions of the same gress; defaults and constant entries have the action's
//!   parameters; at most one longest-prefix key, none beside ternary ones; constant entries fit `size`;
//!   profiles and selectors are consistent; a table is applied in one place; an action with parameters runs
//!   only from a table.
//! - *Validity* (`validity.rs`): no field is read where its header can never be valid.
//! - *Deparser* (`tables.rs`): a checksum update writes a 16-bit field of its header.
//!
//! Warnings: a field read where its header may be invalid (`validity.rs`); actions and tables that nothing
//! uses, parser states that nothing reaches, headers that are made valid and never emitted, ingress that
//! never chooses a port (`papercut.rs`).

mod actions;
mod diag;
mod entities;
mod papercut;
mod parser;
mod tables;
mod validity;

pub use diag::{Diag, Severity};

use crate::ir::Program;

/// Everything wrong with a program, errors and warnings.
///
/// Rules that follow handles run only when all handles point somewhere.
#[must_use]
pub fn verify(program: &Program) -> Vec<Diag> {
    let mut diags = entities::check(program);
    if has_errors(&diags) {
        return diags;
    }
    diags.extend(parser::check(program));
    diags.extend(actions::check(program));
    diags.extend(tables::check(program));
    if !has_errors(&diags) {
        diags.extend(validity::check(program));
        diags.extend(papercut::check(program));
    }
    diags
}

/// Whether a finding forbids to use the program.
#[must_use]
pub fn has_errors(diags: &[Diag]) -> bool {
    diags.iter().any(|d| d.severity == Severity::Error)
}
