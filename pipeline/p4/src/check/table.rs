//! Tables: keys, actions, default actions and entries.

use super::Checker;
use super::conversion::Role;
use super::suggestion::nearest;
use super::tables::{Call, Callee, Resolution};
use super::ty::{Ty, TyKind};
use super::type_use::{counted, word};
use super::value::Value;
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Actions, Arg, DeclId, DeclKind, Entries, ExprId, ExprKind, Key, Name, Property, TableDecl,
};

/// Where an action of a table is named, which decides which arguments it needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionUse {
    /// In `actions`: arguments for parameters with a direction; the control plane gives the others.
    Listed,
    /// In an entry or as default action: arguments for all parameters, or for those without a direction.
    Complete,
}

impl Checker<'_> {
    pub(super) fn table(&mut self, id: DeclId, table: &TableDecl) -> Ty {
        let types = table.key.as_ref().map_or_else(Vec::new, |key| self.table_key(key));
        if let Some(actions) = &table.actions {
            self.listed_actions(id, actions);
        } else {
            let name = self.ast.decls[id].name;
            let message = format!("table `{}` has no actions", self.ast.text(name));
            self.report(Diagnostic::error(Class::Type, name.span, message).help("add `actions = { ...; }`"));
        }
        if let Some(size) = &table.size {
            self.size_property(size);
        }
        if let Some(default) = &table.default_action {
            self.default_action(id, default);
        }
        if let Some(entries) = &table.entries {
            self.entries_of(id, table, entries, &types);
        }
        for property in &table.properties {
            self.property(property);
        }
        self.out.types.make(TyKind::Table(id))
    }

    fn size_property(&mut self, size: &Property) {
        self.value(size.value);
        // A parameter of the control's constructor has its value in each instance.
        if self.out.values.contains_key(&size.value) || !self.is_static(size.value) {
            self.count(size.value, "the size of a table", 1..=u32::MAX);
        }
    }

    fn table_key(&mut self, key: &Key) -> Vec<Ty> {
        key.elements
            .iter()
            .map(|element| {
                let ty = self.value(element.value);
                self.match_kind(element.match_kind);
                let good = matches!(
                    self.out.types.kind(self.base_of(ty)),
                    TyKind::Bits(_)
                        | TyKind::Signed(_)
                        | TyKind::Bool
                        | TyKind::Enum(_)
                        | TyKind::Error
                        | TyKind::Varbit(_)
                        | TyKind::Unknown
                        | TyKind::Param(_)
                        | TyKind::Any
                );
                if !good {
                    let message = format!("{} cannot be a key of a table", self.describe(ty));
                    let at = self.ast.exprs[element.value].span;
                    self.report(
                        Diagnostic::error(Class::Type, at, message)
                            .help("use its fields, or `.isValid()` of a header"),
                    );
                }
                ty
            })
            .collect()
    }

    fn match_kind(&mut self, name: Name) {
        if self.match_kinds.contains_key(&name.symbol) {
            return;
        }
        let text = self.ast.text(name);
        let mut names: Vec<&str> = self.match_kinds.values().map(|&kind| self.name(kind)).collect();
        names.sort_unstable();
        let help = match nearest(text, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("match kinds are {}", names.join(", ")),
        };
        let message = format!("there is no match kind `{text}`");
        self.report(Diagnostic::error(Class::Name, name.span, message).help(help));
    }

    fn listed_actions(&mut self, table: DeclId, actions: &Actions) {
        let mut seen = Vec::new();
        for (action, annotations) in &actions.list {
            self.annotation_list(annotations);
            let Some(decl) = self.action_use(*action, ActionUse::Listed) else { continue };
            if seen.contains(&decl) {
                let at = self.ast.exprs[*action].span;
                let message = format!("table `{}` has action `{}` twice", self.name(table), self.name(decl));
                self.report(Diagnostic::error(Class::Name, at, message).help("remove one of the two"));
            }
            seen.push(decl);
        }
    }

    /// Checks the name or call of an action in a table, and returns the action.
    fn action_use(&mut self, expr: ExprId, wanted: ActionUse) -> Option<DeclId> {
        let ast = self.ast;
        let (callee, args): (ExprId, &[Arg]) = match &ast.exprs[expr].kind {
            ExprKind::Call { callee, args, .. } => (*callee, args),
            ExprKind::Error => return None,
            _ => (expr, &[]),
        };
        self.arguments(args);
        let ExprKind::Name { name, global } = ast.exprs[callee].kind else {
            let at = ast.exprs[callee].span;
            self.report(
                Diagnostic::error(Class::Type, at, "this is no action")
                    .help("name an action, with arguments in parentheses"),
            );
            return None;
        };
        let Some(&decl) = self.scopes.find(name.symbol, global).last() else {
            self.unknown_name(name, "action");
            return None;
        };
        match &ast.decls[decl].kind {
            DeclKind::Action(_) => {}
            DeclKind::Invalid => return None,
            other => {
                let message = format!("`{}` is {}, not an action", ast.text(name), word(other));
                let place = ast.decls[decl].name.span;
                self.report(Diagnostic::error(Class::Name, name.span, message).also(place, "declared here"));
                return None;
            }
        }
        self.out.resolutions[callee] = Some(Resolution::Decl(decl));
        self.out.expr_types[callee] = self.out.decl_types[decl];
        self.bind_action((expr, decl), name, args, wanted);
        Some(decl)
    }

    /// Checks the arguments of an action in a table. A call has one entry per parameter of the action in the tables.
    fn bind_action(&mut self, (expr, decl): (ExprId, DeclId), name: Name, args: &[Arg], wanted: ActionUse) {
        let (bound, free) = self.action_params(decl);
        let all = self.ast.params(decl);
        let params = match wanted {
            ActionUse::Listed => bound,
            ActionUse::Complete if args.len() == all.len() => all.to_vec(),
            ActionUse::Complete => free,
        };
        let what = format!("action `{}`", self.ast.text(name));
        let order = match self.arrange(&params, args) {
            Ok(order) => order,
            Err(super::arguments::Misfit::TooMany(at)) if wanted == ActionUse::Listed => {
                let message = format!("an argument is given to a parameter of {what} without direction");
                self.report(
                    Diagnostic::error(Class::Type, at, message)
                        .help("the control plane gives these parameters; leave the argument out"),
                );
                return;
            }
            Err(misfit) => {
                self.misfit(name.span, &what, &params, args.len(), misfit);
                return;
            }
        };
        let mut values = vec![None; all.len()];
        for (&param, index) in params.iter().zip(order) {
            let Some(index) = index else { continue };
            let value = args[index].value;
            let ty = self.out.decl_types[param];
            let at = all.iter().position(|&other| other == param).unwrap_or(0);
            values[at] = Some(value);
            self.bound_argument(param, value, ty, wanted);
        }
        self.out
            .calls
            .insert(expr, Call { callee: Callee::Action(decl), type_args: Vec::new(), args: values });
    }

    fn bound_argument(&mut self, param: DeclId, value: ExprId, ty: Ty, wanted: ActionUse) {
        use crate::syntax::ast::Direction;
        let direction = self.ast.direction(param);
        let good = self.require(value, ty, Role::Argument(param));
        if matches!(direction, Direction::Out | Direction::InOut) {
            self.writable(value, "passed to an `out` parameter");
        } else if good
            && wanted == ActionUse::Complete
            && direction == Direction::None
            && !self.is_static(value)
        {
            self.not_constant(value, &format!("the argument for parameter `{}`", self.name(param)));
        }
    }

    fn default_action(&mut self, table: DeclId, property: &Property) {
        self.annotation_list(&property.annotations);
        let Some(action) = self.action_use(property.value, ActionUse::Complete) else { return };
        self.in_list(table, action, self.ast.exprs[property.value].span);
    }

    /// Reports an action that a table does not list.
    fn in_list(&mut self, table: DeclId, action: DeclId, at: Span) {
        let actions = self.table_actions(table);
        if actions.contains(&action) {
            return;
        }
        let DeclKind::Table(decl) = &self.ast.decls[table].kind else { return };
        let Some(list) = &decl.actions else { return };
        let text = self.name(action);
        let message = format!("action `{text}` is not among the actions of table `{}`", self.name(table));
        self.report(
            Diagnostic::error(Class::Name, at, message)
                .also(list.span, "the table's actions")
                .help(format!("add `@defaultonly {text};` or `{text};` to `actions`")),
        );
    }

    fn entries_of(&mut self, id: DeclId, table: &TableDecl, entries: &Entries, types: &[Ty]) {
        let values: Vec<ExprId> =
            table.key.iter().flat_map(|key| &key.elements).map(|element| element.value).collect();
        if values.is_empty() && !entries.list.is_empty() {
            let message = format!("table `{}` has entries and no key", self.name(id));
            self.report(Diagnostic::error(Class::Type, entries.span, message).help("use `default_action`"));
            return;
        }
        for entry in &entries.list {
            self.annotation_list(&entry.annotations);
            self.keys(&entry.keys, &values, types, entry.span);
            let Some(action) = self.action_use(entry.action, ActionUse::Complete) else { continue };
            self.in_list(id, action, self.ast.exprs[entry.action].span);
        }
        let size =
            table.size.as_ref().and_then(|size| self.out.values.get(&size.value)).and_then(Value::as_u32);
        if size.is_some_and(|size| (size as usize) < entries.list.len()) {
            let message = format!(
                "table `{}` has {}, and a size of {}",
                self.name(id),
                counted(entries.list.len(), "entry").replace("entrys", "entries"),
                size.unwrap_or(0)
            );
            self.report(
                Diagnostic::warning(Class::Constant, entries.span, message)
                    .help("a table with fixed entries needs no `size`"),
            );
        }
    }
}
