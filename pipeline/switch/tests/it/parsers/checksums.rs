//! Checksums over several headers and metadata: incremental updates, and zero written as ones.

use super::{Front, frame, program, run};
use proptest::prelude::*;
use sluice_build::*;
use sluice_ir::Program;

/// A checksum as UDP has one
#[derive(Header)]
struct Sum {
    value: Bits<16>,
}

/// What the program may insert
#[derive(Header)]
struct Extra {
    x: Bits<32>,
    y: Bits<16>,
}

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    /// Complement of the old checksum
    old: Bits<16>,
}

/// Kind 1 inserts `out`, `b` and keeps the checksum right by RFC 1624; any other kind leaves the packet alone.
#[stage_program]
fn parse(ig: &GressBuilder<'_>, zeros_as_ones: bool) {
    let (front, sum, extra) = (ig.header::<Front>(), ig.header::<Sum>(), ig.header::<Extra>());
    let m = ig.metadata::<Meta>();
    let start = ig.state().extract(front).extract(sum);
    ig.start(start);
    let insert = ig.action(|a| {
        extra.set_valid();
        extra.x = front.out;
        extra.y = front.b;
    });
    ig.control(|c| {
        m.old = sum.value ^ 0xffff;
        // Fields that a header has before it is valid are not summed.
        extra.y = front.b;
        if front.kind == 1 {
            insert.call();
        }
    });
    let inputs = vec![m.old.id(), extra.x.id(), extra.y.id()];
    let deparser = ig.deparser();
    let deparser = if zeros_as_ones {
        deparser.udp_checksum_over(sum, sum.value, inputs)
    } else {
        deparser.checksum_over(sum, sum.value, inputs)
    };
    deparser.emit(front).emit(sum).emit(extra);
}

fn summing(zeros_as_ones: bool) -> Program {
    program(|ig| parse(ig, zeros_as_ones))
}

fn ones_sum(words: &[u16]) -> u16 {
    words.iter().fold(0, |sum, &word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

#[test]
fn zero_is_written_as_ones_where_udp_wants_it() {
    for (zeros_as_ones, expected) in [(true, 0xffffu16), (false, 0)] {
        // The sum of everything is 0xffff, so the checksum is zero.
        let packet = frame(&[1, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
        let out = run(&summing(zeros_as_ones), &[packet]);
        assert_eq!(out[0].as_ref().unwrap()[8..10], expected.to_be_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_incremental_update_is_what_summing_all_again_gives(
        packets in prop::collection::vec((0..3u8, any::<[u16; 4]>()), 1..70),
    ) {
        let frames: Vec<Vec<u8>> = packets
            .iter()
            .map(|(kind, [b, hi, lo, sum])| {
                let words = [*b, *hi, *lo, *sum].map(u16::to_be_bytes).concat();
                frame(&[&[*kind, 0], &words[..]].concat())
            })
            .collect();
        let out = run(&summing(false), &frames);
        for ((frame, (kind, [b, hi, lo, sum])), out) in frames.iter().zip(&packets).zip(out) {
            let out = out.unwrap();
            if *kind == 1 {
                let inserted = [hi.to_be_bytes(), lo.to_be_bytes(), b.to_be_bytes()].concat();
                prop_assert_eq!(&out[10..16], &inserted[..]);
                let found = u16::from_be_bytes([out[8], out[9]]);
                prop_assert_eq!(found, !ones_sum(&[!sum, *hi, *lo, *b]));
            } else {
                prop_assert_eq!(&out, frame);
            }
        }
    }
}

/// Two sums in one flag; zeros in front of a byte make it the second one of a word.
const SUMS: &str = "program sums;
header h : ingress { bit<8> a; bit<16> x; bit<8> b; bit<16> y; }
metadata : ingress { bit<1> m.bad; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
parser ingress {
    start = start;
    state start {
        extract(h);
        m.bad = verify_checksum({ 8w0, h.a, h.x });
        m.bad = verify_checksum({ h.b, 8w0, h.y });
        transition accept;
    }
}
action good : ingress () { ig_tm.ucast_egress_port = 9w1; }
action wrong : ingress () { ig_tm.ucast_egress_port = 9w1; h.y = 16w0; }
control ingress { if (m.bad == 1w1) { call wrong; } else { call good; } }
deparser ingress { emit(h); }
";

#[test]
fn several_sums_add_their_errors() {
    let program = sluice_ir::text::parse(SUMS).unwrap_or_else(|e| panic!("{e}"));
    // 0x0012 + 0xffed and 0x3400 + 0xcbff are all ones.
    let packet = |a: u8, b: u8| vec![a, 0xff, 0xed, b, 0xcb, 0xff];
    let found = run(&program, &[packet(0x12, 0x34), packet(0x13, 0x34), packet(0x12, 0x35), packet(0, 0)]);
    let marked = |a: u8, b: u8| Ok(vec![a, 0xff, 0xed, b, 0, 0]);
    assert_eq!(found, [Ok(packet(0x12, 0x34)), marked(0x13, 0x34), marked(0x12, 0x35), marked(0, 0)]);
}
