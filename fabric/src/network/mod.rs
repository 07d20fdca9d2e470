//! Networks of emulated switches: the real [`Switch`], joined by links.
//!
//! A [`Network`] is sans-IO as its switches are: frames are injected at ports without a link, control-plane operations
//! are scheduled, [`Network::advance`] lets time pass, and whatever happens is shown to an [`Observer`]. Links have a
//! rate, a delay, and a script of failures, restorations, loss, corruption and extra delay per direction. Frames that
//! MACs make (PFC) travel on links as any other frame and act at the far MAC.
//!
//! ```
//! use sluice_asic::{chip::ChipSpec, units::{Duration, Time}};
//! use sluice_fabric::network::{End, LinkFrame, LinkSetup, Network, NetworkSetup, Observer, Placed};
//! use sluice_fabric::network::{SwitchId, SwitchSetup};
//! use sluice_switch::{Left, RxFrame};
//! use sluice_programs::catalogue;
//!
//! /// When frames were where.
//! #[derive(Default)]
//! struct Seen {
//!     on_links: Vec<Time>,
//!     delivered: Vec<(SwitchId, u16)>,
//! }
//!
//! impl Observer for Seen {
//!     fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, _: &[u8], _: &[u8]) {
//!         self.on_links.extend(frame.fate.ok());
//!     }
//!     fn delivered(&mut self, from: SwitchId, frame: &Left, _: &[u8], _: &[u8]) {
//!         self.delivered.push((from, frame.egress_port));
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = catalogue();
//! let stage = catalogue.get("l3-ecmp")?;
//! let placed = Placed::new(stage.build(&[])?, &ChipSpec::tofino2()).map_err(|e| e.reason())?;
//! let mut setup = NetworkSetup::default();
//! let [a, b] = ["a", "b"].map(|name| SwitchSetup::new(name, &placed).map(|s| setup.switch(s)));
//! let (a, b) = (a?, b?);
//! for switch in &mut setup.switches {
//!     let ops = stage.default_setup(&placed.program, &switch.ports)?.ops;
//!     switch.apply(ops)?;
//! }
//! // What is bridged leaves by port 31: at `a` that is the link, at `b` the edge.
//! setup.link(LinkSetup::new(End::new(a, 31), End::new(b, 0), Duration::from_micros(1)));
//! let mut network = Network::new(setup, &catalogue)?;
//! let mut seen = Seen::default();
//! let mut frame = [0; 64];
//! frame[12..14].copy_from_slice(&0x88b5u16.to_be_bytes());
//! let into = network.setup(a).and_then(|s| s.front(5)).ok_or("no port 5")?;
//! network.inject(a, into, Time::ORIGIN, RxFrame { bytes: &frame, orig_len: 64, tag: 7 })?;
//! network.drain(Time::ORIGIN + Duration::from_millis(1), &mut seen)?;
//! assert!(network.totals().is_conserved());
//! let out = network.setup(b).and_then(|s| s.front(31)).ok_or("no port 31")?;
//! assert_eq!(seen.delivered, [(b, out.number())]);
//! # Ok(())
//! # }
//! ```
//!
//! Registers, counters and tables of a switch: [`Network::switch`]. On several threads: [`Network::advance_parallel`]
//! with an observer for each switch; the results are the same.

mod build;
mod deadlock;
mod functional;
mod host;
mod lane;
mod link;
mod node;
mod observe;
mod run;
mod setup;
mod totals;

pub use deadlock::Waiting;
pub use host::{Host, HostFrame, HostId, ToSwitch};
pub use link::{LinkChange, LinkDrop, Probability, ProbabilityError, WayTotals};
pub use observe::{Entered, LinkFrame, Observer};
pub use setup::{End, LinkEvent, LinkSetup, NetworkError, NetworkSetup, Placed, SwitchSetup};
pub use totals::NetworkTotals;

use build::{name_of, no_port};
use functional::Observers;
use link::Wire;
use node::Node;
use run::{Exchange, Goal, Rounds};
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_control::ControlOp;
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_switch::{RxFrame, Switch, SwitchError, TimelineRow};

/// Number of a switch in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// Number of a link in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From its first end to its second.
    Forth,
    /// From its second end to its first.
    Back,
}

impl Way {
    /// Both.
    pub const ALL: [Way; 2] = [Way::Forth, Way::Back];
}

