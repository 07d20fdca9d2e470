//! Results of a campaign as text.

use super::{Done, files, json};
use crate::console::numbers::counted;
use sluice_report::coverage as coverage_report;

/// Returns the summary of a campaign.
pub(crate) fn summary(done: &Done<'_>) -> String {
    let (status, subject) = (&done.status, done.subject);
    let mut out = format!(
        "{} on {}: {}, {}, {:.0} k packets/s, seed {}\n",
        subject.program.name,
        subject.placement.chip.name,
        counted(status.cases, "input"),
        counted(status.packets, "packet"),
        status.packets as f64 / done.seconds.max(1e-9) / 1e3,
        done.args.seed
    );
    if !done.profile.is_empty() {
        let sets: Vec<String> = done.profile.iter().map(|(key, value)| format!("{key}={value}")).collect();
        out += &format!("hunt profile: {}; --set has others\n", sets.join(" "));
    }
    if let (Some(change), Some(dir)) = (&done.change, &done.args.corpus) {
        out += &format!(
            "corpus {}: {} sent first; {} added, {} removed, {} kept\n",
            dir.display(),
            counted(done.replayed as u64, "input"),
            change.added,
            change.removed,
            change.all
        );
    }
    out += &coverage_report::text(&subject.program.name, &subject.points, &status.coverage);
    let ends = status.ends.iter().map(|(r, n)| format!("{} {n}", r.name(&subject.program)));
    let list = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    out += &format!("ended inside: {}\n", list(ends.collect()));
    out += &format!("no packet ended for: {}\n", list(json::unseen(done)));
    for (number, failure) in (1..).zip(&status.failures) {
        out += &format!(
            "FAILED {}\n  case {}, shrunk from {} packets to {}\n",
            failure.violation,
            failure.case,
            failure.packets,
            failure.input.shots.len()
        );
        for shot in &failure.input.shots {
            out += &format!("  {:>9} ns  dev:{:<3}  {}\n", shot.at, shot.port, files::hex(&shot.bytes));
        }
        match files::command(done, number, failure) {
            Some(command) => out += &format!("  replay: {command}\n"),
            None => out += "  with -o DIR it is written as captures with the command that replays it\n",
        }
    }
    if status.failures.is_empty() {
        out += "no property failed\n";
    }
    if let Some(checked) = &done.mutation {
        out += &super::mutation::text(checked, &subject.program);
    }
    out
}
