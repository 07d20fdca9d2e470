//! Pieces: the content of one container each, before containers are assigned.

use super::cuts::Cuts;
use super::demand::Demands;
use super::lists::Shared;
use super::overlay::Turn;
use sluice_asic::gress::Gress;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Field, Header, Home, Program};

/// Origin of a piece's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PieceHome {
    /// Bytes of a header, from this byte on.
    Header(Header, u32),
    /// One metadata or intrinsic field, or a part of it.
    Alone(Field),
    /// Small metadata fields together.
    Pack,
    /// Metadata fields in the order of a list that a deparser sends.
    List,
    /// Validity bits.
    Pov,
}

/// Content of one container that is not assigned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) gress: Gress,
    pub(super) home: PieceHome,
    /// Container size: 8, 16 or 32.
    pub(super) bits: u8,
}

/// Bits of a field in a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seg {
    pub(super) lo: u16,
    pub(super) width: u16,
    pub(super) piece: usize,
    /// Bit of the piece that holds bit `lo`.
    pub(super) at: u8,
}

/// All pieces and, per field, its segments, most significant first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) pieces: Vec<Piece>,
    pub(super) segs: EntityMap<Field, Vec<Seg>>,
    /// Validity bits: piece and bit.
    pub(super) valid: EntityMap<Header, Option<(usize, u8)>>,
}

impl Layout {
    /// Lays out headers and the fields with separate containers, cut as `cuts` says. Small metadata fields and
    /// validity bits are added later, by [`super::pack`].
    pub(super) fn of(program: &Program, demands: &Demands, cuts: &Cuts) -> Layout {
        let mut layout = Layout {
            pieces: Vec::new(),
            segs: program.fields.values().map(|_| Vec::new()).collect(),
            valid: program.headers.values().map(|_| None).collect(),
        };
        // Headers of requests are used without a validity bit.
        let used = |h: &Header| program.headers[*h].fields.iter().any(|f| demands.fields[*f].used);
        for header in program.headers.keys().filter(used) {
            layout.header(program, demands, cuts, header);
        }
        for shared in &demands.lists.shared {
            layout.shared(program, shared);
        }
        for (field, _) in program.fields.iter().filter(|(f, _)| stands_alone(program, demands, *f)) {
            layout.alone(program, demands, cuts, field);
        }
        layout.beside(program, demands);
        layout
    }

    fn header(&mut self, program: &Program, demands: &Demands, cuts: &Cuts, header: Header) {
        let gress = program.headers[header].gress;
        for (mut at, end) in runs(program, demands, cuts, header) {
            while at < end {
                let fits = |n: &u32| at + n <= end && (at..at + n).all(|b| cuts.header_cap(header, b) >= *n);
                let bytes = [4, 2].into_iter().find(fits).unwrap_or(1);
                let piece = self.push(gress, PieceHome::Header(header, at), bytes as u8 * 8);
                self.cover(program, header, piece, at * 8, (at + bytes) * 8);
                at += bytes;
            }
        }
    }

    /// Gives wire bits `from..to` of a header to a piece.
    fn cover(&mut self, program: &Program, header: Header, piece: usize, from: u32, to: u32) {
        let mut start = 0;
        for &f in &program.headers[header].fields {
            let end = start + u32::from(program.fields[f].width);
            let (s, e) = (start.max(from), end.min(to));
            if s < e {
                let seg = Seg { lo: (end - e) as u16, width: (e - s) as u16, piece, at: (to - e) as u8 };
                self.segs[f].push(seg);
            }
            start = end;
        }
    }

