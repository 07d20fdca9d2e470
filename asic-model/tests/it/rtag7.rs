//! The RTAG7 unit against the vectors, constants and ranks of model: hashing §1.3, §2 and §7.2.

use proptest::prelude::*;
use sluice_asic::hash::rank::{rank, rank_within, rows};
use sluice_asic::hash::rtag7::*;
use sluice_asic::hash::{BitString, CrcParams, HashAlgorithm, HashFunction};

const FUNCTIONS: [Rtag7Function; 9] = Rtag7Function::ALL;
use Rtag7Function::{Bisync, Ccitt, Crc32Hi, Crc32Lo, Xor1, Xor2, Xor4, Xor8, Xor16};

/// A five-tuple from its 104 bits: source, destination, protocol, ports, first one highest.
fn packet(key: u128) -> Rtag7Packet {
    let ports = ((key >> 16) as u16, key as u16);
    Rtag7Packet::five_tuple((key >> 72) as u32, (key >> 40) as u32, (key >> 32) as u8, ports)
}

/// Returns the bins of a five-tuple for any protocol; the linear map is measured on these.
fn message(key: u128, seed: u32, preprocess: bool) -> Rtag7Message {
    let tcp = Rtag7Packet { protocol: 6, ..packet(key) };
    let config = KeyConfig { preprocess, ..KeyConfig::FIVE_TUPLE };
    let mut message = config.message(&tcp, seed);
    let protocol = (key >> 32) as u32 & 0xff;
    let mixed = if preprocess { protocol ^ protocol >> 3 ^ protocol << 2 } else { protocol };
    message[2] = message[2] & 0xffff_0000 | mixed & 0xffff;
    message
}

const FLOWS: [(u128, [u16; 9], [u16; 9]); 6] = [
    (
        0x0a_0000_010a_0001_0106_3039_0050,
        [0xa5ce, 0xa501, 0xa501, 0xa50b, 0xa55e, 0x316f, 0xaba3, 0xff4e, 0x628b],
        [0xb0d2, 0xb001, 0xb001, 0xb00b, 0xb07c, 0x512d, 0xd19e, 0x66de, 0x4a33],
    ),
    (
        0x0a_0000_020a_0001_0106_3039_0050,
        [0xa766, 0xa701, 0xa702, 0xa708, 0xa75d, 0x316c, 0xa0f2, 0xdd95, 0xf46a],
        [0xb27a, 0xb201, 0xb202, 0xb208, 0xb27f, 0x512e, 0xdacf, 0x4405, 0xdcd2],
    ),
    (
        0xc0_a801_0aac_1005_1411_1388_0035,
        [0x8bc3, 0x8b00, 0x8b03, 0x8b06, 0x8b71, 0x7b0a, 0x5ead, 0xe5ec, 0x835b],
        [0x9edf, 0x9e00, 0x9e03, 0x9e06, 0x9e53, 0x1b48, 0x2490, 0x7c7c, 0xabe3],
    ),
    (
        0x0a_0102_030a_0102_0406_9c40_01bb,
        [0xf09d, 0xf001, 0xf001, 0xf001, 0xf067, 0x9dfa, 0x4bc2, 0xa0d5, 0x335a],
        [0xe581, 0xe501, 0xe501, 0xe501, 0xe545, 0xfdb8, 0x31ff, 0x3945, 0x1be2],
    ),
    (0, [0; 9], [0x151c, 0x1500, 0x1500, 0x1500, 0x1522, 0x6042, 0x7a3d, 0x9990, 0x28b8]),
    (
        0xff_ffff_ffff_ffff_ffff_ffff_ffff,
        [0xd958, 0xd900, 0xd900, 0xd900, 0xd9ff, 0x00ff, 0x2a8c, 0x78e8, 0xa98e],
        [0xcc44, 0xcc00, 0xcc00, 0xcc00, 0xccdd, 0x60bd, 0x50b1, 0xe178, 0x8136],
    ),
];

#[test]
fn scenario_02_rtag7_vectors() {
    for (key, plain, seeded) in FLOWS {
        for (i, function) in FUNCTIONS.into_iter().enumerate() {
            assert_eq!(function.hash(&message(key, 0, false)), plain[i], "{function:?} {key:x}");
            assert_eq!(function.hash(&message(key, 0xdead_beef, false)), seeded[i], "{function:?} {key:x}");
        }
    }
}

