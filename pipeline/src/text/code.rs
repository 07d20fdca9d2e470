//! Second pass: statements, conditions, values and parser states. What may not live here: declarations.

use super::cursor::{Cursor, Parsed};
use super::lex::Tok;
use super::scan::Item;
use super::scope::{Scope, Space};
use crate::entity::Entity;
use crate::ir::{
    ActionCall, ApplyArms, Block, ChecksumUpdate, CmpOp, Cond, CounterLoad, Deparser, Expr, Field, Loc,
    Lookahead, Next, ParamData, ParserOp, ParserOpKind, Primitive, PrimitiveKind, Program, Request,
    RequestKind, SelectArm, SelectKey, StateData, Stmt, StmtKind,
};
use sluice_asic::alu::{AluOp, width_mask};
use sluice_asic::gress::Gress;

/// Deepest nesting of blocks, conditions and values: far beyond any program, and well within a stack.
const MAX_DEPTH: u32 = 128;

/// A body being parsed: a place, the names, and where unqualified names belong.
pub(super) struct Code<'t> {
    pub(super) c: Cursor<'t>,
    scope: &'t Scope,
    pub(super) gress: Option<Gress>,
    params: Vec<ParamData>,
    depth: u32,
}

impl<'t> Code<'t> {
    pub(super) fn new(c: Cursor<'t>, scope: &'t Scope, gress: Option<Gress>) -> Self {
        Code { c, scope, gress, params: Vec::new(), depth: 0 }
    }

