//! Data of a resource report.

use super::arrays::ArrayReport;
use super::demands::{AuthorDemand, demands};
use super::detail::Detail;
use super::limits::{self, Limit};
use super::next_table::NextTables;
use super::power::PowerReport;
use super::serial;
use super::ways::{PartWays, usable, ways};
use crate::deparser::DeparserCost;
use crate::params::param_bits;
use crate::phv::{self, PhvSummary};
use crate::{DependencyGraph, Options, Owner, Part, PlacedState, Placement, Purpose, node_name, parser};
use serde::Serialize;
use sluice_asic::chip::{Assumption, ChipSpec, Column, DeparserSpec};
use sluice_asic::gress::Gress;
use sluice_asic::latency::{PacketLatency, PassLatency, StageDependency};
use sluice_asic::units::{Cycles, Duration};
use sluice_ir::cfg::{Node, NodeKind};
use sluice_ir::{Algorithmic, IdleMode, Loc, ParamValue, Program, TogetherData, words};
use std::collections::BTreeSet;

/// Units in use of every column, by [`Column::index`].
pub type Usage = [u32; 20];

/// Report of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageReport {
    /// Stage, from 0.
    pub stage: u8,
    /// Units in use.
    #[serde(serialize_with = "serial::by_column")]
    pub used: Usage,
    /// Dependency on the stages before, by [`Gress::index`].
    #[serde(skip)]
    pub dependencies: [StageDependency; 2],
}

/// A path through a parser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathReport {
    /// State names, joined by ` > `.
    pub path: String,
    /// Bytes extracted.
    #[serde(skip)]
    pub bytes: u32,
    /// Cycles, the parser's fixed cycles included.
    pub cycles: u64,
}

/// Report of one gress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GressReport {
    /// Number of stages up to the last one in use.
    pub stages_used: u32,
    /// Stages that the longest chain of dependencies needs.
    pub critical_length: u32,
    /// One longest chain, in text: node, kind of dependency and variable.
    pub critical_path: Vec<String>,
    /// Cycles of all stages.
    pub mau_cycles: u32,
    /// Cycles of the deparser.
    pub deparser_cycles: u32,
    /// Paths through the parser.
    pub paths: Vec<PathReport>,
    /// Parser rows in use.
    pub parser_rows: u32,
    /// Hardware states in order of their rows.
    pub parser_states: Vec<StateReport>,
    /// Deepest byte that a path reads, and the limit of the parser.
    pub parser_depth: (u32, u32),
    /// Units of the deparser in use.
    pub deparser: DeparserCost,
}

/// Hardware parser state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// Name; the stack elements that were extracted before follow after `+`.
    #[serde(rename = "state")]
    pub name: String,
    /// Cycles.
    pub cycles: u16,
    /// TCAM rows.
    pub rows: u32,
    /// Extractors of 8, 16 and 32 bits; if all extractors have 16 bits, the second number counts them.
    pub extractors: [u32; 3],
    /// Bytes matched.
    pub match_bytes: u32,
}

/// Report of a node: a table, a keyless action or a condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// Name; `cond-N` for a condition.
    pub name: String,
    /// Gress.
    #[serde(skip)]
    pub gress: Gress,
    /// Control block of the node: `ingress`, `egress`, or `ghost`, which shares the stages of ingress.
    #[serde(rename = "gress")]
    pub control: &'static str,
    /// `exact`, `ternary`, `alpm`, `atcam`, `keyless` or `condition`.
    pub kind: &'static str,
    /// Parts in search order.
    pub parts: Vec<Part>,
    /// Earliest stage that the dependencies alone allow.
    pub min_stage: u8,
    /// Number of stages that dependent nodes need after this node's stage.
    #[serde(skip)]
    pub tail: u32,
    /// Reason why the node is in no earlier stage.
    pub why: String,
    /// Entries required by the program.
    #[serde(rename = "entries_required")]
    pub required: u32,
    /// Entries for which the parts have room; TCAM rows if a key is a range.
    #[serde(rename = "entries_allocated")]
    pub allocated: u64,
    /// Required entries that are expected to fit before an insertion fails; fewer than required if an exact table's ways
    /// have too few spare rows.
    #[serde(rename = "entries_usable")]
    pub usable: u64,
    /// TCAM rows required; more than entries if a key is a range.
    #[serde(rename = "rows_required")]
    pub rows: u64,
    /// SRAMs of any purpose; shared SRAMs count in full.
    pub srams: u32,
    /// Map RAMs.
    pub map_rams: u32,
    /// TCAM blocks.
    pub tcams: u32,
    /// Key bits.
    pub key_bits: u32,
    /// Parameter bits of the widest action.
    pub action_bits: u32,
    /// Memory layout of each part, as in `4 ways of 1 RAM, 1 wide, 3 to a word with 4 version bits`.
    pub layout: Vec<String>,
    /// Ageing of entries, as in `notify 3 bits every 10ms`; `None` if they do not age.
    #[serde(rename = "idle_timeout")]
    pub idle: Option<String>,
    /// Text of a condition; empty for other nodes.
    #[serde(serialize_with = "serial::unless_empty")]
    pub condition: String,
    /// Location in the program's source.
    #[serde(flatten, serialize_with = "serial::place")]
    pub at: Loc,
}

