//! One pipe's own: entries, the PHVs that wait to be run, its recirculation line, generator, ghost thread and state.

use super::generator::Generator;
use super::ghost::Ghost;
use super::ingress::PendingPass;
use sluice_asic::entry::PipeEntry;
use sluice_asic::gress::Gress;
use sluice_asic::mac::MacTx;
use sluice_asic::tm::AfcFifo;
use sluice_asic::units::{Duration, Time};
use sluice_exec::pass::State;
use sluice_ir::Register;
use std::collections::{BTreeMap, VecDeque};

/// One pipe: its entries and the PHVs that entered and have not been run.
pub(super) struct PipeState {
    pub(super) entry: [PipeEntry; 2],
    pub(super) pending: [VecDeque<PendingPass>; 2],
    /// By when the first pending PHV of each gress must run: before anything can follow from it.
    pub(super) due: [Time; 2],
    /// The line that all recirculation ports share.
    pub(super) recirculation: MacTx,
    /// How long packets waited for that line.
    pub(super) crowd: Crowd,
    /// The packet generator, which has that line as well.
    pub(super) generator: Generator,
    /// Its ghost thread.
    pub(super) ghost: Ghost,
    /// Packets that each gress made.
    pub(super) copies: [u64; 2],
    /// Flow-control words sent.
    pub(super) words: u64,
    /// Those that reached queues of the pipe, as a driver sees them.
    pub(super) seen_words: AfcFifo,
    /// Port and queue of packets that would be dropped, if they ask for it.
    pub(super) deflection: Option<(u16, u8)>,
    /// Registers that are being cleared, and until when.
    pub(super) clearing: BTreeMap<Register, Time>,
    pub(super) state: State,
}

/// Waiting for the line of the recirculation ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    /// Since when the line has had no pause in which the shortest frame fits.
    busy_since: Time,
    /// The longest that a packet waited while it had none.
    pub(super) longest: Duration,
}

impl Crowd {
    /// An idle line.
    pub(super) fn new() -> Crowd {
        Crowd { busy_since: Time::ORIGIN, longest: Duration::ZERO }
    }

    /// A packet that was in its queue for `queued` and left egress at `exit` gets on the line, which takes no frame
    /// before `free_at` and `shortest` for a short one.
    pub(super) fn note(&mut self, exit: Time, free_at: Time, queued: Duration, shortest: Duration) {
        if exit > free_at + shortest {
            self.busy_since = exit;
        }
        let begin = exit.max(free_at);
        let waited = queued + begin.saturating_since(exit);
        // What a packet waited before, it waited for something else.
        self.longest = self.longest.max(waited.min(begin.saturating_since(self.busy_since)));
    }
}

impl PipeState {
    /// A PHV enters a gress; returns by when those that wait there must run.
    #[inline]
    pub(super) fn enter(&mut self, gress: Gress, window: Duration, pass: PendingPass) -> Time {
        let due = &mut self.due[gress.index()];
        *due = (*due).min(pass.entered + window);
        self.pending[gress.index()].push_back(pass);
        *due
    }

    /// When what entered a gress first and has not been run entered it.
    pub(super) fn front(&self, gress: Gress) -> Option<Time> {
        let packet = self.pending[gress.index()].front().map(|p| p.entered);
        let update = self.ghost.front().filter(|_| gress == Gress::Ingress).map(|(time, _)| time);
        [packet, update].into_iter().flatten().min()
    }

    /// What waits has changed.
    pub(super) fn refresh(&mut self, gress: Gress, window: Duration) {
        self.due[gress.index()] = self.front(gress).map_or(Time::MAX, |t| t + window);
    }
}

/// Constants of the timing model, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GressTiming {
    pub(super) mau: u64,
    pub(super) deparser: u64,
    pub(super) parser_fixed: u64,
    /// No pass is faster: the batch window.
    pub(super) window: Duration,
}
