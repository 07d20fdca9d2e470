//! Meters, filters, WRED and random numbers.

use super::{Diag, count};
use crate::meter_array::{MeterCell, Origin};
use crate::{CounterHome, MeterKind, Program};
use sluice_asic::chip::ChipSpec;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for data in p.meters.values() {
        if data.home == CounterHome::Indirect(0) {
            let text = format!("meter `{}` has no cells", data.name);
            d.push(Diag::error(data.loc, text).help("give it at least one"));
        }
        if data.initial.is_some_and(|config| !config.is_for(data.kind)) {
            let text = format!(
                "meter `{}` of kind {} has an initial configuration of another kind",
                data.name,
                data.kind.word()
            );
            d.push(
                Diag::error(data.loc, text)
                    .help("meters have rates, filters a time constant, WRED thresholds"),
            );
        }
        let adjusts = data.adjust != 0;
        if adjusts && data.kind != MeterKind::Bytes {
            let text =
                format!("meter `{}` of kind {} adjusts the bytes of packets", data.name, data.kind.word());
            d.push(Diag::error(data.loc, text).help("only a meter of bytes takes lengths"));
        } else if !(-8192..=8191).contains(&data.adjust) {
            let text = format!("meter `{}` adjusts the bytes of packets by {}", data.name, data.adjust);
            d.push(Diag::error(data.loc, text).help("the adjustment has 14 bits: it is -8192 to 8191"));
        }
    }
    for data in p.randoms.values() {
        if !(1..=32).contains(&data.width) {
            let text = format!(
                "`{}` gives numbers of {}; a generator gives 1 to 32",
                data.name,
                count(data.width.into(), "bit")
            );
            d.push(Diag::error(data.loc, text).help("draw twice, from two generators, for wider numbers"));
        }
    }
}

/// Checks that the chip's codes can express the initial configurations.
pub(super) fn for_chip(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    for data in p.meters.values().filter(|m| m.initial.is_none_or(|config| config.is_for(m.kind))) {
        if let Err(error) = MeterCell::new(data.kind, data.initial.as_ref(), &Origin::of(chip)) {
            let text = format!(
                "meter `{}` has an initial configuration that {} does not support: {error}",
                data.name, chip.name
            );
            d.push(Diag::error(data.loc, text).help("choose values that the meter's codes can express"));
        }
    }
}
