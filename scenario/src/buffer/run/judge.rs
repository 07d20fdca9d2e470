//! Checks of expectations, and places of errors.

use super::outcome::Check;
use crate::buffer::file::step::{Expect, Tolerance};
use crate::buffer::numbers::metric;
use crate::buffer::numbers::names::StatedNumbers;
use crate::language::expr::Expr;

/// Prefixes an error with its line; an error of a nested step keeps the inner line.
pub(crate) fn at_line(line: usize, error: String) -> String {
    if error.starts_with("line ") { error } else { format!("line {line}: {error}") }
}

/// Checks an expectation in a line of a case; `value` evaluates expressions, `stated` knows only numbers of the file.
pub(crate) fn judge(
    expect: &Expect,
    line: usize,
    case: &str,
    value: &dyn Fn(&Expr) -> Result<i128, String>,
    stated: &StatedNumbers<'_>,
) -> Result<Check, String> {
    let actual = value(&expect.what)?;
    let mut wanted = Vec::new();
    let mut passed = true;
    if let Some(is) = &expect.is {
        let is = value(is)?;
        let slack = match &expect.within {
            None => 0,
            Some(Tolerance::Absolute(by)) => value(by)?,
            Some(Tolerance::Percent(by)) => is.abs() * i128::from(*by) / 100,
        };
        passed &= (actual - is).abs() <= slack;
        wanted.push(if slack == 0 { is.to_string() } else { format!("{is} +-{slack}") });
    }
    for (bound, word, least) in [(&expect.at_least, "at least", true), (&expect.at_most, "at most", false)] {
        if let Some(bound) = bound {
            let bound = value(bound)?;
            passed &= if least { actual >= bound } else { actual <= bound };
            wanted.push(format!("{word} {bound}"));
        }
    }
    if wanted.is_empty() {
        passed = actual != 0;
        wanted.push("not 0".to_owned());
    }
    Ok(Check {
        case: case.to_owned(),
        line,
        what: expect.what.to_string(),
        expected: wanted.join(", "),
        actual: actual.to_string(),
        unit: metric::unit(expect.what.head()),
        passed,
        stated: is_stated(expect, stated),
    })
}

/// Returns true if the expected value follows from numbers of the file alone. An expectation without a value is one of a
/// number that is not 0; a comparison of several numbers is not counted.
fn is_stated(expect: &Expect, stated: &StatedNumbers<'_>) -> bool {
    let slack = match &expect.within {
        Some(Tolerance::Absolute(by)) => Some(by),
        Some(Tolerance::Percent(_)) | None => None,
    };
    let mut bounds =
        [expect.is.as_ref(), slack, expect.at_least.as_ref(), expect.at_most.as_ref()].into_iter().flatten();
    match bounds.clone().next() {
        Some(_) => bounds.all(|bound| bound.value(stated).is_ok()),
        None => !expect.what.is_operation(),
    }
}
