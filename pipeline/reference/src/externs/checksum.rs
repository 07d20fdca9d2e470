//! Ones' complement sums of parsers and deparsers.

use super::Method;
use crate::bits::{Bits, add_ones_complement};
use crate::parser::error;
use crate::run::{Deposit, Run};
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::elaborate::ObjectId;
use sluice_p4::syntax::ast::{ExprId, ExprKind};

impl Run<'_, '_> {
    /// Calls a method of `Checksum`.
    ///
    /// `verify` returns true if the sum is wrong, as the chip does. In a parser, `get` and `subtract_all_and_deposit` return the
    /// residual sum: what the subtracted values leave for the deparser to add to.
    pub(crate) fn checksum(&mut self, method: Method<'_>, name: &str) -> Res<Value> {
        let at = self.span(method.expr);
        let first = method.call.args.first().copied().flatten();
        match (name, first) {
            ("add", Some(data)) => {
                let bits = self.summed(data)?;
                let sum = self.sums.entry(method.object).or_default();
                if !sum.len().is_multiple_of(16) {
                    return Err(unsupported(at, "a checksum over a part that does not begin a word"));
                }
                sum.append(&bits);
                Ok(Value::Nothing)
            }
            ("verify", _) => {
                let wrong = self.sums.remove(&method.object).unwrap_or_default().sum() != u16::MAX;
                if wrong {
                    self.flags |= error::CHECKSUM;
                }
                Ok(Value::Bool(wrong))
            }
            ("subtract", Some(data)) => {
                let bits = self.summed(data)?;
                if !bits.len().is_multiple_of(16) {
                    return Err(unsupported(at, "a residual sum over half words"));
                }
                self.subtracted(method.object, &bits);
                Ok(Value::Nothing)
            }
            ("subtract_all_and_deposit", Some(target)) => {
                let target =
                    self.place(target)?.ok_or_else(|| unsupported(at, "the target of this checksum"))?;
                let rest = self.residuals.get(&method.object).copied().unwrap_or(0);
                self.set(&target, Value::Number(BigInt::from(rest)), at)?;
                self.deposits.push(Deposit { object: method.object, target });
                Ok(Value::Nothing)
            }
            ("get", _) if self.is_parsing() => {
                let rest = self.residuals.get(&method.object).copied().unwrap_or(0);
                Ok(Value::Number(BigInt::from(rest)))
            }
            ("get", _) => {
                let sum = self.sums.get(&method.object).map_or(0, Bits::sum);
                Ok(Value::Number(BigInt::from(!sum)))
            }
            ("update", Some(data)) => {
                let sum = !self.before_updates(|run| run.summed(data))?.sum();
                let ones = match self.argument(method, "zeros_as_ones") {
                    Some(arg) => self.condition(arg)?,
                    None => false,
                };
                let sum = if ones && sum == 0 { u16::MAX } else { sum };
                Ok(Value::Number(BigInt::from(sum)))
            }
            _ => Err(unsupported(at, format!("`{name}` of a checksum"))),
        }
    }

    /// Subtracts bits from the residual sum of an object, and returns the sum.
    pub(crate) fn subtracted(&mut self, object: ObjectId, bits: &Bits) -> u16 {
        let rest = self.residuals.entry(object).or_default();
        *rest = add_ones_complement(*rest, !bits.sum());
        *rest
    }

    /// Returns what a sum covers, in order. Fields of invalid headers are zeros.
    fn summed(&mut self, data: ExprId) -> Res<Bits> {
        let mut bits = Bits::default();
        self.add_summed(data, &mut bits)?;
        Ok(bits)
    }

    fn add_summed(&mut self, data: ExprId, bits: &mut Bits) -> Res<()> {
        if let ExprKind::List(elements) = &self.ast.exprs[data].kind {
            return elements.iter().try_for_each(|&element| self.add_summed(element, bits));
        }
        let (at, ty) = (self.span(data), self.ty(data));
        if let Some(place) = self.place(data)?
            && self.is_in_invalid_header(&place)
        {
            let width = self.core.program.width(ty, at)?;
            bits.push(&BigInt::from(0), width);
            return Ok(());
        }
        let value = self.value(data)?;
        self.core.program.flatten(ty, &value, true, bits, at)
    }
}
