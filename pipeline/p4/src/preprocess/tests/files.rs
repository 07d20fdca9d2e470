//! `#include`, line markers, `#error` and other directives.

use super::{Options, check, messages, run};

#[test]
fn included_text_stands_in_the_place_of_the_directive() {
    let files = [
        (
            "main.p4",
            "a\n#include \"x.p4\"\n#include <y.p4> // comment\n#define NAME \"x.p4\"\n#include NAME\nb",
        ),
        ("x.p4", "x\n"),
        ("y.p4", "y __FILE__ __LINE__"),
    ];
    let output = run(&files, &Options::default());
    assert_eq!((output.text.as_str(), output.messages.len()), ("a\nx\ny \"y.p4\" 1\nx\nb", 0));
}

#[test]
fn guards_and_pragma_once_keep_a_file_out() {
    let files = [
        ("main.p4", "#include \"g.p4\"\n#include \"g.p4\"\n#include \"o.p4\"\n#include \"o.p4\"\nend"),
        ("g.p4", "#ifndef G\n#define G\nguarded\n#endif\n"),
        ("o.p4", "#pragma once\nonce\n"),
    ];
    assert_eq!(run(&files, &Options::default()).text, "guarded\nonce\nend");
}

#[test]
fn a_missing_file_is_one_message_and_no_tokens() {
    let output =
        run(&[("main.p4", "a\n#include \"nowhere.p4\"\n#include <gone.p4>\nb")], &Options::default());
    assert_eq!(output.messages, ["file `nowhere.p4` is not found", "file `gone.p4` is not found"]);
    assert_eq!(output.text, "");
}

#[test]
fn line_markers_rename_lines() {
    check("# 40 \"old.p4\" 1\n__LINE__ __FILE__\n#line 7\n__LINE__ __FILE__", "40 \"old.p4\"\n7 \"old.p4\"");
    let output = run(&[("main.p4", "# 12 \"generated.p4\"\n#bad\n")], &Options::default());
    assert!(output.rendered.contains("generated.p4:12:1"), "{}", output.rendered);
}

#[test]
fn error_ends_and_warning_does_not() {
    assert_eq!(
        messages("#warning old  form\n#error no chip\n#error never read\n"),
        ["#warning old  form", "#error no chip"]
    );
}

#[test]
fn other_architectures_are_refused_at_their_include() {
    for (file, architecture) in
        [("v1model.p4", "the architecture v1model (bmv2)"), ("psa.p4", "the architecture PSA")]
    {
        let found = messages(&format!("#include <core.p4>\n#include <{file}>\n"));
        let message =
            format!("`{file}` is for {architecture}, and Sluice has the architectures TNA and T2NA");
        assert_eq!(found.last(), Some(&message));
    }
}

#[test]
fn mistakes_in_directives_have_messages() {
    let cases = [
        ("#include\n", "`#include` has no file name"),
        ("#include 3\n", "`#include` has no file name"),
        ("#frobnicate 3\n", "`#frobnicate` is no directive, and its line is ignored"),
        ("##undef A\n", "this line has no directive and is ignored"),
        ("#IFDEF A\n", "`#IFDEF` is no directive, and its line is ignored; did you mean `ifdef`?"),
        ("#(x\n", "this line has no directive and is ignored"),
        ("#line x\n", "a line marker has no line number"),
        ("a /* b\nc\n", "the comment that begins here does not end"),
        ("#if 0\n/* b\n#endif\n", "the comment that begins here does not end"),
        ("a \"b\nc\n", "the string that begins here does not end on its line"),
    ];
    for (text, message) in cases {
        assert_eq!(messages(text).first().map(String::as_str), Some(message), "{text}");
    }
}

#[test]
fn an_empty_directive_and_pragmas_mean_nothing() {
    check("#\n# \n#pragma p4c something \"odd\n#ident \"x\"\na", "a");
}
