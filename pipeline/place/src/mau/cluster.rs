//! Nodes that must share a stage, because they share a counter, a register or an action profile (model: chip §3.8).

use super::super::data::Owner;
use super::super::deps::{DependencyGraph, node_name};
use super::demand::{AluArray, Demand};
use super::relations::Relations;
use sluice_ir::apart::by_value;
use sluice_ir::cfg::{Cfg, NodeKind};
use sluice_ir::verify::Diag;
use sluice_ir::{Action, Counter, PrimitiveKind, Profile, Program};

/// Resource that only one stage can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    Counter(Counter),
    Array(AluArray),
    Profile(Profile),
}

/// Returns groups of demand indices that must share a stage, in order of their first members; most groups have one
/// member.
///
/// # Errors
/// If nodes that share a resource both run for one packet, or depend on each other so that they need different
/// stages; if a table is applied twice.
pub(crate) fn clusters(
    program: &Program,
    cfgs: &[Cfg; 2],
    graph: &DependencyGraph,
    demands: &[Demand],
) -> Result<Vec<Vec<usize>>, Vec<Diag>> {
    let mut diags = Vec::new();
    let mut home: Vec<usize> = (0..demands.len()).collect();
    for b in 0..demands.len() {
        for a in 0..b {
            let (oa, ob) = (demands[a].owner, demands[b].owner);
            if oa.gress != ob.gress {
                continue;
            }
            let cfg = &cfgs[oa.gress.index()];
            if let (NodeKind::Table(x), NodeKind::Table(y)) =
                (&cfg.nodes[oa.node].kind, &cfg.nodes[ob.node].kind)
                && x == y
            {
                diags.push(applied_twice(&demands[a], &demands[b]));
            }
            let Some(what) = shared(&demands[a]).find(|s| shared(&demands[b]).any(|t| t == *s)) else {
                continue;
            };
            let (from, to) = (home[b], home[a]);
            home.iter_mut().filter(|h| **h == from).for_each(|h| *h = to);
            let needs_later =
                graph.before(ob).find(|e| e.from == oa && e.kind.distance().is_some_and(|d| d > 0));
            let before = cfg.actions_before(program, oa.node, ob.node);
            let apart = cfg.exclusive(oa.node, ob.node)
                || by_value(program, cfg, oa.node, ob.node)
                || !before.iter().any(|action| accesses(program, *action, what));
            if !apart || needs_later.is_some() {
                diags.push(clash(program, cfgs, what, (oa, ob), (&demands[a], &demands[b])));
            }
        }
    }
    if !diags.is_empty() {
        return Err(diags);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); demands.len()];
    for (i, h) in home.into_iter().enumerate() {
        groups[h].push(i);
    }
    groups.retain(|g| !g.is_empty());
    groups.sort_by_key(|g| g.first().copied());
    Ok(groups)
}

fn shared(demand: &Demand) -> impl Iterator<Item = Shared> {
    let counters = demand.counters.iter().filter(|c| c.size.is_some()).map(|c| Shared::Counter(c.counter));
    let arrays = demand.arrays.iter().filter(|a| a.size.is_some()).map(|a| Shared::Array(a.array));
    counters.chain(arrays).chain(demand.profile.as_ref().map(|p| Shared::Profile(p.profile)))
}

/// Returns true if an action accesses a memory, or may.
fn accesses(program: &Program, action: Action, what: Shared) -> bool {
    program.actions[action].body.iter().any(|primitive| match (&primitive.kind, what) {
        (PrimitiveKind::Count(counter, _), Shared::Counter(of)) => *counter == of,
        (PrimitiveKind::Register(access), Shared::Array(AluArray::Register(of, _))) => {
            program.register_actions[access.action].register == of
        }
        (PrimitiveKind::Meter(access), Shared::Array(AluArray::Meter(of, _))) => access.meter == of,
        (_, Shared::Profile(_)) => true,
        _ => false,
    })
}

fn applied_twice(a: &Demand, b: &Demand) -> Diag {
    Diag::error(b.at, format!("table `{}` is applied twice; its memories are in one place", b.name))
        .also(a.at, "the first time here")
        .help("apply it once, under a condition that covers both cases")
}

fn clash(
    program: &Program,
    cfgs: &[Cfg; 2],
    what: Shared,
    (oa, ob): (Owner, Owner),
    (a, b): (&Demand, &Demand),
) -> Diag {
    let name = match what {
        Shared::Counter(c) => format!("counter `{}`", program.counters[c].name),
        Shared::Array(AluArray::Register(r, _)) => format!("register `{}`", program.registers[r].name),
        Shared::Array(AluArray::Meter(m, _)) => format!("meter `{}`", program.meters[m].name),
        Shared::Profile(p) => format!("action profile `{}`", program.profiles[p].name),
    };
    let of = |o: Owner| node_name(program, &cfgs[o.gress.index()], o.node);
    Diag::error(b.at, format!("`{}` and `{}` share {name}, but a packet may run both", of(oa), of(ob)))
        .also(a.at, "the first use")
        .help("a memory is accessed once per packet: make the uses exclude each other, or give each its own")
}

/// Returns the stage to which each node, or one with which it shares a memory, is pinned.
pub(crate) fn pins(clusters: &[Vec<usize>], demands: &[Demand]) -> Vec<Option<u8>> {
    let mut pins: Vec<Option<u8>> = demands.iter().map(|d| d.pin).collect();
    for cluster in clusters {
        let pin = cluster.iter().find_map(|&i| demands[i].pin);
        cluster.iter().for_each(|&i| pins[i] = pins[i].or(pin));
    }
    pins
}

/// Returns the last stage of each node that lets all pinned nodes after it, and those with which it shares a memory, reach
/// their stages; `u32::MAX` if no pin limits it.
pub(crate) fn deadlines(clusters: &[Vec<usize>], demands: &[Demand], relations: &Relations) -> Vec<u32> {
    let mut last: Vec<u32> = demands.iter().map(|d| d.pin.map_or(u32::MAX, u32::from)).collect();
    if demands.iter().all(|d| d.pin.is_none()) {
        return last;
    }
    loop {
        let before = last.clone();
        for cluster in clusters {
            let least = cluster.iter().map(|&i| last[i]).min().unwrap_or(u32::MAX);
            cluster.iter().for_each(|&i| last[i] = least);
        }
        // Later nodes first, so that few rounds are needed.
        for i in (0..demands.len()).rev() {
            let own = last[i];
            for wait in relations.waits[i].iter().filter(|_| own != u32::MAX) {
                last[wait.on] = last[wait.on].min(own.saturating_sub(wait.distance));
            }
        }
        if last == before {
            return last;
        }
    }
}
