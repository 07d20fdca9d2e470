//! Contents of the files that a run depends on.
//!
//! Each text of a configuration that is the name of a file counts as a named file. TOML files may name further files, relative to
//! their own folder.
//!
//! The digests leave out the files of programs, whose meaning is in the programs that are built from them. The list of files has
//! the files of programs, too: the other roles of a `.sluice` file; the files that a P4 program includes, which may be in the
//! folders of `-I`; the file of declarations beside a P4 program; and the files of `--include` with what they include.

use super::Texts;
use crate::console::text_file;
use crate::open::p4::{P4Args, declarations, is_p4};
use crate::run::kept::sha256;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The part of a name that stands for the name of a switch: all files of this form count.
const SWITCH: &str = "{switch}";

/// Returns the SHA-256 of each file that a configuration names, by its name there, without files of programs. Names are relative
/// to `folder`.
pub(in crate::run) fn digests(config: &Value, folder: &Path) -> BTreeMap<String, String> {
    Search::of(config, folder, None).found
}

/// Returns the paths of the files that a configuration names, with those of programs. Names are relative to `folder`; P4 programs
/// are read with the options `p4`.
pub(crate) fn files(config: &Value, folder: &Path, p4: &P4Args) -> BTreeSet<PathBuf> {
    Search::of(config, folder, Some(p4)).paths
}

