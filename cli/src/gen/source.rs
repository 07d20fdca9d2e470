//! Turns arguments into a generator.

use super::args::{
    ArpOp, ArrivalArgs, FlowArgs, FlowsArgs, FramesArgs, IpArgs, LinkArgs, OutputArgs, PeriodKind, PfcArgs,
    Process, RoceOp, UdpArgs, VxlanArgs, What, WorkloadArgs,
};
use crate::console::fail::Failure;
use crate::console::text_file::read_text;
use sluice_asic::names::did_you_mean;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::generate::{
    ArpKind, Arrivals, Cdf, Envelope, FlowList, FrameList, FrameSource, GenerateError, Incast, Kind,
    ListDefaults, Overlay, Pace, Pauses, Periods, Prefix, Protocol, RoceMessages, RoceOperation, Sizes,
    Traffic, Tuples, Workload, parse_ps, parse_range,
};
use sluice_pcaps::wire::{pause, vlan};
use std::path::Path;

/// Number of frames if neither a number nor a time is given.
const DEFAULT_PACKETS: u64 = 1_000;
/// Number of flows of a workload if it is not given.
const DEFAULT_FLOWS: u32 = 100;

/// A generator, and the arguments for writing its frames.
pub(super) struct Job<'a> {
    pub(super) kind: &'static str,
    pub(super) out: &'a OutputArgs,
    /// Seed; `None` if nothing is random.
    pub(super) seed: Option<u64>,
    /// Number of frames, if it is known.
    pub(super) packets: Option<u64>,
    pub(super) source: Box<dyn FrameSource>,
}

/// Returns the generator for the arguments.
pub(super) fn job(what: &What) -> Result<Job<'_>, Failure> {
    match what {
        What::Udp(args) => udp("udp", Kind::Udp, args),
        What::Tcp(args) => udp("tcp", Kind::Tcp, args),
        What::Roce(args) => {
            let operation = match args.op {
                RoceOp::Write => RoceOperation::Write,
                RoceOp::Send => RoceOperation::Send,
                RoceOp::Read => RoceOperation::Read,
                RoceOp::Ack => RoceOperation::Ack,
            };
            let kind = Kind::Roce(RoceMessages { operation, mtu: args.mtu, message: args.message });
            let envelope = envelope(&args.link, Some(&args.ip), 0, 2);
            let tuples = tuples(&args.flow, Some(&args.ip), None, args.arrival.arrivals)?;
            traffic("roce", kind, &args.out, &args.flow, &args.arrival, None, envelope, tuples)
        }
        What::Cnp(args) => {
            let envelope = envelope(&args.link, Some(&args.ip), 48, 2);
            let tuples = tuples(&args.flow, Some(&args.ip), None, args.arrival.arrivals)?;
            traffic("cnp", Kind::Cnp, &args.out, &args.flow, &args.arrival, None, envelope, tuples)
        }
        What::Vxlan(args) => udp("vxlan", Kind::Vxlan(overlay(args)?), &args.traffic),
        What::Arp(args) => {
            let kind = Kind::Arp(match args.op {
                ArpOp::Request => ArpKind::Request,
                ArpOp::Reply => ArpKind::Reply,
                ArpOp::Gratuitous => ArpKind::Gratuitous,
            });
            let envelope = envelope(&args.link, None, 0, 0);
            let tuples = tuples(&args.flow, None, None, args.arrival.arrivals)?;
            traffic("arp", kind, &args.out, &args.flow, &args.arrival, None, envelope, tuples)
        }
        What::Pfc(args) => pfc(args),
        What::Flows(args) => flows(args),
        What::Workload(args) => workload(args),
        What::Frames(args) => frames(args),
    }
}

/// Converts an error of a generator's configuration.
fn bad(e: GenerateError) -> Failure {
    Failure::input(e)
}

/// Returns the time at which the trace begins.
pub(super) fn start(out: &OutputArgs) -> Result<CaptureTime, Failure> {
    // Too many seconds for 64 bits of picoseconds: the fraction apart.
    let whole = out.start.strip_suffix('s').and_then(|seconds| seconds.parse::<u64>().ok());
    match whole {
        Some(seconds) => Ok(CaptureTime::from_secs(seconds)),
        None => {
            let ps = parse_ps("start", &out.start).map_err(|e| {
                Failure::with_help(e, "whole seconds are not limited; other times may be up to 213 days")
            })?;
            Ok(CaptureTime::from_ps(ps.into()))
        }
    }
}

