//! Default entries of a ToR: routes, paths, queues, sessions, flows.
//!
//! By default it has the hosts 10.0.1.1 and up at its host ports, everything else lies behind its paths, and flows
//! between 10.0.1.x and 10.0.2.x are known.

use super::headers::ROCE;
use super::queues::CELLS;
use super::{BIRTH_SESSION, CONTROL_QUEUE, HEADERS_SESSION, Params, TIMER_SESSION};
use crate::marking;
use sluice_asic::port::{DevPort, Pipe, Port, PortMap};
use sluice_asic::tm::{AfcMode, AfcWord, MirrorSession};
use sluice_build::params::Params as _;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::{KeyValue, Program};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// Bytes of Ethernet, IPv4, UDP, BTH and ConWeave's header.
const HEADERS: u16 = 14 + 20 + 8 + 12 + 4;
/// Bytes of a timer packet's state.
const TIMER: u16 = 11;
/// Bytes of the mirror header: of control packets to be, and of timer packets to be.
const MIRROR: u16 = 1;
const BIRTH: u16 = 7;
/// Values of the hash that picks a queue of a way.
const HASHES: u32 = 8;
/// First reorder queue: 0 is the default queue, 1 that of control packets.
const FIRST_REORDER_QUEUE: u32 = CONTROL_QUEUE as u32 + 1;
/// RDMA operations that carry data of reliable connections: all kinds of SEND and WRITE (model: conweave §1.1).
const DATA: std::ops::RangeInclusive<u8> = 0x00..=0x0b;

/// The first UDP source port of the flows that are known from the start.
const FIRST_FLOW_PORT: u16 = 49_152;

/// An IPv4 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The network.
    pub net: Ipv4Addr,
    /// Its length, 0 to 32.
    pub len: u16,
}

/// A flow under ConWeave's control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEntry {
    /// Sender.
    pub src: Ipv4Addr,
    /// Receiver.
    pub dst: Ipv4Addr,
    /// UDP source port.
    pub src_port: u16,
    /// Row of the flow's state, the same at no other flow of the switch.
    pub row: u16,
    /// How long an RTT_REPLY may take, in ticks of 1.024 us.
    pub theta_reply: u32,
}

/// A ToR in its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorConfig {
    /// Hosts at the program's host ports, the first one at the first port.
    pub hosts: Vec<Ipv4Addr>,
    /// Destinations of each group of paths; the first element belongs to group 1. All groups have all paths.
    pub remote: Vec<Prefix>,
    /// Flows that are known from the start.
    pub flows: Vec<FlowEntry>,
    /// Queue depths between which marking begins and becomes certain, in cells; none does not mark.
    pub marking: Option<(u32, u32)>,
}

/// A ToR, port by port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tor {
    /// Hosts with their front-panel ports.
    pub(super) hosts: Vec<(u16, Ipv4Addr)>,
    /// Destinations, by the paths that lead to them.
    pub(super) groups: Vec<Group>,
    /// As [`TorConfig::flows`].
    pub(super) flows: Vec<FlowEntry>,
    /// As [`TorConfig::marking`].
    pub(super) marking: Option<(u32, u32)>,
}

/// Destinations behind the same paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The destinations.
    pub(super) prefixes: Vec<Prefix>,
    /// Front-panel ports of the paths with their weights.
    pub(super) paths: Vec<(u16, u32)>,
}

pub(super) fn default_setup(program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
    let p = params_of(program);
    let hosts = (1..=p.hosts.iter().count()).map(|n| Ipv4Addr::from_bits(0x0a00_0100 + n as u32)).collect();
    let remote = vec![Prefix { net: Ipv4Addr::UNSPECIFIED, len: 0 }];
    let config = TorConfig { hosts, remote, flows: default_flows(&p), marking: Some(marking::DCQCN) };
    tor_setup(program, ports, &config)
}

/// Both directions between 10.0.1.x and 10.0.2.x from the first UDP ports, as far as the flow table has rows.
fn default_flows(p: &Params) -> Vec<FlowEntry> {
    let host = |net, n| Ipv4Addr::new(10, 0, net, n);
    let pairs: Vec<_> = (1..=4).flat_map(|n| [(host(1, n), host(2, n)), (host(2, n), host(1, n))]).collect();
    flows(p, &pairs)
}

