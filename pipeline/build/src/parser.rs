//! Parser states: extraction, selects, the parser counter, checksums.

use super::draft::Builder;
use super::fields::Hdr;
use super::gress::GressBuilder;
use super::stack::{HdrStack, Last};
use super::value::{Bits, Constant, LValue, Ro, Val};
use sluice_ir::verify::Diag;
use sluice_ir::{
    self as ir, CounterLoad, Expr, Field, Loc, Lookahead, Next, ParserOp, ParserOpKind, SelectArm, SelectKey,
    StateData,
};

impl<'b> GressBuilder<'b> {
    /// Declares a parser state. A state without select and without [`StateRef::otherwise`] accepts the
    /// packet.
    #[track_caller]
    pub fn state(&self) -> StateRef<'b> {
        let loc = Loc::caller();
        let name = self.builder.take_name("parser state", loc);
        let mut draft = self.builder.draft();
        let taken = |n: &str| draft.program.states.values().any(|s| s.gress == self.gress && s.name == n);
        let id = draft.program.states.next_key();
        let data = StateData {
            name: name.unique(taken),
            gress: self.gress,
            ops: Vec::new(),
            select: Vec::new(),
            arms: Vec::new(),
            default: Next::Accept,
            doc: name.doc,
            loc,
        };
        draft.program.states.push(data);
        StateRef { builder: self.builder, id }
    }

    /// Makes `state` the start state. A gress without parser states treats the whole packet as payload.
    #[track_caller]
    pub fn start(&self, state: StateRef<'_>) {
        let loc = Loc::caller();
        self.builder.forget_name();
        let mut draft = self.builder.draft();
        if let Some(earlier) = draft.started[self.gress.index()].replace(loc) {
            let text = format!("{} has two start states", self.gress);
            let help = "call `start` once per gress";
            draft.diags.push(Diag::error(loc, text).also(earlier, "the first call of `start`").help(help));
        }
        draft.program.pipes[self.gress.index()].start = Next::State(state.id);
    }
}

/// A parser state. Methods add operations and transitions to it, so that it may refer to states declared
/// later: `start.on(0x0800, parse_ipv4);`.
#[derive(Clone, Copy, Debug)]
pub struct StateRef<'b> {
    pub(super) builder: &'b Builder,
    pub(super) id: ir::ParserState,
}

impl From<StateRef<'_>> for Next {
    fn from(state: StateRef<'_>) -> Next {
        Next::State(state.id)
    }
}

/// Look-ahead: bits of the packet that the parser has not advanced past.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<const W: u16>(u16);

/// Returns a look-ahead of `W` bits that begins `at` bits after the parser's position. In a select the
/// position is after everything that the state extracts; in an assignment it is after everything that the
/// state extracts before it.
pub fn lookahead<const W: u16>(at: u16) -> Ahead<W> {
    const { assert!(W >= 1 && W <= 128, "a parser looks at 1 to 128 bits") };
    Ahead(at)
}

/// Test of the parser counter: a select key of one bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterTest(SelectKey);

/// Returns a key that is 1 if the parser counter is zero.
#[must_use]
pub fn counter_is_zero() -> CounterTest {
    CounterTest(SelectKey::CounterIsZero)
}

/// Returns a key that is 1 if the parser counter is negative.
#[must_use]
pub fn counter_is_negative() -> CounterTest {
    CounterTest(SelectKey::CounterIsNegative)
}

/// Conversion of a field to a parser counter, as in TNA's `ParserCounter.set`: the field is rotated to the
/// right by `rotate` bits, cut to its low `mask + 1` bits, and increased by `add`. A field above `max` is the
/// parser error "counter range".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterFrom {
    /// Largest accepted value of the field.
    pub max: u8,
    /// Rotation to the right in bits, 0 to 7.
    pub rotate: u8,
    /// Number of kept bits minus 1, 0 to 7.
    pub mask: u8,
    /// Added modulo 256; to subtract `n`, add 256 - `n`.
    pub add: u8,
}

impl CounterFrom {
    fn load<const W: u16>(self, field: Bits<W>) -> CounterLoad {
        const { assert!(W <= 8, "the parser counter is set from at most 8 bits") };
        let CounterFrom { max, rotate, mask, add } = self;
        CounterLoad::Field { field: field.into(), max, rotate, mask, add }
    }
}

impl Default for CounterFrom {
    /// Returns the conversion that leaves the field unchanged.
    fn default() -> Self {
        CounterFrom { max: u8::MAX, rotate: 0, mask: 7, add: 0 }
    }
}

/// Value that a parser state may assign to a field of metadata or of a header: a constant, bits of a field that was
/// extracted on every path to the state, or a look-ahead.
pub trait ParserValue<const W: u16> {
    /// Returns the operation that assigns it to `place`.
    fn set(self, place: Field) -> ParserOpKind;
}

impl<const W: u16, V: Val<W>> ParserValue<W> for V {
    fn set(self, place: Field) -> ParserOpKind {
        ParserOpKind::Set(place, self.ir())
    }
}

