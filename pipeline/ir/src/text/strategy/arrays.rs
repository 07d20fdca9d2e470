//! Hashes, and arrays with the register actions that work on them.

use super::Draw;
use crate::*;
use sluice_asic::geometry::CounterFormat;
use sluice_asic::gress::Gress;
use sluice_asic::hash::{CrcParams, HashAlgorithm, XorWidth};
use sluice_asic::meter::LpfMode;
use sluice_asic::salu::{Half, LaneMask, LaneOp, LanePost, LaneSearch, MathUnit, PostAmount, SaluOp, Sense};
use sluice_asic::units::Duration;

impl Draw {
    pub(super) fn hash(&mut self, p: &Program) -> HashData {
        let algorithm = match self.below(5) {
            0 => HashAlgorithm::Identity,
            1 => HashAlgorithm::Xor(self.of(&[XorWidth::W8, XorWidth::W16, XorWidth::W32])),
            2 => HashAlgorithm::Random { seed: self.word() >> self.of(&[0, 63]) },
            3 => HashAlgorithm::from_name("crc_32").unwrap(),
            _ => {
                let (poly, init, xor) = (self.word() >> 48 | 1, self.word() >> 48, self.word() >> 48);
                HashAlgorithm::Crc(CrcParams::new(16, poly, self.below(2) == 0, init, xor).unwrap())
            }
        };
        HashData {
            name: self.name(),
            gress: self.of(&Gress::ALL),
            algorithm,
            inputs: self.list(3, |d| d.expr(p, 1)),
            symmetric: self.list(2, |d| [d.below(4) as u16, d.below(4) as u16]),
            width: self.below(70) as u16,
            seed: self.word() >> self.of(&[0, 32, 63]),
            rotate: self.below(3) as u16,
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    pub(super) fn counter(&mut self) -> CounterData {
        let home = self.home();
        let kind = self.of(&[CounterKind::Packets, CounterKind::Bytes, CounterKind::PacketsAndBytes]);
        let gress = self.of(&Gress::ALL);
        let cell = CounterCell {
            format: (self.below(2) == 0).then(|| self.of(&CounterFormat::ALL)),
            adjust: self.word() as i16 >> self.of(&[0, 15, 12]),
            wraps: self.below(2) == 0,
        };
        CounterData { name: self.name(), gress, kind, home, cell, doc: self.doc(), loc: Loc::default() }
    }

    fn home(&mut self) -> CounterHome {
        match self.below(2) {
            0 => CounterHome::Direct(self.entity(2)),
            _ => CounterHome::Indirect(self.word() as u32),
        }
    }

    pub(super) fn index(&mut self, p: &Program) -> Index {
        match self.below(4) {
            0 => Index::Entry,
            1 => Index::Hash(self.entity(2)),
            _ => Index::At(self.expr(p, 1)),
        }
    }

    fn filter(&mut self) -> LpfSpec {
        LpfSpec {
            mode: self.of(&[LpfMode::Sample, LpfMode::Rate]),
            rise: Duration::from_ps(self.word()),
            fall: Duration::from_ps(self.word() >> 40),
            shift: self.below(32) as u8,
        }
    }

    pub(super) fn meter(&mut self) -> MeterData {
        let initial = match self.below(4) {
            0 => None,
            1 => Some(MeterConfig::Rates {
                committed: self.word(),
                committed_burst: self.word() >> 40,
                peak: self.word(),
                peak_burst: self.word() >> 63,
            }),
            2 => Some(MeterConfig::Lpf(self.filter())),
            _ => Some(MeterConfig::Wred {
                min: self.word() as u32,
                max: self.word() as u32,
                probability: self.below(101) as u8,
                average: (self.below(2) == 0).then(|| self.filter()),
            }),
        };
        MeterData {
            name: self.name(),
            gress: self.of(&Gress::ALL),
            kind: self.of(&MeterKind::ALL),
            home: self.home(),
            initial,
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    pub(super) fn register(&mut self) -> RegisterData {
        let format = self.of(&["1", "8", "32", "64", "128", "8x2", "32x2"]).parse().unwrap();
        RegisterData {
            name: self.name(),
            gress: self.of(&Gress::ALL),
            format,
            home: self.home(),
            init: [self.word() >> self.of(&[0, 60, 63]), self.word() >> self.of(&[0, 32, 63])],
            params: self.list(2, |d| RegisterParamData { name: d.name(), init: d.word() as u32 }),
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    pub(super) fn register_action(&mut self, p: &Program) -> RegisterActionData {
        let (name, register, body, doc) = (self.name(), self.entity(2), self.cell_block(p, 2), self.doc());
        RegisterActionData { name, register, body, doc, loc: Loc::default() }
    }

    fn cell_block(&mut self, p: &Program, depth: usize) -> Vec<CellStmt> {
        self.list(3, |d| {
            let kind = match d.below(if depth == 0 { 3 } else { 4 }) {
                2 => CellStmtKind::Search(d.search(p)),
                0 => CellStmtKind::Write(d.of(&[Half::Lo, Half::Hi]), d.cell_value(p, 2)),
                1 => CellStmtKind::Output(d.below(4) as u8, d.cell_value(p, 2)),
                _ => {
                    let cond = d.cell_cond(p, 2);
                    CellStmtKind::If(cond, d.cell_block(p, depth - 1), d.cell_block(p, depth - 1))
                }
            };
            CellStmt { kind, loc: Loc::default() }
        })
    }

    fn cell_value(&mut self, p: &Program, depth: usize) -> CellValue {
        match self.below(if depth == 0 { 5 } else { 10 }) {
            3 if self.below(2) == 0 => CellValue::Param(self.below(5) as u8),
            3 => CellValue::Address,
            4 if self.below(2) == 0 => CellValue::Hash(self.entity(2)),
            4 => CellValue::Lane(self.of(&LanePart::ALL).1),
            5 => {
                let table = self.value().to_be_bytes();
                let (shift, scale) = (self.below(3) as i8 - 1, self.below(64) as i8 - 32);
                let unit = MathUnit::new(self.below(2) == 0, shift, scale, table).unwrap();
                CellValue::Math(unit, Box::new(self.cell_value(p, depth - 1)))
            }
            6 => CellValue::Predicate(self.list(3, |d| d.cell_cond(p, depth - 1))),
            7 => {
                let (a, b) = (self.cell_value(p, depth - 1), self.cell_value(p, depth - 1));
                CellValue::Quotient(Box::new(a), Box::new(b))
            }
            8 => {
                let (a, b) = (self.cell_value(p, depth - 1), self.cell_value(p, depth - 1));
                CellValue::Remainder(Box::new(a), Box::new(b))
            }
            0 => CellValue::Const(self.word() >> self.of(&[0, 32, 60])),
            1 => CellValue::Half(self.of(&[Half::Lo, Half::Hi])),
            2 => CellValue::Phv(self.expr(p, 2)),
            _ => {
                let op = self.of(SaluOp::ALL);
                let (a, b) = (self.cell_value(p, depth - 1), self.cell_value(p, depth - 1));
                CellValue::Op(op, Box::new(a), Box::new(b))
            }
        }
    }

    fn search(&mut self, p: &Program) -> Search {
        let mask = self.word() as u16;
        let mask = self.of(&[LaneMask::Constant(mask), LaneMask::Phv]);
        let amount = PostAmount::Constant(self.word() as u8);
        let amount = self.of(&[amount, PostAmount::Phv]);
        let post = LanePost { subtract: self.below(2) == 0, amount };
        let what = LaneSearch {
            op: self.of(&LaneOp::ALL),
            from_phv: self.below(2) == 0,
            mask,
            post: (self.below(3) > 0).then_some(post),
        };
        Search { what, operands: self.list(2, |d| d.expr(p, 1)) }
    }

    fn cell_cond(&mut self, p: &Program, depth: usize) -> CellCond {
        let nested = |d: &mut Self| Box::new(d.cell_cond(p, depth - 1));
        match self.below(if depth == 0 { 2 } else { 5 }) {
            1 => {
                let (half, mask) = (self.of(&[Half::Lo, Half::Hi]), self.word());
                CellCond::Match(half, self.cell_value(p, 0), mask)
            }
            0 => {
                let (op, sense) = (self.of(&CmpOp::ALL), self.of(&Sense::ALL));
                CellCond::Cmp(op, sense, self.cell_value(p, 1), self.cell_value(p, 1))
            }
            2 => CellCond::Not(nested(self)),
            3 => CellCond::And(nested(self), nested(self)),
            _ => CellCond::Or(nested(self), nested(self)),
        }
    }
}
