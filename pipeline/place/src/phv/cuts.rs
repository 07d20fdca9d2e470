//! Cuts of headers and wide fields, so that the operands of an instruction are in containers of one size.
//!
//! An instruction reads only containers of its destination's MAU group, and a group has one size: fields that are
//! copied to each other must be cut alike. The search starts from the largest containers and refines until nothing
//! changes. Each step makes a demand stricter, so the search ends.

use super::demand::Demands;
use super::joins::sizes;
use super::layout::{Layout, PieceHome, Seg};
use super::moves::{Move, Shape};
use sluice_ir::{Action, Field, Header, Home, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Cuts and sizes demanded so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cuts {
    header_cuts: BTreeSet<(Header, u32)>,
    header_caps: BTreeMap<(Header, u32), u8>,
    field_cuts: BTreeSet<(Field, u16)>,
    /// Least container size of the part that starts at this bit.
    raised: BTreeMap<(Field, u16), u8>,
    /// Largest size that a part may be raised to.
    ceiling: BTreeMap<(Field, u16), u8>,
    /// Bytes of headers that one container holds although a field ends among them: first byte, and their number.
    pub(super) joins: BTreeMap<(Header, u32), u32>,
    /// Container size of fields that are linked to a number, which decides it.
    pub(super) sized: BTreeMap<Field, u8>,
    /// Fields of headers take neighbours along before other fields are cut.
    wide: bool,
    /// A field is not cut inside a part that an action copies and a container can hold.
    undivided: bool,
    /// A field that one action fills from more sources than an instruction has is not cut, because these sources may be
    /// neighbours in one container.
    together: bool,
}

/// Two segments that correspond in some copy, with the bounds of the copy in the first one's field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: (Field, Seg),
    pub(super) b: (Field, Seg),
    /// Bits of `a`'s field that correspond to bits of `b`'s segment.
    a_range: (u16, u16),
    b_range: (u16, u16),
}

impl Cuts {
    /// Returns the most bytes of a container that holds this header byte.
    pub(super) fn header_cap(&self, header: Header, byte: u32) -> u32 {
        self.header_caps.get(&(header, byte)).map_or(4, |c| u32::from(*c))
    }

    pub(super) fn header_cuts(&self, header: Header) -> impl Iterator<Item = u32> {
        self.header_cuts.range((header, 0)..=(header, u32::MAX)).map(|c| c.1)
    }

    pub(super) fn field_cuts(&self, field: Field) -> impl Iterator<Item = u16> {
        self.field_cuts.range((field, 0)..=(field, u16::MAX)).map(|c| c.1)
    }

    pub(super) fn raised(&self, field: Field, lo: u16) -> u8 {
        self.raised.get(&(field, lo)).copied().unwrap_or(0)
    }

    /// Returns the cuts that suit every copy of the program, as far as such cuts exist.
    pub(super) fn settle(program: &Program, demands: &Demands) -> Cuts {
        Cuts::default().settled(program, demands)
    }

    /// Returns the cuts with which fields that are linked to numbers have containers of the numbers' sizes. They suit
    /// programs in which a field that has other sizes nearby must follow a number.
    pub(super) fn settle_by_numbers(program: &Program, demands: &Demands) -> Cuts {
        let mut cuts = Cuts { sized: sizes(program, demands), ..Cuts::default() };
        cuts.follow_numbers(program, demands);
        cuts.settled(program, demands)
    }

    /// Like [`Cuts::settle`], but fields of headers take neighbours along before a partner is cut: fewer and larger
    /// containers.
    pub(super) fn settle_wide(program: &Program, demands: &Demands) -> Cuts {
        Cuts { wide: true, ..Cuts::default() }.settled(program, demands)
    }

    /// Like [`Cuts::settle_wide`], but fields of a header that one action puts side by side into a field are in one container:
    /// one source for the action.
    pub(super) fn settle_together(program: &Program, demands: &Demands) -> Cuts {
        Cuts { wide: true, together: true, ..Cuts::default() }.settled(program, demands)
    }

    /// Like [`Cuts::settle`], but actions that copy overlapping parts of one field have them in one container: fewer sources
    /// for each action.
    pub(super) fn settle_undivided(program: &Program, demands: &Demands) -> Cuts {
        Cuts { undivided: true, ..Cuts::default() }.settled(program, demands)
    }

