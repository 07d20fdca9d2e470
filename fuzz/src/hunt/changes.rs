//! Writes the control-plane changes of an input as a file of changes.

use sluice_control::{ControlOp, DeviceOp, Then, show_key, show_value};
use sluice_ir::{ActionCall, MatchKind, Program, Table};
use std::fmt::Write;

/// Formats operations, each with its time in ns, as lines that [`sluice_control::lines::parse_changes`] reads.
#[must_use]
pub fn changes(program: &Program, ops: &[(u64, ControlOp)]) -> String {
    let mut out = String::new();
    for (at, op) in ops {
        if let Some(line) = line(program, op) {
            // Writing to a string does not fail.
            let _ = writeln!(out, "@{at}ns {line}");
        }
    }
    out
}

/// Formats one operation; `None` for a kind that inputs do not have.
fn line(program: &Program, op: &ControlOp) -> Option<String> {
    let name = |table: &Table| &program.tables[*table].name;
    Some(match op {
        ControlOp::InsertEntry { table, key, priority, then } => {
            let data = &program.tables[*table];
            let mut columns = String::new();
            for (value, k) in key.iter().zip(&data.keys) {
                let text = show_key(*value, k.width(program), &k.name(program));
                columns.push(' ');
                columns.extend(text.chars().filter(|c| *c != ' '));
            }
            let ordered = data.keys.iter().any(|k| matches!(k.kind, MatchKind::Ternary | MatchKind::Range));
            let priority = if ordered { format!(" {priority}") } else { String::new() };
            match then {
                Then::Call(call) => {
                    let (action, args) = call_text(program, call);
                    format!("table_add {} {action}{columns} =>{args}{priority}", data.name)
                }
                Then::Member(n) => format!("table_indirect_add {}{columns} => {n}{priority}", data.name),
                Then::Group(n) => {
                    format!("table_indirect_add_with_group {}{columns} => {n}{priority}", data.name)
                }
            }
        }
        ControlOp::ModifyEntry { table, entry, then: Then::Call(call) } => {
            let (action, args) = call_text(program, call);
            format!("table_modify {} {action} {entry}{args}", name(table))
        }
        ControlOp::DeleteEntry { table, entry } => format!("table_delete {} {entry}", name(table)),
        ControlOp::SetDefault { table, call } => {
            let (action, args) = call_text(program, call);
            format!("table_set_default {} {action}{args}", name(table))
        }
        ControlOp::SetGroup { profile, group, members } => {
            let slots = members.iter().map(|m| format!(" {}", m.member).repeat(m.weight as usize));
            let slots: String = slots.collect();
            format!("act_prof_set_group {} {group}{slots}", program.profiles[*profile].name)
        }
        ControlOp::WriteRegister { register, index: Some(index), value: Some(value) } => {
            let data = &program.registers[*register];
            // One half has one value.
            let high = if value.hi == 0 { String::new() } else { format!(" {}", value.hi) };
            format!("register_write {} {index} {}{high}", data.name, value.lo)
        }
        ControlOp::Device(DeviceOp::ShapePort { port, most: Some(most) }) => {
            format!("port_shaper {port} {}:{}", most.rate, most.burst)
        }
        ControlOp::Device(DeviceOp::ShapePort { port, most: None }) => format!("port_shaper {port} off"),
        ControlOp::Device(DeviceOp::PauseQueue { port, queue, paused }) => {
            format!("queue_{} {port} {queue}", if *paused { "pause" } else { "resume" })
        }
        ControlOp::Device(DeviceOp::SetPort { port, up }) => {
            format!("port_{} {port}", if *up { "up" } else { "down" })
        }
        _ => return None,
    })
}

/// Formats an action and its arguments, each after a space.
fn call_text<'p>(program: &'p Program, call: &ActionCall) -> (&'p str, String) {
    let action = &program.actions[call.action];
    let args = action.params.iter().zip(&call.args);
    (&action.name, args.map(|(p, v)| format!(" {}", show_value(*v, p.width, &p.name))).collect())
}
