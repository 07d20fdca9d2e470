//! Builds a network from a blueprint: places the programs, assigns ports, and derives entries from the positions.
//!
//! Switches with the same program and parameters share one placement.

mod port_maps;
mod profiles;
mod programs;

pub use profiles::Profiles;
pub use programs::{NetworkPrograms, programs};

use self::port_maps::MapError;
use crate::network::{
    End, LinkChange, LinkEvent, LinkSetup, NetworkSetup, Placed, Probability, SwitchId, SwitchSetup,
};
use crate::topology::{Blueprint, Happening, SwitchPlan, TopologyError, Wiring};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{PortError, PortMap};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::Replaced;
use sluice_catalogue::{Catalogue, ProgramError, Setup, SetupError, StageProgram, UnknownProgram};
use sluice_control::{ControlError, ControlOp, ControlState, EntryError, lines};
use sluice_exec::control_state;
use sluice_ir::Program;
use sluice_place::{NoFit, Options};
use sluice_switch::{BufferSetup, SwitchConfig};
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;
use thiserror::Error;

/// Reads the files that a blueprint names.
pub trait Files {
    /// Reason why a file cannot be used.
    type Error;

    /// Adds the entries of file `name` to `into`, for a switch with these ports. `usual` are the entries that the switch
    /// would have without the file. Returns warnings about the file.
    ///
    /// # Errors
    /// If the file cannot be read, or its entries do not fit the program.
    fn entries(
        &self,
        name: &str,
        program: &Program,
        ports: &PortMap,
        usual: &ControlState,
        into: &mut ControlState,
    ) -> Result<Vec<String>, Self::Error>;

    /// Returns the buffer profile `name`.
    ///
    /// # Errors
    /// If there is no such profile, or it does not fit the chip.
    fn buffer(&self, name: &str, chip: &ChipSpec) -> Result<BufferFile, Self::Error>;
}

/// Settings of switches for which the blueprint says nothing.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// Name of the program.
    pub program: String,
    /// Parameters of `program`. Parameters of the blueprint override them.
    pub params: Vec<(String, String)>,
    /// The chip of all switches.
    pub chip: ChipSpec,
    /// Speed into which all switches split their MACs, the fastest of their ports. `None`: the chip's default; or, for a
    /// switch all of whose links have rates, the fastest that gives it ports enough.
    pub port_speed: Option<BitRate>,
    /// Buffer profile; `None`: buffers are not shared.
    pub buffer: Option<String>,
    /// File of entries for switches that run `program`; the entries derived from positions are not used then. A name with
    /// `{switch}` stands for one file for each switch, whatever it runs; the switch's name takes its place.
    pub entries: Option<String>,
    /// Options of the placement.
    pub placing: Options,
    /// All other settings of a switch. Its seed is also the network's seed.
    pub config: SwitchConfig,
}

/// A network that is ready to run.
#[derive(Debug)]
pub struct Deployment {
    /// Switches and links, in the order of the blueprint.
    pub network: NetworkSetup,
    /// Position of each switch, in the order of the blueprint.
    pub positions: Vec<Position>,
    /// Control-plane operations during the run: the blueprint's events for switches.
    pub changes: Vec<(SwitchId, Time, ControlOp)>,
    /// Ports of hosts, by switch and port.
    pub hosts: Vec<HostPort>,
    /// Warnings about files of entries, each with the name of the switch.
    pub warnings: Vec<String>,
    /// Warnings about parts of programs that do not work at their places; see
    /// [`StageProgram::warnings_at`].
    pub place_warnings: Vec<String>,
}

/// A port of a switch with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Index of the host in [`Blueprint::hosts`].
    pub host: u32,
    /// Address of the host.
    pub address: Ipv4Addr,
    /// The port.
    pub end: End,
    /// Bit rate of the link.
    pub rate: BitRate,
    /// Delay of the cable; `None`: the topology does not say it.
    pub delay: Option<Duration>,
}

