//! Declarations: the data of each kind of entity.

use super::{
    Action, Algorithmic, Block, CounterLoad, Expr, Field, Hash, Header, IdleTimeout, Intrinsic, Loc,
    ParserState, Primitive, Profile, Register, SelectKey, Stack, Table,
};
use sluice_asic::alu::width_mask;
use sluice_asic::counter::{self as asic, CounterError, CounterLayout};
use sluice_asic::geometry::CounterFormat;
use sluice_asic::gress::Gress;
use sluice_asic::hash::{HashAlgorithm, HashFunction, HashFunctionError, Seed};
use sluice_asic::port::PortName;
use sluice_asic::select::{Selector, SelectorMode};

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
    /// Writes a constant, or a field of the same width that this state extracts, to a metadata field.
    Set(Field, Expr),
    /// Sets a 1-bit field to 1 if the ones' complement sum over these fields is not all ones, otherwise to 0.
    /// The fields are summed in order; each starts on a 16-bit boundary of the sum as on the wire.
    VerifyChecksum(Field, Vec<Field>),
    /// Subtracts these fields (in order, whole 16-bit words) from the sum in a 16-bit metadata field, which
    /// is zero at the start. After a header's checksum and fields are subtracted, the field is the sum of the
    /// bytes after them, for the deparser to add to new fields (`Checksum.subtract` and
    /// `subtract_all_and_deposit` of TNA).
    SubtractChecksum(Field, Vec<Field>),
    /// Advances past this many bytes without extracting them: these bytes are lost.
    Advance(u16),
    /// Writes a look-ahead to a metadata field: bits of the packet from this many bits after the present
    /// position.
    Lookahead(Field, u16),
    /// Sets the parser counter, which is zero at the start.
    SetCounter(CounterLoad),
    /// Adds to the parser counter, modulo 256.
    AddCounter(i8),
    /// Extracts the next element of the stack. If all elements were extracted, parsing ends with `parser_err`
    /// "no match".
    ExtractNext(Stack),
    /// Pushes the parser counter on its stack and sets the counter. Tofino 2.
    PushCounter(CounterLoad),
    /// Pops the parser counter from its stack. Tofino 2.
    PopCounter,
}

/// One arm of a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectArm {
    /// Value and mask for each select key.
    pub values: Vec<(u128, u128)>,
    /// Next state.
    pub next: Next,
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

/// A key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Field that is compared.
    pub field: Field,
    /// Match kind.
    pub kind: MatchKind,
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

/// Unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterKind {
    /// Packets.
    Packets,
    /// Bytes of the frame as it entered the gress, without FCS.
    Bytes,
    /// Packets and bytes.
    PacketsAndBytes,
}

/// Addressing of an array of counters, registers or meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterHome {
    /// Direct: the matched entry of this table.
    Direct(Table),
    /// Indirect: an index, given by the action, below this size.
    Indirect(u32),
}

/// Format and reading of a counter's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterCell {
    /// Format of a RAM word; `None` is the densest: 32 bits, or 28 and 36 for packets and bytes (model: chip
    /// §5).
    pub format: Option<CounterFormat>,
    /// Number added to each packet's length, -8192 to 8191, for example for an FCS or a header that is not
    /// counted.
    pub adjust: i16,
    /// True if software reads the cells of the stage, which wrap at their width. If false, the stage sends
    /// cells to software before they wrap, and software reads sums of 64 bits (model: chip §5, LRT).
    pub wraps: bool,
}

impl CounterCell {
    /// Returns the RAM format for this kind of counter.
    #[must_use]
    pub fn format_for(&self, kind: CounterKind) -> CounterFormat {
        self.format.unwrap_or(match kind {
            CounterKind::Packets | CounterKind::Bytes => CounterFormat::Single32,
            CounterKind::PacketsAndBytes => CounterFormat::Both28And36,
        })
    }

    /// Returns the layout of the sums that software reads: the word's format, or 64 bits.
    ///
    /// # Errors
    /// Refuses a format that does not hold this kind of counter, and an adjustment of more than 14 bits.
    pub fn layout(&self, kind: CounterKind) -> Result<CounterLayout, CounterError> {
        let (counts, sums) = match kind {
            CounterKind::Packets => (asic::CounterKind::Packets, CounterFormat::Single64),
            CounterKind::Bytes => (asic::CounterKind::Bytes, CounterFormat::Single64),
            CounterKind::PacketsAndBytes => (asic::CounterKind::Both, CounterFormat::Both64),
        };
        let in_ram = CounterLayout::new(counts, self.format_for(kind), self.adjust.into())?;
        if self.wraps { Ok(in_ram) } else { CounterLayout::new(counts, sums, self.adjust.into()) }
    }

    /// Returns true if cells are sums of 64 bits of unchanged lengths.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.adjust == 0 && !self.wraps
    }
}

/// A counter array.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress that counts.
    pub gress: Gress,
    /// Unit: packets, bytes, or both.
    pub kind: CounterKind,
    /// Direct or indirect.
    pub home: CounterHome,
    /// Format and reading of the cells.
    pub cell: CounterCell,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
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
    /// Pairs of inputs, by position, whose order has no effect (`@symmetric`): the XOR of both replaces each
    /// of them. The vendor's driver fills the hash matrix in this way (model: bf-utils, dynamic hash).
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

/// A deparser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deparser {
    /// Checksums, computed in order before headers are emitted.
    pub checksums: Vec<ChecksumUpdate>,
    /// Headers in wire order; headers that are not valid are left out.
    pub emit: Vec<Header>,
    /// Requests, in order.
    pub requests: Vec<Request>,
}

/// A request: something that a deparser makes in addition to the packet, if the type field of its kind has
/// its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub kind: RequestKind,
    /// Value of [`RequestKind::type_field`] that makes the request, from 1; 0 makes none.
    pub selector: u8,
    /// Header whose bytes it carries, valid or not: they precede the resubmitted packet or the copy, or are
    /// the digest.
    pub header: Option<Header>,
    /// Source location.
    pub loc: Loc,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Resubmit: the packet, as it came in, goes through ingress once more. In that pass the request is
    /// ignored.
    Resubmit,
    /// Mirror copy, for the session in the field.
    Mirror(Field),
    /// Digest to the control plane.
    Digest,
    /// Trigger of the pipe's packet generator; applications compare the header's bytes. Tofino 2.
    Pktgen,
}

impl RequestKind {
    /// Returns the intrinsic field that selects among the requests of this kind.
    #[must_use]
    pub const fn type_field(self) -> Intrinsic {
        match self {
            RequestKind::Resubmit => Intrinsic::ResubmitType,
            RequestKind::Mirror(_) => Intrinsic::MirrorType,
            RequestKind::Digest => Intrinsic::DigestType,
            RequestKind::Pktgen => Intrinsic::Pktgen,
        }
    }

    /// Returns the name in the text form.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RequestKind::Resubmit => "resubmit",
            RequestKind::Mirror(_) => "mirror",
            RequestKind::Digest => "digest",
            RequestKind::Pktgen => "pktgen",
        }
    }
}

/// A ones' complement checksum that the deparser computes if its header is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksumUpdate {
    /// Header that must be valid.
    pub header: Header,
    /// 16-bit field to write.
    pub field: Field,
    /// Inputs, concatenated in order as on the wire: metadata, and fields of headers that the deparser emits.
    /// Fields of a header that is not valid are left out.
    pub inputs: Vec<Field>,
    /// True if a checksum of 0 is written as 0xffff, as UDP requires (TNA's `zeros_as_ones`).
    pub zeros_as_ones: bool,
    /// Source location.
    pub loc: Loc,
}
