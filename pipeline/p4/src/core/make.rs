//! New parts of the tree, each with its entries in the checker's tables.

use super::Core;
use crate::check::{Call, Callee, Resolution, Ty, TyKind, Value};
use crate::source::Span;
use crate::syntax::ast::{
    Block, Decl, DeclId, DeclKind, Expr, ExprId, ExprKind, IntLiteral, Name, Stmt, StmtKind, Type, TypeId,
    TypeKind,
};

impl Core<'_> {
    /// Makes an expression.
    pub(super) fn expr(&mut self, kind: ExprKind, ty: Ty, at: Span) -> ExprId {
        let id = self.ast.exprs.push(Expr { span: at, kind });
        self.checked.expr_types.push(ty);
        self.checked.resolutions.push(None);
        id
    }

    /// Makes `true` or `false`.
    pub(super) fn truth(&mut self, value: bool, at: Span) -> ExprId {
        let id = self.expr(ExprKind::Bool(value), Ty::BOOL, at);
        self.checked.values.insert(id, Value::Bool(value));
        id
    }

    /// Makes a use of a variable, parameter or action.
    pub(super) fn name_of(&mut self, decl: DeclId, at: Span) -> ExprId {
        let name = Name { symbol: self.ast.decls[decl].name.symbol, span: at };
        let id = self.expr(ExprKind::Name { name, global: false }, self.checked.decl_types[decl], at);
        self.checked.resolutions[id] = Some(Resolution::Decl(decl));
        id
    }

    /// Makes a declaration inside `parent`, with a name that the program does not have.
    pub(super) fn decl(&mut self, parent: DeclId, wanted: &str, kind: DeclKind, ty: Ty, at: Span) -> DeclId {
        let name = loop {
            self.made += 1;
            let name = format!("{wanted}_{}", self.made);
            if self.ast.names.find(&name).is_none() {
                break name;
            }
        };
        let name = Name { symbol: self.ast.names.intern(&name), span: at };
        let decl = Decl { span: at, name, parent: Some(parent), annotations: Vec::new(), kind };
        self.checked.decl_types.push(ty);
        self.ast.decls.push(decl)
    }

    /// Makes a variable inside `parent`, and the statement that declares it.
    pub(super) fn variable(
        &mut self,
        parent: DeclId,
        wanted: &str,
        ty: Ty,
        value: Option<ExprId>,
        at: Span,
    ) -> (DeclId, Stmt) {
        let of = self.type_use(ty, at);
        let decl = self.decl(parent, wanted, DeclKind::Variable { of, value }, ty, at);
        (decl, Stmt { span: at, kind: StmtKind::Decl(decl) })
    }

    /// Makes `target = value;`.
    pub(super) fn assign(&mut self, target: ExprId, value: ExprId, at: Span) -> Stmt {
        Stmt { span: at, kind: StmtKind::Assign { target, value } }
    }

    /// Makes `callee();`.
    pub(super) fn call_of(&mut self, callee: ExprId, of: Callee, at: Span) -> Stmt {
        let call = ExprKind::Call { callee, type_args: Vec::new(), args: Vec::new() };
        let id = self.expr(call, Ty::VOID, at);
        self.checked.calls.insert(id, Call { callee: of, type_args: Vec::new(), args: Vec::new() });
        Stmt { span: at, kind: StmtKind::Call(id) }
    }

    /// Makes a copy of an expression and of all its parts.
    pub(super) fn copy(&mut self, of: ExprId) -> ExprId {
        let Expr { span, mut kind } = self.ast.exprs[of].clone();
        let mut copies = Vec::new();
        kind.for_each_part(&mut |part| {
            let copy = self.copy(*part);
            copies.push((*part, copy));
            *part = copy;
        });
        let id = self.expr(kind, self.checked.expr_types[of], span);
        self.checked.resolutions[id] = self.checked.resolutions[of];
        if let Some(value) = self.checked.values.get(&of).cloned() {
            self.checked.values.insert(id, value);
        }
        if let Some(call) = self.checked.calls.get(&of).cloned() {
            self.checked.calls.insert(id, call);
        }
        if let Some(made) = self.checked.constructs.get(&of).cloned() {
            self.checked.constructs.insert(id, made);
        }
        self.replace_parts(id, &copies);
        id
    }

    /// Puts new expressions in the place of parts of an expression.
    pub(super) fn replace_parts(&mut self, id: ExprId, new: &[(ExprId, ExprId)]) {
        let mut replace = |part: &mut ExprId| {
            if let Some((_, new)) = new.iter().find(|(old, _)| old == part) {
                *part = *new;
            }
        };
        self.ast.exprs[id].kind.for_each_part(&mut replace);
        if let Some(call) = self.checked.calls.get_mut(&id) {
            call.args.iter_mut().flatten().for_each(&mut replace);
        }
        if let Some(made) = self.checked.constructs.get_mut(&id) {
            made.args.iter_mut().flatten().for_each(replace);
        }
    }

    /// Makes a use of a type, as the tree is printed.
    fn type_use(&mut self, ty: Ty, at: Span) -> TypeId {
        let kind = match *self.checked.types.kind(ty) {
            TyKind::Bool => TypeKind::Bool,
            TyKind::Bits(width) => TypeKind::Bits { width: Some(self.number(width, at)) },
            TyKind::Signed(width) => TypeKind::SignedBits { width: self.number(width, at) },
            TyKind::Enum(decl)
            | TyKind::Newtype(decl)
            | TyKind::Header(decl, _)
            | TyKind::Struct(decl, _) => {
                TypeKind::Named { name: self.ast.decls[decl].name, global: false, args: Vec::new() }
            }
            _ => TypeKind::Invalid,
        };
        self.checked.type_uses.push(ty);
        self.ast.types.push(Type { span: at, kind })
    }

    /// Makes a number without a width.
    pub(super) fn number(&mut self, value: u32, at: Span) -> ExprId {
        let literal = IntLiteral { value: value.into(), width: None };
        let id = self.expr(ExprKind::Int(literal), Ty::INTEGER, at);
        self.checked.values.insert(id, Value::Int(value.into()));
        id
    }
}

/// Returns statements as one.
pub(super) fn joined(mut statements: Vec<Stmt>, at: Span) -> Stmt {
    match (statements.pop(), statements.is_empty()) {
        (Some(one), true) => one,
        (last, _) => {
            statements.extend(last);
            Stmt { span: at, kind: StmtKind::Block(Block { span: at, annotations: Vec::new(), statements }) }
        }
    }
}
