//! Keys of a select: values as fields, look-aheads and other things that the chip compares.

use super::super::places::{Slot, StackId};
use super::bits::{Bits, Piece, Source};
use sluice_asic::alu::width_mask;

/// What the chip compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A scalar in storage.
    Slot(Slot),
    /// Bits of the packet: their distance from the parser's position, and their number.
    Ahead(u32, u32),
    /// A field of the stack's last element, by position.
    Last(StackId, u16),
    /// Whether the counter is zero.
    CounterIsZero,
    /// Whether the counter is negative.
    CounterIsNegative,
}

/// A value under a mask.
pub(super) type Masked = (u128, u128);

/// A case of a select: for each key the values of which one must match, and what follows.
#[derive(Clone, Debug)]
pub(super) struct Case<N> {
    /// Alternatives for each key.
    pub keys: Vec<Vec<Masked>>,
    /// What follows.
    pub next: N,
}

/// The keys and cases of a select as the chip compares them.
#[derive(Clone, Debug)]
pub(super) struct Compared<N> {
    /// What is compared.
    pub keys: Vec<Key>,
    /// Values for each key; the first case that matches is taken.
    pub arms: Vec<(Vec<Masked>, N)>,
    /// What follows if no case matches, if the program says so.
    pub default: Option<N>,
    /// True if the cases match every value.
    pub complete: bool,
}

/// The greatest number of combinations of alternatives in a select.
pub(super) const MAX_ARMS: usize = 4096;

/// A select needs more than [`MAX_ARMS`] arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// Returns a select on `values`, of at most 128 bits each and none of them lost, as the chip compares it. `position` is the number of bits that the state has
/// advanced past. Cases that cannot match are left out.
pub(super) fn compare<N: Clone>(
    values: &[Bits],
    cases: &[Case<N>],
    position: u32,
) -> Result<Compared<N>, TooMany> {
    let mut keys: Vec<Key> = Vec::new();
    let slots: Vec<Vec<Option<usize>>> = values
        .iter()
        .map(|value| value.0.iter().map(|piece| slot(&mut keys, piece, position)).collect())
        .collect();
    let mut arms: Vec<(Vec<Masked>, N)> = Vec::new();
    let mut default = None;
    for case in cases {
        for combination in combinations(&case.keys)? {
            let Some(arm) = arm(values, &slots, &combination, keys.len()) else { continue };
            if arm.iter().all(|(_, mask)| *mask == 0) {
                default = Some(case.next.clone());
                break;
            }
            if arms.len() >= MAX_ARMS {
                return Err(TooMany);
            }
            if !arms.iter().any(|(earlier, _)| *earlier == arm) {
                arms.push((arm, case.next.clone()));
            }
        }
        if default.is_some() {
            break;
        }
    }
    let mut compared = Compared { keys, arms, default, complete: false };
    compared.simplify(values);
    Ok(compared)
}

/// Returns the number of the key that compares a piece; `None` for a constant.
fn slot(keys: &mut Vec<Key>, piece: &Piece, position: u32) -> Option<usize> {
    let key = match piece.source {
        Source::Slot(slot) => Key::Slot(slot),
        Source::Last(stack, at) => Key::Last(stack, at),
        Source::CounterIsZero => Key::CounterIsZero,
        Source::CounterIsNegative => Key::CounterIsNegative,
        Source::Ahead(at) => Key::Ahead(at.saturating_sub(position), piece.width),
        Source::Const(_) | Source::Lost(_) => return None,
    };
    Some(keys.iter().position(|known| *known == key).unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    }))
}

/// Returns every choice of one alternative for each key, in order.
fn combinations(keys: &[Vec<Masked>]) -> Result<Vec<Vec<Masked>>, TooMany> {
    let number = keys.iter().try_fold(1_usize, |number, list| number.checked_mul(list.len()));
    if number.is_none_or(|number| number > MAX_ARMS) {
        return Err(TooMany);
    }
    let mut all = vec![Vec::new()];
    for list in keys {
        all = all
            .iter()
            .flat_map(|chosen| {
                list.iter().map(move |one| chosen.iter().copied().chain([*one]).collect::<Vec<_>>())
            })
            .collect();
    }
    Ok(all)
}

