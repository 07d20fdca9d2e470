//! Axes: from values to pixels, and the values that are named.

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Ends of the axis; logarithms if the axis is logarithmic.
    first: f64,
    last: f64,
    pixels: (f64, f64),
    log: bool,
}

impl Scale {
    /// Returns an axis from `ends.0` to `ends.1`, drawn from one pixel to another. Ends that are not finite are 0 and 1.
    pub(super) fn new(ends: (f64, f64), pixels: (f64, f64), log: bool) -> Scale {
        let (least, most) =
            if ends.0 <= ends.1 && ends.0.is_finite() && ends.1.is_finite() { ends } else { (0.0, 1.0) };
        let of = |value: f64| if log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let (first, last) = if log && least <= 0.0 { (0.0, 1.0) } else { (of(least), of(most)) };
        let last = if last > first { last } else { first + 1.0 };
        Scale { first, last, pixels, log }
    }

    pub(super) fn pixel(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = (value - self.first) / (self.last - self.first);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Returns values within the axis with their names: multiples of 1, 2 or 5 times a power of ten.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            return self.powers();
        }
        let rough = (self.last - self.first) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(power * 10.0);
        let from = (self.first / step).ceil() as i64;
        let to = (self.last / step + 1e-9).floor() as i64;
        (from..=to).map(|n| n as f64 * step).map(|value| (value, name(value))).collect()
    }

    fn powers(&self) -> Vec<(f64, String)> {
        let few = self.last - self.first < 2.5;
        let parts: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for exponent in self.first.floor() as i32..=self.last.ceil() as i32 {
            for part in parts {
                let value = part * 10f64.powi(exponent);
                let at = value.log10();
                if at >= self.first - 1e-9 && at <= self.last + 1e-9 {
                    ticks.push((value, name(value)));
                }
            }
        }
        ticks
    }
}

/// Returns a number as axes have it, such as `12`, `2.5k` or `3M`.
fn name(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{}{unit}", super::data::short((scaled * 1e6).round() / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn axes_name_round_values() {
        assert_eq!(names(Scale::new((0.0, 100.0), (0.0, 1.0), false)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(names(Scale::new((0.0, 31_000.0), (0.0, 1.0), false)), ["0", "10k", "20k", "30k"]);
        assert_eq!(names(Scale::new((1.0, 40.0), (0.0, 1.0), true)), ["1", "2", "5", "10", "20"]);
        assert_eq!(names(Scale::new((64.0, 2e6), (0.0, 1.0), true)), ["100", "1000", "10k", "100k", "1M"]);
        let odd = Scale::new((f64::INFINITY, f64::NEG_INFINITY), (0.0, 10.0), false);
        assert_eq!((odd.pixel(0.0), odd.pixel(1.0)), (0.0, 10.0));
        let log = Scale::new((1.0, 100.0), (0.0, 10.0), true);
        assert!((log.pixel(10.0) - 5.0).abs() < 1e-12);
    }
}
