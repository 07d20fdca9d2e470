//! Rounds of packet generators that change nothing are not emulated.
//!
//! A *round* is the shortest time after which the periodic generators of all pipes repeat themselves: a multiple of their
//! periods and of a clock cycle, and longer than any of their packets stays inside. A device whose next event from
//! outside is far away watches two rounds. It skips the following ones if
//!
//! 1. both consisted of the same passes, at the same times, of generated packets that ended in ingress, and nothing else
//!    happened in them;
//! 2. no packet waited for another one, so that each pass is independent of the others' times;
//! 3. the second one left registers, counters, meters and ages as they were;
//! 4. no pass read a clock, a meter or a random number. The interpreter runs the second round again to find out.
//!
//! Then the next round has the same passes, which again change nothing, and so on: the state at its beginning is the
//! same, and all that differs between the rounds is time. Skipped rounds are counted, and their passes take their numbers
//! from the random streams. The last rounds before the next event are emulated, so that all packets are at their
//! places when it comes. So results do not depend on skipping. The rule knows no programs.

use super::ingress::PendingPass;
use super::totals::Totals;
use super::{Event, PacketInfo, Switch};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::pktgen::PacketGenerator;
use sluice_asic::units::{Duration, Time};
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, State, Verdict};
use sluice_exec::reference::{Options, Reference, VaryingInputs};

/// Shortest round: longer than a generated packet usually stays inside.
const SHORTEST: Duration = Duration::from_micros(2);
/// Longest round. Generators whose periods fit together only after a longer time are not watched.
const LONGEST: Duration = Duration::from_millis(100);
/// Passes of a round that are watched.
const MOST_PASSES: usize = 1 << 17;
/// Rounds before the next event from outside from which on it is worth watching two of them.
const WORTH: u64 = 64;
/// Rounds at the end of a gap that are emulated.
const LAST: u64 = 2;
/// Longest pause between two attempts, in rounds.
const LONGEST_PAUSE: u64 = 4096;

/// Watch over the rounds of a device's packet generators.
#[derive(Default)]
pub(super) struct Rounds {
    /// Time up to which the device is advanced; before the present if every round is needed.
    pub(super) until: Time,
    /// Length of a round; `None` if there are none. Outdated if `changed`.
    length: Option<Duration>,
    /// True until the length is computed anew.
    changed: bool,
    /// Time of the next attempt.
    next_try: Time,
    /// Rounds to the attempt after the next one that fails.
    pause: u64,
    /// Beginning of the first round that is being watched.
    watched: Option<Time>,
    /// Passes of the first and of the second round.
    seen: [Seen; 2],
    /// State at the beginning of the second round.
    before: Option<Box<Before>>,
    /// Interpreter for the second round; `None` after a change of entries.
    interpreter: Option<Box<Reference<VaryingInputs>>>,
}

/// Passes of a round.
#[derive(Default)]
struct Seen {
    passes: Vec<SeenPass>,
    /// Bytes of their packets, one after the other.
    bytes: Vec<u8>,
    /// True if something happened that forbids to skip rounds.
    spoilt: bool,
}

/// A pass of a generated packet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SeenPass {
    pipe: usize,
    /// Time since the beginning of the round; negative for a packet that was inside then.
    entered: i64,
    port: u16,
    resubmitted: bool,
    /// Length of the packet's bytes.
    length: usize,
    verdict: Verdict,
}

/// The device at the beginning of a round: state that the round must not change, and counters that it raises.
struct Before {
    states: Vec<State>,
    generators: Vec<PacketGenerator>,
    totals: Totals,
}

impl Seen {
    fn clear(&mut self) {
        self.passes.clear();
        self.bytes.clear();
        self.spoilt = false;
    }
}

impl Rounds {
    /// Notes a change of entries, settings or applications.
    pub(super) fn changed(&mut self) {
        self.changed = true;
        self.watched = None;
        self.interpreter = None;
        (self.next_try, self.pause) = (Time::ORIGIN, 1);
    }

    /// Returns true while rounds are watched.
    #[inline]
    pub(super) const fn watches(&self) -> bool {
        self.watched.is_some()
    }

    /// Gives up until some rounds later; each time that this happens doubles the pause.
    fn give_up(&mut self, now: Time, round: Duration) {
        self.watched = None;
        let pause = round.checked_mul(self.pause).and_then(|pause| now.checked_add(pause));
        self.next_try = pause.unwrap_or(Time::MAX);
        self.pause = (self.pause * 2).clamp(1, LONGEST_PAUSE);
    }
}

