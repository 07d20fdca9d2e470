//! Conservative parallel simulation: runs switches in rounds, on one thread or several, each as far as its neighbours
//! allow.
//!
//! *Look-ahead.* A switch has run up to time `c`, so every frame that it sends from then on has its first bit on the
//! wire after `c`. The first bit is at the far end after the link's delay, and acts there at the earliest after the
//! receiving MAC's latency. A switch may run up to the least of these times over its incoming links. No event at all
//! happens before the first event of the network, so idle times are skipped, and so are switches without an event.
//!
//! *Rounds.* Limits are computed from the clocks at the start of a round; frames sent in a round are received in the
//! next one. Therefore a switch's input depends neither on the order in which the switches of a round run nor on
//! threads. The switch orders frames of several links that act at the same time by (time, device, class, port,
//! sequence).

use super::lane::Lane;
use super::node::Node;
use super::observe::Observer;
use sluice_asic::units::{Duration, Time};
use sluice_switch::SwitchError;
use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock};

/// Data that switches hand to each other, and to the planner of the next round.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// Frames handed over, for each wire.
    lanes: Vec<Mutex<Lane>>,
    /// For each switch: wires with frames that were handed over to it.
    mail: Vec<Mutex<Mail>>,
    /// Switches that got mail which acts before all mail that they had, since the last plan.
    posted: Mutex<Vec<usize>>,
    /// For each switch: a time before which it has no event, ps, and whether a run must wait for it.
    next: Vec<AtomicU64>,
    busy: Vec<AtomicBool>,
}

/// Frames handed over to a switch and not yet at its inlets.
#[derive(Debug)]
pub(super) struct Mail {
    /// Inlet and wire of each lane with frames.
    lanes: Vec<(u16, usize)>,
    /// Earliest time at which one of the frames acts; [`Time::MAX`] without frames.
    acts: Time,
}

impl Default for Mail {
    fn default() -> Mail {
        Mail { lanes: Vec::new(), acts: Time::MAX }
    }
}

impl Exchange {
    pub(super) fn new(nodes: usize, wires: usize) -> Exchange {
        Exchange {
            lanes: (0..wires).map(|_| Mutex::default()).collect(),
            mail: (0..nodes).map(|_| Mutex::default()).collect(),
            posted: Mutex::default(),
            next: (0..nodes).map(|_| AtomicU64::new(u64::MAX)).collect(),
            busy: (0..nodes).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Records a switch's next event, and whether it is busy.
    fn note(&self, index: usize, node: &Node) {
        self.next[index].store(node.next_time().as_ps(), Ordering::Relaxed);
        self.busy[index].store(node.is_busy(), Ordering::Relaxed);
    }

    /// Returns a time before which nothing happens at a switch, frames handed over included, and whether a run must wait for
    /// the switch.
    fn noted(&self, index: usize) -> (Time, bool) {
        let acts = lock(&self.mail[index]).acts;
        let next = Time::from_ps(self.next[index].load(Ordering::Relaxed));
        (next.min(acts), acts < Time::MAX || self.busy[index].load(Ordering::Relaxed))
    }

    /// Moves the frames handed over to a switch into its inlets.
    pub(super) fn deliver(&self, index: usize, node: &mut Node) {
        let mut lanes = std::mem::take(&mut node.mail);
        {
            let mut mail = lock(&self.mail[index]);
            std::mem::swap(&mut lanes, &mut mail.lanes);
            mail.acts = Time::MAX;
        }
        for (inlet, wire) in lanes.drain(..) {
            node.pull(inlet.into(), &mut lock(&self.lanes[wire]));
        }
        node.mail = lanes;
    }

    /// Forgets which switches got mail, after all mail was delivered.
    pub(super) fn forget_posted(&self) {
        lock(&self.posted).clear();
    }

    /// Hands over the frames that a switch sent.
    fn collect(&self, node: &mut Node) {
        let Node { outlets, sending, .. } = node;
        for number in sending.drain(..) {
            let Some(out) = outlets.get_mut(usize::from(number)) else { continue };
            let acts = out.frames.next_time().map_or(Time::MAX, |first_bit| first_bit + out.wire.lead);
            let mut lane = lock(&self.lanes[out.number]);
            let first = lane.is_empty();
            lane.take(&mut out.frames);
            drop(lane);
            let mut mail = lock(&self.mail[out.wire.to]);
            // A frame from a short wire may act before one that waits here and came from a long wire.
            if acts < mail.acts {
                lock(&self.posted).push(out.wire.to);
            }
            if first {
                mail.lanes.push((out.inlet, out.number));
            }
            mail.acts = mail.acts.min(acts);
        }
    }

    pub(super) fn run(
        &self,
        index: usize,
        node: &mut Node,
        until: Time,
        observer: &mut dyn Observer,
    ) -> Result<(), SwitchError> {
        self.deliver(index, node);
        let result = node.run(until, observer);
        self.collect(node);
        self.note(index, node);
        result
    }
}

/// Locks a mutex even if it is poisoned: the thread that panicked reports the panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// End of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// Run up to and including this time.
    pub(super) until: Time,
    /// Stop earlier if only timers are left.
    pub(super) drain: bool,
}

/// Planner of the rounds of a run. The cost of a round depends on the switches that have an event soon, and not on the size of
/// the network.
pub(super) struct Rounds {
    goal: Goal,
    /// Time up to which each switch has run, or before which nothing happens there.
    clocks: Vec<Time>,
    /// Look-ahead of each switch: its upstream neighbours, and how far it may run past each neighbour's clock. The
    /// limit is the link delay plus the receiver's `reception_lead`, the least over parallel links.
    leads: Vec<Vec<(usize, Duration)>>,
    /// The longest look-ahead.
    reach: Duration,
    linked: bool,
    horizons: Vec<Time>,
    /// Switches with an event in this round.
    active: Vec<usize>,
    /// Time of the next event of each switch, [`Time::MAX`] if it is not in the agenda, and whether a run must wait for the
    /// switch.
    noted: Vec<(Time, bool)>,
    /// Number of switches for which a run must wait.
    busy: usize,
    /// Next events, earliest first. An entry with another time than the switch's in `noted` is out of date.
    agenda: BinaryHeap<Reverse<(Time, usize)>>,
    /// Switches whose events come too late for this round.
    later: Vec<(Time, usize)>,
    done: bool,
}

impl Rounds {
    pub(super) fn new(nodes: &mut [Node], clocks: Vec<Time>, exchange: &Exchange, goal: Goal) -> Rounds {
        let mut leads: Vec<Vec<(usize, Duration)>> = vec![Vec::new(); nodes.len()];
        for (from, node) in nodes.iter_mut().enumerate() {
            exchange.note(from, node);
            for out in &node.outlets {
                let lead = out.wire.delay + out.wire.lead;
                match leads[out.wire.to].iter_mut().find(|(known, _)| *known == from) {
                    Some((_, known)) => *known = lead.min(*known),
                    None => leads[out.wire.to].push((from, lead)),
                }
            }
        }
        let reach = leads.iter().flatten().map(|(_, lead)| *lead).max();
        let mut rounds = Rounds {
            goal,
            horizons: clocks.clone(),
            clocks,
            reach: reach.unwrap_or(Duration::ZERO),
            linked: reach.is_some(),
            leads,
            active: Vec::new(),
            noted: vec![(Time::MAX, false); nodes.len()],
            busy: 0,
            agenda: BinaryHeap::new(),
            later: Vec::new(),
            done: false,
        };
        (0..nodes.len()).for_each(|index| rounds.note(index, exchange));
        rounds
    }