impl<const W: u16> ParserValue<W> for Ahead<W> {
    fn set(self, place: Field) -> ParserOpKind {
        ParserOpKind::Lookahead(place, self.0)
    }
}

/// Keys of a select: one key, or several in a `list![..]`. A key is a field, a look-ahead, a test of the
/// counter, or a field of a stack's last element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be selected on",
    note = "select one field, or `list![a, b]`"
)]
pub trait SelectFields {
    /// Returns the keys in order.
    fn keys(self) -> Vec<SelectKey>;
}

impl<K: SingleKey> SelectFields for K {
    fn keys(self) -> Vec<SelectKey> {
        vec![self.into()]
    }
}

/// A key that may be the only key of a select.
pub trait SingleKey: Into<SelectKey> {}

impl<const W: u16> SingleKey for Bits<W> {}
impl<const W: u16> SingleKey for Ro<W> {}
impl<const W: u16> SingleKey for Ahead<W> {}
impl<const W: u16> SingleKey for Last<W> {}
impl SingleKey for CounterTest {}

impl<const W: u16> From<Bits<W>> for SelectKey {
    fn from(field: Bits<W>) -> SelectKey {
        SelectKey::Field(field.into())
    }
}

impl<const W: u16> From<Ro<W>> for SelectKey {
    fn from(field: Ro<W>) -> SelectKey {
        SelectKey::Field(field.into())
    }
}

impl<const W: u16> From<Ahead<W>> for SelectKey {
    fn from(ahead: Ahead<W>) -> SelectKey {
        SelectKey::Lookahead(Lookahead { at: ahead.0, width: W })
    }
}

impl From<CounterTest> for SelectKey {
    fn from(test: CounterTest) -> SelectKey {
        test.0
    }
}

impl<const N: usize> SelectFields for [SelectKey; N] {
    fn keys(self) -> Vec<SelectKey> {
        self.to_vec()
    }
}

