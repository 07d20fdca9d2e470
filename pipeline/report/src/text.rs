//! Placement report as text: resources by stage first, then the limits, then the details.

mod next_table;
mod phv;
mod short;

use super::grid::Grid;
use crate::why_not::WhyNot;
use next_table::next_tables;
use phv::phv;
pub use short::{brief, short};
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_ir::verify::Diag;
use sluice_place::report::{
    AuthorDemand, GressReport, Report, SourceNote, TableReport, TogetherReport, deparser_rows, hundredths,
};
use sluice_place::report::{TablePower, watts};
use sluice_place::{NoFit, Objective, Part, ShortIn};
use std::fmt::Write;

/// Headings of the matrix of resources, in the order of [`Column::ALL`]. The legend gives the vendor's names.
pub const COLUMN_HEADINGS: [&str; 20] = [
    "EXbar", "TXbar", "HBit", "HDist", "GW", "SRAM", "MapR", "TCAM", "VLIW", "Meter", "Stats", "Stash",
    "ESBus", "ERBus", "TBus", "ADBus", "Slot8", "Slt16", "Slt32", "LTID",
];

/// Largest length of a line of prose, in characters.
const LINE: usize = 150;

/// Returns the whole report.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = headline(report);
    for p in &report.params {
        let _ = writeln!(out, "  {} = {}", p.key, p.value);
    }
    out.push_str(&placed_how(report));
    section(&mut out, "Units used per stage", &counts(report));
    section(&mut out, "Percent of a stage", &percents(report));
    section(&mut out, "Legend", &legend());
    section(&mut out, "What limits this program", &limits(report));
    if !report.notes.is_empty() {
        section(&mut out, "Approximated or ignored", &notes(&report.notes));
    }
    section(&mut out, "Tables", &tables(report));
    if !report.arrays.is_empty() {
        section(&mut out, "Arrays", &arrays(report));
    }
    section(&mut out, "Memories", &memories(report));
    section(&mut out, "Why each is where it is", &reasons(report));
    section(&mut out, "Longest chain of dependencies", &chains(report));
    section(&mut out, "Next tables", &next_tables(report));
    section(&mut out, "PHV", &phv(report));
    section(&mut out, "Parser", &parser(report));
    section(&mut out, "Deparser", &deparser(report));
    section(&mut out, "Latency", &latency(report));
    section(&mut out, "Power", &power(report));
    if !report.together.is_empty() {
        section(&mut out, "Ports of one pipe", &together(report));
    }
    if !report.demands.is_empty() {
        section(&mut out, "Demands of the author", &demands(report));
    }
    section(&mut out, "Assumptions", &assumptions(report));
    out
}

/// Returns the first line of both forms: the program, the chip, and the stages in use.
fn headline(report: &Report) -> String {
    let [ingress, egress] = &report.gresses;
    format!(
        "{} on {}: fits, {} of {} stages (ingress {}, egress {})\n",
        report.program,
        report.chip,
        report.stages_used(),
        report.stages.len(),
        ingress.stages_used,
        egress.stages_used,
    )
}

/// Returns the report of a program that does not fit.
#[must_use]
pub fn text_no_fit(no_fit: &NoFit) -> String {
    text_no_fit_with(no_fit, None, &mut ToString::to_string)
}

/// Returns the report of a program that does not fit: the smallest change that makes it fit, if `why_not` was asked; the causes;
/// then what follows from the causes. `shown` prints a finding.
pub fn text_no_fit_with(
    no_fit: &NoFit,
    why_not: Option<&WhyNot>,
    shown: &mut dyn FnMut(&Diag) -> String,
) -> String {
    let verdict = if no_fit.is_unfinished() { "not placed, its steps are used up" } else { "does not fit" };
    let answer = why_not.map_or_else(String::new, |why_not| format!("; {}", why_not.answer()));
    let mut out = format!("{} on {}: {verdict}{answer}\n", no_fit.program, no_fit.chip);
    let (causes, followers) = no_fit.causes();
    for diag in causes {
        let _ = writeln!(out, "\n{}", shown(diag));
    }
    if let Some(first) = no_fit.first_exhausted.as_ref().filter(|f| !f.contenders.is_empty()) {
        let at = match first.place {
            ShortIn::Stage(stage) => format!(", first short in stage {stage},"),
            ShortIn::Gress(gress) => format!(" of {gress}"),
            ShortIn::Pipe => String::new(),
        };
        let _ = writeln!(out, "\n{}{at} is wanted by: {}", first.resource.id(), first.contenders.join(", "));
    }
    if !followers.is_empty() {
        let _ = writeln!(out, "\nWithout a place because of this");
    }
    for diag in followers {
        let place = if diag.at.file.is_empty() {
            String::new()
        } else {
            format!(" ({}:{})", diag.at.file, diag.at.line)
        };
        let _ = writeln!(out, "  {}{place}", diag.text.replace('\n', " "));
    }
    if let Some(why_not) = why_not {
        out += &why_not.text();
    }
    out
}

