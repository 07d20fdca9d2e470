//! Headers, metadata, hashes, counters, meters.

use super::{May, Must, Together, Topic, of_table, rule, settings, words};
use crate::text::meters::MODES as FILTERS;
use crate::text::words::{COUNTERS as KINDS, FORMATS, LABELS, MODES};
use crate::{CONTAINER_KINDS, Intrinsic, MeterKind};
use sluice_asic::hash::HashAlgorithm;

pub(super) const HEADERS: Topic = Topic {
    title: "Headers, metadata, labels",
    about: "Fields are declared first bit first. The field `ttl` of header `ipv4` has the name `ipv4.ttl`.",
    rules: &[
        rule("header", r#""header" NAME ":" gress "{" { field } "}""#, "A header and its fields."),
        rule(
            "field",
            r#"{ DOC } [ index ] width [ "." ] NAME ";""#,
            "A field; after a dot, its name does not begin with that of the header.",
        ),
        rule("width", r#""bit" "<" number ">""#, "A width in bits."),
        rule(
            "metadata",
            r#""metadata" ":" gress "{" { field } "}""#,
            "Fields that exist during one pass of a packet.",
        ),
        rule(
            "port_metadata",
            r#""port_metadata" ":" gress "{" { field } "}""#,
            "Fields that the parser takes from a table by port, before the packet.",
        ),
        rule(
            "intrinsic",
            r#""intrinsic" ":" gress "{" { intrinsic_field } "}""#,
            "Fields that the chip fills or reads.",
        ),
        rule(
            "intrinsic_field",
            r#"{ DOC } [ index ] width [ "." ] ( intrinsic_name | NAME "=" intrinsic_name ) ";""#,
            "A field of the chip, under its own name or another one.",
        ),
        words(
            "intrinsic_name",
            || Intrinsic::TABLE.iter().map(|row| row.name).collect(),
            "Names of the chip's fields; `sluice explain` and docs/tna.md describe them.",
        ),
        rule(
            "stack",
            r#""stack" NAME ":" gress "{" { header_ref ";" } "}""#,
            "A stack of headers, first element first.",
        ),
        rule(
            "value_set",
            r#""value_set" NAME ":" gress "{" "size" "=" number ";" { width NAME ";" } "}""#,
            "Values with masks that the control plane writes, at most this many, and that cases of parsers compare with keys.",
        ),
        rule(
            "containers",
            r#""containers" gress "{" { container_rule ";" } "}""#,
            "What the author demands of the containers of fields.",
        ),
        rule(
            "container_rule",
            r#"field_ref ":" ( "sizes" "(" [ number { "," number } [ "," ] ] ")" | "atomic" | "solitary" | "no_overlay"
            | "kind" "(" container_kind ")" )"#,
            "Sizes in bits, the least significant bits first, or one size for all containers; one container; no field beside it; no \
             other field at the same bits; the kind of all its containers.",
        ),
        words("container_kind", || of_table(&CONTAINER_KINDS), "Kinds of containers."),
        rule(
            "label",
            r#""label" NAME "=" label_kind ";""#,
            "A reason for which packets leave the pipe; they are counted.",
        ),
        words("label_kind", || of_table(&LABELS), "Packets count as dropped, or as absorbed."),
    ],
    example: "header vlan : ingress {
    bit<3> pcp;
    bit<1> dei;
    /// Number of the VLAN
    bit<12> vid;
    bit<16> ether_type;
}
metadata : ingress { bit<12> m.vlan; bit<32> m.hash; }
containers ingress {
    m.vlan : sizes(8);
    m.vlan : solitary;
    m.vlan : kind(normal);
    m.hash : atomic;
    m.hash : no_overlay;
}
intrinsic : ingress {
    bit<9> ig.ingress_port;
    bit<7> queue = ig_tm.qid;
}
stack tags : ingress { vlan; }
value_set cpu_ports : ingress {
    size = 4;
    bit<16> ether_type;
    bit<4> version;
}
label no_vlan = drop;
",
};

