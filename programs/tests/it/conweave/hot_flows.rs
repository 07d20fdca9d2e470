//! The agent of `conweave`: more flows than rows.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlState, EntryId};
use sluice_exec::engine::Engine;
use sluice_ir::KeyValue;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_place::place;
use sluice_programs::conweave::hot_flows::{HotFlowConfig, HotFlows};
use sluice_programs::conweave::{Params, Prefix, TorConfig, program, tor_setup};
use sluice_switch::{Digest, IdleEntry, Left, Lost, RxFrame, Sink, Switch, SwitchConfig};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

#[derive(Default)]
struct Out {
    /// Frames to the paths: their flow, and whether they have ConWeave's header.
    sent: Vec<(u16, bool)>,
    digests: Vec<(Time, Vec<u8>)>,
    idle: Vec<IdleEntry>,
}

impl Sink for Out {
    fn sent(&mut self, _: &Left, head: &[u8], _: &[u8]) {
        let port = u16::from_be_bytes([head[34], head[35]]);
        self.sent.push((port - FIRST_PORT, head[50] & 0x60 != 0));
    }
    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {}
    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((digest.time, data.to_vec()));
    }
    fn idle(&mut self, entry: &IdleEntry) {
        self.idle.push(*entry);
    }
}

/// UDP source port of flow 0.
const FIRST_PORT: u16 = 10_000;

/// A frame of a flow.
fn frame(flow: u16) -> Vec<u8> {
    let ip = ipv4::Header::new(Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 2, 1));
    let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, 0);
    let headers = roce::Headers { bth, extension: roce::Extension::None };
    let (a, b) = (MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_00_02));
    let mut frame = Vec::new();
    let builder =
        FrameBuilder::new(b, a).ipv4(ip).roce(udp::Header::new(FIRST_PORT + flow, roce::PORT), headers);
    builder.build(Payload::Zeros(256), &mut frame).unwrap();
    frame
}

/// Flows of the trace: ten times as many as the largest table has rows.
const FLOWS: u16 = 640;
const ROWS: [u16; 4] = [8, 16, 32, 64];
/// Packets of the trace, and the time between two.
const PACKETS: u64 = 16_000;
const GAP: u64 = 100;

/// Weight of a flow: flow n, from 1, sends 1/n of the first one's packets (Zipf), so that few flows
/// send most packets and many send few.
fn weight(flow: u16) -> u64 {
    1_000_000 / (u64::from(flow) + 1)
}

/// Returns the share of all packets, in thousandths, that the largest flows send.
fn largest(flows: u16) -> u64 {
    let of = |n| (0..n).map(weight).sum::<u64>();
    of(flows) * 1_000 / of(FLOWS)
}

/// Returns the flow of each packet: drawn by weight, the same at every call.
fn trace() -> Vec<u16> {
    let ends: Vec<u64> = (0..FLOWS)
        .scan(0, |sum, flow| {
            *sum += weight(flow);
            Some(*sum)
        })
        .collect();
    let all = *ends.last().unwrap();
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 20) % all
    };
    (0..PACKETS).map(|_| draw()).map(|at| ends.partition_point(|end| *end <= at) as u16).collect()
}

/// Shares of the packets, in thousandths: under control, on ECMP until their flow's entry was added, on ECMP
/// because no row was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    control: u64,
    meanwhile: u64,
    no_row: u64,
}

