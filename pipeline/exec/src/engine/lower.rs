//! Lowering: a placed program becomes, per gress, a parser tree, a list of steps in order of stage and logical id, and
//! a deparser.
//!
//! All tables of a stage see the PHV as it was at the start of the stage. The steps of a stage run one after another
//! and in place, which gives the same result unless a table reads a container that an earlier table of the stage
//! writes. A legal placement has no such pair. Where a pair occurs, the stage first copies the container to a *shadow*
//! column for the later table to read, so that an illegal placement computes what the chip would.

use super::action::{Lowering, Op, Registers};
use super::code::{GressCode, Step};
use super::covering::{Covering, every_lane};
use super::deparser::{DeparserCode, containers_of, may_change};
use super::error::LowerError;
use super::field::SlotMap;
use super::gateway::Gate;
use super::hash::HashPlan;
use super::parser::ParserBuilder;
use super::port::PortCode;
use super::register::{AccessPlan, Array, Work, noted};
use super::request::RequestCode;
use super::table::EngineTable;
use super::walk::{Arm, Wake};
use crate::cover::Points;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Outcome, Pred, Var};
use sluice_ir::entity::EntityMap;
use sluice_ir::exchange::exchanged;
use sluice_ir::salu::{self, Mapped};
use sluice_ir::verify::Diag;
use sluice_ir::{Header, Home, Intrinsic, ParserOpKind, PrimitiveKind, Program, Random, Register};
use sluice_place::{PlacedGress, Placement};
use std::collections::{BTreeMap, BTreeSet};

/// Lowers one gress.
pub(super) fn lower(
    program: &Program,
    placement: &Placement,
    gress: Gress,
    points: Option<&Points>,
) -> Result<GressCode, LowerError> {
    let placed = placement.gress(gress);
    let mut slots = SlotMap::new(&placement.phv);
    let mut hashes = Vec::new();
    let mut tables = Vec::new();
    let written = written_containers(program, placed, gress, &slots);
    let randoms = program.randoms.iter().filter(|(_, data)| data.gress == gress);
    let randoms: Vec<(Random, u32)> = randoms.map(|(r, data)| (r, data.width.into())).collect();
    let mut registers = Registers {
        mapped: mapped(program, &placement.chip)?,
        plans: Vec::new(),
        randoms: randoms.iter().map(|(r, _)| *r).collect(),
        covered: points.is_some(),
    };
    let every = usize::from(every_lane(placed));
    let mut cover = Covering::new(program, placed, gress, points);
    let mut steps =
        steps(program, placed, &mut slots, (&mut hashes, &mut registers), &mut tables, &mut cover)?;
    let noted = settle(program, placed, &mut registers.plans, &mut steps);
    let (due, mut steps): (Vec<u16>, Vec<Step>) = steps.into_iter().unzip();
    for (at, step) in steps.iter_mut().enumerate() {
        step.arms_mut().into_iter().for_each(|arm| arm.link(at, &due, cover.preds));
        if let Step::Table { table, hit, miss, .. } = step {
            tables[*table].tells_hits(hit.decides.is_some() || miss.decides.is_some());
        }
    }
    let ghost = placed.cfg.ghost.map(index);
    let starts = [Some(0), ghost].map(|root| {
        let begins = |pred: &u16| usize::from(*pred) == every || root == Some(usize::from(*pred));
        Wake::of(due.iter().enumerate().filter(|(_, pred)| begins(pred)).map(|(at, _)| at))
    });
    for table in &mut tables {
        if let Some((first, entries)) = points.and_then(|p| p.fixed(table.table())) {
            table.watch(first, entries);
        }
    }
    let writes_once = !placement.chip.parser.clear_on_write;
    let mut parser = ParserBuilder::new(program, gress, &placed.parser.cycles, points, writes_once);
    parser.unroll(&mut Lowering {
        program,
        slots: &mut slots,
        hashes: &mut hashes,
        registers: &mut registers,
    })?;
    let deparser = DeparserCode::new(program, gress, &made_headers(program, gress), &written, &mut slots)?;
    let touched = touched_containers(program, gress, &written, &slots);
    let requests = RequestCode::new(program, gress, &touched, &mut slots)?;
    let field = |slots: &mut SlotMap<'_>, which| program.intrinsic(gress, which).map(|f| slots.source(f));
    let told = |slots: &mut SlotMap<'_>, which| {
        program.intrinsic(gress, which).filter(|f| may_change(*f, &touched, slots)).map(|f| slots.source(f))
    };
    let port = field(&mut slots, Intrinsic::UcastEgressPort);
    let outputs = [
        Intrinsic::Qid,
        Intrinsic::IngressCos,
        Intrinsic::BypassEgress,
        Intrinsic::DeflectOnDrop,
        Intrinsic::PacketColor,
    ];
    let [qid, cos, bypass, deflect, colour] = outputs.map(|which| told(&mut slots, which));
    let port_metadata = PortCode::new(program, gress, &mut slots);
    let mut inputs = Vec::new();
    for row in Intrinsic::TABLE.iter().filter(|r| r.exists_in(gress)) {
        // A field that starts as zero needs no write, and a field that nothing reads has no column.
        let Some(at) = program.intrinsic(gress, row.field).filter(|_| !row.starts_zero()) else { continue };
        let at = slots.known(at);
        if !at.pieces.is_empty() {
            inputs.push((row.field, at));
        }
    }
    Ok(GressCode {
        chooses_port: gress == Gress::Ingress,
        port,
        qid,
        cos,
        bypass,
        deflect,
        colour,
        requests,
        port_metadata,
        sees_errors: program.intrinsic(gress, Intrinsic::ParserErr).is_some(),
        parser: parser.finish(&slots)?,
        steps,
        due,
        tables,
        hashes,
        timed: registers.plans.iter().any(|p| matches!(p.work, Work::Meter(_))),
        accesses: registers.plans,
        noted,
        randoms,
        deparser,
        // One more predicate, for outcomes on which nothing depends.
        preds: cover.preds + 1,
        every,
        starts,
        covered: cover.covered,
        points: points.map_or(0, |points| points.list().len()),
        ghost,
        slots: slots.len(),
        inputs,
    })
}

