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
    /// Light red of filled areas.
    pub const LIGHT_RED: Colour = Colour(251, 220, 217);
    /// Light green of filled areas.
    pub const LIGHT_GREEN: Colour = Colour(217, 240, 227);
    /// Light grey of filled areas.
    pub const LIGHT_GREY: Colour = Colour(235, 238, 243);
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

    /// Colours of a chart's lines, in order. People who see no red or no green tell the first five apart.
    pub(crate) const LINES: [Colour; 8] = [
        Colour(31, 111, 181),
        Colour(213, 85, 0),
        Colour(15, 138, 104),
        Colour(142, 31, 96),
        Colour::BLACK,
        Colour(79, 147, 207),
        Colour(141, 91, 0),
        Colour::GREY,
    ];

    /// Colours of drawings on a dark page: each colour, and the one that stands for it there.
    const DARK: [(Colour, Colour); 25] = [
        (Colour::BLUE, Colour(108, 176, 240)),
        (Colour::ORANGE, Colour(232, 150, 95)),
        (Colour::GREEN, Colour(95, 196, 143)),
        (Colour::RED, Colour(240, 128, 137)),
        (Colour::PURPLE, Colour(183, 154, 230)),
        (Colour::BLACK, Colour(230, 233, 238)),
        (Colour::TEAL, Colour(79, 195, 208)),
        (Colour::GREY, Colour(168, 168, 168)),
        (Colour::BROWN, Colour(217, 164, 65)),
        (Colour::STEEL, Colour(132, 148, 170)),
        (Colour::SILVER, Colour(93, 106, 124)),
        (Colour::LIGHT_BLUE, Colour(31, 53, 80)),
        (Colour::LIGHT_ORANGE, Colour(74, 50, 34)),
        (Colour::LIGHT_RED, Colour(82, 36, 40)),
        (Colour::LIGHT_GREEN, Colour(29, 66, 49)),
        (Colour::LIGHT_GREY, Colour(44, 50, 58)),
        (Colour::WHITE, Colour(21, 24, 28)),
        (Colour::GRID, Colour(48, 54, 63)),
        (Colour::SOFT, Colour(163, 173, 186)),
        (Colour::LINES[0], Colour(108, 176, 240)),
        (Colour::LINES[1], Colour(255, 139, 71)),
        (Colour::LINES[2], Colour(69, 199, 156)),
        (Colour::LINES[3], Colour(221, 133, 184)),
        (Colour::LINES[5], Colour(158, 203, 240)),
        (Colour::AMBER, Colour(240, 180, 41)),
    ];

    /// Returns rules of a style sheet that give drawings and samples of colours on a dark page their dark colours.
    pub(crate) fn dark_rules() -> String {
        let rule = |(light, dark): &(Colour, Colour)| {
            format!(
                "svg [fill=\"{light}\"]{{fill:{dark}}} svg [stroke=\"{light}\"]{{stroke:{dark}}} \
                 [style*=\"{light}\"]{{background:{dark} !important}}\n"
            )
        };
        format!(
            "@media screen and (prefers-color-scheme:dark) {{\n{}}}\n",
            Self::DARK.iter().map(rule).collect::<String>()
        )
    }
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

    /// Returns the relative luminance of WCAG 2.
    fn luminance(Colour(r, g, b): Colour) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn contrast(a: Colour, b: Colour) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// WCAG 2 AA: 4.5 for text, 3 for lines of a drawing.
    #[test]
    fn contrasts_reach_aa_on_light_and_dark_pages() {
        let dark = |light| Colour::DARK.iter().find(|(from, _)| *from == light).map_or(light, |(_, to)| *to);
        for (text, least) in [(Colour::BLACK, 7.0), (Colour::SOFT, 4.5), (Colour::BROWN, 4.5)]
            .into_iter()
            .chain(Colour::LINES.map(|l| (l, 3.0)))
        {
            for (paper, text) in [(Colour::WHITE, text), (dark(Colour::WHITE), dark(text))] {
                assert!(contrast(paper, text) >= least, "{text} on {paper}: {}", contrast(paper, text));
            }
        }
        // Names stand on the light areas.
        for area in [
            Colour::LIGHT_BLUE,
            Colour::LIGHT_ORANGE,
            Colour::LIGHT_RED,
            Colour::LIGHT_GREEN,
            Colour::LIGHT_GREY,
        ] {
            for (area, text) in [(area, Colour::BLACK), (dark(area), dark(Colour::BLACK))] {
                assert!(contrast(area, text) >= 4.5, "{text} on {area}");
            }
        }
    }

    #[test]
    fn every_colour_has_one_dark_colour() {
        let rules = Colour::dark_rules();
        for (light, _) in Colour::DARK {
            assert_eq!(rules.matches(&format!("[fill=\"{light}\"]")).count(), 1, "{light}");
        }
    }
}
