//! Programs from text.

use sluice_asic::intrinsic::Architecture;
use sluice_ir::Program;
use sluice_p4::check::Checked;
use sluice_p4::elaborate::Pipe;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::{Options, Parsed, parse};
use sluice_reference::{Reference, Unsupported};

/// An elaborated program.
pub(crate) struct Tree {
    parsed: Parsed,
    checked: Checked,
    pipe: Pipe,
    chip: Architecture,
}

fn parsed(text: &str, chip: Architecture) -> Parsed {
    let loader = WithPrelude::new(Texts::new().with("program.p4", text), chip);
    parse(&loader, "program.p4", &Options { chip, ..Options::default() })
}

/// Lowers a program; `None` if it has mistakes. The tree that is lowered is another one than that of [`Tree`], which the passes of the
/// core do not change.
pub(crate) fn lowered(text: &str, chip: Architecture) -> Option<Program> {
    parsed(text, chip).lower(chip).ok().map(|lowered| lowered.program)
}

/// Returns the text of a program after a pass of the core.
pub(crate) fn after(pass: &str, text: &str, chip: Architecture) -> String {
    let file = match chip {
        Architecture::Tna => "tna.p4",
        Architecture::T2na => "t2na.p4",
    };
    let dumped = parsed(text, chip).dump(Some(pass)).unwrap();
    format!("#include <core.p4>\n#include <{file}>\n{dumped}")
}

impl Tree {
    /// Elaborates a program.
    pub(crate) fn of(text: &str, chip: Architecture) -> Result<Tree, String> {
        let mut parsed = parsed(text, chip);
        match parsed.elaborate() {
            Ok((checked, pipe)) => Ok(Tree { parsed, checked, pipe, chip }),
            Err(_) => Err(parsed.messages()),
        }
    }

    /// Returns an interpreter without entries.
    pub(crate) fn reference(&self) -> Reference<'_> {
        Reference::new(&self.parsed.ast, &self.checked, &self.pipe, self.chip)
    }

    /// Returns the text of a missing construct, with its line.
    pub(crate) fn show(&self, unsupported: &Unsupported) -> String {
        let message = sluice_p4::diagnostic::Diagnostic::error(
            sluice_p4::diagnostic::Class::Unsupported,
            unsupported.span,
            unsupported.to_string(),
        );
        sluice_p4::diagnostic::render(&self.parsed.sources, &message)
    }
}
