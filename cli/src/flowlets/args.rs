//! Arguments of `sluice flowlets`.

use crate::console::numbers::{number, quantity};
use clap::Args;
use sluice_asic::units::{BitRate, Duration};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct FlowletsArgs {
    /// Capture whose flowlets are counted [default: the embedded sample, unless --elastic is given]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Timeouts, the shortest gaps that end a flowlet: a list (50us,500us), or a range in steps of 1, 2, 5
    #[arg(long, default_value = "1us..10ms", value_name = "TIMES", value_parser = timeouts)]
    pub(crate) timeouts: Timeouts,
    /// Programs to send the capture through, to measure in which order packets arrive; a program with a timeout runs
    /// with each of --timeouts
    #[arg(long, value_name = "PROGRAMS", value_delimiter = ',')]
    pub(crate) through: Vec<String>,
    /// Additional delay of each uplink over the uplink before it; for --through
    #[arg(long, default_value = "1us", value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) skew: Duration,
    /// Rate of the uplinks [default: that of the ports]; for --through
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) uplinks: Option<BitRate>,
    /// Program parameter, repeatable; for --through
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = crate::open::target::key_value)]
    pub(crate) sets: Vec<(String, String)>,
    /// Rates of paths over which letflow balances flows, such as 40G,20G
    #[arg(long, value_name = "RATES", value_delimiter = ',', value_parser = quantity::<BitRate>)]
    pub(crate) elastic: Vec<BitRate>,
    /// Weights with which letflow draws a path [default: all equal]
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', requires = "elastic")]
    pub(crate) coin: Vec<u32>,
    /// Number of flows on the paths
    #[arg(long, default_value_t = 100, requires = "elastic", value_parser = number::<u32>(1..))]
    pub(crate) flows: u32,
    /// Packets to send over the paths for each timeout; the first quarter is not counted
    #[arg(long, default_value = "400k", requires = "elastic", value_parser = number::<u64>(..))]
    pub(crate) packets: u64,
    /// Seed of every random number
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(..))]
    pub(crate) seed: u64,
    /// Chip: tofino, tofino2, or a TOML file that changes one of them
    #[arg(long, alias = "target", default_value = "tofino2", value_name = "CHIP")]
    pub(crate) chip: String,
    #[command(flatten)]
    pub(crate) p4: crate::open::p4::P4Args,
    /// Folder for flowlets.json, tables as CSV, plots as SVG and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Timeouts in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeouts(pub(crate) Vec<Duration>);

fn timeouts(text: &str) -> Result<Timeouts, String> {
    let mut list = match text.split_once("..") {
        Some((from, to)) => steps(quantity(from)?, quantity(to)?)?,
        None => text.split(',').map(|t| quantity(t.trim())).collect::<Result<_, _>>()?,
    };
    list.sort_unstable();
    list.dedup();
    if list.first().is_some_and(|t| t.as_ps() == 0) {
        return Err("a timeout of 0 would end a flowlet at every packet; expected 1ps or more".to_owned());
    }
    Ok(Timeouts(list))
}

/// Returns the times between two times in steps of 1, 2, 5 times a power of ten, both ends included.
fn steps(from: Duration, to: Duration) -> Result<Vec<Duration>, String> {
    if from > to {
        return Err(format!("FROM must be at most TO, found {from}..{to}"));
    }
    let mut list = vec![from, to];
    let mut decade = 1u64;
    while decade <= to.as_ps() {
        let inside = [1, 2, 5].map(|step| Duration::from_ps(decade.saturating_mul(step)));
        list.extend(inside.into_iter().filter(|t| *t > from && *t < to));
        let Some(next) = decade.checked_mul(10) else { break };
        decade = next;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_take_steps_and_lists_are_sorted() {
        let texts =
            |text: &str| timeouts(text).unwrap().0.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts("1us..10us"), ["1us", "2us", "5us", "10us"]);
        assert_eq!(texts("300ns..1.5us"), ["300ns", "500ns", "1us", "1.5us"]);
        assert_eq!(texts("500us,50us,500us"), ["50us", "500us"]);
        assert!(timeouts("5us..1us").is_err() && timeouts("0ns,1us").is_err() && timeouts("soon").is_err());
    }
}
