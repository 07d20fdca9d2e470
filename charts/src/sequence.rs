//! Sequence diagrams to scale: time runs down, and messages are slanted lines from lifeline to lifeline.

use crate::FONT;
use crate::palette::Colour;
use maud::{Markup, Render, html};

/// Pixels: between lifelines, left of the first one, above the first message.
const STEP: f64 = 170.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 60.0;
/// Pixels of the diagram's height, at least and at most, and of a microsecond.
const HEIGHT: (f64, f64) = (240.0, 2400.0);
const MICROSECOND: f64 = 36.0;
/// Pixels between two texts, one above the other.
const TEXT: f64 = 12.0;

/// A message from one lifeline to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// Number of the sender's lifeline.
    pub from: usize,
    /// Number of the receiver's lifeline.
    pub to: usize,
    /// Microseconds.
    pub sent: f64,
    /// Microseconds; `None` if the message was lost between the lifelines.
    pub arrives: Option<f64>,
    /// Colour of line and label.
    pub colour: Colour,
    /// The message's name. A message without one is a thin line without a head.
    pub label: Option<String>,
    /// The text that a pointer shows.
    pub tooltip: String,
}

/// The side of a lifeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// A text next to a lifeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Number of the lifeline.
    pub lifeline: usize,
    /// The side on which the text is.
    pub side: Side,
    /// Microseconds.
    pub time: f64,
    /// The text.
    pub text: String,
    /// Colour of the text.
    pub colour: Colour,
}

/// A bar on a lifeline: a state with a start and an end.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Number of the lifeline.
    pub lifeline: usize,
    /// Microseconds.
    pub from: f64,
    /// Microseconds.
    pub to: f64,
    /// Colour of the bar.
    pub colour: Colour,
    /// The text that a pointer shows.
    pub tooltip: String,
}

/// A dot to the right of a lifeline: a repeated event without room for a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Number of the lifeline.
    pub lifeline: usize,
    /// Microseconds.
    pub time: f64,
    /// Colour of the dot.
    pub colour: Colour,
}

/// A sequence diagram. Times are microseconds since its first event; anything at a lifeline that does not exist is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequence {
    /// Heading.
    pub title: String,
    /// Names of the lifelines from left to right.
    pub lifelines: Vec<String>,
    /// Microseconds between the first and the last event.
    pub duration: f64,
    /// Messages. If labels are too close together, the first one is drawn.
    pub arrows: Vec<Arrow>,
    /// Texts, in order of time.
    pub notes: Vec<Note>,
    /// Bars.
    pub activities: Vec<Activity>,
    /// Dots.
    pub dots: Vec<Dot>,
}

fn x(lifeline: usize) -> f64 {
    LEFT + lifeline as f64 * STEP
}

fn px(pixels: f64) -> String {
    format!("{pixels:.1}")
}

impl Sequence {
    /// Draws the diagram: a microsecond is 36 pixels, unless that makes it lower than 240 or higher than 2400 pixels.
    #[must_use]
    pub fn svg(&self) -> String {
        crate::file(&self.render())
    }

    fn height(&self) -> f64 {
        (self.duration * MICROSECOND).clamp(HEIGHT.0, HEIGHT.1)
    }

    fn per_us(&self) -> f64 {
        self.height() / self.duration.max(1e-3)
    }

    fn y(&self, time: f64) -> f64 {
        TOP + time * self.per_us()
    }

    fn exists(&self, lifeline: usize) -> bool {
        lifeline < self.lifelines.len()
    }

