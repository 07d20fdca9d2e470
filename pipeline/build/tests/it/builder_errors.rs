//! Mistakes that the builder refuses, and the source locations of its diagnostics.

use sluice_build::net::Ipv4;
use sluice_build::*;
use sluice_ir::Loc;
use sluice_ir::verify::Diag;

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    flow: Bits<16>,
}

fn texts(diags: &[Diag]) -> Vec<&str> {
    diags.iter().map(|d| d.text.as_str()).collect()
}

/// Returns the diagnostics of an ingress that `write` declares.
fn refused(write: impl FnOnce(&GressBuilder<'_>)) -> Vec<Diag> {
    let b = Builder::new("test-program", "A program of the tests");
    write(&b.ingress());
    b.finish(&()).expect_err("the program must be refused")
}

#[test]
fn every_mistake_is_reported_with_its_place() {
    let first = Loc::caller().line;
    let diags = refused(|ig| {
        let ipv4 = ig.header::<Ipv4>();
        let a = ig.named("a", "").state().extract(ipv4).select(ipv4.protocol);
        a.on_tuple([(1, 1), (2, 2)], Accept);
        let lost = ig.named("lost", "").direct_counter(CounterKind::Packets);
        ig.named("t", "").table([exact(ipv4.ttl)]).build();
        let none = ig.named("none", "").action(|_| {});
        ig.named("u", "").table([exact(ipv4.ttl)]).entries(entries![(_) => none, (256) => none]).build();
        ig.named("h", "").hash::<16>("crc_61").build();
        ig.intrinsic::<tna::Egress>();
        let _ = lost;
    });
    let found = texts(&diags);
    assert_eq!(found[0], "this header has no name");
    assert_eq!(found[1], "an arm of parser state `a` has 2 values, but its select has 1 keys");
    assert_eq!(found[2], "table `t` has no size");
    assert_eq!(
        found[3],
        "an entry of table `u` does not fit key `header.ttl` (8 bits): `_` needs a ternary, lpm or range key, but this key is exact"
    );
    assert!(found[4].ends_with("value 0x100 is larger than the largest, 0xff"), "{}", found[4]);
    assert!(found[5].starts_with("there is no hash algorithm `crc_61`"), "{}", found[5]);
    assert_eq!(found[6], "ingress has no `eg.egress_port`");
    assert_eq!(found[13], "direct counter `lost` is attached to no table");
    assert_eq!(found[14], "ingress has parser states but no start state");
    assert_eq!(found.len(), 15);
    let lines: Vec<u32> = [0, 1, 2, 3, 4, 5, 6, 13, 14].map(|i| diags[i].at.line - first).to_vec();
    assert_eq!(lines, [2, 4, 6, 8, 8, 9, 10, 5, 3]);
}

#[test]
fn a_direct_counter_has_one_table_and_parsing_one_start() {
    let diags = refused(|ig| {
        let m = ig.named("m", "").metadata::<Meta>();
        let c = ig.named("c", "").direct_counter(CounterKind::Packets);
        ig.named("t", "").table([exact(m.flow)]).size(1).counter(c).build();
        ig.named("u", "").table([exact(m.flow)]).size(1).counter(c).build();
        let s = ig.named("s", "").state();
        ig.start(s);
        ig.start(s);
    });
    assert_eq!(
        texts(&diags),
        [
            "direct counter `c` of table `u` is already attached to another table",
            "ingress has two start states"
        ]
    );
    assert_eq!(diags[1].also.len(), 1);
}
