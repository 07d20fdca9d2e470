//! Entries, members, defaults and cells of a single pipe, in addition to those of all pipes.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_control::{ControlState, Script, entries, lines, template, toml};
use sluice_exec::engine::Engine;
use sluice_exec::reference::{NoTrace, Options, Reference};
use sluice_ir::Program;
use sluice_switch::{Switch, SwitchConfig};

/// Four bytes from four kinds of lookup, and the number of packets that the pipe has seen.
const PROGRAM: &str = "program own;
    header h : ingress { bit<8> key; bit<8> a; bit<8> b; bit<8> c; bit<32> seen; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    register seen : ingress { element = \"32\"; size = 2; params = { step = 1 }; }
    register_action next (seen) { @lo = add(@lo, param(0)); @out0 = @lo; }
    counter packets : ingress { kind = packets; size = 2; }
    profile chosen : ingress { size = 8; }
    action set_a : ingress (bit<8> v) { h.a = v; }
    action set_b : ingress (bit<8> v) { h.b = v; }
    action set_c : ingress (bit<8> v) { h.c = v; }
    action number : ingress () { h.seen = execute(next, 1w0); count(packets, 1w0); ig_tm.ucast_egress_port = 9w16; }
    table exactly : ingress { key = { h.key : exact; } actions = { set_a; } default_action = set_a(0xff); size = 8; }
    table wildly : ingress { key = { h.key : ternary; } actions = { set_b; } default_action = set_b(0xff); size = 8; }
    table shared : ingress { key = { h.key : exact; } actions = { set_c; } default_action = set_c(0xff); size = 8;
        profile = chosen; }
    parser ingress { start = first; state first { extract(h); transition accept; } }
    control ingress { apply exactly; apply wildly; apply shared; call number; }
    deparser ingress { emit(h); }";

const ENTRIES: &str = r#"
[[table.exactly]]
key = { key = 1 }
action = "set_a"
args = [0x10]
pipe = 0

[[table.exactly]]
key = { key = 1 }
action = "set_a"
args = [0x11]
pipe = 1

[[table.wildly]]
key = { key = "1 &&& 0x0f" }
action = "set_b"
args = [0x20]
priority = 1

[[default_in_pipe.wildly]]
pipe = 1
action = "set_b"
args = [0x21]

[[profile.chosen.member]]
id = 0
action = "set_c"
args = [0x30]

[[profile.chosen.member]]
id = 0
action = "set_c"
args = [0x31]
pipe = 1

[[table.shared]]
key = { key = 1 }
member = 0

[[register.seen]]
index = 0
value = 100
pipe = 1

[[register.seen]]
param = "step"
value = 5
pipe = 1
"#;

fn world(chip: &ChipSpec) -> World {
    let mut w = World::new(chip, PROGRAM);
    let script = toml::parse(&w.program, ENTRIES, "own.toml").unwrap_or_else(|e| panic!("{e:#?}"));
    w.control = script.ops.into_iter().map(|sourced| sourced.op).collect();
    w
}

/// Ports of pipes 0 and 1.
const PORTS: [u16; 2] = [8, 136];

#[test]
fn pipes_look_up_what_is_theirs() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let mut w = world(&chip);
        let changes = "@2us in_pipe 1 table_add exactly set_a 2 => 0x12
            @2us in_pipe 0 register_write seen 0 1000
            @2us table_add wildly set_b 2&&&0xff => 0x22 7
            @4us in_pipe 1 table_delete exactly 0
            @4us in_pipe 0 table_modify exactly set_a 0 0x13
            @4us table_set_default wildly set_b 0x23
            @4us act_prof_create_member chosen set_c 0x33";
        let script = lines::parse_changes(&w.program, changes, "later").unwrap_or_else(|e| panic!("{e:#?}"));
        w.later = script.ops.into_iter().map(|s| (sluice_asic::units::Time::ORIGIN + s.at, s.op)).collect();
        let mut frames = Vec::new();
        for (round, start) in [0, 3000, 5000].into_iter().enumerate() {
            for (i, port) in PORTS.into_iter().enumerate() {
                for key in [1, 2] {
                    let tag = (round * 4 + i * 2 + usize::from(key) - 1) as u8;
                    let at = start + u64::from(key) * 100 + 400 * i as u64;
                    frames.push(frame(port, at, &[&[key, 0, 0, 0, 0, 0, 0, 0, tag][..], &[0; 60]].concat()));
                }
            }
        }
        frames.sort_by_key(|f| f.time);
        let told = w.run(&frames);
        let mut found: Vec<[u8; 9]> = told.sent.iter().map(|(_, b)| *b.first_chunk().unwrap()).collect();
        found.sort_by_key(|b| b[8]);
        let wanted: Vec<[u8; 9]> = [
            // At first.
            [1, 0x10, 0x20, 0x30, 0, 0, 0, 1, 0],
            [2, 0xff, 0xff, 0xff, 0, 0, 0, 2, 1],
            [1, 0x11, 0x20, 0x31, 0, 0, 0, 105, 2],
            [2, 0xff, 0x21, 0xff, 0, 0, 0, 110, 3],
            // One entry more in pipe 1, one in both, and a register written in pipe 0.
            [1, 0x10, 0x20, 0x30, 0, 0, 3, 0xe9, 4],
            [2, 0xff, 0x22, 0xff, 0, 0, 3, 0xea, 5],
            [1, 0x11, 0x20, 0x31, 0, 0, 0, 115, 6],
            [2, 0x12, 0x22, 0xff, 0, 0, 0, 120, 7],
            // The first entry is deleted in pipe 1 and changed in pipe 0; operations on all pipes reach both.
            [1, 0x13, 0x20, 0x33, 0, 0, 3, 0xeb, 8],
            [2, 0xff, 0x22, 0xff, 0, 0, 3, 0xec, 9],
            [1, 0xff, 0x20, 0x33, 0, 0, 0, 125, 10],
            [2, 0x12, 0x22, 0xff, 0, 0, 0, 130, 11],
        ]
        .to_vec();
        assert_eq!(found, wanted);
    }
}

