//! `--html FILE`: one page about a campaign: findings, coverage on the program's text, ends of packets, mutants.

use super::Done;
use super::args::FuzzArgs;
use super::mutation::{Mutant, Mutation};
use super::outcome::{Outcome, Packet};
use crate::console::hint::own_arguments;
use crate::console::text_file;
use maud::{Markup, html};
use serde_json::json;
use sluice_charts::{Page, Table, share_bar};
use sluice_report::coverage;
use sluice_report::coverage_text::{self, Located, ProgramText};

/// Returns the page.
pub(super) fn page(done: &Done<'_>, outcome: &Outcome<'_>) -> String {
    let (status, subject) = (&done.status, done.subject);
    let program = &subject.program;
    let title = format!("Hunt on {}", program.name);
    let failed = !status.failures.is_empty();
    let mut page = Page::new(&title)
        .style(coverage_text::STYLE)
        .header(header(done))
        .section("findings", "Findings", &findings(done, outcome))
        .section("coverage", "Coverage", &coverage::table(&subject.points, &status.coverage));
    if let Some(mutation) = &outcome.mutation {
        page = page.section("mutants", "Mutants", &mutants(mutation));
    }
    let page = page
        .section("ends", if failed { "How other packets ended" } else { "How packets ended" }, &ends(outcome))
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
        let text = text_file::text(file).ok()?;
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
        p.note { code { "sluice fuzz " (own_arguments::<FuzzArgs>("fuzz", &done.args.program)) } }
        @if !done.profile.is_empty() {
            p.note { "Parameters for hunts: "
            (done.profile.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")) }
        }
    }
}

fn findings(done: &Done<'_>, outcome: &Outcome<'_>) -> Markup {
    let properties: Vec<String> = done.subject.properties(true).iter().map(|p| p.name().to_owned()).collect();
    html! {
        @for failure in &outcome.failures {
            h3 { span.tag.fail { "FAILED" } " " (failure.property) }
            p { (failure.text) }
            p.note {
                "Input " (failure.case) ", shrunk from " (failure.packets_before) " packets to "
                (failure.packets.len()) @if failure.obeys_pfc { "; the senders obey PFC" }
            }
            @let row = |p: &Packet| vec![p.time_ns.to_string(), p.dev_port.to_string(), p.bytes.clone()];
            (Table::new(&["ns", "dev_port", "bytes"]).rows(failure.packets.iter().map(row)))
            @if !failure.changes.is_empty() {
                p { "Changes between the packets:" }
                pre.code { (failure.changes) }
            }
            @if let Some(replay) = &failure.replay_here { p { "Replay: " code { (replay) } } }
        }
        p { (properties.len()) " properties were checked: " (properties.join(", ")) "." }
    }
}

fn ends(outcome: &Outcome<'_>) -> Markup {
    let ends = outcome.drops.iter().map(|(reason, count)| vec![(*reason).to_owned(), count.to_string()]);
    html! {
        (Table::new(&["reason of the end inside", "packets"]).rows(ends))
        @if !outcome.unseen.is_empty() { p { "No packet ended for: " (outcome.unseen.join(", ")) "." } }
    }
}

fn mutants(m: &Mutation<'_>) -> Markup {
    let row = |m: &Mutant<'_>| -> Vec<String> {
        let [old, new] = [&m.change.old, &m.change.new].map(|lines| json!(lines).to_string());
        let place = [m.operator.to_owned(), m.site.to_owned(), m.source.clone(), old, new];
        place.into_iter().chain(m.reason.clone()).collect()
    };
    let header = ["operator", "place", "source", "from", "to", "reason"];
    html! {
        p {
            "Properties notice " b { (m.property_kill_rate_percent) " %" } " of the mutants that change a packet's bytes, port, fate or order: "
            (m.visible_by_property) " of " (m.visible) ". Properties or comparison with the original notice "
            b { (m.kill_rate_percent) " %" } " of all " (m.mutants) " mutants; "
            (m.equivalent) " are equivalent for certain, "
            (m.refused) " changes were refused by the verifier."
        }
        div.wide { table {
            thead { tr { th.l { "operator" } th { "noticed" } th { "of" } th.l { "" } } }
            tbody { @for (name, of) in &m.operators {
                tr {
                    td.l { (name) } td { (of.noticed) } td { (of.mutants) }
                    td.l { (share_bar(of.noticed as f64 / of.mutants.max(1) as f64)) }
                }
            } }
        } }
        @for (title, header, list) in [
            ("Not noticed by properties", &header[..5], &m.survivors_of_properties),
            ("Survivors", &header[..], &m.survivors),
            ("Equivalent", &header[..], &m.equivalents),
        ] {
            @if !list.is_empty() {
                h3 { (title) ": " (list.len()) }
                (Table::new(header).rows(list.iter().map(row)))
            }
        }
    }
}
