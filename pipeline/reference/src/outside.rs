//! Results that a program does not determine.

use num_bigint::BigInt;

/// The parts of a chip whose results no program states: random numbers, meters, and the choice among the members of a group.
///
/// Each method returns `None` by default; then the pass ends with [`Unsupported`](crate::Unsupported). Names are full names of
/// the control plane, such as `pipe.SwitchIngress.coin`.
pub trait Outside {
    /// Returns a random number of this many bits.
    fn random(&mut self, _object: &str, _width: u32) -> Option<BigInt> {
        None
    }

    /// Returns the result of a low-pass filter for a value; of a WRED unit 1 to drop the packet, else 0.
    fn filter(&mut self, _object: &str, _index: u64, _value: &BigInt) -> Option<BigInt> {
        None
    }

    /// Returns the colour of a packet of this many bytes, which had a colour before: 0 green, 1 yellow, 3 red.
    fn colour(&mut self, _object: &str, _index: u64, _bytes: u64, before: u8) -> u8 {
        before
    }

    /// Returns the member of a group that a hash selects; `Some(None)` if the group has none.
    fn member(&mut self, _table: &str, _group: u32, _hash: u64) -> Option<Option<u32>> {
        None
    }
}

/// Nothing outside the program: green packets, and no random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Outside for Nothing {}
