//! Types as values: each is stored once, so that equal types have equal numbers.

use crate::names::Symbol;
use crate::syntax::ast::{Ast, DeclId, DeclKind};
use rustc_hash::FxHashMap;
use sluice_entity::EntityMap;
use sluice_entity::entities;

entities! {
    /// A type of a program.
    Ty = "ty";
}

/// Kinds of types. A `typedef` has none of its own: it is the type that it names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TyKind {
    /// The type of a part with an error, which fits everywhere, so that one mistake is one message.
    Unknown,
    /// `_` that nothing decides; it fits everywhere.
    Any,
    /// The result of what returns nothing.
    Void,
    /// `bool`
    Bool,
    /// `string`
    Text,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `int`: constants of any size.
    Integer,
    /// `bit<W>`
    Bits(u32),
    /// `int<W>`
    Signed(u32),
    /// `varbit<W>`
    Varbit(u32),
    /// `enum`, with or without values.
    Enum(DeclId),
    /// `type`
    Newtype(DeclId),
    /// `header`, with its type arguments.
    Header(DeclId, Box<[Ty]>),
    /// `struct`, with its type arguments.
    Struct(DeclId, Box<[Ty]>),
    /// An extern object, with its type arguments.
    Extern(DeclId, Box<[Ty]>),
    /// A parser or parser type, with its type arguments.
    Parser(DeclId, Box<[Ty]>),
    /// A control or control type, with its type arguments.
    Control(DeclId, Box<[Ty]>),
    /// A package, with its type arguments.
    Package(DeclId, Box<[Ty]>),
    /// `T[N]`
    Stack(Ty, u32),
    /// `{a, b}` and the keys of a `select`.
    Tuple(Box<[Ty]>),
    /// `{k = a, l = b}`
    Record(Box<[(Symbol, Ty)]>),
    /// Values that a key matches: masks, ranges and value sets.
    Set(Ty),
    /// A type parameter inside the declaration that has it.
    Param(DeclId),
    /// A type that is inferred; the number is an index of the inference's variables.
    Infer(u32),
    /// A table.
    Table(DeclId),
    /// The result of applying a table.
    TableResult(DeclId),
    /// `action_run` of the result of applying a table.
    ActionRun(DeclId),
    /// An action.
    Action(DeclId),
}

/// The types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    kinds: EntityMap<Ty, TyKind>,
    numbers: FxHashMap<TyKind, Ty>,
    /// Whether a type contains type parameters or inferred types. Types share parts, so that walking through all parts of a type
    /// may take forever; a type without such parts needs no walk.
    open: EntityMap<Ty, bool>,
}

