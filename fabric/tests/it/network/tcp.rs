//! TCP and UDP hosts at networks of real programs: closed forms of slow start, of NewReno's sawtooth and of DCTCP's queue;
//! shares of flows; conservation; and that results depend neither on threads nor on steps of time.

use crate::network::deployed::{NoFiles, defaults, hosts};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::WireOverhead;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_control::ControlState;
use sluice_fabric::deploy::{Files, deploy};
use sluice_fabric::host::counters::HostCounters;
use sluice_fabric::host::message::{Completion, FlowState, Message};
use sluice_fabric::host::nic::{Nic, PortConfig, TransportConfig};
use sluice_fabric::host::rdma::TrafficClass;
use sluice_fabric::host::tag::FrameTag;
use sluice_fabric::host::tcp::{CongestionConfig, DctcpConfig, DelayedAck, Reuse, RtoConfig, TcpConfig};
use sluice_fabric::host::udp::{OnOff, UdpConfig};
use sluice_fabric::network::{End, HostId, Network, NetworkTotals, Observer, SwitchId};
use sluice_fabric::topology::{Blueprint, built};
use sluice_ir::Program;
use sluice_programs::catalogue;
use sluice_switch::QueueEvent;
use std::net::Ipv4Addr;

/// Payload and frame of a full segment with timestamps.
const FULL: u64 = 1_448;
const FRAME: u64 = 1_514;
/// Cells of 176 bytes that a full frame takes: 1514 bytes and 4 of FCS.
const CELLS: u64 = 9;
const LINE: BitRate = BitRate::from_gbps(100);
/// Rate of the cable between the switches.
const SLOW: BitRate = BitRate::from_gbps(10);

/// Queues of `most` full frames, marked above `mark` of them, or not at all.
#[derive(Clone, Copy)]
struct Lossy {
    most: u64,
    mark: Option<u64>,
}

impl Files for Lossy {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        program: &Program,
        ports: &PortMap,
        usual: &ControlState,
        into: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        NoFiles.entries(name, program, ports, usual, into)
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        // The profile of RDMA hosts has a lossy queue for all traffic classes but one.
        let frames = |count: u64| count * CELLS * 176;
        let own = format!("size = \"0B\"\nstatic_th = \"{}B\"", frames(self.most));
        let lossy = "queues = \"1\"\nprofile = \"egress_lossy\"";
        let mut text =
            include_str!("../../../contests/rdma-9mb.toml").replace("size = \"0B\"\ndynamic_th = 3", &own);
        assert!(text.contains(&own) && text.contains(lossy));
        if let Some(mark) = self.mark.map(frames) {
            text = text.replace(lossy, &format!("{lossy}\necn = \"step\""));
            let curve = format!("kmin = \"{mark}B\"\nkmax = \"{mark}B\"\npmax = 100");
            text += &format!("\n[[ecn]]\nname = \"step\"\n\n[[ecn.curve]]\n{curve}\n");
        }
        BufferFile::parse(name, &text).map_err(|e| e.to_string())
    }
}

/// A network with a host at each of its places.
struct Run {
    network: Network,
    hosts: Vec<HostId>,
}

/// Returns two switches with `hosts` hosts each, whose cable is slow and `delay` long.
fn dumbbell(hosts: u32, delay: Duration) -> Blueprint {
    let mut plan = built(&format!("chain:switches=2,hosts={hosts}")).unwrap();
    plan.cables[0].rate = Some(SLOW);
    plan.cables[0].delay = delay;
    plan
}

fn message(pair: u32, transport: u8, to: Ipv4Addr, bytes: u64) -> Message {
    Message { pair, transport, workload: 0, start: Time::ORIGIN, to, port: 49_152 + pair as u16, bytes }
}

/// The first host of the second switch, and the address after it.
const FAR: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 1, 2)];

/// Every segment is acknowledged at once, and the window is not limited by the receiver.
fn eager(congestion: CongestionConfig) -> TcpConfig {
    let delayed_ack = DelayedAck { every: 1, ..DelayedAck::default() };
    TcpConfig { congestion, delayed_ack, receive_buffer: 1 << 30, ..TcpConfig::default() }
}

