//! The profiles that come with the product. Each is a file; nothing of it is in code.

use super::file::{BufferFile, BufferFileError};

/// Name and text of each.
const SHIPPED: [(&str, &str); 6] = [
    ("td2", include_str!("../../../profiles/td2.toml")),
    ("th", include_str!("../../../profiles/th.toml")),
    ("th2", include_str!("../../../profiles/th2.toml")),
    ("tofino", include_str!("../../../profiles/tofino.toml")),
    ("tofino2", include_str!("../../../profiles/tofino2.toml")),
    ("voq", include_str!("../../../profiles/voq.toml")),
];

impl BufferFile {
    /// The names of the profiles that come with the product.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The text of one of them.
    pub fn text_of(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// One of them.
    ///
    /// # Errors
    /// Never with what is shipped; the tests parse them all.
    pub fn shipped(name: &str) -> Option<Result<Self, BufferFileError>> {
        Self::text_of(name).map(|text| Self::parse(name, text))
    }
}
