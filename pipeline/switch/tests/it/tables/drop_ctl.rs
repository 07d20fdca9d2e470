//! `drop_ctl` as a field of three bits: drops that are taken back, copies to the CPU and mirror copies that it forbids.

use crate::tables::bench::{both_chips, call, configured, entry, parsed, placed};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, MadeKind, Pass, PassIn, Verdict};
use sluice_exec::reference::Reference;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program, text};

/// The first byte chooses the action; the second is 1 if `drop_ctl` has bit 0 at the end.
fn program() -> Program {
    parsed(
        "program drops;
        header h : ingress { bit<8> kind; bit<8> seen; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; bit<3> dprsr.drop_ctl; bit<1> ig_tm.copy_to_cpu; }
        label denied = drop; label computed = drop;
        action deny : ingress () { drop(denied); }
        action put : ingress (bit<3> v, bit<1> cpu) {
            set_drop_ctl(dprsr.drop_ctl, v, computed); ig_tm.copy_to_cpu = cpu;
        }
        action add_bit : ingress () { set_drop_ctl(dprsr.drop_ctl, or(dprsr.drop_ctl, 3w1), computed); }
        action clear : ingress () { set_drop_ctl(dprsr.drop_ctl, 3w0, computed); }
        action see : ingress () { h.seen = 8w1; }
        action send : ingress () { ig_tm.ucast_egress_port = 9w8; }
        table first : ingress {
            key = { h.kind : exact; } actions = { deny; put; } default_action = send(); size = 64;
        }
        table second : ingress {
            key = { h.kind : exact; } actions = { add_bit; clear; } default_action = send(); size = 64;
        }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress {
            call send; apply first; apply second;
            if (dprsr.drop_ctl[0:0] == 1w1) { call see; }
        }
        deparser ingress { emit(h); }",
    )
}

#[test]
fn drops_are_taken_back_and_have_the_last_label() {
    let p = program();
    let add = |table, kind: u128, action, args: &[u128]| {
        entry(&p, table, &[KeyValue::Exact(kind)], 0, call(&p, action, args))
    };
    let ops = [
        add("first", 1, "deny", &[]),
        add("first", 2, "deny", &[]),
        add("second", 2, "clear", &[]),
        add("first", 3, "put", &[1, 0]),
        add("first", 4, "put", &[6, 0]),
        add("first", 5, "put", &[2, 0]),
        add("second", 5, "add_bit", &[]),
        add("first", 6, "put", &[1, 1]),
        add("first", 7, "put", &[3, 1]),
        add("first", 8, "put", &[2, 1]),
    ];
    let frames: Vec<Vec<u8>> = (0..9).map(|kind| [vec![kind, 0], vec![0; 60]].concat()).collect();
    let ran = both_chips(&p, &ops, &frames);
    let label = |name: &str| Verdict::Label(p.labels.iter().find(|(_, l)| l.name == name).unwrap().0);
    let found: Vec<(Verdict, u16)> = ran.packets.iter().map(|(out, _)| (out.verdict, out.port)).collect();
    let expected = [
        (Verdict::Forward, 8),
        (label("denied"), 8),
        (Verdict::Forward, 8),
        (label("computed"), 8),
        (Verdict::Forward, 8),
        (label("computed"), 8),
        // The copy to the CPU is left of the packet, and it has no port.
        (Verdict::Forward, sluice_ir::Intrinsic::NO_PORT),
        (label("computed"), 8),
        (Verdict::Forward, 8),
    ];
    assert_eq!(found, expected);
    // The condition reads the field. Dropped packets keep their bytes as they came in.
    assert_eq!(ran.byte(1), [0, 0, 0, 0, 0, 0, 1, 0, 0]);
}

