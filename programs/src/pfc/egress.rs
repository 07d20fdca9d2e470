//! Egress of `pfc`: queue depths, storms, and PFC frames that request pauses.

use super::Params;
use super::headers::{ASK, Control8808, DATA, MAC_CONTROL, OVER, PFC, PROBE, Padding, STORMED, TIMER, Tag};
use super::obey::SLOTS;
use sluice_build::net::Ethernet;
use sluice_build::*;

/// Elements of the register of requested pauses: ingress port and priority.
const SENDERS: u32 = 4096;

/// Per-packet metadata
#[derive(Header, Debug)]
struct Meta {
    /// Depth of the packet's queue in cells when the packet was dequeued
    depth: Bits<32>,
    /// Depth in cells above which a pause is requested (`xon`: below which it ends; `bit`: of the class-enable vector)
    xoff: Bits<32>,
    xon: Bits<32>,
    bit: Bits<8>,
    /// Priority of the queue (`slot`: its element of the register of storms)
    class: Bits<8>,
    slot: Bits<16>,
    /// Cells by which the depth is above `xoff`; 0 = not above (`under`: below `xon`)
    over: Bits<32>,
    under: Bits<32>,
    /// Egress time in ns, low 32 bits
    now: Bits<32>,
    /// 1 if a frame must be sent that requests a pause or ends one
    ask: Bits<1>,
    /// 1 for a packet of a lossless queue that is not in a storm
    lossless: Bits<1>,
    /// 1 if the queue is in a storm, so that its packets are dropped
    stormed: Bits<8>,
    /// Mirror session that sends to the packet's ingress port
    session: Bits<10>,
}

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) {
    let tag = eg.header::<Tag>();
    let ethernet = eg.header::<Ethernet>();
    let control = eg.header::<Control8808>();
    let padding = eg.header::<Padding>();
    let wanted = eg.header::<Tag>();
    let m = eg.metadata::<Meta>();
    let queue = eg.intrinsic::<tna::Egress>();
    let prsr = eg.intrinsic::<tna::FromParser>();
    let mirror = eg.intrinsic::<tna::ForMirror>();
    let start = eg.state().extract(tag);
    eg.start(start);

    let set_limits =
        eg.action(|a, class: Arg<8>, bit: Arg<8>, slot: Arg<16>, xoff: Arg<32>, xon: Arg<32>| {
            m.class = class;
            m.bit = bit;
            m.slot = slot;
            m.xoff = xoff;
            m.xon = xon;
        });
    /// Egress port and queue, for lossless queues, to priority and to thresholds in cells
    let limits = eg
        .table([exact(queue.egress_port), exact(queue.egress_qid)])
        .actions([set_limits])
        .size(1024)
        .build();

    /// By ingress port and priority: time of the last pause request in ns; 0 = the sender may send
    let asked = eg.register::<32>(SENDERS);
    /// Returns 1 if a pause must be requested: none was, or the last request is older than `refresh`
    let ask = eg.register_action(asked, |r| {
        if r.value == 0 || m.now - r.value > p.refresh {
            r.value = m.now;
            r.out = 1;
        }
    });
    /// Returns 1 if the end of a pause must be requested
    let release = eg.register_action(asked, |r| {
        if r.value != 0 {
            r.value = 0;
            r.out = 1;
        }
    });
    /// Index of a sender: ingress port and priority, concatenated
    let sender = eg
        .hash::<12>(HashAlgorithm::Identity)
        .inputs(list![tag.port.slice::<8, 0, 9>(), m.class.slice::<2, 0, 3>()])
        .build();

    let to_session = eg.action(|a, session: Arg<10>| {
        m.session = session;
        mirror.mirror_type = 1;
    });
    /// Ingress port to the mirror session that sends to that port
    let upstream = eg.table([exact(tag.port)]).actions([to_session]).size(512).build();
    let fill = fill(eg, tag, control);
    let set_source = eg.action(|a, source: Arg<48>| ethernet.src = source);
    /// Egress port to its MAC address, the source of PFC frames
    let own_mac = eg.table([exact(queue.egress_port)]).actions([set_source]).size(512).build();
    let build = eg.action(|a| {
        ethernet.set_valid();
        control.set_valid();
        padding.set_valid();
        ethernet.dst = 0x0180_c200_0001;
        ethernet.ether_type = MAC_CONTROL;
        control.opcode = PFC;
        control.enabled = tag.state;
    });

    eg.control(|c| {
        if tag.kind == DATA {
            m.depth = queue.deq_qdepth.cast::<32>();
            m.now = prsr.global_tstamp.slice::<31, 0, 32>();
            if limits.apply().hit() {
                m.lossless = 1;
            }
        }
    });
    if p.obey && p.storm_drop {
        storms(eg, tag, m);
    }
    eg.control(|c| {
        if m.lossless {
            m.over = m.depth.sat_sub(m.xoff);
            m.under = m.xon.sat_sub(m.depth);
            if m.over != 0 {
                m.ask = ask.execute(sender);
                wanted.slot = u64::from(p.quanta);
            } else if m.under != 0 {
                m.ask = release.execute(sender);
                wanted.slot = 0;
            }
            if m.ask {
                wanted.kind = ASK;
                wanted.state = m.bit;
                upstream.apply();
            }
        }
        if tag.kind == ASK {
            build.call();
            fill.apply();
            own_mac.apply();
            tag.set_invalid();
        } else if tag.kind == DATA {
            tag.set_invalid();
        }
    });
    if p.obey && p.probe {
        let flow = eg.intrinsic::<tna::FlowControl>();
        eg.control(|c| {
            if tag.is_valid() && tag.kind == PROBE {
                flow.adv_flow_ctl = tag.word;
                tag.set_invalid();
            }
        });
    }
    eg.deparser().mirror(1, m.session, wanted).emit(tag).emit(ethernet).emit(control).emit(padding);
}

