//! Registers, meters and counters from the control plane: files, the device, times.

use crate::registers::bench::placed;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::salu::State as Element;
use sluice_asic::units::Time;
use sluice_control::{ControlState, Schema, entries, lines, template, toml};
use sluice_exec::engine::Engine;
use sluice_exec::pass::{Executor, State};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_switch::{Left, Lost, Mode, RxFrame, Sink, Switch, SwitchConfig, SwitchError};

const SOURCE: &str = "program arrays;
header h : ingress { bit<8> slot; bit<32> a; bit<32> out; bit<8> colour; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
/// Packets per slot
register seen : ingress { element = \"32\"; size = 8; initial = 5, 0; }
register pairs : ingress { element = \"16x2\"; size = 4; }
register_action count (seen) { @lo = add(@lo, 1); @out0 = @lo; }
register_action swap (pairs) { @lo = @hi; }
counter all : ingress { kind = packets_and_bytes; size = 2; }
meter police : ingress { kind = bytes; size = 8; }
meter smooth : ingress { kind = lpf; size = 8; }
action work : ingress () {
    h.out = execute(count, h.slot);
    execute(swap, h.slot);
    count(all, 1w1);
    h.colour = meter(police, h.slot);
    ig_tm.ucast_egress_port = 9w8;
}
action smoothe : ingress () { h.a = meter(smooth, h.slot, h.a); }
parser ingress { start = first; state first { extract(h); transition accept; } }
control ingress { call work; call smoothe; }
deparser ingress { emit(h); }";

fn source() -> Program {
    text::parse(SOURCE).unwrap_or_else(|e| panic!("{e}"))
}

#[derive(Default)]
struct Out(Vec<(Time, Vec<u8>)>);

impl Sink for Out {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.0.push((packet.first_bit, [head, tail].concat()));
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {}
}

/// Sends a packet to slot 3 every 100 ns, with changes in between; returns the sent packets, the readings and the
/// state.
fn run(
    executor: impl Executor + 'static,
    chip: &ChipSpec,
    batch: usize,
) -> (Vec<Vec<u8>>, Vec<[u64; 3]>, State) {
    let program = source();
    let placement = placed(&program, chip);
    let mut control = ControlState::new(&program);
    let start =
        "register_write seen 3 100\nregister_write pairs * 7 9\nmeter_set_rates police 3 8Mbps:200 8Mbps:200";
    lines::parse(&program, start, "start").unwrap().apply(&program, &mut control).unwrap();
    let ports = PortMap::default_for(chip).unwrap();
    let config = SwitchConfig { max_batch: batch, ..SwitchConfig::default() };
    let mut switch = Switch::new(&program, &placement, &ports, control, Box::new(executor), config).unwrap();
    let changes = "@1us register_read seen 3
@2us register_write seen 3 0x1000
@2us meter_clear police
@2500ns counter_read all 1
@3us register_read seen
@3us register_clear seen";
    for sourced in lines::parse_changes(&program, changes, "changes").unwrap().ops {
        switch.control(Time::ORIGIN + sourced.at, sourced.op).unwrap();
    }
    let mut out = Out::default();
    for i in 0..40u64 {
        let mut bytes = vec![3];
        bytes.extend([0; 99]);
        let frame = RxFrame { bytes: &bytes, orig_len: 100, tag: i };
        switch.rx(DevPort::new(8).unwrap(), Time::from_nanos(100 * i), frame).unwrap();
    }
    switch.advance(Time::from_nanos(1_000_000), &mut out).unwrap();
    out.0.sort_by_key(|(time, _)| *time);
    let readings = switch.readings().iter().filter(|r| r.pipe == 0);
    let readings = readings.map(|r| [r.time.as_ps() / 1000, u64::from(r.index), r.values[0]]).collect();
    let state = switch.pipe_states().next().unwrap().clone();
    (out.0.into_iter().map(|(_, bytes)| bytes).collect(), readings, state)
}

#[test]
fn changes_take_effect_at_their_time_whatever_the_batch() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let program = source();
        let (placement, control) = (placed(&program, &chip), ControlState::new(&program));
        let told = run(Reference::new(&program, &control, Options::default()), &chip, 1);
        for batch in [1, 7, 64] {
            let engine = Engine::new(&program, &placement, &control).unwrap();
            assert_eq!(run(engine, &chip, batch), told, "batch {batch} on {}", chip.name);
        }
        let (sent, readings, state) = told;
        assert_eq!(sent.len(), 40);
        let counts: Vec<u32> = sent.iter().map(|b| u32::from_be_bytes(b[5..9].try_into().unwrap())).collect();
        assert_eq!(counts[0], 101);
        assert!(counts.contains(&0x1001) && counts.contains(&6));
        // Every count is one more than the previous one, except at the write and the clear.
        let jumps = counts.windows(2).filter(|w| w[1] != w[0] + 1).count();
        assert_eq!(jumps, 2);
        // 200 bytes are two packets; the meter is open again after 2 us.
        let colours: Vec<u8> = sent.iter().map(|b| b[9]).collect();
        assert_eq!(colours[..4], [0, 0, 0, 3]);
        assert_eq!(*colours.last().unwrap(), 0);
        assert_eq!(
            readings.iter().map(|r| (r[0], r[1])).collect::<Vec<_>>(),
            [(1000, 3), (2500, 1), (3000, 3)]
        );
        // A reading has the effect of all packets before it: the count of the last one that entered.
        assert!(counts.contains(&(readings[0][2] as u32)) && counts.contains(&(readings[2][2] as u32)));
        let pairs = &state.registers[program.register_named("pairs").unwrap()];
        assert_eq!((pairs[3], pairs[2]), (Element::pair(9, 9), Element::pair(7, 9)));
    }
}

#[test]
fn toml_prints_and_reads_back_every_array() {
    let program = source();
    let file = "
[[register.seen]]
index = 2
value = \"0x10\"
[[register.pairs]]
value = 1
high = 2
[[meter.police]]
index = 1
committed = \"8Mbps:1500\"
peak = \"16Mbps:3000\"
[[meter.smooth]]
mode = \"sample\"
rise = \"10us\"
fall = \"20us\"
shift = 3
";
    let mut control = ControlState::new(&program);
    toml::parse(&program, file, "file").unwrap().apply(&program, &mut control).unwrap();
    let printed = entries::print(&program, &control);
    let mut again = ControlState::new(&program);
    toml::parse(&program, &printed, "printed").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again, control, "{printed}");
    assert_eq!(control.arrays.registers.len() + control.arrays.meters.len(), 4);
    // The same operations as lines.
    let text = "register_write seen 2 16\nregister_write pairs * 1 2\n\
                meter_set_rates police 1 8000000:1500 16Mbps:3000\nlpf_set smooth * sample 10us 20us 3";
    let mut lined = ControlState::new(&program);
    lines::parse(&program, text, "lines").unwrap().apply(&program, &mut lined).unwrap();
    assert_eq!(lined, control);
    // The examples in the template are accepted unchanged.
    let template = template::print(&Schema::of(&program));
    let example: String = template
        .lines()
        .filter(|l| !l.starts_with("##"))
        .map(|l| format!("{}\n", l.strip_prefix("# ").unwrap_or(l)))
        .collect();
    toml::parse(&program, &example, "template").unwrap().apply(&program, &mut again).unwrap();
}

