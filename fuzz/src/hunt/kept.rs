//! Inputs that are kept between hunts: their text, and the fewest of them that reach the same coverage.
//!
//! A kept input is a text: a line for each packet (time, port, number of its piece, bytes), then the changes of the
//! configuration as [`changes`](super::changes()) writes them. A time is in ns from the start of the input.

use super::changes;
use super::input::{Input, Shot};
use super::runner::Runner;
use super::subject::{Subject, SubjectError};
use sluice_control::lines::parse_changes_on;
use sluice_exec::cover::Coverage;
use sluice_switch::Reason;
use std::collections::BTreeSet;
use std::fmt::Write;
use thiserror::Error;

/// First line of a kept input.
const HEAD: &str = "sluice.input/1";

/// Latest time of a packet, and longest gap in front of a piece, in ns: an hour.
const LATEST: u64 = 3_600_000_000_000;

/// Reason for which a text is no input for a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeptError {
    /// The first line is not that of a kept input.
    #[error("the first line is not `{HEAD}`; this is no input of a hunt")]
    Head,
    /// The input is for another program.
    #[error("it is an input for the program `{found}`")]
    Program {
        /// The other program.
        found: String,
    },
    /// A line is not a packet.
    #[error("line {line}: expected `TIME ns dev:PORT PIECE BYTES`, found `{found}`")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The line's text.
        found: String,
    },
    /// A packet or a gap does not suit the lines before it.
    #[error("line {line}: {mistake}")]
    Unsuited {
        /// The line, from 1.
        line: usize,
        /// A sentence on the mistake.
        mistake: &'static str,
    },
    /// The changes do not suit the program.
    #[error("{0}")]
    Changes(String),
}

/// Returns an input as text; [`parse`] reads it.
#[must_use]
pub fn text(subject: &Subject<'_>, input: &Input) -> String {
    let program = &subject.program.name;
    let mut out = format!("{HEAD}\nprogram {program}\n# packets: time, port, piece, bytes\n");
    let gaps: Vec<String> = input.pieces.iter().map(u64::to_string).collect();
    // Writing to a string does not fail.
    let _ = writeln!(out, "pieces {}", gaps.join(" "));
    if input.obeys {
        out.push_str("obeys_pfc\n");
    }
    for Shot { at, port, bytes, piece } in &input.shots {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(out, "{at} ns dev:{port} {piece} {digits}");
    }
    out + &changes(&subject.program, &input.ops)
}

/// Reads the text of an input.
///
/// # Errors
/// If the text is no input, or its changes are not for the subject's program.
pub fn parse(subject: &Subject<'_>, text: &str) -> Result<Input, KeptError> {
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, line)| line != HEAD) {
        return Err(KeptError::Head);
    }
    let (mut input, mut changed) = (Input::default(), String::new());
    for (line, found) in lines.filter(|(_, line)| !line.starts_with('#')) {
        let wrong = || KeptError::Line { line, found: found.to_owned() };
        if let Some(name) = found.strip_prefix("program ") {
            if name != subject.program.name {
                return Err(KeptError::Program { found: name.to_owned() });
            }
        } else if found.starts_with('@') {
            changed.push_str(found);
            changed.push('\n');
        } else if let Some(gaps) = found.strip_prefix("pieces") {
            let gaps = gaps.split_whitespace().map(str::parse).collect::<Result<_, _>>();
            input.pieces = gaps.map_err(|_| wrong())?;
            if input.pieces.iter().any(|gap| *gap > LATEST) {
                return Err(KeptError::Unsuited { line, mistake: "a gap is longer than an hour" });
            }
            // Packets have been held against the pieces.
            if !input.shots.is_empty() {
                return Err(KeptError::Unsuited { line, mistake: "the line `pieces` comes after packets" });
            }
        } else if found == "obeys_pfc" {
            input.obeys = true;
        } else {
            let shot = shot(found).ok_or_else(wrong)?;
            if let Some(mistake) = unsuited(&input, &shot) {
                return Err(KeptError::Unsuited { line, mistake });
            }
            input.shots.push(shot);
        }
    }
    let script = parse_changes_on(&subject.program, &subject.ports, &changed, "changes");
    let script = script.map_err(|errors| {
        KeptError::Changes(
            errors.first().map_or(String::new(), |e| e.to_string().trim_start_matches("error: ").to_owned()),
        )
    })?;
    input.ops = script.ops.into_iter().map(|sourced| (sourced.at.as_nanos(), sourced.op)).collect();
    Ok(input)
}

/// Returns the reason for which a packet cannot follow those of an input: packets are in order of time and of pieces.
fn unsuited(input: &Input, shot: &Shot) -> Option<&'static str> {
    let last = input.shots.last();
    if last.is_some_and(|last| last.at > shot.at) {
        Some("the packet is earlier than the packet before it")
    } else if shot.at > LATEST {
        Some("the packet comes later than an hour after the start")
    } else if last.is_some_and(|last| last.piece > shot.piece) {
        Some("the number of the piece is below that of the packet before it")
    } else if shot.piece as usize >= input.pieces.len() {
        Some("the line `pieces` has no gap for this piece")
    } else {
        None
    }
}

fn shot(line: &str) -> Option<Shot> {
    let words: Vec<&str> = line.split(' ').collect();
    let [at, "ns", port, piece, digits] = words[..] else { return None };
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes = (0..digits.len()).step_by(2).map(pair).collect::<Option<_>>()?;
    let port = port.strip_prefix("dev:")?.parse().ok()?;
    Some(Shot { at: at.parse().ok()?, port, bytes, piece: piece.parse().ok()? })
}

/// Returns the positions, in order, of the fewest inputs found that together reach every coverage point and every reason of a
/// packet's end that all of them reach: in turn the one that adds most, of equals the one with the fewest packets.
///
/// # Errors
/// If the device cannot be built.
pub fn fewest(subject: &Subject<'_>, inputs: &[Input]) -> Result<Vec<usize>, SubjectError> {
    let mut runner = Runner::new(subject)?;
    runner.compare = false;
    let mut reached: Vec<BTreeSet<Target>> = Vec::new();
    for input in inputs {
        // Everything is known, so nothing is compared with the interpreter.
        let outcome = runner.run(input, &Coverage::new(&subject.points))?;
        let points = outcome.coverage.reached().map(Target::Point);
        reached.push(points.chain(outcome.ends.iter().map(|(reason, _)| Target::End(*reason))).collect());
    }
    let mut open: BTreeSet<Target> = reached.iter().flatten().copied().collect();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let gain = |at: &usize| reached[*at].intersection(&open).count();
        let best = (0..inputs.len())
            .max_by_key(|at| (gain(at), std::cmp::Reverse(inputs[*at].shots.len()), std::cmp::Reverse(*at)));
        let Some(best) = best else { break };
        reached[best].iter().for_each(|target| _ = open.remove(target));
        chosen.push(best);
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// Something that an input reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Point(u32),
    End(Reason),
}
