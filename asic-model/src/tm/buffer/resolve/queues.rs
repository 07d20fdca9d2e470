//! Queues of ports and their priorities.

use super::super::config::QueueBuffer;
use super::super::marking;
use super::super::problem::Check;
use super::super::threshold::Threshold;
use super::Resolver;
use crate::units::Cells;

impl Resolver<'_> {
    pub(super) fn queues(&mut self, ecn: &marking::Resolved) -> Vec<Vec<QueueBuffer>> {
        let file = self.file;
        let mut queues: Vec<Vec<Option<QueueBuffer>>> =
            self.ports.iter().map(|p| vec![None; p.queues.into()]).collect();
        for (i, entry) in file.queue.iter().enumerate() {
            let place = format!("queue[{i}]");
            let named = |p: usize| queues[p].iter().any(Option::is_some);
            let profile_place = format!("{place} profile");
            for port in self.select_ports(&place, &entry.ports, named) {
                let end = self.ports[port].queues.into();
                let taken = |q: u32| queues[port].get(q as usize).is_some_and(Option::is_some);
                for q in self.select(&format!("{place} queues"), &entry.queues, end, taken) {
                    let profile = self.profile(&profile_place, &entry.profile, port);
                    let Some(profile) = profile.and_then(|p| file.profile.get(p)) else { continue };
                    let mut queue = self.queue(profile);
                    if let Some(queue) = &mut queue {
                        queue.ecn = ecn.of(self, &place, entry.ecn.as_deref(), self.ports[port].speed);
                        queue.priority = self.queue_priority(&place, entry.priority, q);
                    }
                    queues[port][q as usize] = queue.or(queues[port][q as usize]);
                }
            }
        }
        self.whole_queues(queues)
    }

    pub(super) fn queue_priority(&mut self, place: &str, given: Option<i64>, queue: u32) -> Option<u8> {
        match given {
            None => u8::try_from(queue).ok().filter(|q| *q < 8),
            Some(n) if (0..8).contains(&n) => Some(n as u8),
            Some(n) => {
                self.wrong(Check::Value, format!("{place} priority"), format!("{n}; priorities are 0 to 7"));
                None
            }
        }
    }

    /// Returns a profile for every queue. A queue without one is a problem and gets a lossless placeholder without a
    /// limit.
    pub(super) fn whole_queues(&mut self, queues: Vec<Vec<Option<QueueBuffer>>>) -> Vec<Vec<QueueBuffer>> {
        let missing: Vec<(usize, usize)> = queues
            .iter()
            .enumerate()
            .filter_map(|(port, list)| list.iter().position(Option::is_none).map(|q| (port, q)))
            .collect();
        if let Some((port, queue)) = missing.first() {
            let name = &self.ports[*port].name;
            let more = if missing.len() > 1 {
                format!(", and of {} more ports", missing.len() - 1)
            } else {
                String::new()
            };
            self.wrong(
                Check::Name,
                "queue",
                format!(
                    "queue {queue} of port {name} has no profile{more}: add an entry with queues = \"others\""
                ),
            );
        }
        let stand_in = QueueBuffer {
            pool: 0,
            reserved: Cells::ZERO,
            threshold: Threshold::Unlimited,
            lossless: true,
            colour_eighths: [8; 2],
            ecn: None,
            priority: None,
        };
        queues.into_iter().map(|list| list.into_iter().map(|q| q.unwrap_or(stand_in)).collect()).collect()
    }
}
