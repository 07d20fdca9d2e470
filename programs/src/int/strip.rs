//! Removal of INT at a sink, and the effect of E and M on L4 checksums.

use super::params::{Carrier, Params};
use super::parser::Headers;
use sluice_build::net::protocol::TCP;
use sluice_build::*;

/// Changes of E and M, which change the L4 checksum: keys of the table `flag_sum`.
pub(super) mod change {
    /// E is set.
    pub(crate) const SET_E: u64 = 1;
    /// M is set.
    pub(crate) const SET_M: u64 = 2;
    /// E was set, and is removed.
    pub(crate) const UNDO_E: u64 = 5;
    /// M was set, and is removed.
    pub(crate) const UNDO_M: u64 = 6;
    /// Both were set, and are removed.
    pub(crate) const UNDO_BOTH: u64 = 7;
}

/// Bytes of a UDP header.
const UDP_LEN: u32 = 8;

/// Computes the bytes to remove, and restores the fields that INT changed; the parser has skipped the stack.
#[stage_program]
pub(super) fn strip(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, shim, int, m, .. } = h;
    let errors = eg.intrinsic::<tna::ParserErrors>();
    let malformed = eg.drop_label(
        "The INT data of a packet to a host is longer than the packet, or than `sink_words` allows",
    );
    let refuse = eg.action(|a| drop(malformed));
    room(eg, p, h);
    let cut = eg.action(|a, block: Arg<16>, least: Arg<16>| {
        m.block = block;
        m.longest = m.longest.sat_sub(least);
    });
    let shim_len: u32 = if p.carrier == Carrier::NewUdp { 12 } else { 4 };
    let row = |words: u32| {
        let off = words * 4 + shim_len;
        let data = vec![u128::from(off.wrapping_neg() as u16), u128::from(off + UDP_LEN - 1)];
        Row::new([Cell::Value(words.into())], cut, data)
    };
    /// Shim length to the bytes that are removed, as a negative number
    let strip_bytes = eg.table([exact(shim.length)]).actions([cut]).size(256);
    // The parser rejects any other length.
    let lengths = 3..=3 + u32::from(p.sink_words);
    let strip_bytes = lengths.fold(strip_bytes, |table, words| table.entries([row(words)])).build();
    let undo_e = eg.action(|a| m.flags = change::UNDO_E);
    let undo_m = eg.action(|a| m.flags = change::UNDO_M);
    let undo_both = eg.action(|a| m.flags = change::UNDO_BOTH);
    eg.control(|c| {
        if int.is_valid() && bridge.sink {
            if m.malformed || errors.parser_err != 0 {
                refuse.call();
            } else {
                strip_bytes.apply();
                if m.longest == 0 {
                    refuse.call();
                }
                if m.summed {
                    if int.exceeded && int.mtu {
                        undo_both.call();
                    } else if int.exceeded {
                        undo_e.call();
                    } else if int.mtu {
                        undo_m.call();
                    }
                }
            }
        }
    });
    restore(eg, p, h);
}

/// Stores the length of the datagram that INT must fit into, as `longest`. For a TCP segment, the TCP
/// header counts with the length of a UDP header.
#[stage_program]
fn room(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, ipv4, ipv6, udp, int_udp, int, m, .. } = h;
    const TCP_MORE: u64 = 20 - UDP_LEN as u64;
    let over = if p.carrier == Carrier::NewUdp { int_udp } else { udp };
    let udp_room = eg.action(|a| m.longest = over.length);
    if p.carrier != Carrier::Dscp {
        eg.control(|c| {
            if int.is_valid() && bridge.sink {
                udp_room.call();
            }
        });
        return;
    }
    let tcp4_room = eg.action(|a| m.longest = ipv4.total_len.sat_sub(20 + TCP_MORE));
    let tcp6_room = eg.action(|a| m.longest = ipv6.payload_len.sat_sub(TCP_MORE));
    eg.control(|c| {
        if int.is_valid() && bridge.sink {
            if udp.is_valid() {
                udp_room.call();
            } else if ipv4.is_valid() {
                tcp4_room.call();
            } else {
                tcp6_room.call();
            }
        }
    });
}

/// Removes the shim, the INT header and an added UDP header.
#[stage_program]
pub(super) fn take_off(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, int_udp, shim, int, .. } = h;
    let take_off = eg.action(|a| {
        shim.set_invalid();
        int.set_invalid();
    });
    if p.carrier == Carrier::NewUdp {
        eg.control(|c| {
            if int.is_valid() && bridge.sink {
                int_udp.set_invalid();
            }
        });
    }
    eg.control(|c| {
        if int.is_valid() && bridge.sink {
            take_off.call();
        }
    });
}

