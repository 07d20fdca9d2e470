//! From the instances of a pipe to the program that the chip runs.
//!
//! [`lower`] walks the code of the blocks. Each name stands for a *place* (`places`): storage in the PHV, which parser, control
//! and deparser of a gress share. Values and conditions become those of one instruction or one gateway; statements become
//! primitives of actions and statements of control blocks.
//!
//! Invariants:
//! - A construct without a home in the program is refused by name, at its P4 line, with a remedy. None is dropped silently.
//! - What the program approximates or ignores is a [`Note`].
//! - Fields of metadata and intrinsic fields are declared at their first use, so that unused members of structures take no room.
//!   Headers are declared whole.

mod action;
mod annotation;
mod author;
mod condition;
mod control;
mod copies;
mod deparser;
mod externs;
mod flags;
mod frame;
mod idle;
mod lift;
mod loc;
mod name;
mod parser;
mod places;
mod register;
mod scratch;
mod simplify;
mod table;
mod types;
mod value;
mod zeros;

use crate::check::Checked;
use crate::core::Bodies;
use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::elaborate::{ActionId, ObjectId, Pipe, TableId};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Ast, ExprId};
use name::Names;
use places::Storage;
use rustc_hash::FxHashMap;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;
use sluice_ir as ir;
use std::cell::OnceCell;

/// A lowered program.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program. It has not been verified.
    pub program: ir::Program,
    /// Parts of the source that the program approximates or ignores, in the order in which they were found.
    pub notes: Vec<Note>,
    /// Fields to which the source writes zeros that the program leaves out, because the fields are zero.
    pub zeroed: Vec<ir::Field>,
}

impl Lowered {
    /// Returns true if a finding of the verifier is not one of the source: a field that is never written has zeros there.
    #[must_use]
    pub fn refutes(&self, found: &ir::verify::Diag) -> bool {
        let fields = self.zeroed.iter().map(|field| &self.program.fields[*field]);
        fields.into_iter().any(|field| found.text == ir::verify::never_written(&field.name))
    }
}

/// A part of the source that the program approximates or ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place.
    pub at: Span,
    /// The construct.
    pub what: String,
    /// The difference that it makes.
    pub effect: String,
}

/// The inputs of a lowering that it does not change.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The syntax tree.
    pub ast: &'a Ast,
    /// The instances.
    pub pipe: &'a Pipe,
    /// The texts, for source locations.
    pub texts: &'a SourceMap,
    /// The chip's architecture, which decides the widths of some intrinsic fields.
    pub chip: Architecture,
}

/// Lowers a pipe. Returns `None` after an error, which goes to `diagnostics`.
pub fn lower(source: Source<'_>, checked: &mut Checked, diagnostics: &mut Diagnostics) -> Option<Lowered> {
    let before = diagnostics.errors();
    let mut lower = Lower::new(source, checked, diagnostics);
    lower.program();
    let Lower { mut program, notes, zeroed, storage, .. } = lower;
    scratch::headers_to_metadata(&mut program);
    ir::join(&mut program);
    let mut zeroed: Vec<ir::Field> = zeroed.iter().filter_map(|slot| storage.slots[*slot].field).collect();
    zeroed.extend(spare_stages(&mut program, source.chip));
    (diagnostics.errors() == before).then_some(Lowered { program, notes, zeroed })
}

/// Changes a program so that it takes fewer stages and does the same: leaves out zeros and copies that are not needed, reads flags
/// as the conditions that set them, and splits conditions that no gateway of the chip can test. Returns the fields whose zeros were left
/// out.
pub fn spare_stages(program: &mut ir::Program, chip: Architecture) -> Vec<ir::Field> {
    let chip = match chip {
        Architecture::Tna => ChipSpec::tofino(),
        Architecture::T2na => ChipSpec::tofino2(),
    };
    let tests = |program: &ir::Program, cond: &ir::Cond| ir::gateway::estimate(program, &chip.mau, cond);
    let zeroed = zeros::leave_out(program);
    copies::follow(program, &tests);
    flags::follow(program, &tests);
    lift::out_of_branches(program);
    idle::leave_out(program);
    ir::split(program, &tests);
    zeroed
}

