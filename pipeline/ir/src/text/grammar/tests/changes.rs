//! Examples with one token less, or with one token twice: parser and rules agree about them.

use super::sentences::is_about_values;
use crate::text::grammar::{PRELUDE, TOPICS, accepts};
use crate::text::lex::{Tok, tokens};
use crate::text::{ParseError, parse};

#[test]
fn parser_and_rules_agree_about_changed_examples() {
    let (mut both, mut neither) = (0, 0);
    let mut wrong = Vec::new();
    for topic in TOPICS {
        let parts = parts(topic.example);
        for at in 0..parts.len() {
            for times in [0, 2] {
                let mut changed = parts.clone();
                changed[at] = parts[at].repeat(times);
                let text = format!("{PRELUDE}{}", changed.concat());
                match (parse(&text), accepts(&text)) {
                    (Ok(_), Ok(())) => both += 1,
                    (Err(_), Err(_)) => neither += 1,
                    (Err(e), Ok(())) if is_about_values(&e) || is_about_names(&e) => both += 1,
                    (Err(e), Ok(())) => {
                        wrong.push(format!(
                            "{}, token {at}, {times} times: only the parser refuses: {e}",
                            topic.title
                        ));
                    }
                    (Ok(_), Err(e)) => {
                        wrong.push(format!(
                            "{}, token {at}, {times} times: only the rules refuse: {e}",
                            topic.title
                        ));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(both > 50 && neither > 1000, "{both} accepted, {neither} refused");
}

/// Returns true if the parser refuses a name that is not declared, which the rules do not know.
fn is_about_names(e: &ParseError) -> bool {
    e.found.starts_with('`') && e.found[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Returns the tokens of a text, each with the blanks after it.
fn parts(text: &str) -> Vec<String> {
    let list = tokens(text, "<text>").unwrap();
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let place = |token: &crate::text::lex::Token| match token.tok {
        Tok::End => text.len(),
        _ => starts[token.line as usize - 1] + token.col as usize - 1,
    };
    list.windows(2).map(|pair| text[place(&pair[0])..place(&pair[1])].to_owned()).collect()
}
