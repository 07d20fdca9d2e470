//! Why a program does not fit, and the smallest change found that makes it fit.
//!
//! Two searches, both by placing, never by estimate:
//!
//! 1. **Constraints in order** ([`Binding`]). The constraint that the placer met first is relaxed: the chip gets more of that
//!    resource, as a chip file could give it. The program is placed again, and what it is short of next is the next
//!    constraint.
//! 2. **Changes** ([`Change`]). Changes of the program, each alone, are placed on the real chip. Of those that fit, the
//!    smallest counts: first changes that lose nothing, then the smallest share of a size or parameter, then lost keys and
//!    values, then another chip.
//!
//! The result depends on the number of placements alone, not on time: a caller with a deadline gets a prefix of the same list.

mod change;
mod relax;
mod render;
#[cfg(test)]
mod tests;

pub use change::{Change, Resize};

use crate::remedies::{Remedy, TRIED_FIRST, remedies};
use relax::Relaxed;
use serde::Serialize;
use sluice_asic::chip::ChipSpec;
use sluice_ir::verify::{has_errors, verify};
use sluice_ir::{Program, Table};
use sluice_place::{NoFit, Options, place_with};

/// Most placements of one search.
pub const MAX_PLACEMENTS: usize = 100;
/// Most constraints that are listed.
const MAX_BINDINGS: usize = 5;
/// Most tables that are changed.
const MAX_TABLES: usize = 6;

/// A constraint that keeps a program from fitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// Resource or number of the chip: `tcam`, `phv`, `deparser.checksum_units`; `rule` for a rule without a number.
    pub resource: String,
    /// The placer's reason, in one line.
    pub reason: String,
    /// Values of a chip file without this constraint; empty if none helped.
    pub relaxed: Vec<RelaxedValue>,
}

/// A value of a chip file that relaxes a constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RelaxedValue {
    /// Key of the chip file.
    pub key: String,
    /// The chip's own value.
    pub chip: String,
    /// The value that relaxes.
    pub value: String,
}

/// A change that was placed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The change.
    pub change: Change,
    /// True if the changed program fits.
    pub fits: bool,
    /// The reason why the changed program does not fit; `None` if it fits.
    pub reason: Option<String>,
}

/// Reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Every change was tried.
    Complete,
    /// The caller stopped it.
    Stopped,
    /// [`MAX_PLACEMENTS`] were done.
    Placements,
    /// The budget of a placement ended before the placement did.
    Steps,
}

/// Answer to the question why a program does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyNot {
    /// Name of the program.
    #[serde(skip)]
    pub program: String,
    /// Name of the chip.
    #[serde(skip)]
    pub chip: String,
    /// Constraints in the order in which they bind, at most five.
    #[serde(rename = "constraints")]
    pub bindings: Vec<Binding>,
    /// True if the program fits a chip without these constraints.
    pub fits_relaxed: bool,
    /// The smallest change found after which the program fits; of equals, the first tried.
    smallest: Option<Change>,
    /// All changes tried, in order.
    pub tried: Vec<Trial>,
    /// Placements done.
    pub placements: usize,
    /// Reason why the search ended.
    pub ended: Ended,
}

impl WhyNot {
    /// Returns the smallest change found after which the program fits.
    #[must_use]
    pub const fn smallest(&self) -> Option<&Change> {
        self.smallest.as_ref()
    }
}

/// The program, its chip and options of placement, and other chips to try.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The program.
    pub program: &'a Program,
    /// The chip that it does not fit.
    pub chip: &'a ChipSpec,
    /// Options of placement.
    pub options: &'a Options,
    /// Other chips.
    pub chips: &'a [ChipSpec],
}