/// Returns the number of frames; `None` if only the time is limited.
fn packets(out: &OutputArgs) -> Option<u64> {
    out.packets.or_else(|| out.duration.is_none().then_some(DEFAULT_PACKETS))
}

fn udp<'a>(name: &'static str, kind: Kind, args: &'a UdpArgs) -> Result<Job<'a>, Failure> {
    let envelope = envelope(&args.link, Some(&args.ip), 0, 0);
    let tuples = tuples(&args.flow, Some(&args.ip), Some(&args.dport), args.arrival.arrivals)?;
    traffic(name, kind, &args.out, &args.flow, &args.arrival, Some(&args.size), envelope, tuples)
}

#[expect(clippy::too_many_arguments, reason = "each is one group of flags")]
fn traffic<'a>(
    name: &'static str,
    kind: Kind,
    out: &'a OutputArgs,
    flow: &FlowArgs,
    arrival: &ArrivalArgs,
    size: Option<&str>,
    envelope: Envelope,
    tuples: Tuples,
) -> Result<Job<'a>, Failure> {
    let arrivals = arrivals(arrival)?;
    let senders = match &arrivals {
        Arrivals::Incast(incast) => Some(incast.senders),
        _ => None,
    };
    let flows = match (flow.flows, senders) {
        (Some(flows), Some(senders)) if flows != senders => {
            let text = format!("--flows {flows} does not match {senders} senders");
            return Err(Failure::with_help(
                text,
                "each sender of an incast sends one flow: give --senders and leave --flows out",
            ));
        }
        (Some(flows), _) => flows,
        (None, senders) => senders.unwrap_or(1),
    };
    let packets = packets(out);
    let source = Traffic {
        packets: packets.unwrap_or(u64::MAX),
        flows,
        kind,
        sizes: size.map_or(Ok(Sizes::Range(60..=60)), sizes)?,
        arrivals,
        start: start(out)?,
        seed: arrival.seed,
        envelope,
        tuples,
    }
    .frames()
    .map_err(bad)?;
    Ok(Job { kind: name, out, seed: Some(arrival.seed), packets, source: Box::new(source) })
}

/// Parses frame lengths: `64..1518`, or a distribution from a file.
fn sizes(text: &str) -> Result<Sizes, Failure> {
    let Some(path) = text.strip_prefix("cdf:") else {
        return Sizes::parse(text).map_err(bad);
    };
    cdf(Path::new(path)).map(Sizes::Cdf)
}

/// Returns the distribution of a file, or the published one of this name.
fn cdf(path: &Path) -> Result<Cdf, Failure> {
    let published = path
        .to_str()
        .filter(|name| !path.exists() && !name.contains(['.', '/']))
        .map(|name| (name, Cdf::published(name)));
    let content = match published {
        Some((_, Some(cdf))) => return Ok(cdf),
        Some((name, None)) => {
            let names: Vec<&str> = Cdf::published_names().collect();
            let help = format!("published ones are {}; or give a file", names.join(", "));
            let near = did_you_mean(name, names);
            return Err(Failure::with_help(
                format!("there is no distribution of sizes `{name}`{near}"),
                help,
            ));
        }
        None => read(path)?,
    };
    let help = "write lines of `SIZE SHARE`, with cumulative shares from 0 to 100 percent (or to 1)";
    Cdf::parse(&path.display().to_string(), &content).map_err(|e| Failure::with_help(e, help))
}

fn read(path: &Path) -> Result<String, Failure> {
    read_text(path)
}

fn envelope(link: &LinkArgs, ip: Option<&IpArgs>, dscp: u8, ecn: u8) -> Envelope {
    let tag = |vid| vlan::Tag { pcp: link.pcp, vid, ..vlan::Tag::default() };
    Envelope {
        tag: link.vlan.map(tag),
        service_tag: link.qinq.map(tag),
        dscp: ip.and_then(|ip| ip.dscp).unwrap_or(dscp),
        ecn: ip.and_then(|ip| ip.ecn).unwrap_or(ecn),
        ttl: ip.map_or(64, |ip| ip.ttl),
        ..Envelope::new(link.dmac, link.smac)
    }
}

