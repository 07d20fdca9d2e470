//! Maps a condition onto a gateway: compare rows, crossbar bytes and hash bits (model: chip §1.3, §3.6).
//!
//! A gateway sees the first four bytes of one exact crossbar group and twelve hash bits.
//!
//! - Tests against constants and of validity bits use these bytes, in any bit pattern. Bytes that find no place there
//!   go to hash bits.
//! - Equality of two fields uses the next four bytes, which the hardware XORs into the first four, or hash bits: a
//!   hash is linear, so a hash bit can be the XOR of two field bits.
//! - Magnitudes use hash bits, in codes of four bits. A magnitude that is wider than the hash bits uses the bytes, as
//!   values under masks, each of which takes a row; if these rows are more than `MASKED_ROWS`, its low bits use the
//!   codes.

use super::super::bits::{ByteRef, PhvView};
use sluice_asic::chip::MauSpec;
use sluice_ir::gateway::{Operand, Test, Tests, tests};
use sluice_ir::verify::Diag;
use sluice_ir::{Cond, Loc, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Needs of a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GatewayDemand {
    /// Bytes with a fixed place in the crossbar group.
    pub(crate) fixed: Vec<(u16, ByteRef)>,
    /// Bytes from which hash bits are computed; anywhere in the same group.
    pub(crate) hashed: BTreeSet<ByteRef>,
    /// Hash bits used, counted from the first select bit.
    pub(crate) hash_bits: BTreeSet<u16>,
    /// Number of compare rows.
    pub(crate) rows: u32,
}

/// Maps a condition onto a gateway.
///
/// # Errors
/// If the condition needs more than one gateway has.
pub(crate) fn demand(
    program: &Program,
    mau: &MauSpec,
    phv: &PhvView<'_>,
    cond: &Cond,
    at: Loc,
) -> Result<GatewayDemand, Diag> {
    let Tests { tests, rows } = tests(program, mau, cond).map_err(|why| {
        Diag::error(at, format!("no gateway can decide this condition: {why}")).help(
            "compute the difference or a flag in an action of an earlier stage and test that, or use a table",
        )
    })?;
    let limit = mau.gateway_compare_rows;
    if rows > limit {
        let text = format!("the condition needs {rows} gateway rows; a gateway has {limit}");
        let diag =
            Diag::error(at, text).help("split it into nested conditions, or match the fields in a table");
        return Err(diag.limit("mau.gateway_compare_rows", limit, rows));
    }
    let mut layout =
        Layout { mau, phv, demand: GatewayDemand { rows, ..Default::default() }, ranges: BTreeMap::new() };
    layout.place(&tests).map_err(|found| {
        Diag::error(
            at,
            format!(
                "the condition needs {found}; a gateway sees {} bytes of one crossbar group and {} hash bits",
                mau.gateway_bytes, mau.gateway_hash_bits
            ),
        )
        .help("compare fewer or narrower fields at once, split it into nested conditions, or use a table")
    })?;
    Ok(layout.demand)
}

/// Gateway that is being filled.
struct Layout<'a> {
    mau: &'a MauSpec,
    phv: &'a PhvView<'a>,
    demand: GatewayDemand,
    /// First hash bit of each magnitude test.
    ranges: BTreeMap<Operand, u16>,
}

