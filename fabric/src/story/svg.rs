//! A story as a sequence diagram, drawn to scale.

use super::Message;
use super::tell::Story;
use sluice_asic::units::Time;
use sluice_charts::{Activity, Arrow, Colour, Dot, Note, Sequence, Side};

/// Returns the colour of a message.
fn colour(message: &Message) -> Colour {
    Colour::from_css(message.colour).unwrap_or(Colour::SILVER)
}

impl Story {
    /// Returns the sequence diagram as SVG. The bar at the receiver's ToR is a queue that holds packets, and
    /// the dots next to it are recirculations of the timer packet.
    #[must_use]
    pub fn svg(&self) -> String {
        let (first, last) = self.span();
        let us = |time: Time| time.saturating_since(first).as_ps() as f64 / 1e6;
        let (right, tor) = (self.columns.len() - 1, self.destination());
        let arrows = self.hops.iter().map(|hop| {
            let m = hop.message;
            let notes: String =
                m.notes.iter().flatten().map(|note| format!(", {} {}", note.name, note.value)).collect();
            Arrow {
                from: hop.from,
                to: hop.to,
                sent: us(hop.sent),
                arrives: hop.arrives.map(us),
                colour: colour(&m),
                label: (!m.is_plain()).then(|| m.label.to_owned()),
                tooltip: format!("{} psn {}{notes}, {:.3} us", m.label, m.psn, us(hop.sent)),
            }
        });
        let words = self.words.iter().map(|word| Note {
            lifeline: right,
            side: Side::Right,
            time: us(word.time),
            text: format!("queue {} {}", word.qid, if word.pauses { "pauses" } else { "resumes" }),
            colour: Colour::BROWN,
        });
        let ends = self.ends.iter().filter(|e| !e.absorbed || e.message.is_control());
        let ends = ends.map(|end| Note {
            lifeline: end.at,
            side: Side::Left,
            time: us(end.time),
            text: end.outcome.clone(),
            colour: colour(&end.message),
        });
        let holds = self.holds().into_iter().map(|(from, to)| {
            let (from, to) = (us(from), us(to.unwrap_or(last)));
            let tooltip = format!("a queue is paused, {from:.3} to {to:.3} us");
            Activity { lifeline: tor, from, to, colour: Colour::AMBER, tooltip }
        });
        let laps = self.timers.iter().flat_map(|t| &t.laps);
        let diagram = Sequence {
            title: format!("flow {}, times in us", self.flow),
            lifelines: self.columns.clone(),
            duration: us(last),
            arrows: arrows.collect(),
            notes: words.chain(ends).collect(),
            activities: holds.collect(),
            dots: laps.map(|lap| Dot { lifeline: tor, time: us(*lap), colour: Colour::BROWN }).collect(),
        };
        diagram.svg()
    }
}
