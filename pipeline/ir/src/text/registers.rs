//! Registers, register actions and accesses to registers: printer and parser.
//!
//! `@lo` and `@hi` are the element's halves, `@old_lo` and `@old_hi` their values before the access, `@out0` to
//! `@out3` the output words. A plain number is as wide as a half; `param(0)` is the register's first run-time parameter. `math(..)`, `predicate(..)`,
//! `quotient(..)`, `remainder(..)`, `search(..)`, `match(..)`, `@address` and `@lane` are units outside the
//! ALUs. `phv(..)` encloses a packet value that is more than slices and casts of a field. `signed(..)` and
//! `serial(..)` enclose comparisons in these senses.

use super::code::Code;
use super::cursor::Parsed;
use super::decls::{gress, required, settings};
use super::lex::Tok;
use super::print::{Printer, int, name};
use super::scan::Item;
use super::scope::Space;
use crate::entity::EntityMap;
use crate::{
    CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Expr, Field, LanePart, PrimitiveKind, Register,
    RegisterAccess, RegisterActionData, RegisterData, RegisterParamData, Search,
};
use sluice_asic::salu::{Half, LaneMask, LaneOp, LanePost, LaneSearch, MathUnit, PostAmount, SaluOp, Sense};

/// Names of the halves before the access.
pub(super) const OLD: [(&str, Half); 2] = [("old_lo", Half::Lo), ("old_hi", Half::Hi)];

/// Names of senses; comparisons without one are unsigned.
pub(super) const SENSES: [(&str, Sense); 2] = [("signed", Sense::Signed), ("serial", Sense::Serial)];

