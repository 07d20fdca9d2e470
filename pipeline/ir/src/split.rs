//! Conditions that one gateway cannot test, split into several.
//!
//! `if (a && b) { s }` is `if (a) { if (b) { s } }`, and `if (a || b) { s }` is `if (a) { s } else if (b) { s }` if `s` is no
//! more than a few actions, each of which takes a logical table again. Where a branch cannot be repeated, its condition sets a
//! flag of one bit, which costs an action and a later stage. A comparison that is too wide is one of its parts.

use crate::{
    Action, ActionData, Block, CmpOp, Cond, Expr, FieldData, Home, Loc, Primitive, PrimitiveKind, Program,
    Stmt, StmtKind,
};
use sluice_asic::gress::Gress;

/// The most actions of a branch that is repeated.
const REPEATED: usize = 2;

/// Bits that a comparison keeps if it is cut.
const PART: u16 = 32;

/// Splits every condition of a program for which `fits` is false.
pub fn split(program: &mut Program, fits: &impl Fn(&Program, &Cond) -> bool) {
    for gress in Gress::ALL {
        let block = std::mem::take(&mut program.pipes[gress.index()].control);
        let block = Split { program, gress, fits }.block(block);
        program.pipes[gress.index()].control = block;
    }
    let ghost = std::mem::take(&mut program.ghost);
    let ghost = Split { program, gress: Gress::Ingress, fits }.block(ghost);
    program.ghost = ghost;
}

struct Split<'p, F> {
    program: &'p mut Program,
    gress: Gress,
    fits: &'p F,
}