#[test]
fn what_is_of_one_pipe_survives_its_file() {
    let program = world(&ChipSpec::tofino2()).program;
    let mut control = ControlState::new(&program);
    toml::load(&program, ENTRIES, "own.toml", &mut control).unwrap_or_else(|e| panic!("{e:#?}"));
    let printed = entries::print(&program, &control);
    let mut again = ControlState::new(&program);
    toml::load(&program, &printed, "printed.toml", &mut again)
        .unwrap_or_else(|e| panic!("{e:#?}\n{printed}"));
    assert_eq!(entries::print(&program, &again), printed);
    assert_eq!(printed.matches("pipe = 1").count(), 5, "{printed}");
    let schema = sluice_control::Schema::of(&program);
    assert!(template::print(&schema).contains("`pipe = 1` in an entry"));
}

/// Returns the errors of a file of lines.
fn refused(program: &Program, text: &str) -> Vec<String> {
    let mut control = ControlState::new(program);
    let errors = lines::load(program, text, "own.txt", &mut control).unwrap_err();
    errors.into_iter().map(|e| format!("{}: {}", e.line, e.text)).collect()
}

#[test]
fn an_entry_is_of_all_pipes_or_of_one() {
    let program = world(&ChipSpec::tofino2()).program;
    let text = "table_add exactly set_a 1 => 1
        in_pipe 1 table_add exactly set_a 2 => 2
        in_pipe 2 table_add wildly set_b 1&&&0xff => 1 1
        table_add wildly set_b 2&&&0xff => 1 1
        in_pipe 4 table_set_default exactly set_a 1
        in_pipe 1 mirroring_add 3 8
        in_pipe 2 table_delete wildly 0
        table_add wildly set_b 2&&&0xff => 1 1
        in_pipe 1 in_pipe 2 table_set_default exactly set_a 1";
    assert_eq!(
        refused(&program, text),
        [
            "2: table `exactly` has entries in all pipes, so it takes no entry in pipe 1 alone; leave the pipe out, or delete \
             those entries first",
            "4: table `wildly` has entries in single pipes, so an entry must name its pipe; name one, or delete those entries first",
            "5: `4` is not a pipe; expected 0 to 3",
            "6: mirror sessions cannot be set for pipe 1 alone; leave the pipe out",
            "9: operations of a pipe cannot be set for pipe 1 alone; leave the pipe out",
        ]
    );
}

#[test]
fn a_borrowed_executor_looks_up_the_same_everywhere() {
    let w = world(&ChipSpec::tofino2());
    let mut control = ControlState::new(&w.program);
    for op in &w.control {
        control.apply(&w.program, op.clone()).unwrap();
    }
    let mut engine = Engine::new(&w.program, &w.placement, &control).unwrap();
    let borrowed = Switch::new(
        &w.program,
        &w.placement,
        &w.ports,
        control.clone(),
        Box::new(&mut engine),
        SwitchConfig::default(),
    );
    let said = borrowed.err().unwrap().to_string();
    assert!(
        said.contains("the executor of this device uses the same entries in all pipes; pipe 0 cannot have separate entries"),
        "{said}"
    );
    // A pipe that the device does not have.
    let reference: Reference<NoTrace> = Reference::new(&w.program, &control, Options::default());
    let mut switch = Switch::new(
        &w.program,
        &w.placement,
        &w.ports,
        control,
        Box::new(reference),
        SwitchConfig::default(),
    )
    .unwrap();
    let script: Script =
        lines::parse(&w.program, "register_write seen 0 1", "one.txt").unwrap_or_else(|e| panic!("{e:#?}"));
    let op = script.ops[0].op.clone();
    let said = switch.apply(op.in_pipe(Some(7))).unwrap_err().to_string();
    assert!(said.contains("the device has no pipe 7; expected 0 to 3"), "{said}");
}
