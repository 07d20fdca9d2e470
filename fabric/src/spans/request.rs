//! The packets whose spans are recorded, and their names.

use crate::host::tag::FrameTag;
use sluice_switch::GENERATED;

/// The packets whose spans are recorded: every `every`-th one, at most `most` of them. Packets that a switch makes have no
/// number of their own, so only copies of these packets are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanRequest {
    /// Distance of the packets, from 1.
    pub every: u64,
    /// Most packets; of a message: most packets with data, and most answers.
    pub most: u64,
    /// The message whose frames are recorded, which its hosts must [number](crate::host::nic::Nic::number_frames); `None`: all
    /// packets, whose tags are their numbers.
    pub message: Option<u32>,
}

impl SpanRequest {
    /// Returns true if spans of the packet with this tag are recorded.
    #[must_use]
    pub fn takes(&self, tag: u64) -> bool {
        let every = self.every.max(1);
        self.number(tag).is_some_and(|number| number.is_multiple_of(every) && number / every < self.most)
    }

    /// Returns the number of packets that are recorded out of this many.
    #[must_use]
    pub fn count(&self, packets: u64) -> u64 {
        packets.div_ceil(self.every.max(1)).min(self.most)
    }

    /// Returns a packet's number from 0; `None` if no packet that may be recorded has this tag.
    fn number(&self, tag: u64) -> Option<u64> {
        let frame = FrameTag::from(tag);
        match self.message {
            _ if tag == GENERATED => None,
            None => Some(tag),
            Some(pair) => u64::from(frame.number).checked_sub(1).filter(|_| frame.pair == pair),
        }
    }

    /// Returns a number for each packet that no other packet has.
    pub(super) fn key(&self, tag: u64) -> u64 {
        let frame = FrameTag::from(tag);
        match self.message {
            None => tag,
            Some(_) => 2 * u64::from(frame.number) + u64::from(frame.answer),
        }
    }

    /// Returns the name of a packet.
    pub(super) fn name(&self, tag: u64) -> String {
        let number = self.message.map_or(tag, |_| FrameTag::from(tag).number.into());
        format!("{} {number}", self.kind(tag))
    }

    /// Returns the name of a packet's kind.
    pub(super) fn kind(&self, tag: u64) -> &'static str {
        match self.message {
            None => "packet",
            Some(_) if FrameTag::from(tag).answer => "answer",
            Some(_) => "data",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_sampled_and_bounded() {
        let request = SpanRequest { every: 3, most: 2, message: None };
        let taken: Vec<u64> = (0..20).filter(|tag| request.takes(*tag)).collect();
        assert_eq!(taken, [0, 3]);
        assert!(!request.takes(GENERATED));
        assert!(!SpanRequest { every: 1, most: u64::MAX, message: None }.takes(GENERATED));
        assert_eq!([0, 1, 3, 4, 100].map(|packets| request.count(packets)), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn frames_of_one_message_are_sampled() {
        let request = SpanRequest { every: 2, most: 2, message: Some(5) };
        let tag = |pair, answer, number| u64::from(FrameTag { pair, answer, number });
        let taken: Vec<u32> = (0..20).filter(|number| request.takes(tag(5, false, *number))).collect();
        assert_eq!(taken, [1, 3], "frames without a number are left out");
        assert!(
            request.takes(tag(5, true, 3)) && !request.takes(tag(6, false, 1)) && !request.takes(GENERATED)
        );
        assert_eq!(request.name(tag(5, true, 3)), "answer 3");
        assert_eq!(request.name(tag(5, false, 4)), "data 4");
        assert_ne!(request.key(tag(5, true, 3)), request.key(tag(5, false, 3)));
    }
}
