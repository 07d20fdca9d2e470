//! Loads of links as CSV.

use super::outcome::Report;
use crate::console::fail::Failure;
use crate::output::rows::CsvText;

/// Returns a row for each link of each group that has a choice, by scheme.
pub(super) fn links(report: &Report<'_>) -> Result<String, Failure> {
    let network = report.network;
    let names = ["scheme", "point", "switch", "group", "link", "to", "weight", "flows", "bytes"];
    let mut table = CsvText::new(&names)?;
    for (name, results) in report.outcomes.iter().filter_map(|o| Some((&o.name, o.results.as_ref().ok()?))) {
        for stats in &results.groups {
            let group = &network.groups[stats.group as usize];
            let switch = &network.switches[group.switch as usize].name;
            let point = &network.points[group.point as usize].0;
            for (&(link, weight), load) in group.links.iter().zip(results.loads(network, stats.group)) {
                let to = &network.switches[network.links[link as usize].to as usize].name;
                let (number, flows, bytes) = (stats.group, load.flows, load.bytes);
                table.row(&[name, point, switch, &number, &link, to, &weight, &flows, &bytes])?;
            }
        }
    }
    table.finish()
}
