//! Registers, and register actions.
//!
//! The statements of a register action run in order, as in P4: a value read after a write is the new one.
//! Every value is as wide as a half of the element. Narrower PHV operands are zero-extended; sums wrap.

use super::{CmpOp, CounterHome, Expr, Field, Hash, Loc, Program, Register};
use sluice_asic::gress::Gress;
use sluice_asic::salu::{Format, Half, LaneSearch, MathUnit, SaluOp, Sense, State as Element};

/// A register: an array of elements that packets read and write, one element per packet.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose packets access it.
    pub gress: Gress,
    /// Width of the elements, and whether they are pairs.
    pub format: Format,
    /// Direct or indirect, with the number of elements.
    pub home: CounterHome,
    /// Initial value of every element: low half (or all of a single element) and high half.
    pub init: [u64; 2],
    /// Run-time parameters, which the control plane sets and actions read: at most four, in rows of the
    /// register file.
    pub params: Vec<RegisterParamData>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

impl RegisterData {
    /// Returns the initial value of an element.
    #[must_use]
    pub const fn first(&self) -> Element {
        Element::pair(self.init[0], self.init[1])
    }
}

/// A register parameter (`RegisterParam`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterParamData {
    /// Name, unique in the register.
    pub name: String,
    /// Initial value, unsigned and less than half of the range of a half of the element, because rows of the
    /// register file are signed.
    pub init: u32,
}

impl RegisterData {
    /// Returns the largest value of its parameters.
    #[must_use]
    pub const fn most_param(&self) -> u32 {
        self.format.math_mask() >> 1
    }
}

/// A register action: the operation of one access.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterActionData {
    /// Name, unique in the program.
    pub name: String,
    /// The register.
    pub register: Register,
    /// Statements, in order.
    pub body: Vec<CellStmt>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// A statement of a register action.
#[derive(Clone, Debug, PartialEq)]
pub struct CellStmt {
    /// Kind of the statement.
    pub kind: CellStmtKind,
    /// Source location.
    pub loc: Loc,
}

/// Kinds of statements of a register action.
#[derive(Clone, Debug, PartialEq)]
pub enum CellStmtKind {
    /// Writes a half of the element.
    Write(Half, CellValue),
    /// Writes an output word (0 to 3) of 32 bits. Words 0 and 1 take the low 32 bits of the value, words 2
    /// and 3 the bits above. A word without a write is 0.
    Output(u8, CellValue),
    /// A branch: condition, then, else.
    If(CellCond, Vec<CellStmt>, Vec<CellStmt>),
    /// Searches the lanes of a 128-bit element (Tofino 2). The action must not update the element in another
    /// way.
    Search(Search),
}

/// A search for the smallest or largest lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Lanes that are searched, and the change of the lane found.
    pub what: LaneSearch,
    /// Low and high packet operand, if mask, amount or lanes come from the packet.
    pub operands: Vec<Expr>,
}

/// A value in a register action, as wide as a half of the element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    /// A constant.
    Const(u64),
    /// Value of the half at this point.
    Half(Half),
    /// Value of the half before the access, whatever was written since: what the memory gives all units.
    Old(Half),
    /// A packet value: a field, or slices and casts of one.
    Phv(Expr),
    /// An instruction of an update ALU; computed on at most 32 bits.
    Op(SaluOp, Box<CellValue>, Box<CellValue>),
    /// Result of the math unit for a half or a packet value; it feeds the low half.
    Math(MathUnit, Box<CellValue>),
    /// One-hot code: sets the bit whose number has condition `i` in its bit `i`. Output only.
    Predicate(Vec<CellCond>),
    /// Index of the element (Tofino 2). Output only.
    Address,
    /// 16-bit quotient of two's complement numbers, rounded towards zero (Tofino 2). Output only.
    Quotient(Box<CellValue>, Box<CellValue>),
    /// 16-bit remainder, with the divisor's sign (Tofino 2). Output only.
    Remainder(Box<CellValue>, Box<CellValue>),
    /// Part of the lane search's result. Output only.
    Lane(LanePart),
    /// A hash of the packet, computed on the way to the stateful ALU.
    Hash(Hash),
    /// A parameter of the register, by position.
    Param(u8),
}

/// A packet value that a stateful ALU takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A field, or slices and casts of one.
    Phv(Expr),
    /// A hash.
    Hash(Hash),
}

impl Operand {
    /// Calls `visit` for every field that the value depends on, in order, repeats included.
    pub fn fields(&self, program: &Program, visit: &mut impl FnMut(Field)) {
        match self {
            Operand::Phv(e) => e.fields(visit),
            Operand::Hash(hash) => {
                let inputs = program.hashes.get(*hash).map_or(&[][..], |h| &h.inputs);
                inputs.iter().for_each(|input| input.fields(visit));
            }
        }
    }
}

/// Part of the result of a lane search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanePart {
    /// The lane, before its change.
    Value,
    /// The lane, after its change.
    Changed,
    /// Number of the lane.
    Index,
}

