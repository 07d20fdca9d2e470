//! [`FrameBuilder`]: composes headers into a frame and computes the fields that depend on the whole frame: EtherTypes,
//! protocol numbers, lengths and checksums.

mod transport;

use super::{Checksum, MacAddr, WireError, arp, ethernet, icmp, ipv4, ipv6, roce, tcp, udp, vlan, vxlan};
use transport::Transport;

/// Content of a frame after its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// A number of zero bytes.
    Zeros(usize),
}

impl Payload<'_> {
    const fn byte_len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeros(count) => *count,
        }
    }

    /// Returns the bytes that affect a one's-complement sum.
    const fn summed(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Zeros(_) => &[],
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Network {
    Raw { ethertype: u16 },
    Arp(arp::Packet),
    Ipv4(ipv4::Header),
    Ipv6(ipv6::Header),
}

/// Builds Ethernet frames, without frame check sequence.
///
/// Length, checksum and protocol fields of the given headers are computed; all other fields are written as given. A
/// transport needs IPv4 or IPv6 below it; without one, the given protocol number stays. Over IPv4, VXLAN and RoCEv2
/// have no UDP checksum, as RFC 7348 §4.1 requires and as RDMA adapters do.
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
    service_tag: Option<vlan::Tag>,
    tag: Option<vlan::Tag>,
    network: Network,
    transport: Transport,
}

impl FrameBuilder {
    /// Creates an untagged frame of EtherType 0 between two stations.
    pub const fn new(destination: MacAddr, source: MacAddr) -> Self {
        let network = Network::Raw { ethertype: 0 };
        Self { destination, source, service_tag: None, tag: None, network, transport: Transport::None }
    }

