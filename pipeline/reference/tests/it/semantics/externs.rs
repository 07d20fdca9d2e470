//! Registers, hashes, checksums, counters, and requests of deparsers.

use super::{PACKET, Parts, apply, apply_with};
use num_bigint::BigInt;
use sluice_reference::{Gress, Nothing, Outside, PassIn, RequestKind, Value, Verdict};

#[test]
fn register_actions_run_in_order() {
    let parts = Parts {
        locals: "Register<bit<32>, bit<8>>(32, 7) reg;
            RegisterAction<bit<32>, bit<8>, bit<32>>(reg) old = { void apply(inout bit<32> v, out bit<32> r) { r = v; v = v + 1; } };
            RegisterAction<bit<32>, bit<8>, bit<32>>(reg) new = { void apply(inout bit<32> v, out bit<32> r) { v = v + hdr.i.d; r = v; } };",
        apply: "hdr.o.x = old.execute(hdr.i.a); hdr.o.y = new.execute(3);",
        ..Parts::default()
    };
    let outs = parts.passes(&[&PACKET, &PACKET], &mut Nothing);
    assert_eq!(outs[0].bytes[..8], [0, 0, 0, 7, 1, 2, 3, 11]);
    assert_eq!(outs[1].bytes[..8], [0, 0, 0, 8, 2, 4, 6, 15]);
    // Past the end.
    assert_eq!(apply_with(parts.locals, "hdr.o.x = old.execute(40); hdr.o.y = old.execute(3);"), [0, 7]);
}

#[test]
fn pairs_registers_and_plain_accesses() {
    let parts = Parts {
        top: "struct pair_t { bit<32> lo; bit<32> hi; }",
        locals: "Register<pair_t, bit<8>>(4, { 5, 6 }) pairs; Register<bit<16>, bit<8>>(4) plain;
            RegisterAction<pair_t, bit<8>, bit<32>>(pairs) swap = {
                void apply(inout pair_t v, out bit<32> r) { bit<32> t = v.lo; v.lo = v.hi; v.hi = t; r = v.hi; } };",
        apply: "hdr.o.x = swap.execute(1); plain.write(2, hdr.i.c); hdr.o.y = (bit<32>)plain.read(2);",
        ..Parts::default()
    };
    let tree = parts.tree();
    let mut reference = tree.reference();
    let out = reference.pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut Nothing).unwrap();
    assert_eq!(out.bytes[..8], [0, 0, 0, 5, 0, 0, 0x80, 1]);
    let pairs = reference.object_named("pairs").unwrap();
    let pair = |lo: i32, hi: i32| Value::Struct(vec![Value::number(lo), Value::number(hi)]);
    assert_eq!(reference.register(pairs, 1), Some(pair(6, 5)));
    assert_eq!(reference.register(pairs, 0), Some(pair(5, 6)));
}

#[test]
fn orders_of_unsigned_sums_in_register_actions_do_not_wrap() {
    let action = |condition: &str| {
        format!(
            "Register<bit<32>, bit<8>>(4, 5) reg;
             RegisterAction<bit<32>, bit<8>, bit<32>>(reg) a = {{
                 void apply(inout bit<32> v, out bit<32> r) {{ if ({condition}) {{ r = 1; }} }} }};"
        )
    };
    // 5 - 0x01020304 is below 0, and as a number of 32 bits far above 100.
    assert_eq!(apply_with(&action("v - hdr.i.d > 100"), "hdr.o.x = a.execute(0);"), [0, 0]);
    assert_eq!(apply_with(&action("(int<32>)(v - hdr.i.d) < 0"), "hdr.o.x = a.execute(0);"), [1, 0]);
}

#[test]
fn hashes_read_fields_in_order() {
    let locals = "Hash<bit<16>>(HashAlgorithm_t.IDENTITY) same; Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;";
    // CRC-32 of the bytes 12 f0 80 01 01 02 03 04 by zlib.
    let crc =
        apply_with(locals, "hdr.o.x = (bit<32>)same.get({ hdr.i.b, hdr.i.a }); hdr.o.y = crc.get(hdr.i);");
    assert_eq!(crc, [0xf012, CRC]);
}

/// zlib.crc32(bytes([0x12, 0xf0, 0x80, 1, 1, 2, 3, 4]))
const CRC: u32 = 0x8b6a_ca5f;

#[test]
fn polynomials() {
    // CRC-16/XMODEM of "123456789" is 0x31c3; here of the first byte: 0x12.
    let locals = "CRCPolynomial<bit<16>>(0x1021, false, false, false, 0, 0) poly;
        Hash<bit<16>>(HashAlgorithm_t.CUSTOM, poly) hash;";
    assert_eq!(apply_with(locals, "hdr.o.x = (bit<32>)hash.get({ hdr.i.a });"), [0x3273, 0]);
}

