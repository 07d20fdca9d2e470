//! Selects: the next target of each lane after a node.

use super::Target;
use crate::engine::batch::{Phv, Slot, for_lanes, lanes_where};
use crate::engine::field::FieldAt;
use sluice_control::{ControlState, SetMember};
use sluice_ir::ValueSet;

/// Choice of the target after a node.
#[derive(Clone, Debug)]
pub(super) enum Select {
    Always(Target),
    /// One field in one column.
    Word {
        slot: Slot,
        shift: u8,
        mask: u32,
        arms: Vec<(u32, u32, Target)>,
        default: Target,
    },
    /// Concatenated fields of at most 64 bits.
    Side {
        pieces: Vec<SidePiece>,
        arms: Vec<(u64, u64, Target)>,
        default: Target,
    },
    /// Concatenated fields of 65 to 128 bits.
    Wide(WideSelect),
    /// Concatenated fields of at most 128 bits, with value sets in arms.
    Sets(SetSelect),
    /// Test whether a field's value is too large for the parser counter.
    Above {
        at: FieldAt,
        max: u32,
        then: Target,
        above: Target,
    },
}

/// Select over up to 128 bits: concatenated fields, most significant first.
#[derive(Clone, Debug)]
pub(super) struct WideSelect {
    pub(super) fields: Vec<(FieldAt, u16)>,
    pub(super) arms: Vec<(u128, u128, Target)>,
    pub(super) default: Target,
}

/// Select over up to 128 bits, of whose arms some have value sets.
#[derive(Clone, Debug)]
pub(super) struct SetSelect {
    pub(super) fields: Vec<(FieldAt, u16)>,
    pub(super) arms: Vec<SetArm>,
    pub(super) default: Target,
}

/// An arm that may have a value set.
#[derive(Clone, Debug)]
pub(super) struct SetArm {
    pub(super) value: u128,
    pub(super) mask: u128,
    pub(super) set: Option<Members>,
    pub(super) target: Target,
}

/// Members of a value set, as values under masks of the concatenated fields.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) set: ValueSet,
    /// Bits by which each field of the set is shifted.
    pub(super) shifts: Vec<u16>,
    pub(super) list: Vec<(u128, u128)>,
}

impl Members {
    /// Takes the members from the control plane's state.
    pub(super) fn compile(&mut self, control: &ControlState) {
        let shifted = |member: &SetMember| {
            let fields = member.iter().zip(&self.shifts);
            fields.fold((0, 0), |(v, m), ((value, mask), shift)| (v | value << shift, m | mask << shift))
        };
        self.list = control.value_sets[self.set].iter().map(shifted).collect();
    }
}

impl SetArm {
    /// Returns true if the arm takes these concatenated fields.
    #[inline]
    pub(super) fn takes(&self, value: u128) -> bool {
        let member = |of: &Members| of.list.iter().any(|(v, m)| value & m == *v);
        value & self.mask == self.value && self.set.as_ref().is_none_or(member)
    }
}

impl SetSelect {
    fn target<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> Target {
        let value = self.fields.iter().fold(0u128, |v, (at, width)| {
            // A field of 128 bits is the only one.
            v.checked_shl((*width).into()).unwrap_or(0) | at.read(phv, lane)
        });
        self.arms.iter().find(|arm| arm.takes(value)).map_or(self.default, |arm| arm.target)
    }
}

/// Bits of a column that are in a select's value from bit `up` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SidePiece {
    pub(super) slot: Slot,
    pub(super) shift: u8,
    pub(super) mask: u32,
    pub(super) up: u8,
}

/// Returns the pieces of a select's value; the first field is the most significant.
pub(super) fn side_by_side(fields: &[(FieldAt, u16)]) -> Vec<SidePiece> {
    let mut list = Vec::new();
    let mut low = 0u16;
    for (at, width) in fields.iter().rev() {
        for p in &at.pieces {
            let up = (low + u16::from(p.lo)) as u8;
            list.push(SidePiece { slot: p.slot, shift: p.at, mask: p.mask(), up });
        }
        low += width;
    }
    list
}