/// Returns parts of the source that the program approximates or ignores, a line each.
#[must_use]
pub fn notes(notes: &[SourceNote]) -> String {
    let line = |note: &SourceNote| format!("  {}:{}: {}: {}\n", note.file, note.line, note.what, note.effect);
    notes.iter().map(line).collect()
}

fn section(out: &mut String, title: &str, body: &str) {
    let _ = write!(out, "\n{title}\n{body}");
}

fn dependency(d: StageDependency) -> &'static str {
    match d {
        StageDependency::Match => "M",
        StageDependency::Action => "A",
        StageDependency::Concurrent => "C",
    }
}

fn counts(report: &Report) -> String {
    let mut grid = Grid::new(["Stage", "Dep"].into_iter().chain(COLUMN_HEADINGS), &[1]);
    for stage in &report.stages {
        let deps = stage.dependencies.map(dependency).join("/");
        grid.row([stage.stage.to_string(), deps].into_iter().chain(stage.used.map(|n| n.to_string())));
    }
    let stages = report.stages.len() as u32;
    grid.row(["Total".to_owned(), String::new()].into_iter().chain(report.totals.map(|n| n.to_string())));
    grid.row(
        ["Of".to_owned(), String::new()]
            .into_iter()
            .chain(report.available.map(|n| (n * stages).to_string())),
    );
    grid.print(true)
}

fn percent(used: u32, available: u32) -> String {
    let hundredths = hundredths(used, available);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn percents(report: &Report) -> String {
    let mut grid = Grid::new(["Stage"].into_iter().chain(COLUMN_HEADINGS), &[]);
    let stages = report.stages.len() as u32;
    for stage in &report.stages {
        let cells = stage.used.iter().zip(report.available).map(|(&u, a)| percent(u, a));
        grid.row([stage.stage.to_string()].into_iter().chain(cells));
    }
    let average = report.totals.iter().zip(report.available).map(|(&u, a)| percent(u, a * stages));
    grid.row(["Avg".to_owned()].into_iter().chain(average));
    grid.print(true)
}

fn legend() -> String {
    let names: Vec<String> =
        Column::ALL.iter().map(|c| format!("{} {}", COLUMN_HEADINGS[c.index()], c.vendor_name())).collect();
    wrap(&names, ", ") + "  Dep: dependency on earlier stages, ingress/egress: Match, Action, Concurrent\n"
}

fn limits(report: &Report) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let g = &report.gresses[gress.index()];
        if g.critical_length > 0 {
            let _ = writeln!(
                out,
                "  stages: {gress} needs {} by its dependencies, takes {} of {}",
                g.critical_length,
                g.stages_used,
                report.stages.len()
            );
        }
    }
    for limit in &report.limits {
        let mut users: Vec<String> =
            limit.users.iter().take(4).map(|(name, n)| format!("{name} {n}")).collect();
        if limit.users.len() > 4 {
            users.push(format!("{} more", limit.users.len() - 4));
        }
        let _ = writeln!(
            out,
            "  {}: {} of {} ({}%) in stage {}: {}",
            limit.column.vendor_name(),
            limit.used,
            limit.available,
            percent(limit.used, limit.available),
            limit.stage,
            users.join(", ")
        );
    }
    out
}

/// Returns stages as `0-8` or `0,2`.
fn stages_of(parts: &[Part]) -> String {
    let consecutive = parts.windows(2).all(|w| w[0].stage + 1 == w[1].stage);
    match parts {
        [first, .., last] if consecutive => format!("{}-{}", first.stage, last.stage),
        _ => parts.iter().map(|p| p.stage.to_string()).collect::<Vec<_>>().join(","),
    }
}

fn ids_of(parts: &[Part]) -> String {
    match parts.first() {
        Some(first) if parts.iter().all(|p| p.logical_id == first.logical_id) => first.logical_id.to_string(),
        _ => parts.iter().map(|p| p.logical_id.to_string()).collect::<Vec<_>>().join(","),
    }
}

