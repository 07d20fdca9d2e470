//! Writes outcomes as a page of the handbook.

use sluice_papers::markdown_text;
use sluice_scenario::{Outcome, metric, names};
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "# Scenarios of the shared buffer\n\n\
Results of the scenarios that come with Sluice, one row per scenario and profile. `sluice run --markdown` prints this \
page. CHECKS is the number of assertions, and of those that are stated; LAST CHECK, EXPECTED and FOUND are those of the last one. \
[scenario-files.md](scenario-files.md) says how to write your own.\n\n\
Ids refer to [model: buffer](model/buffer.md): `8.N` is row N of its §8, `1.5.N` and `1.6.N` are packet counts of its \
§1.5 and §1.6, `LN` is a lesson of its §5, and names are those of the tests in its §6.2.\n";

fn cell(text: &str) -> String {
    markdown_text(text.lines().next().unwrap_or(""))
}

/// Returns the sentences that count rows and assertions.
fn counts(outcomes: &[Outcome]) -> String {
    let rows = outcomes.iter().filter(|o| o.not_applicable.is_none());
    let ids: BTreeSet<&str> = rows.clone().map(|o| o.id.as_str()).collect();
    let profiles: BTreeSet<&str> =
        rows.clone().map(|o| o.profile.as_str()).filter(|p| !["host", ""].contains(p)).collect();
    let checks = || rows.clone().flat_map(|o| &o.checks);
    let stated = checks().filter(|c| c.stated).count();
    format!(
        "{} ids over {} profiles, and hosts, are {} rows with {} assertions. {stated} assertions are *stated*: the expected \
         number and all packet counts before it are numbers of the file, such as a calibrated count of a test suite or a closed \
         form. The other {} use numbers that were computed from thresholds of the resolved profile, or measured in the same \
         run: these find changes, and not errors that profile and device share.",
        ids.len(),
        profiles.len(),
        rows.clone().count(),
        checks().count(),
        checks().count() - stated,
    )
}

/// Returns the page.
pub(super) fn page(outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "{HEAD}\n{}\n\n| id | profile | what it shows | checks (stated) | last check | expected | found | |\n",
        counts(outcomes)
    );
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for outcome in outcomes.iter().filter(|o| o.not_applicable.is_none()) {
        let main = outcome.main();
        let of =
            |get: fn(&sluice_scenario::Check) -> &String| main.map_or_else(String::new, |c| cell(get(c)));
        let unit = main.map_or("", |c| c.unit);
        let result = if outcome.passed() == Some(true) { "pass" } else { "**fail**" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} ({}) | `{}` | {} {unit} | {} {unit} | {result} |",
            cell(&outcome.id),
            cell(&outcome.profile),
            cell(&outcome.title),
            outcome.checks.len(),
            outcome.checks.iter().filter(|c| c.stated).count(),
            of(|c| &c.what),
            of(|c| &c.expected),
            of(|c| &c.actual),
        );
    }
    text.push_str("\n## Rows that are not run\n\n| id | about | why |\n|---|---|---|\n");
    for outcome in outcomes {
        if let Some(reason) = &outcome.not_applicable {
            let _ = writeln!(text, "| {} | {} | {} |", cell(&outcome.id), cell(&outcome.title), cell(reason));
        }
    }
    text.push_str("\n## Names of expressions\n\n| name | arguments | unit | meaning |\n|---|---|---|---|\n");
    for metric::Row { name, arguments, unit, meaning } in metric::rows() {
        let _ = writeln!(text, "| `{name}` | {arguments} | {unit} | {meaning} |");
    }
    text.push_str("\nBreakpoints of a buffer profile, computed in closed form for packets of one group in an empty buffer:\n\n");
    text.push_str("| name | meaning |\n|---|---|\n");
    for (name, meaning) in names::TABLE {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text
}