fn tuples(
    flow: &FlowArgs,
    ip: Option<&IpArgs>,
    dport: Option<&str>,
    process: Process,
) -> Result<Tuples, Failure> {
    // Many senders, one receiver.
    let to: &[&str] = match process {
        Process::Incast => &["10.1.0.1/32", "2001:db8:1::1/128"],
        _ => &["10.1.0.0/16", "2001:db8:1::/48"],
    };
    let destinations = prefixes("dst", &flow.dst, to)?;
    let only_v6 = !flow.dst.is_empty() && destinations.iter().all(|prefix| prefix.network().is_ipv6());
    let ports = |field, text| {
        let range = parse_range(field, text, u16::MAX.into()).map_err(bad)?;
        Ok::<_, Failure>(*range.start() as u16..=*range.end() as u16)
    };
    Ok(Tuples {
        sources: prefixes("src", &flow.src, &["10.0.0.0/16", "2001:db8::/48"])?,
        destinations,
        source_ports: ip.map_or(Ok(0..=0), |ip| ports("sport", &ip.sport))?,
        destination_ports: dport.map_or(Ok(0..=0), |text| ports("dport", text))?,
        ipv6_percent: ip.and_then(|ip| ip.ipv6).unwrap_or(if only_v6 { 100 } else { 0 }),
    })
}

/// Returns the given prefixes. If none is given, the defaults; sources also get the default of a family that is
/// missing.
fn prefixes(flag: &str, given: &[String], defaults: &[&str]) -> Result<Vec<Prefix>, Failure> {
    let of = |text: &str| text.parse().map_err(|e| Failure::input(format!("{flag}: {e}")));
    let mut list: Vec<Prefix> = given.iter().map(|text| of(text)).collect::<Result<_, _>>()?;
    for text in defaults {
        let default = of(text)?;
        if given.is_empty() || (flag == "src" && !list.iter().any(|p| same_family(p, &default))) {
            list.push(default);
        }
    }
    Ok(list)
}

fn same_family(a: &Prefix, b: &Prefix) -> bool {
    a.network().is_ipv4() == b.network().is_ipv4()
}

fn overlay(args: &VxlanArgs) -> Result<Overlay, Failure> {
    let prefix = |flag: &str, text: &str| text.parse().map_err(|e| Failure::input(format!("{flag}: {e}")));
    Ok(Overlay {
        vni: args.vni,
        networks: args.vnis,
        source: prefix("tunnel-src", &args.tunnel_src)?,
        destination: prefix("tunnel-dst", &args.tunnel_dst)?,
        inner_macs: [args.inner_dmac, args.inner_smac],
    })
}

/// Returns the arrival process; a flag of another process is an error.
fn arrivals(args: &ArrivalArgs) -> Result<Arrivals, Failure> {
    let pace: Pace = args.rate.parse().map_err(bad)?;
    let onoff =
        [("--on", args.on.is_some()), ("--off", args.off.is_some()), ("--periods", args.periods.is_some())];
    let incast = [
        ("--senders", args.senders.is_some()),
        ("--burst", args.burst.is_some()),
        ("--every", args.every.is_some()),
        ("--jitter", args.jitter.is_some()),
    ];
    let refuse = |flags: &[(&str, bool)], process: &str| match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let text = format!("{flag} is for --arrivals {process}");
            Err(Failure::with_help(text, format!("add --arrivals {process}, or leave {flag} out")))
        }
        None => Ok(()),
    };
    if args.arrivals != Process::Onoff {
        refuse(&onoff, "onoff")?;
    }
    if args.arrivals != Process::Incast {
        refuse(&incast, "incast")?;
    }
    let time = |field, text: &Option<String>, default: &str| {
        parse_ps(field, text.as_deref().unwrap_or(default)).map_err(bad)
    };
    Ok(match args.arrivals {
        Process::Constant => Arrivals::Constant(pace),
        Process::Poisson => Arrivals::Poisson(pace),
        Process::Onoff => Arrivals::OnOff {
            pace,
            on: time("on", &args.on, "100us")?,
            off: time("off", &args.off, "100us")?,
            periods: match args.periods {
                None | Some(PeriodKind::Fixed) => Periods::Fixed,
                Some(PeriodKind::Exponential) => Periods::Exponential,
            },
        },
        Process::Incast => Arrivals::Incast(Incast {
            senders: args.senders.unwrap_or(16),
            burst: args.burst.unwrap_or(8),
            every: time("every", &args.every, "100us")?,
            jitter: time("jitter", &args.jitter, "0ps")?,
            pace,
        }),
    })
}

