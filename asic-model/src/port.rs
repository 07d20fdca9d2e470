//! The map between front panel, dev_ports, MACs, lanes, pipes and queues, with the static properties of ports.

mod error;
mod naming;

pub use error::PortError;

use crate::chip::{ChipSpec, PortSpeed};
use crate::port_names::PortNames;
use crate::units::{BitRate, Bytes, Duration};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A front-panel port, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrontPort(pub u16);

/// A pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pipe(pub u8);

/// A MAC, which is also the traffic manager's port group, within its pipe (model: tm §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacId(pub u8);

/// The dense index of a port over all pipes: `ports per pipe * pipe + local` (model: chip §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TmPort(pub u16);

/// A port as programs see it: 9 bits, `pipe << 7 | local` (model: chip §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevPort(u16);

impl DevPort {
    /// The number of dev_port values.
    pub const COUNT: u16 = 512;

    /// Returns the dev_port of this number, or `None` above 511.
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// Returns the dev_port of a pipe (0 to 3) and local port (0 to 127).
    pub const fn from_parts(pipe: Pipe, local: u8) -> Option<Self> {
        if pipe.0 < 4 && local < 128 { Some(Self((pipe.0 as u16) << 7 | local as u16)) } else { None }
    }

    /// Returns the 9-bit number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Returns the pipe.
    pub const fn pipe(self) -> Pipe {
        Pipe((self.0 >> 7) as u8)
    }

    /// Returns the port within its pipe.
    pub const fn local(self) -> u8 {
        (self.0 & 127) as u8
    }
}

impl fmt::Display for FrontPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl fmt::Display for DevPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("dev:{}", self.0))
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// A port as a user names it: `3` is front-panel port 3, `dev:137` a dev_port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortName {
    /// A front-panel port.
    Front(FrontPort),
    /// A dev_port.
    Dev(DevPort),
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Front(port) => port.fmt(f),
            Self::Dev(port) => port.fmt(f),
        }
    }
}

impl FromStr for PortName {
    type Err = PortError;
    fn from_str(text: &str) -> Result<Self, PortError> {
        let malformed = || PortError::Name { text: text.to_owned() };
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if plain { digits.parse::<u16>().map_err(|_| malformed()) } else { Err(malformed()) }
        };
        match text.strip_prefix("dev:") {
            None => number(text).map(|port| Self::Front(FrontPort(port))),
            Some(digits) => DevPort::new(number(digits)?).map(Self::Dev).ok_or_else(malformed),
        }
    }
}

/// Use of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// A port of the front panel.
    Front(FrontPort),
    /// The CPU's Ethernet port.
    Cpu,
    /// A recirculation port; all of a pipe share [`crate::chip::PortSpec::recirculation_rate`].
    Recirculation,
}

/// A port with its numbers on the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Use of the port.
    pub kind: PortKind,
    /// Number of the port in programs.
    pub dev_port: DevPort,
    /// MAC and port group within the pipe.
    pub mac: MacId,
    /// First lane in the MAC.
    pub lane: u8,
    /// The MAC's lanes that it takes.
    pub lanes: u8,
    /// Bit rate.
    pub speed: BitRate,
    /// Index among the ports of all pipes.
    pub tm_port: TmPort,
    /// Parser within the pipe and gress (model: chip §6.2).
    pub parser: u8,
    /// First queue within the port group (model: tm §5).
    pub queue_base: u16,
    /// Number of queues: those of all lanes of the port (model: tm §1), so a port with all lanes of its group has all
    /// queues of the group.
    pub queues: u16,
    /// Time for which the ingress buffer holds the head of a frame before parsing starts.
    pub ingress_hold: Duration,
}

impl Port {
    /// Returns the pipe.
    pub const fn pipe(&self) -> Pipe {
        self.dev_port.pipe()
    }

