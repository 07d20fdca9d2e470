//! The text form: one program as its text, and messages.

use super::{parse, print};

/// A program in exactly the form that `print` gives it.
const ROUTER: &str = r#"/// Routes IPv4.
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
    assert_eq!((loc.file, loc.line, loc.col), ("<text>", 65, 1));
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

#[test]
fn mistakes_are_named_with_place_and_remedy() {
    for (from, to, wanted) in [
        (
            "ipv4.ttl > 8w1",
            "ipv4.tll > 8w1",
            "95:25: found `ipv4.tll`, expected a field of ingress; declare it, or check its spelling",
        ),
        (
            "8w0xff",
            "255",
            "56:30: found `255`, expected a constant with its width; write it as `16w255`, with the width it is used at",
        ),
        (
            "add(ipv4.ttl",
            "mul(ipv4.ttl",
            "56:16: found `mul`, expected `cast`, `funnel_shift` or an ALU instruction; unknown ALU instruction `mul`; the mnemonics \
             are those of the vendor's assembler, such as `add`, `saddu`, `xor`, `shl`, `set`",
        ),
        (
            "crc(16, 0x8bb7",
            "crc(16, 0x8bb6",
            "35:17: found `crc`, expected a possible CRC; CRC polynomial 0x8bb6 is \
             even; its lowest bit (the constant term) must be 1, the top term is left out",
        ),
        ("emit(ipv4)", "emit(ipv4", "110:14: found `;`, expected `)`"),
        ("size = 1024;", "", "75:1: found `}`, expected `size = …;`"),
        ("&& (ipv4", "&& ipv4", "95:39: found `||`, expected `)`; put parentheses where `&&` and `||` meet"),
        (
            "label no_route = drop",
            "@index(4) label no_route = drop",
            "32:11: found label index 4, expected each index from 0 to 0 once; leave `@index` out to count in the \
            order of the text",
        ),
        ("bit<1> m.bad;", "bit<1> m.bad", "25:1: found `}`, expected `;` or `{`"),
        ("\"1024\"", "\"1024", "5:16: found `\"` without its partner, expected a closing quote"),
        (
            "0x2a",
            "0xzz",
            "36:16: found `8w0xzz`, expected a number such as `10`, `0x0a` or `16w0x800`, below 2^128",
        ),
    ] {
        assert_eq!(message(from, to), wanted);
    }
    let names: Vec<String> = crate::Intrinsic::TABLE.iter().map(|i| format!("`{}`", i.name)).collect();
    assert_eq!(
        message("= ig.ingress_port", "= ig.port"),
        format!("29:22: found `ig.port`, which is no intrinsic field, expected one of {}", names.join(", "))
    );
}

#[test]
fn the_other_gress_is_named_in_the_remedy() {
    let egress = format!("{ROUTER}\ncontrol egress {{ if (ipv4.ttl == 8w0) {{ }} }}");
    assert_eq!(
        parse(&egress).unwrap_err().to_string(),
        "113:22: found `ipv4.ttl`, expected a field of egress; ingress declares it; only bytes cross between gresses"
    );
}

#[test]
fn deep_nesting_is_refused_not_suffered() {
    let deep = format!("program x; control ingress {{ if ({}valid(#0)) {{ }} }}", "(".repeat(100_000));
    assert!(parse(&deep).unwrap_err().expected.contains("levels of nesting"));
    let deep = format!("program x; control ingress {{ if ({}valid(#0)) {{ }} }}", "!".repeat(100_000));
    assert!(parse(&deep).unwrap_err().expected.contains("levels of nesting"));
}
