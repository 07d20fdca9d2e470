//! Closed loops of congestion control: hosts with each sender on switches that run `hpcc-int` or `l3-ecmp`, compared with
//! closed forms.

use crate::network::deployed::defaults;
use crate::network::rdma::{GO_BACK_N, Hosts, LINE, OneBuffer, Run, nic};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_fabric::deploy::deploy;
use sluice_fabric::host::congestion::CongestionConfig;
use sluice_fabric::host::hpcc::{HpccConfig, TelemetryFormat};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::rate_dctcp::RateDctcpConfig;
use sluice_fabric::host::rdma::Carrier;
use sluice_fabric::host::recovery::Recovery;
use sluice_fabric::host::timely::TimelyConfig;
use sluice_fabric::network::{Observer, SwitchId};
use sluice_fabric::topology::built;
use sluice_pcaps::int::HpccLayout;
use sluice_programs::catalogue;
use sluice_switch::QueueEvent;
use std::net::Ipv4Addr;

/// T of the paper's simulations.
const T: Duration = Duration::from_micros(13);
/// Bytes of line time of a full packet with the paper's telemetry, as its host sends it: payload, headers, 2 bytes of
/// telemetry, FCS, preamble and gap.
const SENT_LINE: f64 = 1_000.0 + 58.0 + 2.0 + 24.0;

fn telemetry(layout: HpccLayout, port: u16) -> TelemetryFormat {
    TelemetryFormat { port, layout, cell: ChipSpec::tofino2().tm.cell, multi: 1 }
}

fn hpcc(sender: HpccConfig, telemetry: TelemetryFormat) -> Hosts {
    let mut hosts = nic(GO_BACK_N).open();
    hosts.rdma.congestion = CongestionConfig::Hpcc { sender, telemetry };
    hosts
}

fn paper(sender: HpccConfig) -> Hosts {
    hpcc(sender, telemetry(HpccLayout::Paper, 4791))
}

/// Returns a network of a builder, with a program, whose n-th host sends the n-th list of messages.
fn network(
    plan: &str,
    program: &str,
    params: &[(&str, &str)],
    hosts: &Hosts,
    sends: Vec<Vec<Message>>,
) -> Run {
    let mut defaults = defaults(program);
    defaults.port_speed = Some(LINE);
    defaults.buffer = Some("one".to_owned());
    defaults.params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let plan = built(plan).unwrap();
    let deployment = deploy(&plan, &catalogue(), &defaults, &OneBuffer).unwrap_or_else(|e| panic!("{e}"));
    Run::new(deployment, hosts, sends)
}

fn message(pair: u32, start: Time, to: Ipv4Addr, bytes: u64) -> Message {
    Message { pair, transport: 0, workload: 0, start, to, port: 49_152 + pair as u16, bytes }
}

fn at(us: u64) -> Time {
    Time::ORIGIN + Duration::from_micros(us)
}

/// Bytes per sample of a port's queue, by the switch's cells, after each departure from a time on.
#[derive(Clone, Debug, Default)]
struct Depths {
    from: Time,
    seen: Vec<u64>,
}

impl Observer for Depths {
    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        // Priority 6 is control.
        if at == SwitchId(0) && event.time >= self.from && event.depth.get() > 0 {
            self.seen.push(u64::from(event.depth.get()));
        }
    }
}

impl Depths {
    /// Returns the 95th percentile of the queue after a departure, in full packets of 7 cells.
    fn packets_at_95_percent(&self) -> u64 {
        let mut seen = self.seen.clone();
        seen.sort_unstable();
        seen.get(seen.len() * 95 / 100).copied().unwrap_or(0) / 7
    }
}

