//! Control-flow graph: a control block flattened into nodes and predicates, and the variables that each node accesses.
//!
//! Placement, both dependency checks and the engine work on this form. A [`Node`] is one logical table (match table,
//! keyless action or gateway). A [`Pred`] is the condition under which nodes run: outcomes of earlier nodes.

use crate::entity::{Entity, EntityMap, entities};
use crate::{
    Action, ApplyArms, Block, Cond, CounterLoad, Field, Header, Home, Intrinsic, Loc, ParserOpKind,
    PrimitiveKind, Program, RequestKind, Stmt, StmtKind, Table,
};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

entities! {
    /// A logical table of one gress, numbered in program order.
    Node = "node";
    /// A condition under which nodes run.
    Pred = "pred";
}

/// Kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A gateway: decides between two predicates.
    Gateway(Cond),
    /// A match-action table.
    Table(Table),
    /// A keyless table that runs one action.
    Action(Action),
}

/// A node of a control-flow graph.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeData {
    /// Kind of the node.
    pub kind: NodeKind,
    /// Predicate under which the node runs.
    pub pred: Pred,
    /// For a gateway: the gateways of the program's own graph whose conditions this gateway decides, outermost first.
    /// This is the gateway itself, unless placement has joined or repeated conditions.
    pub decides: Vec<Node>,
    /// Source location.
    pub loc: Loc,
}

/// Outcome of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The gateway's condition holds.
    Then,
    /// The gateway's condition does not hold.
    Else,
    /// An entry matched.
    Hit,
    /// No entry matched.
    Miss,
    /// This action ran.
    Ran(Action),
}

/// A predicate: true if its parent is true and a node had this outcome. Roots have neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredData {
    /// The enclosing predicate and the outcome that this one adds; `None` for "always".
    pub of: Option<(Pred, Node, Outcome)>,
}

/// The flattened control block of one gress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cfg {
    /// Nodes in program order.
    pub nodes: EntityMap<Node, NodeData>,
    /// Predicates; the first is "always". A parent is before its children.
    pub preds: EntityMap<Pred, PredData>,
    /// Ingress: the predicate that is true for updates of queue depths, for which "always" is false. The nodes of the
    /// ghost control are below this predicate, and after the nodes of ingress.
    pub ghost: Option<Pred>,
}

/// Content of a PHV: a field, or a header's validity (POV) bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// A field.
    Field(Field),
    /// The validity of a header.
    Valid(Header),
}

/// Variables that a node reads and writes; each list is sorted and has no repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Read through the input crossbar: keys, gateway conditions, hash inputs, indices, operands of
    /// stateful ALUs.
    pub match_reads: Vec<Var>,
    /// Read by action ALUs.
    pub action_reads: Vec<Var>,
    /// Written by action ALUs.
    pub writes: Vec<Var>,
}

impl Cfg {
    /// Flattens the control block of `gress`.
    #[must_use]
    pub fn of(program: &Program, gress: Gress) -> Cfg {
        let ghost = if gress == Gress::Ingress { &program.ghost[..] } else { &[] };
        Cfg::of_blocks(&program.pipe(gress).control, ghost)
    }

    /// Flattens a control block and the ghost control, which may be empty.
    pub fn of_blocks(control: &[Stmt], ghost_control: &[Stmt]) -> Cfg {
        let mut cfg = Cfg::default();
        let always = cfg.preds.push(PredData { of: None });
        cfg.block(control, always);
        if !ghost_control.is_empty() {
            let ghost = cfg.preds.push(PredData { of: None });
            cfg.ghost = Some(ghost);
            cfg.block(ghost_control, ghost);
        }
        cfg
    }

    /// Returns true if the node belongs to the ghost control.
    #[must_use]
    pub fn is_ghost(&self, node: Node) -> bool {
        self.ghost.is_some_and(|ghost| {
            // Predicates of the ghost control are after its root.
            self.nodes[node].pred >= ghost
        })
    }

    /// Returns the predicate that is always true for packets.
    #[must_use]
    pub fn always(&self) -> Pred {
        Pred::new(0)
    }

