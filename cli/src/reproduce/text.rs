//! Results on a terminal, and the page of all papers.

use super::Done;
use crate::console::table::table;
use sluice_papers::{Library, Scale, Tally, Verdict, chapter, estimate_text, markdown, overview, row_cells};
use std::fmt::Write as _;
use std::time::Duration;

/// Returns a time in whole seconds, or minutes.
pub(super) fn seconds(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match seconds {
        s if s < 1.0 => "less than 1 s".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// Returns the list of all experiments, by paper.
pub(super) fn list(library: &Library) -> String {
    let mut out = String::new();
    for paper in library.papers() {
        let own = library
            .experiments
            .iter()
            .filter(|experiment| experiment.id.split('/').next() == Some(paper.id.as_str()));
        let rows: Vec<Vec<String>> = own
            .map(|experiment| {
                vec![experiment.id.clone(), experiment.title.clone(), experiment.figures.clone()]
            })
            .collect();
        // Writing into a String cannot fail.
        let _ = writeln!(out, "{}\n{}\n", paper.title, table(&["EXPERIMENT", "WHAT"], rows));
    }
    let _ = writeln!(
        out,
        "`sluice reproduce ID` runs one, a paper's name all of its experiments, `all` everything; --scale full runs as long as \
         the papers did, --with mine.p4 lets your program compete, -o DIR writes pages."
    );
    out
}

/// Returns the result of one experiment.
pub(super) fn report(done: &Done, scale: Scale) -> String {
    let Done { experiment, judgement, took, .. } = done;
    let mut out = String::new();
    let mut line = |text: &str| _ = writeln!(out, "{text}");
    line(&format!("{}: {}", experiment.id, experiment.title));
    line(&format!("{}; scale {scale}, {took}\n", experiment.figures));
    let rows: Vec<Vec<String>> = judgement.rows.iter().map(|result| row_cells(result).to_vec()).collect();
    if !rows.is_empty() {
        let header = ["NUMBER", "PUBLISHED", "SIMULATOR", "CLOSED FORM", "HERE", "RATIO", "VERDICT"];
        line(&format!("{}\n", table(&header, rows)));
    }
    for claim in &judgement.claims {
        let word = match claim.verdict {
            Verdict::Agrees | Verdict::NoNumber => "holds",
            Verdict::Undecided => "UNDECIDED",
            Verdict::Disagrees => "FAILS",
        };
        line(&format!("{word}  {}: {}", claim.what, claim.expect));
        claim.numbers.iter().for_each(|numbers| line(&format!("       {numbers}")));
    }
    for rival in &judgement.rivals {
        for (label, found) in &rival.rivals {
            let (own, paper) = (estimate_text(*found), estimate_text(rival.here));
            line(&format!(
                "rival  {label}: {}: {own} {} (the paper's program: {paper})",
                rival.what, rival.unit
            ));
        }
    }
    for (what, cause) in judgement.causes() {
        line(&format!("\n{what}: {cause}"));
    }
    judgement.errors.iter().for_each(|error| line(&format!("\nwrong: {error}")));
    line(&format!("\n{}: {}\n", experiment.id, judgement.summary()));
    out
}

/// Returns the page of all experiments that were run, sorted by paper.
pub(super) fn page(all: &[Done], library: &Library, scale: Scale) -> String {
    let mut out = String::from(
        "# The papers, one command each\n\n`sluice reproduce` runs experiments of papers and sets their numbers beside the \
         published ones. `sluice reproduce all --markdown` writes this page. Where a number disagrees, its cause is \
         stated, or that it is not found. Where a set-up or a claim was changed after a first result, the deviations say so.\n\n\
         A number agrees if its whole 95 % interval over the seeds is within the stated percentage of the published value. A number \
         is undecided if its interval is wider than that range and meets it, and disagrees otherwise. A claim agrees if it holds at every point: \
         the whole interval of the difference of both sides satisfies it. A claim disagrees if the whole interval violates it at one \
         point, and is undecided otherwise. One seed decides nothing. *Reference simulator* is the authors' simulator, or an \
         independent run of it; *closed form* is a formula.\n\n",
    );
    let tally: Tally = all.iter().map(|done| done.judgement.tally()).sum();
    let Tally { agree, undecided, disagree } = tally;
    // Writing into a String cannot fail.
    let _ = writeln!(
        out,
        "Of {} numbers and claims that can be compared, {agree} agree, {undecided} are undecided and {disagree} disagree.\n",
        tally.compared()
    );
    let rows = all.iter().map(|done| (&done.experiment, &done.judgement, done.took.as_str()));
    out += &overview(rows);
    for paper in library.papers() {
        let own: Vec<&Done> = all
            .iter()
            .filter(|done| done.experiment.id.split('/').next() == Some(paper.id.as_str()))
            .collect();
        if own.is_empty() {
            continue;
        }
        out += &chapter(paper);
        for done in own {
            out += &markdown(&done.experiment, &done.judgement, scale, &done.took);
        }
    }
    out
}
