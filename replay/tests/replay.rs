//! Replays of captures in memory through a small program: results, captures, and calls of the caller's hooks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use serde_json::Value;
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_build::*;
use sluice_exec::cover::Points;
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_fabric::network::{
    End, Entered, LinkSetup, NetworkSetup, Observer, Placed, SwitchId, SwitchSetup,
};
use sluice_pcaps::capture::write::{TraceFormat, TraceWriter};
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::replay::Schedule;
use sluice_replay::{
    Attached, BoxError, Captures, Checks, Error, ExecutorRequest, Input, Inputs, NetworkAttached,
    NetworkReplay, Options, Outcome, Passes, Progress, Replay, RowSink, Run, Status, TimelineRequest,
    interpreter, traced_interpreter,
};
use sluice_switch::TimelineRow;
use sluice_switch::property::general_and;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// In the place of the MAC addresses: the port of each of three hops.
#[derive(Header)]
#[allow(dead_code, reason = "the ports after the first are moved, not read")]
struct Path {
    /// This hop
    hop: Bits<32>,
    /// The next hop
    second: Bits<32>,
    /// The last hop
    third: Bits<32>,
    /// EtherType of the payload
    ether_type: Bits<16>,
}

#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let path = ig.header::<Path>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let start = ig.state().extract(path);
    ig.start(start);
    let unwanted = ig.drop_label("The packet asks to be dropped");
    ig.control(|c| {
        if path.hop == 0xffff {
            drop(unwanted);
        } else {
            tm.ucast_egress_port = path.hop.slice::<8, 0, 9>();
            path.hop = path.second;
            path.second = path.third;
        }
    });
    ig.deparser().emit(path);
}

fn switch(name: &str) -> SwitchSetup {
    static PLACED: OnceLock<Arc<Placed>> = OnceLock::new();
    let placed = PLACED.get_or_init(|| {
        let b = Builder::new("hops", "Sends a packet where the packet says, hop by hop");
        ingress(&b.ingress());
        let program = b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0]));
        Placed::new(program, &ChipSpec::tofino2()).unwrap()
    });
    SwitchSetup::new(name, placed).unwrap()
}

fn engine(request: &ExecutorRequest<'_>) -> Engine {
    let (placed, control) = (&request.switch.placed, &request.switch.control);
    let (program, placement) = (&placed.program, &placed.placement);
    match request.points {
        None => Engine::new(program, placement, control).unwrap(),
        Some(points) => Engine::covered(program, placement, control, points.clone(), &[]).unwrap(),
    }
}

/// Returns a capture of frames of 100 bytes: their times in ns, and the ports of their hops.
fn capture(frames: &[(u64, [u32; 3])]) -> &'static [u8] {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, TraceFormat::Pcapng, CaptureTime::EPOCH).unwrap();
    for (ns, hops) in frames {
        let mut frame = [0; 100];
        for (place, hop) in frame.chunks_exact_mut(4).zip(hops) {
            place.copy_from_slice(&hop.to_be_bytes());
        }
        writer.write(CaptureTime::from_ns(*ns), &frame).unwrap();
    }
    writer.finish().unwrap();
    bytes.leak()
}

/// Returns 300 frames, of which every tenth asks to be dropped.
fn frames(port: u32) -> &'static [u8] {
    let hops = |n: u64| if n % 10 == 9 { [0xffff, 0, 0] } else { [port, 0, 0] };
    capture(&(0..300).map(|n| (n * 50, hops(n))).collect::<Vec<_>>())
}

/// A file in memory.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl File {
    fn writer(&self) -> Option<Box<dyn Write + Send>> {
        Some(Box::new(self.clone()))
    }

    fn frames(&self) -> usize {
        let bytes = self.0.lock().unwrap();
        let mut reader = CaptureReader::from_bytes(&bytes, "file").unwrap();
        std::iter::from_fn(|| reader.next_frame().unwrap().map(|_| ())).count()
    }
}

/// Everything that a replay needs in addition to the inputs.
struct Bench {
    switch: SwitchSetup,
    checks: Checks,
    options: Options,
    stop: AtomicBool,
}

impl Bench {
    fn new() -> Bench {
        let (checks, options, stop) = (Checks::default(), Options::default(), AtomicBool::new(false));
        Bench { switch: switch("one"), checks, options, stop }
    }

    fn replay<'r>(&'r self, inputs: &'r Inputs) -> Replay<'r> {
        let Bench { switch, checks, options, stop } = self;
        Replay { switch, changes: &[], checks, inputs, options, stop }
    }

