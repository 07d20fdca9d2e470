//! Straight code: bodies of actions, and statements of `apply` blocks.
//!
//! The primitives of an action run at once, so each value is one of what fields had before: a field that the body has written
//! stands for the value written (*forward substitution*). Where that needs a second operation, the body is refused.

mod emit;
mod linear;
mod steps;
mod write;

pub(super) use emit::has_param;
pub(super) use steps::Steps;
pub(super) use write::Target;

use super::frame::{Bound, Frame};
use super::name::Space;
use super::places::{Place, Slot, SlotHome};
use super::{Lower, Refused, Res};
use crate::check::Callee;
use crate::core::Bodies;
use crate::elaborate::Binding;
use crate::source::Span;
use crate::syntax::ast::{Block, DeclId, DeclKind, Direction, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use sluice_asic::gress::Gress;
use sluice_asic::limits;
use sluice_ir::{self as ir, ActionData, Expr, Intrinsic, Loc, Primitive, PrimitiveKind};

/// What a field has after a write in the same body.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// A value of what fields had before.
    Pieces(Vec<Expr>),
    /// The result of a hash, which can be an index at once.
    Hash(ir::Hash),
    /// The result of another unit, which arrives when the instructions run.
    Result,
}

/// A body under construction.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Primitives other than writes of values.
    pub(super) units: Vec<Primitive>,
    /// Fields that were written, in order, with the place of the last write.
    pub(super) written: Vec<(Slot, Span)>,
    /// What they have.
    pub(super) known: FxHashMap<Slot, Known>,
    /// Slices that take hashes at once, each with its highest and lowest bit.
    pub(super) deposits: Vec<(Slot, u32, u32)>,
    /// Variables of the body: no instruction writes them.
    pub(super) variables: Vec<Slot>,
    /// The place of an `exit`.
    pub(super) exit: Option<Span>,
    /// True after `return` or `exit`.
    ended: bool,
    /// True in an action, whose statements run at once.
    pub(super) action: bool,
    /// Variables that later steps of the action use, so that they have fields.
    pub(super) kept: rustc_hash::FxHashSet<DeclId>,
}

