//! Tables as CSV, with a header line; times are in ps.

use super::{OnPath, Trial};
use crate::console::table::Columns;
use sluice_fabric::flowlets::census::Row;

pub(super) const CENSUS: &Columns<Row> = &[
    ("timeout_ps", |r| r.timeout_ps.to_string()),
    ("flowlets", |r| r.flowlets.to_string()),
    ("packets_mean", |r| format!("{:.3}", r.packets.mean)),
    ("packets_median", |r| r.packets.median.to_string()),
    ("packets_p99", |r| r.packets.p99.to_string()),
    ("packets_max", |r| r.packets.max.to_string()),
    ("bytes_mean", |r| format!("{:.1}", r.bytes.mean)),
    ("bytes_median", |r| r.bytes.median.to_string()),
    ("bytes_p99", |r| r.bytes.p99.to_string()),
    ("bytes_max", |r| r.bytes.max.to_string()),
    ("duration_mean_ps", |r| format!("{:.0}", r.duration_ps)),
    ("alive_mean", |r| format!("{:.3}", r.alive)),
];

pub(super) const TRIALS: &Columns<Trial> = &[
    ("program", |t| t.program.clone()),
    ("timeout_ps", |t| t.timeout_ps.map_or_else(String::new, |ps| ps.to_string())),
    ("packets", |t| t.outcome.reordering.packets.to_string()),
    ("lost", |t| t.outcome.lost.to_string()),
    ("reordered", |t| t.outcome.reordering.reordered.to_string()),
    ("reordered_by_three", |t| t.outcome.reordering.by_three.to_string()),
    ("flows_reordered", |t| t.outcome.reordering.flows.to_string()),
    ("extent_packets", |t| t.outcome.reordering.extent.to_string()),
    ("late_ps", |t| t.outcome.reordering.late_ps.to_string()),
];

pub(super) const PATHS: &Columns<OnPath> = &[
    ("timeout_ps", |p| p.timeout_ps.to_string()),
    ("path", |p| p.path.to_string()),
    ("flows_mean", |p| format!("{:.2}", p.flows)),
    ("flows_deviation", |p| format!("{:.2}", p.deviation)),
    ("flows_expected", |p| p.expected.map_or_else(String::new, |flows| format!("{flows:.2}"))),
    ("traffic_share", |p| format!("{:.4}", p.traffic)),
    ("flowlet_share", |p| format!("{:.4}", p.flowlets)),
    ("packets_per_flowlet", |p| format!("{:.2}", p.packets)),
];
