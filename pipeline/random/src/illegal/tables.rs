//! Tables with every attribute.

use super::Writer;
use sluice_asic::units::Duration;
use sluice_ir::{
    ActionCall, Algorithmic, ConstEntry, IdleMode, IdleTimeout, Key, KeySource, KeyValue, Loc, MatchKind,
    TableData, TableRules,
};

const KINDS: [MatchKind; 4] = [MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm, MatchKind::Range];

impl Writer<'_, '_> {
    /// Adds to tables, and adds tables.
    pub(super) fn tables(&mut self) {
        for table in self.p.tables.keys() {
            if self.flip() {
                let data = self.p.tables[table].clone();
                self.p.tables[table] = self.table(data);
            }
        }
        for _ in 0..1 + self.below(2) {
            let data = TableData {
                name: self.name(),
                gress: self.gress(),
                keys: Vec::new(),
                actions: Vec::new(),
                default: self.call(),
                constant_default: false,
                size: self.d.word(),
                entries: Vec::new(),
                profile: None,
                pin: None,
                idle: None,
                algorithmic: None,
                rules: TableRules::default(),
                doc: self.doc(),
                loc: Loc::default(),
            };
            let data = self.table(data);
            self.p.tables.push(data);
        }
    }

    fn call(&mut self) -> ActionCall {
        ActionCall { action: self.any(|p| &p.actions), args: self.list(2, Self::value) }
    }

    fn table(&mut self, mut data: TableData) -> TableData {
        data.keys.extend(self.list(3, Self::table_key));
        data.actions.extend(self.list(3, |w| w.any(|p| &p.actions)));
        data.entries.extend(self.list(2, |w| ConstEntry { key: w.list(3, Self::key), then: w.call() }));
        data.profile = self.flip().then(|| self.any(|p| &p.profiles));
        data.constant_default = self.flip();
        data.pin = self.flip().then(|| self.below(256) as u8);
        if self.flip() {
            data.rules = TableRules {
                pin_entries: self.flip().then(|| self.below(9) as u32),
                ways: self.flip().then(|| self.below(9) as u8),
                pack: self.flip().then(|| self.below(9) as u8),
                priority: self.below(7) as i16 - 3,
            };
        }
        data.idle = self.flip().then(|| IdleTimeout {
            mode: self.of(&[IdleMode::Notify, IdleMode::Poll]),
            bits: self.of(&IdleTimeout::BITS),
            interval: Duration::from_ps(self.word() >> 20),
            ttl: Duration::from_ps(self.word() >> self.of(&[4, 63])),
        });
        data.algorithmic = match self.below(3) {
            0 => None,
            1 => Some(Algorithmic::Alpm { partitions: self.d.word(), subtrees: self.d.word() }),
            _ => Some(Algorithmic::Atcam { partition: self.field(), partitions: self.d.word() }),
        };
        data
    }

    fn table_key(&mut self) -> Key {
        let what = match self.below(4) {
            0 => KeySource::Slice(self.field(), self.below(40) as u16, self.below(40) as u16),
            1 => KeySource::Valid(self.any(|p| &p.headers)),
            _ => KeySource::Field(self.field()),
        };
        let mask = if self.below(4) == 0 { Some(self.value()) } else { None };
        Key { what, mask, kind: self.of(&KINDS) }
    }

    fn key(&mut self) -> KeyValue {
        match self.below(5) {
            0 => KeyValue::Exact(self.value()),
            1 => KeyValue::Ternary { value: self.value(), mask: self.value() },
            2 => KeyValue::Ternary { value: 0, mask: 0 },
            3 => KeyValue::Range { lo: self.value(), hi: self.value() },
            _ => KeyValue::Lpm { value: self.value(), len: self.below(129) as u16 },
        }
    }
}
