//! Passes of placement in order, each with a printable result.

use super::bits::PhvView;
use super::data::{PhvAllocation, PlacedGress, PlacedParser, Placement};
use super::deparser::{self, DeparserCost};
use super::deps::{DependencyGraph, node_name};
use super::mau::gateway;
use super::mau::{self, PlacedTables, Search};
use super::nofit::{Exhausted, NoFit, Resource, ShortIn};
use super::options::{Optimisation, Options};
use super::steps::Steps;
use super::{conditions, parser, phv, timing, units, verify};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageUse;
use sluice_asic::limits;
use sluice_ir::cfg::Cfg;
use sluice_ir::verify::{Diag, Severity};
use sluice_ir::{Cond, Loc, Program};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// A pass of placement.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Name, by which a user requests the result: `sluice report NAME --dump PASS`.
    pub name: &'static str,
    /// Purpose, and the reason for its position.
    pub doc: &'static str,
    run: fn(&mut Work<'_>) -> Result<(), Failed>,
    print: fn(&Work<'_>) -> String,
}

/// All passes in order.
pub static PASSES: [PassInfo; 10] = [
    PassInfo {
        name: "chip",
        doc: "rejects programs that the chip cannot run in any placement; first, because its findings name the program's lines",
        run: chip_rules,
        print: |_| "nothing that the chip lacks\n".to_owned(),
    },
    PassInfo {
        name: "flow",
        doc: "flattens both control blocks into nodes; everything after works on nodes",
        run: cfg,
        print: print_flow,
    },
    PassInfo {
        name: "phv",
        doc: "gives fields their containers; before dependencies, because shared containers add some",
        run: allocate,
        print: print_phv,
    },
    PassInfo {
        name: "conditions",
        doc: "joins nested conditions where one gateway decides both; needs containers, because a gateway sees few bytes",
        run: conditions,
        print: print_flow,
    },
    PassInfo {
        name: "parser",
        doc: "splits parser states over cycles; needs containers, because extractors have their sizes",
        run: parsers,
        print: print_parser,
    },
    PassInfo {
        name: "deparser",
        doc: "checks the limits of the deparser; needs containers, because dictionary entries hold containers",
        run: deparsers,
        print: print_deparser,
    },
    PassInfo {
        name: "dependencies",
        doc: "finds the dependencies between nodes, and the earliest stage of each node; before, refuses more nodes than the chip has units",
        run: dependencies,
        print: print_dependencies,
    },
    PassInfo {
        name: "tables",
        doc: "gives nodes stages and units; needs containers (crossbar lanes) and dependencies",
        run: tables,
        print: print_tables,
    },
    PassInfo {
        name: "timing",
        doc: "derives stage dependencies and cycles; needs stages",
        run: timing_pass,
        print: print_timing,
    },
    PassInfo {
        name: "verify",
        doc: "checks the finished placement from its coordinates and the program, without the demands and pools of the passes above",
        run: check,
        print: |_| "no rule is broken\n".to_owned(),
    },
];

/// Inputs and results of the passes.
struct Work<'a> {
    program: &'a Program,
    chip: &'a ChipSpec,
    options: &'a Options,
    cfgs: [Cfg; 2],
    phv: PhvAllocation,
    parsers: [PlacedParser; 2],
    deparsers: [DeparserCost; 2],
    graph: DependencyGraph,
    tables: PlacedTables,
    stages: [Vec<StageUse>; 2],
    placement: Option<Placement>,
    steps: Rc<Steps>,
}

/// Reason why a pass failed.
struct Failed {
    diags: Vec<Diag>,
    first_exhausted: Option<Exhausted>,
}

impl Failed {
    fn no_fit(self, program: &Program, chip: &ChipSpec) -> NoFit {
        let Failed { diags, first_exhausted } = self;
        NoFit { program: program.name.clone(), chip: chip.name.clone(), diags, first_exhausted }
    }
}

/// Places a program on a chip.
///
/// # Errors
/// If it does not fit; the error has all findings and the resource that ran out first.
pub fn place(program: &Program, chip: &ChipSpec) -> Result<Placement, NoFit> {
    place_with(program, chip, &Options::default())
}

/// Like [`place`], with options.
///
/// # Errors
/// Returns the errors of [`place`].
pub fn place_with(program: &Program, chip: &ChipSpec, options: &Options) -> Result<Placement, NoFit> {
    let done = after(program, chip, options, &PASSES)?;
    let unfinished = Failed { diags: Vec::new(), first_exhausted: None };
    done.placement.ok_or_else(|| unfinished.no_fit(program, chip))
}

