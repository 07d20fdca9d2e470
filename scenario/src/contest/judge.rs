//! Evaluates the expectations of a contest over its seeds.
//!
//! An inequality `left < right` (or `<=`, `>`, `>=`) is judged by the differences left - right, one for each seed: both sides
//! have the same seed, so the same messages. It holds if the whole 95 % interval of the mean difference satisfies it. Every other
//! expression, such as `ecmp.dropped == 0`, holds if it holds with each seed.
//!
//! The seeds *decide* an inequality if the whole interval satisfies it or the whole interval violates it. If a part does each, more
//! seeds may turn the verdict over. One seed has no interval and decides nothing.

use super::file::contest::Contest;
use super::results::interval::Estimate;
use super::results::series::{Figure, FigureTable, Results, values};
use crate::language::expr::{Expr, Inequality};
use serde::{Serialize, Serializer};

/// Verdicts on all expectations of a contest.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// One for each expectation that can be evaluated, in the order of the file.
    pub list: Vec<Verdict>,
    /// The first error of an expectation that cannot be evaluated.
    pub error: Option<String>,
}

impl Verdicts {
    /// Returns true if all expectations hold.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.error.is_none() && self.list.iter().all(|verdict| verdict.holds)
    }
}

/// Verdict on one expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Line in the file.
    pub line: usize,
    /// The expectation, as in the file.
    pub what: String,
    /// True if the expectation holds.
    #[serde(rename = "passed")]
    pub holds: bool,
    /// True if the seeds decide the expectation either way.
    #[serde(skip)]
    pub decided: bool,
    /// How the expectation is judged.
    #[serde(flatten)]
    pub judged: Judged,
    /// The numbers in the expectation, in order and once each.
    #[serde(rename = "found", serialize_with = "by_name")]
    pub names: Vec<(String, Figure)>,
}

fn by_name<S: Serializer>(figures: &[(String, Figure)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(figures.iter().map(|(name, figure)| (name, figure)))
}

/// How an expectation is judged, with the values for it by seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Judged {
    /// By the interval of the differences between both sides of an inequality.
    #[serde(rename = "difference")]
    Interval(Figure),
    /// By each seed; the values of the expression are 1 or 0 if it is a comparison.
    #[serde(rename = "each_seed", serialize_with = "values")]
    EachSeed(Figure),
}

/// Evaluates the contest's expectations against the results of all programs.
#[must_use]
pub fn checks(contest: &Contest, results: &Results) -> Verdicts {
    let table = FigureTable::of(results);
    let mut verdicts = Verdicts::default();
    for expect in &contest.expect {
        let line = contest.line(expect.span().start);
        match judged(expect.get_ref(), line, &table) {
            Ok(verdict) => verdicts.list.push(verdict),
            Err(why) => verdicts.error = verdicts.error.or(Some(format!("line {line}: {why}"))),
        }
    }
    verdicts.error = verdicts.error.or_else(|| deadlock(contest, results));
    verdicts
}

/// Returns a sentence about the first deadlock of a program whose deadlocks no expectation is about.
fn deadlock(contest: &Contest, results: &Results) -> Option<String> {
    let expected = |label: &str| {
        let number = format!("{label}.deadlocks");
        contest.expect.iter().any(|expect| expect.get_ref().names().contains(&number.as_str()))
    };
    let unexpected = results.series.iter().filter(|series| !expected(&series.label));
    unexpected.flat_map(|series| results.seeds.iter().zip(&series.runs).map(move |(seed, run)| (series, seed, run))).find_map(
        |(series, seed, run)| {
            let (label, cycle) = (&series.label, run.deadlocks.first()?);
            Some(format!(
                "{label}: with seed {seed}, paused queues wait for each other at the end: {cycle}; route without cycles, raise \
                 `xoff`, or expect it, `{label}.deadlocks > 0`"
            ))
        },
    )
}