    fn block(&mut self, block: &[Stmt], pred: Pred) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Apply(table, arms) => {
                    let node = self.node(NodeKind::Table(*table), pred, stmt.loc);
                    self.arms(arms, pred, node);
                }
                StmtKind::If(cond, then, otherwise) => {
                    let kind = NodeKind::Gateway(cond.clone());
                    let node = self.node(kind, pred, stmt.loc);
                    self.nodes[node].decides.push(node);
                    self.arm(then, pred, node, Outcome::Then);
                    self.arm(otherwise, pred, node, Outcome::Else);
                }
                StmtKind::Call(action) => _ = self.node(NodeKind::Action(*action), pred, stmt.loc),
            }
        }
    }

    fn node(&mut self, kind: NodeKind, pred: Pred, loc: Loc) -> Node {
        self.nodes.push(NodeData { kind, pred, decides: Vec::new(), loc })
    }

    fn arms(&mut self, arms: &ApplyArms, pred: Pred, node: Node) {
        self.arm(&arms.hit, pred, node, Outcome::Hit);
        self.arm(&arms.miss, pred, node, Outcome::Miss);
        for (action, block) in &arms.run {
            self.arm(block, pred, node, Outcome::Ran(*action));
        }
    }

    fn arm(&mut self, block: &Block, parent: Pred, node: Node, outcome: Outcome) {
        if !block.is_empty() {
            let pred = self.preds.push(PredData { of: Some((parent, node, outcome)) });
            self.block(block, pred);
        }
    }

    /// Returns the outcomes that must all occur for `pred`, outermost first.
    #[must_use]
    pub fn outcomes(&self, pred: Pred) -> Vec<(Node, Outcome)> {
        let way = std::iter::successors(self.preds[pred].of, |(parent, ..)| self.preds[*parent].of);
        let mut list: Vec<_> = way.map(|(_, node, outcome)| (node, outcome)).collect();
        list.reverse();
        list
    }

    /// Returns true if a node had contradicting outcomes for the two predicates. Only the node at which their paths
    /// part can: below it, the paths have no node in common.
    fn contrary(&self, mut a: Pred, mut b: Pred) -> bool {
        let mut parted = [None; 2];
        while a != b {
            // A parent is before its children.
            let (at, last) = if a > b { (&mut a, &mut parted[0]) } else { (&mut b, &mut parted[1]) };
            let Some((parent, node, outcome)) = self.preds[*at].of else { return false };
            (*at, *last) = (parent, Some((node, outcome)));
        }
        matches!(parted, [Some((n, x)), Some((m, y))] if n == m && contradicts(x, y))
    }

    /// Returns true if no packet runs both nodes, because a node above them had contradicting outcomes.
    #[must_use]
    pub fn exclusive(&self, a: Node, b: Node) -> bool {
        if self.is_ghost(a) != self.is_ghost(b) {
            return true;
        }
        self.contrary(self.nodes[a].pred, self.nodes[b].pred)
    }

    /// Returns true if no packet for which `pred` is true runs the node.
    #[must_use]
    pub fn excluded(&self, node: Node, pred: Pred) -> bool {
        let of_ghost = self.ghost.is_some_and(|ghost| pred >= ghost);
        self.is_ghost(node) != of_ghost || self.contrary(pred, self.nodes[node].pred)
    }

    /// Returns the predicates that `node` decides, each with its outcome.
    pub fn decided_by(&self, node: Node) -> impl Iterator<Item = (Pred, Outcome)> + '_ {
        self.preds.iter().filter_map(move |(p, d)| match d.of {
            Some((_, n, outcome)) if n == node => Some((p, outcome)),
            _ => None,
        })
    }

    /// Returns the actions that `node` may run.
    #[must_use]
    pub fn actions(&self, program: &Program, node: Node) -> Vec<Action> {
        match &self.nodes[node].kind {
            NodeKind::Gateway(_) => Vec::new(),
            NodeKind::Action(a) => vec![*a],
            NodeKind::Table(t) => table_actions(program, *t),
        }
    }

    /// Returns the actions that `node` may run for packets that run `later`: one, if `later` is in the arm of an action, or in the
    /// arm of a miss after which no other action can run.
    #[must_use]
    pub fn actions_before(&self, program: &Program, node: Node, later: Node) -> Vec<Action> {
        let outcomes = self.outcomes(self.nodes[later].pred);
        let outcome = outcomes.iter().find(|(decider, _)| *decider == node).map(|(_, outcome)| *outcome);
        let table = match self.nodes[node].kind {
            NodeKind::Table(table) => Some(&program.tables[table]),
            _ => None,
        };
        match (outcome, table) {
            (Some(Outcome::Ran(action)), _) => vec![action],
            (Some(Outcome::Hit), Some(table)) if table.profile.is_none() => table.actions.clone(),
            (Some(Outcome::Miss), Some(table)) if table.constant_default => vec![table.default.action],
            _ => self.actions(program, node),
        }
    }

    /// Returns the variables that `node` reads and writes for packets that run `later`, and the slices that it deposits.
    #[must_use]
    pub fn effects_before(&self, program: &Program, node: Node, later: Node) -> (Effects, Deposits) {
        let actions = self.actions_before(program, node, later);
        (self.effects_of(program, node, &actions), self.deposits_of(program, node, &actions))
    }

    /// Returns the fields of which `node` writes slices alone and reads nothing: nodes that deposit different slices of a field
    /// may run in any order.
    #[must_use]
    pub fn deposits(&self, program: &Program, node: Node) -> Deposits {
        self.deposits_of(program, node, &self.actions(program, node))
    }

    fn deposits_of(&self, program: &Program, node: Node, actions: &[Action]) -> Deposits {
        let mut slices = Deposits::new();
        let mut others: Vec<Var> = Vec::new();
        match &self.nodes[node].kind {
            NodeKind::Gateway(_) => return slices,
            NodeKind::Table(t) => {
                let mut e = Effects::default();
                table_reads(program, *t, &mut e);
                others.extend(e.match_reads);
            }
            NodeKind::Action(_) => {}
        }
        for action in actions {
            let data = &program.actions[*action];
            for primitive in &data.body {
                if let PrimitiveKind::SetSlice(field, hi, lo, value) = &primitive.kind {
                    slices.entry(*field).or_default().push((*hi, *lo));
                    value.fields(&mut |f| others.push(Var::Field(f)));
                } else if let PrimitiveKind::HashInto(field, hi, lo, hash, _) = &primitive.kind {
                    slices.entry(*field).or_default().push((*hi, *lo));
                    for input in &program.hashes[*hash].inputs {
                        input.fields(&mut |f| others.push(Var::Field(f)));
                    }
                } else {
                    others.extend(crate::group::writes(program, data.gress, &primitive.kind));
                    others.extend(crate::group::reads(program, &primitive.kind));
                }
            }
        }
        slices.retain(|field, _| !others.contains(&Var::Field(*field)));
        slices
    }

    /// Returns the variables that `node` reads and writes.
    #[must_use]
    pub fn effects(&self, program: &Program, node: Node) -> Effects {
        self.effects_of(program, node, &self.actions(program, node))
    }

    fn effects_of(&self, program: &Program, node: Node, actions: &[Action]) -> Effects {
        let mut e = Effects::default();
        match &self.nodes[node].kind {
            NodeKind::Gateway(cond) => {
                e.match_reads = cond.vars();
            }
            NodeKind::Table(t) => table_reads(program, *t, &mut e),
            NodeKind::Action(_) => {}
        }
        for action in actions {
            action_effects(program, *action, &mut e);
        }
        for list in [&mut e.match_reads, &mut e.action_reads, &mut e.writes] {
            list.sort_unstable();
            list.dedup();
        }
        e
    }
}

