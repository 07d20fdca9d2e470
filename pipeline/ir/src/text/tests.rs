//! The text form: one program as its text, and messages.

use super::{parse, print};

/// A program in exactly the form that `print` gives it.
pub(super) const ROUTER: &str = r#"sluice 1;

/// Routes IPv4.
program l3-router;

/// Routes that fit, 1..=65536.
param routes = "1024";

/// Ethernet II.
header eth : ingress {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}

header ipv4 : ingress {
    /// Hops left.
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    bit<32> dst;
}

metadata : ingress {
    bit<16> m.flow;
    bit<1> m.bad;
}

intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port;
    bit<9> in.port = ig.ingress_port;
}

label no_route = drop;

hash flow : ingress {
    algorithm = crc(16, 0x8bb7, 1, 0x1, 0x0);
    inputs = { 8w0x2a, ipv4.dst, ipv4.protocol[3:0] };
    width = 16;
    seed = 0xbeef;
}

counter per_route : ingress {
    kind = packets_and_bytes;
    direct = route;
}

profile hops : ingress {
    size = 64;
    selector = resilient(flow);
    groups = 4;
    max_group_size = 32;
}

action forward : ingress (bit<9> port, bit<48> mac) {
    ig_tm.ucast_egress_port = port;
    eth.dst = mac;
    ipv4.ttl = add(ipv4.ttl, 8w0xff);
    m.flow = hash(flow);
    count(per_route);
}

action discard : ingress () {
    drop(no_route);
}

table route : ingress {
    key = { ipv4.dst : lpm; m.bad : exact; }
    actions = { forward; discard; }
    default_action = discard();
    size = 1024;
    profile = hops;
    pin = 3;
    const entries = {
        (0xa000000 / 8, 0) : forward(7, 0x112233445566);
    }
}

parser ingress {
    start = parse_eth;
    state parse_eth {
        extract(eth);
        select (eth.ether_type) {
            (0x800) : parse_ipv4;
            (0x8100 &&& 0xff00) : reject;
            default : accept;
        }
    }
    state parse_ipv4 {
        extract(ipv4);
        m.bad = verify_checksum({ ipv4.ttl, ipv4.dst });
        transition accept;
    }
}

control ingress {
    if (valid(ipv4) && (ipv4.ttl > 8w1 || !(m.bad == 1w1))) {
        apply route {
            miss {
                call discard;
            }
        }
    } else if (!valid(eth)) {
    } else {
        call discard;
    }
}

deparser ingress {
    ipv4.hdr_checksum = checksum(ipv4, { ipv4.ttl, ipv4.dst });
    emit(eth);
    emit(ipv4);
}
"#;

#[test]
fn a_printed_program_is_its_own_print() {
    let program = parse(ROUTER).unwrap();
    assert_eq!(print(&program), ROUTER);
    assert_eq!(program.tables.len(), 1);
    assert_eq!(program.name, "l3-router");
    let loc = program.tables.values().next().unwrap().loc;
    assert_eq!((loc.file, loc.line, loc.col), ("<text>", 67, 1));
}

#[test]
fn comments_line_endings_and_order_do_not_matter() {
    let program = parse(ROUTER).unwrap();
    let windows = ROUTER.replace('\n', "\r\n");
    assert_eq!(parse(&windows).unwrap(), program);
    let commented = ROUTER.replace("    emit(eth);", "  /* first\n */ emit(eth); // then the rest");
    assert_eq!(parse(&commented).unwrap(), program);
    let (head, tail) = ROUTER.split_at(ROUTER.find("\ncounter").unwrap());
    let (declarations, pipes) = tail.split_at(tail.find("\nparser").unwrap());
    assert_eq!(parse(&format!("{head}{pipes}{declarations}")).unwrap(), program);
}

/// The message for `ROUTER` with `from` replaced by `to`.
fn message(from: &str, to: &str) -> String {
    assert!(ROUTER.contains(from), "{from}");
    parse(&ROUTER.replacen(from, to, 1)).unwrap_err().to_string()
}

