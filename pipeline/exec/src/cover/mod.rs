//! Data-plane coverage: which parts of a program packets have reached.
//!
//! The points of a program that can be reached, which of them no packet can ever reach, how often each was, and the
//! report of it.
//!
//! A point is *unreachable* only if that follows from the program's graph: no way through the parser leads to the
//! state, an arm before takes all that an arm would, the headers that conditions want are never valid together.
//! Whatever is not proven so and was not reached is *uncovered*.

mod reach;

#[cfg(test)]
mod tests;

use crate::reference::cond_text;
use reach::Reach;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, table_actions};
use sluice_ir::salu;
use sluice_ir::{Action, Next, ParserState, Program, RegisterAction, SelectKey, Table};
use std::collections::BTreeMap;

/// What kind of thing a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A parser state was entered.
    ParserStates,
    /// A parser state was left by one of its arms, or by its default.
    Transitions,
    /// A table was looked up and an entry matched.
    TablesHit,
    /// A table was looked up and no entry matched.
    TablesMiss,
    /// An action ran, of a table or by itself.
    Actions,
    /// A condition held, or did not.
    Branches,
    /// A comparison of a stateful ALU held, or did not; an action without comparisons was run.
    Salu,
}

impl Class {
    /// Every class with its key in machine output and what it counts.
    pub const TABLE: [(Class, &'static str, &'static str); 7] = [
        (Class::ParserStates, "parser_states", "parser states entered"),
        (Class::Transitions, "transitions", "ways out of parser states taken"),
        (Class::TablesHit, "tables_hit", "tables in which an entry matched"),
        (Class::TablesMiss, "tables_miss", "tables in which no entry matched"),
        (Class::Actions, "actions", "actions run, per table"),
        (Class::Branches, "branches", "conditions that held, and that did not"),
        (Class::Salu, "salu", "comparisons of stateful ALUs that held, and that did not"),
    ];

    /// The key in machine output.
    #[must_use]
    pub const fn key(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// A part of a program that packets reach or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// A parser state is entered.
    State(ParserState),
    /// It is left by the arm at this position, or by the default.
    Transition(ParserState, Option<u16>),
    /// An entry of the table matches.
    Hit(Table),
    /// None does.
    Miss(Table),
    /// An action runs, of a table or called.
    Ran(Option<Table>, Action),
    /// The condition of a gateway holds, or does not.
    Branch(Gress, Node, bool),
    /// The comparison with this number holds, or does not; `None` stands for an action without comparisons.
    Salu(RegisterAction, Option<(u8, bool)>),
}

impl Point {
    /// What kind of thing it is.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Point::State(_) => Class::ParserStates,
            Point::Transition(..) => Class::Transitions,
            Point::Hit(_) => Class::TablesHit,
            Point::Miss(_) => Class::TablesMiss,
            Point::Ran(..) => Class::Actions,
            Point::Branch(..) => Class::Branches,
            Point::Salu(..) => Class::Salu,
        }
    }
}

/// A point with what is known of it before a packet comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointData {
    /// The point.
    pub point: Point,
    /// As reports name it.
    pub name: String,
    /// Why no packet can reach it, if that is proven.
    pub unreachable: Option<&'static str>,
}

/// All points of a program on a chip, numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    list: Vec<PointData>,
    index: BTreeMap<Point, u32>,
    /// Of tables with fixed entries the number of the first one, and how many they are.
    fixed: BTreeMap<Table, (u32, usize)>,
}

impl Points {
    /// The points of a program. The chip says which comparisons a stateful ALU makes of a register action.
    #[must_use]
    pub fn of(program: &Program, chip: &ChipSpec) -> Points {
        let mut points = Points::default();
        points.parsers(program);
        for gress in Gress::ALL {
            points.control(program, gress);
        }
        points.registers(program, chip);
        points.entries(program);
        points
    }

    /// All points in order of their numbers.
    #[must_use]
    pub fn list(&self) -> &[PointData] {
        &self.list
    }

    /// The number of a point.
    #[must_use]
    pub fn number(&self, point: Point) -> Option<u32> {
        self.index.get(&point).copied()
    }

    /// The number of a fixed entry of a table, by its position: beyond those of all points, for it is none that reports name.
    #[must_use]
    pub fn entry(&self, table: Table, at: usize) -> Option<u32> {
        self.fixed(table).filter(|(_, entries)| at < *entries).map(|(first, _)| first + at as u32)
    }

    /// The number of the first fixed entry of a table, and how many it has; `None` if it has none.
    pub(crate) fn fixed(&self, table: Table) -> Option<(u32, usize)> {
        self.fixed.get(&table).copied()
    }

