//! A legal placement, broken in one way at a time: the verifier must find each.

use crate::{Placement, Purpose, UnitUse, place, verify};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_ir::Program;
use sluice_ir::cfg::{Node, NodeKind};
use sluice_samples::sketch as samples;

fn sample() -> (Program, Placement) {
    let program = samples::l3(20_000);
    let placement = place(&program, &ChipSpec::tofino2()).unwrap();
    assert_eq!(verify(&program, &placement), []);
    (program, placement)
}

/// Breaks a legal placement and expects a finding with these words.
fn found(words: &str, corrupt: impl FnOnce(&Program, &mut Placement)) {
    let (program, mut placement) = sample();
    let before = placement.clone();
    corrupt(&program, &mut placement);
    assert_ne!(placement, before, "nothing was broken");
    let diags = verify(&program, &placement);
    assert!(diags.iter().any(|d| d.text.contains(words)), "expected `{words}` in {diags:#?}");
}

fn node_of(program: &Program, placement: &Placement, table: &str) -> Node {
    let table = program.table_named(table).unwrap();
    let mut nodes = placement.gress(Gress::Ingress).cfg.nodes.iter();
    nodes.find(|(_, d)| d.kind == NodeKind::Table(table)).unwrap().0
}

/// Moves a node's first part, and all units of it, by some stages.
fn shift(placement: &mut Placement, node: Node, by: i8) {
    let part = &mut placement.gresses[0].nodes[node].parts[0];
    let from = part.stage;
    part.stage = from.saturating_add_signed(by);
    for u in placement.units.iter_mut().filter(|u| u.owner.node == node && u.owner.gress == Gress::Ingress) {
        if u.unit.stage == from {
            u.unit.stage = from.saturating_add_signed(by);
        }
    }
    placement.units.sort_by_key(|u| (u.unit, u.owner));
}

fn remove(placement: &mut Placement, wanted: impl Fn(&UnitUse) -> bool) {
    let at = placement.units.iter().position(wanted).unwrap();
    placement.units.remove(at);
}

fn is(column: Column, purpose: &str) -> impl Fn(&UnitUse) -> bool + '_ {
    move |u| u.unit.column == column && u.purpose.kind().starts_with(purpose)
}

#[test]
fn a_table_one_stage_earlier() {
    found("writes `meta.nexthop`", |program, p| {
        let n = node_of(program, p, "nexthops");
        shift(p, n, -1);
    });
}

#[test]
fn a_table_beside_its_predecessor_part() {
    found("rising stages", |program, p| {
        let n = node_of(program, p, "ipv4_lpm");
        p.gresses[0].nodes[n].parts[1].stage = 0;
    });
}

#[test]
fn logical_ids_swapped() {
    found("runs on its outcome", |program, p| {
        // The condition and its first table get separate ids, in the wrong order.
        let table = node_of(program, p, "ipv4_lpm");
        let gateway =
            p.gresses[0].cfg.nodes.iter().find(|(_, d)| matches!(d.kind, NodeKind::Gateway(_))).unwrap().0;
        let id = p.gresses[0].nodes[gateway].parts[0].logical_id;
        p.gresses[0].nodes[gateway].parts[0].logical_id = 15;
        for u in
            p.units.iter_mut().filter(|u| u.unit.column == Column::LogicalTable && u.owner.node == gateway)
        {
            u.unit.row = 15;
        }
        assert_eq!(p.gresses[0].nodes[table].parts[0].logical_id, id);
        p.units.sort_by_key(|u| (u.unit, u.owner));
    });
}

#[test]
fn a_match_ram_stolen() {
    found("needed", |_, p| remove(p, |u| matches!(u.purpose, Purpose::MatchWay { way: 3, .. })));
}

#[test]
fn a_tcam_block_stolen() {
    found("entries in TCAM", |_, p| remove(p, |u| u.purpose == Purpose::KeyWord(0)));
}

#[test]
fn an_action_data_ram_stolen() {
    found("RAMs of action data", |_, p| remove(p, is(Column::Sram, "action data")));
}

#[test]
fn a_spare_bank_dropped() {
    found("spare banks", |_, p| {
        let spare = p
            .units
            .iter()
            .find(|u| is(Column::Sram, "counter")(u) && matches!(u.purpose, Purpose::SpareBank(_)));
        let spare = spare.unwrap().clone();
        let left = p.chip.mau.sram_left_columns as u16;
        remove(p, |u| u.unit == spare.unit);
        remove(p, |u| {
            u.unit.column == Column::MapRam
                && (u.unit.stage, u.unit.row, u.unit.col + left)
                    == (spare.unit.stage, spare.unit.row, spare.unit.col)
        });
    });
}

#[test]
fn a_map_ram_missing() {
    found("not partners", |_, p| remove(p, is(Column::MapRam, "counter")));
}

#[test]
fn a_search_bus_used_twice() {
    found("is used by", |_, p| {
        let mut buses = p
            .units
            .iter()
            .enumerate()
            .filter(|(_, u)| u.unit.column == Column::ExactSearchBus && u.unit.stage == 0);
        let (_, first) = buses.next().unwrap();
        let unit = first.unit;
        let other = buses.find(|(_, u)| u.owner != first.owner && u.purpose != first.purpose).unwrap().0;
        p.units[other].unit = unit;
        p.units.sort_by_key(|u| (u.unit, u.owner));
    });
}

#[test]
fn a_search_bus_missing() {
    found("search bus", |program, p| {
        let n = node_of(program, p, "nexthops");
        remove(p, |u| u.unit.column == Column::ExactSearchBus && u.owner.node == n);
    });
}

