//! Actions as short lists of container operations, each run over all lanes at once.
//!
//! An entry's parameters are stored as *argument words*: already shifted to where an operation deposits
//! them. What may not live here: which action runs.

use super::LowerError;
use super::batch::{Phv, Slot, deposit, for_lanes};
use super::field::{FieldAt, Piece, SlotMap, ones};
use super::hash::HashPlan;
use super::register::{AccessPlan, Notes, Operand};
use crate::entity::{Entity, EntityMap};
use crate::ir::{Action, CounterKind, Expr, Field, Label, PrimitiveKind, Program, Register, RegisterAccess};
use crate::pass::{Count, State};
use crate::salu::Mapped;
use sluice_asic::alu::AluOp;

/// A value right-aligned in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Column {
        slot: Slot,
        shift: u8,
        mask: u32,
    },
    Const(u32),
    /// Argument word of the entry.
    Arg(u16),
}

/// A value of any width.
#[derive(Clone, Debug)]
pub(super) enum WideSource {
    Field {
        at: FieldAt,
        lo: u16,
        width: u16,
    },
    Const(u128),
    /// Argument words, least significant first.
    Args {
        first: u16,
        words: u16,
    },
}

/// An operation on values that are wider than a container.
#[derive(Clone, Debug)]
pub(super) struct WideAlu {
    op: AluOp,
    width: u16,
    to: FieldAt,
    a: WideSource,
    b: WideSource,
}

/// A container operation. `keep` are the bits of the destination that stay.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Const {
        slot: Slot,
        keep: u32,
        value: u32,
    },
    Arg {
        slot: Slot,
        keep: u32,
        word: u16,
    },
    /// `(src >> right << left) & mask` deposited; one of the shifts is zero.
    Move {
        slot: Slot,
        keep: u32,
        src: Slot,
        right: u8,
        left: u8,
        mask: u32,
    },
    Alu {
        op: AluOp,
        to: Piece,
        a: Source,
        b: Source,
    },
    Wide(Box<WideAlu>),
    Hash {
        plan: u32,
        to: Box<FieldAt>,
    },
    Count {
        counter: u32,
        kind: CounterKind,
        index: Source,
    },
    CountDirect {
        counter: u32,
        kind: CounterKind,
    },
    /// An access to a register: position of its plan.
    Register {
        plan: u32,
    },
    Drop {
        label: u32,
    },
}

/// Where a parameter's bits go in an argument word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArgWord {
    param: u16,
    /// First bit of the parameter.
    lo: u16,
    width: u8,
    /// First bit of the word.
    at: u8,
}

/// A lowered action.
#[derive(Clone, Debug, Default)]
pub(super) struct ActionCode {
    pub(super) ops: Vec<Op>,
    args: Vec<ArgWord>,
}

/// A leaf of an expression: `width` bits from bit `lo` of a base value.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    pub(super) base: Base,
    pub(super) lo: u16,
    pub(super) width: u16,
}

#[derive(Clone, Copy)]
pub(super) enum Base {
    Const(u128),
    Field(Field),
    Param(u16),
}

/// The leaf that an expression without operations is.
pub(super) fn leaf(program: &Program, e: &Expr) -> Option<Leaf> {
    Some(match e {
        Expr::Const(v, w) => Leaf { base: Base::Const(*v), lo: 0, width: *w },
        Expr::Field(f) => Leaf { base: Base::Field(*f), lo: 0, width: program.fields[*f].width },
        Expr::Param(p, w) => Leaf { base: Base::Param(*p), lo: 0, width: *w },
        Expr::Slice(inner, hi, lo) => {
            let l = leaf(program, inner)?;
            let width = l.width.saturating_sub(*lo).min(hi.saturating_add(1).saturating_sub(*lo));
            Leaf { lo: l.lo + lo, width, ..l }
        }
        Expr::Cast(inner, w) => {
            let l = leaf(program, inner)?;
            Leaf { width: l.width.min(*w), ..l }
        }
        Expr::Alu(..) => return None,
    })
}