impl Select {
    /// Calls `go` with each target and its lanes.
    #[inline]
    pub(super) fn run<const N: usize>(&self, mask: u64, phv: &Phv<N>, mut go: impl FnMut(Target, u64)) {
        match self {
            Select::Always(target) => go(*target, mask),
            Select::Word { slot, shift, mask: bits, arms, default } => {
                let column = phv.column(*slot);
                let found = |l: usize| column[l % N].get() >> shift & bits;
                by_arms(mask, arms, *default, |rest, v, m| lanes_where::<N>(rest, |l| found(l) & m == v), go);
            }
            Select::Side { pieces, arms, default } => {
                let mut values = [0u64; N];
                for p in pieces {
                    let column = phv.column(p.slot);
                    for_lanes::<N>(mask, |l| {
                        values[l % N] |= u64::from(column[l % N].get() >> p.shift & p.mask) << p.up;
                    });
                }
                let found = |l: usize| values[l % N];
                by_arms(mask, arms, *default, |rest, v, m| lanes_where::<N>(rest, |l| found(l) & m == v), go);
            }
            Select::Wide(wide) => for_lanes::<N>(mask, |l| go(wide.target(phv, l), 1 << l)),
            Select::Sets(sets) => for_lanes::<N>(mask, |l| go(sets.target(phv, l), 1 << l)),
            Select::Above { at, max, then, above } => {
                let over = lanes_where::<N>(mask, |l| at.read32(phv, l) > *max);
                for (target, lanes) in [(above, over), (then, mask & !over)] {
                    if lanes != 0 {
                        go(*target, lanes);
                    }
                }
            }
        }
    }

    /// Returns the target of the packet in lane 0.
    #[inline]
    pub(super) fn one<const N: usize>(&self, phv: &Phv<N>) -> Target {
        match self {
            Select::Always(target) => *target,
            Select::Word { slot, shift, mask, arms, default } => {
                let found = phv.get(*slot, 0) >> shift & mask;
                arms.iter().find(|(v, m, _)| found & m == *v).map_or(*default, |(_, _, t)| *t)
            }
            Select::Side { pieces, arms, default } => {
                let side = |p: &SidePiece| u64::from(phv.get(p.slot, 0) >> p.shift & p.mask) << p.up;
                let found = pieces.iter().fold(0, |value, p| value | side(p));
                arms.iter().find(|(v, m, _)| found & m == *v).map_or(*default, |(_, _, t)| *t)
            }
            Select::Wide(wide) => wide.target(phv, 0),
            Select::Sets(sets) => sets.target(phv, 0),
            Select::Above { at, max, then, above } => {
                if at.read32(phv, 0) > *max {
                    *above
                } else {
                    *then
                }
            }
        }
    }
}

/// Calls `go` with the lanes of each arm; a lane takes the first arm that matches. `takes` returns those of the given
/// lanes that match a value under a mask.
#[inline(always)]
fn by_arms<V: Copy>(
    mask: u64,
    arms: &[(V, V, Target)],
    default: Target,
    takes: impl Fn(u64, V, V) -> u64,
    mut go: impl FnMut(Target, u64),
) {
    let mut rest = mask;
    for &(value, care, target) in arms {
        let taken = takes(rest, value, care);
        if taken != 0 {
            go(target, taken);
            rest &= !taken;
        }
        if rest == 0 {
            return;
        }
    }
    go(default, rest);
}

impl WideSelect {
    fn target<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> Target {
        let value = self.fields.iter().fold(0u128, |v, (at, width)| v << width | at.read(phv, lane));
        self.arms.iter().find(|(v, m, _)| value & m == *v).map_or(self.default, |(_, _, t)| *t)
    }
}
