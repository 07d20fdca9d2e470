//! Cost of one state of the program: hardware states (one cycle each) and TCAM rows.

use super::carried::StateCopy;
use crate::data::PhvAllocation;
use sluice_asic::chip::ParserSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, PhvInventory};
use sluice_ir::cfg::Var;
use sluice_ir::parser_unroll::{Configuration, CounterRange, StackCounts, StateEffect};
use sluice_ir::{
    CounterLoad, Expr, Field, Header, Home, Intrinsic, ParserOpKind, ParserState, ParserWrite, Program,
    SelectKey, StateData,
};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs of the cost.
pub(super) struct Hardware<'a> {
    pub(super) program: &'a Program,
    pub(super) spec: &'a ParserSpec,
    pub(super) inventory: &'a PhvInventory,
    pub(super) allocation: &'a PhvAllocation,
}

/// Cycles and rows of a state of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StateCost {
    pub(super) cycles: u32,
    pub(super) rows: u32,
    /// Extractors of 8, 16 and 32 bits.
    pub(super) extractors: [u32; 3],
    pub(super) match_bytes: u32,
}

/// Copy of packet bytes `from..to`, counted from the state's first byte, into a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copy {
    bits: u32,
    from: u32,
    to: u32,
}

/// Containers that a state fills, and bytes that it uses.
#[derive(Debug, Default)]
struct Work {
    copies: Vec<Copy>,
    /// Constants, by container.
    constants: BTreeMap<Container, u32>,
    /// Sizes of containers that are filled from metadata outside the packet, in bits.
    elsewhere: Vec<u32>,
    /// First byte of each field that the state extracts.
    at: BTreeMap<Field, u32>,
    /// Bytes that the state extracts or skips.
    bytes: u32,
    /// Bytes that it must see, counted from its first one.
    reach: u32,
}

