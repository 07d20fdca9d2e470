//! `--html FILE`: one page about a campaign: findings, coverage on the program's text, ends of packets, mutants.

use super::args::FuzzArgs;
use super::{Done, json};
use crate::console::hint::own_arguments;
use maud::{Markup, html};
use serde_json::Value;
use sluice_charts::{Page, Table, share_bar};
use sluice_report::coverage;
use sluice_report::coverage_text::{self, Located, ProgramText};

fn list<'v>(v: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    v[key].as_array().into_iter().flatten()
}

/// Returns the text of a string, or a number's digits.
fn words(v: &Value) -> String {
    v.as_str().map_or_else(|| v.to_string(), str::to_owned)
}

/// Returns the page.
pub(super) fn page(done: &Done<'_>) -> String {
    let (status, subject) = (&done.status, done.subject);
    let value = json::value(done, false);
    let program = &subject.program;
    let title = format!("Hunt on {}", program.name);
    let mutation = &value["mutation"];
    let failed = !status.failures.is_empty();
    let page = Page::new(&title)
        .style(coverage_text::STYLE)
        .header(header(done))
        .section("findings", "Findings", &findings(done, &value))
        .section("coverage", "Coverage", &coverage::table(&subject.points, &status.coverage))
        .section_if(mutation.is_object(), "mutants", "Mutants", || mutants(mutation))
        .section(
            "ends",
            if failed { "How other packets ended" } else { "How packets ended" },
            &ends(done, &value),
        )
        .section(
            "text",
            "Coverage on the program's text",
            &located(done).map_or_else(no_text, |l| l.view(&status.coverage)),
        );
    coverage::lists(page, &subject.points, &status.coverage).html()
}

fn no_text() -> Markup {
    html! { p { "The text form of this program has other points; the lists below have all of them." } }
}

/// Returns the points on the files that the user gave, otherwise on the text form.
fn located(done: &Done<'_>) -> Option<Located> {
    let subject = done.subject;
    let read = |file: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        Some(ProgramText { file: file.to_owned(), text })
    };
    let files = coverage_text::files(&subject.points);
    let texts: Option<Vec<ProgramText>> = files.into_iter().map(read).collect();
    // Only a program from a file was read from the texts that its places name.
    match texts.filter(|texts| done.file.is_some() && !texts.is_empty()) {
        Some(texts) => Some(Located::on(texts, &subject.points)),
        None => Located::on_text_form(&subject.program, &subject.placement.chip, &subject.points),
    }
}

fn header(done: &Done<'_>) -> Markup {
    let (status, subject) = (&done.status, done.subject);
    let all = status.coverage.overall(&subject.points);
    html! {
        p.verdict {
            @match status.failures.len() {
                0 => span.tag.pass { "no property failed" },
                1 => span.tag.fail { "1 property failed" },
                several => span.tag.fail { (several) " properties failed" },
            }
            " " b { (status.cases) } " inputs, " b { (status.packets) } " packets on "
            (subject.placement.chip.name) ", seed " (done.args.seed)
            "; " b { (all.percent()) " %" } " of the reachable points reached (" (all.hit) " of " (all.total) ")"
        }
        p.note { code { "sluice fuzz " (own_arguments::<FuzzArgs, FuzzArgs>("fuzz", &done.args.program, &[])) } }
        @if !done.profile.is_empty() {
            p.note { "Parameters for hunts: "
            (done.profile.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")) }
        }
    }
}

fn findings(done: &Done<'_>, value: &Value) -> Markup {
    let properties: Vec<String> = done.subject.properties(true).iter().map(|p| p.name().to_owned()).collect();
    html! {
        @for failure in list(value, "failures") {
            h3 { span.tag.fail { "FAILED" } " " (words(&failure["property"])) }
            p { (words(&failure["text"])) }
            p.note {
                "Input " (words(&failure["case"])) ", shrunk from " (words(&failure["packets_before"])) " packets to "
                (list(failure, "packets").count()) @if failure["obeys_pfc"] == true { "; the senders obey PFC" }
            }
            @let row = |p: &Value| [&p["time_ns"], &p["dev_port"], &p["bytes"]].map(words).to_vec();
            (Table::new(&["ns", "dev_port", "bytes"]).rows(list(failure, "packets").map(row)))
            @if let Some(changes) = failure["changes"].as_str().filter(|text| !text.is_empty()) {
                p { "Changes between the packets:" }
                pre.code { (changes) }
            }
            @if let Some(replay) = failure["replay"].as_str() { p { "Replay: " code { (replay) } } }
        }
        p { (properties.len()) " properties were checked: " (properties.join(", ")) "." }
    }
}

fn ends(done: &Done<'_>, value: &Value) -> Markup {
    let ends = value["drops"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(reason, count)| vec![reason.clone(), words(count)]);
    let unseen = json::unseen(done);
    html! {
        (Table::new(&["reason of the end inside", "packets"]).rows(ends))
        @if !unseen.is_empty() { p { "No packet ended for: " (unseen.join(", ")) "." } }
    }
}

fn mutants(m: &Value) -> Markup {
    let number = |key: &str| words(&m[key]);
    let operators = m["operators"].as_object().into_iter().flatten();
    let sites = |key: &str| -> Vec<Vec<String>> {
        let row = |v: &Value| ["operator", "site", "source", "old", "new"].map(|key| words(&v[key])).to_vec();
        list(m, key).map(row).collect()
    };
    let reasons = |key: &str| -> Vec<Vec<String>> {
        let row = |v: &Value| {
            ["operator", "site", "source", "old", "new", "reason"].map(|key| words(&v[key])).to_vec()
        };
        list(m, key).map(row).collect()
    };
    let header = ["operator", "place", "source", "from", "to"];
    let with_reason = ["operator", "place", "source", "from", "to", "reason"];
    html! {
        p {
            "Properties notice " b { (number("property_kill_rate_percent")) " %" } " of the mutants that change a packet's bytes, port, fate or order: "
            (number("visible_by_property")) " of " (number("visible")) ". Properties or comparison with the original notice "
            b { (number("kill_rate_percent")) " %" } " of all " (number("mutants")) " mutants; "
            (number("equivalent")) " are equivalent for certain, "
            (number("refused")) " changes were refused by the verifier."
        }
        div.wide { table {
            thead { tr { th.l { "operator" } th { "noticed" } th { "of" } th.l { "" } } }
            tbody { @for (name, of) in operators {
                @let [noticed, all] = ["noticed", "mutants"].map(|key| of[key].as_u64().unwrap_or(0));
                tr { td.l { (name) } td { (noticed) } td { (all) } td.l { (share_bar(noticed as f64 / all.max(1) as f64)) } }
            } }
        } }
        @for (title, header, rows) in [
            ("Not noticed by properties", &header[..], sites("survivors_of_properties")),
            ("Survivors", &with_reason[..], reasons("survivors")),
            ("Equivalent", &with_reason[..], reasons("equivalents")),
        ] {
            @if !rows.is_empty() { h3 { (title) ": " (rows.len()) } (Table::new(header).rows(rows)) }
        }
    }
}
