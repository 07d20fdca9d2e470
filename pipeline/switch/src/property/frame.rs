//! Header fields of a frame as hosts see them: its flow, and the correctness of IP, TCP and UDP lengths and
//! checksums.

use sluice_pcaps::wire::{Checksum, ethernet, ipv4, ipv6, tcp, udp};

/// Returns the EtherType of a frame, and the bytes from the network header on.
fn network(frame: &[u8]) -> Option<(u16, &[u8])> {
    let mut ethertype = u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]);
    let mut rest = frame.get(14..)?;
    while matches!(ethertype, ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN) {
        ethertype = u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?]);
        rest = rest.get(4..)?;
    }
    Some((ethertype, rest))
}

/// Identifies a flow: arrival port, addresses, protocol and L4 ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// dev_port on which the packets arrive.
    pub port: u16,
    source: [u8; 16],
    destination: [u8; 16],
    protocol: u8,
    ports: [u8; 4],
}

impl FlowKey {
    /// Returns the flow of a frame that arrived on a port; `None` for fragments and for frames that are not
    /// IP.
    #[must_use]
    pub fn of(port: u16, frame: &[u8]) -> Option<FlowKey> {
        let mut key = FlowKey { port, source: [0; 16], destination: [0; 16], protocol: 0, ports: [0; 4] };
        let (ethertype, packet) = network(frame)?;
        let payload = match ethertype {
            ethernet::TYPE_IPV4 => {
                let ip = ipv4::View::new(packet).ok()?;
                if ip.more_fragments() || ip.fragment_offset() > 0 {
                    return None;
                }
                key.source[..4].copy_from_slice(&ip.source().octets());
                key.destination[..4].copy_from_slice(&ip.destination().octets());
                key.protocol = ip.protocol();
                ip.payload()
            }
            ethernet::TYPE_IPV6 => {
                let ip = ipv6::View::new(packet).ok()?;
                key.source = ip.source().octets();
                key.destination = ip.destination().octets();
                key.protocol = ip.next_header();
                ip.payload()
            }
            _ => return None,
        };
        if let Some(ports) = payload.first_chunk::<4>() {
            key.ports = *ports;
        }
        Some(key)
    }
}

/// Checks the IP header and its checksum, and that the lengths of IP and UDP agree. Accepts frames that are
/// not IP.
///
/// # Errors
/// Says which field is wrong, the value found and the value expected.
pub fn well_formed(frame: &[u8]) -> Result<(), String> {
    let Some((ethertype, packet)) = network(frame) else { return Ok(()) };
    match ethertype {
        ethernet::TYPE_IPV4 => {
            let ip = ipv4::View::new(packet).map_err(|e| e.to_string())?;
            let header = packet.len() - ip_rest(packet);
            if !ip.checksum_ok() {
                let found = ip.checksum();
                let expected = right_checksum(&packet[..header]);
                return Err(format!("IPv4: found header checksum {found:#06x}, expected {expected:#06x}"));
            }
            let (total, there) = (usize::from(ip.total_len()), packet.len());
            if total < header || total > there {
                return Err(format!("IPv4: found total length {total}, expected {header} to {there}"));
            }
            let whole = !ip.more_fragments() && ip.fragment_offset() == 0;
            datagram(ip.protocol(), &packet[header..total], whole)
        }
        ethernet::TYPE_IPV6 => {
            let ip = ipv6::View::new(packet).map_err(|e| e.to_string())?;
            let (length, there) = (usize::from(ip.payload_len()), packet.len() - ipv6::HEADER_LEN);
            if length > there {
                return Err(format!("IPv6: found payload length {length}, expected at most {there}"));
            }
            datagram(ip.next_header(), &packet[ipv6::HEADER_LEN..ipv6::HEADER_LEN + length], true)
        }
        _ => Ok(()),
    }
}

/// Returns true if the TCP or UDP checksum of a frame is correct. `None` if there is none to check: other
/// protocols, fragments, UDP without a checksum, frames that are not [`well_formed`].
#[must_use]
pub fn l4_checksum(frame: &[u8]) -> Option<bool> {
    well_formed(frame).ok()?;
    let (ethertype, packet) = network(frame)?;
    let (protocol, segment) = match ethertype {
        ethernet::TYPE_IPV4 => {
            let ip = ipv4::View::new(packet).ok()?;
            if ip.more_fragments() || ip.fragment_offset() > 0 {
                return None;
            }
            let header = packet.len() - ip_rest(packet);
            (ip.protocol(), packet.get(header..ip.total_len().into())?)
        }
        ethernet::TYPE_IPV6 => {
            let ip = ipv6::View::new(packet).ok()?;
            let rest = packet.get(ipv6::HEADER_LEN..)?;
            (ip.next_header(), rest.get(..ip.payload_len().into())?)
        }
        _ => return None,
    };
    let segment = match protocol {
        ipv4::PROTOCOL_UDP => {
            let length = usize::from(u16::from_be_bytes([*segment.get(4)?, *segment.get(5)?]));
            if segment.get(6..8)? == [0, 0] {
                return None;
            }
            segment.get(..length)?
        }
        ipv4::PROTOCOL_TCP if segment.len() >= tcp::HEADER_LEN => segment,
        _ => return None,
    };
    let sum = match ethertype {
        ethernet::TYPE_IPV4 => {
            let ip = ipv4::View::new(packet).ok()?;
            Checksum::pseudo_ipv4(ip.source(), ip.destination(), protocol, segment.len() as u16)
        }
        _ => {
            let ip = ipv6::View::new(packet).ok()?;
            Checksum::pseudo_ipv6(ip.source(), ip.destination(), protocol, segment.len() as u32)
        }
    };
    Some(sum.with(segment).finish() == 0)
}

/// Returns the number of bytes after the IPv4 header; the caller has checked that the header is there.
fn ip_rest(packet: &[u8]) -> usize {
    packet.len() - usize::from(packet[0] & 15) * 4
}

fn right_checksum(header: &[u8]) -> u16 {
    Checksum::new().with(&header[..10]).with(&header[12..]).finish()
}

fn datagram(protocol: u8, payload: &[u8], whole: bool) -> Result<(), String> {
    let header = match protocol {
        ipv4::PROTOCOL_UDP => udp::HEADER_LEN,
        ipv4::PROTOCOL_TCP => tcp::HEADER_LEN,
        _ => return Ok(()),
    };
    if !whole {
        return Ok(());
    }
    if payload.len() < header {
        let name = if protocol == ipv4::PROTOCOL_UDP { "UDP" } else { "TCP" };
        return Err(format!(
            "{name}: found {} bytes after the IP header, expected at least {header}",
            payload.len()
        ));
    }
    if protocol != ipv4::PROTOCOL_UDP {
        return Ok(());
    }
    let length = usize::from(u16::from_be_bytes([payload[4], payload[5]]));
    if length < udp::HEADER_LEN || length > payload.len() {
        let (low, high) = (udp::HEADER_LEN, payload.len());
        return Err(format!("UDP: found length {length}, expected {low} to {high}"));
    }
    Ok(())
}
