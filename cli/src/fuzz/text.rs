//! Results of a campaign as text.

use super::Done;
use super::outcome::Outcome;
use crate::console::numbers::counted;
use sluice_report::coverage as coverage_report;

/// Returns the summary of a campaign.
pub(crate) fn summary(done: &Done<'_>, outcome: &Outcome<'_>) -> String {
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
    let list = |names: String| if names.is_empty() { "none".to_owned() } else { names };
    let ends = status.ends.iter().map(|(r, n)| format!("{} {n}", r.name(&subject.program)));
    out += &format!("ended inside: {}\n", list(ends.collect::<Vec<_>>().join(", ")));
    out += &format!("no packet ended for: {}\n", list(outcome.unseen.join(", ")));
    for failure in &outcome.failures {
        out += &format!(
            "FAILED {}\n  case {}, shrunk from {} packets to {}\n",
            failure.title,
            failure.case,
            failure.packets_before,
            failure.packets.len()
        );
        for packet in &failure.packets {
            out += &format!("  {:>9} ns  dev:{:<3}  {}\n", packet.time_ns, packet.dev_port, packet.bytes);
        }
        match &failure.replay_here {
            Some(command) => out += &format!("  replay: {command}\n"),
            None => out += "  with -o DIR it is written as captures with the command that replays it\n",
        }
    }
    if status.failures.is_empty() {
        out += "no property failed\n";
    }
    if let Some(mutation) = &outcome.mutation {
        out += &mutation.text();
    }
    out
}
