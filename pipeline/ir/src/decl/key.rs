//! Keys of tables.

use crate::cfg::Var;
use crate::{Field, Header, MatchKind, Program};
use sluice_asic::alu::width_mask;

/// Bits that a key compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeySource {
    /// A whole field.
    Field(Field),
    /// A slice of a field: its highest and its lowest bit. Slices of one field without a common bit are separate keys.
    Slice(Field, u16, u16),
    /// The validity of a header: 1 if the header is valid, otherwise 0.
    Valid(Header),
}

impl<T: Into<Field>> From<T> for KeySource {
    fn from(field: T) -> KeySource {
        KeySource::Field(field.into())
    }
}

/// A key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Bits that are compared.
    pub what: KeySource,
    /// Ones in the bits of the value that are compared, the others count as zero; `None` compares all bits. Exact and
    /// ternary keys can have a mask.
    pub mask: Option<u128>,
    /// Match kind.
    pub kind: MatchKind,
}

impl Key {
    /// Returns the key of a whole field.
    #[must_use]
    pub const fn new(field: Field, kind: MatchKind) -> Key {
        Key { what: KeySource::Field(field), mask: None, kind }
    }

    /// Returns the key with a mask: only the bits where it has ones are compared.
    #[must_use]
    pub const fn under(mut self, mask: u128) -> Key {
        self.mask = Some(mask);
        self
    }

    /// Returns the field of which the key compares all or some bits; `None` for the validity of a header.
    #[must_use]
    pub const fn field(&self) -> Option<Field> {
        match self.what {
            KeySource::Field(field) | KeySource::Slice(field, ..) => Some(field),
            KeySource::Valid(_) => None,
        }
    }

    /// Returns the content of the PHV that the key reads.
    #[must_use]
    pub const fn var(&self) -> Var {
        match self.what {
            KeySource::Field(field) | KeySource::Slice(field, ..) => Var::Field(field),
            KeySource::Valid(header) => Var::Valid(header),
        }
    }

    /// Returns the lowest bit of [`Self::var`] that the key reads.
    #[must_use]
    pub const fn lo(&self) -> u16 {
        match self.what {
            KeySource::Slice(_, _, lo) => lo,
            KeySource::Field(_) | KeySource::Valid(_) => 0,
        }
    }

    /// Returns the width of its values in bits; 0 if the slice is malformed.
    #[must_use]
    pub fn width(&self, program: &Program) -> u16 {
        match self.what {
            KeySource::Field(field) => program.fields.get(field).map_or(0, |data| data.width),
            KeySource::Slice(_, hi, lo) => hi.saturating_add(1).saturating_sub(lo),
            KeySource::Valid(_) => 1,
        }
    }

    /// Returns ones in the bits of its values that are compared.
    #[must_use]
    pub fn compared(&self, program: &Program) -> u128 {
        let all = width_mask(self.width(program).into());
        self.mask.map_or(all, |mask| mask & all)
    }

    /// Returns the name as files of entries and reports have it: `ipv4.dst`, `h.a[7:4]`, `ipv4.$valid`.
    #[must_use]
    pub fn name(&self, program: &Program) -> String {
        let name = self.var().name(program);
        match self.what {
            KeySource::Slice(_, hi, lo) => format!("{name}[{hi}:{lo}]"),
            KeySource::Field(_) | KeySource::Valid(_) => name,
        }
    }

    /// Returns the value that a packet has, given the value of the field or validity bit.
    #[must_use]
    pub fn value(&self, program: &Program, found: u128) -> u128 {
        found.checked_shr(self.lo().into()).unwrap_or(0) & self.compared(program)
    }

    /// Returns true if both read a bit in common.
    #[must_use]
    pub fn meets(&self, other: &Key, program: &Program) -> bool {
        let end = |k: &Key| k.lo().saturating_add(k.width(program));
        self.var() == other.var() && self.lo() < end(other) && other.lo() < end(self)
    }

    /// Returns the meaning of the field or header.
    #[must_use]
    pub fn doc<'p>(&self, program: &'p Program) -> &'p str {
        match self.what {
            KeySource::Field(field) | KeySource::Slice(field, ..) => &program.fields[field].doc,
            KeySource::Valid(header) => &program.headers[header].doc,
        }
    }
}
