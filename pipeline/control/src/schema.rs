//! Schema of a program: the tables, profiles and arrays that the control plane can configure.

use super::ControlState;
use serde::Serialize;
use sluice_asic::gress::Gress;
use sluice_ir::{Action, CounterHome, CounterKind, IdleMode, MatchKind, Program, Table};

/// Configurable objects of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Name of the program.
    pub program: String,
    /// Tables, in program order.
    pub tables: Vec<TableSchema>,
    /// Action profiles, in program order.
    pub profiles: Vec<ProfileSchema>,
    /// Counters, in program order.
    pub counters: Vec<CounterSchema>,
    /// Port metadata fields, in order.
    pub port_metadata: Vec<PortFieldSchema>,
    /// Value sets of the parsers, in program order.
    pub value_sets: Vec<ValueSetSchema>,
    /// Registers, in program order.
    pub registers: Vec<RegisterSchema>,
    /// Meters, filters and WRED arrays, in program order.
    pub meters: Vec<MeterSchema>,
}

/// A port metadata field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortFieldSchema {
    /// Full field name.
    pub name: String,
    /// Width in bits.
    pub width: u16,
    /// Meaning.
    pub doc: String,
}

/// A value set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueSetSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// The gress whose parser has it.
    pub gress: Gress,
    /// Fields of a member, each matched as a ternary key.
    pub fields: Vec<ParamSchema>,
    /// Largest number of members.
    pub size: u32,
    /// Members that can still be added.
    pub free: u32,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// The gress that applies it.
    pub gress: Gress,
    /// Key columns.
    pub keys: Vec<KeySchema>,
    /// Actions of its entries, or of the members of its profile.
    pub actions: Vec<ActionSchema>,
    /// Default action, which runs on a miss.
    pub default: String,
    /// Profile whose members or groups its entries name.
    pub profile: Option<String>,
    /// True if the program fixes its entries.
    pub constant: bool,
    /// `notify` or `poll` if its entries age, with the table's own time to live.
    pub idle: Option<String>,
    /// Largest number of entries.
    pub size: u32,
    /// Entries that can still be added; 0 if the table takes none at run time.
    pub free: u32,
}

/// A key column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeySchema {
    /// Full field name.
    pub name: String,
    /// `exact`, `ternary`, `lpm` or `range`.
    pub kind: &'static str,
    /// Width in bits.
    pub width: u16,
    /// Meaning of the field.
    pub doc: String,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// Parameters in order.
    pub params: Vec<ParamSchema>,
}

/// A parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamSchema {
    /// Name.
    pub name: String,
    /// Width in bits.
    pub width: u16,
}

/// An action profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// Tables that use it.
    pub tables: Vec<String>,
    /// Actions of its members.
    pub actions: Vec<ActionSchema>,
    /// Largest number of members.
    pub size: u32,
    /// Members that can still be added.
    pub free: u32,
    /// Largest number of groups; 0 without a selector.
    pub groups: u32,
    /// Largest number of slots (sum of weights) of a group.
    pub max_group_size: u32,
}

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// `packets`, `bytes` or `packets_and_bytes`.
    pub kind: &'static str,
    /// Table of a direct counter, which counts per entry.
    pub table: Option<String>,
    /// Number of cells.
    pub size: u32,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// Format of an element: `32`, or `32x2` for a pair.
    pub element: String,
    /// True if a value has a high half.
    pub pair: bool,
    /// Table of a direct register, which has an element per entry.
    pub table: Option<String>,
    /// Number of elements.
    pub size: u32,
    /// Run-time parameters of its actions.
    pub params: Vec<RegisterParamSchema>,
}

/// A parameter of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterParamSchema {
    /// Name.
    pub name: String,
    /// Initial value.
    pub init: u32,
    /// Largest value.
    pub most: u32,
}

/// A meter, filter or WRED.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeterSchema {
    /// Name.
    pub name: String,
    /// Meaning.
    pub doc: String,
    /// `packets`, `bytes`, `lpf` or `wred`.
    pub kind: &'static str,
    /// Table of a direct meter, which has a cell per entry.
    pub table: Option<String>,
    /// Number of cells.
    pub size: u32,
}

impl Schema {
    /// Returns the schema of a program in its initial state.
    #[must_use]
    pub fn of(program: &Program) -> Schema {
        Schema::with(program, &ControlState::new(program))
    }

    /// Returns the schema of a program with the free room of a state.
    #[must_use]
    pub fn with(program: &Program, control: &ControlState) -> Schema {
        Schema {
            program: program.name.clone(),
            tables: program.tables.keys().map(|t| table(program, control, t)).collect(),
            profiles: profiles(program, control),
            counters: counters(program),
            port_metadata: program
                .port_metadata()
                .map(|(_, f)| PortFieldSchema { name: f.name.clone(), width: f.width, doc: f.doc.clone() })
                .collect(),
            value_sets: value_sets(program, control),
            registers: registers(program),
            meters: meters(program),
        }
    }
}

