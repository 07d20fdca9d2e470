//! Headers at the same bits: no packet has both, and no node uses the header that a packet does not have.
//!
//! Derived from a walk of the parser that tracks both headers, and from the results of conditions for an invalid
//! header.

use super::{Held, View};
use sluice_ir::cfg::{NodeKind, Outcome, Var};
use sluice_ir::verify::Diag;
use sluice_ir::{Cond, Field, Header, Home, Next, ParserOpKind, PrimitiveKind};
use std::collections::BTreeSet;

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut pairs: BTreeSet<(Header, Header)> = BTreeSet::new();
    for held in view.held.values() {
        for (i, a) in held.iter().enumerate() {
            for b in held[i + 1..].iter().filter(|b| b.meets(a)) {
                pairs.extend(headers(view, a, b));
            }
        }
    }
    let mut found = Vec::new();
    for &(a, b) in &pairs {
        if let Some(why) = together(view, a, b) {
            found.push(report(view, a, b, &why));
        }
    }
    let sharing: BTreeSet<Header> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    for h in sharing {
        if let Some(why) = made(view, h).or_else(|| unguarded(view, h)) {
            let other = pairs
                .iter()
                .find(|(a, b)| *a == h || *b == h)
                .map_or(h, |(a, b)| if *a == h { *b } else { *a });
            found.push(report(view, h, other, &why));
        }
    }
    found
}

/// Returns the headers of two fields; `None` if these are not in two different headers.
pub(super) fn headers(view: &View, a: &Held, b: &Held) -> Option<(Header, Header)> {
    match (view.home(a.var)?, view.home(b.var)?) {
        (Home::Header(a), Home::Header(b)) if a != b => Some((a.min(b), a.max(b))),
        _ => None,
    }
}

fn report(view: &View, a: Header, b: Header, why: &str) -> Diag {
    let name = |h: Header| &view.program.headers[h].name;
    let text = format!("PHV: header `{}` shares bits with `{}`, but {why}", name(a), name(b));
    Diag::error(view.program.headers[a].loc, text).also(view.program.headers[b].loc, "the other")
}

/// Returns a finding if some path through the parser extracts both headers.
fn together(view: &View, a: Header, b: Header) -> Option<String> {
    let gress = view.program.headers[a].gress;
    let mut seen = BTreeSet::new();
    let mut open = vec![(view.program.pipe(gress).start, false, false)];
    while let Some((next, mut has_a, mut has_b)) = open.pop() {
        let Next::State(state) = next else { continue };
        if !seen.insert((state, has_a, has_b)) {
            continue;
        }
        let data = &view.program.states[state];
        for op in &data.ops {
            if let ParserOpKind::Extract(h) = op.kind {
                has_a |= h == a;
                has_b |= h == b;
            }
        }
        if has_a && has_b {
            return Some(format!("a path to parser state `{}` extracts both", data.name));
        }
        open.extend(data.arms.iter().map(|arm| arm.next).chain([data.default]).map(|n| (n, has_a, has_b)));
    }
    None
}

/// Returns a finding if the header can be valid or sent without having been extracted.
fn made(view: &View, h: Header) -> Option<String> {
    let program = view.program;
    for action in program.actions.values() {
        let makes = action.body.iter().any(|p| match p.kind {
            PrimitiveKind::SetValid(to, valid) => valid && to == h,
            PrimitiveKind::CopyValid(to, from) => [to, from].contains(&h),
            _ => false,
        });
        if makes {
            return Some(format!("action `{}` makes it valid", action.name));
        }
    }
    let ops = program.states.values().flat_map(|s| &s.ops);
    let made = |kind: &ParserOpKind| match kind {
        ParserOpKind::SetValid(to, _) => *to == h,
        kind => kind.written().is_some_and(|f| program.fields[f].home == Home::Header(h)),
    };
    if ops.clone().any(|op| made(&op.kind)) {
        return Some("the parser makes it, without bytes of the packet".to_owned());
    }
    if program.stack_of(h).is_some() {
        return Some("it is an element of a stack".to_owned());
    }
    let mut requests = program.pipes.iter().flat_map(|p| &p.deparser.requests);
    requests.any(|r| r.carries(program, h)).then(|| "a request carries it, valid or not".to_owned())
}

/// Returns a finding if a node uses the header where a packet may lack it.
fn unguarded(view: &View, h: Header) -> Option<String> {
    let cfg = &view.cfgs[view.program.headers[h].gress.index()];
    let of = |f: Field| view.program.fields[f].home == Home::Header(h);
    for (node, data) in cfg.nodes.iter() {
        let e = cfg.effects(view.program, node);
        let mut vars = e.match_reads.iter().chain(&e.action_reads).chain(&e.writes);
        let touched = vars.any(|v| matches!(v, Var::Field(f) if of(*f)));
        let lacking =
            cfg.outcomes(data.pred).iter().all(|(decider, outcome)| match &cfg.nodes[*decider].kind {
                NodeKind::Gateway(cond) => without(cond, h) != Some(*outcome != Outcome::Then),
                _ => true,
            });
        let looks = match &data.kind {
            NodeKind::Gateway(cond) => matters(cond, h, &of),
            _ => true,
        };
        if touched && lacking && looks {
            let name = crate::node_name(view.program, cfg, node);
            return Some(format!("`{name}` uses it where a packet may have the other header"));
        }
    }
    None
}

/// Returns the result of a condition for a packet without the header; `None` if it also depends on other values.
fn without(cond: &Cond, h: Header) -> Option<bool> {
    match cond {
        Cond::Valid(x) => (*x == h).then_some(false),
        Cond::Not(a) => without(a, h).map(|v| !v),
        Cond::And(a, b) => match (without(a, h), without(b, h)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Cond::Or(a, b) => match (without(a, h), without(b, h)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Cond::Cmp(..) => None,
    }
}

/// Returns true if a field of the header can change the result of a condition for a packet without the header.
fn matters(cond: &Cond, h: Header, of: &impl Fn(Field) -> bool) -> bool {
    if without(cond, h).is_some() {
        return false;
    }
    match cond {
        Cond::Valid(_) => false,
        Cond::Not(a) => matters(a, h, of),
        Cond::And(a, b) | Cond::Or(a, b) => matters(a, h, of) || matters(b, h, of),
        Cond::Cmp(_, a, b) => {
            let mut found = false;
            [a, b].into_iter().for_each(|e| e.fields(&mut |f| found |= of(f)));
            found
        }
    }
}