    fn run<'r>(&'r self, inputs: &'r Inputs, attached: Attached<'_>) -> Result<Outcome<'r>, Error> {
        self.replay(inputs).prepare(&mut |request| Ok(Box::new(engine(&request))))?.run(attached)
    }

    fn port(&self, front: u16) -> sluice_asic::port::DevPort {
        self.switch.front(front).unwrap()
    }

    /// Returns an input of [`frames`] from front-panel port 0 to port 1.
    fn inputs(&self) -> Inputs {
        let frames = frames(self.port(1).number().into());
        Inputs::from(vec![Input::from_bytes(self.port(0), "frames", frames).with_port_name("0")])
    }
}

#[test]
fn results_are_values_and_captures_go_into_writers() {
    let bench = Bench::new();
    let (sent, lost, inputs) = (File::default(), File::default(), bench.inputs());
    let captures = Captures { sent: sent.writer(), lost: lost.writer() };
    let outcome = bench.run(&inputs, Attached { captures, ..Attached::default() }).unwrap();
    let t = &outcome.totals;
    assert_eq!((t.received, t.sent, t.dropped, outcome.sent), (300, 270, 30, 300));
    assert!(outcome.is_conserved && !outcome.interrupted && outcome.trace.is_none());
    assert_eq!((sent.frames(), lost.frames()), (270, 30));
    assert_eq!((outcome.latency.count(), outcome.loads[0].packets), (270, 300));
    assert!(outcome.latency.min() <= outcome.latency.max() && outcome.latency.min() > Some(100_000));
    let summary = outcome.summary();
    assert_eq!(summary["drops"]["unwanted"], 30);
    assert_eq!(
        (&summary["inputs"][0]["file"], &summary["inputs"][0]["port"]),
        (&"frames".into(), &"0".into())
    );
    assert_eq!(
        (outcome.state(), &summary["obey_pfc"], &summary["control_plane"]),
        (None, &Value::Null, &Value::Null)
    );
}

#[test]
fn a_traced_run_has_the_same_results_and_pieces_with_times() {
    let mut bench = Bench::new();
    let inputs = bench.inputs();
    let plain = bench.run(&inputs, Attached::default()).unwrap().summary();
    bench.options.trace = true;
    let traced = |request: ExecutorRequest<'_>| {
        let tracer = request.tracer.unwrap_or_default();
        Ok(Box::new(traced_interpreter(request.switch, tracer)) as Box<dyn Executor>)
    };
    let outcome = bench.replay(&inputs).prepare(&mut { traced }).unwrap().run(Attached::default()).unwrap();
    assert_eq!(outcome.summary(), plain);
    let trace = outcome.trace.unwrap();
    let pieces: Vec<(Time, &str)> = trace.pieces().collect();
    assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), trace.text());
    let sent = pieces.iter().filter(|(_, text)| text.contains("sent by port")).count();
    assert!(sent == 270 && pieces.iter().all(|(_, text)| text.ends_with('\n')), "{sent}");
}

#[test]
fn properties_are_checked_and_coverage_is_counted() {
    let mut bench = Bench::new();
    let inputs = bench.inputs();
    let placed = Arc::clone(&bench.switch.placed);
    bench.checks.points = Some(Points::of(&placed.program, &placed.placement.chip));
    bench.checks.properties = Some(Box::new(|| general_and(Vec::new())));
    let outcome = bench.run(&inputs, Attached::default()).unwrap();
    assert_eq!(outcome.violations, []);
    let (points, coverage) = (bench.checks.points.as_ref().unwrap(), outcome.coverage.unwrap());
    assert_eq!(coverage.overall(points).percent(), 100);
}

/// Counts calls, and stops the run at one of them.
struct Counter<'s> {
    began: usize,
    ticks: usize,
    ended: usize,
    stop: Option<(usize, &'s AtomicBool)>,
}

impl Progress for Counter<'_> {
    fn begin(&mut self, run: &Run) {
        self.began += 1;
        assert!(run.bytes.is_some_and(|bytes| bytes > 30_000));
    }

    fn tick(&mut self, status: &Status<'_>) {
        self.ticks += 1;
        let read = (status.read)();
        assert!(status.sent == 64 * self.ticks as u64 && read.turns == 0 && read.bytes > 0);
        if let Some((at, stop)) = self.stop
            && self.ticks == at
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn end(&mut self) {
        self.ended += 1;
    }
}

