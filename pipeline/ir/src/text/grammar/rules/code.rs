//! Actions, values, tables, control blocks.

use super::{May, Must, Topic, of_table, rule, settings, words};
use crate::text::words::{IDLE_MODES, MATCHES};
use sluice_asic::alu::AluOp;

pub(super) const ACTIONS: Topic = Topic {
    title: "Actions",
    about: "The chip executes the statements of an action at once, so none may read a field that an earlier one writes.",
    rules: &[
        rule(
            "action",
            r#""action" NAME ":" gress "(" [ action_parameter { "," action_parameter } [ "," ] ] ")" "{" { primitive ";" } "}""#,
            "An action; entries of tables give values to its parameters.",
        ),
        rule("action_parameter", r#"width NAME"#, "A parameter and its width."),
        rule("primitive", r#"assignment | register_access | call"#, "A statement of an action."),
        rule(
            "assignment",
            r#"field_ref "=" ( value | "hash" "(" hash_ref [ "," number ] ")" | "meter" "(" meter_ref "," cell [ "," value ] ")"
            | "random" "(" random_ref ")" ) | field_ref "[" number ":" number "]" "=" ( value | "hash" "(" hash_ref [ "," number ] ")" )"#,
            "The field gets a value, the result of a hash from a bit on, what a meter says of the packet (and of the input), or a \
             random number; a slice of the field gets a value or bits of a hash, and the other bits stay.",
        ),
        rule(
            "register_access",
            r#"[ output { "," output } "=" ] "execute" "(" register_action_ref "," cell ")""#,
            "Executes a register action.",
        ),
        rule(
            "output",
            r#"field_ref [ ":" NUMBER ]"#,
            "A field, and the output word that it gets: 0 without a number.",
        ),
        rule(
            "cell",
            r#""@" "entry" | "hash" "(" hash_ref ")" | value"#,
            "The cell of the matched entry, at a hash, or at an index.",
        ),
        rule(
            "call",
            r#"( "set_valid" | "set_invalid" ) "(" header_ref ")" | "copy_valid" "(" header_ref "," header_ref ")"
            | "set_masked" "(" field_ref "," value "," value ")" | "count" "(" counter_ref [ "," value ] ")"
            | "drop" "(" label_ref ")" | "set_drop_ctl" "(" field_ref "," value "," label_ref ")""#,
            "Adds or removes a header; makes the first header valid if the second one is; writes the bits of a mask; counts in \
             the cell of the matched entry or at an index; drops the packet; writes `dprsr.drop_ctl`, with the label of the drop if the \
             lowest bit is set.",
        ),
    ],
    example: "action to_host : ingress (bit<9> port, bit<8> left) {
    ig_tm.ucast_egress_port = port;
    ipv4.ttl = left;
    m.count = execute(count, m.slot);
    m.slot = hash(flow);
    ipv4.dst[15:0] = hash(flow);
    ipv4.dst[31:16] = 16w0xa00;
    set_invalid(ipv4);
}
",
};

pub(super) const VALUES: Topic = Topic {
    title: "Values",
    about: "Values of packets. The name of an action's parameter is a value as a field is.",
    rules: &[
        rule(
            "value",
            r#"( SIZED | computed | POSITION "<" number ">" | field_ref | operation ) { "[" number ":" number "]" }"#,
            "A constant, a parameter by position and width, a field, a parameter by name or an operation; `[7:0]` are the lowest \
             eight bits.",
        ),
        rule(
            "operation",
            r#"alu_operation "(" value "," value ")" | "cast" "(" value "," number ")"
            | "funnel_shift" "(" value "," value "," number ")""#,
            "An instruction, a change of width, or two values side by side that are shifted right.",
        ),
        words(
            "alu_operation",
            || AluOp::ALL.iter().map(|op| op.mnemonic()).collect(),
            "Instructions of the ALUs, by the mnemonics of the vendor's assembler.",
        ),
    ],
    example: "action values : ingress (bit<8> by) {
    ipv4.ttl = ssubu(ipv4.ttl, by);
    m.slot = cast(ipv4.dst[7:0], 16);
}
",
};

