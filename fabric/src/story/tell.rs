//! Joins the observations of all watchers: columns, hops between them, queues that hold packets, recirculations.

use super::watch::{Event, Watcher, What, Word};
use super::{Message, Narrator, Network, RoceFlow};
use sluice_asic::units::{Duration, Time};
use std::collections::BTreeMap;
use thiserror::Error;

/// A packet between two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) sent: Time,
    /// Time of the first bit at the far end; `None` if the packet is lost on the way.
    pub(super) arrives: Option<Time>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) tag: u64,
    pub(super) message: Message,
}

/// A packet that waits in a reorder queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) time: Time,
    pub(super) tag: u64,
    pub(super) message: Message,
    pub(super) qid: u8,
}

/// A packet that ended in a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) time: Time,
    pub(super) tag: u64,
    pub(super) at: usize,
    pub(super) message: Message,
    /// Effect of the packet, or the reason of its drop.
    pub(super) outcome: String,
    pub(super) absorbed: bool,
}

/// A timer packet, with the times at which it was at the recirculation port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) tag: u64,
    pub(super) laps: Vec<Time>,
}

/// The life of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    pub(super) flow: RoceFlow,
    /// Sender, its ToR, spines, the receiver's ToR, receiver.
    pub(super) columns: Vec<String>,
    /// Hops in order of time; the lists after it are in order of time too.
    pub(super) hops: Vec<Hop>,
    pub(super) waits: Vec<Wait>,
    pub(super) ends: Vec<End>,
    /// Flow-control words for the queues that the flow waited in, from shortly before the first packet waits until the
    /// timer has ended.
    pub(super) words: Vec<Word>,
    pub(super) timers: Vec<Timer>,
    /// Text for a pause of a queue in which no packet of the flow waits.
    pub(super) empty_pause: &'static str,
}

/// Error: no packet of the flow went from one ToR to another.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no packet of the RoCEv2 flow {flow} went from a ToR to another one{}", named(.others))]
pub struct NoStory {
    /// The flow.
    pub flow: RoceFlow,
    /// Some flows that did enter the network.
    pub others: Vec<RoceFlow>,
}

fn named(others: &[RoceFlow]) -> String {
    let list: Vec<String> = others.iter().map(RoceFlow::to_string).collect();
    match list.is_empty() {
        true => "; no RoCEv2 flow came".to_owned(),
        false => format!("; flows that came: {}", list.join(", ")),
    }
}

impl Story {
    /// Joins the observations of `watchers`: one for each switch of the network, in the network's order.
    ///
    /// # Errors
    /// If no packet of the flow went from one ToR to another.
    pub fn tell(flow: RoceFlow, network: &Network, watchers: &[Watcher]) -> Result<Story, NoStory> {
        let did =
            |what: fn(&What) -> bool| watchers.iter().position(|w| w.events.iter().any(|e| what(&e.what)));
        let none =
            || NoStory { flow, others: watchers.iter().flat_map(|w| w.others.iter().copied()).collect() };
        let source = did(|what| *what == What::In).ok_or_else(none)?;
        let out = |w: &Watcher| w.events.iter().any(|e| e.what == What::Out);
        // If no packet reached the receiver, the switch that packets came to last takes the place of its ToR.
        let newest = |w: &Watcher| w.events.iter().map(|e| e.time).max();
        let last = || {
            (0..watchers.len())
                .filter(|at| !watchers[*at].events.is_empty())
                .max_by_key(|at| newest(&watchers[*at]))
        };
        let destination = watchers.iter().position(out).or_else(last).unwrap_or(source);
        if source == destination {
            return Err(none());
        }
        let between = (0..watchers.len())
            .filter(|at| ![source, destination].contains(at) && !watchers[*at].events.is_empty());
        let order: Vec<usize> = std::iter::once(source).chain(between).chain([destination]).collect();
        let name = |at: &usize| {
            let setup = network.ids().nth(*at).and_then(|id| network.setup(id));
            setup.map_or_else(String::new, |s| s.name.clone())
        };
        let mut columns = vec![flow.src.to_string()];
        columns.extend(order.iter().map(name));
        columns.push(flow.dst.to_string());
        let mut story = Story {
            flow,
            columns,
            hops: Vec::new(),
            waits: Vec::new(),
            ends: Vec::new(),
            words: Vec::new(),
            timers: Vec::new(),
            empty_pause: watchers[source].narrator.empty_pause(),
        };
        for (column, at) in (1..).zip(&order) {
            for event in &watchers[*at].events {
                story.add(network, &order, column, &*watchers[*at].narrator, event);
            }
        }
        story.timers(&watchers[destination]);
        story.words(&watchers[destination]);
        story.hops.sort_by_key(|h| (h.sent, h.from));
        story.waits.sort_by_key(|w| w.time);
        story.ends.sort_by_key(|e| e.time);
        Ok(story)
    }

