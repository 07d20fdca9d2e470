//! The program that scenarios run: a packet goes where its source address says, so that nothing but the buffer decides.
//!
//! The low nine bits of the source are the dev_port, 511 for none; the low sixteen of the destination a multicast
//! group, 0 for none. The class tables, which the maps of the buffer profile fill, choose queue and traffic class: by DSCP,
//! by PCP, or one class for packets with neither.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_build::net::ether_type::{IPV4, VLAN};
use sluice_build::net::{Ethernet, Ipv4, Vlan};
use sluice_build::*;
use sluice_exec::control_state;
use sluice_exec::engine::Engine;
use sluice_ir::Program;
use sluice_place::{Placement, place};
use sluice_switch::{Switch, SwitchConfig};

/// Number of front-panel ports by default.
const PORTS: u16 = 32;
/// A dev_port that does not exist.
pub(crate) const NOWHERE: u16 = 0x1ff;

#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let (eth, vlan, ipv4) = (ig.header::<Ethernet>(), ig.header::<Vlan>(), ig.header::<Ipv4>());
    let tm = ig.intrinsic::<tna::ForTm>();
    let group = ig.intrinsic::<tna::Multicast>();
    let parse_ethernet = ig.state().extract(eth).select(eth.ether_type);
    let parse_vlan = ig.state().extract(vlan).select(vlan.ether_type);
    let parse_ipv4 = ig.state().extract(ipv4);
    parse_ethernet.on(VLAN, parse_vlan);
    parse_ethernet.on(IPV4, parse_ipv4);
    parse_vlan.on(IPV4, parse_ipv4);
    ig.start(parse_ethernet);
    let set_class = class_action(ig);
    /// DSCP to queue and traffic class
    let dscp_class =
        ig.table([exact(ipv4.dscp)]).actions([set_class]).default_with(set_class, [0, 0]).size(64).build();
    /// PCP to queue and traffic class
    let pcp_class =
        ig.table([exact(vlan.pcp)]).actions([set_class]).default_with(set_class, [0, 0]).size(8).build();
    /// Queue and traffic class of packets without a code point
    let other_class = ig.table([]).actions([set_class]).default_with(set_class, [0, 0]).build();
    ig.control(|c| {
        c.set(tm.ucast_egress_port, eth.src.slice::<8, 0, 9>());
        c.set(group.mcast_grp_a, eth.dst.slice::<15, 0, 16>());
        if ipv4.is_valid() {
            dscp_class.apply();
        } else if vlan.is_valid() {
            pcp_class.apply();
        } else {
            other_class.apply();
        }
    });
    ig.deparser().emit(eth).emit(vlan).emit(ipv4);
}

/// The program, placed on a chip.
pub(crate) struct Forwarder {
    program: Program,
    placement: Placement,
}

impl Forwarder {
    pub(crate) fn new(chip: &ChipSpec) -> Result<Forwarder, String> {
        let b = Builder::new("addressed", "Packets go where their addresses say");
        ingress(&b.ingress());
        let program = b
            .finish(&())
            .map_err(|diags| diags.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        let placement = place(&program, chip).map_err(|e| e.reason())?;
        Ok(Forwarder { program, placement })
    }

    /// Returns the first `n` front-panel ports of the chip at a speed; `None`: 32, or all if there are fewer.
    pub(crate) fn ports(&self, speed: BitRate, n: Option<u16>) -> Result<PortMap, String> {
        let ports = PortMap::new(&self.placement.chip, speed).map_err(|e| e.to_string())?;
        let found = ports.front_ports().len();
        if let Some(n) = n.filter(|n| usize::from(*n) > found) {
            let chip = &self.placement.chip.name;
            return Err(format!("found {n} ports at {speed}; {chip} has at most {found}"));
        }
        Ok(ports.keep_front(n.unwrap_or(PORTS)))
    }

    pub(crate) fn switch(&self, ports: &PortMap, config: SwitchConfig) -> Result<Switch<'static>, NoSwitch> {
        let control = control_state(&self.program, &self.placement);
        let engine = Engine::new(&self.program, &self.placement, &control)
            .map_err(|e| NoSwitch::Other(e.to_string()))?;
        Switch::new(&self.program, &self.placement, ports, control, Box::new(engine), config).map_err(|e| {
            match e {
                sluice_switch::SwitchError::Buffer(problems) => NoSwitch::Profile(problems),
                other => NoSwitch::Other(other.to_string()),
            }
        })
    }
}

/// Reason why a switch cannot be built.
pub(crate) enum NoSwitch {
    /// The buffer profile is rejected.
    Profile(Box<sluice_asic::tm::buffer::Problems>),
    /// Any other error.
    Other(String),
}
