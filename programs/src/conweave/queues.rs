//! Reorder queues of the hosts' ports: who owns which (model: conweave §2.6).
//!
//! A flow has one candidate queue per way, picked by a hash; the first free one becomes its own. A cell holds the
//! owner's row, which no two flows share and which is never 0.

use super::Params;
use super::headers::Headers;
use sluice_build::*;

/// Result of the queue table
#[derive(Header, Debug)]
pub(super) struct Queue {
    /// Hash of the flow in way 1
    pub(super) hash_1: Bits<3>,
    /// Hash of the flow in way 2
    pub(super) hash_2: Bits<3>,
    /// Hash of the flow in way 3
    pub(super) hash_3: Bits<3>,
    /// Hash of the flow in way 4
    pub(super) hash_4: Bits<3>,
    /// Cell of the candidate in way 1
    pub(super) cell_1: Bits<16>,
    /// Cell of the candidate in way 2
    pub(super) cell_2: Bits<16>,
    /// Cell of the candidate in way 3
    pub(super) cell_3: Bits<16>,
    /// Cell of the candidate in way 4
    pub(super) cell_4: Bits<16>,
    /// 1 to take a free queue
    pub(super) claim: Bits<1>,
    /// 1 to find the flow's own queue
    pub(super) find: Bits<1>,
    /// 1 if the flow has a queue
    pub(super) found: Bits<1>,
    /// Cell of the flow's queue
    pub(super) cell: Bits<16>,
    /// The flow's queue
    pub(super) qid: Bits<7>,
    /// Flow-control word that resumes the flow's queue
    pub(super) word: Bits<32>,
}

/// One way of the queue table.
#[derive(Clone, Copy, Debug)]
struct Way {
    hash: ActionRef,
    candidate: TableRef,
    claim_or_find: SubcontrolRef,
    release: SubcontrolRef,
}

/// The queue table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queues {
    pub(super) q: Queue,
    /// Hashes the flow.
    pub(super) hash: SubcontrolRef,
    /// Looks the candidates up.
    pub(super) candidates: SubcontrolRef,
    /// Takes the first free candidate, or finds the flow's own queue.
    pub(super) claim_or_find: SubcontrolRef,
    /// Gives the flow's queue back.
    pub(super) release: SubcontrolRef,
}

/// Algorithms of the ways: the authors' three, and one more.
const HASHES: [&str; 4] = ["crc_8", "crc_16", "identity", "crc_32"];
/// Cells of a way: a number per pair of port and queue.
pub(super) const CELLS: u32 = 1024;

/// Declares the queue table.
#[stage_program]
pub(super) fn queues(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> Queues {
    let q = ig.metadata::<Queue>();
    let fields = [(q.hash_1, q.cell_1), (q.hash_2, q.cell_2), (q.hash_3, q.cell_3), (q.hash_4, q.cell_4)];
    let ways = HASHES.into_iter().zip(fields).take(p.ways as usize);
    let ways: Vec<Way> = ways.map(|(algorithm, fields)| way(ig, h, q, algorithm, fields)).collect();
    let set_queue_of = ig.action(|a, resume: Arg<32>, queue: Arg<7>| {
        q.word = resume;
        q.qid = queue;
    });
    /// Cell to the queue and the word that resumes it
    let queue = ig.table([exact(q.cell)]).actions([set_queue_of]).size(CELLS).build();
    let hash = ig.subcontrol(|c| {
        for way in &ways {
            way.hash.call();
        }
    });
    let candidates = ig.subcontrol(|c| {
        for way in &ways {
            way.candidate.apply();
        }
    });
    let claim_or_find = ig.subcontrol(|c| {
        for way in &ways {
            way.claim_or_find.apply();
        }
        queue.apply();
    });
    let release = ig.subcontrol(|c| {
        for way in &ways {
            way.release.apply();
        }
    });
    Queues { q, hash, candidates, claim_or_find, release }
}

type Fields = (Bits<3>, Bits<16>);

#[stage_program]
fn way(ig: &GressBuilder<'_>, h: Headers, q: Queue, algorithm: &str, (picked, cell): Fields) -> Way {
    let Headers { ipv4, m, .. } = h;
    /// Hash that picks the flow's candidate in this way; the table limits it to the queues that exist
    let pick_queue = ig.hash::<3>(algorithm).inputs(list![ipv4.src, ipv4.dst, m.src_port]).build();
    let hash = ig.action(|a| picked = pick_queue.get());
    let set_candidate = ig.action(|a, number: Arg<16>| cell = number);
    /// Port and hash to a cell
    let candidate = ig.table([exact(m.port), exact(picked)]).actions([set_candidate]).size(CELLS).build();
    /// Owner of each reorder queue: its row, or 0
    let owner = ig.register::<32>(CELLS);
    let claim = ig.register_action(owner, |r| {
        if r.value == 0 {
            r.value = m.row.cast::<32>();
            r.out = 1;
        }
        r.out1 = address();
    });
    let find = ig.register_action(owner, |r| {
        if r.value == m.row.cast::<32>() {
            r.out = 1;
        }
        r.out1 = address();
    });
    /// Frees the cell if the flow owns it
    let release = ig.register_action(owner, |r| {
        if r.value == m.row.cast::<32>() {
            r.value = 0;
        }
    });
    let claim_or_find = ig.subcontrol(|c| {
        if q.found == 0 {
            if q.claim == 1 {
                q.found = claim.execute(cell).also(1, q.cell);
            } else if q.find == 1 {
                q.found = find.execute(cell).also(1, q.cell);
            }
        }
    });
    let release = ig.subcontrol(|c| release.execute(cell));
    Way { hash, candidate, claim_or_find, release }
}
