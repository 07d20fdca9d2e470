//! Register actions, statement by statement.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use sluice_asic::salu::{
    Constant, Format, Half, LaneMask, LaneOp, LanePost, PostAmount, SaluOp, Sense, State as Element,
};
use sluice_control::EntryId;
use sluice_ir::{CellCond, CellStmt, CellStmtKind, CellValue, LanePart, Loc, RegisterAccess, Search, Table};

impl<T: Tracer> Run<'_, T> {
    /// Runs one access to a register; an index past the end changes nothing and returns zeros.
    pub(super) fn access(
        &mut self,
        access: &RegisterAccess,
        args: &[u128],
        entry: Option<(Table, EntryId)>,
        loc: Loc,
    ) {
        let env = Env { program: self.program, phv: self.phv, args };
        let code = &self.program.register_actions[access.action];
        let data = &self.program.registers[code.register];
        let index = self.cell(&access.index, data.home, args, entry);
        let cell = index.and_then(|i| usize::try_from(i).ok());
        let index = index.unwrap_or(0);
        let before = cell.and_then(|i| self.state.registers[code.register].get(i)).copied();
        let mut outputs = [0; 4];
        let busy = self.state.busy.get(code.register).copied().flatten();
        if let Some(word) = busy {
            outputs[0] = word;
            if let Some(held) = before {
                let (action, before, after) = (access.action, held, held);
                self.tell(&Event::Accessed { action, index, before, after, outputs, loc });
            }
        } else if let Some(before) = before {
            let found = FoundLane::default();
            let halves = [before.lo, before.hi];
            let params = self.state.params[code.register];
            let mut at =
                Access { env, format: data.format, params, old: halves, halves, outputs, index, found };
            at.run(&code.body);
            outputs = at.outputs;
            let after = Element::pair(at.halves[0], at.halves[1]);
            if let Some(cell) = cell.and_then(|i| self.state.registers[code.register].get_mut(i)) {
                *cell = after;
            }
            self.tell(&Event::Accessed { action: access.action, index, before, after, outputs, loc });
        }
        for (word, field) in &access.outputs {
            self.write(*field, outputs[usize::from(word & 3)].into(), loc);
        }
    }
}

/// A number to which exact sums are added so that they are not negative: a sum of a body has far fewer than 2^60 terms.
const ZERO: i128 = 1 << 126;

/// An element while a register action runs on it.
struct Access<'a> {
    env: Env<'a>,
    format: Format,
    params: [u32; Constant::PARAMS],
    /// The halves before the access.
    old: [u64; 2],
    /// The halves at this point.
    halves: [u64; 2],
    outputs: [u32; 4],
    index: u128,
    found: FoundLane,
}

/// Result of a lane search.
#[derive(Clone, Copy, Debug, Default)]
struct FoundLane {
    value: u32,
    changed: u32,
    index: u32,
}

