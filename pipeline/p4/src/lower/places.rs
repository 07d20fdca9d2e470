//! Storage: the places that names of a program stand for.
//!
//! A *slot* is storage of one scalar; a place is a tree with slots as leaves. Parser, control and deparser of a gress share the
//! trees of headers and metadata ([`Root`]); each variable of a block has its own.

mod declare;
mod make;
mod whole;

use crate::source::Span;
use sluice_asic::gress::Gress;
use sluice_entity::{EntityMap, entities};
use sluice_ir::{self as ir, Intrinsic};
use std::rc::Rc;

entities! {
    /// Storage of a scalar.
    Slot = "slot";
    /// An instance of a header.
    Instance = "instance";
    /// A stack of headers.
    StackId = "stack";
}

/// The place of a name or of a member.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A scalar of 1 to 128 bits.
    Slot(Slot),
    /// A scalar of more than 128 bits, most significant part first; each part has at most 128 bits.
    Parts(Rc<[Slot]>),
    /// A header; its members are in [`InstanceData::members`].
    Header(Instance),
    /// A stack of headers.
    Stack(StackId),
    /// A structure: its members in the order of the type.
    Struct(Rc<[Place]>),
    /// No storage: packets, scalars without bits.
    Nothing,
}

/// Storage of a scalar. Its field is declared at the first use.
#[derive(Clone, Debug)]
pub(super) struct SlotData {
    /// The name of its field.
    pub(super) name: String,
    /// The gress.
    pub(super) gress: Gress,
    /// Width in bits as the program has it; the field of an intrinsic slot can be wider.
    pub(super) width: u16,
    /// Kind of the storage. A lowering of a parser may change that of slots without a field.
    pub(super) home: SlotHome,
    /// The declaration.
    pub(super) at: Span,
    /// The field, once it is declared.
    pub(super) field: Option<ir::Field>,
}

/// Kinds of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotHome {
    /// A field of a header.
    Header(Instance),
    /// Metadata, also of variables.
    Metadata,
    /// Metadata that the port fills.
    PortMetadata,
    /// A field that the chip fills or obeys.
    Intrinsic(Intrinsic),
}

/// An instance of a header. The header is declared at its first use.
#[derive(Clone, Debug)]
pub(super) struct InstanceData {
    /// The name of the header.
    pub(super) name: String,
    /// The gress.
    pub(super) gress: Gress,
    /// The members in the order of the type.
    pub(super) members: Rc<[Place]>,
    /// All scalars in wire order, with the padding between them.
    pub(super) slots: Vec<Slot>,
    /// The padding.
    pub(super) padding: Vec<Slot>,
    /// The stack that it is an element of.
    pub(super) stack: Option<StackId>,
    /// The declaration.
    pub(super) at: Span,
    /// The header, once it is declared.
    pub(super) header: Option<ir::Header>,
}

/// A stack of headers. It is declared with its first element.
#[derive(Clone, Debug)]
pub(super) struct StackPlace {
    /// The name of the stack.
    pub(super) name: String,
    /// The gress.
    pub(super) gress: Gress,
    /// The elements.
    pub(super) elements: Vec<Instance>,
    /// The declaration.
    pub(super) at: Span,
    /// The stack, once it is declared.
    pub(super) stack: Option<ir::Stack>,
}

/// The storage that the blocks of a gress share.
#[derive(Clone, Debug, Default)]
pub(super) struct Root {
    /// The first parameter of the blocks.
    pub(super) headers: Option<Place>,
    /// The second parameter of the blocks.
    pub(super) metadata: Option<Place>,
}

/// All storage.
#[derive(Clone, Debug, Default)]
pub(super) struct Storage {
    pub(super) slots: EntityMap<Slot, SlotData>,
    pub(super) instances: EntityMap<Instance, InstanceData>,
    pub(super) stacks: EntityMap<StackId, StackPlace>,
    roots: [Root; 2],
    /// Headers of types with members that a program names as a whole, by the declaration.
    whole: whole::Whole,
    intrinsics: rustc_hash::FxHashMap<(Gress, Intrinsic), Slot>,
}

impl Storage {
    /// Returns the storage that the blocks of a gress share.
    pub(super) fn root(&self, gress: Gress) -> &Root {
        &self.roots[gress.index()]
    }

    /// Returns a member of a structure or header by its position among the type's fields.
    pub(super) fn member(&self, place: &Place, position: u32) -> Option<Place> {
        let members = match place {
            Place::Struct(members) => members,
            Place::Header(instance) => &self.instances[*instance].members,
            _ => return None,
        };
        members.get(position as usize).cloned()
    }

    /// Returns all scalars of a place in order; those of a stack element by element.
    pub(super) fn slots_of(&self, place: &Place) -> Vec<Slot> {
        match place {
            Place::Slot(slot) => vec![*slot],
            Place::Parts(parts) => parts.to_vec(),
            Place::Header(instance) => self.instances[*instance].slots.clone(),
            Place::Stack(stack) => {
                let elements = self.stacks[*stack].elements.iter();
                elements.flat_map(|element| self.instances[*element].slots.clone()).collect()
            }
            Place::Struct(members) => members.iter().flat_map(|member| self.slots_of(member)).collect(),
            Place::Nothing => Vec::new(),
        }
    }

    /// Returns the scalars of a place that are members of its type: all but padding.
    pub(super) fn members_of(&self, place: &Place) -> Vec<Slot> {
        let mut slots = self.slots_of(place);
        slots.retain(|&slot| match self.slots[slot].home {
            SlotHome::Header(instance) => !self.instances[instance].padding.contains(&slot),
            _ => true,
        });
        slots
    }

    /// Returns all headers of a place in order.
    pub(super) fn headers_of(&self, place: &Place) -> Vec<Instance> {
        match place {
            Place::Header(instance) => vec![*instance],
            Place::Stack(stack) => self.stacks[*stack].elements.clone(),
            Place::Struct(members) => members.iter().flat_map(|member| self.headers_of(member)).collect(),
            _ => Vec::new(),
        }
    }
}