/// Returns the SHA-256 of each text that comes with Sluice and that a configuration names, by its name.
pub(in crate::run) fn texts(config: &Value, texts: &Texts) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![config];
    while let Some(value) = open.pop() {
        match value {
            Value::String(name) => {
                found.extend(texts.get(name).map(|text| (name.clone(), sha256(text.as_bytes()))));
            }
            Value::Array(list) => open.extend(list),
            Value::Object(map) => open.extend(map.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

/// The files found so far.
struct Search<'a> {
    /// Options of P4 programs; `None`: files of programs are left out.
    p4: Option<&'a P4Args>,
    found: BTreeMap<String, String>,
    seen: BTreeSet<PathBuf>,
    /// Files that could be read.
    paths: BTreeSet<PathBuf>,
}

impl<'a> Search<'a> {
    fn of(config: &Value, folder: &Path, p4: Option<&'a P4Args>) -> Search<'a> {
        let (found, seen, paths) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut search = Search { p4, found, seen, paths };
        search.walk(config, folder, "");
        for file in p4.into_iter().flat_map(P4Args::first_files) {
            search.first(Path::new(file));
        }
        search
    }

    /// Folders in which P4 programs look for files.
    fn p4_folders(&self) -> &'a [PathBuf] {
        self.p4.map_or(&[], P4Args::folders)
    }

    /// Adds a file that is read before P4 programs: from the present folder, or from one of `-I`.
    fn first(&mut self, file: &Path) {
        let folders = std::iter::once(Path::new("")).chain(self.p4_folders().iter().map(PathBuf::as_path));
        let Some(path) = folders.map(|folder| folder.join(file)).find(|path| path.is_file()) else { return };
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            self.named(name, path.parent().unwrap_or(Path::new("")), "");
        }
    }

    fn walk(&mut self, value: &Value, folder: &Path, before: &str) {
        match value {
            Value::String(text) => self.named(text, folder, before),
            Value::Array(list) => list.iter().for_each(|one| self.walk(one, folder, before)),
            Value::Object(map) => map.values().for_each(|one| self.walk(one, folder, before)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds the file of this name, if there is one, and the files that it names.
    fn named(&mut self, text: &str, folder: &Path, before: &str) {
        for (name, path) in candidates(text, folder) {
            if !self.seen.insert(path.clone()) || self.p4.is_none() && is_program(&path) {
                continue;
            }
            let Ok(bytes) = text_file::bytes(&path) else { continue };
            self.found.insert(format!("{before}{name}"), sha256(&bytes));
            self.paths.insert(path.clone());
            let beside = path.parent().unwrap_or(Path::new(""));
            let Ok(content) = String::from_utf8(bytes) else { continue };
            let before = format!("{before}{name}: ");
            for word in words(&path, &content) {
                self.named(word, beside, &before);
            }
            if self.p4.is_none() {
                continue;
            }
            for file in included(&content) {
                for folder in std::iter::once(beside).chain(self.p4_folders().iter().map(PathBuf::as_path)) {
                    self.named(file, folder, &before);
                }
            }
            if let Some(name) = declarations(&path).file_name().filter(|_| is_p4(&path)) {
                self.named(&name.to_string_lossy(), beside, &before);
            }
        }
    }
}

/// Returns true if the file is of a program.
fn is_program(path: &Path) -> bool {
    is_p4(path) || path.extension().is_some_and(|ending| ending == "sluice")
}

/// Returns the parts of a file that may name further files.
fn words<'a>(path: &Path, content: &'a str) -> Vec<&'a str> {
    match path.extension().and_then(|e| e.to_str()) {
        // A quoted text of TOML has no line end within.
        Some("toml") => content.lines().flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2)).collect(),
        Some("sluice") => {
            let words = content.split(|c: char| c.is_whitespace() || "\"',;()[]{}".contains(c));
            words.filter(|word| word.ends_with(".sluice")).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the names of the files that a P4 text includes.
fn included(content: &str) -> impl Iterator<Item = &str> {
    let name = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let start = line.len() - rest.len() + rest.find(['"', '<'])? + 1;
        Some((start, start + line[start..].find(['"', '>'])?))
    };
    content.lines().filter_map(move |line| name(line).map(|(start, end)| &line[start..end]))
}

/// Returns the files that a text may name, with their names.
fn candidates(text: &str, folder: &Path) -> Vec<(String, PathBuf)> {
    if text.is_empty() || text.len() > 4_096 || text.contains(['\n', '\0']) {
        return Vec::new();
    }
    let Some((prefix, suffix)) = text.split_once(SWITCH) else {
        let named = |name: &str| {
            let beside = folder.join(name);
            let path = if beside.is_file() { beside } else { PathBuf::from(name) };
            path.is_file().then(|| (name.to_owned(), path))
        };
        // Files of SONiC are joined by `+`.
        return named(text).map_or_else(|| text.split('+').filter_map(named).collect(), |one| vec![one]);
    };
    let (parent, start) = prefix.rsplit_once('/').map_or(("", prefix), |(parent, start)| (parent, start));
    let mut names: Vec<String> = std::fs::read_dir(folder.join(parent))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(start) && name.ends_with(suffix))
        .collect();
    names.sort();
    let named = |name: String| {
        let name = if parent.is_empty() { name } else { format!("{parent}/{name}") };
        (name.clone(), folder.join(name))
    };
    names.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    /// Names of the files that a configuration depends on, without their folder.
    fn names_of_files(config: &Value, dir: &Path, p4: &P4Args) -> Vec<String> {
        let all = files(config, dir, p4).into_iter();
        all.map(|path| path.strip_prefix(dir).unwrap().display().to_string()).collect()
    }

    #[test]
    fn named_files_and_those_that_they_name_count() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("net.toml", "buffer = \"b.toml\" # \"x.txt\"\nname = 'net'\n");
        write("b.toml", "cells = 1\n");
        write("p.sluice", "role spine = \"q.sluice\"\n");
        write("q.sluice", "role leaf = \"p.sluice\"\n");
        write("leaf0.txt", "1");
        write("leaf1.txt", "2");
        write("other.txt", "3");
        let config = json!({ "topology": "net.toml", "program": { "file": "p.sluice", "entries": "leaf{switch}.txt" } });
        let found = digests(&config, dir.path());
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["leaf0.txt", "leaf1.txt", "net.toml", "net.toml: b.toml"]);
        assert_eq!(
            names_of_files(&config, dir.path(), &P4Args::default()),
            ["b.toml", "leaf0.txt", "leaf1.txt", "net.toml", "p.sluice", "q.sluice"]
        );
        // FIPS 180-4's example is of other bytes; this is the digest of "1" by sha256sum.
        assert_eq!(found["leaf0.txt"], "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b");
        write("b.toml", "cells = 2\n");
        assert_ne!(digests(&config, dir.path())["net.toml: b.toml"], found["net.toml: b.toml"]);
    }

    #[test]
    fn files_that_p4_programs_include_are_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inc")).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("leaf.p4", "#include <core.p4>\n  # include \"a.p4\"\n");
        write("a.p4", "#include <b.h>\n");
        write("inc/b.h", "");
        write("leaf.p4.sluice", "sluice 1;\n");
        write("inc/first.p4", "#include \"second.p4\"\n");
        write("inc/second.p4", "");
        let config = json!({ "program": { "file": "leaf.p4" } });
        let folder = format!("-I{}", dir.path().join("inc").display());
        let p4 = P4Args::of_words(&[folder, "-include".to_owned(), "first.p4".to_owned()]).unwrap();
        assert_eq!(
            names_of_files(&config, dir.path(), &p4),
            ["a.p4", "inc/b.h", "inc/first.p4", "inc/second.p4", "leaf.p4", "leaf.p4.sluice"]
        );
        assert!(digests(&config, dir.path()).is_empty());
    }
}
