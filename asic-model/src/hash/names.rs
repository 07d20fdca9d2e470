//! Named hash algorithms (model: chip §11.2), their aliases, and the nearest name for an unknown one.

use thiserror::Error;

use super::{CrcParams, HashAlgorithm, XorWidth};
use crate::names::nearest;

const ALL_8: u64 = 0xff;
const ALL_16: u64 = 0xffff;
const ALL_32: u64 = 0xffff_ffff;
const ALL_64: u64 = u64::MAX;

/// The CRCs: name, width, polynomial, reflected, initial value, final XOR (model: chip §11.2).
#[rustfmt::skip]
const CRCS: [(&str, CrcParams); 41] = [
    ("crc_8",           CrcParams::known(8, 0x07, false, 0, 0)),
    ("crc_8_darc",      CrcParams::known(8, 0x39, true, 0, 0)),
    ("crc_8_i_code",    CrcParams::known(8, 0x1d, false, 0xfd, 0)),
    ("crc_8_itu",       CrcParams::known(8, 0x07, false, 0x55, 0x55)),
    ("crc_8_maxim",     CrcParams::known(8, 0x31, true, 0, 0)),
    ("crc_8_rohc",      CrcParams::known(8, 0x07, true, ALL_8, 0)),
    ("crc_8_wcdma",     CrcParams::known(8, 0x9b, true, 0, 0)),
    ("crc_16",          CrcParams::known(16, 0x8005, true, 0, 0)),
    ("crc_16_bypass",   CrcParams::known(16, 0x8005, false, 0, 0)),
    ("crc_16_dds_110",  CrcParams::known(16, 0x8005, false, 0x800d, 0)),
    ("crc_16_dect",     CrcParams::known(16, 0x0589, false, 1, 1)),
    ("crc_16_dect_r",   CrcParams::known(16, 0x0589, false, 0, 1)),
    ("crc_16_dect_x",   CrcParams::known(16, 0x0589, false, 0, 0)),
    ("crc_16_dnp",      CrcParams::known(16, 0x3d65, true, 0, ALL_16)),
    ("crc_16_en_13757", CrcParams::known(16, 0x3d65, false, 0, ALL_16)),
    ("crc_16_genibus",  CrcParams::known(16, 0x1021, false, ALL_16, ALL_16)),
    ("crc_16_maxim",    CrcParams::known(16, 0x8005, true, 0, ALL_16)),
    ("crc_16_mcrf4xx",  CrcParams::known(16, 0x1021, true, ALL_16, 0)),
    ("crc_16_riello",   CrcParams::known(16, 0x1021, true, 0xb2aa, 0)),
    ("crc_16_t10_dif",  CrcParams::known(16, 0x8bb7, false, 0, 0)),
    ("crc_16_teledisk", CrcParams::known(16, 0xa097, false, 0, 0)),
    ("crc_16_usb",      CrcParams::known(16, 0x8005, true, ALL_16, ALL_16)),
    ("crc_16_x_25",     CrcParams::known(16, 0x1021, true, ALL_16, ALL_16)),
    ("crc_16_xmodem",   CrcParams::known(16, 0x1021, false, 0, 0)),
    ("crc_16_modbus",   CrcParams::known(16, 0x8005, true, ALL_16, 0)),
    ("crc_16_kermit",   CrcParams::known(16, 0x1021, true, 0, 0)),
    ("crc_ccitt_false", CrcParams::known(16, 0x1021, false, ALL_16, 0)),
    ("crc_aug_ccitt",   CrcParams::known(16, 0x1021, false, 0x1d0f, 0)),
    ("crc_32",          CrcParams::known(32, 0x04c1_1db7, true, ALL_32, ALL_32)),
    ("crc_32_bzip2",    CrcParams::known(32, 0x04c1_1db7, false, ALL_32, ALL_32)),
    ("crc_32c",         CrcParams::known(32, 0x1edc_6f41, true, ALL_32, ALL_32)),
    ("crc_32d",         CrcParams::known(32, 0xa833_982b, true, ALL_32, ALL_32)),
    ("crc_32_mpeg",     CrcParams::known(32, 0x04c1_1db7, false, ALL_32, 0)),
    ("posix",           CrcParams::known(32, 0x04c1_1db7, false, 0, ALL_32)),
    ("crc_32q",         CrcParams::known(32, 0x8141_41ab, false, 0, 0)),
    ("jamcrc",          CrcParams::known(32, 0x04c1_1db7, true, ALL_32, 0)),
    ("xfer",            CrcParams::known(32, 0x0000_00af, false, 0, 0)),
    ("crc_64",          CrcParams::known(64, 0x42f0_e1eb_a9ea_3693, false, 0, 0)),
    ("crc_64_go_iso",   CrcParams::known(64, 0x1b, true, ALL_64, ALL_64)),
    ("crc_64_we",       CrcParams::known(64, 0x42f0_e1eb_a9ea_3693, false, ALL_64, ALL_64)),
    ("crc_64_jones",    CrcParams::known(64, 0xad93_d235_94c9_35a9, true, ALL_64, 0)),
];

