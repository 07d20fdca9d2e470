//! `proptest` strategies for packets and entries of a stage program, for tests of the program.
//!
//! [`Strategies`] draws packets that the program's parser accepts and changes of its tables, as the [hunt](crate::hunt) does:
//! with values from the program's entries, conditions and registers. Values shrink: to fewer packets, then to the
//! smallest choices of each packet. [`Strategies::properties_hold`] runs an input on both engines and checks the
//! program's properties; [`write_pcap`] saves the packets of a failing input for `sluice replay`.
//!
//! ```
//! use proptest::test_runner::{Config, TestError, TestRunner};
//! use sluice_asic::chip::ChipSpec;
//! use sluice_fuzz::hunt::Subject;
//! use sluice_fuzz::strategies::{Strategies, write_pcap};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = sluice_programs::catalogue();
//! let subject = Subject::of_catalogue(&catalogue, "ecn-mark", &[], &ChipSpec::tofino2())?;
//! let strategies = Strategies::new(&subject)?;
//! let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(8) });
//! let result = runner.run(&strategies.inputs(1..=20), |input| strategies.properties_hold(&input));
//! if let Err(TestError::Fail(reason, input)) = result {
//!     write_pcap(&input.shots, std::fs::File::create("failure.pcap")?)?;
//!     panic!("{reason}: sluice replay ecn-mark -i 0@failure.pcap --check");
//! }
//! # Ok(())
//! # }
//! ```

pub use crate::hunt::{Input, Shot, Subject, SubjectError};

use crate::Draw;
use crate::hunt::{Maker, Packets, Runner, words};
use proptest::arbitrary::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{TestCaseError, TestRunner};
use sluice_control::ControlOp;
use sluice_exec::cover::Coverage;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::{TraceFormat, TraceWriter, WriteError};
use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::io::Write;
use std::ops::RangeInclusive;

/// Numbers from which one packet, or the changes of entries, are drawn. After the last one every choice is the smallest.
const WORDS: usize = 192;
/// Numbers that shrinking sets to zero at once, in this order.
const CHUNKS: [usize; 4] = [64, 16, 4, 1];

/// Strategies for the packets and entries of one program.
pub struct Strategies<'s> {
    maker: Maker<'s>,
    runner: RefCell<Runner<'s>>,
    port: u16,
}

impl<'s> Strategies<'s> {
    /// Returns strategies for a subject. Packets arrive on the first front-panel port.
    ///
    /// # Errors
    /// If the engine cannot lower the program.
    pub fn new(subject: &'s Subject<'s>) -> Result<Strategies<'s>, SubjectError> {
        let port = subject.ports.front_ports().first().map_or(0, |port| port.dev_port.number());
        Ok(Strategies { maker: Maker::new(subject), runner: RefCell::new(Runner::new(subject)?), port })
    }

    /// Returns a strategy for frames without FCS that the ingress parser accepts, with right lengths and checksums.
    pub fn frames(&self) -> impl Strategy<Value = Vec<u8>> + Clone + '_ {
        let frame = |items: &[Vec<u32>]| items.first().map_or(Vec::new(), |words| self.frame(words));
        Drawn { items: 1..=1, make: frame }
    }

    /// Returns a strategy for this many packets, in order of time. About half of them repeat an earlier frame, so that
    /// flows have several packets.
    pub fn packets(&self, count: RangeInclusive<usize>) -> impl Strategy<Value = Vec<Shot>> + Clone + '_ {
        Drawn { items: count, make: |items: &[Vec<u32>]| self.shots(items) }
    }

    /// Returns a strategy for operations on the entries, groups and constant registers of the program. They are valid in
    /// this order after the subject's entries.
    pub fn entries(&self) -> impl Strategy<Value = Vec<ControlOp>> + Clone + '_ {
        let ops = |items: &[Vec<u32>]| items.first().map_or(Vec::new(), |words| self.ops(words));
        Drawn { items: 1..=1, make: ops }
    }

    /// Returns a strategy for inputs: this many packets, and changes of entries before the first of them.
    pub fn inputs(&self, count: RangeInclusive<usize>) -> impl Strategy<Value = Input> + Clone + '_ {
        (self.packets(count), self.entries()).prop_map(|(shots, ops)| {
            let ops = ops.into_iter().map(|op| (0, op)).collect();
            Input { shots, ops, obeys: false, pieces: vec![0] }
        })
    }

    /// Sends an input through two devices, one with the engine and one with the reference interpreter, and checks the
    /// program's properties, the general ones, and that the results are equal.
    ///
    /// # Errors
    /// The first violation; or a rejection if the device refuses a change of entries.
    pub fn properties_hold(&self, input: &Input) -> Result<(), TestCaseError> {
        let mut runner = self.runner.borrow_mut();
        let outcome = runner.run(input, &Coverage::default());
        let outcome = outcome.map_err(|e| TestCaseError::reject(e.to_string()))?;
        match outcome.violations.first() {
            Some(violation) => Err(TestCaseError::fail(violation.to_string())),
            None => Ok(()),
        }
    }

    fn frame(&self, words: &[u32]) -> Vec<u8> {
        let packets = Packets::new(&self.maker.subject.program, &self.maker.pools);
        packets.whole(&mut Draw::new(words))
    }

    fn shots(&self, items: &[Vec<u32>]) -> Vec<Shot> {
        let mut shots: Vec<Shot> = Vec::new();
        let mut at = 0;
        for words in items {
            // The first numbers are those of the time and of the repeated frame.
            let (own, frame) = words.split_at(words.len().min(8));
            let d = &mut Draw::new(own);
            let earlier = if d.chance(1, 2) { shots.get(d.below(shots.len())) } else { None };
            let bytes = earlier.map_or_else(|| self.frame(frame), |shot| shot.bytes.clone());
            at += if shots.is_empty() { 0 } else { self.maker.pools.gap(d) };
            shots.push(Shot { at, port: self.port, bytes, piece: 0 });
        }
        shots
    }

    fn ops(&self, words: &[u32]) -> Vec<ControlOp> {
        let d = &mut Draw::new(words);
        let mut entries = self.maker.subject.control.clone();
        if d.chance(1, 2) { self.maker.changes(&mut entries, d) } else { Vec::new() }
    }
}

