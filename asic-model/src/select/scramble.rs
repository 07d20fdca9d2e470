//! Optional scrambler of the selector: the non-linear step that makes different seeds give different selections.
//!
//! Substitution boxes and bit permutations are tables, which are applied for two rounds. The tables are those of the
//! driver's reference function (`rmt_sel_grp_mbr_get_from_hash` and the functions that it calls, open-p4studio
//! `pipe_mgr_select_tbl.c`); `docs/model/hashing.md` only names the step (model: hashing §6).

/// Substitution of 3 bits.
const BOX3: [u32; 8] = [1, 4, 7, 5, 2, 0, 3, 6];
/// Substitution of 4 bits.
const BOX4: [u32; 16] = [8, 0, 6, 1, 15, 13, 14, 11, 2, 12, 3, 7, 5, 4, 9, 10];

/// For each output bit from bit 0 up, the input bit that feeds it; first and second round.
const WIRES14: [[u8; 14]; 2] =
    [[2, 9, 10, 3, 6, 11, 0, 4, 7, 12, 1, 5, 8, 13], [6, 10, 0, 3, 7, 11, 1, 4, 8, 12, 2, 5, 9, 13]];
const WIRES15: [[u8; 15]; 2] =
    [[5, 10, 11, 2, 6, 7, 12, 0, 3, 8, 13, 1, 4, 9, 14], [3, 7, 11, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14]];
const WIRES18: [[u8; 18]; 2] = [
    [6, 13, 14, 0, 5, 7, 10, 15, 1, 3, 8, 11, 16, 2, 4, 9, 12, 17],
    [6, 10, 14, 0, 3, 7, 11, 15, 1, 4, 8, 12, 16, 2, 5, 9, 13, 17],
];

/// Scrambles a 14-bit pick.
pub fn scramble14(value: u32) -> u32 {
    rounds(value, &[3, 3, 4, 4], &WIRES14)
}

/// Scrambles the 15-bit word choice.
pub fn scramble15(value: u32) -> u32 {
    rounds(value, &[3, 4, 4, 4], &WIRES15)
}

/// Scrambles the fall-back encoder's 18 bits.
pub fn scramble18(value: u32) -> u32 {
    rounds(value, &[3, 3, 4, 4, 4], &WIRES18)
}

/// Two rounds of substitution (boxes of the given widths from bit 0 up) and permutation.
fn rounds<const N: usize>(value: u32, boxes: &[u32], wires: &[[u8; N]; 2]) -> u32 {
    wires.iter().fold(value, |value, wires| permute(substitute(value, boxes), wires))
}

fn substitute(value: u32, boxes: &[u32]) -> u32 {
    let mut low_bit = 0;
    let mut out = 0;
    for &width in boxes {
        let bits = value >> low_bit;
        let replaced = if width == 3 { BOX3[(bits & 7) as usize] } else { BOX4[(bits & 15) as usize] };
        out |= replaced << low_bit;
        low_bit += width;
    }
    out
}

fn permute(value: u32, wires: &[u8]) -> u32 {
    (0..).zip(wires).fold(0, |out, (to, &from)| out | (value >> from & 1) << to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value appears once: scrambling loses no hash entropy.
    fn is_permutation(bits: u32, scramble: fn(u32) -> u32) -> bool {
        let mut seen = vec![false; 1 << bits];
        for value in 0..1 << bits {
            seen[scramble(value) as usize] = true;
        }
        seen.into_iter().all(|hit| hit)
    }

    #[test]
    fn scrambling_is_one_to_one_and_not_linear() {
        assert!(is_permutation(14, scramble14));
        assert!(is_permutation(15, scramble15));
        assert!(is_permutation(18, scramble18));
        let linear =
            (0..1u32 << 14).all(|x| scramble14(x) ^ scramble14(x ^ 1) == scramble14(0) ^ scramble14(1));
        assert!(!linear);
    }

    #[test]
    fn bits_above_the_input_do_not_matter() {
        assert_eq!(scramble14(0xffff_c123), scramble14(0x0123));
        assert_eq!(scramble15(0xffff_8123), scramble15(0x0123));
        assert_eq!(scramble18(0xfffc_0123), scramble18(0x0123));
    }
}