    /// Numbers for points and fixed entries.
    fn numbers(&self) -> usize {
        self.list.len() + self.fixed.values().map(|(_, entries)| entries).sum::<usize>()
    }

    fn entries(&mut self, program: &Program) {
        for (table, data) in program.tables.iter().filter(|(_, data)| !data.entries.is_empty()) {
            let first = self.numbers() as u32;
            self.fixed.insert(table, (first, data.entries.len()));
        }
    }

    /// Adds a point; what several places share is reachable if one of them is.
    fn add(&mut self, point: Point, name: impl FnOnce() -> String, unreachable: Option<&'static str>) {
        match self.index.get(&point) {
            Some(&at) if unreachable.is_none() => self.list[at as usize].unreachable = None,
            Some(_) => {}
            None => {
                self.index.insert(point, self.list.len() as u32);
                self.list.push(PointData { point, name: name(), unreachable });
            }
        }
    }

    fn parsers(&mut self, program: &Program) {
        let reach = [0, 1].map(|g| Reach::of(program, Gress::ALL[g]));
        for (state, data) in program.states.iter() {
            let reach = &reach[data.gress.index()];
            let of = || format!("{} {}", data.gress, data.name);
            self.add(Point::State(state), of, reach.state(state));
            for arm in 0..data.arms.len() {
                let name = || format!("{} -> {}", of(), arm_text(program, state, Some(arm)));
                self.add(
                    Point::Transition(state, Some(arm as u16)),
                    name,
                    reach.transition(program, state, Some(arm)),
                );
            }
            let name = || format!("{} -> {}", of(), arm_text(program, state, None));
            self.add(Point::Transition(state, None), name, reach.transition(program, state, None));
        }
    }

    fn control(&mut self, program: &Program, gress: Gress) {
        let (cfg, reach) = (Cfg::of(program, gress), Reach::of(program, gress));
        for (node, data) in cfg.nodes.iter() {
            let never = reach.node(node);
            match &data.kind {
                NodeKind::Gateway(cond) => {
                    for holds in [true, false] {
                        let name = || format!("{gress} if ({}) is {holds}", cond_text(program, cond));
                        self.add(Point::Branch(gress, node, holds), name, reach.branch(node, holds));
                    }
                }
                NodeKind::Table(table) => self.table(program, *table, never),
                NodeKind::Action(action) => {
                    let name = || format!("{gress} {}", program.actions[*action].name);
                    self.add(Point::Ran(None, *action), name, never);
                }
            }
        }
    }

    fn table(&mut self, program: &Program, table: Table, never: Option<&'static str>) {
        let data = &program.tables[table];
        // A table without a key only misses: there is nothing to hit.
        if !data.keys.is_empty() {
            self.add(Point::Hit(table), || data.name.clone(), never);
            let caught = reach::entries_catch_all(program, table).then_some("its entries match every packet");
            self.add(Point::Miss(table), || data.name.clone(), never.or(caught));
        }
        for action in table_actions(program, table) {
            let unused = data.keys.is_empty() && action != data.default.action;
            let why = never.or(unused.then_some("a table without a key runs its default action"));
            let name = || format!("{}: {}", data.name, program.actions[action].name);
            self.add(Point::Ran(Some(table), action), name, why);
        }
    }

    fn registers(&mut self, program: &Program, chip: &ChipSpec) {
        for register in program.registers.keys() {
            let Ok(mapped) = salu::map(program, register, chip) else { continue };
            for (action, salu) in &mapped.actions {
                let name = &program.register_actions[*action].name;
                let units = salu.comparators.iter().zip(0u8..).filter(|(c, _)| c.is_some());
                let mut any = false;
                for (_, unit) in units {
                    any = true;
                    for holds in [true, false] {
                        let name = || format!("{name}: comparison {unit} is {holds}");
                        self.add(Point::Salu(*action, Some((unit, holds))), name, None);
                    }
                }
                if !any {
                    self.add(Point::Salu(*action, None), || name.clone(), None);
                }
            }
        }
    }
}

/// Where an arm of a select, or its default, leads, with the values that take it.
fn arm_text(program: &Program, state: ParserState, arm: Option<usize>) -> String {
    let data = &program.states[state];
    let next = |next: Next| match next {
        Next::State(s) => program.states[s].name.clone(),
        Next::Accept => "accept".to_owned(),
        Next::Reject => "reject".to_owned(),
    };
    let Some(arm) = arm.and_then(|n| data.arms.get(n)) else {
        return next(data.default);
    };
    let value = |(key, (value, mask)): (&SelectKey, &(u128, u128))| {
        let full = key.width(program).map(|w| sluice_asic::alu::width_mask(u32::from(w)));
        match *mask {
            0 => "any".to_owned(),
            m if Some(m) == full => format!("{value:#x}"),
            m => format!("{value:#x}&&&{m:#x}"),
        }
    };
    let values: Vec<String> = data.select.iter().zip(&arm.values).map(value).collect();
    format!("{} ({})", next(arm.next), values.join(", "))
}

