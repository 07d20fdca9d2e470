//! Tables.

mod entries;
mod key;
mod property;

use super::action::Steps;
use super::frame::{Bound, Frame};
use super::name::Space;
use super::{Lower, Res};
use crate::elaborate::{ActionId, Binding, TableId};
use crate::syntax::ast::{Annotation, DeclId, DeclKind, Direction, ExprId, ExprKind, TableDecl};
use sluice_ir::{self as ir, ActionCall, Expr, ParamData, Primitive, PrimitiveKind, TableData, TableRules};

/// The number of entries of a table that states none.
const DEFAULT_SIZE: u64 = 512;

/// The widest parameter of an action in bits.
const PARAM_BITS: u32 = 128;

impl<'a> Lower<'a> {
    /// Returns a table, which is declared at its first application.
    pub(super) fn table(&mut self, frame: &Frame, id: TableId) -> Res<ir::Table> {
        let ast = self.ast;
        let data = &self.pipe.tables[id];
        let own = ast.decls[data.decl].name;
        let DeclKind::Table(decl) = &ast.decls[data.decl].kind else { return Err(super::Refused) };
        if let Some(known) = self.tables.get(&id) {
            return Ok(*known);
        }
        let name = self.short(&data.name).to_owned();
        let name = self.names.take(Space::Table, &name);
        let no_action = self.program.actions.next_key();
        let (gress, loc) = (self.gress, self.loc(own.span));
        // Direct counters, meters and registers name the table, so that it is declared before its actions.
        let table = self.program.tables.push(TableData {
            name,
            gress,
            keys: Vec::new(),
            actions: Vec::new(),
            default: ActionCall { action: no_action, args: Vec::new() },
            constant_default: false,
            size: 1,
            entries: Vec::new(),
            profile: None,
            pin: None,
            idle: None,
            algorithmic: None,
            rules: TableRules::default(),
            doc: String::new(),
            loc,
        });
        self.tables.insert(id, table);
        let outer = self.table.replace(table);
        let done = self.fill_table(frame, id, table, decl);
        self.table = outer;
        done.map(|()| table)
    }

    fn fill_table(&mut self, frame: &Frame, id: TableId, table: ir::Table, decl: &'a TableDecl) -> Res<()> {
        let data = &self.pipe.tables[id];
        for (_, object) in &data.objects {
            self.direct.insert(*object, table);
        }
        let mut refused = Ok(());
        let mut keep = |done: Res<()>| {
            if done.is_err() {
                refused = done;
            }
        };
        keep(self.keys(frame, table, decl));
        let listed = decl.actions.iter().flat_map(|actions| &actions.list);
        let annotated: Vec<(ExprId, &[Annotation])> =
            listed.map(|(expr, list)| (*expr, list.as_slice())).collect();
        let mut actions = Vec::new();
        for &(action, expr) in &data.actions {
            match self.table_action(frame, id, action, expr) {
                Ok(made) => {
                    let default_only = annotated
                        .iter()
                        .any(|(other, list)| *other == expr && has(self.ast, list, "defaultonly"));
                    if !default_only && !actions.contains(&made) {
                        actions.push(made);
                    }
                }
                Err(error) => keep(Err(error)),
            }
        }
        self.program.tables[table].actions = actions;
        keep(self.default_action(frame, id, table, decl));
        keep(self.entries(frame, id, table, decl));
        keep(self.properties(frame, id, table, decl));
        let keyless = self.program.tables[table].keys.is_empty();
        let entries = self.program.tables[table].entries.len() as u64;
        let size = data.size.unwrap_or(DEFAULT_SIZE).max(entries);
        self.program.tables[table].size = if keyless { 1 } else { u32::try_from(size).unwrap_or(u32::MAX) };
        refused
    }

    /// Returns the action of the program that an action of a table is.
    pub(super) fn made_action(&self, table: TableId, action: ActionId) -> Option<ir::Action> {
        let shared = self.actions.get(&(None, action, self.gress));
        shared.or_else(|| self.actions.get(&(Some(table), action, self.gress))).copied()
    }

