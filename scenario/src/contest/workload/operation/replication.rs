//! A write to replicas in a chain.

use super::{Begun, Ended, Footprint};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;
use crate::contest::workload::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// A write to a chain of replicas: the client sends to the first, each sends to the next when it has the whole write, and
/// the last replies to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedWrite {
    /// Sizes of writes.
    pub sizes: Sizes,
    /// Number of replicas, at least 1.
    pub replicas: u32,
    /// Bytes of the reply.
    pub reply: u64,
    /// Time from a write's arrival at a replica to the next message.
    pub service: Duration,
}

impl ReplicatedWrite {
    pub(super) fn footprint(&self) -> Footprint {
        let (bytes, replicas) = (self.sizes.mean(), u64::from(self.replicas));
        let servers = (bytes.saturating_mul(replicas - 1) + self.reply, bytes.saturating_mul(replicas));
        Footprint { client: (bytes, self.reply), servers }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let bytes = self.sizes.draw(draw);
        let (mut holder, mut when) = (begun.client, begun.when);
        for replica in begun.servers {
            let write = into.send(holder, *replica, bytes, when)?;
            when = into.after(&[write], self.service).following(begun.when);
            holder = *replica;
        }
        let reply = into.send(holder, begun.client, self.reply, when)?;
        let (hops, line) = (u64::from(self.replicas), bytes.saturating_add(self.reply));
        Ok(Ended {
            received: vec![reply],
            line,
            messages: hops + 1,
            service: self.service * hops,
            after: Duration::ZERO,
        })
    }
}
