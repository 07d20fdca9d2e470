//! Random programs without the operations of the chip that P4 does not have.

use sluice_ir::{CellStmt, CellStmtKind, CounterCell, Loc, Program};
use sluice_p4::write::write;
use std::collections::HashSet;

/// Removes the parts of a program that P4 does not have. Programs with others cannot be written.
pub(super) fn plain(program: &mut Program) {
    number(program);
    program.counters.values_mut().for_each(|counter| counter.cell = CounterCell::default());
    program.meters.values_mut().for_each(|meter| meter.adjust = 0);
    // A part may be refused once another one is gone.
    for _ in 0..4 {
        let Err(left) = write(program) else { return };
        remove(program, &left.into_iter().map(|part| part.at.line).collect());
    }
}

/// Gives each part a line of its own, by which the writer names it.
fn number(program: &mut Program) {
    let mut line = 0;
    let mut next = |loc: &mut Loc| {
        line += 1;
        loc.line = line;
    };
    for action in program.actions.values_mut() {
        next(&mut action.loc);
        action.body.iter_mut().for_each(|primitive| next(&mut primitive.loc));
    }
    for action in program.register_actions.values_mut() {
        cells(&mut action.body, &mut next);
    }
    for state in program.states.values_mut() {
        state.ops.iter_mut().for_each(|op| next(&mut op.loc));
    }
    for pipe in &mut program.pipes {
        pipe.deparser.checksums.iter_mut().for_each(|update| next(&mut update.loc));
        pipe.deparser.requests.iter_mut().for_each(|request| next(&mut request.loc));
    }
}

fn cells(body: &mut [CellStmt], next: &mut dyn FnMut(&mut Loc)) {
    for stmt in body {
        next(&mut stmt.loc);
        if let CellStmtKind::If(_, then, otherwise) = &mut stmt.kind {
            cells(then, next);
            cells(otherwise, next);
        }
    }
}

fn remove(program: &mut Program, lines: &HashSet<u32>) {
    for action in program.actions.values_mut() {
        // An exchange is no single primitive.
        if lines.contains(&action.loc.line) {
            action.body.truncate(1);
        }
        action.body.retain(|primitive| !lines.contains(&primitive.loc.line));
    }
    for action in program.register_actions.values_mut() {
        remove_cells(&mut action.body, lines);
    }
    for state in program.states.values_mut() {
        state.ops.retain(|op| !lines.contains(&op.loc.line));
    }
    for pipe in &mut program.pipes {
        pipe.deparser.checksums.retain(|update| !lines.contains(&update.loc.line));
        pipe.deparser.requests.retain(|request| !lines.contains(&request.loc.line));
    }
}

fn remove_cells(body: &mut Vec<CellStmt>, lines: &HashSet<u32>) {
    body.retain(|stmt| !lines.contains(&stmt.loc.line));
    for stmt in body {
        if let CellStmtKind::If(_, then, otherwise) = &mut stmt.kind {
            remove_cells(then, lines);
            remove_cells(otherwise, lines);
        }
    }
}