#[test]
fn bit_two_forbids_mirror_copies_in_egress() {
    let p = parsed(
        "program mirrors;
        header i : ingress { bit<8> kind; }
        header h : egress { bit<8> kind; }
        header m : egress { bit<8> mark; }
        metadata : egress { bit<10> meta.session; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        intrinsic : egress { bit<4> dprsr.mirror_type; bit<3> dprsr.drop_ctl; }
        label lost = drop;
        action send : ingress () { ig_tm.ucast_egress_port = 9w8; }
        action copy : egress () { dprsr.mirror_type = 4w1; meta.session = 10w5; }
        action keep : egress (bit<3> v) { set_drop_ctl(dprsr.drop_ctl, v, lost); }
        action no : egress () { }
        table t : egress { key = { h.kind : exact; } actions = { keep; } default_action = no(); size = 16; }
        parser ingress { start = first; state first { extract(i); transition accept; } }
        parser egress { start = first; state first { extract(h); transition accept; } }
        control ingress { call send; }
        control egress { call copy; apply t; }
        deparser ingress { emit(i); }
        deparser egress { mirror(1, meta.session, m); emit(h); }",
    );
    let add = |kind: u128, v: u128| entry(&p, "t", &[KeyValue::Exact(kind)], 0, call(&p, "keep", &[v]));
    let control = configured(&p, &[add(1, 4), add(2, 5), add(3, 1)]);
    let frames: Vec<Vec<u8>> = (0..4).map(|kind| [vec![kind], vec![0; 63]].concat()).collect();
    let lost = Verdict::Label(p.labels.keys().next().unwrap());
    let expected = [(Verdict::Forward, 1), (Verdict::Forward, 0), (lost, 0), (lost, 1)];
    assert_eq!(mirrored(&mut Reference::new(&p, &control, Default::default()), &frames), expected);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        let mut engine = Engine::new(&p, &placement, &control).unwrap();
        assert_eq!(mirrored(&mut engine, &frames), expected, "{}", chip.name);
    }
}

/// Runs frames through egress; returns each verdict with the number of mirror copies.
fn mirrored(executor: &mut dyn Executor, frames: &[Vec<u8>]) -> Vec<(Verdict, usize)> {
    let mut store = PacketStore::new(HeadLayout::default());
    let one = |frame: &Vec<u8>| {
        let mut pass = [Pass::new(store.insert(frame, 0), PassIn { port: 8, ..PassIn::default() })];
        executor.run(Gress::Egress, &mut pass, &mut store);
        let made = std::mem::take(executor.made());
        let copies = made.iter().filter(|m| matches!(m.kind, MadeKind::Mirror { .. })).count();
        (pass[0].output.verdict, copies)
    };
    frames.iter().map(one).collect()
}

#[test]
fn only_drop_ctl_is_written_as_such() {
    let source = "program bad;
        header h : ingress { bit<8> a; bit<8> b; }
        metadata : ingress { bit<3> m.x; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; bit<3> dprsr.drop_ctl; }
        label lost = drop;
        action put : ingress () { set_drop_ctl(m.x, 3w1, lost); ig_tm.ucast_egress_port = 9w8; }
        action wide : ingress () { set_drop_ctl(dprsr.drop_ctl, 4w1, lost); }
        action twice : ingress () { drop(lost); m.x = dprsr.drop_ctl; set_drop_ctl(dprsr.drop_ctl, 3w0, lost); }
        action plain : ingress () { dprsr.drop_ctl = 3w1; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call put; call wide; call twice; call plain; }
        deparser ingress { emit(h); }";
    let p = text::parse(source).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<String> = verify(&p).iter().map(|d| d.text.clone()).collect();
    assert_eq!(
        found,
        [
            "action `put` writes `m.x` as `drop_ctl`",
            "action `wide` sets `dprsr.drop_ctl` of 3 bits to a value of 4 bits",
            "action `plain` writes `dprsr.drop_ctl`, which only the hardware writes",
            "action `twice` reads `dprsr.drop_ctl` after writing it",
            "action `twice` writes `drop_ctl` twice",
        ]
    );
}
