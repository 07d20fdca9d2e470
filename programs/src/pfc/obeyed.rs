//! `pauses_obeyed`: queues pause, resume, storm and recover as [`History`] says, and timers end with their pauses.

use super::Params;
use super::history::{End, History, Moment, REACTION, Request, within};
use super::model::is_pfc;
use crate::forwarding::model::{kind, place, word};
use crate::model::Entries;
use sluice_asic::units::Time;
use sluice_switch::Reason;
use sluice_switch::property::{Departed, Ended, Entered, Finding, Property, Settled};
use std::collections::{BTreeMap, BTreeSet};

/// Largest time in ns from the first bit of a short frame to its processing, and between the estimated and the real time at
/// which a packet was dequeued.
const MARGIN: u64 = 700;
/// Longest time in ns for which a line is idle between two packets that wait for it.
const IDLE: u64 = 3_000;
/// Reasons of the device for which a timer, a frame or a packet of a queue is lost on its way.
const EXCUSES: [&str; 5] =
    ["port_down", "queue_tail_drop", "buffer_full", "no_such_queue", "ingress_overrun"];
/// First byte of a timer.
const TIMER: u8 = 2;
/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 12;

/// A PFC frame that arrived. Times are in ns.
#[derive(Clone, Copy, Debug)]
struct Frame {
    tag: u64,
    time: u64,
    port: u16,
    bytes: u64,
    enabled: u8,
    quanta: [u16; 8],
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Packet {
    tag: u64,
    port: u16,
    queue: u8,
    /// When it reached the queue; late by as much as the first bit comes after the packet was dequeued.
    enqueued: u64,
    first_bit: u64,
    last_bit: u64,
}

/// A timer that ended: 0 when its pause was over, 2 when its storm was.
#[derive(Clone, Copy, Debug)]
struct Timer {
    tag: u64,
    time: u64,
    state: u8,
    slot: u16,
    port: u16,
    word: u32,
}

/// A packet that a storm dropped.
#[derive(Clone, Debug)]
struct Dropped {
    tag: u64,
    time: u64,
    bytes: Vec<u8>,
}

/// `pauses_obeyed`: a queue that the other end pauses sends nothing until its quanta run out at the speed of the line, or
/// a frame ends the pause; then it sends. Each pause without a break has one timer, which ends with it. Pauses longer
/// than `detection_time` are a storm: the queue's packets are dropped, or sent if `storm_drop` is off, until no pause came
/// for `restoration_time`. In the end no queue is paused or in a storm. Not judged: runs in which entries, queues or ports
/// change, or packets are lost at ports and queues.
#[derive(Clone, Debug)]
pub(super) struct Obeyed {
    p: Params,
    frames: Vec<Frame>,
    /// PFC frames that the program took.
    taken: BTreeSet<u64>,
    sent: Vec<Packet>,
    timers: Vec<Timer>,
    dropped: Vec<Dropped>,
    /// Time of the last event.
    now: u64,
    unknown: bool,
}

/// The queue of a port and priority: its class, speed in Gb/s, register index and flow-control word.
#[derive(Clone, Copy, Debug)]
struct Queue {
    gbps: u64,
    slot: u128,
    word: u128,
}

impl Queue {
    /// Returns the queue that PFC frames of a port pause; `None` if they pause none.
    fn of(entries: &Entries<'_>, port: u16, class: u8) -> Option<Queue> {
        let call = entries.exact("queue", &[port.into(), class.into()])?;
        let gbps = call.action.strip_prefix("at_")?.strip_suffix('g')?.parse().ok()?;
        Some(Queue { gbps, slot: call.arg(0), word: call.arg(1) })
    }
}

impl Obeyed {
    /// Returns the property for these parameters.
    pub(super) fn new(p: &Params) -> Obeyed {
        let (frames, taken, sent, timers, dropped) = Default::default();
        Obeyed { p: p.clone(), frames, taken, sent, timers, dropped, now: 0, unknown: !p.obey || p.probe }
    }

