//! Conditions that the control decides for the deparser.
//!
//! A deparser of the chip decides by validity bits, type fields and flags of one bit. Where a P4 deparser has another condition, the
//! last statements of the control compute a flag, as the chip's compiler has a table do.

use super::super::Lower;
use super::super::name::Space;
use super::guard::Guard;
use crate::source::Span;
use sluice_asic::gress::Gress;
use sluice_ir::{
    self as ir, ActionData, CmpOp, Cond, Expr, Field, FieldData, Header, Home, Primitive, PrimitiveKind,
    Stmt, StmtKind,
};

/// A checksum update of a gress' deparser whose condition is not in the program yet.
#[derive(Debug)]
pub(in crate::lower) struct Update {
    /// Conditions that must hold in addition to the validity of the header.
    pub(super) conds: Vec<Cond>,
    /// The place of the assignment.
    pub(super) at: Span,
    /// The update.
    pub(super) update: ir::ChecksumUpdate,
}

impl Guard {
    /// Returns what holds in addition to a type and to the validity of `header`.
    pub(super) fn conditions(&self, header: Option<Header>) -> Vec<Cond> {
        let valid =
            self.valid.iter().filter(|valid| Some(**valid) != header).map(|valid| Cond::Valid(*valid));
        let flags = self.flags.iter().map(|flag| is_set(*flag));
        valid.chain(flags).chain(self.others.iter().cloned()).collect()
    }
}

/// Returns the condition that a flag is set.
pub(super) fn is_set(flag: Field) -> Cond {
    Cond::Cmp(CmpOp::Eq, Expr::Field(flag), Expr::Const(1, 1))
}

/// Returns true if one bit decides a condition: the validity of a header or a field of one bit.
pub(super) fn is_bit(cond: &Cond) -> bool {
    match cond {
        Cond::Valid(_) | Cond::Cmp(CmpOp::Eq | CmpOp::Ne, Expr::Field(_), Expr::Const(_, 1)) => true,
        Cond::Not(inner) => is_bit(inner),
        Cond::Cmp(..) | Cond::And(..) | Cond::Or(..) => false,
    }
}

