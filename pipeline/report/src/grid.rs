//! Aligned text columns.

/// Rows of cells; the first row is the heading.
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
    /// Left-aligned columns; the others are right-aligned.
    left: Vec<usize>,
}

impl Grid {
    /// Makes a grid with this heading.
    pub(super) fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>, left: &[usize]) -> Self {
        Grid { rows: vec![heading.into_iter().map(Into::into).collect()], left: left.to_vec() }
    }

    /// Adds a row.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Returns the text: two spaces between columns (one if `tight`), no spaces at line ends.
    pub(super) fn print(&self, tight: bool) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(c, cell)| {
                let width = widths[c];
                if self.left.contains(&c) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            let line = cells.collect::<Vec<_>>().join(if tight { " " } else { "  " });
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}
