//! Next tables as text: the carrier of each outcome.

use sluice_place::report::Report;
use std::fmt::Write;

pub(super) fn next_tables(report: &Report) -> String {
    let next = &report.next_tables;
    let mut out = format!("  codes of {} bits; ", next.code_bits);
    if !next.parallel {
        out.push_str("tables follow each other as a chain: a branch ends before a parallel branch begins\n");
        return out;
    }
    let relayed = next.branches.iter().filter(|b| !b.relays.is_empty()).count();
    let _ = write!(
        out,
        "{} of {} tags; outcomes that cross stages in which nothing runs on them: {}",
        next.tags,
        next.tags_available,
        next.branches.len()
    );
    let others = [
        ("on the next-table pointer", next.pointed as usize),
        ("tested again", next.retested as usize),
        ("by relays", relayed),
    ];
    for (what, count) in others {
        if count > 0 {
            let _ = write!(out, ", {what}: {count}");
        }
    }
    out.push('\n');
    for b in &next.branches {
        let (by, from, to) = (b.carrier(), b.from_stage, b.to_stage);
        let _ = writeln!(out, "    {by}: {} stage {from} to {} in stage {to}", b.gress, b.to);
    }
    out
}