impl Printer<'_> {
    pub(super) fn registers(&mut self) {
        let p = self.p;
        for d in p.registers.values() {
            self.doc(&d.doc);
            self.open(format_args!("register {} : {}", name(&d.name), d.gress));
            self.line(format_args!("element = \"{}\";", d.format));
            self.home(d.home);
            if d.init != [0, 0] {
                let [lo, hi] = d.init.map(|v| int(v.into()));
                self.line(format_args!("initial = {lo}, {hi};"));
            }
            if !d.params.is_empty() {
                let params = d.params.iter();
                let params = params.map(|p| format!("{} = {}", name(&p.name), int(p.init.into())));
                let params: Vec<String> = params.collect();
                self.line(format_args!("params = {{ {} }};", params.join(", ")));
            }
            self.close();
        }
        for d in p.register_actions.values() {
            self.gress = p.registers.get(d.register).map(|r| r.gress);
            self.doc(&d.doc);
            let register = self.register(d.register);
            self.open(format_args!("register_action {} ({register})", name(&d.name)));
            self.cell_statements(&d.body);
            self.close();
        }
    }

    fn cell_statements(&mut self, body: &[CellStmt]) {
        for stmt in body {
            match &stmt.kind {
                CellStmtKind::Write(half, value) => {
                    self.line(format_args!("@{} = {};", half.name(), self.cell_value(value)));
                }
                CellStmtKind::Output(word, value) => {
                    self.line(format_args!("@out{word} = {};", self.cell_value(value)));
                }
                CellStmtKind::Search(search) => self.line(format_args!("{};", self.search(search))),
                CellStmtKind::If(cond, then, otherwise) => {
                    self.open(format_args!("if ({})", self.cell_cond(cond)));
                    self.cell_statements(then);
                    if !otherwise.is_empty() {
                        self.turn(format_args!("else"));
                        self.cell_statements(otherwise);
                    }
                    self.close();
                }
            }
        }
    }

    fn cell_value(&self, value: &CellValue) -> String {
        match value {
            CellValue::Const(value) => int((*value).into()),
            CellValue::Half(half) => format!("@{}", half.name()),
            CellValue::Old(half) => format!("@old_{}", half.name()),
            CellValue::Param(n) => format!("param({n})"),
            CellValue::Phv(e) if is_bare(e) => self.expr(e),
            CellValue::Phv(e) => format!("phv({})", self.expr(e)),
            CellValue::Hash(hash) => format!("hash({})", self.hash(*hash)),
            CellValue::Op(op, a, b) => format!("{op}({}, {})", self.cell_value(a), self.cell_value(b)),
            CellValue::Math(unit, a) => {
                let table = unit.table().iter().fold(0, |all, byte| all << 8 | u128::from(*byte));
                let (invert, a) = (u8::from(unit.invert()), self.cell_value(a));
                // Shift and scale are stored as unsigned numbers, because both ranges begin below zero.
                let (shift, scale) = (unit.shift() + 1, unit.scale() + 32);
                format!("math({invert}, {shift}, {scale}, {table:#x}, {a})")
            }
            CellValue::Predicate(conds) => {
                let conds: Vec<String> = conds.iter().map(|c| self.cell_cond(c)).collect();
                format!("predicate({})", conds.join(", "))
            }
            CellValue::Address => "@address".to_owned(),
            CellValue::Quotient(a, b) => format!("quotient({}, {})", self.cell_value(a), self.cell_value(b)),
            CellValue::Remainder(a, b) => {
                format!("remainder({}, {})", self.cell_value(a), self.cell_value(b))
            }
            CellValue::Lane(part) => {
                let word = LanePart::ALL.iter().find(|(_, p)| p == part).map_or("", |(word, _)| word);
                format!("@{word}")
            }
        }
    }

    fn cell_cond(&self, cond: &CellCond) -> String {
        let part = |c: &CellCond| match c {
            CellCond::And(..) | CellCond::Or(..) => format!("({})", self.cell_cond(c)),
            CellCond::Cmp(..) | CellCond::Not(_) | CellCond::Match(..) => self.cell_cond(c),
        };
        match cond {
            CellCond::Cmp(op, sense, a, b) => {
                let text = format!("{} {} {}", self.cell_value(a), op.symbol(), self.cell_value(b));
                let word = SENSES.iter().find(|(_, s)| s == sense);
                word.map_or_else(|| text.clone(), |(word, _)| format!("{word}({text})"))
            }
            CellCond::Match(half, value, mask) => {
                format!("match(@{}, {}, {})", half.name(), self.cell_value(value), int((*mask).into()))
            }
            CellCond::Not(a) => format!("!({})", self.cell_cond(a)),
            CellCond::And(a, b) => format!("{} && {}", part(a), part(b)),
            CellCond::Or(a, b) => format!("{} || {}", part(a), part(b)),
        }
    }

    /// Prints `search(min8, element, 0xff, add 3, m.a)`: lanes, searched lanes, change, packet operands.
    fn search(&self, search: &Search) -> String {
        let what = &search.what;
        let lanes = if what.from_phv { "packet" } else { "element" };
        let mask = match what.mask {
            LaneMask::Constant(mask) => int(mask.into()),
            LaneMask::Phv => "phv".to_owned(),
        };
        let post = what.post.map_or("keep".to_owned(), |post| {
            let amount = match post.amount {
                PostAmount::Constant(amount) => int(amount.into()),
                PostAmount::Phv => "phv".to_owned(),
            };
            format!("{} {amount}", if post.subtract { "sub" } else { "add" })
        });
        let operands: String = search.operands.iter().map(|e| format!(", {}", self.expr(e))).collect();
        format!("search({}, {lanes}, {mask}, {post}{operands})", what.op.mnemonic())
    }

    /// Prints `m.a, m.b:2 = execute(action, index)`.
    pub(super) fn access(&self, access: &RegisterAccess) -> String {
        let call =
            format!("execute({}, {})", self.register_action(access.action), self.array_index(&access.index));
        if access.outputs.is_empty() {
            return call;
        }
        let output = |(word, f): &(u8, Field)| match word {
            0 => self.field(*f),
            word => format!("{}:{word}", self.field(*f)),
        };
        let outputs: Vec<String> = access.outputs.iter().map(output).collect();
        format!("{} = {call}", outputs.join(", "))
    }
}

