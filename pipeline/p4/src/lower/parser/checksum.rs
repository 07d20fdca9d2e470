//! Checksums in a parser: verified sums, and residual sums for the deparser.

use super::super::Res;
use super::super::places::{Place, Slot, SlotHome};
use super::bits::{Bits, Lost, Source};
use super::env::Summed;
use super::made::Made;
use super::target::Target;
use super::walk::{State, Walk, flat};
use crate::check::Callee;
use crate::elaborate::ObjectId;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{Expr, ParserOpKind};

impl Walk<'_, '_> {
    /// Lowers a method of `Checksum` as a statement.
    pub(super) fn checksum(
        &mut self,
        state: &mut State,
        expr: ExprId,
        name: &str,
        args: &[ExprId],
    ) -> Res<()> {
        let at = self.span(expr);
        let (Some(object), first) = (self.object(state, expr), args.first().copied()) else {
            return Err(self.refuse(at, "this checksum is no instance", "declare `Checksum() sum;`"));
        };
        match (name, first) {
            ("add" | "subtract", Some(data)) => {
                let summed = self.summed(state, data)?;
                if name == "subtract" {
                    self.goes_somewhere(state, object, at)?;
                }
                state.env.sums.entry(object).or_default().extend(summed);
                Ok(())
            }
            ("subtract_all_and_deposit", Some(target)) => {
                let Some(target) = self.target(state, target)? else { return Ok(()) };
                let sum = self.sum_target(&target, at)?;
                if self.is_of_header(sum) {
                    return self.deposit_in_header(state, object, sum, at);
                }
                self.rest(state, object, sum, at)?;
                if !state.env.deposits.contains(&sum) {
                    state.env.deposits.push(sum);
                }
                Ok(())
            }
            _ => {
                let text = format!("`{name}` of `Checksum` has no effect here");
                Err(self.refuse(at, text, "assign its result to a member of the metadata"))
            }
        }
    }

    fn is_of_header(&self, sum: Slot) -> bool {
        matches!(self.cx.storage.slots[sum].home, SlotHome::Header(_))
    }

    /// Writes the residual sum so far to a member of the metadata. Each object has a sum of its own, so two of them cannot go to one
    /// member on one path, and none to two members.
    fn rest(&mut self, state: &mut State, object: ObjectId, sum: Slot, at: Span) -> Res<()> {
        let name = self.cx.storage.slots[sum].name.clone();
        let held = &state.env.rests;
        if held.get(&sum).is_some_and(|other| *other != object) {
            let text = format!("the residual sums of two checksums go to `{name}` on one path");
            return Err(self.refuse(at, text, "use a member of the metadata for each of them"));
        }
        if held.iter().any(|(other, of)| *of == object && *other != sum) {
            let text = "the residual sum of a checksum goes to several members of the metadata";
            return Err(self.refuse(at, text, "use a `Checksum` for each of them"));
        }
        state.env.rests.insert(sum, object);
        state.env.slots.insert(sum, Bits::lost(Lost::Computed, 16));
        let summed = state.env.sums.remove(&object).unwrap_or_default();
        self.subtract(state, sum, &summed, at);
        Ok(())
    }

    /// Writes the residual sum so far to a field of a header that the state has extracted, in place of the packet's bits.
    fn deposit_in_header(&mut self, state: &mut State, object: ObjectId, sum: Slot, at: Span) -> Res<()> {
        let SlotHome::Header(instance) = self.cx.storage.slots[sum].home else { return Ok(()) };
        let made = state.ops.iter().any(|(op, _)| matches!(op, Made::Valid(of, true) if *of == instance));
        if !made && !state.extracted.contains(&sum) && self.cx.chip == Architecture::Tna {
            let name = self.cx.storage.slots[sum].name.clone();
            let text = format!(
                "the residual sum of a checksum is added to the bits of `{name}`, which another state extracts"
            );
            return Err(self.refuse(
                at,
                text,
                "a parser of Tofino clears no bits: assign the sum to a member of the metadata",
            ));
        }
        state.env.overwritten(sum);
        state.env.slots.insert(sum, Bits::lost(Lost::Computed, 16));
        if !made {
            let field = self.cx.field(sum);
            self.op(state, ParserOpKind::Set(field, Expr::Const(0, 16)), at);
        }
        let summed = state.env.sums.remove(&object).unwrap_or_default();
        self.subtract(state, sum, &summed, at);
        Ok(())
    }

