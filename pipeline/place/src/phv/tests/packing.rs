//! Metadata fields that share a container.

use super::*;
use sluice_asic::phv::ContainerKind;
use sluice_ir::{Cond, MatchKind};
use sluice_samples::sketch::cmp;

fn one(width: u16) -> Expr {
    Expr::Const(1, width)
}

fn together(program: &Program, a: Field, b: Field) -> bool {
    let [x, y] = chips().map(|chip| {
        let allocation = allocated(program, &chip);
        allocation.slices(a)[0].container == allocation.slices(b)[0].container
    });
    assert_eq!(x, y);
    x
}

#[test]
fn fields_of_one_action_share() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 1), s.sketch.meta("b", 3));
    s.call(vec![set(a, one(1)), set(b, one(3))]);
    assert!(together(&s.program(), a, b));
}

#[test]
fn fields_of_tables_that_one_packet_runs_do_not() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 1), s.sketch.meta("b", 1));
    s.set(a, one(1)).set(b, one(1));
    assert!(!together(&s.program(), a, b));
}

#[test]
fn fields_of_two_branches_share() {
    let mut s = Sketch::new("branches");
    let (a, b, c) = (s.meta("a", 1), s.meta("b", 1), s.meta("c", 8));
    let first = s.action("first", &[], vec![set(a, one(1))]);
    let second = s.action("second", &[], vec![set(b, one(1))]);
    let (then, otherwise) = (vec![s.stmt(StmtKind::Call(first))], vec![s.stmt(StmtKind::Call(second))]);
    let condition: Cond = cmp(sluice_ir::CmpOp::Eq, c, 3, 8);
    let block = vec![s.stmt(StmtKind::If(condition, then, otherwise))];
    s.control(block);
    assert!(together(&s.program, a, b));
}

#[test]
fn a_hash_result_does_not_share_with_data_of_its_action() {
    let mut s = Small::new();
    let (a, b, c) = (s.sketch.meta("a", 4), s.sketch.meta("b", 4), s.sketch.meta("c", 16));
    let hash = s.sketch.hash("h", &[c], 4);
    s.call(vec![PrimitiveKind::Hash(a, hash), set(b, one(4))]);
    assert!(!together(&s.program(), a, b));
}

#[test]
fn flags_set_by_parser_constants_share() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 1), s.sketch.meta("b", 1));
    s.header("h", &[("x", 8)]);
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(a, one(1)));
    also(&mut program, ParserOpKind::Set(b, one(1)));
    assert!(together(&program, a, b));
}

#[test]
fn a_field_copied_into_a_larger_container_is_padded_not_cut() {
    let mut s = Small::new();
    let (_, tag) = s.header("tag", &[("pcp", 4), ("vid", 12)]);
    let kept = s.sketch.meta("kept", 4);
    s.set(kept, field(tag[0]));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert_eq!(info(&chip, allocation.slices(kept)[0].container).size.bits(), 16);
        assert_eq!(allocation.slices(kept).len(), 1);
    }
}

#[test]
fn a_cast_cuts_what_is_wider_than_its_source() {
    let mut s = Small::new();
    let (_, ip) = s.header("ip", &[("ttl", 8), ("rest", 24)]);
    let wide = s.sketch.meta("wide", 32);
    s.set(wide, Expr::Cast(Box::new(field(ip[0])), 32));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        let parts: Vec<_> = allocation.slices(wide).iter().map(|s| (s.lo, s.width)).collect();
        assert_eq!(parts, [(8, 24), (0, 8)]);
    }
}

#[test]
fn a_slice_of_a_time_stamp_cuts_the_stamp() {
    let mut s = Small::new();
    let stamp = s.sketch.intrinsic(sluice_ir::Intrinsic::GlobalTstamp);
    let (now, late) = (s.sketch.meta("now", 32), s.sketch.meta("late", 32));
    s.set(now, Expr::Slice(Box::new(field(stamp)), 31, 0));
    s.set(late, alu(AluOp::Sub, field(late), field(now)));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        let parts: Vec<_> = allocation.slices(stamp).iter().map(|s| (s.lo, s.width)).collect();
        assert_eq!(parts, [(32, 16), (0, 32)]);
    }
}

