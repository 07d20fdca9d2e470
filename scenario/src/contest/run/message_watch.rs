//! One message over time: rate, window and round trip at its sender, and the queues on its path.

use super::message_spans;
use super::network_run::assemble;
use crate::contest::file::contest::Contest;
use crate::contest::network::prepared::{ContestSetup, PreparedNetwork, RunError, messages, prepare};
use crate::contest::results::watched_message::{FlowSample, WatchFlow, Watched};
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::deploy::Files;
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{HostMessages, Nic};
use sluice_fabric::host::tag::FrameTag;
use sluice_fabric::network::{Entered, HostId, LinkFrame, Network, Observer, SwitchId};
use sluice_fabric::spans::{SpanObserver, SpanRequest};
use sluice_switch::{Left, Lost, PassEvent, QueueEvent};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Most samples of a message.
const MOST: u64 = 1_000_000;
/// Simulated time between two looks before the message begins.
const STRIDE: Duration = Duration::from_micros(100);

/// Records the queues of one switch that the packets of a message enter, and spans of its frames if they are asked for.
#[derive(Clone, Debug)]
struct MessagePath {
    pair: u32,
    /// Most cells found since the last sample, by dev_port and queue.
    found: BTreeMap<(u16, u8), u32>,
    spans: Option<SpanObserver>,
}

impl MessagePath {
    fn new(pair: u32, spans: Option<SpanObserver>) -> MessagePath {
        MessagePath { pair, found: BTreeMap::new(), spans }
    }
}

impl Observer for MessagePath {
    fn entered(&mut self, at: SwitchId, frame: &Entered, bytes: &[u8]) {
        if let Some(spans) = &mut self.spans {
            spans.entered(at, frame, bytes);
        }
    }

    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        if let Some(spans) = &mut self.spans {
            spans.on_link(from, frame, head, tail);
        }
    }

    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        if let Some(spans) = &mut self.spans {
            spans.delivered(from, frame, head, tail);
        }
    }

    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        if let Some(spans) = &mut self.spans {
            spans.mac_sent(from, frame, bytes);
        }
    }

    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        if let Some(spans) = &mut self.spans {
            spans.lost(at, packet, head, tail);
        }
    }

    fn pass(&mut self, at: SwitchId, event: &PassEvent) {
        if let Some(spans) = &mut self.spans {
            spans.pass(at, event);
        }
    }

    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        let FrameTag { pair, answer, .. } = event.tag.into();
        if pair == self.pair && !answer {
            let most = self.found.entry((event.port, event.qid)).or_default();
            *most = event.depth.get().max(*most);
        }
        if let Some(spans) = &mut self.spans {
            spans.enqueued(at, event);
        }
    }

    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        if let Some(spans) = &mut self.spans {
            spans.dequeued(at, event);
        }
    }
}

/// Runs a program with a seed until a message is acknowledged, and records the message every `every`. With `spans`, it also
/// records the spans of the message's frames; the request's `message` is set here.
///
/// # Errors
/// Those of [`run_contest`](crate::contest::run_contest); or if there is no such message, or there would be too many samples.
pub fn watch_flow<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    (program, seed): (usize, u64),
    (flow, every, spans): (WatchFlow, Duration, Option<SpanRequest>),
    stopped: &dyn Fn() -> bool,
) -> Result<Watched, RunError<F::Error>> {
    let Some(contestant) = contest.program.get(program) else {
        return Err(RunError::Setting(format!("there is no program {program}")));
    };
    let line = contest.line(contestant.span().start);
    let ready = prepare(contest, setup, contestant.get_ref(), line)?;
    let all = messages(contest, setup, &ready, seed)?;
    let (host, message) = find(&ready, &all, flow).map_err(RunError::Setting)?;
    let from = ready.stations[host].address;
    let end = Time::ORIGIN + contest.end();
    let refused = |source| RunError::Network { line, source: Box::new(source) };
    let (mut network, hosts) = assemble(&ready, contest.hosts.cable, seed, all)?;
    let spans = spans.map(|spans| SpanRequest { message: Some(message.pair), ..spans });
    let mut paths = paths(&mut network, &hosts, message.pair, spans);
    let mut watched = Watched {
        label: contestant.get_ref().label(),
        seed,
        from,
        message,
        end: None,
        queues: Vec::new(),
        samples: Vec::new(),
        traced: None,
    };
    let mut known = Vec::new();
    let mut next = Time::ORIGIN + every * message.start.since_origin().as_ps().div_ceil(every.as_ps().max(1));
    while network.is_busy() && watched.end.is_none() && next <= end {
        if stopped() {
            return Err(RunError::Stopped);
        }
        let Some(event) = network.next_time() else { break };
        let until = next.min(network.time().max(event) + STRIDE);
        network.drain_parallel(until, setup.threads.max(1), &mut paths).map_err(refused)?;
        if until < next {
            continue;
        }
        watched.sample(&network, hosts[host], &mut paths, &mut known, next);
        next += every;
        if watched.samples.len() as u64 >= MOST && watched.end.is_none() {
            let pair = watched.message.pair;
            return Err(RunError::Setting(format!(
                "message {pair} is under way after {MOST} samples of {every}; take a longer interval"
            )));
        }
    }
    if let Some(spans) = spans {
        // The last datagrams of a message without acknowledgements are still on their way.
        let until = end.min(network.time() + STRIDE);
        network.drain_parallel(until, setup.threads.max(1), &mut paths).map_err(refused)?;
        let own = paths.into_iter().filter_map(|path| path.spans).map(SpanObserver::into_spans).collect();
        let cable = contest.hosts.cable;
        watched.traced =
            Some(message_spans::message(&network, (&ready, &hosts, cable), &watched, spans, own));
    }
    Ok(watched)
}

