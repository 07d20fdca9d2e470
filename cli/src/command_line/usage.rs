//! Reads the command line, and reports its mistakes with the nearest word and a working example.

use crate::command_line::args::Cli;
use crate::console::fail::print_coloured;
use crate::console::invocation::{self, Out};
use crate::console::terminal;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use sluice_asic::names::nearest;
use std::ffi::OsString;
use std::io::Write;

/// A working command line of each command.
const EXAMPLES: [(&str, &str); 33] = [
    ("", "sluice replay l3-ecmp"),
    ("programs", "sluice programs l3-ecmp"),
    ("new", "sluice new heavy-hitter --text"),
    ("check", "sluice check mine.sluice --place"),
    ("report", "sluice report l3-ecmp --set ipv4_routes=100k"),
    ("test", "sluice test tests/"),
    ("replay", "sluice replay l3-ecmp -i 0@trace.pcap -o out"),
    ("gen", "sluice gen udp --packets 10k --rate 40Gbps -o udp.pcap"),
    ("gen udp", "sluice gen udp --packets 10k --rate 40Gbps -o udp.pcap"),
    ("gen tcp", "sluice gen tcp --packets 10k --flows 100 -o tcp.pcap"),
    ("gen roce", "sluice gen roce --packets 10k -o roce.pcap"),
    ("gen cnp", "sluice gen cnp --packets 100 -o cnp.pcap"),
    ("gen vxlan", "sluice gen vxlan --packets 10k -o vxlan.pcap"),
    ("gen arp", "sluice gen arp --packets 10 -o arp.pcap"),
    ("gen pfc", "sluice gen pfc --packets 10 -o pfc.pcap"),
    ("gen flows", "sluice gen flows flows.csv -o flows.pcap"),
    ("gen workload", "sluice gen workload web-search --load 50 --duration 1ms -o load.pcap"),
    ("gen frames", "sluice gen frames frames.toml -o frames.pcap"),
    ("explain", "sluice explain queue_tail_drop"),
    ("entries", "sluice entries l3-ecmp --template"),
    ("polarization", "sluice polarization --topology fat-tree:k=8 --flows 100k"),
    ("run", "sluice run mine.toml -o out"),
    ("reproduce", "sluice reproduce conweave/lossless -o out"),
    ("compare", "sluice compare before after"),
    ("fuzz", "sluice fuzz l3-ecmp --cases 1k -o out"),
    ("flowlets", "sluice flowlets -i trace.pcap --timeouts 50us,500us"),
    ("int", "sluice int decode trace.pcap"),
    ("int decode", "sluice int decode trace.pcap --limit 100"),
    ("doctor", "sluice doctor"),
    ("completions", "sluice completions bash"),
    ("man", "sluice man -o man"),
    ("schema", "sluice schema summary"),
    ("help", "sluice help replay"),
];

fn example(path: &str) -> &'static str {
    EXAMPLES.iter().find(|(known, _)| *known == path).map_or("sluice --help", |(_, example)| example)
}

/// Returns the definition of the command line, with an example in the help of each command.
pub(crate) fn command() -> Command {
    with_examples(Cli::command(), "")
}

fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = command
        .after_help(format!("Example:\n  {}", example(path)))
        // So that `--limit -5` is a wrong number, and not an unknown option.
        .mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg });
    names.into_iter().fold(command, |command, name| {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |sub| with_examples(sub, &path))
    })
}

/// Reads the command line. Help and mistakes are printed; then the exit code is returned.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, u8> {
    let arguments: Vec<OsString> = arguments.collect();
    let mut command = command();
    parsed(&mut command, &arguments).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // There is no other place to report that the output is closed.
            let _ = match invocation::is_kept() {
                true => write!(Out::new(), "{}", error.render()),
                false => error.print(),
            };
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            print_coloured(&error.render().to_string());
            2
        }
        _ => {
            print_coloured(&mistake(error, &command, &arguments));
            2
        }
    })
}

fn parsed(command: &mut Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    command.try_get_matches_from_mut(arguments).and_then(|found| Cli::from_arg_matches(&found))
}

/// Reads the command line of a caller that shows mistakes itself; the error is their message.
pub(crate) fn read(arguments: &[OsString]) -> Result<Cli, String> {
    let mut command = command();
    parsed(&mut command, arguments).map_err(|error| mistake(error, &command, arguments))
}

/// Returns the message of a mistake.
fn mistake(mut error: clap::Error, command: &Command, arguments: &[OsString]) -> String {
    let (path, command) = meant(command, arguments);
    suggest(&mut error, command);
    let styled = error.render();
    let text = if terminal::colours_errors() { styled.ansi().to_string() } else { styled.to_string() };
    let end = text.find("\n\nFor more information, try").unwrap_or(text.trim_end().len());
    let words = if path.is_empty() { "sluice".to_owned() } else { format!("sluice {path}") };
    format!(
        "{}\n  = help: for example `{}`; `{words} --help` lists everything\n",
        &text[..end],
        example(&path)
    )
}

/// Returns the command that the words name, with its path.
fn meant<'c>(command: &'c Command, arguments: &[OsString]) -> (String, &'c Command) {
    let mut path: Vec<&str> = Vec::new();
    let mut command = command;
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(sub) = command.find_subcommand(word) {
            path.push(sub.get_name());
            command = sub;
        }
    }
    (path.join(" "), command)
}

/// Puts the nearest known word in place of clap's proposals, which are sometimes far off, and missing for short words.
fn suggest(error: &mut clap::Error, command: &Command) {
    let text = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(found) = text(error, ContextKind::InvalidSubcommand) else { return };
            error.remove(ContextKind::SuggestedSubcommand);
            let names = command.get_subcommands().map(Command::get_name);
            if let Some(near) = nearest(&found, names) {
                let near = ContextValue::Strings(vec![near.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, near);
            }
        }
        ErrorKind::UnknownArgument => {
            let Some(found) = text(error, ContextKind::InvalidArg) else { return };
            error.remove(ContextKind::Suggested);
            error.remove(ContextKind::TrailingArg);
            error.remove(ContextKind::Usage);
            error.remove(ContextKind::SuggestedArg);
            let Some(word) = found.strip_prefix("--") else { return };
            let known = || command.get_arguments().filter_map(|arg| arg.get_long());
            if let Some(near) = nearest(word, known()) {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}")));
            }
        }
        ErrorKind::InvalidValue => {
            let Some(found) = text(error, ContextKind::InvalidValue) else { return };
            if error.get(ContextKind::SuggestedValue).is_some() {
                return;
            }
            let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue).cloned() else {
                return;
            };
            if let Some(near) = nearest(&found, known.iter().map(String::as_str)) {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(near.to_owned()));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of all commands.
    fn paths(command: &Command, path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        for sub in command.get_subcommands() {
            let name = sub.get_name();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
            paths(sub, &path, all);
        }
    }

    #[test]
    fn every_command_has_an_example_that_can_be_read() {
        let mut all = Vec::new();
        paths(&command(), "", &mut all);
        for path in &all {
            assert!(EXAMPLES.iter().any(|(known, _)| known == path), "no example of `{path}`");
        }
        for (_, example) in EXAMPLES.iter().filter(|(path, _)| *path != "help") {
            let words = example.split_whitespace();
            assert!(command().try_get_matches_from(words).is_ok(), "{example}");
        }
    }
}
