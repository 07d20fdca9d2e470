//! Mistakes that authors of P4 programs make, the messages that they get, and the changes that mend them.
//!
//! `mistakes.txt` lists them as edits of `base.sluice`. A section is a heading in the author's words, the chip (`tofino2` if
//! there is none, with values that differ after it), the edits that make the mistake, the exact messages, and the edits that
//! mend it:
//!
//! ```text
//! ## My table is too large
//! @ tofino, mau.stages = 2
//! - lines of the program
//! + lines in their place
//! error: ..
//! > What mends it.
//! - lines of the wrong program
//! + lines in their place
//! ```
//!
//! Each section goes the whole way: text, verifier, chip rules, placement. The mended program must have no message at all and
//! fit the chip.

use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_ir::text::Source;
use sluice_ir::verify::{for_chip, has_errors, verify};
use sluice_place::place;
use std::fmt::Write;

const BASE: &str = include_str!("base.sluice");
const FILE: &str = "router.sluice";

/// Lines of a program, and the lines that replace them.
type Edit = (String, String);

/// A section of `mistakes.txt`.
struct Mistake {
    title: String,
    chip: String,
    breaks: Vec<Edit>,
    messages: String,
    remedy: String,
    mends: Vec<Edit>,
}

/// The step on the way to a chip that finds a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Text,
    Verifier,
    ChipRules,
    Placement,
    /// Nothing is wrong, except for warnings.
    Fits,
}

/// Reads the lines that begin with `sign`, which is removed.
fn block<'t>(lines: &mut std::iter::Peekable<std::str::Lines<'t>>, sign: &str) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.starts_with(sign)) {
        text += line[sign.len()..].strip_prefix(' ').unwrap_or(&line[sign.len()..]);
        text.push('\n');
    }
    text
}

fn edits(lines: &mut std::iter::Peekable<std::str::Lines<'_>>) -> Vec<Edit> {
    let mut list = Vec::new();
    while lines.peek().is_some_and(|line| line.starts_with('-')) {
        list.push((block(lines, "-"), block(lines, "+")));
    }
    list
}

fn mistakes() -> Vec<Mistake> {
    let section = |text: &str| {
        let mut lines = text.lines().peekable();
        let title = lines.next().unwrap_or_default().to_owned();
        let chip = block(&mut lines, "@").trim().to_owned();
        let breaks = edits(&mut lines);
        let mut messages = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("> ")) {
            messages += line;
            messages.push('\n');
        }
        let remedy = block(&mut lines, ">").trim().to_owned();
        let mends = edits(&mut lines);
        let chip = if chip.is_empty() { "tofino2".to_owned() } else { chip };
        Mistake { title, chip, breaks, messages, remedy, mends }
    };
    include_str!("mistakes.txt").split("\n## ").skip(1).map(section).collect()
}

impl Mistake {
    /// Returns the chip: a shipped one, with the values after its name.
    fn chip(&self) -> ChipSpec {
        let (base, values) = self.chip.split_once(", ").unwrap_or((&self.chip, ""));
        let toml = format!("base = \"{base}\"\n{}\n", values.replace(", ", "\n"));
        let chip = ChipSpec::from_toml(&toml, "chip.toml").unwrap_or_else(|e| panic!("{e}"));
        if values.is_empty() { ChipSpec::from_name(base).unwrap_or_else(|| panic!("{base}")) } else { chip }
    }

    fn wrong(&self) -> String {
        edited(&self.title, BASE.to_owned(), &self.breaks)
    }

    fn mended(&self) -> String {
        edited(&self.title, self.wrong(), &self.mends)
    }
}

