//! TCP frames that a NIC's offload made: several segments in one frame, which is on no wire.
//!
//! A capture on a host has such frames if the NIC cuts what the host sends (TSO, GSO) or joins what it receives (GRO, LRO).
//! The rule has few false alarms: the payload of the frame is larger than every segment that its capture allows. A SYN allows
//! the MSS that it announces, and every capture 1,460 bytes; a capture without a SYN before the frame allows 9,162, the segment of
//! a frame of 9,216 bytes. So frames of hosts with a large MTU are no such frames, and of those up to 9,216 bytes in a
//! capture that begins within its connections, none is found.

use crate::capture::Frame;

/// Largest payload of a segment, if no SYN says more: that of a packet of 1,500 bytes.
const USUAL: u32 = 1_460;
/// Largest payload of a segment, if no SYN says it: that of a frame of 9,216 bytes.
const JUMBO: u32 = 9_162;

const ETHERNET: usize = 14;
const VLANS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const TCP: u8 = 6;
const SYN: u8 = 0x02;
/// Kinds of TCP options.
const END: u8 = 0;
const NOTHING: u8 = 1;
const MSS: u8 = 2;

/// Frames of one capture that hold more than one TCP segment.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// Number of such frames.
    pub frames: u64,
    /// Bytes of the longest, without frame check sequence.
    pub longest: u32,
    /// Record of the first, from 1; 0 if there is none.
    pub first_record: u64,
    /// Payload of the longest.
    payload: u32,
    /// Largest MSS that a SYN announced; `None` before the first.
    mss: Option<u16>,
}

/// TCP payload of a frame, and the MSS that the segment announces.
struct Segment {
    payload: u32,
    mss: Option<u16>,
}

impl Offload {
    /// Takes the next frame of the capture.
    #[inline]
    pub(super) fn note(&mut self, frame: &Frame<'_>) {
        let Some(segment) = segment(frame) else { return };
        self.mss = self.mss.max(segment.mss);
        let most = self.mss.map_or(JUMBO, |mss| USUAL.max(mss.into()));
        if segment.payload <= most {
            return;
        }
        if self.frames == 0 {
            self.first_record = frame.record;
        }
        self.frames += 1;
        self.longest = self.longest.max(frame.orig_len);
        self.payload = self.payload.max(segment.payload);
    }

    /// Returns the findings; `None` if there is no such frame, or if a later SYN announces segments of their length.
    #[must_use]
    pub fn found(&self) -> Option<Offload> {
        let allowed = u32::from(self.mss.unwrap_or(0));
        (self.frames > 0 && self.payload > allowed).then_some(*self)
    }
}

/// Returns the TCP segment of an Ethernet frame over IPv4 or IPv6 with up to two VLAN tags; `None` if it has no other lengths
/// than its IP header says, or is a fragment.
#[inline]
fn segment(frame: &Frame<'_>) -> Option<Segment> {
    let data = frame.data;
    let mut at = ETHERNET;
    for _ in 0..2 {
        at += if VLANS.contains(&pair(data, at - 2)?) { 4 } else { 0 };
    }
    let in_frame = frame.orig_len.checked_sub(at as u32)?;
    let (header, len) = match pair(data, at - 2)? {
        IPV4 if data.get(at + 9) == Some(&TCP) => {
            let fragment = u16::from_be_bytes(pair(data, at + 6)?) & 0x3fff;
            if fragment != 0 {
                return None;
            }
            (usize::from(data[at] & 0xf) * 4, u32::from(u16::from_be_bytes(pair(data, at + 2)?)))
        }
        IPV6 if data.get(at + 6) == Some(&TCP) => {
            const HEADER: u32 = 40;
            let len = u16::from_be_bytes(pair(data, at + 4)?);
            (HEADER as usize, if len == 0 { 0 } else { HEADER + u32::from(len) })
        }
        _ => return None,
    };
    // Frames above 64 KiB have 0 as length. Short frames are padded.
    let len = if len == 0 { in_frame } else { len };
    if len > in_frame {
        return None;
    }
    let tcp = data.get(at + header..)?;
    let offset = usize::from(tcp.get(12)? >> 4) * 4;
    let payload = len.checked_sub((header + offset) as u32)?;
    let is_syn = tcp.get(13)? & SYN != 0;
    let mss = if is_syn { announced(tcp.get(20..offset.min(tcp.len()))?) } else { None };
    Some(Segment { payload, mss })
}

