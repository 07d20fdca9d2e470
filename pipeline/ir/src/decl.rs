//! Declarations: the data of each kind of entity.

mod counter;
mod deparser;
mod key;
mod parser_op;

pub use counter::{CounterCell, CounterData, CounterHome, CounterKind};
pub use deparser::{ChecksumUpdate, Deparser, ListItem, Request, RequestKind, list_bits, list_header};
pub use key::{Key, KeySource};
pub use parser_op::ParserWrite;

use super::{
    Action, Algorithmic, Block, CounterLoad, Expr, Field, Hash, Header, IdleTimeout, Intrinsic, Loc,
    ParserState, Primitive, Profile, Program, Register, SelectKey, Stack, TableRules, ValueSet,
};
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_asic::hash::HashAlgorithm;
use sluice_asic::hash::HashFunction;
use sluice_asic::hash::HashFunctionError;
use sluice_asic::hash::Seed;
use sluice_asic::port::PortName;
use sluice_asic::select::Selector;
use sluice_asic::select::SelectorMode;

/// A parameter with the value that the program was built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamValue {
    /// Key as in `--set key=value`.
    pub key: String,
    /// Value as text.
    pub value: String,
    /// Meaning, unit and range.
    pub doc: String,
}

/// Kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Header field: on the wire while the header is valid.
    Header(Header),
    /// Metadata: zero at the start of each pass, lost at its end.
    Metadata,
    /// Filled or read by the hardware.
    Intrinsic(Intrinsic),
    /// Port metadata (phase 0, model: chip §6.3): filled before parsing with the control plane's values for
    /// the packet's port, zero in the pass that follows a resubmit. Ingress only.
    PortMetadata,
}

/// A field of one gress.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldData {
    /// Full name: `header.field` or `struct.field`.
    pub name: String,
    /// The gress whose PHV holds it.
    pub gress: Gress,
    /// Width in bits, 1 to 128.
    pub width: u16,
    /// Kind of the field.
    pub home: Home,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// A header instance of one gress; a whole number of bytes on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderData {
    /// Instance name (`ipv4`).
    pub name: String,
    /// Its gress.
    pub gress: Gress,
    /// Fields in wire order, most significant bit first.
    pub fields: Vec<Field>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// A state of a parser graph.
#[derive(Clone, Debug, PartialEq)]
pub struct StateData {
    /// State name (`parse_ipv4`).
    pub name: String,
    /// Its gress.
    pub gress: Gress,
    /// Operations, in order.
    pub ops: Vec<ParserOp>,
    /// Keys that choose the next state, read after the operations; empty for none.
    pub select: Vec<SelectKey>,
    /// Tried in order; the first arm that matches wins.
    pub arms: Vec<SelectArm>,
    /// Next state if no arm matches.
    pub default: Next,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// An operation of a parser state.
#[derive(Clone, Debug, PartialEq)]
pub struct ParserOp {
    /// Kind of the operation.
    pub kind: ParserOpKind,
    /// Source location.
    pub loc: Loc,
}

/// Kinds of operations of a parser state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParserOpKind {
    /// Extracts a header: copies it from the packet, makes it valid, and advances past it.
    Extract(Header),
    /// Writes a value of the same width to a field of metadata or of a header: a constant, or bits of one field that
    /// a state on every path to here extracts, that the chip fills before the parser runs, or that port metadata
    /// fill. `or(f, value)` adds the ones of the value to those of `f`, the field that is written.
    Set(Field, Expr),
    /// As `Set`, for bits `hi` to `lo` of a field.
    SetSlice(Field, u16, u16, Expr),
    /// Makes a header valid without extracting it, or invalid.
    SetValid(Header, bool),
    /// Sets a 1-bit field to 1 if the ones' complement sum over these fields and zeros, in order, is not all ones. If the
    /// sum is right the field stays, so that several sums add their errors.
    VerifyChecksum(Field, Vec<Expr>),
    /// Subtracts these fields and zeros (in order, whole 16-bit words) from the sum in a 16-bit metadata field, which
    /// is zero at the start. After a header's checksum and fields are subtracted, the field is the sum of the
    /// bytes after them, for the deparser to add to new fields (`Checksum.subtract` and
    /// `subtract_all_and_deposit` of TNA).
    SubtractChecksum(Field, Vec<Expr>),
    /// Advances past this many bytes without extracting them: these bytes are lost.
    Advance(u16),
    /// Writes a look-ahead to a field: bits of the packet from this many bits after the present position.
    Lookahead(Field, u16),
    /// Sets the parser counter, which is zero at the start.
    SetCounter(CounterLoad),
    /// Adds to the parser counter, modulo 256.
    AddCounter(i8),
    /// Extracts the next element of the stack. If all elements were extracted, parsing ends with `parser_err`
    /// "no match".
    ExtractNext(Stack),
    /// Pushes the parser counter on its stack and sets the counter. True: until it is popped, the pushed value changes by what is
    /// added to the value above it (`push(.., true)` of TNA). Tofino 2.
    PushCounter(CounterLoad, bool),
    /// Pops the parser counter from its stack. Tofino 2.
    PopCounter,
}

