//! `docs/fit.md`: every program on both chips, what each optimisation gains, and what latency costs. The file is this
//! test's output. It places every program about a dozen times, so it is run by itself, optimised:
//! `UPDATE=1 cargo test --release -p sluice-programs --test fit_tables -- --ignored` writes the page, without `UPDATE` it
//! is compared. What can be seen quickly of a page that is out of date is seen in every run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_pipeline::ir::Program;
use sluice_pipeline::place::{NoFit, Objective, Optimisation, Options, place_with};
use sluice_pipeline::report::Report;
use sluice_programs::all;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const HEAD: &str = "# Every program on both chips

Made by `UPDATE=1 cargo test --release -p sluice-programs --test fit_tables -- --ignored`; without `UPDATE` the test
compares. `sluice report PROGRAM` has the rest.
";

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

/// The programs with their defaults, and the published build of one.
fn programs() -> Vec<(String, Program)> {
    let mut list: Vec<(String, Program)> =
        all().iter().map(|p| (p.name().to_owned(), p.build(&[]).unwrap())).collect();
    let published = ("build".to_owned(), "published".to_owned());
    let conweave = sluice_programs::by_name("conweave").unwrap().build(&[published]).unwrap();
    list.push(("conweave, published".to_owned(), conweave));
    list
}

fn report(program: &Program, chip: &ChipSpec, options: &Options) -> Result<Report, NoFit> {
    place_with(program, chip, options, &mut |_, _| {}).map(|p| Report::new(program, &p))
}

fn used(report: &Report, column: Column) -> u32 {
    report.totals[column.index()]
}

fn containers(report: &Report) -> u32 {
    report.phv.groups.iter().flat_map(|g| g.used).sum()
}

/// Long-branch tags, `+ n` for conditions that are tested again instead, `> n` for outcomes on the next-table pointer.
fn tags(r: &Report) -> String {
    let mut out = r.next_tables.tags.to_string();
    for (sign, count) in [('+', r.next_tables.retested), ('>', r.next_tables.pointed)] {
        if count > 0 {
            let _ = write!(out, " {sign} {count}");
        }
    }
    out
}

/// Stages, units of the columns that programs run short of, containers, tags, cycles and time.
fn row(out: &mut String, name: &str, chip: &str, fit: &Result<Report, NoFit>) {
    let r = match fit {
        Ok(r) => r,
        Err(no_fit) => {
            let why = no_fit.diags.first().map_or("", |d| d.text.as_str());
            let _ = writeln!(out, "| {name} | {chip} | does not fit: {why} |||||||||||||||||");
            return;
        }
    };
    let [ingress, egress] = [Gress::Ingress, Gress::Egress].map(|g| &r.gresses[g.index()]);
    let _ = write!(out, "| {name} | {chip} | {} | {} |", ingress.stages_used, egress.stages_used);
    for column in COLUMNS {
        let _ = write!(out, " {} |", used(r, column));
    }
    let _ = writeln!(
        out,
        " {} | {} | {} | {} | {} | {} |",
        containers(r),
        tags(r),
        ingress.mau_cycles,
        egress.mau_cycles,
        r.total.as_ps().div_ceil(1000),
        ingress.parser_rows + egress.parser_rows,
    );
}

const COLUMNS: [Column; 11] = [
    Column::LogicalTable,
    Column::Gateway,
    Column::Sram,
    Column::MapRam,
    Column::Tcam,
    Column::MeterAlu,
    Column::StatsAlu,
    Column::Vliw,
    Column::HashBit,
    Column::HashDist,
    Column::ExactXbar,
];

fn every_program(out: &mut String) {
    let _ = writeln!(
        out,
        "\nUnits of all stages together; containers, parser rows and cycles of both gresses; ns from wire to wire without \
         queueing.\n\n| program | chip | ingress stages | egress stages | table ids | gateways | SRAM | map RAM | TCAM | meter \
         ALU | stats ALU | VLIW | hash bits | hash dist | exact xbar bytes | PHV containers | long-branch tags | ingress \
         cycles | egress cycles | ns | parser rows |"
    );
    let _ = writeln!(out, "|{}", "---|".repeat(21));
    let rows = every(&cases(), |(name, program, chip)| {
        let mut line = String::new();
        row(&mut line, name, &chip.name, &report(program, chip, &Options::default()));
        line
    });
    out.push_str(&rows.concat());
}

/// Every program on every chip.
type Case = (String, Program, ChipSpec);

fn cases() -> Vec<Case> {
    let of = |(name, program): (String, Program)| chips().map(|chip| (name.clone(), program.clone(), chip));
    programs().into_iter().flat_map(of).collect()
}

