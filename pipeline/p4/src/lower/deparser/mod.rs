//! Deparsers: emitted headers, checksums and requests.
//!
//! A deparser of the chip decides by validity, by one type field per kind of request, and by flags of one bit ([`Guard`]). The control
//! computes flags for other conditions of checksums and requests ([`decide`]).

mod checksum;
mod decide;
mod guard;
mod list;
mod request;
mod written;

pub(super) use decide::Update;
pub(super) use list::ListConstant;

use super::frame::{Bound, Frame};
use super::places::Place;
use super::{Lower, Res};
use crate::check::{Call, Callee};
use crate::elaborate::Binding;
use crate::syntax::ast::{DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use guard::Guard;
use rustc_hash::FxHashMap;
use sluice_asic::gress::Gress;
use sluice_ir::Header;

impl Lower<'_> {
    /// Lowers the deparser of a gress.
    pub(super) fn deparser(&mut self, gress: Gress) -> Res<()> {
        let block = match gress {
            Gress::Ingress => self.pipe.ingress.deparser,
            Gress::Egress => self.pipe.egress.deparser,
        };
        let mut frame = self.root_frame(gress, block)?;
        let ast = self.ast;
        if let DeclKind::Control(control) = &ast.decls[self.pipe.blocks[block].decl].kind {
            let statements = control.apply.iter().flat_map(|apply| &apply.statements);
            let none = Guard::default();
            statements.for_each(|statement| self.deparser_statement(&mut frame, statement, &none));
        }
        self.decide_updates(gress);
        Ok(())
    }

    fn deparser_statement(&mut self, frame: &mut Frame, statement: &Stmt, guard: &Guard) {
        let _ = match &statement.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(block) => {
                block.statements.iter().for_each(|inner| self.deparser_statement(frame, inner, guard));
                Ok(())
            }
            StmtKind::Assign { target, value } => {
                self.deparser_assign(frame, *target, *value, guard, statement)
            }
            StmtKind::Call(call) => self.deparser_call(frame, *call, guard),
            StmtKind::If { condition, then, otherwise } => {
                self.deparser_if(frame, *condition, then, otherwise.as_deref(), guard)
            }
            _ => Err(self.refuse(
                statement.span,
                "a deparser has a statement other than an emit, a checksum or an `if`",
                "compute in the control, and keep the result in the metadata",
            )),
        };
    }

    fn deparser_if(
        &mut self,
        frame: &mut Frame,
        condition: ExprId,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        guard: &Guard,
    ) -> Res<()> {
        let [inner, outside] = self.guards(frame, condition, guard)?;
        if !inner.never {
            self.deparser_statement(frame, then, &inner);
        }
        let Some(otherwise) = otherwise.filter(|_| !outside.never) else { return Ok(()) };
        // A type field with another value is what the branches of `else` ask for again.
        let of_type = inner.of_type.is_some() && guard.of_type.is_none();
        self.deparser_statement(frame, otherwise, if of_type { guard } else { &outside });
        Ok(())
    }

    fn deparser_call(&mut self, frame: &mut Frame, expr: ExprId, guard: &Guard) -> Res<()> {
        let ast = self.ast;
        let at = ast.exprs[expr].span;
        let call = self.checked.calls.get(&expr).cloned();
        if let Some(call) = call.as_ref().filter(|call| matches!(call.callee, Callee::Block(_))) {
            return self.inner_deparser(frame, expr, call, guard);
        }
        let Some((Callee::Method(method), args)) = call.map(|call| (call.callee, call.args)) else {
            let text = "a deparser calls something other than an emit, a checksum or a request";
            return Err(self.refuse(at, text, "call it in the control"));
        };
        let unit = ast.decls[method].parent.map_or("", |unit| ast.text(ast.decls[unit].name));
        match (unit, args.as_slice()) {
            ("packet_out", &[Some(header)]) => self.emit_headers(frame, header, guard),
            ("Mirror" | "Resubmit" | "Digest" | "Pktgen", _) => self.request(frame, expr, unit, &args, guard),
            ("Checksum", _) if ast.text(ast.decls[method].name) == "update" => {
                self.note(at, "a checksum that is assigned to no field", "no effect");
                Ok(())
            }
            _ => {
                let name = ast.text(ast.decls[method].name);
                let text = format!("a deparser calls `{name}` of `{unit}`, which deparsers do not have");
                Err(self.refuse(at, text, "call it in the control"))
            }
        }
    }

    /// Lowers `control.apply(...)`: the statements of the control, with its parameters bound to the arguments.
    fn inner_deparser(&mut self, frame: &Frame, expr: ExprId, call: &Call, guard: &Guard) -> Res<()> {
        let ast = self.ast;
        let at = ast.exprs[expr].span;
        let instance = match &ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => match &ast.exprs[*callee].kind {
                ExprKind::Member { base, .. } => self.pipe.instance(self.checked, frame.block, *base),
                _ => None,
            },
            _ => None,
        };
        let Some(&Binding::Block(block)) = instance else {
            return Err(self.refuse(at, "this is not an instance of a control", "instantiate the control"));
        };
        let path = self.pipe.blocks[block].name.rsplit('.').next().unwrap_or_default().to_owned();
        let mut inner = Frame { block, gress: frame.gress, path, names: FxHashMap::default() };
        for (&param, arg) in self.params(block).iter().zip(&call.args) {
            let Some(arg) = *arg else { continue };
            if let Some(place) = self.place(frame, arg) {
                inner.bind(param, place);
            } else if self.scalar_of(frame, arg).is_some() {
                let pieces = self.pieces(frame, arg)?;
                inner.names.insert(param, Bound::Pieces(pieces));
            }
        }
        self.bind_variables(&mut inner)?;
        if let DeclKind::Control(control) = &ast.decls[self.pipe.blocks[block].decl].kind {
            let statements = control.apply.iter().flat_map(|apply| &apply.statements);
            statements.for_each(|statement| self.deparser_statement(&mut inner, statement, guard));
        }
        Ok(())
    }

    /// Lowers `pkt.emit(value)`.
    fn emit_headers(&mut self, frame: &mut Frame, value: ExprId, guard: &Guard) -> Res<()> {
        let at = self.ast.exprs[value].span;
        let headers = match self.place(frame, value) {
            Some(place) => self.emitted(&place),
            None => match &self.ast.exprs[value].kind {
                ExprKind::List(parts) => {
                    for part in parts.clone() {
                        self.emit_headers(frame, part, guard)?;
                    }
                    return Ok(());
                }
                _ => {
                    return Err(self.refuse(
                        at,
                        "a deparser emits a value that is no header",
                        "emit headers",
                    ));
                }
            },
        };
        // A header is emitted if it is valid, so that a condition may only ask that.
        let implied = guard.of_type.is_none()
            && guard.flags.is_empty()
            && guard.others.is_empty()
            && guard.valid.iter().all(|asked| headers.iter().all(|header| header == asked));
        if !implied {
            return Err(self.refuse(
                at,
                "a deparser emits a header under a condition other than that it is valid",
                "make the header invalid in the control where it is not to be sent",
            ));
        }
        self.program.pipes[frame.gress.index()].deparser.emit.extend(headers);
        Ok(())
    }

    /// Returns the headers of a place; those that no path can make valid are left out later.
    fn emitted(&mut self, place: &Place) -> Vec<Header> {
        let instances = self.storage.headers_of(place);
        // A header without fields has no bytes.
        let full =
            instances.into_iter().filter(|&instance| !self.storage.instances[instance].slots.is_empty());
        full.collect::<Vec<_>>().into_iter().map(|instance| self.header(instance)).collect()
    }
}
