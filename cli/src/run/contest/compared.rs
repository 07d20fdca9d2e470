//! A table of a page that sets every program of a contest beside the first one, seed by seed.

use super::amount::{count, times};
use maud::{Markup, html};
use sluice_scenario::contest::{Figure, Series};

/// A compared number: name, heading, how it is written, and the divisor of differences.
type Number = (&'static str, &'static str, fn(&Figure) -> String, f64);

/// Numbers that are compared.
const NUMBERS: [Number; 9] = [
    ("avg", "slowdown", times, 1000.0),
    ("p99", "slowdown at 99 %", times, 1000.0),
    ("small_p99", "slowdown of small messages at 99 %", times, 1000.0),
    ("large_p99", "slowdown of large messages at 99 %", times, 1000.0),
    ("fct_avg_ns", "completion time, ns", count, 1.0),
    ("goodput_mbps", "goodput, Mb/s", count, 1.0),
    ("marked", "marked packets", count, 1.0),
    ("pauses", "PFC frames", count, 1.0),
    ("resent", "packets sent again", count, 1.0),
];

/// Returns true if there are two programs or more.
pub(super) fn is_shown(all: &[Series]) -> bool {
    all.len() > 1
}

/// Returns the table. A program differs from the first one if the 95 % interval of the difference, taken seed by seed, is
/// without 0. One seed decides nothing.
pub(super) fn view(all: &[Series]) -> Markup {
    let [first, others @ ..] = all else { return html! {} };
    let all_messages = first.figures();
    let others: Vec<_> = others.iter().map(|series| (series, first.paired(series))).collect();
    html! {
        p.note {
            "Every program against " b { (first.label) } ", seed by seed. A number is lower or higher if the 95 % interval of the \
             difference is without 0; with one seed there is no interval, and so no verdict."
        }
        @for (series, paired) in &others {
            @if let Some((_, left_out)) = paired {
                p.note {
                    b { (series.label) } " against " b { (first.label) } ": " (left_out) " messages that one of them did not finish are \
                     left out; times and slowdowns are over the others."
                }
            }
        }
        div.wide { table {
            thead { tr {
                th.l { "program" } th.l { "number" } th { (first.label) } th { "program" } th { "difference, %" }
                th { "difference" } th.l { "verdict" }
            } }
            tbody {
                @for (series, paired) in &others {
                    @let [base, figures] = match paired {
                        Some((pair, _)) => pair.each_ref().map(Series::figures),
                        None => [all_messages.clone(), series.figures()],
                    };
                    @for (name, heading, write, divisor) in NUMBERS {
                        @if let Some(row) = row(base.get(name), figures.get(name), divisor) {
                            tr.muted[row.verdict == "same"] {
                                th.l { (series.label) } td.l { (heading) } td { (write(row.figures[0])) }
                                td { (write(row.figures[1])) }
                                td { (row.percent) } td { (row.difference) } td.l { (row.verdict) }
                            }
                        }
                    }
                }
            }
        } }
    }
}

struct Row<'f> {
    figures: [&'f Figure; 2],
    percent: String,
    difference: String,
    verdict: &'static str,
}

/// Compares a number of two programs; `None` if one of them lacks it, or if both are always 0.
fn row<'f>(a: Option<&'f Figure>, b: Option<&'f Figure>, divisor: f64) -> Option<Row<'f>> {
    let (a, b) = (a?, b?);
    if a.constant() == Some(0) && b.constant() == Some(0) {
        return None;
    }
    let difference = Figure(a.0.iter().zip(&b.0).map(|(a, b)| b - a).collect());
    let estimate = difference.estimate();
    let verdict = match (estimate.low() > 0.0, estimate.high() < 0.0) {
        _ if estimate.mean != 0.0 && difference.0.len() < 2 => "one seed",
        (true, _) => "higher",
        (_, true) => "lower",
        _ => "same",
    };
    let from = a.estimate().mean;
    let percent = if from == 0.0 { "-".to_owned() } else { format!("{:+.1}", 100.0 * estimate.mean / from) };
    Some(Row { figures: [a, b], percent, difference: written(&difference, divisor), verdict })
}

/// Returns the 95 % interval of a difference, or the difference itself if there is none.
fn written(difference: &Figure, divisor: f64) -> String {
    let estimate = difference.estimate();
    let decimals = if divisor > 1.0 { 3 } else { 1 };
    match (difference.constant(), estimate.half) {
        (None, Some(_)) => {
            format!("{:.decimals$} to {:.decimals$}", estimate.low() / divisor, estimate.high() / divisor)
        }
        _ => format!("{:.decimals$}", estimate.mean / divisor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_differ_if_the_interval_is_without_zero() {
        let compare = |a: &[i128], b: &[i128]| {
            let (a, b) = (Figure(a.to_vec()), Figure(b.to_vec()));
            row(Some(&a), Some(&b), 1.0).map(|row| (row.percent, row.difference, row.verdict))
        };
        // Differences -3, -2, -4, -3, -3: mean -3, half of the interval 2.776 * 0.7071 / sqrt(5) = 0.878.
        let lower = compare(&[13, 52, 94, 33, 73], &[10, 50, 90, 30, 70]);
        assert_eq!(lower, Some(("-5.7".to_owned(), "-3.9 to -2.1".to_owned(), "lower")));
        assert_eq!(compare(&[5], &[6]), Some(("+20.0".to_owned(), "1.0".to_owned(), "one seed")));
        assert_eq!(compare(&[0, 0], &[1, 3]).map(|row| (row.0, row.2)), Some(("-".to_owned(), "same")));
        assert_eq!(compare(&[0, 0], &[0, 0]), None);
        assert_eq!(written(&Figure(vec![-1_500]), 1_000.0), "-1.500");
        assert!(row(None, None, 1.0).is_none());
    }

    #[test]
    fn one_program_is_compared_with_nothing() {
        assert!(!is_shown(&[]) && view(&[]).0.is_empty());
    }
}
