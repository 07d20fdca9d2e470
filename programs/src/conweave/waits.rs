//! Model of a reorder queue in plain Rust: when packets that wait may leave, and when their timer packet ends (model:
//! conweave §1.9, §1.10).
//!
//! The model computes T_resume of a flow from the arrivals of its packets. The program's clock is known to within
//! [`MARGIN`] ticks, a recirculation of the timer packet to within [`LAP`]. A flow is judged up to the first moment at
//! which two of its events may have come in either order.

use super::Params;
use super::observed::{Data, Done, Judge, Observed, Sent};
use crate::model::Entries;
use sluice_asic::units::Time;
use sluice_switch::property::Finding;
use std::collections::BTreeMap;

/// Picoseconds of a tick, and of what a device's clock shows at time zero.
const TICK: u64 = 1_024_000;
const CLOCK_ORIGIN: u64 = 1_000_000_000_000;
/// Largest number of ticks from arrival to the program's clock.
const MARGIN: u64 = 2;
/// Shortest and longest recirculation in ns.
const LAP: (u64, u64) = (500, 1_600);
/// Time in ns within which two events may come in either order.
const RACE: u64 = 1_000;
/// Longest time in ns for which a line is idle although a queue may send.
const IDLE: u64 = 4_000;
/// Longest time in ns from the last packet of a resumed queue to the end of its timer packet.
const LAPS: u64 = 12_000;
/// First reorder queue.
const REORDER: u8 = 2;
/// Register value of a flow without an epoch.
const NO_EPOCH: u8 = 4;

/// `waits_as_modelled`: packets that overtook their TAIL leave behind it, or at T_resume if TAIL does not come before, and not
/// earlier; then their timer packet ends, and not while they are in the queue. Not judged: runs in which entries, queues
/// or ports change, or packets are lost at ports and queues; flows whose epoch ends meanwhile, and races.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    p: Params,
    seen: Observed,
}

/// The least and the largest value of something that is not known exactly.
type Between = (u64, u64);

/// The last packet of the old path: TX time, and ticks at which it arrived.
#[derive(Clone, Copy, Debug)]
struct Old {
    tx: u64,
    rx: Between,
}

/// A flow whose packets wait.
#[derive(Clone, Debug)]
struct Episode {
    /// The first packet that waits.
    tag: u64,
    /// When that packet arrived, ns.
    begun: u64,
    /// When the timer packet resumes the queue if nothing else does, ns.
    fires: Between,
    /// When TAIL left, if it came before that.
    tail: Option<u64>,
    /// Packets that wait: arrival in ns, and how they left.
    waiting: Vec<(u64, Sent)>,
    /// False if an event came of which the model does not know the effect.
    simple: bool,
}

/// State of a flow.
#[derive(Clone, Debug)]
struct WaitingFlow {
    epoch: u8,
    /// The last packet of the old path in this epoch.
    old: Option<Old>,
    /// TX time of TAIL.
    tail_tx: u64,
    episode: Option<Episode>,
}

/// Returns the ticks that the program's clock may show for a packet that arrives at a time.
fn ticks(time: Time) -> Between {
    let tick = (time.as_ps() + CLOCK_ORIGIN) / TICK;
    (tick, tick + MARGIN)
}

/// Returns the time in ns at which a tick begins.
fn begins(tick: u64) -> u64 {
    tick.saturating_mul(TICK).saturating_sub(CLOCK_ORIGIN) / 1_000
}

impl Waits {
    /// T_resume in ticks: TAIL arrives as long after the last packet of the old path as SrcToR sent it after that packet.
    fn resume(&self, flow: &WaitingFlow, now: Between) -> Between {
        let Some(old) = flow.old else {
            let default = u64::from(self.p.resume_default);
            return (now.0 + default, now.1 + default);
        };
        // Timestamps have 16 bits.
        let turn = if old.tx >> 15 == 1 && flow.tail_tx >> 15 == 0 { 1 << 16 } else { 0 };
        let gap = (flow.tail_tx + turn + u64::from(self.p.resume_margin)).saturating_sub(old.tx);
        (old.rx.0 + gap, old.rx.1 + gap)
    }

    /// When a timer packet that was made or refreshed at a time in ns finds that T_resume is over.
    fn fires(&self, flow: &WaitingFlow, now: Between, at: u64) -> Between {
        let (least, most) = self.resume(flow, now);
        (begins(least + 1).max(at + LAP.0), begins(most + 1).max(at + RACE + LAP.1) + LAP.1)
    }

