//! Parameters of `l3-ecmp` and the text forms of those that are no numbers.

use sluice_asic::hash::{CrcParams, HashAlgorithm};
use sluice_asic::select::SelectorMode;
use sluice_pipeline::build::params;
use std::fmt;
use std::str::FromStr;

/// Parameters of `l3-ecmp`.
#[derive(Clone, Debug, params::Params)]
pub struct Params {
    /// IPv4 routes that the table holds
    #[param(range = 1..=400_000)]
    pub ipv4_routes: u32,
    /// IPv6 routes that the table holds
    #[param(range = 1..=32_768)]
    pub ipv6_routes: u32,
    /// Rules of each ACL
    #[param(range = 1..=8192)]
    pub acl_rules: u32,
    /// Next hops (neighbours) that the table holds
    #[param(range = 1..=32_768)]
    pub nexthops: u32,
    /// ECMP and WCMP groups
    #[param(range = 1..=4096)]
    pub groups: u32,
    /// Most members of one group, weights counted; above 120 a group takes several selector words
    #[param(range = 1..=1024)]
    pub max_group_size: u32,
    /// Members of all groups together
    #[param(range = 1..=65_536)]
    pub members: u32,
    /// Stations and bridged MAC addresses
    #[param(range = 1..=32_768)]
    pub l2_entries: u32,
    /// How a member of a group is chosen; plain-modulo is not on the chip
    pub selection: Selection,
    /// Hash of the flow: a name (crc_16, crc_32, crc_32c, xor16, ..) or crc:WIDTH,POLY,reflect|plain,INIT,XOR
    pub hash_algorithm: Algorithm,
    /// Fields hashed for IPv4, in order: src dst protocol src_port dst_port ttl dscp length ingress_port vlan
    pub hash_fields_v4: Fields,
    /// Fields hashed for IPv6, in order: src dst next_header src_port dst_port hop_limit dscp flow_label
    /// length ingress_port vlan
    pub hash_fields_v6: Fields,
    /// Low bits of the hash that are kept
    pub hash_width: HashWidth,
    /// Seed of the hash
    pub hash_seed: u32,
    /// What the seed does: xor (onto the output, as the chip) or prefix (first 32 input bits)
    pub hash_seed_style: SeedStyle,
    /// Rotation of the kept bits to the right, after the seed
    #[param(range = 0..=63)]
    pub hash_rotate: u16,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            ipv4_routes: 12_288,
            ipv6_routes: 2048,
            acl_rules: 512,
            nexthops: 4096,
            groups: 256,
            max_group_size: 120,
            members: 4096,
            l2_entries: 4096,
            selection: Selection(SelectorMode::Fair),
            hash_algorithm: Algorithm(HashAlgorithm::Crc(CRC_32)),
            hash_fields_v4: Fields::of(&["src", "dst", "protocol", "src_port", "dst_port"]),
            hash_fields_v6: Fields::of(&["src", "dst", "next_header", "src_port", "dst_port", "flow_label"]),
            hash_width: HashWidth(32),
            hash_seed: 0,
            hash_seed_style: SeedStyle::Xor,
            hash_rotate: 0,
        }
    }
}

/// CRC-32 of Ethernet and zlib (facts: asic §11.2).
const CRC_32: CrcParams = match CrcParams::new(32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff) {
    Ok(crc) => crc,
    // A constant that does not compile if the line above is wrong.
    Err(_) => unreachable!(),
};

/// A value that a parameter cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadValue(String);

/// How a group's member is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection(pub SelectorMode);

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SelectorMode::Fair => "fair",
            SelectorMode::Resilient => "resilient",
            SelectorMode::PlainModulo => "plain-modulo",
        })
    }
}

impl FromStr for Selection {
    type Err = BadValue;
    fn from_str(text: &str) -> Result<Self, BadValue> {
        match text {
            "fair" => Ok(Selection(SelectorMode::Fair)),
            "resilient" => Ok(Selection(SelectorMode::Resilient)),
            "plain-modulo" => Ok(Selection(SelectorMode::PlainModulo)),
            _ => Err(BadValue("selections are fair, resilient and plain-modulo".into())),
        }
    }
}

