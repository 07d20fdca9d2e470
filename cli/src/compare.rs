//! `sluice compare A B`: the numbers of two folders of results, and which of them differ.
//!
//! Contests are paired by their id, name and values of a sweep, programs by their label, seeds by their number. The difference
//! B - A is taken seed by seed, and its 95 % interval is Student's; without common seeds, or with one, the difference of the
//! means itself counts.

use crate::console::fail::Failure;
use crate::console::table::table;
use crate::console::terminal;
use crate::console::text_file;
use clap::Args;
use maud::html;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sluice_asic::names::nearest;
use sluice_charts::Page;
use sluice_scenario::contest::Estimate;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Numbers that are compared if the user does not say.
const USUAL: [&str; 12] = [
    "avg",
    "p50",
    "p95",
    "p99",
    "small_p99",
    "large_p99",
    "fct_avg_ns",
    "goodput_mbps",
    "marked",
    "pauses",
    "resent",
    "dropped",
];

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folder of `sluice run FILE -o DIR`
    pub(crate) a: PathBuf,
    /// The other folder
    pub(crate) b: PathBuf,
    /// Numbers to compare, separated by commas, or `all` [default: slowdowns, completion time, goodput, marks, pauses, losses]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) figures: Vec<String>,
    /// Write the comparison as one self-contained page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Programs of a folder: contest with its sweep, then label, then the numbers by name and seed.
type Programs = BTreeMap<(String, String), Figures>;
/// Numbers by name and seed.
type Figures = BTreeMap<String, BTreeMap<u64, i128>>;

/// The parts of `contest.json` that a comparison reads.
#[derive(Deserialize)]
struct Results {
    contests: Vec<Contest>,
}

#[derive(Deserialize)]
struct Contest {
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    sweep: BTreeMap<String, String>,
    #[serde(default)]
    seeds: Vec<u64>,
    programs: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    label: String,
    numbers: BTreeMap<String, Figure>,
}

/// A number with its value of each seed of the contest; `None` if it does not fit in 64 bits.
#[derive(Deserialize)]
struct Figure {
    seeds: Vec<Option<i64>>,
}

/// Name and version of the file's format; empty if it has none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Schema {
    schema: String,
}

/// Relation of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
enum Verdict {
    /// The interval of the difference has 0 in it, or there is no difference.
    Same,
    /// B is lower.
    Lower,
    /// B is higher.
    Higher,
    /// They differ, but the runs have one seed in common, or none: that tells nothing about other seeds.
    Undecided,
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> &'static str {
        verdict.name()
    }
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Lower => "B lower",
            Verdict::Higher => "B higher",
            Verdict::Undecided => "too few seeds",
        }
    }
}

/// The comparison.
#[derive(Serialize)]
struct Comparison {
    schema: &'static str,
    rows: Vec<Row>,
    /// Programs that only A has, each with its contest.
    only_a: Vec<String>,
    only_b: Vec<String>,
}

/// A compared number of a program.
#[derive(Serialize)]
struct Row {
    contest: String,
    #[serde(rename = "program")]
    label: String,
    figure: String,
    /// Mean of A.
    a: f64,
    b: f64,
    /// Mean of the differences B - A.
    difference: f64,
    /// Ends of the difference's 95 % interval; `None` if fewer than two seeds are common.
    low: Option<f64>,
    high: Option<f64>,
    /// Number of seeds that both have.
    seeds: usize,
    verdict: Verdict,
}

impl Comparison {
    fn differing(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict != Verdict::Same).count()
    }

    /// Returns A and B with the programs that only they have.
    fn lone(&self) -> [(&'static str, &[String]); 2] {
        [("A", &self.only_a), ("B", &self.only_b)]
    }
}

/// Compares two folders.
pub(crate) fn run(args: &CompareArgs, as_json: bool) -> Result<(), Failure> {
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let rows = rows(&a, &b, &args.figures)?;
    let lone = |own: &Programs, other: &Programs| -> Vec<String> {
        own.keys()
            .filter(|key| !other.contains_key(*key))
            .map(|(contest, label)| format!("{label} of {contest}"))
            .collect()
    };
    let schema = "sluice.compare/1";
    let comparison = Comparison { schema, rows, only_a: lone(&a, &b), only_b: lone(&b, &a) };
    if comparison.rows.is_empty() {
        return Err(Failure::with_help(
            format!("{} and {} have no program of the same contest", args.a.display(), args.b.display()),
            format!("A has {}; B has {}", comparison.only_a.join(", "), comparison.only_b.join(", ")),
        ));
    }
    if let Some(path) = &args.html {
        let names = [&args.a, &args.b].map(|path| path.display().to_string());
        crate::output::files::write(path, &page(&comparison, &names))?;
    }
    let mut out = terminal::results(as_json);
    let differ = comparison.differing();
    if as_json {
        writeln!(out, "{}", json!(comparison))?;
    } else {
        writeln!(out, "{}", text(&comparison.rows))?;
        for (word, only) in comparison.lone().iter().filter(|(_, only)| !only.is_empty()) {
            writeln!(out, "only in {word}: {}", only.join(", "))?;
        }
        for note in unfinished(&a, &b) {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "\n{differ} of {} numbers differ", comparison.rows.len())?;
    }
    if differ == 0 { Ok(()) } else { Err(Failure::Property) }
}