/// One arm of a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectArm {
    /// Value and mask for each select key.
    pub values: Vec<(u128, u128)>,
    /// A value set of which one member has to match too; `None`: the values decide alone.
    pub set: Option<ArmSet>,
    /// Next state.
    pub next: Next,
}

/// A value set in an arm: its fields are compared with neighbouring select keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArmSet {
    /// The set.
    pub set: ValueSet,
    /// Position of the key that the set's first field is compared with.
    pub first: u16,
}

impl SelectArm {
    /// Returns an arm that no value set decides.
    #[must_use]
    pub fn new(values: Vec<(u128, u128)>, next: Next) -> SelectArm {
        SelectArm { values, set: None, next }
    }

    /// Returns true if the arm takes whatever the keys are.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        self.set.is_none() && self.values.iter().all(|(_, mask)| *mask == 0)
    }

    /// Returns the rows of the parser's TCAM that the arm takes: one, or as many as its value set has members.
    #[must_use]
    pub fn rows(&self, program: &Program) -> u32 {
        self.set.map_or(1, |of| program.value_sets.get(of.set).map_or(1, |data| data.size))
    }
}

/// A value set: values with masks that the control plane writes at run time, and that arms of selects compare with keys
/// (`value_set` of P4). Without members it matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSetData {
    /// Name, unique in the program.
    pub name: String,
    /// Gress of the parser that has it.
    pub gress: Gress,
    /// Fields of a member, with their widths.
    pub fields: Vec<ParamData>,
    /// Greatest number of members.
    pub size: u32,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// Transition of a parser state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Another state.
    State(ParserState),
    /// Parsing ends without error; the remaining bytes are payload.
    #[default]
    Accept,
    /// Parsing ends with `parser_err` "no match".
    Reject,
}

/// A parameter of an action; the table entry supplies its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamData {
    /// Name.
    pub name: String,
    /// Width in bits, 1 to 128.
    pub width: u16,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose PHV it reads and writes.
    pub gress: Gress,
    /// Run-time parameters.
    pub params: Vec<ParamData>,
    /// Primitives; none reads a field that an earlier one of the same action writes.
    pub body: Vec<Primitive>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// An action with its parameter values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    /// The action.
    pub action: Action,
    /// One value per parameter.
    pub args: Vec<u128>,
}

/// Match kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// All bits are equal.
    Exact,
    /// Equal under a mask. The entry with the lowest priority number wins.
    Ternary,
    /// Longest prefix match. A table has at most one such key.
    Lpm,
    /// Between two bounds, both included. The entry with the lowest priority number wins.
    Range,
}

/// One key column of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyValue {
    /// All bits are equal.
    Exact(u128),
    /// The bits where the mask has ones are equal.
    Ternary {
        /// Value to compare; zero where the mask is zero.
        value: u128,
        /// Ones in the bits that are compared.
        mask: u128,
    },
    /// The first bits are equal.
    Lpm {
        /// Prefix; zero after its length.
        value: u128,
        /// Number of leading bits compared.
        len: u16,
    },
    /// Not below the lower bound and not above the upper bound.
    Range {
        /// Lowest value that matches.
        lo: u128,
        /// Highest value that matches.
        hi: u128,
    },
}

impl KeyValue {
    /// Returns true if a value of a field of `width` bits matches this column.
    #[must_use]
    pub fn matches(&self, found: u128, width: u16) -> bool {
        match *self {
            KeyValue::Exact(value) => value == found,
            KeyValue::Ternary { value, mask } => value & mask == found & mask,
            KeyValue::Lpm { value, len } => {
                let mask = width_mask(width.into()) & !width_mask(width.saturating_sub(len).into());
                value & mask == found & mask
            }
            KeyValue::Range { lo, hi } => lo <= found && found <= hi,
        }
    }
}

/// A constant entry; earlier entries win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstEntry {
    /// One column per key.
    pub key: Vec<KeyValue>,
    /// Action and arguments.
    pub then: ActionCall,
}

