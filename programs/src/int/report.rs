//! Reports: which packets are copied, and how a copy becomes a report to the collector.

use super::block::Block;
use super::headers::{REPORT_LEN, ReportHeader, kind};
use super::ingress::{DROP_REASON, flag};
use super::observe::Hardware;
use super::params::{Carrier, Mode, Params, SinkReport};
use super::parser::{Headers, shapes};
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::*;

/// Headers that only reports have.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportParts {
    pub(super) report: Hdr<ReportHeader>,
}

/// Declares the headers that only reports have.
#[stage_program]
pub(super) fn parts(eg: &GressBuilder<'_>) -> ReportParts {
    let report = eg.header::<ReportHeader>();
    ReportParts { report }
}

/// Adds the mirrored copies of egress to the deparser.
pub(super) fn copies<'b>(deparser: Deparser<'b>, h: Headers) -> Deparser<'b> {
    deparser.mirror(1, h.m.session, h.copy)
}

/// Requests a copy of packets from which a sink removes INT, of watched packets (INT-XD), of packets with instructions
/// (INT-MX), of packets whose queue was full, and of the first packet of a queue that is above a threshold.
#[stage_program]
pub(super) fn ask(eg: &GressBuilder<'_>, p: &Params, h: Headers, hw: Hardware) {
    let Headers { bridge, copy, int, m, .. } = h;
    let out = hw.out;
    let mirror = eg.intrinsic::<tna::ForMirror>();
    let deflected = eg.intrinsic::<tna::Deflected>();
    let no_room = eg.drop_label("The queue was full; a report is sent");
    let discarded = eg.consume_label("A probe: flag D of the INT header tells the sink to discard it");

    let thresholds = eg.action(|a, depth: Arg<32>, latency: Arg<32>| {
        m.deep = m.depth.sat_sub(depth);
        m.late = m.latency.sat_sub(latency);
    });
    /// Egress port and queue to the depth in cells and the latency in ns above which the queue is congested
    let queue_watch = eg
        .table([exact(out.egress_port), exact(out.egress_qid)])
        .actions([thresholds])
        .default_with(thresholds, [0xffff_ffff, 0xffff_ffff])
        .size(1024)
        .build();
    /// Index of a queue: port and queue number, concatenated
    let port_queue =
        eg.hash::<16>(HashAlgorithm::Identity).inputs(list![out.egress_port, out.egress_qid]).build();
    /// By port and queue: 1 if the last packet was above a threshold
    let congestion = eg.register::<16>(65_536);
    let renew = eg.register_action(congestion, |r| {
        r.out = r.value;
        r.value = m.congested;
    });

    let describe = eg.action(|a| {
        copy.kind = kind::COPY;
        copy.ingress_port = bridge.ingress_port;
        copy.egress_port = out.egress_port.cast::<16>();
        copy.queue = m.queue;
        copy.latency = m.latency;
        copy.ingress_time_hi = bridge.ingress_time_hi;
        copy.ingress_time = bridge.ingress_time;
        copy.egress_time_hi = hw.parser.global_tstamp.slice::<47, 32, 16>();
        copy.egress_time = hw.parser.global_tstamp.slice::<31, 0, 32>();
        copy.bits_hi = u64::from(p.report_metadata >> 8);
        m.session = u64::from(p.session);
    });
    let congested = eg.action(|a| m.congested = 1);
    let report_drop = eg.action(|a| {
        copy.flags = flag::DROP;
        copy.bits_lo = DROP_REASON;
        mirror.mirror_type = 1;
        drop(no_room);
    });
    let report_queue = eg.action(|a| {
        copy.flags = flag::QUEUE;
        mirror.mirror_type = 1;
    });
    let discard = eg.action(|a| drop(discarded));
    eg.control(|c| {
        if bridge.is_valid() {
            queue_watch.apply();
            if m.deep != 0 {
                congested.call();
            } else if m.late != 0 {
                congested.call();
            }
            m.before = renew.execute(port_queue);
            describe.call();
        }
    });
    let reports_flows = p.mode != Mode::Md || p.ends() && p.sink_report == SinkReport::Egress;
    // Which packets are tracked depends on the mode.
    match p.mode {
        Mode::Xd => {
            let tracked = eg.action(|a| m.tracked = 1);
            eg.control(|c| {
                if bridge.is_valid() && bridge.watched {
                    tracked.call();
                }
            });
        }
        Mode::Md if !reports_flows => {}
        Mode::Md => {
            let tracked = eg.action(|a| m.tracked = 1);
            eg.control(|c| {
                if int.is_valid() && bridge.sink {
                    tracked.call();
                }
            });
        }
        Mode::Mx => {
            /// Reports the packet, whose instructions select the report's metadata
            let tracked = eg.action(|a| m.tracked = 1);
            let as_asked = eg.action(|a| copy.bits_hi = m.bits_hi & 0x7c);
            eg.control(|c| {
                if int.is_valid() {
                    tracked.call();
                    as_asked.call();
                }
            });
        }
    }
    if !reports_flows {
        eg.control(|c| {
            if bridge.is_valid() {
                if deflected.deflection_flag {
                    report_drop.call();
                } else if m.congested == 1 && m.before == 0 {
                    report_queue.call();
                }
            }
        });
    } else {
        let report_flow = eg.action(|a| {
            copy.flags = flag::FLOW;
            mirror.mirror_type = 1;
        });
        let report_both = eg.action(|a| {
            copy.flags = flag::FLOW | flag::QUEUE;
            mirror.mirror_type = 1;
        });
        eg.control(|c| {
            if bridge.is_valid() {
                if deflected.deflection_flag {
                    report_drop.call();
                } else if m.tracked && m.congested == 1 && m.before == 0 {
                    report_both.call();
                } else if m.tracked {
                    report_flow.call();
                } else if m.congested == 1 && m.before == 0 {
                    report_queue.call();
                }
            }
        });
    }
    if p.ends() {
        eg.control(|c| {
            if int.is_valid() && bridge.sink && int.discard {
                discard.call();
            }
        });
    }
    if p.sink_report == SinkReport::Egress {
        let io = eg.intrinsic::<tna::MirrorIo>();
        let as_it_came = eg.action(|a| copy.kind = kind::ARRIVAL);
        let as_it_leaves = eg.action(|a| io.mirror_io_select = 1);
        let came = p.ends();
        eg.control(|c| {
            if came && int.is_valid() && bridge.sink {
                as_it_came.call();
            } else {
                as_it_leaves.call();
            }
        });
    }
}