pub(super) const HASHES: Topic = Topic {
    title: "Hashes",
    about: "",
    rules: &[
        settings(
            "hash",
            r#""hash" NAME ":" gress"#,
            &[
                Must(r#""algorithm" "=" algorithm ";""#),
                Must(r#""inputs" "=" "{" [ value { "," value } [ "," ] ] "}" ";""#),
                May(r#""symmetric" "=" "{" [ pair { "," pair } [ "," ] ] "}" ";""#),
                Must(r#""width" "=" number ";""#),
                May(r#""seed" "=" number ";""#),
                May(r#""rotate" "=" number ";""#),
            ],
            "A hash of packet values, and the bits of its result.",
        ),
        rule(
            "pair",
            r#""(" number "," number ")""#,
            "Positions of two inputs, from 0, whose order has no effect.",
        ),
        rule(
            "algorithm",
            r#"hash_algorithm | "random" "(" number ")"
            | "crc" "(" number "," number "," number "," number "," number [ "," ] ")""#,
            "A named algorithm, a random matrix by its seed, or a CRC by width, polynomial, 1 if it is reflected, first value \
             and final XOR.",
        ),
        words(
            "hash_algorithm",
            || HashAlgorithm::names().collect(),
            "Named algorithms; case, `_` and `-` do not matter, so that `CRC32` is `crc_32`.",
        ),
    ],
    example: "hash flow_of_both_ways : ingress {
    algorithm = crc_32;
    inputs = { ipv4.src, ipv4.dst, ipv4.protocol };
    symmetric = { (0, 1) };
    width = 16;
}
",
};

pub(super) const COUNTERS: Topic = Topic {
    title: "Counters, action profiles, random numbers",
    about: "",
    rules: &[
        settings(
            "counter",
            r#""counter" NAME ":" gress"#,
            &[
                Must(r#""kind" "=" counter_kind ";""#),
                Must(r#"home ";""#),
                May(r#""format" "=" counter_format ";""#),
                May(r#"( "leaves_out" | "adds" ) "=" number ";""#),
                May(r#""reads" "=" ( "cell" | "sum" ) ";""#),
            ],
            "An array of counters. `leaves_out` and `adds` change the bytes that are counted for a packet; `reads` says whether \
             software reads cells, which wrap, or sums of 64 bits.",
        ),
        rule(
            "home",
            r#""direct" "=" table_ref | "size" "=" number"#,
            "A cell for each entry of a table, or a number of cells.",
        ),
        words("counter_kind", || of_table(&KINDS), "What is counted."),
        words("counter_format", || of_table(&FORMATS), "Bits of a cell."),
        settings(
            "profile",
            r#""profile" NAME ":" gress"#,
            &[
                Must(r#""size" "=" number ";""#),
                Together(&[
                    Must(r#""selector" "=" selector_mode "(" hash_ref ")" ";""#),
                    Must(r#""groups" "=" number ";""#),
                    Must(r#""max_group_size" "=" number ";""#),
                    May(r#""scramble" "=" ( "on" | "off" ) ";""#),
                ]),
            ],
            "Members that entries of tables name, and groups of members of which a selector takes one.",
        ),
        words("selector_mode", || of_table(&MODES), "How the selector finds a member."),
        settings(
            "random",
            r#""random" NAME ":" gress"#,
            &[Must(r#""width" "=" number ";""#)],
            "A generator of random numbers of this width.",
        ),
    ],
    example: "counter per_hop : ingress {
    kind = packets_and_bytes;
    direct = route;
    leaves_out = 14;
}
profile hops_of_leaf : ingress {
    size = 64;
    selector = resilient(flow);
    groups = 4;
    max_group_size = 32;
}
random coin : ingress { width = 1; }
",
};

pub(super) const METERS: Topic = Topic {
    title: "Meters",
    about: "",
    rules: &[
        settings(
            "meter",
            r#""meter" NAME ":" gress"#,
            &[
                Must(r#""kind" "=" meter_kind ";""#),
                Must(r#"home ";""#),
                May(r#"( "leaves_out" | "adds" ) "=" number ";""#),
                May(r#""initial" "=" meter_configuration ";""#),
            ],
            "An array of meters, filters or WRED entries. `leaves_out` and `adds` change the bytes that a meter takes for a packet.",
        ),
        words(
            "meter_kind",
            || MeterKind::ALL.map(MeterKind::word).to_vec(),
            "Meters of packets or of bytes, low-pass filters, or WRED.",
        ),
        rule(
            "meter_configuration",
            r#""rates" "(" number "," number "," number "," number ")" | "lpf" "(" filter ")"
            | "wred" "(" number "," number "," number [ "," filter ] ")""#,
            "Committed rate and burst, then peak rate and burst; a filter; or the lower and upper threshold, the probability \
             in per cent, and the filter of an average.",
        ),
        rule(
            "filter",
            r#"filter_mode "," number "," number "," number"#,
            "Time constants of rise and fall in picoseconds, and a shift of the result.",
        ),
        words("filter_mode", || of_table(&FILTERS), "The filter averages samples, or rates."),
    ],
    example: "meter police : ingress {
    kind = bytes;
    size = 16;
    initial = rates(8000000, 1500, 16000000, 3000);
}
meter average : ingress {
    kind = lpf;
    size = 4;
    initial = lpf(sample, 1000000, 1000000, 0);
}
",
};
