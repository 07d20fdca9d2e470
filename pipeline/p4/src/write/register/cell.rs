//! Statements, values and conditions of register actions.

use super::super::Writer;
use super::super::value::{Form, form, number, operation, signed_number};
use sluice_asic::alu::AluOp;
use sluice_asic::salu::{Format, Half, MathUnit, SaluOp, Sense};
use sluice_ir::{CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Register, RegisterActionData};

/// A register action that is written.
pub(super) struct Code {
    pub(super) register: Register,
    pub(super) format: Format,
    /// Widths of the output words.
    pub(super) widths: Vec<u16>,
    /// Number of output words.
    pub(super) words: u8,
    /// The output word that is written.
    pub(super) word: u8,
}

/// Returns the parameter that is an output word.
pub(super) fn word_name(word: u8, words: u8) -> String {
    if words == 1 { "rv".to_owned() } else { format!("rv{}", word + 1) }
}

/// Returns the math units of statements, each once.
pub(super) fn math_units(body: &[CellStmt]) -> Vec<MathUnit> {
    let mut found = Vec::new();
    for stmt in body {
        match &stmt.kind {
            CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => units_of(value, &mut found),
            CellStmtKind::If(cond, then, otherwise) => {
                cond.values(&mut |value| units_of(value, &mut found));
                found.extend(math_units(then));
                found.extend(math_units(otherwise));
            }
            CellStmtKind::Search(_) => {}
        }
    }
    let mut once: Vec<MathUnit> = Vec::new();
    for unit in found {
        if !once.contains(&unit) {
            once.push(unit);
        }
    }
    once
}

fn units_of(value: &CellValue, found: &mut Vec<MathUnit>) {
    match value {
        CellValue::Math(unit, inner) => {
            found.push(*unit);
            units_of(inner, found);
        }
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            units_of(a, found);
            units_of(b, found);
        }
        _ => {}
    }
}

/// Returns the operation of a packet's ALU that computes the same, and true if its operands are exchanged.
pub(in crate::write) fn alu_op(op: SaluOp) -> Option<(AluOp, bool)> {
    Some(match op {
        SaluOp::Add => (AluOp::Add, false),
        SaluOp::Sub => (AluOp::Sub, false),
        SaluOp::Subr => (AluOp::Sub, true),
        SaluOp::Saddu => (AluOp::Saddu, false),
        SaluOp::Sadds => (AluOp::Sadds, false),
        SaluOp::Ssubu => (AluOp::Ssubu, false),
        SaluOp::Ssubs => (AluOp::Ssubs, false),
        SaluOp::Ssubru => (AluOp::Ssubu, true),
        SaluOp::Ssubrs => (AluOp::Ssubs, true),
        SaluOp::Minu => (AluOp::Minu, false),
        SaluOp::Mins => (AluOp::Mins, false),
        SaluOp::Maxu => (AluOp::Maxu, false),
        SaluOp::Maxs => (AluOp::Maxs, false),
        SaluOp::And => (AluOp::And, false),
        SaluOp::Or => (AluOp::Or, false),
        SaluOp::Xor => (AluOp::Xor, false),
        SaluOp::Andca => (AluOp::Andca, false),
        SaluOp::Andcb => (AluOp::Andcb, false),
        SaluOp::Orca => (AluOp::Orca, false),
        SaluOp::Orcb => (AluOp::Orcb, false),
        SaluOp::Nota => (AluOp::Nota, false),
        _ => return None,
    })
}

