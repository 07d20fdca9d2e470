//! Writes the trace as text, in the style of a software switch's log.

use super::trace::{Event, Tracer};
use crate::pass::{PassOut, Verdict};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::salu::State as Element;
use sluice_control::show_value;
use sluice_ir::{ActionCall, Field, Intrinsic, Key, Loc, MeterKind, Next, Program, SelectKey, words};
use std::fmt::Write;

/// Tracer that writes one line per step, with names and, if known, the program's source line.
#[derive(Clone, Debug, Default)]
pub struct TextTracer {
    /// Lines so far; callers may take or clear them at any time.
    pub text: String,
    gress: Option<Gress>,
}

impl Tracer for TextTracer {
    fn watches_reads(&self) -> bool {
        true
    }

    fn event(&mut self, program: &Program, event: &Event<'_>) {
        let (line, loc) = match *event {
            Event::PassStart { gress, port, bytes, .. } => {
                self.gress = Some(gress);
                (format!("{gress}: processing packet of {bytes} B, port {port}"), Loc::default())
            }
            Event::GhostStart { update: u } => {
                let text = format!("ghost: queue {:#x} of pipe {} holds {} cells", u.qid, u.pipe, u.qlength);
                (text, Loc::default())
            }
            Event::PassEnd { output, .. } => (self.end(program, output), Loc::default()),
            _ => step(program, event),
        };
        let indent =
            if matches!(event, Event::PassStart { .. } | Event::PassEnd { .. } | Event::GhostStart { .. }) {
                ""
            } else {
                "  "
            };
        self.text.push_str(indent);
        self.text.push_str(&line);
        if !loc.is_unknown() {
            let _ = write!(self.text, "  [{}:{}]", loc.file, loc.line);
        }
        self.text.push('\n');
    }
}

impl TextTracer {
    fn end(&self, program: &Program, output: PassOut) -> String {
        let gress = self.gress.unwrap_or(Gress::Ingress);
        let fate = match output.verdict {
            Verdict::Forward if gress == Gress::Ingress => {
                format!("forward to port {} queue {}", output.port, output.qid)
            }
            Verdict::Forward => "forward".to_owned(),
            Verdict::Resubmit => "resubmit".to_owned(),
            Verdict::Label(label) => format!("drop: {}", program.labels[label].name),
            Verdict::ParserError(bits) => format!("drop: parser error {bits:#06x}"),
            Verdict::NoPort => format!("drop: no egress port was set ({:#x})", Intrinsic::NO_PORT),
            Verdict::NoRoom => "drop: the headers to emit do not fit in the packet's slot".to_owned(),
        };
        format!("{gress}: end, {fate}, {} parser cycles", output.parser_cycles)
    }
}

/// Formats a step of a pass, and returns its source location.
fn step(program: &Program, event: &Event<'_>) -> (String, Loc) {
    match *event {
        Event::State { .. }
        | Event::Extracted { .. }
        | Event::Verified { .. }
        | Event::Selected { .. }
        | Event::Skipped { .. }
        | Event::ParserCounter { .. } => parser_step(program, event),
        Event::ParserError { bits } => {
            (format!("parser error {bits:#06x}: {}", error_names(bits)), Loc::default())
        }
        Event::Applied { table, key, entry, group, member, call, loc } => {
            let data = &program.tables[table];
            let keys = data.keys.iter().zip(key).map(|(k, &v)| column_is(program, k, v));
            let mut line = format!("table '{}' key ({})", data.name, keys.collect::<Vec<_>>().join(", "));
            match entry {
                Some(id) => _ = write!(line, ": hit entry {id}"),
                None => line.push_str(": miss"),
            }
            group.inspect(|g| _ = write!(line, ", group {g}"));
            member.inspect(|m| _ = write!(line, ", member {m}"));
            _ = write!(line, ", action {}", call_text(program, call));
            (line, loc)
        }
        Event::Gateway { cond, holds, loc } => {
            (format!("condition {} is {holds}", words::cond(program, cond)), loc)
        }
        Event::ReadInvalid { field, loc } => {
            (format!("{} is read, but its header is not valid", program.fields[field].name), loc)
        }
        Event::Called { action, loc } => (words::subject(&program.actions[action]).replace('`', "'"), loc),
        Event::Wrote { field, old, new, loc } => {
            let (name, width) = (&program.fields[field].name, program.fields[field].width);
            (format!("{name}: {} -> {}", show_value(old, width, name), show_value(new, width, name)), loc)
        }
        Event::Hashed { hash, value, loc } => {
            (format!("hash '{}' = {value:#x}", program.hashes[hash].name), loc)
        }
        Event::Validity { header, valid, loc } => {
            let word = if valid { "valid" } else { "invalid" };
            (format!("header '{}' set {word}", program.headers[header].name), loc)
        }
        Event::Counted { counter, index, now, loc } => {
            let name = &program.counters[counter].name;
            (format!("counter '{name}'[{index}]: {} packets, {} bytes", now.packets, now.bytes), loc)
        }
        Event::Accessed { action, index, before, after, outputs, loc } => {
            let code = &program.register_actions[action];
            let name = &program.registers[code.register].name;
            let pair = program.registers[code.register].format.has_hi();
            let show = |e: Element| {
                if pair { format!("({:#x}, {:#x})", e.lo, e.hi) } else { format!("{:#x}", e.lo) }
            };
            let (before, after, out) = (show(before), show(after), outputs[0]);
            (format!("register '{name}'[{index}] by '{}': {before} -> {after}, out {out:#x}", code.name), loc)
        }
        Event::Dropped { label, loc } => (format!("drop with label '{}'", program.labels[label].name), loc),
        Event::Checksum { field, value, loc } => {
            (format!("updating checksum {} = {value:#06x}", program.fields[field].name), loc)
        }
        Event::Emitted { header, offset } => {
            (format!("deparsing header '{}' at byte {offset}", program.headers[header].name), Loc::default())
        }
        Event::Requested { request, data } => {
            let bytes: String = data.iter().map(|b| format!("{b:02x}")).collect();
            let with = if bytes.is_empty() { String::new() } else { format!(" with {bytes}") };
            (format!("{} {}{with}", request.kind.word(), request.selector), request.loc)
        }
        Event::PassStart { .. } | Event::PassEnd { .. } | Event::GhostStart { .. } => {
            (String::new(), Loc::default())
        }
        Event::Asked { meter, index, input, answer, loc } => {
            let data = &program.meters[meter];
            (
                format!(
                    "{} '{}'[{index}]: {}",
                    noun(data.kind),
                    data.name,
                    verdict(data.kind, input, answer)
                ),
                loc,
            )
        }
        Event::Drew { random, value, loc } => {
            (format!("random '{}' = {value:#x}", program.randoms[random].name), loc)
        }
    }
}

