//! An action's list of operations as it grows, and argument words of its parameters.

use super::{ActionCode, ArgWord, MoveBits, Op};
use crate::engine::batch::Slot;
use crate::engine::field::{FieldAt, ones};
use crate::engine::leaf::{Base, Leaf};

impl ActionCode {
    /// Appends an operation. It is merged with the previous one if both write constants to one container, if both move
    /// bits between the same containers by the same shift, or if both write argument words with adjacent numbers.
    pub(super) fn push(&mut self, op: Op) {
        match (self.ops.last_mut(), &op) {
            (Some(Op::Const { slot: s0, keep: k0, value: v0 }), Op::Const { slot, keep, value })
                if s0 == slot =>
            {
                *v0 = *v0 & keep | value;
                *k0 &= keep;
            }
            (
                Some(Op::Move { slot: s0, keep: k0, src: from0, right: r0, left: l0, mask: m0 }),
                Op::Move { slot, keep, src, right, left, mask },
            ) if (&*s0, &*from0, &*r0, &*l0) == (slot, src, right, left) && slot != src => {
                *m0 = *m0 & keep | mask;
                *k0 &= keep;
            }
            (Some(last), Op::Arg { slot, keep, word }) => match last.args_with(*slot, *keep, *word) {
                Some(run) => *last = run,
                None => self.ops.push(op),
            },
            _ => self.ops.push(op),
        }
    }

    /// Replaces each run of adjacent constants, and of adjacent moves, by one operation. The order of the writes stays.
    pub(super) fn fuse(&mut self) {
        let ops = std::mem::take(&mut self.ops);
        let fusible = |op: &Op| matches!(op, Op::Const { .. } | Op::Move { .. });
        let alike = |a: &Op, b: &Op| fusible(a) && std::mem::discriminant(a) == std::mem::discriminant(b);
        for run in ops.chunk_by(alike) {
            match run {
                [Op::Const { .. }, _, ..] => {
                    self.ops.push(Op::Consts(run.iter().filter_map(constant).collect()))
                }
                [Op::Move { .. }, _, ..] => self.ops.push(Op::Moves(run.iter().filter_map(moved).collect())),
                _ => self.ops.extend(run.iter().cloned()),
            }
        }
    }

    pub(super) fn deposit_const(&mut self, to: &FieldAt, value: u128) {
        for p in &to.pieces {
            let bits = ((value >> p.lo) as u32 & p.mask()) << p.at;
            self.push(Op::Const { slot: p.slot, keep: p.keep, value: bits });
        }
    }

    /// Returns the number of the argument word with these bits of a parameter; adds the word if there is none.
    pub(super) fn arg(&mut self, param: u16, l: Leaf, lo: u8, width: u8, at: u8) -> u16 {
        let word = arg_word(param, l, lo, width, at);
        match self.args.iter().position(|w| *w == word) {
            Some(i) => i as u16,
            None => {
                self.args.push(word);
                self.args.len() as u16 - 1
            }
        }
    }

    pub(super) fn fresh_arg(&mut self, param: u16, l: Leaf, lo: u8, width: u8, at: u8) {
        self.args.push(arg_word(param, l, lo, width, at));
    }

    /// Copies bits `l.lo..` of a source field to a destination; bits beyond the leaf's width become zero.
    pub(super) fn move_bits(&mut self, to: &FieldAt, from: &FieldAt, l: Leaf) {
        for d in &to.pieces {
            let (lo, hi) = (u16::from(d.lo), u16::from(d.lo) + u16::from(d.width));
            let mut filled = 0u32;
            for s in &from.pieces {
                let (s_lo, s_hi) = (u16::from(s.lo), u16::from(s.lo) + u16::from(s.width));
                let first = (lo + l.lo).max(s_lo);
                let end = (hi.min(l.width) + l.lo).min(s_hi);
                if first >= end {
                    continue;
                }
                let from_bit = s.at + (first - s_lo) as u8;
                let to_bit = d.at + (first - l.lo - lo) as u8;
                let mask = ones((end - first) as u8) << to_bit;
                let (right, left) = (from_bit.saturating_sub(to_bit), to_bit.saturating_sub(from_bit));
                // Keeps the piece's other bits, because other moves fill them from other containers.
                let keep = d.keep | d.mask() << d.at & !mask;
                self.push(Op::Move { slot: d.slot, keep, src: s.slot, right, left, mask });
                filled |= mask;
            }
            let rest = d.mask() << d.at & !filled;
            if rest != 0 {
                self.push(Op::Const { slot: d.slot, keep: d.keep | d.mask() << d.at & !rest, value: 0 });
            }
        }
    }

    /// Copies the bits of a source to a destination of the same width.
    pub(in crate::engine) fn copy_bits(&mut self, to: &FieldAt, from: &FieldAt, width: u16) {
        self.move_bits(to, from, Leaf { base: Base::Const(0), lo: 0, width });
    }

    /// Returns the only operation, if the action has one and it writes a constant to one container.
    pub(in crate::engine) fn only_constant(&self) -> Option<(Slot, u32, u32)> {
        match self.ops.as_slice() {
            [Op::Const { slot, keep, value }] => Some((*slot, *keep, *value)),
            _ => None,
        }
    }

    /// Returns the moves, if all operations are moves.
    pub(in crate::engine) fn only_moves(&self) -> Option<Box<[MoveBits]>> {
        match self.ops.as_slice() {
            [Op::Moves(list)] => Some(list.clone()),
            [op] => moved(op).map(|bits| [bits].into()),
            _ => None,
        }
    }

    /// Returns the number of argument words of an entry.
    pub(in crate::engine) fn arg_words(&self) -> usize {
        self.args.len()
    }

    /// Writes the argument words of an entry with these parameter values.
    pub(in crate::engine) fn encode_args(&self, values: &[u128], out: &mut [u32]) {
        for (w, out) in self.args.iter().zip(out) {
            let value = values.get(usize::from(w.param)).copied().unwrap_or(0);
            *out = ((value >> w.lo) as u32 & ones(w.width)) << w.at;
        }
    }
}

fn constant(op: &Op) -> Option<(Slot, u32, u32)> {
    match op {
        Op::Const { slot, keep, value } => Some((*slot, *keep, *value)),
        _ => None,
    }
}

fn moved(op: &Op) -> Option<MoveBits> {
    match *op {
        Op::Move { slot, keep, src, right, left, mask } => {
            Some(MoveBits { slot, keep, src, right, left, mask })
        }
        _ => None,
    }
}

fn arg_word(param: u16, l: Leaf, lo: u8, width: u8, at: u8) -> ArgWord {
    let left = l.width.saturating_sub(u16::from(lo)).min(u16::from(width));
    ArgWord { param, lo: l.lo + u16::from(lo), width: left as u8, at }
}
