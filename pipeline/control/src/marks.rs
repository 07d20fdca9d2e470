//! Marking tables: the entries by which a program marks packets itself.
//!
//! A *marking table* is a table with an action whose only parameter is `mark_probability`. Its entries say with which
//! probability egress sets the ECN field of a packet to CE. A device whose buffer profile has ECN curves marks too, so the
//! default entries of marking tables are left out there: the thresholds of the profile count, as for every other program, and
//! a packet is not marked by two curves.

use sluice_ir::{Program, Table};

/// Name of the parameter of a marking table's action.
const PARAM: &str = "mark_probability";

/// Returns true if entries of the table decide which packets the program marks.
#[must_use]
pub fn is_marking_table(program: &Program, table: Table) -> bool {
    program.tables[table].actions.iter().any(|action| {
        let params = program.actions[*action].params.iter();
        params.map(|param| param.name.as_str()).eq([PARAM])
    })
}
