//! Tests of the preprocessor. Expected tokens are written by hand, after the examples in clause 6.10.3.5 of the C standard
//! (ISO/IEC 9899:2011) and after what `cpp -x assembler-with-cpp` documents.

mod bounds;
mod conditions;
mod files;
mod macros;
mod places;

use super::{Define, Options, TokenKind, preprocess};
use crate::diagnostic::{Diagnostics, render};
use crate::names::Names;
use crate::source::{SourceMap, Texts};
use sluice_asic::intrinsic::Architecture;

/// A preprocessed program: its tokens with a blank between each two, a line per line of the text, and its messages.
struct Output {
    text: String,
    messages: Vec<String>,
    rendered: String,
}

fn run(files: &[(&str, &str)], options: &Options) -> Output {
    let texts = files.iter().fold(Texts::new(), |texts, (name, text)| texts.with(name, text));
    let (mut sources, mut names, mut diagnostics) = (SourceMap::new(), Names::new(), Diagnostics::default());
    let tokens = preprocess(&texts, files[0].0, options, &mut sources, &mut names, &mut diagnostics);
    let mut text = String::new();
    for token in tokens.unwrap_or_default() {
        if !text.is_empty() {
            text.push(if token.flags.line_start { '\n' } else { ' ' });
        }
        match token.kind {
            TokenKind::Punct(punct) => text.push_str(punct.text()),
            TokenKind::Text => text.push_str(&format!("\"{}\"", names.text(token.symbol))),
            _ => text.push_str(names.text(token.symbol)),
        }
    }
    let messages = diagnostics.list().iter().map(|diagnostic| diagnostic.message.clone()).collect();
    let rendered: Vec<String> =
        diagnostics.list().iter().map(|diagnostic| render(&sources, diagnostic)).collect();
    Output { text, messages, rendered: rendered.join("\n") }
}

/// Checks the tokens of a text without messages.
#[track_caller]
fn check(text: &str, expected: &str) {
    let output = run(&[("test.p4", text)], &Options::default());
    assert_eq!(output.messages, Vec::<String>::new());
    assert_eq!(output.text, expected);
}

/// Returns the messages of a text.
fn messages(text: &str) -> Vec<String> {
    run(&[("test.p4", text)], &Options::default()).messages
}

#[test]
fn the_macros_of_the_vendors_compiler_follow_the_chip() {
    let text = "__TARGET_TOFINO__ __p4c__ __p4c_major__ __p4c_minor__ __p4c_patchlevel__ __p4c_version__";
    for (chip, number) in [(Architecture::Tna, 1), (Architecture::T2na, 2)] {
        let options = Options { chip, ..Options::default() };
        let output = run(&[("test.p4", text)], &options);
        assert_eq!(output.text, format!("{number} 1 9 13 4 \"9.13.4\""));
    }
}

#[test]
fn command_line_definitions_apply_in_order() {
    let define = |text: &str| Define::Define(text.to_owned());
    let defines = vec![
        define("A"),
        define("B=2 + 3"),
        define("F(x)=(x)"),
        define("C=1"),
        Define::Undefine("C".to_owned()),
        Define::Undefine("__p4c__".to_owned()),
    ];
    let output = run(&[("test.p4", "A B F(4) C __p4c__")], &Options { defines, ..Options::default() });
    assert_eq!((output.text.as_str(), output.messages.len()), ("1 2 + 3 ( 4 ) C __p4c__", 0));
}

#[test]
fn files_of_the_command_line_come_first() {
    let options = Options { includes: vec!["first.p4".to_owned()], ..Options::default() };
    let output = run(&[("test.p4", "b A"), ("first.p4", "#define A 7\na")], &options);
    assert_eq!(output.text, "a\nb 7");
}
