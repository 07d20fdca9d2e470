//! Placement of hand-built programs: sizes, splitting, order, determinism, failures.

use crate::{
    Carrier, NoFit, Objective, Optimisation, Options, Owner, PASSES, PassInfo, Placement, Purpose, Resource,
    Retest, place, place_with, verify,
};
use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_asic::select::SelectorMode;
use sluice_ir::cfg::{Node, NodeKind};
use sluice_ir::entity::Entity;
use sluice_ir::{CmpOp, Cond, CounterKind, Expr, Field, MatchKind, PrimitiveKind, Program, StmtKind, Table};
use sluice_samples::sketch::{self as samples, Sketch, cmp, param, set};
use std::collections::BTreeSet;

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino(), ChipSpec::tofino2()]
}

fn placed(program: &Program, chip: &ChipSpec) -> Placement {
    match place(program, chip) {
        Ok(placement) => {
            assert_eq!(verify(program, &placement), []);
            placement
        }
        Err(e) => panic!("{e}\n{:#?}", e.diags),
    }
}

fn refused(program: &Program, chip: &ChipSpec) -> NoFit {
    place(program, chip).expect_err("it should not fit")
}

/// Counts the distinct units of a column whose purpose starts with `purpose`.
fn used(placement: &Placement, column: Column, purpose: &str) -> usize {
    let of =
        placement.units.iter().filter(|u| u.unit.column == column && u.purpose.kind().starts_with(purpose));
    of.map(|u| u.unit).collect::<BTreeSet<_>>().len()
}

fn node(placement: &Placement, gress: Gress, wanted: impl Fn(&NodeKind) -> bool) -> Node {
    let found = placement.gress(gress).cfg.nodes.iter().find(|(_, d)| wanted(&d.kind));
    found.map(|(n, _)| n).unwrap()
}

fn parts_of(placement: &Placement, program: &Program, table: &str) -> Vec<(u8, u8, u32)> {
    let table = program.table_named(table).unwrap();
    let gress = program.tables[table].gress;
    let n = node(placement, gress, |k| *k == NodeKind::Table(table));
    placement.gress(gress).nodes[n].parts.iter().map(|p| (p.stage, p.logical_id, p.entries)).collect()
}

#[test]
fn l3_fits_both_chips() {
    for chip in chips() {
        let program = samples::l3(12_000);
        let placement = placed(&program, &chip);
        let [(stage, id, entries)] = parts_of(&placement, &program, "ipv4_lpm")[..] else {
            panic!("one part")
        };
        assert_eq!((stage, entries), (0, 12_288), "24 blocks of 512");
        assert_eq!(parts_of(&placement, &program, "ecmp_group")[0].0, 1);
        assert_eq!(parts_of(&placement, &program, "nexthops")[0].0, 2);
        // The condition shares the id of the first table after it.
        let ingress = placement.gress(Gress::Ingress);
        let gateway = node(&placement, Gress::Ingress, |k| matches!(k, NodeKind::Gateway(_)));
        assert_eq!(ingress.nodes[gateway].parts[0].logical_id, id);
        // ingress: TCAM in stage 0 (+2), selector in stage 1 (+8), match dependencies into stages 1 and 2.
        assert_eq!(&ingress.dependencies[..3], [StageDependency::Match; 3]);
        let rest = u32::from(!chip.features.concurrent_dependency) + 1;
        let expected = match chip.name.as_str() {
            "tofino" => 4 + 22 + 28 + 20 + 3 * rest + 20 + 5 * rest,
            _ => 25 + 31 + 23 + 17 * rest,
        };
        assert_eq!(ingress.mau_cycles, expected, "{}", chip.name);
    }
}

