//! How a source marks that INT follows: by DSCP, by UDP port, or by an added UDP header.

use super::params::{Carrier, Params};
use super::parser::Headers;
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::*;

/// Marks by DSCP or UDP port that INT follows, and stores the original value in the shim.
#[stage_program]
pub(super) fn mark(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { ipv4, ipv6, udp, shim, m, .. } = h;
    if p.carrier == Carrier::UdpPort {
        let mark_udp = eg.action(|a| {
            shim.original = udp.dst_port;
            m.original = udp.dst_port;
            m.old_port = udp.dst_port ^ 0xffff;
            m.new_port = u64::from(p.int_port);
            udp.dst_port = u64::from(p.int_port);
        });
        eg.control(|c| {
            if m.begun {
                mark_udp.call();
            }
        });
        return;
    }
    let keep = eg.action(|a, original: Arg<16>| {
        shim.original = original;
        m.original = original;
    });
    let mark_ipv4 = eg.action(|a| ipv4.dscp = u64::from(p.int_dscp));
    let mark_ipv6 = eg.action(|a| ipv6.dscp = u64::from(p.int_dscp));
    let rows = || -> [Row<1>; 64] {
        std::array::from_fn(|d| Row::new([Cell::Value(d as u128)], keep, vec![(d as u128) << 2]))
    };
    /// IPv4 DSCP to the shim's field `original`: the DSCP in bits 7 to 2
    let keep_ipv4 = eg.table([exact(ipv4.dscp)]).actions([keep]).entries(rows()).build();
    /// IPv6 DSCP to the shim's field `original`: the DSCP in bits 7 to 2
    let keep_ipv6 = eg.table([exact(ipv6.dscp)]).actions([keep]).entries(rows()).build();
    eg.control(|c| {
        if m.begun {
            if ipv4.is_valid() {
                keep_ipv4.apply();
                mark_ipv4.call();
            } else {
                keep_ipv6.apply();
                mark_ipv6.call();
            }
        }
    });
}

/// Adds a UDP header in front of TCP or UDP.
#[stage_program]
pub(super) fn put_udp(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { ipv4, ipv6, tcp, udp, int_udp, shim, m, .. } = h;
    /// UDP source port of the added header for TCP over IPv4: a hash, because all flows share the destination port
    let entropy4_tcp =
        eg.hash::<16>("crc_16").inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, tcp.ports]).build();
    /// UDP source port of the added header for TCP over IPv6: a hash, because all flows share the destination port
    let entropy6_tcp =
        eg.hash::<16>("crc_16").inputs(list![ipv6.src, ipv6.dst, ipv6.next_header, tcp.ports]).build();
    /// UDP source port of the added header for UDP over IPv4: a hash, because all flows share the destination port
    let entropy4_udp = eg
        .hash::<16>("crc_16")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, udp.src_port, udp.dst_port])
        .build();
    /// UDP source port of the added header for UDP over IPv6: a hash, because all flows share the destination port
    let entropy6_udp = eg
        .hash::<16>("crc_16")
        .inputs(list![ipv6.src, ipv6.dst, ipv6.next_header, udp.src_port, udp.dst_port])
        .build();
    let put = eg.action(|a| {
        int_udp.set_valid();
        int_udp.dst_port = u64::from(p.int_port);
        int_udp.checksum = 0;
    });
    let put_ipv4 = eg.action(|a| int_udp.length = ipv4.total_len - 20);
    let put_ipv6 = eg.action(|a| int_udp.length = ipv6.payload_len);
    let was_tcp = eg.action(|a| shim.original = TCP);
    let was_udp = eg.action(|a| shim.original = UDP);
    let tell_tcp4 = eg.action(|a| int_udp.src_port = entropy4_tcp.get());
    let tell_tcp6 = eg.action(|a| int_udp.src_port = entropy6_tcp.get());
    let tell_udp4 = eg.action(|a| int_udp.src_port = entropy4_udp.get());
    let tell_udp6 = eg.action(|a| int_udp.src_port = entropy6_udp.get());
    let udp4 = eg.action(|a| ipv4.protocol = UDP);
    let udp6 = eg.action(|a| ipv6.next_header = UDP);
    eg.control(|c| {
        if m.begun {
            put.call();
            if tcp.is_valid() {
                was_tcp.call();
                if ipv4.is_valid() {
                    tell_tcp4.call();
                } else {
                    tell_tcp6.call();
                }
            } else {
                was_udp.call();
                if ipv4.is_valid() {
                    tell_udp4.call();
                } else {
                    tell_udp6.call();
                }
            }
            if ipv4.is_valid() {
                put_ipv4.call();
                udp4.call();
            } else {
                put_ipv6.call();
                udp6.call();
            }
        }
    });
}