    /// Splits a header piece in two halves; returns the new piece, or `None` if it has one byte. Headers that share the
    /// piece are split at the same bit.
    pub(super) fn halve(&mut self, piece: usize) -> Option<usize> {
        let Piece { gress, home: PieceHome::Header(header, byte), bits: bits @ (16 | 32) } =
            self.pieces[piece]
        else {
            return None;
        };
        let half = bits / 2;
        self.pieces[piece].bits = half;
        let second = self.push(gress, PieceHome::Header(header, byte + u32::from(half) / 8), half);
        for segs in self.segs.values_mut().filter(|segs| segs.iter().any(|s| s.piece == piece)) {
            *segs = segs.iter().flat_map(|s| halves(*s, piece, second, half)).flatten().collect();
        }
        Some(second)
    }

    /// Lays out fields that share bytes in a list.
    fn shared(&mut self, program: &Program, shared: &Shared) {
        let mut below = shared.bytes * 8;
        while below > 0 {
            let bytes = [4, 2].into_iter().find(|n| n * 8 <= below).unwrap_or(1);
            let piece = self.push(shared.gress, PieceHome::List, bytes as u8 * 8);
            let above = below;
            below -= bytes * 8;
            for &(field, at) in &shared.fields {
                let (from, to) = (at.max(below), (at + program.fields[field].width).min(above));
                if from < to {
                    let seg = Seg { lo: from - at, width: to - from, piece, at: (from - below) as u8 };
                    self.segs[field].push(seg);
                }
            }
        }
    }

    fn alone(&mut self, program: &Program, demands: &Demands, cuts: &Cuts, field: Field) {
        let data = &program.fields[field];
        // Extractors fill whole containers, so a field that the parser copies is not padded.
        // So does a list of a request, except for the bits above a field.
        let whole = demands.fields[field].copied || demands.fields[field].listed;
        let padded = if whole { 0 } else { 32 };
        let carries = demands.carries(program, field);
        if let Some(at) = demands.fields[field].at {
            let piece =
                self.push(data.gress, PieceHome::Alone(field), container_bits(data.width + u16::from(at)));
            self.segs[field].push(Seg { lo: 0, width: data.width, piece, at });
            return;
        }
        let list = if carries {
            vec![(0, 32), (32, data.width - 32)]
        } else {
            parts(data.width, padded, cuts.field_cuts(field))
        };
        for (lo, width) in list.into_iter().rev() {
            let bits = if carries { 32 } else { container_bits(width).max(cuts.raised(field, lo)) };
            let piece = self.push(data.gress, PieceHome::Alone(field), bits);
            self.segs[field].push(Seg { lo, width, piece, at: 0 });
        }
    }

    /// Moves guests into the pieces of their hosts and drops the pieces that they leave. Pieces of packed fields and
    /// validity bits must not exist yet.
    pub(super) fn take_turns(&mut self, turns: &[Turn]) {
        for turn in turns {
            self.segs[turn.guest] = self.segs[turn.host].clone();
        }
        self.drop_empty();
    }

    /// Drops the pieces that hold no segment, and renumbers the others.
    pub(super) fn drop_empty(&mut self) {
        let mut kept = vec![false; self.pieces.len()];
        self.segs.values().flatten().for_each(|s| kept[s.piece] = true);
        let renamed: Vec<usize> = kept
            .iter()
            .scan(0, |next, kept| {
                let name = *next;
                *next += usize::from(*kept);
                Some(name)
            })
            .collect();
        let mut at = 0;
        self.pieces.retain(|_| {
            at += 1;
            kept[at - 1]
        });
        self.segs.values_mut().flatten().for_each(|s| s.piece = renamed[s.piece]);
    }

    pub(super) fn push(&mut self, gress: Gress, home: PieceHome, bits: u8) -> usize {
        self.pieces.push(Piece { gress, home, bits });
        self.pieces.len() - 1
    }
}

/// Returns the parts of a segment in the upper half of a piece, which keeps its number, and in the lower half, which becomes
/// the piece `second`. A segment of another piece stays as it is.
fn halves(s: Seg, piece: usize, second: usize, half: u8) -> [Option<Seg>; 2] {
    let middle = u16::from(half);
    let end = u16::from(s.at) + s.width;
    if s.piece != piece {
        [Some(s), None]
    } else if end <= middle {
        [None, Some(Seg { piece: second, ..s })]
    } else if s.at >= half {
        [Some(Seg { at: s.at - half, ..s }), None]
    } else {
        let below = middle - u16::from(s.at);
        let upper = Seg { lo: s.lo + below, width: s.width - below, piece, at: 0 };
        [Some(upper), Some(Seg { width: below, piece: second, ..s })]
    }
}

