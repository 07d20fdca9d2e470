//! Runs one case on both engines and compares the results.

use crate::Case;
use sluice_asic::gress::Gress;
use sluice_control::ControlState;
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::packet::{HeadLayout, Packet, PacketStore};
use sluice_exec::pass::{Executor, GhostUpdate, MAX_BATCH, MadeKind, Pass, PassIn, PassOut, State, Verdict};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_ir::meter_array::Origin;
use sluice_place::Placement;

/// Result of a packet in one gress: its verdict, its bytes if it continues, and the copies and digests that were made of
/// it, as text with bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passed {
    output: PassOut,
    bytes: Option<Vec<u8>>,
    made: Vec<(String, Vec<u8>)>,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Packets that entered ingress.
    pub ingress: usize,
    /// Packets that entered egress.
    pub egress: usize,
    /// Packets that left egress.
    pub out: usize,
    /// Copies and digests.
    pub made: usize,
}

/// Difference between the engines, or a placed program that the engine refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The engine refuses the program.
    Refused(LowerError),
    /// A packet has another result.
    Packet {
        /// Batch size of the engine.
        batch: usize,
        /// Index of the packet.
        frame: usize,
        /// Gress and step of the difference.
        gress: Gress,
        /// Result of the reference interpreter.
        reference: String,
        /// Result of the engine.
        engine: String,
    },
    /// A counter or register differs after the run.
    State {
        /// Batch size of the engine.
        batch: usize,
        /// Name of the array.
        name: String,
        /// Element or cell.
        index: usize,
        /// Values after the reference interpreter and after the engine.
        held: [String; 2],
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Difference::Refused(error) => write!(f, "{error}"),
            Difference::Packet { batch, frame, gress, reference, engine } => write!(
                f,
                "packet {frame} in {gress}, batches of {batch}:\n  reference {reference}\n  engine    {engine}"
            ),
            Difference::State { batch, name, index, held: [reference, engine] } => write!(
                f,
                "{name}[{index}], batches of {batch}: {reference} in the reference, {engine} in the engine"
            ),
        }
    }
}

/// Runs a case on the reference interpreter, packet by packet, and on the engine with batches of 1, 7 and the greatest size.
///
/// # Errors
/// The first difference.
pub fn compare(case: &Case, placement: &Placement) -> Result<Ran, Difference> {
    compare_by(case, placement, Engine::new)
}

/// As [`compare`], with the engine that `make` builds from program, placement and control state.
///
/// # Errors
/// The first difference.
pub fn compare_by(
    case: &Case,
    placement: &Placement,
    make: impl Fn(&Program, &Placement, &ControlState) -> Result<Engine, LowerError>,
) -> Result<Ran, Difference> {
    let program = &case.program;
    let mut control = ControlState::new(program);
    for op in &case.ops {
        // `entries` made these operations by applying them to the same state.
        let _ = control.apply(program, op.clone());
    }
    let writes_once = !placement.chip.parser.clear_on_write;
    let options = Options { origin: Origin::of(&placement.chip), writes_once, ..Options::default() };
    let mut reference = Reference::new(program, &control, options);
    write(&mut reference, program, &control);
    let expected = run(&mut reference, case, 1);
    let mut engine = make(program, placement, &control).map_err(Difference::Refused)?;
    let first = engine.state().clone();
    for batch in [1, 7, MAX_BATCH] {
        // One engine runs all batch sizes, because lowering takes longer than all packets.
        engine.state_mut().clone_from(&first);
        write(&mut engine, program, &control);
        let found = run(&mut engine, case, batch);
        same(batch, &expected, &found)?;
        same_state(case, batch, reference.state(), engine.state())?;
    }
    let [ingress, egress] = &expected;
    Ok(Ran {
        ingress: ingress.len(),
        egress: egress.len(),
        out: egress.iter().filter(|(_, p)| p.output.verdict == Verdict::Forward).count(),
        made: expected.iter().flatten().map(|(_, p)| p.made.len()).sum(),
    })
}

/// Sets the program's state to what the control plane configured.
fn write(executor: &mut dyn Executor, program: &Program, control: &ControlState) {
    for change in control.arrays.changes() {
        // Meters that the chip does not have were refused at placement, so this cannot fail.
        let _ = executor.state_mut().apply(program, change);
    }
}

type Passes = Vec<(usize, Passed)>;

/// Returns the results of each frame in both gresses.
fn run(executor: &mut dyn Executor, case: &Case, batch: usize) -> [Passes; 2] {
    let frames = &case.frames;
    // Updates split batches, so programs without a ghost control get none.
    let gap = if case.program.ghost.is_empty() { usize::MAX } else { GHOST_GAP };
    let mut store = PacketStore::new(HeadLayout::default());
    let mut result = [Vec::new(), Vec::new()];
    let mut first = 0;
    while first < frames.len() {
        if first.is_multiple_of(gap) {
            executor.ghost(&ghost_update(first));
        }
        // A batch never straddles an update.
        let next = (first / gap + 1) * gap;
        let until = next.min(first + batch).min(frames.len());
        let mut inside: Vec<(usize, Pass)> = (first..until)
            .map(|n| {
                let (port, bytes) = &frames[n];
                (n, Pass::new(store.insert(bytes, 0), arrival(n, *port)))
            })
            .collect();
        for gress in Gress::ALL {
            let passed = gress_pass(executor, gress, &mut inside, &mut store);
            inside = inside
                .into_iter()
                .filter(|(_, p)| p.output.verdict == Verdict::Forward)
                .map(|(n, p)| (n, Pass::new(p.packet, departure(n, &p.output))))
                .collect();
            result[gress.index()].extend(passed);
        }
        inside.into_iter().for_each(|(_, p)| store.remove(p.packet));
        first = until;
    }
    result
}

