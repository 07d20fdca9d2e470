//! Data-plane coverage: the parts of a program that packets have reached.
//!
//! A *point* is a part of the program that packets can reach or not. It is *unreachable* only if that follows from the
//! program's graph: no path of the parser leads to the state, an earlier arm takes all packets of an arm, or the headers
//! that conditions need are never valid together. A point that is not proven unreachable and was not reached is
//! *uncovered*.

mod reach;

#[cfg(test)]
mod tests;

use reach::Reach;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, table_actions};
use sluice_ir::{Action, Loc, Next, ParserState, Program, RegisterAction, SelectKey, Table};
use sluice_ir::{salu, words};
use std::collections::BTreeMap;

/// Class of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Entry of a parser state.
    ParserStates,
    /// Transition out of a parser state, by an arm or the default.
    Transitions,
    /// Lookup with a matching entry.
    TablesHit,
    /// Lookup without a matching entry.
    TablesMiss,
    /// Run of an action, from a table or by itself.
    Actions,
    /// Condition that was true or false.
    Branches,
    /// Comparison of a stateful ALU that was true or false, or the run of a register action without comparisons.
    Salu,
}

impl Class {
    /// All classes, each with its key in machine output and a description.
    pub const TABLE: [(Class, &'static str, &'static str); 7] = [
        (Class::ParserStates, "parser_states", "parser states entered"),
        (Class::Transitions, "transitions", "ways out of parser states taken"),
        (Class::TablesHit, "tables_hit", "tables in which an entry matched"),
        (Class::TablesMiss, "tables_miss", "tables in which no entry matched"),
        (Class::Actions, "actions", "actions run, per table"),
        (Class::Branches, "branches", "conditions that held, and that did not"),
        (Class::Salu, "salu", "comparisons of stateful ALUs that held, and that did not"),
    ];

    /// Returns the key in machine output.
    #[must_use]
    pub const fn key(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// Coverage point: a part of a program that packets reach or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Entry of a parser state.
    State(ParserState),
    /// Transition out of a parser state by the arm at this position; `None`: by the default.
    Transition(ParserState, Option<u16>),
    /// Hit of a table.
    Hit(Table),
    /// Miss of a table.
    Miss(Table),
    /// Run of an action, by a table or called.
    Ran(Option<Table>, Action),
    /// True or false outcome of a gateway's condition.
    Branch(Gress, Node, bool),
    /// True or false outcome of the comparison with this number; `None` for a register action without comparisons.
    Salu(RegisterAction, Option<(u8, bool)>),
}

impl Point {
    /// Returns the class of the point.
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

/// A point with what is known of it before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointData {
    /// Point.
    pub point: Point,
    /// Name in reports.
    pub name: String,
    /// Place in the author's text, `leaf.p4:81`, with the statement if the name does not say it; empty if the front end keeps no
    /// text, or the name has it.
    pub place: String,
    /// Place in the text that the program was read from: the author's, or a text form; unknown if it was read from none.
    pub at: Loc,
    /// Proof that no packet can reach the point; `None` if there is none.
    pub unreachable: Option<&'static str>,
}

/// All points of a program on a chip, numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    list: Vec<PointData>,
    index: BTreeMap<Point, u32>,
    /// For each table with constant entries, the number of the first one and their count.
    fixed: BTreeMap<Table, (u32, usize)>,
}

impl Points {
    /// Returns the points of a program. The chip determines the comparisons that a stateful ALU makes for a register
    /// action.
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

    /// Returns all points in order of their numbers.
    #[must_use]
    pub fn list(&self) -> &[PointData] {
        &self.list
    }

    /// Returns the number of a point.
    #[must_use]
    pub fn number(&self, point: Point) -> Option<u32> {
        self.index.get(&point).copied()
    }

    /// Returns the number of a constant entry, by its position in the table. Entries are numbered after all points, because
    /// reports do not list them.
    #[must_use]
    pub fn entry(&self, table: Table, at: usize) -> Option<u32> {
        self.fixed(table).filter(|(_, entries)| at < *entries).map(|(first, _)| first + at as u32)
    }