/// What lowering an action needs to know.
pub(super) struct Lowering<'a, 'p> {
    pub(super) program: &'a Program,
    pub(super) slots: &'a mut SlotMap<'p>,
    pub(super) hashes: &'a mut Vec<HashPlan>,
    pub(super) registers: &'a mut Registers,
}

/// Registers as lowered so far.
#[derive(Default)]
pub(super) struct Registers {
    /// How the chip does each register's actions.
    pub(super) mapped: EntityMap<Register, Mapped>,
    /// Every access, in order of lowering.
    pub(super) plans: Vec<AccessPlan>,
}

impl Lowering<'_, '_> {
    /// Lowers an action; reads go through the slot map's current shadows.
    pub(super) fn action(&mut self, action: Action) -> Result<ActionCode, LowerError> {
        let mut code = ActionCode::default();
        for primitive in &self.program.actions[action].body {
            match &primitive.kind {
                PrimitiveKind::Set(dst, value) => self.set(&mut code, *dst, value)?,
                PrimitiveKind::SetValid(header, on) => {
                    if let Some((slot, bit)) = self.slots.valid_target(*header) {
                        let keep = self.slots.kept(slot, !(1 << bit));
                        code.push(Op::Const { slot, keep, value: u32::from(*on) << bit });
                    }
                }
                PrimitiveKind::Hash(dst, hash) => {
                    let plan = HashPlan::new(self.program, *hash, self.slots)?;
                    self.hashes.push(plan);
                    let to = self.slots.target(*dst);
                    code.push(Op::Hash { plan: self.hashes.len() as u32 - 1, to: Box::new(to) });
                }
                PrimitiveKind::Count(counter, index) => {
                    let index = self.index(&mut code, index)?;
                    let kind = self.program.counters[*counter].kind;
                    code.push(Op::Count { counter: counter.index() as u32, kind, index });
                }
                PrimitiveKind::CountDirect(counter) => {
                    let kind = self.program.counters[*counter].kind;
                    code.push(Op::CountDirect { counter: counter.index() as u32, kind });
                }
                PrimitiveKind::Register(access) => self.register(&mut code, access)?,
                PrimitiveKind::Drop(label) => {
                    code.push(Op::Drop { label: label.index() as u32 + 1 });
                    if let Some(f) = self
                        .program
                        .intrinsic(self.program.actions[action].gress, crate::ir::Intrinsic::DropCtl)
                    {
                        let to = self.slots.target(f);
                        code.deposit_const(&to, 1);
                    }
                }
            }
        }
        Ok(code)
    }

    /// An access to a register, with the operands that the action itself uses.
    fn register(&mut self, code: &mut ActionCode, access: &RegisterAccess) -> Result<(), LowerError> {
        let register = self.program.register_actions[access.action].register;
        let mapped = &self.registers.mapped[register];
        let Some(salu) = mapped.program(access.action).cloned() else {
            return Err(LowerError::new("a register action is not mapped"));
        };
        let sources = mapped.operands.clone();
        let mut operands = [None, None];
        for ((slot, used), e) in operands.iter_mut().zip(salu.phv_halves()).zip(&sources) {
            if used {
                *slot = Some(match self.narrow(code, e) {
                    Ok(source) => Operand::Narrow(source),
                    Err(_) => Operand::Wide(self.wide(code, e)?),
                });
            }
        }
        let index = self.index(code, &access.index)?;
        let outputs = access.outputs.iter().map(|(word, f)| (*word, self.slots.target(*f))).collect();
        code.push(Op::Register { plan: self.registers.plans.len() as u32 });
        self.registers.plans.push(AccessPlan { register, salu, index, operands, outputs, note: None });
        Ok(())
    }

