//! Copies of parsers: one for each place that applies an instance.

use super::super::places::Place;
use crate::elaborate::BlockId;
use crate::syntax::ast::DeclId;
use rustc_hash::FxHashMap;

/// A copy of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FrameId(pub usize);

/// A place in a copy of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Point {
    /// The copy.
    pub frame: FrameId,
    /// The state.
    pub state: DeclId,
    /// The number of statements that have run.
    pub statement: usize,
}

/// What a parameter of a parser stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// The packet.
    Packet,
    /// Storage of the gress.
    Place(Place),
    /// A variable of a copy of a parser.
    Local(FrameId, DeclId),
}

/// A copy of a parser.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The instance.
    pub block: BlockId,
    /// The parameters; absent are those that have values of their own.
    pub params: FxHashMap<DeclId, Bound>,
    /// Where paths go on after `accept`; `None` for the parser of the gress.
    pub then: Option<Point>,
    /// In front of the names of its states.
    pub prefix: String,
}
