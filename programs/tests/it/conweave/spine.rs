//! `conweave-spine`: DATA by PathID, the rest by ECMP, on both engines and chips.

use crate::conweave::wire::{Cw, Flow, data, operation, read};
use crate::conweave::world::Out;
use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_catalogue::StageProgram;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::reference::{Options, Reference};
use sluice_place::verify;
use sluice_programs::conweave_spine::ConWeaveSpine;
use sluice_programs::conweave_spine::{Params, program};
use sluice_switch::{RxFrame, Switch, SwitchConfig};

/// Returns the sent frames for these frames, 100 us apart: front-panel port and bytes.
fn sent(mut switch: Switch<'_>, ports: &PortMap, frames: &[Vec<u8>]) -> Vec<(u16, Vec<u8>)> {
    let mut out = Out::default();
    for (n, bytes) in (0u64..).zip(frames) {
        let frame = RxFrame { bytes, orig_len: bytes.len() as u32, tag: n };
        let port = ports.front(FrontPort(7)).unwrap().dev_port;
        switch.rx(port, Time::from_nanos(n * 100), frame).unwrap();
    }
    switch.advance(Time::from_nanos(1_000_000), &mut out).unwrap();
    out.sent.sort_by_key(|s| s.ns);
    let front =
        |dev: u16| ports.front_ports().iter().position(|p| p.dev_port.number() == dev).unwrap() as u16;
    out.sent.into_iter().map(|s| (front(s.dev_port), s.bytes)).collect()
}

#[test]
fn data_goes_by_path_and_the_rest_by_hash() {
    let flow = Flow::new(1, 1, 0);
    let mut frames = Vec::new();
    for path in 1..=4 {
        frames.push(Cw { opcode: 1, path, ..Cw::default() }.put(&data(flow, u32::from(path))));
    }
    frames.push(Cw { opcode: 2, path: 1, ..Cw::default() }.put(&operation(flow, 7, 5, 0)));
    frames.push(data(flow, 6));
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let program = program(&Params { links: 2, ..Params::default() }).unwrap();
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
        assert!(verify(&program, &placement).is_empty());
        let ports = PortMap::default_for(&chip).unwrap();
        let mut control = ControlState::new(&program);
        for op in ConWeaveSpine.default_setup(&program, &ports).unwrap().ops {
            control.apply(&program, op).unwrap();
        }
        let parser_cycles = [0, 1].map(|g: usize| placement.gresses[g].parser.cycles.clone());
        let options = Options { parser_cycles, ..Options::default() };
        let reference = Reference::new(&program, &control, options);
        let config = SwitchConfig::default();
        let switch =
            Switch::new(&program, &placement, &ports, control.clone(), Box::new(reference), config.clone())
                .unwrap();
        let expected = sent(switch, &ports, &frames);
        let fronts: Vec<u16> = expected.iter().map(|(f, _)| *f).collect();
        // ToR 2 has links 2 and 3; control packets and plain ones of a flow take one of them.
        assert_eq!(fronts[..4], [2, 3, 2, 3]);
        assert!(fronts[4] == fronts[5] && [2, 3].contains(&fronts[4]), "{fronts:?}");
        assert_eq!(read(&expected[1].1).unwrap().cw, Cw { opcode: 1, path: 2, ..Cw::default() });
        for batch in [1, 7, 64] {
            let engine = Engine::new(&program, &placement, &control).unwrap();
            let config = SwitchConfig { max_batch: batch, ..config.clone() };
            let switch =
                Switch::new(&program, &placement, &ports, control.clone(), Box::new(engine), config).unwrap();
            assert_eq!(sent(switch, &ports, &frames), expected, "{} batch {batch}", chip.name);
        }
    }
}
