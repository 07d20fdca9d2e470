//! The text of a packet test.
//!
//! ```text
//! add TABLE [PRIORITY] KEY:VALUE.. ACTION(PARAMETER:VALUE, ..)
//! add PROFILE MEMBER ACTION(PARAMETER:VALUE, ..)
//! setdefault TABLE ACTION(PARAMETER:VALUE, ..)
//! packet PORT BYTES
//! expect PORT [BYTES]
//! check_counter COUNTER(INDEX) packets|bytes = VALUE
//! check_register REGISTER(INDEX) lo|hi = VALUE
//! wait
//! ```
//!
//! `#` begins a comment, and a line that ends with `\` goes on in the next one. Ports are dev_ports; `expect ??` is any port.

use super::Pattern;
use thiserror::Error;

/// A packet test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands in order.
    pub steps: Vec<Step>,
}

/// A command with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Line in the file, from 1.
    pub line: u32,
    /// The command.
    pub command: Command,
}

/// A call of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the action.
    pub action: String,
    /// Arguments: the parameter's name, if it is written, and the value.
    pub args: Vec<(Option<String>, String)>,
}

/// A value of a counter or register that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellCheck {
    /// Packets of a counter.
    Packets,
    /// Bytes of a counter, each packet with the 4 bytes of its FCS.
    Bytes,
    /// A register's element, or the low half of a pair.
    Low,
    /// The high half of a pair.
    High,
}

/// A command of a packet test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Adds an entry to a table, in place of one with the same keys, or a member to an action profile.
    Add {
        /// Name of the table or action profile.
        table: String,
        /// Number after the name: the priority, or the member.
        number: Option<u32>,
        /// Names of keys and their values.
        keys: Vec<(String, String)>,
        /// The action.
        call: Call,
    },
    /// Adds a member to a value set: an entry without an action.
    AddValue {
        /// Name of the value set.
        set: String,
        /// Names of fields and their values.
        keys: Vec<(String, String)>,
    },
    /// Sets the default action of a table.
    SetDefault {
        /// Name of the table.
        table: String,
        /// The action.
        call: Call,
    },
    /// A packet comes in.
    Packet {
        /// dev_port.
        port: u16,
        /// Its bytes, without FCS.
        bytes: Vec<u8>,
    },
    /// A packet is expected.
    Expect {
        /// dev_port; `None` for any.
        port: Option<u16>,
        /// Its bytes.
        pattern: Pattern,
    },
    /// A cell of a counter or register is expected to have a value.
    Check {
        /// Name of the counter or register.
        array: String,
        /// The cell.
        index: u32,
        /// Part of the cell.
        part: CellCheck,
        /// The expected value.
        value: u64,
    },
    /// All packets before this line have left before the next ones come, as they always have.
    Wait,
}

/// A line that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {text}")]
pub struct StfError {
    /// The line, from 1.
    pub line: u32,
    /// The mistake.
    pub text: String,
}

impl Script {
    /// Reads a packet test.
    ///
    /// # Errors
    /// All lines that cannot be read, in order.
    pub fn parse(text: &str) -> Result<Script, Vec<StfError>> {
        let (mut script, mut errors) = (Script::default(), Vec::new());
        for (line, text) in whole_lines(text) {
            match command(&text) {
                Ok(command) => script.steps.push(Step { line, command }),
                Err(text) => errors.push(StfError { line, text }),
            }
        }
        if errors.is_empty() { Ok(script) } else { Err(errors) }
    }
}

/// Returns the lines that say something, without comments, each with its number; lines that go on are one.
fn whole_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (line, next) = line.strip_suffix('\\').map_or((line, false), |line| (line.trim(), true));
        match lines.last_mut() {
            Some((_, last)) if goes_on => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push((number, line.to_owned())),
        }
        goes_on = next;
    }
    lines.retain_mut(|(_, line)| {
        line.truncate(line.trim_end_matches([';', ' ']).len());
        !line.is_empty()
    });
    lines
}

