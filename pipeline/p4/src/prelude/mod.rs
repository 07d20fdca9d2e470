//! Sluice's declarations of the P4 core library and of the architectures TNA and T2NA.
//!
//! `#include <core.p4>`, `<tna.p4>` and `<t2na.p4>` read these texts unless the caller's loader has files of these names. The structures
//! of intrinsic metadata are made from the chip model's tables, so that both have the same fields and widths; the rest is P4
//! text beside this file. The texts ask `__TARGET_TOFINO__` for the chip.

pub(crate) mod intrinsic;

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

    /// Returns the loader without the declarations.
    pub fn into_inner(self) -> L {
        self.inner
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

/// Returns the text of a file of the prelude; `None` if the prelude has no file of this name. Each architecture consists of names
/// (`specs`), intrinsic metadata and externs (`base`), and programmable blocks (`arch`), because some programs bring their own blocks.
#[must_use]
pub fn text(name: &str, chip: Architecture) -> Option<String> {
    match name {
        "core.p4" => Some(guarded("CORE", &[include_str!("core.p4")])),
        "tna.p4" => Some(guarded("TNA", &["#include <tofino1_arch.p4>\n"])),
        "t2na.p4" | "tofino2_specs.p4" | "tofino2_base.p4" | "tofino2_arch.p4"
            if chip == Architecture::Tna =>
        {
            Some(WRONG_CHIP.to_owned())
        }
        "t2na.p4" => Some(guarded("T2NA", &["#include <tofino2_arch.p4>\n"])),
        "tofino1_specs.p4" | "tofino2_specs.p4" => {
            Some(guarded("SPECS", &["#include <core.p4>\n", include_str!("names.p4")]))
        }
        "tofino1_base.p4" => Some(base(Architecture::Tna, chip)),
        "tofino2_base.p4" => Some(base(Architecture::T2na, chip)),
        "tofino1_arch.p4" => {
            Some(guarded("TOFINO1_ARCH", &["#include <tofino1_base.p4>\n", include_str!("tna_blocks.p4")]))
        }
        "tofino2_arch.p4" => {
            Some(guarded("TOFINO2_ARCH", &["#include <tofino2_base.p4>\n", include_str!("t2na_blocks.p4")]))
        }
        _ => None,
    }
}

const WRONG_CHIP: &str =
    "#error T2NA is the architecture of Tofino 2; choose the chip tofino2, or include tna.p4\n";

fn base(architecture: Architecture, chip: Architecture) -> String {
    let (word, externs) = match architecture {
        Architecture::Tna => ("TOFINO1_BASE", include_str!("tna_externs.p4")),
        Architecture::T2na => ("TOFINO2_BASE", include_str!("t2na_externs.p4")),
    };
    let parts = [
        "#include <tofino1_specs.p4>\n",
        &intrinsic::text(architecture, chip),
        include_str!("pktgen.p4"),
        externs,
        include_str!("externs.p4"),
    ];
    guarded(word, &parts)
}

/// Returns a text that is read once, however often it is included.
fn guarded(word: &str, parts: &[&str]) -> String {
    format!("#ifndef SLUICE_{word}_P4\n#define SLUICE_{word}_P4\n{}\n#endif\n", parts.join("\n"))
}
