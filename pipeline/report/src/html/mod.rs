//! Placement report as one HTML file without external files, network access or scripts.
//!
//! The matrix comes first, then the limits, then the details; the details of a cell open with it. Drawings
//! are SVG made from the report's lists (`graph`, `cycles`).

mod cycles;
mod graph;
mod matrix;
mod style;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sluice_asic::gress::Gress;
use sluice_place::report::Report;

/// Returns the page of a program that fits.
#[must_use]
pub fn html(report: &Report) -> String {
    let title = format!("{} on {}", report.program, report.chip);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(style::CSS)) }
            }
            body {
                (summary(report, &title))
                (section("matrix", "Units per stage", &matrix::view(report)))
                (section("limits", "What limits this program", &tables::limits(report)))
                (section("tables", "Tables", &tables::list(report)))
                (section("dependencies", "Dependencies", &graph::dependencies(report)))
                (section("next-tables", "Next tables", &tables::next_tables(report)))
                (section("latency", "Latency", &cycles::view(report)))
                (section("power", "Power", &tables::power(report)))
                (section("phv", "PHV", &tables::containers(report)))
                (section("parser", "Parser", &graph::parsers(report)))
                (section("assumptions", "Assumptions", &tables::assumptions(report)))
                (section("units", "Every unit and its owner", &matrix::owners(report)))
            }
        }
    };
    page.into_string()
}

fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section id=(id) { h2 { (title) } (body) } }
}

fn summary(report: &Report, title: &str) -> Markup {
    let [ingress, egress] = Gress::ALL.map(|g| &report.gresses[g.index()]);
    html! {
        header {
            h1 { (title) }
            p.verdict {
                "Fits: " b { (report.stages_used()) } " of " (report.stages.len()) " stages (ingress "
                (ingress.stages_used) ", egress " (egress.stages_used) "), "
                b { (report.total.as_ps().div_ceil(1000)) " ns" } " from wire to wire without queueing."
            }
            @if !report.params.is_empty() {
                details {
                    summary { (report.params.len()) " parameters" }
                    dl.params { @for p in &report.params { dt { (p.key) } dd { (p.value) } } }
                }
            }
        }
    }
}
