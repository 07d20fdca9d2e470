//! The build of the authors' published resource log (model: conweave §2.8, §3), as a program of the tests.

use sluice_ir::{Program, text};

/// Returns the published build: ConWeave alone, with 65,536 flows, three queue ways and every time zero.
pub(crate) fn published() -> Program {
    text::parse(include_str!("published.ir")).unwrap_or_else(|e| panic!("published.ir: {e}"))
}
