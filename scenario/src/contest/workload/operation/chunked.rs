//! A read in chunks with static flow control: only so many chunks of a connection are under way (model: buffer §5).

use super::{Begun, Ended, Footprint};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;
use crate::contest::workload::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// A read in chunks from one or several servers. The client asks each server for the first `window` chunks, and for chunk
/// i + `window` when chunk i has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkedRead {
    /// Sizes of what is read from each server.
    pub sizes: Sizes,
    /// Bytes of a chunk; the last may have fewer.
    pub chunk: u64,
    /// Chunks under way from each server, at least 1.
    pub window: u32,
    /// Number of servers, at least 1.
    pub servers: u32,
    /// Bytes of a request.
    pub request: u64,
    /// Time from a request's arrival to the chunk.
    pub service: Duration,
}

impl ChunkedRead {
    pub(super) fn footprint(&self) -> Footprint {
        let servers = u64::from(self.servers);
        let read = self.sizes.mean().saturating_mul(servers);
        // Of a distribution, the mean number of chunks lies between this and one more.
        let asked = (self.sizes.mean().div_ceil(self.chunk) * self.request).saturating_mul(servers);
        Footprint { client: (asked, read), servers: (read, asked) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let (window, bytes) = (self.window as usize, self.sizes.draw(draw));
        let mut received = Vec::new();
        for server in begun.servers {
            let mut chunks: Vec<u32> = Vec::new();
            let mut left = bytes;
            while left > 0 {
                let now = left.min(self.chunk);
                left -= now;
                let when = match chunks.len().checked_sub(window) {
                    None => begun.when,
                    Some(before) => {
                        into.after(&chunks[before..=before], Duration::ZERO).following(begun.when)
                    }
                };
                let request = into.send(begun.client, *server, self.request, when)?;
                let when = into.after(&[request], self.service).following(begun.when);
                chunks.push(into.send(*server, begun.client, now, when)?);
            }
            received.append(&mut chunks);
        }
        let line = bytes.saturating_mul(u64::from(self.servers));
        Ok(Ended { received, line, messages: 2, service: self.service, after: Duration::ZERO })
    }
}