/// A match-action table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress that applies it.
    pub gress: Gress,
    /// Keys; empty for a table that always runs its default action.
    pub keys: Vec<Key>,
    /// Actions that entries (or the profile's members) may name.
    pub actions: Vec<Action>,
    /// Default action, which runs on a miss; the control plane may change it.
    pub default: ActionCall,
    /// True if the control plane cannot change the default action, so that no other action runs without a match.
    pub constant_default: bool,
    /// Number of entries that it must hold.
    pub size: u32,
    /// Constant entries; a table with any takes none at run time.
    pub entries: Vec<ConstEntry>,
    /// Profile whose members or groups entries name instead of an action.
    pub profile: Option<Profile>,
    /// Stage that the author pins the table to.
    pub pin: Option<u8>,
    /// Ageing of entries, if they age.
    pub idle: Option<IdleTimeout>,
    /// Memory other than the one that the keys imply.
    pub algorithmic: Option<Algorithmic>,
    /// Demands of the author on its memory and order.
    pub rules: TableRules,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// An action profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress of the tables that use it.
    pub gress: Gress,
    /// Number of members that it must hold.
    pub size: u32,
    /// Selector; present if entries may name a group of members.
    pub selector: Option<SelectorData>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// Selector: chooses a member of a group by a hash.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorData {
    /// Arithmetic of the selector.
    pub mode: SelectorMode,
    /// Hash that it reads.
    pub hash: Hash,
    /// Number of groups that it must hold.
    pub groups: u32,
    /// Largest number of members of a group.
    pub max_group_size: u32,
    /// True if the hash goes through the scrambler first, which makes the choice non-linear (model: hashing
    /// §6).
    pub scramble: bool,
}

impl SelectorData {
    /// Returns the selector's arithmetic as the chip computes it.
    #[must_use]
    pub const fn arithmetic(&self) -> Selector {
        let selector = Selector::new(self.mode);
        if self.scramble { selector.scrambled() } else { selector }
    }
}

/// A hash computation: algorithm over a list of values, most significant bit first.
#[derive(Clone, Debug, PartialEq)]
pub struct HashData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress that computes it.
    pub gress: Gress,
    /// Algorithm and polynomial.
    pub algorithm: HashAlgorithm,
    /// Fields and constants (a constant first item is a seed of the "prepended" style), in order.
    pub inputs: Vec<Expr>,
    /// Pairs of inputs, by position, whose order has no effect (`@symmetric`): the XOR of both replaces the later one, zeros
    /// replace the earlier one. The vendor's compiler gives both the later one's bits of the hash matrix
    /// (p4c: backends/tofino/bf-p4c/mau/asm_hash_output.cpp).
    pub symmetric: Vec<[u16; 2]>,
    /// Number of low bits of the algorithm's output that are kept, 1 to 64.
    pub width: u16,
    /// Seed, XORed into the kept bits before the rotation (model: chip §11.1).
    pub seed: u64,
    /// Rotation to the right in bits within `width`, applied last.
    pub rotate: u16,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

impl HashData {
    /// Returns the function as the chip computes it. Output bits beyond the algorithm's width repeat the
    /// output.
    ///
    /// # Errors
    /// Refuses a width or a seed out of range.
    pub fn function(&self) -> Result<HashFunction, HashFunctionError> {
        let function = HashFunction::new(self.algorithm, u32::from(self.width))?;
        Ok(function.extended().with_seed(Seed::Xor(self.seed))?.rotated_right(u32::from(self.rotate)))
    }
}

/// Ports that must be in one pipe, because every pipe has separate registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TogetherData {
    /// Name, unique among such groups.
    pub name: String,
    /// Registers that the ports share.
    pub registers: Vec<Register>,
    /// Ports as users name them: `3` on the front panel, `dev:137`.
    pub ports: Vec<PortName>,
    /// Reason: what the registers compare or add up over the ports.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// Kind of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// Drop reason: the packet counts as dropped.
    Drop,
    /// Purpose: the program absorbed the packet, which counts as absorbed.
    Consume,
}

/// A label of drops or absorptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelData {
    /// Name, unique in the program, snake_case.
    pub name: String,
    /// Drop reason or purpose.
    pub kind: LabelKind,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// Parser, control and deparser of one gress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipeData {
    /// Start state; `Accept` parses nothing.
    pub start: Next,
    /// The control block.
    pub control: Block,
    /// The deparser.
    pub deparser: Deparser,
}