impl PassInfo {
    /// Returns the pass with this name.
    pub fn named(name: &str) -> Option<&'static PassInfo> {
        PASSES.iter().find(|pass| pass.name == name)
    }

    /// Runs the passes up to this one, and returns its result as text.
    ///
    /// # Errors
    /// If one of these passes finds that the program does not fit.
    pub fn dump(&self, program: &Program, chip: &ChipSpec, options: &Options) -> Result<String, NoFit> {
        let last = PASSES.iter().position(|pass| pass.name == self.name).unwrap_or(PASSES.len() - 1);
        Ok((self.print)(&after(program, chip, options, &PASSES[..=last])?))
    }
}

/// Runs passes, of which the first is that of [`PASSES`].
fn after<'a>(
    program: &'a Program,
    chip: &'a ChipSpec,
    options: &'a Options,
    passes: &[PassInfo],
) -> Result<Work<'a>, NoFit> {
    let mut work = Work {
        program,
        chip,
        options,
        cfgs: Default::default(),
        phv: PhvAllocation::default(),
        parsers: Default::default(),
        deparsers: Default::default(),
        graph: DependencyGraph::default(),
        tables: PlacedTables::default(),
        stages: Default::default(),
        placement: None,
        steps: Rc::new(Steps::new(limits::PLACING_STEPS.get())),
    };
    for pass in passes {
        let done = (pass.run)(&mut work);
        // A pass whose budget ends returns any result.
        if work.steps.are_over() {
            let mut nodes = work.cfgs.iter().flat_map(|cfg| cfg.nodes.values());
            let count = nodes.clone().count();
            let first = nodes.next().map_or(Loc::default(), |node| node.loc);
            let diag = work.steps.finding(pass.name, (count, first), chip.mau.stages);
            return Err(exhausted(vec![diag], Resource::Steps, ShortIn::Pipe).no_fit(program, chip));
        }
        done.map_err(|failed| failed.no_fit(program, chip))?;
    }
    Ok(work)
}

fn chip_rules(work: &mut Work<'_>) -> Result<(), Failed> {
    let mut diags = sluice_ir::verify::for_chip(work.program, work.chip);
    diags.retain(|d| d.severity == Severity::Error);
    if diags.is_empty() { Ok(()) } else { Err(Failed { diags, first_exhausted: None }) }
}

fn cfg(work: &mut Work<'_>) -> Result<(), Failed> {
    work.cfgs = Gress::ALL.map(|g| Cfg::of(work.program, g));
    Ok(())
}

fn allocate(work: &mut Work<'_>) -> Result<(), Failed> {
    work.phv = phv::allocate_in(work.program, work.chip, work.options, &work.cfgs, &work.steps)
        .map_err(|diags| exhausted(diags, Resource::Phv, ShortIn::Pipe))?;
    Ok(())
}

fn conditions(work: &mut Work<'_>) -> Result<(), Failed> {
    if work.options.may(Optimisation::JoinedConditions) {
        work.cfgs = Gress::ALL.map(|g| conditions::joined(work.program, g, &one_gateway(work)));
    }
    Ok(())
}

/// Returns a predicate that is true if one gateway can test a condition.
fn one_gateway<'a>(work: &'a Work<'_>) -> impl Fn(&Cond) -> bool + 'a {
    let view = PhvView::new(work.chip, &work.phv);
    move |cond| gateway::demand(work.program, &work.chip.mau, &view, cond, Loc::default()).is_ok()
}

fn parsers(work: &mut Work<'_>) -> Result<(), Failed> {
    for gress in Gress::ALL {
        work.parsers[gress.index()] = parser::place(work.program, work.chip, gress, &work.phv)
            .map_err(|diags| exhausted(diags, Resource::Parser, ShortIn::Gress(gress)))?;
    }
    Ok(())
}

fn deparsers(work: &mut Work<'_>) -> Result<(), Failed> {
    for gress in Gress::ALL {
        work.deparsers[gress.index()] = deparser::cost(work.program, work.chip, gress, &work.phv)
            .map_err(|diags| exhausted(diags, Resource::Deparser, ShortIn::Gress(gress)))?;
    }
    Ok(())
}

