//! The stage program as data: what a Tofino program says, independent of any chip.
//!
//! A [`Program`] is immutable and holds no closure or function pointer; its text form parses back to an
//! equal program. Everything is an entity (a typed index) into a dense map of `Program`; analyses keep
//! their own side maps. What may not live here: limits of a chip, placement, entries added at run time,
//! packets.
//!
//! Meaning, in one place:
//! - Every pass starts with all fields zero and all headers invalid, except intrinsic fields, which the
//!   device fills. A header's fields keep their value when the header is set invalid.
//! - The parser runs from `PipeData::start`; extraction, lookahead and moving on need the bytes to be there,
//!   otherwise the packet has a parser error (model: chip §10, `parser_err`), and parsing ends with what was
//!   done before. Errors that occur: 0x001 no match (a `reject`, a stack without room), 0x002 partial header,
//!   0x004 counter range, 0x1000 a wrong checksum. All but the last lose the packet, in either gress, unless the
//!   gress declares `parser_err`; a wrong checksum ends nothing and is told to whoever looks. Timeouts, two
//!   writers of a container and too deep a parser are refused before a packet comes.
//! - The control block runs in program order; an action's primitives run in order.
//! - The deparser updates checksums, then emits the valid headers of `emit` in order, then the bytes behind
//!   the parser's last place. What the parser moved past without extracting is gone.
//! - Beside the packet a deparser makes what its type fields ask for ([`Request`]): a resubmit, for which the
//!   packet keeps the bytes that it came with, mirror copies, also of packets that are dropped, and digests.
//! - The ghost control runs once per update of a queue's depth, between two packets of ingress, on a PHV of its own
//!   in which all is zero and invalid but the update. What it leaves behind is what it wrote to registers.
//! - Every pipe has registers and counters of its own, which only its ports' packets change; tables are the same in
//!   all pipes. [`TogetherData`] says which ports must share a pipe.
//! - Only bytes cross from ingress to egress. What egress wants from ingress it gets in a header that
//!   ingress emits in front of the packet (a *bridged header*) and that egress extracts.

pub mod cfg;
mod control;
mod decl;
mod declare;
pub mod entity;
mod expr;
mod intrinsic;
mod loc;
mod memory;
mod meter;
pub mod meter_array;
mod parser;
pub mod parser_unroll;
mod register;
pub mod rows;
pub mod salu;
pub mod text;
pub mod verify;

pub use control::{
    ApplyArms, Block, Cond, Index, MeterAccess, Primitive, PrimitiveKind, RegisterAccess, Stmt, StmtKind,
};
pub use decl::{
    ActionCall, ActionData, ChecksumUpdate, ConstEntry, CounterCell, CounterData, CounterHome, CounterKind,
    Deparser, FieldData, HashData, HeaderData, Home, Key, KeyValue, LabelData, LabelKind, MatchKind, Next,
    ParamData, ParamValue, ParserOp, ParserOpKind, PipeData, ProfileData, Request, RequestKind, SelectArm,
    SelectorData, StateData, TableData, TogetherData,
};
pub use expr::{CmpOp, Expr};
pub use intrinsic::{Intrinsic, IntrinsicInfo};
pub use loc::Loc;
pub use memory::{Algorithmic, IdleMode, IdleTimeout};
pub use meter::{LpfSpec, MeterConfig, MeterData, MeterKind, RandomData};
pub use parser::{CounterLoad, Lookahead, SelectKey, StackData};
pub use register::{
    CellCond, CellStmt, CellStmtKind, CellValue, LanePart, Operand, RegisterActionData, RegisterData,
    RegisterParamData, Search,
};

use crate::entity::{EntityMap, entities};
use sluice_asic::gress::Gress;

entities! {
    /// A header field, metadata field or intrinsic metadata field of one gress.
    Field = "field";
    /// A header instance of one gress.
    Header = "header";
    /// A parser state of one gress.
    ParserState = "state";
    /// An action: a list of VLIW primitives with run-time parameters.
    Action = "action";
    /// A match-action table.
    Table = "table";
    /// An action profile: members shared by a table's entries, optionally grouped behind a selector.
    Profile = "profile";
    /// A counter array, direct or indirect.
    Counter = "counter";
    /// A hash computation.
    Hash = "hash";
    /// A register: an array that packets change.
    Register = "register";
    /// What one access to a register does.
    RegisterAction = "register_action";
    /// The named reason of a drop or of a deliberate absorption.
    Label = "label";
    /// A header stack.
    Stack = "stack";
    /// An array of meters, filters or WRED entries.
    Meter = "meter";
    /// A generator of random numbers.
    Random = "random";
}

