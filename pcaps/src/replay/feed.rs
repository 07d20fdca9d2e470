//! [`Feed`]: frames of a run in the order in which they are sent, over all ports and turns.

use super::clock::{Clock, Pace, Slot};
use super::offload::Offload;
use super::stamps::Stamps;
use crate::capture::{
    CaptureError, CaptureFault, CaptureReader, CaptureTime, Frame, Oddities, TruncatedTail,
};
use crate::merge::Merge;

/// Latest time of a frame, in ps: half of the range, so that a device may add to it.
const LONGEST_RUN: u64 = u64::MAX / 2;

/// A gap of at least this many ps is shortened by whole multiples of it: 2^48 ns, 78 hours, after which the timestamps of
/// the chip repeat. So every timestamp that a program sees is that of the whole gap.
const CHIP_CLOCK: u64 = 1_000 << 48;
/// Least length of a shortened gap, in ps: a day, in which everything ends that a packet starts in a switch.
const LEAST_GAP: u64 = 86_400 * 1_000_000_000_000;

/// Speed and length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Speed.
    pub pace: Pace,
    /// Number of times that the captures are sent; 0: without end.
    pub turns: u64,
    /// Most frames over all ports.
    pub limit: u64,
    /// Last start of a frame, in ps since the first frame.
    pub duration: u64,
}

impl Default for Schedule {
    /// Returns the captures once, as captured.
    fn default() -> Self {
        Self { pace: Pace::Original, turns: 1, limit: u64::MAX, duration: u64::MAX }
    }
}

/// A port that captures go into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The captures, by their number among all inputs.
    pub inputs: Vec<usize>,
    /// Line rate in bit/s, which delays frames that are too close together; 0 if frames take no time.
    pub line: u64,
}

/// A frame to send now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending<'f> {
    /// Index into the ports.
    pub port: usize,
    /// Number of the capture among all inputs.
    pub input: usize,
    /// Turn of the captures, from 0.
    pub turn: u64,
    /// First bit, in ps since the beginning of the run.
    pub time: u64,
    /// Delay after the time that the pace requested, because the line was not free; in ps.
    pub delay: u64,
    /// The frame.
    pub frame: Frame<'f>,
}

/// Report on one input; irregularities are those of the first turn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InputReport {
    /// Frames sent.
    pub packets: u64,
    /// Place at which the capture was cut.
    pub truncated: Option<TruncatedTail>,
    /// Irregularities of its records.
    pub oddities: Oddities,
    /// Gaps before its frames that the run shortens, in all turns.
    pub gaps: u64,
    /// Its frames that a NIC's offload made.
    pub offload: Offload,
}

/// Captures and clock of one port.
struct Lane<'a> {
    port: Port,
    merge: Merge<'a>,
    clock: Clock,
    turn: u64,
    /// Send time of the next frame; `None` at the end of the captures.
    next: Option<Slot>,
}

impl Lane<'_> {
    /// Returns the error that the next frame would be sent too late.
    #[cold]
    fn beyond_run(&mut self, time: u64) -> Result<CaptureError, CaptureError> {
        let (found, limit) = (time / 1_000_000_000_000, LONGEST_RUN / 1_000_000_000_000);
        let fault = CaptureFault::BeyondRun { found, limit };
        let input = self.merge.peek()?.map_or(0, |(_, input)| input);
        let reader = self.merge.inputs().get(input);
        let (file, frame) = reader.map_or(("", None), |r| (r.name(), r.frame()));
        let (record, offset) = frame.map_or((0, 0), |f| (f.record, f.offset));
        Ok(CaptureError { file: file.into(), record, offset, fault })
    }
}

/// Opens input number `n` from its beginning, in whatever thread reads.
pub type Opener<'a> = Box<dyn FnMut(usize) -> Result<CaptureReader<'a>, CaptureError> + Send + 'a>;

/// Sends captures: a lending iterator in the memory of their readers.
///
/// Frames are in order of sending time, then of port. The frames of a port are in the order of its captures, merged by
/// timestamp. Time zero is the earliest first timestamp of all inputs. With a pace that follows timestamps, all ports
/// start a turn together, when the last frame of the previous turn has left its line. At a rate, each port starts its
/// turns independently and without a pause.
///
/// Gaps of any length are taken: one of more than 102 hours takes 24 to 102 hours, and [`Feed::stamps`] has the rest.
///
/// The first error of a capture is final: earlier frames have been returned, and no frame follows.
pub struct Feed<'a> {
    open: Opener<'a>,
    lanes: Vec<Lane<'a>>,
    schedule: Schedule,
    origin: CaptureTime,
    stamps: Stamps,
    /// A timestamp and its time in ps; later frames of the turn follow it. At first the origin and 0.
    begin: (CaptureTime, u64),
    /// Last start of a frame, in ps; earlier than the schedule's by the parts of gaps that are left out.
    until: u64,
    /// Time of the last frame.
    last: u64,
    sent: u64,
    /// The lane whose frame was given last.
    current: Option<usize>,
    reports: Vec<InputReport>,
    ended: bool,
}