/// Reason why a network cannot be built.
#[derive(Debug, Error)]
pub enum DeployError<E> {
    /// The topology is invalid, or does not fit the chip's ports.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The catalogue has no such program.
    #[error("switch `{switch}`: {source}")]
    Unknown {
        /// Name of the switch.
        switch: String,
        /// The name, and the programs of the catalogue.
        source: UnknownProgram,
    },
    /// A program rejects its parameters.
    #[error("switch `{switch}`: {source}")]
    Program {
        /// Name of the switch.
        switch: String,
        /// The reason.
        source: Box<ProgramError>,
    },
    /// A program does not fit the chip.
    #[error("switch `{switch}`: program `{}` does not fit {}: {}", .source.program, .source.chip, .source.reason())]
    NoFit {
        /// Name of the switch.
        switch: String,
        /// The reason.
        source: Box<NoFit>,
    },
    /// The chip does not support the port speed.
    #[error(transparent)]
    Ports(#[from] PortError),
    /// A program cannot derive entries from its ports or position.
    #[error("switch `{switch}`: {source}")]
    Setup {
        /// Name of the switch.
        switch: String,
        /// The reason.
        source: SetupError,
    },
    /// Entries that a program derived from a position do not fit its tables.
    #[error(
        "switch `{switch}`: the entries of its position do not fit: {source}; raise the parameter that limits the table"
    )]
    Entries {
        /// Name of the switch.
        switch: String,
        /// The reason.
        source: Box<ControlError>,
    },
    /// The blueprint has an invalid control-plane operation.
    #[error("switch `{switch}`: {}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Change {
        /// Name of the switch.
        switch: String,
        /// All errors; the line numbers count the events of this switch, from 1.
        errors: Vec<EntryError>,
    },
    /// A named file cannot be used.
    #[error("switch `{switch}`: {source}")]
    File {
        /// Name of the switch.
        switch: String,
        /// The reason.
        source: E,
    },
}

/// The part of a file's name that stands for the name of a switch.
const SWITCH: &str = "{switch}";

/// Placed programs by name and parameters.
type Shared = Vec<(String, Vec<(String, String)>, Arc<Placed>)>;

/// Builds the network of a blueprint with the programs of a catalogue.
///
/// # Errors
/// If a switch or cable cannot be built; the first one is reported.
pub fn deploy<F: Files>(
    plan: &Blueprint,
    catalogue: &Catalogue,
    defaults: &Defaults,
    files: &F,
) -> Result<Deployment, DeployError<F::Error>> {
    let Places { maps, wiring, positions } = places(plan, defaults)?;
    let (mut shared, mut warnings): (Shared, _) = (Vec::new(), Vec::new());
    let mut network = NetworkSetup { seed: defaults.config.seed, ..NetworkSetup::default() };
    for ((switch, position), ports) in plan.switches.iter().zip(&positions).zip(&maps) {
        let builder = SwitchBuilder { plan, switch, catalogue, defaults, files };
        network.switches.push(builder.build(position, ports, &mut shared, &mut warnings)?);
    }
    let warnings = by_text(warnings);
    let of_place = |(switch, position): (&SwitchSetup, &Position)| {
        let program = &switch.placed.program;
        let stage = catalogue.get(&program.name).ok();
        let all = stage.map(|stage| stage.warnings_at(program, position)).unwrap_or_default();
        all.into_iter().map(|warning| (switch.name.clone(), warning)).collect::<Vec<_>>()
    };
    let place_warnings = by_text(network.switches.iter().zip(&positions).flat_map(of_place).collect());
    let hosts = host_ports(plan, &wiring, &mut network);
    // Without hosts, nothing says where the network ends.
    network.edges = (!hosts.is_empty()).then(|| hosts.iter().map(|host| host.end).collect());
    network.addresses = hosts.iter().map(|host| (host.address, host.end)).collect();
    links(plan, &wiring, &mut network);
    let mut changes = Vec::new();
    for (number, switch) in (0..).zip(&network.switches) {
        changes.extend(changes_of(plan, number, switch)?);
    }
    Ok(Deployment { network, positions, changes, hosts, warnings, place_warnings })
}

/// Ports, cables and positions of a blueprint's switches.
struct Places<'a> {
    maps: Vec<PortMap>,
    wiring: Wiring<'a>,
    positions: Vec<Position>,
}

fn places<'a, E>(plan: &'a Blueprint, defaults: &Defaults) -> Result<Places<'a>, DeployError<E>> {
    plan.check()?;
    let maps = port_maps::of_all(plan, &defaults.chip, plan.port_speed.or(defaults.port_speed));
    let maps = maps.map_err(|e| match e {
        MapError::Ports(source) => DeployError::Ports(source),
        MapError::Topology(source) => DeployError::Topology(source),
    })?;
    let wiring = plan.wire(|switch| maps[switch as usize].front_ports().len() as u16)?;
    let positions = wiring.positions(|switch| &maps[switch as usize]);
    Ok(Places { maps, wiring, positions })
}