    fn table_action(&mut self, frame: &Frame, table: TableId, id: ActionId, expr: ExprId) -> Res<ir::Action> {
        if let Some(made) = self.made_action(table, id) {
            return Ok(made);
        }
        let ast = self.ast;
        let data = &self.pipe.actions[id];
        let DeclKind::Action(action) = &ast.decls[data.decl].kind else { return Err(super::Refused) };
        if data.block.is_none() && action.params.is_empty() && action.body.statements.is_empty() {
            let made = self.no_action();
            self.actions.insert((None, id, self.gress), made);
            return Ok(made);
        }
        let args = match &ast.exprs[expr].kind {
            ExprKind::Call { .. } => self.checked.calls.get(&expr).map(|call| call.args.clone()),
            _ => None,
        };
        if args.is_some()
            && let Some(arg) = self.shared_argument(expr)
        {
            return Err(self.refuse(
                ast.exprs[arg].span,
                "an action in the list of a table has an argument that is a slice, or that it also reaches by another name",
                "pass a variable that the `apply` block sets before the table and copies back after it",
            ));
        }
        let mut inner = frame.clone();
        let params = self.bind_params(frame, &mut inner, &action.params, args.as_deref())?;
        let name = self.short(&data.name).to_owned();
        let own = ast.decls[data.decl].name.span;
        let steps = self.owned(&name, own, |lower| lower.action_steps(&inner, data.decl))?;
        let Steps { mut body, exit, rest } = steps;
        if let Some(at) = exit {
            let flag = self.leave_flag(true, at);
            let (field, loc) = (self.field(flag), self.loc(at));
            body.push(Primitive { kind: PrimitiveKind::Set(field, Expr::Const(1, 1)), loc });
        }
        let (gress, loc) = (self.gress, self.loc(own));
        let made = self.new_action(gress, &name, body, loc);
        self.program.actions[made].params = params;
        let copies = std::mem::take(&mut self.before);
        self.copies.insert(made, copies);
        if !rest.is_empty() {
            self.rest.insert(made, rest);
        }
        // An action with arguments in the table's list belongs to the table.
        let of = args.is_some().then_some(table);
        self.actions.insert((of, id, gress), made);
        Ok(made)
    }

    /// Binds the parameters of a table's action: those without direction are parameters of the program's action.
    fn bind_params(
        &mut self,
        frame: &Frame,
        inner: &mut Frame,
        params: &[DeclId],
        args: Option<&[Option<ExprId>]>,
    ) -> Res<Vec<ParamData>> {
        let ast = self.ast;
        let mut made: Vec<ParamData> = Vec::new();
        for (position, &param) in params.iter().enumerate() {
            let DeclKind::Param(of) = &ast.decls[param].kind else { continue };
            let own = ast.decls[param].name;
            if of.direction != Direction::None {
                let arg = args.and_then(|args| args.get(position).copied().flatten());
                self.bind_arguments(frame, inner, &[param], &[arg])?;
                continue;
            }
            let ty = self.checked.decl_types[param];
            let ty = self.pipe.concrete(ast, self.checked, frame.block, ty);
            let width = self.scalar(ty).map_or(0, |scalar| scalar.width);
            if width == 0 {
                let text = format!("parameter `{}` is no number", ast.text(own));
                return Err(self.refuse(own.span, text, "give it a type of bits"));
            }
            let mut pieces = Vec::new();
            for (bits, low) in param_parts(width) {
                let name = match width {
                    ..=PARAM_BITS => self.own_name(param).to_owned(),
                    _ => format!("{}_{low}", self.own_name(param)),
                };
                pieces.push(Expr::Param(made.len() as u16, bits));
                made.push(ParamData { name, width: bits });
            }
            if pieces.len() > 1 {
                let what = format!("parameter `{}` of {width} bits", ast.text(own));
                self.note(
                    own.span,
                    what,
                    "the control plane sets its parts, each of which is named by its lowest bit",
                );
            }
            inner.names.insert(param, Bound::Pieces(pieces));
        }
        Ok(made)
    }

