//! Containers that hold several fields of a header, because an instruction wants a larger container than one field fills.
//!
//! Numbers have containers of fixed sizes, and all fields that are moved to or from a number, or combined with it, follow
//! it: a metadata field is padded, and a field of a header takes its neighbours with it. A move then rotates the field to
//! its place (`deposit-field`), and a write of the field leaves its neighbours as they are.

use super::cuts::Cuts;
use super::demand::Demands;
use super::layout::Seg;
use sluice_ir::{Field, Header, Home, Program};
use std::collections::BTreeMap;

/// Returns the container size of each field of at most 32 bits that is linked to a number whose size is fixed. Wider fields
/// pass nothing on, because their parts can have several sizes.
pub(super) fn sizes(program: &Program, demands: &Demands) -> BTreeMap<Field, u8> {
    let narrow = |f: Field| program.fields[f].width <= 32;
    let mut sizes: BTreeMap<Field, u8> = BTreeMap::new();
    for (f, d) in demands.fields.iter().filter(|(f, d)| d.number && narrow(*f)) {
        match (program.fields[f].home, program.fields[f].width) {
            (Home::Header(_), width @ (8 | 16 | 32)) => drop(sizes.insert(f, width as u8)),
            (Home::Metadata, 17..) if !d.copied && !d.listed => drop(sizes.insert(f, 32)),
            _ => {}
        }
    }
    let mut open: Vec<Field> = sizes.keys().copied().collect();
    while let Some(field) = open.pop() {
        let size = sizes[&field];
        for w in &demands.writes {
            let linked = w.sources().map(|(src, ..)| src).filter(|src| *src == field || w.dst == field);
            for other in linked.flat_map(|src| [src, w.dst]) {
                let fits = narrow(other) && program.fields[other].width <= u16::from(size);
                if fits && !sizes.contains_key(&other) {
                    sizes.insert(other, size);
                    open.push(other);
                }
            }
        }
    }
    sizes
}

impl Cuts {
    /// Gives fields that follow numbers containers of the numbers' sizes, as far as their neighbours allow it.
    pub(super) fn follow_numbers(&mut self, program: &Program, demands: &Demands) {
        for (field, bits) in self.sized.clone() {
            match program.fields[field].home {
                Home::Header(header) => drop(self.join_field(program, demands, header, field, bits)),
                _ => drop(self.raise(program, demands, (field, 0), bits)),
            }
        }
    }

    /// Joins the bytes of a header's part with neighbours, so that they fill a container of this size; returns false if
    /// that is impossible.
    pub(super) fn join(
        &mut self,
        program: &Program,
        demands: &Demands,
        small: (Field, Seg),
        bits: u8,
    ) -> bool {
        let Home::Header(header) = program.fields[small.0].home else { return false };
        self.join_field(program, demands, header, small.0, bits)
    }

    /// Joins the bytes of a part of a header's wide field with neighbours, as [`Cuts::join`] does with a whole field.
    pub(super) fn join_part(
        &mut self,
        program: &Program,
        demands: &Demands,
        (field, part): (Field, Seg),
        bits: u8,
    ) -> bool {
        let (Home::Header(header), width @ 33..) = (program.fields[field].home, program.fields[field].width)
        else {
            return false;
        };
        let Some(offset) = program.field_offset(header, field) else { return false };
        let end = offset + u32::from(width);
        let from = (end - u32::from(part.lo + part.width)) / 8;
        self.join_bytes(program, demands, header, (from, (end - u32::from(part.lo)).div_ceil(8)), bits)
    }

    /// Joins the first bytes that hold a field and fill a container of this size.
    fn join_field(
        &mut self,
        program: &Program,
        demands: &Demands,
        header: Header,
        field: Field,
        bits: u8,
    ) -> bool {
        let Some(offset) = program.field_offset(header, field) else { return false };
        let (from, to) = (offset / 8, (offset + u32::from(program.fields[field].width)).div_ceil(8));
        self.join_bytes(program, demands, header, (from, to), bits)
    }

    /// Joins these bytes of a header with neighbours, so that they fill a container of this size; returns false if that is
    /// impossible.
    pub(super) fn join_bytes(
        &mut self,
        program: &Program,
        demands: &Demands,
        header: Header,
        (from, to): (u32, u32),
        bits: u8,
    ) -> bool {
        let size = u32::from(bits) / 8;
        let end = header_bytes(program, header);
        if to - from > size
            || self.joins.iter().any(|((h, at), n)| *h == header && *at <= from && to <= at + n)
        {
            return false;
        }
        let starts = to.saturating_sub(size)..=from.min(end.saturating_sub(size));
        let best =
            starts.filter_map(|at| Some((self.joinable(program, demands, header, (at, size))?, at))).min();
        let Some((_, at)) = best else { return false };
        self.joins.insert((header, at), size);
        true
    }

    /// Returns how badly these bytes of a header suit as the content of one container, or `None` if they cannot be it:
    /// fields that are cut at the ends, and fields inside that do not want a container of this size.
    fn joinable(
        &self,
        program: &Program,
        demands: &Demands,
        header: Header,
        (at, size): (u32, u32),
    ) -> Option<(usize, usize, bool)> {
        let taken = self.joins.iter().any(|((h, a), n)| *h == header && *a < at + size && at < a + n);
        let limited = (at..at + size).any(|b| self.header_cap(header, b) < size);
        let listed =
            demands.lists.header_cuts.iter().any(|(h, b)| *h == header && (at + 1..at + size).contains(b));
        if taken || limited || listed || at + size > header_bytes(program, header) {
            return None;
        }
        let (mut cut, mut other, mut sums) = (0, 0, None);
        let mut start = 0;
        for &f in &program.headers[header].fields {
            let (from, to) = (start, start + u32::from(program.fields[f].width));
            start = to;
            if to <= at * 8 || from >= (at + size) * 8 {
                continue;
            }
            let d = &demands.fields[f];
            let whole = from >= at * 8 && to <= (at + size) * 8;
            let alone = d.own || d.copied || d.number || demands.author.is_solitary(f);
            let fills = from == at * 8 && to == (at + size) * 8;
            let wants = self.sized.get(&f).copied();
            let differs = wants.is_some_and(|bits| !whole || u32::from(bits) != size * 8);
            if alone && !fills || differs || sums.is_some_and(|s: &[usize]| s != d.sums.as_slice()) {
                return None;
            }
            sums = Some(d.sums.as_slice());
            cut += usize::from(!whole);
            other += usize::from(wants.is_none());
        }
        Some((cut, other, !at.is_multiple_of(size)))
    }

    /// Returns true if a container of several fields begins at this byte of a header.
    pub(super) fn is_joined(&self, header: Header, byte: u32) -> bool {
        self.joins.contains_key(&(header, byte))
    }

    /// Moves the boundaries of a header's byte ranges, so that joined bytes are one range.
    pub(super) fn join_runs(&self, header: Header, runs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let mut ends: Vec<u32> = runs.iter().flat_map(|(from, to)| [*from, *to]).collect();
        for ((_, at), size) in self.joins.range((header, 0)..=(header, u32::MAX)) {
            ends.retain(|b| *b <= *at || *b >= at + size);
            ends.extend([*at, at + size]);
        }
        ends.sort_unstable();
        ends.dedup();
        ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

fn header_bytes(program: &Program, header: Header) -> u32 {
    program.headers[header].fields.iter().map(|f| u32::from(program.fields[*f].width)).sum::<u32>() / 8
}
