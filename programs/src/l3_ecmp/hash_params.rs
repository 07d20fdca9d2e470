//! Values of the hash parameters of `l3-ecmp`: each type parses from text and prints the same text.

use sluice_asic::hash::{CrcParams, HashAlgorithm};
use sluice_asic::select::SelectorMode;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Error of a text that is not a value of the parameter; the message says why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ChoiceError(String);

fn refuse<T>(why: impl Into<String>) -> Result<T, ChoiceError> {
    Err(ChoiceError(why.into()))
}

/// Parses a number, decimal or `0x` hexadecimal.
fn number(text: &str) -> Result<u64, ChoiceError> {
    let digits = text.trim();
    let parsed = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.or_else(|_| refuse(format!("`{digits}` is not a number such as 7 or 0x07")))
}

/// A packet field that a flow hash may contain.
pub trait HashField: Copy + PartialEq + 'static {
    /// All fields with their names.
    const ALL: &'static [(&'static str, Self)];
}

macro_rules! hash_fields {
    ($($(#[$enum_doc:meta])* $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* })*) => { $(
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$doc])* $variant,)*
        }

        impl HashField for $enum {
            const ALL: &'static [(&'static str, $enum)] = &[$(($name, $enum::$variant)),*];
        }
    )* };
}

hash_fields! {
    /// A field of the IPv4 flow hash.
    Ipv4HashField {
        /// Source address, 32 bits.
        Src = "src",
        /// Destination address, 32 bits.
        Dst = "dst",
        /// Protocol, 8 bits.
        Protocol = "protocol",
        /// TCP or UDP source port, 16 bits; 0 for fragments and other protocols.
        SrcPort = "src_port",
        /// TCP or UDP destination port, 16 bits; 0 for fragments and other protocols.
        DstPort = "dst_port",
        /// Time to live on arrival, 8 bits.
        Ttl = "ttl",
        /// Ingress dev_port, 9 bits.
        IngressPort = "ingress_port",
        /// VLAN on which the packet arrived, 12 bits.
        Vlan = "vlan",
        /// Total length, 16 bits.
        Length = "length",
        /// Differentiated services code point, 6 bits.
        Dscp = "dscp",
        /// Identification, 16 bits: spreads the packets of one flow.
        Identification = "identification",
    }

    /// A field of the IPv6 flow hash.
    Ipv6HashField {
        /// Source address, 128 bits.
        Src = "src",
        /// Destination address, 128 bits.
        Dst = "dst",
        /// Next header, 8 bits.
        NextHeader = "next_header",
        /// TCP or UDP source port, 16 bits; 0 after extension headers and for other protocols.
        SrcPort = "src_port",
        /// TCP or UDP destination port, 16 bits; 0 after extension headers and for other protocols.
        DstPort = "dst_port",
        /// Flow label, 20 bits.
        FlowLabel = "flow_label",
        /// Hop limit on arrival, 8 bits.
        HopLimit = "hop_limit",
        /// Ingress dev_port, 9 bits.
        IngressPort = "ingress_port",
        /// VLAN on which the packet arrived, 12 bits.
        Vlan = "vlan",
        /// Payload length, 16 bits.
        Length = "length",
        /// Differentiated services code point, 6 bits.
        Dscp = "dscp",
    }
}

/// One item of a flow hash's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashItem<F> {
    /// A packet field.
    Field(F),
    /// A constant and its width in bits, 1 to 64, such as `0:4`: padding that another switch hashes.
    Constant(u64, u16),
}

/// Inputs of a flow hash, in order; at least one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldList<F>(Vec<HashItem<F>>);

impl<F: HashField> FieldList<F> {
    /// Returns the items in order.
    pub fn items(&self) -> impl Iterator<Item = HashItem<F>> + '_ {
        self.0.iter().copied()
    }

    fn item(text: &str) -> Result<HashItem<F>, ChoiceError> {
        if let Some((value, width)) = text.split_once(':') {
            let (value, width) = (number(value)?, number(width)?);
            if !(1..=64).contains(&width) || value.checked_shr(width as u32).unwrap_or(0) != 0 {
                return refuse(format!(
                    "constant `{text}` is not VALUE:BITS with 1 to 64 bits that hold the value"
                ));
            }
            return Ok(HashItem::Constant(value, width as u16));
        }
        let field = F::ALL.iter().find(|(name, _)| *name == text);
        field.map(|&(_, f)| HashItem::Field(f)).ok_or_else(|| {
            let names: Vec<&str> = F::ALL.iter().map(|(name, _)| *name).collect();
            ChoiceError(format!("`{text}` is none of {}", names.join(", ")))
        })
    }
}

