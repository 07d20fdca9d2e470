//! Purposes of units in use, and their text in reports.

use crate::bits::{ByteRef, PhvView};
use sluice_asic::phv::Container;
use sluice_ir::{Action, Counter, Expr, Hash, Meter, Profile, Program, Register, words};

/// Purpose for which a node uses a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Logical table id of a part.
    LogicalTable,
    /// Table between two stages that passes an outcome on.
    Relay,
    /// Gateway that tests a condition again.
    Retest,
    /// Gateway of a condition, or hash bits for it.
    Condition,
    /// Container byte on an input crossbar.
    Byte {
        /// Container.
        container: Container,
        /// Byte of the container, 0 = least significant.
        lane: u8,
    },
    /// Search bus.
    SearchBus {
        /// Group of the exact crossbar whose bytes it carries.
        xbar: u16,
        /// Hash group whose bits it carries.
        hash: Option<u16>,
    },
    /// RAM of a match way.
    MatchWay {
        /// Way.
        way: u16,
        /// Word of an entry that is several RAMs wide; `None` if it is one RAM wide.
        word: Option<u16>,
    },
    /// Hash bits that address a match way.
    WayAddress(u16),
    /// Result bus of an exact match.
    MatchResult,
    /// Result bus of a table without key.
    FixedResult,
    /// TCAM block with this word of the key.
    KeyWord(u16),
    /// RAM of ternary indirection.
    Indirection,
    /// Result bus of ternary indirection.
    IndirectionResult,
    /// RAM of action data.
    ActionData,
    /// Map RAM of ages.
    Ages,
    /// ALU, data RAM or map RAM of an array.
    Cells(ArrayRef),
    /// Spare bank of an array.
    SpareBank(ArrayRef),
    /// Map RAM of the colours of a meter.
    Colours(Meter),
    /// Hash bits that go straight to the ALU of an array.
    AluInput(ArrayRef),
    /// Hash bits that choose the word of a selector's group.
    SelectorWord,
    /// Hash bits of a computation, and their hash distribution slices.
    Computed(Computation),
    /// Instruction word of an action.
    Instruction(Action),
    /// Output of the action data bus, and its bytes.
    ActionBus,
}

/// Array of cells at counter ALUs or meter ALUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArrayRef {
    /// Selector words of a profile.
    Selector(Profile),
    /// Counter.
    Counter(Counter),
    /// Register.
    Register(Register),
    /// Meter, low-pass filter or WRED.
    Meter(Meter),
}

/// Value that hash bits bring through hash distribution. Nodes of a gress and stage share the bits of equal computations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// Value.
    pub of: Source,
    /// Reader of the value.
    pub to: Sink,
}

/// Source of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Packet value, brought without change.
    Value(Expr),
    /// Result of a hash.
    Hash(Hash),
}

/// Reader of a computation. A slice of hash distribution masks and shifts its output for all readers, so only addresses
/// of equally many cells of one size are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Actions, or the colour input of meters.
    Actions,
    /// Address of registers or meters.
    Cells {
        /// Bits of the address.
        bits: u32,
        /// Bits of a cell.
        cell_bits: u32,
    },
    /// Address of counters, which has a separate bus.
    Counters {
        /// Bits of the address.
        bits: u32,
        /// Cells in a RAM word.
        per_word: u32,
    },
    /// Address of the colours of meters in map RAM.
    Colours {
        /// Bits of the address.
        bits: u32,
    },
}

impl ArrayRef {
    /// Returns the kind of array in a word; filters and WRED count as meters.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            ArrayRef::Selector(_) => "selector",
            ArrayRef::Counter(_) => "counter",
            ArrayRef::Register(_) => "register",
            ArrayRef::Meter(_) => "meter",
        }
    }

    /// Returns kind and name, as in ``register `seen` ``; of a selector, `selector`.
    #[must_use]
    pub fn text(self, program: &Program) -> String {
        match self {
            ArrayRef::Selector(_) => "selector".to_owned(),
            ArrayRef::Counter(c) => format!("counter `{}`", program.counters[c].name),
            ArrayRef::Register(r) => format!("register `{}`", program.registers[r].name),
            ArrayRef::Meter(m) => {
                let data = &program.meters[m];
                let kind = if data.kind.is_coloured() { "meter" } else { data.kind.word() };
                format!("{kind} `{}`", data.name)
            }
        }
    }
}

