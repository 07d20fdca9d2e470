//! The whole switch: port metadata written while packets run, resubmitted packets, an egress parser after a bridged
//! stack, and the counters when parsing fails.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Time;
use sluice_control::ControlOp;

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino(), ChipSpec::tofino2()]
}

/// Ports 8 and 24 in, 136 out.
fn payload(head: &[u8]) -> Vec<u8> {
    head.iter().copied().chain([0xa5; 80]).take(80).collect()
}

const PORTS: &str = "program ports;
header again : ingress { bit<8> mark; }
header h : ingress { bit<8> kind; bit<16> vrf; }
port_metadata : ingress { bit<16> md.vrf; }
intrinsic : ingress { bit<1> ig.resubmit_flag; bit<9> ig_tm.ucast_egress_port; bit<3> dprsr.resubmit_type; }
action resubmit : ingress () { dprsr.resubmit_type = 3w1; again.mark = 8w7; }
action forward : ingress () { ig_tm.ucast_egress_port = 9w136; h.vrf = md.vrf; }
action strip : ingress () { set_invalid(again); }
parser ingress {
    start = first;
    state first { select (ig.resubmit_flag) { (1) : second; default : last; } }
    state second { extract(again); transition last; }
    state last { extract(h); transition accept; }
}
control ingress {
    call forward;
    if (valid(again)) { call strip; } else { if (h.kind == 8w1) { call resubmit; } }
}
deparser ingress { resubmit(1, again); emit(h); }
";

#[test]
fn port_metadata_changes_at_its_time_and_a_resubmit_has_none() {
    for chip in chips() {
        let row = |port, vrf| ControlOp::SetPortMetadata { port, values: vec![vrf] };
        let mut world = World::new(&chip, PORTS).with(row(8, 3)).with(row(24, 4));
        world.later = vec![(Time::from_nanos(5000), row(8, 9)), (Time::from_nanos(5000), row(24, 0))];
        let frames = [
            frame(8, 0, &payload(&[0, 0xff, 0xff])),
            frame(24, 100, &payload(&[0, 0xff, 0xff])),
            frame(8, 200, &payload(&[1, 0xff, 0xff])),
            frame(8, 9000, &payload(&[0, 0xff, 0xff])),
            frame(24, 9100, &payload(&[0, 0xff, 0xff])),
        ];
        let story = world.run(&frames);
        let mut vrfs: Vec<(u64, u16)> =
            story.sent.iter().map(|(l, b)| (l.tag, u16::from_be_bytes([b[1], b[2]]))).collect();
        vrfs.sort_unstable();
        assert_eq!(vrfs, [(0, 3), (1, 4), (2, 0), (3, 9), (4, 0)]);
    }
}

const BRIDGED: &str = "program bridged;
header count : ingress { bit<8> n; }
header i0 : ingress { bit<7> v; bit<1> last; }
header i1 : ingress { bit<7> v; bit<1> last; }
stack items : ingress { i0; i1; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
header count : egress { bit<8> n; }
header e0 : egress { bit<16> pair; }
header e1 : egress { bit<16> pair; }
header sum : egress { bit<8> error; bit<16> first; }
stack pairs : egress { e0; e1; }
intrinsic : egress { bit<16> prsr.parser_err; }
action to_port : ingress () { ig_tm.ucast_egress_port = 9w136; set_valid(count); count.n = 8w2; }
action tell : egress () { set_valid(sum); sum.error = cast(prsr.parser_err, 8); sum.first = e0.pair; set_invalid(count); }
parser ingress {
    start = item;
    state item { extract_next(items); select (last(items, 1)) { (1) : accept; default : item; } }
}
parser egress {
    start = counted;
    state counted { extract(count); set_counter(count.n, 255, 0, 7, 0); transition pair; }
    state pair { extract_next(pairs); decrement(1); select (counter_is_zero()) { (1) : accept; default : pair; } }
}
control ingress { call to_port; }
control egress { if (valid(e0)) { call tell; } }
deparser ingress { emit(count); emit(i0); emit(i1); }
deparser egress { emit(sum); emit(e0); emit(e1); }
";

#[test]
fn egress_counts_what_ingress_bridged() {
    for chip in chips() {
        let world = World::new(&chip, BRIDGED);
        let sent = |head: &[u8]| payload(head);
        let frames = [
            frame(8, 0, &sent(&[1, 2, 3, 4])),
            frame(8, 100, &sent(&[2, 5, 3, 4])),
            // Three items: one more than the stack has.
            frame(8, 200, &sent(&[2, 4, 5, 4])),
        ];
        let story = world.run(&frames);
        let mut out: Vec<(u64, Vec<u8>)> = story.sent.iter().map(|(l, b)| (l.tag, b[..7].to_vec())).collect();
        out.sort();
        assert_eq!(out, [(0, vec![0, 1, 2, 1, 2, 3, 4]), (1, vec![0, 2, 5, 2, 5, 3, 4])]);
        let reasons: Vec<&str> = story.lost.iter().map(|(l, _)| l.reason.name(&world.program)).collect();
        assert_eq!(reasons, ["parser_no_match"]);
    }
}

const COUNTED: &str = "program counted;
header h : ingress { bit<8> words; }
header tail : ingress { bit<8> x; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
action forward : ingress () { ig_tm.ucast_egress_port = 9w136; }
parser ingress {
    start = first;
    state first {
        extract(h);
        set_counter(h.words, 40, 0, 7, 0);
        select (counter_is_zero()) { (1) : accept; default : lap; }
    }
    state lap { advance(4); decrement(1); select (counter_is_zero()) { (1) : end; default : lap; } }
    state end { extract(tail); transition accept; }
}
control ingress { call forward; }
deparser ingress { emit(h); emit(tail); }
";

#[test]
fn reasons_name_the_error_and_long_loops_reach_their_end() {
    for chip in chips() {
        let world = World::new(&chip, COUNTED);
        let long: Vec<u8> = [40].into_iter().chain((0..200).map(|i| i as u8)).collect();
        let frames = [
            frame(8, 0, &payload(&[0])),
            frame(8, 100, &payload(&[3])),
            frame(8, 200, &long),
            frame(8, 300, &payload(&[41])),
            frame(8, 400, &payload(&[39])),
        ];
        let story = world.run(&frames);
        let mut sent: Vec<(u64, usize, u8)> =
            story.sent.iter().map(|(l, b)| (l.tag, b.len(), b[1])).collect();
        sent.sort_unstable();
        assert_eq!(sent, [(0, 80, 0xa5), (1, 80 - 12, 0xa5), (2, 201 - 160, 160)]);
        let mut lost: Vec<(u64, &str)> =
            story.lost.iter().map(|(l, _)| (l.tag, l.reason.name(&world.program))).collect();
        lost.sort_unstable();
        assert_eq!(lost, [(3, "parser_counter_range"), (4, "parser_partial_header")]);
    }
}