fn print_deparser(work: &Work<'_>) -> String {
    let line = |(gress, c): (Gress, &DeparserCost)| {
        format!(
            "{gress}: {} of {} dictionary entries ({} bytes in them), {} of {} validity bits, {} of {} header bytes, {} of {} checksum units, \
             {} of {} resubmitted bytes, {} of {} mirrored, {} of {} in digests\n",
            c.entries,
            work.chip.deparser.entries,
            c.entry_bytes,
            c.pov_bits,
            work.chip.deparser.pov_bits,
            c.header_bytes,
            work.chip.deparser.max_header_bytes,
            c.checksum_units,
            work.chip.deparser.checksum_units,
            c.requests.resubmit,
            work.chip.deparser.resubmit_bytes,
            c.requests.mirror,
            work.chip.deparser.mirror_bytes,
            c.requests.digest,
            work.chip.deparser.digest_bytes,
        )
    };
    Gress::ALL.into_iter().zip(&work.deparsers).map(line).collect()
}

fn exhausted(diags: Vec<Diag>, resource: Resource, place: ShortIn) -> Failed {
    let first = Exhausted { resource, place, contenders: Vec::new(), followers: 0 };
    Failed { diags, first_exhausted: Some(first) }
}

fn dependencies(work: &mut Work<'_>) -> Result<(), Failed> {
    if let Some((diag, first)) = units::too_many(work.program, work.chip, &work.cfgs) {
        return Err(Failed { diags: vec![diag], first_exhausted: Some(first) });
    }
    work.graph = graph(work, &work.cfgs);
    Ok(())
}

fn graph(work: &Work<'_>, cfgs: &[Cfg; 2]) -> DependencyGraph {
    let exclusion = work.options.may(Optimisation::MutualExclusion);
    DependencyGraph::with(work.program, cfgs, &work.phv, exclusion, &work.steps)
}

/// Result of scheduling, with the flow and the dependencies that it is for.
type Scheduled = ([Cfg; 2], DependencyGraph, PlacedTables);

fn tables(work: &mut Work<'_>) -> Result<(), Failed> {
    let options = work.options;
    let mut scheduled = scheduled(work, false);
    if !scheduled.as_ref().is_ok_and(|(_, graph, tables)| tables.cost.is_least(graph, options))
        && let Ok(other) = self::scheduled(work, true)
        && scheduled.as_ref().map_or(true, |(_, _, tables)| other.2.cost.saves(&tables.cost, options))
    {
        scheduled = Ok(other);
    }
    (work.cfgs, work.graph, work.tables) = scheduled?;
    Ok(())
}

/// Schedules all nodes in one of the two orders.
fn scheduled(work: &Work<'_>, chains_first: bool) -> Result<Scheduled, Failed> {
    let place = |cfgs: &[Cfg; 2], graph: &DependencyGraph, last_resort| {
        let search = Search { chains_first, last_resort, steps: &work.steps };
        mau::place(work.program, work.chip, work.options, cfgs, &work.phv, graph, search)
    };
    let plain = |tables| (work.cfgs.clone(), work.graph.clone(), tables);
    let failed = match place(&work.cfgs, &work.graph, false) {
        Ok(tables) => return Ok(plain(tables)),
        Err(failed) if failed.is_final => {
            return Err(Failed { diags: failed.diags, first_exhausted: failed.first_exhausted });
        }
        Err(failed) => failed,
    };
    let unreached = failed.first_exhausted.as_ref().is_some_and(|e| e.resource == Resource::LongBranches);
    // A condition that is tested twice has no outcome to carry over stages.
    let mut again = None;
    if work.options.may(Optimisation::RepeatedConditions) {
        let joined = work.options.may(Optimisation::JoinedConditions);
        let cfgs =
            Gress::ALL.map(|g| conditions::repeated(work.program, g, joined.then_some(&one_gateway(work))));
        let graph = graph(work, &cfgs);
        // An allocation in which fields take turns may rely on one test of a condition.
        let sound = phv::verify(work.program, work.chip, &cfgs, &work.phv).is_empty();
        again = sound.then_some((cfgs, graph));
    }
    for last_resort in [false, true] {
        // Delaying nodes only helps a program that lacks carriers and nothing else.
        if last_resort && !unreached {
            break;
        }
        if last_resort && let Ok(tables) = place(&work.cfgs, &work.graph, true) {
            return Ok(plain(tables));
        }
        if let Some((cfgs, graph)) = &again
            && let Ok(tables) = place(cfgs, graph, last_resort)
        {
            return Ok((cfgs.clone(), graph.clone(), tables));
        }
    }
    Err(Failed { diags: failed.diags, first_exhausted: failed.first_exhausted })
}

