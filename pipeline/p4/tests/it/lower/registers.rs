//! Registers, hashes, random numbers and meters.

use super::text;
use expect_test::expect;

#[test]
fn register_actions() {
    let declarations = "
    Register<bit<32>, bit<10>>(1024, 7) seen;
    Hash<bit<10>>(HashAlgorithm_t.CRC16) hash;
    RegisterAction<bit<32>, bit<10>, bit<32>>(seen) older = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> before = value;
            if (value < m.wide && m.a != 0) { value = value |+| m.wide; } else { value = 0; }
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(seen) swap = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> before = value;
            value = m.wide;
            rv = before;
        }
    };
    action put() { m.wide = older.execute(hash.get({hdr.ipv4.src, hdr.ipv4.dst, 8w0, m.a})); }";
    let apply = "
        if (m.flag == 0) { put(); } else { m.word = (bit<16>)swap.execute(m.word[9:0]); }";
    let expected = expect![[r#"
        hash Ingress.hash : ingress {
            algorithm = crc_16;
            inputs = { ipv4.src, ipv4.dst, 8w0, m.a };
            width = 10;
        }
        register Ingress.seen : ingress {
            element = "32";
            size = 1024;
            initial = 7, 0;
        }
        register_action Ingress.older (Ingress.seen) {
            if (@lo < m.wide && m.a != 0) {
                @lo = saddu(@lo, m.wide);
            } else {
                @lo = 0;
            }
            @out0 = @lo;
        }
        register_action Ingress.swap (Ingress.seen) {
            @lo = m.wide;
            @out0 = @old_lo;
        }
        action Ingress.put : ingress () {
            m.wide = execute(Ingress.older, hash(Ingress.hash));
        }
        action ingress_l37 : ingress () {
            m.word = execute(Ingress.swap, m.word[9:0]);
        }
        control ingress {
            if (m.flag == 1w0) {
                call Ingress.put;
            } else {
                call ingress_l37;
            }
        }
    "#]];
    expected.assert_eq(&text(declarations, apply));
}

/// Returns the register actions of a body on elements of a type, and the notes.
fn action(element: &str, outputs: &str, body: &str) -> String {
    let result = if outputs.contains("bit<1>") { "bit<1>" } else { "bit<32>" };
    let declarations = format!(
        "Register<{element}, bit<10>>(1024) cells;
        RegisterAction<{element}, bit<10>, {result}>(cells) act = {{
            void apply(inout {element} value{outputs}) {{ {body} }}
        }};"
    );
    let call = match outputs {
        "" => "act.execute(3);",
        _ if result == "bit<1>" => "m.flag = act.execute(3);",
        _ => "m.wide = act.execute(3);",
    };
    let lowered = super::lowered(&declarations, call).unwrap_or_else(|messages| panic!("{messages}"));
    let text = sluice_ir::text::print(&lowered.program);
    let block = text.split("\n\n").find(|block| block.contains("register_action "));
    let notes = lowered.notes.iter().filter(|note| !note.what.starts_with("`accept`"));
    let notes = notes.map(|note| format!("{}: {}\n", note.what, note.effect));
    block.unwrap_or_default().trim_end().to_owned() + "\n" + &notes.collect::<String>()
}

#[test]
fn comparators_do_not_wrap_unless_numbers_are_signed() {
    let found = [
        action("bit<32>", ", out bit<32> rv", "if (m.wide - value > 100) { rv = 1; }"),
        action("int<32>", ", out bit<32> rv", "if ((int<32>)m.wide - value > 100) { rv = 1; }"),
        action("int<32>", ", out bit<32> rv", "if ((int<32>)m.wide - value > 0) { rv = 1; }"),
        action("bit<32>", ", out bit<32> rv", "if ((int<32>)(m.wide + value) < 9) { rv = 1; }"),
    ];
    expect![[r#"
        register_action Ingress.act (Ingress.cells) {
            if (sub(m.wide, @lo) > 0x64) {
                @out0 = 1;
            }
        }
        an unsigned sum or difference is compared by size: approximated: the comparator's sums do not wrap where the values do
        register_action Ingress.act (Ingress.cells) {
            if (serial(sub(m.wide, @lo) > 0x64)) {
                @out0 = 1;
            }
        }
        register_action Ingress.act (Ingress.cells) {
            if (serial(m.wide > @lo)) {
                @out0 = 1;
            }
        }
        register_action Ingress.act (Ingress.cells) {
            if (signed(add(m.wide, @lo) < 9)) {
                @out0 = 1;
            }
        }
        an unsigned sum or difference is compared by size: approximated: the comparator's sums do not wrap where the values do
    "#]].assert_eq(&found.concat());
}

#[test]
fn conditions_and_instructions_read_the_element_before_the_access() {
    let found = [
        action(
            "bit<32>",
            ", out bit<32> rv",
            "value = value |+| 1; if (value >= m.wide) { rv = 2; } else { rv = 1; }",
        ),
        action("bit<32>", ", out bit<32> rv", "value = m.wide; if (value > 9) { rv = 1; }"),
        action(
            "bit<32>",
            ", out bit<32> rv",
            "bit<32> old = value; bool high = value > 7; value = m.wide; if (high) { rv = old; }",
        ),
    ];
    expect![[r#"
        register_action Ingress.act (Ingress.cells) {
            @lo = saddu(@lo, 1);
            if (@old_lo >= m.wide) {
                @out0 = 2;
            } else {
                @out0 = 1;
            }
        }
        the element is read after a statement has changed it: approximated: the chip compares and computes with the element as it was before the access
        register_action Ingress.act (Ingress.cells) {
            @lo = m.wide;
            if (m.wide > 9) {
                @out0 = 1;
            }
        }
        register_action Ingress.act (Ingress.cells) {
            @lo = m.wide;
            if (@old_lo > 7) {
                @out0 = @old_lo;
            }
        }
    "#]].assert_eq(&found.concat());
}

#[test]
fn variables_of_branches_and_conditional_values() {
    let found = [
        action(
            "bit<8>",
            ", out bit<32> rv",
            "bit<8> x; if (m.flag == 1) { x = m.a; } else { x = value; } rv = (bit<32>)x;",
        ),
        action("bit<8>", ", out bit<32> rv", "rv = m.a > value && m.flag == 1 ? 32w1 : 32w0;"),
        action("bit<8>", ", out bit<32> rv", "rv = 0; if (value == m.a) { rv = rv | 1; }"),
        action(
            "bit<8>",
            "",
            "bool x; if (m.flag == 1) { x = value > 3; } else { x = true; } if (x) { value = 0; }",
        ),
    ];
    expect![[r#"
        register_action Ingress.act (Ingress.cells) {
            if (m.flag == 1) {
                @out0 = m.a;
            } else {
                @out0 = @lo;
            }
        }
        register_action Ingress.act (Ingress.cells) {
            if (m.a > @lo && m.flag == 1) {
                @out0 = 1;
            } else {
                @out0 = 0;
            }
        }
        register_action Ingress.act (Ingress.cells) {
            @out0 = 0;
            if (@lo == m.a) {
                @out0 = or(0, 1);
            }
        }
        register_action Ingress.act (Ingress.cells) {
            if (!(m.flag == 1) || @lo > 3) {
                @lo = 0;
            }
        }
    "#]]
    .assert_eq(&found.concat());
}

#[test]
fn a_one_bit_access_returns_the_bit_before_it() {
    let found = [
        action("bit<1>", ", out bit<1> rv", "rv = value; value = 1;"),
        action("bit<1>", ", out bit<1> rv", "value = 1; rv = 1;"),
        action("bit<1>", ", out bit<1> rv", "value = 0; rv = ~value;"),
    ];
    expect![[r#"
        register_action Ingress.act (Ingress.cells) {
            @out0 = @lo;
            @lo = 1;
        }
        register_action Ingress.act (Ingress.cells) {
            @lo = 1;
            @out0 = @old_lo;
        }
        a one-bit register action returns something other than the bit before the access: approximated: the chip returns the bit as it was before the access
        register_action Ingress.act (Ingress.cells) {
            @lo = 0;
            @out0 = nota(@old_lo, 0);
        }
        a one-bit register action returns something other than the bit before the access: approximated: the chip returns the bit as it was before the access
    "#]].assert_eq(&found.concat());
}

#[test]
fn a_result_goes_to_bits_of_a_field() {
    let declarations = "
    Register<bit<8>, bit<10>>(1024) seen;
    RegisterAction<bit<8>, bit<10>, bit<8>>(seen) last = {
        void apply(inout bit<8> value, out bit<8> rv) { rv = value; value = m.a; }
    };";
    let expected = expect![[r#"
        register Ingress.seen : ingress {
            element = "8";
            size = 1024;
        }
        register_action Ingress.last (Ingress.seen) {
            @out0 = @lo;
            @lo = m.a;
        }
        action ingress_l23 : ingress () {
            result = execute(Ingress.last, 32w5);
        }
        action ingress_l23_2 : ingress () {
            m.wide[15:8] = result;
        }
        control ingress {
            call ingress_l23;
            call ingress_l23_2;
        }
    "#]];
    expected.assert_eq(&text(declarations, "m.wide[15:8] = last.execute(5);"));
}

#[test]
fn an_enumeration_is_the_code_of_the_comparisons_that_choose_it() {
    let declarations = "
    enum burst_t { NEW, SMALL, LARGE }
    Register<bit<32>, bit<8>>(256) counts;
    RegisterAction<bit<32>, bit<8>, burst_t>(counts) bursts = {
        void apply(inout bit<32> count, out burst_t burst) {
            if (m.wide <= 10) {
                if (count >= 4) { burst = burst_t.LARGE; } else { burst = burst_t.SMALL; }
                count = count + 1;
            } else {
                burst = burst_t.NEW;
                count = 1;
            }
        }
    };";
    let (enumeration, rest) = declarations.split_once("}\n").unwrap();
    let program = super::PROGRAM.replace("header ethernet_h", &format!("{enumeration}}}\nheader ethernet_h"));
    let apply = "burst_t burst = bursts.execute(m.a); if (burst == burst_t.LARGE) { m.b = 7; }";
    let text = super::text_of(&program, rest, apply);
    assert!(text.contains("@out0 = predicate("), "{text}");
    // Code 3 is 8: both comparisons hold.
    for condition in ["result == 4w1", "result == 4w2", "result == 4w4"] {
        assert!(text.contains(condition), "{text}");
    }
}
