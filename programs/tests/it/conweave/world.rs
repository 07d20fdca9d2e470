//! Two ToRs, the paths between them as scripts, and single ToRs.

use crate::conweave::wire::{Flow, Seen, read};
use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::control_state;
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_place::Placement;
use sluice_programs::conweave::{FlowEntry, Params, Prefix, TorConfig, program, tor_setup};
use sluice_switch::{FlowControlEvent, Left, Lost, Reason, RxFrame, Sink, Switch, SwitchConfig};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Nanoseconds per tick.
pub(crate) const TICK: u64 = 1024;
/// First uplink: path n is at front-panel port UPLINK + n - 1.
pub(crate) const UPLINK: u16 = 4;

/// A program with its placement.
pub(crate) struct Build {
    pub(crate) p: Params,
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) ports: PortMap,
}

impl Build {
    pub(crate) fn new(p: Params) -> Build {
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        Build::with_ports(p, ports)
    }

    pub(crate) fn with_ports(p: Params, ports: PortMap) -> Build {
        let chip = ChipSpec::tofino2();
        let program = program(&p).unwrap_or_else(|e| panic!("{e}"));
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{}", e.reason()));
        Build { p, program, placement, ports }
    }

    /// Returns the same placement on a chip with other numbers.
    pub(crate) fn with_chip(&self, change: impl FnOnce(&mut ChipSpec)) -> Build {
        let Build { p, program, placement, ports } = self;
        let mut placement = placement.clone();
        let mut chip = ChipSpec::clone(&placement.chip);
        change(&mut chip);
        placement.chip = Arc::new(chip);
        Build { p: p.clone(), program: program.clone(), placement, ports: ports.clone() }
    }

    fn setup(&self, net: u8, flows: &[FlowEntry]) -> ControlState {
        let hosts = (1..=self.p.hosts.iter().count() as u8).map(|n| Ipv4Addr::new(10, 0, net, n)).collect();
        let remote = [3 - net, 9].map(|n| Prefix { net: Ipv4Addr::new(10, 0, n, 0), len: 24 }).to_vec();
        let config = TorConfig { hosts, remote, flows: flows.to_vec(), marking: None };
        let mut control = control_state(&self.program, &self.placement);
        for op in tor_setup(&self.program, &self.ports, &config).unwrap().ops {
            control.apply(&self.program, op).unwrap();
        }
        control
    }

    fn dev_port(&self, front: u16) -> sluice_asic::port::DevPort {
        self.ports.front(FrontPort(front)).unwrap().dev_port
    }

    fn engine(&self, control: &ControlState) -> Engine {
        Engine::new(&self.program, &self.placement, control).unwrap()
    }

    fn reference(&self, control: &ControlState) -> Reference {
        let parser_cycles = [0, 1].map(|g: usize| self.placement.gresses[g].parser.cycles.clone());
        Reference::new(&self.program, control, Options { parser_cycles, ..Options::default() })
    }

    /// Returns one ToR that knows these flows, row 1 first.
    pub(crate) fn tor(&self, net: u8, flows: &[Flow], config: SwitchConfig) -> Tor {
        let control = self.setup(net, &entries(flows, self.p.reply));
        let executor = self.engine(&control);
        self.tor_with(control, executor, config)
    }

    /// Returns the same ToR on the reference interpreter.
    pub(crate) fn reference_tor(&self, net: u8, flows: &[Flow], config: SwitchConfig) -> Tor {
        let control = self.setup(net, &entries(flows, self.p.reply));
        let executor = self.reference(&control);
        self.tor_with(control, executor, config)
    }

    fn tor_with(
        &self,
        control: ControlState,
        executor: impl Executor + 'static,
        config: SwitchConfig,
    ) -> Tor {
        let switch =
            Switch::new(&self.program, &self.placement, &self.ports, control, Box::new(executor), config)
                .unwrap();
        Tor {
            switch,
            program: self.program.clone(),
            uplink: self.p.uplinks.first,
            fronts: (0..=self.p.uplinks.last.max(8)).map(|f| self.dev_port(f)).collect(),
            sink: Out::default(),
        }
    }
}

/// Returns the entries of flows, rows from 1.
pub(crate) fn entries(flows: &[Flow], theta_reply: u32) -> Vec<FlowEntry> {
    let entry =
        |(row, f): (u16, &Flow)| FlowEntry { src: f.src, dst: f.dst, src_port: f.src_port, row, theta_reply };
    (1u16..).zip(flows).map(entry).collect()
}

/// A frame that a ToR sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) ns: u64,
    pub(crate) dev_port: u16,
    pub(crate) qid: u8,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) sent: Vec<Sent>,
    pub(crate) lost: Vec<(Lost, Vec<u8>)>,
    pub(crate) digests: Vec<Vec<u8>>,
    /// Flow-control words that reached queues.
    pub(crate) words: Vec<FlowControlEvent>,
}

