//! Flows on paths of different rates, moved between paths at flowlet boundaries by a program such as `letflow`.
//!
//! The hosts follow the paper's model, not TCP (model: flowlets §3.2): the flows on a path share its rate equally and
//! at once, and a flow's packets form a Poisson process. Each path is a Poisson clock at its rate. Each tick sends a
//! packet of a random flow on this path through the placed program, and the program's choice of an uplink is the flow's
//! next path.

use super::placed::Placed;
use super::through::{Candidate, TrialError};
use crate::decimals;
use serde::Serialize;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::FrontPort;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, State, Verdict};
use sluice_ir::meter_array::Origin;
use sluice_pcaps::generate::{Draw, EXPONENTIAL_BITS};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_switch::SwitchConfig;

/// First uplink port of a leaf's default entries.
const FIRST_UPLINK: u16 = 8;

/// Setup of the model: flows and paths.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Rate of each path, above 0; 2 to 8 paths.
    pub rates: Vec<BitRate>,
    /// Weight of each path in the program's random choice at the start of a flowlet, above 0.
    pub coin: Vec<u32>,
    /// Number of flows, 1 to 10,000.
    pub flows: u32,
    /// Packet size that the rates refer to, above 0.
    pub packet: Bytes,
}

/// Distribution of flows and traffic over the paths, without the first quarter of the packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settled {
    /// Mean number of flows on each path.
    #[serde(serialize_with = "decimals::all")]
    pub flows: Vec<f64>,
    /// Standard deviation of the number of flows on each path, over time.
    #[serde(rename = "flows_deviation", serialize_with = "decimals::all")]
    pub deviation: Vec<f64>,
    /// Share of packets sent on each path.
    #[serde(rename = "traffic_share", serialize_with = "decimals::all")]
    pub traffic: Vec<f64>,
    /// Share of flowlets that start on each path.
    #[serde(rename = "flowlet_share", serialize_with = "decimals::all")]
    pub flowlets: Vec<f64>,
    /// Mean packets per flowlet on each path.
    #[serde(rename = "packets_per_flowlet", serialize_with = "decimals::all")]
    pub sizes: Vec<f64>,
    /// Flows on each path at the fixed point; `None` if there is no fixed point with flows on every path.
    #[serde(rename = "flows_expected", serialize_with = "decimals::maybe_all")]
    pub expected: Option<Vec<f64>>,
}

/// Sends `packets` packets through a program that moves flowlets. The program has the parameters `timeout`, `tick` and
/// `weights` of `letflow`, and its default uplinks start at port 8.
///
/// # Errors
/// If `paths` has a value out of range, or the program does not run with these parameters.
pub fn settle(
    paths: &Paths,
    candidate: &Candidate<'_>,
    timeout: Duration,
    packets: u64,
) -> Result<Settled, TrialError> {
    paths.check()?;
    let weights = paths.coin.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let sets = [("timeout", timeout.to_string()), ("tick", "1ns".to_owned()), ("weights", weights)];
    let sets: Vec<(String, String)> = sets.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let placed = Placed::new(candidate, &sets)?;
    let mut leaf = Leaf::new(&placed, paths, candidate.seed, candidate.chip)?;
    let mut network = Network::new(paths, candidate.seed);
    let mut tally = Tally::new(paths, timeout);
    for flow in 0..paths.flows {
        let path = leaf.send(flow, 0)?;
        network.join(flow, path);
    }
    for n in 0..packets {
        let (now, path, flow) = network.next();
        if n == packets / 4 {
            tally.start(now);
        }
        tally.pass_time(now, &network);
        let Some(flow) = flow else { continue };
        let chosen = leaf.send(flow, now)?;
        tally.packet(flow, now, chosen, n >= packets / 4);
        if chosen != path {
            network.leave(flow, path);
            network.join(flow, chosen);
        }
    }
    Ok(tally.settled(fixed_point(paths, timeout)))
}

impl Paths {
    fn check(&self) -> Result<(), TrialError> {
        let refuse = |text: String| Err(TrialError::Question(text));
        if !(2..=8).contains(&self.rates.len()) || self.rates.len() != self.coin.len() {
            return refuse(format!(
                "{} rates and {} weights; expected 2 to 8 rates and one weight for each",
                self.rates.len(),
                self.coin.len()
            ));
        }
        if self.coin.contains(&0) || self.rates.iter().any(|r| r.as_bps() == 0) {
            return refuse("a path has weight 0 or rate 0; leave the path out".to_owned());
        }
        if !(1..=10_000).contains(&self.flows) || self.packet.0 == 0 {
            return refuse("expected 1 to 10000 flows, and packets of at least 1 byte".to_owned());
        }
        Ok(())
    }
}

