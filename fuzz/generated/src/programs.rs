/// How many random programs there are; some do not fit their chip.
pub const PROGRAMS: u64 = 96;

/// Numbers of the random programs: every `step`th, which is coprime to the numbers that choose chip and counting.
pub fn numbers(step: usize) -> impl Iterator<Item = u64> {
    (0..PROGRAMS).step_by(step)
}

/// The chip that a random program is for.
#[must_use]
pub fn chip_of(number: u64) -> ChipSpec {
    if number % 4 == 3 { ChipSpec::tofino() } else { ChipSpec::tofino2() }
}

/// Whether the code of a random program counts what packets reach.
#[must_use]
pub fn counts(number: u64) -> bool {
    number % 3 == 1
}

/// A random program: those with larger numbers are larger, up to what mostly fits.
#[must_use]
pub fn program(number: u64) -> Program {
    let limits = Limits::default();
    let choices = limits.choices * (number as usize + 1) / PROGRAMS as usize;
    numbered(number, &Limits { choices, ..limits })
}