#[test]
fn a_hundred_thousand_routes_with_direct_counters_fit_tofino2() {
    let program = samples::l3(100_000);
    let placement = placed(&program, &ChipSpec::tofino2());
    let parts = parts_of(&placement, &program, "ipv4_lpm");
    assert!(parts.iter().map(|p| p.2).sum::<u32>() >= 100_000);
    assert_eq!(parts.len(), 9, "196 blocks of 512, 24 per stage: {parts:?}");
    assert!(parts.windows(2).all(|w| w[0].0 + 1 == w[1].0));
    assert_eq!(used(&placement, Column::Tcam, "key word"), 196);
    // 12,288 entries at two per word: 6 RAMs and a spare bank; the last part has 4 blocks.
    assert_eq!(used(&placement, Column::MapRam, "counter"), 8 * 7 + 2 + 2);
    assert_eq!(parts_of(&placement, &program, "ecmp_group")[0].0, parts[8].0 + 1, "after the last part");
}

#[test]
fn vectors_of_memory_sizes_reach_the_units() {
    let chip = ChipSpec::tofino2();
    // model: chip §4.5: 65,536 cells of 32 bits: 16 RAMs and a spare bank.
    let one = placed(&samples::one_counter(65_536, CounterKind::Packets), &chip);
    assert_eq!(used(&one, Column::Sram, "counter"), 17);
    assert_eq!(used(&one, Column::MapRam, "counter"), 17);
    assert_eq!(used(&one, Column::HashDist, "value"), 1);
    assert_eq!(used(&one, Column::HashBit, "value"), 16);
    // Both counts: two per word, so 32 RAMs, in two halves with a spare bank each.
    let both = placed(&samples::one_counter(65_536, CounterKind::PacketsAndBytes), &chip);
    assert_eq!(used(&both, Column::Sram, "counter"), 34);
    assert_eq!(used(&both, Column::StatsAlu, ""), 2);
    // 1,024 cells: one RAM and a spare bank.
    let small = placed(&samples::one_counter(1024, CounterKind::Bytes), &chip);
    assert_eq!(used(&small, Column::Sram, "counter"), 2);
    // A ternary table whose only action has no data needs no indirection.
    let ternary = placed(&samples::one_ternary(1024), &chip);
    assert_eq!(used(&ternary, Column::Tcam, "key word"), 2);
    assert_eq!(used(&ternary, Column::TindResultBus, ""), 0);
    // 4,096 exact entries: four ways of one RAM, 40 index bits, no select bit.
    let exact = placed(&samples::one_exact(4096), &chip);
    assert_eq!(used(&exact, Column::Sram, "match way"), 4);
    assert_eq!(used(&exact, Column::HashBit, "way"), 40);
    assert_eq!(used(&exact, Column::ExactXbar, ""), 4);
    assert_eq!(used(&exact, Column::Slots32, ""), 1);
}

#[test]
fn large_exact_tables_are_split_over_stages() {
    let program = samples::one_exact(400_000);
    let placement = placed(&program, &ChipSpec::tofino2());
    let parts = parts_of(&placement, &program, "lookup");
    assert!(parts.len() > 1 && parts.iter().map(|p| p.2).sum::<u32>() >= 400_000, "{parts:?}");
}

#[test]
fn the_same_program_is_placed_the_same_way() {
    for chip in chips() {
        let program = samples::l3(40_000);
        assert_eq!(placed(&program, &chip), placed(&program, &chip));
    }
}

#[test]
fn what_runs_out_first_is_named() {
    let chip = ChipSpec::tofino();
    let first = |program: &Program| {
        let no = refused(program, &chip);
        assert!(!no.diags.is_empty() && !no.reason().contains('\n'), "{}", no.reason());
        no.first_exhausted.unwrap()
    };
    let tcam = first(&samples::one_ternary(200_000));
    assert_eq!(tcam.resource, Resource::Column(Column::Tcam));
    assert_eq!(tcam.contenders, ["acl"]);
    assert_eq!(first(&samples::one_exact(10_000_000)).resource, Resource::Column(Column::Sram));
    assert_eq!(first(&samples::counters(49, 16)).resource, Resource::Column(Column::StatsAlu));
    assert_eq!(first(&samples::chain(13)).resource, Resource::Stages);
    placed(&samples::chain(12), &chip);
    placed(&samples::counters(48, 16), &chip);
}

