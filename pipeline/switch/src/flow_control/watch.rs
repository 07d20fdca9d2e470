//! Polls of the watchdog, and its actions on queues.
//!
//! Polls are at multiples of the poll interval. They run only while a port is paused or a storm lasts,
//! because any other poll would change nothing.

use crate::observe::Sink;
use crate::reason::Reason;
use crate::{Event, Switch};
use sluice_asic::event::EventClass;
use sluice_asic::tm::buffer::Rule;
use sluice_asic::tm::watchdog::{Sample, WatchdogAction, WatchdogEvent};
use sluice_asic::tm::{QueueId, TmPort};
use sluice_asic::units::{Duration, Time};

impl Switch<'_> {
    /// Records the present state of a port and starts polls, because a storm may begin.
    pub(super) fn watch(&mut self, now: Time, port: u16) {
        let Some(flow) = &mut self.flow else { return };
        let Some(dog) = flow.config.watchdog else { return };
        let own = &mut flow.ports[usize::from(port)];
        if flow.big_red_switch || own.polling || own.queues.iter().all(|q| q.watchdog.is_none()) {
            return;
        }
        own.polling = true;
        let samples = self.samples(now, port);
        if let Some(flow) = &mut self.flow {
            for (queue, sample) in samples {
                if let Some(dog) = &mut flow.ports[usize::from(port)].queues[usize::from(queue)].watchdog {
                    dog.poll(sample);
                }
            }
        }
        self.next_poll(now, port, dog.poll);
    }

    fn next_poll(&mut self, now: Time, port: u16, poll: Duration) {
        let poll = poll.as_ps().max(1);
        let at = Time::from_ps((now.as_ps() / poll + 1) * poll);
        self.push_at(at, EventClass::Timer, port, Event::WatchdogPoll { port });
    }

    /// Returns the watchdog's samples of every watched queue of a port.
    fn samples(&self, now: Time, port: u16) -> Vec<(u8, Sample)> {
        let Some(flow) = &self.flow else { return Vec::new() };
        let own = &flow.ports[usize::from(port)];
        let stats = own.rx.stats(now);
        let watched = |(queue, _): &(u8, usize)| own.queues[usize::from(*queue)].watchdog.is_some();
        let sample = |(queue, priority): (u8, usize)| {
            let (id, tm_port) = (QueueId(queue), TmPort(port));
            let sample = Sample {
                pause_frames: stats[priority].frames,
                resumes: stats[priority].resumes,
                paused: own.rx.paused() >> priority & 1 != 0,
                paused_time: stats[priority].paused,
                occupied: self.tm.depth(tm_port, id).is_some_and(|d| d.get() > 0),
                sent: self.tm.stats_of(tm_port, id).map_or(0, |s| s.dequeued.packets),
            };
            (queue, sample)
        };
        self.queues_of(port).into_iter().filter(watched).map(sample).collect()
    }

    /// Polls a port's queues.
    pub(crate) fn watchdog_poll(&mut self, now: Time, port: u16, sink: &mut dyn Sink) {
        if self.flow.as_ref().is_some_and(|flow| flow.big_red_switch) {
            // No storms are looked for in this state.
            self.stop_polling(port);
            return;
        }
        let samples = self.samples(now, port);
        let mut events = Vec::new();
        let Some(flow) = &mut self.flow else { return };
        let own = &mut flow.ports[usize::from(port)];
        for (queue, sample) in samples {
            let Some(dog) = &mut own.queues[usize::from(queue)].watchdog else { continue };
            if let Some(event) = dog.poll(sample) {
                events.push((queue, dog.config().action, event));
            }
        }
        for (queue, action, event) in events {
            if event == WatchdogEvent::Storm {
                let counts = self.storm_counts(port, queue);
                if let Some(flow) = &mut self.flow {
                    flow.ports[usize::from(port)].queues[usize::from(queue)].storm = Some(counts);
                }
            }
            self.act(now, port, queue, action, event, sink);
        }
        let Some(flow) = &mut self.flow else { return };
        let Some(dog) = flow.config.watchdog else { return };
        let own = &mut flow.ports[usize::from(port)];
        let stormed = own.queues.iter().any(|q| q.watchdog.as_ref().is_some_and(|w| w.is_stormed()));
        own.polling = stormed || own.rx.paused() != 0;
        if own.polling {
            self.next_poll(now, port, dog.poll);
        }
    }

    fn act(
        &mut self,
        now: Time,
        port: u16,
        queue: u8,
        action: WatchdogAction,
        event: WatchdogEvent,
        sink: &mut dyn Sink,
    ) {
        if action == WatchdogAction::Alert {
            return;
        }
        let storm = event == WatchdogEvent::Storm;
        self.set_aside(now, port, queue, storm, storm && action == WatchdogAction::Drop, sink);
    }

    /// Makes a queue ignore pauses and, if requested, drop waiting and arriving packets; or reverts both.
    pub(super) fn set_aside(
        &mut self,
        now: Time,
        port: u16,
        queue: u8,
        aside: bool,
        drops: bool,
        sink: &mut dyn Sink,
    ) {
        let priority = self.queues_of(port).iter().find(|(q, _)| *q == queue).map(|(_, p)| *p);
        let (Some(priority), Some(flow)) = (priority, &mut self.flow) else { return };
        let own = &mut flow.ports[usize::from(port)];
        let bit = 1u8 << priority;
        let honoured = own.rx.honoured();
        let changed = own.rx.set_honoured(now, if aside { honoured & !bit } else { honoured | bit });
        own.queues[usize::from(queue)].dropping = drops;
        if drops {
            self.flush(now, port, queue, |switch, packet| {
                if let Some(flow) = &mut switch.flow {
                    flow.ports[usize::from(port)].queues[usize::from(queue)].watchdog_dropped += 1;
                }
                switch.lose(packet, now, Reason::Buffer(Rule::Watchdog), sink);
            });
        }
        self.pauses_changed(now, port, changed);
    }
}
