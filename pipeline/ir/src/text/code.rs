//! Second pass: statements, conditions and values.

mod action;
mod parde;

use super::cursor::{Cursor, Parsed, did_you_mean};
use super::lex::Tok;
use super::scope::{Scope, Space};
use crate::entity::Entity;
use crate::{ActionCall, ApplyArms, Block, CmpOp, Cond, Expr, Field, Next, ParamData, Stmt, StmtKind};
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_asic::names::nearest;

/// Deepest nesting of blocks, conditions and values. It is far beyond any program and well within a stack.
pub(super) const MAX_DEPTH: u32 = 128;

/// A body that is parsed: position, names, and the gress of unqualified names.
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

    /// Parses items separated by commas, up to `end`.
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

    /// Parses `{ item; … }`.
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

    /// Parses the reference of an entity: a name, `.name`, `gress::name` or `#index`.
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
                None => match nearest(text, self.scope.names(space, gress)) {
                    Some(near) => did_you_mean(near),
                    None => "declare it, or check its spelling".to_owned(),
                },
            };
            return Err(self.c.error_with(expected, help));
        };
        self.c.advance();
        Ok(K::new(index as usize))
    }

    /// Returns the entity of this name.
    pub(super) fn named<K: Entity>(&self, space: Space, gress: Gress, name: &str) -> Option<K> {
        self.scope.find(space, Some(gress), name).map(|index| K::new(index as usize))
    }

    /// Returns the names of a kind.
    pub(super) fn names(&self, space: Space, gress: Gress) -> impl Iterator<Item = &str> {
        self.scope.names(space, Some(gress))
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

    /// Parses a value with its slices.
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
            Tok::Param { text, .. } if !self.c.then("(") => Err(self.c.error_with(
                "a constant with its width",
                format!("write it as `16w({text})`, with the width it is used at"),
            )),
            Tok::Position(n) => {
                self.c.advance();
                self.c.expect("<")?;
                let width = self.c.number("a width in bits")?;
                self.c.expect(">")?;
                Ok(Expr::Param(*n, width))
            }
            Tok::Param { text, .. } => self.operation(text),
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

    /// Parses `cast(value, width)`, `funnel_shift(high, low, amount)` or `mnemonic(a, b)`.
    fn operation(&mut self, word: &str) -> Parsed<Expr> {
        if self.c.eat_word("cast") {
            self.c.expect("(")?;
            let value = Box::new(self.expr()?);
            self.c.expect(",")?;
            let width = self.c.number("a width in bits")?;
            self.c.expect(")")?;
            return Ok(Expr::Cast(value, width));
        }
        if self.c.eat_word("funnel_shift") {
            self.c.expect("(")?;
            let high = Box::new(self.expr()?);
            self.c.expect(",")?;
            let low = Box::new(self.expr()?);
            self.c.expect(",")?;
            let by = self.c.number("a number of bits")?;
            self.c.expect(")")?;
            return Ok(Expr::Funnel(high, low, by));
        }
        let op: AluOp = word.parse().map_err(|e: sluice_asic::alu::UnknownMnemonic| {
            self.c.error_with("`cast`, `funnel_shift` or an ALU instruction", e.to_string())
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

    /// Parses the bits of a slice, `[7:4]`, if there is one.
    pub(in crate::text) fn slice(&mut self) -> Parsed<Option<(u16, u16)>> {
        if !self.c.eat("[") {
            return Ok(None);
        }
        let hi = self.c.number("the highest bit of the slice")?;
        self.c.expect(":")?;
        let lo = self.c.number("the lowest bit of the slice")?;
        self.c.expect("]")?;
        Ok(Some((hi, lo)))
    }

    /// Returns the next word if it begins a call: `drop(`.
    fn callee(&mut self) -> Option<&'t str> {
        let word = self.c.word().filter(|_| self.c.then("("))?;
        self.c.advance();
        self.c.advance();
        Some(word)
    }

    /// Parses `{ statement … }`.
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

    /// Parses the rest of a statement after `if`.
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

    /// Parses comparisons joined by `&&` or by `||`. A mix of both needs parentheses.
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
}
