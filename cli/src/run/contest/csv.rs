//! Messages as a table.

use sluice_fabric::contest::Performance;
use std::fmt::Write;

/// Every message that counts, of all programs.
pub(super) fn messages(all: &[Performance]) -> String {
    let mut text =
        "program,pair,from,to,udp_source_port,bytes,start_ps,end_ps,alone_ps,slowdown_thousandths,rate_cuts\n".to_owned();
    for performance in all {
        for sent in &performance.sent {
            let (done, message) = (&sent.completion, &sent.completion.message);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{}",
                performance.label,
                message.pair,
                sent.from,
                message.to,
                message.port,
                message.bytes,
                message.start.as_ps(),
                done.end.as_ps(),
                sent.alone.as_ps(),
                sent.slowdown(),
                done.cuts
            );
        }
    }
    text
}
