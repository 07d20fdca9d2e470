//! Packets as handles into an arena.
//!
//! A packet has its own *head*, in a fixed-size slot with headroom for headers that programs add, and a *tail* of bytes
//! that no parser can reach. Slots and tails are recycled, so nothing is allocated per packet once the arena has grown to
//! the number of packets in flight.

/// Handle of a packet in a [`PacketStore`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Packet(u32);

impl Packet {
    /// Returns the number of the handle, as an index of side tables. Numbers are reused.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Layout of a packet's head slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadLayout {
    /// Bytes kept free in front of the frame for headers that a pass adds.
    pub headroom: u16,
    /// Bytes of the frame for which the slot has room after the headroom; at least the parse depth.
    pub capacity: u16,
}

impl Default for HeadLayout {
    /// Returns a layout with room for 128 added bytes (an INT hop with its headers, after a bridged header, has 86) and
    /// 448 parsed bytes.
    fn default() -> Self {
        HeadLayout { headroom: 128, capacity: 448 }
    }
}

/// Position of a packet's head among all heads ([`PacketStore::heads_mut`]), and the packet's lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeadSpan {
    /// Offset of the packet's first byte.
    pub start: usize,
    /// Bytes of the head.
    pub head: u32,
    /// Bytes of the whole packet, as [`PacketStore::len`].
    pub bytes: u32,
}

/// Bytes that can be read from the first byte of any packet on without a length check. Bytes after a short head do not
/// belong to the packet and have no meaning.
pub const WINDOW: usize = 512;

const NO_TAIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Offset of the first byte in the slot.
    start: u16,
    /// End of the head's bytes in the slot.
    end: u16,
    /// Index into `tails`.
    tail: u32,
    /// Range of the tail that belongs to the packet.
    tail_from: u32,
    tail_to: u32,
    /// Bytes at the end of the frame that the capture did not record.
    missing: u32,
    /// Number of these missing bytes that are zeros in the head, so that parsers can reach them.
    zeros: u16,
    live: bool,
}

/// Arena of packets.
#[derive(Debug)]
pub struct PacketStore {
    layout: HeadLayout,
    stride: usize,
    heads: Vec<u8>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    tails: Vec<Tail>,
    free_tails: Vec<u32>,
}

/// Bytes that no parser reaches, shared by the copies of a packet.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    /// Number of packets that share the tail.
    users: u32,
}

impl Slot {
    /// Returns the bytes of the packet without its tail.
    fn bytes(&self) -> u32 {
        u32::from(self.end - self.start) + self.missing - u32::from(self.zeros)
    }
}

impl PacketStore {
    /// Returns an empty arena.
    #[must_use]
    pub fn new(layout: HeadLayout) -> Self {
        let stride = usize::from(layout.headroom) + usize::from(layout.capacity);
        PacketStore {
            layout,
            stride,
            heads: vec![0; WINDOW],
            slots: Vec::new(),
            free: Vec::new(),
            tails: Vec::new(),
            free_tails: Vec::new(),
        }
    }

    /// Copies a frame into the arena. `missing` bytes followed it on the wire but were not captured; programs see them as
    /// zeros.
    pub fn insert(&mut self, frame: &[u8], missing: u32) -> Packet {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let capacity = usize::from(self.layout.capacity);
        let (head, tail) = frame.split_at(frame.len().min(capacity));
        let zeros = (capacity - head.len()).min(missing as usize);
        let start = id as usize * self.stride + usize::from(self.layout.headroom);
        let end = start + head.len();
        self.heads[start..end].copy_from_slice(head);
        if zeros > 0 {
            self.heads[end..end + zeros].fill(0);
        }
        let tail_to = tail.len() as u32;
        let tail = if tail.is_empty() { NO_TAIL } else { self.store_tail(tail) };
        self.slots[id as usize] = Slot {
            tail_from: 0,
            tail_to,
            start: self.layout.headroom,
            end: self.layout.headroom + (head.len() + zeros) as u16,
            tail,
            missing,
            zeros: zeros as u16,
            live: true,
        };
        Packet(id)
    }

    fn grow(&mut self) -> u32 {
        let id = self.slots.len() as u32;
        self.slots.push(Slot {
            start: 0,
            end: 0,
            tail: NO_TAIL,
            tail_from: 0,
            tail_to: 0,
            missing: 0,
            zeros: 0,
            live: false,
        });
        self.heads.resize(self.heads.len() + self.stride, 0);
        id
    }

