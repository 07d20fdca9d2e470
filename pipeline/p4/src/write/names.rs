//! P4 names of a program's parts.
//!
//! The names are those of the program, so that the control plane finds tables, actions and objects. In a control, P4 has one space of
//! names for all of them; a name that is taken, or that is a word of the language, gets a suffix, and `@name` keeps its own.

use crate::syntax::is_reserved;
use rustc_hash::FxHashSet;
use sluice_asic::gress::Gress;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::{Action, Counter, Hash, Meter, Profile, Program, Random, Register, RegisterAction, Table};

/// Names that declarations of controls must not hide.
const TAKEN: [&str; 19] = [
    "hdr",
    "pkt",
    "ig_md",
    "eg_md",
    "ig_intr_md",
    "ig_intr_prsr_md",
    "ig_intr_dprsr_md",
    "ig_intr_tm_md",
    "eg_intr_md",
    "eg_intr_prsr_md",
    "eg_intr_dprsr_md",
    "eg_intr_oport_md",
    "g_intr_md",
    "value",
    "rv",
    "NoAction",
    "min",
    "max",
    "funnel_shift_right",
];

/// A name in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The identifier.
    pub(super) text: String,
    /// The name of the program, if the identifier is another one.
    pub(super) own: Option<String>,
}

impl Name {
    /// Returns the annotation that keeps the own name.
    pub(super) fn annotation(&self) -> Option<String> {
        self.own.as_ref().map(|own| format!("@name(\"{own}\")"))
    }
}

/// The identifiers of a scope that are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    names: FxHashSet<String>,
}

impl Taken {
    /// Returns a scope in which names of parameters and of the library are taken.
    pub(super) fn in_control() -> Taken {
        Taken { names: TAKEN.into_iter().map(str::to_owned).collect() }
    }

    /// Takes a name, with a suffix if it is taken or no identifier.
    pub(super) fn take(&mut self, own: &str, suffix: &str) -> Name {
        let plain = plain(own);
        let mut text = plain.clone();
        let mut number = 1;
        while is_reserved(&text) || !self.names.insert(text.clone()) {
            text =
                if number == 1 { format!("{plain}_{suffix}") } else { format!("{plain}_{suffix}{number}") };
            number += 1;
        }
        let own = (text != own).then(|| own.to_owned());
        Name { text, own }
    }

    /// Takes a name that nobody knows, with a number if it is taken.
    pub(super) fn numbered(&mut self, wanted: &str) -> String {
        let plain = plain(wanted);
        let mut text = plain.clone();
        let mut number = 2;
        while is_reserved(&text) || !self.names.insert(text.clone()) {
            text = format!("{plain}_{number}");
            number += 1;
        }
        text
    }
}

/// Returns a name with `_` in place of characters that identifiers do not have.
fn plain(own: &str) -> String {
    let mut text: String =
        own.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        text.insert(0, '_');
    }
    text
}

/// The names of all parts that controls declare.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) tables: EntityMap<Table, Name>,
    pub(super) actions: EntityMap<Action, Name>,
    pub(super) registers: EntityMap<Register, Name>,
    pub(super) register_actions: EntityMap<RegisterAction, Name>,
    pub(super) counters: EntityMap<Counter, Name>,
    pub(super) meters: EntityMap<Meter, Name>,
    pub(super) profiles: EntityMap<Profile, Name>,
    pub(super) hashes: EntityMap<Hash, Name>,
    pub(super) randoms: EntityMap<Random, Name>,
    /// The scopes of ingress and egress, with all names above.
    pub(super) taken: [Taken; 2],
}

impl Names {
    /// Names all parts: those that the control plane knows first, so that they keep their names.
    pub(super) fn of(p: &Program) -> Names {
        let mut taken = [Taken::in_control(), Taken::in_control()];
        let gress_of = |action: &sluice_ir::RegisterActionData| {
            p.registers.get(action.register).map_or(Gress::Ingress, |register| register.gress)
        };
        let tables = each(&p.tables, &mut taken, |d| (d.gress, &d.name, "table"));
        let actions = each(&p.actions, &mut taken, |d| (d.gress, &d.name, "action"));
        let registers = each(&p.registers, &mut taken, |d| (d.gress, &d.name, "register"));
        let counters = each(&p.counters, &mut taken, |d| (d.gress, &d.name, "counter"));
        let meters = each(&p.meters, &mut taken, |d| (d.gress, &d.name, "meter"));
        let profiles = each(&p.profiles, &mut taken, |d| (d.gress, &d.name, "selector"));
        let register_actions = each(&p.register_actions, &mut taken, |d| (gress_of(d), &d.name, "access"));
        let hashes = each(&p.hashes, &mut taken, |d| (d.gress, &d.name, "hash"));
        let randoms = each(&p.randoms, &mut taken, |d| (d.gress, &d.name, "random"));
        Names {
            tables,
            actions,
            registers,
            register_actions,
            counters,
            meters,
            profiles,
            hashes,
            randoms,
            taken,
        }
    }
}

fn each<K: Entity, D>(
    map: &EntityMap<K, D>,
    taken: &mut [Taken; 2],
    of: impl Fn(&D) -> (Gress, &String, &'static str),
) -> EntityMap<K, Name> {
    let mut names = EntityMap::new();
    for data in map.values() {
        let (gress, own, suffix) = of(data);
        names.push(taken[gress.index()].take(own, suffix));
    }
    names
}