    /// Checks the packets of one flow, in order of time.
    fn flow(&self, packets: &[Data<'_>], done: &BTreeMap<u64, Done>) -> Finding {
        let mut flow = WaitingFlow { epoch: NO_EPOCH, old: None, tail_tx: 0, episode: None };
        for (at, data) in packets.iter().enumerate() {
            let time = data.packet.time.as_nanos();
            let near = |other: &&Data<'_>| other.packet.time.as_nanos().abs_diff(time) <= RACE;
            let before = packets[..at].iter().rev().take_while(near);
            let mut others = before.chain(packets[at + 1..].iter().take_while(near));
            if others.any(|other| other.packet.port != data.packet.port) {
                return Ok(());
            }
            if let Some(episode) = &flow.episode {
                let end = done.get(&episode.tag).map_or(u64::MAX, |done| done.time);
                if end.abs_diff(time) <= 2 * LAP.1 {
                    return Ok(());
                }
                if end < time {
                    self.over(episode, done)?;
                    flow.episode = None;
                }
            }
            if !self.data(&mut flow, data) {
                return Ok(());
            }
        }
        flow.episode.map_or(Ok(()), |episode| self.over(&episode, done))
    }

    /// Applies DATA to its flow's state; returns false if the state is not known any more.
    fn data(&self, flow: &mut WaitingFlow, data: &Data<'_>) -> bool {
        let header = data.frame.header;
        let Some(sent) = data.packet.sent else { return false };
        let (time, now) = (data.packet.time.as_nanos(), ticks(data.packet.time));
        if flow.epoch == (header.epoch + 1) & 3 {
            return true;
        }
        let opens = flow.epoch != header.epoch;
        if opens {
            (flow.epoch, flow.old) = (header.epoch, None);
        }
        if header.phase == 0 {
            flow.old = Some(Old { tx: header.ts_tx.into(), rx: now });
        }
        if header.phase == 1 || header.tail {
            flow.tail_tx = header.ts_tail.into();
        }
        let fires = self.fires(flow, now, time);
        let Some(episode) = &mut flow.episode else {
            if sent.queue >= REORDER {
                let (tag, waiting) = (data.tag, vec![(time, sent)]);
                flow.episode = Some(Episode { tag, begun: time, fires, tail: None, waiting, simple: true });
            }
            return true;
        };
        if opens {
            episode.simple = false;
        } else if sent.queue >= REORDER {
            episode.waiting.push((time, sent));
        } else if (header.phase == 0 || header.tail) && episode.tail.is_none() {
            // TAIL and the old path's packets move T_resume, until it has come.
            match episode.fires {
                (first, _) if time + RACE < first && header.tail => episode.tail = Some(sent.first_bit),
                (first, _) if time + RACE < first => episode.fires = fires,
                (_, last) if time <= last => episode.simple = false,
                _ => {}
            }
        }
        true
    }

    /// Checks packets that waited.
    fn over(&self, episode: &Episode, done: &BTreeMap<u64, Done>) -> Finding {
        let Episode { tag, begun, .. } = *episode;
        let end = done.get(&tag).map(|done| done.time);
        let inside = |(came, sent): &&(u64, Sent)| {
            end.is_some_and(|end| came + 2 * LAP.1 < end && sent.first_bit > end + RACE)
        };
        if let (Some((_, sent)), Some(end)) = (episode.waiting.iter().find(inside), end) {
            return Err(format!(
                "the timer packet of packet {tag} ended at {end} ns, and a packet left its queue at {} ns",
                sent.first_bit
            ));
        }
        if !episode.simple {
            return Ok(());
        }
        let (least, most) = episode.tail.map_or(episode.fires, |tail| (tail, tail));
        if let Some((_, sent)) = episode.waiting.iter().find(|(_, sent)| sent.first_bit < least) {
            let left = sent.first_bit;
            return Err(format!(
                "packets wait from {begun} ns on, from packet {tag}, until {least} ns; one left at {left} ns"
            ));
        }
        let Some((_, first)) = episode.waiting.iter().min_by_key(|(_, sent)| sent.first_bit) else {
            return Ok(());
        };
        if first.first_bit > most + IDLE + self.busy(first.port, most, first.first_bit) {
            return Err(format!(
                "packets wait from {begun} ns on, from packet {tag}, until {most} ns; the first one left at {} ns",
                first.first_bit
            ));
        }
        let last = episode.waiting.iter().map(|(_, sent)| sent.first_bit).max().unwrap_or(0).max(most) + LAPS;
        match end {
            Some(end) if end < least => Err(format!(
                "the timer packet of packet {tag} ended at {end} ns, expected at {least} ns or later"
            )),
            Some(end) if end > last => {
                Err(format!("the timer packet of packet {tag} ended at {end} ns, expected before {last} ns"))
            }
            None if self.seen.now > last => {
                Err(format!("the timer packet of packet {tag} did not end before {last} ns"))
            }
            _ => Ok(()),
        }
    }

    /// Returns for how many ns a port was sending between two times, gaps between frames included.
    fn busy(&self, port: u16, from: u64, to: u64) -> u64 {
        let sent = self.seen.packets.iter().filter_map(|packet| packet.sent);
        let of_port = sent.filter(|sent| sent.port == port && sent.first_bit >= from && sent.first_bit < to);
        of_port.map(|sent| (sent.last_bit - sent.first_bit) * 3 / 2 + 20).sum()
    }
}

impl Judge for Waits {
    const NAME: &'static str = "waits_as_modelled";

    fn new(p: &Params, seen: Observed) -> Waits {
        Waits { p: p.clone(), seen }
    }

    fn judge(&self, entries: &Entries<'_>) -> Finding {
        let Some(data) = self.seen.data(&self.p, entries) else { return Ok(()) };
        let done: BTreeMap<u64, Done> = self.seen.done.iter().map(|done| (done.tag, *done)).collect();
        let mut flows: BTreeMap<u128, Vec<Data<'_>>> = BTreeMap::new();
        for data in data {
            flows.entry(data.row).or_default().push(data);
        }
        for packets in flows.values_mut() {
            packets.sort_by_key(|data| (data.packet.time, data.tag));
            self.flow(packets, &done)?;
        }
        Ok(())
    }
}
