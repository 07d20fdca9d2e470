//! Names the operations of a program: the variants of every enum of the IR that has operations.

use sluice_asic::alu::AluOp;
use sluice_asic::salu::SaluOp;
use sluice_ir::{
    Algorithmic, Block, CellCond, CellStmt, CellStmtKind, CellValue, Cond, ContainerDemand, CounterHome,
    CounterLoad, Expr, Home, Index, KeySource, KeyValue, LabelKind, MatchKind, MeterConfig, Next,
    ParserOpKind, PrimitiveKind, Program, RequestKind, SelectKey, StmtKind,
};
use std::collections::BTreeSet;

trait Kind {
    const ALL: &[&str];
    fn kind(&self) -> &'static str;
}

/// Lists the variants; a new variant of the IR does not compile until it is listed.
macro_rules! kinds {
    ($($name:ident { $($variant:ident)* })*) => {
        $(impl Kind for $name {
            const ALL: &[&str] = &[$(concat!(stringify!($name), "::", stringify!($variant))),*];
            fn kind(&self) -> &'static str {
                match self { $($name::$variant { .. } => concat!(stringify!($name), "::", stringify!($variant)),)* }
            }
        })*

        /// Every operation that a program can have.
        pub(crate) fn all_kinds() -> Vec<&'static str> {
            let alu = AluOp::ALL.iter().map(|op| op.mnemonic());
            let salu = SaluOp::ALL.iter().map(|op| op.mnemonic());
            [$($name::ALL),*].concat().into_iter().chain(alu).chain(salu).chain(["value_set"]).collect()
        }
    };
}

kinds! {
    Algorithmic { Alpm Atcam }
    CellCond { Cmp Not And Or Match }
    CellStmtKind { Write Output If Search }
    CellValue { Const Half Old Phv Op Math Predicate Address Quotient Remainder Lane Hash Param }
    Cond { Cmp Valid Not And Or }
    ContainerDemand { Sizes Atomic Solitary NoOverlay Kind }
    CounterHome { Direct Indirect }
    CounterLoad { Const Field Ahead }
    Expr { Const Field Param Slice Cast Alu Funnel }
    Home { Header Metadata Intrinsic PortMetadata }
    Index { At Entry Hash }
    KeySource { Field Slice Valid }
    KeyValue { Exact Ternary Lpm Range }
    LabelKind { Drop Consume }
    MatchKind { Exact Ternary Lpm Range }
    MeterConfig { Rates Lpf Wred }
    Next { State Accept Reject }
    ParserOpKind {
        Extract Set SetSlice SetValid VerifyChecksum SubtractChecksum Advance Lookahead SetCounter AddCounter ExtractNext PushCounter
        PopCounter
    }
    PrimitiveKind {
        Set SetValid Hash Count CountDirect Register Drop SetMasked CopyValid Meter Random HashSlice
        SetSlice DropCtl HashInto
    }
    RequestKind { Resubmit Mirror Digest Pktgen }
    SelectKey { Field Lookahead CounterIsZero CounterIsNegative Last }
    StmtKind { Apply If Call }
}

