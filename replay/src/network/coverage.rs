//! Coverage of programs over the switches of a network.

use super::name_of;
use crate::view::SwitchView;
use sluice_exec::cover::{Coverage, Points};
use sluice_fabric::network::{Network, Placed};
use std::sync::Arc;

/// Points of a program that packets reached, at all switches that run it.
#[derive(Clone, Debug)]
pub struct ProgramCoverage {
    /// Name of the program.
    pub program: String,
    /// Names of the switches; never empty.
    pub switches: Vec<String>,
    /// The points of the program.
    pub points: Points,
    /// The points that packets reached.
    pub coverage: Coverage,
}

/// Takes the coverage counts from the executors of a network.
pub(super) fn take(network: &mut Network, views: &[SwitchView<'_>]) -> Vec<ProgramCoverage> {
    let mut all: Vec<(Arc<Placed>, ProgramCoverage)> = Vec::new();
    for (id, view) in network.ids().zip(views) {
        let Some(points) = &view.checks.points else { continue };
        let placed = &view.setup.placed;
        let at = all.iter().position(|(known, _)| Arc::ptr_eq(known, placed)).unwrap_or_else(|| {
            let (points, coverage) = (points.clone(), Coverage::new(points));
            let program = view.program().name.clone();
            let covered = ProgramCoverage { program, switches: Vec::new(), points, coverage };
            all.push((Arc::clone(placed), covered));
            all.len() - 1
        });
        let name = name_of(network, id).to_owned();
        if let (Some((_, covered)), Some(executor)) = (all.get_mut(at), network.executor_mut(id)) {
            covered.switches.push(name);
            executor.take_coverage(&mut covered.coverage);
        }
    }
    all.into_iter().map(|(_, covered)| covered).collect()
}
