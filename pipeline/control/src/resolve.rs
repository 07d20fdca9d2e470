//! Names to handles; an unknown name gets the nearest known name as help.

use super::{ControlError, ValueError, parse_match, parse_value};
use sluice_asic::alu::width_mask;
use sluice_asic::names::{Named, by_letters, by_suffix, nearest};
use sluice_asic::port::PortMap;
use sluice_ir::cfg::table_actions;
use sluice_ir::{
    Action, ActionCall, ActionData, Counter, FieldData, KeyValue, MatchKind, Meter, Profile, Program,
    Register, Table, TableData,
};
use std::borrow::Cow;

/// A mistake, before its line is known.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) text: String,
    pub(super) help: String,
}

impl Problem {
    pub(super) fn new(text: impl Into<String>) -> Problem {
        Problem { text: text.into(), help: String::new() }
    }

    /// Returns the error for a name that is not among the candidates.
    pub(super) fn unknown<'a>(
        what: &str,
        found: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        let list: Vec<&str> = candidates.into_iter().collect();
        let expected = if list.is_empty() { "there are none".to_owned() } else { list.join(", ") };
        let help = nearest(found, list).map_or(String::new(), |n| format!("did you mean `{n}`?"));
        Problem { text: format!("there is no {what} `{found}`; expected one of: {expected}"), help }
    }
}

/// Resolves names of a program's entities.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'a> {
    pub(super) program: &'a Program,
    /// Ports of the device, for the names of front-panel ports; `None` if they are not known.
    pub(super) ports: Option<&'a PortMap>,
    /// True if a name may begin within a part, `t1` for `Ingress.test1`, where no part fits.
    pub(super) loose: bool,
}

/// Returns the name of a key as programs have it. P4Info ends the key of a header's validity with `$valid$`, and P4 with `isValid()`.
fn as_key(name: &str) -> Cow<'_, str> {
    let header = ["$valid$", "isValid()"].into_iter().find_map(|end| name.strip_suffix(end));
    header.map_or(Cow::Borrowed(name), |header| Cow::Owned(format!("{header}$valid")))
}

impl<'a> Resolver<'a> {
    pub(super) fn table(self, name: &str) -> Result<(Table, &'a TableData), Problem> {
        let tables = self.program.tables.iter().map(|(t, data)| (t, data.name.as_str()));
        self.named("table", name, tables).map(|t| (t, &self.program.tables[t]))
    }

    pub(super) fn profile(self, name: &str) -> Result<Profile, Problem> {
        self.named(
            "action profile",
            name,
            self.program.profiles.iter().map(|(p, data)| (p, data.name.as_str())),
        )
    }

    /// Returns the position of a port metadata field, given its full name, or its last part if that is
    /// unique.
    pub(super) fn port_field(self, name: &str) -> Result<(usize, &'a FieldData), Problem> {
        let fields: Vec<&FieldData> = self.program.port_metadata().map(|(_, f)| f).collect();
        let full = fields.iter().position(|f| f.name == name);
        let mut short = (0..fields.len()).filter(|&i| fields[i].name.rsplit('.').next() == Some(name));
        let found = full.or_else(|| short.next().filter(|_| short.next().is_none()));
        let names = fields.iter().map(|f| f.name.as_str());
        found.map(|i| (i, fields[i])).ok_or_else(|| {
            let last_parts = names.clone().map(|n| n.rsplit('.').next().unwrap_or(n));
            let near = nearest(name, names.clone().chain(last_parts));
            let help = near.map_or(String::new(), |n| format!("did you mean `{n}`?"));
            Problem { help, ..Problem::unknown("port metadata field", name, names) }
        })
    }

    /// Parses the value of a port metadata field.
    pub(super) fn port_value(self, field: &FieldData, text: &str) -> Result<u128, Problem> {
        parse_value(&self.plain(text)?, field.width).map_err(|e| in_context("port metadata", &field.name, &e))
    }

    pub(super) fn counter(self, name: &str) -> Result<Counter, Problem> {
        self.named("counter", name, self.program.counters.iter().map(|(c, data)| (c, data.name.as_str())))
    }

    pub(super) fn register(self, name: &str) -> Result<Register, Problem> {
        self.named("register", name, self.program.registers.iter().map(|(r, data)| (r, data.name.as_str())))
    }

    /// Returns the position of a register's parameter.
    pub(super) fn register_param(self, register: Register, name: &str) -> Result<u8, Problem> {
        let params = &self.program.registers[register].params;
        let found = params.iter().position(|p| p.name == name).map(|at| at as u8);
        let names = params.iter().map(|p| p.name.as_str());
        found.ok_or_else(|| Problem::unknown("register parameter", name, names))
    }

    pub(super) fn meter(self, name: &str) -> Result<Meter, Problem> {
        self.named("meter", name, self.program.meters.iter().map(|(m, data)| (m, data.name.as_str())))
    }

    /// Returns the actions that members of a profile may run: those of the first table that uses the profile.
    pub(super) fn profile_actions(self, profile: Profile) -> Vec<Action> {
        let user = self.program.tables.values().find(|t| t.profile == Some(profile));
        user.map_or(Vec::new(), |t| t.actions.clone())
    }

