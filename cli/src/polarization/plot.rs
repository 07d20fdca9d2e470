//! Plots as SVG. What may not live here: what is plotted elsewhere.

use super::Report;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Left, right, top and bottom margins; the legend stands to the right.
const MARGINS: [f64; 4] = [60.0, 150.0, 30.0, 50.0];
const COLOURS: [&str; 8] =
    ["#1f77b4", "#d62728", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#17becf", "#7f7f7f"];

/// A plot under construction: axes from 0 to the given ends.
struct Plot {
    svg: String,
    ends: [f64; 2],
    series: usize,
}

impl Plot {
    fn new(title: &str, labels: [&str; 2], ends: [f64; 2]) -> Plot {
        let mut plot = Plot { svg: String::new(), ends, series: 0 };
        let s = &mut plot.svg;
        let _ = writeln!(
            s,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
        );
        plot.label(WIDTH / 2.0 - 50.0, 18.0, "middle", title);
        let [right, top] = [plot.x(ends[0]), plot.y(ends[1])];
        let (left, bottom) = (plot.x(0.0), plot.y(0.0));
        plot.line(&[(left, top), (left, bottom), (right, bottom)], "black");
        for tick in 0..=5 {
            let share = f64::from(tick) / 5.0;
            let (x, y) = (ends[0] * share, ends[1] * share);
            let (px, py) = (plot.x(x), plot.y(y));
            plot.label(px, bottom + 16.0, "middle", &short(x));
            plot.label(left - 6.0, py + 4.0, "end", &short(y));
            plot.line(&[(left, py), (right, py)], "#dddddd");
        }
        plot.label((left + right) / 2.0, bottom + 36.0, "middle", labels[0]);
        plot.label(left, top - 8.0, "middle", labels[1]);
        plot
    }

    fn x(&self, value: f64) -> f64 {
        MARGINS[0] + value / self.ends[0] * (WIDTH - MARGINS[0] - MARGINS[1])
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - MARGINS[3] - value / self.ends[1] * (HEIGHT - MARGINS[2] - MARGINS[3])
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    fn line(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
            points.join(" ")
        );
    }

    /// A curve with its name in the legend, marks on its points if wanted.
    fn series(&mut self, name: &str, points: &[(f64, f64)], marks: bool) {
        let colour = COLOURS[self.series % COLOURS.len()];
        let placed: Vec<(f64, f64)> = points.iter().map(|(x, y)| (self.x(*x), self.y(*y))).collect();
        self.line(&placed, colour);
        if marks {
            for (x, y) in &placed {
                let _ = writeln!(self.svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
        }
        let y = MARGINS[2] + 16.0 * self.series as f64 + 8.0;
        let x = WIDTH - MARGINS[1] + 12.0;
        self.line(&[(x, y - 4.0), (x + 16.0, y - 4.0)], colour);
        self.label(x + 22.0, y, "start", name);
        self.series += 1;
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// A number without needless zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A round number of at least `value`.
fn round_up(value: f64) -> f64 {
    let step = [0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0].into_iter().find(|s| value <= *s);
    step.unwrap_or(value.ceil())
}

/// Share of groups at or below a variation, by scheme.
pub(super) fn cdf(report: &Report<'_>) -> String {
    let curves = || report.outcomes.iter().filter_map(|o| Some((&o.name, o.results.as_ref().ok()?.cdf())));
    let most = curves().filter_map(|(_, cdf)| cdf.last().copied()).fold(0.05, f64::max);
    let mut plot =
        Plot::new("Variation of links over groups", ["CV", "share of groups"], [round_up(most), 1.0]);
    for (name, cdf) in curves() {
        // Two hundred points draw any curve of this size.
        let step = (cdf.len() / 200).max(1);
        let share = |i: usize| (i + 1) as f64 / cdf.len() as f64;
        let mut points: Vec<(f64, f64)> = (0..cdf.len()).step_by(step).map(|i| (cdf[i], share(i))).collect();
        points.extend(cdf.last().map(|cv| (*cv, 1.0)));
        plot.series(name, &points, false);
    }
    plot.finish()
}

/// Flows on the links of each scheme's least even group, in ascending order, over their mean.
pub(super) fn links(report: &Report<'_>) -> String {
    let curves: Vec<(&String, Vec<f64>)> = report
        .outcomes
        .iter()
        .filter_map(|o| Some((&o.name, o.results.as_ref().ok()?)))
        .map(|(name, r)| {
            let mut loads = r.worst_links.clone();
            loads.sort_unstable();
            let mean = loads.iter().sum::<u64>() as f64 / loads.len().max(1) as f64;
            (name, loads.iter().map(|n| *n as f64 / mean.max(1.0)).collect())
        })
        .collect();
    let most = curves.iter().flat_map(|(_, c)| c.iter().copied()).fold(1.0, f64::max);
    let count = curves.iter().map(|(_, c)| c.len()).max().unwrap_or(1).max(1);
    let title = "Links of the least even group";
    let mut plot =
        Plot::new(title, ["link, least loaded first", "load / mean"], [count as f64, round_up(most)]);
    for (name, loads) in curves {
        let points: Vec<(f64, f64)> = (1..).zip(&loads).map(|(i, load)| (f64::from(i), *load)).collect();
        plot.series(name, &points, true);
    }
    plot.finish()
}

/// Variation that is left by the size of coprime groups.
pub(super) fn sizes(report: &Report<'_>) -> String {
    let most = report.sizes.iter().map(|(_, cv)| *cv).fold(0.0, f64::max);
    let widest = report.sizes.iter().map(|(q, _)| f64::from(*q)).fold(1.0, f64::max);
    let mut plot =
        Plot::new("Coprime group size", ["members", "CV, noise taken off"], [widest, round_up(most)]);
    let points: Vec<(f64, f64)> = report.sizes.iter().map(|(q, cv)| (f64::from(*q), *cv)).collect();
    plot.series("coprime", &points, true);
    plot.finish()
}
