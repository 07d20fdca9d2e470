//! The network, the hosts and the program of a `config.txt`.

use super::buffer::Buffers;
use super::config::{Config, Meaning, Simulator};
use super::flows::FlowFile;
use super::paths::{HEADERS, Pairs};
use super::senders::{congestion, multi};
use super::watch::{SAMPLE, Sampling};
use super::{ExperimentError, Ns3FileError, speeds, words};
use crate::contest::HostsSetting;
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::toml_reader::read;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_fabric::deploy::Profiles;
use sluice_fabric::network::{LinkChange, Probability};
use sluice_fabric::topology::{Blueprint, Happening};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a RoCEv2 packet in addition to its payload, without FCS: Ethernet, IPv4, UDP, BTH, invariant CRC.
pub(super) const FRAME: u64 = 14 + 20 + 8 + 12 + 4;

/// Program that writes HPCC's records.
const HPCC: &str = "hpcc-int";
/// Bytes of a packet's records here: 42 in the simulators, and 6 that they count as headers.
pub(super) const RECORD_BYTES: u64 = 48;
/// Bytes of a packet's records in the simulators.
pub(super) const RECORDS_THERE: u64 = 42;
/// UDP port of packets with records.
pub(super) const RECORDS: u16 = 4792;

/// Greatest rate of a port of the chip.
const FASTEST: BitRate = BitRate::from_gbps(400);

/// An experiment of a simulator as a network of emulated switches.
#[derive(Debug)]
pub struct Experiment {
    /// The config.
    pub config: Config,
    /// Its simulator.
    pub simulator: Simulator,
    /// Keys without a meaning here, and differences in behaviour, each once.
    pub notes: Vec<String>,
    pub(super) plan: Blueprint,
    pub(super) chip: ChipSpec,
    /// The program of all switches, and its parameters.
    pub(super) program: &'static str,
    pub(super) params: Vec<(String, String)>,
    pub(super) hosts: HostsSetting,
    pub(super) wire: WireOverhead,
    pub(super) profiles: Profiles,
    pub(super) flows: FlowFile,
    pub(super) pairs: Pairs,
    pub(super) payload: u64,
    /// Absolute time of the run's origin: the start of the first flow.
    pub(super) base: Duration,
    /// Time of the run at which it ends at the latest.
    pub(super) end: Time,
    pub(super) seed: u64,
    pub(super) sampling: Option<Sampling>,
}

/// The text of a file and its name.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Name, for errors.
    pub origin: &'a str,
    /// The text.
    pub text: &'a str,
}

impl Experiment {
    /// Translates a config with the texts of its topology and its flows.
    ///
    /// # Errors
    /// If a file is wrong, or asks for something that hosts or switches do not have; the error says where.
    pub fn new(config: Config, topology: Text<'_>, flows: Text<'_>) -> Result<Experiment, ExperimentError> {
        let simulator = config.simulator();
        let mut notes = notes(&config);
        let mut plan = Blueprint::from_ns3(topology.text, topology.origin)?;
        plan.check()?;
        let flows = FlowFile::parse(flows.origin, flows.text, simulator)?;
        ends(&plan, &flows)?;
        losses(&config, &mut plan, topology, &mut notes)?;
        let payload: u64 = config.get("PACKET_PAYLOAD_SIZE", "1 to 9000")?;
        if !(1..=9_000).contains(&payload) {
            return Err(config
                .error("PACKET_PAYLOAD_SIZE", format!("found {payload}, expected 1 to 9000"))
                .into());
        }
        let group = flows.flows.first().map_or(3, |flow| flow.group);
        let profiles = profiles(&config, &mut plan, group, payload, &mut notes)?;
        notes.extend(speeds::warnings(&config, &plan).into_iter().map(|text| format!("warning: {text}")));
        let pairs = Pairs::new(&plan, payload);
        let base = flows.flows.first().map(|flow| flow.start).unwrap_or_default();
        link_down(&config, &mut plan, base)?;
        let hosts = hosts(&config, &pairs, group, payload, &mut notes)?;
        let (program, params) = program(&config, &mut plan, &mut notes)?;
        let stop = match simulator {
            Simulator::Hpcc => config.time("SIMULATOR_STOP_TIME", "s")?,
            Simulator::ConWeave => config.time("FLOWGEN_STOP_TIME", "s")? + Duration::from_millis(10_000),
        };
        let end = Time::ORIGIN
            + stop.checked_sub(base).filter(|time| !time.is_zero()).ok_or_else(|| {
                let what =
                    format!("the run ends at {stop}, and the first flow starts at {base}; let it end later");
                let key =
                    if simulator == Simulator::Hpcc { "SIMULATOR_STOP_TIME" } else { "FLOWGEN_STOP_TIME" };
                config.error(key, what)
            })?;
        let sampling = sampling(&config, simulator, base)?;
        let chip = chip(&plan)?;
        let seed = if simulator == Simulator::ConWeave { config.get("RANDOM_SEED", "a number")? } else { 1 };
        let wire = WireOverhead { preamble: 0, check: beyond(program == HPCC), gap: 0 };
        Ok(Experiment {
            config,
            simulator,
            notes,
            plan,
            chip,
            program,
            params,
            hosts,
            wire,
            profiles,
            flows,
            pairs,
            payload,
            base,
            end,
            seed,
            sampling,
        })
    }

