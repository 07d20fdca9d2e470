//! Registers and what one access does to an element.
//!
//! The statements of a register action run in order, as in P4: a value read after a write is the new one.
//! Every value is as wide as a half of the element; narrower PHV operands get zeros in front, sums wrap.

use super::{CmpOp, CounterHome, Expr, Field, Hash, Loc, Program, Register};
use sluice_asic::gress::Gress;
use sluice_asic::salu::{Format, Half, LaneSearch, MathUnit, SaluOp, Sense, State as Element};

/// A register: an array of elements that packets read and change, one element per packet.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose packets access it.
    pub gress: Gress,
    /// Width of the elements, and whether they are pairs.
    pub format: Format,
    /// How many elements, or the table of whose entries each has one.
    pub home: CounterHome,
    /// What every element holds at first: low half (or all of a single element) and high half.
    pub init: [u64; 2],
    /// Numbers that the control plane sets and actions compute with: at most four, rows of the register file.
    pub params: Vec<RegisterParamData>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

impl RegisterData {
    /// What an element holds at first.
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
    /// Its value until the control plane says otherwise: without a sign, and below half of what a half of the
    /// element holds, because rows of the register file have a sign.
    pub init: u32,
}

impl RegisterData {
    /// The largest value of its parameters.
    #[must_use]
    pub const fn most_param(&self) -> u32 {
        self.format.math_mask() >> 1
    }
}

/// A register action: what one access does.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterActionData {
    /// Name, unique in the program.
    pub name: String,
    /// The register that it works on.
    pub register: Register,
    /// What happens to the element, in order.
    pub body: Vec<CellStmt>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// One step of a register action.
#[derive(Clone, Debug, PartialEq)]
pub struct CellStmt {
    /// What it does.
    pub kind: CellStmtKind,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// What a register action can do.
#[derive(Clone, Debug, PartialEq)]
pub enum CellStmtKind {
    /// Writes a half of the element.
    Write(Half, CellValue),
    /// Writes an output word (0 to 3) of 32 bits. Words 0 and 1 take the low 32 bits of the value, 2 and 3 the
    /// bits above. A word that is never written is 0.
    Output(u8, CellValue),
    /// Decides.
    If(CellCond, Vec<CellStmt>, Vec<CellStmt>),
    /// Searches the lanes of a 128-bit element (Tofino 2); nothing else updates the element then.
    Search(Search),
}

/// A search for the smallest or largest lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// What is searched, and what becomes of the lane.
    pub what: LaneSearch,
    /// The low and the high packet operand, as far as mask, amount or lanes come from the packet.
    pub operands: Vec<Expr>,
}

/// A value in a register action, as wide as a half of the element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    /// A constant.
    Const(u64),
    /// What the half holds at this point.
    Half(Half),
    /// A value from the packet: a field, or slices and casts of one.
    Phv(Expr),
    /// An instruction of an update ALU; computed on at most 32 bits.
    Op(SaluOp, Box<CellValue>, Box<CellValue>),
    /// What the math unit makes of a half or a packet value; it feeds the low half.
    Math(MathUnit, Box<CellValue>),
    /// Only returned: a one in the bit whose number the conditions' results spell, the first as the lowest bit.
    Predicate(Vec<CellCond>),
    /// Only returned: the number of the element (Tofino 2).
    Address,
    /// Only returned: the 16-bit quotient of two's complement numbers, towards zero (Tofino 2).
    Quotient(Box<CellValue>, Box<CellValue>),
    /// Only returned: the 16-bit remainder, with the divisor's sign (Tofino 2).
    Remainder(Box<CellValue>, Box<CellValue>),
    /// Only returned: a part of what the lane search found.
    Lane(LanePart),
    /// A hash of the packet, computed on the way to the stateful ALU.
    Hash(Hash),
    /// A parameter of the register, by position.
    Param(u8),
}

/// A value from the packet that a stateful ALU takes.
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

/// What a lane search gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanePart {
    /// The lane, before its change.
    Value,
    /// The lane, after its change.
    Changed,
    /// Its number.
    Index,
}

impl LanePart {
    /// The words of text forms.
    pub const ALL: [(&'static str, LanePart); 3] =
        [("lane", LanePart::Value), ("changed", LanePart::Changed), ("lane_index", LanePart::Index)];
}

/// A condition in a register action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellCond {
    /// A comparison. [`Sense::Serial`] compares as sequence numbers do: the difference, cut to the width of a
    /// half, is read as two's complement and held against zero.
    Cmp(CmpOp, Sense, CellValue, CellValue),
    /// Negation.
    Not(Box<CellCond>),
    /// Both hold.
    And(Box<CellCond>, Box<CellCond>),
    /// At least one holds.
    Or(Box<CellCond>, Box<CellCond>),
    /// A half equals a packet value where the mask has ones (Tofino 2).
    Match(Half, CellValue, u64),
}

impl CellValue {
    /// Whether the value can only be returned.
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

    /// Calls `visit` for every value from the packet, in order, repeats included.
    pub fn operands(&self, visit: &mut impl FnMut(Operand)) {
        match self {
            CellValue::Const(_)
            | CellValue::Half(_)
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
    /// Calls `visit` for every statement, in order, those inside of others included.
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

    /// Whether it divides.
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

    /// The different values from the packet, in order of their first use.
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