    fn add(
        &mut self,
        network: &Network,
        order: &[usize],
        column: usize,
        narrator: &dyn Narrator,
        event: &Event,
    ) {
        let &Event { time, tag, message, .. } = event;
        let Some(message) = message else { return };
        let hop = |from, to, arrives| Hop { sent: time, arrives, from, to, tag, message };
        match &event.what {
            What::In => self.hops.push(hop(0, column, Some(time))),
            What::Out => self.hops.push(hop(column, self.columns.len() - 1, Some(time))),
            What::Hop(link, way, fate) => {
                let ends = network.link(*link).map(|l| l.ends.map(|end| end.switch.0 as usize));
                let far = ends.map(|ends| ends[1 - *way as usize]);
                let to = order.iter().position(|at| Some(*at) == far);
                self.hops.extend(to.map(|to| hop(column, to + 1, fate.ok())));
            }
            What::Waits(qid) => self.waits.push(Wait { time, tag, message, qid: *qid }),
            What::Ends { reason, words, absorbed } => {
                let absorbed = *absorbed;
                let outcome = narrator.outcome(&message, reason).unwrap_or_else(|| match absorbed {
                    true => words.clone(),
                    false => format!("dropped: {words}"),
                });
                self.ends.push(End { time, tag, at: column, message, outcome, absorbed });
            }
            What::Lap => {}
        }
    }

    /// Takes packets that recirculated more than once as timers; other copies become answers in their first
    /// recirculation.
    fn timers(&mut self, at: &Watcher) {
        let mut laps = BTreeMap::<u64, Vec<Time>>::new();
        for event in at.events.iter().filter(|e| e.what == What::Lap) {
            laps.entry(event.tag).or_default().push(event.time);
        }
        let timers = laps.into_iter().filter(|(_, laps)| laps.len() > 2);
        self.timers.extend(timers.map(|(tag, laps)| Timer { tag, laps }));
        self.timers.sort_by_key(|t| t.laps.first().copied());
    }

    /// Takes the flow-control words from just before the flow's first packet waits until its timer has ended.
    fn words(&mut self, at: &Watcher) {
        const BEFORE: Duration = Duration::from_micros(1);
        let after = self.timers.iter().filter_map(|t| t.laps.last()).max().copied();
        for &(port, qid) in &at.waits_at {
            let waits = || self.waits.iter().filter(|w| w.qid == qid).map(|w| w.time);
            let (Some(first), Some(last)) = (waits().min(), waits().max()) else { continue };
            let until = after.map_or(last, |t| t.max(last)) + BEFORE;
            let mine = at.words.iter().filter(|w| (w.port, w.qid) == (port, qid));
            let mine = mine.filter(|w| w.time + BEFORE >= first && w.time <= until);
            self.words.extend(mine);
        }
        self.words.sort_by_key(|w| w.time);
    }

    /// Returns the column of the receiver's ToR.
    pub(super) fn destination(&self) -> usize {
        self.columns.len() - 2
    }

    /// Returns the first and the last time in the story.
    pub(super) fn span(&self) -> (Time, Time) {
        let hops = self.hops.iter().flat_map(|h| [Some(h.sent), h.arrives]).flatten();
        let ends = self.ends.iter().map(|e| e.time);
        let laps = self.timers.iter().flat_map(|t| t.laps.iter().copied());
        let all = hops.chain(ends).chain(laps).chain(self.words.iter().map(|w| w.time));
        let (first, last) = all.fold((Time::MAX, Time::ORIGIN), |(a, b), t| (a.min(t), b.max(t)));
        if first <= last { (first, last) } else { (Time::ORIGIN, Time::ORIGIN) }
    }

    /// Returns how a packet ended in a switch, if it did. An answer and the packet that it answers have the same tag.
    pub(super) fn end_of(&self, tag: u64, control: bool) -> Option<&End> {
        self.ends.iter().find(|e| e.tag == tag && e.message.is_control() == control)
    }
}
