//! Setup of a network, and its errors.

use super::link::{LinkChange, Probability};
use super::{LinkId, SwitchId, Way};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, FrontPort, Port, PortError, PortKind, PortMap};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_control::{ControlError, ControlOp, ControlState};
use sluice_exec::control_state;
use sluice_exec::engine::LowerError;
use sluice_ir::Program;
use sluice_place::{NoFit, Options, Placement, place_with};
use sluice_switch::{SwitchConfig, SwitchError};
use std::net::Ipv4Addr;
use std::sync::Arc;
use thiserror::Error;

/// A program and its placement on a chip; several switches can share it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The program.
    pub program: Program,
    /// Placement of the program.
    pub placement: Placement,
}

impl Placed {
    /// Places a program on a chip.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn new(program: Program, chip: &ChipSpec) -> Result<Arc<Placed>, Box<NoFit>> {
        Placed::with(program, chip, &Options::default())
    }

    /// Places a program on a chip with these options: objective, and optimisations to leave out.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn with(program: Program, chip: &ChipSpec, options: &Options) -> Result<Arc<Placed>, Box<NoFit>> {
        let placement = place_with(&program, chip, options).map_err(Box::new)?;
        Ok(Arc::new(Placed { program, placement }))
    }
}

/// Setup of a switch.
#[derive(Clone, Debug)]
pub struct SwitchSetup {
    /// Name, unique in the network.
    pub name: String,
    /// The placed program.
    pub placed: Arc<Placed>,
    /// Port map.
    pub ports: PortMap,
    /// Initial state of the control plane: entries, groups, settings.
    pub control: ControlState,
    /// All other settings. The network sets `device`, and the speeds of ports with links.
    pub config: SwitchConfig,
}

impl SwitchSetup {
    /// Returns a switch with the chip's default ports and the program's constant entries.
    ///
    /// # Errors
    /// If the chip has no such ports.
    pub fn new(name: impl Into<String>, placed: &Arc<Placed>) -> Result<SwitchSetup, PortError> {
        let ports = PortMap::default_for(&placed.placement.chip)?;
        let control = control_state(&placed.program, &placed.placement);
        let config = SwitchConfig::default();
        Ok(SwitchSetup { name: name.into(), placed: Arc::clone(placed), ports, control, config })
    }

    /// Applies operations to the initial state of the control plane.
    ///
    /// # Errors
    /// If an operation does not fit the program or the present state.
    pub fn apply(&mut self, ops: impl IntoIterator<Item = ControlOp>) -> Result<(), Box<ControlError>> {
        let program = &self.placed.program;
        ops.into_iter().try_for_each(|op| match self.control.apply(program, op) {
            Ok(_) => Ok(()),
            Err(e) => Err(Box::new(e)),
        })
    }

    /// Returns the speed at which a port runs, as far as it is set: that of [`SwitchConfig::port_speeds`], else that of the
    /// port map.
    #[must_use]
    pub fn port_speed(&self, port: &Port) -> BitRate {
        let dev = port.dev_port.number();
        let own = self.config.port_speeds.iter().rev().find(|(of, _)| *of == dev);
        own.map_or(port.speed, |(_, speed)| *speed)
    }

    /// Returns the name of a dev_port for readers: the user's name or the front-panel number, `cpu`, `recirc:N`, or `dev:N`.
    #[must_use]
    pub fn port_name(&self, dev_port: u16) -> String {
        match self.ports.iter().find(|p| p.dev_port.number() == dev_port).map(|p| p.kind) {
            Some(PortKind::Front(front)) => self.ports.shown(front),
            Some(PortKind::Cpu) => "cpu".to_owned(),
            Some(PortKind::Recirculation) => format!("recirc:{dev_port}"),
            None => format!("dev:{dev_port}"),
        }
    }

    /// Returns the dev_port of a front-panel port.
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
    /// Front-panel port of the switch.
    pub port: FrontPort,
}

impl End {
    /// Returns the end at a front-panel port.
    #[must_use]
    pub const fn new(switch: SwitchId, port: u16) -> End {
        End { switch, port: FrontPort(port) }
    }
}

/// A scripted change of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEvent {
    /// Time of the change.
    pub time: Time,
    /// Direction; `None`: both.
    pub way: Option<Way>,
    /// The change.
    pub change: LinkChange,
}

/// Setup of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetup {
    /// Both ends; [`Way::Forth`] is from the first to the second.
    pub ends: [End; 2],
    /// Bit rate of both ports. `None`: the ports' own speed, which must be the same at both ends.
    pub rate: Option<BitRate>,
    /// Propagation delay, the same in both directions.
    pub delay: Duration,
    /// Scripted changes.
    pub script: Vec<LinkEvent>,
}

impl LinkSetup {
    /// Returns a link without changes.
    #[must_use]
    pub const fn new(a: End, b: End, delay: Duration) -> LinkSetup {
        LinkSetup { ends: [a, b], rate: None, delay, script: Vec::new() }
    }

    /// Sets the bit rate.
    #[must_use]
    pub fn rate(mut self, rate: BitRate) -> LinkSetup {
        self.rate = Some(rate);
        self
    }

    /// Adds a change of both directions.
    #[must_use]
    pub fn at(mut self, time: Time, change: LinkChange) -> LinkSetup {
        self.script.push(LinkEvent { time, way: None, change });
        self
    }

    /// Adds a change of one direction.
    #[must_use]
    pub fn one_way(mut self, way: Way, time: Time, change: LinkChange) -> LinkSetup {
        self.script.push(LinkEvent { time, way: Some(way), change });
        self
    }

    /// Sets the probability of loss from time 0 on, in both directions.
    #[must_use]
    pub fn loss(self, loss: Probability) -> LinkSetup {
        self.at(Time::ORIGIN, LinkChange::Loss(loss))
    }

