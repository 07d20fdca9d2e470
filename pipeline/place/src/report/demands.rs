//! Demands of the author on tables and containers, each with what the placement made of it.

use crate::data::{Owner, Part, PhvAllocation, Placement};
use crate::report::ways::ways;
use serde::Serialize;
use sluice_asic::gress::Gress;
use sluice_asic::phv::PhvInventory;
use sluice_ir::cfg::NodeKind;
use sluice_ir::{Field, Program};

/// A demand of the author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthorDemand {
    /// The demand as an annotation of P4.
    pub demand: String,
    /// Its table or field.
    pub of: String,
    /// Its effect on the placement.
    pub effect: String,
}

/// Returns the demands on tables in order of placement, then those on containers in order of declaration.
pub(super) fn demands(program: &Program, placement: &Placement) -> Vec<AuthorDemand> {
    let mut list = Vec::new();
    for gress in Gress::ALL {
        let placed = placement.gress(gress);
        for (node, data) in placed.cfg.nodes.iter() {
            let NodeKind::Table(table) = data.kind else { continue };
            let table = &program.tables[table];
            let mut add = |demand: String, effect: String| {
                list.push(AuthorDemand { demand, of: table.name.clone(), effect });
            };
            let parts = &placed.nodes[node].parts;
            let stage = parts.first().map_or(0, |part| part.stage);
            if let Some(pin) = table.pin {
                let held = |part: &Part| format!("{} entries in stage {}", part.entries, part.stage);
                match table.rules.pin_entries {
                    Some(entries) => {
                        let held: Vec<String> = parts.iter().map(held).collect();
                        add(format!("@stage({pin}, {entries})"), held.join(", "));
                    }
                    None => add(format!("@stage({pin})"), format!("begins in stage {stage}")),
                }
            }
            let first = parts.first().and_then(|part| ways(placement, Owner { gress, node }, *part));
            if let (Some(wanted), Some(first)) = (table.rules.ways, &first) {
                let rams: u32 = first.sizes.iter().sum::<u32>() * first.width as u32;
                add(format!("@ways({wanted})"), format!("{} ways of {rams} RAMs", first.sizes.len()));
            }
            if let (Some(wanted), Some(first)) = (table.rules.pack, &first) {
                add(format!("@pack({wanted})"), format!("words of {} RAMs", first.width));
            }
            if table.rules.priority != 0 {
                let demand = format!("@placement_priority({})", table.rules.priority);
                add(demand, format!("begins in stage {stage}"));
            }
        }
    }
    let inventory = PhvInventory::new(&placement.chip.phv);
    for rule in &program.container_rules {
        let field = &program.fields[rule.field];
        let effect = match containers(&inventory, &placement.phv, rule.field) {
            names if names.is_empty() => "needs no container".to_owned(),
            names => format!("in {}", names.join(", ")),
        };
        let (demand, of) = (rule.p4(field.gress, &field.name), field.name.clone());
        list.push(AuthorDemand { demand, of, effect });
    }
    list
}

/// Returns the names of a field's containers, the one with the most significant bits first.
fn containers(inventory: &PhvInventory, phv: &PhvAllocation, field: Field) -> Vec<String> {
    let names = phv.slices(field).iter().filter_map(|s| Some(inventory.get(s.container)?.to_string()));
    names.collect()
}
