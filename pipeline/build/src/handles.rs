//! Handles of declared things.

use sluice_ir as ir;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $entity:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(pub(super) ir::$entity);

        impl $name {
            /// Returns the entity in the finished program.
            #[must_use]
            pub fn id(self) -> ir::$entity {
                self.0
            }
        }
    )* };
}

handles! {
    /// An action.
    ActionRef = Action;
    /// A match-action table.
    TableRef = Table;
    /// An action profile.
    ProfileRef = Profile;
    /// A counter whose index actions give.
    CounterRef = Counter;
    /// A counter with one cell per entry of the table that it is attached to.
    DirectCounterRef = Counter;
    /// A label: the reason of a drop, or the purpose of an absorption.
    LabelRef = Label;
    /// An array of meters, low-pass filters or WRED entries.
    MeterRef = Meter;
    /// A value set of a parser.
    ValueSetRef = ValueSet;
}

/// A generator of random numbers of `W` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RandomRef<const W: u16>(pub(super) ir::Random);

/// A register with elements of `W` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterRef<const W: u16>(pub(super) ir::Register);

/// A register whose elements are pairs of `W` bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairRef<const W: u16>(pub(super) ir::Register);

/// A run-time parameter of a register whose halves have `W` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterParamRef<const W: u16>(pub(super) u8);

/// A register action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterActionRef(pub(super) ir::RegisterAction);

/// A named block of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubcontrolRef(pub(super) usize);

macro_rules! register_handles {
    ($($name:ident$(<$w:ident>)? = $entity:ident;)*) => { $(
        impl$(<const $w: u16>)? $name$(<$w>)? {
            /// Returns the entity in the finished program.
            #[must_use]
            pub fn id(self) -> ir::$entity {
                self.0
            }
        }
    )* };
}
register_handles! {
    RegisterRef<W> = Register;
    PairRef<W> = Register;
    RegisterActionRef = RegisterAction;
    RandomRef<W> = Random;
}

/// A hash computation with a result of `W` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashRef<const W: u16>(pub(super) ir::Hash);

impl<const W: u16> HashRef<W> {
    /// Returns the entity in the finished program.
    #[must_use]
    pub fn id(self) -> ir::Hash {
        self.0
    }
}
