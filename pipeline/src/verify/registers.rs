//! Registers and what their actions may say on any chip. What may not live here: what a chip's stateful ALU
//! can do (the mapping's business), and accesses (checked with their actions).

use super::values::{Source, leaf, width};
use super::{Diag, Site, fits, has_errors};
use crate::ir::{
    CellCond, CellStmt, CellStmtKind, CellValue, CounterHome, Expr, Program, RegisterActionData,
};
use sluice_asic::salu::{Format, Half};

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for data in p.registers.values() {
        if data.home == CounterHome::Indirect(0) {
            let text = format!("register `{}` has no elements", data.name);
            d.push(Diag::error(data.loc, text).help("give it at least one"));
        }
        let halves = if data.format.has_hi() { 2 } else { 1 };
        for (n, value) in data.init.iter().enumerate() {
            let room = if n < halves { data.format.half_bits() as u16 } else { 0 };
            if !fits((*value).into(), room) {
                let text = format!(
                    "register `{}` starts with {value:#x}, which does not fit the {room} bits of its {} half",
                    data.name,
                    ["low", "high"][n]
                );
                d.push(Diag::error(data.loc, text).help("use a smaller value or wider elements"));
            }
        }
    }
    for data in p.register_actions.values() {
        let register = &p.registers[data.register];
        let who = format!("register action `{}`", data.name);
        let site = Site { who: &who, gress: Some(register.gress), loc: data.loc };
        Body { p, format: register.format, d }.statements(site, &data.body);
    }
}

/// Whether a register action writes an output word.
pub(super) fn outputs(data: &RegisterActionData, word: u8) -> bool {
    let mut found = false;
    data.statements(&mut |s| found |= matches!(s.kind, CellStmtKind::Output(w, _) if w == word));
    found
}

struct Body<'c> {
    p: &'c Program,
    format: Format,
    d: &'c mut Vec<Diag>,
}

impl Body<'_> {
    fn error(&mut self, site: Site<'_>, text: String, help: &str) {
        self.d.push(Diag::error(site.loc, format!("{} {text}", site.who)).help(help));
    }

    fn statements(&mut self, site: Site<'_>, body: &[CellStmt]) {
        for stmt in body {
            let site = Site { loc: stmt.loc, ..site };
            match &stmt.kind {
                CellStmtKind::Write(half, value) => {
                    self.half(site, *half, "writes");
                    self.value(site, value);
                }
                CellStmtKind::Output(word, value) => {
                    if *word > 3 {
                        let text = format!("writes output word {word}; there are words 0 to 3");
                        self.error(site, text, "use a lower word");
                    }
                    self.value(site, value);
                }
                CellStmtKind::If(cond, then, otherwise) => {
                    self.cond(site, cond);
                    self.statements(site, then);
                    self.statements(site, otherwise);
                }
            }
        }
    }

    fn half(&mut self, site: Site<'_>, half: Half, verb: &str) {
        if half == Half::Hi && !self.format.has_hi() {
            let text = format!("{verb} the high half of an element of {} bits, which has none", self.format);
            self.error(site, text, "declare the register as a pair");
        }
    }

    fn wide(&mut self, site: Site<'_>, verb: &str) {
        if self.format.half_bits() > 32 {
            let text = format!("{verb} {} bits; only copies are that wide", self.format.half_bits());
            self.error(site, text, "use a pair of 32 bits");
        }
    }

    fn cond(&mut self, site: Site<'_>, cond: &CellCond) {
        self.wide(site, "compares");
        let mut values = Vec::new();
        cond.values(&mut |v| values.push(v));
        for value in values {
            self.value(site, value);
        }
    }

    fn value(&mut self, site: Site<'_>, value: &CellValue) {
        let bits = self.format.half_bits() as u16;
        match value {
            CellValue::Const(value) => {
                if !fits((*value).into(), bits) {
                    let text = format!("uses the constant {value:#x}, which does not fit {bits} bits");
                    self.error(site, text, "use a smaller constant or wider elements");
                }
            }
            CellValue::Half(half) => self.half(site, *half, "reads"),
            CellValue::Phv(e) => self.operand(site, e, bits),
            CellValue::Op(_, a, b) => {
                self.wide(site, "computes on");
                self.value(site, a);
                self.value(site, b);
            }
        }
    }

    fn operand(&mut self, site: Site<'_>, e: &Expr, bits: u16) {
        if leaf(e) != Some(Source::Field) {
            let text = "uses a packet value that is no field".to_owned();
            return self.error(
                site,
                text,
                "use a field, or a slice or cast of one; write others to metadata before",
            );
        }
        let mut found = Vec::new();
        let width = width(self.p, e, site, &[], &mut found);
        if !has_errors(&found)
            && let Some(width) = width.filter(|w| *w > bits)
        {
            let text = format!("uses a packet value of {width} bits; its elements have {bits}");
            self.error(site, text, "slice the value or use wider elements");
        }
        self.d.append(&mut found);
    }
}
