//! Lowered code of a gress: its steps, and all other data of a pass.

use super::action::ActionCode;
use super::batch::Slot;
use super::deparser::DeparserCode;
use super::field::FieldAt;
use super::gateway::Gate;
use super::hash::HashPlan;
use super::parser::ParserCode;
use super::port::PortCode;
use super::register::AccessPlan;
use super::request::RequestCode;
use super::table::EngineTable;
use super::walk::{Arm, Wake};
use sluice_ir::{Action, Intrinsic, Random};
use smallvec::SmallVec;

/// One step of a gress.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Copies columns to their shadows at the entry of a stage.
    Snapshot(Vec<(Slot, Slot)>),
    /// Performs the accesses noted for these arrays.
    Settle(Vec<usize>),
    /// Counts for coverage the conditions that the next gateway decides together.
    Probe(Vec<Probe>),
    Gateway {
        gate: Gate,
        then: Arm,
        otherwise: Arm,
    },
    Table {
        table: usize,
        hit: Arm,
        miss: Arm,
        /// Outcome of each action of the table.
        ran: Box<[Arm]>,
    },
    Action {
        code: ActionCode,
        action: Action,
        ran: Arm,
    },
}

/// One of several nested conditions, with the predicates of the lanes in which it is true and false.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) gate: Gate,
    pub(super) holds: Option<usize>,
    pub(super) fails: Option<usize>,
}

impl Step {
    /// Returns the number of outcomes that one packet can have. For a table: each action, on a hit and on a miss.
    pub(super) fn outcomes(&self) -> usize {
        match self {
            Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_) | Step::Action { .. } => 1,
            Step::Gateway { .. } => 2,
            Step::Table { ran, .. } => 2 * ran.len(),
        }
    }

    /// Returns the arms of one outcome of one packet.
    pub(super) fn arms(&self, outcome: usize) -> SmallVec<[&Arm; 2]> {
        match self {
            Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_) => SmallVec::new(),
            Step::Action { ran, .. } => SmallVec::from_slice(&[ran]),
            Step::Gateway { then, otherwise, .. } => {
                SmallVec::from_slice(&[if outcome == 0 { then } else { otherwise }])
            }
            Step::Table { hit, miss, ran, .. } => {
                let found = if outcome % 2 == 1 { hit } else { miss };
                [found].into_iter().chain(ran.get(outcome / 2)).collect()
            }
        }
    }

    /// Returns all arms.
    pub(super) fn arms_mut(&mut self) -> Vec<&mut Arm> {
        match self {
            Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_) => Vec::new(),
            Step::Gateway { then, otherwise, .. } => vec![then, otherwise],
            Step::Table { hit, miss, ran, .. } => [hit, miss].into_iter().chain(ran).collect(),
            Step::Action { ran, .. } => vec![ran],
        }
    }
}

/// A lowered gress.
#[derive(Clone)]
pub(super) struct GressCode {
    pub(super) parser: ParserCode,
    /// Steps in order.
    pub(super) steps: Vec<Step>,
    /// Predicate of each step: the lanes in which it is due.
    pub(super) due: Vec<u16>,
    pub(super) tables: Vec<EngineTable>,
    pub(super) hashes: Vec<HashPlan>,
    pub(super) accesses: Vec<AccessPlan>,
    /// Arrays whose accesses are noted first.
    pub(super) noted: usize,
    /// Random number generators with their widths; every pass takes a number of each.
    pub(super) randoms: Vec<(Random, u32)>,
    /// True if accesses need the time of entry.
    pub(super) timed: bool,
    pub(super) deparser: DeparserCode,
    pub(super) preds: usize,
    /// Predicate that is always true.
    pub(super) every: usize,
    /// Steps that are due at the start of the control, and of the ghost control.
    pub(super) starts: [Wake; 2],
    /// Predicates whose lanes are counted, each with the number of its point; empty if coverage is not counted.
    pub(super) covered: Vec<(usize, u32)>,
    /// Number of points; 0 if coverage is not counted.
    pub(super) points: usize,
    /// Predicate that is true for the ghost control.
    pub(super) ghost: Option<usize>,
    pub(super) slots: usize,
    /// Intrinsic fields that the device sets.
    pub(super) inputs: Vec<(Intrinsic, FieldAt)>,
    /// Ingress: true if a packet without a port is dropped.
    pub(super) chooses_port: bool,
    pub(super) port: Option<FieldAt>,
    pub(super) qid: Option<FieldAt>,
    pub(super) cos: Option<FieldAt>,
    pub(super) bypass: Option<FieldAt>,
    pub(super) deflect: Option<FieldAt>,
    pub(super) colour: Option<FieldAt>,
    /// Requests of the deparser.
    pub(super) requests: RequestCode,
    pub(super) port_metadata: PortCode,
    /// True if the program handles parser errors itself.
    pub(super) sees_errors: bool,
}
