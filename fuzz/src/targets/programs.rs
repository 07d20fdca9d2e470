//! Runs every shipped program on raw bytes as packets.

use super::engines::chips;
use crate::hunt::{Input, Runner, Shot, Subject};
use sluice_asic::port::PortMap;
use sluice_exec::cover::Coverage;
use sluice_place::place;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

thread_local! {
    /// Runners, kept from input to input because lowering a program takes longer than an input.
    static RUNNERS: RefCell<BTreeMap<usize, Runner<'static>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Shipped programs on Tofino 2 with default entries and properties.
fn subjects() -> &'static [Subject<'static>] {
    static SUBJECTS: OnceLock<Vec<Subject<'static>>> = OnceLock::new();
    SUBJECTS.get_or_init(|| {
        let [_, chip] = chips();
        let Ok(ports) = PortMap::default_for(chip) else { return Vec::new() };
        let subject = |stage: &&'static dyn sluice_programs::StageProgram| {
            let stage = *stage;
            let program = stage.build(&[]).ok()?;
            let placement = place(&program, chip).ok()?;
            let setup = stage.default_setup(&program, &ports).ok()?;
            let control = Subject::entries(&program, setup.ops).ok()?;
            let built = program.clone();
            Some(Subject::new(program, placement, ports.clone(), control, move || stage.properties(&built)))
        };
        sluice_programs::all().iter().filter_map(subject).collect()
    })
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

/// Sends packets to the shipped program that the first byte names. Every property must hold and the engines must agree.
pub fn programs(data: &[u8]) {
    let (Some((first, data)), subjects) = (data.split_first(), subjects()) else { return };
    let number = usize::from(*first) % subjects.len().max(1);
    let Some(subject) = subjects.get(number) else { return };
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
