//! Uses of types.

use super::{ExprId, Name, TypeId};
use crate::source::Span;

/// A use of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The place.
    pub span: Span,
    /// The type.
    pub kind: TypeKind,
}

/// Kinds of uses of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A type that the parser refused.
    Invalid,
    /// `bool`
    Bool,
    /// `string`
    String,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `void`
    Void,
    /// `int`, the integers of any size.
    Integer,
    /// `bit<W>`; `bit` without a width has one bit.
    Bits {
        /// The width; `None` is `bit`.
        width: Option<ExprId>,
    },
    /// `int<W>`
    SignedBits {
        /// The width.
        width: ExprId,
    },
    /// `varbit<W>`
    Varbit {
        /// The greatest width.
        width: ExprId,
    },
    /// `_` as a type argument: any type that fits.
    Any,
    /// A declared type or type parameter, and its type arguments: `ethernet_h`, `Register<bit<32>, _>`.
    Named {
        /// The name.
        name: Name,
        /// True for `.name`, which is looked up at the top level.
        global: bool,
        /// Type arguments; empty without `<...>`.
        args: Vec<TypeId>,
    },
    /// `tuple<A, B>`; declarations of the architecture have it.
    Tuple {
        /// The types of the elements.
        elements: Vec<TypeId>,
    },
    /// `T[N]`: a header stack.
    Stack {
        /// The type of an element.
        element: TypeId,
        /// The number of elements.
        size: ExprId,
    },
}