/// Returns the headers that actions or the parser of the gress may make valid without bytes of the packet.
fn made_headers(program: &Program, gress: Gress) -> BTreeSet<Header> {
    let actions = program.actions.values().filter(|a| a.gress == gress);
    let ops = program.states.values().filter(|s| s.gress == gress).flat_map(|s| &s.ops);
    let parsed =
        ops.filter_map(|op| if let ParserOpKind::SetValid(h, true) = op.kind { Some(h) } else { None });
    let made = actions.flat_map(|a| &a.body).filter_map(|p| match p.kind {
        PrimitiveKind::SetValid(h, true) | PrimitiveKind::CopyValid(h, _) => Some(h),
        _ => None,
    });
    made.chain(parsed).collect()
}

/// Returns the containers that the parser or an action of the gress may change after extraction.
fn written_containers(
    program: &Program,
    placed: &PlacedGress,
    gress: Gress,
    slots: &SlotMap<'_>,
) -> BTreeSet<Container> {
    let mut set = BTreeSet::new();
    for node in placed.cfg.nodes.keys() {
        for var in placed.cfg.effects(program, node).writes {
            if let Var::Field(f) = var {
                set.extend(containers_of(f, slots));
            }
        }
    }
    for state in program.states.values().filter(|s| s.gress == gress) {
        for op in &state.ops {
            if let Some(f) = op.kind.written().filter(|f| matches!(program.fields[*f].home, Home::Header(_)))
            {
                set.extend(containers_of(f, slots));
            }
        }
    }
    set
}

/// Returns `written` and the containers of fields that the parser sets. A field that starts as zero and has none of
/// these containers is zero at the deparser.
fn touched_containers(
    program: &Program,
    gress: Gress,
    written: &BTreeSet<Container>,
    slots: &SlotMap<'_>,
) -> BTreeSet<Container> {
    let mut set = written.clone();
    for op in program.states.values().filter(|s| s.gress == gress).flat_map(|s| &s.ops) {
        set.extend(op.kind.written().into_iter().flat_map(|f| containers_of(f, slots)));
    }
    set
}

/// Returns the nodes in order of execution: by stage and logical id of their last part.
fn order(placed: &PlacedGress) -> Vec<(u8, u8, Node)> {
    let mut list: Vec<(u8, u8, Node)> = placed
        .nodes
        .iter()
        .map(|(node, p)| p.parts.last().map_or((0, 0, node), |part| (part.stage, part.logical_id, node)))
        .collect();
    list.sort_unstable();
    list
}