/// What `what` makes of each, in order, several at a time.
fn every<T: Sync, R: Send>(list: &[T], what: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, what) = (AtomicUsize::new(0), &what);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let take = || {
            let mut own = Vec::new();
            while let Some((i, x)) = Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, list.get(i)?))) {
                own.push((i, what(x)));
            }
            own
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, r)| r).collect()
}

const THREADS: usize = 4;

/// What changes without each optimisation, for programs where anything does.
fn gains(out: &mut String) {
    out.push_str(
        "\n## What each optimisation gains\n\nMore units used when a program is placed *without* it (`sluice report \
         --without NAME`): stages, table ids, gateways, PHV containers, hash bits. Programs that are not named do not change.\n\n\
         | without | program | chip | stages | ids | gateways | containers | hash bits |\n|---|---|---|---|---|---|---|---|\n",
    );
    let cases = cases();
    let with = every(&cases, |(_, program, chip)| report(program, chip, &Options::default()).ok());
    let tries: Vec<(Optimisation, usize)> =
        Optimisation::ALL.iter().flat_map(|o| (0..cases.len()).map(move |i| (*o, i))).collect();
    let lines = every(&tries, |&(optimisation, i)| {
        let ((name, program, chip), Some(with)) = (&cases[i], &with[i]) else { return String::new() };
        let options = Options { without: BTreeSet::from([optimisation]), ..Options::default() };
        let figures = |r: &Report| {
            [
                r.stages_used(),
                used(r, Column::LogicalTable),
                used(r, Column::Gateway),
                containers(r),
                used(r, Column::HashBit),
            ]
            .map(i64::from)
        };
        let cells = match report(program, chip, &options) {
            Ok(r) if figures(&r) == figures(with) => return String::new(),
            Ok(r) => {
                let difference = figures(&r).into_iter().zip(figures(with));
                difference
                    .map(|(a, b)| if a == b { " |".to_owned() } else { format!(" {:+} |", a - b) })
                    .collect()
            }
            Err(no_fit) => {
                let why = no_fit.diags.first().map_or("", |d| d.text.as_str());
                format!(" does not fit: {} |||||", why.split(';').next().unwrap_or(why))
            }
        };
        format!("| {} | {name} | {} |{cells}\n", optimisation.name(), chip.name)
    });
    out.push_str(&lines.concat());
}

/// Both objectives, where they differ.
fn objectives(out: &mut String) {
    out.push_str(
        "\n## Lowest latency instead of fewest stages\n\n`--objective latency`: cycles of ingress and egress stages, and the \
         stages that they take; programs that are not named are the same by both.\n\n\
         | program | chip | cycles | stages | cycles for latency | stages for latency |\n|---|---|---|---|---|---|\n",
    );
    let fast = Options { objective: Objective::LowestLatency, ..Options::default() };
    let lines = every(&cases(), |(name, program, chip)| {
        let Ok(few) = report(program, chip, &Options::default()) else { return String::new() };
        let fast = report(program, chip, &fast).unwrap();
        let cycles = |r: &Report| (r.gresses[0].mau_cycles, r.gresses[1].mau_cycles);
        let sum = |r: &Report| cycles(r).0 + cycles(r).1;
        assert!(sum(&fast) <= sum(&few), "{name} on {}", chip.name);
        if cycles(&few) == cycles(&fast) {
            return String::new();
        }
        let words = |r: &Report| format!("{} + {} | {}", cycles(r).0, cycles(r).1, r.stages_used());
        format!("| {name} | {} | {} | {} |\n", chip.name, words(&few), words(&fast))
    });
    out.push_str(&lines.concat());
}

/// Programs that are placed in no time.
const SMALL: [&str; 5] = ["ecmp", "spray", "letflow", "ecn-mark", "conweave-spine"];

#[test]
fn the_page_names_every_program_and_has_the_rows_of_small_ones() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fit.md"));
    let page = page.unwrap_or_else(|e| panic!("docs/fit.md: {e}: see the head of this file"));
    let lines: Vec<&str> = page.lines().collect();
    for (name, program) in programs() {
        for chip in chips() {
            let start = format!("| {name} | {} |", chip.name);
            let found = lines.iter().find(|l| l.starts_with(&start));
            let found = found
                .unwrap_or_else(|| panic!("docs/fit.md has no line `{start}`: see the head of this file"));
            if SMALL.contains(&name.as_str()) {
                let mut own = String::new();
                row(&mut own, &name, &chip.name, &report(&program, &chip, &Options::default()));
                assert_eq!(*found, own.trim_end(), "docs/fit.md is stale: see the head of this file");
            }
        }
    }
}

#[test]
#[ignore = "minutes without optimisation; see the head of this file"]
fn the_tables_in_the_handbook_are_what_placement_finds() {
    let mut out = HEAD.to_owned();
    every_program(&mut out);
    gains(&mut out);
    objectives(&mut out);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fit.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &out).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(found == out, "docs/fit.md is not what placement finds; look at the difference after UPDATE=1");
}