fn dctcp() -> CongestionConfig {
    CongestionConfig::Dctcp(DctcpConfig::default())
}

impl Run {
    /// Creates a network whose n-th host, by address, sends the n-th list of messages.
    fn new(
        (plan, program, files): (&Blueprint, &str, Lossy),
        cable: Duration,
        transports: &[TransportConfig],
        mut sends: Vec<Vec<Message>>,
    ) -> Run {
        let mut defaults = defaults(program);
        defaults.port_speed = Some(LINE);
        defaults.buffer = Some("lossy".to_owned());
        let deployment = deploy(plan, &catalogue(), &defaults, &files).unwrap_or_else(|e| panic!("{e}"));
        let all = hosts(&deployment.positions);
        sends.resize(all.len(), Vec::new());
        let mut network = Network::new(deployment.network, &catalogue()).unwrap_or_else(|e| panic!("{e}"));
        let port = PortConfig { rate: LINE, pfc: Some(PfcConfig::default()), wire: WireOverhead::ETHERNET };
        let mut hosts = Vec::new();
        for ((switch, at, address), sends) in all.into_iter().zip(sends) {
            let ports = &network.setup(switch).unwrap().ports;
            let front =
                (0..).map(FrontPort).find(|f| ports.front(*f).unwrap().dev_port.number() == at).unwrap();
            let host = Nic::new(port, address, transports, sends);
            hosts.push(network.attach(End { switch, port: front }, cable, Box::new(host)).unwrap());
        }
        Run { network, hosts }
    }

    /// Runs until nothing is under way or `end`, and calls `look` after every step.
    fn run_with<O: Observer + Send>(
        mut self,
        end: Time,
        [stride, threads]: [u64; 2],
        observers: &mut [O],
        mut look: impl FnMut(Time, &Run),
    ) -> Run {
        while self.network.is_busy() && self.network.time() < end {
            let next = self.network.next_time().unwrap_or(end);
            let until = self.network.time().max(next) + Duration::from_nanos(stride);
            self.network.drain_parallel(until, threads as usize, observers).unwrap();
            look(self.network.time(), &self);
        }
        assert!(self.network.totals().is_conserved(), "{:?}", self.network.totals());
        self
    }

    fn run(self, end: Time) -> Run {
        let mut observers = vec![(); self.network.len()];
        self.run_with(end, [1_000_000, 1], &mut observers, |_, _| {})
    }

    fn host(&self, n: usize) -> &Nic {
        self.network.host(self.hosts[n]).unwrap()
    }

    fn counters(&self) -> HostCounters {
        let mut sum = HostCounters::default();
        (0..self.hosts.len()).for_each(|n| sum += self.host(n).counters());
        sum
    }

    fn completions(&self) -> Vec<Completion> {
        (0..self.hosts.len()).flat_map(|n| self.host(n).completions().to_vec()).collect()
    }

    fn seen(&self) -> (Vec<Completion>, HostCounters, NetworkTotals) {
        (self.completions(), self.counters(), self.network.totals())
    }
}

fn ms(ms: u64) -> Time {
    Time::ORIGIN + Duration::from_millis(ms)
}

/// A lone flow (model: tcp §4): the first segment of round n + 1 is sent one round trip after the first one of round n, and rounds
/// have 10, 20, 40, .. segments. The first two rounds give the round trip, whatever the switches take.
#[test]
fn a_lone_flow_doubles_its_window_every_round_trip() {
    let time = |segments: u64| {
        let plan = built("chain:switches=2,hosts=1").unwrap();
        let sends = vec![vec![message(1, 0, FAR[0], segments * FULL)]];
        let tcp = TransportConfig::Tcp(eager(CongestionConfig::NewReno));
        let run = Run::new(
            (&plan, "l3-ecmp", Lossy { most: 1_000, mark: None }),
            Duration::from_micros(5),
            &[tcp],
            sends,
        );
        let done = run.run(ms(50)).completions();
        assert_eq!(done.len(), 1);
        done[0].time()
    };
    let one = time(1);
    let trip = time(11) - one;
    // Four host cables, and four frames' lines more or less.
    assert!(trip > Duration::from_micros(20) && trip < Duration::from_micros(26), "{trip}");
    let slot = LINE.time_for(WireOverhead::ETHERNET.wire_bytes(Bytes(FRAME)));
    // Segments are stored once more at each hop only by hosts, and clocks of the switches move a frame by less than 2 ns.
    let near = |found: Duration, expected: Duration| found.as_ps().abs_diff(expected.as_ps()) <= 2_000;
    for (segments, rounds, after) in
        [(10, 0, 9), (30, 1, 19), (31, 2, 0), (70, 2, 39), (71, 3, 0), (150, 3, 79), (151, 4, 0)]
    {
        let expected = one + trip * rounds + slot * after;
        let found = time(segments);
        assert!(near(found, expected), "{segments}: {found}, expected {expected}");
    }
}

