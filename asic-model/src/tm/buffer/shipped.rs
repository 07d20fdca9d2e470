//! Profiles that come with the product. Each is a TOML file.

use super::file::{BufferFile, BufferFileError};

/// Name and text of each profile.
const SHIPPED: [(&str, &str); 9] = [
    ("td2", include_str!("../../../profiles/td2.toml")),
    ("td3", include_str!("../../../profiles/td3.toml")),
    ("th", include_str!("../../../profiles/th.toml")),
    ("th2", include_str!("../../../profiles/th2.toml")),
    ("th3", include_str!("../../../profiles/th3.toml")),
    ("th5", include_str!("../../../profiles/th5.toml")),
    ("tofino", include_str!("../../../profiles/tofino.toml")),
    ("tofino2", include_str!("../../../profiles/tofino2.toml")),
    ("voq", include_str!("../../../profiles/voq.toml")),
];

impl BufferFile {
    /// Returns the names of the shipped profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Returns the text of a shipped profile.
    pub fn text_of(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// Parses a shipped profile; `None` if there is none of this name.
    ///
    /// # Errors
    /// Never fails for shipped text; a test parses every profile.
    pub fn shipped(name: &str) -> Option<Result<Self, BufferFileError>> {
        Self::text_of(name).map(|text| Self::parse(name, text))
    }
}
