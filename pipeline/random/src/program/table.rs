//! Draws tables, their action profiles and constant entries.

use super::Writer;
use super::action::Owned;
use super::scope::Scope;
use super::value::Draft;
use crate::key_value;
use sluice_asic::select::SelectorMode;
use sluice_ir::{
    Action, ActionCall, Algorithmic, ApplyArms, ConstEntry, CounterHome, Field, Header, Key, KeySource, Loc,
    MatchKind, Profile, ProfileData, SelectorData, Stmt, StmtKind, TableData, TableRules,
};

impl Writer<'_, '_> {
    /// Declares a table and applies it.
    pub(super) fn apply(&mut self, scope: &mut Scope, depth: usize) -> Stmt {
        let keys = self.keys(scope);
        let table = self.p.tables.next_key();
        let owned = self.owned(scope, (!keys.is_empty()).then_some(CounterHome::Direct(table)));
        let actions: Vec<Action> =
            (0..1 + self.d.below(self.limits.actions)).map(|_| self.action(scope, true, &owned)).collect();
        let profile = if keys.is_empty() || !self.d.chance(1, 5) { None } else { self.profile(scope) };
        let default = self.d.pick(&actions).unwrap_or(actions[0]);
        let default = self.call(default);
        let entries = match profile {
            None if !keys.is_empty() && self.d.chance(1, 4) => self.const_entries(&keys, &actions),
            _ => Vec::new(),
        };
        let algorithmic = match entries.is_empty() && profile.is_none() {
            true => self.algorithmic(&keys),
            false => None,
        };
        let size = self.d.of([16, 4, 64, 300]).max(entries.len() as u32);
        let name = self.name("t");
        self.p.tables.push(TableData {
            name,
            gress: self.gress,
            keys,
            actions: actions.clone(),
            default,
            constant_default: false,
            size,
            entries,
            profile,
            pin: None,
            algorithmic,
            rules: TableRules::default(),
            idle: None,
            doc: String::new(),
            loc: Loc::default(),
        });
        let arms = if depth == 0 { ApplyArms::default() } else { self.arms(scope, depth, &actions) };
        Stmt { kind: StmtKind::Apply(table, arms), loc: Loc::default() }
    }

    /// Draws the arrays for the actions of a table or a call.
    pub(super) fn owned(&mut self, scope: &Scope, direct: Option<CounterHome>) -> Owned {
        let mut owned = Owned::default();
        if let Some(home) = direct
            && self.d.chance(1, 4)
        {
            owned.direct = Some(self.counter(home));
        }
        if self.d.chance(1, 5) {
            let size = self.d.of([256, 16, 200]);
            owned.counters.push(self.counter(CounterHome::Indirect(size)));
        }
        if self.d.chance(1, 3) {
            let home = self.home(direct);
            owned.registers.extend(self.register(scope, home));
        }
        if self.d.chance(1, 8) {
            // An entry has one meter address, be it a register's or a meter's.
            let taken = owned.registers.iter().any(|r| Some(self.p.registers[*r].home) == direct);
            let home = self.home(direct.filter(|_| !taken));
            owned.meters.push(self.meter(home));
        }
        owned
    }

    /// With some probability, draws an array with one cell per entry, if the table has entries.
    fn home(&mut self, direct: Option<CounterHome>) -> CounterHome {
        match direct {
            Some(home) if self.d.chance(1, 3) => home,
            _ => CounterHome::Indirect(self.d.of([64, 1, 10, 100])),
        }
    }

    /// Draws an algorithmic TCAM in SRAM for keys that otherwise need TCAM.
    fn algorithmic(&mut self, keys: &[Key]) -> Option<Algorithmic> {
        let has = |kind| keys.iter().any(|k| k.kind == kind);
        if has(MatchKind::Range) || !self.d.chance(1, 3) {
            return None;
        }
        let whole = |k: &Key| match k.what {
            KeySource::Field(field) if k.kind == MatchKind::Exact && k.mask.is_none() => Some(field),
            _ => None,
        };
        let exact: Vec<Field> = keys.iter().filter_map(whole).collect();
        match self.d.pick(&exact) {
            Some(partition) if has(MatchKind::Ternary) => {
                Some(Algorithmic::Atcam { partition, partitions: self.d.of([1024, 2048]) })
            }
            _ if has(MatchKind::Lpm) => {
                Some(Algorithmic::Alpm { partitions: self.d.of([1024, 2048]), subtrees: 2 })
            }
            _ => None,
        }
    }

