//! Stuck queues: a queue that holds packets and sends none for a profile's `stuck_queue_timeout` is emptied,
//! whatever the cause.
//!
//! Some chassis have this in addition to the PFC watchdog, which sees only pauses (model: buffer §6.2, the
//! watchdog tests of VOQs and egress queues).

use crate::observe::Sink;
use crate::reason::Reason;
use crate::{Event, Switch};
use sluice_asic::event::EventClass;
use sluice_asic::tm::buffer::Rule;
use sluice_asic::tm::{QueueId, TmPort};
use sluice_asic::units::{Cells, Time};

impl Switch<'_> {
    /// Records that a queue sent a packet, or got one while it held `before` cells.
    #[inline]
    pub(super) fn moved(&mut self, now: Time, port: u16, queue: u8, before: Option<Cells>) {
        let timed = self.flow.as_ref().is_some_and(|flow| flow.config.stuck_queue_timeout.is_some());
        if timed && before.is_none_or(|before| before == Cells::ZERO) {
            self.note_moved(now, port, queue, before.is_some());
        }
    }

    fn note_moved(&mut self, now: Time, port: u16, queue: u8, look: bool) {
        let Some(flow) = &mut self.flow else { return };
        let Some(timeout) = flow.config.stuck_queue_timeout else { return };
        let Some(own) = flow.ports.get_mut(usize::from(port)) else { return };
        if let Some(queue) = own.queues.get_mut(usize::from(queue)) {
            queue.idle_since = now;
        }
        if look && !std::mem::replace(&mut own.looking, true) {
            self.push_at(now + timeout, EventClass::Timer, port, Event::StuckQueues { port });
        }
    }

    /// Empties queues of a port that have sent nothing for too long, and schedules the next check.
    pub(crate) fn stuck_queues(&mut self, now: Time, port: u16, sink: &mut dyn Sink) {
        let Some(flow) = &mut self.flow else { return };
        let Some(timeout) = flow.config.stuck_queue_timeout else { return };
        let own = &mut flow.ports[usize::from(port)];
        let tm = &self.tm;
        let occupied = |queue: &u8| tm.depth(TmPort(port), QueueId(*queue)).is_some_and(|d| d.get() > 0);
        let since = |queue: u8| own.queues[usize::from(queue)].idle_since + timeout;
        let held = (0..own.queues.len()).map(|queue| queue as u8).filter(occupied);
        let (stuck, others): (Vec<u8>, Vec<u8>) = held.partition(|queue| since(*queue) <= now);
        let next = others.into_iter().map(since).min();
        own.looking = next.is_some();
        if let Some(at) = next {
            self.push_at(at, EventClass::Timer, port, Event::StuckQueues { port });
        }
        for queue in stuck {
            self.flush(now, port, queue, |switch, packet| {
                switch.lose(packet, now, Reason::Buffer(Rule::StuckQueue), sink);
            });
        }
    }
}