/// Restores the original value that the shim holds.
#[stage_program]
fn restore(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, ipv4, ipv6, udp, shim, int, .. } = h;
    let rows = |action: ActionRef| -> [Row<1>; 64] {
        std::array::from_fn(|d| Row::new([Cell::Masked((d as u128) << 2, 0xfc)], action, vec![d as u128]))
    };
    match p.carrier {
        Carrier::Dscp => {
            let ipv4_dscp = eg.action(|a, dscp: Arg<6>| ipv4.dscp = dscp);
            let ipv6_dscp = eg.action(|a, dscp: Arg<6>| ipv6.dscp = dscp);
            /// Shim field `original` to the IPv4 DSCP that is restored
            let ipv4_original =
                eg.table([ternary(shim.original)]).actions([ipv4_dscp]).entries(rows(ipv4_dscp)).build();
            /// Shim field `original` to the IPv6 DSCP that is restored
            let ipv6_original =
                eg.table([ternary(shim.original)]).actions([ipv6_dscp]).entries(rows(ipv6_dscp)).build();
            eg.control(|c| {
                if int.is_valid() && bridge.sink {
                    if ipv4.is_valid() {
                        ipv4_original.apply();
                    } else {
                        ipv6_original.apply();
                    }
                }
            });
        }
        Carrier::UdpPort => {
            let udp_port = eg.action(|a| udp.dst_port = shim.original);
            eg.control(|c| {
                if int.is_valid() && bridge.sink {
                    udp_port.call();
                }
            });
        }
        // Any other original protocol is UDP, like the header that is removed.
        Carrier::NewUdp => {
            let tcp4 = eg.action(|a| ipv4.protocol = TCP);
            let tcp6 = eg.action(|a| ipv6.next_header = TCP);
            eg.control(|c| {
                if int.is_valid() && bridge.sink && shim.original.slice::<7, 0, 8>() == TCP {
                    if ipv4.is_valid() {
                        tcp4.call();
                    } else {
                        tcp6.call();
                    }
                }
            });
        }
    }
}

/// Corrects the L4 checksum for changes of E and M. E is 0x0400 and M 0x0200 of a covered word: setting
/// a flag lowers the checksum by that value in ones' complement, removing the flag raises it.
#[stage_program]
pub(super) fn flag_sum(eg: &GressBuilder<'_>, h: Headers) {
    let Headers { tcp, udp, m, .. } = h;
    let add = eg.action(|a, by: Arg<16>| m.sum += by);
    let mut rows = Vec::new();
    let mut row = |flags: u64, tcp: u128, (lo, hi): (u32, u32), by: u32| {
        let key = [Cell::Value(flags.into()), Cell::Value(tcp), Cell::Between(lo.into(), hi.into())];
        rows.push(Row::new(key, add, vec![u128::from(by & 0xffff)]));
    };
    for tcp in [0, 1] {
        for (flags, value) in [(change::SET_E, 0x400u32), (change::SET_M, 0x200)] {
            row(flags, tcp, (value + 1, 0xffff), 0x1_0000 - value);
            row(flags, tcp, (0, value), 0x1_0000 - value - 1);
        }
        let undo = [(change::UNDO_E, 0x400u32), (change::UNDO_M, 0x200), (change::UNDO_BOTH, 0x600)];
        for (flags, value) in undo {
            // In ones' complement 0xffff is zero; TCP writes it as 0 and UDP as 0xffff.
            let last = 0xffff - value - tcp as u32;
            row(flags, tcp, (0, last), value);
            row(flags, tcp, (last + 1, 0xffff), value + 1);
        }
    }
    let rows: [Row<3>; 20] = match rows.try_into() {
        Ok(rows) => rows,
        Err(_) => return,
    };
    /// Change of E and M, protocol and checksum to the number that is added to the checksum
    let flag_sum =
        eg.table([exact(m.flags), exact(m.tcp), range(m.sum)]).actions([add]).entries(rows).build();
    let tcp_sum = eg.action(|a| tcp.checksum = m.sum);
    let udp_sum = eg.action(|a| udp.checksum = m.sum);
    eg.control(|c| {
        if m.flags != 0 {
            flag_sum.apply();
            if tcp.is_valid() {
                tcp_sum.call();
            } else {
                udp_sum.call();
            }
        }
    });
}
