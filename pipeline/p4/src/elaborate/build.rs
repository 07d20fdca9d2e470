//! The walk from `main` down to every instance.

use super::code::Code;
use super::name::{full_name, is_hidden, join};
use super::{Action, Binding, Block, BlockId, Gress, Object, ObjectId, Pipe, Table, ValueSet, evaluate};
use crate::check::{Checked, Construction, Ty, TyKind, type_params};
use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::source::Span;
use crate::syntax::ast::{Ast, DeclId, DeclKind, ExprId, ExprKind};
use rustc_hash::FxHashMap;
use sluice_asic::limits;
use sluice_entity::EntityMap;

/// The state of an elaboration.
struct Builder<'a> {
    ast: &'a Ast,
    checked: &'a mut Checked,
    diagnostics: &'a mut Diagnostics,
    pipe: Pipe,
}

/// An error has been reported.
struct Reported;

pub(super) fn pipe(ast: &Ast, checked: &mut Checked, diagnostics: &mut Diagnostics) -> Option<Pipe> {
    let none = Gress { parser: entity(0), control: entity(0), deparser: entity(0) };
    let pipe = Pipe {
        name: String::new(),
        ingress: none,
        egress: none,
        ghost: None,
        blocks: EntityMap::new(),
        objects: EntityMap::new(),
        tables: EntityMap::new(),
        actions: EntityMap::new(),
        value_sets: EntityMap::new(),
        globals: FxHashMap::default(),
    };
    let mut builder = Builder { ast, checked, diagnostics, pipe };
    builder.main().ok()?;
    Some(builder.pipe)
}

fn entity<E: sluice_entity::Entity>(index: usize) -> E {
    E::new(index)
}

