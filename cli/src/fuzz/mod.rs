//! `sluice fuzz`: hunts for packets that break a property of a program.

mod args;
mod corpus;
mod files;
mod mutation;
mod outcome;
mod page;
mod progress;
mod text;

pub(crate) use args::FuzzArgs;

use crate::console::fail::{Failure, print_error};
use crate::console::interrupt::interrupt_flag;
use crate::console::terminal;
use crate::open::buffer_profile;
use crate::open::door;
use crate::open::resolve::{self, Entries};
use crate::open::target::Target;
use crate::output::files::{Folder, pretty};
use crate::output::verdict::{Ended, Verdict};
use outcome::Outcome;
use progress::Progress;
use sluice_asic::port::FrontPort;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::BitRate;
use sluice_catalogue::setup::Replaced;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fuzz::hunt::{self, Campaign, Status, Subject};
use sluice_fuzz::mutants::Checked;
use sluice_fuzz::{Draw, buffer, port_infos};
use sluice_place::Options;
use sluice_switch::BufferSetup;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A finished campaign, and its inputs.
pub(crate) struct Done<'a> {
    pub(crate) args: &'a FuzzArgs,
    /// File of the program as the user named it, if it is one.
    pub(crate) file: Option<&'a Path>,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) status: Status,
    pub(crate) seconds: f64,
    /// Result of the mutation check, if it was requested.
    pub(crate) mutation: Option<Checked>,
    /// Parameters of the program's hunt profile that the user did not set.
    pub(crate) profile: Vec<(String, String)>,
    /// Inputs of the corpus that were sent first, and what was done to its folder.
    pub(crate) replayed: usize,
    change: Option<corpus::Change>,
    /// Text of the drawn buffer profile, if one was drawn.
    pub(crate) buffer: Option<String>,
}

/// Runs a campaign and prints its results.
pub(crate) fn run(args: &FuzzArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let opened = door::program(catalogue, &args.program, &args.target)?;
    let (stage, catalogue) = (&opened.stage, &opened.catalogue);
    let profile = profile(stage.as_ref(), &args.target);
    let mut target = args.target.clone();
    target.sets.splice(0..0, profile.iter().cloned());
    let program = resolve::build(stage, &target)?;
    let budget = args.budget()?;
    let placement = resolve::fit(&program, &chip, &Options::default()).map_err(|no_fit| {
        print_error(format_args!("{}\n", crate::console::snippet::no_fit(&no_fit)));
        Failure::Property
    })?;
    let ports = resolve::ports(&chip, None, None)?;
    // The hunt is for the whole program, so the program marks whatever the profile does.
    let has_buffer = args.draws_buffer() || args.buffer.is_some();
    let replaced = if has_buffer { Replaced::Classes } else { Replaced::Nothing };
    let placed = (&program, Some(&placement));
    let Entries { control, setup, .. } =
        resolve::entries(stage, placed, &ports, args.entries.as_deref(), replaced)?;
    let of = |(front, speed): &(FrontPort, BitRate)| Some((ports.front(*front)?.dev_port.number(), *speed));
    let speeds = setup.port_speeds.iter().filter_map(of).collect();
    let built = program.clone();
    let mut subject =
        Subject::new(catalogue, program, placement, ports, control, || stage.properties(&built));
    subject.config.port_speeds = speeds;
    subject.config.seed = args.seed;
    let drawn = args.draws_buffer().then(|| draw_buffer(&subject, args.seed)).transpose()?;
    let file = match (&drawn, args.buffer.as_deref()) {
        (Some(text), _) => Some(BufferFile::parse(files::BUFFER, text).map_err(Failure::input)?),
        (None, name) => {
            name.map(|name| buffer_profile::profile(name, &chip, Path::new(""), None)).transpose()?
        }
    };
    if let Some(file) = file {
        subject.set_buffer(BufferSetup { file, seed: args.seed }).map_err(Failure::input)?;
    }
    let folder = Folder::asked("fuzz", args.output.as_ref(), files::NAMES)?;
    let stop = interrupt_flag();
    // A panic is reported like any other failure; the message of the default hook would break the status line.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let mut progress = Progress::new(&subject, budget);
    let (seed, jobs, compare) = (args.seed, args.jobs(), args.compare);
    let campaign = Campaign { seed, cases: budget.cases, jobs, compare, ..Campaign::default() };
    let kept = corpus::read(args, &subject)?;
    let first = hunt::replayed(&subject, &kept.inputs).map_err(|e| {
        let help = "the inputs were kept for other parameters or entries; give another folder";
        Failure::with_help(format!("an input of --corpus does not suit the program: {e}"), help)
    })?;
    let status = hunt::hunt_on(&subject, &campaign, first, |status| {
        progress.tick(status);
        !stop.load(Ordering::Relaxed) && budget.time.is_none_or(|most| started.elapsed() < most)
    });
    progress.clear();
    let status = status.map_err(Failure::input)?;
    let change = corpus::write(args, &subject, &status.kept)?;
    let seconds = started.elapsed().as_secs_f64();
    let mut status = status;
    let mutation = args.mutants.map(|most| {
        let far = mutation::further(args, &subject, &status, |_| !stop.load(Ordering::Relaxed))?;
        status.failures.clone_from(&far.failures);
        mutation::check(args, &subject, &far, most)
    });
    let mutation = mutation.transpose()?;
    let _ = std::panic::take_hook();
    let done = Done {
        args,
        file: opened.file.as_deref(),
        subject: &subject,
        status,
        seconds,
        mutation,
        profile,
        buffer: drawn,
        replayed: kept.inputs.len(),
        change,
    };
    let mut outcome = Outcome::of(&done);
    finish(&done, &mut outcome, folder, as_json)?;
    args.verdicts.write("fuzz", &for_ci(&done, &outcome))?;
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    let reached = done.status.coverage.overall(&subject.points).percent();
    let enough = args.min_coverage.is_none_or(|least| reached >= usize::from(least));
    if done.status.failures.is_empty() && enough { Ok(()) } else { Err(Failure::Property) }
}