/// Replaces whole lines; indentation does not matter for finding them. A line that stays keeps its indentation, and an empty
/// line in the place of others removes them.
fn edited(title: &str, mut text: String, edits: &[Edit]) -> String {
    for (from, to) in edits {
        let wanted: Vec<&str> = from.lines().map(str::trim).collect();
        let lines: Vec<&str> = text.lines().collect();
        let at: Vec<usize> = (0..(lines.len() + 1).saturating_sub(wanted.len()))
            .filter(|&i| wanted.iter().zip(&lines[i..]).all(|(w, line)| *w == line.trim()))
            .collect();
        assert_eq!(at.len(), 1, "{title}: these lines must stand once:\n{from}");
        let found = &lines[at[0]..at[0] + wanted.len()];
        let indent = &found[0][..found[0].len() - found[0].trim_start().len()];
        let kept = |line: &str| found.iter().find(|l| l.trim() == line.trim()).map(|l| (*l).to_owned());
        let mut made: Vec<String> = lines[..at[0]].iter().map(|l| (*l).to_owned()).collect();
        let new = to.lines().filter(|line| !line.is_empty());
        made.extend(new.map(|line| kept(line).unwrap_or_else(|| format!("{indent}{line}"))));
        made.extend(lines[at[0] + wanted.len()..].iter().map(|l| (*l).to_owned()));
        text = made.join("\n") + "\n";
    }
    text
}

fn program(text: &str) -> Result<Program, String> {
    let built = Source::read(text, FILE).and_then(|source| source.build(&[]));
    built.map(|(program, _)| program).map_err(|error| format!("error: {FILE}:{error}\n"))
}

/// Takes a program the whole way; returns where it was stopped, and all messages.
fn outcome(text: &str, chip: &ChipSpec) -> (Found, String) {
    let program = match program(text) {
        Ok(program) => program,
        Err(message) => return (Found::Text, message),
    };
    let diags = verify(&program);
    let mut out = String::new();
    let mut show = |list: &[sluice_ir::verify::Diag]| list.iter().for_each(|d| _ = writeln!(out, "{d}"));
    show(&diags);
    if has_errors(&diags) {
        return (Found::Verifier, out);
    }
    let rules = for_chip(&program, chip);
    show(&rules);
    if has_errors(&rules) {
        return (Found::ChipRules, out);
    }
    match place(&program, chip) {
        Ok(_) => (Found::Fits, out),
        Err(no_fit) => {
            show(&no_fit.diags);
            (Found::Placement, out)
        }
    }
}

/// The list has many mistakes, and many of them that only a chip or a placement shows.
#[test]
fn mistakes_of_every_kind_are_in_the_list() {
    let found: Vec<Found> = mistakes().iter().map(|m| outcome(&m.wrong(), &m.chip()).0).collect();
    let of = |kinds: &[Found]| found.iter().filter(|f| kinds.contains(f)).count();
    assert!(found.len() >= 40, "{}", found.len());
    assert!(of(&[Found::ChipRules]) >= 10, "{}", of(&[Found::ChipRules]));
    assert!(of(&[Found::Placement]) >= 15, "{}", of(&[Found::Placement]));
}

#[test]
fn the_base_program_has_no_mistake_on_either_chip() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        assert_eq!(outcome(BASE, &chip), (Found::Fits, String::new()), "{}", chip.name);
    }
}

/// Each mistake gives exactly the messages of the file. On a failure the test prints the actual ones.
#[test]
fn mistakes_get_their_messages() {
    let mut wrong = String::new();
    for mistake in mistakes() {
        let (_, found) = outcome(&mistake.wrong(), &mistake.chip());
        if found.is_empty() || found.trim() != mistake.messages.trim() {
            _ = writeln!(wrong, "## {}\n{found}", mistake.title);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn mended_programs_fit_without_a_message() {
    let mut wrong = String::new();
    for mistake in mistakes() {
        let after = outcome(&mistake.mended(), &mistake.chip());
        if mistake.remedy.is_empty() || after != (Found::Fits, String::new()) {
            _ = writeln!(wrong, "## {}\n{:?}\n{}", mistake.title, after.0, after.1);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
