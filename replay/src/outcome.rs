//! Results of a replay through one switch.

use crate::captures::PortCounts;
use crate::collector::{Latency, Unparsed};
use crate::error::{CutOff, Error, Fates};
use crate::held_back::HeldBackReport;
use crate::inputs::Input;
use crate::shared_buffer::{PipeWords, SharedBuffer, words};
use crate::trace::Trace;
use crate::view::SwitchView;
use serde_json::Value;
use sluice_asic::port::DevPort;
use sluice_asic::tm::QueueStats;
use sluice_asic::units::{Cells, Duration, Time};
use sluice_control::Reading;
use sluice_exec::cover::Coverage;
use sluice_exec::pass::State;
use sluice_fabric::spans::Spans;
use sluice_pcaps::capture::CaptureError;
use sluice_pcaps::replay::{InputReport, Schedule};
use sluice_pcaps::wire::ethernet::wire_len;
use sluice_switch::property::Violation;
use sluice_switch::{Held, PipeOverload, RecirculationOverload, Stalled, Switch, Totals};

/// Results of a replay through one switch. [`Outcome::summary`] returns them as a JSON document.
pub struct Outcome<'a> {
    pub(crate) view: SwitchView<'a>,
    pub(crate) schedule: Schedule,
    /// Reports of the inputs, in their order.
    pub inputs: Vec<InputOutcome>,
    /// Load of the ports that inputs go into, in the order of the first input of each.
    pub loads: Vec<PortLoad>,
    /// Packets by fate, port and reason.
    pub totals: Totals,
    /// Packets still inside.
    pub held: Held,
    /// True if packets in and packets out add up. If they do not, that is a defect of Sluice.
    pub is_conserved: bool,
    /// Latencies of sent packets; empty in functional mode.
    pub latency: Latency,
    /// Counters of the program, summed over pipes.
    pub counters: State,
    /// State of each pipe: registers, counters, meters.
    pub pipes: Vec<State>,
    /// Cells that the control plane read, in order of time.
    pub readings: Vec<Reading>,
    /// Queues that a packet entered or was dropped at.
    pub queues: Vec<QueueOutcome>,
    /// Size of the packet buffer.
    pub buffer_size: Cells,
    /// Largest number of cells of the packet buffer in use at the same time.
    pub buffer_peak: Cells,
    /// The shared buffer; `None` if the switch has none.
    pub shared_buffer: Option<SharedBuffer>,
    /// Flow-control words that reached queues, for each pipe that had any.
    pub flow_control_words: Vec<PipeWords>,
    /// Gresses that got more than one packet per cycle.
    pub overtaxed: Vec<PipeOverload>,
    /// Pipes whose recirculation ports got more than their line rate.
    pub crowded: Vec<RecirculationOverload>,
    /// Queues that hold packets and may not send.
    pub stalled: Vec<Stalled>,
    /// Packets that the parser could not read.
    pub unparsed: Vec<Unparsed>,
    /// Properties that do not hold.
    pub violations: Vec<Violation>,
    /// Points of the program that packets reached; `None` if coverage was not counted.
    pub coverage: Option<Coverage>,
    /// Packets that senders held back; `None` if senders ignore PFC frames.
    pub held_back: Option<HeldBackReport>,
    /// Report of the control plane; `None` without one.
    pub control_plane: Option<Value>,
    /// The trace; `None` if the run was not traced.
    pub trace: Option<Trace>,
    /// Spans of packets; `None` if they were not recorded.
    pub spans: Option<Spans>,
    /// Time at which the last packet entered.
    pub last: Time,
    /// Packets taken from the inputs.
    pub sent: u64,
    /// True if the stop flag was set before the end of the run.
    pub interrupted: bool,
}

/// Report of one input.
#[derive(Clone, Debug)]
pub struct InputOutcome {
    /// Name of the input.
    pub name: String,
    /// The port that the input goes into.
    pub port: DevPort,
    /// Name of the port.
    pub port_name: String,
    /// Counts of packets, place of a cut, and anomalies of the capture.
    pub report: InputReport,
}

impl InputOutcome {
    pub(crate) fn of(input: &Input, report: &InputReport) -> InputOutcome {
        let (name, port_name) = (input.name().to_owned(), input.port_name().to_owned());
        InputOutcome { name, port: input.place().1, port_name, report: *report }
    }
}

/// Load of an input port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLoad {
    /// The port.
    pub port: DevPort,
    /// Packets that entered.
    pub packets: u64,
    /// Bytes on the wire, with padding, FCS, preamble and gap.
    pub wire_bytes: u64,
    /// Packets that waited for the wire.
    pub delayed: u64,
    /// Longest wait for the wire.
    pub longest_wait: Duration,
    /// Wait of the last packet.
    pub last_wait: Duration,
}

