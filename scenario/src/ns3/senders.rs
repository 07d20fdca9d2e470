//! The senders of a config: congestion control as settings of hosts.

use super::Ns3FileError;
use super::config::Config;
use super::paths::HEADERS;
use super::translate::{FRAME, RECORD_BYTES, RECORDS, RECORDS_THERE};
use sluice_asic::units::{Bytes, Duration};

/// Returns the congestion control of CC_MODE, in a network with this longest RTT and greatest BDP.
pub(super) fn congestion(
    config: &Config,
    rtt: Duration,
    bdp: Bytes,
    payload: u64,
) -> Result<String, Ns3FileError> {
    let mode: u32 = config.get("CC_MODE", "a number")?;
    let window = match config.flag("HAS_WIN")? {
        true => format!("window = {{ bytes = \"{bdp}\", scales = {} }}\n", config.flag("VAR_WIN")?),
        false => String::new(),
    };
    let acknowledgement = "carrier = \"acknowledgement\"\n";
    match mode {
        1 => Ok(format!("{acknowledgement}{window}{}", dcqcn(config)?)),
        3 => hpcc(config, rtt, payload),
        7 => {
            let (ai, hai, min) = (config.rate("RATE_AI")?, config.rate("RATE_HAI")?, config.rate("MIN_RATE")?);
            Ok(format!("{window}[timely]\nadditive = \"{ai}\"\nhyper = \"{hai}\"\nmin = \"{min}\"\n"))
        }
        8 => {
            let (ai, min, one_by_g) = (config.rate("DCTCP_RATE_AI")?, config.rate("MIN_RATE")?, one_by_g(config)?);
            Ok(format!("{window}[dctcp]\nadditive = \"{ai}\"\nmin = \"{min}\"\none_by_g = {one_by_g:?}\n"))
        }
        10 => Err(config.error(
            "CC_MODE",
            "10 is HPCC-PINT, whose senders are not among the hosts; 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) and 0 (none) are",
        )),
        // The simulators run no congestion control in other modes.
        _ => Ok(window),
    }
}

/// Returns the bytes of a buffer cell with HPCC, and the bytes that the simulators count for one. Records have 17 bits for a
/// queue, in cells, and the simulators' unit is 80 bytes; here a full packet takes a whole number of cells of about that size.
pub(super) fn record_cell(payload: u64) -> (u64, u64) {
    const UNIT: u64 = 80;
    let (here, there) = (payload + FRAME + RECORD_BYTES, payload + HEADERS + RECORDS_THERE);
    let cells = there.div_ceil(UNIT);
    (here.div_ceil(cells), (there + cells / 2) / cells)
}

/// Returns the factor of the units of HPCC's records, 1, 2, 4 or 8: the greatest up to INT_MULTI.
pub(super) fn multi(config: &Config) -> Result<u32, Ns3FileError> {
    let asked: u32 = config.get("INT_MULTI", "a number above 0")?;
    let multi = [8, 4, 2, 1].into_iter().find(|multi| *multi <= asked);
    multi.ok_or_else(|| config.error("INT_MULTI", "found 0, expected a number above 0"))
}

fn hpcc(config: &Config, rtt: Duration, payload: u64) -> Result<String, Ns3FileError> {
    let target: f64 = config.get("U_TARGET", "a number above 0, up to 4")?;
    let stages: u32 = config.get("MI_THRESH", "a number")?;
    let (ai, min) = (config.rate("RATE_AI")?, config.rate("MIN_RATE")?);
    let cadence = if config.flag("FAST_REACT")? { "combined" } else { "every-round-trip" };
    let multi_rate = config.flag("MULTI_RATE")?;
    let multi = multi(config)?;
    let (_, there) = record_cell(payload);
    Ok(format!(
        "telemetry = {{ port = {RECORDS}, layout = \"ns3\", multi = {multi}, cell = \"{there}B\" }}\n[hpcc]\nbase_rtt = \"{rtt}\"\neta = {target:?}\nrate_ai = \"{ai}\"\n\
         max_stage = {stages}\nmin = \"{min}\"\ncadence = \"{cadence}\"\nmulti_rate = {multi_rate}\n"
    ))
}

/// Returns 1 / g of EWMA_GAIN.
fn one_by_g(config: &Config) -> Result<f64, Ns3FileError> {
    const EXPECTED: &str = "a number above 0, up to 1, such as 0.00390625";
    let gain: f64 = config.get("EWMA_GAIN", EXPECTED)?;
    match gain > 0.0 && gain <= 1.0 {
        true => Ok(1.0 / gain),
        false => {
            let found = config.text("EWMA_GAIN");
            Err(config.error("EWMA_GAIN", format!("found {found}, expected {EXPECTED}")))
        }
    }
}

fn dcqcn(config: &Config) -> Result<String, Ns3FileError> {
    let one_by_g = one_by_g(config)?;
    let stages: u32 = config.get("FAST_RECOVERY_TIMES", "a number")?;
    let clamp = if config.flag("CLAMP_TARGET_RATE")? { "always" } else { "after-raise" };
    let (alpha, cut) =
        (config.time("ALPHA_RESUME_INTERVAL", "us")?, config.time("RATE_DECREASE_INTERVAL", "us")?);
    let rate_timer = config.time("RP_TIMER", "us")?;
    for (key, time) in
        [("ALPHA_RESUME_INTERVAL", alpha), ("RATE_DECREASE_INTERVAL", cut), ("RP_TIMER", rate_timer)]
    {
        if time.is_zero() {
            return Err(config.error(key, "found 0, expected a time above 0 us"));
        }
    }
    let (ai, hai, min) = (config.rate("RATE_AI")?, config.rate("RATE_HAI")?, config.rate("MIN_RATE")?);
    Ok(format!(
        "[reaction]\nform = \"mellanox\"\none_by_g = {one_by_g:?}\nalpha_timer = \"{alpha}\"\nmonitor = \"{cut}\"\n\
         rate_timer = \"{rate_timer}\"\nstages = {stages}\nadditive = \"{ai}\"\nhyper = \"{hai}\"\nmin = \"{min}\"\nclamp = \"{clamp}\"\n"
    ))
}
