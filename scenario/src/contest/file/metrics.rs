//! The table `[metrics]`: classes of message sizes, the interval of samples, and counts of frames.

use serde::Deserialize;
use sluice_asic::units::{Bytes, Duration};

/// Most size classes.
const MOST_BINS: usize = 64;
/// Most samples of a run while messages begin.
const MOST_SAMPLES: u64 = 100_000;

/// Measurements of a contest in addition to its counters, which are always there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsSetting {
    /// Upper ends of classes of message sizes, rising: a class has the messages above the end before it, up to its own end. A
    /// last class has the messages above all ends. None by default.
    #[serde(default)]
    pub size_bins: Vec<Bytes>,
    /// Time between two samples of links, buffers and queues; by default nothing is sampled.
    pub sample: Option<Duration>,
    /// True for the rates that messages would have if every link were shared max-min fairly. Between each two hosts there
    /// must be one path. False by default.
    #[serde(default)]
    pub max_min: bool,
    /// True if frames on cables are counted by the labels that programs give them, as `frames.LABEL`.
    #[serde(default)]
    pub frames: bool,
}

impl MetricsSetting {
    /// Checks the ranges; `time` is the time in which messages begin.
    pub(crate) fn check(&self, time: Duration) -> Result<(), String> {
        if self.size_bins.len() > MOST_BINS {
            let found = self.size_bins.len();
            return Err(format!("metrics.size_bins has {found} sizes; expected at most {MOST_BINS}"));
        }
        if let Some(pair) = self.size_bins.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!(
                "metrics.size_bins: {} follows {}; expected rising sizes, such as [\"10KB\", \"100KB\"]",
                pair[1], pair[0]
            ));
        }
        match self.sample {
            Some(every) if every.is_zero() => {
                Err("metrics.sample is 0; expected a time above 0, such as \"10us\"".into())
            }
            Some(every) if time.as_ps() / every.as_ps() > MOST_SAMPLES => Err(format!(
                "metrics.sample is {every}: more than {MOST_SAMPLES} samples in {time}; expected a longer time"
            )),
            _ => Ok(()),
        }
    }

    /// Returns the size classes: for each its name and upper end; none if there are no `size_bins`.
    #[must_use]
    pub fn bins(&self) -> Vec<SizeBin> {
        let named = |end: &Bytes| SizeBin { name: format!("bin_{}", end.get()), end: Some(*end) };
        let mut bins: Vec<SizeBin> = self.size_bins.iter().map(named).collect();
        if !bins.is_empty() {
            bins.push(SizeBin { name: "bin_more".into(), end: None });
        }
        bins
    }
}

/// A class of message sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeBin {
    /// First part of the names of its numbers: `bin_` with the upper end in bytes, or `bin_more`.
    pub name: String,
    /// Most bytes of its messages; `None`: no limit.
    pub end: Option<Bytes>,
}

impl SizeBin {
    /// Returns the class of a message: the first one whose end is not exceeded.
    #[must_use]
    pub fn index_of(bins: &[SizeBin], bytes: u64) -> Option<usize> {
        bins.iter().position(|bin| bin.end.is_none_or(|end| bytes <= end.get()))
    }

    /// Returns a heading for readers, such as `<= 10KB`.
    #[must_use]
    pub fn title(bins: &[SizeBin], index: usize) -> String {
        match bins.get(index).map(|bin| bin.end) {
            Some(Some(end)) => format!("<= {end}"),
            _ => {
                let last = index.checked_sub(1).and_then(|before| bins.get(before)).and_then(|bin| bin.end);
                last.map_or_else(|| "all".to_owned(), |end| format!("> {end}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(sizes: &[u64], sample: Option<Duration>) -> MetricsSetting {
        let size_bins = sizes.iter().map(|size| Bytes(*size)).collect();
        MetricsSetting { size_bins, sample, max_min: false, frames: false }
    }

    #[test]
    fn classes_have_their_upper_ends() {
        let bins = setting(&[1_000, 10_000], None).bins();
        let names: Vec<&str> = bins.iter().map(|bin| bin.name.as_str()).collect();
        assert_eq!(names, ["bin_1000", "bin_10000", "bin_more"]);
        let class = |bytes| SizeBin::index_of(&bins, bytes);
        assert_eq!([class(1), class(1_000), class(1_001)], [Some(0), Some(0), Some(1)]);
        assert_eq!([class(10_000), class(10_001)], [Some(1), Some(2)]);
        assert_eq!(SizeBin::title(&bins, 2), format!("> {}", Bytes(10_000)));
        assert!(setting(&[], None).bins().is_empty());
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let ms = Duration::from_millis(1);
        assert!(setting(&[5, 5], None).check(ms).unwrap_err().contains("expected rising sizes"));
        assert!(setting(&[1; 65], None).check(ms).unwrap_err().contains("at most 64"));
        assert!(setting(&[], Some(Duration::ZERO)).check(ms).unwrap_err().contains("above 0"));
        let ps = Some(Duration::from_ps(1));
        assert!(setting(&[], ps).check(ms).unwrap_err().contains("more than 100000 samples"));
        assert_eq!(setting(&[1, 2], Some(Duration::from_micros(1))).check(ms), Ok(()));
    }
}
