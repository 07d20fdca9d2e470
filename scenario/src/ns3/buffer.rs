//! The simulators' switch buffers as buffer profiles (model: int §3.1).
//!
//! Data is one lossless group, or a lossy one without PFC; everything else has a pool of its own that never fills, because
//! the simulators do not count it. A cell is one byte, so no packet is rounded up, or a few with buffers
//! from 200 MB on. With HPCC, whose records count cells, a cell is about the simulators' unit of 80 bytes. All limits are larger in the
//! proportion by which a packet is.

use super::Ns3FileError;
use super::config::{Config, Simulator};
use super::paths::HEADERS;
use super::senders::record_cell;
use super::translate::{FRAME, RECORD_BYTES, RECORDS_THERE};
use sluice_asic::units::{BitRate, Duration};
use sluice_fabric::topology::Blueprint;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Ports of a switch: rate and delay of each link.
type Ports = Vec<(BitRate, Duration)>;

/// Most ports of a chip.
const PORTS: u64 = 512;
/// Bytes of the pools of packets that the simulators do not count.
const UNCOUNTED: u64 = 64 << 20;
/// Bytes that stand for the simulators' free memory if it is below 0: more than any switch has.
const WRAPPED: u64 = 1 << 28;
/// Most bytes that a link holds: those of 100 Gb/s in 5.5 s. Sums over the ports of a switch, times the bytes of a frame, fit 64 bits.
const LONGEST: u64 = 1 << 36;
/// Headroom of each group beyond the simulators': bytes that arrive until a PFC frame has taken effect.
const MARGIN: u64 = 1 << 20;

/// Settings from which the profiles of all switches are made.
pub(super) struct Buffers {
    simulator: Simulator,
    /// Bytes of the memory; `None`: as much as needed.
    size: Option<u64>,
    pfc: bool,
    /// Priority group of data.
    group: u8,
    payload: u64,
    /// Bytes of a cell.
    cell: u64,
    /// Bytes of a full packet in the buffer here, and in the simulators'.
    full: (u64, u64),
    /// Rate of the simulators' first host: their alpha is relative to it.
    nic: BitRate,
    /// Highest rate of the topology, at which ports without a link run.
    fastest: BitRate,
    /// Marking curves by rate: kmin and kmax in bytes, pmax in percent; empty without marking.
    curves: BTreeMap<BitRate, (u64, u64, u64)>,
}

impl Buffers {
    pub(super) fn new(
        config: &Config,
        plan: &Blueprint,
        group: u8,
        payload: u64,
        notes: &mut Vec<String>,
    ) -> Result<Buffers, Ns3FileError> {
        let simulator = config.simulator();
        links_are_short(plan)?;
        let size = match config.text("BUFFER_SIZE") {
            "" if simulator == Simulator::Hpcc => Some(16 << 20),
            "" => None,
            "0" if simulator == Simulator::ConWeave => None,
            _ => {
                let mib: u64 = config.get("BUFFER_SIZE", "a number of MiB")?;
                Some(mib.checked_mul(1 << 20).filter(|bytes| *bytes < 1 << 30).ok_or_else(|| {
                    config.error("BUFFER_SIZE", format!("found {mib} MiB, expected at most 1023"))
                })?)
            }
        };
        let pfc = simulator == Simulator::Hpcc || config.flag("ENABLE_PFC")?;
        let curves = match config.flag("ENABLE_QCN")? {
            true => curves(config, plan, notes)?,
            false => BTreeMap::new(),
        };
        let records = config.text("CC_MODE") == "3";
        let cell = if records { record_cell(payload).0 } else { 1 };
        let of_records = if records { (RECORD_BYTES, RECORDS_THERE) } else { (0, 0) };
        let full = (payload + FRAME + of_records.0, payload + HEADERS + of_records.1);
        let nic = plan.hosts.first().and_then(|host| host.at.first()?.rate).unwrap_or_default();
        let hosts = plan.hosts.iter().flat_map(|host| &host.at).filter_map(|at| at.rate);
        let fastest =
            plan.cables.iter().filter_map(|cable| cable.rate).chain(hosts).max().unwrap_or_default();
        Ok(Buffers { simulator, size, pfc, group, payload, cell, full, nic, fastest, curves })
    }