/// Returns the size of the smallest container that holds this many bits (at most 32).
pub(super) fn container_bits(width: u16) -> u8 {
    match width {
        0..=8 => 8,
        9..=16 => 16,
        _ => 32,
    }
}

/// Returns true if a field outside headers shares its containers with no other field.
pub(super) fn stands_alone(program: &Program, demands: &Demands, field: Field) -> bool {
    let (data, d) = (&program.fields[field], &demands.fields[field]);
    d.used
        && !d.shared
        && d.beside.is_none()
        && match data.home {
            Home::Header(_) => false,
            Home::Intrinsic(_) | Home::PortMetadata => true,
            Home::Metadata => {
                let author = &demands.author;
                let demanded = author.is_solitary(field) || author.divides(field);
                demanded || d.moved || d.own || d.copied || d.operand || d.listed || data.width > 16
            }
        }
}

/// Cuts a field outside headers at the given bits, and parts of more than `padded` bits like wire bytes: 4, 2, then 1
/// bytes from the most significant end. Returns lowest bit and width of each part, the lowest part first.
fn parts(width: u16, padded: u16, cuts: impl Iterator<Item = u16>) -> Vec<(u16, u16)> {
    let mut list = Vec::new();
    let mut lo = 0;
    for hi in cuts.filter(|c| *c < width).chain([width]) {
        let mut sizes = Vec::new();
        let mut bytes = (hi - lo).div_ceil(8);
        if hi - lo <= padded {
            sizes.push(bytes);
            bytes = 0;
        }
        while bytes > 0 {
            let n = [4, 2].into_iter().find(|n| *n <= bytes).unwrap_or(1);
            sizes.push(n);
            bytes -= n;
        }
        for n in sizes.into_iter().rev() {
            let w = (n * 8).min(hi - lo);
            list.push((lo, w));
            lo += w;
        }
    }
    list
}

/// Returns the byte ranges of a header that are divided into containers separately: no container crosses a boundary.
///
/// Boundaries are the ends of fields on byte boundaries and the demanded cuts. Neighbours that the MAU never uses and
/// that the same checksums sum are joined, to save containers.
fn runs(program: &Program, demands: &Demands, cuts: &Cuts, header: Header) -> Vec<(u32, u32)> {
    let mut joined: Vec<(u32, u32, Option<&[usize]>)> = Vec::new();
    let (mut from, mut bit) = (0, 0);
    let mut plain = None;
    let fields = &program.headers[header].fields;
    for (i, &f) in fields.iter().enumerate() {
        let d = &demands.fields[f];
        let this = (d.passes_through() && !d.own && !d.copied).then_some(d.sums.as_slice());
        plain = if bit == from * 8 || plain == this { this } else { None };
        bit += u32::from(program.fields[f].width);
        if bit % 8 != 0 && i + 1 < fields.len() {
            continue;
        }
        let to = bit.div_ceil(8);
        match joined.last_mut() {
            Some(last) if plain.is_some() && last.2 == plain => last.1 = to,
            _ => joined.push((from, to, plain)),
        }
        from = to;
    }
    let split = |(from, to, _): (u32, u32, Option<&[usize]>)| {
        let mut ends: Vec<u32> = cuts.header_cuts(header).filter(|c| (from + 1..to).contains(c)).collect();
        ends.push(to);
        let starts: Vec<u32> = std::iter::once(from).chain(ends.iter().copied()).collect();
        starts.into_iter().zip(ends).collect::<Vec<_>>()
    };
    cuts.join_runs(header, joined.into_iter().flat_map(split).collect())
}
