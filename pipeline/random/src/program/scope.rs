//! Scope of a point in a program: fields and headers that statements there may read and write.

use super::wire::Wire;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Home, Program};

/// Scope of a point in a control block.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Headers that are valid for every packet.
    pub(super) sure: Vec<Header>,
    /// Headers that are valid for some packets.
    pub(super) maybe: Vec<Header>,
    /// Fields that actions must not write, because they request copies.
    pub(super) reserved: Vec<Field>,
}

impl Scope {
    /// Returns the scope at the start of a gress's control block.
    pub(super) fn of(wire: &Wire) -> Scope {
        let mut sure = vec![wire.first];
        let mut maybe = wire.rest.clone();
        match wire.bridge {
            Some(bridge) if wire.bridged_in => sure.push(bridge),
            Some(bridge) => maybe.push(bridge),
            None => {}
        }
        Scope { sure, maybe, reserved: Vec::new() }
    }

    /// Returns the scope with one more header that is certainly valid.
    pub(super) fn with(&self, header: Header) -> Scope {
        let mut scope = self.clone();
        scope.gain(header);
        scope
    }

    pub(super) fn gain(&mut self, header: Header) {
        self.maybe.retain(|h| *h != header);
        if !self.sure.contains(&header) {
            self.sure.push(header);
        }
    }

    /// Returns the fields that may be read: metadata, fields of valid headers, and intrinsic metadata.
    pub(super) fn readable(&self, p: &Program, gress: Gress) -> Vec<Field> {
        let all = p.fields.iter().filter(|(_, d)| d.gress == gress);
        let open = all.filter(|(_, d)| match d.home {
            Home::Metadata | Home::PortMetadata => true,
            Home::Header(h) => self.sure.contains(&h),
            Home::Intrinsic(which) => !which.info().writable && !which.is_ghost(),
        });
        open.map(|(f, _)| f).collect()
    }

    /// Returns the fields that may be written: metadata and fields of valid headers.
    pub(super) fn writable(&self, p: &Program, gress: Gress) -> Vec<Field> {
        let mut list = self.readable(p, gress);
        list.retain(|f| {
            matches!(p.fields[*f].home, Home::Metadata | Home::Header(_)) && !self.reserved.contains(f)
        });
        list
    }
}
