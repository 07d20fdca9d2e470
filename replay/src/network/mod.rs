//! Replays through a network of switches.

mod changes;
mod coverage;
mod run;
mod summary;
pub(crate) mod switch_observer;

pub use changes::parse_changes;
pub use coverage::ProgramCoverage;
pub use summary::{EndRow, LinkRow, NetworkSummary, SwitchRow, WayRow};

use crate::captures::{CaptureOutputs, Captures};
use crate::collector::{Collector, Latency, Origins};
use crate::control_plane::ControlPlaneReport;
use crate::error::{Error, Passes};
use crate::executor::{ExecutorFactory, ExecutorRequest};
use crate::inputs::Inputs;
use crate::options::{Checks, Options};
use crate::outcome::Outcome;
use crate::progress::{Progress, Run};
use crate::rate_search::{Attempt, RateSearch, TrialCounts, search};
use crate::timeline::TimelineRequest;
use crate::trace::{Matched, Trace, joined};
use crate::view::SwitchView;
use run::{REMEMBERED, Session};
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Cells, Time};
use sluice_catalogue::control_plane::ControlPlane;
use sluice_control::ControlOp;
use sluice_fabric::network::{Network, NetworkSetup, Observer, SwitchId};
use sluice_fabric::senders::Senders;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::replay::{Feed, Pace, Schedule};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use switch_observer::SwitchObserver;

/// Checks of a switch for which the caller gives none.
static NO_CHECKS: Checks = Checks { properties: None, points: None };

/// A replay of inputs through a network, before it runs. It may run more than once.
#[derive(Clone, Copy)]
pub struct NetworkReplay<'a> {
    /// Switches and links.
    pub network: &'a NetworkSetup,
    /// Operations during the run.
    pub changes: &'a [(SwitchId, Time, ControlOp)],
    /// Properties to check and points to count, by switch. Switches beyond the end of the list have none.
    pub checks: &'a [Checks],
    /// Captures and the ports that they go into.
    pub inputs: &'a Inputs,
    /// All other settings.
    pub options: &'a Options,
    /// Threads that the network runs on. The results do not depend on it.
    pub threads: usize,
    /// Stops the run early if the caller sets it. The results are those of the packets until then.
    pub stop: &'a AtomicBool,
}

/// Outputs and participants of a run in addition to the network. All are optional.
#[derive(Default)]
pub struct NetworkAttached<'r> {
    /// Writers of captures, by switch. Switches beyond the end of the list have none.
    pub captures: Vec<Captures>,
    /// Observers of the caller, by switch. Switches beyond the end of the list have none.
    pub observers: Vec<&'r mut (dyn Observer + Send)>,
    /// A timeline to record.
    pub timeline: Option<TimelineRequest<'r>>,
    /// A control plane.
    pub control_plane: Option<&'r mut dyn ControlPlane>,
    /// Receives reports of progress.
    pub progress: Option<&'r mut dyn Progress>,
}

/// A replay whose network is made and whose inputs are open. Nothing has run yet.
pub struct PreparedNetwork<'a> {
    replay: NetworkReplay<'a>,
    schedule: Schedule,
    attempt: Option<Attempt>,
    network: Network,
    views: Vec<SwitchView<'a>>,
    traces: Vec<Option<Trace>>,
    feed: Feed<'static>,
}

/// Results of a replay through a network. [`NetworkOutcome::summary`] returns what a reader or a JSON document has of
/// them.
pub struct NetworkOutcome<'a> {
    /// The network at the end of the run.
    pub network: Network,
    /// Results of each switch.
    pub switches: Vec<Outcome<'a>>,
    /// Latencies from first bit in to first bit out of the network.
    pub latency: Latency,
    /// Report of the control plane; `None` without one.
    pub control_plane: Option<ControlPlaneReport>,
    /// Coverage of each program, over all switches that run it; empty if coverage was not counted.
    pub coverage: Vec<ProgramCoverage>,
    /// Packets taken from the inputs.
    pub sent: u64,
    /// True if the stop flag was set before the end of the run.
    pub interrupted: bool,
}

impl NetworkOutcome<'_> {
    /// Returns true if packets in and packets out add up. If they do not, that is a defect of Sluice.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.network.totals().is_conserved() && self.switches.iter().all(|s| s.is_conserved)
    }

    /// Returns true if a property did not hold at some switch.
    #[must_use]
    pub fn has_violations(&self) -> bool {
        self.switches.iter().any(|s| !s.violations.is_empty())
    }

    /// Returns the traces of all switches as one, in order of time; empty if the run was not traced.
    #[must_use]
    pub fn trace(&self) -> String {
        let switches = self.network.ids().zip(&self.switches);
        let traces = switches.filter_map(|(id, s)| Some((name_of(&self.network, id), s.trace.as_ref()?)));
        joined(&traces.collect::<Vec<_>>())
    }

    /// Returns the number of packets that the filter of the trace selected; `None` without a filter.
    #[must_use]
    pub fn matched(&self) -> Option<Matched> {
        self.switches.iter().find_map(|switch| switch.trace.as_ref()?.matched())
    }

    /// Returns the name of a switch; empty if there is no such switch.
    #[must_use]
    pub fn name_of(&self, switch: SwitchId) -> &str {
        name_of(&self.network, switch)
    }
}

