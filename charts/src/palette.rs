//! Colours of all drawings.

use std::fmt;

/// A colour: red, green and blue, each from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Blue of lines and letters.
    pub const BLUE: Colour = Colour(43, 108, 176);
    /// Orange of lines and letters.
    pub const ORANGE: Colour = Colour(183, 96, 43);
    /// Green of lines and letters.
    pub const GREEN: Colour = Colour(47, 133, 90);
    /// Red of lines and letters.
    pub const RED: Colour = Colour(176, 42, 55);
    /// Purple of lines and letters.
    pub const PURPLE: Colour = Colour(110, 74, 158);
    /// The colour of text.
    pub const BLACK: Colour = Colour(27, 31, 36);
    /// Teal of lines and letters.
    pub const TEAL: Colour = Colour(24, 137, 150);
    /// Grey of lines and letters.
    pub const GREY: Colour = Colour(120, 120, 120);
    /// Brown of letters.
    pub const BROWN: Colour = Colour(141, 91, 0);
    /// Amber of filled areas.
    pub const AMBER: Colour = Colour(240, 180, 41);
    /// Dark slate of filled areas.
    pub const STEEL: Colour = Colour(107, 122, 144);
    /// Slate of frames and of lines that matter less.
    pub const SLATE: Colour = Colour(136, 147, 164);
    /// Light slate of thin lines and filled areas.
    pub const SILVER: Colour = Colour(160, 174, 192);
    /// Light blue of filled areas.
    pub const LIGHT_BLUE: Colour = Colour(230, 239, 250);
    /// Light orange of filled areas.
    pub const LIGHT_ORANGE: Colour = Colour(251, 238, 227);
    /// White.
    pub const WHITE: Colour = Colour(255, 255, 255);
    /// Lines of a grid.
    pub(crate) const GRID: Colour = Colour(228, 231, 236);
    /// Text that matters less.
    pub(crate) const SOFT: Colour = Colour(97, 110, 124);

    /// Returns the colour that CSS writes as `#rrggbb`; `None` if the text is not of this form.
    #[must_use]
    pub fn from_css(text: &str) -> Option<Colour> {
        let digits =
            text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let [_, r, g, b] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Colour(r, g, b))
    }

    /// Colours of a chart's lines, in order.
    pub(crate) const LINES: [Colour; 8] = [
        Colour::BLUE,
        Colour::ORANGE,
        Colour::GREEN,
        Colour::RED,
        Colour::PURPLE,
        Colour::BLACK,
        Colour::TEAL,
        Colour::GREY,
    ];
}

/// The colour as CSS and SVG write it: `#2b6cb0`.
impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_as_they_are_written() {
        assert_eq!(Colour::from_css("#2b6cb0"), Some(Colour::BLUE));
        assert_eq!(Colour::BLUE.to_string(), "#2b6cb0");
        for bad in ["2b6cb0", "#2b6cb", "#2b6cbg", "#+b6cb0", ""] {
            assert_eq!(Colour::from_css(bad), None, "{bad}");
        }
    }
}
