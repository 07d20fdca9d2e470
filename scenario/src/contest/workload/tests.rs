//! Tests of the generators: counts, sums and orders that follow from the settings.

use super::plan::FIRST_PORT;
use super::*;
use sluice_asic::units::{BitRate, Bytes};
use sluice_pcaps::generate::Cdf;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// Leaves with hosts of 100 Gb/s, and a spine without hosts.
pub(super) fn hosts(leaves: u8, each: u8) -> HostTable {
    let station = |n: u8| Station {
        switch: u32::from(n / each),
        port: (n % each).into(),
        address: Ipv4Addr::new(10, 0, n / each, n % each + 1),
        rate: BitRate::from_gbps(100),
        delay: None,
    };
    let name = |address: Ipv4Addr| {
        let [.., leaf, host] = address.octets();
        format!("leaf{leaf}-h{}", host - 1)
    };
    let switches = (0..leaves).map(|leaf| format!("leaf{leaf}")).chain(["spine0".to_owned()]).collect();
    HostTable::new((0..leaves * each).map(station).collect(), Duration::from_nanos(500), name, switches)
}

/// Reads the tables of a contest.
fn workloads(text: &str) -> Result<Workloads, String> {
    #[derive(Deserialize)]
    struct File {
        workload: Workloads,
    }
    let mut file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    file.workload.read(text)?;
    Ok(file.workload)
}

/// Plans workloads that name no files.
fn plan(text: &str, hosts: &HostTable) -> Result<Plan, String> {
    let mut workloads = workloads(text)?;
    workloads.open(|name| Err(format!("cannot read {name}")))?;
    workloads.plan(hosts, &[], 7)
}

/// Bytes from each host to each other one.
fn matrix(plan: &Plan) -> BTreeMap<(u32, u32), u64> {
    let mut sums = BTreeMap::new();
    for message in &plan.messages {
        *sums.entry((message.from, message.to)).or_default() += message.bytes;
    }
    sums
}

/// Runs a plan on hosts whose lines are infinitely fast: each message arrives `latency` after its start, and its
/// acknowledgement another `latency` later. Returns start of each message that is sent, in ps.
fn walk(plan: &Plan, latency: u64) -> Vec<Option<u64>> {
    let mut starts: Vec<Option<u64>> = Vec::new();
    for message in &plan.messages {
        let mut start = Some(message.when.start.since_origin().as_ps());
        for need in message.when.gate.map_or(&[][..], |gate| plan.needs(gate)) {
            let other = &plan.messages[need.message as usize];
            assert!(other.to == message.from || other.from == message.from, "events are local to the sender");
            let trips = if other.to == message.from { 1 } else { 2 };
            let at = starts[need.message as usize].map(|at| at + trips * latency + need.delay.as_ps());
            start = start.zip(at).map(|(start, at)| start.max(at));
        }
        let until = message.when.until.map_or(u64::MAX, |until| until.since_origin().as_ps());
        starts.push(start.filter(|start| message.when.until.is_none() || *start < until));
    }
    starts
}

#[test]
fn poisson_offers_the_load_to_hosts_of_other_switches() {
    let hosts = hosts(2, 4);
    let text = "[workload]\nsizes = \"ali-storage\"\nload = 50\ntime = \"20ms\"\nbetween_switches = true\n";
    let all = plan(text, &hosts).unwrap();
    // 20 ms / 6,539 ns * 8 hosts = 24,468 messages, plus or minus three standard deviations (model: int §5.3).
    assert!((23_998..24_938).contains(&all.messages.len()), "{}", all.messages.len());
    assert!(all.messages.iter().all(|m| m.from / 4 != m.to / 4 && m.bytes > 0));
    // Each host has its own stream, in order of time, and the messages of a pair take four ports in turn.
    let mut turns = BTreeMap::new();
    for pair in all.messages.windows(2) {
        assert!((pair[0].from, pair[0].when.start) <= (pair[1].from, pair[1].when.start));
    }
    for m in &all.messages {
        let turn = turns.entry((m.from, m.to)).or_insert(0);
        assert_eq!(m.port, FIRST_PORT + *turn % 4);
        *turn += 1;
    }
    assert_eq!(plan(text, &hosts).unwrap().messages, all.messages);
    let error = plan(text, &self::hosts(1, 4)).unwrap_err();
    assert!(error.contains("`leaf0-h0` (10.0.0.1) has no receiver"), "{error}");
}

