//! Hash computations: width, seed, rotation and inputs.

use super::values::{has_param, leaf, width};
use super::{Diag, Site};
use crate::{Expr, HashData, Program};

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for data in p.hashes.values() {
        let who = format!("hash `{}`", data.name);
        let site = Site { who: &who, gress: Some(data.gress), loc: data.loc };
        if let Err(error) = data.function() {
            let help = "a hash keeps 1 to 64 bits, and its seed has no more bits than it keeps";
            d.push(Diag::error(data.loc, format!("{who} cannot be computed: {error}")).help(help));
        } else if data.rotate >= data.width {
            let text = format!("{who} is rotated by {} in {} bits", data.rotate, data.width);
            d.push(Diag::error(data.loc, text).help(format!("rotate by 0 to {}", data.width - 1)));
        }
        if data.inputs.is_empty() {
            let text = format!("{who} has no inputs");
            d.push(Diag::error(data.loc, text).help("give it the fields that distinguish flows"));
        }
        for input in &data.inputs {
            if leaf(input).is_none() || has_param(input) {
                let text = format!("{who} has a computed input");
                let help = "inputs are fields, constants, and slices and casts of them: write the value to a field first";
                d.push(Diag::error(data.loc, text).help(help));
            } else {
                width(p, input, site, &[], d);
            }
        }
        symmetric(p, data, &who, d);
    }
}

/// Checks symmetric pairs: different inputs of one width, each in one pair.
fn symmetric(p: &Program, data: &HashData, who: &str, d: &mut Vec<Diag>) {
    let mut error = |text: String, help: &str| d.push(Diag::error(data.loc, text).help(help));
    let mut seen: Vec<u16> = Vec::new();
    for [a, b] in &data.symmetric {
        let inputs = [a, b].map(|at| data.inputs.get(usize::from(*at)));
        let [Some(first), Some(second)] = inputs else {
            let has = data.inputs.len();
            let text = format!("{who} is symmetric in its inputs {a} and {b}, but has {has}");
            error(text, "inputs are counted from 0");
            continue;
        };
        let (left, right) = (first.width(p), second.width(p));
        if left != right {
            let text = format!("{who} is symmetric in inputs of {left} and {right} bits");
            error(text, "both inputs of a pair have the same width: cast or slice one of them");
        }
        if matches!(first, Expr::Const(..)) || matches!(second, Expr::Const(..)) {
            error(format!("{who} is symmetric in a constant"), "pair two values from the packet");
        }
        for at in [a, b] {
            if seen.contains(at) {
                let text = format!("{who} has its input {at} twice in symmetric pairs");
                error(text, "an input is in at most one pair");
            }
            seen.push(*at);
        }
    }
}
