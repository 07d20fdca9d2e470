//! Programs that are nested too deeply have one message, and large programs that are not have none.

use sluice_p4::source::Texts;
use sluice_p4::syntax::ast::MAX_DEPTH;
use sluice_p4::{Options, Parsed, parse};

fn parsed(text: &str) -> Parsed {
    parse(&Texts::new().with("main.p4", text), "main.p4", &Options::default())
}

#[track_caller]
fn is_too_deep(text: &str) {
    let parsed = parsed(text);
    let messages: Vec<&str> = parsed.diagnostics.list().iter().map(|found| found.message.as_str()).collect();
    let expected =
        format!("more than {MAX_DEPTH} parentheses, operators, blocks or types are inside each other");
    assert_eq!(messages, [expected]);
}

/// Far more levels than any stack has room for.
const N: usize = 100_000;

#[test]
fn parentheses() {
    is_too_deep(&format!("const bit<8> A = {}1{};", "(".repeat(N), ")".repeat(N)));
    is_too_deep(&format!("const bit<8> A = {}", "(".repeat(N)));
}

#[test]
fn prefix_operators_casts_lists_and_calls() {
    is_too_deep(&format!("const bit<8> A = {}1;", "-".repeat(N)));
    is_too_deep(&format!("const bit<8> A = {}1;", "(bit<8>)".repeat(N)));
    is_too_deep(&format!("const bit<8> A = {}1;", "{".repeat(N)));
    is_too_deep(&format!("const bit<8> A = {}1;", "f(".repeat(N)));
    is_too_deep(&format!("const bit<8> A = {}1;", "a ? 1 : ".repeat(N)));
}

#[test]
fn chains_of_operators_and_members() {
    is_too_deep(&format!("const bit<8> A = {}1;", "1 + ".repeat(N)));
    is_too_deep(&format!("const bit<8> A = a{};", ".a".repeat(N)));
    is_too_deep(&format!("const bit<8> A = a{};", "[1]".repeat(N)));
}

#[test]
fn blocks_and_conditions() {
    is_too_deep(&format!("control c() {{ apply {}", "{".repeat(N)));
    is_too_deep(&format!("control c() {{ apply {{ {}", "if (true) ".repeat(N)));
    is_too_deep(&format!("control c() {{ apply {{ {}", "if (true) {} else ".repeat(N)));
}

#[test]
fn types() {
    is_too_deep(&format!("const {}bit<8> A = 1;", "Foo<".repeat(N)));
    is_too_deep(&format!("struct s {{ bit<8>{} a; }}", "[2]".repeat(N)));
}

#[test]
fn a_program_at_the_limit_has_no_message() {
    let sum = "1 + ".repeat(MAX_DEPTH - 1);
    assert_eq!(parsed(&format!("const bit<8> A = {sum}1;")).messages(), "");
    let fields: String = (0..N).map(|n| format!("bit<8> f{n};")).collect();
    assert_eq!(parsed(&format!("struct s {{ {fields} }}")).messages(), "");
}

#[test]
fn cut_programs_are_parsed() {
    let golden = include_str!("accepted.txt");
    let program = golden.split("## a whole pipe\n").nth(1).and_then(|rest| rest.split("=>\n").next());
    let program = program.expect("the golden file has a section with a whole pipe");
    for end in (0..program.len()).step_by(3).filter(|&end| program.is_char_boundary(end)) {
        let _ = parsed(&program[..end]).messages();
    }
}
