//! Control flow and action bodies.

use super::{
    Action, CmpOp, Counter, Expr, Field, Hash, Header, Label, Loc, Meter, Program, Random, RegisterAction,
    Table,
};

/// Statements in program order.
pub type Block = Vec<Stmt>;

/// A statement of a control block.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Kind of the statement.
    pub kind: StmtKind,
    /// Source location.
    pub loc: Loc,
}

/// Kinds of statements of a control block.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Looks the packet up in a table, runs the selected action, then the arm of the outcome.
    Apply(Table, ApplyArms),
    /// A branch, decided by a gateway: condition, then, else.
    If(Cond, Block, Block),
    /// Runs an action without parameters as a separate keyless table.
    Call(Action),
}

/// Arms of a table's lookup. `hit`/`miss` and `run` are not used together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplyArms {
    /// Runs if an entry matched.
    pub hit: Block,
    /// Runs if no entry matched.
    pub miss: Block,
    /// Runs if this action ran, from an entry or as the default (`switch (t.apply().action_run)`).
    pub run: Vec<(Action, Block)>,
}

impl ApplyArms {
    /// Returns true if no statement depends on the lookup's outcome.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hit.is_empty() && self.miss.is_empty() && self.run.is_empty()
    }
}

/// A condition, which a gateway decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cond {
    /// Unsigned comparison of two values of equal width.
    Cmp(CmpOp, Expr, Expr),
    /// True if the header is valid.
    Valid(Header),
    /// Negation.
    Not(Box<Cond>),
    /// Conjunction.
    And(Box<Cond>, Box<Cond>),
    /// Disjunction.
    Or(Box<Cond>, Box<Cond>),
}

impl Cond {
    /// Calls `field` for every field and `header` for every validity bit the condition reads.
    pub fn reads(&self, field: &mut impl FnMut(Field), header: &mut impl FnMut(Header)) {
        match self {
            Cond::Cmp(_, a, b) => {
                a.fields(field);
                b.fields(field);
            }
            Cond::Valid(h) => header(*h),
            Cond::Not(a) => a.reads(field, header),
            Cond::And(a, b) | Cond::Or(a, b) => {
                a.reads(field, header);
                b.reads(field, header);
            }
        }
    }
}

/// A primitive of an action: one VLIW instruction, or a request to a unit outside the ALUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitive {
    /// Kind of the primitive.
    pub kind: PrimitiveKind,
    /// Source location.
    pub loc: Loc,
}

impl Primitive {
    /// Calls `visit` for every field whose value the primitive reads, in order, repeats included.
    pub fn reads(&self, program: &Program, visit: &mut impl FnMut(Field)) {
        match &self.kind {
            PrimitiveKind::Set(_, value)
            | PrimitiveKind::SetSlice(.., value)
            | PrimitiveKind::DropCtl(_, value, _)
            | PrimitiveKind::Count(_, value) => value.fields(visit),
            PrimitiveKind::Hash(_, hash)
            | PrimitiveKind::HashSlice(_, hash, _)
            | PrimitiveKind::HashInto(.., hash, _) => {
                Index::Hash(*hash).fields(program, visit);
            }
            PrimitiveKind::Register(access) => {
                access.index.fields(program, visit);
                for operand in program.register_actions[access.action].operands() {
                    operand.fields(program, visit);
                }
            }
            PrimitiveKind::SetMasked(field, ..) => visit(*field),
            PrimitiveKind::Meter(access) => {
                access.index.fields(program, visit);
                access.input.iter().for_each(|e| e.fields(visit));
            }
            PrimitiveKind::SetValid(..)
            | PrimitiveKind::CountDirect(_)
            | PrimitiveKind::Drop(_)
            | PrimitiveKind::CopyValid(..)
            | PrimitiveKind::Random(..) => {}
        }
    }
}