    /// Draws the lines and numbers of the time axis.
    fn axis(&self, width: f64) -> Markup {
        let every = [1u32, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
        let every = every.into_iter().find(|e| f64::from(*e) * self.per_us() >= 24.0);
        let every = every.map_or(self.duration / 10.0, f64::from);
        let ticks = (0u32..).map(|n| f64::from(n) * every).take_while(|at| *at <= self.duration);
        html! {
            @for at in ticks {
                @let y = self.y(at);
                line x1="40" y1=(px(y)) x2=(px(width - 20.0)) y2=(px(y)) stroke=(Colour::GRID) {}
                text x="34" y=(px(y + 4.0)) text-anchor="end" fill=(Colour::SOFT) { (at.round()) }
            }
        }
    }

    fn lifeline(&self, number: usize, name: &str) -> Markup {
        let (x, bottom) = (px(x(number)), px(TOP + self.height()));
        html! {
            line x1=(x) y1=(TOP) x2=(x) y2=(bottom) stroke=(Colour::BLACK) {}
            text x=(x) y=(TOP - 14.0) text-anchor="middle" font-weight="bold" { (name) }
        }
    }

    fn activity(&self, bar: &Activity) -> Markup {
        let (a, b) = (self.y(bar.from), self.y(bar.to));
        html! {
            rect x=(px(x(bar.lifeline) - 4.0)) y=(px(a)) width="8" height=(px((b - a).max(1.0))) fill=(bar.colour) {
                title { (bar.tooltip) }
            }
        }
    }

    /// Draws a message, with "lost" where it is lost, and its label at height `label`.
    fn arrow(&self, arrow: &Arrow, label: Option<f64>) -> Markup {
        let (from, full) = (x(arrow.from), x(arrow.to));
        let to = if arrow.arrives.is_some() { full } else { f64::midpoint(from, full) };
        let (y1, y2) = (self.y(arrow.sent), self.y(arrow.arrives.unwrap_or(arrow.sent)));
        let back = if full > from { -6 } else { 6 };
        html! {
            line x1=(px(from)) y1=(px(y1)) x2=(px(to)) y2=(px(y2)) stroke=(arrow.colour)
                stroke-width=(if arrow.label.is_some() { "1.6" } else { "0.7" }) { title { (arrow.tooltip) } }
            @if arrow.arrives.is_none() {
                text x=(px(to)) y=(px(y2 + 4.0)) fill=(Colour::RED) { "lost" }
            } @else if let Some(name) = &arrow.label {
                path d=(format!("M{} {} l{back} -3 l0 6 z", px(to), px(y2))) fill=(arrow.colour) {}
                @if let Some(y) = label {
                    (text(f64::midpoint(from, to), y, "middle", arrow.colour, name))
                }
            }
        }
    }

    /// Returns the height of each arrow's label; `None` if the label is left out because another one is nearby.
    fn labels(&self, arrows: &[&Arrow]) -> Vec<Option<f64>> {
        let mut last = vec![f64::MIN; self.lifelines.len()];
        let label = |arrow: &&Arrow| {
            let arrives = arrow.arrives.filter(|_| arrow.label.is_some())?;
            let y = f64::midpoint(self.y(arrow.sent), self.y(arrives)) - 3.0;
            let before = last.get_mut(arrow.from.min(arrow.to)).filter(|before| y - **before >= TEXT)?;
            *before = y;
            Some(y)
        };
        arrows.iter().map(label).collect()
    }

    /// Returns the heights of notes. A note is moved down by at most two lines, to be below the note before it.
    fn note_heights(&self, notes: &[&Note]) -> Vec<f64> {
        let mut last = vec![[f64::MIN; 2]; self.lifelines.len()];
        let height = |note: &&Note| {
            let y = self.y(note.time) + 4.0;
            let Some(before) = last.get_mut(note.lifeline).map(|sides| &mut sides[note.side as usize]) else {
                return y;
            };
            let below = *before + TEXT;
            let y = if below > y && below - y <= 2.0 * TEXT { below } else { y };
            *before = before.max(y);
            y
        };
        notes.iter().map(height).collect()
    }
}

/// Draws a text in front of lines; a white margin keeps the lines out of its letters.
fn text(x: f64, y: f64, anchor: &str, colour: Colour, text: &str) -> Markup {
    html! {
        text x=(px(x)) y=(px(y)) text-anchor=(anchor) fill=(colour) paint-order="stroke" stroke="#fff" stroke-width="3" { (text) }
    }
}

impl Render for Sequence {
    fn render(&self) -> Markup {
        let width = x(self.lifelines.len().max(1) - 1) + LEFT;
        let height = self.height() + TOP + 30.0;
        let arrows: Vec<&Arrow> =
            self.arrows.iter().filter(|a| self.exists(a.from) && self.exists(a.to)).collect();
        let notes: Vec<&Note> = self.notes.iter().filter(|n| self.exists(n.lifeline)).collect();
        html! {
            svg width=(width) height=(format!("{height:.0}")) font-family=(FONT)
                font-size="11" role="img" {
                rect width="100%" height="100%" fill="white" {}
                text x="12" y="16" font-size="13" { (self.title) }
                (self.axis(width))
                @for (number, name) in self.lifelines.iter().enumerate() { (self.lifeline(number, name)) }
                @for bar in self.activities.iter().filter(|b| self.exists(b.lifeline)) { (self.activity(bar)) }
                @for dot in self.dots.iter().filter(|d| self.exists(d.lifeline)) {
                    circle cx=(px(x(dot.lifeline) + 10.0)) cy=(px(self.y(dot.time))) r="2" fill=(dot.colour) {}
                }
                @for (arrow, label) in arrows.iter().zip(self.labels(&arrows)) { (self.arrow(arrow, label)) }
                @for (note, y) in notes.iter().zip(self.note_heights(&notes)) {
                    @match note.side {
                        Side::Left => (text(x(note.lifeline) - 6.0, y, "end", note.colour, &note.text)),
                        Side::Right => (text(x(note.lifeline) + 8.0, y, "start", note.colour, &note.text)),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(sent: f64, arrives: Option<f64>, label: Option<&str>) -> Arrow {
        let label = label.map(str::to_owned);
        Arrow { from: 0, to: 1, sent, arrives, colour: Colour::BLUE, label, tooltip: "a & b".to_owned() }
    }

    fn diagram(arrows: Vec<Arrow>) -> Sequence {
        let lifelines = vec!["h0".to_owned(), "tor".to_owned()];
        Sequence { title: "x".to_owned(), lifelines, duration: 20.0, arrows, ..Sequence::default() }
    }

    #[test]
    fn labelled_messages_have_heads_and_lost_ones_have_none() {
        let svg = diagram(vec![
            arrow(0.0, Some(1.0), Some("RTT_REQUEST")),
            arrow(1.0, Some(2.0), None),
            arrow(2.0, None, Some("TAIL")),
        ]);
        let svg = svg.svg();
        assert!(svg.starts_with("<svg xmlns") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!((svg.matches("<path").count(), svg.matches(">lost<").count()), (1, 1), "{svg}");
        assert!(svg.contains(">RTT_REQUEST</text>") && !svg.contains(">TAIL<"), "{svg}");
        assert_eq!(svg.matches("<title>a &amp; b</title>").count(), 3, "{svg}");
    }

    #[test]
    fn labels_and_notes_do_not_cover_each_other() {
        let labelled = |at: f64| arrow(at, Some(at + 1.0), Some("NOTIFY"));
        let mut diagram = diagram(vec![labelled(1.0), labelled(1.1), labelled(3.0)]);
        assert_eq!(diagram.svg().matches(">NOTIFY</text>").count(), 2);
        let note =
            |time| Note { lifeline: 1, side: Side::Left, time, text: "late".into(), colour: Colour::RED };
        diagram.notes = vec![note(1.0), note(1.1), note(9.0)];
        let heights = diagram.note_heights(&diagram.notes.iter().collect::<Vec<_>>());
        assert!(heights[1] - heights[0] >= TEXT && heights[2] == diagram.y(9.0) + 4.0, "{heights:?}");
    }

    #[test]
    fn what_has_no_lifeline_is_left_out() {
        let mut diagram = diagram(vec![Arrow { to: 7, ..arrow(0.0, Some(1.0), Some("x")) }]);
        diagram.dots = vec![Dot { lifeline: 2, time: 1.0, colour: Colour::RED }];
        let svg = diagram.svg();
        assert!(!svg.contains("<circle") && !svg.contains("<path"), "{svg}");
        let empty = Sequence::default().svg();
        assert!(empty.contains("<svg") && !empty.contains("NaN"), "{empty}");
    }
}
