//! What an interpreter tells while it works.

use crate::packet::Packet;
use crate::pass::{Count, GhostUpdate, PassOut};
use sluice_asic::gress::Gress;
use sluice_asic::salu::State as Element;
use sluice_control::EntryId;
use sluice_ir::{
    Action, ActionCall, Cond, Counter, Field, Hash, Header, Label, Loc, Meter, Next, ParserState, Program,
    Random, RegisterAction, Request, Table,
};

/// One step of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A packet enters a gress.
    PassStart {
        /// The gress.
        gress: Gress,
        /// The packet.
        packet: Packet,
        /// The dev_port that it came in by, or leaves by.
        port: u16,
        /// Its length without FCS.
        bytes: u32,
    },
    /// The parser enters a state.
    State {
        /// The state.
        state: ParserState,
        /// Bytes extracted so far.
        offset: usize,
        /// Clock cycles that the state costs.
        cycles: u16,
    },
    /// The parser extracted a header.
    Extracted {
        /// The header.
        header: Header,
        /// Byte of the packet that it starts at.
        offset: usize,
    },
    /// The parser verified a checksum.
    Verified {
        /// The 1-bit field that holds the result.
        field: Field,
        /// Whether the checksum is wrong.
        wrong: bool,
        /// Where the program says so.
        loc: Loc,
    },
    /// The parser chose what follows a state.
    Selected {
        /// The state.
        state: ParserState,
        /// Values of its select fields.
        values: &'a [u128],
        /// What follows.
        next: Next,
    },
    /// The parser moved past bytes.
    Skipped {
        /// How many.
        bytes: usize,
        /// Byte of the packet that the first of them is.
        offset: usize,
    },
    /// The parser counter was changed.
    ParserCounter {
        /// Its value now.
        value: i8,
        /// Where the program says so.
        loc: Loc,
    },
    /// The parser found an error.
    ParserError {
        /// Bits as in `parser_err` (model: chip §10).
        bits: u16,
    },
    /// A table was looked up.
    Applied {
        /// The table.
        table: Table,
        /// Values of its key fields.
        key: &'a [u128],
        /// The entry that matched, `None` for a miss.
        entry: Option<EntryId>,
        /// The group that the entry named.
        group: Option<u32>,
        /// The member that the entry named or the selector picked.
        member: Option<u32>,
        /// The action that runs next, with its arguments.
        call: &'a ActionCall,
        /// Where the program says so.
        loc: Loc,
    },
    /// A gateway decided.
    Gateway {
        /// The condition.
        cond: &'a Cond,
        /// Whether it holds.
        holds: bool,
        /// Where the program says so.
        loc: Loc,
    },
    /// An action runs without a table.
    Called {
        /// The action.
        action: Action,
        /// Where the program says so.
        loc: Loc,
    },
    /// A field was written.
    Wrote {
        /// The field.
        field: Field,
        /// What it held.
        old: u128,
        /// What it holds.
        new: u128,
        /// Where the program says so.
        loc: Loc,
    },
    /// A hash was computed.
    Hashed {
        /// The computation.
        hash: Hash,
        /// Its result.
        value: u64,
        /// Where the program says so.
        loc: Loc,
    },
    /// A header was made valid or invalid by an action.
    Validity {
        /// The header.
        header: Header,
        /// Whether it is valid now.
        valid: bool,
        /// Where the program says so.
        loc: Loc,
    },
    /// A counter counted the packet.
    Counted {
        /// The counter.
        counter: Counter,
        /// The cell.
        index: u128,
        /// What the cell holds now.
        now: Count,
        /// Where the program says so.
        loc: Loc,
    },
    /// A register's element was accessed.
    Accessed {
        /// What was done to it.
        action: RegisterAction,
        /// The element.
        index: u128,
        /// What it held.
        before: Element,
        /// What it holds now.
        after: Element,
        /// The output words.
        outputs: [u32; 4],
        /// Where the program says so.
        loc: Loc,
    },
    /// A drop primitive named a label.
    Dropped {
        /// The label.
        label: Label,
        /// Where the program says so.
        loc: Loc,
    },
    /// The deparser computed a checksum.
    Checksum {
        /// The field written.
        field: Field,
        /// Its value.
        value: u16,
        /// Where the program says so.
        loc: Loc,
    },
    /// The deparser emitted a header.
    Emitted {
        /// The header.
        header: Header,
        /// Byte of the outgoing packet that it starts at.
        offset: usize,
    },
    /// The deparser makes something beside the packet.
    Requested {
        /// What.
        request: &'a Request,
        /// The bytes of its header.
        data: &'a [u8],
    },
    /// A meter, filter or WRED was asked.
    Asked {
        /// The array.
        meter: Meter,
        /// The cell.
        index: u128,
        /// Colour or sample brought along.
        input: u32,
        /// The answer.
        answer: u32,
        /// Where the program says so.
        loc: Loc,
    },
    /// A random number was used.
    Drew {
        /// The generator.
        random: Random,
        /// The number.
        value: u64,
        /// Where the program says so.
        loc: Loc,
    },
    /// The ghost control begins.
    GhostStart {
        /// What it sees.
        update: &'a GhostUpdate,
    },
    /// The pass is over.
    PassEnd {
        /// How it ended.
        output: PassOut,
    },
    /// A field of a header that is not valid is about to be read. Only told to a tracer that asks for it; keys of
    /// tables, which may be of such headers, are left out.
    ReadInvalid {
        /// The field.
        field: Field,
        /// Where the program says so.
        loc: Loc,
    },
}

/// Sees every step of every pass.
pub trait Tracer {
    /// One step, in the order in which they happen.
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        let _ = (program, event);
    }

    /// Whether to look at what is read, for [`Event::ReadInvalid`]: that takes time.
    fn watches_reads(&self) -> bool {
        false
    }

    /// Another one that sees the steps of another interpreter; `None` if all steps must be seen by one.
    fn fork(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Tracer for NoTrace {
    fn fork(&self) -> Option<NoTrace> {
        Some(NoTrace)
    }
}