    fn store_tail(&mut self, bytes: &[u8]) -> u32 {
        let id = self.free_tails.pop().unwrap_or_else(|| {
            self.tails.push(Tail::default());
            self.tails.len() as u32 - 1
        });
        let tail = &mut self.tails[id as usize];
        tail.bytes.clear();
        tail.bytes.extend_from_slice(bytes);
        tail.users = 1;
        id
    }

    /// Returns the packet's memory to the arena.
    pub fn remove(&mut self, packet: Packet) {
        let slot = &mut self.slots[packet.0 as usize];
        debug_assert!(slot.live, "{packet:?} removed twice");
        slot.live = false;
        let tail = slot.tail;
        self.free.push(packet.0);
        self.release_tail(tail);
    }

    fn release_tail(&mut self, tail: u32) {
        let Some(shared) = self.tails.get_mut(tail as usize) else { return };
        shared.users -= 1;
        if shared.users == 0 {
            self.free_tails.push(tail);
        }
    }

    /// Returns the number of packets in the arena.
    #[must_use]
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the bytes of the packet on the wire, without FCS; bytes that were not captured count.
    #[must_use]
    #[inline]
    pub fn len(&self, packet: Packet) -> u32 {
        self.slots[packet.0 as usize].bytes() + self.tail(packet).len() as u32
    }

