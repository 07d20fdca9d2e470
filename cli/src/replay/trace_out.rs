//! `--trace-out FILE`: spans of packets in the Chrome trace event format, plain or gzip.

use crate::fail::Failure;
use crate::files::Pending;
use crate::numbers::number;
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use sluice_fabric::network::{LinkId, Way};
use sluice_replay::{Outcome, Process, SpanRequest, TraceFacts, write_chrome_trace};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Flags of traces for viewers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Traces for viewers")]
pub(crate) struct TraceOutArgs {
    /// Write packets through parsers, stages, queues and links for Perfetto (ui.perfetto.dev) or chrome://tracing: .json, or
    /// .json.gz. Times are simulated
    #[arg(long, value_name = "FILE", value_parser = trace_file, conflicts_with_all = ["functional", "find_ndr"])]
    trace_out: Option<PathBuf>,
    /// Trace every Nth packet of the inputs
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::<u64>(1..), requires = "trace_out")]
    trace_every: u64,
    /// Trace at most N packets; the file says how many it leaves out
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
    /// Returns the packets to record; `None` if no trace is asked for.
    pub(super) fn request(&self) -> Option<SpanRequest> {
        self.trace_out.as_ref().map(|_| SpanRequest { every: self.trace_every, most: self.trace_packets })
    }

    /// Writes the trace of these switches, if one is asked for.
    pub(super) fn write(
        &self,
        switches: &[(&str, &Outcome<'_>)],
        link_name: &dyn Fn(LinkId, Way) -> String,
        facts: &TraceFacts,
    ) -> Result<(), Failure> {
        let Some(path) = &self.trace_out else { return Ok(()) };
        let mut file = Pending::create(path)?;
        let written = match path.extension().is_some_and(|extension| extension == "gz") {
            true => {
                let mut packed = GzEncoder::new(BufWriter::new(file.writer()), Compression::default());
                write(switches, link_name, facts, &mut packed).and_then(|()| packed.finish()?.flush())
            }
            false => {
                let mut plain = BufWriter::new(file.writer());
                write(switches, link_name, facts, &mut plain).and_then(|()| plain.flush())
            }
        };
        written.map_err(|e| Failure::file("write", Path::new(path), &e))?;
        file.finish()
    }
}

fn write(
    switches: &[(&str, &Outcome<'_>)],
    link_name: &dyn Fn(LinkId, Way) -> String,
    facts: &TraceFacts,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let names: Vec<_> =
        switches.iter().map(|(_, outcome)| |dev_port: u16| outcome.port_name(dev_port)).collect();
    let recorded = switches.iter().zip(&names).filter_map(|((name, outcome), port)| {
        Some(Process { name: (*name).to_owned(), spans: outcome.spans.as_ref()?, port })
    });
    write_chrome_trace(&recorded.collect::<Vec<_>>(), link_name, facts, out)
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
