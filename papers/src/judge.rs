//! Verdicts on the rows and claims of an experiment.
//!
//! The *tolerance* of a row is the published value ± room, with room = |value| * `within` % + the precision with which the value
//! was read. The verdict compares the tolerance with the 95 % interval of the number over the seeds, mean ± half:
//!
//! | verdict | condition |
//! |---|---|
//! | agrees | the whole interval is in the tolerance |
//! | undecided | a part of it is, and it is wider than the tolerance (half > room), so that no mean could have made it agree |
//! | disagrees | it misses the tolerance, or a part of it is outside although it is narrow enough |
//!
//! So noise never makes a number agree. One seed has no interval, and leaves every row and claim undecided. Results that do not
//! depend on the seed have an interval without width over two or more seeds, and are decided.
//!
//! A claim is judged at each of its points as an expectation of a contest is. An inequality holds if the whole interval of the
//! difference of both sides satisfies it, fails if the whole interval violates it, and is undecided if the interval has the bound
//! inside. A claim agrees if it holds at all points, disagrees if it fails at one, and is undecided otherwise. Scenarios draw
//! nothing at random, so theirs are decided. No verdict is adjusted to what was found.

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
    /// The runs are too few, or differ too much, to say.
    Undecided,
    /// It does not agree.
    Disagrees,
}

impl Verdict {
    /// Returns the verdict in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::NoNumber => "no number published",
            Verdict::Agrees => "agrees",
            Verdict::Undecided => "undecided",
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
    /// The found cause of a verdict other than agreement; empty if there is none.
    pub because: String,
}

/// Number of rows and claims with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that agree.
    pub agree: usize,
    /// Those that are undecided.
    pub undecided: usize,
    /// Those that disagree.
    pub disagree: usize,
}

impl Tally {
    /// Returns the number of rows and claims that can be compared.
    #[must_use]
    pub const fn compared(self) -> usize {
        self.agree + self.undecided + self.disagree
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(all: I) -> Tally {
        all.fold(Tally::default(), |sum, one| Tally {
            agree: sum.agree + one.agree,
            undecided: sum.undecided + one.undecided,
            disagree: sum.disagree + one.disagree,
        })
    }
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
    /// Returns the verdicts of all rows, then of all claims.
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let rows = self.rows.iter().map(|row| row.verdict);
        rows.chain(self.claims.iter().map(|claim| claim.verdict))
    }

    /// Returns the worst verdict of all rows and claims.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdicts().max().unwrap_or(Verdict::NoNumber)
    }

    /// Returns how many rows and claims have each verdict.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let count = |verdict: Verdict| self.verdicts().filter(|own| *own == verdict).count();
        Tally {
            agree: count(Verdict::Agrees),
            undecided: count(Verdict::Undecided),
            disagree: count(Verdict::Disagrees),
        }
    }

    /// Returns the verdict in words: how many of the rows and claims that can be compared agree, and how many are undecided.
    #[must_use]
    pub fn summary(&self) -> String {
        let tally = self.tally();
        let Tally { agree, undecided, .. } = tally;
        let compared = tally.compared();
        match self.verdict() {
            Verdict::NoNumber => Verdict::NoNumber.words().to_owned(),
            Verdict::Agrees => format!("agrees ({compared} of {compared})"),
            Verdict::Undecided | Verdict::Disagrees => {
                let disagree = self.doubts().filter(|(verdict, ..)| *verdict == Verdict::Disagrees);
                let open = disagree.filter(|(.., because)| because.is_empty()).count();
                let doubt = if undecided > 0 { format!(", {undecided} undecided") } else { String::new() };
                let open =
                    if open > 0 { format!("; the cause of {open} is not found") } else { String::new() };
                format!("{agree} of {compared} agree{doubt}{open}")
            }
        }
    }

    /// Returns the rows and claims that disagree or are undecided: the verdict, the name and the cause of each.
    pub fn doubts(&self) -> impl Iterator<Item = (Verdict, &str, &str)> {
        let rows = self.rows.iter().map(|row| (row.verdict, row.row.what.as_str(), row.row.because.as_str()));
        let claims = self.claims.iter();
        let claims = claims.map(|claim| (claim.verdict, claim.what.as_str(), claim.because.as_str()));
        rows.chain(claims).filter(|(verdict, ..)| matches!(verdict, Verdict::Undecided | Verdict::Disagrees))
    }

    /// Returns the names of the rows and claims in [`Judgement::doubts`], each with its verdict and cause as the end of a sentence.
    #[must_use]
    pub fn causes(&self) -> Vec<(&str, String)> {
        let cause = |(verdict, what, because): (Verdict, _, &str)| {
            let verb = if verdict == Verdict::Undecided { "is undecided" } else { "disagrees" };
            let because = match (because, verdict) {
                ("", Verdict::Undecided) => "the seeds are too few, or differ too much.",
                ("", _) => "the cause is not found.",
                (known, _) => known,
            };
            (what, format!("{verb} because: {because}"))
        };
        self.doubts().map(cause).collect()
    }

    /// Returns true if a run is wrong, or if a row or claim disagrees or is undecided and has no stated cause.
    #[must_use]
    pub fn is_unexplained(&self) -> bool {
        !self.errors.is_empty() || self.doubts().any(|(.., because)| because.is_empty())
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
            (ratio, compared(here, value, precision, row.within))
        }
    };
    Ok(RowResult { row: row.clone(), here, values, ratio, verdict })
}

/// Compares the interval of a number with the tolerance around a value.
fn compared(here: Estimate, value: f64, precision: f64, within: f64) -> Verdict {
    let room = value.abs() * within / 100.0 + precision;
    let (low, high) = (value - room, value + room);
    match here.half {
        None => Verdict::Undecided,
        Some(_) if here.low() >= low && here.high() <= high => Verdict::Agrees,
        Some(half) if half > room && here.low() <= high && here.high() >= low => Verdict::Undecided,
        Some(_) => Verdict::Disagrees,
    }
}

fn claim_result(claim: &Claim, found: &Evidence) -> Result<ClaimResult, String> {
    let expr = Expr::parse(&claim.expect)?;
    let points = found.at(&claim.part, &claim.at)?;
    let mut numbers = Vec::with_capacity(points.len());
    let mut worst = Verdict::Agrees;
    for point in &points {
        let verdict = judged(&expr, 0, &point.figures)?;
        let here = match (verdict.decided, verdict.holds) {
            (false, _) => Verdict::Undecided,
            (true, true) => Verdict::Agrees,
            (true, false) => Verdict::Disagrees,
        };
        worst = worst.max(here);
        let named =
            verdict.names.iter().map(|(name, figure)| format!("{name} {}", estimate(figure.estimate())));
        let mut text = named.collect::<Vec<_>>().join(", ");
        if points.len() > 1 {
            let word = match here {
                Verdict::Disagrees => " FAILS",
                Verdict::Undecided => " UNDECIDED",
                Verdict::Agrees | Verdict::NoNumber => "",
            };
            text = format!("{}{word}: {text}", point.title());
        }
        numbers.push(text);
    }
    Ok(ClaimResult {
        what: claim.what.clone(),
        source: claim.source.clone(),
        expect: claim.expect.clone(),
        verdict: worst,
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
        // Not a number, or without a bound: shown as what it is.
        return format!("{}", value + 0.0);
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (4 - whole).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests;
