//! `--hot-flows`: the control plane of `conweave`'s flow tables, for the switches that run it.

use crate::args::ReplayArgs;
use crate::fail::Failure;
use serde_json::Value;
use sluice_catalogue::position::Position;
use sluice_fabric::network::SwitchSetup;
use sluice_replay::HotFlowAgent;
use std::collections::BTreeMap;

/// The program that has hot flows.
const PROGRAM: &str = "conweave";

/// Returns the control plane of one switch, if it is asked for.
pub(super) fn of_switch(args: &ReplayArgs, switch: &SwitchSetup) -> Result<Option<HotFlowAgent>, Failure> {
    let Some(options) = args.hot_flows else { return Ok(None) };
    let program = &switch.placed.program;
    if program.name != PROGRAM {
        let text = format!("`{}` has no flow table of hot flows", program.name);
        return Err(Failure::with_help(text, "hot flows are those of `sluice replay conweave`"));
    }
    Ok(Some(HotFlowAgent::of_one(options, program)?))
}

/// Returns the control plane of a network's ToRs, if it is asked for.
pub(super) fn of_network(
    args: &ReplayArgs,
    switches: &[SwitchSetup],
    positions: &[Position],
) -> Result<Option<HotFlowAgent>, Failure> {
    let Some(options) = args.hot_flows else { return Ok(None) };
    let tor = switches.iter().map(|s| &s.placed.program).find(|p| p.name == PROGRAM);
    let help = "hot flows are those of `sluice replay conweave --topology two-tor`";
    let program = tor.ok_or_else(|| Failure::with_help("no switch runs `conweave`", help))?;
    let hosts = positions.first().into_iter().flat_map(|p| &p.hosts);
    let tor_of: BTreeMap<u32, usize> = hosts.map(|(n, a)| (a.to_bits(), *n as usize)).collect();
    Ok(Some(HotFlowAgent::new(options, program, tor_of)?))
}

/// Returns the line of the `hot_flows` key for readers.
pub(super) fn text(hot: &Value) -> Option<String> {
    let percent = hot["hit_percent"].as_f64()?;
    let n = |key: &str| hot[key].as_u64().unwrap_or(0);
    Some(format!(
        "hot flows: {} of {} rows in use, {percent:.1} % of {} DATA under control, {} flows found no row, {} operations",
        n("installed"),
        n("rows"),
        n("data"),
        n("refused"),
        n("operations")
    ))
}
