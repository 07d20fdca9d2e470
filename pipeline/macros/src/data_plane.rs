//! Data-plane closures: Rust's operators and statements become calls that record them.
//!
//! Every generated token has the place of the author's token that it replaces, so that rustc's errors and
//! `#[track_caller]` places point at the author's code.

use crate::rows::Table;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Arm, BinOp, Block, Error, Expr, ExprBinary, ExprClosure, ExprForLoop, ExprIf, ExprMatch, Ident, Pat,
    Result, Stmt, UnOp,
};

/// Rewrites a closure `|c| ..` or `|a, port: Arg<9>| ..`.
pub(crate) fn lower(closure: &ExprClosure) -> Result<TokenStream> {
    let Some(first) = closure.inputs.first() else {
        return Err(Error::new(
            closure.span(),
            "data-plane code needs its context as first parameter: `|c| ..`",
        ));
    };
    let context = match first {
        Pat::Ident(pat) => &pat.ident,
        Pat::Type(typed) => match &*typed.pat {
            Pat::Ident(pat) => &pat.ident,
            other => {
                return Err(Error::new(
                    other.span(),
                    "the first parameter of a data-plane closure must be a plain name: `|c| ..`",
                ));
            }
        },
        other => {
            return Err(Error::new(
                other.span(),
                "the first parameter of a data-plane closure must be a plain name: `|c| ..`",
            ));
        }
    };
    let args = closure.inputs.iter().skip(1).map(|input| match input {
        Pat::Type(typed) => {
            let (pat, ty) = (&typed.pat, &typed.ty);
            let name = quote!(#pat).to_string();
            Ok(quote_spanned!(input.span()=> let #pat: #ty = #context.arg(#name);))
        }
        other => Err(Error::new(other.span(), "an action parameter needs its width: `port: Arg<9>`")),
    });
    let args = args.collect::<Result<TokenStream>>()?;
    let body = Rewriter { context }.body(&closure.body);
    Ok(quote!(|#first| { #args #body }))
}

/// Returns a path into the builder crate; all its tokens have the place `span`.
fn build(name: &str, span: Span) -> TokenStream {
    let name = Ident::new(name, span);
    quote_spanned!(span=> sluice_build::#name)
}

fn refuse(span: Span, why: &str) -> TokenStream {
    Error::new(span, why).into_compile_error()
}

/// Every nested closure mentions its context, so that rustc does not report the context of an empty block as unused.
struct Rewriter<'a> {
    /// Identifier of the context, in which statements are recorded.
    context: &'a Ident,
}

impl Rewriter<'_> {
    /// Rewrites the body of a closure or arm, with or without braces.
    fn body(&self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Block(block) => self.block(&block.block),
            Expr::Tuple(unit) if unit.elems.is_empty() => quote!(),
            other => {
                let step = self.step(other);
                quote!(#step;)
            }
        }
    }

    fn block(&self, block: &Block) -> TokenStream {
        block.stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: &Stmt) -> TokenStream {
        match stmt {
            Stmt::Expr(expr, _) => {
                let step = self.step(expr);
                quote!(#step;)
            }
            Stmt::Local(local) => refuse(
                local.span(),
                "no `let` in data-plane code: it would be a second name for the field, not a copy of its value; \
                 use a metadata field, or compute Rust values outside the closure",
            ),
            Stmt::Macro(call) if call.mac.path.is_ident("rows") => self.rows(call.mac.tokens.clone()),
            Stmt::Item(_) | Stmt::Macro(_) => quote!(#stmt),
        }
    }

    fn step(&self, expr: &Expr) -> TokenStream {
        let c = self.context;
        match expr {
            Expr::Assign(assign) => {
                let (place, value) = (&assign.left, self.value(&assign.right));
                quote_spanned!(place.span()=> #c.set(#place, #value))
            }
            Expr::Binary(binary) => self.compound(binary),
            Expr::If(branch) => self.branch(branch),
            Expr::Match(switch) => self.switch(switch),
            Expr::ForLoop(ExprForLoop { pat, expr, body, .. }) => {
                let body = self.block(body);
                quote!(for #pat in #expr { #body })
            }
            Expr::Block(block) => {
                let inner = self.block(&block.block);
                quote!({ #inner })
            }
            Expr::Paren(paren) => self.step(&paren.expr),
            Expr::Call(_) | Expr::MethodCall(_) if self.mentions_context(expr) => quote!(#expr),
            Expr::Call(_) | Expr::MethodCall(_) => quote_spanned!(expr.span()=> #c.run(#expr)),
            Expr::Macro(_) => quote!(#expr),
            other => refuse(
                other.span(),
                "not a data-plane statement: expected an assignment, `if`, `match`, `for`, or a call such as \
                 `table.apply()`",
            ),
        }
    }

    /// Returns true if the call is on or with the context. Such a call is plain Rust, because it already
    /// records a statement.
    fn mentions_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.is_ident(self.context),
            Expr::MethodCall(call) => {
                self.mentions_context(&call.receiver) || call.args.iter().any(|a| self.mentions_context(a))
            }
            Expr::Call(call) => call.args.iter().any(|a| self.mentions_context(a)),
            Expr::Reference(reference) => self.mentions_context(&reference.expr),
            _ => false,
        }
    }

    /// Rewrites `x += y` and similar assignments.
    fn compound(&self, binary: &ExprBinary) -> TokenStream {
        let op = match binary.op {
            BinOp::AddAssign(_) => quote_spanned!(binary.op.span()=> +),
            BinOp::SubAssign(_) => quote_spanned!(binary.op.span()=> -),
            BinOp::BitAndAssign(_) => quote_spanned!(binary.op.span()=> &),
            BinOp::BitOrAssign(_) => quote_spanned!(binary.op.span()=> |),
            BinOp::BitXorAssign(_) => quote_spanned!(binary.op.span()=> ^),
            BinOp::ShlAssign(_) => quote_spanned!(binary.op.span()=> <<),
            BinOp::ShrAssign(_) => quote_spanned!(binary.op.span()=> >>),
            _ => return refuse(binary.span(), "this value is not used; assign it to a field"),
        };
        let (c, place, value) = (self.context, &binary.left, self.value(&binary.right));
        quote_spanned!(place.span()=> #c.set(#place, #place #op (#value)))
    }

    fn branch(&self, branch: &ExprIf) -> TokenStream {
        let c = self.context;
        let (test, then) = (self.value(&branch.cond), self.block(&branch.then_branch));
        let otherwise = branch.else_branch.as_ref().map(|(_, expr)| {
            let body = self.body(expr);
            quote!(.else_(|#c| { let _ = &*#c; #body }))
        });
        quote_spanned!(branch.if_token.span=> #c.if_(#test, |#c| { let _ = &*#c; #then })#otherwise)
    }

    fn switch(&self, switch: &ExprMatch) -> TokenStream {
        if let Some(arm) = switch.arms.iter().find(|a| a.guard.is_some()) {
            return refuse(arm.pat.span(), "no guards in data-plane code: put an `if` inside the arm");
        }
        match &*switch.expr {
            Expr::MethodCall(call) if call.method == "action_run" => {
                self.action_run(&switch.expr, &switch.arms)
            }
            on => self.cases(on, &switch.arms),
        }
    }

    /// Rewrites `match table.apply().action_run() { set_port => .., _ => {} }`.
    fn action_run(&self, on: &Expr, arms: &[Arm]) -> TokenStream {
        let c = self.context;
        let cases = arms.iter().map(|arm| match &arm.pat {
            Pat::Wild(_) if matches!(&*arm.body, Expr::Block(b) if b.block.stmts.is_empty()) => quote!(),
            Pat::Wild(wild) => refuse(
                wild.span(),
                "`_` in a match on `action_run()` must be empty: name the actions, one per arm",
            ),
            Pat::Or(or) => refuse(or.span(), "one action per arm in a match on `action_run()`"),
            pat => {
                let body = self.body(&arm.body);
                quote_spanned!(pat.span()=> .case(#pat, |#c| { let _ = &*#c; #body }))
            }
        });
        quote_spanned!(on.span()=> #c.switch(#on) #(#cases)*)
    }

    /// Rewrites `match field { A => .., B | C => .., _ => .. }` to nested branches.
    fn cases(&self, on: &Expr, arms: &[Arm]) -> TokenStream {
        let c = self.context;
        let Some((arm, rest)) = arms.split_first() else { return quote!({}) };
        let body = self.body(&arm.body);
        let pats: Vec<&Pat> = match &arm.pat {
            Pat::Wild(_) => return quote!({ #body }),
            Pat::Or(or) => or.cases.iter().collect(),
            pat => vec![pat],
        };
        let mut test = quote!();
        for pat in pats {
            if !matches!(pat, Pat::Lit(_) | Pat::Path(_) | Pat::Ident(_)) {
                return refuse(pat.span(), "arms of a match on a field are integers, constants, `|` and `_`");
            }
            let (eq, or) = (build("eq", pat.span()), build("or", pat.span()));
            let one = quote_spanned!(pat.span()=> #eq(#on, #pat));
            test = if test.is_empty() { one } else { quote_spanned!(pat.span()=> #or(#test, #one)) };
        }
        let otherwise = (!rest.is_empty()).then(|| {
            let rest = self.cases(on, rest);
            quote!(.else_(|#c| { let _ = &*#c; #rest; }))
        });
        quote_spanned!(arm.pat.span()=> #c.if_(#test, |#c| { let _ = &*#c; #body })#otherwise)
    }

    /// `rows! { (a, b); x == 1 => (1, 2); _ => (0, _); }`
    fn rows(&self, tokens: TokenStream) -> TokenStream {
        let table = match syn::parse2::<Table>(tokens) {
            Ok(table) => table,
            Err(error) => return error.into_compile_error(),
        };
        let c = self.context;
        let rows = Ident::new("rows", Span::mixed_site());
        let lines = table.rows.iter().map(|row| {
            let cells = table.places.iter().zip(&row.cells).map(|(place, cell)| {
                let cell = self.cell(place, cell);
                quote!(.cell(|#c| { let _ = &*#c; #cell }))
            });
            let span = row.when.span();
            let row = match &row.when {
                Expr::Infer(_) => quote_spanned!(span=> #rows.otherwise()),
                when => {
                    let when = self.value(when);
                    quote_spanned!(span=> #rows.row(#when))
                }
            };
            quote!(#row #(#cells)*;)
        });
        quote!(#c.rows(|#rows| { #(#lines)* });)
    }

    /// A cell of a row: an assignment to its column's place, or a step if the column has none.
    fn cell(&self, place: &Expr, cell: &Expr) -> TokenStream {
        let c = self.context;
        match (place, cell) {
            (_, Expr::Infer(_)) => quote!(),
            (Expr::Infer(_), step) => {
                let step = self.step(step);
                quote!(#step;)
            }
            (place, value) => {
                let (span, value) = (value.span(), self.value(value));
                quote_spanned!(span=> #c.set(#place, #value);)
            }
        }
    }

    fn value(&self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Binary(binary) => {
                let (left, right) = (self.value(&binary.left), self.value(&binary.right));
                let name = match binary.op {
                    BinOp::Eq(_) => "eq",
                    BinOp::Ne(_) => "ne",
                    BinOp::Lt(_) => "lt",
                    BinOp::Le(_) => "le",
                    BinOp::Gt(_) => "gt",
                    BinOp::Ge(_) => "ge",
                    BinOp::And(_) => "and",
                    BinOp::Or(_) => "or",
                    op => return quote!(#left #op #right),
                };
                let function = build(name, binary.op.span());
                quote_spanned!(binary.op.span()=> #function(#left, #right))
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let (function, value) = (build("not", unary.span()), self.value(&unary.expr));
                quote_spanned!(unary.span()=> #function(#value))
            }
            Expr::Paren(paren) => {
                let value = self.value(&paren.expr);
                quote!((#value))
            }
            Expr::Let(pattern) => refuse(pattern.span(), "no `if let` in data-plane code"),
            _ => quote!(#expr),
        }
    }
}