/// Returns a note on each program of which a run left messages unfinished: times are then over different messages.
fn unfinished(a: &Programs, b: &Programs) -> Vec<String> {
    let of = |figures: &Figures| -> i128 {
        figures.get("unfinished").into_iter().flat_map(|seeds| seeds.values()).sum()
    };
    let note = |(key, own): (&(String, String), &Figures)| {
        let (a, b) = (of(own), of(b.get(key)?));
        let (contest, label) = key;
        (a + b > 0).then(|| {
            format!(
                "note: {label} of {contest} left {a} messages unfinished in A and {b} in B: times and slowdowns are over the others, which \
                 are not the same messages"
            )
        })
    };
    a.iter().filter_map(note).collect()
}

fn read(dir: &Path) -> Result<Programs, Failure> {
    let path = if dir.is_dir() { dir.join("contest.json") } else { dir.to_owned() };
    let text = text_file::text(&path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::with_help(
            format!("{}: there is no contest.json", dir.display()),
            "give two folders that `sluice run CONTEST.toml -o DIR` has written",
        ),
        _ => Failure::file("read", &path, &e),
    })?;
    let wrong = |what: &str| {
        let help = "expected a folder that `sluice run CONTEST -o DIR` wrote";
        Failure::with_help(format!("{}: {what}", path.display()), help)
    };
    let faulty = |e: serde_json::Error| wrong(&e.to_string());
    if !serde_json::from_str::<Schema>(&text).map_err(faulty)?.schema.starts_with("sluice.contest/") {
        return Err(wrong("the file has no results of contests"));
    }
    let results: Results = serde_json::from_str(&text).map_err(faulty)?;
    let mut programs = Programs::new();
    for contest in results.contests {
        let title = [contest.id, contest.name].into_iter().flatten().find(|text| !text.is_empty());
        let title = title.unwrap_or("?".to_owned());
        let axes = contest.sweep.iter().map(|(key, value)| format!("{key} = {value}"));
        let name = std::iter::once(title).chain(axes).collect::<Vec<_>>().join(", ");
        for Program { label, numbers } in contest.programs {
            let by_seed = |figure: Figure| {
                let values = contest.seeds.iter().zip(figure.seeds);
                values.filter_map(|(seed, value)| Some((*seed, value?.into()))).collect()
            };
            let numbers = numbers.into_iter().map(|(number, figure)| (number, by_seed(figure))).collect();
            programs.insert((name.clone(), label), numbers);
        }
    }
    Ok(programs)
}

fn rows(a: &Programs, b: &Programs, asked: &[String]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (key, own) in a {
        let Some(other) = b.get(key) else { continue };
        let names: Vec<&str> = match asked {
            [] => USUAL.to_vec(),
            [all] if all == "all" => {
                own.keys().chain(other.keys().filter(|n| !own.contains_key(*n))).map(String::as_str).collect()
            }
            some => some.iter().map(String::as_str).collect(),
        };
        for name in names {
            let (first, second) = (own.get(name), other.get(name));
            if first.is_none() && second.is_none() && !asked.is_empty() {
                let near = nearest(name, own.keys().map(String::as_str))
                    .map_or(String::new(), |n| format!("did you mean `{n}`? "));
                let help = format!("{near}`sweep.csv` has a column for each number");
                return Err(Failure::with_help(format!("`{}` has no number `{name}`", key.1), help));
            }
            let (Some(first), Some(second)) = (first, second) else { continue };
            rows.push(row(key, name, first, second));
        }
    }
    Ok(rows)
}

