//! Limits of the arithmetic units: the PHV's VLIW ALUs and the stateful ALU.

use serde::{Deserialize, Serialize};

/// Limits of the per-container VLIW ALUs (model: chip §2.2, §2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AluSpec {
    /// Source operands per instruction.
    pub max_sources: u32,
    /// Smallest constant that source 1 may be.
    pub constant_min: i32,
    /// Largest constant that source 1 may be.
    pub constant_max: i32,
    /// Bits of the constant that a 32-bit container can be loaded with.
    pub load_const_bits_32: u32,
    /// True if comparison instructions exist.
    pub compare: bool,
    /// True if instructions on a container's valid bit (`cmux`, `invalidate`) exist.
    pub valid_ops: bool,
}

/// Limits of one stateful ALU (model: chip §4.1, §4.3, §4.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaluSpec {
    /// Comparators.
    pub comparators: u32,
    /// True if comparators have masks.
    pub compare_masks: bool,
    /// Ternary match units.
    pub ternary_matches: u32,
    /// Bits of a ternary match unit; 0 if there are none.
    pub ternary_match_bits: u32,
    /// Widest single value in bits.
    pub max_value_bits: u32,
    /// Widest field of a pair in bits.
    pub max_pair_bits: u32,
    /// Widest value in bits on which full arithmetic works.
    pub math_bits: u32,
    /// Operands taken from the PHV.
    pub phv_operands: u32,
    /// Widest operand taken from the PHV in bits.
    pub phv_operand_bits: u32,
    /// First byte in an exact crossbar group at which the PHV operands may start (model: chip §1.3).
    pub operand_start_byte: u32,
    /// Register actions per register.
    pub instructions: u32,
    /// Smallest constant in an arithmetic instruction.
    pub constant_min: i32,
    /// Largest constant in an arithmetic instruction.
    pub constant_max: i32,
    /// Smallest constant in a comparison.
    pub compare_constant_min: i32,
    /// Largest constant in a comparison.
    pub compare_constant_max: i32,
    /// Rows of the register file that holds larger constants and register parameters.
    pub register_file_rows: u32,
    /// Bits of a register file row.
    pub register_file_bits: u32,
    /// Output words of 32 bits.
    pub output_words: u32,
    /// Bits of a predicate: a truth table over the comparators.
    pub predicate_bits: u32,
    /// Entries of the math unit's lookup table.
    pub math_table_entries: u32,
    /// Operand bits of the divider; 0 if there is none.
    pub divide_bits: u32,
    /// True if minimum and maximum over 8- and 16-bit lanes exist.
    pub lane_min_max: bool,
    /// True if all of a register can be cleared at once.
    pub fast_clear: bool,
    /// Cycles in which a register is cleared at once (assumption); 0 if it cannot be.
    pub fast_clear_cycles: u32,
    /// True if FIFO and stack access exist. On Tofino not found in the sources, so taken as absent.
    pub fifo: bool,
}
