//! Printer of statements, conditions, values and parser states.

use super::print::{Printer, int, name};
use super::words::masked;
use crate::{
    ApplyArms, Block, Cond, CounterLoad, Expr, Key, KeySource, Next, ParserOpKind, PrimitiveKind, SelectArm,
    SelectKey, StateData, Stmt, StmtKind,
};
use sluice_asic::alu::width_mask;

impl Printer<'_> {
    pub(super) fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Const(value, width) => format!("{width}w{}", int(*value)),
            Expr::Field(f) => self.field(*f),
            Expr::Param(n, width) => self.param(*n, *width),
            Expr::Slice(e, hi, lo) => format!("{}[{hi}:{lo}]", self.expr(e)),
            Expr::Cast(e, width) => format!("cast({}, {width})", self.expr(e)),
            Expr::Alu(op, a, b) => format!("{op}({}, {})", self.expr(a), self.expr(b)),
            Expr::Funnel(high, low, by) => {
                format!("funnel_shift({}, {}, {by})", self.expr(high), self.expr(low))
            }
        }
    }

    /// Returns a parameter by name if that is unambiguous, otherwise by position and width.
    fn param(&self, n: u16, width: u16) -> String {
        let found = self.params.get(usize::from(n)).filter(|p| p.width == width);
        match found {
            Some(p) if self.params.iter().position(|q| q.name == p.name) == Some(usize::from(n)) => {
                name(&p.name)
            }
            _ => format!("${n}<{width}>"),
        }
    }

    pub(super) fn key(&self, key: &Key) -> String {
        let what = match key.what {
            KeySource::Field(f) => self.field(f),
            KeySource::Slice(f, hi, lo) => format!("{}[{hi}:{lo}]", self.field(f)),
            KeySource::Valid(h) => format!("valid({})", self.header(h)),
        };
        key.mask.map_or(what.clone(), |mask| format!("{what} &&& {}", int(mask)))
    }

    pub(super) fn primitive(&mut self, kind: &PrimitiveKind) {
        let text = match kind {
            PrimitiveKind::Set(f, value) => format!("{} = {}", self.field(*f), self.expr(value)),
            PrimitiveKind::SetValid(h, true) => format!("set_valid({})", self.header(*h)),
            PrimitiveKind::SetValid(h, false) => format!("set_invalid({})", self.header(*h)),
            PrimitiveKind::Hash(f, hash) => format!("{} = hash({})", self.field(*f), self.hash(*hash)),
            PrimitiveKind::Count(c, index) => format!("count({}, {})", self.counter(*c), self.expr(index)),
            PrimitiveKind::CountDirect(c) => format!("count({})", self.counter(*c)),
            PrimitiveKind::Register(access) => self.access(access),
            PrimitiveKind::Drop(l) => format!("drop({})", self.label(*l)),
            PrimitiveKind::DropCtl(f, value, l) => {
                format!("set_drop_ctl({}, {}, {})", self.field(*f), self.expr(value), self.label(*l))
            }
            PrimitiveKind::HashSlice(f, hash, lo) => {
                format!("{} = hash({}, {lo})", self.field(*f), self.hash(*hash))
            }
            PrimitiveKind::HashInto(f, hi, lo, hash, 0) => {
                format!("{}[{hi}:{lo}] = hash({})", self.field(*f), self.hash(*hash))
            }
            PrimitiveKind::HashInto(f, hi, lo, hash, from) => {
                format!("{}[{hi}:{lo}] = hash({}, {from})", self.field(*f), self.hash(*hash))
            }
            PrimitiveKind::SetSlice(f, hi, lo, value) => {
                format!("{}[{hi}:{lo}] = {}", self.field(*f), self.expr(value))
            }
            PrimitiveKind::SetMasked(f, value, mask) => {
                format!("set_masked({}, {}, {})", self.field(*f), self.expr(value), self.expr(mask))
            }
            PrimitiveKind::CopyValid(to, from) => {
                format!("copy_valid({}, {})", self.header(*to), self.header(*from))
            }
            PrimitiveKind::Meter(access) => self.question(access),
            PrimitiveKind::Random(f, r) => format!("{} = random({})", self.field(*f), self.random(*r)),
        };
        self.line(format_args!("{text};"));
    }

    pub(super) fn state(&mut self, d: &StateData) {
        for op in &d.ops {
            let text = match &op.kind {
                ParserOpKind::Extract(h) => format!("extract({})", self.header(*h)),
                ParserOpKind::Set(f, value) => format!("{} = {}", self.field(*f), self.expr(value)),
                ParserOpKind::SetSlice(f, hi, lo, value) => {
                    format!("{}[{hi}:{lo}] = {}", self.field(*f), self.expr(value))
                }
                ParserOpKind::SetValid(h, true) => format!("set_valid({})", self.header(*h)),
                ParserOpKind::SetValid(h, false) => format!("set_invalid({})", self.header(*h)),
                ParserOpKind::VerifyChecksum(f, inputs) => {
                    format!("{} = verify_checksum({{ {} }})", self.field(*f), self.values(inputs))
                }
                ParserOpKind::SubtractChecksum(f, inputs) => {
                    format!("{} = subtract_checksum({{ {} }})", self.field(*f), self.values(inputs))
                }
                ParserOpKind::Advance(bytes) => format!("advance({bytes})"),
                ParserOpKind::Lookahead(f, at) => format!("{} = lookahead({at})", self.field(*f)),
                ParserOpKind::SetCounter(load) => format!("set_counter({})", self.counter_load(*load)),
                ParserOpKind::PushCounter(load, linked) => {
                    let word = if *linked { "push_linked_counter" } else { "push_counter" };
                    format!("{word}({})", self.counter_load(*load))
                }
                ParserOpKind::PopCounter => "pop_counter()".to_owned(),
                ParserOpKind::AddCounter(by) if *by < 0 => format!("decrement({})", by.unsigned_abs()),
                ParserOpKind::AddCounter(by) => format!("increment({by})"),
                ParserOpKind::ExtractNext(stack) => format!("extract_next({})", self.stack(*stack)),
            };
            self.line(format_args!("{text};"));
        }
        if d.select.is_empty() && d.arms.is_empty() {
            return self.line(format_args!("transition {};", self.next(d.default)));
        }
        let keys: Vec<String> = d.select.iter().map(|k| self.select_key(*k)).collect();
        self.open(format_args!("select ({})", keys.join(", ")));
        for arm in &d.arms {
            self.arm(d, arm);
        }
        self.line(format_args!("default : {};", self.next(d.default)));
        self.close();
    }

    fn counter_load(&self, load: CounterLoad) -> String {
        match load {
            CounterLoad::Const(value) => int(value.into()),
            CounterLoad::Field { field, max, rotate, mask, add } => {
                format!("{}, {max}, {rotate}, {mask}, {add}", self.field(field))
            }
            CounterLoad::Ahead { at, max, rotate, mask, add } => {
                format!("lookahead({at}), {max}, {rotate}, {mask}, {add}")
            }
        }
    }

    fn select_key(&self, key: SelectKey) -> String {
        match key {
            SelectKey::Field(f) => self.field(f),
            SelectKey::Lookahead(ahead) => format!("lookahead({}, {})", ahead.at, ahead.width),
            SelectKey::CounterIsZero => "counter_is_zero()".to_owned(),
            SelectKey::CounterIsNegative => "counter_is_negative()".to_owned(),
            SelectKey::Last(stack, position) => format!("last({}, {position})", self.stack(stack)),
        }
    }

    fn arm(&mut self, d: &StateData, arm: &SelectArm) {
        let value = |(i, &(value, mask)): (usize, &(u128, u128))| {
            let width = d.select.get(i).and_then(|k| k.width(self.p));
            masked(value, mask, width.map(|w| width_mask(w.into())))
        };
        let values: Vec<String> = arm.values.iter().enumerate().map(value).collect();
        let set = match arm.set {
            None => String::new(),
            Some(of) if of.first == 0 => format!(" in {}", self.value_set(of.set)),
            Some(of) => format!(" in {} from {}", self.value_set(of.set), of.first),
        };
        let next: Next = arm.next;
        self.line(format_args!("({}){set} : {};", values.join(", "), self.next(next)));
    }

    pub(super) fn block(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Apply(t, arms) if arms.is_empty() => {
                self.line(format_args!("apply {};", self.table(*t)))
            }
            StmtKind::Apply(t, arms) => {
                self.open(format_args!("apply {}", self.table(*t)));
                self.arms(arms);
                self.close();
            }
            StmtKind::If(cond, then, otherwise) => {
                self.open(format_args!("if ({})", self.cond(cond)));
                self.block(then);
                self.otherwise(otherwise);
                self.close();
            }
            StmtKind::Call(a) => self.line(format_args!("call {};", self.action(*a))),
        }
    }

    /// Prints the `else` of an open `if`. A single `if` in it continues the chain.
    fn otherwise(&mut self, block: &Block) {
        let mut block = block;
        while let [Stmt { kind: StmtKind::If(cond, then, otherwise), .. }] = block.as_slice() {
            self.turn(format_args!("else if ({})", self.cond(cond)));
            self.block(then);
            block = otherwise;
        }
        if !block.is_empty() {
            self.turn(format_args!("else"));
            self.block(block);
        }
    }

    fn arms(&mut self, arms: &ApplyArms) {
        for (word, block) in [("hit", &arms.hit), ("miss", &arms.miss)] {
            if !block.is_empty() {
                self.open(format_args!("{word}"));
                self.block(block);
                self.close();
            }
        }
        for (action, block) in &arms.run {
            self.open(format_args!("run {}", self.action(*action)));
            self.block(block);
            self.close();
        }
    }

    fn cond(&self, cond: &Cond) -> String {
        match cond {
            Cond::Cmp(op, a, b) => format!("{} {} {}", self.expr(a), op.symbol(), self.expr(b)),
            Cond::Valid(h) => format!("valid({})", self.header(*h)),
            Cond::Not(inner) => match **inner {
                Cond::Valid(_) | Cond::Not(_) => format!("!{}", self.cond(inner)),
                _ => format!("!({})", self.cond(inner)),
            },
            Cond::And(a, b) => {
                let left = self.operand(a, matches!(**a, Cond::Or(..)));
                format!("{left} && {}", self.operand(b, matches!(**b, Cond::And(..) | Cond::Or(..))))
            }
            Cond::Or(a, b) => {
                let left = self.operand(a, matches!(**a, Cond::And(..)));
                format!("{left} || {}", self.operand(b, matches!(**b, Cond::And(..) | Cond::Or(..))))
            }
        }
    }

    fn operand(&self, cond: &Cond, parens: bool) -> String {
        let text = self.cond(cond);
        if parens { format!("({text})") } else { text }
    }
}
