//! One small program per construct, with the bytes that it must write.

use crate::registers::bench::{both_chips, element};
use sluice_asic::salu::State as Element;
use sluice_build::params;
use sluice_build::*;
use sluice_ir::Program;

/// What the test packets carry: 15 bytes
#[derive(Header)]
pub(crate) struct Probe {
    pub(crate) kind: Bits<8>,
    pub(crate) slot: Bits<16>,
    pub(crate) a: Bits<32>,
    pub(crate) b: Bits<32>,
    pub(crate) out: Bits<32>,
}

#[derive(params::Params, Default)]
struct NoParams {}

/// Builds a program whose ingress parses a [`Probe`], runs `body` and sends everything to port 1.
pub(crate) fn program(body: impl FnOnce(&GressBuilder<'_>, Hdr<Probe>)) -> Program {
    let b = Builder::new("registers", "Keeps state between packets");
    let ig = b.ingress();
    let h = parser(&ig);
    let tm = ig.intrinsic::<tna::ForTm>();
    body(&ig, h);
    ig.control(|c| c.set(tm.ucast_egress_port, 1));
    ig.deparser().emit(h);
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

#[stage_program]
fn parser(ig: &GressBuilder<'_>) -> Hdr<Probe> {
    let probe = ig.header::<Probe>();
    let start = ig.state().extract(probe);
    ig.start(start);
    probe
}

pub(crate) fn frame(kind: u8, slot: u16, a: u32, b: u32) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(slot.to_be_bytes());
    bytes.extend(a.to_be_bytes());
    bytes.extend(b.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend([0xee; 49]);
    bytes
}

/// Returns the `out` field of each packet.
pub(crate) fn outs(program: &Program, frames: &[Vec<u8>]) -> (Vec<u32>, crate::registers::bench::Ran) {
    let ran = both_chips(program, frames);
    let outs = ran.packets.iter().map(|(_, b)| u32::from_be_bytes(b[11..15].try_into().unwrap())).collect();
    (outs, ran)
}

#[stage_program]
fn packet_counter(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Packets seen per slot
    let seen = ig.register::<32>(1000);
    /// Counts the packet and returns the number before it
    let count = ig.register_action(seen, |r| {
        r.out = r.value;
        r.value += 1;
    });
    ig.control(|c| h.out = count.execute(h.slot));
}

#[test]
fn a_counter_writes_its_count_into_the_packet() {
    let program = program(packet_counter);
    let frames: Vec<_> = [5, 5, 6, 5, 999, 1000, 5].map(|slot| frame(0, slot, 0, 0)).to_vec();
    let (found, ran) = outs(&program, &frames);
    // Index 1000 is past the end: nothing is accessed, the output is 0.
    assert_eq!(found, [0, 1, 0, 2, 0, 0, 3]);
    let held = [5, 6, 7, 999].map(|i| element(&program, &ran, "seen", i).lo);
    assert_eq!(held, [4, 1, 0, 1]);
}

#[stage_program]
fn count_after(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let seen = ig.register::<8>(size(16).init(0xfe));
    let count = ig.register_action(seen, |r| {
        r.value += 1;
        r.out = r.value;
    });
    ig.control(|c| h.out = count.execute(3));
}

#[test]
fn an_output_after_the_write_is_the_new_value_which_wraps() {
    let frames = vec![frame(0, 0, 0, 0); 4];
    assert_eq!(outs(&program(count_after), &frames).0, [0xff, 0, 1, 2]);
}

#[stage_program]
fn flowlets(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Low: time of the last packet; high: member in use
    let flowlet = ig.register_pair::<32>(4096);
    /// Keeps the member while the flow is busy; after a gap takes the candidate
    let touch = ig.register_action(flowlet, |r| {
        if h.a - r.lo > 100 {
            r.hi = h.b;
        }
        r.lo = h.a;
        r.out = r.hi;
    });
    ig.control(|c| h.out = touch.execute(h.slot));
}

#[test]
fn a_flowlet_keeps_its_member_until_a_gap_also_across_the_clocks_wrap() {
    let program = program(flowlets);
    // Time and candidate: the second comes 50 later, the third 101, the fourth after the wrap within 100, the fifth
    // beyond.
    let times =
        [(0x7000_0000, 1), (0x7000_0032, 2), (0x7000_0097, 3), (0xffff_fff0, 4), (0x20, 5), (0x90, 6)];
    let frames: Vec<_> = times.map(|(now, member)| frame(0, 9, now, member)).to_vec();
    let (found, ran) = outs(&program, &frames);
    assert_eq!(found, [1, 1, 3, 3, 3, 6]);
    assert_eq!(element(&program, &ran, "flowlet", 9), Element::pair(0x90, 6));
}

#[stage_program]
fn bloom(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let bits = ig.register::<1>(65536);
    /// Whether the flow was seen before; it is from now on
    let mark = ig.register_action(bits, |r| {
        r.out = r.value;
        r.value = 1;
    });
    let forget = ig.register_action(bits, |r| r.value = 0);
    let unseen = ig.register_action(bits, |r| r.out = r.value.complement());
    ig.control(|c| match h.kind {
        0 => h.out = mark.execute(h.slot),
        1 => {
            forget.execute(h.slot);
        }
        _ => h.out = unseen.execute(h.slot),
    });
}

#[test]
fn one_bit_elements_are_set_cleared_and_read() {
    let rows = [(0, 7, 0), (0, 7, 1), (2, 7, 0), (1, 7, 0), (2, 7, 1), (0, 7, 0), (0, 8, 0), (2, 9, 1)];
    let frames: Vec<_> = rows.map(|(kind, slot, _)| frame(kind, slot, 0, 0)).to_vec();
    assert_eq!(outs(&program(bloom), &frames).0, rows.map(|(.., out)| out));
}

#[stage_program]
fn two_way_test(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Epoch of the flow, modulo 4
    let epoch = ig.register::<8>(256);
    let next = ig.register_action(epoch, |r| {
        if r.value == 3 {
            r.value = 0;
        } else {
            r.value += 1;
        }
        r.out = r.value;
    });
    /// Lower and upper bound of what was seen
    let bounds = ig.register_pair::<32>(size(256).init(0xffff_ffff));
    let widen = ig.register_action(bounds, |r| {
        r.lo = r.lo.min(h.a);
        r.hi = r.hi.max(h.a);
        r.out = r.hi;
    });
    /// Room left, never below zero, and refilled when it is nearly used up
    let room = ig.register::<32>(size(16).init(10));
    let take = ig.register_action(room, |r| {
        if r.value < 4 && h.b != 0 {
            r.value = r.value.sat_add(100);
            r.out = 1;
        } else {
            r.value = r.value.sat_sub(h.a);
        }
    });
    ig.control(|c| match h.kind {
        0 => h.out = next.execute(h.slot),
        1 => h.out = widen.execute(h.slot),
        _ => h.out = take.execute(h.slot),
    });
}

#[test]
fn conditions_two_values_per_half_and_flags() {
    let program = program(two_way_test);
    let rows = [
        (0, 1, 0, 0, 1),
        (0, 1, 0, 0, 2),
        (0, 1, 0, 0, 3),
        (0, 1, 0, 0, 0),
        (1, 1, 50, 0, 50),
        (1, 1, 20, 0, 50),
        (1, 1, 70, 0, 70),
        (2, 1, 7, 0, 0),
        (2, 1, 9, 0, 0),
        (2, 1, 9, 1, 1),
        (2, 1, 1, 1, 0),
    ];
    let frames: Vec<_> = rows.map(|(kind, slot, a, b, _)| frame(kind, slot, a, b)).to_vec();
    let (found, ran) = outs(&program, &frames);
    assert_eq!(found, rows.map(|(.., out)| out));
    assert_eq!(element(&program, &ran, "bounds", 1), Element::pair(20, 70));
    assert_eq!(element(&program, &ran, "room", 1).lo, 99);
}
