//! Expressions.

use super::{ExprId, Name, TypeId};
use crate::names::Symbol;
use crate::source::Span;
use num_bigint::BigUint;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The place; of an expression in parentheses, without them.
    pub span: Span,
    /// The expression.
    pub kind: ExprKind,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// An expression that the parser refused.
    Error,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Int(IntLiteral),
    /// A string; its text without quotation marks, with escape sequences replaced.
    Text(Symbol),
    /// A name that is not a type where it is used: a variable, parameter, constant, instance, action, table, state or function.
    Name {
        /// The name.
        name: Name,
        /// True for `.name`, which is looked up at the top level.
        global: bool,
    },
    /// `this`, the instance around an abstract method's implementation.
    This,
    /// A type before a dot: `HashAlgorithm_t` in `HashAlgorithm_t.CRC16`, `error` in `error.NoMatch`, `C` in `C.apply(...)`.
    Type(TypeId),
    /// `base.member`: a field, a method, a member of an enumeration, `.next` and `.last` of a stack, `.hit` of a result.
    Member {
        /// The value or the type before the dot.
        base: ExprId,
        /// The name after the dot; `apply` also, although the word is reserved.
        member: Name,
    },
    /// `base[index]`: an element of a stack.
    Index {
        /// The stack.
        base: ExprId,
        /// The index.
        index: ExprId,
    },
    /// `base[hi:lo]`: bits of a value.
    Slice {
        /// The value.
        base: ExprId,
        /// The number of the most significant bit.
        hi: ExprId,
        /// The number of the least significant bit.
        lo: ExprId,
    },
    /// A prefix operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: ExprId,
    },
    /// An infix operator.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `condition ? then : otherwise`
    Ternary {
        /// The condition.
        condition: ExprId,
        /// The value if the condition is true.
        then: ExprId,
        /// The value if the condition is false.
        otherwise: ExprId,
    },
    /// `(type) operand`
    Cast {
        /// The type.
        to: TypeId,
        /// The value.
        operand: ExprId,
    },
    /// `callee<types>(args)`: a call of a method, function, action or `apply`.
    Call {
        /// The function: a name, or a member of a value or type.
        callee: ExprId,
        /// Type arguments; empty without `<...>`.
        type_args: Vec<TypeId>,
        /// Arguments.
        args: Vec<Arg>,
    },
    /// `type(args)`: an instance without a name, as an argument of another instance or before `.apply(...)`.
    Construct {
        /// The type, with its type arguments.
        of: TypeId,
        /// Arguments.
        args: Vec<Arg>,
    },
    /// `{a, b}`
    List(Vec<ExprId>),
    /// `{k = a, l = b}`
    Record(Vec<(Name, ExprId)>),
    /// `value &&& mask`, in keys of entries and of `select`.
    Mask {
        /// The value.
        value: ExprId,
        /// The mask; bits of 0 match any value.
        mask: ExprId,
    },
    /// `first .. last`, in keys of entries and of `select`.
    Range {
        /// The least value.
        first: ExprId,
        /// The greatest value.
        last: ExprId,
    },
    /// `default`, in keys of entries and of `select`.
    Default,
    /// `_`: any value in keys; an unused `out` parameter in arguments.
    Any,
}

/// At most three single parts, arguments, elements and fields.
type Parts<'e> = ([Option<ExprId>; 3], &'e [Arg], &'e [ExprId], &'e [(Name, ExprId)]);

impl ExprKind {
    /// Returns the expressions directly inside this one, in source order. Expressions in types are not among them.
    pub fn parts(&self) -> impl Iterator<Item = ExprId> + '_ {
        let (single, args, list, record): Parts<'_> = match self {
            ExprKind::Member { base, .. } => ([Some(*base), None, None], &[], &[], &[]),
            ExprKind::Index { base, index } => ([Some(*base), Some(*index), None], &[], &[], &[]),
            ExprKind::Slice { base, hi, lo } => ([Some(*base), Some(*hi), Some(*lo)], &[], &[], &[]),
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => {
                ([Some(*operand), None, None], &[], &[], &[])
            }
            ExprKind::Binary { left, right, .. } => ([Some(*left), Some(*right), None], &[], &[], &[]),
            ExprKind::Ternary { condition, then, otherwise } => {
                ([Some(*condition), Some(*then), Some(*otherwise)], &[], &[], &[])
            }
            ExprKind::Call { callee, args, .. } => ([Some(*callee), None, None], args, &[], &[]),
            ExprKind::Construct { args, .. } => ([None; 3], args, &[], &[]),
            ExprKind::List(list) => ([None; 3], &[], list, &[]),
            ExprKind::Record(fields) => ([None; 3], &[], &[], fields),
            ExprKind::Mask { value, mask } => ([Some(*value), Some(*mask), None], &[], &[], &[]),
            ExprKind::Range { first, last } => ([Some(*first), Some(*last), None], &[], &[], &[]),
            ExprKind::Error
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Text(_)
            | ExprKind::Name { .. }
            | ExprKind::This
            | ExprKind::Type(_)
            | ExprKind::Default
            | ExprKind::Any => ([None; 3], &[], &[], &[]),
        };
        let args = args.iter().map(|arg| arg.value);
        let record = record.iter().map(|&(_, value)| value);
        single.into_iter().flatten().chain(args).chain(list.iter().copied()).chain(record)
    }

    /// Calls `change` for the expressions directly inside this one, in source order.
    pub fn for_each_part(&mut self, change: &mut dyn FnMut(&mut ExprId)) {
        match self {
            ExprKind::Member { base, .. } => change(base),
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => change(operand),
            ExprKind::Index { base: first, index: second }
            | ExprKind::Binary { left: first, right: second, .. }
            | ExprKind::Mask { value: first, mask: second }
            | ExprKind::Range { first, last: second } => [first, second].into_iter().for_each(change),
            ExprKind::Slice { base: first, hi: second, lo: third }
            | ExprKind::Ternary { condition: first, then: second, otherwise: third } => {
                [first, second, third].into_iter().for_each(change);
            }
            ExprKind::Call { callee, args, .. } => {
                change(callee);
                args.iter_mut().for_each(|arg| change(&mut arg.value));
            }
            ExprKind::Construct { args, .. } => args.iter_mut().for_each(|arg| change(&mut arg.value)),
            ExprKind::List(list) => list.iter_mut().for_each(change),
            ExprKind::Record(fields) => fields.iter_mut().for_each(|(_, value)| change(value)),
            ExprKind::Error
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Text(_)
            | ExprKind::Name { .. }
            | ExprKind::This
            | ExprKind::Type(_)
            | ExprKind::Default
            | ExprKind::Any => {}
        }
    }
}

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntLiteral {
    /// The digits' value, without regard of the width.
    pub value: BigUint,
    /// The width of `8w255` or `8s127`; `None` for a number of type `int`.
    pub width: Option<Width>,
}

/// The type that a number's prefix names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bits.
    pub bits: u32,
    /// True for `s`, `int<W>`; false for `w`, `bit<W>`.
    pub signed: bool,
}

/// An argument of a call or of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// From the name or value to the end of the value.
    pub span: Span,
    /// The parameter's name in `name = value`.
    pub name: Option<Name>,
    /// The value.
    pub value: ExprId,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Negate,
    /// `+`
    Plus,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|+|`, saturating
    AddSat,
    /// `|-|`, saturating
    SubSat,
    /// `++`, concatenation
    Concat,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}
