//! Networks from a file. What may not live here: routing.
//!
//! ```toml
//! name = "two tiers"
//! [[switch]]
//! name = "leaf0"
//! stage = 1
//! block = 0
//! edge = true
//! [[cable]]
//! between = ["leaf0", "spine0"]
//! links = 2
//! weight = 1
//! ```

use super::shortest::Cable;
use super::{Network, TopologyError};
use serde::Deserialize;
use thiserror::Error;

/// Why a file is no network.
#[derive(Debug, Error)]
pub enum FileError {
    /// No TOML, or other keys than these.
    #[error("{origin}: {source}")]
    Toml {
        /// The file.
        origin: String,
        /// Line, column and reason.
        source: Box<toml::de::Error>,
    },
    /// The network makes no sense.
    #[error("{origin}: {source}")]
    Topology {
        /// The file.
        origin: String,
        /// Why.
        source: TopologyError,
    },
    /// Too few edges.
    #[error("{origin}: {found} switch(es) with edge = true; flows need at least two")]
    Edges {
        /// The file.
        origin: String,
        /// Edges found.
        found: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    switch: Vec<FileSwitch>,
    cable: Vec<FileCable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSwitch {
    name: String,
    stage: u32,
    #[serde(default)]
    block: u32,
    #[serde(default)]
    edge: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCable {
    between: [String; 2],
    #[serde(default = "one")]
    links: u32,
    #[serde(default = "one")]
    weight: u32,
}

const fn one() -> u32 {
    1
}

impl Network {
    /// The network of a TOML text; `origin` names it in errors. Packets take all shortest paths.
    ///
    /// # Errors
    /// When the text is not of the form above, names switches that are not there, or edges do not reach each other.
    pub fn from_toml(text: &str, origin: &str) -> Result<Network, FileError> {
        let file: File = toml::from_str(text)
            .map_err(|source| FileError::Toml { origin: origin.to_owned(), source: Box::new(source) })?;
        let bad = |source| FileError::Topology { origin: origin.to_owned(), source };
        let mut net = Network::new(file.name, 1);
        net.between_blocks = false;
        for s in file.switch {
            let node = net.switch(s.name, s.stage, s.block);
            if s.edge {
                net.edges.push(node);
            }
        }
        if net.edges.len() < 2 {
            return Err(FileError::Edges { origin: origin.to_owned(), found: net.edges.len() });
        }
        let mut cables = Vec::new();
        for c in file.cable {
            let [a, b] = [net.switch_named(&c.between[0]), net.switch_named(&c.between[1])];
            super::in_range("links", c.links, 1024, "1 to 1024").map_err(bad)?;
            super::in_range("weight", c.weight, 4096, "1 to 4096").map_err(bad)?;
            cables.push(Cable { a: a.map_err(bad)?, b: b.map_err(bad)?, count: c.links, weight: c.weight });
        }
        net.route_shortest(&cables).map_err(bad)?;
        Ok(net)
    }
}
