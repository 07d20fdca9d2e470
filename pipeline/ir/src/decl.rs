//! Declarations: what each entity of a program is.

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

/// A parameter value that a program was built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamValue {
    /// Key as in `--set key=value`.
    pub key: String,
    /// Value as text.
    pub value: String,
    /// Meaning, unit and range.
    pub doc: String,
}

/// Where a field lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In a header: on the wire while the header is valid.
    Header(Header),
    /// In metadata: zero at the start of each pass, gone at its end.
    Metadata,
    /// Filled or read by the hardware.
    Intrinsic(Intrinsic),
    /// In port metadata (phase 0, model: chip §6.3): filled before parsing from what the control plane wrote
    /// for the packet's port, zero in the pass that follows a resubmit. Ingress only.
    PortMetadata,
}

/// A field of one gress.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldData {
    /// `header.field`, `struct.field`.
    pub name: String,
    /// The gress whose PHV holds it.
    pub gress: Gress,
    /// Bits, 1..=128.
    pub width: u16,
    /// Where it lives.
    pub home: Home,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// A header instance of one gress; a whole number of bytes on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderData {
    /// Instance name (`ipv4`).
    pub name: String,
    /// The gress that it belongs to.
    pub gress: Gress,
    /// Fields in wire order, most significant bit first.
    pub fields: Vec<Field>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// A state of a parser graph.
#[derive(Clone, Debug, PartialEq)]
pub struct StateData {
    /// State name (`parse_ipv4`).
    pub name: String,
    /// The gress whose parser has it.
    pub gress: Gress,
    /// What it does, in order.
    pub ops: Vec<ParserOp>,
    /// What chooses the next state, as it is after the operations; empty for none.
    pub select: Vec<SelectKey>,
    /// Tried in order; the first arm that matches wins.
    pub arms: Vec<SelectArm>,
    /// Taken when no arm matches.
    pub default: Next,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// One step of a parser state.
#[derive(Clone, Debug, PartialEq)]
pub struct ParserOp {
    /// What it does.
    pub kind: ParserOpKind,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// What a parser state can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParserOpKind {
    /// Copies a header from the packet, makes it valid, moves past it.
    Extract(Header),
    /// Writes a metadata field from a constant or from a field of the same width that this state extracts.
    Set(Field, Expr),
    /// Sets a 1-bit field to 1 when the ones' complement sum over these fields (in order, each starting on
    /// a 16-bit boundary of the sum as on the wire) is wrong, else to 0.
    VerifyChecksum(Field, Vec<Field>),
    /// Takes these fields (in order, whole 16-bit words) out of the sum in a 16-bit metadata field, which is zero at
    /// first: a header's checksum and fields taken out leave the sum of the bytes behind it, for the deparser to sum
    /// with new fields (`Checksum.subtract` and `subtract_all_and_deposit` of TNA).
    SubtractChecksum(Field, Vec<Field>),
    /// Moves past this many bytes without extracting them: they do not leave with the packet.
    Advance(u16),
    /// Writes a metadata field from the packet's bits ahead, beginning this many bits after the present place.
    Lookahead(Field, u16),
    /// Sets the counter, which is zero at first.
    SetCounter(CounterLoad),
    /// Adds to the counter, modulo 256.
    AddCounter(i8),
    /// Extracts the first element of the stack that was not extracted yet. When there is none, parsing ends with
    /// `parser_err` "no match": the parser has no state for one more.
    ExtractNext(Stack),
    /// Puts the counter on its stack and sets it. Tofino 2.
    PushCounter(CounterLoad),
    /// Takes the counter back from its stack. Tofino 2.
    PopCounter,
}

/// One arm of a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectArm {
    /// Value and mask for each select key.
    pub values: Vec<(u128, u128)>,
    /// Where to go.
    pub next: Next,
}

/// What follows a parser state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Another state.
    State(ParserState),
    /// Parsing ends well; the rest is payload.
    #[default]
    Accept,
    /// Parsing ends with `parser_err` "no match".
    Reject,
}

/// A parameter of an action: its value comes from the table entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamData {
    /// Name.
    pub name: String,
    /// Bits, 1..=128.
    pub width: u16,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose PHV it works on.
    pub gress: Gress,
    /// Run-time parameters.
    pub params: Vec<ParamData>,
    /// Primitives; none reads a field that an earlier one of the same action writes.
    pub body: Vec<Primitive>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
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

/// How a key field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// Equal in all bits.
    Exact,
    /// Equal under a mask; the entry with the lowest priority number wins.
    Ternary,
    /// Longest prefix wins; at most one such key in a table.
    Lpm,
    /// Between two bounds, both included; the entry with the lowest priority number wins.
    Range,
}

