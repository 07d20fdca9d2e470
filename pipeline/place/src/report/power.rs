//! Power of the memories that packets access, after the compiler's model (model: cycles §7).
//!
//! A packet pays for the tables on its path, and for all tables of stages without a match dependency, because these cannot
//! be switched off by predication.

use crate::{ArrayRef, Owner, Placement, Purpose, node_name};
use serde::Serialize;
use sluice_asic::chip::{Column, PowerSpec};
use sluice_asic::gress::Gress;
use sluice_asic::latency::{StageDependency, deparser_rate};
use sluice_asic::units::Cycles;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Outcome, Pred};
use sluice_ir::entity::Entity;
use sluice_ir::{CounterKind, Program};
use std::collections::BTreeSet;

/// Power of a node's memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TablePower {
    /// Name of the node.
    pub name: String,
    /// Gress.
    pub gress: Gress,
    /// Nanowatts if every packet runs the node.
    pub nanowatts: u64,
    /// Nanowatts of `nanowatts` that packets pay that do not run the node.
    #[serde(rename = "always_nanowatts")]
    pub always: u64,
}

/// Power of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PowerReport {
    /// Nanowatts of the path with the highest power, at one packet per cycle or the lower rate that the chip reaches.
    #[serde(rename = "nanowatts")]
    pub worst: u64,
    /// Limit of the chip, in nanowatts.
    #[serde(rename = "limit_nanowatts")]
    pub limit: u64,
    /// Nodes of that path and nodes that cannot be switched off, in program order.
    pub path: Vec<String>,
    /// Nodes with power, ingress first, in program order.
    pub tables: Vec<TablePower>,
    /// Packets per 1000 cycles that the pipe reaches; the deparser of Tofino holds a limited number of packets at once.
    pub packets_per_1000_cycles: u32,
}

/// Returns the power of a placed program.
pub(super) fn of(program: &Program, placement: &Placement) -> PowerReport {
    let mut report = PowerReport { limit: placement.chip.power.limit, ..PowerReport::default() };
    report.packets_per_1000_cycles = rate(placement);
    let mut paths: BTreeSet<Owner> = BTreeSet::new();
    for gress in Gress::ALL {
        let cfg = &placement.gress(gress).cfg;
        let nodes: Vec<[u64; 2]> =
            cfg.nodes.keys().map(|node| of_node(program, placement, Owner { gress, node })).collect();
        let cost = |n: Node| nodes[n.index()][0] - nodes[n.index()][1];
        let roots = [Some(cfg.always()), cfg.ghost];
        for root in roots.into_iter().flatten() {
            let (watts, path) = worst(cfg, root, &cost);
            report.worst += watts;
            paths.extend(path.into_iter().map(|node| Owner { gress, node }));
        }
        for (node, [all, always]) in cfg.nodes.keys().zip(&nodes).filter(|(_, [all, _])| *all > 0) {
            report.worst += always;
            if *always > 0 {
                paths.insert(Owner { gress, node });
            }
            let name = node_name(program, cfg, node);
            report.tables.push(TablePower { name, gress, nanowatts: *all, always: *always });
        }
    }
    let takes = |o: &&Owner| of_node(program, placement, **o)[0] > 0;
    let name = |o: &Owner| node_name(program, &placement.gress(o.gress).cfg, o.node);
    report.path = paths.iter().filter(takes).map(name).collect();
    report.worst = report.worst * u64::from(report.packets_per_1000_cycles) / 1000;
    report
}

/// Returns the packets per 1000 cycles that the deparsers allow.
fn rate(placement: &Placement) -> u32 {
    let cycles = Gress::ALL.map(|g| placement.gress(g).mau_cycles).into_iter().max().unwrap_or(0);
    let (packets, cycles) = deparser_rate(&placement.chip.deparser, Cycles(cycles.into()));
    (1000 * packets / cycles.max(1)) as u32
}

