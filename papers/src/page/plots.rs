//! Plots of an experiment's page: its own numbers as lines, published values as points.

use crate::experiment::{Axis, Experiment, PlotSetting};
use crate::found::{Evidence, FoundPoint};
use crate::published::Published;
use sluice_charts::{Plot, PlotLine, PlotStyle, cumulative, thinned};
use sluice_scenario::contest::{Samples, Series, Slowdowns};
use std::collections::BTreeMap;

/// Classes of sizes with equally many messages (model: conweave §4.5).
const CLASSES: usize = 20;
/// Most points of a line.
const POINTS: usize = 2_000;

/// Returns the plots that have points.
pub(super) fn plots(experiment: &Experiment, found: &Evidence, published: &Published) -> Vec<Plot> {
    let all = experiment.plot.iter().map(|setting| {
        let mut plot = Plot::new(&setting.title, &setting.x, &setting.y);
        let points = found.parts.get(&setting.part).map(Vec::as_slice).unwrap_or_default();
        let some: Vec<&FoundPoint> = points.iter().filter(|point| point.is_at(&setting.at)).collect();
        plot.lines = match &setting.over {
            Axis::Key(key) => over_key(setting, key, &some),
            Axis::Sizes => of_series(setting, &some, |series| classes(series, &setting.number)),
            Axis::Time => of_samples(setting, &some, over_time),
            Axis::Share => of_samples(setting, &some, share),
        };
        plot.log_x = setting.over == Axis::Sizes;
        plot.lines.extend(setting.published.iter().flat_map(|prefix| points_of(prefix, published)));
        plot
    });
    all.filter(|plot| !plot.is_empty()).collect()
}

/// Returns true if a place of the horizontal axis is drawn.
fn in_view(setting: &PlotSetting, x: f64) -> bool {
    setting.until.is_none_or(|until| x <= until)
}

/// Returns true if a label is drawn.
fn drawn(setting: &PlotSetting, label: &str) -> bool {
    setting.labels.is_empty() || setting.labels.iter().any(|wanted| wanted == label)
}

/// Draws a number over a key, with a line for each label and each combination of the other keys.
fn over_key(setting: &PlotSetting, key: &str, points: &[&FoundPoint]) -> Vec<PlotLine> {
    let mut lines: BTreeMap<String, PlotLine> = BTreeMap::new();
    for point in points {
        let x = point.axis(key).and_then(leading_number).filter(|x| in_view(setting, *x));
        let Some(x) = x else { continue };
        let others = point.axes.iter().filter(|(name, _)| name != key && !setting.at.contains_key(name));
        let others: String = others.map(|(_, value)| format!(", {value}")).collect();
        for label in point.figures.labels().filter(|label| drawn(setting, label)) {
            let Ok(figure) = point.figures.figure(&format!("{label}.{}", setting.number)) else { continue };
            let estimate = figure.estimate();
            let name = format!("{label}{others}");
            let line = lines.entry(name.clone()).or_insert_with(|| PlotLine {
                name,
                style: PlotStyle::Marked,
                ..PlotLine::default()
            });
            line.points.push((x, estimate.mean / setting.per));
            line.bars.push((estimate.low() / setting.per, estimate.high() / setting.per));
        }
    }
    lines.into_values().collect()
}

/// Returns the number at the beginning of a text, such as 100 of `100G`.
fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Draws a line for each label of each point.
fn of_series(
    setting: &PlotSetting,
    points: &[&FoundPoint],
    line: impl Fn(&Series) -> Vec<(f64, f64)>,
) -> Vec<PlotLine> {
    let mut lines = Vec::new();
    for point in points {
        let title = if points.len() > 1 { format!(", {}", point.title()) } else { String::new() };
        for series in point.results.iter().flat_map(|results| &results.series) {
            if drawn(setting, &series.label) {
                let name = format!("{}{title}", series.label);
                let mut points = line(series);
                points.retain(|(x, _)| in_view(setting, *x));
                lines.push(PlotLine { name, points: thinned(&points, POINTS), ..PlotLine::default() });
            }
        }
    }
    lines
}