impl Switch<'_> {
    /// Looks at the rounds when the generator of a pipe may send, before it sends.
    pub(super) fn watch_rounds(&mut self, now: Time, pipe: usize) {
        if now >= self.rounds.until || now < self.rounds.next_try {
            return;
        }
        if std::mem::take(&mut self.rounds.changed) {
            self.rounds.length = self.round();
        }
        let Some(round) = self.rounds.length.filter(|_| Some(pipe) == self.first_generator()) else { return };
        let Some(begin) = self.rounds.watched else { return self.begin_rounds(now, round) };
        let since = now.saturating_since(begin);
        if since < round || since > round && since < round + round {
            return;
        }
        let ok = !self.rounds.seen.iter().any(|seen| seen.spoilt) && since <= round + round;
        if ok && since == round && self.rounds.before.is_none() {
            self.rounds.before = Some(Box::new(self.before()));
        } else if !ok || since != round {
            match self.repeats(round).filter(|_| ok) {
                Some(before) => self.skip_rounds(now, round, &before),
                None => self.rounds.give_up(now, round),
            }
        }
    }

    /// Returns the length of a round; `None` if rounds cannot be skipped.
    fn round(&self) -> Option<Duration> {
        if self.has_ghost() || self.executors.differ() {
            return None;
        }
        let mut periods = self.pipes.iter().flat_map(|p| p.generator.unit.periods()).peekable();
        periods.peek()?;
        // Rounds of whole nanoseconds and whole cycles see equal clocks, but for the time itself.
        let unit = least_common_multiple(1_000, cycle(&self.chip)?)?;
        let round = periods.try_fold(unit, |sum, period| least_common_multiple(sum, period.as_ps()))?;
        let round = round.checked_mul(SHORTEST.as_ps().div_ceil(round))?;
        Some(Duration::from_ps(round)).filter(|round| *round <= LONGEST)
    }

    /// Returns the first pipe with a periodic generator.
    fn first_generator(&self) -> Option<usize> {
        self.pipes.iter().position(|p| p.generator.unit.periods().next().is_some())
    }

    /// Starts to watch if the next event from outside is far away.
    fn begin_rounds(&mut self, now: Time, round: Duration) {
        let Some(far) = round.checked_mul(WORTH).and_then(|far| now.checked_add(far)) else { return };
        if self.rounds.until < far || self.next_from_outside() < far {
            return;
        }
        self.rounds.watched = Some(now);
        self.rounds.before = None;
        self.rounds.seen.iter_mut().for_each(Seen::clear);
    }

    /// Returns the time before which nothing happens but rounds of generators; the time up to which the device is
    /// advanced if that is earlier.
    fn next_from_outside(&self) -> Time {
        let arrival = self.arrivals.iter().find(|a| !self.info_of(a.packet).generated);
        let events = self.events.iter().filter(|(_, event)| !matches!(event, Event::Generate { .. }));
        let event = events.map(|(key, _)| key.time).min();
        let times = [arrival.map(|a| a.parser), event, Some(self.sweeps.next)];
        times.into_iter().flatten().fold(self.rounds.until, Time::min)
    }

    fn before(&self) -> Before {
        Before {
            states: self.pipes.iter().map(|p| (*p.state).clone()).collect(),
            generators: self.pipes.iter().map(|p| p.generator.unit.clone()).collect(),
            totals: self.totals.clone(),
        }
    }

    /// Records the passes that are about to run; the first `entered` PHVs that wait at this gress.
    pub(super) fn note_passes(&mut self, pipe: usize, gress: Gress, entered: usize) {
        let (Some(begin), Some(round)) = (self.rounds.watched, self.rounds.length) else { return };
        let second = self.rounds.before.is_some();
        let seen = &mut self.rounds.seen[usize::from(second)];
        let begin = if second { begin + round } else { begin };
        let at = &self.pipes[pipe];
        let waiting = at.pending[gress.index()].range(..entered);
        for (pending, pass) in waiting.zip(&at.passes[gress.index()]) {
            let info = self.info.get(pass.packet.index()).copied().unwrap_or_default();
            seen.spoilt |= gress == Gress::Egress || !is_plain(pending, &info, round);
            seen.spoilt |= seen.passes.len() >= MOST_PASSES;
            if seen.spoilt {
                return;
            }
            let (head, tail) = self.packets.captured(pass.packet);
            seen.bytes.extend_from_slice(head);
            seen.bytes.extend_from_slice(tail);
            seen.passes.push(SeenPass {
                pipe,
                entered: pending.entered.as_ps().wrapping_sub(begin.as_ps()).cast_signed(),
                port: pass.input.port,
                resubmitted: pass.input.resubmitted,
                length: head.len() + tail.len(),
                verdict: Verdict::Forward,
            });
        }
    }

    /// Records what the passes of a batch led to.
    pub(super) fn note_verdicts<'a>(&mut self, batch: impl ExactSizeIterator<Item = &'a Pass>) {
        let seen = &mut self.rounds.seen[usize::from(self.rounds.before.is_some())];
        seen.spoilt |= !self.scratch.made.is_empty();
        // A batch with a pass that is not recorded spoils the round.
        let first = seen.passes.len().saturating_sub(batch.len());
        for (pass, recorded) in batch.zip(&mut seen.passes[first..]) {
            seen.spoilt |= pass.output.verdict == Verdict::Forward;
            recorded.verdict = pass.output.verdict;
        }
    }

    /// Returns the state at the beginning of the second round if the next round repeats that round.
    fn repeats(&mut self, round: Duration) -> Option<Box<Before>> {
        let before = self.rounds.before.take()?;
        let [first, second] = &self.rounds.seen;
        let same = first.passes == second.passes && first.bytes == second.bytes;
        let mut pipes = self.pipes.iter().zip(&before.generators).zip(&before.states);
        let repeats = same
            && before.totals.is_of_generators(&self.totals)
            && pipes.all(|((p, generator), state)| {
                p.generator.unit.repeats(generator, round) && is_unchanged(&p.state, state)
            })
            && self.only_generated();
        (repeats && self.is_independent_of_time()).then_some(before)
    }

    /// Returns true if every PHV inside is that of a generated packet.
    fn only_generated(&self) -> bool {
        let generated = |pass: &Pass| self.info_of(pass.packet).generated;
        self.pipes.iter().all(|p| {
            p.passes[Gress::Ingress.index()].iter().all(generated)
                && p.pending[Gress::Egress.index()].is_empty()
        })
    }

    /// Runs the second round in the interpreter; returns false if a pass read something that varies.
    fn is_independent_of_time(&mut self) -> bool {
        let make = || {
            let tracer = VaryingInputs::default();
            Box::new(Reference::traced(&self.program, &self.control, Options::default(), tracer))
        };
        let interpreter = self.rounds.interpreter.get_or_insert_with(make);
        _ = interpreter.tracer_mut().take();
        let seen = &self.rounds.seen[1];
        let mut packets = PacketStore::new(HeadLayout::default());
        for (pipe, at) in self.pipes.iter().enumerate() {
            *interpreter.state_mut() = (*at.state).clone();
            let mut start = 0;
            for pass in &seen.passes {
                let bytes = &seen.bytes[start..start + pass.length];
                start += pass.length;
                if pass.pipe != pipe {
                    continue;
                }
                let packet = packets.insert(bytes, 0);
                let input = PassIn { port: pass.port, resubmitted: pass.resubmitted, ..PassIn::default() };
                let mut batch = [Pass::new(packet, input)];
                interpreter.run(Gress::Ingress, &mut batch, &mut packets);
                packets.remove(packet);
                if interpreter.tracer_mut().take() || batch[0].output.verdict != pass.verdict {
                    return false;
                }
            }
            if !is_unchanged(interpreter.state(), &at.state) {
                return false;
            }
        }
        true
    }

    /// Skips the rounds up to the last ones before the next event from outside.
    fn skip_rounds(&mut self, now: Time, round: Duration, before: &Before) {
        self.rounds.watched = None;
        (self.rounds.next_try, self.rounds.pause) = (now, 1);
        let gap = self.next_from_outside().saturating_since(now);
        let times = (gap.as_ps() / round.as_ps()).saturating_sub(LAST);
        if times == 0 {
            return;
        }
        self.totals.repeat(&before.totals, times);
        for (number, pipe) in self.pipes.iter_mut().enumerate() {
            let passes = self.rounds.seen[1].passes.iter().filter(|pass| pass.pipe == number).count();
            let draws = passes as u128 * u128::from(times);
            for (random, data) in self.program.randoms.iter() {
                if data.gress == Gress::Ingress {
                    pipe.state.randoms[random].skip(draws);
                }
            }
            if let Some(state) = before.states.get(number) {
                pipe.state.repeat_hits(state, times);
            }
            pipe.generator.unit.skip(&before.generators[number], round, times);
            pipe.generator.scheduled = None;
        }
        for pipe in 0..self.pipes.len() {
            self.schedule_generator(pipe);
        }
    }
}

/// Returns true for a pass of a generated packet that did not wait, and is not older than a round.
fn is_plain(pending: &PendingPass, info: &PacketInfo, round: Duration) -> bool {
    let age = pending.entered.saturating_since(info.received);
    info.generated && !pending.bypass && pending.waited.get() == 0 && age <= round
}

/// Returns true if two states of a pipe are equal, apart from the numbers that random streams will give.
fn is_unchanged(now: &State, before: &State) -> bool {
    now.registers == before.registers
        && now.counters == before.counters
        && now.meters == before.meters
        && now.params == before.params
        && now.ages == before.ages
        && now.busy == before.busy
}

/// Returns the shortest time in ps that is a whole number of cycles of the MAU's clock.
fn cycle(chip: &ChipSpec) -> Option<u64> {
    const PS_PER_S: u128 = 1_000_000_000_000;
    let (cycles, seconds) = chip.mau.clock.hz();
    let ps = u128::from(seconds) * PS_PER_S;
    u64::try_from(ps / greatest_common_divisor(ps, cycles.into()).max(1)).ok()
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let shared = greatest_common_divisor(a.into(), b.into());
    let multiple = (u128::from(a) * u128::from(b)).checked_div(shared)?;
    u64::try_from(multiple).ok()
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
