//! Constants with names: types of requests, and numbers that standards assign.

use super::Writer;
use super::page::Page;
use super::value::number;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Home, Intrinsic, Program, RequestKind, list_header};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Values of fields by the last part of the field's name: width, value, name.
const ASSIGNED: [(&str, u16, u128, &str); 9] = [
    ("ether_type", 16, 0x0800, "ETHERTYPE_IPV4"),
    ("ether_type", 16, 0x0806, "ETHERTYPE_ARP"),
    ("ether_type", 16, 0x8100, "ETHERTYPE_VLAN"),
    ("ether_type", 16, 0x86dd, "ETHERTYPE_IPV6"),
    ("ether_type", 16, 0x8808, "ETHERTYPE_MAC_CONTROL"),
    ("protocol", 8, 6, "IP_PROTOCOL_TCP"),
    ("protocol", 8, 17, "IP_PROTOCOL_UDP"),
    ("next_header", 8, 6, "IP_PROTOCOL_TCP"),
    ("next_header", 8, 17, "IP_PROTOCOL_UDP"),
];

/// The constants of a program.
#[derive(Debug)]
pub(super) struct Constants {
    /// Types of requests: gress, type field and value; type and name.
    types: Vec<(Gress, Intrinsic, u8, &'static str, String)>,
    /// Assigned numbers that the text uses, by name: width and value.
    used: RefCell<BTreeMap<&'static str, (u16, u128)>>,
}

impl Constants {
    pub(super) fn of(p: &Program) -> Constants {
        let mut types: Vec<(Gress, Intrinsic, u8, &'static str, String)> = Vec::new();
        for gress in Gress::ALL {
            for request in &p.pipe(gress).deparser.requests {
                let (ty, word) = match request.kind {
                    RequestKind::Mirror(_) => ("MirrorType_t", "MIRROR"),
                    RequestKind::Resubmit => ("ResubmitType_t", "RESUBMIT"),
                    RequestKind::Digest => ("DigestType_t", "DIGEST"),
                    RequestKind::Pktgen => continue,
                };
                let of = match list_header(p, &request.data).and_then(|header| p.headers.get(header)) {
                    Some(header) => header.name.to_ascii_uppercase().replace('.', "_"),
                    None => request.selector.to_string(),
                };
                let mut name = format!("{word}_TYPE_{of}");
                if types.iter().any(|(.., known)| *known == name) {
                    name = format!("{}_{name}", super::layout::prefix(gress).to_ascii_uppercase());
                }
                if types.iter().any(|(.., known)| *known == name) {
                    name = format!("{name}_{}", request.selector);
                }
                types.push((gress, request.kind.type_field(), request.selector, ty, name));
            }
        }
        Constants { types, used: RefCell::default() }
    }

    /// Returns the name of a request's type.
    pub(super) fn request(&self, gress: Gress, which: Intrinsic, value: u128) -> Option<&str> {
        let found = self.types.iter().find(|(g, w, v, ..)| (*g, *w, u128::from(*v)) == (gress, which, value));
        found.map(|(.., name)| name.as_str())
    }

    pub(super) fn write(&self, page: &mut Page) {
        page.gap();
        for (name, (width, value)) in self.used.borrow().iter() {
            let value = if *width == 8 { value.to_string() } else { format!("{value:#06x}") };
            page.line(&format!("const bit<{width}> {name} = {value};"));
        }
        page.gap();
        for (_, _, value, ty, name) in &self.types {
            page.line(&format!("const {ty} {name} = {value};"));
        }
    }
}

impl Writer<'_> {
    /// Returns a number that a field takes or is compared with, by its name if it has one.
    pub(super) fn constant_of(&self, field: Field, value: u128) -> String {
        let data = &self.p.fields[field];
        if let Home::Intrinsic(which) = data.home {
            return self
                .constants
                .request(data.gress, which, value)
                .map_or_else(|| number(value), str::to_owned);
        }
        let short = data.name.rsplit('.').next().unwrap_or(&data.name);
        let found = ASSIGNED.iter().find(|row| (row.0, row.1, row.2) == (short, data.width, value));
        match (found, data.home) {
            (Some(&(_, width, value, name)), Home::Header(_)) => {
                self.constants.used.borrow_mut().insert(name, (width, value));
                name.to_owned()
            }
            _ if data.width >= 48 => format!("{value:#x}"),
            _ => number(value),
        }
    }
}
