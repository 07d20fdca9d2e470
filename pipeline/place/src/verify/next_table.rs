//! Rule 13: the outcome of a node reaches the nodes that run on it.
//!
//! If next tables are parallel, an outcome that crosses stages without a node that runs on it has a tag, the
//! next-table pointer, relays, or a gateway that tests the condition again (see [`super::retest`]).
//!
//! If next tables are a chain, only the pointer to the next table remembers an outcome: between a node and the nodes
//! that run on its outcome there are only nodes that run on that outcome as well, or never with it.

use super::Check;
use crate::data::Owner;
use crate::next_table::{Carrier, LongBranch};
use crate::purpose::Purpose;
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_ir::Loc;
use sluice_ir::cfg::{Node, Outcome};
use sluice_ir::verify::Diag;
use std::collections::BTreeSet;

pub(super) fn check(check: &mut Check<'_>) {
    codes(check);
    if check.placement.chip.features.parallel_next_tables {
        tags(check);
    } else {
        for gress in Gress::ALL {
            chain(check, gress);
        }
    }
}

/// Checks that every stage and logical id has a separate next-table code, different from the code that ends the pipe.
fn codes(check: &mut Check<'_>) {
    let (mau, stages) = (check.mau, check.mau.stages);
    let id_bits = mau.logical_tables.max(1).next_power_of_two().trailing_zeros();
    let last = (stages.saturating_sub(1) << id_bits) + mau.logical_tables.saturating_sub(1);
    let fits = u64::from(last) < 1 << mau.next_table_bits && last < mau.next_table_end;
    if !fits {
        let text = format!(
            "placement: next-table code {last} of the last logical table does not fit {} bits beside the end code {}",
            mau.next_table_bits, mau.next_table_end
        );
        check.diags.push(Diag::error(Loc::default(), text));
    }
}

fn tags(check: &mut Check<'_>) {
    let branches = &check.placement.long_branches;
    for (i, b) in branches.iter().enumerate() {
        let owner = Owner { gress: b.gress, node: b.to };
        match &b.by {
            Carrier::Tag(tag) => {
                if u32::from(*tag) >= check.mau.long_branch_tags {
                    let tags = check.mau.long_branch_tags;
                    check.report(owner, format!("long branch on tag {tag}; there are {tags}"));
                }
                if branches[..i].iter().any(|o| o.by == b.by && overlap(o, b)) {
                    check.report(
                        owner,
                        format!("long branch on tag {tag}, which another branch uses at the same time"),
                    );
                }
            }
            Carrier::Pointer => {
                if let Some(problem) = pointer(check, b) {
                    check.report(owner, format!("on the next-table pointer, {problem}"));
                }
            }
            Carrier::Relays(ids) => relays(check, owner, b, ids),
            Carrier::Retest(retest) => super::retest::check(check, owner, b, *retest),
            Carrier::Nothing => {
                let (from, to) = (b.from_stage, b.to_stage);
                check.report(owner, format!("nothing carries its outcome from stage {from} to stage {to}"));
            }
        }
    }
    for gress in Gress::ALL {
        for (node, from, to) in crossings(check, gress) {
            let mut own = branches.iter().filter(|b| b.gress == gress && b.to_stage == to && b.to == node);
            if !own.any(|b| b.from_stage <= from && (b.by != Carrier::Pointer || b.from_stage == from)) {
                check.report(
                    Owner { gress, node },
                    format!("no long branch from stage {from} to stage {to} enables it"),
                );
            }
        }
    }
}

/// Returns a finding about a branch on the next-table pointer. The node that sets the pointer must know the outcome
/// when it is done, whichever of its parts a packet meets. No other node that a packet with this outcome can run may
/// set the pointer before the named table is reached.
fn pointer(check: &Check<'_>, b: &LongBranch) -> Option<String> {
    let cfg = check.cfg(b.gress);
    let path = cfg.outcomes(cfg.nodes[b.to].pred);
    let parts = |node| &check.placed(Owner { gress: b.gress, node }).parts;
    let decided = path.last().filter(|(node, _)| *node == b.from);
    // A node that runs on the whole path knows the outcome, too.
    let knows = decided.is_some() || cfg.outcomes(cfg.nodes[b.from].pred) == path;
    let whole = parts(b.from).len() == 1 || decided.is_some_and(|(_, o)| *o == Outcome::Miss);
    let source = parts(b.from).last().filter(|p| knows && whole && p.stage == b.from_stage);
    let target = parts(b.to).first().filter(|p| p.stage == b.to_stage);
    let (Some(source), Some(target)) = (source, target) else {
        return Some("which no node sets for it".to_owned());
    };
    if cfg.is_ghost(b.to) {
        return Some("which updates of queue depths do not have".to_owned());
    }
    let name = |node| check.name(Owner { gress: b.gress, node });
    let branches = &check.placement.long_branches;
    // A gateway that tests again is part of the table to which it is attached, but runs for packets that do not run
    // the table.
    let attached = |o: &&LongBranch| matches!(o.by, Carrier::Retest(r) if r.id.is_none()) && o.to == b.from;
    if branches.iter().filter(|o| o.gress == b.gress).any(|o| attached(&o)) {
        return Some(format!("which a gateway attached to `{}` sets as well", name(b.from)));
    }
    let span = (source.stage, source.logical_id)..(target.stage, target.logical_id);
    let apart = |other: Node| {
        let other = cfg.outcomes(cfg.nodes[other].pred);
        other.iter().any(|(n, o)| path.iter().any(|(m, p)| n == m && super::retest::contrary(*o, *p)))
    };
    let beside = branches.iter().filter(|o| o.gress == b.gress && o.by == Carrier::Pointer && *o != b);
    let mut others = beside.filter(|o| {
        let set = parts(o.from).iter().any(|p| span.contains(&(p.stage, p.logical_id)));
        if o.from == b.from { !apart(o.to) } else { set && !apart(o.from) }
    });
    others.next().map(|o| format!("which `{}` sets anew before", name(o.from)))
}

