//! Values that depend on conditions, and the values of variables and halves that a register action has computed so far.

use super::body::Cell;
use rustc_hash::FxHashMap;
use sluice_asic::salu::{Half, Sense};
use sluice_ir::{CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Loc};

/// A value, or one of two by a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// A value.
    One(CellValue),
    /// A condition, the value if it holds, and the value otherwise.
    By(CellCond, Box<Choice>, Box<Choice>),
}

/// What is known of a half.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    /// No statement has written it.
    Kept,
    /// A statement has written this value, which does not depend on the half.
    Is(CellValue),
    /// Statements have changed it.
    Changed,
}

impl Choice {
    /// Returns 1 if a condition holds, and 0 otherwise.
    pub(super) fn decision(cond: CellCond) -> Choice {
        let bit = |bit| Box::new(Choice::One(CellValue::Const(bit)));
        Choice::By(cond, bit(1), bit(0))
    }

    /// Returns the condition that the value is not 0.
    pub(super) fn holds(&self) -> CellCond {
        let known = |choice: &Choice| match choice {
            Choice::One(CellValue::Const(value)) => Some(*value != 0),
            _ => None,
        };
        match self {
            Choice::One(value) => {
                CellCond::Cmp(CmpOp::Ne, Sense::Unsigned, value.clone(), CellValue::Const(0))
            }
            Choice::By(cond, yes, no) => match (known(yes), known(no)) {
                (Some(true), Some(false)) => cond.clone(),
                (Some(false), Some(true)) => not(cond.clone()),
                (Some(true), _) => CellCond::Or(Box::new(cond.clone()), Box::new(no.holds())),
                (_, Some(true)) => CellCond::Or(Box::new(not(cond.clone())), Box::new(yes.holds())),
                (Some(false), _) => CellCond::And(Box::new(not(cond.clone())), Box::new(no.holds())),
                (_, Some(false)) => CellCond::And(Box::new(cond.clone()), Box::new(yes.holds())),
                _ => either(cond.clone(), yes.holds(), no.holds()),
            },
        }
    }

    /// Returns the statement that stores the value, or the branches that store one of the values.
    pub(super) fn store(self, make: &dyn Fn(CellValue) -> CellStmtKind, loc: Loc) -> CellStmt {
        let kind = match self {
            Choice::One(value) => make(value),
            Choice::By(cond, yes, no) => {
                CellStmtKind::If(cond, vec![yes.store(make, loc)], vec![no.store(make, loc)])
            }
        };
        CellStmt { kind, loc }
    }

    /// Keeps the value when a half is written.
    pub(super) fn after(&mut self, half: Half) {
        self.each(&mut keep(half));
    }

    fn each(&mut self, change: &mut impl FnMut(&mut CellValue)) {
        match self {
            Choice::One(value) => each(value, change),
            Choice::By(cond, yes, no) => {
                each_of(cond, change);
                yes.each(change);
                no.each(change);
            }
        }
    }

    /// Returns true if the value is that of a half at this point, which the next write of the half ends.
    pub(super) fn reads_half(&self) -> bool {
        let mut found = false;
        self.clone().each(&mut |value| found |= matches!(value, CellValue::Half(_)));
        found
    }
}

/// Returns what turns the value of a half at this point into that before the access.
fn keep(half: Half) -> impl FnMut(&mut CellValue) {
    move |value| {
        if *value == CellValue::Half(half) {
            *value = CellValue::Old(half);
        }
    }
}

fn not(cond: CellCond) -> CellCond {
    CellCond::Not(Box::new(cond))
}

/// Returns `cond ? yes : no`.
pub(super) fn either(cond: CellCond, yes: CellCond, no: CellCond) -> CellCond {
    let both = |a, b| Box::new(CellCond::And(Box::new(a), Box::new(b)));
    CellCond::Or(both(cond.clone(), yes), both(not(cond), no))
}

impl Cell<'_> {
    /// Notes that a half is written: variables that have its value keep the value before the access.
    pub(super) fn wrote(&mut self, half: Half, value: &Choice) {
        let mut old = keep(half);
        for values in self.locals.values_mut() {
            values.iter_mut().for_each(|value| value.after(half));
        }
        for seen in &mut self.halves {
            if let Seen::Is(value) = seen {
                each(value, &mut old);
            }
        }
        let mut own = false;
        let mut value = value.clone();
        value.each(&mut |part| {
            old(part);
            own |= *part == CellValue::Old(half);
        });
        self.halves[half as usize] = match value {
            Choice::One(value) if !own => Seen::Is(value),
            _ => Seen::Changed,
        };
    }

    /// Joins what two branches of a condition know, which began with `self`.
    pub(super) fn joined(&mut self, cond: &CellCond, [mut yes, mut no]: [Known; 2]) {
        let mut cond = cond.clone();
        for half in [Half::Lo, Half::Hi] {
            let (of_yes, of_no) = (&yes.halves[half as usize], &no.halves[half as usize]);
            if *of_yes == self.halves[half as usize] && of_yes == of_no {
                continue;
            }
            let seen = if of_yes == of_no { of_yes.clone() } else { Seen::Changed };
            // Everything else that is known is from before the write.
            yes.keep(half);
            no.keep(half);
            each_of(&mut cond, &mut keep(half));
            self.halves[half as usize] = seen;
        }
        self.locals = FxHashMap::default();
        for (decl, of_yes) in yes.locals {
            let Some(of_no) = no.locals.remove(&decl) else { continue };
            let values = of_yes.into_iter().zip(of_no).map(|(yes, no)| match yes == no {
                true => yes,
                false => Choice::By(cond.clone(), Box::new(yes), Box::new(no)),
            });
            self.locals.insert(decl, values.collect());
        }
    }
}

/// What a branch knows at its end.
pub(super) struct Known {
    pub(super) halves: [Seen; 2],
    pub(super) locals: super::body::Locals,
}

impl Known {
    fn keep(&mut self, half: Half) {
        self.locals.values_mut().flatten().for_each(|value| value.after(half));
    }
}

fn each(value: &mut CellValue, change: &mut impl FnMut(&mut CellValue)) {
    change(value);
    match value {
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            each(a, change);
            each(b, change);
        }
        CellValue::Math(_, a) => each(a, change),
        CellValue::Predicate(conds) => conds.iter_mut().for_each(|cond| each_of(cond, change)),
        CellValue::Const(_)
        | CellValue::Half(_)
        | CellValue::Old(_)
        | CellValue::Phv(_)
        | CellValue::Address
        | CellValue::Lane(_)
        | CellValue::Hash(_)
        | CellValue::Param(_) => {}
    }
}

fn each_of(cond: &mut CellCond, change: &mut impl FnMut(&mut CellValue)) {
    match cond {
        CellCond::Cmp(_, _, a, b) => {
            each(a, change);
            each(b, change);
        }
        CellCond::Not(a) => each_of(a, change),
        CellCond::And(a, b) | CellCond::Or(a, b) => {
            each_of(a, change);
            each_of(b, change);
        }
        CellCond::Match(_, value, _) => each(value, change),
    }
}
