//! Programs that ask for work without end: every command ends with an exit code for users, and an error of a limit says what
//! raises it.
//!
//! The programs are made here, far larger than any chip. Budgets are set low, so that the tests take no longer than the budget
//! allows; `limits.rs` tests the defaults.

use crate::support::*;
use std::path::PathBuf;

/// Parts of a P4 program whose other parts are plain.
#[derive(Default)]
struct Parts {
    /// Text in front of all declarations.
    top: String,
    /// Fields of the header `h.h` after `a` and `b`.
    fields: String,
    /// Fields of `headers` after `h`.
    headers: String,
    /// Fields of `meta`.
    metadata: String,
    /// Statements of the parser's first state after `h.h` is extracted, and its transition; then more states.
    states: Option<String>,
    /// Declarations after the structures.
    controls: String,
    /// Declarations of the ingress control.
    declarations: String,
    /// Statements of the ingress control.
    body: String,
}

impl Parts {
    fn p4(&self) -> String {
        let Parts { top, fields, headers, metadata, states, controls, declarations, body } = self;
        let states = states.as_deref().unwrap_or("transition accept; }");
        format!(
            "#include <core.p4>\n#include <tna.p4>\n{top}\nheader h_t {{ bit<32> a; bit<32> b; {fields} }}\n\
             struct headers {{ h_t h; {headers} }}\nstruct meta {{ {metadata} }}\n{controls}\n\
             parser P(packet_in p, out headers h, out meta m, out ingress_intrinsic_metadata_t i) {{\n\
             state start {{ p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.h); {states} }}\n\
             control I(inout headers h, inout meta m, in ingress_intrinsic_metadata_t i,\n\
             in ingress_intrinsic_metadata_from_parser_t fp, inout ingress_intrinsic_metadata_for_deparser_t d,\n\
             inout ingress_intrinsic_metadata_for_tm_t t) {{\n{declarations}\napply {{ t.ucast_egress_port = 1;\n{body}\n}} }}\n\
             control D(packet_out p, inout headers h, in meta m, in ingress_intrinsic_metadata_for_deparser_t d) {{\n\
             apply {{ p.emit(h); }} }}\n\
             parser EP(packet_in p, out headers h, out meta m, out egress_intrinsic_metadata_t i) {{\n\
             state start {{ p.extract(i); transition accept; }} }}\n\
             control E(inout headers h, inout meta m, in egress_intrinsic_metadata_t i,\n\
             in egress_intrinsic_metadata_from_parser_t fp, inout egress_intrinsic_metadata_for_deparser_t d,\n\
             inout egress_intrinsic_metadata_for_output_port_t o) {{ apply {{ }} }}\n\
             control ED(packet_out p, inout headers h, in meta m, in egress_intrinsic_metadata_for_deparser_t d) {{\n\
             apply {{ p.emit(h); }} }}\n\
             Pipeline(P(), I(), D(), EP(), E(), ED()) pipe;\nSwitch(pipe) main;\n"
        )
    }
}

/// Returns the texts that `line` makes of the numbers below `count`.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| line(n) + "\n").collect()
}

/// Folder with a program, and its path.
struct Program {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn new(name: &str, content: &str) -> Program {
        let folder = folder("hostile-program");
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Program { _folder: folder, path }
    }

    fn p4(parts: &Parts) -> Program {
        Program::new("a.p4", &parts.p4())
    }

    /// Places the program with a budget; returns the exit code and what was said.
    #[track_caller]
    fn report(&self, options: &[&str]) -> (i32, String) {
        let done = sluice(&[&["report", text(&self.path), "--chip", "tofino"], options].concat());
        let said = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
        (done.status.code().unwrap(), said)
    }

    #[track_caller]
    fn check(&self, options: &[&str]) -> (i32, String) {
        let done = sluice(&[&["check", text(&self.path), "--chip", "tofino"], options].concat());
        let said = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
        (done.status.code().unwrap(), said)
    }
}

const FEW_STEPS: [&str; 2] = ["--max", "placing-steps=1M"];

fn tables(count: usize) -> Parts {
    Parts {
        declarations: String::from("action n() {}")
            + &lines(count, |n| {
                format!("table t{n} {{ key = {{ h.h.a : exact; }} actions = {{ n; }} size = 16; }}")
            }),
        body: lines(count, |n| format!("t{n}.apply();")),
        ..Parts::default()
    }
}

#[test]
fn more_tables_than_a_chip_has_are_refused_at_once() {
    let (code, said) = Program::p4(&tables(1_000)).report(&FEW_STEPS);
    let text = "the program has 1001 tables and actions, each of which takes a logical table; tofino has 192 in 12 stages";
    assert!(code == 1 && said.contains(text), "{code} {said}");
}

