//! Different programs by role: `roles = { leaf = "conweave", spine = "ecmp" }`.
//!
//! A key is the name of a switch, a name with `*` for any letters at its end, or a role: `leaf` for switches with hosts, `spine`
//! for switches without hosts, `stage1`, `stage2` and so on. A name counts more than a name with `*`, and that more than a role.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The program of a role.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a program's name, or a table with `name` and `params`")]
pub enum RoleSetting {
    /// Name of the program, or a `.sluice` file.
    Name(String),
    /// A program with parameters.
    Program(RoleProgram),
}

/// A program of a role, with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleProgram {
    /// Name of the program, or a `.sluice` file.
    pub name: String,
    /// Parameters, with the keys and values of `--set`.
    #[serde(default)]
    pub params: BTreeMap<String, toml::Value>,
    /// Buffer profile of the role's switches, in place of the contest's.
    pub buffer: Option<String>,
}

impl RoleSetting {
    /// Returns the name of the program.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            RoleSetting::Name(name) | RoleSetting::Program(RoleProgram { name, .. }) => name,
        }
    }

    /// Sets the name of the program.
    pub(crate) fn set_name(&mut self, new: String) {
        match self {
            RoleSetting::Name(name) | RoleSetting::Program(RoleProgram { name, .. }) => *name = new,
        }
    }
}