/// The placed program, packet by packet.
struct Leaf<'a> {
    placed: &'a Placed<'a>,
    engine: Engine,
    store: PacketStore,
    frames: Vec<Vec<u8>>,
    from: u16,
    /// Value of the device's clock at the start, ns.
    origin: u64,
}

impl<'a> Leaf<'a> {
    fn new(
        placed: &'a Placed<'a>,
        paths: &Paths,
        seed: u64,
        chip: &ChipSpec,
    ) -> Result<Leaf<'a>, TrialError> {
        let mut engine = placed.engine()?;
        *engine.state_mut() = State::new(&placed.program, &Origin { seed, ..Origin::of(chip) });
        let frames = (0..paths.flows).map(frame).collect::<Result<_, _>>().map_err(|e| placed.device(e))?;
        let from = placed.ports.front(FrontPort(0)).map_or(0, |p| p.dev_port.number());
        let origin = SwitchConfig::default().clock_origin.as_nanos();
        Ok(Leaf { placed, engine, store: PacketStore::new(HeadLayout::default()), frames, from, origin })
    }

    /// Sends a packet of a flow through the program and returns the path that the program chose.
    fn send(&mut self, flow: u32, ps: u64) -> Result<usize, TrialError> {
        let now = self.origin + ps / 1_000;
        let input = PassIn { port: self.from, mac_tstamp: now, global_tstamp: now, ..PassIn::default() };
        let bytes = self.frames.get(flow as usize).map_or(&[][..], Vec::as_slice);
        let mut passes = [Pass::new(self.store.insert(bytes, 0), input)];
        self.engine.run(Gress::Ingress, &mut passes, &mut self.store);
        let [pass] = passes;
        self.store.remove(pass.packet);
        let front = self.placed.front(pass.output.port).filter(|_| pass.output.verdict == Verdict::Forward);
        let path = front.and_then(|f| f.0.checked_sub(FIRST_UPLINK)).map(usize::from);
        path.ok_or_else(|| self.placed.device("a packet was not sent on an uplink; uplinks start at port 8"))
    }
}

/// Builds a frame of flow number `flow`.
fn frame(flow: u32) -> Result<Vec<u8>, sluice_pcaps::wire::WireError> {
    let [_, _, a, b] = flow.to_be_bytes();
    let ip = ipv4::Header::new([172, 16, a, b].into(), [10, 7, 0, 1].into());
    let mut out = Vec::new();
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip);
    builder.udp(udp::Header::new(flow as u16, 80)).build_len(60, &mut out)?;
    Ok(out)
}

/// Flows on each path, and the clocks of the paths.
struct Network {
    on: Vec<Vec<u32>>,
    /// For each path, the time of its next tick and the mean gap, ps.
    clocks: Vec<(u64, u64)>,
    draw: Draw,
}

impl Network {
    fn new(paths: &Paths, seed: u64) -> Network {
        let clocks = paths.rates.iter().map(|rate| (0, rate.time_for(paths.packet).as_ps())).collect();
        let mut network =
            Network { on: vec![Vec::new(); paths.rates.len()], clocks, draw: Draw::new(seed, 0) };
        for path in 0..network.clocks.len() {
            network.wind(path);
        }
        network
    }

    fn wind(&mut self, path: usize) {
        let (next, mean) = &mut self.clocks[path];
        let gap = (u128::from(self.draw.exponential()) * u128::from(*mean)) >> EXPONENTIAL_BITS;
        *next = next.saturating_add(gap as u64);
    }

    /// Takes the next tick: its time in ps, its path, and a random flow on the path, if there is one.
    fn next(&mut self) -> (u64, usize, Option<u32>) {
        let first = self.clocks.iter().enumerate().min_by_key(|(_, (next, _))| *next);
        let (path, now) = first.map_or((0, 0), |(path, (next, _))| (path, *next));
        self.wind(path);
        let on = &self.on[path];
        let flow = if on.is_empty() { None } else { Some(on[self.draw.below(on.len() as u64) as usize]) };
        (now, path, flow)
    }

    fn join(&mut self, flow: u32, path: usize) {
        if let Some(on) = self.on.get_mut(path) {
            on.push(flow);
        }
    }

