//! Every citation such as `model: chip §3.1` names a page of `docs/model` and a heading of that page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// This file, whose samples are citations that must not resolve.
const OWN: &str = "cli/tests/it/citations.rs";

/// Folders that hold no text of the repository.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// Longest text between two sections of one citation, such as ` rule 4, `.
const GAP: usize = 40;

/// The section numbers of each page, by the page's name.
type Pages = BTreeMap<String, BTreeSet<String>>;

/// A section that a text cites.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Citation {
    /// Line of the section's number, from 1.
    line: usize,
    page: String,
    section: String,
}

/// A text with its line breaks removed, so that citations in comments may break over lines.
struct Flat {
    text: String,
    /// Offset in `text` at which each line starts.
    starts: Vec<usize>,
}

impl Flat {
    /// Joins the lines by spaces, without indentation, comment markers and the backslashes that continue strings.
    fn new(text: &str) -> Self {
        let mut flat = Self { text: String::new(), starts: Vec::new() };
        for line in text.lines() {
            flat.starts.push(flat.text.len());
            let line = line.trim();
            let marker = ["//!", "///", "//", "#"].into_iter().find_map(|m| line.strip_prefix(m));
            flat.text.push_str(marker.unwrap_or(line).trim_end_matches('\\').trim());
            flat.text.push(' ');
        }
        flat
    }

    /// The line at this offset, from 1.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Every section cited after `model:`.
    fn citations(&self) -> Vec<Citation> {
        let mut found = Vec::new();
        for (start, word) in self.text.match_indices("model:") {
            let mut at = start + word.len();
            while let Some((page, mut section)) = self.page(at) {
                at = loop {
                    let (number, end) = self.number(section);
                    let (line, page) = (self.line(section), page.to_owned());
                    found.push(Citation { line, page, section: number.to_owned() });
                    match self.gap(end) {
                        (next, Some('§')) => section = next,
                        (next, Some(';')) => break next + 1,
                        _ => break self.text.len(),
                    }
                };
            }
        }
        found
    }

    /// The page's name after `at` and the offset of the `§` after the name; `None` if this is no citation.
    fn page(&self, at: usize) -> Option<(&str, usize)> {
        let rest = self.text.get(at..)?.trim_start();
        let name =
            rest.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')).next()?;
        let after = rest[name.len()..].trim_start();
        let sign = self.text.len() - after.len();
        (!name.is_empty() && after.starts_with('§')).then_some((name, sign))
    }

    /// The number after the `§` at this offset, and where the number ends.
    fn number(&self, sign: usize) -> (&str, usize) {
        let start = sign + '§'.len_utf8();
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        (number, start + end)
    }

    /// Skips the text that may be between sections of one citation: lower-case words, numbers, commas and dashes.
    /// Returns the offset and the character there, or no character if the text between is too long.
    fn gap(&self, at: usize) -> (usize, Option<char>) {
        let rest = &self.text[at..];
        // A section that ends with a full stop ends the sentence.
        if self.text[..at].ends_with('.') {
            return (at, None);
        }
        let skipped =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, ' ' | ',' | '-' | '–');
        let end = rest.find(|c| !skipped(c)).filter(|end| *end <= GAP);
        end.map_or((at, None), |end| (at + end, rest[end..].chars().next()))
    }

    /// Returns the lines that cite a document outside the repository: the word `facts`, a name and a section.
    fn sheets(&self) -> Vec<usize> {
        let lower = self.text.to_ascii_lowercase();
        lower
            .match_indices("facts")
            .filter(|(start, word)| {
                let at = start + word.len();
                self.page(at + usize::from(lower[at..].starts_with(':'))).is_some()
            })
            .map(|(start, _)| self.line(start))
            .collect()
    }
}

/// The numbers of a page's headings; a number that two headings have is an error.
fn headings(page: &str) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    let mut code = false;
    for line in page.lines() {
        code ^= line.starts_with("```");
        let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        else {
            continue;
        };
        let number = title.split(' ').next().unwrap_or_default();
        let numeric =
            number.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !code && numeric && !found.insert(number.to_owned()) {
            return Err(format!("two headings have the number {number}"));
        }
    }
    Ok(found)
}

/// Returns the fault of a citation; `None` if it resolves.
fn fault(pages: &Pages, citation: &Citation) -> Option<String> {
    let Citation { page, section, .. } = citation;
    match pages.get(page) {
        None => Some(format!("model: {page} §{section}: there is no page docs/model/{page}.md")),
        Some(headings) if headings.contains(section) => None,
        Some(_) => Some(format!("model: {page} §{section}: docs/model/{page}.md has no heading {section}")),
    }
}

