//! Registers, and register actions as far as they are independent of a chip.

use super::values::{Source, leaf, width};
use super::{Diag, Site, fits, has_errors};
use crate::{
    CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, CounterHome, Expr, Program, RegisterActionData,
    RegisterData, Search,
};
use sluice_asic::salu::{Constant, Format, Half};

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
    p.registers.values().for_each(|data| params(data, d));
    for data in p.register_actions.values() {
        let register = &p.registers[data.register];
        let who = format!("register action `{}`", data.name);
        let site = Site { who: &who, gress: Some(register.gress), loc: data.loc };
        let params = register.params.len();
        Body { p, format: register.format, params, d }.statements(site, &data.body);
    }
}

/// Checks parameters: at most as many as a register file has rows, each with a unique name and an unsigned
/// value.
fn params(data: &RegisterData, d: &mut Vec<Diag>) {
    let who = format!("register `{}`", data.name);
    let mut error = |text: String, help: &str| d.push(Diag::error(data.loc, text).help(help));
    if data.params.len() > Constant::PARAMS {
        let text = format!("{who} has {} parameters", data.params.len());
        error(text, "a register file has four rows: pass other values in metadata");
    }
    for (n, param) in data.params.iter().enumerate() {
        let (name, most) = (&param.name, data.most_param());
        if param.init > most {
            let text = format!("{who} has a parameter `{name}` of {}; the largest is {most}", param.init);
            error(text, "rows of the register file are signed: use wider elements or a smaller value");
        }
        if data.params[..n].iter().any(|other| other.name == *name) {
            error(format!("{who} has two parameters `{name}`"), "rename one of them");
        }
    }
}

/// Returns true if the divider takes the value without computing it.
fn is_leaf(value: &CellValue) -> bool {
    matches!(
        value,
        CellValue::Const(_) | CellValue::Half(_) | CellValue::Old(_) | CellValue::Phv(_) | CellValue::Hash(_)
    )
}

/// Returns true if a register action writes an output word.
pub(super) fn outputs(data: &RegisterActionData, word: u8) -> bool {
    let mut found = false;
    data.statements(&mut |s| found |= matches!(s.kind, CellStmtKind::Output(w, _) if w == word));
    found
}

/// Returns true for an equality of a half and a packet value, which ternary match units test at any width.
fn is_wide_equality(cond: &CellCond) -> bool {
    let packet = |v: &CellValue| matches!(v, CellValue::Phv(_) | CellValue::Hash(_));
    let half = |v: &CellValue| matches!(v, CellValue::Half(_) | CellValue::Old(_));
    match cond {
        CellCond::Cmp(CmpOp::Eq | CmpOp::Ne, _, a, b) => half(a) && packet(b) || packet(a) && half(b),
        CellCond::Not(inner) => is_wide_equality(inner),
        CellCond::And(a, b) | CellCond::Or(a, b) => {
            let fine = |c: &CellCond| matches!(c, CellCond::Match(..)) || is_wide_equality(c);
            fine(a) && fine(b)
        }
        CellCond::Cmp(..) | CellCond::Match(..) => false,
    }
}

struct Body<'c> {
    p: &'c Program,
    format: Format,
    /// Number of parameters of the register.
    params: usize,
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
                CellStmtKind::Output(0..=3, value) if value.is_returned_only() => self.returned(site, value),
                CellStmtKind::Search(search) => self.search(site, search),
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

    /// Checks a value that is an output and no operand of an ALU.
    fn returned(&mut self, site: Site<'_>, value: &CellValue) {
        match value {
            CellValue::Predicate(conds) => {
                if !(1..=4).contains(&conds.len()) {
                    let text = format!("returns a predicate of {}", super::count(conds.len(), "condition"));
                    self.error(
                        site,
                        text,
                        "a stateful ALU makes 1 to 4 comparisons, of fields and the element",
                    );
                }
                for cond in conds {
                    self.cond(site, cond);
                }
            }
            CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
                for value in [a, b] {
                    if !is_leaf(value) {
                        let text = "divides a computed value".to_owned();
                        self.error(site, text, "divide halves, packet values and constants");
                    }
                    self.value(site, value);
                }
            }
            _ => {}
        }
    }

    fn search(&mut self, site: Site<'_>, search: &Search) {
        if self.format.element_bits() != 128 || self.format.is_pair() {
            let text = format!("searches the lanes of an element of {} bits", self.format);
            self.error(site, text, "only 128-bit elements have lanes");
        }
        if search.operands.len() > 2 {
            let text = format!("searches with {} packet values", search.operands.len());
            self.error(site, text, "give at most two, the low and the high operand");
        }
        for operand in &search.operands {
            self.operand(site, operand, 64);
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
        if let CellCond::Match(half, value, _) = cond {
            self.half(site, *half, "matches");
            if !matches!(value, CellValue::Phv(_) | CellValue::Hash(_)) {
                let text = "matches a half with something other than a packet value".to_owned();
                self.error(site, text, "a ternary match unit compares memory and PHV");
            }
            return self.value(site, value);
        }
        if !is_wide_equality(cond) {
            self.wide(site, "compares");
        }
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
            CellValue::Half(half) | CellValue::Old(half) => self.half(site, *half, "reads"),
            CellValue::Param(n) => {
                if usize::from(*n) >= self.params {
                    let text = format!("uses parameter {n}, but its register has {}", self.params);
                    self.error(site, text, "parameters are counted from 0");
                }
                self.wide(site, "takes a parameter in");
            }
            CellValue::Phv(e) => self.operand(site, e, bits),
            CellValue::Hash(hash) => {
                let hash = &self.p.hashes[*hash];
                if hash.width > bits {
                    let text =
                        format!("uses hash `{}` of {} bits; its elements have {bits}", hash.name, hash.width);
                    self.error(site, text, "keep fewer bits of the hash or use wider elements");
                }
            }
            CellValue::Math(_, a) => {
                self.wide(site, "computes on");
                if !matches!(
                    **a,
                    CellValue::Half(_) | CellValue::Old(_) | CellValue::Phv(_) | CellValue::Hash(_)
                ) {
                    let text = "gives the math unit a computed value".to_owned();
                    self.error(site, text, "it takes a half or a packet value");
                }
                self.value(site, a);
            }
            CellValue::Predicate(_)
            | CellValue::Address
            | CellValue::Quotient(..)
            | CellValue::Remainder(..)
            | CellValue::Lane(_) => {
                let text = "computes with a value that can only be returned".to_owned();
                self.error(site, text, "return it, and compute with the field that takes it");
            }
            CellValue::Op(_, a, b) => {
                self.wide(site, "computes on");
                self.value(site, a);
                self.value(site, b);
            }
        }
    }

    fn operand(&mut self, site: Site<'_>, e: &Expr, bits: u16) {
        if leaf(e) != Some(Source::Field) {
            let text = "uses a packet value that is not a field".to_owned();
            return self.error(
                site,
                text,
                "use a field, or a slice or cast of one; write other values to metadata first",
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
