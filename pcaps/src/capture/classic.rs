//! Records of a classic pcap file, in microseconds or nanoseconds, in either byte order.
//!
//! The crate pcap-file decodes the file header and names the link types. Records are decoded here, because pcap-file
//! refuses captured lengths above the original length or the snap length, and does not return offsets (version 2.0.0).

use pcap_file::pcap::PcapHeader;
use pcap_file::{Endianness, TsResolution};

use super::MAX_FRAME_LEN;
use super::bytes::Order;
use super::error::CaptureFault;
use super::interface::Interface;
use super::reader::{Record, Step};
use super::window::Window;

/// Bytes of the file header.
pub(super) const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;

/// The low bits of the link-type word; libpcap keeps the FCS length above them.
const LINK_TYPE_MASK: u32 = 0x03ff_ffff;
const FCS_LEN_PRESENT: u32 = 0x0400_0000;

pub(super) struct Classic {
    order: Order,
    nanoseconds: bool,
    snap_len: u32,
}

impl Classic {
    /// Decodes the file header, whose magic number has been recognised, and moves past it.
    pub(super) fn open(window: &mut Window<'_>) -> Result<(Self, Interface), CaptureFault> {
        let Ok((_, header)) = PcapHeader::from_slice(window.bytes()) else {
            return Err(CaptureFault::HeaderCut {
                found: window.bytes().len() as u64,
                expected: FILE_HEADER_LEN as u64,
            });
        };
        let (major, minor) = (header.version_major, header.version_minor);
        if (major, minor) != (2, 4) {
            return Err(CaptureFault::Version { format: "pcap", major, minor, expected: "2.4" });
        }
        let nanoseconds = header.ts_resolution == TsResolution::NanoSecond;
        let word = u32::from(header.datalink);
        // The FCS length is counted in units of 16 bits.
        let fcs_len = if word & FCS_LEN_PRESENT != 0 { (word >> 28) * 2 } else { 0 };
        let tsresol = if nanoseconds { 9 } else { 6 };
        let interface = Interface::classic(word & LINK_TYPE_MASK, header.snaplen, fcs_len, tsresol);
        interface.check_ethernet()?;
        window.consume(FILE_HEADER_LEN);
        let order = match header.endianness {
            Endianness::Little => Order::Little,
            Endianness::Big => Order::Big,
        };
        Ok((Self { order, nanoseconds, snap_len: header.snaplen }, interface))
    }

    /// Returns the record at the window's position, which stays where it is.
    #[inline]
    pub(super) fn next(&self, window: &mut Window<'_>) -> Result<Step, CaptureFault> {
        if !window.require(RECORD_HEADER_LEN)? {
            return Ok(if window.bytes().is_empty() {
                Step::End
            } else {
                Step::Cut { needed: RECORD_HEADER_LEN }
            });
        }
        let header = &window.bytes()[..RECORD_HEADER_LEN];
        let seconds = self.order.u32(header, 0);
        let fraction = self.order.u32(header, 4);
        let captured = self.order.u32(header, 8);
        let original = self.order.u32(header, 12);
        let ticks_per_second = if self.nanoseconds { 1_000_000_000 } else { 1_000_000 };
        if fraction >= ticks_per_second {
            return Err(CaptureFault::Fraction { found: fraction, limit: ticks_per_second });
        }
        if captured > MAX_FRAME_LEN {
            return Err(CaptureFault::FrameLength { found: captured, limit: MAX_FRAME_LEN });
        }
        let len = RECORD_HEADER_LEN + captured as usize;
        if !window.require(len)? {
            return self.beyond_end(captured, original, (window.bytes().len() - RECORD_HEADER_LEN) as u64);
        }
        let ticks = u64::from(seconds) * u64::from(ticks_per_second) + u64::from(fraction);
        Ok(Step::Record(Record {
            data_at: RECORD_HEADER_LEN,
            captured,
            original,
            interface: 0,
            ticks: Some(ticks),
            len,
        }))
    }

    /// Handles a record that the file does not hold completely: a truncated tail if its lengths are plausible, otherwise damage.
    #[cold]
    fn beyond_end(&self, captured: u32, original: u32, available: u64) -> Result<Step, CaptureFault> {
        let snap = if self.snap_len == 0 { u32::MAX } else { self.snap_len };
        let limit = original.min(snap);
        if captured > limit {
            return Err(CaptureFault::LengthBeyondEnd { found: captured, available, limit });
        }
        Ok(Step::Cut { needed: RECORD_HEADER_LEN + captured as usize })
    }
}
