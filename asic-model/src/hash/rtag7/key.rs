//! The RTAG7 key: thirteen bins of 16 bits, enabled per class of packet.

use super::Rtag7Message;

/// Numbers of the bins of an IP packet (model: hashing §1.2).
pub mod bins {
    /// Source address, high half.
    pub const SOURCE_HIGH: u32 = 11;
    /// Source address, low half.
    pub const SOURCE_LOW: u32 = 10;
    /// Destination address, high half.
    pub const DESTINATION_HIGH: u32 = 9;
    /// Destination address, low half.
    pub const DESTINATION_LOW: u32 = 8;
    /// VLAN id, 12 bits.
    pub const VLAN: u32 = 7;
    /// Source port.
    pub const SOURCE_PORT: u32 = 6;
    /// Destination port.
    pub const DESTINATION_PORT: u32 = 5;
    /// IP protocol.
    pub const PROTOCOL: u32 = 4;
    /// Ingress port.
    pub const INGRESS_PORT: u32 = 3;
    /// Module that the packet came from.
    pub const SOURCE_MODULE: u32 = 2;
    /// Bitmap of the five-tuple's bins.
    pub const FIVE_TUPLE: u16 = 0b1111_0111_0000;
}

/// Network addresses of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// Not an IP packet.
    None,
    /// Source and destination.
    V4(u32, u32),
    /// Source and destination, each as four words, the most significant word first.
    V6([u32; 4], [u32; 4]),
}

/// Reduction of an IPv6 address to 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ipv6Fold {
    /// XOR of its four words.
    Xor,
    /// The last word alone. Hosts of different networks that share it have the same hash.
    LastWord,
}

impl Ipv6Fold {
    const fn fold(self, words: [u32; 4]) -> u32 {
        match self {
            Self::Xor => words[0] ^ words[1] ^ words[2] ^ words[3],
            Self::LastWord => words[3],
        }
    }
}

/// Fields of a packet that the unit reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rtag7Packet {
    /// Network addresses.
    pub addresses: Addresses,
    /// IP protocol or IPv6 next header.
    pub protocol: u8,
    /// Source port of TCP or UDP, else 0.
    pub source_port: u16,
    /// Destination port of TCP or UDP, else 0.
    pub destination_port: u16,
    /// VLAN id, 12 bits.
    pub vlan: u16,
    /// Port on which the packet arrived.
    pub ingress_port: u16,
    /// Module from which the packet came, in a system of several.
    pub source_module: u16,
    /// Source MAC address, for packets that are not IP.
    pub source_mac: u64,
    /// Destination MAC address, for packets that are not IP.
    pub destination_mac: u64,
    /// EtherType, for packets that are not IP.
    pub ethertype: u16,
}

impl Rtag7Packet {
    /// Returns an IPv4 packet with nothing but a five-tuple.
    pub const fn five_tuple(source: u32, destination: u32, protocol: u8, ports: (u16, u16)) -> Self {
        Self {
            addresses: Addresses::V4(source, destination),
            protocol,
            source_port: ports.0,
            destination_port: ports.1,
            vlan: 0,
            ingress_port: 0,
            source_module: 0,
            source_mac: 0,
            destination_mac: 0,
            ethertype: 0x0800,
        }
    }

    fn is_l4(&self) -> bool {
        self.addresses != Addresses::None && matches!(self.protocol, 6 | 17)
    }
}

/// Enabled bins by class of packet: bit i for bin i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinMaps {
    /// IPv4 without ports.
    pub ipv4: u16,
    /// IPv6 without ports.
    pub ipv6: u16,
    /// TCP and UDP.
    pub l4: u16,
    /// TCP and UDP packets whose two ports are equal; they have a separate map.
    pub l4_equal_ports: u16,
    /// Packets that are not IP.
    pub l2: u16,
}

impl BinMaps {
    /// The five-tuple for IP; MAC addresses, EtherType and VLAN for the rest.
    pub const FIVE_TUPLE: Self = Self {
        ipv4: bins::FIVE_TUPLE,
        ipv6: bins::FIVE_TUPLE,
        l4: bins::FIVE_TUPLE,
        l4_equal_ports: bins::FIVE_TUPLE,
        l2: 0b1111_1111_0000,
    };
}

/// Settings that turn a packet into a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyConfig {
    /// Enabled bins.
    pub maps: BinMaps,
    /// Folding of IPv6 addresses.
    pub ipv6: Ipv6Fold,
    /// True if each bin x becomes x ^ (x >> 3) ^ (x << 2), which is linear, too.
    pub preprocess: bool,
    /// Bin that replaces the seed in the low half of word 6; `None`: the seed stays.
    pub overlay: Option<u16>,
}

impl KeyConfig {
    /// The five-tuple, addresses folded by XOR, nothing else.
    pub const FIVE_TUPLE: Self =
        Self { maps: BinMaps::FIVE_TUPLE, ipv6: Ipv6Fold::Xor, preprocess: false, overlay: None };