/// Returns an observer of each switch; if spans are recorded, hosts number the frames of the message.
fn paths(network: &mut Network, hosts: &[HostId], pair: u32, spans: Option<SpanRequest>) -> Vec<MessagePath> {
    if spans.is_some() {
        for id in hosts {
            network.host_mut::<Nic>(*id).into_iter().for_each(|nic| nic.number_frames(pair));
        }
    }
    let path = |id| {
        let placed = network.setup(id).map(|setup| &setup.placed);
        MessagePath::new(pair, spans.zip(placed).map(|(spans, placed)| SpanObserver::new(spans, placed)))
    };
    network.ids().map(path).collect()
}

/// Returns the sender's index and the message.
fn find(
    ready: &PreparedNetwork<'_>,
    all: &[HostMessages],
    flow: WatchFlow,
) -> Result<(usize, Message), String> {
    let fits = |from: Ipv4Addr, message: &Message| match flow {
        WatchFlow::Pair(pair) => message.pair == pair,
        WatchFlow::Between(a, b) => from == a && message.to == b,
    };
    let with_host =
        all.iter().enumerate().flat_map(|(host, own)| own.iter().map(move |message| (host, *message)));
    let fitting = with_host.filter(|(host, message)| fits(ready.stations[*host].address, message));
    fitting.min_by_key(|(_, message)| (message.start, message.pair)).ok_or_else(|| {
        let count: usize = all.iter().map(|own| own.iter().count()).sum();
        match flow {
            WatchFlow::Pair(pair) => format!("there is no message {pair}; the workload has {count} messages"),
            WatchFlow::Between(a, b) => {
                format!("no message goes from {a} to {b}; the workload has {count} messages")
            }
        }
    })
}

impl Watched {
    fn sample(
        &mut self,
        network: &Network,
        host: HostId,
        paths: &mut [MessagePath],
        known: &mut Vec<(SwitchId, u16, u8)>,
        now: Time,
    ) {
        for (id, path) in network.ids().zip(paths.iter()) {
            for (port, queue) in path.found.keys() {
                if !known.contains(&(id, *port, *queue)) {
                    known.push((id, *port, *queue));
                    self.queues.push(name(network, id, *port, *queue));
                }
            }
        }
        let of = |(id, port, queue): &(SwitchId, u16, u8)| {
            let Some(switch) = network.switch(*id) else { return (0, None) };
            let cell = switch.cell().get();
            let depth =
                switch.backlog().find(|(p, q, _)| p == port && q == queue).map_or(0, |(.., cells)| cells);
            let met = paths.get(id.0 as usize).and_then(|path| path.found.get(&(*port, *queue)));
            (u64::from(depth) * cell, met.map(|cells| u64::from(*cells) * cell))
        };
        let queues = known.iter().map(of).collect();
        paths.iter_mut().for_each(|path| path.found.clear());
        let nic = network.host::<Nic>(host);
        let state = nic.and_then(|nic| nic.flow(self.message.pair));
        self.samples.push(FlowSample { time: now.since_origin(), state, queues });
        let done =
            nic.into_iter().flat_map(Nic::completions).find(|done| done.message.pair == self.message.pair);
        self.end = done.map(|done| done.end);
    }
}

fn name(network: &Network, id: SwitchId, dev_port: u16, queue: u8) -> String {
    let setup = network.setup(id);
    let front = setup.and_then(|setup| setup.ports.dev(DevPort::new(dev_port)?)?.front());
    let port = front.map_or_else(|| format!("dev_port {dev_port}"), |front| front.to_string());
    format!("{}:{port} queue {queue}", setup.map_or("?", |setup| setup.name.as_str()))
}
