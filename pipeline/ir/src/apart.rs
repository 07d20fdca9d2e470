//! Conditions that exclude each other by value: `kind == 1` above one statement, and `kind == 2` above another.

use crate::cfg::{Cfg, Node, NodeKind, Outcome, Var};
use crate::group::writes;
use crate::{Action, CmpOp, Cond, Expr, Field, Header, Home, ParserOpKind, PrimitiveKind, Program};
use sluice_asic::alu::width_mask;

/// What an outcome of a gateway says of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fact<'c> {
    /// A value of a packet compares so with a constant.
    Compares(&'c Expr, CmpOp, u128),
    /// A header is valid, or it is not.
    IsValid(Header, bool),
}

/// Returns true if no packet runs both nodes, because gateways above them compare one value, which nothing writes between the
/// gateways, with constants that exclude each other; or because a gateway above one of them asks for a value that no packet of the other
/// has.
#[must_use]
pub fn by_value(p: &Program, cfg: &Cfg, a: Node, b: Node) -> bool {
    let [first, second] = [a, b].map(|node| facts(cfg, node));
    let unset = |facts: &[(Node, Fact<'_>)], other| {
        facts.iter().any(|(at, fact)| is_unset(p, cfg, *fact, *at, other))
    };
    unset(&first, b)
        || unset(&second, a)
        || above(cfg, a).any(|(at, cond, holds)| impossible(p, cfg, (at, cond, holds), &second))
        || above(cfg, b).any(|(at, cond, holds)| impossible(p, cfg, (at, cond, holds), &first))
}

/// Returns the gateways above a node with their conditions, each with true if it holds there.
fn above(cfg: &Cfg, node: Node) -> impl Iterator<Item = (Node, &Cond, bool)> {
    cfg.outcomes(cfg.nodes[node].pred).into_iter().filter_map(|(gateway, outcome)| {
        match &cfg.nodes[gateway].kind {
            NodeKind::Gateway(cond) => Some((gateway, cond, outcome == Outcome::Then)),
            _ => None,
        }
    })
}

/// Returns true if a condition cannot hold, or cannot fail, for packets of which these facts are true.
fn impossible(
    p: &Program,
    cfg: &Cfg,
    (at, cond, holds): (Node, &Cond, bool),
    facts: &[(Node, Fact<'_>)],
) -> bool {
    let of = |part| impossible(p, cfg, (at, part, holds), facts);
    match cond {
        Cond::Not(inner) => impossible(p, cfg, (at, inner, !holds), facts),
        Cond::And(a, b) if holds => of(a) || of(b),
        Cond::Or(a, b) if !holds => of(a) || of(b),
        Cond::And(a, b) | Cond::Or(a, b) => of(a) && of(b),
        Cond::Cmp(..) | Cond::Valid(_) => {
            let mut own = Vec::new();
            facts_of(cond, holds, &mut own);
            let clash = |fact: Fact<'_>| {
                facts.iter().any(|(other, with)| {
                    let between = (at.min(*other), at.max(*other));
                    at != *other && contradict(p, fact, *with) && unwritten(p, cfg, fact, between)
                })
            };
            own.into_iter().any(clash)
        }
    }
}

/// Returns the facts that hold where a node runs, each with the gateway that says it.
fn facts(cfg: &Cfg, node: Node) -> Vec<(Node, Fact<'_>)> {
    let mut all = Vec::new();
    for (gateway, cond, holds) in above(cfg, node) {
        let mut own = Vec::new();
        facts_of(cond, holds, &mut own);
        all.extend(own.into_iter().map(|fact| (gateway, fact)));
    }
    all
}

/// Adds the facts that follow if a condition holds, or if it does not.
fn facts_of<'c>(cond: &'c Cond, holds: bool, facts: &mut Vec<Fact<'c>>) {
    match cond {
        Cond::Cmp(op, value, Expr::Const(with, _)) => {
            let op = if holds { *op } else { opposite(*op) };
            facts.push(Fact::Compares(value, op, *with));
        }
        Cond::Cmp(..) => {}
        Cond::Valid(header) => facts.push(Fact::IsValid(*header, holds)),
        Cond::Not(inner) => facts_of(inner, !holds, facts),
        Cond::And(a, b) if holds => [a, b].into_iter().for_each(|part| facts_of(part, true, facts)),
        Cond::Or(a, b) if !holds => [a, b].into_iter().for_each(|part| facts_of(part, false, facts)),
        Cond::And(..) | Cond::Or(..) => {}
    }
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
    }
}