/// Returns the mean rate of a flow over samples, bit/s.
fn mean_rate(run: &mut Run, host: usize, pair: u32, samples: impl Iterator<Item = u64>) -> f64 {
    let mut observers = vec![(); run.network.len()];
    let rates: Vec<f64> = samples
        .map(|us| {
            run.network.advance_parallel(at(us), 1, &mut observers).unwrap();
            run.host(host).flow(pair).unwrap().rate as f64
        })
        .collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// Two switches with four hosts each.
const FAR: &str = "dumbbell:hosts=4,rate=100G,delay=4us";

/// Returns the address of a host of the right switch, from 1.
fn right(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 1, n)
}

/// Measures the round trip of a lone packet from left to right.
fn base_rtt() -> Duration {
    let sends = vec![vec![message(1, Time::ORIGIN, right(1), 1_000)]];
    let run = network(FAR, "hpcc-int", &[], &paper(HpccConfig::new(T)), sends);
    run.drain(1, Duration::from_micros(10)).completions()[0].time()
}

const STAR: &str = "chain:switches=1,hosts=4";

#[test]
fn a_lone_hpcc_flow_reaches_eta_in_both_layouts() {
    // U is the share of the line by the switch's count, which has neither FCS nor gap: of a packet that takes `line` bytes
    // it counts `counted`. W = W * eta / U + W_AI at U = (counted / line) * W / (B * T).
    let layouts = [
        (HpccLayout::Paper, 4791, &[][..], 1_060.0, SENT_LINE),
        (HpccLayout::Ns3, 4792, &[("layout", "ns3"), ("udp_port", "4792")][..], 1_106.0, 1_130.0),
    ];
    for (layout, port, params, counted, line) in layouts {
        let hosts = hpcc(HpccConfig::new(T), telemetry(layout, port));
        let sends = vec![vec![message(1, Time::ORIGIN, Ipv4Addr::new(10, 0, 0, 2), 5_000_000)]];
        let mut run = network(STAR, "hpcc-int", params, &hosts, sends);
        let rate = mean_rate(&mut run, 0, 1, (100..200).step_by(2));
        let share: f64 = counted / line;
        let utilisation = 0.95 + 80.0 * share / 162_500.0;
        let expected = 100e9 * utilisation / share;
        assert!((rate / expected - 1.0).abs() < 0.003, "{layout:?}: {rate}, expected {expected}");
        let counters = run.counters();
        assert_eq!((counters.unrecorded, counters.stray, counters.resent), (0, 0, 0), "{layout:?}");
    }
}