#[test]
fn each_host_offers_the_load_of_its_own_link() {
    let mut hosts = hosts(2, 4);
    hosts.stations[7].rate = BitRate::from_gbps(400);
    let text = "[workload]\nsizes = \"ali-storage\"\nload = 20\ntime = \"50ms\"\n";
    let all = plan(text, &hosts).unwrap();
    let fast = all.messages.iter().filter(|m| m.from == 7).count();
    // As 20 ms at half load: 21,410 messages of seven hosts, 12,234 of the one whose link is four times as fast.
    let slow = all.messages.len() - fast;
    assert!((11_902..12_566).contains(&fast) && (20_971..21_849).contains(&slow), "{fast} {slow}");
}

/// Model: int §5.2; flowlets §5.2. The standard deviation of the mean follows from the coefficient of variation there.
#[test]
fn every_published_distribution_keeps_its_mean() {
    for (name, mean, variation) in [("web-search", 1_711_250.0, 2.318), ("solar", 39_424.0, 1.043)] {
        let text = format!("[workload]\nsizes = \"{name}\"\nload = 80\ntime = \"100ms\"\n");
        let all = plan(&text, &hosts(2, 4)).unwrap();
        let count = all.messages.len() as f64;
        let found = all.messages.iter().map(|m| m.bytes as f64).sum::<f64>() / count;
        let deviation = mean * variation / count.sqrt();
        assert!((found - mean).abs() < 3.0 * deviation, "{name}: {found}, {deviation}");
        // Eight hosts of 100 Gb/s at 80 % for 100 ms; the count of messages varies too.
        let offered = 8.0 * 0.8 * 100e9 / 8.0 * 0.1;
        let sum = found * count;
        let spread = mean * (count * (1.0 + variation * variation)).sqrt();
        assert!((sum - offered).abs() < 3.0 * spread, "{name}: {sum} of {offered}");
    }
}

#[test]
fn incasts_have_their_senders_and_receivers() {
    let hosts = hosts(4, 4);
    let text = "[workload]\nkind = \"incast\"\nbytes = 20000\nto = \"leaf0\"\nfan_in = 5\nperiod = \"10us\"\n\
                jitter = \"2us\"\ntime = \"100us\"\nreceiver = \"rotating\"\n";
    let all = plan(text, &hosts).unwrap();
    assert_eq!(all.messages.len(), 10 * 5);
    for (number, incast) in all.messages.chunks(5).enumerate() {
        let senders: BTreeSet<u32> = incast.iter().map(|m| m.from).collect();
        assert_eq!(senders.len(), 5);
        let begin = number as u64 * 10_000_000;
        for m in incast {
            assert_eq!((m.to, m.bytes), (number as u32 % 4, 20_000));
            let late = m.when.start.since_origin().as_ps() - begin;
            assert!(m.from != m.to && late <= 2_000_000);
        }
    }
    // Without a period there is one incast, of all others to each receiver.
    let all = plan("[workload]\nkind = \"incast\"\nbytes = \"1KB\"\nto = [0, 3]\n", &hosts).unwrap();
    let froms: Vec<u32> = all.messages.iter().filter(|m| m.to == 3).map(|m| m.from).collect();
    assert_eq!(all.messages.len(), 30);
    assert_eq!(froms.into_iter().collect::<BTreeSet<_>>(), (0..16).filter(|n| *n != 3).collect());
}

