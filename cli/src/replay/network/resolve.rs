//! Resolves the flags of a network: topology, programs, entries, ports.

use super::super::inputs;
use super::hosts;
use crate::console::fail::{Failure, print_error};
use crate::console::text_file::read_text;
use crate::open::door::{Door, OpenProgram};
use crate::open::resolve;
use crate::open::topology::{NetworkFiles, chip, folder_of};
use crate::replay::args::ReplayArgs;
use sluice_asic::port::DevPort;
use sluice_asic::units::BitRate;
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::Neighbor;
use sluice_fabric::deploy::{Defaults, DeployError, Deployment, HostPort, deploy};
use sluice_fabric::network::{SwitchId, SwitchSetup};
use sluice_fabric::topology::Blueprint;
use sluice_replay::Inputs;
use sluice_replay::network::parse_changes;
use sluice_switch::SwitchConfig;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A network that can be built.
pub(super) struct Resolved {
    pub(super) deployment: Deployment,
    /// Warnings about flags without effect, because the topology's file overrides them.
    pub(super) unused: Vec<String>,
    /// The catalogue with the programs that are files.
    pub(super) catalogue: Catalogue,
}

/// Returns the network for the arguments.
pub(super) fn network(
    args: &ReplayArgs,
    program: &OpenProgram,
    topology: &str,
    config: SwitchConfig,
) -> Result<Resolved, Failure> {
    let mut blueprint = resolve::blueprint(topology)?;
    let folder = folder_of(topology);
    let chip = chip(topology, &blueprint, &args.target.chip)?;
    let mut door = Door::new(&program.catalogue, &args.target.p4, &chip);
    door.topology(&mut blueprint, folder)?;
    let catalogue = door.into_catalogue();
    let entries = Entries::parse(&args.entries, &blueprint)?;
    if let Some(switch) = blueprint.switches.iter().find(|s| !is_plain(&s.name)) {
        let help = "use letters, digits, `-`, `_` and `.`";
        let text = format!("{topology}: switch `{}`: this name cannot be part of a file name", switch.name);
        return Err(Failure::with_help(text, help));
    }
    let defaults = Defaults {
        program: program.name().to_owned(),
        params: args.target.sets.clone(),
        chip,
        port_speed: args.port_speed,
        buffer: args.buffer.clone(),
        entries: entries.all.clone(),
        placing: args.placing.options(),
        config,
    };
    // Entries that the user gives for one switch override those of the topology.
    for (switch, file) in &entries.of {
        blueprint.switches[*switch].entries = Some(file.clone());
    }
    let names = args.own.port_map.as_deref().map(resolve::port_names).transpose()?;
    let files = NetworkFiles { topology: topology.to_owned(), own: entries.files(), names: names.clone() };
    match deploy(&blueprint, &catalogue, &defaults, &files) {
        Ok(mut deployment) => {
            if let Some(names) = names {
                for switch in &mut deployment.network.switches {
                    switch.ports = switch.ports.clone().with_names(Arc::clone(&names));
                }
            }
            let mut unused = unused(args, program.name(), &blueprint, &deployment);
            unused.extend(entries.unused(program.name(), &blueprint, &deployment));
            let mut resolved = Resolved { deployment, unused, catalogue };
            resolved.set_speeds(&args.port_speeds)?;
            if let Some(path) = &args.changes {
                let text = read_text(path)?;
                let (origin, network) = (path.display().to_string(), &resolved.deployment.network);
                let changes = parse_changes(&text, &origin, network, program.name());
                resolved.deployment.changes.extend(changes.map_err(|e| Failure::entries(&e))?);
            }
            Ok(resolved)
        }
        Err(DeployError::File { switch, source: Failure::Input { text, help } }) => {
            Err(Failure::Input { text: format!("switch `{switch}`: {text}"), help })
        }
        Err(DeployError::NoFit { source, .. }) => {
            print_error(format_args!("{}\n", crate::console::snippet::no_fit(&source)));
            Err(Failure::Property)
        }
        Err(e) => Err(Failure::input(e)),
    }
}

