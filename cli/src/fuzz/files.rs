//! Output folder of a campaign: results, coverage, and for each failure captures, entries, changes and a command.

use super::Done;
use super::outcome::Outcome;
use crate::console::fail::Failure;
use crate::console::hint::quoted;
use crate::output::files::{Folder, Pending, pretty};
use sluice_control::{ControlOp, entries};
use sluice_fuzz::hunt::{self, changes};
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::{TraceFormat, TraceWriter};
use sluice_report::coverage as coverage_report;
use std::path::{Component, Path, PathBuf};

/// File name of a drawn buffer profile.
pub(crate) const BUFFER: &str = "buffer.toml";

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the dev_ports on which a failure's packets arrive, each once.
fn ports(failure: &hunt::Failure) -> Vec<u16> {
    let mut list: Vec<u16> = failure.input.shots.iter().map(|s| s.port).collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn capture(number: usize, port: u16) -> String {
    format!("failure-{number}.dev{port}.pcapng")
}

/// Returns the names of a failure's files.
pub(crate) fn names(number: usize, failure: &hunt::Failure) -> Vec<String> {
    let mut list: Vec<String> = ports(failure).into_iter().map(|p| capture(number, p)).collect();
    if !failure.input.ops.is_empty() {
        list.push(format!("failure-{number}.changes"));
    }
    list
}

/// Returns the way from the output folder back to the folder in which the command runs.
fn way_back(output: &Path) -> PathBuf {
    if output.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        output.components().filter(|part| matches!(part, Component::Normal(_))).map(|_| "..").collect()
    } else {
        std::env::current_dir().unwrap_or_default()
    }
}

/// The folder in which a command is run that reproduces a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunIn {
    /// The output folder.
    Output,
    /// The folder in which the hunt ran.
    Here,
}

/// Returns the command that reproduces a failure; `None` without an output folder.
pub(crate) fn command(
    done: &Done<'_>,
    number: usize,
    failure: &hunt::Failure,
    run_in: RunIn,
) -> Option<String> {
    let (args, output) = (done.args, done.args.output.as_ref()?);
    // The ways to the files of the hunt's command line, and to those of the output folder.
    let (back, into) = match run_in {
        RunIn::Output => (way_back(output), Path::new("")),
        RunIn::Here => (PathBuf::new(), output.as_path()),
    };
    let written = |name: &str| quoted(into.join(name).display().to_string());
    let program = done.file.map_or(args.program.clone(), |path| back.join(path).display().to_string());
    let mut words = vec!["sluice replay".to_owned(), quoted(program)];
    words.push(format!("--chip {}", args.target.chip));
    words.extend(args.target.p4.words_from(&back));
    words.extend(done.profile.iter().chain(&args.target.sets).map(|(k, v)| format!("--set {k}={v}")));
    words.extend(ports(failure).into_iter().map(|p| format!("-i dev:{p}@{}", written(&capture(number, p)))));
    words.push(format!("--entries {}", written("entries.toml")));
    let speeds = &done.subject.config.port_speeds;
    words.extend(speeds.iter().map(|(port, rate)| format!("--port dev:{port}={rate}")));
    let drawn = done.buffer.as_ref().map(|_| written(BUFFER));
    let named = || args.buffer.as_deref().map(|name| buffer_from(&back, name));
    words.extend(drawn.or_else(named).map(|buffer| format!("--buffer {buffer}")));
    if failure.input.obeys {
        words.push("--obey-pfc".to_owned());
    }
    if !failure.input.ops.is_empty() {
        words.push(format!("--changes {}", written(&format!("failure-{number}.changes"))));
    }
    words.push(format!("--seed {}", args.seed));
    let replay = words.join(" ");
    Some(match failure.violation.property.as_str() {
        "engines_agree" => {
            let [fast, reference] = ["fast", "reference"].map(written);
            format!(
                "{replay} -o {fast}; {replay} --engine reference -o {reference}; diff -r {fast} {reference}"
            )
        }
        "no_invalid_headers" => format!("{replay} --trace"),
        _ => format!("{replay} --check"),
    })
}

