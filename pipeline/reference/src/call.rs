//! Calls: parameters are copied in, and copied out when the callee ends.

use crate::place::Place;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use sluice_p4::check::{Builtin, Callee};
use sluice_p4::elaborate::{Binding, BlockId};
use sluice_p4::syntax::ast::{DeclId, DeclKind, Direction, ExprId, ExprKind};

/// A parameter with its value at the beginning of a call, and the place that gets its value at the end.
pub(crate) struct Bound {
    pub(crate) param: DeclId,
    pub(crate) value: Value,
    pub(crate) back: Option<Place>,
}

impl Run<'_, '_> {
    /// Runs a call and returns its result.
    pub(crate) fn call(&mut self, expr: ExprId) -> Res<Value> {
        let at = self.span(expr);
        let Some(call) = self.core.program.checked.calls.get(&expr).cloned() else {
            return Err(unsupported(at, "this call"));
        };
        let base = match self.ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => match self.ast.exprs[callee].kind {
                ExprKind::Member { base, .. } => Some(base),
                _ => None,
            },
            _ => None,
        };
        match (call.callee, base) {
            (Callee::Action(action), _) => {
                let bound = self.bind(self.core.program.ast.params(action), &call.args)?;
                self.run_action(action, bound)?;
                Ok(Value::Nothing)
            }
            (Callee::Table(_), Some(base)) => match self.instance(base) {
                Some(Binding::Table(table)) => self.apply_table(table),
                _ => Err(unsupported(at, "this table")),
            },
            (Callee::Block(decl), Some(base)) => match self.instance(base) {
                Some(Binding::Block(block)) => {
                    let bound = self.bind(self.core.program.ast.params(decl), &call.args)?;
                    self.apply_block(block, bound)?;
                    Ok(Value::Nothing)
                }
                _ => Err(unsupported(at, "this instance")),
            },
            (Callee::Builtin(which), Some(base)) => self.builtin(which, base, &call.args),
            (Callee::Method(method), Some(base)) => self.method(expr, base, method, &call),
            (Callee::Function(function), _) => self.function(expr, function, &call),
            _ => Err(unsupported(at, "this call")),
        }
    }

    /// Returns the instance that an expression names.
    pub(crate) fn instance(&self, expr: ExprId) -> Option<Binding> {
        let program = &self.core.program;
        program.pipe.instance(&program.checked, self.block(), expr).cloned()
    }

    /// Evaluates the arguments of a call, in order.
    pub(crate) fn bind(&mut self, params: &[DeclId], args: &[Option<ExprId>]) -> Res<Vec<Bound>> {
        let mut bound = Vec::new();
        for (at, &param) in params.iter().enumerate() {
            let arg = args.get(at).copied().flatten();
            bound.push(self.bind_one(param, arg)?);
        }
        Ok(bound)
    }

    /// Evaluates the argument for a parameter.
    pub(crate) fn bind_one(&mut self, param: DeclId, arg: Option<ExprId>) -> Res<Bound> {
        let Some(arg) = arg else {
            let default = match &self.ast.decls[param].kind {
                DeclKind::Param(data) => data.default,
                _ => None,
            };
            let value = match default {
                Some(default) => self.value(default)?,
                None => {
                    let ty = self.decl_ty(param);
                    self.core.program.zero(ty)
                }
            };
            return Ok(Bound { param, value, back: None });
        };
        let unused = matches!(self.ast.exprs[arg].kind, ExprKind::Any);
        match self.core.program.ast.direction(param) {
            Direction::None | Direction::In => Ok(Bound { param, value: self.value(arg)?, back: None }),
            direction => {
                let back = if unused { None } else { self.place(arg)? };
                if back.is_none() && !unused {
                    return Err(unsupported(self.span(arg), "this argument of an `out` parameter"));
                }
                let value = match (direction, &back) {
                    (Direction::InOut, Some(place)) => {
                        let ty = self.ty(arg);
                        let value = self.get(place);
                        self.converted(value, ty)
                    }
                    _ => {
                        let ty = self.ty(arg);
                        self.core.program.zero(ty)
                    }
                };
                Ok(Bound { param, value, back })
            }
        }
    }

    /// Runs code with parameters in the frame that runs, and copies results back however the code ends.
    pub(crate) fn with<T>(&mut self, bound: Vec<Bound>, code: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let mut backs = Vec::new();
        for Bound { param, value, back } in bound {
            let ty = self.decl_ty(param);
            let value = self.converted(value, ty);
            self.define(param, value);
            backs.extend(back.map(|back| (param, back)));
        }
        let result = code(self);
        if let Err(Stop::Unsupported(_)) = result {
            return result;
        }
        let values: Vec<(Place, Value)> = backs
            .into_iter()
            .map(|(param, back)| (back, self.variable(param).cloned().unwrap_or(Value::Nothing)))
            .collect();
        for (back, value) in values {
            self.set(&back, value, sluice_p4::source::Span::NONE)?;
        }
        result
    }

    /// Runs an action in the frame of its control.
    pub(crate) fn run_action(&mut self, action: DeclId, bound: Vec<Bound>) -> Res<()> {
        let DeclKind::Action(of) = &self.ast.decls[action].kind else { return Ok(()) };
        self.with(bound, |run| run.body(&of.body)).map(drop)
    }

    /// Applies an instance of a parser or control.
    pub(crate) fn apply_block(&mut self, block: BlockId, bound: Vec<Bound>) -> Res<()> {
        self.inside(block, |run| run.with(bound, |run| run.code_of(block)))
    }

    /// Runs the code of the instance of the frame that runs.
    pub(crate) fn code_of(&mut self, block: BlockId) -> Res<()> {
        let decl = self.core.program.pipe.blocks[block].decl;
        match &self.ast.decls[decl].kind {
            DeclKind::Control(control) => {
                control.locals.iter().try_for_each(|&local| self.local(local))?;
                control.apply.iter().try_for_each(|apply| self.body(apply).map(drop))
            }
            DeclKind::Parser(parser) => {
                parser.locals.iter().try_for_each(|&local| self.local(local))?;
                self.states(decl)
            }
            _ => Ok(()),
        }
    }

    fn builtin(&mut self, which: Builtin, base: ExprId, args: &[Option<ExprId>]) -> Res<Value> {
        let at = self.span(base);
        match which {
            Builtin::IsValid => match self.value(base)? {
                Value::Header { valid, .. } => Ok(Value::Bool(valid)),
                _ => Err(unsupported(at, "the validity of this value")),
            },
            Builtin::SetValid | Builtin::SetInvalid => {
                let place = self.place(base)?.ok_or_else(|| unsupported(at, "this header"))?;
                match self.get(&place) {
                    Value::Header { fields, .. } => {
                        let valid = which == Builtin::SetValid;
                        self.set(&place, Value::Header { valid, fields }, at)?;
                        Ok(Value::Nothing)
                    }
                    _ => Err(unsupported(at, "the validity of this value")),
                }
            }
            Builtin::PushFront | Builtin::PopFront => {
                let by = match args.first().copied().flatten() {
                    Some(by) => self.unsigned(by)? as usize,
                    None => 0,
                };
                self.shift(base, by, which == Builtin::PushFront)
            }
            Builtin::MinSizeInBits | Builtin::MaxSizeInBits => self.size(base, 1),
            Builtin::MinSizeInBytes | Builtin::MaxSizeInBytes => self.size(base, 8),
            _ => Err(unsupported(at, "this call")),
        }
    }

    /// Returns the size of a value in units of so many bits.
    pub(crate) fn size(&mut self, expr: ExprId, unit: u32) -> Res<Value> {
        let ty = self.ty(expr);
        let at = self.span(expr);
        Ok(Value::number(self.core.program.width(ty, at)?.div_ceil(unit)))
    }

    /// Moves the elements of a stack; new elements are invalid.
    fn shift(&mut self, base: ExprId, by: usize, up: bool) -> Res<Value> {
        let at = self.span(base);
        let ty = self.ty(base);
        let place = self.place(base)?.ok_or_else(|| unsupported(at, "this stack"))?;
        let (Value::Stack { next, elements }, Value::Stack { elements: zeros, .. }) =
            (self.get(&place), self.core.program.zero(ty))
        else {
            return Err(unsupported(at, "this stack"));
        };
        let size = elements.len();
        let by = by.min(size);
        let mut zeros = zeros.into_iter().take(by).collect::<Vec<_>>();
        let (elements, next) = if up {
            zeros.extend(elements.into_iter().take(size - by));
            (zeros, (next + by).min(size))
        } else {
            let mut kept: Vec<Value> = elements.into_iter().skip(by).collect();
            kept.append(&mut zeros);
            (kept, next.saturating_sub(by))
        };
        self.set(&place, Value::Stack { next, elements }, at)?;
        Ok(Value::Nothing)
    }
}
