//! Actions whose statements stand straight in a control, and names of those that a builder's author did not name.

use super::names::Names;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::table_actions;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::group::Group;
use sluice_ir::{Action, Block, LabelData, PrimitiveKind, Program, Stmt, StmtKind};

/// What stands in place of each action's calls.
#[derive(Debug)]
pub(super) struct Inline {
    /// True for actions whose statements stand in the control.
    straight: EntityMap<Action, bool>,
    /// Names of unnamed actions that have to stay actions.
    renamed: EntityMap<Action, Option<String>>,
}

impl Inline {
    pub(super) fn of(p: &Program, names: &Names) -> Inline {
        let mut taken = names.taken.clone();
        let mut calls: EntityMap<Action, u32> = p.actions.values().map(|_| 0).collect();
        for block in [&p.pipes[0].control, &p.pipes[1].control, &p.ghost] {
            count(block, &mut calls);
        }
        let mut in_table: EntityMap<Action, bool> = p.actions.values().map(|_| false).collect();
        for table in p.tables.keys() {
            for action in table_actions(p, table) {
                in_table[action] = true;
            }
        }
        let mut inline = Inline {
            straight: p.actions.values().map(|_| false).collect(),
            renamed: p.actions.values().map(|_| None).collect(),
        };
        for (action, data) in p.actions.iter() {
            if in_table[action] || calls[action] != 1 || !is_unnamed(&data.name, data.gress) {
                continue;
            }
            match label(p, action) {
                Some(label) => {
                    let wanted = format!("drop_{}", label.name);
                    inline.renamed[action] = Some(taken[data.gress.index()].numbered(&wanted));
                }
                None => inline.straight[action] = is_one_group(p, action),
            }
        }
        for block in [&p.pipes[0].control, &p.pipes[1].control, &p.ghost] {
            inline.keep_apart(p, block);
        }
        inline
    }

    /// Returns true if the statements of an action stand in the control.
    pub(super) fn is_straight(&self, action: Action) -> bool {
        self.straight[action]
    }

    /// Returns the name of an action without a name of its own.
    pub(super) fn name(&self, action: Action) -> Option<&str> {
        self.renamed[action].as_deref()
    }

    /// Keeps actions whose statements would run with those before them, if both stood straight in a block.
    fn keep_apart(&mut self, p: &Program, block: &Block) {
        let mut group: Option<Group> = None;
        for stmt in block {
            let StmtKind::Call(action) = stmt.kind else {
                group = None;
                inner(stmt).for_each(|block| self.keep_apart(p, block));
                continue;
            };
            if !self.straight[action] {
                group = None;
                continue;
            }
            let data = &p.actions[action];
            let joins = |group: &Group| data.body.first().is_some_and(|first| group.admits(p, &first.kind));
            if group.as_ref().is_some_and(joins) {
                self.straight[action] = false;
                group = None;
                continue;
            }
            let mut own = Group::new(data.gress);
            data.body.iter().for_each(|primitive| own.push(p, primitive.kind.clone(), primitive.loc));
            group = Some(own);
        }
    }
}

/// Returns the label of a drop of an action.
pub(super) fn label(p: &Program, action: Action) -> Option<&LabelData> {
    p.actions[action].body.iter().find_map(|primitive| match primitive.kind {
        PrimitiveKind::Drop(label) | PrimitiveKind::DropCtl(_, _, label) => p.labels.get(label),
        _ => None,
    })
}

/// Returns true for the name that an action of inline statements has: gress, line, and a number if the line has several.
fn is_unnamed(name: &str, gress: Gress) -> bool {
    sluice_ir::words::unnamed(name) == Some(gress.name())
}

/// Returns true if the statements of an action are one group again when they stand in a control.
fn is_one_group(p: &Program, action: Action) -> bool {
    let data = &p.actions[action];
    let mut group = Group::new(data.gress);
    for primitive in &data.body {
        if !group.admits(p, &primitive.kind) {
            return false;
        }
        group.push(p, primitive.kind.clone(), primitive.loc);
    }
    !data.body.is_empty()
}

fn count(block: &Block, calls: &mut EntityMap<Action, u32>) {
    for stmt in block {
        if let StmtKind::Call(action) = stmt.kind
            && action.index() < calls.len()
        {
            calls[action] += 1;
        }
        inner(stmt).for_each(|block| count(block, calls));
    }
}

/// Returns the blocks inside a statement.
pub(super) fn inner(stmt: &Stmt) -> impl Iterator<Item = &Block> {
    let (two, run) = match &stmt.kind {
        StmtKind::If(_, then, otherwise) => (vec![then, otherwise], &[][..]),
        StmtKind::Apply(_, arms) => (vec![&arms.hit, &arms.miss], arms.run.as_slice()),
        StmtKind::Call(_) => (Vec::new(), &[][..]),
    };
    two.into_iter().chain(run.iter().map(|(_, block)| block))
}
