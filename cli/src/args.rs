//! Arguments of the command line.

use crate::numbers::{number, quantity, threads};
use clap::{Args, Parser, Subcommand, ValueEnum};
use sluice_asic::units::{BitRate, Bytes, Duration, Length};
use sluice_catalogue::Catalogue;
use sluice_pcaps::replay::Pace;
use sluice_place::{Objective, Optimisation, Options};
use sluice_replay::parse_pace;
use std::num::NonZero;
use std::path::PathBuf;

/// Emulator of Tofino-style switches: shows whether a data-plane program fits the chip, and what it does to packets.
///
/// Without a command, replays the embedded sample capture through `l3-ecmp` on a Tofino 2.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print JSON on stdout; diagnostics go to stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors alone: no results for readers, progress, hints and notes. The exit code, --json and files remain
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the stage programs, or the parameters of one
    Programs(ProgramsArgs),
    /// Write a program to start from
    New(crate::new::NewArgs),
    /// Check a .sluice file: can it be read, is it legal, and with --place, does it fit; or check a P4 program
    Check(crate::check::CheckArgs),
    /// Place a program on a chip: does it fit, and with which stages, resources, PHV, parser rows and cycles
    Report(ReportArgs),
    /// Run packet tests (.stf, .toml): entries, packets in, expected packets
    Test(crate::test::TestArgs),
    /// Send captures through an emulated switch, or through a network of switches
    Replay(Box<ReplayArgs>),
    /// Generate captures from a seed: UDP, TCP, RoCEv2, CNP, VXLAN, ARP, PFC, or flows and frames from a file
    Gen(Box<crate::r#gen::GenArgs>),
    /// Explain a word of the output: drop reason, report column, key, assumption
    Explain(ExplainArgs),
    /// Print the default entries of a program, print a template, or check a file of entries
    Entries(EntriesArgs),
    /// Measure whether ECMP hashing leaves links of a network idle (polarisation), under several hashing schemes
    Polarization(Box<crate::polarization::PolarizationArgs>),
    /// Run buffer scenarios, or contests of programs, from TOML files and check their expectations
    Run(crate::run::RunArgs),
    /// Repeat experiments of papers, and set their numbers beside the published ones
    Reproduce(crate::reproduce::ReproduceArgs),
    /// Compare two folders of contest results, number by number
    Compare(crate::compare::CompareArgs),
    /// Hunt for packets that break a property of a program; guided by coverage, shrunk to a small capture
    Fuzz(Box<crate::fuzz::FuzzArgs>),
    /// Count the flowlets of a capture, and measure in which order load balancers deliver it
    Flowlets(Box<crate::flowlets::FlowletsArgs>),
    /// Decode in-band telemetry (INT) in a capture
    Int(crate::int::IntArgs),
    /// Print the JSON Schema of an output of `--json`
    Schema(crate::schema::SchemaArgs),
    /// Print version, features, threads, chips and programs of this binary
    Doctor,
    /// Print a script with which a shell completes commands and options: bash, zsh, fish, elvish, powershell
    Completions(crate::shell::CompletionsArgs),
    /// Write the manual pages of all commands
    Man(crate::shell::ManArgs),
}

/// Program, chip and parameters.
#[derive(Clone, Debug, Args)]
pub(crate) struct Target {
    /// Chip: tofino, tofino2, or a TOML file that changes one of them
    #[arg(long, alias = "target", default_value = "tofino2", value_name = "CHIP")]
    pub(crate) chip: String,
    /// Program parameter, repeatable; `sluice programs NAME` lists them
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) sets: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) p4: crate::p4::P4Args,
}

/// Options of placement.
#[derive(Debug, Clone, Args)]
pub(crate) struct Placing {
    /// Quantity that placement minimises: the number of stages, or the latency of the stages
    #[arg(long, default_value = "stages", value_name = "stages|latency", help_heading = "Placement")]
    objective: Objective,
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "Placement", help = without())]
    without: Vec<Optimisation>,
}

