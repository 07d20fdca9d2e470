use super::*;
use sluice_ir::text;

fn points(text: &str) -> (Program, Points) {
    let program = text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let points = Points::of(&program, &ChipSpec::tofino2());
    (program, points)
}

const PROGRAM: &str = "program covered;
    header a : ingress { bit<8> kind; bit<8> x; }
    header b : ingress { bit<8> y; bit<8> z; }
    header c : ingress { bit<8> v; bit<8> w; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    action one : ingress () { ig_tm.ucast_egress_port = 9w1; }
    action two : ingress () { ig_tm.ucast_egress_port = 9w2; }
    table fixed : ingress {
        key = { a.x : ternary; }
        actions = { one; two; }
        default_action = one();
        size = 4;
        const entries = { (1) : two(); (_) : one(); }
    }
    table open : ingress {
        key = { b.y : exact; }
        actions = { one; two; }
        default_action = one();
        size = 4;
    }
    parser ingress {
        start = first;
        state first {
            extract(a);
            select (a.kind) { (1) : second; (1) : third; default : accept; }
        }
        state second { extract(b); transition accept; }
        state third { extract(c); transition accept; }
    }
    control ingress {
        apply fixed;
        if (valid(b)) { apply open; }
        if (valid(b) && !valid(a)) { call one; }
    }
    deparser ingress { emit(a); emit(b); emit(c); }\n";

#[test]
fn what_the_graph_rules_out_is_unreachable_and_nothing_else_is() {
    let (_, points) = points(PROGRAM);
    let never: Vec<(&str, &str)> =
        points.list().iter().filter_map(|p| p.unreachable.map(|why| (p.name.as_str(), why))).collect();
    let expected = [
        // A second arm for the same value. The state after it counts as reachable, because that proof uses the graph of
        // states alone.
        ("ingress first -> third (0x1)", "the arms before it take every packet that it would"),
        ("fixed", "its entries match every packet"),
        (
            "ingress if ((b.isValid() && !(a.isValid()))) is true",
            "the headers that it wants are never valid together here",
        ),
        ("ingress one", "the headers that the conditions above want are never valid together"),
    ];
    assert_eq!(never, expected);
}

#[test]
fn shares_leave_out_what_is_unreachable_unless_it_was_reached() {
    let (_, points) = points(PROGRAM);
    let mut coverage = Coverage::new(&points);
    assert_eq!(coverage.share(&points, Class::ParserStates), Share { hit: 0, total: 3 });
    assert_eq!(coverage.share(&points, Class::TablesMiss), Share { hit: 0, total: 1 });
    let miss = points.list().iter().position(|p| p.name == "open" && p.point.class() == Class::TablesMiss);
    coverage.add(miss.unwrap_or(0) as u32, 3);
    assert_eq!(coverage.share(&points, Class::TablesMiss), Share { hit: 1, total: 1 });
    let mut other = Coverage::new(&points);
    other.merge(&coverage);
    assert_eq!(other, coverage);
    assert_eq!(other.reached().count(), 1);
    assert_eq!(Share { hit: 1, total: 3 }.percent(), 33);
    assert_eq!(Share::default().percent(), 100);
}
