//! Networks of emulated switches: each is a [`Switch`], and links connect them.
//!
//! A [`Network`] is without I/O, like its switches. The caller injects frames at ports without a link, schedules
//! control-plane operations, and calls [`Network::advance`] to let time pass; an [`Observer`] is notified of every
//! event. Links have a rate, a delay, and a script of outages, loss, corruption and extra delay for each direction.
//! Frames that MACs generate (PFC) travel on links like all other frames and take effect at the receiving MAC.
//!
//! ```
//! use sluice_asic::{chip::ChipSpec, units::{Duration, Time}};
//! use sluice_fabric::network::{End, LinkFrame, LinkSetup, Network, NetworkSetup, Observer, Placed};
//! use sluice_fabric::network::{SwitchId, SwitchSetup};
//! use sluice_switch::{Left, RxFrame};
//! use sluice_programs::catalogue;
//!
//! /// Arrivals at the far ends of links, and frames that left the network.
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
//! // Bridged frames are sent on port 31, which has the link at `a`, and no link at `b`.
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
//! [`Network::switch`] gives access to a switch's registers, counters and tables. [`Network::advance_parallel`] runs on
//! several threads, with one observer for each switch; the results are the same.

mod addressed;
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
pub use totals::{Misaddressed, NetworkTotals};

use build::{name_of, no_port};
use functional::Observers;
use link::Wire;
use node::Node;
use run::{Exchange, Goal, Rounds};
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_control::ControlOp;
use sluice_exec::pass::Executor;
use sluice_switch::{RxFrame, Switch, SwitchError, TimelineRow};

/// Index of a switch in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// Index of a link in its network.
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
    /// Both directions.
    pub const ALL: [Way; 2] = [Way::Forth, Way::Back];
}

/// A running network of switches and links.
pub struct Network {
    setup: NetworkSetup,
    nodes: Vec<Node>,
    exchange: Exchange,
    /// For each host, the index of its node, and its index there.
    hosts: Vec<(usize, usize)>,
    /// Time up to which each switch has run; `now` is the end of the last run.
    clocks: Vec<Time>,
    now: Time,
    /// False if all switches are in functional mode, so that nothing takes time.
    timed: bool,
}

impl Network {
    /// Injects a frame whose first bit reaches a port without a link at `time`. Frames of one port must be injected in
    /// order of time.
    ///
    /// # Errors
    /// If there is no such port, it has a link or a host, or the frame is too late.
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
            None if setup.ports.dev(port).is_some() => {
                node.edge(port);
                node.add_inlet(port, None)
            }
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

    /// Something is at the far end of a port without a link: what is sent on it is delivered.
    pub fn edge(&mut self, switch: SwitchId, port: DevPort) {
        if let Some(node) = self.nodes.get_mut(switch.0 as usize) {
            node.edge(port);
        }
    }

    /// Returns the frames that a switch sent on ports with nothing at their far end, by dev_port.
    pub fn uncabled(&self, switch: SwitchId) -> impl Iterator<Item = (u16, u64)> {
        let node = self.nodes.get(switch.0 as usize);
        node.into_iter().flat_map(|node| node.uncabled.iter().map(|(port, frames)| (*port, *frames)))
    }

    /// Returns the frames that a switch sent to hosts that they are not for, by dev_port.
    pub fn misaddressed(&self, switch: SwitchId) -> impl Iterator<Item = (u16, Misaddressed)> {
        let node = self.nodes.get(switch.0 as usize);
        node.into_iter()
            .flat_map(|node| node.addresses.misaddressed.iter().map(|(port, frames)| (*port, *frames)))
    }

    /// Attaches a host to a port without a link, by a cable. Frames sent on this port reach the host and count as
    /// delivered; frames of the host enter the network like injected frames.
    ///
    /// # Errors
    /// If there is no such port, it has a link or a host already, the network is in functional mode or has run, or
    /// there is no delay.
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

    /// Returns a host if its type is `H`.
    #[must_use]
    pub fn host<H: Host>(&self, id: HostId) -> Option<&H> {
        let (node, number) = self.hosts.get(id.0 as usize)?;
        let any: &dyn std::any::Any = self.nodes.get(*node)?.hosts.get(*number)?;
        any.downcast_ref()
    }