/// Returns true if both facts never hold for one value.
fn contradict(p: &Program, a: Fact<'_>, b: Fact<'_>) -> bool {
    match (a, b) {
        (Fact::IsValid(header, valid), Fact::IsValid(other, also)) => header == other && valid != also,
        (Fact::Compares(value, op, with), Fact::Compares(other, and, also)) if value == other => {
            let most = width_mask(value.width(p).into());
            // If some value satisfies both, one at a bound of either does.
            let bounds = [with, also].into_iter().flat_map(|c| [c.saturating_sub(1), c, c.saturating_add(1)]);
            let mut candidates = bounds.chain([0, most]).filter(|c| *c <= most);
            !candidates.any(|c| op.holds(c, with) && and.holds(c, also))
        }
        _ => false,
    }
}

/// Returns true if a field of the metadata, which is zero at first, has no such value at a gateway for packets that run `other`: all
/// nodes that may give it the value exclude `other`.
fn is_unset(p: &Program, cfg: &Cfg, fact: Fact<'_>, gateway: Node, other: Node) -> bool {
    let Fact::Compares(&Expr::Field(field), CmpOp::Eq, value) = fact else { return false };
    let parsed = p.states.values().flat_map(|state| &state.ops).any(|op| may_parse(&op.kind, field, value));
    if value == 0 || p.fields[field].home != Home::Metadata || parsed {
        return false;
    }
    let writers = cfg.nodes.keys().filter(|node| {
        *node < gateway && cfg.actions(p, *node).iter().any(|action| may_set(p, *action, field, value))
    });
    let mut writers = writers.peekable();
    writers.peek().is_some() && writers.all(|writer| cfg.exclusive(writer, other))
}

/// Returns true if an operation of a parser may give a field a value.
fn may_parse(op: &ParserOpKind, field: Field, value: u128) -> bool {
    match op {
        ParserOpKind::Set(to, Expr::Const(constant, _)) => *to == field && *constant == value,
        ParserOpKind::Set(to, _)
        | ParserOpKind::SetSlice(to, ..)
        | ParserOpKind::VerifyChecksum(to, _)
        | ParserOpKind::SubtractChecksum(to, _)
        | ParserOpKind::Lookahead(to, _) => *to == field,
        ParserOpKind::Extract(_)
        | ParserOpKind::SetValid(..)
        | ParserOpKind::Advance(_)
        | ParserOpKind::SetCounter(_)
        | ParserOpKind::AddCounter(_)
        | ParserOpKind::ExtractNext(_)
        | ParserOpKind::PushCounter(..)
        | ParserOpKind::PopCounter => false,
    }
}

/// Returns true if an action may give a field a value.
fn may_set(p: &Program, action: Action, field: Field, value: u128) -> bool {
    let data = &p.actions[action];
    data.body.iter().any(|primitive| match &primitive.kind {
        PrimitiveKind::Set(to, Expr::Const(constant, _)) => *to == field && *constant == value,
        kind => writes(p, data.gress, kind).contains(&Var::Field(field)),
    })
}

/// Returns true if no node between two gateways writes what a fact is about.
fn unwritten(p: &Program, cfg: &Cfg, fact: Fact<'_>, (first, second): (Node, Node)) -> bool {
    let mut about = Vec::new();
    match fact {
        Fact::Compares(value, ..) => value.fields(&mut |field| about.push(Var::Field(field))),
        Fact::IsValid(header, _) => about.push(Var::Valid(header)),
    }
    let between = cfg.nodes.keys().filter(|node| *node > first && *node < second);
    between.into_iter().all(|node| !cfg.effects(p, node).writes.iter().any(|var| about.contains(var)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compares(value: &Expr, op: usize, with: u128) -> Fact<'_> {
        Fact::Compares(value, CmpOp::ALL[op], with)
    }

    proptest! {
        /// Facts contradict each other exactly if no value of three bits satisfies both.
        #[test]
        fn facts_contradict_if_no_value_satisfies_both(a in 0usize..6, x in 0u128..8, b in 0usize..6, y in 0u128..8) {
            let value = Expr::Const(0, 3);
            let both = (0..8).any(|v| CmpOp::ALL[a].holds(v, x) && CmpOp::ALL[b].holds(v, y));
            let found = contradict(&Program::default(), compares(&value, a, x), compares(&value, b, y));
            prop_assert_eq!(found, !both);
        }
    }
}
