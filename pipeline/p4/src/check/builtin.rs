//! Calls of methods that the language defines: validity of headers, elements of stacks, sizes.

use super::Checker;
use super::conversion::Role;
use super::suggestion::nearest;
use super::tables::{Builtin, Call, Callee, Resolution};
use super::ty::{Ty, TyKind};
use super::type_use::{are, counted};
use super::value::Value;
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{Arg, ExprId, Name};

const SIZES: [(&str, Builtin); 4] = [
    ("minSizeInBits", Builtin::MinSizeInBits),
    ("minSizeInBytes", Builtin::MinSizeInBytes),
    ("maxSizeInBits", Builtin::MaxSizeInBits),
    ("maxSizeInBytes", Builtin::MaxSizeInBytes),
];

impl Checker<'_> {
    /// Checks the call of a method that the language defines. The arguments have been checked.
    pub(super) fn call_builtin(
        &mut self,
        id: ExprId,
        callee: ExprId,
        (base, of): (ExprId, Ty),
        member: Name,
        args: &[Arg],
    ) -> Ty {
        let text = self.ast.text(member);
        let size = SIZES.into_iter().find(|(name, _)| *name == text);
        let methods: &[&str] = match self.out.types.kind(of) {
            TyKind::Header(..) => &["isValid", "setValid", "setInvalid"],
            TyKind::Stack(..) => &["push_front", "pop_front"],
            TyKind::Table(_) | TyKind::Parser(..) | TyKind::Control(..) => &["apply"],
            _ => &[],
        };
        let (builtin, ty, params) = match (self.out.types.kind(of), text) {
            (TyKind::Header(..), "isValid") => (Builtin::IsValid, Ty::BOOL, 0),
            (TyKind::Header(..), "setValid") => (Builtin::SetValid, Ty::VOID, 0),
            (TyKind::Header(..), "setInvalid") => (Builtin::SetInvalid, Ty::VOID, 0),
            (TyKind::Stack(..), "push_front") => (Builtin::PushFront, Ty::VOID, 1),
            (TyKind::Stack(..), "pop_front") => (Builtin::PopFront, Ty::VOID, 1),
            _ => match size {
                Some((_, builtin)) => (builtin, Ty::INTEGER, 0),
                None => return self.no_method(of, member, methods),
            },
        };
        if args.len() != params {
            let message = format!(
                "method `{text}` has {}, and {} given",
                counted(params, "parameter"),
                are(args.len(), "argument")
            );
            self.error(Class::Type, member.span, message);
        }
        match builtin {
            Builtin::SetValid | Builtin::SetInvalid | Builtin::PushFront | Builtin::PopFront => {
                self.writable(base, "changed");
            }
            Builtin::IsValid => {}
            _ => self.size_value(id, builtin, of, member),
        }
        if params == 1
            && let Some(arg) = args.first()
        {
            let wanted = self.out.types.bits(32);
            if self.out.expr_types[arg.value] == Ty::INTEGER {
                self.require(arg.value, wanted, Role::Index);
            }
            if !self.is_static(arg.value) {
                self.not_constant(arg.value, "the number of elements");
            }
        }
        self.out.resolutions[callee] = Some(Resolution::Builtin(builtin));
        let args = args.iter().map(|arg| Some(arg.value)).collect();
        self.out.calls.insert(id, Call { callee: Callee::Builtin(builtin), type_args: Vec::new(), args });
        ty
    }

    fn size_value(&mut self, id: ExprId, builtin: Builtin, of: Ty, member: Name) {
        let Some((least, most)) = self.size(of) else {
            let message = format!("{} has no size", self.describe(of));
            self.error(Class::Type, member.span, message);
            return;
        };
        let size = match builtin {
            Builtin::MinSizeInBits => least,
            Builtin::MinSizeInBytes => least.div_ceil(8),
            Builtin::MaxSizeInBits => most,
            _ => most.div_ceil(8),
        };
        self.out.values.insert(id, Value::Int(size.into()));
    }

    fn no_method(&mut self, of: Ty, member: Name, methods: &[&str]) -> Ty {
        let text = self.ast.text(member);
        let message = format!("there is no method `{text}` in {}", self.describe(of));
        let diagnostic = Diagnostic::error(Class::Name, member.span, message);
        let help = match nearest(text, methods.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if methods.is_empty() => String::new(),
            None => format!("it has {}", methods.join(", ")),
        };
        self.report(diagnostic.help(help));
        Ty::UNKNOWN
    }
}
