//! Who writes the capture of what left: the run itself, or a thread that gets packets in parcels and puts them in order,
//! into blocks and into the file. The file is the same with and without it. What may not live here: what it looks like.

use super::order::Waiting;
use super::output::PortCounts;
use super::sent::Sent;
use crate::fail::Failure;
use crate::files::Pending;
use sluice_asic::units::Time;
use sluice_pcaps::capture::write::WriteError;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Bytes with which a parcel is full, and packets: some of them fit a processor's own cache.
const BYTES: usize = 64 << 10;
const PACKETS: usize = 512;
/// Parcels that the thread may be behind.
const BEHIND: usize = 4;

/// Writes what left.
pub(super) enum Scribe {
    /// The run itself: there is one processor, and a thread would only cost.
    Direct(Box<Sent>),
    /// A thread.
    Behind(Box<Behind>),
}

/// The sending end of a thread that writes.
pub(super) struct Behind {
    parcel: Parcel,
    /// `None` once ended.
    parcels: Option<SyncSender<Parcel>>,
    /// Memory to use again.
    spent: Receiver<Parcel>,
    thread: Option<JoinHandle<Result<Sent, WriteError>>>,
}

/// Packets in the order in which they left the switch.
#[derive(Default)]
struct Parcel {
    packets: Vec<(u16, Waiting)>,
    bytes: Vec<u8>,
    /// Before the packet of this number everything up to that time is written.
    marks: Vec<(usize, Time)>,
}

impl Scribe {
    /// Has a thread write if the process may run on more than one processor.
    pub(super) fn new(sent: Sent) -> Scribe {
        match std::thread::available_parallelism() {
            Ok(processors) if processors.get() > 1 => Scribe::behind(sent),
            _ => Scribe::Direct(Box::new(sent)),
        }
    }

    fn behind(mut sent: Sent) -> Scribe {
        let (parcels, take) = sync_channel::<Parcel>(BEHIND);
        let (give_back, spent) = channel();
        let thread = std::thread::spawn(move || {
            for mut parcel in take {
                parcel.unpack(&mut sent)?;
                // Nobody takes it back once the run has ended.
                let _ = give_back.send(parcel);
            }
            Ok(sent)
        });
        let (parcel, parcels, thread) = (Parcel::default(), Some(parcels), Some(thread));
        Scribe::Behind(Box::new(Behind { parcel, parcels, spent, thread }))
    }

    /// Takes a packet of a dev_port, whose bytes are the pieces.
    #[inline]
    pub(super) fn add(&mut self, port: u16, packet: Waiting, pieces: [&[u8]; 3]) -> Result<(), WriteError> {
        match self {
            Scribe::Direct(sent) => sent.add(port, packet, pieces),
            Scribe::Behind(behind) => {
                let Parcel { packets, bytes, .. } = &mut behind.parcel;
                pieces.into_iter().filter(|piece| !piece.is_empty()).for_each(|p| bytes.extend_from_slice(p));
                packets.push((port, packet));
                if bytes.len() >= BYTES || packets.len() >= PACKETS { behind.send() } else { Ok(()) }
            }
        }
    }

    /// Nothing earlier than this can come any more.
    pub(super) fn flush(&mut self, until: Time) -> Result<(), WriteError> {
        match self {
            Scribe::Direct(sent) => sent.flush(until),
            Scribe::Behind(behind) => {
                behind.parcel.mark(until);
                Ok(())
            }
        }
    }

    /// Completes the capture.
    pub(super) fn finish(self, counts: &[PortCounts]) -> Result<Pending, Failure> {
        match self {
            Scribe::Direct(sent) => sent.finish(counts),
            Scribe::Behind(mut behind) => {
                behind.send().map_err(Failure::input)?;
                behind.end().map_err(Failure::input)?.finish(counts)
            }
        }
    }
}

impl Behind {
    /// Hands the parcel over.
    #[cold]
    fn send(&mut self) -> Result<(), WriteError> {
        let empty = self.spent.try_recv().unwrap_or_default();
        let parcel = std::mem::replace(&mut self.parcel, empty);
        if self.parcels.as_ref().is_some_and(|parcels| parcels.send(parcel).is_ok()) {
            return Ok(());
        }
        // The thread ended early: it says why.
        self.end().and_then(|_| Err(io::Error::other("the writer has ended").into()))
    }

    /// Waits for the thread to write all that it got.
    fn end(&mut self) -> Result<Sent, WriteError> {
        self.parcels = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the writer's thread broke down").into()),
            None => Err(io::Error::other("the writer has ended").into()),
        }
    }
}

