//! Verdicts on the rows and claims of an experiment.
//!
//! A row agrees if the 95 % interval of its number over the seeds meets the published value within the row's percentage and
//! the value's own precision. A claim agrees if it holds at each of its points as an expectation of a contest does: by the
//! interval of the difference of both sides. Neither is adjusted to what was found.

use crate::experiment::{Claim, Experiment, Row};
use crate::found::{Evidence, FoundPoint};
use crate::published::{Published, PublishedValue};
use crate::scale::Rival;
use serde::{Serialize, Serializer};
use sluice_scenario::Expr;
use sluice_scenario::contest::{Estimate, judged};

/// Verdict on a row, a claim or an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing was published that it could be compared with.
    NoNumber,
    /// It agrees with what was published.
    Agrees,
    /// It does not.
    Disagrees,
}

impl Verdict {
    /// Returns the verdict in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::NoNumber => "no number published",
            Verdict::Agrees => "agrees",
            Verdict::Disagrees => "disagrees",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// A row with its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct RowResult {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// The number here, in the row's unit.
    pub here: Estimate,
    /// The values of the paper, of the reference simulator and of theory.
    #[serde(flatten, serialize_with = "by_side")]
    pub values: [Option<PublishedValue>; 3],
    /// The number here over the value that the verdict is about.
    pub ratio: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

fn by_side<S: Serializer>(values: &[Option<PublishedValue>; 3], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(["published", "reference", "theory"].into_iter().zip(values))
}

/// A claim with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimResult {
    /// The claim in words.
    pub what: String,
    /// Where the paper claims it.
    pub source: String,
    /// The inequality, or the scenario's id.
    pub expect: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The numbers in the claim, point by point.
    pub numbers: Vec<String>,
    /// The found cause of a disagreement; empty if there is none.
    pub because: String,
}

/// A row's number of a rival, beside that of the paper's program.
#[derive(Clone, Debug, Serialize)]
pub struct RivalRow {
    /// The row.
    pub what: String,
    /// Unit; empty for a ratio.
    pub unit: String,
    /// The number of the paper's program.
    pub here: Estimate,
    /// Label and number of each rival.
    #[serde(serialize_with = "by_label")]
    pub rivals: Vec<(String, Estimate)>,
}

fn by_label<S: Serializer>(rivals: &[(String, Estimate)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rivals.iter().map(|(label, number)| (label, number)))
}

/// All verdicts of an experiment.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The rows.
    pub rows: Vec<RowResult>,
    /// The claims, those of scenarios last.
    pub claims: Vec<ClaimResult>,
    /// Rows of rivals; empty without rivals.
    pub rivals: Vec<RivalRow>,
    /// Mistakes of the runs, such as a deadlock, whatever the paper says.
    pub errors: Vec<String>,
}

impl Judgement {
    /// Returns the worst verdict of all rows and claims.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let rows = self.rows.iter().map(|row| row.verdict);
        let claims = self.claims.iter().map(|claim| claim.verdict);
        rows.chain(claims).max().unwrap_or(Verdict::NoNumber)
    }

    /// Returns the verdict in words: how many of the rows and claims that can be compared agree.
    #[must_use]
    pub fn summary(&self) -> String {
        let rows = self.rows.iter().map(|row| row.verdict);
        let all: Vec<Verdict> = rows.chain(self.claims.iter().map(|claim| claim.verdict)).collect();
        let agree = all.iter().filter(|verdict| **verdict == Verdict::Agrees).count();
        let compared = all.iter().filter(|verdict| **verdict != Verdict::NoNumber).count();
        match self.verdict() {
            Verdict::NoNumber => Verdict::NoNumber.words().to_owned(),
            Verdict::Agrees => format!("agrees ({compared} of {compared})"),
            Verdict::Disagrees => {
                let open = self.disagreements().iter().filter(|(_, because)| because.is_empty()).count();
                let open =
                    if open > 0 { format!("; the cause of {open} is not found") } else { String::new() };
                format!("{agree} of {compared} agree{open}")
            }
        }
    }

    /// Returns the rows and claims that disagree, each with its cause.
    #[must_use]
    pub fn disagreements(&self) -> Vec<(&str, &str)> {
        let rows = self.rows.iter().filter(|row| row.verdict == Verdict::Disagrees);
        let rows = rows.map(|row| (row.row.what.as_str(), row.row.because.as_str()));
        let claims = self.claims.iter().filter(|claim| claim.verdict == Verdict::Disagrees);
        rows.chain(claims.map(|claim| (claim.what.as_str(), claim.because.as_str()))).collect()
    }
}

