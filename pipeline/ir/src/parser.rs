//! What parsers do beyond extracting headers: selects on bits ahead, the counter, header stacks.

use super::{Field, Header, Loc, Program, Stack};
use sluice_asic::gress::Gress;

/// What a parser state can select on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectKey {
    /// A field extracted so far, an intrinsic field or port metadata.
    Field(Field),
    /// Bits of the packet that no operation of the state has moved past.
    Lookahead(Lookahead),
    /// One bit: the counter is zero.
    CounterIsZero,
    /// One bit: the counter is below zero.
    CounterIsNegative,
    /// A field of the element of a stack that was extracted last, by its position in the element's header.
    Last(Stack, u16),
}

/// Bits of the packet ahead of the parser's place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// Bits between the place and the first one.
    pub at: u16,
    /// Bits, 1..=128.
    pub width: u16,
}

impl Lookahead {
    /// Bytes from the parser's place to the end of the last byte looked at.
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
    /// Bits of the key; `None` if it names something that the program lacks.
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

    /// The field that the key reads, if it is always the same one.
    #[must_use]
    pub fn field(self) -> Option<Field> {
        if let SelectKey::Field(f) = self { Some(f) } else { None }
    }

    /// Name as reports print it.
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

/// What the parser counter is set to (model: chip §6.1). The counter is signed and has 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterLoad {
    /// A constant, read as two's complement.
    Const(u8),
    /// A field of at most 8 bits that the parser has extracted: rotated, masked, increased.
    Field {
        /// The field.
        field: Field,
        /// A field above this is parser error "counter range", and parsing ends.
        max: u8,
        /// Bits by which the field, as 8 bits, is rotated to the right, 0..=7.
        rotate: u8,
        /// The low `mask + 1` bits are kept, 0..=7.
        mask: u8,
        /// Added then; the sum's low 8 bits are the counter.
        add: u8,
    },
}

impl CounterLoad {
    /// The counter for a value of the field; `None` if that is above the largest allowed.
    #[must_use]
    pub fn value(self, field: u8) -> Option<i8> {
        match self {
            CounterLoad::Const(value) => Some(value as i8),
            CounterLoad::Field { max, .. } if field > max => None,
            CounterLoad::Field { rotate, mask, add, .. } => {
                let kept = field.rotate_right(rotate.into()) & (u8::MAX >> (7 - mask.min(7)));
                Some(kept.wrapping_add(add) as i8)
            }
        }
    }
}

/// A header stack: instances of one layout that a parser extracts one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct StackData {
    /// Name, unique in its gress.
    pub name: String,
    /// The gress that it belongs to.
    pub gress: Gress,
    /// The elements, the first on the wire first; all of one layout.
    pub headers: Vec<Header>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}