fn noun(kind: MeterKind) -> &'static str {
    if kind.is_coloured() { "meter" } else { kind.word() }
}

/// Formats the input and the result of a meter.
fn verdict(kind: MeterKind, input: u32, answer: u32) -> String {
    let colour = |bits: u32| Colour::from_bits(bits as u8);
    match kind {
        MeterKind::Packets | MeterKind::Bytes => format!("{} -> {}", colour(input), colour(answer)),
        MeterKind::Lpf => format!("{input:#x} -> {answer:#x}"),
        MeterKind::Wred => format!("{input:#x} -> {}", if answer == 0 { "keep" } else { "drop" }),
    }
}

fn parser_step(program: &Program, event: &Event<'_>) -> (String, Loc) {
    match *event {
        Event::State { state, offset, .. } => {
            let data = &program.states[state];
            (format!("parser entering state '{}' at byte {offset}", data.name), data.loc)
        }
        Event::Extracted { header, offset } => {
            (format!("extracting header '{}' at byte {offset}", program.headers[header].name), Loc::default())
        }
        Event::Verified { field, wrong, loc } => {
            let word = if wrong { "wrong" } else { "right" };
            (format!("verifying checksum into {}: {word}", program.fields[field].name), loc)
        }
        Event::Selected { state, values, arm, next } => {
            let data = &program.states[state];
            let fields = data.select.iter().zip(values).map(|(&k, &v)| key_is(program, k, v));
            let to = match next {
                Next::State(s) => format!("state '{}'", program.states[s].name),
                Next::Accept => "accept".to_owned(),
                Next::Reject => "reject".to_owned(),
            };
            let fields: Vec<String> = fields.collect();
            let mut select = if fields.is_empty() { "no select".to_owned() } else { fields.join(", ") };
            if let Some(of) = arm.and_then(|arm| data.arms.get(arm)?.set) {
                _ = write!(select, " in value set '{}'", program.value_sets[of.set].name);
            }
            (format!("parser state '{}': {select}, going to {to}", data.name), Loc::default())
        }
        Event::Skipped { bytes, offset } => {
            (format!("skipping {bytes} bytes at byte {offset}"), Loc::default())
        }
        Event::ParserCounter { value, loc } => (format!("parser counter = {value}"), loc),
        _ => (String::new(), Loc::default()),
    }
}

fn key_is(program: &Program, key: SelectKey, value: u128) -> String {
    match key {
        SelectKey::Field(f) => field_is(program, f, value),
        _ => format!("{} = {value:#x}", key.name(program)),
    }
}

fn error_names(bits: u16) -> String {
    let names = [
        (0x001, "no match"),
        (0x002, "partial header"),
        (0x004, "counter range"),
        (0x010, "hardware timeout"),
        (0x020, "source extractor"),
        (0x100, "second write"),
        (0x1000, "checksum"),
    ];
    let set: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    set.join(", ")
}

fn field_is(program: &Program, field: Field, value: u128) -> String {
    let data = &program.fields[field];
    format!("{} = {}", data.name, show_value(value, data.width, &data.name))
}

/// Formats a key with its value.
fn column_is(program: &Program, key: &Key, value: u128) -> String {
    let name = key.name(program);
    format!("{name} = {}", show_value(value, key.width(program), &name))
}

fn call_text(program: &Program, call: &ActionCall) -> String {
    let data = &program.actions[call.action];
    let args = data.params.iter().zip(&call.args);
    let args: Vec<String> =
        args.map(|(p, &v)| format!("{} = {}", p.name, show_value(v, p.width, &p.name))).collect();
    format!("'{}' ({})", data.name, args.join(", "))
}
