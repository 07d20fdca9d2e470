//! Writes actions as Rust.

use super::{ActionCode, ArgRun, CarryAlu, Op, WideAlu, Word};
use crate::engine::batch::Slot;
use crate::engine::field::Piece;
use crate::engine::hash::HashPlan;
use crate::engine::register::{AccessPlan, CellAt, Operand, Work};
use crate::engine::rust_text::{Out, bits, read};
use crate::engine::source::{Source, WideSource};
use sluice_asic::alu::AluOp;
use sluice_ir::CounterKind;

/// Writer of actions as Rust.
pub(in crate::engine) struct ActionText<'a> {
    pub(in crate::engine) hashes: &'a [HashPlan],
    pub(in crate::engine) accesses: &'a [AccessPlan],
}

/// Entry for which an action runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Entry {
    /// No entry, so there are no argument words.
    None,
    /// `h`, the result of the table's lookup.
    Matched,
}

impl Entry {
    /// Returns the Rust expression of the entry's index.
    const fn number(self) -> &'static str {
        match self {
            Entry::None => "u32::MAX",
            Entry::Matched => "h.entry",
        }
    }
}

impl ActionText<'_> {
    /// Writes an action.
    pub(in crate::engine) fn write(&self, out: &mut Out, code: &ActionCode, entry: Entry) {
        if entry == Entry::Matched && code.arg_words() > 0 {
            out.line(&format!("let a = h.args::<{}>();", code.arg_words()));
        }
        code.ops.iter().for_each(|op| self.op(out, op, entry));
    }

    fn op(&self, out: &mut Out, op: &Op, entry: Entry) {
        match op {
            Op::Const { slot, keep, value } => constant(out, *slot, *keep, *value),
            Op::Consts(list) => {
                list.iter().for_each(|(slot, keep, value)| constant(out, *slot, *keep, *value));
            }
            Op::Arg { slot, keep, word } => out.deposit(*slot, *keep, &arg(*word)),
            Op::Args(ArgRun { first, len, to }) => {
                for (number, (slot, keep)) in to.iter().take((*len).into()).enumerate() {
                    out.deposit(*slot, *keep, &arg(first + number as u16));
                }
            }
            Op::Moves(list) => list.iter().for_each(|m| {
                moved(out, (m.slot, m.keep), (m.src, m.right, m.left, m.mask));
            }),
            Op::Move { slot, keep, src, right, left, mask } => {
                moved(out, (*slot, *keep), (*src, *right, *left, *mask));
            }
            Op::Alu { op, to, a, b } => {
                let (a, b) = (source(out, *a), source(out, *b));
                let result = match op {
                    AluOp::Add => format!("{a}.wrapping_add({b})"),
                    AluOp::Sub => format!("{a}.wrapping_sub({b})"),
                    op => format!("AluOp::{op:?}.eval32({a}, {b}, {})", to.width),
                };
                place(out, *to, &result);
            }
            Op::Wide(wide) => {
                let WideAlu { op, width, to, a, b } = wide.as_ref();
                let result = format!("AluOp::{op:?}.eval({}, {}, {width})", wide_source(a), wide_source(b));
                out.write(to, &result, "u128");
            }
            Op::Carry(carry) => sum(out, carry),
            Op::Funnel { to, high, low, by } => {
                let (high, low) = (source(out, *high), source(out, *low));
                let both = format!("u64::from({high}) << {} | u64::from({low})", to.width);
                place(out, *to, &format!("((({both}) >> {by}) as u32)"));
            }
            Op::Hash { plan, to } => out.write(to, &self.hash(*plan), "u64"),
            Op::HashSlice { plan, to, lo } if *lo < 64 => {
                out.write(to, &format!("{} >> {lo}", self.hash(*plan)), "u64");
            }
            Op::HashSlice { to, .. } => out.write(to, "0", "u64"),
            Op::Count { counter, kind, index } => {
                let cell = source(out, *index);
                count(out, *counter, *kind, &cell);
            }
            Op::CountDirect { counter, kind } => count(out, *counter, *kind, entry.number()),
            Op::CountCell { counter, layout, index } => {
                let cell = index.map_or_else(|| entry.number().to_owned(), |index| source(out, index));
                let layout = (layout.packet_bits(), layout.byte_bits(), layout.adjust());
                out.line(&format!("x.count_cell({counter}, {cell}, {layout:?});"));
            }
            Op::Access { plan } => self.access(out, *plan, entry),
            Op::DropWhere { slot, bit, label } => {
                out.line(&format!("x.drop_where({}, {label});", bits(*slot, *bit, 1)));
            }
            Op::Drop { label } => out.line(&format!("x.drop({label});")),
            Op::Random { draw, to } => out.write(to, &format!("u64::from(x.random({draw}))"), "u64"),
            Op::Masked { slot, bits, value, mask } => {
                out.open("");
                out.line(&format!("let under = {} & {bits:#x};", word(*mask)));
                out.line(&format!("w[{slot}].set(w[{slot}].get() & !under | {} & under);", word(*value)));
                out.close();
            }
        }
    }

    /// Returns the Rust expression of a hash.
    fn hash(&self, plan: u32) -> String {
        match self.hashes.get(plan as usize) {
            Some(HashPlan::Copy(p, mask)) => {
                format!("(u64::from{} & {mask:#x})", bits(p.slot, p.at, u32::MAX >> p.at))
            }
            Some(HashPlan::Linear(hash)) => {
                let bytes: Vec<String> =
                    hash.bytes().map(|(slot, shift)| format!("(w[{slot}].get() >> {shift}) as u8")).collect();
                format!("x.hash({plan}, [{}])", bytes.join(", "))
            }
            None => "0".to_owned(),
        }
    }

    /// Writes an access to a register or meter.
    fn access(&self, out: &mut Out, plan: u32, entry: Entry) {
        let Some(access) = self.accesses.get(plan as usize) else { return };
        let cell = match access.index {
            CellAt::Source(from) => source(out, from),
            CellAt::Entry => entry.number().to_owned(),
            CellAt::Hash(hash) => format!("{} as u32", self.hash(hash)),
        };
        let [lo, hi] = access.operands.each_ref().map(|operand| match operand {
            None => "0".to_owned(),
            Some(Operand::Narrow(from)) => format!("u64::from({})", source(out, *from)),
            Some(Operand::Wide(from)) => format!("{} as u64", wide_source(from)),
            Some(Operand::Hash(hash)) => self.hash(*hash),
        });
        out.open("");
        out.line(&match access.work {
            Work::Meter(_) => format!("let o = [x.meter({plan}, {cell}, {lo}), 0, 0, 0];"),
            Work::Register(..) | Work::Counted(..) => {
                format!("let o = x.register({plan}, {cell}, {lo}, {hi});")
            }
        });
        for (number, to) in &access.outputs {
            out.write(to, &format!("o[{}]", number & 3), "u32");
        }
        out.close();
    }
}