/// Flows of these pairs from the first UDP ports, as far as the flow table has rows.
pub(super) fn flows(p: &Params, pairs: &[(Ipv4Addr, Ipv4Addr)]) -> Vec<FlowEntry> {
    let ports = FIRST_FLOW_PORT..FIRST_FLOW_PORT + p.known as u16;
    let keys = pairs.iter().flat_map(|(src, dst)| ports.clone().map(move |port| (*src, *dst, port)));
    let rows = (1..p.flows.min(1 << 16)).map(|row| row as u16);
    let entry = |(row, (src, dst, src_port))| FlowEntry { src, dst, src_port, row, theta_reply: p.reply };
    rows.zip(keys).map(entry).collect()
}

/// The parameters that the program was built with.
pub(super) fn params_of(program: &Program) -> Params {
    let mut p = Params::default();
    for value in &program.params {
        // Parameters of another program are not these; entities that are missing then say so.
        let _ = p.set(&value.key, &value.value);
    }
    p
}

/// Returns the default entries of a ToR that runs `program`.
///
/// # Errors
/// When the device lacks a port, or `program` is not `conweave` in its full build.
pub fn tor_setup(program: &Program, ports: &PortMap, config: &TorConfig) -> Result<Setup, SetupError> {
    let p = params_of(program);
    let group = |prefix: &Prefix| Group {
        prefixes: vec![*prefix],
        paths: p.uplinks.iter().map(|front| (front, 1)).collect(),
    };
    let tor = Tor {
        hosts: p.hosts.iter().zip(config.hosts.iter().copied()).collect(),
        groups: config.remote.iter().map(group).collect(),
        flows: config.flows.clone(),
        marking: config.marking,
    };
    let mut ops = Ops::new(program);
    let (_, other) = front_port(ports, p.uplinks.first)?;
    ops.default("l2", "bridge_to", [other.into()])?;
    setup_of(ops, ports, &p, &tor)
}

/// Adds what every ToR starts with.
pub(super) fn setup_of(
    mut ops: Ops<'_>,
    ports: &PortMap,
    p: &Params,
    tor: &Tor,
) -> Result<Setup, SetupError> {
    pipe_of(&ops, ports, p)?;
    routes(&mut ops, ports, tor)?;
    paths(&mut ops, ports, p, tor)?;
    for opcode in DATA {
        let key = [KeyValue::Exact(ROCE.into()), KeyValue::Exact(opcode.into())];
        ops.entry("rdma", key, "is_rdma", [])?;
    }
    for flow in &tor.flows {
        install(&mut ops, flow)?;
    }
    control_class(&mut ops, p.control_dscp)?;
    marking::entries(&mut ops, tor.marking)?;
    let mut list = queues(&mut ops, ports, p)?;
    let mut all = ops.into_vec();
    all.append(&mut list);
    all.extend(sessions(p));
    Ok(Setup { ops: all, port_speeds: Vec::new() })
}

fn install(ops: &mut Ops<'_>, flow: &FlowEntry) -> Result<(), SetupError> {
    let exact = |value: u32| KeyValue::Exact(value.into());
    let key = [exact(flow.src.to_bits()), exact(flow.dst.to_bits()), exact(flow.src_port.into())];
    ops.entry("flow", key, "set_flow", [flow.row.into(), flow.theta_reply.into()])
}

fn routes(ops: &mut Ops<'_>, ports: &PortMap, tor: &Tor) -> Result<(), SetupError> {
    for (front, host) in &tor.hosts {
        let (_, port) = front_port(ports, *front)?;
        ops.entry("route", [ipv4_prefix(*host, 32)], "to_host", [port.into()])?;
    }
    for (number, group) in (1u128..).zip(&tor.groups) {
        for prefix in &group.prefixes {
            ops.entry("route", [ipv4_prefix(prefix.net, prefix.len)], "to_group", [number])?;
        }
    }
    Ok(())
}

fn paths(ops: &mut Ops<'_>, ports: &PortMap, p: &Params, tor: &Tor) -> Result<(), SetupError> {
    for (member, front) in (0u32..).zip(p.uplinks.iter()) {
        let (_, port) = front_port(ports, front)?;
        let path = u128::from(member) + 1;
        ops.member("ecmp_ports", member, "ecmp_to", [port.into()])?;
        ops.member("first_paths", member, "set_first", [path])?;
        ops.member("second_paths", member, "set_second", [path])?;
        ops.entry("path_port", [KeyValue::Exact(path)], "to_path", [port.into()])?;
    }
    for (number, group) in (1u32..).zip(&tor.groups) {
        let member =
            |(front, weight): &(u16, u32)| (u32::from(front.saturating_sub(p.uplinks.first)), *weight);
        for (profile, table) in
            [("ecmp_ports", "ecmp"), ("first_paths", "sample_first"), ("second_paths", "sample_second")]
        {
            ops.group(profile, number, group.paths.iter().map(member))?;
            ops.group_entry(table, [KeyValue::Exact(number.into())], number)?;
        }
    }
    Ok(())
}

