//! `sluice new`: writes a program to start from, as a text or as a crate.

mod from;

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::open::target::Target;
use crate::output::files::Pending;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The program that `--text` writes.
const SKETCH: &str = include_str!("../../examples/sketch.sluice");

/// Name of the example that is the template of a crate, as program, as crate in Rust, and as type.
const EXAMPLE: [&str; 3] = ["heavy-hitter", "heavy_hitter", "HeavyHitter"];

/// A file of the template: its path in the crate, and its text.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../examples/heavy-hitter/", $path)))
    };
}

/// The files of the example.
const CRATE: [(&str, &str); 9] = [
    file!("Cargo.toml"),
    file!("Cargo.lock"),
    file!("src/lib.rs"),
    file!("src/agent.rs"),
    file!("src/main.rs"),
    file!("tests/behaviour.rs"),
    file!("tests/packets.rs"),
    file!("benches/packets.rs"),
    file!("contest.toml"),
];

/// The dependency on Sluice in the example.
const DEPENDENCY: &str = "path = \"../../cli\"";
/// The checkout from which this binary was built; empty in archives, whose binaries hold no path of the machine that built them.
const CHECKOUT: &str = match option_env!("SLUICE_CHECKOUT") {
    Some(checkout) => checkout,
    None => concat!(env!("CARGO_MANIFEST_DIR"), "/.."),
};

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the program: letters a to z, digits and `-`, as in heavy-hitter
    name: String,
    /// Write one .sluice file, NAME.sluice, instead of a crate
    #[arg(long)]
    text: bool,
    /// Checkout of Sluice that the crate depends on [default: the one that this binary was built from]
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    sluice: Option<PathBuf>,
    /// Write a crate around a P4 program, whose files are copied into it, with generated code for --chip
    #[arg(long, value_name = "FILE.p4", conflicts_with = "text")]
    from: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
}

/// Writes a program to start from.
pub(crate) fn run(args: &NewArgs) -> Result<(), Failure> {
    check(&args.name)?;
    match &args.from {
        Some(program) => from::crate_of(&args.name, program, &args.target, args.sluice.as_deref()),
        None if args.text => text(&args.name),
        None => crate_of(&args.name, args.sluice.as_deref()),
    }
}

/// Writes NAME.sluice.
fn text(name: &str) -> Result<(), Failure> {
    let path = PathBuf::from(format!("{name}.sluice"));
    is_new(&path)?;
    write(&path, &SKETCH.replace("program sketch;", &format!("program {name};")))?;
    let file = path.display();
    next(
        &format!("{file}: a program to start from"),
        &[
            (format!("sluice check {file} --place"), "is it legal, and does it fit"),
            (format!("sluice report {file}"), "stages, resources, cycles"),
            (
                format!("sluice replay {file} --check"),
                "a sample capture through it, with its properties checked",
            ),
            (format!("sluice fuzz {file} --cases 256"), "search packets that break a property"),
        ],
    )
}

/// Writes a crate in the folder NAME.
fn crate_of(name: &str, checkout: Option<&Path>) -> Result<(), Failure> {
    let folder = PathBuf::from(name);
    is_new(&folder)?;
    // A JSON string is a basic string of TOML.
    let path = serde_json::Value::from(library(checkout)?.display().to_string());
    let names = [name.to_owned(), name.replace('-', "_"), type_name(name)];
    for (file, text) in CRATE {
        let mut text = text.replace(DEPENDENCY, &format!("path = {path}"));
        for (old, new) in EXAMPLE.iter().zip(&names) {
            text = text.replace(old, new);
        }
        let path = folder.join(file);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| Failure::file("create", parent, &e))?;
        }
        write(&path, &text)?;
    }
    write(&folder.join(".gitignore"), "/target\n")?;
    next(
        &format!(
            "{name}/: a crate whose binary has all commands of sluice, with `{name}` beside the shipped programs"
        ),
        &[
            (format!("cd {name}"), "its program is in src/lib.rs"),
            ("cargo test".to_owned(), "behaviour, and properties for any packets and entries"),
            (format!("cargo run -- report {name}"), "stages, resources, cycles"),
            (
                format!("cargo run -- replay {name} --check"),
                "a sample capture through it, with its properties checked",
            ),
            (format!("cargo run -- fuzz {name} --cases 256"), "search packets that break a property"),
            ("cargo run -- run contest.toml".to_owned(), "compare it with ecmp in a network"),
        ],
    )
}

/// Returns the folder of the crate `sluice` in a checkout.
fn library(checkout: Option<&Path>) -> Result<PathBuf, Failure> {
    let given = checkout.unwrap_or(Path::new(CHECKOUT));
    let help = "--sluice PATH names the folder of Sluice's source, which has `cli/Cargo.toml`";
    if given.as_os_str().is_empty() {
        return Err(Failure::with_help("this binary does not know a checkout of Sluice", help));
    }
    let library = std::fs::canonicalize(given.join("cli")).ok();
    library
        .filter(|path| path.join("Cargo.toml").is_file())
        .ok_or_else(|| Failure::with_help(format!("{} is no checkout of Sluice", given.display()), help))
}

/// Returns the name of a type: `HeavyHitter` for heavy-hitter.
fn type_name(name: &str) -> String {
    let part = |part: &str| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
    };
    name.split('-').map(part).collect()
}

/// Prints what was written, and the commands to go on with.
fn next(title: &str, commands: &[(String, &str)]) -> Result<(), Failure> {
    let mut out = Out::new();
    writeln!(out, "{title}")?;
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, what) in commands {
        writeln!(out, "  {command:width$}  {what}")?;
    }
    Ok(())
}

/// Words of Rust, and crates that the template uses, which no crate can be called.
const TAKEN: [&str; 16] = [
    "as", "const", "crate", "enum", "fn", "impl", "mod", "self", "sluice", "std", "struct", "super", "test",
    "trait", "type", "use",
];

/// Refuses a name that is no name of a program and of a crate.
fn check(name: &str) -> Result<(), Failure> {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let single = !name.ends_with('-') && !name.contains("--");
    if starts && plain && single && name.len() <= 64 && !TAKEN.contains(&name) {
        return Ok(());
    }
    let help = "use letters a to z, digits and single `-`, beginning with a letter, at most 64, and no word of Rust: heavy-hitter";
    Err(Failure::with_help(format!("`{name}` is not a name of a program"), help))
}

/// Refuses to write over something.
fn is_new(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        let help = "choose another name, or move it away";
        return Err(Failure::with_help(format!("{} exists already", path.display()), help));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = Pending::create(path)?;
    file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", path, &e))?;
    file.finish()
}