    /// Returns the number of a table's first constant entry, and their count; `None` if it has none.
    pub(crate) fn fixed(&self, table: Table) -> Option<(u32, usize)> {
        self.fixed.get(&table).copied()
    }

    /// Returns how many numbers there are, for points and constant entries.
    fn numbers(&self) -> usize {
        self.list.len() + self.fixed.values().map(|(_, entries)| entries).sum::<usize>()
    }

    fn entries(&mut self, program: &Program) {
        for (table, data) in program.tables.iter().filter(|(_, data)| !data.entries.is_empty()) {
            let first = self.numbers() as u32;
            self.fixed.insert(table, (first, data.entries.len()));
        }
    }

    /// Adds a point. A point with several sites is reachable if one of them is.
    fn add(
        &mut self,
        point: Point,
        name: impl FnOnce() -> String,
        at: Loc,
        unreachable: Option<&'static str>,
    ) {
        match self.index.get(&point) {
            Some(&known) if unreachable.is_none() => self.list[known as usize].unreachable = None,
            Some(_) => {}
            None => {
                self.index.insert(point, self.list.len() as u32);
                let name = name();
                let place = at.short().filter(|place| !name.contains(place)).unwrap_or_default();
                self.list.push(PointData { point, name, place, at, unreachable });
            }
        }
    }

    fn parsers(&mut self, program: &Program) {
        let reach = [0, 1].map(|g| Reach::of(program, Gress::ALL[g]));
        for (state, data) in program.states.iter() {
            let reach = &reach[data.gress.index()];
            let of = || format!("{} {}", data.gress, data.name);
            self.add(Point::State(state), of, data.loc, reach.state(state));
            for arm in 0..data.arms.len() {
                let name = || format!("{} -> {}", of(), arm_text(program, state, Some(arm)));
                self.add(
                    Point::Transition(state, Some(arm as u16)),
                    name,
                    data.loc,
                    reach.transition(program, state, Some(arm)),
                );
            }
            let name = || format!("{} -> {}", of(), arm_text(program, state, None));
            self.add(Point::Transition(state, None), name, data.loc, reach.transition(program, state, None));
        }
    }

    fn control(&mut self, program: &Program, gress: Gress) {
        let (cfg, reach) = (Cfg::of(program, gress), Reach::of(program, gress));
        for (node, data) in cfg.nodes.iter() {
            let never = reach.node(node);
            match &data.kind {
                NodeKind::Gateway(cond) => {
                    for holds in [true, false] {
                        let name = || format!("{gress} if ({}) is {holds}", words::cond(program, cond));
                        self.add(
                            Point::Branch(gress, node, holds),
                            name,
                            data.loc,
                            reach.branch(node, holds),
                        );
                    }
                }
                NodeKind::Table(table) => self.table(program, *table, never),
                NodeKind::Action(action) => {
                    let name = || format!("{gress} {}", words::action(program, *action));
                    self.add(Point::Ran(None, *action), name, data.loc, never);
                }
            }
        }
    }

    fn table(&mut self, program: &Program, table: Table, never: Option<&'static str>) {
        let data = &program.tables[table];
        // A table without a key only misses: there is nothing to hit.
        if !data.keys.is_empty() {
            self.add(Point::Hit(table), || data.name.clone(), data.loc, never);
            let caught = reach::entries_catch_all(program, table).then_some("its entries match every packet");
            self.add(Point::Miss(table), || data.name.clone(), data.loc, never.or(caught));
        }
        for action in table_actions(program, table) {
            let unused = data.keys.is_empty() && action != data.default.action;
            let why = never.or(unused.then_some("a table without a key runs its default action"));
            let name = || format!("{}: {}", data.name, program.actions[action].name);
            self.add(Point::Ran(Some(table), action), name, program.actions[action].loc, why);
        }
    }

