//! Header stacks: declaration, and moves of elements.

use super::draft::Builder;
use super::fields::{Fields, Hdr};
use super::gress::GressBuilder;
use super::step::{ActionSteps, ControlStep, Recorded, StepKind};
use super::value::Bits;
use sluice_ir::entity::Entity;
use sluice_ir::{self as ir, Expr, Home, Loc, PrimitiveKind, SelectKey, StackData};

/// A header stack of `N` elements; `stack[0]` is the first on the wire.
#[derive(Clone, Copy, Debug)]
pub struct HdrStack<T, const N: usize> {
    elements: [Hdr<T>; N],
    /// First field of the first element; the fields of the other elements follow.
    first: ir::Field,
    /// Number of fields per element.
    fields: usize,
    id: ir::Stack,
}

impl<'b> GressBuilder<'b> {
    /// Declares a header stack: `N` instances of one header, named after the stack and their number. The
    /// parser extracts them in order ([`StateRef::extract_next`](super::StateRef::extract_next)); the control
    /// block reads and writes them by number.
    #[track_caller]
    pub fn stack<T: Fields, const N: usize>(&self) -> HdrStack<T, N> {
        const { assert!(N >= 1, "a stack has at least one element") };
        let loc = Loc::caller();
        let name = self.builder.take_name("stack", loc);
        let base = {
            let draft = self.builder.draft();
            let stacks = || draft.program.stacks.values();
            let taken = |n: &str| stacks().any(|s| s.gress == self.gress && s.name == n);
            name.unique(taken)
        };
        let doc = if name.doc.is_empty() { T::DOC.to_owned() } else { name.doc };
        let elements = std::array::from_fn(|i| {
            self.named(&format!("{base}_{i}"), &format!("Element {i} of the stack. {doc}"));
            self.header_at::<T>(loc)
        });
        let mut draft = self.builder.draft();
        let headers: Vec<ir::Header> = elements.iter().map(Hdr::id).collect();
        let fields = draft.program.headers[headers[0]].fields.clone();
        let id = draft.program.stacks.push(StackData { name: base, gress: self.gress, headers, doc, loc });
        let first = fields.first().copied().unwrap_or_else(|| draft.program.fields.next_key());
        HdrStack { elements, first, fields: fields.len(), id }
    }
}

impl<T, const N: usize> HdrStack<T, N> {
    /// Returns the stack in the finished program.
    #[must_use]
    pub fn id(&self) -> ir::Stack {
        self.id
    }

    /// Returns the elements' headers.
    #[must_use]
    pub fn headers(&self) -> [ir::Header; N] {
        std::array::from_fn(|i| self.elements[i].id())
    }

    /// Returns the elements, the first on the wire first.
    pub fn iter(&self) -> impl Iterator<Item = Hdr<T>>
    where
        T: Copy,
    {
        self.elements.into_iter()
    }

    /// Returns a field of the element extracted last, as a select key: `mpls.last(|e| e.bos)`.
    pub fn last<const W: u16>(&self, field: impl FnOnce(&T) -> Bits<W>) -> Last<W> {
        let field = field(&self.elements[0]);
        Last(self.id, field.id().index().saturating_sub(self.first.index()) as u16)
    }

    /// Moves every element back by `count` places, to make room for headers in front. The first `count`
    /// elements become invalid; the last `count` elements are lost. A step of an action.
    #[track_caller]
    pub fn push_front(&self, count: usize) -> StackMove {
        self.moves(|to| to.checked_sub(count), (0..N).rev())
    }

    /// Moves every element forward by `count` places. The first `count` elements are lost; the last `count`
    /// become invalid. A step of an action.
    #[track_caller]
    pub fn pop_front(&self, count: usize) -> StackMove {
        self.moves(|to| Some(to + count).filter(|from| *from < N), 0..N)
    }

    /// Returns the copies in an order in which no element is read after it was written.
    fn moves(&self, from: impl Fn(usize) -> Option<usize>, order: impl Iterator<Item = usize>) -> StackMove {
        let field = |element: usize, n: usize| {
            // All elements were declared together, one field after another.
            ir::Field::new(self.first.index() + element * self.fields + n)
        };
        let mut list = Vec::new();
        for to in order {
            let header = self.elements[to].id();
            match from(to) {
                Some(at) if at == to => {}
                Some(at) => {
                    let copy = |n| PrimitiveKind::Set(field(to, n), Expr::Field(field(at, n)));
                    list.extend((0..self.fields).map(copy));
                    list.push(PrimitiveKind::CopyValid(header, self.elements[at].id()));
                }
                None => list.push(PrimitiveKind::SetValid(header, false)),
            }
        }
        StackMove(list)
    }
}

impl<T, const N: usize> std::ops::Index<usize> for HdrStack<T, N> {
    type Output = Hdr<T>;
    fn index(&self, element: usize) -> &Hdr<T> {
        &self.elements[element]
    }
}

/// A field of the element that was extracted last.
#[derive(Clone, Copy, Debug)]
pub struct Last<const W: u16>(pub(super) ir::Stack, pub(super) u16);

impl<const W: u16> From<Last<W>> for SelectKey {
    fn from(last: Last<W>) -> SelectKey {
        SelectKey::Last(last.0, last.1)
    }
}

/// A move of all elements of a stack: a copy of each field and validity bit, all in one action.
#[must_use = "a step does nothing until it is run: `a.run(..)`"]
#[derive(Debug)]
pub struct StackMove(Vec<PrimitiveKind>);

impl ControlStep for StackMove {
    fn control_step(self, _: &Builder) -> Recorded {
        Recorded(StepKind::Together(self.0))
    }
}

impl ActionSteps for StackMove {
    fn primitives(self, _: &Builder) -> Vec<PrimitiveKind> {
        self.0
    }
}

impl GressBuilder<'_> {
    /// Declares port metadata (phase 0): fields that hold the values that the control plane wrote for the
    /// packet's port, from the first parser state on. They are zero in the pass that follows a resubmit. At
    /// most 64 bits on Tofino, 128 on Tofino 2 (model: chip §6.3). Ingress only.
    #[track_caller]
    pub fn port_metadata<T: Fields>(&self) -> T {
        let loc = Loc::caller();
        let name = self.builder.take_name("port metadata struct", loc);
        let prefix = name.unique(|n| self.is_prefix(n));
        self.declare::<T>(prefix, Home::PortMetadata, loc).0
    }
}
