//! `heavy-hitter`: a stage program of one's own, in a crate outside Sluice.
//!
//! Ingress counts the packets of each pair of IPv4 addresses in a count-min sketch of two rows. From `threshold` packets
//! on, a flow is heavy: its packets get the DSCP `mark`, and the packet that made it heavy sends a digest. The control plane
//! ([`agent`]) answers with an entry that moves the flow's packets to another queue. IPv4 is routed over equal paths.
//!
//! ```console
//! $ cargo run -- gen udp --packets 2000 --flows 10 --rate 10G --dst 10.0.1.1,10.0.1.2 -o t.pcap
//! $ cargo run -- report heavy-hitter
//! $ cargo run -- replay heavy-hitter -i 0@t.pcap --check --control-plane=latency=50us
//! $ cargo run -- fuzz heavy-hitter --cases 64
//! $ cargo run -- replay heavy-hitter --topology leaf-spine:leaves=2,spines=2,hosts=2 -i leaf0:0@t.pcap
//! $ cargo run -- run contest.toml
//! $ cargo test
//! $ cargo bench
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `src/lib.rs` | the program, its parameters, entries and property |
//! | `src/agent.rs` | the control plane |
//! | `src/main.rs` | `main` |
//! | `tests/behaviour.rs` | what the switch does, and when the control plane has an effect |
//! | `tests/packets.rs` | a `proptest` over packets and entries that fit the program |
//! | `benches/packets.rs` | packets per second |
//! | `contest.toml` | the program against `ecmp` |

pub mod agent;

use sluice::prelude::net::ether_type::IPV4;
use sluice::prelude::net::{Ethernet, Ipv4};
use sluice::prelude::*;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Bits of a column number: each row of the sketch has 4096 counters.
const COLUMN_BITS: u16 = 12;
/// First byte of an IPv4 header without options.
const PLAIN_IPV4: u64 = 0x45;
/// Time between two sweeps for idle entries.
const SWEEP: Duration = Duration::from_millis(1);

/// Parameters of `heavy-hitter`.
#[derive(Clone, Debug, params::Params)]
pub struct Params {
    /// Packets from which on a flow is heavy
    #[param(range = 1..=2_047)]
    pub threshold: u64,
    /// DSCP of the packets of heavy flows
    #[param(range = 0..=63)]
    pub mark: u64,
    /// Heavy flows that the control plane can move to another queue
    #[param(range = 1..=65_536)]
    pub flows: u32,
    /// Time without a packet after which the control plane hears that a heavy flow is idle, ms
    #[param(range = 2..=60)]
    pub idle_ms: u32,
    /// IPv4 routes that the table must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { threshold: 100, mark: 8, flows: 1024, idle_ms: 10, routes: 1024 }
    }
}

/// A heavy flow, for the control plane
#[derive(Header, Debug)]
struct Heavy {
    /// IPv4 source
    src: Bits<32>,
    /// IPv4 destination
    dst: Bits<32>,
}

/// Per-packet metadata
#[derive(Header, Debug)]
struct Meta {
    /// 1 if the IPv4 header checksum is wrong
    bad_checksum: Bits<1>,
    /// Packets of the flow in each row of the sketch, this packet included
    count_0: Bits<32>,
    count_1: Bits<32>,
    /// The lesser of the two: at least the packets of the flow
    least: Bits<32>,
}

/// Declares all of ingress; egress changes nothing.
#[stage_program]
fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let (ethernet, ipv4, heavy) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Heavy>());
    let m = ig.metadata::<Meta>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let digest = ig.intrinsic::<tna::ForDigest>();

    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    let peek_ipv4 = ig.state().select(lookahead::<8>(0));
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole());
    start.on(IPV4, peek_ipv4);
    peek_ipv4.on(PLAIN_IPV4, parse_ipv4);
    ig.start(start);

    let not_ipv4 = ig.drop_label("Not IPv4, or IPv4 with options");
    let bad_packet = ig.drop_label("TTL 0 or 1, or a wrong IPv4 header checksum");
    let no_route = ig.drop_label("No matching route");

    /// Column of the flow in row 0
    let column_0 = ig.hash::<COLUMN_BITS>("crc_32").inputs(list![ipv4.src, ipv4.dst]).build();
    /// Column of the flow in row 1
    let column_1 = ig.hash::<COLUMN_BITS>("crc_16").inputs(list![ipv4.src, ipv4.dst]).build();
    /// Row 0 of the sketch: packets by column
    let row_0 = ig.register::<32>(1 << COLUMN_BITS);
    /// Row 1 of the sketch: packets by column
    let row_1 = ig.register::<32>(1 << COLUMN_BITS);
    let count_in_0 = ig.register_action(row_0, |r| {
        r.value = r.value + 1;
        r.out = r.value;
    });
    let count_in_1 = ig.register_action(row_1, |r| {
        r.value = r.value + 1;
        r.out = r.value;
    });

    /// Sends the packets of a heavy flow through another queue
    let to_queue = ig.action(|a, queue: Arg<7>| tm.qid = queue);
    let idle = IdleTimeout::notify(Duration::from_millis(p.idle_ms.into()), SWEEP);
    /// Heavy flows that the control plane moved to another queue
    let heavy_flows =
        ig.table([exact(ipv4.src), exact(ipv4.dst)]).actions([to_queue]).size(p.flows).idle(idle).build();

    /// Hash that picks the next hop of a flow
    let path = ig.hash::<14>("crc_32c").inputs(list![ipv4.src, ipv4.dst]).build();
    /// Next hops of all groups
    let next_hops = ig.profile(128).selector(SelectorMode::Fair, path, 64, 32).build();
    /// Sends the packet to a port, one hop further
    let forward = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv4.ttl -= 1;
    });
    let unreachable = ig.action(|a| drop(no_route));
    /// Longest prefix to a group of next hops
    let route = ig
        .table([lpm(ipv4.dst)])
        .actions([forward])
        .default(unreachable)
        .size(p.routes)
        .profile(next_hops)
        .build();

    ig.control(|c| {
        if ipv4.is_valid() {
            if m.bad_checksum || ipv4.ttl <= 1 {
                drop(bad_packet);
            } else {
                m.count_0 = count_in_0.execute(column_0);
                m.count_1 = count_in_1.execute(column_1);
                m.least = m.count_0.min(m.count_1);
                if m.least >= p.threshold {
                    ipv4.dscp = p.mark;
                }
                if m.least == p.threshold {
                    heavy.set_valid();
                    heavy.src = ipv4.src;
                    heavy.dst = ipv4.dst;
                    digest.digest_type = 1;
                }
                heavy_flows.apply();
                route.apply();
            }
        } else {
            drop(not_ipv4);
        }
    });
    ig.deparser().digest(1, heavy).checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4);
}

