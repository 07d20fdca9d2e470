//! Programs from text.

use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::Checked;
use sluice_p4::elaborate::Pipe;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::{Options, Parsed, parse};
use sluice_reference::{Reference, Unsupported};

/// An elaborated program.
pub(crate) struct Tree {
    pub(crate) parsed: Parsed,
    checked: Checked,
    pipe: Pipe,
    chip: Architecture,
}

impl Tree {
    /// Elaborates a program.
    pub(crate) fn of(text: &str, chip: Architecture) -> Result<Tree, String> {
        let loader = WithPrelude::new(Texts::new().with("program.p4", text), chip);
        let mut parsed = parse(&loader, "program.p4", &Options { chip, ..Options::default() });
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