/// Algorithms other than CRCs; `random` is matrix 0.
const OTHERS: [(&str, HashAlgorithm); 5] = [
    ("identity", HashAlgorithm::Identity),
    ("random", HashAlgorithm::Random { seed: 0 }),
    ("xor8", HashAlgorithm::Xor(XorWidth::W8)),
    ("xor16", HashAlgorithm::Xor(XorWidth::W16)),
    ("xor32", HashAlgorithm::Xor(XorWidth::W32)),
];

/// Other common spellings of listed names.
const ALIASES: [(&str, &str); 8] = [
    ("crc_16_arc", "crc_16"),
    ("crc_16_buypass", "crc_16_bypass"),
    ("crc_16_ccitt_false", "crc_ccitt_false"),
    ("cksum", "posix"),
    ("x_25", "crc_16_x_25"),
    ("xmodem", "crc_16_xmodem"),
    ("modbus", "crc_16_modbus"),
    ("kermit", "crc_16_kermit"),
];

/// No algorithm has the name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no hash algorithm `{found}`; {} (names: identity, random, xor8, xor16, xor32, crc_8, crc_16, crc_32, crc_64 and their catalogue relatives)", advice(*.nearest))]
pub struct UnknownHashName {
    /// Name that was not found.
    pub found: String,
    /// The listed name that was probably meant.
    pub nearest: Option<&'static str>,
}

fn advice(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "use a listed name or give a polynomial".to_owned(),
        |name| format!("did you mean `{name}`?"),
    )
}

impl HashAlgorithm {
    /// Returns the algorithm of a name of model: chip §11.2, such as `crc_16`, `crc_32c` or `xor16`. Case, `_` and `-`
    /// do not matter, so the P4 spellings `CRC16` and `IDENTITY` work too. `random` is matrix 0.
    ///
    /// # Errors
    /// Fails if no algorithm has the name; the error carries the one that was probably meant.
    pub fn from_name(name: &str) -> Result<Self, UnknownHashName> {
        let wanted = bare(name);
        let canonical =
            ALIASES.iter().find(|(alias, _)| bare(alias) == wanted).map_or(wanted, |(_, to)| bare(to));
        let found = Self::listed().find(|(listed, _)| bare(listed) == canonical);
        found
            .map(|(_, algorithm)| algorithm)
            .ok_or_else(|| UnknownHashName { found: name.to_owned(), nearest: nearest(name, Self::names()) })
    }

    /// Returns the listed name of the algorithm; `None` for a custom polynomial, or a random matrix other than 0. If
    /// two names share parameters, the first one is returned.
    pub fn name(&self) -> Option<&'static str> {
        Self::listed().find(|(_, algorithm)| algorithm == self).map(|(name, _)| name)
    }

    /// Returns every listed name, aliases left out.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::listed().map(|(name, _)| name)
    }

    fn listed() -> impl Iterator<Item = (&'static str, Self)> {
        OTHERS.into_iter().chain(CRCS.into_iter().map(|(name, crc)| (name, Self::Crc(crc))))
    }
}

/// Returns a name in lower case without separators.
fn bare(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_parameters_are_legal_and_names_distinct() {
        for (name, crc) in CRCS {
            let again = CrcParams::new(crc.width(), crc.poly(), crc.reflect(), crc.init(), crc.xor_out());
            assert_eq!(again, Ok(crc), "{name}");
        }
        let mut bare_names: Vec<String> =
            HashAlgorithm::names().chain(ALIASES.map(|(alias, _)| alias)).map(bare).collect();
        let listed = bare_names.len();
        bare_names.sort();
        bare_names.dedup();
        assert_eq!(bare_names.len(), listed);
    }

    #[test]
    fn names_and_p4_spellings_resolve() {
        for name in HashAlgorithm::names() {
            let algorithm = HashAlgorithm::from_name(name).unwrap();
            let first = algorithm.name().unwrap();
            assert_eq!(HashAlgorithm::from_name(first), Ok(algorithm), "{name}");
        }
        assert_eq!(HashAlgorithm::from_name("CRC16").unwrap().name(), Some("crc_16"));
        assert_eq!(HashAlgorithm::from_name("crc_16_arc"), HashAlgorithm::from_name("crc_16"));
        assert_eq!(HashAlgorithm::Random { seed: 9 }.name(), None);
    }

    #[test]
    fn a_wrong_name_suggests_the_nearest() {
        for (wrong, nearest) in [
            ("crc_33", "crc_32"),
            ("identty", "identity"),
            ("XOR33", "xor32"),
            ("crc_16_telidisk", "crc_16_teledisk"),
        ] {
            let error = HashAlgorithm::from_name(wrong).unwrap_err();
            assert_eq!(error.nearest, Some(nearest));
            assert!(error.to_string().contains(wrong) && error.to_string().contains(nearest));
        }
        let error = HashAlgorithm::from_name("siphash").unwrap_err();
        assert_eq!(error.nearest, None);
        assert!(error.to_string().contains("give a polynomial"), "{error}");
    }
}
