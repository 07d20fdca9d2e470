//! Placement report as JSON, schema `sluice.report/1`.

use crate::{Remedy, WhyNot};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sluice_asic::chip::{Assumption, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageLatency;
use sluice_ir::{ParamValue, Program};
use sluice_place::NoFit;
use sluice_place::phv::PhvSummary;
use sluice_place::report::{
    ArrayReport, AuthorDemand, Ceilings, ContainerReport, EdgeReport, GressReport, NextTables, PathReport,
    PowerReport, Report, SourceNote, StageReport, TableReport, UnitReport, deparser_rows, hundredths,
};
use std::collections::BTreeMap;

const SCHEMA: &str = "sluice.report/1";

/// Returns the report of a program that fits.
#[must_use]
pub fn json(report: &Report) -> Value {
    json!(Document::of(report))
}

/// A report as it is serialised. That of a program that does not fit has the same keys, with a reason instead of numbers.
#[derive(Default, Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    program: &'a str,
    chip: &'a str,
    params: BTreeMap<&'a str, &'a str>,
    fits: bool,
    reason: Option<String>,
    /// Single changes after which a program fits that does not.
    pub remedies: Vec<Remedy>,
    /// The answer to the question why the program does not fit; `None` if nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<Option<WhyNot>>,
    stages_used: Option<StagesUsed>,
    latency: Option<Latency<'a>>,
    resources: Option<Resources<'a>>,
    tables: &'a [TableReport],
    arrays: &'a [ArrayReport],
    phv: Option<&'a PhvSummary>,
    parser: Option<ByGress<Parser<'a>>>,
    deparser: Option<ByGress<BTreeMap<&'static str, Use>>>,
    assumptions: &'a [Assumption],
    demands: &'a [AuthorDemand],
    /// Parts of the source that the program approximates or ignores.
    pub notes: &'a [SourceNote],
    power: Option<&'a PowerReport>,
    objective: Option<&'static str>,
    without: Vec<&'static str>,
    next_tables: Option<&'a NextTables>,
    /// Units with their coordinates; the owner of each is a position in `tables`.
    units: &'a [UnitReport],
    dependencies: &'a [EdgeReport],
    containers: &'a [ContainerReport],
}

type ByGress<T> = BTreeMap<Gress, T>;

#[derive(Serialize)]
struct StagesUsed {
    #[serde(flatten)]
    gresses: ByGress<u32>,
    total: u32,
}

#[derive(Serialize)]
struct Latency<'a> {
    #[serde(flatten)]
    gresses: ByGress<PassLatency<'a>>,
    total_ns: u64,
    ceilings: &'a Ceilings,
}

#[derive(Serialize)]
struct PassLatency<'a> {
    mau_cycles: u32,
    parser_cycles: &'a [PathReport],
    deparser_cycles: u32,
    stages: &'a [StageLatency],
}

#[derive(Serialize)]
struct Resources<'a> {
    columns: [Column; 20],
    totals: Vec<Total>,
    stages: &'a [StageReport],
}

#[derive(Serialize)]
struct Total {
    id: Column,
    #[serde(flatten)]
    units: Use,
    percent: f64,
}

#[derive(Serialize)]
struct Use {
    used: u32,
    available: u32,
}

#[derive(Serialize)]
struct Parser<'a> {
    rows: u32,
    rows_available: u32,
    depth: u32,
    depth_available: u32,
    #[serde(serialize_with = "states")]
    states: &'a GressReport,
}

impl<'a> Document<'a> {
    /// Returns the report of a program that fits.
    #[must_use]
    pub fn of(report: &'a Report) -> Document<'a> {
        let detail = &report.detail;
        Document {
            schema: SCHEMA,
            program: &report.program,
            chip: &report.chip,
            params: params(&report.params),
            fits: true,
            stages_used: Some(StagesUsed {
                gresses: by_gress(report, |_, gress| gress.stages_used),
                total: report.stages_used(),
            }),
            latency: Some(Latency {
                gresses: by_gress(report, |g, gress| PassLatency {
                    mau_cycles: gress.mau_cycles,
                    parser_cycles: &gress.paths,
                    deparser_cycles: gress.deparser_cycles,
                    stages: &detail.stages[g.index()],
                }),
                total_ns: report.total.as_ps().div_ceil(1000),
                ceilings: &report.ceilings,
            }),
            resources: Some(Resources {
                columns: Column::ALL,
                totals: totals(report),
                stages: &report.stages,
            }),
            tables: &report.tables,
            arrays: &report.arrays,
            phv: Some(&report.phv),
            parser: Some(by_gress(report, |_, gress| Parser {
                rows: gress.parser_rows,
                rows_available: report.parser_rows_available,
                depth: gress.parser_depth.0,
                depth_available: gress.parser_depth.1,
                states: gress,
            })),
            deparser: Some(by_gress(report, |_, gress| {
                let rows = deparser_rows(report, gress).into_iter();
                rows.map(|(id, _, used, available)| (id, Use { used, available })).collect()
            })),
            assumptions: &report.assumptions,
            demands: &report.demands,
            notes: &report.notes,
            power: Some(&report.power),
            objective: Some(report.options.objective.name()),
            without: report.options.without.iter().map(|o| o.name()).collect(),
            next_tables: Some(&report.next_tables),
            units: &detail.units,
            dependencies: &detail.dependencies,
            containers: &detail.containers,
            ..Document::default()
        }
    }

    /// Returns the report of a program that does not fit.
    #[must_use]
    pub fn no_fit(program: &'a Program, no_fit: &'a NoFit) -> Document<'a> {
        Document {
            schema: SCHEMA,
            program: &program.name,
            chip: &no_fit.chip,
            params: params(&program.params),
            reason: Some(no_fit.reason()),
            ..Document::default()
        }
    }
}

fn states<S: Serializer>(gress: &&GressReport, serializer: S) -> Result<S::Ok, S::Error> {
    gress.parser_states.serialize(serializer)
}

fn params(params: &[ParamValue]) -> BTreeMap<&str, &str> {
    params.iter().map(|p| (p.key.as_str(), p.value.as_str())).collect()
}

fn by_gress<'a, T>(report: &'a Report, of: impl Fn(Gress, &'a GressReport) -> T) -> ByGress<T> {
    Gress::ALL.map(|g| (g, of(g, &report.gresses[g.index()]))).into()
}

fn totals(report: &Report) -> Vec<Total> {
    let stages = report.stages.len() as u32;
    let total = |column: Column| {
        let (used, available) = (report.totals[column.index()], report.available[column.index()] * stages);
        let percent = hundredths(used, available) as f64 / 100.0;
        Total { id: column, units: Use { used, available }, percent }
    };
    Column::ALL.map(total).into()
}