impl PortLoad {
    pub(crate) const fn new(port: DevPort) -> PortLoad {
        let wait = Duration::ZERO;
        PortLoad { port, packets: 0, wire_bytes: 0, delayed: 0, longest_wait: wait, last_wait: wait }
    }

    /// Counts a packet of `orig_len` bytes that waited for the wire.
    #[inline]
    pub(crate) fn count(&mut self, orig_len: u32, waited: Duration) {
        self.packets += 1;
        self.wire_bytes += wire_len(orig_len);
        self.last_wait = waited;
        if !waited.is_zero() {
            self.delayed += 1;
            self.longest_wait = self.longest_wait.max(waited);
        }
    }
}

/// Counters of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueOutcome {
    /// dev_port of the queue.
    pub dev_port: u16,
    /// Number of the queue at its port.
    pub queue: u8,
    /// The counters.
    pub stats: QueueStats,
}

/// Results of a run in addition to those of the switch.
pub(crate) struct RunParts<'a> {
    pub(crate) view: SwitchView<'a>,
    pub(crate) schedule: Schedule,
    pub(crate) inputs: Vec<InputOutcome>,
    pub(crate) loads: Vec<PortLoad>,
    pub(crate) latency: Latency,
    pub(crate) unparsed: Vec<Unparsed>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) trace: Option<Trace>,
    pub(crate) spans: Option<Spans>,
    pub(crate) held_back: Option<HeldBackReport>,
    pub(crate) control_plane: Option<Value>,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) last: Time,
    pub(crate) sent: u64,
    pub(crate) interrupted: bool,
}

impl<'a> Outcome<'a> {
    /// Collects the results of a switch.
    pub(crate) fn of(switch: &Switch<'_>, run: RunParts<'a>) -> Outcome<'a> {
        let queues = switch.queues().filter(|(_, _, s)| s.enqueued.packets + s.dropped().packets > 0);
        let queue = |(dev_port, queue, stats): (u16, u8, &QueueStats)| QueueOutcome {
            dev_port,
            queue,
            stats: *stats,
        };
        let flow = switch.flow(switch.time());
        let buffer_size = flow.as_ref().map_or(run.view.placement().chip.tm.cells, |v| v.config.size);
        Outcome {
            queues: queues.map(queue).collect(),
            buffer_size,
            buffer_peak: Cells(switch.max_used_cells()),
            shared_buffer: flow.as_ref().map(SharedBuffer::of),
            flow_control_words: words(switch),
            totals: switch.totals().clone(),
            held: switch.held(),
            is_conserved: switch.is_conserved(),
            counters: switch.state(),
            pipes: switch.pipe_states().cloned().collect(),
            readings: switch.readings().to_vec(),
            overtaxed: switch.pipe_overloads(),
            crowded: switch.recirculation_overloads(),
            stalled: switch.stalled(),
            view: run.view,
            schedule: run.schedule,
            inputs: run.inputs,
            loads: run.loads,
            latency: run.latency,
            unparsed: run.unparsed,
            violations: run.violations,
            coverage: run.coverage,
            held_back: run.held_back,
            control_plane: run.control_plane,
            trace: run.trace,
            spans: run.spans,
            last: run.last,
            sent: run.sent,
            interrupted: run.interrupted,
        }
    }

    /// Returns the name of a dev_port in summaries: its front-panel number, `cpu`, `recirc:N`, or `dev:N`.
    #[must_use]
    pub fn port_name(&self, dev_port: u16) -> String {
        self.view.port_name(dev_port)
    }

    /// Returns the inputs that end inside a record.
    pub fn cut_inputs(&self) -> impl Iterator<Item = CutOff> + '_ {
        self.inputs
            .iter()
            .filter_map(|input| Some(CutOff { input: input.name.clone(), tail: input.report.truncated? }))
    }

    /// Returns an error if an input is damaged, or, with [`Options::strict`](crate::Options::strict), cut.
    pub(crate) fn check_inputs(&self, damage: Option<CaptureError>) -> Result<(), Error> {
        if let Some(damage) = damage {
            return Err(Error::Damaged { damage, replayed: Fates::of(&self.totals, &self.held) });
        }
        match self.cut_inputs().next() {
            Some(cut) if self.view.options.strict && !self.interrupted => Err(Error::CutOff(cut)),
            _ => Ok(()),
        }
    }

    /// Returns packets received by each port, and packets dropped in its queues.
    pub(crate) fn port_counts(&self) -> Vec<PortCounts> {
        let dropped = |dev_port: u16| {
            let own = self.queues.iter().filter(|q| q.dev_port == dev_port);
            own.map(|q| q.stats.dropped().packets).sum()
        };
        let ports = self.totals.ports.iter();
        ports
            .map(|p| PortCounts {
                dev_port: p.dev_port,
                received: p.rx_packets,
                dropped: dropped(p.dev_port),
            })
            .collect()
    }
}
