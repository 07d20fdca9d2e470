//! The switch device: MACs, pipes with ingress and egress, and the traffic manager, without any I/O.
//!
//! The caller passes frames to [`Switch::rx`] in the order of their first bits, then calls
//! [`Switch::advance`] with a time before which no more frames come. Sent packets, lost packets and observed
//! events go to the [`Sink`].
//! [`Switch::next_time`] returns the time of the next event inside the device. The device has no loop, file, thread or
//! host clock, and does not know how passes are executed: an `Executor` runs them.
//!
//! *Batches.* A pass has effects only when it leaves its deparser. Therefore all PHVs that enter one gress of
//! one pipe within less than that gress' shortest latency are run as one batch, in entry order. Results,
//! state and times do not depend on the size of batches. A control-plane operation, or an update for the
//! ghost thread, is never inside a batch. Every path back to a gress (resubmit, recirculation, copies) begins
//! at a deparser and takes additional time, so that the shortest latency is less than the delay of any loop.
//!
//! *Conservation.* Received packets plus packets made inside equal sent, dropped, absorbed and held packets
//! ([`Switch::is_conserved`]). Resubmit and recirculation make no packets.

mod assemble;
mod backlog;
mod batch;
mod config;
mod control;
mod copies;
mod egress;
mod executors;
mod flow_control;
mod functional;
mod generator;
mod ghost;
mod idle;
mod ingress;
mod observe;
mod pipe;
mod pipes;
mod port;
pub mod property;
mod reason;
mod recirculation;
mod replicate;
mod rounds;
mod settings;
mod stalled;
mod timeline;
mod timing;
mod totals;

pub use assemble::class_operations;
pub use config::{Mode, QueueSetup, SwitchConfig, SwitchError};
pub use flow_control::{BufferSetup, FlowView, PortFlowView, QueueFlowView, StormCounts};
pub use generator::GENERATED;
pub use idle::IdleEntry;
pub use observe::{Digest, FlowControlEvent, GhostEvent, Left, Lost, PassEvent, QueueEvent, Sink};
pub use pipes::{PipeOverload, RecirculationOverload, SplitState, state_is_whole};
pub use reason::{DeviceDrop, Reason};
pub use recirculation::{FUNCTIONAL_PASSES, FUNCTIONAL_RECIRCULATIONS, TIMER_RECIRCULATIONS};
pub use stalled::Stalled;
pub use timeline::{Level, Subject, Timeline, TimelineRow};
pub use totals::{Created, Held, PortTotals, Totals};

use batch::DueBatches;
use executors::Executors;
use functional::Functional;
use idle::Sweeps;
use ingress::Arrival;
use pipe::PipeState;
use port::Ports;
use replicate::Replicator;
use sluice_asic::chip::ChipSpec;
use sluice_asic::event::{EventClass, EventKey, EventQueue};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::port::DevPort;
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
use timing::Timing;

/// A frame that is received.
#[derive(Clone, Copy, Debug)]
pub struct RxFrame<'a> {
    /// The captured bytes, without FCS.
    pub bytes: &'a [u8],
    /// Length on the wire, without FCS; at least `bytes.len()`.
    pub orig_len: u32,
    /// The caller's identifier of the packet; it is reported with every event of the packet.
    pub tag: u64,
}

/// Data of a packet inside the device, apart from its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct PacketInfo {
    tag: u64,
    /// Index of the port on which it arrived last.
    port: u16,
    /// Index of the external port on which it, or the packet that it is a copy of, arrived.
    origin: u16,
    /// Source that numbered it in `seq`: the index of a port, or a place that makes packets.
    source: u32,
    /// Number among the packets of `source`. The two identify a packet independently of batches.
    seq: u64,
    /// Time of its first bit on an external wire.
    received: Time,
    /// Time of its first bit at `port`.
    mac: Time,
    qid: u8,
    cos: u8,
    queued: Duration,
    /// Replication id, and true if it is the first copy of its node.
    rid: u16,
    rid_first: bool,
    /// True if the next ingress pass follows a resubmit.
    resubmitted: bool,
    /// True if it was sent to members of groups, or lost because the groups have none.
    replicated: bool,
    /// True if it was made inside.
    made: bool,
    /// True if a packet generator made it, or the packet that it is a copy of.
    generated: bool,
    /// True if it bypasses egress.
    bypass: bool,
    /// True if it goes to the deflection port where it would be dropped.
    deflect: bool,
    /// Colour, for the limits of queues.
    colour: Colour,
    /// If it was deflected: the local port that it was sent to, and the place where it would have been
    /// dropped.
    deflected: Option<(u8, u8)>,
    /// Number of recirculations.
    recirculations: u32,
    /// Data of flow control.
    flow: flow_control::FlowInfo,
}

