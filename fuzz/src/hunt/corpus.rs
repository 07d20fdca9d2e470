//! Corpus of a hunt, from which later inputs are mutated: pieces that reached new coverage points, the device's responses to
//! them, and a few pieces for each point.

use super::input::Piece;
use std::collections::BTreeMap;

/// Most pieces that are kept for one point; the first ones are kept.
const FEW: usize = 6;
/// Most responses that are kept; a new response replaces the oldest.
const RESPONSES: usize = 256;

/// Pieces of inputs that are worth mutating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    /// Pieces that reached a new point, in order of discovery.
    pub pieces: Vec<Piece>,
    responses: Vec<Response>,
    /// Responses added so far, those included that were replaced.
    added: usize,
    /// Point to the indices of its pieces in `few`.
    reaching: BTreeMap<u32, Vec<u32>>,
    few: Vec<Piece>,
}

/// A piece and the frames that the device sent because of it. Sent back to the device, the frames stand for a neighbour that
/// runs the same program, or for a host that answers (*echo* in the handbook).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Piece that arrived.
    pub request: Piece,
    /// Sent frames, as packets that arrive on the port on which they were sent.
    pub frames: Piece,
}

impl Corpus {
    /// Returns the kept responses, in no particular order.
    #[must_use]
    pub fn responses(&self) -> &[Response] {
        &self.responses
    }

    /// Adds a response, unless it has no frames.
    pub fn add_response(&mut self, response: Response) {
        if response.frames.shots.is_empty() {
            return;
        }
        match self.responses.get_mut(self.added % RESPONSES) {
            Some(old) => *old = response,
            None => self.responses.push(response),
        }
        self.added += 1;
    }

    /// Keeps `piece` for those of `points` that have few pieces.
    pub fn reach(&mut self, piece: &Piece, points: impl Iterator<Item = u32>) {
        let number = self.few.len() as u32;
        let mut kept = false;
        for point in points {
            let list = self.reaching.entry(point).or_default();
            if list.len() < FEW {
                list.push(number);
                kept = true;
            }
        }
        if kept {
            self.few.push(piece.clone());
        }
    }

    /// Returns true if a piece is known that reached this point.
    #[must_use]
    pub fn knows(&self, point: u32) -> bool {
        self.reaching.contains_key(&point)
    }

    /// Returns the pieces that reached one of these points.
    #[must_use]
    pub fn reaching(&self, points: &[u32]) -> Vec<&Piece> {
        let mut numbers: Vec<u32> =
            points.iter().filter_map(|p| self.reaching.get(p)).flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(|n| self.few.get(n as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(byte: u8) -> Piece {
        Piece { shots: vec![(0, 8, vec![byte])] }
    }

    #[test]
    fn a_point_keeps_its_first_pieces() {
        let mut corpus = Corpus::default();
        for n in 0..10 {
            corpus.reach(&piece(n), [1, u32::from(n) + 10].into_iter());
        }
        assert_eq!(corpus.reaching(&[1]).len(), FEW);
        assert_eq!(corpus.reaching(&[19]), [&piece(9)]);
        assert_eq!(corpus.reaching(&[11, 1]).len(), FEW);
        assert!(corpus.reaching(&[2]).is_empty());
    }

    #[test]
    fn the_newest_responses_stay() {
        let mut corpus = Corpus::default();
        corpus.add_response(Response { request: piece(0), frames: Piece::default() });
        assert!(corpus.responses().is_empty());
        for n in 0..=RESPONSES {
            corpus.add_response(Response { request: piece(0), frames: piece(n as u8) });
        }
        assert_eq!(corpus.responses().len(), RESPONSES);
        assert_eq!(corpus.responses()[0].frames, piece(RESPONSES as u8));
    }
}
