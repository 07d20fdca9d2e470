//! The report as JSON, `sluice.flowlets/1`.

use super::{Report, Trial};
use serde_json::{Value, json};
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::census::{self, Spread};
use sluice_fabric::flowlets::elastic::Settled;

pub(super) fn value(report: &Report<'_>) -> Value {
    let args = report.args;
    json!({
        "schema": "sluice.flowlets/1",
        "seed": args.seed,
        "chip": args.chip,
        "census": report.census.as_ref().map(census),
        "order": {
            "skew_ps": args.skew.as_ps(),
            "uplink_bps": args.uplinks.map(|r| r.as_bps()),
            "trials": report.trials.iter().map(trial).collect::<Vec<_>>(),
        },
        "elastic": {
            "rates_bps": args.elastic.iter().map(|r| r.as_bps()).collect::<Vec<_>>(),
            "coin": args.coin,
            "flows": args.flows,
            "settled": report.settled.iter().map(settled).collect::<Vec<_>>(),
        },
    })
}

fn census(c: &census::Report) -> Value {
    let row = |r: &census::Row| {
        json!({
            "timeout_ps": r.timeout_ps,
            "flowlets": r.flowlets,
            "packets": spread(r.packets),
            "bytes": spread(r.bytes),
            "duration_mean_ps": r.duration_ps.round(),
            "alive_mean": round(r.alive),
        })
    };
    json!({
        "flows": c.flows,
        "frames": c.frames,
        "bytes": c.bytes,
        "skipped": c.skipped,
        "span_ps": c.span_ps,
        "timeouts": c.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn spread(s: Spread) -> Value {
    json!({ "mean": round(s.mean), "median": s.median, "p99": s.p99, "max": s.max })
}

fn trial(t: &Trial) -> Value {
    let r = t.outcome.reordering;
    json!({
        "program": t.program,
        "timeout_ps": t.timeout.map(|t| t.as_ps()),
        "packets": r.packets,
        "lost": t.outcome.lost,
        "reordered": r.reordered,
        "reordered_by_three": r.by_three,
        "flows_reordered": r.flows,
        "extent_packets": r.extent,
        "late_ps": r.late_ps,
        "uplinks": t.outcome.uplinks,
    })
}

fn settled((timeout, s): &(Duration, Settled)) -> Value {
    let all = |values: &[f64]| values.iter().map(|v| round(*v)).collect::<Vec<_>>();
    json!({
        "timeout_ps": timeout.as_ps(),
        "flows": all(&s.flows),
        "flows_deviation": all(&s.deviation),
        "flows_expected": s.expected.as_deref().map(all),
        "traffic_share": all(&s.traffic),
        "flowlet_share": all(&s.flowlets),
        "packets_per_flowlet": all(&s.sizes),
    })
}

/// Rounds to six decimals.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