/// Returns what the keys are compared with; `None` if they cannot all match.
fn arm(values: &[Bits], slots: &[Vec<Option<usize>>], chosen: &[Masked], keys: usize) -> Option<Vec<Masked>> {
    let mut arm = vec![(0_u128, 0_u128); keys];
    for ((value, slots), &(expected, mask)) in values.iter().zip(slots).zip(chosen) {
        let mut above = value.width();
        for (piece, slot) in value.0.iter().zip(slots) {
            above -= piece.width;
            let of = |number: u128| if above < 128 { number >> above & width_mask(piece.width) } else { 0 };
            let (expected, mask) = (of(expected) & of(mask), of(mask));
            match (piece.source, slot) {
                (Source::Const(found), _) if found & mask != expected => return None,
                (_, Some(slot)) => {
                    let (old, old_mask) = arm[*slot];
                    let (new, new_mask) = (expected << piece.lo, mask << piece.lo);
                    if (old ^ new) & old_mask & new_mask != 0 {
                        return None;
                    }
                    arm[*slot] = (old | new, old_mask | new_mask);
                }
                _ => {}
            }
        }
    }
    Some(arm)
}

impl<N> Compared<N> {
    /// Leaves out keys that no arm compares, and a default that no value reaches.
    fn simplify(&mut self, values: &[Bits]) {
        let used: Vec<bool> =
            (0..self.keys.len()).map(|n| self.arms.iter().any(|(arm, _)| arm[n].1 != 0)).collect();
        let keep = |n: &mut usize| {
            *n += 1;
            used[*n - 1]
        };
        let mut n = 0;
        self.keys.retain(|_| keep(&mut n));
        for (arm, _) in &mut self.arms {
            let mut n = 0;
            arm.retain(|_| keep(&mut n));
        }
        // A one-bit key with an arm for each value leaves nothing over.
        let one_bit = match values {
            [value] => value.width() == 1,
            _ => false,
        };
        let has = |value| self.arms.iter().any(|(arm, _)| arm.as_slice() == [(value, 1)]);
        if one_bit && has(0) && has(1) {
            self.default = None;
            self.complete = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_entity::Entity;

    fn exact(value: u128, width: u32) -> Vec<Masked> {
        vec![(value, width_mask(width))]
    }

    #[test]
    fn constants_decide_cases_and_slices_move_values() {
        let slot = Slot::new(7);
        let whole = Bits::one(Source::Slot(slot), 16);
        // select (1w1 ++ f[11:4], f[15:12])
        let values = [Bits::constant(1, 1).then(whole.slice(11, 4)), whole.slice(15, 12)];
        let cases = [
            Case { keys: vec![exact(0x0ab, 9), exact(0xc, 4)], next: 1 },
            Case { keys: vec![exact(0x1ab, 9), exact(0xc, 4)], next: 2 },
            Case { keys: vec![vec![(0, 0)], vec![(4, 0xc)]], next: 3 },
            Case { keys: vec![vec![(0, 0)], vec![(0, 0)]], next: 4 },
            Case { keys: vec![exact(0x1ff, 9), exact(0xc, 4)], next: 5 },
        ];
        let found = compare(&values, &cases, 0).unwrap();
        assert_eq!(found.keys, [Key::Slot(slot)]);
        assert_eq!(found.arms, [(vec![(0xcab0, 0xfff0)], 2), (vec![(0x4000, 0xc000)], 3)]);
        assert_eq!(found.default, Some(4));
    }

    #[test]
    fn looked_at_bits_count_from_the_position() {
        let values = [Bits::one(Source::Ahead(40), 8)];
        let cases = [Case { keys: vec![vec![(4, 0xf), (0x50, 0xf0)]], next: () }];
        let found = compare(&values, &cases, 32).unwrap();
        assert_eq!(found.keys, [Key::Ahead(8, 8)]);
        assert_eq!(found.arms.len(), 2);
        assert_eq!(found.default, None);
    }
}
