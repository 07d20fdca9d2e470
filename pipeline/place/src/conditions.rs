//! Merges nested conditions into one gateway.
//!
//! A gateway takes a logical table id unless it is attached to a table. `if a { if b { t } }` is therefore placed as `if a
//! && b { t }` if one gateway can test that.

use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Var, block_writes};
use sluice_ir::{ApplyArms, Block, Cond, Loc, Program, Stmt, StmtKind};

/// A statement, and for each of its gateways, in order, the gateways of the original program whose conditions it tests.
#[derive(Clone)]
struct Numbered {
    stmt: Stmt,
    gateways: Vec<Vec<Node>>,
}

/// Returns the control-flow graph of a gress with as few gateways as `fits` allows.
pub(super) fn joined(program: &Program, gress: Gress, fits: &impl Fn(&Cond) -> bool) -> Cfg {
    cfg(numbered(program, gress).map(|list| block(program, list, fits)))
}

/// Returns the control-flow graph of a gress in which `if c { a; b }` is `if c { a }` and `if c { b }` wherever `a` does
/// not change `c`; conditions are then merged as `fits` allows, if given.
pub(super) fn repeated(program: &Program, gress: Gress, fits: Option<&impl Fn(&Cond) -> bool>) -> Cfg {
    cfg(numbered(program, gress).map(|list| {
        let apart = apart(program, list);
        match fits {
            Some(fits) => block(program, apart, fits),
            None => apart,
        }
    }))
}

fn cfg(blocks: [Vec<Numbered>; 2]) -> Cfg {
    let [(control, mut gateways), (ghost, of_ghost)] = blocks.map(whole);
    gateways.extend(of_ghost);
    let mut cfg = Cfg::of_blocks(&control, &ghost);
    let gates = cfg.nodes.iter().filter(|(_, data)| matches!(data.kind, NodeKind::Gateway(_)));
    let nodes: Vec<Node> = gates.map(|(node, _)| node).collect();
    for (node, decides) in nodes.into_iter().zip(gateways) {
        cfg.nodes[node].decides = decides;
    }
    cfg
}

/// Returns the control block of a gress and the ghost control, which belongs to ingress.
fn numbered(program: &Program, gress: Gress) -> [Vec<Numbered>; 2] {
    let ghost: &[Stmt] = if gress == Gress::Ingress { &program.ghost } else { &[] };
    let own = Cfg::of(program, gress);
    let mut gateways = own.nodes.values().filter(|n| !n.decides.is_empty()).map(|n| n.decides.clone());
    [&program.pipe(gress).control[..], ghost].map(|b| apiece(b, &mut gateways))
}

/// Splits the gateways of a block among its statements.
fn apiece(block: &[Stmt], gateways: &mut impl Iterator<Item = Vec<Node>>) -> Vec<Numbered> {
    let each =
        |s: &Stmt| Numbered { stmt: s.clone(), gateways: gateways.by_ref().take(conditions(s)).collect() };
    block.iter().map(each).collect()
}

/// Joins statements to a block with the gateways of all.
fn whole(list: Vec<Numbered>) -> (Block, Vec<Vec<Node>>) {
    let (block, gateways): (Block, Vec<_>) = list.into_iter().map(|n| (n.stmt, n.gateways)).unzip();
    (block, gateways.concat())
}

/// Returns the number of conditions in a statement.
fn conditions(s: &Stmt) -> usize {
    let of = |b: &Block| b.iter().map(conditions).sum::<usize>();
    match &s.kind {
        StmtKind::Call(_) => 0,
        StmtKind::Apply(_, arms) => {
            of(&arms.hit) + of(&arms.miss) + arms.run.iter().map(|(_, b)| of(b)).sum::<usize>()
        }
        StmtKind::If(_, then, otherwise) => 1 + of(then) + of(otherwise),
    }
}

fn apart(program: &Program, list: Vec<Numbered>) -> Vec<Numbered> {
    list.into_iter()
        .flat_map(|n| inside(n, &|list| apart(program, list), &|n| one_apart(program, n)))
        .collect()
}

