//! Random traffic through random state, with an uplink that fails and comes back: both engines agree, every host is
//! reached, and no packet is sent on a port that does not lead there.

use crate::flowlet::world::{Fate, Packet, World, frame, numbered};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::salu::State as Element;
use sluice_asic::tm::AfcWord;
use sluice_control::{ControlOp, ControlState, Then};
use sluice_exec::engine::Engine;
use sluice_exec::pass::{Executor, GhostUpdate};
use sluice_exec::reference::Reference;
use sluice_ir::{ActionCall, KeyValue};
use std::sync::OnceLock;

/// A step: a wait in ns, then a packet of this flow to this network; before it a queue may change.
#[derive(Clone, Debug)]
struct Step {
    gap: u64,
    flow: u32,
    network: u8,
    queue: Option<(u16, u32)>,
}

/// A run: traffic before, during and after a failure, and initial values of the registers.
#[derive(Clone, Debug)]
struct Story {
    origin: u64,
    steps: Vec<Step>,
    failure: usize,
    returns: usize,
    /// Uplink that fails, of the first two.
    dead: u16,
    held: Vec<u64>,
}

fn story() -> impl Strategy<Value = Story> {
    let network = prop::sample::select(vec![1u8, 2, 7, 7]);
    let queue = prop::option::weighted(0.3, (0u16..8, 0u32..60));
    let step = (0u64..70_000, 0u32..24, network, queue).prop_map(|(gap, flow, network, queue)| Step {
        gap,
        flow,
        network,
        queue,
    });
    let origin = prop::sample::select(vec![1_000_000u64, (1 << 40) - 500_000, (1 << 48) - 900_000]);
    let steps = prop::collection::vec(step, 20..90);
    let held = prop::collection::vec(any::<u64>(), 16);
    (origin, steps, 0.0..0.7f64, 0.0..1.0f64, 0u16..2, held).prop_map(
        |(origin, steps, failure, returns, dead, held)| {
            let failure = (failure * steps.len() as f64) as usize;
            let returns = failure + (returns * (steps.len() - failure) as f64) as usize;
            Story { origin, steps, failure, returns, dead, held }
        },
    )
}

/// A program on a chip, with the operations of its control plane for the failure of either of the first two uplinks.
struct Bench {
    world: World,
    /// By uplink: operations when it goes down, and when it is back.
    changed: [[ControlState; 2]; 2],
    /// First uplink, and number of uplinks.
    first: u16,
    uplinks: u16,
}

impl Bench {
    fn new(chip: &ChipSpec, name: &str, params: &[&str], uplinks: u16) -> Bench {
        let world = World::on(chip, name, params);
        let first = if matches!(name, "conga" | "hula") { 4 } else { 8 };
        let changed = [0, 1].map(|dead| [down(&world, dead, (first, uplinks.into())), back(&world)]);
        Bench { world, changed, first, uplinks }
    }
}

fn insert(world: &World, table: &str, key: u128, action: &str, args: &[u128]) -> ControlOp {
    let table = world.program.table_named(table).unwrap();
    let action = world.program.action_named(action).unwrap();
    let then = Then::Call(ActionCall { action, args: args.to_vec() });
    ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(key)], priority: 0, then }
}

/// Raises the generations of both groups, if the program has generations.
fn back(world: &World) -> ControlState {
    let mut control = world.control.clone();
    if world.program.table_named("generation").is_some() {
        for group in [1, 2] {
            let raise = insert(world, "generation", group, "set_generation", &[2 << 16]);
            control.apply(&world.program, raise).unwrap();
        }
    }
    control
}

/// Raises the generations and takes the uplink out of both groups, as the handbook says for each program.
fn down(world: &World, dead: u32, (first, uplinks): (u16, u32)) -> ControlState {
    let mut control = back(world);
    let program = &world.program;
    let mut apply = |op: ControlOp| control.apply(program, op).unwrap();
    let profiles: Vec<_> = program.profiles.iter().map(|(profile, _)| profile).collect();
    for profile in profiles {
        apply(ControlOp::SetMemberActive { profile, group: 1, member: dead, active: false });
        apply(ControlOp::SetMemberActive { profile, group: 2, member: uplinks + dead, active: false });
    }
    if let Some(table) = program.table_named("uplink") {
        // Numbers of the larger group wrap around in the smaller one.
        let port = u128::from(world.dev_port(first + dead as u16));
        let leads = |then: &Then| matches!(then, Then::Call(call) if call.args == [port]);
        let entries = world.control.tables[table].entries();
        for (entry, _) in entries.filter(|(_, e)| leads(&e.then)) {
            apply(ControlOp::DeleteEntry { table, entry });
        }
    }
    if program.name == "conga" {
        let table = program.table_named("reach").unwrap();
        let key = [KeyValue::Exact(2)];
        let entry = world.control.tables[table].entries().find(|(_, e)| e.key == key).unwrap().0;
        apply(ControlOp::DeleteEntry { table, entry });
        let without = |far: u128| {
            let base = |n: u32| {
                if n == dead {
                    31
                } else if n < 2 {
                    0
                } else {
                    far
                }
            };
            (0..uplinks.max(4)).map(base).collect::<Vec<u128>>()
        };
        apply(insert(world, "reach", 1, "set_reach", &without(0)));
        apply(insert(world, "reach", 2, "set_reach", &without(31)));
    }
    if program.name == "flare" {
        let table = program.table_named("path_up").unwrap();
        for group in [1, 2] {
            let key = [KeyValue::Exact(group), KeyValue::Exact(dead.into())];
            let entry = world.control.tables[table].entries().find(|(_, e)| e.key == key).unwrap().0;
            apply(ControlOp::DeleteEntry { table, entry });
        }
    }
    control
}

