//! Aligned tables as text.

use crate::console::terminal;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A function that lays out a table: [`table`] or [`wide`].
pub(crate) type Layout = fn(&[&str], Vec<Vec<String>>) -> String;

/// Columns of a table: the heading of each, and the function that returns the cell of a row.
pub(crate) type Columns<T> = [(&'static str, fn(&T) -> String)];

/// Returns the headings of the columns.
pub(crate) fn headings<T>(columns: &Columns<T>) -> Vec<&'static str> {
    columns.iter().map(|(heading, _)| *heading).collect()
}

/// Returns the cells of a row.
pub(crate) fn cells<T>(columns: &Columns<T>, row: &T) -> Vec<String> {
    columns.iter().map(|(_, cell)| cell(row)).collect()
}

/// Returns the table with these columns, laid out by `layout`.
pub(crate) fn of_columns<'r, T: 'r>(
    layout: Layout,
    columns: &Columns<T>,
    rows: impl IntoIterator<Item = &'r T>,
) -> String {
    layout(&headings(columns), rows.into_iter().map(|row| cells(columns, row)).collect())
}

/// Returns a table without borders. The first column and columns with words are aligned left, numbers right. On a terminal, cells
/// are broken so that the table is not wider than the terminal.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    within(terminal::width(), header, rows)
}

/// Returns the table for a file, however wide it is.
pub(crate) fn wide(header: &[&str], rows: Vec<Vec<String>>) -> String {
    within(None, header, rows)
}

fn within(width: Option<usize>, header: &[&str], rows: Vec<Vec<String>>) -> String {
    let number = |cell: &String| cell.chars().next().is_none_or(|c| !c.is_alphabetic() && c != '[');
    let words: Vec<bool> =
        (0..header.len()).map(|i| rows.iter().filter_map(|r| r.get(i)).any(|c| !number(c))).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    if let Some(width) = width.and_then(|width| u16::try_from(width.saturating_sub(MARGIN)).ok()) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
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

/// Blanks in front of each line.
const MARGIN: usize = 2;

#[cfg(test)]
mod tests {
    use super::{wide, within};

    #[test]
    fn a_table_fits_the_terminal() {
        let rows =
            || vec![vec!["a".to_owned(), "some words that are long and break".to_owned(), "17".to_owned()]];
        let head = ["NAME", "MEANING", "N"];
        let narrow = within(Some(30), &head, rows());
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
        assert!(narrow.lines().count() > 2 && narrow.contains("17"), "{narrow}");
        assert_eq!(within(Some(200), &head, rows()), wide(&head, rows()));
        assert_eq!(wide(&head, rows()).lines().count(), 2);
    }
}
