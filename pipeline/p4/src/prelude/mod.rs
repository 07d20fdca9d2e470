//! Sluice's declarations of the P4 core library and of the architectures TNA and T2NA.
//!
//! `#include <core.p4>`, `<tna.p4>` and `<t2na.p4>` read these texts unless the caller's loader has files of these names. The structures
//! of intrinsic metadata are made from the chip model's tables, so that both have the same fields and widths; the rest is P4
//! text beside this file. The texts ask `__TARGET_TOFINO__` for the chip.

mod intrinsic;

use crate::source::{Include, LoadError, Loaded, Loader};
use sluice_asic::intrinsic::Architecture;

/// A loader that has the declarations of the architectures when another loader has not.
#[derive(Clone, Copy, Debug)]
pub struct WithPrelude<L> {
    inner: L,
    chip: Architecture,
}

impl<L: Loader> WithPrelude<L> {
    /// Adds the declarations to a loader; `chip` is the architecture of the chip that the program is for.
    pub const fn new(inner: L, chip: Architecture) -> Self {
        WithPrelude { inner, chip }
    }
}

impl<L: Loader> Loader for WithPrelude<L> {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        match (self.inner.load(include), text(include.name, self.chip)) {
            (Err(LoadError::NotFound { .. }), Some(text)) => {
                Ok(Loaded { name: format!("<{}>", include.name), text: text.into() })
            }
            (loaded, _) => loaded,
        }
    }
}

/// Returns the text of a file of the prelude; `None` if the prelude has no file of this name.
#[must_use]
pub fn text(name: &str, chip: Architecture) -> Option<String> {
    match name {
        "core.p4" => Some(guarded("CORE", include_str!("core.p4"))),
        "tna.p4" => Some(architecture(Architecture::Tna, chip)),
        "t2na.p4" => Some(architecture(Architecture::T2na, chip)),
        _ => None,
    }
}

fn architecture(architecture: Architecture, chip: Architecture) -> String {
    let (word, blocks, externs) = match architecture {
        Architecture::Tna => ("TNA", include_str!("tna_blocks.p4"), include_str!("tna_externs.p4")),
        Architecture::T2na => ("T2NA", include_str!("t2na_blocks.p4"), include_str!("t2na_externs.p4")),
    };
    let wrong_chip = match (architecture, chip) {
        (Architecture::T2na, Architecture::Tna) => {
            "#error T2NA is the architecture of Tofino 2; choose the chip tofino2\n"
        }
        _ => "",
    };
    let intrinsic = intrinsic::text(architecture, chip);
    let parts = [
        wrong_chip,
        "#include <core.p4>\n",
        include_str!("names.p4"),
        &intrinsic,
        include_str!("pktgen.p4"),
        externs,
        include_str!("externs.p4"),
        blocks,
    ];
    guarded(word, &parts.join("\n"))
}

/// Returns a text that is read once, however often it is included.
fn guarded(word: &str, text: &str) -> String {
    format!("#ifndef SLUICE_{word}_P4\n#define SLUICE_{word}_P4\n{text}\n#endif\n")
}