impl Layout<'_> {
    /// Gives every test its bytes and hash bits; the error says what the tests need.
    fn place(&mut self, tests: &[Test]) -> Result<(), String> {
        for test in tests {
            match test {
                Test::Below(x, _) => self.range(*x),
                Test::Split(x, _, codes) => self.range(Operand { width: *codes, ..*x }),
                _ => {}
            }
        }
        for test in tests {
            if let Test::Same(x, y) = test {
                self.same(*x, *y);
            }
        }
        let mut loose: BTreeMap<ByteRef, u8> = BTreeMap::new();
        for test in tests {
            let x = match test {
                Test::Equals(x) | Test::Under(x, _) => *x,
                Test::Split(x, _, codes) => Operand { lo: x.lo + codes, width: x.width - codes, ..*x },
                _ => continue,
            };
            for (byte, mask) in self.phv.bytes_of_bits(x.var, x.lo, x.width) {
                *loose.entry(byte).or_insert(0) |= mask;
            }
        }
        self.equal(&loose);
        // Each magnitude begins at a whole code, so bits between two magnitudes may be unusable: the last bit counts.
        let used = self.demand.hash_bits.last().map_or(0, |last| u32::from(*last) + 1);
        if used > self.mau.gateway_hash_bits {
            return Err(format!("{} crossbar bytes and {used} hash bits", self.demand.fixed.len()));
        }
        let bytes: BTreeSet<ByteRef> =
            self.demand.fixed.iter().map(|(_, b)| *b).chain(self.demand.hashed.iter().copied()).collect();
        if bytes.len() as u32 > self.mau.exact_xbar_group_bytes {
            return Err(format!("{} bytes of one crossbar group", bytes.len()));
        }
        Ok(())
    }

    /// Gives a magnitude hash bits that begin at a whole 4-bit code.
    fn range(&mut self, x: Operand) {
        if self.ranges.contains_key(&x) {
            return;
        }
        let first = self.ranges.iter().map(|(o, at)| at + o.width.next_multiple_of(4)).max().unwrap_or(0);
        self.ranges.insert(x, first);
        self.demand.hash_bits.extend(first..first + x.width);
        self.demand.hashed.extend(self.phv.bytes_of_bits(x.var, x.lo, x.width).into_keys());
    }

    /// Gives the equality of two operands byte pairs if their bits are aligned and lanes are free, else hash bits.
    fn same(&mut self, x: Operand, y: Operand) {
        let Some(pairs) = aligned_pairs(self.phv, x, y) else { return self.same_by_hash(x, y) };
        let before = self.demand.fixed.len();
        for (a, b) in pairs {
            let span = self.mau.gateway_bytes as u16;
            let free = (0..span).find(|&p| {
                a.may_stand_at(p)
                    && b.may_stand_at(p + span)
                    && !self.demand.fixed.iter().any(|(q, _)| *q == p || *q == p + span)
            });
            let Some(p) = free else {
                self.demand.fixed.truncate(before);
                return self.same_by_hash(x, y);
            };
            self.demand.fixed.extend([(p, a), (p + span, b)]);
        }
    }

    fn same_by_hash(&mut self, x: Operand, y: Operand) {
        self.take_hash_bits(x.width.max(y.width));
        for o in [x, y] {
            self.demand.hashed.extend(self.phv.bytes_of_bits(o.var, o.lo, o.width).into_keys());
        }
    }

    /// Gives tests of equality with constants places in the first four bytes while they last, then hash bits. Bytes
    /// of larger containers, which have fewer possible places, come first, then bytes with more tested bits.
    fn equal(&mut self, bytes: &BTreeMap<ByteRef, u8>) {
        let mut order: Vec<(ByteRef, u8)> = bytes.iter().map(|(b, m)| (*b, *m)).collect();
        order.sort_by_key(|(b, m)| (std::cmp::Reverse((b.of, m.count_ones())), *b));
        for (byte, mask) in order {
            let free = (0..self.mau.gateway_bytes as u16)
                .filter(|&p| byte.may_stand_at(p))
                .find(|p| !self.demand.fixed.iter().any(|(q, _)| q == p));
            match free {
                Some(p) => self.demand.fixed.push((p, byte)),
                None => {
                    self.take_hash_bits(mask.count_ones() as u16);
                    self.demand.hashed.insert(byte);
                }
            }
        }
    }

    fn take_hash_bits(&mut self, count: u16) {
        let free: Vec<u16> =
            (0..u16::MAX).filter(|b| !self.demand.hash_bits.contains(b)).take(usize::from(count)).collect();
        self.demand.hash_bits.extend(free);
    }
}

/// Returns the byte pairs of two operands whose bits have equal positions in their bytes; `None` if some have not.
fn aligned_pairs(phv: &PhvView<'_>, x: Operand, y: Operand) -> Option<BTreeSet<(ByteRef, ByteRef)>> {
    let mut pairs = BTreeSet::new();
    for i in 0..x.width.min(y.width) {
        let bit = |o: Operand| phv.bytes_of_bits(o.var, o.lo + i, 1).into_iter().next();
        let ((a, ma), (b, mb)) = (bit(x)?, bit(y)?);
        if ma != mb {
            return None;
        }
        pairs.insert((a, b));
    }
    // A byte that pairs with two others cannot be opposite both.
    let firsts: BTreeSet<_> = pairs.iter().map(|(a, _)| a).collect();
    let seconds: BTreeSet<_> = pairs.iter().map(|(_, b)| b).collect();
    (firsts.len() == pairs.len() && seconds.len() == pairs.len()).then_some(pairs)
}