impl Access<'_> {
    fn run(&mut self, body: &[CellStmt]) {
        for stmt in body {
            match &stmt.kind {
                CellStmtKind::Write(half, value) => self.halves[*half as usize] = self.value(value),
                CellStmtKind::Output(word, value) if value.is_returned_only() => {
                    self.outputs[usize::from(word & 3)] = self.returned(value);
                }
                CellStmtKind::Search(search) => self.search(search),
                CellStmtKind::Output(word, value) => {
                    let high = if *word < 2 { 0 } else { 32 };
                    self.outputs[usize::from(word & 3)] = (self.value(value) >> high) as u32;
                }
                CellStmtKind::If(cond, then, otherwise) => {
                    self.run(if self.holds(cond) { then } else { otherwise });
                }
            }
        }
    }

    fn value(&self, value: &CellValue) -> u64 {
        let value = match value {
            CellValue::Const(value) => *value,
            CellValue::Half(Half::Hi) | CellValue::Old(Half::Hi) if !self.format.has_hi() => 0,
            CellValue::Half(half) => self.halves[*half as usize],
            CellValue::Old(half) => self.old[*half as usize],
            CellValue::Param(n) => self.params.get(usize::from(*n)).copied().unwrap_or(0).into(),
            CellValue::Phv(e) => self.env.value(e) as u64,
            CellValue::Hash(hash) => self.env.hash(&self.env.program.hashes[*hash]),
            CellValue::Op(op, a, b) => {
                let (a, b) = (self.value(a) as u32, self.value(b) as u32);
                op.eval(a, b, self.format.math_bits()).into()
            }
            CellValue::Math(unit, a) => unit.eval(self.value(a) as u32).into(),
            returned => self.returned(returned).into(),
        };
        value & self.format.half_mask()
    }

    /// Evaluates a value that is only available as an output word.
    fn returned(&self, value: &CellValue) -> u32 {
        match value {
            CellValue::Predicate(conds) => {
                let bit = conds.iter().enumerate().map(|(i, c)| u32::from(self.holds(c)) << i).sum::<u32>();
                1 << (bit & 31)
            }
            CellValue::Address => self.index as u32,
            CellValue::Quotient(a, b) => {
                let (a, b) = (self.dividing(a), self.dividing(b));
                let by_zero = if a < 0 { i16::MIN } else { i16::MAX };
                a.checked_div(b).unwrap_or(by_zero.into()) as u32 & 0xffff
            }
            CellValue::Remainder(a, b) => {
                let (a, b) = (self.dividing(a), self.dividing(b));
                // The remainder of a division that rounds towards minus infinity has the divisor's sign or is 0; modulo
                // 0 is the dividend.
                let rest = if b == 0 { a } else { a - b * a.div_euclid(b) };
                (if rest != 0 && b < 0 { rest + b } else { rest }) as u32 & 0xffff
            }
            CellValue::Lane(LanePart::Value) => self.found.value,
            CellValue::Lane(LanePart::Changed) => self.found.changed,
            CellValue::Lane(LanePart::Index) => self.found.index,
            other => self.value(other) as u32,
        }
    }

    /// Returns the divider's view of a value: 16 bits in two's complement.
    fn dividing(&self, value: &CellValue) -> i32 {
        let spare = 32 - self.format.math_bits();
        i32::from((((self.value(value) as u32) << spare) as i32 >> spare) as i16)
    }

    /// Finds the extreme lane and updates it; of equal lanes the highest wins.
    fn search(&mut self, search: &Search) {
        let operand =
            |n: usize| search.operands.get(n).map_or(0, |e| self.env.value(e) & u128::from(u64::MAX));
        let phv = operand(0) | operand(1) << 64;
        let mut word = u128::from(self.halves[1]) << 64 | u128::from(self.halves[0]);
        let what = &search.what;
        let (bits, lanes) = (what.op.lane_bits(), what.op.lanes());
        let full = (1u32 << bits) - 1;
        let mask = match what.mask {
            LaneMask::Constant(mask) => u32::from(mask),
            LaneMask::Phv => phv as u32,
        };
        let source = if what.from_phv { phv } else { word };
        let lane = |i: u32| (source >> (i * bits)) as u32 & full;
        let taking_part = (0..lanes).filter(|i| mask >> i & 1 == 1);
        let largest = matches!(what.op, LaneOp::Max8 | LaneOp::Max16);
        // `max_by_key` returns the last of equal lanes.
        let best = taking_part.max_by_key(|&i| if largest { lane(i) } else { full - lane(i) });
        self.found = FoundLane::default();
        let Some(index) = best else { return };
        let value = lane(index);
        let amount = |post: &LanePost| match (post.amount, what.mask) {
            (PostAmount::Constant(n), _) => n.into(),
            (PostAmount::Phv, LaneMask::Constant(_)) => phv as u32 & 0xff,
            (PostAmount::Phv, LaneMask::Phv) => (phv >> lanes) as u32 & 0xff,
        };
        let changed = what.post.as_ref().map_or(value, |post| match post.subtract {
            true => value.saturating_sub(amount(post)),
            false => (value + amount(post)).min(full),
        });
        self.found = FoundLane { value, changed, index };
        if !what.from_phv {
            word = word & !(u128::from(full) << (index * bits)) | u128::from(changed) << (index * bits);
            self.halves = [word as u64, (word >> 64) as u64];
        }
    }

    /// Evaluates a side of an order by size without wrapping its sums and differences.
    fn exact(&self, value: &CellValue, sense: Sense) -> i128 {
        match value {
            CellValue::Op(SaluOp::Add, a, b) => self.exact(a, sense) + self.exact(b, sense),
            CellValue::Op(SaluOp::Sub, a, b) => self.exact(a, sense) - self.exact(b, sense),
            CellValue::Op(SaluOp::Subr, a, b) => self.exact(b, sense) - self.exact(a, sense),
            value => {
                let (value, spare) = (self.value(value), 64 - self.format.half_bits());
                match sense {
                    Sense::Signed => ((value << spare) as i64 >> spare).into(),
                    Sense::Unsigned | Sense::Serial => value.into(),
                }
            }
        }
    }

    fn holds(&self, cond: &CellCond) -> bool {
        match cond {
            CellCond::Match(half, value, mask) => {
                let differ = self.halves[*half as usize] ^ self.value(value);
                differ & mask & self.format.half_mask() == 0
            }
            CellCond::Cmp(op, sense, a, b) if *sense != Sense::Serial && op.orders() => {
                let difference = self.exact(a, *sense) - self.exact(b, *sense);
                op.holds((difference + ZERO) as u128, ZERO as u128)
            }
            CellCond::Cmp(op, sense, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let signed = |value: u64| {
                    let spare = 64 - self.format.half_bits();
                    // Moving the lowest number to zero keeps the order.
                    (((value << spare) as i64 >> spare) as u64 ^ 1 << 63).into()
                };
                match sense {
                    Sense::Unsigned => op.holds(a.into(), b.into()),
                    Sense::Signed => op.holds(signed(a), signed(b)),
                    Sense::Serial => op.holds(signed(a.wrapping_sub(b)), signed(0)),
                }
            }
            CellCond::Not(a) => !self.holds(a),
            CellCond::And(a, b) => self.holds(a) && self.holds(b),
            CellCond::Or(a, b) => self.holds(a) || self.holds(b),
        }
    }
}
