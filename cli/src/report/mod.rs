//! `sluice report`: places a program and reports whether it fits.

mod args;
mod compare;
mod plot;
mod remedies;
mod sweep;
mod watch;
mod why_not;

pub(crate) use args::ReportArgs;

use crate::console::fail::{Failure, print_error};
use crate::console::hint::{new_name, next_arguments};
use crate::console::invocation::Out;
use crate::console::terminal;
use crate::open::door::Door;
use crate::open::resolve;
use crate::output::files::{self, Folder, pretty};
use serde::Serialize;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_place::NoFit;
use sluice_place::report::Report;
use sluice_report::{self as report, WhyNot};
use std::io::Write;
use std::sync::Arc;

/// Places a program and prints the report; fails with exit code 1 if the program does not fit.
pub(crate) fn run(args: &ReportArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let mut door = Door::new(catalogue, &args.target.p4, &chip);
    let opened = &door.program(&args.program)?;
    if let Some(changes) = args.watch {
        let help = "write the program as a .sluice file; `sluice programs NAME --ir` prints one";
        let no_file = || Failure::with_help(format!("--watch: `{}` is not a file", args.program), help);
        let path = opened.file.as_deref().ok_or_else(no_file)?;
        return watch::run(args, (path, opened.name()), changes, as_json);
    }
    if let Some(words) = &args.compare {
        return compare::run(args, (opened, &mut door), words, as_json);
    }
    if let Some(range) = &args.sweep {
        return sweep::run(args, opened, range, as_json);
    }
    let stage = &opened.stage;
    let program = resolve::build(stage, &args.target)?;
    if let Some(pass) = args.dump {
        return match pass.dump(&program, &chip, &args.placing.options()) {
            Ok(text) => Ok(terminal::print(&text)?),
            Err(no_fit) => {
                print_error(crate::console::snippet::no_fit(&no_fit));
                Err(Failure::Property)
            }
        };
    }
    let folder = Folder::asked("report", args.output.as_ref(), NAMES)?;
    match resolve::fit(&program, &chip, &args.placing.options()) {
        Ok(placement) => {
            let report = Report::new(&program, &placement).with_notes(stage.notes());
            fits(args, opened.name(), &report, folder, as_json)
        }
        Err(no_fit) => {
            let notes = stage.notes();
            let mut document = report::Document::no_fit(&program, &no_fit);
            document.notes = &notes;
            let why_not = if args.why_not { why_not::find(args, stage, &program, &chip)? } else { None };
            let mut text = crate::console::snippet::no_fit_with(&no_fit, why_not.as_ref());
            if args.why_not {
                document.remedies = why_not.as_ref().map_or_else(Vec::new, WhyNot::remedies);
                document.why_not = Some(why_not);
            } else if !no_fit.is_unfinished() {
                document.remedies = remedies::find(args, stage, &program, &chip)?;
                text.push_str(&remedies::text(&document.remedies));
            }
            if !notes.is_empty() {
                text.push_str(&format!("\nApproximated or ignored\n{}", report::notes(&notes)));
            }
            if let Some(mut folder) = folder {
                for_both(&mut folder, &text, &document)?;
                folder.finish()?;
            }
            print(&text, &document, as_json)?;
            Err(Failure::Property)
        }
    }
}

/// Places the program, with one parameter set to a value if `set` is given.
fn placed(
    args: &ReportArgs,
    stage: &Arc<dyn StageProgram>,
    chip: &ChipSpec,
    set: Option<(&String, u64)>,
) -> Result<Result<Report, Box<NoFit>>, Failure> {
    let mut target = args.target.clone();
    if let Some((key, value)) = set {
        target.sets.retain(|(k, _)| k != key);
        target.sets.push((key.clone(), value.to_string()));
    }
    let program = resolve::build(stage, &target)?;
    let placement = resolve::fit(&program, chip, &args.placing.options());
    Ok(placement.map(|placement| Report::new(&program, &placement)))
}

/// Names of the files of `-o`.
const NAMES: [&str; 5] =
    ["report.txt", "report.json", "report.html", "mau.resources.log", "table_summary.log"];

fn fits(
    args: &ReportArgs,
    program: &str,
    report: &Report,
    folder: Option<Folder>,
    as_json: bool,
) -> Result<(), Failure> {
    let (text, document) = (report::text(report), report::Document::of(report));
    let log = || report::resources_log(report);
    let summary = || report::table_summary(report);
    if let Some(mut folder) = folder {
        for_both(&mut folder, &text, &document)?;
        folder.text("report.html", "text/html", "the report as a page", &report::html(report))?;
        folder.text("mau.resources.log", "text/plain", "units per stage in the vendor's layout", &log())?;
        folder.text("table_summary.log", "text/plain", "tables in the vendor's layout", &summary())?;
        folder.finish()?;
    }
    type Writer = fn(&Report) -> String;
    let pages = [(&args.html, report::html as Writer), (&args.dot, report::dot)];
    for (path, text) in pages.into_iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        files::write(path, &text(report))?;
    }
    if args.vendor_layout {
        return print(&format!("{}\n{}", log(), summary()), &document, false);
    }
    match args.full {
        true => print(&text, &document, as_json),
        false => {
            print(&(report::short(report, terminal::width()) + &more(args, program)), &document, as_json)
        }
    }
}

/// Returns commands that show more, with the words that the user gave.
fn more(args: &ReportArgs, program: &str) -> String {
    let words = next_arguments::<ReportArgs, ReportArgs>("report", &args.program, &[]);
    let page = std::path::Path::new(program).with_extension("html");
    let page = page.file_name().map_or_else(|| "report.html".into(), |name| name.to_string_lossy());
    let page = new_name(&page);
    format!(
        "\nmore:\n  sluice report {words} --full\n      every table, memory, container, parser row and cycle\n  sluice report \
         {words} --html {page}\n      the same as a page, with a heat map and the graph of dependencies\n"
    )
}

fn for_both(folder: &mut Folder, text: &str, document: &report::Document<'_>) -> Result<(), Failure> {
    folder.text("report.txt", "text/plain", "the report for people", text)?;
    folder.text("report.json", "sluice.report/1", "the report for machines", &pretty(document))
}

/// Prints the text, or the JSON.
fn print(text: &str, value: &impl Serialize, as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => write!(Out::new(), "{}", pretty(value))?,
        false => terminal::print(text)?,
    }
    Ok(())
}