impl Computation {
    /// Returns the computation of a value for actions.
    #[must_use]
    pub fn for_actions(of: Source) -> Computation {
        Computation { of, to: Sink::Actions }
    }

    /// Returns the value and its reader in words.
    #[must_use]
    pub fn text(&self, program: &Program) -> String {
        let value = match &self.of {
            Source::Value(value) => format!("value {}", value.name(program)),
            Source::Hash(hash) => program.hashes[*hash].name.clone(),
        };
        match self.to {
            Sink::Actions => value,
            Sink::Cells { bits, cell_bits } => format!("{value}, {bits} bits to cells of {cell_bits} bits"),
            Sink::Counters { bits, per_word } => {
                format!("{value}, {bits} bits to counters, {per_word} in a word")
            }
            Sink::Colours { bits } => format!("{value}, {bits} bits to colours"),
        }
    }
}

impl From<ByteRef> for Purpose {
    fn from(byte: ByteRef) -> Purpose {
        Purpose::Byte { container: byte.container, lane: byte.lane }
    }
}

impl Purpose {
    /// Returns the array whose memory or ALU the unit is, spare banks included.
    #[must_use]
    pub fn array(&self) -> Option<ArrayRef> {
        match self {
            Purpose::Cells(array) | Purpose::SpareBank(array) => Some(*array),
            _ => None,
        }
    }

    /// Returns the kind of purpose in words, without names and numbers.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Purpose::LogicalTable => "logical table",
            Purpose::Relay => "relay",
            Purpose::Retest => "retest",
            Purpose::Condition => "condition",
            Purpose::Byte { .. } => "byte",
            Purpose::SearchBus { .. } => "search bus",
            Purpose::MatchWay { .. } => "match way",
            Purpose::WayAddress(_) => "way",
            Purpose::MatchResult => "match result",
            Purpose::FixedResult => "fixed result",
            Purpose::KeyWord(_) => "key word",
            Purpose::Indirection => "indirection",
            Purpose::IndirectionResult => "indirection result",
            Purpose::ActionData => "action data",
            Purpose::Ages => "ages",
            Purpose::Cells(array) | Purpose::SpareBank(array) => array.kind(),
            Purpose::Colours(_) => "colours",
            Purpose::AluInput(ArrayRef::Selector(_)) => "selector",
            Purpose::AluInput(_) | Purpose::ActionBus => "operand",
            Purpose::SelectorWord => "selector word",
            Purpose::Computed(Computation { of: Source::Value(_), .. }) => "value",
            Purpose::Computed(Computation { of: Source::Hash(_), .. }) => "hash",
            Purpose::Instruction(_) => "action",
        }
    }

    /// Returns the purpose in words, as reports show it.
    pub(crate) fn text(&self, program: &Program, view: &PhvView<'_>) -> String {
        match self {
            Purpose::Byte { container, lane } => view.name_of_byte(*container, *lane),
            Purpose::SearchBus { xbar, hash: Some(hash) } => format!("xbar {xbar} hash {hash}"),
            Purpose::SearchBus { xbar, hash: None } => format!("xbar {xbar}"),
            Purpose::MatchWay { way, word: Some(word) } => format!("match way {way} word {word}"),
            Purpose::MatchWay { way: n, word: None } | Purpose::WayAddress(n) | Purpose::KeyWord(n) => {
                format!("{} {n}", self.kind())
            }
            Purpose::Cells(array) => array.text(program),
            Purpose::SpareBank(array) => format!("{} spare bank", array.text(program)),
            Purpose::Colours(meter) => format!("colours of {}", ArrayRef::Meter(*meter).text(program)),
            Purpose::AluInput(array) if self.kind() == "operand" => {
                format!("{} operand", array.text(program))
            }
            Purpose::Computed(computation) => computation.text(program),
            Purpose::Instruction(action) => words::subject(&program.actions[*action]).replace('`', ""),
            _ => self.kind().to_owned(),
        }
    }
}