    fn keys(&mut self, scope: &Scope) -> Vec<Key> {
        let mut fields = scope.readable(&self.p, self.gress);
        let mut keys: Vec<Key> = Vec::new();
        for _ in 0..self.d.below(self.limits.keys + 1) {
            let Some(field) = self.d.pick(&fields) else { break };
            fields.retain(|f| *f != field);
            if self.d.chance(1, 6) {
                keys.extend(self.partial_keys(scope, field, &keys));
                continue;
            }
            let has = |kind| keys.iter().any(|k| k.kind == kind);
            // model: chip §3.2: a range takes at most 20 bits.
            let narrow = self.p.fields[field].width <= 20;
            let kind = match self.d.below(5) {
                4 if !has(MatchKind::Lpm) && narrow => MatchKind::Range,
                2 if !has(MatchKind::Lpm) => MatchKind::Ternary,
                3 if keys.iter().all(|k| k.kind == MatchKind::Exact) => MatchKind::Lpm,
                _ => MatchKind::Exact,
            };
            keys.push(Key::new(field, kind));
        }
        keys
    }

    /// Draws keys of parts of a field, one or two slices of it or its bits under a mask, or of the validity of a header.
    fn partial_keys(&mut self, scope: &Scope, field: Field, keys: &[Key]) -> Vec<Key> {
        let width = self.p.fields[field].width;
        let lpm = keys.iter().any(|k| k.kind == MatchKind::Lpm);
        let kind = if lpm || self.d.chance(1, 2) { MatchKind::Exact } else { MatchKind::Ternary };
        let slice = |hi, lo| Key { what: KeySource::Slice(field, hi, lo), mask: None, kind };
        let headers: Vec<Header> = scope.sure.iter().chain(&scope.maybe).copied().collect();
        match self.d.below(3) {
            0 => {
                let free = |h: &Header| !keys.iter().any(|k| k.what == KeySource::Valid(*h));
                let open: Vec<Header> = headers.into_iter().filter(free).collect();
                let header = self.d.pick(&open);
                header.map(|h| Key { what: KeySource::Valid(h), mask: None, kind }).into_iter().collect()
            }
            1 => vec![Key::new(field, kind).under(self.d.value(width).max(1))],
            _ => {
                let lo = self.d.below(usize::from(width)) as u16;
                let hi = lo + self.d.below(usize::from(width - lo)) as u16;
                let below = (lo > 0 && self.d.chance(1, 3)).then(|| slice(lo - 1, 0));
                [slice(hi, lo)].into_iter().chain(below).collect()
            }
        }
    }

    fn call(&mut self, action: Action) -> ActionCall {
        let widths: Vec<u16> = self.p.actions[action].params.iter().map(|p| p.width).collect();
        ActionCall { action, args: widths.into_iter().map(|w| self.d.value(w)).collect() }
    }

    fn const_entries(&mut self, keys: &[Key], actions: &[Action]) -> Vec<ConstEntry> {
        let mut entries: Vec<ConstEntry> = Vec::new();
        for _ in 0..1 + self.d.below(self.limits.entries) {
            let key: Vec<_> = keys.iter().map(|k| key_value(self.d, k, &self.p)).collect();
            if entries.iter().any(|e| e.key == key) {
                continue;
            }
            if let Some(action) = self.d.pick(actions) {
                entries.push(ConstEntry { key, then: self.call(action) });
            }
        }
        entries
    }

    fn profile(&mut self, scope: &Scope) -> Option<Profile> {
        let selector = match self.d.chance(2, 3) {
            true => Some(SelectorData {
                mode: self.d.of([SelectorMode::Fair, SelectorMode::Resilient]),
                hash: self.hash(scope, &Draft::default(), 52)?,
                scramble: self.d.chance(1, 3),
                groups: 4,
                max_group_size: 8,
            }),
            false => None,
        };
        let name = self.name("p");
        let (gress, doc, loc) = (self.gress, String::new(), Loc::default());
        Some(self.p.profiles.push(ProfileData { name, gress, size: 16, selector, doc, loc }))
    }

    fn arms(&mut self, scope: &Scope, depth: usize, actions: &[Action]) -> ApplyArms {
        let mut arms = ApplyArms::default();
        let nested = |w: &mut Self| {
            let statements = w.d.below(w.limits.statements);
            w.block(&mut scope.clone(), depth - 1, statements)
        };
        match self.d.below(4) {
            0 | 1 => {}
            2 => {
                arms.hit = nested(self);
                arms.miss = nested(self);
            }
            _ => {
                if let Some(action) = self.d.pick(actions) {
                    arms.run.push((action, nested(self)));
                }
            }
        }
        arms
    }
}
