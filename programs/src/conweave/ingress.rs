//! Ingress of `conweave`: routing, and which role the ToR plays for a packet.

use super::Params;
use super::busy::{Busy, busy};
use super::destination::{DstToR, destination};
use super::headers::{Headers, headers, opcode};
use super::queues::{Queues, queues};
use super::source::{SrcToR, source};
use super::timer::timer;
use sluice_asic::units::Duration;
use sluice_build::*;
use sluice_ir::IdleTimeout;

/// How often the chip looks for idle flows.
const SWEEP: Duration = Duration::from_millis(5);

/// The roles' blocks.
#[derive(Clone, Copy, Debug)]
struct Roles {
    busy: Busy,
    src: SrcToR,
    queues: Queues,
    dst: DstToR,
    timer: SubcontrolRef,
}

/// Tables beside the roles.
#[derive(Clone, Copy, Debug)]
struct Tables {
    route: TableRef,
    l2: TableRef,
    ecmp: TableRef,
    rdma: TableRef,
    flow: TableRef,
    class: TableRef,
}

/// Declares all of ingress; gives the blocks whose registers must see all ports of the ToR.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) -> [SubcontrolRef; 4] {
    let h = headers(ig);
    let busy = busy(ig, p, h);
    let src = source(ig, p, h, &busy);
    let queues = queues(ig, p, h);
    let dst = destination(ig, p, h, &queues);
    let timer = timer(ig, p, h, &dst);
    let roles = Roles { busy, src, queues, dst, timer };
    control(ig, p, h, &roles);
    ig.deparser()
        .resubmit(1, ())
        .mirror(1, h.m.session, h.copy)
        .mirror(2, h.m.session, h.birth)
        .checksum(h.ipv4, h.ipv4.checksum, h.ipv4.summed())
        .emit(h.bridge)
        .emit(h.order)
        .emit(h.ethernet)
        .emit(h.ipv4)
        .emit(h.udp)
        .emit(h.bth)
        .emit(h.cwh)
        .emit(h.timer);
    [src.data, src.reply, dst.data, timer]
}

/// The clock in ticks. A stateful ALU takes the bits that lie across containers, as no VLIW instruction does
/// (model: conweave §2.4).
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
fn clock(ig: &GressBuilder<'_>, h: Headers) -> RegisterActionRef {
    /// Ticks of 1.024 us of the last packet: nobody reads it again
    let ticks = ig.register::<32>(1);
    let read_clock = ig.register_action(ticks, |r| {
        r.value = h.clock.global_tstamp.slice::<41, 10, 32>();
        r.out = r.value;
    });
    read_clock
}

#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
fn flow_table(ig: &GressBuilder<'_>, p: &Params, h: Headers, roles: &Roles) -> TableRef {
    let (m, s) = (h.m, roles.src.s);
    let set_flow = ig.action(|a, row: Arg<16>, theta_reply: Arg<32>| {
        m.row = row;
        s.reply = theta_reply;
        m.known = 1;
    });
    let idle = IdleTimeout::notify(Duration::from_millis(p.idle_ms.into()), SWEEP);
    /// Flows under ConWeave's control, by their key in the direction of DATA
    let flow = ig
        .table([exact(m.src), exact(m.dst), exact(m.src_port)])
        .actions([set_flow])
        .size(p.flows)
        .idle(idle)
        .build();
    flow
}

/// Sets the time, and whether the packet recirculated.
#[stage_program]
fn begin(c: &mut Control<'_>, h: Headers, clock: RegisterActionRef, recirculation: u64) {
    let Headers { bridge, m, .. } = h;
    c.block(|c| {
        m.now = clock.execute(0);
        m.now_16 = h.clock.global_tstamp.slice::<25, 10, 16>();
        bridge.set_valid();
        if h.port.ingress_port == recirculation {
            m.recirculated = 1;
        }
    });
}

/// Sets the flow's key in the direction of DATA. REPLY and NOTIFY from a path have the reverse addresses.
#[stage_program]
fn key(c: &mut Control<'_>, h: Headers, recirculation: u64) {
    let Headers { ipv4, bth, cwh, m, .. } = h;
    c.block(|c| {
        if cwh.is_valid() && bth.cw_opcode != opcode::DATA && h.port.ingress_port != recirculation {
            m.src = ipv4.dst;
            m.dst = ipv4.src;
        } else {
            m.src = ipv4.src;
            m.dst = ipv4.dst;
        }
    });
}

/// The flow's row, and its candidates for a reorder queue. Packets of another pipe's ports find no flow: what this
/// pipe knows of it is not there, and queues have one owner.
#[stage_program]
fn row(c: &mut Control<'_>, p: &Params, h: Headers, roles: &Roles, flow: TableRef) {
    let Headers { timer, m, .. } = h;
    let Roles { queues, dst, .. } = roles;
    let pipe = u64::from(p.pipe);
    c.block(|c| {
        queues.hash.apply();
        dst.epoch_after.apply();
        if timer.is_valid() {
            m.row = timer.row;
        } else if h.port.ingress_port.slice::<8, 7, 2>() == pipe {
            flow.apply();
        }
        queues.candidates.apply();
    });
}