fn table(program: &Program, control: &ControlState, table: Table) -> TableSchema {
    let data = &program.tables[table];
    let keys = data.keys.iter().map(|k| KeySchema {
        name: k.name(program),
        kind: kind_name(k.kind),
        width: k.width(program),
        doc: k.doc(program).to_owned(),
    });
    let takes_entries = data.entries.is_empty() && !data.keys.is_empty();
    let used = control.tables[table].entries().count() as u32;
    TableSchema {
        name: data.name.clone(),
        doc: data.doc.clone(),
        gress: data.gress,
        keys: keys.collect(),
        actions: data.actions.iter().map(|a| action(program, *a)).collect(),
        default: program.actions[control.tables[table].default.action].name.clone(),
        profile: data.profile.map(|p| program.profiles[p].name.clone()),
        constant: !data.entries.is_empty(),
        idle: data.idle.map(|idle| match idle.mode {
            IdleMode::Notify => format!("notify after {}", idle.ttl),
            IdleMode::Poll => format!("poll every {}", idle.interval),
        }),
        size: data.size,
        free: if takes_entries { data.size.saturating_sub(used) } else { 0 },
    }
}

fn action(program: &Program, action: Action) -> ActionSchema {
    let data = &program.actions[action];
    let params = data.params.iter().map(|p| ParamSchema { name: p.name.clone(), width: p.width });
    ActionSchema { name: data.name.clone(), doc: data.doc.clone(), params: params.collect() }
}

fn profiles(program: &Program, control: &ControlState) -> Vec<ProfileSchema> {
    let schema = program.profiles.iter().map(|(profile, data)| {
        let users = || program.tables.values().filter(|t| t.profile == Some(profile));
        let actions = users().next().map_or(&[][..], |t| &t.actions);
        ProfileSchema {
            name: data.name.clone(),
            doc: data.doc.clone(),
            tables: users().map(|t| t.name.clone()).collect(),
            actions: actions.iter().map(|a| action(program, *a)).collect(),
            size: data.size,
            free: data.size.saturating_sub(control.profiles[profile].members.len() as u32),
            groups: data.selector.as_ref().map_or(0, |s| s.groups),
            max_group_size: data.selector.as_ref().map_or(0, |s| s.max_group_size),
        }
    });
    schema.collect()
}

fn counters(program: &Program) -> Vec<CounterSchema> {
    let schema = program.counters.values().map(|data| {
        let (table, size) = home(program, data.home);
        let kind = match data.kind {
            CounterKind::Packets => "packets",
            CounterKind::Bytes => "bytes",
            CounterKind::PacketsAndBytes => "packets_and_bytes",
        };
        CounterSchema { name: data.name.clone(), doc: data.doc.clone(), kind, table, size }
    });
    schema.collect()
}

/// Returns the table of a direct array, and the number of cells.
fn home(program: &Program, home: CounterHome) -> (Option<String>, u32) {
    let table = match home {
        CounterHome::Direct(t) => Some(program.tables[t].name.clone()),
        CounterHome::Indirect(_) => None,
    };
    (table, program.cells(home))
}

fn value_sets(program: &Program, control: &ControlState) -> Vec<ValueSetSchema> {
    let schema = program.value_sets.iter().map(|(set, data)| {
        let fields = data.fields.iter().map(|f| ParamSchema { name: f.name.clone(), width: f.width });
        ValueSetSchema {
            name: data.name.clone(),
            doc: data.doc.clone(),
            gress: data.gress,
            fields: fields.collect(),
            size: data.size,
            free: data.size.saturating_sub(control.value_sets[set].len() as u32),
        }
    });
    schema.collect()
}

fn registers(program: &Program) -> Vec<RegisterSchema> {
    let schema = program.registers.values().map(|data| {
        let (table, size) = home(program, data.home);
        let (name, doc, element) = (data.name.clone(), data.doc.clone(), data.format.to_string());
        let params = data.params.iter().map(|p| RegisterParamSchema {
            name: p.name.clone(),
            init: p.init,
            most: data.most_param(),
        });
        let pair = data.format.is_pair();
        RegisterSchema { name, doc, element, pair, table, size, params: params.collect() }
    });
    schema.collect()
}

fn meters(program: &Program) -> Vec<MeterSchema> {
    let schema = program.meters.values().map(|data| {
        let (table, size) = home(program, data.home);
        MeterSchema { name: data.name.clone(), doc: data.doc.clone(), kind: data.kind.word(), table, size }
    });
    schema.collect()
}

/// Returns the name of a match kind in P4.
pub(super) fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Ternary => "ternary",
        MatchKind::Lpm => "lpm",
        MatchKind::Range => "range",
    }
}
