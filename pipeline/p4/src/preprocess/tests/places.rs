//! Places of tokens that macros made.

use super::{Options, run};
use expect_test::{Expect, expect};

/// Checks a message about a wrong directive or macro inside macros.
#[track_caller]
fn check(files: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&run(files, &Options::default()).rendered);
}

#[test]
fn a_mistake_in_a_definition_shows_use_and_definition() {
    let text = "#define SIZE(n) n * OOPS(\n#define OOPS(a, b) a\n#if SIZE(3) 1)\n#endif\n";
    check(
        &[("main.p4", text)],
        expect![[r#"
        error: macro `OOPS` has 2 parameters, found 1 arguments
         --> main.p4:3:5
          |
        2 | #define OOPS(a, b) a
          |         ---- the macro
        3 | #if SIZE(3) 1)
          |     ^^^^^^^^^^
          |
          = help: an argument with a comma in it needs parentheses around it"#]],
    );
}

#[test]
fn a_mistake_in_an_argument_shows_the_argument() {
    let text = "#define TWICE(x) ((x) + (x))\n#if TWICE(4 4)\n#endif\n";
    check(
        &[("main.p4", text)],
        expect![[r#"
        error: expected `)` in the condition, found `4`
         --> main.p4:2:13
          |
        2 | #if TWICE(4 4)
          |             ^"#]],
    );
}

#[test]
fn a_mistake_in_an_included_definition_shows_both_files() {
    let files = [
        ("main.p4", "#include \"size.p4\"\n#if SIZE\n#endif\n"),
        ("size.p4", "#define SIZE 1 2\n\n#define X\n"),
    ];
    check(
        &files,
        expect![[r#"
            error: expected an operator or the end of the line in the condition, found `2`
             --> main.p4:2:5
              |
            2 | #if SIZE
              |     ^^^^
              |
             ::: size.p4:1:16
              |
            1 | #define SIZE 1 2
              |                - in the definition of macro `SIZE`"#]],
    );
}

#[test]
fn a_definition_of_the_command_line_has_a_place() {
    let defines = vec![crate::preprocess::Define::Define("N=1 2".to_owned())];
    let options = Options { defines, ..Options::default() };
    let output = run(&[("main.p4", "#if N\n#endif\n")], &options);
    expect![[r#"
        error: expected an operator or the end of the line in the condition, found `2`
         --> main.p4:1:5
          |
        1 | #if N
          |     ^
          |
         ::: <command line>:1:13
          |
        1 | #define N 1 2
          |             - in the definition of macro `N`"#]]
    .assert_eq(&output.rendered);
}
