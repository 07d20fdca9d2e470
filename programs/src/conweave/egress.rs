//! Egress of `conweave`: makes control packets of copies, counts packets that leave the reorder queues, resumes a queue
//! when TAIL leaves, marks ECN, and removes ConWeave's header from packets to hosts.

use super::Params;
use super::headers::{Bth, Cwh, Kind, Order, TIMER_TYPE, Timer, kind, opcode};
use crate::marking::marking;
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// Metadata of egress
#[derive(Header, Debug)]
pub(super) struct EgMeta {
    /// Cell of the reorder queue's counter
    cell: Bits<16>,
    /// 1 if TAIL has left
    tail_left: Bits<1>,
    /// Source MAC address of the copied packet
    mac: Bits<48>,
    /// Source IPv4 address of the copied packet
    ip: Bits<32>,
}

/// Headers and metadata of egress.
#[derive(Clone, Copy, Debug)]
struct EgHeaders {
    bridge: Hdr<Kind>,
    order: Hdr<Order>,
    ethernet: Hdr<Ethernet>,
    ipv4: Hdr<Ipv4>,
    udp: Hdr<Udp>,
    bth: Hdr<Bth>,
    cwh: Hdr<Cwh>,
    timer: Hdr<Timer>,
    m: EgMeta,
    port: tna::Egress,
    clock: tna::FromParser,
    words: tna::FlowControl,
}

/// Declares all of egress; gives the blocks whose registers must see all ports of the ToR.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) -> [SubcontrolRef; 2] {
    let h = headers(eg);
    let blocks = control(eg, p, h);
    eg.deparser()
        .checksum(h.ipv4, h.ipv4.checksum, h.ipv4.summed())
        .emit(h.ethernet)
        .emit(h.ipv4)
        .emit(h.udp)
        .emit(h.bth)
        .emit(h.cwh)
        .emit(h.timer);
    blocks
}