    /// `dst = value`.
    pub(super) fn set(&mut self, code: &mut ActionCode, dst: Field, value: &Expr) -> Result<(), LowerError> {
        let to = self.slots.target(dst);
        if let Some(l) = leaf(self.program, value) {
            self.copy(code, &to, l);
            return Ok(());
        }
        let Expr::Alu(op, a, b) = value else {
            return Err(LowerError::new(format!(
                "`{}` is set from a value that no ALU computes",
                self.program.fields[dst].name
            )));
        };
        let width = value.width(self.program);
        if let Some(piece) = to.single()
            && width <= 32
            && u16::from(piece.width) == width
            && let (Ok(a), Ok(b)) = (self.narrow(code, a), self.narrow(code, b))
        {
            code.push(Op::Alu { op: *op, to: piece, a, b });
            return Ok(());
        }
        let (a, b) = (self.wide(code, a)?, self.wide(code, b)?);
        code.push(Op::Wide(Box::new(WideAlu { op: *op, width, to, a, b })));
        Ok(())
    }

    fn copy(&mut self, code: &mut ActionCode, to: &FieldAt, l: Leaf) {
        match l.base {
            Base::Const(v) => code.deposit_const(to, cut(v >> l.lo, l.width)),
            Base::Param(param) => {
                for p in &to.pieces {
                    let word = code.arg(param, l, p.lo, p.width, p.at);
                    code.push(Op::Arg { slot: p.slot, keep: p.keep, word });
                }
            }
            Base::Field(f) => {
                let from = self.slots.source(f);
                code.move_bits(to, &from, l);
            }
        }
    }

    /// A leaf of at most 32 bits that lies in one column.
    pub(super) fn narrow(&mut self, code: &mut ActionCode, e: &Expr) -> Result<Source, LowerError> {
        let l = leaf(self.program, e).ok_or_else(|| LowerError::new("an operand is itself an operation"))?;
        if l.width > 32 {
            return Err(LowerError::new("an operand is wider than a container"));
        }
        match l.base {
            Base::Const(v) => Ok(Source::Const(cut(v >> l.lo, l.width) as u32)),
            Base::Param(param) => Ok(Source::Arg(code.arg(param, l, 0, l.width as u8, 0))),
            Base::Field(f) => {
                let at = self.slots.source(f);
                let inside = |p: &&Piece| u16::from(p.lo) <= l.lo && l.lo + l.width <= p.end();
                let p = at
                    .pieces
                    .iter()
                    .find(inside)
                    .ok_or_else(|| LowerError::new("an operand spans containers"))?;
                Ok(Source::Column {
                    slot: p.slot,
                    shift: p.at + (l.lo - u16::from(p.lo)) as u8,
                    mask: ones(l.width as u8),
                })
            }
        }
    }

    /// An index: hash distribution gathers it from any containers, here a column of its own does.
    fn index(&mut self, code: &mut ActionCode, e: &Expr) -> Result<Source, LowerError> {
        match (self.narrow(code, e), leaf(self.program, e)) {
            (Err(_), Some(l @ Leaf { base: Base::Field(f), width: ..=32, .. })) => {
                let (slot, width) = (self.slots.scratch(), l.width as u8);
                let to =
                    FieldAt { pieces: [Piece { slot, at: 0, lo: 0, width, keep: 0 }].into_iter().collect() };
                let from = self.slots.source(f);
                code.move_bits(&to, &from, l);
                Ok(Source::Column { slot, shift: 0, mask: ones(width) })
            }
            (source, _) => source,
        }
    }

    fn wide(&mut self, code: &mut ActionCode, e: &Expr) -> Result<WideSource, LowerError> {
        let l = leaf(self.program, e).ok_or_else(|| LowerError::new("an operand is itself an operation"))?;
        Ok(match l.base {
            Base::Const(v) => WideSource::Const(cut(v >> l.lo, l.width)),
            Base::Field(f) => WideSource::Field { at: self.slots.source(f), lo: l.lo, width: l.width },
            Base::Param(param) => {
                let words = l.width.div_ceil(32);
                let first = code.args.len() as u16;
                for w in 0..words {
                    code.fresh_arg(param, l, (w * 32) as u8, 32, 0);
                }
                WideSource::Args { first, words }
            }
        })
    }
}

