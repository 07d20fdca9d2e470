//! Register parameters: numbers that the control plane sets and stateful ALUs compute with; and equality of halves
//! that are wider than any other comparison.

use crate::registers::bench::{both_chips, placed};
use crate::registers::constructs::{Probe, frame, outs, program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::units::Time;
use sluice_build::*;
use sluice_control::{ControlState, Schema, entries, lines, template, toml};
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_place::place;
use sluice_place::report::Report;
use sluice_switch::{Left, Lost, Mode, RxFrame, Sink, Switch, SwitchConfig};

#[stage_program]
fn flowlets(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// When each flow was last seen
    let last = ig.register::<32>(16);
    /// A pause longer than this begins a flowlet
    let gap = ig.register_param(last, 100);
    let begins = ig.register_action(last, |r| {
        if h.a - r.value > gap {
            r.out = 1;
        }
        r.value = h.a;
    });
    /// Sums of steps
    let sums = ig.register::<32>(16);
    /// What a packet counts
    let step = ig.register_param(sums, 3);
    /// Where sums begin anew
    let limit = ig.register_param(sums, 10);
    let add = ig.register_action(sums, |r| {
        if r.value >= limit {
            r.value = step;
        } else {
            r.value += step;
        }
        r.out = r.value;
    });
    ig.control(|c| {
        h.out = begins.execute(h.slot);
        h.b = add.execute(h.slot);
    });
}

#[test]
fn actions_compare_and_compute_with_parameters() {
    let program = program(flowlets);
    let printed = text::print(&program);
    assert!(printed.contains("params = { gap = 0x64 };") && printed.contains("param(1)"), "{printed}");
    let times = [50, 150, 251, 252, 400, 0xffff_ffff, 98, 200];
    let frames: Vec<_> = times.map(|a| frame(0, 7, a, 0)).to_vec();
    let (found, ran) = outs(&program, &frames);
    // 252 → 400 is a pause; the clock's wrap between 0xffffffff and 98 is one of 99.
    assert_eq!(found, [0, 0, 1, 0, 1, 0, 0, 1]);
    let sums: Vec<u32> =
        ran.packets.iter().map(|(_, b)| u32::from_be_bytes(b[7..11].try_into().unwrap())).collect();
    assert_eq!(sums, [3, 6, 9, 12, 3, 6, 9, 12]);
}

#[test]
fn the_report_counts_rows_of_the_register_file() {
    let program = program(flowlets);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let report = Report::new(&program, &placed(&program, &chip));
        let rows: Vec<(&str, u32)> = report.arrays.iter().map(|a| (a.name.as_str(), a.file_rows)).collect();
        // The limit is subtracted in a comparison, the step added as it is.
        assert_eq!(rows, [("last", 1), ("sums", 2)], "{}", chip.name);
    }
}

struct Out(Vec<(Time, Vec<u8>)>);

impl Sink for Out {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.0.push((packet.first_bit, [head, tail].concat()));
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {}
}

/// A packet every 100 ns; the step changes at 1 µs and 2 µs.
fn device(program: &Program, executor: impl Executor + 'static, chip: &ChipSpec, batch: usize) -> Vec<u32> {
    let placement = placed(program, chip);
    let mut control = ControlState::new(program);
    let start = "register_param_set sums limit 1000000";
    lines::parse(program, start, "start").unwrap().apply(program, &mut control).unwrap();
    let ports = PortMap::default_for(chip).unwrap();
    let config = SwitchConfig { max_batch: batch, mode: Mode::Timed, ..SwitchConfig::default() };
    let mut switch = Switch::new(program, &placement, &ports, control, Box::new(executor), config).unwrap();
    let changes = "@1us register_param_set sums step 100\n@2us register_param_set sums step 0";
    for sourced in lines::parse_changes(program, changes, "changes").unwrap().ops {
        switch.control(Time::ORIGIN + sourced.at, sourced.op).unwrap();
    }
    let mut out = Out(Vec::new());
    for i in 0..30u64 {
        let bytes = frame(0, 2, 0, 0);
        let frame = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: i };
        switch.rx(DevPort::new(8).unwrap(), Time::from_nanos(100 * i), frame).unwrap();
    }
    switch.advance(Time::from_nanos(1_000_000), &mut out).unwrap();
    out.0.sort_by_key(|(time, _)| *time);
    out.0.iter().map(|(_, b)| u32::from_be_bytes(b[7..11].try_into().unwrap())).collect()
}

