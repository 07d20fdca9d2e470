//! The metadata block of one hop, in the order of the instruction bits; in a report, the report's metadata.

use super::headers::*;
use super::metadata::Meta;
use super::params::{Carrier, Params};
use super::parser::Headers;
use sluice_build::*;
use sluice_ir::Field;

/// One header per instruction, and up to three words of ones for instructions that this program does not know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) node: Hdr<Word>,
    pub(super) interfaces: Hdr<Interfaces>,
    pub(super) latency: Hdr<Word>,
    pub(super) queue: Hdr<Word>,
    pub(super) ingress_time: Hdr<Stamp>,
    pub(super) egress_time: Hdr<Stamp>,
    pub(super) l2: Hdr<LogicalInterfaces>,
    pub(super) util: Hdr<Word>,
    pub(super) ones2: Hdr<TwoWords>,
    pub(super) ones1: Hdr<Word>,
    pub(super) ds: Hdr<Word>,
    pub(super) complement: Hdr<Complement>,
    pub(super) drop_reason: Hdr<DropReason>,
}

/// Declares the headers.
#[stage_program]
pub(super) fn block(eg: &GressBuilder<'_>) -> Block {
    let (node, interfaces) = (eg.header::<Word>(), eg.header::<Interfaces>());
    let (latency, queue) = (eg.header::<Word>(), eg.header::<Word>());
    let (ingress_time, egress_time) = (eg.header::<Stamp>(), eg.header::<Stamp>());
    let (l2, util) = (eg.header::<LogicalInterfaces>(), eg.header::<Word>());
    let (ones2, ones1) = (eg.header::<TwoWords>(), eg.header::<Word>());
    let (ds, complement) = (eg.header::<Word>(), eg.header::<Complement>());
    let drop_reason = eg.header::<DropReason>();
    Block {
        node,
        interfaces,
        latency,
        queue,
        ingress_time,
        egress_time,
        l2,
        util,
        ones2,
        ones1,
        ds,
        complement,
        drop_reason,
    }
}

/// Counts the words that the instructions request: `words` for bits 0 to 7, `ones` for bits 8 to 14, which this
/// program does not know, and `tail` = 1 if a complement is requested.
#[stage_program]
pub(super) fn measure(eg: &GressBuilder<'_>, m: Meta) {
    let known = eg.action(|a, words: Arg<8>| m.words = words);
    let others = eg.action(|a, ones: Arg<8>, tail: Arg<8>| {
        m.ones = ones;
        m.tail = tail;
    });
    // Timestamps and level-2 interfaces take two words each.
    let hi: [Row<1>; 256] = std::array::from_fn(|bits| {
        let words = u128::from((bits as u32).count_ones() + (bits as u32 & 0x0e).count_ones());
        Row::new([Cell::Value(bits as u128)], known, vec![words])
    });
    let lo: [Row<1>; 256] = std::array::from_fn(|bits| {
        let ones = u128::from((bits as u32 >> 1).count_ones());
        Row::new([Cell::Value(bits as u128)], others, vec![ones, bits as u128 & 1])
    });
    /// Instruction bits 0 to 7 to their words of metadata
    let words_hi = eg.table([exact(m.bits_hi)]).actions([known]).entries(hi).build();
    /// Instruction bits 8 to 15 to words of ones (bits 8 to 14) and of the complement (bit 15)
    let words_lo = eg.table([exact(m.bits_lo)]).actions([others]).entries(lo).build();
    eg.control(|c| {
        words_hi.apply();
        words_lo.apply();
    });
}

