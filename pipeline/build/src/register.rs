//! Registers and register actions. Accesses are in module `register_access`.

use super::cond::{Branch, Decision};
use super::control::once;
use super::draft::{Builder, Name, Unattached};
use super::gress::GressBuilder;
use super::handles::{PairRef, RegisterActionRef, RegisterParamRef, RegisterRef};
use super::register_value::{Cell, CellRhs, ElementHalf, Output};
use super::value::Bits;
use sluice_asic::salu::{Format, Half, LaneSearch};
use sluice_ir::verify::Diag;
use sluice_ir::{
    self as ir, CellStmt, CellStmtKind, CounterHome, Loc, RegisterActionData, RegisterData, RegisterParamData,
};

/// Size and initial values of a register: a number of elements, or [`size`] with `.init(..)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterSize {
    /// Number of elements; `None`: one per entry of a table.
    elements: Option<u32>,
    init: [u64; 2],
}

/// Returns a size of `elements` elements, initially 0.
#[must_use]
pub fn size(elements: u32) -> RegisterSize {
    RegisterSize { elements: Some(elements), init: [0, 0] }
}

/// Returns a size of one element per entry of a table, initially 0. Attach the register with
/// [`TableBuilder::register`](super::TableBuilder::register).
#[must_use]
pub fn per_entry() -> RegisterSize {
    RegisterSize { elements: None, init: [0, 0] }
}

impl RegisterSize {
    /// Sets the initial value of every element; of pairs, the low half.
    #[must_use]
    pub fn init(mut self, value: u64) -> Self {
        self.init[0] = value;
        self
    }

    /// Sets the initial value of the high half of every pair.
    #[must_use]
    pub fn init_hi(mut self, value: u64) -> Self {
        self.init[1] = value;
        self
    }
}

impl From<u32> for RegisterSize {
    fn from(elements: u32) -> Self {
        size(elements)
    }
}

impl<'b> GressBuilder<'b> {
    /// Declares a register with elements of `W` bits: 1, 8, 16, 32 or, on Tofino 2, 64 and 128.
    #[track_caller]
    pub fn register<const W: u16>(&self, size: impl Into<RegisterSize>) -> RegisterRef<W> {
        const { assert!(matches!(W, 1 | 8 | 16 | 32 | 64 | 128), "elements have 1, 8, 16, 32, 64 or 128 bits") };
        RegisterRef(self.new_register(Format::single(W.into()), size.into(), Loc::caller()))
    }

    /// Declares a register whose elements are pairs of `W` bits each: 8, 16, 32 or, on Tofino 2, 64.
    #[track_caller]
    pub fn register_pair<const W: u16>(&self, size: impl Into<RegisterSize>) -> PairRef<W> {
        const { assert!(matches!(W, 8 | 16 | 32 | 64), "halves of a pair have 8, 16, 32 or 64 bits") };
        PairRef(self.new_register(Format::pair(W.into()), size.into(), Loc::caller()))
    }

    fn new_register<E>(&self, format: Result<Format, E>, size: RegisterSize, loc: Loc) -> ir::Register {
        let name = self.builder.take_name("register", loc);
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.register_named(n).is_some());
        let register = draft.program.registers.push(RegisterData {
            name: unique,
            gress: self.gress,
            // Widths were checked when the program was compiled.
            format: format.unwrap_or(Format::BIT),
            // The table of a direct register is not known yet: `build` of a table replaces this home,
            // otherwise `finish` refuses.
            home: CounterHome::Indirect(size.elements.unwrap_or(0)),
            init: size.init,
            params: Vec::new(),
            doc: name.doc,
            loc,
        });
        if size.elements.is_none() {
            draft.unattached.push(Unattached::Register(register));
        }
        register
    }

    /// Declares a run-time parameter of a register (`RegisterParam`), such as a threshold or a time: the
    /// control plane sets it, and the register's actions compute with it. A register has at most four, each
    /// below half of the range of its elements.
    #[track_caller]
    pub fn register_param<const W: u16>(
        &self,
        register: impl HasParams<W>,
        first: u32,
    ) -> RegisterParamRef<W> {
        let name = self.builder.take_name("register parameter", Loc::caller());
        let mut draft = self.builder.draft();
        let params = &mut draft.program.registers[register.with_params()].params;
        params.push(RegisterParamData {
            name: name.unique(|n| params.iter().any(|p| p.name == n)),
            init: first,
        });
        RegisterParamRef((params.len() - 1).min(usize::from(u8::MAX)) as u8)
    }

    /// Declares a register action: the operation of one access on an element of `register`, written as a
    /// closure.
    #[track_caller]
    pub fn register_action<R: Register<'b>>(
        &self,
        register: R,
        body: impl FnOnce(&mut R::Act),
    ) -> RegisterActionRef {
        let loc = Loc::caller();
        let name = self.builder.take_name("register action", loc);
        let mut act = register.act(self.builder);
        body(&mut act);
        self.push_register_action(register.register(), R::body(act), name, loc)
    }

    fn push_register_action(
        &self,
        register: ir::Register,
        body: Vec<CellStmt>,
        name: Name,
        loc: Loc,
    ) -> RegisterActionRef {
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.register_actions.values().any(|a| a.name == n));
        let data = RegisterActionData { name: unique, register, body, doc: name.doc, loc };
        RegisterActionRef(draft.program.register_actions.push(data))
    }
}

/// A register whose halves have `W` bits.
pub trait HasParams<const W: u16> {
    /// Returns the register in the program.
    fn with_params(self) -> ir::Register;
}

impl<const W: u16> HasParams<W> for RegisterRef<W> {
    fn with_params(self) -> ir::Register {
        self.0
    }
}

