//! Writes of zero to metadata that is zero.
//!
//! Metadata is zero at the start of a pass. Programs write the zeros all the same, and each write is an output dependency of
//! the first table that writes the field. As the chip's compiler does, the lowering leaves out a write of zero that no packet
//! reaches after another write of the field. A field that nothing else writes keeps its zeros.

use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, Var};
use sluice_ir::group::writes;
use sluice_ir::{Action, Expr, Field, Home, Primitive, PrimitiveKind, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Leaves out the writes of zero, and returns their fields.
pub(super) fn leave_out(program: &mut Program) -> Vec<Field> {
    let mut left_out = Vec::new();
    let needed = needed(program);
    let others = written_otherwise(program, &needed);
    for (action, needed) in needed {
        let mut position = 0;
        program.actions[action].body.retain(|primitive| {
            position += 1;
            let zero = zeroed(primitive).filter(|field| others.contains(field));
            let stays = zero.is_none() || needed.contains(&(position - 1));
            left_out.extend(zero.filter(|_| !stays));
            stays
        });
    }
    left_out
}

/// Returns the field to which a primitive writes zero.
fn zeroed(primitive: &Primitive) -> Option<Field> {
    match primitive.kind {
        PrimitiveKind::Set(field, Expr::Const(0, _))
        | PrimitiveKind::SetSlice(field, _, _, Expr::Const(0, _)) => Some(field),
        _ => None,
    }
}

/// Returns, for each action that a control runs, the positions of the primitives that do more than write zero to metadata
/// that is zero.
fn needed(program: &Program) -> BTreeMap<Action, BTreeSet<usize>> {
    let mut needed: BTreeMap<Action, BTreeSet<usize>> = BTreeMap::new();
    let by_parser: BTreeSet<Var> = by_parser(program).into_iter().map(Var::Field).collect();
    for gress in Gress::ALL {
        let cfg = Cfg::of(program, gress);
        let mut written: Vec<(Node, BTreeSet<Var>)> = Vec::new();
        // Nodes are in program order.
        for node in cfg.nodes.keys() {
            let before = |var: &Var| {
                let mut earlier = written.iter().filter(|(_, vars)| vars.contains(var));
                by_parser.contains(var) || earlier.any(|(other, _)| !cfg.exclusive(*other, node))
            };
            let mut own = BTreeSet::new();
            for action in cfg.actions(program, node) {
                let needed = needed.entry(action).or_default();
                let mut done: BTreeSet<Var> = BTreeSet::new();
                for (position, primitive) in program.actions[action].body.iter().enumerate() {
                    let idle = zeroed(primitive).is_some_and(|field| {
                        let var = Var::Field(field);
                        let metadata = program.fields[field].home == Home::Metadata;
                        metadata && !done.contains(&var) && !before(&var)
                    });
                    if !idle {
                        needed.insert(position);
                        done.extend(writes(program, gress, &primitive.kind));
                    }
                }
                own.extend(done);
            }
            written.push((node, own));
        }
    }
    needed
}

/// Returns the fields that parsers write.
pub(super) fn by_parser(program: &Program) -> BTreeSet<Field> {
    program.states.values().flat_map(|state| &state.ops).filter_map(|op| op.kind.written()).collect()
}

/// Returns the fields that something other than an idle zero writes.
fn written_otherwise(program: &Program, needed: &BTreeMap<Action, BTreeSet<usize>>) -> BTreeSet<Field> {
    let mut found = by_parser(program);
    for (action, positions) in needed {
        let data = &program.actions[*action];
        for primitive in positions.iter().filter_map(|position| data.body.get(*position)) {
            for var in writes(program, data.gress, &primitive.kind) {
                if let Var::Field(field) = var {
                    found.insert(field);
                }
            }
        }
    }
    found
}
