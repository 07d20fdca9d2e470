//! Default entries of `int`, and the arguments of its tables.
//!
//! | destination | port |
//! |---|---|
//! | 10.1.0.0/16, 2001:db8:1::/48 | 1, to another node |
//! | 10.9.9.9, 2001:db8:9::9 | 20, which runs at a quarter of the ports' speed: bursts to it queue up |
//! | 10.2.0.0/16, 2001:db8:2::/48 | 24, to a host |
//! | anything else | 16, to another node |
//!
//! Ports 0 and 2 to 7 also lead to hosts; every flow of TCP and UDP is watched with profile 1. Port 20's queue is
//! congested above 1,000 cells. The collector is on port 31.

use super::params::{Carrier, Mode, Params, Watch};
use crate::forwarding::routes::{DefaultRoutes, default_routes};
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::tm::MirrorSession;
use sluice_asic::units::BitRate;
use sluice_catalogue::setup::{ANY, Ops, Setup, SetupError, front_port, ternary_prefix};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::{KeyValue, Program};

const HOST: u16 = 20;
/// Another port to a host.
const HOME: u16 = 24;
const COLLECTOR: u16 = 31;
/// Depth in cells above which the queue of the slow port is congested.
const DEEP: u128 = 1_000;
const PROFILE: u128 = 1;

/// Instructions of a source to all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Hops that may add metadata, this one among them.
    pub hops: u8,
    /// Instruction bitmap, bit 0 the most significant one.
    pub bitmap: u16,
    /// Domain specific ID.
    pub domain: u16,
    /// Domain specific instruction.
    pub ds_instruction: u16,
    /// Words per hop; `None`: the number that bitmap and domain request.
    pub hop_ml: Option<u8>,
}

impl Instructions {
    /// Returns the standard's instructions of this bitmap, without a domain.
    #[must_use]
    pub const fn new(hops: u8, bitmap: u16) -> Self {
        Instructions { hops, bitmap, domain: 0, ds_instruction: 0, hop_ml: None }
    }

    /// Returns the words per hop (model: int §2.4).
    #[must_use]
    pub const fn hop_ml(&self) -> u8 {
        match self.hop_ml {
            Some(words) => words,
            None => {
                let standard = self.bitmap.count_ones() + (self.bitmap & 0x0e00).count_ones();
                let ds = if self.domain == 0 { 0 } else { self.ds_instruction.count_ones() };
                (standard + ds) as u8
            }
        }
    }

    /// Returns the arguments of the action `begin`.
    #[must_use]
    pub fn args(&self, p: &Params) -> [u128; 7] {
        let npt = match p.carrier {
            Carrier::Dscp => 0,
            Carrier::UdpPort => 1,
            Carrier::NewUdp => 2,
        };
        let kind = if p.mode == Mode::Mx { 3 } else { 1 };
        let words: u16 = self.hop_ml().into();
        let header = [
            kind << 12 | npt << 10 | 3,
            0x2000,
            words << 8 | u16::from(self.hops),
            self.bitmap,
            self.domain,
            self.ds_instruction,
            // The growth of the length in the pseudo header; the program adds that of UDP's length.
            16,
        ];
        let sum = header.iter().fold(0u32, |sum, word| sum + u32::from(*word));
        let sum = (sum & 0xffff) + (sum >> 16);
        [
            self.hops.into(),
            words.into(),
            (self.bitmap >> 8).into(),
            (self.bitmap & 0xff).into(),
            self.domain.into(),
            self.ds_instruction.into(),
            sum.into(),
        ]
    }
}

/// Addresses of the collector of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collector {
    /// Destination and source MAC address.
    pub mac: [u64; 2],
    /// Source and destination IPv4 address.
    pub ip: [u32; 2],
    /// Source and destination UDP port.
    pub port: [u16; 2],
    /// hw_id, 6 bits.
    pub hw_id: u8,
}