/// Operations seen so far.
#[derive(Default)]
pub(crate) struct Kinds(pub(crate) BTreeSet<&'static str>);

impl Kinds {
    fn see(&mut self, item: &impl Kind) {
        self.0.insert(item.kind());
    }

    /// Adds the operations of a program.
    pub(crate) fn program(&mut self, p: &Program) {
        p.fields.values().for_each(|d| self.see(&d.home));
        p.container_rules.iter().for_each(|rule| self.see(&rule.demand));
        p.labels.values().for_each(|d| self.see(&d.kind));
        p.counters.values().for_each(|d| self.see(&d.home));
        p.registers.values().for_each(|d| self.see(&d.home));
        p.meters.values().filter_map(|d| d.initial.as_ref()).for_each(|c| self.see(c));
        p.hashes.values().flat_map(|d| &d.inputs).for_each(|e| self.expr(e));
        p.register_actions.values().for_each(|d| self.cells(&d.body));
        p.actions.values().flat_map(|d| &d.body).for_each(|primitive| self.primitive(&primitive.kind));
        for table in p.tables.values() {
            table.keys.iter().for_each(|k| {
                self.see(&k.kind);
                self.see(&k.what);
            });
            table.entries.iter().flat_map(|e| &e.key).for_each(|k| self.see(k));
            table.algorithmic.iter().for_each(|a| self.see(a));
        }
        for state in p.states.values() {
            state.ops.iter().for_each(|op| self.parser_op(&op.kind));
            state.select.iter().for_each(|k| self.see(k));
            state.arms.iter().for_each(|a| self.see(&a.next));
            if state.arms.iter().any(|a| a.set.is_some()) {
                self.0.insert("value_set");
            }
            self.see(&state.default);
        }
        for pipe in &p.pipes {
            self.block(&pipe.control);
            pipe.deparser.requests.iter().for_each(|r| {
                self.see(&r.kind);
                r.data.iter().for_each(|e| self.expr(e));
            });
            pipe.deparser.checksums.iter().flat_map(|c| &c.inputs).for_each(|e| self.expr(e));
        }
        self.block(&p.ghost);
    }

    fn expr(&mut self, e: &Expr) {
        self.see(e);
        match e {
            Expr::Const(..) | Expr::Field(_) | Expr::Param(..) => {}
            Expr::Slice(a, ..) | Expr::Cast(a, _) => self.expr(a),
            Expr::Alu(op, a, b) => {
                self.0.insert(op.mnemonic());
                [a, b].into_iter().for_each(|e| self.expr(e));
            }
            Expr::Funnel(a, b, _) => [a, b].into_iter().for_each(|e| self.expr(e)),
        }
    }

    fn primitive(&mut self, kind: &PrimitiveKind) {
        self.see(kind);
        match kind {
            PrimitiveKind::Set(_, e)
            | PrimitiveKind::SetSlice(.., e)
            | PrimitiveKind::DropCtl(_, e, _)
            | PrimitiveKind::Count(_, e) => self.expr(e),
            PrimitiveKind::Register(access) => self.see(&access.index),
            PrimitiveKind::Meter(access) => self.see(&access.index),
            _ => {}
        }
    }

    fn parser_op(&mut self, kind: &ParserOpKind) {
        self.see(kind);
        match kind {
            ParserOpKind::SetCounter(load) => self.see(load),
            ParserOpKind::Set(_, value) | ParserOpKind::SetSlice(.., value) => self.expr(value),
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.see(&stmt.kind);
            match &stmt.kind {
                StmtKind::Call(_) => {}
                StmtKind::Apply(_, arms) => {
                    let run = arms.run.iter().map(|(_, block)| block);
                    [&arms.hit, &arms.miss].into_iter().chain(run).for_each(|block| self.block(block));
                }
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(cond);
                    [then, otherwise].into_iter().for_each(|block| self.block(block));
                }
            }
        }
    }

    fn cond(&mut self, cond: &Cond) {
        self.see(cond);
        match cond {
            Cond::Cmp(..) | Cond::Valid(_) => {}
            Cond::Not(a) => self.cond(a),
            Cond::And(a, b) | Cond::Or(a, b) => [a, b].into_iter().for_each(|c| self.cond(c)),
        }
    }

    fn cells(&mut self, body: &[CellStmt]) {
        for stmt in body {
            self.see(&stmt.kind);
            match &stmt.kind {
                CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => self.cell_value(value),
                CellStmtKind::Search(_) => {}
                CellStmtKind::If(cond, then, otherwise) => {
                    self.cell_cond(cond);
                    [then, otherwise].into_iter().for_each(|body| self.cells(body));
                }
            }
        }
    }

    fn cell_value(&mut self, value: &CellValue) {
        self.see(value);
        match value {
            CellValue::Op(op, a, b) => {
                self.0.insert(op.mnemonic());
                [a, b].into_iter().for_each(|v| self.cell_value(v));
            }
            CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
                [a, b].into_iter().for_each(|v| self.cell_value(v));
            }
            CellValue::Math(_, a) => self.cell_value(a),
            CellValue::Predicate(list) => list.iter().for_each(|c| self.cell_cond(c)),
            _ => {}
        }
    }

    fn cell_cond(&mut self, cond: &CellCond) {
        self.see(cond);
        match cond {
            CellCond::Cmp(..) | CellCond::Match(..) => {}
            CellCond::Not(a) => self.cell_cond(a),
            CellCond::And(a, b) | CellCond::Or(a, b) => [a, b].into_iter().for_each(|c| self.cell_cond(c)),
        }
    }
}