    /// Sets the probability of corruption from time 0 on, in both directions.
    #[must_use]
    pub fn corruption(self, corruption: Probability) -> LinkSetup {
        self.at(Time::ORIGIN, LinkChange::Corruption(corruption))
    }
}

/// Setup of a network.
#[derive(Clone, Debug, Default)]
pub struct NetworkSetup {
    /// Switches; [`SwitchId`]s are indices in this list.
    pub switches: Vec<SwitchSetup>,
    /// Links; [`LinkId`]s are indices in this list.
    pub links: Vec<LinkSetup>,
    /// Ports without a link where the network ends, besides those of attached hosts, of mirror sessions,
    /// and those that frames are injected at. What is
    /// sent on other ports is lost ([`LinkDrop::NoCable`](super::LinkDrop::NoCable)). `None`: it ends at all ports without a link.
    pub edges: Option<Vec<End>>,
    /// IPv4 addresses of hosts, with their ports. A frame for one of them that is sent to another one is lost
    /// ([`LinkDrop::WrongHost`](super::LinkDrop::WrongHost)), except copies on the ports of mirror sessions. Empty: hosts take all frames.
    pub addresses: Vec<(Ipv4Addr, End)>,
    /// Seed of loss and corruption. Each direction of each link has separate random streams.
    pub seed: u64,
}

impl NetworkSetup {
    /// Adds a switch and returns its index.
    pub fn switch(&mut self, switch: SwitchSetup) -> SwitchId {
        self.switches.push(switch);
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Adds a link and returns its index.
    pub fn link(&mut self, link: LinkSetup) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }
}

/// Reason why a network rejects its setup or a call.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// No switch has this index.
    #[error("there is no switch {}; the network has {count}", .found.0)]
    NoSwitch {
        /// The index.
        found: SwitchId,
        /// Number of switches.
        count: usize,
    },
    /// No link has this index.
    #[error("there is no link {}; the network has {count}", .found.0)]
    NoLink {
        /// The index.
        found: LinkId,
        /// Number of links.
        count: usize,
    },
    /// Two switches have the same name.
    #[error("two switches are called `{name}`; give every switch a different name")]
    SameName {
        /// The name.
        name: String,
    },
    /// A switch rejects its setup or an operation.
    #[error("switch `{name}`: {source}")]
    Switch {
        /// Name of the switch.
        name: String,
        /// The reason.
        source: SwitchError,
    },
    /// The executor cannot run a program.
    #[error("switch `{name}`: {source}")]
    Lower {
        /// Name of the switch.
        name: String,
        /// The reason.
        source: LowerError,
    },
    /// Some switches are in functional mode and others are not.
    #[error("switch `{name}` is in functional mode and others are not; set the same mode for all switches")]
    Functional {
        /// Name of the switch.
        name: String,
    },
    /// A switch does not have this port.
    #[error("switch `{name}` has no {what}; its front-panel ports are 0 to {last}")]
    NoPort {
        /// Name of the switch.
        name: String,
        /// The port.
        what: String,
        /// Number of the last front-panel port.
        last: usize,
    },
    /// A port has two links.
    #[error("{link}: port {port} of switch `{name}` has another link already; choose a free port")]
    Taken {
        /// Name of the link.
        link: String,
        /// Name of the switch.
        name: String,
        /// The port.
        port: FrontPort,
    },
    /// The ports of a link have different speeds.
    #[error(
        "{link}: one end runs at {first}, the other at {second}; give the link a rate, or the ports one speed"
    )]
    Rates {
        /// Name of the link.
        link: String,
        /// Rate of the first end.
        first: BitRate,
        /// Rate of the second end.
        second: BitRate,
    },
    /// A link has no delay, and its receiving MAC has no latency.
    #[error("{link}: link and receiving MAC have no delay; give the link a delay of 1 ns or more")]
    NoDelay {
        /// Name of the link.
        link: String,
    },
    /// A port for a frame from outside, or for a host, has a link or a host.
    #[error(
        "port {port} of switch `{name}` has a link or a host; frames from outside and hosts need a port without one"
    )]
    Linked {
        /// Name of the switch.
        name: String,
        /// The port.
        port: DevPort,
    },
    /// A host is attached to a network in functional mode.
    #[error(
        "switch `{name}` is in functional mode, but hosts need simulated time; run the network in timed mode"
    )]
    HostWithoutTime {
        /// Name of the switch.
        name: String,
    },
    /// A host's cable has no delay, or the network has already run.
    #[error(
        "port {port} of switch `{name}`: a host needs a cable with a delay, and must be attached before the network runs"
    )]
    HostTooNear {
        /// Name of the switch.
        name: String,
        /// The port.
        port: DevPort,
    },
    /// A frame is injected too late.
    #[error("switch `{name}`, port {port}: a frame at {} is too late, because the port takes frames from {} on; inject frames in order of time", .found.since_origin(), .earliest.since_origin())]
    Late {
        /// Name of the switch.
        name: String,
        /// The port.
        port: DevPort,
        /// Time of the frame.
        found: Time,
        /// The earliest time possible.
        earliest: Time,
    },
    /// A change of a link is scheduled too late.
    #[error("{link}: a change at {} is too late, because frames of that time are on the link; schedule changes in advance", .found.since_origin())]
    LateChange {
        /// Name of the link.
        link: String,
        /// Time of the change.
        found: Time,
    },
    /// The number of observers is not the number of switches.
    #[error("{found} observers for {expected} switches; pass one observer for each switch")]
    Observers {
        /// Number of observers.
        found: usize,
        /// Number of switches.
        expected: usize,
    },
}