#[stage_program]
fn tables(ig: &GressBuilder<'_>, p: &Params, h: Headers, roles: &Roles) -> Tables {
    let Headers { ethernet, ipv4, bth, m, tm, .. } = h;
    let no_route = ig.drop_label("No route to the destination");
    let no_port = ig.drop_label("No port for this MAC address, and no default port");
    let to_host = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        m.port = port;
        m.last_hop = 1;
    });
    let to_group = ig.action(|a, group: Arg<16>| m.group = group);
    let unreachable = ig.action(|a| drop(no_route));
    /// Hosts of this ToR, and prefixes of other ToRs to their groups of paths
    let route =
        ig.table([lpm(m.dst)]).actions([to_host, to_group]).default(unreachable).size(p.routes).build();
    let bridge_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    let nowhere = ig.action(|a| drop(no_port));
    /// Bridges what is no IPv4 without options; the control plane sets the port of unknown addresses
    let l2 = ig.table([exact(ethernet.dst)]).actions([bridge_to]).default(nowhere).size(1024).build();
    /// ECMP's hash of the flow
    let flow_hash = ig
        .hash::<51>("crc_64")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, m.src_port, m.dst_port])
        .build();
    let ecmp_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Ports of the groups
    let ecmp_ports = ig.profile(p.groups);
    let ecmp_ports = ecmp_ports.selector(SelectorMode::Resilient, flow_hash, p.groups.min(256), 32).build();
    /// Group to the port that the flow's hash picks: for what ConWeave leaves alone
    let ecmp = ig.table([exact(m.group)]).actions([ecmp_to]).size(p.groups).profile(ecmp_ports).build();
    let is_rdma = ig.action(|a| m.rdma = 1);
    /// RDMA operations that ConWeave reroutes
    let rdma = ig.table([exact(m.dst_port), exact(bth.opcode)]).actions([is_rdma]).size(64).build();
    let cos = ig.intrinsic::<tna::Cos>();
    // One bit, because the queues from 2 on are reorder queues.
    let set_class = ig.action(|a, queue: Arg<1>, traffic_class: Arg<3>| {
        tm.qid = queue.cast::<7>();
        cos.ingress_cos = traffic_class;
    });
    /// DSCP to queue (0: data, 1: control) and traffic class
    let class =
        ig.table([exact(ipv4.dscp)]).actions([set_class]).default_with(set_class, [0, 0]).size(64).build();
    Tables { route, l2, ecmp, rdma, flow: flow_table(ig, p, h, roles), class }
}

#[stage_program]
fn control(ig: &GressBuilder<'_>, p: &Params, h: Headers, roles: &Roles) {
    let Headers { ipv4, bth, cwh, timer: laps, m, .. } = h;
    let t = tables(ig, p, h, roles);
    let bad_checksum = ig.drop_label("The IPv4 header checksum is wrong");
    let ttl_expired = ig.drop_label("The time to live is used up");
    let foreign = ig.drop_label("A timer packet that does not come from the recirculation port");
    let Roles { busy, src, dst, timer, .. } = roles;
    let recirculation = p.recirculation();
    let read_clock = clock(ig, h);

    ig.control(|c| {
        begin(c, h, read_clock, recirculation);
        if ipv4.is_valid() {
            key(c, h, recirculation);
            t.class.apply();
            t.route.apply();
            if bth.is_valid() {
                t.rdma.apply();
                row(c, p, h, roles, t.flow);
            }
            if m.last_hop == 0 {
                t.ecmp.apply();
                busy.sample.apply();
            }
            if laps.is_valid() {
                if m.recirculated == 1 {
                    timer.apply();
                } else {
                    drop(foreign);
                }
            } else if m.bad_checksum {
                drop(bad_checksum);
            } else if m.recirculated == 0 && ipv4.ttl <= 1 {
                // It ends here: no flow may count on it.
                drop(ttl_expired);
            } else if cwh.is_valid() {
                if bth.cw_opcode == opcode::DATA {
                    if m.last_hop == 1 {
                        if m.known == 1 {
                            dst.data.apply();
                        } else {
                            learn(c, h, 1);
                        }
                    }
                } else if m.recirculated == 1 {
                    h.tm.qid = super::CONTROL_QUEUE;
                } else {
                    src.reply.apply();
                }
            } else if bth.is_valid() && m.rdma == 1 && m.last_hop == 0 {
                if m.known == 1 {
                    src.data.apply();
                } else {
                    learn(c, h, 0);
                }
            }
            if m.recirculated == 0 {
                ipv4.ttl -= 1;
            }
        } else {
            t.l2.apply();
        }
    });
    ig.deparser().digest(1, h.new_flow);
}

/// Tells the control plane of a flow that the flow table does not have.
#[stage_program]
fn learn(c: &mut Control<'_>, h: Headers, at_destination: u64) {
    c.block(|c| {
        h.new_flow.src = h.ipv4.src;
        h.new_flow.dst = h.ipv4.dst;
        h.new_flow.src_port = h.m.src_port;
        h.new_flow.at_destination = at_destination;
        h.digest.digest_type = 1;
    });
}