fn name_of(network: &Network, id: SwitchId) -> &str {
    network.setup(id).map_or("", |s| s.name.as_str())
}

impl<'a> NetworkReplay<'a> {
    /// Makes the network and opens the inputs.
    ///
    /// # Errors
    /// If an executor or the network cannot be made, or if an input cannot be opened or read as often as needed.
    pub fn prepare(&self, executors: &mut ExecutorFactory<'_>) -> Result<PreparedNetwork<'a>, Error> {
        self.prepare_at(self.options.schedule, None, executors)
    }

    /// Searches for the highest rate without loss, with a new network for each trial. All input ports have the same
    /// rate on the wire. The result is at most `resolution` below the lowest rate with loss; `None`: 1/1000 of the line
    /// rate.
    ///
    /// # Errors
    /// Those of [`NetworkReplay::prepare`] and [`PreparedNetwork::run`]; also if the inputs have no packets, or if the
    /// stop flag is set.
    pub fn find_rate(
        &self,
        resolution: Option<BitRate>,
        executors: &mut ExecutorFactory<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RateSearch, Error> {
        let views = self.views();
        let line = self.inputs.places().iter().map(|(switch, port)| line(&views, *switch, *port)).min();
        let queue_limit = self.network.switches.first().map_or(Cells(0), |s| s.config.queues.limit);
        search(self.inputs, (line, resolution), queue_limit, &mut |attempt| {
            let schedule = Schedule { pace: Pace::Bits(attempt.rate), ..self.options.schedule };
            let prepared = self.prepare_at(schedule, Some(attempt), executors)?;
            let attached = NetworkAttached { progress: Some(&mut *progress), ..NetworkAttached::default() };
            let outcome = prepared.run(attached)?;
            if outcome.interrupted {
                return Err(Error::Interrupted);
            }
            let totals = outcome.network.totals();
            Ok(TrialCounts::over(&outcome.switches, totals.entered, totals.on_links))
        })
    }

    /// Returns a view of each switch, with the speeds of its ports; links set speeds too.
    fn views(&self) -> Vec<SwitchView<'a>> {
        let speeds = speeds(self.network);
        let switches = (0..).map(SwitchId).zip(&self.network.switches).zip(&speeds);
        let view = |((id, setup), speeds): ((SwitchId, _), &Vec<(u16, BitRate)>)| {
            let own = self.changes.iter().filter(|(of, ..)| *of == id);
            let changes = own.map(|(_, time, op)| (time.saturating_since(Time::ORIGIN), op));
            let checks = self.checks.get(id.0 as usize).unwrap_or(&NO_CHECKS);
            SwitchView::new(setup, self.options, checks, speeds, changes)
        };
        switches.map(view).collect()
    }

    fn prepare_at(
        &self,
        schedule: Schedule,
        attempt: Option<Attempt>,
        executors: &mut ExecutorFactory<'_>,
    ) -> Result<PreparedNetwork<'a>, Error> {
        if schedule.turns != 1 {
            self.inputs.check_repeatable(Passes::Turns)?;
        }
        let views = self.views();
        let timed = views.first().is_none_or(SwitchView::is_timed);
        let numbers = Arc::new(AtomicU64::new(0));
        let mut setup = self.network.clone();
        setup.switches.iter_mut().for_each(|s| s.config.count_hits = true);
        if self.options.trace {
            // Batches are off, because a batch would report the steps of several packets as one pass.
            setup.switches.iter_mut().for_each(|s| s.config.max_batch = 1);
        }
        let mut traces = Vec::with_capacity(views.len());
        let mut points = views.iter().map(|view| view.checks.points.as_ref());
        let mut network = Network::with(setup, |switch| {
            let filter = self.options.trace_filter.as_ref();
            let trace = self.options.trace.then(|| match timed {
                true => Trace::default().filtered(filter, traces.len()),
                false => Trace::default().numbered(Arc::clone(&numbers)).filtered(filter, traces.len()),
            });
            let tracer = trace.as_ref().map(Trace::tracer);
            traces.push(trace);
            executors(ExecutorRequest { switch, points: points.next().flatten(), tracer })
        })?;
        for (switch, port) in self.inputs.places() {
            network.edge(*switch, *port);
        }
        for (switch, time, op) in self.changes {
            network.control(*switch, *time, op.clone())?;
        }
        // Frames take time on the wire only in timed mode, or if the pace is the line rate.
        let takes_time = timed || schedule.pace == Pace::LineRate;
        let rate = |switch, port| {
            if takes_time { line(&views, switch, port) } else { BitRate::from_bps(0) }
        };
        let feed = self.inputs.feed(schedule, rate)?;
        Ok(PreparedNetwork { replay: *self, schedule, attempt, network, views, traces, feed })
    }
}

