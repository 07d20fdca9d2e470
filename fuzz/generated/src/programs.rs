/// How many random programs there are; some do not fit their chip.
pub const PROGRAMS: u64 = 96;

/// Numbers of the random programs to write: the `step` smallest and every `step`th. A step that is coprime to 3 and 4 keeps
/// both chips and both kinds of code.
pub fn numbers(step: u64) -> impl Iterator<Item = u64> {
    (0..PROGRAMS).filter(move |number| *number < step || number % step == 0)
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
