//! Tables: the lookup, and the action that it selects.

use crate::bits::Bits;
use crate::call::Bound;
use crate::control::{ActionCall, Then};
use crate::externs::hash::object_hash;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::elaborate::TableId;
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::{DeclId, DeclKind, Direction, ExprId, ExprKind, TableDecl};
use std::cmp::Reverse;

/// The result of a lookup: the number of the entry, and its effect.
enum Found {
    /// An entry of the control plane.
    Entry(usize, Then),
    /// An entry of the program, with the expression of its action.
    Constant(usize, ExprId),
}

/// An element of a key.
struct Key {
    value: Value,
    width: u32,
}

impl<'a> Run<'_, 'a> {
    /// Applies a table.
    pub(crate) fn apply_table(&mut self, table: TableId) -> Res<Value> {
        let decl = self.core.program.pipe.tables[table].decl;
        let DeclKind::Table(of) = &self.ast.decls[decl].kind else { return Ok(Value::Nothing) };
        let (keys, selector) = self.keys(of)?;
        let found = self.lookup(table, of, &keys)?;
        let before = self.applied.take();
        let result = self.run_found(table, of, found, &selector);
        self.applied = before;
        result
    }

    /// Evaluates the key; returns the bits that a selector's hash reads apart from the rest.
    fn keys(&mut self, of: &'a TableDecl) -> Res<(Vec<Key>, Bits)> {
        let (mut keys, mut selector) = (Vec::new(), Bits::default());
        for element in of.key.iter().flat_map(|key| &key.elements) {
            let value = self.value(element.value)?;
            let ty = self.ty(element.value);
            let at = self.span(element.value);
            if self.ast.text(element.match_kind) == "selector" {
                self.core.program.flatten(ty, &value, false, &mut selector, at)?;
                continue;
            }
            let width = self.core.program.range(ty).map_or(0, |range| range.width());
            keys.push(Key { value, width });
        }
        Ok((keys, selector))
    }

    /// Finds the entry with the longest prefix; then the one with the lowest priority; then the first.
    fn lookup(&mut self, table: TableId, of: &'a TableDecl, keys: &[Key]) -> Res<Option<Found>> {
        if keys.is_empty() {
            return Ok(None);
        }
        if let Some(entries) = &of.entries {
            let values: Vec<Value> = keys.iter().map(|key| key.value.clone()).collect();
            let mut best: Option<(u32, usize, ExprId)> = None;
            for (at, entry) in entries.list.iter().enumerate() {
                if !self.is_case(&entry.keys, &values)? {
                    continue;
                }
                let prefix = self.constant_prefix(of, &entry.keys, keys)?;
                if best.is_none_or(|(longest, ..)| prefix > longest) {
                    best = Some((prefix, at, entry.action));
                }
            }
            return Ok(best.map(|(_, at, action)| Found::Constant(at, action)));
        }
        let numbers: Vec<(BigInt, u32)> = keys
            .iter()
            .map(|key| key.value.as_number().map(|number| (number, key.width)))
            .collect::<Option<_>>()
            .ok_or_else(|| unsupported(Span::NONE, "this key of a table"))?;
        // Beside a ternary or range key, priorities decide.
        let ordered = self.is_ordered(of);
        let entries = self.core.control.tables.get(&table).map(|table| table.entries.as_slice());
        let matching = entries.unwrap_or_default().iter().enumerate().filter(|(_, entry)| {
            entry.keys.len() == numbers.len()
                && entry.keys.iter().zip(&numbers).all(|(one, (key, width))| one.fits(key, *width))
        });
        let best = matching.min_by_key(|(at, entry)| {
            let prefix = entry.keys.iter().map(crate::control::Match::prefix).max().unwrap_or(0);
            let prefix = if ordered { 0 } else { prefix };
            (Reverse(prefix), entry.priority, *at)
        });
        Ok(best.map(|(at, entry)| Found::Entry(at, entry.then.clone())))
    }

    /// Returns true if a table has a ternary or range key.
    fn is_ordered(&self, of: &TableDecl) -> bool {
        let mut elements = of.key.iter().flat_map(|key| &key.elements);
        elements.any(|element| matches!(self.ast.text(element.match_kind), "ternary" | "range"))
    }

    /// Returns the length of the prefix of an entry that the program states. Beside a ternary or range key, order decides.
    fn constant_prefix(&mut self, of: &'a TableDecl, parts: &'a [ExprId], keys: &[Key]) -> Res<u32> {
        if self.is_ordered(of) {
            return Ok(0);
        }
        let parts = match parts {
            [one] if keys.len() > 1 => match &self.ast.exprs[*one].kind {
                ExprKind::List(list) => list.as_slice(),
                _ => return Ok(0),
            },
            parts => parts,
        };
        let elements = of.key.iter().flat_map(|key| &key.elements);
        let mut longest = 0;
        for ((element, part), key) in elements.zip(parts).zip(keys) {
            if self.ast.text(element.match_kind) != "lpm" {
                continue;
            }
            longest = longest.max(match self.ast.exprs[*part].kind {
                ExprKind::Any | ExprKind::Default => 0,
                ExprKind::Mask { mask, .. } => {
                    let mask = self.value(mask)?.as_number().unwrap_or_default();
                    (0..key.width).filter(|bit| mask.bit((*bit).into())).count() as u32
                }
                _ => key.width,
            });
        }
        Ok(longest)
    }

    fn run_found(
        &mut self,
        table: TableId,
        of: &'a TableDecl,
        found: Option<Found>,
        selector: &Bits,
    ) -> Res<Value> {
        let hit = found.is_some();
        self.applied = Some((
            table,
            match &found {
                Some(Found::Entry(at, _) | Found::Constant(at, _)) => Some(*at),
                None => None,
            },
        ));
        let action = match found {
            None => self.run_default(table, of)?,
            Some(Found::Constant(_, action)) => self.run_named(table, action)?,
            Some(Found::Entry(_, Then::Call(call))) => self.run_call(table, &call)?,
            Some(Found::Entry(_, Then::Member(member))) => self.run_member(table, of, Some(member))?,
            Some(Found::Entry(_, Then::Group(group))) => {
                let member = self.pick(table, group, selector)?;
                self.run_member(table, of, member)?
            }
        };
        Ok(Value::Applied { hit, action })
    }

    /// Runs a member of the table's action profile; the default action, if there is no such member.
    fn run_member(&mut self, table: TableId, of: &'a TableDecl, member: Option<u32>) -> Res<Option<DeclId>> {
        let profile = self.core.profile_of(table);
        let call = profile.zip(member).and_then(|key| self.core.control.members.get(&key)).cloned();
        match call {
            Some(call) => self.run_call(table, &call),
            None => self.run_default(table, of),
        }
    }

    /// Returns the member of a group that the packet's hash selects.
    fn pick(&mut self, table: TableId, group: u32, selector: &Bits) -> Res<Option<u32>> {
        let program = &self.core.program;
        let of = &program.pipe.tables[table];
        let found = of.objects.iter().find(|&&(_, object)| program.unit(object) == "ActionSelector");
        let hash = found.and_then(|&(_, object)| program.made_with_object(object, "hash"));
        let at = self.ast.decls[of.decl].span;
        let Some(hash) = hash else { return Err(unsupported(at, "a group of a table without a selector")) };
        let hash = object_hash(&mut self.core.program, hash, selector)?;
        let member = self.outside.member(&of.name, group, hash);
        member.ok_or_else(|| unsupported(at, "the choice among the members of a group"))
    }

    fn run_default(&mut self, table: TableId, of: &'a TableDecl) -> Res<Option<DeclId>> {
        let set = self.core.control.tables.get(&table).and_then(|table| table.default.clone());
        match (set, &of.default_action) {
            (Some(call), _) => self.run_call(table, &call),
            (None, Some(property)) => self.run_named(table, property.value),
            (None, None) => Ok(None),
        }
    }

    /// Runs an action that the program names, with constant arguments.
    fn run_named(&mut self, table: TableId, expr: ExprId) -> Res<Option<DeclId>> {
        let callee = match self.ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => callee,
            _ => expr,
        };
        let Some(action) = self.core.program.checked.decl_of(callee) else {
            return Err(unsupported(self.span(expr), "this action"));
        };
        let call = self.core.program.checked.calls.get(&expr).cloned();
        let args = call.map(|call| call.args).unwrap_or_default();
        let mut bound = Vec::new();
        for (at, &param) in self.core.program.ast.params(action).iter().enumerate() {
            let given = args.get(at).copied().flatten();
            let arg = given.or_else(|| self.listed_arg(table, action, at));
            bound.push(self.bind_one(param, arg)?);
        }
        self.run_bound(action, bound)
    }

    /// Runs an action that the control plane names.
    fn run_call(&mut self, table: TableId, call: &ActionCall) -> Res<Option<DeclId>> {
        let action = self.core.program.pipe.actions[call.action].decl;
        let mut given = call.args.iter();
        let mut bound = Vec::new();
        for (at, &param) in self.core.program.ast.params(action).iter().enumerate() {
            if self.core.program.ast.direction(param) != Direction::None {
                let arg = self.listed_arg(table, action, at);
                bound.push(self.bind_one(param, arg)?);
                continue;
            }
            let ty = self.decl_ty(param);
            let value = match given.next() {
                Some(value) => self.converted(Value::Number(value.clone()), ty),
                None => {
                    return Err(unsupported(self.ast.decls[param].span, "an entry without this argument"));
                }
            };
            bound.push(Bound { param, value, back: None });
        }
        self.run_bound(action, bound)
    }

    /// Returns the argument that a table's list of actions gives a parameter with a direction.
    fn listed_arg(&self, table: TableId, action: DeclId, at: usize) -> Option<ExprId> {
        let program = &self.core.program;
        let listed = program.pipe.tables[table].actions.iter();
        let mut named = listed.filter(|(id, _)| program.pipe.actions[*id].decl == action);
        let (_, expr) = named.next()?;
        program.checked.calls.get(expr)?.args.get(at).copied().flatten()
    }

    fn run_bound(&mut self, action: DeclId, bound: Vec<Bound>) -> Res<Option<DeclId>> {
        match self.run_action(action, bound) {
            Ok(()) => Ok(Some(action)),
            Err(Stop::Return(_)) => Ok(Some(action)),
            Err(stop) => Err(stop),
        }
    }
}
