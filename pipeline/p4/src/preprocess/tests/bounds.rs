//! Programs without end have one message each.

use super::super::{MAX_INCLUDES, MAX_NESTING};
use super::{messages, run};
use crate::preprocess::Options;

#[test]
fn a_file_that_includes_itself() {
    let output = run(&[("main.p4", "#include \"main.p4\"\n")], &Options::default());
    let message = format!("{MAX_INCLUDES} files include each other, and `main.p4` would be one more");
    assert_eq!(output.messages, [message]);
}

#[test]
fn macros_that_double_each_other() {
    let chain: String = (1..40).map(|n| format!("#define A{n} A{m} A{m}\n", m = n - 1)).collect();
    let found = messages(&format!("#define A0 x\n{chain}A39\n"));
    assert_eq!(found, ["macros make more than 2000000 tokens"]);
}

#[test]
fn arguments_inside_arguments() {
    let text = format!("#define F(x) x\n{}1{}\n", "F(".repeat(1000), ")".repeat(1000));
    assert_eq!(
        messages(&text),
        [format!("more than {MAX_NESTING} uses of macros are inside each other's arguments")]
    );
}

#[test]
fn words_and_strings_that_double() {
    for definition in ["#define D(x) x##x\n#define E(x) D(x)\n", "#define D(x) #x\n#define E(x) D(x x)\n"] {
        let text = format!("{definition}{}a{}\n", "E(".repeat(100), ")".repeat(100));
        assert_eq!(messages(&text), ["a macro makes a word or string of more than 65536 bytes"]);
    }
}

#[test]
fn conditions_inside_conditions() {
    let found = messages(&"#if 1\n".repeat(100_000));
    assert_eq!(found, [format!("more than {MAX_NESTING} conditions are inside each other")]);
}

#[test]
fn parentheses_in_a_condition() {
    let text = format!("#if {}1{}\n#endif\n", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(
        messages(&text),
        [format!("more than {MAX_NESTING} operators are inside each other in the condition")]
    );
}

#[test]
fn a_long_chain_of_macros_is_no_mistake() {
    let chain: String = (1..20_000).map(|n| format!("#define A{n} A{m}\n", m = n - 1)).collect();
    assert_eq!(messages(&format!("{chain}A19999\n")), Vec::<String>::new());
}
