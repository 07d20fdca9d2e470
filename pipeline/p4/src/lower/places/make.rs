//! Storage for types.

use super::super::name::Space;
use super::super::types::Scalar;
use super::super::{Lower, Res};
use super::{Instance, InstanceData, Place, Slot, SlotData, SlotHome, StackPlace};
use crate::check::{Ty, TyKind, type_params};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind};
use sluice_asic::gress::Gress;
use sluice_ir::Intrinsic;

/// The widest field of the program in bits.
const FIELD_BITS: u32 = 128;

/// What surrounds a place under construction.
#[derive(Clone, Copy)]
struct Inside {
    gress: Gress,
    /// The header that contains it.
    header: Option<Instance>,
    /// True among the metadata of a gress.
    metadata: bool,
}

/// Returns the short name of an intrinsic structure in the program, if the gress has it.
fn is_intrinsic(name: &str, gress: Gress) -> Option<&'static str> {
    let (of, prefix) = match name {
        "ingress_intrinsic_metadata_t" => (Gress::Ingress, "ig"),
        "ingress_intrinsic_metadata_for_tm_t" => (Gress::Ingress, "ig_tm"),
        "ingress_intrinsic_metadata_from_parser_t" => (Gress::Ingress, "prsr"),
        "ingress_intrinsic_metadata_for_deparser_t" => (Gress::Ingress, "dprsr"),
        "egress_intrinsic_metadata_t" => (Gress::Egress, "eg"),
        "egress_intrinsic_metadata_from_parser_t" => (Gress::Egress, "prsr"),
        "egress_intrinsic_metadata_for_deparser_t" => (Gress::Egress, "dprsr"),
        "egress_intrinsic_metadata_for_output_port_t" => (Gress::Egress, "eg_oport"),
        "ghost_intrinsic_metadata_t" => (Gress::Ingress, "ghost"),
        _ => return None,
    };
    (of == gress).then_some(prefix)
}