#[test]
fn mistakes_name_the_array_the_limit_and_the_remedy() {
    let program = source();
    for (line, wanted) in [
        ("register_write sen 1 2", "there is no register `sen`; expected one of: seen, pairs"),
        ("register_write seen 8 1", "register `seen` has no element 8; it has 8 elements, from 0"),
        (
            "register_write seen 1 0x100000000",
            "elements of register `seen` are 32; 0x100000000 does not fit the 32 bits of the element",
        ),
        ("register_write seen 1 2 3", "register `seen` has single elements; give one value"),
        ("register_write pairs 1 2", "register `pairs` has pairs; give two values"),
        ("register_write seen x 2", "`x` is not an index; expected a number or `*` for all"),
        (
            "register_write seen",
            "too few or too many words; expected register_write REGISTER INDEX VALUE [HIGH]",
        ),
        ("register_read seen 3", "cells can be read only during the run"),
        ("counter_reset all 2", "counter `all` has no cell 2; it has 2 cells, from 0"),
        ("meter_set_rates police 1 8Mbps 9Mbps:1", "`8Mbps` is not a rate with a burst"),
        (
            "meter_set_rates smooth 1 1:1 1:1",
            "meter `smooth`: lpf is configured as something else; give it a time constant",
        ),
        ("meter_set_rates police 8 1:1 1:1", "meter `police` has no cell 8; it has 8 cells, from 0"),
        ("lpf_set smooth 1 average 10us", "there is no filter mode `average`"),
        ("lpf_set smooth 1 rate 10", "10"),
    ] {
        let mut control = ControlState::new(&program);
        let parsed = lines::parse(&program, line, "file");
        let refused = parsed.and_then(|script| script.apply(&program, &mut control)).unwrap_err();
        let text = refused[0].to_string();
        assert!(text.contains(wanted) && text.contains("file:1"), "{line}: {text}");
    }
}

