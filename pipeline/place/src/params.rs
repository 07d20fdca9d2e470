//! Action data bits of an entry.

use sluice_ir::{Action, Expr, PrimitiveKind, Program};
use std::collections::BTreeMap;

/// Returns the bits of the parameters that the action's ALUs use. A parameter counts once; counter indices do not count.
pub(crate) fn param_bits(program: &Program, action: Action) -> u32 {
    let mut params: BTreeMap<u16, u32> = BTreeMap::new();
    for primitive in &program.actions[action].body {
        match &primitive.kind {
            PrimitiveKind::Set(_, value) | PrimitiveKind::SetSlice(.., value) => collect(value, &mut params),
            PrimitiveKind::SetMasked(_, value, mask) => {
                collect(value, &mut params);
                collect(mask, &mut params);
            }
            _ => {}
        }
    }
    params.values().sum()
}

fn collect(value: &Expr, params: &mut BTreeMap<u16, u32>) {
    match value {
        Expr::Param(n, width) => {
            params.insert(*n, u32::from(*width));
        }
        Expr::Slice(e, ..) | Expr::Cast(e, _) => collect(e, params),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => {
            collect(a, params);
            collect(b, params);
        }
        Expr::Const(..) | Expr::Field(_) => {}
    }
}