    /// Subtracts bits from a residual sum. Sums are over words of two bytes: what follows an odd number of bytes begins with the
    /// second byte of a word.
    pub(super) fn subtract(&mut self, state: &mut State, sum: Slot, summed: &[Summed], at: Span) {
        let mut inputs = Vec::new();
        let mut bits = 0_u32;
        if state.env.odd.contains(&sum) {
            inputs.push(Expr::Const(0, 8));
            bits += 8;
        }
        for &part in summed {
            let input = self.summand(part);
            bits += u32::from(input.width(&self.cx.program));
            inputs.push(input);
        }
        if bits % 16 == 8 {
            inputs.push(Expr::Const(0, 8));
            state.env.odd.insert(sum);
        } else {
            state.env.odd.remove(&sum);
        }
        if summed.iter().any(|part| matches!(part, Summed::Slot(_))) {
            state.ops.push((Made::Subtract(sum, inputs), at));
        }
    }

    fn summand(&mut self, part: Summed) -> Expr {
        match part {
            Summed::Slot(slot) => Expr::Field(self.cx.field(slot)),
            Summed::Zeros(width) => Expr::Const(0, width),
        }
    }

    /// Returns what a sum covers, in order. Words of zeros do not change a sum.
    fn summed(&mut self, state: &mut State, data: ExprId) -> Res<Vec<Summed>> {
        let at = self.span(data);
        let value = self.value(state, data)?;
        let (mut summed, mut bits) = (Vec::new(), 0_u32);
        for piece in &value.0 {
            match piece.source {
                Source::Slot(slot) if u32::from(self.cx.storage.slots[slot].width) == piece.width => {
                    summed.push(Summed::Slot(slot))
                }
                Source::Const(0) if bits.is_multiple_of(16) && piece.width.is_multiple_of(16) => {}
                Source::Const(0) => summed.push(Summed::Zeros(piece.width as u16)),
                Source::Const(_) => {
                    return Err(self.refuse(
                        at,
                        "a checksum in a parser covers a constant other than zero, which its unit cannot add",
                        "add the constant to the checksum of the deparser",
                    ));
                }
                _ => {
                    return Err(self.refuse(
                        at,
                        "a checksum in a parser covers something other than whole fields of extracted headers",
                        "name the header or its fields",
                    ));
                }
            }
            bits += piece.width;
        }
        Ok(summed)
    }

