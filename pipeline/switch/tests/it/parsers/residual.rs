//! Checksums over unparsed bytes: a parser subtracts the header from the sum, the deparser adds the new header.

use super::{Front, program, run};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_build::*;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_place::place;

/// A segment whose checksum covers its payload and an address in front of it
#[derive(Header)]
struct Segment {
    port: Bits<16>,
    sum: Bits<16>,
}

/// What a checksum covers beside its own header
#[derive(Header)]
struct Pseudo {
    address: Bits<32>,
}

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    /// What the checksum covers behind the segment's header
    rest: Bits<16>,
}

/// Kind 1 gets a new address and port; the checksum stays right whatever follows the header.
#[stage_program]
fn translate(ig: &GressBuilder<'_>) {
    let (front, pseudo, segment) = (ig.header::<Front>(), ig.header::<Pseudo>(), ig.header::<Segment>());
    let m = ig.metadata::<Meta>();
    let inner = ig.state().extract(segment).subtract_checksum(m.rest, [segment.port.id(), segment.sum.id()]);
    let start = ig
        .state()
        .extract(front)
        .extract(pseudo)
        .subtract_checksum(m.rest, [pseudo.address.id()])
        .otherwise(inner);
    ig.start(start);
    ig.control(|c| {
        if front.kind == 1 {
            pseudo.address = 0xc0a8_0107;
            segment.port = 4789;
        }
    });
    let inputs = vec![m.rest.id(), pseudo.address.id(), segment.port.id()];
    ig.deparser().checksum_over(segment, segment.sum, inputs).emit(front).emit(pseudo).emit(segment);
}

/// Number of bytes in front of those that the checksum covers.
const FRONT: usize = 8;

fn translating() -> Program {
    program(translate)
}

fn ones_sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|w| u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)]));
    words.fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

#[test]
fn it_is_said_in_text() {
    let p = translating();
    let printed = text::print(&p);
    assert!(printed.contains("m.rest = subtract_checksum({ pseudo.address });"), "{printed}");
    assert_eq!(text::print(&text::parse(&printed).unwrap_or_else(|e| panic!("{e}"))), printed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn payloads_that_nobody_parses_stay_covered(
        packets in prop::collection::vec((0..3u8, any::<u32>(), any::<u16>(), prop::collection::vec(any::<u8>(), 40..90)), 1..70),
    ) {
        let frames: Vec<Vec<u8>> = packets
            .iter()
            .map(|(kind, address, port, payload)| {
                let covered = [&address.to_be_bytes()[..], &port.to_be_bytes(), payload].concat();
                let sum = !ones_sum(&covered);
                [&[*kind, 0, 0, 0, 0, 0, 0, 0][..], &address.to_be_bytes(), &port.to_be_bytes(), &sum.to_be_bytes(), payload].concat()
            })
            .collect();
        let out = run(&translating(), &frames);
        for ((frame, (kind, ..)), out) in frames.iter().zip(&packets).zip(out) {
            let out = out.unwrap();
            let at = FRONT;
            if *kind == 1 {
                prop_assert_eq!(&out[at..at + 6], &[0xc0, 0xa8, 1, 7, 0x12, 0xb5]);
                prop_assert_eq!(&out[at + 8..], &frame[at + 8..]);
                prop_assert_eq!(ones_sum(&out[at..]), 0xffff);
            } else {
                prop_assert_eq!(&out, frame);
            }
        }
    }
}

/// Returns the verifier's findings about a parser state with this operation.
fn said(op: &str) -> Vec<String> {
    let source = format!(
        "program small;
        header h : ingress {{ bit<16> a; bit<8> b; bit<8> c; }}
        header late : ingress {{ bit<16> d; }}
        metadata : ingress {{ bit<16> m.rest; bit<8> m.byte; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action put : ingress () {{ h.a = m.rest; h.b = m.byte; ig_tm.ucast_egress_port = 9w8; }}
        parser ingress {{ start = first; state first {{ extract(h); {op} transition second; }}
            state second {{ extract(late); m.byte = 8w1; transition accept; }} }}
        control ingress {{ call put; }}
        deparser ingress {{ emit(h); emit(late); }}"
    );
    let p = text::parse(&source).unwrap_or_else(|e| panic!("{e}"));
    verify(&p).iter().map(|d| format!("{}: {}", d.text, d.help)).collect()
}

#[test]
fn sums_are_of_whole_words_that_are_there() {
    assert_eq!(said("m.rest = subtract_checksum({ h.a, h.b, h.c });"), Vec::<String>::new());
    assert_eq!(
        said("m.rest = subtract_checksum({ h.a, h.b }); m.byte = subtract_checksum({ h.a });"),
        [
            "state `first` subtracts 24 bits from a sum: subtract whole 16-bit words: also name the neighbouring fields",
            "state `first` keeps a sum in `m.byte`, which has 8 bits instead of 16: use a 16-bit metadata field",
        ]
    );
    let early = said("m.rest = subtract_checksum({ late.d });");
    assert!(early[0].starts_with("state `first` sums `late.d`"), "{early:?}");
}

#[test]
fn a_sum_keeps_its_unit() {
    let kept = |n: usize| {
        let fields: String = (0..n).map(|i| format!("bit<16> m.r{i}; ")).collect();
        let ops: String = (0..n).map(|i| format!("m.r{i} = subtract_checksum({{ h.a }}); ")).collect();
        let uses: String = (0..n).map(|i| format!("h.x{i} = m.r{i}; ")).collect();
        let outs: String = (0..n).map(|i| format!("bit<16> x{i}; ")).collect();
        let source = format!(
            "program kept;
            header h : ingress {{ bit<16> a; {outs} }}
            metadata : ingress {{ {fields} }}
            intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
            action put : ingress () {{ {uses} ig_tm.ucast_egress_port = 9w8; }}
            parser ingress {{ start = first; state first {{ extract(h); {ops} transition accept; }} }}
            control ingress {{ call put; }}
            deparser ingress {{ emit(h); }}"
        );
        text::parse(&source).unwrap_or_else(|e| panic!("{e}"))
    };
    assert!(place(&kept(2), &ChipSpec::tofino()).is_ok());
    let refused = place(&kept(3), &ChipSpec::tofino()).unwrap_err();
    assert_eq!(
        refused.diags[0].text,
        "state `first` verifies 0 checksums, and ingress keeps 3 sums; a parser of tofino has 2 units"
    );
    assert!(place(&kept(5), &ChipSpec::tofino2()).is_ok() && place(&kept(6), &ChipSpec::tofino2()).is_err());
}
