//! Rows of a benchmark, for both instruments.

use std::cell::LazyCell;
use std::rc::Rc;

/// Workload that is measured, in time or in instructions.
pub struct Row {
    /// Row to compare with: the first row of the same group.
    pub group: String,
    /// Name within the group.
    pub name: String,
    /// True if a run takes more than one thread, of which an instruction counter sees one.
    pub parallel: bool,
    prepare: Box<dyn Fn() -> Box<dyn FnMut() -> u64>>,
}

impl Row {
    pub(crate) fn new(
        group: &str,
        name: impl Into<String>,
        prepare: impl Fn() -> Box<dyn FnMut() -> u64> + 'static,
    ) -> Row {
        Row { group: group.to_owned(), name: name.into(), parallel: false, prepare: Box::new(prepare) }
    }

    /// Marks whether a run takes more than one thread.
    pub(crate) fn parallel(self, parallel: bool) -> Row {
        Row { parallel, ..self }
    }

    /// Returns group and name, as filters see them.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// Sets up one run; the set-up is not measured. The caller passes the returned closure to [`measured`], once.
    #[must_use]
    pub fn prepare(&self) -> Box<dyn FnMut() -> u64> {
        (self.prepare)()
    }
}

/// Runs a prepared row. Returns the number of processed packets, flows or programs. Never inlined, so that an instruction
/// counter can count this function alone.
#[inline(never)]
pub fn measured(run: &mut dyn FnMut() -> u64) -> u64 {
    run()
}

/// A workload that is made when the first row needs it.
pub(crate) type Shared<T> = Rc<LazyCell<T, Box<dyn FnOnce() -> T>>>;

pub(crate) fn lazy<T>(make: impl FnOnce() -> T + 'static) -> Shared<T> {
    Rc::new(LazyCell::new(Box::new(make)))
}

/// Prints a number per row, with its ratio and difference to the first row of the group.
pub struct Table {
    what: &'static str,
    /// Group, and the number of its first row.
    first: Option<(String, f64)>,
}

impl Table {
    /// Returns a table of numbers; `what` is the heading of their column.
    #[must_use]
    pub fn new(what: &'static str) -> Table {
        Table { what, first: None }
    }

    /// Prints the next row.
    pub fn row(&mut self, row: &Row, number: f64) {
        let first = match &self.first {
            Some((group, first)) if *group == row.group => *first,
            _ => {
                println!("\n{:<48} {:>14} {:>9} {:>11}", row.group, self.what, "x first", "+ to first");
                self.first = Some((row.group.clone(), number));
                number
            }
        };
        println!("{:<48} {number:>14.1} {:>9.2} {:>11.1}", row.name, number / first, number - first);
    }
}