/// Commands and their shape.
const COMMANDS: [(&str, &str); 7] = [
    ("add", "TABLE [PRIORITY] KEY:VALUE.. ACTION(PARAMETER:VALUE, ..), or SET FIELD:VALUE.."),
    ("check_counter", "COUNTER(INDEX) packets|bytes = VALUE"),
    ("check_register", "REGISTER(INDEX) lo|hi = VALUE"),
    ("expect", "PORT [BYTES]"),
    ("packet", "PORT BYTES"),
    ("setdefault", "TABLE ACTION(PARAMETER:VALUE, ..)"),
    ("wait", ""),
];

fn command(line: &str) -> Result<Command, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let shape = COMMANDS.iter().find(|(name, _)| *name == word).map(|(_, shape)| *shape);
    let Some(shape) = shape else {
        let names = COMMANDS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no command `{word}`; expected one of: {names}"));
    };
    let wrong = |why: String| format!("{why}; expected `{word} {shape}`");
    match word {
        "add" => add(rest).map_err(wrong),
        "setdefault" => set_default(rest).map_err(wrong),
        "packet" => packet(rest).map_err(wrong),
        "expect" => expect(rest).map_err(wrong),
        "wait" => Ok(Command::Wait),
        _ => check(rest, word == "check_counter").map_err(wrong),
    }
}

