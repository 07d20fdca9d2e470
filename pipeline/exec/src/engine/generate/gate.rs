//! Writes conditions as Rust.

use crate::engine::gateway::{Gate, Side};
use crate::engine::rust_text::{Out, bits, read, type_of};
use sluice_ir::CmpOp;

/// Returns the Rust expression of a condition.
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

/// Returns the value with which masked bits are compared: written out if it is all or none of the bits, else from the
/// pool of constants.
fn pattern(out: &mut Out, mask: u32, value: u32) -> String {
    if value == 0 || value == mask { format!("{value:#x}") } else { out.constant(value) }
}

fn compared(out: &mut Out, op: CmpOp, a: &Side, b: &Side) -> String {
    let of = type_of(extent(a).max(extent(b)));
    format!("({} {} {})", side(out, a, of), op.symbol(), side(out, b, of))
}

/// Returns the number of bits that hold a side before it is cut to its width.
fn extent(side: &Side) -> u32 {
    let field = side.at.pieces.iter().map(|p| p.end().into()).max();
    // At least 32, so that the type does not depend on the value of a small constant.
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
    // A mask of all the remaining bits is left out.
    if u32::from(side.lo) + u32::from(side.width) >= end { cut } else { format!("({cut} & {mask:#x})") }
}
