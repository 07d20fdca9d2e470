//! The report as JSON.

use super::draws::{Draws, quantile};
use super::{Outcome, Report};
use serde_json::{Value, json};
use sluice_fabric::flows::Workload;
use sluice_fabric::polarization::{PointStats, Results};

pub(super) fn value(report: &Report<'_>) -> Value {
    let schemes: Vec<Value> = report.outcomes.iter().map(outcome).collect();
    let captured = report.captured.as_ref();
    let workload = Workload::ALL.iter().find(|(_, w)| *w == report.args.workload).map(|(name, _)| *name);
    json!({
        "schema": "sluice.polarization/1",
        "topology": report.network.name,
        "workload": if captured.is_some() { None } else { workload },
        "capture": captured.map(|c| json!({ "flows": c.flows.len(), "frames": c.frames, "skipped": c.skipped })),
        "seed": report.args.seed,
        "functions": report.args.functions.0.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "draw_rule": "per-stage: one function per stage (and block, without spine), drawn with replacement, 32-bit seed",
        "schemes": schemes,
        "draws": Draws::of(report).iter().filter(|d| d.results.len() > 1).map(draws).collect::<Vec<_>>(),
        "sizes": report.sizes.iter().map(|(q, cv)| json!({ "members": q, "cv": round(*cv) })).collect::<Vec<_>>(),
    })
}

/// Returns all draws of a scheme together.
fn draws(draws: &Draws<'_>) -> Value {
    let cdf = draws.cdf();
    json!({
        "name": draws.name,
        "draws": draws.results.len(),
        "above_0.2": draws.above(0.2),
        "above_0.5": draws.above(0.5),
        "above_0.6": draws.above(0.6),
        "cdf_percent": (0..=100).map(|p| quantile(&cdf, p).map(round)).collect::<Vec<_>>(),
    })
}

fn outcome(o: &Outcome) -> Value {
    match &o.results {
        Err(why) => json!({ "scheme": o.name, "plan": false, "reason": why.to_string() }),
        Ok(r) => {
            let mut value = results(&o.name, r);
            if let Some(packets) = &o.packets {
                value["packets"] = match packets {
                    Err(why) => json!({ "sent": false, "reason": why }),
                    Ok(c) => json!({
                        "sent": true,
                        "packets": c.packets,
                        "left_out": c.left_out,
                        "hops": c.hops,
                        "expired_hops": c.expired,
                        "differing_hops": c.differing,
                    }),
                };
            }
            value
        }
    }
}

fn results(name: &str, r: &Results) -> Value {
    let cdf = r.cdf();
    json!({
        "scheme": name,
        "plan": true,
        "verdict": r.verdict.name(),
        "flows": r.flows,
        "entropy_bits": r.entropy,
        "entries": r.entries,
        "points": r.points.iter().map(point).collect::<Vec<_>>(),
        "cdf_percent": (0..=100).map(|p| quantile(&cdf, p).map(round)).collect::<Vec<_>>(),
        "worst_group_flows": r.worst_links,
        "notes": r.notes,
    })
}

fn point(p: &PointStats) -> Value {
    json!({
        "point": p.name,
        "groups": p.groups,
        "empty_groups": p.empty,
        "idle_links": p.idle_links,
        "failed_groups": p.failed,
        "cv_flows": { "p50": round(p.cv[0]), "p99": round(p.cv[1]), "max": round(p.cv[2]) },
        "cv_bytes_max": round(p.cv_bytes),
        "noise": round(p.noise),
        "max_min": p.max_min.map(round),
    })
}

/// Rounds to six decimals.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
