//! What left a device because of a piece.

use super::corpus::Echo;
use super::input::{Input, Piece};
use std::collections::BTreeSet;

/// Frames of an echo at most.
const MOST: usize = 24;

/// A frame that left.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Heard {
    /// First bit, in ns.
    pub(crate) time: u64,
    /// dev_port.
    pub(crate) port: u16,
    /// Without FCS.
    pub(crate) bytes: Vec<u8>,
    /// The packet of the input that it was, or was made of; any other number if the device made it.
    pub(crate) tag: u64,
}

/// The echoes of these pieces, in order. What the device made by itself, such as a pause, goes with each.
pub(super) fn echoes(mut heard: Vec<Heard>, input: &Input, pieces: &BTreeSet<u32>) -> Vec<Echo> {
    // Ports report in any order.
    heard.sort();
    let made = |frame: &Heard| input.shots.get(frame.tag as usize).is_none();
    let echo = |number: &u32| {
        let of = input.piece(*number)?;
        let own = |frame: &Heard| input.shots.get(frame.tag as usize).is_some_and(|s| s.piece == *number);
        let first = heard.iter().find(|frame| own(frame)).or_else(|| heard.iter().find(|f| made(f)))?.time;
        let mut back = Piece::default();
        let mut last = first;
        for frame in heard.iter().filter(|f| own(f) || made(f) && f.time >= first).take(MOST) {
            back.shots.push((frame.time - last, frame.port, frame.bytes.clone()));
            last = frame.time;
        }
        Some(Echo { of, back })
    };
    pieces.iter().filter_map(echo).collect()
}

/// The frame as one of the other direction: its Ethernet and IP addresses have changed places, which no check sum notices. To
/// a switch that stands between the two ends it is what the other one's switch would have sent.
pub(super) fn turn_round(frame: &mut [u8]) {
    if let Some((to, from)) = frame.get_mut(..12).and_then(|m| m.split_at_mut_checked(6)) {
        to.swap_with_slice(from);
    }
    let mut at = 12;
    let word = |frame: &[u8], at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    while matches!(word(frame, at), Some(0x8100 | 0x88a8)) {
        at += 4;
    }
    let (first, len) = match word(frame, at) {
        Some(0x0800) => (at + 2 + 12, 4),
        Some(0x86dd) => (at + 2 + 8, 16),
        _ => return,
    };
    if let Some((source, destination)) = frame.get_mut(first..first + 2 * len).map(|a| a.split_at_mut(len)) {
        source.swap_with_slice(destination);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::Shot;

    #[test]
    fn a_frame_is_turned_round() {
        let mut frame: Vec<u8> = (0..40).collect();
        frame[12..14].copy_from_slice(&[8, 0]);
        let was = frame.clone();
        turn_round(&mut frame);
        assert_eq!((&frame[..6], &frame[6..12]), (&was[6..12], &was[..6]));
        assert_eq!((&frame[26..30], &frame[30..34]), (&was[30..34], &was[26..30]));
        assert_eq!((&frame[12..26], &frame[34..]), (&was[12..26], &was[34..]));
        turn_round(&mut frame);
        assert_eq!(frame, was);
        turn_round(&mut frame[..5]);
        assert_eq!(frame, was);
    }

    #[test]
    fn an_echo_has_the_frames_of_its_piece_with_their_gaps() {
        let shot = |piece: u32| Shot { at: 40, port: 8, bytes: vec![1], piece };
        let input = Input { shots: vec![shot(0), shot(0), shot(1)], pieces: vec![0, 0], ..Input::default() };
        let heard = |time, port, tag| Heard { time, port, bytes: vec![tag as u8], tag };
        let frames = vec![heard(90, 9, 1), heard(50, 8, 0), heard(60, 8, 2), heard(70, 3, u64::MAX)];
        let found = echoes(frames.clone(), &input, &[0].into());
        let back = Piece { shots: vec![(0, 8, vec![0]), (20, 3, vec![255]), (20, 9, vec![1])] };
        let of = Piece { shots: vec![(0, 8, vec![1]), (0, 8, vec![1])] };
        assert_eq!(found, [Echo { of, back }]);
        assert_eq!(echoes(frames, &input, &[0, 1].into()).len(), 2);
        assert_eq!(echoes(Vec::new(), &input, &[0].into()), []);
    }
}
