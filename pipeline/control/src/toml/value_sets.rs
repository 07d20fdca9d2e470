//! Members of value sets in TOML.

use super::{Rank, Reader, Value, start};
use crate::ControlOp;
use crate::resolve::Problem;

impl Reader<'_> {
    /// Reads `[[value_set.NAME]]`.
    pub(super) fn value_set(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.value_set(name);
        let Some(set) = self.ok(at, found) else { return };
        let fields = &self.resolver.program.value_sets[set].fields;
        for (at, body) in self.tables(value, &format!("value_set.{name}")) {
            self.only(body, &["key", "pipe"], "key of a value set");
            let before = self.problems.len();
            // A field that is left out matches everything.
            let mut member = vec![(0, 0); fields.len()];
            let Some(key) = body.get("key") else {
                let text = format!("this member of value set `{name}` has no `key`");
                self.fail::<()>(at, Problem::new(text));
                continue;
            };
            let Some(key) = self.table(key, "`key`") else { continue };
            for (field, value) in key {
                let position = self.resolver.set_field(set, field.get_ref());
                let Some(position) = self.ok(field.span().start, position) else { continue };
                let Some(text) = self.scalar(value, &format!("field `{}`", field.get_ref())) else {
                    continue;
                };
                let read = self.resolver.set_value(&fields[position], &text);
                if let Some(read) = self.ok(start(value), read) {
                    member[position] = read;
                }
            }
            let Some(pipe) = self.pipe(body) else { continue };
            if self.problems.len() == before {
                let op = ControlOp::InsertValue { set, value: member };
                self.ops.push((Rank::Entry, at, op.in_pipe(pipe)));
            }
        }
    }
}
