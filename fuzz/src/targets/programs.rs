//! Sends raw bytes as packets to every program of a catalogue.

use super::engines::chips;
use crate::hunt::{Input, Runner, Shot, Subject};
use sluice_asic::port::PortMap;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_exec::cover::Coverage;
use sluice_ir::Program;
use sluice_place::place;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

thread_local! {
    /// Runner of each program by its address, kept between inputs because lowering a program takes longer than an
    /// input.
    static RUNNERS: RefCell<BTreeMap<usize, Runner<'static>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The programs of a catalogue with their default parameters, as fuzz targets need them: built, written as P4, and placed on
/// Tofino 2 with default entries and properties. Each form is made when a target first needs it, and kept.
#[derive(Debug, Default)]
pub struct Programs {
    catalogue: Catalogue,
    built: OnceLock<Vec<Program>>,
    subjects: OnceLock<Vec<Subject<'static>>>,
    first: OnceLock<Option<Subject<'static>>>,
    written: OnceLock<Vec<String>>,
}

impl Programs {
    /// Returns the programs of this catalogue.
    #[must_use]
    pub fn new(catalogue: Catalogue) -> Programs {
        Programs { catalogue, ..Programs::default() }
    }

    /// Returns the programs as their crate offers them.
    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the programs, built.
    pub(super) fn built(&self) -> &[Program] {
        let build = || self.catalogue.programs().iter().filter_map(|p| p.build(&[]).ok()).collect();
        self.built.get_or_init(build)
    }

    /// Returns the programs that have a form in P4, as P4 texts.
    pub(super) fn written(&self) -> &[String] {
        let write =
            || self.built().iter().filter_map(|program| sluice_p4::write::write(program).ok()).collect();
        self.written.get_or_init(write)
    }

    /// Returns the first program, placed.
    pub(super) fn first(&self) -> Option<&Subject<'static>> {
        let first = || subjects(&self.catalogue, 1).pop();
        self.first.get_or_init(first).as_ref()
    }

    /// Returns the programs, placed.
    fn subjects(&self) -> &[Subject<'static>] {
        self.subjects.get_or_init(|| subjects(&self.catalogue, usize::MAX))
    }
}

/// Returns the first programs of a catalogue, placed.
fn subjects(catalogue: &Catalogue, most: usize) -> Vec<Subject<'static>> {
    let [_, chip] = chips();
    let Ok(ports) = PortMap::default_for(chip) else { return Vec::new() };
    let subject = |stage: &Arc<dyn StageProgram>| {
        let program = stage.build(&[]).ok()?;
        let placement = place(&program, chip).ok()?;
        let setup = stage.default_setup(&program, &ports).ok()?;
        let control = Subject::entries(&program, setup.ops).ok()?;
        let (stage, built) = (Arc::clone(stage), program.clone());
        let properties = move || stage.properties(&built);
        Some(Subject::new(catalogue, program, placement, ports.clone(), control, properties))
    };
    catalogue.programs().iter().filter_map(subject).take(most).collect()
}

/// Splits raw bytes into packets: a port, a gap, a two-byte length and the bytes of each.
#[must_use]
pub fn describe(mut data: &[u8], ports: &[u16]) -> Vec<Shot> {
    let (mut shots, mut at) = (Vec::new(), 0u64);
    while let [port, gap, high, low, rest @ ..] = data {
        let length = usize::from(u16::from_be_bytes([*high, *low])).clamp(1, 2048).min(rest.len());
        let (bytes, after) = rest.split_at(length);
        data = after;
        let Some(port) = ports.get(usize::from(*port) % ports.len().max(1)) else { break };
        at += 1 << (gap & 15);
        if !bytes.is_empty() {
            shots.push(Shot { at, port: *port, bytes: bytes.to_vec(), piece: 0 });
        }
    }
    shots
}

/// Sends packets to the program that the first byte chooses; the other bytes are the packets. Every property must hold,
/// and the engines must agree.
pub fn programs(programs: &'static Programs, data: &[u8]) {
    let (Some((first, data)), subjects) = (data.split_first(), programs.subjects()) else { return };
    let Some(subject) = subjects.get(usize::from(*first) % subjects.len().max(1)) else { return };
    // A subject of `programs` is never moved or dropped, so no other one has its address.
    let number = std::ptr::from_ref(subject).addr();
    let ports: Vec<u16> = subject.ports.front_ports().iter().map(|p| p.dev_port.number()).collect();
    let input = Input { shots: describe(data, &ports), ..Input::default() };
    let kept = RUNNERS.with_borrow_mut(|runners| runners.remove(&number));
    let mut runner = match kept.map_or_else(|| Runner::new(subject), Ok) {
        Ok(runner) => runner,
        Err(e) => return assert_eq!(e.to_string(), "", "{}", subject.program.name),
    };
    let outcome = runner.run(&input, &Coverage::default());
    let violations = outcome.map(|o| o.violations).map_err(|e| e.to_string());
    assert_eq!(violations, Ok(Vec::new()), "{}: {:02x?}", subject.program.name, input.shots);
    RUNNERS.with_borrow_mut(|runners| runners.insert(number, runner));
}
