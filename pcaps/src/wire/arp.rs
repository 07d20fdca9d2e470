//! ARP for IPv4 over Ethernet (RFC 826).

use std::net::Ipv4Addr;

use super::error::split;
use super::{MacAddr, WireError};

/// Bytes of a packet.
pub const PACKET_LEN: usize = 28;
/// Operation of a request.
pub const REQUEST: u16 = 1;
/// Operation of a reply.
pub const REPLY: u16 = 2;

/// Hardware type Ethernet, protocol type IPv4, and their address lengths.
const ETHERNET_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// A checked view of a packet.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; PACKET_LEN],
}

impl<'a> View<'a> {
    /// Checks that there is a packet, and that it is of IPv4 over Ethernet.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (header, _) = split("ARP", bytes)?;
        let found = header[..6].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        if header[..6] != ETHERNET_IPV4 {
            let expected = "000108000604 (Ethernet, IPv4, lengths 6 and 4)";
            return Err(WireError::Field { protocol: "ARP", field: "address types", found, expected });
        }
        Ok(Self { header })
    }

    /// Returns [`REQUEST`], [`REPLY`] or another.
    pub fn operation(&self) -> u16 {
        u16::from_be_bytes([self.header[6], self.header[7]])
    }

    /// Returns the MAC address of the sender.
    pub fn sender_mac(&self) -> MacAddr {
        self.mac(8)
    }

    /// Returns the IPv4 address of the sender.
    pub fn sender_ip(&self) -> Ipv4Addr {
        self.ip(14)
    }

    /// Returns the MAC address of the target.
    pub fn target_mac(&self) -> MacAddr {
        self.mac(18)
    }

    /// Returns the IPv4 address of the target.
    pub fn target_ip(&self) -> Ipv4Addr {
        self.ip(24)
    }

    /// Returns the packet as a value.
    pub fn packet(&self) -> Packet {
        Packet {
            operation: self.operation(),
            sender_mac: self.sender_mac(),
            sender_ip: self.sender_ip(),
            target_mac: self.target_mac(),
            target_ip: self.target_ip(),
        }
    }

    fn mac(&self, at: usize) -> MacAddr {
        MacAddr(std::array::from_fn(|index| self.header[at + index]))
    }

    fn ip(&self, at: usize) -> Ipv4Addr {
        Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|index| self.header[at + index]))
    }
}

/// An ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// [`REQUEST`], [`REPLY`] or another.
    pub operation: u16,
    /// MAC address of the sender.
    pub sender_mac: MacAddr,
    /// IPv4 address of the sender.
    pub sender_ip: Ipv4Addr,
    /// MAC address of the target; zero in a request.
    pub target_mac: MacAddr,
    /// IPv4 address of the target.
    pub target_ip: Ipv4Addr,
}

impl Packet {
    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; PACKET_LEN] {
        let mut bytes = [0; PACKET_LEN];
        bytes[..6].copy_from_slice(&ETHERNET_IPV4);
        bytes[6..8].copy_from_slice(&self.operation.to_be_bytes());
        bytes[8..14].copy_from_slice(&self.sender_mac.0);
        bytes[14..18].copy_from_slice(&self.sender_ip.octets());
        bytes[18..24].copy_from_slice(&self.target_mac.0);
        bytes[24..].copy_from_slice(&self.target_ip.octets());
        bytes
    }
}
