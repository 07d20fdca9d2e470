//! `#if` and its kin.

use super::{check, messages};

/// Checks the value of a condition.
#[track_caller]
fn condition(text: &str, expected: bool) {
    check(&format!("#if {text}\nyes\n#else\nno\n#endif\n"), if expected { "yes" } else { "no" });
}

#[test]
fn arithmetic_is_that_of_c() {
    for text in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 / 2 == 3 && -7 / 2 == -3 && 7 % 3 == 1 && -7 % 3 == -1",
        "1 << 4 == 16",
        "-8 >> 1 == -4",
        "0xFFFFFFFFFFFFFFFFu >> 60 == 15",
        "~0 == -1",
        "!0 && !!5",
        // In C, comparisons bind more tightly than `&`.
        "(1 & 2 == 2) == 1",
        "1 | 6 ^ 3 & 2",
        "-1 < 0",
        "!(-1 < 0u)",
        "1 ? 2 : 0",
        "0 ? 0 : 1 ? 3 : 0",
        "0b101 == 5 && 010 == 8 && 0x_F == 15",
        "2 > 1 && 1 >= 1 && 1 <= 1 && 1 != 2",
        "0 || 1 && 1",
        "undefined_name == 0",
        "1 || 1 / 0",
        "!(0 && (1 / 0))",
    ] {
        condition(text, true);
        condition(&format!("!({text})"), false);
    }
}

#[test]
fn defined_asks_for_macros() {
    condition("defined __p4c__ && defined(__TARGET_TOFINO__) && !defined(FOO)", true);
    condition("__TARGET_TOFINO__ == 2 && __p4c_major__ >= 9", true);
    check("#define HAS defined(__p4c__)\n#if HAS\nyes\n#endif", "yes");
}

#[test]
fn one_group_of_a_chain_is_compiled() {
    let chain = |n: u32| {
        format!(
            "#define N {n}\n#if N == 1\none\n#elif N == 2\ntwo\n#elif N == 2 + 0\nagain\n#else\nmany\n#endif\nend"
        )
    };
    check(&chain(1), "one\nend");
    check(&chain(2), "two\nend");
    check(&chain(3), "many\nend");
}

#[test]
fn skipped_groups_nest_and_may_hold_any_text() {
    let text = "#if 0\n#if 1\nit's \"not closed\n#else\n#bad directive\n#endif\n/* #endif */ \"/*\"\n#elif 1\nyes\n#endif";
    check(text, "yes");
}

#[test]
fn ifdef_and_its_negations() {
    check(
        "#define A\n#ifdef A\n1\n#endif\n#ifndef A\n2\n#else\n3\n#endif\n#ifdef B\n4\n#elifdef A\n5\n#endif",
        "1\n3\n5",
    );
    check("#undef __p4c__\n#ifdef __p4c__\n1\n#elifndef B\n2\n#endif", "2");
}

#[test]
fn mistakes_in_conditions_have_messages() {
    let cases = [
        ("#if\n#endif\n", "the condition is empty"),
        ("#if 1 +\n#endif\n", "expected a number in the condition, found the end of the line"),
        ("#if (1\n#endif\n", "the parenthesis has no `)`"),
        ("#if 1 2\n#endif\n", "expected an operator or the end of the line in the condition, found `2`"),
        ("#if 1 / 0\n#endif\n", "the condition divides by zero"),
        ("#if 5 % (2 - 2)\n#endif\n", "the condition divides by zero"),
        ("#if 09\n#endif\n", "`09` is not a number of at most 64 bits"),
        ("#if 99999999999999999999\n#endif\n", "`99999999999999999999` is not a number of at most 64 bits"),
        ("#if \"text\"\n#endif\n", "expected a number or a name in the condition, found `\"text\"`"),
        ("#if 1 ? 2\n#endif\n", "expected `:` in the condition, found the end of the line"),
        ("#if defined\n#endif\n", "`defined` needs the name of a macro"),
        ("#if defined(3)\n#endif\n", "`defined` needs the name of a macro"),
        ("#ifdef\n#endif\n", "`#ifdef` has no name"),
        ("#ifdef 3\n#endif\n", "`#ifdef` has no name"),
        ("#if 1\n", "this condition has no `#endif`"),
        ("#if 0\n", "this condition has no `#endif`"),
        ("#endif\n", "`#endif` without `#if`"),
        ("#else\n", "`#else` without `#if`"),
        ("#elif 1\n", "`#elif` without `#if`"),
        ("#if 1\n#else\n#else\n#endif\n", "`#else` after `#else`"),
        ("#if 0\n#else\n#elif 1\n#endif\n", "`#elif` after `#else`"),
        ("#ifdef A B\n#endif\n", "`B` after `#ifdef` has no meaning"),
    ];
    for (text, message) in cases {
        assert_eq!(messages(text), [message], "{text}");
    }
}
