//! Messages as a table.

use crate::fail::Failure;
use crate::rows::CsvText;
use sluice_scenario::contest::Performance;

/// Returns a row for each message after the warm-up, of all programs.
pub(super) fn messages(all: &[Performance]) -> Result<String, Failure> {
    let mut table = CsvText::new(&[
        "program",
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
    for performance in all {
        for sent in &performance.sent {
            let (done, message) = (&sent.completion, &sent.completion.message);
            table.row(&[
                &performance.label,
                &message.pair,
                &sent.from,
                &message.to,
                &message.port,
                &message.bytes,
                &message.start.as_ps(),
                &done.end.as_ps(),
                &sent.alone.as_ps(),
                &sent.slowdown(),
                &done.cuts,
            ])?;
        }
    }
    table.finish()
}
