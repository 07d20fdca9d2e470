//! Registers and register actions.

use super::{May, Must, Topic, of_table, rule, settings, words};
use crate::text::registers::{OLD, SENSES};
use crate::{CmpOp, LanePart};
use sluice_asic::salu::{LaneOp, SaluOp};

pub(super) const REGISTERS: Topic = Topic {
    title: "Registers",
    about: "",
    rules: &[
        settings(
            "register",
            r#""register" NAME ":" gress"#,
            &[
                Must(r#""element" "=" TEXT ";""#),
                Must(r#"home ";""#),
                May(r#""initial" "=" number "," number ";""#),
                May(r#""params" "=" "{" [ register_parameter { "," register_parameter } [ "," ] ] "}" ";""#),
            ],
            "An array of elements: `1`, `8`, `16`, `32`, `64` or `128` bits, or a pair such as `32x2`. The first values are those \
             of the lower and the upper half.",
        ),
        rule(
            "register_parameter",
            r#"NAME "=" number"#,
            "A value that the control plane sets, and its first value.",
        ),
        rule(
            "together",
            r#""together" NAME "{"
                "registers" "=" "{" [ register_ref { "," register_ref } [ "," ] ] "}" ";"
                "ports" "=" "{" [ TEXT { "," TEXT } [ "," ] ] "}" ";" "}""#,
            "These registers of one pipe are state of these ports, so that all packets of a flow must reach it.",
        ),
    ],
    example: "register pair : ingress {
    element = \"32x2\";
    size = 1024;
    initial = 0, 0xffff;
    params = { limit = 100 };
}
together flows_of_hosts {
    registers = { pair };
    ports = { \"0\", \"dev:137\" };
}
",
};

pub(super) const REGISTER_ACTIONS: Topic = Topic {
    title: "Register actions",
    about: "What a stateful ALU does with an element. `@lo` and `@hi` are the halves of the element, `@out0` to `@out3` the words \
            that it returns.",
    rules: &[
        rule(
            "register_action",
            r#""register_action" NAME "(" register_ref ")" cell_block"#,
            "An action of a register.",
        ),
        rule(
            "cell_block",
            r#""{" { cell_statement } "}""#,
            "Statements, in order; a value that is read after a write is the new one.",
        ),
        rule(
            "cell_statement",
            r#""if" "(" cell_condition ")" cell_block [ "else" cell_block ]
            | "@" ( "out0" | "out1" | "out2" | "out3" | half ) "=" cell_value ";" | search"#,
            "A branch, a write of an output or a half, or a search.",
        ),
        rule("half", r#""lo" | "hi""#, "The lower bits of the element, or the upper ones."),
        rule(
            "search",
            r#""search" "(" lane_operation "," ( "element" | "packet" ) "," ( "phv" | number ) ","
            ( "keep" | ( "add" | "sub" ) ( "phv" | number ) ) { "," value } ")" ";""#,
            "Finds the least or greatest lane of the element or of the packet among those of a mask, then changes it; packet \
             operands follow.",
        ),
        words(
            "lane_operation",
            || LaneOp::ALL.map(LaneOp::mnemonic).to_vec(),
            "What is found, and the bits of a lane.",
        ),
        rule(
            "cell_condition",
            r#"cell_test [ ( "&&" | "||" ) cell_test ]"#,
            "At most two tests are joined; more need parentheses.",
        ),
        rule(
            "cell_test",
            r#""!" "(" cell_condition ")" | "(" cell_condition ")" | "match" "(" "@" half "," cell_value "," number ")"
            | sense "(" cell_value comparison cell_value ")" | cell_value comparison cell_value"#,
            "`match` compares a half under a mask; comparisons without a sense are unsigned. Only in the sense `serial` do the \
             sums of an order wrap.",
        ),
        words(
            "sense",
            || of_table(&SENSES),
            "Comparison in two's complement, or of sequence numbers that wrap.",
        ),
        words(
            "comparison",
            || CmpOp::ALL.map(CmpOp::symbol).to_vec(),
            "Equal, unequal, less, at most, greater, at least.",
        ),
    ],
    example: "/// Counts to 9, and returns the count before
register_action count_to_nine (seen) {
    if (@lo < 9) { @lo = add(@lo, 1); } else { @lo = 0; }
    @out0 = @lo;
}
",
};

pub(super) const REGISTER_VALUES: Topic = Topic {
    title: "Values in register actions",
    about: "",
    rules: &[
        rule(
            "cell_value",
            r#"number | "@" ( half | old_half | "address" | lane_part ) | salu_operation "(" cell_value "," cell_value ")" | cell_unit
            | "phv" "(" value ")" | cell_phv"#,
            "A number as wide as a half, the element, its address, what a search found, or an instruction; `phv(..)` encloses \
             packet values that are more than slices and casts of a field.",
        ),
        words("old_half", || of_table(&OLD), "A half before the access, whatever was written since."),
        words(
            "lane_part",
            || of_table(&LanePart::ALL),
            "The lane that was found, the lane after its change, and its number.",
        ),
        words(
            "salu_operation",
            || SaluOp::ALL.iter().map(|op| op.mnemonic()).collect(),
            "Instructions of a stateful ALU, by the mnemonics of the vendor's assembler.",
        ),
        rule(
            "cell_unit",
            r#""hash" "(" hash_ref ")" | "param" "(" number ")"
            | "math" "(" number "," number "," number "," number "," cell_value ")"
            | "predicate" "(" [ cell_condition { "," cell_condition } [ "," ] ] ")"
            | ( "quotient" | "remainder" ) "(" cell_value "," cell_value ")""#,
            "A hash, a parameter of the register by position, the math unit (1 inverts; shift plus 1; scale plus 32; table of 16 \
             bytes; operand), the outcomes of conditions as bits, or a part of a division.",
        ),
        rule(
            "cell_phv",
            r#"( SIZED | computed | POSITION "<" number ">" | field_ref | "cast" "(" value "," number ")"
            | "funnel_shift" "(" value "," value "," number ")" ) { "[" number ":" number "]" }"#,
            "A packet value.",
        ),
    ],
    example: "register_action average (seen) {
    @lo = ssubu(@lo, 1);
    @hi = phv(add(m.slot, 16w1));
    @out0 = predicate(@lo == 0, signed(@lo < m.slot));
}
",
};