impl<F: Fn(&Program, &Cond) -> bool> Split<'_, F> {
    fn block(&mut self, block: Block) -> Block {
        block.into_iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, Stmt { kind, loc }: Stmt) -> Block {
        match kind {
            StmtKind::Call(_) => vec![Stmt { kind, loc }],
            StmtKind::Apply(table, mut arms) => {
                let run = arms.run.iter_mut().map(|(_, block)| block);
                for arm in [&mut arms.hit, &mut arms.miss].into_iter().chain(run) {
                    *arm = self.block(std::mem::take(arm));
                }
                vec![Stmt { kind: StmtKind::Apply(table, arms), loc }]
            }
            StmtKind::If(cond, then, otherwise) => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                self.branch(cond, then, otherwise, loc)
            }
        }
    }

    /// Returns a branch whose gateways can test their conditions.
    fn branch(&mut self, cond: Cond, then: Block, otherwise: Block, loc: Loc) -> Block {
        if (self.fits)(self.program, &cond) {
            return vec![if_stmt(cond, then, otherwise, loc)];
        }
        match cond {
            Cond::Not(inner) => self.branch(*inner, otherwise, then, loc),
            Cond::And(a, b) if self.repeats(&otherwise) => {
                let inner = self.branch(*b, then, otherwise.clone(), loc);
                self.branch(*a, inner, otherwise, loc)
            }
            Cond::Or(a, b) if self.repeats(&then) => {
                let inner = self.branch(*b, then.clone(), otherwise, loc);
                self.branch(*a, then, inner, loc)
            }
            Cond::And(..) | Cond::Or(..) => {
                let (flag, set) = self.flag(loc);
                let set = vec![Stmt { kind: StmtKind::Call(set), loc }];
                let mut made = self.branch(cond, set, Block::new(), loc);
                made.push(if_stmt(flag, then, otherwise, loc));
                made
            }
            Cond::Cmp(op, a, b) => match self.cut(op, &a, &b) {
                Some(parts) => self.branch(parts, then, otherwise, loc),
                None => vec![if_stmt(Cond::Cmp(op, a, b), then, otherwise, loc)],
            },
            Cond::Valid(_) => vec![if_stmt(cond, then, otherwise, loc)],
        }
    }

    /// Returns true for a block that may be in two branches: a few actions that access no array.
    fn repeats(&self, block: &Block) -> bool {
        let plain = |action: Action| {
            let body = &self.program.actions[action].body;
            body.iter().all(|p| {
                !matches!(
                    p.kind,
                    PrimitiveKind::Register(_)
                        | PrimitiveKind::Meter(_)
                        | PrimitiveKind::Count(..)
                        | PrimitiveKind::CountDirect(_)
                        | PrimitiveKind::Random(..)
                )
            })
        };
        block.len() <= REPEATED
            && block.iter().all(|stmt| matches!(stmt.kind, StmtKind::Call(action) if plain(action)))
    }

    /// Returns a comparison as one of its upper and lower bits; `None` if it has no parts.
    fn cut(&self, op: CmpOp, a: &Expr, b: &Expr) -> Option<Cond> {
        let width = a.width(self.program).max(b.width(self.program));
        let at = if width > PART { PART } else { width / 2 / 8 * 8 };
        if at == 0 {
            return None;
        }
        let part = |value: &Expr, hi: u16, lo: u16| match value {
            Expr::Const(v, _) => Some(Expr::Const((v >> lo) & (u128::MAX >> (127 - (hi - lo))), hi - lo + 1)),
            Expr::Field(_) => Some(Expr::Slice(Box::new(value.clone()), hi, lo)),
            Expr::Slice(inner, _, from) => Some(Expr::Slice(inner.clone(), hi + from, lo + from)),
            _ => None,
        };
        let of = |op: CmpOp, hi: u16, lo: u16| Some(Cond::Cmp(op, part(a, hi, lo)?, part(b, hi, lo)?));
        let (upper, lower) = ((width - 1, at), (at - 1, 0));
        let both = |x: Cond, y: Cond| Cond::And(Box::new(x), Box::new(y));
        let equal = of(CmpOp::Eq, upper.0, upper.1)?;
        let (strict, not) = match op {
            CmpOp::Eq => return Some(both(equal, of(CmpOp::Eq, lower.0, lower.1)?)),
            CmpOp::Ne => {
                return Some(Cond::Not(Box::new(both(equal, of(CmpOp::Eq, lower.0, lower.1)?))));
            }
            CmpOp::Lt => (CmpOp::Lt, false),
            CmpOp::Ge => (CmpOp::Lt, true),
            CmpOp::Gt => (CmpOp::Gt, false),
            CmpOp::Le => (CmpOp::Gt, true),
        };
        let within = both(equal, of(strict, lower.0, lower.1)?);
        let below = Cond::Or(Box::new(of(strict, upper.0, upper.1)?), Box::new(within));
        Some(if not { Cond::Not(Box::new(below)) } else { below })
    }

    /// Declares a flag, and returns the test of it and the action that sets it.
    fn flag(&mut self, loc: Loc) -> (Cond, Action) {
        let unique = |taken: &dyn Fn(&str) -> bool, stem: &str| {
            let mut names = (1..).map(|n| if n == 1 { stem.to_owned() } else { format!("{stem}_{n}") });
            names.find(|name| !taken(name)).unwrap_or_else(|| stem.to_owned())
        };
        let gress = self.gress;
        let fields = &self.program.fields;
        let name = unique(&|name| fields.values().any(|f| f.gress == gress && f.name == name), "holds");
        let (home, doc) = (Home::Metadata, String::new());
        let flag = self.program.fields.push(FieldData { name, gress, width: 1, home, doc, loc });
        let actions = &self.program.actions;
        let name = unique(&|name| actions.values().any(|a| a.name == name), &format!("{gress}_holds"));
        let body = vec![Primitive { kind: PrimitiveKind::Set(flag, Expr::Const(1, 1)), loc }];
        let (params, doc) = (Vec::new(), String::new());
        let set = self.program.actions.push(ActionData { name, gress, params, body, doc, loc });
        (Cond::Cmp(CmpOp::Eq, Expr::Field(flag), Expr::Const(1, 1)), set)
    }
}

/// Returns a branch, whose first block is not the empty one.
fn if_stmt(cond: Cond, then: Block, otherwise: Block, loc: Loc) -> Stmt {
    let kind = if then.is_empty() {
        StmtKind::If(Cond::Not(Box::new(cond)), otherwise, then)
    } else {
        StmtKind::If(cond, then, otherwise)
    };
    Stmt { kind, loc }
}
