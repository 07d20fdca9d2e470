//! Two small charts side by side need no library.

use std::fmt::Write;

/// A line through points, from 0 on both axes.
pub(crate) struct Chart {
    pub(crate) title: &'static str,
    pub(crate) x: &'static str,
    pub(crate) lines: Vec<(&'static str, Vec<(u64, u64)>)>,
}

const SIZE: (f64, f64) = (560.0, 320.0);
const EDGE: (f64, f64) = (60.0, 50.0);
const COLOURS: [&str; 3] = ["#2b6cb0", "#b7602b", "#2f855a"];

impl Chart {
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let most = |of: fn(&(u64, u64)) -> u64| points().map(of).max().unwrap_or(1).max(1);
        let (right, top) = (most(|p| p.0), most(|p| p.1));
        let place = |(x, y): (u64, u64)| {
            let x = EDGE.0 + (SIZE.0 - EDGE.0 - 20.0) * x as f64 / right as f64;
            (x, SIZE.1 - EDGE.1 - (SIZE.1 - EDGE.1 - 40.0) * y as f64 / top as f64)
        };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" \
             font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/><text x=\"{}\" y=\"20\" font-size=\"13\">{}</text>",
            SIZE.0, SIZE.1, EDGE.0, self.title
        );
        for step in 0..=4 {
            let ((x, _), (_, y)) = (place((right * step / 4, 0)), place((0, top * step / 4)));
            let (bottom, left) = (SIZE.1 - EDGE.1, EDGE.0);
            write!(
                out,
                "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#e4e7eb\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\">{}</text><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                SIZE.0 - 20.0,
                left - 6.0,
                y + 4.0,
                top * step / 4,
                bottom + 16.0,
                right * step / 4
            )
            .unwrap();
        }
        write!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            SIZE.0 / 2.0,
            SIZE.1 - 14.0,
            self.x
        )
        .unwrap();
        for (n, (name, points)) in self.lines.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            let path: Vec<String> =
                points.iter().map(|p| place(*p)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            write!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{}\" y=\"{}\" \
                 fill=\"{colour}\">{name}</text>",
                path.join(" "),
                EDGE.0 + 16.0,
                44 + 14 * n
            )
            .unwrap();
        }
        out.push_str("</svg>\n");
        out
    }
}