    /// Returns the number of flows.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.flows.flows.len()
    }

    /// Returns a description in one line: switches, hosts, links, flows, program.
    #[must_use]
    pub fn summary(&self) -> String {
        let (switches, hosts) = (self.plan.switches.len(), self.plan.hosts.len());
        let flows = self.flows.flows.len();
        format!(
            "{}: {switches} switches that run {}, {hosts} hosts, {flows} flows",
            self.config.origin, self.program
        )
    }

    /// Leaves out all flows but the first `count`.
    pub fn cut(&mut self, count: usize) {
        self.flows.flows.truncate(count);
    }
}

/// Returns the bytes that the simulators count for a packet beyond its bytes here: they have 48 of headers, and 42 of HPCC's
/// records.
fn beyond(records: bool) -> i16 {
    let own = if records { RECORD_BYTES - RECORDS_THERE } else { 0 };
    HEADERS as i16 - FRAME as i16 - own as i16
}

/// Returns what must be said of the keys of a config.
fn notes(config: &Config) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (line, word) in &config.unknown {
        notes.push(format!("ignored: {word}: line {line}: neither simulator knows this key"));
    }
    for (key, _, values) in config.keys() {
        match key.meaning {
            Meaning::Same => {}
            Meaning::Ignored(why) => notes.push(format!("ignored: {}: {why}", key.name)),
            Meaning::Only(only, why) => {
                let number = |text: &str| text.parse::<f64>().ok();
                if values.first().is_none_or(|value| number(value) != number(only)) {
                    let value = values.join(" ");
                    notes.push(format!("ignored: {}: {value} counts as {only}: {why}", key.name));
                }
            }
        }
    }
    notes
}

/// Checks that flows go between hosts with one link.
fn ends(plan: &Blueprint, flows: &FlowFile) -> Result<(), ExperimentError> {
    for host in &plan.hosts {
        if let [_, second, ..] = host.at[..] {
            let what = format!(
                "host {} has {} links; hosts have one here: give it one link, and its switch the others",
                host.name,
                host.at.len()
            );
            return Err(Ns3FileError { origin: plan.origin.clone(), line: second.line, what }.into());
        }
    }
    let hosts: BTreeSet<&str> = plan.hosts.iter().map(|host| host.name.as_str()).collect();
    let switches: BTreeSet<&str> = plan.switches.iter().map(|switch| switch.name.as_str()).collect();
    for flow in &flows.flows {
        for node in [flow.from, flow.to] {
            if !hosts.contains(format!("h{node}").as_str()) {
                let is = if switches.contains(format!("s{node}").as_str()) {
                    "a switch"
                } else {
                    "no host with a link"
                };
                let what = format!("node {node} is {is} in {}; flows go from host to host", plan.origin);
                return Err(Ns3FileError { origin: flows.origin.clone(), line: flow.line, what }.into());
            }
        }
    }
    Ok(())
}

/// Gives cables without a loss of their own the config's, and notes losses of hosts' links.
fn losses(
    config: &Config,
    plan: &mut Blueprint,
    topology: Text<'_>,
    notes: &mut Vec<String>,
) -> Result<(), Ns3FileError> {
    let own: Probability = config.get("ERROR_RATE_PER_LINK", "a probability from 0 to 1 in steps of 1e-9")?;
    for cable in plan.cables.iter_mut().filter(|cable| cable.loss == Probability::NEVER) {
        cable.loss = own;
    }
    let lines: BTreeSet<usize> =
        plan.hosts.iter().flat_map(|host| host.at.iter().map(|at| at.line)).collect();
    let mut last: BTreeMap<usize, &str> = BTreeMap::new();
    for (line, word) in words(topology.text).filter(|(line, _)| lines.contains(line)) {
        last.insert(line, word);
    }
    let lossy =
        last.values().any(|word| word.parse::<Probability>().is_ok_and(|loss| loss != Probability::NEVER));
    if lossy || own != Probability::NEVER {
        notes.push("losses: links of hosts lose nothing here, only links between switches do".to_owned());
    }
    Ok(())
}

