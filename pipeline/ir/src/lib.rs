//! Intermediate representation of stage programs: a Tofino program as data, independent of any chip.
//!
//! A [`Program`] is immutable and holds no closure or function pointer; its text form parses back to an equal
//! program. Everything is an entity (a typed index) into a dense map of `Program`; analyses keep separate
//! side maps. Chip limits are in `sluice_asic`, run-time entries in `sluice_control`, packets in
//! `sluice_exec`.
//!
//! Semantics:
//! - Every pass starts with all fields zero and all headers invalid, except intrinsic fields, which the
//!   device fills. A header's fields keep their values when the header is set invalid.
//! - The parser runs from `PipeData::start`. Extraction, look-ahead and advancing need the bytes to be in the
//!   packet. Otherwise the packet has a parser error (model: chip §10, `parser_err`), and parsing ends;
//!   earlier operations keep their effect. Errors: 0x001 no match (a `reject`, a full stack), 0x002 partial
//!   header, 0x004 counter range, 0x1000 wrong checksum. All but the last drop the packet, in either gress,
//!   unless the gress declares `parser_err`. A wrong checksum does not end parsing; programs read it from a
//!   field. Timeouts, two writers of a container and a parser that is too deep are refused before a packet
//!   arrives.
//! - The control block runs in program order; an action's primitives run in order.
//! - The deparser updates checksums, then emits the valid headers of `emit` in order, then the bytes after
//!   the parser's last position. Bytes that the parser advanced past without extracting them are lost.
//! - In addition to the packet, a deparser makes what its type fields request ([`Request`]): a resubmit,
//!   which keeps the bytes of the packet on arrival; mirror copies, also of dropped packets; and digests.
//! - The ghost control runs once per update of a queue's depth, between two packets of ingress. All fields of
//!   its PHV except the update are zero, and all headers invalid. Its only lasting effect is its writes to
//!   registers.
//! - Every pipe has separate registers and counters, which only packets of its ports change; tables are the
//!   same in all pipes. [`TogetherData`] names ports that must be in one pipe.
//! - Only bytes pass from ingress to egress. To pass values, ingress emits a header in front of the packet (a
//!   *bridged header*), which egress extracts.

pub mod apart;
pub mod cfg;
mod control;
mod decl;
mod declare;
pub mod exchange;
mod expr;
pub mod gateway;
pub mod group;
mod intrinsic;
mod join;
mod loc;
mod memory;
mod meter;
pub mod meter_array;
mod parser;
pub mod parser_unroll;
mod register;
pub mod rows;
mod rules;
pub mod salu;
mod split;
pub mod text;
pub mod verify;
pub mod words;

pub use sluice_entity as entity;

pub use control::{
    ApplyArms, Block, Cond, Index, MeterAccess, Primitive, PrimitiveKind, RegisterAccess, Stmt, StmtKind,
};
pub use decl::{
    ActionCall, ActionData, ArmSet, ChecksumUpdate, ConstEntry, CounterCell, CounterData, CounterHome,
    CounterKind, Deparser, FieldData, HashData, HeaderData, Home, Key, KeySource, KeyValue, LabelData,
    LabelKind, ListItem, MatchKind, Next, ParamData, ParamValue, ParserOp, ParserOpKind, ParserWrite,
    PipeData, ProfileData, Request, RequestKind, SelectArm, SelectorData, StateData, TableData, TogetherData,
    ValueSetData, list_bits, list_header,
};
pub use expr::{CmpOp, Expr};
pub use intrinsic::{Intrinsic, IntrinsicInfo};
pub use join::join;
pub use loc::{Loc, MOST_TEXT, SourceText};
pub use memory::{Algorithmic, IdleMode, IdleTimeout};
pub use meter::{LpfSpec, MeterConfig, MeterData, MeterKind, RandomData};
pub use parser::{CounterLoad, Lookahead, SelectKey, StackData};
pub use rules::{CONTAINER_KINDS, ContainerDemand, ContainerRule, TableRules, kind_name};
pub use split::split;

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
    /// An action: VLIW primitives and run-time parameters.
    Action = "action";
    /// A match-action table.
    Table = "table";
    /// An action profile: members shared by a table's entries, optionally grouped behind a selector.
    Profile = "profile";
    /// A counter array, direct or indirect.
    Counter = "counter";
    /// A hash computation.
    Hash = "hash";
    /// A register: an array that packets read and write.
    Register = "register";
    /// A register action: the operation of one access to a register.
    RegisterAction = "register_action";
    /// The named reason of a drop or of a deliberate absorption.
    Label = "label";
    /// A header stack.
    Stack = "stack";
    /// An array of meters, filters or WRED entries.
    Meter = "meter";
    /// A generator of random numbers.
    Random = "random";
    /// A set of values that the control plane writes, for arms of selects.
    ValueSet = "value_set";
}