#[test]
fn scenario_01_crc_catalogue_and_its_kinship_with_the_unit() {
    // model: hashing §1.2: each CRC of the unit is a catalogue CRC of the message, bit-reversed.
    let (key, ..) = FLOWS[0];
    let bytes: Vec<u8> = message(key, 7, false).iter().flat_map(|word| word.to_le_bytes()).collect();
    let catalogue = |name: &str, bits| {
        let algorithm = HashAlgorithm::from_name(name).unwrap();
        HashFunction::new(algorithm, bits).unwrap().hash(&BitString::from_bytes(&bytes))
    };
    let message = message(key, 7, false);
    assert_eq!(Bisync.hash(&message), (catalogue("crc_16", 16) as u16).reverse_bits());
    assert_eq!(Ccitt.hash(&message), (catalogue("crc_16_kermit", 16) as u16).reverse_bits());
    let digits = BitString::from_bytes(b"123456789");
    let koopman = CrcParams::new(32, 0x741b_8cd7, true, 0xffff_ffff, 0xffff_ffff).unwrap();
    assert_eq!(HashAlgorithm::Crc(koopman).evaluate(&digits), 0x2d3d_d0ae);
    for (name, check) in [
        ("crc_16", 0xbb3d),
        ("crc_16_kermit", 0x2189),
        ("crc_16_xmodem", 0x31c3),
        ("crc_ccitt_false", 0x29b1),
        ("crc_32", 0xcbf4_3926),
        ("crc_32c", 0xe306_9283),
    ] {
        assert_eq!(HashAlgorithm::from_name(name).unwrap().evaluate(&digits), check, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn scenario_03_linearity(x: [u8; 13], y: [u8; 13], seed: u32, preprocess: bool, which in 0..9_usize) {
        let key = |bytes: [u8; 13]| bytes.iter().fold(0u128, |key, b| key << 8 | u128::from(*b));
        let (x, y) = (key(x), key(y));
        let hash = |key| FUNCTIONS[which].hash(&message(key, seed, preprocess));
        prop_assert_eq!(hash(x) ^ hash(y) ^ hash(x ^ y) ^ hash(0), 0, "{:?}", FUNCTIONS[which]);
    }
}

#[test]
fn scenario_04_seed_constant() {
    // model: hashing §2.
    let constants = [
        (0x0000_0001, [0x803f, 0x8001, 0x8001, 0x8001, 0x8001, 0x0001, 0xdd38, 0xa2bb, 0x1d55]),
        (0x1234_5678, [0x76be, 0x7601, 0x7602, 0x7608, 0x7608, 0x444c, 0x6f10, 0x2e5f, 0x2c6a]),
        (0xdead_beef, [0x151c, 0x1500, 0x1500, 0x1500, 0x1522, 0x6042, 0x7a3d, 0x9990, 0x28b8]),
    ];
    for (seed, wanted) in constants {
        for (function, constant) in FUNCTIONS.into_iter().zip(wanted) {
            assert_eq!(function.seed_constant(seed), constant, "{function:?} {seed:x}");
        }
    }
    // 100,000 flows, each under all functions and one of the seeds.
    for n in 0..100_000u128 {
        let key = n.wrapping_mul(0x1_0000_0001_0003_0007_0001_000d) & ((1 << 104) - 1);
        let (seed, wanted) = constants[n as usize % constants.len()];
        let (plain, seeded) = (message(key, 0, false), message(key, seed, false));
        for (function, constant) in FUNCTIONS.into_iter().zip(wanted) {
            assert_eq!(function.hash(&seeded) ^ function.hash(&plain), constant, "{function:?} {key:x}");
        }
    }
}

fn function_rows(function: Rtag7Function) -> Vec<u128> {
    rows(104, 16, |key| function.hash(&message(key, 0, false)).into())
}

/// Rank of the low `bits` bits of each of some functions, taken together.
fn joint(functions: &[Rtag7Function], bits: usize) -> u32 {
    rank(functions.iter().flat_map(|f| function_rows(*f).into_iter().take(bits)))
}

#[test]
fn scenario_08_rank_matrix() {
    let own = [16, 9, 10, 12, 16, 16, 16, 16, 16];
    for (function, wanted) in FUNCTIONS.into_iter().zip(own) {
        assert_eq!(joint(&[function], 16), wanted, "{function:?}");
    }
    for (i, &a) in FUNCTIONS.iter().enumerate() {
        for &b in &FUNCTIONS[i + 1..] {
            let wanted = match (a, b) {
                (Xor1, Xor2) => 2,
                (Xor2, Xor4) => 4,
                (Xor1, _) | (_, Xor1) => 4,
                (Xor2, _) | (_, Xor2) => 5,
                _ => 6,
            };
            assert_eq!(joint(&[a, b], 3), wanted, "{a:?} with {b:?}");
        }
    }
    assert_eq!((joint(&[Xor1], 3), joint(&[Xor2], 3)), (1, 2), "links reached of 8: 2 and 4");
    for (pair, wanted) in
        [([Bisync, Ccitt], 31), ([Bisync, Xor16], 31), ([Xor16, Ccitt], 31), ([Bisync, Xor8], 23)]
    {
        assert_eq!(joint(&pair, 16), wanted, "{pair:?}");
    }
    for wide in [Crc32Lo, Crc32Hi] {
        for other in [Bisync, Ccitt, Xor16] {
            assert_eq!(joint(&[wide, other], 16), 32, "{wide:?} with {other:?}");
        }
    }
    let five = [Bisync, Xor16, Ccitt, Crc32Lo, Crc32Hi];
    assert_eq!(joint(&five, 16), 77);
    assert_eq!(joint(&[five.as_slice(), &[Xor8]].concat(), 16), 77, "XOR8 adds no dimension");
    assert_eq!(joint(&Rtag7Function::UNCORRELATED, 3), 18);
    assert_eq!(joint(&[Xor4], 3), 3);
}

#[test]
fn scenario_10_low_entropy_is_seen_by_rank() {
    // Only the source port varies: two functions together have no more than its 16 bits.
    let port = 0xffffu128 << 16;
    for (a, b) in [(Bisync, Ccitt), (Crc32Lo, Crc32Hi), (Bisync, Xor16)] {
        let both = || function_rows(a).into_iter().chain(function_rows(b));
        assert_eq!(rank_within(both(), port), 16);
        let low = function_rows(a).into_iter().take(3).chain(function_rows(b).into_iter().take(3));
        assert_eq!(rank_within(low, port), 6, "low windows of {a:?} and {b:?}");
    }
    assert_eq!(rank_within(function_rows(Crc32Lo), 0xfu128 << 16), 4, "at most 16 hash values");
}

/// Rank of the low 3 bits of `function` and of the same rotated by `offset`.
fn rotated_rank(function: Rtag7Function, offset: u32) -> u32 {
    let plain = function_rows(function);
    let rotated = (0..3).map(|bit| plain[((bit + offset) % 16) as usize]);
    rank(plain.iter().copied().take(3).chain(rotated))
}

#[test]
fn scenario_09_rotation_windows() {
    for offset in 0..16 {
        let correlated = [0, 1, 2, 14, 15].contains(&offset);
        assert_eq!(rotated_rank(Crc32Lo, offset) < 6, correlated, "offset {offset}");
    }
}

#[test]
fn scenario_22_count_minus_one_and_wrapping() {
    let group = EcmpGroup::new(4090, 57).unwrap();
    assert_eq!(group.count_field(), 56);
    for value in 0..=u16::MAX {
        let wanted = (4090 + value % 57) & 0xfff;
        assert_eq!(group.entry(value, EcmpMask::FULL), wanted);
    }
    let widest = EcmpGroup::new(0, 1024).unwrap();
    assert_eq!((widest.count_field(), widest.entry(0xffff, EcmpMask::FULL)), (1023, 1023));
    assert_eq!(EcmpGroup::new(0, 0), Err(Rtag7Error::GroupSize { found: 0 }));
    assert_eq!(EcmpGroup::new(0, 1025), Err(Rtag7Error::GroupSize { found: 1025 }));
    assert_eq!(EcmpGroup::new(4096, 8), Err(Rtag7Error::Base { found: 4096 }));
    let masks: Vec<u16> = (0..7).map(|s| EcmpMask::from_setting(s).unwrap().bits()).collect();
    assert_eq!(masks, [0x3ff, 0x7ff, 0xfff, 0x1fff, 0x3fff, 0x7fff, 0xffff]);
    assert!(EcmpMask::from_setting(7).is_err());
}

#[test]
fn scenario_23_base_offset() {
    let (first, second) = (EcmpGroup::new(0, 57).unwrap(), EcmpGroup::new(57, 57).unwrap());
    for value in 0..=u16::MAX {
        let (a, b) = (first.entry(value, EcmpMask::FULL), second.entry(value, EcmpMask::FULL));
        assert!(a < 57 && (57..114).contains(&b) && b - a == 57);
    }
}

fn unit(by_port: &[EcmpSelect]) -> Result<Rtag7Unit, Rtag7Error> {
    let a = Block { seed: 0, functions: [Some(Crc32Lo), Some(Bisync)] };
    let b = Block { seed: 0xdead_beef, functions: [Some(Ccitt), None] };
    Rtag7Unit::new(KeyConfig::FIVE_TUPLE, [a, b], by_port)
}

#[test]
fn scenario_24_per_port_select() {
    let set = |sub_select, offset| EcmpSelect { sub_select, offset };
    let (up, down) = (set(SubSelect::A0, 0), set(SubSelect::B0, 4));
    let two = unit(&[up, up, down]).unwrap();
    let flow = packet(FLOWS[0].0);
    for (port, wanted) in [(0, 0xff4e_u16), (1, 0xff4e), (2, 0xd19e_u16.rotate_right(4)), (9, 0xff4e)] {
        let packet = Rtag7Packet { ingress_port: port, ..flow };
        let values = two.values(&packet);
        assert_eq!((values.a, values.b), ([0xff4e, 0xa5ce], [0xd19e, 0]));
        assert_eq!(two.select(&packet, &values).value, wanted, "port {port}");
    }
    let third = unit(&[up, down, set(SubSelect::A1, 0)]).unwrap_err();
    assert_eq!(third, Rtag7Error::TooManySets { found: 3 });
    assert_eq!(unit(&[set(SubSelect::A0, 16)]).unwrap_err(), Rtag7Error::Offset { found: 16 });
}

#[test]
fn sub_selects_take_what_their_code_says() {
    let values = HashValues { a: [1, 2], b: [3, 4], port_lbn: 5, destination: None, lbid: 6 };
    for (code, wanted) in [(0, 1), (1, 3), (2, 5), (3, 1), (4, 6), (5, 6), (6, 2), (7, 4)] {
        let sub_select = SubSelect::from_code(code).unwrap();
        let unit = unit(&[EcmpSelect { sub_select, offset: 0 }]).unwrap();
        assert_eq!(unit.select(&packet(0), &values).value, wanted, "code {code}");
    }
    assert_eq!(SubSelect::from_code(8), None);
    let known = HashValues { destination: Some(9), ..values };
    let unit = unit(&[EcmpSelect { sub_select: SubSelect::DestinationPort, offset: 0 }]).unwrap();
    assert_eq!(unit.select(&packet(0), &known).value, 9);
}

#[test]
fn macro_flow_chooses_per_bucket() {
    let set = |offset| EcmpSelect { sub_select: SubSelect::A0, offset };
    for byte in [MacroByte::High, MacroByte::Low] {
        let mut table = Box::new([set(0); 256]);
        let bucket = if byte == MacroByte::High { 0x31 } else { 0x6f };
        table[bucket] = set(8);
        let flow = MacroFlow { function: Xor16, byte, table };
        let unit = unit(&[set(0)]).unwrap().with_macro_flow(flow).unwrap();
        let chosen = |key| unit.select(&packet(key), &unit.values(&packet(key))).by.offset;
        assert_eq!((chosen(FLOWS[0].0), chosen(FLOWS[2].0)), (8, 0), "{byte:?}");
    }
}

#[test]
fn scenario_38_ipv6_fold() {
    let packet = |source: [u32; 4]| Rtag7Packet {
        addresses: Addresses::V6(source, [0, 0, 0, 1]),
        ..packet(FLOWS[0].0)
    };
    let hash = |fold, source| {
        let config = KeyConfig { ipv6: fold, ..KeyConfig::FIVE_TUPLE };
        Crc32Lo.hash(&config.message(&packet(source), 0))
    };
    let (one, same_xor, same_last) = ([0x2001_0db8, 0, 1, 5], [0x2001_0db8, 1, 0, 5], [0x2001_0db9, 7, 1, 5]);
    assert_eq!(hash(Ipv6Fold::Xor, one), hash(Ipv6Fold::Xor, same_xor));
    assert_ne!(hash(Ipv6Fold::Xor, one), hash(Ipv6Fold::Xor, same_last));
    assert_eq!(hash(Ipv6Fold::LastWord, one), hash(Ipv6Fold::LastWord, same_last));
    assert_ne!(hash(Ipv6Fold::LastWord, one), hash(Ipv6Fold::LastWord, [0x2001_0db8, 0, 1, 6]));
}
