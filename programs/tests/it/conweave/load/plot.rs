//! A drawing of laps over timers: what was measured as dots, the law as lines.

use super::alone::{Laps, law};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 50.0;
/// Timers and ns at the ends of the axes.
const MOST: [f64; 2] = [800.0, 1_600.0];

fn at(timers: u64, ns: u64) -> (f64, f64) {
    let x = LEFT + (WIDTH - LEFT - 20.0) * timers as f64 / MOST[0];
    let y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * ns as f64 / MOST[1];
    (x, y)
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, what: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>");
}

fn line(out: &mut String, a: (f64, f64), b: (f64, f64), style: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
        a.0, a.1, b.0, b.1
    );
}

/// Laps as dots in the colour of their ToR, on the law.
pub(super) fn svg(all: &[Laps], alone: u64) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let axis = "stroke=\"black\"";
    line(&mut out, at(0, 0), at(MOST[0] as u64, 0), axis);
    line(&mut out, at(0, 0), at(0, MOST[1] as u64), axis);
    for n in (0..=800).step_by(100) {
        let (x, y) = at(n, 0);
        text(&mut out, (x, y + 16.0), "middle", &n.to_string());
    }
    for ns in (0..=1_600).step_by(200) {
        let (x, y) = at(0, ns);
        text(&mut out, (x - 6.0, y + 4.0), "end", &ns.to_string());
        line(&mut out, at(0, ns), at(MOST[0] as u64, ns), "stroke=\"#ddd\"");
    }
    text(&mut out, (WIDTH / 2.0, HEIGHT - 14.0), "middle", "timer packets that go round at once");
    text(&mut out, (LEFT + 8.0, TOP + 4.0), "start", "a lap, ns");
    let law_style = "stroke=\"#888\" stroke-dasharray=\"5 3\"";
    for n in (0..800).step_by(10) {
        line(&mut out, at(n, law(alone, n)), at(n + 10, law(alone, n + 10)), law_style);
    }
    text(&mut out, at(560, 980), "end", "law");
    for (row, (gbps, colour)) in (0u32..).zip([(400, "#1b7"), (100, "#27c"), (50, "#c33")]) {
        let dots = all.iter().filter(|l| l.gbps() == gbps);
        for laps in dots {
            let (x, y) = at(laps.timers, laps.lap);
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
        }
        let (x, y) = (LEFT + 30.0, TOP + 30.0 + 18.0 * f64::from(row));
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>", y - 4.0);
        text(&mut out, (x + 10.0, y), "start", &format!("hosts of {gbps}G"));
    }
    out + "</svg>\n"
}
