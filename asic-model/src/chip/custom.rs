//! Custom chips: a TOML file that names a base and the values that differ from it.

use super::assumptions::with_values;
use super::{ChipProblems, ChipSpec};
use crate::names::{did_you_mean, nearest};
use crate::toml_reader::{Mistake, line_of, read_table};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reason for which a chip file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChipFileError {
    /// The file is not TOML.
    #[error("{origin}:{line}: not valid TOML: {message}")]
    Syntax {
        /// The file, as the caller named it.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// Message of the TOML parser.
        message: String,
    },
    /// `base` is not the name of a shipped chip.
    #[error("{origin}:{line}: `base` is `{found}`; expected one of {known}{}", did_you_mean(.found, ChipSpec::NAMES), known = ChipSpec::NAMES.join(", "))]
    UnknownBase {
        /// The file, as the caller named it.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// The value found.
        found: String,
    },
    /// The file has keys that no chip has; all of them are listed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    UnknownKeys(Vec<UnknownKey>),
    /// A key's value has the wrong type or cannot be read.
    #[error("{origin}:{line}: `{path}`: {message}")]
    BadValue {
        /// The file, as the caller named it.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// The key's path.
        path: String,
        /// Value found and value expected.
        message: String,
    },
    /// A file without `base` does not give every key.
    #[error("{origin}: {message}; give every key, or start from a shipped chip with `base = \"tofino2\"`")]
    Incomplete {
        /// The file, as the caller named it.
        origin: String,
        /// Missing key.
        message: String,
    },
    /// Every value can be read, but together the values are inconsistent.
    #[error("{origin}: {problems}")]
    Impossible {
        /// The file, as the caller named it.
        origin: String,
        /// All problems.
        problems: ChipProblems,
    },
}

/// A key that no chip has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: unknown key `{path}`{}", .nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownKey {
    /// Name of the file, as the caller gave it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// The key's path.
    pub path: String,
    /// Path of the most similar known key.
    pub nearest: Option<String>,
}

/// A value that the file gives, with its place.
struct Leaf {
    path: Vec<String>,
    line: usize,
}

impl ChipSpec {
    /// Reads a chip from TOML text: `base = "tofino2"` and the values that differ from it, or every key without a
    /// base. Tables merge key by key; arrays are replaced whole. Without `name` the chip is called
    /// `<base>-custom`. `origin` names the text in messages.
    ///
    /// # Errors
    /// Text that is not TOML, an unknown base, unknown keys (all of them, with the nearest known one),
    /// values of the wrong type, and values that [`ChipSpec::validate`] refuses.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ChipFileError> {
        let document = DeTable::parse(text).map_err(|error| syntax(text, origin, &error))?;
        let base = base_of(document.get_ref(), text, origin)?;
        let shape = base.as_ref().unwrap_or(&Self::tofino2()).to_toml();
        let shape = shape.map_err(|error| incomplete(origin, &error))?;
        let known = DeTable::parse(&shape).map_err(|error| incomplete(origin, &error))?;
        let mut walk = Walk { text, origin, leaves: Vec::new(), unknown: Vec::new() };
        walk.table(document.get_ref(), known.get_ref(), &mut Vec::new());
        if !walk.unknown.is_empty() {
            return Err(ChipFileError::UnknownKeys(walk.unknown));
        }
        let (span, mut merged) = (document.span(), document.into_inner());
        merged.remove("base");
        if base.is_some() {
            add_missing(&mut merged, known.into_inner());
        }
        let mut spec: Self =
            read_table(span, merged).map_err(|mistake| bad_value(&walk.leaves, origin, &mistake))?;
        if let Some(base) = base {
            finish(&mut spec, &base, &walk.leaves, origin);
        }
        let spec = with_values(spec);
        spec.validate()
            .map_err(|problems| ChipFileError::Impossible { origin: origin.to_owned(), problems })?;
        Ok(spec)
    }

    /// Returns the whole chip as TOML that [`ChipSpec::from_toml`] reads back to an equal chip.
    ///
    /// # Errors
    /// Never fails for a chip that [`ChipSpec::validate`] accepts; the type is the serialiser's.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// Sets name and assumptions of a chip that differs from its base.
