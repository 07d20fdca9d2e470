//! Changes of a program that may make it fit, each as an edit of the program.

use super::render::kind_name;
use crate::remedies::Remedy;
use serde::{Serialize, Serializer};
use sluice_ir::{
    Action, ActionData, Algorithmic, ApplyArms, Block, CounterHome, Expr, Key, KeyValue, Loc, MatchKind,
    PrimitiveKind, Program, Stmt, StmtKind, Table,
};

/// Partitions of an algorithmic table of prefixes that is tried: the fewest and the most that the chip can address.
const PARTITIONS: [u32; 2] = [1024, 8192];

/// One change of a program, or another chip.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Change {
    /// A table without its pin.
    Unpin {
        /// The table.
        #[serde(rename = "unpin")]
        table: String,
        /// The stage to which it is pinned.
        stage: u8,
    },
    /// Another match kind of a key.
    Kind {
        /// The table.
        table: String,
        /// The field of the key.
        #[serde(rename = "key")]
        field: String,
        /// Its match kind.
        #[serde(serialize_with = "kind_word")]
        from: MatchKind,
        /// The other match kind.
        #[serde(serialize_with = "kind_word")]
        to: MatchKind,
        /// True if the table has constant entries, all of which the other kind can express.
        #[serde(rename = "entries_allow")]
        proven: bool,
    },
    /// A table of prefixes in SRAM behind a small TCAM (ALPM).
    Alpm {
        /// The table.
        table: String,
        /// Partitions of SRAM.
        #[serde(rename = "alpm_partitions")]
        partitions: u32,
    },
    /// A table divided into two, of which the second is applied if the first one misses.
    Split {
        /// The table.
        table: String,
        /// Entries of both.
        #[serde(rename = "split")]
        sizes: (u32, u32),
    },
    /// A smaller table.
    Size {
        /// The table.
        table: String,
        /// Its sizes.
        size: Resize,
    },
    /// A table without one of its keys.
    DropKey {
        /// The table.
        table: String,
        /// The field of the key.
        #[serde(rename = "drop_key")]
        field: String,
        /// Its bits.
        bits: u16,
    },
    /// An action without its last parameter, and without what it does with it.
    DropParam {
        /// The action.
        action: String,
        /// The parameter.
        #[serde(rename = "drop_parameter")]
        param: String,
        /// Its bits.
        bits: u16,
    },
    /// Another value of a parameter of the program, or another chip.
    Remedy(Remedy),
}

/// Sizes of a table, in entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resize {
    /// The program's size.
    pub from: u32,
    /// The smaller size.
    pub to: u32,
}

fn kind_word<S: Serializer>(kind: &MatchKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind_name(*kind))
}

impl Change {
    /// Returns how much a change gives up: a rank, and within the rank a share.
    pub(super) fn cost(&self) -> (u8, f64) {
        let share = |from: u32, to: u32| f64::from(from - to) / f64::from(from.max(1));
        match self {
            Change::Unpin { .. } | Change::Kind { proven: true, .. } => (0, 0.0),
            Change::Alpm { partitions, .. } => (1, f64::from(*partitions)),
            Change::Split { .. } => (1, 0.0),
            Change::Size { size: Resize { from, to }, .. } => (2, share(*from, *to)),
            Change::Remedy(remedy @ Remedy::Lower { .. }) => (2, remedy.loss()),
            Change::Kind { .. } => (3, 0.0),
            Change::DropKey { bits, .. } | Change::DropParam { bits, .. } => (4, f64::from(*bits)),
            Change::Remedy(Remedy::Chip { .. }) => (5, 0.0),
        }
    }

