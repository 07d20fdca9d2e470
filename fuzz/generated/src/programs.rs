/// Number of random programs, including those that do not fit.
pub const PROGRAMS: u64 = 96;

/// Returns the numbers of the random programs to write: the `step` smallest and every `step`th. A step that is coprime
/// to 3 and 4 keeps both chips and both kinds of code.
pub fn numbers(step: u64) -> impl Iterator<Item = u64> {
    (0..PROGRAMS).filter(move |number| *number < step || number % step == 0)
}

/// Returns the chip that a random program is for.
#[must_use]
pub fn chip_of(number: u64) -> ChipSpec {
    if number % 4 == 3 { ChipSpec::tofino() } else { ChipSpec::tofino2() }
}

/// Returns true if the code of a random program counts coverage.
#[must_use]
pub fn counts(number: u64) -> bool {
    number % 3 == 1
}

/// Returns a random program. Larger numbers give larger programs, up to a size that mostly fits.
#[must_use]
pub fn program(number: u64) -> Program {
    let limits = Limits::default();
    // Two thirds of the usual choices: programs with as many operations as the largest ones rarely fit.
    let choices = 2 * limits.choices / 3 * (number as usize + 1) / PROGRAMS as usize;
    numbered(number, &Limits { choices, ..limits })
}
