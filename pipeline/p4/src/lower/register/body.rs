//! Bodies of register actions: statements in order.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use crate::check::Resolution;
use crate::source::Span;
use crate::syntax::ast::{Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use sluice_asic::salu::{Format, Half};
use sluice_ir::{self as ir, CellCond, CellStmt, CellStmtKind, CellValue};

/// A register action under construction.
pub(super) struct Cell<'f> {
    pub(super) frame: &'f Frame,
    pub(super) register: ir::Register,
    pub(super) format: Format,
    /// The parameter that is the element.
    pub(super) element: DeclId,
    /// Parameters that are output words.
    words: FxHashMap<DeclId, u8>,
    /// Local variables that are decisions, with what [`Cell::writes`] was.
    pub(super) decisions: FxHashMap<DeclId, (CellCond, [u32; 2])>,
    /// Local variables.
    locals: FxHashMap<DeclId, Captured>,
    /// The halves that were written so far, counted.
    pub(super) writes: [u32; 2],
    /// Statements of the blocks around the current place, the innermost last.
    lists: Vec<Vec<CellStmt>>,
}

/// The values of a local variable: one per half of a struct.
#[derive(Clone)]
struct Captured {
    values: Vec<CellValue>,
    /// What [`Cell::writes`] was.
    writes: [u32; 2],
    /// Where an output of the value can stand: block and position.
    at: (usize, usize),
}

