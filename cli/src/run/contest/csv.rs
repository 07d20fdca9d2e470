//! Messages as a table.

use crate::console::fail::Failure;
use crate::output::rows::CsvText;
use sluice_scenario::contest::Results;

/// Returns a row for each message after the warm-up, of all programs and seeds.
pub(super) fn messages(results: &Results) -> Result<String, Failure> {
    let mut table = CsvText::new(&[
        "program",
        "seed",
        "pair",
        "from",
        "to",
        "udp_source_port",
        "bytes",
        "start_ps",
        "end_ps",
        "alone_ps",
        "slowdown_thousandths",
        "rate_cuts",
    ])?;
    for series in &results.series {
        for (seed, run) in results.seeds.iter().zip(&series.runs) {
            for sent in &run.sent {
                let (done, message) = (&sent.completion, &sent.completion.message);
                table.row(&[
                    &series.label,
                    seed,
                    &message.pair,
                    &sent.from,
                    &message.to,
                    &message.port,
                    &message.bytes,
                    &message.start.as_ps(),
                    &done.end.as_ps(),
                    &sent.alone(run.slowdown).as_ps(),
                    &sent.slowdown(run.slowdown),
                    &done.cuts,
                ])?;
            }
        }
    }
    table.finish()
}
