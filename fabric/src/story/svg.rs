//! A story drawn to scale: time runs down, packets are slanted lines from lifeline to lifeline.

use super::tell::{Hop, Story};
use sluice_asic::units::Time;
use std::fmt::Write;

/// Pixels: between lifelines, left of the first one, above the first packet.
const STEP: f64 = 170.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 60.0;
/// Pixels of the drawing's height, at least and at most, and of a microsecond.
const HEIGHT: (f64, f64) = (240.0, 2400.0);
const MICROSECOND: f64 = 36.0;
/// Pixels between two labels of one gap between lifelines.
const LABEL: f64 = 12.0;
/// Keeps lines out of letters.
const HALO: &str = "paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"3\"";

/// From times to pixels.
struct Scale {
    first: Time,
    per_us: f64,
}

impl Scale {
    fn us(&self, time: Time) -> f64 {
        time.saturating_since(self.first).as_ps() as f64 / 1e6
    }

    fn y(&self, time: Time) -> f64 {
        TOP + self.us(time) * self.per_us
    }
}

fn x(column: usize) -> f64 {
    LEFT + column as f64 * STEP
}

impl Story {
    /// The sequence diagram as SVG. The bar at the receiver's ToR is a queue
    /// that holds packets, the dots beside it are laps of the timer packet.
    #[must_use]
    pub fn svg(&self) -> String {
        let (first, last) = self.span();
        let us = last.saturating_since(first).as_ps() as f64 / 1e6;
        let height = (us * MICROSECOND).clamp(HEIGHT.0, HEIGHT.1);
        let scale = Scale { first, per_us: height / us.max(1e-3) };
        let width = x(self.columns.len() - 1) + LEFT;
        let mut out = String::new();
        // Writing into a String cannot fail.
        let _ = self.draw(&mut out, &scale, (width, height, us));
        out
    }

    fn draw(
        &self,
        out: &mut String,
        scale: &Scale,
        (width, height, us): (f64, f64, f64),
    ) -> std::fmt::Result {
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{:.0}\" font-family=\"sans-serif\" \
             font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            height + TOP + 30.0
        )?;
        writeln!(out, "<text x=\"12\" y=\"16\" font-size=\"13\">flow {}, times in us</text>", self.flow)?;
        self.axis(out, scale, (width, us))?;
        for (column, name) in self.columns.iter().enumerate() {
            let (x, bottom) = (x(column), TOP + height);
            writeln!(
                out,
                "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom:.1}\" stroke=\"#1b1f24\"/><text x=\"{x}\" \
                 y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>",
                TOP - 14.0
            )?;
        }
        self.queues(out, scale)?;
        let mut labels = vec![f64::MIN; self.columns.len()];
        for hop in &self.hops {
            arrow(out, scale, hop, &mut labels)?;
        }
        for end in self.ends.iter().filter(|e| !e.absorbed || e.message.is_control()) {
            let (x, y) = (x(end.at), scale.y(end.time));
            let outcome = &end.outcome;
            writeln!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{}\" {HALO}>{outcome}</text>",
                x - 6.0,
                y + 4.0,
                end.message.colour
            )?;
        }
        writeln!(out, "</svg>")
    }

    fn axis(&self, out: &mut String, scale: &Scale, (width, us): (f64, f64)) -> std::fmt::Result {
        let every = [1u32, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
        let every = every.into_iter().find(|e| f64::from(*e) * scale.per_us >= 24.0).unwrap_or(5000);
        let mut at = 0;
        while f64::from(at) <= us {
            let y = TOP + f64::from(at) * scale.per_us;
            writeln!(
                out,
                "<line x1=\"40\" y1=\"{y:.1}\" x2=\"{:.0}\" y2=\"{y:.1}\" stroke=\"#e4e7eb\"/><text x=\"34\" \
                 y=\"{:.1}\" text-anchor=\"end\" fill=\"#616e7c\">{at}</text>",
                width - 20.0,
                y + 4.0
            )?;
            at += every;
        }
        Ok(())
    }

    /// Bars of queues that hold packets, and laps.
    fn queues(&self, out: &mut String, scale: &Scale) -> std::fmt::Result {
        let (right, x) = (x(self.columns.len() - 1), x(self.destination()));
        let end = self.span().1;
        for (from, to) in self.holds() {
            let (a, b) = (scale.y(from), scale.y(to.unwrap_or(end)));
            writeln!(
                out,
                "<rect x=\"{}\" y=\"{a:.1}\" width=\"8\" height=\"{:.1}\" fill=\"#f0b429\"><title>a queue is paused, \
                 {:.3} to {:.3} us</title></rect>",
                x - 4.0,
                (b - a).max(1.0),
                scale.us(from),
                scale.us(to.unwrap_or(end))
            )?;
        }
        for word in &self.words {
            let what = if word.pauses { "pauses" } else { "resumes" };
            writeln!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" fill=\"#8d5b00\" {HALO}>queue {} {what}</text>",
                right + 8.0,
                scale.y(word.time) + 4.0,
                word.qid
            )?;
        }
        for lap in self.timers.iter().flat_map(|t| &t.laps) {
            let y = scale.y(*lap);
            writeln!(out, "<circle cx=\"{}\" cy=\"{y:.1}\" r=\"2\" fill=\"#8d5b00\"/>", x + 10.0)?;
        }
        Ok(())
    }
}

/// A packet from lifeline to lifeline; a cross if it is lost on the way. What is special has a label.
fn arrow(out: &mut String, scale: &Scale, hop: &Hop, labels: &mut [f64]) -> std::fmt::Result {
    let m = hop.message;
    let (from, full) = (x(hop.from), x(hop.to));
    let to = if hop.arrives.is_some() { full } else { (from + full) / 2.0 };
    let (y1, y2) = (scale.y(hop.sent), scale.y(hop.arrives.unwrap_or(hop.sent)));
    let (colour, width) = (m.colour, if m.is_plain() { 0.7 } else { 1.6 });
    write!(
        out,
        "<line x1=\"{from}\" y1=\"{y1:.1}\" x2=\"{to}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"><title>{} \
         psn {}",
        m.label, m.psn
    )?;
    for note in m.notes.iter().flatten() {
        write!(out, ", {} {}", note.name, note.value)?;
    }
    writeln!(out, ", {:.3} us</title></line>", scale.us(hop.sent))?;
    if hop.arrives.is_none() {
        return writeln!(out, "<text x=\"{to}\" y=\"{:.1}\" fill=\"#b02a37\">lost</text>", y2 + 4.0);
    }
    let back = if full > from { -6.0 } else { 6.0 };
    if m.is_plain() {
        return Ok(());
    }
    writeln!(out, "<path d=\"M{to} {y2:.1} l{back} -3 l0 6 z\" fill=\"{colour}\"/>",)?;
    let (gap, y) = (hop.from.min(hop.to), (y1 + y2) / 2.0 - 3.0);
    if let Some(before) = labels.get_mut(gap).filter(|before| y - **before >= LABEL) {
        *before = y;
        let x = (from + to) / 2.0;
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"{colour}\" {HALO}>{}</text>",
            m.label
        )?;
    }
    Ok(())
}