/// The low `width` bits.
fn cut(v: u128, width: u16) -> u128 {
    v & sluice_asic::alu::width_mask(u32::from(width))
}

impl ActionCode {
    /// Appends an operation, merged with the one before when both put constants into one container, or
    /// neighbouring bits of one container into another.
    fn push(&mut self, op: Op) {
        match (self.ops.last_mut(), &op) {
            (Some(Op::Const { slot: s0, keep: k0, value: v0 }), Op::Const { slot, keep, value })
                if s0 == slot =>
            {
                *v0 = *v0 & keep | value;
                *k0 &= keep;
            }
            (
                Some(Op::Move { slot: s0, keep: k0, src: from0, right: r0, left: l0, mask: m0 }),
                Op::Move { slot, keep, src, right, left, mask },
            ) if (&*s0, &*from0, &*r0, &*l0) == (slot, src, right, left) && slot != src => {
                *m0 = *m0 & keep | mask;
                *k0 &= keep;
            }
            _ => self.ops.push(op),
        }
    }

    fn deposit_const(&mut self, to: &FieldAt, value: u128) {
        for p in &to.pieces {
            let bits = ((value >> p.lo) as u32 & p.mask()) << p.at;
            self.push(Op::Const { slot: p.slot, keep: p.keep, value: bits });
        }
    }

    /// The argument word with these bits of a parameter, made if there is none.
    fn arg(&mut self, param: u16, l: Leaf, lo: u8, width: u8, at: u8) -> u16 {
        let word = arg_word(param, l, lo, width, at);
        match self.args.iter().position(|w| *w == word) {
            Some(i) => i as u16,
            None => {
                self.args.push(word);
                self.args.len() as u16 - 1
            }
        }
    }

    fn fresh_arg(&mut self, param: u16, l: Leaf, lo: u8, width: u8, at: u8) {
        self.args.push(arg_word(param, l, lo, width, at));
    }

    /// Copies bits `l.lo..` of a source field to a destination; bits beyond the leaf's width become zero.
    fn move_bits(&mut self, to: &FieldAt, from: &FieldAt, l: Leaf) {
        for d in &to.pieces {
            let (lo, hi) = (u16::from(d.lo), u16::from(d.lo) + u16::from(d.width));
            let mut filled = 0u32;
            for s in &from.pieces {
                let (s_lo, s_hi) = (u16::from(s.lo), u16::from(s.lo) + u16::from(s.width));
                let first = (lo + l.lo).max(s_lo);
                let end = (hi.min(l.width) + l.lo).min(s_hi);
                if first >= end {
                    continue;
                }
                let from_bit = s.at + (first - s_lo) as u8;
                let to_bit = d.at + (first - l.lo - lo) as u8;
                let mask = ones((end - first) as u8) << to_bit;
                let (right, left) = (from_bit.saturating_sub(to_bit), to_bit.saturating_sub(from_bit));
                // Other bits of the piece itself are kept: they come from other containers.
                let keep = d.keep | d.mask() << d.at & !mask;
                self.push(Op::Move { slot: d.slot, keep, src: s.slot, right, left, mask });
                filled |= mask;
            }
            let rest = d.mask() << d.at & !filled;
            if rest != 0 {
                self.push(Op::Const { slot: d.slot, keep: d.keep | d.mask() << d.at & !rest, value: 0 });
            }
        }
    }

    /// The only operation, if it puts a constant into one container.
    pub(super) fn only_constant(&self) -> Option<(Slot, u32, u32)> {
        match self.ops.as_slice() {
            [Op::Const { slot, keep, value }] => Some((*slot, *keep, *value)),
            _ => None,
        }
    }