impl LanePart {
    /// Names in text forms.
    pub const ALL: [(&'static str, LanePart); 3] =
        [("lane", LanePart::Value), ("changed", LanePart::Changed), ("lane_index", LanePart::Index)];
}

/// A condition in a register action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellCond {
    /// A comparison. [`Sense::Serial`] compares like sequence numbers: the difference, truncated to the width
    /// of a half, is compared with zero in two's complement. In the other senses the sums and differences of an
    /// order are exact: a comparator adds with more bits than a half has. Equality compares values of a half's width.
    Cmp(CmpOp, Sense, CellValue, CellValue),
    /// Negation.
    Not(Box<CellCond>),
    /// Conjunction.
    And(Box<CellCond>, Box<CellCond>),
    /// Disjunction.
    Or(Box<CellCond>, Box<CellCond>),
    /// True if a half equals a packet value in the bits where the mask has ones (Tofino 2).
    Match(Half, CellValue, u64),
}

impl CellValue {
    /// Returns true if the value can only be an output.
    #[must_use]
    pub const fn is_returned_only(&self) -> bool {
        matches!(
            self,
            CellValue::Predicate(_)
                | CellValue::Address
                | CellValue::Quotient(..)
                | CellValue::Remainder(..)
                | CellValue::Lane(_)
        )
    }

    /// Calls `visit` for every half whose value at this point is read, in order, repeats included.
    pub fn halves(&self, visit: &mut dyn FnMut(Half)) {
        match self {
            CellValue::Half(half) => visit(*half),
            CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
                a.halves(visit);
                b.halves(visit);
            }
            CellValue::Math(_, a) => a.halves(visit),
            CellValue::Predicate(conds) => {
                conds.iter().for_each(|cond| cond.values(&mut |value| value.halves(visit)));
            }
            CellValue::Const(_)
            | CellValue::Old(_)
            | CellValue::Phv(_)
            | CellValue::Address
            | CellValue::Lane(_)
            | CellValue::Hash(_)
            | CellValue::Param(_) => {}
        }
    }

    /// Calls `visit` for every packet value, in order, repeats included.
    pub fn operands(&self, visit: &mut impl FnMut(Operand)) {
        match self {
            CellValue::Const(_)
            | CellValue::Half(_)
            | CellValue::Old(_)
            | CellValue::Param(_)
            | CellValue::Address
            | CellValue::Lane(_) => {}
            CellValue::Phv(e) => visit(Operand::Phv(e.clone())),
            CellValue::Hash(hash) => visit(Operand::Hash(*hash)),
            CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
                a.operands(visit);
                b.operands(visit);
            }
            CellValue::Math(_, a) => a.operands(visit),
            CellValue::Predicate(conds) => {
                for cond in conds {
                    cond.values(&mut |v| v.operands(visit));
                }
            }
        }
    }
}

impl CellCond {
    /// Calls `visit` for every value that is compared, in order.
    pub fn values<'c>(&'c self, visit: &mut impl FnMut(&'c CellValue)) {
        match self {
            CellCond::Cmp(_, _, a, b) => {
                visit(a);
                visit(b);
            }
            CellCond::Match(_, value, _) => visit(value),
            CellCond::Not(a) => a.values(visit),
            CellCond::And(a, b) | CellCond::Or(a, b) => {
                a.values(visit);
                b.values(visit);
            }
        }
    }
}

impl RegisterActionData {
    /// Calls `visit` for every statement, in order, including nested ones.
    pub fn statements<'a>(&'a self, visit: &mut impl FnMut(&'a CellStmt)) {
        fn walk<'a>(body: &'a [CellStmt], visit: &mut impl FnMut(&'a CellStmt)) {
            for stmt in body {
                visit(stmt);
                if let CellStmtKind::If(_, then, otherwise) = &stmt.kind {
                    walk(then, visit);
                    walk(otherwise, visit);
                }
            }
        }
        walk(&self.body, visit);
    }

    /// Returns true if the action divides.
    #[must_use]
    pub fn divides(&self) -> bool {
        let mut found = false;
        self.statements(&mut |stmt| {
            found |= matches!(
                stmt.kind,
                CellStmtKind::Output(_, CellValue::Quotient(..) | CellValue::Remainder(..))
            );
        });
        found
    }

    /// Returns the distinct packet values, in order of first use.
    #[must_use]
    pub fn operands(&self) -> Vec<Operand> {
        let mut list: Vec<Operand> = Vec::new();
        self.statements(&mut |stmt| {
            let mut add = |e: Operand| {
                if !list.contains(&e) {
                    list.push(e);
                }
            };
            match &stmt.kind {
                CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => value.operands(&mut add),
                CellStmtKind::If(cond, ..) => cond.values(&mut |v| v.operands(&mut add)),
                CellStmtKind::Search(search) => {
                    search.operands.iter().for_each(|e| add(Operand::Phv(e.clone())));
                }
            }
        });
        list
    }
}