#[test]
fn parameters_change_between_two_packets_whatever_the_batch() {
    // To a port that the device has.
    let printed = text::print(&program(flowlets));
    let program = text::parse(&printed.replace("= 9w1;", "= 9w8;")).unwrap_or_else(|e| panic!("{e}"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let (placement, control) = (placed(&program, &chip), ControlState::new(&program));
        let told = device(&program, Reference::new(&program, &control, Options::default()), &chip, 1);
        let steps: Vec<u32> = told.windows(2).map(|w| w[1] - w[0]).collect();
        let mut kinds = steps.clone();
        kinds.dedup();
        assert_eq!(kinds, [3, 100, 0], "{steps:?}");
        for batch in [1, 7, 64] {
            let engine = Engine::new(&program, &placement, &control).unwrap();
            assert_eq!(device(&program, engine, &chip, batch), told, "batch {batch} on {}", chip.name);
        }
    }
}

#[test]
fn files_name_parameters() {
    let program = program(flowlets);
    let file = "[[register.sums]]\nparam = \"step\"\nvalue = 17\n";
    let mut control = ControlState::new(&program);
    toml::parse(&program, file, "file").unwrap().apply(&program, &mut control).unwrap();
    let printed = entries::print(&program, &control);
    assert!(printed.contains("[[register.sums]]\nparam = \"step\"\nvalue = 17\n"), "{printed}");
    let mut again = ControlState::new(&program);
    toml::parse(&program, &printed, "printed").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again.arrays, control.arrays);
    let template = template::print(&Schema::of(&program));
    assert!(template.contains("## Parameter gap: at most 2147483647, at first 100"), "{template}");
    assert!(template.contains("# [[register.last]]\n# param = \"gap\"\n# value = 100\n"), "{template}");
    let refused = |line: &str| {
        let parsed = lines::parse(&program, line, "lines").map_err(|e| format!("{e:?}"));
        let applied = parsed.and_then(|ops| {
            ops.apply(&program, &mut ControlState::new(&program)).map(|_| ()).map_err(|e| format!("{e:?}"))
        });
        applied.unwrap_err()
    };
    let found = refused("register_param_set sums stop 1");
    assert!(found.contains("there is no register parameter `stop`"), "{found}");
    let found = refused("register_param_set sums step 0x80000000");
    assert!(found.contains("2147483648") || found.contains("does not fit"), "{found}");
}

