//! `sluice new NAME --from FILE.p4`: a crate around a P4 program, with generated code.

use super::{is_new, library, next, write};
use crate::console::fail::{Failure, print_error};
use crate::console::snippet;
use crate::console::text_file::read_text;
use crate::open::p4::{self, FileOfProgram};
use crate::open::resolve;
use crate::open::target::Target;
use std::path::{Path, PathBuf};

/// The manifest. `PROFILES` of the example follow.
const MANIFEST: &str = include_str!("from/Cargo.toml.txt");
const BUILD: &str = include_str!("from/build.rs.txt");
const PROGRAM: &str = include_str!("from/program.rs.txt");
const MAIN: &str = include_str!("from/main.rs.txt");
const TEST: &str = include_str!("from/test.rs.txt");
/// The manifest of the example, whose profiles the crate has.
const EXAMPLE: &str = include_str!("../../../examples/heavy-hitter/Cargo.toml");
/// The versions with which the example is tested.
const LOCK: &str = include_str!("../../../examples/heavy-hitter/Cargo.lock");

/// Writes the crate in the folder NAME.
pub(super) fn crate_of(
    name: &str,
    program: &Path,
    target: &Target,
    checkout: Option<&Path>,
) -> Result<(), Failure> {
    let folder = PathBuf::from(name);
    is_new(&folder)?;
    let library = serde_json::Value::from(library(checkout)?.display().to_string());
    let chip = resolve::chip(&target.chip)?;
    if chip.name != target.chip {
        return Err(Failure::with_help(
            format!("--chip {}: a crate's code is generated for a chip with a name", target.chip),
            "give --chip tofino or --chip tofino2",
        ));
    }
    // A program that is refused or does not fit has no code, so this is said before anything is written.
    let disk = target.p4.disk();
    let lowered = p4::program(program, &target.p4, &disk, &chip)?;
    if let Err(no_fit) = resolve::fit(&lowered, &chip, &sluice_place::Options::default()) {
        print_error(snippet::no_fit(&no_fit));
        return Err(Failure::Property);
    }
    let files = p4::files_of(program, &disk);
    let common = common_folder(&files);
    let own = |path: &Path| format!("p4/{}", path.strip_prefix(&common).unwrap_or(path).display());
    for file in &files {
        copy(&folder.join(own(&file.path)), &file.text)?;
    }
    let root = files.first().map(|file| own(&file.path)).unwrap_or_default();
    let beside = p4::declarations(program);
    if beside.is_file() {
        let text = read_text(&beside)?;
        copy(&p4::declarations(&folder.join(&root)), &text)?;
    }
    let mut options = vec!["--chip".to_owned(), target.chip.clone()];
    options.extend(target.p4.options_within(&common, &own));
    let quoted: Vec<String> = options.iter().map(|option| format!("{option:?}")).collect();
    let fill = |text: &str| {
        let text = text.replace("NAME", name).replace("FILE", &root).replace("LIBRARY", &library.to_string());
        text.replace("OPTIONS", &quoted.join(", ")).replace("CRATE", &name.replace('-', "_"))
    };
    let profiles = EXAMPLE.find("# This crate is outside").map_or("", |at| &EXAMPLE[at..]);
    write(&folder.join("Cargo.toml"), &format!("{}\n{profiles}", fill(MANIFEST)))?;
    write(&folder.join("build.rs"), &fill(BUILD))?;
    copy(&folder.join("src/program.rs"), &fill(PROGRAM))?;
    write(&folder.join("src/main.rs"), &fill(MAIN))?;
    copy(&folder.join("tests/packets.rs"), &fill(TEST))?;
    write(&folder.join(".gitignore"), "/target\n")?;
    write(&folder.join("Cargo.lock"), &locked(name))?;
    let chip = if target.chip == "tofino2" { String::new() } else { format!(" --chip {}", target.chip) };
    next(
        &format!(
            "{name}/: a crate whose binary has all commands of sluice, with `{name}` and its generated code beside the shipped \
             programs"
        ),
        &[
            (format!("cd {name}"), "its program is in p4/"),
            ("cargo test".to_owned(), "the program fits, and a packet goes through it"),
            (format!("cargo run --release -- report {name}{chip}"), "stages, resources, cycles"),
            (
                format!("cargo run --release -- replay {name}{chip}"),
                "a sample capture through its generated code",
            ),
            (
                format!("cargo run --release -- fuzz {name}{chip} --cases 256"),
                "search packets that break a property",
            ),
        ],
    )
}

/// Returns the versions of the example for a crate that depends on `sluice` alone; cargo adds and removes what differs.
fn locked(name: &str) -> String {
    LOCK.replace("\"heavy-hitter\"", &format!("\"{name}\""))
}

/// Returns the folder that has all files.
fn common_folder(files: &[FileOfProgram]) -> PathBuf {
    let mut folders = files.iter().filter_map(|file| file.path.parent());
    let mut common = folders.next().unwrap_or(Path::new("")).to_owned();
    for folder in folders {
        while !folder.starts_with(&common) {
            if !common.pop() {
                break;
            }
        }
    }
    common
}

/// Writes a file, and the folders that it is in.
fn copy(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|e| Failure::file("create", parent, &e))?;
    }
    write(path, text)
}

impl p4::P4Args {
    /// Returns the options for a crate that has copies of the program's files: folders and files of `common` by their places in the
    /// crate. Folders elsewhere have no files of the program.
    fn options_within(&self, common: &Path, own: &dyn Fn(&Path) -> String) -> Vec<String> {
        let mut list = Vec::new();
        for folder in self.folders() {
            let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
            if whole.starts_with(common) {
                list.extend(["-I".to_owned(), own(&whole)]);
            }
        }
        for file in self.first_files() {
            let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
            list.extend(["--include".to_owned(), own(&whole)]);
        }
        for (flag, value) in self.definitions() {
            list.extend([flag.to_owned(), value.to_owned()]);
        }
        list
    }
}
