//! A network of one switch gives the same events as the switch alone.

use crate::network::support::{Into, Recorder, Seen, frame, inject, placed, switch, switches};
use proptest::prelude::*;
use sluice_asic::units::Time;
use sluice_catalogue::Catalogue;
use sluice_exec::engine::Engine;
use sluice_fabric::network::{Network, SwitchId};
use sluice_switch::{Left, Lost, PassEvent, QueueEvent, RxFrame, Sink, Switch};

/// Records the events of a single switch in the same form.
#[derive(Default)]
struct Alone(Recorder);

impl Alone {
    fn note(&mut self, seen: Seen) {
        self.0.seen.push((SwitchId(0), seen));
    }
}

impl Sink for Alone {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.note(Seen::Delivered(*packet, [head, tail].concat()));
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.note(Seen::Lost(*packet, [head, tail].concat()));
    }

    fn pass(&mut self, event: &PassEvent) {
        self.note(Seen::Pass(*event));
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        self.note(Seen::Enqueued(*event));
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.note(Seen::Dequeued(*event));
    }
}

fn alone(frames: &[Into]) -> (Recorder, sluice_switch::Totals) {
    let setup = switch("s0");
    let at = placed();
    let engine = Engine::new(&at.program, &at.placement, &setup.control).unwrap();
    let control = setup.control.clone();
    let made = Switch::new(
        &at.program,
        &at.placement,
        &setup.ports,
        control,
        Box::new(engine),
        setup.config.clone(),
    );
    let (mut switch, mut sink) = (made.unwrap(), Alone::default());
    for (tag, f) in (0..).zip(frames) {
        let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
        switch.rx(setup.front(f.front).unwrap(), Time::from_ps(f.ps), rx).unwrap();
    }
    while let Some(next) = switch.next_time().filter(|_| switch.is_busy()) {
        switch.advance(next, &mut sink).unwrap();
    }
    (sink.0, switch.totals().clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_network_of_one_switch_is_that_switch(
        frames in prop::collection::vec((0..8u16, 0..4000u64, 0..40u16, 14..1600usize), 1..300),
        cut in 0..600_000u64,
    ) {
        let mut now = 0;
        let frames: Vec<Into> = frames.into_iter().map(|(front, gap, to, len)| {
            now += gap;
            // Ports from 32 on do not exist: such packets have all path bits set and are dropped.
            let bytes = if to < 32 { frame(&[to], len) } else { frame(&[], len) };
            Into { switch: 0, front, ps: now, bytes }
        }).collect();
        let (expected, totals) = alone(&frames);
        let mut network = Network::new(switches(1), &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        network.advance(Time::from_ps(cut), &mut seen).unwrap();
        network.drain(Time::MAX, &mut seen).unwrap();
        seen.seen.retain(|(_, s)| !matches!(s, Seen::Entered(_)));
        prop_assert_eq!(seen.seen.len(), expected.seen.len());
        prop_assert!(seen == expected);
        prop_assert_eq!(network.switch(SwitchId(0)).unwrap().totals(), &totals);
        prop_assert_eq!(network.totals().delivered, totals.sent);
    }
}