    /// Returns the message of a packet.
    pub fn message(&self, packet: &Rtag7Packet, seed: u32) -> Rtag7Message {
        let map = self.map(packet);
        let bins = self.bins(packet);
        let bin = |i: usize| {
            let value = if map >> i & 1 == 1 { bins[i] } else { 0 };
            u32::from(if self.preprocess { preprocessed(value) } else { value })
        };
        let mut message = [0; 7];
        for (word, low) in message.iter_mut().zip((0..12).step_by(2)) {
            *word = bin(low + 1) << 16 | bin(low);
        }
        message[6] = match self.overlay {
            None => seed,
            Some(value) => {
                let value = if self.preprocess { preprocessed(value) } else { value };
                seed & 0xffff_0000 | u32::from(value)
            }
        };
        message
    }

    fn map(&self, packet: &Rtag7Packet) -> u16 {
        match packet.addresses {
            Addresses::None => self.maps.l2,
            _ if packet.is_l4() && packet.source_port == packet.destination_port => self.maps.l4_equal_ports,
            _ if packet.is_l4() => self.maps.l4,
            Addresses::V4(..) => self.maps.ipv4,
            Addresses::V6(..) => self.maps.ipv6,
        }
    }

    fn bins(&self, packet: &Rtag7Packet) -> [u16; 12] {
        let halves = |value: u32| [value as u16, (value >> 16) as u16];
        let (source, destination) = match packet.addresses {
            Addresses::None => return l2_bins(packet),
            Addresses::V4(source, destination) => (source, destination),
            Addresses::V6(source, destination) => (self.ipv6.fold(source), self.ipv6.fold(destination)),
        };
        let ([source_low, source_high], [low, high]) = (halves(source), halves(destination));
        let ports = if packet.is_l4() { [packet.destination_port, packet.source_port] } else { [0, 0] };
        [
            0,
            0,
            packet.source_module,
            packet.ingress_port,
            packet.protocol.into(),
            ports[0],
            ports[1],
            packet.vlan & 0xfff,
            low,
            high,
            source_low,
            source_high,
        ]
    }
}

/// Returns the bins of a packet that is not IP. A length in place of an EtherType counts as 0.
const fn l2_bins(packet: &Rtag7Packet) -> [u16; 12] {
    let (source, destination) = (packet.source_mac, packet.destination_mac);
    let ethertype = if packet.ethertype < 0x600 { 0 } else { packet.ethertype };
    [
        0,
        0,
        packet.source_module,
        packet.ingress_port,
        packet.vlan & 0xfff,
        ethertype,
        destination as u16,
        (destination >> 16) as u16,
        (destination >> 32) as u16,
        source as u16,
        (source >> 16) as u16,
        (source >> 32) as u16,
    ]
}

/// Applies the optional mixing to a bin; it is computed in 32 bits and truncated to 16.
const fn preprocessed(bin: u16) -> u16 {
    let x = bin as u32;
    (x ^ x >> 3 ^ x << 2) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_bytes_of_a_flow() {
        // model: hashing §7.2, F1.
        let packet = Rtag7Packet::five_tuple(0x0a00_0001, 0x0a00_0101, 6, (12345, 80));
        let message = KeyConfig::FIVE_TUPLE.message(&packet, 0);
        let bytes: Vec<u8> = message.iter().flat_map(|word| word.to_le_bytes()).collect();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "000000000000000006005000393000000101000a0100000a00000000");
        let seeded = KeyConfig::FIVE_TUPLE.message(&packet, 0xdead_beef);
        assert_eq!(seeded[6].to_le_bytes(), [0xef, 0xbe, 0xad, 0xde]);
        let overlay = KeyConfig { overlay: Some(7), ..KeyConfig::FIVE_TUPLE };
        assert_eq!(overlay.message(&packet, 0xdead_beef)[6], 0xdead_0007);
    }

    #[test]
    fn each_class_has_its_bitmap() {
        let key = KeyConfig {
            maps: BinMaps { ipv4: 1 << 4, ipv6: 1 << 10, l4: 1 << 6, l4_equal_ports: 1 << 5, l2: 1 << 5 },
            ..KeyConfig::FIVE_TUPLE
        };
        let words = |packet: &Rtag7Packet| key.message(packet, 0);
        let tcp = Rtag7Packet::five_tuple(1, 2, 6, (7, 8));
        assert_eq!(words(&tcp), [0, 0, 0, 7, 0, 0, 0]);
        let equal = Rtag7Packet { destination_port: 7, ..tcp };
        assert_eq!(words(&equal), [0, 0, 7 << 16, 0, 0, 0, 0]);
        let icmp = Rtag7Packet { protocol: 1, ..tcp };
        assert_eq!(words(&icmp), [0, 0, 1, 0, 0, 0, 0]);
        let v6 = Addresses::V6([1, 2, 4, 8], [0; 4]);
        assert_eq!(words(&Rtag7Packet { addresses: v6, ..icmp }), [0, 0, 0, 0, 0, 15, 0]);
        let l2 = Rtag7Packet { addresses: Addresses::None, ethertype: 0x88b5, ..tcp };
        assert_eq!(words(&l2), [0, 0, 0x88b5 << 16, 0, 0, 0, 0]);
        assert_eq!(words(&Rtag7Packet { ethertype: 100, ..l2 }), [0; 7]);
    }
}
