//! Heat maps: tables whose cells are shaded by their share.

use maud::{Markup, Render, html};

/// A cell of a heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatCell {
    /// The text in the cell.
    pub text: String,
    /// The cell's shade, from 0 to 1.
    pub share: f64,
    /// Lines that a pointer or the keyboard opens; the first one is the heading. Empty: nothing opens.
    pub details: Vec<String>,
}

/// A row of a heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatRow {
    /// The row's name.
    pub head: String,
    /// A short remark after the name.
    pub remark: String,
    /// Cells, one for each column.
    pub cells: Vec<HeatCell>,
    /// True if the row is a sum of other rows.
    pub sum: bool,
}

/// A heat map. It renders inside a [`Page`](crate::Page), which has its style.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Headings of the rows' names and of their remarks.
    pub corner: [String; 2],
    /// Names of the columns, which run upwards.
    pub columns: Vec<String>,
    /// Rows from top to bottom.
    pub rows: Vec<HeatRow>,
}

impl From<String> for HeatCell {
    /// Returns a cell without shade and details.
    fn from(text: String) -> HeatCell {
        HeatCell { text, ..HeatCell::default() }
    }
}

impl Render for HeatCell {
    fn render(&self) -> Markup {
        let style = format!("--v:{:.4}", self.share.clamp(0.0, 1.0));
        let dark = (self.share > 0.91).then_some("dark");
        let [heading, lines @ ..] = self.details.as_slice() else {
            return html! { td class=[dark] style=(style) { (self.text) } };
        };
        html! {
            td class=[dark] tabindex="0" style=(style) {
                (self.text)
                div.pop {
                    b { (heading) }
                    @for line in lines { br; (line) }
                }
            }
        }
    }
}

impl Render for HeatMap {
    fn render(&self) -> Markup {
        html! {
            div.wide { table.heat {
                thead { tr {
                    @for head in &self.corner { th { (head) } }
                    @for column in &self.columns { th { span { (column) } } }
                } }
                tbody {
                    @for row in &self.rows {
                        tr class=[row.sum.then_some("sum")] {
                            th { (row.head) } td style="--v:0" { (row.remark) }
                            @for cell in &row.cells { (cell) }
                        }
                    }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shaded_and_open() {
        let full = HeatCell {
            text: "9".to_owned(),
            share: 0.95,
            details: vec!["SRAM".to_owned(), "t: 9".to_owned()],
        };
        let row =
            HeatRow { head: "0".to_owned(), cells: vec![full, "".to_owned().into()], ..HeatRow::default() };
        let map = HeatMap {
            columns: vec!["SRAM".to_owned(), "TCAM".to_owned()],
            rows: vec![row],
            ..HeatMap::default()
        };
        let html = map.render().into_string();
        assert!(html.contains("<td class=\"dark\" tabindex=\"0\" style=\"--v:0.9500\">9<div class=\"pop\"><b>SRAM</b><br>t: 9</div></td>"), "{html}");
        assert!(html.contains("<td style=\"--v:0.0000\"></td>"), "{html}");
    }
}
