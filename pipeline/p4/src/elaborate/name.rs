//! Names of instances, as the control plane knows them.

use crate::syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, Ast, DeclId};

/// Returns the full name of a declaration inside `path`: its own name or that of `@name`. A name that begins with a dot stands alone.
pub(super) fn full_name(ast: &Ast, path: &str, decl: DeclId) -> String {
    let own = annotation(ast, decl, "name").and_then(|annotation| text_of(ast, annotation));
    match own {
        Some(name) if name.starts_with('.') => name[1..].to_owned(),
        Some(name) => join(path, name),
        None => join(path, ast.text(ast.decls[decl].name)),
    }
}

/// Returns a path with one more part.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns true if a declaration is `@hidden`.
pub(super) fn is_hidden(ast: &Ast, decl: DeclId) -> bool {
    annotation(ast, decl, "hidden").is_some()
}

fn annotation<'a>(ast: &'a Ast, decl: DeclId, name: &str) -> Option<&'a Annotation> {
    ast.decls[decl].annotations.iter().find(|annotation| ast.text(annotation.name) == name)
}

fn text_of<'a>(ast: &'a Ast, annotation: &Annotation) -> Option<&'a str> {
    let AnnotationBody::Args(args) = &annotation.body else { return None };
    match args.first()?.tokens.first()?.kind {
        AnnotationTokenKind::Text(text) | AnnotationTokenKind::Word(text) => Some(ast.names.text(text)),
        _ => None,
    }
}
