//! The handbook: its summary lists every page, and links lead to pages and headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the pages of a folder and its subfolders, by their path from the repository's root.
fn pages(folder: &str, out: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = Path::new(folder).join(path.file_name().unwrap());
        if path.is_dir() {
            pages(name.to_str().unwrap(), out);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            out.insert(name, fs::read_to_string(path).unwrap());
        }
    }
}

/// Returns the targets of the links of a page, without those in code.
fn links(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut out = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second part is between back quotes.
        let words: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for part in words.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                out.push(target.to_owned());
            }
        }
    }
    out
}

/// Returns the anchors of a page's headings, as code hosts and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Resolves `..` in a path.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

#[test]
fn the_summary_lists_every_page_once() {
    let mut all = BTreeMap::new();
    pages("docs", &mut all);
    let summary = all.remove(Path::new("docs/SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> = links(&summary).iter().map(|link| Path::new("docs").join(link)).collect();
    listed.sort();
    assert_eq!(listed, all.into_keys().collect::<Vec<_>>());
}

#[test]
fn links_lead_to_pages_and_headings() {
    let mut all = BTreeMap::new();
    pages("docs", &mut all);
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "editors/README.md",
    ] {
        all.insert(PathBuf::from(page), fs::read_to_string(root().join(page)).unwrap());
    }
    let mut dead = Vec::new();
    for (page, text) in &all {
        for link in links(text).iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                path => plain(&page.parent().unwrap_or(Path::new("")).join(path)),
            };
            let found = match all.get(&target) {
                Some(text) => anchor.is_empty() || anchors(text).contains(anchor),
                None => root().join(&target).exists(),
            };
            if !found {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_eq!(dead, [""; 0]);
}
