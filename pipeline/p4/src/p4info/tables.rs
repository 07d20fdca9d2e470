//! Tables.

use super::objects;
use super::{Kind, NO_ACTION, Writer, has, name_of, without_pipe};
use crate::check::{Builtin, Callee};
use crate::elaborate::{Binding, TableId};
use crate::syntax;
use crate::syntax::ast::{Annotation, BinaryOp, DeclKind, ExprId, ExprKind, KeyElement, TableDecl};

/// The number of entries of a table that states none.
const DEFAULT_SIZE: u64 = 512;

impl Writer<'_> {
    pub(super) fn table(&mut self, id: TableId) {
        let (ast, pipe) = (self.ast, self.pipe);
        let table = &pipe.tables[id];
        let DeclKind::Table(decl) = &ast.decls[table.decl].kind else { return };
        self.out.open("tables");
        self.preamble(Kind::Table, &table.name);
        let elements = decl.key.iter().flat_map(|key| &key.elements);
        let matched = elements.filter(|element| ast.text(element.match_kind) != "selector");
        for (number, element) in (1_u32..).zip(matched) {
            self.match_field(id, number, element);
        }
        self.action_refs(id, decl);
        let default = decl.default_action.as_ref().filter(|default| default.is_const);
        if let Some(action) = default.and_then(|default| self.action_of(id, default.value)) {
            self.out.field("const_default_action_id", action);
        }
        for (_, object) in &table.objects {
            if objects::kind(ast, pipe, *object) == Some(Kind::ActionProfile)
                || objects::is_selector(ast, pipe, *object)
            {
                let profile = self.profile_of(*object);
                self.out.field(
                    "implementation_id",
                    self.ids.id(Kind::ActionProfile, &pipe.objects[profile].name),
                );
            }
        }
        for (kind, object) in objects::direct(ast, self.checked, pipe, id) {
            self.out.field("direct_resource_ids", self.ids.id(kind, &pipe.objects[object].name));
        }
        self.out.field("size", table.size.unwrap_or(DEFAULT_SIZE));
        if decl.properties.iter().any(|property| ast.text(property.name) == "idle_timeout") {
            self.out.field("idle_timeout_behavior", "NOTIFY_CONTROL");
        }
        match &decl.entries {
            Some(entries) if entries.is_const => {
                self.out.field("is_const_table", true);
                self.out.field("has_initial_entries", true);
            }
            Some(_) => self.out.field("has_initial_entries", true),
            None => {}
        }
        self.out.close();
    }

    fn match_field(&mut self, table: TableId, number: u32, element: &KeyElement) {
        let ast = self.ast;
        let own = name_of(ast, &element.annotations).map(str::to_owned);
        let name = own.unwrap_or_else(|| self.key_name(element.value));
        let block = self.pipe.tables[table].block;
        let ty = self.pipe.ty(ast, self.checked, block, element.value);
        self.out.open("match_fields");
        self.out.field("id", number);
        self.out.string("name", &name);
        self.bit_width(ty);
        match ast.text(element.match_kind) {
            "exact" => self.out.field("match_type", "EXACT"),
            "ternary" => self.out.field("match_type", "TERNARY"),
            "lpm" => self.out.field("match_type", "LPM"),
            "range" => self.out.field("match_type", "RANGE"),
            "optional" => self.out.field("match_type", "OPTIONAL"),
            other => self.out.string("other_match_type", other),
        }
        self.out.close();
    }

    /// Returns the name that a key without `@name` has.
    fn key_name(&self, value: ExprId) -> String {
        let ast = self.ast;
        match &ast.exprs[value].kind {
            ExprKind::Call { callee, .. } => {
                let is_validity = self.checked.calls.get(&value).map(|call| call.callee)
                    == Some(Callee::Builtin(Builtin::IsValid));
                match &ast.exprs[*callee].kind {
                    ExprKind::Member { base, .. } if is_validity => {
                        format!("{}.$valid$", syntax::expr_text(ast, *base))
                    }
                    _ => syntax::expr_text(ast, value),
                }
            }
            ExprKind::Binary { op: BinaryOp::BitAnd, left, right } => {
                let mask = self.checked.values.get(right).and_then(|mask| mask.as_int().cloned());
                let mask = mask.map_or_else(|| syntax::expr_text(ast, *right), |mask| mask.to_string());
                format!("{} & {mask}", self.key_name(*left))
            }
            _ => syntax::expr_text(ast, value),
        }
    }

    fn action_refs(&mut self, id: TableId, decl: &TableDecl) {
        let (ast, pipe) = (self.ast, self.pipe);
        let table = &pipe.tables[id];
        let listed = decl.actions.iter().flat_map(|actions| &actions.list);
        let annotated: Vec<(ExprId, &[Annotation])> =
            listed.map(|(expr, list)| (*expr, list.as_slice())).collect();
        for (action, expr) in &table.actions {
            let action = &pipe.actions[*action];
            if action.hidden {
                continue;
            }
            let list = annotated.iter().find(|(of, _)| of == expr).map_or(&[][..], |(_, list)| *list);
            self.out.open("action_refs");
            self.out.field("id", self.ids.id(Kind::Action, without_pipe(pipe, &action.name)));
            for (annotation, scope) in [("defaultonly", "DEFAULT_ONLY"), ("tableonly", "TABLE_ONLY")] {
                if has(ast, list, annotation) {
                    self.out.string("annotations", &format!("@{annotation}"));
                    self.out.field("scope", scope);
                }
            }
            self.out.close();
        }
        // The default action of a table that states none, or that is not in the list.
        let default = match &decl.default_action {
            Some(default) => self.action_of(id, default.value),
            None => Some(self.ids.id(Kind::Action, NO_ACTION)),
        };
        let in_list = |action: u32| {
            let mut ids = table.actions.iter().map(|(a, _)| without_pipe(pipe, &pipe.actions[*a].name));
            ids.any(|name| self.ids.id(Kind::Action, name) == action)
        };
        if let Some(action) = default.filter(|action| !in_list(*action)) {
            self.out.open("action_refs");
            self.out.field("id", action);
            self.out.string("annotations", "@defaultonly");
            self.out.field("scope", "DEFAULT_ONLY");
            self.out.close();
        }
    }

    /// Returns the id of the action that an expression names or calls in a table's control.
    fn action_of(&self, table: TableId, expr: ExprId) -> Option<u32> {
        let named = match &self.ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => *callee,
            _ => expr,
        };
        let block = self.pipe.tables[table].block;
        let Binding::Action(action) = self.pipe.instance(self.checked, block, named)? else { return None };
        let action = &self.pipe.actions[*action];
        (!action.hidden).then(|| self.ids.id(Kind::Action, without_pipe(self.pipe, &action.name)))
    }
}