impl Lower<'_> {
    /// Makes the storage that the blocks of each gress share, after the types of their controls.
    pub(in crate::lower) fn roots(&mut self) -> Res<()> {
        // Names of intrinsic fields are taken first, so that metadata cannot have them.
        for gress in Gress::ALL {
            for info in Intrinsic::TABLE.iter().filter(|info| info.exists_in(gress)) {
                self.names.take(Space::Field(gress), info.name);
            }
        }
        self.storage.whole = self.whole_headers();
        for (gress, blocks) in [(Gress::Ingress, self.pipe.ingress), (Gress::Egress, self.pipe.egress)] {
            let params = self.params(blocks.control).to_vec();
            let mut places = Vec::new();
            for (position, &param) in params.iter().take(2).enumerate() {
                let ty = self.checked.decl_types[param];
                let ty = self.pipe.concrete(self.ast, self.checked, blocks.control, ty);
                let name = self.ast.decls[param].name;
                // Headers are known by their own names.
                let header = matches!(self.checked.types.kind(ty), TyKind::Header(..));
                let prefix = if position == 0 && !header { "" } else { self.ast.text(name) };
                let inside = Inside { gress, header: None, metadata: position == 1 && !header };
                places.push(self.make(ty, inside, prefix, name.span)?);
            }
            let mut places = places.into_iter();
            let root = &mut self.storage.roots[gress.index()];
            (root.headers, root.metadata) = (places.next(), places.next());
        }
        Ok(())
    }

    /// Makes new storage for a type.
    pub(in crate::lower) fn make_place(&mut self, ty: Ty, gress: Gress, name: &str, at: Span) -> Res<Place> {
        self.make(ty, Inside { gress, header: None, metadata: false }, name, at)
    }

    fn make(&mut self, ty: Ty, inside: Inside, name: &str, at: Span) -> Res<Place> {
        if let Some(scalar) = self.scalar(ty) {
            return Ok(self.make_scalar(scalar, inside, name, at));
        }
        if let Some(place) = self.intrinsics(ty, inside.gress) {
            return Ok(place);
        }
        match self.checked.types.kind(self.checked.base(self.ast, ty)).clone() {
            TyKind::Header(decl, args)
                if inside.header.is_none() && (!inside.metadata || self.storage.whole.contains(&at)) =>
            {
                self.make_header((decl, &args), inside.gress, name, at).map(Place::Header)
            }
            TyKind::Struct(decl, args) | TyKind::Header(decl, args) => {
                let members = self.make_members((decl, &args), inside, name)?;
                Ok(Place::Struct(members.into()))
            }
            TyKind::Stack(element, size) => self.make_stack(element, size, inside.gress, name, at),
            TyKind::Varbit(width) => Err(self.refuse(
                at,
                format!("`{name}` has the type `varbit<{width}>`, which Sluice does not have"),
                "give the field the width that packets have, with a header and a parser state per width",
            )),
            TyKind::Extern(..) | TyKind::Void | TyKind::Text | TyKind::Any => Ok(Place::Nothing),
            _ => {
                let ty = self.checked.types.describe(self.ast, ty);
                Err(self.refuse(
                    at,
                    format!("{ty} cannot be stored in a packet's fields"),
                    "declare a struct with members of type `bit<W>`",
                ))
            }
        }
    }

    fn make_scalar(&mut self, scalar: Scalar, inside: Inside, name: &str, at: Span) -> Place {
        match scalar.width {
            0 => Place::Nothing,
            1..=FIELD_BITS => Place::Slot(self.new_slot(scalar.width as u16, inside, name.to_owned(), at)),
            width => {
                let mut parts = Vec::new();
                let mut left = width;
                while left > 0 {
                    // The first part takes the remainder, so that the others begin at whole bytes of the value's end.
                    let bits = if left.is_multiple_of(FIELD_BITS) { FIELD_BITS } else { left % FIELD_BITS };
                    left -= bits;
                    parts.push(self.new_slot(bits as u16, inside, format!("{name}.{left}"), at));
                }
                Place::Parts(parts.into())
            }
        }
    }

    fn new_slot(&mut self, width: u16, inside: Inside, name: String, at: Span) -> Slot {
        let home = inside.header.map_or(SlotHome::Metadata, SlotHome::Header);
        let slot = SlotData { name, gress: inside.gress, width, home, at, field: None };
        self.storage.slots.push(slot)
    }

    /// Makes the members of a struct or header, in the order of the type.
    fn make_members(&mut self, (decl, args): (DeclId, &[Ty]), inside: Inside, name: &str) -> Res<Vec<Place>> {
        let ast = self.ast;
        let (DeclKind::Struct(of) | DeclKind::Header(of)) = &ast.decls[decl].kind else {
            return Ok(Vec::new());
        };
        let mut members = Vec::new();
        for &field in &of.fields {
            let ty = self.checked.decl_types[field];
            let ty = self.checked.types.substitute(ty, type_params(ast, decl), args);
            let own = ast.decls[field].name;
            let text = self.own_name(field);
            let name = if name.is_empty() { text.to_owned() } else { format!("{name}.{text}") };
            members.push(self.make(ty, inside, &name, own.span)?);
        }
        Ok(members)
    }

    fn make_header(&mut self, of: (DeclId, &[Ty]), gress: Gress, name: &str, at: Span) -> Res<Instance> {
        let data = InstanceData {
            name: name.to_owned(),
            gress,
            members: [].into(),
            slots: Vec::new(),
            padding: Vec::new(),
            stack: None,
            at,
            header: None,
        };
        let instance = self.storage.instances.push(data);
        let inside = Inside { gress, header: Some(instance), metadata: false };
        let members: std::rc::Rc<[Place]> = self.make_members(of, inside, name)?.into();
        let scalars = self.storage.slots_of(&Place::Struct(members.clone()));
        let (slots, padding) = self.with_padding(scalars, of, inside, name, at);
        let data = &mut self.storage.instances[instance];
        (data.members, data.slots, data.padding) = (members, slots, padding);
        Ok(instance)
    }

    /// Returns the scalars of a header with the padding in front of flexible members, and the padding.
    fn with_padding(
        &mut self,
        scalars: Vec<Slot>,
        (decl, args): (DeclId, &[Ty]),
        inside: Inside,
        name: &str,
        at: Span,
    ) -> (Vec<Slot>, Vec<Slot>) {
        let Some(layout) = self.scalars_of(decl, args) else { return (scalars, Vec::new()) };
        let (mut slots, mut padding, mut position) = (Vec::new(), Vec::new(), 0);
        let mut scalars = scalars.into_iter();
        for (start, width) in layout {
            if position < start {
                let own = format!("{name}._padding_{position}");
                let slot = self.new_slot((start - position) as u16, inside, own, at);
                slots.push(slot);
                padding.push(slot);
                position = start;
            }
            // A wide scalar has several parts.
            while position < start + width
                && let Some(slot) = scalars.next()
            {
                position += u32::from(self.storage.slots[slot].width);
                slots.push(slot);
            }
        }
        slots.extend(scalars);
        (slots, padding)
    }

    fn make_stack(&mut self, element: Ty, size: u32, gress: Gress, name: &str, at: Span) -> Res<Place> {
        let TyKind::Header(decl, args) = self.checked.types.kind(element).clone() else {
            return Err(self.refuse(
                at,
                format!("`{name}` is an array of a type other than a header"),
                "declare the members one by one",
            ));
        };
        let mut elements = Vec::new();
        for index in 0..size {
            elements.push(self.make_header((decl, &args), gress, &format!("{name}_{index}"), at)?);
        }
        let data = StackPlace { name: name.to_owned(), gress, elements, at, stack: None };
        let stack = self.storage.stacks.push(data);
        for element in self.storage.stacks[stack].elements.clone() {
            self.storage.instances[element].stack = Some(stack);
        }
        Ok(Place::Stack(stack))
    }

    /// Returns the chip's fields if a type is a structure of intrinsic metadata of the gress. Every instance of such a structure
    /// stands for these fields.
    pub(in crate::lower) fn intrinsics(&mut self, ty: Ty, gress: Gress) -> Option<Place> {
        let (TyKind::Struct(decl, _) | TyKind::Header(decl, _)) = *self.checked.types.kind(ty) else {
            return None;
        };
        let ast = self.ast;
        let prefix = is_intrinsic(ast.text(ast.decls[decl].name), gress)?;
        let (DeclKind::Struct(of) | DeclKind::Header(of)) = &ast.decls[decl].kind else { return None };
        let members = of.fields.iter().map(|&field| self.intrinsic_member(field, prefix, gress)).collect();
        Some(Place::Struct(members))
    }

    fn intrinsic_member(&mut self, field: DeclId, prefix: &str, gress: Gress) -> Place {
        let own = self.ast.decls[field].name;
        let name = format!("{prefix}.{}", self.ast.text(own));
        let Some(scalar) = self.scalar(self.checked.decl_types[field]) else { return Place::Nothing };
        let inside = Inside { gress, header: None, metadata: false };
        let Some(which) = Intrinsic::named(gress, &name) else {
            // Padding reads zero.
            return self.make_scalar(scalar, inside, &name, own.span);
        };
        if let Some(&slot) = self.storage.intrinsics.get(&(gress, which)) {
            return Place::Slot(slot);
        }
        let width = scalar.width as u16;
        let home = SlotHome::Intrinsic(which);
        let slot = SlotData { name, gress, width, home, at: own.span, field: None };
        let slot = self.storage.slots.push(slot);
        self.storage.intrinsics.insert((gress, which), slot);
        Place::Slot(slot)
    }
}