pub(super) const TABLES: Topic = Topic {
    title: "Tables",
    about: "",
    rules: &[
        settings(
            "table",
            r#""table" NAME ":" gress"#,
            &[
                May(r#""key" "=" "{" { key } "}""#),
                May(r#""actions" "=" "{" { action_ref ";" } "}""#),
                Must(r#"[ "const" ] "default_action" "=" action_call ";""#),
                Must(r#""size" "=" number ";""#),
                May(r#""profile" "=" profile_ref ";""#),
                May(r#""pin" "=" number ";""#),
                May(r#""idle" "=" idle_mode "(" number "," TEXT "," TEXT ")" ";""#),
                May(
                    r#"( "alpm" "=" "partitions" "(" number "," number ")" | "atcam" "=" field_ref "(" number ")" ) ";""#,
                ),
                May(r#""pin_entries" "=" number ";""#),
                May(r#""ways" "=" number ";""#),
                May(r#""pack" "=" number ";""#),
                May(r#""priority" "=" [ "-" ] number ";""#),
                May(r#""const" "entries" "=" "{" { constant_entry ";" } "}""#),
            ],
            "A match-action table: keys, actions of entries, action without a match (`const`: for ever), entries that fit, action \
             profile, stage; bits, interval and time to live of ageing; partitions and subtrees of an ALPM, or the field and number of an \
             ATCAM's partitions; entries in the stage; ways and entries per word of an exact match table; its priority among \
             tables that could be placed next; entries that never change.",
        ),
        rule(
            "key",
            r#"( field_ref [ "[" number ":" number "]" ] | "valid" "(" header_ref ")" ) [ "&&&" number ] ":" match_kind ";""#,
            "A key: a field or a slice of it, or the validity of a header; only the bits of the mask are compared, if there is one.",
        ),
        words("match_kind", || of_table(&MATCHES), "How a key is compared."),
        words(
            "idle_mode",
            || of_table(&IDLE_MODES),
            "The switch tells the control plane, or the control plane asks.",
        ),
        rule(
            "constant_entry",
            r#""(" [ key_value { "," key_value } [ "," ] ] ")" ":" action_call"#,
            "A value for each key, and what to do.",
        ),
        rule(
            "key_value",
            r#""_" | number [ "&&&" number | "/" number | ".." number ]"#,
            "Any value; or a value, a value under a mask, a prefix, or a range.",
        ),
        rule(
            "action_call",
            r#"action_ref "(" [ number { "," number } [ "," ] ] ")""#,
            "An action with values of its parameters.",
        ),
    ],
    example: "table hosts : ingress {
    key = { ipv4.dst : lpm; ipv4.protocol : ternary; }
    actions = { forward; discard; }
    default_action = discard();
    size = 256;
    priority = -1;
    const entries = {
        (0xa000000 / 8, _) : forward(7);
        (0xa000001 / 32, 6 &&& 0xf) : discard();
    }
}
",
};

pub(super) const CONTROLS: Topic = Topic {
    title: "Control blocks",
    about: "A mix of `&&` and `||` needs parentheses.",
    rules: &[
        rule(
            "control",
            r#""control" ( gress | "ghost" ) block"#,
            "What a gress does between parser and deparser, and what the ghost thread of Tofino 2 does.",
        ),
        rule("block", r#""{" { statement } "}""#, "Statements."),
        rule(
            "statement",
            r#""if" "(" condition ")" block { "else" "if" "(" condition ")" block } [ "else" block ]
            | "apply" table_ref ( ";" | "{" { arm } "}" ) | "call" action_ref ";""#,
            "A branch, a table, or an action without a table.",
        ),
        rule(
            "arm",
            r#"( "hit" | "miss" | "run" action_ref ) block"#,
            "Statements after a match, none, or this action.",
        ),
        rule(
            "condition",
            r#"condition_part { "&&" condition_part } | condition_part "||" condition_part { "||" condition_part }"#,
            "All parts hold, or at least one does.",
        ),
        rule(
            "condition_part",
            r#"{ "!" } ( "(" condition ")" | "valid" "(" header_ref ")" | value comparison value )"#,
            "A condition, the presence of a header, or a comparison.",
        ),
    ],
    example: "control ingress {
    if (valid(ipv4) && (ipv4.ttl > 8w1 || m.slot == 16w0)) {
        apply route { miss { call discard; } }
    } else if (!valid(eth)) {
        call discard;
    }
}
",
};
