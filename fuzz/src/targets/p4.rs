//! The P4 front end on arbitrary bytes.

use sluice_asic::intrinsic::Architecture;
use sluice_p4::diagnostic::Class;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::syntax::print;
use sluice_p4::{Options, Parsed, parse};

/// Preprocesses, parses, checks and elaborates a P4 program. Text after a zero byte is the file `a.p4`, which the program can
/// include; it can include the declarations of the architectures as well. The messages have places in the texts. The tree of a program
/// that parses prints as a program with the same tree.
pub fn p4(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (root, included) = text.split_once('\0').unwrap_or((&text, ""));
    let mut parsed = parsed(&Texts::new().with("main.p4", root).with("a.p4", included), Architecture::T2na);
    let has_syntax_errors = parsed.diagnostics.errors() > 0;
    let _ = parsed.elaborate();
    let _ = parsed.messages();
    if has_syntax_errors {
        return;
    }
    let text = print(&parsed.ast);
    let again = self::parsed(&Texts::new().with("main.p4", &text), Architecture::T2na);
    // Parentheses around every operator make more levels.
    if again.diagnostics.list().iter().any(|found| found.class == Class::Limit) {
        return;
    }
    assert!(again.diagnostics.errors() == 0, "the printed program has errors:\n{}", again.messages());
    assert!(print(&again.ast) == text, "the printed program has another tree:\n{text}");
}

/// Reads a program with the declarations of an architecture.
pub(super) fn parsed(texts: &Texts, chip: Architecture) -> Parsed {
    parse(&WithPrelude::new(texts, chip), "main.p4", &Options { chip, ..Options::default() })
}
