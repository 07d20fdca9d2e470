//! Entries whose parts have names, as packet tests write them.
//!
//! A name may be any end of a full name, of whole parts between dots, that no other name has.

use crate::Reference;
use crate::control::{ActionCall, Entry, Match, Then};
use crate::text;
use num_bigint::BigInt;
use sluice_p4::elaborate::{ActionId, ObjectId, TableId};
use sluice_p4::syntax::ast::{DeclId, DeclKind, Direction, ExprId, ExprKind};
use std::fmt;

/// An action by name, with its arguments: by name, or by position where a name is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCall<'e> {
    /// Name of the action.
    pub action: &'e str,
    /// Name of each parameter, if it is given, and its value as text.
    pub args: Vec<(Option<&'e str>, &'e str)>,
}

/// An entry whose parts have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEntry<'e> {
    /// Name of the table.
    pub table: &'e str,
    /// Names of keys and their conditions as text. Keys that are left out match everything.
    pub keys: Vec<(&'e str, &'e str)>,
    /// Priority among entries of a table with a ternary or range key, the lowest first. Other tables ignore it.
    pub priority: u32,
    /// The action.
    pub call: NamedCall<'e>,
}

/// A name or value that does not suit the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// The mistake, with the name or value that was found.
    pub text: String,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for NameError {}

fn wrong<T>(text: impl Into<String>) -> Result<T, NameError> {
    Err(NameError { text: text.into() })
}

