//! What lowering makes of a gress: its steps, and everything else that a pass needs.

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
    /// Does the accesses noted for these arrays.
    Settle(Vec<usize>),
    /// Counts for coverage what the conditions come to that the next gateway decides together.
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
        /// One for each action of the table.
        ran: Box<[Arm]>,
    },
    Action {
        code: ActionCode,
        action: Action,
        ran: Arm,
    },
}

/// One of nested conditions, and the predicates of those lanes in which it holds and in which it does not.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) gate: Gate,
    pub(super) holds: Option<usize>,
    pub(super) fails: Option<usize>,
}

impl Step {
    /// Outcomes that one packet can have. Of a table: each action, without a hit and with one.
    pub(super) fn outcomes(&self) -> usize {
        match self {
            Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_) | Step::Action { .. } => 1,
            Step::Gateway { .. } => 2,
            Step::Table { ran, .. } => 2 * ran.len(),
        }
    }

    /// The arms of an outcome of one packet.
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

    /// All arms.
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
    /// Each one's predicate: of the lanes that it is due in.
    pub(super) due: Vec<u16>,
    pub(super) tables: Vec<EngineTable>,
    pub(super) hashes: Vec<HashPlan>,
    pub(super) accesses: Vec<AccessPlan>,
    /// Arrays whose accesses are noted first.
    pub(super) noted: usize,
    /// Generators of random numbers with their widths; every pass takes a number of each.
    pub(super) randoms: Vec<(Random, u32)>,
    /// Accesses ask for the time of entry.
    pub(super) timed: bool,
    pub(super) deparser: DeparserCode,
    pub(super) preds: usize,
    /// The predicate that holds whatever runs.
    pub(super) every: usize,
    /// What runs where the control begins with the first predicate, and where it begins with the ghost's.
    pub(super) starts: [Wake; 2],
    /// Predicates whose lanes are counted, each with the number of its point; nothing unless coverage is asked for.
    pub(super) covered: Vec<(usize, u32)>,
    /// Points of the program; none unless coverage is asked for.
    pub(super) points: usize,
    /// The predicate that holds for the ghost control.
    pub(super) ghost: Option<usize>,
    pub(super) slots: usize,
    /// Intrinsic fields that the device fills.
    pub(super) inputs: Vec<(Intrinsic, FieldAt)>,
    /// Ingress: a packet without a port goes nowhere.
    pub(super) chooses_port: bool,
    pub(super) port: Option<FieldAt>,
    pub(super) qid: Option<FieldAt>,
    pub(super) cos: Option<FieldAt>,
    pub(super) bypass: Option<FieldAt>,
    pub(super) deflect: Option<FieldAt>,
    pub(super) colour: Option<FieldAt>,
    /// What the deparser makes beside packets.
    pub(super) requests: RequestCode,
    pub(super) port_metadata: PortCode,
    /// The program looks at parser errors itself.
    pub(super) sees_errors: bool,
}
