//! Parser states.

use super::draft::Builder;
use super::fields::Hdr;
use super::gress::GressBuilder;
use super::stack::{HdrStack, Last};
use super::value::{Bits, Constant, Place, Ro, Val};
use sluice_ir::verify::Diag;
use sluice_ir::{
    self as ir, CounterLoad, Field, Loc, Lookahead, Next, ParserOp, ParserOpKind, SelectArm, SelectKey,
    StateData,
};

impl<'b> GressBuilder<'b> {
    /// Declares a parser state. A state without select and without [`StateRef::otherwise`] accepts.
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

    /// Parsing starts in this state. A gress without parser states passes whole packets as payload.
    #[track_caller]
    pub fn start(&self, state: StateRef<'_>) {
        let loc = Loc::caller();
        self.builder.forget_name();
        let mut draft = self.builder.draft();
        if let Some(earlier) = draft.started[self.gress.index()].replace(loc) {
            let text = format!("{} starts parsing in two states", self.gress);
            let help = "call `start` once, with the first state";
            draft.diags.push(Diag::error(loc, text).also(earlier, "the other start").help(help));
        }
        draft.program.pipes[self.gress.index()].start = Next::State(state.id);
    }
}

/// A parser state. Its methods add to it, so states may refer to states declared later:
/// `start.on(0x0800, parse_ipv4);`.
#[derive(Clone, Copy, Debug)]
pub struct StateRef<'b> {
    builder: &'b Builder,
    id: ir::ParserState,
}

impl From<StateRef<'_>> for Next {
    fn from(state: StateRef<'_>) -> Next {
        Next::State(state.id)
    }
}

/// Bits of the packet that the parser has not moved past.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<const W: u16>(u16);

/// `W` bits of the packet, `at` bits ahead of the parser's place: behind all that the state extracts when it is
/// selected on, behind what comes before it when a field is set to it.
pub fn lookahead<const W: u16>(at: u16) -> Ahead<W> {
    const { assert!(W >= 1 && W <= 128, "a parser looks at 1 to 128 bits") };
    Ahead(at)
}

/// A test of the parser counter: one bit to select on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterTest(SelectKey);

/// 1 when the parser counter is zero.
#[must_use]
pub fn counter_is_zero() -> CounterTest {
    CounterTest(SelectKey::CounterIsZero)
}

/// 1 when the parser counter is below zero.
#[must_use]
pub fn counter_is_negative() -> CounterTest {
    CounterTest(SelectKey::CounterIsNegative)
}

/// How a field sets the parser counter, as in TNA's `ParserCounter.set`: rotated to the right by `rotate` bits,
/// cut to its low `mask + 1` bits, increased by `add`. A field above `max` is parser error "counter range".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterFrom {
    /// Largest value of the field.
    pub max: u8,
    /// 0..=7
    pub rotate: u8,
    /// 0..=7
    pub mask: u8,
    /// Added modulo 256; 256 minus a number subtracts it.
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
    /// The field as it is.
    fn default() -> Self {
        CounterFrom { max: u8::MAX, rotate: 0, mask: 7, add: 0 }
    }
}

/// What a parser state may set a metadata field to: a constant, a field that it extracts, or bits ahead.
pub trait ParserValue<const W: u16> {
    /// The operation that sets `place`.
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

/// What a select may look at: one key, or several in a `list![..]`. Keys are fields, bits ahead, tests of the
/// counter, and fields of a stack's last element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be selected on",
    note = "select one field, or `list![a, b]`"
)]
pub trait SelectFields {
    /// The keys in order.
    fn keys(self) -> Vec<SelectKey>;
}

impl<K: SingleKey> SelectFields for K {
    fn keys(self) -> Vec<SelectKey> {
        vec![self.into()]
    }
}

