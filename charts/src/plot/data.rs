//! The points of a plot as JSON, for the script of its page.

use super::{Plot, PlotLine};
use std::fmt::Write;

impl Plot {
    /// Returns the lines as JSON for the script. Numbers have at most nine significant digits.
    pub(super) fn data(&self) -> String {
        let text = |text: &str| format!("\"{}\"", escaped(text));
        let list = |numbers: Vec<f64>| numbers.into_iter().map(short).collect::<Vec<_>>().join(",");
        let line = |line: &PlotLine| {
            let shown: Vec<usize> = (0..line.points.len()).filter(|n| self.shows(line.points[*n])).collect();
            let column = |get: &dyn Fn(usize) -> f64| list(shown.iter().map(|n| get(*n)).collect());
            let mut json = format!(
                "{{\"n\":{},\"s\":{},\"x\":[{}],\"y\":[{}]",
                text(&line.name),
                line.style as u8,
                column(&|n| line.points[n].0),
                column(&|n| line.points[n].1)
            );
            if line.bars.len() == line.points.len() && !line.bars.is_empty() {
                // Writing into a String cannot fail.
                let _ = write!(
                    json,
                    ",\"a\":[{}],\"b\":[{}]",
                    column(&|n| line.bars[n].0),
                    column(&|n| line.bars[n].1)
                );
            }
            json + "}"
        };
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        let span = |(from, to): &(f64, f64)| format!("[{},{}]", short(*from), short(*to));
        let spans: Vec<String> = self.shade.spans.iter().map(span).collect();
        format!(
            "{{\"lx\":{},\"x\":{},\"y\":{},\"h\":[{}],\"lines\":[{}]}}",
            u8::from(self.log_x),
            text(&self.x),
            text(&self.y),
            spans.join(","),
            lines.join(",")
        )
    }
}

/// Returns a text as it may stand in a string of JSON inside a script of a page.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '<' | '>' | '&' => _ = write!(out, "\\u{:04x}", c as u32),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

/// Returns a number with at most nine significant digits, without needless zeros.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (9 - whole).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        for (value, text) in
            [(0.0, "0"), (1.5, "1.5"), (123_456_789.0, "123456789"), (0.1 + 0.2, "0.3"), (-2.25, "-2.25")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1.0 / 3.0), "0.333333333");
    }
}