    /// Returns the actions that may be the table's default.
    pub(super) fn default_actions(self, table: Table) -> Vec<Action> {
        table_actions(self.program, table)
    }

    /// Returns an action by name; `offered` are the actions to suggest.
    pub(super) fn action(self, name: &str, offered: &[Action]) -> Result<(Action, &'a ActionData), Problem> {
        let offered = offered.iter().map(|a| (*a, self.program.actions[*a].name.as_str()));
        // A full name of any action is known, so that a message on it can say that it is not offered here.
        let whole = self.program.action_named(name);
        let action = self.named("action", name, offered).or_else(|problem| whole.ok_or(problem))?;
        Ok((action, &self.program.actions[action]))
    }

    /// Returns the key column, given the field's name or a unique end of it.
    pub(super) fn column(self, data: &TableData, name: &str) -> Result<usize, Problem> {
        let all: Vec<String> = data.keys.iter().map(|k| k.name(self.program)).collect();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        match self.by_end(&as_key(name), &names) {
            Named::One(i) => Ok(i),
            Named::Several(fits) => Err(Problem {
                text: format!(
                    "key `{name}` of table `{}` could be {}",
                    data.name,
                    fits.iter().map(|&i| names[i]).collect::<Vec<_>>().join(" or ")
                ),
                help: "write the full name, quoted".to_owned(),
            }),
            Named::Nothing => {
                let last_parts = names.iter().map(|n| n.rsplit('.').next().unwrap_or(n));
                let near = nearest(name, names.iter().copied().chain(last_parts));
                let help = near.map_or(String::new(), |n| format!("did you mean `{n}`?"));
                Err(Problem {
                    help,
                    ..Problem::unknown(&format!("key of table `{}` named", data.name), name, names)
                })
            }
        }
    }

    /// Parses the value of a key column.
    pub(super) fn key_value(self, data: &TableData, column: usize, text: &str) -> Result<KeyValue, Problem> {
        let key = data.keys[column];
        parse_match(&self.plain(text)?, key.kind, key.width(self.program))
            .map_err(|e| in_context("key", &key.name(self.program), &e))
    }

    /// Returns the match of a column that the file leaves out; `None` if the column must be given.
    pub(super) fn absent_key(self, data: &TableData, column: usize) -> Option<KeyValue> {
        let width = data.keys[column].width(self.program);
        match data.keys[column].kind {
            MatchKind::Exact => None,
            MatchKind::Ternary => Some(KeyValue::Ternary { value: 0, mask: 0 }),
            MatchKind::Lpm => Some(KeyValue::Lpm { value: 0, len: 0 }),
            MatchKind::Range => Some(KeyValue::Range { lo: 0, hi: width_mask(width.into()) }),
        }
    }

    /// Parses the value of an argument.
    pub(super) fn arg(self, action: &ActionData, index: usize, text: &str) -> Result<u128, Problem> {
        let param = &action.params[index];
        parse_value(&self.plain(text)?, param.width).map_err(|e| in_context("argument", &param.name, &e))
    }

    /// Returns a call with positional arguments. Their number is checked when the call is applied.
    pub(super) fn call(self, name: &str, args: &[&str], offered: &[Action]) -> Result<ActionCall, Problem> {
        let (action, data) = self.action(name, offered)?;
        if args.len() != data.params.len() {
            return Err(arg_count(data, args.len()));
        }
        let args = args.iter().enumerate().map(|(i, text)| self.arg(data, i, text));
        Ok(ActionCall { action, args: args.collect::<Result<_, _>>()? })
    }

    /// Returns the part of a program that has a name, or whose name is the only one that ends with it.
    pub(super) fn named<'n, T>(
        self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = (T, &'n str)>,
    ) -> Result<T, Problem> {
        let (parts, names): (Vec<T>, Vec<&str>) = known.unzip();
        match self.by_end(name, &names) {
            Named::One(at) => parts.into_iter().nth(at).ok_or_else(|| Problem::unknown(what, name, names)),
            Named::Several(fits) => Err(Problem {
                text: format!(
                    "{what} `{name}` could be {}",
                    fits.iter().map(|&i| names[i]).collect::<Vec<_>>().join(" or ")
                ),
                help: "write more of the name".to_owned(),
            }),
            Named::Nothing => Err(Problem::unknown(what, name, names)),
        }
    }

    /// Finds the name that a text stands for.
    pub(super) fn by_end(self, text: &str, names: &[&str]) -> Named {
        match by_suffix(text, names.iter().copied()) {
            Named::Nothing if self.loose => by_letters(text, names.iter().copied()),
            found => found,
        }
    }
}

/// Returns the error for a wrong number of positional arguments.
pub(super) fn arg_count(data: &ActionData, found: usize) -> Problem {
    let params: Vec<&str> = data.params.iter().map(|p| p.name.as_str()).collect();
    let (expected, params) = (params.len(), params.join(", "));
    Problem::new(ControlError::ArgCount { action: data.name.clone(), found, expected, params }.to_string())
}

pub(super) fn in_context(what: &str, name: &str, error: &ValueError) -> Problem {
    Problem::new(format!("{what} `{name}`: {error}"))
}