    /// Whether it counts the direct counter of the entry that was found.
    pub(super) fn counts_entry(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::CountDirect { .. }))
    }

    /// The argument words of an entry with these parameter values, appended to `out`.
    pub(super) fn encode_args(&self, values: &[u128], out: &mut Vec<u32>) {
        for w in &self.args {
            let value = values.get(usize::from(w.param)).copied().unwrap_or(0);
            out.push(((value >> w.lo) as u32 & ones(w.width)) << w.at);
        }
    }
}

fn arg_word(param: u16, l: Leaf, lo: u8, width: u8, at: u8) -> ArgWord {
    let left = l.width.saturating_sub(u16::from(lo)).min(u16::from(width));
    ArgWord { param, lo: l.lo + u16::from(lo), width: left as u8, at }
}

/// What running an action touches besides the PHV.
pub(super) struct Effects<'a> {
    pub(super) hashes: &'a [HashPlan],
    pub(super) accesses: &'a [AccessPlan],
    /// Accesses that wait for the end of the stage, per register that needs it.
    pub(super) notes: &'a mut [Notes],
    pub(super) state: &'a mut State,
    /// Length of each lane's packet.
    pub(super) bytes: &'a [u32; 64],
    /// Label of each lane in `dropped`, plus one.
    pub(super) labels: &'a mut [u32; 64],
    /// Lanes that an action gave a label.
    pub(super) dropped: u64,
}

/// Argument words and matched entry of each lane.
pub(super) struct EntryOf<'a> {
    pub(super) args: &'a [u32],
    /// First argument word of each lane.
    pub(super) base: &'a [u32; 64],
    /// Direct-counter index of each lane; `u32::MAX` on a miss.
    pub(super) entry: &'a [u32; 64],
}

impl EntryOf<'_> {
    #[inline(always)]
    fn arg(&self, lane: usize, word: u16) -> u32 {
        self.args[self.base[lane] as usize + usize::from(word)]
    }
}

/// Runs an action for the lanes of `mask`.
pub(super) fn run<const N: usize>(
    code: &ActionCode,
    mask: u64,
    phv: &Phv,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    for op in &code.ops {
        match op {
            Op::Const { slot, keep, value } => deposit::<N>(phv.column(*slot), *keep, mask, |_| *value),
            Op::Arg { slot, keep, word } => {
                deposit::<N>(phv.column(*slot), *keep, mask, |l| entry.arg(l, *word));
            }
            Op::Move { slot, keep, src, right, left, mask: bits } => {
                let from = phv.column(*src);
                let moved = |l: usize| (from[l].get() >> right << left) & bits;
                deposit::<N>(phv.column(*slot), *keep, mask, moved);
            }
            Op::Alu { op, to, a, b } => alu::<N>(*op, *to, *a, *b, mask, phv, entry),
            Op::Wide(wide) => wide.run::<N>(mask, phv, entry),
            Op::Hash { plan, to } => fx.hashes[*plan as usize].run::<N>(mask, phv, to),
            Op::Count { counter, kind, index } => {
                let (cells, bytes) = (cells(fx.state, *counter), fx.bytes);
                match *index {
                    Source::Column { slot, shift, mask: bits } => {
                        let column = phv.column(slot);
                        let at = |l: usize| column[l].get() >> shift & bits;
                        for_lanes::<N>(mask, |l| count(cells, *kind, at(l), bytes[l]));
                    }
                    index => for_lanes::<N>(mask, |l| {
                        count(cells, *kind, value(index, l, phv, entry), bytes[l]);
                    }),
                }
            }
            Op::CountDirect { counter, kind } => {
                let (cells, bytes) = (cells(fx.state, *counter), fx.bytes);
                for_lanes::<N>(mask, |l| count(cells, *kind, entry.entry[l], bytes[l]));
            }
            Op::Register { plan } => {
                let access = &fx.accesses[*plan as usize];
                access.run::<N>(*plan, mask, phv, entry, fx.state, fx.notes);
            }
            Op::Drop { label } => {
                fx.dropped |= mask;
                for_lanes::<N>(mask, |l| fx.labels[l] = *label);
            }
        }
    }
}

