//! `docs/fit.md`: every program on both chips, what each optimisation gains, and what latency costs. The file is this
//! test's output: `UPDATE_EXPECT=1 cargo test -p sluice-programs fit_tables` rewrites the page; without `UPDATE_EXPECT`
//! the test compares.

use expect_test::expect_file;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_ir::Program;
use sluice_place::report::Report;
use sluice_place::{NoFit, Objective, Optimisation, Options, place_with};
use sluice_programs::catalogue;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fit.md");

const HEAD: &str = "# Every program on both chips

What each shipped program needs on Tofino and Tofino 2, and what each optimisation of placement saves. For one program,
`sluice report PROGRAM --chip CHIP` prints the same numbers and more. [report.md](report.md) explains the words.

This page is generated: `UPDATE_EXPECT=1 cargo test -p sluice-programs fit_tables`. Without `UPDATE_EXPECT`, the test
compares the page with what placement finds.
";

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

/// Returns the programs with their defaults.
fn programs() -> Vec<(String, Program)> {
    catalogue().programs().iter().map(|p| (p.name().to_owned(), p.build(&[]).unwrap())).collect()
}

fn report(program: &Program, chip: &ChipSpec, options: &Options) -> Result<Report, NoFit> {
    place_with(program, chip, options).map(|p| Report::new(program, &p))
}

fn used(report: &Report, column: Column) -> u32 {
    report.totals[column.index()]
}

fn containers(report: &Report) -> u32 {
    report.phv.groups.iter().flat_map(|g| g.used).sum()
}

/// Heads of the two tables of every program.
const UNITS: &str = "| program | chip | ingress stages | egress stages | table ids | gateways | SRAM | map RAM | TCAM | \
                     meter ALU | stats ALU | VLIW | hash bits | hash dist | exact xbar bytes |";
const REST: &str = "| program | chip | PHV containers | parser rows | tags | pointer | tested again | relayed | \
                    ingress cycles | egress cycles | ns | W |";

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

/// Returns stages and units of the columns that programs run short of, then those of the rest.
fn rows(name: &str, chip: &str, r: &Report) -> [String; 2] {
    let [ingress, egress] = [Gress::Ingress, Gress::Egress].map(|g| &r.gresses[g.index()]);
    let stages = [ingress.stages_used, egress.stages_used];
    let units = stages.into_iter().chain(COLUMNS.map(|column| used(r, column)));
    let next = &r.next_tables;
    let relayed = next.branches.iter().filter(|b| !b.relays.is_empty()).count() as u32;
    let rest = [
        containers(r),
        ingress.parser_rows + egress.parser_rows,
        next.tags,
        next.pointed,
        next.retested,
        relayed,
        ingress.mau_cycles,
        egress.mau_cycles,
    ];
    let cells = |list: &mut dyn Iterator<Item = u32>| {
        list.fold(format!("| {name} | {chip} |"), |line, n| format!("{line} {n} |"))
    };
    let (ns, centiwatts) = (r.total.as_ps().div_ceil(1000), r.power.worst / 10_000_000);
    let rest = cells(&mut rest.into_iter());
    let rest = format!("{rest} {ns} | {}.{:02} |", centiwatts / 100, centiwatts % 100);
    [cells(&mut units.into_iter()), rest]
}

/// Returns a table's head and the line below it.
fn head(out: &mut String, titles: &str) {
    let _ = writeln!(out, "\n{titles}\n|{}", "---|".repeat(titles.matches('|').count() - 1));
}

/// Returns the first resource that a program lacks.
fn why(no_fit: &NoFit) -> String {
    no_fit.diags.first().map_or(String::new(), |d| d.text.replace('|', "\\|"))
}

fn every_program(out: &mut String, cases: &[Case], fits: &[Result<Report, NoFit>]) {
    let fitting = || cases.iter().zip(fits).filter_map(|((n, _, chip), r)| Some((n, chip, r.as_ref().ok()?)));
    out.push_str("\n## Units used\n\nSums over all stages:\n");
    head(out, UNITS);
    for (name, chip, report) in fitting() {
        let _ = writeln!(out, "{}", rows(name, &chip.name, report)[0]);
    }
    out.push_str(
        "\n## Containers, parser, latency, power\n\n- PHV containers, parser rows: of both gresses together.\n- tags, \
         pointer, tested again, relayed: how outcomes of conditions reach later stages. They are long-branch tags in use, \
         outcomes on the next-table pointer, outcomes that a gateway tests again, and outcomes relayed by tables in the \
         stages between. Tofino needs none of them, because its tables are a chain.\n- ingress cycles, egress cycles: \
         of the stages. ns: from wire to wire without queueing.\n- W: power of the path that takes most.\n",
    );
    head(out, REST);
    for (name, chip, report) in fitting() {
        let _ = writeln!(out, "{}", rows(name, &chip.name, report)[1]);
    }
    out.push_str("\n## Programs that do not fit\n\nThe first reason that placement gives:\n");
    head(out, "| program | chip | why |");
    for ((name, _, chip), fit) in cases.iter().zip(fits) {
        if let Err(no_fit) = fit {
            let _ = writeln!(out, "| {name} | {} | {} |", chip.name, why(no_fit));
        }
    }
}

/// Every program on every chip.
type Case = (String, Program, ChipSpec);

fn cases() -> Vec<Case> {
    let of = |(name, program): (String, Program)| chips().map(|chip| (name.clone(), program.clone(), chip));
    programs().into_iter().flat_map(of).collect()
}

/// Returns the results of `what` for each item, in order; runs several at a time.
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

