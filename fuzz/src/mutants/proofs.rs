//! Proofs that a mutant is equivalent to the program, without sending a packet.

use super::edit::Edit;
use super::values::Values;
use crate::hunt::Subject;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_exec::cover::{Point, Points};
use sluice_ir::{Cond, Header, Loc, PrimitiveKind, Program, Stmt, StmtKind};

const OVERRIDDEN: &str = "the entries set another default action";
const UNMATCHED: &str = "no packet matches the entry: a field that it names never has such a value";
const ALREADY: &str = "the field never has another value";
const APART: &str = "the two headers are never valid together";

/// Facts about a program that the proofs use.
pub(super) struct Proofs<'a> {
    subject: &'a Subject<'a>,
    values: Values<'a>,
}

impl<'a> Proofs<'a> {
    pub(super) fn of(subject: &'a Subject<'a>) -> Proofs<'a> {
        let ports: Vec<u16> = subject.ports.iter().map(|p| p.dev_port.number()).collect();
        let buffer = subject.config.buffer.is_some();
        Proofs { subject, values: Values::of(&subject.program, &subject.control, &ports, buffer) }
    }

    /// Returns the proof that an edit changes nothing; `None` if there is none.
    pub(super) fn equivalent(&self, edit: &Edit) -> Option<&'static str> {
        let (subject, program) = (self.subject, &self.subject.program);
        match edit {
            Edit::OtherDefault(table, _) => {
                let overridden = subject.control.tables[*table].default != program.tables[*table].default;
                overridden.then_some(OVERRIDDEN)
            }
            Edit::DropPrimitive(action, at) => match program.actions[*action].body.get(*at)?.kind {
                PrimitiveKind::Set(field, _) => self.values.is_single(field).then_some(ALREADY),
                _ => None,
            },
            Edit::SwapEmit(gress, at) => {
                let emitted = &program.pipe(*gress).deparser.emit;
                let two = (*emitted.get(*at)?, *emitted.get(at + 1)?);
                never_together(program, &subject.placement.chip, *gress, two).then_some(APART)
            }
            _ => {
                let (table, entry) = edit.entry()?;
                let changed = edit.apply(program);
                let other = matches!(edit, Edit::EntryValue(..))
                    .then(|| changed.tables[table].entries.get(entry).map(|e| e.key.as_slice()))
                    .flatten();
                self.values.dead_entry(table, entry, other).then_some(UNMATCHED)
            }
        }
    }
}

/// Returns true if no packet leaves the control block with both headers valid, so that a condition that needs both is never
/// true.
fn never_together(program: &Program, chip: &ChipSpec, gress: Gress, (a, b): (Header, Header)) -> bool {
    let Some((action, _)) = program.actions.iter().find(|(_, data)| data.gress == gress) else {
        return false;
    };
    let mut program = program.clone();
    let stmt = |kind| Stmt { kind, loc: Loc::default() };
    let both = Cond::And(Box::new(Cond::Valid(a)), Box::new(Cond::Valid(b)));
    let ask = StmtKind::If(both, vec![stmt(StmtKind::Call(action))], Vec::new());
    program.pipes[gress.index()].control.push(stmt(ask));
    let points = Points::of(&program, chip);
    let asked = points.list().iter().filter_map(|data| match data.point {
        Point::Branch(of, node, true) if of == gress => Some((node, data.unreachable)),
        _ => None,
    });
    asked.max_by_key(|(node, _)| *node).is_some_and(|(_, unreachable)| unreachable.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_headers_matters_where_both_can_be() {
        let subject = Subject::shipped("spray");
        let (program, proofs) = (&subject.program, Proofs::of(&subject));
        let named = |at: usize| program.headers[program.pipe(Gress::Ingress).deparser.emit[at]].name.clone();
        let proven: Vec<_> =
            (0..3).map(|at| proofs.equivalent(&Edit::SwapEmit(Gress::Ingress, at))).collect();
        assert_eq!([named(0), named(1), named(2), named(3)], ["ethernet", "ipv4", "ipv6", "l4"]);
        assert_eq!(proven, [None, Some(APART), None]);
    }

    #[test]
    fn zeros_that_nobody_else_writes_need_not_be_written() {
        let subject = Subject::shipped("conga");
        let (program, proofs) = (&subject.program, Proofs::of(&subject));
        let action = program.action_named("wrap_for").unwrap();
        let proven = |field: &str| {
            let sets = |kind: &PrimitiveKind| matches!(kind, PrimitiveKind::Set(f, _) if program.fields[*f].name == field);
            let at = program.actions[action].body.iter().position(|p| sets(&p.kind)).unwrap();
            proofs.equivalent(&Edit::DropPrimitive(action, at))
        };
        assert_eq!((proven("overlay.reserved"), proven("overlay.vni")), (Some(ALREADY), None));
    }
}
