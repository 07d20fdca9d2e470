//! `sluice report --compare`: compares two programs, parameter sets or chips.

use super::print;
use crate::console::fail::Failure;
use crate::open::door::{Door, OpenProgram};
use crate::open::resolve;
use crate::open::target::Target;
use crate::output::files::{self, Folder, pretty};
use crate::report::args::ReportArgs;
use sluice_catalogue::StageProgram;
use sluice_place::report::Report;
use sluice_place::{NoFit, Objective, Options};
use sluice_report::{self as report, Comparison};
use std::sync::Arc;

/// One side of a comparison.
struct Side {
    stage: Arc<dyn StageProgram>,
    target: Target,
    options: Options,
    /// Name: program, chip, and the settings that differ from the defaults.
    name: String,
}

/// Returns the other side; settings that the words do not name are those of `args` and of its program.
fn other(args: &ReportArgs, (opened, door): (&OpenProgram, &mut Door), words: &str) -> Result<Side, Failure> {
    let mut side = Side {
        stage: Arc::clone(&opened.stage),
        target: args.target.clone(),
        options: args.placing.options(),
        name: words.to_owned(),
    };
    for word in words.split_whitespace() {
        match word.split_once('=') {
            None => side.stage = door.program(word)?.stage,
            Some(("chip", chip)) => chip.clone_into(&mut side.target.chip),
            Some(("objective", aim)) => side.options.objective = aim.parse().map_err(Failure::input)?,
            Some(("without", names)) => {
                let names = names.split(',').map(str::parse);
                side.options.without = names.collect::<Result<_, _>>().map_err(Failure::input)?;
            }
            Some((key, value)) => {
                side.target.sets.retain(|(k, _)| k != key);
                side.target.sets.push((key.to_owned(), value.to_owned()));
            }
        }
    }
    // Parameters of one program mean nothing to another.
    if side.stage.name() != opened.name() {
        let own = |key: &str| words.split_whitespace().any(|w| w.split('=').next() == Some(key));
        side.target.sets.retain(|(k, _)| own(k));
    }
    side.name = name(side.stage.name(), &side.target, &side.options);
    Ok(side)
}

fn name(program: &str, target: &Target, options: &Options) -> String {
    let sets: String = target.sets.iter().map(|(k, v)| format!(" {k}={v}")).collect();
    let aim = match options.objective {
        aim if aim == Objective::default() => String::new(),
        aim => format!(" objective={aim}"),
    };
    let without: Vec<&str> = options.without.iter().map(|o| o.name()).collect();
    let without = if without.is_empty() { String::new() } else { format!(" without={}", without.join(",")) };
    format!("{program} on {}{sets}{aim}{without}", target.chip)
}

fn placed(side: &Side) -> Result<Result<Report, Box<NoFit>>, Failure> {
    let chip = resolve::chip(&side.target.chip)?;
    let program = resolve::build(&side.stage, &side.target)?;
    Ok(resolve::fit(&program, &chip, &side.options).map(|placement| Report::new(&program, &placement)))
}

/// Prints the comparison; fails with exit code 1 if a side does not fit.
pub(super) fn run(
    args: &ReportArgs,
    (opened, door): (&OpenProgram, &mut Door),
    words: &str,
    as_json: bool,
) -> Result<(), Failure> {
    let folder = Folder::asked("report", args.output.as_ref(), ["comparison.txt", "comparison.json"])?;
    let first = Side {
        stage: Arc::clone(&opened.stage),
        target: args.target.clone(),
        options: args.placing.options(),
        name: name(opened.name(), &args.target, &args.placing.options()),
    };
    let second = other(args, (opened, door), words)?;
    let (a, b) = match (placed(&first)?, placed(&second)?) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) => {
            let sides = [a.err(), b.err()];
            let text: String = sides.iter().flatten().map(|n| crate::console::snippet::no_fit(n)).collect();
            let reasons = sides.map(|side| side.map(|no_fit| no_fit.reason()));
            print(&text, &Comparison::impossible([first.name, second.name], reasons), as_json)?;
            return Err(Failure::Property);
        }
    };
    let comparison = report::compare([first.name, second.name], [&a, &b]);
    let text = comparison.text();
    if let Some(path) = &args.html {
        files::write(path, &comparison.html())?;
    }
    if let Some(mut folder) = folder {
        folder.text("comparison.txt", "text/plain", "the comparison for people", &text)?;
        let schema = "sluice.comparison/1";
        folder.text("comparison.json", schema, "the comparison for machines", &pretty(&comparison))?;
        folder.finish()?;
    }
    print(&text, &comparison, as_json)
}
