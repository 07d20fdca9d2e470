//! The numbers of a report.

use super::arrays::ArrayReport;
use super::detail::Detail;
use super::limits::{self, Limit};
use super::next_table::NextTables;
use super::power::PowerReport;
use crate::deparser::DeparserCost;
use crate::params::param_bits;
use crate::phv::{self, PhvSummary};
use crate::{DependencyGraph, Options, Owner, Part, PlacedState, Placement, node_name, parser};
use sluice_asic::chip::{Assumption, ChipSpec, Column, DeparserSpec};
use sluice_asic::gress::Gress;
use sluice_asic::latency::{PacketLatency, PassLatency, StageDependency};
use sluice_asic::units::{Cycles, Duration};
use sluice_ir::cfg::{Node, NodeKind};
use sluice_ir::{Algorithmic, IdleMode, Loc, ParamValue, Program, TogetherData};
use std::collections::{BTreeMap, BTreeSet};

/// Units used of every column, by [`Column::index`].
pub type Usage = [u32; 20];

/// A stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// Stage from 0.
    pub stage: u8,
    /// Units used.
    pub used: Usage,
    /// How it depends on the stages before it, by [`Gress::index`].
    pub dependencies: [StageDependency; 2],
}

/// A path through a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathReport {
    /// State names, joined by ` > `.
    pub path: String,
    /// Bytes extracted.
    pub bytes: u32,
    /// Cycles, the parser's fixed ones included.
    pub cycles: u64,
}

/// One gress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GressReport {
    /// Stages from the first to the last one used.
    pub stages_used: u32,
    /// Stages that the longest chain of dependencies needs.
    pub critical_length: u32,
    /// One longest chain: node, why it waits, for what.
    pub critical_path: Vec<String>,
    /// Cycles of all stages.
    pub mau_cycles: u32,
    /// Cycles of the deparser.
    pub deparser_cycles: u32,
    /// Paths through the parser.
    pub paths: Vec<PathReport>,
    /// Parser rows used.
    pub parser_rows: u32,
    /// States in the hardware, in order of their rows.
    pub parser_states: Vec<StateReport>,
    /// Deepest byte that a path reads, and how deep the parser reaches.
    pub parser_depth: (u32, u32),
    /// Units of the deparser.
    pub deparser: DeparserCost,
}

/// A parser state in the hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateReport {
    /// Name; behind `+` the stack elements that were extracted before.
    pub name: String,
    /// Cycles.
    pub cycles: u16,
    /// TCAM rows.
    pub rows: u32,
    /// Extractors of 8, 16 and 32 bits; the second number counts all where all have 16.
    pub extractors: [u32; 3],
    /// Bytes matched.
    pub match_bytes: u32,
}

/// A node: a table, a keyless action or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReport {
    /// Name; `cond-N` for a condition.
    pub name: String,
    /// Gress.
    pub gress: Gress,
    /// It is one of the ghost control, which shares ingress' stages.
    pub ghost: bool,
    /// `exact`, `ternary`, `alpm`, `atcam`, `keyless` or `condition`.
    pub kind: &'static str,
    /// Where it is.
    pub parts: Vec<Part>,
    /// Earliest stage that dependencies alone allow.
    pub min_stage: u8,
    /// Stages that must follow its own because of what depends on it.
    pub tail: u32,
    /// Why it is not earlier than it is.
    pub why: String,
    /// Entries that it must hold.
    pub required: u32,
    /// Entries that its parts hold; with range keys, TCAM rows.
    pub allocated: u64,
    /// TCAM rows that it must have: more than entries when keys are compared by range.
    pub rows: u64,
    /// SRAMs of any purpose; those shared with others count in full.
    pub srams: u32,
    /// Map RAMs.
    pub map_rams: u32,
    /// TCAM blocks.
    pub tcams: u32,
    /// Key bits.
    pub key_bits: u32,
    /// Parameter bits of the widest action.
    pub action_bits: u32,
    /// How its entries stand in memory, part by part, as in `4 ways of 1 RAM, 1 wide, 3 to a word with 4 version bits`.
    pub layout: Vec<String>,
    /// How its entries age, as in `notify 3 bits every 10ms`.
    pub idle: Option<String>,
    /// Where the author wrote it.
    pub at: Loc,
}

