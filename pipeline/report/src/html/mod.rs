//! Placement report as one HTML file without external files or network access.
//!
//! The page has the matrix first, then the resources that limit the program, then the details. Frame, style and
//! drawings are those of `sluice-charts`; the modules `graph`, `cycles` and `matrix` fill them from the report's
//! lists.

mod cycles;
mod graph;
mod matrix;
mod tables;

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_charts::Page;
use sluice_place::report::Report;

/// Style of lists that only this page has.
const STYLE: &str = r"
dl.params { display:grid; grid-template-columns:fit-content(40%) minmax(0,1fr); gap:0 1rem; font-family:ui-monospace,monospace; }
dl.params dd { margin:0; overflow-wrap:anywhere; } dl.params dt { overflow-wrap:anywhere; }
section#tables table { font-size:12px; } section#tables th { white-space:normal; }
.phv { display:flex; flex-wrap:wrap; gap:2px; }
.phv div { border:1px solid var(--line); border-left:4px solid #1f6fb5; padding:.1rem .3rem; font-size:12px;
  max-width:100%; overflow-wrap:anywhere; } .phv div.egress { border-left-color:#d55500; }
.phv b { font-family:ui-monospace,monospace; }
";

/// Returns the page of a program that fits.
#[must_use]
pub fn html(report: &Report) -> String {
    let page = Page::new(&format!("{} on {}", report.program, report.chip))
        .style(STYLE)
        .header(summary(report))
        .section("matrix", "Units per stage", &matrix::view(report))
        .section("limits", "What limits this program", &tables::limits(report));
    page.section_if(!report.notes.is_empty(), "notes", "Approximated or ignored", || tables::notes(report))
        .section_if(!report.demands.is_empty(), "demands", "Demands of the author", || {
            tables::demands(report)
        })
        .section("tables", "Tables", &tables::list(report))
        .section_if(!report.arrays.is_empty(), "arrays", "Registers, counters, meters", || {
            tables::arrays(report)
        })
        .section("dependencies", "Dependencies", &graph::dependencies(report))
        .section("next-tables", "Next tables", &tables::next_tables(report))
        .section("latency", "Latency", &cycles::view(report))
        .section("power", "Power", &tables::power(report))
        .section("phv", "PHV", &tables::containers(report))
        .section("fields", "Fields", &tables::fields(report))
        .section("parser", "Parser", &graph::parsers(report))
        .section("assumptions", "Assumptions", &tables::assumptions(report))
        .section("units", "Every unit and its owner", &matrix::owners(report))
        .html()
}

fn summary(report: &Report) -> Markup {
    let [ingress, egress] = Gress::ALL.map(|g| &report.gresses[g.index()]);
    html! {
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
