//! Every pipe has separate state, and programs whose state must see several ports say so.

use crate::movement::device::{Story, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap, PortName};
use sluice_asic::units::Time;
use sluice_build::*;
use sluice_control::ControlState;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_ir::entity::Entity;
use sluice_ir::text;
use sluice_ir::verify;
use sluice_switch::{RxFrame, Switch, SwitchConfig, state_is_whole};

#[derive(params::Params, Default)]
struct NoParams {}

/// What hosts send
#[derive(Header)]
struct Counted {
    before: Bits<32>,
}

/// Numbers packets.
#[stage_program]
fn number(ig: &GressBuilder<'_>) -> RegisterRef<32> {
    let h = ig.header::<Counted>();
    let tm = ig.intrinsic::<tna::ForTm>();
    /// Packets so far
    let seen = ig.register::<32>(1);
    let next = ig.register_action(seen, |r| {
        r.out = r.value;
        r.value += 1;
    });
    let start = ig.state().extract(h);
    ig.start(start);
    ig.control(|c| {
        tm.ucast_egress_port = 16;
        h.before = next.execute(0);
    });
    ig.deparser().emit(h);
    seen
}

fn program(ports: &[u16]) -> Program {
    let b = Builder::new("number", "Numbers packets");
    let seen = number(&b.ingress());
    if !ports.is_empty() {
        let ports = ports.iter().map(|p| PortName::Front(FrontPort(*p)));
        b.together("packets of all of them get one sequence of numbers", [seen.id()], ports);
    }
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

#[test]
fn registers_are_of_their_pipe() {
    let chip = ChipSpec::tofino2();
    let w = World::of(&chip, program(&[]));
    // Two ports of pipe 0, one of pipe 1.
    let frames = [
        frame(8, 0, &[0; 64]),
        frame(136, 10, &[0; 64]),
        frame(24, 300, &[0; 64]),
        frame(136, 600, &[0; 64]),
    ];
    let story = w.run(&frames);
    let numbers: Vec<(u64, u8)> = story.sent.iter().map(|(l, b)| (l.tag, b[3])).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(0, 0), (1, 0), (2, 1), (3, 1)]);
    let mut switch = w.switch();
    let mut story = Story::default();
    for f in &frames {
        let rx = RxFrame { bytes: &f.bytes, orig_len: 64, tag: 0 };
        switch.rx(sluice_asic::port::DevPort::new(f.port).unwrap(), f.time, rx).unwrap();
    }
    switch.advance(Time::from_nanos(9_000), &mut story).unwrap();
    let seen = w.program.registers.keys().next().unwrap();
    let held = [0, 1, 2, 3].map(|pipe| switch.state_of(pipe).unwrap().registers[seen][0].lo);
    assert_eq!(held, [2, 2, 0, 0]);
    assert!(switch.state_of(4).is_none() && seen.index() == 0);
}

#[test]
fn port_maps_that_split_state_are_refused_with_the_reason() {
    let chip = ChipSpec::tofino2();
    let whole = PortMap::default_for(&chip).unwrap();
    // At 400G a pipe has eight ports.
    assert_eq!(state_is_whole(&program(&[0, 3, 7]), &whole), Ok(()));
    let split = program(&[0, 8, 7, 31]);
    let reason = "program `number`: `seen` must see ports 0, 8, 7, 31 together (packets of all of them get one sequence of \
                  numbers), but every pipe has separate state, and pipe 0 has 0, 7; pipe 1 has 8; pipe 3 has 31; \
                  use ports of one pipe";
    assert_eq!(state_is_whole(&split, &whole).unwrap_err().to_string(), reason);
    // At 100G pipe 0 has 32 ports.
    let fine = PortMap::new(&chip, "100G".parse().unwrap()).unwrap();
    assert_eq!(state_is_whole(&split, &fine), Ok(()));
    let missing = state_is_whole(&program(&[0, 77]), &whole).unwrap_err();
    assert!(missing.to_string().contains("there is no 77; pipe 0 has 0"), "{missing}");
    // The device does not start; the report names the ports that must be together.
    let w = World::of(&chip, split);
    let report = sluice_place::report::Report::new(&w.program, &w.placement);
    let line = "\nPorts of one pipe\n  seen: ports 0, 8, 7, 31, packets of all of them get one sequence of numbers\n";
    assert!(sluice_report::text(&report).contains(line));
    let control = ControlState::new(&w.program);
    let reference = Reference::new(&w.program, &control, Options::default());
    let made =
        Switch::new(&w.program, &w.placement, &whole, control, Box::new(reference), SwitchConfig::default());
    assert_eq!(made.err().unwrap().to_string(), reason);
}

#[test]
fn groups_of_ports_that_say_nothing_are_mistakes() {
    let printed = text::print(&program(&[0, 8]));
    let said = |from: &str, to: &str| {
        assert!(printed.contains(from), "{printed}");
        let program = text::parse(&printed.replacen(from, to, 1)).unwrap_or_else(|e| panic!("{e}"));
        verify::verify(&program).iter().map(|d| d.text.clone()).collect::<Vec<_>>().join("; ")
    };
    let ports = "ports = { \"0\", \"8\" };";
    assert_eq!(said(ports, "ports = { \"0\" };"), "together `seen_0` names 1 port");
    assert_eq!(said(ports, "ports = { \"0\", \"0\" };"), "together `seen_0` names port 0 twice");
    assert_eq!(said("registers = { seen };", "registers = { };"), "together `seen_0` names no register");
    assert_eq!(
        said("/// packets of all of them get one sequence of numbers\n", ""),
        "together `seen_0` has no reason"
    );
    let wrong = text::parse(&printed.replace("\"8\"", "\"eight\"")).unwrap_err().to_string();
    assert!(wrong.contains("expected a port as in \"3\" or \"dev:137\""), "{wrong}");
}