impl WideAlu {
    #[inline(never)]
    fn run<const N: usize>(&self, mask: u64, phv: &Phv, entry: &EntryOf<'_>) {
        for_lanes::<N>(mask, |l| {
            let (a, b) = (wide_value(&self.a, l, phv, entry), wide_value(&self.b, l, phv, entry));
            self.to.write(phv, l, self.op.eval(a, b, u32::from(self.width)));
        });
    }
}

fn cells(state: &mut State, counter: u32) -> &mut [Count] {
    &mut state.counters[crate::ir::Counter::new(counter as usize)]
}

#[inline(always)]
fn count(cells: &mut [Count], kind: CounterKind, index: u32, bytes: u32) {
    if let Some(cell) = cells.get_mut(index as usize) {
        cell.packets += u64::from(kind != CounterKind::Bytes);
        cell.bytes += if kind == CounterKind::Packets { 0 } else { u64::from(bytes) };
    }
}

#[inline(always)]
pub(super) fn value(s: Source, lane: usize, phv: &Phv, entry: &EntryOf<'_>) -> u32 {
    match s {
        Source::Column { slot, shift, mask } => phv.get(slot, lane) >> shift & mask,
        Source::Const(v) => v,
        Source::Arg(word) => entry.arg(lane, word),
    }
}

pub(super) fn wide_value(s: &WideSource, lane: usize, phv: &Phv, entry: &EntryOf<'_>) -> u128 {
    match s {
        WideSource::Field { at, lo, width } => cut(at.read(phv, lane) >> lo, *width),
        WideSource::Const(v) => *v,
        WideSource::Args { first, words } => {
            (0..*words).fold(0, |v, w| v | u128::from(entry.arg(lane, first + w)) << (32 * w))
        }
    }
}

#[inline(never)]
fn alu<const N: usize>(
    op: AluOp,
    to: Piece,
    a: Source,
    b: Source,
    mask: u64,
    phv: &Phv,
    entry: &EntryOf<'_>,
) {
    // The common operations get loops of their own, without the choice of operation inside.
    match op {
        AluOp::Add => alu_lanes::<N>(to, a, b, mask, phv, entry, u32::wrapping_add),
        AluOp::Sub => alu_lanes::<N>(to, a, b, mask, phv, entry, u32::wrapping_sub),
        op => {
            let width = u32::from(to.width);
            alu_lanes::<N>(to, a, b, mask, phv, entry, |a, b| op.eval32(a, b, width));
        }
    }
}

#[inline(always)]
fn alu_lanes<const N: usize>(
    to: Piece,
    a: Source,
    b: Source,
    mask: u64,
    phv: &Phv,
    entry: &EntryOf<'_>,
    f: impl Fn(u32, u32) -> u32,
) {
    let column = phv.column(to.slot);
    let place = |result: u32| (result & to.mask()) << to.at;
    if let (Source::Column { slot, shift, mask: bits }, Source::Const(b)) = (a, b) {
        let from = phv.column(slot);
        deposit::<N>(column, to.keep, mask, |l| place(f(from[l].get() >> shift & bits, b)));
    } else {
        let of = |s: Source, l: usize| value(s, l, phv, entry);
        deposit::<N>(column, to.keep, mask, |l| place(f(of(a, l), of(b, l))));
    }
}

/// A label that an action set, from the lane's label word.
pub(super) fn label_of(word: u32) -> Option<Label> {
    word.checked_sub(1).map(|i| Label::new(i as usize))
}