/// Returns a warning for each argument that the topology's file overrides.
fn unused(args: &ReplayArgs, program: &str, blueprint: &Blueprint, deployment: &Deployment) -> Vec<String> {
    let switches = || deployment.network.switches.iter();
    let mut unused = Vec::new();
    let mut say = |what: String, why: String| unused.push(format!("{what} has no effect: {why}"));
    let chip = &args.target.chip;
    if let Some(own) = blueprint.chip.as_ref().filter(|own| *own != chip && chip != "tofino2") {
        say(format!("--chip {chip}"), format!("the topology has chip = \"{own}\""));
    }
    if let (Some(speed), Some(own)) = (&args.port_speed, blueprint.port_speed)
        && *speed != own
    {
        say(format!("--port-speed {speed}"), format!("the topology has port_speed = \"{own}\""));
    }
    if let Some(buffer) = &args.buffer {
        let own = |name: Option<&String>| name.is_some_and(|name| name != buffer);
        if blueprint.switches.iter().all(|s| own(s.buffer.as_ref().or(blueprint.buffer.as_ref()))) {
            say(
                format!("--buffer {buffer}"),
                "every switch of the topology has a buffer of its own".to_owned(),
            );
        }
    }
    let runs = |name: &str| switches().any(|s| s.placed.program.name == name);
    if !runs(program) {
        let own = switches().next().map_or("", |s| s.placed.program.name.as_str());
        say(format!("`{program}`"), format!("the topology's switches run `{own}`"));
        return unused;
    }
    for (key, value) in &args.target.sets {
        let mine = |s: &&SwitchSetup| s.placed.program.name == program;
        let has =
            |s: &SwitchSetup| s.placed.program.params.iter().any(|p| p.key == *key && p.value == *value);
        if !switches().filter(mine).any(has) && blueprint.params.iter().any(|(k, v)| k == key && v != value) {
            say(format!("--set {key}={value}"), "the topology's `params` set it".to_owned());
        }
    }
    unused
}

/// Files of `--entries`: one for all switches that run the program, and files for single switches.
#[derive(Default)]
struct Entries {
    all: Option<String>,
    of: Vec<(usize, String)>,
}

impl Entries {
    fn parse(texts: &[String], blueprint: &Blueprint) -> Result<Entries, Failure> {
        let usage = "write --entries FILE or --entries FOLDER at most once, and --entries SWITCH=FILE at most once for \
                     each switch";
        let mut entries = Entries::default();
        for text in texts {
            // A folder has one file for each switch, as `sluice entries --topology` writes them.
            let of_folder = || format!("{}/{{switch}}.toml", text.trim_end_matches('/'));
            let text = &if Path::new(text).is_dir() { of_folder() } else { text.clone() };
            let named = text.split_once('=').filter(|_| !Path::new(text).exists());
            let Some((name, file)) = named else {
                if let Some(first) = entries.all.replace(text.clone()) {
                    let text = format!("--entries {text}: {first} is already given for all switches");
                    return Err(Failure::with_help(text, usage));
                }
                continue;
            };
            let Some(switch) = blueprint.switches.iter().position(|s| s.name == name) else {
                return Err(Failure::with_help(
                    format!("--entries {text}: there is no switch `{name}`"),
                    usage,
                ));
            };
            if entries.of.iter().any(|(known, _)| *known == switch) {
                let text = format!("--entries {text}: switch `{name}` already has a file");
                return Err(Failure::with_help(text, usage));
            }
            entries.of.push((switch, file.to_owned()));
        }
        Ok(entries)
    }

    fn files(&self) -> Vec<String> {
        self.of.iter().map(|(_, file)| file).chain(&self.all).cloned().collect()
    }

    /// Returns a warning if no switch uses the file for all switches.
    fn unused(&self, program: &str, blueprint: &Blueprint, deployment: &Deployment) -> Option<String> {
        let file = self.all.as_ref()?;
        let switches = blueprint.switches.iter().zip(&deployment.network.switches);
        let mut taken = switches.filter(|(_, s)| s.placed.program.name == program).peekable();
        let why = match taken.peek() {
            None => format!("no switch runs `{program}`"),
            Some(_) => taken
                .all(|(plan, _)| plan.entries.is_some())
                .then(|| "every switch has its own".to_owned())?,
        };
        Some(format!("--entries {file} has no effect: {why}"))
    }
}

/// Returns true if a name can be part of a file name; captures are named after switches.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(plain) && !name.starts_with('.')
}

