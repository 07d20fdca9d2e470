//! Template of an entries file: every table, profile and action with its documentation and an example, all
//! commented out.

mod examples;

use super::entries::{bare_or_string, quoted, string};
use super::{
    ActionSchema, ControlState, KeySchema, MeterSchema, ParamSchema, ProfileSchema, RegisterSchema, Schema,
    TableSchema, ValueSetSchema, show_value,
};
use examples::{CallExample, Examples};
use sluice_asic::alu::width_mask;
use sluice_asic::port::PortMap;
use sluice_ir::Program;
use std::fmt::Write;

/// Returns a valid TOML file. Lines that start with `##` explain. The other lines, without their `# `, are an
/// example that the program accepts unchanged.
#[must_use]
pub fn print(schema: &Schema) -> String {
    write(schema, &Examples::default())
}

/// Like [`print()`], with examples from `control`, a state that the program is known to run with, on a device with these ports.
#[must_use]
pub fn print_on(program: &Program, ports: &PortMap, control: &ControlState) -> String {
    write(&Schema::of(program), &Examples::of(program, ports, control))
}

fn write(schema: &Schema, examples: &Examples<'_>) -> String {
    let mut out = format!(
        "## Entries of the program {}. Remove the `# ` in front of the lines that you need.\n",
        schema.program
    );
    out.push_str("## Values: 17, \"0x11\", \"10.0.0.1\", \"2001:db8::1\", \"02:00:00:00:00:01\";\n");
    out.push_str("## Ports: \"port 8\" is front-panel port 8, \"dev_port 136\" or 136 the number that programs see. `sluice explain ports` lists them.\n");
    out.push_str("## `pipe = 1` in an entry, member, group, register or meter: in that pipe alone. Defaults: [[default_in_pipe.TABLE]].\n");
    out.push_str("## lpm keys \"10.0.0.0/8\"; ternary keys \"0x50 &&& 0xf0\"; \"*\" matches everything.\n");
    schema.profiles.iter().for_each(|p| profile(p, examples, &mut out));
    schema.tables.iter().for_each(|t| table(schema, t, examples, &mut out));
    schema.value_sets.iter().for_each(|s| value_set(s, examples, &mut out));
    if !schema.port_metadata.is_empty() {
        out.push_str("\n## Port metadata: values that the parser of a port's packets reads; 0 if not set\n");
        for f in &schema.port_metadata {
            _ = writeln!(out, "##   {}: {} bits{}", f.name, f.width, doc(&f.doc));
        }
        let values = schema.port_metadata.iter();
        let values = values
            .map(|f| format!("{} = {}", quoted(&f.name), bare_or_string(&examples.value(&f.name, f.width))));
        let values: Vec<String> = values.collect();
        _ = writeln!(
            out,
            "# [[port_metadata]]\n# port = \"dev_port 8\"\n# values = {{ {} }}",
            values.join(", ")
        );
    }
    if !schema.counters.is_empty() {
        out.push_str("\n## Counters (read and cleared at run time, nothing to configure)\n");
        for c in &schema.counters {
            let of = c.table.as_ref().map_or(String::new(), |t| format!(" of table {t}"));
            _ = writeln!(
                out,
                "##   {}: {}, {} cells{of}{}",
                c.name,
                c.kind.replace('_', " "),
                c.size,
                doc(&c.doc)
            );
        }
    }
    schema.registers.iter().for_each(|r| register(r, &mut out));
    schema.meters.iter().for_each(|m| meter(m, &mut out));
    out.push_str(DEVICE);
    out
}

/// Device settings, which do not depend on the program.
const DEVICE: &str = r#"
## The packet generator of a pipe: the bytes that its packets are made of, and an application. Triggers:
## one_shot and periodic (time), port_down (ports = "0,8-15"), recirculation and request (match =
## "0x12&&&0xf0"), pfc (header). Needs time: not with --functional.
# [[pktgen_buffer]]
# pipe = 0
# offset = 0
# bytes = "0x020000000001020000000002ffff"
# [[pktgen]]
# pipe = 0
# app = 0
# trigger = "periodic"
# time = "10us"
# length = 64
# source_port = 6  # 68 on Tofino
# enabled = true

