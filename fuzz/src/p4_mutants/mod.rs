//! Mutants of P4 programs: programs with a few parts of the text changed, deleted, doubled, moved, or taken from another program.
//!
//! The text is cut into tokens, and the tokens into *parts*: brackets with their contents, and statements or declarations up to
//! their `;` or `}`. A change of a token keeps the parts as they are, and a change of a part keeps brackets in pairs, so most
//! mutants parse and reach the later passes.

mod change;
mod text;

use text::Tokens;

/// Numbers of changes, which are drawn with equal chances.
const CHANGES: [u32; 8] = [1, 1, 1, 1, 1, 2, 2, 4];

/// Returns a P4 program with one to four changes, most often one, which `draws` decides. `other` is a program from which parts are taken.
#[must_use]
pub fn p4_mutant(program: &str, other: &str, draws: &mut dyn FnMut() -> u32) -> String {
    let (mut tokens, other) = (Tokens::of(program), Tokens::of(other));
    let mut changes = CHANGES[draws() as usize % CHANGES.len()];
    // A change that finds nothing to act on, or draws what is there, leaves the program as it is.
    let mut tries = 4 * changes;
    while changes > 0 && tries > 0 {
        let before = tokens.text();
        change::change(&mut tokens, &other, draws);
        changes -= u32::from(tokens.text() != before);
        tries -= 1;
    }
    tokens.text()
}

#[cfg(test)]
mod tests {
    use super::p4_mutant;

    #[test]
    fn mutants_differ_from_the_program_and_keep_brackets_in_pairs() {
        let program = include_str!("../../corpus/p4/a-whole-pipe.p4");
        let mut word = 1u32;
        let mut draws = || {
            word = word.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            word >> 8
        };
        let mut changed = 0;
        for _ in 0..200 {
            let mutant = p4_mutant(program, program, &mut draws);
            let count = |bracket| mutant.matches(bracket).count();
            assert_eq!((count('{'), count('(')), (count('}'), count(')')), "{mutant}");
            changed += usize::from(mutant != program);
        }
        assert!(changed > 190, "{changed} of 200 mutants have changes");
    }
}
