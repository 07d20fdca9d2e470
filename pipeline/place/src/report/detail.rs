//! Details of a report: all units with owners, dependencies, containers, the parser's graph and the cycles of each stage.

use crate::bits::PhvView;
use crate::{DependencyGraph, Owner, Placement, stage_latencies};
use serde::Serialize;
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageLatency;
use sluice_ir::cfg::Var;
use sluice_ir::entity::Entity;
use sluice_ir::{Field, Loc, Next, ParserOpKind, ParserState, Program, StateData, words};
use std::collections::BTreeMap;

/// Unit in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitReport {
    /// Stage, from 0.
    pub stage: u8,
    /// Kind of unit.
    pub column: Column,
    /// First coordinate: row, group or index (model: chip §1.2).
    pub row: u16,
    /// Second coordinate: column, bit, slice or 0.
    pub col: u16,
    /// Owner, as index in [`super::Report::tables`].
    pub table: usize,
    /// Purpose.
    pub purpose: String,
}

/// Dependency between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EdgeReport {
    /// Node that is first in program order, as index in [`super::Report::tables`].
    pub from: usize,
    /// Node that waits, as index in [`super::Report::tables`].
    pub to: usize,
    /// `match`, `action`, `output`, `container conflict`, `anti` or `control`.
    pub kind: &'static str,
    /// Least number of stages from the first to the second; `None` if the order is free.
    #[serde(rename = "stages")]
    pub distance: Option<u32>,
    /// Field or validity bit that causes the dependency; `None` for control dependencies.
    pub through: Option<String>,
    /// True if the dependency is on the longest chain that the report names.
    pub critical: bool,
}

/// A parser state and its successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateReport {
    /// Name.
    pub name: String,
    /// Cycles.
    pub cycles: u16,
    /// Extracted headers.
    pub extracts: Vec<String>,
    /// Successors: condition and index of the next state in the list; `None` if parsing ends.
    pub next: Vec<(String, Option<usize>)>,
    /// Location in the program's source.
    pub at: Loc,
}

/// Content of one container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContainerReport {
    /// Name (`W12`).
    pub name: String,
    /// Gress that uses the container.
    pub gress: Gress,
    /// Variables from the most significant bit on.
    pub holds: Vec<HeldReport>,
}

/// Bits of a variable in a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldReport {
    /// Name of the variable, with its bits if they are not all.
    pub what: String,
    /// Lowest bit of the container.
    pub bit: u8,
    /// Width in bits.
    pub width: u16,
}

/// A field in the PHV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReport {
    /// Full name: `header.field`.
    pub name: String,
    /// Gress whose PHV holds it.
    pub gress: Gress,
    /// Width in bits.
    pub width: u16,
    /// Containers with bits of the field, each once.
    pub containers: Vec<String>,
    /// Place in the source.
    pub at: Loc,
}

/// Details of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// All units in use, sorted by stage, column and coordinates.
    pub units: Vec<UnitReport>,
    /// All dependencies, ingress first.
    pub dependencies: Vec<EdgeReport>,
    /// Cycles of every stage, by [`Gress::index`].
    pub stages: [Vec<StageLatency>; 2],
    /// Containers in use.
    pub containers: Vec<ContainerReport>,
    /// Fields in these containers, in the order of the source's declarations, ingress first.
    pub fields: Vec<FieldReport>,
    /// Parser states in breadth-first order, by [`Gress::index`].
    pub parsers: [Vec<StateReport>; 2],
}

impl Detail {
    /// Returns the details of a placed program.
    pub(super) fn new(program: &Program, placement: &Placement, graph: &DependencyGraph) -> Detail {
        let ingress = placement.gress(Gress::Ingress).cfg.nodes.len();
        let position = |o: Owner| o.node.index() + if o.gress == Gress::Egress { ingress } else { 0 };
        let view = PhvView::new(&placement.chip, &placement.phv);
        let units = placement.units.iter().map(|u| UnitReport {
            stage: u.unit.stage,
            column: u.unit.column,
            row: u.unit.row,
            col: u.unit.col,
            table: position(u.owner),
            purpose: u.purpose.text(program, &view),
        });
        let critical: Vec<(Owner, Owner)> =
            Gress::ALL.iter().flat_map(|&g| graph.critical_path(g)).map(|e| (e.from, e.to)).collect();
        let dependencies = graph.edges.iter().map(|e| EdgeReport {
            from: position(e.from),
            to: position(e.to),
            kind: e.kind.name(),
            distance: e.kind.distance(),
            through: e.var.map(|v| words::var(program, v)),
            critical: critical.contains(&(e.from, e.to)),
        });
        Detail {
            units: units.collect(),
            dependencies: dependencies.collect(),
            stages: Gress::ALL.map(|g| stage_latencies(program, placement, g)),
            containers: containers(program, placement),
            fields: fields(program, placement),
            parsers: Gress::ALL.map(|g| states(program, placement, g)),
        }
    }
}