/// Takes down the link of LINK_DOWN at its time.
fn link_down(config: &Config, plan: &mut Blueprint, base: Duration) -> Result<(), Ns3FileError> {
    let values = config.values("LINK_DOWN");
    let [us, a, b] = values[..] else { return Ok(()) };
    let expected =
        || config.error("LINK_DOWN", format!("found `{us} {a} {b}`, expected a number of us and two nodes"));
    let us: u64 = us.parse().map_err(|_| expected())?;
    if us == 0 {
        return Ok(());
    }
    let nodes = [a, b].map(|node| plan.switch_named(&format!("s{node}")));
    let [Ok(first), Ok(second)] = nodes else {
        return Err(config.error("LINK_DOWN", format!("{a} and {b} must be two switches of the topology")));
    };
    // The simulators count from 2 s.
    let at = Duration::from_millis(2_000)
        .checked_add(Duration::from_micros(us))
        .and_then(|at| at.checked_sub(base));
    let at = at.ok_or_else(|| {
        config.error("LINK_DOWN", "the link is down before the first flow starts; leave it out")
    })?;
    let ends = |c: [u32; 2]| c == [first, second] || c == [second, first];
    let cable = plan.cables.iter().position(|cable| ends(cable.ends));
    let cable =
        cable.ok_or_else(|| config.error("LINK_DOWN", format!("there is no link between {a} and {b}")))?;
    let down = Happening::Cable { cable: cable as u32, way: None, change: LinkChange::Down };
    plan.events.push((Time::ORIGIN + at, down));
    Ok(())
}

/// Makes the profile of each switch.
fn profiles(
    config: &Config,
    plan: &mut Blueprint,
    group: u8,
    payload: u64,
    notes: &mut Vec<String>,
) -> Result<Profiles, ExperimentError> {
    let buffers = Buffers::new(config, plan, group, payload, notes)?;
    let mut ports = vec![Vec::new(); plan.switches.len()];
    for at in plan.hosts.iter().flat_map(|host| &host.at) {
        ports[at.switch as usize].push((at.rate.unwrap_or_default(), at.delay.unwrap_or_default()));
    }
    for cable in &plan.cables {
        cable
            .ends
            .iter()
            .for_each(|end| ports[*end as usize].push((cable.rate.unwrap_or_default(), cable.delay)));
    }
    let mut profiles = Profiles::default();
    for (switch, ports) in plan.switches.iter_mut().zip(&ports) {
        let text = buffers.profile(&switch.name, ports, notes);
        let file =
            BufferFile::parse(&switch.name, &text).map_err(|e| ExperimentError::Setting(e.to_string()))?;
        profiles.insert(switch.name.clone(), file);
        switch.buffer = Some(switch.name.clone());
    }
    Ok(profiles)
}

