//! Events of an interpreter's trace.

use super::phv::Phv;
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
        /// Gress.
        gress: Gress,
        /// Packet.
        packet: Packet,
        /// dev_port on which the packet arrived or will leave.
        port: u16,
        /// Length without FCS.
        bytes: u32,
    },
    /// The parser enters a state.
    State {
        /// State.
        state: ParserState,
        /// Bytes extracted so far.
        offset: usize,
        /// Clock cycles of the state.
        cycles: u16,
    },
    /// The parser extracted a header.
    Extracted {
        /// Header.
        header: Header,
        /// Offset of its first byte in the packet.
        offset: usize,
    },
    /// The parser verified a checksum.
    Verified {
        /// 1-bit field for the result.
        field: Field,
        /// True if the checksum is wrong.
        wrong: bool,
        /// Source location.
        loc: Loc,
    },
    /// The parser chose the successor of a state.
    Selected {
        /// State.
        state: ParserState,
        /// Values of the select fields.
        values: &'a [u128],
        /// The arm that was taken; `None`: the default.
        arm: Option<usize>,
        /// Successor.
        next: Next,
    },
    /// The parser skipped bytes.
    Skipped {
        /// Number of bytes.
        bytes: usize,
        /// Offset of the first of them in the packet.
        offset: usize,
    },
    /// The parser counter was changed.
    ParserCounter {
        /// New value.
        value: i8,
        /// Source location.
        loc: Loc,
    },
    /// The parser found an error.
    ParserError {
        /// Bits as in `parser_err` (model: chip §10).
        bits: u16,
    },
    /// A table was looked up.
    Applied {
        /// Table.
        table: Table,
        /// Values of the key fields.
        key: &'a [u128],
        /// Entry that matched; `None` for a miss.
        entry: Option<EntryId>,
        /// Group that the entry names.
        group: Option<u32>,
        /// Member that the entry names or the selector picked.
        member: Option<u32>,
        /// Action that runs next, with its arguments.
        call: &'a ActionCall,
        /// Source location.
        loc: Loc,
    },
    /// A gateway tested its condition.
    Gateway {
        /// Condition.
        cond: &'a Cond,
        /// True if the condition holds.
        holds: bool,
        /// Source location.
        loc: Loc,
    },
    /// An action runs without a table.
    Called {
        /// Action.
        action: Action,
        /// Source location.
        loc: Loc,
    },
    /// A field was written.
    Wrote {
        /// Field.
        field: Field,
        /// Old value.
        old: u128,
        /// New value.
        new: u128,
        /// Source location.
        loc: Loc,
    },
    /// A hash was computed.
    Hashed {
        /// Hash computation.
        hash: Hash,
        /// Result.
        value: u64,
        /// Source location.
        loc: Loc,
    },
    /// A header was made valid or invalid by an action or by the parser.
    Validity {
        /// Header.
        header: Header,
        /// True if the header is now valid.
        valid: bool,
        /// Source location.
        loc: Loc,
    },
    /// A counter counted the packet.
    Counted {
        /// Counter.
        counter: Counter,
        /// Cell.
        index: u128,
        /// New value of the cell.
        now: Count,
        /// Source location.
        loc: Loc,
    },
    /// A register's element was accessed.
    Accessed {
        /// Register action.
        action: RegisterAction,
        /// Index of the element.
        index: u128,
        /// Old value.
        before: Element,
        /// New value.
        after: Element,
        /// Output words.
        outputs: [u32; 4],
        /// Source location.
        loc: Loc,
    },
    /// A drop primitive named a reason.
    Dropped {
        /// Reason.
        label: Label,
        /// Source location.
        loc: Loc,
    },
    /// The deparser computed a checksum.
    Checksum {
        /// Field that was written.
        field: Field,
        /// Value.
        value: u16,
        /// Source location.
        loc: Loc,
    },
    /// The deparser emitted a header.
    Emitted {
        /// Header.
        header: Header,
        /// Offset of its first byte in the outgoing packet.
        offset: usize,
    },
    /// The deparser made a copy, digest or request.
    Requested {
        /// Kind.
        request: &'a Request,
        /// Bytes of its header.
        data: &'a [u8],
    },
    /// A meter, low-pass filter or WRED was accessed.
    Asked {
        /// Array.
        meter: Meter,
        /// Cell.
        index: u128,
        /// Colour or sample from the packet.
        input: u32,
        /// Result.
        answer: u32,
        /// Source location.
        loc: Loc,
    },
    /// A random number was used.
    Drew {
        /// Generator.
        random: Random,
        /// Number.
        value: u64,
        /// Source location.
        loc: Loc,
    },
    /// The ghost control starts.
    GhostStart {
        /// Queue-depth update.
        update: &'a GhostUpdate,
    },
    /// The pass has ended.
    PassEnd {
        /// Verdict.
        output: PassOut,
        /// Fields and validity bits at the end of the pass.
        phv: &'a Phv,
    },
    /// A field of an invalid header is about to be read. Only reported to tracers that request it; table keys, which may
    /// belong to such headers, are not reported.
    ReadInvalid {
        /// Field.
        field: Field,
        /// Source location.
        loc: Loc,
    },
}

/// Tracer: sees every step of every pass.
pub trait Tracer: Send {
    /// Receives one step; steps come in order.
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        let _ = (program, event);
    }

    /// Returns true if reads are to be examined for [`Event::ReadInvalid`], which takes time.
    fn watches_reads(&self) -> bool {
        false
    }

    /// Returns a tracer for the steps of another interpreter; `None` if one tracer must see all steps.
    fn fork(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Tracer that ignores all steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Tracer for NoTrace {
    fn fork(&self) -> Option<NoTrace> {
        Some(NoTrace)
    }
}
