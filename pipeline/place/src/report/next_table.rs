//! Next tables in a report: the carriers of outcomes that are used in later stages.

use crate::{Carrier, Placement, node_name};
use serde::Serialize;
use sluice_asic::gress::Gress;
use sluice_ir::Program;

/// Next tables of a placed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextTables {
    /// Bits of a next-table code.
    pub code_bits: u32,
    /// True if a table may have several successors; false if next tables form a chain.
    pub parallel: bool,
    /// Long-branch tags in use.
    pub tags: u32,
    /// Outcomes that gateways test again.
    pub retested: u32,
    /// Outcomes on the next-table pointers.
    pub pointed: u32,
    /// Long-branch tags of the chip.
    pub tags_available: u32,
    /// Outcomes that cross stages in which no node runs on them.
    #[serde(rename = "long_branches")]
    pub branches: Vec<BranchReport>,
}

/// An outcome that is used in a later stage, with its carrier. One of `tag`, `pointer`, `relays` and `retested_in` is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BranchReport {
    /// Gress.
    pub gress: Gress,
    /// Node that passes the outcome on.
    pub from: String,
    /// Node that runs on the outcome.
    pub to: String,
    /// Stage of `from`.
    pub from_stage: u8,
    /// Stage of `to`.
    pub to_stage: u8,
    /// Long-branch tag.
    pub tag: Option<u8>,
    /// True if the next-table pointer is the carrier.
    pub pointer: bool,
    /// Logical ids of relays in the stages between.
    pub relays: Vec<u8>,
    /// Stage of the gateway that tests the condition again.
    pub retested_in: Option<u8>,
}

impl BranchReport {
    /// Names the carrier, in words.
    #[must_use]
    pub fn carrier(&self) -> String {
        if self.pointer {
            return "next-table pointer".to_owned();
        }
        match (self.tag, self.retested_in, self.relays.len()) {
            (Some(tag), ..) => format!("tag {tag}"),
            (None, Some(stage), _) => format!("tested again in stage {stage}"),
            (None, None, 1) => "1 relay".to_owned(),
            (None, None, count) => format!("{count} relays"),
        }
    }
}

impl NextTables {
    pub(super) fn of(program: &Program, placement: &Placement) -> NextTables {
        let mau = &placement.chip.mau;
        let branch = |b: &crate::LongBranch| BranchReport {
            gress: b.gress,
            from: node_name(program, &placement.gress(b.gress).cfg, b.from),
            to: node_name(program, &placement.gress(b.gress).cfg, b.to),
            from_stage: b.from_stage,
            to_stage: b.to_stage,
            tag: b.tag(),
            pointer: b.by == Carrier::Pointer,
            relays: if let Carrier::Relays(ids) = &b.by { ids.clone() } else { Vec::new() },
            retested_in: if let Carrier::Retest(r) = &b.by { Some(r.stage) } else { None },
        };
        let count = |of: &dyn Fn(&Carrier) -> bool| {
            placement.long_branches.iter().filter(|b| of(&b.by)).count() as u32
        };
        NextTables {
            code_bits: mau.next_table_bits,
            parallel: placement.chip.features.parallel_next_tables,
            retested: count(&|by| matches!(by, Carrier::Retest(_))),
            pointed: count(&|by| *by == Carrier::Pointer),
            tags: crate::next_table::tags(&placement.long_branches),
            tags_available: mau.long_branch_tags,
            branches: placement.long_branches.iter().map(branch).collect(),
        }
    }
}
