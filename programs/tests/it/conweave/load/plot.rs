//! A chart of recirculations over timer packets: measurements as dots, the law as a line.

use super::alone::{Laps, law};
use sluice_charts::{LineChart, Style};

/// Draws the measurements over the law, as a series for each speed of the hosts' ports.
pub(super) fn svg(all: &[Laps], alone: u64) -> String {
    let mut chart =
        LineChart::new("Timer packets of a ToR", "timer packets that recirculate at once", "lap, ns");
    for gbps in [400, 100, 50] {
        let dots = all.iter().filter(|l| l.gbps() == gbps).map(|l| (l.timers as f64, l.lap as f64));
        chart.add(&format!("hosts of {gbps}G"), dots.collect(), Style::Points);
    }
    let law = (0u32..=800).step_by(10).map(|n| (f64::from(n), law(alone, n.into()) as f64));
    chart.add("law", law.collect(), Style::Dashed);
    chart.svg().unwrap()
}
