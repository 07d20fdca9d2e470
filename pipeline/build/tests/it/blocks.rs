//! Blocks of a control block: subcontrols, decision tables, plain accesses to registers.

use sluice_asic::port::{FrontPort, PortName};
use sluice_build::net::Ipv4;
use sluice_build::*;
use sluice_ir::verify::Diag;
use sluice_ir::{CellStmtKind, Cond as IrCond, PrimitiveKind, Program, StmtKind, text};

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    row: Bits<16>,
    late: Bits<1>,
    fresh: Bits<1>,
    mode: Bits<8>,
    path: Bits<8>,
    good: Bits<8>,
}

fn built(write: impl FnOnce(&GressBuilder<'_>)) -> Result<Program, Vec<Diag>> {
    let b = Builder::new("blocks", "A program of the tests");
    write(&b.ingress());
    b.finish_unverified(&())
}

/// The texts of the programs, without the lines that inline statements are named after.
fn same(left: impl FnOnce(&GressBuilder<'_>), right: impl FnOnce(&GressBuilder<'_>)) {
    let [left, right] = [built(left), built(right)].map(|program| {
        let mut program = program.unwrap();
        for (n, action) in program.actions.values_mut().enumerate() {
            if action.name.starts_with("ingress_l") {
                action.name = format!("inline_{n}");
            }
        }
        text::print(&program)
    });
    assert_eq!(left, right);
}

#[stage_program]
fn inserted(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let hits = ig.register::<32>(8);
    /// Marks packets that are late
    let mark = ig.subcontrol(|c| {
        m.path = 1;
        if m.late == 1 {
            m.good = 2;
        }
        m.mode = 3;
    });
    let all = ig.subcontrol(|c| {
        hits.write(m.row, 1);
        mark.apply();
        m.fresh = 1;
    });
    ig.control(|c| {
        m.row = 7;
        all.apply();
        if m.fresh == 1 {
            mark.apply();
        }
    });
}

#[stage_program]
fn written_out(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let hits = ig.register::<32>(8);
    let hits_write_1 = ig.register_action(hits, |r| r.value = 1);
    ig.control(|c| {
        m.row = 7;
        hits_write_1.execute(m.row);
        m.path = 1;
        if m.late == 1 {
            m.good = 2;
        }
        m.mode = 3;
        m.fresh = 1;
        if m.fresh == 1 {
            m.path = 1;
            if m.late == 1 {
                m.good = 2;
            }
            m.mode = 3;
        }
    });
}

#[test]
fn a_subcontrol_stands_where_it_is_applied() {
    // Statements of a subcontrol share actions with their neighbours: `m.mode` and `m.fresh` are one.
    same(inserted, written_out);
}

#[stage_program]
fn table(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let path = ig.register::<8>(8);
    let seen = ig.counter(2, CounterKind::Packets);
    ig.control(|c| {
        rows! {
                                           (m.path,                    m.mode, _);
            m.late == 1 && m.fresh == 1 => (path.write(m.row, m.good), 1,      seen.count(0));
            m.late == 1                 => (path.write(m.row, m.good), 1,      seen.count(0));
            m.fresh == 1                => (path.write(m.row, 0),      _,      seen.count(1));
            false                       => (9,                         9,      _);
            _                           => (path.read(m.row),          m.good, _);
        }
    });
}

#[stage_program]
fn branches(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let path = ig.register::<8>(8);
    let seen = ig.counter(2, CounterKind::Packets);
    let path_write_good = ig.register_action(path, |r| {
        r.value = m.good;
        r.out = r.value;
    });
    let path_write_0 = ig.register_action(path, |r| {
        r.value = 0;
        r.out = r.value;
    });
    let path_read = ig.register_action(path, |r| r.out = r.value);
    ig.control(|c| {
        if (m.late == 1 && m.fresh == 1) || m.late == 1 {
            m.path = path_write_good.execute(m.row);
            m.mode = 1;
            seen.count(0);
        } else if m.fresh == 1 {
            m.path = path_write_0.execute(m.row);
            seen.count(1);
        } else {
            m.path = path_read.execute(m.row);
            m.mode = m.good;
        }
    });
}

#[test]
fn neighbouring_rows_with_equal_cells_are_one_branch() {
    same(table, branches);
}

#[stage_program]
fn columns(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let path = ig.register::<8>(8);
    ig.control(|c| {
        rows! {
                            (m.path,           m.good, m.mode);
            m.late == 1  => (1,                1,      4);
            m.fresh == 1 => (path.read(m.row), 2,      4);
            _            => (path.read(m.row), 3,      4);
        }
        rows! {
                            (m.fresh, m.good);
            m.fresh == 1 => (0,       2);
            _            => (0,       3);
        }
        rows! {
                            (m.path, m.good);
            m.fresh == 1 => (0,      2);
            m.late == 1  => (0,      3);
        }
    });
}

#[stage_program]
fn columns_written_out(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let path = ig.register::<8>(8);
    let path_read = ig.register_action(path, |r| r.out = r.value);
    ig.control(|c| {
        if m.late == 1 {
            m.path = 1;
            m.good = 1;
            m.mode = 4;
        } else {
            m.path = path_read.execute(m.row);
            if m.fresh == 1 {
                m.good = 2;
                m.mode = 4;
            } else {
                m.good = 3;
                m.mode = 4;
            }
        }
        if m.fresh == 1 {
            m.fresh = 0;
            m.good = 2;
        } else {
            m.fresh = 0;
            m.good = 3;
        }
        if m.fresh == 1 {
            m.path = 0;
            m.good = 2;
        } else if m.late == 1 {
            m.path = 0;
            m.good = 3;
        }
    });
}

#[test]
fn first_columns_that_are_equal_stand_before_the_branch() {
    // Not in the second table, whose condition reads the column, nor in the third, where perhaps no row applies.
    same(columns, columns_written_out);
}

#[test]
fn a_row_that_equals_the_last_one_needs_no_condition() {
    #[stage_program]
    fn table(ig: &GressBuilder<'_>) {
        let m = ig.metadata::<Meta>();
        ig.control(|c| {
            rows! {
                             (m.path);
                m.late == 1  => (1);
                m.fresh == 1 => (2);
                _            => (2);
            }
        });
    }
    let program = built(table).unwrap();
    let control = &program.pipe(sluice_asic::gress::Gress::Ingress).control;
    let [one] = &control[..] else { panic!("{control:?}") };
    let StmtKind::If(IrCond::Cmp(..), then, otherwise) = &one.kind else { panic!("{one:?}") };
    assert_eq!((then.len(), otherwise.len()), (1, 1));
    assert!(matches!(otherwise[0].kind, StmtKind::Call(_)));
}

#[stage_program]
fn plain(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let path = ig.register::<8>(8);
    let declared = ig.register_action(path, |r| r.value = 5);
    let _ = declared;
    ig.control(|c| {
        if m.late == 1 {
            m.path = path.read(m.row);
        } else if m.fresh == 1 {
            path.write(m.row, 5);
        } else if m.mode == 1 {
            m.path = path.write(m.row, 5);
        } else if m.mode == 2 {
            path.write(m.row, m.good + 1);
        } else {
            m.good = path.read(m.row);
        }
    });
    let path_write = ig.register_action(path, |r| r.value = 6);
    let _ = path_write;
}

#[test]
fn reads_and_writes_declare_their_actions_once() {
    let program = built(plain).unwrap();
    let names: Vec<_> = program.register_actions.values().map(|a| (a.name.as_str(), a.body.len())).collect();
    // `write(.., 5)` without a result is `declared`; with a result it also returns the element. Declared actions keep
    // their names.
    let expected =
        [("declared", 1), ("path_read", 1), ("path_write_5", 2), ("path_write_1", 1), ("path_write", 1)];
    assert_eq!(names, expected);
    let write = &program.register_actions.values().nth(2).unwrap().body;
    assert!(
        matches!(write[0].kind, CellStmtKind::Write(..))
            && matches!(write[1].kind, CellStmtKind::Output(0, _))
    );
    let accesses = program.actions.values().flat_map(|a| &a.body);
    let accesses = accesses.filter(|p| matches!(p.kind, PrimitiveKind::Register(_)));
    assert_eq!(accesses.count(), 5);
}

#[test]
fn ports_stay_together_for_all_registers_of_a_subcontrol() {
    let b = Builder::new("blocks", "A program of the tests");
    let ig = b.ingress();
    let m = ig.named("m", "").metadata::<Meta>();
    let [first, second, third, other] =
        ["first", "second", "third", "other"].map(|name| ig.named(name, "").register::<8>(8));
    let called = ig.named("called", "").action(|a| a.run(second.write(m.row, 1)));
    let inner = ig.named("inner", "").subcontrol(|c| c.run(called.call()));
    let outer = ig.named("outer", "").subcontrol(|c| {
        c.set(m.path, first.read(m.row));
        c.if_(m.late, |c| c.run(inner.apply())).else_(|c| c.run(third.write(m.row, 0)));
    });
    ig.control(|c| {
        c.run(outer.apply());
        c.run(other.write(m.row, 1));
    });
    b.together("packets of both ports count", [outer, inner], [0, 1].map(|p| PortName::Front(FrontPort(p))));
    let program = b.finish_unverified(&()).unwrap();
    assert_eq!(program.together[0].registers, [first.id(), second.id(), third.id()]);
    assert_eq!(program.together[0].name, "first_0");
}

#[test]
fn a_subcontrol_belongs_to_one_gress_and_is_applied() {
    let b = Builder::new("blocks", "A program of the tests");
    let (ig, eg) = (b.ingress(), b.egress());
    let ipv4 = ig.named("ipv4", "").header::<Ipv4>();
    let block = ig.named("block", "").subcontrol(|c| c.set(ipv4.ttl, 1));
    ig.named("block", "").subcontrol(|c| c.set(ipv4.ttl, 2));
    eg.control(|c| c.run(block.apply()));
    let diags = b.finish(&()).unwrap_err();
    let texts: Vec<_> = diags.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(
        texts,
        ["subcontrol `block` of ingress is applied in egress", "subcontrol `block_1` is never applied",]
    );
}
