//! Sorts packets of several ports by time, in reused memory.

use sluice_asic::units::Time;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// A packet that was sent or dropped, and is not written yet.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) time: Time,
    /// Bytes stored.
    pub(crate) captured: u32,
    /// Bytes on the wire.
    pub(crate) orig_len: u32,
    pub(crate) comment: Option<Box<str>>,
}

/// One port's packets in order of time; their bytes are stored one after another.
#[derive(Debug, Default)]
struct Lane {
    packets: VecDeque<Waiting>,
    bytes: VecDeque<u8>,
}

/// Packets in order of time, then port.
#[derive(Debug, Default)]
pub(crate) struct TimeOrder {
    lanes: Vec<Lane>,
    /// Time and port of the first packet of every lane that has one.
    heads: BinaryHeap<Reverse<(Time, u16)>>,
}

impl TimeOrder {
    /// Adds a packet, not earlier than the last one of its port; its bytes are the concatenated pieces.
    pub(crate) fn push(&mut self, port: u16, packet: Waiting, pieces: [&[u8]; 3]) {
        let index = usize::from(port);
        if self.lanes.len() <= index {
            self.lanes.resize_with(index + 1, Lane::default);
        }
        let lane = &mut self.lanes[index];
        if lane.packets.is_empty() {
            self.heads.push(Reverse((packet.time, port)));
        }
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            lane.bytes.extend(piece);
        }
        lane.packets.push_back(packet);
    }

    /// Removes the earliest packet, if it is not later than `until`, and passes it to `write` with its port and its
    /// bytes in two pieces.
    pub(crate) fn pop<R>(
        &mut self,
        until: Time,
        write: impl FnOnce(u16, Waiting, &[u8], &[u8]) -> R,
    ) -> Option<R> {
        let Reverse((time, port)) = *self.heads.peek()?;
        if time > until {
            return None;
        }
        let lane = self.lanes.get_mut(usize::from(port))?;
        let packet = lane.packets.pop_front()?;
        let captured = packet.captured as usize;
        let (head, tail) = lane.bytes.as_slices();
        let cut = captured.min(head.len());
        let result = write(port, packet, &head[..cut], &tail[..captured - cut]);
        lane.bytes.drain(..captured);
        let next = lane.packets.front().map(|next| next.time);
        if let Some(mut top) = self.heads.peek_mut() {
            match next {
                Some(time) => *top = Reverse((time, port)),
                None => drop(PeekMut::pop(top)),
            }
        }
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_by_time_then_port_with_their_bytes() {
        let mut order = TimeOrder::default();
        let mut seen = Vec::new();
        let add = |order: &mut TimeOrder, port: u16, ps: u64, len: u8| {
            let bytes = vec![ps as u8; usize::from(len)];
            let (a, b) = bytes.split_at(bytes.len() / 3);
            let time = Time::from_ps(ps);
            let w = Waiting { time, captured: u32::from(len), orig_len: 99, comment: None };
            order.push(port, w, [a, b, &[]]);
        };
        // Enough rounds for the rings to wrap.
        for round in 0..50u64 {
            let t = round * 5;
            add(&mut order, 7, t, 10);
            add(&mut order, 7, t + 2, 0);
            add(&mut order, 3, t + 1, 77);
            add(&mut order, 3, t + 2, 5);
            while let Some(one) = order.pop(Time::from_ps(t + 2), |port, w, head, tail| {
                assert!(head.iter().chain(tail).all(|b| *b == w.time.as_ps() as u8));
                (w.time.as_ps() - t, port, head.len() + tail.len())
            }) {
                seen.push(one);
            }
            assert_eq!(seen, [(0, 7, 10), (1, 3, 77), (2, 3, 5), (2, 7, 0)]);
            seen.clear();
        }
        add(&mut order, 1, 1000, 1);
        assert!(order.pop(Time::from_ps(999), |_, _, _, _| ()).is_none());
    }
}
