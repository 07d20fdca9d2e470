//! Arrays of cells with a mark on each block that may have been written.
//!
//! A register may have some hundred thousand cells, and a run of a few packets writes few of them. Reusing an
//! array for the next run, and comparing the arrays of two runs, therefore visit only marked blocks.

use std::ops::Deref;

/// Cells per block; a block has one mark.
const BLOCK: usize = 64;
/// Marks tested together. Most arrays of a run have hardly any mark set.
const GROUP: usize = 64;

/// An array whose cells all start with the same value. It is read as a slice; a write marks the cell's block.
#[derive(Clone, Debug, Default)]
pub struct Cells<T> {
    cells: Vec<T>,
    first: T,
    /// Per block: true if one of its cells may differ from the initial value.
    written: Vec<bool>,
}

impl<T: Copy + PartialEq> Cells<T> {
    /// Returns `cells` cells with this value.
    #[must_use]
    pub fn new(cells: usize, first: T) -> Cells<T> {
        Cells { cells: vec![first; cells], first, written: vec![false; cells.div_ceil(BLOCK)] }
    }

    /// Returns a cell to write; `None` beyond the end.
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let cell = self.cells.get_mut(at)?;
        // Every cell has a mark.
        if let Some(written) = self.written.get_mut(at / BLOCK) {
            *written = true;
        }
        Some(cell)
    }

    /// Sets all cells to this value.
    pub fn fill(&mut self, value: T) {
        if value == self.first {
            self.clear();
        } else {
            self.cells.fill(value);
            self.written.fill(true);
        }
    }

    /// Restores the initial value in all cells, in time proportional to the marked blocks.
    pub fn clear(&mut self) {
        let groups = self.cells.chunks_mut(BLOCK * GROUP).zip(self.written.chunks_mut(GROUP));
        for (cells, marks) in groups.filter(|(_, marks)| any(marks)) {
            for (block, written) in cells.chunks_mut(BLOCK).zip(marks) {
                if std::mem::take(written) {
                    block.fill(self.first);
                }
            }
        }
    }

    /// Makes a new array like [`Cells::new`] in the memory of an array that is no longer needed.
    #[must_use]
    pub fn again(mut self, cells: usize, first: T) -> Cells<T> {
        if self.cells.len() != cells || self.first != first {
            return Cells::new(cells, first);
        }
        self.clear();
        self
    }

    /// Returns the cells that differ from the initial value, with their positions, ascending.
    pub fn changed(&self) -> impl Iterator<Item = (usize, T)> {
        let blocks = marked(&self.written).filter_map(|n| Some((n, self.block(n)?)));
        let cells = blocks.flat_map(|(n, block)| (n * BLOCK..).zip(block));
        cells.filter(|(_, cell)| **cell != self.first).map(|(at, cell)| (at, *cell))
    }

    /// Returns the first position at which two arrays of the same size differ.
    #[must_use]
    pub fn difference(&self, other: &Cells<T>) -> Option<usize> {
        if self.first != other.first {
            return self.cells.iter().zip(&other.cells).position(|(a, b)| a != b);
        }
        // A block without a mark in both arrays has the initial values of both.
        let in_block = |n| {
            let at = self.block(n)?.iter().zip(other.block(n)?).position(|(a, b)| a != b)?;
            Some(n * BLOCK + at)
        };
        let [here, there] = [self, other].map(|cells| marked(&cells.written).find_map(in_block));
        [here, there].into_iter().flatten().min()
    }

    fn block(&self, n: usize) -> Option<&[T]> {
        self.cells.chunks(BLOCK).nth(n)
    }
}

/// Returns true if a mark of the group is set. Testing all marks takes less time than stopping at the first
/// one.
fn any(marks: &[bool]) -> bool {
    marks.iter().fold(false, |any, mark| any | mark)
}

