//! Frames that a device sent because of a piece, as input for the same device.

use super::corpus::Response;
use super::input::{Input, Piece};
use std::collections::BTreeSet;

/// Most frames of a response.
const MOST: usize = 24;

/// A frame that the device sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SentFrame {
    /// Time of the first bit, in ns.
    pub(crate) time: u64,
    /// dev_port.
    pub(crate) port: u16,
    /// Bytes without FCS.
    pub(crate) bytes: Vec<u8>,
    /// Index of the input's packet that the frame was or was copied from; any other number if the device made the frame.
    pub(crate) tag: u64,
}

/// Returns the responses to these pieces, in order. Frames that the device generated, such as pause frames, belong to the
/// response of every piece before them.
pub(super) fn responses(mut heard: Vec<SentFrame>, input: &Input, pieces: &BTreeSet<u32>) -> Vec<Response> {
    // Ports report in no particular order.
    heard.sort();
    let made = |frame: &SentFrame| input.shots.get(frame.tag as usize).is_none();
    let response = |number: &u32| {
        let request = input.piece(*number)?;
        let own = |frame: &SentFrame| input.shots.get(frame.tag as usize).is_some_and(|s| s.piece == *number);
        let first = heard.iter().find(|frame| own(frame)).or_else(|| heard.iter().find(|f| made(f)))?.time;
        let mut frames = Piece::default();
        let mut last = first;
        for frame in heard.iter().filter(|f| own(f) || made(f) && f.time >= first).take(MOST) {
            frames.shots.push((frame.time - last, frame.port, frame.bytes.clone()));
            last = frame.time;
        }
        Some(Response { request, frames })
    };
    pieces.iter().filter_map(response).collect()
}

/// Swaps source and destination of the Ethernet and IP headers, which changes no checksum. The frame then looks as if it was
/// sent in the other direction.
pub(super) fn swap_addresses(frame: &mut [u8]) {
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
        swap_addresses(&mut frame);
        assert_eq!((&frame[..6], &frame[6..12]), (&was[6..12], &was[..6]));
        assert_eq!((&frame[26..30], &frame[30..34]), (&was[30..34], &was[26..30]));
        assert_eq!((&frame[12..26], &frame[34..]), (&was[12..26], &was[34..]));
        swap_addresses(&mut frame);
        assert_eq!(frame, was);
        swap_addresses(&mut frame[..5]);
        assert_eq!(frame, was);
    }

    #[test]
    fn an_echo_has_the_frames_of_its_piece_with_their_gaps() {
        let shot = |piece: u32| Shot { at: 40, port: 8, bytes: vec![1], piece };
        let input = Input { shots: vec![shot(0), shot(0), shot(1)], pieces: vec![0, 0], ..Input::default() };
        let heard = |time, port, tag| SentFrame { time, port, bytes: vec![tag as u8], tag };
        let frames = vec![heard(90, 9, 1), heard(50, 8, 0), heard(60, 8, 2), heard(70, 3, u64::MAX)];
        let found = responses(frames.clone(), &input, &[0].into());
        let back = Piece { shots: vec![(0, 8, vec![0]), (20, 3, vec![255]), (20, 9, vec![1])] };
        let of = Piece { shots: vec![(0, 8, vec![1]), (0, 8, vec![1])] };
        assert_eq!(found, [Response { request: of, frames: back }]);
        assert_eq!(responses(frames, &input, &[0, 1].into()).len(), 2);
        assert_eq!(responses(Vec::new(), &input, &[0].into()), []);
    }
}
