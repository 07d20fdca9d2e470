//! Filters of traces: which packets a condition such as `table == acl && port == 3` selects.
//!
//! A condition is true of a packet if it holds at one switch for one of the packet's lookups there. `table`, `action`, `entry`,
//! `stage` and `gress` are those of the lookup; all other names are the packet's. A packet may have several values of a name at
//! a switch, such as the old and the new value of a field: `==` and the orders need one of them, `!=` needs that none is equal.

use super::condition::{Comparison, Condition, FilterError, Word, Written, parse};
use sluice_asic::gress::Gress;
use sluice_asic::names::nearest;
use sluice_asic::tm::buffer::Rule;
use sluice_control::{parse_match, parse_value};
use sluice_exec::pass::Verdict;
use sluice_exec::reference::Event;
use sluice_fabric::network::{LinkDrop, SwitchSetup};
use sluice_ir::cfg::NodeKind;
use sluice_ir::entity::Entity;
use sluice_ir::{Field, Home, Intrinsic, KeyValue, MatchKind, Program, Table};
use sluice_switch::{DeviceDrop, GENERATED};
use std::collections::{BTreeMap, BTreeSet};

/// Names of a condition in addition to the fields of programs: name, subject and meaning.
const NAMES: [(&str, Asked, &str); 11] = [
    (
        "packet",
        Asked::Packet,
        "number of the packet in the inputs, from 0; `generated` for packets of packet generators",
    ),
    ("switch", Asked::Switch, "name of the switch, in a network"),
    ("port", Asked::Port, "port on which the packet arrived at the switch: 3, 1/0, Ethernet12, dev:137, cpu"),
    ("out", Asked::Out, "port to which the packet was sent, or whose queue dropped it"),
    ("fate", Asked::Fate, "end of the packet at the switch: sent, dropped or absorbed"),
    ("reason", Asked::Reason, "reason for which the packet was dropped or absorbed, such as queue_tail_drop"),
    ("gress", Asked::Gress, "half of the pipe in which a lookup was made: ingress or egress"),
    ("table", Asked::Table, "table of a lookup, by its name or any end of it"),
    ("action", Asked::Action, "action that a lookup chose, or that ran without a table"),
    ("entry", Asked::Entry, "number of the entry that a lookup matched, or `miss`"),
    ("stage", Asked::Stage, "match-action stages of the lookup's table"),
];

/// Returns the names of a condition in addition to the fields of programs, with their meanings.
pub fn filter_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().map(|(name, _, meaning)| (*name, *meaning))
}

/// Fates, by number.
const FATES: [&str; 3] = ["sent", "dropped", "absorbed"];
/// The entry of a lookup that matched none.
const MISS: u128 = u128::MAX;

/// Subject of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Packet,
    Switch,
    Port,
    Out,
    Fate,
    Reason,
    Gress,
    Table,
    Action,
    Entry,
    Stage,
    Field(Field),
}

/// A comparison for one switch: values are numbers.
#[derive(Clone, Debug)]
struct Test {
    asked: Asked,
    comparison: Comparison,
    /// Values of which one must be equal, or the limit of an order. None: the switch has nothing of the name.
    values: Vec<u128>,
    /// Value of a field with its mask, and the field's width.
    masked: Option<(KeyValue, u16)>,
}

impl Test {
    /// Returns true if a packet with these values passes.
    fn passes(&self, found: &BTreeSet<u128>) -> bool {
        let equal = |value: &u128| match &self.masked {
            Some((key, width)) => key.matches(*value, *width),
            None => self.values.contains(value),
        };
        match self.comparison {
            Comparison::Equal => found.iter().any(equal),
            Comparison::NotEqual => !found.is_empty() && !found.iter().any(equal),
            order => found.iter().any(|value| {
                self.is_number(*value) && self.values.iter().any(|limit| order.holds(*value, *limit))
            }),
        }
    }

    /// Returns true unless a value stands for a word.
    fn is_number(&self, value: u128) -> bool {
        match self.asked {
            Asked::Entry => value != MISS,
            Asked::Packet => value != u128::from(GENERATED),
            _ => true,
        }
    }

