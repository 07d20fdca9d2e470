//! Properties of tables beyond key, actions, default action, entries and size.

use super::Checker;
use super::suggestion::nearest;
use super::ty::{Ty, TyKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::Property;

/// The properties of the two architectures, each with what it takes.
const PROPERTIES: &[(&str, Wants)] = &[
    ("alpm", Wants::Object("Alpm")),
    ("atcam", Wants::Object("Atcam")),
    ("counters", Wants::Object("DirectCounter")),
    ("filters", Wants::Object("DirectLpf")),
    ("idle_timeout", Wants::Truth),
    ("implementation", Wants::Object("ActionProfile")),
    ("meters", Wants::Object("DirectMeter")),
    ("proxy_hash", Wants::Object("Hash")),
    ("registers", Wants::Object("DirectRegister")),
    ("requires_versioning", Wants::Truth),
];

/// The kind of value of a property.
#[derive(Clone, Copy)]
enum Wants {
    /// An extern object, such as this.
    Object(&'static str),
    /// A truth value.
    Truth,
}

impl Checker<'_> {
    pub(super) fn property(&mut self, property: &Property) {
        self.annotation_list(&property.annotations);
        let text = self.ast.text(property.name);
        let ty = self.value(property.value);
        if self.out.types.is_loose(ty) {
            return;
        }
        let Some((_, wants)) = PROPERTIES.iter().find(|(name, _)| *name == text) else {
            let near = nearest(text, PROPERTIES.iter().map(|(name, _)| *name));
            let message = format!("property `{text}` of a table has no effect");
            self.report(Diagnostic::warning(Class::Name, property.name.span, message).help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove the property".to_owned(),
            }));
            return;
        };
        let good = match wants {
            Wants::Truth => ty == Ty::BOOL,
            Wants::Object(_) => matches!(self.out.types.kind(ty), TyKind::Extern(..)),
        };
        if !good {
            let found = self.describe(ty);
            let at = self.ast.exprs[property.value].span;
            let message = format!("property `{text}` has as its value {found}");
            self.report(Diagnostic::error(Class::Type, at, message).help(match wants {
                Wants::Truth => "write `true` or `false`".to_owned(),
                Wants::Object(object) => format!("name an extern object, such as a `{object}`"),
            }));
        }
    }
}