/// Returns the settings of the hosts.
fn hosts(
    config: &Config,
    pairs: &Pairs,
    group: u8,
    payload: u64,
    notes: &mut Vec<String>,
) -> Result<HostsSetting, ExperimentError> {
    let simulator = config.simulator();
    let (rtt, bdp) = pairs.greatest();
    // Switches of HPCC's simulator have acknowledgements in the queue of data. ACK_HIGH_PRIO only decides whether hosts hold
    // them while data is paused.
    let above = if group == 6 { 5 } else { 6 };
    let (dscp, priority) = match simulator {
        Simulator::ConWeave => (48, above),
        Simulator::Hpcc if config.flag("ACK_HIGH_PRIO")? => (group, above),
        Simulator::Hpcc => (group, group),
    };
    // Only senders of HPCC move the time of the packet that waits when their rate changes.
    let repaces = config.text("CC_MODE") == "3";
    let mut text = format!(
        "cable = \"1us\"\nmtu = {payload}\nrepaces = {repaces}\npfc_reaction = \"1ns\"\n\
         data = {{ dscp = {group}, priority = {group} }}\ncontrol = {{ dscp = {dscp}, priority = {priority} }}\n"
    );
    let irn = simulator == Simulator::ConWeave && config.flag("ENABLE_IRN")?;
    text += &match (irn, simulator) {
        (true, _) => format!("recovery = \"selective\"\nin_flight = \"{bdp}\"\n"),
        (false, Simulator::ConWeave) => {
            "recovery = \"go-back-n\"\nnack_interval = \"4us\"\ntimeout = \"4ms\"\n".to_owned()
        }
        (false, Simulator::Hpcc) => {
            notes.push("timeouts: senders go back after 4 ms without an acknowledgement; HPCC's simulator waits for ever".into());
            "recovery = \"go-back-n\"\nnack_interval = \"500us\"\ntimeout = \"4ms\"\n".to_owned()
        }
    };
    if simulator == Simulator::ConWeave && !config.flag("ENABLE_PFC")? {
        text += "pfc = false\n";
    }
    text += &congestion(config, rtt, bdp, payload)?;
    read(&text).map_err(|e| ExperimentError::Setting(format!("{}: {e}", config.origin)))
}

/// Keys and values of a program's parameters.
type Params = Vec<(String, String)>;