    /// Returns the changed program; `None` if it does not allow the change, or if the change is not one of the program.
    pub(super) fn apply(&self, program: &Program) -> Option<Program> {
        let mut p = program.clone();
        let table = |name: &str| program.table_named(name);
        match self {
            Change::Unpin { table: name, .. } => {
                let table = &mut p.tables[table(name)?];
                (table.pin, table.rules.pin_entries) = (None, None);
            }
            Change::Size { table: name, size } => p.tables[table(name)?].size = size.to,
            Change::Kind { table: name, field, to, .. } => {
                let table = table(name)?;
                let at = key_of(program, table, field)?;
                p.tables[table].keys[at].kind = *to;
                (p.tables[table].rules.ways, p.tables[table].rules.pack) = (None, None);
                let width = program.tables[table].keys[at].width(program);
                for entry in &mut p.tables[table].entries {
                    entry.key[at] = as_kind(entry.key[at], *to, width)?;
                }
            }
            Change::Alpm { table: name, partitions } => {
                let algorithmic = Algorithmic::Alpm { partitions: *partitions, subtrees: 2 };
                let changed = &mut p.tables[table(name)?];
                changed.algorithmic = Some(algorithmic);
                (changed.rules.ways, changed.rules.pack) = (None, None);
            }
            Change::DropKey { table: name, field, .. } => {
                let table = table(name)?;
                let at = key_of(program, table, field)?;
                p.tables[table].keys.remove(at);
                p.tables[table].entries.iter_mut().for_each(|entry| _ = entry.key.remove(at));
            }
            Change::DropParam { action: name, .. } => {
                let action = program.actions.iter().find(|(_, a)| a.name == *name)?.0;
                drop_param(&mut p, action)?;
            }
            Change::Split { table: name, sizes } => split(&mut p, table(name)?, *sizes)?,
            Change::Remedy(_) => return None,
        }
        Some(p)
    }
}

fn key_of(program: &Program, table: Table, field: &str) -> Option<usize> {
    program.tables[table].keys.iter().position(|k| k.name(program) == field)
}

/// Returns a value of a constant entry as one of another match kind, if that can express it.
fn as_kind(value: KeyValue, kind: MatchKind, width: u16) -> Option<KeyValue> {
    let ones = |len: u16| if len >= 128 { u128::MAX } else { (1u128 << len) - 1 };
    let (value, mask) = match value {
        KeyValue::Exact(value) => (value, ones(width)),
        KeyValue::Ternary { value, mask } => (value, mask),
        KeyValue::Lpm { value, len } => (value, ones(width) & !ones(width.saturating_sub(len))),
        KeyValue::Range { lo, hi } if lo == hi => (lo, ones(width)),
        KeyValue::Range { .. } => return None,
    };
    let len = mask.count_ones() as u16;
    let is_prefix = mask == ones(width) & !ones(width.saturating_sub(len));
    match kind {
        MatchKind::Exact => (mask == ones(width)).then_some(KeyValue::Exact(value)),
        MatchKind::Lpm => is_prefix.then_some(KeyValue::Lpm { value, len }),
        MatchKind::Ternary => Some(KeyValue::Ternary { value, mask }),
        MatchKind::Range => None,
    }
}

/// Returns the removal of each pin.
pub(super) fn pins(program: &Program) -> Vec<Change> {
    let pinned = program.tables.values().filter_map(|t| Some((t, t.pin?)));
    pinned.map(|(t, stage)| Change::Unpin { table: t.name.clone(), stage }).collect()
}

/// Returns other ways to match and hold the same entries: narrower match kinds, SRAM for prefixes, two tables.
pub(super) fn kinds(program: &Program, table: Table) -> Vec<Change> {
    let data = &program.tables[table];
    let name = || data.name.clone();
    let mut list = Vec::new();
    let kind = |key: &Key, to| Change::Kind {
        table: name(),
        field: key.name(program),
        from: key.kind,
        to,
        proven: !data.entries.is_empty(),
    };
    let other = |kind: MatchKind| data.keys.iter().filter(|k| k.kind == kind).count();
    for key in &data.keys {
        match key.kind {
            MatchKind::Exact => {}
            MatchKind::Lpm | MatchKind::Range => list.push(kind(key, MatchKind::Exact)),
            MatchKind::Ternary => {
                list.push(kind(key, MatchKind::Exact));
                if other(MatchKind::Ternary) == 1 && other(MatchKind::Lpm) + other(MatchKind::Range) == 0 {
                    list.push(kind(key, MatchKind::Lpm));
                }
            }
        }
    }
    if other(MatchKind::Lpm) == 1 && data.algorithmic.is_none() && data.entries.is_empty() {
        list.extend(PARTITIONS.map(|partitions| Change::Alpm { table: name(), partitions }));
    }
    if data.size >= 2 {
        list.push(Change::Split { table: name(), sizes: (data.size - data.size / 2, data.size / 2) });
    }
    list
}

/// Returns changes after which the table decides on less or gives less: each key and each last parameter dropped.
pub(super) fn losses(program: &Program, table: Table) -> Vec<Change> {
    let data = &program.tables[table];
    let mut list = Vec::new();
    if data.keys.len() > 1 {
        list.extend(data.keys.iter().map(|key| Change::DropKey {
            table: data.name.clone(),
            field: key.name(program),
            bits: key.width(program),
        }));
    }
    for action in data.actions.iter().map(|a| &program.actions[*a]) {
        list.extend(action.params.last().map(|param| Change::DropParam {
            action: action.name.clone(),
            param: param.name.clone(),
            bits: param.width,
        }));
    }
    list
}

