//! Hash algorithms against published check values, an independent CRC implementation, and themselves in
//! compiled form.

use crc::{Algorithm, Crc, Width};
use proptest::prelude::*;
use sluice_asic::hash::{
    BitString, CrcParams, HashAlgorithm, HashFunction, HashLayout, LinearHash, Piece, Seed, XorWidth,
};

fn named(name: &str) -> HashAlgorithm {
    HashAlgorithm::from_name(name).unwrap()
}

/// model: hashing §7.1: 13-byte keys, and their hash under the seven catalogue CRCs.
const FLOWS: [([u8; 13], [u64; 7]); 6] = [
    (
        [10, 0, 0, 1, 10, 0, 1, 1, 6, 0x30, 0x39, 0, 80],
        [0x4f71, 0x4a84, 0x1c2d, 0x3421, 0x1d569bff, 0xb4f040dd, 0x406056e1],
    ),
    (
        [10, 0, 0, 2, 10, 0, 1, 1, 6, 0x30, 0x39, 0, 80],
        [0x4081, 0x3eed, 0xade2, 0x85ee, 0xf66120fc, 0xece6bac3, 0xffaef82a],
    ),
    (
        [192, 168, 1, 10, 172, 16, 5, 20, 17, 0x13, 0x88, 0, 53],
        [0x6605, 0x31f7, 0x5344, 0x7b48, 0xa8289870, 0x0495d70e, 0x9bcf3b87],
    ),
    (
        [10, 1, 2, 3, 10, 1, 2, 4, 6, 0x9c, 0x40, 0x01, 0xbb],
        [0x3165, 0x6821, 0x2198, 0x0994, 0x05bbca0f, 0x3b59663f, 0xca713607],
    ),
    ([0; 13], [0x0000, 0x0000, 0x0000, 0x280c, 0x0f744682, 0xbc5ba5e4, 0x481c145e]),
    ([0xff; 13], [0x7f01, 0xfb6b, 0xd6df, 0xfed3, 0xf2d6f3c1, 0xac15b238, 0x36339c5f]),
];

#[test]
fn five_tuple_vectors() {
    let koopman = CrcParams::new(32, 0x741b_8cd7, true, 0xffff_ffff, 0xffff_ffff).unwrap();
    let algorithms = [
        named("crc_16"),
        named("crc_16_kermit"),
        named("crc_16_xmodem"),
        named("crc_ccitt_false"),
        named("crc_32"),
        named("crc_32c"),
        HashAlgorithm::Crc(koopman),
    ];
    for (key, wanted) in FLOWS {
        let input = BitString::from_bytes(&key);
        for (algorithm, want) in algorithms.iter().zip(wanted) {
            assert_eq!(algorithm.evaluate(&input), want, "{algorithm:?} over {key:02x?}");
        }
    }
    assert_eq!(HashAlgorithm::Crc(koopman).evaluate(&BitString::from_bytes(b"123456789")), 0x2d3d_d0ae);
}