/// Returns the help of `--without`.
fn without() -> String {
    let names: Vec<&str> = Optimisation::ALL.into_iter().map(Optimisation::name).collect();
    format!("Optimisations of placement to turn off, which shows what each saves: {}", names.join(", "))
}

impl Placing {
    /// Returns the options for the placer.
    pub(crate) fn options(&self) -> Options {
        Options { objective: self.objective, without: self.without.iter().copied().collect() }
    }
}

fn pace(text: &str) -> Result<Pace, String> {
    parse_pace(text).map_err(|e| e.to_string())
}

/// Parses `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, for example ipv4_routes=4096")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct ProgramsArgs {
    /// Program to describe: a name, or a .sluice or .p4 file
    pub(crate) program: Option<String>,
    /// Print the program in P4_16, as a whole program for TNA and T2NA
    #[arg(long, requires = "program")]
    pub(crate) p4: bool,
    /// Print the program in Sluice's text form, which is a .sluice file
    #[arg(long, requires = "program", conflicts_with = "p4")]
    pub(crate) ir: bool,
    /// With --ir, write the programs of the switches of this network, with the parameters of their places; needs -o
    #[arg(long, value_name = "TOPOLOGY", requires_all = ["ir", "output"])]
    pub(crate) topology: Option<String>,
    /// Folder for the .sluice files of a network's switches
    #[arg(short, long, value_name = "DIR", requires = "topology")]
    pub(crate) output: Option<PathBuf>,
    /// Speed of the front-panel ports of the network, which decides their dev_ports, for example 100G
    #[arg(long, value_name = "RATE", requires = "topology", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Program to place: a name, or a .sluice or .p4 file
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) placing: Placing,
    /// Print all tables of the report: units by stage, tables, memories, reasons, PHV, parser, deparser, cycles, power
    #[arg(long)]
    pub(crate) full: bool,
    /// Folder for report.txt, report.json, report.html and the vendor's layout
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report as one self-contained page; with --compare, the comparison
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the graph of dependencies, by stage, and the graphs of the parsers for Graphviz: `dot -Tsvg FILE`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "sweep", "watch"])]
    pub(crate) dot: Option<PathBuf>,
    /// Print the columns of the vendor compiler's mau.resources.log and table_summary.log
    #[arg(long, conflicts_with = "json")]
    pub(crate) vendor_layout: bool,
    /// Compare with another report, given by words: PROGRAM, chip=CHIP, objective=AIM, without=NAMES, key=value.
    /// Settings that the words do not name are as in this report
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["vendor_layout", "sweep"])]
    pub(crate) compare: Option<String>,
    /// Place the program for many values of a parameter and find the largest that fits: ipv4_routes=1k..1M
    #[arg(long, value_name = "KEY=FROM..TO", conflicts_with_all = ["vendor_layout", "html"])]
    pub(crate) sweep: Option<String>,
    /// Place the program again whenever its file changes, and print what became different; ends with Ctrl-C, or after N
    /// changes
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "18446744073709551615", conflicts_with_all = ["vendor_layout", "html", "sweep", "compare", "output"], value_parser = number::<u64>(..))]
    pub(crate) watch: Option<u64>,
    /// If the program does not fit: what keeps it from fitting, in order, and the smallest change found that makes it
    /// fit; tried by at most 100 placements
    #[arg(long, conflicts_with_all = ["compare", "sweep", "watch"])]
    pub(crate) why_not: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Word to explain, in any case; without it, all words are listed. `ports` prints the ports of the chip with their
    /// dev_ports, `buffer PROFILE` a buffer profile as a TOML file, `hashing` plans the hashing of a network
    pub(crate) word: Vec<String>,
    /// Input of the hashing plan, repeatable; `sluice explain hashing` lists the keys
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) sets: Vec<(String, String)>,
    /// Chip whose numbers and assumptions are shown
    #[arg(long, default_value = "tofino2", value_name = "CHIP")]
    pub(crate) chip: String,
    /// Speed of the front-panel ports, for the word `ports`
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
    /// Names of the front-panel ports, for the words `ports` and `buffer`
    #[arg(long, value_name = "FILE")]
    pub(crate) port_map: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headroom: HeadroomArgs,
}