#[test]
fn permutations_have_no_fixed_point() {
    for size in 2..16 {
        let text = "[workload]\nkind = \"permutation\"\nbytes = 1000\niterations = 3\ngap = \"1us\"\n";
        let all = plan(text, &hosts(1, size)).unwrap();
        let all_hosts: BTreeSet<u32> = (0..size.into()).collect();
        let ways = matrix(&all);
        assert_eq!(ways.keys().map(|(from, _)| *from).collect::<BTreeSet<_>>(), all_hosts);
        assert_eq!(ways.keys().map(|(_, to)| *to).collect::<BTreeSet<_>>(), all_hosts);
        assert!(ways.iter().all(|((from, to), bytes)| from != to && *bytes == 3_000));
        // A message waits 1 us after the acknowledgement of the one before.
        let starts = walk(&all, 5_000_000);
        assert_eq!(starts[..3], [Some(0), Some(11_000_000), Some(22_000_000)]);
    }
}

#[test]
fn collectives_move_the_bytes_that_they_must_in_as_many_steps() {
    let us = 1_000_000;
    // Kind and algorithm; bytes that each rank sends of a buffer of 8,000; steps.
    let cases = [
        ("all-reduce\"\nalgorithm = \"ring", 14 * 1_000, 14),
        ("all-reduce\"\nalgorithm = \"halving-doubling", 2 * 7_000, 6),
        ("all-gather", 7 * 1_000, 7),
        ("reduce-scatter", 7 * 1_000, 7),
        ("all-to-all", 7 * 1_000, 1),
    ];
    for (kind, sent, steps) in cases {
        let text = format!("[workload]\nkind = \"{kind}\"\nbytes = 8000\niterations = 2\ngap = \"3us\"\n");
        let all = plan(&text, &hosts(2, 4)).unwrap();
        let mut sums = [0; 8];
        all.messages.iter().for_each(|m| sums[m.from as usize] += m.bytes);
        assert_eq!(sums, [2 * sent; 8], "{kind}");
        // Each step takes one latency, and a gap is between the iterations.
        let starts = walk(&all, us);
        let last = starts.iter().flatten().max().unwrap();
        assert_eq!(*last, (2 * steps - 1) * us + 3 * us, "{kind}");
    }
}

#[test]
fn a_tree_sends_the_buffer_up_and_down_each_of_its_edges() {
    let text = "[workload]\nkind = \"all-reduce\"\nalgorithm = \"tree\"\nbytes = 7001\nchunks = 3\n";
    let all = plan(text, &hosts(1, 7)).unwrap();
    let ways = matrix(&all);
    assert_eq!(ways.len(), 2 * 6);
    assert!(ways.iter().all(|((from, to), bytes)| {
        let (low, high) = (from.min(to), from.max(to));
        *bytes == 7_001 && (high - 1) / 2 == *low
    }));
    // Two chunks go up two edges and down two; the third leaves when the first is acknowledged, two latencies later.
    let starts = walk(&all, 1_000_000);
    assert_eq!(starts.iter().flatten().max(), Some(&5_000_000));
}

#[test]
fn groups_are_apart_and_parts_are_whole() {
    let text =
        "[workload]\nkind = \"all-reduce\"\nbytes = 1003\nhosts = \"0, 2, 4, 6, 1, 3, 5, 7\"\ngroup = 4\n";
    let all = plan(text, &hosts(2, 4)).unwrap();
    assert!(all.messages.iter().all(|m| m.from % 2 == m.to % 2));
    // Each of the four parts of 1,003 bytes goes once around in each half, but for one edge.
    for group in 0..2 {
        let sum: u64 = all.messages.iter().filter(|m| m.from % 2 == group).map(|m| m.bytes).sum();
        assert_eq!(sum, 2 * 3 * 1_003);
    }
    let bad =
        |keys: &str| plan(&format!("[workload]\nkind = \"all-reduce\"\n{keys}\n"), &hosts(2, 3)).unwrap_err();
    assert!(
        bad("bytes = 900\ngroup = 4").starts_with("line 4: workload.group: found groups of 4 of 6 hosts")
    );
    assert!(
        bad("bytes = 900\nalgorithm = \"halving-doubling\"")
            .contains("needs a power of two of ranks, found 6")
    );
    assert!(bad("bytes = 5").starts_with("line 3: workload.bytes: found 5, expected at least 6"));
}

