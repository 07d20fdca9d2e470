//! Contests: several programs carry the same messages of closed-loop RDMA hosts through the same network, and the times
//! that the messages take are compared.
//!
//! [`Contest`] is a contest file, [`run_contest`] runs it, [`Performance`] is the result of one program, and [`checks`]
//! compares the results with the file's expectations.

mod file;
mod flows;
mod performance;
mod run;
mod workload;

pub use file::{
    AloneName, CarrierName, ClassSetting, Contest, ContestError, Contestant, HostsSetting, WorkloadSetting,
};
pub use flows::{Flow, FlowList, FlowListError};
pub use performance::{Performance, Sent, Sizes, Slowdowns, Unfinished};
pub use run::{ContestProgress, ContestSetup, RunError, run_contest};
pub use workload::{Offered, Station, messages, offered, sizes};

use crate::{Check, Outcome};
use performance::FigureTable;

/// Evaluates the contest's expectations against the results of all programs.
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
                stated: false,
            }),
        }
    }
    outcome
}

/// Returns the value of the expression, followed by the value of each name in it.
fn actual(expr: &crate::expr::Expr, value: i128, numbers: &FigureTable) -> String {
    use crate::expr::Scope;
    let names = expr.names();
    let known = names.iter().filter_map(|name| Some(format!("{name} {}", numbers.name(name).ok()?)));
    format!("{value}: {}", known.collect::<Vec<_>>().join(", "))
}
