//! FIFO of frames on their way to one port, in order of their first bits, in reused memory.

use sluice_asic::units::Time;
use std::collections::VecDeque;

/// Number of free bytes at the front of a lane from which on the rest is moved to the front.
const SLACK: usize = 1 << 16;

/// A frame in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Time at which the first bit reaches the port.
    pub(super) time: Time,
    pub(super) tag: u64,
    /// Bytes stored, and the frame's length on the wire without FCS.
    captured: u32,
    pub(super) orig_len: u32,
}

/// Frames, oldest first; their bytes are stored one after another.
#[derive(Debug, Default)]
pub(super) struct Lane {
    frames: VecDeque<Waiting>,
    bytes: Vec<u8>,
    /// Offset of the first frame's bytes.
    start: usize,
}

impl Lane {
    /// Adds a frame, not earlier than the last one here; its bytes are the concatenated pieces.
    pub(super) fn push(&mut self, time: Time, tag: u64, orig_len: u32, pieces: [&[u8]; 3]) {
        let before = self.bytes.len();
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            self.bytes.extend_from_slice(piece);
        }
        let captured = (self.bytes.len() - before) as u32;
        self.frames.push_back(Waiting { time, tag, captured, orig_len });
    }

    /// Returns the time of the first frame, if there is one.
    #[inline]
    pub(super) fn next_time(&self) -> Option<Time> {
        self.frames.front().map(|frame| frame.time)
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Removes the first frame and passes it to `each`.
    #[inline]
    pub(super) fn pop<R>(&mut self, each: impl FnOnce(Waiting, &[u8]) -> R) -> Option<R> {
        let frame = self.frames.pop_front()?;
        let end = self.start + frame.captured as usize;
        let result = each(frame, self.bytes.get(self.start..end).unwrap_or_default());
        self.start = end;
        if self.frames.is_empty() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > SLACK && self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        Some(result)
    }

    /// Moves all frames of another lane to the end of this one. None of them may be earlier than the frames here.
    pub(super) fn take(&mut self, other: &mut Lane) {
        if self.is_empty() {
            std::mem::swap(self, other);
            return;
        }
        self.bytes.extend_from_slice(other.bytes.get(other.start..).unwrap_or_default());
        self.frames.append(&mut other.frames);
        other.bytes.clear();
        other.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Frames come out in order with their bytes, for any order of pushes and pops.
        #[test]
        fn frames_keep_their_bytes(steps in prop::collection::vec((0..3u8, 0..9000usize), 1..200)) {
            let (mut lane, mut other) = (Lane::default(), Lane::default());
            let (mut made, mut seen, mut open) = (0u64, 0u64, 0u64);
            for (step, len) in steps {
                match step {
                    0 => {
                        let bytes = vec![made as u8; len];
                        let (a, b) = bytes.split_at(len / 3);
                        other.push(Time::from_ps(made), made, len as u32, [a, b, &[]]);
                        made += 1;
                    }
                    1 => {
                        lane.take(&mut other);
                        open = made;
                        prop_assert!(other.is_empty());
                    }
                    _ => {
                        let popped = lane.pop(|frame, bytes| {
                            assert_eq!(frame.tag, seen);
                            assert_eq!(bytes.len(), frame.orig_len as usize);
                            assert!(bytes.iter().all(|b| *b == seen as u8));
                        });
                        prop_assert_eq!(popped.is_some(), seen < open);
                        seen += u64::from(popped.is_some());
                    }
                }
                prop_assert_eq!(lane.len() as u64, open - seen);
                prop_assert_eq!(lane.next_time(), (open > seen).then(|| Time::from_ps(seen)));
            }
        }
    }
}
