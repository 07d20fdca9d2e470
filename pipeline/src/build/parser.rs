//! Parser states. What may not live here: headers.

use super::draft::Builder;
use super::fields::Hdr;
use super::gress::GressBuilder;
use super::value::{Bits, Constant, Place, Ro, Val};
use crate::ir::{self, Field, Loc, Next, ParserOp, ParserOpKind, SelectArm, StateData};
use crate::verify::Diag;

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

/// Fields that a select may look at: one field, or several in a `list![..]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be selected on",
    note = "select one field, or `list![a, b]`"
)]
pub trait SelectFields {
    /// The fields in order.
    fn fields(self) -> Vec<Field>;
}

impl<const W: u16> SelectFields for Bits<W> {
    fn fields(self) -> Vec<Field> {
        vec![self.into()]
    }
}

impl<const W: u16> SelectFields for Ro<W> {
    fn fields(self) -> Vec<Field> {
        vec![self.into()]
    }
}

impl<const N: usize> SelectFields for [Field; N] {
    fn fields(self) -> Vec<Field> {
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

    /// Writes a metadata field from a constant, or from a field that this state extracts.
    #[track_caller]
    pub fn set<const W: u16>(self, place: impl Place<W>, value: impl Val<W>) -> Self {
        self.op(ParserOpKind::Set(place.place(), value.ir()), Loc::caller())
    }

    /// Sets `error` to 1 when the ones' complement sum over these fields is wrong, else to 0.
    #[track_caller]
    pub fn verify_checksum<const N: usize>(self, error: impl Place<1>, fields: [Field; N]) -> Self {
        self.op(ParserOpKind::VerifyChecksum(error.place(), fields.to_vec()), Loc::caller())
    }

    /// The fields that choose the next state: extracted so far, or intrinsic.
    pub fn select(self, fields: impl SelectFields) -> Self {
        let fields = fields.fields();
        self.edit(|s| s.select = fields)
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
        let widths = state.select.iter().map(|&f| draft.program.fields.get(f).map_or(128, |d| d.width));
        let ones = widths.map(|w| u128::MAX.checked_shr(u32::from(128u16.saturating_sub(w))).unwrap_or(0));
        let values =
            values.iter().zip(ones).map(|(&(value, mask), ones)| (value, mask.unwrap_or(ones))).collect();
        draft.program.states[self.id].arms.push(SelectArm { values, next });
        drop(draft);
        self
    }
}
