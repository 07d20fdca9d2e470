//! [`MacAddr`]: a 48-bit IEEE 802 address.

use std::fmt;
use std::str::FromStr;

/// A MAC address.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// ff:ff:ff:ff:ff:ff.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Returns the low 48 bits of `bits`.
    pub const fn from_u64(bits: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = bits.to_be_bytes();
        Self([a, b, c, d, e, f])
    }

    /// Returns true if the address is a group address (its first bit on the wire is set).
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }
}

/// Six hexadecimal octets with colons.
impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Error: a text is not a MAC address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a MAC address; expected six hexadecimal octets with colons, such as 02:00:00:00:00:01")]
pub struct MacAddrError(String);

impl FromStr for MacAddr {
    type Err = MacAddrError;

    fn from_str(text: &str) -> Result<Self, MacAddrError> {
        let wrong = || MacAddrError(text.to_owned());
        let mut octets = [0; 6];
        let mut parts = text.split(':');
        for octet in &mut octets {
            let part = parts.next().filter(|part| part.len() <= 2).ok_or_else(wrong)?;
            *octet = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_some() { Err(wrong()) } else { Ok(Self(octets)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_parses() {
        let address = MacAddr::from_u64(0x02_00_00_00_0a_01);
        assert_eq!(address.to_string(), "02:00:00:00:0a:01");
        assert_eq!("02:00:00:00:0a:01".parse(), Ok(address));
        assert!(!address.is_multicast() && MacAddr::BROADCAST.is_multicast());
    }

    #[test]
    fn refuses_what_is_no_address() {
        for text in ["", "02:00", "02:00:00:00:00:01:02", "02:00:00:00:00:xx", "002:0:0:0:0:0"] {
            assert!(text.parse::<MacAddr>().is_err(), "{text}");
        }
    }
}
