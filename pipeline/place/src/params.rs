//! Action data bits of an entry.

use sluice_asic::alu::width_mask;
use sluice_ir::{Action, Expr, PrimitiveKind, Program};
use std::collections::BTreeMap;

/// Returns the bits of the parameters that the action's ALUs use. A bit counts once; counter indices do not count.
pub(crate) fn param_bits(program: &Program, action: Action) -> u32 {
    let mut params: BTreeMap<u16, u128> = BTreeMap::new();
    let mut collect = |value: &Expr| {
        value.param_bits(program, &mut |param, hi, lo| {
            let bits = width_mask(u32::from(hi) + 1) & !width_mask(u32::from(lo));
            *params.entry(param).or_default() |= bits;
        });
    };
    for primitive in &program.actions[action].body {
        match &primitive.kind {
            PrimitiveKind::Set(_, value)
            | PrimitiveKind::SetSlice(.., value)
            | PrimitiveKind::DropCtl(_, value, _) => collect(value),
            PrimitiveKind::SetMasked(_, value, mask) => {
                collect(value);
                collect(mask);
            }
            _ => {}
        }
    }
    params.values().map(|bits| bits.count_ones()).sum()
}
