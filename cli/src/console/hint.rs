//! Commands that the output proposes: they repeat the arguments with which the user called the command.

use crate::command_line::args::GlobalArgs;
use crate::console::invocation;
use clap::{ArgAction, Args, Command};
use std::path::Path;

/// Options that name what a command writes. A proposed command that had one would overwrite what the user's command wrote.
const OUTPUTS: [&str; 10] = [
    "-o",
    "--output",
    "--html",
    "--dot",
    "--junit",
    "--sarif",
    "--trace-out",
    "--timeline",
    "--drops",
    "--write-flows",
];

/// Returns the arguments of this call after the name of its command `from`, which takes the arguments `From`, as a shell takes
/// them. If the binary was called without the command, `default` stands for the arguments.
pub(crate) fn own_arguments<From: Args>(from: &str, default: &str) -> String {
    of::<From, From>(invocation::arguments(), from, default, &[])
}

/// Like [`own_arguments`], for a command to call next, which takes the arguments `To`: without options that it does not have,
/// without those that name what a command writes, and without those of `without`.
pub(crate) fn next_arguments<From: Args, To: Args>(from: &str, default: &str, without: &[&str]) -> String {
    of::<From, To>(invocation::arguments(), from, default, &[&OUTPUTS[..], without].concat())
}

/// Returns a name of a file or folder that is not there: this one, or else with a number before its ending.
pub(crate) fn new_name(name: &str) -> String {
    let (stem, ending) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, ending)| (stem, format!(".{ending}")));
    let numbered = (2_u64..).map(|number| format!("{stem}-{number}{ending}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !Path::new(name).exists()).unwrap_or_default()
}

/// Returns the command of this call, as a shell takes it.
pub(crate) fn command_line() -> String {
    let words = std::iter::once("sluice".to_owned()).chain(invocation::arguments().into_iter().map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the arguments of a call of the command `from`, without some options, for a command that takes the arguments `To`.
pub(crate) fn of<From: Args, To: Args>(
    arguments: impl IntoIterator<Item = String>,
    from: &str,
    default: &str,
    without: &[&str],
) -> String {
    // Options of all commands may stand before the name of the command.
    let all = GlobalArgs::augment_args(Command::new("all"));
    let from_command = &From::augment_args(all.clone());
    let to_command = &To::augment_args(all);
    let without = [without, &["--json", "-q", "--quiet"]].concat();
    let mut arguments = arguments.into_iter();
    let mut words = Vec::new();
    let mut is_named = false;
    while let Some(word) = arguments.next() {
        if !is_named && word == from {
            is_named = true;
            continue;
        }
        if !word.starts_with('-') || word == "-" {
            words.push(quoted(word));
            continue;
        }
        let name = word.split('=').next().unwrap_or_default();
        let value = if has_value(from_command, &word) { arguments.next() } else { None };
        let is_short = !word.starts_with("--");
        let is_left_out = without
            .iter()
            .any(|other| name == *other || is_short && other.len() == 2 && name.starts_with(other));
        if !is_left_out && option(to_command, name).is_some() {
            words.push(quoted(word));
            words.extend(value.map(quoted));
        }
    }
    if !is_named || words.is_empty() { default.to_owned() } else { words.join(" ") }
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
pub(crate) fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{OUTPUTS, next_arguments, of, proposals};
    use crate::fuzz::FuzzArgs;
    use crate::replay::ReplayArgs;
    use crate::report::ReportArgs;
    use crate::run::RunArgs;
    use clap::{Args, Command};

    /// Options with a file or a folder that the command reads.
    const INPUTS: [&str; 11] = [
        "-i",
        "--input",
        "-I",
        "--include",
        "--entries",
        "--routes",
        "--port-map",
        "--flows",
        "--changes",
        "--corpus",
        "--merge",
    ];

    #[test]
    fn every_option_with_a_file_is_an_input_or_an_output() {
        let commands = [
            ReportArgs::augment_args(Command::new("report")),
            ReplayArgs::augment_args(Command::new("replay")),
            FuzzArgs::augment_args(Command::new("fuzz")),
            RunArgs::augment_args(Command::new("run")),
        ];
        for arg in commands.iter().flat_map(Command::get_arguments).filter(|arg| !arg.is_positional()) {
            let values = arg.get_value_names().unwrap_or_default();
            if !values.iter().any(|value| ["FILE", "DIR", "PORT@FILE"].contains(&value.as_str())) {
                continue;
            }
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            for name in [long, short].into_iter().flatten() {
                let (reads, writes) = (INPUTS.contains(&name.as_str()), OUTPUTS.contains(&name.as_str()));
                assert_ne!(reads, writes, "{name}");
            }
        }
    }

    #[test]
    fn limits_of_the_call_are_repeated_wherever_they_stand() {
        let line =
            ["--max", "placing-steps=1G", "-q", "replay", "ecmp", "--max-text", "1M", "--json", "-oout"];
        let words = |without: &[&str]| {
            of::<ReplayArgs, ReportArgs>(line.map(str::to_owned), "replay", "l3-ecmp", without)
        };
        assert_eq!(words(&[]), "--max placing-steps=1G ecmp --max-text 1M -oout");
        assert_eq!(words(&OUTPUTS), "--max placing-steps=1G ecmp --max-text 1M");
        assert_eq!(next_arguments::<ReplayArgs, ReportArgs>("none", "l3-ecmp", &[]), "l3-ecmp");
    }

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
