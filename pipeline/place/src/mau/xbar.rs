//! Assigns container bytes to places on the input crossbars of a stage, under the lane rule (model: chip §1.2, §1.3).
//!
//! Bytes that are already on the crossbar are shared. Lanes count over the whole crossbar: the exact crossbar has
//! groups of 16 bytes, the ternary one pairs of groups; a pair has 11 bytes (five, a mid byte for both groups, five).

use super::super::bits::ByteRef;
use super::super::data::Owner;
use super::super::purpose::Purpose;
use super::pool::{Content, Pool};
use sluice_asic::chip::{Column, MauSpec};
use std::collections::BTreeSet;

/// Byte of a crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct XbarByte {
    column: Column,
    group: u16,
    byte: u16,
    /// Position, counted over the whole crossbar.
    at: u16,
    /// True if only four bits of the byte reach the TCAM.
    nibble: bool,
}

/// Bytes with their places.
type Assigned = Vec<(XbarByte, ByteRef)>;

/// Contents of a crossbar by position, looked up once: the search below reads each of them for every choice of groups.
struct Contents(Vec<Option<Content>>);

impl Contents {
    fn of(pool: &Pool, places: impl Iterator<Item = XbarByte>) -> Contents {
        let mut contents = Vec::new();
        for XbarByte { column, group, byte, at, .. } in places {
            let at = usize::from(at);
            contents.resize(contents.len().max(at + 1), None);
            contents[at] = pool.content(column, group, byte);
        }
        Contents(contents)
    }

    fn at(&self, place: &XbarByte) -> Option<Content> {
        self.0[usize::from(place.at)]
    }

    fn is_free(&self, place: &XbarByte) -> bool {
        self.at(place).is_none()
    }

    fn has(&self, place: &XbarByte, byte: ByteRef) -> bool {
        self.at(place) == Some(Content::Byte(byte))
    }
}

/// Assigns bytes to exact crossbar groups, as few as possible and at most `most`. `fixed` bytes have a given position
/// in their group; with them there is only one group. Returns the groups; `None` if the bytes do not fit.
pub(crate) fn exact(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    bytes: &BTreeSet<ByteRef>,
    fixed: &[(u16, ByteRef)],
    most: u32,
) -> Option<Vec<u16>> {
    if bytes.is_empty() && fixed.is_empty() {
        return Some(Vec::new());
    }
    let masks: Vec<(ByteRef, u8)> = bytes.iter().map(|&b| (b, 0)).collect();
    let most = if fixed.is_empty() { most } else { 1 };
    let groups = mau.exact_xbar_groups.min(16);
    let least = (bytes.len() as u32).div_ceil(mau.exact_xbar_group_bytes.max(1)).max(1);
    // No choice needs fewer new bytes than the crossbar lacks, so the search ends at a choice that needs no more.
    let fewest = pool.missing(Column::ExactXbar, bytes.iter().chain(fixed.iter().map(|(_, b)| b)));
    let contents = Contents::of(pool, (0..groups as u16).flat_map(|g| exact_group(mau, g)));
    for count in least..=most.min(groups) {
        let mut best: Option<(usize, Vec<u16>, Assigned)> = None;
        for subset in 0_u32..1 << groups {
            if best.as_ref().is_some_and(|(new, ..)| *new <= fewest) {
                break;
            }
            if subset.count_ones() != count {
                continue;
            }
            let chosen: Vec<u16> = (0..groups as u16).filter(|g| subset >> g & 1 == 1).collect();
            let places = chosen.iter().flat_map(|&g| exact_group(mau, g)).collect();
            let Some(put) = assign(&contents, places, &masks, fixed) else { continue };
            let new = put.iter().filter(|(p, _)| contents.is_free(p)).count();
            if best.as_ref().is_none_or(|(least, ..)| new < *least) {
                best = Some((new, chosen, put));
            }
        }
        if let Some((_, chosen, put)) = best {
            take(pool, owner, &put);
            return Some(chosen);
        }
    }
    None
}

/// Assigns bytes to positions in one group that the hardware fixes: the first of `ways` that fits, in the group that
/// needs the fewest new bytes. If `first` is given, the bytes share the places at which `first` has them by one of
/// the ways. Returns false if no way fits.
pub(crate) fn at_places(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    ways: &[Vec<(u16, ByteRef)>],
    first: Option<Owner>,
) -> bool {
    let Some(first) = first else {
        return ways.iter().any(|way| exact(pool, mau, owner, &BTreeSet::new(), way, 1).is_some());
    };
    let has = |group: u16, (at, byte): &(u16, ByteRef)| {
        pool.content(Column::ExactXbar, group, *at) == Some(Content::Byte(*byte))
            && pool.owners_at(Column::ExactXbar, group, *at).contains(&first)
    };
    let same = ways.iter().find_map(|way| {
        (0..mau.exact_xbar_groups as u16).find(|&g| way.iter().all(|b| has(g, b))).map(|group| (group, way))
    });
    let Some((group, way)) = same else { return false };
    for (at, byte) in way {
        pool.take((Column::ExactXbar, group, *at), owner, Content::Byte(*byte), Purpose::from(*byte));
    }
    true
}