#[test]
fn more_actions_under_conditions_than_a_chip_has_are_refused_at_once() {
    let body = lines(5_000, |n| format!("if (h.h.a == {n}) {{ h.h.b = {n}; }}"));
    let (code, said) = Program::p4(&Parts { body, ..Parts::default() }).report(&[]);
    let text = "the program has 5001 tables and actions, each of which takes a logical table; tofino has 192 in 12 stages";
    assert!(code == 1 && said.contains(text), "{code} {said}");
}

#[test]
fn placing_has_a_budget_and_says_how_far_it_came() {
    let program = Program::p4(&tables(90));
    let (code, said) = program.report(&["--max", "placing-steps=150k"]);
    assert_eq!(code, 1, "{said}");
    let found = said.lines().find(|line| line.starts_with("error: placing took all")).unwrap();
    let text = "error: placing took all of its 150000 steps, in the pass `tables`: the best schedule of 1 has a place for ";
    assert!(found.starts_with(text), "{found}");
    assert!(
        found.contains(" of 91 tables, actions and conditions, in ") && found.contains("; it ended at `"),
        "{found}"
    );
    assert!(said.starts_with("a on tofino: not placed, its steps are used up\n"), "{said}");
    let help = "--max placing-steps=N raises the limit; whether the program fits is not known";
    assert!(said.contains(help), "{said}");
    let again = program.report(&["--max", "placing-steps=150k"]);
    assert_eq!(again.1, said, "the budget is the same each time");
    let (code, said) = program.report(&["--max", "placing-steps=20k"]);
    assert!(code == 1 && said.contains("the program has 91 tables, actions and conditions"), "{said}");
    let (code, _) = program.report(&["--max", "placing-steps=1G"]);
    assert_eq!(code, 0, "the option raises the limit");
}

#[test]
fn the_search_for_reasons_ends_with_the_budget() {
    let (code, said) = Program::p4(&tables(150)).report(&["--why-not", "--max", "placing-steps=300k"]);
    assert!(
        code == 1 && said.contains("A placement took all of its steps before everything was tried"),
        "{said}"
    );
}

