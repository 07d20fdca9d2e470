//! Rule 1: nodes, parts, sizes and pins.

use super::{Check, conditions};
use sluice_asic::gress::Gress;
use sluice_ir::Loc;
use sluice_ir::verify::Diag;

pub(super) fn check(check: &mut Check<'_>) {
    for gress in Gress::ALL {
        let placed = check.placement.gress(gress);
        if placed.nodes.len() != placed.cfg.nodes.len() {
            let text = format!(
                "{} nodes of {gress} are placed, its flow has {}",
                placed.nodes.len(),
                placed.cfg.nodes.len()
            );
            check.diags.push(Diag::error(Loc::default(), text));
        }
        conditions::check(check, gress);
    }
    if !check.diags.is_empty() {
        return;
    }
    for owner in check.owners() {
        let parts = &check.placed(owner).parts;
        if parts.is_empty() {
            check.report(owner, "no part");
        }
        if parts.windows(2).any(|w| w[0].stage >= w[1].stage) {
            check.report(owner, "parts are not in rising stages");
        }
        for part in parts {
            if u32::from(part.stage) >= check.mau.stages
                || u32::from(part.logical_id) >= check.mau.logical_tables
            {
                check.report(
                    owner,
                    format!("stage {} or logical id {} does not exist", part.stage, part.logical_id),
                );
            }
        }
        let Some(table) = check.table(owner) else { continue };
        let data = &check.program.tables[table];
        let held: u64 = parts.iter().map(|p| u64::from(p.entries)).sum();
        let size = sluice_ir::rows::planned(check.program, data);
        if !data.keys.is_empty() && held < size {
            check.report(owner, format!("parts hold {held} entries; {size} needed"));
        }
        if let (Some(pin), Some(first)) = (data.pin, parts.first())
            && pin != first.stage
        {
            check.report(owner, format!("pinned to stage {pin}, placed in stage {}", first.stage));
        }
        if let (Some(wanted), [first, _, ..]) = (data.rules.pin_entries, parts.as_slice())
            && first.entries < wanted
        {
            let text = format!("stage {} is to have {wanted} entries, has {}", first.stage, first.entries);
            check.report(owner, text);
        }
    }
}