/// Judges an expectation that is in this line of its file.
///
/// # Errors
/// If the expectation names a figure that is not there, or cannot be evaluated.
pub fn judged(expr: &Expr, line: usize, table: &FigureTable) -> Result<Verdict, String> {
    let (holds, decided, judged) = match expr.inequality() {
        Some(inequality) => {
            let figure = table.difference(expr)?;
            let difference = figure.estimate();
            let holds = satisfies(inequality, difference);
            let decided = holds || satisfies(inequality.negated(), difference);
            (holds, decided && difference.half.is_some(), Judged::Interval(figure))
        }
        None => {
            let figure = table.value(expr)?;
            let holds = figure.0.iter().all(|value| *value != 0);
            (holds, figure.0.len() > 1, Judged::EachSeed(figure))
        }
    };
    let mut names: Vec<(String, Figure)> = Vec::new();
    for name in expr.names() {
        if names.iter().all(|(known, _)| known != name) {
            names.push((name.to_owned(), table.figure(name)?));
        }
    }
    Ok(Verdict { line, what: expr.to_string(), holds, decided, judged, names })
}

/// Returns true if the whole interval of a difference satisfies the inequality with 0.
fn satisfies(inequality: Inequality, difference: Estimate) -> bool {
    match inequality {
        Inequality::Less => difference.high() < 0.0,
        Inequality::LessOrEqual => difference.high() <= 0.0,
        Inequality::Greater => difference.low() > 0.0,
        Inequality::GreaterOrEqual => difference.low() >= 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A table with `a.x` and `b.x` of these values by seed.
    fn table(a: &[i128], b: &[i128]) -> FigureTable {
        let of = |values: &[i128]| BTreeMap::from([("x".to_owned(), Figure(values.to_vec()))]);
        FigureTable::new([("a".to_owned(), of(a)), ("b".to_owned(), of(b))].into(), a.len())
    }

    fn holds(text: &str, a: &[i128], b: &[i128]) -> bool {
        judged(&Expr::parse(text).unwrap(), 1, &table(a, b)).unwrap().holds
    }

    #[test]
    fn inequalities_are_judged_by_the_interval_of_paired_differences() {
        // The seeds differ by far more than the programs: unpaired, nothing could be said. The differences are -3, -2, -4, -3, -3:
        // mean -3, s = sqrt(0.5), interval -3 plus or minus 2.776 * 0.31623 = 0.878.
        let (a, b) = ([10, 50, 90, 30, 70], [13, 52, 94, 33, 73]);
        assert!(holds("a.x < b.x", &a, &b) && holds("b.x > a.x", &a, &b));
        assert!(holds("a.x + 2 < b.x", &a, &b) && !holds("a.x + 3 < b.x", &a, &b));
        assert!(holds("a.x >= b.x - 4", &a, &b) && !holds("a.x >= b.x - 3", &a, &b));
        // Four seeds of five are below, and so is the mean; the interval is not: -2 plus or minus 2.776 * 2.
        let (a, b) = ([1, 1, 1, 1, 9], [5, 5, 5, 5, 3]);
        assert!(!holds("a.x < b.x", &a, &b) && !holds("a.x > b.x", &a, &b));
    }

    #[test]
    fn an_interval_on_both_sides_of_the_bound_decides_nothing() {
        let of = |text: &str, a: &[i128], b: &[i128]| {
            let verdict = judged(&Expr::parse(text).unwrap(), 1, &table(a, b)).unwrap();
            (verdict.holds, verdict.decided)
        };
        // The differences' interval is -3 plus or minus 0.878: between -3.878 and -2.122.
        let (a, b) = ([10, 50, 90, 30, 70], [13, 52, 94, 33, 73]);
        for (bound, less, greater) in [
            (2, (true, true), (false, true)),
            (3, (false, false), (false, false)),
            (4, (false, true), (true, true)),
        ] {
            assert_eq!(of(&format!("a.x + {bound} < b.x"), &a, &b), less, "{bound}");
            assert_eq!(of(&format!("a.x + {bound} <= b.x"), &a, &b), less, "{bound}");
            assert_eq!(of(&format!("a.x + {bound} > b.x"), &a, &b), greater, "{bound}");
            assert_eq!(of(&format!("a.x + {bound} >= b.x"), &a, &b), greater, "{bound}");
        }
        // Seeds that agree leave no doubt, and one seed leaves all of it.
        assert_eq!(of("a.x < b.x", &[2, 2], &[2, 2]), (false, true));
        assert_eq!(of("a.x < b.x", &[2], &[3]), (true, false));
        assert_eq!(of("a.x == 2", &[2], &[3]), (true, false));
        assert_eq!(
            (of("a.x == 2", &[2, 2], &[3, 3]), of("a.x == 2", &[2, 3], &[3, 3])),
            ((true, true), (false, true))
        );
    }

    #[test]
    fn seeds_that_agree_and_single_seeds_have_no_width() {
        assert!(holds("a.x <= b.x", &[2, 3], &[2, 3]) && !holds("a.x < b.x", &[2, 3], &[2, 3]));
        assert!(holds("a.x < b.x", &[2], &[3]) && !holds("a.x < b.x", &[3], &[3]));
    }

    #[test]
    fn everything_else_must_hold_with_each_seed() {
        assert!(holds("a.x == 0", &[0, 0, 0], &[1, 1, 1]));
        assert!(!holds("a.x == 0", &[0, 0, 1], &[1, 1, 1]));
        assert!(holds("a.x != b.x", &[0, 0], &[1, 2]) && !holds("a.x != b.x", &[0, 2], &[1, 2]));
        // The differences' interval reaches above 0, but each seed satisfies the comparison.
        let (a, b) = ([0, 0, 0, 0, 0], [0, 0, 0, 0, 3]);
        assert!(!holds("a.x <= b.x", &a, &b) && holds("(a.x <= b.x) == 1", &a, &b));
    }

    #[test]
    fn numbers_are_named_once_and_unknown_ones_are_errors() {
        let table = table(&[1, 2], &[3, 4]);
        let of = |text: &str| judged(&Expr::parse(text).unwrap(), 7, &table);
        let found = of("a.x < a.x + b.x").unwrap();
        assert_eq!(found.names, [("a.x".into(), Figure(vec![1, 2])), ("b.x".into(), Figure(vec![3, 4]))]);
        assert_eq!(found.judged, Judged::Interval(Figure(vec![-3, -4])));
        assert!(of("a.y < 1").unwrap_err().contains("`a` has no number `y`; there are x"));
        assert!(of("a.p999 < 1").unwrap_err().contains("fewer than 10000"));
        assert!(of("c.x < 1").unwrap_err().contains("no program is called `c`; there are a, b"));
        assert_eq!(of("a.drop.none == 0").unwrap().judged, Judged::EachSeed(Figure(vec![1, 1])));
    }

    #[test]
    fn a_deadlock_fails_unless_it_is_expected() {
        use crate::contest::{Performance, Series};
        let contest = |expect: &str| {
            let text = format!(
                "name = \"n\"\ntopology = \"t\"\n{expect}\n[workload]\nsizes = \"solar\"\nload = 1\ntime = \"1ms\"\n[hosts]\n\
                 cable = \"1us\"\nrecovery = \"selective\"\n[[program]]\nname = \"ecmp\"\n"
            );
            Contest::parse("f", &text).unwrap()
        };
        let blocked =
            Performance { deadlocks: vec!["a:1 queue 3 -> b:1 queue 3".into()], ..Performance::default() };
        let runs = vec![Performance::default(), blocked];
        let series = vec![Series { label: "ecmp".into(), program: "ecmp".into(), runs }];
        let results = Results { seeds: vec![4, 9], series };
        let found = checks(&contest(""), &results);
        let error = found.error.clone().unwrap();
        assert!(
            !found.hold()
                && error.contains("with seed 9, paused queues wait")
                && error.contains("a:1 queue 3 -> b:1")
        );
        assert!(
            checks(&contest("expect = [\"ecmp.deadlocks >= 0\", \"ecmp.deadlocks != 7\"]"), &results)
                .error
                .is_none()
        );
    }
}
