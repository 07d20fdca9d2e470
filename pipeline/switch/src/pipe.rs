//! State of one pipe: pending PHVs, recirculation line, packet generator, ghost thread, registers and
//! counters.

use super::generator::Generator;
use super::ghost::Ghost;
use super::ingress::PendingPass;
use sluice_asic::entry::PipeEntry;
use sluice_asic::gress::Gress;
use sluice_asic::mac::MacTx;
use sluice_asic::tm::AfcFifo;
use sluice_asic::units::{Duration, Time};
use sluice_exec::pass::{Pass, State};
use sluice_ir::Register;
use std::collections::{BTreeMap, VecDeque};

/// One pipe.
pub(super) struct PipeState {
    pub(super) entry: [PipeEntry; 2],
    /// Per gress: PHVs that have not been run, in entry order, and their passes. The passes are apart, so that a batch of
    /// them runs where they are.
    pub(super) pending: [VecDeque<PendingPass>; 2],
    pub(super) passes: [VecDeque<Pass>; 2],
    /// Line that all recirculation ports share.
    pub(super) recirculation: MacTx,
    /// Waiting times of packets for that line.
    pub(super) crowd: Crowd,
    /// Packet generator, which shares that line.
    pub(super) generator: Generator,
    /// Its ghost thread.
    pub(super) ghost: Ghost,
    /// Packets that each gress made.
    pub(super) copies: [u64; 2],
    /// Flow-control words sent.
    pub(super) words: u64,
    /// Words that reached queues of the pipe, as a driver sees them.
    pub(super) seen_words: AfcFifo,
    /// Port and queue to which packets with `deflect_on_drop` are deflected.
    pub(super) deflection: Option<(u16, u8)>,
    /// Registers that are being cleared, with the end of the clear.
    pub(super) clearing: BTreeMap<Register, Time>,
    pub(super) state: Box<State>,
}

/// Waiting times for the line of the recirculation ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    /// Time since which the line had no gap for the shortest frame.
    busy_since: Time,
    /// Longest wait of a packet while the line was busy.
    pub(super) longest: Duration,
}

impl Crowd {
    /// Returns the state of an idle line.
    pub(super) fn new() -> Crowd {
        Crowd { busy_since: Time::ORIGIN, longest: Duration::ZERO }
    }

    /// Records a packet that was in its queue for `queued` and left egress at `exit`. The line takes no frame
    /// before `free_at`; `shortest` is the line time of the shortest frame.
    pub(super) fn note(&mut self, exit: Time, free_at: Time, queued: Duration, shortest: Duration) {
        if exit > free_at + shortest {
            self.busy_since = exit;
        }
        let begin = exit.max(free_at);
        let waited = queued + begin.saturating_since(exit);
        // Time that the packet waited before the line was busy had another cause.
        self.longest = self.longest.max(waited.min(begin.saturating_since(self.busy_since)));
    }
}

impl PipeState {
    /// Adds a PHV that enters a gress.
    #[inline]
    pub(super) fn enter(&mut self, gress: Gress, pending: PendingPass, pass: Pass) {
        self.pending[gress.index()].push_back(pending);
        self.passes[gress.index()].push_back(pass);
    }

    /// Returns the entry time of the first PHV that has not been run.
    pub(super) fn front(&self, gress: Gress) -> Option<Time> {
        let packet = self.pending[gress.index()].front().map(|p| p.entered);
        let update = self.ghost.front().filter(|_| gress == Gress::Ingress).map(|(time, _)| time);
        [packet, update].into_iter().flatten().min()
    }
}
