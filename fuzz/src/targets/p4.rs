//! The P4 front end on arbitrary bytes.

use sluice_p4::diagnostic::Class;
use sluice_p4::source::Texts;
use sluice_p4::syntax::print;
use sluice_p4::{Options, Parsed, parse};

/// Preprocesses and parses a P4 program. Text after a zero byte is the file `a.p4`, which the program can include. The messages
/// have places in the texts. The tree of a program without errors prints as a program with the same tree.
pub fn p4(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (root, included) = text.split_once('\0').unwrap_or((&text, ""));
    let parsed = parsed(&Texts::new().with("main.p4", root).with("a.p4", included));
    let _ = parsed.messages();
    if parsed.diagnostics.errors() > 0 {
        return;
    }
    let text = print(&parsed.ast);
    let again = self::parsed(&Texts::new().with("main.p4", &text));
    // Parentheses around every operator make more levels.
    if again.diagnostics.list().iter().any(|found| found.class == Class::Limit) {
        return;
    }
    assert!(again.diagnostics.errors() == 0, "the printed program has errors:\n{}", again.messages());
    assert!(print(&again.ast) == text, "the printed program has another tree:\n{text}");
}

fn parsed(texts: &Texts) -> Parsed {
    parse(texts, "main.p4", &Options::default())
}