/// Judges an experiment by what its parts found.
///
/// # Errors
/// If a row or claim names a number or a published value that is not there.
pub fn judge(
    experiment: &Experiment,
    found: &Evidence,
    published: &Published,
    rivals: &[Rival],
) -> Result<Judgement, String> {
    let named = |what: &str, e: String| format!("{}: `{what}`: {e}", experiment.id);
    let rows =
        experiment.row.iter().map(|row| row_result(row, found, published).map_err(|e| named(&row.what, e)));
    let rows: Vec<RowResult> = rows.collect::<Result<_, _>>()?;
    let claims =
        experiment.claim.iter().map(|claim| claim_result(claim, found).map_err(|e| named(&claim.what, e)));
    let mut claims: Vec<ClaimResult> = claims.collect::<Result<_, _>>()?;
    claims.extend(experiment.scenario.iter().flat_map(|part| {
        let own = found.outcomes.iter().filter(|outcome| outcome.id == part.id);
        own.filter(|outcome| outcome.passed().is_some()).map(|outcome| ClaimResult {
            what: part.what.clone(),
            source: outcome.source.clone(),
            expect: format!("scenario {}, profile {}", outcome.id, outcome.profile),
            verdict: if outcome.passed() == Some(true) { Verdict::Agrees } else { Verdict::Disagrees },
            numbers: outcome.main().map(check_text).into_iter().collect(),
            because: String::new(),
        })
    }));
    let points = found.parts.values().flatten();
    let errors = points.filter_map(|point| point.error.clone()).collect();
    let rivals = rival_rows(&rows, found, rivals)?;
    Ok(Judgement { rows, claims, rivals, errors })
}

fn check_text(check: &sluice_scenario::Check) -> String {
    let unit = if check.unit.is_empty() { String::new() } else { format!(" {}", check.unit) };
    format!("{} = {}{unit}, expected {}", check.what, check.actual, check.expected)
}

/// Evaluates an expression at the only point that a row means, in the row's unit.
fn number(expression: &str, row: &Row, found: &Evidence) -> Result<Estimate, String> {
    let points = found.at(&row.part, &row.at)?;
    let [point] = points.as_slice() else {
        let known: Vec<String> = points.iter().map(|point| point.title()).collect();
        return Err(format!("`at` leaves several runs: {}", known.join("; ")));
    };
    let figure = point.figures.value(&Expr::parse(expression)?)?;
    let Estimate { mean, half } = figure.estimate();
    Ok(Estimate { mean: mean / row.per, half: half.map(|half| half / row.per) })
}

fn row_result(row: &Row, found: &Evidence, published: &Published) -> Result<RowResult, String> {
    let here = number(&row.here, row, found)?;
    let find = |id: &Option<String>| -> Result<Option<PublishedValue>, String> {
        let Some(id) = id else { return Ok(None) };
        let value = published.find(id).ok_or_else(|| format!("there is no published value `{id}`"))?;
        Ok(Some(value.clone()))
    };
    let values = [find(&row.published)?, find(&row.reference)?, find(&row.theory)?];
    let judged = values.iter().flatten().find_map(|value| Some((value.value?, value.precision)));
    let (ratio, verdict) = match judged {
        None => (None, Verdict::NoNumber),
        Some((value, precision)) => {
            let ratio = (value != 0.0).then(|| here.mean / value);
            let agrees = meets(here, value, precision, row.within);
            (ratio, if agrees { Verdict::Agrees } else { Verdict::Disagrees })
        }
    };
    Ok(RowResult { row: row.clone(), here, values, ratio, verdict })
}

