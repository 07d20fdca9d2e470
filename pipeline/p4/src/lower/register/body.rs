//! Bodies of register actions: statements in order.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use super::choice::{Choice, Known, Seen};
use crate::check::Resolution;
use crate::source::Span;
use crate::syntax::ast::{Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use sluice_asic::salu::{Format, Half, SaluOp};
use sluice_ir::{self as ir, CellCond, CellStmt, CellStmtKind, CellValue};

/// Local variables, and output words that were written: one value per half of a struct.
pub(super) type Locals = FxHashMap<DeclId, Vec<Choice>>;

/// A register action under construction.
pub(super) struct Cell<'f> {
    pub(super) frame: &'f Frame,
    pub(super) register: ir::Register,
    pub(super) format: Format,
    /// The parameter that is the element.
    pub(super) element: DeclId,
    /// Parameters that are output words.
    pub(super) words: FxHashMap<DeclId, u8>,
    /// The output word whose value is lowered.
    pub(super) word: u8,
    pub(super) locals: Locals,
    /// What is known of the halves.
    pub(super) halves: [Seen; 2],
    /// Statements of the blocks around the current place, the innermost last.
    lists: Vec<Vec<CellStmt>>,
}

impl Lower<'_> {
    /// Lowers the implementation of `apply`. Returns the statements, and the output word of each `out` parameter.
    pub(super) fn cell_body(
        &mut self,
        frame: &Frame,
        register: ir::Register,
        apply: DeclId,
    ) -> Res<(Vec<CellStmt>, Vec<u8>)> {
        let ast = self.ast;
        let DeclKind::Function(function) = &ast.decls[apply].kind else { return Ok(Default::default()) };
        let mut params = function.params.iter().copied();
        let Some(element) = params.next() else { return Ok(Default::default()) };
        let format = self.program.registers[register].format;
        let params: Vec<DeclId> = params.collect();
        let words = match &function.body {
            Some(body) => self.output_words(frame, body, &params),
            None => Vec::new(),
        };
        let mut cell = Cell {
            frame,
            register,
            format,
            element,
            words: params.into_iter().zip(words.iter().copied()).collect(),
            word: 0,
            locals: FxHashMap::default(),
            halves: [Seen::Kept, Seen::Kept],
            lists: vec![Vec::new()],
        };
        if let Some(body) = &function.body {
            self.cell_block(&mut cell, body)?;
        }
        Ok((cell.lists.pop().unwrap_or_default(), words))
    }

    /// Returns the output words of the `out` parameters: words 2 and 3 for those that take a slice above bit 31, and the
    /// lowest free word for the others.
    fn output_words(&mut self, frame: &Frame, body: &Block, params: &[DeclId]) -> Vec<u8> {
        let mut high = Vec::new();
        for stmt in &body.statements {
            self.high_outputs(frame, stmt, &mut high);
        }
        let (mut low, mut upper) = (0, 2);
        let mut words = Vec::new();
        let any = params.iter().any(|param| high.contains(param));
        for (n, param) in params.iter().enumerate() {
            let word = match (any, high.contains(param)) {
                (false, _) => n as u8,
                (true, true) => upper,
                (true, false) => low,
            };
            words.push(word);
            *(if high.contains(param) { &mut upper } else { &mut low }) += 1;
        }
        words
    }

    fn high_outputs(&mut self, frame: &Frame, stmt: &Stmt, found: &mut Vec<DeclId>) {
        match &stmt.kind {
            StmtKind::Block(block) => {
                for stmt in &block.statements {
                    self.high_outputs(frame, stmt, found);
                }
            }
            StmtKind::If { then, otherwise, .. } => {
                self.high_outputs(frame, then, found);
                if let Some(otherwise) = otherwise {
                    self.high_outputs(frame, otherwise, found);
                }
            }
            StmtKind::Assign { target, value } => {
                if let ExprKind::Slice { lo, .. } = self.ast.exprs[*value].kind
                    && self.number(frame, lo).is_some_and(|lo| lo >= 32)
                {
                    found.extend(self.checked.decl_of(*target));
                }
            }
            _ => {}
        }
    }

    fn cell_block(&mut self, cell: &mut Cell<'_>, block: &Block) -> Res<()> {
        for stmt in &block.statements {
            self.cell_stmt(cell, stmt)?;
        }
        Ok(())
    }

    fn cell_stmt(&mut self, cell: &mut Cell<'_>, stmt: &Stmt) -> Res<()> {
        match &stmt.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(block) => self.cell_block(cell, block),
            StmtKind::Decl(decl) => match self.ast.decls[*decl].kind {
                DeclKind::Variable { value: Some(value), .. } => self.capture(cell, *decl, None, value),
                _ => Ok(()),
            },
            StmtKind::Assign { target, value } => self.cell_assign(cell, *target, *value, stmt.span),
            StmtKind::If { condition, then, otherwise } => {
                if let Some(known) = self.constant(cell.frame, *condition).and_then(|value| value.as_bool()) {
                    return match (known, otherwise) {
                        (true, _) => self.cell_stmt(cell, then),
                        (false, Some(otherwise)) => self.cell_stmt(cell, otherwise),
                        (false, None) => Ok(()),
                    };
                }
                let condition = self.cell_condition(cell, *condition)?;
                self.cell_if(cell, condition, then, otherwise.as_deref(), stmt.span)
            }
            StmtKind::Call(_) | StmtKind::Switch { .. } | StmtKind::Return(_) | StmtKind::Exit => Err(self
                .refuse(
                    stmt.span,
                    "this statement has no home in a register action",
                    "a register action has assignments and `if`s",
                )),
        }
    }

    fn cell_if(
        &mut self,
        cell: &mut Cell<'_>,
        condition: CellCond,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        at: Span,
    ) -> Res<()> {
        let (yes, known_yes) = self.cell_branch(cell, Some(then))?;
        let (no, known_no) = self.cell_branch(cell, otherwise)?;
        cell.joined(&condition, [known_yes, known_no]);
        if !yes.is_empty() || !no.is_empty() {
            let loc = self.loc(at);
            self.cell_push(cell, CellStmt { kind: CellStmtKind::If(condition, yes, no), loc });
        }
        Ok(())
    }

    /// Lowers a branch. Returns its statements and what is known at its end; `cell` knows what it knew before.
    fn cell_branch(&mut self, cell: &mut Cell<'_>, stmt: Option<&Stmt>) -> Res<(Vec<CellStmt>, Known)> {
        let (locals, halves) = (cell.locals.clone(), cell.halves.clone());
        cell.lists.push(Vec::new());
        let done = stmt.map_or(Ok(()), |stmt| self.cell_stmt(cell, stmt));
        let list = cell.lists.pop().unwrap_or_default();
        let known = Known {
            locals: std::mem::replace(&mut cell.locals, locals),
            halves: std::mem::replace(&mut cell.halves, halves),
        };
        done.map(|()| (list, known))
    }

    fn cell_push(&mut self, cell: &mut Cell<'_>, stmt: CellStmt) {
        if let Some(list) = cell.lists.last_mut() {
            list.push(stmt);
        }
    }

    fn cell_write(&mut self, cell: &mut Cell<'_>, half: Half, value: Choice, at: Span) {
        let loc = self.loc(at);
        let stmt = value.clone().store(&|value| CellStmtKind::Write(half, value), loc);
        self.cell_push(cell, stmt);
        cell.wrote(half, &value);
    }

    fn cell_assign(&mut self, cell: &mut Cell<'_>, target: ExprId, value: ExprId, at: Span) -> Res<()> {
        let decl = self.checked.decl_of(target);
        if let Some(half) = self.half(cell, target) {
            let value = self.cell_choice(cell, value, false)?;
            self.cell_write(cell, half, value, at);
            return Ok(());
        }
        if decl == Some(cell.element) {
            // The whole struct: from a variable or a list.
            let mut values = self.cell_values(cell, value)?;
            // The low half is written first, and the value of the high one is that before both.
            values.iter_mut().skip(1).for_each(|value| value.after(Half::Lo));
            for (half, value) in [Half::Lo, Half::Hi].into_iter().zip(values) {
                self.cell_write(cell, half, value, at);
            }
            return Ok(());
        }
        if let Some(decl) = decl
            && let Some(&word) = cell.words.get(&decl)
        {
            return self.cell_output(cell, (decl, word), value, at);
        }
        match &self.ast.exprs[target].kind {
            ExprKind::Name { .. } => match decl {
                Some(decl) => self.capture(cell, decl, None, value),
                None => Ok(()),
            },
            ExprKind::Member { base, .. } => {
                match (self.checked.decl_of(*base), self.checked.resolutions[target]) {
                    (Some(decl), Some(Resolution::Field(_, at))) => self.capture(cell, decl, Some(at), value),
                    _ => Ok(()),
                }
            }
            _ => Err(self.refuse(
                at,
                "a register action writes a part of the element",
                "write the whole element or member; `(old & mask) | new` keeps bits",
            )),
        }
    }

    fn cell_output(
        &mut self,
        cell: &mut Cell<'_>,
        (decl, word): (DeclId, u8),
        value: ExprId,
        at: Span,
    ) -> Res<()> {
        cell.word = word;
        let mut choice = self.cell_choice(cell, value, true)?;
        if cell.format == Format::BIT {
            choice = self.bit_output(cell, choice, at);
        }
        let loc = self.loc(at);
        let stmt = choice.clone().store(&|value| CellStmtKind::Output(word, value), loc);
        self.cell_push(cell, stmt);
        // The value is known as long as it does not depend on the place where it is read.
        if cell.halves.iter().all(|half| *half == Seen::Kept) || !choice.reads_half() {
            cell.locals.insert(decl, vec![choice]);
        } else {
            cell.locals.remove(&decl);
        }
        Ok(())
    }

    /// Returns what an access to a one-bit element returns for a value: the bit before the access, or its complement.
    fn bit_output(&mut self, cell: &Cell<'_>, value: Choice, at: Span) -> Choice {
        let kept = cell.halves[0] == Seen::Kept;
        let bit = if kept { CellValue::Half(Half::Lo) } else { CellValue::Old(Half::Lo) };
        match value {
            Choice::One(CellValue::Half(_)) if kept => Choice::One(bit),
            Choice::One(CellValue::Old(_)) => Choice::One(bit),
            Choice::One(CellValue::Op(op @ (SaluOp::Nota | SaluOp::Xor), a, b)) => {
                if !matches!(*a, CellValue::Half(_) if kept) && !matches!(*a, CellValue::Old(_)) {
                    self.bit_note(at);
                }
                Choice::One(CellValue::Op(op, Box::new(bit), b))
            }
            Choice::One(_) => {
                self.bit_note(at);
                Choice::One(bit)
            }
            by @ Choice::By(..) => by,
        }
    }

    fn bit_note(&mut self, at: Span) {
        self.note(
            at,
            "a one-bit register action returns something other than the bit before the access",
            "approximated: the chip returns the bit as it was before the access",
        );
    }

    /// Returns the half that a name is: the element, or a member of it.
    pub(super) fn half(&self, cell: &Cell<'_>, id: ExprId) -> Option<Half> {
        match &self.ast.exprs[id].kind {
            ExprKind::Name { .. } => {
                let scalar = self.scalar(self.checked.expr_types[id]).is_some();
                (scalar && self.checked.decl_of(id) == Some(cell.element)).then_some(Half::Lo)
            }
            ExprKind::Member { base, .. } if self.checked.decl_of(*base) == Some(cell.element) => {
                match self.checked.resolutions[id]? {
                    Resolution::Field(_, 0) => Some(Half::Lo),
                    Resolution::Field(_, 1) => Some(Half::Hi),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the value of a half for a condition or an instruction. The units of a stateful ALU read the element as it is
    /// before the access.
    pub(super) fn half_value(&mut self, cell: &Cell<'_>, half: Half, at: Span) -> CellValue {
        match &cell.halves[half as usize] {
            Seen::Kept => CellValue::Half(half),
            Seen::Is(value) => value.clone(),
            Seen::Changed => {
                self.note(
                    at,
                    "the element is read after a statement has changed it",
                    "approximated: the chip compares and computes with the element as it was before the access",
                );
                CellValue::Old(half)
            }
        }
    }

    fn capture(&mut self, cell: &mut Cell<'_>, decl: DeclId, member: Option<u32>, value: ExprId) -> Res<()> {
        let mut values = match member {
            None => self.cell_values(cell, value)?,
            Some(_) => vec![self.cell_choice(cell, value, false)?],
        };
        if let Some(member) = member {
            let before = cell.locals.get(&decl).cloned();
            let mut all = before.unwrap_or_else(|| vec![Choice::One(CellValue::Const(0)); 2]);
            if let (Some(to), Some(value)) = (all.get_mut(member as usize), values.pop()) {
                *to = value;
            }
            values = all;
        }
        cell.locals.insert(decl, values);
        Ok(())
    }

    /// Returns the value of a local variable or of a member of one.
    pub(super) fn local(&self, cell: &Cell<'_>, id: ExprId) -> Option<Choice> {
        let (decl, member) = match &self.ast.exprs[id].kind {
            ExprKind::Name { .. } => (self.checked.decl_of(id)?, 0),
            ExprKind::Member { base, .. } => match self.checked.resolutions[id]? {
                Resolution::Field(_, position) => (self.checked.decl_of(*base)?, position as usize),
                _ => return None,
            },
            _ => return None,
        };
        cell.locals.get(&decl)?.get(member).cloned()
    }

    /// Returns the values of a struct or scalar, one per half.
    fn cell_values(&mut self, cell: &Cell<'_>, id: ExprId) -> Res<Vec<Choice>> {
        let at = self.ast.exprs[id].span;
        let packet = |leaves: Vec<ir::Expr>| {
            leaves.into_iter().map(|leaf| Choice::One(CellValue::Phv(leaf))).collect()
        };
        let parts: Vec<ExprId> = match &self.ast.exprs[id].kind {
            ExprKind::List(parts) => parts.clone(),
            ExprKind::Record(parts) => parts.iter().map(|(_, part)| *part).collect(),
            ExprKind::Name { .. } if self.scalar(self.checked.expr_types[id]).is_none() => {
                let decl = self.checked.decl_of(id);
                if decl == Some(cell.element) {
                    let halves = if cell.format.has_hi() { 2 } else { 1 };
                    let halves = [Half::Lo, Half::Hi].into_iter().take(halves);
                    return Ok(halves.map(|half| Choice::One(self.half_value(cell, half, at))).collect());
                }
                if let Some(values) = decl.and_then(|decl| cell.locals.get(&decl)) {
                    return Ok(values.clone());
                }
                return Ok(packet(self.leaves(cell.frame, id)?));
            }
            _ => match self.place(cell.frame, id) {
                Some(_) if self.scalar(self.checked.expr_types[id]).is_none() => {
                    return Ok(packet(self.leaves(cell.frame, id)?));
                }
                _ => vec![id],
            },
        };
        parts.into_iter().map(|part| self.cell_choice(cell, part, false)).collect()
    }
}