#[test]
fn sixteen_logical_tables_per_stage() {
    // Independent actions, each of which writes one field.
    let mut s = Sketch::new("many");
    let outs: Vec<Field> = (0..20).map(|i| s.meta(&format!("o{i}"), 8)).collect();
    let block = outs
        .iter()
        .enumerate()
        .map(|(i, &out)| {
            let action = s.action(&format!("a{i}"), &[], vec![set(out, Expr::Const(1, 8))]);
            s.stmt(StmtKind::Call(action))
        })
        .collect();
    s.control(block);
    let placement = placed(&s.program, &ChipSpec::tofino2());
    let in_stage = |stage| {
        let ids =
            placement.units.iter().filter(|u| u.unit.stage == stage && u.unit.column == Column::LogicalTable);
        ids.map(|u| u.unit.row).collect::<BTreeSet<_>>().len()
    };
    assert_eq!((in_stage(0), in_stage(1)), (16, 4));
    let late = placement.gress(Gress::Ingress).nodes.values().find(|n| n.parts[0].stage == 1).unwrap();
    assert!(late.why.starts_with("stage 0: no "), "{}", late.why);
}

#[test]
fn a_long_chain_comes_before_what_can_wait() {
    // Three independent actions, and a chain of three: six logical tables, which three stages of two hold.
    let text = "program chain;
        header h : ingress { bit<32> a; bit<32> b; bit<32> c; }
        metadata : ingress { bit<32> m.x; bit<32> m.y; bit<32> m.z; bit<32> m.p; bit<32> m.q; }
        action first : ingress () { m.p = add(h.a, h.b); }
        action second : ingress () { m.q = add(m.p, h.b); }
        action third : ingress () { h.c = add(m.q, h.b); }
        action x : ingress () { m.x = h.a; }
        action y : ingress () { m.y = h.a; }
        action z : ingress () { m.z = h.a; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call x; call y; call z; call first; call second; call third; }
        deparser ingress { emit(h); }";
    let program = sluice_ir::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    let mut chip = ChipSpec::tofino2();
    chip.mau.logical_tables = 2;
    let placement = placed(&program, &chip);
    let stages = placement.gress(Gress::Ingress).nodes.values().map(|n| n.parts[0].stage);
    assert_eq!(stages.max(), Some(2));
}

/// Five registers under a condition, four of which are pinned to stage 0.
fn pinned_registers() -> Program {
    let one = |n: usize, pin: &str| {
        (
            format!(
                "register r{n} : ingress {{ element = \"32\"; size = 16; }}
                register_action next{n} (r{n}) {{ @lo = add(@lo, 1); @out0 = @lo; }}
                action count{n} : ingress () {{ m.v{n} = execute(next{n}, 8w0); }}
                table t{n} : ingress {{ actions = {{ count{n}; }} default_action = count{n}(); size = 1; {pin} }}"
            ),
            format!("apply t{n};"),
        )
    };
    let all: Vec<(String, String)> = (0..5).map(|n| one(n, if n == 0 { "" } else { "pin = 0;" })).collect();
    let (items, applied): (Vec<String>, Vec<String>) = all.into_iter().unzip();
    let text = format!(
        "program pins;
        header h : ingress {{ bit<16> a; bit<16> b; }}
        metadata : ingress {{ bit<32> m.v0; bit<32> m.v1; bit<32> m.v2; bit<32> m.v3; bit<32> m.v4; }}
        {}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ if (h.a == 16w1) {{ {} }} }}
        deparser ingress {{ emit(h); }}",
        items.concat(),
        applied.concat()
    );
    sluice_ir::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

#[test]
fn what_is_pinned_comes_before_what_can_wait() {
    // A stage has four meter ALUs.
    let program = pinned_registers();
    let placement = placed(&program, &ChipSpec::tofino());
    for n in 1..5 {
        assert_eq!(parts_of(&placement, &program, &format!("t{n}"))[0].0, 0);
    }
    assert_eq!(parts_of(&placement, &program, "t0")[0].0, 1);
}

