//! Runs an experiment: plans, walks flows on several threads, and measures.
//!
//! Counters are sums, so results depend neither on the number of threads nor on the distribution of flows over them.

use super::measure::{Results, results};
use super::plan::{NoPlan, Question, plan};
use super::walk::{Compiled, Counters};
use crate::flows::{Entropy, Flow, Flows};
use crate::topology::Network;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of flows that a thread takes at a time.
const CHUNK: usize = 4_096;
/// Number of flows from which the entropy is estimated.
const SAMPLE: usize = 4_096;

/// Plans, walks all flows on `threads` threads, and measures.
///
/// # Errors
/// If the scheme has no plan.
pub fn run(
    network: &Network,
    question: &Question,
    flows: Flows<'_>,
    threads: NonZero<usize>,
) -> Result<Results, NoPlan> {
    let planned = plan(network, question)?;
    let compiled = Compiled::new(network, &planned, question.picker);
    let mut sample = Vec::new();
    flows.read(0, SAMPLE, &mut sample);
    let mut entropy = Entropy::default();
    sample.iter().for_each(|flow| entropy.add(flow));
    let counters = walk(&compiled, flows, threads);
    Ok(results(network, &planned, &compiled, counters, entropy.bits(), question.picker))
}

/// Walks all flows on at most `threads` threads; fewer if there are few flows.
#[must_use]
pub fn walk(compiled: &Compiled, flows: Flows<'_>, threads: NonZero<usize>) -> Counters {
    let next = AtomicU64::new(0);
    let count = flows.count();
    let work = || {
        let mut counters = compiled.counters();
        let mut chunk: Vec<Flow> = Vec::with_capacity(CHUNK);
        loop {
            let first = next.fetch_add(CHUNK as u64, Ordering::Relaxed);
            if first >= count {
                return counters;
            }
            flows.read(first, CHUNK, &mut chunk);
            compiled.walk_all(&chunk, &mut counters);
        }
    };
    let threads = threads.get().min(count.div_ceil(CHUNK as u64) as usize);
    let mut sum = compiled.counters();
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        sum.add(&work());
        for other in others {
            match other.join() {
                Ok(counters) => sum.add(&counters),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    sum
}
