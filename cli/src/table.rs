//! Plain aligned tables for people. What may not live here: what stands in them.

use comfy_table::{CellAlignment, Table, presets};

/// A table without borders: the first column to the left, the others to the right.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        let right = if column.index == 0 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(right);
    }
    let text: Vec<String> = table.lines().map(|l| format!("  {}", l.trim_end())).collect();
    text.join("\n")
}
