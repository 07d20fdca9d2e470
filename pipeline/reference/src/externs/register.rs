//! Registers: plain reads and writes, and actions whose code runs on an element.

use super::Method;
use crate::call::Bound;
use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Call, Ty};
use sluice_p4::elaborate::{Binding, ObjectId};
use sluice_p4::syntax::ast::{DeclId, DeclKind, ExprId};

impl Run<'_, '_> {
    /// Calls a method of a register, register action or register parameter.
    pub(crate) fn register_method(&mut self, method: Method<'_>, unit: &str, name: &str) -> Res<Value> {
        let at = self.span(method.expr);
        let index = match (unit.starts_with("Direct"), self.argument(method, "index")) {
            (true, _) => self.direct_index(),
            (false, Some(index)) => Some(self.unsigned(index)?),
            (false, None) => None,
        };
        match (unit, name) {
            ("RegisterParam", "read") => {
                if let Some(value) = self.core.state.registers.get(&(method.object, 0)) {
                    return Ok(value.clone());
                }
                let first = self.core.program.made_with(method.object, "initial_value");
                match first {
                    Some(Binding::Value(value)) => Ok(self.core.program.constant(value)),
                    _ => Err(unsupported(at, "this parameter of a register")),
                }
            }
            ("Register" | "DirectRegister", "read") => self.read(method.object, index),
            ("Register" | "DirectRegister", "write") => {
                let Some(arg) = self.argument(method, "value") else { return Ok(Value::Nothing) };
                let value = self.value(arg)?;
                let ty = self.element_type(method.object, at)?;
                let value = self.converted(value, ty);
                self.write(method.object, index, value.clone())?;
                Ok(value)
            }
            (_, "execute") if unit.contains("RegisterAction") => self.execute(method, index),
            _ => Err(unsupported(at, format!("`{name}` of `{unit}`"))),
        }
    }

    /// Runs the code of a register action. An index past the end changes nothing, and the results are zeros.
    fn execute(&mut self, method: Method<'_>, index: Option<u64>) -> Res<Value> {
        let at = self.span(method.expr);
        let object = &self.core.program.pipe.objects[method.object];
        let (block, methods) = (object.block, object.methods.clone());
        let Some(register) = self.core.program.made_with_object(method.object, "reg") else {
            return Err(unsupported(at, "an action of this register"));
        };
        let apply = methods.iter().copied().find(|&decl| self.core.program.name(decl) == "apply");
        let (Some(apply), 1) = (apply, methods.len()) else {
            return Err(unsupported(at, "a register action without code, or with several methods"));
        };
        let outputs = self.outputs(method)?;
        let before = self.read(register, index)?;
        let exists = index.is_some_and(|index| self.exists(register, index));
        let (access, outer) = (self.access, self.block());
        self.access = Some(index.unwrap_or(0));
        let results = self.within(block.unwrap_or(outer), |run| run.on_element(apply, before, exists));
        self.access = access;
        let (after, mut results) = results?;
        if exists {
            self.write(register, index, after)?;
        }
        for (target, value) in outputs.into_iter().zip(results.iter().skip(1).cloned()) {
            if let Some((target, ty)) = target {
                let value = self.converted(value, ty);
                self.set(&target, value, at)?;
            }
        }
        Ok(if results.is_empty() { Value::Nothing } else { results.swap_remove(0) })
    }

    /// Returns the places that get the second result and those after it.
    fn outputs(&mut self, method: Method<'_>) -> Res<Vec<Option<(crate::place::Place, Ty)>>> {
        let params = self.core.program.ast.params(method.decl);
        let mut outputs = Vec::new();
        for (&param, arg) in params.iter().zip(&method.call.args) {
            if !self.core.program.name(param).starts_with("rv") {
                continue;
            }
            outputs.push(match *arg {
                Some(arg) => {
                    let ty = self.ty(arg);
                    self.place(arg)?.map(|place| (place, ty))
                }
                None => None,
            });
        }
        Ok(outputs)
    }

    /// Runs the code of a register action on an element; returns the element after it, and the results.
    fn on_element(&mut self, apply: DeclId, before: Value, exists: bool) -> Res<(Value, Vec<Value>)> {
        let DeclKind::Function(function) = &self.ast.decls[apply].kind else {
            return Ok((before, Vec::new()));
        };
        let Some((&element, results)) = function.params.split_first() else {
            return Ok((before, Vec::new()));
        };
        let mut bound = vec![Bound { param: element, value: before.clone(), back: None }];
        for &param in results {
            let ty = self.decl_ty(param);
            bound.push(Bound { param, value: self.core.program.zero(ty), back: None });
        }
        let zeros: Vec<Value> = bound.iter().skip(1).map(|bound| bound.value.clone()).collect();
        if !exists {
            return Ok((before, zeros));
        }
        self.with(bound, |run| {
            function.body.iter().try_for_each(|body| run.body(body).map(drop))?;
            let get = |run: &Self, param: DeclId| run.variable(param).cloned().unwrap_or(Value::Nothing);
            let values = results.iter().map(|&param| get(run, param)).collect();
            Ok((get(run, element), values))
        })
    }

    /// Calls a method of the register action whose code runs.
    pub(crate) fn own_method(&mut self, expr: ExprId, name: &str, call: &Call) -> Res<Value> {
        match name {
            "address" if call.args.iter().all(Option::is_none) => Ok(Value::number(self.access.unwrap_or(0))),
            // The results of up to four comparisons are the number of the bit that is set.
            "predicate" => {
                let mut number = 0_u32;
                for (at, arg) in call.args.iter().enumerate() {
                    if let Some(arg) = *arg
                        && self.condition(arg)?
                    {
                        number |= 1 << at;
                    }
                }
                Ok(Value::Number(BigInt::from(1) << number))
            }
            _ => Err(unsupported(self.span(expr), format!("`{name}` of a register action"))),
        }
    }

    fn element_type(&mut self, register: ObjectId, at: sluice_p4::source::Span) -> Res<Ty> {
        self.core.program.type_args(register).first().copied().ok_or_else(|| unsupported(at, "this register"))
    }

    /// Returns true if a register has an element.
    fn exists(&self, register: ObjectId, index: u64) -> bool {
        self.core.program.made_with_number(register, "size").is_none_or(|size| index < size)
    }

    /// Returns an element; zeros where there is none.
    fn read(&mut self, register: ObjectId, index: Option<u64>) -> Res<Value> {
        let at = self.core.program.object_span(register);
        let ty = self.element_type(register, at)?;
        match index.filter(|&index| self.exists(register, index)) {
            Some(index) => self.core.element(register, index, ty),
            None => Ok(self.core.program.zero(ty)),
        }
    }

    fn write(&mut self, register: ObjectId, index: Option<u64>, value: Value) -> Res<()> {
        if let Some(index) = index.filter(|&index| self.exists(register, index)) {
            self.core.state.registers.insert((register, index), value);
        }
        Ok(())
    }
}