/// Traffic class of control packets without a buffer profile, as SONiC's maps have it.
const CONTROL_CLASS: u128 = 6;

/// Gives packets with this DSCP the control queue. The maps of a buffer profile replace this entry.
pub(crate) fn control_class(ops: &mut Ops<'_>, dscp: u32) -> Result<(), SetupError> {
    ops.entry("class", [KeyValue::Exact(dscp.into())], "set_class", [CONTROL_QUEUE.into(), CONTROL_CLASS])
}

/// Who may wait where: every way of every host's port, its cells and words; gives the device's part.
fn queues(ops: &mut Ops<'_>, ports: &PortMap, p: &Params) -> Result<Vec<ControlOp>, SetupError> {
    let mut device = Vec::new();
    // Cell 0 is nobody's: it is what a candidate is that no table has.
    let mut first_cell = 1;
    for front in p.hosts.iter() {
        let (front, _) = front_port(ports, front)?;
        let port = ports.front(front).ok_or(SetupError::NoPorts)?;
        let dev_port = u128::from(port.dev_port.number());
        let last_queue = queues_of_way(port, p, p.ways).start;
        enough(ops, port, p, first_cell + last_queue - FIRST_REORDER_QUEUE)?;
        let cell = |qid: u32| u128::from(first_cell + qid - FIRST_REORDER_QUEUE);
        ops.entry("to_host", [KeyValue::Exact(dev_port)], "is_host", [])?;
        for way in 0..p.ways {
            let table = if way == 0 { "candidate".to_owned() } else { format!("candidate_{way}") };
            let action = if way == 0 { "set_candidate".to_owned() } else { format!("set_candidate_{way}") };
            let queues = queues_of_way(port, p, way);
            for hash in 0..HASHES {
                let qid = queues.start + hash % queues.len().max(1) as u32;
                let key = [KeyValue::Exact(dev_port), KeyValue::Exact(hash.into())];
                ops.entry(&table, key, &action, [cell(qid)])?;
            }
        }
        for qid in FIRST_REORDER_QUEUE..last_queue {
            let cell = cell(qid);
            let key = [KeyValue::Exact(dev_port), KeyValue::Exact(qid.into())];
            let args = [word(port, qid).into(), qid.into()];
            ops.entry("queue", [KeyValue::Exact(cell)], "set_queue_of", args)?;
            ops.entry("queue_cell", key, "set_queue", [cell])?;
            ops.entry("word_cell", [KeyValue::Exact(word(port, qid).into())], "set_word", [cell])?;
            let (port, queue, mode) = (port.dev_port.number(), qid as u8, Some(AfcMode::Xoff));
            device.push(ControlOp::Device(DeviceOp::SetFlowControl { port, queue, mode }));
            device.push(schedule(port, queue, REORDER_PRIORITY));
        }
        first_cell += last_queue - FIRST_REORDER_QUEUE;
    }
    for front in p.hosts.iter().chain(p.uplinks.iter()) {
        let (_, port) = front_port(ports, front)?;
        device.push(schedule(port, CONTROL_QUEUE as u8, CONTROL_PRIORITY));
    }
    Ok(device)
}

/// Strict priorities: data has 0. A resumed queue drains before later data of its flow, and control packets wait for neither
/// (model: conweave §1.16, §2.5).
const REORDER_PRIORITY: u8 = 1;
const CONTROL_PRIORITY: u8 = 7;

fn schedule(port: u16, queue: u8, priority: u8) -> ControlOp {
    ControlOp::Device(DeviceOp::ScheduleQueue { port, queue, priority, weight: 1 })
}

/// Whether `pipe` is the pipe of the ToR's ports. Ports of several pipes are the device's to refuse.
fn pipe_of(ops: &Ops<'_>, ports: &PortMap, p: &Params) -> Result<(), SetupError> {
    let mut pipes = BTreeSet::new();
    for front in p.hosts.iter().chain(p.uplinks.iter()) {
        let (front, _) = front_port(ports, front)?;
        pipes.extend(ports.front(front).map(|port| u32::from(port.pipe().0)));
    }
    let own = p.pipe;
    match pipes.first() {
        Some(pipe) if pipes.len() == 1 && *pipe != own => {
            let why = format!("its ports are of pipe {pipe}, but pipe={own}; set pipe={pipe}");
            Err(SetupError::Place { program: ops.program().name.clone(), why })
        }
        _ => Ok(()),
    }
}