fn reads(e: &Expr, param: u16) -> bool {
    match e {
        Expr::Param(n, _) => *n == param,
        Expr::Const(..) | Expr::Field(_) => false,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => reads(inner, param),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => reads(a, param) || reads(b, param),
    }
}

fn primitive_reads(kind: &PrimitiveKind, param: u16) -> bool {
    match kind {
        PrimitiveKind::Set(_, e)
        | PrimitiveKind::SetSlice(.., e)
        | PrimitiveKind::DropCtl(_, e, _)
        | PrimitiveKind::Count(_, e) => reads(e, param),
        PrimitiveKind::SetMasked(_, a, b) => reads(a, param) || reads(b, param),
        PrimitiveKind::Register(access) => access.index.expr().is_some_and(|e| reads(e, param)),
        PrimitiveKind::Meter(access) => {
            access.index.expr().is_some_and(|e| reads(e, param))
                || access.input.as_ref().is_some_and(|e| reads(e, param))
        }
        PrimitiveKind::SetValid(..)
        | PrimitiveKind::Hash(..)
        | PrimitiveKind::CountDirect(_)
        | PrimitiveKind::Drop(_)
        | PrimitiveKind::CopyValid(..)
        | PrimitiveKind::Random(..)
        | PrimitiveKind::HashSlice(..)
        | PrimitiveKind::HashInto(..) => false,
    }
}

/// Removes the last parameter of an action, the primitives that read it, and its value wherever the action is named.
fn drop_param(p: &mut Program, action: Action) -> Option<()> {
    let data = &mut p.actions[action];
    data.params.pop()?;
    let last = data.params.len() as u16;
    data.body.retain(|primitive| !primitive_reads(&primitive.kind, last));
    for table in p.tables.values_mut() {
        let calls = table.entries.iter_mut().map(|e| &mut e.then).chain([&mut table.default]);
        calls.filter(|call| call.action == action).for_each(|call| _ = call.args.pop());
    }
    Some(())
}

/// Divides a table into two. Only if nothing depends on its result, and nothing else belongs to its entries.
fn split(p: &mut Program, table: Table, (first, second): (u32, u32)) -> Option<()> {
    let data = &p.tables[table];
    let direct = p.direct_counter(table).is_some()
        || p.registers.values().any(|r| r.home == CounterHome::Direct(table))
        || p.meters.values().any(|m| m.home == CounterHome::Direct(table));
    let whole = data.entries.is_empty() && data.profile.is_none() && data.idle.is_none();
    if direct || !whole || data.algorithmic.is_some() {
        return None;
    }
    let gress = data.gress;
    let mut rest = data.clone();
    rest.name += "_rest";
    rest.size = second;
    (rest.pin, rest.rules.pin_entries) = (None, None);
    let nothing = ActionData {
        name: format!("{}_miss", data.name),
        gress,
        params: Vec::new(),
        body: Vec::new(),
        doc: String::new(),
        loc: data.loc,
    };
    if p.table_named(&rest.name).is_some() || p.actions.values().any(|a| a.name == nothing.name) {
        return None;
    }
    let nothing = p.actions.push(nothing);
    let rest = p.tables.push(rest);
    let data = &mut p.tables[table];
    data.size = first;
    data.default.action = nothing;
    data.default.args.clear();
    let pipe = &mut p.pipes[gress.index()];
    applied(&mut pipe.control, table, rest).then_some(())
}

/// Applies `rest` where `table` misses; returns false if `table` is not applied, or something depends on its result.
fn applied(block: &mut Block, table: Table, rest: Table) -> bool {
    block.iter_mut().any(|stmt| match &mut stmt.kind {
        StmtKind::Apply(t, arms) if *t == table => {
            let free = arms.is_empty();
            if free {
                let loc: Loc = stmt.loc;
                arms.miss = vec![Stmt { kind: StmtKind::Apply(rest, ApplyArms::default()), loc }];
            }
            free
        }
        StmtKind::Apply(_, arms) => {
            let run = arms.run.iter_mut().map(|(_, block)| block);
            [&mut arms.hit, &mut arms.miss].into_iter().chain(run).any(|b| applied(b, table, rest))
        }
        StmtKind::If(_, then, otherwise) => applied(then, table, rest) || applied(otherwise, table, rest),
        StmtKind::Call(_) => false,
    })
}
