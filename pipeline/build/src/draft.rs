//! The builder: the program under construction, its names, and the errors found so far.

use super::gress::GressBuilder;
use super::handles::LabelRef;
use super::params::Params;
use super::register_access::name_plain;
use super::subcontrol::{SharedState, Subcontrol};
use sluice_asic::gress::Gress;
use sluice_asic::port::PortName;
use sluice_ir::verify::{Diag, Severity};
use sluice_ir::{
    self as ir, FieldData, Home, Intrinsic, LabelData, LabelKind, Loc, ParamValue, PrimitiveKind,
};
use std::cell::{RefCell, RefMut};

/// Builds one stage program.
///
/// Declarations are made on [`Builder::ingress`] and [`Builder::egress`]. Drop and consume labels, which both
/// gresses share, may also be declared on the builder. [`Builder::finish`] returns all mistakes together.
#[derive(Debug)]
pub struct Builder {
    draft: RefCell<Draft>,
}

/// Program under construction.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub program: ir::Program,
    pub(super) diags: Vec<Diag>,
    /// Actions of plain reads and writes of registers, which have no name yet, with the name that they want.
    pub(super) plain: Vec<(ir::RegisterAction, String)>,
    /// Recorded blocks, by number.
    pub(super) subcontrols: Vec<Subcontrol>,
    /// Direct arrays that are not attached to a table yet.
    pub(super) unattached: Vec<Unattached>,
    /// Per gress: the source location of its call of `start`.
    pub(super) started: [Option<Loc>; 2],
    /// Per gress: the action that does nothing; `None` until a table needs it.
    pub no_action: [Option<ir::Action>; 2],
    /// Name and documentation of the next declaration.
    pending: Option<(String, String)>,
}

/// A direct array that is not attached to a table yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unattached {
    Counter(ir::Counter),
    Register(ir::Register),
    Meter(ir::Meter),
}

impl Unattached {
    /// Returns its kind, name and source location.
    pub(crate) fn who(self, program: &ir::Program) -> (&'static str, &str, Loc) {
        match self {
            Unattached::Counter(c) => ("counter", &program.counters[c].name, program.counters[c].loc),
            Unattached::Register(r) => ("register", &program.registers[r].name, program.registers[r].loc),
            Unattached::Meter(m) => ("meter", &program.meters[m].name, program.meters[m].loc),
        }
    }

    /// Attaches it to `table`.
    pub(crate) fn settle(self, program: &mut ir::Program, table: ir::Table) {
        *match self {
            Unattached::Counter(c) => &mut program.counters[c].home,
            Unattached::Register(r) => &mut program.registers[r].home,
            Unattached::Meter(m) => &mut program.meters[m].home,
        } = ir::CounterHome::Direct(table);
    }
}

/// Name and documentation of a declaration; the name may still collide with another.
#[derive(Debug)]
pub(super) struct Name {
    base: String,
    pub(super) doc: String,
}

impl Name {
    /// Returns the name, with the first number that makes it unique if it is taken: a loop declares `x`,
    /// `x_1`, `x_2`.
    pub(super) fn unique(&self, taken: impl Fn(&str) -> bool) -> String {
        unique(&self.base, &taken)
    }
}

/// Returns the first of `base`, `base_1`, `base_2`, .. that is not taken.
pub(super) fn unique(base: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let mut name = base.to_owned();
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name
}

impl Builder {
    /// Makes an empty program. `name` is in kebab-case (`l3-ecmp`), as users type it. `doc` is one sentence
    /// on what the program does.
    #[must_use]
    pub fn new(name: &str, doc: &str) -> Builder {
        let program = ir::Program { name: name.to_owned(), doc: doc.to_owned(), ..ir::Program::default() };
        Builder { draft: RefCell::new(Draft { program, ..Draft::default() }) }
    }