/// Answers why a program does not fit; `None` if it fits. `rebuild` builds the program with another value of a parameter, and
/// returns `None` if the program refuses the value. `proceed` is called before each placement with the number of placements so far
/// and the most that there may be in all, and returns false if the caller stops the search.
pub fn why_not(
    question: &Question<'_>,
    rebuild: &mut dyn FnMut(&str, u64) -> Option<Program>,
    proceed: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<WhyNot> {
    let mut search = Search { question, proceed, placements: 0, most: MAX_PLACEMENTS, tried: Vec::new() };
    let mut answer = WhyNot {
        program: question.program.name.clone(),
        chip: question.chip.name.clone(),
        bindings: Vec::new(),
        fits_relaxed: false,
        smallest: None,
        tried: Vec::new(),
        placements: 0,
        ended: Ended::Complete,
    };
    let first = match search.place(question.program, question.chip) {
        Ok(Ok(())) => return None,
        Ok(Err(no_fit)) => Some(no_fit),
        Err(ended) => {
            answer.ended = ended;
            None
        }
    };
    if let Some(no_fit) = first {
        let mut wanted = contenders(question.program, &no_fit);
        let done =
            search.bindings(no_fit, &mut answer, &mut wanted).and_then(|()| search.changes(&wanted, rebuild));
        answer.ended = done.err().unwrap_or(Ended::Complete);
    }
    (answer.tried, answer.placements) = (search.tried, search.placements);
    let fit = answer.tried.iter().filter(|trial| trial.fits).map(|trial| &trial.change);
    answer.smallest = fit.reduce(|best, next| if next.cost() < best.cost() { next } else { best }).cloned();
    Some(answer)
}

/// Returns the tables that compete for the resource that ran out, the one without a place first.
fn contenders(program: &Program, no_fit: &NoFit) -> Vec<Table> {
    let names = no_fit.first_exhausted.iter().flat_map(|e| &e.contenders);
    names.filter_map(|name| program.table_named(name)).collect()
}

struct Search<'a, 'p> {
    question: &'a Question<'a>,
    proceed: &'p mut dyn FnMut(usize, usize) -> bool,
    placements: usize,
    /// The most placements that there may be in all, as far as is known.
    most: usize,
    tried: Vec<Trial>,
}

impl Search<'_, '_> {
    /// Places a program on a chip, if placements are left and the caller proceeds.
    fn place(&mut self, program: &Program, chip: &ChipSpec) -> Result<Result<(), Box<NoFit>>, Ended> {
        if self.placements == MAX_PLACEMENTS {
            return Err(Ended::Placements);
        }
        if !(self.proceed)(self.placements, self.most) {
            return Err(Ended::Stopped);
        }
        self.placements += 1;
        match place_with(program, chip, self.question.options) {
            Ok(_) => Ok(Ok(())),
            // Other placements of much the same program would take as long.
            Err(no_fit) if no_fit.is_unfinished() => Err(Ended::Steps),
            Err(no_fit) => Ok(Err(Box::new(no_fit))),
        }
    }

    /// Finds the constraints in order, and the tables that compete for each.
    fn bindings(
        &mut self,
        first: Box<NoFit>,
        answer: &mut WhyNot,
        wanted: &mut Vec<Table>,
    ) -> Result<(), Ended> {
        let program = self.question.program;
        let mut relaxed = Relaxed::new(self.question.chip);
        let mut no_fit = first;
        while answer.bindings.len() < MAX_BINDINGS {
            wanted.extend(contenders(program, &no_fit));
            let constraint = relax::constraint(&no_fit);
            let mut binding =
                Binding { resource: constraint.name(), reason: no_fit.reason(), relaxed: Vec::new() };
            let mut next = None;
            for step in 0..relax::STEPS {
                let Some(chip) = relaxed.without(&constraint, step) else { break };
                match self.place(program, &chip) {
                    Ok(Ok(())) => {
                        binding.relaxed = relaxed.accept();
                        answer.bindings.push(binding);
                        answer.fits_relaxed = true;
                        return Ok(());
                    }
                    Ok(Err(other)) if relax::constraint(&other) != constraint => {
                        binding.relaxed = relaxed.accept();
                        next = Some(other);
                        break;
                    }
                    Ok(Err(_)) => {}
                    Err(ended) => {
                        answer.bindings.push(binding);
                        return Err(ended);
                    }
                }
            }
            answer.bindings.push(binding);
            match next {
                Some(other) => no_fit = other,
                None => break,
            }
        }
        Ok(())
    }

    /// Tries a change of the program; returns whether it fits, or `None` if the program does not allow the change.
    fn attempt(&mut self, change: Change) -> Result<Option<bool>, Ended> {
        // Tables may share an action, whose parameters are changed once.
        if let Some(trial) = self.tried.iter().find(|trial| trial.change == change) {
            return Ok(Some(trial.fits));
        }
        let Some(program) = change.apply(self.question.program) else { return Ok(None) };
        if has_errors(&verify(&program)) {
            return Ok(None);
        }
        let fits = self.judge(change, &program, self.question.chip)?;
        Ok(Some(fits))
    }

    fn judge(&mut self, change: Change, program: &Program, chip: &ChipSpec) -> Result<bool, Ended> {
        let placed = self.place(program, chip)?;
        let reason = placed.err().map(|no_fit| no_fit.reason());
        let fits = reason.is_none();
        self.tried.push(Trial { change, fits, reason });
        Ok(fits)
    }

    /// Tries all changes: first those that lose nothing, then sizes, keys and values, then parameters and chips.
    fn changes(
        &mut self,
        wanted: &[Table],
        rebuild: &mut dyn FnMut(&str, u64) -> Option<Program>,
    ) -> Result<(), Ended> {
        let program = self.question.program;
        let mut tables: Vec<Table> = Vec::new();
        let mut others: Vec<Table> = program.tables.keys().collect();
        others.sort_by_key(|t| std::cmp::Reverse(program.tables[*t].size));
        for &table in wanted.iter().chain(&others) {
            if !tables.contains(&table) && tables.len() < MAX_TABLES {
                tables.push(table);
            }
        }
        self.most = MAX_PLACEMENTS.min(self.placements + self.planned(&tables));
        for change in change::pins(program) {
            self.attempt(change)?;
        }
        for &table in &tables {
            for change in change::kinds(program, table) {
                self.attempt(change)?;
            }
        }
        for &table in &tables {
            self.size(table)?;
        }
        for &table in &tables {
            for change in change::losses(program, table) {
                self.attempt(change)?;
            }
        }
        self.remedies(rebuild)
    }

    /// Returns the most placements that the changes of these tables, the parameters and the other chips take.
    fn planned(&self, tables: &[Table]) -> usize {
        let Question { program, chips, .. } = *self.question;
        let of_table = |&table: &Table| {
            let steps = program.tables[table].size.div_ceil(self.step(table));
            let halvings = 1 + steps.checked_ilog2().map_or(0, |n| n as usize + 1);
            change::kinds(program, table).len() + halvings + change::losses(program, table).len()
        };
        let values = program.params.iter().filter_map(|param| param.value.parse::<u64>().ok());
        let of_values =
            values.map(|value| TRIED_FIRST.len() + value.checked_ilog2().map_or(0, |n| n as usize + 1));
        change::pins(program).len()
            + tables.iter().map(of_table).sum::<usize>()
            + of_values.sum::<usize>()
            + chips.len()
    }

    /// Returns the step of a table's size: a TCAM block if the size is at least eight of them.
    fn step(&self, table: Table) -> u32 {
        let depth = self.question.chip.mau.tcam_depth.max(1);
        if self.question.program.tables[table].size / 8 >= depth { depth } else { 1 }
    }

    /// Finds the largest size of a table that fits, in steps.
    fn size(&mut self, table: Table) -> Result<(), Ended> {
        let data = &self.question.program.tables[table];
        let (from, least) = (data.size, (data.entries.len() as u32).max(1));
        let step = self.step(table);
        let change = |to| Change::Size { table: data.name.clone(), size: Resize { from, to } };
        if least >= from || self.attempt(change(least))? != Some(true) {
            return Ok(());
        }
        let (mut good, mut bad) = (least / step, from.div_ceil(step));
        while bad > good + 1 {
            let middle = good + (bad - good) / 2;
            match self.attempt(change(middle * step))? {
                Some(true) => good = middle,
                _ => bad = middle,
            }
        }
        Ok(())
    }

    /// Lowers parameters and tries other chips.
    fn remedies(&mut self, rebuild: &mut dyn FnMut(&str, u64) -> Option<Program>) -> Result<(), Ended> {
        let Question { program, chip, chips, .. } = *self.question;
        let names: Vec<&str> = chips.iter().map(|c| c.name.as_str()).collect();
        let found = remedies(program, &names, &mut |remedy| match remedy {
            Remedy::Lower { key, to, .. } => match rebuild(key, *to) {
                Some(lowered) => self.judge(Change::Remedy(remedy.clone()), &lowered, chip),
                None => Ok(false),
            },
            Remedy::Chip { chip } => match chips.iter().find(|c| c.name == *chip) {
                Some(other) => self.judge(Change::Remedy(remedy.clone()), program, other),
                None => Ok(false),
            },
        });
        found.map(|_| ())
    }
}