/// Kinds of primitives.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimitiveKind {
    /// Writes a field.
    Set(Field, Expr),
    /// Makes a header valid or invalid.
    SetValid(Header, bool),
    /// Writes the result of a hash computation; the field's width is the hash's.
    Hash(Field, Hash),
    /// Counts the packet at an index of an indirect counter. An index beyond the end counts nothing.
    Count(Counter, Expr),
    /// Counts the packet at the matched entry of the table that runs the action; a miss counts nothing.
    CountDirect(Counter),
    /// Accesses an element of a register.
    Register(RegisterAccess),
    /// Sets `drop_ctl`: the gress' deparser sends no copy on. If a later primitive of the pass drops with
    /// another label, that label is the reason.
    Drop(Label),
    /// Writes the bits of a field where a mask has ones (`bitmasked-set`): field, value, mask. Value and mask
    /// are constants or parameters. A mask of one bit stands for all bits of the field, so that an entry
    /// decides whether to set it.
    SetMasked(Field, Expr, Expr),
    /// Makes the first header valid if the second is valid, otherwise invalid.
    CopyValid(Header, Header),
    /// Accesses a meter, filter or WRED entry.
    Meter(MeterAccess),
    /// Writes a random number, uniform over all values of the field. A pass draws from a generator once.
    Random(Field, Random),
    /// Writes bits of a hash result, from this bit on, as many as the field has.
    HashSlice(Field, Hash, u16),
    /// Writes bits of a hash result, from the last number on, to a slice of a field, its highest and lowest bit given, and leaves
    /// the other bits.
    HashInto(Field, u16, u16, Hash, u16),
    /// Writes a slice of a field, its highest and lowest bit given, and leaves the other bits (`deposit-field`). The
    /// value is a constant, a parameter or a field, or a slice or cast of one.
    SetSlice(Field, u16, u16, Expr),
    /// Writes `drop_ctl`, the field of the gress. Its bits keep the deparser from making copies: bit 0 those for the port
    /// and the multicast groups, and a resubmit; bit 1 the copy to the CPU; bit 2, in egress, mirror copies. If bit 0 is
    /// set afterwards, the label is the reason of the drop; otherwise the packet is not dropped.
    DropCtl(Field, Expr, Label),
}

/// Index of an array access.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// The cell with this number.
    At(Expr),
    /// The cell of the matched entry, in an array that is direct to the table. On a miss there is no cell.
    Entry,
    /// The cell at this hash, computed on the way to the array.
    Hash(Hash),
}

impl Index {
    /// Returns the value of `At`.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Index::At(e) => Some(e),
            Index::Entry | Index::Hash(_) => None,
        }
    }

    /// Calls `visit` for every field that the index depends on, in order, repeats included.
    pub fn fields(&self, program: &Program, visit: &mut impl FnMut(Field)) {
        match self {
            Index::At(e) => e.fields(visit),
            Index::Entry => {}
            Index::Hash(hash) => {
                let inputs = program.hashes.get(*hash).map_or(&[][..], |h| &h.inputs);
                inputs.iter().for_each(|input| input.fields(visit));
            }
        }
    }

    /// Returns the width in bits; 0 for the matched entry.
    #[must_use]
    pub fn width(&self, program: &Program) -> u16 {
        match self {
            Index::At(e) => e.width(program),
            Index::Entry => 0,
            Index::Hash(hash) => program.hashes.get(*hash).map_or(0, |h| h.width),
        }
    }
}

/// Access to a meter, filter or WRED entry. An index beyond the end has no effect, and the result is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterAccess {
    /// The array.
    pub meter: Meter,
    /// Index of the cell.
    pub index: Index,
    /// Input: of a meter, the packet's colour before it (0 green, 1 yellow, 3 red); of a filter or WRED, the
    /// sample.
    pub input: Option<Expr>,
    /// Field for the result: colour, filtered value, or 1 for "drop".
    pub to: Field,
}

/// Access to a register. An index beyond the end has no effect, and the output words are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterAccess {
    /// Operation on the element.
    pub action: RegisterAction,
    /// Index of the element.
    pub index: Index,
    /// Fields for the low bits of output words, each with the number of its word.
    pub outputs: Vec<(u8, Field)>,
}
