//! The result of placement: plain data with coordinates.

use super::deparser::DeparserCost;
use super::next_table::LongBranch;
use super::options::Options;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Cfg, Node};
use sluice_ir::entity::EntityMap;
use sluice_ir::{Field, Header, ParserState};
use std::sync::Arc;

/// Bits of a field in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlice {
    /// Lowest bit of the field that is here.
    pub lo: u16,
    /// Number of bits.
    pub width: u16,
    /// The container.
    pub container: Container,
    /// Bit of the container that holds bit `lo` of the field.
    pub at: u8,
}

impl FieldSlice {
    /// Whether some bit of the container is in both.
    #[must_use]
    pub fn meets(&self, other: &FieldSlice) -> bool {
        let end = |s: &FieldSlice| u16::from(s.at) + s.width;
        self.container == other.container
            && u16::from(self.at) < end(other)
            && u16::from(other.at) < end(self)
    }
}

/// Where a header's validity bit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PovBit {
    /// The container.
    pub container: Container,
    /// The bit.
    pub bit: u8,
}

/// Where every used field and validity bit is.
///
/// The bytes of a header that is parsed or emitted are covered, in wire order and without gaps, by whole
/// containers (a container holds 1, 2 or 4 consecutive bytes of one header, most significant first) so
/// that extractors and field dictionary can move them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhvAllocation {
    /// Slices of each field, most significant first; empty when the field is not used.
    pub fields: EntityMap<Field, Vec<FieldSlice>>,
    /// Validity bits of the headers used.
    pub valid: EntityMap<Header, Option<PovBit>>,
}

/// A part of a logical table in one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Stage from 0.
    pub stage: u8,
    /// Logical table id in the stage, 0..16; order of predication within the stage.
    pub logical_id: u8,
    /// Entries that this part can hold; TCAM rows of a table with range keys; 0 for gateways and keyless tables.
    pub entries: u32,
}

/// Where a node of the flow is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedNode {
    /// Parts in search order: a packet that misses one goes on to the next. At least one.
    pub parts: Vec<Part>,
    /// Earliest stage that the dependencies alone allow.
    pub min_stage: u8,
    /// Why it is not in an earlier stage than it is, in words.
    pub why: String,
}

/// Hardware parser states of one gress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedParser {
    /// Cycles that each state of the program costs (states that need more extractors or match bytes than
    /// one TCAM row has are split).
    pub cycles: EntityMap<ParserState, u16>,
    /// TCAM rows used.
    pub rows: u32,
    /// The states as the hardware has them, in order of their rows. Rows before the first one's are those of the
    /// intrinsic metadata.
    pub states: Vec<PlacedState>,
}

/// A state of the program in the hardware: one copy for each combination of stack elements before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedState {
    /// The state.
    pub state: ParserState,
    /// Elements extracted before it, by stack of the program; those at the end that are zero are left out.
    pub extracted: Vec<u8>,
    /// First TCAM row.
    pub first_row: u32,
    /// TCAM rows.
    pub rows: u32,
    /// Hardware states, a cycle each.
    pub cycles: u16,
    /// Extractors of 8, 16 and 32 bits used in all its cycles (model: chip §6.1); where all have 16 bits, the
    /// second number counts them.
    pub extractors: [u32; 3],
    /// Bytes matched, lookahead included.
    pub match_bytes: u32,
}

/// Per gress: flow, places, parser and stage timing.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedGress {
    /// The flattened control block.
    pub cfg: Cfg,
    /// Where each node is.
    pub nodes: EntityMap<Node, PlacedNode>,
    /// The parser.
    pub parser: PlacedParser,
    /// How each stage of the chip depends on the one before, in this gress.
    pub dependencies: Vec<StageDependency>,
    /// Cycles from the first stage's entry to the last one's exit.
    pub mau_cycles: u32,
    /// Cycles of the deparser.
    pub deparser_cycles: u32,
    /// Units of the deparser.
    pub deparser: DeparserCost,
}

/// Who uses a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Gress of the node.
    pub gress: Gress,
    /// The node.
    pub node: Node,
}

/// A unit of a stage by coordinates; the column that counts it is `column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Stage from 0.
    pub stage: u8,
    /// What kind of unit.
    pub column: Column,
    /// First coordinate: row, group or index (model: chip §1.2).
    pub row: u16,
    /// Second coordinate: column, bit, slice or 0.
    pub col: u16,
}

/// A unit in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitUse {
    /// The unit.
    pub unit: Unit,
    /// Who uses it; units that may be shared appear once per owner.
    pub owner: Owner,
    /// What for, in a word or two (`match way 2`, `action data`, `spare bank`).
    pub purpose: String,
}

/// A program placed on a chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The chip.
    pub chip: Arc<ChipSpec>,
    /// Where every field is.
    pub phv: PhvAllocation,
    /// Index with [`Gress::index`].
    pub gresses: [PlacedGress; 2],
    /// Every unit used, sorted by unit, then owner.
    pub units: Vec<UnitUse>,
    /// Outcomes that cross stages in which nothing runs on them, in order of their first stages.
    pub long_branches: Vec<LongBranch>,
    /// How it was placed.
    pub options: Options,
}

impl Placement {
    /// One gress.
    #[must_use]
    pub fn gress(&self, gress: Gress) -> &PlacedGress {
        &self.gresses[gress.index()]
    }
}
