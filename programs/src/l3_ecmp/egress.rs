//! Egress of `l3-ecmp`: the VLAN tag as the port wants it.

use super::headers::Bridge;
use sluice_pipeline::build::net::{Ethernet, Vlan};
use sluice_pipeline::build::*;

/// Tags or untags by port and VLAN.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>) {
    let (bridge, ethernet, vlan) = (eg.header::<Bridge>(), eg.header::<Ethernet>(), eg.header::<Vlan>());
    let eg_md = eg.intrinsic::<tna::Egress>();

    let start = eg.state().extract(bridge).extract(ethernet).select(ethernet.ether_type);
    let parse_vlan = eg.state().extract(vlan);
    start.on(0x8100, parse_vlan);
    eg.start(start);

    /// Frames out, per egress port
    let port_tx = eg.counter(512, CounterKind::PacketsAndBytes);
    /// The frame leaves with a tag
    let tagged = eg.action(|_a| {});
    /// The frame leaves without a tag
    let untagged = eg.action(|_a| {});
    /// Which VLANs a port sends tagged
    let port_vlan_out = eg
        .table([exact(eg_md.egress_port), exact(bridge.vid)])
        .actions([tagged, untagged])
        .default(untagged)
        .size(4096)
        .build();
    /// Puts a tag in
    let push = eg.action(|a| {
        vlan.set_valid();
        vlan.ether_type = ethernet.ether_type;
        vlan.vid = bridge.vid;
        ethernet.ether_type = 0x8100;
    });
    /// Takes the tag out
    let pop = eg.action(|a| {
        vlan.set_invalid();
        ethernet.ether_type = vlan.ether_type;
    });
    /// Changes the VLAN of a tagged frame
    let translate = eg.action(|a| vlan.vid = bridge.vid);

    eg.control(|c| {
        port_tx.count(eg_md.egress_port);
        match port_vlan_out.apply().action_run() {
            tagged => {
                if vlan.is_valid() {
                    translate.call();
                } else {
                    push.call();
                }
            }
            untagged => {
                if vlan.is_valid() {
                    pop.call();
                }
            }
        }
    });
    eg.deparser().emit(ethernet).emit(vlan);
}
