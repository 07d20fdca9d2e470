//! Small drawings within the text of a page.

use crate::palette::Colour;
use maud::{Markup, html};

/// Draws the names of colours, each after a sample of its colour.
#[must_use]
pub fn legend(entries: &[(Colour, &str)]) -> Markup {
    html! {
        p.legend {
            @for (colour, name) in entries {
                span { i style=(format!("background:{colour}")) {} (name) } " "
            }
        }
    }
}

/// Draws a bar of 200 pixels times `share`, which is from 0 to 1.
#[must_use]
pub fn share_bar(share: f64) -> Markup {
    html! { span.bar style=(format!("width:{:.0}px", 200.0 * share.clamp(0.0, 1.0))) {} }
}

/// Draws a bar from column `first` to column `last` on a line of `columns`. Screen readers read `label` in its place.
#[must_use]
pub fn range(first: usize, last: usize, columns: usize, colour: Colour, label: &str) -> Markup {
    const COLUMN: usize = 8;
    let length = (last + 1).saturating_sub(first);
    html! {
        svg width=(COLUMN * columns) height="10" role="img" aria-label=(label) {
            line x1="0" y1="5" x2=(COLUMN * columns) y2="5" stroke=(Colour::GRID) {}
            rect x=(COLUMN * first) y="2" width=(COLUMN * length) height="6" fill=(colour) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_drawings_are_to_scale() {
        assert_eq!(share_bar(0.25).into_string(), "<span class=\"bar\" style=\"width:50px\"></span>");
        let range = range(2, 3, 20, Colour::BLUE, "stages 2 to 3").into_string();
        assert!(range.contains("x=\"16\" y=\"2\" width=\"16\""), "{range}");
        let legend = legend(&[(Colour::RED, "a & b")]).into_string();
        assert!(legend.contains("background:#b02a37") && legend.contains("a &amp; b"), "{legend}");
    }
}
