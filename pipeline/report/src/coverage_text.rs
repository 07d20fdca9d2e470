//! Coverage on the text of a program: every line with the points that begin there, and how many packets reached them.

use maud::{Markup, html};
use sluice_asic::chip::ChipSpec;
use sluice_exec::cover::{Coverage, PointData, Points};
use sluice_ir::{Program, text};
use std::collections::{BTreeMap, BTreeSet};

/// A text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramText {
    /// Name that locations have for the text.
    pub file: String,
    /// The text.
    pub text: String,
}

/// Points of a program whose places are lines of texts.
#[derive(Clone, Debug)]
pub struct Located {
    texts: Vec<ProgramText>,
    points: Points,
}

/// State of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Packets reached every point.
    All,
    /// Packets reached some points.
    Some,
    /// Packets reached no point.
    None,
    /// No packet can reach a point.
    Never,
}

impl State {
    /// Returns the sign, the class of the row and the meaning.
    const fn shown(self) -> (&'static str, &'static str, &'static str) {
        match self {
            State::All => ("\u{25cf}", "all", "every point reached"),
            State::Some => ("\u{25d0}", "some", "some points not reached"),
            State::None => ("\u{25cb}", "none", "no point reached"),
            State::Never => ("\u{2013}", "never", "proven unreachable"),
        }
    }
}

/// Style of the lines.
pub const STYLE: &str = r"
table.lines { width:100%; }
table.lines td { border:0; border-bottom:1px solid var(--line); padding:.02rem .4rem; vertical-align:top; }
table.lines td.line { text-align:left; white-space:pre-wrap; overflow-wrap:anywhere; min-width:20rem; font-size:12px;
  font-family:ui-monospace,'Liberation Mono',monospace; }
table.lines tr.all { background:var(--good); } table.lines tr.some { background:#f6e7b8; color:#000; }
table.lines tr.none { background:var(--bad); }
table.lines td.l { font-size:12px; max-width:30rem; } table.lines tr.all td.l, table.lines tr.none td.l { color:inherit; }
";

/// Returns the files that points are in, in order of their names.
#[must_use]
pub fn files(points: &Points) -> BTreeSet<&'static str> {
    points.list().iter().filter(|p| !p.at.is_unknown() && !p.at.file.is_empty()).map(|p| p.at.file).collect()
}

impl Located {
    /// Returns the points on the texts that the program was read from.
    #[must_use]
    pub fn on(texts: Vec<ProgramText>, points: &Points) -> Located {
        Located { texts, points: points.clone() }
    }

    /// Returns the points of a program on its text form; `None` if the text form has other points, which is a defect of Sluice.
    #[must_use]
    pub fn on_text_form(program: &Program, chip: &ChipSpec, points: &Points) -> Option<Located> {
        let text = text::print(program);
        let read = text::parse(&text).ok()?;
        let located = Points::of(&read, chip);
        let same = |(a, b): (&PointData, &PointData)| a.point == b.point;
        if located.list().len() != points.list().len() || !located.list().iter().zip(points.list()).all(same)
        {
            return None;
        }
        let file = files(&located).into_iter().next().unwrap_or_default().to_owned();
        Some(Located { texts: vec![ProgramText { file, text }], points: located })
    }

    /// Draws the texts.
    #[must_use]
    pub fn view(&self, coverage: &Coverage) -> Markup {
        html! {
            p.note {
                @for state in [State::All, State::Some, State::None, State::Never] {
                    @let (sign, _, meaning) = state.shown();
                    (sign) " " (meaning) "; "
                }
                "the number is that of the packets at the line's most reached point."
            }
            @for text in &self.texts {
                @let lines = self.lines(&text.file, coverage);
                @if self.texts.len() > 1 { h3 { (text.file) } }
                div.wide { table.lines {
                    thead { tr { th { "line" } th { "packets" } th.l { "" } th.l { "text" } th.l { "not reached" } } }
                    tbody {
                        @for (number, words) in (1..).zip(text.text.lines()) {
                            (line(number, words, lines.get(&number)))
                        }
                    }
                } }
            }
        }
    }

    /// Returns the points of each line of a text, with their packets.
    fn lines(&self, file: &str, coverage: &Coverage) -> BTreeMap<u32, Vec<(&PointData, u64)>> {
        let mut lines: BTreeMap<u32, Vec<(&PointData, u64)>> = BTreeMap::new();
        for (number, point) in (0u32..).zip(self.points.list()) {
            if point.at.file == file && !point.at.is_unknown() {
                lines.entry(point.at.line).or_default().push((point, coverage.count(number)));
            }
        }
        lines
    }
}

fn state(points: &[(&PointData, u64)]) -> State {
    let open = || points.iter().filter(|(point, packets)| *packets > 0 || point.unreachable.is_none());
    match (open().count(), open().filter(|(_, packets)| *packets > 0).count()) {
        (0, _) => State::Never,
        (_, 0) => State::None,
        (all, reached) if all == reached => State::All,
        _ => State::Some,
    }
}

fn line(number: u32, words: &str, points: Option<&Vec<(&PointData, u64)>>) -> Markup {
    let Some(points) = points else {
        return html! { tr { td { (number) } td {} td {} td.line { (words) } td {} } };
    };
    let (sign, class, meaning) = state(points).shown();
    let most = points.iter().map(|(_, packets)| *packets).max().unwrap_or(0);
    let missing = points.iter().filter(|(point, packets)| *packets == 0 && point.unreachable.is_none());
    let missing: Vec<String> =
        missing.map(|(point, _)| format!("{}: {}", point.point.class().key(), point.name)).collect();
    html! {
        tr class=(class) {
            td { (number) } td { (most) } td title=(meaning) { (sign) } td.line { (words) }
            td.l { (missing.join("; ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "program covered;
    header a : ingress { bit<8> kind; bit<8> x; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    action one : ingress () { ig_tm.ucast_egress_port = 9w1; }
    action two : ingress () { ig_tm.ucast_egress_port = 9w2; }
    table looked_up : ingress {
        key = { a.x : exact; }
        actions = { one; two; }
        default_action = one();
        size = 4;
    }
    parser ingress {
        start = first;
        state first { extract(a); transition accept; }
    }
    control ingress { apply looked_up; }
    deparser ingress { emit(a); }\n";

    #[test]
    fn points_are_on_the_lines_of_the_text_form() {
        let program = text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
        let chip = ChipSpec::tofino2();
        let points = Points::of(&program, &chip);
        let located = Located::on_text_form(&program, &chip, &points).expect("the same points");
        let mut coverage = Coverage::new(&points);
        // Seven packets miss; nothing hits.
        for (number, point) in (0u32..).zip(points.list()) {
            if point.point.class().key() == "tables_miss" {
                coverage.add(number, 7);
            }
        }
        let html = located.view(&coverage).into_string();
        let row = html.split("<tr").find(|row| row.contains("table looked_up")).unwrap_or_default();
        assert!(row.contains("class=\"some\"") && row.contains("<td>7</td>"), "{row}");
        assert!(row.contains("tables_hit: looked_up") && !row.contains("tables_miss"), "{row}");
        let row = html.split("<tr").find(|row| row.contains("state first")).unwrap_or_default();
        assert!(row.contains("class=\"none\""), "{row}");
        // Every point with a place is on a line.
        let all: usize = located.lines(&located.texts[0].file, &coverage).values().map(Vec::len).sum();
        assert_eq!(all, points.list().len());
    }
}
