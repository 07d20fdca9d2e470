//! Declarations of one gress: headers, metadata, actions, counters, control.

use super::action::Act;
use super::control::{Control, once};
use super::draft::{Builder, Unattached};
use super::fields::{Declarer, Fields, Hdr, IntrinsicDeclarer, IntrinsicFields};
use super::handles::{ActionRef, CounterRef, DirectCounterRef, LabelRef};
use super::lines::lower;
use sluice_asic::gress::Gress;
use sluice_ir::{
    Action, ActionData, Counter, CounterCell, CounterData, CounterHome, CounterKind, Field, HeaderData, Home,
    LabelKind, Loc,
};

/// Declares everything that belongs to one gress.
///
/// As in TNA, ingress and egress have separate headers, metadata, tables and actions. Only the packet's bytes
/// pass from ingress to egress.
#[derive(Clone, Copy, Debug)]
pub struct GressBuilder<'b> {
    pub(super) builder: &'b Builder,
    pub(super) gress: Gress,
    /// True if statements go to the ghost control.
    pub(super) ghost: bool,
}

impl<'b> GressBuilder<'b> {
    pub(super) fn new(builder: &'b Builder, gress: Gress) -> Self {
        GressBuilder { builder, gress, ghost: false }
    }

    pub(super) fn ghost(builder: &'b Builder) -> Self {
        GressBuilder { builder, gress: Gress::Ingress, ghost: true }
    }

    /// Returns the gress that this builder declares on.
    #[must_use]
    pub fn gress(&self) -> Gress {
        self.builder.forget_name();
        self.gress
    }

    /// Sets name and documentation of the next declaration. `#[stage_program]` writes this call.
    pub fn named(&self, name: &str, doc: &str) -> &Self {
        self.builder.named(name, doc);
        self
    }

    /// Declares a header instance. An instance without a doc comment gets the struct's.
    #[track_caller]
    pub fn header<T: Fields>(&self) -> Hdr<T> {
        self.header_at(Loc::caller())
    }

    pub(super) fn header_at<T: Fields>(&self, loc: Loc) -> Hdr<T> {
        let name = self.builder.take_name("header", loc);
        let prefix = name.unique(|n| self.is_prefix(n));
        let doc = if name.doc.is_empty() { T::DOC.to_owned() } else { name.doc };
        let data = HeaderData { name: prefix.clone(), gress: self.gress, fields: Vec::new(), doc, loc };
        let header = self.builder.draft().program.headers.push(data);
        let (fields, list) = self.declare::<T>(prefix, Home::Header(header), loc);
        self.builder.draft().program.headers[header].fields = list;
        Hdr::new(fields, header)
    }

    /// Declares metadata: fields that are zero at the start of each pass and are lost at its end.
    #[track_caller]
    pub fn metadata<T: Fields>(&self) -> T {
        let loc = Loc::caller();
        let name = self.builder.take_name("metadata struct", loc);
        let prefix = name.unique(|n| self.is_prefix(n));
        self.declare::<T>(prefix, Home::Metadata, loc).0
    }

    /// Returns the intrinsic metadata of a struct of [`tna`](super::tna). The fields keep their TNA names,
    /// whatever the handle is called. A second call returns the same fields.
    #[track_caller]
    pub fn intrinsic<T: IntrinsicFields>(&self) -> T {
        self.builder.forget_name();
        T::declare(&mut IntrinsicDeclarer { builder: self.builder, gress: self.gress, loc: Loc::caller() })
    }

    pub(super) fn declare<T: Fields>(&self, prefix: String, home: Home, loc: Loc) -> (T, Vec<Field>) {
        let (builder, gress) = (self.builder, self.gress);
        let mut declarer = Declarer { builder, gress, prefix, home, fields: Vec::new(), loc };
        let fields = T::declare(&mut declarer);
        (fields, declarer.fields)
    }

    /// Returns true if a header or metadata struct of this gress already has the name.
    pub(super) fn is_prefix(&self, name: &str) -> bool {
        let draft = self.builder.draft();
        let headers = draft.program.headers.values().any(|h| h.gress == self.gress && h.name == name);
        let mut fields = draft.program.fields.values().filter(|f| f.gress == self.gress);
        headers || fields.any(|f| f.name.split('.').next() == Some(name))
    }

