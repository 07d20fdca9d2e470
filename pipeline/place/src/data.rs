//! Result of placement: plain data with coordinates.

use super::deparser::DeparserCost;
use super::next_table::LongBranch;
use super::options::Options;
use super::purpose::Purpose;
use serde::Serialize;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Cfg, Node};
use sluice_ir::entity::EntityMap;
use sluice_ir::{Field, Header, ParserState};
use std::sync::Arc;

/// Bits of a field in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlice {
    /// Lowest bit of the field in this slice.
    pub lo: u16,
    /// Number of bits.
    pub width: u16,
    /// Container.
    pub container: Container,
    /// Bit of the container that holds bit `lo` of the field.
    pub at: u8,
}

impl FieldSlice {
    /// Returns true if some bit of the container belongs to both slices.
    #[must_use]
    pub fn meets(&self, other: &FieldSlice) -> bool {
        let end = |s: &FieldSlice| u16::from(s.at) + s.width;
        self.container == other.container
            && u16::from(self.at) < end(other)
            && u16::from(other.at) < end(self)
    }

    /// Returns the part of the slice that holds bits `lo..lo + count` of the field, with these bits counted from 0;
    /// `None` if it holds none.
    #[must_use]
    pub fn within(&self, lo: u16, count: u16) -> Option<FieldSlice> {
        let from = self.lo.max(lo);
        let to = self.lo.saturating_add(self.width).min(lo.saturating_add(count));
        (from < to).then(|| FieldSlice {
            lo: from - lo,
            width: to - from,
            container: self.container,
            at: self.at + (from - self.lo) as u8,
        })
    }
}

/// Position of a header's validity bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PovBit {
    /// Container.
    pub container: Container,
    /// Bit, 0 = least significant.
    pub bit: u8,
}

/// PHV allocation: containers of all used fields and validity bits.
///
/// The bytes of a parsed or emitted header are covered, in wire order and without gaps, by whole containers: a container
/// holds 1, 2 or 4 consecutive bytes of one header, most significant first, so that extractors and the field dictionary can
/// move them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhvAllocation {
    /// Slices of each field, most significant first; empty if the field is not used.
    pub fields: EntityMap<Field, Vec<FieldSlice>>,
    /// Validity bits of the headers in use; `None` if the header is not used.
    pub valid: EntityMap<Header, Option<PovBit>>,
}

/// Part of a logical table in one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Stage, from 0.
    pub stage: u8,
    /// Logical table id in the stage, 0 to 15; tables of a stage take effect in this order.
    pub logical_id: u8,
    /// Entries for which this part has room; TCAM rows of a table with range keys; 0 for gateways and keyless tables.
    pub entries: u32,
}

/// Placement of a node of the control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedNode {
    /// Parts in search order, at least one: a packet that misses in one part is looked up in the next.
    pub parts: Vec<Part>,
    /// Earliest stage that the dependencies alone allow.
    pub min_stage: u8,
    /// Reason why the node is in no earlier stage, in words.
    pub why: String,
}

/// Parser states of one gress in the hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedParser {
    /// Cycles of each state of the program, by state. A state that needs more extractors or match bytes than one TCAM row
    /// has is split.
    pub cycles: EntityMap<ParserState, u16>,
    /// TCAM rows in use.
    pub rows: u32,
    /// Hardware states in order of their rows. Rows before the first state parse the intrinsic metadata.
    pub states: Vec<PlacedState>,
}

/// Hardware copy of a parser state; there is one copy for each combination of stack elements extracted before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedState {
    /// State of the program.
    pub state: ParserState,
    /// Elements extracted before the state, by header stack of the program; zeros at the end are left out.
    pub extracted: Vec<u8>,
    /// First TCAM row.
    pub first_row: u32,
    /// Number of TCAM rows.
    pub rows: u32,
    /// Cycles, one per hardware state.
    pub cycles: u16,
    /// Extractors of 8, 16 and 32 bits used in all cycles (model: chip §6.1); if all extractors have 16 bits, the second
    /// number counts them.
    pub extractors: [u32; 3],
    /// Bytes matched, lookahead included.
    pub match_bytes: u32,
    /// True if the rows of the states before this one do its work as well: it has no rows and no cycles of its own.
    pub carried: bool,
}

/// Placement of one gress: control-flow graph, nodes, parser and stage timing.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedGress {
    /// Control-flow graph.
    pub cfg: Cfg,
    /// Placement of each node.
    pub nodes: EntityMap<Node, PlacedNode>,
    /// Parser.
    pub parser: PlacedParser,
    /// Dependency of each stage of the chip on the stage before it, in this gress.
    pub dependencies: Vec<StageDependency>,
    /// Cycles from the entry of the first stage to the exit of the last.
    pub mau_cycles: u32,
    /// Cycles of the deparser.
    pub deparser_cycles: u32,
    /// Units of the deparser in use.
    pub deparser: DeparserCost,
}

/// Node that uses a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Gress of the node.
    pub gress: Gress,
    /// Node.
    pub node: Node,
}

/// Unit of a stage, by coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Stage, from 0.
    pub stage: u8,
    /// Kind of unit: the column of a resource report that counts it.
    pub column: Column,
    /// First coordinate: row, group or index (model: chip §1.2).
    pub row: u16,
    /// Second coordinate: column, bit, slice or 0.
    pub col: u16,
}

/// Unit in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitUse {
    /// Unit.
    pub unit: Unit,
    /// Owner. A unit that several nodes share appears once per owner.
    pub owner: Owner,
    /// Purpose.
    pub purpose: Purpose,
}

/// A program placed on a chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Chip.
    pub chip: Arc<ChipSpec>,
    /// PHV allocation.
    pub phv: PhvAllocation,
    /// Placement of each gress, by [`Gress::index`].
    pub gresses: [PlacedGress; 2],
    /// All units in use, sorted by unit, then owner.
    pub units: Vec<UnitUse>,
    /// Outcomes that cross stages in which no node runs on them, in order of their first stages.
    pub long_branches: Vec<LongBranch>,
    /// Options with which the program was placed.
    pub options: Options,
}

impl Placement {
    /// Returns the placement of one gress.
    #[must_use]
    pub fn gress(&self, gress: Gress) -> &PlacedGress {
        &self.gresses[gress.index()]
    }
}
