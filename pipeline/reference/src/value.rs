//! Values of a running program.

use num_bigint::BigInt;
use sluice_p4::syntax::ast::DeclId;

/// A value of a variable, parameter or expression.
///
/// A value has no type: a number of type `bit<W>` is between 0 and 2^W - 1, one of type `int<W>` between -2^(W-1) and 2^(W-1) - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value: the packet, an instance, the result of a call that returns nothing.
    Nothing,
    /// `true` or `false`
    Bool(bool),
    /// A number, also a member of a serialisable enumeration.
    Number(BigInt),
    /// A member of an enumeration without values, or of `error`.
    Member(DeclId),
    /// A header. Fields keep their values while the header is invalid.
    Header {
        /// True if the header is valid.
        valid: bool,
        /// The fields in order.
        fields: Vec<Value>,
    },
    /// A struct or a list.
    Struct(Vec<Value>),
    /// A header stack.
    Stack {
        /// Number of elements that the parser has extracted.
        next: usize,
        /// The elements.
        elements: Vec<Value>,
    },
    /// The result of applying a table.
    Applied {
        /// True if an entry matched.
        hit: bool,
        /// The action that ran.
        action: Option<DeclId>,
    },
}

impl Value {
    /// Returns a number.
    #[must_use]
    pub fn number(value: impl Into<BigInt>) -> Value {
        Value::Number(value.into())
    }

    /// Returns the number; a truth value is 0 or 1.
    #[must_use]
    pub fn as_number(&self) -> Option<BigInt> {
        match self {
            Value::Number(value) => Some(value.clone()),
            Value::Bool(value) => Some(u8::from(*value).into()),
            _ => None,
        }
    }

    /// Returns the number, if it fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(|value| u64::try_from(value).ok())
    }

    /// Returns the truth value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the values inside: fields, elements.
    #[must_use]
    pub fn parts(&self) -> &[Value] {
        match self {
            Value::Header { fields: parts, .. }
            | Value::Struct(parts)
            | Value::Stack { elements: parts, .. } => parts,
            _ => &[],
        }
    }

    /// Returns a value inside.
    pub(crate) fn part_mut(&mut self, at: usize) -> Option<&mut Value> {
        match self {
            Value::Header { fields: parts, .. }
            | Value::Struct(parts)
            | Value::Stack { elements: parts, .. } => parts.get_mut(at),
            _ => None,
        }
    }
}
