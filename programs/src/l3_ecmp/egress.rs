//! Egress of `l3-ecmp`: adds the 802.1Q tag for VLANs that a port sends tagged.

use super::Params;
use super::headers::{Bridge, VLAN};
use sluice_build::net::{Ethernet, Vlan};
use sluice_build::*;

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) {
    let (bridge, ethernet, vlan) = (eg.header::<Bridge>(), eg.header::<Ethernet>(), eg.header::<Vlan>());
    let port = eg.intrinsic::<tna::Egress>();
    let start = eg.state().extract(bridge).extract(ethernet);
    eg.start(start);

    /// Packets and bytes sent, by dev_port; the bytes include the bridged header, 2 per packet
    let ports_out = eg.counter(512, CounterKind::PacketsAndBytes);
    let untagged = eg.action(|_a| {});
    /// Adds the 802.1Q tag
    let tagged = eg.action(|a| {
        vlan.set_valid();
        vlan.pcp = bridge.pcp;
        vlan.dei = bridge.dei;
        vlan.vid = bridge.vid;
        vlan.ether_type = ethernet.ether_type;
        ethernet.ether_type = VLAN;
    });
    /// Egress port and VLAN to tagged or untagged; without an entry untagged
    let port_vlan_out = eg
        .table([exact(port.egress_port), exact(bridge.vid)])
        .actions([untagged, tagged])
        .default(untagged)
        .size(p.port_vlans)
        .build();

    eg.control(|c| {
        ports_out.count(port.egress_port);
        port_vlan_out.apply();
    });
    eg.deparser().emit(ethernet).emit(vlan);
}