/// Returns each warning once, with the switches to which it applies, in order.
fn by_text(warnings: Vec<(String, String)>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (switch, warning) in warnings {
        match all.iter_mut().find(|(text, _)| *text == warning) {
            Some((_, switches)) => switches.push(switch),
            None => all.push((warning, vec![switch])),
        }
    }
    let line = |(warning, switches): (String, Vec<String>)| match switches.as_slice() {
        [only] => format!("switch `{only}`: {warning}"),
        [first, others @ ..] => format!("switch `{first}` and {} more: {warning}", others.len()),
        [] => warning,
    };
    all.into_iter().map(line).collect()
}

/// A program of the catalogue, and its placement with this switch's parameters.
type FoundProgram<'a> = (&'a Arc<dyn StageProgram>, Arc<Placed>);

/// One switch being built.
struct SwitchBuilder<'a, F> {
    plan: &'a Blueprint,
    switch: &'a SwitchPlan,
    catalogue: &'a Catalogue,
    defaults: &'a Defaults,
    files: &'a F,
}

impl<'a, F: Files> SwitchBuilder<'a, F> {
    fn name(&self) -> String {
        self.switch.name.clone()
    }

    fn build(
        &self,
        position: &Position,
        ports: &PortMap,
        shared: &mut Shared,
        warnings: &mut Vec<(String, String)>,
    ) -> Result<SwitchSetup, DeployError<F::Error>> {
        let (stage, placed) = self.placed(position, shared)?;
        let mut config = self.defaults.config.clone();
        let buffer =
            self.switch.buffer.as_ref().or(self.plan.buffer.as_ref()).or(self.defaults.buffer.as_ref());
        if let Some(name) = buffer {
            let file = self.files.buffer(name, &self.defaults.chip).map_err(|e| self.file(e))?;
            config.buffer = Some(BufferSetup { file, seed: config.seed });
        }
        let control = control_state(&placed.program, &placed.placement);
        let mut setup = SwitchSetup { name: self.name(), placed, ports: ports.clone(), control, config };
        let runs = setup.placed.program.name == self.defaults.program;
        let of_all = self.defaults.entries.as_ref().filter(|name| runs || name.contains(SWITCH));
        let of_all = of_all.map(|name| name.replace(SWITCH, &self.switch.name));
        let Some(name) = self.switch.entries.as_ref().or(of_all.as_ref()) else {
            self.derive_entries(stage, position, &mut setup)?;
            let program = &setup.placed.program;
            if !self.plan.cables.is_empty() && stage.setup_at(program, ports, position).is_none() {
                let text = format!(
                    "program `{}` has no entries for its place in a network and starts with its default entries, which know no \
                     cables; give it entries with `entries = FILE` or --entries",
                    program.name
                );
                warnings.push((self.name(), text));
            }
            return Ok(setup);
        };
        // Parameters that have no room for the usual entries have none that are usual.
        let mut usual = setup.clone();
        let usual = match self.derive_entries(stage, position, &mut usual) {
            Ok(()) => &usual.control,
            Err(_) => &setup.control.clone(),
        };
        let program = &setup.placed.program;
        let found = self.files.entries(name, program, ports, usual, &mut setup.control);
        let found = found.map_err(|e| self.file(e))?;
        warnings.extend(found.into_iter().map(|warning| (self.name(), warning)));
        Ok(setup)
    }

    /// Makes the entries that follow from a switch's position.
    fn derive_entries(
        &self,
        stage: &Arc<dyn StageProgram>,
        position: &Position,
        setup: &mut SwitchSetup,
    ) -> Result<(), DeployError<F::Error>> {
        let (program, ports) = (&setup.placed.program, &setup.ports);
        let own = programs::setup(stage.as_ref(), program, ports, position);
        let mut own = own.map_err(|source| DeployError::Setup { switch: self.name(), source })?;
        own.remove(program, Replaced::by(setup.config.buffer.as_ref().map(|buffer| &buffer.file)));
        let Setup { ops, port_speeds } = own;
        for (front, speed) in port_speeds {
            setup.config.port_speeds.extend(ports.front(front).map(|p| (p.dev_port.number(), speed)));
        }
        let refused = |source| DeployError::Entries { switch: self.name(), source };
        setup.apply(ops).map_err(refused)
    }

