//! Rules of parser graphs. What may not live here: limits of a chip's parser.

use super::Diag;
use crate::ir::{Expr, Header, Next, ParserOpKind, ParserState, Program, StateData};
use std::collections::BTreeSet;

/// Checks both parsers.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut diags = Vec::new();
    for data in program.states.values() {
        state(program, data, &mut diags);
    }
    let mut reported = BTreeSet::new();
    for pipe in &program.pipes {
        let mut path = Path { program, states: Vec::new(), extracted: Vec::new(), budget: 100_000 };
        path.walk(pipe.start, &mut diags, &mut reported);
    }
    diags
}

fn state(program: &Program, data: &StateData, diags: &mut Vec<Diag>) {
    for arm in &data.arms {
        if arm.values.len() != data.select.len() {
            let text = format!(
                "state `{}` selects on {} fields and has an arm with {} values",
                data.name,
                data.select.len(),
                arm.values.len()
            );
            diags.push(Diag::error(data.loc, text).help("give every arm one value per field"));
        }
        for ((value, mask), &f) in arm.values.iter().zip(&data.select) {
            let field = &program.fields[f];
            if (value | mask) & !sluice_asic::alu::width_mask(u32::from(field.width)) != 0 {
                let text = format!(
                    "state `{}` compares `{}` of {} bits with {value:#x} under {mask:#x}",
                    data.name, field.name, field.width
                );
                diags.push(Diag::error(data.loc, text).help("no packet can match: use a value that fits"));
            }
        }
    }
    for op in &data.ops {
        match &op.kind {
            ParserOpKind::Extract(_) => {}
            ParserOpKind::Set(dst, value) => {
                let (to, from) = (program.fields[*dst].width, value.width(program));
                if to != from || !matches!(value, Expr::Const(..) | Expr::Field(_)) {
                    let text = format!(
                        "state `{}` sets `{}` of {to} bits from a value of {from} bits",
                        data.name, program.fields[*dst].name
                    );
                    let help = "a parser copies a constant or a field of the same width";
                    diags.push(Diag::error(op.loc, text).help(help));
                }
            }
            ParserOpKind::VerifyChecksum(dst, _) => {
                let field = &program.fields[*dst];
                if field.width != 1 {
                    let text = format!(
                        "a checksum verification writes one bit; `{}` has {}",
                        field.name, field.width
                    );
                    diags.push(Diag::error(op.loc, text).help("use a field of 1 bit"));
                }
            }
        }
    }
}

/// A path through the graph, with a budget against graphs that explode.
struct Path<'a> {
    program: &'a Program,
    states: Vec<ParserState>,
    extracted: Vec<Header>,
    budget: u32,
}

impl Path<'_> {
    fn walk(&mut self, next: Next, diags: &mut Vec<Diag>, reported: &mut BTreeSet<(u8, usize)>) {
        let Next::State(s) = next else { return };
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 {
            return;
        }
        let data = &self.program.states[s];
        let index = crate::entity::Entity::index;
        if self.states.contains(&s) {
            if reported.insert((0, index(s))) {
                let text = format!("the parser comes back to state `{}`", data.name);
                diags.push(Diag::error(data.loc, text).help("unroll the loop into states of its own"));
            }
            return;
        }
        self.states.push(s);
        let before = self.extracted.len();
        for op in &data.ops {
            if let ParserOpKind::Extract(h) = op.kind {
                if self.extracted.contains(&h) && reported.insert((1, crate::entity::Entity::index(h))) {
                    let text =
                        format!("header `{}` is extracted twice on one path", self.program.headers[h].name);
                    diags.push(Diag::error(op.loc, text).help("declare a second instance of the header"));
                }
                self.extracted.push(h);
            }
        }
        for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
            self.walk(next, diags, reported);
        }
        self.extracted.truncate(before);
        self.states.pop();
    }
}
