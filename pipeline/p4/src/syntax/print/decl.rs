//! Printing of declarations.

use super::Printer;
use crate::syntax::ast::{
    ControlDecl, Decl, DeclId, DeclKind, Direction, ExternDecl, FieldsDecl, FunctionDecl, Instance,
    ParamDecl, ParserDecl, Property, TableDecl,
};

impl Printer<'_> {
    pub(super) fn decl(&mut self, id: DeclId) {
        let ast = self.ast;
        let decl = &ast.decls[id];
        let (head, name) = (self.annotations(&decl.annotations), self.text(decl.name).to_owned());
        match &decl.kind {
            DeclKind::Invalid => self.line(&format!("{head}invalid {name};")),
            DeclKind::Const { of, value } => {
                let text = format!("{head}const {} {name} = {};", self.ty(*of), self.expr(*value));
                self.line(&text);
            }
            DeclKind::Typedef { of } => self.line(&format!("{head}typedef {} {name};", self.ty(*of))),
            DeclKind::Newtype { of } => self.line(&format!("{head}type {} {name};", self.ty(*of))),
            DeclKind::Enum(data) => {
                let of = data.of.map_or_else(String::new, |of| format!("{} ", self.ty(of)));
                self.members(&format!("{head}enum {of}{name} "), &data.members);
            }
            DeclKind::Error { members } => self.members(&format!("{head}error "), members),
            DeclKind::MatchKind { members } => self.members(&format!("{head}match_kind "), members),
            DeclKind::Header(fields) => self.fields(&format!("{head}header {name}"), fields),
            DeclKind::Struct(fields) => self.fields(&format!("{head}struct {name}"), fields),
            DeclKind::Field { of } => self.line(&format!("{head}{} {name};", self.ty(*of))),
            DeclKind::Extern(data) => self.external(&format!("{head}extern {name}"), data),
            DeclKind::Function(data) => {
                let word = if decl.parent.is_none() && data.body.is_none() { "extern " } else { "" };
                self.function(&format!("{head}{word}"), &name, data);
            }
            DeclKind::Constructor { params } => self.line(&format!("{head}{name}({});", self.params(params))),
            DeclKind::Parser(data) => self.parser(&format!("{head}parser {name}"), data),
            DeclKind::Control(data) => self.control(&format!("{head}control {name}"), data),
            DeclKind::Package(data) => {
                let params =
                    format!("{}({})", self.type_params(&data.type_params), self.params(&data.params));
                self.line(&format!("{head}package {name}{params};"));
            }
            DeclKind::Instance(data) => self.instance(&head, &name, data),
            DeclKind::Variable { of, value } => {
                let value = value.map_or_else(String::new, |value| format!(" = {}", self.expr(value)));
                self.line(&format!("{head}{} {name}{value};", self.ty(*of)));
            }
            DeclKind::ValueSet { of, size } => {
                let text = format!("{head}value_set<{}>({}) {name};", self.ty(*of), self.expr(*size));
                self.line(&text);
            }
            DeclKind::Action(data) => {
                let text = format!("{head}action {name}({}) ", self.params(&data.params));
                self.block(&text, &data.body);
            }
            DeclKind::Table(data) => self.table(&format!("{head}table {name} "), data),
            DeclKind::State(data) => self.state(&format!("{head}state {name} "), data),
            DeclKind::Member { .. } | DeclKind::Param(_) | DeclKind::TypeParam => {}
        }
    }

    fn members(&mut self, head: &str, members: &[DeclId]) {
        let ast = self.ast;
        self.braces(head, "", |printer| {
            for &member in members {
                let Decl { annotations, kind, .. } = &ast.decls[member];
                let value = match kind {
                    DeclKind::Member { value: Some(value) } => format!(" = {}", printer.expr(*value)),
                    _ => String::new(),
                };
                let annotations = printer.annotations(annotations);
                printer.line(&format!("{annotations}{}{value},", printer.name_of(member)));
            }
        });
    }

    fn fields(&mut self, head: &str, data: &FieldsDecl) {
        let head = format!("{head}{} ", self.type_params(&data.type_params));
        self.braces(&head, "", |printer| data.fields.iter().for_each(|&field| printer.decl(field)));
    }

    fn external(&mut self, head: &str, data: &ExternDecl) {
        let head = format!("{head}{} ", self.type_params(&data.type_params));
        self.braces(&head, "", |printer| {
            data.constructors.iter().chain(&data.methods).for_each(|&method| printer.decl(method));
        });
    }

    fn function(&mut self, head: &str, name: &str, data: &FunctionDecl) {
        let word = if data.is_abstract { "abstract " } else { "" };
        let params = format!("{}({})", self.type_params(&data.type_params), self.params(&data.params));
        let text = format!("{head}{word}{} {name}{params}", self.ty(data.result));
        match &data.body {
            Some(body) => self.block(&format!("{text} "), body),
            None => self.line(&format!("{text};")),
        }
    }

    fn instance(&mut self, head: &str, name: &str, data: &Instance) {
        let text = format!("{head}{}({}) {name}", self.ty(data.of), self.args(&data.args));
        match &data.initializer {
            Some(list) => self.braces(&format!("{text} = "), ";", |printer| {
                list.iter().for_each(|&decl| printer.decl(decl));
            }),
            None => self.line(&format!("{text};")),
        }
    }

    fn parser(&mut self, head: &str, data: &ParserDecl) {
        let head = format!("{head}{}({})", self.type_params(&data.type_params), self.params(&data.params));
        if !data.has_body {
            return self.line(&format!("{head};"));
        }
        let head = format!("{head}{} ", self.constructor_params(&data.constructor_params));
        self.braces(&head, "", |printer| {
            data.locals.iter().chain(&data.states).for_each(|&decl| printer.decl(decl));
        });
    }

    fn control(&mut self, head: &str, data: &ControlDecl) {
        let head = format!("{head}{}({})", self.type_params(&data.type_params), self.params(&data.params));
        let Some(apply) = &data.apply else { return self.line(&format!("{head};")) };
        let head = format!("{head}{} ", self.constructor_params(&data.constructor_params));
        self.braces(&head, "", |printer| {
            data.locals.iter().for_each(|&decl| printer.decl(decl));
            printer.block("apply ", apply);
        });
    }

    fn table(&mut self, head: &str, table: &TableDecl) {
        self.braces(head, "", |printer| {
            if let Some(key) = &table.key {
                printer.braces("key = ", "", |printer| {
                    for element in &key.elements {
                        let annotations = printer.annotations(&element.annotations);
                        let (value, kind) = (printer.expr(element.value), printer.text(element.match_kind));
                        let text = format!("{value} : {kind} {annotations}");
                        printer.line(&format!("{};", text.trim_end()));
                    }
                });
            }
            if let Some(actions) = &table.actions {
                printer.braces("actions = ", "", |printer| {
                    for (action, annotations) in &actions.list {
                        let text = format!("{}{};", printer.annotations(annotations), printer.expr(*action));
                        printer.line(&text);
                    }
                });
            }
            let properties = table.default_action.iter().chain(&table.size).chain(&table.properties);
            properties.for_each(|property| printer.property(property));
            if let Some(entries) = &table.entries {
                let word = if entries.is_const { "const " } else { "" };
                printer.braces(&format!("{word}entries = "), "", |printer| {
                    for entry in &entries.list {
                        let annotations = printer.annotations(&entry.annotations);
                        let text = format!(
                            "{annotations}{}: {};",
                            printer.keys(&entry.keys),
                            printer.expr(entry.action)
                        );
                        printer.line(&text);
                    }
                });
            }
        });
    }

    fn property(&mut self, property: &Property) {
        let word = if property.is_const { "const " } else { "" };
        let annotations = self.annotations(&property.annotations);
        let text =
            format!("{annotations}{word}{} = {};", self.text(property.name), self.expr(property.value));
        self.line(&text);
    }

    fn type_params(&self, list: &[DeclId]) -> String {
        if list.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = list.iter().map(|&param| self.name_of(param)).collect();
        format!("<{}>", names.join(", "))
    }

    fn constructor_params(&self, list: &[DeclId]) -> String {
        if list.is_empty() { String::new() } else { format!("({})", self.params(list)) }
    }

    fn params(&self, list: &[DeclId]) -> String {
        let texts: Vec<String> = list.iter().map(|&param| self.param(param)).collect();
        texts.join(", ")
    }

    fn param(&self, param: DeclId) -> String {
        let Decl { annotations, kind, .. } = &self.ast.decls[param];
        let DeclKind::Param(ParamDecl { direction, of, default }) = kind else { return String::new() };
        let direction = match direction {
            Direction::None => "",
            Direction::In => "in ",
            Direction::Out => "out ",
            Direction::InOut => "inout ",
        };
        let default = default.map_or_else(String::new, |value| format!(" = {}", self.expr(value)));
        let annotations = self.annotations(annotations);
        format!("{annotations}{direction}{} {}{default}", self.ty(*of), self.name_of(param))
    }
}