/// Maps the actions of every register to the stateful ALU.
fn mapped(program: &Program, chip: &ChipSpec) -> Result<EntityMap<Register, Mapped>, LowerError> {
    let refuse =
        |diags: Vec<Diag>| LowerError::new(diags.first().map_or_else(String::new, |d| d.text.clone()));
    program.registers.keys().map(|r| salu::map(program, r, chip).map_err(refuse)).collect()
}

/// Chooses the arrays with several users, whose accesses are noted first, and inserts the step that performs them after
/// the last user. Returns the number of such arrays.
fn settle(
    program: &Program,
    placed: &PlacedGress,
    plans: &mut [AccessPlan],
    steps: &mut Vec<(u16, Step)>,
) -> usize {
    let noted = noted(plans);
    for plan in plans {
        plan.note = noted.binary_search(&plan.array()).ok();
    }
    let order = order(placed);
    for (n, array) in noted.iter().enumerate() {
        let uses = |node: Node| {
            let actions = placed.cfg.actions(program, node);
            let mut body = actions.iter().flat_map(|&a| &program.actions[a].body);
            body.any(|p| match &p.kind {
                PrimitiveKind::Register(access) => {
                    *array == Array::Register(program.register_actions[access.action].register)
                }
                PrimitiveKind::Meter(access) => *array == Array::Meter(access.meter),
                _ => false,
            })
        };
        // Snapshots, probes and earlier settlements are steps, but not nodes.
        let Some(last) = order.iter().rposition(|(.., node)| uses(*node)) else { continue };
        let nodes = steps.iter().enumerate();
        let mut nodes =
            nodes.filter(|(_, (_, s))| !matches!(s, Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_)));
        let at = nodes.nth(last).map_or(steps.len(), |(i, _)| i + 1);
        match steps.get_mut(at) {
            Some((_, Step::Settle(list))) => list.push(n),
            _ => steps.insert(at, (every_lane(placed), Step::Settle(vec![n]))),
        }
    }
    noted.len()
}

fn steps(
    program: &Program,
    placed: &PlacedGress,
    slots: &mut SlotMap<'_>,
    (hashes, registers): (&mut Vec<HashPlan>, &mut Registers),
    tables: &mut Vec<EngineTable>,
    cover: &mut Covering<'_>,
) -> Result<Vec<(u16, Step)>, LowerError> {
    let mut steps = Vec::new();
    let order = order(placed);
    for stage in order.chunk_by(|a, b| a.0 == b.0) {
        let nodes: Vec<Node> = stage.iter().map(|(_, _, n)| *n).collect();
        let hazards = hazards(program, &placed.cfg, &nodes, slots);
        let mut shadows = BTreeMap::new();
        let mut copies = Vec::new();
        for c in hazards.values().flatten() {
            shadows.entry(*c).or_insert_with(|| {
                let shadow = slots.scratch();
                copies.push((slots.slot(*c), shadow));
                shadow
            });
        }
        if !copies.is_empty() {
            steps.push((every_lane(placed), Step::Snapshot(copies)));
        }
        for node in nodes {
            let of_node = hazards.get(&node).map_or(&[][..], Vec::as_slice);
            slots.set_shadow(of_node.iter().map(|c| (*c, shadows[c])).collect());
            let pred = index(placed.cfg.nodes[node].pred) as u16;
            steps.extend(cover.probe(program, &placed.cfg, node, slots).map(|probe| (pred, probe)));
            let step = step(program, &placed.cfg, node, slots, (&mut *hashes, &mut *registers), tables);
            slots.set_shadow(BTreeMap::new());
            let mut step = step?;
            cover.step(program, &placed.cfg, node, &mut step);
            steps.push((pred, step));
        }
    }
    Ok(steps)
}