    /// Demands a cut before a byte of a header.
    pub(super) fn cut_header(&mut self, header: Header, byte: u32) {
        self.header_cuts.insert((header, byte));
    }

    /// Puts bytes of a header, with neighbours if they do not fill it, into a container of this size.
    pub(super) fn fix_bytes(
        &mut self,
        program: &Program,
        demands: &Demands,
        header: Header,
        (from, to): (u32, u32),
        bits: u8,
    ) {
        for byte in from..to {
            self.header_caps.insert((header, byte), bits / 8);
        }
        if to - from == u32::from(bits) / 8 {
            self.header_cuts.extend([(header, from), (header, to)]);
        } else {
            self.join_bytes(program, demands, header, (from, to), bits);
        }
    }

    /// Puts the part of a metadata field from this bit on into a container of this size.
    pub(super) fn fix_part(&mut self, field: Field, lo: u16, bits: u8) {
        if lo > 0 {
            self.field_cuts.insert((field, lo));
        }
        self.raised.insert((field, lo), bits);
        self.ceiling.insert((field, lo), bits);
    }

    fn settled(mut self, program: &Program, demands: &Demands) -> Cuts {
        let cuts = &mut self;
        cuts.obey(program, demands);
        // A number in two containers is cut at bit 32, and so are the fields that are copied to or from it.
        let metadata = |f: &Field| program.fields[*f].home == Home::Metadata;
        for field in program.fields.keys().filter(|f| metadata(f) && demands.carries(program, *f)) {
            cuts.field_cuts.insert((field, 32));
        }
        for (field, demand) in demands.fields.iter() {
            if let (true, Home::Header(header)) = (demand.top, program.fields[field].home) {
                let byte = program.field_offset(header, field).unwrap_or(0) / 8;
                cuts.header_cuts.extend([(header, byte), (header, byte + 1)]);
            }
            for part in &demand.parts {
                cuts.cut(program, demands, field, part.lo);
                cuts.cut(program, demands, field, part.end());
            }
        }
        // Whole bytes that the parser copies fill their containers.
        for l in demands.landings.iter().filter(|l| l.is_whole() && demands.fields[l.to].at.is_none()) {
            cuts.cut(program, demands, l.to, l.lo);
            cuts.cut(program, demands, l.to, l.lo + l.width);
        }
        // Bits copied to a byte of a header come with that byte alone.
        for l in demands.landings.iter().filter(|l| !l.is_whole()) {
            let Home::Header(header) = program.fields[l.to].home else { continue };
            if let Some((from, to)) = super::mates::reach(program, l) {
                cuts.header_cuts.extend([(header, from / 8), (header, to / 8)]);
            }
        }
        for w in &demands.writes {
            for (src, lo, m) in w.sources() {
                // The high word of a number comes with padding.
                let word = demands.carries(program, src) && m.width == program.fields[src].width;
                let width = if word { m.width.next_multiple_of(32) } else { m.width };
                cuts.ends(program, demands, w.dst, m.lo, width);
                cuts.ends(program, demands, src, lo, m.width);
            }
        }
        if !cuts.together {
            cuts.gathered(program, demands);
        }
        cuts.header_cuts.extend(&demands.lists.header_cuts);
        cuts.field_cuts.extend(&demands.lists.field_cuts);
        // Each change looks at all copies again.
        let looked = demands.writes.len() + demands.fields.len();
        while demands.steps.take(looked) && cuts.mirror(program, demands) {}
        while demands.steps.take(looked) && cuts.refine(program, demands) {}
        self
    }

    /// Cuts a field that is wider than a container at the ends of the part that is copied.
    fn ends(&mut self, program: &Program, demands: &Demands, field: Field, lo: u16, width: u16) {
        if program.fields[field].width > 32 {
            let metadata = program.fields[field].home == Home::Metadata;
            let bytes = if metadata && demands.takes_bytes(program, field) { 8 } else { 1 };
            for bit in [lo / bytes * bytes, (lo + width).next_multiple_of(bytes)] {
                if !self.undivided || !is_inside_copy(demands, field, bit) {
                    self.cut(program, demands, field, bit);
                }
            }
        }
    }

