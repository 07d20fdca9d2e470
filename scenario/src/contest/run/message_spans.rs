//! The frames of one message as a trace: the switches that they pass, the links, and the hosts at both ends.

use crate::contest::network::prepared::PreparedNetwork;
use crate::contest::results::watched_message::{FlowSample, TracedMessage, Watched};
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::FlowState;
use sluice_fabric::host::nic::Nic;
use sluice_fabric::network::{HostId, Network, SwitchId};
use sluice_fabric::spans::{Counter, HostProcess, MessageSpan, SpanRequest, Spans};

/// Joins the spans of a message: `spans` of each switch in the network's order.
pub(crate) fn message(
    network: &Network,
    (ready, hosts, cable): (&PreparedNetwork<'_>, &[HostId], Duration),
    watched: &Watched,
    request: SpanRequest,
    spans: Vec<Spans>,
) -> TracedMessage {
    let setups = network.ids().filter_map(|id| network.setup(id).cloned());
    let (mut ends, mut frames, mut traced) = (Vec::new(), 0, 0);
    for (station, id) in ready.stations.iter().zip(hosts) {
        if station.address != watched.from && station.address != watched.message.to {
            continue;
        }
        let numbered = network.host::<Nic>(*id).map_or(0, Nic::numbered).into();
        frames += numbered;
        traced += request.count(numbered);
        let front = network.setup(SwitchId(station.switch)).and_then(|setup| setup.front(station.port));
        let sends = station.address == watched.from;
        ends.push(HostProcess {
            name: station.address.to_string(),
            switch: station.switch as usize,
            port: front.map_or(0, DevPort::number),
            delay: station.delay.unwrap_or(cable),
            rate: station.rate,
            message: sends.then(|| span(network, watched)),
            counters: if sends { counters(&watched.samples) } else { Vec::new() },
        });
    }
    TracedMessage {
        switches: setups.zip(spans).collect(),
        links: network.links().map(|id| (id, network.link_name(id))).collect(),
        hosts: ends,
        frames,
        traced,
    }
}

fn span(network: &Network, watched: &Watched) -> MessageSpan {
    let message = &watched.message;
    MessageSpan {
        name: format!("message {} of {} bytes to {}", message.pair, message.bytes, message.to),
        from: message.start,
        to: watched.end.unwrap_or_else(|| network.time().max(message.start)),
        acknowledged: watched.end.is_some(),
    }
}

/// Name and value of a number of a sender.
type Number = (&'static str, fn(&FlowState) -> Option<f64>);

/// Returns the sender's rate, window, bytes in flight and round trip over time.
fn counters(samples: &[FlowSample]) -> Vec<Counter> {
    const NUMBERS: [Number; 4] = [
        ("rate, Gb/s", |state| Some(state.rate as f64 / 1e9)),
        ("window, bytes", |state| state.window.map(|window| window as f64)),
        ("in flight, bytes", |state| Some(state.in_flight as f64)),
        ("round trip, us", |state| state.rtt.map(|rtt| rtt.as_ps() as f64 / 1e6)),
    ];
    let counter = |(name, value): &Number| {
        let point =
            |sample: &FlowSample| Some((Time::ORIGIN + sample.time, sample.state.as_ref().and_then(value)?));
        Counter { name: (*name).to_owned(), points: samples.iter().filter_map(point).collect() }
    };
    NUMBERS.iter().map(counter).filter(|counter| !counter.points.is_empty()).collect()
}