/// A text of `ROUTER`, a wrong one in its place, and the message.
pub(super) const MISTAKES: [(&str, &str, &str); 11] = [
    (
        "ipv4.ttl > 8w1",
        "ipv4.tll > 8w1",
        "97:25: found `ipv4.tll`, expected a field of ingress; did you mean `ipv4.ttl`?",
    ),
    (
        "8w0xff",
        "255",
        "58:30: found `255`, expected a constant with its width; write it as `16w255`, with the width it is used at",
    ),
    (
        "add(ipv4.ttl",
        "mul(ipv4.ttl",
        "58:16: found `mul`, expected `cast`, `funnel_shift` or an ALU instruction; unknown ALU instruction `mul`; no ALU \
             multiplies: shift by a constant (`shl`), let a register action use its math unit, or look the product up in a table",
    ),
    (
        "crc(16, 0x8bb7",
        "crc(16, 0x8bb6",
        "37:17: found `crc`, expected a possible CRC; CRC polynomial 0x8bb6 is \
         even; its lowest bit (the constant term) must be 1, the top term is left out",
    ),
    ("emit(ipv4)", "emit(ipv4", "112:14: found `;`, expected `)`"),
    ("size = 1024;", "", "77:1: found `}`, expected `size = …;`"),
    ("&& (ipv4", "&& ipv4", "97:39: found `||`, expected `)`; put parentheses where `&&` and `||` meet"),
    (
        "label no_route = drop",
        "@index(4) label no_route = drop",
        "34:11: found label index 4, expected each index from 0 to 0 once; leave `@index` out to count in the \
        order of the text",
    ),
    ("bit<1> m.bad;", "bit<1> m.bad", "27:1: found `}`, expected `;` or `{`"),
    ("\"1024\"", "\"1024", "7:16: found `\"` without its partner, expected a closing quote"),
    (
        "0x2a",
        "0xzz",
        "38:16: found `8w0xzz`, expected a number such as `10`, `0x0a` or `16w0x800`, below 2^128",
    ),
];

#[test]
fn mistakes_are_named_with_place_and_remedy() {
    for (from, to, wanted) in MISTAKES {
        assert_eq!(message(from, to), wanted);
    }
    let names: Vec<String> = crate::Intrinsic::TABLE.iter().map(|i| format!("`{}`", i.name)).collect();
    assert_eq!(
        message("= ig.ingress_port", "= ig.port"),
        format!("31:22: found `ig.port`, which is no intrinsic field, expected one of {}", names.join(", "))
    );
}

#[test]
fn the_other_gress_is_named_in_the_remedy() {
    let egress = format!("{ROUTER}\ncontrol egress {{ if (ipv4.ttl == 8w0) {{ }} }}");
    assert_eq!(
        parse(&egress).unwrap_err().to_string(),
        "115:22: found `ipv4.ttl`, expected a field of egress; ingress declares it; only bytes cross between gresses"
    );
}

#[test]
fn deep_nesting_is_refused_not_suffered() {
    let deep = format!("program x; control ingress {{ if ({}valid(#0)) {{ }} }}", "(".repeat(100_000));
    assert!(parse(&deep).unwrap_err().expected.contains("levels of nesting"));
    let deep = format!("program x; control ingress {{ if ({}valid(#0)) {{ }} }}", "!".repeat(100_000));
    assert!(parse(&deep).unwrap_err().expected.contains("levels of nesting"));
}

/// A program whose sizes and constants follow from parameters.
const COUNTING: &str = r#"
sluice 1;
program counting;
/// Packets that are counted
param packets = 1024 : 1 .. 4096;
const last = (packets - 1) * 2 + log2(packets) / 5 % 2;
counter seen : ingress { kind = packets; size = packets; }
metadata : ingress { bit<16> m.a; }
action note : ingress () { m.a = 16w(last + pow2(3)); }
"#;

#[test]
fn parameters_and_constants_are_numbers() {
    let source = super::Source::read(COUNTING, "counting.sluice").unwrap();
    let [param] = source.params() else { panic!("{:?}", source.params()) };
    assert_eq!((param.key.as_str(), param.doc.as_str()), ("packets", "Packets that are counted"));
    assert_eq!((param.default, param.range, param.loc.line), (1024, (1, 4096), 5));
    // 1023 * 2 + 10 / 5 % 2 + 8, and 15 * 2 + 4 / 5 % 2 + 8.
    for (packets, constant) in [(1024, 2054), (16, 38)] {
        let (program, _) = source.build(&[("packets", packets)]).unwrap();
        assert_eq!(program.params[0].value, packets.to_string());
        let printed = print(&program);
        let expected = format!(
            "sluice 1;\n\nprogram counting;\n\n/// Packets that are counted\nparam packets = \"{packets}\";\n"
        );
        assert!(printed.starts_with(&expected), "{printed}");
        assert!(printed.contains(&format!("m.a = 16w{constant:#x};")), "{printed}");
        assert!(
            printed.contains(&format!("size = {packets};"))
                || printed.contains(&format!("size = {packets:#x};")),
            "{printed}"
        );
    }
}