impl<'a> PreparedNetwork<'a> {
    /// Returns the time zero of the run: the earliest first timestamp of all inputs.
    #[must_use]
    pub fn origin(&self) -> CaptureTime {
        self.feed.origin()
    }

    /// Runs to the end of the inputs, or until the stop flag is set, and completes the captures.
    ///
    /// # Errors
    /// If an input is damaged, or cut with [`Options::strict`], if the network refuses a packet or an operation, or if a
    /// writer fails. Captures are incomplete then.
    pub fn run<'r>(self, attached: NetworkAttached<'r>) -> Result<NetworkOutcome<'a>, Error>
    where
        'a: 'r,
    {
        let NetworkAttached { captures, observers, timeline, control_plane, mut progress } = attached;
        let inputs = self.replay.inputs;
        let origins = Arc::new(Mutex::new(Origins::new(REMEMBERED)));
        let counts = control_plane.as_ref().map(|plane| plane.counts());
        let obeyed = self.replay.options.pfc_cable.is_some();
        let (mut captures, mut observers) = (captures.into_iter(), observers.into_iter());
        let mut all = Vec::with_capacity(self.views.len());
        for (view, trace) in self.views.iter().zip(self.traces) {
            let captures = captures.next().unwrap_or_default();
            let captures = CaptureOutputs::new(view, self.feed.stamps(), captures)?;
            let collector = Collector::new(view.clone(), inputs.names(), captures, trace)
                .sharing(Arc::clone(&origins))
                .for_control_plane(control_plane.is_some());
            all.push(SwitchObserver::new(collector, observers.next(), counts, obeyed));
        }
        let senders = senders(&self.views, &self.network, inputs);
        if let Some(progress) = &mut progress {
            progress.begin(&Run { trial: self.attempt, schedule: self.schedule, bytes: inputs.bytes() });
        }
        let mut session = Session::new(&self.replay, self.views, self.network, all, origins, progress);
        session.control_plane = control_plane;
        session.senders = senders;
        if let Some(request) = timeline {
            session.record(request);
        }
        session.run(self.feed, self.schedule)
    }
}

/// Returns the rate of a port's line; 0 if there is no such port.
fn line(views: &[SwitchView<'_>], switch: SwitchId, port: DevPort) -> BitRate {
    let view = views.get(switch.0 as usize);
    view.map_or(BitRate::from_bps(0), |view| view.speed_of(port.number()))
}

/// Returns senders that obey PFC frames, with the PFC settings and priority maps of their switches; `None` if senders
/// ignore PFC.
fn senders(views: &[SwitchView<'_>], network: &Network, inputs: &Inputs) -> Option<Senders> {
    let cable = views.first()?.options.pfc_cable?;
    let sender = |(switch, port): &(SwitchId, DevPort)| {
        let flow = network.switch(*switch).and_then(|s| s.flow(Time::ORIGIN));
        let (pfc, maps) =
            flow.map_or((PfcConfig::default(), QosMaps::azure()), |f| (f.config.pfc, f.config.maps));
        ((switch.0, *port), line(views, *switch, *port), pfc, maps)
    };
    Some(Senders::new(inputs.places().iter().map(sender), cable))
}

/// Returns for each switch the ports that do not run at the speed of the port map, from the setups and from links. The
/// first entry of a port counts.
fn speeds(network: &NetworkSetup) -> Vec<Vec<(u16, BitRate)>> {
    let mut speeds: Vec<Vec<(u16, BitRate)>> =
        network.switches.iter().map(|switch| switch.config.port_speeds.clone()).collect();
    for link in &network.links {
        for end in link.ends {
            let number = end.switch.0 as usize;
            let port = network.switches.get(number).and_then(|s| s.ports.front(end.port));
            if let (Some(rate), Some(port), Some(of)) = (link.rate, port, speeds.get_mut(number)) {
                of.push((port.dev_port.number(), rate));
            }
        }
    }
    // The last entry of a setup counts, and a link's rate replaces it.
    speeds.iter_mut().for_each(|of| of.reverse());
    speeds
}
