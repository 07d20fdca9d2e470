//! The tree as P4 text. The text parses to an equal tree, and has parentheses around every operator, so that it shows how the
//! parser understood a program.

mod decl;
mod expr;
mod stmt;

use super::ast::{
    Annotation, AnnotationArg, AnnotationBody, AnnotationToken, AnnotationTokenKind, Ast, DeclId, ExprId,
    IntLiteral, Name,
};
use std::fmt::Write;

/// Returns a program as text, a declaration, statement or property per line.
#[must_use]
pub fn print(ast: &Ast) -> String {
    let mut printer = Printer { ast, out: String::new(), indent: 0 };
    for &decl in &ast.top {
        printer.decl(decl);
    }
    printer.out
}

/// Returns a declaration as text, a declaration, statement or property per line.
#[must_use]
pub fn declaration(ast: &Ast, decl: DeclId) -> String {
    let mut printer = Printer { ast, out: String::new(), indent: 0 };
    printer.decl(decl);
    printer.out
}

/// Returns an expression as text.
#[must_use]
pub fn expr_text(ast: &Ast, expr: ExprId) -> String {
    Printer { ast, out: String::new(), indent: 0 }.expr(expr)
}

struct Printer<'a> {
    ast: &'a Ast,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 4 * self.indent);
    }

    /// Prints `head {`, the lines of `body`, and the closing brace with `tail` after it.
    fn braces(&mut self, head: &str, tail: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head}{{"));
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line(&format!("}}{tail}"));
    }

    fn text(&self, name: Name) -> &str {
        self.ast.text(name)
    }

    fn name_of(&self, decl: DeclId) -> &str {
        self.text(self.ast.decls[decl].name)
    }

    fn annotations(&self, list: &[Annotation]) -> String {
        list.iter().map(|annotation| self.annotation(annotation)).collect()
    }

    fn annotation(&self, annotation: &Annotation) -> String {
        let name = self.text(annotation.name);
        let body = match &annotation.body {
            AnnotationBody::None if annotation.pragma => return format!("@pragma {name}\n"),
            AnnotationBody::None => String::new(),
            AnnotationBody::Args(args) => {
                let blank = if annotation.pragma { "" } else { " " };
                let args: Vec<String> = args.iter().map(|arg| self.annotation_arg(arg, blank)).collect();
                if annotation.pragma {
                    return format!("@pragma {name} {}\n", args.join(" "));
                }
                format!("({})", args.join(", "))
            }
            AnnotationBody::Exprs(list) => format!("[{}]", self.exprs(list)),
            AnnotationBody::Pairs(pairs) => format!("[{}]", self.pairs(pairs)),
        };
        format!("@{name}{body} ")
    }

    fn annotation_arg(&self, arg: &AnnotationArg, blank: &str) -> String {
        let token = |token: &AnnotationToken| match &token.kind {
            AnnotationTokenKind::Word(word) => self.ast.names.text(*word).to_owned(),
            AnnotationTokenKind::Int(literal) => int(literal),
            AnnotationTokenKind::Text(text) => quoted(self.ast.names.text(*text)),
            AnnotationTokenKind::Punct(punct) => (*punct).to_owned(),
        };
        let tokens: Vec<String> = arg.tokens.iter().map(token).collect();
        tokens.join(blank)
    }
}

fn int(literal: &IntLiteral) -> String {
    let value = &literal.value;
    let digits = if value.bits() > 64 { format!("{value:#x}") } else { value.to_string() };
    match literal.width {
        Some(width) => format!("{}{}{digits}", width.bits, if width.signed { 's' } else { 'w' }),
        None => digits,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
