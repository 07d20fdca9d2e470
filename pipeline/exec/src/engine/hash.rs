//! Hash computations, compiled to table loads over columns.

use super::batch::{Phv, for_lanes};
use super::error::LowerError;
use super::field::{FieldAt, Piece, SlotMap};
use super::leaf::{Base, Leaf, leaf};
use sluice_asic::hash::{HashAlgorithm, HashLayout, LinearHash};
use sluice_ir::{Expr, Hash, Program};

/// A hash of a lane's fields.
#[derive(Clone, Debug)]
pub(super) enum HashPlan {
    /// Low bits of a field in one column: the identity hash of such a field.
    Copy(Piece, u64),
    /// Any other hash.
    Linear(Box<LinearHash>),
}

impl HashPlan {
    pub(super) fn new(
        program: &Program,
        hash: Hash,
        slots: &mut SlotMap<'_>,
    ) -> Result<HashPlan, LowerError> {
        let data = &program.hashes[hash];
        let fail = |e: &dyn std::fmt::Display| LowerError::new(format!("hash `{}`: {e}", data.name));
        let function = data.function().map_err(|e| fail(&e))?;
        if let (HashAlgorithm::Identity, [Expr::Field(f)], 0, 0) =
            (data.algorithm, data.inputs.as_slice(), data.seed, data.rotate)
        {
            // Wider outputs repeat the input's bits, so only narrower ones are a plain copy.
            if let Some(piece) = slots.source(*f).single().filter(|p| data.width <= u16::from(p.width)) {
                return Ok(HashPlan::Copy(piece, (1u64 << data.width) - 1));
            }
        }
        let bits: u32 = data.inputs.iter().map(|e| u32::from(e.width(program))).sum();
        let mut layout = HashLayout::new();
        if !data.symmetric.is_empty() {
            layout = layout.summed();
        }
        let mut position = 0u16;
        let mut first_of = Vec::with_capacity(data.inputs.len());
        for input in &data.inputs {
            first_of.push(position);
            position += input.width(program);
        }
        for (number, input) in data.inputs.iter().enumerate() {
            // Both inputs of a symmetric pair count in the place of the later one.
            let pair = data.symmetric.iter().find(|pair| pair.iter().any(|&of| usize::from(of) == number));
            let place = pair.map_or(number, |&[a, b]| usize::from(a.max(b)));
            let l = leaf(program, input).ok_or_else(|| fail(&"an input is itself an operation"))?;
            let Some(first) = first_of.get(place) else { continue };
            // A cast to more bits puts zeros in front.
            let front = first + input.width(program) - l.width;
            feed(&mut layout, l, front, slots).map_err(|e| fail(&e))?;
        }
        LinearHash::new(function, bits as usize, &layout)
            .map(|h| HashPlan::Linear(Box::new(h)))
            .map_err(|e| fail(&e))
    }

    #[inline]
    pub(super) fn eval<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u64 {
        match self {
            HashPlan::Copy(p, mask) => u64::from(phv.get(p.slot, lane) >> p.at) & mask,
            HashPlan::Linear(hash) => hash.eval_with(|slot| phv.get(slot, lane)),
        }
    }

    /// Writes the hash of each lane of `mask` to a field. Not inlined: few actions hash, and inlined loops would slow down
    /// all of them.
    #[inline(never)]
    pub(super) fn run<const N: usize>(&self, mask: u64, phv: &Phv<N>, to: &FieldAt) {
        match self.sums::<N>(mask, phv) {
            Some(sums) => to.write_lanes::<N>(mask, phv, |l| sums[l]),
            None => to.write_lanes::<N>(mask, phv, |l| self.eval(phv, l)),
        }
    }

    /// Calls `put` with the hash of each lane of `mask`.
    #[inline(never)]
    pub(super) fn each<const N: usize>(&self, mask: u64, phv: &Phv<N>, mut put: impl FnMut(usize, u64)) {
        match self.sums::<N>(mask, phv) {
            Some(sums) => for_lanes::<N>(mask, |l| put(l, sums[l])),
            None => for_lanes::<N>(mask, |l| put(l, self.eval(phv, l))),
        }
    }

    /// Computes the hashes of many lanes table by table, all lanes at once; lanes outside the mask are computed and
    /// ignored.
    #[inline]
    fn sums<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> Option<[u64; 64]> {
        match self {
            HashPlan::Linear(hash) if N > 1 && mask.count_ones() > 8 => {
                let lanes = (64 - mask.leading_zeros()) as usize;
                let mut sums = [0u64; 64];
                hash.eval_lanes(&mut sums[..lanes], |slot| phv.column(slot));
                Some(sums)
            }
            _ => None,
        }
    }
}

/// Assigns the bits of an input to the positions from `front` on.
fn feed(layout: &mut HashLayout, l: Leaf, front: u16, slots: &mut SlotMap<'_>) -> Result<(), String> {
    match l.base {
        Base::Const(v) => {
            layout.constant(front, u32::from(l.width), v >> l.lo);
        }
        Base::Field(f) => {
            for p in slots.source(f).pieces {
                let (lo, hi) = (u16::from(p.lo).max(l.lo), (l.lo + l.width).min(p.end()));
                if lo < hi {
                    let at = u32::from(p.at) + u32::from(lo - u16::from(p.lo));
                    let first = front + l.lo + l.width - hi;
                    layout.field(p.slot, at, u32::from(hi - lo), first).map_err(|e| e.to_string())?;
                }
            }
        }
        Base::Param(_) => return Err("an input is a parameter".to_owned()),
    }
    Ok(())
}
