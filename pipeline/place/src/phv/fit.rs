//! Assigns pieces to containers: first fit.
//!
//! Order: pieces that must share a MAU group first, then pieces that need normal containers, then pieces that prefer
//! them, then pieces for which other kinds are better, such as header bytes that only pass through; larger before
//! smaller, then in order of declaration. A container of a gress group that the gress already owns is preferred to
//! one of a free group.

use super::super::steps::Steps;
use super::layout::{Layout, Piece};
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerInfo, ContainerKind, PhvInventory};
use std::cmp::Reverse;

/// Constraints on the containers of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Want {
    /// Kinds, best first.
    pub(super) kinds: Vec<ContainerKind>,
    /// Pieces with the same number must be in one MAU group.
    pub(super) cluster: usize,
    /// Fallback if no container is left.
    pub(super) spare: Spare,
    /// Its part in a number that takes two containers.
    pub(super) carry: Carry,
}

/// A piece's part in a number of more than 32 bits: the low piece is in a container of even number and the high one
/// in the next, from which it takes the carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carry {
    /// No part.
    None,
    /// The low piece of a number; holds the index of the high piece.
    Out(usize),
    /// The high piece of a number.
    In,
}

/// Fallback of a piece that finds no container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spare {
    /// No fallback.
    Nothing,
    /// A larger container with padding.
    Larger,
    /// Two containers of half the size.
    Halves,
}

/// Containers of a pipe while they fill.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    slots: Vec<(Container, ContainerInfo)>,
    /// For each container the other half of its parser container; `None` if it has none.
    partners: Vec<Option<Container>>,
    taken: Vec<Option<Gress>>,
    owner: Vec<Option<Gress>>,
}

impl Bins {
    pub(super) fn new(inventory: &PhvInventory) -> Bins {
        let slots: Vec<_> = inventory.iter().map(|(c, info)| (c, *info)).collect();
        let mut owner = vec![None; usize::from(inventory.gress_groups())];
        for (_, s) in &slots {
            let group = &mut owner[usize::from(s.gress_group)];
            *group = group.or(s.hard_wired);
        }
        let partners = slots.iter().map(|(c, _)| inventory.parser_partner(*c)).collect();
        Bins { taken: vec![None; slots.len()], slots, partners, owner }
    }

    /// Takes the first free container that suits the piece: by kind in order, then in groups that the gress owns
    /// before free ones.
    pub(super) fn take(
        &mut self,
        piece: &Piece,
        kinds: &[ContainerKind],
        group: Option<u16>,
    ) -> Option<Container> {
        let at = kinds.iter().find_map(|kind| {
            [Some(piece.gress), None].into_iter().find_map(|owner| {
                (0..self.slots.len()).find(|&i| {
                    let s = &self.slots[i].1;
                    self.taken[i].is_none()
                        && self.partner_allows(i, piece.gress)
                        && s.kind == *kind
                        && s.size.bits() == u32::from(piece.bits)
                        && self.owner[usize::from(s.gress_group)] == owner
                        && group.is_none_or(|g| s.mau_group == Some(g))
                })
            })
        })?;
        Some(self.give(at, piece.gress))
    }

    fn give(&mut self, at: usize, gress: Gress) -> Container {
        self.taken[at] = Some(gress);
        let (container, info) = self.slots[at];
        self.owner[usize::from(info.gress_group)] = Some(gress);
        container
    }

    /// Takes two neighbouring normal containers of a group, the first one with an even number: low and high part.
    fn take_pair(&mut self, gress: Gress, bits: u8, group: u16) -> Option<[Container; 2]> {
        let free = |i: usize| {
            let s = &self.slots[i].1;
            self.taken[i].is_none()
                && s.kind == ContainerKind::Normal
                && s.size.bits() == u32::from(bits)
                && self.owner[usize::from(s.gress_group)].is_none_or(|owner| owner == gress)
                && s.mau_group == Some(group)
        };
        let low = (0..self.slots.len().saturating_sub(1)).find(|&i| {
            let number = self.slots[i].1.number;
            number.is_multiple_of(2) && free(i) && free(i + 1) && self.slots[i + 1].1.number == number + 1
        })?;
        Some([self.give(low, gress), self.give(low + 1, gress)])
    }

    /// Returns true if the other half of the parser container, if there is one, is free or of the same gress.
    fn partner_allows(&self, slot: usize, gress: Gress) -> bool {
        let partner = self.partners[slot].and_then(|p| self.taken.get(p.index()).copied().flatten());
        partner.is_none_or(|owner| owner == gress)
    }

