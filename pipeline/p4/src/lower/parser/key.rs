//! Keys of a select: values as fields, look-aheads and other things that the chip compares.

use super::super::places::{Slot, StackId};
use super::bits::{Bits, Piece, Source};
use sluice_asic::alu::width_mask;
use sluice_asic::limits;
use sluice_ir::ValueSet;

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
    /// A value set. The alternatives of the values that it is compared with match everything.
    pub set: Option<InSet>,
    /// What follows.
    pub next: N,
}

/// A value set, and the values or keys that its fields are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InSet {
    /// The set.
    pub set: ValueSet,
    /// The first value or key.
    pub first: usize,
    /// The number of fields.
    pub fields: usize,
}

/// An arm of a select as the chip compares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arm<N> {
    /// A value for each key.
    pub values: Vec<Masked>,
    /// A value set that is compared with keys.
    pub set: Option<InSet>,
    /// What follows.
    pub next: N,
}

/// The keys and cases of a select as the chip compares them.
#[derive(Clone, Debug)]
pub(super) struct Compared<N> {
    /// What is compared.
    pub keys: Vec<Key>,
    /// The first arm that matches is taken.
    pub arms: Vec<Arm<N>>,
    /// What follows if no case matches, if the program says so.
    pub default: Option<N>,
    /// True if the cases match every value.
    pub complete: bool,
}

/// A select needs more arms than [`limits::P4_SELECT_ARMS`].
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
    let mut arms: Vec<Arm<N>> = Vec::new();
    let mut default = None;
    for case in cases {
        // The only piece of a set's first value is the set's first key: see `whole_keys`.
        let first = |of: &InSet| slots.get(of.first)?.first().copied().flatten();
        let set = case.set.and_then(|of| Some(InSet { first: first(&of)?, ..of }));
        for combination in combinations(&case.keys)? {
            let Some(values) = arm(values, &slots, &combination, keys.len()) else { continue };
            if set.is_none() && values.iter().all(|(_, mask)| *mask == 0) {
                default = Some(case.next.clone());
                break;
            }
            if limits::P4_SELECT_ARMS.is_below(arms.len() + 1) {
                return Err(TooMany);
            }
            if !arms.iter().any(|earlier| earlier.values == values && earlier.set == set) {
                arms.push(Arm { values, set, next: case.next.clone() });
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

/// Returns true if the values from `first` on are neighbouring keys, each as a whole: fields of a value set can be compared
/// with these. `width` is the width of a scalar.
pub(super) fn whole_keys(values: &[Bits], first: usize, number: usize, width: impl Fn(Slot) -> u32) -> bool {
    let mut keys = Vec::new();
    for value in &values[..first.min(values.len())] {
        value.0.iter().for_each(|piece| _ = slot(&mut keys, piece, 0));
    }
    (first..first + number).all(|n| {
        let Some([piece]) = values.get(n).map(|value| value.0.as_slice()) else { return false };
        let whole = match piece.source {
            Source::Slot(slot) => piece.lo == 0 && piece.width == width(slot),
            Source::Ahead(_) => true,
            _ => false,
        };
        let new = keys.len();
        whole && slot(&mut keys, piece, 0) == Some(new)
    })
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
    if number.is_none_or(|number| limits::P4_SELECT_ARMS.is_below(number)) {
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
        let mut used: Vec<bool> =
            (0..self.keys.len()).map(|n| self.arms.iter().any(|arm| arm.values[n].1 != 0)).collect();
        for of in self.arms.iter().filter_map(|arm| arm.set) {
            used.iter_mut().skip(of.first).take(of.fields).for_each(|used| *used = true);
        }
        let keep = |n: &mut usize| {
            *n += 1;
            used[*n - 1]
        };
        let mut n = 0;
        self.keys.retain(|_| keep(&mut n));
        for arm in &mut self.arms {
            if let Some(of) = &mut arm.set {
                of.first = used[..of.first].iter().filter(|used| **used).count();
            }
            let mut n = 0;
            arm.values.retain(|_| keep(&mut n));
        }
        // A one-bit key with an arm for each value leaves nothing over.
        let one_bit = match values {
            [value] => value.width() == 1,
            _ => false,
        };
        let has = |value| self.arms.iter().any(|arm| arm.set.is_none() && arm.values == [(value, 1)]);
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

    fn case<N>(keys: Vec<Vec<Masked>>, next: N) -> Case<N> {
        Case { keys, set: None, next }
    }

    #[test]
    fn a_value_set_keeps_its_keys_and_only_whole_neighbours_are_its_keys() {
        let [a, b] = [7, 8].map(Slot::new);
        let [whole, other] = [a, b].map(|slot| Bits::one(Source::Slot(slot), 16));
        let set = ValueSet::new(0);
        let any = vec![(0, 0)];
        // select (f, g): the set is of g, and nothing compares f.
        let values = [whole.clone(), other];
        let of = InSet { set, first: 1, fields: 1 };
        let cases =
            [Case { keys: vec![any.clone(), any.clone()], set: Some(of), next: 1 }, case(vec![any; 2], 2)];
        let found = compare(&values, &cases, 0).unwrap();
        assert_eq!(found.keys, [Key::Slot(b)]);
        let values_of_set = vec![(0, 0)];
        assert_eq!(found.arms, [Arm { values: values_of_set, set: Some(InSet { first: 0, ..of }), next: 1 }]);
        assert_eq!((found.default, found.complete), (Some(2), false));
        assert!(whole_keys(&values, 0, 2, |_| 16));
        assert!(!whole_keys(&values, 0, 2, |_| 32));
        assert!(!whole_keys(&[whole.clone(), whole.clone()], 0, 2, |_| 16));
        assert!(!whole_keys(&[whole.slice(7, 0)], 0, 1, |_| 16));
    }

    #[test]
    fn constants_decide_cases_and_slices_move_values() {
        let slot = Slot::new(7);
        let whole = Bits::one(Source::Slot(slot), 16);
        // select (1w1 ++ f[11:4], f[15:12])
        let values = [Bits::constant(1, 1).then(whole.slice(11, 4)), whole.slice(15, 12)];
        let cases = [
            case(vec![exact(0x0ab, 9), exact(0xc, 4)], 1),
            case(vec![exact(0x1ab, 9), exact(0xc, 4)], 2),
            case(vec![vec![(0, 0)], vec![(4, 0xc)]], 3),
            case(vec![vec![(0, 0)], vec![(0, 0)]], 4),
            case(vec![exact(0x1ff, 9), exact(0xc, 4)], 5),
        ];
        let found = compare(&values, &cases, 0).unwrap();
        assert_eq!(found.keys, [Key::Slot(slot)]);
        let arm = |value, next| Arm { values: vec![value], set: None, next };
        assert_eq!(found.arms, [arm((0xcab0, 0xfff0), 2), arm((0x4000, 0xc000), 3)]);
        assert_eq!(found.default, Some(4));
    }

    #[test]
    fn looked_at_bits_count_from_the_position() {
        let values = [Bits::one(Source::Ahead(40), 8)];
        let cases = [case(vec![vec![(4, 0xf), (0x50, 0xf0)]], ())];
        let found = compare(&values, &cases, 32).unwrap();
        assert_eq!(found.keys, [Key::Ahead(8, 8)]);
        assert_eq!(found.arms.len(), 2);
        assert_eq!(found.default, None);
    }
}