/// Whether a port has a queue for each way, and the queue table cells up to `end` for all ports up to it.
fn enough(ops: &Ops<'_>, port: &Port, p: &Params, end: u32) -> Result<(), SetupError> {
    let queues = u32::from(port.queues).saturating_sub(FIRST_REORDER_QUEUE);
    let why = if queues < p.ways {
        format!("{} has {queues} queues to reorder in, but there are {} ways", port.dev_port, p.ways)
    } else if end > CELLS {
        format!(
            "the queue table has {CELLS} cells, too few for the queues of hosts={}; lower `queues`, or give it fewer \
             ports",
            p.hosts
        )
    } else {
        return Ok(());
    };
    Err(SetupError::Place { program: ops.program().name.clone(), why })
}

/// The queues of a way at a port; of the way behind the last one the first queue that is no reorder queue.
fn queues_of_way(port: &Port, p: &Params, way: u32) -> std::ops::Range<u32> {
    let queues = u32::from(port.queues).saturating_sub(FIRST_REORDER_QUEUE);
    let queues = queues.min(p.ways * HASHES).min(p.queues);
    let first = |way: u32| FIRST_REORDER_QUEUE + queues * way / p.ways;
    first(way)..first(way + 1).max(first(way) + 1)
}

/// The word that resumes a queue (model: conweave §1.16; tm §5).
fn word(port: &Port, qid: u32) -> u32 {
    let queue = (u32::from(port.queue_base) + qid) as u8;
    AfcWord { qfc: true, pipe: port.pipe().0, mac: port.mac.0, queue, credit: 0 }.encode()
}

fn sessions(p: &Params) -> impl Iterator<Item = ControlOp> {
    let port = DevPort::from_parts(Pipe(p.pipe as u8), 6);
    let session = move |id: u64, max_length: u16| {
        let session = port.map(|port| MirrorSession {
            max_length,
            qid: CONTROL_QUEUE as u8,
            ..MirrorSession::to_port(port)
        });
        ControlOp::SetMirrorSession { id: id as u16, session }
    };
    let sessions = [
        session(HEADERS_SESSION, MIRROR + HEADERS),
        session(TIMER_SESSION, MIRROR + HEADERS + TIMER),
        session(BIRTH_SESSION, BIRTH + HEADERS),
    ];
    sessions.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conweave::ConWeave;
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::port::FrontPort;
    use sluice_catalogue::StageProgram;
    use sluice_control::ControlState;

    #[test]
    fn the_program_takes_its_entries() {
        let program = ConWeave.build(&[]).unwrap_or_else(|e| panic!("{e}"));
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let mut control = ControlState::new(&program);
        for op in ConWeave.default_setup(&program, &ports).unwrap().ops {
            control.apply(&program, op).unwrap();
        }
    }

    #[test]
    fn ports_of_another_pipe_than_said_are_refused() {
        let sets = [("hosts", "8-11"), ("uplinks", "12-15")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let of = |sets: &[(String, String)]| {
            let program = ConWeave.build(sets).unwrap_or_else(|e| panic!("{e}"));
            ConWeave.default_setup(&program, &ports).map(|_| ()).map_err(|e| e.to_string())
        };
        assert!(of(&sets).unwrap_err().contains("set pipe=1"));
        let mut sets = sets.to_vec();
        sets.push(("pipe".to_owned(), "1".to_owned()));
        assert_eq!(of(&sets), Ok(()));
    }

    #[test]
    fn words_name_queues_and_resume_them() {
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let port = ports.front(FrontPort(1)).unwrap();
        let decoded = AfcWord::decode(word(port, 13));
        assert_eq!((decoded.qfc, decoded.pipe, decoded.mac, decoded.queue), (true, 0, port.mac.0, 13));
        assert_eq!(decoded.credit, 0);
    }

    #[test]
    fn the_ways_share_the_queues_of_a_port() {
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let (port, p) = (ports.front(FrontPort(0)).unwrap(), Params::default());
        let ways: Vec<_> = (0..4).map(|way| queues_of_way(port, &p, way)).collect();
        assert_eq!(ways, [2..10, 10..18, 18..26, 26..34]);
        let few = Params { queues: 14, ..p };
        let ways: Vec<_> = (0..4).map(|way| queues_of_way(port, &few, way)).collect();
        assert_eq!(ways, [2..5, 5..9, 9..12, 12..16]);
    }
}
