//! The core: the checked tree with fewer forms, made by named passes from tree to tree.
//!
//! A pass has one job and one file. It changes the tree and the checker's tables together, so that the tree is a legal program after
//! each pass: [`print`](crate::syntax::print) shows it as P4, and every later step takes it. A new part has the span of what it
//! stands for, so that messages name the author's line. Instances are made from the tree after the last pass.

mod argument_copies;
mod arguments;
mod dead_variables;
mod extremes;
mod make;
mod out_headers;
mod shifts;
mod sums;
mod sunk_reads;
mod table_results;
mod tree;
mod uses;
mod walk;

use crate::check::Checked;
use crate::syntax::ast::Ast;
use tree::Tree;
pub(crate) use uses::Bodies;

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name, as `--dump` takes it.
    pub name: &'static str,
    /// The form that trees have after the pass, as `--help` says it.
    pub job: &'static str,
    run: fn(&mut Core<'_>),
}

/// All passes, in their order.
pub const PASSES: [Pass; 8] = [
    Pass {
        name: "table-results",
        job: "hit and miss of a table are asked by an `if` alone, which sets a variable for all other uses",
        run: table_results::run,
    },
    Pass {
        name: "argument-copies",
        job: "a callee reaches a place by one name: for slices, and for places given twice, variables are copied in and out",
        run: argument_copies::run,
    },
    Pass {
        name: "out-headers",
        job: "headers that a callee gets as `out` are made invalid before the call",
        run: out_headers::run,
    },
    Pass { name: "sums", job: "constants that are added one after another are one constant", run: sums::run },
    Pass {
        name: "shifts",
        job: "the low bits of a value that is shifted right by a constant are a slice",
        run: shifts::run,
    },
    Pass {
        name: "extremes",
        job: "the larger or smaller of two values is `max` or `min`, not a choice by a comparison",
        run: extremes::run,
    },
    Pass {
        name: "sunk-reads",
        job: "a register is read in the branch that alone needs the result, not before the `if`",
        run: sunk_reads::run,
    },
    Pass {
        name: "dead-variables",
        job: "a variable that nothing reads is not set, and a register is not read for it",
        run: dead_variables::run,
    },
];

/// Takes a checked program through all passes. `after` gets the tree after each.
pub fn simplify(ast: &mut Ast, checked: &mut Checked, after: &mut dyn FnMut(&Pass, &Ast)) {
    for pass in &PASSES {
        (pass.run)(&mut Core { ast, checked, made: 0 });
        after(pass, ast);
    }
}

/// The tree and what the checker knows of it.
struct Core<'a> {
    ast: &'a mut Ast,
    checked: &'a mut Checked,
    /// Number of names that the pass has made.
    made: usize,
}

impl Core<'_> {
    fn tree(&self) -> Tree<'_> {
        Tree { ast: self.ast, checked: self.checked }
    }
}
