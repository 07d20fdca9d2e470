//! [`Sizes`]: how many bytes messages have.

use super::fault::Fault;
use sluice_asic::names::did_you_mean;
use sluice_pcaps::generate::{Cdf, Draw};

/// Sizes of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All messages have this many bytes.
    Fixed(u64),
    /// Sizes are drawn from a distribution.
    Drawn {
        /// Name of the distribution or of its file.
        name: String,
        /// The distribution; `None` while the file has not been read.
        cdf: Option<Cdf>,
    },
}

impl Sizes {
    /// Returns the sizes of this name: a published distribution, or a file that is still to be read.
    #[must_use]
    pub fn named(name: &str) -> Sizes {
        Sizes::Drawn { name: name.to_owned(), cdf: Cdf::published(name) }
    }

    /// Reads the distribution if it is in a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a distribution.
    pub(super) fn open(
        &mut self,
        key: &'static str,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), Fault> {
        let Sizes::Drawn { name, cdf: cdf @ None } = self else { return Ok(()) };
        let bytes = read(name).map_err(|why| {
            let names: Vec<&str> = Cdf::published_names().collect();
            let near = did_you_mean(name, names.iter().copied());
            Fault::new(key, format!("{why}{near}; expected {}, or a file", names.join(", ")))
        })?;
        let text = String::from_utf8(bytes).map_err(|_| Fault::new(key, format!("{name} is not a text")))?;
        *cdf = Some(Cdf::parse(name, &text).map_err(|e| Fault::new(key, e.to_string()))?);
        Ok(())
    }

    /// Returns the mean size, rounded down; 0 of a distribution that has not been read.
    #[must_use]
    pub fn mean(&self) -> u64 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Drawn { cdf, .. } => cdf.as_ref().map_or(0, Cdf::mean),
        }
    }

    /// Draws a size of at least 1 byte.
    pub(super) fn draw(&self, draw: &mut Draw) -> u64 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Drawn { cdf, .. } => cdf.as_ref().map_or(1, |cdf| cdf.draw(draw)),
        }
    }

    /// Returns the sizes for readers: `ali-storage`, or `65536 B`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Sizes::Fixed(bytes) => format!("{bytes} B"),
            Sizes::Drawn { name, .. } => name.clone(),
        }
    }
}