    /// Returns the text of a switch's profile; notes say what a switch could not do.
    pub(super) fn profile(&self, name: &str, ports: &Ports, notes: &mut Vec<String>) -> String {
        let mtu = self.payload + HEADERS;
        let headroom = |(rate, delay): &(BitRate, Duration)| {
            let product = rate.bytes_in(*delay).get();
            match self.simulator {
                Simulator::Hpcc => 3 * product,
                Simulator::ConWeave => 2 * product + 2 * mtu,
            }
        };
        let all: u64 = ports.iter().map(headroom).sum();
        let count = ports.len() as u64;
        let reserve = match self.simulator {
            Simulator::Hpcc => 4_096,
            Simulator::ConWeave => 2 * mtu,
        };
        let taken = match self.simulator {
            Simulator::Hpcc => all + count * reserve,
            // Eight groups of each port have a guarantee.
            Simulator::ConWeave => all + 8 * count * mtu,
        };
        let size = self.size.unwrap_or(taken + (16 << 20));
        let shared = size.checked_sub(taken).filter(|shared| *shared > 0).unwrap_or_else(|| {
            notes.push(format!(
                "BUFFER_SIZE: headroom and guarantees of the {count} ports of switch `{name}` take {taken} of its {size} bytes: the \
                 simulators' free memory is then a huge number, and so it is here: no group pauses and nothing is dropped. A switch \
                 could not: give it a larger buffer"
            ));
            WRAPPED
        });
        // The device's frames have more bytes than the simulators count, and take whole cells.
        let full = self.full.1;
        // A memory has at most 2^30 cells.
        let most = 2 * (shared + all) + size + 8 * UNCOUNTED;
        let cell = self.cell.max(most.div_ceil(1 << 30).next_power_of_two());
        let frame = self.full.0.next_multiple_of(cell);
        let [margin, uncounted] = [MARGIN, UNCOUNTED].map(|bytes| bytes / cell * cell);
        let scale = |bytes: u64| (bytes * frame / full).next_multiple_of(cell);
        let (shared, reserve, egress) = (scale(shared), scale(reserve), scale(size));
        let mut xoff: Vec<(BitRate, u64)> = speeds(ports, |port| scale(headroom(port)) + margin);
        // Ports without a link take no part, but run at some speed.
        if xoff.iter().all(|(rate, _)| *rate != self.fastest) {
            xoff.push((self.fastest, margin));
        }
        let pool_xoff: u64 = ports.iter().map(|port| scale(headroom(port)) + margin).sum();
        // Ports without a link have a guarantee too. The queues of lossless traffic never reach a limit.
        let all_ports = PORTS * reserve;
        let out = if self.pfc { shared + pool_xoff + all_ports + egress } else { egress };
        let memory = shared + pool_xoff + all_ports + out + 4 * uncounted;
        let group = self.group;
        let mut text = format!(
            "name = \"{name}\"\ndoc = \"the buffer of an ns-3 switch\"\nrules = \"sai\"\ncell = \"{cell}B\"\nbuffer = \"{memory}B\"\n\
             cable = \"200m\"\npfc_enable = \"{}\"\n\
             [maps.tc_to_pg]\n\"{group}\" = {group}\n\"others\" = {other}\n\
             [maps.tc_to_queue]\n\"{group}\" = 0\n\"others\" = 1\n\
             [pfc]\nreaction = \"1ns\"\n",
            if self.pfc { group.to_string() } else { String::new() },
            other = if group == 0 { 1 } else { 0 },
        );
        let pool = |name: &str, keys: &str| format!("[[pool]]\nname = \"{name}\"\n{keys}\n");
        let class = if self.pfc { "lossless" } else { "lossy" };
        let shared_xoff = if self.pfc { format!("\nxoff = \"{pool_xoff}B\"") } else { String::new() };
        text += &pool(
            "data_in",
            &format!("direction = \"ingress\"\nclass = \"{class}\"\nsize = \"{shared}B\"{shared_xoff}"),
        );
        text += &pool("data_out", &format!("direction = \"egress\"\nclass = \"{class}\"\nsize = \"{out}B\""));
        for (name, direction) in [("rest_in", "ingress"), ("rest_out", "egress")] {
            text += &pool(
                name,
                &format!("direction = \"{direction}\"\nclass = \"lossy\"\nsize = \"{uncounted}B\""),
            );
        }
        for (rate, xoff) in &xoff {
            // Writing into a String cannot fail.
            let _ = write!(
                text,
                "[[profile]]\nname = \"data_in\"\npool = \"data_in\"\nspeed = \"{rate}\"\nsize = \"{reserve}B\"\n"
            );
            let _ = match (self.pfc, self.simulator) {
                (true, Simulator::Hpcc) => {
                    let th = alpha(*rate, self.nic);
                    write!(
                        text,
                        "xon = \"0B\"\nxoff = \"{xoff}B\"\nxon_offset = \"{}B\"\ndynamic_th = {th}\n",
                        scale(3_072)
                    )
                }
                (true, Simulator::ConWeave) => {
                    write!(
                        text,
                        "xon = \"0B\"\nxoff = \"{xoff}B\"\nxon_offset = \"{}B\"\ndynamic_th = -4\n",
                        scale(16)
                    )
                }
                (false, _) => writeln!(text, "static_th = \"{shared}B\""),
            };
        }
        let egress_th = match (self.pfc, self.simulator) {
            (false, Simulator::ConWeave) => "dynamic_th = 0".to_owned(),
            _ => format!("static_th = \"{out}B\""),
        };
        let _ = write!(
            text,
            "[[profile]]\nname = \"data_out\"\npool = \"data_out\"\nsize = \"0B\"\n{egress_th}\n"
        );
        for name in ["rest_in", "rest_out"] {
            let _ = write!(
                text,
                "[[profile]]\nname = \"{name}\"\npool = \"{name}\"\nsize = \"0B\"\nstatic_th = \"{uncounted}B\"\n"
            );
        }
        let priority = if self.pfc { format!("\npriority = {group}") } else { String::new() };
        let _ = write!(
            text,
            "[[pg]]\npgs = \"{group}\"\nprofile = \"data_in\"\n[[pg]]\npgs = \"others\"\nprofile = \"rest_in\"\n\
             [[queue]]\nqueues = \"0\"\nprofile = \"data_out\"{priority}\necn = \"marks\"\n[[queue]]\nqueues = \"1\"\nprofile = \"rest_out\"\n\
             [[queue]]\nqueues = \"others\"\nprofile = \"data_out\"{priority}\n\
             [[pg]]\nports = \"internal\"\npgs = \"*\"\nprofile = \"rest_in\"\n\
             [[queue]]\nports = \"internal\"\nqueues = \"*\"\nprofile = \"rest_out\"\n"
        );
        text + &self.marks(memory, scale)
    }

