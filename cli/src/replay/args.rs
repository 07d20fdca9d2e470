//! Arguments of `sluice replay`.

use crate::console::numbers::{number, quantity, threads};
use crate::open::target::{Placing, Target};
use clap::{Args, Parser, ValueEnum};
use sluice_asic::units::{BitRate, Duration, Length};
use sluice_catalogue::Catalogue;
use sluice_pcaps::replay::Pace;
use sluice_replay::parse_pace;
use std::num::NonZero;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Program to run: a name, or a .sluice or .p4 file
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) placing: Placing,
    /// Capture to send into a port, repeatable: 0@trace.pcap or 1/0@trace.pcap (front panel), Ethernet0@trace.pcap (with
    /// --port-map), dev:137@trace.pcapng.gz, 0@- (stdin). The format is pcap or pcapng, plain, gzip or zstd. Several
    /// captures are merged by time. In a network hosts@trace.pcap sends each frame from the host of its source address
    #[arg(short, long = "input", value_name = "PORT@FILE")]
    pub(crate) inputs: Vec<String>,
    /// Folder for out.pcapng, summary.json, report.json, entries.toml and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the results as one self-contained page: drops by cause, ports, latency, queues, pools and pauses over time,
    /// counters; with --story, the life of the flow
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Entries that replace the default ones: a .toml file, or lines such as `table_add`. In a network, FILE is for all
    /// switches that run the program, SWITCH=FILE for one switch, and a folder has SWITCH.toml for each; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) entries: Vec<String>,
    #[command(flatten)]
    pub(crate) own: crate::replay::OwnArgs,
    /// Changes of entries during the run: lines such as `@1.5ms table_delete ipv4_route 3`, with the time since the
    /// first packet. In a network the switch follows the time, `*` for all that run the program
    #[arg(long, value_name = "FILE")]
    pub(crate) changes: Option<PathBuf>,
    /// Speed of the front-panel ports, for example 100G
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
    /// Speed of one port, repeatable: 20=100G; in a network leaf0:20=100G
    #[arg(long = "port", value_name = "PORT=RATE")]
    pub(crate) port_speeds: Vec<String>,
    /// Pace of each input port: original, top or line-rate, a factor (2.5x), a packet rate (1.5Mpps) or a bit rate
    /// (40Gbps, with padding, FCS, preamble and gap)
    #[arg(long, default_value = "original", group = "pace", value_parser = pace)]
    pub(crate) speed: Pace,
    /// tcpreplay's name of --speed Nx
    #[arg(long, value_name = "N", group = "pace", conflicts_with = "speed")]
    pub(crate) multiplier: Option<String>,
    /// tcpreplay's name of --speed Npps
    #[arg(long, value_name = "N", group = "pace", conflicts_with = "speed")]
    pub(crate) pps: Option<String>,
    /// tcpreplay's name of --speed NMbps
    #[arg(long, value_name = "N", group = "pace", conflicts_with = "speed")]
    pub(crate) mbps: Option<String>,
    /// tcpreplay's name of --speed top
    #[arg(long, group = "pace", conflicts_with = "speed")]
    pub(crate) topspeed: bool,
    /// Number of times that the inputs are sent; 0: until --limit or --duration
    #[arg(long = "loop", default_value_t = 1, value_name = "N", value_parser = number::<u64>(..))]
    pub(crate) loops: u64,
    /// Send at most this many packets, over all ports: 1000, 10k, 2M
    #[arg(long, value_name = "N", value_parser = number::<u64>(..))]
    pub(crate) limit: Option<u64>,
    /// Send no packet after this simulated time: 5us, 1.5s
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) duration: Option<Duration>,
    /// Change IP addresses by one in each loop, so that every loop has separate flows: src, dst, or both as in
    /// tcpreplay (the lower address increases, the higher one decreases). Checksums are updated
    #[arg(
        long,
        visible_alias = "loop-rewrite",
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both"
    )]
    pub(crate) unique_ip: Option<Addresses>,
    /// Search the highest rate without loss (no-drop rate), then replay at it; all input ports send at the same rate
    #[arg(long, conflicts_with_all = ["functional", "trace", "trace_out", "pace", "timeline"])]
    pub(crate) find_ndr: bool,
    /// Resolution of --find-ndr: largest distance to the lowest rate with loss [default: 1/1000 of the line rate]
    #[arg(long, value_name = "RATE", requires = "find_ndr", value_parser = quantity::<BitRate>)]
    pub(crate) ndr_resolution: Option<BitRate>,
    /// Run without time and queues: the same passes, one after another
    #[arg(long, conflicts_with_all = ["timeline", "trace_out"])]
    pub(crate) functional: bool,
    /// Print what happens to each packet: parser states, tables, entries, actions, cycles
    #[arg(long)]
    pub(crate) trace: bool,
    /// Print the trace of the packets for which a condition holds: `table == acl && port == 3`, `packet == 17`,
    /// `ipv4.dst == 10.0.0.0/8 && fate == dropped`. Names are packet, switch, port, out, fate, reason, gress, table, action,
    /// entry, stage, and the program's fields
    #[arg(long = "where", value_name = "CONDITION", requires = "trace")]
    pub(crate) trace_where: Option<String>,
    /// Treat a capture that ends inside a record as an error
    #[arg(long)]
    pub(crate) strict: bool,
    /// Seed of every random number in the run; recorded in summary.json
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(..))]
    pub(crate) seed: u64,
    /// Simulated time after the last packet in which the switch may empty itself
    #[arg(long, default_value = "10ms", value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) drain: Duration,
    /// Data-plane clock at time zero
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) clock_origin: Duration,
    /// Recirculations after which a packet is given up (`too_many_laps`)
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = number::<u32>(1..))]
    pub(crate) max_recirculations: u32,
    /// Tail-drop limit of each queue, in cells
    #[arg(long, default_value_t = 2048, value_name = "CELLS", value_parser = number::<u32>(..))]
    pub(crate) queue_limit: u32,
    /// Scheduler of the queues of a port
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scheduler: SchedulerKind,
    /// Executor of the passes
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineKind,
    /// Write the packets that ended inside to this pcapng, with reason and place as comments; dropped and absorbed
    /// packets are on separate interfaces
    #[arg(long, value_name = "FILE")]
    pub(crate) drops: Option<PathBuf>,
    /// Comment each packet of out.pcapng: fate, path, latency, time in the queue, ECN
    #[arg(long, requires = "output")]
    pub(crate) comments: bool,
    /// Shared buffer with priority groups, PFC at the MACs and ECN marking, instead of limits per queue. PROFILE is
    /// `chip` for the chip's own, td2, td3, th, th2, th3, th5, tofino, tofino2, voq, a TOML file, or SONiC's files joined by `+`:
    /// config_db.json+pg_profile_lookup.ini
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["functional", "queue_limit"])]
    pub(crate) buffer: Option<String>,
    /// Let senders obey the PFC frames of the switch: frames of paused priorities wait
    #[arg(long, conflicts_with_all = ["functional", "find_ndr"])]
    pub(crate) obey_pfc: bool,
    /// Length of the cables to senders that obey PFC
    #[arg(long, value_name = "LENGTH", default_value = "5m", requires = "obey_pfc", value_parser = quantity::<Length>)]
    pub(crate) cable: Length,
    /// Check the properties of the program and those of every program, and say which hold. A property that fails is in
    /// `violations`, and the exit code is 1. Keeps every packet in memory
    #[arg(long)]
    pub(crate) check: bool,
    /// Report which parser states, transitions, tables, actions, conditions and comparisons the packets reached; with
    /// -o also as coverage.json, coverage.txt and coverage.html
    #[arg(long, conflicts_with = "trace")]
    pub(crate) coverage: bool,
    /// Network of switches that run the program: a TOML file, a file of the HPCC or ConWeave ns-3 simulators, or a
    /// builder such as leaf-spine:leaves=8,spines=8,delay=1us (chain, dumbbell, two-tor, leaf-spine, fat-tree, clos5,
    /// dring, wan). Inputs name switch and port: leaf0:0@trace.pcap
    #[arg(long, value_name = "TOPOLOGY")]
    pub(crate) topology: Option<String>,
    /// Print the life of one RoCEv2 flow as a sequence diagram, in the terms of the program (`conweave`). FLOW is
    /// sender, UDP source port and receiver: 10.0.0.1:49152-10.0.1.1. With -o also as story.txt and story.svg
    #[arg(long, value_name = "FLOW", requires = "topology")]
    pub(crate) story: Option<sluice_fabric::story::RoceFlow>,
    /// Run the control plane that comes with the program: it receives digests and writes entries. SETTINGS are KEY=VALUE
    /// joined by commas. That of `conweave` installs hot flows and removes idle ones; its keys are rows (of the flow table,
    /// default all), after (number of digests, default 3), latency (of the control plane, default 50us), interval (between
    /// two operations, default 1us), reply (theta_reply in ticks, default 8). `--set known=0` starts without known flows
    #[arg(long, visible_alias = "hot-flows", value_name = "SETTINGS", conflicts_with_all = ["find_ndr", "obey_pfc", "functional"], num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) control_plane: Option<String>,
    /// Threads on which a network runs; results do not depend on it
    #[arg(long, default_value = "1", value_name = "N", requires = "topology", value_parser = threads)]
    pub(crate) threads: NonZero<usize>,
    #[command(flatten)]
    pub(crate) timelines: crate::output::timeline::TimelineArgs,
    #[command(flatten)]
    pub(crate) traces: crate::output::trace_out::TraceOutArgs,
}

