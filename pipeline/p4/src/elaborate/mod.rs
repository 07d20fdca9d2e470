//! From the package instance `main` to instances by path, as plain data that a lowering walks.
//!
//! A checked program has declarations; a pipe has *instances*: a control that is instantiated at two places is two blocks, with
//! two sets of tables, actions and extern objects. [`elaborate`] starts at `Switch(Pipeline(...)) main` and makes a [`Block`]
//! for each parser and control on the way down, with its constructor arguments evaluated. The code of a block stays in the syntax
//! tree: a lowering walks the declaration and asks the block for what a name means there ([`Pipe::binding`]), for
//! values ([`Pipe::value`]) and for types without type parameters ([`Pipe::ty`]).
//!
//! Names are those of the control plane: `pipe.SwitchIngress.acl.table`. `@name("x")` replaces the last part, `@name(".x")` the
//! whole name.

mod build;
mod code;
mod evaluate;
mod name;

use crate::check::{Checked, Ty, Value, type_params};
use crate::diagnostic::Diagnostics;
use crate::syntax::ast::{Ast, DeclId, ExprId, Stmt};
use rustc_hash::FxHashMap;
use sluice_entity::{EntityMap, entities};

entities! {
    /// An instance of a parser or control.
    BlockId = "block";
    /// An instance of an extern.
    ObjectId = "object";
    /// An instance of a table.
    TableId = "table";
    /// An instance of an action.
    ActionId = "action";
    /// An instance of a value set.
    ValueSetId = "value_set";
}

/// Elaborates the first pipe of a checked program. Returns `None` after an error, which goes to `diagnostics`. A program with
/// several pipes gets a warning. The types of `checked` grow by those of instances of generic parsers and controls.
pub fn elaborate(ast: &Ast, checked: &mut Checked, diagnostics: &mut Diagnostics) -> Option<Pipe> {
    build::pipe(ast, checked, diagnostics)
}

/// Returns all expressions of a declaration's code, in source order.
#[must_use]
pub fn code_of(ast: &Ast, decl: DeclId) -> Vec<ExprId> {
    let mut code = code::Code::new(ast);
    code.decl(decl);
    code.exprs
}

/// Returns all expressions of a statement, in source order.
#[must_use]
pub(crate) fn code_of_statement(ast: &Ast, statement: &Stmt) -> Vec<ExprId> {
    let mut code = code::Code::new(ast);
    code.stmt(statement);
    code.exprs
}

/// The program of a pipe.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// The name of the pipe, with which all other names begin.
    pub name: String,
    /// Parser, control and deparser of ingress.
    pub ingress: Gress,
    /// Parser, control and deparser of egress.
    pub egress: Gress,
    /// The ghost control of Tofino 2.
    pub ghost: Option<BlockId>,
    /// Parsers and controls; a block comes after the blocks that contain it.
    pub blocks: EntityMap<BlockId, Block>,
    /// Extern objects.
    pub objects: EntityMap<ObjectId, Object>,
    /// Tables.
    pub tables: EntityMap<TableId, Table>,
    /// Actions.
    pub actions: EntityMap<ActionId, Action>,
    /// Value sets.
    pub value_sets: EntityMap<ValueSetId, ValueSet>,
    /// What names at the top level stand for.
    globals: FxHashMap<DeclId, Binding>,
}

/// The blocks of a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gress {
    /// The parser.
    pub parser: BlockId,
    /// The control.
    pub control: BlockId,
    /// The deparser.
    pub deparser: BlockId,
}

/// An instance of a parser or control.
#[derive(Clone, Debug)]
pub struct Block {
    /// The parser or control.
    pub decl: DeclId,
    /// The full name.
    pub name: String,
    /// True if the control plane does not see the instance (`@hidden`).
    pub hidden: bool,
    /// The block that contains the instance.
    pub parent: Option<BlockId>,
    /// Type arguments, in the order of the type parameters.
    pub type_args: Vec<Ty>,
    /// What constructor parameters, instances, tables, actions and value sets of the block stand for.
    bindings: FxHashMap<DeclId, Binding>,
    /// Instances without a name: `C()` in an expression, `C` in `C.apply(...)`.
    unnamed: FxHashMap<ExprId, Binding>,
}

/// What a name stands for in an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A constant.
    Value(Value),
    /// A parser or control.
    Block(BlockId),
    /// An extern object.
    Object(ObjectId),
    /// A table.
    Table(TableId),
    /// An action.
    Action(ActionId),
    /// A value set.
    ValueSet(ValueSetId),
}