/// Returns the verifier's findings on a lowered program. What P4 leaves undefined, such as a read of a header that no packet has
/// there, is a warning, as it is for other compilers.
#[must_use]
pub fn findings(program: &ir::Program) -> Vec<ir::verify::Diag> {
    let mut found = ir::verify::verify(program);
    for diag in found.iter_mut().filter(|diag| diag.undefined) {
        diag.severity = ir::verify::Severity::Warning;
    }
    found
}

/// The state of a lowering.
struct Lower<'a> {
    ast: &'a Ast,
    pipe: &'a Pipe,
    texts: &'a SourceMap,
    chip: Architecture,
    checked: &'a mut Checked,
    diagnostics: &'a mut Diagnostics,
    program: ir::Program,
    notes: Vec<Note>,
    storage: Storage,
    names: Names,
    /// The gress whose code is lowered.
    gress: Gress,
    /// The action or block whose code is lowered, for the labels of drops, and its place.
    owner: String,
    owner_at: Span,
    /// The reason of drops that an annotation of the action states.
    reason: Option<(&'a str, ir::LabelKind)>,
    /// The straight code under construction.
    body: action::Body,
    /// Statements of bodies that were lowered so far.
    statements: usize,
    /// True in blocks whose values the hash unit computes.
    in_hash: bool,
    /// Values of calls that an earlier statement computes.
    hoisted: FxHashMap<ExprId, Vec<ir::Expr>>,
    /// Results of units that the first step of an action computes for its later steps.
    results: FxHashMap<ExprId, Vec<ir::Expr>>,
    /// What extern objects are in the program.
    units: FxHashMap<ObjectId, externs::Unit>,
    /// Bytes that counters and meters add to the length of each packet.
    adjusted: FxHashMap<ObjectId, i16>,
    /// The value sets that parsers use.
    value_sets: FxHashMap<crate::elaborate::ValueSetId, ir::ValueSet>,
    /// The output words of each register action's `out` parameters, in order.
    output_words: FxHashMap<ir::RegisterAction, Vec<u8>>,
    /// The members by code of enumerations that register actions return, by output word.
    codes: FxHashMap<(ir::RegisterAction, u8), Vec<(u128, u128)>>,
    /// The hashes of each object.
    hashes: FxHashMap<ObjectId, Vec<ir::Hash>>,
    /// The tables that extern objects are direct to.
    direct: FxHashMap<ObjectId, ir::Table>,
    /// Flags of `exit` and `return`.
    leave: control::Leave,
    /// The table whose actions are lowered.
    table: Option<ir::Table>,
    /// Copies that an action under construction needs before it runs.
    before: Vec<ir::Primitive>,
    /// Statements that follow the one under construction.
    after: ir::Block,
    /// The copies that each action needs.
    copies: FxHashMap<ir::Action, Vec<ir::Primitive>>,
    /// Constants that lists of deparsers name.
    list_constants: Vec<deparser::ListConstant>,
    /// Storage to which parsers write zeros that it has already.
    zeroed: Vec<places::Slot>,
    /// Copies that controls make of headers' fields for lists of deparsers.
    list_copies: Vec<(ir::Field, ir::Field)>,
    /// Checksum updates of the deparser that is lowered.
    updates: Vec<deparser::Update>,
    /// Flags that controls compute for deparsers, with what they say.
    decided: Vec<(Gress, ir::Cond, ir::Field)>,
    /// The fields that select the requests of each kind; `None`: the type field.
    selectors: FxHashMap<(Gress, &'static str), Option<ir::Field>>,
    /// Fields that say whether a type field was written.
    written_flags: Vec<(Gress, ir::Intrinsic, ir::Field)>,
    /// The statements that run after each action of several steps.
    rest: FxHashMap<ir::Action, ir::Block>,
    /// Flags that actions of several steps set, for tables with other arms.
    ran: FxHashMap<ir::Action, places::Slot>,
    /// The frames of nested controls that were applied.
    entered: FxHashMap<crate::elaborate::BlockId, frame::Frame>,
    /// The places that callees use, for actions in the lists of tables and for sub-parsers.
    bodies: OnceCell<Bodies>,
    /// The action that does nothing, by gress.
    no_action: [Option<ir::Action>; 2],
    /// Tables and actions that are declared.
    tables: FxHashMap<TableId, ir::Table>,
    actions: FxHashMap<(Option<TableId>, ActionId, Gress), ir::Action>,
}

/// An error has been reported: the part that contains it is given up, and the parts after it are lowered, so that one run finds
/// independent mistakes.
#[derive(Clone, Copy, Debug)]
struct Refused;

/// A result whose error has been reported.
type Res<T> = Result<T, Refused>;

impl<'a> Lower<'a> {
    fn new(source: Source<'a>, checked: &'a mut Checked, diagnostics: &'a mut Diagnostics) -> Lower<'a> {
        let Source { ast, pipe, texts, chip } = source;
        Lower {
            ast,
            pipe,
            texts,
            chip,
            checked,
            diagnostics,
            program: ir::Program::default(),
            notes: Vec::new(),
            storage: Storage::default(),
            names: Names::default(),
            gress: Gress::Ingress,
            owner: String::new(),
            owner_at: Span::NONE,
            reason: None,
            body: action::Body::default(),
            statements: 0,
            in_hash: false,
            hoisted: FxHashMap::default(),
            results: FxHashMap::default(),
            units: FxHashMap::default(),
            adjusted: FxHashMap::default(),
            value_sets: FxHashMap::default(),
            output_words: FxHashMap::default(),
            codes: FxHashMap::default(),
            hashes: FxHashMap::default(),
            direct: FxHashMap::default(),
            leave: control::Leave::default(),
            table: None,
            before: Vec::new(),
            after: Vec::new(),
            copies: FxHashMap::default(),
            list_constants: Vec::new(),
            zeroed: Vec::new(),
            list_copies: Vec::new(),
            selectors: FxHashMap::default(),
            updates: Vec::new(),
            decided: Vec::new(),
            written_flags: Vec::new(),
            rest: FxHashMap::default(),
            ran: FxHashMap::default(),
            entered: FxHashMap::default(),
            bodies: OnceCell::new(),
            no_action: [None; 2],
            tables: FxHashMap::default(),
            actions: FxHashMap::default(),
        }
    }

    /// Lowers all blocks.
    fn program(&mut self) {
        if self.roots().is_err() {
            return;
        }
        // Parsers decide which metadata ports fill; so they come first. Their writes follow when it is known which metadata the
        // other blocks name.
        let parsers = Gress::ALL.map(|gress| {
            self.gress = gress;
            self.parser(gress).unwrap_or_default()
        });
        for gress in Gress::ALL {
            self.gress = gress;
            let _ = self.control(gress);
            let _ = self.deparser(gress);
        }
        self.finish_parsers(parsers);
        self.write_list_constants();
        self.set_written_flags();
        self.container_rules();
    }

    /// Reports a construct without a home in the program.
    fn refuse(&mut self, at: Span, message: impl Into<String>, help: impl Into<String>) -> Refused {
        self.diagnostics.push(Diagnostic::error(Class::Unsupported, at, message).help(help));
        Refused
    }

    /// Notes that a construct is approximated or ignored.
    fn note(&mut self, at: Span, what: impl Into<String>, effect: impl Into<String>) {
        let note = Note { at, what: what.into(), effect: effect.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