/// Windows of a message over time, whenever they change.
fn windows(run: Run, host: usize, pair: u32, end: Time, stride: u64) -> (Vec<(Time, FlowState)>, Run) {
    let mut samples: Vec<(Time, FlowState)> = Vec::new();
    let mut observers = vec![(); run.network.len()];
    let run = run.run_with(end, [stride, 1], &mut observers, |now, run| {
        if let Some(flow) = run.host(host).flow(pair) {
            samples.push((now, flow));
        }
    });
    (samples, run)
}

/// NewReno alone at a tail-drop queue of B frames (model: tcp §4): the window falls from C T + B to half of it, after W/2 round trips.
#[test]
fn newreno_s_sawtooth_is_that_of_the_queue() {
    let most = 50;
    let (plan, delay) = (dumbbell(1, Duration::from_micros(30)), Duration::from_micros(1));
    let config = TcpConfig { initial_ssthresh: 60 * FULL, ..eager(CongestionConfig::NewReno) };
    let sends = vec![vec![message(1, 0, FAR[0], 1 << 40)]];
    let run = Run::new(
        (&plan, "l3-ecmp", Lossy { most, mark: None }),
        delay,
        &[TransportConfig::Tcp(config)],
        sends,
    );
    let (samples, run) = windows(run, 0, 1, ms(30), 5_000);
    // The round trip of a segment that meets no queue: the first measured one.
    let slot = SLOW.time_for(WireOverhead::ETHERNET.wire_bytes(Bytes(FRAME))).as_ps() as f64;
    let least = samples.iter().filter_map(|(_, flow)| flow.rtt).min().unwrap();
    // A segment's own time on the slow line is part of the round trip, so C T packets fill it.
    let pipe = least.as_ps() as f64 / slot;
    let full = pipe + most as f64;
    let window = |flow: &FlowState| flow.window.unwrap() as f64 / FULL as f64;
    let cuts: Vec<(Time, f64, f64)> = samples
        .windows(2)
        .map(|pair| (pair[1].0, window(&pair[0].1), window(&pair[1].1)))
        .filter(|(_, before, after)| *after < before * 0.9)
        .collect();
    assert!(cuts.len() >= 3, "{cuts:?}");
    for (_, before, after) in &cuts[1..] {
        assert!(
            (before / full - 1.0).abs() < 0.04 && (after / full - 0.5).abs() < 0.03,
            "{before} {after} {full}"
        );
    }
    // From half of the window to all of it, by one segment in a round trip, which takes as many slots as the window has segments.
    let most = cuts[1..].iter().map(|(_, before, _)| before).sum::<f64>() / (cuts.len() - 1) as f64;
    let trips: f64 = (0..(most / 2.0) as u32).map(|n| (most / 2.0 + f64::from(n)).max(pipe)).sum();
    for pair in cuts[1..].windows(2) {
        let period = pair[1].0.saturating_since(pair[0].0).as_ps() as f64;
        assert!((period / (trips * slot) - 1.0).abs() < 0.06, "{period} {}", trips * slot);
    }
    // One frame is lost for each fall: those that fast retransmit repairs, and no timeout.
    let counters = run.counters();
    assert_eq!((counters.timeouts, counters.spurious), (0, 0), "{counters:?}");
    assert_eq!(run.network.totals().dropped, counters.resent);
}

