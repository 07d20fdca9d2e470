//! Packet colours.

use std::fmt;

/// A packet's colour, ordered from best to worst (model: chip §5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    /// Within the committed rate.
    #[default]
    Green,
    /// Beyond the committed rate, within the peak rate.
    Yellow,
    /// Beyond the peak rate.
    Red,
}

impl Colour {
    /// Every colour.
    pub const ALL: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];

    /// Returns the two bits of the colour in metadata: 0, 1 or 3.
    pub const fn bits(self) -> u8 {
        match self {
            Self::Green => 0,
            Self::Yellow => 1,
            Self::Red => 3,
        }
    }

    /// Returns the colour of two bits; 2 is another yellow. Higher bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Green,
            3 => Self::Red,
            _ => Self::Yellow,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Red => "red",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_order() {
        for colour in Colour::ALL {
            assert_eq!(Colour::from_bits(colour.bits()), colour);
        }
        assert_eq!((Colour::from_bits(2), Colour::from_bits(0xfc)), (Colour::Yellow, Colour::Green));
        assert!(Colour::Green < Colour::Yellow && Colour::Yellow < Colour::Red);
    }
}
