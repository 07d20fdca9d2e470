//! Template of an entries file: every table, profile and action with its documentation and an example, all
//! commented out.

use super::entries::{bare_or_string, quoted, string};
use super::{
    ActionSchema, KeySchema, MeterSchema, ProfileSchema, RegisterSchema, Schema, TableSchema, show_value,
};
use sluice_asic::alu::width_mask;
use std::fmt::Write;

/// Returns a valid TOML file. Lines that start with `##` explain. The other lines, without their `# `, are an
/// example that the program accepts unchanged.
#[must_use]
pub fn print(schema: &Schema) -> String {
    let mut out = format!(
        "## Entries of the program {}. Remove the `# ` in front of the lines that you need.\n",
        schema.program
    );
    out.push_str("## Values: 17, \"0x11\", \"10.0.0.1\", \"2001:db8::1\", \"02:00:00:00:00:01\";\n");
    out.push_str("## `pipe = 1` in an entry, member, group, register or meter: in that pipe alone. Defaults: [[default_in_pipe.TABLE]].\n");
    out.push_str("## lpm keys \"10.0.0.0/8\"; ternary keys \"0x50 &&& 0xf0\"; \"*\" matches everything.\n");
    schema.profiles.iter().for_each(|p| profile(p, &mut out));
    schema.tables.iter().for_each(|t| table(schema, t, &mut out));
    if !schema.port_metadata.is_empty() {
        out.push_str("\n## Port metadata: values that the parser of a port's packets reads; 0 if not set\n");
        for f in &schema.port_metadata {
            _ = writeln!(out, "##   {}: {} bits{}", f.name, f.width, doc(&f.doc));
        }
        let values = schema.port_metadata.iter();
        let values = values
            .map(|f| format!("{} = {}", quoted(&f.name), bare_or_string(&value_example(&f.name, f.width))));
        let values: Vec<String> = values.collect();
        _ = writeln!(out, "# [[port_metadata]]\n# port = 8\n# values = {{ {} }}", values.join(", "));
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
# port = 8
# up = false
# pfc = "program"
# max = "100Gbps:9216B"
# [[queue]]
# port = 16
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
# port = 24
# queue = 0
"#;

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

fn profile(p: &ProfileSchema, out: &mut String) {
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
    _ = writeln!(out, "# [[profile.{}.member]]\n# id = 1", quoted(&p.name));
    call(action, out);
    if p.groups > 0 {
        _ = writeln!(out, "#\n## Weights of a group add up to at most {}.", p.max_group_size);
        _ = writeln!(
            out,
            "# [[profile.{}.group]]\n# id = 1\n# members = [{{ member = 1, weight = 1 }}]",
            quoted(&p.name)
        );
    }
}

fn table(schema: &Schema, t: &TableSchema, out: &mut String) {
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
        example(schema, t, out);
    }
    _ = writeln!(
        out,
        "##   On a miss: {}. To change it: [default.{}] with action and args.",
        t.default,
        quoted(&t.name)
    );
}

fn example(schema: &Schema, t: &TableSchema, out: &mut String) {
    let keys: Vec<String> =
        t.keys.iter().map(|k| format!("{} = {}", quoted(&k.name), bare_or_string(&key_example(k)))).collect();
    _ = writeln!(out, "# [[table.{}]]\n# key = {{ {} }}", quoted(&t.name), keys.join(", "));
    match &t.profile {
        Some(name) => {
            let grouped = schema.profiles.iter().any(|p| p.name == *name && p.groups > 0);
            let or_group = if grouped { "; or group = 1" } else { "" };
            _ = writeln!(out, "# member = 1  # of {name}{or_group}");
        }
        None => call(&t.actions[0], out),
    }
    if t.keys.iter().any(|k| matches!(k.kind, "ternary" | "range")) {
        out.push_str("# priority = 10  # lower wins\n");
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

fn call(action: &ActionSchema, out: &mut String) {
    _ = writeln!(out, "# action = {}", string(&action.name));
    if !action.params.is_empty() {
        let args = action.params.iter();
        let args = args
            .map(|p| format!("{} = {}", quoted(&p.name), bare_or_string(&value_example(&p.name, p.width))));
        _ = writeln!(out, "# args = {{ {} }}", args.collect::<Vec<_>>().join(", "));
    }
}

fn key_example(key: &KeySchema) -> String {
    let value = value_example(&key.name, key.width);
    match key.kind {
        "lpm" => format!("{value}/{}", key.width),
        "range" => format!("{value}..{}", show_value(width_mask(key.width.into()), key.width, &key.name)),
        _ => value,
    }
}

/// Returns a value that fits and looks like the field's content.
fn value_example(name: &str, width: u16) -> String {
    let value = match width {
        32 => 0x0a00_0001,
        48 => 0x0200_0000_0001,
        128 => 0x2001_0db8 << 96 | 1,
        _ => 1,
    };
    show_value(value, width, name)
}

/// Returns `, doc` on one line, or nothing.
fn doc(text: &str) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    if flat.is_empty() { String::new() } else { format!(" - {}", flat.join(" ")) }
}
