//! Packet tests in TOML: the commands of STF, with the program, the chips and the entries in the same file.
//!
//! ```toml
//! program = "l3-ecmp"
//! entries = "default"
//!
//! [[step]]
//! name = "a host without a route"
//! send = { port = 0, hex = "0200 0000 0001 .." }
//! expect = []
//! ```

use super::fields::{Fields, Reader, TestFileError};
use super::{Call, CellCheck, Command, Pattern, Script, Step};
use sluice_asic::port::{PortMap, PortName};
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::generate::{Envelope, FrameList, FrameSource};
use sluice_pcaps::wire::MacAddr;
use toml::Spanned;
use toml::de::DeValue;

/// Reads a file that a test names, by its path relative to the test's folder; an error is a sentence.
pub type ReadFile<'r> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'r;

/// A packet test in TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// The program: a name, or a file; `None` for the P4 program beside the test.
    pub program: Option<String>,
    /// Chips, by name or file; empty for those that suit the program.
    pub chips: Vec<String>,
    /// Parameters of the program.
    pub sets: Vec<(String, String)>,
    /// Entries before the first step: `default`, or a file; `None` for empty tables.
    pub entries: Option<String>,
    steps: Vec<Planned>,
}

/// A command with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Planned {
    line: u32,
    column: u32,
    act: Act,
}

/// A command whose port has not been looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Send(Named, Vec<u8>),
    Expect(Option<Named>, Pattern),
    Other(Command),
}

/// A port as a test writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// A dev_port, which the chip need not have.
    Dev(u16),
    /// A front-panel port, such as `3` or `1/0`.
    Front(String),
}

/// Most times that a step is repeated.
const MOST: u64 = 1000;

const STEP: [&str; 7] = ["name", "repeat", "add", "default", "send", "expect", "check"];
const PACKET: [&str; 4] = ["port", "hex", "frame", "pcap"];

impl TestFile {
    /// Reads a test; `read` reads the captures that it names.
    ///
    /// # Errors
    /// The first mistake, with its line and column.
    pub fn parse(text: &str, read: &ReadFile<'_>) -> Result<TestFile, TestFileError> {
        let reader = Reader::new(text);
        let file = reader.file(&["program", "chip", "set", "entries", "step"])?;
        let steps = file.list("step")?;
        if steps.is_empty() {
            return Err(file.fault("a test has at least one [[step]] with `send` and `expect`"));
        }
        let mut planned = Vec::new();
        for step in steps {
            step_of(&reader.fields(step, "step", &STEP)?, read, &mut planned)?;
        }
        let chips = file.list("chip")?.into_iter().map(|chip| reader.text(chip, "chip"));
        Ok(TestFile {
            program: file.text("program")?,
            chips: chips.collect::<Result<_, _>>()?,
            sets: file.map("set")?,
            entries: file.text("entries")?,
            steps: planned,
        })
    }

    /// Returns the commands for a chip with these ports.
    ///
    /// # Errors
    /// If the chip has no front-panel port of a name; the error has the place.
    pub fn script(&self, ports: &PortMap) -> Result<Script, TestFileError> {
        let mut script = Script::default();
        for Planned { line, column, act } in &self.steps {
            let number = |name: &Named| match name {
                Named::Dev(port) => Ok(*port),
                Named::Front(name) => ports
                    .find(name)
                    .map(|port| port.dev_port.number())
                    .map_err(|error| TestFileError { line: *line, column: *column, text: error.to_string() }),
            };
            let command = match act {
                Act::Send(port, bytes) => Command::Packet { port: number(port)?, bytes: bytes.clone() },
                Act::Expect(port, pattern) => {
                    Command::Expect { port: port.as_ref().map(number).transpose()?, pattern: pattern.clone() }
                }
                Act::Other(command) => command.clone(),
            };
            script.steps.push(Step { line: *line, command });
        }
        Ok(script)
    }
}

fn step_of(step: &Fields<'_>, read: &ReadFile<'_>, planned: &mut Vec<Planned>) -> Result<(), TestFileError> {
    step.text("name")?;
    let times = step.number("repeat", 1..=MOST)?.unwrap_or(1);
    for entry in step.tables("add", &["table", "priority", "key", "action", "args"])? {
        let table = entry.required("table")?;
        let number = entry.number("priority", 0..=u32::MAX.into())?.map(|priority| priority as u32);
        let (keys, call) = (entry.map("key")?, call(&entry)?);
        planned.push(at(&entry, Act::Other(Command::Add { table, number, keys, call })));
    }
    for entry in step.tables("default", &["table", "action", "args"])? {
        let (table, call) = (entry.required("table")?, call(&entry)?);
        planned.push(at(&entry, Act::Other(Command::SetDefault { table, call })));
    }
    let (mut traffic, mut any) = (Vec::new(), false);
    for packet in step.tables("send", &PACKET)? {
        let Some(port) = port(&packet)? else {
            return Err(packet
                .fault("`port` is missing; a packet comes in by a port: send = { port = 0, hex = \"..\" }"));
        };
        let frames = frames(&packet, read)?;
        any |= !frames.is_empty();
        traffic.extend(frames.into_iter().map(|bytes| at(&packet, Act::Send(port.clone(), bytes))));
    }
    for packet in step.tables("expect", &PACKET)? {
        let port = port(&packet)?;
        let patterns = match packet.text("hex")? {
            Some(hex) => vec![pattern(&hex).map_err(|why| packet.fault_at("hex", &why))?],
            None => frames(&packet, read)?.iter().map(|bytes| Pattern::exactly(bytes)).collect(),
        };
        any |= !patterns.is_empty();
        traffic.extend(patterns.into_iter().map(|pattern| at(&packet, Act::Expect(port.clone(), pattern))));
    }
    if times > 1 && !any {
        return Err(step.fault_at("repeat", "the step has nothing to repeat; it sends and expects no packet"));
    }
    for _ in 0..times {
        planned.extend(traffic.iter().cloned());
    }
    for check in
        step.tables("check", &["counter", "register", "index", "packets", "bytes", "value", "high"])?
    {
        checks(&check, planned)?;
    }
    Ok(())
}