impl ReplayArgs {
    /// Returns the arguments of a run without arguments: the first program of the catalogue.
    pub(crate) fn of_first(catalogue: &Catalogue) -> ReplayArgs {
        #[derive(Parser)]
        struct Only {
            #[command(flatten)]
            replay: ReplayArgs,
        }
        let program = catalogue.first().map_or("", |program| program.name());
        Only::parse_from(["sluice", program]).replay
    }
}

/// Executor of the passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineKind {
    /// The placed program, with generated code if the binary has it
    #[default]
    Fast,
    /// The placed program, without generated code
    Steps,
    /// The interpreter of the program text: same results, much slower
    Reference,
}

/// Scheduler of a port's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerKind {
    /// Strict priority, queue 7 first
    #[default]
    Strict,
    /// Deficit weighted round robin over all queues, with equal weights
    Dwrr,
}

/// Addresses that change from loop to loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Addresses {
    /// Source addresses increase
    Src,
    /// Destination addresses increase
    Dst,
    /// The lower address increases, the higher one decreases
    Both,
}

fn pace(text: &str) -> Result<Pace, String> {
    parse_pace(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::ReplayArgs;
    use crate::console::hint::of;
    use crate::report::ReportArgs;

    fn words(line: &[&str], to: &str, without: &[&str]) -> String {
        let line = line.iter().map(|word| (*word).to_owned());
        match to {
            "report" => of::<ReplayArgs, ReportArgs>(line, "replay", "l3-ecmp", without),
            _ => of::<ReplayArgs, ReplayArgs>(line, "replay", "l3-ecmp", without),
        }
    }

    #[test]
    fn arguments_of_the_user_are_repeated() {
        let line =
            ["--json", "replay", "ecmp", "-i", "0@my trace.pcap", "-o", "out", "--trace", "--set", "seed=1"];
        assert_eq!(words(&line, "replay", &[]), "ecmp -i '0@my trace.pcap' -o out --trace --set seed=1");
        let without = ["-o", "--output", "--trace"];
        assert_eq!(words(&line, "replay", &without), "ecmp -i '0@my trace.pcap' --set seed=1");
        assert_eq!(words(&line, "report", &["-o"]), "ecmp --set seed=1");
        assert_eq!(words(&["replay", "ecmp", "--output=out"], "replay", &["--output"]), "ecmp");
        assert_eq!(
            words(&["replay", "ecmp", "--unique-ip", "-DX=1", "--limit", "5"], "replay", &["--limit"]),
            "ecmp --unique-ip -DX=1"
        );
        assert_eq!(words(&[], "replay", &[]), "l3-ecmp");
    }
}
