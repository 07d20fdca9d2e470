//! Register actions, statement by statement. What may not live here: stateful ALUs; the fast engine runs what
//! the body was mapped to, and must agree.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use crate::control::EntryId;
use crate::ir::{CellCond, CellStmt, CellStmtKind, CellValue, Loc, RegisterAccess, Table};
use sluice_asic::salu::{Format, Half, Sense, State as Element};

impl<T: Tracer> Run<'_, T> {
    /// One access to a register; an index past the end touches nothing and gives zeros.
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
        if let Some(before) = before {
            let mut at = Access { env, format: data.format, halves: [before.lo, before.hi], outputs };
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

/// An element while a register action works on it.
struct Access<'a> {
    env: Env<'a>,
    format: Format,
    halves: [u64; 2],
    outputs: [u32; 4],
}

impl Access<'_> {
    fn run(&mut self, body: &[CellStmt]) {
        for stmt in body {
            match &stmt.kind {
                CellStmtKind::Write(half, value) => self.halves[*half as usize] = self.value(value),
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
            CellValue::Half(half) if *half == Half::Hi && !self.format.has_hi() => 0,
            CellValue::Half(half) => self.halves[*half as usize],
            CellValue::Phv(e) => self.env.value(e) as u64,
            CellValue::Op(op, a, b) => {
                let (a, b) = (self.value(a) as u32, self.value(b) as u32);
                op.eval(a, b, self.format.math_bits()).into()
            }
        };
        value & self.format.half_mask()
    }

    fn holds(&self, cond: &CellCond) -> bool {
        match cond {
            CellCond::Cmp(op, sense, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let signed = |value: u64| {
                    let spare = 64 - self.format.half_bits();
                    // Order is kept by moving the lowest number to zero.
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
