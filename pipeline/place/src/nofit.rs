//! Why a program does not fit a chip.

use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A per-stage resource.
    Column(Column),
    /// Stages: a chain of dependencies is longer than the pipe.
    Stages,
    /// What carries outcomes over stages.
    LongBranches,
    /// Containers.
    Phv,
    /// Parser states or extractors.
    Parser,
    /// Deparser entries.
    Deparser,
}

impl Resource {
    /// Name in sentences and machine-readable reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Resource::Column(column) => column.id(),
            Resource::Stages => "stages",
            Resource::LongBranches => "long_branches",
            Resource::Phv => "phv",
            Resource::Parser => "parser",
            Resource::Deparser => "deparser",
        }
    }
}

/// Where something ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a stage.
    Stage(u8),
    /// In one gress, over all stages.
    Gress(Gress),
    /// In the whole pipe, both gresses together.
    Pipe,
}

/// The resource that ran out first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// What.
    pub resource: Resource,
    /// Where.
    pub place: Place,
    /// The tables and conditions that contend for it, the one without a place first.
    pub contenders: Vec<String>,
}

/// A program does not fit a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFit {
    /// The program's name.
    pub program: String,
    /// The chip's name.
    pub chip: String,
    /// Everything found, errors first; at least one.
    pub diags: Vec<Diag>,
    /// The resource that ran out first, if it is one that runs out.
    pub first_exhausted: Option<Exhausted>,
}

impl NoFit {
    /// The reason in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let first = self.diags.first().map_or("no place found", |d| d.text.as_str());
        let text = match &self.first_exhausted {
            None => first.to_owned(),
            Some(Exhausted { resource, place, contenders }) => {
                let who = contenders.first().map_or_else(String::new, |c| format!(" for `{c}`"));
                match place {
                    Place::Stage(stage) => {
                        format!("{first} (first short of {} in stage {stage}{who})", resource.id())
                    }
                    Place::Pipe => format!("{first} (short of {}{who})", resource.id()),
                    Place::Gress(gress) => format!("{first} (short of {} in {gress}{who})", resource.id()),
                }
            }
        };
        text.replace('\n', " ")
    }
}

impl std::fmt::Display for NoFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` does not fit {}: {}", self.program, self.chip, self.reason())
    }
}

impl std::error::Error for NoFit {}
