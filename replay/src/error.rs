//! Errors of a replay.

use sluice_exec::engine::LowerError;
use sluice_fabric::network::NetworkError;
use sluice_pcaps::capture::write::WriteError;
use sluice_pcaps::capture::{CaptureError, TruncatedTail};
use sluice_switch::{Held, SwitchError, Totals};
use std::fmt;
use thiserror::Error;

/// An error of the caller's code, for example of a [`RowSink`](crate::RowSink).
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Reason why a replay cannot start or fails.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be opened. [`CaptureError::help`] says how to fix it.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// An input is damaged. Packets before the damage were replayed; the captures written so far are incomplete.
    #[error(
        "{damage}; {}; {}",
        .damage.help(),
        .replayed.as_ref().map_or("no packet came before it".to_owned(), ToString::to_string)
    )]
    Damaged {
        /// The input, the place in it, and what is wrong.
        damage: CaptureError,
        /// Fates of the packets before the damage; `None` if there were none.
        replayed: Option<Fates>,
    },
    /// An input ends inside a record, and [`Options::strict`](crate::Options::strict) is set.
    #[error("{0}; copy the capture again, or replay without `strict`: then the records before the cut count")]
    CutOff(CutOff),
    /// An input can be read only once, and the replay needs to read it more often.
    #[error(
        "input `{input}` can be read only once, and {passes} reads inputs more than once; save it to a file first"
    )]
    ReadOnce {
        /// Name of the input.
        input: String,
        /// The reason for more than one pass.
        passes: Passes,
    },
    /// A rate search over inputs without packets.
    #[error("the inputs have no packets to search a rate with; give other captures")]
    NoPackets,
    /// The switch refuses its setup, an operation, or a packet.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// The network refuses its setup, an operation, or a packet.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The executor cannot run the program.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A capture cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The caller's sink of timeline rows failed.
    #[error("cannot store a row of the timeline: {0}")]
    Rows(BoxError),
    /// The stop flag was set during a rate search. A replay that is stopped is no error: see
    /// [`Outcome::interrupted`](crate::Outcome::interrupted).
    #[error("interrupted during a rate search, so there is no result")]
    Interrupted,
}

/// Reasons to read inputs more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// More than one turn of the inputs.
    Turns,
    /// A rate search.
    RateSearch,
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Passes::Turns => "more than one turn",
            Passes::RateSearch => "a rate search",
        })
    }
}

/// Fates of packets, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fates {
    /// Packets that entered the switch.
    pub received: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that the program consumed on purpose.
    pub absorbed: u64,
    /// Packets still inside.
    pub held: u64,
}

impl Fates {
    /// Returns the fates that a switch counted; `None` if no packet entered.
    pub(crate) fn of(totals: &Totals, held: &Held) -> Option<Fates> {
        let Totals { received, sent, dropped, absorbed, .. } = *totals;
        (received > 0).then(|| Fates { received, sent, dropped, absorbed, held: held.total() })
    }
}

impl fmt::Display for Fates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fates { received, sent, dropped, absorbed, held } = self;
        write!(
            f,
            "the {received} packets before it were replayed: {sent} out, {dropped} dropped, {absorbed} absorbed, {held} held"
        )
    }
}

/// A capture that ends inside a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// Name of the input.
    pub input: String,
    /// Place of the cut.
    pub tail: TruncatedTail,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TruncatedTail { record, offset, found, needed } = self.tail;
        write!(
            f,
            "{}: ends inside record {record} at byte {offset}: {found} of at least {needed} bytes are there",
            self.input
        )
    }
}