/// Depths of the queue at the slow cable, cells.
#[derive(Default)]
struct Depths(Vec<(Time, u64)>);

impl Observer for Depths {
    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        // Acknowledgements wait in other queues.
        if at == SwitchId(0) && !FrameTag::from(event.tag).answer && event.tag != 0 {
            self.0.push((event.time, event.depth.0.into()));
        }
    }
}

/// DCTCP's queue with N flows (model: tcp §3): the maximum is K + N packets, and the amplitude sqrt(2 N (C T + K)) / 2.
#[test]
fn dctcp_s_queue_is_that_of_the_paper() {
    let mark = 65;
    for flows in [1, 2] {
        let (plan, cable) = (dumbbell(2, Duration::from_micros(30)), Duration::from_micros(1));
        let sends = (0..flows).map(|n| vec![message(n + 1, 0, FAR[n as usize], 1 << 40)]).collect();
        let files = Lossy { most: 1_000, mark: Some(mark) };
        let tcp = TransportConfig::Tcp(eager(dctcp()));
        let run = Run::new((&plan, "l3-ecmp", files), cable, &[tcp], sends);
        let mut depths = [Depths::default(), Depths::default()];
        let mut trip = Duration::from_secs(1);
        let run = run.run_with(ms(20), [50_000, 1], &mut depths, |_, run| {
            trip = run.host(0).flow(1).and_then(|flow| flow.rtt).map_or(trip, |rtt| rtt.min(trip));
        });
        let late: Vec<u64> =
            depths[0].0.iter().filter(|(time, _)| *time > ms(10)).map(|(_, depth)| *depth).collect();
        let (least, most) = (late.iter().min().unwrap() / CELLS, late.iter().max().unwrap() / CELLS);
        let slot = SLOW.time_for(WireOverhead::ETHERNET.wire_bytes(Bytes(FRAME)));
        let pipe = trip.as_ps() as f64 / slot.as_ps() as f64;
        let amplitude = 0.5 * (2.0 * f64::from(flows) * (pipe + mark as f64)).sqrt();
        assert!((mark..=mark + 2 * u64::from(flows) + 3).contains(&most), "{flows}: {most}");
        let found = (most - least) as f64;
        assert!(
            found > 0.5 * amplitude && found < 1.7 * amplitude + 3.0,
            "{flows}: {found}, expected {amplitude}"
        );
        let counters = run.counters();
        assert_eq!((counters.resent, run.network.totals().dropped), (0, 0));
        assert!(counters.marked > 0 && counters.notified > 0);
        // The line is busy all the time, and two flows share it evenly.
        let sent: Vec<u64> = (0..flows as usize).map(|n| run.host(n).unfinished()[0].acknowledged).collect();
        let all = ms(20).as_ps() / slot.as_ps();
        assert!(sent.iter().sum::<u64>() * 100 > all * 97, "{sent:?} of {all}");
        assert!(sent.iter().max().unwrap() * 100 < sent.iter().min().unwrap() * 115, "{sent:?}");
    }
}

