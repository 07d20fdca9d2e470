//! Relaxes one constraint of a chip: more of one resource, and whatever else a chip with more of it must have.

use super::RelaxedValue;
use serde_json::{Value, json};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_place::{NoFit, Resource};
use std::collections::BTreeMap;

/// Steps of relaxing one constraint; each gives four times as much as the one before.
pub(super) const STEPS: u32 = 4;
/// Most stages: placements number them in a byte.
const MAX_STAGES: u64 = 200;

/// A constraint that a placement met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    /// A resource ran out.
    Resource(Resource),
    /// A number of the chip is exceeded: its path, and what the program needs.
    Number(&'static str, u64),
    /// A rule without a number.
    Rule(String),
}

impl Constraint {
    pub(super) fn name(&self) -> String {
        match self {
            Constraint::Resource(resource) => resource.id().to_owned(),
            Constraint::Number(key, _) => (*key).to_owned(),
            Constraint::Rule(_) => "rule".to_owned(),
        }
    }
}

/// Returns the constraint that a placement met first.
pub(super) fn constraint(no_fit: &NoFit) -> Constraint {
    let limit = no_fit.diags.first().and_then(|d| d.limit.as_deref().copied());
    match (no_fit.first_exhausted.as_ref().map(|e| e.resource), limit) {
        (Some(Resource::Parser | Resource::Deparser) | None, Some(limit)) => {
            Constraint::Number(limit.key, limit.needs)
        }
        (Some(resource), _) => Constraint::Resource(resource),
        (None, None) => Constraint::Rule(no_fit.reason()),
    }
}

/// A chip, and the values that are relaxed so far.
pub(super) struct Relaxed<'a> {
    chip: &'a ChipSpec,
    own: Value,
    values: BTreeMap<&'static str, Value>,
    /// Values of the step that is tried.
    trial: BTreeMap<&'static str, Value>,
}

