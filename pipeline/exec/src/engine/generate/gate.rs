//! Conditions as Rust.

use super::words::{Out, bits, read, type_of};
use crate::engine::gateway::{Gate, Side};
use sluice_ir::CmpOp;

/// A condition.
pub(super) fn holds(out: &mut Out, gate: &Gate) -> String {
    match gate {
        Gate::Never => "false".to_owned(),
        Gate::Masked { slot, mask, value } => {
            format!("({} == {})", bits(*slot, 0, *mask), pattern(out, *mask, *value))
        }
        Gate::Unlike { slot, mask, value } => {
            format!("({} != {})", bits(*slot, 0, *mask), pattern(out, *mask, *value))
        }
        Gate::Const { slot, shift, mask, op, value } => {
            format!("({} {} {})", bits(*slot, *shift, *mask), op.symbol(), out.constant(*value))
        }
        Gate::Wide(wide) => compared(out, wide.op, &wide.a, &wide.b),
        Gate::Not(gate) => format!("!{}", holds(out, gate)),
        Gate::All(list) if list.is_empty() => "true".to_owned(),
        Gate::All(list) => {
            format!("({})", list.iter().map(|gate| holds(out, gate)).collect::<Vec<_>>().join(" && "))
        }
        Gate::Or(either) => {
            let [a, b] = either.as_ref();
            format!("({} || {})", holds(out, a), holds(out, b))
        }
    }
}

/// What bits are compared with: all or none of them, or a constant.
fn pattern(out: &mut Out, mask: u32, value: u32) -> String {
    if value == 0 || value == mask { format!("{value:#x}") } else { out.constant(value) }
}

fn compared(out: &mut Out, op: CmpOp, a: &Side, b: &Side) -> String {
    let of = type_of(extent(a).max(extent(b)));
    format!("({} {} {})", side(out, a, of), op.symbol(), side(out, b, of))
}

/// Bits that hold a side before it is cut.
fn extent(side: &Side) -> u32 {
    let field = side.at.pieces.iter().map(|p| p.end().into()).max();
    // So that the type does not hang on the value of a small constant.
    field.unwrap_or((128 - side.constant.leading_zeros()).max(32))
}

fn side(out: &mut Out, side: &Side, of: &str) -> String {
    let mask = sluice_asic::alu::width_mask(side.width.into());
    if side.at.pieces.is_empty() {
        let value = side.constant.checked_shr(side.lo.into()).unwrap_or(0) & mask;
        return match u32::try_from(value) {
            Ok(value) => format!("{of}::from({})", out.constant(value)),
            Err(_) => format!("{value:#x}_{of}"),
        };
    }
    let end = extent(side);
    if u32::from(side.lo) >= end {
        return format!("0_{of}");
    }
    let whole = read(&side.at, of);
    let cut = if side.lo == 0 { whole } else { format!("({whole} >> {})", side.lo) };
    // Nothing is cut where the mask has all bits.
    if u32::from(side.lo) + u32::from(side.width) >= end { cut } else { format!("({cut} & {mask:#x})") }
}
