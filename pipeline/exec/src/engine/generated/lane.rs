//! A packet on its way through generated code, and the functions that the code calls: packet bytes, table rows, cells.

use crate::engine::batch::Phv;
use crate::engine::checksum::{sum_bytes, sum_values};
use crate::engine::code::GressCode;
use crate::engine::gress::{Lanes, WRONG_CHECKSUM};
use crate::engine::hash::HashPlan;
use crate::engine::parser::{ParserCode, counter_word};
use crate::engine::register::{AccessPlan, Compared, Work, busy, params};
use crate::engine::table::{EngineTable, Hit};
use crate::packet::WINDOW;
use crate::pass::State;
use sluice_asic::counter::CounterLayout;
use sluice_asic::salu::{Accesses, SaluProgram, State as Element};
use sluice_ir::entity::Entity;
use sluice_ir::meter_array::Question;
use sluice_ir::salu::ParamRow;
use sluice_ir::{Counter, CounterLoad, Field, Register};

/// Packet on its way through generated code.
pub struct Lane<'a> {
    window: &'a [u8; WINDOW],
    head: u32,
    bytes: u32,
    now: u64,
    wrong: bool,
    label: u32,
    dropped: bool,
    parser: &'a ParserCode,
    tables: &'a [EngineTable],
    hashes: &'a [HashPlan],
    accesses: &'a [AccessPlan],
    random: &'a [[u32; 64]],
    pool: &'a [u32],
    state: &'a mut State,
    phv: &'a Phv<1>,
    /// Number of packets that reached each coverage point; empty if coverage is not counted.
    reached: &'a mut [u64],
}

impl<'a> Lane<'a> {
    /// Makes the packet of lane 0 from its first bytes, and the lengths of its head and of all of it.
    #[inline(always)]
    pub(super) fn new(
        code: &'a GressCode,
        phv: &'a Phv<1>,
        state: &'a mut State,
        (lanes, pool, reached): (&'a Lanes, &'a [u32], &'a mut [u64]),
        (window, head, bytes): (&'a [u8; WINDOW], u32, u32),
    ) -> Lane<'a> {
        let GressCode { parser, tables, hashes, accesses, .. } = code;
        let (now, random) = (lanes.now[0], &lanes.random);
        let (wrong, label, dropped) = (false, 0, false);
        Lane {
            window,
            head,
            bytes,
            now,
            wrong,
            label,
            dropped,
            parser,
            tables,
            hashes,
            accesses,
            random,
            pool,
            state,
            phv,
            reached,
        }
    }

    /// Returns the label word, and true if an action dropped the packet.
    #[inline(always)]
    pub(super) fn end(&self) -> (u32, bool) {
        (self.label, self.dropped)
    }

    /// Returns the bit of `parser_err` for a wrong checksum if a checksum was wrong, else 0.
    #[inline(always)]
    pub(super) fn wrong_checksum(&self) -> u64 {
        if self.wrong { WRONG_CHECKSUM } else { 0 }
    }

    /// Returns a constant of the program.
    #[inline(always)]
    #[must_use]
    pub fn constant(&self, number: usize) -> u32 {
        self.pool.get(number).copied().unwrap_or(0)
    }

    /// Returns true if the head has at least this many bytes.
    #[inline(always)]
    #[must_use]
    pub fn has(&self, bytes: u32) -> bool {
        self.head >= bytes
    }

    /// Returns the byte at an offset.
    #[inline(always)]
    #[must_use]
    pub fn byte(&self, at: usize) -> u32 {
        self.window[at % WINDOW].into()
    }

    /// Returns the two bytes at an offset.
    #[inline(always)]
    #[must_use]
    pub fn half(&self, at: usize) -> u32 {
        let bytes = self.window.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u16::from_be_bytes(*bytes).into())
    }

