//! Reorder queues of the hosts' ports: who owns which (model: conweave §2.6).
//!
//! A flow has one candidate queue per way, picked by a hash; the first free one becomes its own. A cell holds the
//! owner's row, which no two flows share and which is never 0.

use super::Params;
use super::headers::Headers;
use sluice_build::*;

/// What the queue table says
#[derive(Header, Debug)]
pub(super) struct Queue {
    /// Hash of the flow in way n
    pub(super) hash_1: Bits<3>,
    /// As above
    pub(super) hash_2: Bits<3>,
    /// As above
    pub(super) hash_3: Bits<3>,
    /// As above
    pub(super) hash_4: Bits<3>,
    /// Cell of the candidate in way n
    pub(super) cell_1: Bits<16>,
    /// As above
    pub(super) cell_2: Bits<16>,
    /// As above
    pub(super) cell_3: Bits<16>,
    /// As above
    pub(super) cell_4: Bits<16>,
    /// 1 to take a free queue
    pub(super) claim: Bits<1>,
    /// 1 to look for the flow's own
    pub(super) find: Bits<1>,
    /// 1 when the flow has a queue
    pub(super) found: Bits<1>,
    /// Its cell
    pub(super) cell: Bits<16>,
    /// That queue
    pub(super) qid: Bits<7>,
    /// The word that resumes it
    pub(super) word: Bits<32>,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    hash: ActionRef,
    candidate: TableRef,
    cell: Bits<16>,
    claim: RegisterActionRef,
    find: RegisterActionRef,
    release: RegisterActionRef,
}

/// The queue table.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    pub(super) q: Queue,
    pub(super) owners: Vec<sluice_ir::Register>,
    ways: Vec<Way>,
    queue: TableRef,
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
    let mut owners = Vec::new();
    let mut ways = Vec::new();
    for (algorithm, fields) in HASHES.into_iter().zip(fields).take(p.ways as usize) {
        let (way, register) = way(ig, h, algorithm, fields);
        owners.push(register);
        ways.push(way);
    }
    let set_queue_of = ig.action(|a, resume: Arg<32>, queue: Arg<7>| {
        q.word = resume;
        q.qid = queue;
    });
    /// Cell to the queue and the word that resumes it
    let queue = ig.table([exact(q.cell)]).actions([set_queue_of]).size(CELLS).build();
    Queues { q, owners, ways, queue }
}

type Fields = (Bits<3>, Bits<16>);

#[stage_program]
fn way(
    ig: &GressBuilder<'_>,
    h: Headers,
    algorithm: &str,
    (picked, cell): Fields,
) -> (Way, sluice_ir::Register) {
    let Headers { ipv4, m, .. } = h;
    /// Picks the flow's candidate in this way; the table knows how many there are
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
    /// Only the owner's own cell
    let release = ig.register_action(owner, |r| {
        if r.value == m.row.cast::<32>() {
            r.value = 0;
        }
    });
    (Way { hash, candidate, cell, claim, find, release }, owner.handle())
}

impl Queues {
    /// Hashes the flow.
    pub(super) fn hash(&self, c: &mut Control<'_>) {
        for way in &self.ways {
            c.run(way.hash.call());
        }
    }

    /// Looks the candidates up.
    pub(super) fn candidates(&self, c: &mut Control<'_>) {
        for way in &self.ways {
            c.run(way.candidate.apply());
        }
    }

    /// Takes the first free candidate, or finds the flow's own queue.
    pub(super) fn claim_or_find(&self, c: &mut Control<'_>) {
        for way in &self.ways {
            claim_or_find(c, self.q, *way);
        }
        c.run(self.queue.apply());
    }

    /// Gives the flow's queue back.
    pub(super) fn release(&self, c: &mut Control<'_>) {
        for way in &self.ways {
            c.run(way.release.execute(way.cell));
        }
    }
}

#[stage_program]
fn claim_or_find(c: &mut Control<'_>, q: Queue, way: Way) {
    c.block(|c| {
        if q.found == 0 {
            if q.claim == 1 {
                q.found = way.claim.execute(way.cell).also(1, q.cell);
            } else if q.find == 1 {
                q.found = way.find.execute(way.cell).also(1, q.cell);
            }
        }
    });
}