/// Resource report of a program that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Name of the program.
    pub program: String,
    /// Parameters of the program.
    pub params: Vec<ParamValue>,
    /// Name of the chip.
    pub chip: String,
    /// Units of one stage, by column.
    pub available: Usage,
    /// Units used in all stages, by column.
    pub totals: Usage,
    /// Stages of the chip.
    pub stages: Vec<StageReport>,
    /// Gresses, by [`Gress::index`].
    pub gresses: [GressReport; 2],
    /// Latency from wire to wire without queueing, over the longest parser paths and ports of the default speed.
    pub total: Duration,
    /// Nodes, ingress first, in program order.
    pub tables: Vec<TableReport>,
    /// Registers, meters and counters.
    pub arrays: Vec<ArrayReport>,
    /// Resources closest to their limits, the closest first.
    pub limits: Vec<Limit>,
    /// Use of the PHV.
    pub phv: PhvSummary,
    /// Rows of each gress's parser on the chip.
    pub parser_rows_available: u32,
    /// Capacity of each gress's deparser.
    pub deparser_spec: DeparserSpec,
    /// Values that public sources do not give.
    pub assumptions: Vec<Assumption>,
    /// Details: units, dependencies, containers, parser graph and cycles.
    pub detail: Detail,
    /// Groups of ports that must share a pipe because they share state.
    pub together: Vec<TogetherReport>,
    /// Demands of the author on tables and containers.
    pub demands: Vec<AuthorDemand>,
    /// Power of the memories that packets access.
    pub power: PowerReport,
    /// Options with which the program was placed.
    pub options: Options,
    /// Outcomes that cross stages.
    pub next_tables: NextTables,
    /// Highest packet rates of a pipe.
    pub ceilings: Ceilings,
    /// What the front end approximated or ignored; empty unless the caller adds it.
    pub notes: Vec<SourceNote>,
}

/// A part of a program's source that the program on the chip approximates or ignores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceNote {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The construct.
    pub what: String,
    /// The difference that it makes.
    pub effect: String,
}

/// Highest packet rates of the parts of a pipe, in packets per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ceilings {
    /// Rate of a gress: one packet per cycle, less if the deparser cannot hold as many packets as the stages (model: chip
    /// §6.4; cycles §6).
    #[serde(rename = "gress_packets_per_second")]
    pub gress: u64,
    /// Rate of the recirculation ports of a pipe together, with the shortest frames.
    #[serde(rename = "recirculated_packets_per_second")]
    pub recirculation: u64,
    /// Length of these frames on the line, in bytes.
    pub recirculated_bytes: u64,
}

/// Bytes of the shortest frame with FCS, preamble and gap.
const SHORTEST: u64 = 64 + 20;

fn ceilings(chip: &ChipSpec, power: &PowerReport) -> Ceilings {
    let (num, den) = chip.mau.clock.hz();
    let per_second =
        u128::from(num) * u128::from(power.packets_per_1000_cycles) / u128::from(den.max(1)) / 1000;
    Ceilings {
        gress: u64::try_from(per_second).unwrap_or(u64::MAX),
        recirculation: chip.ports.recirculation_rate.as_bps() / (8 * SHORTEST),
        recirculated_bytes: SHORTEST,
    }
}

