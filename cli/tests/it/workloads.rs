//! Workloads of contests in real networks, against closed forms.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Line time of a full packet at 100 Gb/s, ps: 1,000 bytes of payload, 58 of headers, FCS, preamble and gap.
const PACKET: u64 = (1_000 + 58 + 4 + 8 + 12) * 80;
/// Line time of an acknowledgement: a frame of minimum size.
const ACK: u64 = (64 + 8 + 12) * 80;

/// A contest on two leaves with four hosts of 100 Gb/s each; hosts send at the link rate, and buffers are not shared.
fn contest(workloads: &str) -> String {
    format!(
        "name = \"a test\"\ntopology = \"leaf-spine:leaves=2,spines=1,hosts=4,rate=100G,delay=500ns\"\n\
         port_speed = \"100G\"\nseeds = [7]\n{workloads}\n[hosts]\ncable = \"500ns\"\nrecovery = \"go-back-n\"\n\
         [[program]]\nname = \"ecmp\"\n"
    )
}

/// A message of a run; times in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    pair: usize,
    from: u8,
    to: u8,
    bytes: u64,
    start: u64,
    end: u64,
}

fn sluice(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(dir).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn ok(dir: &Path, args: &[&str]) {
    let (code, text, error) = sluice(dir, args);
    assert_eq!(code, 0, "{text}{error}");
}

/// Runs the contest of a folder and returns its messages by pair; hosts have their numbers.
fn run(dir: &Path, text: &str) -> Vec<Sent> {
    fs::write(dir.join("c.toml"), text).unwrap();
    ok(dir, &["run", "c.toml", "-o", "out"]);
    let table = fs::read_to_string(dir.join("out/messages.csv")).unwrap();
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| -> Sent {
        let cells: BTreeMap<&str, &str> = names.iter().copied().zip(line.split(',')).collect();
        let number = |name| cells[name].parse::<u64>().unwrap();
        let host = |name| {
            let octets: Vec<u8> = cells[name].split('.').map(|octet| octet.parse().unwrap()).collect();
            octets[2] * 4 + octets[3] - 1
        };
        let (pair, bytes) = (number("pair") as usize, number("bytes"));
        Sent {
            pair,
            from: host("from"),
            to: host("to"),
            bytes,
            start: number("start_ps"),
            end: number("end_ps"),
        }
    };
    let mut sent: Vec<Sent> = lines.map(row).collect();
    sent.sort_by_key(|sent| sent.pair);
    // Nothing is missing, and each packet was sent once.
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.join("out/contest.json")).unwrap()).unwrap();
    let numbers = &json["contests"][0]["programs"][0]["numbers"];
    let count = |name: &str| numbers[name]["mean"].as_f64().unwrap() as u64;
    assert_eq!((count("unfinished"), count("dropped"), count("resent")), (0, 0, 0));
    assert_eq!(count("sent"), sent.iter().map(|sent| sent.bytes.div_ceil(1_000)).sum::<u64>());
    sent
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Time of one packet between two hosts of a leaf, and of its acknowledgement, in an idle network.
fn lone() -> (u64, u64) {
    let dir = folder();
    fs::write(dir.path().join("f.csv"), "from,to,bytes,after\n0,1,1000,\n1,0,1000,1\n").unwrap();
    let sent = run(dir.path(), &contest("[workload]\nflows = \"f.csv\"\ntime = \"1us\""));
    // The answer begins when the packet has arrived.
    let arrived = sent[1].start;
    (arrived, sent[0].end - arrived)
}

fn near(found: u64, expected: u64, tolerance: u64) {
    assert!(found.abs_diff(expected) <= tolerance, "found {found} ps, expected {expected} ps");
}

/// A ring of n ranks takes 2 (n - 1) times the time of a part. A rank acknowledges the last packet of a part before it sends
/// the next part; the acknowledgements of the other packets find the line idle, because a part is shorter than a trip.
/// Packets of four ranks that arrive together enter the switch's pipe one clock cycle after the other, 0.67 ns each.
#[test]
fn a_ring_all_reduce_takes_its_steps_to_three_nanoseconds_each() {
    let (one, _) = lone();
    let packets = 8;
    let part = one + (packets - 1) * PACKET;
    let text =
        "[workload]\nkind = \"all-reduce\"\nhosts = \"leaf0\"\nbytes = 32000\niterations = 2\ngap = \"10us\"";
    let sent = run(folder().path(), &contest(text));
    assert_eq!(sent.len(), 2 * 6 * 4);
    for (place, message) in sent.iter().enumerate() {
        let (iteration, step) = (place as u64 / 24, place as u64 / 4 % 6);
        // An iteration ends when the last part has arrived; its acknowledgement is not waited for.
        let whole = 6 * part + 5 * ACK + 10_000_000;
        let expected = iteration * whole + step * part + step.saturating_sub(1) * ACK;
        assert_eq!((message.to, message.bytes), ((message.from + 1) % 4, 8_000));
        near(message.start, expected, 3_000 * (step + 6 * iteration));
    }
}

