//! Draws counters, meters and registers.

use super::Writer;
use super::scope::Scope;
use super::value::Draft;
use sluice_asic::meter::LpfMode;
use sluice_asic::salu::{Format, Half, SaluOp, Sense};
use sluice_asic::units::Duration;
use sluice_ir::{
    CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Counter, CounterCell, CounterData, CounterHome,
    CounterKind, Loc, LpfSpec, Meter, MeterConfig, MeterData, MeterKind, Random, RandomData, Register,
    RegisterActionData, RegisterData, RegisterParamData,
};

/// Returns true if a register action writes its first output word.
pub(super) fn has_output(action: &RegisterActionData) -> bool {
    let mut found = false;
    action.statements(&mut |s| found |= matches!(s.kind, CellStmtKind::Output(0, _)));
    found
}

impl Writer<'_, '_> {
    pub(super) fn counter(&mut self, home: CounterHome) -> Counter {
        let kind = self.d.of([CounterKind::Packets, CounterKind::Bytes, CounterKind::PacketsAndBytes]);
        let name = self.name("count");
        let (gress, doc, loc) = (self.gress, String::new(), Loc::default());
        let cell = match self.d.below(5) {
            4 => CounterCell { wraps: true, ..CounterCell::default() },
            3 => CounterCell { adjust: self.d.of([4, -4, 20]), ..CounterCell::default() },
            _ => CounterCell::default(),
        };
        self.p.counters.push(CounterData { name, gress, kind, home, cell, doc, loc })
    }

    /// Draws a register with one to three actions whose operands are fields in scope.
    pub(super) fn register(&mut self, scope: &Scope, home: CounterHome) -> Option<Register> {
        let bits = if self.d.chance(1, 16) { 64 } else { self.d.of([32u16, 16, 8, 1]) };
        let pair = bits > 1 && self.d.chance(1, 2);
        let format = if pair { Format::pair(bits.into()) } else { Format::single(bits.into()) }.ok()?;
        let init = [0, 1].map(|_| u64::from(self.d.word()) & format.half_mask());
        let init = if pair { init } else { [init[0], 0] };
        let name = self.name("r");
        let (gress, doc, loc) = (self.gress, String::new(), Loc::default());
        let most = format.math_mask() >> 1;
        let params =
            (0..if (2..64).contains(&bits) && self.d.chance(1, 3) { 1 + self.d.below(2) } else { 0 })
                .map(|n| RegisterParamData { name: format!("p{n}"), init: self.d.word() & most })
                .collect();
        let data = RegisterData { name, gress, format, home, init, params, doc, loc };
        let register = self.p.registers.push(data);
        // At most two values from the packet for all actions.
        let mut operands: Vec<CellValue> =
            (0..2).filter_map(|_| self.phv(scope, &Draft::default(), bits)).map(CellValue::Phv).collect();
        operands.extend((0..self.p.registers[register].params.len() as u8).map(CellValue::Param));
        for _ in 0..1 + self.d.below(3) {
            let body = match bits {
                1 => self.bit_body(),
                64 => self.wide_body(format, &operands),
                _ => self.body(format, &operands),
            };
            let body = body.into_iter().map(|kind| CellStmt { kind, loc: Loc::default() }).collect();
            let (name, doc, loc) = (self.name("ra"), String::new(), Loc::default());
            self.p.register_actions.push(RegisterActionData { name, register, body, doc, loc });
        }
        Some(register)
    }

    /// Draws a random number generator as wide as a field.
    pub(super) fn random(&mut self, width: u16) -> Random {
        let (name, gress, doc, loc) = (self.name("random"), self.gress, String::new(), Loc::default());
        self.p.randoms.push(RandomData { name, gress, width, doc, loc })
    }

    /// Draws a meter, low-pass filter or WRED with time constants so short that packets a few nanoseconds apart show a
    /// difference.
    pub(super) fn meter(&mut self, home: CounterHome) -> Meter {
        let kind = self.d.of([MeterKind::Packets, MeterKind::Bytes, MeterKind::Lpf, MeterKind::Wred]);
        // A filter of rates has one time constant.
        let (mode, fall) = self.d.of([(LpfMode::Sample, 10), (LpfMode::Sample, 20), (LpfMode::Rate, 10)]);
        let (rise, fall) = (Duration::from_micros(10), Duration::from_micros(fall));
        let filter = LpfSpec { mode, rise, fall, shift: self.d.of([0, 3]) };
        let initial = match kind {
            MeterKind::Packets | MeterKind::Bytes => {
                let committed = 1_000_000 << self.d.below(6);
                let (committed_burst, peak_burst) = self.d.of([(2, 4), (64, 200), (1000, 1500)]);
                Some(MeterConfig::Rates { committed, committed_burst, peak: 3 * committed, peak_burst })
            }
            MeterKind::Lpf => self.d.chance(1, 2).then_some(MeterConfig::Lpf(filter)),
            MeterKind::Wred => {
                let (min, max) = self.d.of([(100, 5000), (0, 60_000), (1, 3)]);
                Some(MeterConfig::Wred { min, max, probability: 50, average: Some(filter) })
            }
        };
        let (name, gress, doc, loc) = (self.name("meter"), self.gress, String::new(), Loc::default());
        let adjust = match (kind, initial) {
            (MeterKind::Bytes, Some(MeterConfig::Rates { committed_burst: 2, .. })) => 4,
            (MeterKind::Bytes, Some(MeterConfig::Rates { committed_burst: 64, .. })) => -30,
            _ => 0,
        };
        self.p.meters.push(MeterData { name, gress, kind, home, adjust, initial, doc, loc })
    }