## A port that is down, a port whose PFC is the program's and not the MAC's, a queue that is paused, a queue that
## obeys the flow-control words of packets (Tofino 2); the most that they send and the least that they get (rate:burst),
## strict priority, DWRR weight.
# [[port]]
# port = "dev_port 8"
# up = false
# pfc = "program"
# max = "100Gbps:9216B"
# [[queue]]
# port = "dev_port 16"
# queue = 3
# paused = true
# flow_control = "xoff"
# max = "10Gbps:9216B"
# min = "1Gbps:9216B"
# min_priority = 7
# priority = 5
# weight = 10

## Where packets go that would be dropped at ports of a pipe and set deflect_on_drop.
# [[deflection]]
# pipe = 0
# port = "dev_port 24"
# queue = 0
"#;

fn value_set(s: &ValueSetSchema, examples: &Examples<'_>, out: &mut String) {
    _ = writeln!(
        out,
        "\n## Value set {} of the {} parser: {} members{}",
        s.name,
        s.gress,
        s.size,
        doc(&s.doc)
    );
    for f in &s.fields {
        _ = writeln!(out, "##   field {}: ternary, {} bits", f.name, f.width);
    }
    let value = |f: &ParamSchema| {
        format!("{} = {}", quoted(&f.name), bare_or_string(&examples.value(&f.name, f.width)))
    };
    let values: Vec<String> = s.fields.iter().map(value).collect();
    _ = writeln!(out, "# [[value_set.{}]]\n# key = {{ {} }}", quoted(&s.name), values.join(", "));
}

fn register(r: &RegisterSchema, out: &mut String) {
    let of = r.table.as_ref().map_or(String::new(), |t| format!(" of table {t}"));
    _ = writeln!(
        out,
        "\n## Register {}: {} elements of {} bits{of}{}",
        r.name,
        r.size,
        r.element,
        doc(&r.doc)
    );
    let high = if r.pair { "\n# high = 0" } else { "" };
    _ = writeln!(
        out,
        "# [[register.{}]]\n# index = 0  # left out: all elements\n# value = 0{high}",
        quoted(&r.name)
    );
    for p in &r.params {
        _ = writeln!(out, "## Parameter {}: at most {}, at first {}", p.name, p.most, p.init);
        let (register, param) = (quoted(&r.name), string(&p.name));
        _ = writeln!(out, "# [[register.{register}]]\n# param = {param}\n# value = {}", p.init);
    }
}

fn meter(m: &MeterSchema, out: &mut String) {
    let of = m.table.as_ref().map_or(String::new(), |t| format!(" of table {t}"));
    _ = writeln!(out, "\n## Meter {} ({}): {} cells{of}{}", m.name, m.kind, m.size, doc(&m.doc));
    _ = writeln!(out, "# [[meter.{}]]\n# index = 0  # left out: all cells", quoted(&m.name));
    out.push_str(match m.kind {
        "packets" => {
            "# committed = \"1000:10\"  # packets per second, burst in packets\n# peak = \"2000:20\"\n"
        }
        "bytes" => "# committed = \"8Mbps:15000\"  # rate, burst in bytes\n# peak = \"16Mbps:30000\"\n",
        "lpf" => "# mode = \"sample\"  # or rate\n# rise = \"10us\"\n# fall = \"10us\"\n# shift = 0\n",
        _ => "# min = 100\n# max = 1000\n# percent = 50\n# average = \"10us\"\n",
    });
}

fn profile(p: &ProfileSchema, examples: &Examples<'_>, out: &mut String) {
    _ = writeln!(
        out,
        "\n## Action profile {}: {} members, {} groups{}",
        p.name,
        p.size,
        p.groups,
        doc(&p.doc)
    );
    actions(&p.actions, out);
    let Some(action) = p.actions.first() else { return };
    let example = examples.profile(&p.name);
    let (member, group) = (example.map_or(1, |e| e.member), example.and_then(|e| e.group).unwrap_or(1));
    _ = writeln!(out, "# [[profile.{}.member]]\n# id = {member}", quoted(&p.name));
    call(p.actions.as_slice(), action, example.map(|e| &e.call), examples, out);
    if p.groups > 0 {
        _ = writeln!(out, "#\n## Weights of a group add up to at most {}.", p.max_group_size);
        _ = writeln!(
            out,
            "# [[profile.{}.group]]\n# id = {group}\n# members = [{{ member = {member}, weight = 1 }}]",
            quoted(&p.name)
        );
    }
}

