//! Functional mode: a packet makes all its hops before the next one enters, and nothing takes time.
//!
//! Links have no delay. Their outages, loss and corruption are those scheduled for the time at which the packet
//! entered; extra delay is ignored. All packets of one time make one hop each, in order of switches, then the next hop.

use super::observe::Observer;
use super::run::Goal;
use super::{Network, NetworkError, failed};
use sluice_asic::units::Time;

/// Most hops of a packet and of its copies: the same number as passes in a switch in functional mode.
const HOPS: u32 = 64;

/// One observer of all switches, or one for each switch.
pub(super) enum Observers<'a> {
    One(&'a mut dyn Observer),
    Each(Vec<&'a mut (dyn Observer + Send)>),
}

impl Observers<'_> {
    fn of(&mut self, switch: usize) -> Option<&mut dyn Observer> {
        match self {
            Observers::One(all) => Some(&mut **all),
            Observers::Each(list) => list.get_mut(switch).map(|one| &mut **one as &mut dyn Observer),
        }
    }
}

impl Network {
    /// Runs all events up to and including the goal's time, or until no packet is inside.
    pub(super) fn advance_functional(
        &mut self,
        goal: Goal,
        observers: &mut Observers<'_>,
    ) -> Result<(), NetworkError> {
        while let Some(now) = self.next_time().filter(|time| *time <= goal.until) {
            if goal.drain && !self.is_busy() {
                break;
            }
            self.instant(now, observers)?;
        }
        let end = if goal.drain { self.now } else { goal.until };
        for index in 0..self.nodes.len() {
            self.run_functional(index, end, observers)?;
        }
        self.now = end;
        self.clocks.fill(end);
        Ok(())
    }

    /// Runs all events of one time.
    fn instant(&mut self, now: Time, observers: &mut Observers<'_>) -> Result<(), NetworkError> {
        self.now = self.now.max(now);
        for hop in 0..=HOPS {
            if hop == HOPS {
                self.exhaust(true);
            }
            for index in 0..self.nodes.len() {
                if self.nodes[index].next_time() <= now {
                    self.run_functional(index, now, observers)?;
                }
            }
            for (index, node) in self.nodes.iter_mut().enumerate() {
                self.exchange.deliver(index, node);
            }
            self.exchange.forget_posted();
            if self.nodes.iter().all(|node| node.next_time() > now) {
                break;
            }
        }
        self.exhaust(false);
        Ok(())
    }

    fn exhaust(&mut self, exhausted: bool) {
        let outlets = self.nodes.iter_mut().flat_map(|node| &mut node.outlets);
        outlets.for_each(|outlet| outlet.wire.exhausted = exhausted);
    }

    fn run_functional(
        &mut self,
        index: usize,
        until: Time,
        observers: &mut Observers<'_>,
    ) -> Result<(), NetworkError> {
        let (Some(node), Some(observer)) = (self.nodes.get_mut(index), observers.of(index)) else {
            return Ok(());
        };
        let result = self.exchange.run(index, node, until, observer);
        result.map_err(|source| failed(&self.setup, index, source))
    }
}
