//! The order in which actions, controls and parsers read and write places.

use super::tree::{Path, Tree};
use crate::check::{Builtin, Callee, Checked, Resolution};
use crate::syntax::ast::{
    Ast, Block, ControlDecl, DeclId, DeclKind, ExprId, ExprKind, ParserDecl, Stmt, StmtKind, Transition,
};
use rustc_hash::FxHashMap;

/// When a body uses a place. Times count the statements of the longest way; what a statement reads, it reads before it writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// The last read.
    pub(super) read: Option<u64>,
    /// The first write.
    pub(super) written: Option<u64>,
}

impl Use {
    fn join(&mut self, other: Use, from: u64) {
        let later = |time: u64| time.saturating_add(from);
        self.read = self.read.max(other.read.map(later));
        self.written = match (self.written, other.written.map(later)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// The places that a body uses, and its length in statements.
#[derive(Clone, Debug, Default)]
struct Body {
    uses: FxHashMap<Path, Use>,
    length: u64,
}

/// The bodies of all actions, controls, parsers, tables and objects, with the places by the names that each has for them.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    of: FxHashMap<DeclId, Body>,
}

impl Bodies {
    /// Finds the bodies of a whole program.
    pub(crate) fn new(ast: &Ast, checked: &Checked) -> Self {
        let (tree, mut bodies) = (Tree { ast, checked }, Bodies::default());
        // A declaration names only earlier ones, and a control those inside it.
        for &decl in &ast.top {
            if let DeclKind::Control(ControlDecl { locals, .. })
            | DeclKind::Parser(ParserDecl { locals, .. }) = &ast.decls[decl].kind
            {
                locals.iter().for_each(|local| bodies.add(&tree, *local));
            }
            bodies.add(&tree, decl);
        }
        bodies
    }

    fn add(&mut self, tree: &Tree<'_>, decl: DeclId) {
        // Time 0 is that before the first statement.
        let mut walk = Walk { tree, bodies: self, body: Body::default(), now: 1 };
        walk.decl(decl);
        let body = Body { length: walk.now, ..walk.body };
        self.of.insert(decl, body);
    }

    /// Returns the places that a callee uses, by the caller's names, each with the argument that it is reached through.
    pub(super) fn through(
        &self,
        tree: &Tree<'_>,
        callee: DeclId,
        call: ExprId,
    ) -> Vec<(Option<ExprId>, Path, Use)> {
        let given = tree.given(call);
        let uses = self.of.get(&callee).into_iter().flat_map(|body| &body.uses);
        let found = uses.filter_map(|(path, used)| {
            let root = path.first()?;
            let Some((arg, _)) = given.iter().find(|(_, param)| *root == Resolution::Decl(*param)) else {
                return Some((None, path.clone(), *used));
            };
            let place = tree.path(*arg)?;
            Some((Some(*arg), place.into_iter().chain(path[1..].iter().copied()).collect(), *used))
        });
        found.collect()
    }
}

/// A way through the code of a body.
struct Walk<'w> {
    tree: &'w Tree<'w>,
    bodies: &'w Bodies,
    body: Body,
    now: u64,
}

impl Walk<'_> {
    fn decl(&mut self, decl: DeclId) {
        let ast = self.tree.ast;
        match &ast.decls[decl].kind {
            DeclKind::Action(action) => self.block(&action.body),
            DeclKind::Function(function) => function.body.iter().for_each(|body| self.block(body)),
            DeclKind::Variable { value: Some(value), .. } => self.value(*value),
            DeclKind::Control(control) => {
                let variables = control.locals.iter().filter(|local| self.tree.is_variable(**local));
                variables.for_each(|local| self.decl(*local));
                control.apply.iter().for_each(|apply| self.block(apply));
            }
            // States follow each other in any order, also more than once.
            DeclKind::Parser(parser) => {
                for _ in 0..2 {
                    parser.states.iter().for_each(|state| self.decl(*state));
                }
            }
            DeclKind::State(state) => {
                state.statements.iter().for_each(|stmt| self.stmt(stmt));
                if let Some(Transition::Select(select)) = &state.transition {
                    select.keys.iter().for_each(|key| self.value(*key));
                }
            }
            DeclKind::Instance(instance) => {
                instance.initializer.iter().flatten().for_each(|of| self.decl(*of))
            }
            DeclKind::Table(table) => {
                let keys = table.key.iter().flat_map(|key| &key.elements);
                keys.for_each(|key| self.value(key.value));
                let actions = table.actions.iter().flat_map(|actions| &actions.list);
                self.choices(actions.map(|(action, _)| action), |walk, action| walk.listed(*action));
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Decl(decl) => self.decl(*decl),
            StmtKind::Assign { target, value } => {
                self.value(*value);
                self.inside(*target);
                self.uses(*target, true);
            }
            StmtKind::Call(call) | StmtKind::Return(Some(call)) => self.value(*call),
            StmtKind::If { condition, then, otherwise } => {
                self.value(*condition);
                let branches = std::iter::once(then).chain(otherwise);
                self.choices(branches, |walk, branch| walk.stmt(branch));
            }
            StmtKind::Switch { value, cases } => {
                self.value(*value);
                let bodies = cases.iter().filter_map(|case| case.body.as_ref());
                self.choices(bodies, |walk, body| walk.block(body));
            }
            StmtKind::Empty | StmtKind::Return(None) | StmtKind::Exit => {}
        }
        self.now = self.now.saturating_add(1);
    }

    /// Walks through ways of which a packet takes one.
    fn choices<T>(&mut self, ways: impl Iterator<Item = T>, mut walk: impl FnMut(&mut Self, T)) {
        self.now = self.now.saturating_add(1);
        let (start, mut end) = (self.now, self.now);
        for way in ways {
            self.now = start;
            walk(self, way);
            end = end.max(self.now);
        }
        self.now = end;
    }

    /// Walks through an action of a table's list.
    fn listed(&mut self, action: ExprId) {
        match self.tree.checked.resolutions[action] {
            Some(Resolution::Decl(named)) => self.named(named),
            _ => self.value(action),
        }
    }

    /// Walks through an expression, in the order in which it is computed.
    fn value(&mut self, expr: ExprId) {
        let kind = &self.tree.ast.exprs[expr].kind;
        match kind {
            ExprKind::Call { callee, .. } => self.call(expr, *callee),
            _ if self.tree.path(expr).is_some() => {
                self.inside(expr);
                self.uses(expr, false);
            }
            _ => kind.parts().for_each(|part| self.value(part)),
        }
    }

    fn call(&mut self, call: ExprId, callee: ExprId) {
        let Some(found) = self.tree.checked.calls.get(&call).map(|call| call.callee) else { return };
        let given = self.tree.given(call);
        let is_place =
            |arg: &ExprId| given.iter().any(|given| given.0 == *arg) && self.tree.path(*arg).is_some();
        let parts = self.tree.ast.exprs[call].kind.parts().filter(|part| *part != callee);
        let (places, values): (Vec<ExprId>, Vec<ExprId>) = parts.partition(is_place);
        values.into_iter().for_each(|part| self.value(part));
        places.iter().for_each(|place| self.inside(*place));
        match found {
            Callee::Action(decl) | Callee::Block(decl) => {
                for (_, path, used) in self.bodies.through(self.tree, decl, call) {
                    self.body.uses.entry(path).or_default().join(used, self.now);
                }
                let length = self.bodies.of.get(&decl).map_or(0, |body| body.length);
                self.now = self.now.saturating_add(length);
            }
            Callee::Table(decl) => self.named(decl),
            Callee::Builtin(of) => {
                let written = matches!(
                    of,
                    Builtin::SetValid | Builtin::SetInvalid | Builtin::PushFront | Builtin::PopFront
                );
                self.inside(callee);
                self.uses(callee, written);
            }
            Callee::Function(_) | Callee::Method(_) => {
                places.into_iter().for_each(|place| self.uses(place, self.tree.writes(&given, place)));
                // What a register action reads stands in its object.
                if let Some(Resolution::Decl(object)) =
                    self.tree.base(callee).and_then(|base| self.tree.checked.resolutions[base])
                {
                    self.named(object);
                }
            }
        }
    }

    /// Walks through the body of a declaration that is used by its name.
    fn named(&mut self, decl: DeclId) {
        let Some(body) = self.bodies.of.get(&decl) else { return };
        for (path, used) in &body.uses {
            self.body.uses.entry(path.clone()).or_default().join(*used, self.now);
        }
        self.now = self.now.saturating_add(body.length);
    }

    /// Walks through the indices inside a place.
    fn inside(&mut self, place: ExprId) {
        let mut next = Some(place);
        while let Some(expr) = next {
            if let ExprKind::Index { index, .. } = self.tree.ast.exprs[expr].kind {
                self.value(index);
            }
            next = self.tree.base(expr);
        }
    }

    fn uses(&mut self, place: ExprId, written: bool) {
        let Some(path) = self.tree.path(place) else { return };
        let now = Some(0);
        let used = if written { Use { written: now, read: None } } else { Use { read: now, written: None } };
        self.body.uses.entry(path).or_default().join(used, self.now);
    }
}
