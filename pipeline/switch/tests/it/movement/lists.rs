//! Requests that carry lists of fields and zeros, types that are 0, and checksums under flags.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_asic::tm::MirrorSession;
use sluice_control::ControlOp;

/// Bits of `h.kind`: 1 makes a digest of type 0, 2 takes it back, 4 makes one of type 5, 8 mirrors, 16 updates the checksum.
/// Two actions write the two fields that share a byte of the lists.
const LISTS: &str = r#"program lists;
header h : ingress { bit<8> kind; bit<8> value; bit<16> rest; bit<16> sum; bit<4> high; bit<4> low; bit<8> more; }
metadata : ingress {
    bit<10> m.session; bit<1> m.told; bit<1> m.summed; bit<3> m.a; bit<5> m.b; bit<3> m.c; bit<17> m.wide; bit<32> m.stamp;
}
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; bit<4> dprsr.mirror_type; bit<3> dprsr.digest_type;
}
header eg_h : egress { bit<8> first; }
intrinsic : egress { bit<3> eg.egress_cos; }
action first : ingress () {
    ig_tm.ucast_egress_port = 9w16; m.wide = 17w0x12345; m.stamp = 32w0xdeadbeef; m.a = 3w5;
}
action second : ingress () { m.b = h.value[4:0]; }
action tell : ingress () { dprsr.digest_type = 3w0; m.told = 1w1; }
action silent : ingress () { m.told = 1w0; }
action tell_five : ingress () { dprsr.digest_type = 3w5; }
action copy : ingress () { dprsr.mirror_type = 4w1; m.session = 10w3; m.c = 3w5; }
action fix : ingress () { m.summed = 1w1; }
parser ingress { start = parse_h; state parse_h { extract(h); transition accept; } }
parser egress { start = parse_h; state parse_h { extract(eg_h); transition accept; } }
control ingress {
    call first;
    call second;
    if (h.kind[0:0] == 1w1) { call tell; }
    if (h.kind[1:1] == 1w1) { call silent; }
    if (h.kind[2:2] == 1w1) { call tell_five; }
    if (h.kind[3:3] == 1w1) { call copy; }
    if (h.kind[4:4] == 1w1) { call fix; }
}
deparser ingress {
    h.sum = checksum(h, { h.rest, 8w0, h.more, m.stamp }) when m.summed;
    digest(0, { h.rest, 7w0, ig.ingress_port, m.a, m.b, 7w0, m.wide, 16w0, m.stamp[15:0] }) when m.told;
    digest(5, { m.stamp[31:16], h.rest[7:0], h.sum, h.high, h.low });
    mirror(1, m.session, { h.value, 12w0, m.c, 1w0 });
    emit(h);
}
deparser egress { emit(eg_h); }
"#;

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

fn bytes(kind: u8) -> Vec<u8> {
    let mut list = vec![kind, 0xeb, 0x12, 0x34, 0x55, 0x66, 0x7c, 0x9d];
    list.extend(8..64u8);
    list
}

fn world(chip: &ChipSpec) -> World {
    let session = MirrorSession { max_length: u16::MAX, ..MirrorSession::to_port(DevPort::new(8).unwrap()) };
    World::new(chip, LISTS).with(ControlOp::SetMirrorSession { id: 3, session: Some(session) })
}

#[test]
fn digests_are_lists_of_headers_metadata_and_zeros() {
    for chip in chips() {
        let kinds = [0, 1, 3, 4, 5];
        let frames: Vec<_> =
            kinds.iter().map(|kind| frame(8, 1_000 * u64::from(*kind), &bytes(*kind))).collect();
        let story = world(&chip).run(&frames);
        let told: Vec<(u8, &[u8])> = story.digests.iter().map(|(d, b)| (d.kind, &**b)).collect();
        // 5 << 5 | 0x0b, then 17 bits in three bytes, and two bytes of zeros.
        let zero = [0x12, 0x34, 0, 8, 0xab, 0x01, 0x23, 0x45, 0, 0, 0xbe, 0xef];
        let five = [0xde, 0xad, 0x34, 0x55, 0x66, 0x7c];
        // Kind 0 makes none although the type field is 0; kind 3 takes it back; kind 5 makes only the last type.
        assert_eq!(told, [(0, &zero[..]), (5, &five), (5, &five)], "{}", chip.name);
        assert_eq!((story.totals.made.digest, story.totals.sent), (3, 5));
    }
}

#[test]
fn mirror_copies_begin_with_their_list() {
    for chip in chips() {
        let story = world(&chip).run(&[frame(8, 0, &bytes(8))]);
        let copy = [&[0xeb, 0, 0x0a][..], &bytes(8)].concat();
        let mut found = story.out();
        found.sort_unstable();
        assert_eq!(found, [(8, &*copy), (16, &*bytes(8))], "{}", chip.name);
        assert_eq!(story.passes(Gress::Egress).len(), 2);
    }
}

#[test]
fn a_checksum_is_updated_if_its_flag_is_set_and_zeros_keep_bytes_in_place() {
    for chip in chips() {
        let story = world(&chip).run(&[frame(8, 0, &bytes(16))]);
        // 0x1234 + 0x009d + 0xdead + 0xbeef, with end-around carry.
        let sum = 0x1234u32 + 0x009d + 0xdead + 0xbeef;
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        let mut expected = bytes(16);
        expected[4..6].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(story.out(), [(16, &*expected)], "{}", chip.name);
        let story = world(&chip).run(&[frame(8, 0, &bytes(0))]);
        assert_eq!(story.out(), [(16, &*bytes(0))], "{}", chip.name);
    }
}