    /// Returns a comparison that no packet passes.
    const fn never() -> Test {
        Test { asked: Asked::Switch, comparison: Comparison::Equal, values: Vec::new(), masked: None }
    }
}

/// The filter at one switch.
#[derive(Clone, Debug)]
struct AtSwitch {
    condition: Condition<Test>,
    /// Fields that the condition names, with those of the other gress that have the same name; each with the field of the
    /// comparison.
    fields: BTreeMap<Field, Field>,
    /// Stages of each table.
    stages: BTreeMap<Table, BTreeSet<u128>>,
}

/// A filter of a trace, for the switches of a run.
#[derive(Clone, Debug)]
pub struct TraceFilter {
    switches: Vec<AtSwitch>,
    /// Reasons of ends, by number.
    reasons: Vec<String>,
}

/// A lookup of a packet, or an action without a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lookup {
    gress: Gress,
    table: Option<Table>,
    action: u128,
    entry: Option<u128>,
}

/// Facts of a packet at a switch, as far as a filter asks for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    lookups: BTreeSet<Lookup>,
    values: BTreeMap<Asked, BTreeSet<u128>>,
    gress: Option<Gress>,
}

impl Facts {
    fn note(&mut self, asked: Asked, value: u128) {
        self.values.entry(asked).or_default().insert(value);
    }

    /// Adds the facts of another pass.
    pub(super) fn add(&mut self, other: Facts) {
        self.lookups.extend(other.lookups);
        for (asked, values) in other.values {
            self.values.entry(asked).or_default().extend(values);
        }
    }

    /// Notes the port that sent the packet.
    pub(super) fn sent(&mut self, port: u16) {
        self.note(Asked::Out, port.into());
        self.note(Asked::Fate, 0);
    }
}

impl TraceFilter {
    /// Parses a filter for the switches of a run; one switch has the number 0.
    ///
    /// # Errors
    /// If the text is not a condition, or if no switch has what it names; the error has the column.
    pub fn new(text: &str, switches: &[&SwitchSetup]) -> Result<TraceFilter, FilterError> {
        let written = parse(text)?;
        let reasons = reasons(switches);
        let resolver = Resolver { switches, reasons: &reasons };
        let mut tests: Vec<Vec<Test>> = Vec::new();
        let mut wrong = None;
        written.each(&mut |test| match resolver.test(test) {
            Ok(of_switches) => tests.push(of_switches),
            Err(error) => wrong = wrong.take().or(Some(error)),
        });
        if let Some(error) = wrong {
            return Err(error);
        }
        let at = |(number, setup): (usize, &&SwitchSetup)| {
            let mut own = tests.iter().filter_map(|of| of.get(number)).cloned();
            let condition = written.map(&mut |_| own.next().unwrap_or_else(Test::never));
            let mut fields = BTreeMap::new();
            let program = &setup.placed.program;
            condition.each(&mut |test: &Test| {
                if let Asked::Field(field) = test.asked {
                    let name = &program.fields[field].name;
                    let same = program.fields.iter().filter(|(_, data)| data.name == *name);
                    fields.extend(same.map(|(other, _)| (other, field)));
                }
            });
            AtSwitch { condition, fields, stages: stages(setup) }
        };
        Ok(TraceFilter { switches: switches.iter().enumerate().map(at).collect(), reasons })
    }