#[test]
fn a_ram_owned_twice() {
    found("is used by", |program, p| {
        let n = node_of(program, p, "port_filter");
        let ram =
            p.units.iter().find(|u| u.unit.stage == 0 && is(Column::Sram, "indirection")(u)).unwrap().unit;
        let mine = p
            .units
            .iter_mut()
            .find(|u| u.owner.node == n && u.owner.gress == Gress::Ingress && u.unit.column == Column::Sram);
        mine.unwrap().unit = ram;
        p.units.sort_by_key(|u| (u.unit, u.owner));
    });
}

#[test]
fn a_coordinate_outside_the_stage() {
    found("does not exist", |_, p| {
        let ram = p.units.iter_mut().rfind(|u| u.unit.column == Column::Tcam).unwrap();
        ram.unit.row = 12;
        p.units.sort_by_key(|u| (u.unit, u.owner));
    });
}

#[test]
fn a_key_byte_out_of_its_lane() {
    found("out of its lane", |program, p| {
        let n = node_of(program, p, "ipv4_lpm");
        let mut bytes = p
            .units
            .iter_mut()
            .filter(|u| u.unit.column == Column::TernaryXbar && u.owner.node == n && u.unit.stage == 0);
        let (a, b) = (bytes.next().unwrap(), bytes.next().unwrap());
        std::mem::swap(&mut a.purpose, &mut b.purpose);
    });
}

#[test]
fn a_key_byte_missing() {
    found("is not on exact_xbar", |program, p| {
        let n = node_of(program, p, "nexthops");
        remove(p, |u| u.unit.column == Column::ExactXbar && u.owner.node == n);
    });
}

#[test]
fn an_instruction_missing() {
    found("no instruction word", |program, p| {
        let rewrite = program.actions.iter().find(|(_, a)| a.name.starts_with("rewrite")).unwrap().0;
        remove(p, |u| u.purpose == Purpose::Instruction(rewrite));
    });
}

#[test]
fn an_action_bus_byte_missing() {
    found("does not own its bus bytes", |_, p| remove(p, is(Column::ActionBusBytes, "")));
}

#[test]
fn too_many_entries_claimed() {
    found("entries in match RAMs", |program, p| {
        let n = node_of(program, p, "nexthops");
        p.gresses[0].nodes[n].parts[0].entries = 1_000_000;
    });
}

#[test]
fn too_few_entries_placed() {
    found("parts hold", |program, p| {
        let n = node_of(program, p, "ipv4_lpm");
        p.gresses[0].nodes[n].parts.pop();
    });
}

#[test]
fn a_selector_without_its_hash() {
    found("hash bits of its selector", |_, p| remove(p, is(Column::HashBit, "selector")));
}

#[test]
fn a_counter_out_of_reach() {
    found("out of its ALU's reach", |_, p| {
        let alu = p.units.iter_mut().find(|u| u.unit.column == Column::StatsAlu).unwrap();
        alu.unit.row = 13;
        p.units.sort_by_key(|u| (u.unit, u.owner));
    });
}

#[test]
fn a_dependency_understated() {
    found("Match needed", |_, p| {
        let stage = p.gresses[0].dependencies.iter().rposition(|d| *d == StageDependency::Match).unwrap();
        p.gresses[0].dependencies[stage] = StageDependency::Action;
    });
}

#[test]
fn cycles_made_up() {
    found("its stages take", |_, p| p.gresses[1].mau_cycles -= 1);
}

#[test]
fn a_container_taken_from_a_field() {
    let (program, mut placement) = sample();
    let field = program.field_named(Gress::Ingress, "ipv4.ttl").unwrap();
    placement.phv.fields[field].clear();
    assert!(!verify(&program, &placement).is_empty());
}

#[test]
fn parser_states_in_one_row_or_beyond_the_last() {
    found("has another state already", |_, p| p.gresses[0].parser.states[1].first_row -= 1);
    found("rows to 257", |_, p| {
        let s = &mut p.gresses[0].parser.states[1];
        s.first_row = 257 - s.rows;
    });
}

#[test]
fn a_parser_state_without_rows_or_with_too_few_of_them() {
    found("no rows after [] elements of stacks", |_, p| _ = p.gresses[0].parser.states.remove(0));
    found("rows; 2 needed", |_, p| {
        p.gresses[0].parser.states.iter_mut().for_each(|s| s.rows = 1);
    });
}

#[test]
fn a_parser_state_with_too_few_cycles() {
    found("bytes to move past in 0 cycles of 32", |_, p| p.gresses[0].parser.states[1].cycles = 0);
    found("bytes to match in 0 cycles of 4", |_, p| p.gresses[0].parser.states[0].cycles = 0);
    found("extractors in 0 cycles of 20", |_, p| p.gresses[0].parser.states[1].cycles = 0);
    found("paths count 1 cycles, a copy takes 3", |_, p| p.gresses[0].parser.states[1].cycles = 3);
}

#[test]
fn a_parser_state_that_no_row_can_carry() {
    let carry = |p: &mut Placement, state: usize| {
        let s = &mut p.gresses[0].parser.states[state];
        (s.carried, s.rows, s.cycles) = (true, 0, 0);
    };
    found("it selects, and has no rows", |_, p| carry(p, 0));
    found("no row is before the first state", |_, p| carry(p, 0));
    found("a row moves past 34 bytes of it and the state before; 32 are most", |_, p| carry(p, 1));
    found("other rows do its work, and it has", |_, p| p.gresses[0].parser.states[1].carried = true);
}

#[test]
fn a_deparser_with_too_few_units() {
    found("bytes in dictionary entries", |_, p| p.gresses[0].deparser.entries = 1);
    found("129 dictionary entries; there are 128", |_, p| p.gresses[1].deparser.entries = 129);
    found("validity bits", |_, p| p.gresses[0].deparser.pov_bits = 1);
}