/// The bytes that an operation's client and its servers send, and the time that it takes in latencies.
#[test]
fn operations_send_to_distinct_servers_and_end_with_their_last_reply() {
    let cases = [
        ("request-response\"\nrequest = 100\nresponse = 5000\n#", 100, 5_000, 2),
        ("replicated-write\"\nbytes = 9000\nreply = 10\n#", 9_000, 2 * 9_000 + 10, 4),
        ("erasure-write\"\nbytes = 9000\ndata = 4\nparity = 2\nreply = 10\n#", 6 * 2_250, 60, 2),
        ("erasure-read\"\nbytes = 9000\ndata = 4\nrequest = 10\n#", 40, 9_000, 2),
        ("chunked-read\"\nbytes = 9000\nchunk = 4000\nrequest = 10\nservers = 2\n#", 60, 18_000, 6),
    ];
    for (kind, client, servers, latencies) in cases {
        let text = format!(
            "[workload]\nkind = \"{kind}\"\nfrom = 0\noutstanding = 1\nthink = \"1us\"\ntime = \"100us\"\n"
        );
        let all = plan(&text, &hosts(2, 4)).unwrap();
        let latency = 2_000_000;
        let starts = walk(&all, latency);
        let sent = all.messages.iter().zip(&starts).filter_map(|(m, start)| start.map(|_| m));
        let (own, other): (Vec<&Planned>, Vec<&Planned>) = sent.partition(|m| m.from == 0);
        // Operations begin at 0 and then each after its latencies and the thought, before 100 us.
        let period = latencies * latency + 1_000_000;
        let count = 100_000_000u64.div_ceil(period);
        let sum = |list: &[&Planned]| list.iter().map(|m| m.bytes).sum::<u64>();
        assert_eq!((sum(&own), sum(&other)), (client * count, servers * count), "{kind}");
        let begun: BTreeSet<u64> = starts.iter().flatten().copied().filter(|at| at % period == 0).collect();
        assert_eq!(begun.len() as u64, count, "{kind}");
        assert!(all.messages.iter().all(|m| m.from != m.to));
    }
}

#[test]
fn an_open_loop_offers_the_load_in_the_busier_direction() {
    let text = "[workload]\nkind = \"erasure-read\"\nbytes = 60000\ndata = 6\nload = 40\nfrom = \"leaf0\"\nto = \"leaf1, leaf2\"\n\
                time = \"10ms\"\n";
    let all = plan(text, &hosts(3, 4)).unwrap();
    let read: u64 = all.messages.iter().filter(|m| m.to < 4).map(|m| m.bytes).sum();
    // Four clients read 5 GB/s for 10 ms: 3,333 operations, plus or minus three times their root.
    let (mean, spread) = (200_000_000.0, 3.0 * 3_333f64.sqrt() * 60_000.0);
    assert!((read as f64 - mean).abs() < spread, "{read}");
}

/// A closed loop on the fastest imaginable network never runs out of planned operations.
#[test]
fn a_closed_loop_is_planned_for_the_fastest_network() {
    let hosts = hosts(1, 2);
    let text = "[workload]\nkind = \"request-response\"\nrequest = 64\nresponse = 64\nfrom = 0\noutstanding = 3\ntime = \"50us\"\n";
    let all = plan(text, &hosts).unwrap();
    // Two cables of 500 ns for each message, and the client's line for both: 2,010.24 ns.
    let least = 2_000_000 + BitRate::from_gbps(100).time_for(Bytes(128)).as_ps();
    let starts = walk(&all, least / 2);
    let requests: Vec<u64> =
        all.messages.iter().zip(&starts).filter(|(m, _)| m.from == 0).filter_map(|(_, s)| *s).collect();
    assert_eq!(requests.len() as u64, 3 * 50_000_000u64.div_ceil(least));
    assert_eq!(starts.iter().filter(|start| start.is_none()).count(), 0);
}

