//! Charts of lines, points and steps over one axis.

#[cfg(feature = "line-charts")]
mod draw;

/// Style of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line from point to point.
    #[default]
    Line,
    /// A dashed line from point to point.
    Dashed,
    /// A line from point to point, and a mark on each point.
    Marked,
    /// Marks without a line.
    Points,
    /// A level from each point to the next one. The last level ends at the last point.
    Steps,
}

/// Points with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The series' entry in the legend.
    pub name: String,
    /// Horizontal and vertical values. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Style of the series.
    pub style: Style,
}

/// A chart of several series. The vertical axis starts at 0; the legend is to the right of the axes and hides no line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// Heading.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis.
    pub y: String,
    /// True if the horizontal axis is logarithmic. Points at or below 0 are then left out.
    pub log_x: bool,
    /// Upper end of the vertical axis; `None`: the largest value and a twentieth of it.
    pub top: Option<f64>,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
    /// Position and name of a vertical line.
    pub mark: Option<(f64, String)>,
}

/// The chart could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw a chart: {0}")]
pub struct DrawError(String);

impl LineChart {
    /// True if this build draws line charts: feature `line-charts`.
    pub const IS_DRAWN: bool = cfg!(feature = "line-charts");

    /// Returns a chart without series. The names of the axes include their units.
    #[must_use]
    pub fn new(title: &str, x: &str, y: &str) -> LineChart {
        LineChart { title: title.to_owned(), x: x.to_owned(), y: y.to_owned(), ..LineChart::default() }
    }

    /// Adds a series.
    pub fn add(&mut self, name: &str, points: Vec<(f64, f64)>, style: Style) {
        self.series.push(Series { name: name.to_owned(), points, style });
    }

    /// Draws the chart: 900 x 480 pixels, larger if the legend needs more.
    ///
    /// # Errors
    /// If the drawing library refuses the chart, or this build draws none ([`Self::IS_DRAWN`]).
    pub fn svg(&self) -> Result<String, DrawError> {
        #[cfg(feature = "line-charts")]
        return self.drawn();
        #[cfg(not(feature = "line-charts"))]
        Err(DrawError("this build has no line charts".to_owned()))
    }
}