    /// Returns the front-panel port; `None` for other ports.
    pub const fn front(&self) -> Option<FrontPort> {
        match self.kind {
            PortKind::Front(front) => Some(front),
            PortKind::Cpu | PortKind::Recirculation => None,
        }
    }
}

/// The front-panel port's number, else the dev_port.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PortKind::Front(front) => front.fmt(f),
            PortKind::Cpu | PortKind::Recirculation => self.dev_port.fmt(f),
        }
    }
}

/// All ports of a chip whose front-panel MACs run at one speed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortMap {
    chip: String,
    speed: BitRate,
    cell: Bytes,
    /// Front-panel ports in order, then the CPU's, then recirculation ports.
    ports: Arc<[Port]>,
    front: u16,
    /// For every dev_port its index in `ports`.
    by_dev_port: Arc<[Option<u16>]>,
    /// Local ports on which packets of the generators arrive.
    pktgen_local_ports: Vec<u32>,
    /// Dev_ports, and so lanes, of a port group.
    ports_per_group: u16,
    queues_per_lane: u16,
    /// The user's names of front-panel ports.
    names: Option<Arc<PortNames>>,
}

/// For every dev_port the first of these ports that has it.
fn by_dev_port(ports: &[Port]) -> Arc<[Option<u16>]> {
    let mut list = vec![None; DevPort::COUNT as usize];
    for (index, port) in (0..=u16::MAX).zip(ports) {
        if let Some(slot) = list.get_mut(port.dev_port.number() as usize) {
            *slot = slot.or(Some(index));
        }
    }
    list.into()
}

impl PortMap {
    /// Returns the ports of a chip that [`ChipSpec::validate`] accepts, its MACs split into as many ports of `speed` as
    /// they have lanes for.
    ///
    /// # Errors
    /// [`PortError::Speed`] if the chip's MACs do not run at `speed`.
    pub fn new(chip: &ChipSpec, speed: BitRate) -> Result<Self, PortError> {
        let speeds = &chip.ports.speeds;
        let chosen = speeds.iter().find(|known| known.speed == speed).copied().ok_or_else(|| {
            let valid: Vec<String> = speeds.iter().map(|known| known.speed.to_string()).collect();
            PortError::Speed { speed, chip: chip.name.clone(), valid: valid.join(", ") }
        })?;
        let mut ports = front_ports(chip, chosen);
        let front = u16::try_from(ports.len()).unwrap_or(u16::MAX);
        ports.extend(special(chip, chip.ports.cpu_dev_port, PortKind::Cpu, chip.ports.lane_rate));
        for dev_port in &chip.ports.recirculation_dev_ports {
            let rate = chip.ports.recirculation_rate;
            ports.extend(special(chip, *dev_port, PortKind::Recirculation, rate));
        }
        let by_dev_port = by_dev_port(&ports);
        let pktgen_local_ports = chip.ports.pktgen_local_ports.clone();
        let small = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        Ok(Self {
            chip: chip.name.clone(),
            speed,
            cell: chip.tm.cell,
            ports: ports.into(),
            front,
            by_dev_port,
            pktgen_local_ports,
            ports_per_group: small(chip.tm.ports_per_group),
            queues_per_lane: small(chip.tm.queues_per_port),
            names: None,
        })
    }

    /// Returns the ports of `chip` at its default speed.
    ///
    /// # Errors
    /// [`PortError::Speed`] if the specification's default speed is not one of its speeds.
    pub fn default_for(chip: &ChipSpec) -> Result<Self, PortError> {
        Self::new(chip, chip.ports.default_speed)
    }

