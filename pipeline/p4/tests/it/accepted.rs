//! Programs of every construct, and how they are understood. `accepted.txt` has sections of a title (`## ...`), a program and,
//! after `=>`, its tree as text with parentheses around every operator. `UPDATE_EXPECT=1` writes the trees anew.

use expect_test::expect_file;
use sluice_p4::source::Texts;
use sluice_p4::syntax::print;
use sluice_p4::{Options, Parsed, parse};

const GOLDEN: &str = include_str!("accepted.txt");

fn parsed(text: &str) -> Parsed {
    parse(&Texts::new().with("main.p4", text), "main.p4", &Options::default())
}

#[test]
fn every_construct_parses_and_its_print_parses_to_the_same_tree() {
    let mut golden = String::new();
    for section in GOLDEN.split("## ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a section has a title and a program");
        let program = rest.split("=>\n").next().unwrap_or_default();
        let first = parsed(program);
        assert_eq!(first.messages(), "", "{title}");
        let text = print(&first.ast);
        assert_eq!(print(&parsed(&text).ast), text, "{title}");
        golden.push_str(&format!("## {title}\n{program}=>\n{text}\n"));
    }
    expect_file!["accepted.txt"].assert_eq(&golden);
}