/// Everything a report says about a program that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Program.
    pub program: String,
    /// Its parameters.
    pub params: Vec<ParamValue>,
    /// Chip.
    pub chip: String,
    /// Units of one stage, by column.
    pub available: Usage,
    /// Units used in all stages, by column.
    pub totals: Usage,
    /// Stages of the chip.
    pub stages: Vec<StageReport>,
    /// Per gress, by [`Gress::index`].
    pub gresses: [GressReport; 2],
    /// From wire to wire without queueing, on the longest parser paths and ports of the default speed.
    pub total: Duration,
    /// Nodes, ingress first, in program order.
    pub tables: Vec<TableReport>,
    /// Registers, meters and counters.
    pub arrays: Vec<ArrayReport>,
    /// What is closest to its limit, worst first.
    pub limits: Vec<Limit>,
    /// The PHV.
    pub phv: PhvSummary,
    /// Rows that each gress' parser has.
    pub parser_rows_available: u32,
    /// What a gress' deparser has.
    pub deparser_spec: DeparserSpec,
    /// Values that public sources do not give.
    pub assumptions: Vec<Assumption>,
    /// What stands behind the numbers.
    pub detail: Detail,
    /// Ports that state must see together.
    pub together: Vec<TogetherReport>,
    /// What the memories that packets touch take.
    pub power: PowerReport,
    /// What placement strove for and did without.
    pub options: Options,
    /// Outcomes that cross stages.
    pub next_tables: NextTables,
    /// Packets that a pipe can take.
    pub ceilings: Ceilings,
}

/// Packets per second that parts of a pipe can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// A gress: one per cycle, less where the deparser cannot keep as many as the stages hold (model: chip §6.4; cycles §6).
    pub gress: u64,
    /// The recirculation ports of a pipe together, with the shortest frames.
    pub recirculation: u64,
    /// Bytes of those frames on the line.
    pub recirculated_bytes: u64,
}

/// Bytes of the shortest frame with its FCS, preamble and gap.
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

/// Ports that must be of one pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TogetherReport {
    /// Names of the registers.
    pub registers: Vec<String>,
    /// The ports as users name them.
    pub ports: Vec<String>,
    /// Why.
    pub why: String,
}

impl Report {
    /// The report of a placed program.
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
            ceilings: ceilings(chip, &power),
            power,
            options: placement.options.clone(),
            next_tables: NextTables::of(program, placement),
        }
    }

    /// Stages up to the last one that any gress uses.
    #[must_use]
    pub fn stages_used(&self) -> u32 {
        self.gresses.iter().map(|g| g.stages_used).max().unwrap_or(0)
    }
}

/// What a deparser uses: id, words, used, available.
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

/// Hundredths of a percent, rounded half up; 0 of 0 is 0.
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

/// Distinct units; of instruction memory, rows (model: chip §1.4).
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
        let var = e.var.map_or_else(String::new, |v| format!(" through {}", v.name(program)));
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
            let bits = data.keys.iter().map(|k| u32::from(program.fields[k.field].width)).sum();
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
        ghost: gress.cfg.is_ghost(node),
        kind,
        parts: placed.parts.clone(),
        min_stage: placed.min_stage,
        tail: graph.tail(owner),
        why: placed.why.clone(),
        required,
        allocated: placed.parts.iter().map(|p| u64::from(p.entries)).sum(),
        srams: units(Column::Sram),
        map_rams: units(Column::MapRam),
        tcams: units(Column::Tcam),
        key_bits,
        action_bits: actions.iter().map(|&a| param_bits(program, a)).max().unwrap_or(0),
        layout: placed.parts.iter().map(|p| layout(placement, owner, *p)).collect(),
        idle: idle(program, &gress.cfg.nodes[node].kind),
        at: gress.cfg.nodes[node].loc,
    }
}

fn idle(program: &Program, kind: &NodeKind) -> Option<String> {
    let NodeKind::Table(table) = kind else { return None };
    let idle = program.tables[*table].idle?;
    let mode = if idle.mode == IdleMode::Notify { "notify" } else { "poll" };
    Some(format!("{mode} {} bits every {}", idle.bits, idle.interval))
}

/// Ways, width and packing of a part's match memory, from its units.
fn layout(placement: &Placement, owner: Owner, part: Part) -> String {
    let own = |column, purpose: &'static str| {
        let units = placement.units.iter().filter(move |u| u.owner == owner && u.unit.stage == part.stage);
        units.filter(move |u| u.unit.column == column && u.purpose.starts_with(purpose))
    };
    let number = |purpose: &str, at: usize| purpose.split(' ').nth(at).and_then(|w| w.parse::<u32>().ok());
    let mut ways: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for used in own(Column::Sram, "match way") {
        let (way, word) = (number(&used.purpose, 2), number(&used.purpose, 4));
        *ways.entry(way.unwrap_or(0)).or_default().entry(word.unwrap_or(0)).or_default() += 1;
    }
    if !ways.is_empty() {
        let width = ways.values().map(BTreeMap::len).max().unwrap_or(1);
        let sizes: Vec<u32> = ways.values().map(|words| words.values().copied().max().unwrap_or(0)).collect();
        let rows = sizes.iter().sum::<u32>() * placement.chip.mau.sram_depth;
        let pack = part.entries.div_ceil(rows.max(1));
        let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        let version = placement.chip.mau.version_bits;
        return format!("ways {sizes}, {width} wide, {pack} to a word, {version} version bits each");
    }
    let words = own(Column::Tcam, "key word").filter_map(|u| number(&u.purpose, 2));
    match words.max() {
        Some(last) => format!("{} TCAM rows, {} wide", part.entries, last + 1),
        None => String::new(),
    }
}