/// Returns a verdict on each property.
fn for_ci(done: &Done<'_>, outcome: &Outcome<'_>) -> Vec<Verdict> {
    let file = done.file.map(|path| path.display().to_string());
    let verdict = |name: &str| {
        let failure = outcome.failures.iter().find(|failure| failure.property == name);
        let ended = failure.map_or(Ended::Passed, |failure| {
            let replay = failure.replay_here.as_ref().map_or(String::new(), |c| format!("\nreplay: {c}"));
            Ended::Failed(format!("{}{replay}", failure.title))
        });
        let at = file.clone().map(|file| (file, None));
        Verdict { suite: done.subject.program.name.clone(), name: name.to_owned(), ended, at }
    };
    done.subject.properties(true).iter().map(|property| verdict(property.name())).collect()
}

/// Returns the parameters of the program's hunt profile, without those that the user set.
fn profile(stage: &dyn StageProgram, target: &Target) -> Vec<(String, String)> {
    let free = |(key, _): &(String, String)| target.sets.iter().all(|(set, _)| set != key);
    stage.hunt().into_iter().filter(free).collect()
}

/// Draws a buffer profile from the seed and returns its text.
fn draw_buffer(subject: &Subject<'_>, seed: u64) -> Result<String, Failure> {
    let ports = port_infos(&subject.ports, &subject.config.port_speeds);
    let words: Vec<u32> = hunt::words(seed).take(128).collect();
    buffer(&ports, &mut Draw::new(&words)).ok_or_else(|| {
        Failure::with_help(
            "--buffer random: no shipped buffer profile fits these ports",
            "give a profile by name or as a file",
        )
    })
}

/// Writes the files and prints the results.
fn finish(
    done: &Done<'_>,
    outcome: &mut Outcome<'_>,
    folder: Option<Folder>,
    as_json: bool,
) -> Result<(), Failure> {
    let written = folder.map_or(Ok(()), |folder| files::write(done, outcome, folder));
    if let Some(path) = &done.args.html {
        crate::output::files::write(path, &page::page(done, outcome))?;
    }
    let mut out = terminal::results(as_json);
    if as_json {
        outcome.per_second = Some((done.status.packets as f64 / done.seconds.max(1e-9)) as u64);
        write!(out, "{}", pretty(outcome))?;
    } else {
        write!(out, "{}", text::summary(done, outcome))?;
    }
    written
}
