//! The egress parser of `int`: bridged packets up to the INT header, at a sink to the end of the stack,
//! and copies up to the part that a report includes.

use super::headers::*;
use super::metadata::Meta;
use super::params::{Carrier, Mode, Params};
use crate::forwarding::routed::PLAIN_IPV4;
use sluice_build::net::ether_type::{IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, Udp};
use sluice_build::*;

/// Headers and metadata of egress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) bridge: Hdr<Bridge>,
    pub(super) copy: Hdr<Copy>,
    pub(super) ethernet: Hdr<Ethernet>,
    pub(super) ipv4: Hdr<Ipv4>,
    pub(super) ipv6: Hdr<Ipv6>,
    pub(super) tcp: Hdr<TcpWords>,
    pub(super) udp: Hdr<Udp>,
    pub(super) int_udp: Hdr<Udp>,
    pub(super) shim: Hdr<Shim>,
    pub(super) int: Hdr<IntHeader>,
    pub(super) m: Meta,
}

/// Part of a packet that a report includes, by EtherType: the value of the report's first two bytes, which is RepType 1
/// and InType 4 (IPv4), 5 (IPv6) or 3 (Ethernet).
const INNER: [(u64, Option<u64>); 3] = [(0x1400, Some(IPV4)), (0x1500, Some(IPV6)), (0x1300, None)];

/// Returns the kinds of copies: number, first two bytes of the report, and bytes in front of the included part.
pub(super) fn shapes() -> [(u64, u64, u16); 6] {
    std::array::from_fn(|shape| {
        let (types, ether_type) = INNER[shape % 3];
        let in_front = COPY_LEN + if shape < 3 { 0 } else { BRIDGE_LEN };
        // Reports of IP packets begin with IP.
        (shape as u64, types, in_front + if ether_type.is_some() { 14 } else { 0 })
    })
}

/// Declares the headers and the parser.
#[stage_program]
pub(super) fn headers(eg: &GressBuilder<'_>, p: &Params) -> Headers {
    let (bridge, copy) = (eg.header::<Bridge>(), eg.header::<Copy>());
    let (ethernet, ipv4, ipv6) = (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Ipv6>());
    let (tcp, udp) = (eg.header::<TcpWords>(), eg.header::<Udp>());
    /// UDP header that carrier=new-udp adds in front of TCP or UDP
    let int_udp = eg.header::<Udp>();
    let (shim, int) = (eg.header::<Shim>(), eg.header::<IntHeader>());
    let m = eg.metadata::<Meta>();
    let h = Headers { bridge, copy, ethernet, ipv4, ipv6, tcp, udp, int_udp, shim, int, m };

    let start = eg.state().select(lookahead::<8>(0));
    let bridged = eg.state().extract(bridge).extract(ethernet).select(ethernet.ether_type);
    let left = eg.state().extract(copy).select(lookahead::<16>(96));
    /// Copy of the packet as it entered egress: skips its bridged header
    let came = eg.state().extract(copy).advance(BRIDGE_LEN).select(lookahead::<16>(96));
    start.on(kind::BRIDGED, bridged).on(kind::COPY, left).on(kind::ARRIVAL, came);
    for (shape, ..) in shapes() {
        let (state, (_, ether_type)) = (if shape < 3 { left } else { came }, INNER[shape as usize % 3]);
        let inner = eg.named("inner", "Packet data that the report includes").state().set(m.shape, shape);
        match ether_type {
            Some(value) => _ = state.on(value, inner.advance(14)),
            None => _ = state.otherwise(inner),
        }
    }
    network(eg, p, h, bridged);
    eg.start(start);
    h
}