    /// Returns the marking curves of a profile.
    fn marks(&self, memory: u64, scale: impl Fn(u64) -> u64) -> String {
        let mut text = "[[ecn]]\nname = \"marks\"\n".to_owned();
        if self.curves.is_empty() {
            // A profile without curves leaves marking to the program; no queue is longer than this one's thresholds.
            let _ = write!(text, "[[ecn.curve]]\nkmin = \"{memory}B\"\nkmax = \"{memory}B\"\npmax = 0\n");
        }
        for (rate, (kmin, kmax, pmax)) in &self.curves {
            let (kmin, kmax) = (scale(*kmin), scale(*kmax));
            let _ = write!(
                text,
                "[[ecn.curve]]\nspeed = \"{rate}\"\nkmin = \"{kmin}B\"\nkmax = \"{kmax}B\"\npmax = {pmax}\n"
            );
        }
        text
    }
}

/// Returns the exponent of HPCC's alpha: 1/8 of the free buffer up to the rate of the hosts, twice that at twice their rate.
fn alpha(rate: BitRate, nic: BitRate) -> i64 {
    let mut shift = 3;
    let mut speed = nic.as_bps().max(1);
    while speed < rate.as_bps() && shift > 0 {
        (speed, shift) = (speed.saturating_mul(2), shift - 1);
    }
    -shift
}

