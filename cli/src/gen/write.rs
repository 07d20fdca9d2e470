//! Writes the frames of a generator into a capture: limits, the link, progress, interruption.

use super::args::{Format, OutputArgs};
use super::source::start;
use crate::console::fail::Failure;
use crate::console::interrupt::interrupt_flag;
use crate::console::invocation::{self, Out};
use crate::console::progress::{Bar, eta};
use crate::output::files::Pending;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::{TraceFormat, TraceWriter, WriteError};
use sluice_pcaps::generate::{FrameSource, Line, Pace, parse_ps};
use sluice_pcaps::wire::ethernet;
use std::fs::File;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Frames between checks of the clock and of Ctrl-C.
const LOOK_EVERY: u64 = 1 << 14;

/// Target, format and limits of a capture.
pub(super) struct Plan {
    pub(super) kind: &'static str,
    pub(super) path: PathBuf,
    pub(super) to_stdout: bool,
    pub(super) format: TraceFormat,
    pub(super) start: CaptureTime,
    /// Most frames.
    packets: Option<u64>,
    /// Time after the start from which on no frame starts, ps.
    duration: Option<u64>,
    line: Option<Line>,
}

/// Counts of the written frames.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Bytes with padding, FCS, preamble and gap.
    pub(super) wire_bytes: u64,
    /// `wire_bytes` of the last frame.
    pub(super) last_wire_bytes: u64,
    pub(super) first: Option<CaptureTime>,
    pub(super) last: Option<CaptureTime>,
    /// Timestamps that the format rounded down.
    pub(super) rounded: u64,
    /// Frames that waited for the link, and the longest wait.
    pub(super) delayed: u64,
    pub(super) most_delay: u64,
    pub(super) seconds: f64,
}

impl Plan {
    pub(super) fn new(out: &OutputArgs, kind: &'static str, packets: Option<u64>) -> Result<Plan, Failure> {
        let to_stdout = out.output.as_os_str() == "-";
        if to_stdout && !invocation::is_kept() && std::io::stdout().is_terminal() {
            let help = "redirect it, for example: sluice gen udp -o - | tshark -r -";
            return Err(Failure::with_help("stdout is a terminal, and a capture is binary", help));
        }
        // The finished file replaces an existing file of its name; it must not replace a device.
        if !to_stdout && out.output.metadata().is_ok_and(|found| !found.is_file()) {
            let text = format!("{} exists and is not a regular file", out.output.display());
            return Err(Failure::with_help(
                text,
                "choose another name, or write to stdout with -o - and redirect it",
            ));
        }
        let duration = out.duration.as_deref().map(|text| parse_ps("duration", text)).transpose();
        let line = match out.link.as_deref().map(str::parse).transpose().map_err(Failure::input)? {
            None => None,
            Some(Pace::BackToBack { bits_per_second }) => Some(Line::new(bits_per_second)),
            Some(_) => {
                return Err(Failure::with_help("--link is not a bit rate", "write it as 100G or 2.5Gbps"));
            }
        };
        Ok(Plan {
            kind,
            format: format(out, to_stdout)?,
            path: out.output.clone(),
            to_stdout,
            start: start(out)?,
            packets,
            duration: duration.map_err(Failure::input)?,
            line,
        })
    }
}

fn format(out: &OutputArgs, to_stdout: bool) -> Result<TraceFormat, Failure> {
    match out.format {
        Some(Format::Pcapng) => return Ok(TraceFormat::Pcapng),
        Some(Format::PcapngPs) => return Ok(TraceFormat::PcapngPs),
        Some(Format::Pcap) => return Ok(TraceFormat::Pcap),
        Some(Format::PcapUs) => return Ok(TraceFormat::PcapUs),
        None if to_stdout => return Ok(TraceFormat::Pcapng),
        None => {}
    }
    match out.output.extension().and_then(|extension| extension.to_str()) {
        Some("pcapng") => Ok(TraceFormat::Pcapng),
        Some("pcap" | "cap") => Ok(TraceFormat::Pcap),
        _ => {
            let text = format!("{}: the extension names no capture format", out.output.display());
            Err(Failure::with_help(
                text,
                "name it .pcapng or .pcap, or add --format pcapng|pcapng-ps|pcap|pcap-us",
            ))
        }
    }
}