/// Sends the trace to a SrcToR whose agent has `rows` rows.
fn run(rows: u16) -> Shares {
    let chip = ChipSpec::tofino2();
    let p = Params { idle_ms: 10, ..Params::default() };
    let program = program(&p).unwrap();
    let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
    let ports = PortMap::default_for(&chip).unwrap();
    let remote = vec![Prefix { net: Ipv4Addr::new(10, 0, 2, 0), len: 24 }];
    let hosts = vec![Ipv4Addr::new(10, 0, 1, 1)];
    let tor = TorConfig { hosts, remote, flows: Vec::new(), marking: None };
    let mut control = ControlState::new(&program);
    for op in tor_setup(&program, &ports, &tor).unwrap().ops {
        control.apply(&program, op).unwrap();
    }
    let engine = Engine::new(&program, &placement, &control).unwrap();
    let mut switch =
        Switch::new(&program, &placement, &ports, control, Box::new(engine), SwitchConfig::default())
            .unwrap();
    let host = |net, n| u32::from(Ipv4Addr::new(10, 0, net, n));
    let config = HotFlowConfig {
        latency: Duration::from_micros(50),
        interval: Duration::from_nanos(50),
        hot_after: 3,
        rows,
        theta_reply: 8,
    };
    let mut agent = HotFlows::new(&program, [(host(1, 1), 0), (host(2, 1), 1)].into(), config).unwrap();
    let mut out = Out::default();
    let tell = |switch: &mut Switch<'_>, out: &mut Out, agent: &mut HotFlows, until: u64| {
        switch.advance(Time::from_nanos(until), out).unwrap();
        for (time, data) in std::mem::take(&mut out.digests) {
            agent.digest(time, 0, &data);
        }
        while let Some(change) = agent.poll(Time::from_nanos(until)) {
            if change.switch == 0 {
                switch.control(change.time.max(switch.time()), change.op).unwrap();
            }
        }
    };
    let port = ports.front(FrontPort(0)).unwrap().dev_port;
    for (flow, now) in trace().into_iter().zip((0..).step_by(GAP as usize)) {
        let bytes = frame(flow);
        let frame = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
        switch.rx(port, Time::from_nanos(now), frame).unwrap();
        if now % 3_000 == 0 {
            tell(&mut switch, &mut out, &mut agent, now);
        }
    }
    let now = PACKETS * GAP;
    tell(&mut switch, &mut out, &mut agent, now + 3_000);
    let sent = std::mem::take(&mut out.sent);
    assert_eq!(sent.len() as u64, PACKETS);
    assert_eq!(agent.installed(), usize::from(rows));
    // Silence: the chip reports it, and the agent removes the entries.
    tell(&mut switch, &mut out, &mut agent, now + 40_000_000);
    let table = program.table_named("flow").unwrap();
    for idle in std::mem::take(&mut out.idle) {
        let entry: EntryId = idle.entry;
        let slot = &switch.control_state().tables[table].slots[entry as usize];
        let key: Vec<KeyValue> = slot.as_ref().unwrap().key.clone();
        agent.idle(idle.time, 0, entry, &key);
    }
    // Operations returned at the end of one step take effect in the next.
    tell(&mut switch, &mut out, &mut agent, now + 80_000_000);
    tell(&mut switch, &mut out, &mut agent, now + 81_000_000);
    assert_eq!(switch.control_state().tables[table].entries().count(), 0, "idle entries are gone");
    let hot: BTreeSet<u16> = sent.iter().filter(|(_, control)| *control).map(|(flow, _)| *flow).collect();
    let count = |wanted: &dyn Fn(&(u16, bool)) -> bool| {
        sent.iter().filter(|s| wanted(s)).count() as u64 * 1_000 / PACKETS
    };
    Shares {
        control: count(&|(_, control)| *control),
        meanwhile: count(&|(flow, control)| !control && hot.contains(flow)),
        no_row: count(&|(flow, control)| !control && !hot.contains(flow)),
    }
}

#[test]
fn the_hit_rate_grows_with_the_table_up_to_what_its_largest_flows_send() {
    let all = ROWS.map(run);
    let mut last = 0;
    for (rows, shares) in ROWS.into_iter().zip(all) {
        // The handbook shows this.
        println!("| {rows} | {} | {} | {shares:?} |", FLOWS / rows, largest(rows));
        assert!(shares.control > last, "{rows} rows: {shares:?}");
        assert!(shares.control + shares.meanwhile <= largest(rows) + 20, "{rows} rows: {shares:?}");
        last = shares.control;
    }
}
