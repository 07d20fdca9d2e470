//! Calls of actions that do nothing, and branches without statements, after other passes have moved what they did.

use sluice_ir::{ApplyArms, Block, Program, Stmt, StmtKind};

/// Leaves them out.
pub(super) fn leave_out(program: &mut Program) {
    for gress in 0..program.pipes.len() {
        let mut block = std::mem::take(&mut program.pipes[gress].control);
        within(program, &mut block);
        program.pipes[gress].control = block;
    }
    let mut ghost = std::mem::take(&mut program.ghost);
    within(program, &mut ghost);
    program.ghost = ghost;
}

fn within(program: &Program, block: &mut Block) {
    block.retain_mut(|Stmt { kind, .. }| match kind {
        StmtKind::Call(action) => !program.actions[*action].body.is_empty(),
        StmtKind::If(_, then, otherwise) => {
            within(program, then);
            within(program, otherwise);
            !(then.is_empty() && otherwise.is_empty())
        }
        StmtKind::Apply(_, ApplyArms { run, hit, miss }) => {
            let run = run.iter_mut().map(|(_, block)| block);
            [hit, miss].into_iter().chain(run).for_each(|block| within(program, block));
            run_arms(kind);
            true
        }
    });
}

/// Leaves out the arms of actions that have no statements.
fn run_arms(kind: &mut StmtKind) {
    if let StmtKind::Apply(_, arms) = kind {
        arms.run.retain(|(_, block)| !block.is_empty());
    }
}