    /// Returns the builder of ingress.
    pub fn ingress(&self) -> GressBuilder<'_> {
        self.gress(Gress::Ingress)
    }

    /// Returns the builder of egress.
    pub fn egress(&self) -> GressBuilder<'_> {
        self.gress(Gress::Egress)
    }

    /// Returns the builder of the ghost thread (Tofino 2): a control block that has no packet, runs on
    /// updates of queue depths ([`tna::Ghost`](super::tna::Ghost)) and writes registers that ingress reads.
    /// Tables, actions and registers may be declared here or on ingress, because the two share stages and
    /// stateful ALUs.
    pub fn ghost(&self) -> GressBuilder<'_> {
        self.forget_name();
        GressBuilder::ghost(self)
    }

    /// Returns the builder of `gress`.
    pub fn gress(&self, gress: Gress) -> GressBuilder<'_> {
        // Under the attribute, `let ig = b.ingress()` would name a handle and not a declaration.
        self.forget_name();
        GressBuilder::new(self, gress)
    }

    /// Sets name and documentation of the next declaration. `#[stage_program]` writes this call.
    pub fn named(&self, name: &str, doc: &str) -> &Self {
        self.draft().pending = Some((name.to_owned(), doc.to_owned()));
        self
    }

    /// Requires that all of `ports` are in one pipe, because `state` (registers, or subcontrols for all registers
    /// that they access) is kept across them. A port map that puts them into different pipes is refused with `doc`
    /// as the reason. Ports are named as users name them: `3` for a front-panel port, `dev:137` for a dev_port.
    #[track_caller]
    pub fn together(
        &self,
        doc: &str,
        state: impl IntoIterator<Item = impl SharedState>,
        ports: impl IntoIterator<Item = PortName>,
    ) {
        let loc = Loc::caller();
        let mut registers: Vec<ir::Register> = Vec::new();
        for register in state.into_iter().flat_map(|s| s.registers(self)) {
            if !registers.contains(&register) {
                registers.push(register);
            }
        }
        let draft = &mut self.draft().program;
        let name = registers.first().map_or_else(String::new, |r| draft.registers[*r].name.clone());
        let name = format!("{name}_{}", draft.together.len());
        let (ports, doc) = (ports.into_iter().collect(), doc.to_owned());
        draft.together.push(ir::TogetherData { name, registers, ports, doc, loc });
    }

    /// Declares a drop reason. `doc` tells users why the packet was dropped; documentation given by
    /// [`Builder::named`] takes precedence.
    #[track_caller]
    pub fn drop_label(&self, doc: &str) -> LabelRef {
        self.label(LabelKind::Drop, doc, Loc::caller())
    }

    /// Declares a purpose of absorption: a packet dropped with this label counts as absorbed and not as lost.
    #[track_caller]
    pub fn consume_label(&self, doc: &str) -> LabelRef {
        self.label(LabelKind::Consume, doc, Loc::caller())
    }

    pub(super) fn label(&self, kind: LabelKind, doc: &str, loc: Loc) -> LabelRef {
        let name = self.take_name("label", loc);
        let mut draft = self.draft();
        let unique = name.unique(|n| draft.program.labels.values().any(|l| l.name == n));
        let doc = [name.doc.as_str(), doc].join(" ").trim().to_owned();
        LabelRef(draft.program.labels.push(LabelData { name: unique, kind, doc, loc }))
    }

    /// Verifies and returns the program, with the parameter values it was built with.
    ///
    /// # Errors
    /// Refuses a program that breaks a rule of the builder or of the verifier, and returns all mistakes:
    /// first the builder's, then the verifier's diagnostics, including warnings.
    pub fn finish(self, params: &dyn Params) -> Result<ir::Program, Vec<Diag>> {
        let program = self.finish_unverified(params)?;
        let diags = sluice_ir::verify::verify(&program);
        if sluice_ir::verify::has_errors(&diags) { Err(diags) } else { Ok(program) }
    }

    /// Returns the program without running the verifier, for tools that change the program before they verify
    /// it.
    ///
    /// # Errors
    /// Refuses a program that breaks a rule of the builder, and returns all such mistakes.
    pub fn finish_unverified(self, params: &dyn Params) -> Result<ir::Program, Vec<Diag>> {
        let Draft { mut program, mut diags, plain, subcontrols, unattached, started, .. } =
            self.draft.into_inner();
        name_plain(&mut program, plain);
        diags.extend(subcontrols.iter().filter_map(Subcontrol::never_applied));
        let values = params.list().into_iter();
        program.params = values.map(|p| ParamValue { doc: p.help(), key: p.key, value: p.value }).collect();
        for array in unattached {
            let (word, name, loc) = array.who(&program);
            diags.push(
                Diag::error(loc, format!("direct {word} `{name}` is attached to no table"))
                    .help(format!("attach it to a table: `.{word}({})`", &word[..1])),
            );
        }
        for gress in Gress::ALL {
            let first = program.states.values().find(|s| s.gress == gress);
            if let (Some(first), None) = (first, started[gress.index()]) {
                diags.push(
                    Diag::error(first.loc, format!("{gress} has parser states but no start state"))
                        .help("set the start state: `ig.start(state)`"),
                );
            }
        }
        if diags.iter().any(|d| d.severity == Severity::Error) { Err(diags) } else { Ok(program) }
    }

    pub(super) fn draft(&self) -> RefMut<'_, Draft> {
        self.draft.borrow_mut()
    }

    pub(super) fn forget_name(&self) {
        self.draft().pending = None;
    }

    /// Returns the name given for this declaration.
    pub(super) fn take_name(&self, kind: &str, loc: Loc) -> Name {
        let mut draft = self.draft();
        if let Some((base, doc)) = draft.pending.take() {
            return Name { base, doc };
        }
        draft.diags.push(Diag::error(loc, format!("this {kind} has no name")).help(format!(
            "write `let name = ..` in a function marked `#[stage_program]`, or `.named(\"name\", \"..\")` before it \
             (a {kind} appears in reports under its name)"
        )));
        Name { base: kind.to_owned(), doc: String::new() }
    }
}

impl Draft {
    /// Returns the gress' field of an intrinsic; declares it at first use.
    pub(crate) fn intrinsic(&mut self, gress: Gress, which: Intrinsic, doc: &str, loc: Loc) -> ir::Field {
        if let Some(field) = self.program.intrinsic(gress, which) {
            return field;
        }
        let info = which.info();
        if !info.exists_in(gress) {
            let other = if info.ingress { Gress::Ingress } else { Gress::Egress };
            self.diags.push(
                Diag::error(loc, format!("{gress} has no `{}`", info.name)).help(format!(
                    "only {other} has it; pass its value to the other gress in a bridged header"
                )),
            );
        }
        self.program.fields.push(FieldData {
            name: info.name.to_owned(),
            gress,
            width: info.tofino2,
            home: Home::Intrinsic(which),
            doc: doc.to_owned(),
            loc,
        })
    }

    /// Declares the intrinsics that a primitive uses without naming them.
    pub(super) fn declare_for(&mut self, gress: Gress, primitive: &PrimitiveKind, loc: Loc) {
        if matches!(primitive, PrimitiveKind::Drop(_)) {
            self.intrinsic(gress, Intrinsic::DropCtl, "Set by a drop: the deparser emits no copy", loc);
        }
    }

    /// Returns an action name that no other action has.
    pub(super) fn unique_action(&self, base: &str) -> String {
        unique(base, &|n| self.program.action_named(n).is_some())
    }
}
