//! What a network is made of, and why one cannot be made.

use super::link::{LinkChange, Probability};
use super::{LinkId, SwitchId, Way};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, FrontPort, PortError, PortMap};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_control::{ControlError, ControlOp, ControlState};
use sluice_exec::engine::LowerError;
use sluice_ir::Program;
use sluice_place::{NoFit, Options, Placement, place_with};
use sluice_switch::{SwitchConfig, SwitchError};
use std::sync::Arc;
use thiserror::Error;

/// A program with its place on a chip; switches share it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The program.
    pub program: Program,
    /// Where everything of it is.
    pub placement: Placement,
}

impl Placed {
    /// Places a program on a chip.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn new(program: Program, chip: &ChipSpec) -> Result<Arc<Placed>, Box<NoFit>> {
        Placed::with(program, chip, &Options::default())
    }

    /// The same, striving for something else, or doing without optimisations.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn with(program: Program, chip: &ChipSpec, options: &Options) -> Result<Arc<Placed>, Box<NoFit>> {
        let placement = place_with(&program, chip, options, &mut |_, _| {}).map_err(Box::new)?;
        Ok(Arc::new(Placed { program, placement }))
    }
}

/// A switch before the run.
#[derive(Clone, Debug)]
pub struct SwitchSetup {
    /// Name, unlike that of all others.
    pub name: String,
    /// What it runs.
    pub placed: Arc<Placed>,
    /// Its ports.
    pub ports: PortMap,
    /// Its entries at first.
    pub control: ControlState,
    /// Everything else; the network sets `device`, and the speeds of ports with links.
    pub config: SwitchConfig,
}

impl SwitchSetup {
    /// A switch with the chip's default ports and the program's own entries.
    ///
    /// # Errors
    /// When the chip has no such ports.
    pub fn new(name: impl Into<String>, placed: &Arc<Placed>) -> Result<SwitchSetup, PortError> {
        let ports = PortMap::default_for(&placed.placement.chip)?;
        let control = ControlState::new(&placed.program);
        let config = SwitchConfig::default();
        Ok(SwitchSetup { name: name.into(), placed: Arc::clone(placed), ports, control, config })
    }

    /// Changes the entries that it starts with.
    ///
    /// # Errors
    /// When the operation does not fit the program or what was set before.
    pub fn apply(&mut self, ops: impl IntoIterator<Item = ControlOp>) -> Result<(), Box<ControlError>> {
        let program = &self.placed.program;
        ops.into_iter().try_for_each(|op| match self.control.apply(program, op) {
            Ok(_) => Ok(()),
            Err(e) => Err(Box::new(e)),
        })
    }

    /// dev_port of a front-panel port.
    #[must_use]
    pub fn front(&self, port: u16) -> Option<DevPort> {
        self.ports.front(FrontPort(port)).map(|p| p.dev_port)
    }
}

/// One end of a link: a front-panel port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// The switch.
    pub switch: SwitchId,
    /// Its front-panel port.
    pub port: FrontPort,
}

impl End {
    /// A front-panel port of a switch.
    #[must_use]
    pub const fn new(switch: SwitchId, port: u16) -> End {
        End { switch, port: FrontPort(port) }
    }
}

/// A change of a link at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEvent {
    /// When.
    pub time: Time,
    /// In which direction; both, if none is named.
    pub way: Option<Way>,
    /// What.
    pub change: LinkChange,
}

/// A link before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// Both ends; [`Way::Forth`] is from the first to the second.
    pub ends: [End; 2],
    /// Bit rate: both ports run at it. If it is not given they must run at the same rate.
    pub rate: Option<BitRate>,
    /// Propagation delay, the same both ways.
    pub delay: Duration,
    /// What happens to it.
    pub script: Vec<LinkEvent>,
}

impl LinkSetup {
    /// A link without faults.
    #[must_use]
    pub const fn new(a: End, b: End, delay: Duration) -> LinkSetup {
        LinkSetup { ends: [a, b], rate: None, delay, script: Vec::new() }
    }

    /// The same at this bit rate.
    #[must_use]
    pub fn rate(mut self, rate: BitRate) -> LinkSetup {
        self.rate = Some(rate);
        self
    }

    /// The same with a change of both directions.
    #[must_use]
    pub fn at(mut self, time: Time, change: LinkChange) -> LinkSetup {
        self.script.push(LinkEvent { time, way: None, change });
        self
    }

    /// The same with a change of one direction.
    #[must_use]
    pub fn one_way(mut self, way: Way, time: Time, change: LinkChange) -> LinkSetup {
        self.script.push(LinkEvent { time, way: Some(way), change });
        self
    }

