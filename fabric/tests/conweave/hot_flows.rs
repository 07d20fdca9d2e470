//! The agent of `conweave`: more flows than rows.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::agent::{HotFlowConfig, HotFlows};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_pipeline::control::{ControlState, EntryId};
use sluice_pipeline::engine::Engine;
use sluice_pipeline::ir::KeyValue;
use sluice_pipeline::place::place;
use sluice_pipeline::switch::{Digest, IdleEntry, Left, Lost, RxFrame, Sink, Switch, SwitchConfig};
use sluice_programs::conweave::{Params, Prefix, TorConfig, program, tor_setup};
use std::net::Ipv4Addr;
use std::sync::OnceLock;

#[derive(Default)]
struct Out {
    /// Frames to the paths: with ConWeave's header, and without.
    sent: [u64; 2],
    digests: Vec<(Time, Vec<u8>)>,
    idle: Vec<IdleEntry>,
}

impl Sink for Out {
    fn sent(&mut self, _: &Left, head: &[u8], _: &[u8]) {
        self.sent[usize::from(head[50] & 0x60 == 0)] += 1;
    }
    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {}
    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((digest.time, data.to_vec()));
    }
    fn idle(&mut self, entry: &IdleEntry) {
        self.idle.push(*entry);
    }
}

/// The sender of a flow and a frame of it.
fn frame(flow: u16) -> Vec<u8> {
    let ip = ipv4::Header::new(Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 2, 1));
    let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, 0);
    let headers = roce::Headers { bth, extension: roce::Extension::None };
    let (a, b) = (MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_00_02));
    let mut frame = Vec::new();
    let builder = FrameBuilder::new(b, a).ipv4(ip).roce(udp::Header::new(10_000 + flow, roce::PORT), headers);
    builder.build(Payload::Zeros(256), &mut frame).unwrap();
    frame
}

/// Sends `rounds` packets of `flows` flows, one flow in ten every round and the others every tenth, to a SrcToR whose
/// agent has `rows` rows; gives packets under control, packets that took ECMP, flows installed.
fn run(flows: u16, rows: u16, rounds: u16) -> ([u64; 2], usize, Out) {
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
        Switch::new(&program, &placement, &ports, control, engine, SwitchConfig::default()).unwrap();
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
    let mut now = 0;
    let tell = |switch: &mut Switch<Engine>, out: &mut Out, agent: &mut HotFlows, until: u64| {
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
    for round in 0..rounds {
        for flow in 0..flows {
            if flow % 10 == 0 || round % 10 == flow % 10 {
                let bytes = frame(flow);
                let port = ports.front(FrontPort(0)).unwrap().dev_port;
                let frame = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
                switch.rx(port, Time::from_nanos(now), frame).unwrap();
                now += 50;
            }
        }
        tell(&mut switch, &mut out, &mut agent, now);
    }
    let (sent, installed) = (out.sent, agent.installed());
    // Silence: the chip tells, the agent takes the entries away.
    tell(&mut switch, &mut out, &mut agent, now + 40_000_000);
    let table = program.table_named("flow").unwrap();
    for idle in std::mem::take(&mut out.idle) {
        let entry: EntryId = idle.entry;
        let slot = &switch.control_state().tables[table].slots[entry as usize];
        let key: Vec<KeyValue> = slot.as_ref().unwrap().key.clone();
        agent.idle(idle.time, 0, entry, &key);
    }
    // Operations given at the end of one step take effect in the next.
    tell(&mut switch, &mut out, &mut agent, now + 80_000_000);
    tell(&mut switch, &mut out, &mut agent, now + 81_000_000);
    assert_eq!(switch.control_state().tables[table].entries().count(), 0, "idle entries are gone");
    (sent, installed, out)
}

/// Flows of the trace, ten times as many as the largest table in between has rows.
const FLOWS: u16 = 320;

/// Packets per thousand that are under control, by the rows of the flow table.
fn hit_rates() -> &'static [(u16, u64)] {
    static RATES: OnceLock<Vec<(u16, u64)>> = OnceLock::new();
    let rate = |rows| {
        let ([controlled, ecmp], installed, _) = run(FLOWS, rows, 200);
        assert_eq!(installed, usize::from(rows));
        (rows, controlled * 1000 / (controlled + ecmp))
    };
    RATES.get_or_init(|| [8, 16, 32, 64].into_iter().map(rate).collect())
}

#[test]
fn hot_flows_get_the_rows_and_the_hit_rate_grows_with_the_table() {
    // A tenth of the flows sends half of the packets; the handbook shows this.
    assert_eq!(hit_rates(), [(8, 117), (16, 231), (32, 449), (64, 488)]);
}