/// Destination of the bytes.
enum Target {
    File(Pending, TraceWriter<File>),
    Stdout(TraceWriter<Out>),
}

impl Target {
    #[inline]
    fn write(&mut self, time: CaptureTime, frame: &[u8]) -> Result<(), Failure> {
        match self {
            Target::File(_, writer) => writer.write(time, frame),
            Target::Stdout(writer) => writer.write(time, frame),
        }
        .map_err(failure)
    }

    /// Completes the capture; a file gets its name.
    fn finish(self) -> Result<(), Failure> {
        match self {
            Target::File(file, writer) => {
                writer.finish().map_err(failure)?;
                file.finish()
            }
            Target::Stdout(writer) => writer.finish().map_err(failure).map(|_| ()),
        }
    }
}

fn failure(e: WriteError) -> Failure {
    match e {
        WriteError::Io(e) => Failure::from(e),
        e => Failure::input(e),
    }
}

/// Runs the generator to its end, a limit or Ctrl-C. The flag is true if it was interrupted.
pub(super) fn run(plan: &Plan, mut source: Box<dyn FrameSource>) -> Result<(Tally, bool), Failure> {
    let stop = interrupt_flag();
    let mut target = if plan.to_stdout {
        Target::Stdout(TraceWriter::new(Out::bytes(), plan.format, plan.start).map_err(failure)?)
    } else {
        let file = Pending::create(&plan.path)?;
        let writer = TraceWriter::new(file.handle()?, plan.format, plan.start).map_err(failure)?;
        Target::File(file, writer)
    };
    let mut progress = Progress::new(plan.packets);
    let mut line = plan.line.clone();
    let mut tally = Tally::new();
    let unit = plan.format.resolution_ps();
    let limit = plan.packets.unwrap_or(u64::MAX);
    while tally.packets < limit {
        let Some((due, frame)) = source.next_frame() else { break };
        let len = frame.len() as u32;
        let time = line.as_mut().map_or(due, |line| line.start(due, len));
        let offset = time.ps_since(plan.start).unwrap_or(u64::MAX);
        if plan.duration.is_some_and(|duration| offset >= duration) {
            break;
        }
        target.write(time, frame)?;
        tally.count(due, time, len, !offset.is_multiple_of(unit));
        if tally.packets.is_multiple_of(LOOK_EVERY) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            progress.tick(tally.packets);
        }
    }
    progress.clear();
    target.finish()?;
    tally.seconds = progress.started.elapsed().as_secs_f64();
    Ok((tally, stop.load(Ordering::Relaxed)))
}

impl Tally {
    fn new() -> Tally {
        Tally {
            packets: 0,
            bytes: 0,
            wire_bytes: 0,
            last_wire_bytes: 0,
            first: None,
            last: None,
            rounded: 0,
            delayed: 0,
            most_delay: 0,
            seconds: 0.0,
        }
    }

    #[inline]
    fn count(&mut self, due: CaptureTime, time: CaptureTime, len: u32, rounded: bool) {
        self.packets += 1;
        self.bytes += u64::from(len);
        self.last_wire_bytes = ethernet::wire_len(len);
        self.wire_bytes += self.last_wire_bytes;
        self.first.get_or_insert(time);
        self.last = Some(time);
        self.rounded += u64::from(rounded);
        if time > due {
            self.delayed += 1;
            self.most_delay = self.most_delay.max(time.ps_since(due).unwrap_or(u64::MAX));
        }
    }
}

/// Progress on a terminal; it appears after one second.
struct Progress {
    started: Instant,
    /// Frames in all, if known.
    total: Option<u64>,
    bar: Option<Bar>,
}

impl Progress {
    fn new(total: Option<u64>) -> Progress {
        Progress { started: Instant::now(), total, bar: None }
    }

    fn tick(&mut self, packets: u64) {
        let elapsed = self.started.elapsed();
        if self.bar.is_none() && elapsed.as_millis() < 1000 {
            return;
        }
        let start = || if self.total.is_some() { Bar::bounded() } else { Bar::unbounded() };
        let bar = self.bar.get_or_insert_with(start);
        let share = self.total.map(|total| packets as f64 / total.max(1) as f64);
        let rate = packets as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
        bar.show(share, format!("{packets} frames, {rate:.2} M/s{}", eta(share, elapsed)));
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}
