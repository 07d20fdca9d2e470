//! Declarations.

use super::{Annotation, Block, DeclId, ExprId, Name, StateDecl, TypeId};
use crate::source::Span;

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decl {
    /// The whole declaration, without its annotations.
    pub span: Span,
    /// The name; of an `error` or `match_kind` declaration the keyword, of a constructor the name of its extern.
    pub name: Name,
    /// The declaration directly around this one.
    pub parent: Option<DeclId>,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// The declaration.
    pub kind: DeclKind,
}

/// Kinds of declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclKind {
    /// A declaration that the parser refused; its name is declared all the same, so that its uses are no further errors.
    Invalid,
    /// `const type name = value;`
    Const {
        /// The type.
        of: TypeId,
        /// The value.
        value: ExprId,
    },
    /// `typedef type name;`: another name of a type.
    Typedef {
        /// The type.
        of: TypeId,
    },
    /// `type type name;`: a new type.
    Newtype {
        /// The type that represents it.
        of: TypeId,
    },
    /// `enum name { ... }`, `enum type name { ... }`
    Enum(EnumDecl),
    /// `error { ... }`: adds members to the type `error`.
    Error {
        /// [`DeclKind::Member`]s.
        members: Vec<DeclId>,
    },
    /// `match_kind { ... }`: adds kinds of matches.
    MatchKind {
        /// [`DeclKind::Member`]s.
        members: Vec<DeclId>,
    },
    /// A member of an `enum`, `error` or `match_kind`.
    Member {
        /// The value of a member of a serialisable enumeration.
        value: Option<ExprId>,
    },
    /// `header name { ... }`
    Header(FieldsDecl),
    /// `struct name { ... }`
    Struct(FieldsDecl),
    /// A field of a header or struct.
    Field {
        /// The type.
        of: TypeId,
    },
    /// `extern name { ... }`
    Extern(ExternDecl),
    /// A function: a method of an extern, an extern function, or the implementation of an abstract method.
    Function(FunctionDecl),
    /// A constructor of an extern.
    Constructor {
        /// [`DeclKind::Param`]s.
        params: Vec<DeclId>,
    },
    /// `parser name(...);` or `parser name(...) { ... }`
    Parser(ParserDecl),
    /// `control name(...);` or `control name(...) { ... }`
    Control(ControlDecl),
    /// `package name(...);`
    Package(PackageDecl),
    /// `type(args) name;`
    Instance(Instance),
    /// `type name;`, `type name = value;`
    Variable {
        /// The type.
        of: TypeId,
        /// The initial value.
        value: Option<ExprId>,
    },
    /// `value_set<type>(size) name;`
    ValueSet {
        /// The type of an element.
        of: TypeId,
        /// The number of elements.
        size: ExprId,
    },
    /// `action name(...) { ... }`
    Action(ActionDecl),
    /// `table name { ... }`
    Table(TableDecl),
    /// `state name { ... }`
    State(StateDecl),
    /// A parameter.
    Param(ParamDecl),
    /// A type parameter: `T` in `extern Register<T, I>`.
    TypeParam,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumDecl {
    /// The type that represents a serialisable enumeration.
    pub of: Option<TypeId>,
    /// [`DeclKind::Member`]s.
    pub members: Vec<DeclId>,
}

/// The fields of a header or struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldsDecl {
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Field`]s.
    pub fields: Vec<DeclId>,
}

/// An extern object type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternDecl {
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Constructor`]s.
    pub constructors: Vec<DeclId>,
    /// [`DeclKind::Function`]s.
    pub methods: Vec<DeclId>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDecl {
    /// The type of the result.
    pub result: TypeId,
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Param`]s.
    pub params: Vec<DeclId>,
    /// True for `abstract`: instances of the extern implement the method.
    pub is_abstract: bool,
    /// The body of an implementation.
    pub body: Option<Block>,
}

/// A parser or a parser type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserDecl {
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Param`]s.
    pub params: Vec<DeclId>,
    /// [`DeclKind::Param`]s of the constructor.
    pub constructor_params: Vec<DeclId>,
    /// True if the parser has a body; without one, the declaration is a type.
    pub has_body: bool,
    /// Constants, variables, instances and value sets.
    pub locals: Vec<DeclId>,
    /// [`DeclKind::State`]s.
    pub states: Vec<DeclId>,
}

/// A control or a control type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlDecl {
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Param`]s.
    pub params: Vec<DeclId>,
    /// [`DeclKind::Param`]s of the constructor.
    pub constructor_params: Vec<DeclId>,
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<DeclId>,
    /// The `apply` block; without one, the declaration is a type.
    pub apply: Option<Block>,
}

/// A package type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageDecl {
    /// [`DeclKind::TypeParam`]s.
    pub type_params: Vec<DeclId>,
    /// [`DeclKind::Param`]s.
    pub params: Vec<DeclId>,
}

/// An instance of an extern, parser, control or package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The type, with its type arguments.
    pub of: TypeId,
    /// Arguments of the constructor.
    pub args: Vec<super::Arg>,
    /// The declarations of `= { ... }`: [`DeclKind::Function`]s that implement abstract methods, and instances.
    pub initializer: Option<Vec<DeclId>>,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDecl {
    /// [`DeclKind::Param`]s.
    pub params: Vec<DeclId>,
    /// The body.
    pub body: Block,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamDecl {
    /// The direction; [`Direction::None`] if there is none.
    pub direction: Direction,
    /// The type.
    pub of: TypeId,
    /// The default value.
    pub default: Option<ExprId>,
}

/// Directions of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// No direction: known at compile time, or given by the control plane.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDecl {
    /// `key = { ... }`
    pub key: Option<Key>,
    /// `actions = { ... }`
    pub actions: Option<Actions>,
    /// `default_action = action(...);`
    pub default_action: Option<Property>,
    /// `entries = { ... }`
    pub entries: Option<Entries>,
    /// `size = value;`
    pub size: Option<Property>,
    /// All other properties, in source order: `implementation`, `counters`, `idle_timeout`, ...
    pub properties: Vec<Property>,
}

/// The key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The property.
    pub span: Span,
    /// The elements, in source order.
    pub elements: Vec<KeyElement>,
}

/// An element of a key: `value : match_kind;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyElement {
    /// From the value to the semicolon.
    pub span: Span,
    /// The value.
    pub value: ExprId,
    /// The kind of match.
    pub match_kind: Name,
    /// Annotations.
    pub annotations: Vec<Annotation>,
}

/// The actions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actions {
    /// The property.
    pub span: Span,
    /// The actions, each a name or a call, with its annotations.
    pub list: Vec<(ExprId, Vec<Annotation>)>,
}

/// `name = value;` in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The property.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// True for `const name = value;`
    pub is_const: bool,
    /// The name.
    pub name: Name,
    /// The value; of `default_action` the name of an action or a call.
    pub value: ExprId,
}

/// The entries of a table that the program states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The property.
    pub span: Span,
    /// True for `const entries`: the control plane cannot change them.
    pub is_const: bool,
    /// The entries; the first that matches is taken.
    pub list: Vec<Entry>,
}

/// `key : action(...);` in the entries of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the key to the semicolon.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// One expression per element of the key, or a single `_` or `default`.
    pub keys: Vec<ExprId>,
    /// The action: a name or a call.
    pub action: ExprId,
}
