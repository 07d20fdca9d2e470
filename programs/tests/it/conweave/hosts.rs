//! Hosts that reply: go-back-N over rerouted flows (scenario 58), and an old path that is blocked (scenario 59).

use crate::conweave::wire::{Flow, data};
use crate::conweave::world::{Build, Net, TICK, at_tick};
use sluice_asic::salu::State as Element;
use sluice_control::ControlOp;
use sluice_programs::conweave::Params;
use std::collections::VecDeque;

const BASE: u64 = 2_000;

/// A sender and its receiver: packets are acknowledged one by one; the first one out of order is
/// refused, and the sender goes back to the expected packet.
struct GoBackN {
    flow: Flow,
    next: u32,
    acknowledged: u32,
    expected: u32,
    refused: bool,
    /// Replies of receivers with their arrival times at the sender: the expected packet, and whether it is a NACK.
    answers: VecDeque<(u64, u32, bool)>,
    sent: u32,
    nacks: u32,
}

/// Largest number of packets under way, packets of a transfer, nanoseconds from receiver to sender.
const WINDOW: u32 = 128;
const PACKETS: u32 = 1_500;
const BACK: u64 = 5_000;
const GAP: u64 = 150;

impl GoBackN {
    fn new(flow: Flow) -> GoBackN {
        let answers = VecDeque::new();
        GoBackN { flow, next: 0, acknowledged: 0, expected: 0, refused: false, answers, sent: 0, nacks: 0 }
    }

    fn hears(&mut self, now: u64) {
        while let Some((_, expected, refuses)) = self.answers.front().copied().filter(|(t, ..)| *t <= now) {
            self.answers.pop_front();
            self.acknowledged = self.acknowledged.max(expected);
            if refuses {
                self.next = expected;
            }
        }
    }

    fn sends(&mut self, now: u64, net: &mut Net) {
        let mut at = now;
        while at < now + STEP && self.next < (self.acknowledged + WINDOW).min(PACKETS) {
            net.send(at, self.flow, data(self.flow, self.next));
            (self.next, self.sent, at) = (self.next + 1, self.sent + 1, at + GAP);
        }
    }

    fn gets(&mut self, time: u64, psn: u32) {
        if psn == self.expected {
            (self.expected, self.refused) = (self.expected + 1, false);
            self.answers.push_back((time + BACK, self.expected, false));
        } else if psn > self.expected && !self.refused {
            (self.refused, self.nacks) = (true, self.nacks + 1);
            self.answers.push_back((time + BACK, self.expected, true));
        }
    }
}

const STEP: u64 = 600;

/// Transfers over paths that differ by 3 us each, with so short a reply time that every epoch moves.
/// Returns TAILs, packets sent again and NACKs. Without queues no packets can be put in order.
fn transfers(with_queues: bool) -> (usize, u32, u32) {
    let params = Params { reply: 1, resume_margin: 40, inactive: 1000, ..Params::default() };
    let build = Build::new(params);
    let flows: Vec<Flow> = (0..2).map(|n| Flow::new(1 + n, 1 + n, u16::from(n))).collect();
    let mut net = Net::new(&build, &flows, &at_tick(1000));
    if !with_queues {
        for owner in ["owner", "owner_1", "owner_2", "owner_3"] {
            let register = build.program.register_named(owner).unwrap();
            let value = Some(Element { lo: 0xffff, hi: 0 });
            net.tors[1].op(0, ControlOp::WriteRegister { register, index: None, value });
        }
    }
    let mut hosts: Vec<GoBackN> = flows.iter().map(|f| GoBackN::new(*f)).collect();
    let (mut now, mut seen) = (1_000, 0);
    while hosts.iter().any(|h| h.acknowledged < PACKETS) && now < 4_000_000 {
        for host in &mut hosts {
            host.hears(now);
            host.sends(now, &mut net);
        }
        now += STEP;
        net.run(now, &mut |hop, _| Some(BASE + u64::from(hop.path) * 3_000));
        for (time, _, _, frame) in &net.delivered[seen..] {
            let host = hosts.iter_mut().find(|h| h.flow == frame.flow).unwrap();
            host.gets(*time, frame.psn);
        }
        seen = net.delivered.len();
    }
    assert!(hosts.iter().all(|h| h.acknowledged == PACKETS), "the transfers end");
    let tails = net.hops.iter().filter(|h| h.seen.as_ref().is_some_and(|s| s.cw.tail)).count();
    let again = hosts.iter().map(|h| h.sent - PACKETS).sum();
    (tails, again, hosts.iter().map(|h| h.nacks).sum())
}

#[test]
fn scenario_58_go_back_n_sends_nothing_again_and_without_reordering_it_does() {
    let (tails, again, nacks) = transfers(true);
    assert!(tails > 10, "{tails} TAILs");
    assert_eq!((again, nacks), (0, 0));
    let (tails, again, nacks) = transfers(false);
    assert!(tails > 5 && nacks > 5 && again > 100, "{tails} TAILs, {again} again, {nacks} NACKs");
}

/// Blocks a path for 500 us, as a PFC pause does, while packets on another path wait; returns sequence numbers as the
/// host received them, and the most cells in a reorder queue; `None` if the sample was the path in use.
fn stalled(waits: Params, begins: u64) -> Option<(Vec<u32>, u32)> {
    let build = Build::new(Params { inactive: 2_000, ..waits });
    let flow = Flow::new(1, 1, 0);
    let mut net = Net::new(&build, &[flow], &at_tick(1000));
    let mut sent = 0;
    while sent < SENT {
        net.send(u64::from(sent) * 500, flow, data(flow, sent));
        sent += 1;
    }
    let ends = begins + 500_000;
    let (mut slow, mut last, mut moved) = (None, 0, false);
    net.run(6_000 * TICK, &mut |hop, _| {
        let is_data = hop.seen.as_ref().is_some_and(|s| s.cw.opcode == 1);
        if is_data && hop.ns > begins {
            slow = slow.or(Some(hop.path));
        }
        if !is_data || slow != Some(hop.path) {
            moved |= is_data && slow.is_some();
            return Some(BASE);
        }
        // Packets that wait for the path leave it in order, packet by packet.
        last = (hop.ns + BASE).max(ends).max(last + 40);
        Some(last - hop.ns)
    });
    net.tors.iter().for_each(|t| t.assert_clean());
    let cells = net.tors[1].switch.queues().filter(|(_, q, _)| *q >= 2).map(|(.., s)| s.max_cells.0).max();
    moved.then(|| (net.psns(flow), cells.unwrap_or(0)))
}

const SENT: u32 = 300;

#[test]
fn scenario_59_an_old_path_that_is_paused() {
    // T_resume expires long before the old path's packets arrive: the host gets all packets, but not in order.
    let (begins, (early, _)) =
        (50..60).find_map(|tick| Some((tick * TICK, stalled(Params::default(), tick * TICK)?))).unwrap();
    assert!(!early.is_sorted());
    let mut all = early.clone();
    all.sort_unstable();
    assert_eq!(all, (0..SENT).collect::<Vec<_>>(), "nothing is lost, nothing comes twice");
    // Waits longer than the pause keep order, even if no packet of the epoch arrived on the old path;
    // waiting packets are in the shared buffer meanwhile.
    let waits = Params { resume_margin: 1_000, resume_default: 1_000, ..Params::default() };
    let (patient, cells) = stalled(waits, begins).unwrap();
    assert_eq!(patient, (0..SENT).collect::<Vec<_>>());
    assert!(cells > 1_000, "{cells} cells");
}