    /// Items between here and `end`, with commas between them.
    pub(super) fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.c.eat(end) {
            list.push(item(self)?);
            if !self.c.eat(",") {
                self.c.expect(end).map_err(|_| self.c.error(format!("`,` or `{end}`")))?;
                break;
            }
        }
        Ok(list)
    }

    /// `{ item; … }`
    pub(super) fn block<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        self.c.expect("{")?;
        while !self.c.eat("}") {
            list.push(item(self)?);
            self.c.expect(";")?;
        }
        Ok(list)
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.c.error(format!("at most {MAX_DEPTH} levels of nesting")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// A name, `.name`, `gress::name` or `#index` of an entity.
    pub(super) fn reference<K: Entity>(&mut self, space: Space) -> Parsed<K> {
        if let Tok::Index(index) = self.c.peek() {
            self.c.advance();
            return Ok(K::new(*index as usize));
        }
        let mut gress = self.gress;
        if space.per_gress() && self.c.then("::") {
            gress = Some(self.c.gress()?);
            self.c.expect("::")?;
        }
        if space == Space::Field {
            self.c.eat(".");
        }
        let article = if space == Space::Action { "an" } else { "a" };
        let expected = match gress.filter(|_| space.per_gress()) {
            Some(g) => format!("{article} {} of {g}", space.word()),
            None => format!("{article} {}", space.word()),
        };
        let Tok::Name { text, .. } = self.c.peek() else { return Err(self.c.error(expected)) };
        let Some(index) = self.scope.find(space, gress, text) else {
            let elsewhere = Gress::ALL.into_iter().find(|&g| self.scope.find(space, Some(g), text).is_some());
            let help = match elsewhere {
                Some(g) => format!("{g} declares it; only bytes cross between gresses"),
                None => "declare it, or check its spelling".to_owned(),
            };
            return Err(self.c.error_with(expected, help));
        };
        self.c.advance();
        Ok(K::new(index as usize))
    }

    pub(super) fn next(&mut self) -> Parsed<Next> {
        if self.c.eat_word("accept") {
            Ok(Next::Accept)
        } else if self.c.eat_word("reject") {
            Ok(Next::Reject)
        } else {
            self.reference(Space::State).map(Next::State)
        }
    }

    pub(super) fn call(&mut self) -> Parsed<ActionCall> {
        let action = self.reference(Space::Action)?;
        self.c.expect("(")?;
        Ok(ActionCall { action, args: self.c.list(")", |c| c.number("a value"))? })
    }

    /// A value with its slices.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|code| {
            let mut e = code.primary()?;
            let mut slices = 0;
            while code.c.eat("[") {
                slices += 1;
                if slices > MAX_DEPTH {
                    return Err(code.c.error(format!("at most {MAX_DEPTH} slices")));
                }
                let hi = code.c.number("the highest bit")?;
                code.c.expect(":")?;
                e = Expr::Slice(Box::new(e), hi, code.c.number("the lowest bit")?);
                code.c.expect("]")?;
            }
            Ok(e)
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.c.peek() {
            Tok::Int { value, width: Some(width) } => {
                self.c.advance();
                Ok(Expr::Const(*value, *width))
            }
            Tok::Int { value, width: None } => Err(self.c.error_with(
                "a constant with its width",
                format!("write it as `16w{value}`, with the width it is used at"),
            )),
            Tok::Position(n) => {
                self.c.advance();
                self.c.expect("<")?;
                let width = self.c.number("a width in bits")?;
                self.c.expect(">")?;
                Ok(Expr::Param(*n, width))
            }
            Tok::Name { text, quoted } => {
                if !quoted && self.c.then("(") {
                    return self.operation(text);
                }
                if !self.c.then("::")
                    && let Some(n) = self.params.iter().position(|p| p.name == *text)
                {
                    self.c.advance();
                    return Ok(Expr::Param(n as u16, self.params[n].width));
                }
                self.reference(Space::Field).map(Expr::Field)
            }
            Tok::Index(_) | Tok::Punct(".") => self.reference(Space::Field).map(Expr::Field),
            _ => Err(self.c.error("a field, a parameter, a constant such as `16w0x800` or an operation")),
        }
    }

    /// `cast(value, width)` or `mnemonic(a, b)`.
    fn operation(&mut self, word: &str) -> Parsed<Expr> {
        if self.c.eat_word("cast") {
            self.c.expect("(")?;
            let value = Box::new(self.expr()?);
            self.c.expect(",")?;
            let width = self.c.number("a width in bits")?;
            self.c.expect(")")?;
            return Ok(Expr::Cast(value, width));
        }
        let op: AluOp = word.parse().map_err(|e: sluice_asic::alu::UnknownMnemonic| {
            self.c.error_with("`cast` or an ALU instruction", e.to_string())
        })?;
        self.c.advance();
        self.c.expect("(")?;
        let a = Box::new(self.expr()?);
        self.c.expect(",")?;
        let b = Box::new(self.expr()?);
        self.c.expect(")")?;
        Ok(Expr::Alu(op, a, b))
    }

    pub(super) fn field(&mut self) -> Parsed<Field> {
        self.reference(Space::Field)
    }

    fn field_list(&mut self) -> Parsed<Vec<Field>> {
        self.c.expect("{")?;
        self.list("}", Self::field)
    }

    /// The next word if it opens a call: `drop(`.
    fn callee(&mut self) -> Option<&'t str> {
        let word = self.c.word().filter(|_| self.c.then("("))?;
        self.c.advance();
        self.c.advance();
        Some(word)
    }

    pub(super) fn action_body(&mut self, params: Vec<ParamData>) -> Parsed<(Vec<Primitive>, Vec<ParamData>)> {
        self.params = params;
        let body = self.block(|code| {
            let loc = code.c.loc();
            Ok(Primitive { kind: code.primitive()?, loc })
        })?;
        Ok((body, std::mem::take(&mut self.params)))
    }

    fn primitive(&mut self) -> Parsed<PrimitiveKind> {
        let before = self.c.clone();
        if self.c.word() == Some("execute") && self.c.then("(") {
            return self.access(Vec::new());
        }
        let Some(word) = self.callee() else {
            let field = self.field()?;
            if self.c.at(",") || self.c.at(":") {
                return self.outputs(field);
            }
            self.c.expect("=")?;
            if self.c.word() == Some("execute") && self.c.then("(") {
                return self.access(vec![(0, field)]);
            }
            if self.c.word() == Some("meter") && self.c.then("(") {
                return self.question(field);
            }
            if self.c.word() == Some("random") && self.c.then("(") {
                return self.draw(field);
            }
            if self.c.word() == Some("hash") && self.c.then("(") {
                self.callee();
                let hash = self.reference(Space::Hash)?;
                let kind = if self.c.eat(",") {
                    PrimitiveKind::HashSlice(field, hash, self.c.number("the lowest bit of the result")?)
                } else {
                    PrimitiveKind::Hash(field, hash)
                };
                self.c.expect(")")?;
                return Ok(kind);
            }
            return Ok(PrimitiveKind::Set(field, self.expr()?));
        };
        let kind = match word {
            "set_valid" => PrimitiveKind::SetValid(self.reference(Space::Header)?, true),
            "set_invalid" => PrimitiveKind::SetValid(self.reference(Space::Header)?, false),
            "drop" => PrimitiveKind::Drop(self.reference(Space::Label)?),
            "set_masked" => {
                let field = self.field()?;
                self.c.expect(",")?;
                let value = self.expr()?;
                self.c.expect(",")?;
                PrimitiveKind::SetMasked(field, value, self.expr()?)
            }
            "copy_valid" => {
                let to = self.reference(Space::Header)?;
                self.c.expect(",")?;
                PrimitiveKind::CopyValid(to, self.reference(Space::Header)?)
            }
            "count" => {
                let counter = self.reference(Space::Counter)?;
                if self.c.eat(",") {
                    PrimitiveKind::Count(counter, self.expr()?)
                } else {
                    PrimitiveKind::CountDirect(counter)
                }
            }
            _ => {
                return Err(before.error(
                    "an assignment, `set_valid(…)`, `set_invalid(…)`, `copy_valid(…)`, `count(…)`, `execute(…)` or `drop(…)`",
                ));
            }
        };
        self.c.expect(")")?;
        Ok(kind)
    }

    pub(super) fn state(&mut self, item: &Item, p: &Program) -> Parsed<StateData> {
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
        if !matches!(self.c.peek(), Tok::Name { .. } | Tok::Index(_) | Tok::Punct(".")) {
            return Err(self.c.error("`extract(…)`, an assignment, `select` or `transition`"));
        }
        let field = self.field()?;
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
            let inputs = self.field_list()?;
            self.c.expect(")")?;
            return Ok(ParserOpKind::VerifyChecksum(field, inputs));
        }
        Ok(ParserOpKind::Set(field, self.expr()?))
    }

    /// A step of a parser state that is neither an extraction of a header nor an assignment.
    fn parser_step(&mut self) -> Parsed<Option<ParserOpKind>> {
        let words = [
            "extract_next",
            "advance",
            "set_counter",
            "increment",
            "decrement",
            "push_counter",
            "pop_counter",
        ];
        let Some(word) = self.c.word().filter(|w| words.contains(w) && self.c.then("(")) else {
            return Ok(None);
        };
        self.callee();
        let kind = match word {
            "extract_next" => ParserOpKind::ExtractNext(self.reference(Space::Stack)?),
            "advance" => ParserOpKind::Advance(self.c.number("a number of bytes")?),
            "set_counter" => ParserOpKind::SetCounter(self.counter_load()?),
            "push_counter" => ParserOpKind::PushCounter(self.counter_load()?),
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

    /// `5` or `field, max, rotate, mask, add`
    fn counter_load(&mut self) -> Parsed<CounterLoad> {
        if matches!(self.c.peek(), Tok::Int { .. }) {
            return Ok(CounterLoad::Const(self.c.number("a constant of 8 bits")?));
        }
        let field = self.field()?;
        let [max, rotate, mask, add] =
            ["the largest value", "a rotation", "a mask's width", "a number to add"]
                .map(|what| self.c.expect(",").and_then(|()| self.c.number(what)));
        Ok(CounterLoad::Field { field, max: max?, rotate: rotate?, mask: mask?, add: add? })
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

    /// `(value, …) : next;`
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
        self.c.expect(":")?;
        let next = self.next()?;
        self.c.expect(";")?;
        Ok(SelectArm { values, next })
    }

    /// `{ statement … }`
    pub(super) fn statements(&mut self) -> Parsed<Block> {
        self.nested(|code| {
            let mut block = Vec::new();
            code.c.expect("{")?;
            while !code.c.eat("}") {
                block.push(code.statement()?);
            }
            Ok(block)
        })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let loc = self.c.loc();
        let kind = if self.c.eat_word("if") {
            self.branch()?
        } else if self.c.eat_word("apply") {
            let table = self.reference(Space::Table)?;
            StmtKind::Apply(table, if self.c.eat(";") { ApplyArms::default() } else { self.arms()? })
        } else if self.c.eat_word("call") {
            let action = self.reference(Space::Action)?;
            self.c.expect(";")?;
            StmtKind::Call(action)
        } else {
            return Err(self.c.error("`if`, `apply`, `call` or `}`"));
        };
        Ok(Stmt { kind, loc })
    }

    /// What follows `if`.
    fn branch(&mut self) -> Parsed<StmtKind> {
        self.c.expect("(")?;
        let cond = self.cond()?;
        self.c.expect(")")?;
        let then = self.statements()?;
        let mut otherwise = Vec::new();
        if self.c.eat_word("else") {
            let loc = self.c.loc();
            if self.c.eat_word("if") {
                otherwise.push(Stmt { kind: self.nested(Self::branch)?, loc });
            } else {
                otherwise = self.statements()?;
            }
        }
        Ok(StmtKind::If(cond, then, otherwise))
    }

    fn arms(&mut self) -> Parsed<ApplyArms> {
        let mut arms = ApplyArms::default();
        self.c.expect("{").map_err(|_| self.c.error("`;` or `{`"))?;
        while !self.c.eat("}") {
            if self.c.eat_word("hit") {
                arms.hit = self.statements()?;
            } else if self.c.eat_word("miss") {
                arms.miss = self.statements()?;
            } else if self.c.eat_word("run") {
                let action = self.reference(Space::Action)?;
                arms.run.push((action, self.statements()?));
            } else {
                return Err(self.c.error("`hit`, `miss`, `run` or `}`"));
            }
        }
        Ok(arms)
    }

    /// Comparisons joined by `&&` or by `||`; mixing them takes parentheses.
    fn cond(&mut self) -> Parsed<Cond> {
        self.nested(|code| {
            let mut left = code.cond_part()?;
            let and = code.c.at("&&");
            let mut joined = 0;
            loop {
                joined += 1;
                if joined > MAX_DEPTH {
                    return Err(code.c.error(format!("at most {MAX_DEPTH} parts of a condition")));
                }
                if and && code.c.eat("&&") {
                    left = Cond::And(Box::new(left), Box::new(code.cond_part()?));
                } else if !and && code.c.eat("||") {
                    left = Cond::Or(Box::new(left), Box::new(code.cond_part()?));
                } else if code.c.at("&&") || code.c.at("||") {
                    return Err(code.c.error_with("`)`", "put parentheses where `&&` and `||` meet"));
                } else {
                    return Ok(left);
                }
            }
        })
    }

    fn cond_part(&mut self) -> Parsed<Cond> {
        if self.c.eat("!") {
            return self.nested(|code| Ok(Cond::Not(Box::new(code.cond_part()?))));
        }
        if self.c.eat("(") {
            let cond = self.cond()?;
            self.c.expect(")")?;
            return Ok(cond);
        }
        if self.c.word() == Some("valid") && self.c.then("(") {
            self.callee();
            let header = self.reference(Space::Header)?;
            self.c.expect(")")?;
            return Ok(Cond::Valid(header));
        }
        let a = self.expr()?;
        let op = CmpOp::ALL.into_iter().find(|op| self.c.at(op.symbol()));
        let op = op.ok_or_else(|| self.c.error("`==`, `!=`, `<`, `<=`, `>` or `>=`"))?;
        self.c.advance();
        Ok(Cond::Cmp(op, a, self.expr()?))
    }

    /// `resubmit(1, header` and its like, up to the closing parenthesis.
    fn request(&mut self, loc: Loc) -> Parsed<Request> {
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
        let header = if self.c.eat(",") { Some(self.reference(Space::Header)?) } else { None };
        Ok(Request { kind, selector, header, loc })
    }

    pub(super) fn deparser(&mut self) -> Parsed<Deparser> {
        let mut deparser = Deparser::default();
        self.c.expect("{")?;
        while !self.c.eat("}") {
            let loc = self.c.loc();
            if self.c.word() == Some("emit") && self.c.then("(") {
                self.callee();
                deparser.emit.push(self.reference(Space::Header)?);
            } else if self.c.then("(") {
                deparser.requests.push(self.request(loc)?);
            } else {
                let field = self.field()?;
                self.c.expect("=")?;
                self.c.expect_word("checksum")?;
                self.c.expect("(")?;
                let header = self.reference(Space::Header)?;
                self.c.expect(",")?;
                let inputs = self.field_list()?;
                let zeros_as_ones = self.c.eat(",");
                if zeros_as_ones {
                    self.c.expect_word("zeros_as_ones")?;
                }
                deparser.checksums.push(ChecksumUpdate { header, field, inputs, zeros_as_ones, loc });
            }
            self.c.expect(")")?;
            self.c.expect(";")?;
        }
        Ok(deparser)
    }
}
