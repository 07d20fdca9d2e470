//! Resubmit, mirror and digest in one program that is written with the builder.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::tm::MirrorSession;
use sluice_build::*;
use sluice_control::ControlOp;
use sluice_ir::Program;

#[derive(params::Params, Default)]
struct NoParams {}

/// What a packet asks for
#[derive(Header)]
struct Ask {
    /// 1: resubmit, 2: mirror and tell
    kind: Bits<8>,
    /// Travels with the request
    value: Bits<8>,
}

/// In front of a resubmitted packet
#[derive(Header)]
struct Again {
    value: Bits<8>,
}

/// In front of a copy, and in digests
#[derive(Header)]
struct Report {
    value: Bits<8>,
    fixed: Bits<16>,
}

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    session: Bits<10>,
}

#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let (ask, again) = (ig.header::<Ask>(), ig.header::<Again>());
    let (copy, told) = (ig.header::<Report>(), ig.header::<Report>());
    let m = ig.metadata::<Meta>();
    let flag = ig.intrinsic::<tna::Resubmitted>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let resubmit = ig.intrinsic::<tna::ForResubmit>();
    let mirror = ig.intrinsic::<tna::ForMirror>();
    let digest = ig.intrinsic::<tna::ForDigest>();

    let start = ig.state().select(flag.resubmit_flag);
    let parse_again = ig.state().extract(again);
    let parse_ask = ig.state().extract(ask);
    start.on(1, parse_again).otherwise(parse_ask);
    parse_again.otherwise(parse_ask);
    ig.start(start);

    ig.control(|c| {
        tm.ucast_egress_port = 16;
        if again.is_valid() {
            ask.value = again.value;
        } else if ask.kind == 1 {
            again.value = ask.value;
            resubmit.resubmit_type = 2;
        } else if ask.kind == 2 {
            copy.value = ask.value;
            copy.fixed = 0xcafe;
            m.session = 5;
            mirror.mirror_type = 1;
            told.value = ask.value;
            told.fixed = 0xd00d;
            digest.digest_type = 7;
        }
    });
    ig.deparser().resubmit(2, again).mirror(1, m.session, copy).digest(7, told).emit(ask);
}

fn program() -> Program {
    let b = Builder::new("built", "Asks for everything");
    ingress(&b.ingress());
    b.finish(&NoParams {}).unwrap()
}

#[test]
fn a_built_program_does_what_its_text_does() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        // On Tofino's port map at 100G dev_port 16 is a port as well.
        let port = DevPort::new(24).unwrap();
        let session = ControlOp::SetMirrorSession { id: 5, session: Some(MirrorSession::to_port(port)) };
        let w = World::of(&chip, program()).with(session);
        let story = w.run(&[frame(8, 0, &[1, 0x42, 9]), frame(8, 1000, &[2, 0x43, 9])]);
        let expected: [(u16, &[u8]); 3] =
            [(16, &[1, 0x42, 9]), (16, &[2, 0x43, 9]), (24, &[0x43, 0xca, 0xfe, 2, 0x43, 9])];
        let mut found = story.out();
        found.sort_unstable();
        assert_eq!(found, expected, "{}", chip.name);
        assert_eq!(story.digests[0].1, [0x43, 0xd0, 0x0d]);
        assert_eq!((story.totals.resubmitted, story.totals.created, story.totals.absorbed), (1, 2, 1));
    }
}