    /// Returns a host to change its settings, if its type is `H`.
    pub fn host_mut<H: Host>(&mut self, id: HostId) -> Option<&mut H> {
        let (node, number) = self.hosts.get(id.0 as usize)?;
        let any: &mut dyn std::any::Any = self.nodes.get_mut(*node)?.hosts.get_mut(*number)?;
        any.downcast_mut()
    }

    /// Schedules an operation of the control plane at a switch for `time`.
    ///
    /// # Errors
    /// If there is no such switch, or the time has passed.
    pub fn control(&mut self, switch: SwitchId, time: Time, op: ControlOp) -> Result<(), NetworkError> {
        let index = switch.0 as usize;
        let count = self.nodes.len();
        let node = self.nodes.get_mut(index).ok_or(NetworkError::NoSwitch { found: switch, count })?;
        node.switch.control(time, op).map_err(|source| failed(&self.setup, index, source))
    }

    /// Schedules a change of a link, before frames of that time are on the link.
    ///
    /// # Errors
    /// If there is no such link, or the change is too late.
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

    /// Runs all events up to and including `until`, on this thread.
    ///
    /// # Errors
    /// If a switch rejects a scheduled operation.
    pub fn advance(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), NetworkError> {
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

    /// Runs like [`Network::advance`] on `threads` threads, with one observer for each switch.
    ///
    /// # Errors
    /// Those of [`Network::advance`], or if the number of observers is not the number of switches.
    ///
    /// # Panics
    /// If an observer panics.
    pub fn advance_parallel<O: Observer + Send>(
        &mut self,
        until: Time,
        threads: usize,
        observers: &mut [O],
    ) -> Result<(), NetworkError> {
        self.parallel(Goal { until, drain: false }, threads, each(observers))?;
        if !self.timed {
            return Ok(());
        }
        for (index, (node, observer)) in self.nodes.iter_mut().zip(observers).enumerate() {
            node.run(until, observer).map_err(|source| failed(&self.setup, index, source))?;
        }
        Ok(())
    }

    /// Runs until no packet from outside is inside, but not after `end`. Events of the switches' timers and packet
    /// generators are not waited for.
    ///
    /// # Errors
    /// Those of [`Network::advance`].
    pub fn drain(&mut self, end: Time, observer: &mut dyn Observer) -> Result<(), NetworkError> {
        let goal = Goal { until: end, drain: true };
        if !self.timed {
            return self.advance_functional(goal, &mut Observers::One(observer));
        }
        let mut rounds = self.rounds(goal);
        let result = rounds.run(&mut self.nodes, &self.exchange, observer);
        self.settle(goal, rounds.into_clocks(), result)
    }

    /// Runs like [`Network::drain`] on `threads` threads, with one observer for each switch.
    ///
    /// # Errors
    /// Those of [`Network::advance_parallel`].
    pub fn drain_parallel<O: Observer + Send>(
        &mut self,
        end: Time,
        threads: usize,
        observers: &mut [O],
    ) -> Result<(), NetworkError> {
        self.parallel(Goal { until: end, drain: true }, threads, each(observers))
    }

    fn parallel<'o>(
        &mut self,
        goal: Goal,
        threads: usize,
        observers: Vec<&'o mut (dyn Observer + Send + 'o)>,
    ) -> Result<(), NetworkError> {
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

    /// Records how far the switches ran and delivers the frames between them, so that the network can be inspected.
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
            node.settle();
        }
        self.exchange.forget_posted();
        result.map_err(|(index, source)| failed(&self.setup, index, source))
    }

    /// Returns the time before which nothing happens without further input; `None` if nothing will happen.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.nodes.iter().map(Node::next_time).min().filter(|time| *time < Time::MAX)
    }

    /// Returns true if a run must wait: packets are inside switches, frames are on links or waiting, or a host is busy.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.nodes.iter().any(Node::is_busy)
    }

    /// Returns the time up to which the network has run. After [`Network::drain`], some switches may not have run so
    /// far.
    #[must_use]
    pub fn time(&self) -> Time {
        self.now
    }

    /// Returns the number of switches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there is no switch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the indices of all switches.
    pub fn ids(&self) -> impl Iterator<Item = SwitchId> + use<> {
        (0..self.nodes.len() as u32).map(SwitchId)
    }

    /// Returns the indices of all links.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.setup.links.len() as u32).map(LinkId)
    }

    /// Returns the switch of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SwitchId> {
        self.ids().find(|id| self.setup(*id).is_some_and(|s| s.name == name))
    }

    /// Returns a switch, with its counters, registers, tables and queues.
    #[must_use]
    pub fn switch(&self, id: SwitchId) -> Option<&Switch<'static>> {
        self.nodes.get(id.0 as usize).map(|node| &node.switch)
    }

    /// Returns a switch's executor.
    pub fn executor_mut(&mut self, id: SwitchId) -> Option<&mut (dyn Executor + 'static)> {
        self.nodes.get_mut(id.0 as usize).map(|node| node.switch.executor_mut())
    }

    /// Starts recording the occupancy of traffic managers, at multiples of `every` or, with `None`, at every change;
    /// [`Observer::level`] gets the changes.
    pub fn watch(&mut self, every: Option<Duration>) {
        self.nodes.iter_mut().for_each(|node| node.watch(every));
    }

    /// Passes the changes since the last record to `tell`; for the end of a run.
    pub fn look(&mut self, mut tell: impl FnMut(SwitchId, &TimelineRow<'_>)) {
        for node in &mut self.nodes {
            let id = node.id;
            node.look(&mut |row| tell(id, row));
        }
    }

    /// Returns the setup of a switch, including the speeds that its links set.
    #[must_use]
    pub fn setup(&self, id: SwitchId) -> Option<&SwitchSetup> {
        self.setup.switches.get(id.0 as usize)
    }

    /// Returns the setup of a link.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<&LinkSetup> {
        self.setup.links.get(id.0 as usize)
    }

    /// Returns a link's name, made of its ends, such as `leaf0:8-spine1:0`.
    #[must_use]
    pub fn link_name(&self, id: LinkId) -> String {
        name_of(&self.setup, id)
    }

    /// Returns the counters of one direction of a link.
    #[must_use]
    pub fn way(&self, id: LinkId, way: Way) -> Option<WayTotals> {
        let end = self.link(id)?.ends[way as usize].switch;
        let mut outlets = self.nodes.get(end.0 as usize)?.outlets.iter();
        outlets.find(|out| out.wire.link == id && out.wire.way == way).map(|out| out.wire.totals)
    }

    /// Returns the sums of all counters, over all switches and links.
    #[must_use]
    pub fn totals(&self) -> NetworkTotals {
        totals::sum(&self.nodes)
    }

    /// Returns the shortest time in which one switch can affect another, over all links: delay plus `reception_lead`.
    #[must_use]
    pub fn look_ahead(&self) -> Option<Duration> {
        let wires = self.nodes.iter().flat_map(|node| &node.outlets);
        wires.map(|out| out.wire.delay + out.wire.lead).min()
    }
}

fn wire_mut<'n>(nodes: &'n mut [Node], setup: &NetworkSetup, link: LinkId, way: Way) -> Option<&'n mut Wire> {
    let end = setup.links.get(link.0 as usize)?.ends[way as usize];
    let mut outlets = nodes.get_mut(end.switch.0 as usize)?.outlets.iter_mut();
    outlets.find(|out| out.wire.link == link && out.wire.way == way).map(|out| &mut out.wire)
}

/// Returns the observers as trait objects, so that the code of the network is compiled once and not for each type of observer.
fn each<O: Observer + Send>(observers: &mut [O]) -> Vec<&mut (dyn Observer + Send)> {
    observers.iter_mut().map(|one| one as &mut (dyn Observer + Send)).collect()
}

fn failed(setup: &NetworkSetup, index: usize, source: SwitchError) -> NetworkError {
    let name = setup.switches.get(index).map_or(String::new(), |s| s.name.clone());
    NetworkError::Switch { name, source }
}
