//! Collectives of distributed training: all-reduce, all-gather, reduce-scatter and all-to-all, among groups of hosts and
//! in iterations.
//!
//! The hosts of a group are its *ranks*, in the order of the selection. A rank's iteration ends when it has received
//! everything that the collective sends to it. Its next iteration begins `gap` later, the time in which it computes; so
//! ranks of a group need not be in step. A message is sent when its rank has the data: what it waits for has been received
//! completely.

mod all_to_all;
mod halving;
mod ring;
mod tree;

use super::fault::Fault;
use super::hosts::{HostTable, Selection};
use super::plan::{Builder, Need, When};
use sluice_asic::units::{Duration, Time};

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The operation and its algorithm.
    pub operation: CollectiveOperation,
    /// Bytes of each rank's buffer: of what is reduced, of the gathered result, or of what a rank sends to all ranks,
    /// its own part included.
    pub bytes: u64,
    /// The hosts.
    pub hosts: Selection,
    /// Ranks of a group; `None`: all hosts are one group.
    pub group: Option<u32>,
    /// Number of iterations.
    pub iterations: u32,
    /// Time in which a rank computes between two iterations.
    pub gap: Duration,
}

/// Operation of a collective, and its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveOperation {
    /// All-reduce on a ring: n - 1 steps reduce, n - 1 gather, each with an n-th of the buffer.
    RingAllReduce,
    /// All-reduce by recursive halving and doubling: log2 n steps with a half, a fourth, .. of the buffer, and the same
    /// backwards. The number of ranks is a power of two.
    HalvingDoublingAllReduce,
    /// All-reduce on a binary tree: the buffer goes up to the first rank and down again, in chunks.
    TreeAllReduce {
        /// Number of chunks.
        chunks: u32,
        /// Chunks that a rank sends to the same rank without acknowledgement.
        outstanding: u32,
    },
    /// All-gather on a ring: n - 1 steps, each with an n-th of the result.
    AllGather,
    /// Reduce-scatter on a ring: n - 1 steps, each with an n-th of the buffer.
    ReduceScatter,
    /// All-to-all: each rank sends an n-th of its buffer to each other rank, first to the rank after it.
    AllToAll {
        /// Messages of a rank without acknowledgement; `None`: all at once.
        outstanding: Option<u32>,
    },
}

/// One iteration of a collective in one group.
struct Iteration<'a> {
    /// The hosts of the ranks.
    ranks: &'a [u32],
    bytes: u64,
    /// When each rank begins.
    begin: Vec<Begin>,
}

/// When a rank begins an iteration.
struct Begin {
    start: Time,
    needs: Vec<Need>,
    /// The same as the time of a message.
    when: When,
}

impl Begin {
    fn at(start: Time) -> Begin {
        Begin { start, needs: Vec::new(), when: When::at(start) }
    }

    /// Returns the beginning `gap` after a rank has received these messages.
    fn after(messages: Vec<u32>, gap: Duration, into: &mut Builder<'_>) -> Begin {
        let needs: Vec<Need> = messages.into_iter().map(|message| Need { message, delay: gap }).collect();
        let when = When::after(into.plan.gate(&needs));
        Begin { start: Time::ORIGIN, needs, when }
    }

    /// Returns the time of a message that waits for this message too: what a rank passes on contains its own data.
    fn and(&self, message: u32, into: &mut Builder<'_>) -> When {
        let mut needs = self.needs.clone();
        needs.push(Need { message, delay: Duration::ZERO });
        When { start: self.start, ..When::after(into.plan.gate(&needs)) }
    }
}

impl Iteration<'_> {
    fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the bytes of the buffer's parts `first` to `end`, the end excluded, of as many parts as there are ranks.
    fn part(&self, first: usize, end: usize) -> u64 {
        let before = |part: usize| u128::from(self.bytes) * part as u128 / self.len() as u128;
        (before(end) - before(first)) as u64
    }
}

impl Collective {
    /// Returns the hosts of each group.
    fn groups(&self, hosts: &HostTable) -> Result<Vec<Vec<u32>>, Fault> {
        let all = hosts.select(&self.hosts).map_err(|what| Fault::new("hosts", what))?;
        let size = self.group.map_or(all.len(), |size| size as usize);
        if size < 2 || all.len() % size != 0 {
            let key = if self.group.is_some() { "group" } else { "hosts" };
            let what = format!(
                "found groups of {size} of {} hosts; expected at least 2 ranks, and a number of hosts that they divide",
                all.len()
            );
            return Err(Fault::new(key, what));
        }
        if self.operation == CollectiveOperation::HalvingDoublingAllReduce && !size.is_power_of_two() {
            let what = format!(
                "halving-doubling needs a power of two of ranks, found {size}; choose `ring` or `tree`, or set `group`"
            );
            return Err(Fault::new("algorithm", what));
        }
        let least = match self.operation {
            CollectiveOperation::TreeAllReduce { chunks, .. } => u64::from(chunks),
            _ => size as u64,
        };
        if self.bytes < least {
            let what = format!("found {}, expected at least {least}, one byte for each part", self.bytes);
            return Err(Fault::new("bytes", what));
        }
        Ok(all.chunks(size).map(<[u32]>::to_vec).collect())
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        for ranks in self.groups(into.hosts)? {
            let mut begin: Vec<Begin> = ranks.iter().map(|_| Begin::at(into.begin)).collect();
            for _ in 0..self.iterations {
                let iteration = Iteration { ranks: &ranks, bytes: self.bytes, begin };
                let received = self.iteration(&iteration, into)?;
                begin = received.into_iter().map(|own| Begin::after(own, self.gap, into)).collect();
            }
        }
        Ok(())
    }

    /// Adds the messages of one iteration, and returns those that end it for each rank.
    fn iteration(&self, it: &Iteration<'_>, into: &mut Builder<'_>) -> Result<Vec<Vec<u32>>, Fault> {
        match self.operation {
            CollectiveOperation::RingAllReduce => ring::plan(it, 2 * (it.len() - 1), into),
            CollectiveOperation::AllGather | CollectiveOperation::ReduceScatter => {
                ring::plan(it, it.len() - 1, into)
            }
            CollectiveOperation::HalvingDoublingAllReduce => halving::plan(it, into),
            CollectiveOperation::TreeAllReduce { chunks, outstanding } => {
                tree::plan(it, chunks as usize, outstanding as usize, into)
            }
            CollectiveOperation::AllToAll { outstanding } => {
                all_to_all::plan(it, outstanding.map_or(it.len(), |some| some as usize), into)
            }
        }
    }
}