#[test]
fn pins_are_kept_or_refused() {
    let chip = ChipSpec::tofino2();
    let pinned = |table: &str, stage: u8| {
        let mut program = samples::l3(4096);
        let t = program.table_named(table).unwrap();
        program.tables[t].pin = Some(stage);
        program
    };
    let program = pinned("ecmp_group", 7);
    let placement = placed(&program, &chip);
    assert_eq!(parts_of(&placement, &program, "ecmp_group")[0].0, 7);
    assert_eq!(parts_of(&placement, &program, "nexthops")[0].0, 8);
    let early = refused(&pinned("nexthops", 1), &chip);
    assert!(early.reason().contains("its dependencies allow stage 2"), "{}", early.reason());
    let beyond = refused(&pinned("nexthops", 20), &chip);
    assert!(beyond.reason().contains("pinned to stage 20"), "{}", beyond.reason());
}

/// A program with one condition around one action.
fn conditional(make: impl Fn(&[Field]) -> Cond) -> Program {
    let mut s = Sketch::new("conditional");
    let (header, f) = s.header("h", &[("a", 32), ("b", 32), ("c", 16), ("d", 8), ("e", 8)]);
    s.state("parse_h", header, &[], vec![]);
    let out = s.meta("out", 8);
    let action = s.action("mark", &[], vec![set(out, Expr::Const(1, 8))]);
    let call = s.stmt(StmtKind::Call(action));
    let branch = s.stmt(StmtKind::If(make(&f), vec![call], vec![]));
    s.control(vec![branch]);
    s.program
}

#[test]
fn conditions_take_bytes_and_hash_bits() {
    let chip = ChipSpec::tofino();
    let bits = |make: &dyn Fn(&[Field]) -> Cond| {
        let p = placed(&conditional(make), &chip);
        (used(&p, Column::ExactXbar, ""), used(&p, Column::HashBit, ""))
    };
    let eq = |f: Field, w| Cond::Cmp(CmpOp::Eq, Expr::Field(f), Expr::Const(7, w));
    assert_eq!(bits(&|f| eq(f[0], 32)), (4, 0), "32 bits against a constant");
    assert_eq!(bits(&|f| cmp(CmpOp::Gt, f[3], 4, 8)), (1, 8), "a magnitude goes through hash bits");
    assert_eq!(bits(&|f| cmp(CmpOp::Lt, f[2], 0x100, 16)), (1, 0), "a power of two is a test of upper bits");
    assert_eq!(
        bits(&|f| cmp(CmpOp::Lt, f[0], 0x1800, 32)),
        (4, 0),
        "few values under masks take no hash bits"
    );
    assert_eq!(
        bits(&|f| cmp(CmpOp::Lt, f[0], 1000, 32)),
        (4, 12),
        "more of them take codes for the low bits"
    );
    let same = |a: Field, b: Field| Cond::Cmp(CmpOp::Eq, Expr::Field(a), Expr::Field(b));
    assert_eq!(bits(&|f| same(f[0], f[1])), (8, 0), "the upper four bytes are XORed in");
    let and = |a, b| Cond::And(Box::new(a), Box::new(b));
    assert_eq!(bits(&|f| and(eq(f[0], 32), eq(f[3], 8))), (5, 8), "what finds no byte goes to hash bits");
}

#[test]
fn conditions_beyond_a_gateway_are_refused_with_a_remedy() {
    let chip = ChipSpec::tofino2();
    let why = |make: &dyn Fn(&[Field]) -> Cond| {
        let no = refused(&conditional(make), &chip);
        assert!(!no.diags[0].help.is_empty());
        no.reason()
    };
    let fields = |op, a: Field, b: Field| Cond::Cmp(op, Expr::Field(a), Expr::Field(b));
    assert!(why(&|f| fields(CmpOp::Lt, f[0], f[1])).contains("orders two fields"));
    assert!(why(&|f| cmp(CmpOp::Lt, f[0], 0x1234_5678, 32)).contains("gateway rows"));
    let any = |c: &[Cond]| c.iter().cloned().reduce(|a, b| Cond::Or(Box::new(a), Box::new(b))).unwrap();
    let and = |a, b| Cond::And(Box::new(a), Box::new(b));
    let eq = |f, v| cmp(CmpOp::Eq, f, v, 8);
    let pairs = |f: &[Field]| any(&(0..5).map(|i| and(eq(f[3], i), eq(f[4], i))).collect::<Vec<_>>());
    assert!(why(&|f| pairs(f)).contains("5 gateway rows"));
}