fn one_apart(
    program: &Program,
    If { cond, own, then, otherwise, loc }: If,
) -> Result<Vec<Numbered>, Box<If>> {
    let reads = cond.vars();
    let before: Block = then.iter().rev().skip(1).rev().map(|n| n.stmt.clone()).collect();
    let changed = block_writes(program, &before);
    if !otherwise.is_empty() || then.len() < 2 || reads.iter().any(|v| changed.contains(v)) {
        return Err(Box::new(If { cond, own, then, otherwise, loc }));
    }
    let alone = |n: Numbered| {
        let otherwise = Vec::new();
        If { cond: cond.clone(), own: own.clone(), then: vec![n], otherwise, loc }.numbered()
    };
    Ok(then.into_iter().map(alone).collect())
}

fn block(program: &Program, list: Vec<Numbered>, fits: &impl Fn(&Cond) -> bool) -> Vec<Numbered> {
    let join = |n: If| into_children(program, n, fits);
    list.into_iter().flat_map(|n| inside(n, &|list| block(program, list, fits), &join)).collect()
}

/// A condition with its branches.
struct If {
    cond: Cond,
    /// Original gateways whose conditions its gateway tests.
    own: Vec<Node>,
    then: Vec<Numbered>,
    otherwise: Vec<Numbered>,
    loc: Loc,
}

impl If {
    fn numbered(self) -> Numbered {
        let ((then, in_then), (otherwise, in_otherwise)) = (whole(self.then), whole(self.otherwise));
        let stmt = Stmt { kind: StmtKind::If(self.cond, then, otherwise), loc: self.loc };
        Numbered { stmt, gateways: [vec![self.own], in_then, in_otherwise].concat() }
    }
}

/// Applies `each` to the blocks of a statement. If the statement is a condition, then applies `change` to it; `change` may
/// return it unchanged.
fn inside(
    Numbered { stmt, gateways }: Numbered,
    each: &impl Fn(Vec<Numbered>) -> Vec<Numbered>,
    change: &impl Fn(If) -> Result<Vec<Numbered>, Box<If>>,
) -> Vec<Numbered> {
    let mut gateways = gateways.into_iter();
    let loc = stmt.loc;
    match stmt.kind {
        kind @ StmtKind::Call(_) => vec![Numbered { stmt: Stmt { kind, loc }, gateways: Vec::new() }],
        StmtKind::Apply(table, mut arms) => {
            let ApplyArms { hit, miss, run } = &mut arms;
            let mut all = Vec::new();
            for arm in [hit, miss].into_iter().chain(run.iter_mut().map(|(_, b)| b)) {
                let (block, inside) = whole(each(apiece(arm, &mut gateways)));
                *arm = block;
                all.extend(inside);
            }
            vec![Numbered { stmt: Stmt { kind: StmtKind::Apply(table, arms), loc }, gateways: all }]
        }
        StmtKind::If(cond, then, otherwise) => {
            let own = gateways.next().unwrap_or_default();
            let [then, otherwise] = [then, otherwise].map(|b| each(apiece(&b, &mut gateways)));
            change(If { cond, own, then, otherwise, loc }).unwrap_or_else(|same| vec![same.numbered()])
        }
    }
}

/// Moves the statements under a condition to the outside, each with both conditions. Returns the condition unchanged unless
/// all statements are conditions with one branch, one gateway can test each merged condition, and none of them changes a
/// value that the outer condition reads before the last merged condition is tested.
fn into_children(
    program: &Program,
    outer: If,
    fits: &impl Fn(&Cond) -> bool,
) -> Result<Vec<Numbered>, Box<If>> {
    let reads = outer.cond.vars();
    let mut changed: Vec<Var> = Vec::new();
    let mut list = Vec::new();
    for child in outer.then.iter().filter(|_| outer.otherwise.is_empty()) {
        let StmtKind::If(inner, then, otherwise) = &child.stmt.kind else { return Err(Box::new(outer)) };
        let joint = Cond::And(Box::new(outer.cond.clone()), Box::new(inner.clone()));
        if !otherwise.is_empty() || reads.iter().any(|v| changed.contains(v)) || !fits(&joint) {
            return Err(Box::new(outer));
        }
        changed.extend(block_writes(program, then));
        let stmt = Stmt { kind: StmtKind::If(joint, then.clone(), Block::new()), loc: child.stmt.loc };
        let mut gateways = child.gateways.clone();
        if let Some(own) = gateways.first_mut() {
            own.splice(0..0, outer.own.iter().copied());
        }
        list.push(Numbered { stmt, gateways });
    }
    if list.is_empty() { Err(Box::new(outer)) } else { Ok(list) }
}
