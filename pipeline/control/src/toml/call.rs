//! Actions with their arguments in TOML.

use super::{Rank, Reader, Value, start};
use crate::ControlOp;
use crate::resolve::{Problem, arg_count};
use ::toml::de::{DeTable, DeValue};
use sluice_ir::{Action, ActionCall, ActionData};

impl Reader<'_> {
    /// Reads `[default.NAME]`.
    pub(super) fn default_action(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.table(name);
        let Some((table, _)) = self.ok(at, found) else { return };
        let Some(body) = self.table(value, &format!("default.{name}")) else { return };
        self.only(body, &["action", "args"], "default key");
        if let Some(call) = self.call(at, body, &self.resolver.default_actions(table)) {
            self.ops.push((Rank::Default, at, ControlOp::SetDefault { table, call }));
        }
    }

    /// Reads `[[default_in_pipe.NAME]]`.
    pub(super) fn defaults_in_pipes(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.table(name);
        let Some((table, _)) = self.ok(at, found) else { return };
        for (at, body) in self.tables(value, &format!("default_in_pipe.{name}")) {
            self.only(body, &["pipe", "action", "args"], "default key");
            self.required(at, body, "pipe", "default");
            let call = self.call(at, body, &self.resolver.default_actions(table));
            if let (Some(pipe @ Some(_)), Some(call)) = (self.pipe(body), call) {
                self.ops.push((Rank::Default, at, ControlOp::SetDefault { table, call }.in_pipe(pipe)));
            }
        }
    }

    /// Reads `action` and `args` of an entry, member or default.
    pub(super) fn call(&mut self, at: usize, body: &DeTable<'_>, offered: &[Action]) -> Option<ActionCall> {
        let Some(value) = body.get("action") else {
            return self.fail(at, Problem::new("there is no `action` here"));
        };
        let name = self.text(value, "`action`")?;
        let found = self.resolver.action(name, offered);
        let (action, data) = self.ok(start(value), found)?;
        let args = match body.get("args").map(|a| (a, a.get_ref())) {
            None if data.params.is_empty() => Vec::new(),
            None => return self.fail(start(value), arg_count(data, 0)),
            Some((value, DeValue::Array(list))) if list.len() != data.params.len() => {
                return self.fail(start(value), arg_count(data, list.len()));
            }
            Some((_, DeValue::Array(list))) => {
                let args: Vec<Option<u128>> =
                    list.iter().enumerate().map(|(i, v)| self.arg(data, i, v)).collect();
                args.into_iter().collect::<Option<Vec<u128>>>()?
            }
            Some((value, DeValue::Table(named))) => self.named_args(start(value), data, named)?,
            Some((value, _)) => {
                return self.expected(value, "`args`", "a table by name or an array by position");
            }
        };
        Some(ActionCall { action, args })
    }

    fn named_args(&mut self, at: usize, data: &ActionData, named: &DeTable<'_>) -> Option<Vec<u128>> {
        let names: Vec<&str> = data.params.iter().map(|p| p.name.as_str()).collect();
        self.only(named, &names, &format!("argument of action `{}` named", data.name));
        let args: Vec<Option<u128>> = names
            .iter()
            .enumerate()
            .map(|(i, name)| match named.get(*name) {
                Some(value) => self.arg(data, i, value),
                None => self.fail(
                    at,
                    Problem::new(format!("argument `{name}` of action `{}` is missing", data.name)),
                ),
            })
            .collect();
        args.into_iter().collect()
    }

    fn arg(&mut self, data: &ActionData, index: usize, value: &Value<'_>) -> Option<u128> {
        let text = self.scalar(value, &format!("argument `{}`", data.params[index].name))?;
        let given = self.resolver.arg(data, index, &text);
        self.ok(start(value), given)
    }
}
