//! Writes the capture of sent packets, on the thread of the run or on a writer thread. Both write the same bytes.
//!
//! If more than one processor is available, a writer thread takes parcels of about 64 KiB or 512 packets, puts the packets
//! in order of time and encodes them. At most four parcels wait; then the run waits. Module `sent_capture` has the format.

use crate::captures::PortCounts;
use crate::sent_capture::SentCapture;
use crate::time_order::Waiting;
use sluice_asic::units::Time;
use sluice_pcaps::capture::write::WriteError;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// A parcel is full at this number of bytes or packets. Several parcels fit the cache of one processor.
const BYTES: usize = 64 << 10;
const PACKETS: usize = 512;
/// Parcels that may wait for the thread.
const WAITING: usize = 4;

/// The writer of sent packets.
pub(crate) enum CaptureWriter {
    /// On the thread of the run. With one processor, a writer thread would only add cost.
    Direct(Box<SentCapture>),
    /// On a writer thread.
    Threaded(Box<Threaded>),
}

/// The sending end of a writer thread.
pub(crate) struct Threaded {
    parcel: Parcel,
    /// `None` after the end.
    parcels: Option<SyncSender<Parcel>>,
    /// Empty parcels, whose memory is used again.
    spent: Receiver<Parcel>,
    thread: Option<JoinHandle<Result<SentCapture, WriteError>>>,
}

/// Packets in the order in which the switch sent them.
#[derive(Default)]
struct Parcel {
    packets: Vec<(u16, Waiting)>,
    bytes: Vec<u8>,
    /// Index of a packet, and a time: before this packet is added, every packet up to the time is written.
    marks: Vec<(usize, Time)>,
}

impl CaptureWriter {
    /// Writes on a thread if the process may run on more than one processor.
    pub(crate) fn new(sent: SentCapture) -> CaptureWriter {
        match std::thread::available_parallelism() {
            Ok(processors) if processors.get() > 1 => CaptureWriter::threaded(sent),
            _ => CaptureWriter::Direct(Box::new(sent)),
        }
    }

    fn threaded(mut sent: SentCapture) -> CaptureWriter {
        let (parcels, take) = sync_channel::<Parcel>(WAITING);
        let (give_back, spent) = channel();
        let thread = std::thread::spawn(move || {
            for mut parcel in take {
                parcel.unpack(&mut sent)?;
                // The run takes no parcel back after its end.
                let _ = give_back.send(parcel);
            }
            Ok(sent)
        });
        let (parcel, parcels, thread) = (Parcel::default(), Some(parcels), Some(thread));
        CaptureWriter::Threaded(Box::new(Threaded { parcel, parcels, spent, thread }))
    }

    /// Takes a packet of a dev_port, whose bytes are the pieces.
    #[inline]
    pub(crate) fn add(&mut self, port: u16, packet: Waiting, pieces: [&[u8]; 3]) -> Result<(), WriteError> {
        match self {
            CaptureWriter::Direct(sent) => sent.add(port, packet, pieces),
            CaptureWriter::Threaded(thread) => {
                let Parcel { packets, bytes, .. } = &mut thread.parcel;
                pieces.into_iter().filter(|piece| !piece.is_empty()).for_each(|p| bytes.extend_from_slice(p));
                packets.push((port, packet));
                if bytes.len() >= BYTES || packets.len() >= PACKETS { thread.send() } else { Ok(()) }
            }
        }
    }

    /// Writes every packet up to a time. No earlier packet may come after that.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), WriteError> {
        match self {
            CaptureWriter::Direct(sent) => sent.flush(until),
            CaptureWriter::Threaded(thread) => {
                thread.parcel.mark(until);
                Ok(())
            }
        }
    }

    /// Completes the capture.
    pub(crate) fn finish(self, counts: &[PortCounts]) -> Result<(), WriteError> {
        match self {
            CaptureWriter::Direct(sent) => sent.finish(counts),
            CaptureWriter::Threaded(mut thread) => {
                thread.send()?;
                thread.end()?.finish(counts)
            }
        }
    }
}

impl Threaded {
    /// Sends the parcel to the writer thread.
    #[cold]
    fn send(&mut self) -> Result<(), WriteError> {
        let empty = self.spent.try_recv().unwrap_or_default();
        let parcel = std::mem::replace(&mut self.parcel, empty);
        if self.parcels.as_ref().is_some_and(|parcels| parcels.send(parcel).is_ok()) {
            return Ok(());
        }
        // The thread has ended early, with an error.
        self.end().and_then(|_| Err(io::Error::other("the writer has ended").into()))
    }

