//! Blocks of a pcapng file: several sections, either byte order, several interfaces.
//!
//! Sections, interfaces and the three packet blocks are decoded here; all other blocks are skipped. A Simple Packet
//! Block belongs to interface 0 of its section, has no timestamp, and holds the lesser of its original length and that
//! interface's snap length, in bytes.

use super::bytes::Order;
use super::error::CaptureFault;
use super::interface::Interface;
use super::reader::{Record, Step};
use super::window::Window;
use super::{MAX_BLOCK_LEN, MAX_FRAME_LEN, MAX_INTERFACES};

/// Block type of the section header, a palindrome that reads the same in both byte orders.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
/// The obsolete packet block.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Type and length in front of a block's body.
const HEAD_LEN: usize = 8;
/// Type, length, and the length again at the end.
const FRAMING_LEN: u32 = 12;
/// Interface, timestamp and lengths in front of the data of a packet block.
const PACKET_FIELDS_LEN: usize = 20;

pub(super) struct Pcapng {
    order: Order,
    /// File-wide number of this section's interface 0.
    first_interface: usize,
}

impl Pcapng {
    /// Decodes the first section header, whose type has been recognised, and moves past it.
    pub(super) fn open(window: &mut Window<'_>) -> Result<Self, CaptureFault> {
        let mut reader = Self { order: Order::Little, first_interface: 0 };
        let len = match reader.block_len(window, SECTION_HEADER)? {
            Some(len) if window.require(len)? => len,
            short => {
                let expected = short.unwrap_or(FRAMING_LEN as usize + 16) as u64;
                return Err(CaptureFault::HeaderCut { found: window.bytes().len() as u64, expected });
            }
        };
        reader.check_section(&window.bytes()[..len])?;
        window.consume(len);
        Ok(reader)
    }

    /// Advances the window to the next packet block and decodes it.
    #[inline]
    pub(super) fn next(
        &mut self,
        window: &mut Window<'_>,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Step, CaptureFault> {
        loop {
            if !window.require(HEAD_LEN)? {
                return Ok(if window.bytes().is_empty() {
                    Step::End
                } else {
                    Step::Cut { needed: HEAD_LEN }
                });
            }
            let block_type = self.order.u32(window.bytes(), 0);
            let Some(len) = self.block_len(window, block_type)? else {
                return Ok(Step::Cut { needed: FRAMING_LEN as usize });
            };
            if !window.require(len)? {
                self.check_cut(window.bytes(), block_type, len)?;
                return Ok(Step::Cut { needed: len });
            }
            let block = &window.bytes()[..len];
            self.check_trailer(block)?;
            match block_type {
                ENHANCED_PACKET => return self.packet(block, self.order.u32(block, HEAD_LEN), interfaces),
                PACKET => return self.packet(block, u32::from(self.order.u16(block, HEAD_LEN)), interfaces),
                SIMPLE_PACKET => return self.simple_packet(block, interfaces),
                SECTION_HEADER => {
                    self.check_section(block)?;
                    self.first_interface = interfaces.len();
                }
                INTERFACE_DESCRIPTION => {
                    if interfaces.len() >= MAX_INTERFACES as usize {
                        return Err(CaptureFault::TooManyInterfaces { limit: MAX_INTERFACES });
                    }
                    interfaces.push(Interface::described(self.order, body(block))?);
                }
                _ => {}
            }
            window.consume(len);
        }
    }