impl<'a> Feed<'a> {
    /// Opens all inputs and looks at their first timestamps.
    pub fn new(ports: Vec<Port>, schedule: Schedule, mut open: Opener<'a>) -> Result<Self, CaptureError> {
        let inputs = ports.iter().flat_map(|port| &port.inputs).max().map_or(0, |most| most + 1);
        let mut lanes = Vec::with_capacity(ports.len());
        let mut origin: Option<CaptureTime> = None;
        for port in ports {
            let mut merge = merge_of(&port, &mut open)?;
            if let Some(first) = merge.next_time()? {
                origin = Some(origin.map_or(first, |earliest| earliest.min(first)));
            }
            let clock = Clock::new(schedule.pace, port.line);
            lanes.push(Lane { port, merge, clock, turn: 0, next: None });
        }
        let mut feed = Self {
            open,
            lanes,
            schedule,
            origin: origin.unwrap_or_default(),
            stamps: Stamps::new(origin.unwrap_or_default()),
            begin: (origin.unwrap_or_default(), 0),
            until: schedule.duration,
            last: 0,
            sent: 0,
            current: None,
            reports: vec![InputReport::default(); inputs],
            ended: schedule.limit == 0,
        };
        for lane in 0..feed.lanes.len() {
            feed.prepare(lane)?;
        }
        Ok(feed)
    }

    /// Returns the earliest first timestamp of all inputs: time zero.
    pub fn origin(&self) -> CaptureTime {
        self.origin
    }

    /// Returns the timestamps of the run's times.
    pub fn stamps(&self) -> Stamps {
        self.stamps.clone()
    }

