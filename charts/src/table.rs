//! Tables of a page.

use maud::{Markup, Render, html};

/// Most rows of a table; a page with more of them is too long to read.
const ROWS: usize = 400;

/// A table whose cells are text. The first column, and columns with words, are aligned left, numbers right. Of more than
/// 400 rows, the first ones are shown, and a line below says how many are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Headings of the columns.
    pub header: Vec<String>,
    /// Rows, with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without rows.
    #[must_use]
    pub fn new(header: &[&str]) -> Table {
        Table { header: header.iter().map(|h| (*h).to_owned()).collect(), rows: Vec::new() }
    }

    /// Returns the table with these rows.
    #[must_use]
    pub fn rows(self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        Table { rows: rows.into_iter().collect(), ..self }
    }

    /// Returns for each column whether it is aligned left.
    fn left(&self) -> Vec<bool> {
        let is_word = |cell: &String| {
            cell.chars().any(char::is_alphabetic) && !cell.starts_with(|c: char| c.is_ascii_digit())
        };
        let words = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).any(is_word);
        (0..self.header.len()).map(|column| column == 0 || words(column)).collect()
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        let left = self.left();
        let is_left = |column: usize| left.get(column).copied().unwrap_or(false).then_some("l");
        html! {
            div.wide { table {
                thead { tr { @for (column, head) in self.header.iter().enumerate() { th class=[is_left(column)] { (head) } } } }
                tbody {
                    @for row in self.rows.iter().take(ROWS) {
                        tr { @for (column, cell) in row.iter().enumerate() { td class=[is_left(column)] { (cell) } } }
                    }
                }
            } }
            @if let Some(rest @ 1..) = self.rows.len().checked_sub(ROWS) { p.note { "and " (rest) " rows more" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_and_long_tables_are_cut() {
        let row = |n: usize| {
            vec![n.to_string(), format!("{n} ns"), if n == 3 { "x<y".to_owned() } else { "1".to_owned() }]
        };
        let html = Table::new(&["port", "time", "name"]).rows((0..402).map(row)).render().into_string();
        assert!(html.contains("<td class=\"l\">3</td><td>3 ns</td><td class=\"l\">x&lt;y</td>"), "{html}");
        assert_eq!(html.matches("<tr>").count(), 401);
        assert!(html.contains("and 2 rows more"), "{html}");
        let empty = Table::new(&["a"]).render().into_string();
        assert!(empty.contains("<th class=\"l\">a</th>") && !empty.contains("more"), "{empty}");
    }
}