/// Returns the findings about a register with these settings and this body, on Tofino 2.
fn found(settings: &str, body: &str) -> String {
    let source = format!(
        "program wrong;
        header h : ingress {{ bit<32> a; bit<32> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        register r : ingress {{ element = \"16\"; size = 4; {settings} }}
        register_action ra (r) {{ {body} }}
        action go : ingress () {{ h.out = execute(ra, 1w1); ig_tm.ucast_egress_port = 9w1; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ call go; }}
        deparser ingress {{ emit(h); }}"
    );
    let program = text::parse(&source).unwrap_or_else(|e| panic!("{e}"));
    let diags: Vec<String> = verify(&program).iter().map(|d| format!("{}: {}", d.text, d.help)).collect();
    match (diags.as_slice(), place(&program, &ChipSpec::tofino2())) {
        ([], Err(e)) => e.to_string(),
        ([], Ok(_)) => String::new(),
        (diags, _) => diags.join("\n"),
    }
}

#[test]
fn refusals_name_the_register_and_a_remedy() {
    let ok = "@out0 = @lo; @lo = add(@lo, param(0));";
    assert_eq!(found("params = { step = 32767 };", ok), "");
    assert_eq!(
        found("params = { step = 32768 };", ok),
        "register `r` has a parameter `step` of 32768; the largest is 32767: rows of the register file are \
         signed: use wider elements or a smaller value"
    );
    assert_eq!(
        found("params = { a = 1, a = 2, c = 3, d = 4, e = 5 };", ok),
        "register `r` has 5 parameters: a register file has four rows: pass other values in metadata\n\
         register `r` has two parameters `a`: rename one of them"
    );
    assert_eq!(
        found("", ok),
        "register action `ra` uses parameter 0, but its register has 0: parameters are counted from 0"
    );
    let sum = found("params = { a = 1 };", "if (@lo == add(param(0), 5)) { @lo = 0; } @out0 = @lo;");
    assert!(sum.contains("adds a constant to a parameter; a comparator takes one number"), "{sum}");
    // Four parameters and a large constant need five rows.
    let rows = found(
        "params = { a = 1, b = 2, c = 3, d = 4 };",
        "if (@lo == param(0)) { @lo = param(1); } else { @lo = param(2); } \
         if (@lo == 1000) { @out0 = @lo; }",
    );
    assert!(rows.contains("register action `ra`"), "{rows}");
}

/// A half of 64 bits is compared for equality only, by the ternary match units of Tofino 2.
const WIDE: &str = "program wide;
header h : ingress { bit<64> a; bit<64> b; bit<32> out; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
register owner : ingress { element = \"64\"; size = 4; }
register_action claim (owner) { if (@lo == h.a) { @out0 = 1; } @lo = h.b; }
action go : ingress () { h.out = execute(claim, 2w1); ig_tm.ucast_egress_port = 9w1; }
parser ingress { start = first; state first { extract(h); transition accept; } }
control ingress { call go; }
deparser ingress { emit(h); }";

#[test]
fn wide_halves_are_equal_in_all_bits_or_not() {
    let frame = |a: u64, b: u64| [&a.to_be_bytes()[..], &b.to_be_bytes(), &[0xee; 4], &[0; 60]].concat();
    let (low, high) = (0x0000_0000_1234_5678_u64, 0x8000_0000_1234_5678_u64);
    let frames = [frame(0, low), frame(high, high), frame(low, high), frame(high, 1), frame(1, 2)];
    for (source, expected) in
        [(WIDE.to_owned(), [1, 0, 0, 1, 1]), (WIDE.replace("@lo == h.a", "h.a != @lo"), [0, 1, 1, 0, 0])]
    {
        let program = text::parse(&source).unwrap_or_else(|e| panic!("{e}"));
        let placement = placed(&program, &ChipSpec::tofino2());
        let ran = crate::registers::bench::agree(&program, &placement, &frames);
        let outs: Vec<u8> = ran.packets.iter().map(|(_, b)| b[19]).collect();
        assert_eq!(outs, expected, "{source}");
        let refused = place(&program, &ChipSpec::tofino()).unwrap_err().to_string();
        assert!(refused.contains("64"), "{refused}");
    }
    let ordered = text::parse(&WIDE.replace("@lo == h.a", "@lo < h.a")).unwrap();
    let diags: Vec<String> = verify(&ordered).iter().map(|d| d.text.clone()).collect();
    assert_eq!(diags, ["register action `claim` compares 64 bits; only copies are that wide"]);
    // Narrow halves are still compared by sums, on both chips.
    let narrow = WIDE.replace("bit<64>", "bit<32>").replace("\"64\"", "\"32\"");
    let frames: Vec<_> = frames.iter().map(|f| [&f[4..8], &f[12..16], &f[16..]].concat()).collect();
    let narrow = text::parse(&narrow).unwrap_or_else(|e| panic!("{e}"));
    let ran = both_chips(&narrow, &frames);
    let outs: Vec<u8> = ran.packets.iter().map(|(_, b)| b[11]).collect();
    assert_eq!(outs, [1, 1, 1, 1, 1]);
}