#[test]
fn several_workloads_have_names_begins_and_streams_of_their_own() {
    let text = "[[workload]]\nsizes = \"solar\"\nload = 20\ntime = \"1ms\"\nname = \"a\"\n\
                [[workload]]\nsizes = \"solar\"\nload = 20\ntime = \"1ms\"\nname = \"b\"\nbegin = \"5ms\"\nwarm_up = \"10us\"\n";
    let both = workloads(text).unwrap();
    assert_eq!(both.time(), Duration::from_millis(6));
    assert_eq!(both.warm(1), Time::ORIGIN + Duration::from_micros(5_010));
    let all = both.plan(&hosts(2, 4), &[], 7).unwrap();
    let (a, b): (Vec<&Planned>, Vec<&Planned>) = all.messages.iter().partition(|m| m.workload == 0);
    assert!(b.iter().all(|m| m.when.start >= Time::ORIGIN + Duration::from_millis(5)));
    let bytes = |list: &[&Planned]| list.iter().map(|m| m.bytes).take(20).collect::<Vec<_>>();
    assert_ne!(bytes(&a), bytes(&b));
    assert!(!a.is_empty() && all.messages[a.len()..].iter().all(|m| m.workload == 1));
}

#[test]
fn loads_above_a_link_are_refused() {
    let hosts = hosts(2, 4);
    let refused = |text: &str| plan(text, &hosts).unwrap_err();
    let error =
        refused("[workload]\nsizes = \"solar\"\nload = 30\ntime = \"1ms\"\nto = 0\nfrom = \"1..7\"\n");
    assert!(
        error.starts_with(
            "line 3: workload.load: host `leaf0-h0` (10.0.0.1) would receive 210 % of its 100Gbps"
        ),
        "{error}"
    );
    let two = |begin| {
        format!(
            "[[workload]]\nsizes = \"solar\"\nload = 60\ntime = \"1ms\"\nname = \"a\"\n\
             [[workload]]\nsizes = \"solar\"\nload = 60\ntime = \"1ms\"\nname = \"b\"\nbegin = \"{begin}\"\n"
        )
    };
    let error = refused(&two("500us"));
    assert!(
        error.starts_with("line 8: workload `b`.load: host `leaf0-h0` (10.0.0.1) would send 120 %"),
        "{error}"
    );
    assert!(plan(&two("1ms"), &hosts).is_ok());
    let error =
        refused("[workload]\nkind = \"incast\"\nbytes = 125000\nto = 0\nperiod = \"20us\"\ntime = \"1ms\"\n");
    assert!(
        error.starts_with("line 5: workload.period: host `leaf0-h0` (10.0.0.1) would receive 350 %"),
        "{error}"
    );
}

