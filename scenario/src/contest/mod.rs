//! Contests: programs that carry the same messages of RDMA hosts in closed loop through the same network, and how long
//! messages take with each.
//!
//! [`Contest`] is a file's form, [`run_contest`] runs it, [`Performance`] is what a program did, [`checks`] what the file
//! expects of that.

mod file;
mod performance;
mod run;
mod workload;

pub use file::{AloneName, ClassSetting, Contest, ContestError, Contestant, HostsSetting, WorkloadSetting};
pub use performance::{Performance, Sent, Sizes, Slowdowns};
pub use run::{ContestProgress, ContestSetup, RunError, run_contest};
pub use workload::{Station, messages, sizes};

use crate::{Check, Outcome};
use performance::FigureTable;

/// Whether what a contest expects has come.
#[must_use]
pub fn checks(contest: &Contest, all: &[Performance]) -> Outcome {
    let numbers = FigureTable::of(all);
    let mut outcome = Outcome {
        id: contest.id.clone(),
        source: contest.source.clone(),
        title: contest.name.clone(),
        origin: contest.origin.clone(),
        profile: contest.buffer.clone().unwrap_or_default(),
        checks: Vec::new(),
        points: Vec::new(),
        error: None,
        not_applicable: None,
    };
    for expect in &contest.expect {
        let (line, expr) = (contest.line(expect.span().start), expect.get_ref());
        match expr.value(&numbers) {
            Err(why) => outcome.error = outcome.error.or(Some(format!("line {line}: {why}"))),
            Ok(value) => outcome.checks.push(Check {
                case: String::new(),
                line,
                what: expr.to_string(),
                expected: "not 0".into(),
                actual: actual(expr, value, &numbers),
                unit: "",
                passed: value != 0,
            }),
        }
    }
    outcome
}

/// The value, and those of the names in the expression.
fn actual(expr: &crate::expr::Expr, value: i128, numbers: &FigureTable) -> String {
    use crate::expr::Scope;
    let names = expr.names();
    let known = names.iter().filter_map(|name| Some(format!("{name} {}", numbers.name(name).ok()?)));
    format!("{value}: {}", known.collect::<Vec<_>>().join(", "))
}