#[test]
fn a_header_follows_a_partner_with_smaller_containers() {
    let mut s = Small::new();
    let (_, v4) = s.header("v4", &[("tos", 8), ("len", 16), ("ttl", 8)]);
    let (_, v6) = s.header("v6", &[("version", 4), ("class", 8), ("label", 20)]);
    s.set(v6[1], field(v4[0]));
    s.set(v4[2], alu(AluOp::Add, field(v4[2]), field(v4[0])));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        let class: Vec<_> = allocation.slices(v6[1]).iter().map(|s| (s.lo, s.width, s.at)).collect();
        assert_eq!(class, [(4, 4, 0), (0, 4, 4)]);
    }
}

#[test]
fn what_the_parser_copies_fills_its_containers() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("vni", 24), ("rest", 8)]);
    let kept = s.sketch.meta("kept", 24);
    let nop = s.sketch.action("nop", &[], vec![]);
    let table = s.sketch.table("t", &[(kept, MatchKind::Exact)], &[nop], 16);
    let block = vec![s.sketch.apply(table)];
    let mut program = s.program();
    program.pipes[0].control = block;
    also(&mut program, ParserOpKind::Set(kept, field(h[0])));
    for chip in chips() {
        let parts: Vec<_> = allocated(&program, &chip).slices(kept).iter().map(|s| (s.lo, s.width)).collect();
        assert_eq!(parts, [(8, 16), (0, 8)]);
    }
}

#[test]
fn a_checksum_between_bytes_that_pass_through_stays_alone() {
    let mut s = Small::new();
    let (header, h) = s.header("h", &[("a", 16), ("checksum", 16), ("b", 32)]);
    let mut program = s.program();
    let loc = program.headers[header].loc;
    let inputs = [h[0], h[2]].map(sluice_ir::Expr::Field).to_vec();
    let update =
        sluice_ir::ChecksumUpdate { header, when: None, field: h[1], inputs, zeros_as_ones: false, loc };
    program.pipes[0].deparser.checksums = vec![update];
    for chip in chips() {
        let at = allocated(&program, &chip).slices(h[1]).to_vec();
        assert_eq!(at.iter().map(|s| (s.width, s.at)).collect::<Vec<_>>(), [(16, 0)]);
        assert_eq!(info(&chip, at[0].container).size.bits(), 16);
    }
}

/// `x` waits in `kept` while `y` takes its place, then comes back as `y`; no node matches on `kept`.
#[test]
fn what_only_waits_is_in_a_dark_container_if_it_is_written_first() {
    let program = |written_first: bool| {
        let mut s = Small::new();
        let (x, y, kept) = (s.sketch.meta("x", 32), s.sketch.meta("y", 32), s.sketch.meta("kept", 32));
        if written_first {
            s.set(kept, Expr::Field(x));
        }
        s.set(x, Expr::Field(y)).set(y, Expr::Field(kept));
        if !written_first {
            s.set(kept, Expr::Field(x));
        }
        (s.program(), kept)
    };
    let chip = ChipSpec::tofino2();
    let kind = |written_first| {
        let (program, kept) = program(written_first);
        let allocation = allocated(&program, &chip);
        assert!(findings(&program, &chip, &allocation).is_empty());
        (info(&chip, allocation.slices(kept)[0].container).kind, allocation)
    };
    let (dark, allocation) = kind(true);
    assert_eq!(dark, ContainerKind::Dark);
    assert_ne!(
        kind(false).0,
        ContainerKind::Dark,
        "metadata starts as zero, and dark containers as anything"
    );
    let found = findings(&program(false).0, &chip, &allocation).join("\n");
    assert!(found.contains("is in a dark container, but is read before it is written"), "{found}");
}
