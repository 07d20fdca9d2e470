//! How each switch splits its MACs into ports, so that every link runs at its own rate.
//!
//! A MAC's lanes are split into ports of one speed; such a port also runs at the chip's other speeds that need no more
//! lanes. All MACs of a switch are split alike.

use crate::topology::{Blueprint, TopologyError};
use sluice_asic::chip::{ChipSpec, PortSpeed};
use sluice_asic::port::{PortError, PortMap};
use sluice_asic::units::BitRate;

/// Rate of a link at a switch, with its line in the topology's file.
type Wanted = (Option<BitRate>, usize);

/// Returns the port map of every switch. With `speed`, all MACs are split into ports of this speed.
///
/// # Errors
/// If no port of the chip, or none of this speed, runs at a link's rate.
pub(super) fn of_all(
    plan: &Blueprint,
    chip: &ChipSpec,
    speed: Option<BitRate>,
) -> Result<Vec<PortMap>, MapError> {
    let mut wanted: Vec<Vec<Wanted>> = vec![Vec::new(); plan.switches.len()];
    for used in plan.uses() {
        if let Some(list) = wanted.get_mut(used.switch as usize) {
            list.push((used.rate, used.line));
        }
    }
    let usual = match speed {
        Some(speed) => PortMap::new(chip, speed)?,
        None => PortMap::default_for(chip)?,
    };
    let mut maps: Vec<PortMap> = Vec::with_capacity(wanted.len());
    for (switch, wanted) in (0..).zip(&wanted) {
        let map = match speed {
            Some(_) => usual.clone(),
            None => split(chip, wanted, &maps, &usual)?,
        };
        check(plan, chip, switch, wanted, &map)?;
        maps.push(map);
    }
    Ok(maps)
}

/// Reason why a switch has no port map.
#[derive(Debug)]
pub(super) enum MapError {
    /// The chip does not have the speed.
    Ports(PortError),
    /// A link has a rate that the switch does not have.
    Topology(TopologyError),
}

impl From<PortError> for MapError {
    fn from(source: PortError) -> Self {
        MapError::Ports(source)
    }
}

/// Returns the lanes of the slowest split at which a port can run at `rate`; `None` if the chip does not have the rate.
fn lanes(chip: &ChipSpec, rate: BitRate) -> Option<u32> {
    let of = |known: &&PortSpeed| known.speed == rate;
    chip.ports.speeds.iter().filter(of).map(|known| known.lanes).min()
}

/// Returns the usual map; or, if the switch needs more ports and all its links have rates, the map with as few lanes for
/// a port as give it ports enough.
fn split(
    chip: &ChipSpec,
    wanted: &[Wanted],
    known: &[PortMap],
    usual: &PortMap,
) -> Result<PortMap, PortError> {
    let enough = |map: &PortMap| map.front_ports().len() >= wanted.len();
    let most = wanted.iter().map(|(rate, _)| rate.and_then(|rate| lanes(chip, rate))).max();
    let all = wanted.iter().all(|(rate, _)| rate.is_some());
    let Some(Some(most)) = most.filter(|_| all && !enough(usual)) else { return Ok(usual.clone()) };
    let mut finer: Vec<PortSpeed> = chip.ports.speeds.iter().filter(|s| s.lanes >= most).copied().collect();
    finer.sort_by_key(|speed| (std::cmp::Reverse(speed.lanes), std::cmp::Reverse(speed.speed)));
    for speed in finer {
        let map = match known.iter().find(|map| map.speed() == speed.speed) {
            Some(map) => map.clone(),
            None => PortMap::new(chip, speed.speed)?,
        };
        if enough(&map) {
            return Ok(map);
        }
    }
    Ok(usual.clone())
}

/// Checks that ports of a switch can run at the rates of its links.
fn check(
    plan: &Blueprint,
    chip: &ChipSpec,
    switch: u32,
    wanted: &[Wanted],
    map: &PortMap,
) -> Result<(), MapError> {
    let own = map.front_ports().first().map_or(0, |port| u32::from(port.lanes));
    let list = |lanes: u32| {
        let mut speeds: Vec<BitRate> =
            chip.ports.speeds.iter().filter(|s| s.lanes <= lanes).map(|s| s.speed).collect();
        speeds.sort_unstable();
        speeds.dedup();
        speeds.iter().rev().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    for (rate, line) in wanted {
        let Some(rate) = *rate else { continue };
        let name = || plan.switch_name(switch);
        let reason = match lanes(chip, rate) {
            Some(lanes) if lanes <= own => continue,
            Some(_) => {
                let (speed, valid) = (map.speed(), list(own));
                format!(
                    "switch `{}`: a link of {rate} at a port with the lanes of {speed}, which runs at {valid}; leave out the \
                     port speed, so that it follows from the rates of the links, or choose a greater one",
                    name()
                )
            }
            None => {
                let (chip, valid) = (&chip.name, list(u32::MAX));
                format!(
                    "switch `{}`: a link of {rate}; ports of {chip} run at {valid}: choose one of these rates",
                    name()
                )
            }
        };
        return Err(MapError::Topology(TopologyError::Link { place: plan.place(*line), reason }));
    }
    Ok(())
}
