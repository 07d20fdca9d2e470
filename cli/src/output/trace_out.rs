//! `--trace-out FILE`: spans of packets in the Chrome trace event format, plain or gzip.

use crate::console::fail::Failure;
use crate::console::numbers::number;
use crate::output::files::Pending;
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use sluice_fabric::network::Way;
use sluice_fabric::spans::{SpanRequest, TraceFacts, TraceRun, write_chrome_trace};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Flags of traces for viewers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Traces for viewers")]
pub(crate) struct TraceOutArgs {
    /// Write packets through parsers, stages, queues, links and hosts for Perfetto (ui.perfetto.dev) or chrome://tracing: .json, or
    /// .json.gz. Times are simulated
    #[arg(long, value_name = "FILE", value_parser = trace_file)]
    trace_out: Option<PathBuf>,
    /// Trace every Nth packet
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::<u64>(1..), requires = "trace_out")]
    trace_every: u64,
    /// Trace at most N packets, or N packets and N answers of a message; the file says how many it leaves out
    #[arg(long, value_name = "N", default_value = "10k", value_parser = number::<u64>(1..), requires = "trace_out")]
    trace_packets: u64,
}

fn trace_file(text: &str) -> Result<PathBuf, String> {
    match text.ends_with(".json") || text.ends_with(".json.gz") {
        true => Ok(PathBuf::from(text)),
        false => Err("expected a name that ends in .json or .json.gz".to_owned()),
    }
}

impl TraceOutArgs {
    /// Returns true if a trace is asked for.
    pub(crate) const fn wanted(&self) -> bool {
        self.trace_out.is_some()
    }

    /// Returns the packets to record, of this message if there is one; `None` if no trace is asked for.
    pub(crate) fn request(&self, message: Option<u32>) -> Option<SpanRequest> {
        self.trace_out.as_ref().map(|_| SpanRequest {
            every: self.trace_every,
            most: self.trace_packets,
            message,
        })
    }

    /// Writes the trace of these runs, if one is asked for.
    pub(crate) fn write(&self, runs: &[TraceRun<'_>], facts: &TraceFacts) -> Result<(), Failure> {
        let Some(path) = &self.trace_out else { return Ok(()) };
        let mut file = Pending::create(path)?;
        let written = match path.extension().is_some_and(|extension| extension == "gz") {
            true => {
                let mut packed = GzEncoder::new(BufWriter::new(file.writer()), Compression::default());
                write_chrome_trace(runs, facts, &mut packed).and_then(|()| packed.finish()?.flush())
            }
            false => {
                let mut plain = BufWriter::new(file.writer());
                write_chrome_trace(runs, facts, &mut plain).and_then(|()| plain.flush())
            }
        };
        written.map_err(|e| Failure::file("write", Path::new(path), &e))?;
        file.finish()
    }
}

/// Returns the name of a direction of a link.
pub(crate) fn direction(link: &str, way: Way) -> String {
    let arrow = if way == Way::Forth { "from its first end" } else { "from its second end" };
    format!("{link} {arrow}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_of_traces() {
        assert!(
            trace_file("a/t.json").is_ok() && trace_file("t.json.gz").is_ok() && trace_file("t.gz").is_err()
        );
    }
}
