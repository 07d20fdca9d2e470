//! Names of the program's parts, each unique in its space.

use rustc_hash::{FxHashMap, FxHashSet};
use sluice_asic::gress::Gress;

/// Spaces of names: the program wants names that are unique in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// Fields of a gress.
    Field(Gress),
    /// Headers of a gress.
    Header(Gress),
    /// Stacks of a gress.
    Stack(Gress),
    /// Parser states of a gress.
    State(Gress),
    /// Actions.
    Action,
    /// Tables.
    Table,
    /// Action profiles.
    Profile,
    /// Counters.
    Counter,
    /// Hashes.
    Hash,
    /// Registers.
    Register,
    /// Register actions.
    RegisterAction,
    /// Labels of drops.
    Label,
    /// Meters, filters and WRED.
    Meter,
    /// Generators of random numbers.
    Random,
    /// Value sets.
    ValueSet,
}

/// The names that are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: FxHashSet<(Space, String)>,
    /// The next number to try after a name.
    next: FxHashMap<(Space, String), u32>,
    /// Changes of both, in order.
    log: Vec<Change>,
}

/// A change, as what it takes to undo it.
#[derive(Debug)]
enum Change {
    /// A name was taken.
    Taken(Space, String),
    /// A number after a name was used; holds the next number before.
    Numbered(Space, String, Option<u32>),
}

impl Names {
    /// Takes a name; with a number after it if another part has the name. Characters that no name has become `_`.
    pub(super) fn take(&mut self, space: Space, wanted: &str) -> String {
        let name = plain(wanted);
        match self.insert(space, &name) {
            true => name,
            false => self.take_second(space, wanted),
        }
    }

    /// Takes a name with a number after it: another part will have the name itself.
    pub(super) fn take_second(&mut self, space: Space, wanted: &str) -> String {
        let plain = plain(wanted);
        let known = self.next.get(&(space, plain.clone())).copied();
        self.log.push(Change::Numbered(space, plain.clone(), known));
        let mut number = known.unwrap_or(2);
        loop {
            let name = format!("{plain}_{number}");
            number += 1;
            if self.insert(space, &name) {
                self.next.insert((space, plain), number);
                return name;
            }
        }
    }

    /// Takes a name; returns false if another part has it.
    fn insert(&mut self, space: Space, name: &str) -> bool {
        let is_new = self.taken.insert((space, name.to_owned()));
        if is_new {
            self.log.push(Change::Taken(space, name.to_owned()));
        }
        is_new
    }

    /// Returns the state to which [`Names::go_back`] can return.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Gives up the names that were taken since a mark.
    pub(super) fn go_back(&mut self, mark: usize) {
        for change in self.log.drain(mark..).rev() {
            match change {
                Change::Taken(space, name) => _ = self.taken.remove(&(space, name)),
                Change::Numbered(space, name, None) => _ = self.next.remove(&(space, name)),
                Change::Numbered(space, name, Some(number)) => _ = self.next.insert((space, name), number),
            }
        }
    }
}

fn plain(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    let mut name: String = name.chars().map(|c| if kept(c) { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$')) {
        name.insert(0, '_');
    }
    name
}

/// Returns a name in snake case, as labels of drops have it.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            snake.push('_');
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        snake.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    let snake = snake.trim_matches('_').to_owned();
    if snake.starts_with(|c: char| c.is_ascii_lowercase()) { snake } else { format!("l_{snake}") }
}
