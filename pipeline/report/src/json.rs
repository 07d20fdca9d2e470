//! Placement report as JSON, schema `sluice.report/1`.

use serde_json::{Map, Value, json};
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageLatency;
use sluice_ir::{ParamValue, Program};
use sluice_place::NoFit;
use sluice_place::phv::PhvSummary;
use sluice_place::report::ArrayReport;
use sluice_place::report::NextTables;
use sluice_place::report::PowerReport;
use sluice_place::report::SourceNote;
use sluice_place::report::UnitReport;
use sluice_place::report::{GressReport, Report, StageReport, TableReport, deparser_rows, hundredths};

const SCHEMA: &str = "sluice.report/1";

/// Returns the report of a program that fits.
#[must_use]
pub fn json(report: &Report) -> Value {
    let gress = |g: Gress| &report.gresses[g.index()];
    let (ingress, egress) = (gress(Gress::Ingress), gress(Gress::Egress));
    json!({
        "schema": SCHEMA,
        "program": report.program,
        "chip": report.chip,
        "params": params(&report.params),
        "fits": true,
        "reason": null,
        "remedies": [],
        "stages_used": {
            "ingress": ingress.stages_used, "egress": egress.stages_used, "total": report.stages_used(),
        },
        "latency": {
            "ingress": latency((ingress, &report.detail.stages[0])),
            "egress": latency((egress, &report.detail.stages[1])),
            "total_ns": report.total.as_ps().div_ceil(1000),
            "ceilings": {
                "gress_packets_per_second": report.ceilings.gress,
                "recirculated_packets_per_second": report.ceilings.recirculation,
                "recirculated_bytes": report.ceilings.recirculated_bytes,
            },
        },
        "resources": {
            "columns": Column::ALL.map(Column::id),
            "totals": totals(report),
            "stages": report.stages.iter().map(stage).collect::<Vec<_>>(),
        },
        "tables": report.tables.iter().map(table).collect::<Vec<_>>(),
        "arrays": report.arrays.iter().map(array).collect::<Vec<_>>(),
        "phv": phv(&report.phv),
        "parser": { "ingress": parser(report, ingress), "egress": parser(report, egress) },
        "deparser": { "ingress": deparser(report, ingress), "egress": deparser(report, egress) },
        "assumptions": report.assumptions.iter().map(|a| json!({
            "id": a.id, "text": a.text, "value": a.value, "why": a.why,
        })).collect::<Vec<_>>(),
        "demands": report.demands.iter().map(|d| json!({
            "demand": d.demand, "of": d.of, "effect": d.effect,
        })).collect::<Vec<_>>(),
        "notes": notes(&report.notes),
        "power": power(&report.power),
        "objective": report.options.objective.name(),
        "without": report.options.without.iter().map(|o| o.name()).collect::<Vec<_>>(),
        "next_tables": next_tables(&report.next_tables),
        "units": report.detail.units.iter().map(unit).collect::<Vec<_>>(),
        "dependencies": report.detail.dependencies.iter().map(|e| json!({
            "from": e.from, "to": e.to, "kind": e.kind, "stages": e.distance, "through": e.through,
            "critical": e.critical,
        })).collect::<Vec<_>>(),
        "containers": report.detail.containers.iter().map(|c| json!({
            "name": c.name, "gress": c.gress.name(),
            "holds": c.holds.iter().map(|(name, at, width)| json!({
                "what": name, "bit": at, "width": width,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// Returns parts of the source that the program approximates or ignores.
#[must_use]
pub fn notes(notes: &[SourceNote]) -> Value {
    let note = |n: &SourceNote| json!({ "file": n.file, "line": n.line, "what": n.what, "effect": n.effect });
    notes.iter().map(note).collect()
}

/// Returns the report of a program that does not fit: the same keys, with a reason instead of numbers.
#[must_use]
pub fn json_no_fit(program: &Program, no_fit: &NoFit) -> Value {
    json!({
        "schema": SCHEMA,
        "program": program.name,
        "chip": no_fit.chip,
        "params": params(&program.params),
        "fits": false,
        "reason": no_fit.reason(),
        "remedies": [],
        "stages_used": null,
        "latency": null,
        "resources": null,
        "tables": [],
        "arrays": [],
        "phv": null,
        "parser": null,
        "deparser": null,
        "assumptions": [],
        "units": [],
        "dependencies": [],
        "containers": [],
        "demands": [],
        "notes": [],
        "power": null,
        "objective": null,
        "without": [],
        "next_tables": null,
    })
}

fn next_tables(next: &NextTables) -> Value {
    json!({
        "code_bits": next.code_bits, "parallel": next.parallel,
        "retested": next.retested, "pointed": next.pointed, "tags": next.tags, "tags_available": next.tags_available,
        "long_branches": next.branches.iter().map(|b| json!({
            "gress": b.gress.name(), "tag": b.tag, "pointer": b.pointer, "relays": b.relays, "retested_in": b.retested_in, "from_stage": b.from_stage, "to_stage": b.to_stage,
            "from": b.from, "to": b.to,
        })).collect::<Vec<_>>(),
    })
}

fn power(power: &PowerReport) -> Value {
    json!({
        "nanowatts": power.worst, "limit_nanowatts": power.limit, "path": power.path,
        "packets_per_1000_cycles": power.packets_per_1000_cycles,
        "tables": power.tables.iter().map(|t| json!({
            "name": t.name, "gress": t.gress.name(), "nanowatts": t.nanowatts, "always_nanowatts": t.always,
        })).collect::<Vec<_>>(),
    })
}

fn params(params: &[ParamValue]) -> Value {
    Value::Object(params.iter().map(|p| (p.key.clone(), Value::from(p.value.clone()))).collect::<Map<_, _>>())
}

/// Returns a unit with its coordinates; its owner is a position in `tables`.
fn unit(unit: &UnitReport) -> Value {
    json!({
        "stage": unit.stage, "column": unit.column.id(), "row": unit.row, "col": unit.col,
        "table": unit.table, "purpose": unit.purpose,
    })
}

fn stage_cycles(stages: &[StageLatency]) -> Value {
    stages
        .iter()
        .map(|s| {
            json!({
                "dependency": format!("{:?}", s.dependency).to_lowercase(), "length": s.length.0,
                "predication": s.predication.0, "adds": s.contribution.0, "group": s.group,
            })
        })
        .collect()
}

fn parser(report: &Report, gress: &GressReport) -> Value {
    let (depth, reach) = gress.parser_depth;
    json!({
        "rows": gress.parser_rows,
        "rows_available": report.parser_rows_available,
        "depth": depth,
        "depth_available": reach,
        "states": gress.parser_states.iter().map(|s| json!({
            "state": s.name, "cycles": s.cycles, "rows": s.rows, "extractors": s.extractors,
            "match_bytes": s.match_bytes,
        })).collect::<Vec<_>>(),
    })
}

fn deparser(report: &Report, gress: &GressReport) -> Value {
    let rows = deparser_rows(report, gress).into_iter();
    let rows =
        rows.map(|(id, _, used, available)| (id.to_owned(), json!({ "used": used, "available": available })));
    Value::Object(rows.collect())
}

fn latency((gress, stages): (&GressReport, &[StageLatency])) -> Value {
    json!({
        "mau_cycles": gress.mau_cycles,
        "parser_cycles": gress.paths.iter().map(|p| json!({ "path": p.path, "cycles": p.cycles })).collect::<Vec<_>>(),
        "deparser_cycles": gress.deparser_cycles,
        "stages": stage_cycles(stages),
    })
}

fn totals(report: &Report) -> Vec<Value> {
    let stages = report.stages.len() as u32;
    Column::ALL
        .iter()
        .map(|c| {
            let (used, available) = (report.totals[c.index()], report.available[c.index()] * stages);
            let percent = hundredths(used, available) as f64 / 100.0;
            json!({ "id": c.id(), "used": used, "available": available, "percent": percent })
        })
        .collect()
}

fn stage(stage: &StageReport) -> Value {
    let used = Column::ALL.iter().map(|c| (c.id().to_owned(), Value::from(stage.used[c.index()])));
    json!({ "stage": stage.stage, "used": used.collect::<Map<_, _>>() })
}

fn array(array: &ArrayReport) -> Value {
    json!({
        "name": array.name,
        "kind": array.kind,
        "gress": array.gress.name(),
        "cell": array.cell,
        "size": array.size,
        "table": array.table,
        "users": array.users,
        "alus": array.alus.iter().map(|(stage, row)| json!({ "stage": stage, "row": row })).collect::<Vec<_>>(),
        "srams": array.srams,
        "map_rams": array.map_rams,
        "register_file_rows": array.file_rows,
        "instructions": array.instructions.iter().map(|(action, uses)| json!({
            "action": action, "uses": uses,
        })).collect::<Vec<_>>(),
        "file": array.at.file,
        "line": array.at.line,
    })
}

fn table(table: &TableReport) -> Value {
    json!({
        "name": table.name,
        "gress": if table.ghost { "ghost" } else { table.gress.name() },
        "kind": table.kind,
        "parts": table.parts.iter().map(|p| json!({
            "stage": p.stage, "logical_id": p.logical_id, "entries": p.entries,
        })).collect::<Vec<_>>(),
        "min_stage": table.min_stage,
        "why": table.why,
        "entries_required": table.required,
        "entries_allocated": table.allocated,
        "entries_usable": table.usable,
        "rows_required": table.rows,
        "srams": table.srams,
        "map_rams": table.map_rams,
        "tcams": table.tcams,
        "key_bits": table.key_bits,
        "action_bits": table.action_bits,
        "idle_timeout": table.idle,
        "layout": table.layout,
        "condition": (!table.condition.is_empty()).then_some(&table.condition),
        "file": table.at.file,
        "line": table.at.line,
    })
}

fn phv(phv: &PhvSummary) -> Value {
    let per_gress = |n: [u32; 2]| json!({ "ingress": n[0], "egress": n[1] });
    json!({
        "groups": phv.groups.iter().map(|g| json!({
            "size": g.size.bits(),
            "kind": format!("{:?}", g.kind).to_lowercase(),
            "group": g.group,
            "containers": g.containers,
            "used": per_gress(g.used),
            "bits": per_gress(g.bits),
            "bits_available": g.bits_available(),
        })).collect::<Vec<_>>(),
        "carries": phv.carries.iter().map(|c| json!({
            "field": c.name,
            "low": c.containers[0],
            "high": c.containers[1],
        })).collect::<Vec<_>>(),
        "pov_bits": per_gress(phv.pov_bits),
        "pov_available": phv.pov_available,
    })
}