impl Builder<'_> {
    fn error(&mut self, at: Span, message: impl Into<String>, help: &str) -> Reported {
        self.diagnostics.push(Diagnostic::error(Class::Name, at, message).help(help));
        Reported
    }

    fn main(&mut self) -> Result<(), Reported> {
        let ast = self.ast;
        let mains = ast.names.find("main").and_then(|name| self.checked.top.get(&name));
        let Some(&main) = mains.and_then(|decls| decls.last()) else {
            let help = "end the program with `Switch(pipe) main;`";
            return Err(self.error(Span::NONE, "the program has no `main`", help));
        };
        let at = ast.decls[main].name.span;
        let Some(made) = self.checked.instances.get(&main).cloned() else {
            return Err(self.error(
                at,
                "`main` is not an instance of `Switch`",
                "end the program with `Switch(pipe) main;`",
            ));
        };
        if self.package(&made).is_none_or(|decl| self.text(decl) != "Switch") {
            return Err(self.error(
                at,
                "`main` is not an instance of `Switch`",
                "end the program with `Switch(pipe) main;`",
            ));
        }
        let mut pipes = made.args.iter().flatten().copied();
        let Some(first) = pipes.next() else {
            return Err(self.error(at, "`main` has no pipe", "write `Switch(pipe) main;`"));
        };
        if let Some(second) = pipes.next() {
            let second = ast.exprs[second].span;
            self.diagnostics.push(
                Diagnostic::warning(Class::Unsupported, second, "the program has several pipes")
                    .note("this pipe and those after it are ignored")
                    .also(ast.exprs[first].span, "every pipe runs this program"),
            );
        }
        let (pipeline, name) = match self.checked.decl_of(first) {
            Some(decl) => (self.checked.instances.get(&decl).cloned(), full_name(ast, "", decl)),
            None => (self.checked.constructs.get(&first).cloned(), "pipe".to_owned()),
        };
        self.pipe.name = name;
        match pipeline {
            Some(pipeline) => self.pipeline(&pipeline, ast.exprs[first].span),
            None => Err(self.error(
                ast.exprs[first].span,
                "this is not a `Pipeline`",
                "write `Pipeline(...) pipe;`",
            )),
        }
    }

    fn text(&self, decl: DeclId) -> &str {
        self.ast.text(self.ast.decls[decl].name)
    }

    fn package(&self, made: &Construction) -> Option<DeclId> {
        match self.checked.types.kind(made.ty) {
            TyKind::Package(decl, _) => Some(*decl),
            _ => None,
        }
    }

    fn pipeline(&mut self, made: &Construction, at: Span) -> Result<(), Reported> {
        let ast = self.ast;
        let params = match self.package(made).map(|decl| &ast.decls[decl].kind) {
            Some(DeclKind::Package(package)) => &package.params,
            _ => return Err(self.error(at, "this is not a `Pipeline`", "write `Pipeline(...) pipe;`")),
        };
        let mut blocks = FxHashMap::default();
        for (&param, arg) in params.iter().zip(&made.args) {
            let Some(arg) = *arg else { continue };
            let role = ast.text(ast.decls[param].name);
            if let Binding::Block(block) = self.argument(None, arg)? {
                blocks.insert(role, block);
            }
        }
        let mut block = |role: &'static str| match blocks.get(role) {
            Some(&block) => Ok(block),
            None => Err(self.error(
                at,
                format!("the pipe has no block `{role}`"),
                "give every block of `Pipeline`",
            )),
        };
        let ingress = Gress {
            parser: block("ingress_parser")?,
            control: block("ingress")?,
            deparser: block("ingress_deparser")?,
        };
        let egress = Gress {
            parser: block("egress_parser")?,
            control: block("egress")?,
            deparser: block("egress_deparser")?,
        };
        self.pipe.ingress = ingress;
        self.pipe.egress = egress;
        self.pipe.ghost = blocks.get("ghost").copied();
        Ok(())
    }

    fn path(&self, block: Option<BlockId>) -> String {
        block.map_or_else(|| self.pipe.name.clone(), |block| self.pipe.blocks[block].name.clone())
    }

    /// Returns what an argument of a constructor stands for: a value or an instance.
    fn argument(&mut self, block: Option<BlockId>, arg: ExprId) -> Result<Binding, Reported> {
        let ast = self.ast;
        if let Some(made) = self.checked.constructs.get(&arg).cloned() {
            let name = join(&self.path(block), &self.type_name(&made));
            let bound = self.construct(block, None, &name, false, &made)?;
            if let Some(block) = block {
                self.pipe.blocks[block].unnamed.insert(arg, bound.clone());
            }
            return Ok(bound);
        }
        if let Some(decl) = self.checked.decl_of(arg) {
            if let Some(bound) = self.bound(block, decl) {
                return Ok(bound);
            }
            if matches!(ast.decls[decl].kind, DeclKind::Instance(_)) {
                return self.global(decl);
            }
        }
        let pipe = &self.pipe;
        let bound = |decl: DeclId| match block {
            Some(block) => pipe.binding(block, decl).cloned(),
            None => pipe.globals.get(&decl).cloned(),
        };
        match evaluate::value(ast, self.checked, &bound, arg) {
            Some(value) => Ok(Binding::Value(value)),
            None => {
                let at = ast.exprs[arg].span;
                Err(self.error(
                    at,
                    "this argument of a constructor has no value",
                    "use constants and instances",
                ))
            }
        }
    }

    fn bound(&self, block: Option<BlockId>, decl: DeclId) -> Option<Binding> {
        match block {
            Some(block) => self.pipe.binding(block, decl).cloned(),
            None => self.pipe.globals.get(&decl).cloned(),
        }
    }

    /// Returns the instance that a declaration at the top level makes, which is made at its first use.
    fn global(&mut self, decl: DeclId) -> Result<Binding, Reported> {
        if let Some(bound) = self.pipe.globals.get(&decl) {
            return Ok(bound.clone());
        }
        let bound = self.declared_instance(None, decl)?;
        self.pipe.globals.insert(decl, bound.clone());
        Ok(bound)
    }

    fn type_name(&self, made: &Construction) -> String {
        match self.checked.types.kind(made.ty) {
            TyKind::Extern(decl, _) | TyKind::Parser(decl, _) | TyKind::Control(decl, _) => {
                full_name(self.ast, "", *decl)
            }
            _ => String::new(),
        }
    }

    fn declared_instance(&mut self, block: Option<BlockId>, decl: DeclId) -> Result<Binding, Reported> {
        let Some(made) = self.checked.instances.get(&decl).cloned() else {
            let at = self.ast.decls[decl].name.span;
            return Err(self.error(at, "this instance has an error", "correct the errors above"));
        };
        let name = full_name(self.ast, &self.path(block), decl);
        self.construct(block, Some(decl), &name, is_hidden(self.ast, decl), &made)
    }

    /// Makes an instance of an extern, parser or control.
    fn construct(
        &mut self,
        block: Option<BlockId>,
        instance: Option<DeclId>,
        name: &str,
        hidden: bool,
        made: &Construction,
    ) -> Result<Binding, Reported> {
        let pipe = &self.pipe;
        let instances = pipe.blocks.len() + pipe.objects.len() + pipe.tables.len() + pipe.actions.len();
        let limit = &limits::P4_INSTANCES;
        if limit.is_below(instances + 1) {
            let at = instance.map_or(Span::NONE, |decl| self.ast.decls[decl].name.span);
            let message = format!("the program has more than {} instances", limit.get());
            let help =
                format!("controls that contain each other multiply; instantiate fewer. {}", limit.advice());
            return Err(self.error(at, message, &help));
        }
        let args: Result<Vec<Option<Binding>>, Reported> =
            made.args.iter().map(|arg| arg.map(|arg| self.argument(block, arg)).transpose()).collect();
        let args = args?;
        let ty = self.concrete(block, made.ty);
        match self.checked.types.kind(ty).clone() {
            TyKind::Extern(decl, _) => {
                let methods = self.methods(instance);
                let (name, constructor) = (name.to_owned(), made.constructor);
                let object = Object { decl, name, hidden, block, instance, ty, constructor, args, methods };
                Ok(Binding::Object(self.pipe.objects.push(object)))
            }
            TyKind::Parser(decl, type_args) | TyKind::Control(decl, type_args) => {
                let made = Block {
                    decl,
                    name: name.to_owned(),
                    hidden,
                    parent: block,
                    type_args: type_args.to_vec(),
                    bindings: FxHashMap::default(),
                    unnamed: FxHashMap::default(),
                };
                let block = self.pipe.blocks.push(made);
                self.fill(block, decl, args)?;
                Ok(Binding::Block(block))
            }
            _ => {
                let at = instance.map_or(Span::NONE, |decl| self.ast.decls[decl].name.span);
                Err(self.error(at, "a package is an argument of a block", "only `Switch` takes pipes"))
            }
        }
    }

    fn concrete(&mut self, block: Option<BlockId>, ty: Ty) -> Ty {
        let Some(block) = block else { return ty };
        let block = &self.pipe.blocks[block];
        self.checked.types.substitute(ty, type_params(self.ast, block.decl), &block.type_args)
    }

    fn methods(&self, instance: Option<DeclId>) -> Vec<DeclId> {
        let Some(DeclKind::Instance(instance)) = instance.map(|decl| &self.ast.decls[decl].kind) else {
            return Vec::new();
        };
        let list = instance.initializer.iter().flatten().copied();
        list.filter(|&decl| matches!(self.ast.decls[decl].kind, DeclKind::Function(_))).collect()
    }

    /// Makes what is inside a block.
    fn fill(&mut self, block: BlockId, decl: DeclId, args: Vec<Option<Binding>>) -> Result<(), Reported> {
        let ast = self.ast;
        let (params, locals) = match &ast.decls[decl].kind {
            DeclKind::Parser(parser) => (&parser.constructor_params, &parser.locals),
            DeclKind::Control(control) => (&control.constructor_params, &control.locals),
            _ => return Ok(()),
        };
        for (&param, arg) in params.iter().zip(args) {
            let DeclKind::Param(of) = &ast.decls[param].kind else { continue };
            let bound = match arg {
                Some(Binding::Value(value)) => {
                    let ty = self.concrete(Some(block), self.checked.decl_types[param]);
                    Binding::Value(evaluate::convert(ast, self.checked, value, ty))
                }
                Some(bound) => bound,
                None => match of.default {
                    Some(default) => self.argument(Some(block), default)?,
                    None => continue,
                },
            };
            self.pipe.blocks[block].bindings.insert(param, bound);
        }
        for &local in locals {
            if let Some(bound) = self.local(block, local)? {
                self.pipe.blocks[block].bindings.insert(local, bound);
            }
        }
        self.applied(block, decl)
    }

    fn local(&mut self, block: BlockId, local: DeclId) -> Result<Option<Binding>, Reported> {
        let ast = self.ast;
        let name = full_name(ast, &self.pipe.blocks[block].name, local);
        let hidden = is_hidden(ast, local);
        Ok(Some(match &ast.decls[local].kind {
            DeclKind::Instance(_) => self.declared_instance(Some(block), local)?,
            DeclKind::Action(_) => {
                let action = Action { decl: local, name, hidden, block: Some(block) };
                Binding::Action(self.pipe.actions.push(action))
            }
            DeclKind::Table(_) => self.table(block, local, name)?,
            DeclKind::ValueSet { size, .. } => {
                let size = self.number(block, *size).and_then(|size| u32::try_from(size).ok()).unwrap_or(1);
                Binding::ValueSet(self.pipe.value_sets.push(ValueSet { decl: local, name, block, size }))
            }
            _ => return Ok(None),
        }))
    }

    fn is_global_instance(&self, decl: DeclId) -> bool {
        self.ast.decls[decl].parent.is_none() && matches!(self.ast.decls[decl].kind, DeclKind::Instance(_))
    }

    fn number(&self, block: BlockId, expr: ExprId) -> Option<u64> {
        let value = self.pipe.value(self.ast, self.checked, block, expr)?;
        value.as_int().and_then(|value| u64::try_from(value).ok())
    }

    fn table(&mut self, block: BlockId, decl: DeclId, name: String) -> Result<Binding, Reported> {
        let ast = self.ast;
        let DeclKind::Table(table) = &ast.decls[decl].kind else { return Err(Reported) };
        let mut actions = Vec::new();
        for (expr, _) in table.actions.iter().flat_map(|actions| &actions.list) {
            let callee = match &ast.exprs[*expr].kind {
                ExprKind::Call { callee, .. } => *callee,
                _ => *expr,
            };
            let Some(action) = self.checked.decl_of(callee) else { continue };
            let bound = self.bound(Some(block), action);
            let id = match bound {
                Some(Binding::Action(id)) => id,
                _ => {
                    let name = full_name(ast, "", action);
                    let hidden = is_hidden(ast, action);
                    let id = self.pipe.actions.push(Action { decl: action, name, hidden, block: None });
                    self.pipe.globals.insert(action, Binding::Action(id));
                    id
                }
            };
            actions.push((id, *expr));
        }
        let mut objects = Vec::new();
        for property in &table.properties {
            if let Some(object) = self.property(block, &name, ast.text(property.name), property.value)? {
                objects.push((property.value, object));
            }
        }
        let size = table.size.as_ref().and_then(|size| self.number(block, size.value));
        let hidden = is_hidden(ast, decl);
        let made = Table { decl, name, hidden, block, size, actions, objects };
        Ok(Binding::Table(self.pipe.tables.push(made)))
    }

    /// Returns the extern object that a property of a table names or makes.
    fn property(
        &mut self,
        block: BlockId,
        table: &str,
        property: &str,
        value: ExprId,
    ) -> Result<Option<ObjectId>, Reported> {
        let bound = match self.checked.constructs.get(&value).cloned() {
            Some(made) => {
                let bound = self.construct(Some(block), None, &join(table, property), false, &made)?;
                self.pipe.blocks[block].unnamed.insert(value, bound.clone());
                bound
            }
            None if matches!(self.checked.kind_of(value), TyKind::Extern(..)) => {
                self.argument(Some(block), value)?
            }
            None => return Ok(None),
        };
        Ok(match bound {
            Binding::Object(object) => Some(object),
            _ => None,
        })
    }

    /// Makes the instances of `C.apply(...)`, and those at the top level that the code of a block uses.
    fn applied(&mut self, block: BlockId, decl: DeclId) -> Result<(), Reported> {
        let ast = self.ast;
        let mut code = Code::new(ast);
        match &ast.decls[decl].kind {
            DeclKind::Parser(parser) => parser.states.iter().for_each(|&state| code.decl(state)),
            DeclKind::Control(control) => {
                control
                    .apply
                    .iter()
                    .flat_map(|apply| &apply.statements)
                    .for_each(|statement| code.stmt(statement));
            }
            _ => {}
        }
        let locals = match &ast.decls[decl].kind {
            DeclKind::Parser(parser) => &parser.locals,
            DeclKind::Control(control) => &control.locals,
            _ => return Ok(()),
        };
        locals.iter().for_each(|&local| code.decl(local));
        let mut counts: FxHashMap<DeclId, usize> = FxHashMap::default();
        for expr in code.exprs {
            if let Some(global) = self.checked.decl_of(expr).filter(|&decl| self.is_global_instance(decl)) {
                self.global(global)?;
            }
            if !matches!(ast.exprs[expr].kind, ExprKind::Type(_)) {
                continue;
            }
            let ty = self.checked.expr_types[expr];
            let (TyKind::Control(of, _) | TyKind::Parser(of, _)) = *self.checked.types.kind(ty) else {
                continue;
            };
            let number = counts.entry(of).or_default();
            let suffix = if *number == 0 { String::new() } else { format!("_{number}") };
            *number += 1;
            let name = format!("{}{suffix}", full_name(ast, &self.pipe.blocks[block].name, of));
            let made = Construction { ty, constructor: None, args: Vec::new() };
            let bound = self.construct(Some(block), None, &name, false, &made)?;
            self.pipe.blocks[block].unnamed.insert(expr, bound);
        }
        Ok(())
    }
}
