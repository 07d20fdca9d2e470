//! Names of the fields that only the ghost control has: variables of it in P4.

use super::canonical::calls;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Var, table_actions};
use sluice_ir::group::{reads, writes};
use sluice_ir::{Block, Field, Home, Program, StmtKind, Table};

/// Names the fields that only the ghost control uses without dots.
pub(super) fn name_variables(p: &mut Program) {
    let ghost = fields(p, &[&p.ghost]);
    let others = fields(p, &[&p.pipes[0].control, &p.pipes[1].control]);
    for field in ghost.into_iter().filter(|field| !others.contains(field)) {
        let data = &mut p.fields[field];
        if data.home == Home::Metadata {
            data.name = format!("ghost_{}", data.name.replace('.', "_"));
        }
    }
}

/// Returns the fields that tables and actions of blocks use.
fn fields(p: &Program, blocks: &[&Block]) -> Vec<Field> {
    let (mut actions, mut tables, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        calls(block, &mut actions);
        applied(block, &mut tables);
    }
    for table in tables {
        actions.extend(table_actions(p, table));
        found.extend(p.tables[table].keys.iter().filter_map(sluice_ir::Key::field));
    }
    for action in actions {
        for primitive in &p.actions[action].body {
            let vars =
                reads(p, &primitive.kind).into_iter().chain(writes(p, Gress::Ingress, &primitive.kind));
            found.extend(vars.filter_map(|var| if let Var::Field(field) = var { Some(field) } else { None }));
        }
    }
    found
}

fn applied(block: &Block, found: &mut Vec<Table>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call(_) => {}
            StmtKind::If(_, then, otherwise) => {
                applied(then, found);
                applied(otherwise, found);
            }
            StmtKind::Apply(table, arms) => {
                found.push(*table);
                applied(&arms.hit, found);
                applied(&arms.miss, found);
                arms.run.iter().for_each(|(_, block)| applied(block, found));
            }
        }
    }
}