impl<'a> Relaxed<'a> {
    pub(super) fn new(chip: &'a ChipSpec) -> Relaxed<'a> {
        let own = serde_json::to_value(chip).unwrap_or_default();
        Relaxed { chip, own, values: BTreeMap::new(), trial: BTreeMap::new() }
    }

    /// Returns the chip with more of a resource; `None` if no such chip is possible.
    pub(super) fn without(&mut self, constraint: &Constraint, step: u32) -> Option<ChipSpec> {
        self.trial = self.values.clone();
        let more = 4u64.pow(step + 1);
        match constraint {
            Constraint::Rule(_) => return None,
            Constraint::Number(_, _) if step > 0 => return None,
            Constraint::Number(key, needs) => {
                let old = at(&self.own, key)?;
                let new = if old.is_boolean() { json!(*needs > 0) } else { json!(needs) };
                self.trial.insert(key, new);
            }
            Constraint::Resource(Resource::Stages) => self.scale(&["mau.stages"], more),
            Constraint::Resource(Resource::LongBranches) => self.scale(&["mau.long_branch_tags"], more),
            Constraint::Resource(Resource::Phv) => self.scale(&PHV, more),
            Constraint::Resource(Resource::Parser | Resource::Deparser | Resource::Steps) => return None,
            Constraint::Resource(Resource::Column(column)) => self.column(*column, more),
        }
        self.follow();
        let mut tree = self.own.clone();
        for (key, value) in &self.trial {
            *at_mut(&mut tree, key)? = value.clone();
        }
        let chip: ChipSpec = serde_json::from_value(tree).ok()?;
        chip.validate().is_ok().then_some(chip)
    }

    /// Keeps the values of the last step; returns those that are new or changed, each with the chip's own value.
    pub(super) fn accept(&mut self) -> Vec<RelaxedValue> {
        let trial = std::mem::take(&mut self.trial);
        let changed = trial.iter().filter(|(key, value)| self.values.get(*key) != Some(value));
        let list = changed
            .map(|(key, value)| {
                let chip = at(&self.own, key).map(Value::to_string).unwrap_or_default();
                RelaxedValue { key: (*key).to_owned(), chip, value: value.to_string() }
            })
            .collect();
        self.values = trial;
        list
    }

    /// Multiplies numbers of the real chip.
    fn scale(&mut self, keys: &[&'static str], by: u64) {
        for key in keys {
            if let Some(own) = at(&self.own, key).and_then(Value::as_u64) {
                self.trial.insert(key, json!(own.saturating_mul(by)));
            }
        }
    }

    fn column(&mut self, column: Column, more: u64) {
        match column {
            // Bytes of a crossbar are the inputs of as many hash tables.
            Column::ExactXbar => self.scale(&["mau.exact_xbar_groups", "mau.hash_tables"], more),
            Column::TernaryXbar => self.scale(&["mau.ternary_xbar_groups"], more),
            Column::HashBit => self.scale(&["mau.hash_groups"], more),
            Column::HashDist => self.scale(&["mau.hash_dist_units"], more),
            Column::Gateway => self.scale(&["mau.gateway_rows"], more),
            Column::Sram | Column::MapRam => self.scale(&["mau.sram_rows", "mau.map_ram_rows"], more),
            Column::Tcam => self.scale(&["mau.tcam_rows", "mau.ternary_tables"], more),
            Column::Vliw => self.scale(&["mau.imem_rows"], more),
            Column::MeterAlu | Column::StatsAlu => {
                self.scale(&["mau.sram_rows", "mau.map_ram_rows"], more);
                let rows = u64::from(self.chip.mau.logical_rows()) * more;
                let every = |from: u64| json!((0..rows / 4).map(|i| from + 4 * i).collect::<Vec<u64>>());
                self.trial.insert("mau.meter_alu_rows", every(3));
                self.trial.insert("mau.stats_alu_rows", every(1));
            }
            Column::Stash => self.scale(&["mau.stash_units_per_row"], more),
            Column::ExactSearchBus => self.scale(&["mau.search_buses_per_row"], more),
            Column::ExactResultBus => self.scale(&["mau.result_buses_per_row"], more),
            Column::TindResultBus => self.scale(&["mau.tind_buses_per_row"], more),
            Column::ActionBusBytes | Column::Slots8 | Column::Slots16 | Column::Slots32 => {
                self.scale(&ACTION_BUS, more);
            }
            Column::LogicalTable => self.scale(&["mau.logical_tables"], more),
        }
    }

    /// Gives next tables as many codes as stages and logical tables need.
    fn follow(&mut self) {
        let value =
            |key| self.trial.get(key).or_else(|| at(&self.own, key)).and_then(Value::as_u64).unwrap_or(0);
        let stages = value("mau.stages").min(MAX_STAGES);
        let codes = stages * value("mau.logical_tables") + 1;
        let bits = u64::from(codes.next_power_of_two().trailing_zeros());
        let narrow = value("mau.next_table_bits") < bits;
        if self.trial.contains_key("mau.stages") {
            self.trial.insert("mau.stages", json!(stages));
        }
        if narrow {
            self.trial.insert("mau.next_table_bits", json!(bits));
            self.trial.insert("mau.next_table_end", json!((1u64 << bits) - 1));
        }
    }
}

const PHV: [&str; 4] = ["phv.groups_8", "phv.groups_16", "phv.groups_32", "phv.tagalong_base"];
const ACTION_BUS: [&str; 5] = [
    "mau.action_bus_bytes",
    "mau.action_bus_slots_8",
    "mau.action_bus_slots_16",
    "mau.action_bus_slots_32",
    "mau.action_slots_per_size",
];

fn at<'v>(tree: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(tree, |value, key| value.get(key))
}

fn at_mut<'v>(tree: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.').try_fold(tree, |value, key| value.get_mut(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_place::{place, verify};
    use sluice_samples::sketch::l3;

    /// Every resource can be relaxed on both chips, and a program that fits still fits the larger chip.
    #[test]
    fn chips_with_more_of_a_resource_are_chips() {
        let program = l3(1000);
        let own = [Resource::Stages, Resource::LongBranches, Resource::Phv];
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            for resource in Column::ALL.map(Resource::Column).into_iter().chain(own) {
                let mut relaxed = Relaxed::new(&chip);
                let larger = relaxed.without(&Constraint::Resource(resource), 0);
                let larger = larger.unwrap_or_else(|| panic!("{} of {}", resource.id(), chip.name));
                let placement = place(&program, &larger).unwrap_or_else(|e| panic!("{}: {e}", resource.id()));
                assert_eq!(verify(&program, &placement), [], "{}", resource.id());
                assert!(!relaxed.accept().is_empty());
            }
        }
    }

    /// 12 stages of 4 x 16 logical tables and the end of the pipe are 769 codes, which take 10 bits.
    #[test]
    fn more_logical_tables_get_more_codes() {
        let tofino = ChipSpec::tofino();
        let tables = Constraint::Resource(Resource::Column(Column::LogicalTable));
        let larger = Relaxed::new(&tofino).without(&tables, 0).map(|c| c.mau);
        assert_eq!(
            larger.map(|m| (m.logical_tables, m.next_table_bits, m.next_table_end)),
            Some((64, 10, 1023))
        );
    }
}
