//! `#[stage_program]`: finds the root's method calls in a function.

use crate::data_plane;
use crate::doc;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, Expr, ExprMethodCall, FnArg, Ident, ItemFn, Local, Pat, Result, parse_quote_spanned};

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(item)?;
    let root = root_parameter(&function)?;
    Program { root }.visit_block_mut(&mut function.block);
    Ok(function.into_token_stream())
}

fn root_parameter(function: &ItemFn) -> Result<Ident> {
    const WANTED: &str =
        "the first parameter is the root that the program is declared on: `ig: &GressBuilder<'_>`";
    match function.sig.inputs.first() {
        Some(FnArg::Typed(typed)) => match &*typed.pat {
            Pat::Ident(pat) => Ok(pat.ident.clone()),
            other => Err(Error::new(other.span(), WANTED)),
        },
        _ => Err(Error::new(function.sig.ident.span(), WANTED)),
    }
}

struct Program {
    root: Ident,
}

impl Program {
    /// Returns the root at the head of a chain of method calls.
    fn head<'e>(&self, expr: &'e mut Expr) -> Option<&'e mut Expr> {
        match expr {
            Expr::Path(path) if path.path.is_ident(&self.root) => Some(expr),
            Expr::MethodCall(call) => self.head(&mut call.receiver),
            _ => None,
        }
    }

    /// Inserts the name for the declaration of a `let`.
    fn name(&self, pat: &Pat, value: &mut Expr, doc: &str) {
        match (pat, value) {
            (Pat::Type(typed), value) => self.name(&typed.pat, value, doc),
            (Pat::Ident(ident), value @ Expr::MethodCall(_)) => {
                let name = ident.ident.to_string();
                if let Some(head) = self.head(value) {
                    let root = &*head;
                    *head = parse_quote_spanned!(root.span()=> #root.named(#name, #doc));
                }
            }
            (Pat::Tuple(pats), Expr::Tuple(values)) => {
                for (pat, value) in pats.elems.iter().zip(values.elems.iter_mut()) {
                    self.name(pat, value, doc);
                }
            }
            _ => {}
        }
    }
}

impl VisitMut for Program {
    fn visit_local_mut(&mut self, local: &mut Local) {
        let doc = doc::text(&local.attrs);
        local.attrs.retain(|a| !a.path().is_ident("doc"));
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            self.name(&local.pat, &mut init.expr, &doc);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        if self.head(&mut call.receiver).is_none() {
            return visit_mut::visit_expr_method_call_mut(self, call);
        }
        for arg in &mut call.args {
            if let Expr::Closure(closure) = arg {
                let lowered = data_plane::lower(closure).unwrap_or_else(|e| {
                    let error = e.into_compile_error();
                    quote!(|_| { #error })
                });
                *arg = Expr::Verbatim(lowered);
            } else {
                self.visit_expr_mut(arg);
            }
        }
        self.visit_expr_mut(&mut call.receiver);
    }
}
