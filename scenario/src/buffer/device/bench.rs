//! The device under test: the emulated switch, senders at its ports, and a collector of sent packets, in simulated
//! time.
//!
//! Trains of frames are merged by time. A sender that obeys PFC receives the PFC frames of its port after the cable's
//! delay. The device never runs further ahead of a sender than a pause needs to take effect.

use super::events::DeviceEvents;
use super::forward::{Forwarder, NoSwitch};
use super::frames::Target;
use super::timeline::Watch;
use sluice_asic::limits;
use sluice_asic::port::{DevPort, FrontPort, PortMap};
use sluice_asic::tm::buffer::{Buffer, BufferConfig};
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{Bytes, Duration, Length, Time};
use sluice_control::{ControlOp, MulticastNode};
use sluice_switch::{FlowView, RxFrame, Switch, SwitchConfig, Timeline};
use std::collections::BTreeMap;

/// Time after which a packet is in its queue or dropped: longer than the path from wire to queue at any speed.
const SETTLE: Duration = Duration::from_micros(5);
/// Time between packets that are sent singly.
const SINGLE: Duration = Duration::from_micros(2);
/// Longest time to wait for the end of a train, or for packets that depart.
const PATIENCE: Duration = Duration::from_secs(10);
/// Shortest time between two checks whether a paused sender without cable may resume.
const LEAST_STEP: Duration = Duration::from_nanos(10);
/// Most frames that are passed to the device before it runs.
const AHEAD: u32 = 64;

/// A train that is being sent.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    pub(crate) port: u16,
    pub(crate) frame: Vec<u8>,
    /// Frames that are left to send; `u64::MAX`: no limit.
    pub(crate) left: u64,
    /// Time at which the next frame is due.
    pub(crate) next: Time,
    pub(crate) gap: Option<Duration>,
    /// No frame is sent from this time on.
    pub(crate) end: Time,
    pub(crate) priority: u8,
    pub(crate) damaged: bool,
    pub(crate) sent: u64,
    /// Number of the train, in order of their starts.
    pub(crate) number: u64,
}

/// Result of a flood: numbers of packets within each group, from 1; 0 if the event did not occur.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flooded {
    pub(crate) first_xoff: u64,
    pub(crate) xoff: u64,
    pub(crate) drop: u64,
}

/// A device with its senders and collector.
pub(crate) struct Bench {
    pub(crate) switch: Switch<'static>,
    pub(crate) config: BufferConfig,
    pub(crate) ports: PortMap,
    /// Cable of senders that obey PFC and name no cable.
    pub(crate) cable: Length,
    pub(crate) seen: DeviceEvents,
    pub(crate) flooded: Flooded,
    pub(crate) now: Time,
    /// Time from which on sent packets are counted.
    pub(crate) mark: Time,
    lines: BTreeMap<u16, PfcSource>,
    trains: Vec<Active>,
    groups: BTreeMap<Vec<u16>, u16>,
    begun: u64,
    tags: u64,
    ahead: u32,
    /// Recorder of the device's timeline, if there is one.
    watch: Option<(Timeline, Box<dyn Watch>)>,
}

impl Bench {
    pub(crate) fn new(world: &Forwarder, ports: PortMap, config: SwitchConfig) -> Result<Bench, NoSwitch> {
        let cable = config.buffer.as_ref().map_or_else(Length::default, |buffer| buffer.file.cable);
        let switch = world.switch(&ports, config)?;
        let resolved = switch.flow(Time::ORIGIN).map(|view| view.config.clone());
        let config = resolved.ok_or_else(|| NoSwitch::Other("the device has no shared buffer".to_owned()))?;
        Ok(Bench {
            switch,
            config,
            ports,
            cable,
            seen: DeviceEvents::default(),
            flooded: Flooded::default(),
            now: Time::ORIGIN,
            mark: Time::ORIGIN,
            lines: BTreeMap::new(),
            trains: Vec::new(),
            groups: BTreeMap::new(),
            begun: 0,
            tags: 0,
            ahead: 0,
            watch: None,
        })
    }

