//! Packet generator of a pipe: its applications share one buffer and one line.

use super::app::{App, AppCounters, Event};
use super::config::{AppConfig, PktgenError, Trigger};
use super::header::PktgenHeader;
use crate::chip::ChipSpec;
use crate::gress::Gress;
use crate::random::{RandomStream, StreamId};
use crate::units::{BitRate, Bytes, Duration, Time};

/// Number from which on random streams belong to the generator; lower numbers belong to externs of programs.
const STREAMS: u32 = 1 << 31;

/// A packet that starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedPacket {
    /// Application that generated the packet.
    pub app: u32,
    /// Time at which the packet's first bit enters the port.
    pub start: Time,
    /// Time at which the packet's last bit has entered the port.
    pub end: Time,
    /// Local port on which the packet arrives.
    pub port: u32,
    /// The bytes in front of it.
    pub header: PktgenHeader,
    /// Offset of the packet's bytes in the generator's buffer.
    pub offset: u32,
    /// Number of those bytes.
    pub length: u32,
}

/// State of an application.
#[derive(Debug, Clone)]
struct Slot {
    config: Option<AppConfig>,
    app: Option<App>,
    /// Counters of the time before the application was last disabled.
    counters: AppCounters,
}

/// A pipe's packet generator.
#[derive(Debug, Clone)]
pub struct PacketGenerator {
    chip: ChipLimits,
    seed: u64,
    switch: u32,
    pipe: u32,
    slots: Vec<Slot>,
    free_at: Time,
    down: u128,
}

/// Limits of the chip that the generator needs.
#[derive(Debug, Clone, Copy)]
struct ChipLimits {
    app_bits: u32,
    events: usize,
    match_bytes: usize,
    gap_after: bool,
    rate: BitRate,
}

impl PacketGenerator {
    /// Returns the generator of pipe `pipe` of switch `switch`, all applications off.
    pub fn new(chip: &ChipSpec, seed: u64, switch: u32, pipe: u32) -> Self {
        let apps = chip.tm.pktgen_apps;
        let slot = Slot { config: None, app: None, counters: AppCounters::default() };
        Self {
            chip: ChipLimits {
                app_bits: u32::BITS - apps.saturating_sub(1).leading_zeros(),
                events: chip.tm.pktgen_events.max(1) as usize,
                match_bytes: chip.tm.pktgen_match_bytes.min(16) as usize,
                gap_after: chip.features.pktgen_gap_after_packet,
                rate: chip.ports.recirculation_rate,
            },
            seed,
            switch,
            pipe,
            slots: vec![slot; apps as usize],
            free_at: Time::ORIGIN,
            down: 0,
        }
    }

