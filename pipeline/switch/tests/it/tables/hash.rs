//! Every hash algorithm with its check value, and every way to shape input and output, as bytes that programs write.

use crate::tables::bench::{Ran, both_chips, parsed};
use sluice_asic::hash::{CrcParams, HashAlgorithm};
use sluice_build::{params, stage_program, *};
use sluice_ir::text;

/// Runs a program that hashes the nine bytes after a result of `width` bits; `inputs` may name `h.d0` (64 bits) and
/// `h.d1` (8 bits).
fn hashing(algorithm: &str, inputs: &str, width: u16, more: &str) -> Ran {
    let p = parsed(&format!(
        "program hashing;
        header h : ingress {{ bit<{width}> out; bit<64> d0; bit<8> d1; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        hash flow : ingress {{ algorithm = {algorithm}; inputs = {{ {inputs} }}; width = {width}; {more} }}
        action put : ingress () {{ h.out = hash(flow); ig_tm.ucast_egress_port = 9w8; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ call put; }}
        deparser ingress {{ emit(h); }}"
    ));
    let out = vec![0xee; usize::from(width) / 8];
    both_chips(&p, &[], &[[out, b"123456789".to_vec(), vec![0; 60]].concat()])
}

fn value(ran: &Ran, width: u16) -> u64 {
    ran.packets[0].1[..usize::from(width) / 8].iter().fold(0, |v, b| v << 8 | u64::from(*b))
}

const ALL: &str = "h.d0, h.d1";

/// Check values of the CRC catalogue for `123456789`; `crc_8_itu`, `crc_32d` and the like by their parameters.
const CHECKS: [(&str, u16, u64); 41] = [
    ("crc_8", 8, 0xf4),
    ("crc_8_darc", 8, 0x15),
    ("crc_8_i_code", 8, 0x7e),
    ("crc_8_itu", 8, 0),
    ("crc_8_maxim", 8, 0xa1),
    ("crc_8_rohc", 8, 0xd0),
    ("crc_8_wcdma", 8, 0x25),
    ("crc_16", 16, 0xbb3d),
    ("crc_16_bypass", 16, 0xfee8),
    ("crc_16_dds_110", 16, 0x9ecf),
    ("crc_16_dect", 16, 0),
    ("crc_16_dect_r", 16, 0x007e),
    ("crc_16_dect_x", 16, 0x007f),
    ("crc_16_dnp", 16, 0xea82),
    ("crc_16_en_13757", 16, 0xc2b7),
    ("crc_16_genibus", 16, 0xd64e),
    ("crc_16_maxim", 16, 0x44c2),
    ("crc_16_mcrf4xx", 16, 0x6f91),
    ("crc_16_riello", 16, 0x63d0),
    ("crc_16_t10_dif", 16, 0xd0db),
    ("crc_16_teledisk", 16, 0x0fb3),
    ("crc_16_usb", 16, 0xb4c8),
    ("crc_16_x_25", 16, 0x906e),
    ("crc_16_xmodem", 16, 0x31c3),
    ("crc_16_modbus", 16, 0x4b37),
    ("crc_16_kermit", 16, 0x2189),
    ("crc_ccitt_false", 16, 0x29b1),
    ("crc_aug_ccitt", 16, 0xe5cc),
    ("crc_32", 32, 0xcbf4_3926),
    ("crc_32_bzip2", 32, 0xfc89_1918),
    ("crc_32c", 32, 0xe306_9283),
    ("crc_32d", 32, 0x8731_5576),
    ("crc_32_mpeg", 32, 0x0376_e6e7),
    ("posix", 32, 0x765e_7680),
    ("crc_32q", 32, 0x3010_bf7f),
    ("jamcrc", 32, 0x340b_c6d9),
    ("xfer", 32, 0xbd0b_e338),
    ("crc_64", 64, 0x6c40_df5f_0b49_7347),
    ("crc_64_go_iso", 64, 0xb909_56c7_75a4_1001),
    ("crc_64_we", 64, 0x62ec_59e3_f1a4_f00a),
    ("crc_64_jones", 64, 0xcaa7_17c4_7860_9d7d),
];

/// Computes a CRC bit by bit from its parameters, for algorithms without a check value in the catalogue.
fn serial(crc: CrcParams) -> u64 {
    let width = crc.width();
    let mask = u64::MAX >> (64 - width);
    let mut register = crc.init();
    for byte in *b"123456789" {
        let byte = if crc.reflect() { byte.reverse_bits() } else { byte };
        for bit in (0..8).rev() {
            let top = register >> (width - 1) & 1 ^ u64::from(byte >> bit & 1);
            register = (register << 1 ^ if top == 1 { crc.poly() } else { 0 }) & mask;
        }
    }
    (if crc.reflect() { register.reverse_bits() >> (64 - width) } else { register }) ^ crc.xor_out()
}

#[test]
fn every_crc_of_the_list_has_its_check_value() {
    for (name, width, check) in CHECKS {
        let Ok(HashAlgorithm::Crc(crc)) = HashAlgorithm::from_name(name) else { panic!("{name}") };
        // Names that the catalogue does not have under these parameters.
        let check =
            if ["crc_8_itu", "crc_16_dect", "crc_64_jones"].contains(&name) { serial(crc) } else { check };
        assert_eq!(serial(crc), check, "{name} bit by bit");
        assert_eq!(value(&hashing(name, ALL, width, ""), width), check, "{name}");
    }
}

#[test]
fn what_is_no_crc() {
    let text = *b"123456789";
    let xor = |width: usize| {
        let words = text
            .chunks(width)
            .map(|c| (0..width).fold(0_u64, |v, i| v << 8 | u64::from(c.get(i).copied().unwrap_or(0))));
        words.fold(0, |a, b| a ^ b)
    };
    assert_eq!(value(&hashing("xor8", ALL, 8, ""), 8), xor(1));
    assert_eq!(value(&hashing("xor16", ALL, 16, ""), 16), xor(2));
    assert_eq!(value(&hashing("xor32", ALL, 32, ""), 32), xor(4));
    // The last 32 bits of the input.
    assert_eq!(value(&hashing("identity", ALL, 32, ""), 32), 0x3637_3839);
    let random = |seed: &str| value(&hashing(seed, ALL, 32, ""), 32);
    assert_eq!(random("random(7)"), random("random(7)"));
    assert_ne!(random("random(7)"), random("random(8)"));
}

#[test]
fn input_and_output_take_shape() {
    // A custom polynomial, here Kermit's, and one that no list has.
    assert_eq!(value(&hashing("crc(16, 0x1021, 1, 0, 0)", ALL, 16, ""), 16), 0x2189);
    let own = CrcParams::new(24, 0x86_4cfb, false, 0xb7_04ce, 0).unwrap();
    assert_eq!(value(&hashing("crc(24, 0x864cfb, 0, 0xb704ce, 0)", ALL, 24, ""), 24), 0x21_cf02);
    assert_eq!(serial(own), 0x21_cf02);
    // A seed is XORed; rotation comes last; fewer bits are the low ones.
    assert_eq!(value(&hashing("crc_32", ALL, 32, "seed = 0xff00;"), 32), 0xcbf4_3926 ^ 0xff00);
    assert_eq!(value(&hashing("crc_32", ALL, 32, "rotate = 8;"), 32), 0x26cb_f439);
    assert_eq!(
        value(&hashing("crc_32", ALL, 32, "seed = 0xff; rotate = 4;"), 32),
        u64::from((0xcbf4_3926_u32 ^ 0xff).rotate_right(4))
    );
    assert_eq!(value(&hashing("crc_32", ALL, 16, ""), 16), 0x3926);
    // If there are more bits than the algorithm has, its bits repeat.
    assert_eq!(value(&hashing("crc_16", ALL, 32, ""), 32), 0xbb3d_bb3d);
    // Slices, casts and constants: "1234" "56" "7" "8" "9" from pieces.
    let pieces = "h.d0[63:32], h.d0[31:16], 8w0x37, h.d0[7:0], cast(h.d1, 8)";
    assert_eq!(value(&hashing("crc_32", pieces, 32, ""), 32), 0xcbf4_3926);
    // A cast to more bits puts zeros in front, one to fewer keeps the low ones.
    assert_eq!(value(&hashing("identity", "cast(h.d1[3:0], 16), cast(h.d0, 8)", 24, ""), 24), 0x938);
    // A constant in front is a seed of the prepended style; leading zeros do not change a plain CRC.
    assert_eq!(value(&hashing("crc_16", "32w0, h.d0, h.d1", 16, ""), 16), 0xbb3d);
    assert_ne!(value(&hashing("crc_16", "32w1, h.d0, h.d1", 16, ""), 16), 0xbb3d);
}

/// A flow in both directions
#[derive(Header)]
struct Flow {
    src: Bits<32>,
    dst: Bits<32>,
    sum: Bits<32>,
}

/// Both addresses in order
#[derive(Header)]
struct Pair {
    low: Bits<32>,
    high: Bits<32>,
}

#[derive(params::Params, Default)]
struct NoParams {}

/// Equal hashes for both directions: the smaller address comes first.
#[stage_program]
fn sorted(ig: &GressBuilder<'_>) {
    let h = ig.header::<Flow>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let m = ig.metadata::<Pair>();
    let own = CrcParams::new(32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff).unwrap();
    let flow = ig.hash::<32>(HashAlgorithm::Crc(own)).inputs(list![m.low, m.high]).build();
    ig.control(|c| {
        m.low = h.src.min(h.dst);
        m.high = h.src.max(h.dst);
        h.sum = flow.get();
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h);
}

#[test]
fn sorted_inputs_make_a_hash_symmetric() {
    let b = Builder::new("sorted", "Hashes both directions of a flow alike");
    sorted(&b.ingress());
    let p = b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"));
    assert!(text::print(&p).contains("algorithm = crc_32;"));
    let frame =
        |src: u32, dst: u32| [&src.to_be_bytes()[..], &dst.to_be_bytes(), &[0xee; 4], &[0; 60]].concat();
    let ran =
        both_chips(&p, &[], &[frame(0x3132_3334, 0x3536_3738), frame(0x3536_3738, 0x3132_3334), frame(1, 2)]);
    let sums: Vec<&[u8]> = ran.packets.iter().map(|(_, b)| &b[8..12]).collect();
    // CRC-32 of "12345678".
    assert_eq!(sums[0], [0x9a, 0xe0, 0xda, 0xaf]);
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);
}

/// Equal hashes for both directions: the hash itself takes the addresses in either order.
#[stage_program]
fn symmetric(ig: &GressBuilder<'_>) {
    let h = ig.header::<Flow>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let flow = ig.hash::<32>("crc_32").inputs(list![h.src, h.dst]).symmetric(list![h.src, h.dst]).build();
    ig.control(|c| {
        h.sum = flow.get();
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h);
}

#[test]
fn a_symmetric_pair_counts_as_its_sum_in_the_later_place() {
    let build = |program: fn(&GressBuilder<'_>)| {
        let b = Builder::new("both", "Hashes both directions of a flow alike");
        program(&b.ingress());
        b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
    };
    let p = build(symmetric);
    assert!(text::print(&p).contains("symmetric = { (0, 1) };"));
    assert_eq!(text::print(&parsed(&text::print(&p))), text::print(&p));
    let (a, b) = (0x0a00_0001_u32, 0xc0a8_17f3_u32);
    let frame =
        |src: u32, dst: u32| [&src.to_be_bytes()[..], &dst.to_be_bytes(), &[0xee; 4], &[0; 60]].concat();
    let sums = |p: &_, frames: &[Vec<u8>]| -> Vec<[u8; 4]> {
        let ran = both_chips(p, &[], frames);
        ran.packets.iter().map(|(_, b)| b[8..12].try_into().unwrap()).collect()
    };
    // More than eight packets: the engine then hashes them side by side.
    let mut frames = vec![frame(a, b), frame(b, a), frame(a ^ b, 0), frame(a, b + 1)];
    frames.extend((0..12).map(|n| frame(n, n + 7)));
    let found = sums(&p, &frames);
    // CRC-32 over zeros and the sum: the plain hash of a flow with these ends.
    let plain = sums(&build(sorted), &[frame(0, a ^ b)]);
    assert_eq!(found[..3], [plain[0]; 3]);
    assert_ne!(found[0], found[3]);
}

#[test]
fn fields_in_several_pairs_and_pieces_are_symmetric_too() {
    // "1234" and "5678" in two pairs of halves, "9" alone.
    let halves = "h.d0[63:48], h.d0[47:32], h.d0[31:16], h.d0[15:0], h.d1";
    let paired = value(&hashing("crc_32", halves, 32, "symmetric = { (0, 2), (3, 1) };"), 32);
    let whole = value(&hashing("crc_32", "h.d0[63:32], h.d0[31:0], h.d1", 32, "symmetric = { (0, 1) };"), 32);
    assert_eq!(paired, whole);
    assert_ne!(paired, 0xcbf4_3926);
    let (left, right) = (0x3132_3334, 0x3536_3738);
    let sum: u64 = left ^ right;
    // The identity keeps the last bits: of the sum, and "9".
    let last = value(&hashing("identity", "h.d0[63:32], h.d0[31:0]", 32, "symmetric = { (0, 1) };"), 32);
    assert_eq!(last, sum);
}

/// Bits of one hash in several fields
#[derive(Header)]
struct Parts {
    key: Bits<32>,
    all: Bits<32>,
    high: Bits<16>,
    mid: Bits<12>,
    low: Bits<4>,
}

#[stage_program]
fn slices(ig: &GressBuilder<'_>) {
    let h = ig.header::<Parts>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let flow = ig.hash::<32>("crc_32").inputs(list![h.key]).build();
    ig.control(|c| {
        h.all = flow.get();
        h.high = flow.get().slice::<31, 16, 16>();
        h.mid = flow.get().slice::<15, 4, 12>();
        h.low = flow.get().slice::<3, 0, 4>();
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h);
}

#[test]
fn a_result_is_taken_in_slices() {
    let b = Builder::new("slices", "Spreads a hash over fields");
    slices(&b.ingress());
    let p = b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"));
    let printed = text::print(&p);
    assert!(printed.contains("h.mid = hash(flow, 4);"), "{printed}");
    assert_eq!(text::print(&parsed(&printed)), printed);
    let frame = [&b"1234"[..], &[0xee; 8], &[0; 60]].concat();
    let ran = both_chips(&p, &[], &[frame]);
    // CRC-32 of "1234".
    assert_eq!(ran.packets[0].1[4..12], [0x9b, 0xe3, 0xe0, 0xa3, 0x9b, 0xe3, 0xe0, 0xa3]);
    let wrong = printed.replace("hash(flow, 4)", "hash(flow, 24)");
    let found = sluice_ir::verify::verify(&text::parse(&wrong).unwrap());
    let found: Vec<String> = found.iter().map(|d| format!("{}: {}", d.text, d.help)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].ends_with(
            "takes bits 35 to 24 of hash `flow`, which has 32: take lower bits, or widen the hash"
        )
    );
}