#[test]
fn readings_of_cells_that_do_not_exist_are_refused() {
    let program = source();
    let control = ControlState::new(&program);
    let changes = "@1us register_read seen 9\n@2us counter_read all 2";
    let script = lines::parse_changes(&program, changes, "file").unwrap();
    let refused = script.check(&program, &control).unwrap_err();
    let text: String = refused.iter().map(ToString::to_string).collect();
    assert!(
        text.contains("register `seen` has no element 9; it has 8 elements, from 0\n  --> file:1"),
        "{text}"
    );
    assert!(text.contains("counter `all` has no cell 2; it has 2 cells, from 0\n  --> file:2"), "{text}");
}

#[test]
fn what_needs_time_is_refused_where_there_is_none() {
    let (program, chip) = (source(), ChipSpec::tofino2());
    let placement = placed(&program, &chip);
    let ports = PortMap::default_for(&chip).unwrap();
    let config = SwitchConfig { mode: Mode::Functional, ..SwitchConfig::default() };
    let control = ControlState::new(&program);
    let reference = Reference::new(&program, &control, Options::default());
    let refused = Switch::new(&program, &placement, &ports, control, Box::new(reference), config).err();
    assert!(
        matches!(&refused, Some(SwitchError::NeedsTime { needs, .. }) if needs.contains("meters")),
        "{refused:?}"
    );
    // A rate beyond the codes is refused before anything runs.
    let mut control = ControlState::new(&program);
    let script = lines::parse(&program, "meter_set_rates police * 1:1 1:1", "file").unwrap();
    script.apply(&program, &mut control).unwrap();
    let reference = Reference::new(&program, &control, Options::default());
    let refused =
        Switch::new(&program, &placement, &ports, control, Box::new(reference), SwitchConfig::default())
            .err();
    let text = refused.map(|e| e.to_string()).unwrap_or_default();
    assert!(text.contains("meter `police`: rate 1 per second is too low"), "{text}");
}

const CHANCE: &str = "program chance;
header h : ingress { bit<32> a; bit<32> b; bit<8> red; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
random dice : ingress { width = 32; }
random coin : ingress { width = 1; }
meter early : ingress { kind = wred; size = 2; initial = wred(0, 200, 100, sample, 1000000, 1000000, 0); }
metadata : ingress { bit<1> m.coin; bit<32> m.depth; }
action roll : ingress () { h.a = random(dice); m.coin = random(coin); m.depth = 32w100; ig_tm.ucast_egress_port = 9w8; }
action heads : ingress () { h.b = 32w1; h.red = meter(early, 32w0, m.depth); }
action tails : ingress () { h.b = 32w2; h.red = meter(early, 32w0, m.depth); }
parser ingress { start = first; state first { extract(h); transition accept; } }
control ingress { call roll; if (m.coin == 1w1) { call heads; } else { call tails; } }
deparser ingress { emit(h); }";

fn chance(executor: impl Executor + 'static, chip: &ChipSpec, config: SwitchConfig) -> Vec<Vec<u8>> {
    let program = text::parse(CHANCE).unwrap_or_else(|e| panic!("{e}"));
    let placement = placed(&program, chip);
    let ports = PortMap::default_for(chip).unwrap();
    let control = ControlState::new(&program);
    let mut switch = Switch::new(&program, &placement, &ports, control, Box::new(executor), config).unwrap();
    let mut out = Out::default();
    for i in 0..200u64 {
        let frame = RxFrame { bytes: &[0; 60], orig_len: 60, tag: i };
        // Two ports of two pipes.
        let port = if i % 3 == 0 { 8 } else { 136 };
        switch.rx(DevPort::new(port).unwrap(), Time::from_nanos(50 * i), frame).unwrap();
    }
    switch.advance(Time::from_nanos(1_000_000), &mut out).unwrap();
    out.0.sort();
    out.0.into_iter().map(|(_, bytes)| bytes).collect()
}

#[test]
fn chance_depends_on_the_seed_alone() {
    let program = text::parse(CHANCE).unwrap();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let (placement, control) = (placed(&program, &chip), ControlState::new(&program));
        let config = |max_batch, seed| SwitchConfig { max_batch, seed, ..SwitchConfig::default() };
        let reference = || Reference::new(&program, &control, Options::default());
        let told = chance(reference(), &chip, config(1, 1));
        for batch in [1, 7, 64] {
            let engine = Engine::new(&program, &placement, &control).unwrap();
            assert_eq!(chance(engine, &chip, config(batch, 1)), told, "batch {batch} on {}", chip.name);
        }
        assert_ne!(chance(reference(), &chip, config(64, 2)), told);
        let heads = told.iter().filter(|b| b[7] == 1).count();
        let red = told.iter().filter(|b| b[8] == 1).count();
        // Five standard deviations of 200 fair coins are 36.
        assert!(heads.abs_diff(100) < 36 && red.abs_diff(100) < 36, "{heads} {red}");
    }
}