/// Returns true if an interval meets a value within some percent and the value's precision.
fn meets(here: Estimate, value: f64, precision: f64, within: f64) -> bool {
    let room = value.abs() * within / 100.0 + precision;
    here.low() <= value + room && here.high() >= value - room
}

fn claim_result(claim: &Claim, found: &Evidence) -> Result<ClaimResult, String> {
    let expr = Expr::parse(&claim.expect)?;
    let points = found.at(&claim.part, &claim.at)?;
    let mut numbers = Vec::with_capacity(points.len());
    let mut holds = true;
    for point in &points {
        let verdict = judged(&expr, 0, &point.figures)?;
        holds &= verdict.holds;
        let named =
            verdict.names.iter().map(|(name, figure)| format!("{name} {}", estimate(figure.estimate())));
        let mut text = named.collect::<Vec<_>>().join(", ");
        if points.len() > 1 {
            let fails = if verdict.holds { "" } else { " FAILS" };
            text = format!("{}{fails}: {text}", point.title());
        }
        numbers.push(text);
    }
    Ok(ClaimResult {
        what: claim.what.clone(),
        source: claim.source.clone(),
        expect: claim.expect.clone(),
        verdict: if holds { Verdict::Agrees } else { Verdict::Disagrees },
        numbers,
        because: claim.because.clone(),
    })
}

/// Returns the rows whose number belongs to one label, with the same number of each rival that ran at their point.
fn rival_rows(rows: &[RowResult], found: &Evidence, rivals: &[Rival]) -> Result<Vec<RivalRow>, String> {
    let mut all = Vec::new();
    for RowResult { row, here, .. } in rows {
        let expr = Expr::parse(&row.here)?;
        let mut labels: Vec<&str> = expr.names().iter().filter_map(|name| name.split('.').next()).collect();
        labels.sort_unstable();
        labels.dedup();
        let points = found.at(&row.part, &row.at)?;
        let ([label], [point]) = (labels.as_slice(), points.as_slice()) else { continue };
        // In a part of several contests a rival has the label of each in front of its own.
        let names = |rival: &Rival| [rival.label.clone(), format!("{label}_{}", rival.label)];
        let ran = rivals.iter().flat_map(names).filter(|name| has(point, name));
        let of = |name: String| -> Result<(String, Estimate), String> {
            let own = row.here.replace(&format!("{label}."), &format!("{name}."));
            let found = number(&own, row, found)?;
            Ok((name, found))
        };
        let rivals = ran.map(of).collect::<Result<Vec<_>, _>>()?;
        if !rivals.is_empty() {
            all.push(RivalRow { what: row.what.clone(), unit: row.unit.clone(), here: *here, rivals });
        }
    }
    Ok(all)
}

fn has(point: &FoundPoint, label: &str) -> bool {
    point.figures.labels().any(|known| known == label)
}

/// Returns a mean with half of its interval.
#[must_use]
pub fn estimate(Estimate { mean, half }: Estimate) -> String {
    match half.filter(|half| *half > 0.0) {
        Some(half) => format!("{} ±{}", significant(mean), significant(half)),
        None => significant(mean),
    }
}