    /// Cuts the fields that one action fills from more sources than an instruction has, where the sources change.
    fn gathered(&mut self, program: &Program, demands: &Demands) {
        let mut copies: BTreeMap<(Action, Field), Vec<Move>> = BTreeMap::new();
        for w in demands.writes.iter().filter(|w| w.shape == Shape::Copy) {
            copies.entry((w.action, w.dst)).or_default().extend(&w.moves);
        }
        for ((_, field), moves) in copies {
            let sources: BTreeSet<Option<Field>> = moves.iter().map(|m| m.field()).collect();
            if sources.len() > 2 && program.fields[field].width <= 32 {
                for m in moves {
                    self.cut(program, demands, field, m.lo);
                    self.cut(program, demands, field, m.lo + m.width);
                }
            }
        }
    }

    /// Copies the cuts of wide fields to the fields that are copied to or from them; returns true if a cut is new.
    fn mirror(&mut self, program: &Program, demands: &Demands) -> bool {
        let mut changed = false;
        for w in &demands.writes {
            for (src, lo, m) in w.sources() {
                let wide = |f: Field| program.fields[f].width > 32;
                if !wide(src) || !wide(w.dst) {
                    continue;
                }
                for (from, at, to, to_at) in [(src, lo, w.dst, m.lo), (w.dst, m.lo, src, lo)] {
                    let inside: Vec<u16> = self
                        .cut_bits(program, from)
                        .into_iter()
                        .filter(|c| *c > at && *c < at + m.width)
                        .collect();
                    for c in inside {
                        changed |= self.cut(program, demands, to, c - at + to_at);
                    }
                }
            }
        }
        changed
    }

    /// Returns the bits at which a field is cut on demand.
    fn cut_bits(&self, program: &Program, field: Field) -> Vec<u16> {
        let data = &program.fields[field];
        let Home::Header(header) = data.home else { return self.field_cuts(field).collect() };
        let end = program.field_offset(header, field).unwrap_or(0) + u32::from(data.width);
        self.header_cuts(header).filter(|c| c * 8 < end).map(|c| (end - c * 8).min(255) as u16).collect()
    }

    /// Demands a cut below bit `bit` of a field; returns true if the cut is new and possible.
    fn cut(&mut self, program: &Program, demands: &Demands, field: Field, bit: u16) -> bool {
        let data = &program.fields[field];
        // Lists of requests and extractors take whole bytes of a field.
        let bytes = demands.takes_bytes(program, field) && !bit.is_multiple_of(8);
        let listed = demands.fields[field].shared || data.home == Home::Metadata && bytes;
        let divided = demands.fields[field].parts.iter().any(|part| part.is_divided_at(bit));
        let whole = demands.fields[field].number
            || divided
            || self.sized.contains_key(&field)
            || !demands.author.may_cut(field, bit);
        if bit == 0 || bit >= data.width || whole || listed {
            return false;
        }
        let Home::Header(header) = data.home else { return self.field_cuts.insert((field, bit)) };
        let end = program.field_offset(header, field).unwrap_or(0) + u32::from(data.width);
        let wire = end - u32::from(bit);
        wire.is_multiple_of(8) && self.header_cuts.insert((header, wire / 8))
    }

    /// Refines the first copy between sizes that can be refined; returns true if a demand changed.
    fn refine(&mut self, program: &Program, demands: &Demands) -> bool {
        let layout = Layout::of(program, demands, self);
        let differ = |p: &Pair| layout.pieces[p.a.1.piece].bits != layout.pieces[p.b.1.piece].bits;
        pairs(demands, &layout).filter(differ).any(|p| self.mend(program, demands, &layout, p))
    }

    /// Makes the sizes of two containers more alike; returns false if that is impossible.
    fn mend(&mut self, program: &Program, demands: &Demands, layout: &Layout, pair: Pair) -> bool {
        let size = |s: (Field, Seg)| layout.pieces[s.1.piece].bits;
        let ((small, big), range) = if size(pair.a) < size(pair.b) {
            ((pair.a, pair.b), pair.b_range)
        } else {
            ((pair.b, pair.a), pair.a_range)
        };
        self.raise(program, demands, (small.0, small.1.lo), size(big))
            || self.wide && self.join(program, demands, small, size(big))
            || self.shrink_header(demands, layout, big, size(small))
            || !demands.author.sizes(big.0) && self.lower(big, size(small))
            || self.cut_both(program, demands, big.0, range)
            || self.join(program, demands, small, size(big))
            || self.join_part(program, demands, small, size(big))
    }