/// Drops packets of queues in a storm. Timers start and end the dropping when they pass egress of the queue's pipe.
#[stage_program]
fn storms(eg: &GressBuilder<'_>, tag: Hdr<Tag>, m: Meta) {
    let pfc_storm = eg.drop_label("The packet's queue is in a pause storm");
    let refuse = eg.action(|a| {
        m.lossless = 0;
        drop(pfc_storm);
    });
    /// By local port and priority: 1 while the queue's packets are dropped
    let dropping = eg.register::<8>(SLOTS);
    let is_dropping = eg.register_action(dropping, |r| r.out = r.value);
    let set_dropping = eg.register_action(dropping, |r| r.value = 1);
    let clear_dropping = eg.register_action(dropping, |r| r.value = 0);
    eg.control(|c| {
        if m.lossless {
            m.stormed = is_dropping.execute(m.slot);
            if m.stormed == 1 {
                refuse.call();
            }
        } else if tag.kind == TIMER {
            if tag.state == STORMED {
                set_dropping.execute(tag.slot);
            } else if tag.state == OVER {
                clear_dropping.execute(tag.slot);
            }
        }
    });
}

/// Declares the table that writes the quanta to the field of the priority whose bit is set.
fn fill(eg: &GressBuilder<'_>, tag: Hdr<Tag>, control: Hdr<Control8808>) -> TableRef {
    let of = |class: usize| {
        eg.named(&format!("fill_{class}"), "Writes the quanta of this priority")
            .action(|a| a.set(control.times()[class], tag.slot))
    };
    let actions: [ActionRef; 8] = std::array::from_fn(of);
    let rows: [Row<1>; 8] =
        std::array::from_fn(|class| Row::new([Cell::Value(1 << class)], actions[class], Vec::new()));
    let table = eg.named("fill", "Class-enable bit to its priority's quanta").table([exact(tag.state)]);
    table.actions(actions).entries(rows).build()
}
