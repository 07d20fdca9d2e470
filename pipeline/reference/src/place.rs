//! Places that can be assigned: variables, and parts of them.

use crate::bits::low_bits;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Builtin, Resolution};
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::{DeclId, ExprId, ExprKind};

/// `parser_err` of a stack without another element, which is that of a select without a match.
pub(crate) const STACK_BOUNDS: u16 = 0x0001;

/// A variable or parameter, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The frame with the variable.
    pub(crate) frame: usize,
    /// The variable.
    root: DeclId,
    /// The way to the part.
    steps: Vec<Step>,
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A field or element.
    Part(usize),
    /// Bits of a number.
    Slice(u32, u32),
}

impl Place {
    fn then(mut self, step: Step) -> Place {
        self.steps.push(step);
        self
    }
}

impl Run<'_, '_> {
    /// Returns the place of an expression; `None` if it has a value only.
    pub(crate) fn place(&mut self, expr: ExprId) -> Res<Option<Place>> {
        let ast = self.ast;
        match &ast.exprs[expr].kind {
            ExprKind::Name { .. } => {
                let Some(root) = self.core.program.checked.decl_of(expr) else { return Ok(None) };
                let known = self.frames[self.frame].vars.contains_key(&root);
                Ok(known.then(|| Place { frame: self.frame, root, steps: Vec::new() }))
            }
            ExprKind::Member { base, .. } => {
                if matches!(ast.exprs[*base].kind, ExprKind::Type(_)) {
                    return Ok(None);
                }
                match self.core.program.checked.resolutions[expr] {
                    Some(Resolution::Field(_, at)) => {
                        Ok(self.place(*base)?.map(|place| place.then(Step::Part(at as usize))))
                    }
                    Some(Resolution::Builtin(which @ (Builtin::Next | Builtin::Last))) => {
                        self.stack_place(*base, which)
                    }
                    _ => Ok(None),
                }
            }
            ExprKind::Index { base, index } => {
                let Some(place) = self.place(*base)? else { return Ok(None) };
                let at = self.index(*index)?;
                if self.get(&place).parts().len() <= at {
                    return Err(unsupported(
                        self.span(*index),
                        format!("element {at}, which the stack does not have"),
                    ));
                }
                Ok(Some(place.then(Step::Part(at))))
            }
            ExprKind::Slice { base, hi, lo } => {
                let Some(place) = self.place(*base)? else { return Ok(None) };
                let (hi, lo) = self.slice_bounds(*hi, *lo)?;
                Ok(Some(place.then(Step::Slice(hi, lo))))
            }
            _ => Ok(None),
        }
    }

    fn stack_place(&mut self, base: ExprId, which: Builtin) -> Res<Option<Place>> {
        let Some(place) = self.place(base)? else { return Ok(None) };
        let Value::Stack { next, elements } = self.get(&place) else { return Ok(None) };
        let at = if which == Builtin::Next { Some(next) } else { next.checked_sub(1) };
        match at.filter(|at| *at < elements.len()) {
            Some(at) => Ok(Some(place.then(Step::Part(at)))),
            None => Err(Stop::Parser(STACK_BOUNDS)),
        }
    }

    /// Returns the stack around a place, if the place is one of its elements.
    pub(crate) fn stack_of(&self, place: &Place) -> Option<Place> {
        let mut stack = place.clone();
        stack.steps.pop()?;
        matches!(self.get(&stack), Value::Stack { .. }).then_some(stack)
    }

    /// Returns the value at a place.
    pub(crate) fn get(&self, place: &Place) -> Value {
        let mut whole = self.frames[place.frame].vars.get(&place.root);
        let mut bits: Option<Value> = None;
        for step in &place.steps {
            match step {
                Step::Part(at) => whole = whole.and_then(|value| value.parts().get(*at)),
                Step::Slice(hi, lo) => {
                    bits = bits.as_ref().or(whole).map(|value| slice(value, *hi, *lo));
                }
            }
        }
        bits.or_else(|| whole.cloned()).unwrap_or(Value::Nothing)
    }

    /// Returns true if a part of an invalid header is at a place.
    pub(crate) fn is_in_invalid_header(&self, place: &Place) -> bool {
        let mut value = self.frames[place.frame].vars.get(&place.root);
        for step in &place.steps {
            if let Some(Value::Header { valid: false, .. }) = value {
                return true;
            }
            value = match step {
                Step::Part(at) => value.and_then(|value| value.parts().get(*at)),
                Step::Slice(..) => None,
            };
        }
        false
    }

    /// Writes a value to a place.
    pub(crate) fn set(&mut self, place: &Place, value: Value, at: Span) -> Res<()> {
        let mut target = self.frames[place.frame].vars.get_mut(&place.root);
        let mut bits: Option<(u32, u32)> = None;
        for step in &place.steps {
            match step {
                Step::Part(part) => target = target.and_then(|value| value.part_mut(*part)),
                // A slice of a slice counts from its own lowest bit.
                Step::Slice(hi, lo) => {
                    let base = bits.map_or(0, |(_, low)| low);
                    bits = Some((hi + base, lo + base));
                }
            }
        }
        let Some(target) = target else { return Err(unsupported(at, "an assignment to this place")) };
        *target = match (bits, value.as_number(), target.as_number()) {
            (None, ..) => value,
            (Some((hi, lo)), Some(new), Some(old)) => Value::Number(with_slice(&old, &new, hi, lo)),
            _ => return Err(unsupported(at, "an assignment to bits of this value")),
        };
        Ok(())
    }

    /// Evaluates the bounds of a slice.
    pub(crate) fn slice_bounds(&mut self, hi: ExprId, lo: ExprId) -> Res<(u32, u32)> {
        let (high, low) = (self.index(hi)?, self.index(lo)?);
        match (u32::try_from(high), u32::try_from(low)) {
            (Ok(high), Ok(low)) if low <= high => Ok((high, low)),
            _ => Err(unsupported(self.span(hi), "a slice with these bounds")),
        }
    }

    fn index(&mut self, expr: ExprId) -> Res<usize> {
        let number = self.value(expr)?.as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| unsupported(self.span(expr), "this index"))
    }
}

/// Returns the bits `hi` to `lo` of a number.
pub(crate) fn slice(value: &Value, hi: u32, lo: u32) -> Value {
    match value.as_number() {
        Some(number) => Value::Number(low_bits(&(number >> lo), hi - lo + 1)),
        None => Value::Nothing,
    }
}

/// Returns a number with other bits `hi` to `lo`.
fn with_slice(old: &BigInt, new: &BigInt, hi: u32, lo: u32) -> BigInt {
    let before = low_bits(&(old >> lo), hi - lo + 1);
    old - (before << lo) + (low_bits(new, hi - lo + 1) << lo)
}
