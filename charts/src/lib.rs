//! Charts, diagrams and the frame of HTML pages, for every crate that draws.
//!
//! Each drawing is a value: the caller fills it with plain numbers, names and colours, and gets text. SVG of [`LineChart`],
//! [`Sequence`], [`Graph`] and [`Waterfall`] is complete as a file; the last three also render inside a page. A [`Page`] needs
//! no network; its script searches, and with [`ZOOM`] zooms its plots. Without scripts it is complete.
//!
//! This crate knows nothing of switches, packets or reports, opens no files, and prints nothing.
//!
//! | module | drawing |
//! |---|---|
//! | `line` | lines, points and steps over one axis; drawn by feature `line-charts` |
//! | `sequence` | messages between lifelines over time |
//! | `graph` | boxes in columns, with curves between them |
//! | `waterfall` | bars one below the other on an axis from 0 |
//! | `heat` | a table whose cells are shaded by their share |
//! | `table` | a table of text |
//! | `inline` | legends, and bars in the cells of a table |
//! | `plot` | lines of a page, with a script that zooms them |
//! | `page` | head, style sheet and sections of a page |

mod graph;
mod heat;
mod inline;
mod line;
mod page;
mod palette;
mod plot;
mod sequence;
mod table;
mod waterfall;

pub use graph::{Edge, Graph, Node};
pub use heat::{HeatCell, HeatMap, HeatRow};
pub use inline::{legend, range, share_bar};
pub use line::{DrawError, LineChart, Series, Style};
pub use page::Page;
pub use palette::Colour;
pub use plot::{Plot, PlotLine, PlotStyle, Shade, ZOOM, cumulative, thinned};
pub use sequence::{Activity, Arrow, Dot, Note, Sequence, Side};
pub use table::Table;
pub use waterfall::{Bar, Waterfall};

/// Fonts of all drawings and pages.
const FONT: &str = "system-ui,sans-serif";

/// Returns a drawing of a page as the text of a file: with SVG's name space, and an element in a line.
fn file(drawing: &maud::Markup) -> String {
    let mut text = drawing.0.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    // Letters of names are escaped, so this finds only elements.
    for element in ["line", "text", "rect", "path", "circle"] {
        text = text.replace(&format!("><{element}"), &format!(">\n<{element}"));
    }
    text + "\n"
}
