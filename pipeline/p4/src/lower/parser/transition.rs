//! Transitions: `select`, and what follows `accept`.

use super::super::Res;
use super::super::places::SlotHome;
use super::bits::{Bits, Lost};
use super::env::LocalId;
use super::frame::Point;
use super::key::{Arm, Case, Compared, Key, Masked, compare};
use super::ranges::prefixes;
use super::walk::{End, State, Walk};
use crate::check::TyKind;
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind, Name, Select, StateDecl, Transition};
use sluice_asic::alu::width_mask;
use sluice_asic::limits;
use sluice_ir::{ArmSet, Intrinsic, Lookahead, Next, SelectArm, SelectKey};

impl Walk<'_, '_> {
    /// Lowers the transition of a state.
    pub(super) fn transition(&mut self, state: &mut State, point: Point, decl: &StateDecl) -> Res<End> {
        let default = match &decl.transition {
            None => Next::Reject,
            Some(Transition::Direct(name)) => self.next(state, point, *name, state.env.front.resubmitted),
            Some(Transition::Select(select)) => return self.select(state, point, select),
        };
        Ok(End { select: Vec::new(), arms: Vec::new(), default })
    }

    fn select(&mut self, state: &mut State, point: Point, select: &Select) -> Res<End> {
        let mut values = Vec::new();
        for &key in &select.keys {
            let value = self.value(state, key)?;
            self.can_compare(state, &value, key)?;
            values.push(value);
        }
        let mut cases = Vec::new();
        for case in &select.cases {
            let (mut keys, mut set) = (Vec::new(), None);
            for (n, value) in values.iter().enumerate() {
                let key = match case.keys.as_slice() {
                    [single] if values.len() > 1 => match &self.cx.ast.exprs[*single].kind {
                        ExprKind::List(parts) => parts.get(n).copied().unwrap_or(*single),
                        _ => *single,
                    },
                    keys => keys.get(n).copied().unwrap_or(select.keys[n]),
                };
                if matches!(self.cx.checked.kind_of(key), TyKind::Set(_))
                    && matches!(self.cx.ast.exprs[key].kind, ExprKind::Name { .. })
                {
                    // The name of a set with a field for each value is the only key of its case.
                    if n == 0 || case.keys.as_slice() != [key] {
                        self.value_set(point, key, &values, n, &mut set)?;
                    }
                    keys.push(vec![(0, 0)]);
                    continue;
                }
                keys.push(self.alternatives(state, key, value.width())?);
            }
            cases.push(Case { keys, set, next: case.next });
        }
        let Ok(compared) = compare(&values, &cases, state.position) else {
            let limit = &limits::P4_SELECT_ARMS;
            let text = format!("the ranges of a `select` are more than {} values under masks", limit.get());
            let help = format!(
                "use ranges whose ends are powers of two, or fewer ranges in one case; {}",
                limit.advice()
            );
            return Err(self.refuse(select.span, text, &help));
        };
        Ok(self.selected(state, point, compared))
    }

    /// Checks that the chip can compare a value.
    fn can_compare(&mut self, state: &State, value: &Bits, key: ExprId) -> Res<()> {
        let at = self.span(key);
        if let Some(why) = value.is_lost() {
            let (text, help) = match why {
                Lost::Computed => (
                    "a `select` compares a computed value, but a parser does not compute",
                    "select on the fields, with masks or one case per value",
                ),
                Lost::Skipped => (
                    "a `select` compares bytes that the parser has skipped",
                    "extract them into a header, or select before the `advance`",
                ),
                Lost::InFront => (
                    "a `select` compares bytes in front of the packet, which Sluice does not have",
                    "use the fields of the intrinsic metadata and `port_metadata_unpack`",
                ),
                Lost::Overwritten => (
                    "a `select` compares a field that the parser has written since",
                    "copy the value before the write, and select on the copy",
                ),
                Lost::OtherElement => (
                    "a `select` compares an element of a stack that is not the last any more",
                    "select on the element in the state that extracts it",
                ),
                Lost::Unknown => (
                    "a `select` compares a variable that is not written on every path to here",
                    "write it on every path, or select on the header field itself",
                ),
            };
            return Err(self.refuse(at, text, help));
        }
        if value.width() > 128 && value.as_const().is_none() {
            let text = format!("a `select` compares a value of {} bits", value.width());
            return Err(self.refuse(at, text, "compare slices of at most 128 bits"));
        }
        let _ = state;
        Ok(())
    }