    fn bit_body(&mut self) -> Vec<CellStmtKind> {
        let read = CellStmtKind::Output(0, CellValue::Half(Half::Lo));
        let write = |v| CellStmtKind::Write(Half::Lo, CellValue::Const(v));
        match self.d.below(4) {
            0 => vec![read],
            1 => vec![read, write(1)],
            2 => vec![read, write(0)],
            _ => vec![write(1)],
        }
    }

    /// Draws a condition or copy of 64-bit halves, for which only equality and copying are possible.
    fn wide_body(&mut self, format: Format, operands: &[CellValue]) -> Vec<CellStmtKind> {
        let half = self.cell_half(format);
        let read = CellStmtKind::Output(0, CellValue::Half(half));
        let Some(operand) = operands.first().cloned() else { return vec![read] };
        let write = CellStmtKind::Write(half, operand.clone());
        let op = self.d.of([CmpOp::Eq, CmpOp::Ne]);
        let test = CellCond::Cmp(op, Sense::Unsigned, CellValue::Half(half), operand);
        let found = CellStmtKind::Output(0, CellValue::Const(1));
        let stmt = |kind| CellStmt { kind, loc: Loc::default() };
        match self.d.below(3) {
            0 => vec![read, write],
            1 => vec![CellStmtKind::If(test, vec![stmt(found)], Vec::new())],
            _ => vec![CellStmtKind::If(test, vec![stmt(found)], vec![stmt(write)])],
        }
    }

    fn cell_half(&mut self, format: Format) -> Half {
        if format.has_hi() { self.d.of([Half::Lo, Half::Hi]) } else { Half::Lo }
    }

    fn cell_leaf(&mut self, format: Format, operands: &[CellValue]) -> CellValue {
        match self.d.below(3) {
            0 => CellValue::Const(self.d.value(format.half_bits() as u16) as u64),
            _ => match self.d.below(operands.len() + 1) {
                0 => self.cell_now(format),
                n => operands[n - 1].clone(),
            },
        }
    }

    /// Draws a half, at this point or before the access.
    fn cell_now(&mut self, format: Format) -> CellValue {
        let half = self.cell_half(format);
        if self.d.chance(1, 4) { CellValue::Old(half) } else { CellValue::Half(half) }
    }

    fn cell_value(&mut self, format: Format, operands: &[CellValue]) -> CellValue {
        if !self.d.chance(1, 2) {
            return self.cell_leaf(format, operands);
        }
        let op = self.d.pick(SaluOp::ALL).unwrap_or(SaluOp::Add);
        let a = self.cell_now(format);
        let b = match self.d.below(operands.len() + 1) {
            0 => CellValue::Const(self.d.below(8) as u64),
            n => operands[n - 1].clone(),
        };
        CellValue::Op(op, Box::new(a), Box::new(b))
    }

    fn cell_test(&mut self, format: Format, operands: &[CellValue]) -> CellCond {
        let op = self.d.pick(&CmpOp::ALL).unwrap_or(CmpOp::Eq);
        let sense = self.d.pick(&Sense::ALL).unwrap_or(Sense::Serial);
        let half = self.cell_now(format);
        let a = match (self.d.below(4), operands.len()) {
            (0, 1..) => {
                // A sum, which wraps in one sense only.
                let op = self.d.of([SaluOp::Add, SaluOp::Sub]);
                let number = CellValue::Const(self.d.below(8) as u64);
                let with = if self.d.chance(1, 2) { number } else { operands[0].clone() };
                CellValue::Op(op, Box::new(half), Box::new(with))
            }
            _ => half,
        };
        let b = match self.d.below(operands.len() + 1) {
            0 => CellValue::Const(self.d.value(format.half_bits() as u16) as u64),
            n => operands[n - 1].clone(),
        };
        CellCond::Cmp(op, sense, a, b)
    }

    /// Draws a body of the forms that stateful ALUs are used for; other forms may not map to a stateful ALU.
    pub(super) fn body(&mut self, format: Format, operands: &[CellValue]) -> Vec<CellStmtKind> {
        let half = self.cell_half(format);
        let write = CellStmtKind::Write(half, self.cell_value(format, operands));
        let read = CellStmtKind::Output(0, CellValue::Half(half));
        let stmt = |kind| CellStmt { kind, loc: Loc::default() };
        match self.d.below(6) {
            0 => vec![read, write],
            1 => vec![write, read],
            2 => vec![write],
            3 => {
                let (test, output) = (self.cell_test(format, operands), self.cell_leaf(format, operands));
                let then = vec![stmt(write), stmt(CellStmtKind::Output(0, output))];
                vec![CellStmtKind::If(test, then, Vec::new())]
            }
            4 => {
                let test = self.cell_test(format, operands);
                let other = CellStmtKind::Write(half, self.cell_value(format, operands));
                vec![CellStmtKind::If(test, vec![stmt(write)], vec![stmt(other)]), read]
            }
            _ => {
                let (a, b) = (self.cell_test(format, operands), self.cell_test(format, operands));
                let test = match self.d.below(3) {
                    0 => CellCond::And(Box::new(a), Box::new(b)),
                    1 => CellCond::Or(Box::new(a), Box::new(b)),
                    _ => CellCond::And(Box::new(CellCond::Not(Box::new(a))), Box::new(b)),
                };
                vec![CellStmtKind::If(test, vec![stmt(write)], Vec::new()), read]
            }
        }
    }
}