impl<const W: u16> HasParams<W> for PairRef<W> {
    fn with_params(self) -> ir::Register {
        self.0
    }
}

/// A register that actions are declared on: single elements or pairs.
pub trait Register<'b>: Copy {
    /// Type of the closure's parameter: [`SingleAct`] or [`PairAct`].
    type Act;
    /// Returns the register in the program.
    fn register(self) -> ir::Register;
    /// Returns the element, with no statement recorded.
    fn act(self, builder: &'b Builder) -> Self::Act;
    /// Returns the recorded statements.
    fn body(act: Self::Act) -> Vec<CellStmt>;
}

/// Statements recorded so far.
#[derive(Debug)]
struct Record<'b> {
    builder: &'b Builder,
    body: Vec<CellStmt>,
}

macro_rules! acts {
    ($($(#[$doc:meta])* $act:ident of $register:ident { $($(#[$field_doc:meta])* $field:ident = $half:ident),* })*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $act<'b, const W: u16> {
            $($(#[$field_doc])* pub $field: ElementHalf<W>,)*
            /// First output word, which is the result of `execute`.
            pub out: Output,
            /// Second output word (Tofino 2).
            pub out1: Output,
            /// Third output word (Tofino 2); it carries bits above 32.
            pub out2: Output,
            /// Fourth output word (Tofino 2); it carries bits above 32.
            pub out3: Output,
            record: Record<'b>,
        }

        impl<'b, const W: u16> Register<'b> for $register<W> {
            type Act = $act<'b, W>;

            fn register(self) -> ir::Register {
                self.0
            }

            fn act(self, builder: &'b Builder) -> $act<'b, W> {
                let [out, out1, out2, out3] = [0, 1, 2, 3].map(Output);
                let record = Record { builder, body: Vec::new() };
                $act { $($field: ElementHalf(Half::$half),)* out, out1, out2, out3, record }
            }

            fn body(act: $act<'b, W>) -> Vec<CellStmt> {
                act.record.body
            }
        }

        impl<'b, const W: u16> $act<'b, W> {
            /// Assigns `value` to `place`: `place = value`.
            #[track_caller]
            pub fn set(&mut self, place: impl Cell<W>, value: impl CellRhs<W>) {
                self.record.body.push(CellStmt { kind: place.write(value.cell()), loc: Loc::caller() });
            }

            /// Branches: `if test { then }`. [`CellElse::else_`] adds the other arm.
            #[track_caller]
            pub fn if_(&mut self, test: impl Branch, then: impl FnOnce(&mut Self)) -> CellElse<'_, Self> {
                self.branch(test.cond().0, &mut once(then), Loc::caller())
            }

            fn branch(
                &mut self,
                test: Decision,
                then: &mut dyn FnMut(&mut Self),
                loc: Loc,
            ) -> CellElse<'_, Self> {
                let cond = match test {
                    Decision::Known(known) => {
                        if known {
                            then(self);
                        }
                        return CellElse { act: self, known: Some(known) };
                    }
                    open => open.in_register(),
                };
                let Some(cond) = cond else {
                    let text = "a register action branches on the validity of a header";
                    let help = "a stateful ALU sees fields: copy the validity to a 1-bit field before, or branch outside";
                    self.record.builder.draft().diags.push(Diag::error(loc, text).help(help));
                    return CellElse { act: self, known: Some(true) };
                };
                let then = self.nested(then);
                self.record.body.push(CellStmt { kind: CellStmtKind::If(cond, then, Vec::new()), loc });
                CellElse { act: self, known: None }
            }

            fn nested(&mut self, inner: &mut dyn FnMut(&mut Self)) -> Vec<CellStmt> {
                let outer = std::mem::take(&mut self.record.body);
                inner(self);
                std::mem::replace(&mut self.record.body, outer)
            }
        }

        impl<'b, const W: u16> CellElse<'_, $act<'b, W>> {
            /// Adds the other arm: `else { otherwise }`.
            pub fn else_(self, otherwise: impl FnOnce(&mut $act<'b, W>)) {
                match self.known {
                    Some(true) => {}
                    Some(false) => otherwise(self.act),
                    None => {
                        let body = self.act.nested(&mut once(otherwise));
                        let last = self.act.record.body.last_mut().map(|s| &mut s.kind);
                        if let Some(CellStmtKind::If(_, _, other)) = last {
                            *other = body;
                        }
                    }
                }
            }
        }
    )* };
}

acts! {
    /// The element of a register of single values, in one access.
    SingleAct of RegisterRef {
        /// The element.
        value = Lo
    }
    /// The element of a register of pairs, in one access.
    PairAct of PairRef {
        /// The low half.
        lo = Lo,
        /// The high half.
        hi = Hi
    }
}

impl SingleAct<'_, 128> {
    /// Finds the smallest or largest lane among the lanes of the mask and changes it; if the mask has no
    /// lane, the element is not written. [`lane`](super::lane) returns the result. If `operand` is given, the
    /// packet supplies the mask in its low bits and the amount above the mask (Tofino 2).
    #[track_caller]
    pub fn search(&mut self, what: LaneSearch, operand: Option<Bits<64>>) {
        let operands = operand.map(ir::Expr::from).into_iter().collect();
        let kind = CellStmtKind::Search(ir::Search { what, operands });
        self.record.body.push(CellStmt { kind, loc: Loc::caller() });
    }
}

/// An `if` of a register action that may still get its `else`.
#[derive(Debug)]
pub struct CellElse<'a, A> {
    act: &'a mut A,
    /// `Some` if the test is decided while the program is built.
    known: Option<bool>,
}