/// Returns true if a name is an end of a full name.
fn is_end(full: &str, name: &str) -> bool {
    full == name || full.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns the only item whose full name ends with a name; an equal name goes first.
fn find<T: Copy>(what: &str, name: &str, items: &[(T, String)]) -> Result<T, NameError> {
    if let Some((item, _)) = items.iter().find(|(_, full)| full == name) {
        return Ok(*item);
    }
    let mut found = items.iter().filter(|(_, full)| is_end(full, name));
    match (found.next(), found.next()) {
        (Some((item, _)), None) => Ok(*item),
        (None, _) => wrong(format!("there is no {what} `{name}`")),
        (Some((_, one)), Some((_, other))) => wrong(format!("{what} `{name}` is `{one}` or `{other}`")),
    }
}

/// An element of a table's key that entries have a condition for.
struct Column {
    name: String,
    kind: String,
    width: u32,
}

impl Reference<'_> {
    /// Returns the table of a name.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn table_named(&self, name: &str) -> Result<TableId, NameError> {
        let tables: Vec<_> = self.pipe().tables.iter().map(|(id, table)| (id, table.name.clone())).collect();
        find("table", name, &tables)
    }

    /// Returns the extern object of a name, such as a register.
    ///
    /// # Errors
    /// As of [`Reference::table_named`].
    pub fn object_named(&self, name: &str) -> Result<ObjectId, NameError> {
        let objects: Vec<_> =
            self.pipe().objects.iter().map(|(id, object)| (id, object.name.clone())).collect();
        find("object", name, &objects)
    }

    /// Returns the widths of the keys for which entries have conditions, in bits.
    pub fn key_widths(&mut self, table: TableId) -> Vec<u32> {
        self.columns(table).into_iter().map(|column| column.width).collect()
    }

    /// Returns the widths of the parameters that the control plane gives an action, in bits; 0 for a struct.
    pub fn arg_widths(&mut self, action: ActionId) -> Vec<u32> {
        let decl = self.pipe().actions[action].decl;
        let block = self.pipe().actions[action].block.unwrap_or(self.pipe().ingress.control);
        let params = self.free_params(decl);
        let width = |param| {
            let ty = self.program.decl_ty(block, param);
            self.program.range(ty).map_or(0, |range| range.width())
        };
        params.into_iter().map(width).collect()
    }

    /// Adds an entry, in place of one with the same conditions and priority.
    ///
    /// # Errors
    /// If the program has no such table, key, action or parameter, or if a value cannot be read.
    pub fn add(&mut self, entry: &NamedEntry<'_>) -> Result<(), NameError> {
        let table = self.table_named(entry.table)?;
        let columns = self.columns(table);
        let mut keys: Vec<Match> =
            columns.iter().map(|column| text::any(&column.kind, column.width)).collect();
        let names: Vec<(usize, String)> =
            columns.iter().enumerate().map(|(at, column)| (at, column.name.clone())).collect();
        for (name, value) in &entry.keys {
            let at = find("key", name, &names)?;
            let column = &columns[at];
            keys[at] = match text::condition(value, &column.kind, column.width) {
                Some(condition) => condition,
                None => return wrong(format!("`{value}` is no value of key `{name}`")),
            };
        }
        let call = self.call_named(table, &entry.call)?;
        let ordered = columns.iter().any(|column| matches!(column.kind.as_str(), "ternary" | "range"));
        let priority = if ordered { entry.priority } else { 0 };
        let entry = Entry { keys, priority, then: Then::Call(call) };
        let entries = &mut self.control.tables.entry(table).or_default().entries;
        let same = entries.iter_mut().find(|one| one.keys == entry.keys && one.priority == entry.priority);
        match same {
            Some(one) => *one = entry,
            None => entries.push(entry),
        }
        Ok(())
    }

    /// Sets the default action of a table.
    ///
    /// # Errors
    /// As of [`Reference::add`].
    pub fn set_default(&mut self, table: &str, call: &NamedCall<'_>) -> Result<(), NameError> {
        let table = self.table_named(table)?;
        let call = self.call_named(table, call)?;
        self.control.tables.entry(table).or_default().default = Some(call);
        Ok(())
    }

    fn call_named(&self, table: TableId, call: &NamedCall<'_>) -> Result<ActionCall, NameError> {
        let pipe = self.pipe();
        let listed = pipe.tables[table].actions.iter().map(|&(id, _)| (id, pipe.actions[id].name.clone()));
        let action: ActionId = find("action of the table", call.action, &listed.collect::<Vec<_>>())?;
        let params = self.free_params(pipe.actions[action].decl);
        if call.args.len() != params.len() {
            return wrong(format!("action `{}` has {} parameters", call.action, params.len()));
        }
        let mut args = vec![None; params.len()];
        for (position, (name, value)) in call.args.iter().enumerate() {
            let at = match name {
                None => position,
                Some(name) => match params.iter().position(|&param| self.shown(param) == *name) {
                    Some(at) => at,
                    None => return wrong(format!("action `{}` has no parameter `{name}`", call.action)),
                },
            };
            args[at] = text::number(value);
            if args[at].is_none() {
                return wrong(format!("`{value}` is no number"));
            }
        }
        match args.into_iter().collect::<Option<Vec<BigInt>>>() {
            Some(args) => Ok(ActionCall { action, args }),
            None => wrong(format!("an argument of action `{}` is missing", call.action)),
        }
    }

    /// Returns the parameters that the control plane gives.
    fn free_params(&self, action: DeclId) -> Vec<DeclId> {
        let params = self.program.ast.params(action).iter().copied();
        params.filter(|&param| self.program.ast.direction(param) == Direction::None).collect()
    }

    /// Returns the name of a declaration for the control plane.
    fn shown(&self, decl: DeclId) -> String {
        let named = self.program.annotation(decl, "name").map(|one| self.program.annotation_args(one));
        match named.as_deref() {
            Some([crate::program::AnnotationArg::Word(name)]) => (*name).to_owned(),
            _ => self.program.name(decl).to_owned(),
        }
    }

    fn columns(&mut self, table: TableId) -> Vec<Column> {
        let program = &self.program;
        let (decl, block) = (program.pipe.tables[table].decl, program.pipe.tables[table].block);
        let DeclKind::Table(of) = &program.ast.decls[decl].kind else { return Vec::new() };
        let mut columns = Vec::new();
        for element in of.key.iter().flat_map(|key| &key.elements) {
            let kind = self.program.ast.text(element.match_kind).to_owned();
            if kind == "selector" {
                continue;
            }
            let ty = self.program.expr_ty(block, element.value);
            let width = self.program.range(ty).map_or(0, |range| range.width());
            columns.push(Column { name: self.key_name(element.value), kind, width });
        }
        columns
    }

    /// Returns the text of a key.
    fn key_name(&self, expr: ExprId) -> String {
        let ast = self.program.ast;
        match &ast.exprs[expr].kind {
            ExprKind::Name { name, .. } => ast.text(*name).to_owned(),
            ExprKind::Member { base, member } => {
                let member = match self.program.checked.decl_of(expr) {
                    Some(decl) => self.shown(decl),
                    None => ast.text(*member).to_owned(),
                };
                format!("{}.{member}", self.key_name(*base))
            }
            ExprKind::Index { base, index } => format!("{}[{}]", self.key_name(*base), self.key_name(*index)),
            ExprKind::Slice { base, hi, lo } => {
                format!("{}[{}:{}]", self.key_name(*base), self.key_name(*hi), self.key_name(*lo))
            }
            ExprKind::Int(literal) => literal.value.to_string(),
            ExprKind::Call { callee, .. } => self.key_name(*callee),
            ExprKind::Cast { operand, .. } => self.key_name(*operand),
            ExprKind::Binary { left, .. } => self.key_name(*left),
            _ => String::new(),
        }
    }
}