    /// Cuts a field outside headers at both ends of a range; returns true if either cut is new.
    fn cut_both(&mut self, program: &Program, demands: &Demands, field: Field, (lo, hi): (u16, u16)) -> bool {
        if matches!(program.fields[field].home, Home::Header(_)) {
            return false;
        }
        let below = self.cut(program, demands, field, lo);
        self.cut(program, demands, field, hi) || below
    }

    /// Puts a metadata field into a larger container than it needs; returns false if it may not.
    pub(super) fn raise(
        &mut self,
        program: &Program,
        demands: &Demands,
        small: (Field, u16),
        bits: u8,
    ) -> bool {
        let key = small;
        let home = match program.fields[small.0].home {
            Home::Metadata => true,
            // The extractor takes the bytes beside the part as well. A move leaves them out, other operations cannot.
            Home::Intrinsic(_) => program.fields[small.0].width > 32 && demands.only_copied(small.0),
            Home::Header(_) | Home::PortMetadata => false,
        };
        let may = home
            && !demands.fields[small.0].copied
            && demands.fields[small.0].at.is_none()
            && !demands.fields[small.0].listed
            && !demands.fields[small.0].shared
            && !demands.carries(program, small.0)
            && !demands.sees_top(small.0)
            && self.ceiling.get(&key).is_none_or(|c| bits <= *c);
        if may {
            self.raised.insert(key, bits);
        }
        may
    }

    /// Takes back a raise, for good, if another partner cannot follow; returns true if there was one.
    fn lower(&mut self, big: (Field, Seg), bits: u8) -> bool {
        let key = (big.0, big.1.lo);
        let was_raised = self.raised.remove(&key).is_some();
        if was_raised {
            self.ceiling.insert(key, bits);
        }
        was_raised
    }

    fn shrink_header(&mut self, demands: &Demands, layout: &Layout, big: (Field, Seg), bits: u8) -> bool {
        let piece = &layout.pieces[big.1.piece];
        let PieceHome::Header(header, byte) = piece.home else { return false };
        let demand = &demands.fields[big.0];
        let number = demand.number || demand.parts.iter().any(|part| part.number && part.lo == big.1.lo);
        let fixed = demands.author.sizes_piece(layout, big.1.piece);
        if number || fixed || self.sized.contains_key(&big.0) || self.is_joined(header, byte) {
            return false;
        }
        for b in byte..byte + u32::from(piece.bits / 8) {
            self.header_caps.insert((header, b), bits / 8);
        }
        true
    }
}

/// Returns true if some action copies bits on both sides of this bit of a field, at most as many as a container has.
fn is_inside_copy(demands: &Demands, field: Field, bit: u16) -> bool {
    let inside = |lo: u16, width: u16| width <= 32 && (lo + 1..lo + width).contains(&bit);
    demands
        .writes
        .iter()
        .flat_map(|w| w.sources().map(move |(src, lo, m)| (w.dst, src, lo, m)))
        .any(|(dst, src, lo, m)| dst == field && inside(m.lo, m.width) || src == field && inside(lo, m.width))
}

/// Returns every pair of segments that one instruction combines.
pub(super) fn pairs<'a>(demands: &'a Demands, layout: &'a Layout) -> impl Iterator<Item = Pair> + 'a {
    let reads = demands.writes.iter().filter(|w| w.shape != Shape::Merge).flat_map(|w| {
        let dst = w.dst;
        w.sources().map(move |(src, lo, m)| (dst, src, lo, m))
    });
    reads.flat_map(move |(dst, src, src_lo, m)| {
        let mut list = Vec::new();
        for a in &layout.segs[dst] {
            for b in &layout.segs[src] {
                // Both in bits of the copied part.
                let from = a.lo.max(m.lo) - m.lo;
                let from = from.max(b.lo.max(src_lo) - src_lo);
                let to = (a.lo + a.width).min(m.lo + m.width).saturating_sub(m.lo);
                let to = to.min((b.lo + b.width).min(src_lo + m.width).saturating_sub(src_lo));
                if from < to {
                    list.push(Pair {
                        a: (dst, *a),
                        b: (src, *b),
                        a_range: (from + m.lo, to + m.lo),
                        b_range: (from + src_lo, to + src_lo),
                    });
                }
            }
        }
        list
    })
}
