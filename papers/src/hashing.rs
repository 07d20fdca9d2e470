//! Parts that send flows through a network under several hashing schemes, without packets.

use crate::experiment::HashingPart;
use crate::found::FoundPoint;
use crate::scale::Scale;
use sluice_catalogue::StageProgram;
use sluice_fabric::flows::{Extracted, Flows, Generator, Workload, extract};
use sluice_fabric::polarization::{self, Compared, Picker, PointStats, Question, Results};
use sluice_fabric::topology::{Clos, DRing, Network, Wan};
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{Scheme, Terms};
use sluice_hashing::values::FunctionList;
use sluice_hashing::wcmp::Method;
use sluice_pcaps::capture::CaptureReader;
use sluice_scenario::contest::{Figure, FigureTable};
use std::collections::BTreeMap;
use std::num::NonZero;

/// Functions of the switches if a part names none: those of the RTAG7 unit (model: hashing §1.2).
const FUNCTIONS: &str = "crc32_lo,ccitt,bisync,crc32_hi,xor16,crc16_xor8";

/// Label of the hashing with which every switch draws independently.
const IDEAL: &str = "ideal";

/// Measures a part. Labels are the schemes, with `_` for `-`, and `ideal`; with a list of `members` each label is followed by
/// their number. Variations are in millionths:
///
/// | number | meaning |
/// |---|---|
/// | `cv`, `cv_p50` | largest variation of flows on a group's links; largest median over decision points |
/// | `POINT.cv_p50`, `POINT.cv_p99`, `POINT.cv` | of the groups of one decision point |
/// | `beyond_noise` | largest median over decision points, without the part that chance explains |
/// | `max_min` | most loaded link over the least one, the largest over decision points; 0 if a link is idle |
/// | `packets`, `hops`, `differing` | of a part with `packets`: packets of the capture, switches that they passed, and hops at which a packet took another link than its flow |
/// | `idle`, `empty`, `failed`, `entries` | links without flows, groups without traffic, groups that fail, table entries |
///
/// # Errors
/// If a name is unknown, if a scheme has no plan for the network, or if a part with packets has no capture, or none with flows.
pub fn measure(
    part: &HashingPart,
    scale: Scale,
    threads: NonZero<usize>,
    trace: Option<&Trace<'_>>,
) -> Result<FoundPoint, String> {
    let network = network(part)?;
    let trace = part.packets.is_some().then(|| trace.ok_or("the experiment needs a capture")).transpose()?;
    let captured = trace.map(|trace| trace.flows(&network)).transpose()?;
    let supply = part.functions.as_deref().unwrap_or(FUNCTIONS).parse::<FunctionList>();
    let supply = supply.map_err(|e| e.to_string())?.0;
    let workload = match part.workload.as_deref() {
        None => Workload::Uniform,
        Some(name) => {
            let found = Workload::ALL.iter().find(|(known, _)| *known == name);
            found.map(|(_, workload)| *workload).ok_or_else(|| format!("there is no workload `{name}`"))?
        }
    };
    let count = match scale {
        Scale::Quick => part.flows,
        Scale::Full => part.full_flows.unwrap_or(part.flows),
    };
    let mut table: BTreeMap<String, BTreeMap<String, Figure>> = BTreeMap::new();
    for seed in 1..=part.seeds {
        let mut flows = Generator::new(workload, &network, count, seed.into());
        if let Some(block) = part.from_block {
            flows = flows.from_block(block);
        }
        let mut put = |label: String, scheme: Scheme, picker: Picker, members: Option<u32>| {
            let (hash_bits, width) = picker.limits();
            let order = Order::Interleaved;
            let terms = Terms { supply: supply.clone(), seed, hash_bits, width, target: TARGET, order };
            let question = Question { scheme, terms, picker, members, method: Method::Split };
            let flows = captured.as_ref().map_or(Flows::Made(&flows), |c| Flows::Given(&c.flows));
            let found = polarization::run(&network, &question, flows, threads);
            let found = found.map_err(|e| format!("{label}: {e}"))?;
            let mut numbers = numbers(&found);
            if let (Some(trace), Some(captured), false) = (trace, &captured, picker == Picker::Ideal) {
                let sent = polarization::compare(
                    trace.program,
                    &network,
                    &question,
                    &captured.flows,
                    &mut trace.reader()?,
                );
                let Compared { packets, hops, differing, .. } = sent.map_err(|e| format!("{label}: {e}"))?;
                for (name, count) in [("packets", packets), ("hops", hops), ("differing", differing)] {
                    numbers.insert(name.to_owned(), count.into());
                }
            }
            for (name, value) in numbers {
                table.entry(label.clone()).or_default().entry(name).or_default().0.push(value);
            }
            Ok::<(), String>(())
        };
        for name in &part.schemes {
            let scheme: Scheme = name.parse().map_err(str::to_owned)?;
            let label = name.replace('-', "_");
            match part.members.as_slice() {
                [] => put(label, scheme, Picker::Modulo16, None)?,
                all => all.iter().try_for_each(|members| {
                    put(format!("{label}_{members}"), scheme, Picker::Modulo16, Some(*members))
                })?,
            }
        }
        put(IDEAL.to_owned(), Scheme::Plain, Picker::Ideal, None)?;
    }
    let figures = FigureTable::new(table, part.seeds as usize);
    Ok(FoundPoint { figures, ..FoundPoint::default() })
}

