//! Commands that the output proposes: they repeat the arguments with which the user called the command.

use crate::console::invocation;
use clap::{ArgAction, Args, Command};

/// Returns the arguments of this call after the name of its command `from`, which takes the arguments `From`, as a shell takes
/// them, for a command that takes the arguments `To`: without options that it does not have, and without those of `without`. If
/// the binary was called without the command, `default` stands for the arguments.
pub(crate) fn own_arguments<From: Args, To: Args>(from: &str, default: &str, without: &[&str]) -> String {
    of::<From, To>(invocation::arguments(), from, default, without)
}

/// Returns the command of this call, as a shell takes it.
pub(crate) fn command_line() -> String {
    let words = std::iter::once("sluice".to_owned()).chain(invocation::arguments().into_iter().map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

/// As [`own_arguments`], of a call with these arguments.
pub(crate) fn of<From: Args, To: Args>(
    arguments: impl IntoIterator<Item = String>,
    from: &str,
    default: &str,
    without: &[&str],
) -> String {
    let from_command = &From::augment_args(Command::new("from"));
    let to_command = &To::augment_args(Command::new("to"));
    let mut arguments = arguments.into_iter().skip_while(|word| word != from).skip(1);
    let mut words = Vec::new();
    while let Some(word) = arguments.next() {
        if !word.starts_with('-') || word == "-" {
            words.push(quoted(word));
            continue;
        }
        let name = word.split('=').next().unwrap_or_default();
        let value = if has_value(from_command, &word) { arguments.next() } else { None };
        if !without.contains(&name) && option(to_command, name).is_some() {
            words.push(quoted(word));
            words.extend(value.map(quoted));
        }
    }
    if words.is_empty() { default.to_owned() } else { words.join(" ") }
}

/// Returns the option of a command that a word names, with its value or without.
fn option<'c>(command: &'c Command, name: &str) -> Option<&'c clap::Arg> {
    command.get_arguments().find(|arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long_and_visible_aliases().is_some_and(|all| all.contains(&long)),
        None => arg.get_short() == name.chars().nth(1),
    })
}

/// Returns true if the value of an option is the next word.
fn has_value(command: &Command, word: &str) -> bool {
    let is_joined = word.contains('=') || !word.starts_with("--") && word.chars().count() > 2;
    option(command, word).is_some_and(|arg| {
        let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        takes && !is_joined && !arg.is_require_equals_set()
    })
}

/// Returns proposed commands with what they do, one on a line. Longer commands have their meaning on the next line.
pub(crate) fn proposals(list: &[(String, &str)]) -> String {
    const WIDE: usize = 60;
    let length = |command: &String| command.chars().count();
    let longest = list.iter().map(|(command, _)| length(command)).filter(|n| *n <= WIDE).max().unwrap_or(0);
    let line = |(command, meaning): &(String, &str)| match length(command) <= WIDE {
        true => format!("  {command:<longest$}    {meaning}\n"),
        false => format!("  {command}\n      {meaning}\n"),
    };
    list.iter().map(line).collect()
}

/// Returns a word as a shell takes it.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::proposals;

    #[test]
    fn long_commands_have_a_line_of_their_own() {
        let list = [
            ("sluice a".to_owned(), "does a"),
            ("sluice bb".to_owned(), "does b"),
            ("x".repeat(61), "does c"),
        ];
        let long = "x".repeat(61);
        assert_eq!(
            proposals(&list),
            format!("  sluice a     does a\n  sluice bb    does b\n  {long}\n      does c\n")
        );
    }
}
