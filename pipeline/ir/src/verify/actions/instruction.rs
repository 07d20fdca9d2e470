//! Values of one VLIW instruction.

use super::Check;
use crate::Expr;
use crate::verify::Diag;
use crate::verify::values::{Source, leaf, operations};
use sluice_asic::alu::{AluClass, AluOp};

impl Check<'_> {
    /// Checks a value: at most one ALU operation, on two leaves.
    pub(super) fn instruction(&mut self, value: &Expr, width: Option<u16>) {
        if leaf(value).is_some() {
            return;
        }
        let who = self.site.who;
        if let Expr::Funnel(high, low, by) = value {
            return self.funnel((high, low), *by, width);
        }
        let Expr::Alu(op, a, b) = value else {
            let text = format!("{who} slices or casts the result of an operation");
            return self.error(
                text,
                "one instruction writes the whole result: write it to metadata, slice that later",
            );
        };
        let (Some(from_a), Some(from_b)) = (leaf(a), leaf(b)) else {
            let text = format!("{who} computes {} operations in one value", operations(value));
            return self.error(
                text,
                "one VLIW instruction does one: split the action and keep the rest in metadata",
            );
        };
        if op.class() == AluClass::Shift {
            return self.shift(*op, width, b);
        }
        if op.operands() == 2 && from_a == Source::Data && from_b == Source::Data {
            let text = format!("{who} applies `{op}` to two values that are not in the PHV");
            self.error(
                text,
                "an ALU takes one operand from action data: compute the other in the control plane",
            );
        }
    }

    /// Checks a funnel shift: two PHV sources, and an amount of five bits (model: chip §2.3).
    fn funnel(&mut self, (high, low): (&Expr, &Expr), by: u16, width: Option<u16>) {
        let who = self.site.who;
        if leaf(high) != Some(Source::Field) || leaf(low) != Some(Source::Field) {
            let text = format!("{who} applies `funnel_shift` to a value that is not in the PHV");
            self.error(text, "both operands are fields: keep the value in a metadata field");
        }
        if by > 31 {
            let text = format!("{who} shifts by {by} (`funnel_shift`); the amount is 0 to 31");
            self.error(text, "shift the upper operand alone by what is left");
        }
        if let Some(width) = width.filter(|w| by >= 2 * w && by < 32) {
            let text = format!(
                "{who} shifts two values of {width} bits by {by} (`funnel_shift`), which leaves no bits"
            );
            let help = format!("shift by 0 to {}", (2 * width).saturating_sub(1));
            self.d.push(Diag::warning(self.site.loc, text).help(help));
        }
        if let Some(width) = width.filter(|w| !matches!(w, 8 | 16 | 32)) {
            let text = format!("{who} shifts two values of {width} bits side by side (`funnel_shift`)");
            self.error(text, "the operands are whole containers: declare the fields 8, 16 or 32 bits wide");
        }
    }

    fn shift(&mut self, op: AluOp, width: Option<u16>, by: &Expr) {
        let who = self.site.who;
        let Expr::Const(by, _) = by else {
            let text = format!("{who} shifts (`{op}`) by a value that is not constant");
            return self.error(text, "the amount is part of the instruction: use one action per amount");
        };
        if let Some(width) = width.filter(|w| *by >= u128::from(*w)) {
            let text = format!("{who} shifts a value of {width} bits by {by} (`{op}`), which leaves no bits");
            self.d.push(
                Diag::warning(self.site.loc, text).help(format!("shift by 0 to {}", width.saturating_sub(1))),
            );
        }
    }
}