    /// Returns the requests for a queue in order of time.
    fn requests(&self, port: u16, class: u8, gbps: u64) -> Vec<Request> {
        let enabled = |frame: &&Frame| frame.port == port && frame.enabled >> class & 1 == 1;
        let request = |frame: &Frame| {
            // One priority per pass, the lowest first.
            let before = u64::from((frame.enabled & ((1 << class) - 1)).count_ones());
            let arrives =
                Moment { first: frame.time, last: frame.time + MARGIN + frame.bytes * 8 / gbps.max(1) };
            let laps = (before * super::history::LAP.0, before * super::history::LAP.1);
            Request { at: arrives.plus(laps), quanta: frame.quanta[usize::from(class)] }
        };
        let mut list: Vec<Request> = self.frames.iter().filter(enabled).map(request).collect();
        list.sort_by_key(|request| request.at.first);
        list
    }

    /// Checks the timers of a queue.
    fn timers(&self, (port, class): (u16, u8), queue: Queue, history: &History) -> Finding {
        let own = |timer: &&Timer| timer.port == port && u128::from(timer.slot) == queue.slot;
        let mut ended: Vec<&Timer> = self.timers.iter().filter(own).collect();
        if let Some(timer) = ended.iter().find(|timer| u128::from(timer.word) != queue.word) {
            return Err(format!(
                "a timer of packet {} has word {:#x}, expected {:#x}",
                timer.tag, timer.word, queue.word
            ));
        }
        for (end, moment) in history.ends.iter().filter(|(_, moment)| moment.first <= self.now) {
            let state = if *end == End::Expired { 0 } else { 2 };
            let is = |timer: &&Timer| {
                timer.state == state && (moment.first..=moment.last + MARGIN).contains(&timer.time)
            };
            match ended.iter().position(is) {
                Some(at) => _ = ended.remove(at),
                None if moment.last + MARGIN < self.now => {
                    let (first, last) = (moment.first, moment.last);
                    return Err(format!(
                        "no timer of port {port}, priority {class} ended between {first} and {last} ns: {end:?}"
                    ));
                }
                None => {}
            }
        }
        match ended.iter().find(|timer| !within(&history.unknown, timer.time)) {
            Some(Timer { tag, time, state, .. }) => Err(format!(
                "a timer of port {port}, priority {class}, made for packet {tag}, ended in state {state} at {time} ns, which no pause or storm does"
            )),
            None => Ok(()),
        }
    }

    /// Checks the packets that a queue sent.
    fn packets(&self, (port, queue): (u16, u8), history: &History) -> Finding {
        for packet in self.sent.iter().filter(|packet| packet.port == port && packet.queue == queue) {
            let (tag, first_bit) = (packet.tag, packet.first_bit);
            // It was dequeued at some time between these two.
            let inside =
                |(first, last): &&(u64, u64)| first_bit.saturating_sub(MARGIN) > *first && first_bit < *last;
            if history.paused.iter().any(|window| inside(&window)) {
                return Err(format!(
                    "packet {tag} left queue {queue} of port {port} at {first_bit} ns, in a pause"
                ));
            }
            if self.p.storm_drop && history.storms.iter().any(|window| inside(&window)) {
                return Err(format!(
                    "packet {tag} left queue {queue} of port {port} at {first_bit} ns, in a storm"
                ));
            }
        }
        Ok(())
    }