/// An instance of an extern.
#[derive(Clone, Debug)]
pub struct Object {
    /// The extern.
    pub decl: DeclId,
    /// The full name.
    pub name: String,
    /// True if the control plane does not see the instance (`@hidden`).
    pub hidden: bool,
    /// The block with the instance; `None` at the top level.
    pub block: Option<BlockId>,
    /// The declaration of the instance, which has its annotations; `None` for one without a name.
    pub instance: Option<DeclId>,
    /// The type, with type arguments.
    pub ty: Ty,
    /// The constructor that was chosen.
    pub constructor: Option<DeclId>,
    /// The constructor's arguments in the order of its parameters; `None` for an absent one.
    pub args: Vec<Option<Binding>>,
    /// Implementations of abstract methods.
    pub methods: Vec<DeclId>,
}

/// An instance of a table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The declaration.
    pub decl: DeclId,
    /// The full name.
    pub name: String,
    /// True if the control plane does not see the table (`@hidden`).
    pub hidden: bool,
    /// The control with the table.
    pub block: BlockId,
    /// The number of entries; `None` if the program does not say.
    pub size: Option<u64>,
    /// The actions, in source order, each with the expression that names it in the table.
    pub actions: Vec<(ActionId, ExprId)>,
    /// Extern objects of the table's properties, such as `implementation`, with the property's value.
    pub objects: Vec<(ExprId, ObjectId)>,
}

/// An instance of an action.
#[derive(Clone, Debug)]
pub struct Action {
    /// The declaration.
    pub decl: DeclId,
    /// The full name.
    pub name: String,
    /// True if the control plane does not see the action (`@hidden`).
    pub hidden: bool,
    /// The control with the action; `None` at the top level.
    pub block: Option<BlockId>,
}

/// An instance of a value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// The declaration.
    pub decl: DeclId,
    /// The full name.
    pub name: String,
    /// The parser with the value set.
    pub block: BlockId,
    /// The number of elements.
    pub size: u32,
}

impl Pipe {
    /// Returns what a declaration stands for in a block, or at the top level. Local variables and parameters of `apply` stand for
    /// nothing but themselves: `None`.
    #[must_use]
    pub fn binding(&self, block: BlockId, decl: DeclId) -> Option<&Binding> {
        self.blocks[block].bindings.get(&decl).or_else(|| self.globals.get(&decl))
    }

    /// Returns the instance without a name that an expression makes in a block.
    #[must_use]
    pub fn unnamed(&self, block: BlockId, expr: ExprId) -> Option<&Binding> {
        self.blocks[block].unnamed.get(&expr)
    }

    /// Returns the instance that an expression names in a block: `reg` in `reg.read(0)`, `C` in `C.apply()`.
    #[must_use]
    pub fn instance(&self, checked: &Checked, block: BlockId, expr: ExprId) -> Option<&Binding> {
        match checked.decl_of(expr) {
            Some(decl) => self.binding(block, decl),
            None => self.unnamed(block, expr),
        }
    }

    /// Returns the value of an expression in a block, if it is known at compile time.
    #[must_use]
    pub fn value(&self, ast: &Ast, checked: &Checked, block: BlockId, expr: ExprId) -> Option<Value> {
        evaluate::value(ast, checked, &|decl| self.binding(block, decl).cloned(), expr)
    }

    /// Returns the value of an expression in a block where parameters and variables may have known values.
    pub(crate) fn value_where(
        &self,
        (ast, checked): (&Ast, &Checked),
        block: BlockId,
        known: &dyn Fn(DeclId) -> Option<Value>,
        expr: ExprId,
    ) -> Option<Value> {
        let binding = |decl| match known(decl) {
            Some(value) => Some(Binding::Value(value)),
            None => self.binding(block, decl).cloned(),
        };
        evaluate::value(ast, checked, &binding, expr)
    }

    /// Returns the type of an expression in a block, with the block's type arguments in place.
    #[must_use]
    pub fn ty(&self, ast: &Ast, checked: &mut Checked, block: BlockId, expr: ExprId) -> Ty {
        let ty = checked.expr_types[expr];
        self.concrete(ast, checked, block, ty)
    }

    /// Returns a type that is written in a block, with the block's type arguments in place.
    #[must_use]
    pub fn concrete(&self, ast: &Ast, checked: &mut Checked, block: BlockId, ty: Ty) -> Ty {
        let block = &self.blocks[block];
        checked.types.substitute(ty, type_params(ast, block.decl), &block.type_args)
    }
}
