//! [`FrameBuilder`]: composes headers into a frame and works out what depends on the whole of it: EtherTypes,
//! protocol numbers, lengths and checksums.

use super::{Checksum, MacAddr, WireError, arp, ethernet, icmp, ipv4, ipv6, tcp, udp, vlan};

/// What a frame carries after its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many zero bytes.
    Zeros(usize),
}

#[derive(Debug, Clone, Copy)]
enum Network {
    Raw { ethertype: u16 },
    Arp(arp::Packet),
    Ipv4(ipv4::Header),
    Ipv6(ipv6::Header),
}

#[derive(Debug, Clone, Copy)]
enum Transport {
    None,
    Udp(udp::Header),
    Tcp(tcp::Header),
    Icmp(icmp::Header),
}

/// Builds Ethernet frames, without frame check sequence.
///
/// Length, checksum and protocol fields of the headers given are worked out anew; everything else is emitted as
/// given. A transport needs IPv4 or IPv6 below it; without one, the protocol number given is kept.
///
/// ```
/// use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, udp};
///
/// let ip = ipv4::Header::new([10, 0, 0, 1].into(), [10, 1, 0, 1].into());
/// let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip).udp(udp::Header::new(7, 9));
/// let mut frame = Vec::new();
/// builder.build(Payload::Bytes(b"hello"), &mut frame)?;
/// assert_eq!(frame.len(), 14 + 20 + 8 + 5);
/// # Ok::<(), sluice_pcaps::wire::WireError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FrameBuilder {
    destination: MacAddr,
    source: MacAddr,
    tag: Option<vlan::Tag>,
    network: Network,
    transport: Transport,
}

impl FrameBuilder {
    /// An untagged frame of EtherType 0 between two stations.
    pub const fn new(destination: MacAddr, source: MacAddr) -> Self {
        let network = Network::Raw { ethertype: 0 };
        Self { destination, source, tag: None, network, transport: Transport::None }
    }

    /// Adds a VLAN tag, whose EtherType is worked out.
    #[must_use]
    pub const fn vlan(mut self, tag: vlan::Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Makes it a frame of another EtherType.
    #[must_use]
    pub const fn ethertype(mut self, ethertype: u16) -> Self {
        self.network = Network::Raw { ethertype };
        self
    }

    /// Makes it an ARP packet.
    #[must_use]
    pub const fn arp(mut self, packet: arp::Packet) -> Self {
        self.network = Network::Arp(packet);
        self
    }

    /// Makes it an IPv4 packet.
    #[must_use]
    pub const fn ipv4(mut self, header: ipv4::Header) -> Self {
        self.network = Network::Ipv4(header);
        self
    }

    /// Makes it an IPv6 packet.
    #[must_use]
    pub const fn ipv6(mut self, header: ipv6::Header) -> Self {
        self.network = Network::Ipv6(header);
        self
    }

    /// Adds a UDP header.
    #[must_use]
    pub const fn udp(mut self, header: udp::Header) -> Self {
        self.transport = Transport::Udp(header);
        self
    }

    /// Adds a TCP header.
    #[must_use]
    pub const fn tcp(mut self, header: tcp::Header) -> Self {
        self.transport = Transport::Tcp(header);
        self
    }

    /// Adds an ICMP header, of ICMPv6 if over IPv6.
    #[must_use]
    pub const fn icmp(mut self, header: icmp::Header) -> Self {
        self.transport = Transport::Icmp(header);
        self
    }

    /// Bytes of all headers.
    pub const fn header_len(&self) -> usize {
        let tag = if self.tag.is_some() { vlan::TAG_LEN } else { 0 };
        let network = match self.network {
            Network::Raw { .. } => 0,
            Network::Arp(_) => arp::PACKET_LEN,
            Network::Ipv4(_) => ipv4::HEADER_LEN,
            Network::Ipv6(_) => ipv6::HEADER_LEN,
        };
        ethernet::HEADER_LEN + tag + network + self.transport_len()
    }

    /// Writes the frame into `out`, whose contents are replaced.
    ///
    /// # Errors
    /// A payload too long for the length fields, or a transport without IP; `out` then has unspecified contents.
    pub fn build(&self, payload: Payload<'_>, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.clear();
        self.link(out);
        let payload_len = match payload {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Zeros(count) => count,
        };
        let ip_payload = self.transport_len() + payload_len;
        match self.network {
            Network::Raw { .. } => self.refuse_transport("Ethernet")?,
            Network::Arp(packet) => {
                self.refuse_transport("ARP")?;
                out.extend_from_slice(&packet.to_bytes());
            }
            Network::Ipv4(mut header) => {
                header.total_len = fit("IPv4", ip_payload + ipv4::HEADER_LEN)?;
                header.protocol = self.protocol(ipv4::PROTOCOL_ICMP).unwrap_or(header.protocol);
                out.extend_from_slice(&header.with_checksum().to_bytes());
                let len = fit("IPv4 payload", ip_payload)?;
                let pseudo = Checksum::pseudo_ipv4(header.source, header.destination, header.protocol, len);
                let icmp = Checksum::new();
                self.transport(pseudo, icmp, len, payload, out);
            }
            Network::Ipv6(mut header) => {
                header.payload_len = fit("IPv6 payload", ip_payload)?;
                header.next_header = self.protocol(ipv6::NEXT_ICMPV6).unwrap_or(header.next_header);
                out.extend_from_slice(&header.to_bytes());
                let len = header.payload_len;
                let pseudo =
                    Checksum::pseudo_ipv6(header.source, header.destination, header.next_header, len.into());
                self.transport(pseudo, pseudo, len, payload, out);
            }
        }
        match payload {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Zeros(count) => out.resize(out.len() + count, 0),
        }
        Ok(())
    }

    /// Writes the frame with so many zero bytes of payload that it has `len` bytes, or the headers alone if those
    /// have more.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_len(&self, len: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.build(Payload::Zeros(len.saturating_sub(self.header_len())), out)
    }