/// Ports that must belong to one pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TogetherReport {
    /// Names of the shared registers.
    pub registers: Vec<String>,
    /// Ports, as users name them.
    pub ports: Vec<String>,
    /// Reason.
    pub why: String,
}

impl Report {
    /// Returns the report of a placed program.
    #[must_use]
    pub fn new(program: &Program, placement: &Placement) -> Report {
        let chip = &placement.chip;
        let cfgs = Gress::ALL.map(|g| placement.gress(g).cfg.clone());
        let graph = DependencyGraph::of(program, &cfgs, &placement.phv);
        let stages = stages(placement);
        let mut totals = [0; 20];
        for stage in &stages {
            for (total, used) in totals.iter_mut().zip(stage.used) {
                *total += used;
            }
        }
        let gresses = Gress::ALL.map(|g| gress(program, placement, &graph, g));
        let total = total(chip, &gresses);
        let power = super::power::of(program, placement);
        let tables = Gress::ALL.into_iter().flat_map(|g| tables(program, placement, &graph, g)).collect();
        Report {
            program: program.name.clone(),
            params: program.params.clone(),
            chip: chip.name.clone(),
            available: Column::ALL.map(|c| c.available(&chip.mau)),
            totals,
            stages,
            gresses,
            total,
            tables,
            arrays: super::arrays::of(program, placement),
            limits: limits::of(program, placement),
            phv: phv::summary(program, chip, &placement.phv),
            parser_rows_available: chip.parser.tcam_rows,
            deparser_spec: chip.deparser.clone(),
            assumptions: super::assumptions::of(program, chip),
            detail: Detail::new(program, placement, &graph),
            together: program.together.iter().map(|t| together(program, t)).collect(),
            demands: demands(program, placement),
            ceilings: ceilings(chip, &power),
            power,
            options: placement.options.clone(),
            next_tables: NextTables::of(program, placement),
            notes: Vec::new(),
        }
    }

    /// Returns the report with what the front end approximated or ignored.
    #[must_use]
    pub fn with_notes(self, notes: Vec<SourceNote>) -> Report {
        Report { notes, ..self }
    }

    /// Returns the number of stages up to the last one that any gress uses.
    #[must_use]
    pub fn stages_used(&self) -> u32 {
        self.gresses.iter().map(|g| g.stages_used).max().unwrap_or(0)
    }
}

/// Returns the resources of a deparser: id, name, units in use and available.
pub fn deparser_rows(report: &Report, gress: &GressReport) -> [(&'static str, &'static str, u32, u32); 9] {
    let (cost, spec) = (&gress.deparser, &report.deparser_spec);
    [
        ("dictionary_entries", "dictionary entries", cost.entries, spec.entries),
        ("dictionary_bytes", "bytes in these entries", cost.entry_bytes, cost.entries * spec.entry_bytes),
        ("pov_bits", "validity bits", cost.pov_bits, spec.pov_bits),
        ("pov_bytes", "bytes of validity bits", cost.pov_bytes, spec.pov_bits / 8),
        ("header_bytes", "bytes of headers", cost.header_bytes, spec.max_header_bytes),
        ("checksum_units", "checksum units", cost.checksum_units, spec.checksum_units),
        ("resubmit_bytes", "bytes resubmitted", cost.requests.resubmit, spec.resubmit_bytes),
        ("mirror_bytes", "bytes of mirror headers", cost.requests.mirror, spec.mirror_bytes),
        ("digest_bytes", "bytes of digests", cost.requests.digest, spec.digest_bytes),
    ]
}

/// Returns hundredths of a percent, rounded half up; 0 of 0 is 0.
#[must_use]
pub fn hundredths(used: u32, available: u32) -> u64 {
    let (used, available) = (u64::from(used), u64::from(available));
    (used * 20_000 + available).checked_div(2 * available).unwrap_or(0)
}

fn stages(placement: &Placement) -> Vec<StageReport> {
    let stages = placement.chip.mau.stages as u8;
    (0..stages)
        .map(|stage| {
            let mut used = [0; 20];
            for column in Column::ALL {
                used[column.index()] = count(placement, stage, column);
            }
            let dependency = |g: Gress| {
                let list = &placement.gress(g).dependencies;
                list.get(usize::from(stage)).copied().unwrap_or(StageDependency::Match)
            };
            StageReport { stage, used, dependencies: Gress::ALL.map(dependency) }
        })
        .collect()
}

