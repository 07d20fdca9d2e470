//! Messages of a contest as lists of flows.

use super::prepared::{ContestSetup, RunError, plan, prepare};
use crate::contest::file::contest::Contest;
use crate::contest::workload::flow_list;
use sluice_asic::units::Time;
use sluice_fabric::deploy::Files;

/// Messages of a workload with one seed, as a [list of flows](crate::contest::FlowList) in comma-separated values.
#[derive(Clone, Debug)]
pub struct WrittenFlows {
    /// Name of the workload.
    pub workload: String,
    /// The seed.
    pub seed: u64,
    /// The list.
    pub text: String,
}

/// Returns the messages of all workloads with all seeds, without running them.
///
/// # Errors
/// If the first program cannot run in the network, or a workload does not fit it.
pub fn write_flows<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
) -> Result<Vec<WrittenFlows>, RunError<F::Error>> {
    let Some(program) = contest.program.first() else { return Ok(Vec::new()) };
    let ready = prepare(contest, setup, program.get_ref(), contest.line(program.span().start))?;
    let mut all = Vec::new();
    for seed in contest.seeds() {
        let (plan, hosts) = plan(contest, setup, &ready, seed)?;
        if !plan.requests.is_empty() {
            return Err(RunError::Setting(
                "messages of sk-rdma workloads wait in send queues, which a list of flows does not have; leave these \
                 workloads out to write the others"
                    .into(),
            ));
        }
        for (number, workload) in (0..).zip(&contest.workload.list) {
            let begin = Time::ORIGIN + workload.begin;
            let text =
                flow_list::csv::written(&plan, number, begin, &hosts, &contest.hosts.transport_names());
            all.push(WrittenFlows { workload: workload.name.clone(), seed, text });
        }
    }
    Ok(all)
}