#[stage_program]
fn headers(eg: &GressBuilder<'_>) -> EgHeaders {
    let (bridge, order) = (eg.header::<Kind>(), eg.header::<Order>());
    let (ethernet, ipv4, udp) = (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Udp>());
    let (bth, cwh, timer) = (eg.header::<Bth>(), eg.header::<Cwh>(), eg.header::<Timer>());
    let m = eg.metadata::<EgMeta>();
    let (port, clock) = (eg.intrinsic::<tna::Egress>(), eg.intrinsic::<tna::FromParser>());
    let words = eg.intrinsic::<tna::FlowControl>();
    let start = eg.state().extract(bridge).select(bridge.kind);
    let parse_order = eg.state().extract(order);
    let parse_ethernet = eg.state().extract(ethernet).select(list![ethernet.ether_type, lookahead::<8>(0)]);
    let parse_ipv4 = eg.state().extract(ipv4).select(list![ipv4.flags, ipv4.frag_offset, ipv4.protocol]);
    let parse_udp = eg.state().extract(udp).select(udp.dst_port);
    let parse_bth = eg.state().extract(bth).select(bth.cw_opcode);
    let parse_cwh = eg.state().extract(cwh);
    let parse_timer_ipv4 = eg.state().extract(ipv4);
    let parse_timer_udp = eg.state().extract(udp);
    let parse_timer_bth = eg.state().extract(bth);
    let parse_timer_cwh = eg.state().extract(cwh);
    let parse_timer = eg.state().extract(timer);
    for with_order in [kind::BIRTH, kind::TAIL, kind::REBIRTH, kind::REBIRTH_OLD] {
        start.on(with_order, parse_order);
    }
    start.otherwise(parse_ethernet);
    parse_order.otherwise(parse_ethernet);
    const WITHOUT_OPTIONS: u64 = 0x45;
    parse_ethernet
        .on_tuple([(IPV4, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_ipv4)
        .on_tuple([(TIMER_TYPE, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_timer_ipv4);
    const MORE_FRAGMENTS: u64 = 1;
    parse_ipv4.on_tuple([(0, MORE_FRAGMENTS), (0, 0x1fff), (UDP, 0xff)], parse_udp);
    parse_udp.on(super::headers::ROCE, parse_bth);
    parse_bth.on(0, Accept).otherwise(parse_cwh);
    parse_timer_ipv4.otherwise(parse_timer_udp);
    parse_timer_udp.otherwise(parse_timer_bth);
    parse_timer_bth.otherwise(parse_timer_cwh);
    parse_timer_cwh.otherwise(parse_timer);
    eg.start(start);
    EgHeaders { bridge, order, ethernet, ipv4, udp, bth, cwh, timer, m, port, clock, words }
}

#[stage_program]
fn control(eg: &GressBuilder<'_>, p: &Params, h: EgHeaders) -> [SubcontrolRef; 2] {
    let EgHeaders { bridge, order, ethernet, ipv4, udp, bth, cwh, timer, m, port, clock, words } = h;
    let set_queue = eg.action(|a, cell: Arg<16>| m.cell = cell);
    /// Port and queue to the cell of a reorder queue's counter
    let queue_cell =
        eg.table([exact(port.egress_port), exact(port.egress_qid)]).actions([set_queue]).size(1024).build();
    let set_word = eg.action(|a, cell: Arg<16>| m.cell = cell);
    /// Flow-control word of a timer packet to the cell of its queue's counter
    let word_cell = eg.table([exact(timer.word)]).actions([set_word]).size(1024).build();
    /// Packets that left each reorder queue
    let dequeued = eg.register::<32>(1024);
    let count = eg.register_action(dequeued, |r| r.value = r.value.sat_add(1));
    /// 1 once the flow's TAIL has left by its port
    let tail_resume = eg.register::<8>(p.flows);
    let tail_take = eg.register_action(tail_resume, |r| {
        r.out = r.value;
        r.value = 0;
    });
    let is_host = eg.action(|_a| {});
    /// Ports of hosts
    let to_host = eg.table([exact(port.egress_port)]).actions([is_host]).size(256).build();
    let swap = eg.action(|a| {
        m.mac = ethernet.src;
        m.ip = ipv4.src;
    });
    /// Sends the copy back to its sender as a control packet without payload
    let craft = eg.action(|a| {
        ethernet.src = ethernet.dst;
        ethernet.dst = m.mac;
        ipv4.src = ipv4.dst;
        ipv4.dst = m.ip;
        ipv4.ttl = 64;
        ipv4.dscp = u64::from(p.control_dscp);
        ipv4.ecn = 0;
        ipv4.total_len = 44;
        udp.length = 24;
        udp.checksum = 0;
        bth.ask_reply = 0;
        bth.tail = 0;
    });
    let set_flags = eg.action(|a, flags: Arg<8>| bth.flags = flags);
    /// ECN of the RTT_REQUEST to the flags of the RTT_REPLY
    let ecn_flags = eg
        .table([exact(ipv4.ecn)])
        .actions([set_flags])
        .entries(entries![(0) => set_flags(0), (1) => set_flags(1), (2) => set_flags(2), (3) => set_flags(3)])
        .build();
    let strip = eg.action(|a| {
        cwh.set_invalid();
        bth.path = 0;
        bth.cw_opcode = 0;
        bth.phase = 0;
        bth.epoch = 0;
        bth.ask_reply = 0;
        bth.tail = 0;
    });
    let marking = marking(eg, port.deq_qdepth);

    /// CLEAR, RTT_REPLY and NOTIFY, of a copy of DATA or of a timer packet
    let answer = eg.subcontrol(|c| {
        swap.call();
        if bridge.kind == kind::CLEAR {
            bth.cw_opcode = opcode::REPLY;
            bth.phase = 1;
            bth.flags = 0;
            timer.set_invalid();
            ethernet.ether_type = IPV4;
        } else if bridge.kind == kind::REPLY {
            bth.cw_opcode = opcode::REPLY;
            bth.phase = 0;
            ecn_flags.apply();
        } else {
            bth.cw_opcode = opcode::NOTIFY;
            bth.flags = 0;
        }
        craft.call();
    });
    /// A timer packet, of a copy of DATA
    let birth = eg.subcontrol(|c| {
        timer.set_valid();
        timer.pad = 0;
        timer.waiting = 0;
        timer.draining = 0;
        timer.last = 0;
        timer.dequeued = 0;
        timer.word = order.word;
        timer.row = order.row;
        ethernet.ether_type = TIMER_TYPE;
        ipv4.ecn = 0;
        bth.flags = 0;
        bth.ask_reply = 0;
        bth.tail = 0;
        // TAIL may have left while no timer packet was there.
        if bridge.kind == kind::BIRTH {
            tail_resume.write(order.row, 0);
        }
        if bridge.kind == kind::REBIRTH_OLD {
            bth.phase = 0;
        } else {
            bth.phase = 1;
        }
    });
    /// A timer packet on its way back to ingress
    let lap = eg.subcontrol(|c| {
        word_cell.apply();
        if timer.last == 1 {
            dequeued.write(m.cell, 0);
        } else if timer.draining == 1 {
            timer.dequeued = dequeued.read(m.cell);
        } else if timer.waiting == 1 {
            m.tail_left = tail_take.execute(timer.row);
            if m.tail_left == 1 {
                timer.waiting = 0;
                timer.draining = 1;
                cwh.ts_tx = clock.global_tstamp.slice::<25, 10, 16>();
            }
        }
    });
    /// Any other packet. Only ToRs and spines see ConWeave's header
    let forward = eg.subcontrol(|c| {
        if order.is_valid() {
            words.adv_flow_ctl = order.word;
            tail_resume.write(order.row, 1);
        }
        if queue_cell.apply().hit() {
            count.execute(m.cell);
        }
        marking.mark(c, ipv4);
        if cwh.is_valid() && bth.cw_opcode == opcode::DATA {
            if to_host.apply().hit() {
                strip.call();
            }
        }
    });
    eg.control(|c| {
        if bth.is_valid()
            && (bridge.kind == kind::CLEAR || bridge.kind == kind::REPLY || bridge.kind == kind::NOTIFY)
        {
            answer.apply();
        } else if order.is_valid() && cwh.is_valid() && bridge.kind != kind::TAIL {
            birth.apply();
        } else if timer.is_valid() {
            lap.apply();
        } else {
            forward.apply();
        }
    });
    [lap, forward]
}