/// Returns the field if a condition is that it has a value.
pub(super) fn compared_field(conds: &[Cond]) -> Option<Field> {
    let [Cond::Cmp(CmpOp::Eq, value, Expr::Const(..))] = conds else { return None };
    match value {
        Expr::Field(field) => Some(*field),
        Expr::Slice(inner, _, 0) | Expr::Cast(inner, _) => match **inner {
            Expr::Field(field) => Some(field),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the flag if a condition is that it is set.
fn flag_of(conds: &[Cond]) -> Option<Field> {
    match conds {
        [Cond::Cmp(CmpOp::Eq, Expr::Field(flag), Expr::Const(1, 1))] => Some(*flag),
        _ => None,
    }
}

/// Returns the conjunction of conditions; `None` if there are none.
fn all(conds: Vec<Cond>) -> Option<Cond> {
    conds.into_iter().reduce(|all, one| Cond::And(Box::new(all), Box::new(one)))
}

impl Lower<'_> {
    /// Returns a field of one bit that is 1 at the end of the control if all of these conditions hold; `None` if there are
    /// none.
    pub(super) fn flag_for(&mut self, gress: Gress, conds: Vec<Cond>, at: Span) -> Option<Field> {
        if let Some(flag) = flag_of(&conds) {
            return Some(flag);
        }
        let cond = all(conds)?;
        if let Some((.., flag)) = self.decided.iter().find(|(g, known, _)| *g == gress && *known == cond) {
            return Some(*flag);
        }
        let (flag, set) = self.decision(gress, at);
        self.at_the_end(gress, StmtKind::If(cond.clone(), vec![set], Vec::new()), at);
        self.decided.push((gress, cond, flag));
        Some(flag)
    }

    /// Puts the checksum updates of a gress into its deparser. Of several updates of one field, a packet gets the last one
    /// whose condition holds; their flags exclude each other.
    pub(super) fn decide_updates(&mut self, gress: Gress) {
        let mut updates = std::mem::take(&mut self.updates);
        while !updates.is_empty() {
            let field = updates[0].update.field;
            let (same, rest) = updates.into_iter().partition::<Vec<_>, _>(|of| of.update.field == field);
            updates = rest;
            // An update without a condition replaces those before it.
            let first = same.iter().rposition(|of| of.conds.is_empty()).unwrap_or(0);
            let mut left: Vec<Update> = same.into_iter().skip(first).collect();
            if let [only] = left.as_mut_slice() {
                let (conds, at) = (std::mem::take(&mut only.conds), only.at);
                only.update.when = self.flag_for(gress, conds, at);
            } else {
                self.exclude(gress, &mut left);
            }
            let checksums = &mut self.program.pipes[gress.index()].deparser.checksums;
            checksums.extend(left.into_iter().map(|of| of.update));
        }
    }

    /// Gives updates flags of which at most one is set: that of the last update whose condition holds.
    fn exclude(&mut self, gress: Gress, updates: &mut [Update]) {
        let mut otherwise: ir::Block = Vec::new();
        let mut at = Span::NONE;
        for of in updates {
            at = of.at;
            let (flag, set) = self.decision(gress, at);
            of.update.when = Some(flag);
            let loc = self.loc(at);
            otherwise = match all(std::mem::take(&mut of.conds)) {
                Some(cond) => vec![Stmt { kind: StmtKind::If(cond, vec![set], otherwise), loc }],
                None => vec![set],
            };
        }
        for stmt in otherwise {
            self.at_the_end(gress, stmt.kind, at);
        }
    }

    /// Declares a flag; returns it and the statement that sets it.
    fn decision(&mut self, gress: Gress, at: Span) -> (Field, Stmt) {
        let loc = self.loc(at);
        let name = self.names.take(Space::Field(gress), "deparser.$flag");
        let (home, doc) = (Home::Metadata, String::new());
        let flag = self.program.fields.push(FieldData { name, gress, width: 1, home, doc, loc });
        let name = self.names.take(Space::Action, &format!("{gress}_l{}", loc.line));
        let body = vec![Primitive { kind: PrimitiveKind::Set(flag, Expr::Const(1, 1)), loc }];
        let (params, doc) = (Vec::new(), String::new());
        let action = self.program.actions.push(ActionData { name, gress, params, body, doc, loc });
        (flag, Stmt { kind: StmtKind::Call(action), loc })
    }

    /// Returns a field of the metadata to which the control copies a header's field at its end.
    pub(super) fn copy_at_the_end(
        &mut self,
        gress: Gress,
        (header, field): (Header, Field),
        at: Span,
    ) -> Field {
        if let Some((.., copy)) = self.list_copies.iter().find(|(known, _)| *known == field) {
            return *copy;
        }
        let loc = self.loc(at);
        let FieldData { name, width, .. } = self.program.fields[field].clone();
        let name = self.names.take(Space::Field(gress), &format!("{name}.$copy"));
        let (home, doc) = (Home::Metadata, String::new());
        let copy = self.program.fields.push(FieldData { name, gress, width, home, doc, loc });
        let name = self.names.take(Space::Action, &format!("{gress}_l{}", loc.line));
        let body = vec![Primitive { kind: PrimitiveKind::Set(copy, Expr::Field(field)), loc }];
        let (params, doc) = (Vec::new(), String::new());
        let action = self.program.actions.push(ActionData { name, gress, params, body, doc, loc });
        let copied = Stmt { kind: StmtKind::Call(action), loc };
        self.at_the_end(gress, StmtKind::If(Cond::Valid(header), vec![copied], Vec::new()), at);
        self.list_copies.push((field, copy));
        copy
    }

    fn at_the_end(&mut self, gress: Gress, kind: StmtKind, at: Span) {
        let loc = self.loc(at);
        self.program.pipes[gress.index()].control.push(Stmt { kind, loc });
    }
}