    fn registers(&mut self, program: &Program, chip: &ChipSpec) {
        for register in program.registers.keys() {
            let Ok(mapped) = salu::map(program, register, chip) else { continue };
            for ((action, salu), decides) in mapped.actions.iter().zip(&mapped.decides) {
                let (name, own) =
                    (&program.register_actions[*action].name, program.register_actions[*action].loc);
                let units = salu.comparators.iter().zip(0u8..).filter(|(c, _)| c.is_some());
                let mut any = false;
                for (_, unit) in units {
                    any = true;
                    for holds in [true, false] {
                        let at = decides.get(usize::from(unit)).copied().unwrap_or(own);
                        let text =
                            if at.text.is_empty() { String::new() } else { format!(" of `{}`", at.text) };
                        let name = || format!("{name}: comparison {unit}{text} is {holds}");
                        self.add(Point::Salu(*action, Some((unit, holds))), name, at, None);
                    }
                }
                if !any {
                    self.add(Point::Salu(*action, None), || name.clone(), own, None);
                }
            }
        }
    }
}

/// Returns the target of an arm or of the default, with the values that select it.
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
    let set = arm.set.map_or(String::new(), |of| format!(" in {}", program.value_sets[of.set].name));
    format!("{} ({}){set}", next(arm.next), values.join(", "))
}

/// Number of packets at each point, and the constant entries that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: Vec<u64>,
    found: Vec<bool>,
}

/// Share of a class that was reached; points proven unreachable do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Points reached.
    pub hit: usize,
    /// Points not proven unreachable.
    pub total: usize,
}

impl Coverage {
    /// Returns a coverage in which nothing was reached.
    #[must_use]
    pub fn new(points: &Points) -> Coverage {
        let points_alone = points.list.len();
        Coverage { counts: vec![0; points_alone], found: vec![false; points.numbers() - points_alone] }
    }

    /// Sets all counts to zero.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.found.fill(false);
    }

    /// Records that a constant entry matched.
    pub fn hit(&mut self, number: u32) {
        let found = (number as usize).checked_sub(self.counts.len()).and_then(|at| self.found.get_mut(at));
        found.into_iter().for_each(|found| *found = true);
    }

    /// Returns true if the point with this number was reached, or the constant entry matched.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        let found = |at: usize| self.found.get(at).copied().unwrap_or(false);
        self.count(number) > 0 || (number as usize).checked_sub(self.counts.len()).is_some_and(found)
    }

    /// Returns the numbers of the constant entries that matched, ascending.
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

    /// Adds the coverage of another run of the same program.
    pub fn merge(&mut self, other: &Coverage) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.found.iter_mut().zip(&other.found).for_each(|(a, b)| *a |= b);
    }

    /// Returns the number of packets at the point with this number.
    #[must_use]
    pub fn count(&self, number: u32) -> u64 {
        self.counts.get(number as usize).copied().unwrap_or(0)
    }

    /// Returns the numbers of the reached points, ascending.
    pub fn reached(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.counts).filter(|(_, n)| **n > 0).map(|(i, _)| i)
    }

    /// Returns the share of a class that was reached.
    #[must_use]
    pub fn share(&self, points: &Points, class: Class) -> Share {
        let of = points.list.iter().zip(&self.counts).filter(|(p, _)| p.point.class() == class);
        of.fold(Share::default(), |share, (p, n)| Share {
            hit: share.hit + usize::from(*n > 0),
            total: share.total + usize::from(*n > 0 || p.unreachable.is_none()),
        })
    }

    /// Returns the share of all points that was reached.
    #[must_use]
    pub fn overall(&self, points: &Points) -> Share {
        Class::TABLE
            .iter()
            .map(|(class, ..)| self.share(points, *class))
            .fold(Share::default(), |a, b| Share { hit: a.hit + b.hit, total: a.total + b.total })
    }
}

impl Share {
    /// Returns per cent, rounded down; 100 if there are no points.
    #[must_use]
    pub const fn percent(self) -> usize {
        match (self.hit * 100).checked_div(self.total) {
            Some(percent) => percent,
            None => 100,
        }
    }
}

/// Returns the coverage point of a node's outcome; `None` if the outcome is no point.
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