/// A stage program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Name as users type it, kebab-case (`l3-ecmp`).
    pub name: String,
    /// Purpose of the program, one sentence.
    pub doc: String,
    /// Parameter values that the program was built with.
    pub params: Vec<ParamValue>,
    /// All fields of both gresses.
    pub fields: EntityMap<Field, FieldData>,
    /// All header instances of both gresses.
    pub headers: EntityMap<Header, HeaderData>,
    /// All parser states of both gresses.
    pub states: EntityMap<ParserState, StateData>,
    /// All actions, including those made for inline statements.
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
    /// All value sets of both gresses.
    pub value_sets: EntityMap<ValueSet, ValueSetData>,
    /// Parser, control and deparser of each gress; indexed by [`Gress::index`].
    pub pipes: [PipeData; 2],
    /// Ghost control (Tofino 2), empty if there is none. It has no packet and runs on updates of queue
    /// depths. It shares ingress' PHV, stages and stateful ALUs; its tables, actions and fields are declared
    /// for ingress.
    pub ghost: Block,
    /// Groups of ports that must be in one pipe.
    pub together: Vec<TogetherData>,
    /// Demands of the author on the containers of fields, in order of declaration.
    pub container_rules: Vec<ContainerRule>,
}

impl Program {
    /// Returns parser, control and deparser of one gress.
    #[must_use]
    pub fn pipe(&self, gress: Gress) -> &PipeData {
        &self.pipes[gress.index()]
    }

    /// Returns the field with this gress and full name (`ipv4.ttl`).
    #[must_use]
    pub fn field_named(&self, gress: Gress, name: &str) -> Option<Field> {
        self.fields.iter().find(|(_, d)| d.gress == gress && d.name == name).map(|(f, _)| f)
    }

    /// Returns the table with this name.
    #[must_use]
    pub fn table_named(&self, name: &str) -> Option<Table> {
        self.tables.iter().find(|(_, d)| d.name == name).map(|(t, _)| t)
    }

    /// Returns the action with this name.
    #[must_use]
    pub fn action_named(&self, name: &str) -> Option<Action> {
        self.actions.iter().find(|(_, d)| d.name == name).map(|(a, _)| a)
    }

    /// Returns the action profile with this name.
    #[must_use]
    pub fn profile_named(&self, name: &str) -> Option<Profile> {
        self.profiles.iter().find(|(_, d)| d.name == name).map(|(p, _)| p)
    }

    /// Returns the field of `gress` for the intrinsic `which`, if the program declares it.
    #[must_use]
    pub fn intrinsic(&self, gress: Gress, which: Intrinsic) -> Option<Field> {
        self.fields.iter().find(|(_, d)| d.gress == gress && d.home == Home::Intrinsic(which)).map(|(f, _)| f)
    }

    /// Returns the direct counter of `table`, if there is one.
    #[must_use]
    pub fn direct_counter(&self, table: Table) -> Option<Counter> {
        self.counters.iter().find(|(_, d)| d.home == CounterHome::Direct(table)).map(|(c, _)| c)
    }

    /// Returns the register with this name.
    #[must_use]
    pub fn register_named(&self, name: &str) -> Option<Register> {
        self.registers.iter().find(|(_, d)| d.name == name).map(|(r, _)| r)
    }

    /// Returns the meter, filter or WRED array with this name.
    #[must_use]
    pub fn meter_named(&self, name: &str) -> Option<Meter> {
        self.meters.iter().find(|(_, d)| d.name == name).map(|(m, _)| m)
    }

    /// Returns the number of cells of an array.
    #[must_use]
    pub fn cells(&self, home: CounterHome) -> u32 {
        match home {
            CounterHome::Direct(t) => {
                self.tables.get(t).map_or(0, |data| data.size.max(data.entries.len() as u32))
            }
            CounterHome::Indirect(size) => size,
        }
    }

    /// Returns the register of a register action.
    #[must_use]
    pub fn accessed(&self, action: RegisterAction) -> Option<Register> {
        self.register_actions.get(action).map(|code| code.register)
    }

    /// Returns the actions of a register, in order of declaration.
    pub fn actions_of(
        &self,
        register: Register,
    ) -> impl Iterator<Item = (RegisterAction, &RegisterActionData)> {
        self.register_actions.iter().filter(move |(_, d)| d.register == register)
    }

    /// Returns the port metadata fields, in the order of the port's row.
    pub fn port_metadata(&self) -> impl Iterator<Item = (Field, &FieldData)> {
        self.fields.iter().filter(|(_, d)| d.home == Home::PortMetadata)
    }

    /// Returns the stack of an element, and its position in the stack.
    #[must_use]
    pub fn stack_of(&self, header: Header) -> Option<(Stack, usize)> {
        let at = |(s, d): (Stack, &StackData)| Some((s, d.headers.iter().position(|h| *h == header)?));
        self.stacks.iter().find_map(at)
    }

    /// Returns the length of a header on the wire in bits.
    #[must_use]
    pub fn header_bits(&self, header: Header) -> u32 {
        self.headers[header].fields.iter().map(|&f| u32::from(self.fields[f].width)).sum()
    }

    /// Returns the bit offset of a header field from the header's first bit, most significant bit first.
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
