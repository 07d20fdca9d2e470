//! Actions, tables and their entries.

use super::text;
use expect_test::expect;

#[test]
fn tables_with_actions_and_entries() {
    let declarations = "
    Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) seen;
    action forward(PortId_t port, bit<8> limit) {
        tm.ucast_egress_port = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        m.a = min(limit, m.b);
        seen.count(port);
    }
    action refuse() { dprsr.drop_ctl = 1; }
    table route {
        key = { hdr.ipv4.dst : lpm; hdr.ipv4.src[31:24] : ternary; hdr.ipv4.isValid() : exact; m.word & 0xff0 : exact; }
        actions = { forward; @defaultonly refuse; }
        default_action = refuse();
        const entries = { (0x0a000000 &&& 0xff000000, 7, true, 0x120) : forward(5, 8); (default, _, false, 0) : forward(6, 9); }
        size = 16;
    }";
    let expected = expect![[r#"
        counter Ingress.seen : ingress {
            kind = packets;
            size = 512;
        }
        action Ingress.forward : ingress (bit<9> port, bit<8> limit) {
            count(Ingress.seen, port);
            ig_tm.ucast_egress_port = port;
            ipv4.ttl = sub(ipv4.ttl, 8w1);
            m.a = minu(limit, m.b);
        }
        action Ingress.refuse : ingress () {
            set_drop_ctl(dprsr.drop_ctl, 3w1, ingress_refuse_l25);
        }
        table Ingress.route : ingress {
            key = { ipv4.dst : ternary; ipv4.src[31:24] : ternary; valid(ipv4) : exact; m.word &&& 0xff0 : exact; }
            actions = { Ingress.forward; }
            default_action = Ingress.refuse();
            size = 16;
            const entries = {
                (0xa000000 &&& 0xff000000, 7 &&& 0xff, 1, 0x120) : Ingress.forward(5, 8);
                (_, _, 0, 0) : Ingress.forward(6, 9);
            }
        }
        control ingress {
            apply Ingress.route;
        }
    "#]];
    expected.assert_eq(&text(declarations, "route.apply();"));
}

#[test]
fn an_action_reads_what_fields_had_before() {
    let declarations = "
    action reply() {
        bit<48> mac = hdr.ethernet.dst;
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = mac;
    }
    action parts(bit<8> x) {
        m.word[7:0] = x;
        m.word[15:8] = m.a;
        m.wide = m.a ++ x ++ 16w5;
        m.b = ~(m.a & x);
    }
    table t { key = { m.b : exact; } actions = { parts; reply; NoAction; } }";
    let expected = expect![[r#"
        action Ingress.reply : ingress () {
            ethernet.dst = ethernet.src;
            ethernet.src = ethernet.dst;
        }
        action Ingress.parts : ingress (bit<8> x) {
            m.word[15:8] = m.a;
            m.word[7:0] = x;
            m.wide[31:24] = m.a;
            m.wide[23:16] = x;
            m.wide[15:0] = 16w5;
            m.b = nand(m.a, x);
        }
        action NoAction : ingress () {
        }
        table Ingress.t : ingress {
            key = { m.b : exact; }
            actions = { Ingress.parts; Ingress.reply; NoAction; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            call Ingress.reply;
            apply Ingress.t;
        }
    "#]];
    expected.assert_eq(&text(declarations, "reply(); t.apply();"));
}

#[test]
fn values_of_several_steps() {
    let declarations = "
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    action steps() {
        m.wide = (m.wide + hdr.ipv4.src) ^ hdr.ipv4.dst;
        hdr.ethernet.dst[15:0] = hash.get({m.a, m.b});
    }
    table t { key = { m.b : exact; } actions = { steps; } default_action = steps(); }";
    let expected = expect![[r#"
        hash Ingress.hash : ingress {
            algorithm = crc_16;
            inputs = { m.a, m.b };
            width = 16;
        }
        action Ingress.steps : ingress () {
            ethernet.dst[15:0] = hash(Ingress.hash);
            m.wide = xor(step_l20, ipv4.dst);
        }
        action ingress_l20 : ingress () {
            step_l20 = add(m.wide, ipv4.src);
        }
        table Ingress.t : ingress {
            key = { m.b : exact; }
            actions = { Ingress.steps; }
            default_action = Ingress.steps();
            size = 512;
        }
        control ingress {
            call ingress_l20;
            apply Ingress.t;
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply();"));
}

#[test]
fn bitwise_operations_on_slices_and_complements_are_one_instruction() {
    let declarations = "
    action bits() {
        m.word[3:2] = m.word[3:2] ^ 2w2;
        m.a[7:4] = m.a[7:4] & 4w3;
        m.b = ~m.b ^ 8w1;
    }";
    let expected = expect![[r#"
        action Ingress.bits : ingress () {
            m.word = xor(m.word, 16w8);
            m.a = and(m.a, 8w0x3f);
            m.b = xnor(m.b, 8w1);
        }
        control ingress {
            call Ingress.bits;
        }
    "#]];
    expected.assert_eq(&text(declarations, "bits();"));
}

#[test]
fn an_action_of_several_steps_is_split_at_the_first_that_needs_another_table() {
    let declarations = "
    Register<bit<32>, bit<8>>(16) sums;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) add = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + m.wide; rv = value; }
    };
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action decide(bit<8> limit, bit<8> other) {
        m.b = limit;
        if (hdr.ipv4.ttl == limit) { m.a = other; } else { m.a = 0; }
        hits.count();
    }
    action several(bit<32> x) { m.wide = (m.wide + x) ^ hdr.ipv4.dst; }
    action part(bit<8> index) { m.wide[7:0] = add.execute(index)[15:8]; m.word = m.word + 1; }
    table t {
        key = { m.flag : exact; }
        actions = { decide; several; part; NoAction; }
        default_action = NoAction();
        counters = hits;
        size = 2;
    }";
    let expected = expect![[r#"
        counter Ingress.hits : ingress {
            kind = packets;
            direct = Ingress.t;
        }
        register Ingress.sums : ingress {
            element = "32";
            size = 16;
        }
        register_action Ingress.add (Ingress.sums) {
            @lo = add(@lo, m.wide);
            @out0 = @lo;
        }
        action Ingress.decide_l25 : ingress () {
            m.a = decide.other;
        }
        action Ingress.decide_l25_2 : ingress () {
        }
        action Ingress.decide : ingress (bit<8> limit, bit<8> other) {
            count(Ingress.hits);
            m.b = limit;
            decide.limit = limit;
            decide.other = other;
            ran = 1w1;
        }
        action Ingress.several_l28 : ingress () {
            step_l28 = add(m.wide, several.x);
        }
        action Ingress.several_l28_2 : ingress () {
            m.wide = xor(step_l28, ipv4.dst);
        }
        action Ingress.several : ingress (bit<32> x) {
            several.x = x;
            ran_2 = 1w1;
        }
        action Ingress.part_l29 : ingress () {
            m.wide[7:0] = result[15:8];
            m.word = add(m.word, 16w1);
        }
        action Ingress.part : ingress (bit<8> index) {
            result = execute(Ingress.add, index);
            ran_3 = 1w1;
        }
        action NoAction : ingress () {
        }
        action ingress_l38 : ingress () {
            m.word = 16w1;
        }
        table Ingress.t : ingress {
            key = { m.flag : exact; }
            actions = { Ingress.decide; Ingress.several; Ingress.part; NoAction; }
            default_action = NoAction();
            size = 2;
        }
        control ingress {
            apply Ingress.t {
                hit {
                    if (ran_3 == 1w1) {
                        call Ingress.part_l29;
                    }
                    if (ran_2 == 1w1) {
                        call Ingress.several_l28;
                        call Ingress.several_l28_2;
                    }
                    if (ran == 1w1) {
                        if (ipv4.ttl == decide.limit) {
                            call Ingress.decide_l25;
                        }
                    }
                    call ingress_l38;
                }
                miss {
                    if (ran_3 == 1w1) {
                        call Ingress.part_l29;
                    }
                    if (ran_2 == 1w1) {
                        call Ingress.several_l28;
                        call Ingress.several_l28_2;
                    }
                    if (ran == 1w1) {
                        if (ipv4.ttl == decide.limit) {
                            call Ingress.decide_l25;
                        }
                    }
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, "if (t.apply().hit) { m.word = 1; }"));
}

#[test]
fn an_action_that_the_control_calls_decides_as_the_control_does() {
    let declarations = "
    action choose(in bit<8> from) {
        m.a = m.a + 1;
        if (hdr.ipv4.isValid()) { m.b = from; }
    }";
    let expected = expect![[r#"
        action ingress_l19 : ingress () {
            m.a = add(m.a, 8w1);
        }
        action ingress_l20 : ingress () {
            m.b = from;
        }
        action ingress_l18 : ingress () {
            from = m.a;
        }
        control ingress {
            call ingress_l18;
            call ingress_l19;
            if (valid(ipv4)) {
                call ingress_l20;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, "choose(m.a);"));
}

#[test]
fn an_action_is_split_within_the_actions_that_it_calls() {
    let declarations = "
    Register<bit<32>, bit<8>>(16) sums;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) add = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; }
    };
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action common(bit<8> n) { m.b = n; hits.count(); }
    action first(bit<8> n) { common(n); bit<32> sum = add.execute(n); m.word = sum[31:16] + 1; m.a = n; }
    action outer(bit<8> n) { hdr.ipv4.ttl = n; first(n); m.flag = 1; }
    table t {
        key = { hdr.ipv4.proto : exact; }
        actions = { outer; NoAction; }
        default_action = NoAction();
        counters = hits;
        size = 2;
    }";
    // The counter of the table counts in the table's own action, and so does all that is in front of the result's use.
    let expected = expect![[r#"
        counter Ingress.hits : ingress {
            kind = packets;
            direct = Ingress.t;
        }
        register Ingress.sums : ingress {
            element = "32";
            size = 16;
        }
        register_action Ingress.add (Ingress.sums) {
            @lo = add(@lo, 1);
            @out0 = @lo;
        }
        action Ingress.outer_l24 : ingress () {
            m.word = add(sum[31:16], 16w1);
            m.a = outer.n;
        }
        action Ingress.outer_l25 : ingress () {
            m.flag = 1w1;
        }
        action Ingress.outer : ingress (bit<8> n) {
            count(Ingress.hits);
            sum = execute(Ingress.add, n);
            ipv4.ttl = n;
            m.b = n;
            outer.n = n;
        }
        action NoAction : ingress () {
        }
        table Ingress.t : ingress {
            key = { ipv4.proto : exact; }
            actions = { Ingress.outer; NoAction; }
            default_action = NoAction();
            size = 2;
        }
        control ingress {
            apply Ingress.t {
                run Ingress.outer {
                    call Ingress.outer_l24;
                    call Ingress.outer_l25;
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply();"));
}

#[test]
fn an_action_calls_actions_with_arguments_in_all_directions() {
    let declarations = "
    action bump(inout bit<8> x, in bit<8> by) { x = x + by; }
    action set(out bit<8> x, in bit<8> v) { x = v; }
    action both(in bit<8> v) { m.a = 7; bump(hdr.ipv4.ttl, v); }
    action outer(bit<8> n) { bump(m.a, n); bump(m.b, 3); hdr.ipv4.setInvalid(); }
    action swap() { bit<8> k = m.a; set(m.a, m.b); set(m.b, k); }
    action before() { both(m.a); }
    table t { key = { hdr.ipv4.ttl : exact; } actions = { outer; swap; before; } }";
    // All instructions of an action read the fields as they were before the action.
    let expected = expect![[r#"
        action Ingress.outer : ingress (bit<8> n) {
            set_invalid(ipv4);
            m.a = add(m.a, n);
            m.b = add(m.b, 8w3);
        }
        action Ingress.swap : ingress () {
            m.a = m.b;
            m.b = m.a;
        }
        action Ingress.before : ingress () {
            ipv4.ttl = add(ipv4.ttl, m.a);
            m.a = 8w7;
        }
        action NoAction : ingress () {
        }
        table Ingress.t : ingress {
            key = { ipv4.ttl : exact; }
            actions = { Ingress.outer; Ingress.swap; Ingress.before; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            apply Ingress.t;
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply();"));
}

#[test]
fn headers_of_any_kind_are_copied_with_their_validity_and_stacks_are_moved() {
    let declarations = "
    ipv4_h kept;
    action keep() { kept = hdr.ipv4; hdr.ipv4.setInvalid(); }";
    let expected = expect![[r#"
        action Ingress.keep : ingress () {
            copy_valid(kept, ipv4);
            set_invalid(ipv4);
            kept.ttl = ipv4.ttl;
            kept.proto = ipv4.proto;
            kept.len = ipv4.len;
            kept.src = ipv4.src;
            kept.dst = ipv4.dst;
        }
        action ingress_l21 : ingress () {
            m.a = kept.ttl;
        }
        control ingress {
            call Ingress.keep;
            call ingress_l21;
        }
    "#]];
    expected.assert_eq(&text(declarations, "keep(); m.a = kept.ttl;"));
}

#[test]
fn signs_are_extended_and_values_joined_by_the_hash_unit() {
    let declarations = "
    Register<bit<32>, bit<8>>(16) last;
    RegisterAction<bit<32>, bit<8>, bit<32>>(last) store = {
        void apply(inout bit<32> value) { value = m.word ++ m.a ++ m.b; }
    };
    action extend() { m.word = (bit<16>)(int<16>)(int<8>)m.a; }";
    let expected = expect![[r#"
        hash joined_l22 : ingress {
            algorithm = identity;
            inputs = { m.a[7:7], m.a[7:7], m.a[7:7], m.a[7:7], m.a[7:7], m.a[7:7], m.a[7:7], m.a[7:7], m.a };
            width = 16;
        }
        hash joined_l20 : ingress {
            algorithm = identity;
            inputs = { m.word, m.a, m.b };
            width = 32;
        }
        register Ingress.last : ingress {
            element = "32";
            size = 16;
        }
        register_action Ingress.store (Ingress.last) {
            @lo = hash(joined_l20);
        }
        action ingress_l22 : ingress () {
            step_l22 = hash(joined_l22);
        }
        action Ingress.extend : ingress () {
            m.word = step_l22;
        }
        action ingress_l24 : ingress () {
            execute(Ingress.store, m.a);
        }
        control ingress {
            call ingress_l22;
            call Ingress.extend;
            call ingress_l24;
        }
    "#]];
    expected.assert_eq(&text(declarations, "extend(); store.execute(m.a);"));
}

#[test]
fn the_hash_unit_moves_bits_and_adds_without_carries() {
    let declarations = "
    action mix() {
        m.wide = hdr.ipv4.src ^ hdr.ipv4.dst ^ 32w0x5a5a5a5a;
        m.flag = m.word[0:0] ^ m.word[7:7] ^ m.a[0:0];
        @in_hash { m.word = m.word[10:0] ++ m.word[15:11]; }
        m.b = m.a ^ hdr.ipv4.ttl;
    }";
    let expected = expect![[r#"
        hash joined_l19 : ingress {
            algorithm = xor32;
            inputs = { ipv4.src, ipv4.dst, 32w0x5a5a5a5a };
            width = 32;
        }
        hash joined_l20 : ingress {
            algorithm = xor8;
            inputs = { 7w0, m.word[0:0], 7w0, m.word[7:7], 7w0, m.a[0:0] };
            width = 1;
        }
        hash joined_l21 : ingress {
            algorithm = identity;
            inputs = { m.word[10:0], m.word[15:11] };
            width = 16;
        }
        hash joined_l25 : ingress {
            algorithm = identity;
            inputs = { ipv4.len[11:4] };
            width = 8;
        }
        action Ingress.mix : ingress () {
            m.wide = hash(joined_l19);
            m.flag = hash(joined_l20);
            m.word = hash(joined_l21);
            m.b = xor(m.a, ipv4.ttl);
        }
        action ingress_l25 : ingress () {
            m.a = hash(joined_l25);
        }
        control ingress {
            call Ingress.mix;
            call ingress_l25;
        }
    "#]];
    expected.assert_eq(&text(declarations, "mix(); @in_hash { m.a = hdr.ipv4.len[11:4]; }"));
}

#[test]
fn results_of_a_meter_are_translated_and_wide_parameters_have_parts() {
    let declarations = "
    Meter<bit<8>>(16, MeterType_t.BYTES, 8w0xf6, 8w0x57, 8w0x3f) rate;
    action colour(bit<8> index) { m.a = rate.execute(index); }
    action wide(bit<144> mask) { m.wide = mask[140:109]; }
    table t { key = { m.flag : exact; } actions = { colour; wide; } default_action = wide(144w1 << 128); }";
    let expected = expect![[r#"
        action Ingress.colour_l19 : ingress () {
            m.a = 8w0xf6;
        }
        action Ingress.colour_l19_2 : ingress () {
            m.a = 8w0x57;
        }
        action Ingress.colour_l19_3 : ingress () {
            m.a = 8w0x3f;
        }
        action Ingress.colour : ingress (bit<8> index) {
            result = meter(Ingress.rate, index);
        }
        action Ingress.wide : ingress (bit<16> mask_128, bit<128> mask_0) {
            m.wide[31:19] = mask_128[12:0];
            m.wide[18:0] = mask_0[127:109];
        }
        table Ingress.t : ingress {
            key = { m.flag : exact; }
            actions = { Ingress.colour; Ingress.wide; }
            default_action = Ingress.wide(1, 0);
            size = 512;
        }
        control ingress {
            apply Ingress.t {
                run Ingress.colour {
                    if (result == 2w0) {
                        call Ingress.colour_l19_3;
                    } else if (result == 2w1) {
                        call Ingress.colour_l19_2;
                    } else {
                        call Ingress.colour_l19;
                    }
                }
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply();"));
}

#[test]
fn the_action_of_a_table_has_the_plain_name() {
    let declarations = "
    action forward(bit<9> port) { tm.ucast_egress_port = port; }
    table t { key = { hdr.ipv4.dst : exact; } actions = { forward; } const default_action = forward(3); }";
    let text = text(declarations, "forward(7); if (hdr.ipv4.ttl == 0) { t.apply(); }");
    assert!(
        text.contains("action Ingress.forward_2 : ingress () {\n    ig_tm.ucast_egress_port = 9w7;"),
        "{text}"
    );
    assert!(text.contains("action Ingress.forward : ingress (bit<9> port) {"), "{text}");
    assert!(text.contains("    const default_action = Ingress.forward(3);"), "{text}");
}

#[test]
fn a_register_has_a_second_access_where_the_default_action_has_none() {
    let declarations = |constant: &str| {
        format!(
            "Register<bit<32>, bit<8>>(256) seen;
    RegisterAction<bit<32>, bit<8>, bit<32>>(seen) store = {{ void apply(inout bit<32> cell) {{ cell = m.wide; }} }};
    RegisterAction<bit<32>, bit<8>, bit<32>>(seen) load = {{
        void apply(inout bit<32> cell, out bit<32> old) {{ old = cell; }} }};
    action keep() {{ store.execute(m.a); }}
    action take() {{ m.wide = load.execute(m.a); }}
    table first {{ key = {{ hdr.ipv4.dst : exact; }} actions = {{ keep; NoAction; }} {constant}default_action = NoAction(); }}
    table second {{ key = {{ hdr.ipv4.src : exact; }} actions = {{ take; NoAction; }} default_action = NoAction(); }}"
        )
    };
    let apply = "if (first.apply().miss) { second.apply(); }";
    let errors = |constant: &str| {
        let program = super::lowered(&declarations(constant), apply).unwrap().program;
        let found = sluice_p4::lower::findings(&program);
        found.iter().filter(|one| one.text.contains("accessed twice")).count()
    };
    assert_eq!((errors("const "), errors("")), (0, 1));
}

#[test]
fn operands_that_move_bits_go_to_the_hash_unit_if_the_block_says_so() {
    let apply = "@in_hash { m.word = m.word + (bit<16>) m.a; } @in_hash { m.wide = hdr.ipv4.src ^ (hdr.ipv4.dst & 0xff00ff); }";
    let text = text("", apply);
    // The sum of the ALU takes the operand from a field; a mask leaves zeros.
    assert!(text.contains("add(m.word, step_l"), "{text}");
    assert!(text.contains("inputs = { ipv4.src, 8w0, ipv4.dst[23:16], 8w0, ipv4.dst[7:0] };"), "{text}");
}

#[test]
fn a_table_is_pinned_with_entries() {
    let table = |annotations: &str, key: &str| {
        let table = format!("{annotations} table t {{ {key} actions = {{ NoAction; }} size = 4096; }}");
        let lowered = super::lowered(&table, "t.apply();").unwrap();
        let (_, data) = lowered.program.tables.iter().next().unwrap();
        (data.pin, data.rules.pin_entries, lowered.notes.len())
    };
    let key = "key = { m.word : exact; }";
    let notes = table("", key).2;
    assert_eq!(table("@stage(3, 1024)", key), (Some(3), Some(1024), notes));
    assert_eq!(table("@pragma stage 3 1024\n", key), (Some(3), Some(1024), notes));
    assert_eq!(table("@stage(3) @stage(4)", key), (Some(3), None, notes + 1));
    assert_eq!(table("@stage(3, 1024)", "").1, None);
}
