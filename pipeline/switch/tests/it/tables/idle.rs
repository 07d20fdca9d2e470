//! Ageing: the entries that a sweep finds, batches that never span a sweep, costs, and refusals.

use crate::tables::bench::{both_chips, call, configured, entry, parsed, placed};
use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, ControlState, lines, toml};
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{IdleTimeout, KeyValue, Program};
use sluice_place::Placement;
use sluice_place::report::Report;
use sluice_report as report;
use sluice_switch::{IdleEntry, Left, Lost, Mode, RxFrame, Sink, Switch, SwitchConfig};

fn program(idle: &str, size: u32) -> Program {
    parsed(&format!(
        "program flows;
        header h : ingress {{ bit<16> flow; bit<8> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action send : ingress (bit<8> v) {{ h.out = v; ig_tm.ucast_egress_port = 9w8; }}
        action miss : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        table flows : ingress {{
            key = {{ h.flow : exact; }}
            actions = {{ send; }}
            default_action = miss();
            size = {size};
            idle = {idle};
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply flows; }}
        deparser ingress {{ emit(h); }}"
    ))
}

fn frame(flow: u16) -> Vec<u8> {
    [&flow.to_be_bytes()[..], &[0xee], &[0; 61]].concat()
}

fn ops(p: &Program, flows: std::ops::Range<u16>) -> Vec<ControlOp> {
    let op = |f: u16| entry(p, "flows", &[KeyValue::Exact(f.into())], 0, call(p, "send", &[u128::from(f)]));
    flows.map(op).collect()
}

#[derive(Debug, Default, PartialEq)]
struct Story {
    idle: Vec<(u32, u64)>,
    sent: Vec<(Time, u8)>,
    ages: Vec<Option<u8>>,
}

impl Sink for Story {
    fn sent(&mut self, packet: &Left, head: &[u8], _: &[u8]) {
        self.sent.push((packet.first_bit, head[2]));
    }
    fn lost(&mut self, packet: &Lost, _: &[u8], _: &[u8]) {
        panic!("{packet:?}");
    }
    fn idle(&mut self, e: &IdleEntry) {
        self.idle.push((e.entry, e.time.since_origin().as_nanos()));
    }
}

type Traffic<'a> = &'a [(u64, u16, u16)];

/// Runs packets (nanoseconds, dev_port, flow) and operations, up to `end`.
fn device(
    (p, placement): (&Program, &Placement),
    control: &ControlState,
    executor: impl Executor + 'static,
    (mode, max_batch): (Mode, usize),
    (traffic, later, end): (Traffic<'_>, &[(u64, ControlOp)], u64),
) -> Story {
    let ports = PortMap::default_for(&placement.chip).unwrap();
    let config = SwitchConfig { mode, max_batch, ..SwitchConfig::default() };
    let mut switch = Switch::new(p, placement, &ports, control.clone(), Box::new(executor), config).unwrap();
    let mut story = Story::default();
    for (at, op) in later {
        switch.control(Time::from_nanos(*at), op.clone()).unwrap();
    }
    for (at, port, flow) in traffic {
        let bytes = frame(*flow);
        let rx = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
        switch.rx(DevPort::new(*port).unwrap(), Time::from_nanos(*at), rx).unwrap();
    }
    switch.advance(Time::from_nanos(end), &mut story).unwrap();
    let table = p.table_named("flows").unwrap();
    story.ages = (0..4).map(|e| switch.idle(table, e)).collect();
    story.sent.sort();
    story
}

fn everywhere(
    p: &Program,
    control: &ControlState,
    run: (Traffic<'_>, &[(u64, ControlOp)], u64),
) -> Vec<Story> {
    let mut stories = Vec::new();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(p, &chip);
        for mode in [Mode::Timed, Mode::Functional] {
            let cycles = sluice_asic::gress::Gress::ALL.map(|g| placement.gress(g).parser.cycles.clone());
            let reference =
                Reference::new(p, control, Options { parser_cycles: cycles, ..Options::default() });
            let expected = device((p, &placement), control, reference, (mode, 1), run);
            for batch in [1, 7, 64] {
                let engine = Engine::new(p, &placement, control).unwrap();
                assert_eq!(
                    device((p, &placement), control, engine, (mode, batch), run),
                    expected,
                    "batch {batch}"
                );
            }
            stories.push(expected);
        }
    }
    stories
}

#[test]
fn an_entry_is_reported_once_after_its_time_without_a_hit() {
    let p = program("notify(3, \"10us\", \"30us\")", 8);
    let control = configured(&p, &ops(&p, 0..4));
    // Flow 0 has a packet in every interval, in two pipes in turn; 1 stops; 2 comes back; 3 has none.
    let mut traffic: Vec<(u64, u16, u16)> =
        (0..8).map(|i| (i * 10_000 + 5_000, 8 + 128 * (i as u16 % 2), 0)).collect();
    traffic.extend([(5_000, 16, 1), (15_000, 16, 1), (25_000, 16, 2), (65_000, 16, 2)]);
    traffic.sort();
    for story in everywhere(&p, &control, (&traffic, &[], 100_000)) {
        // 1: hit at 15 us; sweeps at 20, 30, 40. 2: hit at 25, found at 50, and again at 90 after its hit at 65.
        assert_eq!(story.idle, [(3, 30_000), (1, 40_000), (2, 50_000), (2, 90_000), (0, 100_000)]);
        assert_eq!(story.ages, [Some(3), Some(7), Some(4), Some(7)]);
    }
}

#[test]
fn a_sweep_parts_a_batch() {
    let p = program("notify(3, \"1us\", \"7us\")", 8);
    let control = configured(&p, &ops(&p, 0..2));
    // Packets of flow 0 every 25 ns, and one of flow 1 among them: around the sweep at 1 us, at it, and elsewhere.
    for one in [10, 38, 39, 40, 41, 60] {
        let traffic: Vec<(u64, u16, u16)> = (0..80).map(|i| (i * 25, 8, u16::from(i == one))).collect();
        let stories = everywhere(&p, &control, (&traffic, &[], 5_000));
        for story in &stories {
            assert_eq!(story.sent.len(), 80);
        }
        // In functional mode, a packet enters when it arrives, after the sweep of the same time.
        let seen = Some(5 - (one * 25 / 1000) as u8);
        assert_eq!((stories[1].ages[1], stories[3].ages[1]), (seen, seen), "packet {one}");
    }
}

#[test]
fn operations_give_entries_a_time_to_live_and_make_them_young() {
    let p = program("notify(6, \"1us\", \"5us\")", 8);
    let table = p.table_named("flows").unwrap();
    let mut list = ops(&p, 0..3);
    let us = Duration::from_micros;
    list.push(ControlOp::SetEntryTtl { table, entry: 0, ttl: Some(us(2)) });
    list.push(ControlOp::SetEntryTtl { table, entry: 1, ttl: Some(Duration::ZERO) });
    let control = configured(&p, &list);
    let key = vec![KeyValue::Exact(9)];
    let then = sluice_control::Then::Call(call(&p, "send", &[9]));
    let later = [
        (3_500, ControlOp::SetEntryTtl { table, entry: 2, ttl: None }),
        (4_500, ControlOp::DeleteEntry { table, entry: 0 }),
        (6_500, ControlOp::InsertAgeing { table, key, priority: 0, then, ttl: us(1) }),
    ];
    for story in everywhere(&p, &control, (&[], &later, 20_000)) {
        // 0 after its own two, 2 five sweeps after it was set anew, the new one in slot 0 after one.
        assert_eq!(story.idle, [(0, 2_000), (0, 7_000), (2, 8_000)]);
        assert_eq!(story.ages, [Some(14), Some(20), Some(17), None]);
    }
    let mut control = control;
    let refused = |control: &mut ControlState, op| control.apply(&p, op).unwrap_err().to_string();
    assert_eq!(
        refused(&mut control, ControlOp::SetEntryTtl { table, entry: 1, ttl: Some(us(64)) }),
        "a time to live of 64us is 64 sweeps of table `flows`; its 6 bits can count at most 63us; choose a shorter time"
    );
}

#[test]
fn a_polled_table_tells_when_asked_only() {
    let p = program("poll(1, \"10us\", \"0ps\")", 8);
    let control = configured(&p, &ops(&p, 0..4));
    let traffic = [(1_000, 8, 1), (21_000, 136, 2), (25_000, 8, 3), (31_000, 8, 0)];
    for story in everywhere(&p, &control, (&traffic, &[], 35_000)) {
        assert!(story.idle.is_empty());
        assert_eq!(story.ages, [Some(0), Some(1), Some(1), Some(1)]);
    }
}

#[test]
fn ages_are_remembered_alike_by_both_engines() {
    let p = program("notify(3, \"10us\", \"30us\")", 300);
    let frames: Vec<Vec<u8>> = (0..200).map(|i| frame(i * 3)).collect();
    let ran = both_chips(&p, &ops(&p, 0..250), &frames);
    assert_eq!(ran.state.ages[p.table_named("flows").unwrap()], [0; 300]);
}

#[test]
fn ages_take_map_rams() {
    for (bits, per_word) in [(1, 8), (2, 4), (3, 2), (6, 1)] {
        let p = program(&format!("notify({bits}, \"1ms\", \"1ms\")"), 8192);
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let placement = placed(&p, &chip);
            assert!(sluice_place::verify(&p, &placement).is_empty());
            let report = Report::new(&p, &placement);
            assert_eq!(report.totals[Column::MapRam.index()], 8 / per_word, "{bits} bits on {}", chip.name);
            assert_eq!(report.tables[0].idle, Some(format!("notify {bits} bits every 1ms")));
            assert!(report::text(&report).contains("place.idle_words"));
        }
    }
}

#[test]
fn files_and_templates_speak_of_ageing() {
    let p = program("notify(3, \"10ms\", \"70ms\")", 8);
    let file = "[[table.flows]]\nkey = { flow = 5 }\naction = \"send\"\nargs = [5]\nttl = \"20ms\"\n";
    let mut control = ControlState::new(&p);
    toml::load(&p, file, "f.toml", &mut control).unwrap();
    let printed = sluice_control::entries::print(&p, &control);
    assert!(printed.contains("ttl = \"20ms\""), "{printed}");
    let mut again = ControlState::new(&p);
    toml::load(&p, &printed, "f.toml", &mut again).unwrap();
    assert_eq!(again, control);
    let mut by_lines = ControlState::new(&p);
    lines::load(&p, "table_add flows send 5 => 5\ntable_set_timeout flows 0 20ms\n", "f", &mut by_lines)
        .unwrap();
    assert_eq!(by_lines, control);
    let schema = sluice_control::Schema::of(&p);
    let template = sluice_control::template::print(&schema);
    assert!(template.contains("##   Entries age: notify after 70ms without a hit."), "{template}");
    assert!(template.contains("# ttl = \"50ms\""), "{template}");
    let wrong = toml::load(&p, &file.replace("20ms", "80ms"), "f.toml", &mut again).unwrap_err();
    assert_eq!(
        wrong[0].text,
        "a time to live of 80ms is 8 sweeps of table `flows`; its 3 bits can count at most 70ms; choose a shorter time"
    );
    let wrong = toml::load(&p, &file.replace("20ms", "20 bananas"), "f.toml", &mut again).unwrap_err();
    assert!(wrong[0].text.starts_with("`ttl`: "), "{wrong:?}");
}

#[test]
fn impossible_ageing_is_refused() {
    let refused = |idle: &str| {
        let source =
            text::print(&program("poll(1, \"1ms\", \"0ps\")", 8)).replace("poll(1, \"1ms\", \"0ps\")", idle);
        let program = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        verify(&program).iter().map(|d| format!("{}: {}", d.text, d.help)).collect::<Vec<_>>()
    };
    assert_eq!(
        refused("notify(4, \"1ms\", \"1ms\")"),
        ["table `flows` ages entries with 4 bits each: an entry has 1, 2, 3 or 6 bits"]
    );
    assert_eq!(
        refused("notify(2, \"1ms\", \"4ms\")"),
        [
            "table `flows` has a time to live of 4ms, 4 sweeps, which 2 bits do not count: use more bits, a longer interval, \
          or at most 3ms"
        ]
    );
    assert_eq!(
        refused("notify(2, \"0ps\", \"4ms\")"),
        ["table `flows` ages entries by sweeps without an interval: set the time between two sweeps"]
    );
    let few = IdleTimeout::notify(Duration::from_millis(5), Duration::from_millis(1));
    assert_eq!((few.bits, few.most()), (3, 7));
}

/// Notifications of entries 0 to 3, sweep by sweep: entry, and number of the sweep that finds it. A hit is an entry and
/// the number of the last sweep before it.
fn sweep_by_sweep(hits: &[(u64, u16)], (ttl, most): (u64, u64), sweeps: u64) -> Vec<(u32, u64)> {
    let (mut found, mut ages) = (Vec::new(), [0_u64; 4]);
    for sweep in 1..=sweeps {
        for (_, entry) in hits.iter().filter(|(after, _)| after + 1 == sweep) {
            ages[usize::from(*entry)] = 0;
        }
        for (entry, age) in (0..).zip(&mut ages) {
            *age = (*age + 1).min(most + 1);
            if *age == ttl && ttl <= most {
                found.push((entry, sweep));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// For all gaps between packets and between calls of `advance`, an entry is found by the same sweep that finds it
    /// if every sweep is run on its own.
    #[test]
    fn gaps_do_not_change_what_sweeps_find(
        hits in prop::collection::vec((0..400_u64, 0..4_u16), 0..40),
        stops in prop::collection::vec(0..420_000_u64, 0..8),
        ttl in 1..=7_u64,
        timed in any::<bool>(),
    ) {
        let p = program(&format!("notify(3, \"1us\", \"{ttl}us\")"), 8);
        let placement = placed(&p, &ChipSpec::tofino2());
        let control = configured(&p, &ops(&p, 0..4));
        let ports = PortMap::default_for(&placement.chip).unwrap();
        let mode = if timed { Mode::Timed } else { Mode::Functional };
        let engine = Engine::new(&p, &placement, &control).unwrap();
        let config = SwitchConfig { mode, ..SwitchConfig::default() };
        let mut switch = Switch::new(&p, &placement, &ports, control, Box::new(engine), config).unwrap();
        let mut hits = hits;
        hits.sort_unstable();
        hits.dedup_by_key(|(after, _)| *after);
        // 100 ns after a sweep, so that the packet enters ingress before the next one.
        let times = hits.iter().map(|(after, flow)| (after * 1000 + 100, Some(*flow)));
        let mut steps: Vec<_> = times.chain(stops.iter().map(|at| (*at, None))).collect();
        steps.sort_unstable();
        let mut story = Story::default();
        for (at, flow) in steps {
            let at = Time::from_nanos(at);
            let Some(flow) = flow else {
                switch.advance(at, &mut story).unwrap();
                continue;
            };
            let rx = RxFrame { bytes: &frame(flow), orig_len: 64, tag: 0 };
            switch.rx(DevPort::new(8 + 8 * flow).unwrap(), at, rx).unwrap();
        }
        let end = Time::from_nanos(410_000);
        while let Some(at) = switch.next_time().filter(|at| *at < end) {
            switch.advance(at, &mut story).unwrap();
        }
        let (before, next) = (story.idle.len(), switch.next_idle());
        switch.advance(Time::from_nanos(430_000), &mut story).unwrap();
        let expected = sweep_by_sweep(&hits, (ttl, 7), 430);
        let expected: Vec<_> = expected.into_iter().map(|(entry, sweep)| (entry, sweep * 1000)).collect();
        prop_assert_eq!(&story.idle, &expected);
        prop_assert_eq!(story.sent.len(), hits.len());
        let told = story.idle.get(before).map(|(_, at)| Time::from_nanos(*at));
        prop_assert_eq!(next.filter(|at| *at <= Time::from_nanos(430_000)), told);
    }
}

#[test]
fn a_month_without_packets_costs_nothing() {
    const MONTH: u64 = 30 * 24 * 3_600 * 1_000_000_000;
    let p = program("notify(6, \"1us\", \"60us\")", 8);
    let control = configured(&p, &ops(&p, 0..2));
    // Three days, in which there are 2.6e11 sweeps of 1 us, between the packets of flow 0.
    let traffic = [(5_500, 8, 0), (MONTH / 10 + 7_500, 8, 0)];
    for story in everywhere(&p, &control, (&traffic, &[], MONTH)) {
        let again = MONTH / 10 + 67_000;
        assert_eq!(story.idle, [(1, 60_000), (0, 65_000), (0, again)]);
        assert_eq!(story.ages, [Some(63), Some(63), None, None]);
    }
}

#[test]
fn a_run_to_the_end_of_time_ends_with_the_last_packet() {
    let p = program("notify(3, \"1us\", \"3us\")", 8);
    let control = configured(&p, &ops(&p, 0..2));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        for mode in [Mode::Timed, Mode::Functional] {
            let ports = PortMap::default_for(&chip).unwrap();
            let engine = Engine::new(&p, &placement, &control).unwrap();
            let config = SwitchConfig { mode, ..SwitchConfig::default() };
            let mut switch =
                Switch::new(&p, &placement, &ports, control.clone(), Box::new(engine), config).unwrap();
            let rx = RxFrame { bytes: &frame(0), orig_len: 64, tag: 0 };
            switch.rx(DevPort::new(8).unwrap(), Time::from_nanos(10_100), rx).unwrap();
            let mut story = Story::default();
            switch.advance(Time::MAX, &mut story).unwrap();
            assert_eq!((story.sent.len(), switch.next_time()), (1, None));
            // No run waits for a sweep: those after the last event of the device are not made.
            assert!(story.idle.iter().all(|(_, at)| *at < 12_000), "{:?}", story.idle);
        }
    }
}
