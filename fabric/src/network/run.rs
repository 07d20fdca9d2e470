//! Conservative parallel simulation: runs switches in rounds, on one thread or several, each as far as its neighbours
//! allow.
//!
//! *Look-ahead.* A switch has run up to time `c`, so every frame that it sends from then on has its first bit on the
//! wire after `c`. The first bit is at the far end after the link's delay, and acts there at the earliest after the
//! receiving MAC's latency. A switch may run up to the least of these times over its incoming links. No event at all
//! happens before the first event of the network, so idle times are skipped.
//!
//! *Rounds.* Limits are computed from the clocks at the start of a round; frames sent in a round are received in the
//! next one. Therefore a switch's input depends neither on the order in which the switches of a round run nor on
//! threads. The switch orders frames of several links that act at the same time by (time, device, class, port,
//! sequence).

use super::lane::Lane;
use super::node::Node;
use super::observe::Observer;
use sluice_asic::units::{Duration, Time};
use sluice_exec::pass::Executor;
use sluice_switch::SwitchError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock};

/// Data that switches hand to each other, and to the planner of the next round.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// Frames handed over, for each wire.
    lanes: Vec<Mutex<Lane>>,
    /// For each switch: true if frames have been handed over to it.
    mail: Vec<AtomicBool>,
    /// For each switch: a time before which it has no event, ps; and the earliest time at which a frame that it sent in
    /// this round acts.
    next: Vec<AtomicU64>,
    sent: Vec<AtomicU64>,
    busy: Vec<AtomicBool>,
}

impl Exchange {
    pub(super) fn new(nodes: usize, wires: usize) -> Exchange {
        let times = || (0..nodes).map(|_| AtomicU64::new(u64::MAX)).collect();
        let flags = || (0..nodes).map(|_| AtomicBool::new(false)).collect();
        Exchange {
            lanes: (0..wires).map(|_| Mutex::default()).collect(),
            mail: flags(),
            next: times(),
            sent: times(),
            busy: flags(),
        }
    }

    /// Records a switch's next event, whether it is busy, and its first sent frame.
    fn note<E: Executor>(&self, index: usize, node: &mut Node<E>) {
        self.next[index].store(node.next_time().as_ps(), Ordering::Relaxed);
        self.busy[index].store(node.is_busy(), Ordering::Relaxed);
        self.sent[index].fetch_min(node.take_sent().as_ps(), Ordering::Relaxed);
    }

    /// Moves the frames handed over to a switch into its inlets.
    pub(super) fn deliver<E: Executor>(&self, index: usize, node: &mut Node<E>) {
        if !self.mail[index].swap(false, Ordering::Acquire) {
            return;
        }
        for number in 0..node.inlets.len() {
            if let Some((.., wire)) = node.inlets[number].from {
                node.pull(number, &mut lock(&self.lanes[wire]));
            }
        }
    }

    /// Hands over the frames that a switch sent.
    fn collect<E>(&self, node: &mut Node<E>) {
        for out in node.outlets.iter_mut().filter(|out| !out.frames.is_empty()) {
            lock(&self.lanes[out.number]).take(&mut out.frames);
            self.mail[out.wire.to].store(true, Ordering::Release);
        }
    }