/// Turns a copy into a report: Ethernet, IPv4 and UDP to the collector, the report's headers and metadata.
#[stage_program]
pub(super) fn make(eg: &GressBuilder<'_>, p: &Params, h: Headers, k: Block, r: ReportParts, hw: Hardware) {
    let Headers { copy, ethernet, ipv4, m, .. } = h;
    // The UDP header in front of INT is also the one in front of the report.
    let udp = if p.carrier == Carrier::NewUdp { h.int_udp } else { h.udp };
    let report = r.report;
    let out = hw.out;
    /// Sets the addresses of the report, and the first word of its group header: version and hw_id
    let send = eg.action(
        |a,
         dst_mac: Arg<48>,
         src_mac: Arg<48>,
         src: Arg<32>,
         dst: Arg<32>,
         src_port: Arg<16>,
         dst_port: Arg<16>,
         group: Arg<32>| {
            ethernet.dst = dst_mac;
            ethernet.src = src_mac;
            ipv4.src = src;
            ipv4.dst = dst;
            udp.src_port = src_port;
            udp.dst_port = dst_port;
            report.group = group;
        },
    );
    /// Egress port of a report to the collector's addresses
    let collector = eg
        .table([exact(out.egress_port)])
        .actions([send])
        .default_with(send, [0, 0, 0, 0, 0, 0, 0x2000_0000u64])
        .size(64)
        .build();
    /// Reports sent, by port, modulo 2^32; the low 22 bits are the sequence number
    let sequence = eg.register::<32>(512);
    let next = eg.register_action(sequence, |r| {
        r.out = r.value;
        r.value = r.value + 1;
    });
    let cut = eg.action(|a| m.sequence = m.sequence & 0x003f_ffff);
    let number = eg.action(|a| report.group = report.group | m.sequence);
    let compose = eg.action(|a| {
        ethernet.set_valid();
        ethernet.ether_type = IPV4;
        ipv4.set_valid();
        ipv4.version = 4;
        ipv4.ihl = 5;
        ipv4.ttl = 64;
        ipv4.protocol = UDP;
        udp.set_valid();
        udp.checksum = 0;
        report.set_valid();
        report.node = m.node;
        report.flags = copy.flags;
        report.bits_hi = copy.bits_hi;
        report.bits_lo = copy.bits_lo;
        report.domain = u64::from(p.domain);
        report.ds = 0;
        m.adds = 1;
        m.words += m.tail;
        k.interfaces.ingress = copy.ingress_port;
        k.interfaces.egress = copy.egress_port;
        k.latency.value = copy.latency;
        k.queue.value = copy.queue;
        k.ingress_time.time_hi = copy.ingress_time_hi;
        k.ingress_time.time = copy.ingress_time;
        k.egress_time.time_hi = copy.egress_time_hi;
        k.egress_time.time = copy.egress_time;
    });
    let shape = eg.action(|a, types: Arg<16>, in_front: Arg<16>| {
        report.head = types;
        m.inner = out.pkt_length - in_front;
    });
    let rows = shapes().map(|(number, types, in_front)| {
        Row::new([Cell::Value(number.into())], shape, vec![types.into(), in_front.into()])
    });
    /// Kind of the copied packet to RepType and InType, and to the bytes in front of the part that the report includes
    let copy_shape = eg.table([exact(m.shape)]).actions([shape]).entries(rows).build();
    let size = eg.action(|a, bytes: Arg<16>, words: Arg<16>| {
        m.block = bytes;
        m.report_length = words;
    });
    let rows: [Row<1>; 16] = std::array::from_fn(|n| {
        let n = n as u128;
        Row::new([Cell::Value(n)], size, vec![4 * n, n + 2])
    });
    /// Words of metadata to bytes, and to the words of the report without its part of the packet
    let report_size = eg.table([exact(m.words)]).actions([size]).entries(rows).build();
    let scale = eg.action(|a| m.longest = m.inner >> 2);
    let join = eg.action(|a| {
        report.md_length = m.words;
        m.report_length += m.longest;
        m.block += m.inner;
    });
    let lengths = eg.action(|a| {
        udp.length = m.block + (8 + REPORT_LEN);
        ipv4.total_len = m.block + (28 + REPORT_LEN);
    });
    /// Report length 255 = to the end of the packet, as its words are not whole or too many
    let to_the_end = eg.action(|a| m.report_length = 0xff);
    let head = eg.action(|a| report.head = report.head | m.report_length);
    let reason = eg.action(|a| {
        k.drop_reason.set_valid();
        k.drop_reason.reason = copy.reason;
        k.drop_reason.pad = 0;
    });
    eg.control(|c| {
        if copy.is_valid() {
            collector.apply();
            copy_shape.apply();
            m.sequence = next.execute(out.egress_port);
            cut.call();
            compose.call();
            number.call();
            if m.bits_lo == DROP_REASON {
                reason.call();
            }
            report_size.apply();
            scale.call();
            join.call();
            lengths.call();
            if m.inner.slice::<1, 0, 2>() != 0 || m.report_length > 254 {
                to_the_end.call();
            }
            head.call();
        }
    });
}
