//! Plots of what the memory, pools, groups and queues held over time, with limits and pauses.

use super::Run;
use maud::{Markup, html};
use sluice_charts::{Plot, PlotLine, PlotStyle, Shade, Table};
use sluice_replay::Line;
use sluice_switch::Subject;

/// Most plots of groups, of queues, and of memories in a network.
const PLOTS: usize = 6;

/// A place of a switch.
struct PlottedLine<'a> {
    switch: &'a str,
    line: Line,
}

impl PlottedLine<'_> {
    /// Returns the place's name, with its switch in a network.
    fn name(&self) -> String {
        match self.switch {
            "" => self.line.name.clone(),
            switch => format!("{switch}, {}", self.line.name),
        }
    }
}

/// Returns the `most` places of some kinds with the highest peaks of all switches.
fn busiest<'a>(run: &Run<'a>, most: usize, of: impl Fn(Subject) -> bool + Copy) -> Vec<PlottedLine<'a>> {
    let places = run.levels.iter().flat_map(|(switch, levels)| {
        levels.busiest(most, of).into_iter().map(|line| PlottedLine { switch, line })
    });
    let mut places: Vec<PlottedLine<'_>> = places.collect();
    // The sort is stable, so places with equal peaks stay in the order of switches and names.
    places.sort_by_key(|place| std::cmp::Reverse(place.line.peak.1));
    places.truncate(most);
    places
}

/// Returns true if something was recorded.
pub(super) fn is_shown(run: &Run<'_>) -> bool {
    !run.levels.is_empty()
}

/// Draws the plots, or says that nothing was held.
pub(super) fn view(run: &Run<'_>) -> Markup {
    let memories = memories(run);
    let groups: Vec<Plot> =
        busiest(run, PLOTS, |s| s == Subject::Group).iter().map(|place| group(run, place)).collect();
    let queues: Vec<Plot> = busiest(run, PLOTS, |s| s == Subject::Queue).iter().map(queue).collect();
    if memories.is_empty() {
        return html! { p { "No buffer held a packet." } };
    }
    html! {
        p.note {
            "Levels in cells of " (run.cell) " bytes. The highest and the lowest level of every stretch are drawn exactly; limits are as \
             they were when the place's own level changed. A limit far above a level is hidden until it is clicked in the legend."
        }
        div.plots { @for plot in &memories { (plot) } }
        @if !groups.is_empty() { h3 { "Fullest priority groups" } div.plots { @for plot in &groups { (plot) } } }
        @if !queues.is_empty() { h3 { "Fullest queues" } div.plots { @for plot in &queues { (plot) } } }
        (pauses(run))
    }
}

/// Draws the memory and the pools of each of the fullest switches.
fn memories(run: &Run<'_>) -> Vec<Plot> {
    let of_pools = |s: Subject| !matches!(s, Subject::Group | Subject::Queue);
    let fullest = busiest(run, PLOTS, |s| s == Subject::Buffer);
    let plot = |memory: &PlottedLine<'_>| {
        let title = if memory.switch.is_empty() {
            "Memory and pools".to_owned()
        } else {
            format!("{}: memory and pools", memory.switch)
        };
        let mut plot = Plot::new(&title, "time, us", "cells");
        let levels = run.levels.iter().filter(|(switch, _)| *switch == memory.switch);
        for line in levels.flat_map(|(_, levels)| levels.busiest(usize::MAX, of_pools)).take(7) {
            let name = if line.subject == Subject::Buffer { "whole memory".to_owned() } else { line.name };
            plot.lines.push(steps(&name, line.points, PlotStyle::Steps));
        }
        plot.lines.push(steps("size of the memory", memory.line.limit.clone(), PlotStyle::Limit));
        plot
    };
    fullest.iter().map(plot).collect()
}

fn steps(name: &str, mut points: Vec<(f64, f64)>, style: PlotStyle) -> PlotLine {
    // A place is empty before its first change, so that all plots begin with the run.
    if style == PlotStyle::Steps && points.first().is_some_and(|first| first.0 > 0.0) {
        points.insert(0, (0.0, 0.0));
    }
    PlotLine { name: name.to_owned(), points, style, ..PlotLine::default() }
}

/// Draws a place with its limit and its pauses.
fn place(place: &PlottedLine<'_>, limit: &str, paused: &str) -> Plot {
    let mut plot = Plot::new(&place.name(), "time, us", "cells");
    plot.lines.push(steps("level", place.line.points.clone(), PlotStyle::Steps));
    if !place.line.limit.is_empty() {
        plot.lines.push(steps(limit, place.line.limit.clone(), PlotStyle::Limit));
    }
    plot.shade = Shade { name: paused.to_owned(), spans: place.line.pauses.clone() };
    plot
}

fn group(run: &Run<'_>, group: &PlottedLine<'_>) -> Plot {
    let own = run.buffers().filter(|(switch, _)| switch.unwrap_or("") == group.switch);
    let mut groups = own.flat_map(|(_, buffer)| &buffer.priority_groups);
    let is_lossless = groups
        .find(|g| g.port == group.line.owner && u16::from(g.pg) == group.line.index)
        .is_some_and(|g| g.lossless);
    place(
        group,
        if is_lossless { "xoff: it pauses its senders" } else { "limit: it takes no more" },
        "it pauses its senders",
    )
}

fn queue(queue: &PlottedLine<'_>) -> Plot {
    place(queue, "limit: it takes no more", "it may not send")
}

/// Lists the pauses of all places that were paused.
fn pauses(run: &Run<'_>) -> Markup {
    let paused = busiest(run, usize::MAX, |s| matches!(s, Subject::Group | Subject::Queue));
    let mut paused: Vec<&PlottedLine<'_>> =
        paused.iter().filter(|place| place.line.paused_times > 0).collect();
    paused.sort_by(|a, b| b.line.paused.total_cmp(&a.line.paused));
    if paused.is_empty() {
        return html! {};
    }
    let row = |place: &&PlottedLine<'_>| {
        let line = &place.line;
        let what = if line.subject == Subject::Group { "pauses its senders" } else { "may not send" };
        let peak = format!("{} at {:.3}", line.peak.1, line.peak.0);
        vec![
            place.name(),
            what.to_owned(),
            line.paused_times.to_string(),
            format!("{:.3}", line.paused),
            peak,
        ]
    };
    let header = ["place", "meaning", "pauses", "paused, us", "most cells, at us"];
    html! { h3 { "Pauses" } (Table::new(&header).rows(paused.iter().map(row))) }
}