    fn default_action(
        &mut self,
        frame: &Frame,
        id: TableId,
        table: ir::Table,
        decl: &'a TableDecl,
    ) -> Res<()> {
        let call = match &decl.default_action {
            Some(property) => self.action_call(frame, id, property.value)?,
            None => ActionCall { action: self.no_action(), args: Vec::new() },
        };
        self.program.tables[table].default = call;
        self.program.tables[table].constant_default =
            decl.default_action.as_ref().is_some_and(|property| property.is_const);
        Ok(())
    }

    /// Returns the action that does nothing.
    fn no_action(&mut self) -> ir::Action {
        if let Some(known) = self.no_action[self.gress.index()] {
            return known;
        }
        // The author's name is an end of the second one's, and tables know actions by ends of their names.
        let other = self.no_action.iter().flatten().next().is_some();
        let wanted = if other { format!("{}.NoAction", self.gress) } else { "NoAction".to_owned() };
        let gress = self.gress;
        let made = self.new_action(gress, &wanted, Vec::new(), ir::Loc::default());
        self.no_action[gress.index()] = Some(made);
        made
    }

    /// Returns the values of the parts of a parameter whose argument is a constant.
    fn param_values(&self, frame: &Frame, param: DeclId, arg: ExprId) -> Option<Vec<u128>> {
        let value = self.constant(frame, arg)?;
        let width = self.scalar(self.checked.decl_types[param])?.width;
        let parts = super::value::constant(&self.bits(&value, width)?, width);
        let number = |part: Expr| if let Expr::Const(value, _) = part { Some(value) } else { None };
        parts.into_iter().map(number).collect()
    }

    /// Returns an action of a table with constant arguments: a default or an entry's.
    fn action_call(&mut self, frame: &Frame, table: TableId, expr: ExprId) -> Res<ActionCall> {
        let ast = self.ast;
        let (callee, args) = match &ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => {
                (*callee, self.checked.calls.get(&expr).map(|call| call.args.clone()).unwrap_or_default())
            }
            _ => (expr, Vec::new()),
        };
        let at = ast.exprs[expr].span;
        let Some(decl) = self.checked.decl_of(callee) else { return Err(super::Refused) };
        let id = match self.pipe.binding(frame.block, decl) {
            Some(Binding::Action(id)) => Some(*id),
            _ => None,
        };
        let action = match id {
            Some(id) => match self.made_action(table, id) {
                Some(made) => made,
                None => self.table_action(frame, table, id, expr)?,
            },
            None if ast.text(ast.decls[decl].name) == "NoAction" => self.no_action(),
            None => {
                return Err(self.refuse(
                    at,
                    "this action is none of the table's",
                    "add it to the table's `actions`",
                ));
            }
        };
        let DeclKind::Action(of) = &ast.decls[decl].kind else { return Err(super::Refused) };
        let mut values = Vec::new();
        for (position, &param) in of.params.iter().enumerate() {
            let DeclKind::Param(data) = &ast.decls[param].kind else { continue };
            if data.direction != Direction::None {
                continue;
            }
            match args.get(position).copied().flatten().and_then(|arg| self.param_values(frame, param, arg)) {
                Some(parts) => values.extend(parts),
                None => {
                    let text = "an argument of this action has no constant value";
                    return Err(self.refuse(at, text, "give every parameter a constant"));
                }
            }
        }
        Ok(ActionCall { action, args: values })
    }
}

/// Returns the parts of a parameter that the program has: their widths, each with its lowest bit, the highest part first.
fn param_parts(width: u32) -> Vec<(u16, u32)> {
    let mut parts = Vec::new();
    let mut left = width;
    while left > 0 {
        let bits = if left.is_multiple_of(PARAM_BITS) { PARAM_BITS } else { left % PARAM_BITS };
        left -= bits;
        parts.push((bits as u16, left));
    }
    parts
}

/// Returns true if a list of annotations has one of this name.
fn has(ast: &crate::syntax::ast::Ast, list: &[Annotation], name: &str) -> bool {
    list.iter().any(|annotation| ast.text(annotation.name) == name)
}
