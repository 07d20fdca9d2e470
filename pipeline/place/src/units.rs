//! Programs with more nodes than a chip has units for them: no schedule can succeed, so none is tried.

use super::deps::node_name;
use super::nofit::{Exhausted, Resource, ShortIn};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, Node, NodeKind};
use sluice_ir::verify::Diag;

/// Returns the finding about a program with more tables and actions than the chip has logical tables, or with more conditions
/// than it has gateways. Each table and each action takes a logical table, each condition a gateway.
pub(super) fn too_many(program: &Program, chip: &ChipSpec, cfgs: &[Cfg; 2]) -> Option<(Diag, Exhausted)> {
    let nodes = |gates: bool| -> Vec<(Gress, Node)> {
        let of =
            move |gress: Gress| cfgs[gress.index()].nodes.iter().map(move |(node, data)| (gress, node, data));
        let kind = |kind: &NodeKind| matches!(kind, NodeKind::Gateway(_)) == gates;
        Gress::ALL
            .into_iter()
            .flat_map(of)
            .filter(|(.., data)| kind(&data.kind))
            .map(|(g, n, _)| (g, n))
            .collect()
    };
    let found = |column: Column, what: &str, unit: &str, gates| {
        let (list, stages) = (nodes(gates), chip.mau.stages);
        let most = u64::from(column.available(&chip.mau)) * u64::from(stages);
        let (gress, beyond) = list.get(usize::try_from(most).unwrap_or(usize::MAX)).copied()?;
        let cfg = &cfgs[gress.index()];
        let text = format!(
            "the program has {} {what}, each of which takes a {unit}; {} has {most} in {stages} stages",
            list.len(),
            chip.name
        );
        let diag = Diag::error(cfg.nodes[beyond].loc, text)
            .help("use entries of one table in place of many tables or conditions, or choose a larger chip");
        let contenders = vec![node_name(program, cfg, beyond)];
        Some((
            diag,
            Exhausted { resource: Resource::Column(column), place: ShortIn::Pipe, contenders, followers: 0 },
        ))
    };
    found(Column::LogicalTable, "tables and actions", "logical table", false)
        .or_else(|| found(Column::Gateway, "conditions", "gateway", true))
}