    /// Checks that a line with waiting packets is idle only while their queue may be paused.
    fn waits(&self, histories: &BTreeMap<(u16, u8), History>) -> Finding {
        let mut lines: BTreeMap<u16, Vec<&Packet>> = BTreeMap::new();
        for packet in &self.sent {
            lines.entry(packet.port).or_default().push(packet);
        }
        for (port, mut packets) in lines {
            packets.sort_by_key(|packet| packet.first_bit);
            let mut free = 0;
            for packet in packets {
                let mut from = free.max(packet.enqueued);
                free = packet.last_bit;
                let mut maybe: Vec<(u64, u64)> =
                    histories.get(&(port, packet.queue)).map_or_else(Vec::new, |h| h.maybe_paused.clone());
                maybe.sort_unstable();
                for (first, last) in maybe {
                    if first > from.saturating_add(IDLE) {
                        break;
                    }
                    from = from.max(last.saturating_add(REACTION));
                }
                if packet.first_bit > from.saturating_add(IDLE) {
                    let Packet { tag, queue, first_bit, .. } = packet;
                    return Err(format!(
                        "packet {tag} waited in queue {queue} of port {port} up to {first_bit} ns, with a free line and no pause from {from} ns on"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks that storms drop packets, and nothing else does.
    fn drops(&self, entries: &Entries<'_>, histories: &BTreeMap<(u16, u8), History>) -> Finding {
        for Dropped { tag, time, bytes } in &self.dropped {
            let at = place(entries, kind(bytes));
            let stormed = at.and_then(|at| histories.get(&at)).is_some_and(|history| {
                (0..=MARGIN)
                    .step_by(100)
                    .any(|early| within(&history.maybe_storms, time.saturating_sub(early)))
            });
            if !stormed {
                return Err(format!(
                    "packet {tag} was dropped at {time} ns for a storm, and its queue was in none"
                ));
            }
        }
        Ok(())
    }
}

/// Registers that are 0 where no queue is paused or in a storm.
const ZERO: [&str; 4] = ["paused_until", "paused_since", "stormed", "dropping"];

/// Checks that no queue is paused or in a storm.
fn at_rest(device: &Settled<'_>) -> Finding {
    for (register, data) in
        device.program.registers.iter().filter(|(_, data)| ZERO.contains(&data.name.as_str()))
    {
        for state in device.states {
            let set = state
                .registers
                .get(register)
                .and_then(|all| all.changed().find(|(_, element)| element.lo != 0));
            if let Some((at, _)) = set {
                return Err(format!("nothing is inside, but `{}` is set at {at}", data.name));
            }
        }
    }
    Ok(())
}

impl Property for Obeyed {
    fn name(&self) -> &'static str {
        "pauses_obeyed"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        let origin = packet.packet;
        self.now = self.now.max(origin.time.as_nanos());
        if is_pfc(origin.bytes) && !self.unknown {
            let quanta = std::array::from_fn(|class| word(origin.bytes, 18 + 2 * class).unwrap_or(0));
            let (tag, time, port) = (packet.tag, origin.time.as_nanos(), origin.port);
            let (bytes, enabled) = (origin.bytes.len() as u64, origin.bytes[17]);
            self.frames.push(Frame { tag, time, port, bytes, enabled, quanta });
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.unknown = true;
    }

    fn disturbed(&mut self) {
        self.unknown = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let left = &packet.left;
        self.unknown |= self.sent.len() >= MOST;
        if !self.unknown {
            let enqueued = left.first_bit.saturating_since(Time::ORIGIN + left.queued).as_nanos();
            let (first_bit, last_bit) = (left.first_bit.as_nanos(), left.last_bit.as_nanos());
            let (tag, port, queue) = (left.tag, left.egress_port, left.qid);
            self.now = self.now.max(first_bit);
            self.sent.push(Packet { tag, port, queue, enqueued, first_bit, last_bit });
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        let (tag, time) = (packet.lost.tag, packet.lost.time.as_nanos());
        self.now = self.now.max(time);
        let Some(from) = packet.from else { return Ok(()) };
        match packet.reason {
            "pfc_storm" => self.dropped.push(Dropped { tag, time, bytes: from.bytes.to_vec() }),
            "pfc_taken" => match *packet.bytes {
                [TIMER, state, a, b, c, d, e, f, g, h] => {
                    let (slot, port) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                    let word = u32::from_be_bytes([e, f, g, h]);
                    self.timers.push(Timer { tag, time, state, slot, port, word });
                }
                _ => _ = self.taken.insert(tag),
            },
            reason => self.unknown |= EXCUSES.contains(&reason) || matches!(packet.why(), Reason::Buffer(_)),
        }
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let run = std::mem::replace(self, Obeyed::new(&self.p));
        if run.unknown || device.busy || run.frames.iter().any(|frame| !run.taken.contains(&frame.tag)) {
            return Ok(());
        }
        let entries = Entries::new(device.program, device.control);
        let mut histories = BTreeMap::new();
        let ports: BTreeSet<u16> = run.frames.iter().map(|frame| frame.port).collect();
        for (port, class) in ports.into_iter().flat_map(|port| (0..8).map(move |class| (port, class))) {
            let Some(queue) = Queue::of(&entries, port, class) else { continue };
            let history = History::of(&run.p, queue.gbps, &run.requests(port, class, queue.gbps));
            run.timers((port, class), queue, &history)?;
            run.packets((port, class), &history)?;
            histories.insert((port, class), history);
        }
        run.waits(&histories)?;
        run.drops(&entries, &histories)?;
        if device.held == 0 { at_rest(device) } else { Ok(()) }
    }
}
