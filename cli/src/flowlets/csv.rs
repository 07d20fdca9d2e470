//! The tables for other programs: one header line, comma-separated, times in ps.

use super::Trial;
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::census::Report;
use sluice_fabric::flowlets::elastic::Settled;
use std::fmt::Write;

pub(super) fn census(report: &Report) -> String {
    let mut out = String::from(
        "timeout_ps,flowlets,packets_mean,packets_median,packets_p99,packets_max,bytes_mean,bytes_median,bytes_p99,\
         bytes_max,duration_mean_ps,alive_mean\n",
    );
    for r in &report.rows {
        let (p, b) = (r.packets, r.bytes);
        let _ = writeln!(
            out,
            "{},{},{:.3},{},{},{},{:.1},{},{},{},{:.0},{:.3}",
            r.timeout_ps,
            r.flowlets,
            p.mean,
            p.median,
            p.p99,
            p.max,
            b.mean,
            b.median,
            b.p99,
            b.max,
            r.duration_ps,
            r.alive
        );
    }
    out
}

pub(super) fn trials(trials: &[Trial]) -> String {
    let mut out = String::from(
        "program,timeout_ps,packets,lost,reordered,reordered_by_three,flows_reordered,extent_packets,late_ps\n",
    );
    for t in trials {
        let timeout = t.timeout.map_or_else(String::new, |t| t.as_ps().to_string());
        let r = t.outcome.reordering;
        let _ = writeln!(
            out,
            "{},{timeout},{},{},{},{},{},{},{}",
            t.program, r.packets, t.outcome.lost, r.reordered, r.by_three, r.flows, r.extent, r.late_ps
        );
    }
    out
}

pub(super) fn settled(settled: &[(Duration, Settled)]) -> String {
    let mut out = String::from(
        "timeout_ps,path,flows_mean,flows_deviation,flows_expected,traffic_share,flowlet_share,packets_per_flowlet\n",
    );
    for (timeout, s) in settled {
        for path in 0..s.flows.len() {
            let expected = s.expected.as_ref().map_or_else(String::new, |e| format!("{:.2}", e[path]));
            let _ = writeln!(
                out,
                "{},{path},{:.2},{:.2},{expected},{:.4},{:.4},{:.2}",
                timeout.as_ps(),
                s.flows[path],
                s.deviation[path],
                s.traffic[path],
                s.flowlets[path],
                s.sizes[path]
            );
        }
    }
    out
}