/// A key that is selected on alone.
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
    /// The state in the finished program.
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

    /// Copies a header from the packet, makes it valid, moves past it.
    #[track_caller]
    pub fn extract<T>(self, header: Hdr<T>) -> Self {
        self.op(ParserOpKind::Extract(header.id()), Loc::caller())
    }

    /// Writes a metadata field from a constant, from a field that this state extracts, or from bits ahead.
    #[track_caller]
    pub fn set<const W: u16>(self, place: impl Place<W>, value: impl ParserValue<W>) -> Self {
        self.op(value.set(place.place()), Loc::caller())
    }

    /// Moves past bytes without extracting them: they do not leave with the packet, because only what was
    /// extracted is emitted and what the parser did not come to follows as payload.
    #[track_caller]
    pub fn advance(self, bytes: u16) -> Self {
        self.op(ParserOpKind::Advance(bytes), Loc::caller())
    }

    /// Extracts the stack's first element that was not extracted yet. A packet with more elements than the stack
    /// has is parser error "no match".
    #[track_caller]
    pub fn extract_next<T, const N: usize>(self, stack: HdrStack<T, N>) -> Self {
        self.op(ParserOpKind::ExtractNext(stack.id()), Loc::caller())
    }

    /// Sets the parser counter, which is zero at first, to a constant.
    #[track_caller]
    pub fn set_counter(self, value: i8) -> Self {
        self.op(ParserOpKind::SetCounter(CounterLoad::Const(value as u8)), Loc::caller())
    }

    /// Sets the parser counter from a field of at most 8 bits.
    #[track_caller]
    pub fn set_counter_from<const W: u16>(self, field: Bits<W>, how: CounterFrom) -> Self {
        self.op(ParserOpKind::SetCounter(how.load(field)), Loc::caller())
    }

    /// Puts the parser counter on its stack, at most four deep, and sets it to a constant. Tofino 2.
    #[track_caller]
    pub fn push_counter(self, value: i8) -> Self {
        self.op(ParserOpKind::PushCounter(CounterLoad::Const(value as u8)), Loc::caller())
    }

    /// Puts the parser counter on its stack and sets it from a field of at most 8 bits. Tofino 2.
    #[track_caller]
    pub fn push_counter_from<const W: u16>(self, field: Bits<W>, how: CounterFrom) -> Self {
        self.op(ParserOpKind::PushCounter(how.load(field)), Loc::caller())
    }

    /// Takes the parser counter back from its stack. Tofino 2.
    #[track_caller]
    pub fn pop_counter(self) -> Self {
        self.op(ParserOpKind::PopCounter, Loc::caller())
    }

    /// Adds to the parser counter, modulo 256.
    #[track_caller]
    pub fn add_counter(self, by: i8) -> Self {
        self.op(ParserOpKind::AddCounter(by), Loc::caller())
    }

    /// Sets `error` to 1 when the ones' complement sum over these fields is wrong, else to 0.
    #[track_caller]
    pub fn verify_checksum<const N: usize>(self, error: impl Place<1>, fields: [Field; N]) -> Self {
        self.op(ParserOpKind::VerifyChecksum(error.place(), fields.to_vec()), Loc::caller())
    }

    /// Takes these fields, whole 16-bit words, out of the sum in `rest`, which is zero at first. A header's checksum and
    /// its fields taken out leave the sum of all that the checksum covers behind them; the deparser sums it with what
    /// the header then holds (`Checksum.subtract` and `subtract_all_and_deposit` of TNA).
    #[track_caller]
    pub fn subtract_checksum<const N: usize>(self, rest: impl Place<16>, fields: [Field; N]) -> Self {
        self.op(ParserOpKind::SubtractChecksum(rest.place(), fields.to_vec()), Loc::caller())
    }

    /// What chooses the next state.
    pub fn select(self, keys: impl SelectFields) -> Self {
        let keys = keys.keys();
        self.edit(|s| s.select = keys)
    }

    /// Goes to `next` when the select field has this value. Arms are tried in order.
    #[track_caller]
    pub fn on(self, value: impl Constant, next: impl Into<Next>) -> Self {
        self.arm([(value.value(), None)], next, Loc::caller())
    }

    /// Goes to `next` when the select field has this value where the mask has ones.
    #[track_caller]
    pub fn on_masked(self, value: impl Constant, mask: impl Constant, next: impl Into<Next>) -> Self {
        self.arm([(value.value(), Some(mask.value()))], next, Loc::caller())
    }

    /// Goes to `next` when every select field has its value where its mask has ones: one pair of value and
    /// mask per field.
    #[track_caller]
    pub fn on_tuple<const N: usize>(
        self,
        values: [(impl Constant, impl Constant); N],
        next: impl Into<Next>,
    ) -> Self {
        self.arm(values.map(|(value, mask)| (value.value(), Some(mask.value()))), next, Loc::caller())
    }

    /// Goes to `next` when no arm matches, or always when there is no select. Without it parsing accepts.
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
                format!("an arm of parser state `{name}` has {N} values, its select has {fields} fields");
            let diag = Diag::error(loc, text).help("call `select` first, then give one value per field");
            draft.diags.push(diag);
            drop(draft);
            return self;
        }
        let widths = state.select.iter().map(|k| k.width(&draft.program).unwrap_or(128));
        let ones = widths.map(|w| u128::MAX.checked_shr(u32::from(128u16.saturating_sub(w))).unwrap_or(0));
        let values =
            values.iter().zip(ones).map(|(&(value, mask), ones)| (value, mask.unwrap_or(ones))).collect();
        draft.program.states[self.id].arms.push(SelectArm { values, next });
        drop(draft);
        self
    }
}
