//! Names of entities, for printer and parser.

use super::scan::{Item, Kind};
use crate::Program;
use crate::entity::Entity;
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Kinds of entities with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Field,
    Header,
    State,
    Action,
    Table,
    Profile,
    Counter,
    Hash,
    Register,
    RegisterAction,
    Label,
    Meter,
    Random,
    Stack,
    ValueSet,
}

impl Space {
    /// Returns true if two gresses may use the same name for different entities.
    pub(super) const fn per_gress(self) -> bool {
        matches!(self, Space::Field | Space::Header | Space::State | Space::Stack)
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Space::Field => "field",
            Space::Header => "header",
            Space::State => "parser state",
            Space::Action => "action",
            Space::Table => "table",
            Space::Profile => "profile",
            Space::Counter => "counter",
            Space::Hash => "hash",
            Space::Register => "register",
            Space::RegisterAction => "register action",
            Space::Label => "label",
            Space::Stack => "stack",
            Space::Meter => "meter",
            Space::Random => "generator of random numbers",
            Space::ValueSet => "value set",
        }
    }

    /// Returns the kind of entity that an item declares.
    pub(super) const fn of(kind: Kind) -> Option<Space> {
        Some(match kind {
            Kind::HeaderField(_) | Kind::Metadata | Kind::Intrinsic | Kind::PortMetadata => Space::Field,
            Kind::Header => Space::Header,
            Kind::State => Space::State,
            Kind::Action => Space::Action,
            Kind::Table => Space::Table,
            Kind::Profile => Space::Profile,
            Kind::Counter => Space::Counter,
            Kind::Hash => Space::Hash,
            Kind::Register => Space::Register,
            Kind::RegisterAction => Space::RegisterAction,
            Kind::Label => Space::Label,
            Kind::Meter => Space::Meter,
            Kind::Random => Space::Random,
            Kind::Stack => Space::Stack,
            Kind::ValueSet => Space::ValueSet,
            Kind::Program
            | Kind::Param
            | Kind::Start
            | Kind::Control
            | Kind::Ghost
            | Kind::Together
            | Kind::Containers
            | Kind::Deparser => {
                return None;
            }
        })
    }
}

/// Entity of each name. If several entities have one name, the lowest index wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    names: BTreeMap<(Space, Option<Gress>, String), u32>,
}

impl Scope {
    /// Returns the names of a program.
    pub(super) fn of(p: &Program) -> Scope {
        let mut s = Scope::default();
        macro_rules! add {
            ($map:ident, $space:expr, $gress:expr) => {
                for (key, d) in p.$map.iter() {
                    s.add($space, ($gress)(d), &d.name, key.index() as u32);
                }
            };
        }
        add!(fields, Space::Field, |d: &crate::FieldData| Some(d.gress));
        add!(headers, Space::Header, |d: &crate::HeaderData| Some(d.gress));
        add!(states, Space::State, |d: &crate::StateData| Some(d.gress));
        add!(actions, Space::Action, |_| None);
        add!(tables, Space::Table, |_| None);
        add!(profiles, Space::Profile, |_| None);
        add!(counters, Space::Counter, |_| None);
        add!(hashes, Space::Hash, |_| None);
        add!(registers, Space::Register, |_| None);
        add!(register_actions, Space::RegisterAction, |_| None);
        add!(labels, Space::Label, |_| None);
        add!(stacks, Space::Stack, |d: &crate::StackData| Some(d.gress));
        add!(meters, Space::Meter, |_| None);
        add!(randoms, Space::Random, |_| None);
        add!(value_sets, Space::ValueSet, |_| None);
        s
    }

    /// Returns the names of a text; `indices` holds the entity of each item.
    pub(super) fn of_items(items: &[Item], indices: &[u32]) -> Scope {
        let mut s = Scope::default();
        for (item, &index) in items.iter().zip(indices) {
            if let Some(space) = Space::of(item.kind) {
                s.add(space, item.gress, &item.name, index);
            }
        }
        s
    }

    fn add(&mut self, space: Space, gress: Option<Gress>, name: &str, index: u32) {
        let gress = gress.filter(|_| space.per_gress());
        let at = self.names.entry((space, gress, name.to_owned())).or_insert(index);
        *at = index.min(*at);
    }

    /// Returns the names of a kind; the gress is used only for kinds with separate names per gress.
    pub(super) fn names(&self, space: Space, gress: Option<Gress>) -> impl Iterator<Item = &str> {
        let gress = gress.filter(|_| space.per_gress());
        let first = (space, gress, String::new());
        let of_kind = move |(s, g, _): &&(Space, Option<Gress>, String)| *s == space && *g == gress;
        self.names.range(first..).map(|(key, _)| key).take_while(of_kind).map(|(_, _, name)| name.as_str())
    }

    /// Returns the entity of this name; the gress is used only for kinds with separate names per gress.
    pub(super) fn find(&self, space: Space, gress: Option<Gress>, name: &str) -> Option<u32> {
        self.names.get(&(space, gress.filter(|_| space.per_gress()), name.to_owned())).copied()
    }
}