/// How often each point was reached, and which fixed entries were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: Vec<u64>,
    found: Vec<bool>,
}

/// How much of a class was reached; what is proven unreachable is not in the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Points reached.
    pub hit: usize,
    /// Points that can be reached as far as is known.
    pub total: usize,
}

impl Coverage {
    /// Nothing reached.
    #[must_use]
    pub fn new(points: &Points) -> Coverage {
        let points_alone = points.list.len();
        Coverage { counts: vec![0; points_alone], found: vec![false; points.numbers() - points_alone] }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.found.fill(false);
    }

    /// A fixed entry was found.
    pub fn hit(&mut self, number: u32) {
        let found = (number as usize).checked_sub(self.counts.len()).and_then(|at| self.found.get_mut(at));
        found.into_iter().for_each(|found| *found = true);
    }

    /// Whether the point with this number was reached, or the fixed entry found.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        let found = |at: usize| self.found.get(at).copied().unwrap_or(false);
        self.count(number) > 0 || (number as usize).checked_sub(self.counts.len()).is_some_and(found)
    }

    /// The numbers of the fixed entries found, ascending.
    pub fn found(&self) -> impl Iterator<Item = u32> + '_ {
        let first = self.counts.len() as u32;
        (first..).zip(&self.found).filter(|(_, found)| **found).map(|(number, _)| number)
    }

    /// Adds packets that reached a point.
    pub fn add(&mut self, number: u32, packets: u64) {
        if let Some(count) = self.counts.get_mut(number as usize) {
            *count += packets;
        }
    }

    /// Adds what another run of the same program reached.
    pub fn merge(&mut self, other: &Coverage) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.found.iter_mut().zip(&other.found).for_each(|(a, b)| *a |= b);
    }

    /// How often the point with this number was reached.
    #[must_use]
    pub fn count(&self, number: u32) -> u64 {
        self.counts.get(number as usize).copied().unwrap_or(0)
    }

    /// The numbers of the points reached, ascending.
    pub fn reached(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.counts).filter(|(_, n)| **n > 0).map(|(i, _)| i)
    }

    /// How much of a class was reached.
    #[must_use]
    pub fn share(&self, points: &Points, class: Class) -> Share {
        let of = points.list.iter().zip(&self.counts).filter(|(p, _)| p.point.class() == class);
        of.fold(Share::default(), |share, (p, n)| Share {
            hit: share.hit + usize::from(*n > 0),
            total: share.total + usize::from(*n > 0 || p.unreachable.is_none()),
        })
    }

    /// How much of everything was reached.
    #[must_use]
    pub fn overall(&self, points: &Points) -> Share {
        Class::TABLE
            .iter()
            .map(|(class, ..)| self.share(points, *class))
            .fold(Share::default(), |a, b| Share { hit: a.hit + b.hit, total: a.total + b.total })
    }
}

impl Share {
    /// Per cent, rounded down; of nothing all is reached.
    #[must_use]
    pub const fn percent(self) -> usize {
        match (self.hit * 100).checked_div(self.total) {
            Some(percent) => percent,
            None => 100,
        }
    }
}

/// What an outcome of a node is worth.
pub(crate) fn outcome(
    gress: Gress,
    cfg: &Cfg,
    node: Node,
    outcome: sluice_ir::cfg::Outcome,
) -> Option<Point> {
    use sluice_ir::cfg::Outcome;
    let decides = &cfg.nodes[node].decides;
    Some(match (&cfg.nodes[node].kind, outcome) {
        (NodeKind::Gateway(_), Outcome::Then) => Point::Branch(gress, *decides.first()?, true),
        (NodeKind::Gateway(_), Outcome::Else) => Point::Branch(gress, *decides.first()?, false),
        (NodeKind::Table(t), Outcome::Hit) => Point::Hit(*t),
        (NodeKind::Table(t), Outcome::Miss) => Point::Miss(*t),
        (NodeKind::Table(t), Outcome::Ran(a)) => Point::Ran(Some(*t), a),
        (NodeKind::Action(_), Outcome::Ran(a)) => Point::Ran(None, a),
        _ => return None,
    })
}