/// Returns the middle size and a number of the slowdowns of each class of sizes, of all seeds together.
fn classes(series: &Series, number: &str) -> Vec<(f64, f64)> {
    let sent = series.runs.iter().flat_map(|run| {
        run.sent.iter().map(|sent| (sent.completion.message.bytes, sent.slowdown(run.slowdown)))
    });
    let mut all: Vec<(u64, u64)> = sent.collect();
    all.sort_unstable();
    let size = all.len().div_ceil(CLASSES).max(1);
    let point = |class: &[(u64, u64)]| {
        let of = Slowdowns::of(class.iter().map(|(_, slowdown)| *slowdown).collect());
        let value = match number {
            "avg" => of.avg,
            "p50" => of.p50,
            "p95" => of.p95,
            _ => of.p99,
        };
        (class[class.len() / 2].0 as f64, value as f64 / 1000.0)
    };
    all.chunks(size).map(point).collect()
}

/// Draws samples of the first seed's run of each label.
fn of_samples(
    setting: &PlotSetting,
    points: &[&FoundPoint],
    line: impl Fn(&Samples, &str) -> Vec<(f64, f64)>,
) -> Vec<PlotLine> {
    of_series(setting, points, |series| {
        let samples = series.runs.first().and_then(|run| run.samples.as_ref());
        let scaled = |(x, y): (f64, f64)| match setting.over {
            Axis::Share => (x / setting.per, y),
            _ => (x, y / setting.per),
        };
        samples
            .map(|samples| line(samples, &setting.number))
            .unwrap_or_default()
            .into_iter()
            .map(scaled)
            .collect()
    })
}

/// Returns the samples of a number over time in microseconds: bytes, or Mb/s of what hosts got.
fn over_time(samples: &Samples, number: &str) -> Vec<(f64, f64)> {
    let every = samples.every.as_ps() as f64 / 1e6;
    let most = |n: usize, of: &dyn Fn(usize) -> u64| {
        (0..samples.switches.len())
            .map(of)
            .max()
            .map_or((0.0, 0.0), |most| ((n + 1) as f64 * every, most as f64))
    };
    let at = |cells: &[u32], n: usize, cell: u64| u64::from(cells.get(n).copied().unwrap_or(0)) * cell;
    let point = |n: usize| match number {
        "buffer" => most(n, &|s| at(&samples.switches[s].buffer, n, samples.switches[s].cell)),
        "deepest-queue" => most(n, &|s| at(&samples.switches[s].deepest, n, samples.switches[s].cell)),
        _ => ((n + 1) as f64 * every, samples.delivered[n] as f64 * 8.0 / every),
    };
    (0..samples.len()).map(point).collect()
}

/// Returns the distribution of samples: the share of them, in percent, that are no larger.
fn share(samples: &Samples, number: &str) -> Vec<(f64, f64)> {
    let mut values: Vec<f64> = match number {
        "imbalance" => samples.imbalances(0..samples.len()).iter().map(|value| *value as f64).collect(),
        "reorder-queues" => {
            samples.switches.iter().flat_map(|s| s.reordering.iter().map(|n| f64::from(*n))).collect()
        }
        "reorder-memory" => {
            let bytes = |s: &sluice_scenario::contest::SwitchSamples| {
                let cell = s.cell as f64;
                s.reorder_cells.iter().map(|cells| f64::from(*cells) * cell).collect::<Vec<f64>>()
            };
            samples.switches.iter().flat_map(bytes).collect()
        }
        other => over_time(samples, other).into_iter().map(|(_, y)| y).collect(),
    };
    values.sort_by(f64::total_cmp);
    cumulative(&values)
}

/// Returns the published values whose ids begin with `prefix` as points, a line for each part of the id before the last.
fn points_of(prefix: &str, published: &Published) -> Vec<PlotLine> {
    let mut lines: BTreeMap<String, PlotLine> = BTreeMap::new();
    for value in published.value.iter().filter(|value| value.id.starts_with(prefix)) {
        let (Some(x), Some(y)) = (value.x, value.value) else { continue };
        let name = value.id.rsplit_once('/').map_or(value.id.as_str(), |(name, _)| name);
        let name = format!("published: {name} ({})", value.read.word());
        let line = lines.entry(name.clone()).or_insert_with(|| PlotLine {
            name,
            style: PlotStyle::Dots,
            ..PlotLine::default()
        });
        line.points.push((x, y));
        line.bars.push((y - value.precision, y + value.precision));
    }
    for line in lines.values_mut() {
        let mut all: Vec<_> = line.points.drain(..).zip(line.bars.drain(..)).collect();
        all.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
        (line.points, line.bars) = all.into_iter().unzip();
    }
    lines.into_values().collect()
}
