//! Ingress of `pfc`: classifies packets and hands them to forwarding, obeying or probes.

use super::Params;
use super::headers::{AT_INGRESS, Control8808, DATA, FRAME, MAC_CONTROL, PROBE, PROBES, Probe, Tag};
use super::obey;
use crate::forwarding::plain::{self, ForwardingTables, Headers};
use sluice_build::*;

/// Local number of the recirculation port that timers take. External traffic does not arrive on it.
pub(super) const LAP_PORT: u16 = 6;

/// Handling of packets that pause no queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub(super) tables: ForwardingTables,
    /// Consumes a MAC control frame that is not obeyed.
    pub(super) ignore: ActionRef,
    /// Adds the tag with the ingress port of a data packet.
    pub(super) announce: ActionRef,
}

/// Headers of ingress: those of forwarded packets, and those of this program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parsed<'b> {
    pub(super) forwarded: Headers<'b>,
    pub(super) tag: Hdr<Tag>,
    pub(super) control: Hdr<Control8808>,
    pub(super) probe: Option<Hdr<Probe>>,
}

/// Declares all of ingress.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let h = parser(ig, p);
    let Parsed { forwarded, tag, control, probe } = h;
    let port = ig.intrinsic::<tna::Ingress>();
    let tables = plain::tables(ig, forwarded, p.routes);
    let pfc_ignored = ig.consume_label("MAC control frame that is not PFC, or PFC that is not obeyed");
    let ignore = ig.action(|a| drop(pfc_ignored));
    let announce = ig.action(|a| {
        tag.set_valid();
        tag.kind = DATA;
        tag.port = port.ingress_port.cast::<16>();
    });
    let ways = Ways { tables, ignore, announce };
    if p.obey {
        let o = obey::obey(ig, p, h);
        obey::control(ig, o, h, ways);
        if let Some(probe) = probe {
            probes(ig, tag, probe);
        }
    } else {
        ig.control(|c| {
            if control.is_valid() {
                ignore.call();
            } else {
                announce.call();
                plain::forward(c, forwarded, tables);
            }
        });
    }
    let Headers { ethernet, vlan, ipv4, ipv6, .. } = forwarded;
    let leaves = ig.deparser().emit(tag).emit(ethernet).emit(vlan).emit(ipv4).emit(ipv6).emit(control);
    if let Some(probe) = probe {
        leaves.emit(probe);
    }
}

/// Declares the headers and the parser; a recirculated packet has a tag in front.
#[stage_program]
fn parser<'b>(ig: &GressBuilder<'b>, p: &Params) -> Parsed<'b> {
    let forwarded = plain::headers(ig);
    let (tag, control) = (ig.header::<Tag>(), ig.header::<Control8808>());
    let parse_control = ig.state().extract(control);
    forwarded.parse_ethernet.on(MAC_CONTROL, parse_control);
    let mut probe = None;
    if p.obey {
        if p.probe {
            let header = ig.named("probe", "A packet that carries a flow-control word").header::<Probe>();
            forwarded.parse_ethernet.on(PROBES, ig.named("parse_probe", "").state().extract(header));
            probe = Some(header);
        }
        let port = ig.intrinsic::<tna::Ingress>();
        let start = ig.state().select(port.ingress_port);
        let parse_tag = ig.state().extract(tag).select(tag.kind);
        parse_tag.on(FRAME, forwarded.parse_ethernet);
        start.on_masked(u64::from(LAP_PORT), 0x7f, parse_tag).otherwise(forwarded.parse_ethernet);
        ig.start(start);
    } else {
        ig.start(forwarded.parse_ethernet);
    }
    Parsed { forwarded, tag, control, probe }
}

/// Handles probes: `at` selects if the ingress deparser sends the word, or egress of the probe's port and queue.
#[stage_program]
fn probes(ig: &GressBuilder<'_>, tag: Hdr<Tag>, probe: Hdr<Probe>) {
    let tm = ig.intrinsic::<tna::ForTm>();
    let flow = ig.intrinsic::<tna::FlowControl>();
    let probe_sent = ig.consume_label("A probe whose word the ingress deparser sent");
    ig.control(|c| {
        if probe.is_valid() {
            if probe.at == AT_INGRESS {
                flow.adv_flow_ctl = probe.word;
                drop(probe_sent);
            } else {
                tm.ucast_egress_port = probe.port.slice::<8, 0, 9>();
                tm.qid = probe.queue.slice::<6, 0, 7>();
                tag.kind = PROBE;
                tag.word = probe.word;
            }
        }
    });
}
