//! The switch device: MACs, pipe entries, both gresses, traffic manager, without any I/O of its own.
//!
//! Drain order: give frames with [`Switch::rx`] in the order of their first bits, then let
//! [`Switch::advance`] run up to a time before which no more frames come; whatever leaves, dies or is
//! observed goes to the [`Sink`]. [`Switch::next_time`] says when something will happen by itself. The
//! device owns no loop, file, thread or host clock. What may not live here: how passes are executed.
//!
//! *Batches.* A pass changes the world only when it leaves its deparser. So all PHVs that enter one gress of
//! one pipe within less than that gress' shortest latency are run as one batch, in entry order; results,
//! state and times do not depend on the size of batches. A control-plane operation and an update for the ghost
//! thread are never inside one. Every
//! way back to a gress (resubmit, recirculation, copies) begins at a deparser and takes time beside, so that
//! latency is shorter than any loop.
//!
//! *Conservation.* What came in and what was made inside is out, dropped, absorbed or held
//! ([`Switch::is_conserved`]); resubmit and recirculation make nothing.

mod assemble;
mod batch;
mod config;
mod control;
mod copies;
mod egress;
mod flow;
mod functional;
mod generator;
mod ghost;
mod idle;
mod ingress;
mod laps;
mod observe;
mod pipe;
mod pipes;
mod port;
pub mod property;
mod reason;
mod replicate;
mod settings;
mod stalled;
mod timeline;
mod totals;

pub use config::{Mode, QueueSetup, SwitchConfig, SwitchError};
pub use flow::{BufferSetup, FlowView, PortFlowView, QueueFlowView, StormCounts};
pub use generator::GENERATED;
pub use idle::IdleEntry;
pub use laps::{FUNCTIONAL_LAPS, FUNCTIONAL_PASSES, TIMER_LAPS};
pub use observe::{Digest, FlowControlEvent, GhostEvent, Left, Lost, PassEvent, QueueEvent, Sink};
pub use pipes::{PipeOverload, RecirculationOverload, SplitState, state_is_whole};
pub use reason::{DeviceDrop, Reason};
pub use stalled::Stalled;
pub use timeline::{Level, Subject, Timeline, TimelineRow};
pub use totals::{Created, Held, PortTotals, Totals};

use idle::Sweeps;
use ingress::Arrival;
use pipe::{GressTiming, PipeState};
use port::PortState;
use replicate::Replicator;
use sluice_asic::chip::ChipSpec;
use sluice_asic::clock::Clock;
use sluice_asic::event::{EventClass, EventKey, EventQueue};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::tm::pfc::PfcTimes;
use sluice_asic::tm::{TmPort, TrafficManager};
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, ControlState, Reading};
use sluice_exec::packet::{Packet, PacketStore};
use sluice_exec::pass::{Executor, Made, Pass, State};
use sluice_ir::meter_array::Origin;
use sluice_ir::{LabelKind, Program, Register};
use std::collections::VecDeque;
use std::sync::Arc;

/// A frame on its way into the switch.
#[derive(Clone, Copy, Debug)]
pub struct RxFrame<'a> {
    /// The captured bytes, without FCS.
    pub bytes: &'a [u8],
    /// Length on the wire, without FCS; at least `bytes.len()`.
    pub orig_len: u32,
    /// The caller's name for the packet: comes back with whatever becomes of it.
    pub tag: u64,
}

/// What the device knows of a packet besides its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct PacketInfo {
    tag: u64,
    /// Index of the port that it came in by last.
    port: u16,
    /// Index of the port by which it, or what it is a copy of, came in from outside.
    origin: u16,
    /// Where its number in `seq` is from: the index of a port, or one of the places that make packets.
    source: u32,
    /// Number among what came from `source`: with it, a name that does not depend on batches.
    seq: u64,
    /// First bit on the wire, from outside.
    received: Time,
    /// First bit at `port`.
    mac: Time,
    qid: u8,
    cos: u8,
    queued: Duration,
    /// Replication id, and whether it is the first copy of its node.
    rid: u16,
    rid_first: bool,
    /// The next ingress pass follows a resubmit.
    resubmitted: bool,
    /// Sent to the members of groups, or lost for lack of them.
    replicated: bool,
    /// Made inside.
    made: bool,
    /// Made by a packet generator, or a copy of such a packet.
    generated: bool,
    /// Goes past egress.
    bypass: bool,
    /// Goes to the deflection port where it would be dropped.
    deflect: bool,
    /// Its colour, for the limits of queues.
    colour: Colour,
    /// Was deflected: the local port that it was for, and where it would have been dropped.
    deflected: Option<(u8, u8)>,
    /// Times that it went around.
    laps: u32,
    /// What flow control knows of it.
    flow: flow::FlowInfo,
}