    /// Notes the next event of a switch.
    fn note(&mut self, index: usize, exchange: &Exchange) {
        let (next, busy) = exchange.noted(index);
        let (before, was) = std::mem::replace(&mut self.noted[index], (next, busy));
        self.busy = self.busy + usize::from(busy) - usize::from(was);
        if next < Time::MAX && next != before {
            self.agenda.push(Reverse((next, index)));
        }
    }

    /// Returns the time of the first event of all switches; [`Time::MAX`] if there is none.
    fn next(&mut self) -> Time {
        while let Some(&Reverse((time, index))) = self.agenda.peek() {
            if self.noted[index].0 == time {
                return time;
            }
            self.agenda.pop();
        }
        Time::MAX
    }

    /// Plans the next round. Returns false if the run is over.
    fn plan(&mut self, exchange: &Exchange) -> bool {
        let until = self.goal.until;
        let ran = std::mem::take(&mut self.active);
        ran.iter().for_each(|index| self.note(*index, exchange));
        self.active = ran;
        let mut posted = lock(&exchange.posted);
        posted.drain(..).for_each(|index| self.note(index, exchange));
        drop(posted);
        self.active.clear();
        let next = self.next();
        // A draining run stops with the last packet; later events of timers are not waited for.
        if next == Time::MAX || next > until || self.goal.drain && self.busy == 0 {
            if !self.goal.drain {
                self.clocks.iter_mut().for_each(|clock| *clock = until);
            }
            return false;
        }
        let limit = if self.goal.drain && !self.linked { until.min(next) } else { until };
        let last = next.checked_add(self.reach).unwrap_or(Time::MAX).min(limit);
        while let Some(&Reverse((time, index))) = self.agenda.peek().filter(|first| first.0.0 <= last) {
            self.agenda.pop();
            if self.noted[index].0 != time {
                continue;
            }
            self.noted[index].0 = Time::MAX;
            let horizon = self.horizon(index, next).min(limit);
            self.horizons[index] = horizon;
            if time <= horizon { self.active.push(index) } else { self.later.push((time, index)) }
        }
        for (time, index) in self.later.drain(..) {
            self.noted[index].0 = time;
            self.agenda.push(Reverse((time, index)));
        }
        self.active.sort_unstable();
        for &index in &self.active {
            self.clocks[index] = self.horizons[index];
        }
        true
    }

