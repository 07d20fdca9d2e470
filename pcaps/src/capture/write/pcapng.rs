//! [`CaptureWriter`]: pcapng with interfaces, comments, directions and interface statistics.
//!
//! The crate pcap-file encodes the rare blocks (section, interfaces, statistics). Packets are many, so they are encoded
//! here without allocation.

use std::borrow::Cow;
use std::io::Write;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness};

use super::WriteError;
use super::options::{BlockEnd, check_text, packet_options, pad};
use super::sink::Sink;
use crate::capture::CaptureTime;

const ENHANCED_PACKET: u32 = 6;
/// Framing and fixed fields of an enhanced packet block, without the trailing length.
const PACKET_HEAD_LEN: usize = 28;
/// `if_tsresol` of every interface: nanoseconds. pcap-file writes nanosecond ticks, but does not write this option
/// (version 2.0.0).
const TSRESOL_NS: u8 = 9;

/// An interface of the file, declared before the first packet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceSpec<'a> {
    /// `if_name`; left out if empty.
    pub name: &'a str,
    /// `if_description`; left out if empty.
    pub description: &'a str,
    /// `if_speed`, in bit/s; left out if 0.
    pub speed: u64,
}

/// Direction of a packet, for `epb_flags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received by the interface.
    Inbound,
    /// Sent by the interface.
    Outbound,
}

/// A packet to write.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Index into the interfaces given to the writer.
    pub interface: u32,
    /// Timestamp; rounded down to a nanosecond.
    pub time: CaptureTime,
    /// The first bytes of the frame.
    pub head: &'a [u8],
    /// The bytes that follow `head`; may be empty.
    pub tail: &'a [u8],
    /// Bytes that the frame had on the wire; raised to the bytes written if less.
    pub orig_len: u32,
    /// Written to `epb_flags` if known.
    pub direction: Option<Direction>,
    /// Comments, one `opt_comment` each.
    pub comments: &'a [&'a str],
}

/// The statistics of one interface, written at the end of the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceStatistics<'a> {
    /// Index into the interfaces given to the writer.
    pub interface: u32,
    /// Time of the statistics; rounded down to a nanosecond.
    pub time: CaptureTime,
    /// `isb_ifrecv`: frames that the interface received.
    pub received: Option<u64>,
    /// `isb_ifdrop`: frames that the interface dropped.
    pub dropped: Option<u64>,
    /// `isb_usrdeliv`: frames that were handed on.
    pub delivered: Option<u64>,
    /// Comments, one `opt_comment` each.
    pub comments: &'a [&'a str],
}