/// The receiver's link carries all packets without a break, after the first one has come.
#[test]
fn an_incast_ends_when_its_last_packet_has_passed_the_receivers_link() {
    let (one, back) = lone();
    let text = "[workload]\nkind = \"incast\"\nfrom = \"leaf0\"\nto = 0\nbytes = 20000";
    let sent = run(folder().path(), &contest(text));
    assert_eq!(sent.len(), 3);
    let last = sent.iter().map(|sent| sent.end).max().unwrap();
    near(last, one + (3 * 20 - 1) * PACKET + back, 2_000);
}

/// The number of operations between their beginning and their last arrival is the number outstanding.
#[test]
fn a_closed_loop_keeps_its_operations_outstanding() {
    let (_, back) = lone();
    let outstanding = 3;
    let text = format!(
        "[workload]\nkind = \"request-response\"\nfrom = 0\nto = \"1..3\"\nrequest = 64\nresponse = 1000\n\
         outstanding = {outstanding}\ntime = \"40us\""
    );
    let sent = run(folder().path(), &contest(&text));
    // A request's response has the pair after its own.
    let operations: Vec<(u64, u64)> = sent
        .chunks(2)
        .map(|pair| {
            assert_eq!((pair[0].from, pair[0].pair + 1, pair[0].to), (0, pair[1].pair, pair[1].from));
            (pair[0].start, pair[1].end - back)
        })
        .collect();
    assert!(operations.len() > 20 && operations.iter().all(|(start, _)| *start < 40_000_000));
    // The last acknowledgement of a response can wait for a request on the client's line.
    let slack = 20_000;
    for (now, _) in &operations {
        let open = operations.iter().filter(|(start, end)| *start <= *now && now + slack < *end).count();
        assert_eq!(open, outstanding, "at {now} ps");
    }
    // Little's law: rate times time is the number outstanding, but for the operations that the end cuts off.
    let sum: u64 = operations.iter().map(|(start, end)| (*end).min(40_000_000) - start).sum();
    near(sum, outstanding as u64 * 40_000_000, operations.len() as u64 * slack);
}

#[test]
fn a_chain_of_replicas_delivers_three_times_the_bytes() {
    let text = "[workload]\nkind = \"replicated-write\"\nsizes = \"solar\"\nfrom = \"leaf0\"\nto = \"leaf1\"\nload = 5\ntime = \"30us\"";
    let sent = run(folder().path(), &contest(text));
    let of = |client: bool, reply: bool| -> u64 {
        let some = sent.iter().filter(|s| (s.from < 4) == client && (s.to < 4) == reply);
        some.map(|s| s.bytes).sum()
    };
    let (written, passed_on, replies) = (of(true, false), of(false, false), of(false, true));
    assert!(written > 0 && passed_on == 2 * written);
    assert_eq!(replies, 64 * sent.len() as u64 / 4);
    // Each message of a chain begins after the one before has arrived.
    assert!(sent.chunks(4).all(|chain| chain.windows(2).all(|w| w[0].start < w[1].start)));
}

/// A window of one chunk from each server: a chunk takes a request, the chunk itself and nothing else.
#[test]
fn chunks_are_asked_for_when_others_have_arrived() {
    let (one, _) = lone();
    let text = "[workload]\nkind = \"chunked-read\"\nfrom = 0\nto = 1\nbytes = 12000\nchunk = 4000\nrequest = 1000\n\
                outstanding = 1\ntime = \"1us\"";
    let sent = run(folder().path(), &contest(text));
    let starts: Vec<u64> = sent.iter().map(|s| s.start).collect();
    // Requests and chunks alternate; each waits for the acknowledgement of the packet before it on the line.
    let (request, chunk) = (one, one + 3 * PACKET);
    let mut at = 0;
    for (place, start) in starts.iter().enumerate() {
        near(*start, at, 1_000 * (place as u64 + 1));
        let before = if place == 0 { 0 } else { ACK };
        at += before + if place % 2 == 0 { request } else { chunk };
    }
    assert_eq!(sent.iter().map(|s| s.bytes).collect::<Vec<_>>(), [1_000, 4_000, 1_000, 4_000, 1_000, 4_000]);
}

const MIXED: &str = "[[workload]]\nkind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nbytes = 64000\niterations = 2\ngap = \"2us\"\nname = \"train\"\n\
    [[workload]]\nkind = \"erasure-read\"\nbytes = 12000\ndata = 3\noutstanding = 2\nthink = \"1us\"\ntime = \"20us\"\nbegin = \"5us\"\nfrom = \"0, 5\"\n\
    [[workload]]\nsizes = \"solar\"\nload = 20\ntime = \"20us\"\nname = \"web\"\n";

