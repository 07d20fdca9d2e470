//! What a place of a program may read and write.

use super::wire::Wire;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Home, Program};

/// A place in a control block.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Headers that every packet has here.
    pub(super) sure: Vec<Header>,
    /// Headers that a packet may have or not.
    pub(super) maybe: Vec<Header>,
    /// Fields that actions of this place must not touch: those that ask for copies.
    pub(super) reserved: Vec<Field>,
}

impl Scope {
    /// The start of a gress' control block.
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

    /// The same with a header that is now surely there.
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

    /// Fields that may be read: metadata, those of headers that are there, and what the device filled.
    pub(super) fn readable(&self, p: &Program, gress: Gress) -> Vec<Field> {
        let all = p.fields.iter().filter(|(_, d)| d.gress == gress);
        let open = all.filter(|(_, d)| match d.home {
            Home::Metadata | Home::PortMetadata => true,
            Home::Header(h) => self.sure.contains(&h),
            Home::Intrinsic(which) => !which.info().writable && !which.is_ghost(),
        });
        open.map(|(f, _)| f).collect()
    }

    /// Fields that may be written: metadata and those of headers that are there.
    pub(super) fn writable(&self, p: &Program, gress: Gress) -> Vec<Field> {
        let mut list = self.readable(p, gress);
        list.retain(|f| {
            matches!(p.fields[*f].home, Home::Metadata | Home::Header(_)) && !self.reserved.contains(f)
        });
        list
    }
}