fn add(rest: &str) -> Result<Command, String> {
    let key = |word: &str| {
        let (name, value) = word.rsplit_once(':').ok_or_else(|| format!("`{word}` is no KEY:VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let last = rest.split_whitespace().next_back().unwrap_or_default();
    if !rest.trim_end().ends_with(')') && last.contains(':') {
        let mut words = rest.split_whitespace();
        let set = words.next().unwrap_or_default().to_owned();
        return Ok(Command::AddValue { set, keys: words.map(key).collect::<Result<_, String>>()? });
    }
    let (words, call) = call_at_end(rest)?;
    let mut words = words.split_whitespace().peekable();
    let table = words.next().ok_or("the name of the table is missing")?.to_owned();
    let number = words.peek().and_then(|word| word.parse().ok());
    if number.is_some() {
        words.next();
    }
    let keys = words.map(key).collect::<Result<_, String>>()?;
    Ok(Command::Add { table, number, keys, call })
}

fn set_default(rest: &str) -> Result<Command, String> {
    let (table, call) = call_at_end(rest)?;
    match table.trim() {
        "" => Err("the name of the table is missing".to_owned()),
        table => Ok(Command::SetDefault { table: table.to_owned(), call }),
    }
}

/// Splits off `ACTION(..)` at the end.
fn call_at_end(rest: &str) -> Result<(&str, Call), String> {
    let rest = rest.trim();
    let Some(inner) = rest.strip_suffix(')') else {
        // An action without arguments may be without parentheses.
        let (words, action) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
        if action.is_empty() || action.contains(':') {
            return Err("the action is missing".to_owned());
        }
        return Ok((words, Call { action: action.to_owned(), args: Vec::new() }));
    };
    let (before, args) = inner.rsplit_once('(').ok_or("the action has no `(`")?;
    let (words, action) =
        before.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", before.trim_end()));
    if action.is_empty() {
        return Err("the name of the action is missing".to_owned());
    }
    let args = args.split([',', ' ', '\t']).filter(|arg| !arg.is_empty());
    let args = args.map(|arg| match arg.split_once([':', '=']) {
        Some((name, value)) => (Some(name.to_owned()), value.to_owned()),
        None => (None, arg.to_owned()),
    });
    Ok((words, Call { action: action.to_owned(), args: args.collect() }))
}

fn port(word: Option<&str>) -> Result<u16, String> {
    let word = word.ok_or("the port is missing")?;
    word.parse().map_err(|_| format!("`{word}` is no dev_port"))
}

fn packet(rest: &str) -> Result<Command, String> {
    let mut words = rest.split_whitespace();
    let port = port(words.next())?;
    let digits: String = words.collect();
    Ok(Command::Packet { port, bytes: bytes(&digits)? })
}

/// Returns the bytes of hexadecimal digits.
pub(super) fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    let digits = digits.replace('_', "");
    if !digits.len().is_multiple_of(2) {
        return Err("the bytes end with half a byte".to_owned());
    }
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).unwrap_or("?");
        let digits = pair.iter().all(u8::is_ascii_hexdigit);
        let byte = u8::from_str_radix(text, 16).ok().filter(|_| digits);
        byte.ok_or_else(|| format!("`{text}` is no byte of two hexadecimal digits"))
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn expect(rest: &str) -> Result<Command, String> {
    let mut words = rest.split_whitespace();
    let port = match words.next() {
        Some("??" | "*") => None,
        word => Some(port(word)?),
    };
    Ok(Command::Expect { port, pattern: Pattern::parse(words)? })
}

fn check(rest: &str, is_counter: bool) -> Result<Command, String> {
    let (left, value) = rest.split_once('=').ok_or("`=` is missing")?;
    let (array, left) = left.split_once('(').ok_or("`(` is missing")?;
    let (index, part) = left.split_once(')').ok_or("`)` is missing")?;
    let value = value.trim_start_matches('=');
    let part = match (is_counter, part.trim()) {
        (true, "packets") => CellCheck::Packets,
        (true, "bytes") => CellCheck::Bytes,
        (false, "lo" | "") => CellCheck::Low,
        (false, "hi") => CellCheck::High,
        (_, other) => return Err(format!("`{other}` is no part of a cell")),
    };
    let number = |text: &str| number(text).ok_or_else(|| format!("`{}` is no number", text.trim()));
    let index = u32::try_from(number(index)?).map_err(|_| format!("no cell has the number {index}"))?;
    Ok(Command::Check { array: array.trim().to_owned(), index, part, value: number(value)? })
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let text = "# a test\nadd t 3 h.a:0x1* h.b:2 set(v:1, port:0x2);\nsetdefault x.t drop()\n\
            packet 0 0102 \\\n 03\nexpect 2 01 ** $ # out\nwait\ncheck_register r(0x10) lo = 0xff\n";
        let steps = Script::parse(text).unwrap().steps;
        let lines: Vec<u32> = steps.iter().map(|step| step.line).collect();
        assert_eq!(lines, [2, 3, 4, 6, 7, 8]);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let arg = |a: &str, b: &str| (Some(a.to_owned()), b.to_owned());
        assert_eq!(
            steps[0].command,
            Command::Add {
                table: "t".to_owned(),
                number: Some(3),
                keys: vec![pair("h.a", "0x1*"), pair("h.b", "2")],
                call: Call { action: "set".to_owned(), args: vec![arg("v", "1"), arg("port", "0x2")] },
            }
        );
        assert_eq!(steps[2].command, Command::Packet { port: 0, bytes: vec![1, 2, 3] });
        assert_eq!(
            steps[5].command,
            Command::Check { array: "r".to_owned(), index: 16, part: CellCheck::Low, value: 255 }
        );
    }

    #[test]
    fn all_wrong_lines_are_told() {
        let text = "adds t\nadd\npacket x 01\npacket 0 0z\npacket 0 010\nexpect\ncheck_counter c(1) bits = 1";
        let told: Vec<String> = Script::parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        let begins = [
            "line 1: there is no command `adds`; expected one of: add, check_counter,",
            "line 2: the action is missing; expected `add TABLE",
            "line 3: `x` is no dev_port; expected `packet PORT BYTES`",
            "line 4: `0z` is no byte of two hexadecimal digits",
            "line 5: the bytes end with half a byte",
            "line 6: the port is missing; expected `expect PORT [BYTES]`",
            "line 7: `bits` is no part of a cell; expected `check_counter",
        ];
        assert_eq!(told.len(), begins.len());
        for (told, begin) in told.iter().zip(begins) {
            assert!(told.starts_with(begin), "{told}");
        }
    }
}