    /// Returns the four bytes at an offset.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, at: usize) -> u32 {
        let bytes = self.window.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }

    /// Returns true if an arm with a value set takes these concatenated fields of a select.
    #[inline]
    #[must_use]
    pub fn takes(&self, node: usize, arm: usize, value: u128) -> bool {
        self.parser.takes(node, arm, value)
    }

    /// Returns true if the sum over `LEN` bytes from an offset on is wrong.
    #[inline(always)]
    pub fn sum_is_wrong<const LEN: usize>(&mut self, at: usize) -> bool {
        let bytes = self.window.get(at..).and_then(<[u8]>::first_chunk::<LEN>);
        self.finds_wrong(bytes.is_none_or(|bytes| sum_bytes(bytes) != 0xffff))
    }

    /// Returns true if the sum over values with these widths, in bits, is wrong.
    #[inline(always)]
    pub fn values_are_wrong(&mut self, values: &[(u128, u16)]) -> bool {
        self.finds_wrong(sum_values(values.iter().copied()) != 0xffff)
    }

    #[inline(always)]
    fn finds_wrong(&mut self, wrong: bool) -> bool {
        self.wrong |= wrong;
        wrong
    }

    /// Returns the packet's length, bytes.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the result of a table without a key.
    #[inline(always)]
    #[must_use]
    pub fn find_default(&mut self, table: usize) -> Hit<'a> {
        self.looked_up(table, 0)
    }

    /// Looks up a table that compares whole words.
    #[inline(always)]
    #[must_use]
    pub fn find<const K: usize>(&mut self, table: usize, key: [u32; K]) -> Hit<'a> {
        self.looked_up(table, self.tables[table].lookup.exact(key))
    }

    /// Looks up a table by the longest prefix, left-aligned in 32 bits, and by other words.
    #[inline(always)]
    #[must_use]
    pub fn find_prefix<const K: usize>(&mut self, table: usize, key: [u32; K], prefix: u32) -> Hit<'a> {
        self.looked_up(table, self.tables[table].lookup.prefix(key, prefix))
    }

    /// Looks up a table by the longest prefix, left-aligned in 128 bits, and by other words.
    #[inline(always)]
    #[must_use]
    pub fn find_wide_prefix<const K: usize>(&mut self, table: usize, key: [u32; K], prefix: u128) -> Hit<'a> {
        self.looked_up(table, self.tables[table].lookup.wide_prefix(key, prefix))
    }

    /// Looks up a table that compares under masks.
    #[inline(always)]
    #[must_use]
    pub fn find_ternary(&mut self, table: usize) -> Hit<'a> {
        self.looked_up(table, self.tables[table].lookup.one(self.phv, 0))
    }

    /// Counts a lookup, and returns the result of its row.
    #[inline(always)]
    fn looked_up(&mut self, table: usize, row: u32) -> Hit<'a> {
        let table = &self.tables[table];
        self.state.looked_up(table.table(), row, 1);
        table.hit(row, self.phv)
    }

    /// Counts the packet at a coverage point.
    #[inline(always)]
    pub fn reach(&mut self, point: usize) {
        if let Some(times) = self.reached.get_mut(point) {
            *times += 1;
        }
    }

    /// Marks the matched entry of a table whose entries are watched.
    #[inline(always)]
    pub fn note(&self, table: usize, hit: &Hit<'a>) {
        self.tables[table].note_entry(hit.entry);
    }

    /// Resets the age of the matched entry of a table whose entries age.
    #[inline(always)]
    pub fn refresh(&mut self, table: usize, hit: &Hit<'a>) {
        if hit.hit {
            self.tables[table].refresh_entry(hit.entry, self.state);
        }
    }

    /// Returns the hash of these input bytes.
    #[inline(always)]
    #[must_use]
    pub fn hash<const K: usize>(&self, hash: usize, input: [u8; K]) -> u64 {
        match &self.hashes[hash] {
            HashPlan::Linear(hash) => hash.eval_bytes(input),
            HashPlan::Copy(..) => 0,
        }
    }

    /// Returns the number that a random number generator drew for this pass.
    #[inline(always)]
    #[must_use]
    pub fn random(&self, draw: usize) -> u32 {
        self.random.get(draw).map_or(0, |numbers| numbers[0])
    }

    /// Drops the packet with a label.
    #[inline(always)]
    pub fn drop(&mut self, label: u32) {
        (self.label, self.dropped) = (label, true);
    }

    /// Drops the packet with a label if the bit is 1; otherwise the packet is not dropped.
    #[inline(always)]
    pub fn drop_where(&mut self, bit: u32, label: u32) {
        (self.label, self.dropped) = (label, bit == 1);
    }

    /// Counts the packet, its bytes or both in a cell.
    #[inline(always)]
    pub fn count(&mut self, counter: usize, cell: u32, packets: bool, bytes: bool) {
        if let Some(cell) = self.state.counters[Counter::new(counter)].get_mut(cell as usize) {
            cell.packets += u64::from(packets);
            cell.bytes += if bytes { self.bytes.into() } else { 0 };
        }
    }

    /// Counts the packet in a cell of these widths in bits; `adjust` is added to the packet's length.
    #[inline(never)]
    pub fn count_cell(
        &mut self,
        counter: usize,
        cell: u32,
        (packet_bits, byte_bits, adjust): (u32, u32, i32),
    ) {
        let layout = CounterLayout::of_bits(packet_bits, byte_bits, adjust);
        if let Some(cell) = self.state.counters[Counter::new(counter)].get_mut(cell as usize) {
            cell.count(layout, self.bytes);
        }
    }

    /// Accesses a cell of a register; returns the output words.
    #[inline]
    pub fn register(&mut self, access: usize, cell: u32, lo: u64, hi: u64) -> [u32; 4] {
        let (register, action, rows) = match &self.accesses[access].work {
            Work::Register(register, action, rows) => (register, action, rows),
            Work::Counted(register, salu, rows, compared) => {
                return self.counted((*register, cell), (salu, rows, compared), [lo, hi]);
            }
            Work::Meter(_) => return [0; 4],
        };
        if let Some(word) = busy(self.state, *register) {
            return [word, 0, 0, 0];
        }
        let params = params(rows, self.state, *register);
        match self.state.registers[*register].get_mut(cell as usize) {
            Some(element) => action.make(&params, Alone { element, operands: [lo, hi], cell }),
            None => [0; 4],
        }
    }

    /// As [`Self::register`], but counts the outcomes of the comparisons.
    #[inline(never)]
    fn counted(
        &mut self,
        (register, cell): (Register, u32),
        (salu, rows, compared): (&SaluProgram, &[ParamRow], &Compared),
        operands: [u64; 2],
    ) -> [u32; 4] {
        if let Some(word) = busy(self.state, register) {
            return [word, 0, 0, 0];
        }
        let params = params(rows, self.state, register);
        let element = self.state.registers[register].get_mut(cell as usize);
        element.map_or([0; 4], |element| compared.execute(salu, element, (operands, cell), params))
    }

    /// Runs the cell of a meter for the packet; returns its output.
    #[inline]
    pub fn meter(&mut self, access: usize, cell: u32, input: u64) -> u32 {
        let Work::Meter(meter) = &self.accesses[access].work else { return 0 };
        let question = Question { now: self.now, bytes: self.bytes, input: input as u32 };
        self.state.meters[*meter].ask(cell as usize, question)
    }
}

