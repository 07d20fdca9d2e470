//! Captures written byte by byte from the specifications, not with the crate under test.

use sluice_pcaps::capture::{CaptureError, CaptureReader, CaptureTime};

/// A frame in a form that tests compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) data: Vec<u8>,
    pub(crate) orig_len: u32,
    pub(crate) time: CaptureTime,
    pub(crate) interface: u32,
    pub(crate) record: u64,
    pub(crate) offset: u64,
}

/// Reads frames up to the end or the first error.
pub(crate) fn drain(reader: &mut CaptureReader<'_>) -> (Vec<Seen>, Option<CaptureError>) {
    let mut seen = Vec::new();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => seen.push(Seen {
                data: frame.data.to_vec(),
                orig_len: frame.orig_len,
                time: frame.time,
                interface: frame.interface,
                record: frame.record,
                offset: frame.offset,
            }),
            Ok(None) => return (seen, None),
            Err(error) => return (seen, Some(error)),
        }
    }
}

/// Returns the frames of a capture that has no error.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Seen> {
    let (seen, error) = drain(&mut CaptureReader::from_bytes(bytes, "test").unwrap());
    assert!(error.is_none(), "{error:?}");
    seen
}

/// Writes integers in one byte order.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pub(crate) big: bool,
}

pub(crate) const BOTH: [Order; 2] = [Order { big: false }, Order { big: true }];

impl Order {
    pub(crate) fn u16(self, value: u16) -> [u8; 2] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u32(self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u64(self, value: u64) -> [u8; 8] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.u32(value)).collect()
    }

    pub(crate) fn pcap_header(self, magic: u32, snap: u32, link: u32) -> Vec<u8> {
        let mut bytes = self.u32(magic).to_vec();
        bytes.extend(self.u16(2));
        bytes.extend(self.u16(4));
        bytes.extend(self.words(&[0, 0, snap, link]));
        bytes
    }

    pub(crate) fn pcap_record(self, seconds: u32, fraction: u32, data: &[u8], orig: u32) -> Vec<u8> {
        let mut bytes = self.words(&[seconds, fraction, data.len() as u32, orig]);
        bytes.extend(data);
        bytes
    }

    pub(crate) fn block(self, block_type: u32, body: &[u8]) -> Vec<u8> {
        let len = self.u32(12 + body.len().next_multiple_of(4) as u32);
        let mut bytes = self.u32(block_type).to_vec();
        bytes.extend(len);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(len);
        bytes
    }

    pub(crate) fn section(self) -> Vec<u8> {
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend(self.u16(1));
        body.extend(self.u16(0));
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body)
    }

    pub(crate) fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = self.u16(code).to_vec();
        bytes.extend(self.u16(value.len() as u16));
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    pub(crate) fn interface(self, link: u16, snap: u32, options: &[Vec<u8>]) -> Vec<u8> {
        let mut body = self.u16(link).to_vec();
        body.extend([0; 2]);
        body.extend(self.u32(snap));
        body.extend(options.concat());
        self.block(1, &body)
    }

    pub(crate) fn enhanced(self, interface: u32, ticks: u64, data: &[u8], orig: u32) -> Vec<u8> {
        let fields = [interface, (ticks >> 32) as u32, ticks as u32, data.len() as u32, orig];
        let mut body = self.words(&fields);
        body.extend(data);
        self.block(6, &body)
    }

    pub(crate) fn simple(self, data: &[u8], orig: u32) -> Vec<u8> {
        let mut body = self.u32(orig).to_vec();
        body.extend(data);
        self.block(3, &body)
    }
}
