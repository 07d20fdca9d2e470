//! How many public programs preprocess and parse: a measurement over the folder that `SLUICE_P4_CORPUS` names.
//!
//! The folder has a file `LIST.txt` with a program per line: its group, its root file, the chips (`1`, `2` or `12`), and flags
//! (`-I folder`, `-D name=value`), separated by blanks. Names are relative to the folder. Without the variable, the test is
//! skipped with a printed word.

use sluice_asic::intrinsic::Architecture;
use sluice_p4::diagnostic::Severity;
use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader, Texts};
use sluice_p4::syntax::{ast::DeclKind, print};
use sluice_p4::{Define, Options, Parsed, parse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads files below the corpus.
pub(crate) struct Files {
    pub(crate) folders: Vec<PathBuf>,
}

impl Loader for Files {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let beside = Path::new(include.from).parent().filter(|_| include.kind == IncludeKind::Quoted);
        let root = (include.kind == IncludeKind::Root).then_some(Path::new(""));
        let folders = beside.into_iter().chain(root).chain(self.folders.iter().map(PathBuf::as_path));
        for folder in folders {
            let path = folder.join(include.name);
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned().into();
                    return Ok(Loaded { name: path.display().to_string(), text });
                }
                Err(_) => continue,
            }
        }
        Err(LoadError::NotFound { searched: Vec::new() })
    }
}

/// A line of the list.
pub(crate) struct Program {
    pub(crate) group: String,
    pub(crate) root: PathBuf,
    pub(crate) chips: Vec<Architecture>,
    pub(crate) files: Files,
    pub(crate) defines: Vec<Define>,
}

pub(crate) fn program(folder: &Path, line: &str) -> Program {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (group, root, chips) = (word().to_owned(), folder.join(word()), word());
    assert!(!chips.is_empty(), "a line of LIST.txt has no chips: {line}");
    let chips =
        chips.chars().map(|chip| if chip == '1' { Architecture::Tna } else { Architecture::T2na }).collect();
    let (mut folders, mut defines) = (Vec::new(), Vec::new());
    while let Some(flag) = words.next() {
        match (flag, words.next()) {
            ("-I", Some(path)) => folders.push(folder.join(path)),
            ("-D", Some(text)) => defines.push(Define::Define(text.to_owned())),
            _ => assert!(flag.is_empty(), "unknown flag `{flag}` in LIST.txt: {line}"),
        }
    }
    Program { group, root, chips, files: Files { folders }, defines }
}

/// What became of the programs of a group.
#[derive(Default)]
struct Count {
    programs: usize,
    parsed: usize,
    /// Declarations of the programs that parse, on one of their chips.
    tables: usize,
    actions: usize,
    states: usize,
    /// The class of the first error of the others.
    failures: BTreeMap<&'static str, usize>,
}

/// Returns the class of the first error, with the error's text.
fn failure(parsed: &Parsed) -> Option<(&'static str, String)> {
    let errors =
        parsed.diagnostics.list().iter().find(|diagnostic| diagnostic.severity == Severity::Error)?;
    Some((errors.class.word(), sluice_p4::diagnostic::render(&parsed.sources, errors)))
}

/// Checks that the printed tree parses to the same tree.
fn check_print(parsed: &Parsed, root: &Path) {
    let text = print(&parsed.ast);
    let again = parse(&Texts::new().with("printed.p4", &text), "printed.p4", &Options::default());
    assert_eq!(again.diagnostics.errors(), 0, "{}: {}", root.display(), again.messages());
    assert!(print(&again.ast) == text, "{}: the printed tree changes", root.display());
}

impl Count {
    fn add(&mut self, parsed: &Parsed) {
        self.parsed += 1;
        for decl in parsed.ast.decls.values() {
            match &decl.kind {
                DeclKind::Table(_) => self.tables += 1,
                DeclKind::Action(_) => self.actions += 1,
                DeclKind::State(_) => self.states += 1,
                _ => {}
            }
        }
    }
}

#[test]
fn public_programs_preprocess_and_parse() {
    let Some(folder) = std::env::var_os("SLUICE_P4_CORPUS").map(PathBuf::from) else {
        println!("skipped: SLUICE_P4_CORPUS names no folder of P4 programs");
        return;
    };
    let list = std::fs::read_to_string(folder.join("LIST.txt")).expect("the corpus has a LIST.txt");
    let only = std::env::var("SLUICE_P4_GROUP").ok();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let program = program(&folder, line);
        if only.as_ref().is_some_and(|only| *only != program.group) {
            continue;
        }
        let count = counts.entry(program.group).or_default();
        count.programs += 1;
        let mut failed = None;
        for (index, &chip) in program.chips.iter().enumerate() {
            let options = Options { chip, defines: program.defines.clone(), includes: Vec::new() };
            let parsed = parse(&program.files, &program.root.to_string_lossy(), &options);
            failed = failed.or_else(|| failure(&parsed));
            if failed.is_none() {
                check_print(&parsed, &program.root);
                if index + 1 == program.chips.len() {
                    count.add(&parsed);
                }
            }
        }
        if let Some((class, text)) = failed {
            *count.failures.entry(class).or_default() += 1;
            println!("{class}: {}\n{text}\n", program.root.display());
        }
    }
    println!("{:<20} programs  parsed  tables  actions  states  failures", "group");
    for (group, count) in &counts {
        let failures: Vec<String> = count.failures.iter().map(|(class, n)| format!("{class} {n}")).collect();
        let Count { programs, parsed, tables, actions, states, .. } = count;
        let failures = failures.join(", ");
        println!("{group:<20} {programs:>8} {parsed:>7} {tables:>7} {actions:>8} {states:>7}  {failures}");
    }
    assert!(!counts.is_empty(), "LIST.txt names no programs");
}