fn row(
    (contest, label): &(String, String),
    figure: &str,
    a: &BTreeMap<u64, i128>,
    b: &BTreeMap<u64, i128>,
) -> Row {
    let values = |of: &BTreeMap<u64, i128>| Estimate::of(&of.values().copied().collect::<Vec<_>>()).mean;
    let means = [values(a), values(b)];
    let pairs: Vec<i128> = a.iter().filter_map(|(seed, value)| Some(b.get(seed)? - value)).collect();
    let difference = match pairs.is_empty() {
        false => Estimate::of(&pairs),
        true => Estimate { mean: means[1] - means[0], half: None },
    };
    let verdict = match (difference.low() > 0.0, difference.high() < 0.0) {
        _ if difference.mean != 0.0 && pairs.len() < 2 => Verdict::Undecided,
        (true, _) => Verdict::Higher,
        (_, true) => Verdict::Lower,
        _ => Verdict::Same,
    };
    let (contest, label, figure) = (contest.clone(), label.clone(), figure.to_owned());
    let end = |end: f64| difference.half.map(|_| end);
    Row {
        contest,
        label,
        figure,
        a: means[0],
        b: means[1],
        difference: difference.mean,
        low: end(difference.low()),
        high: end(difference.high()),
        seeds: pairs.len(),
        verdict,
    }
}

/// Headings of the columns.
const HEADER: [&str; 9] = ["PROGRAM", "NUMBER", "A", "B", "B - A", "%", "95 % INTERVAL", "SEEDS", "VERDICT"];

/// Returns the cells of a row.
fn cells(row: &Row) -> Vec<String> {
    let (a, b) = (row.a, row.b);
    let percent = if a == 0.0 { "-".to_owned() } else { format!("{:+.1}", 100.0 * (b - a) / a) };
    let interval = match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{low:.1} to {high:.1}"),
        _ => "-".to_owned(),
    };
    [
        row.label.clone(),
        row.figure.clone(),
        format!("{a:.1}"),
        format!("{b:.1}"),
        format!("{:+.1}", row.difference),
        percent,
        interval,
        row.seeds.to_string(),
        row.verdict.name().to_owned(),
    ]
    .to_vec()
}

fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    for chunk in rows.chunk_by(|a, b| a.contest == b.contest) {
        let title = chunk.first().map_or("", |row| row.contest.as_str());
        text.push_str(&format!("{title}\n\n{}\n\n", table(&HEADER, chunk.iter().map(cells).collect())));
    }
    text.trim_end().to_owned()
}

/// Returns the page of `--html`.
fn page(comparison: &Comparison, names: &[String; 2]) -> String {
    let rows = &comparison.rows;
    let header = html! {
        p.verdict { b { (comparison.differing()) } " of " (rows.len()) " numbers differ" }
        @for (word, name) in ["A", "B"].iter().zip(names) { p.note { b { (word) ": " } code { (name) } } }
        @for (word, only) in comparison.lone() {
            @if !only.is_empty() { p { "Only in " (word) ": " (only.join(", ")) } }
        }
    };
    let mut page = Page::new("Two runs compared").header(header);
    for (number, chunk) in rows.chunk_by(|a, b| a.contest == b.contest).enumerate() {
        let title = chunk.first().map_or("", |row| row.contest.as_str());
        let body = html! {
            div.wide { table {
                thead { tr { @for (column, head) in HEADER.iter().enumerate() { th.l[column < 2] { (head.to_lowercase()) } } } }
                tbody { @for row in chunk {
                    tr.muted[row.verdict == Verdict::Same] {
                        @for (column, cell) in cells(row).iter().enumerate() { td.l[column < 2] { (cell) } }
                    }
                } }
            } }
        };
        page = page.section(&format!("contest-{number}"), title, &body);
    }
    page.html()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(a: &[(u64, i128)], b: &[(u64, i128)]) -> (Verdict, usize) {
        let map = |list: &[(u64, i128)]| list.iter().copied().collect();
        let row = row(&(String::new(), String::new()), "x", &map(a), &map(b));
        (row.verdict, row.seeds)
    }

    #[test]
    fn differences_are_paired_by_seed() {
        // Differences -3, -2, -4, -3, -3: the interval is -3.9 to -2.1, although the seeds differ by far more.
        let (a, b) =
            ([(1, 13), (2, 52), (3, 94), (4, 33), (5, 73)], [(5, 70), (4, 30), (3, 90), (2, 50), (1, 10)]);
        assert_eq!(verdict(&a, &b), (Verdict::Lower, 5));
        assert_eq!(verdict(&b, &a), (Verdict::Higher, 5));
        assert_eq!(verdict(&a, &a), (Verdict::Same, 5));
        // Two seeds with differences 1 and 3: the interval is 2 plus or minus 12.706.
        assert_eq!(verdict(&[(1, 0), (2, 0)], &[(1, 1), (2, 3)]), (Verdict::Same, 2));
        // One seed in common, or none: no verdict.
        assert_eq!(verdict(&[(1, 5), (2, 9)], &[(1, 6)]), (Verdict::Undecided, 1));
        assert_eq!(verdict(&[(1, 5)], &[(2, 6)]), (Verdict::Undecided, 0));
        assert_eq!(verdict(&[(1, 5)], &[(1, 5)]), (Verdict::Same, 1));
    }
}
