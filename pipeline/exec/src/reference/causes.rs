//! Finds out whether passes depend on a clock or on chance.

use super::trace::{Event, Tracer};
use sluice_ir::{Action, Field, Home, Index, Intrinsic, Key, Program, Table};

/// Tracer that notices passes whose results may differ the next time although packet, port, entries and state are the
/// same: they read a timestamp or a fact of a queue, used a random number, or accessed a meter or filter, which read
/// the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct VaryingInputs {
    found: bool,
}

impl VaryingInputs {
    /// Returns true if a pass since the last call had such an input.
    pub fn take(&mut self) -> bool {
        std::mem::take(&mut self.found)
    }

    fn field(&mut self, program: &Program, field: Field) {
        self.found |= match program.fields[field].home {
            Home::Intrinsic(which) => varies(which),
            Home::Header(_) | Home::Metadata | Home::PortMetadata => false,
        };
    }

    fn action(&mut self, program: &Program, action: Action) {
        for primitive in &program.actions[action].body {
            primitive.reads(program, &mut |field| self.field(program, field));
        }
    }

    /// A lookup reads the fields of the key, and perhaps the hash of a selector.
    fn lookup(&mut self, program: &Program, table: Table) {
        let data = &program.tables[table];
        data.keys.iter().filter_map(Key::field).for_each(|field| self.field(program, field));
        let selector = data.profile.and_then(|profile| program.profiles[profile].selector.as_ref());
        if let Some(selector) = selector {
            Index::Hash(selector.hash).fields(program, &mut |field| self.field(program, field));
        }
    }
}

/// Returns true for fields that the device fills with times, or with facts of queues.
fn varies(which: Intrinsic) -> bool {
    matches!(
        which,
        Intrinsic::IngressMacTstamp
            | Intrinsic::GlobalTstamp
            | Intrinsic::EnqTstamp
            | Intrinsic::DeqTimedelta
            | Intrinsic::EnqQdepth
            | Intrinsic::DeqQdepth
    )
}

impl Tracer for VaryingInputs {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        match event {
            Event::Asked { .. } | Event::Drew { .. } => self.found = true,
            Event::Called { action, .. } => self.action(program, *action),
            Event::Applied { table, call, .. } => {
                self.lookup(program, *table);
                self.action(program, call.action);
            }
            Event::Gateway { cond, .. } => {
                cond.reads(&mut |field| self.field(program, field), &mut |_| {});
            }
            Event::State { state, .. } => {
                let select = program.states[*state].select.iter();
                select.filter_map(|key| key.field()).for_each(|field| self.field(program, field));
            }
            _ => {}
        }
    }
}