/// The catalogue's check value, the CRC of the nine digits, for every listed name that the catalogue has.
///
/// Not in it with the vendor's parameters: `crc_16_dect`, `crc_64_jones` and `crc_8_itu`, which starts at 55
/// where the catalogue's (check a1) starts at 0.
#[test]
fn catalogue_check_values() {
    let checks: [(&str, u64); 37] = [
        ("crc_8", crc::CRC_8_SMBUS.check.into()),
        ("crc_8_darc", crc::CRC_8_DARC.check.into()),
        ("crc_8_i_code", crc::CRC_8_I_CODE.check.into()),
        ("crc_8_maxim", crc::CRC_8_MAXIM_DOW.check.into()),
        ("crc_8_rohc", crc::CRC_8_ROHC.check.into()),
        ("crc_8_wcdma", crc::CRC_8_WCDMA.check.into()),
        ("crc_16", crc::CRC_16_ARC.check.into()),
        ("crc_16_bypass", crc::CRC_16_UMTS.check.into()),
        ("crc_16_dds_110", crc::CRC_16_DDS_110.check.into()),
        ("crc_16_dect_r", crc::CRC_16_DECT_R.check.into()),
        ("crc_16_dect_x", crc::CRC_16_DECT_X.check.into()),
        ("crc_16_dnp", crc::CRC_16_DNP.check.into()),
        ("crc_16_en_13757", crc::CRC_16_EN_13757.check.into()),
        ("crc_16_genibus", crc::CRC_16_GENIBUS.check.into()),
        ("crc_16_maxim", crc::CRC_16_MAXIM_DOW.check.into()),
        ("crc_16_mcrf4xx", crc::CRC_16_MCRF4XX.check.into()),
        ("crc_16_riello", crc::CRC_16_RIELLO.check.into()),
        ("crc_16_t10_dif", crc::CRC_16_T10_DIF.check.into()),
        ("crc_16_teledisk", crc::CRC_16_TELEDISK.check.into()),
        ("crc_16_usb", crc::CRC_16_USB.check.into()),
        ("crc_16_x_25", crc::CRC_16_IBM_SDLC.check.into()),
        ("crc_16_xmodem", 0x31c3),
        ("crc_16_modbus", crc::CRC_16_MODBUS.check.into()),
        ("crc_16_kermit", 0x2189),
        ("crc_ccitt_false", 0x29b1),
        ("crc_aug_ccitt", crc::CRC_16_SPI_FUJITSU.check.into()),
        ("crc_32", 0xcbf4_3926),
        ("crc_32_bzip2", crc::CRC_32_BZIP2.check.into()),
        ("crc_32c", 0xe306_9283),
        ("crc_32d", crc::CRC_32_BASE91_D.check.into()),
        ("crc_32_mpeg", crc::CRC_32_MPEG_2.check.into()),
        ("posix", crc::CRC_32_CKSUM.check.into()),
        ("crc_32q", crc::CRC_32_AIXM.check.into()),
        ("jamcrc", crc::CRC_32_JAMCRC.check.into()),
        ("crc_64", crc::CRC_64_ECMA_182.check),
        ("crc_64_go_iso", crc::CRC_64_GO_ISO.check),
        ("crc_64_we", crc::CRC_64_WE.check),
    ];
    let digits = BitString::from_bytes(b"123456789");
    for (name, check) in checks {
        assert_eq!(named(name).evaluate(&digits), check, "{name}");
    }
    assert_eq!(named("xfer").evaluate(&digits), u64::from(crc::CRC_32_XFER.check));
}

/// Returns the CRC of the same parameters, computed by the `crc` crate.
fn independent<W: Width>(params: &CrcParams, convert: impl Fn(u64) -> W) -> &'static Algorithm<W> {
    Box::leak(Box::new(Algorithm {
        width: params.width() as u8,
        poly: convert(params.poly()),
        init: convert(params.init()),
        refin: params.reflect(),
        refout: params.reflect(),
        xorout: convert(params.xor_out()),
        check: convert(0),
        residue: convert(0),
    }))
}

#[test]
fn every_listed_crc_agrees_with_another_implementation() {
    let messages: Vec<Vec<u8>> =
        (0..20usize).map(|len| (0..len).map(|i| (i * 89 + len * 31) as u8).collect()).collect();
    for name in HashAlgorithm::names() {
        let HashAlgorithm::Crc(params) = named(name) else { continue };
        for message in &messages {
            let want = match params.width() {
                8 => Crc::<u8>::new(independent(&params, |v| v as u8)).checksum(message).into(),
                16 => Crc::<u16>::new(independent(&params, |v| v as u16)).checksum(message).into(),
                32 => Crc::<u32>::new(independent(&params, |v| v as u32)).checksum(message).into(),
                _ => Crc::<u64>::new(independent(&params, |v| v)).checksum(message),
            };
            assert_eq!(
                named(name).evaluate(&BitString::from_bytes(message)),
                want,
                "{name} over {message:02x?}"
            );
        }
    }
}

prop_compose! {
    fn crc_params()(width in 8u32..=64)(
        width in Just(width),
        poly in 0..=u64::MAX >> (64 - width),
        reflect in any::<bool>(),
        init in 0..=u64::MAX >> (64 - width),
        xor_out in 0..=u64::MAX >> (64 - width),
    ) -> CrcParams {
        CrcParams::new(width, poly | 1, reflect, init, xor_out).unwrap()
    }
}

