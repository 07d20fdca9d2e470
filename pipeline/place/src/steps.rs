//! The budget of a placement: a count of its work, equal on every machine.
//!
//! Searches of a placement are bounded in their number of attempts, but an attempt compares nodes and fields with each other, so a
//! program of thousands of tables would take hours. Passes count what they look at, and return early, with any result, when
//! the budget is used up; the caller of the passes then reports the budget in place of that result.

use sluice_asic::limits;
use sluice_ir::Loc;
use sluice_ir::verify::Diag;
use std::cell::{Cell, RefCell};

/// Steps of one placement, and how far it came.
#[derive(Debug)]
pub(crate) struct Steps {
    left: Cell<u64>,
    limit: u64,
    reached: RefCell<Reached>,
}

/// The furthest state that the searches of a placement reached.
#[derive(Debug, Default)]
struct Reached {
    /// Allocations of the PHV that were tried.
    allocations: usize,
    /// Schedules that were begun.
    schedules: usize,
    /// Most nodes with a place in one schedule.
    placed: usize,
    /// Stages that this schedule used.
    stages: usize,
    /// Node at which this schedule ended, with its place in the text.
    at: Option<(String, Loc)>,
}

impl Steps {
    /// Returns a budget of so many steps.
    pub(crate) fn new(limit: u64) -> Steps {
        Steps { left: Cell::new(limit), limit, reached: RefCell::default() }
    }

    /// Uses steps; returns false if the budget has none left after them.
    pub(crate) fn take(&self, steps: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(steps as u64));
        !self.are_over()
    }

    /// Returns true if no step is left.
    pub(crate) fn are_over(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the finding that the budget ended in a pass, with how far the placement of so many nodes came. `first` is the place of
    /// the first node.
    pub(crate) fn finding(&self, pass: &str, (nodes, first): (usize, Loc), stages: u32) -> Diag {
        let reached = self.reached.borrow();
        let (at, loc) = match &reached.at {
            Some((at, loc)) => (format!("; it ended at `{at}`"), *loc),
            None => (String::new(), first),
        };
        let far = match (reached.schedules, reached.allocations) {
            (0, tried) if pass == "phv" => {
                format!(
                    "no container is left for some fields, in each of the ways to share them so far: {tried}"
                )
            }
            (0, _) => format!("the program has {nodes} tables, actions and conditions"),
            (schedules, _) => format!(
                "the best schedule of {schedules} has a place for {} of {nodes} tables, actions and conditions, in {} of {stages} \
                 stages{at}",
                reached.placed, reached.stages
            ),
        };
        let text = format!("placing took all of its {} steps, in the pass `{pass}`: {far}", self.limit);
        let known = match reached.schedules > 0 && reached.placed >= nodes {
            true => "the program may fit, but the search for the best schedule did not end",
            false => "whether the program fits is not known",
        };
        let help = format!(
            "{}; {known}. Entries of one table in place of many tables or conditions take fewer steps",
            limits::PLACING_STEPS.advice()
        );
        Diag::error(loc, text).help(help)
    }

    /// Counts an allocation of the PHV.
    pub(crate) fn allocation(&self) {
        self.reached.borrow_mut().allocations += 1;
    }

    /// Counts a schedule, which placed so many nodes in so many stages and ended at a node.
    pub(crate) fn schedule(&self, placed: usize, stages: usize, at: Option<(&str, Loc)>) {
        let mut reached = self.reached.borrow_mut();
        reached.schedules += 1;
        if reached.schedules == 1 || placed > reached.placed {
            (reached.placed, reached.stages) = (placed, stages);
            reached.at = at.map(|(name, loc)| (name.to_owned(), loc));
        }
    }
}

impl Default for Steps {
    /// Returns a budget without an end.
    fn default() -> Steps {
        Steps::new(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_keeps_the_best_schedule() {
        let steps = Steps::new(10);
        assert!(steps.take(9) && !steps.are_over());
        assert!(!steps.take(5) && steps.are_over());
        let loc = |line| Loc { line, ..Loc::default() };
        steps.schedule(3, 2, Some(("a", loc(7))));
        steps.schedule(2, 4, Some(("b", loc(8))));
        let diag = steps.finding("tables", (5, loc(1)), 12);
        let text = "placing took all of its 10 steps, in the pass `tables`: the best schedule of 2 has a place for 3 of 5 tables, \
                    actions and conditions, in 2 of 12 stages; it ended at `a`";
        assert_eq!((diag.text.as_str(), diag.at.line), (text, 7));
    }
}