    /// Starts recording fill levels, at multiples of `every` or, with `None`, at every change.
    pub(crate) fn watch(&mut self, every: Option<Duration>, watch: Box<dyn Watch>) {
        self.watch = Some((Timeline::new(&mut self.switch, every), watch));
    }

    /// Ends the recording.
    pub(crate) fn end_watch(&mut self) -> Result<(), String> {
        let Some((mut timeline, mut watch)) = self.watch.take() else { return Ok(()) };
        timeline.look(&mut self.switch, &mut |row| watch.row(row));
        watch.end()
    }

    /// Returns the dev_port of a front-panel port.
    pub(crate) fn dev(&self, front: i128) -> Result<DevPort, String> {
        let port = u16::try_from(front).ok().and_then(|n| self.ports.front(FrontPort(n)));
        let last = self.ports.front_ports().len().saturating_sub(1);
        port.map(|p| p.dev_port).ok_or_else(|| format!("there is no port {front}; ports are 0 to {last}"))
    }

    /// Returns the shared buffer.
    pub(crate) fn buffer(&self) -> Result<&Buffer, String> {
        self.switch.buffer().ok_or_else(|| "the device has no shared buffer".to_owned())
    }

    /// Returns the present state of flow control.
    pub(crate) fn view(&self) -> Result<FlowView<'_>, String> {
        self.switch.flow(self.now).ok_or_else(|| "the device has no shared buffer".to_owned())
    }

    /// Returns the target of packets to these ports: a single port, or a multicast group, which is added at its first
    /// use.
    pub(crate) fn target(&mut self, to: &[u16]) -> Result<Target, String> {
        let ports: Vec<u16> =
            to.iter().map(|p| self.dev(i128::from(*p)).map(DevPort::number)).collect::<Result<_, _>>()?;
        if let [port] = ports[..] {
            return Ok(Target::Port(port));
        }
        if let Some(group) = self.groups.get(&ports) {
            return Ok(Target::Group(*group));
        }
        let id = self.groups.len() as u16 + 1;
        let node = MulticastNode { rid: id, ports: ports.clone(), ..MulticastNode::default() };
        let op = ControlOp::SetMulticastGroup { id, nodes: vec![node] };
        self.switch.control(self.now, op).map_err(|e| e.to_string())?;
        self.groups.insert(ports, id);
        Ok(Target::Group(id))
    }

    /// Attaches a sender with this cable and PFC reaction to a port. If `wanted` is `None`, an existing sender stays.
    pub(crate) fn attach(
        &mut self,
        front: u16,
        wanted: Option<(Length, PfcConfig, bool)>,
    ) -> Result<(), String> {
        self.dev(front.into())?;
        let rate = self.ports.speed();
        match wanted {
            Some((cable, config, obeys)) => {
                let honoured = if obeys { 0xff } else { 0 };
                self.lines.insert(front, PfcSource::new(rate, cable, &config, honoured));
            }
            None => {
                let plain = || PfcSource::new(rate, Length::default(), &PfcConfig::default(), 0);
                self.lines.entry(front).or_insert_with(plain);
            }
        }
        Ok(())
    }

    /// Starts a train.
    pub(crate) fn begin(&mut self, train: Active) {
        self.trains.push(Active { number: self.begun, ..train });
        self.begun += 1;
    }

    /// Returns true if a train is being sent.
    pub(crate) fn is_sending(&self) -> bool {
        self.trains.iter().any(|t| t.left > 0 && t.next < t.end)
    }

    /// Sends until all trains with a number of at least `before` have ended, then waits until their packets are in
    /// their queues. Earlier trains continue at the same time.
    pub(crate) fn finish(&mut self, before: u64) -> Result<(), String> {
        let endless = |t: &Active| t.number >= before && t.left == u64::MAX && t.end == Time::MAX;
        if let Some(train) = self.trains.iter().find(|t| endless(t)) {
            return Err(format!("a train at port {} never ends; give it `count` or `lasts`", train.port));
        }
        self.send_until(Time::MAX, Some(before))?;
        let delay = self.lines.values().map(PfcSource::delay).max().unwrap_or_default();
        self.wait(delay + SETTLE)
    }

    /// Returns the number of trains started so far.
    pub(crate) const fn begun(&self) -> u64 {
        self.begun
    }

    /// Runs for a time.
    pub(crate) fn wait(&mut self, time: Duration) -> Result<(), String> {
        let until = self.now + time;
        self.send_until(until, None)?;
        self.run_until(until)
    }

    /// Runs until no packet is inside, for at most the time `most`.
    pub(crate) fn drain(&mut self, most: Duration) -> Result<(), String> {
        let end = self.now + most;
        while self.is_sending() && self.now < end {
            self.wait(SETTLE.min(end.saturating_since(self.now)))?;
        }
        while self.switch.held().total() > 0 {
            let Some(next) = self.switch.next_time().filter(|t| *t <= end) else { break };
            self.run_until(next)?;
        }
        Ok(())
    }

    /// Returns the time of the next frame, and the index of its train.
    fn next_train(&self) -> Option<(Time, usize)> {
        let candidate = |(i, train): (usize, &Active)| {
            let line = self.lines.get(&train.port)?;
            let free = train.next.max(line.free_at()).max(self.now);
            let paused = line.paused() >> train.priority & 1 != 0;
            // A frame that the device sends from now on acts no earlier than this, so a resume is not missed.
            let unknown = self.now + line.lookahead().max(LEAST_STEP);
            let known = line.next_time().unwrap_or(Time::MAX);
            let at = if paused { free.max(known.min(unknown)) } else { free };
            (train.left > 0 && at < train.end).then_some((at, train.sent, i))
        };
        self.trains.iter().enumerate().filter_map(candidate).min().map(|(at, _, i)| (at, i))
    }

    /// Sends up to `until`, or until all trains with a number of at least `awaited` have ended.
    fn send_until(&mut self, until: Time, awaited: Option<u64>) -> Result<(), String> {
        let begin = self.now;
        while let Some((at, i)) = self.next_train() {
            if awaited.is_some() && at.saturating_since(begin) > PATIENCE {
                return Err(format!(
                    "a train has not ended after {PATIENCE}, because its sender is paused; limit the train by `lasts`"
                ));
            }
            let over =
                |first: u64| !self.trains.iter().any(|t| t.number >= first && t.left > 0 && t.next < t.end);
            if at > until || awaited.is_some_and(over) {
                return Ok(());
            }
            let obeying = self.lines.values().any(PfcSource::obeys);
            if obeying || self.ahead >= AHEAD {
                self.run_until(at)?;
            }
            self.now = self.now.max(at);
            let Some(train) = self.trains.get_mut(i) else { return Ok(()) };
            let Some(line) = self.lines.get_mut(&train.port) else { return Ok(()) };
            line.advance(at);
            if line.may_send(at, train.priority) {
                let len = Bytes(train.frame.len() as u64);
                let first_bit = line.send(at, len).first_bit;
                train.left = if train.left == u64::MAX { u64::MAX } else { train.left - 1 };
                train.sent += 1;
                train.next = train.gap.map_or(at, |gap| train.next + gap);
                let port = self.ports.front(FrontPort(train.port)).map(|p| p.dev_port);
                let port = port.ok_or_else(|| format!("port {} does not exist", train.port))?;
                let result = match train.damaged {
                    true => self.switch.rx_damaged(port, first_bit, len),
                    false => {
                        let frame = RxFrame { bytes: &train.frame, orig_len: len.0 as u32, tag: self.tags };
                        self.switch.rx(port, first_bit, frame).map(|_| ())
                    }
                };
                result.map_err(|e| e.to_string())?;
                self.tags += 1;
                self.ahead += 1;
                let limit = &limits::SCENARIO_FRAMES;
                if self.tags > limit.get() {
                    return Err(format!(
                        "more than {} frames are sent; expected a smaller `count`, a larger `gap`, or `lasts`; {}",
                        limit.get(),
                        limit.advice()
                    ));
                }
            }
        }
        self.trains.retain(|t| t.left > 0 && t.next < t.end);
        Ok(())
    }

    /// Runs the device up to `until`, and passes its PFC frames to the senders.
    pub(crate) fn run_until(&mut self, until: Time) -> Result<(), String> {
        let advanced = match &mut self.watch {
            None => self.switch.advance(until, &mut self.seen),
            Some((timeline, watch)) => {
                timeline.advance(&mut self.switch, until, &mut self.seen, &mut |row| watch.row(row))
            }
        };
        advanced.map_err(|e| e.to_string())?;
        self.now = self.now.max(until);
        self.ahead = 0;
        for (dev_port, last_bit, times) in self.seen.fresh.drain(..) {
            let port = DevPort::new(dev_port).and_then(|port| self.ports.dev(port));
            if let Some(line) = port.and_then(|p| p.front()).and_then(|front| self.lines.get_mut(&front.0)) {
                line.heard(last_bit, times);
            }
        }
        Ok(())
    }

    /// Sends one packet, waits until it is in its queue, and returns true if it was dropped.
    fn single(&mut self, port: u16, frame: &[u8]) -> Result<bool, String> {
        let before = self.seen.last_lost.take();
        let dev = self.dev(port.into())?;
        let (tag, at) = (self.tags, self.now);
        self.tags += 1;
        self.switch
            .rx(dev, at, RxFrame { bytes: frame, orig_len: frame.len() as u32, tag })
            .map_err(|e| e.to_string())?;
        self.run_until(at + SINGLE)?;
        let lost = self.seen.last_lost == Some(tag);
        self.seen.last_lost = self.seen.last_lost.or(before);
        Ok(lost)
    }

    /// Sends single packets to groups (port, class, frame) in turn: until one is dropped, or until all groups are
    /// paused. In the second case, a paused group gets no more packets.
    pub(crate) fn flood(&mut self, groups: &[(u16, u8, Vec<u8>)], until_drop: bool) -> Result<(), String> {
        const MOST: u64 = 2_000_000;
        let is_xoff = |bench: &Bench, port, class| -> Result<bool, String> {
            Ok(bench.buffer()?.group(port, class).is_some_and(|pg| pg.is_xoff()))
        };
        let mut paused = Vec::new();
        for (port, class, _) in groups {
            paused.push(!until_drop && is_xoff(self, *port, *class)?);
        }
        self.flooded = Flooded::default();
        for n in 1..=MOST {
            for (i, (port, class, frame)) in groups.iter().enumerate() {
                if paused[i] && !until_drop {
                    continue;
                }
                let lost = self.single(*port, frame)?;
                if is_xoff(self, *port, *class)? && !paused[i] {
                    paused[i] = true;
                    self.flooded.xoff = n;
                    if self.flooded.first_xoff == 0 {
                        self.flooded.first_xoff = n;
                    }
                }
                if lost {
                    self.flooded.drop = n;
                    return Ok(());
                }
            }
            if !until_drop && paused.iter().all(|p| *p) {
                return Ok(());
            }
        }
        Err(format!(
            "after {MOST} packets of each group nothing was {}",
            if until_drop { "dropped" } else { "paused" }
        ))
    }

    /// Unblocks a port until it has sent `n` packets.
    pub(crate) fn depart(&mut self, front: i128, n: u64) -> Result<(), String> {
        let port = self.dev(front)?;
        let count = |seen: &DeviceEvents| seen.departures.get(&port.number()).copied().unwrap_or(0);
        let (until, end) = (count(&self.seen) + n, self.now + PATIENCE);
        self.switch.block(port, false).map_err(|e| e.to_string())?;
        while count(&self.seen) < until {
            // A device whose watchdog sees a storm always has a next event.
            let Some(next) = self.switch.next_time().filter(|next| *next <= end) else {
                return Err(format!(
                    "port {front} has sent {} of {n} packets within {PATIENCE}; `depart` at most as many as its queues hold",
                    n - (until - count(&self.seen))
                ));
            };
            self.run_until(next)?;
        }
        self.switch.block(port, true).map_err(|e| e.to_string())
    }

    /// Restarts the counts of sent packets.
    pub(crate) fn collect(&mut self) {
        self.seen.clear();
        self.mark = self.now;
    }
}