/// Packets between two queue-depth updates, for programs with a ghost control.
const GHOST_GAP: usize = 23;

/// Returns the update before the packet with this number.
fn ghost_update(n: usize) -> GhostUpdate {
    GhostUpdate {
        ping_pong: n.is_multiple_of(2),
        qlength: (n as u32).wrapping_mul(0x9e37) & 0x3_ffff,
        qid: (n as u16 * 5) & 0x7ff,
        pipe: (n % 4) as u8,
    }
}

/// Returns the ingress intrinsic metadata of a packet.
fn arrival(n: usize, port: u16) -> PassIn {
    let now = 0xffff_ffff_ff00 + 40 * n as u64;
    PassIn { port, mac_tstamp: now, global_tstamp: now + 25, ..PassIn::default() }
}

/// Returns the egress intrinsic metadata of a packet.
fn departure(n: usize, ingress: &PassOut) -> PassIn {
    let depth = (n as u32 * 7) % 500;
    PassIn {
        port: ingress.port,
        qid: ingress.qid,
        cos: ingress.cos,
        enq_qdepth: depth,
        deq_qdepth: depth / 2,
        enq_tstamp: n as u32 * 100,
        deq_timedelta: n as u32,
        ..PassIn::default()
    }
}

fn gress_pass(
    executor: &mut dyn Executor,
    gress: Gress,
    inside: &mut [(usize, Pass)],
    store: &mut PacketStore,
) -> Passes {
    let mut passes: Vec<Pass> = inside.iter().map(|(_, p)| *p).collect();
    executor.run(gress, &mut passes, store);
    let mut passed: Passes = Vec::with_capacity(passes.len());
    for ((n, slot), pass) in inside.iter_mut().zip(&passes) {
        *slot = *pass;
        let goes = matches!(pass.output.verdict, Verdict::Forward | Verdict::Resubmit);
        let bytes = goes.then(|| bytes(store, pass.packet));
        // Only the engine knows the cycles of a path.
        let output = PassOut { parser_cycles: 0, ..pass.output };
        passed.push((*n, Passed { output, bytes, made: Vec::new() }));
    }
    for made in executor.made().drain(..) {
        let packet = match made.kind {
            MadeKind::Mirror { copy, .. } => Some(copy),
            MadeKind::Digest { data, .. } => Some(data),
            MadeKind::Multicast(_) | MadeKind::FlowControl(_) | MadeKind::Pktgen(_) => None,
        };
        let content = packet.map_or_else(Vec::new, |p| bytes(store, p));
        packet.into_iter().for_each(|p| store.remove(p));
        if let Some((_, of)) = passed.get_mut(made.pass as usize) {
            of.made.push((text(made.kind), content));
        }
    }
    // A packet that does not continue is removed before the next gress.
    for pass in passes.iter().filter(|p| p.output.verdict != Verdict::Forward) {
        store.remove(pass.packet);
    }
    passed
}

/// Formats a copy or digest without the packet's number in the store.
fn text(kind: MadeKind) -> String {
    match kind {
        MadeKind::Mirror { session, header, packet, .. } => format!("mirror {session} {header} {packet:?}"),
        MadeKind::Digest { kind, .. } => format!("digest {kind}"),
        MadeKind::Multicast(_) | MadeKind::FlowControl(_) | MadeKind::Pktgen(_) => format!("{kind:?}"),
    }
}

fn bytes(store: &PacketStore, packet: Packet) -> Vec<u8> {
    [store.head(packet), store.tail(packet)].concat()
}

fn same(batch: usize, expected: &[Passes; 2], found: &[Passes; 2]) -> Result<(), Difference> {
    for gress in Gress::ALL {
        let (expected, found) = (&expected[gress.index()], &found[gress.index()]);
        let differ = expected.iter().zip(found).find(|(e, f)| e != f);
        // If fewer packets reach egress, their verdicts in ingress differ, which was found before.
        if let Some(((frame, e), (_, f))) = differ {
            let (reference, engine) = (format!("{e:02x?}"), format!("{f:02x?}"));
            return Err(Difference::Packet { batch, frame: *frame, gress, reference, engine });
        }
    }
    Ok(())
}

fn same_state(case: &Case, batch: usize, expected: &State, found: &State) -> Result<(), Difference> {
    let differ =
        |name: &str, index, held| Err(Difference::State { batch, name: name.to_owned(), index, held });
    for (counter, data) in case.program.counters.iter() {
        let cells = expected.counters[counter].iter().zip(&found.counters[counter]);
        if let Some((i, (e, f))) = cells.enumerate().find(|(_, (e, f))| e != f) {
            return differ(&data.name, i, [format!("{e:?}"), format!("{f:?}")]);
        }
    }
    for (register, data) in case.program.registers.iter() {
        let cells = expected.registers[register].iter().zip(&found.registers[register]);
        if let Some((i, (e, f))) = cells.enumerate().find(|(_, (e, f))| e != f) {
            return differ(&data.name, i, [format!("{e:?}"), format!("{f:?}")]);
        }
    }
    for (meter, data) in case.program.meters.iter() {
        let cells = expected.meters[meter].cells().iter().zip(found.meters[meter].cells());
        if let Some((i, (e, f))) = cells.enumerate().find(|(_, (e, f))| e != f) {
            return differ(&data.name, i, [format!("{e:?}"), format!("{f:?}")]);
        }
    }
    Ok(())
}