    /// Adds what a step says of the packet at a switch.
    pub(super) fn step(&self, switch: usize, program: &Program, event: &Event<'_>, facts: &mut Facts) {
        let Some(at) = self.switches.get(switch) else { return };
        match *event {
            Event::PassStart { gress, port, .. } => {
                facts.gress = Some(gress);
                facts.note(if gress == Gress::Ingress { Asked::Port } else { Asked::Out }, port.into());
            }
            Event::Applied { table, entry, call, .. } => {
                facts.lookups.insert(Lookup {
                    gress: facts.gress.unwrap_or(Gress::Ingress),
                    table: Some(table),
                    action: call.action.index() as u128,
                    entry: Some(entry.map_or(MISS, u128::from)),
                });
            }
            Event::Called { action, .. } => {
                let gress = facts.gress.unwrap_or(Gress::Ingress);
                let action = action.index() as u128;
                facts.lookups.insert(Lookup { gress, table: None, action, entry: None });
            }
            Event::Wrote { field, old, new, .. } => {
                if let Some(field) = at.fields.get(&field) {
                    facts.note(Asked::Field(*field), old);
                    facts.note(Asked::Field(*field), new);
                }
            }
            Event::PassEnd { output, phv } => {
                for (field, of_test) in &at.fields {
                    let data = &program.fields[*field];
                    let is_there = match data.home {
                        Home::Header(header) => phv.is_valid(header),
                        _ => true,
                    };
                    if is_there && Some(data.gress) == facts.gress {
                        facts.note(Asked::Field(*of_test), phv.field(*field));
                    }
                }
                let leaves = facts.gress == Some(Gress::Ingress) && output.verdict == Verdict::Forward;
                if leaves && output.port != Intrinsic::NO_PORT {
                    facts.note(Asked::Out, output.port.into());
                }
            }
            _ => {}
        }
    }

    /// Notes the end of a packet.
    pub(super) fn lost(&self, absorbed: bool, reason: &str, facts: &mut Facts) {
        facts.note(Asked::Fate, if absorbed { 2 } else { 1 });
        if let Some(number) = self.reasons.iter().position(|known| known == reason) {
            facts.note(Asked::Reason, number as u128);
        }
    }

    /// Returns true if the condition holds for a packet at a switch.
    pub(super) fn holds(&self, switch: usize, packet: u64, facts: &Facts) -> bool {
        let Some(at) = self.switches.get(switch) else { return false };
        let with = |lookup: Option<&Lookup>| {
            at.condition.holds(&|test: &Test| match test.asked {
                Asked::Packet => test.passes(&[packet.into()].into()),
                Asked::Switch => test.passes(&[switch as u128].into()),
                asked => match lookup.and_then(|lookup| at.of_lookup(asked, lookup)) {
                    Some(values) => test.passes(&values),
                    None => facts.values.get(&asked).is_some_and(|values| test.passes(values)),
                },
            })
        };
        with(None) || facts.lookups.iter().any(|lookup| with(Some(lookup)))
    }
}

impl AtSwitch {
    /// Returns the values of a lookup; `None` if a name is not one of lookups.
    fn of_lookup(&self, asked: Asked, lookup: &Lookup) -> Option<BTreeSet<u128>> {
        let one = |value: Option<u128>| Some(value.into_iter().collect());
        match asked {
            Asked::Gress => one(Some(lookup.gress.index() as u128)),
            Asked::Table => one(lookup.table.map(|table| table.index() as u128)),
            Asked::Action => one(Some(lookup.action)),
            Asked::Entry => one(lookup.entry),
            Asked::Stage => {
                let stages = lookup.table.and_then(|table| self.stages.get(&table));
                Some(stages.cloned().unwrap_or_default())
            }
            _ => None,
        }
    }
}

/// Returns the reasons for which packets of these switches can end.
fn reasons(switches: &[&SwitchSetup]) -> Vec<String> {
    let labels =
        switches.iter().flat_map(|s| s.placed.program.labels.values().map(|label| label.name.as_str()));
    let device = DeviceDrop::TABLE.iter().map(|(_, name, ..)| *name);
    let links = LinkDrop::TABLE.iter().map(|(_, name, ..)| *name);
    let rules = Rule::TABLE.iter().map(|(_, name, ..)| *name);
    let all: BTreeSet<&str> = labels.chain(device).chain(links).chain(rules).collect();
    all.into_iter().map(str::to_owned).collect()
}