fn algorithm() -> impl Strategy<Value = HashAlgorithm> {
    prop_oneof![
        Just(HashAlgorithm::Identity),
        prop_oneof![Just(XorWidth::W8), Just(XorWidth::W16), Just(XorWidth::W32)]
            .prop_map(HashAlgorithm::Xor),
        any::<u64>().prop_map(|seed| HashAlgorithm::Random { seed }),
        crc_params().prop_map(HashAlgorithm::Crc),
    ]
}

fn function() -> impl Strategy<Value = HashFunction> {
    (algorithm(), 1u32..=64, any::<bool>(), 0u32..80, any::<u64>(), 0u32..=65).prop_map(
        |(algorithm, output_bits, extend, rotation, seed, prefix)| {
            let function = HashFunction::new(algorithm, output_bits).unwrap().rotated_right(rotation);
            let function = if extend { function.extended() } else { function };
            let low = |bits: u32| if bits == 0 { 0 } else { seed & u64::MAX >> (64 - bits) };
            // The last value of the range means the other seed style.
            let seed = if prefix == 65 {
                Seed::Xor(low(output_bits))
            } else {
                Seed::Prefix { value: low(prefix), bits: prefix }
            };
            function.with_seed(seed).unwrap()
        },
    )
}

/// A layout that feeds some of `input_bits` positions from arbitrary bits of four slots, and one constant.
fn scattered(input_bits: usize, sources: &[Option<u8>], constant: bool) -> HashLayout {
    let mut layout = HashLayout::new();
    for (position, source) in sources.iter().take(input_bits).enumerate() {
        let Some(source) = source else { continue };
        let mut bits = [None; 8];
        bits[usize::from(source % 8)] = Some(position as u16);
        layout.piece(Piece { slot: u16::from(source / 32), byte: source / 8 % 4, bits });
    }
    if let Some(free) = sources.iter().take(input_bits).position(Option::is_none) {
        layout.constant(free as u16, 1, constant.into());
    }
    layout
}

proptest! {
    #[test]
    fn compiled_equals_bit_serial(
        function in function(),
        sources in prop::collection::vec(prop::option::weighted(0.9, 0u8..128), 0..150),
        slots in prop::array::uniform4(any::<u32>()),
        constant: bool,
    ) {
        let layout = scattered(sources.len(), &sources, constant);
        let compiled = LinearHash::new(function, sources.len(), &layout).unwrap();
        let want = function.hash(&layout.gather(&slots, sources.len()));
        prop_assert_eq!(compiled.eval(&slots), want);
        prop_assert_eq!(compiled.eval_with(|slot| slots[usize::from(slot)]), want);
        // The matrix gives the same results.
        let input = layout.gather(&slots, sources.len());
        let matrix = compiled.matrix();
        let free_constant = sources.iter().position(Option::is_none);
        let by_rows = (0..function.output_bits()).fold(matrix.constant(), |sum, bit| {
            let set = |&p: &usize| Some(p) != free_constant && input.iter().nth(p) == Some(true);
            let parity = matrix.row(bit).filter(set);
            sum ^ (parity.count() as u64 & 1) << bit
        });
        prop_assert_eq!(by_rows, want);
    }

    #[test]
    fn fields_land_where_they_are_placed(
        widths in prop::collection::vec((1u32..=32, any::<u32>(), any::<u32>()), 1..8),
    ) {
        let mut layout = HashLayout::new();
        let mut slots = Vec::new();
        let mut want = BitString::new();
        for (slot, &(width, value, spare)) in widths.iter().enumerate() {
            let low_bit = spare % (33 - width);
            layout.field(slot as u16, low_bit, width, want.len() as u16).unwrap();
            want.push((value >> low_bit).into(), width);
            slots.push(value);
        }
        prop_assert_eq!(layout.gather(&slots, want.len()), want);
    }

    #[test]
    fn linearity(algorithm in algorithm(), a: [u8; 13], b: [u8; 13]) {
        let hash = |bytes: &[u8]| algorithm.evaluate(&BitString::from_bytes(bytes));
        let both: Vec<u8> = a.iter().zip(b).map(|(a, b)| a ^ b).collect();
        prop_assert_eq!(hash(&a) ^ hash(&b) ^ hash(&both) ^ hash(&[0; 13]), 0);
    }
}