#[test]
fn errors_name_line_and_key() {
    let hosts = hosts(2, 4);
    for (text, expected) in [
        ("[workload]\nload = 50\ntime = \"1ms\"\n", "line 2: workload.sizes: is missing"),
        (
            "[workload]\nsizes = \"solar\"\nload = 0\ntime = \"1ms\"\n",
            "line 3: workload.load: found 0, expected 1 to 100",
        ),
        (
            "[workload]\nsizes = \"mail\"\nload = 5\ntime = \"1ms\"\n",
            "line 2: workload.sizes: cannot read mail; expected ali-storage,",
        ),
        (
            "[workload]\nbytes = 0\nload = 5\ntime = \"1ms\"\n",
            "line 2: workload.bytes: found 0, expected a number of bytes",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\n",
            "line 2: workload.time: is missing; set it, for example time = \"1ms\"",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = 3\n",
            "line 4: workload.time: found 3, expected a time such as",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\nwarm_up = \"1ms\"\n",
            "line 5: workload.warm_up: found 1ms, expected a time below",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\nperiod = \"1us\"\n",
            "line 5: workload.period: is not a key of kind `poisson`",
        ),
        ("[workload]\nkind = \"burst\"\n", "line 2: workload.kind: found `burst`, expected poisson, incast"),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\nto = \"leaf7\"\n",
            "line 5: workload.to: there is no host `leaf7`",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\nto = []\n",
            "line 5: workload.to: found [], expected hosts such as",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\nports = 99999\n",
            "line 5: workload.ports: found 99999, expected 1 to 16384",
        ),
        (
            "[workload]\nbytes = 9\nload = 5\ntime = \"1ms\"\ntransport = \"tcp\"\n",
            "line 5: workload.transport: found `tcp`, but",
        ),
        (
            "[workload]\nkind = \"incast\"\nbytes = 9\nto = 0\nfan_in = 8\n",
            "line 5: workload.fan_in: found 8, but host `leaf0-h0`",
        ),
        (
            "[workload]\nkind = \"replicated-write\"\nbytes = 9\noutstanding = 1\ntime = \"1ms\"\nto = \"0..2\"\nreplicas = 3\n",
            "line 7: workload.replicas: an operation needs 3 servers, but client",
        ),
        (
            "[workload]\nkind = \"erasure-read\"\nbytes = 9\ntime = \"1ms\"\ndata = 2\n",
            "line 2: workload.outstanding: is missing",
        ),
        ("workload = 3\n", "invalid type: integer `3`, expected a table [workload]"),
        ("workload = []\n", "found 0 workloads, expected 1 to 64"),
        (
            "[[workload]]\nbytes = 9\nload = 5\ntime = \"1ms\"\n[[workload]]\nbytes = 9\nload = 5\ntime = \"1ms\"\n",
            "line 6: workload.name: another workload is called `poisson`",
        ),
    ] {
        let error = plan(text, &hosts).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Messages that are written as lists and read back are the same messages.
#[test]
fn written_flows_read_back_are_the_same() {
    let hosts = hosts(2, 4);
    let text = "[[workload]]\nkind = \"all-reduce\"\nbytes = 8000\niterations = 2\ngap = \"3us\"\nbegin = \"1us\"\n\
                [[workload]]\nkind = \"erasure-write\"\nbytes = 9000\ndata = 4\nparity = 2\noutstanding = 2\nthink = \"1us\"\ntime = \"50us\"\n\
                [[workload]]\nsizes = \"solar\"\nload = 20\ntime = \"100us\"\n";
    let all = plan(text, &hosts).unwrap();
    let begins = [1, 0, 0].map(|us| Time::ORIGIN + Duration::from_micros(us));
    let list = |number: u8| flow_list::csv::written(&all, number, begins[usize::from(number)], &hosts, &[]);
    let text = "[[workload]]\nflows = \"0\"\ntime = \"1ms\"\nname = \"a\"\nbegin = \"1us\"\n\
                [[workload]]\nflows = \"1\"\ntime = \"50us\"\nname = \"b\"\n\
                [[workload]]\nflows = \"2\"\ntime = \"100us\"\nname = \"c\"\n";
    let mut again = workloads(text).unwrap();
    again.open(|name| Ok(list(name.parse().unwrap()).into_bytes())).unwrap();
    let again = again.plan(&hosts, &[], 99).unwrap();
    assert_eq!(again.messages.len(), all.messages.len());
    for (a, b) in all.messages.iter().zip(&again.messages) {
        let what = |m: &Planned| (m.from, m.to, m.bytes, m.port, m.workload, m.when.until);
        let needs = |plan: &Plan, m: &Planned| m.when.gate.map(|gate| plan.needs(gate).to_vec());
        assert_eq!((what(a), needs(&all, a)), (what(b), needs(&again, b)));
    }
    assert_eq!(walk(&all, 2_000_000), walk(&again, 2_000_000));
}

#[test]
fn the_names_of_distributions_are_those_of_the_generators() {
    for name in Cdf::published_names() {
        assert!(Sizes::named(name).mean() > 0, "{name}");
    }
    assert_eq!(Sizes::named("other").mean(), 0);
}

/// Messages of a plan: sender, receiver, bytes, and start in us if each arrives after 10 us.
fn walked(text: &str) -> Vec<(u32, u32, u64, u64)> {
    let all = plan(text, &hosts(1, 2)).unwrap();
    let starts = walk(&all, 10_000_000);
    let sent = all.messages.iter().zip(starts);
    sent.filter_map(|(m, start)| Some((m.from, m.to, m.bytes, start? / 1_000_000))).collect()
}

#[test]
fn transfers_of_su_rdma_have_a_mode_by_size() {
    let of = |bytes: &str, keys: &str| {
        let text =
            "[workload]\nkind = \"su-rdma\"\nfrom = \"0\"\nto = \"1\"\noutstanding = 1\ntime = \"1us\"\n";
        walked(&format!(
            "{text}send_up_to = \"4KB\"\nread_from = \"64KB\"\npoll = \"2us\"\nbytes = \"{bytes}\"\n{keys}"
        ))
    };
    // A Send, and a credit update 2 us after it has arrived. With a CRC of 4 kB at 1 Gb/s, 32 us later.
    assert_eq!(of("4KB", ""), [(0, 1, 4_000, 0), (1, 0, 64, 12)]);
    assert_eq!(of("4KB", "crc = \"1Gbps\""), [(0, 1, 4_000, 0), (1, 0, 64, 44)]);
    // A Write with "Write Done" behind it.
    assert_eq!(of("4001B", ""), [(0, 1, 4_065, 0), (1, 0, 64, 12)]);
    // A description; a Read request after 12 us and its data at 22 us; "Read Done" and the credit update at 34 us.
    let read = [(0, 1, 64, 0), (1, 0, 16, 12), (0, 1, 64_000, 22), (1, 0, 64, 34), (1, 0, 64, 34)];
    assert_eq!(of("64KB", ""), read);
    let error = |keys: &str| {
        let text = "[workload]\nkind = \"su-rdma\"\nbytes = 9\ntime = \"1us\"\n";
        plan(&format!("{text}{keys}"), &hosts(1, 2)).unwrap_err()
    };
    let sizes = "send_up_to = 9\nread_from = 10\n";
    for (keys, why) in [
        ("outstanding = 4\nsend_up_to = 9\nread_from = 9", "found 9, expected more than send_up_to, 9"),
        ("outstanding = 4\nread_from = 9", "send_up_to: is missing"),
        (
            &format!("outstanding = 4\ncredit_update = 3\n{sizes}"),
            "expected a number that divides `outstanding`",
        ),
        (&format!("load = 4\ncredit_update = 2\n{sizes}"), "with `load` 1"),
        (&format!("outstanding = 4\ncrc = \"0bps\"\n{sizes}"), "crc: found 0, expected a rate"),
    ] {
        assert!(error(keys).contains(why), "{keys}: {}", error(keys));
    }
}

#[test]
fn credits_come_back_for_several_messages_at_once() {
    let text = "[workload]\nkind = \"su-rdma\"\nfrom = \"0\"\nto = \"1\"\noutstanding = 4\ncredit_update = 2\ntime = \"1us\"\n\
                send_up_to = \"4KB\"\nread_from = \"64KB\"\nbytes = 100\n";
    let twice = [(0, 1, 100, 0), (0, 1, 100, 0), (1, 0, 64, 10)];
    assert_eq!(walked(text), [twice, twice].concat());
}

#[test]
fn disk_operations_of_sk_rdma_are_moved_by_the_storage_server() {
    let of = |kind: &str| {
        let text = format!(
            "[workload]\nkind = \"{kind}\"\nfrom = \"0\"\nto = \"1\"\noutstanding = 1\ntime = \"1us\"\nbytes = \"8KB\"\n\
             request = 200\nservice = \"100us\"\nregistration = \"3us\"\npoll = \"2us\"\ncrc = \"1Gbps\""
        );
        let all = plan(&text, &hosts(1, 2)).unwrap();
        // The registration in front of a request belongs to the queue to its server; the walk does not see it.
        let queued: Vec<_> =
            all.requests.iter().map(|(message, r)| (*message, r.queue, r.registration)).collect();
        assert_eq!(queued, [(0, 1, Duration::from_micros(3))]);
        walked(&text)
    };
    // 8 kB take 64 us at 1 Gb/s. The Write and the response leave at 10 + 2 + 100 + 64 us.
    assert_eq!(of("sk-rdma-read"), [(0, 1, 200, 0), (1, 0, 8_064, 176)]);
    // A Read request at 12, data at 22; polled at 34, checked at 98, and on the disk at 198 us.
    assert_eq!(of("sk-rdma-write"), [(0, 1, 200, 0), (1, 0, 16, 12), (0, 1, 8_000, 22), (1, 0, 64, 198)]);
}