/// Fills the registers with values that some run could have left.
fn remember(bench: &Bench, executor: &mut dyn Executor, story: &Story) {
    let world = &bench.world;
    let now = story.origin >> 8;
    let ago = |ticks: u64| now.wrapping_sub(ticks) & 0xffff_ffff;
    let held = |at: usize| story.held[at % story.held.len()];
    // Members of the first generation, also of the one before it, and any timestamps.
    // More than four uplinks of CONGA are stored as four copies of their numbers.
    let copies = if world.program.name == "conga" && bench.uplinks > 4 { 0x1111 } else { 1 };
    let member = |at: usize| ((held(at) >> 40 & 1) << 16) | (held(at) % u64::from(bench.uplinks) * copies);
    let stamp = |at: usize| held(at) >> 8 & 0xffff_ffff;
    let level = |at: usize| 8 + (held(at) >> 20) % 8;
    let has = |name: &str| world.program.register_named(name).is_some();
    if has("flowlet") {
        world.write(executor, "flowlet", (0..1 << 12).map(|n| Element::pair(stamp(n), member(n))));
    }
    if has("last_seen") {
        world.write(executor, "last_seen", (0..1 << 12).map(|n| Element::single(stamp(n))));
    }
    if has("flowlet_member") {
        world.write(executor, "flowlet_member", (0..1 << 12).map(|n| Element::single(member(n))));
    }
    if has("life") {
        world.write(executor, "life", (0..1 << 12).map(|n| Element::single(held(n) % 3)));
    }
    match world.program.name.as_str() {
        "conga" => {
            for uplink in 0..usize::from(bench.uplinks) {
                let told = (0..16).map(|n| Element::pair(level(n + uplink), ago(held(n) % 80_000)));
                world.write_at(executor, &numbered("local", uplink), 0, Element::single(level(uplink)));
                world.write(executor, &numbered("to_leaf", uplink), told);
            }
        }
        "hula" => {
            world.write(executor, "best_hop", (0..8).map(|n| Element::single(held(n) % 6)));
            let paths = (0..8).map(|n| Element::pair(held(n) % 128, ago(held(n) % 5_000)));
            world.write(executor, "best_path", paths);
        }
        "flare" => world.write(executor, "least", (0..4).map(|n| Element::pair(0, held(n) % 9))),
        "drill" => {
            for bank in 0..2 {
                let memory = (0..8).map(|n| Element::pair(held(n) >> 10 & 63, 1 << 16 | member(n) & 0xffff));
                world.write(executor, &numbered("memory", bank), memory);
            }
        }
        _ => {}
    }
}

/// Changes an uplink's queue, if the program has a ghost control.
fn queue(bench: &Bench, executor: &mut dyn Executor, (uplink, cells): (u16, u32)) {
    let port = DevPort::new(bench.world.dev_port(bench.first + uplink % bench.uplinks)).unwrap();
    let word = AfcWord::for_queue(&ChipSpec::tofino2(), port, 0, 0).unwrap();
    let qid = u16::from(word.mac) << 7 | u16::from(word.queue);
    executor.ghost(&GhostUpdate { ping_pong: false, qlength: cells, qid, pipe: word.pipe });
}

/// Sends the packets of some steps; the clock advances.
fn part(
    bench: &Bench,
    executor: &mut dyn Executor,
    batch: usize,
    steps: &[Step],
    now: &mut u64,
) -> Vec<Fate> {
    let ghost = bench.world.program.name == "drill";
    let mut fates = Vec::new();
    let mut waiting: Vec<Packet> = Vec::new();
    for step in steps {
        if let Some(change) = step.queue.filter(|_| ghost) {
            // No batch extends across an update.
            fates.extend(bench.world.run(executor, &std::mem::take(&mut waiting), batch));
            queue(bench, executor, change);
        }
        *now = (*now + step.gap) & 0xffff_ffff_ffff;
        waiting.push(Packet { ns: *now, bytes: frame(step.flow, step.network, 100) });
    }
    fates.extend(bench.world.run(executor, &waiting, batch));
    fates
}

