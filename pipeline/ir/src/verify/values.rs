//! Widths and forms of values.

use super::{Diag, Site, fits};
use crate::{Expr, ParamData, Program};
use sluice_asic::alu::AluClass;

/// Returns the width of a value and reports its mistakes; `None` if it has no width.
pub(super) fn width(
    p: &Program,
    e: &Expr,
    site: Site<'_>,
    params: &[ParamData],
    d: &mut Vec<Diag>,
) -> Option<u16> {
    let who = site.who;
    match e {
        Expr::Const(value, width) => {
            let width = legal_width(*width, "a constant", site, d)?;
            if !fits(*value, width) {
                let needed = 128 - value.leading_zeros();
                let text =
                    format!("{who} uses the constant {value:#x}, which needs {needed} bits and has {width}");
                d.push(Diag::error(site.loc, text).help("use a smaller constant or a wider field"));
            }
            Some(width)
        }
        Expr::Field(f) => Some(p.fields[*f].width),
        Expr::Param(n, width) => {
            let Some(param) = params.get(usize::from(*n)) else {
                let text = format!("{who} uses parameter {n}, but has {}", params.len());
                d.push(Diag::error(site.loc, text).help("declare the parameter on the action that uses it"));
                return None;
            };
            if param.width != *width {
                let (name, has) = (&param.name, param.width);
                let text = format!("{who} uses parameter `{name}` at {width} bits, but it has {has}");
                d.push(Diag::error(site.loc, text).help(format!("use it at {has} bits and cast the value")));
            }
            Some(*width)
        }
        Expr::Slice(inner, hi, lo) => {
            let whole = width(p, inner, site, params, d)?;
            if hi < lo || *hi >= whole {
                let text = format!("{who} takes bits {hi} to {lo} of a {whole}-bit value");
                let help = format!("the first bit is the higher one and at most {}", whole.saturating_sub(1));
                d.push(Diag::error(site.loc, text).help(help));
                return None;
            }
            Some(hi - lo + 1)
        }
        Expr::Cast(inner, to) => {
            width(p, inner, site, params, d);
            legal_width(*to, "a cast", site, d)
        }
        Expr::Alu(op, a, b) => {
            let (a, b) = (width(p, a, site, params, d), width(p, b, site, params, d));
            if let (Some(a), Some(b)) = (a, b)
                && a != b
                && op.class() != AluClass::Shift
            {
                let text = format!("{who} applies `{op}` to {a} and {b} bits");
                d.push(
                    Diag::error(site.loc, text).help("both operands must be equally wide: cast or slice one"),
                );
            }
            a
        }
        Expr::Funnel(high, low, _) => {
            let (high, low) = (width(p, high, site, params, d), width(p, low, site, params, d));
            if let (Some(high), Some(low)) = (high, low)
                && high != low
            {
                let text = format!("{who} shifts {high} and {low} bits side by side");
                d.push(
                    Diag::error(site.loc, text).help("both operands must be equally wide: cast or slice one"),
                );
            }
            high
        }
    }
}

fn legal_width(width: u16, what: &str, site: Site<'_>, d: &mut Vec<Diag>) -> Option<u16> {
    if (1..=128).contains(&width) {
        return Some(width);
    }
    let text = format!("{} uses {what} of {width} bits", site.who);
    d.push(Diag::error(site.loc, text).help("a width is 1 to 128 bits"));
    None
}

/// Source of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The PHV.
    Field,
    /// A constant or a parameter: both reach the ALU as action data.
    Data,
}

/// Returns the source of a leaf: a field, constant or parameter, or slices and casts of one. `None` if the
/// value computes.
pub(super) fn leaf(e: &Expr) -> Option<Source> {
    match e {
        Expr::Field(_) => Some(Source::Field),
        Expr::Const(..) | Expr::Param(..) => Some(Source::Data),
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => leaf(inner),
        Expr::Alu(..) | Expr::Funnel(..) => None,
    }
}

/// Returns true if a value contains a parameter.
pub(super) fn has_param(e: &Expr) -> bool {
    match e {
        Expr::Param(..) => true,
        Expr::Const(..) | Expr::Field(_) => false,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => has_param(inner),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => has_param(a) || has_param(b),
    }
}

/// Returns the number of ALU operations in a value.
pub(super) fn operations(e: &Expr) -> usize {
    match e {
        Expr::Const(..) | Expr::Field(_) | Expr::Param(..) => 0,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => operations(inner),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => 1 + operations(a) + operations(b),
    }
}
