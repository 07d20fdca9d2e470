//! Files, numbers, names of entities, and what a file says in addition to its program.

use super::{Topic, rule, words};
use sluice_asic::gress::Gress;

pub(super) const FILES: Topic = Topic {
    title: "Files",
    about: "A file is a list of declarations. They may be in any order, and may name entities that are declared below them.",
    rules: &[
        rule("file", r#"[ version ] { declaration }"#, "A version, if any, is the first declaration."),
        rule("version", r#""sluice" NUMBER ";""#, "Version of the text form."),
        rule(
            "declaration",
            r#"{ DOC } ( parameter | constant | entries | routes | role | property | [ index ] entity )"#,
            "Lines of documentation come first.",
        ),
        rule(
            "entity",
            r#"program | record | header | metadata | port_metadata | intrinsic | stack | label | hash | counter | register
            | register_action | meter | random | value_set | profile | action | table | together | containers | parser | control | deparser"#,
            "The parts of the program.",
        ),
        rule(
            "index",
            r#""@" "index" "(" number ")""#,
            "Index of the entity among those of its kind; without it, its position in the text.",
        ),
        rule("program", r#""program" NAME ";""#, "Name of the program."),
        words(
            "gress",
            || Gress::ALL.map(Gress::name).to_vec(),
            "The half of a pipe to which an entity belongs.",
        ),
    ],
    example: "/// Drops what it does not know
program nothing;

/// No entry of the table says what to do
@index(1) label unknown = drop;
",
};

pub(super) const NUMBERS: Topic = Topic {
    title: "Parameters, constants and numbers",
    about: "Users set parameters; the name of a parameter or constant is a number from there on. Before `=` a name is never a \
            number.",
    rules: &[
        rule(
            "parameter",
            r#""param" NAME "=" NUMBER [ ":" NUMBER ".." NUMBER ] ";""#,
            "A parameter with its default, least and greatest value.",
        ),
        rule(
            "record",
            r#""param" NAME "=" TEXT ";""#,
            "A value with which the program was built, and which users cannot set.",
        ),
        rule("constant", r#""const" NAME "=" sum ";""#, "A number that is computed from those above it."),
        rule("number", r#"NUMBER | NAME"#, "A number, or the name of a parameter or constant."),
        rule("computed", r#"WIDTH "(" sum ")""#, "A constant of this width, whose value is computed."),
        rule(
            "sum",
            r#"product { ( "+" | "-" ) product }"#,
            "Sums and differences, from left to right; blanks around `-` keep it apart from names.",
        ),
        rule("product", r#"factor { ( "*" | "/" | "%" ) factor }"#, "Products, quotients and remainders."),
        rule(
            "factor",
            r#"NUMBER | NAME | "(" sum ")" | ( "log2" | "pow2" ) "(" sum ")""#,
            "`log2` rounds down; `pow2(n)` is 2 to the power n.",
        ),
    ],
    example: "/// Flows that are counted, a power of two
param flows = 1024 : 16 .. 65536;
param routes = \"1024\";
const last = pow2(log2(flows)) - 1;
action to_the_last : ingress () { m.slot = 16w(last % 0x10000); }
",
};

pub(super) const REFERENCES: Topic = Topic {
    title: "Names of entities",
    about: "Fields, headers, stacks and parser states have names of their own in each gress. `egress::name` is the one of the \
            other gress, `#3` is the one with index 3.",
    rules: &[
        rule(
            "field_ref",
            r#"INDEX | [ gress "::" ] [ "." ] NAME"#,
            "A field; a dot keeps it apart from a parameter of the action with the same name.",
        ),
        rule("header_ref", r#"INDEX | [ gress "::" ] NAME"#, "A header."),
        rule("stack_ref", r#"INDEX | [ gress "::" ] NAME"#, "A stack of headers."),
        rule("state_ref", r#"INDEX | [ gress "::" ] NAME"#, "A parser state."),
        rule("label_ref", r#"INDEX | NAME"#, "A label."),
        rule("hash_ref", r#"INDEX | NAME"#, "A hash."),
        rule("counter_ref", r#"INDEX | NAME"#, "An array of counters."),
        rule("register_ref", r#"INDEX | NAME"#, "A register."),
        rule("register_action_ref", r#"INDEX | NAME"#, "A register action."),
        rule("meter_ref", r#"INDEX | NAME"#, "An array of meters, filters or WRED entries."),
        rule("random_ref", r#"INDEX | NAME"#, "A generator of random numbers."),
        rule("value_set_ref", r#"INDEX | NAME"#, "A value set."),
        rule("profile_ref", r#"INDEX | NAME"#, "An action profile."),
        rule("action_ref", r#"INDEX | NAME"#, "An action."),
        rule("table_ref", r#"INDEX | NAME"#, "A table."),
        rule("fields", r#"[ field_ref { "," field_ref } [ "," ] ]"#, "Fields, with commas between them."),
    ],
    example: "action same : ingress () {
    ipv4.ttl = #1;
    ingress::ipv4.ttl = .ipv4.ttl;
}
",
};

pub(super) const PARTS: Topic = Topic {
    title: "Entries, routes and roles",
    about: "What a file says in addition to its program.",
    rules: &[
        rule(
            "entries",
            r#""entries" "=" TEXT ";""#,
            "Entries of a switch outside of a network, in the form of `sluice entries`, once in a file.",
        ),
        rule(
            "routes",
            r#""routes" table_ref [ "(" route_keys ")" ] "=" action_ref "(" route_arguments ")" ";""#,
            "In a network, the table gets an entry for each route.",
        ),
        rule(
            "route_keys",
            r#"[ route_key { "," route_key } [ "," ] ]"#,
            "A value for each key of the table; without them, the destination is its only key.",
        ),
        rule(
            "route_key",
            r#""destination" | number"#,
            "The prefix or address to which the route leads, or a number.",
        ),
        rule(
            "route_arguments",
            r#"[ route_argument { "," route_argument } [ "," ] ]"#,
            "Arguments of the action.",
        ),
        rule("route_argument", r#""port" | number"#, "dev_port of the next hop, or a number."),
        rule(
            "role",
            r#""role" ( "edge" | "core" | TEXT ) "=" ( "self" | TEXT ) [ "(" role_values ")" ] ";""#,
            "Program of the switches with hosts, of those without, or of a switch by its name: this program, a shipped one, or \
             a file.",
        ),
        rule("role_values", r#"[ role_value { "," role_value } [ "," ] ]"#, "Parameters of that program."),
        rule("role_value", r#"NAME "=" ( number | TEXT )"#, "A parameter and its value."),
    ],
    example: "entries = \"\"\"
[[table.route]]
key = { \"ipv4.dst\" = \"10.0.0.0/8\" }
action = \"forward\"
\"\"\";
routes route (destination) = forward(port);
role edge = self (hops = 2);
role \"spine0\" = \"ecmp\";
",
};

pub(super) const PROPERTIES: Topic = Topic {
    title: "Properties",
    about: "Conditions on a packet as it came and as it was sent. A mix of `&&` and `||` needs parentheses.",
    rules: &[
        rule(
            "property",
            r#""property" NAME "{" [ "when" test ";" ] "holds" test ";" "}""#,
            "What must hold of the packets for which the first condition holds.",
        ),
        rule(
            "test",
            r#"test_part { "&&" test_part } | test_part "||" test_part { "||" test_part }"#,
            "All parts hold, or at least one does.",
        ),
        rule(
            "test_part",
            r#"{ "!" } ( "(" test ")" | "sent" | "only_changes" "{" fields "}" | ( "in.valid" | "out.valid" ) "(" header_ref ")"
            | packet_sum comparison packet_sum )"#,
            "`sent`: it left by a port; `only_changes`: it was sent, and only these fields differ; `in.valid`, `out.valid`: \
             it had the header when it came, or when it left.",
        ),
        rule(
            "packet_sum",
            r#"packet_value { ( "+" | "-" ) packet_value }"#,
            "A value that is less than zero does not exist.",
        ),
        rule(
            "packet_value",
            r#"number | PACKET_FIELD | "in.port" | "out.port" | "out.queue" | "in.length" | "out.length""#,
            "A field, dev_port, the queue at the port, or the bytes without FCS, as the packet came or as it left.",
        ),
    ],
    example: "/// A router takes one hop from the packet
property one_hop {
    when in.valid(ipv4) && sent;
    holds out.ipv4.ttl == in.ipv4.ttl - 1 && only_changes { ipv4.ttl };
}
",
};
