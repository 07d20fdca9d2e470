//! Control flow and action bodies.

use super::{
    Action, CmpOp, Counter, Expr, Field, Hash, Header, Label, Loc, Meter, Program, Random, RegisterAction,
    Table,
};

/// Statements in program order.
pub type Block = Vec<Stmt>;

/// One step of a control block.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// What a control block can do.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Looks the packet up in a table, runs the action found, then the block of what happened.
    Apply(Table, ApplyArms),
    /// A gateway.
    If(Cond, Block, Block),
    /// Runs an action without parameters: a keyless table of its own.
    Call(Action),
}

/// What follows a table's lookup. `hit`/`miss` and `run` do not both occur.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplyArms {
    /// Runs when an entry matched.
    pub hit: Block,
    /// Runs when no entry matched.
    pub miss: Block,
    /// Runs when this action ran, by hit or by default (`switch (t.apply().action_run)`).
    pub run: Vec<(Action, Block)>,
}

impl ApplyArms {
    /// True when nothing depends on the lookup's outcome.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hit.is_empty() && self.miss.is_empty() && self.run.is_empty()
    }
}

/// A condition: what a gateway decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cond {
    /// Unsigned comparison of two values of equal width.
    Cmp(CmpOp, Expr, Expr),
    /// The header is valid.
    Valid(Header),
    /// Negation.
    Not(Box<Cond>),
    /// Both hold.
    And(Box<Cond>, Box<Cond>),
    /// At least one holds.
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

/// One step of an action: one VLIW instruction, or a request to a unit beside the ALUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitive {
    /// What it does.
    pub kind: PrimitiveKind,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// What an action can do.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimitiveKind {
    /// Writes a field.
    Set(Field, Expr),
    /// Makes a header valid or invalid.
    SetValid(Header, bool),
    /// Writes the result of a hash computation; the field's width is the hash's.
    Hash(Field, Hash),
    /// Counts the packet at an index of an indirect counter; an index past the end counts nothing.
    Count(Counter, Expr),
    /// Counts the packet at the matched entry of the table that runs the action; a miss counts nothing.
    CountDirect(Counter),
    /// Accesses an element of a register.
    Register(RegisterAccess),
    /// Sets `drop_ctl`: the packet leaves no copy at this gress' deparser, unless a later primitive of the
    /// pass names another label, which then is the reason.
    Drop(Label),
    /// Writes the bits of a field where a mask has ones (`bitmasked-set`): field, value, mask. Both are constants or
    /// parameters; a mask of one bit stands for all bits of the field, so that an entry says whether to set it.
    SetMasked(Field, Expr, Expr),
    /// Makes the first header valid if the second one is, else invalid. Both are elements of one header stack.
    CopyValid(Header, Header),
    /// Asks a meter, filter or WRED about the packet.
    Meter(MeterAccess),
    /// Writes a random number, all values of the field equally likely; a pass draws from a generator once.
    Random(Field, Random),
    /// Writes bits of the result of a hash computation, as many as the field has, from this bit on.
    HashSlice(Field, Hash, u16),
}

/// Which cell of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// The cell with this number.
    At(Expr),
    /// The cell of the entry that was matched, of an array that is direct to the table; a miss has none.
    Entry,
    /// The cell whose number is this hash, computed on the way to the array.
    Hash(Hash),
}

impl Index {
    /// The value, if it is one.
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

    /// Bits; 0 for the matched entry's.
    #[must_use]
    pub fn width(&self, program: &Program) -> u16 {
        match self {
            Index::At(e) => e.width(program),
            Index::Entry => 0,
            Index::Hash(hash) => program.hashes.get(*hash).map_or(0, |h| h.width),
        }
    }
}

/// One question to a meter, filter or WRED. An index past the end asks nothing, and the answer is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterAccess {
    /// The array.
    pub meter: Meter,
    /// Which cell.
    pub index: Index,
    /// Of a meter the colour that the packet has already (0 green, 1 yellow, 3 red), of a filter or WRED the
    /// sample.
    pub input: Option<Expr>,
    /// The field that takes the answer: colour, filtered value, or 1 for "drop".
    pub to: Field,
}

/// One access to a register. An index past the end accesses nothing, and its output words are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterAccess {
    /// What happens to the element.
    pub action: RegisterAction,
    /// Which element.
    pub index: Index,
    /// Fields that take the low bits of an output word, each with the word's number.
    pub outputs: Vec<(u8, Field)>,
}