fn pfc(args: &PfcArgs) -> Result<Job<'_>, Failure> {
    let mut enabled = if args.classes.is_empty() { 1 << 3 } else { 0 };
    for class in &args.classes {
        if usize::from(*class) >= pause::CLASSES {
            let text = format!("classes: found {class}, expected 0 to 7");
            return Err(Failure::with_help(text, "PFC has eight classes: --classes 3,4"));
        }
        enabled |= 1 << class;
    }
    let packet = match args.pause {
        true => pause::Packet::Pause { quanta: args.quanta },
        false => pause::Packet::pfc(enabled, args.quanta),
    };
    let packets = packets(&args.out);
    let source = Pauses {
        packets: packets.unwrap_or(u64::MAX),
        packet,
        resume: args.resume,
        source_mac: args.smac,
        arrivals: arrivals(&args.arrival)?,
        start: start(&args.out)?,
        seed: args.arrival.seed,
    }
    .frames()
    .map_err(bad)?;
    Ok(Job { kind: "pfc", out: &args.out, seed: Some(args.arrival.seed), packets, source: Box::new(source) })
}

fn flows(args: &FlowsArgs) -> Result<Job<'_>, Failure> {
    let defaults = ListDefaults {
        envelope: envelope(&args.link, None, 0, 0),
        pace: args.rate.parse().map_err(bad)?,
        size: args.size,
    };
    let text = read(&args.file)?;
    let help = "docs/gen.md lists the columns; the first line of the file names its columns";
    let list = FlowList::parse(&args.file.display().to_string(), &text, defaults)
        .map_err(|e| Failure::with_help(e, help))?;
    let frames = list.frames(start(&args.out)?);
    let packets = args.out.packets.map(|limit| limit.min(frames.total())).or(Some(frames.total()));
    Ok(Job { kind: "flows", out: &args.out, seed: None, packets, source: Box::new(frames) })
}

fn workload(args: &WorkloadArgs) -> Result<Job<'_>, Failure> {
    let protocol: Protocol = args.proto.parse().map_err(bad)?;
    let pace: Pace = args.rate.parse().map_err(bad)?;
    let Pace::BackToBack { bits_per_second: rate } = pace else {
        return Err(Failure::with_help("--rate is not a bit rate", "write it as 100G or 2.5Gbps"));
    };
    let flows = args.flow.flows.unwrap_or(DEFAULT_FLOWS);
    let ecn = if protocol == Protocol::Roce { 2 } else { 0 };
    let source = Workload {
        flows,
        sizes: cdf(&args.cdf)?,
        protocol,
        frame: args.size,
        rate,
        load: args.load,
        pace: args.flow_rate.as_deref().map_or(Ok(pace), str::parse).map_err(bad)?,
        start: start(&args.out)?,
        seed: args.seed,
        envelope: envelope(&args.link, Some(&args.ip), 0, ecn),
        tuples: tuples(&args.flow, Some(&args.ip), Some("20480..20543"), Process::Poisson)?,
    }
    .frames()
    .map_err(bad)?;
    let (packets, seed) = (args.out.packets, Some(args.seed));
    Ok(Job { kind: "workload", out: &args.out, seed, packets, source: Box::new(source) })
}

fn frames(args: &FramesArgs) -> Result<Job<'_>, Failure> {
    let text = read(&args.file)?;
    let envelope = envelope(&args.link, None, 0, 0);
    let list = FrameList::parse(&args.file.display().to_string(), &text, envelope)
        .map_err(|e| Failure::with_help(e, "docs/gen.md describes the keys of [[frame]]"))?;
    let frames = list.frames(start(&args.out)?);
    let packets = args.out.packets.map(|limit| limit.min(frames.total())).or(Some(frames.total()));
    Ok(Job { kind: "frames", out: &args.out, seed: None, packets, source: Box::new(frames) })
}