/// A hash algorithm by name or by its CRC parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm(pub HashAlgorithm);

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.name(), self.0) {
            (Some(name), _) => f.write_str(name),
            (None, HashAlgorithm::Crc(c)) => {
                let style = if c.reflect() { "reflect" } else { "plain" };
                write!(f, "crc:{},{:#x},{style},{:#x},{:#x}", c.width(), c.poly(), c.init(), c.xor_out())
            }
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

impl FromStr for Algorithm {
    type Err = BadValue;
    fn from_str(text: &str) -> Result<Self, BadValue> {
        let Some(list) = text.strip_prefix("crc:") else {
            return HashAlgorithm::from_name(text).map(Algorithm).map_err(|e| BadValue(e.to_string()));
        };
        let parts: Vec<&str> = list.split(',').map(str::trim).collect();
        let [width, poly, style, init, xor] = parts.as_slice() else {
            return Err(BadValue("a CRC is crc:WIDTH,POLY,reflect|plain,INIT,XOR".into()));
        };
        let reflect = match *style {
            "reflect" => true,
            "plain" => false,
            other => return Err(BadValue(format!("`{other}` is neither `reflect` nor `plain`"))),
        };
        let width = u32::try_from(number(width)?).map_err(|_| BadValue(format!("`{width}` is no CRC width")))?;
        CrcParams::new(width, number(poly)?, reflect, number(init)?, number(xor)?)
            .map(|c| Algorithm(HashAlgorithm::Crc(c)))
            .map_err(|e| BadValue(e.to_string()))
    }
}

fn number(text: &str) -> Result<u64, BadValue> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|e| BadValue(format!("`{text}` is no number ({e}); write 17 or 0x11")))
}

/// Names of hashed fields, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(pub Vec<String>);

impl Fields {
    fn of(names: &[&str]) -> Fields {
        Fields(names.iter().map(|&n| n.to_owned()).collect())
    }
}

/// Every field that a hash of either family may name.
pub(super) const FIELD_NAMES: [&str; 13] = [
    "src", "dst", "protocol", "next_header", "src_port", "dst_port", "ttl", "hop_limit", "dscp", "flow_label", "length",
    "ingress_port", "vlan",
];

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl FromStr for Fields {
    type Err = BadValue;
    fn from_str(text: &str) -> Result<Self, BadValue> {
        let list: Vec<String> = text.split(',').map(|f| f.trim().to_owned()).collect();
        match list.iter().find(|f| !FIELD_NAMES.contains(&f.as_str())) {
            Some(unknown) => {
                Err(BadValue(format!("`{unknown}` is no field that can be hashed; fields are {}", FIELD_NAMES.join(" "))))
            }
            None => Ok(Fields(list)),
        }
    }
}

/// Width of the hash that the selector gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashWidth(pub u16);

/// The widths that a hash can be given.
pub(super) const WIDTHS: [u16; 5] = [14, 16, 32, 51, 64];

impl fmt::Display for HashWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for HashWidth {
    type Err = BadValue;
    fn from_str(text: &str) -> Result<Self, BadValue> {
        let known = text.parse().ok().filter(|w| WIDTHS.contains(w));
        known.map(HashWidth).ok_or_else(|| BadValue("widths are 14, 16, 32, 51 and 64".into()))
    }
}

/// What a seed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedStyle {
    /// XORed onto the output: the chip's seed register.
    Xor,
    /// The first 32 bits of the input.
    Prefix,
}

impl fmt::Display for SeedStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SeedStyle::Xor => "xor",
            SeedStyle::Prefix => "prefix",
        })
    }
}

impl FromStr for SeedStyle {
    type Err = BadValue;
    fn from_str(text: &str) -> Result<Self, BadValue> {
        match text {
            "xor" => Ok(SeedStyle::Xor),
            "prefix" => Ok(SeedStyle::Prefix),
            _ => Err(BadValue("seed styles are xor and prefix".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_prints_as_it_parses() {
        for text in ["fair", "resilient", "plain-modulo"] {
            assert_eq!(text.parse::<Selection>().unwrap().to_string(), text);
        }
        for text in ["crc_16", "crc_32c", "crc:16,0x8005,plain,0x1,0x0"] {
            assert_eq!(text.parse::<Algorithm>().unwrap().to_string(), text);
        }
        assert_eq!("src,ttl".parse::<Fields>().unwrap().to_string(), "src,ttl");
        assert!("src,tll".parse::<Fields>().unwrap_err().to_string().contains("`tll`"));
        assert!("15".parse::<HashWidth>().is_err());
        assert_eq!(Params::default().hash_algorithm.to_string(), "crc_32");
    }
}
