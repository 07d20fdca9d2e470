//! One HTML page about a sweep: main numbers over its keys, and a table of all contests.

use super::page::COLUMNS;
use super::tables::axes;
use super::{Finished, PAGES};
use maud::{Markup, html};
use sluice_charts::{Page, Plot, PlotLine, PlotStyle, ZOOM};
use sluice_scenario::contest::Figure;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers that are drawn: name, heading, and divisor of the drawn value.
const DRAWN: [(&str, &str, f64); 8] = [
    ("avg", "mean slowdown", 1000.0),
    ("p99", "slowdown at 99 %", 1000.0),
    ("small_p99", "slowdown of small messages at 99 %", 1000.0),
    ("goodput_mbps", "goodput, Gb/s", 1000.0),
    ("queue_max_bytes", "deepest queue, bytes", 1.0),
    ("pauses", "PFC frames", 1.0),
    ("marked", "marked packets", 1.0),
    ("resent", "packets sent again", 1.0),
];

/// Returns the page. If it `links`, the page of each contest is beside it.
pub(super) fn page(all: &[Finished], links: bool) -> String {
    let title = all.first().map_or("", |first| first.contest.name.as_str());
    let runs: usize = all.iter().flat_map(|f| &f.results.series).map(|series| series.runs.len()).sum();
    let failed = all.iter().filter(|finished| !finished.verdicts.hold()).count();
    let header = html! {
        p.note { (all.len()) " contests, " (runs) " runs; keys that vary: " (axes(all).join(", ")) }
        @if failed > 0 { p.verdict { (failed) " contests have an expectation that does not hold" } }
    };
    let page = Page::new(title).script(ZOOM).header(header);
    let page = match numeric(all) {
        Some(key) => {
            let plots = html! {
                p.note { "Bars are 95 % intervals over the seeds." }
                div.plots { @for plot in plots(all, &key) { (plot) } }
            };
            page.section("plots", &format!("Over {key}"), &plots)
        }
        None => page,
    };
    page.section("contests", "Contests", &table(all, links)).html()
}

/// Returns the key with the most different values among those whose values are all numbers.
fn numeric(all: &[Finished]) -> Option<String> {
    let values = |key: &String| -> Option<BTreeSet<String>> {
        let of = |finished: &Finished| {
            finished.axes.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let values: BTreeSet<String> = all.iter().filter_map(of).collect();
        values.iter().all(|value| number(value).is_some()).then_some(values)
    };
    let counted = axes(all).into_iter().filter_map(|key| Some((values(&key)?.len(), key)));
    // Of keys with equally many values, the last one.
    counted.max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 1).map(|(_, key)| key)
}

/// Returns the number at the beginning of a text whose rest is a unit, such as 100 of `100G`.
fn number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    digits.parse().ok().filter(|_| unit.len() <= 4 && unit.chars().all(char::is_alphabetic))
}

/// Values of a key, each with a program's figures there.
type Points = Vec<(f64, BTreeMap<String, Figure>)>;

/// Draws the main numbers over a key, with a line for each program and each combination of the other keys.
fn plots(all: &[Finished], key: &str) -> Vec<Plot> {
    let mut plots: Vec<Plot> = DRAWN.iter().map(|(_, title, _)| Plot::new(title, key, title)).collect();
    let mut lines: BTreeMap<String, Points> = BTreeMap::new();
    for finished in all {
        let others = finished.axes.iter().filter(|(name, _)| name != key);
        let others: String = others.map(|(name, value)| format!(", {name} {value}")).collect();
        let x = finished.axes.iter().find(|(name, _)| name == key).and_then(|(_, value)| number(value));
        for series in &finished.results.series {
            let Some(x) = x else { continue };
            lines.entry(format!("{}{others}", series.label)).or_default().push((x, series.figures()));
        }
    }
    for (name, mut points) in lines {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (plot, (number, _, divisor)) in plots.iter_mut().zip(DRAWN) {
            let mut line = PlotLine { name: name.clone(), style: PlotStyle::Marked, ..PlotLine::default() };
            for (x, figures) in &points {
                let Some(estimate) = figures.get(number).map(Figure::estimate) else { continue };
                line.points.push((*x, estimate.mean / divisor));
                line.bars.push((estimate.low() / divisor, estimate.high() / divisor));
            }
            plot.lines.push(line);
        }
    }
    plots.retain(|plot| plot.lines.iter().any(|line| line.points.iter().any(|point| point.1 > 0.0)));
    plots
}

fn table(all: &[Finished], links: bool) -> Markup {
    let keys = axes(all);
    html! {
        div.wide { table {
            thead { tr {
                th { "contest" }
                @for key in &keys { th { (key) } }
                th.l { "program" }
                @for (_, heading, _) in COLUMNS { th { (heading) } }
                th { "holds" }
            } }
            tbody {
                @for (number, finished) in all.iter().enumerate() {
                    @for series in &finished.results.series {
                        @let figures = series.figures();
                        tr {
                            td { @if links && number < PAGES { a href=(format!("{number}.contest.html")) { (number) } }
                            @else { (number) } }
                            @for key in &keys {
                                td { (finished.axes.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.as_str())) }
                            }
                            th.l { (series.label) }
                            @for (name, _, write) in COLUMNS {
                                td { (figures.get(name).map_or_else(|| "-".to_owned(), write)) }
                            }
                            td { (if finished.verdicts.hold() { "yes" } else { "NO" }) }
                        }
                    }
                }
            }
        } }
        p.note { "Mean over the seeds ± half of the 95 % interval." }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn values_with_units_are_numbers() {
        assert_eq!(["50", "100G", "1.5us"].map(number), [Some(50.0), Some(100.0), Some(1.5)]);
        assert_eq!(["ecmp", "", "leaf-spine:leaves=2", "1:2"].map(number), [None; 4]);
    }
}
