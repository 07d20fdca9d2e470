//! What the checker found out, in tables from the parts of the syntax tree.

use super::ty::{Ty, TyKind, Types};
use super::value::Value;
use crate::names::Symbol;
use crate::syntax::ast::{Ast, DeclId, DeclKind, ExprId, TypeId};
use rustc_hash::FxHashMap;
use sluice_entity::EntityMap;

/// A checked program: the syntax tree stays as it is, and these tables say what its parts mean.
///
/// The tables of a program with errors are incomplete.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The types of the program.
    pub types: Types,
    /// The type of each expression after implicit conversions: `5` in `hdr.ttl - 5` has the type of `hdr.ttl`, and `{a, b}`
    /// that is assigned to a struct has the type of the struct. [`Ty::UNKNOWN`] for what is no value, such as the name of a
    /// state.
    pub expr_types: EntityMap<ExprId, Ty>,
    /// The values of expressions that are known at compile time, of the type in `expr_types`. Values that depend on constructor
    /// parameters are not among them; [`crate::elaborate`] computes those.
    pub values: FxHashMap<ExprId, Value>,
    /// The meaning of names and members.
    pub resolutions: EntityMap<ExprId, Option<Resolution>>,
    /// Calls, by the expression that calls.
    pub calls: FxHashMap<ExprId, Call>,
    /// Constructor calls of named instances.
    pub instances: FxHashMap<DeclId, Construction>,
    /// Constructor calls of instances without a name.
    pub constructs: FxHashMap<ExprId, Construction>,
    /// The type of each declaration: of a type the type itself, of a value its type, of a function the type of its result.
    pub decl_types: EntityMap<DeclId, Ty>,
    /// Values of constants, and of members of enumerations that have values.
    pub constants: FxHashMap<DeclId, Value>,
    /// The type that each use of a type means.
    pub type_uses: EntityMap<TypeId, Ty>,
    /// The states of parsers by name.
    pub states: FxHashMap<(DeclId, Symbol), DeclId>,
    /// The names at the top level; a name of extern functions has one declaration per number of parameters.
    pub top: FxHashMap<Symbol, Vec<DeclId>>,
}

/// The meaning of a name or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// A declaration: a variable, parameter, constant, instance, action, table, function, or member of an enumeration.
    Decl(DeclId),
    /// A field, with its position among the fields.
    Field(DeclId, u32),
    /// A method of an extern.
    Method(DeclId),
    /// A member that the language defines.
    Builtin(Builtin),
}

/// Members that the language defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `header.isValid()`
    IsValid,
    /// `header.setValid()`
    SetValid,
    /// `header.setInvalid()`
    SetInvalid,
    /// `stack.push_front(n)`
    PushFront,
    /// `stack.pop_front(n)`
    PopFront,
    /// `stack.next`
    Next,
    /// `stack.last`
    Last,
    /// `stack.lastIndex`
    LastIndex,
    /// `stack.size`
    Size,
    /// `apply` of a table, control or parser.
    Apply,
    /// `table.apply().hit`
    Hit,
    /// `table.apply().miss`
    Miss,
    /// `table.apply().action_run`
    ActionRun,
    /// `value.minSizeInBits()`
    MinSizeInBits,
    /// `value.minSizeInBytes()`
    MinSizeInBytes,
    /// `value.maxSizeInBits()`
    MaxSizeInBits,
    /// `value.maxSizeInBytes()`
    MaxSizeInBytes,
}

/// A call of a function, method, action or `apply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The callee.
    pub callee: Callee,
    /// The callee's type arguments, given or inferred, in the order of its type parameters.
    pub type_args: Vec<Ty>,
    /// The argument of each parameter, in the order of the parameters; `None` for an optional one that is absent.
    pub args: Vec<Option<ExprId>>,
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// An extern function.
    Function(DeclId),
    /// A method of an extern object; the object is the base of the called member.
    Method(DeclId),
    /// An action.
    Action(DeclId),
    /// `apply` of a table.
    Table(DeclId),
    /// `apply` of an instance of a parser or control; the declaration is that of the parser or control.
    Block(DeclId),
    /// A member that the language defines; the value is the base of the called member.
    Builtin(Builtin),
}

/// A call of a constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construction {
    /// The type of the instance, with its type arguments.
    pub ty: Ty,
    /// The constructor of an extern; `None` if the extern has none, and for parsers, controls and packages.
    pub constructor: Option<DeclId>,
    /// The argument of each parameter, in the order of the parameters; `None` for an optional one that is absent.
    pub args: Vec<Option<ExprId>>,
}

impl Checked {
    /// Makes empty tables for a tree.
    #[must_use]
    pub(super) fn new(ast: &Ast) -> Checked {
        Checked {
            types: Types::default(),
            expr_types: EntityMap::filled(ast.exprs.len(), |_| Ty::UNKNOWN),
            values: FxHashMap::default(),
            resolutions: EntityMap::filled(ast.exprs.len(), |_| None),
            calls: FxHashMap::default(),
            instances: FxHashMap::default(),
            constructs: FxHashMap::default(),
            decl_types: EntityMap::filled(ast.decls.len(), |_| Ty::UNKNOWN),
            constants: FxHashMap::default(),
            type_uses: EntityMap::filled(ast.types.len(), |_| Ty::UNKNOWN),
            states: FxHashMap::default(),
            top: FxHashMap::default(),
        }
    }

    /// Returns the kind of an expression's type.
    #[must_use]
    pub fn kind_of(&self, expr: ExprId) -> &TyKind {
        self.types.kind(self.expr_types[expr])
    }

    /// Returns the type that represents a serialisable enumeration or a new type.
    #[must_use]
    pub fn representation(&self, ast: &Ast, decl: DeclId) -> Option<Ty> {
        match &ast.decls[decl].kind {
            DeclKind::Enum(enumeration) => enumeration.of.map(|of| self.type_uses[of]),
            DeclKind::Newtype { of } => Some(self.type_uses[*of]),
            _ => None,
        }
    }

    /// Returns the type that represents the values of a type: that of a new type or serialisable enumeration, or the type itself.
    #[must_use]
    pub fn base(&self, ast: &Ast, mut ty: Ty) -> Ty {
        while let TyKind::Enum(decl) | TyKind::Newtype(decl) = *self.types.kind(ty) {
            match self.representation(ast, decl) {
                Some(of) if of != ty => ty = of,
                _ => break,
            }
        }
        ty
    }

    /// Returns the declaration that a name or a field stands for.
    #[must_use]
    pub fn decl_of(&self, expr: ExprId) -> Option<DeclId> {
        match self.resolutions[expr]? {
            Resolution::Decl(decl) | Resolution::Field(decl, _) | Resolution::Method(decl) => Some(decl),
            Resolution::Builtin(_) => None,
        }
    }
}
