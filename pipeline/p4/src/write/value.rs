//! Values and conditions.

use super::Writer;
use sluice_asic::alu::AluOp;
use sluice_ir::{CmpOp, Cond, Expr, Field, Home, Intrinsic};

/// Returns a number as authors write it: small ones in decimal.
pub(super) fn number(value: u128) -> String {
    if value < 256 { value.to_string() } else { format!("{value:#x}") }
}

/// The form of an operation in P4.
pub(super) enum Form {
    /// `a + b`
    Infix(&'static str),
    /// `~(a & b)`
    Complement(&'static str),
    /// `~a & b`
    LeftComplement(&'static str),
    /// `a & ~b`
    RightComplement(&'static str),
    /// `min(a, b)`
    Call(&'static str),
    /// `~a`
    Not,
}

/// Returns the form of an operation, and true if its operands are signed; `None` if P4 has no such operation.
pub(super) fn form(op: AluOp) -> Option<(Form, bool)> {
    use Form::{Call, Complement, Infix, LeftComplement, Not, RightComplement};
    Some(match op {
        AluOp::Add => (Infix("+"), false),
        AluOp::Sub => (Infix("-"), false),
        AluOp::Saddu => (Infix("|+|"), false),
        AluOp::Sadds => (Infix("|+|"), true),
        AluOp::Ssubu => (Infix("|-|"), false),
        AluOp::Ssubs => (Infix("|-|"), true),
        AluOp::Minu => (Call("min"), false),
        AluOp::Mins => (Call("min"), true),
        AluOp::Maxu => (Call("max"), false),
        AluOp::Maxs => (Call("max"), true),
        AluOp::Shl => (Infix("<<"), false),
        AluOp::Shru => (Infix(">>"), false),
        AluOp::Shrs => (Infix(">>"), true),
        AluOp::And => (Infix("&"), false),
        AluOp::Or => (Infix("|"), false),
        AluOp::Xor => (Infix("^"), false),
        AluOp::Nand => (Complement("&"), false),
        AluOp::Nor => (Complement("|"), false),
        AluOp::Xnor => (Complement("^"), false),
        AluOp::Andca => (LeftComplement("&"), false),
        AluOp::Andcb => (RightComplement("&"), false),
        AluOp::Orca => (LeftComplement("|"), false),
        AluOp::Orcb => (RightComplement("|"), false),
        AluOp::Nota => (Not, false),
        _ => return None,
    })
}

/// Returns an operation on two operands that need no parentheses.
pub(super) fn operation(form: &Form, a: &str, b: &str) -> String {
    match form {
        Form::Infix(op) => format!("{a} {op} {b}"),
        Form::Complement(op) => format!("~({a} {op} {b})"),
        Form::LeftComplement(op) => format!("~{a} {op} {b}"),
        Form::RightComplement(op) => format!("{a} {op} ~{b}"),
        Form::Call(name) => format!("{name}({a}, {b})"),
        Form::Not => format!("~{a}"),
    }
}

/// Returns the type of an intrinsic field whose width depends on the chip and that programs write.
pub(super) fn chip_type(which: Intrinsic) -> Option<&'static str> {
    match which {
        Intrinsic::Qid => Some("QueueId_t"),
        Intrinsic::MirrorType => Some("MirrorType_t"),
        _ => None,
    }
}

impl Writer<'_> {
    /// Returns a value where the context says its width.
    pub(super) fn value(&self, value: &Expr) -> String {
        match value {
            Expr::Const(value, _) => number(*value),
            Expr::Field(field) => self.read(*field),
            Expr::Param(n, _) => self.params.get(usize::from(*n)).cloned().unwrap_or_default(),
            Expr::Slice(inner, hi, lo) => format!("{}[{hi}:{lo}]", self.operand(inner)),
            Expr::Cast(inner, width) => format!("(bit<{width}>) {}", self.operand(inner)),
            Expr::Alu(op, a, b) => self.alu(*op, a, b),
            // An instruction of its own writes it.
            Expr::Funnel(high, low, _) => format!("{} ++ {}", self.operand(high), self.operand(low)),
        }
    }

    fn alu(&self, op: AluOp, a: &Expr, b: &Expr) -> String {
        let Some((form, signed)) = form(op) else { return String::new() };
        if !signed {
            // A complement needs a number with a width.
            let text = |e: &Expr| match (&form, e) {
                (Form::Infix(_) | Form::Call(_), _) => self.operand(e),
                (_, Expr::Const(..)) => self.sized(e),
                _ => self.operand(e),
            };
            return operation(&form, &text(a), &text(b));
        }
        let width = a.width(self.p);
        let signed = |e: &Expr| match e {
            Expr::Const(value, width) => signed_number(*value, *width),
            e => format!("(int<{width}>) {}", self.operand(e)),
        };
        let (a, b) = (signed(a), if op == AluOp::Shrs { self.operand(b) } else { signed(b) });
        format!("(bit<{width}>) ({})", operation(&form, &a, &b))
    }

    /// Returns a value as an operand: an operation or a cast in parentheses.
    pub(super) fn operand(&self, value: &Expr) -> String {
        let text = self.value(value);
        let simple = matches!(value, Expr::Const(..) | Expr::Field(_) | Expr::Param(..) | Expr::Slice(..));
        if simple && !text.starts_with('(') { text } else { format!("({text})") }
    }

    /// Returns a value with its width, where the context does not say it.
    pub(super) fn sized(&self, value: &Expr) -> String {
        match value {
            Expr::Const(value, width) => format!("{width}w{}", number(*value)),
            value => self.value(value),
        }
    }

    /// Returns the value of a field. Fields whose width depends on the chip are as wide as on Tofino 2.
    fn read(&self, field: Field) -> String {
        let text = &self.layout.fields[field];
        match self.p.fields[field].home {
            Home::Intrinsic(which) if self.both_chips && which.info().tofino != which.info().tofino2 => {
                format!("(bit<{}>) {text}", which.info().tofino2)
            }
            _ => text.clone(),
        }
    }

    /// Returns a condition.
    pub(super) fn cond(&self, cond: &Cond) -> String {
        match cond {
            Cond::Cmp(op, a, b) => self.comparison(*op, a, b),
            Cond::Valid(header) => format!("{}.isValid()", self.layout.headers[*header]),
            Cond::Not(inner) => match **inner {
                Cond::Valid(_) | Cond::Not(_) => format!("!{}", self.cond(inner)),
                _ => format!("!({})", self.cond(inner)),
            },
            Cond::And(a, b) => {
                let (left, right) =
                    (matches!(**a, Cond::Or(..)), matches!(**b, Cond::And(..) | Cond::Or(..)));
                format!("{} && {}", self.part(a, left), self.part(b, right))
            }
            Cond::Or(a, b) => {
                let (left, right) =
                    (matches!(**a, Cond::And(..)), matches!(**b, Cond::And(..) | Cond::Or(..)));
                format!("{} || {}", self.part(a, left), self.part(b, right))
            }
        }
    }

    fn part(&self, cond: &Cond, parentheses: bool) -> String {
        let text = self.cond(cond);
        if parentheses { format!("({text})") } else { text }
    }

    fn comparison(&self, op: CmpOp, a: &Expr, b: &Expr) -> String {
        let named = |value: &Expr, other: &Expr| self.named_constant(value, other);
        let (left, right) = (named(a, b), named(b, a));
        format!("{left} {} {right}", op.symbol())
    }

    /// Returns a value; a constant that is compared with or written to a field by its known name.
    pub(super) fn named_constant(&self, value: &Expr, field: &Expr) -> String {
        match (value, field) {
            (Expr::Const(number, _), Expr::Field(field)) => self.constant_of(*field, *number),
            _ => self.operand(value),
        }
    }
}

/// Returns a number in two's complement.
pub(super) fn signed_number(value: u128, width: u16) -> String {
    let negative = width > 0 && width < 128 && value >> (width - 1) & 1 == 1;
    if negative { format!("-{}", (1u128 << width) - value) } else { number(value) }
}
