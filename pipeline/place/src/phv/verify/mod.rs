//! Independent check of an allocation: every rule of [`super`], derived again from the allocation alone.
//!
//! Only the IR, the control-flow graph and the chip's inventory are shared with the allocator. Findings are in order
//! of rules, then by container or field.

mod actions;
mod author;
mod bits;
mod headers;
mod kinds;
mod lists;
mod mates;
mod overlay;
mod sharing;
mod source;
mod validity;

use super::super::data::PhvAllocation;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerInfo, PhvInventory};
use sluice_ir::cfg::{Cfg, Var};
use sluice_ir::verify::Diag;
use sluice_ir::{Home, Loc, Program};
use std::collections::BTreeMap;

/// Bits of a variable in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    var: Var,
    lo: u16,
    width: u16,
    at: u8,
}

impl Held {
    /// Returns true if both have some bit of the container.
    fn meets(&self, other: &Held) -> bool {
        ones(self.width, self.at) & ones(other.width, other.at) != 0
    }
}

/// Allocation as seen from the containers.
struct View<'a> {
    program: &'a Program,
    chip: &'a ChipSpec,
    cfgs: &'a [Cfg; 2],
    allocation: &'a PhvAllocation,
    inventory: PhvInventory,
    held: BTreeMap<Container, Vec<Held>>,
}

/// Checks an allocation against every rule; empty if it is legal.
#[must_use]
pub fn verify(program: &Program, chip: &ChipSpec, cfgs: &[Cfg; 2], allocation: &PhvAllocation) -> Vec<Diag> {
    if allocation.fields.len() != program.fields.len() || allocation.valid.len() != program.headers.len() {
        let text = format!(
            "PHV: the allocation is for {} fields and {} headers, the program has {} and {}",
            allocation.fields.len(),
            allocation.valid.len(),
            program.fields.len(),
            program.headers.len()
        );
        return vec![Diag::error(Loc::default(), text)];
    }
    let view = View::new(program, chip, cfgs, allocation);
    // The other rules assume that all coordinates are legal.
    let found = bits::check(&view);
    if !found.is_empty() {
        return found;
    }
    [
        overlay::check(&view),
        headers::check(&view),
        sharing::check(&view),
        kinds::check(&view),
        lists::check(&view),
        actions::check(&view),
        validity::check(&view),
        author::check(&view),
    ]
    .concat()
}

impl<'a> View<'a> {
    fn new(
        program: &'a Program,
        chip: &'a ChipSpec,
        cfgs: &'a [Cfg; 2],
        allocation: &'a PhvAllocation,
    ) -> View<'a> {
        let mut held: BTreeMap<Container, Vec<Held>> = BTreeMap::new();
        for (f, slices) in allocation.fields.iter() {
            for s in slices {
                let h = Held { var: Var::Field(f), lo: s.lo, width: s.width, at: s.at };
                held.entry(s.container).or_default().push(h);
            }
        }
        for (h, bit) in allocation.valid.iter() {
            if let Some(b) = bit {
                held.entry(b.container).or_default().push(Held {
                    var: Var::Valid(h),
                    lo: 0,
                    width: 1,
                    at: b.bit,
                });
            }
        }
        View { program, chip, cfgs, allocation, inventory: PhvInventory::new(&chip.phv), held }
    }

    /// Returns the description of a container; `None` if the chip does not have it.
    fn info(&self, container: Container) -> Option<&ContainerInfo> {
        self.inventory.get(container)
    }

    fn name(&self, container: Container) -> String {
        self.info(container).map_or_else(|| format!("{container:?}"), ToString::to_string)
    }

    fn gress(&self, var: Var) -> Gress {
        match var {
            Var::Field(f) => self.program.fields[f].gress,
            Var::Valid(h) => self.program.headers[h].gress,
        }
    }

    fn loc(&self, var: Var) -> Loc {
        match var {
            Var::Field(f) => self.program.fields[f].loc,
            Var::Valid(h) => self.program.headers[h].loc,
        }
    }

    /// Returns the home of a field; `None` for validity bits.
    fn home(&self, var: Var) -> Option<Home> {
        match var {
            Var::Field(f) => Some(self.program.fields[f].home),
            Var::Valid(_) => None,
        }
    }

    fn error(&self, var: Var, text: String) -> Diag {
        Diag::error(self.loc(var), format!("PHV: {text}"))
    }

    fn var(&self, var: Var) -> String {
        format!("`{}`", sluice_ir::words::var(self.program, var))
    }

    /// Returns a mask of the bits of a container that are ever in use.
    fn occupied(&self, container: Container) -> u32 {
        self.held.get(&container).into_iter().flatten().fold(0, |m, h| m | ones(h.width, h.at))
    }

    /// Returns a container of a variable that holds another variable at other bits, and that variable. Variables that
    /// take turns at the same bits do not count.
    fn shared(&self, var: Var) -> Option<(Container, Var)> {
        self.allocation.containers_of(var).find_map(|c| {
            let held = self.held.get(&c)?;
            let own: Vec<&Held> = held.iter().filter(|h| h.var == var).collect();
            let other = held.iter().find(|h| h.var != var && !own.iter().any(|o| o.meets(h)))?;
            Some((c, other.var))
        })
    }
}

/// Returns `width` ones from bit `at` on, cut off at 32 bits.
fn ones(width: u16, at: u8) -> u32 {
    let low = if width >= 32 { u32::MAX } else { (1 << width) - 1 };
    low.checked_shl(at.into()).unwrap_or(0)
}
