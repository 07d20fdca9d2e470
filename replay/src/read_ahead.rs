//! Reads ahead: a thread reads the inputs and paces their frames while the switch runs. The frames are the same as
//! without the thread.

use crate::progress::InputProgress;
use sluice_pcaps::capture::{CaptureError, CaptureFault, CaptureTime, Frame};
use sluice_pcaps::replay::{Feed, InputReport, Sending};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// A chunk is full at this number of frames or bytes. Several chunks fit the cache of one processor.
const FRAMES: usize = 256;
const BYTES: usize = 64 << 10;
/// Number of chunks that the thread may be ahead of the run.
const AHEAD: usize = 3;

/// The frames of a run, one after another.
pub(crate) enum Frames {
    /// Frames are read on demand.
    Direct(Box<Feed<'static>>),
    /// Frames are read by a thread.
    Ahead(Box<Ahead>),
}

/// The receiving end of a thread that reads.
pub(crate) struct Ahead {
    full: Receiver<Chunk>,
    spent: Sender<Chunk>,
    chunk: Chunk,
    /// Number of frames of the chunk that were returned, and of their bytes.
    given: usize,
    at: usize,
    sent: u64,
}

/// Frames in sending order, and the reader's progress and reports after them.
#[derive(Default)]
struct Chunk {
    frames: Vec<Kept>,
    bytes: Vec<u8>,
    progress: (u64, u64),
    reports: Vec<InputReport>,
    end: Option<Result<(), CaptureError>>,
}

/// A frame whose bytes are in the chunk.
#[derive(Clone, Copy)]
struct Kept {
    port: u32,
    input: u32,
    turn: u64,
    time: u64,
    delay: u64,
    captured: u32,
    orig_len: u32,
    stamp: CaptureTime,
    interface: u32,
    record: u64,
    offset: u64,
}

impl Frames {
    /// Returns the frames of a feed. If `waits` is true, a producer may still be writing, and nothing is read ahead:
    /// when the user ends the run, it must have all frames written so far. With one processor, a thread would only add
    /// cost.
    pub(crate) fn new(feed: Feed<'static>, waits: bool) -> Frames {
        match std::thread::available_parallelism() {
            Ok(processors) if processors.get() > 1 && !waits => Frames::ahead(feed),
            _ => Frames::Direct(Box::new(feed)),
        }
    }

    fn ahead(feed: Feed<'static>) -> Frames {
        let (to_run, full) = sync_channel(AHEAD);
        let (spent, emptied) = channel();
        // The thread is not joined: it ends when the receiver is dropped.
        std::thread::spawn(move || read(feed, &to_run, &emptied));
        let chunk = Chunk::default();
        Frames::Ahead(Box::new(Ahead { full, spent, chunk, given: 0, at: 0, sent: 0 }))
    }

    /// Returns the next frame to send; `None` at the end, and always after the end or an error.
    #[inline]
    pub(crate) fn next_frame(&mut self) -> Result<Option<Sending<'_>>, CaptureError> {
        match self {
            Frames::Direct(feed) => feed.next_frame(),
            Frames::Ahead(ahead) => ahead.next_frame(),
        }
    }

    /// Returns the number of frames returned so far.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        match self {
            Frames::Direct(feed) => feed.sent(),
            Frames::Ahead(ahead) => ahead.sent,
        }
    }

    /// Returns true if the run may end here, because the reports count exactly the returned frames.
    #[inline]
    pub(crate) fn may_end(&self) -> bool {
        match self {
            Frames::Direct(_) => true,
            Frames::Ahead(ahead) => ahead.given == ahead.chunk.frames.len(),
        }
    }

    /// Returns the part of the inputs that has been read.
    pub(crate) fn read(&self) -> InputProgress {
        let (turns, bytes) = match self {
            Frames::Direct(feed) => feed.progress(),
            Frames::Ahead(ahead) => ahead.chunk.progress,
        };
        InputProgress { turns, bytes }
    }

    /// Returns the reports of the inputs so far, in the order of their numbers.
    pub(crate) fn reports(&mut self) -> &[InputReport] {
        match self {
            Frames::Direct(feed) => feed.reports(),
            Frames::Ahead(ahead) => &ahead.chunk.reports,
        }
    }
}

impl Ahead {
    #[inline]
    fn next_frame(&mut self) -> Result<Option<Sending<'_>>, CaptureError> {
        while self.given == self.chunk.frames.len() {
            if !self.refill()? {
                return Ok(None);
            }
        }
        let Some(k) = self.chunk.frames.get(self.given) else { return Ok(None) };
        let end = self.at + k.captured as usize;
        let data = self.chunk.bytes.get(self.at..end).unwrap_or_default();
        (self.at, self.given, self.sent) = (end, self.given + 1, self.sent + 1);
        let Kept { orig_len, stamp: time, interface, record, offset, .. } = *k;
        Ok(Some(Sending {
            port: k.port as usize,
            input: k.input as usize,
            turn: k.turn,
            time: k.time,
            delay: k.delay,
            frame: Frame { data, orig_len, time, interface, record, offset },
        }))
    }

    /// Takes the next chunk; `false` if there is none.
    #[cold]
    fn refill(&mut self) -> Result<bool, CaptureError> {
        if let Some(end) = self.chunk.end.take() {
            // An error is returned once.
            self.chunk.end = Some(Ok(()));
            return end.map(|()| false);
        }
        let broken = || CaptureError {
            file: "inputs".into(),
            record: 0,
            offset: 0,
            fault: CaptureFault::Io(io::Error::other("the reader's thread panicked")),
        };
        let chunk = self.full.recv().map_err(|_| broken())?;
        // The reader takes no chunk back after the last one.
        let _ = self.spent.send(std::mem::replace(&mut self.chunk, chunk));
        (self.given, self.at) = (0, 0);
        Ok(true)
    }
}