/// Runs the whole story on executors that `make` makes from the control plane's state.
fn told<E: Executor>(
    bench: &Bench,
    story: &Story,
    batch: usize,
    make: impl Fn(&ControlState) -> E,
) -> (Vec<Fate>, E) {
    let mut now = story.origin;
    let [down, back] = &bench.changed[usize::from(story.dead)];
    let mut executor = make(&bench.world.control);
    remember(bench, &mut executor, story);
    let mut fates = part(bench, &mut executor, batch, &story.steps[..story.failure], &mut now);
    let parts = [(down, &story.steps[story.failure..story.returns]), (back, &story.steps[story.returns..])];
    for (control, steps) in parts {
        let state = executor.state().clone();
        executor = make(control);
        *executor.state_mut() = state;
        if bench.world.program.name == "hula" {
            // The best hop is cleared together with the port.
            let empty = (0..8).map(|_| Element::pair(0, 0));
            bench.world.write(&mut executor, "best_hop", (0..8).map(|_| Element::single(0xffff)));
            bench.world.write(&mut executor, "best_path", empty);
        }
        fates.extend(part(bench, &mut executor, batch, steps, &mut now));
    }
    (fates, executor)
}

fn holds(bench: &Bench, story: &Story) -> Result<(), TestCaseError> {
    let world = &bench.world;
    let (wanted, reference) =
        told(bench, story, 1, |control| Reference::new(&world.program, control, Default::default()));
    for batch in [1, 7, 64] {
        let (fates, engine) = told(bench, story, batch, |control| {
            Engine::new(&world.program, &world.placement, control).unwrap()
        });
        prop_assert_eq!(&fates, &wanted, "batch {}", batch);
        let (found, wanted) = (engine.state(), reference.state());
        prop_assert!(
            found.registers == wanted.registers && found.counters == wanted.counters,
            "state, batch {}",
            batch
        );
    }
    for (n, (step, fate)) in story.steps.iter().zip(&wanted).enumerate() {
        let Ok(port) = fate else {
            return Err(TestCaseError::fail(format!("packet {n}: {fate:?}")));
        };
        let leads = match step.network {
            1 => *port == 0,
            2 => (bench.first..bench.first + 2).contains(port),
            _ => (bench.first..bench.first + bench.uplinks).contains(port),
        };
        prop_assert!(leads, "packet {} to 10.{} left by {}", n, step.network, port);
        let failed = (story.failure..story.returns).contains(&n);
        prop_assert!(!failed || *port != bench.first + story.dead, "packet {} by the dead uplink", n);
    }
    Ok(())
}

/// Benches are made only once.
fn benches(name: &'static str) -> &'static [Bench] {
    static CONGA: OnceLock<Vec<Bench>> = OnceLock::new();
    static HULA: OnceLock<Vec<Bench>> = OnceLock::new();
    static DRILL: OnceLock<Vec<Bench>> = OnceLock::new();
    static OTHERS: OnceLock<Vec<Bench>> = OnceLock::new();
    let (two, one) = (ChipSpec::tofino2(), ChipSpec::tofino());
    let small = ["timeout=20us", "flowlets=4"];
    match name {
        "conga" => CONGA.get_or_init(|| {
            vec![
                Bench::new(&two, "conga", &small, 4),
                Bench::new(&two, "conga", &[&small[..], &["uplinks=4-11"]].concat(), 8),
                Bench::new(&one, "conga", &[&small[..], &["uplinks=4-6"]].concat(), 3),
            ]
        }),
        "hula" => HULA.get_or_init(|| [two, one].map(|chip| Bench::new(&chip, "hula", &small, 4)).into()),
        "drill" => DRILL.get_or_init(|| {
            vec![
                Bench::new(&two, "drill", &[], 8),
                Bench::new(&two, "drill", &["samples=3", "weights=1,1,1"], 3),
            ]
        }),
        _ => OTHERS.get_or_init(|| {
            let letflow = |detect| [&small[..], &[detect]].concat();
            vec![
                Bench::new(&two, "letflow", &letflow("detect=pair"), 8),
                Bench::new(&one, "letflow", &letflow("detect=split"), 8),
                Bench::new(&two, "letflow", &letflow("detect=age"), 8),
                Bench::new(&two, "flare", &small, 4),
                Bench::new(&one, "spray", &[], 8),
                Bench::new(&two, "drb", &["turns=flow", "flows=4"], 8),
                Bench::new(&two, "presto", &["flows=4", "cell=300"], 8),
            ]
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn conga_reaches_every_host_whatever_it_was_told(story in story()) {
        for bench in benches("conga") {
            holds(bench, &story)?;
        }
    }

    #[test]
    fn hula_reaches_every_host_whatever_probes_said(story in story()) {
        for bench in benches("hula") {
            holds(bench, &story)?;
        }
    }

    #[test]
    fn drill_reaches_every_host_whatever_queues_do(story in story()) {
        for bench in benches("drill") {
            holds(bench, &story)?;
        }
    }

    #[test]
    fn the_others_reach_every_host_whatever_they_remember(story in story()) {
        for bench in benches("others") {
            holds(bench, &story)?;
        }
    }
}
