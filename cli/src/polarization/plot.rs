//! Plots like the figures of the paper.

use super::draws::Draws;
use super::outcome::Report;
use sluice_charts::{LineChart, Style};

/// Draws the share of groups at or below a variation, by scheme; all draws of a scheme are one line.
pub(super) fn cdf(report: &Report<'_>) -> LineChart {
    let mut plot = LineChart {
        top: Some(1.0),
        ..LineChart::new("Variation of links over groups", "CV", "share of groups")
    };
    for draws in Draws::of(&report.outcomes) {
        let cdf = draws.cdf();
        // Two hundred points draw any curve of this size.
        let step = (cdf.len() / 200).max(1);
        let share = |i: usize| (i + 1) as f64 / cdf.len() as f64;
        let mut points: Vec<(f64, f64)> = (0..cdf.len()).step_by(step).map(|i| (cdf[i], share(i))).collect();
        points.extend(cdf.last().map(|cv| (*cv, 1.0)));
        plot.add(&draws.name, points, Style::Line);
    }
    plot
}

/// Draws the flows on the links of each scheme's least even group (of its worst draw), in ascending order, over their
/// mean.
pub(super) fn links(report: &Report<'_>) -> LineChart {
    let mut plot = LineChart::new("Links of the least even group", "link, least loaded first", "load / mean");
    for draws in Draws::of(&report.outcomes) {
        let Some(worst) = draws.worst() else { continue };
        let mut loads = worst.worst_links.clone();
        loads.sort_unstable();
        let mean = (loads.iter().sum::<u64>() as f64 / loads.len().max(1) as f64).max(1.0);
        let points = (1..).zip(&loads).map(|(i, load)| (f64::from(i), *load as f64 / mean)).collect();
        plot.add(&draws.name, points, Style::Marked);
    }
    plot
}

/// Draws the remaining variation over the size of coprime groups.
pub(super) fn sizes(report: &Report<'_>) -> LineChart {
    let mut plot = LineChart::new("Coprime group size", "members", "CV, noise taken off");
    let points: Vec<(f64, f64)> = report.sizes.iter().map(|s| (f64::from(s.members), s.cv)).collect();
    plot.add("coprime", points, Style::Marked);
    plot
}