/// A stage program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Name as users type it, kebab-case (`l3-ecmp`).
    pub name: String,
    /// What the program does, one sentence.
    pub doc: String,
    /// The parameter values that it was built with.
    pub params: Vec<ParamValue>,
    /// All fields of both gresses.
    pub fields: EntityMap<Field, FieldData>,
    /// All header instances of both gresses.
    pub headers: EntityMap<Header, HeaderData>,
    /// All parser states of both gresses.
    pub states: EntityMap<ParserState, StateData>,
    /// All actions, those made for inline statements included.
    pub actions: EntityMap<Action, ActionData>,
    /// All match-action tables.
    pub tables: EntityMap<Table, TableData>,
    /// All action profiles.
    pub profiles: EntityMap<Profile, ProfileData>,
    /// All counters.
    pub counters: EntityMap<Counter, CounterData>,
    /// All hash computations.
    pub hashes: EntityMap<Hash, HashData>,
    /// All registers.
    pub registers: EntityMap<Register, RegisterData>,
    /// All register actions.
    pub register_actions: EntityMap<RegisterAction, RegisterActionData>,
    /// All drop and consume labels.
    pub labels: EntityMap<Label, LabelData>,
    /// All header stacks of both gresses.
    pub stacks: EntityMap<Stack, StackData>,
    /// All meters, filters and WRED arrays.
    pub meters: EntityMap<Meter, MeterData>,
    /// All generators of random numbers.
    pub randoms: EntityMap<Random, RandomData>,
    /// Parser, control and deparser of each gress; index with [`Gress::index`].
    pub pipes: [PipeData; 2],
    /// The ghost control (Tofino 2), empty if there is none: it has no packet and runs on updates of queue depths.
    /// It shares ingress' PHV, stages and stateful ALUs: its tables, actions and fields are declared for ingress.
    pub ghost: Block,
    /// Ports that state must see together.
    pub together: Vec<TogetherData>,
}

impl Program {
    /// Parser, control and deparser of one gress.
    #[must_use]
    pub fn pipe(&self, gress: Gress) -> &PipeData {
        &self.pipes[gress.index()]
    }

    /// The field with this gress and full name (`ipv4.ttl`).
    #[must_use]
    pub fn field_named(&self, gress: Gress, name: &str) -> Option<Field> {
        self.fields.iter().find(|(_, d)| d.gress == gress && d.name == name).map(|(f, _)| f)
    }

    /// The table with this name.
    #[must_use]
    pub fn table_named(&self, name: &str) -> Option<Table> {
        self.tables.iter().find(|(_, d)| d.name == name).map(|(t, _)| t)
    }

    /// The action with this name.
    #[must_use]
    pub fn action_named(&self, name: &str) -> Option<Action> {
        self.actions.iter().find(|(_, d)| d.name == name).map(|(a, _)| a)
    }

    /// The action profile with this name.
    #[must_use]
    pub fn profile_named(&self, name: &str) -> Option<Profile> {
        self.profiles.iter().find(|(_, d)| d.name == name).map(|(p, _)| p)
    }

    /// The field of `gress` that stands for the intrinsic `which`, if the program declares it.
    #[must_use]
    pub fn intrinsic(&self, gress: Gress, which: Intrinsic) -> Option<Field> {
        self.fields.iter().find(|(_, d)| d.gress == gress && d.home == Home::Intrinsic(which)).map(|(f, _)| f)
    }

    /// The counter that counts the entries of `table`, if there is one.
    #[must_use]
    pub fn direct_counter(&self, table: Table) -> Option<Counter> {
        self.counters.iter().find(|(_, d)| d.home == CounterHome::Direct(table)).map(|(c, _)| c)
    }

    /// The register with this name.
    #[must_use]
    pub fn register_named(&self, name: &str) -> Option<Register> {
        self.registers.iter().find(|(_, d)| d.name == name).map(|(r, _)| r)
    }

    /// The meter, filter or WRED with this name.
    #[must_use]
    pub fn meter_named(&self, name: &str) -> Option<Meter> {
        self.meters.iter().find(|(_, d)| d.name == name).map(|(m, _)| m)
    }

    /// Cells of an array.
    #[must_use]
    pub fn cells(&self, home: CounterHome) -> u32 {
        match home {
            CounterHome::Direct(t) => {
                self.tables.get(t).map_or(0, |data| data.size.max(data.entries.len() as u32))
            }
            CounterHome::Indirect(size) => size,
        }
    }

    /// The register or meter array that an access names.
    #[must_use]
    pub fn accessed(&self, action: RegisterAction) -> Option<Register> {
        self.register_actions.get(action).map(|code| code.register)
    }

    /// The actions of a register, in order of declaration.
    pub fn actions_of(
        &self,
        register: Register,
    ) -> impl Iterator<Item = (RegisterAction, &RegisterActionData)> {
        self.register_actions.iter().filter(move |(_, d)| d.register == register)
    }

    /// The port metadata fields, first bit of the port's row first.
    pub fn port_metadata(&self) -> impl Iterator<Item = (Field, &FieldData)> {
        self.fields.iter().filter(|(_, d)| d.home == Home::PortMetadata)
    }

    /// The stack and position of an element.
    #[must_use]
    pub fn stack_of(&self, header: Header) -> Option<(Stack, usize)> {
        let at = |(s, d): (Stack, &StackData)| Some((s, d.headers.iter().position(|h| *h == header)?));
        self.stacks.iter().find_map(at)
    }

    /// Bits of a header on the wire.
    #[must_use]
    pub fn header_bits(&self, header: Header) -> u32 {
        self.headers[header].fields.iter().map(|&f| u32::from(self.fields[f].width)).sum()
    }

    /// Bit offset of a header field from the header's first bit, most significant first.
    #[must_use]
    pub fn field_offset(&self, header: Header, field: Field) -> Option<u32> {
        let mut at = 0;
        for &f in &self.headers[header].fields {
            if f == field {
                return Some(at);
            }
            at += u32::from(self.fields[f].width);
        }
        None
    }
}
