//! Reachability of a control block's statements, as far as header validity decides it.

use super::headers::{Validity, Walk};
use super::possible::Possible;
use crate::cfg::Node;
use crate::entity::EntityMap;
use crate::parser_unroll::UnrolledParser;
use crate::{Action, ApplyArms, Block, Program, StmtKind, Table};
use sluice_asic::gress::Gress;

/// Reachable parts of a control block. Nodes are numbered as in [`crate::cfg::Cfg::of`]. Nodes of the ghost
/// control, which has no headers, are not included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlReach {
    /// Per node: true if packets can reach it.
    pub nodes: EntityMap<Node, bool>,
    /// Per gateway: true if its condition can be false, and true if it can be true.
    pub branches: EntityMap<Node, [bool; 2]>,
}

/// Returns the reachable part of a gress' control block; empty if its parser loops.
pub fn control_reach(p: &Program, gress: Gress) -> ControlReach {
    let mut found = ControlReach::default();
    let Ok(unrolled) = UnrolledParser::of(p, gress) else { return found };
    let validity = Validity::new(p, gress);
    let end = validity.parse(&unrolled).end;
    let mut diags = Vec::new();
    let walk = Walk { p, v: &validity, d: &mut diags };
    Visit { p, walk, found: &mut found }.block(&p.pipe(gress).control, end);
    found
}

struct Visit<'w, 'f> {
    p: &'w Program,
    walk: Walk<'w>,
    found: &'f mut ControlReach,
}

impl Visit<'_, '_> {
    /// Visits all statements, also unreachable ones, in the order in which nodes are numbered.
    fn block(&mut self, block: &Block, mut at: Possible) -> Possible {
        for stmt in block {
            let node = self.found.nodes.push(!at.is_never());
            self.found.branches.push([true; 2]);
            at = match &stmt.kind {
                StmtKind::Call(a) => self.action(*a, at),
                StmtKind::Apply(t, arms) => self.apply(*t, arms, &at),
                StmtKind::If(cond, then, otherwise) => {
                    let yes = self.walk.assume(cond, true, &at);
                    let no = self.walk.assume(cond, false, &at);
                    self.found.branches[node] = [!no.is_never(), !yes.is_never()];
                    let then = self.block(then, yes);
                    then.join(&self.block(otherwise, no))
                }
            };
        }
        at
    }

    fn action(&mut self, a: Action, at: Possible) -> Possible {
        if at.is_never() { at } else { self.walk.action(a, at) }
    }

    fn apply(&mut self, t: Table, arms: &ApplyArms, at: &Possible) -> Possible {
        let data = &self.p.tables[t];
        let mut hit = Possible::never();
        let mut ran: Vec<(Action, Possible)> = Vec::new();
        for &a in data.actions.iter().filter(|_| !data.keys.is_empty()) {
            let after = self.action(a, at.clone());
            hit = hit.join(&after);
            ran.push((a, after));
        }
        let mut miss = self.action(data.default.action, at.clone());
        // The control plane may set another default, and a group may have no member.
        for (_, after) in &ran {
            miss = miss.join(after);
        }
        if arms.run.is_empty() {
            let hit = self.block(&arms.hit, hit);
            return self.block(&arms.miss, miss).join(&hit);
        }
        let mut end = miss.join(&hit);
        for (action, block) in &arms.run {
            let after = ran.iter().find(|(a, _)| a == action).map(|(_, after)| after.clone());
            let after = match after {
                Some(after) => after,
                None if *action == data.default.action => self.action(*action, at.clone()),
                None => Possible::never(),
            };
            end = end.join(&self.block(block, after));
        }
        end
    }
}