/// Declares the states of IP and transport, and of INT in marked packets that did not arrive from hosts.
#[stage_program]
fn network(eg: &GressBuilder<'_>, p: &Params, h: Headers, bridged: StateRef<'_>) {
    let Headers { bridge, ipv4, ipv6, tcp, udp, int_udp, m, .. } = h;
    let found = (p.mode != Mode::Xd).then(|| int_states(eg, p, h));
    let peek_ipv4 = eg.state().select(lookahead::<8>(0));
    let parse_ipv4 = eg.state().extract(ipv4).select(list![
        bridge.edge,
        ipv4.dscp,
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_ipv6 = eg.state().extract(ipv6).select(list![bridge.edge, ipv6.dscp, ipv6.next_header]);
    let parse_tcp = eg.state().extract(tcp).set(m.tcp, 1);
    let parse_udp = eg.state().extract(udp).set(m.udp, 1);
    bridged.on(IPV4, peek_ipv4).on(IPV6, parse_ipv6);
    peek_ipv4.on(PLAIN_IPV4, parse_ipv4);
    let (any, dscp) = ((0, 0), (u64::from(p.int_dscp), 0x3f));
    let to = |edge: (u64, u64), dscp: (u64, u64), protocol: u64, state: StateRef<'_>| {
        parse_ipv4.on_tuple([edge, dscp, (0, 1), (0, 0x1fff), (protocol, 0xff)], state);
        parse_ipv6.on_tuple([edge, dscp, (protocol, 0xff)], state);
    };
    let inside = (0, 1);
    if let Some(found) = found {
        match p.carrier {
            Carrier::Dscp => {
                let marked_tcp = eg.state().extract(tcp).set(m.tcp, 1).otherwise(found);
                let marked_udp = eg.state().extract(udp).set(m.udp, 1).otherwise(found);
                to(inside, dscp, TCP, marked_tcp);
                to(inside, dscp, UDP, marked_udp);
            }
            Carrier::UdpPort => {
                let inside_udp = eg.state().extract(udp).set(m.udp, 1).select(udp.dst_port);
                inside_udp.on(u64::from(p.int_port), found);
                to(inside, any, UDP, inside_udp);
            }
            Carrier::NewUdp => {
                let inside_udp = eg.state().select(lookahead::<16>(16));
                let in_front = eg.state().extract(int_udp).otherwise(found);
                inside_udp.on(u64::from(p.int_port), in_front).otherwise(parse_udp);
                to(inside, any, UDP, inside_udp);
            }
        }
    }
    to(any, any, TCP, parse_tcp);
    to(any, any, UDP, parse_udp);
}

/// Declares the states of a shim and INT header of known type and version. A sink skips the stack, which removes it.
#[stage_program]
fn int_states<'b>(eg: &GressBuilder<'b>, p: &Params, h: Headers) -> StateRef<'b> {
    let Headers { bridge, shim, int, m, .. } = h;
    let found = eg.state().select(list![lookahead::<4>(0), lookahead::<4>(32)]);
    const VERSION: u64 = 2;
    let kind = if p.mode == Mode::Mx { 3 } else { 1 };
    if !p.ends() {
        let parse_int = eg.state().extract(shim).extract(int);
        found.on_tuple([(kind, 0xf), (VERSION, 0xf)], parse_int);
        return found;
    }
    let parse_int = eg.state().extract(shim).extract(int).select(bridge.sink);
    found.on_tuple([(kind, 0xf), (VERSION, 0xf)], parse_int);
    /// Counts the words of the metadata stack: the shim's length without the 3 words of the INT header
    let measure = eg
        .state()
        .set_counter_from(
            shim.length,
            CounterFrom {
                max: p.sink_words + 3,
                add: 256u16.wrapping_sub(3) as u8,
                ..CounterFrom::default()
            },
        )
        .select(list![counter_is_negative(), counter_is_zero()]);
    let too_short = eg.state().set(m.malformed, 1);
    let skip = eg.state().advance(4).add_counter(-1).select(counter_is_zero());
    parse_int.on(1, measure);
    measure.on_tuple([(1, 1), (0, 0)], too_short).on_tuple([(0, 0), (0, 1)], skip);
    skip.on(0, skip);
    found
}
