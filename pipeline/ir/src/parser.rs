//! Parser features other than extracting headers: look-ahead, the counter, header stacks.

use super::{Field, Header, Loc, Program, Stack};
use sluice_asic::gress::Gress;

/// Key of a parser state's select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectKey {
    /// A field extracted so far, an intrinsic field or port metadata.
    Field(Field),
    /// A look-ahead: bits of the packet that no operation of the state has advanced past.
    Lookahead(Lookahead),
    /// One bit: 1 if the counter is zero.
    CounterIsZero,
    /// One bit: 1 if the counter is negative.
    CounterIsNegative,
    /// A field of the stack's element extracted last, by its position in the element's header.
    Last(Stack, u16),
}

/// Bits of the packet after the parser's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// Offset in bits from the parser's position.
    pub at: u16,
    /// Width in bits, 1 to 128.
    pub width: u16,
}

impl Lookahead {
    /// Returns the number of bytes from the parser's position to the end of the last byte read.
    #[must_use]
    pub fn reach(self) -> u32 {
        (u32::from(self.at) + u32::from(self.width)).div_ceil(8)
    }
}

impl From<Field> for SelectKey {
    fn from(field: Field) -> SelectKey {
        SelectKey::Field(field)
    }
}

impl SelectKey {
    /// Returns the width of the key in bits; `None` if it refers to an entity that the program lacks.
    #[must_use]
    pub fn width(self, program: &Program) -> Option<u16> {
        match self {
            SelectKey::Field(f) => program.fields.get(f).map(|d| d.width),
            SelectKey::Lookahead(ahead) => Some(ahead.width),
            SelectKey::CounterIsZero | SelectKey::CounterIsNegative => Some(1),
            SelectKey::Last(stack, position) => {
                let first = *program.stacks.get(stack)?.headers.first()?;
                let field = *program.headers.get(first)?.fields.get(usize::from(position))?;
                program.fields.get(field).map(|d| d.width)
            }
        }
    }

    /// Returns the field that the key reads, if it is always the same field.
    #[must_use]
    pub fn field(self) -> Option<Field> {
        if let SelectKey::Field(f) = self { Some(f) } else { None }
    }

    /// Returns the name in reports.
    #[must_use]
    pub fn name(self, program: &Program) -> String {
        match self {
            SelectKey::Field(f) => program.fields.get(f).map_or_else(String::new, |d| d.name.clone()),
            SelectKey::Lookahead(a) => format!("lookahead({}, {})", a.at, a.width),
            SelectKey::CounterIsZero => "counter is zero".to_owned(),
            SelectKey::CounterIsNegative => "counter is negative".to_owned(),
            SelectKey::Last(stack, position) => {
                let data = program.stacks.get(stack);
                let field = data
                    .and_then(|d| d.headers.first())
                    .and_then(|h| program.headers.get(*h)?.fields.get(usize::from(position)))
                    .and_then(|f| program.fields.get(*f))
                    .and_then(|f| f.name.rsplit('.').next());
                format!("{}.last.{}", data.map_or("", |d| d.name.as_str()), field.unwrap_or_default())
            }
        }
    }
}

/// Value to which the parser counter is set (model: chip §6.1). The counter is signed and has 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterLoad {
    /// A constant in two's complement.
    Const(u8),
    /// A field of at most 8 bits that the parser has extracted: it is rotated, masked and increased.
    Field {
        /// The field.
        field: Field,
        /// Largest accepted value; above it the packet has the parser error "counter range", and parsing
        /// ends.
        max: u8,
        /// Rotation to the right of the field's 8 bits, 0 to 7.
        rotate: u8,
        /// Number of kept low bits minus 1, 0 to 7.
        mask: u8,
        /// Number added afterwards; the low 8 bits of the sum are the counter.
        add: u8,
    },
    /// A byte of the packet that no operation of the state has advanced past, converted as a field.
    Ahead {
        /// Offset in bits from the parser's position, a multiple of 8.
        at: u16,
        /// As of a field.
        max: u8,
        /// As of a field.
        rotate: u8,
        /// As of a field.
        mask: u8,
        /// As of a field.
        add: u8,
    },
}

impl CounterLoad {
    /// Returns the byte ahead from which the counter is loaded.
    #[must_use]
    pub fn ahead(self) -> Option<Lookahead> {
        match self {
            CounterLoad::Ahead { at, .. } => Some(Lookahead { at, width: 8 }),
            CounterLoad::Const(_) | CounterLoad::Field { .. } => None,
        }
    }

    /// Returns the counter for a value of the field; `None` if the value is above the largest accepted one.
    #[must_use]
    pub fn value(self, field: u8) -> Option<i8> {
        match self {
            CounterLoad::Const(value) => Some(value as i8),
            CounterLoad::Field { max, .. } | CounterLoad::Ahead { max, .. } if field > max => None,
            CounterLoad::Field { rotate, mask, add, .. } | CounterLoad::Ahead { rotate, mask, add, .. } => {
                let kept = field.rotate_right(rotate.into()) & (u8::MAX >> (7 - mask.min(7)));
                Some(kept.wrapping_add(add) as i8)
            }
        }
    }
}

/// A header stack: headers of one layout that a parser extracts one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct StackData {
    /// Name, unique in its gress.
    pub name: String,
    /// Its gress.
    pub gress: Gress,
    /// Elements in wire order, all of one layout.
    pub headers: Vec<Header>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}