    /// The same losing frames from the beginning, both ways.
    #[must_use]
    pub fn loss(self, loss: Probability) -> LinkSetup {
        self.at(Time::ORIGIN, LinkChange::Loss(loss))
    }

    /// The same corrupting frames from the beginning, both ways.
    #[must_use]
    pub fn corruption(self, corruption: Probability) -> LinkSetup {
        self.at(Time::ORIGIN, LinkChange::Corruption(corruption))
    }
}

/// A network before the run.
#[derive(Clone, Debug, Default)]
pub struct NetworkSetup {
    /// All switches; [`SwitchId`]s are places in this list.
    pub switches: Vec<SwitchSetup>,
    /// All links; [`LinkId`]s are places in this list.
    pub links: Vec<LinkSetup>,
    /// Seed of loss and corruption. Each direction of each link has streams of its own.
    pub seed: u64,
}

impl NetworkSetup {
    /// Adds a switch.
    pub fn switch(&mut self, switch: SwitchSetup) -> SwitchId {
        self.switches.push(switch);
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Adds a link.
    pub fn link(&mut self, link: LinkSetup) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }
}

/// Why a network refuses something.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// A number that no switch has.
    #[error("there is no switch {}; the network has {count}", .found.0)]
    NoSwitch {
        /// The number.
        found: SwitchId,
        /// Switches there are.
        count: usize,
    },
    /// A number that no link has.
    #[error("there is no link {}; the network has {count}", .found.0)]
    NoLink {
        /// The number.
        found: LinkId,
        /// Links there are.
        count: usize,
    },
    /// Two switches of one name.
    #[error("two switches are called `{name}`; give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A switch cannot be set up, or refuses an operation.
    #[error("switch `{name}`: {source}")]
    Switch {
        /// The switch.
        name: String,
        /// Why.
        source: SwitchError,
    },
    /// The engine cannot run a program.
    #[error("switch `{name}`: {source}")]
    Lower {
        /// The switch.
        name: String,
        /// Why.
        source: LowerError,
    },
    /// A switch without time among others.
    #[error(
        "switch `{name}` is in functional mode and others are not; a network has time everywhere or nowhere"
    )]
    Functional {
        /// The switch.
        name: String,
    },
    /// A port that a switch does not have.
    #[error("switch `{name}` has no {what}; its front-panel ports are 0 to {last}")]
    NoPort {
        /// The switch.
        name: String,
        /// The port.
        what: String,
        /// Its last front-panel port.
        last: usize,
    },
    /// Two links on one port.
    #[error("{link}: port {port} of switch `{name}` has another link already; choose a free port")]
    Taken {
        /// The link.
        link: String,
        /// The switch.
        name: String,
        /// The port.
        port: FrontPort,
    },
    /// A link between ports of different speeds.
    #[error(
        "{link}: one end runs at {first}, the other at {second}; give the link a rate, or the ports one speed"
    )]
    Rates {
        /// The link.
        link: String,
        /// Rate of the first end.
        first: BitRate,
        /// Rate of the second end.
        second: BitRate,
    },
    /// A link without delay to a switch without latency.
    #[error("{link}: no delay, and the receiving MAC has none; give the link a delay of 1 ns or more")]
    NoDelay {
        /// The link.
        link: String,
    },
    /// A frame from outside, or a host, on a port with a link.
    #[error(
        "port {port} of switch `{name}` has a link or a host; frames from outside and hosts need a port without one"
    )]
    Linked {
        /// The switch.
        name: String,
        /// The port.
        port: DevPort,
    },
    /// A host where nothing takes time.
    #[error("switch `{name}` is in functional mode; a host needs time: run the network with it")]
    HostWithoutTime {
        /// The switch.
        name: String,
    },
    /// A host without a cable, or that comes too late.
    #[error(
        "port {port} of switch `{name}`: a host needs a cable with a delay, and is attached before the network runs"
    )]
    HostTooNear {
        /// The switch.
        name: String,
        /// The port.
        port: DevPort,
    },
    /// A frame that is too late.
    #[error("a frame for {port} of switch `{name}` at {}: frames from outside come in order, and not before {}", .found.since_origin(), .earliest.since_origin())]
    Late {
        /// The switch.
        name: String,
        /// The port.
        port: DevPort,
        /// Its time.
        found: Time,
        /// The earliest time possible.
        earliest: Time,
    },
    /// A change of a link that is too late.
    #[error("{link}: a change at {}: frames of that time are on the link already; give changes in advance", .found.since_origin())]
    LateChange {
        /// The link.
        link: String,
        /// Its time.
        found: Time,
    },
    /// Not one observer for each switch.
    #[error("{found} observers for {expected} switches; give one for each")]
    Observers {
        /// Observers given.
        found: usize,
        /// Switches.
        expected: usize,
    },
}
