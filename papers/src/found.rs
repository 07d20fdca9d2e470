//! The numbers that the parts of an experiment gave.

use sluice_scenario::Outcome;
use sluice_scenario::contest::{FigureTable, Results};
use std::collections::BTreeMap;

/// Everything that an experiment found.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Points of each part, by the part's name.
    pub parts: BTreeMap<String, Vec<FoundPoint>>,
    /// Results of the scenarios.
    pub outcomes: Vec<Outcome>,
}

/// One combination of the keys that vary in a part.
#[derive(Clone, Debug, Default)]
pub struct FoundPoint {
    /// Keys that vary, with their values as texts.
    pub axes: Vec<(String, String)>,
    /// Figures of all labels.
    pub figures: FigureTable,
    /// Results of a contest; hashing has none.
    pub results: Option<Results>,
    /// Mistake of the run, such as a deadlock that nobody expects, whatever the paper says.
    pub error: Option<String>,
}

impl FoundPoint {
    /// Returns `KEY = VALUE` for each axis, separated by commas; the last part of a path stands for the path.
    #[must_use]
    pub fn title(&self) -> String {
        let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let pairs: Vec<String> =
            self.axes.iter().map(|(key, value)| format!("{} = {value}", name(key))).collect();
        pairs.join(", ")
    }

    /// Returns the value of an axis.
    #[must_use]
    pub fn axis(&self, key: &str) -> Option<&str> {
        self.axes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns true if the axes have these values.
    #[must_use]
    pub fn is_at(&self, at: &BTreeMap<String, toml::Value>) -> bool {
        at.iter().all(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.axis(key) == Some(text.as_str())
        })
    }
}

impl Evidence {
    /// Adds what a contest or a measurement found. If its part has a point with the same axes already, both are one point with
    /// the labels of both.
    pub fn add(&mut self, part: &str, point: FoundPoint) {
        let points = self.parts.entry(part.to_owned()).or_default();
        let Some(known) = points.iter_mut().find(|known| known.axes == point.axes) else {
            points.push(point);
            return;
        };
        known.figures.extend(point.figures);
        match (&mut known.results, point.results) {
            (Some(known), Some(more)) => known.series.extend(more.series),
            (known, more) => *known = known.take().or(more),
        }
        known.error = known.error.take().or(point.error);
    }

    /// Returns the points of a part at which axes have these values.
    ///
    /// # Errors
    /// If no point has them.
    pub fn at(&self, part: &str, at: &BTreeMap<String, toml::Value>) -> Result<Vec<&FoundPoint>, String> {
        let points = self.parts.get(part).map(Vec::as_slice).unwrap_or_default();
        let some: Vec<&FoundPoint> = points.iter().filter(|point| point.is_at(at)).collect();
        if some.is_empty() {
            let wanted: Vec<String> = at.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let known: Vec<String> = points.iter().map(FoundPoint::title).collect();
            return Err(format!("no run has {}; there are {}", wanted.join(", "), known.join("; ")));
        }
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_scenario::Expr;
    use sluice_scenario::contest::Figure;

    #[test]
    fn points_with_the_same_axes_are_one() {
        let point = |label: &str, load: &str, value: i128| {
            let figures = BTreeMap::from([("avg".to_owned(), Figure(vec![value]))]);
            let axes = vec![("load".to_owned(), load.to_owned())];
            let figures = FigureTable::new([(label.to_owned(), figures)].into(), 1);
            FoundPoint { axes, figures, ..FoundPoint::default() }
        };
        let mut found = Evidence::default();
        for (label, load, value) in [("a", "30", 1), ("a", "50", 2), ("b", "30", 10), ("b", "50", 20)] {
            found.add("", point(label, load, value));
        }
        let sum = Expr::parse("a.avg + b.avg").unwrap();
        let sums: Vec<i128> =
            found.parts[""].iter().map(|point| point.figures.value(&sum).unwrap().0[0]).collect();
        assert_eq!(sums, [11, 22]);
    }
}