/// Inputs of the headroom of a lossless priority group, for the word `headroom`.
#[derive(Debug, Args)]
#[command(next_help_heading = "For the word headroom")]
pub(crate) struct HeadroomArgs {
    /// Rate of the line, for example 100G
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) speed: Option<BitRate>,
    /// Length of the cable, for example 300m
    #[arg(long, value_name = "LENGTH", value_parser = quantity::<Length>)]
    pub(crate) cable: Option<Length>,
    /// Formula of the headroom
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: HeadroomMethod,
    /// Bytes of a buffer cell [default: the chip's]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) cell: Option<Bytes>,
    /// Longest frame of the port [default: 9216B; nvidia and barefoot: 9100B]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) mtu: Option<Bytes>,
    /// Longest frame of lossless traffic [default: 9216B; nvidia and barefoot: 1024B]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) lossless_mtu: Option<Bytes>,
    /// Share of 64-byte packets in percent, for nvidia and barefoot [default: 100]
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) small_packets: Option<u8>,
    /// Latency of a gearbox in the line, in ns [default: 0]
    #[arg(long, value_name = "NS", value_parser = number::<u64>(..))]
    pub(crate) gearbox_ns: Option<u64>,
}

impl HeadroomArgs {
    /// Returns true if at least one of them is given.
    pub(crate) const fn any(&self) -> bool {
        self.speed.is_some()
            || self.cable.is_some()
            || self.cell.is_some()
            || self.mtu.is_some()
            || self.lossless_mtu.is_some()
            || self.small_packets.is_some()
            || self.gearbox_ns.is_some()
    }
}

/// Formula of the headroom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeadroomMethod {
    /// Round trip, reaction time, and one frame in flight at each end
    #[default]
    Ideal,
    /// SONiC's plug-in for NVIDIA
    Nvidia,
    /// SONiC's plug-in for Barefoot
    Barefoot,
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// Program whose entries are shown or checked: a name, or a .sluice or .p4 file
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print a file without entries that explains every table, key, action and parameter
    #[arg(long, conflicts_with = "check")]
    pub(crate) template: bool,
    /// Print what a P4Runtime controller must know of a P4 program: `P4Info` in text form, with the names and ids that p4c gives
    #[arg(long, conflicts_with_all = ["check", "template"])]
    pub(crate) p4info: bool,
    /// Write the entries of the switches of this network, which follow from their places; needs -o. `sluice replay
    /// --topology` and contests take the folder
    #[arg(long, value_name = "TOPOLOGY", requires = "output", conflicts_with_all = ["check", "template", "p4info"])]
    pub(crate) topology: Option<String>,
    /// Folder for SWITCH.toml of each switch of a network
    #[arg(short, long, value_name = "DIR", requires = "topology")]
    pub(crate) output: Option<PathBuf>,
    /// Check a file of entries against the program and the ports of the switch
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Print the entries for the routes of a file; see `sluice replay --routes`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "template", "p4info", "topology"])]
    pub(crate) routes: Option<PathBuf>,
    /// Names of the front-panel ports: SONiC's port_config.ini or config_db.json, or lines `name,front`
    #[arg(long, value_name = "FILE", conflicts_with = "topology")]
    pub(crate) port_map: Option<PathBuf>,
    /// Speed of the front-panel ports, which decides their dev_ports, for example 100G
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
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
    /// `chip` for the chip's own, td2, th, th2, tofino, tofino2, voq, a TOML file, or SONiC's files joined by `+`:
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
    pub(crate) story: Option<sluice_fabric::story::Flow>,
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
    pub(crate) timelines: crate::timeline::TimelineArgs,
    #[command(flatten)]
    pub(crate) traces: crate::trace_out::TraceOutArgs,
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
