//! Decision tables in a control block: each row has a condition and a cell per column.

use super::cond::{Branch, Cond, Decision, or};
use super::control::Control;
use super::draft::Builder;
use super::lines::{Line, LineKind};
use sluice_asic::gress::Gress;
use sluice_ir::Loc;
use sluice_ir::cfg::Var;
use sluice_ir::group::writes;

/// Rows of a decision table. [`rows!`](macro@super::rows) writes the calls.
#[derive(Debug)]
pub struct Rows<'b> {
    builder: &'b Builder,
    gress: Gress,
    rows: Vec<Row>,
}

/// A row: its condition, and the statements of each cell.
#[derive(Debug)]
struct Row {
    when: Cond,
    cells: Vec<Vec<Line>>,
    loc: Loc,
}

impl<'b> Rows<'b> {
    /// Adds a row, which applies if `when` holds and no row above applies. [`Cells::cell`] adds its cells.
    #[track_caller]
    pub fn row(&mut self, when: impl Branch) -> Cells<'_, 'b> {
        self.rows.push(Row { when: when.cond(), cells: Vec::new(), loc: Loc::caller() });
        Cells { rows: self }
    }

    /// Adds the last row, `_`, which applies if no row above does.
    #[track_caller]
    pub fn otherwise(&mut self) -> Cells<'_, 'b> {
        self.row(true)
    }

    /// Leaves out rows that never apply, and joins neighbouring rows with equal cells.
    fn joined(self) -> Vec<Row> {
        let mut joined: Vec<Row> = Vec::new();
        for row in self.rows {
            if joined.last().is_some_and(Row::is_last) {
                break;
            }
            match joined.last_mut() {
                _ if matches!(row.when.0, Decision::Known(false)) => {}
                Some(above) if above.cells == row.cells => above.when = or(above.when.clone(), row.when),
                _ => joined.push(row),
            }
        }
        joined
    }
}

impl Row {
    /// True if the row applies whenever no row above does.
    fn is_last(&self) -> bool {
        matches!(self.when.0, Decision::Known(true))
    }
}

/// A row that gets its cells, one per column, from left to right.
#[derive(Debug)]
pub struct Cells<'r, 'b> {
    rows: &'r mut Rows<'b>,
}

impl<'b> Cells<'_, 'b> {
    /// Adds a cell: the statements that `body` records, often one or none.
    pub fn cell(self, body: impl FnOnce(&mut Control<'b>)) -> Self {
        let mut control = Control::new(self.rows.builder, self.rows.gress);
        body(&mut control);
        if let Some(row) = self.rows.rows.last_mut() {
            row.cells.push(control.into_lines());
        }
        self
    }
}

impl<'b> Control<'b> {
    /// Adds a decision table. The first row whose condition holds applies; if none does, nothing happens. The
    /// cells of a row run from left to right.
    ///
    /// Equal cells share their accesses to registers and their actions: neighbouring rows with equal cells
    /// become one branch. A first column whose cells are equal in all rows is recorded before the branch.
    pub fn rows(&mut self, rows: impl FnOnce(&mut Rows<'b>)) {
        let (builder, gress) = self.context();
        let mut table = Rows { builder, gress, rows: Vec::new() };
        rows(&mut table);
        let lines = self.branches(table.joined());
        self.extend(lines);
    }

    /// Returns the rows as nested branches.
    fn branches(&self, mut rows: Vec<Row>) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(cell) = self.common_cell(&rows) {
            lines.extend(cell);
            rows.iter_mut().for_each(|row| drop(row.cells.remove(0)));
        }
        let mut rows = rows.into_iter();
        let Some(Row { when, cells, loc }) = rows.next() else { return lines };
        let cells = cells.into_iter().flatten();
        match when.0 {
            Decision::Known(_) => lines.extend(cells),
            Decision::Packet(cond) => {
                let kind = LineKind::If(cond, cells.collect(), self.branches(rows.collect()));
                lines.push(Line { kind, loc });
            }
            Decision::Element(_) => self.refuse_element(loc),
        }
        lines
    }

    /// Returns the first cell of all rows if it is the same in each, one row always applies, and no condition
    /// reads what the cell writes.
    fn common_cell(&self, rows: &[Row]) -> Option<Vec<Line>> {
        let cell = rows.first()?.cells.first()?;
        let same = rows.iter().all(|row| row.cells.first() == Some(cell));
        if !same || !rows.last().is_some_and(Row::is_last) {
            return None;
        }
        let (builder, gress) = self.context();
        let program = &builder.draft().program;
        let read = |var: &Var| rows.iter().any(|row| row.when.reads(*var));
        let harmless = |line: &Line| match &line.kind {
            LineKind::Primitive(kind) => !writes(program, gress, kind).iter().any(read),
            LineKind::If(..) | LineKind::Apply(..) | LineKind::Call(_) => false,
        };
        cell.iter().all(harmless).then(|| cell.clone())
    }
}

/// A decision table, in the data-plane code of a [`stage_program`](macro@super::stage_program).
///
/// The first line lists the fields that the columns assign. Each row has a condition and a cell per column; the
/// first row whose condition holds applies. `_` as a field: the column's cells are steps, such as an access to a
/// register whose result is not used. `_` as a cell: nothing. `_` as the last row's condition: all other packets.
///
/// ```
/// # use sluice_build::*;
/// # #[derive(Header)]
/// # pub struct Meta { pub row: Bits<16>, pub late: Bits<1>, pub fresh: Bits<1>, pub path: Bits<8>, pub good: Bits<8> }
/// #[stage_program]
/// fn choose(ig: &GressBuilder<'_>) {
///     let m = ig.metadata::<Meta>();
///     let mark = ig.counter(1, CounterKind::Packets);
///     /// Path in use
///     let path = ig.register::<8>(4096);
///     ig.control(|c| {
///         rows! {
///                                       (m.path,                    _);
///             m.late == 1            => (path.write(m.row, m.good), mark.count(0));
///             m.fresh == 1           => (path.write(m.row, m.good), mark.count(0));
///             _                      => (path.read(m.row),          _);
///         }
///     });
/// }
/// # let b = Builder::new("rows", "Chooses a path");
/// # choose(&b.ingress());
/// ```
///
/// [`Control::rows`] is the same in plain Rust; it describes how equal cells are joined.
#[doc(inline)]
pub use crate::__rows as rows;

#[doc(hidden)]
#[macro_export]
macro_rules! __rows {
    ($($any:tt)*) => {
        ::core::compile_error!(
            "`rows!` is data-plane code: write it in a closure of a `#[stage_program]` function, or call `c.rows(..)`"
        )
    };
}