/// Returns true for a field, or slices and casts of one.
fn is_bare(e: &Expr) -> bool {
    match e {
        Expr::Field(_) => true,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => is_bare(inner),
        Expr::Const(..) | Expr::Param(..) | Expr::Alu(..) | Expr::Funnel(..) => false,
    }
}

pub(super) fn register(code: &mut Code<'_>, item: &Item) -> Parsed<RegisterData> {
    let (mut format, mut home, mut init, mut params) = (None, None, [0, 0], Vec::new());
    settings(code, &["element", "size", "direct", "initial", "params"], |code, word| {
        match word {
            "element" => {
                let before = code.c.clone();
                let text = code.c.text()?;
                let wrong = |e: sluice_asic::salu::FormatError| {
                    before.error_with("an element such as \"32\" or \"32x2\"", e.to_string())
                };
                format = Some(text.parse().map_err(wrong)?);
            }
            "size" | "direct" => home = Some(code.home(word)?),
            "params" => {
                code.c.expect("{")?;
                params = code.list("}", |code| {
                    let name = code.c.name()?;
                    code.c.expect("=")?;
                    Ok(RegisterParamData { name, init: code.c.number("a parameter's first value")? })
                })?;
            }
            _ => {
                init[0] = code.c.number("the low half's first value")?;
                code.c.expect(",")?;
                init[1] = code.c.number("the high half's first value")?;
            }
        }
        Ok(())
    })?;
    Ok(RegisterData {
        name: item.name.clone(),
        gress: gress(item),
        format: required(code, format, "element")?,
        home: required(code, home, "size")?,
        init,
        params,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

pub(super) fn register_action(
    code: &mut Code<'_>,
    item: &Item,
    registers: &EntityMap<Register, RegisterData>,
) -> Parsed<RegisterActionData> {
    code.c.expect("(")?;
    let register = code.reference(Space::Register)?;
    code.c.expect(")")?;
    code.gress = registers.get(register).map(|r| r.gress);
    let body = code.cell_statements()?;
    let (name, doc) = (item.name.clone(), item.doc.clone());
    Ok(RegisterActionData { name, register, body, doc, loc: item.loc })
}

impl Code<'_> {
    fn cell_statements(&mut self) -> Parsed<Vec<CellStmt>> {
        self.nested(|code| {
            let mut body = Vec::new();
            code.c.expect("{")?;
            while !code.c.eat("}") {
                let loc = code.c.loc();
                let kind = if code.c.eat_word("if") {
                    code.cell_branch()?
                } else if code.c.eat_word("search") {
                    code.search()?
                } else {
                    code.cell_write()?
                };
                body.push(CellStmt { kind, loc });
            }
            Ok(body)
        })
    }

    fn cell_branch(&mut self) -> Parsed<CellStmtKind> {
        self.c.expect("(")?;
        let cond = self.cell_cond()?;
        self.c.expect(")")?;
        let then = self.cell_statements()?;
        let otherwise = if self.c.eat_word("else") { self.cell_statements()? } else { Vec::new() };
        Ok(CellStmtKind::If(cond, then, otherwise))
    }

    fn cell_write(&mut self) -> Parsed<CellStmtKind> {
        const WORDS: [&str; 4] = ["out0", "out1", "out2", "out3"];
        self.c.expect("@").map_err(|_| self.c.error("`if`, `@lo`, `@hi`, `@out0` or `}`"))?;
        let word = WORDS.iter().position(|w| self.c.eat_word(w));
        let half = if word.is_none() { Some(self.half()?) } else { None };
        self.c.expect("=")?;
        let value = self.cell_value()?;
        self.c.expect(";")?;
        Ok(match (word, half) {
            (Some(word), _) => CellStmtKind::Output(word as u8, value),
            (None, half) => CellStmtKind::Write(half.unwrap_or(Half::Lo), value),
        })
    }

    fn half(&mut self) -> Parsed<Half> {
        self.c.one_of(&[("lo", Half::Lo), ("hi", Half::Hi)])
    }

    fn cell_value(&mut self) -> Parsed<CellValue> {
        self.nested(|code| {
            if code.c.eat("@") {
                if code.c.eat_word("address") {
                    return Ok(CellValue::Address);
                }
                if let Some((_, part)) = LanePart::ALL.into_iter().find(|(word, _)| code.c.eat_word(word)) {
                    return Ok(CellValue::Lane(part));
                }
                if let Some((_, half)) = OLD.into_iter().find(|(word, _)| code.c.eat_word(word)) {
                    return Ok(CellValue::Old(half));
                }
                return Ok(CellValue::Half(code.half()?));
            }
            if let Tok::Int { width: None, .. } | Tok::Param { .. } = code.c.peek()
                && !code.c.then("(")
            {
                return Ok(CellValue::Const(code.c.number("a value")?));
            }
            let called = code.c.word().filter(|_| code.c.then("("));
            if called == Some("hash") {
                code.c.advance();
                code.c.expect("(")?;
                let hash = code.reference(Space::Hash)?;
                code.c.expect(")")?;
                return Ok(CellValue::Hash(hash));
            }
            if called == Some("param") {
                code.c.advance();
                code.c.expect("(")?;
                let value = CellValue::Param(code.c.number("the position of a parameter, from 0")?);
                code.c.expect(")")?;
                return Ok(value);
            }
            if called == Some("phv") {
                code.c.advance();
                code.c.expect("(")?;
                let value = CellValue::Phv(code.expr()?);
                code.c.expect(")")?;
                return Ok(value);
            }
            if let Some(word @ ("math" | "predicate" | "quotient" | "remainder")) = called {
                code.c.advance();
                code.c.expect("(")?;
                let value = code.called(word)?;
                code.c.expect(")")?;
                return Ok(value);
            }
            if let Some(op) = called.and_then(|word| word.parse::<SaluOp>().ok()) {
                code.c.advance();
                code.c.expect("(")?;
                let a = Box::new(code.cell_value()?);
                code.c.expect(",")?;
                let b = Box::new(code.cell_value()?);
                code.c.expect(")")?;
                return Ok(CellValue::Op(op, a, b));
            }
            code.expr().map(CellValue::Phv)
        })
    }

    /// Parses the arguments of a unit outside the ALUs.
    fn called(&mut self, word: &str) -> Parsed<CellValue> {
        if word == "math" {
            return self.math();
        }
        if word == "predicate" {
            let mut conds = Vec::new();
            while !self.c.at(")") {
                conds.push(self.cell_cond()?);
                if !self.c.eat(",") {
                    break;
                }
            }
            return Ok(CellValue::Predicate(conds));
        }
        let a = Box::new(self.cell_value()?);
        self.c.expect(",")?;
        let b = Box::new(self.cell_value()?);
        Ok(if word == "quotient" { CellValue::Quotient(a, b) } else { CellValue::Remainder(a, b) })
    }

    fn math(&mut self) -> Parsed<CellValue> {
        let before = self.c.clone();
        let invert: u8 = self.c.number("0 or 1")?;
        self.c.expect(",")?;
        let shift: u8 = self.c.number("a shift from 0 (halve) to 2 (double)")?;
        self.c.expect(",")?;
        let scale: u8 = self.c.number("a scale from 0 (for -32) to 63")?;
        self.c.expect(",")?;
        let table: u128 = self.c.number("a table of 16 bytes")?;
        self.c.expect(",")?;
        let a = Box::new(self.cell_value()?);
        let (shift, scale) = (i16::from(shift) - 1, i16::from(scale) - 32);
        let unit = MathUnit::new(invert != 0, shift as i8, scale as i8, table.to_be_bytes());
        let unit = unit.map_err(|e| before.error_with("a possible math unit", e.to_string()))?;
        Ok(CellValue::Math(unit, a))
    }

    /// Parses the rest of a statement after `search`.
    fn search(&mut self) -> Parsed<CellStmtKind> {
        self.c.expect("(")?;
        let op = self.c.one_of(&LaneOp::ALL.map(|op| (op.mnemonic(), op)))?;
        self.c.expect(",")?;
        let from_phv = self.c.one_of(&[("element", false), ("packet", true)])?;
        self.c.expect(",")?;
        let mask = if self.c.eat_word("phv") {
            LaneMask::Phv
        } else {
            LaneMask::Constant(self.c.number("a mask of lanes or `phv`")?)
        };
        self.c.expect(",")?;
        let change = self.c.one_of(&[("keep", None), ("add", Some(false)), ("sub", Some(true))])?;
        let post = match change {
            None => None,
            Some(subtract) if self.c.eat_word("phv") => Some(LanePost { subtract, amount: PostAmount::Phv }),
            Some(subtract) => {
                let amount = PostAmount::Constant(self.c.number("an amount or `phv`")?);
                Some(LanePost { subtract, amount })
            }
        };
        let mut operands = Vec::new();
        while self.c.eat(",") {
            operands.push(self.expr()?);
        }
        self.c.expect(")")?;
        self.c.expect(";")?;
        Ok(CellStmtKind::Search(Search { what: LaneSearch { op, from_phv, mask, post }, operands }))
    }

    fn cell_cond(&mut self) -> Parsed<CellCond> {
        self.nested(|code| {
            let left = Box::new(code.cell_part()?);
            if code.c.eat("&&") {
                Ok(CellCond::And(left, Box::new(code.cell_part()?)))
            } else if code.c.eat("||") {
                Ok(CellCond::Or(left, Box::new(code.cell_part()?)))
            } else {
                Ok(*left)
            }
        })
    }

    fn cell_part(&mut self) -> Parsed<CellCond> {
        if self.c.eat("!") {
            self.c.expect("(")?;
            let inner = self.cell_cond()?;
            self.c.expect(")")?;
            return Ok(CellCond::Not(Box::new(inner)));
        }
        if self.c.eat("(") {
            let inner = self.cell_cond()?;
            self.c.expect(")")?;
            return Ok(inner);
        }
        let called = self.c.word().filter(|_| self.c.then("("));
        if called == Some("match") {
            self.c.advance();
            self.c.expect("(")?;
            self.c.expect("@")?;
            let half = self.half()?;
            self.c.expect(",")?;
            let value = self.cell_value()?;
            self.c.expect(",")?;
            let mask = self.c.number("a mask")?;
            self.c.expect(")")?;
            return Ok(CellCond::Match(half, value, mask));
        }
        let sense = SENSES.iter().find(|(word, _)| Some(*word) == called).map(|(_, sense)| *sense);
        if sense.is_some() {
            self.c.advance();
            self.c.expect("(")?;
        }
        let a = self.cell_value()?;
        let op = CmpOp::ALL.into_iter().find(|op| self.c.at(op.symbol()));
        let op = op.ok_or_else(|| self.c.error("`==`, `!=`, `<`, `<=`, `>` or `>=`"))?;
        self.c.advance();
        let b = self.cell_value()?;
        if sense.is_some() {
            self.c.expect(")")?;
        }
        Ok(CellCond::Cmp(op, sense.unwrap_or(Sense::Unsigned), a, b))
    }

    /// Parses the outputs after the first one.
    pub(super) fn outputs(&mut self, first: Field) -> Parsed<PrimitiveKind> {
        let mut outputs = vec![(self.output_word()?, first)];
        while self.c.eat(",") {
            let field = self.field()?;
            outputs.push((self.output_word()?, field));
        }
        self.c.expect("=")?;
        self.access(outputs)
    }

    fn output_word(&mut self) -> Parsed<u8> {
        if self.c.eat(":") { self.c.number("an output word") } else { Ok(0) }
    }

    /// Parses `execute(action, index)`.
    pub(super) fn access(&mut self, outputs: Vec<(u8, Field)>) -> Parsed<PrimitiveKind> {
        self.c.expect_word("execute")?;
        self.c.expect("(")?;
        let action = self.reference(Space::RegisterAction)?;
        self.c.expect(",")?;
        let index = self.array_index()?;
        self.c.expect(")")?;
        Ok(PrimitiveKind::Register(RegisterAccess { action, index, outputs }))
    }
}