fn containers(program: &Program, placement: &Placement) -> Vec<ContainerReport> {
    let rows = crate::phv::summary(program, &placement.chip, &placement.phv).rows;
    rows.into_iter()
        .map(|row| ContainerReport {
            name: row.name,
            gress: row.gress,
            holds: row
                .slices
                .iter()
                .map(|s| {
                    let name = words::var(program, s.var);
                    let whole = var_width(program, s.var) == s.width;
                    let bits =
                        if whole { String::new() } else { format!("[{}:{}]", s.lo + s.width - 1, s.lo) };
                    HeldReport { what: format!("{name}{bits}"), bit: s.at, width: s.width }
                })
                .collect(),
        })
        .collect()
}

fn fields(program: &Program, placement: &Placement) -> Vec<FieldReport> {
    let mut of: BTreeMap<(usize, Field), Vec<String>> = BTreeMap::new();
    for row in crate::phv::summary(program, &placement.chip, &placement.phv).rows {
        for slice in &row.slices {
            let Var::Field(field) = slice.var else { continue };
            let names = of.entry((row.gress.index(), field)).or_default();
            if !names.contains(&row.name) {
                names.push(row.name.clone());
            }
        }
    }
    let field = |((gress, field), containers): ((usize, Field), Vec<String>)| {
        let data = &program.fields[field];
        let (name, at) = (data.name.clone(), data.loc);
        FieldReport { name, gress: Gress::ALL[gress], width: data.width, containers, at }
    };
    of.into_iter().map(field).collect()
}

fn var_width(program: &Program, var: Var) -> u16 {
    match var {
        Var::Field(f) => program.fields[f].width,
        Var::Valid(_) => 1,
    }
}

/// Returns the states in breadth-first order from the start.
fn states(program: &Program, placement: &Placement, gress: Gress) -> Vec<StateReport> {
    let mut order: Vec<ParserState> = Vec::new();
    let add = |order: &mut Vec<ParserState>, next: Next| {
        if let Next::State(s) = next
            && !order.contains(&s)
        {
            order.push(s);
        }
    };
    add(&mut order, program.pipe(gress).start);
    let mut at = 0;
    while let Some(&state) = order.get(at) {
        let data = &program.states[state];
        for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
            add(&mut order, next);
        }
        at += 1;
    }
    let cycles = &placement.gress(gress).parser.cycles;
    order
        .iter()
        .map(|&s| {
            let data = &program.states[s];
            StateReport {
                name: data.name.clone(),
                cycles: cycles.get(s).copied().unwrap_or(0),
                extracts: extracts(program, data),
                next: successors(program, data, &order),
                at: data.loc,
            }
        })
        .collect()
}

fn extracts(program: &Program, data: &StateData) -> Vec<String> {
    let headers = data.ops.iter().filter_map(|op| match &op.kind {
        ParserOpKind::Extract(h) => Some(program.headers[*h].name.clone()),
        _ => None,
    });
    headers.collect()
}

/// Returns the successors of a state; arms with the same target are merged.
fn successors(program: &Program, data: &StateData, order: &[ParserState]) -> Vec<(String, Option<usize>)> {
    let target = |next: Next| match next {
        Next::State(s) => order.iter().position(|o| *o == s),
        Next::Accept | Next::Reject => None,
    };
    let mut list: Vec<(String, Option<usize>)> = Vec::new();
    for arm in &data.arms {
        let values: Vec<String> = arm
            .values
            .iter()
            .zip(&data.select)
            .filter(|((_, mask), _)| *mask != 0)
            .map(|((value, mask), key)| {
                let full = sluice_asic::alu::width_mask(u32::from(key.width(program).unwrap_or(0)));
                let mask = if *mask == full { String::new() } else { format!("&{mask:#x}") };
                format!("{value:#x}{mask}")
            })
            .collect();
        let end = if arm.next == Next::Reject { " reject" } else { "" };
        let set = arm.set.map_or(String::new(), |of| format!(" in {}", program.value_sets[of.set].name));
        let text = format!("{}{set}{end}", values.join(","));
        list.push((text.trim_start().to_owned(), target(arm.next)));
    }
    let end = match data.default {
        Next::Reject => "else reject",
        _ if data.arms.is_empty() => "",
        _ => "else",
    };
    list.push((end.to_owned(), target(data.default)));
    list
}
