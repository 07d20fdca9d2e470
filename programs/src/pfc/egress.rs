//! Egress of `pfc`: depths, storms, frames that ask for pauses.

use super::Params;
use super::headers::{ASK, Control8808, DATA, MAC_CONTROL, OVER, PFC, PROBE, Padding, STORMED, TIMER, Tag};
use super::obey::SLOTS;
use sluice_build::net::Ethernet;
use sluice_build::*;

/// Elements of the register of what was asked for: port and priority.
const SENDERS: u32 = 4096;

/// Per-packet metadata
#[derive(Header, Debug)]
struct Meta {
    /// Cells that the packet leaves behind
    depth: Bits<32>,
    /// Thresholds of the queue, and its bit in a class-enable vector
    xoff: Bits<32>,
    xon: Bits<32>,
    bit: Bits<8>,
    /// Its priority, and its element of the register of storms
    class: Bits<8>,
    slot: Bits<16>,
    /// 0 if the depth is not above `xoff`; not below `xon`
    over: Bits<32>,
    under: Bits<32>,
    /// The time now, ns
    now: Bits<32>,
    /// 1: a pause is to be asked for, or its end
    ask: Bits<1>,
    /// 1: a packet of a lossless queue that is not stormed
    lossless: Bits<1>,
    /// 1: the queue is stormed
    stormed: Bits<8>,
    /// Mirror session of the port that the packet came in by
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
    /// Lossless queues: priority, thresholds in cells
    let limits = eg
        .table([exact(queue.egress_port), exact(queue.egress_qid)])
        .actions([set_limits])
        .size(1024)
        .build();

    /// When a pause was last asked for, ns; 0 if the sender may send
    let asked = eg.register::<32>(SENDERS);
    /// Whether to ask for a pause: none is known to last
    let ask = eg.register_action(asked, |r| {
        if r.value == 0 || m.now - r.value > p.refresh {
            r.value = m.now;
            r.out = 1;
        }
    });
    /// Whether to ask for its end
    let release = eg.register_action(asked, |r| {
        if r.value != 0 {
            r.value = 0;
            r.out = 1;
        }
    });
    /// Port that the packet came in by and priority
    let sender = eg
        .hash::<12>(HashAlgorithm::Identity)
        .inputs(list![tag.port.slice::<8, 0, 9>(), m.class.slice::<2, 0, 3>()])
        .build();

    let to_session = eg.action(|a, session: Arg<10>| {
        m.session = session;
        mirror.mirror_type = 1;
    });
    /// Port that the packet came in by to the session that sends there
    let upstream = eg.table([exact(tag.port)]).actions([to_session]).size(512).build();
    let fill = fill(eg, tag, control);
    let set_source = eg.action(|a, source: Arg<48>| ethernet.src = source);
    /// MAC address of a port
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

/// Drops packets of stormed queues: timers tell, on their way through egress of the pipe whose queues they are.
#[stage_program]
fn storms(eg: &GressBuilder<'_>, tag: Hdr<Tag>, m: Meta) {
    let pfc_storm = eg.drop_label("The packet's queue is in a pause storm");
    let refuse = eg.action(|a| {
        m.lossless = 0;
        drop(pfc_storm);
    });
    /// 1 while packets of a queue are dropped
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

/// The time of the priority whose bit is set.
fn fill(eg: &GressBuilder<'_>, tag: Hdr<Tag>, control: Hdr<Control8808>) -> TableRef {
    let of = |class: usize| {
        eg.named(&format!("fill_{class}"), "The quanta of this priority")
            .action(|a| a.set(control.times()[class], tag.slot))
    };
    let actions: [ActionRef; 8] = std::array::from_fn(of);
    let rows: [Row<1>; 8] =
        std::array::from_fn(|class| Row::new([Cell::Value(1 << class)], actions[class], Vec::new()));
    let table = eg.named("fill", "Class-enable vector of one priority to its time").table([exact(tag.state)]);
    table.actions(actions).entries(rows).build()
}
