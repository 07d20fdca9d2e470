//! Bits of an entry in addition to its key: next table, action, immediate data and pointers.

use super::super::super::bits::bits_for;
use super::{Context, Demand};
use sluice_ir::cfg::{Node, Outcome};
use sluice_ir::{Action, Counter, Expr, Meter, PrimitiveKind, Register, Table};
use std::collections::BTreeMap;

impl Context<'_> {
    /// Returns the bits for next table, action, immediate data and pointers of an entry (model: chip §3.1).
    pub(super) fn overhead(&self, table: Table, demand: &Demand) -> u32 {
        let data = &self.program.tables[table];
        let actions = data.actions.len() as u32;
        let code = |count: u32, wide: u32| {
            if count <= self.chip.mau.successor_map_entries { bits_for(count) } else { wide }
        };
        let mut bits =
            code(self.successors(demand.owner.node, data.actions.len()), self.chip.mau.next_table_bits);
        bits += code(actions, 6);
        match &demand.profile {
            Some(p) => {
                bits += bits_for(p.members);
                // A group's entry also holds modulus (5 b) and shift (3 b) of its word choice.
                bits += p
                    .selector
                    .as_ref()
                    .map_or(0, |s| bits_for(s.words).saturating_sub(bits_for(p.members)) + 8);
            }
            None if demand.data_bytes == 0 => bits += demand.data_bits,
            None => {}
        }
        bits + self.counter_pointers(data.actions.as_slice())
    }

    /// Returns the number of distinct next tables after a hit.
    fn successors(&self, node: Node, actions: usize) -> u32 {
        let ran = self.cfg.decided_by(node).filter(|(_, o)| matches!(o, Outcome::Ran(_))).count();
        (ran + usize::from(ran < actions)) as u32
    }

    /// Returns the bits for indices of counters, registers and meters that the entry holds, and one enable bit for
    /// each array that not every action uses.
    fn counter_pointers(&self, actions: &[Action]) -> u32 {
        let mut pointers: BTreeMap<Pointed, (u32, usize)> = BTreeMap::new();
        for &action in actions {
            for primitive in &self.program.actions[action].body {
                let (array, index) = match &primitive.kind {
                    PrimitiveKind::Count(c, index) => (Pointed::Counter(*c), Some(index)),
                    PrimitiveKind::CountDirect(c) => (Pointed::Counter(*c), None),
                    PrimitiveKind::Register(access) => {
                        let register = self.program.register_actions[access.action].register;
                        (Pointed::Register(register), access.index.expr())
                    }
                    PrimitiveKind::Meter(access) => (Pointed::Meter(access.meter), access.index.expr()),
                    _ => continue,
                };
                let bits = match index {
                    Some(Expr::Param(_, width)) => u32::from(*width),
                    _ => 0,
                };
                let slot = pointers.entry(array).or_insert((0, 0));
                *slot = (slot.0.max(bits), slot.1 + 1);
            }
        }
        pointers.values().map(|(bits, users)| bits + u32::from(*users < actions.len())).sum()
    }
}

/// Array to which an entry may point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pointed {
    Counter(Counter),
    Register(Register),
    Meter(Meter),
}
