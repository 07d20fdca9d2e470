//! Chip specifications: every limit and constant of a chip as documented, serialisable data.
//!
//! The module has the specification structs, the two shipped chips, custom chips from TOML, their validation, and the
//! report columns.

mod alu;
mod assumptions;
mod column;
mod custom;
mod features;
mod hash;
mod latency;
mod mau;
mod parde;
mod phv;
mod ports;
mod power;
mod tm;
mod tofino;
mod tofino2;
mod validate;

pub use alu::{AluSpec, SaluSpec};
pub use column::Column;
pub use custom::{ChipFileError, UnknownKey};
pub use features::Features;
pub use hash::HashSpec;
pub use latency::LatencySpec;
pub use mau::MauSpec;
pub use parde::{DeparserSpec, ParserSpec};
pub use phv::PhvSpec;
pub use ports::{PortSpec, PortSpeed};
pub use power::PowerSpec;
pub use tm::{BafRule, TmSpec};
pub use validate::{ChipProblem, ChipProblems};

use serde::{Deserialize, Serialize};

/// Value that public sources do not give and that the model therefore chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// The path of the field that holds the value, for example `latency.mac_rx`.
    pub id: String,
    /// Assumption in one sentence.
    pub text: String,
    /// Value of the field as text, taken from the specification that lists the assumption.
    pub value: String,
    /// Reason for the value.
    pub why: String,
}

/// Specification of one chip: all limits and constants of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipSpec {
    /// The name by which `--chip` and reports call it.
    pub name: String,
    /// One line about the chip.
    pub doc: String,
    /// The match-action unit.
    pub mau: MauSpec,
    /// The packet header vector.
    pub phv: PhvSpec,
    /// The parsers.
    pub parser: ParserSpec,
    /// The deparsers.
    pub deparser: DeparserSpec,
    /// The stateful ALU.
    pub salu: SaluSpec,
    /// The VLIW ALUs.
    pub alu: AluSpec,
    /// Constants of the latency formulas.
    pub latency: LatencySpec,
    /// The traffic manager.
    pub tm: TmSpec,
    /// Ports and MACs.
    pub ports: PortSpec,
    /// Hash outputs and their consumers.
    pub hash: HashSpec,
    /// Features that differ between chips.
    pub features: Features,
    /// Constants of the power model.
    pub power: PowerSpec,
    /// Values that public sources do not give.
    pub assumptions: Vec<Assumption>,
}

impl ChipSpec {
    /// Names that [`ChipSpec::from_name`] knows.
    pub const NAMES: [&str; 2] = ["tofino", "tofino2"];

    /// Tofino: 4 pipes of 12 stages, 64 ports of 100 Gb/s.
    pub fn tofino() -> Self {
        assumptions::with_values(tofino::spec())
    }

    /// Tofino 2: 4 pipes of 20 stages, 32 ports of 400 Gb/s.
    pub fn tofino2() -> Self {
        assumptions::with_values(tofino2::spec())
    }

    /// Returns the shipped chip of this name, one of [`ChipSpec::NAMES`].
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tofino" => Some(Self::tofino()),
            "tofino2" => Some(Self::tofino2()),
            _ => None,
        }
    }
}