/// Returns the additional stages, table ids, gateways, containers and hash bits without an optimisation, or the misfit.
type Change = Result<[i64; 5], String>;

fn change(case: &Case, with: &Report, optimisation: Optimisation) -> Change {
    let options = Options { without: BTreeSet::from([optimisation]), ..Options::default() };
    let figures = |r: &Report| {
        let units = [Column::LogicalTable, Column::Gateway].map(|c| used(r, c));
        [r.stages_used(), units[0], units[1], containers(r), used(r, Column::HashBit)].map(i64::from)
    };
    let without = report(&case.1, &case.2, &options).map_err(|no_fit| why(&no_fit))?;
    let (a, b) = (figures(&without), figures(with));
    Ok(std::array::from_fn(|i| a[i] - b[i]))
}

fn difference(change: &[i64; 5]) -> String {
    change.iter().map(|n| if *n == 0 { " |".to_owned() } else { format!(" {n:+} |") }).collect()
}

/// Returns the effect of each optimisation: a summary, then the programs in which it changes anything.
fn gains(out: &mut String, cases: &[Case], fits: &[Result<Report, NoFit>]) {
    out.push_str(
        "\n## What each optimisation saves\n\nUnits that placement uses more if it leaves the optimisation out (`sluice \
         report --without NAME`), summed over all programs and chips. `do not fit` counts the programs that do not fit \
         without it, `change` those whose numbers change; only the latter are in the sums.\n",
    );
    let tries: Vec<(Optimisation, usize)> =
        Optimisation::ALL.iter().flat_map(|o| (0..cases.len()).map(move |i| (*o, i))).collect();
    let changes = every(&tries, |&(optimisation, i)| {
        let with = fits[i].as_ref().ok()?;
        Some(change(&cases[i], with, optimisation)).filter(|c| *c != Ok([0; 5]))
    });
    let found: Vec<(Optimisation, usize, Change)> =
        tries.into_iter().zip(changes).filter_map(|((o, i), c)| Some((o, i, c?))).collect();
    head(out, "| without | do not fit | change | stages | ids | gateways | containers | hash bits |");
    for optimisation in Optimisation::ALL {
        let own: Vec<&Change> = found.iter().filter(|(o, ..)| *o == optimisation).map(|(.., c)| c).collect();
        let lost = own.iter().filter(|c| c.is_err()).count();
        let sum = own.iter().filter_map(|c| c.as_ref().ok());
        let sum = sum.fold([0; 5], |a: [i64; 5], c| std::array::from_fn(|i| a[i] + c[i]));
        let (name, changed) = (optimisation.name(), own.len() - lost);
        let _ = writeln!(out, "| {name} | {lost} | {changed} |{}", difference(&sum));
    }
    out.push_str("\nBy program; programs that are not listed do not change:\n");
    head(
        out,
        "| without | program | chip | stages | ids | gateways | containers | hash bits | does not fit |",
    );
    let mut done: Vec<(Optimisation, &str, &Change)> = Vec::new();
    for (optimisation, i, change) in &found {
        let (name, _, chip) = &cases[*i];
        let key = (*optimisation, name.as_str(), change);
        if done.contains(&key) {
            continue;
        }
        let same = found.iter().filter(|(o, j, c)| (*o, cases[*j].0.as_str(), c) == key).count();
        done.push(key);
        let chip = if same == chips().len() { "both" } else { &chip.name };
        let cells = match change {
            Ok(change) => format!("{} |", difference(change)),
            Err(why) => format!(" | | | | | {why} |"),
        };
        let _ = writeln!(out, "| {} | {name} | {chip} |{cells}", optimisation.name());
    }
}

/// Returns both objectives for the programs in which they differ.
fn objectives(out: &mut String, cases: &[Case], fits: &[Result<Report, NoFit>]) {
    out.push_str(
        "\n## Lowest latency instead of fewest stages\n\nCycles of ingress + egress stages and number of stages, with the \
         default objective and with `--objective latency`. Programs that are not listed are the same with both.\n",
    );
    head(out, "| program | chip | cycles | stages | cycles for latency | stages for latency |");
    let fast = Options { objective: Objective::LowestLatency, ..Options::default() };
    let pairs: Vec<(&Case, &Report)> =
        cases.iter().zip(fits).filter_map(|(c, r)| Some((c, r.as_ref().ok()?))).collect();
    let lines = every(&pairs, |&((name, program, chip), few)| {
        let fast = report(program, chip, &fast).unwrap();
        let cycles = |r: &Report| (r.gresses[0].mau_cycles, r.gresses[1].mau_cycles);
        let sum = |r: &Report| cycles(r).0 + cycles(r).1;
        assert!(sum(&fast) <= sum(few), "{name} on {}", chip.name);
        if cycles(few) == cycles(&fast) {
            return String::new();
        }
        let words = |r: &Report| format!("{} + {} | {}", cycles(r).0, cycles(r).1, r.stages_used());
        format!("| {name} | {} | {} | {} |\n", chip.name, words(few), words(&fast))
    });
    out.push_str(&lines.concat());
}

#[test]
fn the_tables_in_the_handbook_are_what_placement_finds() {
    let mut out = HEAD.to_owned();
    let cases = cases();
    let fits = every(&cases, |(_, program, chip)| report(program, chip, &Options::default()));
    every_program(&mut out, &cases, &fits);
    gains(&mut out, &cases, &fits);
    objectives(&mut out, &cases, &fits);
    expect_file![PAGE].assert_eq(&out);
}