#[test]
fn several_workloads_written_as_lists_give_the_same_results() {
    let dir = folder();
    let messages = || fs::read_to_string(dir.path().join("out/messages.csv")).unwrap();
    run(dir.path(), &contest(MIXED));
    let first = messages();
    // Each workload has numbers of its own, and together they have all messages.
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("out/contest.json")).unwrap()).unwrap();
    let numbers = &json["contests"][0]["programs"][0]["numbers"];
    let count = |name: &str| numbers[name]["mean"].as_f64().unwrap() as usize;
    let sum: usize =
        ["train", "erasure_read", "web"].iter().map(|name| count(&format!("workload.{name}.messages"))).sum();
    assert_eq!((sum, count("workload.train.messages")), (first.lines().count() - 1, 2 * 6 * 8));
    assert!(count("workload.web.avg") >= 1_000 && count("workload.web.fct_avg_ns") > 0);
    ok(dir.path(), &["run", "c.toml", "--write-flows", "lists"]);
    let names = ["train", "erasure_read", "web"];
    let list = |(name, begin, time): (&str, &str, &str)| {
        format!(
            "[[workload]]\nkind = \"flows\"\nflows = \"lists/{name}.7.csv\"\nname = \"{name}\"\nbegin = \"{begin}\"\ntime = \"{time}\"\n"
        )
    };
    let times = [("0ns", "1ms"), ("5us", "20us"), ("0ns", "20us")];
    let lists: String = names.into_iter().zip(times).map(|(n, (b, t))| list((n, b, t))).collect();
    run(dir.path(), &contest(&lists));
    assert!(first == messages(), "lists give other messages");
    // Threads change nothing.
    ok(dir.path(), &["run", "c.toml", "--threads", "2", "-o", "two"]);
    let two = fs::read_to_string(dir.path().join("two/messages.csv")).unwrap();
    assert!(first == two, "two threads give other messages");
    // The lists are in the manifest.
    let manifest = fs::read_to_string(dir.path().join("lists/manifest.json")).unwrap();
    assert!(names.iter().all(|name| manifest.contains(&format!("{name}.7.csv"))), "{manifest}");
}

#[test]
fn a_capture_becomes_its_flows() {
    let dir = folder();
    let flows = "src,dst,proto,bytes,sport,start\n192.168.0.9,192.168.0.1,udp,30000,1111,0us\n\
                 192.168.0.1,192.168.0.7,tcp,50000,2222,3us\n192.168.0.9,192.168.0.7,roce,20000,3333,5us\n";
    fs::write(dir.path().join("flows.csv"), flows).unwrap();
    ok(dir.path(), &["gen", "flows", "flows.csv", "-o", "flows.pcapng"]);
    let text = "[workload]\nkind = \"capture\"\ncapture = \"flows.pcapng\"\ntime = \"1ms\"";
    let sent = run(dir.path(), &contest(text));
    let found: Vec<(u8, u8, u64, u64)> = sent.iter().map(|s| (s.from, s.to, s.bytes, s.start)).collect();
    assert_eq!(found, [(0, 1, 30_000, 0), (1, 2, 50_000, 3_000_000), (0, 2, 20_000, 5_000_000)]);
    // A gap that is shorter than the time between two frames makes a message of each frame.
    let sent = run(dir.path(), &contest(&format!("{text}\ngap = \"1ps\"")));
    assert!(sent.len() > 3 && sent.iter().map(|s| s.bytes).sum::<u64>() == 100_000);
    let refused = |text: &str| {
        fs::write(dir.path().join("c.toml"), contest(text)).unwrap();
        sluice(dir.path(), &["run", "c.toml"])
    };
    let (code, _, error) = refused(&format!("{text}\naddresses = \"same\""));
    assert!(
        code == 2
            && error.contains("c.toml: line 9: workload.addresses: flows.pcapng has the address 192.168.0.9"),
        "{error}"
    );
    let (code, _, error) = refused("[workload]\nkind = \"capture\"\ncapture = \"c.toml\"\ntime = \"1ms\"");
    assert!(
        code == 2 && error.contains("c.toml: line 7: workload.capture: c.toml: not a capture"),
        "{error}"
    );
}

#[test]
fn lists_that_do_not_fit_are_refused_before_anything_runs() {
    let dir = folder();
    let refused = |list: &str| {
        fs::write(dir.path().join("f.csv"), list).unwrap();
        fs::write(dir.path().join("c.toml"), contest("[workload]\nflows = \"f.csv\"\ntime = \"1us\""))
            .unwrap();
        let (code, text, error) = sluice(dir.path(), &["run", "c.toml"]);
        assert_eq!((code, text.as_str()), (2, ""), "{error}");
        error
    };
    for (list, expected) in [
        ("from,to,bytes\n0,8,1\n", "c.toml: line 6: workload.flows: f.csv:2: to: there is no host `8`"),
        ("from,to,bytes\n0,10.0.0.1,1\n", "f.csv:2: to: the flow goes to its own sender"),
        (
            "from,to,bytes,after\n0,1,1,\n2,3,1,1\n",
            "f.csv:3: after: flow number 1 neither ends at `leaf0-h2`",
        ),
        ("from,to,bytes,transport\n0,1,1,tcp\n", "f.csv:2: transport: found `tcp`"),
        ("2\n0 1 3 1 1\n", "f.csv:1: the first line says 2 flows; there are 1"),
    ] {
        let error = refused(list);
        assert!(error.contains(expected), "{list}: {error}");
    }
}
