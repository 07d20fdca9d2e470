//! Results of a contest: the runs of each program over the seeds, and its figures with their intervals.

use super::interval::Estimate;
use super::performance::Performance;
use crate::language::expr::{Expr, Scope};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Results of a contest.
#[derive(Clone, Debug)]
pub struct Results {
    /// The seeds, in the order of the file.
    pub seeds: Vec<u64>,
    /// The programs, in the order of the file.
    pub series: Vec<Series>,
}

/// Results of one program with all seeds.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in expectations and reports.
    pub label: String,
    /// Name of the program in the catalogue.
    pub program: String,
    /// One run for each seed, in the order of the seeds.
    pub runs: Vec<Performance>,
}

/// Values of one number, by seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figure(pub Vec<i128>);

/// Serializes the mean, the ends of the 95 % interval (null of one seed) and the value of each seed (null beyond 64 bits). Means have
/// three decimals.
impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            mean: f64,
            low: Option<f64>,
            high: Option<f64>,
            #[serde(serialize_with = "values")]
            seeds: &'a Figure,
        }
        let estimate = self.estimate();
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let end = |value: f64| estimate.half.map(|_| rounded(value));
        let (low, high) = (end(estimate.low()), end(estimate.high()));
        Row { mean: rounded(estimate.mean), low, high, seeds: self }.serialize(serializer)
    }
}

/// Serializes the value of each seed alone.
pub(crate) fn values<S: Serializer>(figure: &Figure, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(figure.0.iter().map(|value| i64::try_from(*value).ok()))
}

impl Figure {
    /// Returns the mean over seeds, and its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.0)
    }

    /// Returns the value of all seeds if they agree.
    #[must_use]
    pub fn constant(&self) -> Option<i128> {
        self.0.first().copied().filter(|first| self.0.iter().all(|value| value == first))
    }
}

impl Series {
    /// Returns this series and another of the same contest with the messages alone that are finished in both, and the number of those
    /// that are not; `None` if all messages are finished in both. Means over what each of them finished would be over different
    /// messages: the one that finished fewer would look better.
    #[must_use]
    pub fn paired(&self, other: &Series) -> Option<([Series; 2], usize)> {
        let mut left_out = 0;
        for (a, b) in self.runs.iter().zip(&other.runs) {
            let all = a.unfinished.iter().chain(&b.unfinished);
            left_out += all.map(|one| one.left.message.pair).collect::<BTreeSet<u32>>().len();
        }
        if left_out == 0 {
            return None;
        }
        let mut pair = [self.clone(), other.clone()];
        let [a, b] = &mut pair;
        for (a, b) in a.runs.iter_mut().zip(&mut b.runs) {
            let pairs = |run: &Performance| -> BTreeSet<u32> {
                run.sent.iter().map(|sent| sent.completion.message.pair).collect()
            };
            let both: BTreeSet<u32> = pairs(a).intersection(&pairs(b)).copied().collect();
            for run in [a, b] {
                run.sent.retain(|sent| both.contains(&sent.completion.message.pair));
            }
        }
        Some((pair, left_out))
    }

    /// Returns the warnings of all runs, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for warning in self.runs.iter().flat_map(|run| &run.warnings) {
            if !all.contains(&warning.as_str()) {
                all.push(warning);
            }
        }
        all
    }

    /// Returns the numbers that expectations can use, by name; slowdowns are in thousandths. A percentile is that of each seed's
    /// messages. A 99.9th percentile is there only if every seed has it.
    #[must_use]
    pub fn figures(&self) -> BTreeMap<String, Figure> {
        let runs: Vec<BTreeMap<String, i128>> = self.runs.iter().map(Performance::numbers).collect();
        let names: BTreeSet<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
        let mut figures = BTreeMap::new();
        for name in names {
            let values: Vec<Option<i128>> = runs.iter().map(|run| run.get(name).copied()).collect();
            if Performance::is_percentile(name) && values.contains(&None) {
                continue;
            }
            // A drop reason without a drop has no number.
            let values = values.into_iter().map(Option::unwrap_or_default).collect();
            figures.insert(name.clone(), Figure(values));
        }
        figures
    }
}