#[test]
fn a_queue_is_what_additive_steps_leave_of_the_headroom() {
    // Four senders of the left switch share the link to the right one. In equilibrium W = W * eta / U + W_AI, U is the queue
    // over B * T plus the share of the line that switches count, and 4 * W is in flight: a base round trip at the link's
    // rate, and the queue. Without framing that is the queue of model: int §8.1, N * W_AI - (1 - eta) * B * T.
    const STEP: f64 = 8_000.0;
    let base_rtt = base_rtt();
    let sender = HpccConfig { additive: STEP, ..HpccConfig::new(base_rtt) };
    let sends = (1..=4).map(|n| vec![message(n.into(), Time::ORIGIN, right(n), 20_000_000)]).collect();
    let mut run = network(FAR, "hpcc-int", &[], &paper(sender), sends);
    let mut observers = vec![Depths { from: at(600), seen: Vec::new() }; run.network.len()];
    run.network.advance_parallel(at(1_000), 1, &mut observers).unwrap();
    // Full packets take 7 cells.
    let depths = &observers[0].seen;
    let queued = depths.iter().sum::<u64>() as f64 / depths.len() as f64 / 7.0;
    let product = 12.5e9 * base_rtt.as_ps() as f64 / 1e12;
    let expected = {
        // On the link a packet takes one record more.
        let (line, cells) = (SENT_LINE + 8.0, 7.0 * 176.0);
        let window = |queue: f64| (product / line + queue) * 1_000.0 / 4.0;
        let balance = |queue: f64| {
            let utilisation = queue * cells / product + 1_060.0 / line;
            window(queue) * (0.95 / utilisation - 1.0) + STEP
        };
        // More queue, less balance.
        let (mut low, mut high) = (0.0, 1_000.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if balance(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    };
    let published = (4.0 * STEP - 0.05 * product) / 1_000.0;
    assert!((queued / expected - 1.0).abs() < 0.1, "{queued} packets queue, expected {expected}");
    assert!(
        (queued / published - 1.0).abs() < 0.25,
        "{queued} packets queue, the paper's form says {published}"
    );
}

#[test]
fn two_hpcc_flows_share_a_link_evenly_and_leave_no_queue() {
    let base_rtt = base_rtt();
    let sends = (1..=2).map(|n| vec![message(n.into(), Time::ORIGIN, right(n), 20_000_000)]).collect();
    let mut run = network(FAR, "hpcc-int", &[], &paper(HpccConfig::new(base_rtt)), sends);
    let mut observers = vec![Depths { from: at(300), seen: Vec::new() }; run.network.len()];
    let mut acknowledged = |us| {
        run.network.advance_parallel(at(us), 1, &mut observers).unwrap();
        [0, 1].map(|host| run.host(host).unfinished()[0].acknowledged as f64)
    };
    let (before, after) = (acknowledged(300), acknowledged(700));
    let packets = [0, 1].map(|n| after[n] - before[n]);
    let sum: f64 = packets.iter().sum();
    let jain = sum * sum / (2.0 * packets.iter().map(|p| p * p).sum::<f64>());
    assert!(jain >= 0.995, "{packets:?}");
    // U* of two flows by the switch's count (model: int §8.1), of which a packet has 1060 bytes.
    let product = 12.5e9 * base_rtt.as_ps() as f64 / 1e12;
    let utilisation = 0.95 + 2.0 * 80.0 * 1_060.0 / SENT_LINE / product;
    let expected = utilisation * 12.5e9 * 400e-6 / 1_060.0;
    assert!((0.985..=1.003).contains(&(sum / expected)), "{sum} packets, expected {expected}");
    let most = observers[0].packets_at_95_percent();
    assert!(most <= 6, "{most} packets queue at the 95th percentile");
}

#[test]
fn an_incast_of_hpcc_drains_without_pauses() {
    // Sixteen senders start at the line's rate with a window each, so fifteen windows queue (model: int §8.1 has the
    // equilibrium). After some 30 round trips little is left.
    let (plan, to) = ("chain:switches=1,hosts=17", Ipv4Addr::new(10, 0, 0, 17));
    let alone = vec![vec![message(1, Time::ORIGIN, to, 1_000)]];
    let alone = network(plan, "hpcc-int", &[], &paper(HpccConfig::new(T)), alone);
    let base_rtt = alone.drain(1, Duration::from_micros(10)).completions()[0].time();
    let sender = HpccConfig { additive: 25.0, ..HpccConfig::new(base_rtt) };
    let sends = (1..=16).map(|n| vec![message(n, Time::ORIGIN, to, 1_000_000)]).collect();
    let mut run = network(plan, "hpcc-int", &[], &paper(sender), sends);
    let mut observers = vec![Depths::default(); run.network.len()];
    run.network.advance_parallel(at(20), 1, &mut observers).unwrap();
    // A packet takes 7 cells.
    let peak = observers[0].seen.iter().max().copied().unwrap() as f64 / 7.0;
    let windows = 15.0 * 12.5e9 * base_rtt.as_ps() as f64 / 1e15;
    assert!((0.9..1.15).contains(&(peak / windows)), "{peak} packets queue, 15 windows have {windows}");
    let mut settled = vec![Depths { from: at(200), seen: Vec::new() }; run.network.len()];
    run.network.advance_parallel(at(400), 1, &mut settled).unwrap();
    // Windows of 2.4 packets cannot be even: 3 to 30 packets queue.
    let most = settled[0].packets_at_95_percent();
    assert!(most <= 30, "{most} packets queue at the 95th percentile");
    let counters = run.counters();
    assert_eq!((counters.pauses, counters.resent, counters.stray), (0, 0, 0));
}

#[test]
fn hpcc_survives_lost_packets_and_lost_answers_on_any_number_of_threads() {
    let mut plan = built("leaf-spine:leaves=2,spines=2,hosts=2,rate=100G").unwrap();
    plan.cables.iter_mut().for_each(|cable| cable.loss = "0.01".parse().unwrap());
    let run = |threads, stride| {
        let mut defaults = defaults("hpcc-int");
        defaults.port_speed = Some(LINE);
        defaults.buffer = Some("one".to_owned());
        let deployment = deploy(&plan, &catalogue(), &defaults, &OneBuffer).unwrap();
        let sends = (1..=2).map(|n| vec![message(n.into(), Time::ORIGIN, right(n), 200_000)]).collect();
        let run = Run::new(deployment, &paper(HpccConfig::new(T)), sends).drain(threads, stride);
        assert!(run.network.totals().lost_on_links() > 0);
        run.seen()
    };
    let one = run(1, Duration::from_micros(100));
    assert_eq!(one.0.len(), 2);
    assert!(one.1.resent > 0 && one.1.unrecorded == 0, "{:?}", one.1);
    assert_eq!(one, run(2, Duration::from_micros(100)));
    assert_eq!(one, run(1, Duration::from_nanos(1_700)));
}

#[test]
fn a_lone_flow_takes_the_line_time_of_its_packets_with_every_sender() {
    // Without marks, queues and long round trips no sender slows down; HPCC does not before its first reaction.
    let timely = CongestionConfig::Timely(TimelyConfig::default());
    let dctcp = CongestionConfig::Dctcp(RateDctcpConfig::default());
    let dcqcn = nic(GO_BACK_N).rdma.congestion;
    let telemetry = telemetry(HpccLayout::Paper, 4791);
    let hpcc = CongestionConfig::Hpcc { sender: HpccConfig::new(T), telemetry };
    for (congestion, program, packets, line) in [
        (CongestionConfig::None, "l3-ecmp", 300, 1_082),
        (dcqcn, "l3-ecmp", 300, 1_082),
        (timely, "l3-ecmp", 300, 1_082),
        (dctcp, "l3-ecmp", 300, 1_082),
        // The switch adds a record of 8 bytes, so the link to the receiver is the slowest.
        (hpcc, "hpcc-int", 30, 1_092),
    ] {
        let mut hosts = nic(GO_BACK_N);
        hosts.rdma.congestion = congestion.clone();
        let time = |packets: u64| {
            let sends =
                vec![vec![message(1, Time::from_nanos(50), Ipv4Addr::new(10, 0, 0, 2), packets * 1_000)]];
            let run = network(STAR, program, &[], &hosts, sends).drain(1, Duration::from_micros(10));
            assert_eq!(run.counters().unrecorded, 0);
            run.completions()[0].time()
        };
        let beyond = time(packets).checked_sub(time(1)).unwrap();
        // The parser's clock has steps of 0.8 ns, in which a frame may wait in each direction.
        let expected = LINE.time_for(Bytes((packets - 1) * line));
        let difference = beyond.as_ps().abs_diff(expected.as_ps());
        assert!(difference <= 2_000, "{congestion:?}: {beyond}, expected {expected}");
    }
}

#[test]
fn hpcc_and_dcqcn_share_a_network_of_hosts_with_both() {
    use sluice_fabric::host::nic::TransportConfig;
    let telemetry = telemetry(HpccLayout::Paper, 4792);
    let (dcqcn, both) = (nic(GO_BACK_N), hpcc(HpccConfig::new(T), telemetry));
    let transports = [&dcqcn, &both].map(|hosts| TransportConfig::Rdma(hosts.rdma.clone()));
    let to = Ipv4Addr::new(10, 0, 0, 4);
    let sends: Vec<Vec<Message>> = (0..3)
        .map(|n| {
            let of = |transport: u8| {
                let pair = n * 2 + u32::from(transport) + 1;
                Message { transport, ..message(pair, Time::ORIGIN, to, 100_000) }
            };
            vec![of(0), of(1)]
        })
        .collect();
    let mut defaults = defaults("hpcc-int");
    defaults.port_speed = Some(LINE);
    defaults.buffer = Some("one".to_owned());
    defaults.params = vec![("udp_port".to_owned(), "4792".to_owned())];
    let deployment = deploy(&built(STAR).unwrap(), &catalogue(), &defaults, &OneBuffer).unwrap();
    let run = Run::with(deployment, dcqcn.port, &transports, sends).drain(1, Duration::from_micros(100));
    let counters = run.counters();
    assert_eq!(run.completions().len(), 6);
    assert_eq!((counters.stray, counters.unrecorded, counters.received), (0, 0, 600));
}

#[test]
fn receivers_that_accept_any_order_ask_for_nothing() {
    // Every leaf sprays packets over two spines, and four hosts send to one: packets overtake each other.
    let plan = "leaf-spine:leaves=3,spines=2,hosts=2,rate=100G";
    let to = Ipv4Addr::new(10, 0, 2, 1);
    let sends = || (0..4).map(|n| vec![message(n + 1, Time::ORIGIN, to, 300_000)]).collect();
    let any = Recovery::AnyOrder { timeout: Duration::from_millis(1) };
    let run = |recovery| {
        let run = network(plan, "spray", &[], &nic(recovery).open(), sends());
        run.drain(1, Duration::from_micros(100))
    };
    let (ordered, placed) = (run(GO_BACK_N).counters(), run(any));
    assert!(ordered.nacks > 0 && ordered.resent > 0, "{ordered:?}");
    let counters = placed.counters();
    assert!(counters.early > 0, "{counters:?}");
    assert_eq!((counters.nacks, counters.resent, counters.received, counters.timeouts), (0, 0, 1_200, 0));
    assert_eq!(placed.completions().len(), 4);
}

#[test]
fn marks_and_round_trips_slow_their_senders_down() {
    let incast = |hosts: &Hosts| {
        let to = Ipv4Addr::new(10, 0, 0, 1);
        let sends = (0..8u32)
            .map(|n| if n == 0 { Vec::new() } else { vec![message(n, Time::ORIGIN, to, 1_000_000)] })
            .collect();
        let mut defaults = defaults("l3-ecmp");
        defaults.port_speed = Some(LINE);
        defaults.buffer = Some("one".to_owned());
        let plan = built("chain:switches=1,hosts=8").unwrap();
        let deployment = deploy(&plan, &catalogue(), &defaults, &OneBuffer).unwrap();
        let run = Run::new(deployment, hosts, sends).drain(1, Duration::from_millis(1));
        assert_eq!((run.completions().len(), run.counters().resent), (7, 0));
        (run.counters(), run.completions().iter().map(|done| done.cuts).min().unwrap())
    };
    let open = nic(GO_BACK_N).open();
    let (unlimited, _) = incast(&open);
    let mut dctcp = open.clone();
    dctcp.rdma.congestion = CongestionConfig::Dctcp(RateDctcpConfig::default());
    (dctcp.rdma.carrier, dctcp.rdma.notify_missing) = (Carrier::Acknowledgement, false);
    let (counters, cuts) = incast(&dctcp);
    assert!(counters.marked > 0 && counters.notified == counters.marked && cuts > 0, "{counters:?}");
    assert!(counters.paused < unlimited.paused, "{counters:?}, without control {unlimited:?}");
    let mut timely = open;
    let config = TimelyConfig {
        low: Duration::from_micros(10),
        high: Duration::from_micros(100),
        ..TimelyConfig::default()
    };
    timely.rdma.congestion = CongestionConfig::Timely(config);
    let (counters, cuts) = incast(&timely);
    assert!(counters.marked == 0 && cuts > 0 && counters.paused < unlimited.paused, "{counters:?}");
}