/// Returns the MSS among the options of a SYN.
#[cold]
fn announced(mut options: &[u8]) -> Option<u16> {
    loop {
        options = match *options {
            [END, ..] | [] => return None,
            [NOTHING, ref rest @ ..] => rest,
            [MSS, 4, high, low, ..] => return Some(u16::from_be_bytes([high, low])),
            [_, len, ..] if len >= 2 => options.get(usize::from(len)..)?,
            _ => return None,
        };
    }
}

fn pair(data: &[u8], at: usize) -> Option<[u8; 2]> {
    data.get(at..at + 2)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::CaptureTime;

    /// A TCP frame of `len` bytes, cut to its headers, with these flags and this MSS option.
    fn tcp(tags: usize, len: u32, flags: u8, mss: Option<u16>) -> (Vec<u8>, u32) {
        let mut bytes = vec![0; 12];
        (0..tags).for_each(|_| bytes.extend([0x81, 0, 0, 7]));
        bytes.extend(IPV4);
        let total = (len as usize - bytes.len()) as u16;
        bytes.extend([
            0x45,
            0,
            (total >> 8) as u8,
            total as u8,
            0,
            0,
            0x40,
            0,
            64,
            TCP,
            0,
            0,
            10,
            0,
            0,
            1,
            10,
            0,
            0,
            2,
        ]);
        let words = if mss.is_some() { 7 } else { 5 };
        bytes.extend([0, 80, 0, 90, 0, 0, 0, 1, 0, 0, 0, 1, words << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
        if let Some(mss) = mss {
            bytes.extend([NOTHING, 3, 3, 7, MSS, 4, (mss >> 8) as u8, mss as u8]);
        }
        (bytes, len)
    }

    fn of(frames: &[(Vec<u8>, u32)]) -> Option<(u64, u32, u64)> {
        let mut offload = Offload::default();
        for (record, (data, orig_len)) in (1..).zip(frames) {
            let time = CaptureTime::from_ps(0);
            offload.note(&Frame { data, orig_len: *orig_len, time, interface: 0, record, offset: 0 });
        }
        offload.found().map(|found| (found.frames, found.longest, found.first_record))
    }

    #[test]
    fn segments_above_the_announced_size_are_several() {
        let syn = |mss| tcp(0, 62, SYN, Some(mss));
        let (full, two, many) = (tcp(0, 1_514, 0, None), tcp(0, 2_974, 0, None), tcp(0, 64_294, 0, None));
        assert_eq!(of(&[syn(1_460), full.clone(), two.clone(), many.clone()]), Some((2, 64_294, 3)));
        // A tag is no payload.
        assert_eq!(of(&[syn(1_460), tcp(1, 1_518, 0, None), tcp(2, 1_522, 0, None)]), None);
        // MTU 9000: only what is above it.
        let jumbo = tcp(0, 9_014, 0, None);
        assert_eq!(of(&[syn(8_960), syn(1_460), jumbo.clone(), two.clone()]), None);
        assert_eq!(of(&[syn(8_960), jumbo.clone(), many.clone()]), Some((1, 64_294, 3)));
        // The host with the large MTU speaks later.
        assert_eq!(of(&[syn(1_460), jumbo.clone(), syn(8_960)]), None);
        // No SYN: frames up to 9,216 bytes are of a large MTU.
        assert_eq!(of(&[full, two, jumbo, tcp(0, 9_216, 0, None)]), None);
        assert_eq!(of(&[tcp(0, 9_217, 0, None)]), Some((1, 9_217, 1)));
    }

    #[test]
    fn other_frames_are_not_counted() {
        let mut udp = tcp(0, 20_000, 0, None);
        udp.0[23] = 17;
        let mut fragment = tcp(0, 20_000, 0, None);
        fragment.0[20] = 0x20;
        let mut lying = tcp(0, 20_000, 0, None);
        lying.1 = 10_000;
        let short = (vec![0; 13], 20_000);
        assert_eq!(of(&[udp, fragment, lying, short]), None);
        // A length of 0 stands for the frame's.
        let mut large = tcp(0, 60_000, 0, None);
        large.0[16..18].fill(0);
        large.1 = 100_000;
        assert_eq!(of(&[large]), Some((1, 100_000, 1)));
    }
}
