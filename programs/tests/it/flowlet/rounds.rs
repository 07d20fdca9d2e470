//! Skipped rounds of the packet generators of shipped programs: results are the same, and the rule says which are skipped.

use crate::flowlet::world::World;
use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::pass::State;
use sluice_pcaps::capture::CaptureReader;
use sluice_programs::catalogue;
use sluice_switch::{Held, Left, Lost, RxFrame, Sink, Switch, SwitchConfig, Totals};

/// Notes what leaves; counts the packets that end inside.
struct Notes {
    needs_every_round: bool,
    sent: Vec<(Left, Vec<u8>)>,
    ended: u64,
}

impl Sink for Notes {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.sent.push((*packet, [head, tail].concat()));
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {
        self.ended += 1;
    }

    fn watches(&self) -> bool {
        false
    }

    fn needs_every_round(&self) -> bool {
        self.needs_every_round
    }
}

/// Everything that shows at the end of a run.
#[derive(Debug, PartialEq)]
struct End {
    sent: Vec<(Left, Vec<u8>)>,
    totals: Totals,
    held: Held,
    states: Vec<State>,
}

/// A program with its default entries, and the first packets of its embedded trace, `gap` ns apart.
struct Case {
    world: World,
    frames: Vec<(u64, Vec<u8>)>,
    until: u64,
}

impl Case {
    fn new(chip: &ChipSpec, name: &str, params: &[&str], gap: u64) -> Case {
        let catalogue = catalogue();
        let shipped = catalogue.get(name).unwrap();
        let program = shipped.build(&crate::flowlet::world::sets(params)).unwrap();
        let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}", e.reason()));
        let ports = PortMap::default_for(chip).unwrap();
        let mut control = ControlState::new(&program);
        for op in shipped.default_setup(&program, &ports).unwrap().ops {
            control.apply(&program, op).unwrap();
        }
        let (file, bytes) = shipped.sample().unwrap_or_else(|| sluice_pcaps::samples::of(name));
        let mut reader = CaptureReader::from_bytes(bytes, file).unwrap();
        let mut frames = Vec::new();
        for n in 0..6 {
            let frame = reader.next_frame().unwrap().unwrap();
            let mut bytes = frame.data.to_vec();
            bytes.resize(frame.orig_len as usize, 0);
            frames.push((n * gap + n * n * 177, bytes));
        }
        Case { world: World { program, placement, control, ports }, frames, until: 6 * gap + 12_345 }
    }

    /// Returns the end of a run, and the packets that ended inside as the sink saw them.
    fn run(&self, needs_every_round: bool) -> (End, u64) {
        let World { program, placement, control, ports } = &self.world;
        let engine = Engine::new(program, placement, control).unwrap();
        let config = SwitchConfig::default();
        let program = std::sync::Arc::new(program.clone());
        let mut switch =
            Switch::new(&program, placement, ports, control.clone(), Box::new(engine), config).unwrap();
        let mut notes = Notes { needs_every_round, sent: Vec::new(), ended: 0 };
        let port = ports.front(FrontPort(0)).unwrap().dev_port;
        for (tag, (ns, bytes)) in (0..).zip(&self.frames) {
            let rx = RxFrame { bytes, orig_len: bytes.len() as u32, tag };
            switch.rx(port, Time::from_nanos(*ns), rx).unwrap();
        }
        switch.advance(Time::from_nanos(self.until), &mut notes).unwrap();
        assert!(switch.is_conserved());
        let end = End {
            sent: notes.sent,
            totals: switch.totals().clone(),
            held: switch.held(),
            states: (0..4).filter_map(|pipe| switch.state_of(pipe).cloned()).collect(),
        };
        (end, notes.ended)
    }
}

#[test]
fn flare_skips_the_rounds_in_which_no_charge_has_changed() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let case = Case::new(&chip, "flare", &[], 500_000);
        let ((all, seen), (skipped, less)) = (case.run(true), case.run(false));
        assert_eq!(all, skipped, "{}", chip.name);
        assert_eq!(all.totals.received, 6);
        // Four groups are visited each microsecond in every pipe with front-panel ports.
        let pipes = all.totals.made.pktgen / (4 * 3_012);
        assert!((2..=4).contains(&pipes), "{:?}", all.totals.made);
        assert!(seen > 20_000 && less * 5 < seen, "{}: {less} of {seen}", chip.name);
    }
}

#[test]
fn programs_whose_rounds_read_a_clock_or_have_none_run_as_before() {
    let chip = ChipSpec::tofino2();
    // CONGA compares the age of feedback and reads filters; HULA sends its probes; ConWeave has timer packets instead.
    for (name, gap) in [("conga", 200_000), ("hula", 200_000), ("conweave", 500_000)] {
        let case = Case::new(&chip, name, &[], gap);
        let ((all, seen), (other, as_many)) = (case.run(true), case.run(false));
        assert_eq!(all, other, "{name}");
        assert_eq!(seen, as_many, "{name}");
    }
}

#[test]
fn letflow_skips_the_sweeps_that_find_every_entry_aged() {
    let case =
        Case::new(&ChipSpec::tofino2(), "letflow", &["detect=age", "timeout=10us", "flowlets=64"], 2_000_000);
    let ((all, seen), (skipped, less)) = (case.run(true), case.run(false));
    assert_eq!(all, skipped);
    assert!(less * 3 < seen, "{less} of {seen}");
}
