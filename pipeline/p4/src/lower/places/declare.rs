//! Fields, headers and stacks of the program, which are declared at the first use of their storage.

use super::super::Lower;
use super::super::name::Space;
use crate::source::Span;
use sluice_asic::gress::Gress;

use super::{Instance, Slot, SlotHome, StackId};
use sluice_ir::{self as ir, FieldData, HeaderData, Home, StackData};

impl Lower<'_> {
    /// Returns the field of a slot.
    pub(in crate::lower) fn field(&mut self, slot: Slot) -> ir::Field {
        if let Some(field) = self.storage.slots[slot].field {
            return field;
        }
        let (gress, home) = (self.storage.slots[slot].gress, self.storage.slots[slot].home);
        let field = match home {
            SlotHome::Header(instance) => {
                self.header(instance);
                match self.storage.slots[slot].field {
                    Some(field) => field,
                    None => self.new_field(slot, Home::Metadata),
                }
            }
            SlotHome::Metadata => self.new_field(slot, Home::Metadata),
            SlotHome::PortMetadata => self.new_field(slot, Home::PortMetadata),
            SlotHome::Intrinsic(which) => self.program.add_intrinsic(gress, which),
        };
        self.storage.slots[slot].field = Some(field);
        field
    }

    fn new_field(&mut self, slot: Slot, home: Home) -> ir::Field {
        let data = &self.storage.slots[slot];
        let (gress, width, at) = (data.gress, data.width, data.at);
        let name = data.name.clone();
        let name = self.names.take(Space::Field(gress), &name);
        let loc = self.loc(at);
        let doc = String::new();
        self.program.fields.push(FieldData { name, gress, width, home, doc, loc })
    }

    /// Returns the header of an instance.
    pub(in crate::lower) fn header(&mut self, instance: Instance) -> ir::Header {
        if let Some(header) = self.storage.instances[instance].header {
            return header;
        }
        if let Some(stack) = self.storage.instances[instance].stack {
            self.stack(stack);
        }
        match self.storage.instances[instance].header {
            Some(header) => header,
            None => self.new_header(instance),
        }
    }

    fn new_header(&mut self, instance: Instance) -> ir::Header {
        let header = self.program.headers.next_key();
        let data = &self.storage.instances[instance];
        let (gress, at, slots) = (data.gress, data.at, data.slots.clone());
        let wanted = data.name.clone();
        let name = self.names.take(Space::Header(gress), &wanted);
        let bits: u32 = slots.iter().map(|&slot| u32::from(self.storage.slots[slot].width)).sum();
        let mut fields: Vec<ir::Field> = slots
            .into_iter()
            .map(|slot| {
                let field = self.new_field(slot, Home::Header(header));
                self.storage.slots[slot].field = Some(field);
                field
            })
            .collect();
        if !bits.is_multiple_of(8) {
            fields.push(self.padding(header, &wanted, (8 - bits % 8) as u16, gress, at));
        }
        let (loc, doc) = (self.loc(at), String::new());
        self.program.headers.push(HeaderData { name, gress, fields, doc, loc });
        self.storage.instances[instance].header = Some(header);
        header
    }

    /// Declares the bits that fill the last byte of a header, which the compiler of the chip adds as well.
    fn padding(&mut self, header: ir::Header, name: &str, width: u16, gress: Gress, at: Span) -> ir::Field {
        self.note(at, format!("header `{name}`"), format!("{width} bits of padding fill its last byte"));
        let name = self.names.take(Space::Field(gress), &format!("{name}._padding"));
        let (loc, doc) = (self.loc(at), String::new());
        self.program.fields.push(FieldData { name, gress, width, home: Home::Header(header), doc, loc })
    }

    /// Returns the stack of the program.
    pub(in crate::lower) fn stack(&mut self, stack: StackId) -> ir::Stack {
        if let Some(made) = self.storage.stacks[stack].stack {
            return made;
        }
        let data = &self.storage.stacks[stack];
        let (gress, at, elements) = (data.gress, data.at, data.elements.clone());
        let wanted = data.name.clone();
        let name = self.names.take(Space::Stack(gress), &wanted);
        let headers = elements.into_iter().map(|element| self.new_header(element)).collect();
        let (loc, doc) = (self.loc(at), String::new());
        let made = self.program.stacks.push(StackData { name, gress, headers, doc, loc });
        self.storage.stacks[stack].stack = Some(made);
        made
    }

    /// Returns the value of a slot: its field, or the low bits if the field is wider.
    pub(in crate::lower) fn read(&mut self, slot: Slot) -> ir::Expr {
        let width = self.storage.slots[slot].width;
        let field = self.field(slot);
        let whole = ir::Expr::Field(field);
        if self.program.fields[field].width > width {
            ir::Expr::Slice(Box::new(whole), width - 1, 0)
        } else {
            whole
        }
    }
}