impl Lower<'_> {
    /// Lowers the implementation of `apply`.
    pub(super) fn cell_body(
        &mut self,
        frame: &Frame,
        register: ir::Register,
        apply: DeclId,
    ) -> Res<Vec<CellStmt>> {
        let ast = self.ast;
        let DeclKind::Function(function) = &ast.decls[apply].kind else { return Ok(Vec::new()) };
        let mut params = function.params.iter().copied();
        let Some(element) = params.next() else { return Ok(Vec::new()) };
        let words = params.enumerate().map(|(word, param)| (param, word as u8)).collect();
        let format = self.program.registers[register].format;
        let mut cell = Cell {
            frame,
            register,
            format,
            element,
            words,
            decisions: FxHashMap::default(),
            locals: FxHashMap::default(),
            writes: [0, 0],
            lists: vec![Vec::new()],
        };
        if let Some(body) = &function.body {
            self.cell_block(&mut cell, body)?;
        }
        Ok(cell.lists.pop().unwrap_or_default())
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
                DeclKind::Variable { value: Some(value), .. }
                    if self.cell_decides(value) && self.constant(cell.frame, value).is_none() =>
                {
                    let condition = self.cell_condition(cell, value)?;
                    cell.decisions.insert(*decl, (condition, cell.writes));
                    Ok(())
                }
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
        let (locals, writes) = (cell.locals.clone(), cell.writes);
        let mut branches = Vec::new();
        let mut changed = Vec::new();
        let mut most = writes;
        for branch in [Some(then), otherwise] {
            (cell.locals, cell.writes) = (locals.clone(), writes);
            cell.lists.push(Vec::new());
            let done = branch.map_or(Ok(()), |stmt| self.cell_stmt(cell, stmt));
            branches.push(cell.lists.pop().unwrap_or_default());
            done?;
            most = [most[0].max(cell.writes[0]), most[1].max(cell.writes[1])];
            changed.extend(cell.locals.iter().filter_map(|(decl, now)| {
                let same = locals.get(decl).is_some_and(|before| before.values == now.values);
                (!same).then_some(*decl)
            }));
        }
        (cell.locals, cell.writes) = (locals, most);
        // The value of a variable that a branch sets is not one value after it.
        for decl in changed {
            cell.locals.remove(&decl);
        }
        let (no, yes) = (branches.pop().unwrap_or_default(), branches.pop().unwrap_or_default());
        self.cell_push(cell, CellStmtKind::If(condition, yes, no), at);
        Ok(())
    }

    fn cell_push(&mut self, cell: &mut Cell<'_>, kind: CellStmtKind, at: Span) {
        let loc = self.loc(at);
        if let CellStmtKind::Write(half, _) = kind {
            cell.writes[usize::from(half == Half::Hi)] += 1;
        }
        if let Some(list) = cell.lists.last_mut() {
            list.push(CellStmt { kind, loc });
        }
    }

    fn cell_assign(&mut self, cell: &mut Cell<'_>, target: ExprId, value: ExprId, at: Span) -> Res<()> {
        if self.cell_decides(value) && self.constant(cell.frame, value).is_none() {
            return self.cell_decided(cell, target, value, at);
        }
        if let Some(half) = self.half(cell, target) {
            let value = self.cell_value(cell, value, false)?;
            self.cell_push(cell, CellStmtKind::Write(half, value), at);
            return Ok(());
        }
        let decl = self.checked.decl_of(target);
        if decl == Some(cell.element) {
            // The whole struct: from a variable or a list.
            let values = self.cell_values(cell, value)?;
            for (half, value) in [Half::Lo, Half::Hi].into_iter().zip(values) {
                self.cell_push(cell, CellStmtKind::Write(half, value), at);
            }
            return Ok(());
        }
        if let Some(&word) = decl.and_then(|decl| cell.words.get(&decl)) {
            return self.cell_output(cell, word, value, at);
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

    /// Assigns a decision: to a variable, or as 1 or 0 in the branches of an `if`.
    fn cell_decided(&mut self, cell: &mut Cell<'_>, target: ExprId, value: ExprId, at: Span) -> Res<()> {
        let condition = self.cell_condition(cell, value)?;
        let decl = self.checked.decl_of(target);
        let half = self.half(cell, target);
        let word = decl.and_then(|decl| cell.words.get(&decl)).copied();
        let loc = self.loc(at);
        let branch = |bit: u64| {
            let kind = match (half, word) {
                (Some(half), _) => CellStmtKind::Write(half, CellValue::Const(bit)),
                (None, word) => CellStmtKind::Output(word.unwrap_or(0), CellValue::Const(bit)),
            };
            vec![CellStmt { kind, loc }]
        };
        match (decl, half.is_some() || word.is_some()) {
            (_, true) => {
                let kind = CellStmtKind::If(condition, branch(1), branch(0));
                self.cell_push(cell, kind, at);
                if let Some(half) = half {
                    cell.writes[usize::from(half == Half::Hi)] += 1;
                }
            }
            (Some(decl), false) => {
                cell.decisions.insert(decl, (condition, cell.writes));
            }
            (None, false) => {}
        }
        Ok(())
    }

    fn cell_output(&mut self, cell: &mut Cell<'_>, word: u8, value: ExprId, at: Span) -> Res<()> {
        // An output of a variable whose half is written since stands before the write.
        if let Some(captured) = self.stale(cell, value) {
            let (depth, position) = captured.at;
            if depth + 1 == cell.lists.len()
                && let Some(value) = captured.values.into_iter().next()
            {
                let loc = self.loc(at);
                let stmt = CellStmt { kind: CellStmtKind::Output(word, value), loc };
                cell.lists[depth].insert(position, stmt);
                return Ok(());
            }
        }
        let value = self.cell_value(cell, value, true)?;
        self.cell_push(cell, CellStmtKind::Output(word, value), at);
        Ok(())
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

    fn capture(&mut self, cell: &mut Cell<'_>, decl: DeclId, member: Option<u32>, value: ExprId) -> Res<()> {
        let mut values = match member {
            None => self.cell_values(cell, value)?,
            Some(_) => vec![self.cell_value(cell, value, false)?],
        };
        if let Some(member) = member {
            let before = cell.locals.get(&decl).map(|captured| captured.values.clone());
            let mut all = before.unwrap_or_else(|| vec![CellValue::Const(0); 2]);
            if let (Some(to), Some(value)) = (all.get_mut(member as usize), values.pop()) {
                *to = value;
            }
            values = all;
        }
        let depth = cell.lists.len() - 1;
        let at = (depth, cell.lists[depth].len());
        cell.locals.insert(decl, Captured { values, writes: cell.writes, at });
        Ok(())
    }

    /// Returns the variable of an expression if a half that its value reads has been written since.
    fn stale(&self, cell: &Cell<'_>, id: ExprId) -> Option<Captured> {
        let ExprKind::Name { .. } = &self.ast.exprs[id].kind else { return None };
        let captured = cell.locals.get(&self.checked.decl_of(id)?)?;
        is_stale(captured, cell).then(|| captured.clone())
    }

    /// Returns the value of a local variable or of a member of one.
    pub(super) fn local(
        &mut self,
        cell: &Cell<'_>,
        decl: DeclId,
        member: usize,
        at: Span,
    ) -> Res<Option<CellValue>> {
        let Some(captured) = cell.locals.get(&decl) else { return Ok(None) };
        if is_stale(captured, cell) {
            return Err(self.refuse(
                at,
                "this variable has the element's value before a write, and is read after the write",
                "read it before the element is written",
            ));
        }
        Ok(captured.values.get(member).cloned())
    }

    /// Returns the values of a struct or scalar, one per half.
    fn cell_values(&mut self, cell: &Cell<'_>, id: ExprId) -> Res<Vec<CellValue>> {
        let at = self.ast.exprs[id].span;
        let parts: Vec<ExprId> = match &self.ast.exprs[id].kind {
            ExprKind::List(parts) => parts.clone(),
            ExprKind::Record(parts) => parts.iter().map(|(_, part)| *part).collect(),
            ExprKind::Name { .. } if self.scalar(self.checked.expr_types[id]).is_none() => {
                let decl = self.checked.decl_of(id);
                if decl == Some(cell.element) {
                    return Ok(vec![CellValue::Half(Half::Lo), CellValue::Half(Half::Hi)]);
                }
                let mut values = Vec::new();
                if let Some(decl) = decl {
                    for member in 0..2 {
                        values.extend(self.local(cell, decl, member, at)?);
                    }
                }
                if values.is_empty() {
                    let leaves = self.leaves(cell.frame, id)?;
                    values.extend(leaves.into_iter().map(CellValue::Phv));
                }
                return Ok(values);
            }
            _ => match self.place(cell.frame, id) {
                Some(_) if self.scalar(self.checked.expr_types[id]).is_none() => {
                    return Ok(self.leaves(cell.frame, id)?.into_iter().map(CellValue::Phv).collect());
                }
                _ => vec![id],
            },
        };
        parts.into_iter().map(|part| self.cell_value(cell, part, false)).collect()
    }
}

fn is_stale(captured: &Captured, cell: &Cell<'_>) -> bool {
    captured.values.iter().any(|value| {
        let mut reads = [false, false];
        halves(value, &mut reads);
        reads[0] && captured.writes[0] != cell.writes[0] || reads[1] && captured.writes[1] != cell.writes[1]
    })
}

fn halves(value: &CellValue, reads: &mut [bool; 2]) {
    match value {
        CellValue::Half(half) => reads[usize::from(*half == Half::Hi)] = true,
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            halves(a, reads);
            halves(b, reads);
        }
        CellValue::Math(_, a) => halves(a, reads),
        _ => {}
    }
}