fn table(schema: &Schema, t: &TableSchema, examples: &Examples<'_>, out: &mut String) {
    _ = writeln!(out, "\n## Table {} ({}): {} entries{}", t.name, t.gress, t.size, doc(&t.doc));
    for key in &t.keys {
        _ = writeln!(out, "##   key {}: {}, {} bits{}", key.name, key.kind, key.width, doc(&key.doc));
    }
    if let Some(idle) = &t.idle {
        _ = writeln!(out, "##   Entries age: {idle} without a hit.");
    }
    actions(&t.actions, out);
    if t.constant {
        out.push_str("##   The program fixes the entries of this table.\n");
    } else if !t.keys.is_empty() && !t.actions.is_empty() {
        example(schema, t, examples, out);
    }
    _ = writeln!(
        out,
        "##   On a miss: {}. To change it: [default.{}] with action and args.",
        t.default,
        quoted(&t.name)
    );
}

fn example(schema: &Schema, t: &TableSchema, examples: &Examples<'_>, out: &mut String) {
    let chosen = examples.entry(&t.name);
    let value = |(n, k): (usize, &KeySchema)| {
        let text = chosen.map_or_else(|| key_example(k, examples), |chosen| chosen.key[n].clone());
        format!("{} = {}", quoted(&k.name), bare_or_string(&text))
    };
    let keys: Vec<String> = t.keys.iter().enumerate().map(value).collect();
    let comment = chosen.map_or("", |chosen| &chosen.key_comment);
    _ = writeln!(out, "# [[table.{}]]\n# key = {{ {} }}{comment}", quoted(&t.name), keys.join(", "));
    match &t.profile {
        Some(name) => {
            let grouped = schema.profiles.iter().any(|p| p.name == *name && p.groups > 0);
            let profile = examples.profile(name);
            let member = profile.map_or(1, |e| e.member);
            let group = profile.and_then(|e| e.group);
            match group.filter(|_| grouped) {
                Some(group) => _ = writeln!(out, "# group = {group}  # of {name}; or member = {member}"),
                None => {
                    let or_group = if grouped { "; or group = 1" } else { "" };
                    _ = writeln!(out, "# member = {member}  # of {name}{or_group}");
                }
            }
        }
        None => call(&t.actions, &t.actions[0], chosen.and_then(|c| c.call.as_ref()), examples, out),
    }
    if t.keys.iter().any(|k| matches!(k.kind, "ternary" | "range")) {
        let priority = chosen.map_or(10, |chosen| chosen.priority);
        _ = writeln!(out, "# priority = {priority}  # lower wins");
    }
    if t.idle.as_ref().is_some_and(|i| i.starts_with("notify")) {
        out.push_str("# ttl = \"50ms\"  # time to live of this entry\n");
    }
}

fn actions(list: &[ActionSchema], out: &mut String) {
    for a in list {
        let params: Vec<String> = a.params.iter().map(|p| format!("{}: {} bits", p.name, p.width)).collect();
        _ = writeln!(out, "##   action {}({}){}", a.name, params.join(", "), doc(&a.doc));
    }
}

/// Writes the chosen call, else the first action with values that fit.
fn call(
    actions: &[ActionSchema],
    first: &ActionSchema,
    chosen: Option<&CallExample>,
    examples: &Examples<'_>,
    out: &mut String,
) {
    let action = chosen.and_then(|c| actions.iter().find(|a| a.name == c.action)).unwrap_or(first);
    let chosen = chosen.filter(|c| c.action == action.name);
    _ = writeln!(out, "# action = {}", string(&action.name));
    if action.params.is_empty() {
        return;
    }
    let arg = |(n, p): (usize, &crate::ParamSchema)| {
        let text = chosen.map_or_else(|| examples.value(&p.name, p.width), |c| c.args[n].clone());
        format!("{} = {}", quoted(&p.name), bare_or_string(&text))
    };
    let args: Vec<String> = action.params.iter().enumerate().map(arg).collect();
    _ = writeln!(out, "# args = {{ {} }}{}", args.join(", "), chosen.map_or("", |c| &c.comment));
}

fn key_example(key: &KeySchema, examples: &Examples<'_>) -> String {
    let value = examples.value(&key.name, key.width);
    match key.kind {
        "lpm" => format!("{value}/{}", key.width),
        "range" => format!("{value}..{}", show_value(width_mask(key.width.into()), key.width, &key.name)),
        _ => value,
    }
}

/// Returns `, doc` on one line, or nothing.
fn doc(text: &str) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    if flat.is_empty() { String::new() } else { format!(" - {}", flat.join(" ")) }
}