impl<F, const N: usize> From<[F; N]> for FieldList<F> {
    fn from(fields: [F; N]) -> Self {
        FieldList(fields.into_iter().map(HashItem::Field).collect())
    }
}

impl<F: HashField> FromStr for FieldList<F> {
    type Err = ChoiceError;
    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        text.split(',').map(|item| Self::item(item.trim())).collect::<Result<_, _>>().map(FieldList)
    }
}

impl<F: HashField> fmt::Display for FieldList<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, item) in self.items().enumerate() {
            f.write_str(if n == 0 { "" } else { "," })?;
            match item {
                HashItem::Constant(value, width) => write!(f, "{value:#x}:{width}")?,
                HashItem::Field(field) => {
                    let named = F::ALL.iter().find(|(_, known)| *known == field);
                    f.write_str(named.map_or("", |(name, _)| name))?;
                }
            }
        }
        Ok(())
    }
}

/// A hash function: a listed one, or a custom CRC (model: chip §11.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashChoice(HashAlgorithm);

impl HashChoice {
    /// CRC-32 of Ethernet.
    pub const CRC_32: HashChoice = match CrcParams::new(32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff) {
        Ok(crc) => HashChoice(HashAlgorithm::Crc(crc)),
        Err(_) => HashChoice(HashAlgorithm::Identity),
    };

    /// Returns the hash algorithm.
    #[must_use]
    pub const fn algorithm(self) -> HashAlgorithm {
        self.0
    }

    fn custom(text: &str) -> Result<HashChoice, ChoiceError> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let [width, poly, reflect, init, xor] = parts[..] else {
            return refuse(format!(
                "`crc:{text}` has {} values, not WIDTH,POLY,reflect|plain,INIT,XOR",
                parts.len()
            ));
        };
        let reflect = match reflect {
            "reflect" => true,
            "plain" => false,
            other => return refuse(format!("`{other}` is neither reflect nor plain")),
        };
        let width = u32::try_from(number(width)?).unwrap_or(u32::MAX);
        let crc = CrcParams::new(width, number(poly)?, reflect, number(init)?, number(xor)?);
        crc.map(|crc| HashChoice(HashAlgorithm::Crc(crc))).or_else(|e| refuse(e.to_string()))
    }
}

impl FromStr for HashChoice {
    type Err = ChoiceError;
    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        match text.strip_prefix("crc:") {
            Some(custom) => Self::custom(custom),
            None => HashAlgorithm::from_name(text).map(HashChoice).or_else(|e| refuse(e.to_string())),
        }
    }
}

impl fmt::Display for HashChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.name(), self.0) {
            (Some(name), _) => f.write_str(name),
            (None, HashAlgorithm::Crc(crc)) => {
                let order = if crc.reflect() { "reflect" } else { "plain" };
                write!(
                    f,
                    "crc:{},{:#x},{order},{:#x},{:#x}",
                    crc.width(),
                    crc.poly(),
                    crc.init(),
                    crc.xor_out()
                )
            }
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

/// Width of the flow hash in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashWidth {
    /// As many bits as the selection mode can use.
    Auto,
    /// This number of bits, 1 to 32.
    Bits(u16),
}

impl FromStr for HashWidth {
    type Err = ChoiceError;
    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        match text {
            "auto" => Ok(HashWidth::Auto),
            bits => match number(bits)? {
                bits @ 1..=32 => Ok(HashWidth::Bits(bits as u16)),
                _ => refuse("out of range"),
            },
        }
    }
}

impl fmt::Display for HashWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HashWidth::Auto => f.write_str("auto"),
            HashWidth::Bits(bits) => bits.fmt(f),
        }
    }
}

/// A 32-bit hash seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashSeed(pub u32);

impl FromStr for HashSeed {
    type Err = ChoiceError;
    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        u32::try_from(number(text)?).map(HashSeed).or_else(|_| refuse("more than 32 bits"))
    }
}

impl fmt::Display for HashSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{:#x}", self.0) }
    }
}

