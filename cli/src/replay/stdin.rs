//! Standard input that Ctrl-C can end: a thread reads, so that a pipe without data does not hold up the run.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Chunks that the thread may be ahead.
const AHEAD: usize = 4;
/// Longest delay until Ctrl-C is noticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Standard input; it ends early when `stop` is set.
pub(super) struct Stdin {
    chunks: Receiver<io::Result<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    chunk: Vec<u8>,
    /// Bytes of `chunk` that were handed out.
    used: usize,
}

impl Stdin {
    pub(super) fn new(stop: Arc<AtomicBool>) -> Stdin {
        let (sender, chunks) = sync_channel(AHEAD);
        // Never joined: it may be blocked in a read when the run is over.
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match stdin.read(&mut chunk) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let last = !matches!(read, Ok(1..));
                let message = read.map(|count| {
                    chunk.truncate(count);
                    chunk
                });
                if sender.send(message).is_err() || last {
                    return;
                }
            }
        });
        Stdin { chunks, stop, chunk: Vec::new(), used: 0 }
    }
}

impl Read for Stdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.used == self.chunk.len() {
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => {
                    self.chunk = chunk?;
                    self.used = 0;
                    if self.chunk.is_empty() {
                        return Ok(0);
                    }
                }
                Err(RecvTimeoutError::Timeout) if !self.stop.load(Ordering::Relaxed) => {}
                Err(_) => return Ok(0),
            }
        }
        let count = out.len().min(self.chunk.len() - self.used);
        out[..count].copy_from_slice(&self.chunk[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}
