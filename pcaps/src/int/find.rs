//! Search for telemetry in a frame.

use super::bytes::Bytes;
use super::header::IntPacket;
use super::hpcc::{self, HpccHop, HpccLayout};
use super::report::{self, Report};
use super::{IntError, Marks};
use crate::wire::{ethernet, ipv4, ipv6};

/// Telemetry of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telemetry {
    /// INT in a packet.
    Int(IntPacket),
    /// Reports, each with the INT of the packet that it describes.
    Reports(Vec<(Report, Option<IntPacket>)>),
    /// HPCC's header: pathID and the hops in order of the path.
    Hpcc(u16, Vec<HpccHop>),
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const TCP_LEN: usize = 20;
const UDP_LEN: usize = 8;

/// The transport of an IP packet: DSCP, protocol, and its bytes.
struct Transport<'a> {
    dscp: u8,
    protocol: u8,
    bytes: Bytes<'a>,
}

/// Finds telemetry in an Ethernet frame; `Ok(None)` if there is none.
///
/// # Errors
/// Telemetry that is cut off, or that contradicts itself.
pub fn decode(frame: &[u8], marks: &Marks) -> Result<Option<Telemetry>, IntError> {
    let Some((ether_type, at)) = link(frame) else { return Ok(None) };
    let Some(transport) = network(frame, ether_type, at) else { return Ok(None) };
    if let Some(port) = udp_port(&transport) {
        let mut payload = transport.bytes;
        payload.take("UDP header", UDP_LEN)?;
        if marks.report_port == Some(port) {
            let Some(reports) = report::read(payload)? else { return Ok(None) };
            let inner = |report: &Report| inner_int(frame, report, marks);
            let with = reports.into_iter().map(|r| Ok((r.clone(), inner(&r)?)));
            return Ok(Some(Telemetry::Reports(with.collect::<Result<_, IntError>>()?)));
        }
        if marks.hpcc_port == Some(port) {
            let (path, hops) = match marks.hpcc_layout {
                HpccLayout::Paper => hpcc::read(payload)?,
                HpccLayout::Ns3 => hpcc::read_slots(payload)?,
            };
            return Ok(Some(Telemetry::Hpcc(path, hops)));
        }
    }
    Ok(behind_transport(transport, marks)?.map(Telemetry::Int))
}

/// Returns the EtherType and the offset of the network header, after VLAN tags.
fn link(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = 12;
    loop {
        let bytes = frame.get(at..at + 2)?;
        let ether_type = u16::from_be_bytes([bytes[0], bytes[1]]);
        if !matches!(ether_type, ethernet::TYPE_VLAN | 0x88a8) {
            return Some((ether_type, at + 2));
        }
        at += 4;
    }
}

/// Returns an unfragmented IP packet of TCP or UDP.
fn network(frame: &[u8], ether_type: u16, at: usize) -> Option<Transport<'_>> {
    let packet = frame.get(at..)?;
    match ether_type {
        ethernet::TYPE_IPV4 => {
            let ip = ipv4::View::new(packet).ok()?;
            let offset = at + ipv4::HEADER_LEN + ip.options().len();
            let whole = !ip.more_fragments() && ip.fragment_offset() == 0;
            let bytes = Bytes::new(ip.payload(), offset);
            whole.then_some(Transport { dscp: ip.dscp(), protocol: ip.protocol(), bytes })
        }
        ethernet::TYPE_IPV6 => {
            let ip = ipv6::View::new(packet).ok()?;
            let bytes = Bytes::new(ip.payload(), at + ipv6::HEADER_LEN);
            Some(Transport { dscp: ip.dscp(), protocol: ip.next_header(), bytes })
        }
        _ => None,
    }
}

fn udp_port(transport: &Transport<'_>) -> Option<u16> {
    let bytes = transport.bytes.rest().get(2..4).filter(|_| transport.protocol == UDP)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn behind_transport(transport: Transport<'_>, marks: &Marks) -> Result<Option<IntPacket>, IntError> {
    let by_port = marks.int_port.is_some() && udp_port(&transport) == marks.int_port;
    let by_dscp = marks.dscp == Some(transport.dscp);
    let header = match transport.protocol {
        UDP if by_port || by_dscp => UDP_LEN,
        TCP if by_dscp => TCP_LEN,
        _ => return Ok(None),
    };
    let mut at = transport.bytes;
    at.take("transport header", header)?;
    Ok(IntPacket::read(at)?.map(|(packet, _)| packet))
}

/// Returns the INT of a report's copy of a packet; `None` if the copy has none, or not all of it.
fn inner_int(frame: &[u8], report: &Report, marks: &Marks) -> Result<Option<IntPacket>, IntError> {
    let end = report.inner_at + report.inner_len;
    let Some(frame) = frame.get(..end) else { return Ok(None) };
    let transport = match report.inner_type {
        3 => {
            let Some((ether_type, at)) = frame.get(report.inner_at..).and_then(link) else { return Ok(None) };
            network(frame, ether_type, report.inner_at + at)
        }
        4 => network(frame, ethernet::TYPE_IPV4, report.inner_at),
        5 => network(frame, ethernet::TYPE_IPV6, report.inner_at),
        _ => None,
    };
    match transport {
        // A report contains only the beginning of a packet, so truncated INT is not an error.
        Some(transport) => Ok(behind_transport(transport, marks).unwrap_or(None)),
        None => Ok(None),
    }
}
