//! Keys of hosts and transports: what they mean, and which are refused.

use super::transport::class;
use super::*;
use sluice_fabric::host::congestion::CongestionConfig;
use sluice_fabric::host::dcqcn::{
    Coalescing, Mellanox, NotificationScope, Published, ReactionConfig, ReactionPoint,
};
use sluice_fabric::host::hpcc::HpccConfig;
use sluice_fabric::host::rdma::{Carrier, RdmaConfig, TrafficClass};
use sluice_fabric::host::recovery::Recovery;
use sluice_pcaps::int::HpccLayout;

const CELL: Bytes = Bytes(176);

fn hosts(keys: &str) -> Result<HostsSetting, String> {
    let text = format!("cable = \"500ns\"\n{keys}");
    toml::from_str::<HostsSetting>(&text).map_err(|e| e.message().to_owned())
}

fn transports(keys: &str) -> Result<Vec<RdmaConfig>, String> {
    let hosts = hosts(keys)?;
    hosts.check()?;
    let rdma = |transport| match transport {
        TransportConfig::Rdma(config) => config,
        other => panic!("{other:?}"),
    };
    Ok(hosts.transports(CELL)?.into_iter().map(rdma).collect())
}

/// Returns the only transport with these keys, and go-back-n.
fn one(keys: &str) -> Result<RdmaConfig, String> {
    let mut all = transports(&format!("recovery = \"go-back-n\"\n{keys}"))?;
    assert_eq!(all.len(), 1);
    Ok(all.remove(0))
}

fn refused(keys: &str) -> String {
    one(keys).map(|config| format!("{config:?}")).expect_err(keys)
}