/// Counts distinct units; of instruction memory, rows (model: chip §1.4).
fn count(placement: &Placement, stage: u8, column: Column) -> u32 {
    let units = placement.units.iter().map(|u| u.unit).filter(|u| u.stage == stage && u.column == column);
    let colours = column == Column::Vliw;
    units.map(|u| (u.row, if colours { 0 } else { u.col })).collect::<BTreeSet<_>>().len() as u32
}

fn gress(program: &Program, placement: &Placement, graph: &DependencyGraph, gress: Gress) -> GressReport {
    let placed = placement.gress(gress);
    let spec = &placement.chip.latency;
    let last = placed.nodes.values().flat_map(|n| &n.parts).map(|p| u32::from(p.stage) + 1).max();
    let name = |o: Owner| node_name(program, &placed.cfg, o.node);
    let chain = graph.critical_path(gress);
    let mut critical_path: Vec<String> = chain.first().map(|e| name(e.from)).into_iter().collect();
    critical_path.extend(chain.iter().map(|e| {
        let var = e.var.map_or_else(String::new, |v| format!(" through {}", words::var(program, v)));
        format!("{} ({}{var})", name(e.to), e.kind.name())
    }));
    let paths = parser::paths(program, gress, &placed.parser);
    GressReport {
        stages_used: last.unwrap_or(0),
        critical_length: graph.critical_length(gress),
        critical_path,
        mau_cycles: placed.mau_cycles,
        deparser_cycles: placed.deparser_cycles,
        paths: paths
            .list
            .iter()
            .map(|p| PathReport {
                path: p
                    .states
                    .iter()
                    .map(|&s| program.states[s].name.as_str())
                    .collect::<Vec<_>>()
                    .join(" > "),
                bytes: p.bytes,
                cycles: PassLatency::new(spec, p.cycles, Cycles(0)).parser.0,
            })
            .collect(),
        parser_rows: placed.parser.rows,
        parser_states: placed.parser.states.iter().map(|s| state(program, s)).collect(),
        parser_depth: (parser::deepest(program, gress), parser::reach(&placement.chip, gress)),
        deparser: placed.deparser,
    }
}

fn state(program: &Program, s: &PlacedState) -> StateReport {
    let before: u32 = s.extracted.iter().map(|n| u32::from(*n)).sum();
    let name = &program.states[s.state].name;
    StateReport {
        name: if before == 0 { name.clone() } else { format!("{name}+{before}") },
        cycles: s.cycles,
        rows: s.rows,
        extractors: s.extractors,
        match_bytes: s.match_bytes,
    }
}

fn total(chip: &ChipSpec, gresses: &[GressReport; 2]) -> Duration {
    let spec = &chip.latency;
    let pass = |g: &GressReport| PassLatency {
        parser: Cycles(g.paths.iter().map(|p| p.cycles).max().unwrap_or(u64::from(spec.parser_fixed))),
        mau: Cycles(u64::from(g.mau_cycles)),
        deparser: Cycles(u64::from(g.deparser_cycles)),
    };
    let speed = chip.ports.speeds.iter().find(|s| s.speed == chip.ports.default_speed);
    let hold = Cycles(speed.map_or(0, |s| u64::from(s.ingress_hold_cycles)));
    let [ingress, egress] = gresses;
    let packet = PacketLatency {
        mac_rx: spec.mac_rx + chip.mau.clock.span(hold),
        ingress: pass(ingress),
        tm: Cycles(u64::from(spec.tm_enqueue) + u64::from(spec.tm_dequeue)),
        egress: pass(egress),
        mac_tx: spec.mac_tx,
        ..PacketLatency::default()
    };
    packet.total(chip.mau.clock)
}

fn tables(
    program: &Program,
    placement: &Placement,
    graph: &DependencyGraph,
    gress: Gress,
) -> Vec<TableReport> {
    let placed = placement.gress(gress);
    placed.cfg.nodes.keys().map(|node| table(program, placement, graph, Owner { gress, node })).collect()
}