fn tables(report: &Report) -> String {
    let heading = [
        "  Table",
        "Gress",
        "Kind",
        "Stage",
        "Id",
        "Min",
        "Required",
        "Allocated",
        "SRAM",
        "MapRAM",
        "TCAM",
        "Key b",
        "Action b",
        "Source",
    ];
    let mut grid = Grid::new(heading, &[0, 1, 2, 13]);
    for t in &report.tables {
        let dash = |n: u64| if n == 0 { "-".to_owned() } else { n.to_string() };
        grid.row([
            format!("  {}", without_place(t)),
            t.control.to_owned(),
            t.kind.to_owned(),
            stages_of(&t.parts),
            ids_of(&t.parts),
            min_stage(t),
            dash(u64::from(t.required)),
            dash(t.allocated),
            dash(u64::from(t.srams)),
            dash(u64::from(t.map_rams)),
            dash(u64::from(t.tcams)),
            dash(u64::from(t.key_bits)),
            dash(u64::from(t.action_bits)),
            if t.at.is_unknown() { String::new() } else { format!("{}:{}", t.at.file, t.at.line) },
        ]);
    }
    let mut out = grid.print(false);
    for t in report.tables.iter().filter(|t| t.usable < u64::from(t.required)) {
        let _ = writeln!(
            out,
            "  `{}` is expected to take about {} of its {} entries before an insertion fails (mau.exact_fill)",
            t.name, t.usable, t.required,
        );
    }
    out
}

/// Returns registers, meters and counters, with the instructions of their stateful ALUs below.
fn arrays(report: &Report) -> String {
    let heading =
        ["  Array", "Gress", "Kind", "Cell", "Size", "ALU (stage:row)", "SRAM", "MapRAM", "Used by"];
    let mut grid = Grid::new(heading, &[0, 1, 2, 3, 5, 8]);
    for a in &report.arrays {
        let alus: Vec<String> = a.alus.iter().map(|alu| format!("{}:{}", alu.stage, alu.row)).collect();
        grid.row([
            format!("  {}", a.name),
            a.gress.name().to_owned(),
            a.kind.to_owned(),
            a.cell.clone(),
            a.size.to_string(),
            alus.join(" "),
            a.srams.to_string(),
            a.map_rams.to_string(),
            a.users.join(", "),
        ]);
    }
    let mut out = grid.print(false);
    for a in report.arrays.iter().filter(|a| !a.instructions.is_empty()) {
        let rows = match a.file_rows {
            0 => String::new(),
            1 => ", 1 register file row".to_owned(),
            n => format!(", {n} register file rows"),
        };
        let number = a.instructions.len();
        let _ =
            writeln!(out, "  {}: {number} instruction{}{rows}", a.name, if number == 1 { "" } else { "s" });
        for instruction in &a.instructions {
            let _ = writeln!(out, "    {}: {}", instruction.action, instruction.uses);
        }
    }
    out
}

/// Returns the memory layout and ageing of each table.
fn memories(report: &Report) -> String {
    let mut out = String::new();
    for t in &report.tables {
        let parts = t.parts.iter().zip(&t.layout).filter(|(_, layout)| !layout.is_empty());
        for (part, layout) in parts {
            let _ = writeln!(out, "  {} in stage {}: {layout}", t.name, part.stage);
        }
        if let Some(idle) = &t.idle {
            let _ = writeln!(out, "  {} ages: {idle}", t.name);
        }
    }
    out
}

/// Returns the table's earliest stage, with a star if the table is in a later one.
fn min_stage(table: &TableReport) -> String {
    let later = table.parts.first().is_some_and(|p| p.stage > table.min_stage);
    format!("{}{}", table.min_stage, if later { "*" } else { "" })
}

/// Returns the name of a table for a row that has its place.
pub(crate) fn without_place(table: &TableReport) -> &str {
    let rest = table.at.short().and_then(|place| table.name.strip_prefix(&place));
    rest.map_or(&table.name, str::trim_start)
}

fn reasons(report: &Report) -> String {
    report.tables.iter().map(|t| format!("  {} ({}): {}\n", t.name, stages_of(&t.parts), t.why)).collect()
}

fn chains(report: &Report) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let g = &report.gresses[gress.index()];
        if !g.critical_path.is_empty() {
            let _ =
                write!(out, "  {gress}, {} stages:\n{}", g.critical_length, wrap(&g.critical_path, " -> "));
        }
    }
    if out.is_empty() { "  no node waits for another\n".to_owned() } else { out }
}

/// Returns the placement options that differ from the defaults.
fn placed_how(report: &Report) -> String {
    let mut out = String::new();
    if report.options.objective != Objective::default() {
        let _ = writeln!(out, "  placed for the lowest {}", report.options.objective);
    }
    for without in &report.options.without {
        let _ = writeln!(out, "  placed without {without}");
    }
    out
}