    /// Returns the ports of `chip`, each with one lane, and further front-panel ports at these dev_ports wherever the chip has
    /// other ports or none, except at the CPU's port. Tests for other models name ports without regard to the chip's.
    ///
    /// # Errors
    /// [`PortError::Speed`] if no speed uses one lane.
    pub fn with_wires(
        chip: &ChipSpec,
        dev_ports: impl IntoIterator<Item = DevPort>,
    ) -> Result<Self, PortError> {
        let narrow = chip.ports.speeds.iter().filter(|known| known.lanes == 1);
        let speed = narrow.map(|known| known.speed).max().unwrap_or(chip.ports.default_speed);
        let mut map = Self::new(chip, speed)?;
        for dev_port in dev_ports {
            let number = u32::from(dev_port.number());
            let known = map.dev(dev_port).map(|port| port.kind);
            if dev_port.pipe().0 as u32 >= chip.ports.pipes
                || matches!(known, Some(PortKind::Front(_) | PortKind::Cpu))
            {
                continue;
            }
            let mut ports = map.ports.to_vec();
            ports.retain(|port| port.dev_port != dev_port);
            let kind = PortKind::Front(FrontPort(map.front));
            if let Some(wire) = build(chip, number, kind, speed, 1) {
                ports.insert(usize::from(map.front), wire);
                map.front += 1;
            }
            (map.by_dev_port, map.ports) = (by_dev_port(&ports), ports.into());
        }
        Ok(map)
    }

    /// Removes all front-panel ports except the first `n`; CPU and recirculation ports stay. If there are not more than
    /// `n`, the map is unchanged.
    #[must_use]
    pub fn keep_front(mut self, n: u16) -> Self {
        let (keep, had) = (n.min(self.front), self.front);
        let mut ports = self.ports.to_vec();
        ports.drain(usize::from(keep)..usize::from(had));
        (self.front, self.by_dev_port, self.ports) = (keep, by_dev_port(&ports), ports.into());
        self
    }

    /// Returns the cell size of the traffic manager, in which depths of queues are counted.
    pub const fn cell(&self) -> Bytes {
        self.cell
    }

    /// Returns the speed of the front-panel ports.
    pub const fn speed(&self) -> BitRate {
        self.speed
    }

    /// Returns all ports: front panel, CPU, recirculation.
    pub fn iter(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter()
    }

    /// Returns the front-panel ports, in order.
    pub fn front_ports(&self) -> &[Port] {
        self.ports.get(..self.front as usize).unwrap_or_default()
    }

    /// Returns a front-panel port.
    pub fn front(&self, port: FrontPort) -> Option<&Port> {
        self.front_ports().get(port.0 as usize)
    }

    /// Returns the port with this dev_port.
    pub fn dev(&self, port: DevPort) -> Option<&Port> {
        let index = self.by_dev_port.get(port.number() as usize).copied().flatten()?;
        self.ports.get(index as usize)
    }

    /// Returns the port that a user named.
    ///
    /// # Errors
    /// [`PortError::NoFrontPort`] or [`PortError::NoDevPort`], with the valid ranges.
    pub fn resolve(&self, name: PortName) -> Result<&Port, PortError> {
        let (chip, speed) = (|| self.chip.clone(), self.speed);
        match name {
            PortName::Front(port) => self.front(port).ok_or_else(|| PortError::NoFrontPort {
                port,
                chip: chip(),
                speed,
                last: self.front.saturating_sub(1),
            }),
            PortName::Dev(port) => self.dev(port).ok_or_else(|| PortError::NoDevPort {
                port,
                chip: chip(),
                speed,
                valid: self.valid_dev_ports(),
            }),
        }
    }

    /// Returns the port that has queue `queue` of a pipe's port group `mac`, and that queue's number at the port.
    pub fn of_queue(&self, pipe: Pipe, mac: MacId, queue: u16) -> Option<(&Port, u16)> {
        let lane = queue.checked_div(self.queues_per_lane)?;
        let first = u16::from(mac.0) * self.ports_per_group;
        let port = (first..=first + lane.min(self.ports_per_group.saturating_sub(1)))
            .rev()
            .find_map(|local| self.dev(DevPort::from_parts(pipe, u8::try_from(local).ok()?)?))?;
        let own = queue.checked_sub(port.queue_base).filter(|&own| own < port.queues)?;
        Some((port, own))
    }

