//! Passes of the core: `core.txt` has sections of a title (`## PASS: ..`), statements of an `apply` block,
//! after declarations and `apply:` if it has some, and, after `=>`, what the pass
//! changes of the control. `UPDATE_EXPECT=1` writes that anew.

use expect_test::expect_file;
use sluice_asic::intrinsic::Architecture;
use sluice_p4::core::{PASSES, simplify};
use sluice_p4::syntax::ast::{Ast, DeclId};
use sluice_p4::syntax::declaration;

const GOLDEN: &str = include_str!("core.txt");

const CONTROL: &str = "
header rec_h { bit<32> a; bit<32> b; bit<8> x; }
struct heads_t { rec_h rec; }
struct meta_t { bool known; bit<1> flag; bit<8> n; bit<32> wide; }
control Inner(inout heads_t h, inout bit<32> v, in bit<32> by) { apply { h.rec.a = by; v = v + h.rec.b; } }
control Next(in bit<32> v, out bit<32> w) { apply { w = v + 1; } }
control Make(out rec_h r) { apply { r.a = 1; } }
control C(inout heads_t hdr, inout meta_t m, in bit<9> port) {
    Register<bit<32>, bit<1>>(1) count;
    RegisterAction<bit<32>, bit<1>, bit<32>>(count) look = { void apply(inout bit<32> v, out bit<32> r) { r = v; } };
    RegisterAction<bit<32>, bit<1>, bit<32>>(count) put = { void apply(inout bit<32> v) { v = hdr.rec.a; } };
    action mark(bit<8> v) { m.n = v; }
    action swap(inout bit<8> x, inout bit<8> y) { bit<8> t = x; x = y; y = t; }
    action tell(in bool what) { m.known = what; }
    table near { key = { hdr.rec.a : exact; } actions = { mark; NoAction; } default_action = NoAction(); }
    table far { key = { hdr.rec.b : exact; } actions = { mark; NoAction; } default_action = NoAction(); }
LOCALS
    apply {
BODY
    }
}
";

/// Returns the snippet of a section's text: statements, and declarations before `apply:`, if there are some.
fn program(text: &str) -> String {
    let (locals, body) = text.split_once("apply:\n").unwrap_or(("", text));
    CONTROL.replace("LOCALS", locals.trim_end()).replace("BODY", body.trim_end())
}

fn control(ast: &Ast) -> DeclId {
    let name = ast.names.find("C").expect("the snippet has the name");
    let found = ast.top.iter().copied().find(|decl| ast.decls[*decl].name.symbol == name);
    found.expect("the snippet has the control")
}

/// Returns what a pass makes of a section's control.
fn after(pass: &str, body: &str) -> String {
    let mut snippet = crate::check::snippet(Architecture::T2na, &program(body));
    let messages = crate::check::rendered(&snippet);
    assert_eq!(messages, "", "{body}");
    let mut text = String::new();
    simplify(&mut snippet.ast, &mut snippet.checked, &mut |done, ast| {
        if done.name == pass {
            text = declaration(ast, control(ast));
        }
    });
    assert!(!text.is_empty(), "there is no pass {pass}");
    text
}

/// Returns the lines from the first that differs.
fn changed(text: &str, before: &str) -> String {
    let same = text.lines().zip(before.lines()).take_while(|(a, b)| a == b).count();
    text.lines().skip(same).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn each_pass_has_one_job_and_leaves_a_legal_program() {
    let head = CONTROL.split("control C").next().unwrap_or_default();
    let mut golden = String::new();
    for section in GOLDEN.split("## ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a section has a title and statements");
        let body = rest.split("=>\n").next().unwrap_or_default();
        let (pass, _) = title.split_once(": ").expect("a title begins with a pass");
        let text = after(pass, body);
        let untouched = crate::check::snippet(Architecture::T2na, &program(body));
        let before = declaration(&untouched.ast, control(&untouched.ast));
        let again = crate::check::snippet(Architecture::T2na, &format!("{head}{text}"));
        assert_eq!(crate::check::rendered(&again), "", "{text}");
        golden.push_str(&format!("## {title}\n{body}=>\n{}\n", changed(&text, &before)));
    }
    expect_file!["core.txt"].assert_eq(&golden);
}

#[test]
fn every_pass_has_a_section() {
    for pass in &PASSES {
        assert!(GOLDEN.contains(&format!("## {}: ", pass.name)), "{}", pass.name);
    }
}