    /// Declares an action. `|a, port: Arg<9>|` gives it run-time parameters.
    #[track_caller]
    pub fn action(&self, body: impl FnOnce(&mut Act<'b>)) -> ActionRef {
        self.record_action(&mut once(body), Loc::caller())
    }

    fn record_action(&self, body: &mut dyn FnMut(&mut Act<'b>), loc: Loc) -> ActionRef {
        let name = self.builder.take_name("action", loc);
        let mut act = Act::new(self.builder, self.gress);
        body(&mut act);
        let Act { params, body, .. } = act;
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.action_named(n).is_some());
        let data = ActionData { name: unique, gress: self.gress, params, body, doc: name.doc, loc };
        ActionRef(draft.program.actions.push(data))
    }

    /// Declares a counter of `size` cells; actions give the index.
    #[track_caller]
    pub fn counter(&self, size: u32, kind: CounterKind) -> CounterRef {
        self.counter_with(size, kind, CounterCell::default())
    }

    /// Declares a counter like [`GressBuilder::counter`], with a given cell format.
    #[track_caller]
    pub fn counter_with(&self, size: u32, kind: CounterKind, cell: CounterCell) -> CounterRef {
        CounterRef(self.new_counter(CounterHome::Indirect(size), kind, cell, Loc::caller()))
    }

    /// Declares a counter with one cell per entry of a table. Attach it with
    /// [`TableBuilder::counter`](super::TableBuilder::counter), after the actions that count are declared.
    #[track_caller]
    pub fn direct_counter(&self, kind: CounterKind) -> DirectCounterRef {
        self.direct_counter_with(kind, CounterCell::default())
    }

    /// Declares a counter like [`GressBuilder::direct_counter`], with a given cell format.
    #[track_caller]
    pub fn direct_counter_with(&self, kind: CounterKind, cell: CounterCell) -> DirectCounterRef {
        // The table is not known yet: `build` of a table replaces this home, otherwise `finish` refuses the
        // program.
        let counter = self.new_counter(CounterHome::Indirect(0), kind, cell, Loc::caller());
        self.builder.draft().unattached.push(Unattached::Counter(counter));
        DirectCounterRef(counter)
    }

    fn new_counter(&self, home: CounterHome, kind: CounterKind, cell: CounterCell, loc: Loc) -> Counter {
        let name = self.builder.take_name("counter", loc);
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.counters.values().any(|c| c.name == n));
        let data = CounterData { name: unique, gress: self.gress, kind, home, cell, doc: name.doc, loc };
        draft.program.counters.push(data)
    }

    /// Declares a drop reason; see [`Builder::drop_label`].
    #[track_caller]
    pub fn drop_label(&self, doc: &str) -> LabelRef {
        self.builder.label(LabelKind::Drop, doc, Loc::caller())
    }

    /// Declares a purpose of absorption; see [`Builder::consume_label`].
    #[track_caller]
    pub fn consume_label(&self, doc: &str) -> LabelRef {
        self.builder.label(LabelKind::Consume, doc, Loc::caller())
    }

    /// Adds statements to the control block of this gress. Several calls are concatenated in program order.
    pub fn control(&self, body: impl FnOnce(&mut Control<'b>)) {
        self.record_control(&mut once(body));
    }

    fn record_control(&self, body: &mut dyn FnMut(&mut Control<'b>)) {
        self.builder.forget_name();
        let mut control = Control::new(self.builder, self.gress);
        body(&mut control);
        let block = lower(self.builder, self.gress, control.into_lines());
        let program = &mut self.builder.draft().program;
        let control =
            if self.ghost { &mut program.ghost } else { &mut program.pipes[self.gress.index()].control };
        control.extend(block);
    }

    /// Returns P4's `NoAction`, the default action of tables that declare none.
    pub(super) fn no_action(&self, loc: Loc) -> Action {
        let mut draft = self.builder.draft();
        let found = draft.no_action[self.gress.index()];
        found.unwrap_or_else(|| {
            let name = draft.unique_action("NoAction");
            let doc = "Does nothing".to_owned();
            let data = ActionData { name, gress: self.gress, params: Vec::new(), body: Vec::new(), doc, loc };
            let action = draft.program.actions.push(data);
            draft.no_action[self.gress.index()] = Some(action);
            action
        })
    }
}
