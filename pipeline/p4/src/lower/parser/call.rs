//! Calls in a parser.

use super::super::Res;
use super::super::places::Place;
use super::frame::{Bound, Frame, FrameId, Point};
use super::made::Made;
use super::target::Target;
use super::walk::{State, Walk};
use crate::check::{Builtin, Call, Callee, TyKind};
use crate::elaborate::{Binding, BlockId};
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind};
use rustc_hash::FxHashMap;
use sluice_ir::Next;

impl Walk<'_, '_> {
    /// Lowers a call as a statement. Returns the state that follows if the call runs another parser, which ends at `then`.
    pub(super) fn call(&mut self, state: &mut State, expr: ExprId, then: Point) -> Res<Option<Next>> {
        let at = self.span(expr);
        let Some(call) = self.cx.checked.calls.get(&expr).cloned() else {
            return Err(self.refuse(
                at,
                "a parser state has a call that is not known",
                "call `extract` or `advance`",
            ));
        };
        match call.callee {
            Callee::Block(_) => return self.apply(state, expr, &call, then).map(Some),
            Callee::Method(decl) => self.method(state, expr, &call, decl)?,
            Callee::Function(decl) => {
                let name = self.cx.ast.text(self.cx.ast.decls[decl].name);
                match name {
                    "port_metadata_unpack" => {
                        return self.unpack(state, &Target::Packet, expr, at).map(|()| None);
                    }
                    "static_assert" => {}
                    "verify" => {
                        let effect = "the vendor's compiler leaves it out of parsers, and so does Sluice";
                        self.cx.note(at, "`verify`", effect);
                    }
                    _ => {
                        let text =
                            format!("a parser state calls `{name}`, which Sluice's parsers do not have");
                        return Err(self.refuse(at, text, "decide with a `select`, and go to `reject`"));
                    }
                }
            }
            Callee::Builtin(of @ (Builtin::SetValid | Builtin::SetInvalid)) => {
                let target = match self.base(expr) {
                    Some(base) => self.target(state, base)?,
                    None => None,
                };
                match target {
                    Some(Target::Place(Place::Header(instance))) => {
                        state.ops.push((Made::Valid(instance, of == Builtin::SetValid), at));
                        return Ok(None);
                    }
                    // Nothing asks for the validity of a variable.
                    Some(Target::Local { .. }) => return Ok(None),
                    _ => {}
                }
                return Err(self.refuse(
                    at,
                    "a parser state changes the validity of something other than a header",
                    "name a header of the headers or of the metadata",
                ));
            }
            _ => {
                return Err(self.refuse(
                    at,
                    "a parser state calls something that parsers do not have",
                    "call it in the control",
                ));
            }
        }
        Ok(None)
    }

    /// Returns the value before the name of a called method.
    pub(super) fn base(&self, call: ExprId) -> Option<ExprId> {
        let ExprKind::Call { callee, .. } = &self.cx.ast.exprs[call].kind else { return None };
        match &self.cx.ast.exprs[*callee].kind {
            ExprKind::Member { base, .. } => Some(*base),
            _ => None,
        }
    }

    fn method(&mut self, state: &mut State, expr: ExprId, call: &Call, method: DeclId) -> Res<()> {
        let ast = self.cx.ast;
        let at = self.span(expr);
        let unit = ast.decls[method].parent.map_or("", |unit| ast.text(ast.decls[unit].name));
        let name = ast.text(ast.decls[method].name);
        let args: Vec<ExprId> = call.args.iter().flatten().copied().collect();
        match (unit, name, args.as_slice()) {
            ("packet_in", "extract", &[header]) if matches!(ast.exprs[header].kind, ExprKind::Any) => {
                // Nothing names the header: its bytes are skipped.
                let bits = call.type_args.first().and_then(|&ty| self.bits(ty)).unwrap_or(0);
                self.advance_by(state, bits.next_multiple_of(8), at)
            }
            ("packet_in", "extract", &[header]) => self.extract(state, header),
            ("packet_in", "advance", &[bits]) => self.advance(state, bits),
            // A look-ahead whose value is not used needs its bytes all the same; the next extract asks for them too.
            ("packet_in", "lookahead", _) => Ok(()),
            ("packet_in", "extract", _) => Err(self.refuse(
                at,
                "a parser extracts a header of variable length, which Sluice does not have",
                "make a header and a state for each length",
            )),
            ("ParserCounter", ..) => self.counter(state, expr, name, &args),
            ("Checksum", ..) => self.checksum(state, expr, name, &args),
            ("ParserPriority", ..) => {
                self.cx.note(
                    at,
                    "`ParserPriority`",
                    "priorities in the input buffer have no effect in Sluice",
                );
                Ok(())
            }
            _ => {
                let text =
                    format!("a parser state calls `{name}` of `{unit}`, which Sluice's parsers do not have");
                Err(self.refuse(at, text, "call it in the control"))
            }
        }
    }