impl Lower<'_> {
    /// Lowers the body of an action with parameters bound.
    pub(super) fn action_body(
        &mut self,
        frame: &mut Frame,
        decl: DeclId,
    ) -> Res<(Vec<Primitive>, Option<Span>)> {
        let ast = self.ast;
        let DeclKind::Action(action) = &ast.decls[decl].kind else { return Ok((Vec::new(), None)) };
        let outer = std::mem::take(&mut self.body);
        self.body.action = true;
        let done = self.block(frame, &action.body);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        let exit = body.exit;
        self.reason = self.reason(decl);
        let primitives = self.emit(body);
        self.reason = None;
        Ok((primitives?, exit))
    }

    /// Lowers one statement of an `apply` block.
    pub(super) fn statement_body(&mut self, frame: &mut Frame, stmt: &Stmt) -> Res<Vec<Primitive>> {
        let outer = std::mem::take(&mut self.body);
        let done = self.straight(frame, stmt);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        self.emit(body)
    }

    /// Adds an action without parameters to the program, with this name or, if another action has it, with one like it.
    pub(super) fn new_action(
        &mut self,
        gress: Gress,
        name: &str,
        body: Vec<Primitive>,
        loc: Loc,
    ) -> ir::Action {
        let name = self.names.take(Space::Action, name);
        let (params, doc) = (Vec::new(), String::new());
        self.program.actions.push(ActionData { name, gress, params, body, doc, loc })
    }

    fn block(&mut self, frame: &mut Frame, block: &Block) -> Res<()> {
        let mut refused = Ok(());
        for stmt in &block.statements {
            if self.body.ended || self.is_exhausted() {
                break;
            }
            if let Err(error) = self.straight(frame, stmt) {
                refused = Err(error);
            }
        }
        refused
    }

    /// Returns true if no more statements are lowered, which an error has said.
    pub(super) fn is_exhausted(&self) -> bool {
        limits::P4_STATEMENTS.is_below(self.statements)
    }

    fn straight(&mut self, frame: &mut Frame, stmt: &Stmt) -> Res<()> {
        if self.is_exhausted() {
            return Err(Refused);
        }
        self.statements += 1;
        if self.is_exhausted() {
            let limit = &limits::P4_STATEMENTS;
            let text = format!(
                "bodies of actions have more than {} statements after calls are inlined",
                limit.get()
            );
            let help =
                format!("do actions call others several times, and these others again? {}", limit.advice());
            return Err(self.refuse(stmt.span, text, help));
        }
        match &stmt.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(block) => self.within_block(block, |lower| lower.block(frame, block)),
            StmtKind::Decl(decl) => self.variable(frame, *decl),
            StmtKind::Assign { target, value } => self.assign(frame, *target, *value, stmt.span),
            StmtKind::Call(call) => self.call(frame, *call, None, stmt.span),
            StmtKind::If { condition, then, otherwise } => {
                match self.constant(frame, *condition).and_then(|value| value.as_bool()) {
                    Some(true) => self.straight(frame, then),
                    Some(false) => otherwise.as_ref().map_or(Ok(()), |stmt| self.straight(frame, stmt)),
                    None => Err(self.refuse(
                        self.ast.exprs[*condition].span,
                        "an action decides nothing: its instructions run for every packet that runs it",
                        "move the `if` to the `apply` block, with an action for each branch",
                    )),
                }
            }
            StmtKind::Return(_) => {
                self.body.ended = true;
                Ok(())
            }
            StmtKind::Exit => {
                self.body.ended = true;
                self.body.exit = Some(stmt.span);
                Ok(())
            }
            StmtKind::Switch { .. } => Err(self.refuse(
                stmt.span,
                "an action decides nothing: it cannot contain `switch`",
                "move it to the `apply` block",
            )),
        }
    }

    fn variable(&mut self, frame: &mut Frame, decl: DeclId) -> Res<()> {
        let DeclKind::Variable { value, .. } = &self.ast.decls[decl].kind else { return Ok(()) };
        self.bind_variable(frame, decl)?;
        let Some(place) = frame.place(decl).cloned() else { return Ok(()) };
        if self.body.action && !self.body.kept.contains(&decl) {
            let slots = self.storage.slots_of(&place);
            self.body.variables.extend(slots);
        }
        match value {
            Some(value) => self.assign_place(frame, &place, *value, self.ast.decls[decl].span),
            None => Ok(()),
        }
    }

    /// Lowers a call; its result goes to `to`.
    pub(super) fn call(&mut self, frame: &mut Frame, id: ExprId, to: Option<Target>, at: Span) -> Res<()> {
        let Some(call) = self.checked.calls.get(&id).cloned() else {
            return Err(self.refuse(at, "this call has an error", "correct the errors above"));
        };
        let ExprKind::Call { callee, .. } = &self.ast.exprs[id].kind else { return Ok(()) };
        let base = match &self.ast.exprs[*callee].kind {
            ExprKind::Member { base, .. } => Some(*base),
            _ => None,
        };
        match (call.callee, base) {
            (Callee::Action(decl), _) => self.inline(frame, decl, &call.args),
            (Callee::Builtin(builtin), Some(base)) => self.builtin(frame, builtin, (base, &call.args), at),
            (Callee::Method(method), Some(base)) => match self.pipe.instance(self.checked, frame.block, base)
            {
                Some(Binding::Object(object)) => {
                    let object = *object;
                    self.method(frame, object, method, &call, to, at)
                }
                _ => Err(self.refuse(
                    at,
                    "this object is not known when the program is compiled",
                    "name an instance",
                )),
            },
            (Callee::Function(decl), _) => self.function(frame, decl, &call.args, at),
            _ => Err(self.refuse(
                at,
                "an action applies no tables and controls",
                "apply it in the `apply` block",
            )),
        }
    }

    /// Lowers a call of an action inside straight code.
    fn inline(&mut self, frame: &Frame, decl: DeclId, args: &[Option<ExprId>]) -> Res<()> {
        let DeclKind::Action(action) = &self.ast.decls[decl].kind else { return Ok(()) };
        let mut inner = frame.clone();
        self.bind_arguments(frame, &mut inner, &action.params, args)?;
        let ended = self.body.ended;
        self.block(&mut inner, &action.body)?;
        // `return` ends the called action only.
        self.body.ended = ended || self.body.exit.is_some();
        Ok(())
    }

    /// Returns an argument of a call that the parameter cannot stand for.
    pub(in crate::lower) fn shared_argument(&self, call: ExprId) -> Option<ExprId> {
        let bodies = self.bodies.get_or_init(|| Bodies::new(self.ast, self.checked));
        bodies.copied(self.ast, self.checked, call).first().map(|(arg, _)| *arg)
    }

    /// Binds parameters to arguments: places to places, values to values.
    pub(super) fn bind_arguments(
        &mut self,
        frame: &Frame,
        inner: &mut Frame,
        params: &[DeclId],
        args: &[Option<ExprId>],
    ) -> Res<()> {
        for (&param, arg) in params.iter().zip(args) {
            let Some(arg) = *arg else { continue };
            let DeclKind::Param(of) = &self.ast.decls[param].kind else { continue };
            let written = matches!(of.direction, Direction::Out | Direction::InOut);
            let bound = match self.place(frame, arg) {
                Some(place) if written => Bound::Place(place),
                Some(place) if self.storage.slots_of(&place).len() != 1 => Bound::Place(place),
                None if written && !matches!(self.ast.exprs[arg].kind, ExprKind::Any) => {
                    let at = self.ast.exprs[arg].span;
                    return Err(self.refuse(
                        at,
                        "a parameter that is written has an argument that is no place",
                        "pass a field or a variable",
                    ));
                }
                None if written => continue,
                _ => Bound::Pieces(self.pieces(frame, arg)?),
            };
            inner.names.insert(param, bound);
        }
        Ok(())
    }

    fn builtin(
        &mut self,
        frame: &Frame,
        builtin: crate::check::Builtin,
        (base, args): (ExprId, &[Option<ExprId>]),
        at: Span,
    ) -> Res<()> {
        use crate::check::Builtin;
        let valid = match builtin {
            Builtin::SetValid => true,
            Builtin::SetInvalid => false,
            Builtin::PushFront | Builtin::PopFront => {
                return self.shift_stack(frame, builtin == Builtin::PushFront, (base, args), at);
            }
            _ => return Ok(()),
        };
        match self.place(frame, base) {
            Some(Place::Header(instance)) => {
                let header = self.header(instance);
                self.set_validity(PrimitiveKind::SetValid(header, valid), at);
                Ok(())
            }
            _ => Err(self.refuse(
                at,
                "the validity of this header cannot be set",
                "name a header of the headers' struct, or an element of a stack with a constant index",
            )),
        }
    }

    /// Lowers `invalidate(field)`: the deparser takes the field for one that nothing wrote.
    fn invalidate(&mut self, frame: &Frame, field: ExprId, at: Span) -> Res<()> {
        let target = self.target(frame, field)?;
        let which = match (&target.place, target.bits) {
            (Place::Slot(slot), None) => match self.storage.slots[*slot].home {
                SlotHome::Intrinsic(which) => Some((*slot, which)),
                _ => None,
            },
            _ => None,
        };
        let none = match which {
            Some((slot, Intrinsic::MirrorType | Intrinsic::ResubmitType | Intrinsic::DigestType)) => {
                let (gress, which) = (frame.gress, which.map(|(_, which)| which));
                let flag = which.map(|which| self.written_flag(gress, which));
                let loc = self.loc(at);
                let cleared = |flag| PrimitiveKind::Set(flag, Expr::Const(0, 1));
                self.body.units.extend(flag.map(|flag| Primitive { kind: cleared(flag), loc }));
                Some((slot, 0))
            }
            Some((slot, Intrinsic::UcastEgressPort)) => Some((slot, Intrinsic::NO_PORT.into())),
            Some((slot, Intrinsic::McastGrpA | Intrinsic::McastGrpB)) => Some((slot, 0)),
            _ => None,
        };
        let Some((slot, value)) = none else {
            let help = "invalidate a type of a request, the egress port or a multicast group";
            return Err(self.refuse(at, "this field has no invalid value", help));
        };
        let width = self.storage.slots[slot].width;
        self.write(&target, vec![Expr::Const(value, width)], at)
    }

    /// Adds a write of a header's validity. It takes the place of an earlier one, unless the body reads what that wrote.
    fn set_validity(&mut self, kind: PrimitiveKind, at: Span) {
        let loc = self.loc(at);
        let units = &mut self.body.units;
        if let PrimitiveKind::SetValid(header, _) | PrimitiveKind::CopyValid(header, _) = kind
            && !units.iter().any(|p| matches!(p.kind, PrimitiveKind::CopyValid(_, from) if from == header))
        {
            units.retain(|p| !matches!(p.kind, PrimitiveKind::SetValid(to, _) | PrimitiveKind::CopyValid(to, _) if to == header));
        }
        units.push(Primitive { kind, loc });
    }

    fn function(&mut self, frame: &Frame, decl: DeclId, args: &[Option<ExprId>], at: Span) -> Res<()> {
        let name = self.ast.text(self.ast.decls[decl].name);
        if let ("funnel_shift_right", [Some(to), Some(high), Some(low), Some(by)]) = (name, args) {
            let (high, low) = (self.value(frame, *high)?, self.value(frame, *low)?);
            let by = self.number(frame, *by).and_then(|by| u16::try_from(by).ok()).unwrap_or(u16::MAX);
            let target = self.target(frame, *to)?;
            let value = Expr::Funnel(Box::new(high), Box::new(low), by);
            return self.write(&target, vec![value], at);
        }
        if let ("invalidate", [Some(field)]) = (name, args) {
            return self.invalidate(frame, *field, at);
        }
        let text = format!("function `{name}` has no home in an action");
        Err(self.refuse(at, text, "leave it out, or write what it does by fields"))
    }
}