    /// Returns the CPU's port.
    pub fn cpu(&self) -> Option<&Port> {
        self.ports.iter().find(|port| port.kind == PortKind::Cpu)
    }

    /// Returns the recirculation ports of a pipe.
    pub fn recirculation(&self, pipe: Pipe) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(move |port| port.kind == PortKind::Recirculation && port.pipe() == pipe)
    }

    /// Returns the recirculation ports of a pipe on which packets of its generator can arrive.
    pub fn generator(&self, pipe: Pipe) -> impl Iterator<Item = &Port> {
        self.recirculation(pipe)
            .filter(|port| self.pktgen_local_ports.contains(&port.dev_port.local().into()))
    }

    /// Returns the dev_ports in use as ranges, for messages.
    fn valid_dev_ports(&self) -> String {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (number, _) in self.by_dev_port.iter().enumerate().filter(|(_, index)| index.is_some()) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        let text = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
        ranges.into_iter().map(text).collect::<Vec<_>>().join(", ")
    }
}

/// Front-panel ports by pipe, then MAC, then lane.
fn front_ports(chip: &ChipSpec, speed: PortSpeed) -> Vec<Port> {
    let spec = &chip.ports;
    let lanes = speed.lanes.max(1);
    let mut ports = Vec::new();
    for pipe in 0..spec.pipes {
        for mac in 0..spec.macs_per_pipe {
            for split in 0..spec.lanes_per_mac / lanes {
                let local = spec.first_front_local + mac * spec.lanes_per_mac + split * lanes;
                let kind = PortKind::Front(FrontPort(u16::try_from(ports.len()).unwrap_or(u16::MAX)));
                let dev_port = pipe << 7 | local;
                ports.extend(build(chip, dev_port, kind, speed.speed, lanes));
            }
        }
    }
    ports
}

fn special(chip: &ChipSpec, dev_port: u32, kind: PortKind, rate: BitRate) -> Option<Port> {
    build(chip, dev_port, kind, rate, 1)
}

fn build(chip: &ChipSpec, dev_port: u32, kind: PortKind, speed: BitRate, lanes: u32) -> Option<Port> {
    let dev_port = DevPort::new(u16::try_from(dev_port).ok()?)?;
    let (tm, spec) = (&chip.tm, &chip.ports);
    let local = u32::from(dev_port.local());
    let in_group = local.checked_rem(tm.ports_per_group)?;
    let ports_per_parser = (spec.ports_per_pipe / chip.parser.instances.max(1)).max(1);
    let tm_port = spec.ports_per_pipe * u32::from(dev_port.pipe().0) + local;
    Some(Port {
        kind,
        dev_port,
        mac: MacId(u8::try_from(local / tm.ports_per_group).ok()?),
        lane: u8::try_from(in_group).ok()?,
        lanes: u8::try_from(lanes).ok()?,
        speed,
        tm_port: TmPort(u16::try_from(tm_port).ok()?),
        parser: u8::try_from(local / ports_per_parser).ok()?,
        queue_base: u16::try_from(in_group.checked_mul(tm.queues_per_port)?).ok()?,
        queues: u16::try_from(lanes.checked_mul(tm.queues_per_port)?).ok()?,
        ingress_hold: ingress_hold(chip, speed),
    })
}

/// Returns the time for which the ingress buffer holds the head of a frame at this rate: that of the chip's fastest speed
/// that is not above it, or of the slowest speed if there is none.
pub fn ingress_hold(chip: &ChipSpec, rate: BitRate) -> Duration {
    let speeds = &chip.ports.speeds;
    let below = speeds.iter().filter(|speed| speed.speed <= rate).max_by_key(|speed| speed.speed);
    let slowest = speeds.iter().min_by_key(|speed| speed.speed);
    let cycles = below.or(slowest).map_or(0, |speed| u64::from(speed.ingress_hold_cycles));
    chip.mau.clock.span(crate::units::Cycles(cycles))
}
