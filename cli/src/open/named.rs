//! Files that a TOML file names: an error in one says where the TOML names it.

use crate::console::fail::Failure;
use crate::console::text_file;
use sluice_asic::toml_reader::line_of_text;

/// A TOML file that names other files.
pub(crate) struct Naming {
    /// Its name as the user gave it.
    origin: String,
    text: String,
}

impl Naming {
    pub(crate) fn new(origin: impl Into<String>, text: impl Into<String>) -> Naming {
        Naming { origin: origin.into(), text: text.into() }
    }

    /// Reads the file again, after an error in one that it names.
    pub(crate) fn of_file(origin: impl Into<String>) -> Naming {
        let origin = origin.into();
        let text = text_file::text(&origin).unwrap_or_default();
        Naming { origin, text }
    }

    /// Returns true if the file names this one.
    pub(crate) fn has(&self, name: &str) -> bool {
        line_of_name(&self.text, name).is_some()
    }

    /// Returns the failure of a file with the place at which this file names it: in front of its text, or after a text that begins
    /// with places of its own. A failure of a file that is not named here stays as it is.
    pub(crate) fn failed(&self, name: &str, failure: Failure) -> Failure {
        let Some(line) = line_of_name(&self.text, name) else { return failure };
        let place = format!("{}:{line}", self.origin);
        match failure {
            Failure::Input { text, help } if text.contains("--> ") => {
                Failure::Input { text: format!("{}\n  --> {place}  names the file", text.trim_end()), help }
            }
            other => other.within(&place),
        }
    }
}

/// Returns the line of a TOML file that names a file. A name there may have `{switch}` where the name of a file has that of a switch.
pub(crate) fn line_of_name(text: &str, name: &str) -> Option<usize> {
    line_of_text(text, &|own| own == name).or_else(|| line_of_text(text, &|own| is_of_pattern(own, name)))
}

/// Returns true if a file's name is a pattern with a switch's name in place of `{switch}`.
pub(crate) fn is_of_pattern(pattern: &str, name: &str) -> bool {
    let parts = pattern.split_once("{switch}");
    parts.is_some_and(|(before, after)| name.starts_with(before) && name.ends_with(after))
}
