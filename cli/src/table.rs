//! Aligned tables as text.

use comfy_table::{CellAlignment, Table, presets};

/// Returns a table without borders. The first column and columns with words are aligned left, numbers right.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let number = |cell: &String| cell.chars().next().is_none_or(|c| !c.is_alphabetic() && c != '[');
    let words: Vec<bool> =
        (0..header.len()).map(|i| rows.iter().filter_map(|r| r.get(i)).any(|c| !number(c))).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        let left = column.index == 0 || words.get(column.index).copied().unwrap_or(false);
        column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
    }
    let text: Vec<String> = table.lines().map(|l| format!("  {}", l.trim_end())).collect();
    text.join("\n")
}