#[test]
fn writers_of_one_container_part() {
    // Header bits of one byte, written by two tables.
    let mut s = Sketch::new("conflict");
    let (header, f) = s.header("h", &[("hi", 4), ("lo", 4), ("key", 8)]);
    s.state("parse_h", header, &[], vec![]);
    let a = s.action("set_hi", &[4], vec![set(f[0], param(0, 4))]);
    let b = s.action("set_lo", &[4], vec![set(f[1], param(0, 4))]);
    let first = s.table("first", &[(f[2], MatchKind::Exact)], &[a], 64);
    let second = s.table("second", &[(f[2], MatchKind::Exact)], &[b], 64);
    let block = vec![s.apply(first), s.apply(second)];
    s.control(block);
    for chip in chips() {
        let placement = placed(&s.program, &chip);
        assert_eq!(parts_of(&placement, &s.program, "first")[0].0, 0);
        assert_eq!(parts_of(&placement, &s.program, "second")[0].0, 1);
        let n = node(&placement, Gress::Ingress, |k| *k == NodeKind::Table(Table::new(1)));
        let late = &placement.gress(Gress::Ingress).nodes[n];
        assert_eq!(late.min_stage, 0);
        assert!(late.why.contains("same container"), "{}", late.why);
    }
}

#[test]
fn exclusive_users_of_a_counter_share_its_units() {
    let build = |exclusive: bool| {
        let mut s = Sketch::new("shared");
        let (header, f) = s.header("h", &[("key", 8)]);
        s.state("parse_h", header, &[], vec![]);
        let home = sluice_ir::CounterHome::Indirect(1024);
        let counter = s.counter("c", CounterKind::Packets, home);
        let count = |n| vec![PrimitiveKind::Count(counter, Expr::Const(n, 10))];
        let (a, b) = (s.action("one", &[], count(1)), s.action("two", &[], count(2)));
        let (a, b) = (s.stmt(StmtKind::Call(a)), s.stmt(StmtKind::Call(b)));
        let block = if exclusive {
            vec![s.stmt(StmtKind::If(cmp(CmpOp::Eq, f[0], 1, 8), vec![a], vec![b]))]
        } else {
            vec![a, b]
        };
        s.control(block);
        s.program
    };
    let placement = placed(&build(true), &ChipSpec::tofino());
    let alus: Vec<Owner> =
        placement.units.iter().filter(|u| u.unit.column == Column::StatsAlu).map(|u| u.owner).collect();
    assert_eq!((alus.len(), used(&placement, Column::StatsAlu, "")), (2, 1));
    let no = refused(&build(false), &ChipSpec::tofino());
    assert!(no.reason().contains("a packet may run both"), "{}", no.reason());
}

#[test]
fn a_selector_that_no_chip_has_costs_what_the_nearest_one_does() {
    let with_mode = |mode| {
        let mut program = samples::l3(1000);
        for profile in program.profiles.values_mut() {
            profile.selector.as_mut().unwrap().mode = mode;
        }
        program
    };
    let (fair, plain) = (with_mode(SelectorMode::Fair), with_mode(SelectorMode::PlainModulo));
    let chip = ChipSpec::tofino2();
    assert_eq!(placed(&plain, &chip).units, placed(&fair, &chip).units);
    let report = crate::report::Report::new(&plain, &placed(&plain, &chip));
    assert!(report.assumptions.iter().any(|a| a.text.contains("plain modulo, which no chip has")));
}