impl Collector {
    /// Returns the arguments of the action `send`.
    #[must_use]
    pub fn args(&self) -> [u128; 7] {
        let group = 0x2000_0000 | u128::from(self.hw_id & 0x3f) << 22;
        let [mac, ip, port] = [self.mac.map(u128::from), self.ip.map(u128::from), self.port.map(u128::from)];
        [mac[0], mac[1], ip[0], ip[1], port[0], port[1], group]
    }
}

/// The collector of the default entries.
const DEFAULT_COLLECTOR: Collector = Collector {
    mac: [0x02_00_00_00_02_1f, 0x02_00_00_00_00_01],
    ip: [0x0aff_0001, 0x0aff_00fe],
    port: [32_766, 32_766],
    hw_id: 0,
};

/// All instructions of the standard that this program knows, and the complement.
const DEFAULT_BITMAP: u16 = 0xff01;
/// Hops that may add metadata: as many as a sink can remove.
const HOPS: u8 = 7;

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    default_routes(
        &mut ops,
        ports,
        DefaultRoutes { near: 1, host: HOST, home: Some(HOME), far: 16, either: [16, 17] },
    )?;
    let mut hosts: Vec<u16> = Vec::new();
    for front in [0, 2, 3, 4, 5, 6, 7, HOME] {
        hosts.push(front_port(ports, front)?.1);
    }
    // A device with few ports has the same port for several front panel numbers.
    hosts.sort_unstable();
    hosts.dedup();
    telemetry(&mut ops, p, &hosts)?;
    let (_, collector) = front_port(ports, COLLECTOR)?;
    collect(&mut ops, p, ports, collector)?;
    let (host, host_port) = front_port(ports, HOST)?;
    let queue = [KeyValue::Exact(host_port.into()), KeyValue::Exact(0)];
    ops.entry("queue_watch", queue, "thresholds", [DEEP, u32::MAX.into()])?;
    let slow = BitRate::from_bps(ports.speed().as_bps() / 4);
    Ok(Setup { ops: ops.into_vec(), port_speeds: vec![(host, slow)] })
}

/// Adds the entries of the edge, whose dev_ports are `hosts`, and of a watch-list with every flow of TCP and UDP.
pub(super) fn telemetry(ops: &mut Ops<'_>, p: &Params, hosts: &[u16]) -> Result<(), SetupError> {
    for port in hosts {
        let key = || [KeyValue::Exact((*port).into())];
        if p.knows_hosts() {
            ops.entry("port_in", key(), "from_host", [])?;
        }
        if p.ends() {
            ops.entry("port_out", key(), "to_host", [])?;
        }
    }
    let watched = p.watches() && p.watch == Watch::All;
    for (priority, protocol) in [(10, 6), (11, 17)].into_iter().filter(|_| watched) {
        let key = [ANY, ANY, ternary_prefix(protocol, 8, 8), ANY, ANY];
        for table in ["ipv4_watch", "ipv6_watch"] {
            ops.ternary_with(table, priority, key, "watch", [PROFILE, 0xffff])?;
        }
    }
    if p.begins() {
        let instructions = Instructions::new(HOPS, DEFAULT_BITMAP);
        ops.entry("profile", [KeyValue::Exact(PROFILE)], "begin", instructions.args(p))?;
    }
    Ok(())
}

/// Sends reports to the collector on this dev_port.
pub(super) fn collect(
    ops: &mut Ops<'_>,
    p: &Params,
    ports: &PortMap,
    collector: u16,
) -> Result<(), SetupError> {
    ops.entry("collector", [KeyValue::Exact(collector.into())], "send", DEFAULT_COLLECTOR.args())?;
    if let Some(port) = DevPort::new(collector) {
        // The longest part of a packet that a report includes.
        let session = MirrorSession { max_length: 320, ..MirrorSession::to_port(port) };
        ops.push(ControlOp::SetMirrorSession { id: p.session, session: Some(session) });
    }
    // A packet whose queue is full is deflected to the egress of the collector's port, which reports it.
    let last = ports.front_ports().iter().map(|p| p.dev_port.number() >> 7).max().unwrap_or(0);
    for pipe in 0..=last as u8 {
        ops.push(ControlOp::Device(DeviceOp::SetDeflection { pipe, to: Some((collector, 0)) }));
    }
    Ok(())
}
