//! [`Prefix`]: block of IPv4 or IPv6 addresses from which addresses are drawn.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IP prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    network: IpAddr,
    len: u8,
}

impl Prefix {
    /// Returns the prefix of `len` bits that contains `address`.
    pub fn new(address: IpAddr, len: u8) -> Result<Self, PrefixError> {
        let widest = width(address);
        if len > widest {
            return Err(PrefixError::Length { found: len, limit: widest });
        }
        let whole = Self { network: address, len };
        Ok(Self { network: whole.address(0), len })
    }

    /// Returns the lowest address.
    pub const fn network(&self) -> IpAddr {
        self.network
    }

    /// Returns the number of fixed bits.
    pub const fn prefix_len(&self) -> u8 {
        self.len
    }

    /// Returns the number of free bits.
    pub const fn host_bits(&self) -> u8 {
        width(self.network) - self.len
    }

    /// Returns the address in it whose free bits are the low bits of `host`.
    #[inline]
    pub fn address(&self, host: u128) -> IpAddr {
        // Ones at the host bits. `checked_shr` avoids a shift by the whole width.
        let mask = |width: u8| u128::MAX.checked_shr(u32::from(128 - width + self.len)).unwrap_or(0);
        match self.network {
            IpAddr::V4(network) => {
                let mask = mask(32) as u32;
                Ipv4Addr::from_bits(network.to_bits() & !mask | host as u32 & mask).into()
            }
            IpAddr::V6(network) => {
                let mask = mask(128);
                Ipv6Addr::from_bits(network.to_bits() & !mask | host & mask).into()
            }
        }
    }
}

const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// `ADDRESS/LENGTH`.
impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.len)
    }
}

/// `ADDRESS/LENGTH`, or an address alone.
impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let malformed = || PrefixError::Text { found: text.to_owned() };
        let Some((address, len)) = text.split_once('/') else {
            let address: IpAddr = text.parse().map_err(|_| malformed())?;
            return Self::new(address, width(address));
        };
        Self::new(address.parse().map_err(|_| malformed())?, len.parse().map_err(|_| malformed())?)
    }
}

/// Reason for which a value is not a prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// The text has another form.
    #[error("found `{found}`, expected an address or ADDRESS/LENGTH, as 10.1.0.0/16 or 2001:db8::/32")]
    Text {
        /// The text.
        found: String,
    },
    /// More bits than the address has.
    #[error("found a prefix length of {found}, expected at most {limit}")]
    Length {
        /// Length found.
        found: u8,
        /// Width of the address.
        limit: u8,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_bits_are_cut_and_filled() {
        let prefix: Prefix = "10.1.2.3/16".parse().unwrap();
        assert_eq!(prefix.to_string(), "10.1.0.0/16");
        assert_eq!(prefix.address(0xabcd_ef01), IpAddr::from([10, 1, 0xef, 0x01]));
        let all: Prefix = "0.0.0.0/0".parse().unwrap();
        assert_eq!(all.address(u128::MAX), IpAddr::from([255; 4]));
        let one: Prefix = "10.9.9.9/32".parse().unwrap();
        assert_eq!(one.address(u128::MAX), IpAddr::from([10, 9, 9, 9]));
    }

    #[test]
    fn ipv6_too() {
        let prefix: Prefix = "2001:db8:1::/48".parse().unwrap();
        assert_eq!(prefix.address(0x1_0002), "2001:db8:1::1:2".parse::<IpAddr>().unwrap());
        assert_eq!("::/0".parse::<Prefix>().unwrap().address(u128::MAX), IpAddr::from([0xff; 16]));
        assert_eq!("::1/128".parse::<Prefix>().unwrap().address(u128::MAX), "::1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        assert_eq!("10.0.0.0/33".parse::<Prefix>(), Err(PrefixError::Length { found: 33, limit: 32 }));
        assert_eq!("10.0.0.7".parse::<Prefix>().unwrap().to_string(), "10.0.0.7/32");
        assert_eq!("::1".parse::<Prefix>().unwrap().to_string(), "::1/128");
        for text in ["10.0.0", "10.0.0/8", "x/8", "10.0.0.0/-1"] {
            assert!(matches!(text.parse::<Prefix>(), Err(PrefixError::Text { .. })), "{text}");
        }
    }
}