impl Hardware<'_> {
    /// Returns the cost of a state that is entered after these stack elements were extracted.
    pub(super) fn state(&self, state: ParserState, elements: &StackCounts) -> StateCost {
        let data = &self.program.states[state];
        let effect = self.effect(&(state, elements.clone()));
        let work = self.work(state, &effect);
        let Matches { cycles: matches, late, bytes } = self.select(&data.select, &effect.elements, &work);
        // A row per value of an arm, or per member of its value set, in every matching cycle, and a row per cycle for
        // packets that match no arm.
        let extraction = self.extract(&work);
        let cycles = extraction.cycles + late + matches - 1 + self.counter_wait(state);
        let rows = self.rows(data).saturating_mul(matches).saturating_add(cycles);
        StateCost { cycles, rows, extractors: extraction.used, match_bytes: bytes }
    }

    /// Returns the bytes that a copy of a state moves past.
    pub(super) fn bytes(&self, copy: &StateCopy) -> u32 {
        self.effect(copy).bytes
    }

    /// Returns the number of bytes from the first one of a copy to the last one that it matches; 0 if it matches none of its own or
    /// ahead of it.
    pub(super) fn match_reach(&self, (state, elements): &StateCopy) -> u32 {
        let effect = self.effect(&(*state, elements.clone()));
        let work = self.work(*state, &effect);
        let keys = self.program.states[*state].select.iter().map(|key| match *key {
            SelectKey::Lookahead(ahead) => work.bytes + ahead.reach(),
            key => {
                let field = effect.elements.field(self.program, key);
                let at = field.and_then(|f| work.at.get(&f).map(|at| (f, at)));
                at.map_or(0, |(f, at)| {
                    let data = &self.program.fields[f];
                    let offset = match data.home {
                        Home::Header(h) => self.program.field_offset(h, f).unwrap_or(0) % 8,
                        Home::Metadata | Home::Intrinsic(_) | Home::PortMetadata => 0,
                    };
                    at + (offset + u32::from(data.width)).div_ceil(8)
                })
            }
        });
        keys.max().unwrap_or(0)
    }

    /// Returns the fields that a copy of a state writes.
    pub(super) fn written(&self, copy: &StateCopy) -> Vec<Field> {
        let extracted = self.effect(copy).extracted;
        let headers = extracted.iter().flat_map(|h| self.program.headers[*h].fields.iter().copied());
        headers.chain(self.program.states[copy.0].ops.iter().filter_map(|op| op.kind.written())).collect()
    }

    /// Returns true if the extractors of one row fill the containers of two states that follow each other.
    pub(super) fn fits_one_row(&self, first: &StateCopy, second: &StateCopy) -> bool {
        let (before, after) = (self.effect(first), self.effect(second));
        if before.full.is_some() || after.full.is_some() {
            return false;
        }
        let (mut work, next) = (self.work(first.0, &before), self.work(second.0, &after));
        let moved = work.bytes;
        work.copies.extend(next.copies.iter().map(|c| Copy { from: c.from + moved, to: c.to + moved, ..*c }));
        for (container, bits) in next.constants {
            *work.constants.entry(container).or_default() |= bits;
        }
        work.elsewhere.extend(next.elsewhere);
        work.bytes += next.bytes;
        work.reach = work.reach.max(moved + next.reach);
        self.extract(&work).cycles == 1
    }

    fn effect(&self, (state, elements): &StateCopy) -> StateEffect {
        let (counter, pushed, elements) = (CounterRange::default(), Vec::new(), elements.clone());
        Configuration { state: *state, counter, pushed, elements }.effect(self.program)
    }

    /// Returns the rows that the arms of a state take in a cycle that matches.
    fn rows(&self, data: &StateData) -> u32 {
        data.arms.iter().fold(0, |sum: u32, arm| sum.saturating_add(arm.rows(self.program)))
    }

    /// Returns the cycles for the metadata that the hardware puts in front of the packet: for its bytes, and for the
    /// fields that the program uses.
    pub(super) fn intrinsic(&self, gress: Gress) -> u32 {
        let bytes = match gress {
            Gress::Ingress => {
                self.spec.ingress_intrinsic_bytes
                    + self.spec.port_metadata_bytes
                    + self.spec.port_metadata_pad
            }
            Gress::Egress => self.spec.egress_intrinsic_full,
        };
        // The ghost thread has no parser.
        let parsed = |i: Intrinsic| !i.info().writable && i != Intrinsic::DropCtl && !i.is_ghost();
        let filled = |home: Home| match home {
            Home::Intrinsic(i) => parsed(i),
            Home::PortMetadata => true,
            Home::Header(_) | Home::Metadata => false,
        };
        let fields = self.program.fields.iter().filter(|(_, d)| d.gress == gress && filled(d.home));
        let containers = fields.flat_map(|(f, _)| self.allocation.containers_of(Var::Field(f)));
        let work = Work { elsewhere: containers.map(|c| self.bits(c)).collect(), ..Work::default() };
        bytes.div_ceil(self.spec.max_shift.max(1)).max(self.extract(&work).cycles)
    }

    /// Returns 1 if the state tests a counter that it loads from a field, because the test has to wait a cycle; else 0.
    fn counter_wait(&self, state: ParserState) -> u32 {
        let data = &self.program.states[state];
        let tests = |k: &SelectKey| matches!(k, SelectKey::CounterIsZero | SelectKey::CounterIsNegative);
        let loads = data.ops.iter().any(|op| match op.kind {
            ParserOpKind::SetCounter(load) | ParserOpKind::PushCounter(load, _) => {
                !matches!(load, CounterLoad::Const(_))
            }
            _ => false,
        });
        u32::from(loads && data.select.iter().any(tests))
    }

    fn bits(&self, container: Container) -> u32 {
        self.inventory.get(container).map_or(8, |i| i.size.bits())
    }

    fn work(&self, state: ParserState, effect: &StateEffect) -> Work {
        let mut work = Work { reach: effect.reach, ..Work::default() };
        let mut extracted = effect.extracted.iter();
        for op in &self.program.states[state].ops {
            match &op.kind {
                ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) => {
                    let Some(&h) = extracted.next() else { break };
                    self.header(h, &mut work);
                }
                ParserOpKind::Advance(bytes) => work.bytes += u32::from(*bytes),
                ParserOpKind::Lookahead(dst, at) => {
                    self.copy_from(*dst, work.bytes * 8 + u32::from(*at), &mut work);
                }
                ParserOpKind::SetCounter(_)
                | ParserOpKind::AddCounter(_)
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter => {}
                ParserOpKind::Set(..) | ParserOpKind::SetSlice(..) => {
                    if let Some(write) = op.kind.write() {
                        self.write(write, &mut work);
                    }
                }
                ParserOpKind::SetValid(h, valid) => {
                    let bit = self.allocation.valid.get(*h).copied().flatten();
                    if let Some(bit) = bit.filter(|_| *valid) {
                        *work.constants.entry(bit.container).or_default() |= 1 << bit.bit;
                    }
                }
                // The checksum unit writes its bit or its sum without extractors.
                ParserOpKind::VerifyChecksum(..) | ParserOpKind::SubtractChecksum(..) => {}
            }
        }
        work
    }

    fn header(&self, h: Header, work: &mut Work) {
        for (byte, container) in self.allocation.header_containers(self.program, h) {
            let (bits, from) = (self.bits(container), work.bytes + byte);
            work.copies.push(Copy { bits, from, to: from + bits / 8 });
        }
        if let Some(bit) = self.allocation.valid.get(h).copied().flatten() {
            *work.constants.entry(bit.container).or_default() |= 1 << bit.bit;
        }
        for &f in &self.program.headers[h].fields {
            let offset = self.program.field_offset(h, f).unwrap_or(0);
            work.at.insert(f, work.bytes + offset / 8);
        }
        work.bytes += self.program.header_bits(h).div_ceil(8);
    }

    /// Adds a write of a constant, or of bits that are copied from packet bytes or from metadata outside the packet. Bytes
    /// of an earlier state are still in the buffer, so they take an extractor like those of this state.
    fn write(&self, write: ParserWrite<'_>, work: &mut Work) {
        let (hi, lo) = write.bits.unwrap_or((u16::MAX, 0));
        let slices = self.allocation.slices(write.to).iter().filter(|s| s.lo <= hi && s.lo + s.width > lo);
        if let Expr::Const(value, _) = write.value {
            let value = value << lo.min(127);
            for s in slices {
                let bits = (value >> s.lo) as u32 & (u32::MAX >> (32 - u32::from(s.width.clamp(1, 32))));
                *work.constants.entry(s.container).or_default() |= bits << s.at;
            }
            return;
        }
        let (source, at) = match write.source() {
            Some((field, at)) => (work.at.get(&field).map(|start| (field, *start)), at),
            None => (None, 0),
        };
        let Some((field, start)) = source else {
            work.elsewhere.extend(slices.map(|s| self.bits(s.container)));
            return;
        };
        let width = self.program.fields[field].width;
        for s in slices {
            // The highest bit of the container's part, counted from the source's first bit.
            let above = (width + lo).saturating_sub(at + s.lo + s.width);
            let (bits, from) = (self.bits(s.container), start + u32::from(above) / 8);
            work.copies.push(Copy { bits, from, to: from + bits / 8 });
        }
    }

    /// Adds a field that is copied from the packet, from bit `start` on.
    fn copy_from(&self, dst: Field, start: u32, work: &mut Work) {
        for s in self.allocation.slices(dst) {
            let bits = self.bits(s.container);
            let above = self.program.fields[dst].width.saturating_sub(s.lo + s.width);
            let from = (start + u32::from(above)) / 8;
            work.copies.push(Copy { bits, from, to: from + bits / 8 });
        }
    }

    /// Returns the cycles to fill the containers and to move past the state's bytes.
    ///
    /// Each cycle sees a window of bytes from the first one that is still needed, fills what it can, and shifts.
    fn extract(&self, work: &Work) -> Extraction {
        let mut copies = work.copies.clone();
        copies.sort_by_key(|c| c.from);
        let uses = |(c, value): (&Container, &u32)| {
            let bits = self.bits(*c);
            std::iter::repeat_n(bits, self.constant_uses(bits, *value) as usize)
        };
        let mut loose: Vec<u32> =
            work.constants.iter().flat_map(uses).chain(work.elsewhere.iter().copied()).collect();
        let (mut cycles, mut start, mut used) = (0, 0, [0; 3]);
        loop {
            start = copies.first().map_or(start, |c| c.from.max(start));
            let mut free = Extractors::of(self.spec);
            let before = copies.len() + loose.len();
            copies.retain(|c| c.to > start + self.spec.window_bytes || !free.take(c.bits));
            loose.retain(|bits| !free.take(*bits));
            cycles += 1;
            for (sum, n) in used.iter_mut().zip(free.used(self.spec)) {
                *sum += n;
            }
            let left = copies.len() + loose.len();
            // Without extractors of a needed size the loop would not end.
            if left == 0 || left == before {
                break;
            }
        }
        // The last cycle moves past the rest; bytes that are read beyond its window take shifts before.
        let shifts = work.bytes.saturating_sub(start).div_ceil(self.spec.max_shift.max(1)).max(1) - 1;
        let beyond = work.reach.saturating_sub(start + self.spec.window_bytes);
        Extraction { cycles: cycles + shifts.max(beyond.div_ceil(self.spec.max_shift.max(1))), used }
    }

    /// Returns the number of extractors that a constant takes: each writes a few neighbouring bits (model: chip §6.1).
    fn constant_uses(&self, bits: u32, value: u32) -> u32 {
        let reach = match bits {
            16 => self.spec.constant_bits_16,
            32 if self.spec.constant_bits_32 > 0 => self.spec.constant_bits_32,
            _ => bits,
        };
        let (mut rest, mut uses) = (value, 0);
        while rest != 0 && reach > 0 {
            let low = rest.trailing_zeros();
            let covered = if low + reach >= 32 { u32::MAX << low } else { ((1 << reach) - 1) << low };
            rest &= !covered;
            uses += 1;
        }
        uses.max(1)
    }

    /// Returns the cycles that match the selected bytes (at least one), and further cycles for bytes of earlier
    /// states that the scratch registers do not hold. Bytes of the state itself go to the match registers as they
    /// pass.
    fn select(&self, select: &[SelectKey], elements: &StackCounts, work: &Work) -> Matches {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut late = 0;
        for &key in select {
            if let SelectKey::Lookahead(ahead) = key {
                seen.extend(work.bytes + u32::from(ahead.at) / 8..work.bytes + ahead.reach());
                continue;
            }
            let Some(f) = elements.field(self.program, key) else { continue };
            let data = &self.program.fields[f];
            let offset = match data.home {
                Home::Header(h) => self.program.field_offset(h, f).unwrap_or(0) % 8,
                Home::Metadata | Home::Intrinsic(_) | Home::PortMetadata => 0,
            };
            let bytes = (offset + u32::from(data.width)).div_ceil(8);
            match work.at.get(&f) {
                Some(&from) => seen.extend(from..from + bytes),
                None => late += bytes,
            }
        }
        let per_cycle = (2 * self.spec.match_halves + self.spec.match_bytes).max(1);
        let unsaved = late.saturating_sub(self.spec.scratch_bytes);
        let bytes = seen.len() as u32 + late;
        Matches { cycles: self.match_cycles(seen, late), late: unsaved.div_ceil(per_cycle), bytes }
    }

    /// Returns the cycles to match these bytes of the state and `others` further bytes. A 16-bit register takes two
    /// neighbours or one byte of the state, or two further bytes; an 8-bit register takes one byte.
    fn match_cycles(&self, mut bytes: BTreeSet<u32>, mut others: u32) -> u32 {
        let mut cycles = 0;
        loop {
            for _ in 0..self.spec.match_halves {
                let pair = bytes.iter().copied().find(|b| bytes.contains(&(b + 1)));
                match pair {
                    Some(b) => {
                        bytes.remove(&b);
                        bytes.remove(&(b + 1));
                    }
                    None if others >= 2 => others -= 2,
                    None => take_one(&mut bytes, &mut others),
                }
            }
            for _ in 0..self.spec.match_bytes {
                take_one(&mut bytes, &mut others);
            }
            cycles += 1;
            if bytes.is_empty() && others == 0 || self.spec.match_halves + self.spec.match_bytes == 0 {
                return cycles;
            }
        }
    }
}

