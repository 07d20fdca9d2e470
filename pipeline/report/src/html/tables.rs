//! Lists: limits, tables, containers, assumptions.

use crate::text::without_place;
use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_charts::{Colour, range, share_bar};
use sluice_ir::Loc;
use sluice_place::Part;
use sluice_place::report::{ArrayReport, BranchReport, Report, TableReport, watts};

/// Lists the resources closest to their limits, with bars.
pub(super) fn limits(report: &Report) -> Markup {
    html! {
        ul {
            @for gress in Gress::ALL {
                @let g = &report.gresses[gress.index()];
                @if g.critical_length > 0 {
                    li { (gress) " needs " (g.critical_length) " stages by its dependencies alone and takes " (g.stages_used) "." }
                }
            }
        }
        div.wide { table {
            tr { th.l { "Resource" } th { "Stage" } th { "Used" } th { "Of" } th.l { "" } th.l { "Wanted by" } }
            @for limit in &report.limits {
                tr {
                    td.l { (limit.column.vendor_name()) } td { (limit.stage) } td { (limit.used) } td { (limit.available) }
                    td.l { (share_bar(f64::from(limit.used) / f64::from(limit.available.max(1)))) }
                    td.l.t { (limit.users.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")) }
                }
            }
        } }
    }
}

/// Lists the carriers of outcomes, with the stages that each spans.
pub(super) fn next_tables(report: &Report) -> Markup {
    let next = &report.next_tables;
    let stages = report.stages.len();
    html! {
        @if next.parallel {
            p {
                "Codes of " (next.code_bits) " bits. " (next.branches.len())
                " outcomes cross stages in which nothing runs on them; " (next.tags) " of " (next.tags_available)
                " long-branch tags are in use, " (next.pointed) " are on the next-table pointer, " (next.retested)
                " conditions are tested again."
            }
            @if !next.branches.is_empty() {
                div.wide { table {
                    tr { th.l { "Carrier" } th.l { "Gress" } th.l { "Reaches" } th { "From stage" } th { "To" } th.l { "" } }
                    @for b in &next.branches {
                        tr {
                            td.l { (b.carrier()) } td.l { (b.gress) } td.l { (b.to) } td { (b.from_stage) } td { (b.to_stage) }
                            td.l { (span(b, stages)) }
                        }
                    }
                } }
            }
        } @else {
            p { "Codes of " (next.code_bits) " bits. Tables follow each other as a chain: a branch ends before a parallel branch begins." }
        }
    }
}

/// Draws the stages that an outcome crosses, on a line of all stages.
fn span(b: &BranchReport, stages: usize) -> Markup {
    let colour = match b.gress {
        Gress::Ingress => Colour::BLUE,
        Gress::Egress => Colour::ORANGE,
    };
    let label = format!("stages {} to {}", b.from_stage, b.to_stage);
    range(usize::from(b.from_stage), usize::from(b.to_stage), stages, colour, &label)
}

/// Lists the power of each table's memories, with bars.
pub(super) fn power(report: &Report) -> Markup {
    let p = &report.power;
    html! {
        p {
            b { (watts(p.worst)) " W" } " of " (watts(p.limit)) " W in all pipes on the path that takes most"
            @if p.packets_per_1000_cycles < 1000 {
                "; the deparser lets " (p.packets_per_1000_cycles) " packets through in 1000 cycles"
            }
            "."
        }
        div.wide { table {
            tr { th.l { "Table" } th.l { "Gress" } th { "Watts" } th { "Always on" } th.l { "" } th.l { "On that path" } }
            @for t in &p.tables {
                tr {
                    td.l { (t.name) } td.l { (t.gress) } td { (watts(t.nanowatts)) } td { (watts(t.always)) }
                    td.l { (share_bar(t.nanowatts as f64 / p.worst.max(1) as f64)) }
                    td.l { @if p.path.contains(&t.name) { "yes" } }
                }
            }
        } }
    }
}

fn stages(parts: &[Part]) -> String {
    let stages: Vec<String> = parts.iter().map(|p| p.stage.to_string()).collect();
    stages.join(", ")
}

/// Lists every node: its stage, its content, and the reason of its stage.
pub(super) fn list(report: &Report) -> Markup {
    let dash = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    html! {
        div.wide { table {
            thead { tr {
                th.l { "Table" } th.l { "Gress" } th.l { "Kind" } th { "Stages" } th { "Earliest" } th { "Entries" } th { "Allocated" }
                th { "SRAM" } th { "Map RAM" } th { "TCAM" } th { "Key bits" } th { "Action bits" }
                th.l { "Why it is in this stage" } th.l { "Source" }
            } }
            tbody {
                @for t in &report.tables {
                    tr {
                        td.l.t { (without_place(t)) @if shows_condition(t) { br; code.long { "if (" (t.condition) ")" } } }
                        td.l { (t.gress) } td.l { (t.kind) } td { (stages(&t.parts)) } td { (t.min_stage) }
                        td { (dash(t.required.into())) } td { (dash(t.allocated)) } td { (dash(t.srams.into())) }
                        td { (dash(t.map_rams.into())) } td { (dash(t.tcams.into())) } td { (dash(t.key_bits.into())) }
                        td { (dash(t.action_bits.into())) } td.l.t { (t.why) }
                        td.l { (source(&t.at)) }
                    }
                }
            }
        } }
    }
}

/// Returns true if the name of a condition does not say its text.
fn shows_condition(table: &TableReport) -> bool {
    !table.condition.is_empty() && table.at.short().is_none()
}

/// Returns file and line of a place; nothing if it is unknown.
pub(super) fn source(at: &Loc) -> Markup {
    html! { @if !at.is_unknown() { code { (at.file) ":" (at.line) } } }
}

/// Lists registers, counters and meters.
pub(super) fn arrays(report: &Report) -> Markup {
    let alus = |a: &ArrayReport| {
        let places = a.alus.iter().map(|alu| format!("stage {} row {}", alu.stage, alu.row));
        places.collect::<Vec<_>>().join(", ")
    };
    html! {
        div.wide { table {
            tr {
                th.l { "Name" } th.l { "Kind" } th.l { "Gress" } th.l { "Cell" } th { "Cells" } th.l { "Of table" } th { "SRAM" }
                th { "Map RAM" } th.l { "ALUs" } th.l { "Used by" } th.l { "Source" }
            }
            @for a in &report.arrays {
                tr {
                    td.l { (a.name) } td.l { (a.kind) } td.l { (a.gress) } td.l { (a.cell) } td { (a.size) }
                    td.l { (a.table.as_deref().unwrap_or_default()) } td { (a.srams) } td { (a.map_rams) }
                    td.l { (alus(a)) } td.l.t { (a.users.join(", ")) } td.l { (source(&a.at)) }
                }
            }
        } }
    }
}

/// Lists the fields in the PHV with their containers.
pub(super) fn fields(report: &Report) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th.l { "Field" } th.l { "Gress" } th { "Bits" } th.l { "Containers" } th.l { "Source" } } }
            tbody {
                @for f in &report.detail.fields {
                    tr {
                        td.l { (f.name) } td.l { (f.gress) } td { (f.width) } td.l.t { (f.containers.join(", ")) }
                        td.l { (source(&f.at)) }
                    }
                }
            }
        } }
    }
}

