//! What the lowering does so that a program takes no more stages than on the chip.

use super::text;
use expect_test::expect;

#[test]
fn zeros_of_metadata_that_is_zero_are_left_out() {
    let declarations = "
    action set(bit<8> x) { m.a = x; }
    table t { key = { m.word : exact; } actions = { set; } }";
    // `m.b` is written before, `m.word` is a constant; so both keep their zeros. A header may have been extracted.
    let apply = "
        m.a = 0;
        m.flag = 0;
        hdr.ipv4.ttl = 0;
        m.word = 0;
        m.b = 3;
        if (t.apply().hit) { m.b = 0; m.flag = 1; }";
    let expected = expect![[r#"
        action Ingress.set : ingress (bit<8> x) {
            m.a = x;
        }
        action NoAction : ingress () {
        }
        action ingress_l27 : ingress () {
            m.b = 8w0;
            m.flag = 1w1;
        }
        action ingress_l22 : ingress () {
            ipv4.ttl = 8w0;
            m.word = 16w0;
            m.b = 8w3;
        }
        table Ingress.t : ingress {
            key = { m.word : exact; }
            actions = { Ingress.set; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            call ingress_l22;
            apply Ingress.t {
                hit {
                    call ingress_l27;
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn copied_bits_are_read_where_they_come_from() {
    let declarations = "
    Register<bit<32>, bit<16>>(1024) seen;
    RegisterAction<bit<32>, bit<16>, bit<32>>(seen) count = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + 1; result = cell; }
    };
    bit<16> index;
    bit<32> before;";
    // The copy is left out. `before` is not what `m.wide` is after the second write.
    let apply = "
        m.wide = hdr.ipv4.src;
        index = m.wide[15:0];
        before = m.wide;
        m.wide = count.execute(index);
        if (before == 3) { m.a = 1; }
        if (m.b > 7) { index = 2; }";
    let expected = expect![[r#"
        register Ingress.seen : ingress {
            element = "32";
            size = 1024;
        }
        register_action Ingress.count (Ingress.seen) {
            @lo = add(@lo, 1);
            @out0 = @lo;
        }
        action ingress_l26 : ingress () {
        }
        action ingress_l27 : ingress () {
        }
        action ingress_l29 : ingress () {
            m.wide = execute(Ingress.count, ipv4.src[15:0]);
        }
        action ingress_l30 : ingress () {
            m.a = 8w1;
        }
        action ingress_l31 : ingress () {
            index = 16w2;
        }
        control ingress {
            call ingress_l29;
            if (ipv4.src == 32w3) {
                call ingress_l30;
            }
            if (m.b > 8w7) {
                call ingress_l31;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn conditions_that_no_gateway_tests_are_split() {
    let declarations = "
    action keep() { m.a = 1; }
    table t { key = { m.word : exact; } actions = { keep; } }";
    // 4 and 2 bytes of pairs; 64 bits in two parts; a branch with a table, whose condition sets a flag.
    let apply = "
        if (hdr.ipv4.src == hdr.ipv4.dst || hdr.ethernet.type == m.word) { m.b = 1; } else { m.b = 2; }
        if (hdr.ethernet.src == 0x112233445566) { m.flag = 1; }
        if (hdr.ipv4.src == hdr.ipv4.dst || hdr.ipv4.src == m.wide) { t.apply(); }
        if (!(m.word == 5 && m.wide != 7)) { m.word = 3; }";
    let expected = expect![[r#"
        action ingress_l22 : ingress () {
            m.b = 8w1;
        }
        action ingress_l22_2 : ingress () {
            m.b = 8w2;
        }
        action ingress_l23 : ingress () {
            m.flag = 1w1;
        }
        action Ingress.keep : ingress () {
            m.a = 8w1;
        }
        action NoAction : ingress () {
        }
        action ingress_l25 : ingress () {
            m.word = 16w3;
        }
        action ingress_holds : ingress () {
            holds = 1w1;
        }
        table Ingress.t : ingress {
            key = { m.word : exact; }
            actions = { Ingress.keep; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            if (ipv4.src == ipv4.dst) {
                call ingress_l22;
            } else if (ethernet.type == m.word) {
                call ingress_l22;
            } else {
                call ingress_l22_2;
            }
            if (ethernet.src[47:32] == 16w0x1122) {
                if (ethernet.src[31:0] == 32w0x33445566) {
                    call ingress_l23;
                }
            }
            if (ipv4.src == ipv4.dst) {
                call ingress_holds;
            } else if (ipv4.src == m.wide) {
                call ingress_holds;
            }
            if (holds == 1w1) {
                apply Ingress.t;
            }
            if (m.word == 16w5) {
                if (!(m.wide != 32w7)) {
                    call ingress_l25;
                }
            } else {
                call ingress_l25;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn bytes_of_a_field_change_places() {
    let apply = "hdr.ipv4.len = hdr.ipv4.len[7:0] ++ hdr.ipv4.len[15:8];";
    let expected = expect![[r#"
        action ingress_l0 : ingress () {
            ipv4.len.before = ipv4.len;
        }
        action ingress_l19 : ingress () {
            ipv4.len[15:8] = ipv4.len.before[7:0];
            ipv4.len[7:0] = ipv4.len.before[15:8];
        }
        control ingress {
            call ingress_l0;
            call ingress_l19;
        }
    "#]];
    expected.assert_eq(&text("", apply));
}

#[test]
fn an_lpm_key_beside_a_ternary_one_is_ternary() {
    let declarations = "
    action keep() { m.a = 1; }
    table t { key = { hdr.ipv4.src : lpm; m.word : ternary; } actions = { keep; } }
    table u { key = { hdr.ipv4.src : lpm; m.word : exact; } actions = { keep; } }";
    let expected = expect![[r#"
        action Ingress.keep : ingress () {
            m.a = 8w1;
        }
        action NoAction : ingress () {
        }
        table Ingress.t : ingress {
            key = { ipv4.src : ternary; m.word : ternary; }
            actions = { Ingress.keep; }
            default_action = NoAction();
            size = 512;
        }
        table Ingress.u : ingress {
            key = { ipv4.src : lpm; m.word : exact; }
            actions = { Ingress.keep; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            apply Ingress.t;
            apply Ingress.u;
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply(); u.apply();"));
}

#[test]
fn a_hash_goes_to_a_slice_at_once() {
    let declarations = "
    Hash<bit<16>>(HashAlgorithm_t.CRC16) sum;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) low;
    action both() { m.wide[15:0] = sum.get({ hdr.ipv4.src }); m.wide[31:24] = low.get({ m.b }); m.wide[23:16] = m.b; }
    table t { key = { m.word : exact; } actions = { both; } }";
    // A statement of a control writes its slice at once, too.
    let apply = "t.apply(); hdr.ipv4.len[7:0] = low.get({ m.a });";
    let expected = expect![[r#"
        hash Ingress.sum : ingress {
            algorithm = crc_16;
            inputs = { ipv4.src };
            width = 16;
        }
        hash Ingress.low : ingress {
            algorithm = identity;
            inputs = { m.b };
            width = 8;
        }
        hash Ingress.low_2 : ingress {
            algorithm = identity;
            inputs = { m.a };
            width = 8;
        }
        action Ingress.both : ingress () {
            m.wide[15:0] = hash(Ingress.sum);
            m.wide[31:24] = hash(Ingress.low);
            m.wide[23:16] = m.b;
        }
        action NoAction : ingress () {
        }
        action ingress_l23 : ingress () {
            ipv4.len[7:0] = hash(Ingress.low_2);
        }
        table Ingress.t : ingress {
            key = { m.word : exact; }
            actions = { Ingress.both; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            apply Ingress.t;
            call ingress_l23;
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn a_table_applied_in_two_branches_excludes_the_third() {
    let declarations = "
    Register<bit<32>, bit<8>>(256) seen;
    RegisterAction<bit<32>, bit<8>, bit<32>>(seen) count = { void apply(inout bit<32> cell) { cell = cell + 1; } };
    RegisterAction<bit<32>, bit<8>, bit<32>>(seen) clear = { void apply(inout bit<32> cell) { cell = 0; } };
    action one() { count.execute(m.b); }
    action none() { clear.execute(m.b); }
    table up { actions = { one; } default_action = one(); }
    table down { actions = { none; } default_action = none(); }";
    let apply = "
        if (m.a == 1) { up.apply(); } else if (m.flag == 1) { up.apply(); } else { down.apply(); }";
    let expected = expect![[r#"
        register Ingress.seen : ingress {
            element = "32";
            size = 256;
        }
        register_action Ingress.count (Ingress.seen) {
            @lo = add(@lo, 1);
        }
        register_action Ingress.clear (Ingress.seen) {
            @lo = 0;
        }
        action Ingress.one : ingress () {
            execute(Ingress.count, m.b);
        }
        action Ingress.none : ingress () {
            execute(Ingress.clear, m.b);
        }
        table Ingress.up : ingress {
            actions = { Ingress.one; }
            default_action = Ingress.one();
            size = 1;
        }
        table Ingress.down : ingress {
            actions = { Ingress.none; }
            default_action = Ingress.none();
            size = 1;
        }
        control ingress {
            if (m.a == 8w1 || m.flag == 1w1) {
                apply Ingress.up;
            } else if (!(m.a == 8w1)) {
                if (!(m.flag == 1w1)) {
                    apply Ingress.down;
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn flags_are_read_as_the_conditions_that_set_them() {
    let declarations = "
    action keep() { m.a = 1; }
    table t { key = { m.word : exact; } actions = { keep; } }";
    let apply = "
        bool both = m.word == 5 && hdr.ipv4.isValid();
        if (!both || m.b == 3) { t.apply(); }
        bool changes = m.b == 7;
        m.b = 8;
        if (changes) { m.wide = 1; }
        if (hdr.ipv4.ttl == 1) { if (m.flag == 0) { hdr.ipv4.proto = 1; } m.flag = 1; }
        if (m.flag == 1) { hdr.ipv4.proto = 2; }";
    let expected = expect![[r#"
        action ingress_l22 : ingress () {
        }
        action ingress_l22_2 : ingress () {
        }
        action Ingress.keep : ingress () {
            m.a = 8w1;
        }
        action NoAction : ingress () {
        }
        action ingress_l24 : ingress () {
            changes = 1w1;
        }
        action ingress_l24_2 : ingress () {
        }
        action ingress_l25 : ingress () {
            m.b = 8w8;
        }
        action ingress_l26 : ingress () {
            m.wide = 32w1;
        }
        action ingress_l27 : ingress () {
            ipv4.proto = 8w1;
        }
        action ingress_l27_2 : ingress () {
            m.flag = 1w1;
        }
        action ingress_l28 : ingress () {
            ipv4.proto = 8w2;
        }
        table Ingress.t : ingress {
            key = { m.word : exact; }
            actions = { Ingress.keep; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            if (!(m.word == 16w5 && valid(ipv4)) || m.b == 8w3) {
                apply Ingress.t;
            }
            if (m.b == 8w7) {
                call ingress_l24;
            }
            call ingress_l25;
            if (changes == 1w1) {
                call ingress_l26;
            }
            if (ipv4.ttl == 8w1) {
                if (m.flag == 1w0) {
                    call ingress_l27;
                }
                call ingress_l27_2;
            }
            if (ipv4.ttl == 8w1) {
                call ingress_l28;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

#[test]
fn second_steps_leave_their_branches() {
    let declarations = "
    Register<bit<8>, bit<8>>(256) r;
    RegisterAction<bit<8>, bit<8>, bit<8>>(r) read = { void apply(inout bit<8> v, out bit<8> old) { old = v; } };
    action access() { m.b[6:0] = read.execute(hdr.ipv4.ttl)[6:0]; }
    table t { actions = { access; } const default_action = access; }";
    let apply = "if (hdr.ipv4.isValid()) { t.apply(); } if (m.b == 3) { m.wide = 1; }";
    let written =
        "m.a = 1; if (hdr.ipv4.isValid()) { t.apply(); } else { m.b = 9; } if (m.b == 3) { m.wide = 1; }";
    let control = |apply| text(declarations, apply).split("control ").nth(1).unwrap_or_default().to_owned();
    expect![[r#"
        ingress {
            if (valid(ipv4)) {
                apply Ingress.t;
            }
            call Ingress.access_l20;
            if (m.b == 8w3) {
                call ingress_l23;
            }
        }
    "#]]
    .assert_eq(&control(apply));
    // It moves to the branch that reads it.
    let later =
        "if (hdr.ipv4.isValid()) { t.apply(); } if (m.a == 3) { m.wide = 1; m.word = (bit<16>) m.b; }";
    expect![[r#"
        ingress {
            if (valid(ipv4)) {
                apply Ingress.t;
            }
            if (m.a == 8w3) {
                call Ingress.access_l20;
                call ingress_l23;
            }
        }
    "#]]
    .assert_eq(&control(later));
    // A packet without the header has a value that the copy would overwrite.
    expect![[r#"
        ingress {
            call ingress_l23;
            if (valid(ipv4)) {
                apply Ingress.t {
                    run Ingress.access {
                        call Ingress.access_l20;
                    }
                }
            } else {
                call ingress_l23_2;
            }
            if (m.b == 8w3) {
                call ingress_l23_3;
            }
        }
    "#]]
    .assert_eq(&control(written));
}