fn at(fields: &Fields<'_>, act: Act) -> Planned {
    let (line, column) = fields.place();
    Planned { line, column, act }
}

fn call(entry: &Fields<'_>) -> Result<Call, TestFileError> {
    let args = entry.map("args")?.into_iter().map(|(name, value)| (Some(name), value)).collect();
    Ok(Call { action: entry.required("action")?, args })
}

/// Returns a port: a number or `1/0` is a front-panel port, `dev:137` a dev_port.
fn port(packet: &Fields<'_>) -> Result<Option<Named>, TestFileError> {
    let named = |text: String| match text.parse() {
        Ok(PortName::Dev(port)) => Ok(Named::Dev(port.number())),
        Err(e) if !text.contains('/') => Err(packet.fault_at("port", &format!("{e}"))),
        _ => Ok(Named::Front(text)),
    };
    packet.word("port")?.map(named).transpose()
}

/// Returns the pattern of a whole packet; `..` at the end stands for any further bytes.
fn pattern(hex: &str) -> Result<Pattern, String> {
    let hex = hex.trim();
    match hex.strip_suffix("..") {
        Some(begin) => Pattern::parse(begin.split_whitespace()),
        None => Pattern::parse(hex.split_whitespace().chain(["$"])),
    }
}

/// Returns the frames of a table: of `hex`, of `frame`, or all of `pcap`.
fn frames(packet: &Fields<'_>, read: &ReadFile<'_>) -> Result<Vec<Vec<u8>>, TestFileError> {
    let (hex, frame, pcap) = (packet.text("hex")?, packet.value("frame"), packet.text("pcap")?);
    match (hex, frame, pcap) {
        (Some(hex), None, None) => {
            let bytes = super::stf::bytes(&hex.split_whitespace().collect::<String>());
            Ok(vec![bytes.map_err(|why| packet.fault_at("hex", &why))?])
        }
        (None, Some(frame), None) => Ok(vec![composed(packet, frame)?]),
        (None, None, Some(file)) => {
            captured(&file, read).map_err(|why| packet.fault_at("pcap", &format!("{file}: {why}")))
        }
        _ => Err(packet
            .fault("a packet has one of `hex` (its bytes), `frame` (its fields) and `pcap` (a capture)")),
    }
}

/// Returns the frame of fields, as `[[frame]]` of `sluice gen frames` has them.
fn composed(packet: &Fields<'_>, frame: &Spanned<DeValue<'_>>) -> Result<Vec<u8>, TestFileError> {
    let inner = packet.source(frame);
    let text = format!("frame = [{inner}]\n");
    let text = match inner.strip_prefix('{') {
        Some(rest) if !rest.contains("at =") => format!("frame = [{{ at = 0, {rest}]\n"),
        _ => text,
    };
    let envelope = Envelope::new(MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 1, 0]));
    let wrong = |text: String| {
        // The place in the text above is of no use to the reader of the file.
        let text = text.splitn(4, ':').last().unwrap_or_default().trim().to_owned();
        packet.fault_at("frame", &text)
    };
    let list = FrameList::parse("frame", &text, envelope).map_err(|e| wrong(e.to_string()))?;
    let mut frames = list.frames(CaptureTime::from_ns(0));
    let bytes = frames.next_frame().map(|(_, bytes)| bytes.to_vec());
    bytes.ok_or_else(|| packet.fault_at("frame", "the frame is repeated 0 times"))
}

fn captured(file: &str, read: &ReadFile<'_>) -> Result<Vec<Vec<u8>>, String> {
    let bytes = read(file)?;
    let mut reader = CaptureReader::from_bytes(&bytes, file).map_err(|e| e.to_string())?;
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().map_err(|e| e.to_string())? {
        frames.push(frame.data.to_vec());
    }
    Ok(frames)
}

fn checks(check: &Fields<'_>, planned: &mut Vec<Planned>) -> Result<(), TestFileError> {
    let (counter, register) = (check.text("counter")?, check.text("register")?);
    let (array, parts) = match (counter, register) {
        (Some(counter), None) => (counter, [("packets", CellCheck::Packets), ("bytes", CellCheck::Bytes)]),
        (None, Some(register)) => (register, [("value", CellCheck::Low), ("high", CellCheck::High)]),
        _ => return Err(check.fault("a check names either a `counter` or a `register`")),
    };
    let index = check.number("index", 0..=u32::MAX.into())?.unwrap_or(0) as u32;
    let mut some = false;
    for (key, part) in parts {
        if let Some(value) = check.number(key, 0..=u64::MAX)? {
            some = true;
            let array = array.clone();
            planned.push(at(check, Act::Other(Command::Check { array, index, part, value })));
        }
    }
    if some {
        return Ok(());
    }
    let [(first, _), (second, _)] = parts;
    Err(check.fault(&format!("a check has an expected number: `{first}`, `{second}` or both")))
}
