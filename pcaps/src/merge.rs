//! Merges several captures into one stream in order of time, in the memory of their readers.
//!
//! The replayer handles ports, speeds and repetitions.

use crate::capture::{CaptureError, CaptureReader, CaptureTime, Frame};

/// K-way merge of captures.
///
/// Frames are in order of time, then of input, then of the file. An input whose own timestamps run backwards keeps the
/// order of its file (and counts [`TimeBackwards`](crate::capture::Oddity::TimeBackwards)), so the merged timestamps
/// run backwards there too. The first error of any input is final, as with a single reader; an input that is cut inside
/// its last record just ends.
pub struct Merge<'a> {
    inputs: Vec<CaptureReader<'a>>,
    /// Timestamp of each input's next frame; `None` for `current` and for ended inputs. A scan is cheaper than a heap,
    /// because inputs are few.
    heads: Vec<Option<CaptureTime>>,
    /// The earliest head and its input, once looked for.
    first: Option<(CaptureTime, usize)>,
    /// The input whose frame was given last.
    current: Option<usize>,
    started: bool,
    failed: bool,
}

impl<'a> Merge<'a> {
    /// Merges captures from the current position of each reader. The input indices are those of the vector.
    pub fn new(inputs: Vec<CaptureReader<'a>>) -> Self {
        let heads = vec![None; inputs.len()];
        Self { inputs, heads, first: None, current: None, started: false, failed: false }
    }

    /// Returns the next frame and the index of its input; `None` at the end, and in every call after the end or after an error.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<(usize, Frame<'_>)>, CaptureError> {
        let Some((_, input)) = self.peek()? else { return Ok(None) };
        self.first = None;
        self.current = Some(input);
        self.heads[input] = None;
        Ok(self.inputs[input].frame().map(|frame| (input, frame)))
    }

    /// Returns the timestamp of the frame that comes next, without moving to it; `None` at the end.
    #[inline]
    pub fn next_time(&mut self) -> Result<Option<CaptureTime>, CaptureError> {
        Ok(self.peek()?.map(|(time, _)| time))
    }

    /// Returns the timestamp of the frame that comes next and its input, at whose reader it can be seen; `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<(CaptureTime, usize)>, CaptureError> {
        if self.first.is_none() && !self.failed {
            self.look()?;
        }
        Ok(self.first)
    }

    /// Finds the frame that comes next.
    fn look(&mut self) -> Result<(), CaptureError> {
        if let Err(error) = self.refill() {
            self.failed = true;
            return Err(error);
        }
        self.first = match *self.heads.as_slice() {
            [head] => head.map(|time| (time, 0)),
            _ => self.first(),
        };
        Ok(())
    }

    /// Returns the readers, in the order of the input indices: for their names, interfaces, oddities and cut tails.
    pub fn inputs(&self) -> &[CaptureReader<'a>] {
        &self.inputs
    }

    /// Returns the earliest head; of equal heads, the one of the first input.
    #[inline]
    fn first(&self) -> Option<(CaptureTime, usize)> {
        let mut best: Option<(CaptureTime, usize)> = None;
        for (input, head) in self.heads.iter().enumerate() {
            if let Some(time) = *head
                && best.is_none_or(|(earliest, _)| time < earliest)
            {
                best = Some((time, input));
            }
        }
        best
    }

    /// Advances the inputs without a head to their next frame: initially all of them, then the one whose frame was
    /// returned last.
    #[inline]
    fn refill(&mut self) -> Result<(), CaptureError> {
        if !self.started {
            self.started = true;
            return (0..self.inputs.len()).try_for_each(|input| self.step(input));
        }
        self.current.take().map_or(Ok(()), |input| self.step(input))
    }

    #[inline]
    fn step(&mut self, input: usize) -> Result<(), CaptureError> {
        let reader = &mut self.inputs[input];
        reader.advance()?;
        self.heads[input] = reader.frame().map(|frame| frame.time);
        Ok(())
    }
}
