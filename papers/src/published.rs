//! Values that papers and their authors' simulators published, in one file.

use crate::read;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// The file of published values.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The papers, in the order of pages.
    pub paper: Vec<Paper>,
    /// The values.
    pub value: Vec<PublishedValue>,
}

/// A paper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// First part of the ids of its experiments.
    pub id: String,
    /// Authors, title, place and year.
    pub title: String,
    /// How its values were read, as far as it holds for all of them; empty by default.
    #[serde(default)]
    pub note: String,
}

/// A published value, or the fact that none was published.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// Id: `paper/figure/what`.
    pub id: String,
    /// The value; absent if no number was published.
    pub value: Option<f64>,
    /// Unit; empty for a ratio.
    #[serde(default)]
    pub unit: String,
    /// Place on the horizontal axis of a figure, if it is a point of one.
    #[serde(skip_serializing)]
    pub x: Option<f64>,
    /// Half of the distance between neighbouring values that the reading cannot tell apart, in the value's unit; 0 for an
    /// exact value.
    #[serde(default)]
    pub precision: f64,
    /// How the value was read.
    pub read: Reading,
    /// Who gave the value.
    #[serde(skip_serializing)]
    pub side: Side,
    /// Place of the value: figure, table, section, file.
    pub source: String,
}

/// How a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// A number in a text.
    Text,
    /// A number in a table.
    Table,
    /// A point of a figure, measured in the picture.
    Digitised,
    /// Computed from published formulas or files.
    Computed,
    /// No number was published.
    None,
}

impl Reading {
    /// Returns the word for readers.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Reading::Text => "text",
            Reading::Table => "table",
            Reading::Digitised => "digitised",
            Reading::Computed => "computed",
            Reading::None => "no number published",
        }
    }
}

impl Serialize for Reading {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Who gave a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The paper.
    Paper,
    /// The authors' simulator, or an independent run of it.
    Reference,
    /// A closed form.
    Theory,
}

impl Published {
    /// Parses the file and checks that ids are unique, that readings and values agree, and that each value is of a paper.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown keys, or a value contradicts itself.
    pub fn parse(text: &str) -> Result<Published, String> {
        let file: Published = read(text)?;
        let mut seen = BTreeMap::new();
        for value in &file.value {
            let id = &value.id;
            if seen.insert(id.clone(), ()).is_some() {
                return Err(format!("published value `{id}` is there twice"));
            }
            if value.value.is_none() != (value.read == Reading::None) {
                return Err(format!(
                    "published value `{id}`: a value and `read = \"none\"` exclude each other"
                ));
            }
            if !file.paper.iter().any(|paper| id.split('/').next() == Some(paper.id.as_str())) {
                return Err(format!("published value `{id}` belongs to no paper of the file"));
            }
        }
        Ok(file)
    }

    /// Returns the value with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&PublishedValue> {
        self.value.iter().find(|value| value.id == id)
    }

    /// Returns the paper of an experiment.
    #[must_use]
    pub fn paper_of(&self, experiment: &str) -> Option<&Paper> {
        self.paper.iter().find(|paper| experiment.split('/').next() == Some(paper.id.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: &str = "[[paper]]\nid = \"p\"\ntitle = \"P\"\n";

    fn parse(values: &str) -> Result<Published, String> {
        Published::parse(&format!("{PAPER}{values}"))
    }

    #[test]
    fn a_value_has_a_reading_and_a_paper() {
        let value = |id: &str, rest: &str| {
            format!("[[value]]\nid = \"{id}\"\nside = \"paper\"\nsource = \"§1\"\n{rest}\n")
        };
        let good = parse(&value("p/f/x", "read = \"table\"\nvalue = 1.5")).unwrap();
        assert_eq!(good.find("p/f/x").unwrap().value, Some(1.5));
        assert_eq!(good.paper_of("p/anything").unwrap().title, "P");
        for (text, said) in [
            (value("p/f/x", "read = \"none\"\nvalue = 1.5"), "exclude each other"),
            (value("p/f/x", "read = \"text\""), "exclude each other"),
            (value("q/f/x", "read = \"none\""), "belongs to no paper"),
            (value("p/f/x", "read = \"none\"").repeat(2), "twice"),
            (value("p/f/x", "read = \"seen\""), "unknown word `seen`"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