/// Slices of fields, each with its highest and lowest bit.
pub type Deposits = BTreeMap<Field, Vec<(u16, u16)>>;

/// Returns true if two nodes that deposit slices of a field write none of the same bits.
#[must_use]
pub fn deposit_apart(a: &Deposits, b: &Deposits, var: Var) -> bool {
    let Var::Field(field) = var else { return false };
    let (Some(a), Some(b)) = (a.get(&field), b.get(&field)) else { return false };
    a.iter().all(|(hi, lo)| b.iter().all(|(other_hi, other_lo)| hi < other_lo || other_hi < lo))
}

/// Returns true for outcomes that exclude each other: different actions of one table, hit and miss, then and else.
fn contradicts(a: Outcome, b: Outcome) -> bool {
    a != b
        && !matches!(
            (a, b),
            (Outcome::Ran(_), Outcome::Hit | Outcome::Miss) | (Outcome::Hit | Outcome::Miss, Outcome::Ran(_))
        )
}

impl Cond {
    /// Returns the variables that the condition reads, in order, repeats included.
    pub fn vars(&self) -> Vec<Var> {
        let vars = std::cell::RefCell::new(Vec::new());
        self.reads(&mut |f| vars.borrow_mut().push(Var::Field(f)), &mut |h| {
            vars.borrow_mut().push(Var::Valid(h));
        });
        vars.into_inner()
    }
}

