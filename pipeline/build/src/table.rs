//! Match-action tables and their constant entries.

use super::draft::{Builder, Name, Unattached};
use super::gress::GressBuilder;
use super::handles::{ActionRef, DirectCounterRef, MeterRef, PairRef, ProfileRef, RegisterRef, TableRef};
use super::value::Constant;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{
    self as ir, ActionCall, Algorithmic, ConstEntry, Field, IdleTimeout, Key, KeySource, KeyValue, Loc,
    MatchKind, TableData, TableRules,
};

fn key(what: impl Into<KeySource>, kind: MatchKind) -> Key {
    Key { what: what.into(), mask: None, kind }
}

/// Returns an exact key: all bits must be equal. What is compared is a field, a slice of one
/// ([`part`](super::Bits::part)) or the validity of a header ([`validity`](super::Hdr::validity)); a mask
/// ([`Key::under`]) leaves bits out.
pub fn exact(what: impl Into<KeySource>) -> Key {
    key(what, MatchKind::Exact)
}

/// Returns a ternary key: compared under a mask.
pub fn ternary(what: impl Into<KeySource>) -> Key {
    key(what, MatchKind::Ternary)
}

/// Returns a longest-prefix-match key; at most one per table.
pub fn lpm(what: impl Into<KeySource>) -> Key {
    key(what, MatchKind::Lpm)
}

/// Returns a range key: compared with a lower and an upper bound; at most 20 bits (model: chip §3.2).
pub fn range(what: impl Into<KeySource>) -> Key {
    key(what, MatchKind::Range)
}

impl<'b> GressBuilder<'b> {
    /// Declares a table with these keys. `[]` makes a keyless table, which always runs its default action.
    #[track_caller]
    pub fn table<const K: usize>(&self, keys: [Key; K]) -> TableBuilder<'b, K> {
        let loc = Loc::caller();
        TableBuilder {
            gress: *self,
            name: self.builder.take_name("table", loc),
            keys,
            actions: Vec::new(),
            default: None,
            size: None,
            rows: Vec::new(),
            profile: None,
            arrays: Vec::new(),
            pin: None,
            idle: None,
            algorithmic: None,
            loc,
        }
    }
}

/// A table with `K` keys under construction; [`TableBuilder::build`] declares it.
#[must_use = "the table is declared by `.build()`"]
#[derive(Debug)]
pub struct TableBuilder<'b, const K: usize> {
    gress: GressBuilder<'b>,
    name: Name,
    keys: [Key; K],
    actions: Vec<ir::Action>,
    default: Option<ActionCall>,
    size: Option<u32>,
    rows: Vec<Row<K>>,
    profile: Option<ir::Profile>,
    /// Direct arrays attached to the table.
    arrays: Vec<Unattached>,
    pin: Option<u8>,
    idle: Option<IdleTimeout>,
    algorithmic: Option<Algorithmic>,
    loc: Loc,
}

