//! A whole program through elaboration: instances by path, with their names and constructor arguments.

use super::snippet;
use expect_test::expect;
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::Value;
use sluice_p4::elaborate::{Binding, Pipe, elaborate};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::{Options, parse};

const PROGRAM: &str = "
header eth_h { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { eth_h eth; } struct meta_t { bit<16> x; }
parser Skip(packet_in pkt)(bit<32> bits) { state start { pkt.advance(bits); transition accept; } }
parser IgParser(packet_in pkt, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    Skip(PORT_METADATA_SIZE) skip; value_set<bit<16>>(8) kinds;
    state start { pkt.extract(ig); skip.apply(pkt); pkt.extract(h.eth); transition select(h.eth.kind) { kinds: accept; default: accept; } } }
control Count<T>(in T x)(bit<32> size, bool wide) {
    Counter<bit<64>, T>(size * 2, wide ? CounterType_t.PACKETS_AND_BYTES : CounterType_t.BYTES) counter; apply { counter.count(x); } }
control Twice(in bit<16> x)(bit<32> n) { Count<bit<16>>(n + 1, true) first; @name(\"other\") Count<bit<16>>(n << 1, false) second; apply { first.apply(x); second.apply(x); } }
control Direct(inout bit<16> x) { @hidden action bump() { x = x + 1; } table t { actions = { bump; NoAction; } size = 1; } apply { t.apply(); } }
control Ig(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t ig, in ingress_intrinsic_metadata_from_parser_t prsr,
    inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    Twice(10) a; Twice(20) b; Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    @name(\".acl\") table acl { key = { h.eth.dst : exact; m.x : selector; } actions = { send; } implementation = ActionSelector(32w64, hash, SelectorMode_t.FAIR); }
    apply { a.apply(m.x); b.apply(m.x); Direct.apply(m.x); Direct.apply(m.x); acl.apply(); } }
control IgDep(packet_out pkt, inout headers_t h, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t dprsr) { apply { pkt.emit(h); } }
parser EgParser(packet_in pkt, out headers_t h, out meta_t m, out egress_intrinsic_metadata_t eg) { state start { pkt.extract(eg); transition accept; } }
control Eg(inout headers_t h, inout meta_t m, in egress_intrinsic_metadata_t eg, in egress_intrinsic_metadata_from_parser_t prsr,
    inout egress_intrinsic_metadata_for_deparser_t dprsr, inout egress_intrinsic_metadata_for_output_port_t oport) { apply { } }
control EgDep(packet_out pkt, inout headers_t h, in meta_t m, in egress_intrinsic_metadata_for_deparser_t dprsr) { apply { pkt.emit(h); } }
Pipeline(IgParser(), Ig(), IgDep(), EgParser(), Eg(), EgDep()) pipe;
";

fn elaborated(main: &str) -> (super::Snippet, Option<Pipe>) {
    let mut snippet = snippet(Architecture::T2na, &format!("{PROGRAM}{main}"));
    assert_eq!(snippet.diagnostics.list(), [], "the program has no mistakes");
    let pipe = elaborate(&snippet.ast, &mut snippet.checked, &mut snippet.diagnostics);
    (snippet, pipe)
}

#[test]
fn names_of_instances() {
    let (_, pipe) = elaborated("Switch(pipe) main;");
    let pipe = pipe.expect("the program elaborates");
    let blocks: Vec<&str> = pipe.blocks.values().map(|block| block.name.as_str()).collect();
    assert_eq!(
        blocks,
        [
            "pipe.IgParser",
            "pipe.IgParser.skip",
            "pipe.Ig",
            "pipe.Ig.a",
            "pipe.Ig.a.first",
            "pipe.Ig.a.other",
            "pipe.Ig.b",
            "pipe.Ig.b.first",
            "pipe.Ig.b.other",
            "pipe.Ig.Direct",
            "pipe.Ig.Direct_1",
            "pipe.IgDep",
            "pipe.EgParser",
            "pipe.Eg",
            "pipe.EgDep",
        ]
    );
    let tables: Vec<&str> = pipe.tables.values().map(|table| table.name.as_str()).collect();
    assert_eq!(tables, ["acl", "pipe.Ig.Direct.t", "pipe.Ig.Direct_1.t"]);
    let actions: Vec<(&str, bool)> =
        pipe.actions.values().map(|action| (action.name.as_str(), action.hidden)).collect();
    assert_eq!(
        actions,
        [
            ("pipe.Ig.send", false),
            ("pipe.Ig.Direct.bump", true),
            ("NoAction", false),
            ("pipe.Ig.Direct_1.bump", true),
        ]
    );
    let objects: Vec<&str> = pipe.objects.values().map(|object| object.name.as_str()).collect();
    assert_eq!(
        objects,
        [
            "pipe.Ig.a.first.counter",
            "pipe.Ig.a.other.counter",
            "pipe.Ig.b.first.counter",
            "pipe.Ig.b.other.counter",
            "pipe.Ig.hash",
            "acl.implementation",
        ]
    );
    assert_eq!(
        pipe.value_sets.values().map(|set| (set.name.as_str(), set.size)).collect::<Vec<_>>(),
        [("pipe.IgParser.kinds", 8)]
    );
    assert_eq!(pipe.blocks[pipe.ingress.control].name, "pipe.Ig");
    assert_eq!(pipe.blocks[pipe.egress.deparser].name, "pipe.EgDep");
    assert_eq!(pipe.tables.values().map(|table| table.size).collect::<Vec<_>>(), [None, Some(1), Some(1)]);
}

#[test]
fn arguments_of_constructors() {
    let (snippet, pipe) = elaborated("Switch(pipe) main;");
    let pipe = pipe.expect("the program elaborates");
    let sizes: Vec<u32> = pipe
        .objects
        .values()
        .filter(|object| object.name.ends_with(".counter"))
        .filter_map(|object| match &object.args[0] {
            Some(Binding::Value(value)) => value.as_u32(),
            _ => None,
        })
        .collect();
    // Twice the argument: n + 1 and n << 1, for n = 10 and n = 20.
    assert_eq!(sizes, [22, 40, 42, 80]);
    let kinds: Vec<&str> = pipe
        .objects
        .values()
        .filter_map(|object| match object.args.get(1)? {
            Some(Binding::Value(Value::Member(member))) => {
                Some(snippet.ast.text(snippet.ast.decls[*member].name))
            }
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["PACKETS_AND_BYTES", "BYTES", "PACKETS_AND_BYTES", "BYTES"]);
    let types: Vec<String> = pipe
        .objects
        .values()
        .take(1)
        .map(|object| snippet.checked.types.show(&snippet.ast, object.ty))
        .collect();
    assert_eq!(types, ["Counter<bit<64>, bit<16>>"]);
    let hash = pipe.objects.iter().find(|(_, object)| object.name == "pipe.Ig.hash").map(|(id, _)| id);
    let selector = pipe.objects.values().last().expect("the selector");
    assert_eq!(selector.args[1], hash.map(Binding::Object));
}

#[test]
fn several_pipes() {
    let (snippet, pipe) = elaborated("Switch(pipe, pipe) main;");
    assert!(pipe.is_some());
    assert_eq!(snippet.diagnostics.errors(), 0);
    assert_eq!(snippet.diagnostics.list()[0].message, "the program has several pipes");
}

#[test]
fn programs_without_a_switch() {
    let (snippet, pipe) = elaborated("");
    assert!(pipe.is_none());
    assert_eq!(snippet.diagnostics.list()[0].message, "the program has no `main`");
    let (snippet, pipe) = elaborated("Count<bit<16>>(3, true) main;");
    assert!(pipe.is_none());
    assert_eq!(snippet.diagnostics.list()[0].message, "`main` is not an instance of `Switch`");
}

#[test]
fn instances_that_multiply_end() {
    let mut text =
        String::from("control C0()() { action a() { } table t { actions = { a; } } apply { t.apply(); } }\n");
    for level in 1..=40 {
        let below = level - 1;
        text += &format!(
            "control C{level}()() {{ C{below}() x; C{below}() y; apply {{ x.apply(); y.apply(); }} }}\n"
        );
    }
    text += "control Top(inout headers_t h, inout meta_t m, in egress_intrinsic_metadata_t eg, in egress_intrinsic_metadata_from_parser_t prsr,
        inout egress_intrinsic_metadata_for_deparser_t dprsr, inout egress_intrinsic_metadata_for_output_port_t oport) { C40() c; apply { c.apply(); } }
        Pipeline(IgParser(), Ig(), IgDep(), EgParser(), Top(), EgDep()) many; Switch(many) main;";
    let (snippet, pipe) = elaborated(&text);
    assert!(pipe.is_none());
    assert_eq!(snippet.diagnostics.list()[0].message, "the program has more than 10000 instances");
}

#[test]
fn blocks_with_other_parameters() {
    let text = PROGRAM.replace(
        "control Eg(inout headers_t h, inout meta_t m",
        "control Eg(inout headers_t h, inout headers_t m",
    );
    expect![[r#"
        error: expected control `EgressT<_, _>`, found control `Eg`
          --> snippet.p4:24:49
           |
        21 | control Eg(inout headers_t h, inout headers_t m, in egress_intrinsic_metadata_t eg, in egress_intrinsic_metadata_from_parser_t prsr,
           |                               ----------------- expected `inout meta_t` for `eg_md`
        ...
        24 | Pipeline(IgParser(), Ig(), IgDep(), EgParser(), Eg(), EgDep()) pipe;
           |                                                 ^^^^ argument for parameter `egress`
    "#]].assert_eq(&super::messages(&text));
    let text = PROGRAM
        .replace("in meta_t m, in egress_intrinsic_metadata_for_deparser_t dprsr) {", "in meta_t m) {");
    expect![[r#"
        error: expected control `EgressDeparserT<_, _>`, found control `EgDep`
          --> snippet.p4:24:55
           |
        23 | control EgDep(packet_out pkt, inout headers_t h, in meta_t m) { apply { pkt.emit(h); } }
           |         ----- a parameter `in egress_intrinsic_metadata_for_deparser_t` for `eg_intr_md_for_dprsr` is missing
        24 | Pipeline(IgParser(), Ig(), IgDep(), EgParser(), Eg(), EgDep()) pipe;
           |                                                       ^^^^^^^ argument for parameter `egress_deparser`
    "#]].assert_eq(&super::messages(&text));
    // Structs with the same fields.
    let text = PROGRAM.replace(
        "control Eg(inout headers_t h, inout meta_t m",
        "struct other_t { bit<16> x; } control Eg(inout headers_t h, inout other_t m",
    );
    assert_eq!(super::messages(&text), "");
}

#[test]
fn wrong_chip() {
    let loader = WithPrelude::new(Texts::new().with("a.p4", "#include <t2na.p4>"), Architecture::Tna);
    let parsed = parse(&loader, "a.p4", &Options { chip: Architecture::Tna, ..Options::default() });
    let message = &parsed.diagnostics.list()[0].message;
    assert!(message.contains("T2NA is the architecture of Tofino 2"), "{message}");
}