    /// Returns the next frame to send; `None` at the end, and in every call after the end or after an error.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Sending<'_>>, CaptureError> {
        if self.ended {
            return Ok(None);
        }
        match self.choose() {
            Ok(Some(lane)) => Ok(self.give(lane)),
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(error) => {
                self.ended = true;
                Err(error)
            }
        }
    }

    /// Returns the number of frames so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the bytes read from the sources in the current turn, and the number of finished turns, for a progress
    /// display.
    pub fn progress(&self) -> (u64, u64) {
        let readers = self.lanes.iter().flat_map(|lane| lane.merge.inputs());
        (self.lanes.iter().map(|l| l.turn).min().unwrap_or(0), readers.map(CaptureReader::source_bytes).sum())
    }

    /// Returns the reports on the inputs so far, in the order of their numbers.
    pub fn reports(&mut self) -> &[InputReport] {
        for lane in &self.lanes {
            note(&mut self.reports, lane);
        }
        &self.reports
    }

    /// Returns the lane of the next frame, if the frame is within the schedule.
    #[inline]
    fn choose(&mut self) -> Result<Option<usize>, CaptureError> {
        if self.sent >= self.schedule.limit {
            return Ok(None);
        }
        if let Some(last) = self.current.take() {
            self.prepare(last)?;
        }
        let mut first = self.first();
        if first.is_none() && self.next_turn()? {
            first = self.first();
        }
        if let Some((time, _)) = first
            && time.saturating_sub(self.last) >= CHIP_CLOCK
            && self.schedule.pace.follows_stamps()
        {
            self.shorten()?;
            first = self.first();
        }
        let Some((time, lane)) = first.filter(|(time, _)| *time <= self.until) else { return Ok(None) };
        if time > LONGEST_RUN {
            return Err(self.lanes[lane].beyond_run(time)?);
        }
        Ok(Some(lane))
    }

    /// Shortens the gap before the next frame by a multiple of `CHIP_CLOCK`.
    #[cold]
    fn shorten(&mut self) -> Result<(), CaptureError> {
        let mut first: Option<(CaptureTime, usize)> = None;
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if lane.next.is_some()
                && let Some((stamp, _)) = lane.merge.peek()?
                && first.is_none_or(|(earliest, _)| stamp < earliest)
            {
                first = Some((stamp, index));
            }
        }
        let Some((stamp, lane)) = first else { return Ok(()) };
        let captured = stamp.as_ps().saturating_sub(self.begin.0.as_ps());
        let due = u128::from(self.begin.1) + self.schedule.pace.of_captured(captured);
        let gap = due.saturating_sub(self.last.into());
        let mut kept = (gap % u128::from(CHIP_CLOCK)) as u64;
        if kept < LEAST_GAP {
            kept += CHIP_CLOCK;
        }
        let cut = gap.saturating_sub(kept.into());
        if cut == 0 {
            return Ok(());
        }
        if self.until < u64::MAX {
            self.until = u64::try_from(u128::from(self.until).saturating_sub(cut)).unwrap_or(u64::MAX);
        }
        let time = self.last.saturating_add(kept);
        let stamp_of_gap = CaptureTime::from_ps(self.stamps.at(self.last).as_ps().saturating_add(gap));
        self.stamps.jump(time, stamp_of_gap);
        let merge = &mut self.lanes[lane].merge;
        let input = merge.peek()?.map(|(_, input)| input);
        if let Some(input) = input.and_then(|input| self.lanes[lane].port.inputs.get(input)) {
            self.reports[*input].gaps += 1;
        }
        self.follow(stamp, time)
    }

    /// Counts the times of frames from a timestamp at `time` on.
    fn follow(&mut self, stamp: CaptureTime, time: u64) -> Result<(), CaptureError> {
        self.begin = (stamp, time);
        for lane in &mut self.lanes {
            lane.clock.restart(time);
        }
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].next.is_some() {
                self.prepare(lane)?;
            }
        }
        Ok(())
    }

    /// Returns the lane with the earliest frame, and its time.
    #[inline]
    fn first(&self) -> Option<(u64, usize)> {
        if let [lane] = self.lanes.as_slice() {
            return lane.next.map(|slot| (slot.time, 0));
        }
        let mut best: Option<(u64, usize)> = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            if let Some(slot) = lane.next
                && best.is_none_or(|(earliest, _)| slot.time < earliest)
            {
                best = Some((slot.time, index));
            }
        }
        best
    }

    #[inline]
    fn give(&mut self, index: usize) -> Option<Sending<'_>> {
        let lane = &mut self.lanes[index];
        let slot = lane.next.take()?;
        // The merge has been at this frame since its timestamp was read, so no error can occur here.
        let (input, frame) = lane.merge.next_frame().ok().flatten()?;
        lane.clock.sent(slot, frame.orig_len);
        let input = lane.port.inputs[input];
        self.sent += 1;
        let report = &mut self.reports[input];
        report.packets += 1;
        if lane.turn == 0 {
            report.offload.note(&frame);
        }
        self.current = Some(index);
        let Slot { time, delay } = slot;
        self.last = time;
        Some(Sending { port: index, input, turn: lane.turn, time, delay, frame })
    }

    /// Computes the time of a lane's next frame. At a rate, the lane starts its next turn on its own.
    #[inline]
    fn prepare(&mut self, index: usize) -> Result<(), CaptureError> {
        let mut stamp = self.lanes[index].merge.next_time()?;
        if stamp.is_none() && !self.schedule.pace.follows_stamps() && self.more_turns(index) {
            self.reopen(index)?;
            stamp = self.lanes[index].merge.next_time()?;
        }
        let lane = &mut self.lanes[index];
        let Some(stamp) = stamp else {
            lane.next = None;
            return Ok(());
        };
        // A timestamp before the first one of its capture, or before that after a gap, counts as the first.
        let later = if stamp < self.begin.0 { 0 } else { u64::MAX };
        lane.next = Some(lane.clock.slot(stamp.ps_since(self.begin.0).unwrap_or(later)));
        Ok(())
    }

    /// Starts the next turn of all ports together; returns false after the last one.
    #[cold]
    fn next_turn(&mut self) -> Result<bool, CaptureError> {
        let again = self.schedule.pace.follows_stamps() && (0..self.lanes.len()).any(|l| self.more_turns(l));
        // Captures without a frame would be opened for ever.
        if !again || self.sent == 0 {
            return Ok(false);
        }
        let base = self.lanes.iter().map(|lane| lane.clock.end()).max().unwrap_or(0);
        self.begin = (self.origin, base);
        for lane in 0..self.lanes.len() {
            self.reopen(lane)?;
            self.lanes[lane].clock.restart(base);
            self.prepare(lane)?;
        }
        Ok(true)
    }

    fn more_turns(&self, lane: usize) -> bool {
        let done = self.lanes[lane].turn + 1;
        self.schedule.turns == 0 || done < self.schedule.turns
    }

    #[cold]
    fn reopen(&mut self, index: usize) -> Result<(), CaptureError> {
        note(&mut self.reports, &self.lanes[index]);
        let lane = &mut self.lanes[index];
        lane.merge = merge_of(&lane.port, &mut self.open)?;
        lane.turn += 1;
        Ok(())
    }
}

fn merge_of<'a>(port: &Port, open: &mut Opener<'a>) -> Result<Merge<'a>, CaptureError> {
    Ok(Merge::new(port.inputs.iter().map(|input| open(*input)).collect::<Result<_, _>>()?))
}

/// Copies the findings of a lane's first turn to the reports.
fn note(reports: &mut [InputReport], lane: &Lane<'_>) {
    if lane.turn > 0 {
        return;
    }
    for (input, reader) in lane.port.inputs.iter().zip(lane.merge.inputs()) {
        reports[*input].truncated = reader.truncated();
        reports[*input].oddities = *reader.oddities();
    }
}
