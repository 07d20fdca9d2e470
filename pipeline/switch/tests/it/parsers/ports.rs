//! Port metadata: written by the control plane, read by parser and control block.

use crate::parsers::{Front, frame, program};
use crate::registers::bench::placed;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_control::{ControlOp, ControlState, Schema, entries, lines, template, toml};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, PassOut};
use sluice_exec::reference::Reference;
use sluice_ir::Program;

/// What is known of a port
#[derive(Header)]
struct PortMd {
    /// Routing domain
    vrf: Bits<16>,
    /// 1 carries tags
    kind: Bits<8>,
    /// Two numbers side by side
    both: Bits<40>,
}

/// Four bytes that only tagged ports carry
#[allow(dead_code, reason = "it only gives the layout")]
#[derive(Header)]
struct Tag {
    value: Bits<32>,
}

#[stage_program]
fn ports(ig: &GressBuilder<'_>) {
    let md = ig.port_metadata::<PortMd>();
    let front = ig.header::<Front>();
    let tag = ig.header::<Tag>();
    let start = ig.state().select(md.kind);
    let plain = ig.state().extract(front);
    let tagged = ig.state().extract(tag).extract(front);
    start.on(1, tagged);
    start.otherwise(plain);
    ig.start(start);
    ig.control(|c| {
        if front.is_valid() {
            front.b = md.vrf;
            front.out = md.both.slice::<31, 0, 32>();
        }
        if tag.is_valid() {
            tag.set_invalid();
        }
    });
    ig.deparser().emit(tag).emit(front);
}

/// The bytes of each packet: port, whether it was resubmitted, and frame.
fn run(
    executor: &mut dyn Executor,
    packets: &[(u16, bool, Vec<u8>)],
    batch: usize,
) -> Vec<(PassOut, Vec<u8>)> {
    let mut store = PacketStore::new(HeadLayout::default());
    let mut out = Vec::new();
    for packets in packets.chunks(batch) {
        let pass = |(port, resubmitted, frame): &(u16, bool, Vec<u8>)| {
            let input = PassIn { port: *port, resubmitted: *resubmitted, ..PassIn::default() };
            Pass::new(store.insert(frame, 0), input)
        };
        let mut passes: Vec<Pass> = packets.iter().map(pass).collect();
        executor.run(Gress::Ingress, &mut passes, &mut store);
        for pass in passes {
            let bytes = [store.head(pass.packet), store.tail(pass.packet)].concat();
            out.push((PassOut { parser_cycles: 0, ..pass.output }, bytes));
            store.remove(pass.packet);
        }
    }
    out
}

fn configured(program: &Program) -> ControlState {
    let mut control = ControlState::new(program);
    for (port, values) in [(8, vec![0x0102, 0, 0xff_0000_0007]), (9, vec![7, 1, 0x12_3456_789a])] {
        control.apply(program, ControlOp::SetPortMetadata { port, values }).unwrap();
    }
    control
}

#[test]
fn ports_choose_the_parser_and_fill_fields() {
    let program = program(ports);
    let control = configured(&program);
    let plain = |b: u16, out: u32| frame(&[&[1, 2], b.to_be_bytes().as_slice(), &out.to_be_bytes()].concat());
    let before = plain(0xaaaa, 0xbbbb_bbbb);
    let packets = [
        (8, false, before.clone()),
        (9, false, [&[9, 9, 9, 9], before.as_slice()].concat()),
        (10, false, before.clone()),
        (9, true, before.clone()),
        (511, false, before.clone()),
    ];
    let wanted = [plain(0x0102, 7), plain(7, 0x3456_789a), plain(0, 0), plain(0, 0), plain(0, 0)];
    let expected = run(&mut Reference::new(&program, &control, Default::default()), &packets, 1);
    assert_eq!(expected.iter().map(|(_, b)| b.clone()).collect::<Vec<_>>(), wanted);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        for batch in [1, 7, 64] {
            let mut engine = Engine::new(&program, &placement, &control).unwrap();
            assert_eq!(run(&mut engine, &packets, batch), expected);
            // Rows that are not written have zeros, and rows may be written again while packets run.
            engine.port_metadata_changed(&ControlState::new(&program));
            let none = run(&mut engine, &packets[..1], batch);
            assert_eq!(none[0].1, plain(0, 0));
            engine.port_metadata_changed(&control);
            assert_eq!(run(&mut engine, &packets, batch), expected);
        }
    }
}

#[test]
fn both_file_formats_write_it_and_the_toml_form_comes_back() {
    let program = program(ports);
    let control = configured(&program);
    let text = entries::print(&program, &control);
    let mut again = ControlState::new(&program);
    toml::parse(&program, &text, "t").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again.port_metadata, control.port_metadata);
    let mut again = ControlState::new(&program);
    let script = "port_metadata_set 8 0x102 0 0xff00000007\nport_metadata_set 9 7 1 0x123456789a\n";
    lines::parse(&program, script, "l").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again.port_metadata, control.port_metadata);
    let example = template::print(&Schema::of(&program));
    assert!(example.contains("##   md.vrf: 16 bits - Routing domain"), "{example}");
    let uncommented: String =
        example.lines().filter_map(|l| l.strip_prefix("# ")).map(|l| format!("{l}\n")).collect();
    let mut again = ControlState::new(&program);
    toml::parse(&program, &uncommented, "t").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again.port_metadata.len(), 1);
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let program = program(ports);
    let mut control = ControlState::new(&program);
    let mut refuse = |port, values| {
        control.apply(&program, ControlOp::SetPortMetadata { port, values }).unwrap_err().to_string()
    };
    assert_eq!(refuse(512, vec![0, 0, 0]), "dev_port 512 does not exist; expected 0 to 511");
    assert_eq!(
        refuse(1, vec![0, 0]),
        "port metadata of port 1 has 3 fields (md.vrf, md.kind, md.both), not 2"
    );
    assert_eq!(
        refuse(1, vec![0, 256, 0]),
        "port metadata `md.kind` is 8 bits wide; 0x100 for port 1 does not fit"
    );
    let errors =
        toml::parse(&program, "[[port_metadata]]\nport = 3\nvalues = { vfr = 1 }\n", "f").unwrap_err();
    assert!(errors[0].to_string().contains("did you mean `vrf`?"), "{}", errors[0]);
    let errors = lines::parse(&program, "port_metadata_set 600 1 1 1\n", "f").unwrap_err();
    assert!(errors[0].to_string().contains("`600` is not a dev_port; expected 0 to 511"), "{}", errors[0]);
}
