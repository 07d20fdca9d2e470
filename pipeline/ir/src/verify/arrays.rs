//! Arrays with separate ALUs, which a packet accesses once: counters, registers, meters; and generators of
//! random numbers, from which a pass draws once.

use super::Diag;
use crate::apart;
use crate::cfg::{Cfg, Node, NodeKind};
use crate::{Action, Counter, CounterHome, Loc, Meter, PrimitiveKind, Program, Random, Register};
use sluice_asic::gress::Gress;

/// A thing that a packet accesses once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Array {
    Counter(Counter),
    Register(Register),
    Meter(Meter),
    Random(Random),
}

impl Array {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Array::Counter(_) => "counter",
            Array::Register(_) => "register",
            Array::Meter(_) => "meter",
            Array::Random(_) => "generator",
        }
    }

    pub(super) fn bare_name(self, p: &Program) -> &str {
        match self {
            Array::Counter(c) => &p.counters[c].name,
            Array::Register(r) => &p.registers[r].name,
            Array::Meter(m) => &p.meters[m].name,
            Array::Random(r) => &p.randoms[r].name,
        }
    }

    /// Returns the name in messages; of a counter only its name.
    pub(super) fn name(self, p: &Program) -> String {
        match self {
            Array::Counter(_) => format!("`{}`", self.bare_name(p)),
            _ => format!("{} `{}`", self.word(), self.bare_name(p)),
        }
    }

    pub(super) const fn verb(self) -> &'static str {
        match self {
            Array::Counter(_) => "counts",
            Array::Register(_) => "accesses",
            Array::Meter(_) => "accesses",
            Array::Random(_) => "draws from",
        }
    }

    /// Returns the advice for two accesses.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Array::Counter(_) => "a counter takes one count per packet: remove one, or use two counters",
            Array::Register(_) => {
                "a stateful ALU serves one access per packet: put the two in opposite arms of one `if`, or use two registers"
            }
            Array::Meter(_) => {
                "a meter ALU serves one access per packet: put the two in opposite arms of one `if`, or use two meters"
            }
            Array::Random(_) => {
                "a generator gives each pass one number: use it from a metadata field, or declare two generators"
            }
        }
    }

    /// Returns the addressing; `None` if there is no index.
    pub(super) fn home(self, p: &Program) -> Option<CounterHome> {
        match self {
            Array::Counter(c) => Some(p.counters[c].home),
            Array::Register(r) => Some(p.registers[r].home),
            Array::Meter(m) => Some(p.meters[m].home),
            Array::Random(_) => None,
        }
    }
}

/// Returns the array that a primitive accesses.
pub(super) fn of(p: &Program, kind: &PrimitiveKind) -> Option<Array> {
    Some(match kind {
        PrimitiveKind::Count(c, _) | PrimitiveKind::CountDirect(c) => Array::Counter(*c),
        PrimitiveKind::Register(access) => Array::Register(p.register_actions[access.action].register),
        PrimitiveKind::Meter(access) => Array::Meter(access.meter),
        PrimitiveKind::Random(_, r) => Array::Random(*r),
        _ => return None,
    })
}

/// An access of an array.
struct Access {
    node: Node,
    action: Action,
    array: Array,
    loc: Loc,
}

/// Returns the accesses of a node.
fn accesses<'a>(p: &'a Program, cfg: &Cfg, node: Node) -> impl Iterator<Item = Access> + 'a {
    cfg.actions(p, node).into_iter().flat_map(move |action| {
        let body = p.actions[action].body.iter();
        body.filter_map(move |primitive| {
            let array = of(p, &primitive.kind)?;
            Some(Access { node, action, array, loc: primitive.loc })
        })
    })
}

/// Returns true if a packet can have both accesses, of which the first is above.
fn may_follow(p: &Program, cfg: &Cfg, first: &Access, second: &Access) -> bool {
    first.node != second.node
        && !cfg.exclusive(first.node, second.node)
        && cfg.actions_before(p, first.node, second.node).contains(&first.action)
        && !apart::by_value(p, cfg, first.node, second.node)
}

/// Checks that no packet reaches two accesses of one array. Two accesses in one action are reported with the
/// action.
pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for gress in Gress::ALL {
        let cfg = Cfg::of(p, gress);
        let list: Vec<Access> = cfg.nodes.keys().flat_map(|node| accesses(p, &cfg, node)).collect();
        for (i, access) in list.iter().enumerate() {
            let clash =
                list[..i].iter().find(|of| of.array == access.array && may_follow(p, &cfg, of, access));
            let Some(first) = clash else { continue };
            let (node, other, array) = (access.node, first.node, access.array);
            let (here, there) = (&cfg.nodes[node], &cfg.nodes[other]);
            if matches!(here.kind, NodeKind::Table(_)) && here.kind == there.kind {
                // A table applied twice is reported with the control block.
                continue;
            }
            // If one action is called twice, the two calls are the places to report.
            let (loc, first) = (access.loc, first.loc);
            let same = (loc.file, loc.line, loc.col) == (first.file, first.line, first.col);
            let (loc, first) = if same { (here.loc, there.loc) } else { (loc, first) };
            let (word, name) = (array.word(), array.bare_name(p));
            let text = format!("{word} `{name}` is accessed twice on one path");
            d.push(Diag::error(loc, text).also(first, "first access").help(array.help()));
        }
        direct_twice(p, gress, d);
    }
}

/// Checks that a table has at most one direct array of each kind; registers and meters share meter ALUs and
/// count as one.
fn direct_twice(p: &Program, gress: Gress, d: &mut Vec<Diag>) {
    for (t, table) in p.tables.iter().filter(|(_, t)| t.gress == gress) {
        let on = |home: CounterHome| home == CounterHome::Direct(t);
        let registers = p.registers.values().filter(|r| on(r.home)).map(|r| (&r.name, r.loc));
        let meters = p.meters.values().filter(|m| on(m.home)).map(|m| (&m.name, m.loc));
        let mut list = registers.chain(meters);
        if let (Some((first, at)), Some((second, loc))) = (list.next(), list.next()) {
            let text = format!(
                "`{second}` is direct to table `{}`, which has `{first}` already: a direct register or meter \
                 takes the entry's only meter address",
                table.name
            );
            d.push(Diag::error(loc, text).also(at, "the first one").help("make one of them indirect"));
        }
    }
}