#[test]
fn a_caller_sees_progress_and_may_stop_a_run() {
    let bench = Bench::new();
    let inputs = bench.inputs();
    let mut counter = Counter { began: 0, ticks: 0, ended: 0, stop: None };
    bench.run(&inputs, Attached { progress: Some(&mut counter), ..Attached::default() }).unwrap();
    assert_eq!((counter.began, counter.ticks, counter.ended), (1, 4, 1));
    let mut counter = Counter { began: 0, ticks: 0, ended: 0, stop: Some((2, &bench.stop)) };
    let outcome = bench.run(&inputs, Attached { progress: Some(&mut counter), ..Attached::default() });
    let outcome = outcome.unwrap();
    assert!(outcome.interrupted && outcome.is_conserved);
    // A run that reads ahead ends with the frames of a chunk, so that its reports are correct.
    assert_eq!(outcome.inputs[0].report.packets, outcome.totals.received);
    let search = bench.replay(&inputs).find_rate(None, &mut |r| Ok(Box::new(engine(&r))), &mut ());
    assert!(matches!(search, Err(Error::Interrupted)));
}

#[test]
fn a_rate_search_finds_the_line_of_the_slower_port() {
    let mut bench = Bench::new();
    // Half of the line rate fits the port that the packets are sent on.
    let (from, to) = (bench.port(0).number(), bench.port(1).number());
    bench.switch.config.port_speeds = vec![(from, BitRate::from_gbps(100)), (to, BitRate::from_gbps(50))];
    let inputs = bench.inputs();
    bench.options.schedule = Schedule { turns: 40, ..Schedule::default() };
    bench.switch.config.queues.limit = sluice_asic::units::Cells(16);
    let found = bench.replay(&inputs).find_rate(None, &mut |r| Ok(Box::new(engine(&r))), &mut ()).unwrap();
    // The program drops a tenth of the packets, which is not loss.
    let gbps = found.rate() as f64 / 1e9;
    assert!((54.0..58.0).contains(&gbps) && found.policy == 30 * 40, "{gbps} {}", found.policy);
    assert_eq!((found.ports, found.line), (1, 100_000_000_000));
    assert!(found.trials.len() > 5 && found.failed > Some(found.rate()));
}

#[test]
fn inputs_that_are_damaged_cut_or_read_once_are_errors() {
    let mut bench = Bench::new();
    let whole = frames(bench.port(1).number().into());
    let port = bench.port(0);
    let cut = Inputs::from(vec![Input::from_bytes(port, "cut", &whole[..whole.len() - 50])]);
    let warnings = bench.run(&cut, Attached::default()).unwrap().warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("cut: ends inside record 300"), "{warnings:?}");
    bench.options.strict = true;
    let error = bench.run(&cut, Attached::default()).err().unwrap();
    assert!(matches!(&error, Error::CutOff(cut) if cut.tail.record == 300), "{error}");

    let mut damaged = whole.to_vec();
    // Overwrites the length of a block in the middle.
    damaged[whole.len() / 2..].fill(0xee);
    let damaged = Inputs::from(vec![Input::from_bytes(port, "damaged", damaged.leak())]);
    let error = bench.run(&damaged, Attached::default()).err().unwrap();
    let Error::Damaged { replayed: Some(fates), .. } = &error else { panic!("{error}") };
    assert!(fates.received > 100 && fates.received == fates.sent + fates.dropped, "{error}");

    let once = Inputs::from(vec![Input::from_read(port, "pipe", whole)]);
    let error =
        bench.replay(&once).find_rate(None, &mut |r| Ok(Box::new(engine(&r))), &mut ()).err().unwrap();
    assert!(matches!(&error, Error::ReadOnce { input, passes: Passes::RateSearch } if input == "pipe"));
    assert_eq!(bench.run(&once, Attached::default()).unwrap().totals.received, 300);
    let error = bench.run(&once, Attached::default()).err().unwrap();
    assert!(matches!(&error, Error::Capture(_)) && error.to_string().contains("read already"), "{error}");
    bench.options.schedule.turns = 2;
    let error = bench.run(&once, Attached::default()).err().unwrap();
    assert!(matches!(error, Error::ReadOnce { passes: Passes::Turns, .. }));

    let empty = Inputs::from(vec![Input::from_bytes(port, "none", capture(&[]))]);
    let error =
        bench.replay(&empty).find_rate(None, &mut |r| Ok(Box::new(engine(&r))), &mut ()).err().unwrap();
    assert!(matches!(error, Error::NoPackets));
}

/// Records switch, time and cells of rows, up to a number of rows.
struct Rows(Vec<(SwitchId, Time, u32)>, usize);

impl RowSink for Rows {
    fn row(&mut self, switch: SwitchId, row: &TimelineRow<'_>) -> Result<(), BoxError> {
        if self.0.len() == self.1 {
            return Err("no room for more rows".into());
        }
        self.0.push((switch, row.time, row.level.cells));
        Ok(())
    }
}