    /// Configures an application, which is disabled afterwards. `chip` must be the chip of the generator.
    ///
    /// # Errors
    /// Fails for an application that does not exist, a configuration that the chip does not allow, and a second PFC
    /// trigger.
    pub fn configure(
        &mut self,
        app: u32,
        config: AppConfig,
        chip: &ChipSpec,
    ) -> Result<(), Vec<PktgenError>> {
        self.slot(app).map_err(|error| vec![error])?;
        let mut errors = config.validate(chip).err().unwrap_or_default();
        if matches!(config.trigger, Trigger::Pfc { .. }) {
            let is_pfc =
                |slot: &Slot| matches!(slot.config, Some(AppConfig { trigger: Trigger::Pfc { .. }, .. }));
            let other = (0..).zip(&self.slots).find(|(number, slot)| *number != app && is_pfc(slot));
            if let Some((other, _)) = other {
                errors.push(PktgenError::SecondPfc { found: app, other });
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        self.disable(app).map_err(|error| vec![error])?;
        self.slot(app).map_err(|error| vec![error])?.config = Some(config);
        Ok(())
    }

    /// Enables an application and starts its timer at `now`. An enabled application restarts.
    ///
    /// # Errors
    /// Fails for an application that does not exist or was not configured.
    pub fn enable(&mut self, app: u32, now: Time) -> Result<(), PktgenError> {
        let config = self.slot(app)?.config.ok_or(PktgenError::Unconfigured(app))?;
        self.disable(app)?;
        let id =
            StreamId { switch: self.switch, pipe: self.pipe, gress: Gress::Ingress, instance: STREAMS | app };
        let random = RandomStream::new(self.seed, id);
        let (events, gap_after) = (self.chip.events, self.chip.gap_after);
        let mut started = App::new(config, now, random, events, gap_after);
        // Ports that are down already count (model).
        for port in (0..128).filter(|port| self.down >> port & 1 != 0) {
            started.port_down(port, now);
        }
        self.slot(app)?.app = Some(started);
        Ok(())
    }

    /// Disables an application at once and discards its waiting packets.
    ///
    /// # Errors
    /// Fails for an application that does not exist.
    pub fn disable(&mut self, app: u32) -> Result<(), PktgenError> {
        let slot = self.slot(app)?;
        if let Some(app) = slot.app.take() {
            slot.counters.add(app.counters);
        }
        Ok(())
    }

    /// Returns the counters of an application since the start.
    pub fn counters(&self, app: u32) -> Option<AppCounters> {
        let slot = self.slots.get(app as usize)?;
        let mut sum = slot.counters;
        sum.add(slot.app.as_ref().map(|app| app.counters).unwrap_or_default());
        Some(sum)
    }

    /// Notifies the generator that a local port went down. A second call before [`PacketGenerator::port_up`] has no
    /// effect.
    pub fn port_down(&mut self, port: u32, now: Time) {
        let bit = 1u128.checked_shl(port).unwrap_or(0);
        if self.down & bit != 0 {
            return;
        }
        self.down |= bit;
        self.running().for_each(|app| app.port_down(port, now));
    }

    /// Notifies the generator that a local port came up.
    pub fn port_up(&mut self, port: u32) {
        self.down &= !1u128.checked_shl(port).unwrap_or(0);
    }

    /// Notifies the generator of a packet that arrived on a recirculation port; `bytes` are its first bytes.
    pub fn recirculated(&mut self, bytes: &[u8], now: Time) {
        let key = first_bytes(bytes, self.chip.match_bytes);
        for app in self.running() {
            if matches!(app.config.trigger, Trigger::Recirculation(wanted) if wanted.matches(&key)) {
                app.trigger(Event::Matched(key), now);
            }
        }
    }

    /// Notifies the generator of a deparser's request for `length` bytes from `offset` of the buffer, with `bytes` to
    /// match.
    pub fn requested(&mut self, bytes: &[u8], offset: u32, length: u32, now: Time) {
        let key = first_bytes(bytes, 16);
        for app in self.running() {
            if matches!(app.config.trigger, Trigger::Request(wanted) if wanted.matches(&key)) {
                app.trigger(Event::Requested { key, offset, length }, now);
            }
        }
    }

    /// Notifies the generator that a priority was paused or resumed.
    pub fn pfc_changed(&mut self, now: Time) {
        for app in self.running() {
            if let Trigger::Pfc { header } = app.config.trigger {
                app.trigger(Event::Pfc(header), now);
            }
        }
    }

    /// Returns true if no application is configured, so that nothing makes this generator send.
    pub fn is_unused(&self) -> bool {
        self.slots.iter().all(|slot| slot.app.is_none())
    }

    /// Marks the generator's line as busy until `time`, by its own packets with preamble and gap, or by recirculated
    /// packets, which share the line.
    pub fn busy_until(&mut self, time: Time) {
        self.free_at = self.free_at.max(time);
    }

    /// Returns the time at which the next packet starts or the next timer fires. No event happens earlier.
    pub fn next_time(&self) -> Option<Time> {
        let apps = || self.slots.iter().filter_map(|slot| slot.app.as_ref());
        let timer = apps().filter_map(App::timer).min();
        let packet = apps().filter_map(App::due).min().map(|due| due.max(self.free_at));
        timer.into_iter().chain(packet).min()
    }

    /// Returns the periods of the enabled applications with a periodic trigger.
    pub fn periods(&self) -> impl Iterator<Item = Duration> + '_ {
        self.slots.iter().filter_map(|slot| match slot.app.as_ref()?.config.trigger {
            Trigger::Periodic { period } => Some(period),
            _ => None,
        })
    }

    /// Returns true if everything that decides about the generator's packets is as it was `by` ago, moved by that time.
    /// Then, without a cause from outside, its packets repeat themselves with the period `by`.
    pub fn repeats(&self, earlier: &PacketGenerator, by: Duration) -> bool {
        let same = |(now, then): (&Slot, &Slot)| match (&now.app, &then.app) {
            (Some(now), Some(then)) => now.repeats(then, by),
            (now, then) => now.is_none() && then.is_none(),
        };
        let idle = self.free_at == earlier.free_at;
        (idle || self.free_at == earlier.free_at + by)
            && self.down == earlier.down
            && self.slots.len() == earlier.slots.len()
            && self.slots.iter().zip(&earlier.slots).all(same)
    }

    /// Skips `times` repetitions of the time `period`, in which the generator makes the packets that it has made since
    /// `earlier`, one period ago: they count as made.
    pub fn skip(&mut self, earlier: &PacketGenerator, period: Duration, times: u64) {
        let Some(by) = period.checked_mul(times) else { return };
        if self.free_at != earlier.free_at {
            self.free_at += by;
        }
        for (now, then) in self.slots.iter_mut().zip(&earlier.slots) {
            if let (Some(now), Some(then)) = (&mut now.app, &then.app) {
                now.skip(then, by, times);
            }
        }
    }

    /// Returns the next packet that starts at or before `until`, in order of time; `None` if there is none. Of
    /// applications that are due together the lowest goes first (assumption).
    pub fn poll(&mut self, until: Time) -> Option<GeneratedPacket> {
        loop {
            let next = self.next_time().filter(|next| *next <= until)?;
            let expired = |app: &&mut App| app.timer().is_some_and(|timer| timer <= next);
            if let Some(app) = self.running().find(expired) {
                app.fire();
                continue;
            }
            let free_at = self.free_at;
            let starts = |slot: &Slot| slot.app.as_ref().and_then(App::due).map(|due| due.max(free_at));
            let app = self.slots.iter().position(|slot| starts(slot) == Some(next))?;
            return self.send(app, next);
        }
    }

    fn send(&mut self, number: usize, start: Time) -> Option<GeneratedPacket> {
        let (chip, pipe) = (self.chip, self.pipe);
        let app = self.slots.get_mut(number)?.app.as_mut()?;
        let config = app.config;
        let (offset, length) = match app.next()? {
            Event::Requested { offset, length, .. } => (offset, length),
            _ => (config.offset, config.length),
        };
        let header_bytes = app.header_bytes();
        let end = start + chip.rate.time_for(Bytes(u64::from(length) + header_bytes));
        let (shot, port) = app.send(start, end)?;
        self.free_at = end;
        let header = PktgenHeader::new(pipe, number as u32, chip.app_bits, &shot, config.copy_key);
        Some(GeneratedPacket { app: number as u32, start, end, port, header, offset, length })
    }

    fn running(&mut self) -> impl Iterator<Item = &mut App> {
        self.slots.iter_mut().filter_map(|slot| slot.app.as_mut())
    }

    fn slot(&mut self, app: u32) -> Result<&mut Slot, PktgenError> {
        let limit = self.slots.len() as u32;
        self.slots.get_mut(app as usize).ok_or(PktgenError::App { found: app, limit })
    }
}

/// Returns the first `count` bytes, zeros where there are fewer.
fn first_bytes(bytes: &[u8], count: usize) -> [u8; 16] {
    let mut key = [0; 16];
    for (slot, byte) in key.iter_mut().zip(bytes).take(count) {
        *slot = *byte;
    }
    key
}
