//! Parsers and deparsers.

use super::{Topic, rule};

pub(super) const PARSERS: Topic = Topic {
    title: "Parsers",
    about: "",
    rules: &[
        rule(
            "parser",
            r#""parser" gress "{" { { DOC } [ index ] ( start | state ) } "}""#,
            "The parser of a gress.",
        ),
        rule("start", r#""start" "=" next ";""#, "The first state."),
        rule(
            "state",
            r#""state" NAME "{" { step ";" } ( "transition" next ";" | "select" "(" keys ")" "{" { case } "default" ":" next ";" "}" ) "}""#,
            "A state: what it does with the packet, and the state that follows.",
        ),
        rule("next", r#""accept" | "reject" | state_ref"#, "A state, or the end of the parser."),
        rule(
            "step",
            r#""extract" "(" header_ref ")" | "extract_next" "(" stack_ref ")" | "advance" "(" number ")"
            | ( "set_valid" | "set_invalid" ) "(" header_ref ")"
            | ( "set_counter" | "push_counter" | "push_linked_counter" ) "(" counter_load ")" | "pop_counter" "(" ")"
            | ( "increment" | "decrement" ) "(" number ")"
            | field_ref "[" number ":" number "]" "=" value
            | field_ref "=" ( value | "lookahead" "(" number ")"
            | ( "verify_checksum" | "subtract_checksum" ) "(" list ")" )"#,
            "Extracts a header or the next element of a stack, skips bytes, changes the validity of a header or the counter, or writes a \
             field or bits of it: a value, bits \
             at a distance ahead in bits, 1 if a checksum is wrong, or what is left of a sum after fields are subtracted.",
        ),
        rule(
            "counter_load",
            r#"number | ( field_ref | "lookahead" "(" number ")" ) "," number "," number "," number "," number"#,
            "A number; or a field, or the byte at a distance ahead in bits, with the largest value, a rotation, a mask's width and a number to add.",
        ),
        rule("keys", r#"[ select_key { "," select_key } [ "," ] ]"#, "What the state selects on."),
        rule(
            "select_key",
            r#"field_ref | "lookahead" "(" number "," number ")" | "last" "(" stack_ref "," number ")"
            | ( "counter_is_zero" | "counter_is_negative" ) "(" ")""#,
            "A field, bits ahead by distance and width, a field of the last element of a stack by position, or the counter.",
        ),
        rule(
            "case",
            r#""(" [ case_value { "," case_value } [ "," ] ] ")" [ "in" value_set_ref [ "from" number ] ] ":" next ";""#,
            "A value for each key; the first case that fits is taken. With `in`, a member of the value set has to fit the keys \
             from this position on, from the first without `from`.",
        ),
        rule(
            "case_value",
            r#""_" | number [ "&&&" number ]"#,
            "Any value, a value, or a value under a mask.",
        ),
    ],
    example: "parser ingress {
    start = parse_eth;
    state parse_eth {
        extract(eth);
        select (eth.ether_type, lookahead(0, 4)) {
            (0x800, 4) : parse_ipv4;
            (0x8100 &&& 0xff00, _) : reject;
            (_, _) in tunnels : parse_ipv4;
            (_, 6) in tunnels from 0 : accept;
            default : accept;
        }
    }
    state parse_ipv4 {
        extract(ipv4);
        m.bad = verify_checksum({ ipv4.ttl, ipv4.dst });
        transition accept;
    }
}
",
};

pub(super) const DEPARSERS: Topic = Topic {
    title: "Deparsers",
    about: "",
    rules: &[
        rule("deparser", r#""deparser" gress "{" { deparser_step ";" } "}""#, "The deparser of a gress."),
        rule(
            "deparser_step",
            r#""emit" "(" header_ref ")" | request
            | field_ref "=" "checksum" "(" header_ref "," list [ "," "zeros_as_ones" ] ")" [ "when" field_ref ]"#,
            "Sends a header if it is valid, or computes a checksum if its header is valid and the 1-bit field, if there is \
             one, is 1. Checksums are computed first; headers follow in the order of their `emit`.",
        ),
        rule(
            "request",
            r#"( ( "resubmit" | "digest" | "pktgen" ) "(" number | "mirror" "(" number "," field_ref )
            [ "," ( header_ref | list ) ] ")" [ "when" field_ref ]"#,
            "Is made if the type field of its kind has this value, and if the 1-bit field, if there is one, is 1. It carries the \
             fields of a header, or those of the list; a field says the session of a mirror copy.",
        ),
        rule(
            "list",
            r#""{" [ value { "," value } [ "," ] ] "}""#,
            "Fields, slices of fields, and zeros, as on the wire.",
        ),
    ],
    example: "deparser ingress {
    ipv4.hdr_checksum = checksum(ipv4, { ipv4.ttl, ipv4.protocol, ipv4.src, ipv4.dst });
    mirror(1, m.session, eth);
    digest(2, { ipv4.src, m.slot, 7w0, m.bad }) when m.bad;
    emit(eth);
    emit(ipv4);
}
",
};