/// The program `heavy-hitter`.
#[derive(Clone, Copy, Debug)]
pub struct HeavyHitter;

impl ProgramDef for HeavyHitter {
    const NAME: &'static str = "heavy-hitter";
    const SUMMARY: &'static str =
        "Marks the packets of heavy flows, which a count-min sketch finds, and routes over equal paths";
    /// Hunts send about 200 packets at a time, so a flow is heavy early.
    const HUNT: &'static [(&'static str, &'static str)] = &[("threshold", "4")];
    type Params = Params;

    fn declare(b: &Builder, p: &Params) {
        ingress(&b.ingress(), p);
    }

    /// All destinations are behind front-panel ports 8 and 9.
    fn default_setup(program: &Program, ports: &PortMap, _: &Params) -> Result<Setup, SetupError> {
        let mut ops = Ops::new(program);
        for (member, front) in [(1, 8), (2, 9)] {
            let (_, port) = front_port(ports, front)?;
            ops.member("next_hops", member, "forward", [port.into()])?;
        }
        ops.group("next_hops", 1, [(1, 1), (2, 1)])?;
        ops.group_entry("route", [ipv4_prefix(Ipv4Addr::UNSPECIFIED, 0)], 1)?;
        Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
    }

    fn setup_at(
        program: &Program,
        _: &PortMap,
        at: &Position,
        _: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        let mut ops = Ops::new(program);
        let routes = ops.routes(at, "route", "forward");
        Some(routes.map(|()| Setup { ops: ops.into_vec(), port_speeds: Vec::new() }))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        vec![Box::new(NoHeavyFlowUnmarked::new(p)), Box::new(properties::HopLimit)]
    }

    fn control_plane(
        request: &ControlPlaneRequest<'_>,
    ) -> Option<Result<Box<dyn ControlPlane>, ControlPlaneError>> {
        Some(agent::start(request))
    }
}

/// Arrival port and addresses of a packet. Pipes count separately, so the flows of different ports do, too.
type Flow = (u16, [u8; 8]);

/// `no_heavy_flow_unmarked`: a count-min sketch never counts too few. So a packet that at least `threshold - 1` packets of
/// its flow preceded on its port leaves with the mark.
#[derive(Debug)]
pub struct NoHeavyFlowUnmarked {
    threshold: u64,
    mark: u64,
    /// Packets of each flow that entered, and packets of the flow that ended inside.
    flows: BTreeMap<Flow, (u64, u64)>,
    /// Number of each counted packet in its flow, from 1, by tag.
    numbers: BTreeMap<u64, u64>,
}

impl NoHeavyFlowUnmarked {
    /// Returns the property of the program with these parameters.
    #[must_use]
    pub fn new(p: &Params) -> Self {
        let (flows, numbers) = (BTreeMap::new(), BTreeMap::new());
        NoHeavyFlowUnmarked { threshold: p.threshold, mark: p.mark, flows, numbers }
    }

    /// Returns the flow of a packet if the program counts the packet.
    fn flow(from: &Origin<'_>) -> Option<Flow> {
        let plain_ipv4 = from.bytes.get(12..15)? == [0x08, 0x00, 0x45];
        let header: &[u8; 20] = from.bytes.get(14..)?.first_chunk()?;
        let words = header.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        // Ones' complement: a multiple of 0xffff, which is not 0 because of the first byte.
        let right_checksum = words.sum::<u32>() % 0xffff == 0;
        let flow = (from.port, *header[12..].first_chunk()?);
        (plain_ipv4 && right_checksum && header[8] > 1).then_some(flow)
    }
}

impl Property for NoHeavyFlowUnmarked {
    fn name(&self) -> &str {
        "no_heavy_flow_unmarked"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        if let Some(flow) = Self::flow(&packet.packet) {
            let (entered, _) = self.flows.entry(flow).or_default();
            *entered += 1;
            self.numbers.insert(packet.tag, *entered);
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        // The sketch need not have seen this packet.
        if let Some(flow) = packet.from.as_ref().and_then(Self::flow) {
            self.flows.entry(flow).or_default().1 += 1;
        }
        Ok(())
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let flow = packet.from.as_ref().and_then(Self::flow);
        let ended = flow.and_then(|flow| self.flows.get(&flow)).map_or(0, |(_, ended)| *ended);
        let number = self.numbers.get(&packet.left.tag).copied().unwrap_or(0).saturating_sub(ended);
        let dscp = packet.bytes.get(15).map_or(0, |byte| u64::from(byte >> 2));
        if number < self.threshold || dscp == self.mark {
            return Ok(());
        }
        let threshold = self.threshold;
        Err(format!("packet {number} of a flow that is heavy from {threshold} packets on has DSCP {dscp}"))
    }
}
