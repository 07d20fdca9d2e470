//! From a question to results: plan, walk on several threads, measure.
//!
//! Counts are sums, so results depend neither on the number of threads nor on which of them walks which flows.

use super::measure::{Results, results};
use super::plan::{NoPlan, Question, plan};
use super::walk::{Compiled, Counters};
use crate::flows::{Entropy, Flow, Flows};
use crate::topology::Network;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

/// Flows that a thread takes at a time.
const CHUNK: usize = 4_096;
/// Flows that show how many bits vary.
const SAMPLE: usize = 4_096;

/// Plans, walks all flows on so many threads, measures.
///
/// # Errors
/// When the scheme has no plan.
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

/// Walks all flows on so many threads, never more than there is work for.
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