/// Kinds of events.
enum Event {
    /// A packet reaches its queue.
    Enqueue { packet: Packet, port: u16 },
    /// A port may send again.
    Dequeue { port: u16 },
    /// Unused line time was returned to a port.
    Credit { port: u16 },
    /// A packet from egress reaches the line of its recirculation port.
    Recirculate { packet: Packet, port: u16, booked: Duration },
    /// A packet generator may send.
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
    /// A received PFC frame takes effect.
    PfcReceived { port: u16, times: Box<PfcTimes> },
    /// The time of a pause ends.
    PauseEnds { port: u16 },
    /// A PFC frame is to be sent.
    PfcDue { port: u16 },
    /// The watchdog polls a port's queues.
    WatchdogPoll { port: u16 },
    /// A register has been cleared.
    Cleared { pipe: u8, register: Register },
    /// A port's queues may have been stuck for too long.
    StuckQueues { port: u16 },
}

/// Memory of a switch that is no longer needed, for the next switch with the same program. It avoids
/// allocating and initialising large arrays again.
#[derive(Default)]
pub struct Memory {
    /// Registers, counters and meters of the program, per pipe.
    pub states: Vec<State>,
    tm: Option<TrafficManager<Packet>>,
}

/// A switch running one program on all its pipes.
///
/// The passes of packets are run by its executor, which it owns (then `'e` is `'static`) or borrows.
pub struct Switch<'e> {
    program: Arc<Program>,
    chip: Arc<ChipSpec>,
    config: SwitchConfig,
    timing: Timing,
    executors: Executors<'e>,
    control: ControlState,
    replicator: Replicator,
    operations: Operations,
    ports: Ports,
    pipes: Vec<PipeState>,
    due: DueBatches,
    tm: TrafficManager<Packet>,
    /// Flow control, if there is a shared buffer.
    flow: Option<Box<flow_control::FlowControl>>,
    packets: PacketStore,
    info: Vec<PacketInfo>,
    arrivals: VecDeque<Arrival>,
    events: EventQueue<Event>,
    scratch: Scratch,
    functional: Functional,
    /// True if the sink of the current call watches passes and queues ([`Sink::watches`]).
    watched: bool,
    /// Number of packets inside, without timers.
    outside: u64,
    /// True if every packet goes once through ingress, one queue and egress; `None` after a change.
    straight: Option<bool>,
    totals: Totals,
    now: Time,
    sweeps: Sweeps,
    /// Rounds of packet generators that may be skipped.
    rounds: rounds::Rounds,
}

/// Operations of the control plane so far.
#[derive(Default)]
struct Operations {
    /// Number of operations scheduled.
    scheduled: u64,
    /// Readings, in order.
    readings: Vec<Reading>,
}

/// Memory that is used again in each batch.
#[derive(Default)]
struct Scratch {
    /// Packets made by the batch being handled.
    made: Vec<Made>,
    /// Passes of a batch of one.
    batch: Vec<Pass>,
    /// Members of a multicast group.
    members: Vec<replicate::Member>,
}

impl<'e> Switch<'e> {
    /// Receives a frame whose first bit is on the wire of `port` at `time`.
    ///
    /// Frames of one port must not overlap on its wire: a frame that would overlap is delayed, and the delay
    /// is returned. `time` must not be before the time of the last [`Switch::advance`].
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn rx(&mut self, port: DevPort, time: Time, frame: RxFrame<'_>) -> Result<Duration, SwitchError> {
        let index = self.port_index(port.number()).ok_or(SwitchError::NoSuchPort(port.number()))?;
        let delay = self.receive(index, time, frame);
        Ok(delay)
    }

    /// Schedules an operation at `time`. Packets that enter a gress at that time or later see its effect.
    ///
    /// # Errors
    /// Refuses an operation that does not fit the program, or the state at the time of the call.
    pub fn control(&mut self, time: Time, op: ControlOp) -> Result<(), SwitchError> {
        let key = EventKey {
            time: time.max(self.now),
            device: self.config.device,
            class: EventClass::ControlPlane,
            port: 0,
            seq: self.operations.scheduled,
        };
        self.operations.scheduled += 1;
        self.events.push(key, Event::Control(Box::new(op))).map_err(|e| SwitchError::Past(Box::new(e)))
    }

