//! What the lists of requests demand of the PHV.
//!
//! A deparser's list names whole containers, so that all their bits are sent (model: chip §6.4). A list is divided where
//! a field and a byte end together. Such a part is one of these:
//! - bytes of a header: containers of the header cover them;
//! - a field or a slice outside headers, with zeros in front of it: it has separate containers and begins at bit 0;
//! - other metadata fields with zeros between them: they share containers in the order of the list.
//!
//! Bytes of zeros are free: any container that nothing sets has them.

use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Home, ListItem, Loc, Program, Request};

/// Fields that share containers because a list has them in one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) gress: Gress,
    pub(super) bytes: u16,
    /// Field, and bits of the part after it.
    pub(super) fields: Vec<(Field, u16)>,
}

/// Demands of all lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Bytes of headers where a container must end.
    pub(super) header_cuts: Vec<(Header, u32)>,
    /// Bits of fields below which a container must end.
    pub(super) field_cuts: Vec<(Field, u16)>,
    /// Fields with separate containers.
    pub(super) alone: Vec<Field>,
    pub(super) shared: Vec<Shared>,
    /// Parts that no containers can have.
    pub(super) found: Vec<Diag>,
}

impl Lists {
    pub(super) fn of(program: &Program) -> Lists {
        let mut lists = Lists::default();
        for gress in Gress::ALL {
            for request in &program.pipe(gress).deparser.requests {
                for part in parts(program, request) {
                    lists.part(program, gress, request, &part);
                }
            }
        }
        // A field that shares containers somewhere cannot have separate ones elsewhere.
        let shares = |f: &Field| lists.shared.iter().any(|s| s.fields.iter().any(|(g, _)| f == g));
        if let Some(&field) = lists.alone.iter().find(|f| shares(f)) {
            lists.found.push(twice(program, field));
        }
        lists
    }

    fn part(&mut self, program: &Program, gress: Gress, request: &Request, part: &[ListItem]) {
        let fields: Vec<(Field, u16, u16)> = part
            .iter()
            .filter_map(|item| match *item {
                ListItem::Bits(f, hi, lo) => Some((f, hi, lo)),
                ListItem::Zeros(_) => None,
            })
            .collect();
        let Some(&(first, hi, lo)) = fields.first() else { return };
        if let Home::Header(header) = program.fields[first].home {
            match header_bytes(program, header, part) {
                Some((from, to)) => self.header_cuts.extend([(header, from), (header, to)]),
                None => self.found.push(broken(program, request, first)),
            }
            return;
        }
        let right = matches!(part.last(), Some(ListItem::Bits(..)));
        if right && fields.len() == 1 {
            self.alone.push(first);
            let width = program.fields[first].width;
            self.field_cuts
                .extend([lo, hi + 1].into_iter().filter(|bit| (1..width).contains(bit)).map(|b| (first, b)));
            return;
        }
        let metadata = |f: Field| program.fields[f].home == Home::Metadata;
        let whole =
            |&(f, hi, lo): &(Field, u16, u16)| metadata(f) && lo == 0 && hi + 1 == program.fields[f].width;
        if let Some((f, ..)) = fields.iter().find(|f| !whole(f)) {
            self.found.push(broken(program, request, *f));
            return;
        }
        let shared = share(gress, part);
        if self.shared.contains(&shared) {
            return;
        }
        let known = |f: Field| self.shared.iter().any(|s| s.fields.iter().any(|(g, _)| *g == f));
        let within = |f: Field| shared.fields.iter().filter(|(g, _)| *g == f).count() > 1;
        match shared.fields.iter().find(|(f, _)| known(*f) || within(*f)) {
            Some(&(field, _)) => self.found.push(twice(program, field)),
            None => self.shared.push(shared),
        }
    }

    /// Returns true if a field has separate containers.
    pub(super) fn is_alone(&self, field: Field) -> bool {
        self.alone.contains(&field)
    }

    /// Returns true if a field shares containers with its neighbours in a list.
    pub(super) fn is_shared(&self, field: Field) -> bool {
        self.shared.iter().any(|s| s.fields.iter().any(|(f, _)| *f == field))
    }
}

/// Divides a list where a field and a byte end together.
fn parts(program: &Program, request: &Request) -> Vec<Vec<ListItem>> {
    let (mut list, mut part, mut bits) = (Vec::new(), Vec::new(), 0u32);
    for item in request.data.iter().filter_map(|e| ListItem::of(program, e)) {
        part.push(item);
        bits += u32::from(item.width());
        if bits.is_multiple_of(8) {
            list.push(std::mem::take(&mut part));
        }
    }
    list.push(part);
    list
}

/// Returns the bytes of a header that a part is, from the first to the one after the last.
fn header_bytes(program: &Program, header: Header, part: &[ListItem]) -> Option<(u32, u32)> {
    let mut range: Option<(u32, u32)> = None;
    for item in part {
        let ListItem::Bits(f, hi, lo) = *item else { return None };
        if program.fields[f].home != Home::Header(header) {
            return None;
        }
        let end = program.field_offset(header, f)? + u32::from(program.fields[f].width) - u32::from(lo);
        let start = end - u32::from(hi + 1 - lo);
        match &mut range {
            Some((_, to)) if *to == start => *to = end,
            Some(_) => return None,
            None => range = Some((start, end)),
        }
    }
    let (from, to) = range?;
    (from.is_multiple_of(8) && to.is_multiple_of(8)).then_some((from / 8, to / 8))
}

fn share(gress: Gress, part: &[ListItem]) -> Shared {
    let bits: u16 = part.iter().map(|item| item.width()).sum();
    // Bytes of zeros in front need no container.
    let zeros = match part.first() {
        Some(ListItem::Zeros(width)) => width / 8 * 8,
        _ => 0,
    };
    let (mut rest, mut fields) = (bits, Vec::new());
    for item in part {
        rest -= item.width();
        if let ListItem::Bits(f, ..) = *item {
            fields.push((f, rest));
        }
    }
    Shared { gress, bytes: (bits - zeros).div_ceil(8), fields }
}

fn broken(program: &Program, request: &Request, field: Field) -> Diag {
    let (data, word) = (&program.fields[field], request.kind.word());
    let text = format!(
        "a {word} carries `{}` beside bits that its containers cannot have; lists name whole containers",
        data.name
    );
    let help = "list whole bytes of headers in their order, or copy the field to metadata";
    Diag::error(request.loc, text).also(data.loc, "the field").help(help)
}

fn twice(program: &Program, field: Field) -> Diag {
    let data = &program.fields[field];
    let text = format!(
        "`{}` has different neighbours in two places of lists, which name whole containers",
        data.name
    );
    let help = "give the field the same neighbours and zeros everywhere, or copy it to a second field";
    let at: Loc = data.loc;
    Diag::error(at, text).help(help)
}