/// Types that every program has, in the order in which [`Types::default`] makes them.
macro_rules! fixed {
    ($($name:ident = $index:literal, $kind:expr, $doc:literal;)*) => {
        impl Ty {
            $(#[doc = $doc] pub const $name: Ty = Ty($index);)*
        }
        const FIXED: &[TyKind] = &[$($kind),*];
    };
}

fixed! {
    UNKNOWN = 0, TyKind::Unknown, "The type of a part with an error.";
    ANY = 1, TyKind::Any, "A type that nothing decides.";
    VOID = 2, TyKind::Void, "`void`";
    BOOL = 3, TyKind::Bool, "`bool`";
    TEXT = 4, TyKind::Text, "`string`";
    ERROR = 5, TyKind::Error, "`error`";
    MATCH_KIND = 6, TyKind::MatchKind, "`match_kind`";
    INTEGER = 7, TyKind::Integer, "`int`";
}

impl Default for Types {
    fn default() -> Self {
        let mut types =
            Types { kinds: EntityMap::new(), numbers: FxHashMap::default(), open: EntityMap::new() };
        for kind in FIXED {
            types.make(kind.clone());
        }
        types
    }
}

impl Types {
    /// Returns the type of this kind.
    pub fn make(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.numbers.get(&kind) {
            return ty;
        }
        let ty = self.kinds.push(kind.clone());
        let leaf = matches!(kind, TyKind::Param(_) | TyKind::Infer(_));
        let open = leaf || self.parts(ty).into_iter().any(|part| self.open[part]);
        self.open.push(open);
        self.numbers.insert(kind, ty);
        ty
    }

    /// Returns `bit<width>`.
    pub fn bits(&mut self, width: u32) -> Ty {
        self.make(TyKind::Bits(width))
    }

    /// Returns the kind of a type.
    #[must_use]
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty]
    }

    /// Returns true if the type fits everywhere.
    #[must_use]
    pub fn is_loose(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Unknown | TyKind::Any)
    }

    /// Returns the parts of a type that are types.
    #[must_use]
    pub fn parts(&self, ty: Ty) -> Vec<Ty> {
        match self.kind(ty) {
            TyKind::Header(_, args)
            | TyKind::Struct(_, args)
            | TyKind::Extern(_, args)
            | TyKind::Parser(_, args)
            | TyKind::Control(_, args)
            | TyKind::Package(_, args)
            | TyKind::Tuple(args) => args.to_vec(),
            TyKind::Stack(element, _) | TyKind::Set(element) => vec![*element],
            TyKind::Record(fields) => fields.iter().map(|(_, ty)| *ty).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the type with its parts replaced by `map`, bottom up; `leaf` replaces parameters and inferred types.
    pub fn rebuild(&mut self, ty: Ty, leaf: &mut dyn FnMut(&mut Types, Ty) -> Ty) -> Ty {
        if !self.open[ty] {
            return ty;
        }
        let kind = match self.kind(ty) {
            TyKind::Param(_) | TyKind::Infer(_) => return leaf(self, ty),
            kind => kind.clone(),
        };
        let mut list = |types: &mut Types, args: Box<[Ty]>| -> Box<[Ty]> {
            args.iter().map(|&arg| types.rebuild(arg, leaf)).collect()
        };
        let kind = match kind {
            TyKind::Header(decl, args) => TyKind::Header(decl, list(self, args)),
            TyKind::Struct(decl, args) => TyKind::Struct(decl, list(self, args)),
            TyKind::Extern(decl, args) => TyKind::Extern(decl, list(self, args)),
            TyKind::Parser(decl, args) => TyKind::Parser(decl, list(self, args)),
            TyKind::Control(decl, args) => TyKind::Control(decl, list(self, args)),
            TyKind::Package(decl, args) => TyKind::Package(decl, list(self, args)),
            TyKind::Tuple(args) => TyKind::Tuple(list(self, args)),
            TyKind::Stack(element, size) => TyKind::Stack(self.rebuild(element, leaf), size),
            TyKind::Set(element) => TyKind::Set(self.rebuild(element, leaf)),
            TyKind::Record(fields) => {
                let fields = fields.iter().map(|&(name, ty)| (name, self.rebuild(ty, leaf))).collect();
                TyKind::Record(fields)
            }
            other => other,
        };
        self.make(kind)
    }

    /// Returns a type with type parameters replaced by arguments.
    pub fn substitute(&mut self, ty: Ty, params: &[DeclId], args: &[Ty]) -> Ty {
        if params.is_empty() {
            return ty;
        }
        self.rebuild(ty, &mut |types, leaf| match types.kind(leaf) {
            TyKind::Param(decl) => params
                .iter()
                .position(|param| param == decl)
                .and_then(|at| args.get(at).copied())
                .unwrap_or(leaf),
            _ => leaf,
        })
    }

    /// Returns a type as a program writes it. Type arguments and elements deep inside are left out.
    #[must_use]
    pub fn show(&self, ast: &Ast, ty: Ty) -> String {
        self.show_levels(ast, ty, 4)
    }

    fn show_levels(&self, ast: &Ast, ty: Ty, levels: u32) -> String {
        if levels == 0 && !self.parts(ty).is_empty() {
            return "...".to_owned();
        }
        let show = |ty: Ty| self.show_levels(ast, ty, levels - 1);
        let list = |args: &[Ty]| args.iter().map(|&ty| show(ty)).collect::<Vec<_>>().join(", ");
        let named = |decl: DeclId, args: &[Ty]| {
            let name = ast.text(ast.decls[decl].name);
            if args.is_empty() { name.to_owned() } else { format!("{name}<{}>", list(args)) }
        };
        match self.kind(ty) {
            TyKind::Unknown | TyKind::Any | TyKind::Infer(_) => "_".into(),
            TyKind::Void => "void".into(),
            TyKind::Bool => "bool".into(),
            TyKind::Text => "string".into(),
            TyKind::Error => "error".into(),
            TyKind::MatchKind => "match_kind".into(),
            TyKind::Integer => "int".into(),
            TyKind::Bits(width) => format!("bit<{width}>"),
            TyKind::Signed(width) => format!("int<{width}>"),
            TyKind::Varbit(width) => format!("varbit<{width}>"),
            TyKind::Enum(decl) | TyKind::Newtype(decl) | TyKind::Param(decl) => named(*decl, &[]),
            TyKind::Header(decl, args)
            | TyKind::Struct(decl, args)
            | TyKind::Extern(decl, args)
            | TyKind::Parser(decl, args)
            | TyKind::Control(decl, args)
            | TyKind::Package(decl, args) => named(*decl, args),
            TyKind::Stack(element, size) => format!("{}[{size}]", show(*element)),
            TyKind::Tuple(args) => format!("{{{}}}", list(args)),
            TyKind::Record(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|&(name, ty)| format!("{} = {}", ast.names.text(name), show(ty)))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            TyKind::Set(element) => format!("set of {}", show(*element)),
            TyKind::Table(decl) => format!("table {}", named(*decl, &[])),
            TyKind::TableResult(decl) => format!("result of table {}", named(*decl, &[])),
            TyKind::ActionRun(decl) => format!("action_run of table {}", named(*decl, &[])),
            TyKind::Action(decl) => format!("action {}", named(*decl, &[])),
        }
    }

    /// Returns a type with the word for its kind: header `ipv4_h`, `bit<8>`.
    #[must_use]
    pub fn describe(&self, ast: &Ast, ty: Ty) -> String {
        let text = self.show(ast, ty);
        match self.kind(ty) {
            TyKind::Enum(_) => format!("enumeration `{text}`"),
            TyKind::Header(..) => format!("header `{text}`"),
            TyKind::Struct(..) => format!("struct `{text}`"),
            TyKind::Extern(..) => format!("extern `{text}`"),
            TyKind::Parser(..) => format!("parser `{text}`"),
            TyKind::Control(..) => format!("control `{text}`"),
            TyKind::Package(..) => format!("package `{text}`"),
            TyKind::Stack(..) => format!("header stack `{text}`"),
            TyKind::Table(decl) => format!("table `{}`", ast.text(ast.decls[*decl].name)),
            TyKind::TableResult(decl) => {
                format!("the result of table `{}`", ast.text(ast.decls[*decl].name))
            }
            TyKind::ActionRun(decl) => {
                format!("the action that table `{}` ran", ast.text(ast.decls[*decl].name))
            }
            TyKind::Action(decl) => format!("action `{}`", ast.text(ast.decls[*decl].name)),
            TyKind::Integer => "`int`, a constant without a width".into(),
            _ => format!("`{text}`"),
        }
    }

    /// Returns the type parameters and type arguments of a declared type.
    #[must_use]
    pub fn arguments<'a>(&'a self, ast: &'a Ast, ty: Ty) -> (&'a [DeclId], &'a [Ty]) {
        match self.kind(ty) {
            TyKind::Header(decl, args)
            | TyKind::Struct(decl, args)
            | TyKind::Extern(decl, args)
            | TyKind::Parser(decl, args)
            | TyKind::Control(decl, args)
            | TyKind::Package(decl, args) => (type_params(ast, *decl), args),
            _ => (&[], &[]),
        }
    }
}

/// Returns the type parameters of a declaration.
#[must_use]
pub fn type_params(ast: &Ast, decl: DeclId) -> &[DeclId] {
    match &ast.decls[decl].kind {
        DeclKind::Header(fields) | DeclKind::Struct(fields) => &fields.type_params,
        DeclKind::Extern(decl) => &decl.type_params,
        DeclKind::Parser(decl) => &decl.type_params,
        DeclKind::Control(decl) => &decl.type_params,
        DeclKind::Package(decl) => &decl.type_params,
        DeclKind::Function(decl) => &decl.type_params,
        _ => &[],
    }
}
