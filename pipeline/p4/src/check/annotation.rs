//! Arguments of annotations that Sluice knows. Unknown annotations are allowed: P4 leaves them to tools.

use super::Checker;
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{Annotation, AnnotationArg, AnnotationBody, AnnotationTokenKind, DeclId};

/// What an argument of an annotation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A string.
    Text,
    /// A number or the name of a constant.
    Number,
    /// Anything.
    Free,
}

/// Annotations with the arguments that they need; further arguments are free up to the number after them.
const SHAPES: &[(&str, &[Shape], usize)] = &[
    ("defaultonly", &[], 0),
    ("hidden", &[], 0),
    ("name", &[Shape::Text], 1),
    ("pa_container_size", &[Shape::Text, Shape::Text, Shape::Free], 64),
    ("pa_mutually_exclusive", &[Shape::Text, Shape::Text, Shape::Text], 4),
    ("pa_no_overlay", &[Shape::Text, Shape::Text], 64),
    ("pa_solitary", &[Shape::Text, Shape::Text], 3),
    ("pack", &[Shape::Number], 1),
    ("padding", &[], 0),
    ("stage", &[Shape::Number], 3),
    ("tableonly", &[], 0),
    ("ways", &[Shape::Number], 1),
];

impl Checker<'_> {
    pub(super) fn annotations(&mut self, decl: DeclId) {
        self.annotation_list(&self.ast.decls[decl].annotations);
    }

    pub(super) fn annotation_list(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation_shape(annotation);
        }
    }

    fn annotation_shape(&mut self, annotation: &Annotation) {
        let text = self.ast.text(annotation.name);
        let Some((_, needed, most)) = SHAPES.iter().find(|(name, ..)| *name == text) else { return };
        let args: &[AnnotationArg] = match &annotation.body {
            AnnotationBody::Args(args) => args,
            AnnotationBody::None => &[],
            AnnotationBody::Exprs(_) | AnnotationBody::Pairs(_) => return,
        };
        if args.len() < needed.len() || args.len() > *most {
            let wanted = match (needed.len(), most) {
                (0, 0) => "no arguments".to_owned(),
                (1, 1) => "1 argument".to_owned(),
                (least, most) if least == *most => format!("{most} arguments"),
                (least, 64) => format!("at least {least} arguments"),
                (least, most) => format!("{least} to {most} arguments"),
            };
            let message = format!("annotation `@{text}` has {wanted}; {} given", args.len());
            self.report(Diagnostic::warning(Class::Syntax, annotation.span, message));
            return;
        }
        for (arg, shape) in args.iter().zip(*needed) {
            let good = match (shape, arg.tokens.first().map(|token| &token.kind)) {
                (Shape::Text, Some(AnnotationTokenKind::Text(_) | AnnotationTokenKind::Word(_)))
                | (Shape::Free, _) => true,
                (Shape::Number, Some(AnnotationTokenKind::Text(_))) => false,
                (Shape::Number, _) => true,
                _ => false,
            };
            if !good {
                let wanted = if *shape == Shape::Text { "a string in quotation marks" } else { "a number" };
                let message = format!("annotation `@{text}` has {wanted} as this argument");
                self.report(Diagnostic::warning(Class::Syntax, arg.span, message));
            }
        }
    }
}
