//! Ways of a placed program's exact tables, for the control plane.

use sluice_asic::gress::Gress;
use sluice_control::{ControlState, ExactLayout, PartLayout};
use sluice_ir::cfg::NodeKind;
use sluice_ir::{MatchKind, Program, Table};
use sluice_place::report::{PartWays, ways};
use sluice_place::{Owner, Placement};

/// Returns the initial control-plane state of a placed program. Unlike [`ControlState::new`], it refuses an entry of an
/// exact table if the table's ways have no row for the entry.
#[must_use]
pub fn control_state(program: &Program, placement: &Placement) -> ControlState {
    ControlState::new(program).with_layouts(exact_layouts(program, placement))
}

/// Returns the ways of all exact tables that have several. A table with one way is indexed by its key, so that each key has
/// its row.
fn exact_layouts(program: &Program, placement: &Placement) -> Vec<(Table, ExactLayout)> {
    let mau = &placement.chip.mau;
    let mut list = Vec::new();
    for gress in Gress::ALL {
        let placed = placement.gress(gress);
        for (node, data) in placed.cfg.nodes.iter() {
            let NodeKind::Table(table) = data.kind else { continue };
            let exact = |t: &sluice_ir::TableData| t.keys.iter().all(|k| k.kind == MatchKind::Exact);
            if !exact(&program.tables[table]) || program.tables[table].algorithmic.is_some() {
                continue;
            }
            let owner = Owner { gress, node };
            let found = placed.nodes[node].parts.iter().map(|part| ways(placement, owner, *part));
            let Some(found) = found.collect::<Option<Vec<_>>>() else { continue };
            if found.iter().any(|part| part.sizes.len() < 2) {
                continue;
            }
            let part = |p: PartWays| PartLayout {
                rows: p.sizes.iter().map(|rams| rams * mau.sram_depth).collect(),
                pack: p.pack,
            };
            let parts = found.into_iter().map(part).collect();
            let layout =
                ExactLayout { parts, moves: mau.exact_moves, seed: seed(&program.tables[table].name) };
            list.push((table, layout));
        }
    }
    list
}

/// Returns the seed of a table's hash functions: FNV-1a of its name.
fn seed(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