/// Figures of all programs, which expressions name `label.number`.
#[derive(Clone, Debug, Default)]
pub struct FigureTable {
    figures: BTreeMap<String, BTreeMap<String, Figure>>,
    seeds: usize,
}

impl FigureTable {
    /// Returns the figures of a contest's programs.
    #[must_use]
    pub fn of(results: &Results) -> FigureTable {
        let figures = results.series.iter().map(|s| (s.label.clone(), s.figures())).collect();
        FigureTable { figures, seeds: results.seeds.len() }
    }

    /// Returns a table of these figures, by label and number; each has a value for each of `seeds` seeds.
    #[must_use]
    pub fn new(figures: BTreeMap<String, BTreeMap<String, Figure>>, seeds: usize) -> FigureTable {
        FigureTable { figures, seeds }
    }

    /// Adds the labels of another table; the number of seeds is the smaller one.
    pub fn extend(&mut self, other: FigureTable) {
        self.figures.extend(other.figures);
        self.seeds = self.seeds.min(other.seeds);
    }

    /// Returns the labels, in alphabetical order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.figures.keys().map(String::as_str)
    }

    /// Evaluates an expression with the figures of each seed.
    ///
    /// # Errors
    /// If the expression names a figure that is not there, or cannot be evaluated.
    pub fn value(&self, expr: &Expr) -> Result<Figure, String> {
        (0..self.seeds).map(|place| expr.value(&self.seed(place))).collect::<Result<_, _>>().map(Figure)
    }

    /// Returns left side - right side of an inequality with the figures of each seed.
    pub(crate) fn difference(&self, expr: &Expr) -> Result<Figure, String> {
        (0..self.seeds).map(|place| expr.difference(&self.seed(place))).collect::<Result<_, _>>().map(Figure)
    }

    /// Returns the numbers of one seed, by its place.
    fn seed(&self, place: usize) -> SeedScope<'_> {
        SeedScope { table: self, place }
    }

    /// Returns the figure `label.number`.
    ///
    /// # Errors
    /// If there is no such label or number; the error has those that there are.
    pub fn figure(&self, name: &str) -> Result<Figure, String> {
        let (label, number) = name.split_once('.').unwrap_or((name, ""));
        let of = self.figures.get(label).ok_or_else(|| {
            let known: Vec<&str> = self.figures.keys().map(String::as_str).collect();
            format!("no program is called `{label}`; there are {}", known.join(", "))
        })?;
        // A drop reason that no seed has drops of has no figure: its count is 0. So it is with labels of counted frames.
        let counted = number.starts_with("frames.") && of.contains_key("frames");
        let absent = (number.starts_with("drop.") || counted).then(Figure::default);
        of.get(number).cloned().or(absent).ok_or_else(|| {
            if number.ends_with("p999") {
                return format!(
                    "`{label}` has no number `{number}`: a seed has fewer than 10000 such messages"
                );
            }
            let known: Vec<&str> = of.keys().map(String::as_str).collect();
            format!("`{label}` has no number `{number}`; there are {}", known.join(", "))
        })
    }
}

/// Numbers of all programs with one seed.
struct SeedScope<'a> {
    table: &'a FigureTable,
    place: usize,
}

impl Scope for SeedScope<'_> {
    fn name(&self, name: &str) -> Result<i128, String> {
        Ok(self.table.figure(name)?.0.get(self.place).copied().unwrap_or(0))
    }

    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        match (name, args) {
            ("min", [a, b]) => Ok(*a.min(b)),
            ("max", [a, b]) => Ok(*a.max(b)),
            _ => {
                Err(format!("no function `{name}` of {} number(s); there are min and max of two", args.len()))
            }
        }
    }
}
