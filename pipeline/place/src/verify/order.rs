//! Rule 7: dependencies, from stages, logical ids and effects. Fields at the same bits count as one variable.

use super::Check;
use crate::data::Owner;
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Deposits, Effects, Node, NodeKind, Outcome, Var, deposit_apart};
use sluice_ir::{Intrinsic, PrimitiveKind};
use std::collections::BTreeSet;

pub(super) fn check(check: &mut Check<'_>) {
    for gress in Gress::ALL {
        let nodes: Vec<Node> = check.cfg(gress).nodes.keys().collect();
        let effects: Vec<Effects> = nodes.iter().map(|&n| with_aliases(check, gress, n)).collect();
        let cfg = check.cfg(gress);
        let deposits: Vec<Deposits> = nodes.iter().map(|&n| cfg.deposits(check.program, n)).collect();
        for (i, &a) in nodes.iter().enumerate() {
            for (j, &b) in nodes.iter().enumerate().skip(i + 1) {
                if !check.cfg(gress).exclusive(a, b) {
                    let later = (b, &effects[j], &deposits[j]);
                    // In the arm of an action of `a`, no other action of `a` has run.
                    let outcomes = check.cfg(gress).outcomes(check.cfg(gress).nodes[b].pred);
                    if outcomes.iter().any(|o| matches!(o, (n, Outcome::Ran(_)) if *n == a)) {
                        let (own, slices) = check.cfg(gress).effects_before(check.program, a, b);
                        let own = aliased(check, own);
                        pair(check, gress, (a, &own, &slices), later);
                    } else {
                        pair(check, gress, (a, &effects[i], &deposits[i]), later);
                    }
                }
            }
        }
        same_table_twice(check, gress, &nodes);
    }
}

/// Returns a node's effects. A field that shares bits with a written field counts as written.
fn with_aliases(check: &Check<'_>, gress: Gress, node: Node) -> Effects {
    aliased(check, check.cfg(gress).effects(check.program, node))
}

fn aliased(check: &Check<'_>, mut effects: Effects) -> Effects {
    let bytes = check.view.bytes(effects.writes.iter().copied());
    let hit = |v: &Var| check.view.bytes([*v]).iter().any(|(b, m)| bytes.get(b).is_some_and(|w| w & m != 0));
    let fields = check.program.fields.keys().map(Var::Field);
    let aliases: Vec<Var> = fields.filter(|v| !effects.writes.contains(v)).filter(hit).collect();
    effects.writes.extend(aliases);
    effects
}

fn meets<'v>(a: &'v [Var], b: &[Var]) -> Option<&'v Var> {
    a.iter().find(|v| b.contains(v))
}

/// A node, its effects, and the slices that it deposits.
type Acting<'e> = (Node, &'e Effects, &'e Deposits);

fn pair(check: &mut Check<'_>, gress: Gress, (a, ea, da): Acting<'_>, (b, eb, db): Acting<'_>) {
    let (oa, ob) = (Owner { gress, node: a }, Owner { gress, node: b });
    let (pa, pb) = (&check.placed(oa).parts, &check.placed(ob).parts);
    let (Some(last), Some(first)) = (pa.last(), pb.first()) else { return };
    // Slices of one field that both deposit, and bits around them that both keep, need no order.
    let apart = |v: &Var| deposit_apart(da, db, *v);
    let later = meets(&ea.writes, &eb.match_reads)
        .or_else(|| ea.writes.iter().find(|v| eb.action_reads.contains(v) && !apart(v)))
        .or_else(|| ea.writes.iter().find(|v| eb.writes.contains(v) && !apart(v)));
    let dropped =
        drops(check, oa) && drops(check, ob) && check.program.intrinsic(gress, Intrinsic::DropCtl).is_none();
    if (later.is_some() || dropped) && first.stage <= last.stage {
        let what = later.map_or_else(|| "a drop".to_owned(), |v| format!("`{}`", v.name(check.program)));
        check.report(
            ob,
            format!(
                "in stage {}, but `{}` writes {what} in stage {}",
                first.stage,
                check.name(oa),
                last.stage
            ),
        );
    }
    let controls = check.cfg(gress).outcomes(check.cfg(gress).nodes[b].pred).iter().any(|(n, _)| *n == a);
    let kept = ea.action_reads.iter().find(|v| eb.writes.contains(v) && !apart(v));
    let anti = meets(&ea.match_reads, &eb.writes).or(kept).is_some();
    if controls || anti {
        let (at_a, at_b) = ((last.stage, last.logical_id), (first.stage, first.logical_id));
        // Rule 3 ensures that only a gateway and its own table share an id; the gateway comes first.
        let attached = at_a == at_b && matches!(check.kind(oa), NodeKind::Gateway(_));
        if at_b <= at_a && !attached {
            let why = if controls { "runs on its outcome" } else { "overwrites what it reads" };
            check.report(
                ob,
                format!(
                    "at stage {} id {}, not after `{}` at stage {} id {}, and {why}",
                    at_b.0,
                    at_b.1,
                    check.name(oa),
                    at_a.0,
                    at_a.1
                ),
            );
        }
    }
    let (ca, cb) = (written(check, ea, da), written(check, eb, db));
    let together = pa.iter().find(|p| pb.iter().any(|q| q.stage == p.stage));
    if let (Some(part), false) = (together, ca.is_disjoint(&cb)) {
        check.report(
            ob,
            format!("writes a container that `{}` writes in the same stage {}", check.name(oa), part.stage),
        );
    }
}

/// Returns the containers with bits that a node writes.
fn written(check: &Check<'_>, effects: &Effects, deposits: &Deposits) -> BTreeSet<Container> {
    let mut found = BTreeSet::new();
    for var in &effects.writes {
        let whole = vec![(u16::MAX - 1, 0)];
        let slices = match var {
            Var::Field(field) => deposits.get(field).unwrap_or(&whole),
            Var::Valid(_) => &whole,
        };
        for (hi, lo) in slices {
            let bytes = check.view.bytes_of_bits(*var, *lo, hi - lo + 1);
            found.extend(bytes.keys().map(|byte| byte.container));
        }
    }
    found
}

fn drops(check: &Check<'_>, owner: Owner) -> bool {
    let actions = check.cfg(owner.gress).actions(check.program, owner.node);
    actions
        .iter()
        .any(|&a| check.program.actions[a].body.iter().any(|p| matches!(p.kind, PrimitiveKind::Drop(_))))
}

fn same_table_twice(check: &mut Check<'_>, gress: Gress, nodes: &[Node]) {
    for (i, &a) in nodes.iter().enumerate() {
        let (oa, table) = (Owner { gress, node: a }, check.table(Owner { gress, node: a }));
        let again = nodes[i + 1..]
            .iter()
            .find(|&&b| table.is_some() && check.table(Owner { gress, node: b }) == table);
        if again.is_some() {
            check.report(oa, "applied twice");
        }
    }
}