/// Checks that the node has a relay in every stage between.
fn relays(check: &mut Check<'_>, owner: Owner, branch: &LongBranch, ids: &[u8]) {
    let stages = branch.from_stage + 1..branch.to_stage;
    if stages.len() != ids.len() {
        check.report(owner, format!("{} relays in {} stages", ids.len(), stages.len()));
    }
    for (stage, id) in stages.zip(ids) {
        let own =
            |column| check.units_for(owner, stage, column, |p| *p == Purpose::Relay).map(|u| u.unit.row);
        let there = own(Column::LogicalTable).any(|row| row == u16::from(*id));
        if !there || own(Column::ExactResultBus).next().is_none() {
            check.report(owner, format!("no relay with logical id {id} in stage {stage}"));
        }
    }
}

/// Returns true if two branches may not be on one tag. In one gress a tag is free in the stage in which a branch
/// ends; the other gress must wait for the next stage.
fn overlap(a: &LongBranch, b: &LongBranch) -> bool {
    let (first, second) = if a.from_stage <= b.from_stage { (a, b) } else { (b, a) };
    let free = first.to_stage + u8::from(a.gress != b.gress);
    second.from_stage < free
}

/// Returns the gaps that outcomes have to cross: the first node after the gap, the stage before it and the stage
/// after it.
fn crossings(check: &Check<'_>, gress: Gress) -> Vec<(Node, u8, u8)> {
    let cfg = check.cfg(gress);
    let parts = |node| &check.placed(Owner { gress, node }).parts;
    let mut list = Vec::new();
    for node in cfg.nodes.keys() {
        let gaps = parts(node).windows(2).filter(|w| w[1].stage - w[0].stage > 1);
        list.extend(gaps.map(|w| (node, w[0].stage, w[1].stage)));
    }
    for (pred, data) in cfg.preds.iter() {
        let Some((_, decider, outcome)) = data.of else { continue };
        let ends: Vec<u8> = parts(decider).iter().map(|p| p.stage).collect();
        // A miss is known after the last part, any other outcome at the earliest after the first.
        let start = if outcome == Outcome::Miss { ends.last() } else { ends.first() };
        let Some(&start) = start else { continue };
        let inside: Vec<Node> = cfg.nodes.keys().filter(|n| cfg.nodes[*n].pred == pred).collect();
        let stages: BTreeSet<u8> = inside.iter().map(|n| parts(*n)[0].stage).chain([start]).collect();
        let stages: Vec<u8> = stages.into_iter().filter(|s| *s >= start).collect();
        for pair in stages.windows(2).filter(|w| w[1] - w[0] > 1) {
            let here = inside.iter().filter(|n| parts(**n)[0].stage == pair[1]);
            let first = here.min_by_key(|n| parts(**n)[0].logical_id);
            list.extend(first.map(|n| (*n, pair[0], pair[1])));
        }
    }
    list
}

fn chain(check: &mut Check<'_>, gress: Gress) {
    let cfg = check.cfg(gress);
    let at = |check: &Check<'_>, node| {
        let parts = &check.placed(Owner { gress, node }).parts;
        let place = |p: &crate::Part| (p.stage, p.logical_id);
        parts.first().map(place).zip(parts.last().map(place))
    };
    for c in cfg.nodes.keys() {
        let deciders: Vec<Node> = cfg.outcomes(cfg.nodes[c].pred).into_iter().map(|(n, _)| n).collect();
        for n in cfg.nodes.keys().filter(|n| *n != c && !cfg.exclusive(*n, c)) {
            let (Some((first, last)), Some((begin, end))) = (at(check, c), at(check, n)) else { continue };
            let theirs: Vec<Node> = cfg.outcomes(cfg.nodes[n].pred).into_iter().map(|(d, _)| d).collect();
            // Only nodes that run on a table's outcome may be between its parts.
            let inside = first < begin && begin < last && !theirs.contains(&c);
            let between = deciders
                .iter()
                .filter(|d| **d != n && !theirs.contains(d))
                .any(|d| at(check, *d).is_some_and(|(from, _)| from < end && end < first));
            let name = check.name(Owner { gress, node: c });
            if inside {
                let text = format!(
                    "at stage {} id {} is between the parts of `{name}`, from stage {} id {} to stage {} id {}; next tables are a chain",
                    begin.0, begin.1, first.0, first.1, last.0, last.1
                );
                check.report(Owner { gress, node: n }, text);
            } else if between {
                check.report(
                    Owner { gress, node: n },
                    format!(
                        "from stage {} id {} to stage {} id {} is between `{name}`, from stage {} id {}, and a node on whose \
                         outcome `{name}` runs; next tables are a chain",
                        begin.0, begin.1, end.0, end.1, first.0, first.1
                    ),
                );
            }
        }
    }
}
