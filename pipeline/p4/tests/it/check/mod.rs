//! Names, types and constants: snippets that are accepted, and the messages on snippets that are not.

#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod accepted;
mod bounds;
mod names;
mod prelude;
mod program;
mod statements;
mod tables;
mod types;
mod values;

use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::{Checked, check};
use sluice_p4::diagnostic::{Diagnostics, render};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{SourceMap, Texts};
use sluice_p4::syntax::ast::Ast;
use sluice_p4::{Options, parse};

/// A snippet after the check.
pub(crate) struct Snippet {
    pub(crate) ast: Ast,
    pub(crate) checked: Checked,
    pub(crate) sources: SourceMap,
    pub(crate) diagnostics: Diagnostics,
}

/// Parses and checks a text for a chip; the text begins after `#include <t2na.p4>` or `<tna.p4>`, on line 2.
pub(crate) fn snippet(chip: Architecture, text: &str) -> Snippet {
    let include = match chip {
        Architecture::Tna => "#include <tna.p4>\n",
        Architecture::T2na => "#include <t2na.p4>\n",
    };
    let loader = WithPrelude::new(Texts::new().with("snippet.p4", &format!("{include}{text}")), chip);
    let options = Options { chip, ..Options::default() };
    let parsed = parse(&loader, "snippet.p4", &options);
    let mut diagnostics = parsed.diagnostics;
    let checked = check(&parsed.ast, &mut diagnostics);
    Snippet { ast: parsed.ast, checked, sources: parsed.sources, diagnostics }
}

/// Returns all messages on a snippet.
fn messages(text: &str) -> String {
    rendered(&snippet(Architecture::T2na, text))
}

/// Returns the messages on a snippet that was checked.
pub(crate) fn rendered(snippet: &Snippet) -> String {
    let list = snippet.diagnostics.list().iter();
    list.map(|diagnostic| render(&snippet.sources, diagnostic) + "\n").collect()
}

/// Returns the messages on statements in the `apply` block of a control with a header `h` and metadata `m`.
fn statements(text: &str) -> String {
    messages(&control(text))
}

fn control(text: &str) -> String {
    format!(
        "header ipv4_h {{ bit<8> ttl; bit<8> proto; bit<16> len; int<16> delta; bit<32> src; }}
header vlan_h {{ bit<16> tag; }}
struct headers_t {{ ipv4_h ipv4; vlan_h[2] vlan; }}
struct meta_t {{ bit<1> flag; bool good; bit<16> word; MeterColor_t color; }}
control C(inout headers_t h, inout meta_t m, in bit<9> port) {{ apply {{
{text}
}} }}
"
    )
}
