//! Lists of fields and zeros that a deparser sends beside the packet.

use super::batch::{Phv, Slot};
use super::error::LowerError;
use super::field::{SlotMap, ones};
use arrayvec::ArrayVec;
use sluice_ir::{Expr, ListItem, Program};

/// Most bytes of a list: no chip takes more (model: chip §6.4).
pub(super) const MAX_BYTES: usize = 64;

/// Bits of a column in a list.
#[derive(Clone, Copy, Debug)]
struct Part {
    slot: Slot,
    /// Lowest bit in the column.
    at: u8,
    width: u8,
    /// First bit in the list.
    from: u16,
}

/// A list whose fields have columns.
#[derive(Clone, Debug, Default)]
pub(super) struct ListAt {
    bytes: usize,
    parts: Vec<Part>,
}

impl ListAt {
    pub(super) fn new(
        program: &Program,
        list: &[Expr],
        slots: &mut SlotMap<'_>,
    ) -> Result<ListAt, LowerError> {
        let (mut bits, mut parts) = (0u16, Vec::<Part>::new());
        for value in list {
            let item = ListItem::of(program, value).ok_or_else(|| {
                LowerError::new(format!("a deparser sends `{}`, which is computed", value.name(program)))
            })?;
            if usize::from(bits) + usize::from(item.width()) > MAX_BYTES * 8 {
                return Err(LowerError::new(format!("a request carries more than {MAX_BYTES} bytes")));
            }
            if let ListItem::Bits(field, hi, lo) = item {
                let mut pieces = slots.source_bits(field, hi, lo).pieces;
                pieces.sort_by_key(|p| std::cmp::Reverse(p.lo));
                for p in pieces {
                    let from = bits + item.width() - p.end();
                    put(&mut parts, Part { slot: p.slot, at: p.at, width: p.width, from });
                }
            }
            bits += item.width();
        }
        Ok(ListAt { bytes: usize::from(bits / 8), parts })
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes of a lane.
    pub(super) fn bytes<const N: usize>(&self, lane: usize, phv: &Phv<N>) -> ArrayVec<u8, MAX_BYTES> {
        let mut bytes = ArrayVec::from([0; MAX_BYTES]);
        bytes.truncate(self.bytes);
        for p in &self.parts {
            let end = usize::from(p.from) + usize::from(p.width);
            let up = end.next_multiple_of(8) - end;
            let mut value = u64::from(phv.get(p.slot, lane) >> p.at & ones(p.width)) << up;
            let (first, last) = (usize::from(p.from) / 8, end.div_ceil(8));
            for byte in bytes.get_mut(first..last).into_iter().flatten().rev() {
                *byte |= value as u8;
                value >>= 8;
            }
        }
        bytes
    }
}

/// Adds a part, to the last one if it is the next in both column and list.
fn put(parts: &mut Vec<Part>, part: Part) {
    if let Some(last) = parts.last_mut()
        && last.slot == part.slot
        && last.at == part.at + part.width
        && last.from + u16::from(last.width) == part.from
    {
        (last.at, last.width) = (part.at, last.width + part.width);
        return;
    }
    parts.push(part);
}