/// Returns a number with four significant digits, without needless zeros.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (4 - whole).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_scenario::contest::{Figure, FigureTable};
    use std::collections::BTreeMap;

    fn found() -> Evidence {
        let point = |load: &str, a: &[i128], b: &[i128]| {
            let of = |values: &[i128]| BTreeMap::from([("avg".to_owned(), Figure(values.to_vec()))]);
            let figures =
                FigureTable::new([("a".to_owned(), of(a)), ("b".to_owned(), of(b))].into(), a.len());
            FoundPoint { axes: vec![("workload.load".into(), load.into())], figures, ..FoundPoint::default() }
        };
        let points =
            vec![point("30", &[1000, 1100], &[2000, 2200]), point("50", &[1500, 1500], &[1600, 1400])];
        Evidence { parts: [(String::new(), points)].into(), outcomes: Vec::new() }
    }

    fn experiment(text: &str) -> Experiment {
        let head =
            "id = \"p/x\"\ntitle = \"t\"\nfigures = \"f\"\ndeviations = []\n[[contest]]\nfile = \"c\"\n";
        Experiment::parse("x", &format!("{head}{text}")).unwrap()
    }

    fn published() -> Published {
        let text = "[[paper]]\nid = \"p\"\ntitle = \"P\"\n[[value]]\nid = \"p/a\"\nvalue = 1.2\nread = \"table\"\nside = \
                    \"paper\"\nsource = \"s\"\n[[value]]\nid = \"p/none\"\nread = \"none\"\nside = \"paper\"\nsource = \"s\"\n";
        Published::parse(text).unwrap()
    }

    fn verdicts(text: &str) -> Result<Judgement, String> {
        judge(&experiment(text), &found(), &published(), &[Rival::new("b")])
    }

    #[test]
    fn a_row_agrees_if_its_interval_meets_the_value() {
        // The mean is 1.05; with two seeds the half-interval is 12.706 * 0.05 = 0.635. At the load 50 there is none.
        let row = |load: u32, id: &str, within: u32| {
            format!(
                "[[row]]\nwhat = \"w\"\nat = {{ \"workload.load\" = {load} }}\nhere = \"a.avg\"\nper = 1000\npublished = \
                 \"{id}\"\nwithin = {within}\n"
            )
        };
        let of = |text: String| verdicts(&text).unwrap().rows.remove(0);
        let near = of(row(30, "p/a", 0));
        assert_eq!((near.verdict, near.here.mean), (Verdict::Agrees, 1.05));
        assert!((near.ratio.unwrap() - 0.875).abs() < 1e-12);
        // 1.5 is 25 % above 1.2.
        assert_eq!(of(row(50, "p/a", 24)).verdict, Verdict::Disagrees);
        assert_eq!(of(row(50, "p/a", 26)).verdict, Verdict::Agrees);
        assert_eq!(of(row(50, "p/none", 0)).verdict, Verdict::NoNumber);
        assert!(
            verdicts(&row(70, "p/a", 1))
                .unwrap_err()
                .contains("no run has workload.load = 70; there are load = 30")
        );
        assert!(verdicts(&row(50, "p/b", 1)).unwrap_err().contains("no published value `p/b`"));
    }

    #[test]
    fn a_claim_holds_at_all_its_points() {
        let claim = |expect: &str, at: &str| {
            format!(
                "[[claim]]\nwhat = \"w\"\nsource = \"s\"\n{at}\nexpect = \"{expect}\"\nbecause = \"chance\"\n"
            )
        };
        let all = verdicts(&claim("a.avg < b.avg", "")).unwrap();
        assert_eq!(all.verdict(), Verdict::Disagrees);
        assert_eq!(all.disagreements(), [("w", "chance")]);
        assert!(all.claims[0].numbers[1].starts_with("load = 50 FAILS: a.avg 1500, b.avg 1500"), "{all:?}");
        // The differences are -100 and -200: the interval is -150 plus or minus 635. Without 900, it is -1050 plus or minus 635.
        let one = verdicts(&claim("a.avg + 900 < b.avg", "at = { \"workload.load\" = 30 }")).unwrap();
        assert_eq!(one.verdict(), Verdict::Disagrees);
        let one = verdicts(&claim("a.avg < b.avg", "at = { \"workload.load\" = 30 }")).unwrap();
        assert_eq!(one.verdict(), Verdict::Agrees);
    }

    #[test]
    fn rivals_have_the_same_numbers() {
        let row =
            "[[row]]\nwhat = \"w\"\nat = { \"workload.load\" = 30 }\nhere = \"a.avg * 2\"\nper = 1000\n";
        let rivals = verdicts(row).unwrap().rivals;
        assert_eq!(
            (rivals[0].here.mean, rivals[0].rivals[0].0.as_str(), rivals[0].rivals[0].1.mean),
            (2.1, "b", 4.2)
        );
    }

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.048_312, "0.04831"), (12_345.6, "12346"), (-1.5, "-1.5")]
        {
            assert_eq!(significant(value), text);
        }
    }
}