    /// Returns the whole length of the block at the window's position; `None` if the file ends before the length is
    /// known. A section header has its byte order before its length, and the reader takes over that order.
    #[inline]
    fn block_len(&mut self, window: &mut Window<'_>, block_type: u32) -> Result<Option<usize>, CaptureFault> {
        if block_type == SECTION_HEADER {
            if !window.require(FRAMING_LEN as usize)? {
                return Ok(None);
            }
            let bytes = window.bytes();
            self.order = match [bytes[8], bytes[9], bytes[10], bytes[11]] {
                [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
                [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
                found => return Err(CaptureFault::ByteOrderMagic { found }),
            };
        }
        let found = self.order.u32(window.bytes(), 4);
        let least = FRAMING_LEN
            + match block_type {
                SECTION_HEADER => 16,
                INTERFACE_DESCRIPTION => 8,
                PACKET | ENHANCED_PACKET => PACKET_FIELDS_LEN as u32,
                SIMPLE_PACKET => 4,
                _ => 0,
            };
        if !found.is_multiple_of(4) || found < least || found > MAX_BLOCK_LEN {
            return Err(CaptureFault::BlockLength { block_type, found, least, most: MAX_BLOCK_LEN });
        }
        Ok(Some(found as usize))
    }

    #[inline]
    fn check_trailer(&self, block: &[u8]) -> Result<(), CaptureFault> {
        let (found, expected) = (self.order.u32(block, block.len() - 4), block.len() as u32);
        if found == expected { Ok(()) } else { Err(CaptureFault::BlockTrailer { found, expected }) }
    }

    fn check_section(&self, block: &[u8]) -> Result<(), CaptureFault> {
        self.check_trailer(block)?;
        let (major, minor) = (self.order.u16(block, 12), self.order.u16(block, 14));
        // 1.2 has the format of 1.0; some writers put it there.
        if major != 1 || !matches!(minor, 0 | 2) {
            return Err(CaptureFault::Version { format: "pcapng", major, minor, expected: "1.0" });
        }
        Ok(())
    }

    /// Refuses a packet block past the file's end whose own lengths disagree: damage, not a cut tail.
    #[cold]
    fn check_cut(&self, bytes: &[u8], block_type: u32, len: usize) -> Result<(), CaptureFault> {
        let is_packet = matches!(block_type, ENHANCED_PACKET | PACKET);
        if !is_packet || bytes.len() < HEAD_LEN + PACKET_FIELDS_LEN {
            return Ok(());
        }
        self.check_captured(self.order.u32(bytes, 20), len)
    }

    /// Checks that `captured` bytes fit into a packet block of `len` bytes.
    #[inline]
    fn check_captured(&self, captured: u32, len: usize) -> Result<(), CaptureFault> {
        if captured > MAX_FRAME_LEN {
            return Err(CaptureFault::FrameLength { found: captured, limit: MAX_FRAME_LEN });
        }
        let available = len as u32 - FRAMING_LEN - PACKET_FIELDS_LEN as u32;
        if captured > available {
            return Err(CaptureFault::CapturedBeyondBlock { found: captured, available });
        }
        Ok(())
    }

    #[inline]
    fn packet(&self, block: &[u8], interface: u32, interfaces: &[Interface]) -> Result<Step, CaptureFault> {
        let captured = self.order.u32(block, 20);
        self.check_captured(captured, block.len())?;
        Ok(Step::Record(Record {
            data_at: HEAD_LEN + PACKET_FIELDS_LEN,
            captured,
            original: self.order.u32(block, 24),
            interface: self.interface(interface, interfaces)?,
            ticks: Some(self.order.stamp(block, 12)),
            len: block.len(),
        }))
    }

    fn simple_packet(&self, block: &[u8], interfaces: &[Interface]) -> Result<Step, CaptureFault> {
        let interface = self.interface(0, interfaces)?;
        let original = self.order.u32(block, HEAD_LEN);
        let captured = match interfaces[interface].snap_len {
            0 => original,
            snap => original.min(snap),
        };
        let available = block.len() as u32 - FRAMING_LEN - 4;
        if captured > available {
            return Err(CaptureFault::CapturedBeyondBlock { found: captured, available });
        }
        if captured > MAX_FRAME_LEN {
            return Err(CaptureFault::FrameLength { found: captured, limit: MAX_FRAME_LEN });
        }
        Ok(Step::Record(Record {
            data_at: HEAD_LEN + 4,
            captured,
            original,
            interface,
            ticks: None,
            len: block.len(),
        }))
    }

    /// Returns the file-wide number of this section's interface `number`.
    #[inline]
    fn interface(&self, number: u32, interfaces: &[Interface]) -> Result<usize, CaptureFault> {
        let declared = interfaces.len() - self.first_interface;
        if number as usize >= declared {
            return Err(CaptureFault::UnknownInterface { found: number, declared: declared as u32 });
        }
        Ok(self.first_interface + number as usize)
    }
}

fn body(block: &[u8]) -> &[u8] {
    &block[HEAD_LEN..block.len() - 4]
}
