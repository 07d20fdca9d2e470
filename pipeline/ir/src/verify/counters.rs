//! Counters: formats of their cells.

use super::Diag;
use crate::{CounterHome, Program};

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for data in p.counters.values() {
        if data.home == CounterHome::Indirect(0) {
            let text = format!("counter `{}` has no cells", data.name);
            d.push(Diag::error(data.loc, text).help("give it at least one"));
        }
        if let Err(error) = data.cell.layout(data.kind) {
            let text = format!("counter `{}`: {error}", data.name);
            d.push(Diag::error(data.loc, text).help("leave out the format to get the densest one"));
        }
    }
}
