//! Lowers actions to operations: sources, argument words, merged constants and moves.

use super::{ActionCode, CarryAlu, Op, WideAlu, Word};
use crate::engine::error::LowerError;
use crate::engine::field::{FieldAt, Piece, SlotMap, ones};
use crate::engine::hash::HashPlan;
use crate::engine::leaf::{Base, Leaf, leaf};
use crate::engine::register::{AccessPlan, CellAt, Compared, Operand, Work};
use crate::engine::source::{Source, WideSource, cut};
use sluice_asic::alu::AluOp;
use sluice_asic::counter::CounterLayout;
use sluice_asic::salu::Prepared;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::salu::Mapped;
use sluice_ir::{
    self as ir, Action, Counter, Expr, Field, Hash, Header, Index, MeterAccess, PrimitiveKind, Program,
    Random, Register, RegisterAccess,
};

/// Program that an action is lowered from, and the tables that lowering extends.
pub(in crate::engine) struct Lowering<'a, 'p> {
    pub(in crate::engine) program: &'a Program,
    pub(in crate::engine) slots: &'a mut SlotMap<'p>,
    pub(in crate::engine) hashes: &'a mut Vec<HashPlan>,
    pub(in crate::engine) registers: &'a mut Registers,
}

/// Registers as lowered so far.
#[derive(Default)]
pub(in crate::engine) struct Registers {
    /// Mapping of each register's actions to the stateful ALU.
    pub(in crate::engine) mapped: EntityMap<Register, Mapped>,
    /// All accesses, in the order in which they were lowered.
    pub(in crate::engine) plans: Vec<AccessPlan>,
    /// Random number generators of the gress.
    pub(in crate::engine) randoms: Vec<Random>,
    /// True if accesses count the outcomes of their comparisons, for coverage.
    pub(in crate::engine) covered: bool,
}

impl Lowering<'_, '_> {
    /// Lowers a copy of a validity bit.
    fn copy_valid(&mut self, code: &mut ActionCode, to: Header, from: Header) {
        let (Some((slot, bit)), Some((src, at))) =
            (self.slots.valid_target(to), self.slots.valid_source(from))
        else {
            return;
        };
        let keep = self.slots.kept(slot, !(1 << bit));
        let (right, left) = (at.saturating_sub(bit), bit.saturating_sub(at));
        code.push(Op::Move { slot, keep, src, right, left, mask: 1 << bit });
    }

