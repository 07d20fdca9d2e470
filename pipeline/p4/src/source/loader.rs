//! Texts of files, which the caller provides.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns the texts of the root file and of included files.
///
/// The caller knows the folders: those of `-I`, and the folder of the file that includes. The front end opens no files.
pub trait Loader {
    /// Returns the text of a file.
    ///
    /// # Errors
    /// Says where the file was searched, or why it cannot be read.
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError>;
}

/// A file that the front end asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include<'a> {
    /// The name as it is written.
    pub name: &'a str,
    /// Who asks.
    pub kind: IncludeKind,
    /// The name of the file with the `#include`, as [`Loaded::name`] gave it; empty for the root and for `-include`.
    pub from: &'a str,
}

/// Why a file is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeKind {
    /// The program's root file, or a file of `-include`.
    Root,
    /// `#include "name"`: searched in the folder of the including file first.
    Quoted,
    /// `#include <name>`
    Angled,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The name for messages. Two requests for one file return the same name.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such file.
    NotFound {
        /// The folders that were searched, in order.
        searched: Vec<String>,
    },
    /// The file exists and cannot be read.
    Unreadable {
        /// The reason.
        reason: String,
        /// Advice; empty if there is none.
        help: String,
    },
}

impl<L: Loader + ?Sized> Loader for &L {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        (**self).load(include)
    }
}

/// Texts in memory, by name, for tests and for built-in files.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    texts: FxHashMap<String, Arc<str>>,
}

impl Texts {
    /// Makes a loader without texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text, in place of an earlier one of this name.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.texts.insert(name.to_owned(), text.into());
        self
    }
}

impl Loader for Texts {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let text = self.texts.get(include.name).ok_or(LoadError::NotFound { searched: Vec::new() })?;
        Ok(Loaded { name: include.name.to_owned(), text: Arc::clone(text) })
    }
}
