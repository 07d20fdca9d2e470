//! Reasons why a program does not fit a chip.

use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;

/// Resource that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Resource of a stage.
    Column(Column),
    /// Stages: a chain of dependencies is longer than the pipe.
    Stages,
    /// Carriers of outcomes over stages.
    LongBranches,
    /// PHV containers.
    Phv,
    /// Parser rows, states or extractors.
    Parser,
    /// Deparser entries.
    Deparser,
    /// Steps of the placement itself: whether the program fits is not known.
    Steps,
}

impl Resource {
    /// Returns the name in sentences and machine-readable reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Resource::Column(column) => column.id(),
            Resource::Stages => "stages",
            Resource::LongBranches => "long_branches",
            Resource::Phv => "phv",
            Resource::Parser => "parser",
            Resource::Deparser => "deparser",
            Resource::Steps => "steps",
        }
    }
}

/// Place where a resource ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortIn {
    /// One stage.
    Stage(u8),
    /// One gress, over all stages.
    Gress(Gress),
    /// The whole pipe, both gresses together.
    Pipe,
}

/// Resource that ran out first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// Resource.
    pub resource: Resource,
    /// Place.
    pub place: ShortIn,
    /// Tables and conditions that compete for it; the one without a place is first.
    pub contenders: Vec<String>,
    /// Number of findings at the end of the list that follow from those before them.
    pub followers: usize,
}

/// Error: a program does not fit a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFit {
    /// Name of the program.
    pub program: String,
    /// Name of the chip.
    pub chip: String,
    /// Findings, errors first; at least one.
    pub diags: Vec<Diag>,
    /// Resource that ran out first; `None` if the reason is not a resource.
    pub first_exhausted: Option<Exhausted>,
}

impl NoFit {
    /// Returns true if the budget of the placement ended first: whether the program fits is not known.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.first_exhausted.as_ref().is_some_and(|e| e.resource == Resource::Steps)
    }

    /// Returns the findings that are causes, and those that follow from them.
    #[must_use]
    pub fn causes(&self) -> (&[Diag], &[Diag]) {
        let followers = self.first_exhausted.as_ref().map_or(0, |first| first.followers);
        self.diags.split_at(self.diags.len().saturating_sub(followers))
    }

    /// Returns the reason in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let first = self.diags.first().map_or("no place found", |d| d.text.as_str());
        let text = match &self.first_exhausted {
            None | Some(Exhausted { resource: Resource::Steps, .. }) => first.to_owned(),
            Some(Exhausted { resource, place, contenders, .. }) => {
                let who = contenders.first().map_or_else(String::new, |c| format!(" for `{c}`"));
                match place {
                    ShortIn::Stage(stage) => {
                        format!("{first} (first short of {} in stage {stage}{who})", resource.id())
                    }
                    ShortIn::Pipe => format!("{first} (short of {}{who})", resource.id()),
                    ShortIn::Gress(gress) => format!("{first} (short of {} in {gress}{who})", resource.id()),
                }
            }
        };
        text.replace('\n', " ")
    }
}

impl std::fmt::Display for NoFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.is_unfinished() { "was not placed on" } else { "does not fit" };
        write!(f, "`{}` {verdict} {}: {}", self.program, self.chip, self.reason())
    }
}

impl std::error::Error for NoFit {}