    fn file(&self, source: F::Error) -> DeployError<F::Error> {
        DeployError::File { switch: self.name(), source }
    }

    /// Places the program of this switch, or returns the shared placement of an earlier switch.
    fn placed(
        &self,
        position: &Position,
        shared: &mut Shared,
    ) -> Result<FoundProgram<'a>, DeployError<F::Error>> {
        let chosen = programs::choose(self.plan, self.switch, self.catalogue, self.defaults, position)?;
        let programs::Choice { stage, params } = chosen;
        let name = stage.name();
        if let Some((.., placed)) = shared.iter().find(|(n, p, _)| n == name && *p == params) {
            return Ok((stage, Arc::clone(placed)));
        }
        let program = stage.build(&params);
        let program = program
            .map_err(|source| DeployError::Program { switch: self.name(), source: Box::new(source) })?;
        let placed = Placed::with(program, &self.defaults.chip, &self.defaults.placing);
        let placed = placed.map_err(|source| DeployError::NoFit { switch: self.name(), source })?;
        shared.push((name.to_owned(), params, Arc::clone(&placed)));
        Ok((stage, placed))
    }
}

/// Sets the speed of ports whose host has an explicit rate, and returns the hosts' ports.
fn host_ports(plan: &Blueprint, wiring: &Wiring<'_>, network: &mut NetworkSetup) -> Vec<HostPort> {
    let mut list = Vec::new();
    for (host, (of, fronts)) in (0..).zip(plan.hosts.iter().zip(&wiring.hosts)) {
        for (at, front) in of.at.iter().zip(fronts) {
            let Some(switch) = network.switches.get_mut(at.switch as usize) else { continue };
            let Some(port) = switch.ports.front(*front).copied() else { continue };
            switch.config.port_speeds.extend(at.rate.map(|rate| (port.dev_port.number(), rate)));
            let end = End { switch: SwitchId(at.switch), port: *front };
            let rate = switch.port_speed(&port);
            list.push(HostPort { host, address: of.address, end, rate, delay: at.delay });
        }
    }
    list.sort_by_key(|host| host.end);
    list
}

fn links(plan: &Blueprint, wiring: &Wiring<'_>, network: &mut NetworkSetup) {
    for (number, (cable, ports)) in (0..).zip(plan.cables.iter().zip(&wiring.cables)) {
        let end = |at: usize| End { switch: SwitchId(cable.ends[at]), port: ports[at] };
        let mut link = LinkSetup::new(end(0), end(1), cable.delay);
        link.rate = cable.rate;
        for (probability, change) in [
            (cable.loss, LinkChange::Loss(cable.loss)),
            (cable.corruption, LinkChange::Corruption(cable.corruption)),
        ] {
            if probability != Probability::NEVER {
                link = link.at(Time::ORIGIN, change);
            }
        }
        for (time, happening) in &plan.events {
            match happening {
                Happening::Cable { cable, way, change } if *cable == number => {
                    link.script.push(LinkEvent { time: *time, way: *way, change: *change });
                }
                _ => {}
            }
        }
        network.link(link);
    }
}

/// Parses the blueprint's events for one switch.
fn changes_of<E>(
    plan: &Blueprint,
    number: u32,
    switch: &SwitchSetup,
) -> Result<Vec<(SwitchId, Time, ControlOp)>, DeployError<E>> {
    let mut text = String::new();
    for (time, happening) in &plan.events {
        if let Happening::Control { switch, line } = happening
            && *switch == number
        {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "@{} {line}", time.since_origin());
        }
    }
    let refused = |errors| DeployError::Change { switch: switch.name.clone(), errors };
    let program = &switch.placed.program;
    let script = lines::parse_changes_on(program, &switch.ports, &text, "events").map_err(refused)?;
    script.check(program, &switch.control).map_err(refused)?;
    let op = |s: sluice_control::Sourced| (SwitchId(number), Time::ORIGIN + s.at, s.op);
    Ok(script.ops.into_iter().map(op).collect())
}