/// A key field of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The field compared.
    pub field: Field,
    /// How.
    pub kind: MatchKind,
}

/// One key column of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyValue {
    /// All bits equal.
    Exact(u128),
    /// Equal where the mask has ones.
    Ternary {
        /// Compared value; zero where the mask is zero.
        value: u128,
        /// Ones where the bit is compared.
        mask: u128,
    },
    /// Equal in the first bits.
    Lpm {
        /// Prefix, zero beyond its length.
        value: u128,
        /// Number of leading bits compared.
        len: u16,
    },
    /// Neither below the one nor above the other bound.
    Range {
        /// Lowest value that matches.
        lo: u128,
        /// Highest value that matches.
        hi: u128,
    },
}

impl KeyValue {
    /// Whether a value of a field of `width` bits is one of those that the column stands for.
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

/// An entry fixed by the program; earlier ones win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstEntry {
    /// One column per key.
    pub key: Vec<KeyValue>,
    /// What it does.
    pub then: ActionCall,
}

/// A match-action table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress that applies it.
    pub gress: Gress,
    /// Key columns; empty for a table that only has its default action.
    pub keys: Vec<Key>,
    /// Actions that entries (or the profile's members) may name.
    pub actions: Vec<Action>,
    /// Runs on a miss, until the control plane says otherwise.
    pub default: ActionCall,
    /// Entries that it must hold.
    pub size: u32,
    /// Entries fixed by the program; a table with any takes none at run time.
    pub entries: Vec<ConstEntry>,
    /// Entries name a member or group of this profile instead of an action.
    pub profile: Option<Profile>,
    /// Stage that the author asks for.
    pub pin: Option<u8>,
    /// How its entries age.
    pub idle: Option<IdleTimeout>,
    /// A memory other than the one that its keys call for.
    pub algorithmic: Option<Algorithmic>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// An action profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress of the tables that use it.
    pub gress: Gress,
    /// Members that it must hold.
    pub size: u32,
    /// Present when entries may name a group of members.
    pub selector: Option<SelectorData>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// Chooses one member of a group by a hash.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorData {
    /// The arithmetic.
    pub mode: SelectorMode,
    /// Its input.
    pub hash: Hash,
    /// Groups that it must hold.
    pub groups: u32,
    /// Most members of one group.
    pub max_group_size: u32,
    /// The hash goes through the scrambler first, which breaks its linearity (model: hashing §6).
    pub scramble: bool,
}

impl SelectorData {
    /// The selector as the chip computes it.
    #[must_use]
    pub const fn arithmetic(&self) -> Selector {
        let selector = Selector::new(self.mode);
        if self.scramble { selector.scrambled() } else { selector }
    }
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterKind {
    /// Packets.
    Packets,
    /// Bytes of the frame as it entered the gress, without FCS.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

/// Where the index of an array of counters, registers or meters comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterHome {
    /// The matched entry of this table.
    Direct(Table),
    /// An index given by the action, below this size.
    Indirect(u32),
}

/// How a counter's cells are laid out and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterCell {
    /// The format of a RAM word; `None` is the densest: 32 bits, or 28 and 36 for both (model: chip §5).
    pub format: Option<CounterFormat>,
    /// Added to each packet's length, -8192 to 8191, as for an FCS or a header that is not to count.
    pub adjust: i16,
    /// Whether cells are read as the stage holds them, where they wrap at their width. Otherwise the stage sends
    /// them to software before that happens, and what is read are sums of 64 bits (model: chip §5, LRT).
    pub wraps: bool,
}

impl CounterCell {
    /// The format that counts this in RAM.
    #[must_use]
    pub fn format_for(&self, kind: CounterKind) -> CounterFormat {
        self.format.unwrap_or(match kind {
            CounterKind::Packets | CounterKind::Bytes => CounterFormat::Single32,
            CounterKind::PacketsAndBytes => CounterFormat::Both28And36,
        })
    }

    /// What is added up and read: the word's format, or 64 bits.
    ///
    /// # Errors
    /// A format that does not hold what is counted, an adjustment beyond 14 bits.
    pub fn layout(&self, kind: CounterKind) -> Result<CounterLayout, CounterError> {
        let (counts, sums) = match kind {
            CounterKind::Packets => (asic::CounterKind::Packets, CounterFormat::Single64),
            CounterKind::Bytes => (asic::CounterKind::Bytes, CounterFormat::Single64),
            CounterKind::PacketsAndBytes => (asic::CounterKind::Both, CounterFormat::Both64),
        };
        let in_ram = CounterLayout::new(counts, self.format_for(kind), self.adjust.into())?;
        if self.wraps { Ok(in_ram) } else { CounterLayout::new(counts, sums, self.adjust.into()) }
    }

