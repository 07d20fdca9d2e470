//! Tags of the frames that hosts send. A tag goes with a frame through all switches, so an observer knows the frame again.

/// The message that a frame of a host belongs to. As a number: bits 0 to 31 have the pair, bit 32 is set for answers, and the
/// bits from 33 on have the frame's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTag {
    /// Number of the message, from 1; 0 for frames of no message, such as PFC frames and TCP handshakes.
    pub pair: u32,
    /// True for acknowledgements, NACKs and CNPs.
    pub answer: bool,
    /// Number of the frame among the data or the answers of its message, from 1, if the host
    /// [numbers](super::nic::Nic::number_frames) the message's frames; otherwise 0.
    pub number: u32,
}

impl FrameTag {
    /// Returns the tag of a frame with data of a message.
    #[must_use]
    pub const fn data(pair: u32) -> FrameTag {
        FrameTag { pair, answer: false, number: 0 }
    }

    /// Returns the tag of an answer to data of a message.
    #[must_use]
    pub const fn answer(pair: u32) -> FrameTag {
        FrameTag { pair, answer: true, number: 0 }
    }
}

impl From<FrameTag> for u64 {
    fn from(tag: FrameTag) -> u64 {
        u64::from(tag.number) << 33 | u64::from(tag.answer) << 32 | u64::from(tag.pair)
    }
}

impl From<u64> for FrameTag {
    fn from(tag: u64) -> FrameTag {
        FrameTag { pair: tag as u32, answer: tag >> 32 & 1 != 0, number: (tag >> 33) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_numbers() {
        let all = [
            (FrameTag::default(), 0),
            (FrameTag::data(7), 7),
            (FrameTag::answer(7), 0x1_0000_0007),
            (FrameTag { pair: u32::MAX, answer: false, number: 3 }, 0x6_ffff_ffff),
            (FrameTag { pair: 1, answer: true, number: 0x7fff_ffff }, 0xffff_ffff_0000_0001),
        ];
        for (tag, number) in all {
            assert_eq!(u64::from(tag), number);
            assert_eq!(FrameTag::from(number), tag);
        }
    }
}