macro_rules! choices {
    ($($(#[$enum_doc:meta])* $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* })*) => { $(
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$doc])* $variant,)*
        }

        impl FromStr for $enum {
            type Err = ChoiceError;
            fn from_str(text: &str) -> Result<Self, ChoiceError> {
                match text {
                    $($name => Ok($enum::$variant),)*
                    _ => refuse("none of these words"),
                }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($enum::$variant => $name,)*
                })
            }
        }
    )* };
}

choices! {
    /// How a hash seed is applied (model: hashing §1.5, §2).
    SeedStyle {
        /// XORed into the result: the chip's seed register.
        Xor = "xor",
        /// Hashed in front of the fields, as a 32-bit constant.
        Prefix = "prefix",
    }

    /// How the hash picks a member of a group (model: hashing §6).
    Selection {
        /// 14 bits of the hash modulo the number of members that are up.
        Fair = "fair",
        /// The hash modulo the number of all slots, with retries if the member is down.
        Resilient = "resilient",
        /// The whole hash modulo the number of members that are up; no chip has this mode.
        PlainModulo = "plain-modulo",
    }
}

impl Selection {
    /// Returns the mode of the selector.
    #[must_use]
    pub const fn mode(self) -> SelectorMode {
        match self {
            Selection::Fair => SelectorMode::Fair,
            Selection::Resilient => SelectorMode::Resilient,
            Selection::PlainModulo => SelectorMode::PlainModulo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why<T: FromStr<Err = ChoiceError>>(text: &str) -> String {
        text.parse::<T>().err().map_or_else(String::new, |e| e.to_string())
    }

    #[test]
    fn values_print_as_they_are_read() {
        fn check<T: FromStr<Err = ChoiceError> + fmt::Display>(texts: &[&str]) {
            for text in texts {
                assert_eq!(text.parse::<T>().map(|v| v.to_string()), Ok((*text).to_owned()));
            }
        }
        check::<FieldList<Ipv4HashField>>(&["src,dst,protocol,src_port,dst_port", "0x0:32,vlan,0x7:4,ttl"]);
        check::<FieldList<Ipv6HashField>>(&["flow_label,hop_limit,next_header"]);
        check::<HashChoice>(&["crc_32", "xor16", "identity", "crc:16,0x1021,plain,0x1,0x2"]);
        check::<HashWidth>(&["auto", "1", "32"]);
        check::<HashSeed>(&["0", "0xdeadbeef"]);
        check::<SeedStyle>(&["xor", "prefix"]);
        check::<Selection>(&["fair", "resilient", "plain-modulo"]);
        assert_eq!("crc:32,0x04c11db7,reflect,0xffffffff,0xffffffff".parse(), Ok(HashChoice::CRC_32));
        assert_eq!(HashChoice::CRC_32.to_string(), "crc_32");
    }

    #[test]
    fn texts_that_are_no_value_say_what_is_wrong() {
        let fields = "`sport` is none of src, dst, protocol, src_port, dst_port, ttl, ingress_port, vlan, \
                      length, dscp, identification";
        assert_eq!(why::<FieldList<Ipv4HashField>>("src,sport"), fields);
        assert!(why::<FieldList<Ipv6HashField>>("").starts_with("`` is none of"));
        assert!(why::<FieldList<Ipv6HashField>>("16:4").contains("hold the value"));
        assert!(why::<FieldList<Ipv6HashField>>("0:65").contains("1 to 64 bits"));
        assert!(why::<HashChoice>("crc_33").contains("crc_32"));
        assert_eq!(
            why::<HashChoice>("crc:16,0x8005,reflect,0"),
            "`crc:16,0x8005,reflect,0` has 4 values, not \
                    WIDTH,POLY,reflect|plain,INIT,XOR"
        );
        assert!(why::<HashChoice>("crc:16,0x8004,plain,0,0").contains("even"));
        assert_eq!(why::<HashChoice>("crc:16,0x8005,mirror,0,0"), "`mirror` is neither reflect nor plain");
        for width in ["0", "33", "wide"] {
            assert!(!why::<HashWidth>(width).is_empty(), "{width}");
        }
        assert_eq!(why::<HashSeed>("0x100000000"), "more than 32 bits");
        assert!(!why::<Selection>("modulo").is_empty());
    }
}