#[test]
fn mistakes_in_parameters_have_a_place_and_a_remedy() {
    let said = |from: &str, to: &str| {
        assert!(COUNTING.contains(from), "{from}");
        parse(&COUNTING.replacen(from, to, 1)).unwrap_err().to_string()
    };
    for (from, to, wanted) in [
        (
            "last + pow2",
            "lats + pow2",
            "9:38: found `lats`, expected a number, parameter or constant; did you mean `last`?",
        ),
        (
            "last + pow2(3)",
            "last-1",
            "9:38: found `last-1`, expected a number, parameter or constant; put blanks around `-`",
        ),
        ("16w(last", "8w(last", "9:37: found the value 2054, expected a value of 8 bits"),
        (
            "16w(last",
            "16w(0 - last",
            "9:40: found `-`, which has no such result with these values, expected a result from 0 to 2^128 - 1",
        ),
        (
            "16w(last",
            "16w(last / (packets - 1024)",
            "9:43: found `/`, which has no such result with these values, expected a result from 0 to 2^128 - 1",
        ),
        ("1024 : 1", "1024 : 2000", "5:17: found `1024`, expected a value from 2000 to 4096"),
        (
            "const last",
            "const packets",
            "6:7: found `packets`, expected a name that no other parameter or constant has",
        ),
        ("counter seen", "counter last", "7:1: found `last`, which is a parameter, expected another name"),
        ("sluice 1;", "sluice 7;", "2:8: found `7`, expected version `1`; this Sluice reads version 1"),
        (
            "program counting;",
            "program counting; sluice 1;",
            "3:19: found `sluice`, expected the version only at the beginning of the text",
        ),
    ] {
        assert_eq!(said(from, to), wanted, "{to}");
    }
    let nested = COUNTING.replace("16w(last", &format!("16w({}last", "(".repeat(1000)));
    assert!(parse(&nested).unwrap_err().expected.contains("levels of parentheses"));
    assert!(parse(&" ".repeat((1 << 20) + 1)).unwrap_err().expected.contains("1048576 bytes"));
    let many = format!("program many; metadata : ingress {{ {} }}", "bit<1> m.a;".repeat(20_000));
    assert!(parse(&many).unwrap_err().expected.contains("at most 16384 declarations"));
}

#[test]
fn a_part_of_a_program_is_declared_once() {
    let check = |more: &str| super::Source::read(&format!("{ROUTER}\n{more}"), "x").unwrap().check_single();
    for again in [
        "program other;",
        "control ingress { }",
        "deparser ingress { }",
        "parser ingress { start = accept; }",
    ] {
        let error = check(again).unwrap_err();
        assert_eq!(error.found, "a second declaration of this part", "{again}");
        assert_eq!(error.line as usize, ROUTER.lines().count() + 2, "{again}");
    }
    assert_eq!(check("control egress { }"), Ok(()));
}

#[test]
fn a_file_says_more_than_its_program() {
    use super::{Moment, RolePlace, RouteValue, Test, Value};
    let text = ROUTER.to_owned()
        + r#"
entries = """
[[table.route]]
"""; 
routes route (destination, 1) = forward(port, 7);
role core = "spine.sluice" (hosts = "0-3", stage = 2);
role "leaf0" = self;
/// One hop
property hop { when in.valid(ipv4) && sent; holds out.ipv4.ttl + 1 == in.ipv4.ttl || only_changes { eth.dst, ipv4.ttl }; }
"#;
    let (program, parts) = super::Source::read(&text, "x").unwrap().build(&[]).unwrap();
    let line = text.lines().position(|line| line == "[[table.route]]").unwrap() as u32 + 1;
    assert_eq!(parts.entries, Some(("[[table.route]]\n".to_owned(), line)));
    // Text on the line of the opening quotes is on that line.
    let same = text.replace("\"\"\"\n[[table", "\"\"\"[[table");
    let (_, parts_of_same) = super::Source::read(&same, "x").unwrap().build(&[]).unwrap();
    assert_eq!(parts_of_same.entries, Some(("[[table.route]]\n".to_owned(), line - 1)));
    let [routes] = parts.routes.as_slice() else { panic!() };
    assert_eq!(program.tables[routes.table].name, "route");
    assert_eq!(routes.keys, [RouteValue::Destination, RouteValue::Number(1)]);
    assert_eq!(routes.args, [RouteValue::Port, RouteValue::Number(7)]);
    let places: Vec<_> = parts.roles.iter().map(|role| (role.place.clone(), role.program.clone())).collect();
    let spine = (RolePlace::Core, Some("spine.sluice".to_owned()));
    assert_eq!(places, [spine, (RolePlace::Switch("leaf0".to_owned()), None)]);
    assert_eq!(
        parts.roles[0].params,
        [("hosts", "0-3"), ("stage", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()))
    );
    let [property] = parts.properties.as_slice() else { panic!() };
    assert_eq!((property.name.as_str(), property.doc.as_str()), ("hop", "One hop"));
    let ttl = program.fields.iter().find(|(_, d)| d.name == "ipv4.ttl").unwrap().0;
    let Test::Or(any) = &property.holds else { panic!("{:?}", property.holds) };
    let sum = Value::Plus(Box::new(Value::Field(Moment::Out, ttl)), Box::new(Value::Number(1)));
    assert_eq!(any[0], Test::Compare(crate::CmpOp::Eq, sum, Value::Field(Moment::In, ttl)));
    assert!(matches!(&any[1], Test::OnlyChanges(fields) if fields.len() == 2));
    // A program without its parts is the same program.
    assert_eq!(program, parse(ROUTER).unwrap());
}