/// What happens at a time.
enum Event {
    /// A packet reaches its queue.
    Enqueue { packet: Packet, port: u16 },
    /// A port may send again.
    Dequeue { port: u16 },
    /// Booked line time came back to a port.
    Credit { port: u16 },
    /// A packet that left egress by a recirculation port gets on the line that it comes back by.
    Recirculate { packet: Packet, port: u16, booked: Duration },
    /// A packet generator is looked at.
    Generate { pipe: u8 },
    /// A deparser's request reaches the packet generator.
    PktgenRequest { pipe: u8, slot: u32 },
    /// A priority of one of the pipe's ports was paused or resumed.
    PfcChanged { pipe: u8 },
    /// An update of a queue's depth enters the ghost thread.
    Ghost { pipe: u8 },
    /// A flow-control word takes effect.
    FlowControl { word: u32 },
    /// An operation takes effect. Boxed: the queue moves events about, and the others are small.
    Control(Box<ControlOp>),
    /// A PFC frame takes effect.
    PfcReceived { port: u16, times: Box<PfcTimes> },
    /// The time of a pause is over.
    PauseEnds { port: u16 },
    /// A PFC frame is to be sent.
    PfcDue { port: u16 },
    /// The watchdog looks at a port's queues.
    WatchdogPoll { port: u16 },
    /// A register has been cleared.
    Cleared { pipe: u8, register: Register },
    /// A port's queues may have sent nothing for too long.
    StuckQueues { port: u16 },
}

/// What a switch that is of no use any more leaves to the next one with the same program, so that nothing that is large has to
/// be asked of the host and set up anew.
#[derive(Default)]
pub struct Memory {
    /// What the program remembered, per pipe.
    pub states: Vec<State>,
    tm: Option<TrafficManager<Packet>>,
}

/// A switch running one program on all its pipes.
pub struct Switch<E> {
    program: Arc<Program>,
    config: SwitchConfig,
    control: ControlState,
    executor: E,
    /// Executors of pipes that look up other entries, by pipe.
    own: Vec<Option<E>>,
    clock: Clock,
    timing: [GressTiming; 2],
    tm_enqueue: Duration,
    tm_dequeue: Duration,
    mac_tx: Duration,
    /// From the ingress deparser back to the parser.
    resubmit: Duration,
    /// The program has a ghost control.
    has_ghost: bool,
    /// The bits that the traffic manager's stamps have.
    tm_stamps: u32,
    /// Shortest way from dequeue to the line.
    lookahead: Duration,
    tx_ahead: Duration,
    ports: Vec<PortState>,
    /// Which queues of a port group are whose.
    port_map: PortMap,
    /// Index into `ports` for every dev_port.
    by_dev_port: Vec<Option<u16>>,
    pipes: Vec<PipeState>,
    /// The batch that must run first.
    first_batch: batch::Due,
    tm: TrafficManager<Packet>,
    packets: PacketStore,
    info: Vec<PacketInfo>,
    arrivals: VecDeque<Arrival>,
    events: EventQueue<Event>,
    replicator: Replicator,
    chip: Arc<ChipSpec>,
    /// What the batch being handled made.
    made: Vec<Made>,
    /// Packets inside but for timers.
    outside: u64,
    /// Whether every packet goes through ingress, one queue and egress, once; unknown after changes.
    straight: Option<bool>,
    /// Functional mode: passes still due of a packet and of what was made of it; egress passes have a port.
    work: VecDeque<(Packet, Option<u16>)>,
    /// Scratch of multicast.
    members: Vec<replicate::Member>,
    batch: Vec<Pass>,
    /// Functional mode: packets that go through both gresses together.
    window: functional::Window,
    /// Operations scheduled so far.
    ops: u64,
    /// What the control plane has read.
    readings: Vec<Reading>,
    totals: Totals,
    now: Time,
    sweeps: Sweeps,
    /// With a shared buffer.
    flow: Option<Box<flow::FlowControl>>,
}

