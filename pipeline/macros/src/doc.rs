//! Text of doc comments.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the doc comments among `attrs`, with lines joined by a space.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    attrs.iter().filter_map(line).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
}

fn line(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