impl Resolved {
    /// Returns the inputs of the arguments, or else the program's samples, with warnings about them.
    pub(super) fn inputs(
        &self,
        args: &ReplayArgs,
        samples: &[(&str, &str, &'static [u8])],
        stop: &Arc<AtomicBool>,
    ) -> Result<(Inputs, Vec<String>), Failure> {
        let port = |name: &str| self.port(name);
        if args.inputs.is_empty() && args.own.flows.is_none() {
            return match samples {
                [] => Err(self.no_inputs()),
                _ => Ok((inputs::of_network_samples(samples, port)?, Vec::new())),
            };
        }
        let (of_hosts, of_ports): (Vec<&String>, Vec<&String>) = args
            .inputs
            .iter()
            .partition(|text| text.split_once('@').is_some_and(|(place, _)| place == hosts::HOSTS));
        let mut all = inputs::of_network(&of_ports, port, stop)?;
        let mut warnings = Vec::new();
        let ends = &self.deployment.hosts;
        let mut add = |(inputs, more): hosts::Split| {
            all.extend(inputs);
            warnings.extend(more);
        };
        for text in of_hosts {
            let (_, path) = text.split_once('@').unwrap_or_default();
            add(hosts::of_capture(path, ends, |host| self.host_port(host))?);
        }
        if let Some(path) = &args.own.flows {
            add(hosts::of_flows(path, ends, |host| self.host_port(host))?);
        }
        Ok((Inputs::from(all), warnings))
    }

    /// Returns the port of a host and its name.
    fn host_port(&self, host: &HostPort) -> Option<(DevPort, String)> {
        let switch = self.deployment.network.switches.get(host.end.switch.0 as usize)?;
        let name = format!("{}:{}", switch.name, switch.ports.shown(host.end.port));
        Some((switch.ports.front(host.end.port)?.dev_port, name))
    }

    /// Sets the speeds of ports that the user named: `leaf0:3=100G`.
    fn set_speeds(&mut self, texts: &[String]) -> Result<(), Failure> {
        let usage =
            "write SWITCH:PORT=RATE, for example leaf0:20=100G; cables have their `rate` in the topology";
        for text in texts {
            let (port, rate) = text
                .split_once('=')
                .ok_or_else(|| Failure::with_help(format!("--port {text}: the speed is missing"), usage))?;
            let (switch, port) = self.port(port).map_err(|e| match e {
                Failure::Input { text, .. } => Failure::with_help(format!("--port {text}"), usage),
                other => other,
            })?;
            let rate: BitRate = rate.parse().map_err(Failure::input)?;
            let config = self.deployment.network.switches.get_mut(switch.0 as usize).map(|s| &mut s.config);
            config.into_iter().for_each(|config| config.port_speeds.push((port.number(), rate)));
        }
        Ok(())
    }

    /// Parses the name of a port: `leaf0:3` or `leaf0:dev:137`.
    pub(super) fn port(&self, text: &str) -> Result<(SwitchId, DevPort), Failure> {
        let usage = "write SWITCH:PORT@FILE, for example leaf0:0@trace.pcap or leaf0:dev:137@trace.pcap";
        let (name, port) = text
            .split_once(':')
            .ok_or_else(|| Failure::with_help(format!("`{text}` names no switch and port"), usage))?;
        let switches = || self.deployment.network.switches.iter();
        let Some((number, switch)) = (0..).zip(switches()).find(|(_, s)| s.name == name) else {
            let known: Vec<&str> = switches().map(|s| s.name.as_str()).take(8).collect();
            let more = if switches().len() > known.len() { ", .." } else { "" };
            let help = format!("switches are {}{more}", known.join(", "));
            return Err(Failure::with_help(format!("there is no switch `{name}`"), help));
        };
        let found = switch
            .ports
            .find(port)
            .map_err(|e| Failure::with_help(format!("switch `{name}`: {e}"), usage))?;
        let dev_port = found.dev_port;
        let position = self.deployment.positions.get(number as usize);
        let used = position.and_then(|p| p.ports.iter().find(|used| used.dev_port == dev_port.number()));
        if used.is_some_and(|used| matches!(used.neighbor, Neighbor::Switch { .. })) {
            let text = format!(
                "port {port} of switch `{name}` has a cable to another switch; use a port without one"
            );
            return Err(Failure::with_help(text, self.edges()));
        }
        Ok((SwitchId(number), dev_port))
    }

    /// Returns a hint with some ports of hosts.
    fn edges(&self) -> String {
        let hosts = self.deployment.positions.iter().flat_map(|p| {
            let hosts = p.ports.iter().filter_map(|used| match used.neighbor {
                Neighbor::Host(address) => Some((used.port, address)),
                Neighbor::Switch { .. } => None,
            });
            hosts.map(|(port, address)| format!("{}:{port} ({address})", p.name)).collect::<Vec<_>>()
        });
        let known: Vec<String> = hosts.take(4).collect();
        if known.is_empty() {
            return "use any port without a cable".to_owned();
        }
        format!("hosts are at {}, ..", known.join(", "))
    }

    pub(super) fn no_inputs(&self) -> Failure {
        Failure::with_help(
            "a network has no embedded sample: give an input with -i SWITCH:PORT@FILE",
            self.edges(),
        )
    }
}