    /// Puts all these pieces into one MAU group, the first that has room for them.
    fn take_together(
        &mut self,
        pieces: &[Piece],
        wants: &[Want],
        members: &[usize],
    ) -> Option<Vec<Container>> {
        let bits = u32::from(pieces[*members.first()?].bits);
        let sized = self.slots.iter().filter(|(_, s)| s.size.bits() == bits);
        let mut groups: Vec<u16> = sized.filter_map(|(_, s)| s.mau_group).collect();
        groups.dedup();
        groups.into_iter().find_map(|group| {
            let mut trial = self.clone();
            let found = trial.take_in(group, pieces, wants, members);
            if found.is_some() {
                *self = trial;
            }
            found
        })
    }

    /// Puts all these pieces into this MAU group, pairs with a carry first.
    fn take_in(
        &mut self,
        group: u16,
        pieces: &[Piece],
        wants: &[Want],
        members: &[usize],
    ) -> Option<Vec<Container>> {
        let mut pairs = Vec::new();
        for &low in members {
            if let Carry::Out(high) = wants[low].carry {
                let [first, second] = self.take_pair(pieces[low].gress, pieces[low].bits, group)?;
                pairs.extend([(low, first), (high, second)]);
            }
        }
        let paired = |p: usize| pairs.iter().find(|(q, _)| *q == p).map(|(_, c)| *c);
        let place = |p: &usize| paired(*p).or_else(|| self.take(&pieces[*p], &wants[*p].kinds, Some(group)));
        members.iter().map(place).collect()
    }

    /// Returns the number of containers of a size and kind that a gress owns or could still get.
    pub(super) fn reachable(&self, gress: Gress, bits: u8, kind: ContainerKind) -> usize {
        let reach = |s: &ContainerInfo| {
            let owner = self.owner[usize::from(s.gress_group)];
            s.size.bits() == u32::from(bits) && s.kind == kind && owner.is_none_or(|owner| owner == gress)
        };
        self.slots.iter().filter(|(_, s)| reach(s)).count()
    }
}

/// Places all pieces; a piece without a place has `None`.
pub(super) fn fit(
    bins: &mut Bins,
    layout: &mut Layout,
    wants: &mut Vec<Want>,
    padded_last: bool,
    steps: &Steps,
) -> Vec<Option<Container>> {
    let mut places = vec![None; layout.pieces.len()];
    let slots = bins.slots.len();
    for members in order(&layout.pieces, wants, padded_last) {
        if members.len() > 1 {
            if !steps.take(slots * members.len()) {
                break;
            }
            if let Some(found) = bins.take_together(&layout.pieces, wants, &members) {
                members.iter().zip(found).for_each(|(&p, c)| places[p] = Some(c));
            }
            continue;
        }
        let mut todo = members;
        while let Some(p) = todo.pop() {
            // A piece that is halved is looked for in all fields.
            if !steps.take(slots + layout.segs.len()) {
                return places;
            }
            places[p] = bins.take(&layout.pieces[p], &wants[p].kinds, None);
            if places[p].is_some() {
                continue;
            }
            match wants[p].spare {
                Spare::Larger if layout.pieces[p].bits < 32 => {
                    layout.pieces[p].bits *= 2;
                    todo.push(p);
                }
                Spare::Halves => {
                    if let Some(second) = layout.halve(p) {
                        places.push(None);
                        wants.push(wants[p].clone());
                        todo.extend([second, p]);
                    }
                }
                _ => {}
            }
        }
    }
    places
}

/// Returns the clusters in the order in which they are placed. With `padded_last`, pieces that a larger container can hold
/// as well come behind those that have one size.
fn order(pieces: &[Piece], wants: &[Want], padded_last: bool) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
    for (p, want) in wants.iter().enumerate() {
        clusters[want.cluster].push(p);
    }
    clusters.retain(|c| !c.is_empty());
    clusters.sort_by_key(|c| {
        let first = c[0];
        let class = match wants[first].kinds.as_slice() {
            _ if c.len() > 1 => 0,
            [_] => 1,
            [ContainerKind::Normal, ..] => 2,
            _ => 3,
        };
        let padded = padded_last && c.len() == 1 && wants[first].spare != Spare::Nothing;
        (padded, class, Reverse(c.len()), Reverse(pieces[first].bits), first)
    });
    clusters
}