#[test]
fn checksums_of_deparsers() {
    let parts = Parts {
        deparser_locals: "Checksum() sum;",
        // 0x12f0 + 0x8001 + 0x0102 + 0x0304 = 0x96f7; its complement is 0x6908.
        deparse: "hdr.o.x[15:0] = sum.update({ hdr.i.a, hdr.i.b, hdr.i.c, hdr.i.d });
                  hdr.o.y[15:0] = sum.update({ hdr.i.a, hdr.i.b, hdr.t.v, 8w0, 16w0xed0f }, true);",
        ..Parts::default()
    };
    // 0x12f0 + 0 + 0xed0f = 0xffff, whose complement 0 is sent as ones.
    assert_eq!(parts.words(&PACKET), [0x6908, 0xffff]);
}

#[test]
fn checksums_of_parsers() {
    let parts = Parts {
        parser_locals: "Checksum() good; Checksum() bad; Checksum() rest;",
        parse: "sum;",
        states: "state sum { good.add({ hdr.i.a, hdr.i.b, 16w0xed0f }); md.flag = (bit<1>)good.verify();
                   bad.add(hdr.i); md.m = (bit<8>)(bit<1>)bad.verify();
                   rest.subtract({ hdr.i.c }); md.n = rest.get(); transition accept; }",
        apply: "hdr.o.x = md.n ++ 8w0 ++ md.m; hdr.o.y = (bit<32>)md.flag;",
        ..Parts::default()
    };
    // The residual of c = 0x8001 is its complement.
    assert_eq!(parts.words(&PACKET), [0x7ffe_0001, 0]);
}

#[test]
fn counters_count_packets_and_bytes() {
    let parts = Parts {
        locals: "Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS_AND_BYTES) all;
            DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
            action hit() { hits.count(); }
            table t { key = { hdr.i.a : exact; } actions = { hit; } counters = hits; const entries = { 1 : hit(); 0x12 : hit(); } }",
        apply: "all.count(hdr.i.a); all.count(3); t.apply();",
        ..Parts::default()
    };
    let tree = parts.tree();
    let mut reference = tree.reference();
    for _ in 0..3 {
        reference.pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut Nothing).unwrap();
    }
    let (all, hits) = (reference.object_named("all").unwrap(), reference.object_named("hits").unwrap());
    assert_eq!((reference.counter(all, 3).packets, reference.counter(all, 0x12).bytes), (3, 24));
    assert_eq!((reference.counter(hits, 0).packets, reference.counter(hits, 1).packets), (0, 3));
}

#[test]
fn requests_of_deparsers() {
    let parts = Parts {
        apply: "dprsr.mirror_type = 3; dprsr.digest_type = 1; md.n = 9;",
        deparser_locals: "Mirror() mirror; Digest<meta_t>() digest; Resubmit() again;",
        deparse: "if (dprsr.mirror_type == 3) { mirror.emit<byte_h>((MirrorId_t)md.n[9:0], { hdr.i.a }); }
                  if (dprsr.digest_type == 1) { digest.pack({ md.m, md.n, md.flag }); }
                  if (dprsr.resubmit_type == 1) { again.emit(); }",
        ..Parts::default()
    };
    let out = parts.passes(&[&PACKET], &mut Nothing).remove(0);
    let requests: Vec<_> = out.requests.iter().map(|one| (one.kind, one.data.as_slice())).collect();
    assert_eq!(
        requests,
        [(RequestKind::Mirror { session: 9 }, &[0x12][..]), (RequestKind::Digest, &[0, 0, 9, 0][..])]
    );
    assert!(!out.mirrors_output);
    let again = Parts { apply: "dprsr.resubmit_type = 1;", ..parts };
    assert_eq!(again.passes(&[&PACKET], &mut Nothing)[0].verdict, Verdict::Resubmit);
}

/// Random numbers that count up.
struct Counting(u32);

impl Outside for Counting {
    fn random(&mut self, object: &str, width: u32) -> Option<BigInt> {
        assert_eq!((object, width), ("pipe.Ingress.coin", 8));
        self.0 += 1;
        Some(self.0.into())
    }
}

#[test]
fn random_numbers_are_the_callers() {
    let parts = Parts {
        locals: "Random<bit<8>>() coin;",
        apply: "hdr.o.x = (bit<32>)coin.get();",
        ..Parts::default()
    };
    assert_eq!(parts.passes(&[&PACKET], &mut Counting(40))[0].bytes[3], 41);
    let tree = parts.tree();
    let missing =
        tree.reference().pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut Nothing).unwrap_err();
    assert_eq!(missing.to_string(), "the reference interpreter does not have a random number");
}

#[test]
fn functions() {
    assert_eq!(
        apply("hdr.o.x = max(hdr.i.d, 7); hdr.o.y = (bit<32>)min(hdr.i.a, hdr.i.b);"),
        [0x0102_0304, 0x12]
    );
    assert_eq!(apply("hdr.o.x = sizeInBytes(hdr.i); hdr.o.y = (bit<32>)hdr.i.minSizeInBits();"), [8, 64]);
    // (d ++ d) >> 8 rotates by a byte.
    assert_eq!(apply("funnel_shift_right(hdr.o.x, hdr.i.d, hdr.i.d, 8);"), [0x0401_0203, 0]);
}