impl<const K: usize> TableBuilder<'_, K> {
    /// Sets the actions that entries may name; with a profile, the actions that its members may name.
    pub fn actions<const N: usize>(mut self, actions: [ActionRef; N]) -> Self {
        self.actions.extend(actions.map(|a| a.0));
        self
    }

    /// Sets the default action, which runs on a miss. Without it, a miss runs P4's `NoAction`.
    pub fn default(mut self, action: ActionRef) -> Self {
        self.default = Some(ActionCall { action: action.0, args: Vec::new() });
        self
    }

    /// Sets the default action and the values of its parameters.
    pub fn default_with<const N: usize>(mut self, action: ActionRef, args: [impl Constant; N]) -> Self {
        self.default = Some(ActionCall { action: action.0, args: args.map(Constant::value).to_vec() });
        self
    }

    /// Sets the number of entries that the table must hold.
    pub fn size(mut self, entries: u32) -> Self {
        self.size = Some(entries);
        self
    }

    /// Pins the first stage of the table.
    pub fn stage(mut self, stage: u8) -> Self {
        self.pin = Some(stage);
        self
    }

    /// Enables ageing of entries: [`IdleTimeout::notify`] or [`IdleTimeout::poll`].
    pub fn idle(mut self, idle: IdleTimeout) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Implements the table as ALPM: prefixes are in this many SRAM partitions, selected by a small TCAM.
    pub fn alpm(mut self, partitions: u32) -> Self {
        self.algorithmic = Some(Algorithmic::Alpm { partitions, subtrees: 2 });
        self
    }

    /// Implements the table as ATCAM: entries are in SRAM instead of TCAM. `partition`, an exact key less
    /// than `partitions`, selects the SRAM partition.
    pub fn atcam(mut self, partition: impl Into<Field>, partitions: u32) -> Self {
        self.algorithmic = Some(Algorithmic::Atcam { partition: partition.into(), partitions });
        self
    }

    /// Makes entries name a member or group of this profile instead of an action.
    pub fn profile(mut self, profile: ProfileRef) -> Self {
        self.profile = Some(profile.0);
        self
    }

    /// Attaches a direct counter: one cell per entry, counted by the actions of the table.
    pub fn counter(mut self, counter: DirectCounterRef) -> Self {
        self.arrays.push(Unattached::Counter(counter.0));
        self
    }

    /// Attaches a direct register, declared with [`per_entry`](super::per_entry): one element per entry.
    pub fn register(mut self, register: impl RegisterHandle) -> Self {
        self.arrays.push(Unattached::Register(register.handle()));
        self
    }

    /// Attaches a direct meter, declared with [`meter_per_entry`](super::meter_per_entry): one cell per
    /// entry.
    pub fn meter(mut self, meter: MeterRef) -> Self {
        self.arrays.push(Unattached::Meter(meter.0));
        self
    }

    /// Sets constant entries, written with [`entries!`](super::entries); the first match wins. Without
    /// [`TableBuilder::size`], the table has as many entries as rows.
    pub fn entries<const N: usize>(mut self, rows: [Row<K>; N]) -> Self {
        self.rows.extend(rows);
        self
    }

    /// Declares the table.
    pub fn build(self) -> TableRef {
        let (gress, builder, loc) = (self.gress, self.gress.builder, self.loc);
        let default =
            self.default.unwrap_or_else(|| ActionCall { action: gress.no_action(loc), args: Vec::new() });
        let name = self.name.unique(|n| builder.draft().program.table_named(n).is_some());
        let size = self.size.unwrap_or(self.rows.len() as u32);
        if K > 0 && size == 0 {
            builder.draft().diags.push(
                Diag::error(loc, format!("table `{name}` has no size"))
                    .help("set the number of entries: `.size(n)`"),
            );
        }
        let entries = self.rows.into_iter().map(|row| row.lower(builder, &name, &self.keys)).collect();
        let mut draft = builder.draft();
        let table = draft.program.tables.push(TableData {
            name,
            gress: gress.gress,
            keys: self.keys.to_vec(),
            actions: self.actions,
            default,
            constant_default: false,
            size,
            entries,
            profile: self.profile,
            pin: self.pin,
            idle: self.idle,
            algorithmic: self.algorithmic,
            rules: TableRules::default(),
            doc: self.name.doc,
            loc,
        });
        drop(draft);
        for array in self.arrays {
            attach(builder, array, table);
        }
        TableRef(table)
    }
}

/// Attaches a direct array to the table that was just declared.
fn attach(builder: &Builder, array: Unattached, table: ir::Table) {
    let mut draft = builder.draft();
    match draft.unattached.iter().position(|&c| c == array) {
        Some(at) => {
            draft.unattached.remove(at);
            array.settle(&mut draft.program, table);
        }
        None => {
            let data = &draft.program.tables[table];
            let (word, name, _) = array.who(&draft.program);
            let text = format!(
                "direct {word} `{name}` of table `{}` is already attached to another table",
                data.name
            );
            let help = format!("a direct {word} belongs to one table; declare a {word} for each table");
            let diag = Diag::error(data.loc, text).help(help);
            draft.diags.push(diag);
        }
    }
}

/// A register of single elements or of pairs.
pub trait RegisterHandle {
    /// Returns the register in the program.
    fn handle(self) -> ir::Register;
}

impl<const W: u16> RegisterHandle for RegisterRef<W> {
    fn handle(self) -> ir::Register {
        self.0
    }
}

impl<const W: u16> RegisterHandle for PairRef<W> {
    fn handle(self) -> ir::Register {
        self.0
    }
}

/// One column of a constant entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// `_`: matches any value.
    Any,
    /// `value`: all bits must be equal.
    Value(u128),
    /// `value &&& mask`: the bits where the mask has ones must be equal.
    Masked(u128, u128),
    /// `value / length`: the first `length` bits must be equal.
    Prefix(u128, u16),
    /// `low .. high`: not below `low` and not above `high`.
    Between(u128, u128),
}

