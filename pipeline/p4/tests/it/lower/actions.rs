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
            set_drop_ctl(dprsr.drop_ctl, 3w1, ingress_refuse_l20);
        }
        table Ingress.route : ingress {
            key = { ipv4.dst : lpm; ipv4.src[31:24] : ternary; valid(ipv4) : exact; m.word &&& 0xff0 : exact; }
            actions = { Ingress.forward; }
            default_action = Ingress.refuse();
            size = 16;
            const entries = {
                (0xa000000 / 8, 7 &&& 0xff, 1, 0x120) : Ingress.forward(5, 8);
                (0 / 0, _, 0, 0) : Ingress.forward(6, 9);
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
        action ingress_l26 : ingress () {
            ethernet.dst.before = ethernet.dst;
        }
        action Ingress.reply : ingress () {
            ethernet.dst = ethernet.src;
            ethernet.src = ethernet.dst.before;
        }
        action Ingress.parts : ingress (bit<8> x) {
            m.word[15:8] = m.a;
            m.word[7:0] = x;
            m.wide[31:24] = m.a;
            m.wide[23:16] = x;
            m.wide[15:0] = 16w5;
            m.b = nand(m.a, x);
        }
        action Ingress.reply_2 : ingress () {
            ethernet.dst = ethernet.src;
            ethernet.src = ethernet.dst.before_2;
        }
        action NoAction : ingress () {
        }
        action ingress_l13 : ingress () {
            ethernet.dst.before_2 = ethernet.dst;
        }
        table Ingress.t : ingress {
            key = { m.b : exact; }
            actions = { Ingress.parts; Ingress.reply_2; NoAction; }
            default_action = NoAction();
            size = 512;
        }
        control ingress {
            call ingress_l26;
            call Ingress.reply;
            call ingress_l13;
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
            m.wide = xor(step_l15, ipv4.dst);
            ethernet.dst[15:0] = step_l16;
        }
        action ingress_l16 : ingress () {
            step_l16 = hash(Ingress.hash);
            step_l15 = add(m.wide, ipv4.src);
        }
        table Ingress.t : ingress {
            key = { m.b : exact; }
            actions = { Ingress.steps; }
            default_action = Ingress.steps();
            size = 512;
        }
        control ingress {
            call ingress_l16;
            apply Ingress.t;
        }
    "#]];
    expected.assert_eq(&text(declarations, "t.apply();"));
}
