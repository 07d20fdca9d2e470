//! What a hunt has found, for inputs to come: pieces that reached something new, what the device sent for them, and a
//! few pieces for each point.

use super::input::Piece;
use std::collections::BTreeMap;

/// Pieces kept for a point at most: the first ways to it, by other packets or at other times.
const FEW: usize = 6;
/// Echoes kept at most; the newest take the place of the oldest.
const ECHOES: usize = 256;

/// What is known of a program by what reached it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    /// Pieces that reached something new, in order.
    pub pieces: Vec<Piece>,
    echoes: Vec<Echo>,
    /// Echoes that ever were.
    heard: usize,
    /// Per point the pieces in `few`.
    reaching: BTreeMap<u32, Vec<u32>>,
    few: Vec<Piece>,
}

/// A piece, and the frames that left the device because of it: what a neighbour that runs the same program, or a host that
/// answers with what it got, sends back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// What came in.
    pub of: Piece,
    /// What left, as packets that come in by the port by which they left.
    pub back: Piece,
}

impl Corpus {
    /// Echoes, in no particular order.
    #[must_use]
    pub fn echoes(&self) -> &[Echo] {
        &self.echoes
    }

    /// Adds an echo.
    pub fn hear(&mut self, echo: Echo) {
        if echo.back.shots.is_empty() {
            return;
        }
        match self.echoes.get_mut(self.heard % ECHOES) {
            Some(old) => *old = echo,
            None => self.echoes.push(echo),
        }
        self.heard += 1;
    }

    /// A piece reached these points: it is kept for those that have few.
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

    /// Whether a piece is known that reached this point.
    #[must_use]
    pub fn knows(&self, point: u32) -> bool {
        self.reaching.contains_key(&point)
    }

    /// Pieces that reached one of these points.
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
    fn the_newest_echoes_stay() {
        let mut corpus = Corpus::default();
        corpus.hear(Echo { of: piece(0), back: Piece::default() });
        assert!(corpus.echoes().is_empty());
        for n in 0..=ECHOES {
            corpus.hear(Echo { of: piece(0), back: piece(n as u8) });
        }
        assert_eq!(corpus.echoes().len(), ECHOES);
        assert_eq!(corpus.echoes()[0].back, piece(ECHOES as u8));
    }
}