/// Unresponsive UDP takes its rate, and TCP what is left.
#[test]
fn udp_does_not_react_and_tcp_does() {
    let (plan, cable) = (dumbbell(2, Duration::from_micros(5)), Duration::from_micros(1));
    let udp = UdpConfig {
        payload: 1_472,
        rate: BitRate::from_gbps(6),
        on_off: None,
        data: TrafficClass { dscp: 0, priority: 0 },
        ecn: false,
    };
    let tcp = TcpConfig { initial_ssthresh: 20 * FULL, ..eager(CongestionConfig::NewReno) };
    let transports = [TransportConfig::Tcp(tcp), TransportConfig::Udp(udp)];
    // 6 Gb/s for 20 ms are 15 MB on the line.
    let datagrams = 9_700;
    let sends = vec![vec![message(1, 0, FAR[0], 1 << 40)], vec![message(2, 1, FAR[1], datagrams * 1_472)]];
    let files = Lossy { most: 60, mark: None };
    let run = Run::new((&plan, "l3-ecmp", files), cable, &transports, sends).run(ms(20));
    let udp = (run.host(1).counters(), run.host(3).counters());
    assert_eq!((udp.0.sent, run.host(1).completions().len()), (datagrams, 1));
    let end = run.host(1).completions()[0].end;
    let slot = BitRate::from_gbps(6).time_for(Bytes(FRAME + 24));
    assert_eq!(end, Time::ORIGIN + slot * (datagrams - 1), "the last datagram is sent at its time");
    // What did not arrive was dropped by the queue, and so were TCP's retransmitted segments.
    assert!(udp.1.missing > 0 && udp.1.missing < datagrams / 50, "{:?}", udp.1);
    // Drops at the very end are not noticed, because no later datagram arrives.
    assert!((datagrams - 5..=datagrams).contains(&(udp.1.received + udp.1.missing)), "{:?}", udp.1);
    let tcp = run.host(0).unfinished()[0].acknowledged * FULL * 8 * 50;
    assert!(
        (3_400_000_000..3_900_000_000).contains(&tcp),
        "{tcp} bit/s of 4 Gb/s, which are 3.76 Gb/s of payload"
    );
}

/// Sends between all hosts by five transports at once.
fn everyone(stride: u64, threads: u64, program: &str) -> Run {
    let mut plan = built("leaf-spine:leaves=2,spines=2,hosts=2,rate=100G").unwrap();
    plan.cables.iter_mut().for_each(|cable| cable.loss = "0.002".parse().unwrap());
    let rto = RtoConfig {
        min: Duration::from_millis(1),
        initial: Duration::from_millis(3),
        ..RtoConfig::default()
    };
    let with = |congestion, sack, reuse| {
        TransportConfig::Tcp(TcpConfig { rto, sack, reuse, tso: 4, ..eager(congestion) })
    };
    let udp = UdpConfig {
        payload: 1_000,
        rate: BitRate::from_gbps(2),
        on_off: Some(OnOff { on: Duration::from_micros(3), off: Duration::from_micros(5) }),
        data: TrafficClass { dscp: 0, priority: 0 },
        ecn: true,
    };
    let transports = [
        with(CongestionConfig::NewReno, false, Reuse::Never),
        with(CongestionConfig::Cubic(Default::default()), true, Reuse::Idle),
        with(dctcp(), true, Reuse::Always),
        TransportConfig::Udp(udp),
    ];
    let four = [[0, 1], [0, 2], [1, 1], [1, 2]].map(|[leaf, host]| Ipv4Addr::new(10, 0, leaf, host));
    let mut pair = 0;
    let from = |from: Ipv4Addr| {
        let others = four.iter().filter(|to| **to != from);
        let all = others.flat_map(|to| [1, 1_448, 1_449, 90_000].map(|bytes| (*to, bytes)));
        all.flat_map(|(to, bytes)| [0, 1, 2, 3].map(|transport| (to, bytes, transport)))
            .map(|(to, bytes, transport)| {
                pair += 1;
                Message {
                    start: Time::from_nanos(u64::from(pair) * 70),
                    ..message(pair, transport, to, bytes)
                }
            })
            .collect()
    };
    let sends = four.map(from).to_vec();
    let files = Lossy { most: 200, mark: Some(20) };
    let run = Run::new((&plan, program, files), Duration::from_nanos(500), &transports, sends);
    let mut observers = vec![(); run.network.len()];
    run.run_with(ms(200), [stride, threads], &mut observers, |_, _| {})
}

#[test]
fn threads_and_steps_change_nothing_and_lost_segments_are_sent_again() {
    for program in ["l3-ecmp", "letflow"] {
        let one = everyone(1_000_000, 1, program);
        let (completions, counters, totals) = one.seen();
        assert_eq!(completions.len(), 4 * 3 * 4 * 4, "{program}: {counters:?}");
        assert!(counters.resent > 0 && counters.missing > 0, "{counters:?}");
        assert!(totals.lost_on_links() > 0);
        assert_eq!(one.seen(), everyone(1_000_000, 2, program).seen(), "{program}");
        assert_eq!(one.seen(), everyone(1_700, 1, program).seen(), "{program}");
    }
}