#[test]
fn wide_selectors_cost_a_word_choice_and_cycles() {
    let chip = ChipSpec::tofino2();
    let narrow = samples::l3(1000);
    let mut wide = narrow.clone();
    for profile in wide.profiles.values_mut() {
        profile.selector.as_mut().unwrap().max_group_size = 200;
    }
    let (narrow, wide) = (placed(&narrow, &chip), placed(&wide, &chip));
    assert_eq!(used(&narrow, Column::HashDist, "selector word"), 0);
    assert_eq!(used(&wide, Column::HashDist, "selector word"), 1);
    assert_eq!(wide.gresses[0].mau_cycles, narrow.gresses[0].mau_cycles + 2);
    // 512 groups of two words: one RAM and a spare bank either way.
    assert_eq!(used(&wide, Column::MapRam, "selector"), 2);
}

#[test]
fn every_pass_prints() {
    let (program, chip) = (samples::l3(1000), ChipSpec::tofino2());
    for pass in &PASSES {
        assert_eq!(PassInfo::named(pass.name).unwrap().doc, pass.doc);
        let text = pass.dump(&program, &chip, &Options::default()).unwrap();
        assert!(!text.is_empty(), "{}", pass.name);
    }
}

/// The passes before the one that fails have results.
#[test]
fn passes_of_a_program_that_does_not_fit_print() {
    let (program, chip) = (samples::l3(1_000_000), ChipSpec::tofino2());
    let dump = |name| PassInfo::named(name).unwrap().dump(&program, &chip, &Options::default());
    assert!(dump("dependencies").unwrap().starts_with("digraph"));
    assert_eq!(dump("tables").unwrap_err(), place(&program, &chip).unwrap_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn tables_of_any_size_are_legal_or_refused(
        sizes in proptest::collection::vec((1_u32..60_000, 0_u8..3, 1_u16..33), 1..9),
        first in any::<bool>(),
    ) {
        let mut s = Sketch::new("random");
        let (header, keys) = s.header("h", &[("a", 32), ("b", 16), ("c", 16), ("d", 8), ("e", 8)]);
        s.state("parse_h", header, &[], vec![]);
        let mut block = Vec::new();
        for (i, (size, kind, width)) in sizes.iter().enumerate() {
            let out = s.meta(&format!("o{i}"), *width);
            let act = s.action(&format!("a{i}"), &[*width], vec![set(out, param(0, *width))]);
            let nop = s.action(&format!("n{i}"), &[], vec![]);
            let kinds = [MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm];
            let t = s.table(&format!("t{i}"), &[(keys[i % 5], kinds[usize::from(*kind)])], &[act, nop], *size);
            block.push(s.apply(t));
        }
        s.control(block);
        let chip = if first { ChipSpec::tofino() } else { ChipSpec::tofino2() };
        match place(&s.program, &chip) {
            Ok(placement) => prop_assert_eq!(verify(&s.program, &placement), []),
            Err(no) => prop_assert!(no.first_exhausted.is_some(), "{}", no),
        }
    }
}

#[test]
fn an_outcome_that_crosses_stages_needs_a_tag_or_relays_and_the_verifier_says_so() {
    let program = samples::l3(100_000);
    let placement = placed(&program, &ChipSpec::tofino2());
    let [branch] = &placement.long_branches[..] else { panic!("{:?}", placement.long_branches) };
    assert_eq!(
        (branch.from_stage, branch.to_stage, branch.tag()),
        (0, 9, Some(0)),
        "the routes are in between"
    );
    let findings = |change: &dyn Fn(&mut Placement)| {
        let mut broken = placement.clone();
        change(&mut broken);
        verify(&program, &broken).iter().map(|d| d.text.clone()).collect::<Vec<_>>().join("\n")
    };
    assert!(findings(&|p| p.long_branches.clear()).contains("no long branch from stage 0 to stage 9"));
    let tag = |p: &mut Placement| p.long_branches[0].by = Carrier::Tag(8);
    assert!(findings(&tag).contains("long branch on tag 8; there are 8"));
    let relays = |p: &mut Placement| p.long_branches[0].by = Carrier::Relays(vec![3; 8]);
    assert!(findings(&relays).contains("no relay with logical id 3 in stage 1"));
}

#[test]
fn relays_stand_where_tags_are_too_few() {
    let mut chip = ChipSpec::tofino2();
    chip.mau.long_branch_tags = 0;
    let without = BTreeSet::from([Optimisation::RetestedConditions]);
    let options = Options { without, ..Options::default() };
    let placement = place_with(&samples::l3(100_000), &chip, &options).unwrap();
    let Carrier::Relays(ids) = &placement.long_branches[0].by else {
        panic!("{:?}", placement.long_branches)
    };
    assert_eq!(ids.len(), 8);
    assert_eq!(used(&placement, Column::LogicalTable, "relay"), 8);
    assert_eq!(used(&placement, Column::ExactResultBus, "relay"), 8);
}

#[test]
fn conditions_are_tested_again_where_tags_are_too_few_and_the_verifier_sees_what_is_wrong() {
    let mut chip = ChipSpec::tofino2();
    chip.mau.long_branch_tags = 0;
    let program = samples::l3(100_000);
    let placement = placed(&program, &chip);
    let branch = &placement.long_branches[0];
    let Carrier::Retest(retest) = branch.by else { panic!("{branch:?}") };
    assert_eq!((retest.outcomes, used(&placement, Column::Gateway, "retest")), (1, 1));
    assert!(retest.stage == branch.to_stage || retest.stage + 1 == branch.to_stage);
    let findings = |change: &dyn Fn(&mut Placement)| {
        let mut broken = placement.clone();
        change(&mut broken);
        verify(&program, &broken).iter().map(|d| d.text.clone()).collect::<Vec<_>>().join("\n")
    };
    let no_gateway = |p: &mut Placement| p.units.retain(|u| u.purpose != Purpose::Retest);
    assert!(findings(&no_gateway).contains("0 gateways test it"), "{}", findings(&no_gateway));
    let at = |stage: u8, id, outcomes| {
        move |p: &mut Placement| p.long_branches[0].by = Carrier::Retest(Retest { stage, id, outcomes })
    };
    assert!(findings(&at(retest.stage, retest.id, 0)).contains("it tests nothing"));
    assert!(findings(&at(3, Some(0), 1)).contains("that is not the stage before"));
    assert!(findings(&at(3, None, 1)).contains("no part there to which the gateway could be attached"));
}

#[test]
fn a_program_does_not_fit_where_nothing_carries_an_outcome() {
    let mut chip = ChipSpec::tofino2();
    chip.mau.long_branch_tags = 0;
    chip.mau.logical_tables = 1;
    let without = BTreeSet::from([
        Optimisation::NextTablePointer,
        Optimisation::RetestedConditions,
        Optimisation::RepeatedConditions,
    ]);
    let options = Options { without, ..Options::default() };
    let refused = place_with(&samples::l3(100_000), &chip, &options).unwrap_err();
    assert_eq!(refused.first_exhausted.as_ref().unwrap().resource, Resource::LongBranches, "{refused}");
    assert!(refused.reason().contains("no carrier takes it there"), "{refused}");
}

#[test]
fn in_a_chain_nothing_stands_between_a_condition_and_what_it_decides() {
    let program = samples::l3(1000);
    let placement = placed(&program, &ChipSpec::tofino());
    let table = program.table_named("port_filter").unwrap();
    let filter = node(&placement, Gress::Ingress, |k| *k == NodeKind::Table(table));
    let mut broken = placement;
    // Between the condition in stage 0 and the next hops in stage 2.
    broken.gresses[0].nodes[filter].parts[0].stage = 1;
    let findings = verify(&program, &broken);
    assert!(findings.iter().any(|d| d.text.contains("next tables are a chain")), "{findings:#?}");
}

#[test]
fn latency_can_be_had_for_stages_and_each_means_can_be_left_out() {
    let cycles = |p: &Placement| p.gresses.iter().map(|g| g.mau_cycles).sum::<u32>();
    for chip in chips() {
        let program = samples::l3(1000);
        let few = placed(&program, &chip);
        let with = |options: &Options| {
            let placement = place_with(&program, &chip, options).unwrap();
            assert_eq!(verify(&program, &placement), []);
            placement
        };
        let fast = with(&Options { objective: Objective::LowestLatency, ..Options::default() });
        assert!(cycles(&fast) <= cycles(&few));
        for optimisation in Optimisation::ALL {
            with(&Options { without: BTreeSet::from([optimisation]), ..Options::default() });
        }
        let apart = with(&Options {
            without: BTreeSet::from([Optimisation::AttachedGateways, Optimisation::LateGateways]),
            ..Options::default()
        });
        let ids = |p: &Placement| used(p, Column::LogicalTable, "");
        assert_eq!(ids(&apart), ids(&few) + 1, "the condition has an id of its own");
    }
}

#[test]
fn ways_and_entries_per_word_are_those_that_the_author_demands() {
    let with = |ways: Option<u8>, pack: Option<u8>| {
        let mut program = samples::one_exact(8192);
        let t = program.tables.keys().next().unwrap();
        (program.tables[t].rules.ways, program.tables[t].rules.pack) = (ways, pack);
        program
    };
    let layout = |ways, pack| {
        let placement = placed(&with(ways, pack), &ChipSpec::tofino());
        let n = node(&placement, Gress::Ingress, |k| matches!(k, NodeKind::Table(_)));
        let owner = Owner { gress: Gress::Ingress, node: n };
        let part = placement.gress(Gress::Ingress).nodes[n].parts[0];
        let found = crate::report::ways(&placement, owner, part).unwrap();
        (found.sizes, found.width)
    };
    // A RAM has 1024 words, so that 8192 entries are eight RAMs deep with one entry per word, and four with two.
    assert_eq!(layout(Some(2), Some(2)).0, [2, 2]);
    assert_eq!(layout(Some(1), Some(1)), (vec![8], 1));
    assert_eq!(layout(Some(3), Some(1)), (vec![4, 2, 2], 1));
    assert_eq!(layout(None, Some(1)).0.len(), 4);
    let refused = refused(&with(None, Some(200)), &ChipSpec::tofino());
    assert!(refused.reason().contains("entries per word"), "{}", refused.reason());
}

#[test]
fn the_table_with_the_greatest_priority_is_placed_first() {
    // A stage has four meter ALUs for the five registers.
    let stages = |priority: i16| {
        let mut program = pinned_registers();
        program.tables.values_mut().for_each(|table| table.pin = None);
        let last = program.table_named("t4").unwrap();
        program.tables[last].rules.priority = priority;
        let placement = placed(&program, &ChipSpec::tofino());
        [3, 4].map(|n| parts_of(&placement, &program, &format!("t{n}"))[0].0)
    };
    assert_eq!((stages(0), stages(1), stages(-1)), ([0, 1], [1, 0], [0, 1]));
}

#[test]
fn the_author_says_how_many_entries_the_pinned_stage_has() {
    let text = "sluice 1; program pinned;
        header h : ingress { bit<32> a; bit<32> b; }
        metadata : ingress { bit<8> m; }
        action mark : ingress (bit<8> x) { m = x; }
        action none : ingress () { }
        table t : ingress { key = { h.a : exact; } actions = { mark; } default_action = none(); size = 8192; pin = 2; pin_entries = 2048; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply t; }
        deparser ingress { emit(h); }";
    let program = sluice_ir::text::parse(text).unwrap();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        let parts = parts_of(&placement, &program, "t");
        assert_eq!((parts[0].0, parts[1].0), (2, 3), "{parts:?}");
        let placed = placement.gress(Gress::Ingress);
        let entries: Vec<u32> = placed.nodes.values().flat_map(|n| &n.parts).map(|p| p.entries).collect();
        assert!((2048..8192).contains(&entries[0]) && entries.iter().sum::<u32>() >= 8192, "{entries:?}");
        assert_eq!(crate::verify::verify(&program, &placement), []);
    }
}