fn point(keys: &str) -> ReactionPoint {
    match one(keys).unwrap().congestion {
        CongestionConfig::Dcqcn(point) => *point,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sender_is_chosen_by_its_name_or_its_table() {
    assert!(matches!(one("").unwrap().congestion, CongestionConfig::None));
    for keys in ["congestion = \"timely\"", "timely = {}"] {
        let CongestionConfig::Timely(timely) = one(keys).unwrap().congestion else { panic!("{keys}") };
        assert_eq!(timely, sluice_fabric::host::timely::TimelyConfig::default());
    }
    let dctcp = one("dctcp = { one_by_g = 8 }").unwrap();
    assert_eq!(dctcp.carrier, Carrier::Acknowledgement);
    assert!(!dctcp.notify_missing);
    let CongestionConfig::Dctcp(config) = dctcp.congestion else { panic!() };
    assert!((config.g - 0.125).abs() < 1e-12);
    let hpcc = one("hpcc = { base_rtt = \"13us\", rate_ai = \"50Mbps\", max_stage = 5 }").unwrap();
    let CongestionConfig::Hpcc { sender, telemetry } = hpcc.congestion else { panic!() };
    let expected = HpccConfig { additive: 81.25, max_stage: 5, ..HpccConfig::new(Duration::from_micros(13)) };
    assert_eq!(sender, expected);
    assert_eq!(telemetry, TelemetryFormat { port: 4791, layout: HpccLayout::Paper, cell: CELL, multi: 1 });
    for (keys, why) in [
        ("congestion = \"hpcc\"", "needs the network's base round trip"),
        ("congestion = \"timely\"\ndctcp = {}", "`dctcp` has no effect"),
        ("hpcc = { base_rtt = \"0ns\" }", "`hpcc.base_rtt` of the host is 0"),
        ("hpcc = { base_rtt = \"9us\", eta = 0.0 }", "hpcc.eta is 0; expected"),
        ("hpcc = { base_rtt = \"9us\", eta = nan }", "hpcc.eta is NaN; expected"),
        ("hpcc = { base_rtt = \"9us\", w_ai = \"80B\", rate_ai = \"1Mbps\" }", "leave one out"),
        ("timely = { low = \"50us\", high = \"50us\" }", "expected low below high"),
        ("timely = { beta = 1.5 }", "timely.beta is 1.5; expected 0 to 1"),
        ("timely = { gamma = 1 }", "unknown field `gamma`"),
        ("dctcp = { one_by_g = 0.5 }", "dctcp.one_by_g is 0.5"),
        ("congestion = \"bbr\"", "unknown variant `bbr`"),
        ("hpcc = { base_rtt = \"9us\" }\nwindow = { bytes = \"9KB\" }", "`window` has no effect"),
        ("window = { bytes = \"0B\" }", "`window.bytes` of the host is 0"),
        ("dctcp = {}\ncarrier = \"packet\"", "DCTCP reads marks in acknowledgements"),
        ("dctcp = {}\nnotification = { interval = \"4us\" }", "DCTCP needs the mark of every packet"),
        ("notification = { interval = \"4us\" }", "no effect, because the sender reads no marks"),
        ("timely = {}\ncarrier = \"packet\"", "`carrier` has no effect"),
        ("head_of_line_blocking = true", "pairs without congestion control do not wait"),
        ("timely = {}\nrepaces = false\nhead_of_line_blocking = true", "leave one out"),
        ("burst = 0", "burst is 0; expected 1 to 1024"),
        ("data = { dscp = 64, priority = 3 }", "hosts: data is dscp 64, priority 3; expected"),
        ("in_flight = \"9KB\"", "`in_flight` has no effect with this `recovery`"),
    ] {
        let found = refused(keys);
        assert!(found.contains(why), "{keys}: {found}");
    }
    assert!(transports("").unwrap_err().contains("`recovery` is missing"));
}

#[test]
fn generations_limit_cnps_at_one_end() {
    let published = |us| {
        let base = ReactionConfig::new(ReactionSetting::ANY_LINE);
        let cut_window = Duration::from_micros(us);
        ReactionPoint::Published(Published::new(ReactionConfig { cut_window, ..base }))
    };
    let window = Coalescing::Window(Duration::from_micros(50));
    for (keys, cut_window, coalescing, burst) in [
        ("generation = 1", 0, window, 16),
        ("generation = 2", 50, Coalescing::PerPacket, 1),
        ("generation = 3", 50, Coalescing::PerPacket, 1),
        // A first generation that sends to a later one gets a flood of CNPs.
        ("generation = 1\nreceiver_generation = 2", 0, Coalescing::PerPacket, 16),
        ("generation = 2\nreceiver_generation = 1\nburst = 4", 50, window, 4),
        // The remedy: the later receiver limits its CNPs.
        (
            "generation = 1\nreceiver_generation = 2\nnotification = { interval = \"50us\" }",
            0,
            Coalescing::Interval(Duration::from_micros(50)),
            16,
        ),
    ] {
        let config = &transports(keys).unwrap()[0];
        assert_eq!((config.coalescing, config.burst), (coalescing, burst), "{keys}");
        assert!(
            matches!(&config.congestion, CongestionConfig::Dcqcn(p) if **p == published(cut_window)),
            "{keys}"
        );
    }
    assert!(refused("generation = 4").contains("there is no generation 4; expected 1, 2 or 3"));
    let nic = one("generation = 2\nnotification = { interval = \"4us\", scope = \"nic\" }").unwrap();
    assert_eq!(nic.scope, NotificationScope::Nic);
    assert!(refused("generation = 2\nnotification = { scope = \"nic\" }").contains("`scope` has no effect"));
}

#[test]
fn the_vendors_names_have_the_vendors_units_and_defaults() {
    let line = ReactionSetting::ANY_LINE;
    let firmware = |config| ReactionPoint::Mellanox(Mellanox::firmware(config));
    let base = ReactionConfig::firmware(line);
    assert_eq!(point("vendor = {}"), firmware(base.clone()));
    // The defaults by name, as `mlxconfig` lists them.
    let defaults = "vendor = { clamp_tgt_rate = false, clamp_tgt_rate_after_time_inc = 1, rpg_time_reset = 300, \
                    rpg_byte_reset = 32767, rpg_threshold = 1, rpg_max_rate = 0, rpg_ai_rate = 5, rpg_hai_rate = 50, rpg_gd = 11, \
                    rpg_min_dec_fac = 50, rpg_min_rate = 1, rate_to_set_on_first_cnp = 0, dce_tcp_g = 1019, dce_tcp_rtt = 1, \
                    rate_reduce_monitor_period = 4, initial_alpha_value = 1023 }";
    assert_eq!(point(defaults), firmware(base.clone()));
    let changed = point(
        "vendor = { rpg_gd = 10, rpg_min_dec_fac = 25, dce_tcp_g = 1020, rpg_ai_rate = 40, rate_to_set_on_first_cnp = 20000, \
         clamp_tgt_rate = 1, dce_tcp_rtt = 55 }",
    );
    let expected = ReactionConfig {
        cut_share: 1.0,
        kept_share: 0.25,
        g: 4.0 / 1024.0,
        additive: BitRate::from_bps(40_000_000),
        first_rate: Some(BitRate::from_gbps(20)),
        clamp: sluice_fabric::host::dcqcn::Clamp::Always,
        alpha_timer: Duration::from_micros(55),
        ..base
    };
    assert_eq!(changed, firmware(expected));
    let np = one("vendor = { min_time_between_cnps = 4, np_cnp_dscp = 46, cnp_802p_prio = 5 }").unwrap();
    assert_eq!(np.coalescing, Coalescing::Interval(Duration::from_micros(4)));
    assert_eq!((np.cnp, np.control), (class(None, 46, 5), class(None, 48, 6)));
    for (keys, why) in [
        ("vendor = { rpg_ai_rat = 5 }", "there is no parameter `rpg_ai_rat`; did you mean `rpg_ai_rate`?"),
        ("vendor = { rpg_gd = 12 }", "`rpg_gd` is 12; expected 10 to 11"),
        ("vendor = { rpg_threshold = -1 }", "`rpg_threshold` is -1; expected 1 to 31"),
        ("vendor = { rpg_ai_rate = \"5Mbps\" }", "expected 1 to 800000"),
        ("vendor = { rpg_ai_rate = true }", "`rpg_ai_rate` is true"),
        ("vendor = { cnp_dscp = 1, np_cnp_dscp = 2 }", "`np_cnp_dscp` is given twice"),
        ("vendor = { rpg_min_rate = 9, rpg_max_rate = 8 }", "is above rpg_max_rate"),
        ("vendor = {}\nreaction = { form = \"mellanox\" }", "both describe DCQCN"),
    ] {
        let found = refused(keys);
        assert!(found.contains(why), "{keys}: {found}");
    }
}

#[test]
fn named_transports_take_absent_keys_from_the_hosts() {
    let keys = "recovery = \"go-back-n\"\ntimeout = \"1ms\"\nreaction = { form = \"mellanox\" }\nnotify_missing = false\n\
                telemetry = { port = 4792 }\n\
                [[transport]]\nname = \"as-hosts\"\n\
                [[transport]]\nname = \"tele\"\nhpcc = { base_rtt = \"9us\" }\n\
                [[transport]]\nname = \"sprayed\"\nrecovery = \"any-order\"\ndata = { dscp = 4, priority = 4 }\n";
    let all = transports(keys).unwrap();
    let timeout = Duration::from_millis(1);
    let go_back_n = Recovery::GoBackN { nack_interval: Duration::from_micros(4), timeout: Some(timeout) };
    assert!(matches!(all[0].congestion, CongestionConfig::Dcqcn(_)));
    assert_eq!((all[0].recovery, all[0].notify_missing), (go_back_n, false));
    assert!(matches!(all[1].congestion, CongestionConfig::Hpcc { telemetry, .. } if telemetry.port == 4792));
    assert_eq!(all[1].recovery, go_back_n);
    // Another recovery has its own default of the timeout.
    assert_eq!(all[2].recovery, Recovery::AnyOrder { timeout: Duration::from_millis(4) });
    assert_eq!(all[2].data, class(None, 4, 4));
    assert_eq!(hosts(keys).unwrap().transport_names(), ["as-hosts", "tele", "sprayed"]);
}

#[test]
fn transports_that_cannot_be_told_apart_are_refused() {
    let mixed = "recovery = \"go-back-n\"\n[[transport]]\nname = \"a\"\nhpcc = { base_rtt = \"9us\" }\n[[transport]]\nname = \"b\"";
    assert!(transports(mixed).unwrap_err().contains("params = { udp_port = 4792 }"));
    let ns3 = "telemetry = { layout = \"ns3\" }\nhpcc = { base_rtt = \"9us\" }";
    assert!(refused(ns3).contains("and answers have it"));
    let ns3 = "telemetry = { layout = \"ns3\", port = 4792, cell = \"80B\" }\nhpcc = { base_rtt = \"9us\" }";
    let CongestionConfig::Hpcc { telemetry, .. } = one(ns3).unwrap().congestion else { panic!() };
    assert_eq!(telemetry, TelemetryFormat { port: 4792, layout: HpccLayout::Ns3, cell: Bytes(80), multi: 1 });
    assert!(refused("telemetry = {}").contains("hosts.telemetry has no effect"));
    let twice = "recovery = \"selective\"\n[[transport]]\nname = \"a\"\n[[transport]]\nname = \"a\"";
    assert_eq!(transports(twice).unwrap_err(), "two transports of the hosts are called `a`");
    let empty = "recovery = \"selective\"\n[[transport]]\nname = \"a b\"";
    assert!(transports(empty).unwrap_err().contains("the name `a b` must consist of"));
    let inside = "recovery = \"selective\"\n[[transport]]\nname = \"a\"\nburst = 5000";
    assert!(transports(inside).unwrap_err().contains("hosts.transport `a`: burst is 5000"));
}

#[test]
fn tcp_and_udp_take_the_place_of_queue_pairs() {
    let all = |keys: &str| {
        let hosts = hosts(keys)?;
        hosts.check()?;
        hosts.transports(CELL)
    };
    let TransportConfig::Tcp(tcp) = &all("tcp = { mtu = 9000 }").unwrap()[0] else { panic!() };
    let zero = TrafficClass { dscp: 0, priority: 0 };
    assert_eq!((tcp.mtu, tcp.data, tcp.control), (9_000, zero, zero));
    // Named transports of all kinds; a transport with TCP takes none of the hosts' keys of queue pairs but their classes.
    let mixed = "recovery = \"go-back-n\"\ntimely = {}\ndata = { dscp = 4, priority = 4 }\n[[transport]]\nname = \"a\"\n\
                 [[transport]]\nname = \"b\"\ntcp = { congestion = \"dctcp\" }\n\
                 [[transport]]\nname = \"c\"\nudp = { rate = \"1Gbps\" }\ndata = { dscp = 9, priority = 1 }";
    let mixed = all(mixed).unwrap();
    let [TransportConfig::Rdma(rdma), TransportConfig::Tcp(tcp), TransportConfig::Udp(udp)] = &mixed[..]
    else {
        panic!("{mixed:?}")
    };
    let four = TrafficClass { dscp: 4, priority: 4 };
    assert_eq!((rdma.data, tcp.data, tcp.control), (four, four, four));
    assert_eq!(udp.data, TrafficClass { dscp: 9, priority: 1 });
    // 1448 bytes of payload in a frame of 1514.
    assert_eq!(mixed[1].framing(), (1_448, 66));
    // TCP of all hosts, and queue pairs of one transport.
    let one =
        all("tcp = {}\n[[transport]]\nname = \"a\"\nrecovery = \"go-back-n\"\n[[transport]]\nname = \"b\"")
            .unwrap();
    assert!(matches!(one[..], [TransportConfig::Rdma(_), TransportConfig::Tcp(_)]), "{one:?}");
    for (keys, why) in [
        ("tcp = {}\nrecovery = \"go-back-n\"", "hosts: `recovery` is a key of RDMA and has no effect"),
        ("tcp = {}\nudp = { rate = \"1Gbps\" }", "`tcp` or `udp`, not both"),
        ("udp = { rate = \"1Gbps\" }\ncontrol = { dscp = 1, priority = 1 }", "nothing answers UDP"),
        ("tcp = {}\ndata = { dscp = 64, priority = 1 }", "data is dscp 64"),
        ("[[transport]]\nname = \"x\"\ntcp = { tso = 99 }", "hosts.transport `x`: tcp.tso is 99"),
    ] {
        let found = all(keys).map(|all| format!("{all:?}")).expect_err(keys);
        assert!(found.contains(why), "{keys}: {found}");
    }
}

#[test]
fn a_bus_has_a_buffer_with_thresholds() {
    let bus = |keys: &str| {
        let recovery = if keys.starts_with("tcp") { "" } else { "recovery = \"go-back-n\"" };
        let hosts = hosts(&format!("{recovery}\nmtu = 4096\n{keys}"))?;
        hosts.check()?;
        hosts.bus(&hosts.transports(CELL)?)
    };
    assert_eq!(bus(""), Ok(None));
    let found = bus("[bus]\nrate = \"100Gbps\"\nloopback = {}").unwrap().unwrap();
    let rate = BitRate::from_gbps(100);
    assert_eq!(
        (found.rate, found.buffer, found.xoff, found.xon),
        (rate, Bytes(524_288), Bytes(262_144), Bytes(131_072))
    );
    assert_eq!(
        (found.priorities, found.loopback.map(|l| (l.rate, l.packet))),
        (8, Some((rate, Bytes(4_096))))
    );
    for (keys, why) in [
        ("[bus]\nrate = \"0bps\"", "`bus.rate` of the host is 0"),
        ("[bus]\nrate = \"9Gbps\"\nxon = \"9KB\"\nxoff = \"9KB\"", "expected xon below xoff"),
        ("[bus]\nrate = \"9Gbps\"\nxoff = \"9MB\"", "xoff not above the buffer"),
        ("pfc = false\n[bus]\nrate = \"9Gbps\"", "no effect on switches beside `pfc = false`"),
        ("tcp = {}\n[bus]\nrate = \"9Gbps\"", "no transport has queue pairs"),
    ] {
        let error = bus(keys).unwrap_err();
        assert!(error.contains(why), "{keys}: {error}");
    }
}
