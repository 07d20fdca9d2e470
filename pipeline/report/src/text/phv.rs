//! PHV as text: use by size and kind, validity bits, shared bits, arithmetic with a carry.

use super::{percent, wrap};
use crate::grid::Grid;
use sluice_asic::phv::{ContainerKind, ContainerSize};
use sluice_place::phv::CarryRow;
use sluice_place::report::Report;
use sluice_place::report::{ContainerReport, HeldReport};

pub(super) fn phv(report: &Report) -> String {
    let mut grid =
        Grid::new(["  Containers", "Kind", "Ingress", "Egress", "Of", "Percent", "Bits used"], &[0, 1]);
    for size in [ContainerSize::B8, ContainerSize::B16, ContainerSize::B32] {
        for kind in
            [ContainerKind::Normal, ContainerKind::Mocha, ContainerKind::Dark, ContainerKind::Tagalong]
        {
            let groups: Vec<_> =
                report.phv.groups.iter().filter(|g| g.size == size && g.kind == kind).collect();
            let sum = |f: &dyn Fn(usize) -> u32| (0..groups.len()).map(f).sum::<u32>();
            let of = sum(&|i| groups[i].containers);
            if of == 0 {
                continue;
            }
            let (ingress, egress) = (sum(&|i| groups[i].used[0]), sum(&|i| groups[i].used[1]));
            let bits = sum(&|i| groups[i].bits.iter().sum());
            grid.row([
                format!("  {}-bit", size.bits()),
                format!("{kind:?}").to_lowercase(),
                ingress.to_string(),
                egress.to_string(),
                of.to_string(),
                percent(ingress + egress, of),
                bits.to_string(),
            ]);
        }
    }
    let [ingress, egress] = report.phv.pov_bits;
    let mut out = grid.print(false)
        + &format!(
            "  validity bits: ingress {ingress}, egress {egress} of {} each\n",
            report.phv.pov_available
        );
    let shared: Vec<String> = report.detail.containers.iter().filter_map(shared_bits).collect();
    if !shared.is_empty() {
        out += "  at the same bits, one at a time:\n";
        out += &wrap(&shared, ", ");
    }
    let number = |c: &CarryRow| format!("{} {}-{}", c.name, c.low, c.high);
    let numbers: Vec<String> = report.phv.carries.iter().map(number).collect();
    if !numbers.is_empty() {
        out += "  numbers with a carry from one container to the next:\n";
        out += &wrap(&numbers, ", ");
    }
    out
}

/// Returns the names of the fields that share bits of a container.
fn shared_bits(container: &ContainerReport) -> Option<String> {
    let bits = |held: &HeldReport| ((1_u64 << held.width.min(32)) - 1) << held.bit;
    let total = container.holds.iter().map(|h| bits(h).count_ones()).sum::<u32>();
    let taken = container.holds.iter().fold(0, |all, h| all | bits(h)).count_ones();
    let names: Vec<&str> = container.holds.iter().map(|held| held.what.as_str()).collect();
    (taken < total).then(|| format!("{} {}", container.name, names.join(" | ")))
}
