//! Which argument belongs to which parameter.

use super::Checker;
use super::type_use::{are, counted};
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Arg, DeclId, Name};

/// Why arguments do not fit parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Misfit {
    /// There are more arguments than parameters; the first that is too many.
    TooMany(Span),
    /// No parameter has the name.
    Unknown(Name),
    /// A parameter has a second argument, at this place.
    Twice(DeclId, Span),
    /// A parameter has no argument.
    Missing(DeclId),
}

impl Checker<'_> {
    /// Returns the index of the argument of each parameter; `None` for an optional parameter without argument.
    pub(super) fn arrange(&self, params: &[DeclId], args: &[Arg]) -> Result<Vec<Option<usize>>, Misfit> {
        let mut order = vec![None; params.len()];
        for (index, arg) in args.iter().enumerate() {
            let at = match arg.name {
                Some(name) => params
                    .iter()
                    .position(|&param| self.ast.decls[param].name.symbol == name.symbol)
                    .ok_or(Misfit::Unknown(name))?,
                None if index < params.len() => index,
                None => return Err(Misfit::TooMany(arg.span)),
            };
            if order[at].is_some() {
                return Err(Misfit::Twice(params[at], arg.span));
            }
            order[at] = Some(index);
        }
        let missing =
            order.iter().zip(params).find(|(arg, param)| arg.is_none() && !self.is_optional(**param));
        match missing {
            Some((_, &param)) => Err(Misfit::Missing(param)),
            None => Ok(order),
        }
    }

    /// Reports arguments that do not fit the parameters of `what`, which is declared at `decl`.
    pub(super) fn misfit(&mut self, at: Span, what: &str, params: &[DeclId], given: usize, misfit: Misfit) {
        let names: Vec<&str> = params.iter().map(|&param| self.name(param)).collect();
        let list = names.join(", ");
        let wanted = counted(params.len(), "parameter");
        let diagnostic = match misfit {
            Misfit::TooMany(at) => {
                let message = format!("{what} has {wanted}, and {} given", are(given, "argument"));
                Diagnostic::error(Class::Type, at, message)
            }
            Misfit::Unknown(name) => {
                let message = format!("{what} has no parameter `{}`", self.ast.text(name));
                Diagnostic::error(Class::Name, name.span, message)
            }
            Misfit::Twice(param, at) => {
                let message = format!("parameter `{}` of {what} has two arguments", self.name(param));
                Diagnostic::error(Class::Type, at, message)
            }
            Misfit::Missing(param) => {
                let message = format!("{what} lacks an argument for parameter `{}`", self.name(param));
                Diagnostic::error(Class::Type, at, message)
            }
        };
        self.report(match names.is_empty() {
            true => diagnostic.help("it takes no arguments"),
            false => diagnostic.help(format!("its parameters are ({list})")),
        });
    }
}