/// Returns every variable that the statements of a block can write, repeats included.
pub fn block_writes(program: &Program, block: &[Stmt]) -> Vec<Var> {
    let cfg = Cfg::of_blocks(block, &[]);
    cfg.nodes.keys().flat_map(|n| cfg.effects(program, n).writes).collect()
}

/// Returns every action that a table may run, each once; the default is last unless the table lists it.
#[must_use]
pub fn table_actions(program: &Program, table: Table) -> Vec<Action> {
    let data = &program.tables[table];
    let mut list = data.actions.clone();
    if !list.contains(&data.default.action) {
        list.push(data.default.action);
    }
    list
}

fn table_reads(program: &Program, table: Table, e: &mut Effects) {
    let data = &program.tables[table];
    e.match_reads.extend(data.keys.iter().map(crate::Key::var));
    let selector = data.profile.and_then(|p| program.profiles[p].selector.as_ref());
    if let Some(selector) = selector {
        for input in &program.hashes[selector.hash].inputs {
            input.fields(&mut |f| e.match_reads.push(Var::Field(f)));
        }
    }
}

fn action_effects(program: &Program, action: Action, e: &mut Effects) {
    let data = &program.actions[action];
    for primitive in &data.body {
        match &primitive.kind {
            PrimitiveKind::Set(dst, value) | PrimitiveKind::DropCtl(dst, value, _) => {
                value.fields(&mut |f| e.action_reads.push(Var::Field(f)));
                e.writes.push(Var::Field(*dst));
            }
            PrimitiveKind::SetValid(header, _) => e.writes.push(Var::Valid(*header)),
            PrimitiveKind::CopyValid(to, from) => {
                e.action_reads.push(Var::Valid(*from));
                e.writes.push(Var::Valid(*to));
            }
            PrimitiveKind::Hash(dst, hash) | PrimitiveKind::HashSlice(dst, hash, _) => {
                for input in &program.hashes[*hash].inputs {
                    input.fields(&mut |f| e.match_reads.push(Var::Field(f)));
                }
                e.writes.push(Var::Field(*dst));
            }
            // The bits outside the slice keep the field's value.
            PrimitiveKind::HashInto(dst, _, _, hash, _) => {
                for input in &program.hashes[*hash].inputs {
                    input.fields(&mut |f| e.match_reads.push(Var::Field(f)));
                }
                e.action_reads.push(Var::Field(*dst));
                e.writes.push(Var::Field(*dst));
            }
            PrimitiveKind::Count(_, index) => index.fields(&mut |f| e.match_reads.push(Var::Field(f))),
            PrimitiveKind::CountDirect(_) => {}
            PrimitiveKind::Register(access) => {
                access.index.fields(program, &mut |f| e.match_reads.push(Var::Field(f)));
                for operand in program.register_actions[access.action].operands() {
                    operand.fields(program, &mut |f| e.match_reads.push(Var::Field(f)));
                }
                e.writes.extend(access.outputs.iter().map(|(_, f)| Var::Field(*f)));
            }
            PrimitiveKind::Drop(_) => {
                e.writes.extend(program.intrinsic(data.gress, Intrinsic::DropCtl).map(Var::Field));
            }
            // The bits outside the slice keep the field's value.
            PrimitiveKind::SetSlice(dst, _, _, value) => {
                value.fields(&mut |f| e.action_reads.push(Var::Field(f)));
                e.action_reads.push(Var::Field(*dst));
                e.writes.push(Var::Field(*dst));
            }
            // The bits outside the mask keep the field's value.
            PrimitiveKind::SetMasked(dst, ..) => {
                e.action_reads.push(Var::Field(*dst));
                e.writes.push(Var::Field(*dst));
            }
            PrimitiveKind::Meter(access) => {
                access.index.fields(program, &mut |f| e.match_reads.push(Var::Field(f)));
                access.input.iter().for_each(|x| x.fields(&mut |f| e.match_reads.push(Var::Field(f))));
                e.writes.push(Var::Field(access.to));
            }
            PrimitiveKind::Random(dst, _) => e.writes.push(Var::Field(*dst)),
        }
    }
}