fn timing_pass(work: &mut Work<'_>) -> Result<(), Failed> {
    let view = PhvView::new(work.chip, &work.phv);
    let gresses = Gress::ALL.map(|gress| {
        let (cfg, nodes) = (&work.cfgs[gress.index()], &work.tables.nodes[gress.index()]);
        let stages = timing::stages(work.program, work.chip, &view, (gress, cfg), nodes, &work.tables.units);
        let latency = timing::latency(work.chip, gress, &stages);
        let placed = PlacedGress {
            cfg: cfg.clone(),
            nodes: nodes.clone(),
            parser: work.parsers[gress.index()].clone(),
            dependencies: latency.stages.iter().map(|s| s.dependency).collect(),
            mau_cycles: u32::try_from(latency.total.0).unwrap_or(u32::MAX),
            deparser_cycles: work.chip.latency.deparser,
            deparser: work.deparsers[gress.index()],
        };
        (placed, stages)
    });
    let [(ingress, ingress_stages), (egress, egress_stages)] = gresses;
    work.stages = [ingress_stages, egress_stages];
    work.placement = Some(Placement {
        chip: Arc::new(work.chip.clone()),
        phv: work.phv.clone(),
        gresses: [ingress, egress],
        units: work.tables.units.clone(),
        long_branches: work.tables.long_branches.clone(),
        options: work.options.clone(),
    });
    Ok(())
}

fn check(work: &mut Work<'_>) -> Result<(), Failed> {
    let diags = work.placement.as_ref().map(|p| verify(work.program, p)).unwrap_or_default();
    if diags.is_empty() { Ok(()) } else { Err(Failed { diags, first_exhausted: None }) }
}

fn print_flow(work: &Work<'_>) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let cfg = &work.cfgs[gress.index()];
        for (node, data) in cfg.nodes.iter() {
            let when: Vec<String> =
                cfg.outcomes(data.pred).iter().map(|(n, o)| format!("{n:?} {o:?}")).collect();
            let _ = writeln!(
                out,
                "{gress} {node:?} {} when [{}]",
                node_name(work.program, cfg, node),
                when.join(", ")
            );
        }
    }
    out
}

fn print_phv(work: &Work<'_>) -> String {
    let mut out = String::new();
    for row in phv::summary(work.program, work.chip, &work.phv).rows {
        let slices: Vec<String> = row
            .slices
            .iter()
            .map(|s| {
                format!(
                    "{}[{}:{}]@{}",
                    sluice_ir::words::var(work.program, s.var),
                    s.lo + s.width.max(1) - 1,
                    s.lo,
                    s.at
                )
            })
            .collect();
        let _ = writeln!(out, "{} {} {}", row.gress, row.name, slices.join(" "));
    }
    out
}

fn print_parser(work: &Work<'_>) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let placed = &work.parsers[gress.index()];
        let _ = writeln!(out, "{gress}: {} rows", placed.rows);
        for (state, data) in work.program.states.iter().filter(|(_, d)| d.gress == gress) {
            let cycles = placed.cycles.get(state).copied().unwrap_or(0);
            let _ = writeln!(out, "  {} {cycles} cycles", data.name);
        }
        for s in &placed.states {
            let _ = writeln!(
                out,
                "  rows {}..{} {} after {:?}: {} cycles, extractors {:?}, {} bytes matched",
                s.first_row,
                s.first_row + s.rows,
                work.program.states[s.state].name,
                s.extracted,
                s.cycles,
                s.extractors,
                s.match_bytes
            );
        }
    }
    out
}

fn print_dependencies(work: &Work<'_>) -> String {
    work.graph.dot(work.program, &work.cfgs)
}

fn print_tables(work: &Work<'_>) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let cfg = &work.cfgs[gress.index()];
        for (node, placed) in work.tables.nodes[gress.index()].iter() {
            let name = node_name(work.program, cfg, node);
            for p in &placed.parts {
                let _ = writeln!(
                    out,
                    "{gress} {name} stage {} id {} entries {}",
                    p.stage, p.logical_id, p.entries
                );
            }
        }
    }
    let view = PhvView::new(work.chip, &work.phv);
    for used in &work.tables.units {
        let purpose = used.purpose.text(work.program, &view);
        let cfg = &work.cfgs[used.owner.gress.index()];
        let (unit, name) = (used.unit, node_name(work.program, cfg, used.owner.node));
        let column: Column = unit.column;
        let _ = writeln!(out, "stage {} {column} {},{} {name}: {purpose}", unit.stage, unit.row, unit.col);
    }
    out
}

fn print_timing(work: &Work<'_>) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let latency = timing::latency(work.chip, gress, &work.stages[gress.index()]);
        for (i, s) in latency.stages.iter().enumerate() {
            let (length, adds) = (s.length.0, s.contribution.0);
            let _ = writeln!(out, "{gress} stage {i} {:?} length {length} adds {adds}", s.dependency);
        }
        let _ = writeln!(out, "{gress} total {}", latency.total.0);
    }
    out
}