/// Reads to the end of the feed, or until the receiver is dropped.
fn read(mut feed: Feed<'static>, to_run: &SyncSender<Chunk>, emptied: &Receiver<Chunk>) {
    loop {
        let mut chunk = emptied.try_recv().unwrap_or_default();
        chunk.fill(&mut feed);
        let last = chunk.end.is_some();
        if to_run.send(chunk).is_err() || last {
            return;
        }
    }
}

impl Chunk {
    /// Takes the next frames of the feed.
    fn fill(&mut self, feed: &mut Feed<'_>) {
        self.frames.clear();
        self.bytes.clear();
        self.end = None;
        while self.frames.len() < FRAMES && self.bytes.len() < BYTES {
            let s = match feed.next_frame() {
                Ok(Some(s)) => s,
                Ok(None) => {
                    self.end = Some(Ok(()));
                    break;
                }
                Err(e) => {
                    self.end = Some(Err(e));
                    break;
                }
            };
            let Frame { data, orig_len, time: stamp, interface, record, offset } = s.frame;
            self.bytes.extend_from_slice(data);
            let (port, input, captured) = (s.port as u32, s.input as u32, data.len() as u32);
            let Sending { turn, time, delay, .. } = s;
            let kept =
                Kept { port, input, turn, time, delay, captured, orig_len, stamp, interface, record, offset };
            self.frames.push(kept);
        }
        self.progress = feed.progress();
        self.reports.clear();
        self.reports.extend_from_slice(feed.reports());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::capture::CaptureReader;
    use sluice_pcaps::replay::{Pace, Port, Schedule};
    use sluice_pcaps::samples;

    /// Returns three turns of the sample of `l3-ecmp`, without its last `cut` bytes, into two ports.
    fn feed(cut: usize, pace: Pace) -> Feed<'static> {
        let (name, bytes) = samples::of("l3-ecmp");
        let ports = vec![Port { inputs: vec![0], line: 0 }, Port { inputs: vec![1], line: 40_000_000_000 }];
        let schedule = Schedule { pace, turns: 3, limit: 2_000, ..Schedule::default() };
        let open = move |_| CaptureReader::from_bytes(&bytes[..bytes.len() - cut], name);
        Feed::new(ports, schedule, Box::new(open)).unwrap()
    }

    /// Returns every frame and the reports, as text.
    fn all(mut frames: Frames) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            match frames.next_frame() {
                Ok(Some(s)) => seen.push(format!("{s:?}")),
                Ok(None) => break,
                Err(e) => {
                    seen.push(format!("{e:?}"));
                    assert!(frames.next_frame().unwrap().is_none());
                    break;
                }
            }
        }
        assert!(frames.next_frame().unwrap().is_none() && frames.may_end());
        seen.push(format!("{} {:?} {:?}", frames.sent(), frames.read(), frames.reports()));
        seen
    }

    #[test]
    fn a_thread_reads_the_same_frames() {
        for pace in [Pace::Original, Pace::Bits(1_000_000_000)] {
            for cut in [0, 100] {
                let direct = all(Frames::Direct(Box::new(feed(cut, pace))));
                assert_eq!(direct.len(), 2_001);
                assert_eq!(all(Frames::ahead(feed(cut, pace))), direct);
            }
        }
    }

    #[test]
    fn damage_comes_behind_the_frames_before_it() {
        let (name, bytes) = samples::of("l3-ecmp");
        let mut damaged = bytes.to_vec();
        // Overwrites the length of the first record after the middle with a value that is far too large.
        let mut reader = CaptureReader::from_bytes(bytes, name).unwrap();
        let at = loop {
            let frame = reader.next_frame().unwrap().unwrap();
            if frame.offset as usize > bytes.len() / 2 {
                break frame.offset as usize;
            }
        };
        damaged[at + 4..at + 16].fill(0xff);
        let damaged: &'static [u8] = damaged.leak();
        let feed = || {
            let port = Port { inputs: vec![0], line: 0 };
            let open = move |_| CaptureReader::from_bytes(damaged, name);
            Feed::new(vec![port], Schedule::default(), Box::new(open)).unwrap()
        };
        let direct = all(Frames::Direct(Box::new(feed())));
        assert!(direct.len() > 300 && direct[direct.len() - 2].contains("CaptureError"));
        assert_eq!(all(Frames::ahead(feed())), direct);
    }

    #[test]
    fn frames_that_nobody_wants_end_the_thread() {
        let mut frames = Frames::ahead(feed(0, Pace::Original));
        assert!(frames.next_frame().unwrap().is_some() && !frames.may_end());
    }
}
