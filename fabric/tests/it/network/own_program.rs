//! Networks of programs that are defined here and added to a catalogue.

use super::deployed::{NoFiles, defaults, everyone_is_reached_with};
use sluice_asic::port::PortMap;
use sluice_build::net::{Ethernet, Ipv4};
use sluice_build::*;
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, front_port, ipv4_prefix};
use sluice_catalogue::{Catalogue, ProgramDef, Role, Setup, SetupError};
use sluice_fabric::deploy::deploy;
use sluice_fabric::topology::built;
use sluice_ir::Program;

#[derive(params::Params)]
struct Room {
    /// IPv4 routes that the table holds
    #[param(range = 1..=65_536)]
    routes: u32,
}

impl Default for Room {
    fn default() -> Room {
        Room { routes: 256 }
    }
}

#[stage_program]
fn ingress(ig: &GressBuilder<'_>, room: &Room) {
    let (ethernet, ipv4) = (ig.header::<Ethernet>(), ig.header::<Ipv4>());
    let tm = ig.intrinsic::<tna::ForTm>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    let parse_ipv4 = ig.state().extract(ipv4);
    start.on(0x0800, parse_ipv4);
    ig.start(start);
    /// Sends the packet to a port
    let forward = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Destination prefix to port
    let route = ig.table([lpm(ipv4.dst)]).actions([forward]).size(room.routes).build();
    ig.control(|c| {
        if ipv4.is_valid() {
            route.apply();
        }
    });
    ig.deparser().emit(ethernet).emit(ipv4);
}

/// Sends packets over the first next hop of the longest matching prefix.
struct FirstHop;

impl ProgramDef for FirstHop {
    const NAME: &'static str = "first-hop";
    const SUMMARY: &'static str = "Routes IPv4 over the first of equal paths";
    type Params = Room;

    fn declare(b: &Builder, room: &Room) {
        ingress(&b.ingress(), room);
    }

    fn default_setup(program: &Program, ports: &PortMap, _: &Room) -> Result<Setup, SetupError> {
        let mut ops = Ops::new(program);
        let (_, port) = front_port(ports, 1)?;
        ops.entry("route", [ipv4_prefix([0, 0, 0, 0].into(), 0)], "forward", [port.into()])?;
        Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        _: &Room,
    ) -> Option<Result<Setup, SetupError>> {
        let entries = || {
            let mut ops = Ops::new(program);
            for route in &at.routes {
                let key = [ipv4_prefix(route.to.address, route.to.len.into())];
                ops.entry("route", key, "forward", [front_port(ports, route.ports[0].0.0)?.1.into()])?;
            }
            Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
        };
        Some(entries())
    }
}

/// Like [`FirstHop`] at leaves; other switches run a program that may be missing in the catalogue.
struct LeafAlone;

impl ProgramDef for LeafAlone {
    const NAME: &'static str = "leaf-alone";
    const SUMMARY: &'static str = "Leaves spines to another program";
    type Params = Room;

    fn declare(b: &Builder, room: &Room) {
        FirstHop::declare(b, room);
    }

    fn default_setup(program: &Program, ports: &PortMap, room: &Room) -> Result<Setup, SetupError> {
        FirstHop::default_setup(program, ports, room)
    }

    fn role_at(at: &Position) -> Role {
        let program = if at.stage == 1 { Self::NAME } else { FirstHop::NAME };
        Role::new(program, [("routes", "512".to_owned())])
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        room: &Room,
    ) -> Option<Result<Setup, SetupError>> {
        FirstHop::setup_at(program, ports, at, room)
    }
}

#[test]
fn a_program_of_ones_own_carries_a_network() {
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=2").unwrap();
    let catalogue = sluice_programs::catalogue().with(FirstHop);
    assert_eq!(catalogue.get("first-hop").unwrap().summary(), FirstHop::SUMMARY);
    let network = everyone_is_reached_with(&catalogue, &plan, "first-hop");
    assert!(network.totals().is_conserved() && network.totals().hops > 0);
}

#[test]
fn a_role_names_another_program_of_the_same_catalogue() {
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=2").unwrap();
    let both = Catalogue::new().with(LeafAlone).with(FirstHop);
    let network = everyone_is_reached_with(&both, &plan, "leaf-alone");
    let runs: Vec<(&str, &str)> = network
        .ids()
        .filter_map(|id| network.setup(id))
        .map(|s| (s.name.as_str(), s.placed.program.name.as_str()))
        .collect();
    let expected =
        [("leaf0", "leaf-alone"), ("leaf1", "leaf-alone"), ("spine0", "first-hop"), ("spine1", "first-hop")];
    assert_eq!(runs, expected);
    let alone = Catalogue::new().with(LeafAlone);
    let error = deploy(&plan, &alone, &defaults("leaf-alone"), &NoFiles).unwrap_err().to_string();
    assert_eq!(error, "switch `spine0`: there is no program `first-hop` (programs: leaf-alone)");
}

#[test]
fn an_unknown_program_is_named_with_its_switch() {
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=2").unwrap();
    let catalogue = Catalogue::new().with(FirstHop);
    let error = deploy(&plan, &catalogue, &defaults("frist-hop"), &NoFiles).unwrap_err().to_string();
    assert_eq!(
        error,
        "switch `leaf0`: there is no program `frist-hop`; did you mean `first-hop`? (programs: first-hop)"
    );
}