#[test]
fn a_timeline_comes_row_by_row_and_its_sink_may_fail() {
    let mut bench = Bench::new();
    // A slow line, so that packets wait.
    bench.switch.config.port_speeds = vec![(bench.port(1).number(), BitRate::from_gbps(10))];
    let inputs = bench.inputs();
    let mut rows = Rows(Vec::new(), usize::MAX);
    let timeline = Some(TimelineRequest { every: None, rows: &mut rows });
    bench.run(&inputs, Attached { timeline, ..Attached::default() }).unwrap();
    assert!(rows.0.len() > 270 && rows.0.is_sorted_by_key(|(_, time, _)| *time));
    assert_eq!(rows.0.last().map(|(_, _, cells)| *cells), Some(0));
    let mut rows = Rows(Vec::new(), 100);
    let timeline = Some(TimelineRequest { every: Some(Duration::from_nanos(10)), rows: &mut rows });
    let error = bench.run(&inputs, Attached { timeline, ..Attached::default() }).err().unwrap();
    assert!(matches!(&error, Error::Rows(e) if e.to_string() == "no room for more rows"), "{error}");
    assert!(rows.0.iter().all(|(_, time, _)| time.as_ps() % 10_000 == 0));
}

/// Counts frames that arrive over links.
#[derive(Default)]
struct OverLinks(usize);

impl Observer for OverLinks {
    fn entered(&mut self, _: SwitchId, frame: &Entered, _: &[u8]) {
        self.0 += usize::from(frame.link.is_some());
    }
}

#[test]
fn a_network_has_results_of_its_switches_and_of_the_whole() {
    let mut network = NetworkSetup::default();
    let [a, b] = ["a", "b"].map(|name| network.switch(switch(name)));
    network.link(LinkSetup::new(End::new(a, 1), End::new(b, 1), Duration::from_nanos(500)));
    let port = |front| network.switches[0].front(front).unwrap();
    let hops = |n: u64| if n % 10 == 9 { 0xffff } else { u32::from(port(2).number()) };
    let frames: Vec<(u64, [u32; 3])> =
        (0..200).map(|n| (n * 50, [port(1).number().into(), hops(n), 0])).collect();
    let inputs = Inputs::from(vec![Input::from_bytes(port(0), "frames", capture(&frames)).at(a)]);
    let (options, stop) = (Options::default(), AtomicBool::new(false));
    let replay = |threads| NetworkReplay {
        network: &network,
        changes: &[],
        checks: &[],
        inputs: &inputs,
        options: &options,
        threads,
        stop: &stop,
    };
    let mut summaries = Vec::new();
    for threads in [1, 2] {
        let files: Vec<File> = (0..4).map(|_| File::default()).collect();
        let captures =
            files.chunks(2).map(|f| Captures { sent: f[0].writer(), lost: f[1].writer() }).collect();
        let (mut seen, mut rows) = ([OverLinks(0), OverLinks(0)], Rows(Vec::new(), usize::MAX));
        let attached = NetworkAttached {
            captures,
            observers: seen.iter_mut().map(|o| o as &mut (dyn Observer + Send)).collect(),
            timeline: Some(TimelineRequest { every: None, rows: &mut rows }),
            ..NetworkAttached::default()
        };
        let prepared = replay(threads).prepare(&mut |r| Ok(Box::new(interpreter(r.switch)))).unwrap();
        let outcome = prepared.run(attached).unwrap();
        assert!(outcome.is_conserved() && !outcome.has_violations());
        assert_eq!(outcome.name_of(b), "b");
        assert_eq!((outcome.switches[0].totals.sent, outcome.switches[1].totals.sent), (200, 180));
        assert_eq!((outcome.latency.count(), outcome.network.totals().delivered), (180, 180));
        assert_eq!(files.iter().map(File::frames).collect::<Vec<_>>(), [200, 0, 180, 20]);
        assert_eq!((seen[0].0, seen[1].0), (0, 200));
        assert!(rows.0.is_sorted_by_key(|(switch, time, _)| (*time, *switch)));
        assert!(rows.0.iter().any(|r| r.0 == b) && rows.0.iter().any(|r| r.0 == a));
        summaries.push(outcome.summary());
    }
    assert_eq!(summaries[0], summaries[1]);
    let found = replay(1).find_rate(None, &mut |r| Ok(Box::new(interpreter(r.switch))), &mut ()).unwrap();
    assert_eq!((found.best.map(|t| t.rate), found.policy, found.trials.len()), (Some(found.line), 20, 2));
}