    /// Lowers an assignment whose value a unit of the parser makes; returns false if there is no such unit.
    pub(super) fn unit_value(
        &mut self,
        state: &mut State,
        target: &Target,
        value: ExprId,
        at: Span,
    ) -> Res<bool> {
        let ast = self.cx.ast;
        let (call, adds) = self.added_to(state, target, value)?;
        let Some(callee) = self.cx.checked.calls.get(&call).map(|call| call.callee) else { return Ok(false) };
        let (Callee::Method(decl) | Callee::Function(decl)) = callee else { return Ok(false) };
        let name = ast.text(ast.decls[decl].name);
        let unit = ast.decls[decl].parent.map_or("", |unit| ast.text(ast.decls[unit].name));
        match (unit, name) {
            ("", "port_metadata_unpack") => self.unpack(state, target, call, at)?,
            ("Checksum", "verify") => {
                let &Target::Place(Place::Slot(slot)) = target else {
                    return Err(self.refuse(
                        at,
                        "the result of a checksum goes to something other than a bit of the metadata or of a header",
                        "assign it to a member of the metadata",
                    ));
                };
                let Some(object) = self.object(state, call) else { return Ok(false) };
                let sums = state.env.sums.remove(&object).unwrap_or_default();
                let inputs: Vec<Expr> = sums.into_iter().map(|part| self.summand(part)).collect();
                if let SlotHome::Header(_) = self.cx.storage.slots[slot].home {
                    state.env.overwritten(slot);
                }
                state.env.slots.insert(slot, Bits::lost(Lost::Computed, 1));
                state.ops.push((Made::Verify(slot, inputs, adds), at));
            }
            ("Checksum", "get") if adds => return Ok(false),
            ("Checksum", "get") => {
                let slot = self.scalar_target(target, at)?;
                let Some(object) = self.object(state, call) else { return Ok(false) };
                self.rest(state, object, slot, at)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the call that a value is; in `target | call` and `target || call`, true and the call.
    fn added_to(&mut self, state: &mut State, target: &Target, value: ExprId) -> Res<(ExprId, bool)> {
        let ast = self.cx.ast;
        let inner = |mut value: ExprId| {
            while let ExprKind::Cast { operand, .. } = ast.exprs[value].kind {
                value = operand;
            }
            value
        };
        let value = inner(value);
        let (
            ExprKind::Binary { op: BinaryOp::BitOr | BinaryOp::Or, left, right },
            &Target::Place(Place::Slot(slot)),
        ) = (&ast.exprs[value].kind, target)
        else {
            return Ok((value, false));
        };
        for (old, call) in [(*left, *right), (*right, *left)] {
            if let ExprKind::Call { .. } = ast.exprs[inner(call)].kind
                && let Some(Target::Place(Place::Slot(same))) = self.target(state, old)?
                && same == slot
            {
                return Ok((inner(call), true));
            }
        }
        Ok((value, false))
    }

    fn scalar_target(&mut self, target: &Target, at: Span) -> Res<Slot> {
        if let Target::Place(Place::Slot(slot)) = target
            && self.cx.storage.slots[*slot].home == SlotHome::Metadata
        {
            return Ok(*slot);
        }
        Err(self.refuse(
            at,
            "the residual sum of a checksum goes to something other than a member of the metadata",
            "assign it to a member of the metadata",
        ))
    }

    /// Returns the scalar that takes a residual sum: a member of the metadata, or a field of a header.
    fn sum_target(&mut self, target: &Target, at: Span) -> Res<Slot> {
        match target {
            &Target::Place(Place::Slot(slot))
                if self.is_of_header(slot) && self.cx.storage.slots[slot].width == 16 =>
            {
                Ok(slot)
            }
            _ => self.scalar_target(target, at),
        }
    }

    /// Checks that a state of the parser uses the residual sum of a checksum.
    fn goes_somewhere(&mut self, state: &State, object: ObjectId, at: Span) -> Res<()> {
        let ast = self.cx.ast;
        let block = self.frames[state.frame.0].block;
        let DeclKind::Parser(parser) = &ast.decls[self.cx.pipe.blocks[block].decl].kind else {
            return Ok(());
        };
        let states = parser.states.iter().filter_map(|&decl| match &ast.decls[decl].kind {
            DeclKind::State(of) => Some(&of.statements),
            _ => None,
        });
        if states
            .into_iter()
            .flat_map(|statements| flat(statements))
            .any(|of| self.uses_rest(state, object, of))
        {
            return Ok(());
        }
        Err(self.refuse(
            at,
            "fields are subtracted from a checksum whose rest goes nowhere",
            "end with `get` or `subtract_all_and_deposit`",
        ))
    }

    /// Returns true if a statement uses the residual sum of a checksum.
    fn uses_rest(&self, state: &State, object: ObjectId, statement: &Stmt) -> bool {
        let (StmtKind::Call(call) | StmtKind::Assign { value: call, .. }) = statement.kind else {
            return false;
        };
        let Some(Callee::Method(decl)) = self.cx.checked.calls.get(&call).map(|call| call.callee) else {
            return false;
        };
        matches!(self.cx.ast.text(self.cx.ast.decls[decl].name), "get" | "subtract_all_and_deposit")
            && self.object(state, call) == Some(object)
    }

    /// Returns the value of a scalar in storage.
    pub(super) fn slot(&self, state: &State, slot: Slot) -> Bits {
        use sluice_ir::Intrinsic;
        let data = &self.cx.storage.slots[slot];
        let width = u32::from(data.width);
        if let Some(value) = state.env.slots.get(&slot) {
            return value.clone();
        }
        match data.home {
            SlotHome::Metadata => Bits::constant(0, width),
            SlotHome::Intrinsic(Intrinsic::ResubmitFlag) if !self.resubmits => Bits::constant(0, width),
            _ => Bits::one(Source::Slot(slot), width),
        }
    }

    /// Returns the number of bits of a variable.
    pub(super) fn local_bits(&mut self, id: u32) -> u32 {
        let decl =
            self.locals.iter().find(|(_, other)| **other == id).map(|((frame, decl), _)| (*frame, *decl));
        let Some((frame, decl)): Option<(_, DeclId)> = decl else { return 0 };
        let ty = self.cx.checked.decl_types[decl];
        let block = self.frames[frame.0].block;
        let ty = self.cx.pipe.concrete(self.cx.ast, self.cx.checked, block, ty);
        self.bits(ty).unwrap_or(0)
    }
}