    fn link(&self, out: &mut Vec<u8>) {
        let inner = match self.network {
            Network::Raw { ethertype } => ethertype,
            Network::Arp(_) => ethernet::TYPE_ARP,
            Network::Ipv4(_) => ethernet::TYPE_IPV4,
            Network::Ipv6(_) => ethernet::TYPE_IPV6,
        };
        let ethertype = if self.tag.is_some() { ethernet::TYPE_VLAN } else { inner };
        let header = ethernet::Header { destination: self.destination, source: self.source, ethertype };
        out.extend_from_slice(&header.to_bytes());
        if let Some(tag) = self.tag {
            out.extend_from_slice(&vlan::Tag { ethertype: inner, ..tag }.to_bytes());
        }
    }

    /// Writes the transport header: `pseudo` starts the sum of TCP and UDP, `icmp` that of ICMP.
    fn transport(&self, pseudo: Checksum, icmp: Checksum, len: u16, payload: Payload<'_>, out: &mut Vec<u8>) {
        let over = |sum: Checksum, header: &[u8]| {
            let bytes = if let Payload::Bytes(bytes) = payload { bytes } else { &[] };
            sum.with(header).with(bytes).finish()
        };
        match self.transport {
            Transport::None => {}
            Transport::Udp(mut header) => {
                (header.length, header.checksum) = (len, 0);
                // 0 would say that there is no checksum.
                header.checksum = match over(pseudo, &header.to_bytes()) {
                    0 => 0xffff,
                    sum => sum,
                };
                out.extend_from_slice(&header.to_bytes());
            }
            Transport::Tcp(mut header) => {
                header.checksum = 0;
                header.checksum = over(pseudo, &header.to_bytes());
                out.extend_from_slice(&header.to_bytes());
            }
            Transport::Icmp(mut header) => {
                header.checksum = 0;
                header.checksum = over(icmp, &header.to_bytes());
                out.extend_from_slice(&header.to_bytes());
            }
        }
    }

    const fn transport_len(&self) -> usize {
        match self.transport {
            Transport::None => 0,
            Transport::Udp(_) => udp::HEADER_LEN,
            Transport::Tcp(_) => tcp::HEADER_LEN,
            Transport::Icmp(_) => icmp::HEADER_LEN,
        }
    }

    const fn protocol(&self, icmp: u8) -> Option<u8> {
        match self.transport {
            Transport::None => None,
            Transport::Udp(_) => Some(ipv4::PROTOCOL_UDP),
            Transport::Tcp(_) => Some(ipv4::PROTOCOL_TCP),
            Transport::Icmp(_) => Some(icmp),
        }
    }

    fn refuse_transport(&self, protocol: &'static str) -> Result<(), WireError> {
        match self.protocol(ipv4::PROTOCOL_ICMP) {
            None => Ok(()),
            Some(found) => {
                let (field, found, expected) = ("transport protocol", found.into(), "none without IP");
                Err(WireError::Field { protocol, field, found, expected })
            }
        }
    }
}

/// A length as its 16-bit field.
fn fit(protocol: &'static str, found: usize) -> Result<u16, WireError> {
    u16::try_from(found).map_err(|_| WireError::Long { protocol, found, expected: u16::MAX.into() })
}
