//! The answer as text.

use super::{Binding, Change, Ended, MAX_PLACEMENTS, RelaxedValue, Resize, Trial, WhyNot};
use crate::remedies::Remedy;
use sluice_asic::limits;
use sluice_ir::MatchKind;
use std::fmt::Write;

pub(super) const fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
    }
}

fn less(from: u64, to: u64) -> String {
    format!("from {from}, {:.1} % less", from.saturating_sub(to) as f64 / from.max(1) as f64 * 100.0)
}

impl Change {
    /// Returns the change in words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Change::Unpin { table, stage } => format!("table `{table}` without its pin to stage {stage}"),
            Change::Kind { table, field, from, to, proven } => {
                let (from, to) = (kind_name(*from), kind_name(*to));
                let note = match proven {
                    true => "all constant entries allow it",
                    false => "entries at run time must allow it",
                };
                format!("table `{table}` matches `{field}` {to} instead of {from}; {note}")
            }
            Change::Alpm { table, partitions } => {
                format!("table `{table}` as an ALPM: prefixes in {partitions} partitions of SRAM")
            }
            Change::Split { table, sizes: (first, second) } => format!(
                "table `{table}` divided into two of {first} and {second} entries; the second is applied if the first misses"
            ),
            Change::Size { table, size: Resize { from, to } } => {
                format!("table `{table}` with size = {to} ({})", less((*from).into(), (*to).into()))
            }
            Change::DropKey { table, field, bits } => {
                format!("table `{table}` without its key `{field}` of {bits} bits")
            }
            Change::DropParam { action, param, bits } => {
                format!("action `{action}` without its parameter `{param}` of {bits} bits")
            }
            Change::Remedy(Remedy::Lower { key, from, to }) => {
                format!("--set {key}={to} ({})", less(*from, *to))
            }
            Change::Remedy(Remedy::Chip { chip }) => format!("--chip {chip}"),
        }
    }
}

impl Binding {
    fn text(&self, n: usize) -> String {
        let mut out = format!("  {n}. {}: {}\n", self.resource, self.reason);
        let value = |v: &RelaxedValue| format!("{} = {} (the chip has {})", v.key, v.value, v.chip);
        let values: Vec<String> = self.relaxed.iter().map(value).collect();
        let _ = match values.is_empty() {
            true => writeln!(out, "     no chip file with other numbers was found that lifts it"),
            false => writeln!(out, "     lifted by a chip file with {}", values.join(", ")),
        };
        out
    }
}

impl WhyNot {
    /// Returns the smallest change found that makes the program fit, in words.
    #[must_use]
    pub fn answer(&self) -> String {
        match (self.smallest(), self.ended) {
            (Some(change), _) => format!("the smallest change found that makes it fit: {}", change.text()),
            (None, Ended::Complete) => "no single change that was tried makes it fit".to_owned(),
            (None, _) => "no single change makes it fit of those tried before the search ended".to_owned(),
        }
    }

    /// Returns what was found on the way to the [answer](Self::answer).
    #[must_use]
    pub fn text(&self) -> String {
        let mut out =
            String::from("\nWhat keeps it from fitting, in the order in which placement meets it\n");
        for (i, binding) in self.bindings.iter().enumerate() {
            out += &binding.text(i + 1);
        }
        if self.fits_relaxed {
            let _ = writeln!(out, "  With all of these lifted, it fits.");
        }
        let _ = writeln!(out, "\nTried, each alone ({} placements in all)", self.placements);
        for Trial { change, fits, .. } in &self.tried {
            let outcome = if *fits { "fits" } else { "does not fit" };
            let _ = writeln!(out, "  {outcome:12}  {}", change.text());
        }
        let _ = match self.ended {
            Ended::Complete => Ok(()),
            Ended::Stopped => writeln!(out, "  The search was stopped before everything was tried."),
            Ended::Placements => {
                writeln!(out, "  {MAX_PLACEMENTS} placements were done before everything was tried.")
            }
            Ended::Steps => writeln!(
                out,
                "  A placement took all of its steps before everything was tried; {}.",
                limits::PLACING_STEPS.advice()
            ),
        };
        out
    }

    /// Returns the parameters and chips, of those tried, that make it fit: the largest value of each parameter.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        let mut list: Vec<Remedy> = Vec::new();
        for trial in self.tried.iter().filter(|t| t.reason.is_none()) {
            let Change::Remedy(remedy) = &trial.change else { continue };
            let same = |r: &&mut Remedy| match (&**r, remedy) {
                (Remedy::Lower { key: a, .. }, Remedy::Lower { key: b, .. }) => a == b,
                (a, b) => a == b,
            };
            match list.iter_mut().find(same) {
                Some(known) if remedy.loss() < known.loss() => *known = remedy.clone(),
                Some(_) => {}
                None => list.push(remedy.clone()),
            }
        }
        list.sort_by(|a, b| a.loss().total_cmp(&b.loss()));
        list
    }
}
