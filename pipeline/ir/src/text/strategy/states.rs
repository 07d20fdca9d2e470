//! Parser states.

use super::Draw;
use crate::*;
use sluice_asic::gress::Gress;

impl Draw {
    pub(super) fn next(&mut self) -> Next {
        match self.below(3) {
            0 => Next::Accept,
            1 => Next::Reject,
            _ => Next::State(self.entity(3)),
        }
    }

    pub(super) fn state(&mut self, p: &Program) -> StateData {
        let ops = self.list(3, |d| {
            let kind = match d.below(12) {
                0 => ParserOpKind::Extract(d.entity(4)),
                1 => ParserOpKind::Set(d.field(p), d.expr(p, 1)),
                2 => ParserOpKind::Advance(d.word() as u16),
                3 => ParserOpKind::Lookahead(d.field(p), d.below(300) as u16),
                4 => ParserOpKind::SetCounter(CounterLoad::Const(d.word() as u8)),
                5 => ParserOpKind::SetCounter(CounterLoad::Field {
                    field: d.field(p),
                    max: d.word() as u8,
                    rotate: d.below(8) as u8,
                    mask: d.below(8) as u8,
                    add: d.word() as u8,
                }),
                6 => ParserOpKind::AddCounter(d.word() as i8),
                7 => ParserOpKind::ExtractNext(d.entity(2)),
                8 => ParserOpKind::PushCounter(CounterLoad::Const(d.word() as u8)),
                9 => ParserOpKind::PopCounter,
                10 => ParserOpKind::SubtractChecksum(d.field(p), d.list(2, |d| d.field(p))),
                _ => ParserOpKind::VerifyChecksum(d.field(p), d.list(2, |d| d.field(p))),
            };
            ParserOp { kind, loc: Loc::default() }
        });
        let select: Vec<SelectKey> = self.list(2, |d| match d.below(6) {
            0 => SelectKey::Lookahead(Lookahead { at: d.below(300) as u16, width: 1 + d.below(128) as u16 }),
            1 => SelectKey::CounterIsZero,
            2 => SelectKey::CounterIsNegative,
            3 => SelectKey::Last(d.entity(2), d.below(4) as u16),
            _ => SelectKey::Field(d.field(p)),
        });
        let arms = self.list(3, |d| {
            let full = |i: usize| {
                let width = select.get(i).and_then(|k| k.width(p)).map_or(8, u32::from);
                u128::MAX >> (128 - width)
            };
            let count = d.below(3);
            let values =
                (0..count).map(|i| (d.value(), if d.below(2) == 0 { full(i) } else { d.value() })).collect();
            SelectArm { values, next: d.next() }
        });
        let (gress, default) = (self.of(&Gress::ALL), self.next());
        StateData {
            name: self.name(),
            gress,
            ops,
            select,
            arms,
            default,
            doc: self.doc(),
            loc: Loc::default(),
        }
    }
}