impl Writer<'_> {
    /// Writes a statement.
    pub(super) fn cell_stmt(&mut self, code: &Code, stmt: &CellStmt) {
        match &stmt.kind {
            CellStmtKind::Write(half, value) => {
                let text = format!("{} = {};", half_name(code, *half), self.cell_value(code, value));
                self.page.line(&text);
            }
            CellStmtKind::Output(word, value) => {
                let bits = code.widths.get(usize::from(*word)).copied().unwrap_or(32);
                let natural = match value {
                    // These take the width of the parameter.
                    CellValue::Const(_) | CellValue::Predicate(_) | CellValue::Address => bits,
                    _ => code.format.half_bits() as u16,
                };
                let code = &Code { word: *word, widths: code.widths.clone(), ..*code };
                let text = self.cell_value(code, value);
                let text = if natural == bits { text } else { format!("(bit<{bits}>) {}", grouped(&text)) };
                self.page.line(&format!("{} = {text};", word_name(*word, code.words)));
            }
            CellStmtKind::If(cond, then, otherwise) => {
                let text = format!("if ({})", self.cell_cond(code, cond));
                self.page.open_filled(&text);
                then.iter().for_each(|stmt| self.cell_stmt(code, stmt));
                let mut rest = otherwise.as_slice();
                while let [CellStmt { kind: CellStmtKind::If(cond, then, otherwise), .. }] = rest {
                    let text = format!("else if ({})", self.cell_cond(code, cond));
                    self.page.turn(&text);
                    then.iter().for_each(|stmt| self.cell_stmt(code, stmt));
                    rest = otherwise;
                }
                if !rest.is_empty() {
                    self.page.turn("else");
                    rest.iter().for_each(|stmt| self.cell_stmt(code, stmt));
                }
                self.page.close("");
            }
            // Refused before anything is written.
            CellStmtKind::Search(_) => {}
        }
    }

    fn cell_value(&self, code: &Code, value: &CellValue) -> String {
        let bits = code.format.half_bits() as u16;
        let wide = |text: String, width: u16| {
            if width == bits { text } else { format!("(bit<{bits}>) {}", grouped(&text)) }
        };
        match value {
            CellValue::Const(value) => number((*value).into()),
            CellValue::Half(half) => half_name(code, *half).to_owned(),
            CellValue::Old(half) => old_name(code, *half).to_owned(),
            CellValue::Phv(value) => wide(self.value(value), value.width(self.p)),
            CellValue::Op(op, a, b) => self.cell_op(code, *op, a, b),
            CellValue::Math(unit, inner) => {
                let name =
                    self.math.iter().find(|(known, _)| known == unit).map_or("", |(_, name)| name.as_str());
                format!("{name}.execute({})", self.cell_value(code, inner))
            }
            CellValue::Predicate(conds) => {
                let conds: Vec<String> = conds.iter().map(|cond| self.cell_cond(code, cond)).collect();
                let ty = match code.widths.get(usize::from(code.word)) {
                    Some(bits) if code.words > 1 => format!("<bit<{bits}>>"),
                    _ => String::new(),
                };
                format!("this.predicate{ty}({})", conds.join(", "))
            }
            CellValue::Address if code.words > 1 => {
                format!(
                    "this.address<bit<{}>>()",
                    code.widths.get(usize::from(code.word)).copied().unwrap_or(32)
                )
            }
            CellValue::Address => "this.address()".to_owned(),
            CellValue::Quotient(a, b) => {
                format!("{} / {}", self.cell_operand(code, a), self.cell_operand(code, b))
            }
            CellValue::Remainder(a, b) => {
                format!("{} % {}", self.cell_operand(code, a), self.cell_operand(code, b))
            }
            CellValue::Hash(hash) => {
                let name = &self.names.hashes[*hash].text;
                wide(
                    format!("{name}.get({{ {} }})", self.hash_inputs(*hash).join(", ")),
                    self.p.hashes[*hash].width,
                )
            }
            CellValue::Param(param) => {
                let of = |known: &&(Register, u8, String)| (known.0, known.1) == (code.register, *param);
                let name = self.register_params.iter().find(of).map_or("", |known| known.2.as_str());
                format!("{name}.read()")
            }
            // Refused before anything is written.
            CellValue::Lane(_) => String::new(),
        }
    }

    fn cell_op(&self, code: &Code, op: SaluOp, a: &CellValue, b: &CellValue) -> String {
        let Some((alu, exchanged)) = alu_op(op) else { return String::new() };
        let Some((form, signed)) = form(alu) else { return String::new() };
        let (a, b) = if exchanged { (b, a) } else { (a, b) };
        if !signed {
            // A complement needs a number with a width.
            let bits = code.format.half_bits();
            let text = |value: &CellValue| match (&form, value) {
                (Form::Infix(_) | Form::Call(_), _) => self.cell_operand(code, value),
                (_, CellValue::Const(value)) => format!("{bits}w{}", number((*value).into())),
                _ => self.cell_operand(code, value),
            };
            return operation(&form, &text(a), &text(b));
        }
        let bits = code.format.half_bits();
        let (a, b) = (self.signed_operand(code, a), self.signed_operand(code, b));
        format!("(bit<{bits}>) ({})", operation(&form, &a, &b))
    }

    fn cell_operand(&self, code: &Code, value: &CellValue) -> String {
        let text = self.cell_value(code, value);
        match value {
            CellValue::Op(..) | CellValue::Quotient(..) | CellValue::Remainder(..) => format!("({text})"),
            _ => grouped(&text),
        }
    }

    fn signed_operand(&self, code: &Code, value: &CellValue) -> String {
        let bits = code.format.half_bits();
        match value {
            CellValue::Const(value) => signed_number((*value).into(), bits as u16),
            value => format!("(int<{bits}>) {}", self.cell_operand(code, value)),
        }
    }

    /// Returns a side of a comparison of sums in two's complement.
    fn signed_side(&self, code: &Code, value: &CellValue) -> String {
        match value {
            CellValue::Op(SaluOp::Add, a, b) => {
                format!("{} + {}", self.signed_operand(code, a), self.signed_operand(code, b))
            }
            CellValue::Op(SaluOp::Sub, a, b) => {
                format!("{} - {}", self.signed_operand(code, a), self.signed_operand(code, b))
            }
            value => self.signed_operand(code, value),
        }
    }

    fn cell_cond(&self, code: &Code, cond: &CellCond) -> String {
        match cond {
            CellCond::Cmp(op, sense, a, b) => self.cell_comparison(code, *op, *sense, a, b),
            CellCond::Not(inner) => format!("!({})", self.cell_cond(code, inner)),
            CellCond::And(a, b) => {
                let parts = [(a, matches!(**a, CellCond::Or(..))), (b, is_compound(b))];
                parts.map(|(cond, group)| self.cell_part(code, cond, group)).join(" && ")
            }
            CellCond::Or(a, b) => {
                let parts = [(a, matches!(**a, CellCond::And(..))), (b, is_compound(b))];
                parts.map(|(cond, group)| self.cell_part(code, cond, group)).join(" || ")
            }
            // Refused before anything is written.
            CellCond::Match(..) => String::new(),
        }
    }

    fn cell_part(&self, code: &Code, cond: &CellCond, group: bool) -> String {
        let text = self.cell_cond(code, cond);
        if group { format!("({text})") } else { text }
    }

    fn cell_comparison(&self, code: &Code, op: CmpOp, sense: Sense, a: &CellValue, b: &CellValue) -> String {
        let computed = |value: &CellValue| matches!(value, CellValue::Op(..));
        let symbol = op.symbol();
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        match sense {
            Sense::Signed if !equality => {
                format!("{} {symbol} {}", self.signed_operand(code, a), self.signed_operand(code, b))
            }
            // A difference of sequence numbers, and its sign.
            Sense::Serial if !equality && !computed(a) && !computed(b) => {
                let bits = code.format.half_bits();
                let (a, b) = (self.cell_operand(code, a), self.cell_operand(code, b));
                format!("(int<{bits}>) ({a} - {b}) {symbol} 0")
            }
            Sense::Serial if !equality => {
                let side = |value: &CellValue| self.signed_side(code, value);
                format!("{} {symbol} {}", side(a), side(b))
            }
            _ => {
                let side = |value: &CellValue| match value {
                    CellValue::Op(SaluOp::Add | SaluOp::Sub | SaluOp::Subr, ..) => {
                        self.cell_value(code, value)
                    }
                    value => self.cell_operand(code, value),
                };
                format!("{} {symbol} {}", side(a), side(b))
            }
        }
    }
}