    /// Lowers `instance.apply(...)`: the states of the instance, and then the rest of the present one.
    fn apply(&mut self, state: &mut State, expr: ExprId, call: &Call, then: Point) -> Res<Next> {
        let at = self.span(expr);
        let Some(base) = self.base(expr) else {
            return Err(self.refuse(at, "a parser is applied without an instance", "instantiate it"));
        };
        let block = self.frames[state.frame.0].block;
        let Some(&Binding::Block(callee)) = self.cx.pipe.instance(self.cx.checked, block, base) else {
            return Err(self.refuse(
                at,
                "this is not an instance of a parser",
                "instantiate a parser in this one",
            ));
        };
        if let Some(arg) = self.cx.shared_argument(expr) {
            return Err(self.refuse(
                self.span(arg),
                "a sub-parser reaches this place by another name, too",
                "give it a variable, and copy that back in the state that follows",
            ));
        }
        let frame = self.copy(state, callee, then, base);
        let params = self.cx.params(callee).to_vec();
        for (&param, arg) in params.iter().zip(&call.args) {
            let Some(arg) = *arg else { continue };
            if let Some(of) = self.argument(state, frame, param, arg)? {
                self.frames[frame.0].params.insert(param, of);
            }
        }
        let mut inner = State {
            id: state.id,
            frame,
            env: state.env.clone(),
            ops: Vec::new(),
            position: state.position,
            extracted: state.extracted.clone(),
            starts: state.starts.clone(),
            full: false,
        };
        self.enter(&mut inner)?;
        let mut env = inner.env;
        env.rebase(state.position);
        match self.start(callee) {
            Some(start) => Ok(Next::State(self.state(Point { frame, state: start, statement: 0 }, env))),
            None => Err(self.refuse(at, "the parser has no state `start`", "declare `state start`")),
        }
    }

    /// Returns the copy of an instance for a place that applies it.
    fn copy(&mut self, state: &State, callee: BlockId, then: Point, base: ExprId) -> FrameId {
        if let Some(&frame) = self.copies.get(&then) {
            return frame;
        }
        let ast = self.cx.ast;
        let own = match &ast.exprs[base].kind {
            ExprKind::Name { name, .. } => ast.text(*name),
            _ => ast.text(ast.decls[self.cx.pipe.blocks[callee].decl].name),
        };
        let prefix = format!("{}{own}.", self.frames[state.frame.0].prefix);
        let frame = FrameId(self.frames.len());
        self.frames.push(Frame { block: callee, params: FxHashMap::default(), then: Some(then), prefix });
        self.copies.insert(then, frame);
        frame
    }

    /// Returns what a parameter of a copy stands for; a value goes to a variable of the copy.
    fn argument(
        &mut self,
        state: &mut State,
        frame: FrameId,
        param: DeclId,
        arg: ExprId,
    ) -> Res<Option<Bound>> {
        let ty = self.ty(state, arg);
        if let TyKind::Extern(decl, _) = *self.cx.checked.types.kind(ty) {
            let packet = self.cx.ast.text(self.cx.ast.decls[decl].name) == "packet_in";
            return Ok(packet.then_some(Bound::Packet));
        }
        match self.target(state, arg)? {
            Some(Target::Place(place)) => return Ok(Some(Bound::Place(place))),
            Some(Target::Local { .. }) => {
                if let (ExprKind::Name { .. }, Some(decl)) =
                    (&self.cx.ast.exprs[arg].kind, self.cx.checked.decl_of(arg))
                {
                    let of = self.frames[state.frame.0].params.get(&decl).cloned();
                    return Ok(Some(of.unwrap_or(Bound::Local(state.frame, decl))));
                }
            }
            Some(Target::Next(_)) => {
                return Err(self.refuse(
                    self.span(arg),
                    "the next element of a stack is an argument of another parser",
                    "pass the stack, and extract its `next` there",
                ));
            }
            _ => {}
        }
        let value = self.value(state, arg)?;
        let id = self.local(frame, param);
        state.env.locals.insert(id, value);
        Ok(None)
    }

    /// Gives the variables of a copy their first values.
    pub(super) fn enter(&mut self, state: &mut State) -> Res<()> {
        let ast = self.cx.ast;
        let block = self.frames[state.frame.0].block;
        let DeclKind::Parser(parser) = &ast.decls[self.cx.pipe.blocks[block].decl].kind else {
            return Ok(());
        };
        for &local in &parser.locals {
            if let DeclKind::Variable { value, .. } = &ast.decls[local].kind {
                self.variable(state, local, *value)?;
            }
        }
        Ok(())
    }

    /// Returns the first state of an instance.
    pub(super) fn start(&self, block: BlockId) -> Option<DeclId> {
        let parser = self.cx.pipe.blocks[block].decl;
        let start = self.cx.ast.names.find("start")?;
        self.cx.checked.states.get(&(parser, start)).copied()
    }
}