fn together(program: &Program, group: &TogetherData) -> TogetherReport {
    TogetherReport {
        registers: group.registers.iter().map(|r| program.registers[*r].name.clone()).collect(),
        ports: group.ports.iter().map(ToString::to_string).collect(),
        why: group.doc.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn table(program: &Program, placement: &Placement, graph: &DependencyGraph, owner: Owner) -> TableReport {
    let gress = placement.gress(owner.gress);
    let node: Node = owner.node;
    let placed = &gress.nodes[node];
    let units = |column| {
        let own = placement.units.iter().filter(|u| u.owner == owner && u.unit.column == column);
        own.count() as u32
    };
    let (kind, required, key_bits) = match &gress.cfg.nodes[node].kind {
        NodeKind::Gateway(_) => ("condition", 0, 0),
        NodeKind::Action(_) => ("keyless", 0, 0),
        NodeKind::Table(t) => {
            let data = &program.tables[*t];
            let bits = data.keys.iter().map(|k| k.compared(program).count_ones()).sum();
            let size = data.size.max(data.entries.len() as u32);
            match data.keys.iter().map(|k| k.kind).max() {
                None => ("keyless", 0, 0),
                Some(_) if data.algorithmic.is_some() => match data.algorithmic {
                    Some(Algorithmic::Alpm { .. }) => ("alpm", size, bits),
                    _ => ("atcam", size, bits),
                },
                Some(sluice_ir::MatchKind::Exact) => ("exact", size, bits),
                Some(_) => ("ternary", size, bits),
            }
        }
    };
    let rows = match &gress.cfg.nodes[node].kind {
        NodeKind::Table(t) if sluice_ir::rows::has_ranges(&program.tables[*t]) => {
            sluice_ir::rows::planned(program, &program.tables[*t])
        }
        _ => u64::from(required),
    };
    let actions = gress.cfg.actions(program, node);
    TableReport {
        rows,
        name: node_name(program, &gress.cfg, node),
        gress: owner.gress,
        control: if gress.cfg.is_ghost(node) { "ghost" } else { owner.gress.name() },
        kind,
        parts: placed.parts.clone(),
        min_stage: placed.min_stage,
        tail: graph.tail(owner),
        why: placed.why.clone(),
        required,
        allocated: placed.parts.iter().map(|p| u64::from(p.entries)).sum(),
        usable: usable(placement, owner, required),
        srams: units(Column::Sram),
        map_rams: units(Column::MapRam),
        tcams: units(Column::Tcam),
        key_bits,
        action_bits: actions.iter().map(|&a| param_bits(program, a)).max().unwrap_or(0),
        layout: placed.parts.iter().map(|p| layout(placement, owner, *p)).collect(),
        idle: idle(program, &gress.cfg.nodes[node].kind),
        condition: match &gress.cfg.nodes[node].kind {
            NodeKind::Gateway(cond) => sluice_ir::words::cond(program, cond),
            NodeKind::Table(_) | NodeKind::Action(_) => String::new(),
        },
        at: gress.cfg.nodes[node].loc,
    }
}

fn idle(program: &Program, kind: &NodeKind) -> Option<String> {
    let NodeKind::Table(table) = kind else { return None };
    let idle = program.tables[*table].idle?;
    let mode = if idle.mode == IdleMode::Notify { "notify" } else { "poll" };
    Some(format!("{mode} {} bits every {}", idle.bits, idle.interval))
}

/// Describes ways, width and packing of a part's match memory, from its units.
fn layout(placement: &Placement, owner: Owner, part: Part) -> String {
    if let Some(PartWays { sizes, width, pack }) = ways(placement, owner, part) {
        let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        let version = placement.chip.mau.version_bits;
        return format!("ways {sizes}, {width} wide, {pack} to a word, {version} version bits each");
    }
    let own = placement.units.iter().filter(|u| u.owner == owner && u.unit.stage == part.stage);
    let word = |purpose: &Purpose| if let Purpose::KeyWord(word) = purpose { Some(word + 1) } else { None };
    match own.filter_map(|u| word(&u.purpose)).max().unwrap_or(0) {
        0 => String::new(),
        words => format!("{} TCAM rows, {words} wide", part.entries),
    }
}
