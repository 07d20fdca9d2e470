//! Random programs that are legal by construction: the verifier reports no error for any draw.
//!
//! This module has the order in which a program is drawn, and names. A program need not fit a chip: size, instructions and
//! stateful ALUs are left to the placer.

mod action;
mod control;
mod ghost;
mod requests;
mod scope;
mod stateful;
mod table;
mod value;
mod wire;

use crate::{Draw, Limits, Widths, words};
use scope::Scope;
use sluice_asic::gress::Gress;
use sluice_ir::{Home, Intrinsic, LabelData, LabelKind, Loc, Program};

/// Draws a program.
#[must_use]
pub fn program(d: &mut Draw<'_>, limits: &Limits) -> Program {
    let program = Program { name: "random".into(), doc: "Drawn.".into(), ..Program::default() };
    let mut w = Writer { d, limits, p: program, gress: Gress::Ingress, names: 0 };
    for (name, kind) in [("lost", LabelKind::Drop), ("eaten", LabelKind::Consume)] {
        w.p.labels.push(LabelData { name: name.into(), kind, doc: String::new(), loc: Loc::default() });
    }
    let bridge = w.d.chance(1, 2);
    let (shapes, stack) = (w.shapes(), w.stack_shape());
    for gress in Gress::ALL {
        w.gress = gress;
        w.pipe(&shapes, stack.as_ref(), bridge);
    }
    w.p
}

/// Returns the random program with this number.
#[must_use]
pub fn numbered(number: u64, limits: &Limits) -> Program {
    let draws: Vec<u32> = words(number).take(limits.choices).collect();
    program(&mut Draw::new(&draws), limits)
}

/// Writes a program, one draw after the other.
struct Writer<'w, 'd> {
    d: &'w mut Draw<'d>,
    limits: &'w Limits,
    p: Program,
    gress: Gress,
    names: usize,
}

impl Writer<'_, '_> {
    /// Returns a name that no other item has.
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Draws the declarations, parser, control and deparser of the current gress.
    fn pipe(&mut self, shapes: &[wire::Shape], stack: Option<&(wire::Shape, usize)>, bridge: bool) {
        let gress = self.gress;
        for n in 0..1 + self.d.below(self.limits.metadata) {
            let width = match self.limits.widths {
                Widths::Usual => self.d.of([16, 8, 32, 1, 32, 16, 9, 12, 48, 3]),
                Widths::Bytes => self.d.of(wire::BYTES),
                Widths::Any => self.any_width(),
            };
            let name = format!("m.{n}");
            self.p.add_field(gress, name, width, Home::Metadata);
        }
        if gress == Gress::Ingress && self.d.chance(1, 4) {
            for n in 0..1 + self.d.below(2) {
                let width = self.d.of([16, 8, 32, 9]);
                self.p.add_field(gress, format!("port.{n}"), width, Home::PortMetadata);
            }
        }
        let read = match gress {
            Gress::Ingress => [Intrinsic::IngressPort, Intrinsic::IngressMacTstamp, Intrinsic::GlobalTstamp],
            Gress::Egress => [Intrinsic::EgressPort, Intrinsic::DeqQdepth, Intrinsic::PktLength],
        };
        for which in read {
            if self.d.chance(1, 2) {
                self.p.add_intrinsic(gress, which);
            }
        }
        let wire = self.parser(shapes, stack, bridge);
        let mut scope = Scope::of(&wire);
        let mut control = Vec::new();
        if gress == Gress::Ingress {
            control.push(self.first_step(&mut scope, &wire));
            if self.d.chance(1, 8) {
                control.push(self.ghost());
            }
        }
        let requests = self.requests(&mut scope, &wire, &mut control);
        let statements = 1 + self.d.below(self.limits.statements);
        control.extend(self.block(&mut scope, self.limits.depth, statements));
        let deparser = self.deparser(&wire, requests);
        let pipe = &mut self.p.pipes[gress.index()];
        pipe.control = control;
        pipe.deparser = deparser;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ir::text;
    use sluice_ir::verify::{Severity, verify};

    #[test]
    fn every_drawn_program_is_legal_and_survives_its_text_form() {
        for widths in [Widths::Usual, Widths::Bytes, Widths::Any] {
            let limits = Limits { widths, ..Limits::default() };
            for n in 0..200 {
                let program = numbered(n, &limits);
                let mut diags = verify(&program);
                diags.retain(|d| d.severity == Severity::Error);
                assert!(diags.is_empty(), "{n}, {widths:?}: {diags:#?}");
                assert_eq!(text::parse(&text::print(&program)).as_ref(), Ok(&program), "{n}, {widths:?}");
            }
        }
    }
}
