//! What a controller must know of a program: P4Runtime's `P4Info`, in text form.
//!
//! Names, ids and messages are those of p4c for Tofino with standard externs (`--p4runtime-force-std-externs`): the pipe's name is
//! left out, but counts in the hash of ids. What P4Runtime has no message for, such as random numbers, is left out.

mod ids;
mod objects;
mod tables;
mod text;
mod types;

use crate::check::Checked;
use crate::elaborate::{ActionId, Binding, Object, Pipe};
use crate::syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, Ast, DeclId, DeclKind};
use ids::{Ids, Kind};
use std::collections::BTreeSet;
use text::Text;

/// The action of a table that states no default action.
const NO_ACTION: &str = "NoAction";

/// Returns the `P4Info` message of an elaborated program as text. `architecture` is `tna` or `t2na`.
#[must_use]
pub fn print(ast: &Ast, checked: &mut Checked, pipe: &Pipe, architecture: &str) -> String {
    let ids = ids_of(ast, pipe);
    let mut writer = Writer { ast, checked, pipe, ids, out: Text::default(), named: BTreeSet::new() };
    writer.out.message("pkg_info", |text| text.string("arch", architecture));
    pipe.tables.keys().filter(|table| !pipe.tables[*table].hidden).for_each(|table| writer.table(table));
    let mut told = BTreeSet::new();
    for (id, action) in pipe.actions.iter().filter(|(_, action)| !action.hidden) {
        // Actions that share a name by `@name` are one to the control plane.
        if told.insert(action.name.as_str()) {
            writer.action(id);
        }
    }
    if !pipe.actions.values().any(|action| action.name == NO_ACTION) {
        writer.no_action();
    }
    writer.objects();
    writer.type_info();
    writer.out.finish()
}

/// Names all objects that the control plane sees, and gives them ids.
fn ids_of(ast: &Ast, pipe: &Pipe) -> Ids {
    let mut ids = Ids::default();
    for table in pipe.tables.values().filter(|table| !table.hidden) {
        ids.add(Kind::Table, &table.name);
    }
    for action in pipe.actions.values().filter(|action| !action.hidden) {
        ids.add(Kind::Action, without_pipe(pipe, &action.name));
    }
    ids.add(Kind::Action, NO_ACTION);
    for (id, object) in pipe.objects.iter().filter(|(_, object)| !object.hidden) {
        if let Some(kind) = objects::kind(ast, pipe, id) {
            ids.add(kind, &object.name);
        }
    }
    for set in pipe.value_sets.values() {
        ids.add(Kind::ValueSet, &set.name);
    }
    for decl in objects::controller_headers(ast) {
        ids.add(Kind::ControllerHeader, ast.text(ast.decls[decl].name));
    }
    ids.assign();
    ids
}

/// Returns a name without that of the pipe.
fn without_pipe<'n>(pipe: &Pipe, name: &'n str) -> &'n str {
    name.strip_prefix(&pipe.name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

struct Writer<'a> {
    ast: &'a Ast,
    checked: &'a mut Checked,
    pipe: &'a Pipe,
    ids: Ids,
    out: Text,
    /// Structs and new types that messages name.
    named: BTreeSet<DeclId>,
}

impl Writer<'_> {
    /// Writes the preamble of an object whose full name, with the pipe's, is `name`.
    fn preamble(&mut self, kind: Kind, name: &str) {
        let (id, alias) = (self.ids.id(kind, name), self.ids.alias(name).to_owned());
        let shown = without_pipe(self.pipe, name);
        self.out.message("preamble", |text| {
            text.field("id", id);
            text.string("name", shown);
            text.string("alias", &alias);
        });
    }

    fn action(&mut self, id: ActionId) {
        let action = &self.pipe.actions[id];
        let DeclKind::Action(decl) = &self.ast.decls[action.decl].kind else { return };
        let name = without_pipe(self.pipe, &action.name);
        self.out.open("actions");
        self.preamble(Kind::Action, name);
        let given = |param: &&DeclId| objects::is_given_by_entries(self.ast, **param);
        for (number, param) in (1..).zip(decl.params.iter().filter(given)) {
            let ty = self.checked.decl_types[*param];
            self.out.open("params");
            self.out.field("id", number);
            self.out.string("name", &own_name(self.ast, *param));
            self.bit_width(ty);
            self.out.close();
        }
        self.out.close();
    }

    /// Writes the action of tables that state none.
    fn no_action(&mut self) {
        let states_none = |decl: DeclId| matches!(&self.ast.decls[decl].kind, DeclKind::Table(of) if of.default_action.is_none());
        if self.pipe.tables.values().any(|table| states_none(table.decl)) {
            self.out.open("actions");
            self.preamble(Kind::Action, NO_ACTION);
            self.out.close();
        }
    }

    /// Returns a constructor's argument of an object.
    fn made_with<'o>(&self, object: &'o Object, name: &str) -> Option<&'o Binding> {
        let DeclKind::Constructor { params } = &self.ast.decls[object.constructor?].kind else { return None };
        let at = params.iter().position(|param| self.ast.text(self.ast.decls[*param].name) == name)?;
        object.args.get(at)?.as_ref()
    }

    fn number(&self, object: &Object, name: &str) -> Option<u32> {
        match self.made_with(object, name)? {
            Binding::Value(value) => value.as_u32(),
            _ => None,
        }
    }
}

/// Returns the name of `@name`, or the declaration's own.
fn own_name(ast: &Ast, decl: DeclId) -> String {
    let own = name_of(ast, &ast.decls[decl].annotations);
    own.unwrap_or_else(|| ast.text(ast.decls[decl].name)).to_owned()
}

/// Returns the text of `@name`.
fn name_of<'a>(ast: &'a Ast, annotations: &[Annotation]) -> Option<&'a str> {
    let annotation = annotations.iter().find(|annotation| ast.text(annotation.name) == "name")?;
    text_of(ast, annotation)
}

/// Returns the first argument of an annotation.
fn text_of<'a>(ast: &'a Ast, annotation: &Annotation) -> Option<&'a str> {
    let AnnotationBody::Args(args) = &annotation.body else { return None };
    match args.first()?.tokens.first()?.kind {
        AnnotationTokenKind::Text(text) | AnnotationTokenKind::Word(text) => Some(ast.names.text(text)),
        _ => None,
    }
}

/// Returns true if a list has an annotation.
fn has(ast: &Ast, annotations: &[Annotation], name: &str) -> bool {
    annotations.iter().any(|annotation| ast.text(annotation.name) == name)
}
