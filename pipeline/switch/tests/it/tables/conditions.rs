//! Nested conditions as one gateway: fewer logical tables, the same packets.

use crate::tables::bench::{both_chips, parsed, placed, run};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_control::ControlState;
use sluice_exec::cover::{Coverage, Point, Points};
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, NodeKind};
use sluice_place::verify;

fn program(control: &str) -> Program {
    parsed(&format!(
        "program nested;
        header h : ingress {{ bit<8> a; bit<8> b; bit<8> c; bit<8> x; bit<8> y; bit<8> z; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action send : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        action set_x : ingress () {{ h.x = 8w1; }}
        action set_y : ingress () {{ h.y = 8w2; }}
        action set_z : ingress () {{ h.z = 8w3; }}
        action set_a : ingress () {{ h.a = 8w0; h.x = 8w1; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        deparser ingress {{ emit(h); }}
        control ingress {{ {control} call send; }}"
    ))
}

/// Gateways, and logical table ids, on Tofino 2.
fn cost(program: &Program) -> (usize, usize) {
    let placement = placed(program, &ChipSpec::tofino2());
    assert_eq!(verify(program, &placement), []);
    let cfg = &placement.gress(Gress::Ingress).cfg;
    let gateways = cfg.nodes.values().filter(|n| matches!(n.kind, NodeKind::Gateway(_))).count();
    let ids = placement.units.iter().filter(|u| u.unit.column == Column::LogicalTable);
    (gateways, ids.map(|u| (u.unit.stage, u.unit.row)).collect::<std::collections::BTreeSet<_>>().len())
}

fn frames() -> Vec<Vec<u8>> {
    let all = (0..2u8).flat_map(|a| (0..2u8).flat_map(move |b| (0..2u8).map(move |c| [a, b, c])));
    all.map(|abc| [&abc[..], &[0; 61]].concat()).collect()
}

/// Returns the header after the program, for each of the eight combinations of `a`, `b`, `c`.
fn results(program: &Program) -> Vec<[u8; 4]> {
    let ran = both_chips(program, &[], &frames());
    ran.packets.iter().map(|(_, bytes)| [bytes[0], bytes[3], bytes[4], bytes[5]]).collect()
}

#[test]
fn conditions_without_a_table_between_are_one_gateway() {
    let p = program("if (h.a == 8w1) { if (h.b == 8w1) { if (h.c == 8w1) { call set_x; } } }");
    assert_eq!(cost(&p), (1, 2), "set_x with its gateway, and send");
    let set: Vec<u8> = results(&p).iter().map(|r| r[1]).collect();
    assert_eq!(set, [0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_condition_over_several_goes_into_each() {
    let p = program("if (h.a == 8w1) { if (h.b == 8w1) { call set_x; } if (h.c == 8w0) { call set_y; } }");
    assert_eq!(cost(&p), (2, 3));
    let found: Vec<[u8; 2]> = results(&p).iter().map(|r| [r[1], r[2]]).collect();
    assert_eq!(found, [[0, 0], [0, 0], [0, 0], [0, 0], [0, 2], [0, 0], [1, 2], [1, 0]]);
}

#[test]
fn what_changes_the_outer_condition_keeps_it_apart() {
    // The first action changes what the outer condition reads; the second must run all the same.
    let p = program("if (h.a == 8w1) { if (h.b == 8w1) { call set_a; } if (h.c == 8w1) { call set_z; } }");
    assert_eq!(cost(&p), (3, 4));
    assert_eq!(results(&p)[7], [0, 1, 0, 3]);
}

#[test]
fn other_branches_and_tables_keep_their_gateway() {
    for control in [
        "if (h.a == 8w1) { if (h.b == 8w1) { call set_x; } else { call set_y; } }",
        "if (h.a == 8w1) { call set_z; if (h.b == 8w1) { call set_x; } }",
        "if (h.a == 8w1) { if (h.b == 8w1) { call set_x; } } else { call set_y; }",
    ] {
        let p = program(control);
        assert_eq!(cost(&p).0, 2, "{control}");
        results(&p);
    }
}

/// Returns for each condition of the program how often it held and how often it did not, over the eight frames.
fn held(program: &Program) -> Vec<[u64; 2]> {
    let chip = ChipSpec::tofino2();
    let (placement, points) = (placed(program, &chip), Points::of(program, &chip));
    let control = ControlState::new(program);
    [1, 7, 64]
        .map(|batch| {
            let mut engine = Engine::covered(program, &placement, &control, points.clone(), &[]).unwrap();
            run(&mut engine, &frames(), batch);
            let mut coverage = Coverage::new(&points);
            engine.take_coverage(&mut coverage);
            let cfg = Cfg::of(program, Gress::Ingress);
            let gateways = cfg.nodes.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Gateway(_)));
            let point = |node, holds| points.number(Point::Branch(Gress::Ingress, node, holds)).unwrap();
            let count = |(node, _)| [true, false].map(|holds| coverage.count(point(node, holds)));
            gateways.map(count).collect::<Vec<_>>()
        })
        .into_iter()
        .reduce(|a, b| {
            assert_eq!(a, b, "batches");
            a
        })
        .unwrap()
}

#[test]
fn coverage_is_of_the_programs_conditions_and_not_of_the_joint_ones() {
    let p = program("if (h.a == 8w1) { if (h.b == 8w1) { if (h.c == 8w1) { call set_x; } } }");
    assert_eq!((cost(&p).0, held(&p)), (1, vec![[4, 4], [2, 2], [1, 1]]));
    let p = program("if (h.a == 8w1) { if (h.b == 8w1) { call set_x; } if (h.c == 8w0) { call set_y; } }");
    assert_eq!((cost(&p).0, held(&p)), (2, vec![[4, 4], [2, 2], [2, 2]]));
    let p = program("if (h.a == 8w1) { call set_z; if (h.b == 8w1) { call set_x; } }");
    assert_eq!((cost(&p).0, held(&p)), (2, vec![[4, 4], [2, 2]]));
}

/// The verifier finds a gateway that decides something other than the program, and a gateway that tests too late.
#[test]
fn wrong_gateways_are_found() {
    let chip = ChipSpec::tofino2();
    let nested = program("if (h.a == 8w1) { if (h.b == 8w1) { call set_x; } }");
    let mut placement = placed(&nested, &chip);
    let other = program("if (h.a == 8w1) { if (h.b == 8w2) { call set_x; } }");
    let mut cfg = placed(&other, &chip).gress(Gress::Ingress).cfg.clone();
    for (n, data) in placement.gress(Gress::Ingress).cfg.nodes.iter() {
        cfg.nodes[n].loc = data.loc;
    }
    placement.gresses[0].cfg = cfg;
    let found = verify(&nested, &placement);
    assert!(found.iter().any(|d| d.text.contains("`set_x` runs under other conditions")), "{found:#?}");

    let late = program("if (h.a == 8w1) { if (h.b == 8w1) { call set_a; } if (h.c == 8w1) { call set_z; } }");
    let joined = program(
        "if (h.a == 8w1 && h.b == 8w1) { call set_a; } if (h.a == 8w1 && h.c == 8w1) { call set_z; }",
    );
    let mut placement = placed(&joined, &chip);
    let own = Cfg::of(&late, Gress::Ingress);
    let leaves = |cfg: &Cfg| -> Vec<_> {
        cfg.nodes.keys().filter(|n| !matches!(cfg.nodes[*n].kind, NodeKind::Gateway(_))).collect()
    };
    let cfg = &mut placement.gresses[0].cfg;
    for (mine, theirs) in leaves(cfg).into_iter().zip(leaves(&own)) {
        cfg.nodes[mine].loc = own.nodes[theirs].loc;
    }
    let found = verify(&late, &placement);
    assert!(found.iter().any(|d| d.text.contains("a condition of `set_z` is tested too late")), "{found:#?}");
}