/// Makes the headers of bits 0 to 7 valid. Validity bits share containers, so that every action takes a
/// stage. One table therefore handles four bits.
pub(super) fn show(eg: &GressBuilder<'_>, m: Meta, k: Block) {
    let named = |at: usize, bit: usize, a: &mut Act<'_>| match (at, bit) {
        (0, 0) => a.run(k.node.set_valid()),
        (0, 1) => a.run(k.interfaces.set_valid()),
        (0, 2) => a.run(k.latency.set_valid()),
        (0, 3) => a.run(k.queue.set_valid()),
        (1, 0) => a.run(k.ingress_time.set_valid()),
        (1, 1) => a.run(k.egress_time.set_valid()),
        (1, 2) => a.run(k.l2.set_valid()),
        _ => a.run(k.util.set_valid()),
    };
    let mut tables = Vec::new();
    for at in 0..2 {
        let first = 4 * at;
        let actions: [ActionRef; 16] = std::array::from_fn(|bits| {
            let doc = "Makes the headers of these instructions valid";
            eg.named(&format!("show_bits_{first}_{bits:04b}"), doc).action(|a| {
                (0..4).filter(|bit| bits & 8 >> bit != 0).for_each(|bit| named(at, bit, a));
            })
        });
        let rows: [Row<1>; 16] = std::array::from_fn(|bits| {
            let shift = 4 * (1 - at);
            Row::new([Cell::Masked((bits << shift) as u128, 0xf << shift)], actions[bits], Vec::new())
        });
        let doc = format!("Headers of instructions {first} to {}", first + 3);
        let table = eg.named(&format!("show_bits_{first}"), &doc).table([ternary(m.bits_hi)]);
        tables.push(table.actions(actions).entries(rows).build());
    }
    eg.control(|c| {
        c.if_(m.adds, |c| tables.iter().for_each(|t| c.run(t.apply())));
    });
}

/// Makes the remaining headers valid: ones, domain specific metadata, complement.
#[stage_program]
pub(super) fn show_rest(eg: &GressBuilder<'_>, p: &Params, h: Headers, k: Block) {
    let Headers { int, m, .. } = h;
    let Block { ones2, ones1, ds, complement, .. } = k;
    const ONES: u64 = 0xffff_ffff;
    let fill = eg.action(|a| {
        ones2.first = ONES;
        ones2.second = ONES;
        ones1.value = ONES;
        complement.pad = 0;
    });
    let actions: [ActionRef; 8] = std::array::from_fn(|what| {
        let name = format!("show_rest_{what:03b}");
        eg.named(&name, "Makes two words of ones, one, and the complement valid").action(|a| {
            for (bit, step) in [(4, ones2.set_valid()), (2, ones1.set_valid()), (1, complement.set_valid())] {
                if what & bit != 0 {
                    a.run(step);
                }
            }
        })
    });
    let rows: [Row<2>; 8] = std::array::from_fn(|what| {
        let key = [Cell::Masked(what as u128 >> 1, 3), Cell::Masked(what as u128 & 1, 1)];
        Row::new(key, actions[what], Vec::new())
    });
    /// Words of ones and complement bit to the headers for unknown instructions and the complement
    let show_rest = eg.table([ternary(m.pad), ternary(m.bits_lo)]).actions(actions).entries(rows).build();
    eg.control(|c| {
        if m.adds && int.is_valid() {
            fill.call();
            show_rest.apply();
        }
    });
    if p.domain != 0 {
        eg.control(|c| {
            if m.adds && m.asks_ds {
                ds.set_valid();
            }
        });
    }
}

/// Returns the fields that a hop's complement covers: its metadata, and its changes in shim, header and lengths.
pub(super) fn changes(p: &Params, m: Meta, k: Block) -> Vec<Field> {
    let mut list = vec![k.node.value.id(), k.interfaces.ingress.id(), k.interfaces.egress.id()];
    list.extend([k.latency.value, k.queue.value].map(Bits::id));
    for time in [k.ingress_time, k.egress_time] {
        list.extend([time.pad.id(), time.time_hi.id(), time.time.id()]);
    }
    list.extend([k.l2.ingress, k.l2.egress, k.util.value].map(Bits::id));
    list.extend([k.ones2.first, k.ones2.second, k.ones1.value].map(Bits::id));
    if p.domain != 0 {
        list.push(k.ds.value.id());
    }
    list.extend([m.changes, m.fixed_sum, m.fixed_udp, m.original].map(Bits::id));
    if p.carrier == Carrier::UdpPort {
        list.extend([m.new_port, m.old_port].map(Bits::id));
    }
    list
}