/// Lists every container in use with its content.
pub(super) fn containers(report: &Report) -> Markup {
    let total = |gress: Gress| -> u32 { report.phv.groups.iter().map(|g| g.used[gress.index()]).sum() };
    let all: u32 = report.phv.groups.iter().map(|g| g.containers).sum();
    html! {
        p { "Ingress uses " (total(Gress::Ingress)) ", egress " (total(Gress::Egress)) " of " (all) " containers. Fields are listed from the most significant bit on." }
        @for gress in Gress::ALL {
            h3 { (gress) }
            div.phv {
                @for c in report.detail.containers.iter().filter(|c| c.gress == gress) {
                    div.(gress.name()) {
                        b { (c.name) } " "
                        (c.holds.iter().map(|held| held.what.as_str()).collect::<Vec<_>>().join(" · "))
                    }
                }
            }
        }
    }
}

/// Lists parts of the source that the program approximates or ignores.
pub(super) fn notes(report: &Report) -> Markup {
    html! {
        div.wide { table {
            tr { th.l { "Line" } th.l { "Part of the source" } th.l { "Effect" } }
            @for note in &report.notes {
                tr { td.l { code { (note.file) ":" (note.line) } } td.l.t { (note.what) } td.l.t { (note.effect) } }
            }
        } }
    }
}

/// Lists demands of the author with what the placement made of them.
pub(super) fn demands(report: &Report) -> Markup {
    html! {
        div.wide { table {
            tr { th.l { "Demand" } th.l { "Table or field" } th.l { "Effect" } }
            @for d in &report.demands {
                tr { td.l { code { (d.demand) } } td.l { (d.of) } td.l.t { (d.effect) } }
            }
        } }
    }
}

/// Lists values that public sources do not give.
pub(super) fn assumptions(report: &Report) -> Markup {
    html! {
        div.wide { table {
            tr { th.l { "Name" } th.l { "Value" } th.l { "Meaning" } th.l { "Why this value" } }
            @for a in &report.assumptions {
                tr { td.l { code { (a.id) } } td.l { (a.value) } td.l.t { (a.text) } td.l.t { (a.why) } }
            }
        } }
    }
}
