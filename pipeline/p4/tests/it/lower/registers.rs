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
            @out0 = @lo;
            @lo = m.wide;
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