/// A constant entry of a table with `K` keys.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<const K: usize> {
    key: [Cell; K],
    then: ActionCall,
    loc: Loc,
}

impl<const K: usize> Row<K> {
    /// Makes an entry. [`entries!`](super::entries) writes this call.
    #[track_caller]
    #[must_use]
    pub fn new(key: [Cell; K], action: ActionRef, args: Vec<u128>) -> Row<K> {
        Row { key, then: ActionCall { action: action.0, args }, loc: Loc::caller() }
    }

    fn lower(self, builder: &Builder, table: &str, columns: &[Key; K]) -> ConstEntry {
        let key = self.key.iter().zip(columns).map(|(cell, column)| {
            let mut guard = builder.draft();
            let draft = &mut *guard;
            // A key of another builder has no name here; the verifier refuses it.
            let known = match column.var() {
                Var::Field(f) => draft.program.fields.get(f).is_some(),
                Var::Valid(h) => draft.program.headers.get(h).is_some(),
            };
            let (name, width) = match known {
                true => (column.name(&draft.program), column.width(&draft.program)),
                false => ("?".to_owned(), 128),
            };
            let lowered = lower_cell(*cell, column.kind, width);
            lowered.unwrap_or_else(|why| {
                let text =
                    format!("an entry of table `{table}` does not fit key `{name}` ({width} bits): {why}");
                draft.diags.push(Diag::error(self.loc, text));
                KeyValue::Exact(0)
            })
        });
        ConstEntry { key: key.collect(), then: self.then }
    }
}