/// Returns the nanowatts and nodes of the alternatives of a block with the highest power.
fn worst(cfg: &Cfg, block: Pred, cost: &impl Fn(Node) -> u64) -> (u64, Vec<Node>) {
    let mut total = (0, Vec::new());
    for node in cfg.nodes.keys().filter(|n| cfg.nodes[*n].pred == block) {
        total.0 += cost(node);
        total.1.push(node);
        // One of hit and miss, or of then and else; and one of the actions.
        let mut best: [(u64, Vec<Node>); 2] = Default::default();
        for (pred, outcome) in cfg.decided_by(node) {
            let found = worst(cfg, pred, cost);
            let best = &mut best[usize::from(matches!(outcome, Outcome::Ran(_)))];
            if found.0 > best.0 {
                *best = found;
            }
        }
        for (nanowatts, nodes) in best {
            total.0 += nanowatts;
            total.1.extend(nodes);
        }
    }
    total
}

/// Returns the nanowatts of a node, and of its parts in stages that cannot be switched off.
fn of_node(program: &Program, placement: &Placement, owner: Owner) -> [u64; 2] {
    let placed = placement.gress(owner.gress);
    let mut sum = [0; 2];
    let stages: BTreeSet<u8> = placed.nodes[owner.node].parts.iter().map(|p| p.stage).collect();
    for stage in stages {
        let watts = of_part(program, placement, owner, stage);
        let dependency = placed.dependencies.get(usize::from(stage));
        sum[0] += watts;
        sum[1] += if dependency == Some(&StageDependency::Match) { 0 } else { watts };
    }
    sum
}

/// Returns the nanowatts of a node's memories in one stage.
fn of_part(program: &Program, placement: &Placement, owner: Owner, stage: u8) -> u64 {
    let p = &placement.chip.power;
    let mut rams: Vec<(&Purpose, u64)> = Vec::new();
    let mut watts = 0;
    for used in placement.units.iter().filter(|u| u.owner == owner && u.unit.stage == stage) {
        match used.unit.column {
            Column::Tcam => watts += p.tcam_search,
            Column::Sram => add(&mut rams, &used.purpose),
            Column::MapRam if used.purpose == Purpose::Ages => add(&mut rams, &used.purpose),
            _ => {}
        }
    }
    let words = action_words(program, placement, owner);
    for (purpose, count) in rams {
        watts += match purpose {
            Purpose::ActionData => p.sram_read * words.min(count),
            Purpose::Ages => p.map_ram_read + p.map_ram_write,
            Purpose::Cells(array) => of_array(program, p, *array),
            Purpose::SpareBank(_) => 0,
            // A RAM of match ways or ternary indirection.
            _ => p.sram_read,
        };
    }
    watts
}

fn add<'a>(rams: &mut Vec<(&'a Purpose, u64)>, purpose: &'a Purpose) {
    match rams.iter_mut().find(|(known, _)| *known == purpose) {
        Some((_, count)) => *count += 1,
        None => rams.push((purpose, 1)),
    }
}

/// Returns the nanowatts of reading and writing one cell of an array; of a selector, of reading one word.
fn of_array(program: &Program, p: &PowerSpec, array: ArrayRef) -> u64 {
    let cell = p.map_ram_read + p.map_ram_write;
    let late = match array {
        ArrayRef::Selector(_) => return p.sram_read,
        ArrayRef::Counter(counter) => program.counters[counter].kind != CounterKind::Packets,
        ArrayRef::Register(_) => false,
        ArrayRef::Meter(meter) => program.meters[meter].kind.is_coloured(),
    };
    cell + if late { p.deferred_read + p.deferred_write } else { p.sram_read + p.sram_write }
}

/// Returns the RAM words of the widest action's data.
fn action_words(program: &Program, placement: &Placement, owner: Owner) -> u64 {
    let cfg = &placement.gress(owner.gress).cfg;
    if !matches!(cfg.nodes[owner.node].kind, NodeKind::Table(_)) {
        return 0;
    }
    let bits = |a| crate::params::param_bits(program, a);
    let widest = cfg.actions(program, owner.node).into_iter().map(bits).max().unwrap_or(0);
    u64::from(widest.div_ceil(placement.chip.mau.sram_width).max(1))
}

/// Formats nanowatts as watts with three decimals.
pub fn watts(nanowatts: u64) -> String {
    let milli = nanowatts.div_ceil(1_000_000);
    format!("{}.{:03}", milli / 1000, milli % 1000)
}