impl Debug for Strategies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strategies for {:?}", self.maker.subject)
    }
}

/// Writes packets as a pcap file with nanoseconds. Its first packet has the time zero.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_pcap(shots: &[Shot], out: impl Write) -> Result<(), WriteError> {
    let mut writer = TraceWriter::new(out, TraceFormat::Pcap, CaptureTime::from_ns(0))?;
    let first = shots.first().map_or(0, |shot| shot.at);
    for shot in shots {
        writer.write(CaptureTime::from_ns(shot.at - first), &shot.bytes)?;
    }
    writer.finish().map(|_| ())
}

/// A strategy that makes a value from lists of numbers, one list per item.
#[derive(Clone)]
struct Drawn<F> {
    items: RangeInclusive<usize>,
    make: F,
}

impl<F> Debug for Drawn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} drawn items", self.items)
    }
}

impl<T: Debug, F: Fn(&[Vec<u32>]) -> T + Clone> Strategy for Drawn<F> {
    type Tree = DrawnTree<F>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let count = self.items.clone().new_tree(runner)?.current();
        let mut numbers = words(any::<u64>().new_tree(runner)?.current());
        let items: Vec<Vec<u32>> = (0..count).map(|_| numbers.by_ref().take(WORDS).collect()).collect();
        let cursor = Cursor::Remove { size: count.div_ceil(2), at: 0 };
        Ok(DrawnTree { items, least: *self.items.start(), make: self.make.clone(), cursor, before: None })
    }
}

/// The next candidate of shrinking.
#[derive(Clone, Copy, Debug)]
enum Cursor {
    /// Without `size` items from `at` on.
    Remove { size: usize, at: usize },
    /// With zeros in place of the numbers from `at` on in an item, as many as a chunk has.
    Zero { item: usize, chunk: usize, at: usize },
}

/// Numbers that shrink: items are removed, halves first, then numbers become zero, large chunks first.
struct DrawnTree<F> {
    items: Vec<Vec<u32>>,
    /// Least number of items.
    least: usize,
    make: F,
    cursor: Cursor,
    /// The items before the candidate, which is under test; `None` if there is no candidate.
    before: Option<Vec<Vec<u32>>>,
}

impl<F> DrawnTree<F> {
    /// Makes the next candidate; returns false if there is none.
    fn advance(&mut self) -> bool {
        loop {
            match self.cursor {
                Cursor::Remove { size: 0, .. } => {
                    self.cursor = Cursor::Zero { item: 0, chunk: 0, at: 0 };
                }
                Cursor::Remove { size, at } if at >= self.items.len() => {
                    self.cursor = Cursor::Remove { size: size / 2, at: 0 };
                }
                Cursor::Remove { size, at } => {
                    let end = (at + size).min(self.items.len());
                    if self.items.len() - (end - at) < self.least {
                        self.cursor = Cursor::Remove { size: size / 2, at: 0 };
                        continue;
                    }
                    self.before = Some(self.items.clone());
                    self.items.drain(at..end);
                    return true;
                }
                Cursor::Zero { item, chunk, at } => {
                    let Some(words) = self.items.get(item) else { return false };
                    let Some(&size) = CHUNKS.get(chunk) else {
                        self.cursor = Cursor::Zero { item: item + 1, chunk: 0, at: 0 };
                        continue;
                    };
                    if at >= words.len() {
                        self.cursor = Cursor::Zero { item, chunk: chunk + 1, at: 0 };
                        continue;
                    }
                    self.cursor = Cursor::Zero { item, chunk, at: at + size };
                    let end = (at + size).min(words.len());
                    if words[at..end].iter().any(|word| *word != 0) {
                        self.before = Some(self.items.clone());
                        self.items[item][at..end].fill(0);
                        return true;
                    }
                }
            }
        }
    }
}

impl<T: Debug, F: Fn(&[Vec<u32>]) -> T> ValueTree for DrawnTree<F> {
    type Value = T;

    fn current(&self) -> T {
        (self.make)(&self.items)
    }

    fn simplify(&mut self) -> bool {
        // The candidate failed too, so it is the new value; items after removed ones are next.
        self.before = None;
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        let Some(before) = self.before.take() else { return false };
        self.items = before;
        if let Cursor::Remove { size, at } = self.cursor {
            self.cursor = Cursor::Remove { size, at: at + size };
        }
        self.advance()
    }
}