fn take_one(bytes: &mut BTreeSet<u32>, others: &mut u32) {
    if bytes.pop_first().is_none() {
        *others = others.saturating_sub(1);
    }
}

/// Cycles to fill containers, and extractors of 8, 16 and 32 bits used in them.
struct Extraction {
    cycles: u32,
    used: [u32; 3],
}

/// Cost of a select.
struct Matches {
    /// Cycles that match, at least one.
    cycles: u32,
    /// Further cycles for bytes of earlier states.
    late: u32,
    bytes: u32,
}

/// Extractors left in a cycle.
struct Extractors {
    left: [u32; 3],
    /// True if all extractors have 16 bits: a 32-bit container takes two, an 8-bit one half of a pair.
    uniform: bool,
}

impl Extractors {
    fn of(spec: &ParserSpec) -> Extractors {
        Extractors { left: [spec.extract_8, spec.extract_16, spec.extract_32], uniform: spec.extract_32 == 0 }
    }

    /// Returns the number of used extractors, by size.
    fn used(&self, spec: &ParserSpec) -> [u32; 3] {
        let full = Extractors::of(spec).left;
        std::array::from_fn(|i| full[i] - self.left[i])
    }

    /// Takes the extractors for a container of this size; returns false if too few are left.
    fn take(&mut self, bits: u32) -> bool {
        let (class, need) = match bits {
            32 if self.uniform => (1, 2),
            8 if self.uniform => (1, 1),
            8 => (0, 1),
            16 => (1, 1),
            _ => (2, 1),
        };
        let enough = self.left[class] >= need;
        if enough {
            self.left[class] -= need;
        }
        enough
    }
}
