//! `sluice completions` and `sluice man`: what shells and `man` need to know of the command line, from its own definition.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::output::files::Folder;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell for which the script is
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for one page of each command: sluice.1, sluice-replay.1, .. [default: print sluice.1]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints the script that completes commands, options and their values; `all` is the command line.
pub(crate) fn completions(args: &CompletionsArgs, mut all: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut all, "sluice", &mut script);
    Out::new().write_all(&script)?;
    Ok(())
}

/// Writes the pages of all commands of the command line `all`, or prints that of the command line as a whole.
pub(crate) fn man(args: &ManArgs, mut all: Command) -> Result<(), Failure> {
    all.build();
    let Some(dir) = &args.output else {
        Out::new().write_all(&page(all)?)?;
        return Ok(());
    };
    let mut folder = Folder::open("man", dir, ["sluice.1", "sluice-*.1"])?;
    for command in all.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("sluice-{}", command.get_name());
        let text = String::from_utf8_lossy(&page(command.clone())?).into_owned();
        folder.text(&format!("{name}.1"), "text/troff", "the manual page of a command", &text)?;
    }
    let text = String::from_utf8_lossy(&page(all)?).into_owned();
    folder.text("sluice.1", "text/troff", "the manual page of the command line", &text)?;
    folder.finish()
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