    /// Returns the values under masks that a case's key matches.
    fn alternatives(&mut self, state: &mut State, key: ExprId, width: u32) -> Res<Vec<Masked>> {
        let all = width_mask(width);
        let ast = self.cx.ast;
        match &ast.exprs[key].kind {
            ExprKind::Default | ExprKind::Any => return Ok(vec![(0, 0)]),
            ExprKind::Mask { value, mask } => {
                if let (Some(value), Some(mask)) = (self.number(state, *value), self.number(state, *mask)) {
                    return Ok(vec![(value & mask & all, mask & all)]);
                }
            }
            ExprKind::Range { first, last } => {
                if let (Some(first), Some(last)) = (self.number(state, *first), self.number(state, *last)) {
                    return Ok(prefixes(first, last.min(all), width));
                }
            }
            _ => {
                let value = self.value(state, key)?;
                if let Some(value) = value.as_const() {
                    return Ok(vec![(value & all, all)]);
                }
            }
        }
        Err(self.refuse(
            self.span(key),
            "a case of a `select` has a value that is not known when the program is compiled",
            "compare with constants",
        ))
    }

    fn selected(&mut self, state: &mut State, point: Point, compared: Compared<Name>) -> End {
        let flag = compared.keys.iter().position(|key| self.is_resubmit_flag(*key));
        let known = state.env.front.resubmitted;
        let after = |arm: &[Masked]| match flag.map(|n| arm[n]) {
            Some((value, 1)) => Some(value == 1),
            _ => known,
        };
        // The default of a select on the flag alone is for the other value.
        let other = match (compared.arms.as_slice(), compared.keys.len()) {
            ([arm], 1) => after(&arm.values).filter(|_| flag.is_some()).map(|value| !value).or(known),
            _ => known,
        };
        let mut arms: Vec<SelectArm> = Vec::new();
        for Arm { values, set, next } in &compared.arms {
            let next = self.next(state, point, *next, after(values));
            let set = set.map(|of| ArmSet { set: of.set, first: of.first.min(u16::MAX.into()) as u16 });
            arms.push(SelectArm { values: values.clone(), set, next });
        }
        let mut default = match compared.default {
            Some(next) => self.next(state, point, next, other),
            None => Next::Reject,
        };
        // Without a value that is left over, the last case is as good as a default.
        if compared.complete
            && let Some(last) = arms.pop()
        {
            default = last.next;
        }
        let select: Vec<SelectKey> = if arms.is_empty() {
            Vec::new()
        } else {
            compared.keys.iter().map(|key| self.select_key(*key)).collect()
        };
        End { select, arms, default }
    }

    fn is_resubmit_flag(&self, key: Key) -> bool {
        let Key::Slot(slot) = key else { return false };
        self.cx.storage.slots[slot].home == SlotHome::Intrinsic(Intrinsic::ResubmitFlag)
    }

    fn select_key(&mut self, key: Key) -> SelectKey {
        match key {
            Key::Slot(slot) => SelectKey::Field(self.cx.field(slot)),
            Key::Ahead(at, width) => {
                SelectKey::Lookahead(Lookahead { at: at.min(u16::MAX.into()) as u16, width: width as u16 })
            }
            Key::Last(stack, position) => SelectKey::Last(self.cx.stack(stack), position),
            Key::CounterIsZero => SelectKey::CounterIsZero,
            Key::CounterIsNegative => SelectKey::CounterIsNegative,
        }
    }

    /// Returns the state of this name after the present one.
    fn next(&mut self, state: &State, point: Point, name: Name, resubmitted: Option<bool>) -> Next {
        let mut env = state.env.clone();
        env.front.resubmitted = resubmitted;
        // The variables of the state end with it.
        env.locals.retain(|id, _| !self.of_states.contains(id));
        env.rebase(state.position);
        match self.cx.ast.text(name) {
            "accept" => match self.frames[point.frame.0].then {
                Some(then) => {
                    // The variables of the copy end with it.
                    let ended =
                        |id: &LocalId| self.locals.iter().any(|(key, of)| of == id && key.0 == point.frame);
                    env.locals.retain(|id, _| !ended(id));
                    Next::State(self.state(then, env))
                }
                None => {
                    self.ends(&state.env, name.span);
                    Next::Accept
                }
            },
            "reject" => Next::Reject,
            _ => {
                let parser = self.cx.pipe.blocks[self.frames[point.frame.0].block].decl;
                match self.cx.checked.states.get(&(parser, name.symbol)) {
                    Some(&next) => Next::State(self.state(Point { state: next, statement: 0, ..point }, env)),
                    None => Next::Reject,
                }
            }
        }
    }

    fn ends(&mut self, env: &super::env::Env, at: Span) {
        let left = self.layout.total.saturating_sub(env.front.at);
        if left > 0 {
            let what =
                format!("`accept` before {} bytes of metadata in front of the packet are skipped", left / 8);
            self.cx.note(at, what, "the chip would send these bytes in front of the packet; Sluice has none");
        }
    }
}