    /// Adds a VLAN tag, whose EtherType is computed.
    #[must_use]
    pub const fn vlan(mut self, tag: vlan::Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Adds a service VLAN tag (802.1ad) before the customer tag, if there is one; its EtherType is computed.
    #[must_use]
    pub const fn service_vlan(mut self, tag: vlan::Tag) -> Self {
        self.service_tag = Some(tag);
        self
    }

    /// Sets another EtherType.
    #[must_use]
    pub const fn ethertype(mut self, ethertype: u16) -> Self {
        self.network = Network::Raw { ethertype };
        self
    }

    /// Sets an ARP packet as the content.
    #[must_use]
    pub const fn arp(mut self, packet: arp::Packet) -> Self {
        self.network = Network::Arp(packet);
        self
    }

    /// Sets an IPv4 header.
    #[must_use]
    pub const fn ipv4(mut self, header: ipv4::Header) -> Self {
        self.network = Network::Ipv4(header);
        self
    }

    /// Sets an IPv6 header.
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

    /// Adds a UDP and a VXLAN header; the payload is the frame inside.
    #[must_use]
    pub const fn vxlan(mut self, outer: udp::Header, header: vxlan::Header) -> Self {
        self.transport = Transport::Vxlan(outer, header);
        self
    }

    /// Adds a UDP header and the headers of RoCEv2. Padding to a multiple of four and the invariant CRC follow the
    /// payload.
    #[must_use]
    pub const fn roce(mut self, outer: udp::Header, headers: roce::Headers) -> Self {
        self.transport = Transport::Roce(outer, headers);
        self
    }

    /// Returns the bytes of all headers, without RoCEv2's invariant CRC.
    pub const fn header_len(&self) -> usize {
        let tag = vlan::TAG_LEN * (self.tag.is_some() as usize + self.service_tag.is_some() as usize);
        let network = match self.network {
            Network::Raw { .. } => 0,
            Network::Arp(_) => arp::PACKET_LEN,
            Network::Ipv4(_) => ipv4::HEADER_LEN,
            Network::Ipv6(_) => ipv6::HEADER_LEN,
        };
        ethernet::HEADER_LEN + tag + network + self.transport.header_len()
    }

    /// Writes the frame into `out`, whose contents are replaced.
    ///
    /// # Errors
    /// Fails if the payload is too long for the length fields, or a transport has no IP; the contents of `out` are then unspecified.
    #[inline]
    pub fn build(&self, payload: Payload<'_>, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.clear();
        self.link(out);
        let ip_start = out.len();
        let payload_len = payload.byte_len();
        let ip_payload = self.transport.header_len() + payload_len + self.transport.trailer_len(payload_len);
        match self.network {
            Network::Raw { .. } => self.refuse_transport("Ethernet")?,
            Network::Arp(packet) => {
                self.refuse_transport("ARP")?;
                out.extend_from_slice(&packet.to_bytes());
            }
            Network::Ipv4(mut header) => {
                header.total_len = fit("IPv4", ip_payload + ipv4::HEADER_LEN)?;
                header.protocol = self.transport.protocol(ipv4::PROTOCOL_ICMP).unwrap_or(header.protocol);
                out.extend_from_slice(&header.with_checksum().to_bytes());
                let len = fit("IPv4 payload", ip_payload)?;
                let pseudo = Checksum::pseudo_ipv4(header.source, header.destination, header.protocol, len);
                self.transport.write(pseudo, false, len, payload, out);
            }
            Network::Ipv6(mut header) => {
                header.payload_len = fit("IPv6 payload", ip_payload)?;
                header.next_header = self.transport.protocol(ipv6::NEXT_ICMPV6).unwrap_or(header.next_header);
                out.extend_from_slice(&header.to_bytes());
                let len = header.payload_len;
                let pseudo =
                    Checksum::pseudo_ipv6(header.source, header.destination, header.next_header, len.into());
                self.transport.write(pseudo, true, len, payload, out);
            }
        }
        match payload {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Zeros(count) => out.resize(out.len() + count, 0),
        }
        if let Transport::Roce(..) = self.transport {
            self.finish_roce(ip_start, payload, out)?;
        }
        Ok(())
    }

    /// Writes the frame with zero bytes of payload up to a length of `len` bytes, or the headers alone if they are
    /// longer. A RoCEv2 packet is up to three bytes shorter, so that it needs no padding.
    ///
    /// # Errors
    /// Fails in the cases of [`build`](Self::build).
    #[inline]
    pub fn build_len(&self, len: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
        let zeros = match self.transport {
            Transport::Roce(..) => len.saturating_sub(self.header_len() + roce::ICRC_LEN) & !3,
            _ => len.saturating_sub(self.header_len()),
        };
        self.build(Payload::Zeros(zeros), out)
    }

    fn link(&self, out: &mut Vec<u8>) {
        let inner = match self.network {
            Network::Raw { ethertype } => ethertype,
            Network::Arp(_) => ethernet::TYPE_ARP,
            Network::Ipv4(_) => ethernet::TYPE_IPV4,
            Network::Ipv6(_) => ethernet::TYPE_IPV6,
        };
        let behind_service = if self.tag.is_some() { ethernet::TYPE_VLAN } else { inner };
        let ethertype = if self.service_tag.is_some() { ethernet::TYPE_SERVICE_VLAN } else { behind_service };
        let header = ethernet::Header { destination: self.destination, source: self.source, ethertype };
        out.extend_from_slice(&header.to_bytes());
        for (tag, ethertype) in [(self.service_tag, behind_service), (self.tag, inner)] {
            if let Some(tag) = tag {
                out.extend_from_slice(&vlan::Tag { ethertype, ..tag }.to_bytes());
            }
        }
    }

    fn refuse_transport(&self, protocol: &'static str) -> Result<(), WireError> {
        match self.transport.protocol(ipv4::PROTOCOL_ICMP) {
            None => Ok(()),
            Some(found) => {
                let (field, found, expected) = ("transport protocol", found.into(), "none without IP");
                Err(WireError::Field { protocol, field, found, expected })
            }
        }
    }
}

/// Returns a length as its 16-bit field.
fn fit(protocol: &'static str, found: usize) -> Result<u16, WireError> {
    u16::try_from(found).map_err(|_| WireError::Long { protocol, found, expected: u16::MAX.into() })
}