/// Returns the stages of each table of a switch.
fn stages(setup: &SwitchSetup) -> BTreeMap<Table, BTreeSet<u128>> {
    let mut stages: BTreeMap<Table, BTreeSet<u128>> = BTreeMap::new();
    for gress in &setup.placed.placement.gresses {
        for (node, data) in gress.cfg.nodes.iter() {
            if let (NodeKind::Table(table), Some(placed)) = (&data.kind, gress.nodes.get(node)) {
                let of_parts = placed.parts.iter().map(|part| u128::from(part.stage));
                stages.entry(*table).or_default().extend(of_parts);
            }
        }
    }
    stages
}

/// Resolves names and values.
struct Resolver<'s> {
    switches: &'s [&'s SwitchSetup],
    reasons: &'s [String],
}

impl Resolver<'_> {
    /// Returns a comparison for each switch.
    fn test(&self, Written { name, comparison, value }: &Written) -> Result<Vec<Test>, FilterError> {
        let known = NAMES.iter().find(|(known, ..)| *known == name.text);
        let Some(&(_, asked, _)) = known else { return self.of_field(name, *comparison, value) };
        let is_number = matches!(asked, Asked::Packet | Asked::Entry | Asked::Stage);
        if comparison.is_order() && !is_number {
            let text = format!("`{}` has no order", name.text);
            return Err(name.error(text, "compare it by `==` or `!=`"));
        }
        let values = self.values(asked, value)?;
        let test = |values| Test { asked, comparison: *comparison, values, masked: None };
        Ok(values.into_iter().map(test).collect())
    }

    /// Returns the numbers of a value at each switch.
    fn values(&self, asked: Asked, value: &Word) -> Result<Vec<Vec<u128>>, FilterError> {
        let text = value.text.as_str();
        let same = |number: u128| Ok(vec![vec![number]; self.switches.len()]);
        let number = |or: &str| match text.parse::<u128>() {
            Ok(number) => same(number),
            Err(_) => Err(value.error(format!("`{text}` is not a number{or}"), "")),
        };
        match asked {
            Asked::Packet if text == "generated" => same(GENERATED.into()),
            Asked::Packet => number(" or `generated`"),
            Asked::Entry if text == "miss" => same(MISS),
            Asked::Entry => number(" or `miss`"),
            Asked::Stage => number(""),
            Asked::Port | Asked::Out => self.ports(value),
            Asked::Fate => self.word(value, "fate", &FATES.map(str::to_owned)),
            Asked::Gress => self.word(value, "gress", &Gress::ALL.map(|gress| gress.to_string())),
            Asked::Reason => self.word(value, "reason", self.reasons),
            Asked::Switch => {
                let names: Vec<String> = self.switches.iter().map(|s| s.name.clone()).collect();
                self.word(value, "switch", &names)
            }
            Asked::Table => {
                self.named(value, "table", |p| p.tables.values().map(|t| t.name.as_str()).collect())
            }
            Asked::Action | Asked::Field(_) => {
                self.named(value, "action", |p| p.actions.values().map(|a| a.name.as_str()).collect())
            }
        }
    }

    /// Returns the number of a word in a list.
    fn word(&self, value: &Word, what: &str, list: &[String]) -> Result<Vec<Vec<u128>>, FilterError> {
        let at = list.iter().position(|known| *known == value.text);
        let known = || list.iter().map(String::as_str).collect::<Vec<_>>();
        let number = at.ok_or_else(|| unknown(value, what, &known()))?;
        Ok(vec![vec![number as u128]; self.switches.len()])
    }

    /// Returns the numbers of the names that end with a value, at each switch.
    fn named(
        &self,
        value: &Word,
        what: &str,
        names: impl Fn(&Program) -> Vec<&str>,
    ) -> Result<Vec<Vec<u128>>, FilterError> {
        let programs = || self.switches.iter().map(|s| &s.placed.program);
        let found = programs().map(|p| by_end(&value.text, &names(p)).map(|at| at as u128).collect());
        let found: Vec<Vec<u128>> = found.collect();
        match found.iter().all(Vec::is_empty) {
            true => Err(unknown(value, what, &programs().flat_map(&names).collect::<Vec<_>>())),
            false => Ok(found),
        }
    }

    fn ports(&self, value: &Word) -> Result<Vec<Vec<u128>>, FilterError> {
        let found: Vec<_> = self.switches.iter().map(|s| s.ports.find(&value.text)).collect();
        match found.first() {
            Some(Err(error)) if found.iter().all(Result::is_err) => {
                Err(value.error(error.to_string(), "`sluice explain ports` lists the ports"))
            }
            _ => {
                let number =
                    |port: Option<_>| port.map(|port: &sluice_asic::port::Port| port.dev_port.number());
                Ok(found.into_iter().map(|p| number(p.ok()).map(u128::from).into_iter().collect()).collect())
            }
        }
    }

    /// Returns a comparison of a field of the programs for each switch.
    fn of_field(&self, name: &Word, comparison: Comparison, value: &Word) -> Result<Vec<Test>, FilterError> {
        let mut tests = Vec::new();
        let (mut exists, mut wrong) = (false, None);
        for switch in self.switches {
            let program = &switch.placed.program;
            let names: Vec<&str> = program.fields.values().map(|f| f.name.as_str()).collect();
            let of_gresses: Vec<Field> = by_end(&name.text, &names).map(Field::new).collect();
            let Some(&field) = of_gresses.first() else {
                tests.push(Test::never());
                continue;
            };
            let meant: BTreeSet<&str> = of_gresses.iter().map(|f| names[f.index()]).collect();
            if meant.len() > 1 {
                let list = meant.into_iter().collect::<Vec<_>>().join(", ");
                return Err(name.error(
                    format!("`{}` is the end of several fields", name.text),
                    format!("write one of {list}"),
                ));
            }
            exists = true;
            let width = program.fields[field].width;
            let test = if comparison.is_order() {
                parse_value(&value.text, width).map(|limit| (vec![limit], None))
            } else {
                parse_match(&value.text, MatchKind::Ternary, width)
                    .map(|key| (Vec::new(), Some((key, width))))
            };
            match test {
                Ok((values, masked)) => {
                    tests.push(Test { asked: Asked::Field(field), comparison, values, masked });
                }
                Err(error) => {
                    wrong = Some(value.error(format!("field {}: {error}", names[field.index()]), ""));
                    tests.push(Test::never());
                }
            }
        }
        match wrong.filter(|_| tests.iter().all(|test| test.asked == Asked::Switch)) {
            Some(wrong) => Err(wrong),
            None if exists => Ok(tests),
            None => {
                let words = filter_names().map(|(word, _)| word);
                let programs = self.switches.iter().map(|s| &s.placed.program);
                let fields = programs.flat_map(|p| p.fields.values().map(|f| f.name.as_str()));
                Err(unknown(name, "name or field", &words.chain(fields).collect::<Vec<_>>()))
            }
        }
    }
}

/// Returns the positions of the names that are `wanted`, or else of those that end with it after a dot.
fn by_end<'n>(wanted: &'n str, names: &'n [&'n str]) -> impl Iterator<Item = usize> + 'n {
    let is_whole = names.contains(&wanted);
    let fits = move |name: &str| match is_whole {
        true => name == wanted,
        false => name.strip_suffix(wanted).is_some_and(|front| front.ends_with('.')),
    };
    names.iter().enumerate().filter(move |(_, name)| fits(name)).map(|(at, _)| at)
}

/// Returns the error for a word that nothing is called.
fn unknown(word: &Word, what: &str, known: &[&str]) -> FilterError {
    let ends = known.iter().filter_map(|name| name.rsplit('.').next());
    let with_it = known.iter().copied().find(|name| word.text.len() > 2 && name.contains(&word.text));
    let help = match with_it.or_else(|| nearest(&word.text, known.iter().copied().chain(ends))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let mut few: Vec<&str> = known.to_vec();
            few.truncate(12);
            let more = if known.len() > few.len() { ", .." } else { "" };
            format!("there are {}{more}", few.join(", "))
        }
    };
    word.error(format!("there is no {what} `{}`", word.text), help)
}
