//! Value sets of parsers.

use super::Writer;
use super::names::Taken;
use super::page::Page;
use sluice_ir::entity::Entity;
use sluice_ir::{ParamData, Program, SelectArm, StateData, ValueSet, ValueSetData};

/// Writes the types of members with several fields.
pub(super) fn write_types(p: &Program, page: &mut Page) {
    for (set, data) in p.value_sets.iter().filter(|(_, data)| !is_plain(data)) {
        page.gap();
        page.open(&format!("struct {}", type_name(set)));
        for (name, width) in members(data) {
            page.line(&format!("bit<{width}> {name};"));
        }
        page.close("");
    }
}

/// Returns the fields of a set, under names that P4 allows.
fn members(data: &ValueSetData) -> Vec<(String, u16)> {
    let mut taken = Taken::default();
    data.fields.iter().map(|field| (taken.take(&field.name, "field").text, field.width)).collect()
}

/// Returns true if members are plain values: then their only field has no name of its own.
fn is_plain(data: &ValueSetData) -> bool {
    matches!(data.fields.as_slice(), [ParamData { name, .. }] if name == "f1")
}

fn type_name(set: ValueSet) -> String {
    format!("value_set_{}_t", set.index())
}

/// Returns what P4 cannot say about the value set of an arm.
pub(super) fn without(p: &Program, state: &StateData, arm: &SelectArm) -> Option<String> {
    let of = arm.set?;
    let data = &p.value_sets[of.set];
    let odd = data.fields.iter().zip(members(data)).any(|(field, (name, _))| field.name != name);
    let whole = of.first == 0 && data.fields.len() == state.select.len();
    match data.fields.len() {
        _ if odd => Some(format!("value set `{}` has a field whose name P4 does not allow", data.name)),
        1 => None,
        _ if whole => None,
        _ => Some(format!("value set `{}` is compared with some of the keys", data.name)),
    }
}

impl Writer<'_> {
    /// Declares the value sets of the gress' parser; returns their names.
    pub(super) fn declare_value_sets(&mut self, taken: &mut Taken) -> Vec<(ValueSet, String)> {
        let (p, gress) = (self.p, self.gress);
        let mut names = Vec::new();
        for (set, data) in p.value_sets.iter().filter(|(_, data)| data.gress == gress) {
            let name = taken.take(&data.name, "set");
            let of = match data.fields.as_slice() {
                [field] if is_plain(data) => format!("bit<{}>", field.width),
                _ => type_name(set),
            };
            self.page.comment(&data.doc);
            name.annotation().iter().for_each(|line| self.page.line(line));
            self.page.line(&format!("value_set<{of}>({}) {};", data.size, name.text));
            names.push((set, name.text));
        }
        names
    }
}
