//! Model of DstToR in plain Rust: which packets wait, and which answers they get (model: conweave §1.6 to §1.8, §2.5).
//!
//! The model keeps the set of states in which a flow may be. A packet narrows the set to the states that explain its queue
//! and its answers; a set without states is a mistake of the program. Packets of a flow that arrive on different ports at
//! nearly the same time are taken in every order.

use super::Params;
use super::observed::{Answers, Done, Judge, Observed};
use super::wire::Header;
use crate::model::Entries;
use sluice_switch::property::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// Packets of one flow on different ports may overtake each other by less than this time in ns.
const RACE: u64 = 1_000;
/// Time in ns before the end of a timer packet at which packets that arrive come after its last pass, to within [`RACE`].
const LAST_PASS: u64 = 700;
/// First reorder queue.
const REORDER: u8 = 2;
/// Congestion experienced.
const CE: u8 = 3;
/// Register value of a flow without an epoch.
const NO_EPOCH: u8 = 4;
/// Most packets of a race that are taken in every order.
const ORDERS: usize = 6;

/// `answers_as_modelled`: DstToR sends an RTT_REPLY for each RTT_REQUEST, CLEAR for a TAIL that no packet waits for and behind
/// packets that waited, and NOTIFY for other DATA that met congestion; nothing for the epoch before. Packets wait only if
/// they overtook their TAIL. Not judged: runs in which entries, queues or ports change, or packets are lost at ports and
/// queues, and races.
#[derive(Clone, Debug)]
pub(super) struct DstAnswers {
    p: Params,
    seen: Observed,
}

/// State of a flow at DstToR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    epoch: u8,
    /// TAIL of the epoch came, or its packets need not wait any more.
    sorted: bool,
    /// No queue was free for the epoch.
    gave_up: bool,
    /// The flow has a reorder queue.
    busy: bool,
}

type States = BTreeSet<State>;

/// Returns all states.
fn anything() -> States {
    let bits = |n: u8| State { epoch: n >> 3, sorted: n & 1 != 0, gave_up: n & 2 != 0, busy: n & 4 != 0 };
    (0..(NO_EPOCH + 1) << 3).map(bits).collect()
}

/// Header, queue and answers of a packet.
#[derive(Clone, Copy, Debug)]
struct Shown {
    header: Header,
    ecn: u8,
    /// Queue from which it was sent, and the queue of its class.
    queue: u8,
    class: u8,
    answers: Answers,
    /// True if no packet of any flow can have a reorder queue before this one.
    first: bool,
}

impl Shown {
    /// Returns true if the packet was sent from the queue of its class with these answers.
    fn went_on(&self, reply: bool, clear: bool, notify: bool) -> bool {
        let answers = Answers { reply: reply.into(), clear: clear.into(), notify: notify.into() };
        self.queue == self.class && self.answers == answers
    }

    /// Returns the states after the packet if the flow was in this state; none if that cannot be.
    fn after(&self, state: State) -> States {
        let Header { epoch, phase, tail, ask_reply, .. } = self.header;
        if state.epoch == (epoch + 1) & 3 {
            return self.when(self.went_on(false, false, false), state);
        }
        let opens = state.epoch != epoch;
        let before = if opens { State { epoch, sorted: false, gave_up: false, ..state } } else { state };
        let early = phase == 1 && !tail && !before.sorted && !before.gave_up;
        let next = State { sorted: before.sorted || tail, ..before };
        let asks = ask_reply && !tail && phase == 0;
        let marked = self.ecn == CE;
        if state.busy {
            return self.of_busy((opens, asks, marked), next);
        }
        if !early {
            return self.when(self.went_on(asks, tail, marked && !asks && !tail), next);
        }
        let waits = self.queue >= REORDER && self.answers.reply == 0 && self.answers.notify == 0;
        if waits && self.answers.clear <= 1 {
            return [State { busy: true, ..next }].into();
        }
        // No queue was free: the packet takes a second pass, and packets behind it may come before that.
        if !self.first && self.went_on(false, false, marked) { anything() } else { States::new() }
    }

    /// The flow has a queue: what waits, and what TAIL finds, depends on more than this state.
    fn of_busy(&self, (opens, asks, marked): (bool, bool, bool), next: State) -> States {
        let Header { phase, tail, .. } = self.header;
        let Answers { reply, clear, notify } = self.answers;
        let may_wait = phase == 1 && !tail && !opens;
        let queue = self.queue == self.class || may_wait && self.queue >= REORDER;
        let answers = reply == u8::from(asks)
            && clear <= u8::from(tail)
            && notify <= u8::from(marked && !asks)
            && clear + notify <= 1
            && (clear + notify == 1 || !tail || !marked);
        if !(queue && answers) {
            return States::new();
        }
        // The timer packet lets the epoch go on when its queue drains.
        let drained = State { sorted: true, ..next };
        [next, drained].into()
    }

    fn when(&self, holds: bool, state: State) -> States {
        if holds { [state].into() } else { States::new() }
    }
}

/// An event of a flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    Data { tag: u64, port: u16, shown: Shown },
    Done(Done),
}

type Events = Vec<(u64, Event)>;