/// Returns the greatest value for each rate of the ports.
fn speeds(ports: &Ports, value: impl Fn(&(BitRate, Duration)) -> u64) -> Vec<(BitRate, u64)> {
    let mut map: BTreeMap<BitRate, u64> = BTreeMap::new();
    for port in ports {
        let greatest = map.entry(port.0).or_default();
        *greatest = value(port).max(*greatest);
    }
    map.into_iter().collect()
}

/// Returns the marking curves of all rates of the topology.
fn curves(
    config: &Config,
    plan: &Blueprint,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<BitRate, (u64, u64, u64)>, Ns3FileError> {
    let rates = plan.hosts.iter().flat_map(|host| &host.at).filter_map(|at| at.rate);
    let rates: BTreeSet<BitRate> = rates.chain(plan.cables.iter().filter_map(|cable| cable.rate)).collect();
    let maps = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"];
    let [kmin, kmax, pmax] = maps.map(|key| config.map(key));
    let (kmin, kmax, pmax) = (kmin?, kmax?, pmax?);
    let mut curves = BTreeMap::new();
    for rate in rates {
        let mut text = [""; 3];
        for ((text, key), map) in text.iter_mut().zip(maps).zip([&kmin, &kmax, &pmax]) {
            *text = map.get(&rate).ok_or_else(|| {
                let bps = rate.as_bps();
                config.error(
                    key,
                    format!(
                        "{} has links of {rate}, but the map has no {bps}; add the pair `{bps} VALUE`",
                        plan.name
                    ),
                )
            })?;
        }
        let (low, high) = (kilobytes(config, maps[0], text[0])?, kilobytes(config, maps[1], text[1])?);
        if low > high {
            return Err(config
                .error(maps[0], format!("{} KB at {rate} is above {} KB in KMAX_MAP", text[0], text[1])));
        }
        curves.insert(rate, (low, high, percent(config, text[2], notes)?));
    }
    Ok(curves)
}

/// Returns the bytes of a threshold in KB.
pub(super) fn kilobytes(config: &Config, key: &str, text: &str) -> Result<u64, Ns3FileError> {
    let number: Result<u64, _> = text.parse();
    let bytes = number.ok().and_then(|kb| kb.checked_mul(1_000)).filter(|bytes| *bytes < 1 << 30);
    bytes.ok_or_else(|| config.error(key, format!("found `{text}`, expected a number of KB, below 1000000")))
}

/// Returns a probability in percent, rounded.
fn percent(config: &Config, text: &str, notes: &mut Vec<String>) -> Result<u64, Ns3FileError> {
    let expected = || config.error("PMAX_MAP", format!("found `{text}`, expected a probability from 0 to 1"));
    let share: sluice_fabric::network::Probability = text.parse().map_err(|_| expected())?;
    let hundredths = u64::from(share.ppb()).div_ceil(10_000_000);
    if u64::from(share.ppb()) != hundredths * 10_000_000 {
        notes.push(format!("PMAX_MAP: {text} is rounded up to {hundredths} percent"));
    }
    Ok(hundredths)
}

/// Checks that no link holds more than [`LONGEST`].
fn links_are_short(plan: &Blueprint) -> Result<(), Ns3FileError> {
    let hosts = plan.hosts.iter().flat_map(|host| &host.at).map(|at| (at.rate, at.delay, at.line));
    let links = plan.cables.iter().map(|cable| (cable.rate, Some(cable.delay), cable.line)).chain(hosts);
    for (rate, delay, line) in links {
        let (Some(rate), Some(delay)) = (rate, delay) else { continue };
        let bytes = rate.bytes_in(delay).get();
        if bytes > LONGEST {
            let what = format!(
                "a link of {rate} with a delay of {delay} holds {bytes} bytes; expected at most {LONGEST}; correct the delay"
            );
            return Err(Ns3FileError { origin: plan.name.clone(), line, what });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_minutes_are_refused() {
        let config = Config::parse("config.txt", "BUFFER_SIZE 32\nENABLE_QCN 0\n").unwrap();
        let made = |delay: &str| {
            let text = format!("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps {delay} 0\n");
            let plan = Blueprint::from_ns3(&text, "t.txt").unwrap();
            let buffers =
                Buffers::new(&config, &plan, 3, 1_000, &mut Vec::new()).map_err(|e| e.to_string())?;
            let ports = vec![(BitRate::from_gbps(100), plan.hosts[1].at[0].delay.unwrap()); 512];
            Ok(buffers.profile("s", &ports, &mut Vec::new()))
        };
        // 100 Gb/s hold 2^36 bytes in 5.497 s.
        let longest = made("5.49s");
        assert!(longest.as_ref().is_ok_and(|text| text.contains("\nbuffer = ")), "{longest:?}");
        let said: Result<String, String> = made("65536s");
        assert_eq!(
            said.unwrap_err(),
            "t.txt:4: a link of 100Gbps with a delay of 65536s holds 819200000000000 bytes; expected at most 68719476736; correct the delay"
        );
    }

    #[test]
    fn faster_ports_have_a_larger_share_of_the_free_buffer() {
        let gbps = BitRate::from_gbps;
        // model: int §3.1: shift 3 at the NIC's rate, 1 at 400G beside NICs of 100G.
        assert_eq!([100, 200, 400, 1600].map(|rate| alpha(gbps(rate), gbps(100))), [-3, -2, -1, 0]);
        assert_eq!(alpha(gbps(25), gbps(25)), -3);
    }

    #[test]
    fn alpha_is_relative_to_the_hosts_not_to_the_switchs_slowest_port() {
        // model: int §3.1: a switch whose ports all have 400G, in a network of hosts at 100G, has alpha 1/2.
        let text =
            "5 3 4\n0 1 2\n3 0 100Gbps 1us 0\n4 2 100Gbps 1us 0\n0 1 400Gbps 1us 0\n1 2 400Gbps 1us 0\n";
        let plan = Blueprint::from_ns3(text, "t.txt").unwrap();
        let config = Config::parse("config.txt", "BUFFER_SIZE 32\nENABLE_QCN 0\n").unwrap();
        let buffers = Buffers::new(&config, &plan, 3, 1_000, &mut Vec::new()).unwrap();
        let us = Duration::from_micros(1);
        let profile = |ports: &[u64]| {
            let ports = ports.iter().map(|gbps| (BitRate::from_gbps(*gbps), us)).collect();
            buffers.profile("s", &ports, &mut Vec::new())
        };
        let thresholds = |text: &str| text.matches("dynamic_th = ").count();
        let core = profile(&[400, 400]);
        assert!(core.contains("dynamic_th = -1\n") && thresholds(&core) == 1, "{core}");
        let edge = profile(&[100, 400]);
        assert!(edge.contains("dynamic_th = -3\n") && edge.contains("dynamic_th = -1\n"), "{edge}");
    }

    #[test]
    fn a_packet_with_records_takes_whole_cells_of_about_80_bytes() {
        // 1106 bytes here, 1090 in the simulators: 14 cells, which stand for 78 bytes each there.
        assert_eq!(record_cell(1_000), (79, 78));
        // 106 and one byte here: two cells; 91 bytes there.
        assert_eq!(record_cell(1), (54, 46));
    }

    #[test]
    fn a_rate_without_a_threshold_is_refused() {
        let plan = Blueprint::from_ns3("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 40Gbps 1us 0\n", "t.txt").unwrap();
        let text = "BUFFER_SIZE 32\nKMIN_MAP 1 100000000000 100\nKMAX_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\n";
        let config = Config::parse("config.txt", text).unwrap();
        let error = Buffers::new(&config, &plan, 3, 1_000, &mut Vec::new()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "config.txt:2: KMIN_MAP: t.txt has links of 40Gbps, but the map has no 40000000000; add the pair `40000000000 VALUE`"
        );
    }
}
