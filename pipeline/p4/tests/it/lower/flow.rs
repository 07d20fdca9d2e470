//! Control blocks.

use super::text;
use expect_test::expect;

#[test]
fn statements_conditions_and_results_of_tables() {
    let declarations = "
    bit<16> left;
    action set(bit<8> x) { m.a = x; }
    action none() {}
    table first { key = { m.a : exact; } actions = { set; none; } default_action = none(); }
    table second { key = { m.b : exact; } actions = { set; none; } default_action = none(); }
    table third { key = { m.word : exact; } actions = { set; none; } default_action = none(); }";
    let apply = "
        left = hdr.ipv4.len - 20;
        m.word = left;
        if (hdr.ipv4.isValid() && (m.word & 0xf0) == 0x30 && left > 3) {
            if (!first.apply().hit) { m.flag = 1; }
        } else if (m.a ++ m.b != 0) {
            switch (second.apply().action_run) { set: { m.b = 1; } default: { third.apply(); } }
        }
        m.flag = (bit<1>)(m.a == m.b);
        m.b = m.flag == 1 ? 8w3 : m.a;";
    let expected = expect![[r#"
        action ingress_l26 : ingress () {
            left = sub(ipv4.len, 16w0x14);
        }
        action ingress_l27 : ingress () {
            m.word = left;
        }
        action Ingress.set : ingress (bit<8> x) {
            m.a = x;
        }
        action Ingress.none : ingress () {
        }
        action ingress_l29 : ingress () {
            m.flag = 1w1;
        }
        action ingress_l31 : ingress () {
            m.b = 8w1;
        }
        action ingress_l33 : ingress () {
            m.flag = 1w1;
        }
        action ingress_l33_2 : ingress () {
            m.flag = 1w0;
        }
        action ingress_l34 : ingress () {
            m.b = 8w3;
        }
        action ingress_l34_2 : ingress () {
            m.b = m.a;
        }
        table Ingress.first : ingress {
            key = { m.a : exact; }
            actions = { Ingress.set; Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        table Ingress.second : ingress {
            key = { m.b : exact; }
            actions = { Ingress.set; Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        table Ingress.third : ingress {
            key = { m.word : exact; }
            actions = { Ingress.set; Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        control ingress {
            call ingress_l26;
            call ingress_l27;
            if (valid(ipv4) && left[7:4] == 4w3 && left > 16w3) {
                apply Ingress.first {
                    miss {
                        call ingress_l29;
                    }
                }
            } else if (!(m.a == 8w0 && m.b == 8w0)) {
                apply Ingress.second {
                    run Ingress.set {
                        call ingress_l31;
                    }
                    run Ingress.none {
                        apply Ingress.third;
                    }
                }
            }
            if (m.a == m.b) {
                call ingress_l33;
            } else {
                call ingress_l33_2;
            }
            if (m.flag == 1w1) {
                call ingress_l34;
            } else {
                call ingress_l34_2;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn exits_become_else_branches_or_flags() {
    let declarations = "
    action leave() { exit; }
    action none() {}
    table gate { key = { m.a : exact; } actions = { leave; none; } default_action = none(); }";
    let apply = "
        if (m.flag == 1) { m.a = 1; exit; }
        if (m.b == 0) { if (m.b == m.a) { return; } m.a = 2; }
        gate.apply();
        m.word = 9;";
    let expected = expect![[r#"
        action ingress_l23 : ingress () {
            m.a = 8w1;
        }
        action ingress_l24 : ingress () {
            returned = 1w1;
        }
        action ingress_l24_2 : ingress () {
            m.a = 8w2;
        }
        action Ingress.leave : ingress () {
            exited = 1w1;
        }
        action Ingress.none : ingress () {
        }
        action ingress_l26 : ingress () {
            m.word = 16w9;
        }
        table Ingress.gate : ingress {
            key = { m.a : exact; }
            actions = { Ingress.leave; Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        control ingress {
            if (m.flag == 1w1) {
                call ingress_l23;
            } else {
                if (m.b == 8w0) {
                    if (m.b == m.a) {
                        call ingress_l24;
                    } else {
                        call ingress_l24_2;
                    }
                }
                if (returned == 1w0) {
                    apply Ingress.gate;
                    if (returned == 1w0 && exited == 1w0) {
                        call ingress_l26;
                    }
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn a_table_at_places_that_exclude_each_other_is_applied_behind_them() {
    let declarations = "
    action none() {}
    action mark() { m.b = 7; }
    table t { key = { m.a : exact; } actions = { none; mark; } default_action = none(); }
    table u { key = { m.b : exact; } actions = { none; } default_action = none(); }";
    let apply = "
        if (hdr.ipv4.isValid()) { m.a = 1; t.apply(); m.word = 1; }
        else if (m.a == 3) { if (t.apply().hit) { m.word = 2; } }
        else { u.apply(); }";
    let expected = expect![[r#"
        action Ingress.none : ingress () {
        }
        action Ingress.mark : ingress () {
            m.b = 8w7;
        }
        action ingress_l24 : ingress () {
            m.a = 8w1;
        }
        action ingress_l24_2 : ingress () {
            m.word = 16w1;
        }
        action ingress_l25 : ingress () {
            m.word = 16w2;
        }
        action Ingress.t.here : ingress () {
            Ingress.t.here = 1w1;
        }
        table Ingress.t : ingress {
            key = { m.a : exact; }
            actions = { Ingress.none; Ingress.mark; }
            default_action = Ingress.none();
            size = 512;
        }
        table Ingress.u : ingress {
            key = { m.b : exact; }
            actions = { Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        control ingress {
            if (valid(ipv4)) {
                call ingress_l24;
            } else if (m.a == 8w3) {
                call Ingress.t.here;
            } else {
                apply Ingress.u;
            }
            if (valid(ipv4) || Ingress.t.here == 1w1) {
                apply Ingress.t {
                    hit {
                        if (Ingress.t.here == 1w1) {
                            call ingress_l25;
                        }
                    }
                }
            }
            if (valid(ipv4)) {
                call ingress_l24_2;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn tables_shared_by_cases_of_a_switch() {
    let declarations = "
    action one() {}
    action two() {}
    action three() {}
    table t { key = { m.a : exact; } actions = { one; two; three; } default_action = three(); }
    table u { key = { m.b : exact; } actions = { one; } default_action = one(); }";
    let apply = "switch (t.apply().action_run) { one: two: { u.apply(); } three: { m.b = 1; } }";
    let expected = expect![[r#"
        action Ingress.one : ingress () {
        }
        action Ingress.two : ingress () {
        }
        action Ingress.three : ingress () {
        }
        action ingress_l24 : ingress () {
            m.b = 8w1;
        }
        action Ingress.u.here : ingress () {
            Ingress.u.here = 1w1;
        }
        action Ingress.u.here_2 : ingress () {
            Ingress.u.here_2 = 1w1;
        }
        table Ingress.t : ingress {
            key = { m.a : exact; }
            actions = { Ingress.one; Ingress.two; Ingress.three; }
            default_action = Ingress.three();
            size = 512;
        }
        table Ingress.u : ingress {
            key = { m.b : exact; }
            actions = { Ingress.one; }
            default_action = Ingress.one();
            size = 512;
        }
        control ingress {
            apply Ingress.t {
                run Ingress.one {
                    call Ingress.u.here;
                }
                run Ingress.two {
                    call Ingress.u.here_2;
                }
                run Ingress.three {
                    call ingress_l24;
                }
            }
            if (Ingress.u.here == 1w1 || Ingress.u.here_2 == 1w1) {
                apply Ingress.u;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn an_instance_at_two_places_copies_the_arguments_that_differ() {
    let apply = "if (m.flag == 1) { twice.apply(m.a, m.word, 3); } else { twice.apply(m.b, m.word, 4); }";
    let expected = expect![[r#"
        action Ingress.twice.add : ingress () {
            twice.x = add(twice.x, twice.by);
        }
        action ingress_l19 : ingress () {
            twice.x = m.a;
            twice.by = 8w3;
        }
        action ingress_l19_2 : ingress () {
            m.a = twice.x;
        }
        action ingress_l19_3 : ingress () {
            twice.x = m.b;
            twice.by = 8w4;
        }
        action ingress_l19_4 : ingress () {
            m.b = twice.x;
        }
        table Ingress.twice.t : ingress {
            key = { m.word : exact; }
            actions = { Ingress.twice.add; }
            default_action = Ingress.twice.add();
            size = 512;
        }
        control ingress {
            if (m.flag == 1w1) {
                call ingress_l19;
            } else {
                call ingress_l19_3;
            }
            apply Ingress.twice.t;
            if (m.flag == 1w1) {
                call ingress_l19_2;
            }
            if (!(m.flag == 1w1)) {
                call ingress_l19_4;
            }
        }
    "#]];
    expected.assert_eq(&text("Twice() twice;", apply));
}

#[test]
fn what_runs_instead_of_a_table_at_two_places_excludes_it() {
    let declarations = "
    action none() {}
    action mark() { m.b = 7; }
    table t { key = { m.a : exact; } actions = { none; } default_action = none(); }";
    let apply = "
        if (m.flag == 1 && m.a == 2) { t.apply(); } else if (m.a == 3) { t.apply(); } else { mark(); }";
    let expected = expect![[r#"
        action Ingress.none : ingress () {
        }
        action Ingress.mark : ingress () {
            m.b = 8w7;
        }
        table Ingress.t : ingress {
            key = { m.a : exact; }
            actions = { Ingress.none; }
            default_action = Ingress.none();
            size = 512;
        }
        control ingress {
            if ((m.flag == 1w1 && m.a == 8w2) || m.a == 8w3) {
                apply Ingress.t;
            } else if (!(m.flag == 1w1 && m.a == 8w2)) {
                if (!(m.a == 8w3)) {
                    call Ingress.mark;
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn validity_of_fields_is_a_flag_or_a_value() {
    let declarations = "
    @disable_reserved_i2e_drop_implementation action copy() { dprsr.mirror_type = 0; }
    action back() { invalidate(dprsr.mirror_type); }";
    let apply = "copy(); if (hdr.ipv4.isValid()) { back(); }
        if (!is_validated(dprsr.mirror_type) && is_validated(tm.ucast_egress_port)) { m.a = 1; }";
    let expected = expect![[r#"
        action Ingress.copy : ingress () {
            dprsr.mirror_type = 4w0;
            mirror_type.$valid = 1w1;
        }
        action Ingress.back : ingress () {
            mirror_type.$valid = 1w0;
            dprsr.mirror_type = 4w0;
        }
        action ingress_l22 : ingress () {
            m.a = 8w1;
        }
        control ingress {
            call Ingress.copy;
            if (valid(ipv4)) {
                call Ingress.back;
            }
            if (!(mirror_type.$valid == 1w1) && ig_tm.ucast_egress_port != 9w0x1ff) {
                call ingress_l22;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn a_table_that_follows_another_repeated_one_is_joined_before_it() {
    // In the last branch `second` follows `first`, so that it would leave the branch with what follows `first`.
    let declarations = "
        action one() { m.a = 1; }
        action two() { m.b = 1; }
        action three() { m.word = 1; }
        table first { key = { hdr.ipv4.src : exact; } actions = { one; } }
        table second { key = { hdr.ipv4.dst : exact; } actions = { two; } }
        table other { key = { hdr.ipv4.len : exact; } actions = { three; } }";
    let apply = "
        if (hdr.ipv4.proto == 4) {
            first.apply();
            other.apply();
        } else if (hdr.ipv4.proto == 6) {
            second.apply();
        } else {
            first.apply();
            second.apply();
        }";
    let text = text(declarations, apply);
    let control = &text[text.find("control ingress").unwrap()..];
    let wanted = "control ingress {
    if (ipv4.proto == 8w4 || !(ipv4.proto == 8w6)) {
        apply Ingress.first;
    }
    if (ipv4.proto == 8w4) {
        apply Ingress.other;
    }
    if (!(ipv4.proto == 8w4)) {
        apply Ingress.second;
    }
}
";
    assert_eq!(control, wanted);
}
