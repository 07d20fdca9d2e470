//! ECN marking by queue depth, with the RED-like probability curve that DCQCN needs (model: conweave §4.3).

use sluice_build::net::Ipv4;
use sluice_build::*;
use sluice_catalogue::setup::{Ops, SetupError};
use sluice_ir::KeyValue;

/// ECN marking of one packet
#[derive(Header, Debug)]
pub(crate) struct Mark {
    /// Marking probability in 256ths; after the draw, the amount by which it exceeds the draw (0 = no mark)
    probability: Bits<8>,
    /// Random number from 0 to 255; the packet is marked if the probability is above it
    draw: Bits<8>,
    /// Depth of the packet's queue when the packet was dequeued, in units of 64 cells
    depth: Bits<13>,
}

/// Tables of marking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marking {
    k: Mark,
    depth: Ro<19>,
    probability: TableRef,
    draw: RandomRef<8>,
}

/// Declares egress marking by `depth`, in cells. The control plane fills `mark_probability`, in units of 64 cells. It is a marking
/// table ([`sluice_control::marks`]): a device whose buffer profile marks starts without its entries.
#[stage_program]
pub(crate) fn marking(eg: &GressBuilder<'_>, depth: Ro<19>) -> Marking {
    let k = eg.metadata::<Mark>();
    let set_probability = eg.action(|a, mark_probability: Arg<8>| k.probability = mark_probability);
    /// Queue depth in units of 64 cells to marking probability in 256ths; without an entry the probability is 0
    let mark_probability = eg.table([ternary(k.depth)]).actions([set_probability]).size(64).build();
    /// Random number of a packet, 0 to 255, that is compared with the marking probability
    let mark_draw = eg.random::<8>();
    Marking { k, depth, probability: mark_probability, draw: mark_draw }
}

impl Marking {
    /// Marks packets of ECN-capable transports.
    pub(crate) fn mark(&self, c: &mut Control<'_>, ipv4: Hdr<Ipv4>) {
        mark(c, *self, ipv4);
    }
}

#[stage_program]
fn mark(c: &mut Control<'_>, t: Marking, ipv4: Hdr<Ipv4>) {
    let k = t.k;
    c.block(|c| {
        k.depth = t.depth.slice::<18, 6, 13>();
        k.draw = t.draw.get();
        t.probability.apply();
        // A difference above 0 means that the probability exceeds the draw: the packet is marked.
        k.probability = k.probability.sat_sub(k.draw);
        if ipv4.is_valid() && ipv4.ecn != 0 && k.probability != 0 {
            ipv4.ecn = 3;
        }
    });
}

/// Kmin of 100 KB and Kmax of 400 KB in cells of 176 B (model: conweave §4.3).
pub(crate) const DCQCN: (u32, u32) = (568, 2272);
/// Marking probability at Kmax, in 256ths: a fifth. Above Kmax the probability is 255/256.
const MOST: u32 = 51;
/// Cells per step of the marking curve; a depth in steps has `STEP_BITS` bits.
const STEP: u32 = 64;
const STEP_BITS: u32 = 13;

/// Adds the entries of `mark_probability`. `depths` are Kmin, where marking begins, and Kmax, above which its
/// probability is 255/256, both in cells; `None` adds no entry. The slope takes one entry per step, the rest prefixes.
pub(crate) fn entries(ops: &mut Ops<'_>, depths: Option<(u32, u32)>) -> Result<(), SetupError> {
    let Some((low, high)) = depths else { return Ok(()) };
    let [low, high] = [low, high].map(|cells| cells / STEP);
    let steps = high.saturating_sub(low).max(1);
    let mut entry = |step: u32, free: u32, probability: u32| {
        let mask = (1u128 << STEP_BITS) - (1 << free);
        let key = [KeyValue::Ternary { value: u128::from(step) & mask, mask }];
        ops.ternary_with("mark_probability", step, key, "set_probability", [probability.into()])
    };
    for step in 1..=steps {
        entry(low + step, 0, step * MOST / steps)?;
    }
    let mut above = low + steps + 1;
    while above < 1 << STEP_BITS {
        let free = above.trailing_zeros();
        entry(above, free, 255)?;
        above += 1 << free;
    }
    Ok(())
}