    /// Waits for the thread to write all that it got.
    fn end(&mut self) -> Result<SentCapture, WriteError> {
        self.parcels = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the writer's thread panicked").into()),
            None => Err(io::Error::other("the writer has ended").into()),
        }
    }
}

impl Drop for Threaded {
    /// Waits for the thread, so that the caller can remove the file after a failed run.
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

    /// Gives all packets to the capture; the parcel is empty after that.
    fn unpack(&mut self, sent: &mut SentCapture) -> Result<(), WriteError> {
        let Parcel { packets, bytes, marks } = self;
        let (mut marks_left, mut rest) = (marks.drain(..).peekable(), bytes.as_slice());
        for (number, (port, packet)) in packets.drain(..).enumerate() {
            while let Some((_, until)) = marks_left.next_if(|(before, _)| *before <= number) {
                sent.flush(until)?;
            }
            let (frame, after) = rest.split_at(rest.len().min(packet.captured as usize));
            rest = after;
            sent.add(port, packet, [frame, &[], &[]])?;
        }
        marks_left.try_for_each(|(_, until)| sent.flush(until))?;
        bytes.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::capture::CaptureTime;
    use sluice_pcaps::replay::Stamps;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    /// A writer that is full after `.1` bytes.
    #[derive(Clone)]
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

    impl Disk {
        fn new(size: usize) -> Disk {
            Disk(Arc::default(), size)
        }

        /// Returns the number of handles on the disk.
        fn handles(&self) -> usize {
            Arc::strong_count(&self.0)
        }
    }

    fn sent(disk: &Disk, in_order: bool) -> SentCapture {
        let ports = (0..3).map(|port| (port, format!("port {port}"), 1_000)).collect();
        SentCapture::with_ports(ports, in_order, Box::new(disk.clone()), Stamps::new(CaptureTime::EPOCH))
            .unwrap()
    }

    /// Writes packets of four ports, each port's in order of time, some with pieces and comments, and flushes from time
    /// to time.
    fn write(writer: &mut CaptureWriter, count: u64) -> Result<(), WriteError> {
        for n in 0..count {
            let (port, len) = ((n * 7 % 4) as u16, (n * 131 % 700) as usize);
            let bytes = vec![n as u8; len];
            let (head, rest) = bytes.split_at(len / 2);
            let (tail, pad) = rest.split_at(if n % 5 == 0 { rest.len() / 2 } else { rest.len() });
            let comment = (n % 11 == 0).then(|| format!("number {n}").into_boxed_str());
            let time = Time::from_ps(n * 1_000 + u64::from(port) * 7_777);
            let captured = len as u32;
            writer.add(port, Waiting { time, captured, orig_len: captured, comment }, [head, tail, pad])?;
            if n % 64 == 63 {
                writer.flush(Time::from_ps(n * 1_000))?;
            }
        }
        writer.flush(Time::MAX)
    }

    #[test]
    fn a_thread_writes_the_same_bytes() {
        for in_order in [false, true] {
            let files = [CaptureWriter::threaded, |sent| CaptureWriter::Direct(Box::new(sent))].map(|make| {
                let disk = Disk::new(usize::MAX);
                let mut writer = make(sent(&disk, in_order));
                write(&mut writer, 5_000).unwrap();
                writer.finish(&[PortCounts { dev_port: 1, received: 5, dropped: 6 }]).unwrap();
                std::mem::take(&mut *disk.0.lock().unwrap())
            });
            assert!(files[0].len() > 1_000_000);
            assert_eq!(files[0], files[1]);
        }
    }

    #[test]
    fn a_writer_that_is_dropped_has_let_go_of_its_output() {
        for count in [0, 1_000, 2_000] {
            for _ in 0..50 {
                let disk = Disk::new(usize::MAX);
                let mut writer = CaptureWriter::threaded(sent(&disk, true));
                write(&mut writer, count).unwrap();
                assert_eq!(disk.handles(), 2);
                drop(writer);
                assert_eq!(disk.handles(), 1);
            }
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_nothing_is_written_after_it() {
        let disk = Disk::new(300_000);
        let mut writer = CaptureWriter::threaded(sent(&disk, true));
        let failed = write(&mut writer, 50_000).unwrap_err();
        assert!(matches!(failed, WriteError::Io(e) if e.kind() == io::ErrorKind::StorageFull));
        let held = disk.0.lock().unwrap().len();
        assert!(writer.finish(&[]).is_err());
        assert_eq!(disk.0.lock().unwrap().len(), held);
    }
}
