//! A story as text: one line per event, with its time, an arrow between lifelines, and a description. Packets of one
//! kind that follow each other on the same path share the line of the first of them.

use super::Message;
use super::tell::{Hop, Story};
use sluice_asic::units::Time;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Width of a column, characters.
const WIDTH: usize = 12;

/// A line of the diagram, before drawing.
#[derive(Clone, Debug)]
struct Line {
    time: Time,
    last: Time,
    from: usize,
    to: usize,
    /// The first packet of those that share the line; `None` for a note.
    message: Option<Message>,
    /// Sequence numbers of the first and the last packet.
    psns: (u32, u32),
    count: u32,
    note: String,
}

impl Line {
    fn of(time: Time, from: usize, to: usize, message: Message, note: impl Into<String>) -> Line {
        let (note, psns) = (note.into(), (message.psn, message.psn));
        Line { time, last: time, from, to, message: Some(message), psns, count: 1, note }
    }

    /// Creates a line about one column, without a packet.
    fn note(time: Time, at: usize, note: String) -> Line {
        Line { time, last: time, from: at, to: at, message: None, psns: (0, 0), count: 1, note }
    }

    /// Returns true if the line may be shared by packets of one kind.
    fn is_plain(&self) -> bool {
        self.message.is_some_and(|m| m.shares_lines())
    }

    /// Returns true if this line ends a group, so that no later packet may share the group's line.
    fn ends(&self, group: &Line) -> bool {
        match self.message {
            // A flow-control word changes which packets wait at this column.
            None => group.to == self.to && group.from != self.to,
            Some(_) => (self.from, self.to) == (group.from, group.to),
        }
    }