    /// Returns the time of the next event without further input, `None` if there is none.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let arrival = self.arrivals.front().map(|a| a.parser);
        let batch = Some(self.due.first.time).filter(|t| *t < Time::MAX);
        [arrival, batch, self.events.next_time()].into_iter().flatten().min()
    }

    /// Runs all events up to and including `until`.
    ///
    /// # Errors
    /// Returns the error of a scheduled control-plane operation that is refused.
    pub fn advance(&mut self, until: Time, sink: &mut dyn Sink) -> Result<(), SwitchError> {
        self.watched = sink.watches();
        if self.config.mode == Mode::Functional {
            return self.advance_functional(until, sink);
        }
        let ahead = self.may_admit_ahead();
        self.rounds.until = if sink.needs_every_round() { Time::ORIGIN } else { until };
        loop {
            let event = self.events.next_time().unwrap_or(Time::MAX);
            let batch::Due { time: batch, pipe, gress } = self.due.first;
            let arrival = self.arrivals.front().map_or(Time::MAX, |a| a.parser);
            let next = arrival.min(batch).min(event);
            // If there are no other events, sweeps run up to a time that the caller named.
            let sweep = self.sweeps.next;
            if sweep <= next.min(until) && sweep < Time::MAX && (next < Time::MAX || until < Time::MAX) {
                self.now = self.now.max(sweep);
                self.sweep(until, sink);
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

    fn handle(&mut self, time: Time, event: Event, sink: &mut dyn Sink) -> Result<(), SwitchError> {
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

    /// Runs the PHVs that entered before an operation, so that they see the state before it.
    fn run_before(&mut self, time: Time, sink: &mut dyn Sink) {
        for pipe in 0..self.pipes.len() {
            for gress in Gress::ALL {
                while self.pipes[pipe].front(gress).is_some_and(|t| t < time) {
                    self.run_batch(pipe, gress, time, sink);
                }
            }
        }
    }

    /// Returns true if the program has a ghost control.
    fn has_ghost(&self) -> bool {
        !self.program.ghost.is_empty()
    }

    fn port_index(&self, dev_port: u16) -> Option<u16> {
        self.ports.index_of(dev_port)
    }

    fn info_of(&self, packet: Packet) -> PacketInfo {
        self.info.get(packet.index()).copied().unwrap_or_default()
    }

    /// Ends a packet inside the switch.
    fn lose(&mut self, packet: Packet, time: Time, reason: Reason, sink: &mut dyn Sink) {
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

    /// Returns the counters.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the packets still inside, by place.
    #[must_use]
    pub fn held(&self) -> Held {
        let pending = |g: Gress| self.pipes.iter().map(|p| p.pending[g.index()].len() as u64).sum();
        let queues = self.tm.held();
        let inside = self.packets.live() as u64;
        let (ingress, egress): (u64, u64) = (pending(Gress::Ingress), pending(Gress::Egress));
        let arrivals = self.arrivals.len() as u64;
        Held { ingress: inside - queues - egress, queues, egress, waiting: arrivals + ingress }
    }

    /// Returns the queues' counters: index of the port, queue, counters.
    pub fn queues(&self) -> impl Iterator<Item = (u16, u8, &sluice_asic::tm::QueueStats)> {
        self.tm.queue_stats().map(|(TmPort(p), q, s)| (self.ports[usize::from(p)].dev_port, q.0, s))
    }

    /// Returns the time up to which the switch has run.
    #[must_use]
    pub fn time(&self) -> Time {
        self.now
    }

    /// Returns the largest number of cells that the buffer held at once.
    #[must_use]
    pub fn max_used_cells(&self) -> u32 {
        self.tm.max_used_cells().0
    }

    /// Returns the program's counters and counted lookups summed over pipes. Registers and meters, which cannot be summed, have
    /// initial values.
    #[must_use]
    pub fn state(&self) -> State {
        let mut sum = State::new(&self.program, &Origin::of(&self.chip));
        for pipe in &self.pipes {
            sum.add_hits(&pipe.state);
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

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the entries in force.
    #[must_use]
    pub fn control_state(&self) -> &ControlState {
        &self.control
    }

    /// Returns the executor.
    pub fn executor_mut(&mut self) -> &mut (dyn Executor + 'e) {
        self.executors.shared()
    }

    /// True if received + created = sent + dropped + absorbed + held.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        let t = &self.totals;
        t.received + t.created == t.sent + t.dropped + t.absorbed + self.packets.live() as u64
    }
}
