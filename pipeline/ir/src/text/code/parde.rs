//! Second pass: parser states and deparsers.

use super::{Code, Space};
use crate::text::cursor::Parsed;
use crate::text::lex::Tok;
use crate::text::scan::Item;
use crate::{
    ArmSet, ChecksumUpdate, CounterLoad, Deparser, Expr, Field, Loc, Lookahead, ParserOp, ParserOpKind,
    Program, Request, RequestKind, SelectArm, SelectKey, StateData,
};
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;

impl Code<'_> {
    pub(in crate::text) fn state(&mut self, item: &Item, p: &Program) -> Parsed<StateData> {
        let mut ops = Vec::new();
        self.c.expect("{")?;
        while !matches!(self.c.word(), Some("transition" | "select")) || self.c.then("=") {
            let loc = self.c.loc();
            ops.push(ParserOp { kind: self.parser_op()?, loc });
            self.c.expect(";")?;
        }
        let (mut select, mut arms) = (Vec::new(), Vec::new());
        let default;
        if self.c.eat_word("transition") {
            default = self.next()?;
            self.c.expect(";")?;
        } else {
            self.c.advance();
            self.c.expect("(")?;
            select = self.list(")", Self::select_key)?;
            self.c.expect("{")?;
            while !self.c.eat_word("default") {
                arms.push(self.arm(&select, p)?);
            }
            self.c.expect(":")?;
            default = self.next()?;
            self.c.expect(";")?;
            self.c.expect("}")?;
        }
        self.c.expect("}")?;
        let gress = item.gress.unwrap_or(Gress::Ingress);
        let (name, doc) = (item.name.clone(), item.doc.clone());
        Ok(StateData { name, gress, ops, select, arms, default, doc, loc: item.loc })
    }

    fn parser_op(&mut self) -> Parsed<ParserOpKind> {
        if self.c.word() == Some("extract") && self.c.then("(") {
            self.callee();
            let header = self.reference(Space::Header)?;
            self.c.expect(")")?;
            return Ok(ParserOpKind::Extract(header));
        }
        if let Some(kind) = self.parser_step()? {
            return Ok(kind);
        }
        if !matches!(self.c.peek(), Tok::Name { .. } | Tok::Param { .. } | Tok::Index(_) | Tok::Punct(".")) {
            return Err(self.c.error("`extract(…)`, an assignment, `select` or `transition`"));
        }
        let field = self.field()?;
        if let Some((hi, lo)) = self.slice()? {
            self.c.expect("=")?;
            return Ok(ParserOpKind::SetSlice(field, hi, lo, self.expr()?));
        }
        self.c.expect("=")?;
        if self.c.word() == Some("lookahead") && self.c.then("(") {
            self.callee();
            let at = self.c.number("an offset in bits")?;
            self.c.expect(")")?;
            return Ok(ParserOpKind::Lookahead(field, at));
        }
        if self.c.word() == Some("verify_checksum") && self.c.then("(") {
            self.c.advance();
            self.c.expect("(")?;
            self.c.expect("{")?;
            let inputs = self.list("}", Self::expr)?;
            self.c.expect(")")?;
            return Ok(ParserOpKind::VerifyChecksum(field, inputs));
        }
        if self.c.word() == Some("subtract_checksum") && self.c.then("(") {
            self.callee();
            self.c.expect("{")?;
            let inputs = self.list("}", Self::expr)?;
            self.c.expect(")")?;
            return Ok(ParserOpKind::SubtractChecksum(field, inputs));
        }
        Ok(ParserOpKind::Set(field, self.expr()?))
    }

    /// Parses an operation of a parser state other than extracting a header and assigning.
    fn parser_step(&mut self) -> Parsed<Option<ParserOpKind>> {
        let words = [
            "extract_next",
            "set_valid",
            "set_invalid",
            "advance",
            "set_counter",
            "increment",
            "decrement",
            "push_counter",
            "push_linked_counter",
            "pop_counter",
        ];
        let Some(word) = self.c.word().filter(|w| words.contains(w) && self.c.then("(")) else {
            return Ok(None);
        };
        self.callee();
        let kind = match word {
            "extract_next" => ParserOpKind::ExtractNext(self.reference(Space::Stack)?),
            "set_valid" => ParserOpKind::SetValid(self.reference(Space::Header)?, true),
            "set_invalid" => ParserOpKind::SetValid(self.reference(Space::Header)?, false),
            "advance" => ParserOpKind::Advance(self.c.number("a number of bytes")?),
            "set_counter" => ParserOpKind::SetCounter(self.counter_load()?),
            "push_counter" => ParserOpKind::PushCounter(self.counter_load()?, false),
            "push_linked_counter" => ParserOpKind::PushCounter(self.counter_load()?, true),
            "pop_counter" => ParserOpKind::PopCounter,
            _ => {
                let before = self.c.clone();
                let by: i16 = self.c.number("a number from 0 to 128")?;
                let by = if word == "decrement" { -by } else { by };
                let by = i8::try_from(by).map_err(|_| before.error("an 8-bit signed number"))?;
                ParserOpKind::AddCounter(by)
            }
        };
        self.c.expect(")")?;
        Ok(Some(kind))
    }

    /// Parses `5`, or `field, max, rotate, mask, add` with `lookahead(at)` in place of the field.
    fn counter_load(&mut self) -> Parsed<CounterLoad> {
        if matches!(self.c.peek(), Tok::Int { .. } | Tok::Param { .. }) {
            return Ok(CounterLoad::Const(self.c.number("a constant of 8 bits")?));
        }
        let ahead = self.c.word() == Some("lookahead") && self.c.then("(");
        let (mut at, mut field) = (None, None);
        if ahead {
            self.callee();
            at = Some(self.c.number("an offset in bits")?);
            self.c.expect(")")?;
        } else {
            field = Some(self.field()?);
        }
        let [max, rotate, mask, add] =
            ["the largest value", "a rotation", "a mask's width", "a number to add"]
                .map(|what| self.c.expect(",").and_then(|()| self.c.number(what)));
        let (max, rotate, mask, add) = (max?, rotate?, mask?, add?);
        Ok(match (field, at) {
            (Some(field), _) => CounterLoad::Field { field, max, rotate, mask, add },
            (None, at) => CounterLoad::Ahead { at: at.unwrap_or_default(), max, rotate, mask, add },
        })
    }

    fn select_key(&mut self) -> Parsed<SelectKey> {
        let words = ["lookahead", "last", "counter_is_zero", "counter_is_negative"];
        let Some(word) = self.c.word().filter(|w| words.contains(w) && self.c.then("(")) else {
            return self.field().map(SelectKey::Field);
        };
        self.callee();
        let key = match word {
            "lookahead" => {
                let at = self.c.number("an offset in bits")?;
                self.c.expect(",")?;
                SelectKey::Lookahead(Lookahead { at, width: self.c.number("a width in bits")? })
            }
            "last" => {
                let stack = self.reference(Space::Stack)?;
                self.c.expect(",")?;
                SelectKey::Last(stack, self.c.number("a field's position")?)
            }
            "counter_is_zero" => SelectKey::CounterIsZero,
            _ => SelectKey::CounterIsNegative,
        };
        self.c.expect(")")?;
        Ok(key)
    }

    /// Parses `(value, …) [in set [from position]] : next;`.
    fn arm(&mut self, select: &[SelectKey], p: &Program) -> Parsed<SelectArm> {
        if !self.c.at("(") {
            return Err(self.c.error("`(value, …) : state;` or `default : state;`"));
        }
        self.c.advance();
        let mut column = 0;
        let values = self.list(")", |code| {
            let width = select.get(column).and_then(|k| k.width(p));
            column += 1;
            if code.c.eat_word("_") {
                return Ok((0, 0));
            }
            let value = code.c.number("a value, `value &&& mask` or `_`")?;
            if code.c.eat("&&&") {
                return Ok((value, code.c.number("a mask")?));
            }
            let width =
                width.ok_or_else(|| code.c.error_with("`&&&`", "nothing is selected on in this column"))?;
            Ok((value, width_mask(width.into())))
        })?;
        let set = if self.c.eat_word("in") {
            let set = self.reference(Space::ValueSet)?;
            let first = if self.c.eat_word("from") { self.c.number("the position of a key")? } else { 0 };
            Some(ArmSet { set, first })
        } else {
            None
        };
        self.c.expect(":")?;
        let next = self.next()?;
        self.c.expect(";")?;
        Ok(SelectArm { values, set, next })
    }

    /// Parses `resubmit(1, header` and similar requests, up to the closing parenthesis.
    fn request(&mut self, loc: Loc, p: &Program) -> Parsed<Request> {
        let words = ["resubmit", "mirror", "digest", "pktgen"].map(|w| (w, w));
        let word = self.c.one_of(&words).map_err(|_| {
            self.c.error("`emit`, `resubmit`, `mirror`, `digest`, `pktgen`, a checksum or `}`")
        })?;
        self.c.expect("(")?;
        let selector = self.c.number("the value of the type field that asks for it")?;
        let kind = match word {
            "mirror" => {
                self.c.expect(",")?;
                RequestKind::Mirror(self.field()?)
            }
            "digest" => RequestKind::Digest,
            "pktgen" => RequestKind::Pktgen,
            _ => RequestKind::Resubmit,
        };
        let data = match (self.c.eat(","), self.c.at("{")) {
            (false, _) => Vec::new(),
            (true, true) => self.values()?,
            (true, false) => p.header_list(self.reference(Space::Header)?),
        };
        Ok(Request { kind, selector, when: None, data, loc })
    }

    /// Parses `{ value, … }`.
    fn values(&mut self) -> Parsed<Vec<Expr>> {
        self.c.expect("{")?;
        self.list("}", Self::expr)
    }

    /// Parses `when field`, if it is there.
    fn when(&mut self) -> Parsed<Option<Field>> {
        if self.c.eat_word("when") { self.field().map(Some) } else { Ok(None) }
    }

    pub(in crate::text) fn deparser(&mut self, p: &Program) -> Parsed<Deparser> {
        let mut deparser = Deparser::default();
        self.c.expect("{")?;
        while !self.c.eat("}") {
            let loc = self.c.loc();
            if self.c.word() == Some("emit") && self.c.then("(") {
                self.callee();
                deparser.emit.push(self.reference(Space::Header)?);
                self.c.expect(")")?;
            } else if self.c.then("(") {
                let request = self.request(loc, p)?;
                self.c.expect(")")?;
                deparser.requests.push(Request { when: self.when()?, ..request });
            } else {
                let field = self.field()?;
                self.c.expect("=")?;
                self.c.expect_word("checksum")?;
                self.c.expect("(")?;
                let header = self.reference(Space::Header)?;
                self.c.expect(",")?;
                let inputs = self.values()?;
                let zeros_as_ones = self.c.eat(",");
                if zeros_as_ones {
                    self.c.expect_word("zeros_as_ones")?;
                }
                self.c.expect(")")?;
                let when = self.when()?;
                deparser.checksums.push(ChecksumUpdate { header, when, field, inputs, zeros_as_ones, loc });
            }
            self.c.expect(";")?;
        }
        Ok(deparser)
    }
}