    fn takes(&self, other: &Line) -> bool {
        let alike = match (&self.message, &other.message) {
            (Some(a), Some(b)) => a.is_like(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.is_plain() && (self.from, self.to, &self.note) == (other.from, other.to, &other.note) && alike
    }

    fn label(&self, origin: Time) -> String {
        let Some(m) = self.message else { return self.note.clone() };
        let mut text = m.label.to_owned();
        if !m.is_control() {
            let _ = match self.psns {
                (a, b) if self.count == 1 || a == b => write!(text, " {a}"),
                (a, b) => write!(text, " {a}..{b}"),
            };
        }
        for note in m.notes.iter().flatten().filter(|n| n.shown) {
            let _ = write!(text, ", {} {}", note.name, note.value);
        }
        if !self.note.is_empty() {
            let _ = write!(text, ": {}", self.note);
        }
        if self.count > 1 {
            let times = if m.is_control() { format!("{} times, ", self.count) } else { String::new() };
            let _ = write!(text, " ({times}until {:.3})", micros(self.last, origin));
        }
        text
    }
}

impl Story {
    /// Returns the sequence diagram as text. Times are microseconds since the flow's first packet. The lifeline of the
    /// receiver's ToR is `#` while a queue holds packets of the flow.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("flow {}, times in us\n\n", self.flow);
        let mut names = vec![' '; self.columns.len() * WIDTH];
        for (column, name) in self.columns.iter().enumerate() {
            let name: Vec<char> = name.chars().take(WIDTH - 1).collect();
            let start = centre(column).saturating_sub(name.len() / 2);
            for (slot, c) in names.iter_mut().skip(start).zip(name) {
                *slot = c;
            }
        }
        let names: String = names.into_iter().collect();
        let _ = writeln!(out, "{:>9} {}", "", names.trim_end());
        let origin = self.span().0;
        let holds = self.holds();
        for line in group(self.lines()) {
            let held =
                holds.iter().any(|(from, to)| *from <= line.time && to.is_none_or(|to| line.time < to));
            let us = micros(line.time, origin);
            let _ = writeln!(out, "{us:>9.3} {} {}", self.canvas(&line, held), line.label(origin));
        }
        out
    }

    /// Draws the lifelines and the line's arrow.
    fn canvas(&self, line: &Line, held: bool) -> String {
        let mut row = vec![' '; self.columns.len() * WIDTH];
        for column in 0..self.columns.len() {
            row[centre(column)] = if held && column == self.destination() { '#' } else { '|' };
        }
        let (a, b) = (centre(line.from.min(line.to)), centre(line.from.max(line.to)));
        if a < b {
            row[a + 1..b].fill('-');
            let (at, head) = if line.from < line.to { (b - 1, '>') } else { (a + 1, '<') };
            row[at] = head;
        } else {
            row[a] = '*';
        }
        row.truncate(centre(self.columns.len() - 1) + 2);
        row.into_iter().collect()
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut via = BTreeMap::new();
        for hop in self.hops.iter().filter(|h| !h.message.is_control()) {
            if hop.to == self.destination() {
                via.insert(hop.tag, hop.from);
            }
            lines.extend(self.forward(hop, &via));
        }
        for wait in &self.waits {
            let from = via.get(&wait.tag).copied().unwrap_or(self.destination());
            let note = format!("waits in queue {}", wait.qid);
            lines.push(Line::of(wait.time, from, self.destination(), wait.message, note));
        }
        for hop in self.hops.iter().filter(|h| h.message.is_control()) {
            lines.extend(self.backward(hop));
        }
        for end in self.ends.iter().filter(|e| !e.absorbed) {
            lines.push(Line::of(end.time, end.at, end.at, end.message, end.outcome.clone()));
        }
        self.queue_lines(&mut lines);
        // A word acts before its packet enters the queue, so words come first.
        lines.sort_by_key(|l| (l.time, l.message.is_some(), l.from));
        lines
    }

    fn forward(&self, hop: &Hop, via: &BTreeMap<u64, usize>) -> Option<Line> {
        let note = if hop.arrives.is_none() { "lost on the cable" } else { "" };
        if hop.from == 1 {
            return Some(Line::of(hop.sent, 0, hop.to, hop.message, note));
        }
        if hop.from == self.destination() {
            let waited = self.waits.iter().find(|w| w.tag == hop.tag);
            let (from, note) = match waited {
                Some(wait) => (hop.from, format!("from queue {}", wait.qid)),
                None => (via.get(&hop.tag).copied().unwrap_or(hop.from), String::new()),
            };
            return Some(Line::of(hop.sent, from, hop.to, hop.message, note));
        }
        (hop.arrives.is_none()).then(|| Line::of(hop.sent, hop.from, hop.to, hop.message, note))
    }

    fn backward(&self, hop: &Hop) -> Option<Line> {
        if hop.arrives.is_none() {
            return Some(Line::of(hop.sent, hop.from, hop.to, hop.message, "lost on the cable"));
        }
        if hop.from == self.destination() {
            return Some(Line::of(hop.sent, hop.from, hop.to, hop.message, ""));
        }
        let end = (hop.to == 1).then(|| self.end_of(hop.tag, true));
        let (time, note) = match end? {
            Some(end) => (end.time, end.outcome.clone()),
            None => (hop.arrives?, String::new()),
        };
        Some(Line::of(time, hop.from, hop.to, hop.message, note))
    }

    fn queue_lines(&self, lines: &mut Vec<Line>) {
        let at = self.destination();
        let holds = self.holds();
        for word in &self.words {
            let what = match word.pauses {
                false => "resumes",
                true if holds.iter().any(|(from, _)| *from == word.time) => "pauses",
                true => self.empty_pause,
            };
            lines.push(Line::note(word.time, at, format!("queue {} {what}", word.qid)));
        }
        for timer in &self.timers {
            let (Some(first), Some(last)) = (timer.laps.first(), timer.laps.last()) else { continue };
            lines.push(Line::note(*first, at, "a timer packet begins to go round".to_owned()));
            let laps = timer.laps.len() as u64 - 1;
            let ns = last.saturating_since(*first).as_nanos() / laps.max(1);
            let end = self.ends.iter().find(|e| e.tag == timer.tag && e.absorbed && e.at == at);
            let text = match end {
                Some(_) => format!("the timer packet ends after {laps} laps of {ns} ns"),
                None => format!("the timer packet has gone {laps} laps of {ns} ns"),
            };
            lines.push(Line::note(end.map_or(*last, |e| e.time), at, text));
        }
    }

    /// Returns the times during which queues held packets of the flow: from each pause to its resume, if it came.
    pub(super) fn holds(&self) -> Vec<(Time, Option<Time>)> {
        let pauses = self.words.iter().filter(|w| w.pauses);
        let hold = pauses.map(|p| {
            let same = |w: &&super::watch::Word| (w.port, w.qid) == (p.port, p.qid) && w.time > p.time;
            let next = self.words.iter().find(same);
            (p, next)
        });
        let waits = |p: &super::watch::Word| self.waits.iter().any(|w| w.qid == p.qid && w.time >= p.time);
        hold.filter(|(p, next)| next.map_or_else(|| waits(p), |n| !n.pauses))
            .map(|(p, next)| (p.time, next.map(|n| n.time)))
            .collect()
    }
}

/// Returns the position of a column's lifeline, characters.
const fn centre(column: usize) -> usize {
    column * WIDTH + WIDTH / 2
}

/// Returns the microseconds since the flow's first packet.
fn micros(time: Time, origin: Time) -> f64 {
    time.saturating_since(origin).as_ps() as f64 / 1e6
}

/// Joins lines of like packets that follow each other.
fn group(lines: Vec<Line>) -> Vec<Line> {
    let (mut out, mut open) = (Vec::new(), Vec::<Line>::new());
    for line in lines {
        let same = open.iter().any(|l| l.takes(&line));
        let (ended, rest): (Vec<Line>, Vec<Line>) = open.into_iter().partition(|l| !same && line.ends(l));
        open = rest;
        out.extend(ended);
        if !line.is_plain() {
            out.push(line);
            continue;
        }
        match open.iter_mut().find(|l| l.takes(&line)) {
            Some(group) => {
                group.last = line.time;
                group.psns.1 = line.psns.1;
                group.count += 1;
            }
            None => open.push(line),
        }
    }
    out.append(&mut open);
    out.sort_by_key(|l| (l.time, l.message.is_some(), l.from));
    out
}