    /// Whether cells are sums of 64 bits of unchanged lengths.
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
    /// What it counts.
    pub kind: CounterKind,
    /// Direct or indirect.
    pub home: CounterHome,
    /// How a cell is laid out and read.
    pub cell: CounterCell,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
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
    /// Pairs of inputs, by position, whose order does not matter (`@symmetric`): the sum modulo two of both stands
    /// in the place of each. That is how the vendor's driver fills the hash matrix (model: bf-utils, dynamic hash).
    pub symmetric: Vec<[u16; 2]>,
    /// Low bits of the algorithm's output that are kept, 1..=64.
    pub width: u16,
    /// XORed into the kept bits, before rotation (model: chip §11.1).
    pub seed: u64,
    /// Rotation to the right within `width`, applied last.
    pub rotate: u16,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

impl HashData {
    /// The function as the chip computes it. Output bits beyond the algorithm's own repeat them.
    ///
    /// # Errors
    /// When width or seed is out of range.
    pub fn function(&self) -> Result<HashFunction, HashFunctionError> {
        let function = HashFunction::new(self.algorithm, u32::from(self.width))?;
        Ok(function.extended().with_seed(Seed::Xor(self.seed))?.rotated_right(u32::from(self.rotate)))
    }
}

/// Ports that state must see together: every pipe has its own registers, so all of them must be ports of one pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TogetherData {
    /// Name, unique among these.
    pub name: String,
    /// The state.
    pub registers: Vec<Register>,
    /// The ports as users name them: `3` of the front panel, `dev:137`.
    pub ports: Vec<PortName>,
    /// Why: what is compared or added up over the ports.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// Whether a label means loss or purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// The packet counts as dropped.
    Drop,
    /// The packet was consumed on purpose and counts as absorbed.
    Consume,
}

/// The named reason of a drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelData {
    /// Name, unique in the program, snake_case.
    pub name: String,
    /// Loss or purpose.
    pub kind: LabelKind,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// Parser, control and deparser of one gress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipeData {
    /// First parser state; `Accept` parses nothing.
    pub start: Next,
    /// The control block.
    pub control: Block,
    /// The deparser.
    pub deparser: Deparser,
}

/// What leaves a pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deparser {
    /// Computed before emission, in order.
    pub checksums: Vec<ChecksumUpdate>,
    /// Headers in wire order; the invalid ones are left out.
    pub emit: Vec<Header>,
    /// What is made beside the packet, in order.
    pub requests: Vec<Request>,
}

/// Something that a deparser makes beside the packet when the type field of its kind says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it makes.
    pub kind: RequestKind,
    /// The value of [`RequestKind::type_field`] that asks for it, from 1 on: 0 asks for nothing.
    pub selector: u8,
    /// The header whose bytes it carries, valid or not: they stand in front of the resubmitted packet or of
    /// the copy, or are the digest.
    pub header: Option<Header>,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// What a deparser can make beside the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Sends the packet, as it came in, through ingress once more. In that pass it asks in vain.
    Resubmit,
    /// Makes a copy for the mirror session that the field says.
    Mirror(Field),
    /// Tells the control plane.
    Digest,
    /// Asks the packet generator of the pipe; applications compare the header's bytes. Tofino 2.
    Pktgen,
}

impl RequestKind {
    /// The intrinsic field that selects among the requests of this kind.
    #[must_use]
    pub const fn type_field(self) -> Intrinsic {
        match self {
            RequestKind::Resubmit => Intrinsic::ResubmitType,
            RequestKind::Mirror(_) => Intrinsic::MirrorType,
            RequestKind::Digest => Intrinsic::DigestType,
            RequestKind::Pktgen => Intrinsic::Pktgen,
        }
    }

    /// The word of the text form.
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

/// A ones' complement checksum computed by the deparser when its header is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksumUpdate {
    /// The header that must be valid.
    pub header: Header,
    /// The 16-bit field written.
    pub field: Field,
    /// What is summed, in order, as the bits follow each other on the wire: fields of any header that the deparser
    /// emits, left out while it is invalid, and metadata.
    pub inputs: Vec<Field>,
    /// Whether a checksum of 0 is written as 0xffff, as UDP wants it (TNA's `zeros_as_ones`).
    pub zeros_as_ones: bool,
    /// Where the author wrote it.
    pub loc: Loc,
}
