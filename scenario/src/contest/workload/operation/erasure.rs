//! Reads and writes of erasure-coded extents: `data` fragments and `parity` more, each on another server.

use super::{Begun, Ended, Footprint};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;
use crate::contest::workload::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// A write: the client sends all fragments at once, and each server replies when it has its fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureWrite {
    /// Sizes of extents.
    pub sizes: Sizes,
    /// Fragments with data, at least 1; each has a share of the extent, rounded up.
    pub data: u32,
    /// Fragments with parity, of the same size.
    pub parity: u32,
    /// Bytes of a reply.
    pub reply: u64,
    /// Time from a fragment's arrival to the reply.
    pub service: Duration,
}

/// A read: the client asks as many servers as there are fragments with data, all at once, and all of them send their
/// fragments: an incast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureRead {
    /// Sizes of extents.
    pub sizes: Sizes,
    /// Fragments that are read, at least 1; each has a share of the extent, rounded up.
    pub data: u32,
    /// Bytes of a request.
    pub request: u64,
    /// Time from a request's arrival to the fragment.
    pub service: Duration,
}

impl ErasureWrite {
    pub(super) fn footprint(&self) -> Footprint {
        let count = u64::from(self.data + self.parity);
        let written = self.sizes.mean().div_ceil(self.data.into()).saturating_mul(count);
        let replies = self.reply * count;
        Footprint { client: (written, replies), servers: (replies, written) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let fragment = self.sizes.draw(draw).div_ceil(self.data.into());
        exchange(begun, (fragment, self.reply), fragment, self.service, into)
    }
}

impl ErasureRead {
    pub(super) fn footprint(&self) -> Footprint {
        let count = u64::from(self.data);
        let read = self.sizes.mean().div_ceil(count).saturating_mul(count);
        let asked = self.request * count;
        Footprint { client: (asked, read), servers: (read, asked) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let fragment = self.sizes.draw(draw).div_ceil(self.data.into());
        exchange(begun, (self.request, fragment), fragment, self.service, into)
    }
}

/// Sends a message to each server, which answers it after its service time. `to` and `back` are the messages' sizes; one of them
/// is the fragment.
fn exchange(
    begun: &Begun<'_>,
    (to, back): (u64, u64),
    fragment: u64,
    service: Duration,
    into: &mut Builder<'_>,
) -> Result<Ended, Fault> {
    let mut received = Vec::with_capacity(begun.servers.len());
    for server in begun.servers {
        let sent = into.send(begun.client, *server, to, begun.when)?;
        let when = into.after(&[sent], service).following(begun.when);
        received.push(into.send(*server, begun.client, back, when)?);
    }
    let line = fragment.saturating_mul(begun.servers.len() as u64);
    Ok(Ended { received, line, messages: 2, service, after: Duration::ZERO })
}