/// Writer of one section of pcapng. The caller must call [`finish`](Self::finish), otherwise the last packets are lost.
pub struct CaptureWriter<W: Write> {
    sink: Sink<W>,
    /// Lays out the rare blocks; remembers the interfaces.
    blocks: PcapNgWriter<Vec<u8>>,
    interfaces: u32,
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a file with these interfaces on `out`, which needs no buffer.
    pub fn new(out: W, interfaces: &[InterfaceSpec<'_>]) -> Result<Self, WriteError> {
        let section = SectionHeaderBlock { endianness: Endianness::Little, ..SectionHeaderBlock::default() };
        let mut blocks = PcapNgWriter::with_section_header(Vec::new(), section)?;
        for interface in interfaces {
            blocks.write_pcapng_block(description(interface)?)?;
        }
        let mut sink = Sink::new(out);
        sink.buffer().append(blocks.get_mut());
        Ok(Self { sink, blocks, interfaces: interfaces.len() as u32 })
    }

    /// Declares a further interface before its first packet and returns its number.
    ///
    /// # Errors
    /// Fails if a name or description is longer than 65,535 bytes.
    pub fn add_interface(&mut self, interface: &InterfaceSpec<'_>) -> Result<u32, WriteError> {
        self.blocks.write_pcapng_block(description(interface)?)?;
        self.sink.buffer().append(self.blocks.get_mut());
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes one packet.
    ///
    /// # Errors
    /// Fails if the interface is not declared, the timestamp is after the year 2554, the frame is longer than
    /// [`MAX_FRAME_LEN`](crate::capture::MAX_FRAME_LEN), a comment is longer than 65,535 bytes, or the output fails. A
    /// refused packet changes nothing in the file.
    #[inline]
    pub fn write(&mut self, packet: &Packet<'_>) -> Result<(), WriteError> {
        let (number, captured) = self.sink.start_packet(packet.head, packet.tail)?;
        self.check_interface(number, packet.interface)?;
        let ticks = ticks(number, packet.time)?;
        for comment in packet.comments {
            check_text(comment)?;
        }
        let flags = packet.direction.map(Direction::flags);
        let end = BlockEnd::new(captured, flags);
        let options = if packet.comments.is_empty() { end.len() } else { 0 };
        let len = (PACKET_HEAD_LEN + captured as usize + options) as u32;
        let mut head = [0; PACKET_HEAD_LEN];
        head[4..8].copy_from_slice(&len.to_le_bytes());
        head[..4].copy_from_slice(&ENHANCED_PACKET.to_le_bytes());
        head[8..12].copy_from_slice(&packet.interface.to_le_bytes());
        head[12..16].copy_from_slice(&((ticks >> 32) as u32).to_le_bytes());
        head[16..20].copy_from_slice(&(ticks as u32).to_le_bytes());
        head[20..24].copy_from_slice(&captured.to_le_bytes());
        head[24..].copy_from_slice(&packet.orig_len.max(captured).to_le_bytes());
        let buffer = self.sink.buffer();
        let start = buffer.len();
        buffer.extend_from_slice(&head);
        buffer.extend_from_slice(packet.head);
        buffer.extend_from_slice(packet.tail);
        if packet.comments.is_empty() {
            end.write(buffer, len);
            self.sink.end_packet();
            return Ok(());
        }
        pad(buffer, captured as usize);
        packet_options(buffer, flags, packet.comments);
        let len = ((buffer.len() - start + 4) as u32).to_le_bytes();
        buffer.extend_from_slice(&len);
        buffer[start + 4..start + 8].copy_from_slice(&len);
        self.sink.end_packet();
        Ok(())
    }

    /// Returns the number of packets written so far.
    pub fn packets(&self) -> u64 {
        self.sink.packets()
    }

    /// Writes the statistics and the buffered bytes, flushes the output and returns it.
    pub fn finish(mut self, statistics: &[InterfaceStatistics<'_>]) -> Result<W, WriteError> {
        for of in statistics {
            self.check_interface(self.sink.packets(), of.interface)?;
            self.blocks.write_pcapng_block(statistics_block(of, self.sink.packets())?)?;
        }
        self.sink.buffer().append(self.blocks.get_mut());
        self.sink.finish()
    }

    #[inline]
    fn check_interface(&self, packet: u64, found: u32) -> Result<(), WriteError> {
        if found < self.interfaces {
            return Ok(());
        }
        Err(WriteError::Interface { packet, found, declared: self.interfaces })
    }
}

impl Direction {
    /// Returns the low two bits of `epb_flags`.
    fn flags(self) -> u32 {
        match self {
            Self::Inbound => 1,
            Self::Outbound => 2,
        }
    }
}

/// Returns a timestamp in nanoseconds, rounded down.
#[inline]
fn ticks(packet: u64, time: CaptureTime) -> Result<u64, WriteError> {
    const LIMIT: u64 = u64::MAX / 1_000_000_000;
    let (seconds, ns) = time.as_secs_and_ns();
    let ticks = seconds.checked_mul(1_000_000_000).and_then(|s| s.checked_add(u64::from(ns)));
    ticks.ok_or(WriteError::Time { packet, found: seconds, limit: LIMIT })
}

fn description(spec: &InterfaceSpec<'_>) -> Result<InterfaceDescriptionBlock<'static>, WriteError> {
    let mut options = Vec::new();
    for (text, option) in [
        (spec.name, InterfaceDescriptionOption::IfName as fn(_) -> _),
        (spec.description, InterfaceDescriptionOption::IfDescription),
    ] {
        check_text(text)?;
        if !text.is_empty() {
            options.push(option(Cow::Owned(text.to_owned())));
        }
    }
    if spec.speed != 0 {
        options.push(InterfaceDescriptionOption::IfSpeed(spec.speed));
    }
    options.push(InterfaceDescriptionOption::IfTsResol(TSRESOL_NS));
    Ok(InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options })
}

fn statistics_block<'a>(
    of: &InterfaceStatistics<'a>,
    packets: u64,
) -> Result<InterfaceStatisticsBlock<'a>, WriteError> {
    let mut options = Vec::new();
    for comment in of.comments {
        check_text(comment)?;
        options.push(InterfaceStatisticsOption::Comment(Cow::Borrowed(comment)));
    }
    options.extend(of.received.map(InterfaceStatisticsOption::IsbIfRecv));
    options.extend(of.dropped.map(InterfaceStatisticsOption::IsbIfDrop));
    options.extend(of.delivered.map(InterfaceStatisticsOption::IsbUsrDeliv));
    // The crate pcap-file writes the timestamp as one little-endian integer, but the format has its upper half first.
    let timestamp = ticks(packets, of.time)?.rotate_left(32);
    Ok(InterfaceStatisticsBlock { interface_id: of.interface, timestamp, options })
}