    /// Returns true if no packet is in the arena.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live() == 0
    }

    /// Returns the number of bytes at the end of the frame that were not captured.
    #[must_use]
    pub fn missing(&self, packet: Packet) -> u32 {
        self.slots[packet.0 as usize].missing
    }

    /// Returns the part of the frame that parsers can reach; bytes that were not captured are zeros.
    #[must_use]
    pub fn head(&self, packet: Packet) -> &[u8] {
        let slot = &self.slots[packet.0 as usize];
        let base = packet.0 as usize * self.stride;
        &self.heads[base + usize::from(slot.start)..base + usize::from(slot.end)]
    }

    /// Returns the known bytes of the frame, as head and tail: those that a capture of the packet records.
    #[must_use]
    #[inline]
    pub fn captured(&self, packet: Packet) -> (&[u8], &[u8]) {
        let slot = &self.slots[packet.0 as usize];
        let head = self.head(packet);
        (&head[..head.len().saturating_sub(usize::from(slot.zeros))], self.tail(packet))
    }

    /// Returns the captured bytes after the head.
    #[must_use]
    pub fn tail(&self, packet: Packet) -> &[u8] {
        let slot = &self.slots[packet.0 as usize];
        match slot.tail {
            NO_TAIL => &[],
            tail => &self.tails[tail as usize].bytes[slot.tail_from as usize..slot.tail_to as usize],
        }
    }

    /// Returns the whole head slot with the offset of the packet's first byte and its end, for a deparser to rewrite.
    pub fn slot_mut(&mut self, packet: Packet) -> (&mut [u8], usize, usize) {
        let slot = self.slots[packet.0 as usize];
        let base = packet.0 as usize * self.stride;
        (&mut self.heads[base..base + self.stride], usize::from(slot.start), usize::from(slot.end))
    }

    /// Sets the offset of the packet's first byte, after a deparser wrote in front of it or removed headers. `start` is an
    /// offset as returned by [`PacketStore::slot_mut`], at most its end.
    pub fn set_start(&mut self, packet: Packet, start: usize) {
        let slot = &mut self.slots[packet.0 as usize];
        debug_assert!(start <= usize::from(slot.end));
        slot.start = start as u16;
    }

    /// Returns all head slots, addressed by the absolute offsets of [`PacketStore::span`], for executors that work on many
    /// packets at once.
    pub fn heads_mut(&mut self) -> &mut [u8] {
        &mut self.heads
    }

    /// Returns the position of a packet's head among all head slots.
    #[must_use]
    #[inline]
    pub fn span(&self, packet: Packet) -> HeadSpan {
        let slot = &self.slots[packet.0 as usize];
        HeadSpan {
            start: packet.0 as usize * self.stride + usize::from(slot.start),
            head: u32::from(slot.end - slot.start),
            bytes: slot.bytes() + slot.tail_to - slot.tail_from,
        }
    }

    /// Returns the bytes from a [`HeadSpan::start`] on, those after the head included.
    #[must_use]
    #[inline]
    pub fn window(&self, start: usize) -> &[u8; WINDOW] {
        // The arena ends with a window's worth of padding.
        self.heads.get(start..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; WINDOW])
    }

    /// Returns the bytes free in front of the packet for headers that are added.
    #[must_use]
    pub fn room(&self, packet: Packet) -> usize {
        usize::from(self.slots[packet.0 as usize].start)
    }

    /// Moves the offset of the packet's first byte by `by` bytes; negative if headers were added.
    pub fn move_start(&mut self, packet: Packet, by: i32) {
        let start = self.slots[packet.0 as usize].start;
        self.set_start(packet, usize::from(start).saturating_add_signed(by as isize));
    }

    /// Replaces the first `parsed` bytes of the head with `headers`.
    ///
    /// Returns false, and changes nothing, if the slot has no room for the growth.
    pub fn replace_front(&mut self, packet: Packet, parsed: usize, headers: &[u8]) -> bool {
        let (bytes, start, end) = self.slot_mut(packet);
        let payload = start + parsed;
        if payload > end || headers.len() > payload {
            return false;
        }
        let new_start = payload - headers.len();
        bytes[new_start..payload].copy_from_slice(headers);
        self.set_start(packet, new_start);
        true
    }

    /// Returns a copy of the packet; the tail is shared.
    pub fn duplicate(&mut self, packet: Packet) -> Packet {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let (slot, from) = (self.slots[packet.0 as usize], packet.0 as usize * self.stride);
        let used = from + usize::from(slot.start)..from + usize::from(slot.end);
        self.heads.copy_within(used, id as usize * self.stride + usize::from(slot.start));
        self.slots[id as usize] = slot;
        if let Some(tail) = self.tails.get_mut(slot.tail as usize) {
            tail.users += 1;
        }
        Packet(id)
    }

    /// Truncates the packet to at most `len` bytes.
    pub fn truncate(&mut self, packet: Packet, len: u32) {
        let mut over = self.len(packet).saturating_sub(len);
        let slot = &mut self.slots[packet.0 as usize];
        // Bytes that were not captured are at the end. Those that are not stored as zeros in the head are the last, so
        // they are cut first.
        let nowhere = over.min(slot.missing - u32::from(slot.zeros));
        slot.missing -= nowhere;
        over -= nowhere;
        let zeros = over.min(slot.zeros.into());
        slot.missing -= zeros;
        slot.zeros -= zeros as u16;
        slot.end -= zeros as u16;
        over -= zeros;
        let tail = over.min(slot.tail_to - slot.tail_from);
        slot.tail_to -= tail;
        over -= tail;
        slot.end -= over as u16;
    }

    /// Moves the packet's first byte back to the end of the headroom and fills the head from the tail. A packet needs this
    /// before it enters a parser again, because headers may have been added or removed.
    pub fn settle(&mut self, packet: Packet) {
        let slot = self.slots[packet.0 as usize];
        let (start, end) = (usize::from(slot.start), usize::from(slot.end));
        let (base, home) = (packet.0 as usize * self.stride, usize::from(self.layout.headroom));
        if start == home {
            return;
        }
        let (len, capacity) = (end - start, usize::from(self.layout.capacity));
        if len <= capacity {
            self.heads.copy_within(base + start..base + end, base + home);
            let mut end = home + len;
            if let Some(tail) = self.tails.get(slot.tail as usize) {
                let rest = &tail.bytes[slot.tail_from as usize..slot.tail_to as usize];
                let rest = &rest[..rest.len().min(capacity - len)];
                self.heads[base + end..base + end + rest.len()].copy_from_slice(rest);
                end += rest.len();
            }
            let taken = (end - home - len) as u32;
            let unseen = slot.missing - u32::from(slot.zeros);
            let zeros = (home + capacity - end).min(unseen as usize);
            self.heads[base + end..base + end + zeros].fill(0);
            let slot = &mut self.slots[packet.0 as usize];
            (slot.start, slot.end) = (home as u16, (end + zeros) as u16);
            slot.tail_from += taken;
            slot.zeros += zeros as u16;
            return;
        }
        // The end of the head becomes tail, as in a packet that arrives now.
        let (head, tail) = self.captured(packet);
        let bytes = [head, tail].concat();
        let missing = slot.missing;
        self.release_tail(slot.tail);
        let free = std::mem::replace(&mut self.free, vec![packet.0]);
        self.insert(&bytes, missing);
        self.free = free;
    }

    /// Returns the layout of the arena.
    #[must_use]
    pub fn layout(&self) -> HeadLayout {
        self.layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_longer_than_the_head_keeps_its_bytes() {
        let mut store = PacketStore::new(HeadLayout { headroom: 8, capacity: 16 });
        let frame: Vec<u8> = (0..40).collect();
        let p = store.insert(&frame, 5);
        assert_eq!(store.head(p), &frame[..16]);
        assert_eq!(store.tail(p), &frame[16..]);
        assert_eq!(store.len(p), 45);
        store.remove(p);
        assert!(store.is_empty());
    }

    #[test]
    fn bytes_not_captured_read_as_zero_and_stay_unknown() {
        let mut store = PacketStore::new(HeadLayout { headroom: 8, capacity: 16 });
        let p = store.insert(&[1, 2, 3], 40);
        assert_eq!(store.head(p).len(), 16);
        assert_eq!(store.len(p), 43);
        assert_eq!(store.captured(p), (&[1u8, 2, 3][..], &[][..]));
        assert!(store.replace_front(p, 1, &[7, 8]));
        assert_eq!(store.len(p), 44);
        assert_eq!(store.captured(p), (&[7u8, 8, 2, 3][..], &[][..]));
    }

    #[test]
    fn headers_grow_into_the_headroom_and_no_further() {
        let mut store = PacketStore::new(HeadLayout { headroom: 4, capacity: 16 });
        let p = store.insert(&[1, 2, 3, 4, 5, 6], 0);
        assert!(store.replace_front(p, 2, &[9, 9, 9, 9]));
        assert_eq!(store.head(p), &[9, 9, 9, 9, 3, 4, 5, 6]);
        assert!(!store.replace_front(p, 0, &[7, 7, 7]));
        assert_eq!(store.head(p), &[9, 9, 9, 9, 3, 4, 5, 6]);
        assert!(store.replace_front(p, 4, &[]));
        assert_eq!(store.head(p), &[3, 4, 5, 6]);
    }

    #[test]
    fn copies_share_the_tail_and_are_cut_alone() {
        let mut store = PacketStore::new(HeadLayout { headroom: 4, capacity: 8 });
        let frame: Vec<u8> = (0..20).collect();
        let all = |s: &PacketStore, p| [s.captured(p).0, s.captured(p).1].concat();
        let a = store.insert(&frame, 5);
        let b = store.duplicate(a);
        store.truncate(b, 12);
        assert_eq!((all(&store, b), store.len(b)), (frame[..12].to_vec(), 12));
        store.truncate(b, 3);
        assert_eq!((all(&store, b), store.len(b)), (frame[..3].to_vec(), 3));
        store.remove(a);
        let c = store.insert(&[9; 20], 0);
        let d = store.duplicate(c);
        store.remove(c);
        assert_eq!(all(&store, d), [9; 20]);
        let short = store.insert(&[1, 2], 10);
        store.truncate(short, 4);
        assert_eq!((all(&store, short), store.head(short).len(), store.len(short)), (vec![1, 2], 4, 4));
    }

    #[test]
    fn a_settled_packet_has_its_head_and_headroom_again() {
        for (missing, parsed, added) in [(0, 6, 0), (0, 0, 4), (3, 7, 1), (3, 1, 3), (0, 3, 3)] {
            for len in [7usize, 8, 9, 30] {
                let mut store = PacketStore::new(HeadLayout { headroom: 4, capacity: 8 });
                let frame: Vec<u8> = (1..=len as u8).collect();
                let p = store.insert(&frame, missing);
                assert!(store.replace_front(p, parsed, &vec![200; added]));
                let expected = [vec![200; added], frame[parsed..].to_vec()].concat();
                store.settle(p);
                assert_eq!([store.captured(p).0, store.captured(p).1].concat(), expected);
                assert_eq!(store.len(p) as usize, expected.len() + missing as usize);
                assert_eq!(store.room(p), 4);
                assert_eq!(store.head(p).len(), 8.min(expected.len() + missing as usize));
                let again = store.insert(&[7; 3], 0);
                assert_ne!(again, p);
            }
        }
    }

    #[test]
    fn slots_and_tails_are_reused() {
        let mut store = PacketStore::new(HeadLayout { headroom: 0, capacity: 4 });
        let a = store.insert(&[0; 9], 0);
        store.remove(a);
        let b = store.insert(&[1; 9], 0);
        assert_eq!(a, b);
        assert_eq!(store.tail(b), &[1; 5]);
        assert_eq!(store.live(), 1);
    }
}