impl StateRef<'_> {
    /// Returns the state in the finished program.
    #[must_use]
    pub fn id(self) -> ir::ParserState {
        self.id
    }

    fn edit(self, edit: impl FnOnce(&mut StateData)) -> Self {
        edit(&mut self.builder.draft().program.states[self.id]);
        self
    }

    fn op(self, kind: ParserOpKind, loc: Loc) -> Self {
        self.edit(|s| s.ops.push(ParserOp { kind, loc }))
    }

    /// Extracts a header: copies its fields from the packet, makes it valid and advances past it.
    #[track_caller]
    pub fn extract<T>(self, header: Hdr<T>) -> Self {
        self.op(ParserOpKind::Extract(header.id()), Loc::caller())
    }

    /// Makes a header valid without extracting it. Fields that no operation sets are zero.
    #[track_caller]
    pub fn set_valid<T>(self, header: Hdr<T>) -> Self {
        self.op(ParserOpKind::SetValid(header.id(), true), Loc::caller())
    }

    /// Makes a header invalid. Tofino 2.
    #[track_caller]
    pub fn set_invalid<T>(self, header: Hdr<T>) -> Self {
        self.op(ParserOpKind::SetValid(header.id(), false), Loc::caller())
    }

    /// Assigns a constant, bits of an extracted field, or a look-ahead to a field.
    #[track_caller]
    pub fn set<const W: u16>(self, place: impl LValue<W>, value: impl ParserValue<W>) -> Self {
        self.op(value.set(place.place()), Loc::caller())
    }

    /// Advances past `bytes` bytes without extracting them. These bytes are lost: the deparser emits
    /// extracted headers, and the payload begins where the parser stopped.
    #[track_caller]
    pub fn advance(self, bytes: u16) -> Self {
        self.op(ParserOpKind::Advance(bytes), Loc::caller())
    }

    /// Extracts the next element of the stack. If all its elements were extracted, the packet has the parser
    /// error "no match".
    #[track_caller]
    pub fn extract_next<T, const N: usize>(self, stack: HdrStack<T, N>) -> Self {
        self.op(ParserOpKind::ExtractNext(stack.id()), Loc::caller())
    }

    /// Sets the parser counter, which is zero at the start, to a constant.
    #[track_caller]
    pub fn set_counter(self, value: i8) -> Self {
        self.op(ParserOpKind::SetCounter(CounterLoad::Const(value as u8)), Loc::caller())
    }

    /// Sets the parser counter from a field of at most 8 bits.
    #[track_caller]
    pub fn set_counter_from<const W: u16>(self, field: Bits<W>, how: CounterFrom) -> Self {
        self.op(ParserOpKind::SetCounter(how.load(field)), Loc::caller())
    }

    /// Sets the parser counter from a byte `at` bits after the parser's position.
    #[track_caller]
    pub fn set_counter_ahead(self, at: u16, how: CounterFrom) -> Self {
        let CounterFrom { max, rotate, mask, add } = how;
        self.op(ParserOpKind::SetCounter(CounterLoad::Ahead { at, max, rotate, mask, add }), Loc::caller())
    }

    /// Pushes the parser counter on its stack, which is at most four deep, and sets the counter to a
    /// constant. Tofino 2.
    #[track_caller]
    pub fn push_counter(self, value: i8) -> Self {
        self.op(ParserOpKind::PushCounter(CounterLoad::Const(value as u8), false), Loc::caller())
    }

    /// Pushes the parser counter on its stack and sets the counter from a field of at most 8 bits. Tofino 2.
    #[track_caller]
    pub fn push_counter_from<const W: u16>(self, field: Bits<W>, how: CounterFrom) -> Self {
        self.op(ParserOpKind::PushCounter(how.load(field), false), Loc::caller())
    }

    /// As `push_counter_from`; whatever is added to the counter until it is popped is added to the counter below
    /// as well (`push(.., true)` of TNA). Tofino 2.
    #[track_caller]
    pub fn push_linked_counter_from<const W: u16>(self, field: Bits<W>, how: CounterFrom) -> Self {
        self.op(ParserOpKind::PushCounter(how.load(field), true), Loc::caller())
    }

    /// Pops the parser counter from its stack. Tofino 2.
    #[track_caller]
    pub fn pop_counter(self) -> Self {
        self.op(ParserOpKind::PopCounter, Loc::caller())
    }

    /// Adds `by` to the parser counter, modulo 256.
    #[track_caller]
    pub fn add_counter(self, by: i8) -> Self {
        self.op(ParserOpKind::AddCounter(by), Loc::caller())
    }

    /// Sets `error` to 1 if the ones' complement sum over these fields is not all ones. `error` keeps a 1 that another sum set.
    #[track_caller]
    pub fn verify_checksum<const N: usize>(self, error: impl LValue<1>, fields: [Field; N]) -> Self {
        self.op(ParserOpKind::VerifyChecksum(error.place(), fields.map(Expr::Field).to_vec()), Loc::caller())
    }

    /// Subtracts these fields, whole 16-bit words, from the sum in `rest`, which is zero at the start.
    /// Subtract a header's checksum and its fields: `rest` is then the sum of everything else that the
    /// checksum covers. The deparser adds the fields' new values
    /// ([`Deparser::checksum`](super::Deparser::checksum)). TNA calls this `Checksum.subtract` and
    /// `subtract_all_and_deposit`.
    #[track_caller]
    pub fn subtract_checksum<const N: usize>(self, rest: impl LValue<16>, fields: [Field; N]) -> Self {
        self.op(ParserOpKind::SubtractChecksum(rest.place(), fields.map(Expr::Field).to_vec()), Loc::caller())
    }

    /// Sets the keys that choose the next state.
    pub fn select(self, keys: impl SelectFields) -> Self {
        let keys = keys.keys();
        self.edit(|s| s.select = keys)
    }

    /// Adds an arm: goes to `next` if the select key has this value. Arms are tried in order.
    #[track_caller]
    pub fn on(self, value: impl Constant, next: impl Into<Next>) -> Self {
        self.arm([(value.value(), None)], next, Loc::caller())
    }

    /// Adds an arm: goes to `next` if the select key equals the value in the bits where the mask has ones.
    #[track_caller]
    pub fn on_masked(self, value: impl Constant, mask: impl Constant, next: impl Into<Next>) -> Self {
        self.arm([(value.value(), Some(mask.value()))], next, Loc::caller())
    }

    /// Adds an arm for several keys: goes to `next` if every key equals its value in the bits where its mask
    /// has ones. One pair of value and mask per key.
    #[track_caller]
    pub fn on_tuple<const N: usize>(
        self,
        values: [(impl Constant, impl Constant); N],
        next: impl Into<Next>,
    ) -> Self {
        self.arm(values.map(|(value, mask)| (value.value(), Some(mask.value()))), next, Loc::caller())
    }

    /// Sets the default: goes to `next` if no arm matches, or always if there is no select. Without it the
    /// parser accepts.
    pub fn otherwise(self, next: impl Into<Next>) -> Self {
        let next = next.into();
        self.edit(|s| s.default = next)
    }

    fn arm<const N: usize>(self, values: [(u128, Option<u128>); N], next: impl Into<Next>, loc: Loc) -> Self {
        let next = next.into();
        let mut draft = self.builder.draft();
        let state = &draft.program.states[self.id];
        if state.select.len() != N {
            let (name, fields) = (&state.name, state.select.len());
            let text =
                format!("an arm of parser state `{name}` has {N} values, but its select has {fields} keys");
            let diag = Diag::error(loc, text).help("call `select` first, then give one value per key");
            draft.diags.push(diag);
            drop(draft);
            return self;
        }
        let widths = state.select.iter().map(|k| k.width(&draft.program).unwrap_or(128));
        let ones = widths.map(|w| u128::MAX.checked_shr(u32::from(128u16.saturating_sub(w))).unwrap_or(0));
        let values =
            values.iter().zip(ones).map(|(&(value, mask), ones)| (value, mask.unwrap_or(ones))).collect();
        draft.program.states[self.id].arms.push(SelectArm::new(values, next));
        drop(draft);
        self
    }
}