impl Sink for Out {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        let (ns, dev_port, qid) = (packet.first_bit.as_nanos(), packet.egress_port, packet.qid);
        self.sent.push(Sent { ns, dev_port, qid, bytes: [head, tail].concat() });
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.lost.push((*packet, [head, tail].concat()));
    }

    fn digest(&mut self, _: &sluice_switch::Digest, data: &[u8]) {
        self.digests.push(data.to_vec());
    }

    fn flow_control(&mut self, event: &FlowControlEvent) {
        self.words.push(*event);
    }
}

/// One ToR.
pub(crate) struct Tor {
    pub(crate) switch: Switch<'static>,
    program: Program,
    /// Front-panel port of path 1.
    pub(crate) uplink: u16,
    fronts: Vec<sluice_asic::port::DevPort>,
    pub(crate) sink: Out,
}

impl Tor {
    /// Passes in a frame whose first bit is at a front-panel port at this time.
    pub(crate) fn rx(&mut self, front: u16, ns: u64, bytes: &[u8]) {
        let frame = RxFrame { bytes, orig_len: bytes.len() as u32, tag: 0 };
        self.switch.rx(self.fronts[usize::from(front)], Time::from_nanos(ns), frame).unwrap();
    }

    pub(crate) fn op(&mut self, ns: u64, op: ControlOp) {
        self.switch.control(Time::from_nanos(ns), op).unwrap();
    }

    /// Runs up to a time and returns the frames sent since the last call, in order of time.
    pub(crate) fn until(&mut self, ns: u64) -> Vec<Sent> {
        self.switch.advance(Time::from_nanos(ns), &mut self.sink).unwrap();
        assert!(self.switch.is_conserved());
        let mut sent = std::mem::take(&mut self.sink.sent);
        sent.sort_by_key(|s| s.ns);
        sent
    }

    /// Returns the front-panel port of a dev_port.
    pub(crate) fn front(&self, dev_port: u16) -> u16 {
        self.fronts.iter().position(|d| d.number() == dev_port).unwrap() as u16
    }

    /// Returns the frames sent on a front-panel port, parsed.
    pub(crate) fn by(&self, sent: &[Sent], front: u16) -> Vec<(u64, Seen)> {
        let dev_port = self.fronts[usize::from(front)].number();
        sent.iter().filter(|s| s.dev_port == dev_port).filter_map(|s| Some((s.ns, read(&s.bytes)?))).collect()
    }

    /// Returns the frames sent on any path, parsed, with the path.
    pub(crate) fn by_paths(&self, sent: &[Sent]) -> Vec<(u16, Seen)> {
        let path = |s: &Sent| self.front(s.dev_port).checked_sub(self.uplink - 1).filter(|p| *p > 0);
        sent.iter().filter_map(|s| Some((path(s)?, read(&s.bytes)?))).collect()
    }

    /// Returns the low half of a register's element in pipe 0.
    pub(crate) fn register(&self, name: &str, index: usize) -> u64 {
        let register = self.program.register_named(name).unwrap_or_else(|| panic!("no register {name}"));
        self.switch.state_of(0).unwrap().registers[register][index].lo
    }

    /// Returns the cells of the queue table that have an owner in a pipe.
    pub(crate) fn owners(&self, pipe: u8) -> usize {
        let state = self.switch.state_of(pipe).unwrap();
        let ways = self.program.registers.iter().filter(|(_, data)| data.name.starts_with("owner"));
        ways.map(|(way, _)| state.registers[way].iter().filter(|e| e.lo != 0).count()).sum()
    }

    /// Returns the packets of a counter's cell.
    pub(crate) fn counter(&self, name: &str, index: usize) -> u64 {
        let counter = self.program.counters.iter().find(|(_, c)| c.name == name).unwrap().0;
        self.switch.state_of(0).unwrap().counters[counter][index].packets
    }

    /// Returns the packets that ended with a label.
    pub(crate) fn ended(&self, label: &str) -> u64 {
        let named = |r: &Reason| matches!(r, Reason::Label(l) if self.program.labels[*l].name == label);
        self.switch.totals().reasons().filter(|(r, _)| named(r)).map(|(_, n)| n).sum()
    }

    /// Checks that no packet is inside, no queue is owned and no status is set: nothing leaked.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.switch.held().total(), 0, "packets inside");
        let state = self.switch.state_of(0).unwrap();
        for (register, data) in self.program.registers.iter() {
            if data.name.starts_with("owner") || data.name == "reorder_status_rx" || data.name == "dequeued" {
                let left: Vec<usize> = (0..)
                    .zip(&state.registers[register])
                    .filter(|(_, e)| e.lo != 0)
                    .map(|(i, _)| i)
                    .collect();
                assert!(left.is_empty(), "`{}` is set at {left:?}", data.name);
            }
        }
    }
}