/// Switches and links under way.
pub struct Network<E = Engine> {
    setup: NetworkSetup,
    nodes: Vec<Node<E>>,
    exchange: Exchange,
    /// Where each host is: its node, and its number there.
    hosts: Vec<(usize, usize)>,
    /// How far each switch has run, and the end of the last run.
    clocks: Vec<Time>,
    now: Time,
    /// Whether there is time: a network of functional switches has none.
    timed: bool,
}

impl<E: Executor> Network<E> {
    /// Has a frame's first bit reach a port without a link at `time`. Frames of one port come in order of time.
    ///
    /// # Errors
    /// When there is no such port, it has a link, or the frame is too late.
    pub fn inject(
        &mut self,
        switch: SwitchId,
        port: DevPort,
        time: Time,
        frame: RxFrame<'_>,
    ) -> Result<(), NetworkError> {
        let count = self.nodes.len();
        let missing = NetworkError::NoSwitch { found: switch, count };
        let (Some(node), Some(setup)) =
            (self.nodes.get_mut(switch.0 as usize), self.setup.switches.get(switch.0 as usize))
        else {
            return Err(missing);
        };
        let inlet = match node.inlet(port) {
            Some(inlet) => inlet,
            None if setup.ports.dev(port).is_some() => node.add_inlet(port, None),
            None => return Err(no_port(setup, format!("{port}"))),
        };
        let name = || setup.name.clone();
        let taken = node.has_host(port);
        let at = &mut node.inlets[inlet];
        if at.from.is_some() || taken {
            return Err(NetworkError::Linked { name: name(), port });
        }
        let earliest = at.last.max(self.now);
        if time < earliest {
            return Err(NetworkError::Late { name: name(), port, found: time, earliest });
        }
        at.last = time;
        node.put(inlet, time, frame.tag, frame.orig_len, frame.bytes);
        Ok(())
    }

    /// Puts a host at the far end of the cable of a port without a link. Frames that leave by the port reach it, and
    /// count as delivered; frames that it sends come in as those that are injected.
    ///
    /// # Errors
    /// When there is no such port, it has a link or a host already, nothing takes time, or the network has run.
    pub fn attach(&mut self, end: End, cable: Duration, host: Box<dyn Host>) -> Result<HostId, NetworkError> {
        let count = self.nodes.len();
        let index = end.switch.0 as usize;
        let missing = NetworkError::NoSwitch { found: end.switch, count };
        let (Some(node), Some(setup)) = (self.nodes.get_mut(index), self.setup.switches.get(index)) else {
            return Err(missing);
        };
        let port = setup.front(end.port.0);
        let port = port.ok_or_else(|| no_port(setup, format!("front-panel port {}", end.port)))?;
        let name = || setup.name.clone();
        if !self.timed {
            return Err(NetworkError::HostWithoutTime { name: name() });
        }
        if self.now > Time::ORIGIN || (cable + node.lead).is_zero() {
            return Err(NetworkError::HostTooNear { name: name(), port });
        }
        let linked = node.inlet(port).is_some_and(|inlet| node.inlets[inlet].from.is_some());
        if linked || node.has_host(port) {
            return Err(NetworkError::Linked { name: name(), port });
        }
        let id = HostId(self.hosts.len() as u32);
        self.hosts.push((index, node.hosts.len()));
        node.attach(port, cable, host);
        Ok(id)
    }

    /// A host, if it is of this kind.
    #[must_use]
    pub fn host<H: Host>(&self, id: HostId) -> Option<&H> {
        let (node, number) = self.hosts.get(id.0 as usize)?;
        let attached = self.nodes.get(*node)?.hosts.get(*number)?;
        let any: &dyn std::any::Any = &*attached.host;
        any.downcast_ref()
    }

    /// Has an operation take effect at a switch at `time`.
    ///
    /// # Errors
    /// When there is no such switch, or the time has passed.
    pub fn control(&mut self, switch: SwitchId, time: Time, op: ControlOp) -> Result<(), NetworkError> {
        let index = switch.0 as usize;
        let count = self.nodes.len();
        let node = self.nodes.get_mut(index).ok_or(NetworkError::NoSwitch { found: switch, count })?;
        node.switch.control(time, op).map_err(|source| failed(&self.setup, index, source))
    }