    /// Lowers an action; reads go through the slot map's current shadows.
    pub(in crate::engine) fn action(&mut self, action: Action) -> Result<ActionCode, LowerError> {
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
                PrimitiveKind::CopyValid(to, from) => self.copy_valid(&mut code, *to, *from),
                PrimitiveKind::Hash(dst, hash) => {
                    let plan = self.hash(*hash)?;
                    let to = self.slots.target(*dst);
                    code.push(Op::Hash { plan, to: Box::new(to) });
                }
                PrimitiveKind::Count(counter, index) => {
                    let index = self.index(&mut code, index)?;
                    let kind = self.program.counters[*counter].kind;
                    match self.special(*counter)? {
                        None => code.push(Op::Count { counter: counter.index() as u32, kind, index }),
                        Some(layout) => {
                            let (counter, index) = (counter.index() as u32, Some(index));
                            code.push(Op::CountCell { counter, layout, index });
                        }
                    }
                }
                PrimitiveKind::CountDirect(counter) => {
                    let kind = self.program.counters[*counter].kind;
                    let special = self.special(*counter)?;
                    let counter = counter.index() as u32;
                    code.push(match special {
                        None => Op::CountDirect { counter, kind },
                        Some(layout) => Op::CountCell { counter, layout, index: None },
                    });
                    code.uses_entry = true;
                }
                PrimitiveKind::Register(access) => self.register(&mut code, access)?,
                PrimitiveKind::Drop(label) => {
                    code.push(Op::Drop { label: label.index() as u32 + 1 });
                    if let Some(f) = self
                        .program
                        .intrinsic(self.program.actions[action].gress, sluice_ir::Intrinsic::DropCtl)
                    {
                        let to = self.slots.target(f);
                        code.deposit_const(&to, 1);
                    }
                }
                PrimitiveKind::DropCtl(dst, value, label) => {
                    self.set(&mut code, *dst, value)?;
                    if let Some(p) = self.slots.target(*dst).pieces.iter().find(|p| p.lo == 0) {
                        let label = label.index() as u32 + 1;
                        code.push(Op::DropWhere { slot: p.slot, bit: p.at, label });
                    }
                }
                PrimitiveKind::HashSlice(dst, hash, lo) => {
                    let plan = HashPlan::new(self.program, *hash, self.slots)?;
                    self.hashes.push(plan);
                    let (plan, to) = (self.hashes.len() as u32 - 1, Box::new(self.slots.target(*dst)));
                    code.push(Op::HashSlice { plan, to, lo: *lo });
                }
                PrimitiveKind::HashInto(dst, hi, lo, hash, from) => {
                    let plan = self.hash(*hash)?;
                    let to = Box::new(self.slots.target_bits(*dst, *hi, *lo));
                    code.push(Op::HashSlice { plan, to, lo: *from });
                }
                PrimitiveKind::SetSlice(dst, hi, lo, value) => {
                    self.set_slice(&mut code, (*dst, *hi, *lo), value)?;
                }
                PrimitiveKind::SetMasked(dst, value, mask) => {
                    self.set_masked(&mut code, *dst, value, mask)?
                }
                PrimitiveKind::Meter(access) => self.meter(&mut code, access)?,
                PrimitiveKind::Random(dst, random) => {
                    let to = Box::new(self.slots.target(*dst));
                    let draw = self.registers.randoms.iter().position(|r| r == random).unwrap_or(0);
                    code.push(Op::Random { draw: draw as u32, to });
                }
            }
        }
        code.fuse();
        Ok(code)
    }

    /// Lowers a set under a mask: value and mask become words of action data, one for each piece of the field.
    fn set_masked(
        &mut self,
        code: &mut ActionCode,
        dst: Field,
        value: &Expr,
        mask: &Expr,
    ) -> Result<(), LowerError> {
        let to = self.slots.target(dst);
        let data = |e| leaf(self.program, e).filter(|l| !matches!(l.base, Base::Field(_)));
        let (Some(value), Some(mask_leaf)) = (data(value), data(mask)) else {
            return Err(LowerError::new("value and mask of a masked set must be action data"));
        };
        let flag = matches!(mask, Expr::Param(_, 1));
        for p in &to.pieces {
            let mut word = |l: Leaf| match l.base {
                Base::Const(v) => Word::Const(((cut(v >> l.lo, l.width) >> p.lo) as u32 & p.mask()) << p.at),
                Base::Param(param) => Word::Arg(code.arg(param, l, p.lo, p.width, p.at)),
                Base::Field(_) => Word::Const(0),
            };
            let value = word(value);
            let mask = match mask_leaf.base {
                Base::Param(param) if flag => Word::Flag(code.arg(param, mask_leaf, 0, 1, 0)),
                _ => word(mask_leaf),
            };
            code.push(Op::Masked { slot: p.slot, bits: p.mask() << p.at, value, mask });
        }
        Ok(())
    }

    /// Returns the layout of a counter's cells; `None` if they are plain sums.
    fn special(&self, counter: Counter) -> Result<Option<Box<CounterLayout>>, LowerError> {
        let data = &self.program.counters[counter];
        if data.cell.is_plain() {
            return Ok(None);
        }
        let layout = data.cell.layout(data.kind).map_err(|e| LowerError::new(e.to_string()))?;
        Ok(Some(Box::new(layout)))
    }

    /// Adds a computation of a hash, one for each use; returns its index.
    fn hash(&mut self, hash: Hash) -> Result<u32, LowerError> {
        self.hashes.push(HashPlan::new(self.program, hash, self.slots)?);
        Ok(self.hashes.len() as u32 - 1)
    }

    fn cell(&mut self, code: &mut ActionCode, index: &Index) -> Result<CellAt, LowerError> {
        Ok(match index {
            Index::At(e) => CellAt::Source(self.index(code, e)?),
            Index::Entry => {
                code.uses_entry = true;
                CellAt::Entry
            }
            Index::Hash(hash) => CellAt::Hash(self.hash(*hash)?),
        })
    }

    fn operand(&mut self, code: &mut ActionCode, e: &Expr) -> Result<Operand, LowerError> {
        Ok(match self.narrow(code, e) {
            Ok(source) => Operand::Narrow(source),
            Err(_) => Operand::Wide(self.wide(code, e)?),
        })
    }

    fn meter(&mut self, code: &mut ActionCode, access: &MeterAccess) -> Result<(), LowerError> {
        let input = access.input.as_ref().map(|e| self.operand(code, e)).transpose()?;
        let index = self.cell(code, &access.index)?;
        let outputs = vec![(0, self.slots.target(access.to))];
        self.plan(
            code,
            AccessPlan {
                work: Work::Meter(access.meter),
                index,
                operands: [input, None],
                outputs,
                note: None,
            },
        );
        Ok(())
    }

    fn plan(&mut self, code: &mut ActionCode, plan: AccessPlan) {
        code.push(Op::Access { plan: self.registers.plans.len() as u32 });
        self.registers.plans.push(plan);
    }

    /// Lowers an access to a register, with the operands that its action uses.
    fn register(&mut self, code: &mut ActionCode, access: &RegisterAccess) -> Result<(), LowerError> {
        let register = self.program.register_actions[access.action].register;
        let mapped = &self.registers.mapped[register];
        let Some(salu) = mapped.program(access.action).cloned() else {
            return Err(LowerError::new("a register action is not mapped"));
        };
        let (sources, rows) = (mapped.operands.clone(), mapped.rows.clone());
        let mut operands = [None, None];
        for ((slot, used), e) in operands.iter_mut().zip(salu.phv_halves()).zip(&sources) {
            if used {
                *slot = Some(match e {
                    ir::Operand::Phv(e) => self.operand(code, e)?,
                    ir::Operand::Hash(hash) => Operand::Hash(self.hash(*hash)?),
                });
            }
        }
        let index = self.cell(code, &access.index)?;
        let outputs = access.outputs.iter().map(|(word, f)| (*word, self.slots.target(*f))).collect();
        let work = match self.registers.covered {
            false => Work::Register(register, Prepared::new(&salu), rows),
            true => {
                let compared = Box::new(Compared::new(access.action));
                Work::Counted(register, Box::new(salu), rows, compared)
            }
        };
        self.plan(code, AccessPlan { work, index, operands, outputs, note: None });
        Ok(())
    }

    /// Lowers `dst = value`.
    pub(in crate::engine) fn set(
        &mut self,
        code: &mut ActionCode,
        dst: Field,
        value: &Expr,
    ) -> Result<(), LowerError> {
        let to = self.slots.target(dst);
        if let Some(l) = leaf(self.program, value) {
            self.copy(code, &to, l);
            return Ok(());
        }
        if let Expr::Funnel(high, low, by) = value {
            return self.funnel(code, (dst, &to), (high, low), *by);
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
        if let AluOp::Add | AluOp::Sub = op
            && let Some(to) = low_and_high(&to)
            && let (Ok(a), Ok(b)) = (self.halves(code, a), self.halves(code, b))
        {
            code.push(Op::Carry(Box::new(CarryAlu { subtract: *op == AluOp::Sub, to, a, b })));
            return Ok(());
        }
        let (a, b) = (self.wide(code, a)?, self.wide(code, b)?);
        code.push(Op::Wide(Box::new(WideAlu { op: *op, width, to, a, b })));
        Ok(())
    }

    /// Lowers `dst[hi:lo] = value`.
    pub(in crate::engine) fn set_slice(
        &mut self,
        code: &mut ActionCode,
        (dst, hi, lo): (Field, u16, u16),
        value: &Expr,
    ) -> Result<(), LowerError> {
        let to = self.slots.target_bits(dst, hi, lo);
        let Some(l) = leaf(self.program, value) else {
            return Err(LowerError::new("the value of a slice is computed"));
        };
        match l.base {
            Base::Field(src) if src == dst => self.copy_within(code, to, l, src),
            _ => self.copy(code, &to, l),
        }
        Ok(())
    }

    /// Lowers `dst = (high ++ low) >> by`.
    fn funnel(
        &mut self,
        code: &mut ActionCode,
        (dst, to): (Field, &FieldAt),
        (high, low): (&Expr, &Expr),
        by: u16,
    ) -> Result<(), LowerError> {
        let (Some(to), by @ 0..64) = (to.single(), by) else {
            let name = &self.program.fields[dst].name;
            return Err(LowerError::new(format!(
                "`{name}` is the target of a funnel shift, but not one whole container"
            )));
        };
        let (high, low) = (self.narrow(code, high)?, self.narrow(code, low)?);
        code.push(Op::Funnel { to, high, low, by: by as u8 });
        Ok(())
    }

    /// Lowers a copy from one slice of a field to another. All bits are read before any is written, because the slices may
    /// overlap in several containers.
    fn copy_within(&mut self, code: &mut ActionCode, to: FieldAt, l: Leaf, field: Field) {
        let from = self.slots.source(field);
        if from.single().is_some() {
            return code.move_bits(&to, &from, l);
        }
        let value = WideSource::Field { at: from, lo: l.lo, width: l.width };
        let op = WideAlu { op: AluOp::AluA, width: l.width, to, a: value.clone(), b: value };
        code.push(Op::Wide(Box::new(op)));
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

    /// Returns the source for a leaf of at most 32 bits in one column; an error for any other expression.
    pub(in crate::engine) fn narrow(
        &mut self,
        code: &mut ActionCode,
        e: &Expr,
    ) -> Result<Source, LowerError> {
        let l = leaf(self.program, e).ok_or_else(|| LowerError::new("an operand is itself an operation"))?;
        self.narrow_leaf(code, l)
    }

    /// Returns the low 32 bits of a leaf of at most 64, and the bits above them (0 if there are none).
    fn halves(&mut self, code: &mut ActionCode, e: &Expr) -> Result<[Source; 2], LowerError> {
        let l = leaf(self.program, e).ok_or_else(|| LowerError::new("an operand is itself an operation"))?;
        let low = self.narrow_leaf(code, Leaf { width: l.width.min(32), ..l })?;
        let high = match l.width.saturating_sub(32) {
            0 => Source::Const(0),
            width => self.narrow_leaf(code, Leaf { lo: l.lo + 32, width, ..l })?,
        };
        Ok([low, high])
    }

    fn narrow_leaf(&mut self, code: &mut ActionCode, l: Leaf) -> Result<Source, LowerError> {
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

    /// Returns the source of an index. The chip's hash distribution gathers an index from any containers; here, a
    /// scratch column gathers an index of several pieces.
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

/// Returns the pieces of a field in two containers of which the low one has 32 bits; `None` for any other field.
fn low_and_high(to: &FieldAt) -> Option<[Piece; 2]> {
    let part = |lo: u8| to.pieces.iter().find(|p| p.lo == lo).copied();
    let (low, high) = (part(0)?, part(32)?);
    (to.pieces.len() == 2 && low.width == 32 && high.at == 0).then_some([low, high])
}
