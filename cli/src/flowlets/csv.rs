//! Tables as CSV, with a header line; times are in ps.

use super::Trial;
use crate::console::fail::Failure;
use crate::output::rows::CsvText;
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::census::Report;
use sluice_fabric::flowlets::elastic::Settled;

pub(super) fn census(report: &Report) -> Result<String, Failure> {
    let mut table = CsvText::new(&[
        "timeout_ps",
        "flowlets",
        "packets_mean",
        "packets_median",
        "packets_p99",
        "packets_max",
        "bytes_mean",
        "bytes_median",
        "bytes_p99",
        "bytes_max",
        "duration_mean_ps",
        "alive_mean",
    ])?;
    for r in &report.rows {
        let (p, b) = (r.packets, r.bytes);
        table.row(&[
            &r.timeout_ps,
            &r.flowlets,
            &format_args!("{:.3}", p.mean),
            &p.median,
            &p.p99,
            &p.max,
            &format_args!("{:.1}", b.mean),
            &b.median,
            &b.p99,
            &b.max,
            &format_args!("{:.0}", r.duration_ps),
            &format_args!("{:.3}", r.alive),
        ])?;
    }
    table.finish()
}

pub(super) fn trials(trials: &[Trial]) -> Result<String, Failure> {
    let mut table = CsvText::new(&[
        "program",
        "timeout_ps",
        "packets",
        "lost",
        "reordered",
        "reordered_by_three",
        "flows_reordered",
        "extent_packets",
        "late_ps",
    ])?;
    for t in trials {
        let timeout = t.timeout.map_or_else(String::new, |t| t.as_ps().to_string());
        let r = t.outcome.reordering;
        table.row(&[
            &t.program,
            &timeout,
            &r.packets,
            &t.outcome.lost,
            &r.reordered,
            &r.by_three,
            &r.flows,
            &r.extent,
            &r.late_ps,
        ])?;
    }
    table.finish()
}

pub(super) fn settled(settled: &[(Duration, Settled)]) -> Result<String, Failure> {
    let mut table = CsvText::new(&[
        "timeout_ps",
        "path",
        "flows_mean",
        "flows_deviation",
        "flows_expected",
        "traffic_share",
        "flowlet_share",
        "packets_per_flowlet",
    ])?;
    for (timeout, s) in settled {
        for path in 0..s.flows.len() {
            let expected = s.expected.as_ref().map_or_else(String::new, |e| format!("{:.2}", e[path]));
            table.row(&[
                &timeout.as_ps(),
                &path,
                &format_args!("{:.2}", s.flows[path]),
                &format_args!("{:.2}", s.deviation[path]),
                &expected,
                &format_args!("{:.4}", s.traffic[path]),
                &format_args!("{:.4}", s.flowlets[path]),
                &format_args!("{:.2}", s.sizes[path]),
            ])?;
        }
    }
    table.finish()
}