    /// Has something happen to a link. Changes must be given before frames of that time are on it.
    ///
    /// # Errors
    /// When there is no such link, or the change comes too late.
    pub fn script(&mut self, link: LinkId, event: LinkEvent) -> Result<(), NetworkError> {
        let count = self.setup.links.len();
        if link.0 as usize >= count {
            return Err(NetworkError::NoLink { found: link, count });
        }
        if !self.timed && matches!(event.change, LinkChange::ExtraDelay(_)) {
            return Ok(());
        }
        for way in Way::ALL.into_iter().filter(|way| event.way.is_none_or(|only| only == *way)) {
            let late = || NetworkError::LateChange { link: name_of(&self.setup, link), found: event.time };
            let wire = wire_mut(&mut self.nodes, &self.setup, link, way);
            if event.time < self.now || !wire.is_some_and(|w| w.script(event.time, event.change)) {
                return Err(late());
            }
        }
        Ok(())
    }

    /// Runs everything that happens up to and including `until`, on this thread.
    ///
    /// # Errors
    /// When a switch refuses an operation that was scheduled.
    pub fn advance(&mut self, until: Time, observer: &mut impl Observer) -> Result<(), NetworkError> {
        let goal = Goal { until, drain: false };
        if !self.timed {
            return self.advance_functional(goal, &mut Observers::One(observer));
        }
        let mut rounds = self.rounds(goal);
        let result = rounds.run(&mut self.nodes, &self.exchange, observer);
        self.settle(goal, rounds.into_clocks(), result)?;
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.run(until, observer).map_err(|source| failed(&self.setup, index, source))?;
        }
        Ok(())
    }

    /// The same on so many threads, with an observer for each switch.
    ///
    /// # Errors
    /// As [`Network::advance`], and when there are more or fewer observers than switches.
    ///
    /// # Panics
    /// When an observer does.
    pub fn advance_parallel<O: Observer + Send>(
        &mut self,
        until: Time,
        threads: usize,
        observers: &mut [O],
    ) -> Result<(), NetworkError>
    where
        E: Send,
    {
        self.parallel(Goal { until, drain: false }, threads, observers)?;
        if !self.timed {
            return Ok(());
        }
        for (index, (node, observer)) in self.nodes.iter_mut().zip(observers).enumerate() {
            node.run(until, observer).map_err(|source| failed(&self.setup, index, source))?;
        }
        Ok(())
    }

    /// Runs until no packet from outside is inside, but not beyond `end`. What switches do by themselves (timers,
    /// packet generators) is not waited for.
    ///
    /// # Errors
    /// As [`Network::advance`].
    pub fn drain(&mut self, end: Time, observer: &mut impl Observer) -> Result<(), NetworkError> {
        let goal = Goal { until: end, drain: true };
        if !self.timed {
            return self.advance_functional(goal, &mut Observers::One(observer));
        }
        let mut rounds = self.rounds(goal);
        let result = rounds.run(&mut self.nodes, &self.exchange, observer);
        self.settle(goal, rounds.into_clocks(), result)
    }

    /// [`Network::drain`] on several threads.
    ///
    /// # Errors
    /// As [`Network::advance_parallel`].
    pub fn drain_parallel<O: Observer + Send>(
        &mut self,
        end: Time,
        threads: usize,
        observers: &mut [O],
    ) -> Result<(), NetworkError>
    where
        E: Send,
    {
        self.parallel(Goal { until: end, drain: true }, threads, observers)
    }

    fn parallel<O: Observer + Send>(
        &mut self,
        goal: Goal,
        threads: usize,
        observers: &mut [O],
    ) -> Result<(), NetworkError>
    where
        E: Send,
    {
        let (found, expected) = (observers.len(), self.nodes.len());
        if found != expected {
            return Err(NetworkError::Observers { found, expected });
        }
        if !self.timed {
            return self.advance_functional(goal, &mut Observers::Each(observers));
        }
        let mut rounds = self.rounds(goal);
        let result = rounds.run_parallel(&mut self.nodes, &self.exchange, observers, threads);
        self.settle(goal, rounds.into_clocks(), result)
    }

    fn rounds(&mut self, goal: Goal) -> Rounds {
        Rounds::new(&mut self.nodes, self.clocks.clone(), &self.exchange, goal)
    }

    /// Brings everything to a state in which the network can be looked at.
    fn settle(
        &mut self,
        goal: Goal,
        clocks: Vec<Time>,
        result: Result<(), (usize, SwitchError)>,
    ) -> Result<(), NetworkError> {
        self.clocks = clocks;
        self.now = match goal.drain {
            true => self.clocks.iter().copied().max().unwrap_or(self.now),
            false => goal.until,
        };
        for (index, node) in self.nodes.iter_mut().enumerate() {
            self.exchange.deliver(index, node);
        }
        result.map_err(|(index, source)| failed(&self.setup, index, source))
    }

    /// When something will happen without further input.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.nodes.iter().map(Node::next_time).min().filter(|time| *time < Time::MAX)
    }

    /// Whether packets are inside, or frames on links or not yet taken, for which a run must wait.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.nodes.iter().any(Node::is_busy)
    }

    /// The time up to which the network has run; after [`Network::drain`] some switches may not have come so far.
    #[must_use]
    pub fn time(&self) -> Time {
        self.now
    }

    /// How many switches there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no switch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All switches' numbers.
    pub fn ids(&self) -> impl Iterator<Item = SwitchId> + use<E> {
        (0..self.nodes.len() as u32).map(SwitchId)
    }

    /// All links' numbers.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<E> {
        (0..self.setup.links.len() as u32).map(LinkId)
    }

    /// The switch of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SwitchId> {
        self.ids().find(|id| self.setup(*id).is_some_and(|s| s.name == name))
    }

    /// A switch: its counters, registers, tables, queues.
    #[must_use]
    pub fn switch(&self, id: SwitchId) -> Option<&Switch<E>> {
        self.nodes.get(id.0 as usize).map(|node| &node.switch)
    }

    /// A switch's executor.
    pub fn executor_mut(&mut self, id: SwitchId) -> Option<&mut E> {
        self.nodes.get_mut(id.0 as usize).map(|node| node.switch.executor_mut())
    }

    /// Watches what traffic managers hold from here on, at multiples of an interval or on every change:
    /// [`Observer::level`] is told.
    pub fn watch(&mut self, every: Option<Duration>) {
        self.nodes.iter_mut().for_each(|node| node.watch(every));
    }

    /// Tells what of watched traffic managers has changed since they were looked at last; at the end of a run.
    pub fn look(&mut self, mut tell: impl FnMut(SwitchId, &TimelineRow<'_>)) {
        for node in &mut self.nodes {
            let id = node.id;
            node.look(&mut |row| tell(id, row));
        }
    }

    /// How a switch was set up, with the speeds of its links.
    #[must_use]
    pub fn setup(&self, id: SwitchId) -> Option<&SwitchSetup> {
        self.setup.switches.get(id.0 as usize)
    }

    /// How a link was set up.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<&LinkSetup> {
        self.setup.links.get(id.0 as usize)
    }

    /// What a link is called: its ends, such as `leaf0:8-spine1:0`.
    #[must_use]
    pub fn link_name(&self, id: LinkId) -> String {
        name_of(&self.setup, id)
    }

    /// What a direction of a link has counted.
    #[must_use]
    pub fn way(&self, id: LinkId, way: Way) -> Option<WayTotals> {
        let end = self.link(id)?.ends[way as usize].switch;
        let mut outlets = self.nodes.get(end.0 as usize)?.outlets.iter();
        outlets.find(|out| out.wire.link == id && out.wire.way == way).map(|out| out.wire.totals)
    }

    /// Everything counted so far, over all switches and links.
    #[must_use]
    pub fn totals(&self) -> NetworkTotals {
        totals::sum(&self.nodes)
    }

    /// The shortest time in which anything at one switch acts on another, over all links.
    #[must_use]
    pub fn look_ahead(&self) -> Option<Duration> {
        let wires = self.nodes.iter().flat_map(|node| &node.outlets);
        wires.map(|out| out.wire.delay + out.wire.lead).min()
    }
}

fn wire_mut<'n, E>(
    nodes: &'n mut [Node<E>],
    setup: &NetworkSetup,
    link: LinkId,
    way: Way,
) -> Option<&'n mut Wire> {
    let end = setup.links.get(link.0 as usize)?.ends[way as usize];
    let mut outlets = nodes.get_mut(end.switch.0 as usize)?.outlets.iter_mut();
    outlets.find(|out| out.wire.link == link && out.wire.way == way).map(|out| &mut out.wire)
}

fn failed(setup: &NetworkSetup, index: usize, source: SwitchError) -> NetworkError {
    let name = setup.switches.get(index).map_or(String::new(), |s| s.name.clone());
    NetworkError::Switch { name, source }
}
