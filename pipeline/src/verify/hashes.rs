//! Hash computations: output shape and inputs. What may not live here: who uses them.

use super::values::{has_param, leaf, width};
use super::{Diag, Site};
use crate::ir::Program;

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
            d.push(Diag::error(data.loc, text).help("give it the fields that tell flows apart"));
        }
        for input in &data.inputs {
            if leaf(input).is_none() || has_param(input) {
                let text = format!("{who} computes on its inputs");
                let help = "inputs are fields, constants, and slices and casts of them: write the value to a field before";
                d.push(Diag::error(data.loc, text).help(help));
            } else {
                width(p, input, site, &[], d);
            }
        }
    }
}