impl<E: Executor> Switch<E> {
    /// Takes a frame whose first bit is on the wire of `port` at `time`.
    ///
    /// Frames of one port must not overlap on its wire; [`Switch::rx`] delays those that would, and says by
    /// how much. Times must not go back behind [`Switch::advance`].
    ///
    /// # Errors
    /// When the switch has no such port.
    pub fn rx(&mut self, port: DevPort, time: Time, frame: RxFrame<'_>) -> Result<Duration, SwitchError> {
        let index = self.port_index(port.number()).ok_or(SwitchError::NoSuchPort(port.number()))?;
        let delay = self.receive(index, time, frame);
        Ok(delay)
    }

    /// Has an operation take effect at `time`: packets that enter a gress at that time or later see it.
    ///
    /// # Errors
    /// When the operation does not fit the program or the state at the time of the call.
    pub fn control(&mut self, time: Time, op: ControlOp) -> Result<(), SwitchError> {
        let key = EventKey {
            time: time.max(self.now),
            device: self.config.device,
            class: EventClass::ControlPlane,
            port: 0,
            seq: self.ops,
        };
        self.ops += 1;
        self.events.push(key, Event::Control(Box::new(op))).map_err(|e| SwitchError::Past(Box::new(e)))
    }

    /// When something will happen without further input.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let arrival = self.arrivals.front().map(|a| a.parser);
        let batch = Some(self.first_batch.time).filter(|t| *t < Time::MAX);
        [arrival, batch, self.events.next_time()].into_iter().flatten().min()
    }

    /// Runs everything that happens up to and including `until`.
    ///
    /// # Errors
    /// When a scheduled control operation is refused.
    pub fn advance(&mut self, until: Time, sink: &mut impl Sink) -> Result<(), SwitchError> {
        if self.config.mode == Mode::Functional {
            return self.advance_functional(until, sink);
        }
        let ahead = self.may_admit_ahead(sink);
        loop {
            let event = self.events.next_time().unwrap_or(Time::MAX);
            let batch::Due { time: batch, pipe, gress } = self.first_batch;
            let arrival = self.arrivals.front().map_or(Time::MAX, |a| a.parser);
            let next = arrival.min(batch).min(event);
            // Without anything else to happen, sweeps go on up to a time that was named.
            let sweep = self.sweeps.next;
            if sweep <= next.min(until) && sweep < Time::MAX && (next < Time::MAX || until < Time::MAX) {
                self.now = self.now.max(sweep);
                self.sweep(sink);
                continue;
            }
            if next > until || next == Time::MAX {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.now = self.now.max(next);
            if arrival == next {
                let sure = batch.min(event).min(until).min(sweep);
                self.admit_arrivals(sure, if ahead { until.min(sweep) } else { sure }, sink);
            } else if batch == next {
                self.run_batch(usize::from(pipe), gress, Time::MAX, sink);
            } else if let Some((key, event)) = self.events.pop() {
                self.handle(key.time, event, sink)?;
            }
        }
    }

    fn handle(&mut self, time: Time, event: Event, sink: &mut impl Sink) -> Result<(), SwitchError> {
        match event {
            Event::Enqueue { packet, port } => self.enqueue(time, packet, port, sink),
            Event::Dequeue { port } => self.scheduled(time, port, sink),
            Event::Credit { port } => self.credit(time, port),
            Event::Recirculate { packet, port, booked } => {
                self.recirculated(packet, port, booked, time, sink);
            }
            Event::Generate { pipe } => self.generate(time, pipe.into()),
            Event::PktgenRequest { pipe, slot } => self.requested_packets(time, pipe.into(), slot),
            Event::FlowControl { word } => self.obey(time, word, sink),
            Event::Ghost { pipe } => self.ghost_enters(time, pipe.into()),
            Event::PfcChanged { pipe } => {
                self.pipes[usize::from(pipe)].generator.pfc_changed(time);
                self.schedule_generator(pipe.into());
            }
            Event::PfcReceived { port, times } => self.pfc_received(time, port, &times),
            Event::PauseEnds { port } => self.pause_ends(time, port),
            Event::PfcDue { port } => self.pfc_due(time, port, sink),
            Event::WatchdogPoll { port } => self.watchdog_poll(time, port, sink),
            Event::StuckQueues { port } => self.stuck_queues(time, port, sink),
            Event::Control(op) => {
                self.run_before(time, sink);
                self.apply(*op)?;
            }
            Event::Cleared { pipe, register } => {
                self.run_before(time, sink);
                self.cleared(usize::from(pipe), register, time);
            }
        }
        Ok(())
    }

    /// PHVs that entered before an operation have not all been run: they see what was there before it.
    fn run_before(&mut self, time: Time, sink: &mut impl Sink) {
        for pipe in 0..self.pipes.len() {
            for gress in Gress::ALL {
                while self.pipes[pipe].front(gress).is_some_and(|t| t < time) {
                    self.run_batch(pipe, gress, time, sink);
                }
            }
        }
    }

    fn port_index(&self, dev_port: u16) -> Option<u16> {
        self.by_dev_port.get(usize::from(dev_port)).copied().flatten()
    }

    fn info_of(&self, packet: Packet) -> PacketInfo {
        self.info.get(packet.index()).copied().unwrap_or_default()
    }

    /// A packet ends inside the switch.
    fn lose(&mut self, packet: Packet, time: Time, reason: Reason, sink: &mut impl Sink) {
        let info = self.info_of(packet);
        let absorbed =
            matches!(reason, Reason::Label(l) if self.program.labels[l].kind == LabelKind::Consume);
        self.totals.lost(reason, absorbed);
        self.ended(&info);
        let (head, tail) = self.packets.captured(packet);
        let lost = Lost {
            tag: info.tag,
            port: self.ports[usize::from(info.origin)].dev_port,
            received: info.received,
            time,
            reason,
            absorbed,
            bytes: self.packets.len(packet),
        };
        sink.lost(&lost, head, tail);
        self.packets.remove(packet);
    }

    /// Everything counted so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// What is still inside, by place.
    #[must_use]
    pub fn held(&self) -> Held {
        let pending = |g: Gress| self.pipes.iter().map(|p| p.pending[g.index()].len() as u64).sum();
        let queues = self.tm.held();
        let inside = self.packets.live() as u64;
        let (ingress, egress): (u64, u64) = (pending(Gress::Ingress), pending(Gress::Egress));
        let arrivals = self.arrivals.len() as u64;
        Held { ingress: inside - queues - egress, queues, egress, waiting: arrivals + ingress }
    }

    /// The queues' counters, with the index of their port.
    pub fn queues(&self) -> impl Iterator<Item = (u16, u8, &sluice_asic::tm::QueueStats)> {
        self.tm.queue_stats().map(|(TmPort(p), q, s)| (self.ports[usize::from(p)].dev_port, q.0, s))
    }

    /// The time up to which the switch has run.
    #[must_use]
    pub fn time(&self) -> Time {
        self.now
    }

    /// Most cells that the buffer held at once.
    #[must_use]
    pub fn max_used_cells(&self) -> u32 {
        self.tm.max_used_cells().0
    }

    /// What the program has counted, summed over pipes; registers and meters, which have no sum, as they start.
    #[must_use]
    pub fn state(&self) -> State {
        let mut sum = State::new(&self.program, &Origin::of(&self.chip));
        for pipe in &self.pipes {
            for (into, from) in sum.counters.values_mut().zip(pipe.state.counters.values()) {
                for (at, count) in from.changed() {
                    if let Some(sum) = into.get_mut(at) {
                        sum.packets += count.packets;
                        sum.bytes += count.bytes;
                    }
                }
            }
        }
        sum
    }

    /// The program that it runs.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The entries in force.
    #[must_use]
    pub fn control_state(&self) -> &ControlState {
        &self.control
    }

    /// The executor.
    pub fn executor_mut(&mut self) -> &mut E {
        &mut self.executor
    }

    /// `in + created = out + dropped + absorbed + held`.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        let t = &self.totals;
        t.received + t.created == t.sent + t.dropped + t.absorbed + self.packets.live() as u64
    }
}
