//! Writing behind: a thread hands bytes to the system, which takes as long as making them does. The bytes are the
//! same with and without it. What may not live here: what the bytes mean.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Chunks that the thread may be behind.
const BEHIND: usize = 4;

/// A writer that hands on what it is given; [`flush`](Write::flush) waits for all of it and ends it.
pub(crate) enum Behind<W> {
    /// There is one processor: a thread would only cost.
    Direct(W),
    /// Another thread writes.
    Thread {
        /// `None` once ended.
        chunks: Option<SyncSender<Vec<u8>>>,
        /// Memory to use again.
        spent: Receiver<Vec<u8>>,
        thread: Option<JoinHandle<io::Result<()>>>,
    },
}

impl<W: Write + Send + 'static> Behind<W> {
    /// Writes to `out`, by a thread if the process may run on more than one processor.
    pub(crate) fn new(out: W) -> Behind<W> {
        match std::thread::available_parallelism() {
            Ok(processors) if processors.get() > 1 => Behind::threaded(out),
            _ => Behind::Direct(out),
        }
    }

    fn threaded(mut out: W) -> Behind<W> {
        let (chunks, take) = sync_channel::<Vec<u8>>(BEHIND);
        let (give_back, spent): (Sender<Vec<u8>>, _) = channel();
        let thread = std::thread::spawn(move || {
            for chunk in take {
                out.write_all(&chunk)?;
                // Nobody takes it back once the writer has ended.
                let _ = give_back.send(chunk);
            }
            out.flush()
        });
        Behind::Thread { chunks: Some(chunks), spent, thread: Some(thread) }
    }
}

impl<W: Write> Write for Behind<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Behind::Thread { chunks, spent, .. } = self else {
            let Behind::Direct(out) = self else { return Ok(0) };
            return out.write(bytes);
        };
        let mut chunk = spent.try_recv().unwrap_or_default();
        chunk.clear();
        chunk.extend_from_slice(bytes);
        if chunks.as_ref().is_some_and(|chunks| chunks.send(chunk).is_ok()) {
            return Ok(bytes.len());
        }
        // The thread ended early: it says why.
        self.flush()?;
        Err(io::Error::other("the writer has ended"))
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Behind::Direct(out) => out.flush(),
            Behind::Thread { chunks, thread, .. } => {
                *chunks = None;
                match thread.take().map(JoinHandle::join) {
                    None => Ok(()),
                    Some(Ok(result)) => result,
                    Some(Err(_)) => Err(io::Error::other("the writer's thread broke down")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Takes so many bytes, then is full.
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

    #[test]
    fn all_bytes_are_there_in_order_after_a_flush() {
        let disk = Disk(Arc::default(), usize::MAX);
        for mut out in [Behind::threaded(disk.clone()), Behind::Direct(disk.clone())] {
            disk.0.lock().unwrap().clear();
            for n in 0..100u8 {
                out.write_all(&vec![n; usize::from(n)]).unwrap();
            }
            out.flush().unwrap();
            let expected: Vec<u8> = (0..100u8).flat_map(|n| vec![n; usize::from(n)]).collect();
            assert_eq!(*disk.0.lock().unwrap(), expected);
        }
    }

    #[test]
    fn a_full_disk_is_told_and_nothing_is_written_after_it() {
        let disk = Disk(Arc::default(), 10);
        let mut out = Behind::threaded(disk.clone());
        let failed = (0..50).find_map(|_| out.write_all(&[1; 4]).err()).or_else(|| out.flush().err());
        assert_eq!(failed.map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
        assert!(out.write_all(&[1; 4]).is_err());
        assert_eq!(disk.0.lock().unwrap().len(), 8);
    }
}