    fn leave(&mut self, flow: u32, path: usize) {
        if let Some(at) = self.on[path].iter().position(|f| *f == flow) {
            self.on[path].swap_remove(at);
        }
    }
}

/// Sums over time and packets.
struct Tally {
    timeout_ns: u64,
    /// Time of each flow's last packet, ns.
    last: Vec<u64>,
    since: Option<u64>,
    begun: u64,
    /// Integrals over time of the number of flows, and of its square, for each path; flows * ps.
    flows: Vec<u128>,
    squares: Vec<u128>,
    packets: Vec<u64>,
    heads: Vec<u64>,
}

impl Tally {
    fn new(paths: &Paths, timeout: Duration) -> Tally {
        let k = paths.rates.len();
        Tally {
            timeout_ns: timeout.as_nanos(),
            last: vec![0; paths.flows as usize],
            since: None,
            begun: 0,
            flows: vec![0; k],
            squares: vec![0; k],
            packets: vec![0; k],
            heads: vec![0; k],
        }
    }

    fn start(&mut self, now: u64) {
        self.since = Some(now);
        self.begun = now;
    }

    fn pass_time(&mut self, now: u64, network: &Network) {
        let Some(since) = self.since else { return };
        let span = u128::from(now - since);
        for ((flows, squares), on) in self.flows.iter_mut().zip(&mut self.squares).zip(&network.on) {
            let n = on.len() as u128;
            *flows += n * span;
            *squares += n * n * span;
        }
        self.since = Some(now);
    }

    fn packet(&mut self, flow: u32, now: u64, path: usize, counts: bool) {
        let ns = now / 1_000;
        let last = std::mem::replace(&mut self.last[flow as usize], ns);
        if counts && let (Some(packets), Some(heads)) = (self.packets.get_mut(path), self.heads.get_mut(path))
        {
            *packets += 1;
            *heads += u64::from(ns - last > self.timeout_ns);
        }
    }

    fn settled(&self, expected: Option<Vec<f64>>) -> Settled {
        let span = (self.since.unwrap_or(self.begun) - self.begun).max(1) as f64;
        let mean: Vec<f64> = self.flows.iter().map(|sum| *sum as f64 / span).collect();
        let deviation = self
            .squares
            .iter()
            .zip(&mean)
            .map(|(sum, m)| (*sum as f64 / span - m * m).max(0.0).sqrt())
            .collect();
        let share = |counts: &[u64]| -> Vec<f64> {
            let all = counts.iter().sum::<u64>().max(1) as f64;
            counts.iter().map(|n| *n as f64 / all).collect()
        };
        let sizes =
            self.packets.iter().zip(&self.heads).map(|(p, h)| *p as f64 / (*h).max(1) as f64).collect();
        Settled {
            flows: mean,
            deviation,
            traffic: share(&self.packets),
            flowlets: share(&self.heads),
            sizes,
            expected,
        }
    }
}

/// Returns the number of flows on each path at equilibrium. Rates of flows are r_j = r_0 + ln(C_j/p_j)/D, where the sum
/// of C_j/r_j is the number of flows (model: flowlets §3.2, derived). `None` if a path would have no flows.
#[must_use]
pub fn fixed_point(paths: &Paths, timeout: Duration) -> Option<Vec<f64>> {
    let micros = timeout.as_ps() as f64 / 1e6;
    let per_micro = |rate: &BitRate| 1e6 / rate.time_for(paths.packet).as_ps().max(1) as f64;
    let rates: Vec<f64> = paths.rates.iter().map(per_micro).collect();
    let coins = f64::from(paths.coin.iter().sum::<u32>());
    let logs: Vec<f64> =
        rates.iter().zip(&paths.coin).map(|(c, w)| (c * coins / f64::from(*w)).ln() / micros).collect();
    let lowest = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let flows = |base: f64| -> f64 { rates.iter().zip(&logs).map(|(c, log)| c / (base + log)).sum() };
    // Bisection: the number of flows falls from infinity to 0 as the base rises from the point where the slowest flow's
    // rate is 0.
    let (mut low, mut high) = (-lowest, -lowest + rates.iter().sum::<f64>());
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if flows(middle) > f64::from(paths.flows) { low = middle } else { high = middle }
    }
    let found: Vec<f64> = rates.iter().zip(&logs).map(|(c, log)| c / (high + log)).collect();
    found.iter().all(|n| n.is_finite() && *n >= 0.0).then_some(found)
}