fn is_compound(cond: &CellCond) -> bool {
    matches!(cond, CellCond::And(..) | CellCond::Or(..))
}

/// Returns a cast in parentheses, so that it can be an operand.
fn grouped(text: &str) -> String {
    if text.contains(' ') && !(text.starts_with("this.") || text.ends_with("})")) {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// Returns the variable that keeps the value of a half before the access.
pub(super) fn old_name(code: &Code, half: Half) -> &'static str {
    match (code.format.has_hi(), half) {
        (true, Half::Lo) => "old_lo",
        (true, Half::Hi) => "old_hi",
        (false, _) => "old",
    }
}

/// Returns the halves whose values before the access are read.
pub(super) fn old_halves(data: &RegisterActionData) -> Vec<Half> {
    let mut found = Vec::new();
    let mut add = |value: &CellValue| old_of(value, &mut found);
    data.statements(&mut |stmt| match &stmt.kind {
        CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => add(value),
        CellStmtKind::If(cond, ..) => cond.values(&mut add),
        CellStmtKind::Search(_) => {}
    });
    let read = |half: &Half| found.contains(half);
    [Half::Lo, Half::Hi].into_iter().filter(read).collect()
}

fn old_of(value: &CellValue, found: &mut Vec<Half>) {
    match value {
        CellValue::Old(half) => found.push(*half),
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            old_of(a, found);
            old_of(b, found);
        }
        CellValue::Math(_, inner) => old_of(inner, found),
        CellValue::Predicate(conds) => {
            conds.iter().for_each(|cond| cond.values(&mut |value| old_of(value, found)));
        }
        _ => {}
    }
}

pub(super) fn half_name(code: &Code, half: Half) -> &'static str {
    match (code.format.has_hi(), half) {
        (true, Half::Lo) => "value.lo",
        (true, Half::Hi) => "value.hi",
        (false, _) => "value",
    }
}