impl DstAnswers {
    /// Returns the events of each flow by its row; `None` if the fate of a packet is not known.
    fn events(&self, entries: &Entries<'_>) -> Option<BTreeMap<u128, Events>> {
        let data = self.seen.data(&self.p, entries)?;
        let overtakes = |header: &Header| header.phase == 1 && !header.tail;
        let times = || data.iter().filter(|d| overtakes(&d.frame.header)).map(|d| d.packet.time.as_nanos());
        // Of packets that may overtake, the first one finds all queues free.
        let first = times().min().unwrap_or(0);
        let alone = times().filter(|time| *time <= first + RACE).count() == 1;
        let mut flows: BTreeMap<u128, Events> = BTreeMap::new();
        for d in data {
            let (packet, time) = (d.packet, d.packet.time.as_nanos());
            let class = entries.exact("class", &[u128::from(packet.bytes[15] >> 2)]);
            let shown = Shown {
                header: d.frame.header,
                ecn: d.frame.ecn,
                queue: packet.sent?.queue,
                class: class.map_or(0, |call| call.arg(0) as u8 & 1),
                answers: packet.answers,
                first: alone && time <= first,
            };
            let event = Event::Data { tag: d.tag, port: packet.port, shown };
            flows.entry(d.row).or_default().push((time, event));
        }
        for done in &self.seen.done {
            let time = done.time.saturating_sub(LAST_PASS);
            flows.entry(done.row.into()).or_default().push((time, Event::Done(*done)));
        }
        Some(flows)
    }

    /// Checks the events of one flow, in order of time.
    fn flow(&self, events: &Events) -> Finding {
        let mut states: States =
            [State { epoch: NO_EPOCH, sorted: false, gave_up: false, busy: false }].into();
        let mut rest = &events[..];
        while !rest.is_empty() {
            let race = race(rest);
            let (now, later) = rest.split_at(race);
            rest = later;
            let next = orders(now, &states);
            match (next, now) {
                (Some(next), _) if !next.is_empty() => states = next,
                (None, _) => states = anything(),
                (Some(_), [(time, Event::Data { tag, shown, .. }), ..]) => {
                    return Err(format!(
                        "packet {tag} at {time} ns: no state of its flow explains {shown:?}"
                    ));
                }
                (Some(_), _) => return Err("a timer packet ended of a flow that had no queue".to_owned()),
            }
            if let [(_, Event::Done(done))] = now {
                self.cleared(done, &states)?;
            }
        }
        Ok(())
    }

    /// Checks that CLEAR follows packets that waited for TAIL of the flow's present epoch.
    fn cleared(&self, done: &Done, states: &States) -> Finding {
        let Some(packet) = usize::try_from(done.tag).ok().and_then(|tag| self.seen.packets.get(tag)) else {
            return Ok(());
        };
        let present = states.iter().filter(|state| state.epoch == done.epoch).count();
        let (must, may) = (present == states.len() && done.phase == 1, present > 0 && done.phase == 1);
        match packet.answers.clear {
            0 if must => {
                Err(format!("no CLEAR came behind the packets that waited with packet {}", done.tag))
            }
            1.. if !may => Err(format!("a CLEAR of an epoch that is over came behind packet {}", done.tag)),
            _ => Ok(()),
        }
    }
}

/// Returns the number of events at the begin of a list that may have come in another order.
fn race(events: &[(u64, Event)]) -> usize {
    let near = |(first, a): &(u64, Event), (second, b): &(u64, Event)| {
        let same = matches!((a, b), (Event::Data { port: a, .. }, Event::Data { port: b, .. }) if a == b);
        !same && second.abs_diff(*first) <= RACE
    };
    let (mut at, mut end) = (0, 1);
    while at < end {
        let last = events.iter().rposition(|other| near(&events[at], other));
        end = last.map_or(end, |last| end.max(last + 1));
        at += 1;
    }
    end
}

/// Returns the states after events in any order that keeps the order of each port; `None` if there are too many orders.
fn orders(events: &[(u64, Event)], states: &States) -> Option<States> {
    match events {
        [] => return Some(states.clone()),
        [(_, event)] => return Some(states.iter().flat_map(|state| step(event, *state)).collect()),
        _ if events.len() > ORDERS => return None,
        _ => {}
    }
    let mut all = States::new();
    for at in 0..events.len() {
        let port = |event: &Event| if let Event::Data { port, .. } = event { Some(*port) } else { None };
        if events[..at].iter().any(|(_, before)| port(before) == port(&events[at].1)) {
            continue;
        }
        let after: States = states.iter().flat_map(|state| step(&events[at].1, *state)).collect();
        let mut others = events.to_vec();
        others.remove(at);
        all.extend(orders(&others, &after)?);
    }
    Some(all)
}

/// Returns the states after an event.
fn step(event: &Event, state: State) -> States {
    match event {
        Event::Data { shown, .. } => shown.after(state),
        Event::Done(_) => {
            [State { busy: false, ..state }, State { busy: false, sorted: true, ..state }].into()
        }
    }
}

impl Judge for DstAnswers {
    const NAME: &'static str = "answers_as_modelled";

    fn new(p: &Params, seen: Observed) -> DstAnswers {
        DstAnswers { p: p.clone(), seen }
    }

    fn judge(&self, entries: &Entries<'_>) -> Finding {
        let Some(mut flows) = self.events(entries) else { return Ok(()) };
        for events in flows.values_mut() {
            events.sort_by_key(|(time, event)| (*time, matches!(event, Event::Done(_))));
            self.flow(events)?;
        }
        Ok(())
    }
}
