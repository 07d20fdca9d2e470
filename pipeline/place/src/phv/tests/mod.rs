//! Tests of allocation, with the programs and helpers that they share.

mod author;
mod broken;
mod instructions;
mod joins;
mod limits;
mod overlay;
mod packing;
mod parts;
mod random;
mod router;

use super::{allocate, verify};
use crate::Options;
use crate::data::PhvAllocation;
use sluice_asic::alu::AluOp;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerInfo, PhvInventory};
use sluice_ir::cfg::Cfg;
use sluice_ir::verify::Diag;
use sluice_ir::{
    Action, Expr, Field, Header, Next, ParserOp, ParserOpKind, PrimitiveKind, Program, StateData, StmtKind,
};
use sluice_samples::sketch::{Sketch, set};

pub(super) fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino(), ChipSpec::tofino2()]
}

pub(super) fn cfgs(program: &Program) -> [Cfg; 2] {
    Gress::ALL.map(|g| Cfg::of(program, g))
}

pub(super) fn allocated(program: &Program, chip: &ChipSpec) -> PhvAllocation {
    allocate(program, chip, &Options::default(), &cfgs(program))
        .unwrap_or_else(|d| panic!("{}: {}", chip.name, texts(&d).join("\n")))
}

/// Returns the findings on an allocation.
pub(super) fn findings(program: &Program, chip: &ChipSpec, allocation: &PhvAllocation) -> Vec<String> {
    texts(&verify(program, chip, &cfgs(program), allocation))
}

/// Returns the reasons why a program cannot be allocated.
pub(super) fn refusal(program: &Program, chip: &ChipSpec) -> Vec<String> {
    texts(&allocate(program, chip, &Options::default(), &cfgs(program)).unwrap_err())
}

pub(super) fn texts(diags: &[Diag]) -> Vec<String> {
    diags.iter().map(|d| d.text.clone()).collect()
}

#[track_caller]
pub(super) fn assert_says(found: &[String], part: &str) {
    assert!(found.iter().any(|t| t.contains(part)), "no finding says `{part}`: {found:#?}");
}

pub(super) fn field(expr: Field) -> Expr {
    Expr::Field(expr)
}

pub(super) fn alu(op: AluOp, a: Expr, b: Expr) -> Expr {
    Expr::Alu(op, Box::new(a), Box::new(b))
}

pub(super) fn info(chip: &ChipSpec, container: Container) -> ContainerInfo {
    *PhvInventory::new(&chip.phv).get(container).unwrap()
}

pub(super) fn named(chip: &ChipSpec, name: &str) -> Container {
    PhvInventory::new(&chip.phv).by_name(name).unwrap()
}

/// A program of one gress whose control block calls actions one after the other.
pub(super) struct Small {
    pub(super) sketch: Sketch,
    calls: Vec<Action>,
}

impl Small {
    pub(super) fn new() -> Small {
        Small { sketch: Sketch::new("small"), calls: Vec::new() }
    }

    /// Adds a header that a separate state extracts.
    pub(super) fn header(&mut self, name: &str, fields: &[(&str, u16)]) -> (Header, Vec<Field>) {
        let (h, f) = self.sketch.header(name, fields);
        self.sketch.state(&format!("parse_{name}"), h, &[], vec![]);
        let (states, gress) = (self.sketch.program.states.len(), self.sketch.gress);
        if states > 1 {
            // Each state continues in the next one.
            let next = Next::State(sluice_ir::entity::Entity::new(states - 1));
            self.sketch.program.states.values_mut().rev().nth(1).unwrap().default = next;
        }
        assert_eq!(gress, Gress::Ingress);
        (h, f)
    }

    pub(super) fn call(&mut self, body: Vec<PrimitiveKind>) -> &mut Small {
        let name = format!("a{}", self.calls.len());
        let action = self.sketch.action(&name, &[128], body);
        self.calls.push(action);
        self
    }

    pub(super) fn set(&mut self, dst: Field, value: Expr) -> &mut Small {
        self.call(vec![set(dst, value)])
    }

    pub(super) fn program(mut self) -> Program {
        let calls: Vec<_> = self.calls.iter().map(|a| self.sketch.stmt(StmtKind::Call(*a))).collect();
        self.sketch.control(calls);
        self.sketch.program
    }
}

/// Adds an operation to the state that was declared last.
pub(super) fn also(program: &mut Program, kind: ParserOpKind) {
    let state: &mut StateData = program.states.values_mut().last().unwrap();
    state.ops.push(ParserOp { kind, loc: state.loc });
}
