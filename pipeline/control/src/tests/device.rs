//! Packet generator, ports and queues: lines, TOML and state say the same.

use crate::{ControlState, entries, lines, template, toml};
use crate::{DeviceState, Schema};
use sluice_samples::router as sample;

const LINES: &str = "\
pktgen_write_buffer 1 16 0x00112233
pktgen_write_buffer 1 18 aabb
pktgen_set_app 1 3 trigger=periodic time=1.5us length=64 source_port=6 packets=16 packet_gap=20ns
pktgen_enable 1 3
pktgen_set_app 0 0 trigger=recirculation match=0x0102&&&0xff0f length=60 source_port=6
port_down 136
port_down 8
port_up 8
port_pfc 16 program
port_shaper 16 40Gbps:9216B
port_shaper 24 40Gbps:9216B
port_shaper 24 off
queue_shaper 16 1 10Gbps:1500B
queue_guarantee 16 2 1Gbps:3000B 5
queue_guarantee 16 3 1Gbps:3000B 5
queue_guarantee 16 3 off
queue_schedule 16 4 6 100
port_pfc 24 program
port_pfc 24 mac
queue_pause 16 3
queue_pause 16 4
queue_resume 16 4
queue_flow_control 24 1 credit
queue_flow_control 24 2 xoff
queue_flow_control 24 2 off
deflection_set 0 24 1
deflection_set 1 24 1
deflection_clear 1
";

fn state_of(script: crate::Script) -> DeviceState {
    let program = sample::router();
    let mut control = ControlState::new(&program);
    script.apply(&program, &mut control).unwrap();
    control.device
}

#[test]
fn lines_and_toml_make_the_same_state() {
    let program = sample::router();
    let by_lines = lines::parse(&program, LINES, "l").unwrap_or_else(|e| panic!("{}", e[0]));
    let mut control = ControlState::new(&program);
    by_lines.apply(&program, &mut control).unwrap();
    let device = control.device.clone();
    assert_eq!(device.buffers[&1][16..], [0x00, 0x11, 0xaa, 0xbb]);
    assert_eq!(
        device.apps.iter().map(|(k, a)| (*k, a.enabled)).collect::<Vec<_>>(),
        [((0, 0), false), ((1, 3), true)]
    );
    assert_eq!((device.down.len(), device.paused.len(), device.flow_control.len()), (1, 1, 1));
    assert_eq!(
        (
            device.port_shapers.len(),
            device.queue_shapers.len(),
            device.guarantees.len(),
            device.schedules.len()
        ),
        (1, 1, 1, 1)
    );
    assert_eq!(device.schedules[&(16, 4)], (6, 100));
    assert_eq!(device.program_pfc.iter().copied().collect::<Vec<_>>(), [16]);
    let printed = entries::print(&program, &control);
    let by_toml = toml::parse(&program, &printed, "t").unwrap_or_else(|e| panic!("{}\n{printed}", e[0]));
    assert_eq!(state_of(by_toml), device);
    // The operations of a state make it again.
    let mut again = DeviceState::default();
    device.ops().for_each(|op| again.apply(op).unwrap());
    assert_eq!(again, device);
}

#[test]
fn the_templates_example_is_accepted() {
    let program = sample::router();
    let text = template::print(&Schema::of(&program));
    let at = text.find("[[pktgen_buffer]]").unwrap_or_default();
    let example: String =
        text[at - 2..].lines().filter_map(|l| l.strip_prefix("# ")).map(|l| format!("{l}\n")).collect();
    let script = toml::parse(&program, &example, "e").unwrap_or_else(|e| panic!("{}\n{example}", e[0]));
    let state = state_of(script);
    assert_eq!(
        (state.apps.len(), state.down.len(), state.paused.len(), state.flow_control.len()),
        (1, 1, 1, 1)
    );
}

#[test]
fn mistakes_are_named() {
    let program = sample::router();
    let said = |text: &str| lines::parse(&program, text, "l").unwrap_err()[0].to_string();
    assert!(said("pktgen_enable 1").contains("expected pktgen_enable PIPE APP"));
    assert!(said("queue_flow_control 8 1 on").contains("xoff, credit, off"));
    assert!(said("queue_shaper 8 1 fast").contains("`fast`; expected RATE:BURST"));
    assert!(said("port_shaper 8 0bps:1B").contains("has a rate or burst of 0"));
    assert!(said("port_pfc 8 me").contains("there is no PFC `me`; expected one of: mac, program"));
    assert!(said("pktgen_set_app 0 300 trigger=pfc").contains("application 300 is too large; at most 255"));
    assert!(said("pktgen_set_app 0 1 periodic").contains("`periodic` is not of the form KEY=VALUE"));
    assert!(said("port_sideways 3").contains("port_sideways"));
    let said = |text: &str| toml::parse(&program, text, "t").unwrap_err()[0].to_string();
    assert!(said("[[queue]]\nport = 1\nqueue = 2\nflow_control = \"on\"").contains("t:4"));
    assert!(said("[[pktgen]]\npipe = 0\napp = 0\ntime = \"1us\"").contains("needs `trigger`"));
    assert!(said("[[pktgen_buffer]]\npipe = 0").contains("no `bytes`"));
}

#[test]
fn everything_of_sessions_and_groups_reads_back() {
    let program = sample::router();
    let text = "[[mirror]]\nsession = 3\nport = 16\nqueue = 1\ncos = 2\nmax_length = 90\ngroups = [7]\n\
                overrides = [\"deflect_on_drop\", \"hash_2\"]\nhashes = [1, 8191]\ndeflect_on_drop = true\n\
                [[multicast]]\ngroup = 7\nnodes = [{ rid = 1, ports = [16, 24], one_of = true, ecmp = 2 }]\n";
    let mut control = ControlState::new(&program);
    let script = toml::parse(&program, text, "t").unwrap_or_else(|e| panic!("{}", e[0]));
    script.apply(&program, &mut control).unwrap();
    let session = &control.replication.sessions[&3];
    assert_eq!((session.hashes, session.deflect_on_drop), ([1, 8191], true));
    let node = &control.replication.groups[&7][0];
    assert_eq!((node.one_of, node.ecmp), (true, Some(2)));
    let printed = entries::print(&program, &control);
    let mut again = ControlState::new(&program);
    toml::parse(&program, &printed, "p").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again.replication, control.replication);
    let wrong = toml::parse(&program, "[[mirror]]\nsession = 3\nport = 16\nhashes = [1]\n", "t").unwrap_err();
    assert!(wrong[0].to_string().contains("a mirror session has two hashes"));
}