fn parser(report: &Report) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let g = &report.gresses[gress.index()];
        let (depth, reach) = g.parser_depth;
        let _ = writeln!(
            out,
            "  {gress}: {} of {} rows, reads to byte {depth} of {reach}",
            g.parser_rows, report.parser_rows_available
        );
        for s in &g.parser_states {
            let _ = writeln!(
                out,
                "    state {}: {} cycles, {} rows, extractors {}/{}/{}, {} bytes matched",
                s.name, s.cycles, s.rows, s.extractors[0], s.extractors[1], s.extractors[2], s.match_bytes
            );
        }
        for p in &g.paths {
            let _ = writeln!(out, "    {} B, {} cycles: {}", p.bytes, p.cycles, p.path);
        }
    }
    out
}

fn deparser(report: &Report) -> String {
    let [ingress, egress] = &report.gresses;
    let mut grid = Grid::new(["  Unit", "Ingress", "Of", "Egress", "Of"], &[0]);
    for (i, e) in deparser_rows(report, ingress).into_iter().zip(deparser_rows(report, egress)) {
        let (_, words, used, of) = i;
        let cells = [used, of, e.2, e.3].map(|n| n.to_string());
        grid.row([format!("  {words}")].into_iter().chain(cells));
    }
    grid.print(false)
}

fn latency(report: &Report) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let g: &GressReport = &report.gresses[gress.index()];
        let longest = g.paths.iter().map(|p| p.cycles).max().unwrap_or(0);
        let _ = writeln!(
            out,
            "  {gress}: parser up to {longest}, stages {}, deparser {} cycles",
            g.mau_cycles, g.deparser_cycles
        );
    }
    let _ = writeln!(
        out,
        "  wire to wire without queueing, longest parser paths, default port speed: {} ns",
        report.total.as_ps().div_ceil(1000)
    );
    let c = &report.ceilings;
    let mpps = |n: u64| format!("{}.{:02} Mpps", n / 1_000_000, n % 1_000_000 / 10_000);
    let _ = writeln!(
        out,
        "  at most: {} into each gress of a pipe, {} of {} B by its recirculation ports together",
        mpps(c.gress),
        mpps(c.recirculation),
        c.recirculated_bytes
    );
    out
}

fn power(report: &Report) -> String {
    let p = &report.power;
    let mut out =
        format!("  {} W of {} W in all pipes on the path that takes most", watts(p.worst), watts(p.limit));
    if p.packets_per_1000_cycles < 1000 {
        let _ = write!(
            out,
            "; the deparser lets {} packets through in 1000 cycles, because the stages take long",
            p.packets_per_1000_cycles
        );
    }
    out.push('\n');
    let word = |t: &TablePower| {
        let rest = if t.always > 0 { " always" } else { "" };
        format!("{} {}{rest}", t.name, watts(t.nanowatts))
    };
    let on_path = p.tables.iter().filter(|t| p.path.contains(&t.name));
    let mut words: Vec<&TablePower> = on_path.collect();
    words.sort_by_key(|t| std::cmp::Reverse(t.nanowatts));
    out + &wrap(&words.into_iter().map(word).collect::<Vec<_>>(), ", ")
}

fn together(report: &Report) -> String {
    let line = |t: &TogetherReport| {
        format!("  {}: ports {}, {}\n", t.registers.join(", "), t.ports.join(", "), t.why)
    };
    report.together.iter().map(line).collect()
}

fn demands(report: &Report) -> String {
    let line = |d: &AuthorDemand| format!("  {} of `{}`: {}\n", d.demand, d.of, d.effect);
    report.demands.iter().map(line).collect()
}

fn assumptions(report: &Report) -> String {
    report.assumptions.iter().map(|a| format!("  {} = {}: {} ({})\n", a.id, a.value, a.text, a.why)).collect()
}

/// Returns the words in indented lines of at most [`LINE`] characters.
fn wrap(words: &[String], separator: &str) -> String {
    wrap_to(LINE, "  ", words, separator)
}

/// Returns the words in lines of at most `width` characters after `indent`. A longer word has its own line.
fn wrap_to(width: usize, indent: &str, words: &[String], separator: &str) -> String {
    let mut out = String::new();
    let mut line = indent.to_owned();
    for (i, word) in words.iter().enumerate() {
        let piece = if i + 1 < words.len() { format!("{word}{separator}") } else { word.clone() };
        if line.len() + piece.len() > width && line.trim() != "" {
            out.push_str(line.trim_end());
            out.push('\n');
            out.push_str(indent);
            line.clear();
        }
        line.push_str(&piece);
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}