/// Returns the numbers of the marked blocks.
fn marked(written: &[bool]) -> impl Iterator<Item = usize> + '_ {
    let groups = written.chunks(GROUP).enumerate().filter(|(_, marks)| any(marks));
    groups.flat_map(|(group, marks)| {
        let blocks = (group * GROUP..).zip(marks);
        blocks.filter(|(_, written)| **written).map(|(n, _)| n)
    })
}

impl<T> Deref for Cells<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.cells
    }
}

impl<'a, T> IntoIterator for &'a Cells<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.cells.iter()
    }
}

/// Compares the cells; marks do not matter.
impl<T: Copy + PartialEq> PartialEq for Cells<T> {
    fn eq(&self, other: &Cells<T>) -> bool {
        self.cells.len() == other.cells.len() && self.difference(other).is_none()
    }
}

impl<T: Copy + Eq> Eq for Cells<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of 200 cells of which these were written.
    fn written(list: &[(usize, u32)]) -> Cells<u32> {
        let mut cells = Cells::new(200, 7);
        for (at, value) in list {
            *cells.get_mut(*at).unwrap() = *value;
        }
        cells
    }

    #[test]
    fn what_was_written_is_found_and_cleared() {
        let list = [(0, 1), (63, 2), (64, 3), (199, 4)];
        let mut cells = written(&list);
        assert_eq!(cells.get_mut(200), None);
        assert_eq!(cells.changed().collect::<Vec<_>>(), list);
        // Written, but with the initial value.
        *cells.get_mut(130).unwrap() = 7;
        assert_eq!(cells.changed().count(), 4);
        cells.clear();
        assert_eq!(cells[..], [7; 200]);
        assert_eq!(cells.changed().count(), 0);
    }

    #[test]
    fn arrays_of_many_blocks_differ_where_one_was_written() {
        let (far, last) = (BLOCK * GROUP + 3, 2 * BLOCK * GROUP + 5);
        let [mut a, mut b] = [Cells::new(last + 1, 0), Cells::new(last + 1, 0)];
        *a.get_mut(last).unwrap() = 1;
        assert_eq!(a.difference(&b), Some(last));
        *b.get_mut(far).unwrap() = 2;
        assert_eq!(a.difference(&b), Some(far));
        assert_eq!(b.changed().collect::<Vec<_>>(), [(far, 2)]);
        a.clear();
        b.clear();
        assert_eq!((a.difference(&b), a[last], b[far]), (None, 0, 0));
        assert_eq!(a.difference(&Cells::new(last + 1, 4)), Some(0));
    }

    #[test]
    fn a_filled_array_is_changed_everywhere_and_can_be_cleared() {
        let mut cells = written(&[(5, 6)]);
        cells.fill(9);
        assert_eq!(cells.changed().count(), 200);
        cells.fill(7);
        assert_eq!(cells[..], [7; 200]);
        assert_eq!(cells, Cells::new(200, 7));
    }

    #[test]
    fn memory_of_another_array_says_nothing() {
        let used = written(&[(5, 6), (150, 1)]);
        for (size, first) in [(200, 7), (200, 8), (90, 7), (300, 7), (0, 7)] {
            let again = used.clone().again(size, first);
            assert_eq!(again[..], vec![first; size]);
            assert_eq!(again.changed().count(), 0);
        }
    }

    #[test]
    fn arrays_are_equal_by_what_they_hold() {
        let (a, b) = (written(&[(100, 1), (150, 2)]), written(&[(100, 1), (3, 7)]));
        assert_eq!(a.difference(&b), Some(150));
        assert_eq!(b.difference(&a), Some(150));
        assert_eq!(a.difference(&a), None);
        assert_ne!(a, b);
        assert_eq!(written(&[(3, 7)]), Cells::new(200, 7));
        assert_ne!(Cells::new(200, 7), Cells::new(201, 7));
        // Nothing was written, and they differ all the same.
        assert_eq!(Cells::new(200, 7).difference(&Cells::new(200, 8)), Some(0));
    }
}