fn pages() -> Pages {
    let mut pages = Pages::new();
    for entry in fs::read_dir(Path::new(ROOT).join("docs/model")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "md") {
            let text = fs::read_to_string(&path).unwrap();
            let found = headings(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            pages.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), found);
        }
    }
    pages
}

/// Calls `visit` with the path and the text of every text file below `folder`.
fn walk(folder: &Path, visit: &mut dyn FnMut(&str, &str)) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !SKIPPED.contains(&name) {
                walk(&path, visit);
            }
        } else if kind.is_file() {
            let shown = path.strip_prefix(ROOT).unwrap_or(&path).to_str().unwrap_or_default().to_owned();
            if let Ok(text) = fs::read_to_string(&path)
                && shown != OWN
            {
                visit(&shown, &text);
            }
        }
    }
}

#[test]
fn every_citation_resolves() {
    let pages = pages();
    let mut faults = Vec::new();
    let mut count = 0;
    walk(Path::new(ROOT), &mut |path, text| {
        for citation in Flat::new(text).citations() {
            count += 1;
            faults.extend(fault(&pages, &citation).map(|fault| format!("{path}:{}: {fault}", citation.line)));
        }
    });
    assert!(
        faults.is_empty(),
        "{} of {count} citations do not resolve:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(count > 300, "only {count} citations were found");
}

#[test]
fn no_sheet_outside_the_repository_is_cited() {
    let mut found = Vec::new();
    walk(Path::new(ROOT), &mut |path, text| {
        found.extend(Flat::new(text).sheets().into_iter().map(|line| format!("{path}:{line}")));
    });
    assert!(found.is_empty(), "cite a page of docs/model instead ({}):\n{}", found.len(), found.join("\n"));
}

#[test]
fn lists_breaks_and_ranges_are_read() {
    let text = "/// Two pages (model: chip §3.1, §3.2 rule 4; tm §2).\n\
                //! Broken (model:\n//! chip §10, §6.1-§6.3): and more (§9)\n\
                let s = \"over lines (model: tm \\\n    §12 items 3 and 4 leave these open); §8\";\n\
                # model: chip §2.2. The rest (model: hashing §1) is RFC 7348 §4, a model: none, model: no sign 5\n\
                // model: chip §1.2, totals; facts elsewhere; model: tm §1: 5\n";
    let found: Vec<(usize, String)> = Flat::new(text)
        .citations()
        .into_iter()
        .map(|citation| (citation.line, format!("{} {}", citation.page, citation.section)))
        .collect();
    let expected = [
        (1, "chip 3.1"),
        (1, "chip 3.2"),
        (1, "tm 2"),
        (3, "chip 10"),
        (3, "chip 6.1"),
        (3, "chip 6.3"),
        (5, "tm 12"),
        (6, "chip 2.2"),
        (6, "hashing 1"),
        (7, "chip 1.2"),
        (7, "tm 1"),
    ];
    assert_eq!(found, expected.map(|(line, what)| (line, what.to_owned())));
}

#[test]
fn citations_that_do_not_resolve_are_found() {
    let page = "# Title\n\n## 1 First\n\n### 1.1 Second\n\n```text\n# 9 no heading\n```\n\n#10 neither\n";
    let mut pages = Pages::new();
    pages.insert("chip".to_owned(), headings(page).unwrap());
    let faults = |text: &str| -> Vec<String> {
        Flat::new(text).citations().iter().filter_map(|citation| fault(&pages, citation)).collect()
    };
    assert_eq!(faults("// model: chip §1, §1.1"), [""; 0]);
    assert_eq!(
        faults("// model: chip §1.2, §9; cycles §1"),
        [
            "model: chip §1.2: docs/model/chip.md has no heading 1.2",
            "model: chip §9: docs/model/chip.md has no heading 9",
            "model: cycles §1: there is no page docs/model/cycles.md",
        ]
    );
    assert_eq!(headings("## 2 A\n## 2 B\n"), Err("two headings have the number 2".to_owned()));
}

#[test]
fn sheets_are_found() {
    let text = "// facts: buffer §1.2\n//! Facts asic\n//! §3, facts of the matter, facts: none\n";
    assert_eq!(Flat::new(text).sheets(), [1, 2]);
}