#[test]
fn fields_that_compete_for_containers_have_a_budget() {
    let parts = Parts {
        metadata: lines(400, |n| format!("bit<32> m{n};")),
        body: lines(400, |n| format!("m.m{n} = h.h.a + {n}; h.h.b = h.h.b ^ m.m{n};")),
        ..Parts::default()
    };
    let (code, said) = Program::p4(&parts).report(&["--max", "placing-steps=500k"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("placing took all of its 500000 steps, in the pass `phv`: "), "{said}");
    assert!(said.contains("in each of the ways to share them so far: "), "{said}");
}

#[test]
fn actions_of_a_table_have_a_limit() {
    let actions = |count: usize| Parts {
        declarations: lines(count, |n| format!("action a{n}() {{ h.h.b = {n}; }}"))
            + &format!(
                "table x {{ key = {{ h.h.a : exact; }} actions = {{ {} }} size = 16; }}",
                lines(count, |n| format!("a{n};"))
            ),
        body: "x.apply();".to_owned(),
        ..Parts::default()
    };
    let (code, said) = Program::p4(&actions(12_000)).check(&[]);
    let text = "the program has more than 10000 instances";
    assert!(code == 2 && said.contains(text), "{said}");
    assert!(said.contains("--max p4-instances=N raises the limit"), "{said}");
    let (code, said) = Program::p4(&actions(600)).check(&["--max", "p4-statements=500"]);
    let text = "bodies of actions have more than 500 statements after calls are inlined";
    assert!(code == 2 && said.contains(text), "{said}");
    assert!(said.contains("--max p4-statements=N raises the limit"), "{said}");
    assert_eq!(Program::p4(&actions(600)).check(&[]).0, 0);
}

#[test]
fn states_of_a_parser_have_a_limit() {
    let states = |count: usize| {
        let state = |n: usize| {
            let next = if n + 1 == count { "accept".to_owned() } else { format!("s{}", n + 1) };
            format!("state s{n} {{ transition select(h.h.a) {{ {n} : {next}; default : accept; }} }}")
        };
        Parts { states: Some(format!("transition s0; }}\n{}", lines(count, state))), ..Parts::default() }
    };
    let (code, said) = Program::p4(&states(3_000)).check(&[]);
    let text = "the parser has more than 2000 states after its paths are told apart";
    assert!(code == 2 && said.contains(text), "{said}");
    assert!(said.contains("--max p4-parser-states=N raises the limit"), "{said}");
    let (code, said) = Program::p4(&states(300)).report(&FEW_STEPS);
    assert!(code <= 2, "{said}");
}

#[test]
fn values_of_a_select_have_a_limit() {
    let cases = |count: usize| {
        let ranges = lines(count, |n| format!("32w{}..32w{} : accept;", 64 * n + 1, 64 * n + 62));
        let states = format!("transition select(h.h.a) {{ {ranges} default : reject; }} }}");
        Parts { states: Some(states), ..Parts::default() }
    };
    let (code, said) = Program::p4(&cases(1_000)).check(&[]);
    let text = "the ranges of a `select` are more than 4096 values under masks";
    assert!(code == 2 && said.contains(text), "{said}");
    assert!(said.contains("--max p4-select-arms=N raises the limit"), "{said}");
    let (code, said) = Program::p4(&cases(100)).report(&FEW_STEPS);
    assert!(code <= 2, "{said}");
}

#[test]
fn macros_includes_words_and_constants_have_limits() {
    let doubled = lines(30, |n| format!("#define A{} A{n} A{n}", n + 1));
    let (code, said) = Program::new("a.p4", &format!("#define A0 x\n{doubled}A30\n")).check(&[]);
    assert!(code == 2 && said.contains("macros make more than 2000000 tokens"), "{said}");
    assert!(said.contains("--max p4-macro-tokens=N raises the limit"), "{said}");
    let word = "#define D(x) x##x\n#define E(x) D(x)\n".to_owned() + &"E(".repeat(40) + "a" + &")".repeat(40);
    let (code, said) = Program::new("a.p4", &word).check(&[]);
    assert!(code == 2 && said.contains("a macro makes a word or string of more than 65536 bytes"), "{said}");
    assert!(said.contains("--max p4-word-bytes=N raises the limit"), "{said}");
    let dir = folder("many-includes");
    std::fs::write(dir.path().join("b.p4"), "// nothing\n").unwrap();
    std::fs::write(dir.path().join("a.p4"), "#include \"b.p4\"\n".repeat(5_001)).unwrap();
    let (_, said) = refused(&["check", text(&dir.path().join("a.p4"))]);
    assert!(said.contains("--max p4-includes=N raises the limit"), "{said}");
    let (_, said) = refused(&["check", text(&dir.path().join("a.p4")), "--max", "p4-included-bytes=50"]);
    assert!(said.contains("--max p4-included-bytes=N raises the limit"), "{said}");
    let (_, said) = refused(&["check", text(&dir.path().join("a.p4")), "--max", "p4-file-bytes=50"]);
    assert!(
        said.contains("the file has more than 50 bytes; --max p4-file-bytes=N raises the limit"),
        "{said}"
    );
    let list = |n: usize| if n == 0 { "1".to_owned() } else { format!("{{A{0}, A{0}}}", n - 1) };
    let constants = lines(20, |n| format!("const A{n}_t A{n} = {};", list(n)));
    let types = lines(20, |n| match n {
        0 => "typedef bit<8> A0_t;".to_owned(),
        n => format!("struct A{n}_t {{ A{0}_t x; A{0}_t y; }}", n - 1),
    });
    let (code, said) = Program::new("a.p4", &(types + &constants)).check(&[]);
    assert!(code == 2 && said.contains("the constant has more than 65536 numbers"), "{said}");
    assert!(said.contains("--max p4-constant-numbers=N raises the limit"), "{said}");
}

#[test]
fn texts_of_programs_have_limits() {
    let head = "sluice 1; program a;\n";
    let fields = lines(16_500, |n| format!("metadata m{n} : ingress bit<8>;"));
    let (code, said) = Program::new("a.sluice", &(head.to_owned() + &fields)).check(&[]);
    assert_eq!(code, 2, "{said}");
    let long = Program::new("a.sluice", &(head.to_owned() + &"// nothing\n".repeat(100_000)));
    let (code, said) = long.check(&[]);
    assert!(code == 2 && said.contains("the file has more than 1048576 bytes"), "{said}");
    assert!(said.contains("--max program-text-bytes=N raises the limit"), "{said}");
    let (_, said) = long.check(&["--max", "program-text-bytes=2M"]);
    assert!(!said.contains("more than"), "{said}");
}

/// Large programs without a limit of their own: each command ends by its budget, and not by a crash.
#[test]
fn large_programs_of_every_kind_end() {
    let kinds: [(&str, Parts); 12] = [
        ("keys", {
            let keys = lines(1_000, |n| format!("h.h.f{n} : exact;"));
            Parts {
                fields: lines(1_000, |n| format!("bit<8> f{n};")),
                declarations: format!("action n() {{}} table x {{ key = {{ {keys} }} actions = {{ n; }} }}"),
                body: "x.apply();".to_owned(),
                ..Parts::default()
            }
        }),
        (
            "headers",
            Parts {
                headers: lines(500, |n| format!("h_t h{n};")),
                body: lines(500, |n| format!("h.h{n}.setValid();")),
                ..Parts::default()
            },
        ),
        (
            "metadata",
            Parts {
                metadata: lines(1_000, |n| format!("bit<16> m{n};")),
                body: lines(1_000, |n| format!("m.m{n} = (bit<16>) h.h.a;")),
                ..Parts::default()
            },
        ),
        (
            "registers",
            Parts {
                declarations: lines(300, |n| {
                    format!(
                        "Register<bit<32>, bit<32>>(64) r{n}; RegisterAction<bit<32>, bit<32>, bit<32>>(r{n}) ra{n} = \
                     {{ void apply(inout bit<32> v, out bit<32> o) {{ o = v; v = v + 1; }} }};"
                    )
                }),
                body: lines(300, |n| format!("h.h.b = ra{n}.execute(h.h.a);")),
                ..Parts::default()
            },
        ),
        (
            "counters",
            Parts {
                declarations: lines(300, |n| {
                    format!("Counter<bit<64>, bit<32>>(64, CounterType_t.PACKETS) c{n};")
                }),
                body: lines(300, |n| format!("c{n}.count(h.h.a);")),
                ..Parts::default()
            },
        ),
        (
            "hashes",
            Parts {
                declarations: lines(300, |n| format!("Hash<bit<16>>(HashAlgorithm_t.CRC16) x{n};")),
                body: lines(300, |n| format!("h.h.b = h.h.b + (bit<32>) x{n}.get({{ h.h.a, 32w{n} }});")),
                ..Parts::default()
            },
        ),
        (
            "conditions inside each other",
            Parts {
                body: lines(200, |n| format!("if (h.h.a != {n}) {{")) + "h.h.b = 1;" + &"}".repeat(200),
                ..Parts::default()
            },
        ),
        (
            "dependent conditions",
            Parts {
                body: lines(150, |n| format!("if (h.h.a == {n}) {{ h.h.a = {}; }}", n + 7)),
                ..Parts::default()
            },
        ),
        ("constant entries", {
            let entries = lines(20_000, |n| format!("{n} : n();"));
            Parts {
                declarations: format!(
                    "action n() {{}} table x {{ key = {{ h.h.a : exact; }} actions = {{ n; }} const entries = {{ {entries} }} }}"
                ),
                body: "x.apply();".to_owned(),
                ..Parts::default()
            }
        }),
        (
            "constants and macros",
            Parts {
                top: lines(20_000, |n| format!("#define M{n} {n}\nconst bit<32> C{n} = M{n};")),
                body: "h.h.b = C19999;".to_owned(),
                ..Parts::default()
            },
        ),
        ("parameters of an action", {
            let parameters: Vec<String> = (0..1_000).map(|n| format!("bit<32> p{n}")).collect();
            Parts {
                declarations: format!(
                    "action n({}) {{ h.h.b = p999; }} table x {{ key = {{ h.h.a : exact; }} actions = {{ n; }} \
                     default_action = n({}); }}",
                    parameters.join(", "),
                    vec!["0"; 1_000].join(", ")
                ),
                body: "x.apply();".to_owned(),
                ..Parts::default()
            }
        }),
        ("controls inside controls", {
            let inner = "control c0(inout headers h) { apply { h.h.b = h.h.b + 1; } }\n".to_owned();
            let outer = lines(12, |n| {
                format!(
                    "control c{0}(inout headers h) {{ c{n}() x; c{n}() y; apply {{ x.apply(h); y.apply(h); }} }}",
                    n + 1
                )
            });
            Parts {
                controls: inner + &outer,
                declarations: "c12() c;".to_owned(),
                body: "c.apply(h);".to_owned(),
                ..Parts::default()
            }
        }),
    ];
    for (kind, parts) in kinds {
        let (code, said) = Program::p4(&parts).report(&FEW_STEPS);
        assert!(code <= 2 && !said.contains("internal error"), "{kind}: {code} {said}");
    }
}

#[test]
fn limits_are_named_in_errors_of_the_option() {
    let (code, said) = refused(&["check", "a.p4", "--max", "placing-step=3"]);
    assert!(
        code == 2 && said.contains("there is no limit `placing-step`; expected p4-file-bytes, "),
        "{said}"
    );
    assert!(said.contains("did you mean `placing-steps`?"), "{said}");
    let (code, said) = refused(&["check", "a.p4", "--max", "seeds"]);
    assert!(code == 2 && said.contains("expected NAME=N, for example placing-steps=1G"), "{said}");
    let (code, said) = refused(&["check", "a.p4", "--max", "seeds=0"]);
    assert!(code == 2 && said.contains("expected at least 1"), "{said}");
}