fn arg(word: u16) -> String {
    format!("a[{word}]")
}

/// Returns the Rust expression of a word of action data.
fn word(word: Word) -> String {
    match word {
        Word::Const(value) => format!("{value:#x}"),
        Word::Arg(n) => arg(n),
        Word::Flag(n) => format!("0_u32.wrapping_sub({} & 1)", arg(n)),
    }
}

/// Writes a constant to its bits of a word.
fn constant(out: &mut Out, slot: Slot, keep: u32, value: u32) {
    let value = out.constant(value);
    out.deposit(slot, keep, &value);
}

fn source(out: &mut Out, source: Source) -> String {
    match source {
        Source::Column { slot, shift, mask } => bits(slot, shift, mask),
        Source::Const(value) => out.constant(value),
        Source::Arg(n) => arg(n),
    }
}

fn wide_source(source: &WideSource) -> String {
    match source {
        WideSource::Field { at, lo, width } => {
            format!("({} >> {lo} & width_mask({width}))", read(at, "u128"))
        }
        WideSource::Const(value) => format!("{value:#x}_u128"),
        WideSource::Args { first, words } => {
            let words: Vec<String> =
                (0..*words).map(|n| format!("u128::from({}) << {}", arg(first + n), 32 * n)).collect();
            if words.is_empty() { "0_u128".to_owned() } else { format!("({})", words.join(" | ")) }
        }
    }
}

/// Writes a move of bits from one word to another.
fn moved(out: &mut Out, (slot, keep): (Slot, u32), (src, right, left, mask): (Slot, u8, u8, u32)) {
    out.deposit(slot, keep, &format!("(w[{src}].get() >> {right} << {left} & {mask:#x})"));
}

/// Writes a result to its bits of a word.
fn place(out: &mut Out, to: Piece, result: &str) {
    out.deposit(to.slot, to.keep, &format!("(({result} & {:#x}) << {})", to.mask(), to.at));
}

/// Writes a sum or difference of two numbers of two words each.
fn sum(out: &mut Out, carry: &CarryAlu) {
    let mut of = |[low, high]: [Source; 2]| {
        format!("(u64::from({}) << 32 | u64::from({}))", source(out, high), source(out, low))
    };
    let (a, b) = (of(carry.a), of(carry.b));
    let op = if carry.subtract { "wrapping_sub" } else { "wrapping_add" };
    out.open("");
    out.line(&format!("let sum = {a}.{op}({b});"));
    for (p, shift) in carry.to.iter().zip([0, 32]) {
        place(out, *p, &format!("((sum >> {shift}) as u32)"));
    }
    out.close();
}

fn count(out: &mut Out, counter: u32, kind: CounterKind, cell: &str) {
    let (packets, bytes) = (kind != CounterKind::Bytes, kind != CounterKind::Packets);
    out.line(&format!("x.count({counter}, {cell}, {packets}, {bytes});"));
}