/// Returns, for each node of a stage, the containers that it reads and that an earlier node of the stage writes, or
/// that it writes itself: as another field, because fields that share a container can meet in one action, which reads the old
/// field before it writes the new one, or in an exchange of values.
fn hazards(
    program: &Program,
    cfg: &Cfg,
    nodes: &[Node],
    slots: &SlotMap<'_>,
) -> BTreeMap<Node, Vec<Container>> {
    let mut found = BTreeMap::new();
    let mut dirty: Vec<(Node, Container)> = Vec::new();
    for &node in nodes {
        let e = cfg.effects(program, node);
        let reads: BTreeSet<Container> =
            e.match_reads.iter().chain(&e.action_reads).flat_map(|v| var_containers(*v, slots)).collect();
        let mut list: Vec<Container> = dirty
            .iter()
            .filter(|(writer, c)| reads.contains(c) && !cfg.exclusive(*writer, node))
            .filter(|(writer, c)| shares_a_variable(program, cfg, *writer, node, *c, slots))
            .map(|(_, c)| *c)
            .collect();
        for (read, write) in e.action_reads.iter().flat_map(|r| e.writes.iter().map(move |w| (r, w))) {
            if let (Var::Field(read), Var::Field(write)) = (*read, *write)
                && read != write
            {
                list.extend(slots.shared(read, write));
            }
        }
        for action in cfg.actions(program, node) {
            let fields = exchanged(program, &program.actions[action].body);
            list.extend(fields.into_iter().flat_map(|field| containers_of(field, slots)));
        }
        list.sort_unstable();
        list.dedup();
        if !list.is_empty() {
            found.insert(node, list);
        }
        dirty.extend(e.writes.iter().flat_map(|v| var_containers(*v, slots)).map(|c| (node, c)));
    }
    found
}

/// Returns true if `writer` writes a variable that `reader` reads in this container.
fn shares_a_variable(
    program: &Program,
    cfg: &Cfg,
    writer: Node,
    reader: Node,
    container: Container,
    slots: &SlotMap<'_>,
) -> bool {
    let reads = cfg.effects(program, reader);
    let mut vars = reads.match_reads.iter().chain(&reads.action_reads);
    let writes = cfg.effects(program, writer).writes;
    vars.any(|v| writes.contains(v) && var_containers(*v, slots).contains(&container))
}

fn var_containers(var: Var, slots: &SlotMap<'_>) -> Vec<Container> {
    match var {
        Var::Field(f) => containers_of(f, slots).collect(),
        Var::Valid(h) => slots.pov(h).map(|p| p.container).into_iter().collect(),
    }
}

/// Returns the arm for an outcome of a node, with the predicate that the outcome decides.
fn decided(cfg: &Cfg, node: Node, wanted: Outcome) -> Arm {
    let pred = cfg.decided_by(node).find(|(_, o)| *o == wanted).map(|(p, _)| index(p));
    Arm::of(pred)
}

fn index(pred: Pred) -> usize {
    sluice_ir::entity::Entity::index(pred)
}

fn step(
    program: &Program,
    cfg: &Cfg,
    node: Node,
    slots: &mut SlotMap<'_>,
    (hashes, registers): (&mut Vec<HashPlan>, &mut Registers),
    tables: &mut Vec<EngineTable>,
) -> Result<Step, LowerError> {
    Ok(match &cfg.nodes[node].kind {
        NodeKind::Gateway(cond) => Step::Gateway {
            gate: Gate::new(program, cond, slots),
            then: decided(cfg, node, Outcome::Then),
            otherwise: decided(cfg, node, Outcome::Else),
        },
        NodeKind::Table(table) => {
            let lowered = EngineTable::new(program, *table, slots, |action, slots| {
                Lowering { program, slots, hashes: &mut *hashes, registers: &mut *registers }.action(action)
            })?;
            let ran = lowered.actions.iter().map(|(a, _)| decided(cfg, node, Outcome::Ran(*a))).collect();
            tables.push(lowered);
            Step::Table {
                table: tables.len() - 1,
                hit: decided(cfg, node, Outcome::Hit),
                miss: decided(cfg, node, Outcome::Miss),
                ran,
            }
        }
        NodeKind::Action(action) => {
            let code = Lowering { program, slots, hashes, registers }.action(*action)?;
            debug_assert!(
                !code.ops.iter().any(|op| matches!(op, Op::Arg { .. } | Op::Args(_))),
                "a keyless action has no arguments"
            );
            Step::Action { code, action: *action, ran: decided(cfg, node, Outcome::Ran(*action)) }
        }
    })
}
