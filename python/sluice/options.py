"""Options of commands, by which editors and notebooks complete the arguments of methods.

This file is made by `python/make_options.py` from the declarations of the command line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict

Time = int | float | str
"""Nanoseconds, or a text with a unit such as ``"1.5us"``."""
Path = str | os.PathLike[str]
"""Path of a file or a folder."""
Number = int | float | str
"""A number, or a text such as ``"10k"``."""
Text = str | os.PathLike[str]
"""A text, or the path of a file where the option takes one."""


class P4Options(TypedDict, total=False):
    """Options with which a P4 program is read."""

    I: Path | Sequence[Path]
    """Folder to search for included files, repeatable. A folder with `tna.p4` takes the place of the built-in one"""
    D: Text | Sequence[Text]
    """Define a macro, repeatable; without a value it is 1"""
    U: Text | Sequence[Text]
    """Undefine a macro after all definitions, repeatable"""
    include: Path | Sequence[Path]
    """File to read before the program, repeatable (p4c's `-include`)"""
    arch: Text
    """Architecture, tna or t2na, as p4c takes it. It follows from the chip and from what the program includes; so
    this is only checked. (p4c's `--target` is another spelling of --chip.)"""


class ReportOptions(TypedDict, total=False):
    """Options of ``sluice report``."""

    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    full: bool
    """Print all tables of the report: units by stage, tables, memories, reasons, PHV, parser, deparser, cycles,
    power"""
    output: Path
    """Folder for report.txt, report.json, report.html and the vendor's layout"""
    html: Path
    """Write the report as one self-contained page; with --compare, the comparison"""
    dot: Path
    """Write the graph of dependencies, by stage, and the graphs of the parsers for Graphviz: `dot -Tsvg FILE`"""
    dump: Literal[
        "chip", "flow", "phv", "conditions", "parser", "deparser", "dependencies", "tables", "timing", "verify"
    ]
    """Print the result of a pass of placement in place of the report, also if a later pass finds that the program
    does not fit"""
    vendor_layout: bool
    """Print the columns of the vendor compiler's mau.resources.log and table_summary.log"""
    compare: Text
    """Compare with another report, given by words: PROGRAM, chip=CHIP, objective=AIM, without=NAMES, key=value.
    Settings that the words do not name are as in this report"""
    sweep: Text
    """Place the program for many values of a parameter and find the largest that fits: ipv4_routes=1k..1M"""
    why_not: bool
    """If the program does not fit: what keeps it from fitting, in order, and the smallest change found that makes it
    fit; tried by at most 100 placements"""
    objective: Literal["stages", "latency"]
    """Quantity that placement minimises: the number of stages, or the latency of the stages [default: stages]"""
    without: Text
    """Optimisations of placement to turn off, which shows what each saves: joined-conditions, attached-gateways,
    late-gateways, repeated-conditions, retested-conditions, next-table-pointer, mutual-exclusion, shared-hashes,
    split-tables, packed-metadata, header-overlay, turns, special-containers"""


class ReplayOptions(TypedDict, total=False):
    """Options of ``sluice replay``."""

    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    output: Path
    """Folder for out.pcapng, summary.json, report.json, entries.toml and manifest.json"""
    html: Path
    """Write the results as one self-contained page: drops by cause, ports, latency, queues, pools and pauses over
    time, counters; with --story, the life of the flow"""
    entries: Path | Sequence[Path]
    """Entries that replace the default ones: a .toml file, or lines such as `table_add`. In a network, FILE is for
    all switches that run the program, SWITCH=FILE for one switch, and a folder has SWITCH.toml for each;
    repeatable"""
    routes: Path
    """Routes in place of the default entries, for programs that take routes in networks: the output of FRR's `show
    ip route` or `show ip route json`, of `ip route`, or lines `prefix,port`"""
    port_map: Path
    """Names of the front-panel ports, for inputs, entries and outputs, and of one switch their speeds: SONiC's
    port_config.ini, the table PORT of a config_db.json, or lines `name,front`"""
    flows: Path
    """List of flows that the hosts of the network send, each from the host of its source address: a CSV file as
    `sluice gen flows` takes it"""
    changes: Path
    """Changes of entries during the run: lines such as `@1.5ms table_delete ipv4_route 3`, with the time since the
    first packet. In a network the switch follows the time, `*` for all that run the program"""
    port_speed: Text
    """Speed of the front-panel ports, for example 100G"""
    port: Text | Sequence[Text]
    """Speed of one port, repeatable: 20=100G; in a network leaf0:20=100G"""
    speed: Text
    """Pace of each input port: original, top or line-rate, a factor (2.5x), a packet rate (1.5Mpps) or a bit rate
    (40Gbps, with padding, FCS, preamble and gap) [default: original]"""
    multiplier: Number
    """Tcpreplay's name of --speed Nx"""
    pps: Number
    """Tcpreplay's name of --speed Npps"""
    mbps: Number
    """Tcpreplay's name of --speed NMbps"""
    topspeed: bool
    """Tcpreplay's name of --speed top"""
    loop: Number
    """Number of times that the inputs are sent; 0: until --limit or --duration [default: 1]"""
    limit: Number
    """Send at most this many packets, over all ports: 1000, 10k, 2M"""
    duration: Time
    """Send no packet after this simulated time: 5us, 1.5s"""
    unique_ip: bool | Literal["src", "dst", "both"]
    """Change IP addresses by one in each loop, so that every loop has separate flows: src, dst, or both as in
    tcpreplay (the lower address increases, the higher one decreases). Checksums are updated"""
    find_ndr: bool
    """Search the highest rate without loss (no-drop rate), then replay at it; all input ports send at the same rate"""
    ndr_resolution: Text
    """Resolution of --find-ndr: largest distance to the lowest rate with loss [default: 1/1000 of the line rate]"""
    functional: bool
    """Run without time and queues: the same passes, one after another"""
    trace: bool
    """Print what happens to each packet: parser states, tables, entries, actions, cycles"""
    where: Text
    """Print the trace of the packets for which a condition holds: `table == acl && port == 3`, `packet == 17`,
    `ipv4.dst == 10.0.0.0/8 && fate == dropped`. Names are packet, switch, port, out, fate, reason, gress, table,
    action, entry, stage, and the program's fields"""
    strict: bool
    """Treat a capture that ends inside a record as an error"""
    seed: Number
    """Seed of every random number in the run; recorded in summary.json [default: 1]"""
    drain: Time
    """Simulated time after the last packet in which the switch may empty itself [default: 10ms]"""
    clock_origin: Time
    """Data-plane clock at time zero [default: 1s]"""
    max_recirculations: Number
    """Recirculations after which a packet is given up (`too_many_laps`) [default: 100000]"""
    queue_limit: Number
    """Tail-drop limit of each queue, in cells [default: 2048]"""
    scheduler: Literal["strict", "dwrr"]
    """Scheduler of the queues of a port"""
    engine: Literal["fast", "steps", "reference"]
    """Executor of the passes"""
    drops: Path
    """Write the packets that ended inside to this pcapng, with reason and place as comments; dropped and absorbed
    packets are on separate interfaces"""
    comments: bool
    """Comment each packet of out.pcapng: fate, path, latency, time in the queue, ECN"""
    buffer: Text
    """Shared buffer with priority groups, PFC at the MACs and ECN marking, instead of limits per queue. PROFILE is
    `chip` for the chip's own, td2, td3, th, th2, th3, th5, tofino, tofino2, voq, a TOML file, or SONiC's files
    joined by `+`: config_db.json+pg_profile_lookup.ini"""
    obey_pfc: bool
    """Let senders obey the PFC frames of the switch: frames of paused priorities wait"""
    cable: Text
    """Length of the cables to senders that obey PFC [default: 5m]"""
    check: bool
    """Check the properties of the program and those of every program, and say which hold. A property that fails is
    in `violations`, and the exit code is 1. Keeps every packet in memory"""
    coverage: bool
    """Report which parser states, transitions, tables, actions, conditions and comparisons the packets reached; with
    -o also as coverage.json, coverage.txt and coverage.html"""
    story: Text
    """Print the life of one RoCEv2 flow as a sequence diagram, in the terms of the program (`conweave`). FLOW is
    sender, UDP source port and receiver: 10.0.0.1:49152-10.0.1.1. With -o also as story.txt and story.svg"""
    control_plane: bool | Text
    """Run the control plane that comes with the program: it receives digests and writes entries. SETTINGS are
    KEY=VALUE joined by commas. That of `conweave` installs hot flows and removes idle ones; its keys are rows (of
    the flow table, default all), after (number of digests, default 3), latency (of the control plane, default
    50us), interval (between two operations, default 1us), reply (theta_reply in ticks, default 8). `--set
    known=0` starts without known flows"""
    threads: Number
    """Threads on which a network runs; results do not depend on it [default: 1]"""
    objective: Literal["stages", "latency"]
    """Quantity that placement minimises: the number of stages, or the latency of the stages [default: stages]"""
    without: Text
    """Optimisations of placement to turn off, which shows what each saves: joined-conditions, attached-gateways,
    late-gateways, repeated-conditions, retested-conditions, next-table-pointer, mutual-exclusion, shared-hashes,
    split-tables, packed-metadata, header-overlay, turns, special-containers"""
    timeline: Path | Sequence[Path]
    """Write contents, pauses and watermarks of pools, priority groups, headroom and queues over time: .csv,
    .parquet, or .svg for a drawing; repeatable. In a network tables have a column for the switch, and each switch
    has a separate drawing: FILE.SWITCH.svg"""
    timeline_every: Time
    """Sample at multiples of this time, for example 1us, instead of at every change; also for the plots of a page"""
    trace_out: Path
    """Write packets through parsers, stages, queues, links and hosts for Perfetto (ui.perfetto.dev) or
    chrome://tracing: .json, or .json.gz. Times are simulated"""
    trace_every: Number
    """Trace every Nth packet [default: 1]"""
    trace_packets: Number
    """Trace at most N packets, or N packets and N answers of a message; the file says how many it leaves out
    [default: 10k]"""


class FuzzOptions(TypedDict, total=False):
    """Options of ``sluice fuzz``."""

    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    time: Time
    """Hunt for this long, in wall time [default: 60s without --cases]"""
    min_coverage: Number
    """Exit with code 1 if less than this share of the reachable coverage points was reached"""
    jobs: Number
    """Number of threads [default: all cores]"""
    output: Path
    """Folder for fuzz.json, the coverage report, and for each failure captures, entries and the command that replays
    them"""
    corpus: Path
    """Folder of inputs that reached new coverage: they are sent first, and the hunt adds those that it finds. The
    name of a file follows from its content"""
    merge: Path | Sequence[Path]
    """Add the inputs of another corpus that reach something new, repeatable; without --time and --cases nothing else
    is sent"""
    minimise: bool
    """Keep only the fewest inputs of the corpus that reach the same coverage; without --time and --cases nothing
    else is sent"""
    html: Path
    """Write the results as one self-contained page: findings, coverage on the program's text, mutants if they were
    run"""
    entries: Path
    """Entries that replace the default ones: a .toml file, or lines such as `table_add`"""
    buffer: Text
    """Shared buffer, as in `sluice replay`, or `random` to draw a profile from the seed. The hunt also looks for its
    drop rules. In half of all inputs the senders obey PFC, and no lossless packet may be dropped"""
    compare: Number
    """Compare the engine with the reference interpreter on every Nth input, and on every input with new coverage.
    The interpreter takes most of the time [default: 1]"""
    mutants: bool | Number
    """After the hunt, test the properties: run all mutants of the program (copies with one mistake), or N of them,
    and report which ones a property, or a comparison with the original, notices"""
    junit: Path
    """Write the verdicts as JUnit XML, which CI systems show as tests"""
    sarif: Path
    """Write what failed as SARIF 2.1.0, which code hosts show beside the lines"""


class HuntOptions(P4Options, total=False):
    """Options of ``sluice fuzz``."""

    chip: Text
    """Chip: tofino, tofino2, or a TOML file that changes one of them [default: tofino2]"""
    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    min_coverage: Number
    """Exit with code 1 if less than this share of the reachable coverage points was reached"""
    entries: Path
    """Entries that replace the default ones: a .toml file, or lines such as `table_add`"""
    buffer: Text
    """Shared buffer, as in `sluice replay`, or `random` to draw a profile from the seed. The hunt also looks for its
    drop rules. In half of all inputs the senders obey PFC, and no lossless packet may be dropped"""
    compare: Number
    """Compare the engine with the reference interpreter on every Nth input, and on every input with new coverage.
    The interpreter takes most of the time [default: 1]"""


class RunOptions(TypedDict, total=False):
    """Options of ``sluice run``."""

    filter: Text | Sequence[Text]
    """Run only scenarios with this id, or with an id that continues it after `.`, `-` or `/`; repeatable"""
    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    html: Path
    """Write the results as one self-contained page: which expectations hold, plots, programs compared"""
    timelines: Literal["csv", "parquet", "svg"] | Sequence[Literal["csv", "parquet", "svg"]]
    """With -o, write a timeline of each device: contents of pools, groups and queues during its scenario; repeatable"""
    timelines_every: Time
    """Sample at multiples of this time, for example 1us, instead of at every change"""
    seeds: Number
    """Run each contest with N seeds, from its first one on [default: the file's, or 5]"""
    again: bool
    """Do all runs of contests, also those that the output folder has already"""
    watch_flow: Text
    """Run a contest with its first seed up to the end of one message, and write the message's rate, window, round
    trip and queues over time: the number of a message (`pair` in flows.csv), or FROM-TO, such as
    10.0.0.1-10.0.1.1"""
    watch_every: Time
    """Time between two samples of --watch-flow [default: 1us]"""
    flows: Number
    """Of a config of an ns-3 simulator, run only the first N flows"""
    trace_out: Path
    """Write packets through parsers, stages, queues, links and hosts for Perfetto (ui.perfetto.dev) or
    chrome://tracing: .json, or .json.gz. Times are simulated"""
    trace_every: Number
    """Trace every Nth packet [default: 1]"""
    trace_packets: Number
    """Trace at most N packets, or N packets and N answers of a message; the file says how many it leaves out
    [default: 10k]"""
    junit: Path
    """Write the verdicts as JUnit XML, which CI systems show as tests"""
    sarif: Path
    """Write what failed as SARIF 2.1.0, which code hosts show beside the lines"""


class ReproduceOptions(P4Options, total=False):
    """Options of ``sluice reproduce``."""

    scale: Literal["quick", "full"]
    """Size of the runs: quick (minutes for all experiments) or full (hours) [default: quick]"""
    with_: Text | Sequence[Text]
    """A program of yours that runs as one more rival: a .p4 or .sluice file, or a name; repeatable"""
    max_text: Number
    """Most bytes of a file that is read whole, such as TOML, CSV and JSON [default: 268435456]"""
    capture: Path
    """Capture of yours (pcap or pcapng), whose packets the experiments send that need one; without it `all` and
    names of papers leave these out"""
    max: Text | Sequence[Text]
    """Most work of a kind that a file may ask for, in place of the default; repeatable. The names are p4-file-bytes,
    p4-includes, p4-included-bytes, p4-macro-tokens, p4-word-bytes, p4-constant-numbers, p4-instances,
    p4-statements, p4-parser-states, p4-select-arms, program-text-bytes, program-text-items, parser-nodes,
    placing-steps, switches, sonic-ports, scenario-steps, host-steps, scenario-frames, sweep-runs, seeds"""
    html: Path
    """Write the results as one self-contained page: numbers beside the published ones, plots, claims"""
    again: bool
    """Do all runs, also those that the output folder has already"""


TIMES = frozenset(
    {
        "clock_origin",
        "drain",
        "duration",
        "time",
        "timeline_every",
        "timelines_every",
        "watch_every",
    }
)
"""Options whose values are times."""