/// Assigns the bytes of a key to the groups of `width` TCAM blocks; a byte that is listed twice gets two places.
/// Returns false if the bytes do not fit.
pub(crate) fn ternary(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    key: &[(ByteRef, u8)],
    width: u32,
) -> bool {
    let pairs = (mau.ternary_xbar_groups / 2) as u16;
    let mut best: Option<(usize, Assigned)> = None;
    let fewest = pool.missing(Column::TernaryXbar, key.iter().map(|(byte, _)| byte));
    let contents = Contents::of(pool, (0..pairs).flat_map(|pair| ternary_pair(mau, pair)));
    for subset in 0_u32..1 << pairs.min(16) {
        if subset.count_ones() != width / 2 {
            continue;
        }
        let whole: Vec<u16> = (0..pairs).filter(|p| subset >> p & 1 == 1).collect();
        let singles: Vec<Option<u16>> = if width.is_multiple_of(2) {
            vec![None]
        } else {
            (0..pairs * 2).filter(|g| !whole.contains(&(g / 2))).map(Some).collect()
        };
        for single in singles {
            if best.as_ref().is_some_and(|(new, _)| *new <= fewest) {
                break;
            }
            let mut places: Vec<XbarByte> = whole.iter().flat_map(|&p| ternary_pair(mau, p)).collect();
            if let Some(group) = single {
                let half = ternary_pair(mau, group / 2).into_iter();
                places.extend(
                    half.filter(|p| p.byte == mau.ternary_xbar_group_bytes as u16 || p.group == group)
                        .map(|p| XbarByte { nibble: p.byte == mau.ternary_xbar_group_bytes as u16, ..p }),
                );
            }
            let Some(put) = assign(&contents, places, key, &[]) else { continue };
            let new = put.iter().filter(|(p, _)| contents.is_free(p)).count();
            if best.as_ref().is_none_or(|(least, _)| new < *least) {
                best = Some((new, put));
            }
        }
    }
    let Some((_, put)) = best else { return false };
    take(pool, owner, &put);
    true
}

fn exact_group(mau: &MauSpec, group: u16) -> Vec<XbarByte> {
    let bytes = mau.exact_xbar_group_bytes as u16;
    (0..bytes)
        .map(|byte| XbarByte {
            column: Column::ExactXbar,
            group,
            byte,
            at: group * bytes + byte,
            nibble: false,
        })
        .collect()
}

/// Returns the bytes of a pair of ternary groups; the mid byte is the last byte of the even group.
fn ternary_pair(mau: &MauSpec, pair: u16) -> Vec<XbarByte> {
    let bytes = mau.ternary_xbar_group_bytes as u16;
    let first = pair * (2 * bytes + 1);
    let place = |group, byte, at| XbarByte { column: Column::TernaryXbar, group, byte, at, nibble: false };
    let even = (0..=bytes).map(|b| place(pair * 2, b, first + b));
    let odd = (0..bytes).map(|b| place(pair * 2 + 1, b, first + bytes + 1 + b));
    even.chain(odd).collect()
}

/// Gives every byte a place: the one where it already is, or a free one in its lane (bipartite matching). `None` if
/// some byte has no place.
fn assign(
    contents: &Contents,
    places: Vec<XbarByte>,
    bytes: &[(ByteRef, u8)],
    fixed: &[(u16, ByteRef)],
) -> Option<Assigned> {
    let mut put = Assigned::new();
    for &(at, byte) in fixed {
        let place = *places.iter().find(|p| p.byte == at)?;
        if !contents.is_free(&place) && !contents.has(&place, byte) {
            return None;
        }
        put.push((place, byte));
    }
    let usable = |place: &XbarByte, mask: u8| !place.nibble || mask & 0x0f == 0 || mask & 0xf0 == 0;
    let mut open: Vec<(ByteRef, u8)> = Vec::new();
    for &(byte, mask) in bytes {
        let there = places
            .iter()
            .find(|p| !put.iter().any(|(q, _)| q == *p) && usable(p, mask) && contents.has(p, byte));
        match there {
            Some(place) => put.push((*place, byte)),
            None if fixed.iter().any(|(_, b)| *b == byte) => {}
            None => open.push((byte, mask)),
        }
    }
    let free: Vec<XbarByte> =
        places.into_iter().filter(|p| contents.is_free(p) && !put.iter().any(|(q, _)| q == p)).collect();
    let fits = |byte: usize, place: usize| {
        let ((b, mask), p) = (open[byte], &free[place]);
        b.may_stand_at(p.at) && usable(p, mask)
    };
    let mut holder: Vec<Option<usize>> = vec![None; free.len()];
    for byte in 0..open.len() {
        if !augment(byte, &fits, &mut holder, &mut vec![false; free.len()]) {
            return None;
        }
    }
    put.extend(holder.iter().zip(&free).filter_map(|(h, p)| h.map(|b| (*p, open[b].0))));
    Some(put)
}

/// Finds an augmenting path of the bipartite matching: gives `byte` a place, and moves other bytes if necessary.
/// Returns false if there is no path.
fn augment(
    byte: usize,
    fits: &impl Fn(usize, usize) -> bool,
    holder: &mut Vec<Option<usize>>,
    seen: &mut Vec<bool>,
) -> bool {
    for place in 0..holder.len() {
        if seen[place] || !fits(byte, place) {
            continue;
        }
        seen[place] = true;
        let movable = match holder[place] {
            None => true,
            Some(other) => augment(other, fits, holder, seen),
        };
        if movable {
            holder[place] = Some(byte);
            return true;
        }
    }
    false
}

fn take(pool: &mut Pool, owner: Owner, put: &[(XbarByte, ByteRef)]) {
    for (place, byte) in put {
        pool.take((place.column, place.group, place.byte), owner, Content::Byte(*byte), Purpose::from(*byte));
    }
}