fn lower_cell(cell: Cell, kind: MatchKind, width: u16) -> Result<KeyValue, String> {
    let ones = u128::MAX.checked_shr(u32::from(128u16.saturating_sub(width))).unwrap_or(0);
    let (Cell::Value(wide) | Cell::Masked(wide, _) | Cell::Prefix(wide, _) | Cell::Between(_, wide)) = cell
    else {
        return match kind {
            MatchKind::Exact => {
                Err("`_` needs a ternary, lpm or range key, but this key is exact".to_owned())
            }
            MatchKind::Ternary => Ok(KeyValue::Ternary { value: 0, mask: 0 }),
            MatchKind::Lpm => Ok(KeyValue::Lpm { value: 0, len: 0 }),
            MatchKind::Range => Ok(KeyValue::Range { lo: 0, hi: ones }),
        };
    };
    if wide > ones {
        return Err(format!("value {wide:#x} is larger than the largest, {ones:#x}"));
    }
    match (cell, kind) {
        (Cell::Value(value), MatchKind::Exact) => Ok(KeyValue::Exact(value)),
        (Cell::Value(value), MatchKind::Ternary) => Ok(KeyValue::Ternary { value, mask: ones }),
        (Cell::Value(value), MatchKind::Lpm) => Ok(KeyValue::Lpm { value, len: width }),
        (Cell::Masked(_, mask), MatchKind::Ternary) if mask > ones => {
            Err(format!("mask {mask:#x} is larger than the largest, {ones:#x}"))
        }
        (Cell::Masked(value, mask), MatchKind::Ternary) => {
            Ok(KeyValue::Ternary { value: value & mask, mask })
        }
        (Cell::Prefix(_, len), MatchKind::Lpm) if len > width => {
            Err(format!("prefix length {len} is larger than the key"))
        }
        (Cell::Prefix(value, len), MatchKind::Lpm) => {
            let mask = ones & !ones.checked_shr(len.into()).unwrap_or(0);
            Ok(KeyValue::Lpm { value: value & mask, len })
        }
        (Cell::Value(value), MatchKind::Range) => Ok(KeyValue::Range { lo: value, hi: value }),
        (Cell::Between(lo, hi), MatchKind::Range) if lo > hi => {
            Err(format!("range {lo:#x} .. {hi:#x} is empty; write the lower bound first"))
        }
        (Cell::Between(lo, hi), MatchKind::Range) => Ok(KeyValue::Range { lo, hi }),
        (Cell::Between(..), _) => Err("`low .. high` needs a range key".to_owned()),
        (Cell::Masked(..), _) => Err("`value &&& mask` needs a ternary key".to_owned()),
        _ => Err("`value / length` needs an lpm key".to_owned()),
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __entries {
    ($(
        ($($value:tt $(&&& $mask:tt)? $(/ $len:tt)? $(.. $high:tt)?),* $(,)?) => $action:ident $(($($arg:expr),* $(,)?))?
    ),* $(,)?) => {
        [$($crate::Row::new(
            [$($crate::__cell!($value $(&&& $mask)? $(/ $len)? $(.. $high)?)),*],
            $action,
            ::std::vec![$($($crate::Constant::value($arg)),*)?],
        )),*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __cell {
    (_) => {
        $crate::Cell::Any
    };
    ($value:tt) => {
        $crate::Cell::Value($crate::Constant::value($value))
    };
    ($value:tt &&& $mask:tt) => {
        $crate::Cell::Masked($crate::Constant::value($value), $crate::Constant::value($mask))
    };
    ($value:tt / $len:tt) => {
        $crate::Cell::Prefix($crate::Constant::value($value), $len)
    };
    ($value:tt .. $high:tt) => {
        $crate::Cell::Between($crate::Constant::value($value), $crate::Constant::value($high))
    };
}

/// Constant entries for [`TableBuilder::entries`]: one line per entry, a column per key.
///
/// ```
/// # use sluice_build::{Cell, entries, Builder};
/// # let b = Builder::new("doc", "");
/// # let [hot, cold] = ["hot", "cold"].map(|n| b.ingress().named(n, "").action(|_| {}));
/// const LIMIT: u64 = 0x10;
/// let rows = entries![
///     (1, 3 &&& 0x7, 0x0a00_0000 / 8) => hot(7, LIMIT),
///     (0, _, _) => cold,
/// ];
/// # let _ = rows;
/// ```
///
/// A column is `value`, `value &&& mask` (ternary), `value / length` (lpm), `low .. high` (range, both
/// included) or `_` (any key but exact). A value is a literal, a name, or an expression in parentheses.
#[doc(inline)]
pub use crate::__entries as entries;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_what_their_column_compares() {
        use MatchKind::{Exact, Lpm, Ternary};
        assert_eq!(lower_cell(Cell::Value(7), Exact, 3), Ok(KeyValue::Exact(7)));
        assert_eq!(lower_cell(Cell::Value(5), Ternary, 3), Ok(KeyValue::Ternary { value: 5, mask: 7 }));
        assert_eq!(lower_cell(Cell::Any, Ternary, 3), Ok(KeyValue::Ternary { value: 0, mask: 0 }));
        assert_eq!(lower_cell(Cell::Masked(7, 2), Ternary, 3), Ok(KeyValue::Ternary { value: 2, mask: 2 }));
        assert_eq!(
            lower_cell(Cell::Value(u128::MAX), Lpm, 128),
            Ok(KeyValue::Lpm { value: u128::MAX, len: 128 })
        );
        let net = Cell::Prefix(0x0a01_0203, 8);
        assert_eq!(lower_cell(net, Lpm, 32), Ok(KeyValue::Lpm { value: 0x0a00_0000, len: 8 }));
        assert_eq!(lower_cell(Cell::Prefix(u128::MAX, 0), Lpm, 128), Ok(KeyValue::Lpm { value: 0, len: 0 }));
        assert_eq!(lower_cell(Cell::Prefix(1, 128), Lpm, 128), Ok(KeyValue::Lpm { value: 1, len: 128 }));
        let range = |lo, hi| Ok(KeyValue::Range { lo, hi });
        assert_eq!(lower_cell(Cell::Between(2, 5), MatchKind::Range, 3), range(2, 5));
        assert_eq!(lower_cell(Cell::Value(2), MatchKind::Range, 3), range(2, 2));
        assert_eq!(lower_cell(Cell::Any, MatchKind::Range, 3), range(0, 7));
    }

    #[test]
    fn cells_that_a_column_cannot_compare_are_refused() {
        use MatchKind::{Exact, Lpm, Ternary};
        for (cell, kind) in [
            (Cell::Any, Exact),
            (Cell::Value(8), Exact),
            (Cell::Masked(1, 1), Exact),
            (Cell::Masked(1, 1), Lpm),
            (Cell::Masked(1, 8), Ternary),
            (Cell::Prefix(1, 1), Ternary),
            (Cell::Prefix(1, 4), Lpm),
            (Cell::Between(1, 2), Exact),
            (Cell::Between(2, 1), MatchKind::Range),
            (Cell::Between(2, 8), MatchKind::Range),
            (Cell::Masked(2, 2), MatchKind::Range),
        ] {
            assert!(lower_cell(cell, kind, 3).is_err(), "{cell:?} in a {kind:?} column");
        }
    }
}
