//! Arguments that a parameter cannot stand for.
//!
//! P4 copies arguments in before a call and out after it. A parameter may stand for the argument's place instead, as long as that
//! makes no difference: the callee does not reach the place by another name, or only reads it there before it is written.

use super::tree::{Given, Path, Tree};
use super::uses::{Bodies, Use};
use crate::check::{Checked, Resolution, TyKind};
use crate::syntax::ast::{Ast, DeclKind, Direction, ExprId, ExprKind};

/// A place that a callee uses through an argument, or by a name of its own.
type Reached = (Option<ExprId>, Path, Use);

impl Bodies {
    /// Returns the arguments of a call that need a variable: slices that the callee writes, and places that it reaches by another
    /// name, too, where that makes a difference.
    pub(crate) fn copied(&self, ast: &Ast, checked: &Checked, call: ExprId) -> Vec<Given> {
        let tree = Tree { ast, checked };
        let Some(callee) = tree.callee(call) else { return Vec::new() };
        let given = tree.given(call);
        let mut reached = self.through(&tree, callee, call);
        reached.extend(invalidated(&tree, &given));
        let is_action = matches!(ast.decls[callee].kind, DeclKind::Action(_));
        // A number that is only read is the cheapest to copy, and a structure the dearest.
        let mut order = given.clone();
        order.sort_by_key(|(arg, param)| (!is_number(&tree, *arg), tree.is_written(*param)));
        let mut copied: Vec<Given> = Vec::new();
        for (arg, param) in order {
            let written = tree.is_written(param);
            if is_action && !written && is_number(&tree, arg) {
                // An action has the value, not the place.
                continue;
            }
            let is_slice = written && matches!(ast.exprs[arg].kind, ExprKind::Slice { .. });
            let mut others = given.iter().filter(|other| other.0 != arg && !copied.contains(other));
            let shared = others.any(|other| {
                differs(&reached, (Some(arg), written), (Some(other.0), tree.is_written(other.1)))
            });
            if is_slice || shared || differs(&reached, (Some(arg), written), (None, false)) {
                copied.push((arg, param));
            }
        }
        copied.sort_by_key(|copied| given.iter().position(|given| given == copied));
        copied
    }
}

/// Returns true if a later argument of a call, which no variable stands for, gives an argument's place its last value.
pub(super) fn is_overwritten(tree: &Tree<'_>, call: ExprId, arg: ExprId, copied: &[Given]) -> bool {
    let Some(own) = tree.path(arg) else { return false };
    let given = tree.given(call);
    let later = given.iter().skip_while(|given| given.0 != arg).skip(1);
    let mut later = later.filter(|other| tree.is_written(other.1) && !copied.contains(other));
    later.any(|other| tree.path(other.0).is_some_and(|other| overlap(&own, &other)))
}

/// Returns the structures that are given as `out`: their headers are invalid before the callee begins.
fn invalidated(tree: &Tree<'_>, given: &[Given]) -> Vec<Reached> {
    let out = given
        .iter()
        .filter(|(arg, param)| tree.ast.direction(*param) == Direction::Out && !is_number(tree, *arg));
    let begin = Use { written: Some(0), read: None };
    out.filter_map(|(arg, _)| Some((Some(*arg), tree.path(*arg)?, begin))).collect()
}

fn is_number(tree: &Tree<'_>, expr: ExprId) -> bool {
    let kind = tree.checked.types.kind(tree.checked.expr_types[expr]);
    matches!(kind, TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Bool)
}

/// Returns true if a call does something else without copies of two arguments; for each, whether it is given back after the call.
/// `None` stands for the names that the callee has of its own.
fn differs(reached: &[Reached], one: (Option<ExprId>, bool), other: (Option<ExprId>, bool)) -> bool {
    let of = |arg: Option<ExprId>| reached.iter().filter(move |(by, ..)| *by == arg);
    of(one.0).any(|(_, own, used)| {
        of(other.0).filter(|(_, path, _)| overlap(own, path)).any(|(_, _, also)| {
            let stale = |written: Use, read: Use| written.written < read.read && written.written.is_some();
            // What is given back last is the value of a parameter, whoever wrote last.
            let lost = (one.1 && also.written.is_some()) || (other.1 && used.written.is_some());
            stale(*used, *also) || stale(*also, *used) || lost
        })
    })
}

/// Returns true if two places have bits in common.
fn overlap(one: &[Resolution], other: &[Resolution]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}