/// Access to one element of a register.
struct Alone<'a> {
    element: &'a mut Element,
    operands: [u64; 2],
    cell: u32,
}

impl Accesses for Alone<'_> {
    type Result = [u32; 4];

    #[inline(always)]
    fn each(self, access: impl Fn(&mut Element, [u64; 2], u32) -> [u32; 4]) -> [u32; 4] {
        access(self.element, self.operands, self.cell)
    }
}

/// Returns the parser counter's word for a field that is rotated, masked and increased; the counter is 0 if the field
/// is above `max`.
#[must_use]
pub fn counter(field: u32, max: u8, rotate: u8, mask: u8, add: u8) -> u32 {
    let load = CounterLoad::Field { field: Field::new(0), max, rotate, mask, add };
    counter_word(load.value(field as u8).unwrap_or_default() as u8)
}

/// Returns the parser counter's word after an addition.
#[must_use]
pub fn counter_plus(word: u32, by: u8) -> u32 {
    counter_word((word as u8).wrapping_add(by))
}

/// Returns a checksum from which values with these widths, in bits, are taken out.
#[must_use]
pub fn subtracted(sum: u32, values: &[(u128, u16)]) -> u64 {
    let rest = sum + u32::from(!sum_values(values.iter().copied()));
    u64::from((rest & 0xffff) + (rest >> 16))
}