impl Drop for Behind {
    /// A run that fails leaves no file: the thread must have let go of it before the process ends.
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl Parcel {
    fn mark(&mut self, until: Time) {
        let at = self.packets.len();
        match self.marks.last_mut() {
            Some(last) if last.0 == at => last.1 = last.1.max(until),
            _ => self.marks.push((at, until)),
        }
    }

    /// Gives all of it to the capture and is empty.
    fn unpack(&mut self, sent: &mut Sent) -> Result<(), WriteError> {
        let Parcel { packets, bytes, marks } = self;
        let (mut marks_left, mut rest) = (marks.drain(..).peekable(), bytes.as_slice());
        for (number, (port, packet)) in packets.drain(..).enumerate() {
            while let Some((_, until)) = marks_left.next_if(|(before, _)| *before <= number) {
                sent.flush(until)?;
            }
            let (frame, behind) = rest.split_at(rest.len().min(packet.captured as usize));
            rest = behind;
            sent.add(port, packet, [frame, &[], &[]])?;
        }
        marks_left.try_for_each(|(_, until)| sent.flush(until))?;
        bytes.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Capture;
    use super::*;
    use sluice_pcaps::capture::CaptureTime;
    use sluice_pcaps::capture::write::CaptureWriter;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    /// Takes so many bytes, then is full.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut held = self.0.lock().unwrap();
            if held.len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            held.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn sent(disk: &Disk, in_order: bool, folder: &std::path::Path) -> Sent {
        let out: Box<dyn Write + Send> = Box::new(disk.clone());
        let writer = CaptureWriter::new(out, &[]).unwrap();
        let capture = Capture { file: Pending::create(&folder.join("out")).unwrap(), writer };
        let ports = (0..3).map(|port| (port, format!("port {port}"), 1_000)).collect();
        Sent::of(ports, in_order, capture, CaptureTime::EPOCH)
    }

    /// Packets of four ports, each port's in order of time, some with pieces and comments, and times up to which all
    /// are written.
    fn write(scribe: &mut Scribe, count: u64) -> Result<(), WriteError> {
        for n in 0..count {
            let (port, len) = ((n * 7 % 4) as u16, (n * 131 % 700) as usize);
            let bytes = vec![n as u8; len];
            let (head, rest) = bytes.split_at(len / 2);
            let (tail, pad) = rest.split_at(if n % 5 == 0 { rest.len() / 2 } else { rest.len() });
            let comment = (n % 11 == 0).then(|| format!("number {n}").into_boxed_str());
            let time = Time::from_ps(n * 1_000 + u64::from(port) * 7_777);
            let captured = len as u32;
            scribe.add(port, Waiting { time, captured, orig_len: captured, comment }, [head, tail, pad])?;
            if n % 64 == 63 {
                scribe.flush(Time::from_ps(n * 1_000))?;
            }
        }
        scribe.flush(Time::MAX)
    }

    #[test]
    fn a_thread_writes_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        for in_order in [false, true] {
            let files = [Scribe::behind, |sent| Scribe::Direct(Box::new(sent))].map(|make| {
                let disk = Disk(Arc::default(), usize::MAX);
                let mut scribe = make(sent(&disk, in_order, folder.path()));
                write(&mut scribe, 5_000).unwrap();
                scribe.finish(&[PortCounts { dev_port: 1, received: 5, dropped: 6 }]).unwrap();
                std::mem::take(&mut *disk.0.lock().unwrap())
            });
            assert!(files[0].len() > 1_000_000);
            assert_eq!(files[0], files[1]);
        }
    }

    #[test]
    fn a_run_that_fails_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..50 {
            let mut scribe = Scribe::behind(sent(&Disk(Arc::default(), usize::MAX), true, folder.path()));
            write(&mut scribe, 1_000).unwrap();
            drop(scribe);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_full_disk_is_told_and_nothing_is_written_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk(Arc::default(), 300_000);
        let mut scribe = Scribe::behind(sent(&disk, true, folder.path()));
        let failed = write(&mut scribe, 50_000).unwrap_err();
        assert!(matches!(failed, WriteError::Io(e) if e.kind() == io::ErrorKind::StorageFull));
        let held = disk.0.lock().unwrap().len();
        assert!(scribe.finish(&[]).is_err());
        assert_eq!(disk.0.lock().unwrap().len(), held);
    }

    #[test]
    fn a_capture_that_is_given_up_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk(Arc::default(), usize::MAX);
        let mut scribe = Scribe::behind(sent(&disk, true, folder.path()));
        write(&mut scribe, 2_000).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(scribe);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
