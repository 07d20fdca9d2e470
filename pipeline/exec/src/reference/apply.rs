//! Runs the control block, in program order.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use sluice_ir::cfg::Var;
use sluice_ir::{ActionCall, ApplyArms, Block, Key, Loc, StmtKind, Table};

impl<'a, T: Tracer> Run<'a, T> {
    /// Runs the statements of a block.
    pub(super) fn block(&mut self, block: &'a Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Apply(table, arms) => self.apply(*table, arms, stmt.loc),
                StmtKind::If(cond, then, otherwise) => {
                    if self.tracer.watches_reads() {
                        self.reads_of_cond(cond, stmt.loc);
                    }
                    let holds = Env { program: self.program, phv: self.phv, args: &[] }.holds(cond);
                    self.tell(&Event::Gateway { cond, holds, loc: stmt.loc });
                    self.block(if holds { then } else { otherwise });
                }
                StmtKind::Call(action) => {
                    let call = ActionCall { action: *action, args: Vec::new() };
                    self.tell(&Event::Called { action: *action, loc: stmt.loc });
                    self.act(&call, None);
                }
            }
        }
    }

    /// Returns the value of a key.
    fn column(&self, key: &Key) -> u128 {
        let found = match key.var() {
            Var::Field(field) => self.phv.field(field),
            Var::Valid(header) => self.phv.is_valid(header).into(),
        };
        key.value(self.program, found)
    }

    fn apply(&mut self, table: Table, arms: &'a ApplyArms, loc: Loc) {
        let key: Vec<u128> = self.program.tables[table].keys.iter().map(|k| self.column(k)).collect();
        let found = self.lookup(table, &key);
        self.tell(&Event::Applied {
            table,
            key: &key,
            entry: found.entry,
            group: found.group,
            member: found.member,
            call: found.call,
            loc,
        });
        self.state.looked_up(table, found.entry.map_or(0, |slot| slot + 1), 1);
        if let Some(age) = found.entry.and_then(|id| self.state.ages[table].get_mut(id as usize)) {
            *age = 0;
        }
        self.act(found.call, found.entry.map(|id| (table, id)));
        self.block(if found.entry.is_some() { &arms.hit } else { &arms.miss });
        for (_, block) in arms.run.iter().filter(|(action, _)| *action == found.call.action) {
            self.block(block);
        }
    }
}
