//! A bus to a receiver's memory: the host pauses its switch, and the switch obeys.

use crate::network::rdma::{GO_BACK_N, LINE, Run, deployment, nic};
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{BusConfig, BusCounters, Loopback, TransportConfig};
use sluice_fabric::topology::built;
use std::net::Ipv4Addr;

/// Sends 2 MB to a host whose bus has the line's rate. Returns the time that the message takes, the counters of the bus, and how
/// often the switch was paused.
fn sent(loopback: bool) -> (Duration, BusCounters, u64) {
    let to = Ipv4Addr::new(10, 0, 0, 2);
    let start = Time::ORIGIN;
    let message = Message { pair: 1, transport: 0, workload: 0, start, to, port: 49_152, bytes: 2_000_000 };
    let hosts = nic(GO_BACK_N).open();
    let plan = built("chain:switches=1,hosts=2,rate=100G").unwrap();
    let bus = BusConfig {
        rate: LINE,
        buffer: Bytes(200_000),
        xoff: Bytes(100_000),
        xon: Bytes(50_000),
        priorities: 8,
        loopback: loopback.then_some(Loopback { rate: LINE, packet: Bytes(1_000) }),
    };
    let transports = [TransportConfig::Rdma(hosts.rdma.clone())];
    let shape = |number, host: sluice_fabric::host::nic::Nic| if number == 1 { host.bus(bus) } else { host };
    let run = Run::shaped(deployment(&plan, true), hosts.port, &transports, vec![vec![message]], shape);
    let run = run.drain(1, Duration::from_micros(10));
    let [done] = run.completions()[..] else { panic!("{:?}", run.completions()) };
    let now = run.network.time();
    let switch = run.network.switch(run.network.ids().next().unwrap()).unwrap();
    let pauses = switch.flow(now).unwrap().ports.iter().map(|port| port.received[3].pauses).sum();
    (done.time(), run.host(1).bus_counters().unwrap(), pauses)
}

#[test]
fn loopback_data_halves_the_rate_and_makes_the_host_pause_its_switch() {
    // 2000 packets of 1082 bytes on the line, 173.1 us, and a round trip of a few.
    let (alone, counters, pauses) = sent(false);
    assert!((173_100..180_000).contains(&alone.as_nanos()), "{alone}");
    assert_eq!((counters.pauses, counters.loopback, pauses), (0, 0, 0));
    // Of 2058 bytes on the bus 1058 are a packet from the network: 2000 of them in 329.3 us.
    let (shared, counters, pauses) = sent(true);
    assert!((329_300..337_000).contains(&shared.as_nanos()), "{shared}");
    assert!(counters.pauses > 1 && pauses > 0, "{counters:?} {pauses}");
    // Frames on their way when the pause is sent, 2 us of the line at most, lie above the threshold.
    assert!((100_000..130_000).contains(&counters.most) && counters.dropped == 0, "{counters:?}");
}