impl Var {
    /// Returns the name as reports print it: `ipv4.ttl`, `ipv4.$valid`.
    #[must_use]
    pub fn name(self, program: &Program) -> String {
        match self {
            Var::Field(f) => program.fields[f].name.clone(),
            Var::Valid(h) => format!("{}.$valid", program.headers[h].name),
        }
    }
}

/// Returns every field and validity bit of a gress that its parser, control or deparser uses, and that needs PHV.
///
/// Header fields count as used when their header is extracted, made valid or emitted.
#[must_use]
pub fn used_vars(program: &Program, gress: Gress) -> Vec<Var> {
    let mut vars = Vec::new();
    let cfg = Cfg::of(program, gress);
    for node in cfg.nodes.keys() {
        let e = cfg.effects(program, node);
        vars.extend(e.match_reads.into_iter().chain(e.action_reads).chain(e.writes));
    }
    let mut headers: Vec<Header> = program.pipe(gress).deparser.emit.clone();
    for (_, state) in program.states.iter().filter(|(_, s)| s.gress == gress) {
        vars.extend(state.select.iter().filter_map(|k| k.field()).map(Var::Field));
        for op in &state.ops {
            match &op.kind {
                ParserOpKind::Extract(h) => headers.push(*h),
                ParserOpKind::SetValid(h, _) => vars.push(Var::Valid(*h)),
                ParserOpKind::Set(dst, value) | ParserOpKind::SetSlice(dst, _, _, value) => {
                    vars.push(Var::Field(*dst));
                    value.fields(&mut |f| vars.push(Var::Field(f)));
                }
                ParserOpKind::VerifyChecksum(dst, _)
                | ParserOpKind::SubtractChecksum(dst, _)
                | ParserOpKind::Lookahead(dst, _) => {
                    vars.push(Var::Field(*dst));
                }
                ParserOpKind::ExtractNext(stack) => headers.extend(&program.stacks[*stack].headers),
                ParserOpKind::SetCounter(CounterLoad::Field { field, .. })
                | ParserOpKind::PushCounter(CounterLoad::Field { field, .. }, _) => {
                    vars.push(Var::Field(*field))
                }
                ParserOpKind::Advance(_)
                | ParserOpKind::SetCounter(_)
                | ParserOpKind::AddCounter(_)
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter => {}
            }
        }
    }
    // Deparser and traffic manager read these fields even if no statement does.
    for row in Intrinsic::TABLE.iter().filter(|r| r.writable || r.field == Intrinsic::DropCtl) {
        vars.extend(program.intrinsic(gress, row.field).map(Var::Field));
    }
    let mut explicit = headers.clone();
    for v in vars.clone() {
        match v {
            Var::Valid(h) => {
                headers.push(h);
                explicit.push(h);
            }
            Var::Field(f) => {
                if let Home::Header(h) = program.fields[f].home {
                    headers.push(h);
                }
            }
        }
    }
    // A type field decides whether a request is made, so the request's header needs no validity bit.
    for request in &program.pipe(gress).deparser.requests {
        if let RequestKind::Mirror(session) = request.kind {
            vars.push(Var::Field(session));
        }
        vars.extend(request.when.map(Var::Field));
        request.fields(&mut |f| {
            vars.push(Var::Field(f));
            if let Home::Header(h) = program.fields[f].home {
                headers.push(h);
            }
        });
    }
    for update in &program.pipe(gress).deparser.checksums {
        vars.extend(update.when.map(Var::Field));
        update.inputs.iter().for_each(|e| e.fields(&mut |f| vars.push(Var::Field(f))));
    }
    let data_only = |h: &Header| {
        program.pipe(gress).deparser.requests.iter().any(|r| r.carries(program, *h)) && !explicit.contains(h)
    };
    for h in headers {
        if !data_only(&h) {
            vars.push(Var::Valid(h));
        }
        vars.extend(program.headers[h].fields.iter().map(|&f| Var::Field(f)));
    }
    vars.sort_unstable();
    vars.dedup();
    vars
}