    /// Returns the time up to which a switch may run if nothing happens anywhere before `next`.
    fn horizon(&self, index: usize, next: Time) -> Time {
        let moment = Duration::from_ps(1);
        let far = |(from, lead): &(usize, Duration)| {
            (self.clocks[*from] + moment).max(next).saturating_sub(moment) + *lead
        };
        self.leads[index].iter().map(far).min().unwrap_or(Time::MAX)
    }

    /// Returns the time up to which each switch has run.
    pub(super) fn into_clocks(self) -> Vec<Time> {
        self.clocks
    }

    /// Runs all rounds on this thread, with one observer for all switches.
    ///
    /// # Errors
    /// The first switch that fails, with its error.
    pub(super) fn run(
        &mut self,
        nodes: &mut [Node],
        exchange: &Exchange,
        observer: &mut dyn Observer,
    ) -> Result<(), (usize, SwitchError)> {
        while self.plan(exchange) {
            for &index in &self.active {
                let horizon = self.horizons[index];
                exchange.run(index, &mut nodes[index], horizon, observer).map_err(|e| (index, e))?;
            }
        }
        Ok(())
    }

    /// Runs all rounds on several threads, with one observer for each switch.
    ///
    /// # Errors
    /// The failing switch with the lowest index in its round, with its error.
    pub(super) fn run_parallel<'o>(
        &mut self,
        nodes: &mut [Node],
        exchange: &Exchange,
        observers: Vec<&mut (dyn Observer + Send + 'o)>,
        threads: usize,
    ) -> Result<(), (usize, SwitchError)> {
        let switches = 0..nodes.len();
        let pairs = nodes.iter_mut().zip(observers);
        let team = Team {
            exchange,
            slots: pairs.map(|(node, observer)| Mutex::new((node, observer))).collect(),
            rounds: RwLock::new(self),
            taken: switches.map(|_| AtomicBool::new(true)).collect(),
            threads: threads.max(1),
            barrier: Barrier::new(threads.max(1)),
            failed: Mutex::new(None),
            panicked: Mutex::new(None),
        };
        std::thread::scope(|scope| {
            let team = &team;
            for number in 1..threads {
                scope.spawn(move || team.work(number));
            }
            team.work(0);
        });
        if let Some(panic) = lock(&team.panicked).take() {
            resume_unwind(panic);
        }
        let failed = lock(&team.failed).take();
        failed.map_or(Ok(()), Err)
    }
}

/// Threads that share the rounds of one run.
struct Team<'a, 'o> {
    exchange: &'a Exchange,
    slots: Vec<Mutex<(&'a mut Node, &'a mut (dyn Observer + Send + 'o))>>,
    rounds: RwLock<&'a mut Rounds>,
    /// For each switch: true if a thread has taken it in this round.
    taken: Vec<AtomicBool>,
    threads: usize,
    barrier: Barrier,
    failed: Mutex<Option<(usize, SwitchError)>>,
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Team<'_, '_> {
    /// Runs rounds as one of the threads; thread 0 plans them.
    fn work(&self, number: usize) {
        loop {
            self.barrier.wait();
            if number == 0 {
                self.prepare();
            }
            self.barrier.wait();
            let rounds = self.rounds.read().unwrap_or_else(PoisonError::into_inner);
            if rounds.done {
                return;
            }
            // A thread prefers the switches that it ran before, because their state is in its processor's cache.
            let own = |index: &usize| index % self.threads == number;
            let others = rounds.active.iter().rev().filter(|index| !own(index));
            for &index in rounds.active.iter().filter(|index| own(index)).chain(others) {
                if !self.taken[index].swap(true, Ordering::Relaxed) {
                    self.run(index, rounds.horizons[index]);
                }
            }
        }
    }

    /// Plans rounds until one has work for several threads. Rounds of one switch run at once on this thread.
    fn prepare(&self) {
        let mut rounds = self.rounds.write().unwrap_or_else(PoisonError::into_inner);
        loop {
            let stopped = lock(&self.failed).is_some() || lock(&self.panicked).is_some();
            rounds.done = stopped || !rounds.plan(self.exchange);
            match rounds.active.as_slice() {
                [index] if !rounds.done => self.run(*index, rounds.horizons[*index]),
                _ => break,
            }
        }
        rounds.active.iter().for_each(|index| self.taken[*index].store(false, Ordering::Relaxed));
    }

    /// Runs a switch. A panic is kept and resumed after all threads have stopped, so that no thread waits forever.
    fn run(&self, index: usize, until: Time) {
        let run = || {
            let (node, observer) = &mut *lock(&self.slots[index]);
            self.exchange.run(index, node, until, &mut **observer)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let mut failed = lock(&self.failed);
                if failed.as_ref().is_none_or(|(known, _)| index < *known) {
                    *failed = Some((index, error));
                }
            }
            Err(panic) => *lock(&self.panicked) = Some(panic),
        }
    }
}