/// Returns a buffer profile as it is called from a folder from which `back` leads to the files of the command line: its parts that
/// are files have another path there.
fn buffer_from(back: &Path, name: &str) -> String {
    let part = |part: &str| match Path::new(part).is_file() {
        true => back.join(part).display().to_string(),
        false => part.to_owned(),
    };
    match Path::new(name).is_file() {
        true => quoted(part(name)),
        false => quoted(name.split('+').map(part).collect::<Vec<_>>().join("+")),
    }
}

/// Names of the files.
pub(crate) const NAMES: [&str; 9] = [
    "fuzz.json",
    "coverage.json",
    "coverage.txt",
    "coverage.html",
    "entries.toml",
    BUFFER,
    "failure-*.dev*.pcapng",
    "failure-*.changes",
    "failure-*.txt",
];

/// Writes all files.
pub(crate) fn write(done: &Done<'_>, outcome: &Outcome<'_>, mut folder: Folder) -> Result<(), Failure> {
    let (status, subject) = (&done.status, done.subject);
    let name = &subject.program.name;
    folder.text("fuzz.json", "sluice.fuzz/1", "what came of it, without the rate", &pretty(outcome))?;
    let coverage = &status.coverage;
    let report = coverage_report::json(name, &subject.points, coverage);
    folder.text("coverage.json", "sluice.coverage/1", "every point of the program", &pretty(&report))?;
    let text = coverage_report::text(name, &subject.points, coverage);
    folder.text("coverage.txt", "text/plain", "coverage and what is uncovered", &text)?;
    let page = coverage_report::html(name, &subject.points, coverage);
    folder.text("coverage.html", "text/html", "the same as a page", &page)?;
    let printed = entries::print(&subject.program, &subject.control);
    folder.text("entries.toml", "sluice.entries", "entries at the start of each input", &printed)?;
    if let Some(text) = &done.buffer {
        folder.text(BUFFER, "application/toml", "the buffer profile that the seed has drawn", text)?;
    }
    for (number, failure) in (1..).zip(&status.failures) {
        one(done, number, failure, &mut folder)?;
    }
    folder.finish()
}

fn one(done: &Done<'_>, number: usize, failure: &hunt::Failure, folder: &mut Folder) -> Result<(), Failure> {
    let first = failure.input.shots.first().map_or(0, |s| s.at);
    for port in ports(failure) {
        let name = capture(number, port);
        let file = Pending::create(&folder.path(&name)?)?;
        let start = CaptureTime::from_ns(0);
        let writer = TraceWriter::new(file.handle()?, TraceFormat::Pcapng, start);
        let mut writer = writer.map_err(Failure::input)?;
        for shot in failure.input.shots.iter().filter(|s| s.port == port) {
            // Time zero of a replay is the first packet over all inputs, as it was here.
            writer.write(CaptureTime::from_ns(shot.at - first), &shot.bytes).map_err(Failure::input)?;
        }
        writer.finish().map_err(Failure::input)?;
        folder.add(file, &name, "application/vnd.tcpdump.pcap", "packets that show the failure");
    }
    if !failure.input.ops.is_empty() {
        let last = failure.input.shots.last().map_or(first, |s| s.at) + 1;
        let release = failure.input.release().into_iter().map(|op| (last, ControlOp::Device(op)));
        let ops = failure.input.ops.iter().cloned().chain(release);
        let ops: Vec<_> = ops.map(|(at, op)| (at.saturating_sub(first), op)).collect();
        let text = changes(&done.subject.program, &ops);
        let name = format!("failure-{number}.changes");
        folder.text(&name, "sluice.changes", "changes between the packets", &text)?;
    }
    let command = command(done, number, failure, RunIn::Output).unwrap_or_default();
    let text = format!("{}\n{command}\n", failure.violation);
    let name = format!("failure-{number}.txt");
    folder.text(&name, "text/plain", "what fails, and the command that shows it", &text)
}