    pub(super) fn run<E: Executor>(
        &self,
        index: usize,
        node: &mut Node<E>,
        until: Time,
        observer: &mut impl Observer,
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

/// Planner of the rounds of a run.
pub(super) struct Rounds {
    goal: Goal,
    /// Time up to which each switch has run.
    clocks: Vec<Time>,
    /// Look-ahead of each switch: its upstream neighbours, and how far it may run past each neighbour's clock. The
    /// limit is the link delay plus the receiver's `reception_lead`, the least over parallel links.
    leads: Vec<Vec<(usize, Duration)>>,
    linked: bool,
    horizons: Vec<Time>,
    /// Switches with an event or new frames in this round.
    active: Vec<usize>,
    first: bool,
    done: bool,
}

impl Rounds {
    pub(super) fn new<E: Executor>(
        nodes: &mut [Node<E>],
        clocks: Vec<Time>,
        exchange: &Exchange,
        goal: Goal,
    ) -> Rounds {
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
        let linked = leads.iter().any(|l| !l.is_empty());
        let horizons = clocks.clone();
        Rounds { goal, clocks, leads, linked, horizons, active: Vec::new(), first: true, done: false }
    }

    /// Plans the next round. Returns false if the run is over.
    fn plan(&mut self, exchange: &Exchange) -> bool {
        let until = self.goal.until;
        loop {
            let times = |list: &[AtomicU64]| list.iter().map(|t| t.load(Ordering::Relaxed)).min();
            let sent = times(&exchange.sent).unwrap_or(u64::MAX);
            let busy = sent < u64::MAX || exchange.busy.iter().any(|b| b.load(Ordering::Relaxed));
            let begun = !std::mem::take(&mut self.first);
            let next = Time::from_ps(times(&exchange.next).unwrap_or(u64::MAX).min(sent));
            // A draining run stops with the last packet; later events of timers are not waited for.
            let over = self.goal.drain && (!busy || next > until);
            if over || begun && self.clocks.iter().all(|clock| *clock >= until) {
                return false;
            }
            exchange.sent.iter().for_each(|t| t.store(u64::MAX, Ordering::Relaxed));
            let limit = if self.goal.drain && !self.linked { until.min(next) } else { until };
            let moment = Duration::from_ps(1);
            self.active.clear();
            for (to, leads) in self.leads.iter().enumerate() {
                let far = |(from, lead): &(usize, Duration)| {
                    (self.clocks[*from] + moment).max(next).saturating_sub(moment) + *lead
                };
                let horizon = leads.iter().map(far).min().unwrap_or(Time::MAX).min(limit);
                self.horizons[to] = horizon;
                let due = exchange.next[to].load(Ordering::Relaxed) <= horizon.as_ps();
                if due || exchange.mail[to].load(Ordering::Acquire) {
                    self.active.push(to);
                }
            }
            self.clocks.copy_from_slice(&self.horizons);
            if !self.active.is_empty() {
                return true;
            }
        }
    }

    /// Returns the time up to which each switch has run.
    pub(super) fn into_clocks(self) -> Vec<Time> {
        self.clocks
    }

    /// Runs all rounds on this thread, with one observer for all switches.
    ///
    /// # Errors
    /// The first switch that fails, with its error.
    pub(super) fn run<E: Executor>(
        &mut self,
        nodes: &mut [Node<E>],
        exchange: &Exchange,
        observer: &mut impl Observer,
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
    pub(super) fn run_parallel<E: Executor + Send, O: Observer + Send>(
        &mut self,
        nodes: &mut [Node<E>],
        exchange: &Exchange,
        observers: &mut [O],
        threads: usize,
    ) -> Result<(), (usize, SwitchError)> {
        let pairs = nodes.iter_mut().zip(observers);
        let team = Team {
            exchange,
            slots: pairs.map(|(node, observer)| Mutex::new((node, observer))).collect(),
            rounds: RwLock::new(self),
            cursor: AtomicUsize::new(0),
            barrier: Barrier::new(threads.max(1)),
            failed: Mutex::new(None),
            panicked: Mutex::new(None),
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| team.work(false));
            }
            team.work(true);
        });
        if let Some(panic) = lock(&team.panicked).take() {
            resume_unwind(panic);
        }
        let failed = lock(&team.failed).take();
        failed.map_or(Ok(()), Err)
    }
}

/// Threads that share the rounds of one run.
struct Team<'a, E, O> {
    exchange: &'a Exchange,
    slots: Vec<Mutex<(&'a mut Node<E>, &'a mut O)>>,
    rounds: RwLock<&'a mut Rounds>,
    /// Index in `active` of the next switch to run.
    cursor: AtomicUsize,
    barrier: Barrier,
    failed: Mutex<Option<(usize, SwitchError)>>,
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<E: Executor + Send, O: Observer + Send> Team<'_, E, O> {
    fn work(&self, leader: bool) {
        loop {
            self.barrier.wait();
            if leader {
                self.prepare();
            }
            self.barrier.wait();
            let rounds = self.rounds.read().unwrap_or_else(PoisonError::into_inner);
            if rounds.done {
                return;
            }
            while let Some(&index) = rounds.active.get(self.cursor.fetch_add(1, Ordering::Relaxed)) {
                self.run(index, rounds.horizons[index]);
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
        self.cursor.store(0, Ordering::Relaxed);
    }

    /// Runs a switch. A panic is kept and resumed after all threads have stopped, so that no thread waits forever.
    fn run(&self, index: usize, until: Time) {
        let run = || {
            let (node, observer) = &mut *lock(&self.slots[index]);
            self.exchange.run(index, node, until, *observer)
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