/// A capture of the reader, and the stage program through which its packets go.
#[derive(Clone, Copy)]
pub struct Trace<'a> {
    /// Bytes of the capture file.
    pub bytes: &'a [u8],
    /// Name of the file, for messages.
    pub name: &'a str,
    /// The program.
    pub program: &'a dyn StageProgram,
}

impl Trace<'_> {
    fn reader(&self) -> Result<CaptureReader<'_>, String> {
        CaptureReader::from_bytes(self.bytes, self.name).map_err(|e| e.to_string())
    }

    fn flows(&self, network: &Network) -> Result<Extracted, String> {
        let found = extract(&mut self.reader()?, network).map_err(|e| e.to_string())?;
        match found.flows.is_empty() {
            true => Err(format!("{} has no frame with IP, so it has no flows", self.name)),
            false => Ok(found),
        }
    }
}

/// Largest variation that replication may cause, in thousandths, as by default of `sluice polarization`.
const TARGET: u32 = 50;

fn network(part: &HashingPart) -> Result<Network, String> {
    let (clos, dring) = (Clos::default(), DRing::default());
    let built = match part.topology.as_str() {
        "clos" => Clos { blocks: part.blocks.unwrap_or(clos.blocks), ..clos }.build(),
        "dring" => DRing { blocks: part.blocks.unwrap_or(dring.blocks), ..dring }.build(),
        "wan" => Wan::default().build(),
        other => return Err(format!("there is no network `{other}`; there are clos, dring, wan")),
    };
    built.map_err(|e| e.to_string())
}

fn millionths(value: f64) -> i128 {
    (value * 1e6).round() as i128
}

fn numbers(found: &Results) -> BTreeMap<String, i128> {
    let mut numbers = BTreeMap::new();
    let mut put = |name: String, value: i128| _ = numbers.insert(name, value);
    for point in &found.points {
        for (name, value) in [("cv_p50", point.cv[0]), ("cv_p99", point.cv[1]), ("cv", point.cv[2])] {
            put(format!("{}.{name}", point.name.replace('-', "_")), millionths(value));
        }
    }
    let most = |of: &dyn Fn(&PointStats) -> f64| found.points.iter().map(of).fold(0.0, f64::max);
    put("cv".to_owned(), millionths(found.worst()));
    put("cv_p50".to_owned(), millionths(most(&|point| point.cv[0])));
    let beyond = |point: &PointStats| (point.cv[0].powi(2) - point.noise.powi(2)).max(0.0).sqrt();
    put("beyond_noise".to_owned(), millionths(most(&beyond)));
    let idle = found.points.iter().any(|point| point.max_min.is_none());
    let max_min = if idle { 0.0 } else { most(&|point| point.max_min.unwrap_or(0.0)) };
    put("max_min".to_owned(), millionths(max_min));
    let sum = |of: &dyn Fn(&PointStats) -> u32| found.points.iter().map(|point| i128::from(of(point))).sum();
    put("idle".to_owned(), sum(&|point| point.idle_links));
    put("empty".to_owned(), sum(&|point| point.empty));
    put("failed".to_owned(), sum(&|point| point.failed));
    put("entries".to_owned(), found.entries.into());
    numbers
}