/// Decision of a script about a frame on a path: its delay, or its loss. The script may change the frame.
pub(crate) type Script<'s> = dyn FnMut(Hop, &mut Vec<u8>) -> Option<u64> + 's;

/// A frame on its way between the ToRs.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    /// Number of the path, from 1.
    pub(crate) path: u16,
    /// Number of the ToR that sent the frame, 1 or 2.
    pub(crate) from: u8,
    /// Time at which the frame's first bit was sent.
    pub(crate) ns: u64,
    pub(crate) seen: Option<Seen>,
}

/// Two ToRs joined by scripted paths; ToR 1 has the hosts 10.0.1.x, ToR 2 10.0.2.x.
pub(crate) struct Net {
    pub(crate) tors: [Tor; 2],
    /// Frames on their way to a ToR: time, order, ToR, front-panel port.
    flying: BTreeMap<(u64, u64), (usize, u16, Vec<u8>)>,
    order: u64,
    /// Frames that reached hosts: ToR 1 or 2, host from 1.
    pub(crate) delivered: Vec<(u64, u8, u16, Seen)>,
    /// Frames that travelled between the ToRs.
    pub(crate) hops: Vec<Hop>,
    pub(crate) now: u64,
}

impl Net {
    pub(crate) fn new(build: &Build, flows: &[Flow], config: &SwitchConfig) -> Net {
        let tor = |net| build.tor(net, flows, SwitchConfig { device: u32::from(net), ..config.clone() });
        Net::of([tor(1), tor(2)])
    }

    pub(crate) fn reference(build: &Build, flows: &[Flow], config: &SwitchConfig) -> Net {
        let tor =
            |net| build.reference_tor(net, flows, SwitchConfig { device: u32::from(net), ..config.clone() });
        Net::of([tor(1), tor(2)])
    }

    fn of(tors: [Tor; 2]) -> Net {
        Net { tors, flying: BTreeMap::new(), order: 0, delivered: Vec::new(), hops: Vec::new(), now: 0 }
    }

    /// Passes in a host's frame.
    pub(crate) fn send(&mut self, ns: u64, flow: Flow, bytes: Vec<u8>) {
        let [.., net, host] = flow.src.octets();
        self.fly(ns, usize::from(net) - 1, u16::from(host) - 1, bytes);
    }

    fn fly(&mut self, ns: u64, tor: usize, front: u16, bytes: Vec<u8>) {
        self.flying.insert((ns, self.order), (tor, front, bytes));
        self.order += 1;
    }

    /// Runs up to a time under a script.
    pub(crate) fn run(&mut self, until: u64, script: &mut Script<'_>) {
        loop {
            let next = |t: &Tor| t.switch.next_time().map(|t| t.as_ps().div_ceil(1000));
            let inside = self.tors.iter().filter_map(next).min();
            let arrival = self.flying.keys().next().map(|k| k.0);
            let Some(t) = inside.into_iter().chain(arrival).min().filter(|t| *t <= until) else { break };
            // No path is faster than this, so no frame that is sent now arrives earlier.
            let t = (t + 200).min(until);
            while let Some(entry) = self.flying.first_entry().filter(|e| e.key().0 <= t) {
                let ((ns, _), (tor, front, bytes)) = entry.remove_entry();
                self.tors[tor].rx(front, ns, &bytes);
            }
            for tor in 0..2 {
                for sent in self.tors[tor].until(t) {
                    self.travel(tor, sent, script);
                }
            }
            self.now = t;
        }
    }

    fn travel(&mut self, tor: usize, sent: Sent, script: &mut Script<'_>) {
        let front = self.tors[tor].front(sent.dev_port);
        let seen = read(&sent.bytes);
        let uplink = self.tors[tor].uplink;
        if front < uplink {
            let seen = seen.unwrap_or_else(|| panic!("no RoCE frame for a host"));
            return self.delivered.push((sent.ns, tor as u8 + 1, front + 1, seen));
        }
        let mut bytes = sent.bytes;
        let hop = Hop { path: front - uplink + 1, from: tor as u8 + 1, ns: sent.ns, seen };
        self.hops.push(hop.clone());
        if let Some(delay) = script(hop, &mut bytes) {
            assert!(delay >= 500, "a path is at least 500 ns long");
            self.fly(sent.ns + delay, 1 - tor, front, bytes);
        }
    }

    /// Returns the packet sequence numbers of a flow in the order in which its host received them.
    pub(crate) fn psns(&self, flow: Flow) -> Vec<u32> {
        self.delivered.iter().filter(|(.., s)| s.flow == flow).map(|(.., s)| s.psn).collect()
    }
}

/// Returns a switch whose clock begins at this tick.
pub(crate) fn at_tick(tick: u64) -> SwitchConfig {
    SwitchConfig { clock_origin: Duration::from_nanos(tick * TICK), ..SwitchConfig::default() }
}