fn finish(spec: &mut ChipSpec, base: &ChipSpec, leaves: &[Leaf], origin: &str) {
    let paths: Vec<String> = leaves.iter().map(|leaf| leaf.path.join(".")).collect();
    if !paths.iter().any(|path| path == "name") {
        spec.name = format!("{}-custom", base.name);
    }
    if paths.iter().any(|path| path == "assumptions") {
        return;
    }
    for assumption in &mut spec.assumptions {
        if paths.contains(&assumption.id) {
            assumption.why = format!("set by {origin}");
        }
    }
}

fn base_of(document: &DeTable<'_>, text: &str, origin: &str) -> Result<Option<ChipSpec>, ChipFileError> {
    let Some((_, value)) = document.iter().find(|(key, _)| key.get_ref() == "base") else { return Ok(None) };
    let found = match value.get_ref() {
        DeValue::String(name) => name.to_string(),
        other => format!("a {}", other.type_str()),
    };
    let line = line_of(text, value.span().start);
    let unknown = || ChipFileError::UnknownBase { origin: origin.to_owned(), line, found: found.clone() };
    ChipSpec::from_name(&found).map(Some).ok_or_else(unknown)
}

/// Walk over a document in parallel with the tree of a known chip.
struct Walk<'a> {
    text: &'a str,
    origin: &'a str,
    leaves: Vec<Leaf>,
    unknown: Vec<UnknownKey>,
}

impl Walk<'_> {
    fn table(&mut self, given: &DeTable<'_>, known: &DeTable<'_>, path: &mut Vec<String>) {
        for (key, value) in given {
            let name = key.get_ref().as_ref();
            if path.is_empty() && name == "base" {
                continue;
            }
            let line = line_of(self.text, key.span().start);
            path.push(name.to_owned());
            match (known.get(name).map(Spanned::get_ref), value.get_ref()) {
                (None, _) => self.unknown(known, path, line),
                (Some(DeValue::Table(known)), DeValue::Table(given)) => self.table(given, known, path),
                (Some(_), _) => self.leaves.push(Leaf { path: path.clone(), line }),
            }
            path.pop();
        }
    }

    fn unknown(&mut self, known: &DeTable<'_>, path: &[String], line: usize) {
        let Some((name, parents)) = path.split_last() else { return };
        let near = nearest(name, known.keys().map(|key| key.get_ref().as_ref()));
        let full = |key: &str| parents.iter().map(String::as_str).chain([key]).collect::<Vec<_>>().join(".");
        let (path, nearest) = (full(name), near.map(full));
        self.unknown.push(UnknownKey { origin: self.origin.to_owned(), line, path, nearest });
    }
}

/// Adds the values of `more` that a table lacks.
fn add_missing<'t>(table: &mut DeTable<'t>, more: DeTable<'t>) {
    for (key, value) in more {
        match table.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut) {
            None => _ = table.insert(key, value),
            Some(DeValue::Table(own)) => {
                if let DeValue::Table(more) = value.into_inner() {
                    add_missing(own, more);
                }
            }
            Some(_) => {}
        }
    }
}

/// Returns the error about the value of the file that cannot be read; if there is none, a key is missing.
fn bad_value(leaves: &[Leaf], origin: &str, mistake: &Mistake) -> ChipFileError {
    let path: Vec<&str> = mistake.path().collect();
    let leaf = leaves
        .iter()
        .find(|leaf| path.iter().zip(&leaf.path).filter(|(a, b)| a == b).count() == leaf.path.len());
    match (leaf, mistake.missing_key()) {
        (Some(leaf), _) => ChipFileError::BadValue {
            origin: origin.to_owned(),
            line: leaf.line,
            path: leaf.path.join("."),
            message: mistake.to_string(),
        },
        (None, Some(key)) => incomplete(origin, &format!("missing field `{key}`")),
        (None, None) => incomplete(origin, mistake),
    }
}

fn incomplete(origin: &str, message: &dyn std::fmt::Display) -> ChipFileError {
    ChipFileError::Incomplete { origin: origin.to_owned(), message: message.to_string() }
}

fn syntax(text: &str, origin: &str, error: &toml::de::Error) -> ChipFileError {
    let line = line_of(text, error.span().map_or(0, |span| span.start));
    ChipFileError::Syntax { origin: origin.to_owned(), line, message: error.message().trim_end().to_owned() }
}