/// Returns the program of LB_MODE and its parameters.
fn program(
    config: &Config,
    plan: &mut Blueprint,
    notes: &mut Vec<String>,
) -> Result<(&'static str, Params), Ns3FileError> {
    let mode: u32 = match config.simulator() {
        Simulator::Hpcc => 0,
        Simulator::ConWeave => {
            config.get("LB_MODE", "0 (ECMP), 2 (DRILL), 3 (CONGA), 6 (LetFlow) or 9 (ConWeave)")?
        }
    };
    if mode != 0 && config.text("CC_MODE") == "3" {
        return Err(config.error(
            "LB_MODE",
            format!("{mode} beside CC_MODE 3; switches that write HPCC's records choose paths by ECMP: 0"),
        ));
    }
    let set = |pairs: &[(&str, String)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    notes.push("ECMP hashes: the switches' own CRCs choose paths, not the simulators' hash with the node number as seed".into());
    match mode {
        0 if config.text("CC_MODE") == "3" => Ok((
            HPCC,
            set(&[
                ("udp_port", RECORDS.to_string()),
                ("layout", "ns3".into()),
                ("qlen", "port".into()),
                ("multi", multi(config)?.to_string()),
                ("overhead", beyond(true).to_string()),
            ]),
        )),
        0 => Ok(("ecmp", Vec::new())),
        2 => Ok(("drill", Vec::new())),
        3 => Ok(("conga", set(&[("timeout", "100us".into())]))),
        6 => Ok(("letflow", set(&[("timeout", "100us".into())]))),
        9 => {
            notes.push(
                "ConWeave: packets carry four UDP source ports of each pair of hosts in turn, which its control plane knows \
                 from the start; output files have the simulator's numbers"
                    .into(),
            );
            let params = set(&conweave(config, plan)?);
            inner_switches(plan, notes);
            Ok(("conweave", params))
        }
        _ => Err(config.error(
            "LB_MODE",
            format!("found {mode}, expected 0 (ECMP), 2 (DRILL), 3 (CONGA), 6 (LetFlow) or 9 (ConWeave)"),
        )),
    }
}

/// Lets switches without hosts spread flows, if packets pass several of them. ConWeave's path is the ToR's uplink here; the
/// simulator's names every hop.
fn inner_switches(plan: &mut Blueprint, notes: &mut Vec<String>) {
    if plan.switches.iter().all(|switch| switch.stage <= 2) {
        return;
    }
    notes.push(
        "ConWeave: switches without hosts choose paths by ECMP, because a path is an uplink of the ToR here, and all hops in the simulator"
            .into(),
    );
    for switch in plan.switches.iter_mut().filter(|switch| switch.stage > 1) {
        switch.program = Some("ecmp".to_owned());
        let stage = switch.stage.to_string();
        switch.params = [("scheme", "per-stage"), ("stage", &stage)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
    }
}

/// Returns ConWeave's times as ticks of 1.024 us.
fn conweave(config: &Config, plan: &Blueprint) -> Result<Vec<(&'static str, String)>, Ns3FileError> {
    let ticks = |time: Duration| time.as_ps().div_ceil(1_024_000).to_string();
    let time = |key: &str| config.time(key, "us");
    // A reply goes from one ToR to the other and back: over two cables each way, or four in a network of three stages.
    let stages = plan.switches.iter().map(|switch| switch.stage).max().unwrap_or(1);
    let delay = plan.cables.iter().map(|cable| cable.delay).max().unwrap_or_default();
    let reply =
        delay * (4 * u64::from(stages.saturating_sub(1).max(1))) + time("CONWEAVE_REPLY_TIMEOUT_EXTRA")?;
    Ok(vec![
        ("flows", "32768".to_owned()),
        ("reply", ticks(reply)),
        ("path_busy", ticks(time("CONWEAVE_PATH_PAUSE_TIME")?)),
        ("resume_margin", ticks(time("CONWEAVE_EXTRA_VOQ_FLUSH_TIME")?)),
        ("resume_default", ticks(time("CONWEAVE_DEFAULT_VOQ_WAITING_TIME")?)),
        ("inactive", ticks(time("CONWEAVE_TX_EXPIRY_TIME")?)),
    ])
}

/// Returns when queues are sampled; `None` if no file of lengths is wanted.
fn sampling(config: &Config, simulator: Simulator, base: Duration) -> Result<Option<Sampling>, Ns3FileError> {
    if simulator == Simulator::ConWeave || config.text("QLEN_MON_FILE").is_empty() {
        return Ok(None);
    }
    let at = |key: &str| config.time(key, "ns");
    let (start, end) = (at("QLEN_MON_START")?, at("QLEN_MON_END")?);
    // Samples before the first flow find nothing, and are counted here.
    let before = base.saturating_sub(start).as_ps().div_ceil(SAMPLE.as_ps());
    let first = start + SAMPLE * before;
    let of = |time: Duration| Time::ORIGIN + time.saturating_sub(base);
    Ok((end >= first).then(|| Sampling { start: of(first), before, end: of(end) }))
}

/// Returns a chip without latencies, which stores a frame and forwards it at once, as the simulators' switches do, with
/// ports at the rates of the topology.
fn chip(plan: &Blueprint) -> Result<ChipSpec, ExperimentError> {
    let hosts = plan.hosts.iter().flat_map(|host| &host.at).map(|at| (at.rate, at.line));
    let links = hosts.chain(plan.cables.iter().map(|cable| (cable.rate, cable.line)));
    let mut rates: BTreeSet<BitRate> = BTreeSet::new();
    for (rate, line) in links {
        let rate = rate.unwrap_or_default();
        if rate > FASTEST || rate.as_bps() == 0 {
            let what = format!(
                "a link of {rate}; ports of the chip run at up to {FASTEST}: choose a rate above 0, up to it"
            );
            return Err(Ns3FileError { origin: plan.origin.clone(), line, what }.into());
        }
        rates.insert(rate);
    }
    let fastest = rates.last().copied().unwrap_or(FASTEST);
    let lanes = |rate: BitRate| rate.as_bps().div_ceil(50_000_000_000).next_power_of_two();
    let speed = |rate: &BitRate| {
        format!("{{ speed = \"{rate}\", lanes = {}, ingress_hold_cycles = 1000000 }}", lanes(*rate))
    };
    let speeds: Vec<String> = rates.iter().rev().map(speed).collect();
    let text = format!(
        "base = \"tofino2\"\nname = \"ns-3 switch\"\n{LATENCY}[ports]\ndefault_speed = \"{fastest}\"\nspeeds = [{}]\n",
        speeds.join(", ")
    );
    ChipSpec::from_toml(&text, "chip of ns-3's switches").map_err(|e| ExperimentError::Setting(e.to_string()))
}

/// Every latency that a chip file has: none. The way over a recirculation port keeps its time.
const LATENCY: &str = "[latency]\nbase = 1\nbase_predication = 0\ntcam = 0\nselector = 0\nstateful_divide = 0\nstateful = 0\n\
    lpf_wred = 0\naction_contribution = 1\ncorner_turn = 0\nmin_egress = 0\nmeter_alu_data = 0\nparser_cycles_per_state = 0\n\
    parser_fixed = 0\ndeparser = 0\ntm_enqueue = 0\ntm_dequeue = 0\nmac_rx = \"0ns\"\nmac_tx = \"0ns\"\ntx_ahead = \"0ns\"\n\
    resubmit = 1\n[mau]\nclock = \"100GHz\"\n[tm]\nclock = \"100GHz\"\nafc_cycles = 1\n";
