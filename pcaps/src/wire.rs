//! Header bytes as a host sees them: Ethernet, VLAN, ARP, IPv4, IPv6, TCP, UDP, ICMP, VXLAN, RoCEv2, PAUSE and PFC.
//!
//! Every protocol has one file with the same structure: a checked `View` over bytes, whose accessors cannot fail after
//! the length was checked; a small value (`Header`, `Tag`, `Packet`) with the same fields; `to_bytes`, which encodes
//! the value unchanged. [`FrameBuilder`] computes lengths and checksums. The switch's own parser is part of a program
//! and does not use this module.

pub mod arp;
mod checksum;
mod crc32;
mod error;
pub mod ethernet;
mod frame;
pub mod icmp;
pub mod ipv4;
pub mod ipv6;
mod mac;
pub mod pause;
pub mod roce;
pub mod tcp;
pub mod udp;
pub mod vlan;
pub mod vxlan;

pub use checksum::Checksum;
pub use crc32::Crc32;
pub use error::WireError;
pub use frame::{FrameBuilder, Payload};
pub use mac::{MacAddr, MacAddrError};
