//! Messages about wrong programs. `messages.txt` has sections of a title (`## ...`), a program and, after `=>`, the messages.
//! `UPDATE_EXPECT=1` writes the messages anew.

use expect_test::expect_file;
use sluice_p4::source::Texts;
use sluice_p4::{Options, parse};

const GOLDEN: &str = include_str!("messages.txt");

#[test]
fn messages_say_what_was_found_what_was_expected_and_how_to_correct_it() {
    let mut text = String::new();
    for section in GOLDEN.split("## ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a section has a title and a program");
        let program = rest.split("=>\n").next().unwrap_or_default();
        let messages = messages(program);
        assert!(!messages.is_empty(), "no message: {title}");
        text.push_str(&format!("## {title}\n{program}=>\n{}\n\n", messages.trim_end()));
    }
    expect_file!["messages.txt"].assert_eq(&text);
}

fn messages(program: &str) -> String {
    parse(&Texts::new().with("main.p4", program), "main.p4", &Options::default()).messages()
}
